//! What was measured at each data point, from a record.

use std::collections::{BTreeMap, BTreeSet};

use record::{Op, Point, PointKind, WorkloadResult};
use stats::Histogram;
use workload::spec::Pattern;

use super::WARMING;
use super::points::Load;
use crate::point;

/// The figures of a test: one cell for each data point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    cells: BTreeMap<Load, Cell>,
    clash: Option<Clash>,
}

/// Two points that are one data point of Orion's and ask for different requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// Requests in flight of both.
    pub load: Load,
    /// The names of both.
    pub points: [String; 2],
}

/// One data point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What the small requests came to; absent where there were none.
    pub small: Option<Flow>,
    /// What the large ones came to.
    pub large: Option<Flow>,
}

/// Requests of one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Bytes of each; the largest where they differ.
    pub size_bytes: u64,
    /// Requests that ended.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// The time they were counted for.
    pub measured_ns: u64,
    /// Response times of reads.
    pub reads: Histogram,
    /// Response times of writes.
    pub writes: Histogram,
}

/// Which of Orion's two kinds of requests a workload makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Large,
}

/// In a run of other plans requests from this size on are large.
const LARGE_BYTES: u64 = 128 << 10;

impl Figures {
    /// The figures of what was measured. A data point that was repeated has the figures of all its repetitions.
    ///
    /// Any load of reads and writes is a data point. Where a plan sweeps sizes, the first size of small and of
    /// large requests counts, and points with others are left out. A point that asks for something else at a load that is
    /// known is no repetition: it is the [clash](Figures::clash), and is left out.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Figures {
        let mut figures = Figures::default();
        let mut sizes: [Option<u64>; 2] = [None, None];
        let mut firsts: BTreeMap<Load, &Point> = BTreeMap::new();
        for point in points {
            let Some((load, cell)) = measured(point) else { continue };
            let fits = [&cell.small, &cell.large].into_iter().zip(&mut sizes).all(|(flow, size)| {
                flow.as_ref().is_none_or(|flow| *size.get_or_insert(flow.size_bytes) == flow.size_bytes)
            });
            let first = if fits { *firsts.entry(load).or_insert(point) } else { point };
            if fits && !is_repeat(first, point) {
                let points = [first, point].map(|one| one.name.clone());
                figures.clash.get_or_insert(Clash { load, points });
            } else if fits {
                let sum = figures.cells.entry(load).or_default();
                merge(&mut sum.small, cell.small);
                merge(&mut sum.large, cell.large);
            }
        }
        figures
    }

    /// One data point; `None` where it was not measured.
    pub fn cell(&self, load: Load) -> Option<&Cell> {
        self.cells.get(&load)
    }

    /// All that was measured, by small load and then by large.
    pub fn cells(&self) -> impl Iterator<Item = (Load, &Cell)> {
        self.cells.iter().map(|(load, cell)| (*load, cell))
    }

    /// Points that Orion's tables have one place for, although they ask for different requests.
    pub fn clash(&self) -> Option<&Clash> {
        self.clash.as_ref()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// Whether both ask for the same.
fn is_repeat(one: &Point, other: &Point) -> bool {
    let ops = |point: &Point| point::classes(point).map(|class| class.op).collect::<BTreeSet<Op>>();
    one.asked() == other.asked() && ops(one) == ops(other)
}

fn merge(sum: &mut Option<Flow>, one: Option<Flow>) {
    let Some(one) = one else { return };
    match sum {
        None => *sum = Some(one),
        Some(sum) => {
            debug_assert_eq!(sum.size_bytes, one.size_bytes, "repetitions have requests of one size");
            let measured_ns = sum.measured_ns + one.measured_ns;
            sum.add(one);
            sum.measured_ns = measured_ns;
        }
    }
}

/// The load of a point and what it came to; `None` where it is no data point.
fn measured(point: &Point) -> Option<(Load, Cell)> {
    if point.kind != PointKind::Load {
        return None;
    }
    let (mut load, mut cell) = (Load { small: 0, large: 0 }, Cell::default());
    for workload in &point.workloads {
        if workload.name == WARMING {
            return None;
        }
        let Some(flow) = Flow::of(workload) else { continue };
        let (count, sum) = match kind(workload, &flow) {
            Kind::Small => (&mut load.small, &mut cell.small),
            Kind::Large => (&mut load.large, &mut cell.large),
        };
        *count = count.saturating_add(outstanding(workload));
        match sum {
            None => *sum = Some(flow),
            Some(sum) => sum.add(flow),
        }
    }
    (cell != Cell::default()).then_some((load, cell))
}

fn kind(workload: &WorkloadResult, flow: &Flow) -> Kind {
    match workload.name.split(' ').next() {
        Some("small") => Kind::Small,
        Some("large") => Kind::Large,
        _ if flow.size_bytes < LARGE_BYTES => Kind::Small,
        _ => Kind::Large,
    }
}

/// Requests in flight; of sequential streams, the streams.
fn outstanding(workload: &WorkloadResult) -> u32 {
    let asked = &workload.spec;
    match is_sequential(workload) && kind_is_named_large(workload) {
        true => asked.workers,
        false => asked.workers.saturating_mul(asked.depth),
    }
}

/// In a run of another plan a sequential workload is no set of streams in Orion's sense: its depth is its load.
fn kind_is_named_large(workload: &WorkloadResult) -> bool {
    workload.name.split(' ').next() == Some("large")
}

/// Whether a workload passes through its span.
pub(super) fn is_sequential(workload: &WorkloadResult) -> bool {
    matches!(workload.spec.pattern, Pattern::Sequential | Pattern::Interlocked)
}

impl Flow {
    /// What one workload read and wrote; `None` where it did neither.
    fn of(workload: &WorkloadResult) -> Option<Flow> {
        let mut flow = Flow { measured_ns: workload.measured_ns, ..Flow::default() };
        for class in workload.classes.iter().filter(|class| class.response.count > 0) {
            let times = match class.op {
                Op::Read => &mut flow.reads,
                Op::Write => &mut flow.writes,
                _ => continue,
            };
            // What contradicts itself is from no release.
            class.response.to_stats().iter().for_each(|of_class| times.merge(of_class));
            flow.size_bytes = flow.size_bytes.max(class.size_bytes);
            flow.ops += class.ops;
            flow.bytes += class.bytes;
        }
        (flow.size_bytes > 0 && flow.measured_ns > 0).then_some(flow)
    }

    /// Adds what went on at the same time.
    fn add(&mut self, other: Flow) {
        self.size_bytes = self.size_bytes.max(other.size_bytes);
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.measured_ns = self.measured_ns.max(other.measured_ns);
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
    }

    /// Requests a second.
    pub fn iops(&self) -> f64 {
        assert!(self.measured_ns > 0, "a rate is that of some time");
        self.ops as f64 * 1e9 / self.measured_ns as f64
    }

    /// 2^20 bytes a second.
    pub fn mbps(&self) -> f64 {
        assert!(self.measured_ns > 0, "a rate is that of some time");
        self.bytes as f64 / f64::from(1 << 20) * 1e9 / self.measured_ns as f64
    }

    /// The mean response time of reads and writes, in nanoseconds; `None` where nothing ended.
    pub fn latency_ns(&self) -> Option<f64> {
        let (count, sum_ns) =
            (self.reads.count() + self.writes.count(), self.reads.sum_ns() + self.writes.sum_ns());
        (count > 0).then(|| sum_ns as f64 / count as f64)
    }
}

/// Mean, least, most and standard deviation of `times` in microseconds; `None` without any.
pub(super) fn microseconds(times: &Histogram) -> Option<[f64; 4]> {
    let (least, most) = (times.min()?.get() as f64, times.max()?.get() as f64);
    Some([times.mean()?, least, most, times.std_dev()?].map(|ns| ns / 1e3))
}

/// How many took less than `limit_ns`. A bucket of the record counts by its lower edge: at most 1/1,024 off.
pub(super) fn below(times: &Histogram, limit_ns: u64) -> u64 {
    let below = times.buckets().take_while(|bucket| bucket.low().get() < limit_ns);
    below.map(|bucket| bucket.count).sum()
}

/// The longest, in nanoseconds; zero without any.
pub(super) fn longest_ns(times: &Histogram) -> u64 {
    times.max().map_or(0, units::Nanos::get)
}

#[cfg(test)]
impl Figures {
    /// Of some cells alone.
    pub(super) fn of_cells<'a>(cells: impl Iterator<Item = (Load, &'a Cell)>) -> Figures {
        Figures { cells: cells.map(|(load, cell)| (load, cell.clone())).collect(), clash: None }
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;

    fn stream(op: &'static str, size_bytes: u64, per_s: u64) -> Stream {
        Stream { op, size_bytes, per_s, median_ns: 2_000_000, spread: 0.2 }
    }

    fn with(mut result: WorkloadResult, keys: &[(&str, &str)]) -> WorkloadResult {
        keys.iter().for_each(|(key, value)| result.spec.set(key, value).unwrap());
        result
    }

    #[test]
    fn small_and_large_of_one_point_are_told_apart() {
        let small = workload("small", &[stream("read", 8192, 900), stream("write", 8192, 100)]);
        let reads = workload("large reads", &[stream("read", 1 << 20, 30)]);
        let writes = workload("large writes", &[stream("write", 1 << 20, 10)]);
        let streams = [("pattern", "sequential"), ("workers", "3"), ("depth", "4")];
        let all =
            vec![with(small, &[("depth", "5")]), with(reads, &streams), with(writes, &[("depth", "2")])];
        let figures = Figures::of(&[point(0, "both", all)]);
        let cell = figures.cell(Load { small: 5, large: 5 }).expect("three streams and two others");
        let (small, large) = (cell.small.as_ref().unwrap(), cell.large.as_ref().unwrap());
        assert_eq!((small.iops().round(), large.mbps().round()), (1000.0, 40.0));
        assert_eq!((large.reads.count(), large.writes.count()), (900, 300));
        assert_eq!(small.size_bytes, 8192);
    }

    #[test]
    fn cache_warming_is_in_no_figure_and_repetitions_are_averaged() {
        let points = [
            point(0, "warm", vec![workload(WARMING, &[stream("read", 1 << 20, 500)])]),
            point(1, "one", vec![with(workload("small", &[stream("read", 8192, 100)]), &[("depth", "1")])]),
            point(2, "again", vec![with(workload("small", &[stream("read", 8192, 200)]), &[("depth", "1")])]),
            point(3, "4 KiB", vec![with(workload("small", &[stream("read", 4096, 9)]), &[("depth", "2")])]),
        ];
        let figures = Figures::of(&points);
        assert_eq!(figures.cells().count(), 1);
        let cell = figures.cell(Load { small: 1, large: 0 }).unwrap();
        assert_eq!(cell.small.as_ref().unwrap().iops(), 150.0);
        assert_eq!(cell.large, None);
    }

    #[test]
    fn what_asks_for_something_else_at_a_known_load_is_no_repetition() {
        let at = |name: &str, op: &'static str, per_s| {
            let keys = [("depth", "32"), ("reads", if op == "read" { "100%" } else { "0%" })];
            point(0, name, vec![with(workload("main", &[stream(op, 4096, per_s)]), &keys)])
        };
        let [reads, writes] = [at("reads", "read", 4000), at("writes", "write", 1000)];
        let figures = Figures::of(&[reads.clone(), writes]);
        let load = Load { small: 32, large: 0 };
        assert_eq!(figures.clash(), Some(&Clash { load, points: ["reads".into(), "writes".into()] }));
        assert_eq!(figures.cell(load).unwrap().small.as_ref().unwrap().iops(), 4000.0, "no mean of both");
        assert_eq!(Figures::of(&[reads.clone(), reads]).clash(), None);
    }

    #[test]
    fn times_below_a_limit_are_those_of_the_histogram_they_are_from() {
        let times = record::sample::responses(4000, 1_000_000, 0.3).to_stats().unwrap();
        let half = below(&times, 1_000_000);
        assert!((1995..=2005).contains(&half), "{half}");
        assert_eq!(below(&times, u64::MAX), 4000);
    }
}
