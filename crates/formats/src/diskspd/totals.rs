//! The figures of one thread on one target, from the record.

use record::{Op, Point, WorkloadResult};
use stats::Histogram;

use super::Command;
use crate::point;

/// What stands in place of figures where there are none.
pub const INTERRUPTED: &str =
    "The test was interrupted before the measurements began. No results are displayed.";

/// Which columns and elements there are beside those that there always are.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Of latencies.
    pub latency: bool,
    /// Of how far seconds are apart.
    pub deviation: bool,
}

impl Columns {
    /// All of them.
    pub const ALL: Columns = Columns { latency: true, deviation: true };

    /// Those that `command` asks for.
    pub fn of(command: &Command) -> Columns {
        Columns { latency: command.latency, deviation: command.iops_deviation }
    }
}

/// One row of the tables.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The thread's number.
    pub thread: u32,
    /// The target as named.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Requests that read.
    pub reads: Counts,
    /// Requests that wrote.
    pub writes: Counts,
}

/// Requests of one direction.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Bytes moved.
    pub bytes: u64,
    /// Requests.
    pub ios: u64,
    /// Response times.
    pub latency: Histogram,
    /// Requests a second, for each second of the measured time.
    pub seconds: Vec<f64>,
}

impl Row {
    /// The row of `workload`, which is one of the point's.
    pub fn of(thread: u32, path: String, size: u64, point: &Point, workload: &WorkloadResult) -> Row {
        Row {
            thread,
            path,
            size,
            reads: Counts::of(point, workload, Op::Read),
            writes: Counts::of(point, workload, Op::Write),
        }
    }

    /// Both directions together.
    pub fn total(&self) -> Counts {
        Counts::sum([&self.reads, &self.writes])
    }
}

impl Counts {
    fn of(point: &Point, workload: &WorkloadResult, op: Op) -> Counts {
        let mut counts = Counts::default();
        for class in workload.classes.iter().filter(|class| class.op == op) {
            counts.bytes += class.bytes;
            counts.ios += class.ops;
            if let Some(histogram) = class.response.to_stats() {
                counts.latency.merge(&histogram);
            }
        }
        let name = format!("{op}{}", record::names::series::OPS);
        counts.seconds =
            workload.whole_seconds(point.series.iter().filter(|series| series.name == name), &name);
        counts
    }

    /// All of them together; seconds are added one by one.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Counts {
        let mut sum = Counts::default();
        for each in all {
            sum.bytes += each.bytes;
            sum.ios += each.ios;
            sum.latency.merge(&each.latency);
            sum.seconds.resize(sum.seconds.len().max(each.seconds.len()), 0.0);
            for (total, value) in sum.seconds.iter_mut().zip(&each.seconds) {
                *total += value;
            }
        }
        sum
    }

    /// The standard deviation of the rates of the seconds, as of a whole population.
    pub fn deviation(&self) -> f64 {
        let count = self.seconds.len().max(1) as f64;
        let mean = self.seconds.iter().sum::<f64>() / count;
        (self.seconds.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
    }

    /// A quantile of the response times in milliseconds; `None` without requests.
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        let value = match q {
            q if q <= 0.0 => self.latency.min(),
            q if q >= 1.0 => self.latency.max(),
            q => self.latency.quantile(q),
        };
        value.map(|value| value.get() as f64 / 1e6)
    }

    /// The mean response time in milliseconds; `None` without requests.
    pub fn mean_ms(&self) -> Option<f64> {
        self.latency.mean().map(|mean| mean / 1e6)
    }

    /// The standard deviation of the response times in milliseconds; `None` without requests.
    pub fn deviation_ms(&self) -> Option<f64> {
        self.latency.std_dev().map(|deviation| deviation / 1e6)
    }
}

/// Rows of a point, a workload each; those of a command are told by their parts.
pub fn rows(point: &Point, of: impl Fn(usize, &WorkloadResult) -> (u32, String, u64)) -> Vec<Row> {
    let row = |(index, workload): (usize, &WorkloadResult)| {
        let (thread, path, size) = of(index, workload);
        Row::of(thread, path, size, point, workload)
    };
    point.workloads.iter().enumerate().map(row).collect()
}

/// Rows of a point of `command`, whose targets have these `sizes`: of each workload the part that it is.
pub fn rows_of(command: &Command, point: &Point, sizes: &[u64]) -> Vec<Row> {
    let parts = command.parts();
    assert_eq!(sizes.len(), command.targets.len(), "each target has a size");
    assert!(parts.iter().all(|part| part.target < sizes.len()), "each part is of a target");
    rows(point, |index, _| {
        let part = &parts[index.min(parts.len() - 1)];
        (part.thread, command.targets[part.target].clone(), sizes[part.target])
    })
}

/// Parts of the machine's processor time in percent: in programs, in the kernel, idle. `None` where nobody looked, as
/// in virtual time.
pub fn processor(point: &Point) -> Option<(f64, f64, f64)> {
    let mean = |name: &str| point::mean_percent(point, name);
    let idle =
        mean(record::names::series::CPU_IDLE)? + mean(record::names::series::CPU_IOWAIT).unwrap_or(0.0);
    let user = mean("cpu.user").unwrap_or(0.0);
    Some((user, (100.0 - idle - user).max(0.0), idle))
}
