//! Stripes: how the sectors of a set are cut for gathering, and what is known of those that have passed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use units::{Bytes, Lba, SECTOR_BYTES, Sectors};

use crate::raid::{Extent, Geometry};

/// Parts of a stripe that are dirty or not, apart.
const GRAINS: u64 = 128;

/// A stripe: its set and its number there.
pub(super) type Key = (u32, u64);

/// How a set's sectors are cut into stripes for gathering, and stripes into grains that have a bit each.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripeCut {
    /// Sectors of a stripe.
    pub stripe: u64,
    /// Sectors of a grain.
    grain: u64,
    /// Whether stripes have parity.
    pub parity: bool,
    /// How many stripes that have passed are kept.
    pub kept: usize,
}

impl StripeCut {
    /// Full stripes of a group with parity, and full rows of a set without, where they make sense as units of work: either way
    /// each member has a chunk of one. Else half a mebibyte, which one seek is worth.
    pub fn of(geometry: &Geometry, stripes: Bytes) -> StripeCut {
        let parity = geometry.spec().level.parity() > 0;
        let full = if parity { geometry.full_stripe() } else { geometry.full_row() }.0;
        let stripe = if (64..=16_384).contains(&full) { full } else { 1024 };
        let grain = stripe.div_ceil(GRAINS);
        assert!(stripe > 0, "a stripe must have sectors");
        assert!(stripe.div_ceil(grain) <= GRAINS, "a stripe must have a bit for each grain");
        let chunk = geometry.spec().chunk.0.max(1);
        // What is no stripe of the set cannot be kept as one.
        let kept = if parity && stripe == full { stripes.get() / (chunk * SECTOR_BYTES) } else { 0 };
        StripeCut { stripe, grain, parity, kept: usize::try_from(kept).unwrap_or(usize::MAX) }
    }

    /// Every grain of a stripe.
    pub fn all(self) -> u128 {
        ones(self.stripe.div_ceil(self.grain))
    }

    /// The grains in which sectors `first..end` of a stripe lie.
    pub fn grains(self, first: u64, end: u64) -> u128 {
        debug_assert!(
            first < end && end <= self.stripe,
            "sectors {first} to {end} of a stripe of {}",
            self.stripe
        );
        ones((end - 1) / self.grain + 1) & !ones(first / self.grain)
    }

    /// What these grains come to.
    pub fn bytes(self, grains: u128) -> u64 {
        u64::from(grains.count_ones()) * self.grain * SECTOR_BYTES
    }

    /// The runs of these grains of stripe `number` as sectors of the set, in ascending order, with gaps between them.
    pub fn runs(self, grains: u128, number: u64, extents: &mut Vec<Extent>) {
        let (StripeCut { stripe, grain, .. }, start) = (self, number * self.stripe);
        extents.clear();
        let mut at = 0;
        while at < GRAINS {
            let left = grains >> at;
            if left == 0 {
                break;
            }
            let from = at + u64::from(left.trailing_zeros());
            let length = u64::from((!(grains >> from)).trailing_zeros());
            let (first, end) = (from * grain, ((from + length) * grain).min(stripe));
            extents.push(Extent { lba: Lba(start + first), sectors: Sectors(end - first) });
            at = from + length;
        }
        debug_assert!(
            extents.windows(2).all(|pair| pair[0].lba + pair[0].sectors < pair[1].lba),
            "the runs of a stripe must ascend, with a gap between them",
        );
        debug_assert!(
            extents.last().is_none_or(|last| last.lba.0 + last.sectors.0 <= start + stripe),
            "the runs of a stripe must end within it",
        );
    }
}

fn ones(count: u64) -> u128 {
    if count >= GRAINS { u128::MAX } else { (1 << count) - 1 }
}

/// What is known of the stripes that have passed last.
#[derive(Debug, Default)]
pub(super) struct Passed {
    grains: BTreeMap<Key, u128>,
    order: VecDeque<Key>,
}

impl Passed {
    /// The grains of a stripe that have passed; none of one that has been forgotten.
    pub fn known(&self, key: Key) -> u128 {
        self.grains.get(&key).copied().unwrap_or(0)
    }

    /// Keeps what has passed of a stripe, of at most `kept` of them.
    pub fn keep(&mut self, key: Key, grains: u128, kept: usize) {
        if kept == 0 {
            return;
        }
        match self.grains.entry(key) {
            Entry::Occupied(mut known) => *known.get_mut() |= grains,
            Entry::Vacant(place) => {
                place.insert(grains);
                self.order.push_back(key);
            }
        }
        while self.order.len() > kept {
            let Some(oldest) = self.order.pop_front() else { break };
            self.grains.remove(&oldest);
        }
        debug_assert_eq!(self.order.len(), self.grains.len(), "a stripe is known as long as it has its turn");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::{Level, SetSpec};

    #[test]
    fn of_a_stripe_that_leaves_each_member_has_a_chunk_with_parity_and_without() {
        let sectors = |level, disks| {
            let spec = SetSpec::new(level, disks, Sectors(128), Sectors(1 << 20));
            StripeCut::of(&Geometry::new(spec).expect("a set of these"), Bytes::ZERO).stripe
        };
        assert_eq!(sectors(Level::Raid0, 8), 8 * 128);
        assert_eq!(sectors(Level::Raid10, 8), 4 * 128);
        assert_eq!(sectors(Level::Raid5, 8), 7 * 128);
        assert_eq!(sectors(Level::Jbod, 1), 1024, "what does not stripe goes by half a mebibyte");
    }
}
