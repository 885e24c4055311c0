//! Sweeps that stop to pay.

use record::sample::{self, Stream};
use record::{Point, Run};
use units::convert::truncated;

use crate::{codes, find, found};

/// A sweep of depth over a device that does so many requests a second with so many in flight.
fn swept(rate: impl Fn(f64) -> f64) -> Run {
    let point = |(index, depth): (u32, u32)| {
        let per_s = truncated::<u64>(rate(f64::from(depth)));
        let median_ns = truncated::<u64>(f64::from(depth) / per_s as f64 * 1e9);
        let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns, spread: 0.1 };
        let mut workload = sample::workload("main", &[stream]);
        // The round figure; the times in service come near it.
        (workload.mean_in_flight, workload.edges) = (f64::from(depth), None);
        let point = sample::point(index, &format!("x{depth}"), vec![workload]);
        let swept = [("depth".to_owned(), depth.to_string())].into();
        Point { swept, phase: "4k x{depth}".into(), ..point }
    };
    let depths = (0u32..).zip([1, 2, 4, 8, 16, 32, 64, 128]);
    sample::run("random", depths.map(point).collect())
}

#[test]
fn a_knee_is_told_with_its_estimates() {
    let run = swept(|depth| 2_000.0 * depth.min(16.0));
    let finding = found(&run, "knee");
    assert!((finding.numbers["knee"] / 16.0 - 1.0).abs() < 0.1, "{finding:?}");
    for estimate in ["power_knee", "asymptote_knee", "kneedle", "two_lines_knee"] {
        assert!((finding.numbers[estimate] / 16.0 - 1.0).abs() < 0.1, "{estimate}: {finding:?}");
    }
    assert!(finding.sentence.contains("4 estimates give"), "{}", finding.sentence);
    assert!(finding.sentence.starts_with("4k x1…128: the knee is at about"), "{}", finding.sentence);
    assert!(find(&run, "no-sharp-knee").is_none() && find(&run, "retrograde").is_none());
}

#[test]
fn a_slow_bend_is_said_to_have_no_sharp_knee() {
    let run = swept(|depth| 4_000.0 * depth.powf(0.4));
    assert!(find(&run, "knee").is_none());
    let finding = found(&run, "no-sharp-knee");
    assert!(finding.numbers["power_knee"] > 0.0);
    assert!(finding.sentence.len() < 250, "a finding is read, not studied: {}", finding.sentence);
}

#[test]
fn a_sweep_that_ends_before_the_storage_does_is_told() {
    let run = swept(|depth| 1_000.0 * depth);
    assert!(found(&run, "no-sharp-knee").sentence.contains("the sweep ends before"));
}

#[test]
fn a_fall_past_the_peak_is_retrograde() {
    let run = swept(|depth| 2_000.0 * depth / (1.0 + 0.02 * (depth - 1.0) + 0.001 * depth * (depth - 1.0)));
    let finding = found(&run, "retrograde");
    assert!(finding.sentence.contains("more load makes it slower"), "{}", finding.sentence);
    assert!(finding.numbers["fall_share"] > 0.2);
    // The square root of (1 - sigma) / kappa.
    assert!(finding.sentence.contains("puts the peak at 31"), "{}", finding.sentence);
    let bend = find(&run, "knee").or_else(|| find(&run, "no-sharp-knee")).unwrap();
    assert!(bend.sentence.contains("Universal Scalability Law"), "{}", bend.sentence);
    assert!((bend.numbers["usl_sigma"] - 0.02).abs() < 1e-3, "{bend:?}");
    assert!((bend.numbers["usl_kappa"] - 0.001).abs() < 1e-5, "{bend:?}");
}

#[test]
fn more_than_in_proportion_is_named() {
    let run = swept(|depth| if depth >= 4.0 { 3_000.0 * depth.min(16.0) } else { 2_000.0 * depth });
    assert!(found(&run, "superlinear").remedy.contains("lightest load"));
}

#[test]
fn other_sweeps_and_open_loops_have_no_knee() {
    let mut run = swept(|depth| 2_000.0 * depth.min(16.0));
    for point in &mut run.points {
        let depth = point.swept.remove("depth").unwrap();
        point.swept.insert("size".into(), depth);
    }
    assert_eq!(codes(&run), [] as [&str; 0]);
    let mut run = swept(|depth| 2_000.0 * depth.min(16.0));
    for workload in run.points.iter_mut().flat_map(|point| &mut point.workloads) {
        workload.classes[0].service = Some(workload.classes[0].response.clone());
    }
    assert!(find(&run, "knee").is_none());
}

#[test]
fn what_one_in_flight_already_does_needs_no_more() {
    let run = swept(|_| 2_000.0);
    assert_eq!(found(&run, "knee").numbers["knee"], 1.0);
    assert!(find(&run, "no-sharp-knee").is_none());
}
