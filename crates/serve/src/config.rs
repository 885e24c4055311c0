//! What an array remembers of itself, on every disk that is in use: the configuration on disk.
//!
//! The newest generation counts. A disk that was not in use when it was written has an older one, and the newest says
//! whether that disk may be used.

use serde::{Deserialize, Serialize};

/// The configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Which array.
    pub array: String,
    /// What it is, in an address of the library.
    pub name: String,
    /// Sets, levels, chunks, sizes: what must be the same for the data to make sense.
    pub shape: String,
    /// Grows with each change.
    pub generation: u64,
    /// The disks by bay.
    pub bays: Vec<BayConfig>,
    /// The sets.
    pub sets: Vec<Vec<SlotConfig>>,
    /// A verify or an initialisation that is under way. A rebuild or a clone is in the state of its slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkConfig>,
}

/// Work on a whole set that was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkConfig {
    /// What it does.
    pub kind: SetWork,
    /// The set.
    pub set: u32,
    /// Sectors of each member below this mark are done.
    pub done_to: u64,
}

/// What work on a whole set does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetWork {
    /// Compares data, checksums and parity.
    Verify {
        /// Whether what differs is put right.
        repairs: bool,
    },
    /// Fills the set with zeros.
    Initialise,
}

/// A bay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BayConfig {
    /// The disk that is or was last in it.
    pub serial: String,
    /// What that disk is to the array.
    pub status: Status,
    /// The first generation without it, of one that was taken out of use.
    #[serde(default)]
    pub until: u64,
}

/// What a disk is to the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A member of a set, or becoming one.
    InUse,
    /// A hot spare.
    Spare,
    /// In its bay, and of no use to anything until it is a spare.
    #[default]
    Unassigned,
    /// Out of use: it failed, or somebody said so.
    Failed,
    /// Nothing is in the bay.
    Empty,
    /// It belongs to another array.
    Foreign,
    /// It belongs to this array, and what it holds is out of date.
    Stale,
}

/// A slot of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotConfig {
    /// The bay of its disk.
    pub bay: u32,
    /// The serial number of its disk.
    pub serial: String,
    /// How much of its contents the disk has.
    pub state: SlotState,
    /// The bay of the disk that becomes its copy, and how far that is.
    pub twin: Option<(u32, u64)>,
}

/// How much of a slot's contents its disk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotState {
    /// All.
    Optimal,
    /// None, since that generation.
    Failed {
        /// The first generation without it.
        since: u64,
    },
    /// Sectors below a mark.
    Rebuilding {
        /// The mark.
        done_to: u64,
    },
}

/// What is on each disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The disk's own serial number.
    pub serial: String,
    /// As of when the disk was last in use.
    pub config: Config,
}
