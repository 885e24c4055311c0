//! One cell of a plan: what was asked, what came back, and what else was seen meanwhile.

mod breakdown;
mod cpu;
mod rank;
pub mod ranks;
mod series;
mod workload;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::saturation::LoadPoint;

pub use self::breakdown::{
    Breakdown, BreakdownWindow, ClassShare, Component, DiskRole, HostTraffic, LunQueues, PartShare,
    ResponseShare, Shares, SlcFill, WriteCacheFill,
};
pub use self::cpu::{CpuUse, TaskCounts};
pub use self::rank::{RankClock, RankResult};
pub use self::series::{DeviceCounters, DeviceWaits, Series};
pub use self::workload::{
    Class, DeviceZones, Edges, EngineUsed, ErrorSample, OpTotal, Silence, Together, Verified, WorkerResult,
    WorkloadResult,
};
use crate::metric::{Estimate, Metric};
use crate::words::Op;

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
    /// The phase's name with swept values filled in, and what `--set` changed behind it.
    pub name: String,
    /// Load or state.
    pub kind: PointKind,
    /// Which repetition, from 1.
    pub repeat: u32,
    /// The values that the sweeps gave this point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub swept: BTreeMap<String, String>,
    /// What `--set` changed of what it asks and its phase's name does not say; absent where nothing was.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub set: Vec<(String, String)>,
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

    /// The same with its interval, which the sum of several workloads has not.
    pub fn estimate(&self, metric: Metric) -> Option<Estimate> {
        let value = self.figure(metric)?;
        let [only] = &self.workloads[..] else { return Some(Estimate::of(value)) };
        Some(Estimate { value, interval: only.total()?.interval(metric) })
    }

    /// Whether its writes went into free room of a write cache, at a rate that is not sustained; only a virtual array knows.
    pub fn is_filling(&self) -> bool {
        self.filling().is_some()
    }

    /// The fill of the write caches, where it [is filling](Point::is_filling). A rate that the plan sets and that was reached lasts
    /// once the caches have their level.
    pub fn filling(&self) -> Option<WriteCacheFill> {
        let fill = self.breakdown.as_ref()?.write_cache?;
        let written: u64 = self.workloads.iter().map(WorkloadResult::written_measured).sum();
        let is_set = self.workloads.iter().all(|workload| workload.reaches_set_rate(1.0) == Some(true));
        (fill.is_filling(written) && !(is_set && fill.has_levelled_off(written))).then_some(fill)
    }

    /// How long the parts of its breakdown were looked at, in nanoseconds: its window, or all of it where the record does not say.
    pub fn metered_ns(&self) -> u64 {
        let window = self.breakdown.as_ref().and_then(|breakdown| breakdown.window);
        let (from_ns, until_ns) =
            window.map_or((self.started_ns, self.ended_ns), |window| (window.from_ns, window.until_ns));
        until_ns.saturating_sub(from_ns)
    }

    /// How long it had warmed up before the parts of its breakdown were looked at alone, in nanoseconds; 0 where the record does not
    /// say.
    pub fn warmed_up_ns(&self) -> u64 {
        let window = self.breakdown.as_ref().and_then(|breakdown| breakdown.window);
        window.map_or(0, |window| window.from_ns.saturating_sub(self.started_ns) + window.warmup_ns)
    }

    /// Whether its breakdown is known to leave the warm-up out, as figures of requests do.
    pub fn leaves_warm_up_out(&self) -> bool {
        let window = self.breakdown.as_ref().and_then(|breakdown| breakdown.window);
        window.is_some_and(|window| window.warmup_ns == 0)
    }

    /// Requests of `op` and their bytes in the window of its breakdown, warm-up left out as it is there; from the start where an older
    /// record counts the warm-up there or says nothing.
    pub fn metered(&self, op: Op) -> (u64, u64) {
        let each = self.workloads.iter().map(|workload| match self.leaves_warm_up_out() {
            true => workload.measured(op),
            false => workload.from_start(op),
        });
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Requests in flight, rate and mean response of all workloads together, for the curve of a sweep; `None` unless all are
    /// closed loops in which a request ended.
    pub fn load(&self) -> Option<LoadPoint> {
        let closed = |workload: &WorkloadResult| workload.classes.iter().all(|class| class.service.is_none());
        if self.workloads.is_empty() || !self.workloads.iter().all(closed) {
            return None;
        }
        let load: f64 = self.workloads.iter().map(|workload| workload.mean_in_flight).sum();
        // A flush is in flight as others are.
        let requests = || self.workloads.iter().flat_map(WorkloadResult::each_op);
        let rate: f64 = requests().map(|one| one.ops_per_s.value).sum();
        let responses = requests().filter_map(|one| one.response.as_ref());
        let (sum_ns, count) = responses.fold((0.0, 0.0), |(sum, count), response| {
            (sum + response.mean_ns * response.count as f64, count + response.count as f64)
        });
        (count > 0.0).then(|| LoadPoint { load, rate, response_s: sum_ns / count / 1e9 })
    }

    /// Its name without what `--set` changed: the same for all runs of a plan.
    pub fn plain_name(&self) -> &str {
        spec::title_without_set(&self.name, &self.set)
    }

    /// The name of its phase for people, as [`phase_title`](crate::phase_title) gives it, and what `--set` changed behind it.
    pub fn phase_title(&self, value: impl FnMut(&str) -> Option<String>) -> String {
        spec::title_with_set(crate::phase_title(&self.phase, value), &self.set)
    }

    /// What is asked: keys of its workload that are [of its load](spec::is_of_load), with their texts; of several workloads
    /// `oltp.depth`.
    pub fn asked(&self) -> BTreeMap<String, String> {
        let is_alone = self.workloads.len() == 1;
        let of = |workload: &WorkloadResult| -> Vec<(String, String)> {
            let texts = workload.spec.texts().into_iter().filter(|(key, _)| spec::is_of_load(key));
            let named = |key: &str| if is_alone { key.into() } else { format!("{}.{key}", workload.name) };
            texts.map(|(key, text)| (named(key), text)).collect()
        };
        self.workloads.iter().flat_map(of).collect()
    }

    /// The same `by_ns` nanoseconds later on the run's clock.
    pub fn later(mut self, by_ns: u64) -> Point {
        let later = |at: &mut u64| *at = at.saturating_add(by_ns);
        later(&mut self.started_ns);
        later(&mut self.ended_ns);
        for rank in &mut self.ranks {
            [&mut rank.ended_ns, &mut rank.heard_until_ns].into_iter().flatten().for_each(later);
            rank.longest_gap.iter_mut().for_each(|gap| later(&mut gap.from_ns));
        }
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
            set: Vec::new(),
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

fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
