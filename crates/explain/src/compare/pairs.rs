//! Figures of two sides, a value for each run of either, and how much a run differs from one that is equal to it.

use record::{Metric, Run};
use stats::difference::{Estimate, Noise};
use stats::geometric_mean;

use super::cells::{self, Cell};
use super::estimate::{RESOLUTION, estimate};

/// With fewer degrees of freedom a cell's own noise is not relied on alone.
pub(super) const FREEDOM_ENOUGH: f64 = 4.0;

/// The cells of each run by itself.
pub(super) fn of_each<'a>(runs: &[&'a Run]) -> Vec<Vec<Cell<'a>>> {
    runs.iter().map(|run| cells::of(&[*run])).collect()
}

/// One figure of one cell: a value for each run of either side.
pub(super) struct Pair<'c, 'a> {
    pub cell: &'c Cell<'a>,
    pub metric: Metric,
    pub base: Vec<f64>,
    pub runs: Vec<f64>,
    /// Of groups of runs that are equal to each other, and of neither side.
    equal: Vec<Vec<f64>>,
    /// The cell of the first run of either side.
    first: [&'c Cell<'a>; 2],
    /// Whether it was measured on real storage.
    pub is_real: bool,
}

/// The figures `metrics` of each cell that `is_wanted`, where both sides have them.
pub(super) fn pairs<'c, 'a>(
    base: &'c [Vec<Cell<'a>>],
    runs: &'c [Vec<Cell<'a>>],
    is_wanted: impl Fn(&Cell<'_>) -> bool,
    metrics: impl Fn(&Cell<'_>) -> Vec<Metric>,
) -> Vec<Pair<'c, 'a>> {
    let Some(first) = base.first() else { return Vec::new() };
    let mut pairs = Vec::new();
    for cell in first.iter().filter(|cell| is_wanted(cell)) {
        let same = |of: &'c [Vec<Cell<'a>>]| -> Vec<&'c Cell<'a>> {
            of.iter().filter_map(|run| same_in(run, cell)).collect()
        };
        let (base, runs) = (same(base), same(runs));
        for metric in metrics(cell) {
            let Some((one, other)) = base.first().zip(runs.first()) else { continue };
            let pair = Pair {
                cell,
                metric,
                base: values(&base, metric),
                runs: values(&runs, metric),
                equal: Vec::new(),
                first: [*one, *other],
                is_real: cell.measured().iter().any(|one| one.is_real),
            };
            if !pair.base.is_empty() && !pair.runs.is_empty() {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// The same cell of another run.
pub(super) fn same_in<'c, 'a>(run: &'c [Cell<'a>], cell: &Cell<'_>) -> Option<&'c Cell<'a>> {
    run.iter().find(|other| other.key == cell.key)
}

fn values(cells: &[&Cell<'_>], metric: Metric) -> Vec<f64> {
    cells.iter().filter_map(|cell| geometric_mean(&cell.values(metric))).collect()
}

impl Pair<'_, '_> {
    pub(super) fn groups(&self) -> [&[f64]; 2] {
        [&self.base, &self.runs]
    }

    /// Takes the noise from groups of equal runs where neither side has two of its own: what was measured beside says
    /// more than what was measured at another time.
    pub(super) fn learn(&mut self, equal: &[Vec<Vec<Cell<'_>>>]) {
        if self.groups().iter().any(|group| group.len() > 1) {
            return;
        }
        let of_group = |group: &Vec<Vec<Cell<'_>>>| {
            let cells: Vec<&Cell<'_>> = group.iter().filter_map(|run| same_in(run, self.cell)).collect();
            values(&cells, self.metric)
        };
        self.equal = equal.iter().map(of_group).filter(|values| values.len() > 1).collect();
    }

    pub(super) fn is_learnt(&self) -> bool {
        !self.equal.is_empty()
    }

    /// All values that differ by noise alone.
    fn repeated(&self) -> impl Iterator<Item = &[f64]> {
        self.groups().into_iter().chain(self.equal.iter().map(Vec::as_slice))
    }
}

/// What runs of one side differ by among each other: of the cell, and where that rests on too few runs of all cells,
/// whichever is more.
pub(super) fn noise(pair: &Pair<'_, '_>, all: &[Pair<'_, '_>]) -> Option<Noise> {
    let own = Noise::of(pair.repeated());
    if own.is_some_and(|own| own.freedom >= FREEDOM_ENOUGH) {
        return own;
    }
    let pooled = Noise::of(all.iter().filter(|one| one.metric == pair.metric).flat_map(Pair::repeated));
    [own, pooled].into_iter().flatten().reduce(|one, other| {
        // The pooled one has more freedom; it counts unless the cell itself shows more.
        if other.variance >= one.variance
            || other.freedom >= FREEDOM_ENOUGH && one.variance < 2.0 * other.variance
        {
            other
        } else {
            one
        }
    })
}

/// What runs differ by among each other in the figure of `pair`, where many sides are compared with one: that one's runs and
/// all others'.
pub(super) fn noise_of_many(pair: &Pair<'_, '_>, each: &[Vec<Pair<'_, '_>>]) -> Option<Noise> {
    let is_same = |other: &&Pair<'_, '_>| std::ptr::eq(pair.cell, other.cell) && other.metric == pair.metric;
    let others = each.iter().flat_map(|pairs| pairs.iter().find(is_same)).map(|other| other.runs.as_slice());
    Noise::of(std::iter::once(pair.base.as_slice()).chain(others))
}

/// One side's figure: the geometric mean of its runs.
pub(super) fn side(pair: &Pair<'_, '_>, number: usize, noise: Option<Noise>) -> Option<Estimate> {
    let values = pair.groups()[number];
    let value = geometric_mean(values)?;
    let count = values.len() as f64;
    let found = match noise {
        Some(noise) => Estimate::new(value, noise.variance / count, noise.freedom)?,
        // How sure the measurement is by itself.
        None => estimate(pair.first[number], pair.metric, None)?,
    };
    // Enough runs show all that differs from run to run. What drifts within each of them alike is no part of that.
    let is_short = noise.is_none_or(|noise| noise.freedom < FREEDOM_ENOUGH);
    let within = is_short.then(|| pair.first[number].within(pair.metric)).flatten();
    let found = within.map_or(found, |within| found.at_least(within.variance / count, within.freedom));
    Some(found.at_least(RESOLUTION, f64::INFINITY))
}
