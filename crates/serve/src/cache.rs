//! The controller's write-back cache: what was acknowledged and is not on the members yet.
//!
//! Every write that is taken is in a log before it is acknowledged, so that a battery keeps it through a stop at any
//! instant: [`WriteCache::recover`] reads the log again. Without a battery the log has no data, but which sectors they
//! were and a checksum of each: what is lost is known to the sector.
//!
//! What was lost stays in the cache as such. It reads as an error until it is written again.
//!
//! **Invariant:** the newest version of a sector is here if the cache has it, and on the members if not. A sector leaves
//! only once the members have it, or something newer.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::clock::Clock;
use crate::medium::{Medium, Window};
use crate::nvram::{Change, Nvram, Record};
use crate::set::Fault;
use crate::tag::{SECTOR, crc32c};

/// Bytes of one place for the table of what was lost.
const TABLE: u64 = 8 << 20;
/// Where the log begins.
const LOG: u64 = 2 * TABLE;
const MAGIC: &[u8; 8] = b"fathomC1";
/// Bytes of the table before its ranges, and of a range.
const HEAD: usize = 40;
const RANGE: usize = 24;
/// Room of the log beside what two fillings of the cache take, at least.
const LEAST_LOG: u64 = 32 << 10;
/// Most pieces that the cache is in: what of them is lost must have room in the table.
const MOST_PIECES: usize = 150_000;

/// What an entry of the log says of a range; it stands where the journal has the member.
mod said {
    /// The data of it follow.
    pub const DATA: u16 = 0;
    /// It is not here any more.
    pub const GONE: u16 = 1;
    /// Its data are in memory alone; their checksums follow.
    pub const UNSAVED: u16 = 2;
    /// The checksums.
    pub const TAGS: u16 = 3;
}

/// Sectors of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
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
    pub place: Place,
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
    pub only: Option<Place>,
    /// What had been taken by then.
    pub up_to: u64,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { most: u64::MAX, age: Duration::ZERO, only: None, up_to: u64::MAX }
    }
}

/// What an operator sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether writes are to be acknowledged from the cache.
    pub is_write_back: bool,
    /// Whether that is wanted without a battery, too.
    pub is_forced: bool,
    /// Whether what the cache holds survives a loss of power.
    pub has_battery: bool,
}

impl Settings {
    /// Whether writes are acknowledged from the cache.
    pub fn takes_writes(self) -> bool {
        self.is_write_back && (self.has_battery || self.is_forced)
    }
}

/// A part of what the cache holds.
#[derive(Clone, Debug)]
struct Piece {
    sectors: u64,
    generation: u64,
    since: Duration,
    held: Held,
}

#[derive(Clone, Debug)]
enum Held {
    /// From that byte on.
    Data(Arc<Vec<u8>>, usize),
    /// Checksums of what was not saved, from that one on.
    Tags(Arc<Vec<u32>>, usize),
    Lost,
}

impl Piece {
    /// The part of it that begins so many sectors later.
    fn from(&self, skipped: u64) -> Piece {
        let by = narrow::<usize>(skipped);
        let held = match &self.held {
            Held::Data(bytes, at) => Held::Data(bytes.clone(), at + by * SECTOR),
            Held::Tags(tags, at) => Held::Tags(tags.clone(), at + by),
            Held::Lost => Held::Lost,
        };
        Piece { sectors: self.sectors - skipped, held, ..self.clone() }
    }

    fn data(&self) -> Option<&[u8]> {
        match &self.held {
            Held::Data(bytes, at) => Some(&bytes[*at..][..narrow::<usize>(self.sectors) * SECTOR]),
            Held::Tags(..) | Held::Lost => None,
        }
    }

    fn is_lost(&self) -> bool {
        matches!(self.held, Held::Lost)
    }
}

/// The pieces of a set by their first sectors; they do not overlap.
#[derive(Clone, Debug, Default)]
struct Pieces(BTreeMap<u64, Piece>);

impl Pieces {
    /// Those that reach into a range.
    fn over(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Piece)> {
        let before = self.0.range(..from).next_back().filter(|(at, piece)| *at + piece.sectors > from);
        before.into_iter().chain(self.0.range(from..to)).map(|(at, piece)| (*at, piece))
    }

    /// Takes out what of those that `is_wanted` lies in a range.
    fn carve(&mut self, from: u64, to: u64, is_wanted: impl Fn(&Piece) -> bool) -> Vec<(u64, Piece)> {
        let wanted = self.over(from, to).filter(|(_, piece)| is_wanted(piece));
        let found: Vec<u64> = wanted.map(|(at, _)| at).collect();
        let mut taken = Vec::new();
        for at in found {
            let Some(piece) = self.0.remove(&at) else { continue };
            let end = at + piece.sectors;
            if at < from {
                self.0.insert(at, Piece { sectors: from - at, ..piece.clone() });
            }
            if end > to {
                self.0.insert(to, piece.from(to - at));
            }
            let (first, last) = (at.max(from), end.min(to));
            taken.push((first, Piece { sectors: last - first, ..piece.from(first - at) }));
        }
        taken
    }
}

struct State {
    sets: Vec<Pieces>,
    settings: Settings,
    /// Bytes of data.
    dirty: u64,
    /// Grows with each write.
    generation: u64,
    /// The number of the next table.
    table: u64,
    /// Whether another controller has a copy of what is taken, or need not have one.
    has_partner: bool,
}

impl State {
    fn pieces(&self) -> usize {
        self.sets.iter().map(|set| set.0.len()).sum()
    }

    fn carve(&mut self, place: Place, is_wanted: impl Fn(&Piece) -> bool) -> Vec<(u64, Piece)> {
        let Place { set, lba, sectors } = place;
        let taken = self.sets[set as usize].carve(lba, lba + sectors, is_wanted);
        let data = taken.iter().filter(|(_, piece)| matches!(piece.held, Held::Data(..)));
        self.dirty -= data.map(|(_, piece)| piece.sectors * SECTOR_BYTES).sum::<u64>();
        taken
    }

    fn insert(&mut self, place: Place, held: Held, since: Duration) {
        self.carve(place, |_| true);
        self.generation += 1;
        if matches!(held, Held::Data(..)) {
            self.dirty += place.sectors * SECTOR_BYTES;
        }
        let piece = Piece { sectors: place.sectors, generation: self.generation, since, held };
        self.sets[place.set as usize].0.insert(place.lba, piece);
    }

    fn all(&self) -> impl Iterator<Item = (Place, &Piece)> {
        (0_u32..).zip(&self.sets).flat_map(|(set, pieces)| {
            pieces.0.iter().map(move |(&lba, piece)| (Place { set, lba, sectors: piece.sectors }, piece))
        })
    }
}

/// What is kept beside memory.
struct Kept {
    medium: Arc<dyn Medium>,
    log: Nvram,
    room: u64,
}

/// The cache.
pub struct WriteCache {
    size: u64,
    /// Which array it is of.
    array: String,
    state: RwLock<State>,
    kept: Option<Kept>,
    clock: Clock,
    /// Pieces, so that an empty cache costs nothing.
    count: AtomicUsize,
    takes_writes: AtomicBool,
    /// Held by who writes to members what is here, or instead of it.
    destaging: Mutex<()>,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is here.
    Yes,
    /// There is no room, or the log has none.
    Full,
    /// Writes go to the members.
    Through,
}

impl WriteCache {
    /// A cache of so many bytes for an array of `sets` sets, kept on `medium`; without one all of it is lost with the
    /// server. Follow with [`WriteCache::recover`], or with [`WriteCache::clear`] where the array is new.
    pub fn open(
        size: u64,
        medium: Option<Box<dyn Medium>>,
        array: &str,
        sets: usize,
        is_synced: bool,
    ) -> io::Result<WriteCache> {
        let settings = Settings { is_write_back: true, is_forced: false, has_battery: true };
        let mut state = State {
            sets: vec![Pieces::default(); sets],
            settings,
            dirty: 0,
            generation: 0,
            table: 0,
            has_partner: true,
        };
        let room = 2 * size + size.clamp(LEAST_LOG, 1 << 20);
        let kept = match medium.map(Arc::from) {
            None => None,
            Some(medium) => {
                let medium: Arc<dyn Medium> = medium;
                state.table = newest_table(medium.as_ref())?.map_or(0, |table| table.number + 1);
                let window = Box::new(Window { medium: medium.clone(), from: LOG });
                let (log, _) = Nvram::open(window, room, 0, is_synced, array)?;
                Some(Kept { medium, log, room })
            }
        };
        Ok(WriteCache {
            size,
            array: array.to_owned(),
            state: RwLock::new(state),
            kept,
            clock: Clock::start(),
            count: AtomicUsize::new(0),
            takes_writes: AtomicBool::new(true),
            destaging: Mutex::default(),
        })
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What an operator has set.
    pub fn settings(&self) -> Settings {
        self.read_state().settings
    }

    /// Bytes that are not on the members yet.
    pub fn dirty(&self) -> u64 {
        self.read_state().dirty
    }

    /// What was lost and not written again since, in order.
    pub fn lost(&self) -> Vec<Place> {
        let state = self.read_state();
        joined(state.all().filter(|(_, piece)| piece.is_lost()).map(|(place, _)| place))
    }

    /// Whether it holds nothing, not even the loss of something.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Whether writes are acknowledged from here.
    #[inline]
    pub fn takes_writes(&self) -> bool {
        self.takes_writes.load(Ordering::Acquire)
    }

    /// Whether some of a range is here, or lost.
    pub fn has_some_of(&self, place: Place) -> bool {
        !self.is_empty() && self.first_of(place).is_some()
    }

    /// The first part of a range that is here, or lost.
    pub fn first_of(&self, Place { set, lba, sectors }: Place) -> Option<Range<u64>> {
        let state = self.read_state();
        let first = state.sets[set as usize].over(lba, lba + sectors).next();
        first.map(|(at, piece)| at.max(lba)..(at + piece.sectors).min(lba + sectors))
    }

    /// Whoever holds it writes to members what is here, or instead of it, and nobody else does.
    pub fn alone(&self) -> MutexGuard<'_, ()> {
        self.destaging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which writes were taken so far, for [`WriteCache::settle`].
    pub fn generation(&self) -> u64 {
        self.read_state().generation
    }

    /// Takes a write of whole sectors.
    pub fn put(&self, set: u32, lba: u64, from: &[u8]) -> io::Result<Taken> {
        let mut state = self.write_state();
        let settings = state.settings;
        if !settings.takes_writes() || !state.has_partner {
            return Ok(Taken::Through);
        }
        let place = Place { set, lba, sectors: (from.len() / SECTOR) as u64 };
        // One more is two where another is split.
        if state.dirty + from.len() as u64 > self.size || state.pieces() + 2 > MOST_PIECES {
            return Ok(Taken::Full);
        }
        if let Some(kept) = &self.kept {
            let record = if settings.has_battery { saved(lba, from) } else { unsaved(lba, from) };
            if !kept.has_room_for(&record, kept.room / 8) {
                return Ok(Taken::Full);
            }
            kept.append(set, &record)?;
        }
        state.insert(place, Held::Data(Arc::new(from.to_vec()), 0), self.clock.now());
        self.recount(&state);
        Ok(Taken::Yes)
    }

    /// Fills `into` from sector `lba` of a set on; `below` reads what is not here.
    pub fn read(
        &self,
        set: u32,
        lba: u64,
        into: &mut [u8],
        mut below: impl FnMut(u64, &mut [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let end = lba + (into.len() / SECTOR) as u64;
        let state = self.read_state();
        let mut at = lba;
        let place =
            |from: u64, to: u64| narrow::<usize>(from - lba) * SECTOR..narrow::<usize>(to - lba) * SECTOR;
        for (start, piece) in state.sets[set as usize].over(lba, end) {
            let (first, last) = (start.max(lba), (start + piece.sectors).min(end));
            if at < first {
                below(at, &mut into[place(at, first)])?;
            }
            let part = Piece { sectors: last - first, ..piece.from(first - start) };
            into[place(first, last)].copy_from_slice(part.data().ok_or(Fault::CacheLost)?);
            at = last;
        }
        if at == lba {
            // Nothing of it is here: the members have the newest version, and are read while others write.
            drop(state);
        }
        if at < end { below(at, &mut into[place(at, end)]) } else { Ok(()) }
    }

    /// What is to be written to members now, neighbours together. With it the generation that [`WriteCache::settle`]
    /// takes.
    pub fn runs(&self, wanted: Wanted) -> (Vec<Run>, u64) {
        /// Bytes of one run at most.
        const RUN: usize = 1 << 20;
        let state = self.read_state();
        let now = self.clock.now();
        let (mut runs, mut bytes): (Vec<Run>, u64) = (Vec::new(), 0);
        for (place, piece) in state.all() {
            let Some(data) = piece.data() else { continue };
            let is_inside = piece.generation <= wanted.up_to
                && wanted.only.is_none_or(|only| {
                    place.set == only.set
                        && place.lba < only.lba + only.sectors
                        && place.lba + place.sectors > only.lba
                });
            let is_next = runs.last().is_some_and(|run| {
                run.place.set == place.set
                    && run.place.lba + run.place.sectors == place.lba
                    && run.data.len() + data.len() <= RUN
            });
            // What continues a stripe goes with it, however new.
            if !is_inside || (!is_next && now.saturating_sub(piece.since) < wanted.age) {
                continue;
            }
            if bytes >= wanted.most && !is_next {
                break;
            }
            bytes += data.len() as u64;
            match runs.last_mut().filter(|_| is_next) {
                Some(run) => {
                    run.place.sectors += place.sectors;
                    run.data.extend_from_slice(data);
                }
                None => runs.push(Run { place, data: data.to_vec() }),
            }
        }
        (runs, state.generation)
    }

    /// The members have what was here of these ranges up to a generation, or something newer, on stable storage where
    /// that is asked of anything.
    pub fn settle(&self, places: &[Place], generation: u64) -> io::Result<()> {
        let mut state = self.write_state();
        let mut gone: Vec<Place> = Vec::new();
        for &Place { set, lba, sectors } in places {
            let old = state.sets[set as usize].over(lba, lba + sectors);
            gone.extend(old.filter(|(_, piece)| piece.generation <= generation).map(|(at, piece)| {
                let (first, end) = (at.max(lba), (at + piece.sectors).min(lba + sectors));
                Place { set, lba: first, sectors: end - first }
            }));
        }
        let is_last = gone.iter().map(|place| place.sectors * SECTOR_BYTES).sum::<u64>() >= state.dirty;
        if !(is_last && self.is_log_full()) {
            // Said first: what cannot be said stays.
            self.note_gone(&gone)?;
        }
        for &place in &gone {
            state.carve(place, |_| true);
        }
        self.recount(&state);
        if state.dirty == 0 && self.is_log_full() { self.begin_log(&mut state) } else { Ok(()) }
    }

    fn note_gone(&self, gone: &[Place]) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let mut sets: Vec<u32> = gone.iter().map(|place| place.set).collect();
        sets.dedup();
        for set in sets {
            let mut record = Record::default();
            for place in joined(gone.iter().copied().filter(|place| place.set == set)) {
                record.discard(said::GONE, place.lba, place.sectors);
            }
            kept.append(set, &record)?;
        }
        Ok(())
    }

    /// Whether the log has so little room left that it should be begun anew.
    pub fn is_log_full(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.log.used() > kept.room / 2)
    }

    /// Begins the log anew, if all of the data are on the members.
    pub fn renew(&self) -> io::Result<()> {
        let mut state = self.write_state();
        if state.dirty > 0 {
            return Ok(());
        }
        self.begin_log(&mut state)
    }

    /// Forgets everything, also what was lost: the array is new, or its data are to be overwritten.
    pub fn clear(&self, set: Option<u32>) -> io::Result<()> {
        let mut state = self.write_state();
        let all = 0..narrow::<u32>(state.sets.len());
        for set in all.filter(|&one| set.is_none_or(|set| set == one)) {
            let taken = state.carve(Place { set, lba: 0, sectors: u64::MAX }, |_| true);
            let of = |(lba, piece): (u64, Piece)| Place { set, lba, sectors: piece.sectors };
            self.note_gone(&taken.into_iter().map(of).collect::<Vec<_>>())?;
        }
        self.recount(&state);
        if state.dirty > 0 { Ok(()) } else { self.begin_log(&mut state) }
    }

    /// Sets what an operator sets. Data that had no battery are saved before one is relied on.
    pub fn set(&self, settings: Settings) -> io::Result<()> {
        let mut state = self.write_state();
        if let Some(kept) = self.kept.as_ref().filter(|_| settings.has_battery && !state.settings.has_battery)
        {
            for (place, piece) in state.all() {
                let Some(data) = piece.data() else { continue };
                kept.append(place.set, &saved(place.lba, data))?;
            }
            kept.log.flush()?;
        }
        state.settings = settings;
        self.recount(&state);
        self.write_table(&mut state)
    }

    /// Whether another controller has a copy of what is taken from now on. Without one writes go through.
    pub fn set_partner(&self, has_partner: bool) {
        let mut state = self.write_state();
        state.has_partner = has_partner;
        self.recount(&state);
    }

    /// All that was taken is kept through a loss of power, as far as the battery reaches.
    pub fn flush(&self) -> io::Result<()> {
        match &self.kept {
            Some(kept) if !self.is_empty() => kept.log.flush(),
            _ => Ok(()),
        }
    }

    /// Power goes and comes back: without a battery what members do not have is lost. `below` reads a sector of them.
    ///
    /// Call while nobody else writes to members what is here ([`WriteCache::alone`]). What was lost by this comes back.
    pub fn lose_power(
        &self,
        below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>,
    ) -> io::Result<Vec<Place>> {
        let mut state = self.write_state();
        if state.settings.has_battery {
            return Ok(Vec::new());
        }
        let lost = give_up(&mut state, below);
        self.recount(&state);
        self.begin_log(&mut state)?;
        Ok(lost)
    }

    /// Reads again what a former server has left; what was lost with it comes back. `below` reads a sector of members,
    /// on which the journal is already.
    pub fn recover(
        &self,
        below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>,
    ) -> io::Result<Vec<Place>> {
        let Some(kept) = &self.kept else { return Ok(Vec::new()) };
        let mut state = self.write_state();
        let state = &mut *state;
        let Some(table) = newest_table(kept.medium.as_ref())? else {
            return self.begin_log(state).map(|()| Vec::new());
        };
        if table.array != self.array {
            // It is of other disks, and says nothing of these.
            return self.begin_log(state).map(|()| Vec::new());
        }
        state.settings = table.settings;
        let sets = narrow::<u32>(state.sets.len());
        for place in table.lost.into_iter().filter(|place| place.set < sets) {
            state.insert(place, Held::Lost, Duration::ZERO);
        }
        kept.log.replay(|set, record| {
            if set < sets {
                apply(state, set, record);
            }
            Ok(())
        })?;
        let lost = if state.settings.has_battery { Vec::new() } else { give_up(state, below) };
        if state.dirty == 0 {
            self.begin_log(state)?;
        }
        self.recount(state);
        Ok(lost)
    }

    /// The table as it is now, and then no log.
    fn begin_log(&self, state: &mut State) -> io::Result<()> {
        debug_assert!(state.dirty == 0, "what the log has must be on the members");
        self.write_table(state)?;
        match &self.kept {
            Some(kept) => kept.log.restart(false, || Ok(())),
            None => Ok(()),
        }
    }

    fn write_table(&self, state: &mut State) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let lost = state.all().filter(|(_, piece)| piece.is_lost()).map(|(place, _)| place);
        let table = Table {
            number: state.table,
            array: self.array.clone(),
            settings: state.settings,
            lost: joined(lost),
        };
        kept.medium.write(table.number % 2 * TABLE, &table.encode())?;
        kept.medium.sync()?;
        state.table += 1;
        Ok(())
    }

    fn recount(&self, state: &State) {
        self.count.store(state.pieces(), Ordering::Release);
        let takes_writes = state.settings.takes_writes() && state.has_partner;
        self.takes_writes.store(takes_writes, Ordering::Release);
    }

    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn has_room_for(&self, record: &Record, reserve: u64) -> bool {
        self.log.used() + record.encoded_len() + reserve <= self.room
    }

    fn append(&self, set: u32, record: &Record) -> io::Result<()> {
        if record.is_empty() {
            return Ok(());
        }
        // What is in the log may be nowhere else, so that it cannot be begun anew from here.
        self.log.append(set, record, || Err(io::Error::other("the log of the write cache is full")))?.done();
        Ok(())
    }
}

fn saved(lba: u64, data: &[u8]) -> Record {
    let mut record = Record::default();
    record.write(said::DATA, lba, data);
    record
}

fn unsaved(lba: u64, data: &[u8]) -> Record {
    let mut tags: Vec<u8> = data.chunks(SECTOR).flat_map(|sector| crc32c(sector).to_le_bytes()).collect();
    tags.resize(tags.len().next_multiple_of(SECTOR), 0);
    let mut record = Record::default();
    record.discard(said::UNSAVED, lba, (data.len() / SECTOR) as u64);
    record.write(said::TAGS, 0, &tags);
    record
}

/// Does to the state what a record of the log says.
fn apply(state: &mut State, set: u32, record: &Record) {
    let mut awaited = None;
    for (kind, lba, change) in record.changes() {
        match (kind, change) {
            (said::DATA, Change::Write(data)) => {
                let place = Place { set, lba, sectors: (data.len() / SECTOR) as u64 };
                state.insert(place, Held::Data(Arc::new(data.to_vec()), 0), Duration::ZERO);
            }
            (said::GONE, Change::Discard(sectors)) => {
                state.carve(Place { set, lba, sectors }, |_| true);
            }
            (said::UNSAVED, Change::Discard(sectors)) => awaited = Some(Place { set, lba, sectors }),
            (said::TAGS, Change::Write(bytes)) => {
                let Some(place) = awaited.take() else { continue };
                let tags = bytes.as_chunks().0.iter().map(|tag| u32::from_le_bytes(*tag)).collect();
                state.insert(place, Held::Tags(Arc::new(tags), 0), Duration::ZERO);
            }
            _ => {}
        }
    }
}

/// Forgets all data: what the members have as well is theirs, the rest is lost. What was lost by this comes back.
fn give_up(state: &mut State, below: impl Fn(u32, u64, &mut [u8]) -> Result<(), Fault>) -> Vec<Place> {
    let pieces: Vec<(Place, Piece)> = state.all().map(|(place, piece)| (place, piece.clone())).collect();
    let mut lost = Vec::new();
    let mut found = [0; SECTOR];
    for (place, piece) in pieces.iter().filter(|(_, piece)| !piece.is_lost()) {
        state.carve(*place, |_| true);
        for at in 0..place.sectors {
            let lba = place.lba + at;
            let is_there = below(place.set, lba, &mut found).is_ok()
                && match &piece.held {
                    Held::Data(bytes, from) => {
                        bytes[from + narrow::<usize>(at) * SECTOR..].starts_with(&found)
                    }
                    Held::Tags(tags, from) => tags[from + narrow::<usize>(at)] == crc32c(&found),
                    Held::Lost => true,
                };
            if !is_there {
                lost.push(Place { set: place.set, lba, sectors: 1 });
            }
        }
    }
    let mut lost = joined(lost.into_iter());
    if lost.len() > MOST_PIECES {
        // Too finely strewn for the table: rather too much is called lost than too little.
        lost = joined(pieces.iter().filter(|(_, piece)| !piece.is_lost()).map(|(place, _)| *place));
    }
    for &place in &lost {
        state.insert(place, Held::Lost, Duration::ZERO);
    }
    lost
}

/// Ranges that follow each other as one.
fn joined(places: impl Iterator<Item = Place>) -> Vec<Place> {
    let mut all: Vec<Place> = places.collect();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let is_next = last.set == next.set && last.lba + last.sectors == next.lba;
        if is_next {
            last.sectors += next.sectors;
        }
        is_next
    });
    all
}

/// What must be known whatever the log says: settings, and what was lost before the log began.
struct Table {
    number: u64,
    array: String,
    settings: Settings,
    lost: Vec<Place>,
}

impl Table {
    fn encode(&self) -> Vec<u8> {
        let Settings { is_write_back, is_forced, has_battery } = self.settings;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.number.to_le_bytes());
        let mut array = [0; 16];
        array.iter_mut().zip(self.array.bytes()).for_each(|(to, from)| *to = from);
        bytes.extend_from_slice(&array);
        bytes.extend([u8::from(is_write_back), u8::from(is_forced), u8::from(has_battery), 0]);
        bytes.extend_from_slice(&narrow::<u32>(self.lost.len()).to_le_bytes());
        for place in &self.lost {
            bytes.extend_from_slice(&u64::from(place.set).to_le_bytes());
            bytes.extend_from_slice(&place.lba.to_le_bytes());
            bytes.extend_from_slice(&place.sectors.to_le_bytes());
        }
        bytes.extend_from_slice(&crc32c(&bytes).to_le_bytes());
        assert!(bytes.len() as u64 <= TABLE, "the pieces are few enough");
        bytes
    }

    fn read(medium: &dyn Medium, at: u64) -> io::Result<Option<Table>> {
        let mut head = [0; HEAD];
        medium.read(at, &mut head)?;
        let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let count = head.last_chunk().map_or(0, |count| u32::from_le_bytes(*count)) as usize;
        if !head.starts_with(MAGIC) || count > 2 * MOST_PIECES {
            return Ok(None);
        }
        let mut bytes = vec![0; HEAD + count * RANGE + 4];
        medium.read(at, &mut bytes)?;
        let (body, crc) = bytes.split_at(HEAD + count * RANGE);
        if crc != crc32c(body).to_le_bytes() {
            return Ok(None);
        }
        let lost = body[HEAD..].chunks(RANGE).map(|range| Place {
            set: u32::try_from(word(range)).unwrap_or(u32::MAX),
            lba: word(&range[8..]),
            sectors: word(&range[16..]),
        });
        let settings =
            Settings { is_write_back: head[32] == 1, is_forced: head[33] == 1, has_battery: head[34] == 1 };
        let array = String::from_utf8_lossy(&head[16..32]).trim_end_matches('\0').to_owned();
        Ok(Some(Table { number: word(&head[8..]), array, settings, lost: lost.collect() }))
    }
}

fn newest_table(medium: &dyn Medium) -> io::Result<Option<Table>> {
    let tables = [Table::read(medium, 0)?, Table::read(medium, TABLE)?];
    Ok(tables.into_iter().flatten().max_by_key(|table| table.number))
}
