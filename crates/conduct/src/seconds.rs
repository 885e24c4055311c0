//! The intervals of many workers put together: one series for each operation, and the rates of whole seconds.

use std::collections::{BTreeMap, BTreeSet};

use record::Series;
use stats::Histogram;
use units::{Instant, Nanos};
use workload::tally::{Action, Class, ClassInterval, Interval};

/// All intervals of a workload by their ends, workers merged.
///
/// Workers cut their intervals at the same instants, because they start together; the last one may differ.
pub struct Seconds {
    rows: BTreeMap<Instant, Row>,
}

#[derive(Default)]
struct Row {
    from: Instant,
    measured: bool,
    classes: Vec<ClassInterval>,
}

impl Seconds {
    /// Gathers `intervals`. Ends after `until` belong to the last measured instant: the drained tail.
    pub fn of(intervals: Vec<Interval>) -> Seconds {
        let mut rows: BTreeMap<Instant, Row> = BTreeMap::new();
        for interval in intervals {
            let row = rows.entry(interval.until).or_default();
            row.from = interval.from;
            row.measured = interval.measured;
            row.classes.extend(interval.classes);
        }
        Seconds { rows }
    }

    /// For each whole measured second, operations and bytes of each of `classes`.
    pub fn whole_seconds(&self, classes: &[Class]) -> Vec<Vec<(u64, u64)>> {
        let whole = |row: &&Row, until: &Instant| row.measured && *until - row.from == Nanos::from_secs(1);
        let cells = |row: &Row| {
            let of = |class: &Class| {
                let same = row.classes.iter().filter(|each| each.class == *class);
                same.fold((0, 0), |(ops, bytes), each| (ops + each.ops, bytes + each.bytes.get()))
            };
            classes.iter().map(of).collect()
        };
        self.rows.iter().filter(|(until, row)| whole(row, until)).map(|(_, row)| cells(row)).collect()
    }

    /// Rate, throughput, mean (at most a thousandth too high), 99th percentile and longest response of each operation
    /// over time.
    pub fn series(&self, workload: &str) -> Vec<Series> {
        let classes = self.rows.values().flat_map(|row| &row.classes);
        let actions: BTreeSet<Action> = classes.map(|cell| cell.class.op).collect();
        actions.into_iter().flat_map(|action| self.series_of(workload, action)).collect()
    }

    fn series_of(&self, workload: &str, op: Action) -> Vec<Series> {
        let named = |what: &str, unit: &str| Series {
            name: format!("{} {what}", op.name()),
            workload: Some(workload.into()),
            unit: unit.into(),
            source: "the workload's own count, warm-up included".into(),
            at_ns: Vec::new(),
            values: Vec::new(),
            absent: None,
        };
        let mut all = [
            named("ops", "per_s"),
            named("bytes", "bytes_per_s"),
            named("response mean", "ns"),
            named("response p99", "ns"),
            named("response max", "ns"),
        ];
        for (until, row) in &self.rows {
            let seconds = until.saturating_since(row.from).as_secs_f64();
            let cells: Vec<&ClassInterval> = row.classes.iter().filter(|cell| cell.class.op == op).collect();
            if cells.is_empty() || seconds <= 0.0 {
                continue;
            }
            let ops: u64 = cells.iter().map(|cell| cell.ops).sum();
            let bytes: u64 = cells.iter().map(|cell| cell.bytes.get()).sum();
            let longest = cells.iter().map(|cell| cell.longest).max().unwrap_or_default();
            let responses = merged(&cells);
            let p99 = responses.quantile(0.99).unwrap_or_default();
            let values = [
                ops as f64 / seconds,
                bytes as f64 / seconds,
                responses.mean().unwrap_or(0.0),
                p99.get() as f64,
                longest.get() as f64,
            ];
            for (series, value) in all.iter_mut().zip(values) {
                series.at_ns.push(until.nanos());
                series.values.push(value);
            }
        }
        all.into_iter().filter(|series| !series.values.is_empty()).collect()
    }
}

/// The 99th percentile over all classes of some intervals, for a glance.
pub fn p99_of(intervals: &[Interval]) -> Option<Nanos> {
    let cells: Vec<&ClassInterval> = intervals.iter().flat_map(|interval| &interval.classes).collect();
    merged(&cells).quantile(0.99)
}

/// Percentiles are merged, never averaged.
fn merged(cells: &[&ClassInterval]) -> Histogram {
    let mut histogram = Histogram::new();
    for bucket in cells.iter().flat_map(|cell| &cell.response) {
        histogram.record_n(bucket.high(), bucket.count);
    }
    histogram
}
