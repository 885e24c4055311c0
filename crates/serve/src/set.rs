//! A RAID set that holds data: the planner's plans carried out on disks.
//!
//! A request takes the locks of its rows, then looks at the set's state, plans, and does what the plan says. Where there
//! is a journal all member writes of a plan are one record in it first.
//!
//! What is read of a member is right or an error ([`crate::disk`]). A sector that is an error is treated as one that the
//! member has lost: it is computed from the others and written again, and where that is more than the level survives the
//! request fails. So a request may fail, and never gives wrong data.
//!
//! **Invariant:** locks are taken in the order rows, bays (of the array), state of the set.

mod access;
mod clear;
mod common;
mod hole;
mod read;
mod work;
mod write;
mod written;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use array::raid::{Executor, Geometry, Health, MemberState, Merger, Plan, PlanError};
use units::convert::narrow;
use units::{Lba, Sectors};

use crate::disk::Disk;
use crate::nvram::{REGIONS, Record};
use crate::rows::RowLocks;
use crate::tag::SECTOR;

pub use common::{Common, Refusal, Reports};
pub use work::{Findings, Repair, is_rebuilding};
pub use write::is_full;

use access::{Access, MemberFault, disk};
use written::{Written, region_of};

/// Why the host gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More is lost than the level survives.
    #[error("the data are lost: more members are gone or unreadable there than the RAID level survives")]
    Lost,
    /// The write cache had them, and has lost them.
    #[error("the data are lost: they were in the write cache when its power failed without a battery")]
    CacheLost,
    /// Hosts do not reach a controller that serves it.
    #[error("no path to a working controller is left")]
    NoPath,
    /// Beyond the end.
    #[error("beyond the end of the LUN")]
    OutOfRange,
    /// There is no room for what was written.
    #[error("no space left on the device that holds the member files")]
    NoSpace,
    /// The journal cannot be written.
    #[error("the controller's memory cannot be written to")]
    Journal,
    /// The export is read-only.
    #[error("the LUN is write-protected")]
    ReadOnly,
}

impl Fault {
    /// The errno by which this kernel knows it.
    pub fn errno(self) -> i32 {
        match self {
            Fault::Lost | Fault::CacheLost | Fault::NoPath | Fault::Journal => libc::EIO,
            Fault::OutOfRange => libc::EINVAL,
            Fault::NoSpace => libc::ENOSPC,
            Fault::ReadOnly => libc::EROFS,
        }
    }
}

/// Which disks there are, and which of them can be used.
pub struct SetState {
    /// Of the planner.
    pub health: Health,
    /// By the geometry's numbers, spares behind the members.
    pub disks: Vec<Option<Arc<Disk>>>,
}

/// How many groups and slots the sets before one have.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    /// Groups.
    pub group: u32,
    /// Slots.
    pub slot: u32,
}

/// A set at work.
pub struct SetStore {
    number: u32,
    /// Where its groups and slots begin among those of all sets.
    first: First,
    geometry: Geometry,
    rows: RowLocks,
    state: RwLock<SetState>,
    common: Arc<Common>,
    /// Sectors of each member in a region of the write-intent map.
    region: u64,
    /// Which copy is read next.
    turn: AtomicU64,
    /// By how much a copy of a sector may lie behind it on the next member.
    shift: u64,
    /// Of each group.
    written: Vec<Written>,
    /// Of each slot, up to where its label says that it is filled; 0 where it says nothing of that.
    labelled: Vec<AtomicU64>,
    /// Rows of writes that were cut short for want of room: until the journal does them again nothing can be computed there.
    torn: RwLock<Vec<(u64, u64)>>,
}

/// What one thread needs to carry requests out. Its buffers grow to the largest request and are reused.
#[derive(Default)]
pub struct Scratch {
    executor: Executor,
    plan: Plan,
    record: Record,
    merger: Merger,
    zeros: Vec<u8>,
}

impl SetStore {
    /// The set number `number` of an array, with the disks that it has; `first` says what the sets before it have.
    pub fn new(
        (number, first): (u32, First),
        geometry: Geometry,
        state: SetState,
        common: Arc<Common>,
    ) -> SetStore {
        let height = geometry.member_span(Lba(0), geometry.full_row()).1.0;
        let is_striped = geometry.full_row() < geometry.capacity() || height <= 2048;
        let rows = RowLocks::new(if is_striped { height } else { 2048 });
        let (region, shift) = region_of(&geometry);
        assert!(state.disks.len() >= narrow::<usize>(geometry.spec().members), "each member has a place");
        assert!(region > 0 && geometry.member_used().0 <= region * REGIONS, "the map covers every member");
        SetStore {
            number,
            first,
            written: (0..geometry.groups()).map(|_| Written::default()).collect(),
            labelled: (0..geometry.spec().members).map(|_| AtomicU64::new(0)).collect(),
            geometry,
            rows,
            state: RwLock::new(state),
            common,
            region,
            shift,
            turn: AtomicU64::new(0),
            torn: RwLock::default(),
        }
    }

    /// A write of rows was cut short.
    fn tear(&self, from: u64, to: u64) {
        assert!(from < to, "a write has rows");
        self.torn.write().unwrap_or_else(PoisonError::into_inner).push((from, to));
    }

    /// Whether some of the rows lie in a write that was cut short.
    #[inline]
    fn is_torn(&self, from: u64, to: u64) -> bool {
        let has_rows = || {
            self.torn
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .any(|torn| torn.0 < to && from < torn.1)
        };
        self.common.is_frozen.load(Ordering::Acquire) && has_rows()
    }

    /// The labels say from now on that a slot is filled up to `to`; 0 where they say nothing of that.
    pub fn is_labelled(&self, slot: u16, to: u64) {
        self.labelled[usize::from(slot)].store(to, Ordering::Release);
    }

    /// Whether a set that has failed has some of the rows below `end` only because a slot is filled further than its label says: to a next
    /// start what is written there would lie on no other member.
    fn is_ahead_of_labels(&self, end: u64) -> bool {
        let state = self.state();
        let is_ahead = |(slot, labelled): (u16, &AtomicU64)| {
            let below = |done_to: Lba| done_to.0.min(end);
            matches!(state.health.state(slot), MemberState::Rebuilding { done_to, .. } if labelled.load(Ordering::Acquire) < below(done_to))
        };
        !state.health.is_optimal()
            && (0..).zip(&self.labelled).any(is_ahead)
            && self.geometry.failure(&state.health).is_some()
    }

    /// What lies where.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Its state, for looking.
    pub fn state(&self) -> RwLockReadGuard<'_, SetState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its state, for changing. No request is under way meanwhile.
    pub fn state_mut(&self) -> RwLockWriteGuard<'_, SetState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does again what a record says, on those members that count.
    pub fn replay(&self, record: &Record) -> io::Result<()> {
        let state = self.state();
        for (member, lba, change) in record.changes() {
            self.count(&state.health, member, lba + change.sectors());
        }
        if let Some(nvram) = &self.common.nvram {
            // It may have been stopped before that was done: a disk that was away then misses it.
            self.intend(nvram, &state.health, record)?;
        }
        let mut access = Access::new(&state, None);
        for (member, lba, change) in record.changes() {
            debug_assert!(lba < self.geometry.member_used().0, "a record is of sectors that the set uses");
            if is_read(&state.health, member) && disk(&state.disks, member).is_ok() {
                access.do_now(member, lba, change);
            }
        }
        match access.failed.pop() {
            None => Ok(()),
            Some((_, why)) => Err(why),
        }
    }

    /// Sectors of each member in one region of the write-intent map.
    pub fn region(&self) -> u64 {
        self.region
    }

    fn checked(&self, lba: u64, bytes: usize) -> Result<(Lba, Sectors), Fault> {
        let sectors = (bytes / SECTOR) as u64;
        let is_inside = lba.checked_add(sectors).is_some_and(|end| end <= self.geometry.capacity().0);
        let is_whole = bytes.is_multiple_of(SECTOR) && bytes > 0;
        if is_inside && is_whole { Ok((Lba(lba), Sectors(sectors))) } else { Err(Fault::OutOfRange) }
    }
}

fn fault(why: PlanError) -> Fault {
    match why {
        PlanError::OutOfRange { .. } => Fault::OutOfRange,
        _ => Fault::Lost,
    }
}

/// The slot that a member has, or becomes the copy of.
pub fn slot_of(geometry: &Geometry, health: &Health, member: u16) -> Option<u16> {
    let slots = 0..narrow::<u16>(geometry.spec().members);
    let has = |slot: &u16| {
        (health.member(*slot) == member && health.state(*slot) != MemberState::Failed)
            || health.twin(*slot) == Some(member)
    };
    slots.into_iter().find(has)
}

/// Whether a member is in use.
fn is_read(health: &Health, member: u16) -> bool {
    let mut probe = health.clone();
    !health.spares().any(|spare| spare == member) && probe.fail(u32::from(member)).is_ok()
}

/// Health as if the disk in a slot had been replaced by an empty one, and that slot.
fn without(geometry: &Geometry, health: &Health, member: u16) -> Option<(Health, u16)> {
    let slot = slot_of(geometry, health, member)?;
    debug_assert!(slot < narrow::<u16>(geometry.spec().members), "a slot of the set");
    let mut health = health.clone();
    if let Some(twin) = health.twin(slot) {
        health.fail(u32::from(twin)).ok()?;
        if twin == member {
            return None;
        }
    }
    health.fail(u32::from(member)).ok()?;
    health.clear(u32::from(member)).ok()?;
    health.rebuild_on(slot, u32::from(member)).ok()?;
    Some((health, slot))
}
