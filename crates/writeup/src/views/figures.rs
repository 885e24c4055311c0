//! All figures in one table.

use crate::document::{Block, Cell, Column, Section, Table};
use record::{Metric, quantile_name};

use crate::measured::{self, Measured};

use super::Subject;

const METRICS: [Metric; 7] = [
    Metric::Iops,
    Metric::Throughput,
    Metric::Mean,
    Metric::Quantile(0.5),
    Metric::Quantile(0.99),
    Metric::Quantile(0.999),
    Metric::Max,
];

/// A row for each point, workload and operation of every run; no table without any.
pub(super) fn section(subject: &Subject<'_>) -> Section {
    let mut columns = vec![Column::words("point")];
    let several = subject.labels.len() > 1;
    columns.extend(several.then(|| Column::words("run")));
    let points = subject.measured();
    // Where each point has one, its name says nothing that the point's does not.
    let names = points.iter().any(|one| one.point.workloads.len() > 1);
    columns.extend(names.then(|| Column::words("workload")));
    columns.push(Column::words("operation"));
    columns.extend(METRICS.map(|metric| {
        let name = match metric {
            Metric::Quantile(q) => quantile_name(q),
            Metric::Mean => "mean".into(),
            Metric::Max => "max".into(),
            Metric::Iops => "IOPS".into(),
            Metric::Throughput => "MB/s".into(),
        };
        Column::numbers(name, measured::unit(metric))
    }));
    columns.push(Column::words("grade"));
    let rows: Vec<Vec<Cell>> =
        points.iter().flat_map(|one| of_point(subject, *one, (several, names))).collect();
    let is_any = !rows.is_empty();
    let table = Table { title: "all figures".into(), columns, rows };
    Section {
        heading: "All figures".into(),
        blocks: is_any.then_some(Block::Table(table)).into_iter().collect(),
    }
}

/// The rows of a point: with the label of its run where there are several, and with the names of workloads.
fn of_point(subject: &Subject<'_>, one: Measured<'_>, (several, names): (bool, bool)) -> Vec<Vec<Cell>> {
    let grade = one.point.grading.as_ref().map(|grading| grading.grade.to_string()).unwrap_or_default();
    let mut name = one.point.name.clone();
    if one.point.repeat > 1 {
        name += &format!(" #{}", one.point.repeat);
    }
    if !one.point.complete {
        name += " (cut short)";
    }
    let mut rows = Vec::new();
    for (place, workload) in one.point.workloads.iter().enumerate() {
        for (line, summary) in workload.summary.iter().enumerate() {
            let mut cells = vec![Cell::words(&name)];
            cells.extend(several.then(|| Cell::words(subject.label(one.run))));
            cells.extend(names.then(|| Cell::words(&workload.name)));
            cells.push(Cell::words(summary.op.name()));
            cells.extend(METRICS.map(|metric| match one.of_workload(place, line, metric) {
                // What moves nothing has no throughput.
                Some((number, _)) if metric == Metric::Throughput && number.value == 0.0 => Cell::Empty,
                Some(figure) if metric == Metric::Iops => {
                    let interval = one.interval(figure.1, summary, metric);
                    Cell::Number(figure.0, interval)
                }
                figure => Cell::number(figure.map(|(number, _)| number)),
            }));
            cells.push(Cell::words(&grade));
            rows.push(cells);
        }
    }
    rows
}
