//! How large requests are, and which operations.

use units::{Bytes, Nanos, Share};

use crate::Op;

/// Request sizes and their weights. Never empty; at most 64 entries; weights are positive.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSplit(pub Vec<(Bytes, f64)>);

impl SizeSplit {
    /// One size always.
    pub fn one(size: Bytes) -> SizeSplit {
        SizeSplit(vec![(size, 1.0)])
    }

    /// The smallest size.
    pub fn smallest(&self) -> Bytes {
        debug_assert!(!self.0.is_empty(), "a split without a size");
        self.0.iter().map(|(size, _)| *size).min().unwrap_or(Bytes::ZERO)
    }

    /// The largest size.
    pub fn largest(&self) -> Bytes {
        self.0.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO)
    }
}

/// Requests of one kind among several: a line of what Iometer calls an access specification.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How often it is drawn, in proportion to the weights of the others; positive.
    pub weight: f64,
    /// How large its requests are.
    pub sizes: SizeSplit,
    /// Which operations they are.
    pub mix: OpMix,
    /// Part of them that goes where the pattern says; `None` leaves it to the pattern.
    pub random: Option<Share>,
    /// Their offsets are multiples of this; `None` means the workload's alignment.
    pub align: Option<Bytes>,
    /// Requests that follow each other from this line once it is drawn; at least 1.
    pub burst: u32,
    /// The pause before them.
    pub delay: Nanos,
}

impl Line {
    /// Its part of the requests, in proportion to those of the other lines: each draw brings a whole burst.
    pub fn requests(&self) -> f64 {
        self.weight * f64::from(self.burst)
    }
}

/// The most lines of one workload. The same limit as in Iometer.
pub const MOST_LINES: usize = 100;

/// Shares of the operations. What is neither read, trim nor flush is a write; the shares sum to at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpMix {
    /// Part that reads.
    pub reads: Share,
    /// Part that trims.
    pub trims: Share,
    /// Part that flushes.
    pub flushes: Share,
}

impl OpMix {
    /// The operations of several mixes together, each with its weight; their sum must be positive.
    pub fn sum<'a>(parts: impl Iterator<Item = (f64, &'a OpMix)> + Clone) -> OpMix {
        let total: f64 = parts.clone().map(|(weight, _)| weight).sum();
        debug_assert!(total > 0.0, "requests of no kind");
        let part = |share: fn(&OpMix) -> Share| {
            let sum: f64 = parts.clone().map(|(weight, mix)| weight * share(mix).get()).sum();
            Share::new((sum / total).clamp(0.0, 1.0)).expect("between 0 and 1")
        };
        OpMix { reads: part(|mix| mix.reads), trims: part(|mix| mix.trims), flushes: part(|mix| mix.flushes) }
    }

    /// Part that writes.
    pub fn writes(self) -> f64 {
        (1.0 - self.reads.get() - self.trims.get() - self.flushes.get()).max(0.0)
    }

    /// The operation that writes of the same block may follow: reads, or trims where nothing is read.
    pub fn followed(self) -> Option<Op> {
        let has = |share: Share, op: Op| (share != Share::NONE).then_some(op);
        has(self.reads, Op::Read).or(has(self.trims, Op::Trim))
    }

    /// Whether anything is written. Shares such as 2/3 and 1/3 do not sum to 1 exactly in binary.
    pub fn has_writes(self) -> bool {
        self.writes() > 1e-9
    }
}
