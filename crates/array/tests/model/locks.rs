//! Who waits for a stripe, and for how long: members that take a millisecond for anything and any number at once, so
//! that all that a request waits for is a lock.

use array::controller::{CacheParams, PrefetchParams};
use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::meter::{Class, Visits};
use array::raid::Level;
use array::sim::{Client, FilePlace, Outcome, Plant, Sim};
use units::{Bytes, Nanos, Sectors, Share};
use workload::spec::Pattern;
use workload::{Job, Region};

use crate::fixture::plant::{Ask, bare, job};

const MS: u64 = 1_000_000;
const CHUNK: Bytes = Bytes::new(64 << 10);

/// Five members, four strips of 64 KiB in a row: the first row's parity lies on disk 4, its data on disks 0 to 3.
fn raid5() -> Plant {
    let service = Service::Fixed(Nanos::from_millis(1));
    let member = DeviceParams::Queue(QueueParams { servers: 512, service });
    bare(Level::Raid5, 5, 128, Sectors(1 << 24), member)
}

/// `ops` requests of `size`, `depth` at once, one after the other from `strip` of the first row on.
fn from_strip(strip: u64, size: Bytes, reads: f64, depth: u32, ops: u64) -> Client {
    let ask = Ask { pattern: Pattern::Sequential, size, reads, depth, ops, rate: None, seed: 5 };
    within(&ask, Region { start: CHUNK * strip, len: size * ops })
}

fn within(ask: &Ask, region: Region) -> Client {
    let spec = workload::JobSpec { region, ..job(ask, region.start + region.len) };
    Client { job: Job::new(spec), files: vec![FilePlace::whole(0)], host: 0, buffered: false }
}

fn run(plant: &Plant, clients: Vec<Client>) -> Outcome {
    run_on(&mut Sim::new(plant, 1).expect("the plant is possible"), clients)
}

fn run_on(sim: &mut Sim, clients: Vec<Client>) -> Outcome {
    let outcome = sim.run(clients);
    assert!(outcome.tallies.iter().all(|tally| tally.errors == 0));
    outcome
}

/// What the part of the breakdown says of a class: nothing where nobody waited.
fn waited(outcome: &Outcome, class: Class) -> Option<Visits> {
    let part = outcome.breakdown.iter().find(|part| part.name == "stripe locks")?;
    assert_eq!((part.busy, part.utilisation), (Nanos::ZERO, 0.0), "nobody is served by a lock");
    part.visits.iter().find(|(other, _)| *other == class).map(|(_, visits)| *visits)
}

/// Mean response in milliseconds of what a client asked for.
fn mean_ms(outcome: &Outcome, client: usize) -> f64 {
    let classes = &outcome.tallies[client].classes;
    let sum: u64 = classes.iter().map(|class| class.response.sum_ns() as u64).sum();
    let count: u64 = classes.iter().map(|class| class.response.count()).sum();
    sum as f64 / MS as f64 / count as f64
}

fn ms(outcome: &Outcome) -> f64 {
    (outcome.until - outcome.from).as_secs_f64() * 1e3
}

#[test]
fn writes_of_one_stripe_change_its_parity_one_after_the_other() {
    // Reads and writes of a millisecond each: the last of eight begins when seven have ended.
    let outcome = run(&raid5(), vec![from_strip(0, Bytes::KIB * 4, 0.0, 8, 8)]);
    assert_eq!(ms(&outcome), 16.0);
    let waits = (0..8).map(|before| before * 2 * MS).sum();
    let expected = Visits { count: 7, wait_ns: waits, service_ns: 0 };
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
    let mut plant = raid5();
    plant.controller.stripe_lock = Some(Bytes::KIB * 4);
    let outcome = run(&plant, vec![from_strip(0, Bytes::KIB * 4, 0.0, 8, 8)]);
    assert_eq!((ms(&outcome), waited(&outcome, Class::HostWrite)), (2.0, None));
    // The blocks of other strips share the parity of this one.
    let others = (0..3).map(|strip| from_strip(strip, Bytes::KIB * 4, 0.0, 1, 1)).collect();
    assert_eq!(ms(&run(&plant, others)), 6.0);
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
    let mut sim = Sim::new(&raid5(), 1).expect("the plant is possible");
    sim.fail_disk(3).expect("the disk is in the set");
    let small = |strip, reads| from_strip(strip, Bytes::KIB * 4, reads, 1, 1);
    // A write, two reads of what is lost, and one of what is not.
    let clients = vec![small(0, 0.0), small(3, 1.0), small(3, 1.0), small(1, 1.0)];
    let outcome = run_on(&mut sim, clients);
    let means = [0, 1, 2, 3].map(|client| mean_ms(&outcome, client));
    assert_eq!(means, [2.0, 3.0, 3.0, 1.0]);
    let expected = Visits { count: 2, wait_ns: 4 * MS, service_ns: 0 };
    assert_eq!(waited(&outcome, Class::HostRead), Some(expected));
    // And a write waits for those that read.
    let outcome = run_on(&mut sim, vec![small(3, 1.0), small(0, 0.0)]);
    assert_eq!([0, 1].map(|client| mean_ms(&outcome, client)), [1.0, 3.0]);
}

#[test]
fn a_stripe_that_is_written_again_while_it_is_destaged_is_destaged_again_afterwards() {
    let mut plant = raid5();
    plant.controller.cache = Some(CacheParams {
        size: Bytes::GIB,
        line: Bytes::KIB * 4,
        write_part: Share::ALL,
        read: false,
        write_back: true,
        protected: false,
        mirrored: false,
        dirty_high: Share::ALL,
        dirty_low: Share::ALL,
        dirty_age: Nanos::from_secs(30),
        destage_window: 2,
        partial_window: 2,
        prefetch: PrefetchParams { streams: 0, confirm: 2, start: Bytes::ZERO, max: Bytes::ZERO },
    });
    let row = CHUNK * 4;
    let ask =
        Ask { pattern: Pattern::Sequential, size: row, reads: 0.0, depth: 1, ops: 3, rate: None, seed: 5 };
    let region = Region { start: Bytes::ZERO, len: row };
    let spec = workload::JobSpec { region, flush_at_end: true, ..job(&ask, row) };
    let client = Client { job: Job::new(spec), files: vec![FilePlace::whole(0)], host: 0, buffered: false };
    // A full stripe is destaged at once, in a millisecond: the second waits for the first, the third for the second.
    let outcome = run(&plant, vec![client]);
    assert_eq!(ms(&outcome), 3.0);
    let expected = Visits { count: 2, wait_ns: 2 * MS, service_ns: 0 };
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
        Client { job: Job::new(spec), files: vec![FilePlace::whole(0)], host: 0, buffered: false }
    };
    let mut sim = Sim::new(&raid5(), 1).expect("the plant is possible");
    sim.fail_disk(2).expect("the disk is in the set");
    let clients = vec![load(row * 3, 0.0, 1), load(Bytes::KIB * 4, 0.5, 2), load(CHUNK * 3, 0.2, 3)];
    let outcome = run_on(&mut sim, clients);
    assert!(outcome.tallies.iter().all(|tally| tally.settled == 2_000));
    assert!(waited(&outcome, Class::HostWrite).is_some_and(|visits| visits.count > 1_000));
}
