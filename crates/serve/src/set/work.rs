//! Background work on a set: rebuild, clone, initialisation, verification, unit by unit.

use std::io;

use array::raid::{Geometry, Health, MemberState, PlanError, Sweep, Task};
use units::{Lba, Sectors};

use super::hole::Refilled;
use super::{Access, MemberFault, Reports, Scratch, SetState, SetStore, disk};
use crate::disk::DiskError;
use crate::tag::SECTOR;

impl SetStore {
    /// Does the next unit of a pass and tells the state how far it has got: by how many sectors, or `None` at its end.
    ///
    /// What is unreadable of the members that the unit reads is computed and written again; where that cannot be done,
    /// `found` counts it and a rebuild leaves an unreadable sector.
    pub fn work(
        &self,
        scratch: &mut Scratch,
        sweep: &mut Sweep,
        repair: Repair,
        found: &mut Findings,
        reports: &dyn Reports,
    ) -> Result<Option<Sectors>, PlanError> {
        let Some(unit) = sweep.ahead() else { return Ok(None) };
        let (from, to) = (unit.lba.0, (unit.lba + unit.sectors).0);
        assert!(from < to, "a unit of background work has sectors");
        let before = sweep.done_to();
        let _rows = self.rows.exclusive(from, to);
        if self.is_torn(from, to) {
            return Err(PlanError::NothingToDo {
                task: "continue the pass",
                reason: "a write was cut short there for want of room; start the array again with some",
            });
        }
        let failed = {
            let state = self.state();
            if matches!(sweep.task(), Task::Zero { .. } | Task::BuildParity { .. }) {
                self.count_all();
            }
            let mut attempt = Attempt { scratch, state: &state, found, failed: Vec::new(), repair, reports };
            let worked = self.unit(&mut attempt, sweep)?;
            if worked == Worked::Unequal {
                self.make_fit(&mut attempt, (from, to))?;
            }
            self.note_refusals(&state.health, &attempt.failed);
            attempt.failed
        };
        let is_full = self.give_up(failed, reports).is_err();
        if is_full {
            return Err(PlanError::NothingToDo {
                task: "continue the pass",
                reason: "there is no space left for the member files; free some",
            });
        }
        let mut state = self.state_mut();
        match sweep.task() {
            Task::Rebuild { slot } if is_rebuilding(&state.health, slot) => {
                debug_assert!(
                    !matches!(state.health.state(slot), MemberState::Rebuilding { done_to, .. } if done_to > sweep.done_to()),
                    "what a disk was filled with it keeps"
                );
                state.health.progress(slot, sweep.done_to(), sweep.reached());
            }
            Task::Clone { slot } if state.health.twin(slot).is_some() => {
                state.health.progress(slot, sweep.done_to(), sweep.reached());
            }
            _ => {}
        }
        // None where it has to be done again, without a member that has failed.
        Ok(Some(Sectors(sweep.done_to().0 - before.0)))
    }

    /// Whether the next unit of a pass can be done as things are.
    pub fn can_go_on(&self, scratch: &mut Scratch, sweep: &Sweep) -> bool {
        let state = self.state();
        sweep.clone().next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan).is_ok()
    }

    /// Has a slot's disk count as filled up to `to`, where it has all that lies from `from` on: nothing `was_written` there while it was
    /// away, nor is being written now. Whether that is so.
    pub fn pass_over(&self, slot: u16, from: Lba, to: Lba, was_written: impl Fn() -> bool) -> bool {
        assert!(from < to, "what is passed over has sectors");
        // Nobody writes there until the marks say that the disk is to be written, too.
        let _rows = self.rows.exclusive(from.0, to.0);
        if was_written() {
            return false;
        }
        let mut state = self.state_mut();
        if is_rebuilding(&state.health, slot) {
            state.health.progress(slot, to, to);
        }
        true
    }

    /// What can be done of rows of which every sector matches its checksum, and that do not fit all the same.
    fn make_fit(&self, attempt: &mut Attempt<'_>, (from, to): (u64, u64)) -> Result<(), PlanError> {
        if attempt.repair == Repair::FromData {
            attempt.found.inconsistent += 1;
            return self.build_again(attempt, from, to);
        }
        let refilled = self.refill(attempt, (from, to));
        if refilled == Refilled::Some {
            let again = Sweep::new(&self.geometry, &attempt.state.health, Task::Verify, Sectors(to - from))?;
            if self.unit(attempt, &mut again.between(Lba(from), Lba(to)))? != Worked::Unequal {
                return Ok(());
            }
        }
        attempt.found.inconsistent += 1;
        if attempt.repair == Repair::No || !attempt.failed.is_empty() {
            return Ok(());
        }
        if refilled != Refilled::Unclear {
            return self.build_again(attempt, from, to);
        }
        attempt.found.unclear += 1;
        for lba in from..to {
            let is_clear = self.refill(attempt, (lba, lba + 1)) != Refilled::Unclear;
            if is_clear && attempt.failed.is_empty() {
                self.build_again(attempt, lba, lba + 1)?;
            }
        }
        Ok(())
    }

    /// Does one unit. Where a member is in `failed` afterwards the sweep has not settled it: it is to be done again without that one.
    fn unit(&self, attempt: &mut Attempt<'_>, sweep: &mut Sweep) -> Result<Worked, PlanError> {
        let state = attempt.state;
        let mut mended = Vec::new();
        loop {
            let plan = &mut attempt.scratch.plan;
            let next = sweep.next(&self.geometry, &state.health, array::raid::first, plan)?;
            let Some(unit) = next else { return Ok(Worked::Equal) };
            // What nothing was ever written to is zeros on every member, and consistent.
            if state.disks.iter().flatten().all(|disk| disk.is_hole(unit.lba.0, unit.sectors.0)) {
                sweep.settle(unit);
                return Ok(Worked::Equal);
            }
            let bad = match attempt.execute(&self.geometry, Access::thin(state)) {
                Ok(is_equal) => {
                    sweep.settle(unit);
                    return Ok(if is_equal { Worked::Equal } else { Worked::Unequal });
                }
                Err(bad) => bad,
            };
            debug_assert!(bad.lba < self.geometry.member_used().0, "what is corrected is used by the set");
            debug_assert!(!matches!(bad.why, DiskError::Gone), "a plan names disks that are there");
            // An error of what the member lies on does not say at which sector it is.
            let is_new = !mended.contains(&(bad.member, bad.lba));
            if is_new && self.mended(attempt, &bad, &mut mended) {
                sweep.abandon();
                continue;
            }
            if attempt.failed.is_empty() {
                self.by_sectors(attempt, sweep.task(), (unit.lba.0, unit.sectors.0))?;
            }
            match attempt.failed.is_empty() {
                true => sweep.settle(unit),
                false => sweep.abandon(),
            }
            return Ok(Worked::Equal);
        }
    }

    /// Corrects and counts a sector that a pass could not read ([`SetStore::mend`]). `true` where the pass can try again.
    fn mended(&self, attempt: &mut Attempt<'_>, bad: &MemberFault, mended: &mut Vec<(u16, u64)>) -> bool {
        let Attempt { scratch, state, found, failed, reports, .. } = attempt;
        let is_mended = self.mend(scratch, state, bad, mended, failed, *reports);
        found.corrected += u64::from(is_mended);
        is_mended && failed.is_empty()
    }

    /// A unit that cannot be done whole: what can be done of it, rows that do not fit among them, and the rest unreadable on the disk that
    /// is filled. Where a member is found in `failed` afterwards it is to be done again without that one.
    #[cold]
    fn by_sectors(
        &self,
        attempt: &mut Attempt<'_>,
        task: Task,
        (from, sectors): (u64, u64),
    ) -> Result<(), PlanError> {
        let state = attempt.state;
        let target = match task {
            Task::Rebuild { slot } => Some(state.health.member(slot)),
            Task::Clone { slot } => state.health.twin(slot),
            _ => None,
        };
        debug_assert!(from + sectors <= self.geometry.member_used().0, "a unit lies on the members");
        let mut lost = Vec::new();
        let inconsistent = attempt.found.inconsistent;
        for lba in from..from + sectors {
            let done = self.row(attempt, task, lba);
            if done == Some(Worked::Unequal) {
                self.make_fit(attempt, (lba, lba + 1))?;
            }
            if !attempt.failed.is_empty() {
                return Ok(());
            }
            if done.is_some() {
                continue;
            }
            let unreadable = self.unreadable_of(state, lba).filter(|&member| Some(member) != target);
            lost.extend(unreadable.map(|member| (member, lba)));
            if let Some(target) = target
                && let Ok(disk) = disk(&state.disks, target)
            {
                // What a copy is to be is still known, where its checksum is.
                let promise = match task {
                    Task::Clone { slot } => self.promise(state, state.health.member(slot), lba),
                    _ => None,
                };
                // A disk that refuses even this is found by the next write to it.
                let _refused = promise.map_or_else(|| disk.spoil(lba), |promise| disk.spoil_as(&promise));
                attempt.found.unreadable += 1;
            }
        }
        // They are counted by units.
        attempt.found.inconsistent = attempt.found.inconsistent.min(inconsistent + 1);
        attempt.found.unreadable += lost.len() as u64;
        lost.into_iter().for_each(|(member, lba)| attempt.reports.unreadable(self.number, member, lba));
        Ok(())
    }

    /// One row of a unit, what is unreadable of it being mended: what has come of it, `None` where it could not be done.
    fn row(&self, attempt: &mut Attempt<'_>, task: Task, lba: u64) -> Option<Worked> {
        let state = attempt.state;
        let mut mended = Vec::new();
        let Ok(sweep) = Sweep::new(&self.geometry, &state.health, task, Sectors(1)) else {
            return Some(Worked::Equal);
        };
        loop {
            let mut sweep = sweep.clone().between(Lba(lba), Lba(lba + 1));
            let plan = &mut attempt.scratch.plan;
            let planned = sweep.next(&self.geometry, &state.health, array::raid::first, plan);
            let Ok(Some(_)) = planned else { return Some(Worked::Equal) };
            match attempt.execute(&self.geometry, Access::new(state, None)) {
                Ok(true) => return Some(Worked::Equal),
                Ok(false) => return Some(Worked::Unequal),
                Err(bad) if self.mended(attempt, &bad, &mut mended) => {}
                Err(_) => return None,
            }
        }
    }

    /// The members of which a sector cannot be read.
    fn unreadable_of<'s>(&self, state: &'s SetState, lba: u64) -> impl Iterator<Item = u16> + 's {
        (0..).zip(&state.disks).filter_map(move |(member, disk)| {
            let is_bad = disk.as_ref()?.read(lba, &mut [0; SECTOR]).is_err();
            is_bad.then_some(member)
        })
    }

    /// Parity, or the other copies, anew from the data of a unit.
    fn build_again(&self, attempt: &mut Attempt<'_>, from: u64, to: u64) -> Result<(), PlanError> {
        let state = attempt.state;
        let task = Task::BuildParity { verify: false };
        let mut sweep =
            Sweep::new(&self.geometry, &state.health, task, Sectors(to - from))?.between(Lba(from), Lba(to));
        loop {
            let plan = &mut attempt.scratch.plan;
            let next = sweep.next(&self.geometry, &state.health, array::raid::first, plan)?;
            let Some(unit) = next else { return Ok(()) };
            // All of it was read a moment ago, and the rows are held.
            let _done = attempt.execute(&self.geometry, Access::new(state, None));
            sweep.settle(unit);
        }
    }
}

/// What a unit is done with, and what has come of it so far.
pub(super) struct Attempt<'a> {
    pub scratch: &'a mut Scratch,
    pub state: &'a SetState,
    pub found: &'a mut Findings,
    /// Members that have refused.
    pub failed: Vec<(u16, io::Error)>,
    pub repair: Repair,
    pub reports: &'a dyn Reports,
}

impl Attempt<'_> {
    /// Carries out the plan; whether what it compares is equal.
    fn execute(&mut self, geometry: &Geometry, mut access: Access<'_>) -> Result<bool, MemberFault> {
        let Scratch { executor, plan, .. } = &mut *self.scratch;
        let worked = executor.work(geometry, plan, &mut access);
        self.failed.append(&mut access.failed);
        worked
    }
}

/// What becomes of parity, or copies, that do not fit though every sector matches its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing; what a single drive has lost is computed all the same.
    No,
    /// They are made anew from the data, unless more than one drive may have lost some of these.
    WhereClear,
    /// They are made anew from the data, which are what they should be: a stop has left old and new of what was being written.
    FromData,
}

/// What has come of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worked {
    /// What was compared is equal, or nothing was.
    Equal,
    /// Of sectors that match their checksums, parity or copies differ.
    Unequal,
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
    /// Sectors of members that could not be computed either.
    pub unreadable: u64,
    /// Units in which every sector matched its checksum and parity, or a copy, differed all the same.
    pub inconsistent: u64,
    /// Those of them of which something was left as it is, because making it fit might make a loss final.
    pub unclear: u64,
}
