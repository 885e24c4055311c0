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

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use array::raid::{
    Executor, Geometry, Health, MemberState, Members, Merger, Method, Plan, PlanError, Sweep, Task,
};
use units::convert::narrow;
use units::{Lba, Sectors};

use crate::disk::{Disk, DiskError};
use crate::nvram::{Change, Nvram, REGIONS, Record};
use crate::rows::RowLocks;
use crate::tag::SECTOR;

/// Why the host gets no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// More is lost than the level survives.
    #[error("the data are lost: more members are gone or unreadable there than the RAID level survives")]
    Lost,
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

/// Who is told of what happens to members.
pub trait Reports: Sync {
    /// A write to the member failed. It must be out of use when this returns.
    fn member_failed(&self, set: u32, member: u16, why: &io::Error);

    /// A sector was computed from the other members and written again.
    fn corrected(&self, set: u32, member: u16, lba: u64);

    /// A sector is unreadable and cannot be computed.
    fn unreadable(&self, set: u32, member: u16, lba: u64);
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
}

impl Common {
    /// Everything written to members is on stable storage.
    pub fn sync(&self) -> io::Result<()> {
        for disk in self.live.read().unwrap_or_else(PoisonError::into_inner).iter() {
            disk.flush().map_err(io::Error::other)?;
        }
        Ok(())
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

/// Whether what holds the member files is full, which is no fault of the member.
fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG))
}

/// Most bytes of the host's that are one record of the journal, unless a row is larger.
const SEGMENT: u64 = 1 << 20;
/// A larger row is written in parts.
const LARGEST_ROW: u64 = 16 << 20;

impl SetStore {
    /// The set number `number` of an array, with the disks that it has.
    pub fn new(number: u32, geometry: Geometry, state: SetState, common: Arc<Common>) -> SetStore {
        let height = geometry.member_span(Lba(0), geometry.full_row()).1.0;
        let is_striped = geometry.full_row() < geometry.capacity() || height <= 2048;
        let rows = RowLocks::new(if is_striped { height } else { 2048 });
        let region = geometry.member_used().0.div_ceil(REGIONS).next_multiple_of(2048);
        SetStore {
            number,
            geometry,
            rows,
            state: RwLock::new(state),
            common,
            region,
            turn: AtomicU64::new(0),
        }
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
            for (n, sector) in into.chunks_mut(SECTOR).enumerate() {
                let lba = Lba(lba.0 + n as u64);
                while let Err(bad) = self.planned_read(scratch, &state, &state.health, lba, sector)? {
                    if !self.restore(scratch, &state, bad.member, bad.lba, &mut failed) {
                        reports.unreadable(self.number, bad.member, bad.lba);
                        return Err(Fault::Lost);
                    }
                    reports.corrected(self.number, bad.member, bad.lba);
                    if !failed.is_empty() {
                        break;
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

    /// Writes `from` at host sector `lba`.
    pub fn write(
        &self,
        scratch: &mut Scratch,
        lba: u64,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        self.checked(lba, from.len())?;
        let row = self.geometry.full_row().bytes().get();
        let most = narrow::<usize>(if row <= SEGMENT {
            SEGMENT / row * row
        } else if row <= LARGEST_ROW {
            row
        } else {
            SEGMENT
        });
        let (mut lba, mut rest) = (lba, from);
        while !rest.is_empty() {
            // To the end of a row where there are several, so that whole ones stay whole.
            let into_row = narrow::<usize>(lba % (most / SECTOR) as u64) * SECTOR;
            let (part, others) = rest.split_at(rest.len().min(most - into_row));
            self.write_segment(scratch, lba, part, reports)?;
            (lba, rest) = (lba + (part.len() / SECTOR) as u64, others);
        }
        Ok(())
    }

    fn write_segment(
        &self,
        scratch: &mut Scratch,
        lba: u64,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let at = Lba(lba);
        let sectors = Sectors((from.len() / SECTOR) as u64);
        let (first, end) = self.geometry.member_span(at, sectors);
        let _rows = self.rows.exclusive(first.0, end.0);
        let failed = {
            let state = self.state();
            self.write_held(scratch, &state, at, from, reports)?
        };
        if failed.is_empty() {
            return Ok(());
        }
        self.give_up(failed, reports)?;
        // What was written counts only if it can be read without those that have failed just now.
        let state = self.state();
        self.geometry
            .plan_read(&state.health, at, sectors, array::raid::first, &mut scratch.plan)
            .map_err(fault)
    }

    /// Writes with the rows held; the members that refused.
    fn write_held(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        at: Lba,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<Vec<(u16, io::Error)>, Fault> {
        let sectors = Sectors((from.len() / SECTOR) as u64);
        // Looked at last: without a copy in the usual case.
        let mut doubtful: Option<Health> = None;
        loop {
            let health = doubtful.as_ref().unwrap_or(&state.health);
            if let Err(why) = self.geometry.plan_write(health, at, sectors, &mut scratch.plan) {
                return match doubtful {
                    None => Err(fault(why)),
                    Some(_) => self.write_by_sectors(scratch, state, at, from, reports),
                };
            }
            let Scratch { executor, plan, record, .. } = scratch;
            record.clear();
            let mut access = Access::new(state, self.common.is_journaled.then_some(record));
            let Err(bad) = executor.write(&self.geometry, plan, from, &mut access) else {
                let failed = access.failed;
                if !self.common.is_journaled {
                    self.note_missed(state, &scratch.plan);
                    return Ok(failed);
                }
                return self.bring_home(scratch, state, failed);
            };
            // As if the member had nothing there that counts, and yet took what is written.
            let known = doubtful.as_ref().unwrap_or(&state.health);
            let has_twin =
                slot_of(&self.geometry, known, bad.member).is_some_and(|slot| known.twin(slot).is_some());
            if has_twin {
                // What is written must go to the copy in the making, too: right first, and then as planned.
                let mut failed = Vec::new();
                if !self.restore(scratch, state, bad.member, bad.lba, &mut failed) || !failed.is_empty() {
                    return Err(Fault::Lost);
                }
                continue;
            }
            let Some((mut health, slot)) = without(&self.geometry, known, bad.member) else {
                return Err(Fault::Lost);
            };
            health.progress(slot, Lba(0), Lba(u64::MAX));
            doubtful = Some(health);
        }
    }

    /// Where too much of a row is unreadable for all of it: it need not be at the same sectors.
    #[cold]
    fn write_by_sectors(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        at: Lba,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<Vec<(u16, io::Error)>, Fault> {
        if from.len() == SECTOR {
            return Err(Fault::Lost);
        }
        let mut failed = Vec::new();
        for (n, sector) in from.chunks(SECTOR).enumerate() {
            failed.extend(self.write_held(scratch, state, Lba(at.0 + n as u64), sector, reports)?);
        }
        Ok(failed)
    }

    /// Has the members do what is in the record, once that is in the journal.
    fn bring_home(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        failed: Vec<(u16, io::Error)>,
    ) -> Result<Vec<(u16, io::Error)>, Fault> {
        let (Some(nvram), record) = (&self.common.nvram, &scratch.record) else { return Ok(failed) };
        if record.is_empty() {
            return Ok(failed);
        }
        if self.common.is_frozen.load(Ordering::Relaxed) {
            return Err(Fault::NoSpace);
        }
        let refused = |error: &io::Error| if is_full(error) { Fault::NoSpace } else { Fault::Journal };
        let appended =
            nvram.append(self.number, record, || self.common.sync()).map_err(|error| refused(&error))?;
        for (_, lba, change) in record.changes() {
            let sectors = match change {
                Change::Write(from) => (from.len() / SECTOR) as u64,
                Change::Discard(sectors) => sectors,
            };
            let regions = lba / self.region..=(lba + sectors - 1) / self.region;
            nvram.intend(self.number, regions).map_err(|error| refused(&error))?;
        }
        let mut access = Access { disks: &state.disks, record: None, is_thin: false, failed };
        record.changes().for_each(|(member, lba, change)| access.do_now(member, lba, change));
        if access.failed.iter().any(|(_, why)| is_full(why)) {
            // The record stays in the journal, and nothing may overwrite it.
            self.common.is_frozen.store(true, Ordering::Relaxed);
            return Err(Fault::NoSpace);
        }
        let failed = access.failed;
        appended.done();
        Ok(failed)
    }

    /// Remembers what members that are away miss, where no journal does. Memory does not refuse it.
    fn note_missed(&self, state: &SetState, plan: &Plan) {
        let Some(nvram) = self.common.nvram.as_ref().filter(|_| !state.health.is_optimal()) else { return };
        for step in plan.writes() {
            let last = (step.lba + step.sectors).0 - 1;
            let _noted = nvram.intend(self.number, step.lba.0 / self.region..=last / self.region);
        }
    }

    /// Takes members out of use that refused a write.
    fn give_up(&self, failed: Vec<(u16, io::Error)>, reports: &dyn Reports) -> Result<(), Fault> {
        if failed.iter().any(|(_, why)| is_full(why)) {
            return Err(Fault::NoSpace);
        }
        for (member, why) in failed {
            if is_read(&self.state().health, member) {
                reports.member_failed(self.number, member, &why);
            }
        }
        Ok(())
    }

    /// Has host sectors read as zeros: whole stripes as if never written, unless they are to keep their room.
    pub fn write_zeros(
        &self,
        scratch: &mut Scratch,
        lba: u64,
        sectors: u64,
        keeps_room: bool,
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let (from, to) = if keeps_room { (lba, lba) } else { self.whole_stripes(lba, sectors)? };
        let mut zeros = std::mem::take(&mut scratch.zeros);
        zeros.resize(narrow::<usize>(SEGMENT), 0);
        let mut fill = |mut at: u64, end: u64| {
            while at < end {
                let part = (end - at).min(SEGMENT / SECTOR as u64);
                self.write(scratch, at, &zeros[..narrow::<usize>(part) * SECTOR], reports)?;
                at += part;
            }
            Ok(())
        };
        let filled = if from < to {
            fill(lba, from).and_then(|()| fill(to, lba + sectors))
        } else {
            fill(lba, lba + sectors)
        };
        scratch.zeros = zeros;
        filled?;
        self.discard_stripes(scratch, from, to, reports)
    }

    /// Has what can be of host sectors be as if never written; the rest stays.
    pub fn trim(
        &self,
        scratch: &mut Scratch,
        lba: u64,
        sectors: u64,
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let (from, to) = self.whole_stripes(lba, sectors)?;
        self.discard_stripes(scratch, from, to, reports)
    }

    /// The part of a range that can be discarded on every member by itself.
    fn whole_stripes(&self, lba: u64, sectors: u64) -> Result<(u64, u64), Fault> {
        match lba.checked_add(sectors) {
            Some(end) if end <= self.geometry.capacity().0 => {}
            _ => return Err(Fault::OutOfRange),
        }
        let step = if self.geometry.spec().level.parity() > 0 { self.geometry.full_stripe().0 } else { 1 };
        Ok((lba.next_multiple_of(step), (lba + sectors) / step * step))
    }

    fn discard_stripes(
        &self,
        scratch: &mut Scratch,
        from: u64,
        to: u64,
        reports: &dyn Reports,
    ) -> Result<(), Fault> {
        let stripe = self.geometry.full_stripe().0;
        // At most a gibibyte at a time: requests wait for their rows meanwhile.
        let step = ((2 << 20) / stripe).max(1).saturating_mul(stripe).min(2 << 20);
        let step = if self.geometry.spec().level.parity() > 0 { step.max(stripe) } else { step };
        let mut at = from;
        while at < to {
            let sectors = Sectors(step.min(to - at));
            let (first, end) = self.geometry.member_span(Lba(at), sectors);
            let _rows = self.rows.exclusive(first.0, end.0);
            let failed = {
                let state = self.state();
                let Scratch { plan, record, merger, .. } = &mut *scratch;
                self.geometry.plan_write(&state.health, Lba(at), sectors, plan).map_err(fault)?;
                debug_assert!(
                    plan.stripes().iter().all(|stripe| {
                        matches!(stripe.method, Method::FullStripe | Method::WithoutParity)
                    }),
                    "only whole stripes are discarded",
                );
                record.clear();
                for command in merger.merge(plan.writes(), Sectors(u32::MAX.into())) {
                    record.discard(command.member, command.lba.0, command.sectors.0);
                }
                if self.common.is_journaled {
                    self.bring_home(scratch, &state, Vec::new())?
                } else {
                    self.note_missed(&state, &scratch.plan);
                    let mut access = Access::new(&state, None);
                    let changes = scratch.record.changes();
                    changes.for_each(|(member, lba, change)| access.do_now(member, lba, change));
                    access.failed
                }
            };
            self.give_up(failed, reports)?;
            at += sectors.0;
        }
        Ok(())
    }

    /// Which of the host sectors from `lba` on were never written: runs of sectors, with whether they are holes. At most
    /// `most` runs, and it may end before `sectors`.
    pub fn extents(&self, lba: u64, sectors: u64, most: usize) -> Result<Vec<(u64, bool)>, Fault> {
        self.whole_stripes(lba, sectors)?;
        let state = self.state();
        let mut runs: Vec<(u64, bool)> = Vec::new();
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
        let mut access = Access::new(&state, None);
        for (member, lba, change) in record.changes() {
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

impl SetStore {
    /// Does the next unit of a pass and tells the state how far it has got; `None` at its end.
    ///
    /// What is unreadable of the members that the unit reads is computed and written again; where that cannot be done,
    /// `found` counts it and a rebuild leaves an unreadable sector.
    pub fn work(
        &self,
        scratch: &mut Scratch,
        sweep: &mut Sweep,
        repairs: bool,
        found: &mut Findings,
        reports: &dyn Reports,
    ) -> Result<Option<Sectors>, PlanError> {
        let Some(unit) = sweep.ahead() else { return Ok(None) };
        let (from, to) = (unit.lba.0, (unit.lba + unit.sectors).0);
        let mut failed = Vec::new();
        let _rows = self.rows.exclusive(from, to);
        {
            let state = self.state();
            let is_equal = self.unit(scratch, &state, sweep, found, &mut failed, reports)?;
            if !is_equal {
                found.inconsistent += 1;
                if repairs && failed.is_empty() {
                    self.build_again(scratch, &state, from, to, &mut failed)?;
                }
            }
        }
        let is_full = self.give_up(failed, reports).is_err();
        if is_full {
            return Err(PlanError::NothingToDo {
                task: "background work",
                reason: "there is no space left for the member files; free some",
            });
        }
        let mut state = self.state_mut();
        match sweep.task() {
            Task::Rebuild { slot } if is_rebuilding(&state.health, slot) => {
                state.health.progress(slot, sweep.done_to(), sweep.reached());
            }
            Task::Clone { slot } if state.health.twin(slot).is_some() => {
                state.health.progress(slot, sweep.done_to(), sweep.reached());
            }
            _ => {}
        }
        Ok(Some(unit.sectors))
    }

    fn unit(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        sweep: &mut Sweep,
        found: &mut Findings,
        failed: &mut Vec<(u16, io::Error)>,
        reports: &dyn Reports,
    ) -> Result<bool, PlanError> {
        loop {
            let next = sweep.next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan)?;
            let Some(unit) = next else { return Ok(true) };
            // What nothing was ever written to is zeros on every member, and consistent.
            if state.disks.iter().flatten().all(|disk| disk.is_hole(unit.lba.0, unit.sectors.0)) {
                sweep.settle(unit);
                return Ok(true);
            }
            let mut access = Access::thin(state);
            let worked = scratch.executor.work(&self.geometry, &scratch.plan, &mut access);
            failed.append(&mut access.failed);
            match worked {
                Ok(is_equal) => {
                    sweep.settle(unit);
                    return Ok(is_equal);
                }
                Err(bad) if self.restore(scratch, state, bad.member, bad.lba, failed) => {
                    found.corrected += 1;
                    reports.corrected(self.number, bad.member, bad.lba);
                    sweep.abandon();
                }
                Err(bad) => {
                    debug_assert!(!matches!(bad.why, DiskError::Gone), "a plan names disks that are there");
                    sweep.settle(unit);
                    self.by_sectors(
                        scratch,
                        state,
                        sweep.task(),
                        (unit.lba.0, unit.sectors.0),
                        found,
                        reports,
                    );
                    return Ok(true);
                }
            }
        }
    }

    /// A unit that cannot be done whole: what can be done of it, and the rest unreadable on the disk that is filled.
    #[cold]
    fn by_sectors(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        task: Task,
        (from, sectors): (u64, u64),
        found: &mut Findings,
        reports: &dyn Reports,
    ) {
        let target = match task {
            Task::Rebuild { slot } => Some(state.health.member(slot)),
            Task::Clone { slot } => state.health.twin(slot),
            _ => None,
        };
        for lba in from..from + sectors {
            let sweep = Sweep::new(&self.geometry, &state.health, task, Sectors(1));
            let Ok(sweep) = sweep else { return };
            let mut sweep = sweep.between(Lba(lba), Lba(lba + 1));
            let planned = sweep.next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan);
            let Ok(Some(_)) = planned else { continue };
            let mut access = Access::new(state, None);
            let Err(bad) = scratch.executor.work(&self.geometry, &scratch.plan, &mut access) else {
                continue;
            };
            if self.restore(scratch, state, bad.member, bad.lba, &mut Vec::new()) {
                continue;
            }
            found.unreadable += 1;
            reports.unreadable(self.number, bad.member, bad.lba);
            if let Some(target) = target
                && let Ok(disk) = disk(&state.disks, target)
            {
                // A disk that refuses even this is found by the next write to it.
                let _refused = disk.spoil(lba);
            }
        }
    }

    /// Parity, or the other copies, anew from the data of a unit.
    fn build_again(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        from: u64,
        to: u64,
        failed: &mut Vec<(u16, io::Error)>,
    ) -> Result<(), PlanError> {
        let task = Task::BuildParity { verify: false };
        let mut sweep =
            Sweep::new(&self.geometry, &state.health, task, Sectors(to - from))?.between(Lba(from), Lba(to));
        let mut access = Access::new(state, None);
        while let Some(unit) =
            sweep.next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan)?
        {
            // All of it was read a moment ago, and the rows are held.
            let _done = scratch.executor.work(&self.geometry, &scratch.plan, &mut access);
            sweep.settle(unit);
        }
        failed.append(&mut access.failed);
        Ok(())
    }
}

/// Whether a slot's disk is being filled.
pub fn is_rebuilding(health: &Health, slot: u16) -> bool {
    matches!(health.state(slot), MemberState::Rebuilding { .. })
}

/// What a pass over the members came upon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Sectors that did not match their checksums, or could not be read, and were written again.
    pub corrected: u64,
    /// Sectors that could not be computed either.
    pub unreadable: u64,
    /// Units in which every sector matched its checksum and parity, or a copy, differed all the same.
    pub inconsistent: u64,
}
