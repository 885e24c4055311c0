//! Background work beside a reader, and alone.
//!
//! Figures without company are those of the drive; the collapse under a deep window of large units is the mechanism by
//! which a rebuild at "30 %" can take four fifths of a single reader's rate.

use array::background::{BackgroundKind, BackgroundParams, BackgroundPolicy};
use array::device::DeviceParams;
use array::device::rotating::{DriveQueueParams, Order, RotatingParams, Seek, Zones};
use array::raid::Level;
use array::sim::{Sim, Topology, WorkOrder};
use units::{Bytes, BytesPerSecond, Instant, Nanos, Sectors, Share};
use workload::spec::Pattern;

use crate::fixture::topology::{Ask, bare, client};
use crate::fixture::{cheetah_9lp, micros, tagged};

/// A 10,000 rpm drive of 130 MB/s, without a buffer: 7.7 ms for a small random read.
fn drive() -> RotatingParams {
    RotatingParams {
        capacity: Sectors(40_000_000),
        surfaces: 4,
        cylinders: 50_000,
        rpm: 10_000.0,
        seek: Seek::ThreeNumbers { track_to_track: micros(300), average: micros(4_500), full: micros(9_000) },
        write_settle_ns: 400_000,
        head_switch: micros(300),
        zones: Zones::Rates { outer: BytesPerSecond::new(130e6), inner: BytesPerSecond::new(130e6) },
        link: BytesPerSecond::new(300e6),
        cache: None,
        queue: tagged(Order::Fcfs, 64),
        ..cheetah_9lp()
    }
}

fn raid5() -> Topology {
    bare(Level::Raid5, 8, 128, Sectors(40_000_000), DeviceParams::Rotating(drive()))
}

fn params(kind: BackgroundKind, window: u32, policy: BackgroundPolicy) -> BackgroundParams {
    BackgroundParams { kind, unit: Bytes::MIB, window, policy, startup: Share::NONE, member_limit: None }
}

fn order(kind: BackgroundKind) -> WorkOrder {
    WorkOrder { kind, set: 0, slot: None }
}

#[test]
fn a_set_without_more_members_than_it_survives_is_offline_and_every_request_fails() {
    let mut sim = Sim::new(&raid5(), 1).expect("the topology is possible");
    let size = sim.lun_sizes()[0];
    let errors_of = |sim: &mut Sim, reads: f64| {
        let ask = Ask {
            pattern: Pattern::RandomWithRepeats,
            size: Bytes::KIB * 8,
            reads,
            depth: 4,
            ops: 200,
            rate: None,
            seed: 4,
        };
        sim.run(vec![client(&ask, size)]).tallies[0].errors
    };
    sim.fail_disk(1).expect("the disk is in the set");
    assert_eq!(errors_of(&mut sim, 0.5), 0);
    assert_eq!(sim.failed_sets().count(), 0);
    sim.fail_disk(3).expect("the disk is in the set");
    assert_eq!(sim.failed_sets().map(|(set, _)| set).collect::<Vec<_>>(), [0]);
    assert_eq!(errors_of(&mut sim, 1.0), 200, "reads");
    assert_eq!(errors_of(&mut sim, 0.0), 200, "writes, which a cache must not take");
}

/// Reads a second of `depth` random 8 KiB readers, and the rebuild's MB/s, with disk 3 failed.
fn beside(depth: u32, rebuild: Option<(u32, BackgroundPolicy)>) -> (f64, f64) {
    beside_on(drive().queue, depth, rebuild)
}

/// The same on drives of that queue.
fn beside_on(queue: DriveQueueParams, depth: u32, rebuild: Option<(u32, BackgroundPolicy)>) -> (f64, f64) {
    let model = DeviceParams::Rotating(RotatingParams { queue, ..drive() });
    let topology = bare(Level::Raid5, 8, 128, Sectors(40_000_000), model);
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    sim.fail_disk(3).expect("the disk is in the set");
    let number = rebuild.map(|(window, policy)| {
        let kind = BackgroundKind::Rebuild;
        sim.start_work_as(order(kind), params(kind, window, policy)).expect("a disk has failed")
    });
    let size = sim.lun_sizes()[0];
    let ask = Ask {
        pattern: Pattern::RandomWithRepeats,
        size: Bytes::KIB * 8,
        reads: 1.0,
        depth,
        ops: 3_000,
        rate: None,
        seed: 4,
    };
    let outcome = sim.run(vec![client(&ask, size)]);
    let seconds = (outcome.until - outcome.from).as_secs_f64();
    let done =
        number.and_then(|number| sim.work_progress(number)).map_or(0.0, |progress| progress.done.get());
    (3_000.0 / seconds, done * 40_000_000.0 * 512.0 / 1e6 / seconds)
}

#[test]
fn a_deep_window_in_the_drives_own_queue_takes_most_of_a_single_readers_rate() {
    let (degraded, _) = beside(1, None);
    let (shallow, slow) = beside(1, Some((1, BackgroundPolicy::Fifo)));
    let (deep, fast) = beside(1, Some((10, BackgroundPolicy::Fifo)));
    println!(
        "degraded {degraded:.0}, window 1: {shallow:.0} at {slow:.0} MB/s, window 10: {deep:.0} at {fast:.0} MB/s"
    );
    assert!(shallow > 0.45 * degraded && shallow < 0.75 * degraded, "{shallow} of {degraded}");
    assert!(deep < 0.30 * degraded, "{deep} of {degraded}");
    assert!(fast > 2.0 * slow);
}

#[test]
fn a_rate_of_thirty_percent_that_is_a_share_of_the_drives_tags_takes_four_fifths_of_a_single_readers_rate() {
    // 30 % of 32 tags: ten units of a mebibyte lie in front of a reader that a share of the time would leave two
    // thirds.
    let tags = |share| BackgroundPolicy::Tags(Share::new(share).expect("a share"));
    for order in [Order::Fcfs, Order::Sptf] {
        let of = |rebuild| beside_on(DriveQueueParams { window: 32, ..tagged(order, 32) }, 1, rebuild).0;
        let degraded = of(None);
        let [low, thirty, high] = [0.1, 0.3, 0.6].map(|share| of(Some((1, tags(share)))));
        println!("{order:?}: degraded {degraded:.0}, at 10 % {low:.0}, 30 % {thirty:.0}, 60 % {high:.0}");
        assert!((0.15..0.25).contains(&(thirty / degraded)), "{thirty} of {degraded}");
        assert!(low > 1.5 * thirty && thirty > 1.2 * high, "{low}, {thirty}, {high}");
    }
}

#[test]
fn a_share_of_thirty_percent_that_is_enforced_leaves_the_reader_two_thirds() {
    let (degraded, _) = beside(1, None);
    let share = BackgroundPolicy::Share(Share::new(0.3).expect("a share"));
    for window in [1, 4] {
        let (reader, rebuild) = beside(1, Some((window, share)));
        println!("window {window}: {reader:.0} of {degraded:.0}, {rebuild:.0} MB/s");
        assert!(reader > 0.5 * degraded && reader < 0.95 * degraded, "{reader} of {degraded}");
    }
}

#[test]
fn a_throttle_in_megabytes_keeps_to_its_rate() {
    let (_, rebuild) = beside(1, Some((2, BackgroundPolicy::Rate(BytesPerSecond::new(10e6)))));
    assert!((rebuild / 10.0 - 1.0).abs() < 0.1, "{rebuild}");
}

#[test]
fn idle_only_work_leaves_a_reader_alone_and_gets_nowhere_beside_a_busy_one() {
    let (degraded, _) = beside(8, None);
    let (reader, rebuild) = beside(8, Some((2, BackgroundPolicy::Idle)));
    assert!(reader > 0.93 * degraded, "{reader} of {degraded}");
    assert!(rebuild < 20.0, "{rebuild}");
}

#[test]
fn a_lost_disk_halves_a_busy_array_and_hardly_touches_a_single_reader() {
    let healthy = |depth| {
        let mut sim = Sim::new(&raid5(), 1).expect("the topology is possible");
        let size = sim.lun_sizes()[0];
        let ask = Ask {
            pattern: Pattern::RandomWithRepeats,
            size: Bytes::KIB * 8,
            reads: 1.0,
            depth,
            ops: 6_000,
            rate: None,
            seed: 4,
        };
        let outcome = sim.run(vec![client(&ask, size)]);
        6_000.0 / (outcome.until - outcome.from).as_secs_f64()
    };
    let ratio = |depth| beside(depth, None).0 / healthy(depth);
    assert!(ratio(1) > 0.9, "{}", ratio(1));
    assert!(ratio(32) > 0.48 && ratio(32) < 0.66, "{}", ratio(32));
}

#[test]
fn a_rebuild_alone_runs_at_the_drives_rate_and_its_estimate_agrees_with_all_of_it() {
    let mut topology = raid5();
    let Some(DeviceParams::Rotating(drive)) = topology.models.first_mut() else {
        panic!("the model is a disk")
    };
    drive.zones = Zones::Rates { outer: BytesPerSecond::new(130e6), inner: BytesPerSecond::new(65e6) };
    let mut sim = Sim::new(&topology, 1).expect("the topology is possible");
    sim.fail_disk(3).expect("the disk is in the set");
    let kind = BackgroundKind::Rebuild;
    let startup = Share::new(0.01).expect("a share");
    let params = BackgroundParams { startup, ..params(kind, 4, BackgroundPolicy::Fifo) };
    let estimate = sim.work_alone(order(kind), params, 20).expect("a disk has failed");
    let number = sim.start_work_as(order(kind), params).expect("a disk has failed");
    sim.finish_work(number);
    let real = sim.work_progress(number).expect("the work exists");
    assert_eq!(real.percents.len(), 100);
    for percent in [9, 49, 99] {
        let (real, estimate) = (real.percents[percent].as_secs_f64(), estimate[percent].as_secs_f64());
        assert!((estimate / real - 1.0).abs() < 0.04, "{percent}: {estimate} against {real}");
    }
    // 20.48 GB at a mean of 97.5 MB/s, and one percent of that before the start.
    let ideal = 40_000_000.0 * 512.0 / 97.5e6 * 1.01;
    let whole = real.percents[99].as_secs_f64();
    assert!(whole >= ideal * 0.97 && whole < ideal * 1.35, "{whole} against {ideal}");
    // The inner zones are slower.
    let tenth = |from: usize| (real.percents[from + 9] - real.percents[from]).as_secs_f64();
    assert!(tenth(90) > 1.5 * tenth(0), "{} against {}", tenth(90), tenth(0));
    assert!(real.percents[0] > Nanos::from_secs_f64(0.016 * ideal / 1.01), "the start-up is worth a percent");
}

#[test]
fn background_work_stands_still_while_no_controller_works() {
    let mut sim = Sim::new(&raid5(), 1).expect("the topology is possible");
    let rate = BackgroundPolicy::Rate(BytesPerSecond::new(20e6));
    let work = sim
        .start_work_as(order(BackgroundKind::Verify), params(BackgroundKind::Verify, 2, rate))
        .expect("a set can be verified");
    let done = |sim: &Sim| sim.work_progress(work).expect("it was started").done.get();
    sim.idle_until(Instant::START + Nanos::from_secs(10));
    let before = done(&sim);
    assert!(before > 0.0);
    sim.fail_controller(0);
    // What is under way is ended.
    sim.idle_until(Instant::START + Nanos::from_secs(11));
    let dark = done(&sim);
    sim.idle_until(Instant::START + Nanos::from_secs(100));
    assert_eq!(done(&sim), dark, "nobody is there to do more");
    sim.mend_controller(0);
    sim.idle_until(Instant::START + Nanos::from_secs(110));
    let after = done(&sim) - dark;
    assert!(
        (after / before - 1.0).abs() < 0.05,
        "no faster than before: {after} in ten seconds, {before} in ten before"
    );
}
