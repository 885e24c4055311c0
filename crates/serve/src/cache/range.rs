//! Where something lies: sectors of a set.

use std::time::Duration;

/// Sectors of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectorRange {
    /// The set.
    pub set: u32,
    /// The first sector that hosts see.
    pub lba: u64,
    /// How many.
    pub sectors: u64,
}

/// Neighbours that are to be written together.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where.
    pub place: SectorRange,
    /// What.
    pub data: Vec<u8>,
}

/// Which of what the cache has is to be written to members.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// About so many bytes.
    pub most: u64,
    /// What has been here for so long.
    pub age: Duration,
    /// What lies there, in whole or in part.
    pub only: Option<SectorRange>,
    /// What had been taken by then.
    pub up_to: u64,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { most: u64::MAX, age: Duration::ZERO, only: None, up_to: u64::MAX }
    }
}

/// Ranges that follow each other as one.
pub(super) fn joined(places: impl Iterator<Item = SectorRange>) -> Vec<SectorRange> {
    let mut all: Vec<SectorRange> = places.collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let is_next = last.set == next.set && last.lba + last.sectors == next.lba;
        if is_next {
            last.sectors += next.sectors;
        }
        is_next
    });
    debug_assert!(
        all.is_sorted_by(|one, next| (one.set, one.lba + one.sectors) < (next.set, next.lba)),
        "ranges are in order, and those that touch are one"
    );
    all
}
