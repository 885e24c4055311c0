//! What one workload did: its figures, its classes, its workers, and what failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::convert::{narrow, truncated};

use super::{CpuUse, Series, is_zero};
use crate::histogram::Histogram;
use crate::response_map::ResponseMap;
use spec::Pace;

use crate::summary::{Figure, OpSummary};
use crate::words::{Engine, Op, Ops};

/// What one workload did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadResult {
    /// Its name in the phase.
    pub name: String,
    /// What was asked.
    pub spec: spec::Workload,
    /// How requests reached the kernel.
    pub engine: EngineUsed,
    /// The figures people ask for first.
    pub summary: Vec<OpSummary>,
    /// Raw results by operation and size.
    pub classes: Vec<Class>,
    /// The measured window, from the start of the run; where the load ended within its warm-up, its end.
    pub measured_from_ns: u64,
    /// Its length.
    pub measured_ns: u64,
    /// Everything that ended without an error from the start, warm-up and cool-down included: what the kernel's
    /// counters of the devices are held against. Empty where it was not kept.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub totals: Vec<OpTotal>,
    /// How much of the target was used, all files and LUNs together; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub span_bytes: Option<u64>,
    /// Requests planned from the start, warm-up and cool-down included.
    pub planned: u64,
    /// Requests that ended.
    pub completed: u64,
    /// Requests that fell due in the window while as many as allowed were in flight, and were left out because the
    /// pace said so. They are in no histogram.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub dropped: u64,
    /// Requests that fell due in the window and were never issued: the load was still behind long after its end.
    /// The response histograms hold them with the time they had waited by then, the least it can be.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub not_issued: u64,
    /// Requests of a schedule by how late they were issued although a slot was free: the part of their lag for which
    /// this program is to blame. Absent without a schedule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<Histogram>,
    /// Requests in flight on average over the window, all workers together.
    pub mean_in_flight: f64,
    /// How many were in flight, went out and came back together. Absent where it was not kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub together: Option<Together>,
    /// What the edges of the window cut of the times in service. Absent where it was not kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edges: Option<Edges>,
    /// Response times of the requests that ended in each stretch of the window, of all operations together. Absent where
    /// nothing ended in a whole second, where percentiles are not to be had, and where it was not kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub responses_over_time: Option<ResponseMap>,
    /// Stretches of the window of a second or more in which requests were in flight and none ended, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stalls: Vec<Silence>,
    /// Digests of each worker's stream of (operation, file, offset, length), 16 hexadecimal digits each.
    pub digests: Vec<String>,
    /// Requests that failed, from the start.
    pub errors: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub error_samples: Vec<ErrorSample>,
    /// What was checked of what was read; absent where nothing was to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verified: Option<Verified>,
    /// Whether it gave up because too many failed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub gave_up: bool,
    /// Zones that writes reset, from the start; absent where it has no zones, and where none was.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub zone_resets: u64,
    /// The zones of its device, which were written and reset; absent where it has no zones, and where they were emulated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device_zones: Option<DeviceZones>,
    /// Each worker's part.
    pub workers: Vec<WorkerResult>,
}

/// The zones of a zoned device as it reported them before the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceZones {
    /// `host-managed` or `host-aware`.
    pub model: String,
    /// From the start of one zone to the start of the next.
    pub size_bytes: u64,
    /// What can be written of the smallest that is written in order; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub capacity_bytes: Option<u64>,
    /// All zones of the device.
    pub count: u64,
    /// Those of them that are written anywhere.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub conventional: u64,
    /// Zones that it lets be written in part at a time; absent where it has no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub most_open: Option<u32>,
}

/// How many requests of a worker were in flight together, went out together and came back together, over the window, or over
/// all of a load that ended within its warm-up (fio: `iodepth_level`, `iodepth_submit`, `iodepth_complete`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// Requests by how many of their worker were in flight as each was handed over, itself among them: 1, 2 to 3, 4 to 7,
    /// 8 to 15, 16 to 31, 32 to 63, 64 and more.
    pub in_flight: [u64; 7],
    /// Times that a worker handed some over, by how many: 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32, 33 to 64, more.
    pub submitted: [u64; 8],
    /// Times that a worker found some to have ended, by how many, in the same steps.
    pub completed: [u64; 8],
}

impl Together {
    /// Adds what others saw.
    pub fn add(&mut self, other: &Together) {
        let add = |sums: &mut [u64], more: &[u64]| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        add(&mut self.in_flight, &other.in_flight);
        add(&mut self.submitted, &other.submitted);
        add(&mut self.completed, &other.completed);
    }
}

/// A rate so near to the one that the plan sets has reached it.
const REACHED: f64 = 0.98;

/// With an interval that holds the one that the plan sets a rate may be so much further below.
const NEARLY: f64 = 0.9;

impl WorkloadResult {
    /// The sum of this workload's series whose names end with `ending`, as ` ops` or ` bytes`, for each whole second of
    /// the measured window; seconds that no series tells of are zero. Empty where there is no such series. Of longer
    /// stretches, as an old part of a long load has, each second has the value of its stretch.
    ///
    /// `series` are those of the workload's point.
    pub fn whole_seconds<'a>(&self, series: impl IntoIterator<Item = &'a Series>, ending: &str) -> Vec<f64> {
        const SECOND_NS: u64 = 1_000_000_000;
        /// 48 days: a file may claim a window of any length.
        const SECONDS_MOST: u64 = 1 << 22;
        let own = |series: &&Series| {
            series.workload.as_deref() == Some(self.name.as_str()) && series.name.ends_with(ending)
        };
        let mut own = series.into_iter().filter(own).peekable();
        if own.peek().is_none() {
            return Vec::new();
        }
        let mut seconds = vec![0.0; (self.measured_ns / SECOND_NS).min(SECONDS_MOST) as usize];
        for series in own {
            let mut from = series.from_ns;
            for (at, value) in series.at_ns.iter().zip(&series.values) {
                let began = from.unwrap_or_else(|| at.saturating_sub(SECOND_NS));
                from = series.from_ns.map(|_| *at);
                // Seconds are cut from the start of the window; what ends elsewhere is a part of one.
                let Some(after) = at.checked_sub(self.measured_from_ns) else { continue };
                if after % SECOND_NS == 0 {
                    let first = began.saturating_sub(self.measured_from_ns).div_ceil(SECOND_NS);
                    let whole = narrow::<usize>(first)..(after / SECOND_NS) as usize;
                    seconds.get_mut(whole).into_iter().flatten().for_each(|sum| *sum += value);
                }
            }
        }
        seconds
    }

    /// Whether it had done its work before its warm-up was over, and so has counts of all that it did (`totals`) and nothing
    /// measured.
    pub fn ended_in_warmup(&self) -> bool {
        let stop = self.spec.stop;
        let has_warmup = !stop.warmup.is_zero() || stop.warmup_bytes.is_some();
        has_warmup && self.measured_ns == 0 && !self.totals.is_empty()
    }

    /// Bytes that writes moved within the measured window, without warm-up and cool-down; 0 where there was none.
    pub fn written_measured(&self) -> u64 {
        self.measured(Op::Write).1
    }

    /// Requests of `op` that ended well within the measured window, and their bytes.
    pub fn measured(&self, op: Op) -> (u64, u64) {
        let seconds = self.measured_ns as f64 / 1e9;
        let own = self.summary.iter().find(|summary| summary.op == Ops::One(op));
        let of = |rate: f64| truncated::<u64>((rate * seconds).round());
        own.map_or((0, 0), |own| (of(own.ops_per_s.value), of(own.bytes_per_s.value)))
    }

    /// Requests of `op` that ended well from the start, and their bytes.
    pub fn from_start(&self, op: Op) -> (u64, u64) {
        let own = self.totals.iter().filter(|total| total.op == op);
        own.fold((0, 0), |sum, one| (sum.0 + one.ops, sum.1 + one.bytes))
    }

    /// What came of the rate that the plan sets by a schedule or a cap, and that rate, in the same unit; `None` where it sets
    /// none. A flush takes the turn of a request.
    pub fn set_rate(&self) -> Option<(Figure, f64)> {
        let total = self.total()?;
        let flushes = self.each_op().filter(|one| one.op != total.op && one.op == Ops::One(Op::Flush));
        let flushes: f64 = flushes.map(|one| one.ops_per_s.value).sum();
        let plus = |figure: Figure| Figure {
            value: figure.value + flushes,
            low: figure.low.map(|low| low + flushes),
            high: figure.high.map(|high| high + flushes),
        };
        match self.spec.pace {
            Pace::Open(schedule) => Some((plus(total.ops_per_s), schedule.mean_rate().get())),
            Pace::Cap(most) => Some((plus(total.ops_per_s), most.get())),
            Pace::CapBytes(most) => Some((total.bytes_per_s, most.get())),
            _ => None,
        }
    }

    /// Whether the rate that the plan sets, of which the part `offered` was offered, was reached; `None` where it sets none.
    pub fn reaches_set_rate(&self, offered: f64) -> Option<bool> {
        let (figure, set) = self.set_rate()?;
        let most = set * offered;
        let is_in_interval = figure.high.is_some_and(|high| high >= most) && figure.value >= NEARLY * most;
        Some(figure.value >= REACHED * most || is_in_interval)
    }

    /// The summary of all that reads, writes or trims; of flushes where there is nothing else.
    pub fn total(&self) -> Option<&OpSummary> {
        self.summary.first()
    }

    /// The summary of each operation, flushes among them.
    pub fn each_op(&self) -> impl Iterator<Item = &OpSummary> {
        self.summary.iter().filter(|summary| summary.op != Ops::All)
    }
}

/// What the edges of the measured window cut. The sum of all times in service less what lay beyond the edges, with that
/// of failed requests, is the number in flight summed over the window, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Edges {
    /// Time that measured requests had been in service before the window began.
    pub before_ns: u64,
    /// Time that measured requests were in service after the window had ended.
    pub after_ns: u64,
    /// Measured requests that ended after the window: they are in the histograms and not among `ops`.
    pub ended_after: u64,
    /// Time within the window that requests were in service that failed, which are in no histogram.
    pub failed_ns: u64,
    /// Time from due to issued of measured requests without a schedule, which their response times hold.
    pub lag_ns: u64,
}

/// A stretch in which requests were in flight and none ended: of a second or more, and of twenty times as long as one
/// ended on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// When it began, since the start of the run.
    pub from_ns: u64,
    /// How long it lasted within the window.
    pub length_ns: u64,
}

impl Silence {
    /// A stretch without a completion that is so many times as long as one comes on average is no chance.
    pub const TIMES: u64 = 20;
}

/// How requests reached the kernel, or that they did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineUsed {
    /// Its word.
    pub name: Engine,
    /// Its settings in words: flags, buffers, polling.
    pub details: Vec<String>,
    /// Why it is not the one that was asked for or would be best.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fallback: Option<String>,
    /// When issue and end are stamped: `batch` overstates a latency by at most the time to fill or reap a
    /// batch; `virtual` is exact.
    pub clock: String,
    /// Requests handed over in one call at most; absent in records of before it could be chosen, and for a tree of files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub submit_batch: Option<u32>,
    /// Requests that must have ended before a waiting worker takes any; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub complete_batch: Option<u32>,
}

impl EngineUsed {
    /// That one, of which no more is said.
    pub fn new(name: Engine, clock: &str) -> EngineUsed {
        let clock = clock.into();
        EngineUsed {
            name,
            details: Vec::new(),
            fallback: None,
            clock,
            submit_batch: None,
            complete_batch: None,
        }
    }
}

/// Requests of one operation and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Class {
    /// What they did.
    pub op: Op,
    /// Bytes of each request; 0 for a flush, for what moves no content, and for files whose sizes vary.
    pub size_bytes: u64,
    /// Requests that finished within the window without an error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// From due to finished, of every request in flight in the window.
    pub response: Histogram,
    /// From issued to finished; absent where it equals `response`, as in every closed loop.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub service: Option<Histogram>,
    /// From due to issued; absent where it is always zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lag: Option<Histogram>,
    /// From issued to finished, of those that were in flight as the window ended: they are not among `ops`. Absent where there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Histogram>,
}

/// All requests of one operation that ended without an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpTotal {
    /// What they did.
    pub op: Op,
    /// How many.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
}

/// One failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorSample {
    /// When it ended, since the start of the run.
    pub at_ns: u64,
    /// What it was to do.
    pub op: Op,
    /// Which of the workload's files or LUNs, as a path where there is one.
    pub file: String,
    /// Where in it.
    pub offset_bytes: u64,
    /// How much.
    pub len_bytes: u64,
    /// What happened, in words: `EIO (5): Input/output error`, `short: 512 of 4096 bytes`, `data-corrupt`.
    pub failure: String,
    /// Of data that was wrong: what should have been there, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<String>,
    /// Of data that was wrong: what was there, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<String>,
    /// Which rank asked; absent where one process ran the plan.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rank: Option<u32>,
}

/// How much of what was read was held against what had been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Bytes that were checked, from the start; those that were wrong are among them.
    pub checked_bytes: u64,
    /// Bytes that were read and could not be checked: nobody knows what should have been there.
    pub unknown_bytes: u64,
    /// Reads that gave other data than was written. They are among the failed requests.
    pub corrupt: u64,
}

/// What one worker did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerResult {
    /// From 0.
    pub index: u32,
    /// Requests that finished within the window.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// From the start of its measured window to its own last request where no end was set; absent in older records, and
    /// where another process drove it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_ns: Option<u64>,
    /// Processor time of its thread over the whole point; absent in virtual time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuUse>,
    /// Requests that it planned and booked in a second of processor time with an engine that answers at once, right
    /// after the point: no storage could have been asked for more. Absent where that was not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ceiling_per_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use crate::sample::{self, Stream};
    use crate::words::{Op, Ops};

    #[test]
    fn a_window_that_a_file_claims_to_be_of_centuries_takes_no_more_memory_than_days() {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 100, median_ns: 100_000, spread: 0.2 };
        let mut workload = sample::workload("main", &[stream]);
        let series = sample::point(0, "4k", vec![workload.clone()]).series;
        let measured = workload.whole_seconds(&series, " ops");
        assert_eq!(measured.len() as u64, sample::SECONDS);
        workload.measured_ns = u64::MAX;
        let claimed = workload.whole_seconds(&series, " ops");
        assert_eq!((claimed.len(), &claimed[..measured.len()]), (1 << 22, &measured[..]));
    }

    #[test]
    fn flushes_are_counted_in_no_rate_of_io_and_come_last() {
        let stream = |op, per_s| Stream { op, size_bytes: 4096, per_s, median_ns: 100_000, spread: 0.1 };
        let ops = |streams: &[Stream]| {
            sample::workload("db", streams).summary.iter().map(|one| one.op).collect::<Vec<_>>()
        };
        let one = |op: Op| Ops::One(op);
        let (reads, writes, flushes) = (stream("read", 500), stream("write", 1_000), stream("flush", 1_000));
        assert_eq!(ops(&[flushes, writes]), [one(Op::Write), one(Op::Flush)]);
        assert_eq!(ops(&[flushes, reads, writes]), [Ops::All, one(Op::Read), one(Op::Write), one(Op::Flush)]);
        assert_eq!(ops(&[flushes]), [one(Op::Flush)]);
        let load = sample::point(0, "p", vec![sample::workload("db", &[flushes, reads, writes])]);
        assert_eq!(load.figure(crate::Metric::Iops), Some(1_500.0));
        // Whatever is in flight is so by Little's law of all of them.
        let all = load.load().expect("a closed loop");
        assert!((all.load / (all.rate * all.response_s) - 1.0).abs() < 1e-9, "{all:?}");
        assert!((all.rate - 2_500.0).abs() < 1e-9);
    }
}
