//! The cells of one side: what was measured of one phase, swept values, workload and operation, once or several times.
//!
//! **Invariant:** a point that was cut short is in no cell.

use std::collections::BTreeMap;

use record::{OpSummary, Point, PointKind, Run, WorkloadResult};
use stats::difference::Estimate;

use super::measured::{Measured, Metric};

/// What makes two cells the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    phase: &'a str,
    swept: &'a BTreeMap<String, String>,
    pub workload: String,
    pub op: String,
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
    let mut cells: Vec<Cell<'a>> = Vec::new();
    let is_whole = |point: &&Point| point.kind == PointKind::Load && point.complete;
    for run in runs {
        for point in run.points.iter().filter(is_whole).filter(|point| crate::search::is_result(run, point)) {
            for workload in &point.workloads {
                for (position, summary) in workload.summary.iter().enumerate() {
                    add(&mut cells, point, workload, summary, position == 0);
                }
            }
        }
    }
    cells
}

fn add<'a>(
    cells: &mut Vec<Cell<'a>>,
    point: &'a Point,
    workload: &'a WorkloadResult,
    summary: &'a OpSummary,
    total: bool,
) {
    let key = Key {
        phase: &point.phase,
        swept: &point.swept,
        workload: workload.name.clone(),
        op: summary.op.clone(),
    };
    let measured = Measured { point, workload, summary };
    match cells.iter_mut().find(|cell| cell.key == key) {
        Some(cell) => cell.measured.push(measured),
        None => cells.push(Cell {
            key,
            name: point.name.clone(),
            total,
            alone: point.workloads.len() == 1,
            measured: vec![measured],
        }),
    }
}

impl<'a> Cell<'a> {
    /// The figures that its first measurement has.
    pub fn metrics(&self) -> Vec<Metric> {
        self.measured.first().map(Measured::metrics).unwrap_or_default()
    }

    /// One for each measurement that has it.
    pub fn values(&self, metric: Metric) -> Vec<f64> {
        self.measured.iter().filter_map(|measured| measured.value(metric)).collect()
    }

    /// How sure a single measurement is by its own seconds: the first, with the mean variance of all.
    pub fn within(&self, metric: Metric) -> Option<Estimate> {
        let each: Vec<Estimate> =
            self.measured.iter().filter_map(|measured| measured.estimate(metric)).collect();
        let first = each.first()?;
        let variance = each.iter().map(|one| one.variance).sum::<f64>() / each.len() as f64;
        Estimate::new(first.value, variance, first.freedom)
    }

    /// Keys of the workload as text, in the first measurement.
    pub fn spec(&self) -> Option<&'a BTreeMap<String, String>> {
        self.measured.first().map(|measured| &measured.workload.spec)
    }

    /// Its name, and the workload where that is not the only one.
    pub fn title(&self) -> String {
        if self.alone { self.name.clone() } else { format!("{} / {}", self.name, self.key.workload) }
    }
}
