//! Background work on a set: rebuild, clone, initialisation, verification, unit by unit.

use std::io;

use array::raid::{Health, MemberState, PlanError, Sweep, Task};
use units::{Lba, Sectors};

use super::{Access, Reports, Scratch, SetState, SetStore, disk};
use crate::disk::DiskError;

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
        assert!(from < to, "a unit of background work has sectors");
        let mut failed = Vec::new();
        let _rows = self.rows.exclusive(from, to);
        {
            let state = self.state();
            if matches!(sweep.task(), Task::Zero { .. } | Task::BuildParity { .. }) {
                self.count_change();
            }
            let is_equal = self.unit(scratch, &state, sweep, found, &mut failed, reports)?;
            if !is_equal {
                found.inconsistent += 1;
                if repairs && failed.is_empty() {
                    self.build_again(scratch, &state, from, to, &mut failed)?;
                }
            }
            self.note_refusals(&failed);
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
                    debug_assert!(
                        bad.lba < self.geometry.member_used().0,
                        "what is corrected is used by the set"
                    );
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
        debug_assert!(from + sectors <= self.geometry.member_used().0, "a unit lies on the members");
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
