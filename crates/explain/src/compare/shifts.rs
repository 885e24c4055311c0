//! By how much the figures that show a pattern changed from some runs to others: as they were measured, and as a model has
//! them with a change of one of its parts.
//!
//! **Invariant:** the noise of a figure of the model is the same whichever part is changed, but for the number of seeds.

use record::{Metric, Point, Run, World};
use spec::Pace;
use stats::difference::{Estimate, Noise};

use super::cells::Cell;
use super::host_time::{self, HOST_TIME};
use super::pairs::{self, FREEDOM_ENOUGH, Pair};

/// By how much a figure changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The phase with its swept values, the workload where there are several, and the operation.
    pub cell: String,
    /// `iops`, `mean`, `p99`, …
    pub metric: String,
    /// The logarithm of the figure over that before.
    pub log: f64,
    /// The variance of that by noise alone.
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub freedom: f64,
}

impl Shift {
    /// The point that the figure is of; none of what a request takes of the host.
    pub(super) fn point(&self) -> Option<&str> {
        let load = self.cell.rsplit_once(' ').map_or(self.cell.as_str(), |(load, _)| load);
        (self.metric != HOST_TIME).then(|| load.split_once(" / ").map_or(load, |(point, _)| point))
    }

    /// What figures that count together as one have in common.
    pub(super) fn counts_with(&self) -> &str {
        if self.metric == HOST_TIME { HOST_TIME } else { &self.cell }
    }
}

/// By how much each figure of `runs` differs from that of `base`, in the order of the first run's points: of each load
/// whose rate is not given the rate, of each operation the mean, the median and the 99th percentile of the response, and of each
/// point what a request takes of the host's processors.
pub fn shifts(base: &[&Run], runs: &[&Run]) -> Vec<Shift> {
    let (base, runs) = (pairs::of_each(base), pairs::of_each(runs));
    let pairs = pairs::pairs(&base, &runs, |_| true, signature);
    let of_requests = pairs.iter().filter_map(|pair| shift(pair, pairs::noise(pair, &pairs)));
    of_requests.chain(host_time::shifts(&base, &runs)).collect()
}

/// The points of a model as a run of the plan of `like`.
fn as_run(like: &Run, points: &[Point]) -> Run {
    let (search, rounds, findings) = (None, Vec::new(), Vec::new());
    Run { points: points.to_vec(), search, rounds, findings, world: World::Array, ..like.clone() }
}

/// The figures of a model with each of several changes, against those of the model as it is: points of each seed of either.
/// `like` is a run of the same plan.
///
/// What seeds make of a figure is learnt from all changes together: learnt of each by itself, from a few seeds, it would
/// count for or against a change as much as what that foretells.
pub fn modelled(like: &Run, unchanged: &[Vec<Point>], changed: &[&[Vec<Point>]]) -> Vec<Vec<Shift>> {
    let like = Run { points: Vec::new(), ..like.clone() };
    let runs = |all: &[Vec<Point>]| all.iter().map(|points| as_run(&like, points)).collect::<Vec<_>>();
    let (unchanged, changed) = (runs(unchanged), changed.iter().map(|one| runs(one)).collect::<Vec<_>>());
    let base = pairs::of_each(&unchanged.iter().collect::<Vec<_>>());
    let changed: Vec<_> =
        changed.iter().map(|runs| pairs::of_each(&runs.iter().collect::<Vec<_>>())).collect();
    let each: Vec<Vec<Pair<'_, '_>>> =
        changed.iter().map(|runs| pairs::pairs(&base, runs, |_| true, signature)).collect();
    let noise = |pair: &Pair<'_, '_>, own: &[Pair<'_, '_>]| {
        let of_all = pairs::noise_of_many(pair, &each).filter(|noise| noise.freedom >= FREEDOM_ENOUGH);
        of_all.or_else(|| pairs::noise(pair, own))
    };
    let both = each.iter().zip(&changed);
    both.map(|(pairs, runs)| {
        let of_requests = pairs.iter().filter_map(|pair| shift(pair, noise(pair, pairs)));
        of_requests.chain(host_time::shifts(&base, runs)).collect()
    })
    .collect()
}

/// The figures of a cell that show a pattern. What all operations of a load have together beside each by itself is no
/// more than its rate.
fn signature(cell: &Cell<'_>) -> Vec<Metric> {
    let Some(measured) = cell.measured().first() else { return Vec::new() };
    let is_closed = measured.workload.spec.pace == Pace::Closed;
    let is_leaf = !cell.total || measured.workload.summary.len() == 1;
    let rate = (cell.total && is_closed).then_some(Metric::Iops);
    let times = [Metric::Mean, Metric::Quantile(0.5), Metric::Quantile(0.99)];
    rate.into_iter().chain(times.into_iter().filter(|_| is_leaf)).collect()
}

fn shift(pair: &Pair<'_, '_>, noise: Option<Noise>) -> Option<Shift> {
    // Without noise a figure says nothing: how far it is off by chance is not known.
    let (base, value) = pairs::side(pair, 0, noise).zip(pairs::side(pair, 1, noise))?;
    let sum = Estimate::new(value.value / base.value, value.variance, value.freedom)?
        .and(base.variance, base.freedom);
    Some(Shift {
        cell: format!("{} {}", pair.cell.title(), pair.cell.key.op),
        metric: pair.metric.name(),
        log: sum.value.ln(),
        variance: sum.variance,
        freedom: sum.freedom,
    })
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    /// A point of one workload with that median.
    fn points(median_ns: u64) -> Vec<Point> {
        let reads = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns, spread: 0.5 };
        vec![sample::point(0, "p", vec![sample::workload("main", &[reads])])]
    }

    #[test]
    fn a_figure_of_the_model_is_as_noisy_with_one_change_as_with_another() {
        let seeds = |medians: [u64; 3]| medians.map(points).to_vec();
        let unchanged = seeds([400_000, 404_000, 396_000]);
        // Of three seeds each, one change happens to show much noise and one little; a third has a single seed.
        let (noisy, even) = (seeds([800_000, 900_000, 700_000]), seeds([800_000, 801_000, 799_000]));
        let single = vec![points(800_000)];
        let like = sample::run("p", points(400_000));
        let all = modelled(&like, &unchanged, &[&noisy, &even, &single]);
        let variance =
            |of: &[Shift]| of.iter().find(|one| one.metric == "mean").map_or(0.0, |one| one.variance);
        let [noisy, even, single] = [&all[0], &all[1], &all[2]].map(|of| variance(of));
        assert!(noisy > 0.0 && (noisy / even - 1.0).abs() < 1e-9, "{noisy} {even}");
        assert!((single / even - 2.0).abs() < 1e-9, "a third of a seed's variance and all of it: {single}");
        // A change by itself has but its own seeds to learn from.
        let alone = variance(&modelled(&like, &unchanged, &[&seeds([800_000, 801_000, 799_000])])[0]);
        assert!(alone < even / 4.0, "{alone} {even}");
    }
}
