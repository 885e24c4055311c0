//! Which groups of a disk were ever written to.
//!
//! A group that was has a tag for each of its sectors, of those that hold zeros as well. Where it has none any more what the disk lies
//! on has lost it: without this map that would read as if it had never been written.
//!
//! The map lies behind the last group, a bit for each of them, in sectors that each have a checksum: a lost one is no map without bits.
//! A bit is set once the tags of its group are on stable storage, so that no loss of power leaves a bit without them.
//!
//! **Invariant:** a group that is open has no tag that is [`NEVER_WRITTEN`], unless it was lost.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use units::convert::narrow;

use crate::medium::Medium;
use crate::tag::{self, SECTOR};

/// Words of bits in a sector of the map.
const WORDS: usize = 62;
/// Groups that a sector of the map has a bit for.
const GROUPS: u64 = WORDS as u64 * 64;
const MAGIC: &[u8; 4] = b"fMAP";

/// Bytes of the map of so many groups.
pub(super) fn length(groups: u64) -> u64 {
    groups.div_ceil(GROUPS) * SECTOR as u64
}

/// The map.
pub(super) struct Opened {
    /// Where it lies on its medium.
    at: u64,
    /// A bit for each group whose tags are there.
    open: Vec<AtomicU64>,
    kept: Mutex<Kept>,
}

/// What is on the medium, or will be. Held by who opens groups or closes them.
#[derive(Default)]
pub(super) struct Kept {
    bits: Vec<u64>,
    /// Opened since the last sync.
    fresh: Vec<u64>,
    /// How often groups were closed.
    closings: u64,
}

/// Groups whose bits are to be set once what was written to them is on stable storage.
pub(super) struct Fresh {
    groups: Vec<u64>,
    closings: u64,
}

impl Opened {
    /// The map of so many groups that lies on `medium` from byte `at` on. Of a sector of it that is damaged or cannot be read all groups
    /// count as open: what has no tags there is an error, and no zeros.
    pub fn read(medium: &dyn Medium, at: u64, groups: u64) -> Opened {
        let mut bits = vec![u64::MAX; narrow::<usize>(groups.div_ceil(GROUPS)) * WORDS];
        for (number, words) in (0..).zip(bits.chunks_mut(WORDS)) {
            let mut sector = [0; SECTOR];
            let is_read = medium.read(at + number * SECTOR as u64, &mut sector).is_ok();
            if is_read && decode(number, &sector, words).is_none() {
                words.fill(u64::MAX);
            }
        }
        let open = bits.iter().map(|&word| AtomicU64::new(word)).collect();
        Opened { at, open, kept: Mutex::new(Kept { bits, ..Kept::default() }) }
    }

    /// Has no group be open, on the medium as well.
    pub fn format(&self, medium: &dyn Medium) -> io::Result<()> {
        let mut kept = self.lock();
        kept.bits.fill(0);
        kept.fresh.clear();
        kept.closings += 1;
        self.write(medium, &kept, 0..kept.bits.len() / WORDS)?;
        self.open.iter().for_each(|word| word.store(0, Ordering::Release));
        Ok(())
    }

    /// Whether the tags of a group are there.
    #[inline]
    pub fn has(&self, group: u64) -> bool {
        let word = &self.open[narrow::<usize>(group / 64)];
        word.load(Ordering::Acquire) >> (group % 64) & 1 == 1
    }

    /// While it is held nobody opens a group, or closes one.
    pub fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tags of a group have been written.
    pub fn open(&self, kept: &mut Kept, group: u64) {
        debug_assert!(!self.has(group), "a group is opened once");
        kept.fresh.push(group);
        self.open[narrow::<usize>(group / 64)].fetch_or(1 << (group % 64), Ordering::Release);
    }

    /// Has none of some groups be open, on stable storage as well: their tags may go.
    pub fn close(&self, medium: &dyn Medium, kept: &mut Kept, groups: Range<u64>) -> io::Result<()> {
        let is_open = |group: &u64| self.has(*group);
        if !groups.clone().any(|group| is_open(&group)) {
            return Ok(());
        }
        kept.closings += 1;
        kept.fresh.retain(|group| !groups.contains(group));
        for group in groups.clone() {
            kept.bits[narrow::<usize>(group / 64)] &= !(1 << (group % 64));
        }
        let sectors = narrow::<usize>(groups.start / GROUPS)..narrow::<usize>(groups.end.div_ceil(GROUPS));
        self.write(medium, kept, sectors)?;
        medium.sync()?;
        for group in groups {
            self.open[narrow::<usize>(group / 64)].fetch_and(!(1 << (group % 64)), Ordering::Release);
        }
        Ok(())
    }

    /// Those that a sync which begins now brings onto stable storage.
    pub fn before_sync(&self) -> Fresh {
        let mut kept = self.lock();
        Fresh { groups: std::mem::take(&mut kept.fresh), closings: kept.closings }
    }

    /// Sets their bits, the sync having ended well.
    pub fn after_sync(&self, medium: &dyn Medium, fresh: Fresh) -> io::Result<()> {
        if fresh.groups.is_empty() {
            return Ok(());
        }
        let mut kept = self.lock();
        if kept.closings != fresh.closings {
            // Some of them may have been closed, and opened again since: the next sync tells.
            let still_open = fresh.groups.into_iter().filter(|group| self.has(*group));
            kept.fresh.extend(still_open);
            return Ok(());
        }
        let mut sectors: Vec<usize> = Vec::new();
        for group in fresh.groups {
            kept.bits[narrow::<usize>(group / 64)] |= 1 << (group % 64);
            sectors.push(narrow(group / GROUPS));
        }
        sectors.sort_unstable();
        sectors.dedup();
        sectors.into_iter().try_for_each(|sector| self.write(medium, &kept, sector..sector + 1))
    }

    fn write(&self, medium: &dyn Medium, kept: &Kept, sectors: Range<usize>) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(sectors.len() * SECTOR);
        let from = self.at + (sectors.start * SECTOR) as u64;
        for number in sectors {
            bytes.extend_from_slice(&encode(number as u64, &kept.bits[number * WORDS..][..WORDS]));
        }
        medium.write(from, &bytes)
    }
}

fn encode(number: u64, words: &[u64]) -> [u8; SECTOR] {
    let mut sector = [0; SECTOR];
    for (bytes, word) in sector.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    sector[496..504].copy_from_slice(&number.to_le_bytes());
    sector[504..508].copy_from_slice(MAGIC);
    let crc = tag::crc32c(&sector[..508]);
    sector[508..].copy_from_slice(&crc.to_le_bytes());
    sector
}

/// Fills `words` from a sector of the map; `None` where it is not that one, or damaged.
fn decode(number: u64, sector: &[u8; SECTOR], words: &mut [u64]) -> Option<()> {
    let (body, crc) = sector.split_at(508);
    let is_whole = u32::from_le_bytes(*crc.first_chunk()?) == tag::crc32c(body);
    if !is_whole || &body[504..] != MAGIC || u64::from_le_bytes(*body[496..].first_chunk()?) != number {
        return None;
    }
    for (bytes, word) in sector.as_chunks().0.iter().zip(words) {
        *word = u64::from_le_bytes(*bytes);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    const MANY: u64 = 2 * GROUPS + 5;

    fn shown(opened: &Opened) -> Vec<u64> {
        (0..MANY).filter(|&group| opened.has(group)).collect()
    }

    #[test]
    fn groups_are_on_the_map_once_they_were_synced_and_no_longer_once_they_are_closed() {
        let medium = MemoryMedium::default();
        let opened = Opened::read(&medium, 4096, MANY);
        opened.format(&medium).unwrap();
        for group in [0, GROUPS, 2 * GROUPS + 4] {
            opened.open(&mut opened.lock(), group);
        }
        assert_eq!(shown(&Opened::read(&medium, 4096, MANY)), [0; 0]);
        opened.after_sync(&medium, opened.before_sync()).unwrap();
        assert_eq!(shown(&Opened::read(&medium, 4096, MANY)), [0, GROUPS, 2 * GROUPS + 4]);
        opened.close(&medium, &mut opened.lock(), 1..GROUPS + 1).unwrap();
        assert_eq!(shown(&opened), [0, 2 * GROUPS + 4]);
        assert_eq!(shown(&Opened::read(&medium, 4096, MANY)), shown(&opened));
    }

    #[test]
    fn a_group_that_is_closed_while_a_sync_is_under_way_is_not_on_the_map() {
        let medium = MemoryMedium::default();
        let opened = Opened::read(&medium, 0, MANY);
        opened.format(&medium).unwrap();
        for group in [7, 9] {
            opened.open(&mut opened.lock(), group);
        }
        let fresh = opened.before_sync();
        opened.close(&medium, &mut opened.lock(), 9..10).unwrap();
        opened.after_sync(&medium, fresh).unwrap();
        assert_eq!(shown(&Opened::read(&medium, 0, MANY)), [0; 0]);
        opened.after_sync(&medium, opened.before_sync()).unwrap();
        assert_eq!(shown(&Opened::read(&medium, 0, MANY)), [7]);
    }

    #[test]
    fn of_a_damaged_sector_of_the_map_all_groups_count_as_open_and_stay_so() {
        let medium = MemoryMedium::default();
        let opened = Opened::read(&medium, 0, MANY);
        opened.format(&medium).unwrap();
        medium.write(SECTOR as u64, &[0; SECTOR]).unwrap();
        let again = Opened::read(&medium, 0, MANY);
        assert_eq!(shown(&again), (GROUPS..2 * GROUPS).collect::<Vec<_>>());
        again.open(&mut again.lock(), 3);
        again.after_sync(&medium, again.before_sync()).unwrap();
        assert_eq!(shown(&Opened::read(&medium, 0, MANY)).len() as u64, GROUPS + 1);
    }
}
