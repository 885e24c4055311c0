//! Flushes as the bottleneck: most of the response time is data on their way to stable storage.
//!
//! A record tells two kinds of that time: a controller's cache writes to the disks what a flush waits for (`flush`), and disks write to
//! their media what their own caches hold (`disk flush`). Disks are busy meanwhile, with work that the flush asks for: it is the
//! cause, and they are not.

use record::{Op, Ops, PartShare, Point, Severity};
use spec::OpenSync;
use units::{Nanos, OpsPerSecond};

use super::partial_writes;
use super::queues::BUSY;
use super::usage::Use;
use crate::Code;
use crate::draft::{Draft, percent};

/// Flushes that are the limit are so much of the response time.
const MOST: f64 = 0.5;

/// What to do about flushes of a virtual array.
const REMEDY: &str = "Sync less often (`sync`, `flush_every`, `flushes`), have more writes share a flush, or protect the cache \
                      that has to be written out (`cache.protected`: a battery or flash; drives with protection against power loss).";

/// The same where the flush is that of writes that read before they write.
const PARITY_REMEDY: &str = "Have each write take fewer disk operations: RAID 10 (two, side by side), or whole stripes; or protect the cache \
     (`cache.protected`), so that a flush waits for no disk. `fathom explain` tries both.";

/// The same where no plan asks for a flush: the protocol does.
const PROTOCOL_REMEDY: &str = "The plan syncs nothing; the protocol does (`protocol.sync_writes`, a synchronous export): protect the cache that has to \
                               be written out (`cache.protected`), or have the clients send more writes before one commit.";

/// Whether the plan has what it writes flushed.
fn syncs(point: &Point) -> bool {
    let flushes = |one: &record::WorkloadResult| one.totals.iter().any(|total| total.op == Op::Flush);
    let is_asked = |one: &record::WorkloadResult| {
        let durability = &one.spec.durability;
        durability.open != OpenSync::None || durability.every.is_some() || durability.at_end || flushes(one)
    };
    // Trees of files sync by their own key.
    point.workloads.iter().any(|one| one.spec.tree.is_some() || is_asked(one))
}

/// The same of real storage.
const REAL_REMEDY: &str = "Sync less often (`flush_every`; a group commit), or use a device with a cache that is protected against power \
                           loss, whose flush costs next to nothing. A higher queue depth helps only where writes share a flush.";

/// As records call the two kinds, and what happens meanwhile.
const STAGES: [(&str, &str); 2] = [
    ("flush", "the cache writes to the disks what a flush or a synced write is to keep"),
    ("disk flush", "disks write to their media what their own caches hold"),
];

/// That flushes bound `point`; else nothing.
pub(super) fn limit(point: &Point, uses: &[Use]) -> Option<Draft> {
    let response = &point.breakdown.as_ref()?.response;
    let all: f64 = response.iter().map(PartShare::time_ns).sum();
    let spent = |stage: &str| -> f64 {
        response.iter().filter(|part| part.part == stage).map(PartShare::time_ns).sum()
    };
    let kinds = STAGES.map(|(stage, why)| (spent(stage), why));
    let flushed: f64 = kinds.iter().map(|(time, _)| time).sum();
    if all <= 0.0 || flushed < MOST * all {
        return held_up(point, uses, flushed / all);
    }
    let told: Vec<String> = kinds
        .iter()
        .filter(|(time, _)| *time >= 0.01 * all)
        .map(|(time, why)| match *time < flushed {
            true => format!("{why} ({})", percent(time / all)),
            false => (*why).to_owned(),
        })
        .collect();
    let time = |ns: f64| Nanos::from_secs_f64(ns * 1e-9);
    let mut sentence = format!(
        "flush is the bottleneck: {} of the response time, {} of {}, is the wait for it; {}.",
        percent(flushed / all),
        time(flushed),
        time(all),
        told.join(", ")
    );
    if let Some(busiest) = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share)) {
        sentence += &format!(" The busiest part meanwhile, {}.", busiest.busy());
    }
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let draft = match partial_writes::behind_flushes(point) {
        Some(each) => {
            sentence += &format!(
                " It waits for updates of parity: each write takes {each:.1} disk operations, and old data and parity are read \
                 before anything is written."
            );
            let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(PARITY_REMEDY);
            draft.number("operations_per_request", each)
        }
        None if kinds[0].0 > kinds[1].0 && !syncs(point) => {
            Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(PROTOCOL_REMEDY)
        }
        None => Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(REMEDY),
    };
    Some(draft.number("flush_share", flushed / all).number("in_flight", in_flight))
}

/// A flush is in what requests of such a part of the time or more wait for.
const SEEN: f64 = 0.01;

/// The busiest part of a drive that does nothing beside a flush, as a record has it.
const ONE_AT_A_TIME: &str = "flushes, one at a time";

/// What to do about flushes that others wait for.
const APART_REMEDY: &str = "Put what syncs on a drive of its own, sync less often (`sync`, `flush_every`), or use drives whose flush does not hold up \
                            other commands (NVMe) or costs nothing (protection against power loss).";

/// That most of the response time of `point` is the wait at disks with time to spare, where disks flush, which takes the part `flushed` of
/// it: a drive that flushes serves nothing else meanwhile (over Serial ATA a flush is no queued command).
fn held_up(point: &Point, uses: &[Use], flushed: f64) -> Option<Draft> {
    // What flushes one at a time is busy with that.
    let flushes = |one: &Use| one.inside.as_deref() == Some(ONE_AT_A_TIME);
    let disks = uses.iter().find(|one| one.part.starts_with("disk"));
    let disks = disks.filter(|one| one.share < BUSY || flushes(one))?;
    let response = &point.breakdown.as_ref()?.response;
    let all: f64 = response.iter().map(PartShare::time_ns).sum();
    let waited: f64 = response.iter().filter(|part| part.part == "disk").map(|part| part.wait_ns).sum();
    let waits = waited / all;
    if !(syncs(point) && flushed >= SEEN && waits + flushed >= MOST) {
        return None;
    }
    let time = |ns: f64| Nanos::from_secs_f64(ns * 1e-9);
    let told = format!("{} ({} busy)", disks.part, percent(disks.share));
    let sentence = format!(
        "flush is the bottleneck: {} of the response time, {} of {}, is the wait for {}: while a drive flushes it serves nothing \
         else (Serial ATA). Another {} is the wait for the flush itself.",
        percent(waits),
        time(waited),
        time(all),
        told,
        percent(flushed)
    );
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(APART_REMEDY);
    Some(draft.number("flush_share", flushed).number("wait_share", waits).number("in_flight", in_flight))
}

/// That flushes bound `point` of real storage, by the response times of its own flushes; else nothing. What a write that is
/// opened to be synced waits for is in its own time, and not told apart.
pub(super) fn by_requests(point: &Point) -> Option<Draft> {
    let time = |is_flush: bool| -> f64 {
        let totals = point.workloads.iter().flat_map(|workload| &workload.summary);
        let own = totals.filter(|total| match total.op {
            Ops::One(op) => (op == Op::Flush) == is_flush,
            Ops::All => false,
        });
        own.filter_map(|total| Some(total.ops_per_s.value * total.response.as_ref()?.mean_ns)).sum()
    };
    let rate = |of: Op| -> f64 {
        let totals = point.workloads.iter().flat_map(|workload| &workload.summary);
        totals.filter(|total| total.op == Ops::One(of)).map(|total| total.ops_per_s.value).sum()
    };
    let (flushed, others) = (time(true), time(false));
    let (flushes, writes) = (rate(Op::Flush), rate(Op::Write));
    if flushed <= 0.0 || flushes <= 0.0 || flushed < MOST * (flushed + others) {
        return None;
    }
    let share = flushed / (flushed + others);
    let each = Nanos::from_secs_f64(flushed / flushes * 1e-9);
    let per_write = |of: f64| Nanos::from_secs_f64(of / writes * 1e-9);
    let mut sentence = format!(
        "flush is the bottleneck: {} of the response time is flushes, which take {each} each, {}/s.",
        percent(share),
        OpsPerSecond::new(flushes)
    );
    if writes > 0.0 {
        sentence += &format!(
            " For each write {} of {} is the flush that makes it durable.",
            per_write(flushed),
            per_write(flushed + others)
        );
    }
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(REAL_REMEDY);
    let draft = draft.number("flush_share", share).number("flushes_per_s", flushes);
    Some(draft.number("flush_ms", flushed / flushes * 1e-6))
}

#[cfg(test)]
mod tests {
    use record::Breakdown;
    use record::sample::{self, Stream};

    use super::super::usage::busy;
    use super::*;

    #[test]
    fn requests_that_wait_at_a_disk_with_time_to_spare_wait_for_the_flushes_of_others() {
        let told_of = |disk: Use, flush: f64, syncs: bool| {
            let stream =
                Stream { op: "write", size_bytes: 4096, per_s: 100, median_ns: 1_000_000, spread: 0.0 };
            let mut workload = sample::workload("log", &[stream]);
            workload.spec.durability.every = syncs.then_some(1);
            let mut point = sample::point(0, "p", vec![workload]);
            let part = |part: &str, wait_ns, service_ns| PartShare { part: part.into(), wait_ns, service_ns };
            let response = vec![part("disk", 1_300_000.0, 75_000.0), part("disk flush", 0.0, flush)];
            point.breakdown = Some(Breakdown { response, ..Breakdown::default() });
            limit(&point, &[disk]).map(Draft::about_run)
        };
        let told = |share: f64, flush, syncs| told_of(busy("disk 0", share, 7.6, 0.0), flush, syncs);
        let flushing = Use { inside: Some(ONE_AT_A_TIME.into()), ..busy("disk 0", 0.95, 7.6, 0.0) };
        assert!(told_of(flushing, 160_000.0, true).is_some(), "it is busy with flushes");
        let found = told(0.14, 160_000.0, true).expect("the flush holds them up");
        assert!(found.sentence.contains("is the wait for disk 0 (14 % busy): while"), "{}", found.sentence);
        assert!(found.remedy.starts_with("Put what syncs on a drive of its own"), "{}", found.remedy);
        assert_eq!(told(0.95, 160_000.0, true), None, "the disk is busy");
        assert_eq!(told(0.14, 0.0, true), None, "no flush was waited for");
        assert_eq!(told(0.14, 160_000.0, false), None, "nobody syncs");
    }

    fn found(parts: &[(&str, f64, f64)]) -> Option<record::Finding> {
        let part = |(part, wait_ns, service_ns): &(&str, f64, f64)| PartShare {
            part: (*part).into(),
            wait_ns: *wait_ns,
            service_ns: *service_ns,
        };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[])]);
        let response = parts.iter().map(part).collect();
        point.breakdown = Some(Breakdown { response, ..Breakdown::default() });
        limit(&point, &[busy("disks", 0.97, 0.0, 0.0)]).map(Draft::about_run)
    }

    #[test]
    fn a_flush_that_waits_for_updates_of_parity_is_told_with_what_has_fewer_of_them() {
        let of = |each: u64, sync: Option<&str>| {
            let stream =
                Stream { op: "write", size_bytes: 4096, per_s: 100, median_ns: 60_000_000, spread: 0.0 };
            let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
            let written: u64 = point.workloads[0].totals.iter().map(|total| total.bytes).sum();
            if sync.is_some() {
                point.workloads[0].spec.durability.open = OpenSync::Dsync;
            }
            let class = |part, visits| sample::visits(record::Behalf::HostWrite, part, visits, 0.0, 1.0);
            let disk = record::Component { name: "disk 0".into(), ..record::Component::default() };
            let read_bytes = Some(if each > 2 { written } else { 0 });
            point.breakdown = Some(Breakdown {
                components: vec![record::Component { read_bytes, ..disk }],
                classes: vec![class("host 0 processor", 100), class("disk 0", 100 * each)],
                response: vec![PartShare { part: "flush".into(), wait_ns: 60e6, service_ns: 0.0 }],
                ..Breakdown::default()
            });
            limit(&point, &[busy("disks", 0.59, 0.0, 0.0)]).expect("it is the flush").about_run()
        };
        let parity = of(4, None);
        assert!(parity.sentence.contains("each write takes 4.0 disk operations"), "{}", parity.sentence);
        assert!(parity.remedy.contains("RAID 10"), "{}", parity.remedy);
        assert!(of(2, None).remedy.contains("`protocol.sync_writes`"), "{}", of(2, None).remedy);
        assert!(of(2, Some("dsync")).remedy.starts_with("Sync less often (`sync`"));
    }

    #[test]
    fn flushes_of_real_storage_are_told_by_their_own_response_times() {
        let found = |writes_ns: u64, flush_ns: u64| {
            let stream = |op, median_ns| Stream { op, size_bytes: 4096, per_s: 50, median_ns, spread: 0.0 };
            let streams = [stream("write", writes_ns), stream("flush", flush_ns)];
            let point = sample::point(0, "p", vec![sample::workload("main", &streams)]);
            by_requests(&point).map(Draft::about_run)
        };
        let told = found(1_000_000, 15_000_000).expect("most of the time is flushes");
        assert!(
            told.sentence
                .starts_with("flush is the bottleneck: 94 % of the response time is flushes, which take 15."),
            "{}",
            told.sentence
        );
        assert!(told.sentence.contains("is the flush that makes it durable."), "{}", told.sentence);
        assert_eq!(told.bottleneck(), Some("flush"));
        assert!(found(15_000_000, 1_000_000).is_none());
    }

    #[test]
    fn the_time_of_flushes_bounds_a_load_though_disks_are_busy_with_them() {
        let told = found(&[("disk seek", 0.0, 2e6), ("disk flush", 0.0, 8e6)]).expect("it is the limit");
        assert_eq!(
            told.sentence,
            "flush is the bottleneck: 80 % of the response time, 8.00 ms of 10.0 ms, is the wait for it; disks write to their \
             media what their own caches hold. The busiest part meanwhile, disks 97 % busy."
        );
        assert!(told.remedy.starts_with("Sync less often"), "{}", told.remedy);
        assert_eq!((told.bottleneck(), told.numbers["flush_share"]), (Some("flush"), 0.8));
        let both = found(&[("flush", 3e6, 0.0), ("disk flush", 0.0, 6e6), ("link", 0.0, 1e6)]);
        let both = both.expect("it is the limit").sentence;
        assert!(
            both.contains("keep (30 %), disks write to their media what their own caches hold (60 %)."),
            "{both}"
        );
        assert!(found(&[("disk seek", 0.0, 5.1e6), ("disk flush", 0.0, 4.9e6)]).is_none(), "less than half");
        assert!(found(&[("cache room", 9e6, 0.0)]).is_none() && found(&[]).is_none());
    }
}
