//! The controller's non-volatile memory: a journal of member writes, and which regions were written to.
//!
//! What a request does to members is appended to the journal as one record before the first member is touched. After a
//! stop at any instant [`Nvram::replay`] does the whole records again, in order: a stripe whose data reached one member
//! and whose parity did not reach another (the write hole) cannot be left behind, whichever members are there by then.
//!
//! The write-intent map has a byte for each region of the members of a set. It is set before a region is written to and
//! cleared while all members are whole, so what a member missed while it was away lies in the regions that are set.
//!
//! **Invariant:** the journal is begun anew only after everything in it is on the members.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::medium::Medium;
use crate::tag::crc32c;

/// Regions of each set in the write-intent map.
pub const REGIONS: u64 = 1024;
/// Most sets that there is room for.
const MOST_SETS: u64 = 1024;
const HEADER: u64 = 4096;
const INTENTS: u64 = 2 * HEADER;
const JOURNAL: u64 = INTENTS + REGIONS * MOST_SETS;
const HEADER_MAGIC: &[u8; 8] = b"fathomN1";
const RECORD_MAGIC: u32 = 0x4A4C_4E52;
/// Bytes of a record before its entries.
const RECORD: usize = 32;
const ENTRY: usize = 16;

/// What is kept of a write to members before it is done.
#[derive(Debug, Default)]
pub struct Record {
    entries: Vec<Entry>,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    member: u16,
    is_discard: bool,
    sectors: u32,
    lba: u64,
}

/// One write to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// Bytes from a sector on.
    Write(&'a [u8]),
    /// That many sectors become zeros.
    Discard(u64),
}

impl Record {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.data.clear();
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds the write of `from`, whole sectors.
    pub fn write(&mut self, member: u16, lba: u64, from: &[u8]) {
        let sectors = narrow::<u32>(from.len() as u64 / SECTOR_BYTES);
        self.entries.push(Entry { member, is_discard: false, sectors, lba });
        self.data.extend_from_slice(from);
    }

    /// Adds that sectors become zeros.
    pub fn discard(&mut self, member: u16, lba: u64, sectors: u64) {
        self.entries.push(Entry { member, is_discard: true, sectors: narrow::<u32>(sectors), lba });
    }

    /// Each change in the order in which it was added: member, first sector, what.
    pub fn changes(&self) -> impl Iterator<Item = (u16, u64, Change<'_>)> {
        let mut at = 0;
        self.entries.iter().map(move |entry| {
            if entry.is_discard {
                return (entry.member, entry.lba, Change::Discard(entry.sectors.into()));
            }
            let len = narrow::<usize>(u64::from(entry.sectors) * SECTOR_BYTES);
            at += len;
            (entry.member, entry.lba, Change::Write(&self.data[at - len..at]))
        })
    }

    /// Bytes that it takes in a journal.
    pub fn encoded_len(&self) -> u64 {
        padded((RECORD + self.entries.len() * ENTRY + self.data.len()) as u64)
    }

    fn encode(&self, sequence: u64, set: u32, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&RECORD_MAGIC.to_le_bytes());
        into.extend_from_slice(&[0; 4]);
        into.extend_from_slice(&sequence.to_le_bytes());
        into.extend_from_slice(&set.to_le_bytes());
        into.extend_from_slice(&narrow::<u32>(self.entries.len()).to_le_bytes());
        into.extend_from_slice(&(self.data.len() as u64).to_le_bytes());
        for entry in &self.entries {
            into.extend_from_slice(&entry.member.to_le_bytes());
            into.extend_from_slice(&u16::from(entry.is_discard).to_le_bytes());
            into.extend_from_slice(&entry.sectors.to_le_bytes());
            into.extend_from_slice(&entry.lba.to_le_bytes());
        }
        into.extend_from_slice(&self.data);
        let crc = crc32c(&into[8..]);
        into[4..8].copy_from_slice(&crc.to_le_bytes());
    }

    /// The record that `bytes` are, if they are the whole of the one with that number: it and its set.
    fn decode(bytes: &[u8], sequence: u64) -> Option<(u32, Record)> {
        let crc = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?);
        let found = u64::from_le_bytes(*bytes.get(8..)?.first_chunk()?);
        let set = u32::from_le_bytes(*bytes.get(16..)?.first_chunk()?);
        let count = u32::from_le_bytes(*bytes.get(20..)?.first_chunk()?) as usize;
        if found != sequence || crc32c(bytes.get(8..)?) != crc {
            return None;
        }
        let (entries, data) = bytes.get(RECORD..)?.split_at_checked(count.checked_mul(ENTRY)?)?;
        let entries: Vec<Entry> = (entries.as_chunks::<ENTRY>().0.iter())
            .map(|bytes| Entry {
                member: u16::from_le_bytes([bytes[0], bytes[1]]),
                is_discard: bytes[2] != 0,
                sectors: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
                lba: u64::from_le_bytes(*bytes[8..].first_chunk().unwrap_or(&[0; 8])),
            })
            .collect();
        let written = entries.iter().filter(|entry| !entry.is_discard);
        let wanted: u64 = written.map(|entry| u64::from(entry.sectors) * SECTOR_BYTES).sum();
        (wanted == data.len() as u64).then(|| (set, Record { entries, data: data.to_vec() }))
    }
}

/// How long a record with that header is, header included; `None` where it is none.
fn encoded_len(header: &[u8; RECORD]) -> Option<u64> {
    if header[..4] != RECORD_MAGIC.to_le_bytes() {
        return None;
    }
    let count = u32::from_le_bytes(*header[20..].first_chunk()?);
    let data = u64::from_le_bytes(*header[24..].first_chunk()?);
    data.checked_add(u64::from(count) * ENTRY as u64 + RECORD as u64)
}

/// What the memory says of how the server ended before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Whether it was closed in order.
    pub is_clean: bool,
    /// The start of the machine that it ran under.
    pub boot: String,
}

/// The journal and the write-intent map.
pub struct Nvram {
    medium: Box<dyn Medium>,
    room: u64,
    is_synced: bool,
    position: Mutex<Position>,
    /// Held by who has appended and not yet written to members.
    gate: RwLock<()>,
    intents: Vec<AtomicU8>,
    /// Sets whose intents are kept: a member is away.
    kept: Vec<AtomicBool>,
    boot: String,
}

#[derive(Debug, Default)]
struct Position {
    /// Where the next record goes.
    at: u64,
    /// Its number.
    sequence: u64,
    /// The number of the next header.
    header: u64,
    encoded: Vec<u8>,
}

/// A record is in the journal and its members may be written. The journal is not begun anew while one is held.
pub struct Appended<'a>(RwLockReadGuard<'a, ()>);

impl Nvram {
    /// The memory on `medium`, with room for that many bytes of journal, of an array of `sets` sets.
    ///
    /// Where `is_synced`, each record is on stable storage before members are written: then a loss of power of this
    /// machine leaves no write hole either.
    pub fn open(
        medium: Box<dyn Medium>,
        room: u64,
        sets: usize,
        is_synced: bool,
        boot: &str,
    ) -> io::Result<(Nvram, Past)> {
        let mut intents = vec![0; sets * narrow::<usize>(REGIONS)];
        medium.read(INTENTS, &mut intents)?;
        let header = newest_header(medium.as_ref())?;
        let past = header.as_ref().map_or(Past { is_clean: true, boot: boot.to_owned() }, |header| Past {
            is_clean: header.is_clean,
            boot: header.boot.clone(),
        });
        let (sequence, number) = header.map_or((1, 0), |header| (header.sequence, header.number + 1));
        let position = Position { at: 0, sequence, header: number, encoded: Vec::new() };
        let nvram = Nvram {
            medium,
            room,
            is_synced,
            position: Mutex::new(position),
            gate: RwLock::default(),
            intents: intents.into_iter().map(AtomicU8::new).collect(),
            kept: (0..sets).map(|_| AtomicBool::new(false)).collect(),
            boot: boot.to_owned(),
        };
        Ok((nvram, past))
    }

    /// Does every whole record again, in order, with `act`; how many there were. Follow with [`Nvram::restart`].
    pub fn replay(&self, mut act: impl FnMut(u32, &Record) -> io::Result<()>) -> io::Result<u64> {
        let mut position = self.position();
        let mut count = 0;
        while let Some((set, record, len)) = self.record_at(position.at, position.sequence)? {
            act(set, &record)?;
            position.at += len;
            position.sequence += 1;
            count += 1;
        }
        Ok(count)
    }

    fn record_at(&self, at: u64, sequence: u64) -> io::Result<Option<(u32, Record, u64)>> {
        let mut header = [0; RECORD];
        if at + RECORD as u64 > self.room {
            return Ok(None);
        }
        self.medium.read(JOURNAL + at, &mut header)?;
        let Some(len) = encoded_len(&header).filter(|len| at + len <= self.room) else { return Ok(None) };
        let mut bytes = vec![0; narrow::<usize>(len)];
        self.medium.read(JOURNAL + at, &mut bytes)?;
        Ok(Record::decode(&bytes, sequence).map(|(set, record)| (set, record, padded(len))))
    }

    /// Puts a record into the journal. Where there is no room, `sync` is called first: it has everything that was
    /// written to members be on stable storage.
    pub fn append(
        &self,
        set: u32,
        record: &Record,
        sync: impl Fn() -> io::Result<()>,
    ) -> io::Result<Appended<'_>> {
        let len = record.encoded_len();
        if len > self.room {
            return Err(io::Error::other("a write is larger than the journal"));
        }
        loop {
            let gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
            let mut position = self.position();
            if position.at + len > self.room {
                drop((position, gate));
                self.checkpoint(false, &sync, |at| at + len > self.room)?;
                continue;
            }
            let Position { at, sequence, encoded, .. } = &mut *position;
            record.encode(*sequence, set, encoded);
            self.medium.write(JOURNAL + *at, encoded)?;
            if self.is_synced {
                self.medium.sync()?;
            }
            *at += len;
            *sequence += 1;
            return Ok(Appended(gate));
        }
    }

    /// Begins the journal anew, after `sync` has put all that is in it onto stable storage.
    pub fn restart(&self, is_clean: bool, sync: impl Fn() -> io::Result<()>) -> io::Result<()> {
        self.checkpoint(is_clean, &sync, |_| true)
    }

    fn checkpoint(
        &self,
        is_clean: bool,
        sync: &dyn Fn() -> io::Result<()>,
        is_due: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        let _nobody_writes = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut position = self.position();
        // Another may have done it while this one waited.
        if !is_due(position.at) {
            return Ok(());
        }
        sync()?;
        let mut intents: Vec<u8> = Vec::with_capacity(self.intents.len());
        for (set, map) in self.intents.chunks(narrow::<usize>(REGIONS)).enumerate() {
            let is_kept = self.kept[set].load(Ordering::Relaxed);
            intents.extend(map.iter().map(|byte| match is_kept {
                true => byte.load(Ordering::Relaxed),
                false => {
                    byte.store(0, Ordering::Relaxed);
                    0
                }
            }));
        }
        self.medium.write(INTENTS, &intents)?;
        // Far from every number that an old record behind the new ones may have.
        position.sequence += 1 << 32;
        let header = Header {
            number: position.header,
            sequence: position.sequence,
            is_clean,
            boot: self.boot.clone(),
        };
        self.medium.write(header.number % 2 * HEADER, &header.encode())?;
        self.medium.sync()?;
        position.header += 1;
        position.at = 0;
        Ok(())
    }

    /// Bytes of the journal that records are in.
    pub fn used(&self) -> u64 {
        self.position().at
    }

    /// All records so far are on stable storage.
    pub fn flush(&self) -> io::Result<()> {
        self.medium.sync()
    }

    /// Notes that regions of a set are about to be written to.
    #[inline]
    pub fn intend(&self, set: u32, regions: std::ops::RangeInclusive<u64>) -> io::Result<()> {
        let first = u64::from(set) * REGIONS;
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

    /// Whether a region of a set may have been written to since all its members were whole.
    pub fn is_intended(&self, set: u32, region: u64) -> bool {
        assert!(region < REGIONS, "a region that there is");
        self.intents[narrow::<usize>(u64::from(set) * REGIONS + region)].load(Ordering::Relaxed) != 0
    }

    /// The regions of a set that may have been written to since all its members were whole.
    pub fn intents(&self, set: u32) -> Vec<u64> {
        let first = narrow::<usize>(u64::from(set) * REGIONS);
        let map = &self.intents[first..first + narrow::<usize>(REGIONS)];
        (0..).zip(map).filter(|(_, byte)| byte.load(Ordering::Relaxed) != 0).map(|(at, _)| at).collect()
    }

    /// Whether what was written to the set is remembered, because a member is away.
    pub fn keep_intents(&self, set: u32, is_kept: bool) {
        self.kept[set as usize].store(is_kept, Ordering::Relaxed);
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Appended<'_> {
    /// The members have it.
    pub fn done(self) {
        drop(self.0);
    }
}

/// Records begin at whole sectors, so that a torn one harms no other.
fn padded(len: u64) -> u64 {
    len.next_multiple_of(SECTOR_BYTES)
}

struct Header {
    number: u64,
    /// The number of the first record that counts.
    sequence: u64,
    is_clean: bool,
    boot: String,
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = HEADER_MAGIC.to_vec();
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.push(u8::from(self.is_clean));
        let boot = &self.boot.as_bytes()[..self.boot.len().min(64)];
        bytes.push(narrow::<u8>(boot.len()));
        bytes.extend_from_slice(boot);
        // Within one sector, so that it is written whole or not at all.
        bytes.resize(508, 0);
        bytes.extend_from_slice(&crc32c(&bytes).to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; 512]) -> Option<Header> {
        let (body, crc) = bytes.split_at(508);
        if u32::from_le_bytes(*crc.first_chunk()?) != crc32c(body) {
            return None;
        }
        let rest = body.strip_prefix(HEADER_MAGIC)?;
        let boot = rest.get(18..18 + usize::from(rest[17]))?;
        Some(Header {
            number: u64::from_le_bytes(*rest.first_chunk()?),
            sequence: u64::from_le_bytes(*rest[8..].first_chunk()?),
            is_clean: rest[16] == 1,
            boot: String::from_utf8_lossy(boot).into_owned(),
        })
    }
}

fn newest_header(medium: &dyn Medium) -> io::Result<Option<Header>> {
    let mut newest: Option<Header> = None;
    for place in [0, HEADER] {
        let mut bytes = [0; 512];
        medium.read(place, &mut bytes)?;
        if let Some(header) = Header::decode(&bytes)
            && newest.as_ref().is_none_or(|other| header.number > other.number)
        {
            newest = Some(header);
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;
    use proptest::prelude::*;
    use std::sync::Arc;

    struct Shared(Arc<MemoryMedium>);

    impl Medium for Shared {
        fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
            self.0.read(at, into)
        }
        fn write(&self, at: u64, from: &[u8]) -> io::Result<()> {
            self.0.write(at, from)
        }
        fn discard(&self, at: u64, len: u64) -> io::Result<()> {
            self.0.discard(at, len)
        }
        fn sync(&self) -> io::Result<()> {
            self.0.sync()
        }
        fn next_data(&self, at: u64) -> io::Result<Option<u64>> {
            self.0.next_data(at)
        }
    }

    fn open(medium: &Arc<MemoryMedium>) -> (Nvram, Past) {
        Nvram::open(Box::new(Shared(medium.clone())), 8192, 2, false, "boot").unwrap()
    }

    fn replayed(nvram: &Nvram) -> Vec<(u32, u64)> {
        let mut seen = Vec::new();
        let count = nvram
            .replay(|set, record| {
                seen.push((set, record.changes().next().unwrap().1));
                Ok(())
            })
            .unwrap();
        assert_eq!(count, seen.len() as u64);
        seen
    }

    fn one(lba: u64) -> Record {
        let mut record = Record::default();
        record.write(3, lba, &[lba.to_le_bytes()[0]; 1024]);
        record.discard(4, lba, 77);
        record
    }

    #[test]
    fn records_come_back_in_order_until_the_journal_is_begun_anew() {
        let medium = Arc::new(MemoryMedium::default());
        let (nvram, past) = open(&medium);
        assert!(past.is_clean, "an empty memory has lost nothing");
        nvram.restart(false, || Ok(())).unwrap();
        nvram.append(0, &one(1), || Ok(())).unwrap().done();
        nvram.append(1, &one(2), || Ok(())).unwrap().done();
        let (again, past) = open(&medium);
        assert!(!past.is_clean);
        assert_eq!(replayed(&again), [(0, 1), (1, 2)]);
        again.restart(true, || Ok(())).unwrap();
        let (again, past) = open(&medium);
        assert!(past.is_clean);
        assert_eq!(replayed(&again), []);
    }

    #[test]
    fn a_full_journal_is_begun_anew_after_the_members_are_synced() {
        let medium = Arc::new(MemoryMedium::default());
        let (nvram, _) = open(&medium);
        nvram.restart(false, || Ok(())).unwrap();
        let syncs = std::cell::Cell::new(0);
        for lba in 0..20 {
            nvram
                .append(0, &one(lba), || {
                    syncs.set(syncs.get() + 1);
                    Ok(())
                })
                .unwrap()
                .done();
        }
        assert!(syncs.get() > 0);
        let last = *replayed(&open(&medium).0).last().unwrap();
        assert_eq!(last, (0, 19));
    }

    #[test]
    fn intents_of_a_whole_set_are_forgotten_and_those_of_a_degraded_one_kept() {
        let medium = Arc::new(MemoryMedium::default());
        let (nvram, _) = open(&medium);
        nvram.intend(0, 3..=4).unwrap();
        nvram.intend(1, 5..=5).unwrap();
        nvram.keep_intents(1, true);
        assert_eq!((nvram.intents(0), nvram.intents(1)), (vec![3, 4], vec![5]));
        nvram.restart(false, || Ok(())).unwrap();
        assert_eq!((nvram.intents(0), nvram.intents(1)), (vec![], vec![5]));
        assert_eq!(open(&medium).0.intents(1), [5]);
    }

    proptest! {
        #[test]
        fn any_changed_byte_ends_the_replay_there(at in 0_u64..2600, change in 1..=u8::MAX) {
            let medium = Arc::new(MemoryMedium::default());
            let (nvram, _) = open(&medium);
            nvram.restart(false, || Ok(())).unwrap();
            nvram.append(0, &one(1), || Ok(())).unwrap().done();
            nvram.append(0, &one(2), || Ok(())).unwrap().done();
            let mut byte = [0];
            medium.read(JOURNAL + at, &mut byte).unwrap();
            medium.write(JOURNAL + at, &[byte[0] ^ change]).unwrap();
            let len = padded(RECORD as u64 + 2 * ENTRY as u64 + 1024);
            let is_padding = at % len >= RECORD as u64 + 2 * ENTRY as u64 + 1024;
            let whole = if is_padding { 2 } else { at / len };
            prop_assert_eq!(replayed(&open(&medium).0).len() as u64, whole.min(2));
        }

        #[test]
        fn no_bytes_are_taken_for_a_record_and_none_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Record::decode(&bytes, 7).is_none());
        }
    }
}
