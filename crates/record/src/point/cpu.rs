//! Processor time of a thread or a process, and what the kernel counted of it.

use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// What of `user_s` went into the content of writes, by a sample; absent where none was made, where that is not
    /// known, and in records of versions that did not time it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_s: Option<f64>,
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
        let content = [self.content_s, other.content_s].into_iter().flatten();
        CpuUse {
            user_s: self.user_s + other.user_s,
            system_s: self.system_s + other.system_s,
            counts,
            content_s: content.reduce(|one, other| one + other),
        }
    }
}

impl CpuUse {
    /// Both together.
    pub fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }
}
