//! What a write-intent bitmap costs, against closed forms: devices take a millisecond for anything, and a flush nothing.

use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::latency::Stage;
use array::raid::Level;
use array::sim::{BitmapParams, Client, RunOutcome, Sim, Topology};
use units::{Bytes, Nanos, Sectors};
use workload::Region;
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client_of, job};

const MS: u64 = 1_000_000;

/// A set with a bit for each MiB, whose members do 64 things at once.
fn set(level: Level, disks: u32, bitmap: bool) -> Topology {
    let millisecond = Service::Fixed(Nanos::from_millis(1));
    let device = DeviceParams::Queue(QueueParams { servers: 64, service: millisecond });
    let mut topology = bare(level, disks, 2_048, Sectors(1 << 28), device);
    let params = BitmapParams { region: Bytes::MIB, sleep: Nanos::from_secs(5) };
    topology.sets[0].bitmap = bitmap.then_some(params);
    topology
}

/// `ops` writes of `size`, one after the other from `start` MiB on, `depth` at once.
fn writes(start: u64, size: Bytes, depth: u32, ops: u64) -> Client {
    let ask = Ask { pattern: Pattern::Sequential, size, reads: 0.0, depth, ops, rate: None, seed: 5 };
    let region = Region { start: Bytes::MIB * start, len: size * ops };
    client_of(workload::JobSpec { region, ..job(&ask, region.start + region.len) })
}

fn run(topology: &Topology, clients: Vec<Client>) -> RunOutcome {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    sim.trace_latency();
    sim.run(clients)
}

/// All of a run in milliseconds.
fn ms(topology: &Topology, client: Client) -> f64 {
    let outcome = run(topology, vec![client]);
    (outcome.until - outcome.from).as_secs_f64() * 1e3
}

/// What the client's writes have spent at a stage together, in milliseconds.
fn at(outcome: &RunOutcome, client: usize, stage: Stage) -> f64 {
    let totals = &outcome.latency[client];
    let spent = totals.classes().into_iter().map(|class| totals.all(class).stages[stage as usize]);
    spent.map(|(wait, service)| (wait + service) as f64 / MS as f64).sum()
}

#[test]
fn writes_within_one_region_wait_for_the_bitmap_once() {
    let within = writes(0, Bytes::KIB * 4, 1, 200);
    assert_eq!(ms(&set(Level::Raid1, 2, false), writes(0, Bytes::KIB * 4, 1, 200)), 200.0);
    assert_eq!(ms(&set(Level::Raid1, 2, true), within), 201.0);
}

#[test]
fn writes_to_regions_that_are_not_met_again_wait_for_it_each() {
    for (level, disks) in [(Level::Raid1, 2), (Level::Raid10, 4)] {
        let each = || writes(0, Bytes::MIB, 1, 200);
        assert_eq!(ms(&set(level, disks, false), each()), 200.0);
        assert_eq!(ms(&set(level, disks, true), each()), 400.0, "{level}");
        let outcome = run(&set(level, disks, true), vec![each()]);
        assert_eq!(at(&outcome, 0, Stage::Bitmap), 200.0);
    }
}

#[test]
fn writes_that_come_together_share_a_page() {
    let eight = |bitmap| ms(&set(Level::Raid1, 2, bitmap), writes(0, Bytes::MIB, 8, 800));
    assert_eq!(eight(false), 100.0);
    // The first finds nobody before it, and the seven others share the next; from there on they take turns, page and data.
    let shared = eight(true);
    assert!((200.0..205.0).contains(&shared), "{shared}");
}

#[test]
fn regions_of_a_set_with_parity_are_of_its_members() {
    // Four strips of a MiB lie side by side on the members.
    let outcome = run(&set(Level::Raid5, 5, true), vec![writes(0, Bytes::MIB, 1, 200)]);
    assert_eq!(at(&outcome, 0, Stage::Bitmap), 50.0);
}

#[test]
fn no_update_of_parity_goes_on_while_the_thread_writes_the_bitmap() {
    let mut topology = set(Level::Raid5, 5, true);
    // A page on five members takes 1.5 ms, for which two reads of an update need 1.2 ms.
    topology.controller.member_command = Nanos::from_micros(100);
    topology.controller.flush_members = false;
    let update = || writes(0, Bytes::KIB * 4, 1, 1);
    let alone = run(&topology, vec![update()]);
    assert_eq!(at(&alone, 0, Stage::Bitmap), 1.5);
    // Another comes right after it, whose page is the next, from 1.5 ms on behind the reads of the first. These end at 2.7 ms,
    // the page at 3.2 ms.
    let both = run(&topology, vec![update(), writes(100, Bytes::KIB * 4, 1, 1)]);
    let held = at(&both, 0, Stage::Bitmap) - 1.5;
    assert!((held - 0.5).abs() < 1e-9, "{held}");
}

#[test]
fn bits_are_cleared_after_ten_seconds_of_rest() {
    let mut sim = Sim::new(&set(Level::Raid1, 2, true), 1).expect("the topology is possible");
    let mut again = |rest: u64| {
        let at = sim.now() + Nanos::from_secs(rest);
        sim.idle_until(at);
        let outcome = sim.run(vec![writes(0, Bytes::KIB * 4, 1, 10)]);
        (outcome.until - outcome.from).as_secs_f64() * 1e3
    };
    assert_eq!([again(0), again(4), again(11)], [11.0, 10.0, 11.0]);
}

#[test]
fn who_keeps_nothing_twice_has_no_bitmap() {
    for (level, disks) in [(Level::Jbod, 1), (Level::Raid0, 2)] {
        assert_eq!(ms(&set(level, disks, true), writes(0, Bytes::MIB, 1, 100)), 100.0, "{level}");
    }
}
