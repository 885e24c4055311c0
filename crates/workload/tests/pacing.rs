//! When requests are due, issued and late.

use units::{Instant, Nanos, OpsPerSecond};
use workload::spec::*;
use workload::{Job, Wake};

use crate::world::{Servers, drive, job, workload};

const MS: Nanos = Nanos::from_millis(1);

fn for_a_second(pace: Pace, depth: u32) -> Workload {
    let stop = Stop { run: Some(Nanos::from_secs(1)), ops: None, ..workload().stop };
    Workload { pace, depth, stop, ..workload() }
}

#[test]
fn think_time_separates_the_requests_of_a_slot() {
    let mut job = job(&for_a_second(Pace::Think(MS * 9), 2));
    let answers = drive(&mut job, &mut Servers::new(2, MS));
    assert_eq!(answers.len(), 200, "two slots, ten milliseconds a round");
    assert!(answers.iter().all(|answer| answer.finished - answer.issued == MS));
}

#[test]
fn an_even_rate_is_kept_when_the_target_can() {
    let mut job = job(&for_a_second(Pace::even(OpsPerSecond::new(500.0)), 4));
    let answers = drive(&mut job, &mut Servers::new(1, MS));
    let tally = job.into_tally();
    assert_eq!(answers.len(), 500);
    assert_eq!(tally.classes[0].lag.as_ref().unwrap().max(), Some(Nanos::ZERO));
}

#[test]
fn response_counts_from_the_due_instant_when_the_target_cannot_keep_up() {
    // A thousand a second asked of a server that does five hundred: the last one is a second late.
    let mut job = job(&for_a_second(Pace::even(OpsPerSecond::new(1000.0)), 1));
    drive(&mut job, &mut Servers::new(1, MS * 2));
    let tally = job.into_tally();
    let class = &tally.classes[0];
    let (response, service) = (class.response.max().unwrap(), class.service.as_ref().unwrap().max().unwrap());
    assert_eq!(service, MS * 2);
    assert!((999..=1003).contains(&(response.get() / 1_000_000)), "{response}");
    assert_eq!(
        (tally.ops(), tally.completed, tally.not_issued),
        (499, 1000, 0),
        "half of them after the window"
    );
    assert_eq!(class.lag.as_ref().unwrap().max().unwrap() + service, response);
}

#[test]
fn a_closed_loop_keeps_one_histogram_because_response_is_service() {
    let mut job = job(&workload());
    drive(&mut job, &mut Servers::new(1, MS));
    assert!(job.into_tally().classes[0].service.is_none());
}

#[test]
fn a_stall_is_charged_to_every_request_that_fell_due_in_it() {
    let mut job = job(&for_a_second(Pace::even(OpsPerSecond::new(1000.0)), 1));
    let mut servers = Servers::new(1, Nanos::from_micros(10));
    servers.free_at[0] = units::Instant::from_nanos(500_000_000);
    drive(&mut job, &mut servers);
    let tally = job.into_tally();
    // Those due in the first half second waited for its rest: a quarter of all waited over 250 ms.
    let upper_quartile = tally.classes[0].response.quantile(0.75).unwrap();
    assert!((245..=255).contains(&(upper_quartile.get() / 1_000_000)), "{upper_quartile}");
    let service = tally.classes[0].service.as_ref().unwrap();
    assert!(service.quantile(0.75).unwrap() < MS, "the service histogram shows none of it");
    assert_eq!(
        tally.late.unwrap().max(),
        Some(Nanos::ZERO),
        "the only slot was taken: the driver was not late"
    );
}

#[test]
fn services_are_those_of_all_requests_whenever_the_first_of_them_lagged() {
    for stalled_at_ms in [0, 600, 999, 1_000, 1_700, 2_490, 9_000] {
        let stop = Stop { run: Some(MS * 2_000), warmup: MS * 500, ops: None, ..workload().stop };
        let pace = Pace::even(OpsPerSecond::new(100.0));
        let mut job = job(&Workload { pace, depth: 1, stop, ..workload() });
        let mut servers = Servers::new(1, MS * 7);
        servers.stall = Some((units::Instant::from_nanos(stalled_at_ms * 1_000_000), MS * 40));
        let answers = drive(&mut job, &mut servers);
        let tally = job.into_tally();
        let (mut services, mut in_intervals) = (stats::Histogram::new(), 0);
        for answer in answers.iter().filter(|answer| answer.finished >= tally.measured_from) {
            services.record(answer.finished - answer.issued);
            in_intervals += u64::from(answer.finished < tally.measured_until);
        }
        assert_eq!(tally.classes[0].service.as_ref(), Some(&services), "stalled at {stalled_at_ms} ms");
        let kept = tally.intervals.iter().flat_map(|interval| &interval.classes);
        let counted: u64 = kept.flat_map(|class| &class.service).map(|bucket| bucket.count).sum();
        assert_eq!(counted, in_intervals, "stalled at {stalled_at_ms} ms");
    }
}

#[test]
fn what_was_late_although_a_slot_was_free_is_the_drivers_own() {
    let at = |ms: u64| units::Instant::from_nanos(ms * 1_000_000);
    let mut job = job(&for_a_second(Pace::even(OpsPerSecond::new(1000.0)), 1));
    job.start(at(0));
    let mut asked = Vec::new();
    // Nobody asks the job for 50 ms; then its only slot is taken until 60 ms.
    for now in [50, 60] {
        job.plan(at(now), &mut asked);
        let request = asked.pop().unwrap();
        assert!(asked.is_empty());
        let outcome = workload::Outcome::moved(request.len);
        job.complete(workload::Completion { token: request.token, outcome, finished_at: at(now + 10) });
    }
    let late = job.into_tally().late.unwrap();
    assert_eq!((late.count(), late.min()), (2, Some(Nanos::ZERO)));
    assert!(late.max().unwrap() >= MS * 48 && late.max().unwrap() <= MS * 50, "{:?}", late.max());
}

/// The responses of a hundred requests a second, to a server that stalls from 0.9 s on, for so long.
fn stalled_at_the_end(stall: Nanos) -> (workload::tally::Tally, Vec<Nanos>) {
    let mut job = job(&for_a_second(Pace::even(OpsPerSecond::new(100.0)), 1));
    let mut servers = Servers::new(1, Nanos::from_micros(10));
    servers.stall = Some((units::Instant::from_nanos(900_000_000), stall));
    drive(&mut job, &mut servers);
    let tally = job.into_tally();
    let quantiles = [0.9, 0.95, 1.0].map(|q| tally.classes[0].response.quantile(q).unwrap());
    (tally, quantiles.to_vec())
}

#[test]
fn what_fell_due_in_a_stall_that_outlasts_the_load_is_charged_too() {
    let (tally, quantiles) = stalled_at_the_end(MS * 1400);
    assert_eq!((tally.planned, tally.completed, tally.not_issued), (100, 100, 0));
    assert_eq!(tally.ops(), 90, "ten of them ended after the window");
    // Due at 0.90, 0.91 … 0.99 s, answered from 2.30 s on.
    assert!(quantiles[0] < MS);
    assert_eq!(quantiles[1].get() / 1_000_000, 1350);
    assert_eq!(quantiles[2].get() / 1_000_000, 1400);
    let service = tally.classes[0].service.as_ref().unwrap();
    assert!(service.quantile(0.99).unwrap() < MS, "one request alone met the stall");
}

#[test]
fn a_stall_too_long_to_wait_for_is_charged_with_what_was_waited() {
    let (tally, quantiles) = stalled_at_the_end(MS * 20_000);
    // The one in flight comes back after 20 s; nine were due behind it and are not issued any more.
    assert_eq!((tally.planned, tally.completed, tally.not_issued), (91, 91, 9));
    assert_eq!(tally.classes[0].response.count(), 100);
    assert_eq!(quantiles[1].get() / 1_000_000_000, 19);
}

#[test]
fn a_hopeless_backlog_ends_and_is_booked_whole() {
    // Ten million a second asked of a server that does a hundred.
    let mut job = job(&for_a_second(Pace::poisson(OpsPerSecond::new(1e7)), 1));
    drive(&mut job, &mut Servers::new(1, MS * 10));
    let tally = job.into_tally();
    let class = &tally.classes[0];
    assert!((1090..=1110).contains(&tally.planned), "{} planned", tally.planned);
    assert!((class.response.count() as f64 / 1e7 - 1.0).abs() < 0.001, "{}", class.response.count());
    assert_eq!(class.response.count(), tally.completed + tally.not_issued);
    let median = class.response.quantile(0.5).unwrap().as_secs_f64();
    assert!((10.4..10.6).contains(&median), "{median} s waited by the median of them");
}

#[test]
fn a_limit_of_requests_ends_a_backlog() {
    let stop = Stop { ops: Some(600), ..for_a_second(Pace::Closed, 1).stop };
    let pace = Pace::even(OpsPerSecond::new(1000.0));
    let mut job = job(&Workload { stop, ..for_a_second(pace, 1) });
    drive(&mut job, &mut Servers::new(1, MS * 2));
    assert_eq!(job.into_tally().planned, 600);
}

#[test]
fn a_pace_that_drops_leaves_out_what_finds_no_free_slot() {
    let schedule =
        Schedule { rate: OpsPerSecond::new(1000.0), spacing: Spacing::Even, overflow: Overflow::Drop };
    let mut job = job(&for_a_second(Pace::Open(schedule), 1));
    // Each request takes two and a half periods: every third one finds the server free.
    drive(&mut job, &mut Servers::new(1, Nanos::from_micros(2500)));
    let tally = job.into_tally();
    assert_eq!((tally.planned, tally.dropped, tally.not_issued), (334, 666, 0));
    assert_eq!(tally.classes[0].lag.as_ref().unwrap().max(), Some(Nanos::ZERO));
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A job of four slots that asks one request at a time.
fn one_by_one(keys: &[(&str, &str)]) -> Job {
    let common = [("depth", "4"), ("submit_batch", "1")];
    let workload = workload::plan::from_texts("test", common.iter().chain(keys).copied());
    self::job(&workload.unwrap_or_else(|e| panic!("{}", e.plain())))
}

#[test]
fn a_job_asks_again_at_once_while_more_is_due_and_then_sleeps_until_the_next() {
    for pace in ["rate(1000/s)", "cap(1000/s)"] {
        let mut job = one_by_one(&[("pace", pace)]);
        let mut asked = Vec::new();
        job.start(at(0));
        assert_eq!(job.plan(at(0), &mut asked), Wake::At(at(1000)), "{pace}");
        assert_eq!(job.plan(at(2000), &mut asked), Wake::Again, "{pace}: one is due at this very instant");
        assert_eq!(job.plan(at(2000), &mut asked), Wake::At(at(3000)), "{pace}");
        assert_eq!(asked.len(), 3, "{pace}");
    }
}

#[test]
fn a_job_of_a_schedule_need_not_be_asked_before_the_next_arrival() {
    let begun = |keys: &[(&str, &str)]| {
        let mut job = one_by_one(keys);
        job.start(at(0));
        job.plan(at(0), &mut Vec::new());
        job
    };
    let rate = ("pace", "rate(1000/s)");
    let mut job = begun(&[rate]);
    let waits = [0, 999, 1000, 1001].map(|us| job.waits_for_arrival(at(us)));
    assert_eq!(waits, [true, true, false, false]);
    job.stop();
    assert!(!job.waits_for_arrival(at(500)), "it is done with what is in flight");
    assert!(!begun(&[rate, ("run", "1ms")]).waits_for_arrival(at(500)), "no other arrives before the end");
    assert!(
        !begun(&[rate, ("rewrites", "100%")]).waits_for_arrival(at(500)),
        "a write follows what has ended"
    );
    assert!(!begun(&[("pace", "cap(1000/s)")]).waits_for_arrival(at(500)), "a closed loop has no arrivals");
}

#[test]
fn what_is_due_before_or_after_the_window_is_in_no_count_of_it() {
    let tally = |overflow, warmup, depth, service| {
        let stop = Stop { warmup: MS * warmup, run: Some(MS * 200), cooldown: MS * 100, ..Stop::default() };
        let pace = Pace::Open(Schedule { rate: OpsPerSecond::new(1000.0), spacing: Spacing::Even, overflow });
        let mut job = job(&Workload { pace, depth, stop, ..workload() });
        drive(&mut job, &mut Servers::new(4, service));
        job.into_tally()
    };
    let well = tally(Overflow::Queue, 100, 4, Nanos::from_micros(100));
    assert_eq!((well.planned, well.classes[0].response.count(), well.late.unwrap().count()), (400, 200, 200));
    // Each second one finds no slot: from 101 ms to 301 ms a hundred.
    assert_eq!(tally(Overflow::Drop, 101, 1, Nanos::from_micros(1500)).dropped, 100);
    let stalled = tally(Overflow::Queue, 100, 1, MS * 20_000);
    assert_eq!((stalled.planned, stalled.not_issued), (1, 200));
}

#[test]
fn a_limit_of_requests_bounds_what_is_never_issued() {
    let stop = Stop { ops: Some(600), ..for_a_second(Pace::Closed, 1).stop };
    let mut job = job(&Workload { stop, ..for_a_second(Pace::even(OpsPerSecond::new(1000.0)), 1) });
    drive(&mut job, &mut Servers::new(1, MS * 20_000));
    let tally = job.into_tally();
    assert_eq!((tally.planned, tally.not_issued), (1, 599));
}

#[test]
fn a_request_that_is_issued_late_after_its_rest_counts_from_the_end_of_the_rest() {
    let mut job = one_by_one(&[("pace", "think(1ms)"), ("depth", "1")]);
    let mut asked = Vec::new();
    job.start(at(0));
    for (issued, finished) in [(0, 2000), (5000, 6000)] {
        job.plan(at(issued), &mut asked);
        let request = asked.pop().unwrap();
        let outcome = workload::Outcome::moved(request.len);
        job.complete(workload::Completion { token: request.token, outcome, finished_at: at(finished) });
    }
    let tally = job.into_tally();
    assert_eq!((tally.classes[0].response.max(), tally.edges.lag_ns), (Some(MS * 3), 2_000_000));
}
