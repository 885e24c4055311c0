//! What a point pays although no part is too slow: a write cache or a read-ahead that is off, requests that begin elsewhere than stripes
//! or cross chunks, a disk that has failed, flash without spare room, parity, work of the array beside the load. Told by trial alone: by
//! what the same load gets without it.

use record::names::trial::{
    ALIGNED, ALIKE, CHUNK, DRIVE_CACHE, DRIVE_READ_AHEAD, HEALTHY, MAPPING, MIRRORS, NO_BITMAP, NO_WORK,
    PARTIAL_WINDOW, PROTECTED, QUEUEING, READ_AHEAD, SETTINGS, SLC, SMALL_CHUNK, SPARE_ROOM, TRANSFER,
    UNMIRRORED, WRITE_BACK,
};
use record::{Finding, Point, PointKind, Run, Severity, Trial, WhatIf};

use crate::Code;
use crate::draft::{Draft, capital};
use crate::what_if::{changes, gain};

/// What to do about a write-intent bitmap that costs too much.
pub(crate) const BITMAP_REMEDY: &str = "Have each bit stand for more (mdadm: `--bitmap-chunk=256M`; LVM: `--regionsize 64M`), \
                                        keep the bitmap on another device (`--bitmap=FILE`), or have none (`--bitmap=none`): after a crash all \
                                        of the set is then compared.";

/// Fewer operations of disks for each request than this part of what they were are told.
const FEWER: f64 = 0.98;

/// What the trials of a point put right that it pays for; `None` where nothing gains, where the run has no such point, and where
/// the trials do not repeat it.
pub fn avoidable(run: &Run, tried: &WhatIf) -> Option<Finding> {
    let point = run.points.iter().find(|point| point.index == tried.point)?;
    let gains: Vec<&Trial> =
        tried.trials.iter().filter(|trial| is_of_setting(trial) && tried.gains(trial)).collect();
    if gains.is_empty() {
        return None;
    }
    let work = work_of(run, tried.point);
    let told: Vec<String> =
        gains.iter().map(|trial| format!("{}: {}", put_right(trial, work), told(trial))).collect();
    let remedies: Vec<String> = gains.iter().map(|trial| remedy(trial)).collect();
    let draft = Draft::new(Code::AvoidableCost, Severity::Note, format!("By trial, {}.", told.join("; ")))
        .remedy(remedies.join(" "));
    let draft = gains.iter().fold(draft, |draft, trial| {
        let key = trial.change.replace([' ', '-'], "_");
        let draft = draft.number(&format!("{key}_rate_change"), trial.ops.change);
        let draft = match trial.p99 {
            Some(p99) => draft.number(&format!("{key}_p99_change"), p99.change),
            None => draft,
        };
        match trial.operations {
            Some([now, then]) => draft
                .number(&format!("{key}_operations_now"), now)
                .number(&format!("{key}_operations_then"), then),
            None => draft,
        }
    });
    Some(draft.about(point))
}

/// The same of trials among others: ` With the write-back cache on: 12 % (…) more IOPS.` for each that changes anything.
pub(crate) fn in_words(tried: &WhatIf) -> String {
    let trials = tried.trials.iter().filter(|trial| is_of_setting(trial) && changes(trial));
    trials
        .map(|trial| {
            let what = match trial.change.as_str() {
                WRITE_BACK => "with the write-back cache on".into(),
                ALIGNED => "with requests that begin at stripes".into(),
                NO_BITMAP => "without the write-intent bitmap".into(),
                _ => put_right(trial, "background work"),
            };
            format!(" {}: {}.", capital(&what), told(trial))
        })
        .collect()
}

/// Of the trials that put something right the one that gains most; `None` where none gains.
pub(crate) fn best(tried: &WhatIf) -> Option<&Trial> {
    let gains = tried.trials.iter().filter(|trial| is_of_setting(trial) && tried.gains(trial));
    gains.max_by(|one, other| one.ops.change.total_cmp(&other.ops.change))
}

fn is_of_setting(trial: &Trial) -> bool {
    SETTINGS.contains(&trial.change.as_str())
}

/// `52 % (50 % to 54 %) more IOPS, with 13.0 instead of 31.2 disk operations for each request`.
fn told(trial: &Trial) -> String {
    let mut told = gain(trial);
    if trial.is_filling {
        told += ", as long as the cache has room";
    }
    if let Some([now, then]) = trial.operations.filter(|[now, then]| *then < FEWER * *now) {
        told += &format!(", with {then:.1} instead of {now:.1} disk operations for each request");
    }
    told
}

/// What the trial put right: `without the scrub beside it`, where `work` is what the array did beside the load.
fn put_right(trial: &Trial, work: &str) -> String {
    let to = &trial.to;
    match trial.change.as_str() {
        WRITE_BACK => "with the write-back cache on (`cache.write_back`)".into(),
        ALIGNED => "with requests and LUNs that begin at stripes, chunks and mapping units".into(),
        NO_BITMAP => "without the write-intent bitmap (`raid.bitmap`)".into(),
        HEALTHY => format!("with {to} replaced and rebuilt"),
        CHUNK | SMALL_CHUNK => format!("with chunks of {to} (`raid.chunk`)"),
        QUEUEING => "with drives that choose among the commands that wait (`queue.window`)".into(),
        DRIVE_READ_AHEAD => "with drives that read ahead (`buffer.read_ahead`)".into(),
        DRIVE_CACHE => "with the drives' own write cache on (`buffer.write_back`)".into(),
        READ_AHEAD => "with sequential reads read ahead (`cache.prefetch.streams`)".into(),
        SPARE_ROOM => format!("with {to} of the flash as spare room (`over_provisioning`)"),
        PROTECTED => "with a cache that survives a loss of power (`cache.protected`)".into(),
        PARTIAL_WINDOW => format!("with {to} parts of stripes written out at once (`cache.partial_window`)"),
        MIRRORS => "with the same disks as RAID 10, of less capacity".into(),
        ALIKE => format!("with {to} as fast as the others of the set"),
        UNMIRRORED => {
            "with a write-back cache that needs no mirror (`cache.mirrored`), where now the one controller has no partner and writes \
             through"
                .into()
        }
        TRANSFER => format!("with requests of {to} sent whole (`host.max_transfer`), so that they fill stripes"),
        SLC => "with a cache of one-bit cells (SLC) in the flash drives that is not full".into(),
        MAPPING => format!("with flash that maps {to} as one (`mapping`), and rewrites nothing else for a write"),
        _ => {
            debug_assert_eq!(trial.change, NO_WORK, "there are no other settings");
            format!("without the {work} beside it")
        }
    }
}

/// The work of the array that was begun last before the point of number `index`.
fn work_of(run: &Run, index: u32) -> &str {
    const WORKS: [&str; 5] = ["rebuild", "initialise", "clone", "verify", "scrub"];
    let is_before = |point: &&Point| point.kind == PointKind::State && point.index < index;
    let states = run.points.iter().rev().filter(is_before).flat_map(|point| point.state.values());
    let mut works = states.filter_map(|state| WORKS.into_iter().find(|work| state.contains(work)));
    works.next().unwrap_or("background work")
}

/// What to do about the setting of `trial`.
pub(crate) fn remedy(trial: &Trial) -> String {
    let advice = match trial.change.as_str() {
        WRITE_BACK => "Switch the write-back cache on, where a battery or flash protects it.",
        ALIGNED => {
            "Begin partitions, files and requests at multiples of a whole stripe, the chunk times the data disks, or of what one \
             flash drive maps as one (`offset`, `align`)."
        }
        NO_BITMAP => BITMAP_REMEDY,
        HEALTHY => return format!("Replace {}, and let the array rebuild.", trial.to),
        CHUNK => return format!("Use a chunk of {}, so that a request lies on one disk.", trial.to),
        SMALL_CHUNK => {
            return format!(
                "Use a chunk of {}, so that what a stream has under way lies on all disks.",
                trial.to
            );
        }
        QUEUEING => {
            "Switch command queueing on in the drives (NCQ, tagged queueing), or use drives that have it."
        }
        DRIVE_READ_AHEAD => "Switch read-ahead on in the drives (`hdparm -A1`, `sdparm --clear DRA`).",
        DRIVE_CACHE => {
            "Switch the write cache of the drives on (`hdparm -W1`, `sdparm --set WCE`), where what they hold may be lost with the power \
             or is flushed."
        }
        READ_AHEAD => "Switch read-ahead on.",
        SPARE_ROOM => {
            "Give the flash drives more spare room, so that they copy less before they erase: leave a part of them unwritten and \
             trimmed, or use drives with more of it."
        }
        PROTECTED => {
            "Protect the cache with a battery or flash, so that what is synced need not wait for the disks."
        }
        PARTIAL_WINDOW => "Have the cache write out more parts of stripes at once.",
        ALIKE => {
            return format!(
                "Replace {}: it is slower than the others, and each stripe waits for it.",
                trial.to
            );
        }
        UNMIRRORED => {
            "Bring the second controller back, or, where acknowledged writes may be lost with the one, have its cache work without a mirror."
        }
        SLC => {
            "The SLC cache of the drives is full: write less at a time and leave them idle in between, or use drives whose flash keeps up \
             by itself. A shorter test shows the rate of the cache."
        }
        TRANSFER => {
            return format!(
                "Let the hosts send {} at once (`max_sectors_kb`): cut, each part updates parity.",
                trial.to
            );
        }
        MAPPING => {
            "Write whole mapping units (`size`, `align`), have a write cache gather small writes, or use drives that map less as one."
        }
        MIRRORS => "Use RAID 10 where the capacity allows: a small write takes two disk operations there.",
        _ => {
            "Lower the rate of the work (its `rate`; md: `sync_speed_max`), or have it run while there is little load."
        }
    };
    advice.into()
}

#[cfg(test)]
mod tests {
    use record::{Effect, sample};

    use super::*;

    fn tried(trials: Vec<Trial>) -> WhatIf {
        sample::what_if(1, trials)
    }

    fn trial(change: &str, gain: f64) -> Trial {
        let ops = Effect { change: gain, low: gain - 0.01, high: gain + 0.01, is_there: gain.abs() > 0.02 };
        Trial { times: 1.0, ..sample::trial(change, ops) }
    }

    fn run() -> Run {
        let mut state = sample::point(0, "scrub", Vec::new());
        state.kind = PointKind::State;
        state.state = [("state".to_owned(), "scrub".to_owned())].into();
        sample::run("t", vec![state, sample::point(1, "writes", Vec::new())])
    }

    #[test]
    fn what_is_put_right_is_told_with_what_it_gains() {
        let aligned = Trial { operations: Some([31.24, 13.0]), ..trial(ALIGNED, 0.5) };
        let found = avoidable(&run(), &tried(vec![aligned, trial(NO_WORK, 0.25)])).expect("both gain");
        assert_eq!(
            found.sentence,
            "By trial, with requests and LUNs that begin at stripes, chunks and mapping units: 50 % (49 % to 51 %) more IOPS, with 13.0 instead of 31.2 \
             disk operations for each request; without the scrub beside it: 25 % (24 % to 26 %) more IOPS."
        );
        assert!(
            found.remedy.contains("whole stripe") && found.remedy.contains("Lower the rate"),
            "{}",
            found.remedy
        );
        assert_eq!((found.numbers["alignment_operations_then"], found.point), (13.0, Some(1)));
        let found = avoidable(&run(), &tried(vec![trial(NO_BITMAP, 0.4)])).expect("it gains");
        assert!(
            found.sentence.starts_with("By trial, without the write-intent bitmap (`raid.bitmap`): 40 %")
        );
        assert!(found.remedy.contains("--bitmap-chunk"), "{}", found.remedy);
        let cache = Trial { is_filling: true, ..trial(WRITE_BACK, 9.0) };
        let found = avoidable(&run(), &tried(vec![cache])).expect("it gains").sentence;
        assert!(
            found.ends_with("10.0 times (10.0 to 10.0) the IOPS, as long as the cache has room."),
            "{found}"
        );
    }

    #[test]
    fn each_setting_is_told_with_its_figure_and_what_to_do_about_it() {
        for (change, to, told, advice) in [
            (HEALTHY, "disk 3", "with disk 3 replaced and rebuilt: 50 %", "Replace disk 3"),
            (CHUNK, "128 KiB", "with chunks of 128 KiB (`raid.chunk`)", "Use a chunk of 128 KiB"),
            (READ_AHEAD, "", "with sequential reads read ahead", "Switch read-ahead on"),
            (
                SPARE_ROOM,
                "28 %",
                "with 28 % of the flash as spare room",
                "Give the flash drives more spare room",
            ),
            (PROTECTED, "", "with a cache that survives a loss of power", "Protect the cache"),
            (
                PARTIAL_WINDOW,
                "64",
                "with 64 parts of stripes written out at once",
                "Have the cache write out more",
            ),
            (MIRRORS, "", "with the same disks as RAID 10, of less capacity", "Use RAID 10"),
            (ALIKE, "disk 3", "with disk 3 as fast as the others of the set: 50 %", "Replace disk 3"),
            (UNMIRRORED, "", "the one controller has no partner", "Bring the second controller back"),
            (SLC, "", "with a cache of one-bit cells (SLC)", "The SLC cache of the drives is full"),
            (
                TRANSFER,
                "704 KiB",
                "with requests of 704 KiB sent whole",
                "Let the hosts send 704 KiB at once",
            ),
            (MAPPING, "4 KiB", "with flash that maps 4 KiB as one", "Write whole mapping units"),
            (
                SMALL_CHUNK,
                "64 KiB",
                "with chunks of 64 KiB (`raid.chunk`)",
                "Use a chunk of 64 KiB, so that what a stream",
            ),
            (QUEUEING, "", "with drives that choose among", "Switch command queueing on"),
            (DRIVE_READ_AHEAD, "", "with drives that read ahead", "Switch read-ahead on in the drives"),
            (
                DRIVE_CACHE,
                "",
                "with the drives' own write cache on",
                "Switch the write cache of the drives on",
            ),
        ] {
            let one = Trial { to: to.into(), ..trial(change, 0.5) };
            let found = avoidable(&run(), &tried(vec![one])).expect("it gains");
            assert!(found.sentence.contains(told), "{}", found.sentence);
            assert!(found.remedy.starts_with(advice), "{}", found.remedy);
            assert!(SETTINGS.contains(&change), "{change}");
        }
        let both = in_words(&tried(vec![trial(MIRRORS, 0.5), trial(NO_WORK, 0.25)]));
        assert!(both.starts_with(" With the same disks as RAID 10"), "{both}");
        assert!(both.contains(". Without the background work beside it: 25 %"), "{both}");
    }

    #[test]
    fn what_gains_nothing_is_no_cost() {
        assert!(avoidable(&run(), &tried(vec![trial(ALIGNED, 0.01), trial("disks", 0.9)])).is_none());
        assert!(avoidable(&run(), &tried(vec![trial(ALIGNED, -0.5)])).is_none());
        let of_another = WhatIf { again_ops_per_s: 1_100.0, ..tried(vec![trial(ALIGNED, 0.5)]) };
        assert!(avoidable(&run(), &of_another).is_none(), "it does not repeat the record");
        let elsewhere = WhatIf { point: 7, ..tried(vec![trial(ALIGNED, 0.5)]) };
        assert!(avoidable(&run(), &elsewhere).is_none());
    }
}
