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

/// Extents by where they lie, and in the order they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Dirty {
    /// By their first sectors, with their numbers.
    extents: BTreeMap<u64, (Extent, u64)>,
    /// First sectors and numbers, in the order they came; some may be gone since, but not the first.
    ages: VecDeque<(u64, u64)>,
    /// How many have come.
    come: u64,
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
        let (first, _) = self.ages.front()?;
        self.extents.get(first).map(|(extent, _)| extent)
    }

    /// Those from sector `at` on, upwards.
    pub(super) fn above(&self, at: u64) -> impl Iterator<Item = &Extent> {
        self.extents.range(at..).map(|(_, (extent, _))| extent)
    }

    /// Those before it, downwards.
    pub(super) fn below(&self, at: u64) -> impl Iterator<Item = &Extent> {
        self.extents.range(..at).rev().map(|(_, (extent, _))| extent)
    }

    /// Whether none of `first..end` is in them: most writes are to sectors that are not, and one look tells.
    fn is_clear(&self, first: u64, end: u64) -> bool {
        self.extents.range(..end).next_back().is_none_or(|(_, (last, _))| last.end() <= first)
    }

    /// The first run of `first..end` that is in no extent; empty, at `end`, where all of it is in some.
    pub(super) fn gap(&self, mut first: u64, end: u64) -> (u64, u64) {
        if self.is_clear(first, end) {
            return (first, end);
        }
        if let Some((_, (known, _))) = self.extents.range(..=first).next_back() {
            first = first.max(known.end().min(end));
        }
        for (extent, _) in self.extents.range(first..end).map(|(_, held)| held) {
            if extent.first > first {
                return (first, extent.first);
            }
            first = extent.end().min(end);
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
        let newest = self.ages.back().and_then(|(first, _)| self.extents.get_mut(first));
        match newest.filter(|(last, number)| *number + 1 == self.come && last.end() == extent.first) {
            Some((last, _)) => last.sectors += extent.sectors,
            None => {
                self.extents.insert(extent.first, (extent, self.come));
                self.ages.push_back((extent.first, self.come));
                self.come += 1;
            }
        }
    }

    /// Takes the extent that begins at `first` out.
    pub(super) fn remove(&mut self, first: u64) -> Option<Extent> {
        let (extent, _) = self.extents.remove(&first)?;
        self.sectors -= extent.sectors;
        while let Some((first, number)) = self.ages.front() {
            if self.extents.get(first).is_some_and(|(_, own)| own == number) {
                break;
            }
            self.ages.pop_front();
        }
        debug_assert_eq!(self.extents.is_empty(), self.sectors == 0, "sectors are dirty where extents are");
        debug_assert_eq!(self.extents.is_empty(), self.ages.is_empty(), "what is here has its turn");
        Some(extent)
    }

    /// Forgets the extents that lie in `first..end` whole: what is written there goes to the media by itself.
    pub(super) fn forget(&mut self, first: u64, end: u64) {
        let mut from = first;
        while let Some((&next, (extent, _))) = self.extents.range(from..end).next() {
            from = extent.end();
            if extent.end() <= end {
                self.remove(next);
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
    fn the_oldest_is_that_which_came_first_of_those_that_are_left_and_the_near_ones_lie_around() {
        let mut dirty = dirty(&[(60, 70), (20, 30), (40, 50), (80, 90)]);
        let around = |dirty: &Dirty, at| -> [Vec<u64>; 2] {
            let firsts = |extent: &Extent| extent.first;
            [dirty.above(at).map(firsts).collect(), dirty.below(at).map(firsts).collect()]
        };
        assert_eq!(dirty.oldest().map(|extent| extent.first), Some(60));
        assert_eq!(around(&dirty, 45), [vec![60, 80], vec![40, 20]]);
        assert_eq!(around(&dirty, 40), [vec![40, 60, 80], vec![20]]);
        dirty.remove(20);
        dirty.remove(60);
        assert_eq!(dirty.oldest().map(|extent| extent.first), Some(40));
        dirty.push(Extent {
            first: 60,
            place: SectorPosition::default(),
            sectors: 5,
            ready_at: 0,
            class: Class::HostWrite,
        });
        assert_eq!(dirty.oldest().map(|extent| extent.first), Some(40), "what comes again is new");
    }

    #[test]
    fn what_is_taken_out_or_forgotten_is_dirty_no_more() {
        let mut dirty = dirty(&[(20, 30), (40, 50), (60, 70)]);
        assert_eq!(dirty.remove(40).map(|extent| extent.first), Some(40));
        assert!(!dirty.holds(40, 50) && dirty.sectors() == 20);
        dirty.forget(25, 80);
        assert!(dirty.holds(20, 30) && !dirty.holds(60, 70), "one whole and a part of another");
        assert_eq!((dirty.sectors(), dirty.remove(60).is_none()), (10, true));
    }
}
