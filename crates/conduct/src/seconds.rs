//! The intervals of many workers put together: one series for each operation, and the counts of whole seconds.

use std::collections::BTreeSet;

use record::{ClassSecond, Series};
use stats::Histogram;
use units::{Instant, Nanos};
use workload::tally::{Action, Class, ClassInterval, Interval};

/// The load of a workload cut into seconds, workers merged.
///
/// **Invariant:** each second begins where the one before it ended, and those that are measured cover the window from
/// its start to its end: a silent one is there, and empty. The last one may be shorter.
pub struct Seconds {
    rows: Vec<Second>,
}

/// A second of a load, or what is left of it at the end of the warm-up or of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub until: Instant,
    /// Whether it belongs to the measured window.
    pub measured: bool,
    /// What ended in it, one for each class and worker; empty for a silent one.
    cells: Vec<ClassInterval>,
}

const SECOND: Nanos = Nanos::from_secs(1);

impl Second {
    /// How long it is; not zero.
    pub fn length(&self) -> Nanos {
        self.until - self.from
    }

    /// Requests and bytes of `class`.
    pub fn counts(&self, class: &Class) -> (u64, u64) {
        let same = self.cells.iter().filter(|cell| cell.class == *class);
        same.fold((0, 0), |(ops, bytes), each| (ops + each.ops, bytes + each.bytes.get()))
    }

    /// Response times of the requests of the classes that belong, all workers together, each as the end of its bucket:
    /// at most a thousandth too long.
    pub fn responses(&self, belongs: impl Fn(&Class) -> bool) -> Histogram {
        merged(self.cells.iter().filter(|cell| belongs(&cell.class)))
    }
}

impl Seconds {
    /// Cuts the load from `begun` on, whose measured window is `window`, and puts `intervals` into their seconds.
    ///
    /// A worker that ended before the others has cut its last interval short; it belongs to the second that it began
    /// in. What ended at the very end of the window belongs to the last second.
    pub fn of(intervals: Vec<Interval>, begun: Instant, window: (Instant, Instant)) -> Seconds {
        let mut rows = empty(begun, window);
        for interval in intervals {
            let after = rows.partition_point(|row| row.from <= interval.from);
            if let Some(row) = after.checked_sub(1).and_then(|row| rows.get_mut(row)) {
                row.cells.extend(interval.classes);
            }
        }
        Seconds { rows }
    }

    /// The whole seconds of the measured window, in order; silent ones are among them.
    pub fn whole(&self) -> impl Iterator<Item = &Second> {
        self.rows.iter().filter(|row| row.measured && row.length() == SECOND)
    }

    /// For each whole measured second, what ended in it of each of `classes`.
    pub fn whole_seconds(&self, classes: &[Class]) -> Vec<Vec<ClassSecond>> {
        let of = |second: &Second, class: &Class| {
            let (ops, bytes) = second.counts(class);
            let responses = second.responses(|other| other == class).buckets().collect();
            ClassSecond { ops, bytes, responses }
        };
        self.whole().map(|second| classes.iter().map(|class| of(second, class)).collect()).collect()
    }

    /// Rate, throughput, mean (at most a thousandth too high), 99th percentile and longest response of each operation
    /// over time. Rates are there for each second, zero where nothing ended; response times only where something did.
    pub fn series(&self, workload: &str) -> Vec<Series> {
        let classes = self.rows.iter().flat_map(|row| &row.cells);
        let actions: BTreeSet<Action> = classes.map(|cell| cell.class.op).collect();
        actions.into_iter().flat_map(|action| self.series_of(workload, action)).collect()
    }

    fn series_of(&self, workload: &str, op: Action) -> Vec<Series> {
        let named = |what: &str, unit: &str| Series {
            name: format!("{} {what}", op.name()),
            workload: Some(workload.into()),
            unit: unit.into(),
            source: "the workload's own count, warm-up included".into(),
            from_ns: None,
            at_ns: Vec::new(),
            values: Vec::new(),
            absent: None,
        };
        let mut rates = [named("ops", "per_s"), named("bytes", "bytes_per_s")];
        let mut times =
            [named("response mean", "ns"), named("response p99", "ns"), named("response max", "ns")];
        rates.iter_mut().for_each(|series| series.from_ns = self.rows.first().map(|row| row.from.nanos()));
        for row in &self.rows {
            let cells: Vec<&ClassInterval> = row.cells.iter().filter(|cell| cell.class.op == op).collect();
            let seconds = row.length().as_secs_f64();
            let ops: u64 = cells.iter().map(|cell| cell.ops).sum();
            let bytes: u64 = cells.iter().map(|cell| cell.bytes.get()).sum();
            push(&mut rates, row.until, &[ops as f64 / seconds, bytes as f64 / seconds]);
            let Some(longest) = cells.iter().map(|cell| cell.longest).max() else { continue };
            let responses = row.responses(|class| class.op == op);
            let p99 = responses.quantile(0.99).unwrap_or_default().get() as f64;
            push(&mut times, row.until, &[responses.mean().unwrap_or(0.0), p99, longest.get() as f64]);
        }
        rates.into_iter().chain(times).filter(|series| !series.values.is_empty()).collect()
    }
}

fn push(all: &mut [Series], at: Instant, values: &[f64]) {
    for (series, value) in all.iter_mut().zip(values) {
        series.at_ns.push(at.nanos());
        series.values.push(*value);
    }
}

/// Empty seconds from the start of the load to the end of the window, cut as [`Interval`]s are.
fn empty(begun: Instant, (from, until): (Instant, Instant)) -> Vec<Second> {
    let mut rows = Vec::new();
    for (start, end, measured) in [(begun, from.min(until), false), (from, until, true)] {
        let mut at = start;
        while at < end {
            let next = at.saturating_add(SECOND).min(end);
            rows.push(Second { from: at, until: next, measured, cells: Vec::new() });
            at = next;
        }
    }
    rows
}

/// The 99th percentile over all classes of some intervals, for a glance.
pub fn p99_of(intervals: &[Interval]) -> Option<Nanos> {
    merged(intervals.iter().flat_map(|interval| &interval.classes)).quantile(0.99)
}

/// Percentiles are merged, never averaged.
fn merged<'a>(cells: impl Iterator<Item = &'a ClassInterval>) -> Histogram {
    let mut histogram = Histogram::new();
    for bucket in cells.flat_map(|cell| &cell.response) {
        histogram.record_n(bucket.high(), bucket.count);
    }
    histogram
}

#[cfg(test)]
mod tests {
    use units::Bytes;
    use workload::Op;

    use super::*;

    const CLASS: Class = Class { op: Action::Block(Op::Read), size: Bytes::KIB };

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn interval(from_ms: u64, until_ms: u64, ops: u64) -> Interval {
        let cell = ClassInterval {
            class: CLASS,
            ops,
            bytes: Bytes::KIB * ops,
            response: Vec::new(),
            service: Vec::new(),
            longest: Nanos::from_millis(1),
        };
        Interval { from: at(from_ms), until: at(until_ms), measured: from_ms >= 1500, classes: vec![cell] }
    }

    #[test]
    fn seconds_cover_load_and_window_without_gap_or_overlap_whoever_was_silent() {
        // Warm-up from 0.5 s, window from 1.5 s to 5.7 s; nothing ended between 2.5 s and 4.5 s, and two workers ended
        // within the last second.
        let intervals = vec![
            interval(500, 1500, 7),
            interval(1500, 2500, 10),
            interval(1500, 2500, 20),
            interval(4500, 5500, 3),
            interval(5500, 5690, 1),
            interval(5500, 5700, 2),
            interval(5700, 5700, 4),
        ];
        let seconds = Seconds::of(intervals, at(500), (at(1500), at(5700)));
        let rows: Vec<_> =
            seconds.rows.iter().map(|row| (row.until.nanos() / 1_000_000, row.counts(&CLASS).0)).collect();
        assert_eq!(rows, [(1500, 7), (2500, 30), (3500, 0), (4500, 0), (5500, 3), (5700, 7)]);
        assert!(seconds.rows.windows(2).all(|pair| pair[0].until == pair[1].from));
        let whole: Vec<u64> = seconds.whole_seconds(&[CLASS]).iter().map(|second| second[0].ops).collect();
        assert_eq!(whole, [30, 0, 0, 3]);
        let series = seconds.series("a");
        assert_eq!(series[0].from_ns, Some(500_000_000));
        assert_eq!(series[0].values, [7.0, 30.0, 0.0, 0.0, 3.0, 35.0]);
        let named = |name: &str| series.iter().find(|series| series.name == name).expect("it is there");
        assert_eq!(named("read response max").at_ns.len(), 4, "a silent second has no response times");
    }

    #[test]
    fn a_load_that_ended_before_its_window_has_seconds_of_warm_up_alone() {
        let seconds = Seconds::of(vec![interval(0, 700, 7)], at(0), (at(1500), at(1500)));
        assert_eq!(seconds.rows.len(), 2);
        assert_eq!(seconds.whole().count(), 0);
    }
}
