//! Stripes: how the sectors of a set are cut for gathering, and what is known of those that have passed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use units::{Bytes, Lba, SECTOR_BYTES, Sectors};

use super::runs::{NONE, Runs};
use crate::raid::{Extent, Geometry};

/// A stripe: its set and its number there.
pub(super) type Key = (u32, u64);

/// How a set's sectors are cut into stripes for gathering.
#[derive(Clone, Copy, Debug)]
pub(super) struct StripeCut {
    /// Sectors of a stripe.
    pub stripe: u64,
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
        assert!(stripe > 0, "a stripe must have sectors");
        let chunk = geometry.spec().chunk.0.max(1);
        // What is no stripe of the set cannot be kept as one.
        let kept = if parity && stripe == full { stripes.get() / (chunk * SECTOR_BYTES) } else { 0 };
        StripeCut { stripe, parity, kept: usize::try_from(kept).unwrap_or(usize::MAX) }
    }

    /// What is dirty of stripe `number` as extents of the set, in ascending order, with gaps between them.
    pub fn extents(self, runs: &Runs, number: u64, extents: &mut Vec<Extent>) {
        let start = number * self.stripe;
        extents.clear();
        extents.extend(
            runs.each().map(|(first, end)| Extent { lba: Lba(start + first), sectors: Sectors(end - first) }),
        );
        debug_assert!(
            extents.last().is_none_or(|last| last.lba.0 + last.sectors.0 <= start + self.stripe),
            "what is dirty of a stripe must end within it",
        );
    }
}

/// What is known of the stripes that have passed last.
#[derive(Debug, Default)]
pub(super) struct Passed {
    runs: BTreeMap<Key, Runs>,
    order: VecDeque<Key>,
}

impl Passed {
    /// What of a stripe has passed; nothing of one that has been forgotten.
    pub fn known(&self, key: Key) -> &Runs {
        self.runs.get(&key).unwrap_or(&NONE)
    }

    /// Keeps what has passed of a stripe, of at most `kept` of them.
    pub fn keep(&mut self, key: Key, runs: &Runs, kept: usize) {
        if kept == 0 {
            return;
        }
        match self.runs.entry(key) {
            Entry::Occupied(mut known) => {
                known.get_mut().add(runs);
            }
            Entry::Vacant(place) => {
                place.insert(runs.clone());
                self.order.push_back(key);
            }
        }
        while self.order.len() > kept {
            let Some(oldest) = self.order.pop_front() else { break };
            self.runs.remove(&oldest);
        }
        debug_assert_eq!(self.order.len(), self.runs.len(), "a stripe is known as long as it has its turn");
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
