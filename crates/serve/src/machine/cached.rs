//! Requests through the write-back cache, and what writes to members what it holds.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use units::SECTOR_BYTES;
use units::convert::narrow;

use super::Machine;
use crate::cache::{Run, SectorRange, Taken, Wanted, WriteCache};
use crate::clock;
use crate::disk::Lent;
use crate::set::{Fault, Reports, Scratch};

/// Bytes that are written to members in one go.
const BATCH: u64 = 32 << 20;
/// How often is looked for what is old.
const LOOK: Duration = Duration::from_millis(50);

impl Machine {
    /// Fills `into` from byte `offset` of a LUN on; whole sectors.
    pub fn read(&self, scratch: &mut Scratch, lun: u32, offset: u64, into: &mut [u8]) -> Result<(), Fault> {
        let SectorRange { set, lba, .. } = self.place(lun, offset, into.len() as u64)?;
        let store = &self.sets[set as usize];
        match &self.cache {
            Some(cache) if !cache.is_empty() => {
                cache.read(set, lba, into, |lba, part| store.read(scratch, lba, part, self))
            }
            _ => store.read(scratch, lba, into, self),
        }
    }

    /// What [`Machine::read`] gives, lent by members that are memory; `None` where it must be copied.
    pub fn lend(&self, scratch: &mut Scratch, lun: u32, offset: u64, len: u64) -> Option<Vec<Lent>> {
        let SectorRange { set, lba, .. } = self.place(lun, offset, len).ok()?;
        if !self.is_volatile() || self.cache.as_ref().is_some_and(|cache| !cache.is_empty()) {
            return None;
        }
        self.sets[set as usize].lend(scratch, lba, narrow::<usize>(len))
    }

    /// Writes `from` at byte `offset` of a LUN; whole sectors.
    pub fn write(&self, scratch: &mut Scratch, lun: u32, offset: u64, from: &[u8]) -> Result<(), Fault> {
        let place = self.place(lun, offset, from.len() as u64)?;
        let store = &self.sets[place.set as usize];
        let Some(cache) = &self.cache else { return store.write(scratch, place.lba, from, self) };
        // What is larger gains nothing, and pushes out what does.
        if cache.takes_writes() && from.len() as u64 <= cache.size() / 4 {
            if self.common.can_write().is_err() {
                let _labelled = Reports::label_again(self);
                self.common.can_write()?;
            }
            store.can_take(scratch, place.lba, place.sectors)?;
            for _ in 0..3 {
                match cache.put(place.set, place.lba, from).map_err(|why| self.cache_refused(&why))? {
                    Taken::Yes => {
                        self.cache_refusal.taken(self);
                        return Ok(());
                    }
                    Taken::Through => break,
                    Taken::Full => self.make_room(cache, scratch),
                }
            }
        }
        self.instead(cache, scratch, place, |scratch| store.write(scratch, place.lba, from, self))
    }

    /// Has a range of a LUN read as zeros.
    pub fn write_zeros(
        &self,
        scratch: &mut Scratch,
        lun: u32,
        offset: u64,
        len: u64,
        keeps_room: bool,
    ) -> Result<(), Fault> {
        let place = self.place(lun, offset, len)?;
        let store = &self.sets[place.set as usize];
        let act =
            |scratch: &mut Scratch| store.write_zeros(scratch, place.lba, place.sectors, keeps_room, self);
        match &self.cache {
            Some(cache) => self.instead(cache, scratch, place, act),
            None => act(scratch),
        }
    }

    /// Forgets what of a range of a LUN can be forgotten.
    pub fn trim(&self, scratch: &mut Scratch, lun: u32, offset: u64, len: u64) -> Result<(), Fault> {
        let place = self.place(lun, offset, len)?;
        let store = &self.sets[place.set as usize];
        let Some(cache) = self.cache.as_ref().filter(|cache| cache.has_some_of(place)) else {
            return store.trim(scratch, place.lba, place.sectors, self);
        };
        let _alone = cache.alone();
        let (runs, generation) = cache.runs(Wanted { only: Some(place), ..Wanted::default() });
        self.destage(cache, scratch, &runs, generation)?;
        store.trim(scratch, place.lba, place.sectors, self)
    }

    /// Runs of bytes of a LUN from `offset` on, with whether they are holes: as many as are known soon, at most `most`.
    pub fn extents(&self, lun: u32, offset: u64, len: u64, most: usize) -> Result<Vec<(u64, bool)>, Fault> {
        let place = self.place(lun, offset, len)?;
        let SectorRange { set, lba, sectors } = place;
        let cached = self.cache.as_ref().filter(|cache| !cache.is_empty());
        let sectors = match cached.and_then(|cache| cache.first_of(place)) {
            Some(held) if held.start == lba => return Ok(vec![((held.end - lba) * SECTOR_BYTES, false)]),
            Some(held) => held.start - lba,
            None => sectors,
        };
        let runs = self.sets[set as usize].extents(lba, sectors, most)?;
        Ok(runs.into_iter().map(|(sectors, is_hole)| (sectors * SECTOR_BYTES, is_hole)).collect())
    }

    /// All that was written to a LUN before is kept whatever happens.
    pub fn flush(&self, lun: u32) -> Result<(), Fault> {
        if let Some(cache) = self.cache.as_ref().filter(|cache| !cache.is_empty()) {
            if cache.settings().has_battery {
                cache.flush().map_err(|why| self.cache_refused(&why))?;
            } else {
                // What a failed set keeps of another LUN is nothing to this one.
                self.destage_all(cache, self.whole(lun))?;
            }
        }
        self.barrier()
    }

    /// As [`Machine::flush`], for a client that has been told of so many losses of the cache ([`Machine::told`]): the first one after
    /// another loss of the LUN's is an error, because what the client had written before may be among what is lost.
    pub fn flush_telling(&self, lun: u32, told: &AtomicU64) -> Result<(), Fault> {
        self.flush(lun)?;
        let losses = self.losses_of(lun);
        match told.swap(losses, Ordering::AcqRel) == losses {
            true => Ok(()),
            false => Err(Fault::CacheLost),
        }
    }

    /// The memory of the cache takes nothing.
    #[cold]
    fn cache_refused(&self, why: &io::Error) -> Fault {
        let (fault, text) = match crate::set::is_full(why) {
            true => (Fault::NoSpace, "no space for the memory of the write cache".into()),
            false => (Fault::Journal, format!("the memory of the write cache cannot be written ({why})")),
        };
        self.cache_refusal.refused(text, self);
        fault
    }

    /// What members were told is kept.
    fn barrier(&self) -> Result<(), Fault> {
        match &self.common.nvram {
            Some(nvram) => nvram.flush().map_err(|why| {
                let text = format!("the controller's memory cannot be written ({why})");
                self.common.refusal.refused(text, self);
                Fault::Journal
            }),
            None => Ok(()),
        }
    }

    /// Does something to the members that what the cache has of the range must not undo later.
    fn instead(
        &self,
        cache: &WriteCache,
        scratch: &mut Scratch,
        place: SectorRange,
        act: impl Fn(&mut Scratch) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if !cache.has_some_of(place) {
            return act(scratch);
        }
        if cache.is_log_full() {
            self.make_room(cache, scratch);
        }
        let _alone = cache.alone();
        let generation = cache.generation();
        act(scratch)?;
        self.barrier()?;
        cache.settle(&[place], generation).map_err(|why| self.cache_refused(&why))
    }

    /// Writes to members, of which whoever waits for room is told nothing: his own write tells.
    fn make_room(&self, cache: &WriteCache, scratch: &mut Scratch) {
        if cache.is_log_full() {
            let _told_by_the_write = self.destage_all(cache, None);
            return;
        }
        let _alone = cache.alone();
        let (runs, generation) =
            cache.runs(Wanted { most: (cache.size() / 4).min(BATCH), ..Wanted::default() });
        let _told_by_the_write = self.destage(cache, scratch, &runs, generation);
    }

    /// Writes runs to members; `alone` must be held.
    fn destage(
        &self,
        cache: &WriteCache,
        scratch: &mut Scratch,
        runs: &[Run],
        generation: u64,
    ) -> Result<(), Fault> {
        let (mut done, mut fault) = (Vec::new(), None);
        for Run { place, data } in runs {
            debug_assert_eq!(
                data.len() as u64,
                place.sectors * SECTOR_BYTES,
                "a run has the data of its sectors"
            );
            match self.sets[place.set as usize].write(scratch, place.lba, data, self) {
                Ok(()) => done.push(*place),
                Err(why) => fault = Some(why),
            }
        }
        if !done.is_empty() {
            // The cache may be the only place of what was flushed.
            self.barrier()?;
            cache.settle(&done, generation).map_err(|why| self.cache_refused(&why))?;
        }
        fault.map_or(Ok(()), Err)
    }

    /// Writes all that the cache has to members, or all of a range; an error where some of it cannot be, and stays.
    pub(super) fn destage_all(&self, cache: &WriteCache, only: Option<SectorRange>) -> Result<(), Fault> {
        let _alone = cache.alone();
        let mut scratch = Scratch::default();
        // What comes meanwhile is not waited for.
        let mut wanted = Wanted { most: BATCH, only, up_to: cache.generation(), ..Wanted::default() };
        loop {
            let (runs, generation) = cache.runs(wanted);
            let is_last = runs.is_empty() || wanted.most == u64::MAX;
            match self.destage(cache, &mut scratch, &runs, generation) {
                Ok(()) if is_last => break,
                Ok(()) => {}
                Err(why) if is_last => return Err(why),
                // Others may go where this one does not.
                Err(_) => wanted.most = u64::MAX,
            }
        }
        cache.renew().map_err(|why| self.cache_refused(&why))
    }

    /// Writes to members what has been in the cache for `age`, or much of it where the cache is half full.
    pub fn destage_old(&self, age: Duration) {
        let Some(cache) = self.cache.as_ref().filter(|cache| !cache.is_empty()) else { return };
        if cache.is_log_full() {
            // What cannot be written stays, and is tried again.
            let _later = self.destage_all(cache, None);
            return;
        }
        let is_urgent = cache.dirty() > cache.size() / 2 || !cache.takes_writes();
        let _alone = cache.alone();
        let (runs, generation) = cache.runs(Wanted {
            most: BATCH,
            age: if is_urgent { Duration::ZERO } else { age },
            ..Wanted::default()
        });
        let _later = self.destage(cache, &mut Scratch::default(), &runs, generation);
    }

    /// Looks for what is old, for as long as the array is there.
    pub(super) fn start_destaging(self: &Arc<Machine>, age: Option<Duration>) -> io::Result<()> {
        let Some(age) = age.filter(|_| self.cache.is_some()) else { return Ok(()) };
        let machine = Arc::downgrade(self);
        let thread = std::thread::Builder::new().name("fathom-destage".into()).spawn(move || {
            clock::give_way();
            loop {
                clock::wait(LOOK);
                let Some(machine) = machine.upgrade() else { return };
                if machine.is_closing.load(Ordering::Acquire) {
                    return;
                }
                machine.destage_old(age);
            }
        })?;
        *self.destager.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    /// Has the cache be empty; what members do not take stays for the next start.
    pub(super) fn close_cache(&self) {
        self.is_closing.store(true, Ordering::Release);
        if let Some(thread) = self.destager.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // One that has panicked has ended as well.
            let _ended = thread.join();
        }
        if let Some(cache) = &self.cache
            && let Err(why) = self.destage_all(cache, None)
        {
            let becomes = match (self.is_volatile(), cache.settings().has_battery) {
                (true, _) => "are lost with the server, which has no `--dir`",
                (false, true) => "stay in it, and its battery keeps them for the next start",
                (false, false) => "stay in it without a battery, and are lost",
            };
            self.say_stays(cache, becomes, why);
        }
    }
}
