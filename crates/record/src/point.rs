//! One cell of a plan: what was asked, what came back, and what else was seen meanwhile.

use std::collections::BTreeMap;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::convert::narrow;

use crate::histogram::Histogram;
use crate::metric::Metric;
use crate::response_map::ResponseMap;
use crate::summary::OpSummary;
use crate::words::{Behalf, Engine, Op};

/// Load or state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PointKind {
    /// Workloads ran and were measured.
    Load,
    /// The target was brought into a state.
    State,
}

/// One set of workloads that ran together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Position in the plan's order, from 0.
    pub index: u32,
    /// The phase's name as written.
    pub phase: String,
    /// The phase's name with swept values filled in.
    pub name: String,
    /// Load or state.
    pub kind: PointKind,
    /// Which repetition, from 1.
    pub repeat: u32,
    /// The values that the sweeps gave this point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub swept: BTreeMap<String, String>,
    /// What was done to the target, by the keys of the plan: `state`, `fill`, `trim`; empty for a load.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub state: BTreeMap<String, String>,
    /// The figure this point is about: `iops`, `mb_per_s`, `p99`.
    pub headline: String,
    /// When it began, since the start of the run.
    pub started_ns: u64,
    /// When it ended, since the start of the run.
    pub ended_ns: u64,
    /// Whether it ran to its end.
    pub complete: bool,
    /// Results, in the order of the plan.
    pub workloads: Vec<WorkloadResult>,
    /// What was sampled beside the load, on the run's clock.
    pub series: Vec<Series>,
    /// CPU time of the tool itself; absent in virtual time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuUse>,
    /// The kernel's own counts of the devices, over the whole point with warm-up and cool-down.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub devices: Vec<DeviceCounters>,
    /// Where the time went; only a virtual array knows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub breakdown: Option<Breakdown>,
    /// Whether this program, not the storage, was the limit, as the finding `generator-saturated` tells.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub generator_saturated: bool,
    /// What stood between this load and the one before it; absent where it began at once, or nothing came before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled: Option<Settled>,
    /// How far its figures can be relied on; absent for a state, where no storage was asked, and where nothing was
    /// judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grading: Option<crate::Grading>,
    /// What each rank did where several processes drove the load together, in order; empty where one did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ranks: Vec<RankResult>,
}

/// What one of several processes that drove a load together did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankResult {
    /// From 0, which keeps the record.
    pub rank: u32,
    /// The host that it ran on.
    pub host: String,
    /// Its workers, of all workloads together.
    pub workers: u32,
    /// Requests of its workers that finished within the window.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// When its last worker had ended, since the start of the run; absent where it did not come to that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_ns: Option<u64>,
    /// How long after the instant that was agreed upon it started.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub late_ns: u64,
    /// Processor time of its process over the load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuUse>,
    /// Its clock against that of rank 0, of which there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock: Option<RankClock>,
    /// Why its part is not in the figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<String>,
}

/// A clock against that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankClock {
    /// How far its date is ahead, in nanoseconds; negative where it is behind.
    pub offset_ns: i64,
    /// By how much the offset may be wrong at most: half the shortest way there and back.
    pub uncertainty_ns: u64,
    /// How fast it gains, in parts per million; absent where it was not watched for long enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drift_ppm: Option<f64>,
}

impl Point {
    /// The figure `metric` of all workloads together, where there is one: rates are added up; a latency is that of the
    /// only workload.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        let each = || self.workloads.iter().filter_map(|workload| workload.total()?.figure(metric));
        if metric.more_is_better() {
            return each().reduce(|sum, value| sum + value);
        }
        each().next().filter(|_| self.workloads.len() == 1)
    }

    /// The same `by_ns` nanoseconds later on the run's clock.
    pub fn later(mut self, by_ns: u64) -> Point {
        let later = |at: &mut u64| *at = at.saturating_add(by_ns);
        later(&mut self.started_ns);
        later(&mut self.ended_ns);
        self.ranks.iter_mut().filter_map(|rank| rank.ended_ns.as_mut()).for_each(later);
        for workload in &mut self.workloads {
            later(&mut workload.measured_from_ns);
            workload.responses_over_time.iter_mut().for_each(|map| later(&mut map.from_ns));
            workload.stalls.iter_mut().for_each(|silence| later(&mut silence.from_ns));
            workload.error_samples.iter_mut().for_each(|sample| later(&mut sample.at_ns));
        }
        for series in &mut self.series {
            series.from_ns.iter_mut().for_each(later);
            series.at_ns.iter_mut().for_each(later);
        }
        if let Some(window) = self.breakdown.as_mut().and_then(|breakdown| breakdown.window.as_mut()) {
            later(&mut window.from_ns);
            later(&mut window.until_ns);
        }
        self
    }

    /// One of a phase of that name before anything of it was measured: the first of its kind, nothing swept.
    pub fn before(
        index: u32,
        phase: impl Into<String>,
        kind: PointKind,
        headline: impl Into<String>,
    ) -> Point {
        let phase = phase.into();
        Point {
            index,
            name: phase.clone(),
            phase,
            kind,
            repeat: 1,
            swept: BTreeMap::new(),
            state: BTreeMap::new(),
            headline: headline.into(),
            started_ns: 0,
            ended_ns: 0,
            complete: false,
            workloads: Vec::new(),
            series: Vec::new(),
            cpu: None,
            devices: Vec::new(),
            breakdown: None,
            generator_saturated: false,
            settled: None,
            grading: None,
            ranks: Vec::new(),
        }
    }
}

/// How a target came to rest before a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// What was done, in words: `flushed, then 2s without I/O`.
    pub done: String,
    /// How long it took in seconds, of the world's own time.
    pub seconds: f64,
    /// Bytes that were acknowledged before and had not reached the media afterwards; absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_bytes: Option<u64>,
}

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
    /// The measured window, from the start of the run.
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
    /// Each worker's part.
    pub workers: Vec<WorkerResult>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl WorkloadResult {
    /// The sum of this workload's series whose names end with `ending`, as ` ops` or ` bytes`, for each whole second of
    /// the measured window; seconds that no series tells of are zero. Empty where there is no such series. Of longer
    /// stretches, as an old part of a long load has, each second has the value of its stretch.
    ///
    /// `series` are those of the workload's point.
    pub fn whole_seconds<'a>(&self, series: impl IntoIterator<Item = &'a Series>, ending: &str) -> Vec<f64> {
        const SECOND_NS: u64 = 1_000_000_000;
        let own = |series: &&Series| {
            series.workload.as_deref() == Some(self.name.as_str()) && series.name.ends_with(ending)
        };
        let mut own = series.into_iter().filter(own).peekable();
        let mut seconds = vec![0.0; (self.measured_ns / SECOND_NS) as usize];
        if own.peek().is_none() {
            return Vec::new();
        }
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

    /// The summary of all operations together.
    pub fn total(&self) -> Option<&OpSummary> {
        self.summary.first()
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
    /// Processor time of its thread over the whole point; absent in virtual time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuUse>,
    /// Requests that it planned and booked in a second of processor time with an engine that answers at once, right
    /// after the point: no storage could have been asked for more. Absent where that was not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ceiling_per_s: Option<f64>,
}

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// In the program.
    pub user_s: f64,
    /// In the kernel for the program.
    pub system_s: f64,
    /// What the kernel counted meanwhile; absent in records of versions that did not ask it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<TaskCounts>,
}

/// What the kernel counts of a thread or a process. Source: getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCounts {
    /// Times a thread gave the processor up or was made to.
    pub context_switches: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl Add for CpuUse {
    type Output = CpuUse;

    /// Both together; counts only where both have them, since a part of them would be taken for all.
    fn add(self, other: CpuUse) -> CpuUse {
        let counts = self.counts.zip(other.counts).map(|(one, other)| TaskCounts {
            context_switches: one.context_switches.saturating_add(other.context_switches),
            major_faults: one.major_faults.saturating_add(other.major_faults),
            minor_faults: one.minor_faults.saturating_add(other.minor_faults),
        });
        CpuUse { user_s: self.user_s + other.user_s, system_s: self.system_s + other.system_s, counts }
    }
}

impl CpuUse {
    /// Both together.
    pub fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }
}

/// One quantity over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What: `read ops`, `cpu.idle`, `disk.vda.busy`. Well-known names are in
    /// [`names::series`](crate::names::series).
    pub name: String,
    /// Base unit: `per_s`, `bytes_per_s`, `share`, `ns`, `bytes`, `hz`, `celsius`, `events`, `count`.
    pub unit: String,
    /// The workload it belongs to; absent where it is about the whole point or the machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workload: Option<String>,
    /// Where it was read, in words.
    pub source: String,
    /// When the first of the sampled stretches began, since the start of the run. Each of the others begins where the
    /// one before it ended, so that a value weighs as much as its stretch is long. Absent for what was read at
    /// instants, and for what is not known of every stretch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_ns: Option<u64>,
    /// Ends of the sampled stretches, since the start of the run.
    pub at_ns: Vec<u64>,
    /// One value for each.
    pub values: Vec<f64>,
    /// Why there is nothing, where it could have been expected.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub absent: Option<String>,
}

/// Differences of the kernel's counters of one block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// `vda`, `loop3`, `nvme0n1`.
    pub device: String,
    /// How it is related to the target: `target`, `parent`, `member`.
    pub relation: String,
    /// Completed.
    pub read_requests: u64,
    /// Of 512 bytes.
    pub read_sectors: u64,
    /// Completed.
    pub write_requests: u64,
    /// Of 512 bytes.
    pub write_sectors: u64,
    /// Completed.
    pub discard_requests: u64,
    /// Of 512 bytes.
    pub discard_sectors: u64,
    /// Completed.
    pub flush_requests: u64,
}

/// Where the time went in a virtual array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breakdown {
    /// Every part that a request can meet.
    pub components: Vec<Component>,
    /// What the visits of each kind met on average.
    pub classes: Vec<ClassShare>,
    /// Where the response time of the measured requests went, by workload, operation and size; empty unless that was
    /// asked for (`fathom run --breakdown`), and for trees of files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shares: Vec<ResponseShare>,
    /// What the components and kinds of visits cover; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<BreakdownWindow>,
}

/// The time that a breakdown covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakdownWindow {
    /// Its begin, on the run's clock.
    pub from_ns: u64,
    /// Its end.
    pub until_ns: u64,
    /// How much of it, from its begin, is the warm-up of the workload that warms up longest: figures of requests leave
    /// that out, the components do not.
    pub warmup_ns: u64,
}

/// One part of a virtual array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    /// `controller 0 processor`, `disk 7`.
    pub name: String,
    /// Equal servers in it.
    pub servers: u32,
    /// Busy time over servers times window.
    pub utilisation: f64,
    /// Requests waiting or served, on average.
    pub mean_in_system: f64,
    /// Visits in the window.
    pub visits: u64,
    /// Sum of the times visits waited.
    pub wait_ns: u64,
    /// Sum of the times they were served.
    pub service_ns: u64,
    /// Of a disk: bytes that commands read from it; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_bytes: Option<u64>,
    /// Of a disk: bytes that commands wrote to it; absent in older records.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written_bytes: Option<u64>,
}

/// Where the response time of one class of a workload's requests went: shares that add up to it.
///
/// Of what goes on at once, such as accesses to several members, the last to end is followed, and of what moves data
/// while another part still does only what it takes longer counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseShare {
    /// The workload.
    pub workload: String,
    /// What they did.
    pub op: Op,
    /// Bytes of each request.
    pub size_bytes: u64,
    /// All of them.
    pub all: Shares,
    /// The slowest hundredth, and what falls into the same bucket with the fastest of it; absent with fewer than a
    /// thousand requests, and where some were never issued.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tail: Option<Shares>,
}

/// A mean response time and the parts that it went to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shares {
    /// Requests.
    pub requests: u64,
    /// They took at least that long.
    pub from_ns: u64,
    /// Mean response, from due to finished.
    pub mean_ns: f64,
    /// In the order in which a request meets them; they add up to the mean.
    pub parts: Vec<PartShare>,
}

/// What a request spent on average at one kind of part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartShare {
    /// `link`, `controller processor`, `disk seek`.
    pub part: String,
    /// Waiting.
    pub wait_ns: f64,
    /// Being served.
    pub service_ns: f64,
}

/// What visits of one kind met at one component on average, whether somebody waited for them or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassShare {
    /// On whose behalf.
    pub op: Behalf,
    /// Zero: sizes are not told apart.
    pub size_bytes: u64,
    /// Component.
    pub component: String,
    /// How many visits; 0 where it was not kept.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub visits: u64,
    /// Mean time a visit waited there.
    pub wait_ns: f64,
    /// Mean time it was served there.
    pub service_ns: f64,
}
