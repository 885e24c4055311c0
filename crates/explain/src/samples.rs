//! Whether enough was measured for the figures shown.

use std::collections::BTreeMap;

use record::names::fact;
use record::{Figure, Point, PointKind, Run, Severity, WorkloadResult, World};
use units::convert::truncated;
use units::{Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent, several};

/// Percentiles every table shows.
const SHOWN: [(f64, &str); 2] = [(0.99, "p99"), (0.999, "p99.9")];
/// A percentile needs so many requests beyond it.
const BEYOND: f64 = 10.0;

/// A model that was fitted to rates and means gives these alone.
pub(crate) fn percentiles_not_modelled(run: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let of = run.targets.iter().find_map(|target| target.facts.get(fact::FITTED))?;
    workload.total()?.response.as_ref()?;
    let sentence = format!("Percentiles are not given: the model was fitted to {of} only.");
    let remedy = "Compare rates and means with this model; measure percentiles on the storage itself.";
    Some(Draft::new(Code::PercentilesNotModelled, Severity::Note, sentence).remedy(remedy))
}

pub(crate) fn few_samples(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    if run.targets.iter().any(|target| target.facts.contains_key(fact::FITTED)) {
        return None;
    }
    let total = workload.total()?;
    let response = total.response.as_ref()?;
    let headline = point.headline.strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
    let headline = headline.map(|percent| (percent / 100.0, point.headline.as_str()));
    let extra = headline.filter(|(q, _)| SHOWN.iter().all(|(shown, _)| (shown - q).abs() >= 1e-9));
    let missing: Vec<(f64, &str)> =
        SHOWN.into_iter().chain(extra).filter(|(q, _)| response.quantile(*q).is_none()).collect();
    let hardest = missing.iter().map(|(q, _)| *q).reduce(f64::max)?;
    let needed = (BEYOND / (1.0 - hardest)).ceil();
    let names: Vec<&str> = missing.iter().map(|(_, name)| *name).collect();
    let grave = names.contains(&"p99") || headline.is_some_and(|(_, name)| names.contains(&name));
    let sentence = format!(
        "{} are too few for {}: fewer than ten exceed it.",
        several(response.count, "request"),
        names.join(" and ")
    );
    let severity = if grave { Severity::Warning } else { Severity::Note };
    let seconds = (needed / total.ops_per_s.value).ceil();
    let remedy = if seconds.is_finite() && seconds < 86_400.0 {
        format!(
            "Measure {} or more: at this rate `run = \"{seconds:.0}s\"`.",
            several(truncated::<u64>(needed), "request")
        )
    } else {
        format!("Measure {} or more.", several(truncated::<u64>(needed), "request"))
    };
    let draft = Draft::new(Code::FewSamples, severity, sentence).remedy(remedy);
    Some(draft.number("samples", response.count as f64).number("samples_needed", needed))
}

/// Below this a window holds hardly any whole seconds to take an interval from.
const SHORT: Nanos = Nanos::from_secs(10);
const VERY_SHORT: Nanos = Nanos::from_secs(2);

pub(crate) fn short_run(_: &Run, _: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let measured = Nanos::new(workload.measured_ns);
    if measured >= SHORT {
        return None;
    }
    let severity = if measured < VERY_SHORT { Severity::Warning } else { Severity::Note };
    let sentence =
        format!("The measured window is {measured}: too short for events that occur once in ten seconds.");
    let of_files = workload.spec.tree.is_some();
    let remedy = match of_files {
        true => "Raise `count`: each file is created once, so more files take longer.",
        false => "Set `run = \"30s\"` or more.",
    };
    let draft = Draft::new(Code::ShortRun, severity, sentence).remedy(remedy);
    Some(draft.number("measured_s", measured.as_secs_f64()))
}

/// With a wider interval two devices cannot be distinguished.
const WIDE: f64 = 0.05;
/// Beyond this the interval itself is too rough to say how much longer.
const TIMES_TOLD: f64 = 25.0;

pub(crate) fn wide_interval(_: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let total = workload.total()?;
    let (figure, what): (Figure, &str) = match point.headline.as_str() {
        "mb_per_s" => (total.bytes_per_s, "throughput"),
        _ => (total.ops_per_s, "rate"),
    };
    let half = figure.relative_half_width().filter(|half| *half > WIDE)?;
    let sentence = format!("95 % CI of the {what}: ± {}. It varied from second to second.", percent(half));
    // The interval shrinks with the square root of the time.
    let times = (half / WIDE).powi(2);
    debug_assert!(times > 1.0, "what is too wide was not measured for long enough");
    // Up to the next tenth, of many times to the next whole.
    let (times, digits) =
        if times < 9.5 { ((times * 10.0 - 1e-6).ceil() / 10.0, 1) } else { (times.ceil(), 0) };
    let longer = if times <= TIMES_TOLD {
        format!("{times:.digits$} times as long for ± 5 %")
    } else {
        "much longer".into()
    };
    let remedy = match point.is_filling() {
        true => "Fill the write cache first: the rate falls while it fills (`cache-filling`).".into(),
        false => format!("Measure {longer}, and find what makes it vary."),
    };
    let draft = Draft::new(Code::WideInterval, Severity::Warning, sentence).remedy(remedy);
    Some(draft.number("half_width_share", half))
}

/// Repetitions further apart than this do not measure the same thing.
const REPEATS: f64 = 0.10;

/// What differs among the repeats of each point, reported once, by the index of the last of them.
pub(crate) fn repeats_differ(run: &Run) -> BTreeMap<u32, Draft> {
    let mut all: BTreeMap<(&str, &str), Vec<&Point>> = BTreeMap::new();
    for point in run.points.iter().filter(|point| point.kind == PointKind::Load) {
        all.entry((&point.phase, &point.name)).or_default().push(point);
    }
    all.into_values()
        .filter_map(|repeats| Some((repeats.last()?.index, differences(run, &repeats)?)))
        .collect()
}

fn differences(run: &Run, repeats: &[&Point]) -> Option<Draft> {
    if repeats.len() < 2 {
        return None;
    }
    let rate = |point: &&Point| -> f64 {
        point
            .workloads
            .iter()
            .filter_map(|workload| workload.total())
            .map(|total| total.ops_per_s.value)
            .sum()
    };
    let rates: Vec<f64> = repeats.iter().filter(|repeat| repeat.complete).map(rate).collect();
    let (low, high) = (rates.iter().copied().reduce(f64::min)?, rates.iter().copied().reduce(f64::max)?);
    let apart = (high - low) / low;
    if !apart.is_finite() || apart <= REPEATS {
        return None;
    }
    let sentence = format!(
        "{} gave {}/s to {}/s: {} apart.",
        several(rates.len() as u64, "repeat"),
        OpsPerSecond::new(low),
        OpsPerSecond::new(high),
        percent(apart)
    );
    let remedy = match run.world {
        World::Host => {
            "Find what changed in between: a cache that filled, a device that slowed down, external I/O."
        }
        World::Array => {
            "Find what changed in between: a cache that filled, flash that collects garbage, background work."
        }
    };
    let draft = Draft::new(Code::RepeatsDiffer, Severity::Warning, sentence).remedy(remedy);
    Some(draft.number("lowest_per_s", low).number("highest_per_s", high))
}
