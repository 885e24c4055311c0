//! Where the time of requests went, against closed forms: arrays in which one stage alone takes time.

use array::controller::{CacheParams, PrefetchParams};
use array::device::queue::{QueueParams, Service};
use array::device::{DeviceParams, RotatingParams, rotating::Order};
use array::latency::{LatencyTotals, Stage, Times};
use array::link::{Duplex, LinkParams, QUANTUM};
use array::raid::Level;
use array::sim::{Client, RunOutcome, Sim, Topology};
use stats::Histogram;
use units::{Bytes, BytesPerSecond, Nanos, Sectors, Share};
use workload::JobSpec;
use workload::spec::Pattern;
use workload::tally::ClassTally;

use crate::fixture::topology::{Ask, bare, client, client_of, job};
use crate::fixture::{cheetah_9lp, tagged};

const MS: u64 = 1_000_000;

fn queue(servers: u32, service: Service) -> DeviceParams {
    DeviceParams::Queue(QueueParams { servers, service })
}

/// One member, on which a command takes `service` with so many at once.
fn one_queue(servers: u32, service: Service) -> Topology {
    bare(Level::Jbod, 1, 128, Sectors(1 << 30), queue(servers, service))
}

/// A member that takes a nanosecond, behind one link of 100 MB/s.
fn behind_a_link(latency: Nanos) -> Topology {
    let mut topology = one_queue(1024, Service::Fixed(Nanos::new(1)));
    topology.link = Some(LinkParams {
        rate: BytesPerSecond::new(100e6),
        write_rate: BytesPerSecond::new(100e6),
        lanes: 1,
        duplex: Duplex::Full,
        command: Nanos::ZERO,
        latency,
        quantum: QUANTUM,
    });
    topology
}

fn ask(size: Bytes, reads: f64, depth: u32, ops: u64) -> Ask {
    Ask { pattern: Pattern::RandomWithRepeats, size, reads, depth, ops, rate: None, seed: 5 }
}

fn run(topology: &Topology, ask: &Ask) -> RunOutcome {
    let mut sim = Sim::new(topology, 1).expect("the topology is possible");
    let size = sim.lun_sizes()[0];
    run_on(&mut sim, vec![client(ask, size)])
}

/// Runs the clients and holds what their traces add up to against the response times that their jobs saw.
fn run_on(sim: &mut Sim, clients: Vec<Client>) -> RunOutcome {
    sim.trace_latency();
    let outcome = sim.run(clients);
    for (tally, totals) in outcome.tallies.iter().zip(&outcome.latency) {
        for class in &tally.classes {
            let times = totals.all(class.class);
            let response_ns = class.response.sum_ns();
            assert_eq!((times.count, u128::from(times.response_ns)), (class.response.count(), response_ns));
            assert_eq!(u128::from(sum(&times)), response_ns, "{:?}", times.spent().collect::<Vec<_>>());
        }
    }
    outcome
}

fn sum(times: &Times) -> u64 {
    times.spent().map(|(_, wait, service)| wait + service).sum()
}

/// All requests of all jobs together.
fn all(outcome: &RunOutcome) -> Times {
    let mut totals = LatencyTotals::default();
    outcome.latency.iter().for_each(|own| totals.merge(own));
    let classes = totals.classes();
    assert_eq!(classes.len(), 1);
    totals.all(classes[0])
}

/// Waiting and service at `stage`.
fn at(times: &Times, stage: Stage) -> (u64, u64) {
    times.stages[stage as usize]
}

#[test]
fn in_a_closed_queue_of_one_server_each_waits_for_those_before_it_and_is_served() {
    let outcome =
        run(&one_queue(1, Service::Fixed(Nanos::from_millis(1))), &ask(Bytes::KIB * 4, 1.0, 4, 1_000));
    let times = all(&outcome);
    // The first four begin together: they wait for 0, 1, 2 and 3 others, all that follow for 3.
    assert_eq!(times.spent().collect::<Vec<_>>(), [(Stage::Disk, (996 * 3 + 6) * MS, 1_000 * MS)]);
}

#[test]
fn a_host_that_takes_four_completions_at_a_time_makes_each_wait_for_the_last_of_them() {
    let topology = one_queue(1, Service::Fixed(Nanos::from_millis(1)));
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    let spec = JobSpec { complete_batch: 4, ..job(&ask(Bytes::KIB * 4, 1.0, 8, 400), sim.lun_sizes()[0]) };
    let outcome = run_on(&mut sim, vec![client_of(spec)]);
    // Four others are queued while four are taken and asked again: the server never rests.
    assert_eq!(outcome.until.saturating_since(outcome.from), Nanos::from_millis(400));
    // One ends each millisecond, so that those of a batch wait for 3, 2, 1 and 0.
    assert_eq!(at(&all(&outcome), Stage::CompletionBatch), (100 * (3 + 2 + 1) * MS, 0));
}

#[test]
fn with_random_arrivals_waiting_is_that_of_pollaczek_and_khinchine_and_service_is_exact() {
    let ask = Ask { rate: Some(700.0), depth: 4_096, ..ask(Bytes::KIB * 4, 1.0, 1, 200_000) };
    let times = all(&run(&one_queue(1, Service::Fixed(Nanos::from_millis(1))), &ask));
    let (wait, service) = at(&times, Stage::Disk);
    assert_eq!(service, 200_000 * MS);
    // M/D/1: the wait is rho / (2 (1 - rho)) services.
    let waited = wait as f64 / service as f64;
    assert!((waited / (0.7 / (2.0 * 0.3)) - 1.0).abs() < 0.03, "{waited}");
    assert_eq!(sum(&times), wait + service);
}

#[test]
fn what_is_not_sent_because_nothing_lies_between_ends_as_if_it_were() {
    for (rate, depth) in [(None, 64), (Some(150.0), 4_096)] {
        let ask = Ask { rate, ..ask(Bytes::KIB * 4, 0.7, depth, 5_000) };
        let mut topology = one_queue(1, Service::Fixed(Nanos::from_millis(1)));
        topology.models =
            vec![DeviceParams::Rotating(RotatingParams { queue: tagged(Order::Sptf, 8), ..cheetah_9lp() })];
        topology.host.lun_depth = 16;
        topology.host.request = Nanos::from_micros(20);
        topology.controller.read_command = Nanos::from_micros(30);
        topology.controller.bus = Some(BytesPerSecond::new(100e6));
        let mut sent = topology.clone();
        // It accepts all there is, and so it is asked.
        sent.controller.accepts = Some(u32::MAX);
        assert!(topology.is_direct() && !sent.is_direct());
        let [direct, sent] = [topology, sent].map(|topology| run(&topology, &ask));
        assert_eq!(direct.until, sent.until);
        assert_eq!(direct.breakdown, sent.breakdown);
        let seen = |outcome: &RunOutcome| -> Vec<(Histogram, Times)> {
            let (tally, totals) = (&outcome.tallies[0], &outcome.latency[0]);
            let seen = |class: &ClassTally| (class.response.clone(), totals.all(class.class));
            tally.classes.iter().map(seen).collect()
        };
        assert_eq!(seen(&direct), seen(&sent));
    }
}

#[test]
fn of_requests_that_share_a_link_each_is_carried_so_long_and_waits_for_the_turns_of_the_others() {
    let outcome = run(&behind_a_link(Nanos::from_micros(3)), &ask(Bytes::MIB, 1.0, 4, 400));
    let times = all(&outcome);
    let (wait, carried) = at(&times, Stage::Link);
    // 1 MiB at 100 MB/s is 10.48576 ms; the member has read it before the link begins.
    assert_eq!(carried, 400 * 10_485_760);
    assert_eq!(at(&times, Stage::Distance), (0, 400 * 2 * 3_000));
    assert_eq!(at(&times, Stage::Disk), (0, 400));
    assert_eq!(wait + carried + 400 * 6_001, times.response_ns);
    // Four take turns: each waits for nearly three others.
    assert!((wait as f64 / carried as f64 - 3.0).abs() < 0.05, "{wait} {carried}");
}

#[test]
fn a_write_meets_the_link_before_the_member_and_alone_it_waits_for_nobody() {
    let mut topology = behind_a_link(Nanos::ZERO);
    topology.models = vec![queue(1, Service::Fixed(Nanos::from_millis(2)))];
    let times = all(&run(&topology, &ask(Bytes::MIB, 0.0, 1, 50)));
    let expected = [(Stage::Link, 0, 50 * 10_485_760), (Stage::Disk, 0, 50 * 2 * MS)];
    assert_eq!(times.spent().collect::<Vec<_>>(), expected);
}

#[test]
fn of_what_goes_on_at_once_only_the_last_counts_and_phases_follow_each_other() {
    // A small write of RAID 5 reads two members at once, and then writes both.
    let mut topology =
        bare(Level::Raid5, 5, 128, Sectors(1 << 20), queue(512, Service::Fixed(Nanos::from_millis(1))));
    topology.controller.xor = Some(BytesPerSecond::new(8192.0 * 1_000.0));
    topology.controller.member_command = Nanos::from_micros(10);
    let times = all(&run(&topology, &ask(Bytes::KIB * 4, 0.0, 1, 20)));
    assert_eq!(at(&times, Stage::Disk), (0, 20 * 2 * MS));
    let (waits, works) = at(&times, Stage::ControllerProcessor);
    // The second command of each pair ends last, and has waited for the first at the processor.
    assert_eq!((waits, works), (20 * 2 * 10_000, 20 * 2 * 10_000));
    let (waited, xor) = at(&times, Stage::Xor);
    assert!(waited == 0 && xor > 0, "{waited} {xor}");
    assert_eq!(sum(&times), times.response_ns);
}

#[test]
fn what_the_depth_of_a_lun_holds_back_waits_for_it_and_is_counted_as_the_traces_say() {
    let topology = |lun_depth| {
        let mut topology = one_queue(4, Service::Fixed(Nanos::from_millis(1)));
        topology.host.lun_depth = lun_depth;
        topology
    };
    let outcome = run(&topology(4), &ask(Bytes::KIB * 4, 1.0, 16, 4_000));
    let elapsed = outcome.until.saturating_since(outcome.from).get() as f64;
    let queues = outcome.lun_queues;
    assert_eq!((queues.depth, queues.queues), (4, 1));
    // Twelve of sixteen wait, but for the last of all, when no others follow.
    assert!((queues.mean_outstanding - 4.0).abs() < 1e-9, "{queues:?}");
    assert!((queues.mean_waiting - 12.0).abs() < 0.1, "{queues:?}");
    let (waited, _) = at(&all(&outcome), Stage::LunQueue);
    assert!((queues.mean_waiting * elapsed - waited as f64).abs() < 1.0, "{queues:?} {waited}");
    let open = run(&topology(16), &ask(Bytes::KIB * 4, 1.0, 16, 4_000)).lun_queues;
    assert!(open.mean_waiting == 0.0 && open.mean_outstanding > 15.9, "{open:?}");
}

#[test]
fn who_waits_for_a_stripe_is_charged_with_that() {
    let topology =
        bare(Level::Raid5, 5, 128, Sectors(1 << 20), queue(512, Service::Fixed(Nanos::from_millis(1))));
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    // Eight writes of the first strip: each changes the parity of the first stripe, one after the other.
    let ask = Ask { pattern: Pattern::Sequential, ..ask(Bytes::KIB * 4, 0.0, 8, 8) };
    let times = all(&run_on(&mut sim, vec![client(&ask, Bytes::KIB * 64)]));
    let waits = (0..8).map(|before| before * 2 * MS).sum();
    let expected = [(Stage::StripeLocks, waits, 0), (Stage::Disk, 0, 8 * 2 * MS)];
    assert_eq!(times.spent().collect::<Vec<_>>(), expected);
}

#[test]
fn a_drive_tells_of_seek_rotation_and_transfer_and_they_add_up() {
    let mut drive = cheetah_9lp();
    drive.queue = tagged(Order::Sptf, 32);
    let topology = bare(Level::Raid0, 1, 128, drive.capacity, DeviceParams::Rotating(drive));
    for (reads, depth) in [(1.0, 1), (1.0, 16), (0.5, 8)] {
        let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
        let size = sim.lun_sizes()[0];
        let outcome = run_on(&mut sim, vec![client(&ask(Bytes::KIB * 8, reads, depth, 2_000), size)]);
        for class in outcome.latency[0].classes() {
            let times = outcome.latency[0].all(class);
            let stages: Vec<Stage> = times.spent().map(|(stage, ..)| stage).collect();
            let steps = [Stage::DiskSeek, Stage::DiskRotation, Stage::DiskTransfer];
            assert!(steps.iter().all(|step| stages.contains(step)), "{stages:?}");
            assert_eq!(stages.contains(&Stage::Disk), depth > 1, "{stages:?}");
            // A drive with a queue looks at a command while that waits, mostly; one that is alone waits for the look.
            assert!(depth > 1 || stages.contains(&Stage::DiskOverhead), "{stages:?}");
            assert!(!stages.contains(&Stage::Unclaimed), "{stages:?}");
        }
    }
}

#[test]
fn who_reads_what_is_being_fetched_is_charged_with_the_rest_of_the_way() {
    let mut topology = one_queue(1, Service::Fixed(Nanos::from_millis(1)));
    topology.controller.cache = Some(CacheParams {
        size: Bytes::MIB * 64,
        read: true,
        line: Bytes::KIB * 64,
        prefetch: PrefetchParams { streams: 4, confirm: 2, start: Bytes::KIB * 256, max: Bytes::MIB },
        ..cache()
    });
    let ask = Ask { pattern: Pattern::Sequential, ..ask(Bytes::KIB * 64, 1.0, 2, 400) };
    let times = all(&run(&topology, &ask));
    let stages: Vec<Stage> = times.spent().map(|(stage, ..)| stage).collect();
    assert_eq!(stages, [Stage::Disk]);
    let (_, service) = at(&times, Stage::Disk);
    assert!(service < 400 * MS / 2, "most of the reads found their data there: {service}");
}

#[test]
fn a_write_that_finds_no_room_waits_for_it() {
    let mut topology = one_queue(1, Service::Fixed(Nanos::from_millis(1)));
    topology.controller.cache = Some(CacheParams { size: Bytes::MIB, ..cache() });
    let times = all(&run(&topology, &ask(Bytes::KIB * 64, 0.0, 4, 2_000)));
    let spent: Vec<(Stage, u64, u64)> = times.spent().collect();
    assert!(matches!(spent[..], [(Stage::CacheRoom, waits, 0)] if waits == times.response_ns), "{spent:?}");
}

fn cache() -> CacheParams {
    CacheParams {
        size: Bytes::MIB,
        write_part: Share::new(1.0).expect("a share"),
        read_part: Share::ALL,
        bypass: None,
        read: false,
        fills: false,
        write_back: true,
        protected: true,
        mirrored: false,
        line: Bytes::KIB * 4,
        block: Bytes::new(512),
        prefetch: PrefetchParams { streams: 0, confirm: 1, start: Bytes::ZERO, max: Bytes::ZERO },
        dirty_high: Share::new(0.8).expect("a share"),
        dirty_low: Share::new(0.2).expect("a share"),
        dirty_age: Nanos::from_secs(10),
        destage_window: 8,
        partial_window: 8,
        stripes: Bytes::ZERO,
    }
}

#[test]
fn nothing_changes_for_the_requests_where_latency_is_traced() {
    let mut topology = bare(Level::Raid6, 8, 128, Sectors(1 << 24), DeviceParams::Rotating(cheetah_9lp()));
    topology.link = behind_a_link(Nanos::from_micros(2)).link;
    let ask = Ask { rate: Some(150.0), depth: 64, ..ask(Bytes::KIB * 16, 0.5, 1, 5_000) };
    let plain = {
        let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
        let size = sim.lun_sizes()[0];
        sim.run(vec![client(&ask, size)])
    };
    let kept = run(&topology, &ask);
    assert_eq!((plain.until, plain.events), (kept.until, kept.events));
    assert_eq!(plain.breakdown, kept.breakdown);
    assert!(plain.latency[0].classes().is_empty(), "nobody asked for them");
}
