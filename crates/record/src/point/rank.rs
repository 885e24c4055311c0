//! What each of several processes that drove a load together did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CpuUse, is_zero};

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
