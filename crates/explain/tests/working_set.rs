//! Caches that show in reads of growing spans.

use record::Run;
use record::sample::{self, Stream};
use units::convert::truncated;

use crate::{codes, find, found};

const MIB: u64 = 1 << 20;

/// Spans from 1 MiB to 1 GiB, half an octave apart, on a device whose reads take so long.
fn probe(response_ns: impl Fn(f64) -> f64) -> Run {
    let point = |half: u32| {
        let span = MIB as f64 * (f64::from(half) / 2.0).exp2();
        let median_ns = truncated::<u64>(response_ns(span));
        let per_s = 1_000_000_000 / median_ns;
        let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns, spread: 0.1 };
        let mut workload = sample::workload("main", &[stream]);
        workload.span_bytes = Some(truncated::<u64>(span));
        sample::point(half, &format!("{span:.0}"), vec![workload])
    };
    sample::run("caches", (0..=20).map(point).collect())
}

/// 64 MiB answer in 0.1 ms, what lies behind in 5 ms.
fn with_cache(span: f64) -> f64 {
    let held = (64.0 * MIB as f64 / span).min(1.0);
    100_000.0 * held + 5_000_000.0 * (1.0 - held)
}

#[test]
fn a_cache_is_told_with_its_size_and_goes_to_the_target() {
    let mut run = probe(with_cache);
    let finding = found(&run, "cache-seen");
    assert!((finding.numbers["size_bytes"] / (64.0 * MIB as f64) - 1.0).abs() < 0.1, "{finding:?}");
    assert!(finding.numbers["size_bytes_low"] <= finding.numbers["size_bytes_high"]);
    assert!(finding.remedy.contains("span = \""), "{}", finding.remedy);
    assert!(find(&run, "cache-suspected").is_none(), "small spans are meant here");
    explain::judge(&mut run);
    explain::judge(&mut run);
    let [cache] = &run.targets[0].caches[..] else { panic!("{:?}", run.targets[0].caches) };
    assert!((cache.size_bytes as f64 / (64.0 * MIB as f64) - 1.0).abs() < 0.1);
}

#[test]
fn a_look_that_sees_none_says_so() {
    let mut run = probe(|_| 120_000.0);
    assert!(found(&run, "cache-seen").sentence.starts_with("No cache detected"));
    explain::judge(&mut run);
    assert_eq!(run.targets[0].caches, []);
}

#[test]
fn other_loads_are_no_look_for_caches() {
    let mut deep = probe(with_cache);
    for point in &mut deep.points {
        point.workloads[0].mean_in_flight = 8.0;
    }
    assert!(!codes(&deep).contains(&"cache-seen".to_owned()));
    let mut few = probe(with_cache);
    few.points.truncate(6);
    assert!(!codes(&few).contains(&"cache-seen".to_owned()));
}

#[test]
fn repetitions_are_taken_together_and_incomplete_points_are_not() {
    let once = probe(with_cache);
    let mut twice = once.clone();
    twice.points.extend(once.points.iter().cloned());
    let numbers = |run: &Run| found(run, "cache-seen").numbers;
    assert_eq!(numbers(&twice), numbers(&once));
    let mut cut = once;
    cut.points.iter_mut().for_each(|point| point.complete = false);
    assert!(!codes(&cut).contains(&"cache-seen".to_owned()));
}

#[test]
fn seven_spans_are_a_look_and_its_own_cache_is_no_suspicion() {
    let mut run = probe(with_cache);
    run.points = run.points.into_iter().step_by(3).collect();
    assert_eq!(run.points.len(), 7);
    assert!(codes(&run).contains(&"cache-seen".to_owned()));
    let mut run = probe(with_cache);
    explain::judge(&mut run);
    assert_eq!(run.targets[0].caches.len(), 1);
    assert!(find(&run, "cache-suspected").is_none(), "small spans are meant here");
}
