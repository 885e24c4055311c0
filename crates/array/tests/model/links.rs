//! Links that several requests share, and sessions that are pinned to one of them.

use array::device::{DeviceParams, QueueParams, queue::Service};
use array::host::Multipath;
use array::link::{Duplex, LinkParams, QUANTUM};
use array::protocol::ProtocolKind;
use array::raid::Level;
use array::sim::{RunOutcome, Sim, Topology};
use units::{Bytes, BytesPerSecond, Nanos, Sectors};
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client};

/// A device that is never the limit, behind links of 100 MB/s.
fn behind(links: u32) -> Topology {
    let instant = QueueParams { servers: 1024, service: Service::Fixed(Nanos::from_micros(1)) };
    let mut topology = bare(Level::Jbod, 1, 128, Sectors(1 << 30), DeviceParams::Queue(instant));
    topology.links = links;
    topology.link = Some(LinkParams {
        rate: BytesPerSecond::new(100e6),
        write_rate: BytesPerSecond::new(100e6),
        lanes: 1,
        duplex: Duplex::Full,
        command: Nanos::ZERO,
        latency: Nanos::ZERO,
        quantum: QUANTUM,
    });
    topology
}

fn reads(size: Bytes, depth: u32, ops: u64) -> Ask {
    Ask { pattern: Pattern::RandomWithRepeats, size, reads: 1.0, depth, ops, rate: None, seed: 5 }
}

fn run(topology: &Topology, asks: &[Ask]) -> RunOutcome {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    let size = sim.lun_sizes()[0];
    sim.run(asks.iter().map(|ask| client(ask, size)).collect())
}

/// MB/s of `sessions` over `links`.
fn rate(sessions: u32, links: u32, multipath: Multipath) -> f64 {
    let mut topology = behind(links);
    topology.protocol.kind = ProtocolKind::Iscsi;
    topology.protocol.sessions = sessions;
    topology.host.multipath = multipath;
    let ask = reads(Bytes::KIB * 256, 48, 4_000);
    let outcome = run(&topology, std::slice::from_ref(&ask));
    ask.ops as f64 * 0.262_144 / (outcome.until - outcome.from).as_secs_f64()
}

#[test]
fn one_session_never_exceeds_one_link_and_several_are_dealt_over_the_links_in_turn() {
    let in_turn = Multipath::RoundRobin { requests: 1 };
    // Of three sessions two share a link, which then carries two thirds of what all do.
    for (sessions, links, expected) in
        [(1, 2, 100.0), (2, 2, 200.0), (3, 2, 150.0), (4, 2, 200.0), (2, 4, 200.0)]
    {
        let reached = rate(sessions, links, in_turn);
        println!("{sessions} sessions over {links} links: {reached:.1} MB/s");
        assert!((reached / expected - 1.0).abs() < 0.02, "{sessions} over {links}: {reached}");
    }
}

#[test]
fn a_lun_stays_in_one_session_without_a_policy_that_spreads_and_least_queue_evens_sessions_out() {
    assert!((rate(4, 4, Multipath::Failover) / 100.0 - 1.0).abs() < 0.02);
    assert!((rate(4, 4, Multipath::LeastQueue) / 400.0 - 1.0).abs() < 0.02);
    // Of three sessions the one that has a link of its own is asked more often.
    assert!(rate(3, 2, Multipath::LeastQueue) > 190.0);
}

#[test]
fn each_direction_of_a_link_has_its_rate_also_where_both_are_used() {
    let rate = |reads: f64| {
        let mut topology = behind(1);
        topology.link.as_mut().expect("it has a link").write_rate = BytesPerSecond::new(60e6);
        let ask = Ask { reads, ..self::reads(Bytes::KIB * 256, 16, 2_000) };
        let outcome = run(&topology, std::slice::from_ref(&ask));
        ask.ops as f64 * 0.262_144 / (outcome.until - outcome.from).as_secs_f64()
    };
    // Of as many reads as writes the slower direction carries half.
    for (reads, expected) in [(1.0, 100.0), (0.0, 60.0), (0.5, 120.0)] {
        let reached = rate(reads);
        assert!((reached / expected - 1.0).abs() < 0.03, "{reads}: {reached:.1} MB/s");
    }
}

#[test]
fn a_small_read_passes_large_ones_on_the_way_back_and_they_do_not_pass_it() {
    let (small, large) = (reads(Bytes::KIB * 4, 1, 2_000), reads(Bytes::MIB, 4, 100_000));
    let mean = |with_large: bool| {
        let mut asks = vec![small.clone()];
        asks.extend(with_large.then(|| large.clone()));
        let mut sim = Sim::new(&behind(1), 1).expect("the topology is possible");
        let size = sim.lun_sizes()[0];
        let mut clients: Vec<_> = asks.iter().map(|ask| client(ask, size)).collect();
        // The small reads end the run.
        clients[0].job = workload::Job::new(workload::JobSpec {
            exit_all: true,
            ..crate::fixture::topology::job(&small, size)
        });
        let outcome = sim.run(clients);
        (outcome.until - outcome.from).as_secs_f64() * 1e6 / 2_000.0
    };
    let (alone, beside) = (mean(false), mean(true));
    // 41 us of its own; behind four megabytes in order of arrival it would be 42 ms. In turns it waits for half a
    // quantum of 655 us, and for up to four of them.
    println!("alone {alone:.0} us, beside four of 1 MiB {beside:.0} us");
    assert!((41.0..45.0).contains(&alone), "{alone}");
    assert!(beside > 600.0 && beside < 5.0 * 656.0, "{beside}");
}

#[test]
fn quanta_cost_no_events() {
    let topology = |quantum| {
        let mut topology = behind(1);
        topology.link.as_mut().expect("it has a link").quantum = quantum;
        topology
    };
    let ask = reads(Bytes::MIB, 16, 2_000);
    let events = |quantum| run(&topology(quantum), std::slice::from_ref(&ask)).events as f64 / 2_000.0;
    let (whole, cut) = (events(Bytes::GIB), events(Bytes::new(512)));
    println!("{whole:.2} events a request in one piece, {cut:.2} in 2,048");
    assert!(cut <= 6.0 && (cut / whole - 1.0).abs() < 0.5, "{whole}, {cut}");
}

#[test]
fn events_of_equal_requests_alone_on_a_link_are_two_for_the_link_and_one_for_the_device() {
    let outcome = run(&behind(1), &[reads(Bytes::MIB, 1, 1_000)]);
    assert!(outcome.events <= 3_000, "{}", outcome.events);
}

/// Milliseconds of a request of 1 MiB, alone, between a link of 100 MB/s and a channel of `channel` MB/s.
fn through(reads: f64, channel: f64, change: impl Fn(&mut Topology)) -> f64 {
    let mut topology = behind(1);
    let link = topology.link.expect("there is a link");
    let rate = BytesPerSecond::new(channel * 1e6);
    topology.channel = Some((1, LinkParams { rate, write_rate: rate, ..link }));
    change(&mut topology);
    let ask = Ask { reads, ..self::reads(Bytes::MIB, 1, 50) };
    let outcome = run(&topology, std::slice::from_ref(&ask));
    (outcome.until - outcome.from).as_secs_f64() * 1e3 / ask.ops as f64
}

#[test]
fn what_passes_through_takes_as_long_as_its_slowest_stage_and_a_burst_and_what_is_held_as_all_of_them() {
    for reads in [0.0, 1.0] {
        for channel in [100.0, 400.0, 50.0] {
            let slowest = 1048.576 / f64::min(channel, 100.0) - 1e-6;
            let passed = through(reads, channel, |_| ());
            // The other stage has a burst of 64 KiB left, or a sector.
            let rest = 0.656 * 100.0 / f64::min(channel, 100.0) + 0.01;
            assert!((slowest..slowest + rest).contains(&passed), "{reads} {channel}: {passed} for {slowest}");
            let both = 10.485_76 + 1048.576 / channel - 1e-6;
            let moved = through(reads, channel, |all| all.controller.copy = Some(BytesPerSecond::new(1e15)));
            assert!((both..both + 0.01).contains(&moved), "{reads} {channel}: {moved} for {both}");
        }
    }
}

#[test]
fn several_that_pass_through_at_once_are_no_faster_than_the_link() {
    for depth in [2, 8] {
        let mut topology = behind(1);
        let link = topology.link.expect("there is a link");
        topology.channel = Some((1, link));
        for reads in [0.0, 1.0] {
            let ask = Ask { reads, ..self::reads(Bytes::MIB, depth, 400) };
            let outcome = run(&topology, std::slice::from_ref(&ask));
            let mb_s = ask.ops as f64 * 1.048_576 / (outcome.until - outcome.from).as_secs_f64();
            // The first and the last of them have a stage to themselves.
            assert!((94.0..100.001).contains(&mb_s), "{depth} {reads}: {mb_s}");
        }
    }
}
