//! Requests through the write-back cache, and what an operator does to it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES};

use super::Machine;
use super::bays::has_failed;
use super::errors::OperateError;
use crate::cache::{Place, Run, Settings, Taken, Wanted, WriteCache};
use crate::clock;
use crate::disk::Lent;
use crate::events::Severity;
use crate::set::{Fault, Reports, Scratch, SetStore};

/// What is done to the write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheAction {
    /// Writes are acknowledged from it.
    WriteBack {
        /// Without a battery, too.
        forced: bool,
    },
    /// Writes are acknowledged when members have them.
    WriteThrough,
    /// The battery fails.
    BatteryDead,
    /// The battery is replaced.
    BatteryGood,
    /// Power goes and comes back.
    PowerLoss,
    /// Everything is written to the members.
    Flush,
}

/// The write cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStatus {
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that members do not have yet.
    pub dirty_bytes: u64,
    /// Whether writes are acknowledged from it.
    pub is_write_back: bool,
    /// Whether what it holds survives a loss of power.
    pub has_battery: bool,
    /// Whether writes are acknowledged from it even without a battery.
    #[serde(default)]
    pub is_forced: bool,
    /// What it has lost, and nobody has written again.
    pub lost: Vec<LostRange>,
}

/// Bytes of a LUN that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRange {
    /// The LUN.
    pub lun: u32,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// Bytes that are written to members in one go.
const BATCH: u64 = 32 << 20;
/// Lines of the event log that a loss takes at most.
const LINES: usize = 16;
/// How often is looked for what is old.
const LOOK: Duration = Duration::from_millis(50);

impl Machine {
    /// Fills `into` from byte `offset` of a LUN on; whole sectors.
    pub fn read(&self, scratch: &mut Scratch, lun: u32, offset: u64, into: &mut [u8]) -> Result<(), Fault> {
        let Place { set, lba, .. } = self.place(lun, offset, into.len() as u64)?;
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
        let Place { set, lba, .. } = self.place(lun, offset, len).ok()?;
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
        let Place { set, lba, sectors } = place;
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
        place: Place,
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
    fn destage_all(&self, cache: &WriteCache, only: Option<Place>) -> Result<(), Fault> {
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

    /// Reads again what a former server has left in the cache, once the journal is on the members.
    pub(super) fn recover_cache(&self) -> io::Result<()> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let scratch = std::cell::RefCell::new(Scratch::default());
        let lost = cache.recover(|set, lba, into| {
            self.sets[set as usize].read(&mut scratch.borrow_mut(), lba, into, self)
        })?;
        let dirty = Bytes::new(cache.dirty());
        if cache.dirty() > 0 {
            self.say(Severity::Information, format!("write cache: the battery has kept {dirty}"));
        }
        self.say_lost(&lost);
        Ok(())
    }

    /// What the cache is doing; `None` where there is none.
    pub fn cache_status(&self) -> Option<CacheStatus> {
        let cache = self.cache.as_ref()?;
        let settings = cache.settings();
        Some(CacheStatus {
            bytes: cache.size(),
            dirty_bytes: cache.dirty(),
            is_write_back: cache.takes_writes(),
            has_battery: settings.has_battery,
            is_forced: settings.is_forced,
            lost: self.on_luns(&cache.lost()),
        })
    }

    /// Does something to the cache; what came of it, in a sentence.
    pub fn set_cache(&self, action: CacheAction) -> Result<String, OperateError> {
        let cache = self.cache.as_ref().ok_or(OperateError::NoCache)?;
        let now = cache.settings();
        let system = |source| OperateError::System { what: "setting the write cache".into(), source };
        let set = |settings: Settings| cache.set(settings).map_err(system);
        let said = match action {
            CacheAction::WriteBack { forced: false } if !now.has_battery => {
                return Err(OperateError::NoBattery);
            }
            CacheAction::WriteBack { forced } => {
                set(Settings { is_write_back: true, is_forced: forced, ..now })?;
                let text =
                    if now.has_battery { "write-back" } else { "write-back without a battery, forced" };
                self.say(Severity::Information, format!("write cache: {text}"));
                format!("write cache: {text}")
            }
            CacheAction::WriteThrough => {
                set(Settings { is_write_back: false, is_forced: false, ..now })?;
                let text = "write cache: write-through";
                self.say(Severity::Information, text);
                self.emptied(cache).unwrap_or_else(|why| format!("{text}; {why}"))
            }
            CacheAction::Flush => self.emptied(cache)?,
            CacheAction::BatteryGood => {
                let emptied = self.emptied(cache);
                // What stays is saved before the battery is relied on. What was forced was forced for want of it.
                set(Settings { has_battery: true, is_forced: false, ..now })?;
                let text = "write cache: battery good";
                self.say(Severity::Information, text);
                emptied.map_or_else(|why| format!("{text}; {why}"), |_| text.into())
            }
            CacheAction::BatteryDead => {
                let dirty = Bytes::new(cache.dirty());
                // What was flushed under the battery is not lost without it: it dies once that is on the drives.
                cache.pause(true);
                let emptied = self.emptied(cache);
                let is_set = set(Settings { has_battery: false, ..now });
                cache.pause(false);
                is_set?;
                let now = match cache.takes_writes() {
                    true => "write-back continues without it, forced",
                    false => "write-through",
                };
                let text = match &emptied {
                    Ok(_) => {
                        format!("write cache: {dirty} flushed to the drives, then the battery failed; {now}")
                    }
                    Err(_) => format!(
                        "write cache: battery failed with {} not on the drives; {now}",
                        Bytes::new(cache.dirty())
                    ),
                };
                self.say(Severity::Critical, text.clone());
                match emptied {
                    Ok(emptied) if !cache.takes_writes() => emptied,
                    Ok(_) => text,
                    Err(why) => format!("{text}; {why}"),
                }
            }
            CacheAction::PowerLoss => self.lose_power(cache).map_err(system)?,
        };
        Ok(said)
    }

    fn lose_power(&self, cache: &WriteCache) -> io::Result<String> {
        let _alone = cache.alone();
        let dirty = Bytes::new(cache.dirty());
        let scratch = std::cell::RefCell::new(Scratch::default());
        self.say(Severity::Critical, "power failed, and came back");
        let lost = cache.lose_power(|set, lba, into| {
            self.sets[set as usize].read(&mut scratch.borrow_mut(), lba, into, self)
        })?;
        if cache.settings().has_battery {
            let text = format!("write cache: the battery has kept {dirty}");
            self.say(Severity::Information, text.clone());
            return Ok(text);
        }
        self.say_lost(&lost);
        Ok(match lost.is_empty() {
            true => "write cache: nothing was in it that the drives do not have".into(),
            false => format!("write cache: {} lost; `fathom array cache` names them", total(&lost)),
        })
    }

    /// A controller goes that others had copies of their writes on.
    pub(super) fn partner_lost(&self) {
        let Some(cache) = &self.cache else { return };
        if self.shape.front.is_mirrored {
            self.say(Severity::Warning, "write cache: no partner to mirror to; write-through");
            cache.set_partner(false);
        }
        if let Err(why) = self.destage_all(cache, None) {
            self.say_stays(cache, "stay in it", why);
        }
    }

    /// All controllers work.
    pub(super) fn partner_back(&self) {
        let Some(cache) = self.cache.as_ref().filter(|_| self.shape.front.is_mirrored) else { return };
        cache.set_partner(true);
        if cache.takes_writes() {
            self.say(Severity::Information, "write cache: mirrored again; write-back");
        }
    }

    fn emptied(&self, cache: &WriteCache) -> Result<String, OperateError> {
        let dirty = Bytes::new(cache.dirty());
        self.destage_all(cache, None).map_err(|why| OperateError::Stays {
            stays: Bytes::new(cache.dirty()),
            why: self.not_taken(why),
        })?;
        Ok(format!("write cache: {dirty} written to the drives; it is empty"))
    }

    /// Why drives do not take what the cache has.
    fn not_taken(&self, why: Fault) -> String {
        let has_failed = |set: &SetStore| has_failed(set.geometry(), &set.state().health);
        match why {
            Fault::Lost if self.sets.iter().any(has_failed) => "a set has failed and takes nothing".into(),
            Fault::Lost => "a stripe has lost more than its RAID level survives, and takes nothing".into(),
            why => why.to_string(),
        }
    }

    /// What becomes of what could not be written to the drives.
    fn say_stays(&self, cache: &WriteCache, becomes: &str, why: Fault) {
        let dirty = Bytes::new(cache.dirty());
        self.say(Severity::Critical, format!("write cache: {dirty} {becomes}: {}", self.not_taken(why)));
    }

    fn say_lost(&self, lost: &[Place]) {
        if lost.is_empty() {
            return;
        }
        let ranges = self.on_luns(lost);
        let mut luns: Vec<u32> = ranges.iter().map(|range| range.lun).collect();
        luns.dedup();
        luns.iter().for_each(|&lun| {
            self.losses[lun as usize].fetch_add(1, Ordering::AcqRel);
        });
        let text = format!("write cache: {} lost in {} ranges", total(lost), ranges.len());
        self.say(Severity::Critical, text);
        for LostRange { lun, offset, bytes } in ranges.iter().take(LINES) {
            let text = format!("lun{lun}: lost: {} from byte {offset} on", Bytes::new(*bytes));
            self.say(Severity::Critical, text);
        }
        if ranges.len() > LINES {
            let text =
                format!("{} more ranges are lost: `fathom array cache` names them", ranges.len() - LINES);
            self.say(Severity::Critical, text);
        }
    }

    pub(super) fn on_luns(&self, places: &[Place]) -> Vec<LostRange> {
        let part = |place: &Place, number: u32, lun: &super::Lun| {
            let first = place.lba.max(lun.start);
            let end = (place.lba + place.sectors).min(lun.start + lun.sectors);
            (place.set == lun.set && first < end).then(|| LostRange {
                lun: number,
                offset: (first - lun.start) * SECTOR_BYTES,
                bytes: (end - first) * SECTOR_BYTES,
            })
        };
        let luns = (0_u32..).zip(&self.shape.luns);
        luns.flat_map(|(number, lun)| places.iter().filter_map(move |place| part(place, number, lun)))
            .collect()
    }
}

fn total(places: &[Place]) -> Bytes {
    Bytes::new(places.iter().map(|place| place.sectors * SECTOR_BYTES).sum())
}
