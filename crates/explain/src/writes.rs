//! Where data was when its write was acknowledged.

use record::names::{fact, series};
use record::{Point, Run, Severity, WorkloadResult, WriteCacheFill};
use spec::{FlushKind, OpenSync};
use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos};

use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::{counted, is_direct, moved_by, sampled};
use crate::history::History;

/// Writes into free room of a write cache, whose rate lasts until it is full; only a virtual array knows.
pub(crate) fn cache_filling(point: &Point) -> Option<Draft> {
    let fill = point.filling()?;
    let written: u64 = point.workloads.iter().map(WorkloadResult::written_measured).sum();
    let (gained, room) = (fill.gained(), fill.room_bytes.max(1));
    let full = fill.unwritten_bytes as f64 / room as f64;
    // Pages count in full, and the copies of a mirror each.
    let what = match gained > written {
        true => format!("{} of its room went to the {}", Bytes::new(gained), Bytes::new(written)),
        false => format!("{} of the {}", Bytes::new(gained), Bytes::new(written)),
    };
    let stayed = if gained > written { "(whole pages, and each copy)" } else { "stayed in its free room" };
    let sentence = format!(
        "The write cache was still filling: {what} written in the measured window {stayed}, {} of it full at the end. This \
         rate lasts until it is full; the sustained rate may be lower.",
        percent(full.min(1.0))
    );
    let remedy = format!(
        "Fill the cache before the measured window: set `warmup = \"{}\"` or more.",
        warmup(point, fill)
    );
    let draft = Draft::new(Code::CacheFilling, Severity::Warning, sentence).remedy(remedy);
    let draft = draft.number("gained_bytes", gained as f64).number("written_bytes", written as f64);
    Some(draft.number("full_share", full))
}

/// Writes past a cache of one bit a cell that are less than this part may be the last of it, or its first.
const PAST: f64 = 0.5;

/// Writes that all went into the cache of one bit a cell of flash drives, faster than the flash behind it takes any: the rate lasts until
/// it is full.
pub(crate) fn slc_filling(point: &Point) -> Option<Draft> {
    let (breakdown, measured_s) = (point.breakdown.as_ref()?, measured_s(point));
    let fill = breakdown.slc_cache.filter(|fill| fill.beyond().is_some_and(|past| past < PAST))?;
    let rate = (fill.taken_bytes + fill.beyond_bytes) as f64 / measured_s;
    if rate <= fill.behind_bytes_per_s || !rate.is_finite() {
        return None;
    }
    let seconds = |bytes: u64| Nanos::from_secs_f64((bytes as f64 / rate).ceil());
    let left = fill.size_bytes.saturating_sub(fill.held_bytes);
    let lasts = match (fill.beyond_bytes > 0, left) {
        (true, _) => "it became full within the measured window".to_owned(),
        (false, 0) => format!("from empty it lasts {}", seconds(fill.size_bytes)),
        (false, left) => {
            format!(
                "from empty it lasts {}, and after this run {} more",
                seconds(fill.size_bytes),
                seconds(left)
            )
        }
    };
    let sentence = format!(
        "The SLC cache of the flash drives was not full: they wrote {} into its {}; {lasts}. The flash behind it takes at most {}, and less \
         at random.",
        BytesPerSecond::new(rate),
        Bytes::new(fill.size_bytes),
        BytesPerSecond::new(fill.behind_bytes_per_s)
    );
    let warmup = point.warmed_up_ns() as f64 / 1e9 + measured_s + left as f64 / rate;
    let remedy = format!(
        "To measure what lasts, fill it before the measured window: set `warmup = \"{}\"` or more, and let the drives have no rest.",
        in_whole(warmup)
    );
    let draft = Draft::new(Code::CacheFilling, Severity::Warning, sentence).remedy(remedy);
    let draft = draft.number("slc_bytes", fill.size_bytes as f64).number("slc_bytes_per_s", rate);
    Some(draft.number("behind_bytes_per_s", fill.behind_bytes_per_s))
}

/// `bottleneck`, with that the cache of one bit a cell of the flash drives is full, where most that they wrote went past it.
pub(crate) fn with_slc_full(point: &Point, bottleneck: Option<Draft>) -> Option<Draft> {
    let fill = point.breakdown.as_ref().and_then(|breakdown| breakdown.slc_cache);
    let past = fill.and_then(|fill| fill.beyond()).filter(|past| *past >= PAST);
    let (bottleneck, past) = match (bottleneck, past) {
        (Some(bottleneck), Some(past)) => (bottleneck, past),
        (bottleneck, _) => return bottleneck,
    };
    let told = format!(
        " The SLC cache of the flash drives is full: {} of what they wrote went to the flash behind it.",
        percent(past)
    );
    Some(bottleneck.sentence(&told).number("past_slc_share", past))
}

fn measured_s(point: &Point) -> f64 {
    point.workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0) as f64 / 1e9
}

/// A warm-up after which the cache is full, if it gains what it gained in the measured window: its writes, of another size
/// or place, may gain less.
fn warmup(point: &Point, fill: WriteCacheFill) -> String {
    let measured_s = measured_s(point);
    let left = fill.room_bytes.saturating_sub(fill.unwritten_bytes) as f64;
    let seconds = point.warmed_up_ns() as f64 / 1e9 + measured_s * (1.0 + left / fill.gained().max(1) as f64);
    in_whole(seconds)
}

/// Whole minutes beyond a minute, of ten seconds below.
fn in_whole(seconds: f64) -> String {
    match seconds <= 60.0 {
        true => format!("{}s", (seconds / 10.0).ceil() * 10.0),
        false => format!("{}min", (seconds / 60.0).ceil()),
    }
}

/// The part of written data still in memory beyond which the rate says little about the storage.
const DIRTY: f64 = 0.10;

pub(crate) fn dirty_pages(_: &Run, point: &Point) -> Option<Draft> {
    let buffered = point.workloads.iter().filter(|workload| !is_direct(workload));
    let written: u64 = buffered.map(|workload| moved_by(workload, record::Op::Write)).sum();
    if written == 0 {
        return None;
    }
    let (waiting, how) =
        by_memory(point).into_iter().chain(by_counters(point, written)).max_by_key(|found| found.0)?;
    let part = waiting as f64 / written as f64;
    if part <= DIRTY {
        return None;
    }
    let sentence = format!(
        "{} of the {} written ({}) {how}: the rate is that of memory, in part.",
        percent(part.min(1.0)),
        Bytes::new(written),
        Bytes::new(waiting)
    );
    let draft = Draft::new(Code::DirtyPages, Severity::Warning, sentence).remedy(
        "Set `direct = true`, flush (`flush_every`, `sync`), or write several times the memory of this machine.",
    );
    Some(draft.number("written_bytes", written as f64).number("waiting_bytes", waiting as f64))
}

/// What waited at the end, by the kernel's own account, above what waited at the start.
fn by_memory(point: &Point) -> Option<(u64, &'static str)> {
    let (dirty, writeback) = (sampled(point, series::MEMORY_DIRTY), sampled(point, series::MEMORY_WRITEBACK));
    let end = dirty.last()? + writeback.last().copied().unwrap_or(0.0);
    let start = dirty.first()? + writeback.first().copied().unwrap_or(0.0);
    Some((truncated::<u64>((end - start).max(0.0)), "were still in the page cache at the end"))
}

fn by_counters(point: &Point, written: u64) -> Option<(u64, &'static str)> {
    let seen = counted(point)?.write_bytes;
    Some((written.saturating_sub(seen), "had not reached the device at the end"))
}

pub(crate) fn drive_write_cache(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let writes_back = |target: &record::Target| {
        target.facts.get(fact::WRITE_CACHE).is_some_and(|cache| cache == "write back")
    };
    let durability = &workload.spec.durability;
    let flushes = workload.totals.iter().any(|total| total.op == record::Op::Flush);
    // This kind of flush does not reach the device.
    let is_flush = durability.flush != FlushKind::SyncFileRange;
    let safe = durability.open != OpenSync::None || is_flush && (durability.every.is_some() || flushes);
    if moved_by(workload, record::Op::Write) == 0 || safe || !run.targets.iter().any(writes_back) {
        return None;
    }
    let sentence = "The device's volatile write cache is on, and the workload never flushes: an acknowledged write \
                    may be lost on power failure.";
    let draft = Draft::new(Code::DriveWriteCache, Severity::Note, sentence);
    Some(draft.remedy("To measure durable writes, set `sync = \"dsync\"` or `flush_every = 1`."))
}

/// Writes to a virtual array that are flushed, and whose flush does not reach the drives that still have them in memory.
pub(crate) fn flush_ends_before_drives(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let held = |target: &record::Target| target.facts.get(fact::VOLATILE_BEHIND_FLUSH).cloned();
    let held = run.targets.iter().find_map(held).filter(|_| run.world == record::World::Array)?;
    let durability = &workload.spec.durability;
    let flushes = workload.totals.iter().any(|total| total.op == record::Op::Flush);
    let is_synced = durability.open != OpenSync::None || durability.every.is_some() || durability.at_end;
    if moved_by(workload, record::Op::Write) == 0 || !(flushes || is_synced) {
        return None;
    }
    let held = held.parse::<Bytes>().ok()?;
    let sentence = format!(
        "A flush ends at the controller, and the drives behind it acknowledge writes from memory without protection, up to {held} each: \
         data that were flushed may be lost on power failure."
    );
    let draft = Draft::new(Code::DriveWriteCache, Severity::Warning, sentence).remedy(
        "Have the array pass flushes on (`controller.flush_members = true`), switch the write caches of its drives off, or use drives with \
         protection against power loss; the rate is then that of durable writes.",
    );
    Some(draft.number("volatile_bytes_each", held.get() as f64))
}

/// Writing everything so many times brings flash into steady state.
///
/// Source: SNIA SSS PTS, workload-independent preconditioning: twice the user capacity.
const FILLS: u32 = 2;

/// Whether the target was preconditioned when `point` wrote to it: it had been filled often enough, or the phase ran
/// until it was in steady state.
pub(crate) fn is_preconditioned(run: &Run, history: &History, point: &Point) -> bool {
    let settled = run.rounds.iter().any(|rounds| rounds.phase == point.phase && rounds.steady);
    settled || history.before(point).fills >= FILLS
}

/// Whether any target is flash, as far as it says itself; `None` where that is not known. A virtual disk says
/// something, and it means nothing.
pub(crate) fn is_flash(run: &Run) -> Option<bool> {
    if run.environment.facts.get(fact::HYPERVISOR).is_some_and(|name| name != "none") {
        return None;
    }
    let says = |target: &record::Target| target.facts.get(fact::ROTATIONAL).map(|rotates| rotates == "no");
    run.targets.iter().map(says).reduce(|any, one| match (any, one) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    })?
}

pub(crate) fn not_preconditioned(
    run: &Run,
    history: &History,
    point: &Point,
    workload: &WorkloadResult,
) -> Option<Draft> {
    let writes_to_flash = moved_by(workload, record::Op::Write) > 0 && is_flash(run) == Some(true);
    if !writes_to_flash || is_preconditioned(run, history, point) {
        return None;
    }
    let sentence = "The device is flash and was not preconditioned: new or trimmed flash writes faster than flash in \
                    steady state.";
    let draft = Draft::new(Code::NotPreconditioned, Severity::Note, sentence);
    Some(draft.remedy("Fill the working set twice in an earlier phase: `state = \"prepare\"`, `fill = 2`."))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Breakdown, Grade, SlcFill};

    use super::*;

    /// A point of thirty seconds of writes, with what drives took into caches of 78 GB, before flash that takes 160 MB/s.
    fn flash(held_gb: u64, taken_gb: u64, beyond_gb: u64) -> Point {
        let stream = Stream { op: "write", size_bytes: 4096, per_s: 100, median_ns: 400_000, spread: 0.1 };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
        let gb = |many: u64| many * 1_000_000_000;
        let fill = SlcFill {
            size_bytes: gb(78),
            held_bytes: gb(held_gb),
            taken_bytes: gb(taken_gb),
            beyond_bytes: gb(beyond_gb),
            behind_bytes_per_s: 160e6,
        };
        point.breakdown = Some(Breakdown { slc_cache: Some(fill), ..Breakdown::default() });
        point
    }

    #[test]
    fn an_slc_cache_that_is_not_full_is_told_with_how_long_it_lasts_and_what_is_behind_it() {
        let told = slc_filling(&flash(18, 15, 0)).expect("it took 500 MB/s").about_run();
        assert!(
            told.sentence.contains("they wrote 500 MB/s into its 72.64 GiB; from empty it lasts 2 min 36 s, and after this run 2 min 00 s more"),
            "{}",
            told.sentence
        );
        assert!(told.sentence.contains("takes at most 160 MB/s"), "{}", told.sentence);
        let mut run = sample::run("quick", vec![flash(18, 15, 0)]);
        run.world = record::World::Array;
        crate::judge(&mut run);
        assert!(run.points[0].grading.as_ref().is_some_and(|graded| graded.grade >= Grade::C));
        let half = slc_filling(&flash(78, 12, 3)).expect("its rate is that of both");
        assert!(half.about_run().sentence.contains("became full within the measured window"));
        assert!(slc_filling(&flash(18, 4, 0)).is_none(), "133 MB/s the flash takes as well");
        assert!(slc_filling(&flash(78, 0, 15)).is_none(), "it is full");
    }

    #[test]
    fn an_slc_cache_that_is_full_is_named_beside_the_bottleneck() {
        let told = |point: &Point| {
            let bottleneck = Draft::new(Code::Bottleneck, Severity::Note, "disk 0 is the bottleneck.");
            with_slc_full(point, Some(bottleneck)).expect("it stays").about_run().sentence
        };
        assert!(told(&flash(78, 0, 4)).ends_with(
            "The SLC cache of the flash drives is full: 100 % of what they wrote went to the flash behind it."
        ));
        assert_eq!(told(&flash(18, 4, 0)), "disk 0 is the bottleneck.");
    }

    #[test]
    fn one_target_of_flash_is_enough_and_all_have_to_say_that_they_are_none() {
        let of = |says: &[Option<&str>]| {
            let mut run = sample::run("p", Vec::new());
            run.targets = says
                .iter()
                .map(|rotates| {
                    let mut target = run.targets[0].clone();
                    target.facts.extend(rotates.map(|it| (fact::ROTATIONAL.into(), it.to_owned())));
                    target
                })
                .collect();
            is_flash(&run)
        };
        let (flash, disk) = (Some("no"), Some("yes"));
        assert_eq!((of(&[flash]), of(&[disk]), of(&[None])), (Some(true), Some(false), None));
        assert_eq!((of(&[flash, None]), of(&[disk, flash])), (Some(true), Some(true)));
        assert_eq!((of(&[disk, disk]), of(&[disk, None]), of(&[])), (Some(false), None, None));
    }

    #[test]
    fn steady_rounds_of_its_own_phase_precondition_a_point() {
        let rounds = |phase: &str, steady: bool| record::Rounds {
            phase: phase.into(),
            figure: "iops".into(),
            at: Default::default(),
            values: Vec::new(),
            most: 25,
            steady,
            window: None,
        };
        let mut run = sample::run("p", vec![sample::point(0, "a", Vec::new())]);
        run.points[0].phase = "a".into();
        let mut of = |phase: &str, steady: bool| {
            run.rounds = vec![rounds(phase, steady)];
            is_preconditioned(&run, &History::of(&run), &run.points[0])
        };
        assert!(of("a", true) && !of("a", false) && !of("b", true) && !of("b", false));
    }
}
