//! Questions of small arrays.

use units::Share;
use workload::spec::{Durability, OpenSync};
use workload::tally::{Action, Class, ClassInterval, Interval};

use super::course::reached;
use super::*;
use crate::spec::{Shipped, case};

fn part(part: f64) -> Share {
    Share::new(part).expect("a share")
}

/// Random reads of 8 KiB, eight outstanding, beside the work on `disk` up to one percent.
fn beside(array: &str, loads: u32, work: ActivityKind, disk: u32) -> Subject {
    let plain = Load::plain(case::Pattern::Random, Bytes::KIB * 8);
    let load = Load { depth: 8, run: Nanos::from_secs(4), ..plain };
    let occasion = Some(Activity { work, disk, from: Share::NONE, to: part(0.01) });
    Subject { array: array.into(), loads: vec![load; loads as usize], occasion, within: None }
}

fn measured(subject: &Subject, metric: Metric) -> f64 {
    measure(&Shipped, subject, metric, 1).expect("the shipped array can do it")
}

/// After how many seconds a metric is known, each of as many requests with that response time.
fn known_after(metric: Metric, precision: f64, seconds: &[(u64, Nanos)]) -> Option<usize> {
    known_after_of(1, metric, precision, seconds)
}

/// The same where one job of so many tells.
fn known_after_of(jobs: usize, metric: Metric, precision: f64, seconds: &[(u64, Nanos)]) -> Option<usize> {
    let limit = Some(Nanos::from_millis(2));
    let subject = Subject { array: String::new(), loads: Vec::new(), occasion: None, within: limit };
    let mut known = Seconds::of(metric, &subject, precision, jobs);
    seconds.iter().zip(1u64..).position(|(&(ops, time), second)| {
        let mut response = Histogram::new();
        response.record_n(time, ops);
        let class = ClassInterval {
            class: Class { op: Action::Block(workload::Op::Read), size: Bytes::KIB },
            ops,
            bytes: Bytes::KIB * ops,
            response: response.buckets().collect(),
            service: Vec::new(),
            longest: time,
        };
        let interval = Interval {
            from: units::Instant::from_nanos(second * 1_000_000_000),
            until: units::Instant::from_nanos((second + 1) * 1_000_000_000),
            measured: true,
            classes: vec![class],
        };
        known.are_known(&[interval])
    })
}

#[test]
fn a_rate_is_known_once_its_interval_is_narrow_and_not_while_it_changes() {
    let after = |precision, counts: &[u64]| {
        let seconds: Vec<_> = counts.iter().map(|ops| (*ops, Nanos::from_millis(1))).collect();
        known_after(Metric::Iops, precision, &seconds)
    };
    assert_eq!(after(0.005, &[1_000; 20]), Some(5), "six seconds are enough");
    let rough: Vec<u64> = (0..20).map(|at| 1_000 + at % 2 * 200).collect();
    assert_eq!(after(0.005, &rough), None);
    // Twenty of them lie within 4.4 % with 95 % confidence.
    assert!(after(0.06, &rough).is_some_and(|seconds| (8..20).contains(&seconds)));
    let rising: Vec<u64> = (0..20).map(|at| 1_000 + at * 10).collect();
    assert_eq!(after(0.005, &rising), None);
    assert_eq!(after(0.005, &[1_000; 5]), None);
}

#[test]
fn a_latency_is_known_by_its_own_seconds_and_a_quantile_by_those_that_have_enough_beyond_it() {
    let milli = |count| Nanos::from_millis(count);
    let steady: Vec<_> = (0..20).map(|_| (900, milli(1))).collect();
    let rough: Vec<_> = (0..20).map(|at| (900, milli(1 + at % 2 * 3))).collect();
    for metric in [Metric::LatencyMean, Metric::LatencyP50, Metric::ShareWithin] {
        assert_eq!(known_after(metric, 0.01, &steady), Some(5), "{metric:?}");
        assert_eq!(known_after(metric, 0.01, &rough), None, "{metric:?}");
    }
    assert_eq!(known_after(Metric::Iops, 0.01, &rough), Some(5));
    assert_eq!(known_after(Metric::LatencyP99, 0.01, &steady), None);
    let many: Vec<_> = (0..20).map(|_| (1_000, milli(1))).collect();
    assert_eq!(known_after(Metric::LatencyP99, 0.01, &many), Some(5));
}

#[test]
fn the_last_second_counts_once_all_jobs_have_told_of_it() {
    let seconds = [(1_000, Nanos::from_millis(1)); 20];
    assert_eq!(known_after_of(1, Metric::Iops, 0.005, &seconds), Some(5));
    // Of the other job nothing ends: only the seventh second says that the sixth is over.
    assert_eq!(known_after_of(2, Metric::Iops, 0.005, &seconds), Some(6));
}

#[test]
fn what_a_load_is_called_decides_nothing_that_it_draws() {
    let [one, other] = ["one", "other"].map(|name| {
        let mut subject = beside("md3000", 1, ActivityKind::Degraded, 0);
        subject.loads[0].name = name.into();
        let question =
            Question::new(&Shipped, &subject, Metric::LatencyMean, 0.005).expect("the array is one");
        (question.key(), question.answer(1).ok())
    });
    assert_eq!(one, other);
}

#[test]
fn a_finding_answers_to_every_precision_to_which_its_run_would_have_ended_at_the_same_instant() {
    let mut subject = beside("md3000", 1, ActivityKind::Degraded, 0);
    fn question(subject: &Subject, precision: f64) -> Question<'_> {
        Question::new(&Shipped, subject, Metric::Iops, precision).expect("the array is one")
    }
    // No run of four seconds ends before its time.
    let short = question(&subject, 0.025);
    let found = short.find(1).expect("it can");
    assert!(
        [0.001, 0.005, 0.5].iter().all(|precision| question(&subject, *precision).is_answered_by(&found))
    );

    subject.loads[0].run = Nanos::from_secs(40);
    let precisions = [0.002, 0.005, 0.01, 0.025, 0.1];
    let found = precisions.map(|precision| question(&subject, precision).find(1).expect("it can"));
    let mut answered = 0;
    for (asked, own) in precisions.iter().zip(&found) {
        for other in &found {
            let question = question(&subject, *asked);
            if question.is_answered_by(other) {
                assert_eq!(question.value(other).ok(), question.value(own).ok(), "{asked}: {other:?}");
                answered += 1;
            }
        }
    }
    assert!((precisions.len() + 1..precisions.len().pow(2)).contains(&answered), "{answered}");
}

#[test]
fn parts_of_a_pass_are_read_off_one_course() {
    let initialise = ActivityKind::Background(BackgroundKind::Initialise);
    let asked = |to, metric| {
        let mut subject = beside("md3000", 0, initialise, 0);
        if let Some(occasion) = subject.occasion.as_mut() {
            occasion.to = part(to);
        }
        let question = Question::new(&Shipped, &subject, metric, 0.005).expect("the shipped array is one");
        let value = question.value(&question.find(1).expect("it has a course")).expect("it gets so far");
        (question.key(), value)
    };
    let [(one, tenth), (other, whole)] = [0.1, 1.0].map(|to| asked(to, Metric::Time));
    assert_eq!(one, other);
    assert!(whole > 9.0 * tenth && whole < 15.0 * tenth, "{whole} against {tenth}");
    assert_eq!(one, asked(0.1, Metric::WorkRate).0);
}

#[test]
fn progress_between_two_percents_lies_on_a_straight_line() {
    let percents = [10, 30, 60].map(Nanos::from_secs);
    let at = |share| reached(&percents, part(share));
    assert_eq!((at(0.0), at(0.01), at(0.03)), (Some(0.0), Some(10.0), Some(60.0)));
    assert!(at(0.015).is_some_and(|seconds| (seconds - 20.0).abs() < 1e-6));
    assert_eq!((at(0.035), at(0.04)), (None, None));
}

#[test]
fn the_course_of_work_ends_when_its_time_says_and_a_load_has_none() {
    let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
    let subject = beside("esds-s24s-g2240", 0, rebuild, 3);
    let course = progress(&Shipped, &subject, 1).expect("it can").expect("it has one");
    assert_eq!(course.len(), 100);
    assert!((course[0].as_secs_f64() / measured(&subject, Metric::Time) - 1.0).abs() < 1e-9);
    let loaded = beside("esds-s24s-g2240", 1, rebuild, 3);
    assert_eq!(progress(&Shipped, &loaded, 1).expect("it can"), None);
}

#[test]
fn work_goes_on_in_the_set_that_holds_its_disk() {
    let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
    let [first, second] =
        [3, 15].map(|disk| measured(&beside("esds-s24s-g2240", 0, rebuild, disk), Metric::Time));
    // Spindles turn in phases of their own, which a short piece of the work shows.
    assert!((second / first - 1.0).abs() < 0.02, "{second} against {first}");
}

#[test]
fn a_load_beside_work_with_a_start_up_meets_the_work_and_not_its_start_up() {
    let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
    let degraded = measured(&beside("esds-s24s-g2240", 1, ActivityKind::Degraded, 3), Metric::Iops);
    let rebuilding = measured(&beside("esds-s24s-g2240", 1, rebuild, 3), Metric::Iops);
    assert!(rebuilding < 0.97 * degraded, "{rebuilding} against {degraded}");
}

#[test]
fn work_that_lets_a_busy_host_go_first_for_ever_is_given_up() {
    let array = "perc-3-qc?raid=5&disks=3&background.policy=idle";
    let subject = beside(array, 1, ActivityKind::Background(BackgroundKind::Rebuild), 1);
    let error = measure(&Shipped, &subject, Metric::Time, 1).expect_err("it never gets a turn");
    assert!(error.to_string().contains("50 times its own time"), "{error}");
}

#[test]
fn a_write_that_is_flushed_counts_once_and_takes_as_long_as_both() {
    let mut subject = beside("hdd-1", 1, ActivityKind::Degraded, 0);
    subject.occasion = None;
    let load = &mut subject.loads[0];
    (load.reads, load.depth) = (Share::NONE, 1);
    let answered = measured(&subject, Metric::Iops);
    let flushed = |durability| {
        let load = Load { durability, ..subject.loads[0].clone() };
        measured(&Subject { loads: vec![load], ..subject.clone() }, Metric::Iops)
    };
    let by_call = flushed(Durability { every: Some(1), ..Durability::NONE });
    let by_flag = flushed(Durability { open: OpenSync::Dsync, ..Durability::NONE });
    assert!(by_call * 2.0 < answered, "{by_call} of {answered} writes wait for the platter");
    assert!((by_call / by_flag - 1.0).abs() < 0.05, "{by_call} and {by_flag}");
}

#[test]
fn a_state_that_does_not_end_has_no_time() {
    let subject = beside("md3000", 1, ActivityKind::Degraded, 3);
    assert!(matches!(measure(&Shipped, &subject, Metric::Time, 1), Err(MeasureError::Nothing { .. })));
}
