//! The array lab: a load curve of an array of the library within a tenth of a second, and what a rebuild costs.
//!
//! Every queue depth is a short run of a plan of its own ([`plan::depth`]) on an array of its own, so that
//! `fathom run` of the same plan gives the same figures to the last bit. How long it is follows from the rate that a few
//! hundred requests found (`window`), never from the time that it takes here: the same setting and seed give the same
//! answer on every machine, however many threads share the depths.
//!
//! [`curve`] is the load curve, [`rebuild`] what a rebuild costs, [`spot`] one depth alone, [`slots`] the enclosure, [`knobs`] what can be set,
//! [`published`] the published figures of the same array and workload.

pub mod breakdown;
pub mod curve;
pub mod knobs;
pub mod plan;
pub mod published;
pub mod rebuild;
mod side_by_side;
pub mod slots;
pub mod spot;
mod window;

use serde::{Deserialize, Deserializer, Serialize, de};
use units::{Bytes, Share};

use conduct::WorldError;
use document::Errors;

use crate::world::ModelError;

/// What the lab simulates: one workload on one array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The array's address, `array:md3000?raid=5&disks=8`.
    pub array: String,
    /// What is issued.
    pub workload: LabWorkload,
    /// Disks that have failed, by number from 0.
    #[serde(default)]
    pub fail: Vec<u32>,
    /// Every random choice follows from it.
    #[serde(default = "first_seed")]
    pub seed: u64,
}

/// The seed of a setting that names none, as that of a plan.
pub fn first_seed() -> u64 {
    1
}

/// A workload in the three words of a knob each. One worker issues it, past the host's page cache, on all of the LUNs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabWorkload {
    /// Where the next request goes.
    pub pattern: LabPattern,
    /// Block size.
    pub size: Bytes,
    /// The part of the requests that reads; the others write.
    pub reads: Share,
    /// How much of each LUN is used, from its start; `None`, or `all`, for all of it.
    #[serde(default, deserialize_with = "span")]
    pub span: Option<Bytes>,
}

/// A size, `all` or nothing.
fn span<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    let text = Option::<String>::deserialize(from)?.filter(|text| text != "all");
    text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
}

/// Where the next request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabPattern {
    /// Anywhere, each block once before any comes again.
    Random,
    /// Upwards from the start.
    Sequential,
}

impl LabPattern {
    /// As in a plan.
    pub fn name(self) -> &'static str {
        match self {
            LabPattern::Random => "random",
            LabPattern::Sequential => "sequential",
        }
    }
}

/// How long each depth of a curve is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// For a first drawing, while the whole is still simulated: some hundred requests, too few for an interval of a fast
    /// array.
    Quick,
    /// Long enough for an interval, where the rate allows it.
    #[default]
    Full,
}

/// The largest block size.
pub const SIZE_MOST: Bytes = Bytes::new(16 << 20);

/// The deepest queue.
pub const DEPTH_MOST: u32 = 4096;

/// As many depths at most.
pub const DEPTHS_MOST: usize = 16;

impl Setting {
    /// Whether `depths` and the workload are such as can be simulated in a moment.
    fn check(&self, depths: &[u32]) -> Result<(), LabError> {
        let size = self.workload.size;
        if size.is_zero() || size > SIZE_MOST || !size.is_multiple_of(Bytes::new(units::SECTOR_BYTES)) {
            let why = format!("`size` cannot be {size}: give a multiple of 512 B up to {SIZE_MOST}");
            return Err(LabError::Unfit(why));
        }
        if depths.is_empty() || depths.len() > DEPTHS_MOST {
            let why = format!("`depths` has {} entries: give 1 to {DEPTHS_MOST}", depths.len());
            return Err(LabError::Unfit(why));
        }
        if let Some(depth) = depths.iter().find(|depth| !(1..=DEPTH_MOST).contains(*depth)) {
            return Err(LabError::Unfit(format!("`depths` cannot have {depth}: give 1 to {DEPTH_MOST}")));
        }
        if !depths.is_sorted_by(|one, next| one < next) {
            return Err(LabError::Unfit("`depths` must rise, each once: give 1, 2, 4, 8".into()));
        }
        Ok(())
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The address or the array's file: its mistakes name the option and what it takes.
    #[error(transparent)]
    Spec(#[from] Errors),
    /// The array cannot be made, or does not fit the workload.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The load.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A value of the setting, and what would be valid.
    #[error("{0}")]
    Unfit(String),
}
