//! Windows, conservation, Little's law, errors and the digest.

use units::{Bytes, Instant, Nanos, OpsPerSecond, Share};
use workload::spec::*;
use workload::tally::{Class, Failure};
use workload::{Completion, ERRORS_MAX, Errno, Job, Op, Outcome, Progress, Request, Wake};

use crate::world::{Servers, drive, drive_with, job, workload};

const MS: Nanos = Nanos::from_millis(1);

#[test]
fn each_request_is_planned_once_and_completed_once() {
    let mut job = job(&Workload { depth: 8, ..workload() });
    let answers = drive(&mut job, &mut Servers::new(3, MS));
    let tally = job.into_tally();
    assert_eq!((answers.len(), tally.planned, tally.completed, tally.ops()), (100, 100, 100, 100));
    assert_eq!(tally.classes[0].bytes, Bytes::KIB * 400);
}

#[test]
fn throughput_times_latency_is_the_mean_in_flight() {
    let stop = Stop { run: Some(Nanos::from_secs(10)), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 8, stop, ..workload() });
    drive(&mut job, &mut Servers::new(3, MS));
    let tally = job.into_tally();
    let window = tally.measured().as_secs_f64();
    let rate = tally.ops() as f64 / window;
    let latency = tally.classes[0].response.mean().unwrap() / 1e9;
    let in_flight = tally.in_flight_ns as f64 / 1e9 / window;
    assert!((rate - 3000.0).abs() < 1.0, "three servers of a millisecond: {rate}");
    assert!((in_flight - 8.0).abs() < 0.01, "{in_flight}");
    assert!((rate * latency / in_flight - 1.0).abs() < 0.002, "{rate} x {latency} against {in_flight}");
}

/// In-service time within the window by the histograms and the edges, and by the number in flight.
fn both_sums(tally: &workload::tally::Tally) -> (u128, u128) {
    let times = tally.classes.iter().map(|class| class.service.as_ref().unwrap_or(&class.response).sum_ns());
    let edges = tally.edges;
    let beyond = edges.before_ns + edges.after_ns + edges.lag_ns;
    (times.sum::<u128>() + edges.failed_ns - beyond, tally.in_flight_ns)
}

#[test]
fn times_in_service_less_what_the_edges_cut_are_the_integral_of_what_was_in_flight_to_the_nanosecond() {
    let timed = Stop { warmup: MS * 700, run: Some(MS * 3300), cooldown: MS * 400, ..Stop::default() };
    let counted = Stop { warmup: Nanos::ZERO, warmup_bytes: Some(Bytes::KIB * 4 * 201), ..timed };
    let paces = [
        Pace::Closed,
        Pace::Think(MS * 3),
        Pace::even(OpsPerSecond::new(250.0)),
        Pace::even(OpsPerSecond::new(900.0)),
    ];
    for (pace, stop) in paces.iter().flat_map(|pace| [(*pace, timed), (*pace, counted)]) {
        // Around the start of the window, within it, and over its end to long after.
        for (stalled_at_ms, for_ms) in [(650, 900), (2000, 1500), (3100, 6000), (100, 9000)] {
            let mut job = job(&Workload { depth: 8, pace, stop, ..workload() });
            let mut servers = Servers::new(3, MS * 7);
            servers.stall = Some((units::Instant::from_nanos(stalled_at_ms * 1_000_000), MS * for_ms));
            drive(&mut job, &mut servers);
            let tally = job.into_tally();
            let (in_service, in_flight) = both_sums(&tally);
            assert_eq!(in_service, in_flight, "{pace:?} stalled at {stalled_at_ms} ms: {:?}", tally.edges);
            let counted: u64 = tally.classes.iter().map(|class| class.response.count()).sum();
            assert_eq!(counted, tally.ops() + tally.edges.ended_after + tally.not_issued, "{pace:?}");
            let after: u64 = tally.classes.iter().map(|class| class.after.count()).sum();
            assert_eq!(after, tally.edges.ended_after, "{pace:?}");
        }
    }
}

#[test]
fn the_last_interval_ends_with_the_window_and_a_stall_leaves_a_gap() {
    let stop = Stop { run: Some(MS * 5500), ..Stop::default() };
    let mut job = job(&Workload { depth: 4, stop, ..workload() });
    let mut servers = Servers::new(4, MS * 3);
    servers.stall = Some((units::Instant::from_nanos(1_200_000_000), MS * 6000));
    drive(&mut job, &mut servers);
    let tally = job.into_tally();
    let ends: Vec<u64> = tally.intervals.iter().map(|interval| interval.until.nanos() / 1_000_000).collect();
    assert_eq!(ends, [1000, 2000], "what nothing ended in is no interval");
    let gap = tally.gaps.as_slice()[0];
    assert!(gap.waiting_since <= gap.from && gap.waited() > MS * 5900, "{gap:?}");
    // Few requests of a schedule, the last of them long before the end.
    let pace = Pace::even(OpsPerSecond::new(0.7));
    let stop = Stop { run: Some(MS * 5500), ..Stop::default() };
    let mut job = self::job(&Workload { pace, stop, ..workload() });
    drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    assert!(
        tally.gaps.as_slice().iter().all(|gap| gap.waited() <= MS * 2),
        "nobody waited: {:?}",
        tally.gaps
    );
    let partial =
        tally.intervals.iter().find(|interval| (interval.until - interval.from).get() % 500_000_000 != 0);
    assert_eq!(partial, None);
}

#[test]
fn warm_up_and_cool_down_load_the_target_and_are_not_counted() {
    let stop = Stop {
        warmup: Nanos::from_millis(100),
        run: Some(Nanos::from_millis(200)),
        cooldown: Nanos::from_millis(100),
        ..Stop::default()
    };
    let mut job = job(&Workload { stop, ..workload() });
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    assert_eq!(answers.len(), 400);
    assert_eq!((tally.ops(), tally.classes[0].ended), (200, 400));
    assert_eq!(tally.measured(), Nanos::from_millis(200));
}

#[test]
fn a_warm_up_by_bytes_ends_with_the_request_that_makes_it_so_many() {
    let stop = Stop {
        warmup_bytes: Some(Bytes::KIB * 4 * 99 + Bytes::KIB),
        run: Some(MS * 200),
        cooldown: MS * 100,
        ..Stop::default()
    };
    let mut job = job(&Workload { stop, ..workload() });
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    let window = [tally.begun, tally.measured_from, tally.measured_until];
    assert_eq!(window.map(|at| at.nanos() / 1_000_000), [0, 100, 300]);
    assert_eq!((answers.len(), tally.ops(), tally.classes[0].ended), (400, 199, 400));
    let cuts: Vec<_> = tally.intervals.iter().map(|cut| (cut.measured, cut.classes[0].ops)).collect();
    assert_eq!(cuts, [(false, 100), (true, 199)]);
}

#[test]
fn a_load_that_ends_before_its_warm_up_measures_nothing_and_ends_with_its_last_request() {
    let warmups = [
        Stop { warmup_bytes: Some(Bytes::MIB), ..Stop::default() },
        Stop { warmup: MS * 5000, ..Stop::default() },
        Stop { warmup: MS * 5000, run: Some(MS * 100), ..Stop::default() },
    ];
    for stop in warmups {
        let mut job = job(&Workload { depth: 2, stop: Stop { ops: Some(50), ..stop }, ..workload() });
        drive(&mut job, &mut Servers::new(1, MS));
        let tally = job.into_tally();
        assert_eq!((tally.ops(), tally.completed, tally.measured()), (0, 50, Nanos::ZERO), "{stop:?}");
        assert_eq!(tally.measured_from.nanos(), 50_000_000);
        assert_eq!(tally.intervals.iter().map(|cut| cut.until.nanos()).max(), Some(50_000_000), "{stop:?}");
        assert_eq!(tally.together.in_flight[..2], [1, 49], "all of it is counted");
    }
}

#[test]
fn requests_are_counted_anew_after_the_warm_up_with_those_in_flight() {
    let warmups = [
        Stop { warmup: MS * 100, ..Stop::default() },
        Stop { warmup_bytes: Some(Bytes::KIB * 4 * 120), ..Stop::default() },
    ];
    for (stop, depth) in warmups.iter().flat_map(|stop| [(stop, 1), (stop, 8)]) {
        let stop = Stop { ops: Some(200), ops_after_warmup: true, ..*stop };
        let mut job = job(&Workload { depth, stop, ..workload() });
        drive(&mut job, &mut Servers::new(1, MS));
        let tally = job.into_tally();
        // What ends with the warm-up is measured after a time, and not after bytes.
        let before = if stop.warmup.is_zero() { 120 } else { 99 };
        assert_eq!((tally.ops(), tally.completed), (200, before + 200), "{depth} in flight, {stop:?}");
    }
    // As many within it end it, too, and no flush is among them.
    let stop = Stop { warmup: MS * 5000, ops: Some(50), ops_after_warmup: true, ..Stop::default() };
    let durability = Durability { every: Some(1), ..workload().durability };
    let mix = OpMix { reads: Share::NONE, ..workload().mix };
    let mut within = job(&Workload { stop, mix, durability, ..workload() });
    drive(&mut within, &mut Servers::new(1, MS));
    let tally = within.into_tally();
    assert_eq!((tally.completed, tally.ops()), (99, 0), "no flush follows the last");
    let stop = Stop { warmup: MS * 12, ..stop };
    let mut behind = job(&Workload { stop, mix, durability, ..workload() });
    drive(&mut behind, &mut Servers::new(1, MS));
    let writes = behind.into_tally().classes.iter().find(|class| class.class.op == Op::Write).unwrap().ops;
    assert_eq!(writes, 50);
}

#[test]
fn a_stall_over_the_end_of_the_window_is_in_the_histogram() {
    let stop = Stop { run: Some(Nanos::from_millis(10)), ops: None, ..workload().stop };
    let mut job = job(&Workload { stop, ..workload() });
    drive(&mut job, &mut Servers::new(1, Nanos::from_secs(2)));
    let tally = job.into_tally();
    assert_eq!(tally.ops(), 0, "nothing finished within the window");
    assert_eq!(tally.classes[0].response.max(), Some(Nanos::from_secs(2)));
}

#[test]
fn all_that_was_due_in_the_window_is_measured_however_many_end_after_it() {
    let stop = Stop { run: Some(Nanos::from_millis(10)), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 4, stop, ..workload() });
    drive(&mut job, &mut Servers::new(4, Nanos::from_secs(2)));
    assert_eq!(job.into_tally().classes[0].response.count(), 4);
}

#[test]
fn what_ends_with_the_last_request_is_measured_where_that_is_the_end_of_an_interval_too() {
    for pace in [Pace::Closed, Pace::Think(Nanos::ZERO)] {
        let mut job = job(&Workload { pace, stop: Stop { ops: Some(200), ..workload().stop }, ..workload() });
        drive(&mut job, &mut Servers::new(1, MS * 10));
        let tally = job.into_tally();
        assert_eq!((tally.measured_until - tally.measured_from, tally.classes[0].ops), (MS * 2000, 200));
    }
}

#[test]
fn intervals_add_up_to_the_whole() {
    let stop = Stop { warmup: MS * 500, run: Some(MS * 2500), ops: None, ..workload().stop };
    let mut job = job(&Workload { stop, ..workload() });
    drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    let measured: Vec<_> = tally.intervals.iter().filter(|interval| interval.measured).collect();
    let ops: u64 = measured.iter().flat_map(|interval| &interval.classes).map(|class| class.ops).sum();
    assert_eq!(ops, tally.ops());
    let lengths: Vec<u64> =
        measured.iter().map(|interval| (interval.until - interval.from).get() / 1_000_000).collect();
    assert_eq!(lengths, [1000, 1000, 500]);
}

#[test]
fn the_digest_depends_on_the_specification_and_not_on_who_answers() {
    let digest = |depth: u32, servers: usize, service: Nanos, seed: u64| {
        let mut job = job(&Workload { depth, seed, ..workload() });
        drive(&mut job, &mut Servers::new(servers, service));
        job.into_tally().digest
    };
    assert_eq!(digest(1, 1, MS, 1), digest(16, 5, MS * 7, 1));
    assert_ne!(digest(1, 1, MS, 1), digest(1, 1, MS, 2));
}

#[test]
fn the_digest_of_a_seed_never_changes_between_versions() {
    let mut job = job(&Workload {
        sizes: SizeSplit(vec![(Bytes::KIB * 4, 60.0), (Bytes::KIB * 8, 40.0)]),
        mix: OpMix { reads: Share::new(0.7).unwrap(), ..workload().mix },
        ..workload()
    });
    drive(&mut job, &mut Servers::new(1, MS));
    // A change here means that records of older versions can no longer be compared request by request.
    assert_eq!(format!("{:016x}", job.into_tally().digest), DIGEST_OF_SEED_1);
}

#[test]
fn a_closed_loop_asks_for_the_same_as_a_schedule() {
    // Closed loops of simple requests are planned by loops of their own; a schedule takes the general one.
    let two = SizeSplit(vec![(Bytes::KIB * 4, 60.0), (Bytes::KIB * 8, 40.0)]);
    let patterns = [
        Pattern::Sequential,
        Pattern::Reverse,
        Pattern::Stride(Bytes::KIB * 64),
        Pattern::Interlocked,
        Pattern::Random,
        Pattern::RandomWithRepeats,
        Pattern::Zipf(1.1),
    ];
    let stops = [
        Stop { ops: Some(2501), ..workload().stop },
        Stop { ops: None, bytes: Some(Bytes::new(5_000_001)), ..workload().stop },
    ];
    for pattern in patterns {
        for (sizes, stop) in [SizeSplit::one(Bytes::KIB * 4), two.clone()].into_iter().zip(stops) {
            for reads in [Share::ALL, Share::new(0.7).unwrap()] {
                let mix = OpMix { reads, ..workload().mix };
                let (pattern, sizes) = (pattern.clone(), sizes.clone());
                let closed = Workload { pattern, sizes, mix, stop, depth: 3, ..workload() };
                let paced = Workload { pace: Pace::even(OpsPerSecond::new(1000.0)), ..closed.clone() };
                let tally = |workload: &Workload| {
                    let mut job = job(workload);
                    drive(&mut job, &mut Servers::new(2, MS));
                    let tally = job.into_tally();
                    (tally.digest, tally.planned, tally.completed, tally.ops())
                };
                assert_eq!(tally(&closed), tally(&paced), "{closed:?}");
            }
        }
    }
}

const DIGEST_OF_SEED_1: &str = "ce8366a627daac75";

#[test]
fn a_failed_request_is_counted_with_its_offset_and_is_not_a_latency() {
    let mut job = job(&workload());
    let bad = |offset: Bytes| offset < Bytes::KIB * 400;
    let answers = drive_with(&mut job, &mut Servers::new(1, MS), |request| {
        bad(request.offset).then_some(Outcome::failed(Errno(5)))
    });
    let failed: Vec<_> = answers.iter().filter(|answer| bad(answer.request.offset)).collect();
    let tally = job.into_tally();
    assert!(!failed.is_empty());
    assert_eq!(tally.errors, failed.len() as u64);
    assert_eq!(tally.error_samples[0].offset, failed[0].request.offset);
    assert_eq!(tally.error_samples[0].failure, Failure::Errno(Errno(5)));
    assert_eq!(tally.classes[0].response.count(), 100 - failed.len() as u64);
}

#[test]
fn a_short_read_is_a_failure_and_says_how_short() {
    let mut job = job(&workload());
    drive_with(&mut job, &mut Servers::new(1, MS), |_| Some(Outcome::moved(512)));
    let tally = job.into_tally();
    assert_eq!(tally.errors, 100);
    assert_eq!(tally.error_samples[0].failure, Failure::Short { moved: 512 });
}

#[test]
fn a_target_that_is_gone_ends_the_job() {
    let stop = Stop { run: Some(Nanos::from_secs(100)), ops: None, ..workload().stop };
    let mut job = job(&Workload { stop, ..workload() });
    drive_with(&mut job, &mut Servers::new(1, MS), |_| Some(Outcome::failed(Errno(19))));
    let tally = job.into_tally();
    assert!(tally.gave_up);
    assert_eq!(tally.errors, ERRORS_MAX);
}

#[test]
fn a_flush_follows_every_third_write() {
    let mix = OpMix { reads: Share::NONE, ..workload().mix };
    let durability = Durability { every: Some(3), ..workload().durability };
    let stop = Stop { ops: Some(7), ..workload().stop };
    let mut job = job(&Workload { mix, durability, stop, ..workload() });
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let ops: Vec<Op> = answers.iter().map(|answer| answer.request.op).collect();
    use Op::{Flush as F, Write as W};
    assert_eq!(ops, [W, W, W, F, W, W, W, F, W]);
}

#[test]
fn a_stopped_job_drains_and_keeps_what_it_saw() {
    let stop = Stop { run: Some(Nanos::from_secs(100)), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 4, stop, ..workload() });
    let mut batch = Vec::new();
    job.start(units::Instant::START);
    while job.plan(units::Instant::START, &mut batch) == workload::Wake::Again {}
    job.stop();
    for request in batch.drain(..) {
        let outcome = Outcome::moved(request.len);
        let finished_at = units::Instant::from_nanos(5_000_000);
        job.complete(workload::Completion { token: request.token, outcome, finished_at });
    }
    assert_eq!(job.plan(units::Instant::from_nanos(5_000_000), &mut batch), workload::Wake::Done);
    let tally = job.into_tally();
    assert_eq!((tally.ops(), tally.measured()), (4, MS * 5));
}

#[test]
fn the_time_of_requests_that_fail_is_in_the_sums_too() {
    let stop = Stop { warmup: MS * 700, run: Some(MS * 3300), cooldown: MS * 400, ..Stop::default() };
    for pace in [Pace::Closed, Pace::even(OpsPerSecond::new(900.0))] {
        let mut job = job(&Workload { depth: 8, pace, stop, ..workload() });
        drive_with(&mut job, &mut Servers::new(3, MS * 7), |request| {
            request.offset.get().is_multiple_of(3 * 4096).then_some(Outcome::failed(Errno(5)))
        });
        let tally = job.into_tally();
        let (in_service, in_flight) = both_sums(&tally);
        assert_eq!(in_service, in_flight, "{pace:?}: {:?}", tally.edges);
        assert!(tally.edges.failed_ns > 0, "{pace:?}");
    }
}

fn at(ms: u64) -> Instant {
    Instant::START + MS * ms
}

/// All that a job asks at `now`.
fn planned(job: &mut Job, now: Instant) -> Vec<Request> {
    let mut batch = Vec::new();
    while job.plan(now, &mut batch) == Wake::Again {}
    batch
}

fn end(job: &mut Job, request: Request, finished_at: Instant) {
    let outcome = Outcome::moved(request.len);
    job.complete(Completion { token: request.token, outcome, finished_at });
}

#[test]
fn a_request_that_hangs_for_seconds_over_the_start_of_the_window_is_cut_there_once() {
    let stop = Stop { warmup: MS * 500, run: Some(MS * 3000), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 2, stop, ..workload() });
    job.start(at(0));
    let [hangs, mut other] = planned(&mut job, at(0))[..] else { panic!("two slots") };
    for tenth in 1..30 {
        end(&mut job, other, at(tenth * 100));
        other = planned(&mut job, at(tenth * 100))[0];
    }
    job.stop();
    end(&mut job, hangs, at(3000));
    end(&mut job, other, at(3000));
    let tally = job.into_tally();
    // Half a second of the one that hangs, a tenth of the one that ends as the window begins.
    assert_eq!(tally.edges.before_ns, 600_000_000);
    let (in_service, in_flight) = both_sums(&tally);
    assert_eq!(in_service, in_flight, "{:?}", tally.edges);
}

#[test]
fn what_is_heard_of_late_was_in_flight_until_it_ended() {
    let stop = Stop { run: Some(MS * 1000), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 2, stop, ..workload() });
    job.start(at(0));
    let requests = planned(&mut job, at(0));
    assert!(planned(&mut job, at(5)).is_empty());
    end(&mut job, requests[0], at(3));
    end(&mut job, requests[1], at(4));
    assert_eq!(job.into_tally().in_flight_ns, 7_000_000);
}

#[test]
fn progress_is_what_went_well_what_failed_and_what_is_in_flight() {
    let half_done = || {
        let mut job = job(&Workload { depth: 5, ..workload() });
        job.start(at(0));
        let requests = planned(&mut job, at(0));
        end(&mut job, requests[0], at(1));
        end(&mut job, requests[1], at(1));
        let outcome = Outcome::failed(Errno(5));
        job.complete(Completion { token: requests[2].token, outcome, finished_at: at(1) });
        job.progress()
    };
    assert_eq!(half_done(), Progress { ops: 2, bytes: 8192, errors: 1, in_flight: 2 });
    let both: Progress = [half_done(), half_done()].into_iter().sum();
    assert_eq!(both, Progress { ops: 4, bytes: 16_384, errors: 2, in_flight: 4 });
}

#[test]
fn a_request_in_flight_is_measured_if_it_ends_in_the_window() {
    let stop = Stop { warmup: MS * 100, run: Some(MS * 100), ops: None, ..workload().stop };
    let mut job = job(&Workload { depth: 2, stop, ..workload() });
    job.start(at(0));
    let request = planned(&mut job, at(0))[0];
    assert_eq!(job.measures(request.token, at(99)), None);
    let class = Class { op: Op::Read.into(), size: Bytes::KIB * 4 };
    assert_eq!(job.measures(request.token, at(100)), Some((class, at(0))));
    end(&mut job, request, at(100));
    assert_eq!(job.measures(request.token, at(100)), None, "it has ended");
}

#[test]
fn an_interval_that_was_taken_is_not_told_again() {
    let stop = Stop { run: Some(MS * 2500), ops: None, ..workload().stop };
    let mut job = job(&Workload { stop, ..workload() });
    assert!(!job.has_interval());
    drive(&mut job, &mut Servers::new(1, MS));
    assert!(job.has_interval());
    assert_eq!(job.take_intervals().len(), 3);
    assert!(!job.has_interval() && job.into_tally().intervals.is_empty());
}
