//! What becomes of dirty data when their volume changes hands: members that take a millisecond for anything, one at a
//! time, and a second controller that takes ten milliseconds to take a volume over.

use array::controller::{CacheParams, Handover, Ownership, PrefetchParams};
use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::host::NoPath;
use array::link::{Duplex, LinkParams};
use array::raid::Level;
use array::sim::{Sim, Topology};
use units::{Bytes, BytesPerSecond, Instant, Nanos, Sectors, Share};
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client};

const PAGE: Bytes = Bytes::new(4 << 10);

fn topology(handover: Handover, size: Bytes) -> Topology {
    let service = Service::Fixed(Nanos::from_millis(1));
    let disk = DeviceParams::Queue(QueueParams { servers: 1, service });
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 32), disk);
    topology.controllers = 2;
    topology.link = Some(LinkParams {
        rate: BytesPerSecond::new(1e15),
        write_rate: BytesPerSecond::new(1e15),
        lanes: 1,
        duplex: Duplex::Full,
        command: Nanos::ZERO,
        latency: Nanos::ZERO,
        quantum: Bytes::KIB * 64,
    });
    topology.host.no_path = NoPath::Queue;
    topology.controller.flush_members = false;
    topology.controller.handover = handover;
    topology.controller.ownership = Ownership::Transfer { time: Nanos::from_millis(10) };
    topology.controller.cache = Some(CacheParams {
        size,
        line: PAGE,
        block: Bytes::new(512),
        write_part: Share::ALL,
        read_part: Share::ALL,
        bypass: None,
        read: false,
        fills: false,
        write_back: true,
        protected: true,
        mirrored: handover == Handover::Mirror,
        dirty_high: Share::ALL,
        dirty_low: Share::ALL,
        dirty_age: Nanos::from_secs(30),
        destage_window: 4,
        partial_window: 4,
        stripes: Bytes::ZERO,
        prefetch: PrefetchParams { streams: 0, confirm: 2, start: Bytes::ZERO, max: Bytes::ZERO },
    });
    topology
}

/// How long so many random requests of a page take, one after the other, in milliseconds.
fn run(sim: &mut Sim, reads: f64, depth: u32, ops: u64) -> f64 {
    let size = sim.lun_sizes()[0];
    let ask = Ask { pattern: Pattern::Random, size: PAGE, reads, depth, ops, rate: None, seed: 2 };
    let outcome = sim.run(vec![client(&ask, size)]);
    assert_eq!((outcome.tallies[0].completed, outcome.tallies[0].errors), (ops, 0));
    // The links take a nanosecond for anything.
    ((outcome.until - outcome.from).get() as f64 / 1e4).round() / 100.0
}

#[test]
fn a_volume_is_served_by_the_other_controller_once_its_dirty_data_are_written() {
    let mut sim = Sim::new(&topology(Handover::Flush, Bytes::GIB), 1).expect("the topology is possible");
    run(&mut sim, 0.0, 1, 10);
    assert_eq!(sim.dirty(), PAGE * 10);
    sim.fail_link(0);
    // Ten pages, the transfer, and the read itself.
    assert_eq!(run(&mut sim, 1.0, 1, 1), 10.0 + 10.0 + 1.0);
    assert_eq!(sim.dirty(), Bytes::ZERO);
    sim.mend_link(0);
    assert_eq!(run(&mut sim, 1.0, 1, 1), 10.0 + 1.0, "there is nothing to write on the way back");
}

#[test]
fn a_partner_with_a_mirror_takes_dirty_data_over_without_writing_them() {
    let mut sim = Sim::new(&topology(Handover::Mirror, Bytes::GIB), 1).expect("the topology is possible");
    run(&mut sim, 0.0, 1, 10);
    sim.fail_link(0);
    assert_eq!(run(&mut sim, 1.0, 1, 1), 10.0 + 1.0);
    assert_eq!(sim.dirty(), PAGE * 10, "they are the partner's now");
    sim.idle_until(sim.now() + Nanos::from_secs(1));
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn what_a_controller_that_fails_has_mirrored_is_written_by_its_partner() {
    let mut sim = Sim::new(&topology(Handover::Mirror, Bytes::GIB), 1).expect("the topology is possible");
    run(&mut sim, 0.0, 1, 10);
    sim.fail_controller(0);
    assert_eq!(sim.dirty(), PAGE * 10);
    sim.idle_until(sim.now() + Nanos::from_secs(1));
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn a_flush_that_waits_while_its_data_are_taken_over_ends_when_they_are_written() {
    let mut topology = topology(Handover::Mirror, Bytes::GIB);
    topology.controller.cache.as_mut().expect("it has one").protected = false;
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    // Ten milliseconds of flushing, and in the midst of it a reader comes over the other path.
    sim.fail_link_at(0, Instant::from_nanos(4_500_000));
    let size = sim.lun_sizes()[0];
    let ask = |reads, depth, ops| Ask {
        pattern: Pattern::Random,
        size: PAGE,
        reads,
        depth,
        ops,
        rate: None,
        seed: 2,
    };
    let mut writer = client(&ask(0.0, 1, 10), size);
    writer.job = workload::Job::new(workload::JobSpec {
        flush_at_end: true,
        ..crate::fixture::topology::job(&ask(0.0, 1, 10), size)
    });
    let outcome = sim.run(vec![writer, client(&ask(1.0, 1, 20), size)]);
    assert!(outcome.tallies.iter().all(|tally| tally.completed == tally.planned && tally.errors == 0));
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn what_nobody_has_mirrored_is_written_when_its_controller_comes_back() {
    let mut sim = Sim::new(&topology(Handover::Flush, Bytes::GIB), 1).expect("the topology is possible");
    run(&mut sim, 0.0, 1, 10);
    sim.fail_controller(0);
    sim.idle_until(sim.now() + Nanos::from_secs(60));
    assert_eq!(sim.dirty(), PAGE * 10);
    sim.mend_controller(0);
    sim.idle_until(sim.now() + Nanos::from_secs(1));
    assert_eq!(sim.dirty(), Bytes::ZERO);
}

#[test]
fn writes_that_wait_for_room_are_settled_once_whatever_changes_hands_meanwhile() {
    for handover in [Handover::Flush, Handover::Mirror] {
        // Room for sixteen pages, or for eight and their mirror.
        let mut sim = Sim::new(&topology(handover, PAGE * 16), 1).expect("the topology is possible");
        for (link, cut, mended) in [(0, 20, 300), (1, 600, 700), (0, 900, 901), (1, 950, 2_000)] {
            let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
            sim.fail_link_at(link, at(cut));
            sim.mend_link_at(link, at(mended));
        }
        run(&mut sim, 0.2, 32, 2_000);
        sim.fail_controller(0);
        run(&mut sim, 0.2, 32, 500);
        sim.mend_controller(0);
        run(&mut sim, 0.2, 32, 500);
        sim.idle_until(sim.now() + Nanos::from_secs(60));
        assert_eq!(sim.dirty(), Bytes::ZERO);
    }
}
