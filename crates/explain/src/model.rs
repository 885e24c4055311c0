//! A record compared with a model of the same hardware.
//!
//! The caller runs the same points on the model and passes in its figures.

use std::collections::BTreeMap;

use record::{Figure, Finding, ModelComparison, Point, Run, Severity, WorkloadResult};

use crate::Code;
use crate::draft::{Draft, percent};

/// The error that a model may have: what models fitted to arrays of known figures stay within on loads that they
/// were not fitted to (benches/RESULTS.md, "Calibration").
pub const BELIEVED: f64 = 0.15;

/// Each load of `run` that `modelled` has too, in the order of the run.
pub fn held(run: &Run, modelled: &[Point]) -> Vec<ModelComparison> {
    let mut all = Vec::new();
    for point in &run.points {
        let Some(model) =
            modelled.iter().find(|model| model.index == point.index && model.repeat == point.repeat)
        else {
            continue;
        };
        for workload in &point.workloads {
            let same = model.workloads.iter().find(|other| other.name == workload.name);
            let both = workload.total().zip(same.and_then(WorkloadResult::total));
            let Some((measured, modelled)) = both else { continue };
            let (measured, modelled) = (measured.ops_per_s, modelled.ops_per_s.value);
            if measured.value <= 0.0 || modelled <= 0.0 {
                continue;
            }
            let name = match point.workloads.len() {
                1 => point.name.clone(),
                _ => format!("{}: {}", point.name, workload.name),
            };
            let ratio = Figure {
                value: measured.value / modelled,
                low: measured.low.map(|low| low / modelled),
                high: measured.high.map(|high| high / modelled),
            };
            all.push(ModelComparison { index: point.index, name, measured, modelled, ratio });
        }
    }
    all
}

/// What differs from the model by more than both the interval of the measurement and the error of a model.
pub fn findings(run: &Run, held: &[ModelComparison]) -> Vec<Finding> {
    held.iter().filter_map(|one| finding(run, one)).collect()
}

fn finding(run: &Run, held: &ModelComparison) -> Option<Finding> {
    let ModelComparison { index, ratio, measured, modelled, .. } = held;
    let point = run.points.iter().find(|point| point.index == *index)?;
    let (low, high) = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
    let (code, severity, remedy) = if high < 1.0 - BELIEVED {
        (
            Code::BelowModel,
            Severity::Warning,
            "Check what has changed since the fit: a failed or slow member, a cache without its battery, a setting, \
             external I/O. `fathom explain` without --model names the bottleneck that the record shows.",
        )
    } else if low > 1.0 + BELIEVED {
        (
            Code::AboveModel,
            Severity::Note,
            "Trust the measurement if the load lies outside the loads of the fit. Otherwise fit the model again: \
             something became faster, or a cache served requests that it did not serve during the fit.",
        )
    } else {
        return None;
    };
    let interval = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" (95 % CI {} to {})", percent(low), percent(high)),
        _ => String::new(),
    };
    let sentence = format!("The rate is {} of the modelled rate{interval}.", percent(ratio.value));
    let draft = Draft::new(code, severity, sentence).remedy(remedy);
    let numbers = BTreeMap::from([
        ("measured_ops_per_s", measured.value),
        ("modelled_ops_per_s", *modelled),
        ("ratio", ratio.value),
    ]);
    let draft = numbers.into_iter().fold(draft, |draft, (key, value)| draft.number(key, value));
    Some(draft.about(point))
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    /// One point of these workloads, each with a rate of 1,000 ± 50 times its share.
    fn run(workloads: &[(&str, f64)]) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.1 };
        let workload = |(name, times): &(&str, f64)| {
            let mut workload = sample::workload(name, &[stream]);
            let figure = |value| value * times;
            let (low, high) = (Some(figure(950.0)), Some(figure(1_050.0)));
            workload.summary[0].ops_per_s = Figure { value: figure(1_000.0), low, high };
            workload
        };
        sample::run("quick", vec![sample::point(2, "p", workloads.iter().map(workload).collect())])
    }

    #[test]
    fn each_workload_is_held_against_the_one_of_its_name_in_the_same_point_and_repetition() {
        let (measured, model) = (run(&[("a", 3.0), ("b", 1.0)]), run(&[("b", 4.0), ("a", 2.0)]));
        let both = held(&measured, &model.points);
        let told: Vec<_> = both.iter().map(|one| (one.name.as_str(), one.index, one.modelled)).collect();
        assert_eq!(told, [("p: a", 2, 2_000.0), ("p: b", 2, 4_000.0)]);
        let ratio = Figure { value: 1.5, low: Some(2_850.0 / 2_000.0), high: Some(3_150.0 / 2_000.0) };
        assert_eq!((both[0].ratio, both[0].measured.value), (ratio, 3_000.0));
        let one = held(&run(&[("a", 1.0)]), &model.points);
        assert_eq!(one.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["p"]);
        for change in [|point: &mut Point| point.index = 3, |point: &mut Point| point.repeat += 1] {
            let mut other = model.clone();
            change(&mut other.points[0]);
            assert_eq!(held(&measured, &other.points), []);
        }
        assert_eq!(held(&run(&[("a", 0.0)]), &model.points), [], "nothing was measured");
        assert_eq!(held(&measured, &run(&[("a", 0.0)]).points), [], "nothing was modelled");
    }

    #[test]
    fn a_rate_whose_whole_interval_lies_beyond_the_error_of_a_model_is_told() {
        let told = |value: f64, low: Option<f64>, high: Option<f64>| {
            let mut held = held(&run(&[("a", 1.0)]), &run(&[("a", 1.0)]).points);
            held[0].ratio = Figure { value, low, high };
            findings(&run(&[("a", 1.0)]), &held).pop()
        };
        let code = |value, low, high| told(value, low, high).map(|finding| finding.code);
        let is = |code: Code| Some(code.name().to_owned());
        assert_eq!(code(1.0 - BELIEVED, None, None), None);
        assert_eq!(code(0.849, None, None), is(Code::BelowModel));
        assert_eq!(code(1.0 + BELIEVED, None, None), None);
        assert_eq!(code(1.151, None, None), is(Code::AboveModel));
        assert_eq!(code(0.5, Some(0.1), Some(0.86)), None);
        assert_eq!(code(0.5, Some(0.1), Some(0.84)), is(Code::BelowModel));
        assert_eq!(code(1.5, Some(1.14), Some(2.0)), None);
        assert_eq!(code(1.5, Some(1.16), Some(2.0)), is(Code::AboveModel));
        let below = told(0.5, None, None).expect("it is half of it");
        assert_eq!(
            (below.sentence.as_str(), below.point),
            ("The rate is 50 % of the modelled rate.", Some(2))
        );
        assert_eq!(below.severity, Severity::Warning);
        let above = told(1.5, Some(1.4), Some(1.6)).expect("it is half as much again");
        assert_eq!(above.sentence, "The rate is 150 % of the modelled rate (95 % CI 140 % to 160 %).");
        assert_eq!(above.severity, Severity::Note);
        let numbers: Vec<(&str, f64)> =
            above.numbers.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        assert_eq!(
            numbers,
            [("measured_ops_per_s", 1_000.0), ("modelled_ops_per_s", 1_000.0), ("ratio", 1.5)]
        );
        let of_another = held(&run(&[("a", 1.0)]), &run(&[("a", 9.0)]).points);
        let elsewhere = ModelComparison { index: 7, ..of_another[0].clone() };
        assert_eq!(findings(&run(&[("a", 1.0)]), &[elsewhere]), []);
    }
}
