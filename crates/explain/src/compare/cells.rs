//! The cells of one side: what was measured of one phase, swept values, workload and operation, once or several times.
//!
//! **Invariant:** a point that was cut short is in no cell, nor one of a round before its phase was steady.

use std::collections::BTreeMap;

use record::{Compared, Ops, Point, PointKind, Run, World, is_named, phase_title};
use spec::title_with_set;
use stats::difference::Estimate;

use record::Metric;
use units::OpsPerSecond;

use super::measured::Measured;
use super::strata::Strata;

/// What makes two cells the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    /// What other factors of a campaign were set to; empty where there are none.
    setting: String,
    pub phase: &'a str,
    swept: Vec<(&'a str, &'a str)>,
    pub workload: String,
    pub op: Ops,
}

/// Measurements of one thing.
pub(super) struct Cell<'a> {
    pub key: Key<'a>,
    /// The phase with its swept values.
    pub name: String,
    /// Whether it is all operations of the workload.
    pub total: bool,
    /// Whether the workload is the only one of its point.
    alone: bool,
    measured: Vec<Measured<'a>>,
}

/// The cells of `runs`, which count as repeats, in the order in which they were first measured.
pub(super) fn of<'a>(runs: &[&'a Run]) -> Vec<Cell<'a>> {
    within(runs, &Strata::default())
}

/// The same, where runs count as repeats only at the same setting of `strata`.
pub(super) fn within<'a>(runs: &[&'a Run], strata: &Strata) -> Vec<Cell<'a>> {
    let mut cells: Vec<Cell<'a>> = Vec::new();
    for run in runs {
        for point in run.points.iter().filter(|point| counts(run, point)) {
            let setting = strata.setting(run, point);
            for workload in &point.workloads {
                for (position, summary) in workload.summary.iter().enumerate() {
                    let is_real = run.world == World::Host;
                    let measured = Measured { point, workload, summary, is_real };
                    add(&mut cells, measured, &setting, position == 0);
                }
            }
        }
    }
    cells
}

/// The name that the number of a round has among swept values. Rounds are repeats.
const ROUND: &str = "round";

fn counts(run: &Run, point: &Point) -> bool {
    let whole = point.kind == PointKind::Load && point.complete;
    // Of a search the rates that it found are compared, not its trials.
    whole && run.search.is_none() && is_of_window(run, point)
}

/// Whether the point is of one of the rounds that the steady-state rule was last applied to.
fn is_of_window(run: &Run, point: &Point) -> bool {
    let round = point.swept.get(ROUND).and_then(|round| round.parse::<u32>().ok());
    let rounds = run.rounds.iter().find(|rounds| rounds.phase == point.phase);
    match (round, rounds.and_then(|rounds| rounds.window)) {
        (Some(round), Some(window)) => (window.first_round..=window.last_round).contains(&round),
        _ => true,
    }
}

fn add<'a>(cells: &mut Vec<Cell<'a>>, measured: Measured<'a>, setting: &str, total: bool) {
    let Measured { point, workload, summary, .. } = measured;
    let key = Key {
        setting: setting.to_owned(),
        phase: &point.phase,
        swept: swept(point).collect(),
        workload: workload.name.clone(),
        op: summary.op,
    };
    match cells.iter_mut().find(|cell| cell.key == key) {
        Some(cell) => cell.measured.push(measured),
        None => cells.push(Cell {
            key,
            name: match setting {
                "" => name(point),
                setting => format!("{}, {setting}", name(point)),
            },
            total,
            alone: point.workloads.len() == 1,
            measured: vec![measured],
        }),
    }
}

fn swept(point: &Point) -> impl Iterator<Item = (&str, &str)> {
    let pairs = point.swept.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    pairs.filter(|(key, _)| *key != ROUND)
}

/// The point's name, without the number of its round.
fn name(point: &Point) -> String {
    if !point.swept.contains_key(ROUND) {
        return point.name.clone();
    }
    let values: Vec<String> = swept(point).map(|(key, value)| format!("{key} {value}")).collect();
    let filled =
        |named: &str| swept(point).find(|(key, _)| is_named(key, named)).map(|(_, value)| value.to_owned());
    let title = match phase_title(&point.phase, filled) {
        title if title != point.phase => title,
        title => format!("{title} {}", values.join(", ")).trim_end().to_owned(),
    };
    title_with_set(title, &point.set)
}

impl<'a> Cell<'a> {
    /// Whether `row` compares what was measured here.
    pub fn is_of(&self, row: &Compared) -> bool {
        self.name == row.cell && self.key.workload == row.workload && self.key.op == row.op
    }

    /// Whether `point` is one of its measurements.
    pub fn has(&self, point: &Point) -> bool {
        self.measured.iter().any(|measured| std::ptr::eq(measured.point, point))
    }

    /// The figures that its first measurement has.
    pub fn metrics(&self) -> Vec<Metric> {
        debug_assert!(!self.measured.is_empty(), "a cell is made for a measurement");
        self.measured.first().map(Measured::metrics).unwrap_or_default()
    }

    /// What was measured, in order.
    pub fn measured(&self) -> &[Measured<'a>] {
        &self.measured
    }

    /// One for each measurement that has it.
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        self.measured.iter().filter_map(|measured| measured.value(metric)).collect()
    }

    /// How sure a single measurement is by its own seconds: the first, with the mean variance of all.
    pub fn within(&self, metric: Metric) -> Option<Estimate> {
        let each: Vec<Estimate> =
            self.measured.iter().filter_map(|measured| measured.within(metric)).collect();
        let first = each.first()?;
        let variance = each.iter().map(|one| one.variance).sum::<f64>() / each.len() as f64;
        Estimate::new(first.value, variance, first.freedom)
    }

    /// How sure it is if it was measured once and nothing else was repeated.
    pub fn alone(&self, metric: Metric) -> Option<Estimate> {
        self.measured.first()?.alone(metric)
    }

    /// Whole seconds of its shortest measurement.
    pub fn seconds(&self) -> u64 {
        let each = self.measured.iter().map(|measured| measured.workload.measured_ns / 1_000_000_000);
        each.min().unwrap_or(0)
    }

    /// Its rate with the interval that the record has of it, `248 (241 to 254)`, where it was measured once.
    pub fn own_interval(&self) -> Option<String> {
        let [only] = self.measured.as_slice() else { return None };
        let rate = only.summary.ops_per_s;
        let [value, low, high] = [rate.value, rate.low?, rate.high?].map(OpsPerSecond::new);
        Some(format!("{value} ({low} to {high}) IOPS"))
    }

    /// Keys of the workload as text, in the first measurement.
    pub fn spec(&self) -> Option<BTreeMap<&'static str, String>> {
        self.measured.first().map(|measured| measured.workload.spec.texts().into_iter().collect())
    }

    /// Its name, and the workload where that is not the only one.
    pub fn title(&self) -> String {
        if self.alone { self.name.clone() } else { format!("{} / {}", self.name, self.key.workload) }
    }
}

#[cfg(test)]
mod tests {
    use record::sample;

    use super::*;

    #[test]
    fn a_round_is_named_by_its_phase_and_by_what_is_swept_besides_where_that_is_not_in_it() {
        let name = |phase: &str, swept: &[(&str, &str)]| {
            let mut point = sample::point(0, "as it was measured", Vec::new());
            point.phase = phase.into();
            point.swept = swept.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
            name(&point)
        };
        assert_eq!(name("reads", &[("depth", "4")]), "as it was measured");
        assert_eq!(name("reads", &[("round", "3")]), "reads");
        assert_eq!(name("reads", &[("round", "3"), ("depth", "4")]), "reads depth 4");
        assert_eq!(name("reads x{depth}", &[("round", "3"), ("depth", "4")]), "reads x4");
    }

    #[test]
    fn repeats_that_were_cut_short_are_in_no_cell_and_the_variance_of_the_others_is_their_mean() {
        let stream =
            sample::Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.5 };
        let mut run = sample::run(
            "p",
            (0..3)
                .map(|index| sample::point(index, "p", vec![sample::workload("main", &[stream])]))
                .collect(),
        );
        run.points[2].complete = false;
        for (at, value) in run.points[1].series[0].values.iter_mut().enumerate() {
            *value *= if at.is_multiple_of(2) { 1.1 } else { 0.9 };
        }
        let cells = of(&[&run]);
        assert_eq!(cells[0].values(Metric::Iops).len(), 2);
        let each: Vec<Estimate> =
            cells[0].measured.iter().filter_map(|one| one.within(Metric::Iops)).collect();
        let within = cells[0].within(Metric::Iops).map(|found| found.variance);
        assert!(each[1].variance > each[0].variance);
        assert_eq!(within, Some((each[0].variance + each[1].variance) / 2.0));
    }
}
