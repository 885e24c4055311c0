//! What a host reads, and what is put right on the way.

use std::io;
use std::sync::atomic::Ordering;

use array::raid::{Health, MemberState, Members, Sweep, Task};
use units::convert::narrow;
use units::{Lba, Sectors};

use super::{Access, Fault, MemberFault, Reports, Scratch, SetState, SetStore, disk, fault, without};
use crate::disk::Lent;
use crate::tag::SECTOR;

impl SetStore {
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

    pub(super) fn planned_read(
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
    pub(super) fn read_slowly(
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
    pub(super) fn mend(
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
    pub(super) fn restore(
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
}
