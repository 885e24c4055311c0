//! How sure a figure of one side is: from its repeats, from others' repeats, or from its seconds.

use std::collections::BTreeMap;

use record::{Basis, Metric};
use stats::difference::{Estimate, Noise};

use super::cells::Cell;
use super::{floor, stretches};

/// No two figures differ by less than the width of a histogram's bucket: the variance of a value that lies
/// anywhere in one of 1/1,024.
pub(super) const RESOLUTION: f64 = 1.0 / (12.0 * 1024.0 * 1024.0);

/// What repeats of all cells and sides show together, for each figure.
pub(super) fn noise(cells: &[Vec<Cell<'_>>]) -> BTreeMap<String, Noise> {
    let mut groups: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for cell in cells.iter().flatten() {
        for metric in cell.metrics() {
            groups.entry(metric.name()).or_default().push(cell.values(metric));
        }
    }
    let pooled = |groups: Vec<Vec<f64>>| Noise::of(groups.iter().map(Vec::as_slice));
    groups.into_iter().filter_map(|(name, groups)| Some((name, pooled(groups)?))).collect()
}

/// The estimates of both figures, and their basis.
pub(super) fn estimates(
    first: &Cell<'_>,
    second: &Cell<'_>,
    metric: Metric,
    noise: Option<Noise>,
) -> (Basis, Option<(Estimate, Estimate)>) {
    let repeated = [first, second].map(|cell| cell.values(metric).len() >= 2);
    let of = |cell| estimate(cell, metric, noise);
    let estimates = of(first).zip(of(second));
    let basis = match (repeated, noise) {
        _ if estimates.is_none() => Basis::Nothing,
        ([true, true], _) => Basis::Repeats,
        (_, Some(_)) => Basis::Noise,
        _ => Basis::Seconds,
    };
    (basis, estimates)
}

/// The range of one side's figure itself: its interval; where requests depend on each other too much for one, what all
/// stretches of the window lie between; and where there are too few, what a percentile is not below.
pub(super) fn own(cell: &Cell<'_>, metric: Metric, noise: Option<Noise>) -> (Option<f64>, Option<f64>) {
    if let Some(estimate) = estimate(cell, metric, noise) {
        let interval = estimate.interval();
        return (Some(interval.low), Some(interval.high));
    }
    match stretches::range(cell, metric) {
        Some(range) => (range.low, range.high),
        None => (floor::of_responses(cell, metric), None),
    }
}

/// One side's figure: from its repeats, or from the one measurement and what others' repeats show.
///
/// It is never surer than its seconds and the resolution of a histogram allow: two repeats may agree by chance.
pub(super) fn estimate(cell: &Cell<'_>, metric: Metric, noise: Option<Noise>) -> Option<Estimate> {
    let values = cell.values(metric);
    let within = cell.within(metric);
    let found = match (values.as_slice(), noise) {
        ([], _) => None,
        ([one], Some(noise)) => {
            let of_noise = Estimate::new(*one, noise.variance, noise.freedom);
            within.map(|within| within.at_least(noise.variance, noise.freedom)).or(of_noise)
        }
        ([_], None) => cell.alone(metric),
        (several, _) => {
            let count = several.len() as f64;
            let repeats = Estimate::of_repeats(several)?;
            Some(within.map_or(repeats, |within| repeats.at_least(within.variance / count, within.freedom)))
        }
    };
    let found = found.map(|found| found.at_least(RESOLUTION, f64::INFINITY));
    debug_assert!(found.is_none_or(|found| found.variance >= RESOLUTION));
    found
}

#[cfg(test)]
mod tests {
    use super::super::cells;
    use super::*;
    use record::sample::{self, Stream};

    #[test]
    fn repeats_that_agree_by_chance_are_as_sure_as_the_mean_of_so_many_measurements() {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.0 };
        let mut run =
            sample::run("quick", vec![sample::point(0, "p", vec![sample::workload("a", &[stream])])]);
        let rate = |at: usize| if (at / 6).is_multiple_of(2) { 900.0 } else { 1_100.0 };
        run.points[0].series[0].values.iter_mut().enumerate().for_each(|(at, value)| *value = rate(at));
        let cells = cells::of(&[&run, &run, &run]);
        let own = cells[0].within(Metric::Iops).expect("its seconds vary");
        let found = estimate(&cells[0], Metric::Iops, None).expect("three repeats");
        assert_eq!((found.variance, found.freedom), (own.variance / 3.0, own.freedom));
    }
}
