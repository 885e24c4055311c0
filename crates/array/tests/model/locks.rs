//! Who waits for a stripe, and for how long: members that take a millisecond for anything and any number at once, so
//! that all that a request waits for is a lock.

use array::background::{BackgroundKind, BackgroundParams, BackgroundPolicy};
use array::controller::{CacheParams, PrefetchParams};
use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::meter::{Class, Visits};
use array::raid::Level;
use array::sim::{Client, FilePlace, RunOutcome, Sim, Topology, WorkOrder};
use units::convert::narrow;
use units::{Bytes, Nanos, Sectors, Share};
use workload::spec::Pattern;
use workload::{Job, Region};

use crate::fixture::topology::{Ask, bare, job};

const MS: u64 = 1_000_000;
const CHUNK: Bytes = Bytes::new(64 << 10);

/// Five members, four strips of 64 KiB in a row: the first row's parity lies on disk 4, its data on disks 0 to 3.
fn raid5() -> Topology {
    of_rows(Level::Raid5, 1 << 17)
}

fn of_rows(level: Level, rows: u64) -> Topology {
    let service = Service::Fixed(Nanos::from_millis(1));
    let member = DeviceParams::Queue(QueueParams { servers: 512, service });
    bare(level, if level == Level::Raid5 { 5 } else { 2 }, 128, Sectors(rows * 128), member)
}

/// `ops` requests of `size`, `depth` at once, one after the other from `strip` of the first row on.
fn from_strip(strip: u64, size: Bytes, reads: f64, depth: u32, ops: u64) -> Client {
    let ask = Ask { pattern: Pattern::Sequential, size, reads, depth, ops, rate: None, seed: 5 };
    within(&ask, Region { start: CHUNK * strip, len: size * ops })
}

fn within(ask: &Ask, region: Region) -> Client {
    let spec = workload::JobSpec { region, ..job(ask, region.start + region.len) };
    Client { job: Job::new(spec), files: vec![FilePlace::whole(0)], host: 0, buffered: false, durable: false }
}

fn run(topology: &Topology, clients: Vec<Client>) -> RunOutcome {
    run_on(&mut Sim::new(topology, 1).expect("the topology is possible"), clients)
}

fn run_on(sim: &mut Sim, clients: Vec<Client>) -> RunOutcome {
    let outcome = sim.run(clients);
    assert!(outcome.tallies.iter().all(|tally| tally.errors == 0));
    outcome
}

/// What the part of the breakdown says of a class: nothing where nobody waited.
fn waited(outcome: &RunOutcome, class: Class) -> Option<Visits> {
    let part = outcome.breakdown.iter().find(|part| part.name == "stripe locks")?;
    assert_eq!((part.busy, part.utilisation), (Nanos::ZERO, 0.0), "nobody is served by a lock");
    part.visits.iter().find(|(other, _)| *other == class).map(|(_, visits)| *visits)
}

/// Mean response in milliseconds of what a client asked for.
fn mean_ms(outcome: &RunOutcome, client: usize) -> f64 {
    let classes = &outcome.tallies[client].classes;
    let sum: u64 = classes.iter().map(|class| narrow::<u64>(class.response.sum_ns())).sum();
    let count: u64 = classes.iter().map(|class| class.response.count()).sum();
    sum as f64 / MS as f64 / count as f64
}

fn ms(outcome: &RunOutcome) -> f64 {
    (outcome.until - outcome.from).as_secs_f64() * 1e3
}

#[test]
fn writes_of_one_stripe_change_its_parity_one_after_the_other() {
    // Reads and writes of a millisecond each: the last of eight begins when seven have ended.
    let outcome = run(&raid5(), vec![from_strip(0, Bytes::KIB * 4, 0.0, 8, 8)]);
    assert_eq!(ms(&outcome), 16.0);
    let waits = (0..8).map(|before| before * 2 * MS).sum();
    let expected = Visits { count: 7, wait_ns: waits, service_ns: 0, deferred_ns: 0 };
    assert_eq!(waited(&outcome, Class::HostWrite), Some(expected));
}

#[test]
fn writes_of_different_stripes_wait_for_nobody() {
    let row = CHUNK * 4;
    let stride = Pattern::Sequential;
    let ask = Ask { pattern: stride, size: row, reads: 0.0, depth: 8, ops: 8, rate: None, seed: 5 };
    let outcome = run(&raid5(), vec![within(&ask, Region { start: Bytes::ZERO, len: row * 8 })]);
    // Full stripes read nothing.
    assert_eq!(ms(&outcome), 1.0);
    assert_eq!(waited(&outcome, Class::HostWrite), None);
}

#[test]
fn who_locks_blocks_only_lets_others_of_the_stripe_pass() {
    let mut topology = raid5();
    topology.controller.stripe_lock = Some(Bytes::KIB * 4);
    let outcome = run(&topology, vec![from_strip(0, Bytes::KIB * 4, 0.0, 8, 8)]);
    assert_eq!((ms(&outcome), waited(&outcome, Class::HostWrite)), (2.0, None));
    // The blocks of other strips share the parity of this one.
    let others = (0..3).map(|strip| from_strip(strip, Bytes::KIB * 4, 0.0, 1, 1)).collect();
    assert_eq!(ms(&run(&topology, others)), 6.0);
}

#[test]
fn full_stripes_are_locked_too() {
    let row = CHUNK * 4;
    let again = |_| from_strip(0, row, 0.0, 1, 1);
    let outcome = run(&raid5(), (0..5).map(again).collect());
    assert_eq!(ms(&outcome), 5.0);
    assert_eq!(waited(&outcome, Class::HostWrite).map(|visits| visits.wait_ns), Some(10 * MS));
}

#[test]
fn a_read_of_a_member_that_is_well_passes_the_writes_of_its_stripe() {
    let clients = vec![from_strip(0, Bytes::KIB * 4, 0.0, 4, 4), from_strip(0, Bytes::KIB * 4, 1.0, 1, 8)];
    let outcome = run(&raid5(), clients);
    assert_eq!((mean_ms(&outcome, 0), mean_ms(&outcome, 1)), (5.0, 1.0));
    assert_eq!(waited(&outcome, Class::HostRead), None);
}

#[test]
fn a_read_that_reconstructs_waits_for_the_write_of_its_stripe_and_for_no_other_read() {
    let mut sim = Sim::new(&raid5(), 1).expect("the topology is possible");
    sim.fail_disk(3).expect("the disk is in the set");
    let small = |strip, reads| from_strip(strip, Bytes::KIB * 4, reads, 1, 1);
    // A write, two reads of what is lost, and one of what is not.
    let clients = vec![small(0, 0.0), small(3, 1.0), small(3, 1.0), small(1, 1.0)];
    let outcome = run_on(&mut sim, clients);
    let means = [0, 1, 2, 3].map(|client| mean_ms(&outcome, client));
    assert_eq!(means, [2.0, 3.0, 3.0, 1.0]);
    let expected = Visits { count: 2, wait_ns: 4 * MS, service_ns: 0, deferred_ns: 0 };
    assert_eq!(waited(&outcome, Class::HostRead), Some(expected));
    // And a write waits for those that read.
    let outcome = run_on(&mut sim, vec![small(3, 1.0), small(0, 0.0)]);
    assert_eq!([0, 1].map(|client| mean_ms(&outcome, client)), [1.0, 3.0]);
}

#[test]
fn a_stripe_that_is_written_again_while_it_is_destaged_is_destaged_again_afterwards() {
    let mut topology = raid5();
    topology.controller.cache = Some(CacheParams {
        size: Bytes::GIB,
        line: Bytes::KIB * 4,
        block: Bytes::new(512),
        write_part: Share::ALL,
        read_part: Share::ALL,
        bypass: None,
        read: false,
        fills: false,
        write_back: true,
        protected: false,
        mirrored: false,
        dirty_high: Share::ALL,
        dirty_low: Share::ALL,
        dirty_age: Nanos::from_secs(30),
        destage_window: 2,
        partial_window: 2,
        stripes: Bytes::ZERO,
        prefetch: PrefetchParams { streams: 0, confirm: 2, start: Bytes::ZERO, max: Bytes::ZERO },
    });
    let row = CHUNK * 4;
    let ask =
        Ask { pattern: Pattern::Sequential, size: row, reads: 0.0, depth: 1, ops: 3, rate: None, seed: 5 };
    let region = Region { start: Bytes::ZERO, len: row };
    let spec = workload::JobSpec { region, flush_at_end: true, ..job(&ask, row) };
    let client = Client {
        job: Job::new(spec),
        files: vec![FilePlace::whole(0)],
        host: 0,
        buffered: false,
        durable: false,
    };
    // A full stripe is destaged at once, in a millisecond: the second waits for the first, the third for the second.
    let outcome = run(&topology, vec![client]);
    assert_eq!(ms(&outcome), 3.0);
    let expected = Visits { count: 2, wait_ns: 2 * MS, service_ns: 0, deferred_ns: 0 };
    assert_eq!(waited(&outcome, Class::Destage), Some(expected));
}

#[test]
fn writes_over_several_stripes_never_wait_for_each_other_for_ever() {
    let row = CHUNK * 4;
    let region = Region { start: Bytes::ZERO, len: row * 12 };
    let load = |size, reads, seed| {
        let pattern = Pattern::RandomWithRepeats;
        let ask = Ask { pattern, size, reads, depth: 16, ops: 2_000, rate: None, seed };
        let spec = workload::JobSpec { region, align: Bytes::KIB * 4, ..job(&ask, region.len) };
        Client {
            job: Job::new(spec),
            files: vec![FilePlace::whole(0)],
            host: 0,
            buffered: false,
            durable: false,
        }
    };
    let mut sim = Sim::new(&raid5(), 1).expect("the topology is possible");
    sim.fail_disk(2).expect("the disk is in the set");
    let clients = vec![load(row * 3, 0.0, 1), load(Bytes::KIB * 4, 0.5, 2), load(CHUNK * 3, 0.2, 3)];
    let outcome = run_on(&mut sim, clients);
    assert!(outcome.tallies.iter().all(|tally| tally.completed == 2_000));
    assert!(waited(&outcome, Class::HostWrite).is_some_and(|visits| visits.count > 1_000));
}

/// An array of sixteen rows whose disk 3 is being rebuilt, two rows at once: a millisecond to read, one to write.
fn rebuilding(level: Level) -> (Sim, u32) {
    let mut sim = Sim::new(&of_rows(level, 16), 1).expect("the topology is possible");
    sim.fail_disk(if level == Level::Raid5 { 3 } else { 1 }).expect("the disk is in the set");
    let kind = BackgroundKind::Rebuild;
    let number = begin(&mut sim, kind);
    (sim, number)
}

fn begin(sim: &mut Sim, kind: BackgroundKind) -> u32 {
    let (unit, window, policy) = (CHUNK, 2, BackgroundPolicy::Fifo);
    let params = BackgroundParams { kind, unit, window, policy, startup: Share::NONE, member_limit: None };
    sim.start_work_as(WorkOrder { kind, set: 0, slot: None }, params).expect("it has something to do")
}

/// One request of 4 KiB at the begin of `strip` of `row`.
fn one(row: u64, strip: u64, reads: f64) -> Client {
    from_strip(row * 4 + strip, Bytes::KIB * 4, reads, 1, 1)
}

fn ended_ms(sim: &Sim, work: u32) -> f64 {
    let progress = sim.work_progress(work).expect("the work exists");
    progress.ended.expect("it has ended").nanos() as f64 / MS as f64
}

#[test]
fn a_write_waits_for_the_unit_that_is_being_rebuilt_and_then_goes_to_the_new_disk_too() {
    let (mut sim, work) = rebuilding(Level::Raid5);
    // The strip of row 0 that the failed disk holds, one of a row under way, and one of a row that is not.
    let outcome = run_on(&mut sim, vec![one(0, 3, 0.0), one(1, 0, 0.0), one(9, 0, 0.0)]);
    assert_eq!([0, 1, 2].map(|client| mean_ms(&outcome, client)), [4.0, 4.0, 2.0]);
    let expected = Visits { count: 2, wait_ns: 4 * MS, service_ns: 0, deferred_ns: 0 };
    assert_eq!(waited(&outcome, Class::HostWrite), Some(expected));
    let new_disk = outcome.breakdown.iter().find(|part| part.name == "disk 3").expect("it is written");
    let hosts = new_disk.visits.iter().find(|(class, _)| *class == Class::HostWrite);
    // Read and written like any other: it has the data of row 0 and the parity of row 1.
    assert_eq!(hosts.map(|(_, visits)| visits.count), Some(4));
    sim.finish_work(work);
    assert_eq!(ended_ms(&sim, work), 16.0, "the units did not wait");
}

#[test]
fn reads_of_the_unit_that_is_being_rebuilt_are_reconstructed_and_do_not_wait() {
    let (mut sim, work) = rebuilding(Level::Raid5);
    let outcome = run_on(&mut sim, vec![one(0, 3, 1.0), one(0, 0, 1.0)]);
    assert_eq!([0, 1].map(|client| mean_ms(&outcome, client)), [1.0, 1.0]);
    assert_eq!(waited(&outcome, Class::HostRead), None);
    sim.finish_work(work);
    assert_eq!(ended_ms(&sim, work), 16.0);
}

#[test]
fn a_unit_waits_for_the_write_that_is_under_way_in_it() {
    let (mut sim, work) = rebuilding(Level::Raid5);
    // A millisecond passes; then a write of the row that is next begins, and ends after two more.
    run_on(&mut sim, vec![one(9, 0, 1.0)]);
    let outcome = run_on(&mut sim, vec![one(2, 0, 0.0)]);
    assert_eq!(mean_ms(&outcome, 0), 2.0);
    sim.finish_work(work);
    assert_eq!(ended_ms(&sim, work), 17.0, "rows 2 and 3 begin at 3 ms instead of 2");
}

#[test]
fn a_mirror_that_is_copied_holds_its_units_as_well() {
    let (mut sim, work) = rebuilding(Level::Raid1);
    let at = |chunk, reads| from_strip(chunk, Bytes::KIB * 4, reads, 1, 1);
    let outcome = run_on(&mut sim, vec![at(0, 0.0), at(0, 1.0), at(9, 0.0)]);
    assert_eq!([0, 1, 2].map(|client| mean_ms(&outcome, client)), [3.0, 1.0, 1.0]);
    sim.finish_work(work);
    assert_eq!(ended_ms(&sim, work), 16.0);
}

#[test]
fn whatever_writes_or_compares_holds_its_unit_while_it_is_under_way() {
    // Initialising writes once; online it reads and writes; a comparison reads, and needs a stripe that stands still.
    let kinds = [
        (BackgroundKind::Initialise, 1.0),
        (BackgroundKind::InitialiseOnline, 2.0),
        (BackgroundKind::InitialiseVerify, 2.0),
        (BackgroundKind::Verify, 1.0),
        (BackgroundKind::Scrub, 1.0),
    ];
    for (kind, unit_ms) in kinds {
        let mut sim = Sim::new(&of_rows(Level::Raid5, 16), 1).expect("the topology is possible");
        begin(&mut sim, kind);
        let outcome = run_on(&mut sim, vec![one(0, 0, 0.0), one(0, 1, 1.0)]);
        let write = mean_ms(&outcome, 0) - unit_ms;
        assert_eq!((write, mean_ms(&outcome, 1)), (2.0, 1.0), "{kind:?}");
    }
}

#[test]
fn a_rebuild_under_writes_ends_and_so_do_they() {
    let (mut sim, work) = rebuilding(Level::Raid5);
    let (pattern, size) = (Pattern::RandomWithRepeats, Bytes::KIB * 96);
    let ask = Ask { pattern, size, reads: 0.3, depth: 32, ops: 2_000, rate: None, seed: 7 };
    let outcome = run_on(&mut sim, vec![within(&ask, Region { start: Bytes::ZERO, len: CHUNK * 64 })]);
    assert_eq!(outcome.tallies[0].completed, 2_000);
    sim.finish_work(work);
    assert!(ended_ms(&sim, work) >= 16.0);
}
