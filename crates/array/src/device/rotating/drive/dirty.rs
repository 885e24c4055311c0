//! What a drive has acknowledged and not begun to put on its media.
//!
//! **Invariant:** no two extents share a sector, and `sectors` is the sum of theirs.

use std::collections::{BTreeMap, VecDeque};

use super::super::layout::SectorPosition;
use crate::meter::Class;

/// Neighbouring sectors that are to go to the media as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) first: u64,
    /// Where that lies: kept, because each choice of the next extent compares it.
    pub(super) place: SectorPosition,
    pub(super) sectors: u64,
    /// When its first sector is in the buffer.
    pub(super) ready_at: u64,
    /// On whose behalf it was written.
    pub(super) class: Class,
}

impl Extent {
    pub(super) fn end(&self) -> u64 {
        self.first + self.sectors
    }
}

/// Extents in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Dirty {
    extents: VecDeque<Extent>,
    /// Where each ends, by its first sector.
    ends: BTreeMap<u64, u64>,
    sectors: u64,
}

impl Dirty {
    pub(super) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Extents.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.extents.len()
    }

    /// Sectors of all extents.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The one that came first.
    pub(super) fn oldest(&self) -> Option<&Extent> {
        self.extents.front()
    }

    /// The extents, from the oldest on.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Extent> {
        self.extents.iter()
    }

    /// Whether none of `first..end` is in them: most writes are to sectors that are not, and one look tells.
    fn is_clear(&self, first: u64, end: u64) -> bool {
        self.ends.range(..end).next_back().is_none_or(|(_, &last)| last <= first)
    }

    /// The first run of `first..end` that is in no extent; empty, at `end`, where all of it is in some.
    pub(super) fn gap(&self, mut first: u64, end: u64) -> (u64, u64) {
        if self.is_clear(first, end) {
            return (first, end);
        }
        if let Some((_, &known)) = self.ends.range(..=first).next_back() {
            first = first.max(known.min(end));
        }
        for (&from, &to) in self.ends.range(first..end) {
            if from > first {
                return (first, from);
            }
            first = to.min(end);
        }
        (first, end)
    }

    /// Whether all of `first..end` is in them.
    pub(super) fn holds(&self, first: u64, end: u64) -> bool {
        let (from, to) = self.gap(first, end);
        from == to
    }

    /// Sectors of `first..end` that are in no extent.
    pub(super) fn lacks(&self, first: u64, end: u64) -> u64 {
        if self.is_clear(first, end) {
            return end - first;
        }
        let (mut from, mut lacking) = (first, 0);
        while from < end {
            let (begin, to) = self.gap(from, end);
            lacking += to - begin;
            from = to;
        }
        lacking
    }

    /// Takes an extent of which no sector is in another. It continues the newest, where that ends at its first sector.
    pub(super) fn push(&mut self, extent: Extent) {
        debug_assert!(extent.sectors > 0, "an extent must have sectors");
        debug_assert!(
            self.is_clear(extent.first, extent.end()),
            "what lies dirty is replaced, not held twice"
        );
        self.sectors += extent.sectors;
        let end = extent.end();
        match self.extents.back_mut().filter(|last| last.end() == extent.first) {
            Some(last) => {
                last.sectors += extent.sectors;
                self.ends.insert(last.first, end);
            }
            None => {
                self.ends.insert(extent.first, end);
                self.extents.push_back(extent);
            }
        }
    }

    /// Takes the extent at `index` out.
    pub(super) fn remove(&mut self, index: usize) -> Option<Extent> {
        let extent = self.extents.remove(index)?;
        self.ends.remove(&extent.first);
        self.sectors -= extent.sectors;
        debug_assert_eq!(self.extents.is_empty(), self.sectors == 0, "sectors are dirty where extents are");
        Some(extent)
    }

    /// Forgets the extents that lie in `first..end` whole: what is written there goes to the media by itself.
    pub(super) fn forget(&mut self, first: u64, end: u64) {
        let mut index = 0;
        while let Some(extent) = self.extents.get(index) {
            if first <= extent.first && extent.end() <= end {
                self.remove(index);
            } else {
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dirty(extents: &[(u64, u64)]) -> Dirty {
        let mut dirty = Dirty::default();
        for &(first, end) in extents {
            let place = SectorPosition::default();
            dirty.push(Extent { first, place, sectors: end - first, ready_at: 0, class: Class::HostWrite });
        }
        dirty
    }

    #[test]
    fn what_lies_in_extents_is_told_from_what_does_not() {
        let dirty = dirty(&[(20, 30), (40, 50), (50, 60), (10, 15)]);
        assert_eq!((dirty.len(), dirty.sectors()), (3, 35), "one goes on where the one before it ends");
        let gaps = [(0, 10), (12, 14), (12, 18), (14, 25), (25, 45), (40, 60), (45, 70), (60, 65)];
        assert_eq!(
            gaps.map(|(first, end)| dirty.gap(first, end)),
            [(0, 10), (14, 14), (15, 18), (15, 20), (30, 40), (60, 60), (60, 70), (60, 65)]
        );
        assert!(dirty.holds(42, 58) && !dirty.holds(28, 32));
        assert_eq!((dirty.lacks(0, 70), dirty.lacks(20, 30), dirty.lacks(12, 45)), (35, 0, 15));
    }

    #[test]
    fn what_is_taken_out_or_forgotten_is_dirty_no_more() {
        let mut dirty = dirty(&[(20, 30), (40, 50), (60, 70)]);
        assert_eq!(dirty.remove(1).map(|extent| extent.first), Some(40));
        assert!(!dirty.holds(40, 50) && dirty.sectors() == 20);
        dirty.forget(25, 80);
        assert!(dirty.holds(20, 30) && !dirty.holds(60, 70), "one whole and a part of another");
        assert_eq!((dirty.sectors(), dirty.remove(1).is_none()), (10, true));
    }
}
