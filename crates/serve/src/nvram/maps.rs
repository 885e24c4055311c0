//! What was written to each group, and so is missed by a member that is away.
//!
//! Each group of a set (a pair of RAID 10, all of a RAID 5) has a write-intent map of its own, with a byte for each region of its
//! members. It is set before a region is written to and cleared while all members of the group are whole, so what a member missed
//! while it was away lies in the regions that are set, and what was written to another group is none of it.

use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use units::convert::narrow;

use super::{CONFIG, disk};
use crate::medium::Medium;

/// Regions in each write-intent map.
pub const REGIONS: u64 = 1024;
/// Where the maps are. Behind them is, for each slot, what is known of its last loss ([`Loss`]), and then, for each group, since when
/// nothing was written to it.
const INTENTS: u64 = CONFIG + 2 * disk::LABEL;
/// Bytes that are kept of a loss.
const LOSS: usize = 16;

/// How far the group of a slot was written to since that lost its disk last: exactly, while a region of the map is much.
///
/// It goes onto the medium whenever the journal is begun anew. What was written since then is in the journal, and is counted again when
/// that is done again.
#[derive(Debug)]
struct Loss {
    /// The first generation without the disk; 0 where nothing is known.
    since: AtomicU64,
    /// Where on each member the last write since then ended.
    reach: AtomicU64,
}

impl Loss {
    fn decode(bytes: &[u8; LOSS]) -> Loss {
        let (since, reach) = bytes.split_at(8);
        let number =
            |half: &[u8]| AtomicU64::new(half.first_chunk().map_or(0, |half| u64::from_le_bytes(*half)));
        Loss { since: number(since), reach: number(reach) }
    }

    /// Where the writes end, and since which generation. They are looked at in this order and changed in the other one, so that no end
    /// is taken for that of another loss.
    fn look(&self) -> (u64, u64) {
        let reach = self.reach.load(Ordering::Acquire);
        (reach, self.since.load(Ordering::Acquire))
    }

    fn encode(&self) -> [[u8; 8]; 2] {
        let (reach, since) = self.look();
        [since.to_le_bytes(), reach.to_le_bytes()]
    }
}

/// The write-intent maps, and what is known of each loss.
pub struct Maps {
    medium: Arc<dyn Medium>,
    is_synced: bool,
    intents: Vec<AtomicU8>,
    /// Of each slot.
    losses: Vec<Loss>,
    /// Of each group, the generation of the first loss of a disk since it was written to; 0 where it has lost none since.
    unchanged: Vec<AtomicU64>,
    /// Groups whose intents are kept: a member is away.
    kept: Vec<AtomicBool>,
}

impl Maps {
    /// Those on `medium`, of an array whose sets have `groups` groups and `slots` slots together; zeros where there are none yet. Where
    /// `is_synced`, what is noted is on stable storage at once.
    pub(super) fn read(
        medium: Arc<dyn Medium>,
        (groups, slots): (usize, usize),
        is_synced: bool,
    ) -> io::Result<Maps> {
        let mut intents = vec![0; groups * narrow::<usize>(REGIONS)];
        medium.read(INTENTS, &mut intents)?;
        let mut losses = vec![0; slots * LOSS];
        medium.read(INTENTS + intents.len() as u64, &mut losses)?;
        let mut unchanged = vec![0; groups * 8];
        medium.read(INTENTS + (intents.len() + losses.len()) as u64, &mut unchanged)?;
        Ok(Maps {
            medium,
            is_synced,
            intents: intents.into_iter().map(AtomicU8::new).collect(),
            losses: losses.as_chunks().0.iter().map(Loss::decode).collect(),
            unchanged: (unchanged.as_chunks().0.iter())
                .map(|bytes| AtomicU64::new(u64::from_le_bytes(*bytes)))
                .collect(),
            kept: (0..groups).map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// Where they end on the medium.
    pub(super) fn end(&self) -> u64 {
        self.unchanged_at() + 8 * self.unchanged.len() as u64
    }

    fn unchanged_at(&self) -> u64 {
        INTENTS + (self.intents.len() + LOSS * self.losses.len()) as u64
    }

    /// Writes what is kept, and forgets the rest: all that was written so far is on the members. Follow with a sync.
    pub(super) fn write(&self) -> io::Result<()> {
        let mut bytes: Vec<u8> = Vec::with_capacity(self.intents.len() + LOSS * self.losses.len());
        for (map, kept) in self.intents.chunks(narrow::<usize>(REGIONS)).zip(&self.kept) {
            let is_kept = kept.load(Ordering::Relaxed);
            bytes.extend(map.iter().map(|byte| match is_kept {
                true => byte.load(Ordering::Relaxed),
                false => {
                    byte.store(0, Ordering::Relaxed);
                    0
                }
            }));
        }
        // A pair of numbers does not lie across two sectors.
        bytes.extend(self.losses.iter().flat_map(Loss::encode).flatten());
        assert_eq!(INTENTS + bytes.len() as u64, self.unchanged_at(), "what follows is written by itself");
        self.medium.write(INTENTS, &bytes)
    }

    /// Notes that all of a group may have been written to: nothing is known of what was. Groups are counted over all sets.
    pub fn intend_all(&self, group: u32) -> io::Result<()> {
        let first = u64::from(group) * REGIONS;
        self.medium.write(INTENTS + first, &vec![1; narrow::<usize>(REGIONS)])?;
        self.write_unchanged(group, 0, true)?;
        let map = &self.intents[narrow::<usize>(first)..][..narrow::<usize>(REGIONS)];
        map.iter().for_each(|byte| byte.store(1, Ordering::Relaxed));
        Ok(())
    }

    /// Notes that regions of a group are about to be written to.
    #[inline]
    pub fn intend(&self, group: u32, regions: RangeInclusive<u64>) -> io::Result<()> {
        if self.unchanged[group as usize].load(Ordering::Relaxed) != 0 {
            self.write_unchanged(group, 0, self.is_synced)?;
        }
        assert!(*regions.end() < REGIONS, "a region of another group");
        let first = u64::from(group) * REGIONS;
        for region in regions {
            let at = first + region;
            let byte = &self.intents[narrow::<usize>(at)];
            if byte.load(Ordering::Relaxed) == 0 {
                self.medium.write(INTENTS + at, &[1])?;
                if self.is_synced {
                    self.medium.sync()?;
                }
                byte.store(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// A group loses a disk now, `since` being the first generation without it, and nobody writes to it meanwhile: whether it is written
    /// to from now on is remembered.
    pub fn lose(&self, group: u32, since: u64) -> io::Result<()> {
        assert!(since > 0, "the first generation has all of its disks");
        if self.unchanged_since(group).is_none() {
            self.write_unchanged(group, since, true)?;
        }
        Ok(())
    }

    /// The generation since which nothing was written to a group: the disks that it has lost from then on have missed nothing. `None`
    /// where it has lost none since it was written to last.
    pub fn unchanged_since(&self, group: u32) -> Option<u64> {
        Some(self.unchanged[group as usize].load(Ordering::Relaxed)).filter(|since| *since > 0)
    }

    /// A slot loses a disk that has all that was written until now; `since` is the first generation without it, and nobody writes
    /// meanwhile. How far what is written from now on reaches is known, until its next loss. Slots are counted over all sets.
    pub fn begin_reach(&self, slot: u32, since: u64) {
        let Loss { since: own, reach } = &self.losses[slot as usize];
        own.store(0, Ordering::Release);
        reach.store(0, Ordering::Release);
        own.store(since, Ordering::Release);
    }

    /// Nothing is known any more of what a slot's lost disk has missed.
    pub fn forget_reach(&self, slot: u32) {
        self.losses[slot as usize].since.store(0, Ordering::Release);
    }

    /// A group is written to, up to sector `end` of its members, which are in `slots`.
    #[inline]
    pub fn raise_reach(&self, group: u32, slots: Range<u32>, end: u64) {
        if !self.kept[group as usize].load(Ordering::Relaxed) {
            return;
        }
        for Loss { reach, .. } in &self.losses[slots.start as usize..slots.end as usize] {
            // Looked at first: it is far up soon, and then nothing is written that others read.
            if reach.load(Ordering::Relaxed) < end {
                reach.fetch_max(end, Ordering::AcqRel);
            }
        }
    }

    /// Where on the members of its group ends what was written since generation `since`, which lost a slot its disk; beyond every address
    /// where that is not known: it has lost another later, or that one had missed something before.
    pub fn reach_since(&self, slot: u32, since: u64) -> u64 {
        let (reach, own) = self.losses[slot as usize].look();
        if since > 0 && own == since { reach } else { u64::MAX }
    }

    fn write_unchanged(&self, group: u32, since: u64, is_synced: bool) -> io::Result<()> {
        // Eight bytes of one sector, so that they are written whole or not at all.
        self.medium.write(self.unchanged_at() + 8 * u64::from(group), &since.to_le_bytes())?;
        if is_synced {
            self.medium.sync()?;
        }
        self.unchanged[group as usize].store(since, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a region of a group may have been written to since all its members were whole.
    pub fn is_intended(&self, group: u32, region: u64) -> bool {
        assert!(region < REGIONS, "a region that there is");
        self.intents[narrow::<usize>(u64::from(group) * REGIONS + region)].load(Ordering::Relaxed) != 0
    }

    /// The regions of a group that may have been written to since all its members were whole.
    pub fn intents(&self, group: u32) -> Vec<u64> {
        let first = narrow::<usize>(u64::from(group) * REGIONS);
        let map = &self.intents[first..first + narrow::<usize>(REGIONS)];
        (0..).zip(map).filter(|(_, byte)| byte.load(Ordering::Relaxed) != 0).map(|(at, _)| at).collect()
    }

    /// Whether what was written to the group is remembered, because a member is away.
    pub fn keep_intents(&self, group: u32, is_kept: bool) {
        self.kept[group as usize].store(is_kept, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    fn read(medium: &Arc<MemoryMedium>) -> Maps {
        Maps::read(medium.clone(), (2, 4), false).unwrap()
    }

    #[test]
    fn intents_of_a_whole_group_are_forgotten_and_those_of_a_degraded_one_kept() {
        let medium = Arc::new(MemoryMedium::default());
        let maps = read(&medium);
        maps.intend(0, 3..=4).unwrap();
        maps.intend(1, 5..=5).unwrap();
        maps.keep_intents(1, true);
        assert_eq!((maps.intents(0), maps.intents(1)), (vec![3, 4], vec![5]));
        maps.write().unwrap();
        assert_eq!((maps.intents(0), maps.intents(1)), (vec![], vec![5]));
        assert_eq!(read(&medium).intents(1), [5]);
    }

    #[test]
    fn how_far_a_group_was_written_to_since_each_loss_is_known_until_the_slots_next_one_and_over_a_start() {
        let medium = Arc::new(MemoryMedium::default());
        let maps = read(&medium);
        maps.keep_intents(1, true);
        maps.raise_reach(1, 2..4, 900);
        maps.begin_reach(2, 7);
        maps.raise_reach(1, 2..4, 300);
        maps.begin_reach(3, 8);
        maps.raise_reach(1, 2..4, 200);
        assert_eq!([maps.reach_since(2, 7), maps.reach_since(2, 6)], [300, u64::MAX]);
        assert_eq!(maps.reach_since(3, 8), 200, "what was written before is none of it");
        assert_eq!(maps.reach_since(0, 0), u64::MAX, "a slot that has lost none");
        maps.write().unwrap();
        let again = read(&medium);
        assert_eq!([again.reach_since(2, 7), again.reach_since(3, 8)], [300, 200]);
        again.forget_reach(2);
        assert_eq!([again.reach_since(2, 7), again.reach_since(3, 8)], [u64::MAX, 200]);
        again.begin_reach(2, 9);
        assert_eq!([again.reach_since(2, 9), again.reach_since(2, 7)], [0, u64::MAX]);
    }
}
