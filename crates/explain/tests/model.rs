//! Runs held against a model.

use record::Figure;

fn with_rate(value: f64, half: f64) -> record::Run {
    let mut run = crate::reads();
    let figure = Figure { value, low: Some(value - half), high: Some(value + half) };
    crate::workload(&mut run).summary[0].ops_per_s = figure;
    run
}

fn codes(measured: f64, half: f64) -> Vec<String> {
    let run = with_rate(measured, half);
    let model = with_rate(10_000.0, 0.0);
    let held = explain::model::held(&run, &model.points);
    assert_eq!(held.len(), 1);
    assert!((held[0].ratio.value - measured / 10_000.0).abs() < 1e-9);
    explain::model::findings(&run, &held).into_iter().map(|finding| finding.code).collect()
}

#[test]
fn a_point_far_below_the_model_is_told() {
    assert_eq!(codes(6_200.0, 100.0), ["below-model"]);
    let run = with_rate(6_200.0, 100.0);
    let held = explain::model::held(&run, &with_rate(10_000.0, 0.0).points);
    let finding = &explain::model::findings(&run, &held)[0];
    assert_eq!(finding.sentence, "The rate is 62 % of the modelled rate (95 % CI 61 % to 63 %).");
    assert_eq!(finding.point, Some(run.points[0].index));
}

#[test]
fn a_point_far_above_the_model_is_told() {
    assert_eq!(codes(13_000.0, 100.0), ["above-model"]);
}

#[test]
fn what_lies_within_what_a_model_is_believed_to_is_no_finding() {
    assert_eq!(codes(9_000.0, 10.0), [""; 0]);
    assert_eq!(codes(11_000.0, 10.0), [""; 0]);
}

#[test]
fn a_wide_interval_is_no_evidence() {
    assert_eq!(codes(7_000.0, 2_000.0), [""; 0]);
}

#[test]
fn a_point_that_the_model_was_not_asked_is_left_out() {
    assert_eq!(explain::model::held(&crate::reads(), &[]), []);
}
