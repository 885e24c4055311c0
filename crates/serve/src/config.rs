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
    /// The last generation that every disk in use took: those that have it lack nothing, as nothing is written until all have the next.
    #[serde(default)]
    pub taken: u64,
    /// By which start of the array it was written.
    #[serde(default)]
    pub start: Start,
    /// The disks by bay.
    pub bays: Vec<BayConfig>,
    /// The sets.
    pub sets: Vec<Vec<SlotConfig>>,
    /// A verify or an initialisation that is under way. A rebuild or a clone is in the state of its slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<WorkConfig>,
    /// The number of the start whose write cache may hold what the disks do not have, or the loss of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<u64>,
}

impl Config {
    /// Whether a disk in use may have a label of that generation: labels are written one after the other. An older one is a copy from
    /// before the last start, which has two of them.
    pub fn counts(&self, generation: u64) -> bool {
        generation >= self.oldest()
    }

    /// The oldest generation that a disk in use may have.
    pub fn oldest(&self) -> u64 {
        if self.taken == 0 { self.generation.saturating_sub(1) } else { self.taken.min(self.generation) }
    }
}

/// A start of an array, by a number that no other has: a copy of it that was started by itself has the generations, and not these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Its own number.
    pub own: u64,
    /// Those of the starts before it, the last one first; no more than are kept.
    pub before: Vec<u64>,
}

/// Most starts that are kept.
const STARTS: usize = 32;

impl Start {
    /// The start with that number, after `last`.
    pub fn after(last: &Start, own: u64) -> Start {
        let before = std::iter::once(last.own).chain(last.before.iter().copied());
        Start { own, before: before.filter(|start| *start != 0).take(STARTS).collect() }
    }

    /// Whether a label of the start `other` may be of a disk in use: labels are written one after the other.
    pub fn follows(&self, other: &Start) -> bool {
        other.own == self.own || Some(&other.own) == self.before.first()
    }

    /// Whether the other is none of those before this one, and comes from one of them all the same: it was of a copy.
    pub fn is_apart(&self, other: &Start) -> bool {
        let is_own = |start: &u64| *start == self.own || self.before.contains(start);
        !is_own(&other.own) && other.before.iter().any(is_own)
    }
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
    /// Of an initialisation, whether all reads as zeros already, and what hosts have written since is to stay.
    #[serde(default)]
    pub is_cleared: bool,
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
    /// As a verify that repairs, with the data taken for right and parity, or copies, made anew from them: after a stop of which too
    /// little is known.
    Resync,
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
    /// Of a disk that was lost: the number of the start that wrote its label.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start: u64,
    /// Of a disk that is back and is filled with what it missed, the first generation without it; 0 of others. It lacks what the
    /// write-intent map says, and nothing else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u64,
    /// Of a slot without a disk: the one that was being filled for it when that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<FilledConfig>,
    /// Of a slot that is being filled: the disk that it had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<LostConfig>,
    /// The bay of the disk that becomes its copy, and how far that is.
    pub twin: Option<(u32, u64)>,
}

/// A disk that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostConfig {
    /// Its serial number.
    pub serial: String,
    /// The first generation without it.
    pub since: u64,
    /// The number of the start that wrote its label.
    pub start: u64,
}

/// A disk that was lost while it was being filled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilledConfig {
    /// Which one.
    #[serde(flatten)]
    pub lost: LostConfig,
    /// It has the sectors below this mark.
    pub done_to: u64,
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

impl Label {
    /// Whether the disk was a hot spare when it was taken out, and has been away since the generation `until` and no longer or shorter:
    /// it holds nothing that could be out of date.
    pub fn is_spare_until(&self, until: u64) -> bool {
        let own = self.config.bays.iter().find(|bay| bay.serial == self.serial);
        own.is_some_and(|bay| bay.status == Status::Spare) && self.config.generation + 1 == until
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls it with")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
