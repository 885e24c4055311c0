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

mod log;
mod pieces;
mod power;
mod range;
mod state;
mod table;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::clock::Clock;
use crate::medium::{Medium, Window};
use crate::nvram::{self, Nvram, Record};
use crate::set::Fault;
use crate::tag::SECTOR;
use log::{Kept, said, saved, unsaved};
use pieces::{Contents, Piece, Pieces};
use range::joined;
use state::{MOST_PIECES, State};
use table::{LOG, TABLE, Table, newest_table};

pub use range::{Run, SectorRange, Wanted};
pub use state::Settings;

/// Room of the log beside what two fillings of the cache take, at least.
const LEAST_LOG: u64 = 32 << 10;

/// The cache.
pub struct WriteCache {
    size: u64,
    owner: Owner,
    state: RwLock<State>,
    kept: Option<Kept>,
    clock: Clock,
    /// Pieces, so that an empty cache costs nothing.
    count: AtomicUsize,
    takes_writes: AtomicBool,
    /// Held by who writes to members what is here, or instead of it.
    destaging: Mutex<()>,
}

/// Which array a cache is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number.
    pub array: String,
    /// The number of this start.
    pub session: u64,
    /// The start whose cache may hold what the disks do not have; `None` where they have everything.
    pub needed: Option<u64>,
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

/// Whether what may be nowhere else is on `medium`, all of it.
pub fn has_needed(medium: &dyn Medium, owner: &Owner) -> io::Result<bool> {
    let is_needed = newest_table(medium)?.is_some_and(|table| table.is_needed(owner));
    Ok(is_needed && nvram::is_whole(medium, LOG)?)
}

impl WriteCache {
    /// A cache of so many bytes for an array of `sets` sets, kept on `medium`; without one all of it is lost with the
    /// server. What an earlier one has left there has its room, however small this one is. Follow with [`WriteCache::recover`], or with [`WriteCache::clear`] where the array is new.
    pub fn open(
        size: u64,
        medium: Option<Arc<dyn Medium>>,
        owner: Owner,
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
            before: owner.needed.unwrap_or(0),
            has_partner: true,
            is_paused: false,
        };
        let room = 2 * size + size.clamp(LEAST_LOG, 1 << 20);
        let kept = match medium {
            None => None,
            Some(medium) => {
                let table = newest_table(medium.as_ref())?;
                state.table = table.as_ref().map_or(0, |table| table.number + 1);
                let room =
                    table.filter(|table| table.is_needed(&owner)).map_or(room, |table| room.max(table.room));
                let window = Arc::new(Window { medium: medium.clone(), from: LOG });
                let (log, _) = Nvram::open(window, room, (0, 0), is_synced, &owner.array)?;
                Some(Kept { medium, log, room })
            }
        };
        Ok(WriteCache {
            size,
            owner,
            state: RwLock::new(state),
            kept,
            clock: Clock::start(),
            count: AtomicUsize::new(0),
            takes_writes: AtomicBool::new(true),
            destaging: Mutex::default(),
        })
    }

    /// The generation of the array at the start that it is of.
    pub fn session(&self) -> u64 {
        self.owner.session
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
    pub fn lost(&self) -> Vec<SectorRange> {
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
    pub fn has_some_of(&self, place: SectorRange) -> bool {
        !self.is_empty() && self.first_of(place).is_some()
    }

    /// The first part of a range that is here, or lost.
    pub fn first_of(&self, SectorRange { set, lba, sectors }: SectorRange) -> Option<Range<u64>> {
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
        // Copied while others are at the cache.
        let data = Contents::Data(Arc::new(from.to_vec()), 0);
        let mut state = self.write_state();
        let settings = state.settings;
        if !state.takes_writes() {
            return Ok(Taken::Through);
        }
        let place = SectorRange { set, lba, sectors: (from.len() / SECTOR) as u64 };
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
        debug_assert!(state.dirty + from.len() as u64 <= self.size, "the cache holds what it has room for");
        state.insert(place, data, self.clock.now());
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
        let (found, generation) = self.found(wanted);
        // Copied while writes come in.
        let run = |(place, pieces): (SectorRange, Vec<Piece>)| {
            let mut data = Vec::with_capacity(narrow::<usize>(place.sectors) * SECTOR);
            pieces.iter().filter_map(Piece::data).for_each(|part| data.extend_from_slice(part));
            Run { place, data }
        };
        (found.into_iter().map(run).collect(), generation)
    }

    /// The pieces of each run, and the generation.
    fn found(&self, wanted: Wanted) -> (Vec<(SectorRange, Vec<Piece>)>, u64) {
        /// Sectors of one run at most.
        const RUN: u64 = (1 << 20) / SECTOR_BYTES;
        let state = self.read_state();
        let now = self.clock.now();
        let (mut runs, mut sectors): (Vec<(SectorRange, Vec<Piece>)>, u64) = (Vec::new(), 0);
        for (place, piece) in state.all() {
            if piece.data().is_none() {
                continue;
            }
            let is_inside = piece.generation <= wanted.up_to
                && wanted.only.is_none_or(|only| {
                    place.set == only.set
                        && place.lba < only.lba + only.sectors
                        && place.lba + place.sectors > only.lba
                });
            let is_next = runs.last().is_some_and(|(run, _)| {
                run.set == place.set
                    && run.lba + run.sectors == place.lba
                    && run.sectors + place.sectors <= RUN
            });
            // What continues a stripe goes with it, however new.
            if !is_inside || (!is_next && now.saturating_sub(piece.since) < wanted.age) {
                continue;
            }
            if sectors * SECTOR_BYTES >= wanted.most && !is_next {
                break;
            }
            sectors += place.sectors;
            match runs.last_mut().filter(|_| is_next) {
                Some((run, pieces)) => {
                    run.sectors += place.sectors;
                    pieces.push(piece.clone());
                }
                None => runs.push((place, vec![piece.clone()])),
            }
        }
        debug_assert!(
            runs.iter()
                .all(|(run, pieces)| pieces.iter().map(|piece| piece.sectors).sum::<u64>() == run.sectors),
            "a run is as long as its pieces"
        );
        (runs, state.generation)
    }

    /// The members have what was here of these ranges up to a generation, or something newer, on stable storage where
    /// that is asked of anything.
    pub fn settle(&self, places: &[SectorRange], generation: u64) -> io::Result<()> {
        // Given back to the system once others can come to the cache again.
        let mut taken = Vec::new();
        let mut state = self.write_state();
        let mut gone: Vec<SectorRange> = Vec::new();
        for &SectorRange { set, lba, sectors } in places {
            let old = state.sets[set as usize].over(lba, lba + sectors);
            gone.extend(old.filter(|(_, piece)| piece.generation <= generation).map(|(at, piece)| {
                let (first, end) = (at.max(lba), (at + piece.sectors).min(lba + sectors));
                SectorRange { set, lba: first, sectors: end - first }
            }));
        }
        debug_assert!(generation <= state.generation, "nothing is settled that was not taken");
        let is_last = gone.iter().map(|place| place.sectors * SECTOR_BYTES).sum::<u64>() >= state.dirty;
        if !(is_last && self.is_log_full()) {
            // Said first: what cannot be said stays.
            self.note_gone(&gone)?;
        }
        for &place in &gone {
            taken.extend(state.carve(place, |_| true));
        }
        assert_eq!(
            taken.iter().map(|(_, piece)| piece.sectors).sum::<u64>(),
            gone.iter().map(|place| place.sectors).sum::<u64>(),
            "what has gone was here, once"
        );
        self.recount(&state);
        if state.dirty == 0 && self.is_log_full() { self.begin_log(&mut state) } else { Ok(()) }
    }

    fn note_gone(&self, gone: &[SectorRange]) -> io::Result<()> {
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

    /// Forgets everything, also what was lost: the array is new.
    pub fn clear(&self) -> io::Result<()> {
        let mut held = self.hold();
        (0..narrow::<u32>(held.state.sets.len())).try_for_each(|set| held.forget(set))
    }

    /// Nobody reads from it, or writes to it, while it is held; those who do both wait for it before they wait for rows of a set.
    pub fn hold(&self) -> Hold<'_> {
        Hold { cache: self, state: self.write_state() }
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
        let before = std::mem::replace(&mut state.settings, settings);
        let written = self.write_table(&mut state);
        if written.is_err() {
            // What a next start would not know of is not done.
            state.settings = before;
        }
        self.recount(&state);
        written
    }

    /// The labels say that it is this start's, and it says so, too: a start that died before that had what an earlier one's had, and no
    /// other start has.
    pub fn belongs(&self) -> io::Result<()> {
        let mut state = self.write_state();
        state.before = 0;
        self.write_table(&mut state)
    }

    /// Whether another controller has a copy of what is taken from now on. Without one writes go through.
    pub fn set_partner(&self, has_partner: bool) {
        let mut state = self.write_state();
        state.has_partner = has_partner;
        self.recount(&state);
    }

    /// Whether nothing is taken from now on, whatever is set. A next start knows nothing of it.
    pub fn pause(&self, is_paused: bool) {
        let mut state = self.write_state();
        state.is_paused = is_paused;
        self.recount(&state);
    }

    /// All that was taken is kept through a loss of power, as far as the battery reaches.
    pub fn flush(&self) -> io::Result<()> {
        match &self.kept {
            Some(kept) if !self.is_empty() => kept.log.flush(),
            _ => Ok(()),
        }
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
        debug_assert_eq!(
            state.dirty,
            state.all().filter_map(|(_, piece)| Some(piece.data()?.len() as u64)).sum::<u64>(),
            "what is counted as dirty is what is held"
        );
        let Some(kept) = &self.kept else { return Ok(()) };
        let lost = state.all().filter(|(_, piece)| piece.is_lost()).map(|(place, _)| place);
        let table = Table {
            number: state.table,
            array: self.owner.array.clone(),
            session: self.owner.session,
            before: state.before,
            room: kept.room,
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
        let takes_writes = state.takes_writes();
        self.takes_writes.store(takes_writes, Ordering::Release);
    }

    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cache that nobody else reads from or writes to.
pub struct Hold<'c> {
    cache: &'c WriteCache,
    state: RwLockWriteGuard<'c, State>,
}

impl Hold<'_> {
    /// Forgets what it has of a set, also what was lost of it: its data are to be overwritten.
    pub fn forget(&mut self, set: u32) -> io::Result<()> {
        let taken = self.state.carve(SectorRange { set, lba: 0, sectors: u64::MAX }, |_| true);
        let of = |(lba, piece): (u64, Piece)| SectorRange { set, lba, sectors: piece.sectors };
        self.cache.note_gone(&taken.into_iter().map(of).collect::<Vec<_>>())?;
        self.cache.recount(&self.state);
        if self.state.dirty > 0 { Ok(()) } else { self.cache.begin_log(&mut self.state) }
    }
}
