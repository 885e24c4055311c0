//! What was sampled beside a load: quantities over time, and the counters of block devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl Series {
    /// Nothing yet of what is read at `source`, about the whole point or the machine.
    pub fn new(name: impl Into<String>, unit: &str, source: impl Into<String>) -> Series {
        Series {
            name: name.into(),
            unit: unit.into(),
            workload: None,
            source: source.into(),
            from_ns: None,
            at_ns: Vec::new(),
            values: Vec::new(),
            absent: None,
        }
    }
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
    /// Merges and times; absent in records of versions that did not keep them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<DeviceWaits>,
}

/// Differences of the kernel's counters of merges and times of one block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceWaits {
    /// Reads merged into another one before they reached the device.
    pub read_merges: u64,
    /// Writes merged likewise.
    pub write_merges: u64,
    /// Time of all reads together, in nanoseconds; the kernel counts whole milliseconds.
    pub read_ns: u64,
    /// Of all writes.
    pub write_ns: u64,
    /// Of all requests, those still in flight included.
    pub queue_ns: u64,
}
