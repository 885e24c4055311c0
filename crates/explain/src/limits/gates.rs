//! What lets only so many requests through at once – a queue's depth, a lock, slots – as the bottleneck: requests wait there while
//! every part has time to spare.
//!
//! A gate does no work, and so no part is busy where it is the limit. The record tells where the response time of each request
//! went; what waits at a gate although nothing behind it queues waits for the gate itself. Where one gate lies behind another,
//! the inner one is looked at first: a wider outer one would only have more wait there.

use record::{Behalf, ClassShare, PartShare, Point, Run, Severity};

use super::ONE;
use super::queues::BUSY;
use super::usage::Use;
use crate::Code;
use crate::draft::{Draft, percent};
use crate::evidence::{has_setting, setting};

/// A gate that is the limit has so much of the time from there on as its wait.
const MOST: f64 = 0.5;

/// And, with what waits at gates before it, so much of the whole response time.
const LARGE: f64 = 0.3;

/// Behind a gate that is the limit requests wait for less of their time.
const QUEUED: f64 = 0.5;

/// What lets only so many through.
struct Gate {
    /// As a record calls it.
    stage: &'static str,
    /// What it is called as the bottleneck.
    name: &'static str,
    /// Why requests wait there.
    why: &'static str,
    /// What to do about it.
    remedy: &'static str,
}

/// The queue of a session, as records call it.
const SESSION: &str = "session queue";

/// Room in a write cache, as records call it.
const CACHE_ROOM: &str = "cache room";

/// The queue of a LUN in its host, as records call it.
const LUN_QUEUE: &str = "LUN queue";

/// The gate at which requests wait for something to be written.
const BITMAP: &str = "write-intent bitmap";

impl Gate {
    /// Whether the wait is for work of its own, and not for those in front: what queues behind it has no part in that.
    fn writes(&self) -> bool {
        self.stage == BITMAP
    }

    fn is_several(&self) -> bool {
        self.name.ends_with("locks")
    }
}

/// In the order in which a request meets them.
const GATES: [Gate; 10] = [
    Gate {
        stage: super::components::SCHEDULE,
        name: "queue depth",
        why: "requests are due, and all slots of the load are taken (`depth`)",
        remedy: "Raise `depth` (fio: `iodepth`): a schedule that is kept needs as many slots as its rate times the response time.",
    },
    Gate {
        stage: LUN_QUEUE,
        name: record::names::trial::LUN_QUEUE,
        why: "no more requests reach a LUN at once (`host.lun_depth`)",
        remedy: super::lun_queue::REMEDY,
    },
    Gate {
        stage: SESSION,
        name: "session queue",
        why: "a session takes no more requests at once (`protocol.outstanding`)",
        remedy: "Raise `protocol.outstanding` (the slots of the session: NFS slot table, iSCSI command window), or use more \
                 sessions (`protocol.sessions`).",
    },
    Gate {
        stage: "controller queue",
        name: "controller queue",
        why: "the controller works on no more requests at once (`controller.accepts`)",
        remedy: "Raise `controller.accepts`, the requests that the controller works on at once (threads of a file server).",
    },
    Gate {
        stage: "ownership",
        name: "LUN ownership",
        why: "the LUN moves to the other controller for the requests that arrive there",
        remedy: "Send the requests of a LUN through the controller that owns it (`multipath=failover`, optimized paths alone).",
    },
    Gate {
        stage: CACHE_ROOM,
        name: "cache room",
        why: "the write cache is full, and writes out too little at once to keep the disks busy",
        remedy: "Have each write take fewer disk operations (RAID 10, whole stripes), or let the cache write out more at once \
                 (`cache.partial_window` of parts of stripes, `cache.destage_window` of whole ones). `avoidable-cost` says which of \
                 them was tried and gains.",
    },
    Gate {
        stage: "file lock",
        name: "file lock",
        why: "a file takes one write at a time",
        remedy: "Write to more files at once, or to a file system that locks ranges.",
    },
    Gate {
        stage: "stripe locks",
        name: "stripe locks",
        why: "a stripe takes one write at a time, and none while a rebuild works on it",
        remedy: "Write whole stripes, spread small writes over more of them, or have a write cache gather them.",
    },
    Gate {
        stage: "journal",
        name: "journal",
        why: "the journal takes one transaction at a time",
        remedy: "Sync less often (`sync`, `flush_every`, on NFS `protocol.sync_writes`), have more requests share a sync, or give the \
                 journal a faster device.",
    },
    Gate {
        stage: BITMAP,
        name: BITMAP,
        why: "a write to a region whose bit is clear waits until a page with the bit is on every member, flushed before and after, and \
              who comes meanwhile waits for the next page",
        remedy: crate::settings::BITMAP_REMEDY,
    },
];

/// The gate that bounds `point`, where each of `uses` has time to spare, with the part of the response time that is the wait for it and
/// the part that is spent at gates before it; else nothing.
fn bounding(point: &Point, uses: &[Use]) -> Option<(&'static Gate, f64, f64)> {
    let response = &point.breakdown.as_ref()?.response;
    if response.is_empty() || uses.iter().any(|one| one.share >= BUSY) {
        return None;
    }
    let all: f64 = response.iter().map(PartShare::time_ns).sum();
    GATES.iter().rev().find_map(|gate| {
        let place = response.iter().position(|part| part.part == gate.stage)?;
        let (own, behind) = (&response[place], &response[place + 1..]);
        let spent: f64 = behind.iter().map(PartShare::time_ns).sum();
        let queued: f64 = behind.iter().map(|part| part.wait_ns).sum();
        // What waits at a gate before this one waits for it as well.
        let before: f64 =
            response[..place].iter().filter(|part| is_gate(part)).map(|part| part.wait_ns).sum();
        let is_limit = own.wait_ns >= MOST * (own.time_ns() + spent)
            && before + own.wait_ns >= LARGE * all
            && (gate.writes() || queued <= QUEUED * spent);
        is_limit.then_some((gate, own.wait_ns / all, before / all))
    })
}

/// What lets no more requests of `point` through although the load has slots for them; `None` where nothing does, and where the slots
/// themselves are what they wait for.
pub(super) fn beyond_slots(point: &Point, uses: &[Use]) -> Option<&'static str> {
    let (gate, ..) = bounding(point, uses)?;
    (gate.stage != super::components::SCHEDULE).then_some(gate.name)
}

/// That a gate bounds `point`; else nothing.
pub(super) fn limit(run: &Run, point: &Point, uses: &[Use]) -> Option<Draft> {
    let (gate, waited, before) = bounding(point, uses)?;
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let (verb, them) = if gate.is_several() { ("are", "them") } else { ("is", "it") };
    let queued = if before < 0.01 {
        String::new()
    } else {
        format!(" and {} in queues before {them}", percent(before))
    };
    let Gate { name, remedy, .. } = gate;
    let queues = point.breakdown.as_ref().and_then(|breakdown| breakdown.lun_queues);
    let why = match queues.filter(|_| gate.stage == LUN_QUEUE) {
        Some(queues) => super::lun_queue::reach(queues.depth, queues.queues > 1),
        // One request that waits for others waits for its own parts.
        None if gate.stage == SESSION && in_flight <= ONE => {
            format!("it is sent in parts, which wait for each other, and {}", gate.why)
        }
        None => gate.why.to_owned(),
    };
    let remedy = match gate.stage == SESSION && in_flight <= ONE {
        true => &format!(
            "Use requests that are sent whole{}: parts that go side by side (`protocol.outstanding`) gain only what the way has left.",
            setting(run, "protocol.read_size")
                .map_or_else(String::new, |size| format!(", {size} at most (`protocol.read_size`)"))
        ),
        false => *remedy,
    };
    let mut sentence = format!(
        "{name} {verb} the bottleneck: {} of the response time is the wait for {them}{queued}; {why}.",
        percent(waited),
    );
    if let Some(busiest) = uses.iter().max_by(|one, other| one.share.total_cmp(&other.share)) {
        sentence += &format!(" No part is saturated; the busiest, {}.", busiest.busy());
    }
    let key = gate.stage.replace(' ', "_");
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(remedy);
    let draft = match (gate.stage == CACHE_ROOM).then(|| bitmap_share(run, point)).flatten() {
        Some(share) => draft
            .sentence(&format!(
                " {} of the disks' busy time is for pages of the write-intent bitmap (`raid.bitmap`), which are written before what the \
                 cache writes out.",
                percent(share)
            ))
            .remedy(crate::settings::BITMAP_REMEDY)
            .number("bitmap_share", share),
        None => draft,
    };
    Some(draft.number(&format!("{key}_share"), waited).number("in_flight", in_flight))
}

/// Write-intent bitmap pages are reported from this share of the disks' busy time on.
const BITMAP_TOLD: f64 = 0.1;

/// The part of the disks' busy time that they write pages of a write-intent bitmap for: where a cache takes all writes of the load, and none
/// of them waits for a disk, what disks do for the load's writes themselves.
fn bitmap_share(run: &Run, point: &Point) -> Option<f64> {
    let breakdown = point.breakdown.as_ref().filter(|_| has_setting(run, "raid.bitmap"))?;
    if breakdown.response.iter().any(|part| part.part.starts_with("disk")) {
        return None;
    }
    let busy = |counts: fn(&ClassShare) -> bool| -> f64 {
        let at_disks =
            breakdown.classes.iter().filter(|one| one.component.starts_with("disk ") && counts(one));
        at_disks.map(|one| (one.service_ns + one.deferred_ns) * one.visits as f64).sum()
    };
    let share = busy(|one| one.op == Behalf::HostWrite) / busy(|_| true);
    (share >= BITMAP_TOLD).then_some(share)
}

fn is_gate(part: &PartShare) -> bool {
    GATES.iter().any(|gate| gate.stage == part.part)
}

#[cfg(test)]
mod tests {
    use record::Breakdown;
    use record::sample::{self, Stream};

    use super::super::usage::busy;
    use super::*;

    /// A point whose requests spent these times waiting and served at these parts.
    fn point(parts: &[(&str, f64, f64)]) -> Point {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 1_000_000, spread: 0.0 };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
        point.workloads[0].mean_in_flight = 64.0;
        let part = |(part, wait_ns, service_ns): &(&str, f64, f64)| PartShare {
            part: (*part).into(),
            wait_ns: *wait_ns,
            service_ns: *service_ns,
        };
        let response = parts.iter().map(part).collect();
        point.breakdown = Some(Breakdown { response, ..Breakdown::default() });
        point
    }

    fn found(parts: &[(&str, f64, f64)], share: f64) -> String {
        let run = sample::run("t", Vec::new());
        let limit = limit(&run, &point(parts), &[busy("disks", share, 0.0, 0.0)]);
        limit.map_or(String::new(), |draft| draft.about_run().sentence)
    }

    #[test]
    fn what_requests_wait_for_while_no_part_is_busy_is_the_bottleneck() {
        let told = found(&[("LUN queue", 60.0, 0.0), ("disk", 0.0, 4.0)], 0.28);
        assert!(
            told.starts_with("LUN queue is the bottleneck: 94 % of the response time is the wait"),
            "{told}"
        );
        assert!(told.ends_with("No part is saturated; the busiest, disks 28 % busy."), "{told}");
        assert_eq!(found(&[("LUN queue", 60.0, 0.0), ("disk", 0.0, 4.0)], BUSY), "", "the disks are");
        assert_eq!(found(&[("disk", 60.0, 4.0)], 0.5), "", "that is no gate");
        assert_eq!(found(&[], 0.5), "", "nothing was counted");
        for gate in &GATES {
            let told = found(&[(gate.stage, 9.0, 0.0), ("disk transfer", 0.0, 1.0)], 0.1);
            assert!(told.starts_with(gate.name) && told.contains(" the bottleneck: 90 % of"), "{told}");
        }
    }

    #[test]
    fn a_cache_that_writes_out_behind_a_bitmap_is_told_with_what_its_pages_take_of_the_disks() {
        let of = |settings: &str, host_writes: u64| {
            let mut run = sample::run("t", Vec::new());
            let facts = [(record::names::fact::DESCRIPTION.to_owned(), settings.to_owned())];
            run.targets[0].facts = facts.into_iter().collect();
            let mut point = point(&[("link", 0.0, 1.0), ("cache room", 37.0, 0.0)]);
            let visits = |op, count| sample::visits(op, "disk 1", count, 0.0, 5e6);
            point.breakdown.as_mut().expect("it has one").classes =
                vec![visits(Behalf::HostWrite, host_writes), visits(Behalf::Destage, 600)];
            limit(&run, &point, &[busy("disks", 0.7, 0.0, 0.0)]).expect("it is the limit").about_run()
        };
        let found = of("raid.level = 5; raid.bitmap.region = 1MiB", 400);
        assert!(
            found.sentence.contains(" 40 % of the disks' busy time is for pages of the write-intent"),
            "{found:?}"
        );
        assert!(found.remedy.contains("--bitmap-chunk"), "{}", found.remedy);
        assert!(!of("raid.level = 5; raid.bitmap.region = 1MiB", 6).sentence.contains("bitmap"));
        assert!(!of("raid.level = 5", 400).sentence.contains("bitmap"));
    }

    #[test]
    fn one_request_that_waits_for_its_session_waits_for_its_own_parts() {
        let mut point = point(&[("session queue", 80.0, 0.0), ("link", 0.0, 10.0)]);
        let run = sample::run("t", Vec::new());
        let mut remedy = |in_flight| {
            point.workloads[0].mean_in_flight = in_flight;
            limit(&run, &point, &[busy("link", 0.5, 0.0, 0.0)]).expect("it is the limit").about_run()
        };
        let (alone, many) = (remedy(1.0), remedy(8.0));
        assert!(
            alone.sentence.contains("it is sent in parts, which wait for each other"),
            "{}",
            alone.sentence
        );
        assert!(alone.remedy.starts_with("Use requests that are sent whole:"), "{}", alone.remedy);
        assert!(many.remedy.starts_with("Raise `protocol.outstanding`"), "{}", many.remedy);
    }

    #[test]
    fn a_gate_behind_the_slots_of_the_load_lets_no_more_through_with_more_slots() {
        let of = |parts: &[(&str, f64, f64)]| beyond_slots(&point(parts), &[busy("disks", 0.3, 0.0, 0.0)]);
        let slots = ("schedule", 9_000.0, 0.0);
        assert_eq!(of(&[slots, ("LUN queue", 60.0, 0.0), ("disk", 0.0, 4.0)]), Some("LUN queue"));
        assert_eq!(of(&[slots, ("disk", 0.0, 4.0)]), None);
    }

    #[test]
    fn of_several_gates_the_inner_one_is_the_bottleneck_as_far_as_requests_wait_there() {
        let both = |outer: f64, inner: f64| {
            found(&[("LUN queue", outer, 0.0), ("stripe locks", inner, 0.0), ("disk", 0.0, 10.0)], 0.3)
        };
        let told = both(100.0, 30.0);
        assert!(
            told.starts_with("stripe locks are the") && told.contains("71 % in queues before them"),
            "{told}"
        );
        assert!(both(100.0, 1.0).starts_with("LUN queue is"));
        assert_eq!(both(9.0, 1.0), "", "less than half of the time is a wait");
    }

    #[test]
    fn a_gate_behind_which_requests_queue_is_not_the_bottleneck() {
        let behind = |wait: f64| found(&[("LUN queue", 60.0, 0.0), ("link", wait, 4.0)], 0.85);
        assert!(behind(3.9).starts_with("LUN queue is"));
        assert_eq!(behind(4.1), "");
    }

    #[test]
    fn what_waits_for_the_bitmap_waits_for_its_pages_although_reads_queue_at_the_disks() {
        let told = found(&[(BITMAP, 2_720.0, 0.0), ("disk", 273.0, 89.0)], 0.08);
        assert!(
            told.starts_with("write-intent bitmap is the bottleneck: 88 % of the response time"),
            "{told}"
        );
        assert_eq!(found(&[("LUN queue", 2_720.0, 0.0), ("disk", 273.0, 89.0)], 0.08), "");
    }
}
