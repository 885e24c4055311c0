//! What becomes of a command whose path fails under it, and of those that no path is left for, to the instant.

use array::device::DeviceParams;
use array::device::queue::{QueueParams, Service};
use array::host::NoPath;
use array::link::{Duplex, LinkParams};
use array::meter::Class;
use array::raid::Level;
use array::sim::{RunOutcome, Sim, Topology};
use units::{Bytes, BytesPerSecond, Instant, Nanos, Sectors};
use workload::Errno;
use workload::spec::Pattern;
use workload::tally::Failure;

use crate::fixture::topology::{Ask, bare, client};

/// A command takes two milliseconds out, one at the disk and two back; the host notices a failure after thirty.
fn topology(links: u32, no_path: NoPath) -> Topology {
    let service = Service::Fixed(Nanos::from_millis(1));
    let disk = DeviceParams::Queue(QueueParams { servers: 64, service });
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 24), disk);
    topology.links = links;
    topology.link = Some(LinkParams {
        rate: BytesPerSecond::new(1e15),
        write_rate: BytesPerSecond::new(1e15),
        lanes: 1,
        duplex: Duplex::Full,
        command: Nanos::ZERO,
        latency: Nanos::from_millis(2),
        quantum: Bytes::KIB * 64,
    });
    topology.host.path_timeout = Nanos::from_millis(30);
    topology.host.no_path = no_path;
    topology
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// Writes one at a time; what cuts and mends the first link is set before.
fn write(topology: &Topology, ops: u64, cut: Instant, mended: Option<Instant>) -> RunOutcome {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    sim.fail_link_at(0, cut);
    if let Some(mended) = mended {
        sim.mend_link_at(0, mended);
    }
    let size = sim.lun_sizes()[0];
    let ask = Ask {
        pattern: Pattern::Sequential,
        size: Bytes::KIB * 4,
        reads: 0.0,
        depth: 1,
        ops,
        rate: None,
        seed: 1,
    };
    let outcome = sim.run(vec![client(&ask, size)]);
    assert_eq!(outcome.tallies[0].completed, ops, "each is settled once");
    outcome
}

/// When it ended, how many writes the disk has seen, how many of the host's failed.
fn told(outcome: &RunOutcome) -> (f64, u64, u64) {
    let disk = outcome.breakdown.iter().find(|part| part.name == "disk 0");
    let writes = disk.map_or(0, |disk| {
        disk.visits
            .iter()
            .filter(|(class, _)| *class == Class::HostWrite)
            .map(|(_, visits)| visits.count)
            .sum()
    });
    // A link takes a nanosecond for anything.
    let micros = (outcome.until - outcome.from).get() / 1_000;
    (micros as f64 / 1e3, writes, outcome.tallies[0].errors)
}

#[test]
fn a_command_that_is_lost_on_its_way_out_is_carried_out_once_on_another_path() {
    // Lost at 1 ms, sent again at 31.
    assert_eq!(told(&write(&topology(2, NoPath::Fail), 1, at(1_000), None)), (36.0, 1, 0));
}

#[test]
fn a_command_whose_answer_is_lost_is_carried_out_twice_and_counted_once() {
    // At the controller at 2 ms, cut at 2.5, sent again at 32.5.
    assert_eq!(told(&write(&topology(2, NoPath::Fail), 1, at(2_500), None)), (37.5, 2, 0));
}

#[test]
fn what_was_on_its_way_is_lost_even_where_the_path_comes_back_before_anybody_notices() {
    assert_eq!(told(&write(&topology(1, NoPath::Fail), 1, at(1_000), Some(at(1_500)))), (36.0, 1, 0));
    assert_eq!(told(&write(&topology(1, NoPath::Fail), 1, at(2_500), Some(at(2_600)))), (37.5, 2, 0));
}

#[test]
fn only_what_is_on_its_way_when_a_path_is_cut_is_lost() {
    // 5 ms for the first; the second is lost at 6 and sent again at 36, on its old path; the third meets no cut.
    let outcome = write(&topology(2, NoPath::Fail), 3, at(6_000), Some(at(6_001)));
    assert_eq!(told(&outcome), (46.0, 3, 0));
}

#[test]
fn without_a_path_requests_fail_once_the_host_has_noticed() {
    let outcome = write(&topology(1, NoPath::Fail), 5, at(1_000), None);
    assert_eq!(told(&outcome), (31.0, 0, 5));
    assert!(outcome.tallies[0].error_samples.iter().all(|sample| sample.failure == Failure::Errno(Errno(5))));
}

#[test]
fn requests_that_are_queued_without_a_path_go_out_when_one_comes_back() {
    assert_eq!(told(&write(&topology(1, NoPath::Queue), 1, at(1_000), Some(at(100_000)))), (105.0, 1, 0));
    // The answers of two had come before the path was cut under the third.
    assert_eq!(told(&write(&topology(1, NoPath::Queue), 4, at(11_000), Some(at(100_000)))), (110.0, 4, 0));
}

#[test]
fn requests_are_queued_for_as_long_as_it_is_retried_and_then_fail() {
    let retry = |millis| NoPath::Retry(Nanos::from_millis(millis));
    assert_eq!(told(&write(&topology(1, retry(50)), 1, at(1_000), Some(at(100_000)))), (81.0, 0, 1));
    // The path is back before the time is over; the end of the time means nothing to those that are sent later.
    assert_eq!(told(&write(&topology(1, retry(80)), 4, at(1_000), Some(at(100_000)))), (120.0, 4, 0));
}

#[test]
fn a_run_that_waits_for_a_path_that_never_comes_back_ends_with_errors() {
    let outcome = write(&topology(1, NoPath::Queue), 2, at(1_000), None);
    let (_, writes, errors) = told(&outcome);
    assert_eq!((writes, errors), (0, 2));
}

#[test]
fn without_a_controller_there_is_no_path_either() {
    let mut sim = Sim::new(&topology(2, NoPath::Fail), 1).expect("the topology is possible");
    sim.fail_controller(0);
    let size = sim.lun_sizes()[0];
    let ask = Ask {
        pattern: Pattern::Sequential,
        size: Bytes::KIB * 4,
        reads: 1.0,
        depth: 4,
        ops: 8,
        rate: None,
        seed: 1,
    };
    assert_eq!(sim.run(vec![client(&ask, size)]).tallies[0].errors, 8);
    sim.mend_controller(0);
    assert_eq!(sim.run(vec![client(&ask, size)]).tallies[0].errors, 0);
}
