//! What each of several processes that drove a load together did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuUse, DeviceCounters, Silence, is_zero};

/// What one of several processes that drove a load together did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankResult {
    /// From 0, which keeps the record.
    pub rank: u32,
    /// The host that it ran on.
    pub host: String,
    /// Its workers, of all workloads together.
    pub workers: u32,
    /// Requests of its workers that finished within the window; of one that was lost those it had told of, from the start of the
    /// load.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// The median of the response times of its requests; absent where it is not known, and in records of versions that did not
    /// keep it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_p50_ns: Option<u64>,
    /// Their 99th percentile; absent also where fewer than ten requests were slower.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_p99_ns: Option<u64>,
    /// Lower end of the 95 % interval of that percentile, which holds for requests that depend on each other; absent where the
    /// load has several workloads, and where the window has too little for one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_p99_low_ns: Option<u64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_p99_high_ns: Option<u64>,
    /// The longest stretch of the window in which none of its requests completed, whether or not any was in flight: of a second
    /// or more, and of twenty times as long as one came on average; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub longest_gap: Option<Silence>,
    /// When its last worker had ended, since the start of the run; absent where it did not come to that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_ns: Option<u64>,
    /// How long after the instant that was agreed upon it started.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub late_ns: u64,
    /// Processor time of its process over the load.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<CpuUse>,
    /// Processors that it may use; absent where that is not known, and in records of versions that did not ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub processors: Option<u32>,
    /// What it asked, as it was named on its host.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub targets: Vec<String>,
    /// What the kernel of its host counted of its devices over the load; of the first rank of each host but that of rank 0,
    /// whose counters are those of the point.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub devices: Vec<DeviceCounters>,
    /// Its clock against that of rank 0, of which there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock: Option<RankClock>,
    /// Of one that was lost: until when it had told what it did, since the start of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heard_until_ns: Option<u64>,
    /// Why its part is not in the figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost: Option<String>,
}

impl RankResult {
    /// Requests of each of its workers, which is what ranks with unlike numbers of workers are compared by.
    pub fn ops_per_worker(&self) -> f64 {
        self.ops as f64 / f64::from(self.workers.max(1))
    }

    /// Whether it drove something and is in the figures.
    pub fn is_counted(&self) -> bool {
        self.workers > 0 && self.lost.is_none()
    }
}

/// A clock against that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankClock {
    /// How far its date is ahead, in nanoseconds; negative where it is behind.
    pub offset_ns: i64,
    /// By how much the offset may be wrong at most: half the quickest round trip.
    pub uncertainty_ns: u64,
    /// How fast it gains, in parts per million; absent where it was not watched for long enough, or gains no more than what
    /// may be wrong of that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drift_ppm: Option<f64>,
    /// By how much the drift may be wrong at most, in parts per million; where there is no drift it is less than this.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drift_uncertainty_ppm: Option<f64>,
}
