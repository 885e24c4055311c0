//! An array at work: bays, sets, LUNs, and what an operator does to them.
//!
//! **Invariant:** every change of what is in use is on the labels of the disks that are, before a request is answered
//! that relies on it.

mod bays;
mod cache_state;
mod cached;
mod errors;
mod found;
mod front;
mod initialise;
mod logged;
mod memories;
mod open;
mod operate;
mod options;
mod pass;
mod returning;
mod shape;
mod starting;
mod status;
mod work;
mod works;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use array::raid::MemberState;
use array::sim::Topology;
use units::convert::narrow;
use units::{SECTOR_BYTES, Sectors};

use crate::cache::{SectorRange, WriteCache};
use crate::config::{LostConfig, Start, Status};
use crate::disk::{Disk, DiskError};
use crate::events::{EventLog, Severity};
use crate::pace::Pacer;
use crate::set::{Common, Fault, Refusal, Reports, SetStore};
use crate::shelf::Shelf;

pub use cache_state::{CacheAction, CacheStatus, LostRange};
pub use errors::{OpenError, OperateError};
pub use front::{ControllerStatus, FrontShape, PathStatus};
pub use operate::Insert;
pub use options::Options;
pub use shape::{Lun, SetShape, Shape};
pub use status::{BayStatus, MachineStatus, PassStatus, SetStatus, WorkStatus};
pub use work::WorkKind;

use front::Front;
use logged::{Logged, Telling};
use works::Works;

/// An array at work.
pub struct Machine {
    shape: Shape,
    array: String,
    start: Start,
    common: Arc<Common>,
    sets: Vec<SetStore>,
    cache: Option<WriteCache>,
    /// Why the memory of the cache took nothing last.
    cache_refusal: Refusal,
    /// Writes to members what has been in the cache for a while.
    destager: Mutex<Option<JoinHandle<()>>>,
    is_closing: AtomicBool,
    front: Mutex<Front>,
    /// Whether hosts do not reach some LUN.
    is_cut: AtomicBool,
    /// Releases of the firmware that the model knows.
    firmware: Vec<(String, Topology)>,
    seed: u64,
    shelf: Option<Box<dyn Shelf>>,
    bays: Mutex<Bays>,
    works: Works,
    events: EventLog,
    told: Mutex<Logged>,
    /// How often the write cache has lost what had been acknowledged, by LUN.
    losses: Vec<AtomicU64>,
    /// Whether a spare takes over by itself.
    is_automatic: bool,
    /// The model that the pace comes from, where it does.
    model: OnceLock<Arc<Pacer>>,
}

/// What is in the bays.
struct Bays {
    generation: u64,
    /// The last one that every disk in use has on its label.
    taken: u64,
    /// The number of the start that wrote the labels which are on the disks.
    labelled: u64,
    bays: Vec<Bay>,
    /// Disks in memory that are out of their bays, and what each was to the array when it was taken out.
    outside: Vec<(Arc<Disk>, Status)>,
    /// For each slot of each set, the disk that it lost last of those that had all of it.
    lost: Vec<Vec<Lost>>,
    /// For each slot of each set, the disk that it lost last of those that were being filled for it.
    filled: Vec<Vec<Filled>>,
}

/// A disk that a slot has lost while it was being filled.
#[derive(Clone, Debug, Default)]
struct Filled {
    lost: Lost,
    /// It had all below this mark.
    done_to: u64,
}

/// A disk that a slot has lost; of a slot that has lost none, nothing.
#[derive(Clone, Debug, Default)]
struct Lost {
    serial: String,
    /// The first generation without it.
    since: u64,
    /// The number of the start that wrote its label.
    start: u64,
    /// [`SetStore::changes`] of its group when it went, where it had all of them.
    changes: Option<u64>,
}

impl From<LostConfig> for Lost {
    fn from(LostConfig { serial, since, start }: LostConfig) -> Lost {
        Lost { serial, since, start, changes: None }
    }
}

/// How a disk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    /// With all that the set has taken.
    Whole,
    /// It has refused a write, or was away at the start.
    Refusing,
}

#[derive(Clone)]
struct Bay {
    disk: Option<Arc<Disk>>,
    serial: String,
    status: Status,
    /// The first generation without it, of one that was taken out of use.
    until: u64,
    /// Of a disk that was away: the generation of its label.
    generation: u64,
    /// And the number of the start that wrote it.
    start: u64,
}

impl Bay {
    /// Whether the drive of that serial number is in it.
    fn is_in_with(&self, serial: &str) -> bool {
        self.disk.is_some() && self.serial == serial
    }
}

impl Machine {
    /// From now on background work is as fast as in the model, which loses the disks that this array has lost, and does the work that is
    /// under way.
    pub fn follow(&self, model: Arc<Pacer>) {
        for (set, slot) in self.slots_that(|state| state == MemberState::Failed) {
            model.fail_slot(set, slot, false);
        }
        for work in self.works.under_way() {
            if let (WorkKind::Rebuild, Some(slot)) = (work.kind, work.slot) {
                model.fail_slot(work.set, slot, false);
            }
            work.begin_in(&model, self.sets[work.set as usize].geometry());
        }
        // The first one stays.
        let _known = self.model.set(model);
    }

    /// The model that the pace comes from has ended by a mistake of its own.
    pub(crate) fn model_is_broken(&self) {
        self.say(
            Severity::Critical,
            "internal error: the model of this array has ended; hosts get errors until the server is started again",
        );
    }

    /// Slots in a state, each with its set.
    fn slots_that(&self, is_meant: impl Fn(MemberState) -> bool) -> Vec<(u32, u16)> {
        let mut all = Vec::new();
        for (number, set) in (0_u32..).zip(&self.sets) {
            let state = set.state();
            let slots = 0..narrow::<u16>(set.geometry().spec().members);
            all.extend(slots.filter(|&slot| is_meant(state.health.state(slot))).map(|slot| (number, slot)));
        }
        all
    }

    /// Its LUNs.
    pub fn luns(&self) -> &[Lun] {
        &self.shape.luns
    }

    /// What it is, in an address of the library.
    pub fn name(&self) -> &str {
        &self.shape.name
    }

    /// Whether some of its disks rotate.
    pub fn is_rotating(&self) -> bool {
        self.shape.is_rotating
    }

    /// What [`Machine::flush_telling`] starts from for a new client: the number of losses of the write cache. While something is still
    /// lost it is one less, so that the first flush fails: the client may have written that before a restart of the server.
    pub fn told(&self, lun: u32) -> AtomicU64 {
        let losses = self.losses_of(lun);
        let is_lost = |cache: &WriteCache| self.on_luns(&cache.lost()).iter().any(|range| range.lun == lun);
        let has_lost = self.cache.as_ref().is_some_and(|cache| !cache.is_empty() && is_lost(cache));
        AtomicU64::new(if has_lost { losses.wrapping_sub(1) } else { losses })
    }

    /// How often the write cache has lost something of a LUN.
    fn losses_of(&self, lun: u32) -> u64 {
        self.losses.get(lun as usize).map_or(0, |losses| losses.load(Ordering::Acquire))
    }

    /// All of a LUN; `None` where there is no such LUN.
    fn whole(&self, lun: u32) -> Option<SectorRange> {
        let lun = self.shape.luns.get(lun as usize)?;
        Some(SectorRange { set: lun.set, lba: lun.start, sectors: lun.sectors })
    }

    /// What has happened.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// Whether the data are lost with the server.
    pub fn is_volatile(&self) -> bool {
        self.shelf.is_none()
    }

    fn place(&self, number: u32, offset: u64, len: u64) -> Result<SectorRange, Fault> {
        let lun = self.shape.luns.get(number as usize).ok_or(Fault::OutOfRange)?;
        if !self.is_reached(number) {
            return Err(Fault::NoPath);
        }
        let capacity = self.sets[lun.set as usize].geometry().capacity().0;
        debug_assert!(lun.start + lun.sectors <= capacity, "a LUN lies in its set");
        let is_whole = offset.is_multiple_of(SECTOR_BYTES) && len.is_multiple_of(SECTOR_BYTES) && len > 0;
        match offset.checked_add(len) {
            Some(end) if is_whole && end <= lun.sectors * SECTOR_BYTES => Ok(SectorRange {
                set: lun.set,
                lba: lun.start + offset / SECTOR_BYTES,
                sectors: len / SECTOR_BYTES,
            }),
            _ => Err(Fault::OutOfRange),
        }
    }

    /// Ends in order: everything on stable storage, the journal empty.
    pub fn close(&self) -> io::Result<()> {
        self.works.stop_all();
        self.close_cache();
        let mut bays = self.lock_bays();
        // Twice: a copy of a drive from before the end is two generations behind, as no drive in use ever is.
        self.relabel(&mut bays)?;
        self.relabel(&mut bays)?;
        self.common.checkpoint(true)
    }

    fn lock_bays(&self) -> MutexGuard<'_, Bays> {
        self.bays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes drives out of use that have failed by themselves, each with the reason; a spare takes over.
    fn lose(&self, bays: &mut Bays, mut failed: Vec<(u32, String)>) {
        while !failed.is_empty() {
            for (bay, why) in failed {
                self.say(Severity::Critical, format!("bay {bay}: {why}; drive taken out of use"));
                // It misses what it refused.
                self.take_out_of_use(bays, bay, Going::Refusing);
            }
            if self.relabel(bays).is_ok() {
                break;
            }
            // The labels need a sync, and that comes upon others.
            failed = broken(bays);
            if failed.is_empty() {
                // Nobody would know after a restart that the drives are out of date.
                self.common.is_frozen.store(true, Ordering::Relaxed);
                self.say(Severity::Critical, "the labels cannot be written; the array is write-protected");
            }
        }
        self.use_spares_soon();
    }

    fn named(&self) -> MutexGuard<'_, Logged> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say_corrected(&self, bay: u32, text: String) {
        let telling = self.named().corrected(bay);
        match telling {
            Telling::Whole => self.say(Severity::Warning, text),
            Telling::More => self.say(
                Severity::Warning,
                format!("bay {bay}: more is corrected from redundancy; until the next pass it is not named"),
            ),
            Telling::Nothing => {}
        }
    }

    fn say(&self, severity: Severity, text: impl Into<String>) {
        self.events.add(severity, text.into());
    }
}

impl Reports for Machine {
    fn member_failed(&self, set: u32, member: u16, why: &io::Error) {
        let bay = self.shape.sets[set as usize].bays[usize::from(member)];
        let mut bays = self.lock_bays();
        if bays.bays[bay as usize].status == Status::InUse {
            self.lose(&mut bays, vec![(bay, format!("write error ({why})"))]);
        }
    }

    fn corrected(&self, set: u32, member: u16, lba: u64, why: &DiskError) {
        let bay = self.shape.sets[set as usize].bays[usize::from(member)];
        let what = match why {
            DiskError::Mismatch { .. } => "did not match its checksum".into(),
            DiskError::Medium(_) | DiskError::Gone => format!("could not be read ({why})"),
        };
        self.say_corrected(bay, format!("bay {bay}: sector {lba} {what}; corrected from redundancy"));
    }

    fn refilled(&self, set: u32, member: u16, lba: u64, sectors: u64) {
        let bay = self.shape.sets[set as usize].bays[usize::from(member)];
        let text = format!(
            "bay {bay}: {sectors} sectors from {lba} on had lost what was written to them; corrected from redundancy"
        );
        self.say_corrected(bay, text);
    }

    fn unreadable(&self, set: u32, member: u16, lba: u64) {
        let bay = self.shape.sets[set as usize].bays[usize::from(member)];
        if self.named().is_new(bay, lba) {
            let text = format!(
                "bay {bay}: sector {lba} is unreadable: the other members do not have it, or not as its checksum says"
            );
            self.say(Severity::Critical, text);
        }
    }

    fn refusing(&self, why: &str) {
        let what = match self.common.is_frozen.load(Ordering::Relaxed) {
            true => "in the middle of a write; the array is write-protected until it is started again",
            false => "writes are refused until that is fixed",
        };
        self.say(Severity::Critical, format!("{why}: {what}"));
    }

    fn label_again(&self) -> bool {
        let mut bays = self.lock_bays();
        !self.common.is_unlabelled.load(Ordering::Acquire) || self.relabel(&mut bays).is_ok()
    }

    fn label_marks(&self) -> bool {
        self.relabel(&mut self.lock_bays()).is_ok()
    }

    fn give_up_broken(&self) {
        let mut bays = self.lock_bays();
        let broken = broken(&bays);
        self.lose(&mut bays, broken);
    }

    fn taking(&self) {
        self.say(Severity::Information, "writes are taken again");
    }
}

/// The bays of drives in use that may not keep what was written to them, with the reason of each.
fn broken(bays: &Bays) -> Vec<(u32, String)> {
    let fault = |bay: &Bay| bay.disk.as_ref().filter(|_| bay.status == Status::InUse)?.fault();
    (0..).zip(&bays.bays).filter_map(|(at, bay)| Some((at, fault(bay)?.to_owned()))).collect()
}

/// Whether every slot of a group of a set has a whole disk.
fn is_group_whole(set: &SetStore, group: u32) -> bool {
    let (state, geometry) = (set.state(), set.geometry());
    let mut slots =
        (0..narrow::<u16>(geometry.spec().members)).filter(|slot| geometry.group_of(*slot) == group);
    slots.all(|slot| state.health.state(slot) == MemberState::Optimal)
}

/// Sectors as bytes, for people.
fn size(sectors: u64) -> units::Bytes {
    Sectors(sectors).bytes()
}
