//! What a point inherits from those before it.

use record::sample::{self, Stream};
use record::{Point, Run, Settled, Severity};
use units::convert::truncated;

use crate::{codes, find, found};

/// A sweep of depth: each point writes, or reads, with one rate throughout.
fn swept(op: &'static str, rate: impl Fn(f64) -> u64) -> Run {
    let point = |(index, depth): (u32, u32)| {
        let per_s = rate(f64::from(depth));
        let median_ns = truncated::<u64>(f64::from(depth) / per_s as f64 * 1e9);
        let stream = Stream { op, size_bytes: 4096, per_s, median_ns, spread: 0.1 };
        let mut workload = sample::workload("main", &[stream]);
        workload.mean_in_flight = f64::from(depth);
        let point = sample::point(index, &format!("x{depth}"), vec![workload]);
        let swept = [("depth".to_owned(), depth.to_string())].into();
        Point { swept, phase: "4k x{depth}".into(), ..point }
    };
    let depths = (0u32..).zip([1, 2, 4, 8, 16, 32]);
    sample::run("random", depths.map(point).collect())
}

/// Has the second half of a point's window another rate.
fn step(point: &mut Point, times: f64) {
    let values = &mut point.series[0].values;
    let half = values.len() / 2;
    values[half..].iter_mut().for_each(|value| *value *= times);
}

#[test]
fn a_rate_that_rises_after_a_point_that_wrote_carries_over_and_costs_the_grade() {
    let mut run = swept("write", |depth| truncated::<u64>(1_000.0 * depth.min(8.0)));
    assert!(find(&run, "carry-over").is_none());
    step(&mut run.points[3], 2.0);
    let finding = found(&run, "carry-over");
    assert_eq!((finding.point, finding.severity), (Some(3), Severity::Warning));
    assert!(finding.sentence.contains("after \"x4\" had written"), "{}", finding.sentence);
    explain::judge(&mut run);
    let check =
        run.points[3].grading.as_ref().unwrap().checks.iter().find(|check| check.name == "steady").unwrap();
    assert!(check.codes.contains(&"carry-over".to_owned()), "{check:?}");
}

#[test]
fn the_first_point_and_one_whose_cache_was_clean_inherit_nothing() {
    let mut run = swept("write", |depth| truncated::<u64>(1_000.0 * depth.min(8.0)));
    step(&mut run.points[0], 0.5);
    step(&mut run.points[3], 0.5);
    run.points[3].settled = Some(Settled { done: "clean".into(), seconds: 20.0, left_bytes: Some(0) });
    assert!(find(&run, "carry-over").is_none(), "{:?}", codes(&run));
    assert!(find(&run, "drift").is_some(), "that it fell is told all the same");
    run.points[3].settled = Some(Settled { done: "flushed".into(), seconds: 2.0, left_bytes: None });
    assert!(found(&run, "carry-over").sentence.contains("fell by"));
}

#[test]
fn reads_leave_no_write_cache_to_empty() {
    let mut run = swept("read", |depth| truncated::<u64>(1_000.0 * depth.min(8.0)));
    step(&mut run.points[3], 2.0);
    assert!(find(&run, "carry-over").is_none());
}

#[test]
fn a_first_point_that_does_more_when_it_is_measured_again_was_cold() {
    let mut run = swept("read", |_| 1_000);
    let mut again = swept("read", |_| 1_500).points.swap_remove(0);
    (again.index, again.repeat) = (6, 2);
    run.points.push(again);
    let finding = found(&run, "carry-over");
    assert_eq!(finding.point, Some(0));
    assert!(
        finding.sentence.contains("1,000/s when measured first, 1,500/s when measured again"),
        "{}",
        finding.sentence
    );
    run.points.drain(1..6);
    assert!(find(&run, "carry-over").is_none(), "nothing came between: that is what `repeats-differ` tells");
}

#[test]
fn no_knee_and_no_fall_is_told_of_a_curve_with_a_point_that_was_not_steady() {
    let falls = |depth: f64| if depth > 1.0 { 3_000 } else { 7_000 };
    let mut run = swept("write", falls);
    assert!(find(&run, "retrograde").is_some());
    step(&mut run.points[0], 0.4);
    for code in ["retrograde", "knee", "no-sharp-knee", "superlinear"] {
        assert!(find(&run, code).is_none(), "{code}: {:?}", codes(&run));
    }
    let finding = found(&run, "curve-unsteady");
    assert!(
        finding.sentence.contains("1 of the 6 points") && finding.sentence.contains("\"x1\" first"),
        "{finding:?}"
    );
}

#[test]
fn a_point_that_only_read_leaves_nothing_to_flush() {
    let mut run = swept("write", |depth| truncated::<u64>(1_000.0 * depth.min(8.0)));
    step(&mut run.points[3], 2.0);
    assert!(find(&run, "carry-over").is_some());
    let read = swept("read", |depth| truncated::<u64>(1_000.0 * depth.min(8.0)));
    run.points[2].workloads = read.points[2].workloads.clone();
    assert!(find(&run, "carry-over").is_none());
}
