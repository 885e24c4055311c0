//! Slow changes that SNIA's rule lets pass.

use record::{Outcome, Rounds, Run, Severity, Silence};
use units::convert::truncated;

use crate::{find, found, point, reads, workload};

/// The rates of the thirty seconds of the window.
fn rates(run: &mut Run, of: impl Fn(f64) -> f64) {
    let values = &mut point(run).series[0].values;
    values.iter_mut().enumerate().for_each(|(second, value)| *value = of(second as f64));
}

#[test]
fn a_slow_fall_is_told_although_the_common_rule_calls_it_steady() {
    let mut run = reads();
    rates(&mut run, |second| 20_000.0 - 40.0 * second);
    let finding = found(&run, "trend");
    assert!(finding.sentence.contains("fell by 5.6 %"), "{}", finding.sentence);
    assert!(finding.sentence.contains("SNIA's rule calls it steady"), "{}", finding.sentence);
    assert!(find(&run, "not-steady").is_none() && find(&run, "drift").is_none());
    rates(&mut run, |second| 20_000.0 - 10.0 * second);
    assert!(find(&run, "trend").is_none(), "less than the interval tells anyway");
}

#[test]
fn a_load_that_begins_beside_another_is_told_and_no_longer_warm_up_advised() {
    let mut run = reads();
    rates(&mut run, |second| 20_000.0 - 40.0 * second);
    let mut log = workload(&mut run).clone();
    log.name = "log".into();
    let (from_ns, started_ns) = (workload(&mut run).measured_from_ns, point(&mut run).started_ns);
    log.spec.stop.start = units::Nanos::new(from_ns - started_ns) + units::Nanos::from_secs(6);
    point(&mut run).workloads.push(log);
    let finding = found(&run, "trend");
    assert!(finding.sentence.ends_with("\"log\" begins 6.00 s into its window."), "{}", finding.sentence);
    assert!(!finding.remedy.contains("Warm up"), "{}", finding.remedy);
}

#[test]
fn seconds_are_compared_whatever_the_last_part_of_one_came_to() {
    let mut run = reads();
    workload(&mut run).measured_ns += 2_000_000;
    let series = &mut point(&mut run).series[0];
    let last = series.at_ns[series.at_ns.len() - 1];
    for (after_ns, value) in [(300_000, 90_000.0), (900_000, 0.0), (2_000_000, 400.0)] {
        series.at_ns.push(last + after_ns);
        series.values.push(value);
    }
    assert!(["drift", "trend", "not-steady"].iter().all(|code| find(&run, code).is_none()));
}

#[test]
fn nothing_from_outside_is_suspected_of_a_virtual_array() {
    let mut run = reads();
    rates(&mut run, |second| if second % 12.0 < 6.0 { 26_000.0 } else { 14_000.0 });
    workload(&mut run).stalls =
        vec![Silence { from_ns: workload(&mut run).measured_from_ns, length_ns: 5_000_000_000 }];
    let told = |run: &Run| ["not-steady", "stall"].map(|code| found(run, code).remedy).concat();
    assert!(told(&run).contains("external I/O") && told(&run).contains("the kernel's log"), "{}", told(&run));
    run.world = record::World::Array;
    assert!(!told(&run).contains("external") && !told(&run).contains("kernel"), "{}", told(&run));
}

#[test]
fn seconds_that_no_sample_tells_of_are_seconds_of_nothing() {
    let mut run = reads();
    let series = &mut point(&mut run).series[0];
    series.at_ns.truncate(22);
    series.values.truncate(22);
    assert!(find(&run, "drift").is_some());
}

#[test]
fn silence_is_named_with_its_length_and_beginning_and_fails_the_check_of_steadiness() {
    let mut run = reads();
    let from_ns = workload(&mut run).measured_from_ns;
    let silence = |from_s: f64, length_s: f64| Silence {
        from_ns: from_ns + truncated::<u64>(from_s * 1e9),
        length_ns: truncated::<u64>(length_s * 1e9),
    };
    workload(&mut run).stalls = vec![silence(2.0, 1.1), silence(13.2, 12.4)];
    let finding = found(&run, "stall");
    assert!(finding.sentence.contains("No completion for 12.4 s from 13.2 s on"), "{}", finding.sentence);
    assert!(
        finding.sentence.contains("2 such stalls, 13.5 s in all: 45 % of the window"),
        "{}",
        finding.sentence
    );
    assert_eq!(finding.severity, Severity::Warning);
    explain::judge(&mut run);
    let checks = &run.points[0].grading.as_ref().expect("it is graded").checks;
    let steady = checks.iter().find(|check| check.name == "steady").expect("it is made");
    assert_eq!(steady.outcome, Outcome::Failed);
    workload(&mut run).stalls = vec![silence(10.0, 16.0)];
    assert_eq!(found(&run, "stall").severity, Severity::Invalid);
}

#[test]
fn requests_that_take_long_are_no_silence() {
    let mut run = reads();
    let own = workload(&mut run);
    own.stalls = vec![Silence { from_ns: own.measured_from_ns, length_ns: 2_000_000_000 }];
    own.classes[0].ops = 200;
    assert!(find(&run, "stall").is_none());
}

#[test]
fn a_clear_drift_is_told_once() {
    let mut run = reads();
    rates(&mut run, |second| 20_000.0 - 200.0 * second);
    assert!(find(&run, "drift").is_some() && find(&run, "trend").is_none());
}

#[test]
fn what_goes_up_and_down_is_not_steady_by_the_common_rule() {
    let mut run = reads();
    rates(
        &mut run,
        |second| if truncated::<u32>(second / 6.0).is_multiple_of(2) { 20_000.0 } else { 14_000.0 },
    );
    let finding = found(&run, "not-steady");
    assert!((finding.numbers["range_share"] - 6_000.0 / 17_600.0).abs() < 1e-9, "{finding:?}");
    assert!(find(&run, "trend").is_none());
}

#[test]
fn rounds_that_still_go_one_way_are_told_although_they_are_steady() {
    let mut run = reads();
    let rounds = |values: [f64; 5]| Rounds {
        phase: "4k".into(),
        figure: "iops".into(),
        at: Default::default(),
        values: values.into(),
        most: 25,
        steady: true,
        window: None,
    };
    run.rounds = vec![rounds([100.0, 98.0, 97.0, 95.0, 94.0])];
    let finding = found(&run, "trend");
    assert!(finding.sentence.contains("lower than the one before"), "{}", finding.sentence);
    run.rounds = vec![rounds([100.0, 98.0, 99.0, 95.0, 94.0])];
    assert!(find(&run, "trend").is_none(), "one out of order may be chance");
}

#[test]
fn the_line_through_five_parts_is_told_as_a_part_of_their_mean() {
    let mut run = reads();
    let fifths = [20_000.0, 14_000.0, 20_000.0, 14_000.0, 19_000.0];
    rates(&mut run, |second| fifths[truncated::<usize>(second / 6.0).min(4)]);
    let finding = found(&run, "not-steady");
    // 200 less from one to the next, four times, of 17,400.
    assert!((finding.numbers["line_share"] - 800.0 / 17_400.0).abs() < 1e-9, "{finding:?}");
}
