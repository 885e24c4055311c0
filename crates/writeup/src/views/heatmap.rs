//! Response times over time: a latency heat map of each point.

use std::collections::BTreeSet;

use chart::{Axis, Chart, Density, Patch, Plot, Rule, Scale, Unit};
use record::response_map::{edges, quantile};
use record::{Metric, ResponseMap, WorkloadResult};

use crate::document::{Cell, Column, Detail, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};

use super::progress::milestones;
use super::{Subject, foremost, turn_of};

/// Panels that a reader looks at.
const PANELS: usize = 6;
/// Fewer stretches are no course.
const LEAST: usize = 8;
/// Rows of a table of counts: four for each doubling of what nanoseconds in 64 bits can tell.
const ROWS: usize = 256;
const _: () = assert!(ROWS == 4 * u64::BITS as usize);
/// Events that are named in one panel.
const EVENTS: usize = 3;
/// Longer than any run, in nanoseconds: a record that says more has been tampered with.
const LONGEST_NS: u64 = 100_000_000 * 1_000_000_000;
/// The percentiles of the table.
const TABLE: [(f64, &str); 3] = [(0.5, "p50 ≤"), (0.99, "p99 ≤"), (1.0, "longest ≤")];
const _: () = {
    let mut at = 1;
    while at < TABLE.len() {
        assert!(TABLE[at - 1].0 < TABLE[at].0, "quantiles come from the lowest up");
        at += 1;
    }
};

/// A panel for each workload of each point.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let mut maps: Vec<Map<'_>> = points.iter().flat_map(|one| maps(subject, *one)).collect();
    maps.truncate(PANELS);
    let Some(reading) = foremost(&maps, |map| map.measured).and_then(Map::reading) else { return Vec::new() };
    let small = maps.len() > 1;
    let range = maps
        .iter()
        .flat_map(|map| map.buckets().map(|(_, (index, _))| edges(*index)))
        .fold((f64::MAX, 1.0_f64), |(least, most), (low, end)| {
            (least.min(low.get().max(1) as f64), most.max(end.get() as f64))
        });
    vec![Figure {
        kind: "heatmap",
        reading,
        subtitle: "Requests by the time at which they ended and by their latency; the lighter, the more"
            .into(),
        panels: maps.iter().map(|map| (map.title(small), Chart::Density(map.density(range)))).collect(),
        small,
        table: table(&maps),
        details: maps.iter().map(|map| Detail::Map(map.counts())).collect(),
    }]
}

/// The response times of one workload of one point.
struct Map<'a> {
    name: String,
    measured: Measured<'a>,
    workload: (usize, &'a WorkloadResult),
    of: &'a ResponseMap,
}

fn maps<'a>(subject: &Subject<'_>, measured: Measured<'a>) -> Vec<Map<'a>> {
    let several = measured.point.workloads.len() > 1;
    let map = |workload: (usize, &'a WorkloadResult)| {
        let of = workload.1.responses_over_time.as_ref()?;
        let length = of.each_ns.checked_mul(of.stretches.len() as u64)?;
        let is_possible = of.is_known() && of.each_ns > 0 && length < LONGEST_NS;
        let name = subject.named(measured.run, &turn_of(measured.point));
        let name = if several { format!("{name}, {}", workload.1.name) } else { name };
        (is_possible && of.stretches.len() >= LEAST).then_some(Map { name, measured, workload, of })
    };
    measured.point.workloads.iter().enumerate().filter_map(map).collect()
}

impl Map<'_> {
    fn title(&self, small: bool) -> String {
        if small { self.name.clone() } else { String::new() }
    }

    /// Every bucket with the number of its stretch.
    fn buckets(&self) -> impl Iterator<Item = (usize, &(u32, u64))> {
        self.of.stretches.iter().enumerate().flat_map(|(at, own)| own.iter().map(move |one| (at, one)))
    }

    /// When stretch `at` begins, in seconds of the measured window.
    fn begins(&self, at: usize) -> f64 {
        let since_ns = self.of.from_ns.saturating_sub(self.workload.1.measured_from_ns);
        (since_ns as f64 + self.of.each_ns as f64 * at as f64) / 1e9
    }

    fn density(&self, range: (f64, f64)) -> Density {
        let cell = |(at, (index, count)): (usize, &(u32, u64))| {
            let (low, end) = edges(*index);
            debug_assert!(low <= end, "a bucket has its edges in order");
            Patch {
                x: (self.begins(at), self.begins(at + 1)),
                y: (low.get().max(1) as f64, end.get() as f64),
                count: *count as f64,
            }
        };
        debug_assert!(range.0 <= range.1, "the axis of latencies has its ends in order");
        Density {
            plot: Plot {
                x: Axis {
                    range: Some((0.0, self.begins(self.of.stretches.len()))),
                    ..Axis::new("time", Unit::Seconds, Scale::Linear)
                },
                y: Axis { range: Some(range), ..Axis::new("latency", Unit::Nanos, Scale::Log10) },
                lines: Vec::new(),
                rules: self.events(),
            },
            what: format!("requests in {}", Unit::Nanos.written(self.of.each_ns as f64)),
            cells: self.buckets().map(cell).collect(),
        }
    }

    /// How many requests there are of each latency in each stretch: a row for each bucket of latencies, the slowest on top.
    fn counts(&self) -> Table {
        let known: BTreeSet<u32> = self.buckets().map(|(_, (index, _))| *index).collect();
        let (stretches, least, most) = (self.of.stretches.len(), known.first(), known.last());
        let rows = least.zip(most).into_iter().flat_map(|(least, most)| (*least..=*most).rev().take(ROWS));
        let row = |index: u32| {
            let (low, _) = edges(index);
            let mut cells = vec![Cell::Words(Unit::Nanos.written(low.get() as f64))];
            cells.extend((0..stretches).map(|at| Cell::number(self.count(at, index))));
            cells
        };
        let mut columns = vec![Column::words("latency from")];
        let from = |at| Column::numbers(Unit::Seconds.written(self.begins(at)), Unit::Count);
        columns.extend((0..stretches).map(from));
        debug_assert_eq!(columns.len(), stretches + 1, "a column for each stretch behind the latency");
        Table { title: format!("requests, {}", self.name), columns, rows: rows.map(row).collect() }
    }

    fn count(&self, at: usize, index: u32) -> Option<Number> {
        let place = self.of.stretches.get(at)?.iter().position(|(own, _)| *own == index)?;
        let rest = format!("/workloads/{}/responses_over_time/stretches/{at}/{place}/1", self.workload.0);
        Some(self.measured.number(&rest, self.of.stretches[at][place].1 as f64, Unit::Count))
    }

    /// How far the array's own work was, and when nothing ended.
    fn events(&self) -> Vec<Rule> {
        let from = self.workload.1.measured_from_ns;
        let until = self.begins(self.of.stretches.len());
        let since = |at_ns: u64| at_ns.saturating_sub(from) as f64 / 1e9;
        let works = milestones(self.measured.point)
            .into_iter()
            .filter(|(at_ns, _)| *at_ns > from && since(*at_ns) < until)
            .map(|(at_ns, name)| Rule::Event(since(at_ns), name));
        let stalls = self.workload.1.stalls.iter().map(|stall| {
            let length = Unit::Nanos.written(stall.length_ns as f64);
            Rule::Event(since(stall.from_ns), format!("stall of {length}"))
        });
        works.chain(stalls).take(EVENTS).collect()
    }

    /// What the quantile `q` of stretch `at` is at most: the end of the bucket that it lies in, or the longest time of all
    /// where that is less.
    fn quantile(&self, at: usize, q: f64) -> Option<Number> {
        let value = quantile(self.of.stretches.get(at)?, q)?;
        let pointer = format!(
            "/points/{}/workloads/{}/responses_over_time/stretches/{at}",
            self.measured.at, self.workload.0
        );
        let source = Source::Quantile(self.measured.run, pointer, q);
        let end = Number { value: value.get() as f64, unit: Unit::Nanos, source };
        let longest = self.measured.of_workload(self.workload.0, 0, Metric::Max);
        Some(match longest.filter(|(longest, _)| longest.value < end.value) {
            Some((longest, _)) => Number {
                value: longest.value,
                unit: Unit::Nanos,
                source: Source::Least(vec![end.source, longest.source]),
            },
            None => end,
        })
    }

    /// The stretches with the lowest and the highest p99.
    fn reading(&self) -> Option<Sentence> {
        let tails = || (0..self.of.stretches.len()).filter_map(|at| Some((at, self.quantile(at, 0.99)?)));
        let by_value = |one: &(usize, Number), other: &(usize, Number)| one.1.value.total_cmp(&other.1.value);
        let (low, high) = (tails().min_by(by_value)?, tails().max_by(by_value)?);
        let each = Unit::Nanos.written(self.of.each_ns as f64);
        if low.1.text() == high.1.text() {
            let stretches =
                format!("{}: each of the {} stretches of {each}", self.name, self.of.stretches.len());
            return Some(
                Sentence::of(format!("{stretches} has a p99 of at most ")).number(high.1).words("."),
            );
        }
        Some(
            Sentence::of(format!(
                "{}: of the {} stretches of {each}, the best has a p99 of at most ",
                self.name,
                self.of.stretches.len()
            ))
            .number(low.1)
            .words(format!(", the worst, after {}, of at most ", Unit::Seconds.written(self.begins(high.0))))
            .number(high.1)
            .words("."),
        )
    }
}

/// Percentiles of about every tenth stretch.
fn table(maps: &[Map<'_>]) -> Table {
    let mut columns = vec![Column::words("point"), Column::words("from")];
    columns.extend(TABLE.map(|(_, name)| Column::numbers(name, Unit::Nanos)));
    let rows = maps.iter().flat_map(|map| {
        assert!(!map.of.stretches.is_empty(), "a map has stretches");
        let last = map.of.stretches.len() - 1;
        let mut places: Vec<usize> = (0..=10).map(|tenth| last * tenth / 10).collect();
        places.dedup();
        places.into_iter().map(move |at| {
            let words = [Cell::words(&map.name), Cell::words(Unit::Seconds.written(map.begins(at)))];
            let numbers = TABLE.map(|(q, _)| Cell::number(map.quantile(at, q)));
            words.into_iter().chain(numbers).collect()
        })
    });
    Table { title: "latency over time".into(), columns, rows: rows.collect() }
}
