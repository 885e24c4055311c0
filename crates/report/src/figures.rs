//! The table of a run: one row for each point, workload and operation.

use std::collections::BTreeSet;
use std::ops::Add;

use record::names::fact;
use record::{
    CpuUse, Grade, LatencySummary, Metric, Op, OpSummary, Ops, Point, PointKind, Run, WorkloadResult,
    quantile_name,
};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::grade;
use crate::metric::quantiles;
use crate::style::Look;
use crate::table::{Cell, Column, Table};
use crate::words::{half_width, harmless, thousands, without_interval};

/// What one row is about.
struct Line<'a> {
    indent: usize,
    name: String,
    summary: Option<&'a OpSummary>,
    /// Rate and throughput of all workloads of a point together, where it has several.
    sums: Option<[f64; 2]>,
    cpu: Option<Cost>,
    errors: u64,
    /// The figure to look at first; only in rows of totals.
    headline: Option<Metric>,
    /// Of the point; only in its first row, and only where those of the run's points differ.
    grade: Option<Grade>,
}

/// Processor time of the tool.
#[derive(Clone, Copy)]
struct Cost {
    us_per_io: Option<f64>,
    cores: Option<f64>,
}

/// The table, and why cells of it are blank.
pub(crate) struct Figures {
    pub table: Table,
    /// Whether a percentile is missing because there were too few requests.
    pub too_few: bool,
    /// How many rates have no interval, and why; `None` where all have one, and where nothing was measured.
    pub no_interval: Option<String>,
}

/// The table of all points of `run`.
pub(crate) fn figures(run: &Run) -> Figures {
    let headlines: Vec<Metric> = run.points.iter().map(|point| Metric::of(&point.headline)).collect();
    let quantiles = quantiles(&headlines);
    let grades: BTreeSet<Grade> =
        run.points.iter().filter_map(|point| Some(point.grading.as_ref()?.grade)).collect();
    let differ = grades.len() > 1;
    let lines: Vec<Line<'_>> = run.points.iter().flat_map(|point| of_point(point, differ)).collect();
    let missing = |latency: &LatencySummary| quantiles.iter().any(|q| latency.quantile(*q).is_none());
    let latencies = lines.iter().filter_map(|line| line.summary?.response.as_ref());
    let summaries = || lines.iter().filter_map(|line| line.summary);
    let reasons = summaries().filter_map(|summary| summary.why_no_interval(Metric::Iops));
    Figures {
        no_interval: without_interval(summaries().count(), reasons),
        too_few: !run.targets.iter().any(|target| target.facts.contains_key(fact::FITTED))
            && latencies.into_iter().any(missing),
        table: Table {
            columns: columns(&quantiles, &headlines),
            rows: lines.iter().map(|line| cells(line, &quantiles)).collect(),
        },
    }
}

/// Which columns there are, and in which order they go where there is no room: what the tool itself took first, then
/// the mean, the longest, the far tail, the median, the interval, and so on; a figure that is some point's headline goes
/// last.
fn columns(quantiles: &[f64], headlines: &[Metric]) -> Vec<Column> {
    let dispensable = |metric: Metric, turn: u8| if headlines.contains(&metric) { 1 } else { turn };
    let mut columns = vec![
        Column::words("point"),
        Column::figures("IOPS", dispensable(Metric::Iops, 2)),
        Column::figures("95 % CI", 5),
        Column::figures("MB/s", dispensable(Metric::Throughput, 3)),
        Column::figures("mean", dispensable(Metric::Mean, 9)),
    ];
    for q in quantiles {
        let turn = match q {
            0.5 => 6,
            0.99 => 4,
            _ => 7,
        };
        let wanted = headlines.iter().any(|metric| metric.is_quantile(*q));
        columns.push(Column::figures(&quantile_name(*q), if wanted { 1 } else { turn }));
    }
    columns.extend([
        Column::figures("max", dispensable(Metric::Max, 8)),
        Column::figures("CPU/IO", 10),
        Column::figures("cores", 11),
        Column::figures("errors", 1),
        Column { dispensable: 3, ..Column::words("grade") },
    ]);
    columns
}

fn of_point(point: &Point, differ: bool) -> Vec<Line<'_>> {
    let grade = point.grading.as_ref().map(|grading| grading.grade);
    let headline = Metric::of(&point.headline);
    let errors: u64 = point.workloads.iter().map(|workload| workload.errors).sum();
    let cpu = point.cpu.map(|cpu| {
        cost(cpu, settled(&point.workloads), point.ended_ns - point.started_ns.min(point.ended_ns))
    });
    let head = Line {
        indent: 0,
        name: name_of(point),
        summary: None,
        sums: None,
        cpu,
        errors,
        headline: None,
        grade: grade.filter(|_| differ),
    };
    match point.workloads.as_slice() {
        [only] => {
            let mut lines = of_workload(only, String::new(), 0, headline);
            if let Some(first) = lines.first_mut() {
                (first.name, first.cpu, first.errors, first.grade) =
                    (head.name, head.cpu, head.errors, head.grade);
            }
            lines
        }
        several => {
            let is_rate = headline.more_is_better();
            let sum = |metric| point.figure(metric).unwrap_or(0.0);
            let sums = Some([sum(Metric::Iops), sum(Metric::Throughput)]).filter(|sums| sums[0] > 0.0);
            let mut lines = vec![Line { sums, headline: is_rate.then_some(headline), ..head }];
            for workload in several {
                let mut inner = of_workload(workload, harmless(&workload.name), 1, headline);
                // The figure to look at first is the sum of rates; times have none.
                inner.iter_mut().filter(|_| is_rate).for_each(|line| line.headline = None);
                lines.append(&mut inner);
            }
            lines
        }
    }
}

/// First the workload as a whole, then its operations where there are several.
fn of_workload(workload: &WorkloadResult, name: String, indent: usize, headline: Metric) -> Vec<Line<'_>> {
    let taken = workload.workers.iter().filter_map(|worker| worker.cpu).reduce(Add::add);
    // Cores need the time of the whole point, which a workload does not know.
    let cpu = taken.map(|taken| Cost { cores: None, ..cost(taken, workload.completed, 0) });
    let total = Line {
        indent,
        name,
        summary: workload.total(),
        sums: None,
        cpu,
        errors: workload.errors,
        headline: Some(headline),
        grade: None,
    };
    let parts = workload.summary.iter().skip(1).map(|summary| Line {
        indent: indent + 1,
        name: operation(workload, summary.op),
        summary: Some(summary),
        sums: None,
        cpu: None,
        errors: 0,
        headline: None,
        grade: None,
    });
    std::iter::once(total).chain(parts).collect()
}

/// The word of an operation; of a flush by another call than fsync with that.
fn operation(workload: &WorkloadResult, op: Ops) -> String {
    match (op == Op::Flush, workload.spec.durability.flush.call()) {
        (false, _) | (true, "fsync") => op.to_string(),
        (true, call) => format!("{op} ({call})"),
    }
}

fn settled(workloads: &[WorkloadResult]) -> u64 {
    workloads.iter().map(|workload| workload.completed).sum()
}

fn cost(cpu: CpuUse, ios: u64, elapsed_ns: u64) -> Cost {
    Cost {
        us_per_io: (ios > 0).then(|| cpu.total_s() * 1e6 / ios as f64),
        cores: (elapsed_ns > 0).then(|| cpu.total_s() * 1e9 / elapsed_ns as f64),
    }
}

/// The point's name; which repetition it was, where it was repeated; and whether it was cut short.
pub(crate) fn name_of(point: &Point) -> String {
    let mut name = harmless(&point.name);
    if point.repeat > 1 {
        name += &format!(" #{}", point.repeat);
    }
    let took = Nanos::new(point.ended_ns.saturating_sub(point.started_ns));
    // What a model does at an instant takes no time, and nothing was measured of it.
    if point.kind == PointKind::State && !took.is_zero() {
        name += &format!(" (took {took})");
    }
    if !point.complete {
        name += " (cut short)";
    }
    name
}

fn cells(line: &Line<'_>, quantiles: &[f64]) -> Vec<Cell> {
    let cell = |metric: Option<Metric>, text: Option<String>| {
        let look = if metric.is_some() && metric == line.headline { Look::Headline } else { Look::Plain };
        Cell::of(look, text.unwrap_or_default())
    };
    let response = line.summary.and_then(|summary| summary.response.as_ref());
    let rate = line.summary.map(|summary| summary.ops_per_s.value).or(line.sums.map(|[rate, _]| rate));
    let bytes = line.summary.map(|summary| summary.bytes_per_s.value).or(line.sums.map(|[_, bytes]| bytes));
    let mut cells = vec![
        Cell::plain(format!("{}{}", "  ".repeat(line.indent), line.name)),
        cell(Some(Metric::Iops), rate.map(|rate| OpsPerSecond::new(rate).to_string())),
        Cell::of(Look::Faint, line.summary.and_then(plus_minus).unwrap_or_default()),
        cell(Some(Metric::Throughput), bytes.and_then(throughput)),
        cell(Some(Metric::Mean), response.map(|latency| nanos(latency.mean_ns))),
    ];
    cells.extend(quantiles.iter().map(|q| {
        let metric = line.headline.filter(|metric| metric.is_quantile(*q));
        let figure = response.and_then(|latency| latency.quantile(*q));
        cell(metric, figure.map(|figure| Nanos::new(figure.value_ns).to_string()))
    }));
    cells.extend([
        cell(Some(Metric::Max), response.map(|latency| Nanos::new(latency.max_ns).to_string())),
        cell(None, line.cpu.and_then(|cpu| cpu.us_per_io).map(|us| nanos(us * 1e3))),
        cell(None, line.cpu.and_then(|cpu| cpu.cores).map(|cores| format!("{cores:.2}"))),
        Cell::of(Look::Wrong, if line.errors > 0 { thousands(line.errors) } else { String::new() }),
        line.grade.map_or_else(Cell::default, |grade| Cell::of(grade::look(grade), grade.to_string())),
    ]);
    cells
}

fn nanos(ns: f64) -> String {
    Nanos::from_secs_f64(ns / 1e9).to_string()
}

/// Half the interval of the rate in per cent: `±1.4 %`.
fn plus_minus(summary: &OpSummary) -> Option<String> {
    summary.ops_per_s.relative_half_width().map(|half| format!("±{}", half_width(half)))
}

/// Nothing where nothing is moved, as by flushes.
fn throughput(rate: f64) -> Option<String> {
    (rate > 0.0).then(|| BytesPerSecond::new(rate).to_string().trim_end_matches(" MB/s").to_owned())
}
