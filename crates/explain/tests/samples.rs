//! Enough was measured to say so much.

use record::names::fact;
use record::sample::{self, Stream};
use record::{Figure, Run, Severity};

use crate::{find, found, point, reads, set, workload};

fn at_rate(per_s: u64) -> Run {
    let stream = Stream { op: "read", size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
    sample::run("quick", vec![sample::point(0, "4k", vec![sample::workload("main", &[stream])])])
}

#[test]
fn too_few_requests_for_the_tail_are_told_with_how_many_it_takes() {
    assert!(find(&at_rate(400), "few-samples").is_none());
    let note = found(&at_rate(100), "few-samples");
    assert_eq!(note.severity, Severity::Note);
    assert!(note.sentence.contains("3,000 requests are too few for p99.9:"), "{}", note.sentence);
    assert!(
        note.remedy.contains("10,000 requests or more") && note.remedy.contains("run = \"100s\""),
        "{}",
        note.remedy
    );
    let warning = found(&at_rate(20), "few-samples");
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.sentence.contains("p99 and p99.9"), "{}", warning.sentence);
}

#[test]
fn a_fitted_model_has_no_percentiles_and_more_requests_are_not_asked_for() {
    let mut run = at_rate(20);
    run.targets[0].facts.insert(fact::FITTED.into(), "rates and mean response times".into());
    let note = found(&run, "percentiles-not-modelled");
    assert_eq!(note.severity, Severity::Note);
    assert!(note.sentence.contains("fitted to rates and mean response times"), "{}", note.sentence);
    assert!(find(&run, "few-samples").is_none());
    assert!(find(&at_rate(20), "percentiles-not-modelled").is_none());
}

#[test]
fn a_headline_that_cannot_be_shown_weighs_more() {
    let mut run = at_rate(400);
    point(&mut run).headline = "p99.99".into();
    let finding = found(&run, "few-samples");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.remedy.contains("100,000 requests"), "{}", finding.remedy);
}

#[test]
fn a_short_window_is_noted_and_a_very_short_one_is_warned_of() {
    let mut run = reads();
    workload(&mut run).measured_ns = 10_000_000_000;
    assert!(find(&run, "short-run").is_none());
    workload(&mut run).measured_ns = 4_000_000_000;
    assert_eq!(found(&run, "short-run").severity, Severity::Note);
    workload(&mut run).measured_ns = 500_000_000;
    assert_eq!(found(&run, "short-run").severity, Severity::Warning);
}

#[test]
fn a_wide_interval_is_told_with_how_much_longer_it_takes() {
    let mut run = reads();
    let wide = |half: f64| Figure { value: 1_000.0, low: Some(1_000.0 - half), high: Some(1_000.0 + half) };
    workload(&mut run).summary[0].ops_per_s = wide(49.0);
    assert!(find(&run, "wide-interval").is_none());
    workload(&mut run).summary[0].ops_per_s = wide(100.0);
    let finding = found(&run, "wide-interval");
    assert!(finding.sentence.contains("± 10 %"), "{}", finding.sentence);
    assert!(finding.remedy.contains("Measure 4.0 times as long"), "{}", finding.remedy);
    workload(&mut run).summary[0].ops_per_s = wide(53.0);
    assert!(found(&run, "wide-interval").remedy.contains("Measure 1.2 times as long for ± 5 %"));
    workload(&mut run).summary[0].ops_per_s = wide(400.0);
    assert!(found(&run, "wide-interval").remedy.contains("much longer"));
    // What counts is the figure the point is about.
    point(&mut run).headline = "mb_per_s".into();
    assert!(find(&run, "wide-interval").is_none());
}

/// The rate over the window, second by second.
fn with_rates(of: impl Fn(usize) -> f64) -> Run {
    let mut run = reads();
    let series = run.points[0].series.iter_mut().find(|series| series.name == "read ops").unwrap();
    series.values.iter_mut().enumerate().for_each(|(second, value)| *value = of(second));
    run
}

#[test]
fn a_rate_that_falls_over_the_window_is_not_steady() {
    let falling = with_rates(|second| 20_000.0 - 200.0 * second as f64);
    let finding = found(&falling, "drift");
    assert!(finding.sentence.contains("fell by 21 %"), "{}", finding.sentence);
    let slowly = with_rates(|second| 20_000.0 - 60.0 * second as f64);
    assert!(find(&slowly, "drift").is_none());
}

#[test]
fn a_rate_that_jumps_about_has_no_trend() {
    let wild =
        with_rates(|second| if (second * 7) % 5 < 2 { 8_000.0 } else { 28_000.0 + second as f64 * 150.0 });
    assert!(find(&wild, "drift").is_none());
}

#[test]
fn only_the_window_counts_for_the_trend() {
    let mut run = with_rates(|second| if second < 6 { 1_000.0 } else { 20_000.0 });
    assert!(find(&run, "drift").is_some());
    // The same rates, of which the first six seconds were warm-up.
    workload(&mut run).measured_from_ns += 6_000_000_000;
    workload(&mut run).measured_ns -= 6_000_000_000;
    assert!(find(&run, "drift").is_none());
}

#[test]
fn rounds_that_ended_without_a_steady_figure_are_told() {
    let mut run = reads();
    let window = record::Window {
        first_round: 21,
        last_round: 25,
        mean: 1000.0,
        range: 300.0,
        range_allowed: 200.0,
        slope: -75.0,
        intercept: 2725.0,
        excursion: 300.0,
        excursion_allowed: 100.0,
    };
    run.rounds = vec![record::Rounds {
        phase: "cells".into(),
        figure: "iops".into(),
        at: Default::default(),
        values: vec![1000.0; 25],
        most: 25,
        steady: false,
        window: Some(window),
    }];
    let told = find(&run, "not-steady").expect("it is not steady");
    assert!(told.sentence.contains("after 25 rounds") && told.sentence.contains("30 %"), "{}", told.sentence);
    // An interrupted phase had no chance, and a steady one needs no word.
    run.rounds[0].values.pop();
    assert!(find(&run, "not-steady").is_none());
    run.rounds[0].values.push(1000.0);
    run.rounds[0].steady = true;
    assert!(find(&run, "not-steady").is_none());
}

#[test]
fn repetitions_that_disagree_are_told_once() {
    let mut run = reads();
    let mut again = run.points[0].clone();
    (again.index, again.repeat) = (1, 2);
    run.points.push(again);
    assert!(find(&run, "repeats-differ").is_none());
    run.points[1].workloads[0].summary[0].ops_per_s.value = 16_000.0;
    let all = explain::findings(&run);
    let told: Vec<_> = all.iter().filter(|finding| finding.code == "repeats-differ").collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].sentence.contains("16,000/s to 20,000/s") && told[0].sentence.contains("25 %"),
        "{}",
        told[0].sentence
    );
    set(&mut run, "depth", "1");
    run.points[1].name = "another".into();
    assert!(find(&run, "repeats-differ").is_none());
}

#[test]
fn a_headline_that_is_shown_anyway_is_named_once() {
    let mut run = at_rate(20);
    point(&mut run).headline = "p99".into();
    let sentence = found(&run, "few-samples").sentence;
    assert!(sentence.contains("for p99 and p99.9:"), "{sentence}");
}

#[test]
fn more_than_a_day_is_not_advised() {
    let mut run = at_rate(100);
    let mut remedy = |per_s: f64| {
        workload(&mut run).summary[0].ops_per_s.value = per_s;
        found(&run, "few-samples").remedy
    };
    assert!(remedy(0.12).contains("run = \"83334s\""), "{}", remedy(0.12));
    // A day to the second, and a rate of nothing.
    assert_eq!(remedy(0.115_740_75), "Measure 10,000 requests or more.");
    assert_eq!(remedy(0.05), "Measure 10,000 requests or more.");
    assert_eq!(remedy(0.0), "Measure 10,000 requests or more.");
}

#[test]
fn two_seconds_are_short_and_a_twentieth_is_not_wide() {
    let mut run = reads();
    workload(&mut run).measured_ns = 2_000_000_000;
    assert_eq!(found(&run, "short-run").severity, Severity::Note);
    let mut run = reads();
    workload(&mut run).summary[0].ops_per_s =
        Figure { value: 1_000.0, low: Some(950.0), high: Some(1_050.0) };
    assert!(find(&run, "wide-interval").is_none());
}

#[test]
fn three_repeats_are_held_against_each_other_as_two_are() {
    let mut run = at_rate(1_000);
    for index in 1..3 {
        let mut again = run.points[0].clone();
        (again.index, again.repeat) = (index, index + 1);
        again.workloads[0].summary[0].ops_per_s.value *= 1.0 + 0.1 * f64::from(index);
        run.points.push(again);
    }
    assert!(found(&run, "repeats-differ").sentence.starts_with("3 repeats gave 1,000/s to 1,200/s"));
}
