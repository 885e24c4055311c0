//! The controller's non-volatile memory: a journal of member writes, and which regions were written to.
//!
//! What a request does to members is appended to the journal as one record before the first member is touched. After a
//! stop at any instant [`Nvram::replay`] does the whole records again, in order: a stripe whose data reached one member
//! and whose parity did not reach another (the write hole) cannot be left behind, whichever members are there by then.
//!
//! Beside them it has the newest configuration: disks that know of a failure may all be out of their bays at the next start.
//!
//! **Invariant:** the journal is begun anew only after everything in it is on the members.

mod header;
mod maps;
mod record;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::disk;
use crate::medium::{Medium, Window};
use header::{Header, kept_of, newest_header};
use record::{RECORD, encoded_len, padded};

pub use maps::{Maps, REGIONS};
pub use record::{Change, Record};

const HEADER: u64 = 4096;
/// Where the configuration is, as on the disks.
const CONFIG: u64 = 2 * HEADER;
/// Bytes in which records are looked for at once.
const WINDOW: u64 = 64 << 10;

/// What the memory says of how the server ended before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Whether it says anything: one that was never begun, was cut short or has lost records among others does not.
    pub is_known: bool,
    /// Whether it was closed in order.
    pub is_clean: bool,
    /// The start of the machine that it ran under.
    pub boot: String,
    /// Whether each record was on stable storage before members were written.
    pub is_synced: bool,
}

impl Past {
    /// Whether the machine has been started since the end, and not all that the journal had need have outlived that: data and parity
    /// may be apart.
    pub fn has_lost_power(&self, boot: &str) -> bool {
        !self.is_clean && !self.is_synced && self.boot.as_bytes() != kept_of(boot)
    }
}

/// Whether a memory was begun from byte `from` of a medium on, and is as long as it was then.
pub fn is_whole(medium: &dyn Medium, from: u64) -> io::Result<bool> {
    match newest_header(medium, from)? {
        Some(header) => header.has_all(medium, from),
        None => Ok(false),
    }
}

/// What a memory says of the array that it is of, and its number; `None` where it says nothing.
pub fn remembered(medium: &Arc<dyn Medium>) -> io::Result<Option<(u64, Vec<u8>)>> {
    disk::read_label(&Window { medium: medium.clone(), from: CONFIG })
}

/// The journal and the write-intent maps.
pub struct Nvram {
    medium: Arc<dyn Medium>,
    /// Where the journal begins.
    journal: u64,
    room: u64,
    is_synced: bool,
    position: Mutex<Position>,
    /// Held by who has appended and not yet written to members.
    gate: RwLock<()>,
    maps: Maps,
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
    /// The memory on `medium`, with room for that many bytes of journal, of an array whose sets have `groups` groups and `slots` slots
    /// together.
    ///
    /// Where `is_synced`, each record is on stable storage before members are written: then a loss of power of this
    /// machine leaves no write hole either.
    pub fn open(
        medium: Arc<dyn Medium>,
        room: u64,
        (groups, slots): (usize, usize),
        is_synced: bool,
        boot: &str,
    ) -> io::Result<(Nvram, Past)> {
        let maps = Maps::read(medium.clone(), (groups, slots), is_synced)?;
        let journal = maps.end().next_multiple_of(HEADER);
        let header = newest_header(medium.as_ref(), 0)?;
        let mut past = match &header {
            None => Past { is_known: false, is_clean: false, boot: boot.to_owned(), is_synced },
            Some(header) => Past {
                is_known: header.has_all(medium.as_ref(), 0)?,
                is_clean: header.is_clean,
                boot: header.boot.clone(),
                is_synced: header.is_synced,
            },
        };
        medium.extend(journal + room)?;
        let (sequence, number) = header.map_or((1, 0), |header| (header.sequence, header.number + 1));
        let position = Position { at: 0, sequence, header: number, encoded: Vec::new() };
        let nvram = Nvram {
            medium,
            journal,
            room,
            is_synced,
            position: Mutex::new(position),
            gate: RwLock::default(),
            maps,
            boot: boot.to_owned(),
        };
        // Of records that were not synced any may be lost with the power: all that was flushed lies before the first of these.
        let may_be_torn = past.is_clean || past.has_lost_power(boot);
        past.is_known = past.is_known && (may_be_torn || !nvram.is_torn()?);
        Ok((nvram, past))
    }

    /// Whether records lie behind one that is none, or no longer: to do again only those before would bring back what is old.
    fn is_torn(&self) -> io::Result<bool> {
        let Position { mut at, mut sequence, .. } = *self.position();
        while let Some((_, _, len)) = self.record_at(at, sequence)? {
            (at, sequence) = (at + len, sequence + 1);
        }
        let mut window = vec![0; narrow::<usize>(WINDOW)];
        let sector = narrow::<usize>(SECTOR_BYTES);
        while let Some(data) = self.medium.next_data(self.journal + at)? {
            at = at.max(data.saturating_sub(self.journal) / SECTOR_BYTES * SECTOR_BYTES);
            if at >= self.room {
                break;
            }
            self.medium.read(self.journal + at, &mut window)?;
            for (place, header) in (at..).step_by(sector).zip(window.chunks(sector)) {
                let found = u64::from_le_bytes(*header[8..].first_chunk().unwrap_or(&[0; 8]));
                // An older one, of before the journal was begun anew, is far from these.
                let is_later = found > sequence && found - sequence < 1 << 31;
                if is_later && self.record_at(place, found)?.is_some() {
                    return Ok(true);
                }
            }
            at += WINDOW;
        }
        Ok(false)
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

    /// The whole record with that number there, with its set and its length in the journal.
    fn record_at(&self, at: u64, sequence: u64) -> io::Result<Option<(u32, Record, u64)>> {
        let mut header = [0; RECORD];
        if at + RECORD as u64 > self.room {
            return Ok(None);
        }
        self.medium.read(self.journal + at, &mut header)?;
        let Some(len) = encoded_len(&header).filter(|len| at + len <= self.room) else { return Ok(None) };
        let mut bytes = vec![0; narrow::<usize>(len)];
        self.medium.read(self.journal + at, &mut bytes)?;
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
            assert!(encoded.len() as u64 <= len, "a record is longer than the place it was given");
            self.medium.write(self.journal + *at, encoded)?;
            if self.is_synced {
                self.medium.sync()?;
            }
            *at += len;
            assert!(*at <= self.room, "the journal keeps to its room");
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
        self.maps.write()?;
        // Far from every number that an old record behind the new ones may have.
        position.sequence += 1 << 32;
        let header = Header {
            number: position.header,
            sequence: position.sequence,
            is_clean,
            boot: self.boot.clone(),
            len: self.journal + self.room,
            is_synced: self.is_synced,
        };
        self.medium.write(header.number % 2 * HEADER, &header.encode())?;
        self.medium.sync()?;
        position.header += 1;
        position.at = 0;
        Ok(())
    }

    /// What was written to each group, and so is missed by who is away.
    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// Bytes of the journal that records are in.
    pub fn used(&self) -> u64 {
        self.position().at
    }

    /// Has the memory say of the array what is said on its disks: where those that know it are gone, it still does.
    pub fn remember(&self, number: u64, config: &[u8]) -> io::Result<()> {
        disk::write_label(&Window { medium: self.medium.clone(), from: CONFIG }, number, config)?;
        self.medium.sync()
    }

    /// All records so far are on stable storage.
    pub fn flush(&self) -> io::Result<()> {
        self.medium.sync()
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

#[cfg(test)]
mod tests {
    use super::record::ENTRY;
    use super::*;
    use crate::medium::{FileMedium, MemoryMedium};
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
        Nvram::open(Arc::new(Shared(medium.clone())), 8192, (2, 4), false, "boot").unwrap()
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
        assert!(!past.is_known, "an empty memory says nothing");
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
    fn a_memory_that_is_damaged_before_its_last_record_says_nothing() {
        let record = padded(RECORD as u64 + 2 * ENTRY as u64 + 1024);
        for (damaged, is_known) in [(0, false), (1, false), (2, true)] {
            let medium = Arc::new(MemoryMedium::default());
            let (nvram, _) = open(&medium);
            nvram.restart(false, || Ok(())).unwrap();
            for lba in 0..3 {
                nvram.append(0, &one(lba), || Ok(())).unwrap().done();
            }
            assert!(open(&medium).1.is_known);
            let at = nvram.journal + damaged * record + 40;
            let mut byte = [0];
            medium.read(at, &mut byte).unwrap();
            medium.write(at, &[!byte[0]]).unwrap();
            // The last one cannot be told from one that was never whole.
            assert_eq!(open(&medium).1.is_known, is_known, "record {damaged}");
        }
    }

    #[test]
    fn records_before_the_first_that_was_lost_with_the_power_count() {
        let record = padded(RECORD as u64 + 2 * ENTRY as u64 + 1024);
        let medium = Arc::new(MemoryMedium::default());
        let (nvram, _) = open(&medium);
        nvram.restart(false, || Ok(())).unwrap();
        for lba in 0..4 {
            nvram.append(0, &one(lba), || Ok(())).unwrap().done();
        }
        medium.write(nvram.journal + 2 * record, &vec![0; narrow::<usize>(record)]).unwrap();
        assert!(!open(&medium).1.is_known, "the machine has been on ever since");
        let shared = Arc::new(Shared(medium.clone()));
        let (again, past) = Nvram::open(shared, 8192, (2, 4), false, "another boot").unwrap();
        assert!(past.is_known && past.has_lost_power("another boot"));
        assert_eq!(replayed(&again), [(0, 0), (0, 1)]);
    }

    #[test]
    fn a_memory_file_that_was_cut_short_says_nothing() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("controller.nvram");
        let open =
            || Nvram::open(Arc::new(FileMedium::open(&path).unwrap()), 8192, (2, 4), false, "boot").unwrap();
        let (nvram, _) = open();
        nvram.restart(false, || Ok(())).unwrap();
        nvram.append(0, &one(1), || Ok(())).unwrap().done();
        drop(nvram);
        assert!(open().1.is_known);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        assert!(!open().1.is_known);
    }

    #[test]
    fn a_stop_that_the_machine_did_not_outlive_has_lost_power_unless_the_journal_was_synced() {
        for (is_synced, is_clean, is_lost) in
            [(false, false, true), (true, false, false), (false, true, false)]
        {
            let medium = Arc::new(MemoryMedium::default());
            let shared = || Arc::new(Shared(medium.clone()));
            let (nvram, _) = Nvram::open(shared(), 8192, (2, 4), is_synced, "one").unwrap();
            nvram.restart(is_clean, || Ok(())).unwrap();
            let (_, past) = Nvram::open(shared(), 8192, (2, 4), is_synced, "two").unwrap();
            assert!(!past.has_lost_power("one"));
            assert_eq!(past.has_lost_power("two"), is_lost);
        }
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
            medium.read(nvram.journal + at, &mut byte).unwrap();
            medium.write(nvram.journal + at, &[byte[0] ^ change]).unwrap();
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
