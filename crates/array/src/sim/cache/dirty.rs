//! The stripes that are dirty, by their keys.
//!
//! **Invariant:** a stripe is here once, and something of it is dirty.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

use units::Instant;

use super::runs::Runs;
use super::stripes::Key;
use crate::slab::Slab;

/// What of a stripe is dirty.
#[derive(Clone, Debug, Default)]
pub(super) struct Dirty {
    pub runs: Runs,
    /// When the first of it was written.
    pub born: Instant,
    pub touched: Instant,
    /// How many flushes had come before the first of it was written.
    pub since: u64,
}

/// Dirty stripes in the order of their keys.
///
/// A cache of gigabytes has a hundred thousand of them, and each write looks for its own: the tree holds keys and places
/// alone, so that a search walks through as little memory as may be.
#[derive(Debug, Default)]
pub(super) struct DirtyStripes {
    places: BTreeMap<u128, u32>,
    stripes: Slab<Dirty>,
}

/// The key as one number, which a processor compares at once.
fn packed((set, number): Key) -> u128 {
    u128::from(set) << 64 | u128::from(number)
}

#[expect(clippy::cast_possible_truncation, reason = "its halves")]
fn unpacked(key: u128) -> Key {
    ((key >> 64) as u32, key as u64)
}

impl DirtyStripes {
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a stripe is among them.
    pub fn contains(&self, key: Key) -> bool {
        self.places.contains_key(&packed(key))
    }

    /// What of a stripe is dirty.
    pub fn get(&self, key: Key) -> Option<&Dirty> {
        self.places.get(&packed(key)).map(|&place| &self.stripes[place])
    }

    /// The same of a stripe that is about to be; where nothing of it is so far, `begin` says what.
    pub fn get_or_begin(&mut self, key: Key, begin: impl FnOnce() -> Dirty) -> &mut Dirty {
        let DirtyStripes { places, stripes } = self;
        let place = *places.entry(packed(key)).or_insert_with(|| {
            let place = stripes.take();
            stripes[place] = begin();
            place
        });
        &mut self.stripes[place]
    }

    /// Nothing of a stripe is dirty any more; what of it was.
    pub fn remove(&mut self, key: Key) -> Option<Dirty> {
        let place = self.places.remove(&packed(key))?;
        let dirty = std::mem::take(&mut self.stripes[place]);
        self.stripes.give(place);
        debug_assert!(!dirty.runs.is_empty(), "something of a stripe is dirty");
        debug_assert_eq!(self.places.len(), self.stripes.in_use(), "a stripe has one place");
        Some(dirty)
    }

    /// The lowest within bounds.
    pub fn first_of(&self, keys: impl RangeBounds<Key>) -> Option<Key> {
        self.range(keys).next()
    }

    /// Those within bounds, upwards.
    pub fn range(&self, keys: impl RangeBounds<Key>) -> impl Iterator<Item = Key> {
        let bound = |bound: Bound<&Key>| bound.map(|key| packed(*key));
        let keys = (bound(keys.start_bound()), bound(keys.end_bound()));
        self.places.range(keys).map(|(&key, _)| unpacked(key))
    }
}
