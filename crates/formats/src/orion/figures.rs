//! What was measured at each data point, from a record.

use std::collections::BTreeMap;

use record::{Histogram, Op, Point, PointKind, WorkloadResult};
use stats::Bucket;
use workload::spec::Pattern;

use super::WARMING;
use super::points::Load;

/// The figures of a test: one cell for each data point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    cells: BTreeMap<Load, Cell>,
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
    pub reads: Times,
    /// Response times of writes.
    pub writes: Times,
}

/// Response times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// How many.
    pub count: u64,
    sum_ns: u128,
    min_ns: Option<u64>,
    max_ns: u64,
    buckets: BTreeMap<u32, u64>,
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
    /// large requests counts, and points with others are left out.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Figures {
        let mut figures = Figures::default();
        let mut sizes: [Option<u64>; 2] = [None, None];
        for point in points {
            let Some((load, cell)) = measured(point) else { continue };
            let fits = [&cell.small, &cell.large].into_iter().zip(&mut sizes).all(|(flow, size)| {
                flow.as_ref().is_none_or(|flow| *size.get_or_insert(flow.size_bytes) == flow.size_bytes)
            });
            if fits {
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

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

fn merge(sum: &mut Option<Flow>, one: Option<Flow>) {
    let Some(one) = one else { return };
    match sum {
        None => *sum = Some(one),
        Some(sum) => {
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
            match class.op {
                Op::Read => flow.reads.add(&class.response),
                Op::Write => flow.writes.add(&class.response),
                _ => continue,
            }
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
        self.ops as f64 * 1e9 / self.measured_ns as f64
    }

    /// 2^20 bytes a second.
    pub fn mbps(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20) * 1e9 / self.measured_ns as f64
    }

    /// The mean response time of reads and writes, in nanoseconds; `None` where nothing ended.
    pub fn latency_ns(&self) -> Option<f64> {
        let count = self.reads.count + self.writes.count;
        (count > 0).then(|| (self.reads.sum_ns + self.writes.sum_ns) as f64 / count as f64)
    }
}

impl Times {
    fn add(&mut self, histogram: &Histogram) {
        // One layout is written; what has another is from no release.
        if histogram.sub_bucket_bits != stats::SUB_BUCKET_BITS {
            return;
        }
        let part = Times {
            count: histogram.count,
            sum_ns: histogram.sum_ns.into(),
            min_ns: histogram.min_ns,
            max_ns: histogram.max_ns.unwrap_or(0),
            buckets: histogram.buckets.iter().copied().collect(),
        };
        self.merge(&part);
    }

    fn merge(&mut self, other: &Times) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        self.max_ns = self.max_ns.max(other.max_ns);
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }

    /// How many, the mean, the least, the most and the standard deviation, in microseconds; `None` without any.
    /// The deviation is from the middles of the buckets, at most 1/2,048 of a value off.
    pub fn microseconds(&self) -> Option<[f64; 4]> {
        let least = self.min_ns? as f64 / 1e3;
        let count = self.count as f64;
        let mean = self.sum_ns as f64 / count;
        let squares = self.steps().map(|(low, high, times)| {
            let middle = (low as f64 + high as f64) / 2.0;
            (middle - mean).powi(2) * times as f64
        });
        let deviation = (squares.sum::<f64>() / count).sqrt();
        Some([mean / 1e3, least, self.max_ns as f64 / 1e3, deviation / 1e3])
    }

    /// How many took less than `limit_ns`. A bucket of the record counts by its lower edge: at most 1/1,024 off.
    pub fn below(&self, limit_ns: u64) -> u64 {
        self.steps().take_while(|(low, ..)| *low < limit_ns).map(|(.., times)| times).sum()
    }

    /// The longest, in nanoseconds; zero without any.
    pub fn longest_ns(&self) -> u64 {
        self.max_ns
    }

    /// Edges of each bucket, in nanoseconds, and how many are in it.
    fn steps(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        // No time that can be counted lies in a higher bucket than the longest one.
        let known = |index: &u32| *index < (u64::BITS - stats::SUB_BUCKET_BITS + 1) << stats::SUB_BUCKET_BITS;
        self.buckets.iter().filter(move |(index, _)| known(index)).map(|(index, count)| {
            let bucket = Bucket { index: *index, count: *count };
            (bucket.low().get(), bucket.high().get(), *count)
        })
    }
}

#[cfg(test)]
impl Figures {
    /// Of some cells alone.
    pub(super) fn of_cells<'a>(cells: impl Iterator<Item = (Load, &'a Cell)>) -> Figures {
        Figures { cells: cells.map(|(load, cell)| (load, cell.clone())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;
    use units::convert::truncated;

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
        assert_eq!((large.reads.count, large.writes.count), (900, 300));
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
    fn times_agree_with_the_histogram_they_are_from() {
        let histogram = record::sample::responses(4000, 1_000_000, 0.3);
        let mut times = Times::default();
        times.add(&histogram);
        let whole = histogram.to_stats().unwrap();
        let [mean, least, most, deviation] = times.microseconds().unwrap();
        assert!((mean * 1e3 - whole.mean().unwrap()).abs() < 1e-6 * mean * 1e3);
        assert!((deviation * 1e3 - whole.std_dev().unwrap()).abs() < 1e-6 * mean * 1e3);
        assert_eq!(truncated::<u64>((least * 1e3).round()), whole.min().unwrap().get());
        assert_eq!(truncated::<u64>((most * 1e3).round()), whole.max().unwrap().get());
        let half = times.below(1_000_000);
        assert!((1995..=2005).contains(&half), "{half}");
        assert_eq!(times.below(u64::MAX), 4000);
    }
}
