//! Zones of a device, which refuses what is out of order.

use super::*;
use crate::{BlockRequests, Completion, Errno, Job, Outcome, Wake, compile};
use proptest::prelude::*;
use units::{Instant, Nanos};

const KIB: u64 = 1024;
/// Zones of 64 KiB, of which 48 KiB can be written.
const SIZE: u64 = 64 * KIB;
const CAPACITY: u64 = 48 * KIB;

/// A device with zones in memory, as strict as a real one.
struct Drive {
    zones: Vec<DeviceZone>,
    most_active: u64,
    resets: u64,
    /// So many more writes fail.
    failing: u32,
}

impl Drive {
    fn new(kinds: &[(ZoneAccess, u64)], most_active: u64) -> Drive {
        let zone = |(access, written): &(ZoneAccess, u64)| DeviceZone {
            capacity: Bytes::new(if *access == ZoneAccess::Anywhere { SIZE } else { CAPACITY }),
            written: Bytes::new(*written),
            access: *access,
            is_open: *access == ZoneAccess::InOrder && *written > 0 && *written < CAPACITY,
        };
        Drive { zones: kinds.iter().map(zone).collect(), most_active, resets: 0, failing: 0 }
    }

    fn active(&self) -> u64 {
        let is_active = |zone: &&DeviceZone| {
            zone.access == ZoneAccess::InOrder && !zone.written.is_zero() && zone.written < zone.capacity
        };
        self.zones.iter().filter(is_active).count() as u64
    }

    /// What becomes of a request.
    fn execute(&mut self, request: &crate::Request) -> Outcome {
        let (at, len) = (request.offset.get(), u64::from(request.len));
        let number = narrow::<usize>(at / SIZE);
        let zone = self.zones[number];
        let end = at % SIZE + len;
        match (request.op, zone.access) {
            (Op::Flush, _) => return Outcome::moved(request.len),
            (_, ZoneAccess::Anywhere) => assert!(end <= SIZE, "{request:?} leaves its zone"),
            (_, ZoneAccess::Offline) | (Op::Write, ZoneAccess::ReadOnly) => panic!("{request:?} to {zone:?}"),
            (Op::Read, _) => assert!(end <= zone.written.get(), "{request:?} of {zone:?}"),
            _ if self.failing > 0 => {
                self.failing -= 1;
                return Outcome::failed(Errno(5));
            }
            _ => {
                assert_eq!(at % SIZE, zone.written.get(), "{request:?} is not at the write pointer");
                assert!(end <= zone.capacity.get(), "{request:?} passes the capacity");
                self.zones[number].written = Bytes::new(end);
                assert!(self.active() <= self.most_active, "too many zones are written in part");
            }
        }
        Outcome::moved(request.len)
    }

    fn answer(&mut self, call: &ZoneCall) -> Option<DeviceZone> {
        assert_eq!((call.at.get() % SIZE, call.len.get()), (0, SIZE));
        let zone = &mut self.zones[narrow::<usize>(call.at.get() / SIZE)];
        match call.action {
            ZoneAction::Report => Some(*zone),
            ZoneAction::Reset => {
                assert_eq!(zone.access, ZoneAccess::InOrder);
                zone.written = Bytes::ZERO;
                self.resets += 1;
                None
            }
        }
    }
}

/// Workers with these keys on one drive, which has told of its zones.
fn jobs(drive: &Drive, keys: &[(&str, &str)]) -> Vec<Job> {
    let open = drive.most_active.to_string();
    let texts = [("size", "16KiB"), ("zone_size", "64KiB"), ("bytes", "4MiB"), ("depth", "4")];
    let own = |key: &&(&str, &str)| keys.iter().all(|(other, _)| other != &key.0);
    let texts = texts.iter().filter(own).chain(keys).copied().chain([("open_zones", open.as_str())]);
    let workload = crate::plan::from_texts("x", texts).unwrap_or_else(|e| panic!("{}", e.plain()));
    let specs = compile(&workload, &[Bytes::new(SIZE * drive.zones.len() as u64)]).expect("it fits");
    let states = ZoneStates::default();
    states.learn("drive".into(), drive.zones.iter().copied());
    let job = |spec| {
        let mut job = Job::<BlockRequests>::new(spec);
        job.share_zones(&states, |_| "drive".into());
        job
    };
    specs.into_iter().map(job).collect()
}

/// Runs all jobs to their end, each step a batch of one of them and the end of the oldest request; what was asked.
fn run(drive: &mut Drive, jobs: &mut [Job]) -> Vec<crate::Request> {
    let (mut now, mut all) = (Instant::START, Vec::new());
    // What is written is there once the write has ended, and what is read has to be there at once.
    let mut flying: Vec<(usize, crate::Request, Option<Outcome>)> = Vec::new();
    jobs.iter_mut().for_each(|job| job.start(now));
    let mut done = vec![false; jobs.len()];
    for _ in 0..100_000 {
        for (number, job) in jobs.iter_mut().enumerate() {
            if done[number] {
                continue;
            }
            let mut batch = Vec::new();
            done[number] = job.plan(now, &mut batch) == Wake::Done;
            for request in batch {
                let outcome = (request.op == Op::Read).then(|| drive.execute(&request));
                all.push(request);
                flying.push((number, request, outcome));
            }
            if let Some(call) = job.zone_call() {
                let told = drive.answer(&call);
                job.zone_answered(told);
            }
        }
        now = now.saturating_add(Nanos::from_micros(10));
        if !flying.is_empty() {
            let (number, request, outcome) = flying.remove(0);
            let outcome = outcome.unwrap_or_else(|| drive.execute(&request));
            jobs[number].complete(Completion { token: request.token, outcome, finished_at: now });
        } else if !done.contains(&false) {
            return all;
        }
    }
    panic!("the jobs do not end")
}

fn in_order(written: &[u64]) -> Vec<(ZoneAccess, u64)> {
    written.iter().map(|written| (ZoneAccess::InOrder, written * KIB)).collect()
}

#[test]
fn writes_go_on_where_the_device_says_and_full_zones_are_reset_by_it() {
    let mut drive = Drive::new(&in_order(&[16, 48, 0]), 3);
    let keys = [("reads", "0%"), ("pattern", "sequential"), ("bytes", "128KiB"), ("depth", "1")];
    let mut jobs = jobs(&drive, &keys);
    let places: Vec<u64> = run(&mut drive, &mut jobs).iter().map(|asked| asked.offset.get() / KIB).collect();
    assert_eq!(places[..5], [16, 32, 64, 80, 96], "{places:?}");
    assert_eq!(drive.resets, 1, "the full one");
    assert_eq!(jobs.remove(0).into_tally().zone_resets, 1);
}

#[test]
fn reads_find_what_was_there_before_the_run() {
    let mut drive = Drive::new(&in_order(&[0, 48, 16]), 3);
    let mut jobs = jobs(&drive, &[("reads", "100%"), ("pattern", "sequential")]);
    let places: Vec<u64> = run(&mut drive, &mut jobs).iter().map(|asked| asked.offset.get() / KIB).collect();
    assert_eq!(places[..4], [64, 80, 96, 128], "{places:?}");
}

#[test]
fn one_write_at_a_time_is_in_flight_in_a_zone_of_a_device() {
    let drive = Drive::new(&in_order(&[0]), 1);
    let mut job = jobs(&drive, &[("reads", "0%")]).remove(0);
    job.start(Instant::START);
    let mut batch = Vec::new();
    for _ in 0..4 {
        job.plan(Instant::START, &mut batch);
    }
    assert_eq!(batch.len(), 1, "nothing below keeps two of them in order");
}

#[test]
fn after_a_write_that_failed_the_device_is_asked_where_its_write_pointer_is() {
    let mut drive = Drive::new(&in_order(&[0, 0]), 2);
    drive.failing = 3;
    let mut jobs = jobs(&drive, &[("reads", "0%"), ("bytes", "256KiB")]);
    let asked = run(&mut drive, &mut jobs);
    assert_eq!((asked.len(), jobs.remove(0).into_tally().errors), (16, 3));
}

#[test]
fn zones_of_a_device_that_may_not_be_written_are_left_alone() {
    use ZoneAccess::{Anywhere, InOrder, Offline, ReadOnly};
    let kinds = [(Offline, 0), (ReadOnly, CAPACITY), (InOrder, 0), (Anywhere, SIZE)];
    let mut drive = Drive::new(&kinds, 4);
    let asked = {
        let mut jobs = jobs(&drive, &[("reads", "30%"), ("pattern", "random(repeats)")]);
        run(&mut drive, &mut jobs)
    };
    let zones = |op: Op| {
        let its = asked.iter().filter(|request| request.op == op);
        its.map(|request| request.offset.get() / SIZE).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(zones(Op::Write), [2, 3].into());
    assert_eq!(zones(Op::Read), [1, 2, 3].into());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_device_has_to_refuse_a_request(
        kinds in proptest::collection::vec((0u8..8, 0u64..4), 2..12),
        (most, workers, depth, reads, seed) in (1u64..6, 1u32..4, 1u32..9, 0u32..3, any::<u32>()),
        resets: bool,
        failing in 0u32..3,
    ) {
        let kind = |(kind, written): &(u8, u64)| match kind {
            0 => (ZoneAccess::Anywhere, SIZE),
            1 => (ZoneAccess::ReadOnly, CAPACITY),
            2 => (ZoneAccess::Offline, 0),
            _ => (ZoneAccess::InOrder, written * 16 * KIB),
        };
        let kinds: Vec<_> = kinds.iter().map(kind).collect();
        let fresh = Drive::new(&kinds, 6);
        // What is written in part before counts.
        let most = most.max(fresh.active());
        let mut drive = Drive { most_active: most, failing, ..fresh };
        let texts = [workers, depth, reads * 30, seed].map(|number| number.to_string());
        let reads = format!("{}%", texts[2]);
        let mut keys = vec![("workers", &*texts[0]), ("depth", &*texts[1]), ("reads", &*reads), ("seed", &*texts[3])];
        if resets {
            keys.push(("zone_resets", "10%"));
        }
        keys.push(("pattern", "random(repeats)"));
        let mut jobs = jobs(&drive, &keys);
        run(&mut drive, &mut jobs);
        let counted: u64 = jobs.into_iter().map(|job| job.into_tally().zone_resets).sum();
        prop_assert_eq!(counted, drive.resets);
    }
}
