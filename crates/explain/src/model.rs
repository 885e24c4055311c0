//! A record compared with a model of the same hardware.
//!
//! The caller runs the same points on the model and passes in its figures.

use std::collections::BTreeMap;

use record::{Figure, Finding, Held, Point, Run, Severity, WorkloadResult};

use crate::Code;
use crate::draft::{Draft, percent};

/// The error that a model may have: what models fitted to arrays of known figures stay within on loads that they
/// were not fitted to (benches/RESULTS.md, "Calibration").
pub const BELIEVED: f64 = 0.15;

/// Each load of `run` that `modelled` has too, in the order of the run.
pub fn held(run: &Run, modelled: &[Point]) -> Vec<Held> {
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
            all.push(Held { index: point.index, name, measured, modelled, ratio });
        }
    }
    all
}

/// What differs from the model by more than both the interval of the measurement and the error of a model.
pub fn findings(run: &Run, held: &[Held]) -> Vec<Finding> {
    held.iter().filter_map(|one| finding(run, one)).collect()
}

fn finding(run: &Run, held: &Held) -> Option<Finding> {
    let Held { index, ratio, measured, modelled, .. } = held;
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
