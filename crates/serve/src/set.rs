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

mod clear;
mod hole;
mod work;
mod write;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use array::raid::{Executor, Geometry, Health, MemberState, Members, Merger, Plan, PlanError, Sweep, Task};
use units::convert::narrow;
use units::{Lba, Sectors};

use crate::disk::{Disk, DiskError, Lent};
use crate::nvram::{Change, Nvram, REGIONS, Record};
use crate::rows::RowLocks;
use crate::tag::SECTOR;

pub use work::{Findings, is_rebuilding};
pub use write::is_full;

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

/// Who is told of what happens to members.
pub trait Reports: Sync {
    /// A write to the member failed. It must be out of use when this returns.
    fn member_failed(&self, set: u32, member: u16, why: &io::Error);

    /// A sector was computed from the other members and written again; why it had to be.
    fn corrected(&self, set: u32, member: u16, lba: u64, why: &DiskError);

    /// Sectors that a disk had lost together with their checksums were computed and written again.
    fn refilled(&self, set: u32, member: u16, lba: u64, sectors: u64);

    /// A sector is unreadable and cannot be computed.
    fn unreadable(&self, set: u32, member: u16, lba: u64);

    /// Has the labels say what is in use; whether they do.
    fn label_again(&self) -> bool;

    /// Some disks may not keep what was written to them. They must be out of use when this returns.
    fn give_up_broken(&self);

    /// What is written is refused from now on, and why; said once.
    fn refusing(&self, why: &str);

    /// What is written is taken again.
    fn taking(&self);
}

/// What all sets of an array have in common.
#[derive(Default)]
pub struct Common {
    /// The journal, and what a member missed.
    pub nvram: Option<Nvram>,
    /// Whether writes go through the journal: not where members are lost with the server.
    pub is_journaled: bool,
    /// Every disk that is in use.
    pub live: RwLock<Vec<Arc<Disk>>>,
    /// Nothing is written any more: what lies in the journal could not be brought to its members.
    pub is_frozen: AtomicBool,
    /// What is in use is not on the labels.
    pub is_unlabelled: AtomicBool,
    /// Why the last write was refused by what members and journal lie on.
    pub refusal: Refusal,
}

/// Whether what is written is refused, and why.
#[derive(Default)]
pub struct Refusal {
    is_now: AtomicBool,
    why: Mutex<String>,
}

impl Refusal {
    /// Why what is written is refused; `None` where it is taken.
    pub fn why(&self) -> Option<String> {
        let is_now = self.is_now.load(Ordering::Acquire);
        is_now.then(|| self.why.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Notes a refused write; tells `reports` if it is the first one.
    #[cold]
    pub fn refused(&self, why: String, reports: &dyn Reports) {
        if !self.is_now.swap(true, Ordering::AcqRel) {
            reports.refusing(&why);
        }
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Notes a write that succeeded; tells `reports` if the one before it was refused.
    #[inline]
    pub fn taken(&self, reports: &dyn Reports) {
        // Looked at first: most writes find what the last one did, and write to nothing that others read.
        if self.is_now.load(Ordering::Relaxed) && self.is_now.swap(false, Ordering::AcqRel) {
            reports.taking();
        }
    }
}

impl Common {
    /// Everything written to members is on stable storage.
    pub fn sync(&self) -> io::Result<()> {
        for disk in self.live.read().unwrap_or_else(PoisonError::into_inner).iter() {
            disk.flush().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Why nothing is written to members now, where that is so.
    pub fn can_write(&self) -> Result<(), Fault> {
        if self.is_frozen.load(Ordering::Relaxed) {
            Err(Fault::NoSpace)
        } else if self.is_unlabelled.load(Ordering::Acquire) {
            Err(Fault::Journal)
        } else {
            Ok(())
        }
    }

    /// Whether some disk in use may not keep what was written to it.
    fn has_broken(&self) -> bool {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.iter().any(|disk| disk.fault().is_some())
    }

    /// Empties the journal.
    pub fn checkpoint(&self, is_clean: bool) -> io::Result<()> {
        // A frozen array keeps its journal for the next start.
        match &self.nvram {
            Some(nvram) if !self.is_frozen.load(Ordering::Relaxed) => nvram.restart(is_clean, || self.sync()),
            _ => Ok(()),
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

/// A set at work.
pub struct SetStore {
    number: u32,
    geometry: Geometry,
    rows: RowLocks,
    state: RwLock<SetState>,
    common: Arc<Common>,
    /// Sectors of each member in a region of the write-intent map.
    region: u64,
    /// Which copy is read next.
    turn: AtomicU64,
    /// How often what hosts read was changed.
    changes: AtomicU64,
    /// Whether some member has refused a write, and may miss it.
    has_refused: AtomicBool,
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

/// A member that gave no answer.
struct MemberFault {
    member: u16,
    lba: u64,
    why: DiskError,
}

/// Disks as the executor sees them.
struct Access<'a> {
    disks: &'a [Option<Arc<Disk>>],
    /// Where writes go instead of to the disks.
    record: Option<&'a mut Record>,
    /// Whether zeros are left out, or taken away: background work keeps a disk as sparse as those it reads.
    is_thin: bool,
    /// Writes that a disk refused.
    failed: Vec<(u16, io::Error)>,
}

impl Members for Access<'_> {
    type Error = MemberFault;

    #[inline]
    fn read(&mut self, member: u16, lba: Lba, into: &mut [u8]) -> Result<(), MemberFault> {
        let answer = disk(self.disks, member).and_then(|disk| disk.read(lba.0, into));
        answer.map_err(|why| MemberFault {
            member,
            lba: if let DiskError::Mismatch { lba } = why { lba } else { lba.0 },
            why,
        })
    }

    #[inline]
    fn write(&mut self, member: u16, lba: Lba, from: &[u8]) -> Result<(), MemberFault> {
        match &mut self.record {
            Some(record) => record.write(member, lba.0, from),
            None if self.is_thin => self.write_thin(member, lba.0, from),
            None => self.do_now(member, lba.0, Change::Write(from)),
        }
        Ok(())
    }
}

impl<'a> Access<'a> {
    fn new(state: &'a SetState, record: Option<&'a mut Record>) -> Access<'a> {
        Access { disks: &state.disks, record, is_thin: false, failed: Vec::new() }
    }

    fn thin(state: &'a SetState) -> Access<'a> {
        Access { is_thin: true, ..Access::new(state, None) }
    }

    fn write_thin(&mut self, member: u16, mut lba: u64, from: &[u8]) {
        // As many sectors as a file system gives room to at once, and more.
        debug_assert!(from.len().is_multiple_of(SECTOR), "members are written in whole sectors");
        for part in from.chunks(128 * SECTOR) {
            let sectors = (part.len() / SECTOR) as u64;
            let is_zero = part.iter().all(|&byte| byte == 0);
            let is_hole = is_zero && disk(self.disks, member).is_ok_and(|disk| disk.is_hole(lba, sectors));
            match (is_zero, is_hole) {
                (_, true) => {}
                (true, false) => self.do_now(member, lba, Change::Discard(sectors)),
                (false, _) => self.do_now(member, lba, Change::Write(part)),
            }
            lba += sectors;
        }
    }

    #[inline]
    fn do_now(&mut self, member: u16, lba: u64, change: Change<'_>) {
        let done = disk(self.disks, member).and_then(|disk| match change {
            Change::Write(from) => disk.write(lba, from),
            Change::Discard(sectors) => disk.discard(lba, sectors),
        });
        if let Err(why) = done {
            let why = match why {
                DiskError::Medium(why) => why,
                other => io::Error::other(other),
            };
            self.failed.push((member, why));
        }
    }
}

#[inline]
fn disk(disks: &[Option<Arc<Disk>>], member: u16) -> Result<&Disk, DiskError> {
    disks.get(usize::from(member)).and_then(|disk| disk.as_deref()).ok_or(DiskError::Gone)
}

impl SetStore {
    /// The set number `number` of an array, with the disks that it has.
    pub fn new(number: u32, geometry: Geometry, state: SetState, common: Arc<Common>) -> SetStore {
        let height = geometry.member_span(Lba(0), geometry.full_row()).1.0;
        let is_striped = geometry.full_row() < geometry.capacity() || height <= 2048;
        let rows = RowLocks::new(if is_striped { height } else { 2048 });
        let region = geometry.member_used().0.div_ceil(REGIONS).next_multiple_of(2048);
        assert!(state.disks.len() >= narrow::<usize>(geometry.spec().members), "each member has a place");
        assert!(region > 0 && geometry.member_used().0 <= region * REGIONS, "the map covers every member");
        SetStore {
            number,
            geometry,
            rows,
            state: RwLock::new(state),
            common,
            region,
            turn: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            has_refused: AtomicBool::new(false),
            torn: RwLock::default(),
        }
    }

    /// How often what hosts read was changed: the same at two times where nothing was written in between. A member that goes while
    /// the state is held for changing has all of it. `None` where a member has refused a write, and may miss it.
    pub fn changes(&self) -> Option<u64> {
        (!self.has_refused.load(Ordering::Relaxed)).then(|| self.changes.load(Ordering::Relaxed))
    }

    /// Counts a change that is about to be made. The state is held for looking meanwhile.
    fn count_change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Remembers that members have refused a write, before the state that it was made with is let go.
    fn note_refusals(&self, failed: &[(u16, io::Error)]) {
        if !failed.is_empty() {
            self.has_refused.store(true, Ordering::Relaxed);
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

    /// Fills `into` from host sector `lba` on.
    pub fn read(
        &self,
        scratch: &mut Scratch,
        lba: u64,
        into: &mut [u8],
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let (at, sectors) = self.checked(lba, into.len())?;
        let (from, to) = self.geometry.member_span(at, sectors);
        debug_assert!(from < to && to.0 <= self.geometry.member_used().0, "a read touches what the set uses");
        {
            let _rows = self.rows.shared(from.0, to.0);
            let state = self.state();
            let answer = match self.geometry.lone_read(&state.health, at, sectors) {
                Some((member, lba)) => Access::new(&state, None).read(member, lba, into),
                None => self.planned_read(scratch, &state, &state.health, at, into)?,
            };
            if answer.is_ok() {
                return Ok(());
            }
        }
        self.read_slowly(scratch, at, into, reports)
    }

    /// What [`SetStore::read`] gives, lent by disks that are memory, in order; `None` where it must be copied: a member is
    /// away or in doubt, is no memory, or has it in many small parts.
    pub fn lend(&self, scratch: &mut Scratch, lba: u64, bytes: usize) -> Option<Vec<Lent>> {
        /// Sectors of the smallest part for which lending costs less than copying.
        const LEAST: u64 = 32;
        let (at, sectors) = self.checked(lba, bytes).ok()?;
        let (from, to) = self.geometry.member_span(at, sectors);
        let _rows = self.rows.shared(from.0, to.0);
        let state = self.state();
        let plan = &mut scratch.plan;
        self.geometry.plan_read(&state.health, at, sectors, array::raid::first, plan).ok()?;
        let is_plain = plan.stripes().is_empty() && plan.reads().len() as u64 * LEAST <= sectors.0;
        if !is_plain || !plan.reads().iter().is_sorted_by_key(|step| step.host) {
            return None;
        }
        let (mut lent, mut done) = (Vec::new(), Sectors(0));
        for step in plan.reads() {
            if step.host != Some(done) {
                return None;
            }
            let bytes = narrow::<usize>(step.sectors.bytes().get());
            let disk = disk(&state.disks, step.member).ok()?;
            disk.lend(step.lba.0, bytes, &mut lent).ok().filter(|is_lent| *is_lent)?;
            done = Sectors(done.0 + step.sectors.0);
        }
        debug_assert_eq!(lent.iter().map(|part| part.len()).sum::<usize>(), bytes, "all of it is lent");
        (done == sectors).then_some(lent)
    }

    fn planned_read(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        health: &Health,
        lba: Lba,
        into: &mut [u8],
    ) -> Result<Result<(), MemberFault>, Fault> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let in_turn = |copies: &[_]| narrow::<usize>(turn % copies.len() as u64);
        let sectors = Sectors((into.len() / SECTOR) as u64);
        self.geometry.plan_read(health, lba, sectors, in_turn, &mut scratch.plan).map_err(fault)?;
        let (from, to) = self.geometry.member_span(lba, sectors);
        if !scratch.plan.stripes().is_empty() && self.is_torn(from.0, to.0) {
            // Some members have it and some do not: what is computed from them was never written.
            return Err(Fault::NoSpace);
        }
        Ok(scratch.executor.read(&self.geometry, &scratch.plan, into, &mut Access::new(state, None)))
    }

    /// Sector by sector, each that is unreadable being computed and written again.
    #[cold]
    fn read_slowly(
        &self,
        scratch: &mut Scratch,
        lba: Lba,
        into: &mut [u8],
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let (from, to) = self.geometry.member_span(lba, Sectors((into.len() / SECTOR) as u64));
        let mut failed = Vec::new();
        {
            let _rows = self.rows.exclusive(from.0, to.0);
            let state = self.state();
            'sectors: for (n, sector) in into.chunks_mut(SECTOR).enumerate() {
                let lba = Lba(lba.0 + n as u64);
                let mut mended = Vec::new();
                while let Err(bad) = self.planned_read(scratch, &state, &state.health, lba, sector)? {
                    let is_mended = self.mend(scratch, &state, &bad, &mut mended, &mut failed, reports);
                    if !failed.is_empty() {
                        break 'sectors;
                    }
                    if !is_mended {
                        reports.unreadable(self.number, bad.member, bad.lba);
                        return Err(Fault::Lost);
                    }
                }
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        // A member that cannot be written to any more: without it the rest is as readable as before.
        self.give_up(failed, reports)?;
        self.read(scratch, lba.0, into, reports)
    }

    /// Has a sector of a member that could not be read be what the others have for it; whether that was possible. One that is in
    /// `mended` and cannot be read all the same is no longer the sector's failure, but the member's, and counts as a refusal.
    ///
    /// The rows must be held exclusively.
    #[cold]
    fn mend(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        bad: &MemberFault,
        mended: &mut Vec<(u16, u64)>,
        failed: &mut Vec<(u16, io::Error)>,
        reports: &dyn Reports,
    ) -> bool {
        let &MemberFault { member, lba, ref why } = bad;
        if self.is_torn(lba, lba + 1) {
            return false;
        }
        if mended.contains(&(member, lba)) {
            let text = format!("sector {lba} cannot be read right after it was written: {why}");
            failed.push((member, io::Error::other(text)));
            return false;
        }
        mended.push((member, lba));
        let is_mended = match self.promise(state, member, lba) {
            Some(promise) => self.keep_promise(scratch, state, (member, lba), &promise, failed),
            None => self.restore(scratch, state, member, lba, failed),
        };
        if is_mended {
            reports.corrected(self.number, member, lba, why);
        }
        is_mended
    }

    /// Computes one sector of a member from the others, and writes it; whether that was possible.
    ///
    /// The rows must be held exclusively.
    fn restore(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        member: u16,
        lba: u64,
        failed: &mut Vec<(u16, io::Error)>,
    ) -> bool {
        debug_assert!(lba < self.geometry.member_used().0, "a sector of the member that the set uses");
        let Some((mut health, slot)) = without(&self.geometry, &state.health, member) else { return false };
        loop {
            let sweep = Sweep::new(&self.geometry, &health, Task::Rebuild { slot }, Sectors(1));
            let Ok(mut sweep) = sweep.map(|sweep| sweep.between(Lba(lba), Lba(lba + 1))) else {
                return false;
            };
            let mut access = Access::new(state, None);
            let done = loop {
                match sweep.next(&self.geometry, &health, array::raid::first, &mut scratch.plan) {
                    Err(_) => return false,
                    Ok(None) => break Ok(()),
                    Ok(Some(unit)) => {
                        let worked = scratch.executor.work(&self.geometry, &scratch.plan, &mut access);
                        sweep.settle(unit);
                        if let Err(other) = worked {
                            break Err(other);
                        }
                    }
                }
            };
            failed.append(&mut access.failed);
            match done {
                Ok(()) => return true,
                // Another one is unreadable there as well: do without both.
                Err(other) if other.member != member && health.fail(u32::from(other.member)).is_ok() => {}
                Err(_) => return false,
            }
        }
    }

    /// Which of the host sectors from `lba` on were never written: runs of sectors, with whether they are holes. At most
    /// `most` runs, and it may end before `sectors`.
    pub fn extents(&self, lba: u64, sectors: u64, most: usize) -> Result<Vec<(u64, bool)>, Fault> {
        self.whole_stripes(lba, sectors)?;
        let state = self.state();
        let mut runs: Vec<(u64, bool)> = Vec::new();
        assert!(most > 0, "an answer has at least one run");
        let (mut at, end) = (lba, lba + sectors);
        let chunk = self.geometry.spec().chunk.0;
        let step = if self.geometry.full_row() < self.geometry.capacity() { chunk.min(4096) } else { 4096 };
        for _ in 0..1 << 16 {
            if at >= end {
                break;
            }
            let until = at.checked_div(step).map_or(end, |steps| ((steps + 1) * step).min(end));
            let is_hole = self.is_hole(&state, at, until - at);
            let is_full = runs.len() == most;
            match runs.last_mut() {
                Some((run, same)) if *same == is_hole => *run += until - at,
                _ if is_full => break,
                _ => runs.push((until - at, is_hole)),
            }
            at = until;
        }
        debug_assert_eq!(
            runs.iter().map(|run| run.0).sum::<u64>(),
            at - lba,
            "runs follow each other without a gap"
        );
        Ok(runs)
    }

    fn is_hole(&self, state: &SetState, lba: u64, sectors: u64) -> bool {
        let places = [lba, lba + sectors - 1].map(|lba| self.geometry.place(Lba(lba)));
        let [Ok(first), Ok(last)] = places else { return false };
        let is_one_run = first.slot == last.slot && last.lba.0.checked_sub(first.lba.0) == Some(sectors - 1);
        let is_whole = state.health.state(first.slot) == MemberState::Optimal;
        is_one_run
            && is_whole
            && disk(&state.disks, state.health.member(first.slot))
                .is_ok_and(|disk| disk.is_hole(first.lba.0, sectors))
    }

    /// Does again what a record says, on those members that count.
    pub fn replay(&self, record: &Record) -> io::Result<()> {
        let state = self.state();
        self.count_change();
        if let Some(nvram) = &self.common.nvram {
            // It may have been stopped before that was done: a disk that was away then misses it.
            self.intend(nvram, record)?;
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

    /// Remembers which regions a record is of.
    fn intend(&self, nvram: &Nvram, record: &Record) -> io::Result<()> {
        for (_, lba, change) in record.changes() {
            debug_assert!(
                lba < self.geometry.member_used().0,
                "no member is written beyond what the set uses"
            );
            let sectors = match change {
                Change::Write(from) => (from.len() / SECTOR) as u64,
                Change::Discard(sectors) => sectors,
            };
            nvram.intend(self.number, lba / self.region..=(lba + sectors - 1) / self.region)?;
        }
        Ok(())
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
