//! A member disk: sectors with a tag each, and a label.
//!
//! On a [`Medium`] it begins with two places for the label, of which the newer that is whole counts; groups follow of
//! [`GROUP`] sectors behind their tags, so that both are near each other and a disk that nothing was written to takes
//! no room; a map of the groups that something was written to is its end.
//!
//! **Invariant:** a read gives what was written, or an error: a sector that is not what its tag says is never handed out.

mod memory;
mod opened;
mod placed;

use std::io;

use units::convert::narrow;

use crate::medium::Medium;
use crate::tag::{self, NEVER_WRITTEN, SECTOR};
use memory::Memory;
use placed::Placed;

pub use memory::Lent;

/// Bytes of one place for the label.
pub const LABEL: u64 = 64 << 10;
/// Where the first group begins.
pub const DATA: u64 = 2 * LABEL;
/// Sectors of a group.
pub const GROUP: u64 = GROUP_SECTORS as u64;
const GROUP_SECTORS: usize = 1024;
const TAGS: u64 = TAGS_BYTES as u64;
const TAGS_BYTES: usize = GROUP_SECTORS * TAG_BYTES;
/// Bytes of a tag: the checksum of the sector, and one of that checksum ([`tag::seal`]).
const TAG_BYTES: usize = 8;
const STRIDE: u64 = TAGS + GROUP * SECTOR as u64;

/// Why a disk gives nothing back.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// What it lies on refuses.
    #[error(transparent)]
    Medium(#[from] io::Error),
    /// The contents are not what was written.
    #[error("sector {lba} does not match its checksum")]
    Mismatch {
        /// The sector.
        lba: u64,
    },
    /// There is no disk in the bay.
    #[error("the bay is empty")]
    Gone,
}

/// What is known of the contents of a sector that does not match its checksum.
pub struct Promise {
    lba: u64,
    tag: u32,
    held: Option<[u8; SECTOR]>,
}

impl Promise {
    /// Whether the sector may have held this: its checksum says so, or it holds it now, and only the checksum is wrong.
    pub fn is_kept_by(&self, sector: &[u8]) -> bool {
        tag::first_wrong(self.lba, sector, &[self.tag]).is_none()
            || self.held.as_ref().is_some_and(|held| held == sector)
    }
}

/// A disk.
pub struct Disk {
    serial: String,
    sectors: u64,
    store: Store,
}

enum Store {
    Memory(Memory),
    Placed(Placed),
}

impl Disk {
    /// A disk of that many sectors in memory.
    pub fn in_memory(serial: String, sectors: u64) -> Disk {
        Disk { serial, sectors, store: Store::Memory(Memory::new(sectors)) }
    }

    /// A disk of that many sectors on `medium`.
    pub fn on(serial: String, sectors: u64, medium: Box<dyn Medium>) -> Disk {
        Disk { serial, sectors, store: Store::Placed(Placed::on(medium, sectors)) }
    }

    /// An empty disk of that many sectors on `medium`, which is made as long as it needs to be.
    pub fn new_on(serial: String, sectors: u64, medium: Box<dyn Medium>) -> io::Result<Disk> {
        let placed = Placed::on(medium, sectors);
        placed.format(sectors)?;
        Ok(Disk { serial, sectors, store: Store::Placed(placed) })
    }

    /// Has it be empty; one that has lost its end is whole again.
    pub fn renew(&self) -> io::Result<()> {
        match &self.store {
            Store::Memory(memory) => {
                memory.discard(0, self.sectors);
                Ok(())
            }
            Store::Placed(placed) => placed.renew(self.sectors),
        }
    }

    /// What it is known by.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// Its sectors.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether it is lost with the server.
    pub fn is_volatile(&self) -> bool {
        matches!(self.store, Store::Memory(_))
    }

    /// Fills `into`, whole sectors, from sector `lba` on.
    #[inline]
    pub fn read(&self, lba: u64, into: &mut [u8]) -> Result<(), DiskError> {
        debug_assert!(lba + (into.len() / SECTOR) as u64 <= self.sectors, "a read must lie on the disk");
        match &self.store {
            Store::Memory(memory) => memory.read(lba, into),
            Store::Placed(placed) => placed.read(lba, into),
        }
    }

    /// What [`Disk::read`] gives of `bytes` bytes, without a copy, added to `lent`; where the disk is no memory, `false` and
    /// nothing.
    ///
    /// After an error `lent` has a part of it.
    #[inline]
    pub fn lend(&self, lba: u64, bytes: usize, lent: &mut Vec<Lent>) -> Result<bool, DiskError> {
        debug_assert!(lba + (bytes / SECTOR) as u64 <= self.sectors, "a read must lie on the disk");
        match &self.store {
            Store::Memory(memory) => memory.lend(lba, bytes, lent).map(|()| true),
            Store::Placed(_) => Ok(false),
        }
    }

    /// Writes `from`, whole sectors, from sector `lba` on.
    #[inline]
    pub fn write(&self, lba: u64, from: &[u8]) -> Result<(), DiskError> {
        debug_assert!(lba + (from.len() / SECTOR) as u64 <= self.sectors, "a write must lie on the disk");
        match &self.store {
            Store::Memory(memory) => memory.write(lba, from),
            Store::Placed(placed) => placed.write(lba, from)?,
        }
        Ok(())
    }

    /// Has that many sectors read as zeros, as if never written.
    pub fn discard(&self, lba: u64, sectors: u64) -> Result<(), DiskError> {
        match &self.store {
            Store::Memory(memory) => memory.discard(lba, sectors),
            Store::Placed(placed) => placed.discard(lba, sectors)?,
        }
        Ok(())
    }

    /// Has every read of the sector be an error until it is written again: what it held cannot be recovered.
    pub fn spoil(&self, lba: u64) -> Result<(), DiskError> {
        match &self.store {
            Store::Memory(memory) => memory.spoil(lba),
            Store::Placed(placed) => placed.spoil(lba)?,
        }
        Ok(())
    }

    /// Has the sector be as damaged as the one of another disk that a promise is of, and promise the same.
    pub fn spoil_as(&self, promise: &Promise) -> Result<(), DiskError> {
        match &self.store {
            Store::Memory(memory) => memory.spoil(promise.lba),
            Store::Placed(placed) => placed.spoil_as(promise)?,
        }
        Ok(())
    }

    /// Everything written before is kept whatever happens to the machine, where the disk keeps anything.
    pub fn flush(&self) -> Result<(), DiskError> {
        match &self.store {
            Store::Memory(_) => Ok(()),
            Store::Placed(placed) => Ok(placed.flush()?),
        }
    }

    /// Why it may not keep what was written to it: [`Medium::fault`].
    pub fn fault(&self) -> Option<&'static str> {
        match &self.store {
            Store::Memory(_) => None,
            Store::Placed(placed) => placed.medium.fault(),
        }
    }

    /// What the checksum of a sector that does not match it still says of what the sector held; `None` where the checksum is wrong itself.
    pub fn promise(&self, lba: u64) -> Option<Promise> {
        let Store::Placed(Placed { medium, .. }) = &self.store else { return None };
        tag_of(medium.as_ref(), lba).map(|tag| Promise { lba, tag, held: held(medium.as_ref(), lba) })
    }

    /// Whether nothing was ever written to any of the sectors, as far as is known without reading them all.
    pub fn is_hole(&self, lba: u64, sectors: u64) -> bool {
        match &self.store {
            Store::Memory(memory) => memory.is_hole(lba, sectors),
            Store::Placed(placed) => placed.is_hole(lba, sectors),
        }
    }

    /// Whether a sector was never written, by its checksum.
    pub fn is_unwritten(&self, lba: u64) -> bool {
        match &self.store {
            Store::Memory(memory) => memory.is_hole(lba, 1),
            Store::Placed(placed) => placed.is_unwritten(lba),
        }
    }

    /// Replaces the label. A label that is written when the machine stops leaves the one before it.
    pub fn write_label(&self, number: u64, label: &[u8]) -> io::Result<()> {
        let Store::Placed(placed) = &self.store else {
            // Nobody reads it again.
            return Ok(());
        };
        write_label(placed.medium.as_ref(), number, label)?;
        placed.flush()
    }
}

/// The checksum of a sector, where it is whole and says something.
fn tag_of(medium: &dyn Medium, lba: u64) -> Option<u32> {
    let mut bytes = [0; TAG_BYTES];
    medium.read(tag_at(lba), &mut bytes).ok()?;
    let tag = u32::from_le_bytes(*bytes.first_chunk()?);
    let says_something = ![NEVER_WRITTEN, tag::unreadable(lba)].contains(&tag);
    (says_something && sealed(lba, tag) == bytes).then_some(tag)
}

/// A tag as it lies on a medium.
fn sealed(lba: u64, tag: u32) -> [u8; TAG_BYTES] {
    (u64::from(tag::seal(lba, tag)) << 32 | u64::from(tag)).to_le_bytes()
}

/// The tag of a sector of an open group that nothing has been written to.
fn unwritten(lba: u64) -> [u8; TAG_BYTES] {
    (u64::from(tag::seal_of_unwritten(lba)) << 32 | u64::from(NEVER_WRITTEN)).to_le_bytes()
}

/// What a sector holds, right or wrong.
fn held(medium: &dyn Medium, lba: u64) -> Option<[u8; SECTOR]> {
    let mut sector = [0; SECTOR];
    medium.read(data_at(lba), &mut sector).ok().map(|()| sector)
}

/// Bytes of a disk of that many sectors.
pub fn length(sectors: u64) -> u64 {
    map_at(sectors) + opened::length(groups(sectors))
}

/// Where the map of a disk of that many sectors begins, behind its last group.
pub fn map_at(sectors: u64) -> u64 {
    DATA + groups(sectors) * STRIDE
}

fn groups(sectors: u64) -> u64 {
    sectors.div_ceil(GROUP)
}

/// Puts a label with its number in the place that the number before it does not have.
pub fn write_label(medium: &dyn Medium, number: u64, label: &[u8]) -> io::Result<()> {
    let mut place = Vec::with_capacity(label.len() + 24);
    place.extend_from_slice(MAGIC);
    place.extend_from_slice(&number.to_le_bytes());
    place.extend_from_slice(&narrow::<u32>(label.len()).to_le_bytes());
    place.extend_from_slice(label);
    let crc = tag::crc32c(&place);
    place.extend_from_slice(&crc.to_le_bytes());
    if place.len() as u64 > LABEL {
        return Err(io::Error::other("the label of a disk has room for 64 KiB; use fewer disks"));
    }
    medium.write((number % 2) * LABEL, &place)
}

/// The newest whole label and its number; `None` where there is none.
pub fn read_label(medium: &dyn Medium) -> io::Result<Option<(u64, Vec<u8>)>> {
    let mut newest: Option<(u64, Vec<u8>)> = None;
    for place in [0, LABEL] {
        let mut bytes = vec![0; narrow::<usize>(LABEL)];
        medium.read(place, &mut bytes)?;
        if let Some(label) = whole_label(&bytes)
            && newest.as_ref().is_none_or(|other| label.0 > other.0)
        {
            newest = Some(label);
        }
    }
    Ok(newest)
}

/// Forgets the label.
pub fn clear_label(medium: &dyn Medium) -> io::Result<()> {
    medium.write(0, &[0; 8])?;
    medium.write(LABEL, &[0; 8])?;
    medium.sync()
}

const MAGIC: &[u8; 8] = b"fathomD3";

fn whole_label(bytes: &[u8]) -> Option<(u64, Vec<u8>)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let number = u64::from_le_bytes(*rest.first_chunk()?);
    let len = u32::from_le_bytes(*rest.get(8..)?.first_chunk()?) as usize;
    let label = rest.get(12..)?.get(..len)?;
    let crc = u32::from_le_bytes(*rest.get(12 + len..)?.first_chunk()?);
    (tag::crc32c(&bytes[..MAGIC.len() + 12 + len]) == crc).then(|| (number, label.to_vec()))
}

fn tag_at(lba: u64) -> u64 {
    DATA + lba / GROUP * STRIDE + lba % GROUP * TAG_BYTES as u64
}

fn data_at(lba: u64) -> u64 {
    DATA + lba / GROUP * STRIDE + TAGS + lba % GROUP * SECTOR as u64
}

fn put_tags(medium: &dyn Medium, lba: u64, tags: &[u32]) -> io::Result<()> {
    let mut bytes = [0; TAGS_BYTES];
    let bytes = &mut bytes[..tags.len() * TAG_BYTES];
    for ((lba, tag), bytes) in (lba..).zip(tags).zip(bytes.as_chunks_mut().0) {
        *bytes = sealed(lba, *tag);
    }
    medium.write(tag_at(lba), bytes)
}

fn checked(lba: u64, data: &[u8], tags: &[u32]) -> Result<(), DiskError> {
    match tag::first_wrong(lba, data, tags) {
        None => Ok(()),
        Some(wrong) => Err(DiskError::Mismatch { lba: lba + wrong as u64 }),
    }
}

/// Parts of `bytes` bytes from sector `lba` on that each lie in one run of `run` sectors: first sector and place.
fn parts(lba: u64, bytes: usize, run: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        (done < bytes).then(|| {
            let at = lba + (done / SECTOR) as u64;
            let room = narrow::<usize>(run - at % run) * SECTOR;
            let part = done..bytes.min(done + room);
            done = part.end;
            (at, part)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    fn disks() -> [Disk; 2] {
        let sectors = 3 * GROUP;
        [
            Disk::in_memory("memory".into(), sectors),
            Disk::new_on("medium".into(), sectors, Box::new(MemoryMedium::default())).unwrap(),
        ]
    }

    #[test]
    fn what_was_written_is_read_across_groups_and_the_rest_is_zeros() {
        for disk in disks() {
            let data: Vec<u8> = (0..1200 * SECTOR).map(|at| narrow::<u8>(at % 251)).collect();
            disk.write(1000, &data).unwrap();
            let mut read = vec![1; 1202 * SECTOR];
            disk.read(999, &mut read).unwrap();
            assert!(read[..SECTOR].iter().all(|&byte| byte == 0));
            assert_eq!(read[SECTOR..1201 * SECTOR], data);
            assert!(read[1201 * SECTOR..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn what_is_lent_is_what_was_read_then_whatever_is_written_afterwards() {
        let [disk, on_medium] = disks();
        let data: Vec<u8> = (0..1200 * SECTOR).map(|at| narrow::<u8>(at % 251)).collect();
        disk.write(1000, &data).unwrap();
        let mut lent = Vec::new();
        assert!(!on_medium.lend(0, SECTOR, &mut lent).unwrap() && lent.is_empty());
        assert!(disk.lend(400, 1000 * SECTOR, &mut lent).unwrap());
        disk.write(1000, &vec![9; 300 * SECTOR]).unwrap();
        disk.discard(1300, 724).unwrap();
        let read: Vec<u8> = lent.iter().flat_map(|part| part.iter().copied()).collect();
        assert!(read[..600 * SECTOR].iter().all(|&byte| byte == 0));
        assert_eq!(read[600 * SECTOR..], data[..400 * SECTOR]);
        let mut now = vec![0; SECTOR];
        disk.read(1299, &mut now).unwrap();
        assert_eq!(now, [9; SECTOR]);
    }

    #[test]
    fn a_sector_that_is_not_what_its_tag_says_is_not_lent() {
        let [disk, _] = disks();
        disk.write(0, &[7; 8 * SECTOR]).unwrap();
        disk.spoil(5).unwrap();
        assert!(matches!(disk.lend(0, 8 * SECTOR, &mut Vec::new()), Err(DiskError::Mismatch { lba: 5 })));
    }

    #[test]
    fn discarded_sectors_are_zeros_and_holes_and_their_neighbours_stay() {
        for disk in disks() {
            disk.write(0, &vec![7; 2100 * SECTOR]).unwrap();
            assert!(!disk.is_hole(0, 2100));
            disk.discard(10, 2060).unwrap();
            let mut read = vec![0; 2100 * SECTOR];
            disk.read(0, &mut read).unwrap();
            let zero = |sector: usize| read[sector * SECTOR..][..SECTOR].iter().all(|&byte| byte == 0);
            assert_eq!([9, 10, 1024, 2069, 2070].map(zero), [false, true, true, true, false]);
            assert!(disk.is_hole(1024, 1024) && disk.is_hole(10, 2060) && !disk.is_hole(9, 1));
        }
    }

    #[test]
    fn a_spoilt_sector_is_an_error_until_it_is_written() {
        for disk in disks() {
            disk.spoil(5).unwrap();
            let mut read = [0; 8 * SECTOR];
            assert!(matches!(disk.read(0, &mut read), Err(DiskError::Mismatch { lba: 5 })));
            assert!(!disk.is_hole(0, 8), "what is unreadable is not nothing");
            disk.write(5, &[0; SECTOR]).unwrap();
            disk.read(0, &mut read).unwrap();
        }
    }

    #[test]
    fn what_a_medium_has_lost_together_with_its_checksums_is_an_error_and_no_zeros() {
        let medium = std::sync::Arc::new(MemoryMedium::default());
        let sectors = 3 * GROUP;
        let window = |from| Box::new(crate::medium::Window { medium: medium.clone(), from });
        let disk = Disk::new_on("medium".into(), sectors, window(0)).unwrap();
        disk.write(GROUP + 5, &[7; 2 * SECTOR]).unwrap();
        disk.flush().unwrap();
        let mut read = [1; 8 * SECTOR];
        disk.read(GROUP, &mut read).unwrap();
        medium.discard(tag_at(GROUP), STRIDE).unwrap();
        for disk in [disk, Disk::on("medium".into(), sectors, window(0))] {
            for lba in [GROUP, GROUP + 5, 2 * GROUP - 8] {
                assert!(matches!(disk.read(lba, &mut read), Err(DiskError::Mismatch { .. })), "{lba}");
                assert!(!disk.is_hole(lba, 8) && !disk.is_unwritten(lba));
            }
            disk.read(0, &mut read).unwrap();
            disk.read(2 * GROUP, &mut read).unwrap();
            assert!(disk.is_hole(0, GROUP) && disk.is_hole(2 * GROUP, GROUP));
        }
    }

    #[test]
    fn an_open_group_of_which_all_was_discarded_is_a_hole() {
        let disk = &disks()[1];
        disk.write(0, &vec![7; 2000 * SECTOR]).unwrap();
        disk.flush().unwrap();
        disk.discard(0, 3 * GROUP).unwrap();
        assert!(disk.is_hole(0, 3 * GROUP) && disk.is_unwritten(5));
        let mut read = vec![1; 2000 * SECTOR];
        disk.read(0, &mut read).unwrap();
        assert!(read.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_torn_label_leaves_the_one_before_it() {
        let medium = MemoryMedium::default();
        assert_eq!(read_label(&medium).unwrap(), None);
        write_label(&medium, 4, b"four").unwrap();
        write_label(&medium, 5, b"five").unwrap();
        assert_eq!(read_label(&medium).unwrap(), Some((5, b"five".to_vec())));
        medium.write(LABEL + 21, b"x").unwrap();
        assert_eq!(read_label(&medium).unwrap(), Some((4, b"four".to_vec())));
        clear_label(&medium).unwrap();
        assert_eq!(read_label(&medium).unwrap(), None);
    }
}
