//! What a host writes: data and zeros, through the journal where there is one.

use std::io;
use std::sync::atomic::Ordering;

use array::raid::{Health, Method, Plan};
use units::convert::narrow;
use units::{Lba, Sectors};

use super::{Access, Fault, Reports, Scratch, SetState, SetStore, disk, fault, is_read, slot_of, without};
use crate::tag::SECTOR;

/// Whether what holds the member files is full, which is no fault of the member.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG))
}

/// Why nothing is written where [`is_full`] says so.
const NO_ROOM: &str = "no space for the member files";

/// Most bytes of the host's that are one record of the journal, unless a row is larger.
const SEGMENT: u64 = 1 << 20;
/// A larger row is written in parts.
const LARGEST_ROW: u64 = 16 << 20;

/// What has come of a write with the rows held.
struct Written {
    /// Whether the members that did not refuse have it. Where it is not, those that refused must be out of use before it is tried again.
    is_done: bool,
    /// The members that refused, and why: one of them at least where it is not done.
    refusals: Vec<(u16, io::Error)>,
}

impl Written {
    fn done(refusals: Vec<(u16, io::Error)>) -> Written {
        Written { is_done: true, refusals }
    }
}

impl SetStore {
    /// Whether a write of these host sectors could be done as things are.
    pub fn can_take(&self, scratch: &mut Scratch, lba: u64, sectors: u64) -> Result<(), Fault> {
        let state = self.state();
        if state.health.is_optimal() {
            return Ok(());
        }
        self.geometry.plan_write(&state.health, Lba(lba), Sectors(sectors), &mut scratch.plan).map_err(fault)
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
        assert!(most > 0 && most.is_multiple_of(SECTOR), "a part is of whole sectors");
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
        debug_assert!(first < end, "a write touches its members");
        let _rows = self.rows.exclusive(first.0, end.0);
        // No slot is filled further there meanwhile.
        if self.is_ahead_of_labels(end.0) && !reports.label_marks() {
            return Err(Fault::Journal);
        }
        loop {
            let written = {
                let state = self.state();
                let written = self.write_held(scratch, &state, at, from, reports);
                if let Ok(written) = &written {
                    self.note_refusals(&state.health, &written.refusals);
                }
                written
            };
            if written.is_err() && self.common.is_unlabelled.load(Ordering::Acquire) && reports.label_again()
            {
                continue;
            }
            if written.is_err() && self.common.has_broken() {
                self.note_refusal_of_any();
                reports.give_up_broken();
                continue;
            }
            let Written { is_done, refusals } = written?;
            if refusals.is_empty() {
                return Ok(());
            }
            self.give_up(refusals, reports)?;
            if is_done {
                break;
            }
        }
        // What was written counts only if it can be read without those that have failed just now.
        let state = self.state();
        self.geometry
            .plan_read(&state.health, at, sectors, array::raid::first, &mut scratch.plan)
            .map_err(fault)
    }

    /// Writes with the rows held.
    fn write_held(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        at: Lba,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<Written, Fault> {
        let sectors = Sectors((from.len() / SECTOR) as u64);
        // Looked at last: without a copy in the usual case.
        let mut doubtful: Option<Health> = None;
        let mut mended = Vec::new();
        loop {
            let health = doubtful.as_ref().unwrap_or(&state.health);
            if let Err(why) = self.geometry.plan_write(health, at, sectors, &mut scratch.plan) {
                return match doubtful {
                    None => Err(fault(why)),
                    Some(_) => self.write_by_sectors(scratch, state, at, from, reports),
                };
            }
            let Scratch { executor, plan, record, .. } = scratch;
            self.count_changes(&state.health, plan);
            record.clear();
            let mut access = Access::new(state, self.common.is_journaled.then_some(record));
            let Err(bad) = executor.write(&self.geometry, plan, from, &mut access) else {
                let failed = access.failed;
                if !self.common.is_journaled {
                    self.note_missed(state, &scratch.plan);
                    return Ok(Written::done(failed));
                }
                return self.bring_home(scratch, state, failed, reports).map(Written::done);
            };
            // As if the member had nothing there that counts, and yet took what is written.
            let known = doubtful.as_ref().unwrap_or(&state.health);
            let has_twin =
                slot_of(&self.geometry, known, bad.member).is_some_and(|slot| known.twin(slot).is_some());
            if has_twin {
                // What is written must go to the copy in the making, too: right first, and then as planned.
                let mut failed = Vec::new();
                let is_mended = self.mend(scratch, state, &bad, &mut mended, &mut failed, reports);
                if !failed.is_empty() {
                    return Ok(Written { is_done: false, refusals: failed });
                }
                if !is_mended {
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
    ) -> Result<Written, Fault> {
        if from.len() == SECTOR {
            return self.write_alone(scratch, state, at, from, reports);
        }
        let mut all = Written::done(Vec::new());
        for (n, sector) in from.chunks(SECTOR).enumerate() {
            let one = self.write_held(scratch, state, Lba(at.0 + n as u64), sector, reports)?;
            all.is_done &= one.is_done;
            all.refusals.extend(one.refusals);
        }
        Ok(all)
    }

    /// Writes one sector of a row of which more is unreadable than can be computed. What else is unreadable there is lost already, and
    /// parity of what is not known would have it be computed wrong later: it is made unreadable first, and comes back with the next write
    /// that finds the rest. Not where a drive is away: it may come back, and need that parity.
    #[cold]
    fn write_alone(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        at: Lba,
        from: &[u8],
        reports: &dyn Reports,
    ) -> Result<Written, Fault> {
        assert_eq!(from.len(), SECTOR, "one sector");
        if !state.health.is_optimal() {
            return Err(Fault::Lost);
        }
        self.geometry.plan_write(&state.health, at, Sectors(1), &mut scratch.plan).map_err(fault)?;
        self.common.can_write()?;
        if self.common.is_journaled {
            // No older record may bring the parity back.
            let refused = |error: io::Error| self.refused(&error, "the controller's memory", reports);
            self.common.checkpoint(false).map_err(refused)?;
        }
        let Scratch { plan, record, .. } = &mut *scratch;
        self.count_changes(&state.health, plan);
        record.clear();
        let mut refusals = Vec::new();
        for step in plan.writes() {
            if step.host.is_some() {
                record.write(step.member, step.lba.0, from);
                continue;
            }
            let spoilt = disk(&state.disks, step.member).and_then(|disk| {
                disk.spoil(step.lba.0)?;
                disk.flush()
            });
            if let Err(why) = spoilt {
                refusals.push((step.member, io::Error::other(why)));
            }
        }
        if !refusals.is_empty() {
            return Ok(Written { is_done: false, refusals });
        }
        if self.common.is_journaled {
            return self.bring_home(scratch, state, refusals, reports).map(Written::done);
        }
        let mut access = Access::new(state, None);
        let changes = scratch.record.changes();
        changes.for_each(|(member, lba, change)| access.do_now(member, lba, change));
        Ok(Written::done(access.failed))
    }

    /// Has the members do what is in the record, once that is in the journal.
    fn bring_home(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        failed: Vec<(u16, io::Error)>,
        reports: &dyn Reports,
    ) -> Result<Vec<(u16, io::Error)>, Fault> {
        let (Some(nvram), record) = (&self.common.nvram, &scratch.record) else { return Ok(failed) };
        if record.is_empty() {
            return Ok(failed);
        }
        self.common.can_write()?;
        let refused = |error: io::Error| self.refused(&error, "the controller's memory", reports);
        let appended = nvram.append(self.number, record, || self.common.sync()).map_err(refused)?;
        self.intend(nvram, &state.health, record).map_err(refused)?;
        let mut access = Access::new(state, None);
        access.failed = failed;
        record.changes().for_each(|(member, lba, change)| access.do_now(member, lba, change));
        if access.failed.iter().any(|(_, why)| is_full(why)) {
            // The record stays in the journal, and nothing may overwrite it.
            let rows = record.changes().map(|(_, lba, change)| (lba, lba + change.sectors()));
            rows.for_each(|(from, to)| self.tear(from, to));
            if !self.common.is_frozen.swap(true, Ordering::AcqRel) {
                self.common.refusal.refused_from_now_on(NO_ROOM.into(), reports);
            }
            return Err(Fault::NoSpace);
        }
        let failed = access.failed;
        appended.done();
        if !self.common.is_frozen.load(Ordering::Relaxed) {
            // Else it was under way as another was refused.
            self.common.refusal.taken(reports);
        }
        Ok(failed)
    }

    #[cold]
    fn refused(&self, why: &io::Error, what: &str, reports: &dyn Reports) -> Fault {
        let (fault, text) = match is_full(why) {
            true => (Fault::NoSpace, NO_ROOM.into()),
            false => (Fault::Journal, format!("{what} cannot be written ({why})")),
        };
        self.common.refusal.refused(text, reports);
        fault
    }

    /// Remembers what members that are away miss, where no journal does. Memory does not refuse it.
    fn note_missed(&self, state: &SetState, plan: &Plan) {
        let Some(nvram) = self.common.nvram.as_ref().filter(|_| !state.health.is_optimal()) else { return };
        for step in plan.writes() {
            let rows = (step.lba.0, (step.lba + step.sectors).0);
            let _noted = self.intend_one(nvram, &state.health, step.member, rows);
        }
    }

    /// Takes members out of use that refused a write.
    pub fn give_up(&self, failed: Vec<(u16, io::Error)>, reports: &dyn Reports) -> Result<(), Fault> {
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
    pub(super) fn whole_stripes(&self, lba: u64, sectors: u64) -> Result<(u64, u64), Fault> {
        match lba.checked_add(sectors) {
            Some(end) if end <= self.geometry.capacity().0 => {}
            _ => return Err(Fault::OutOfRange),
        }
        let step = if self.geometry.spec().level.parity() > 0 { self.geometry.full_stripe().0 } else { 1 };
        assert!(step > 0, "a stripe has sectors");
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
        assert!(step > 0, "each turn discards something");
        let mut at = from;
        while at < to {
            let sectors = Sectors(step.min(to - at));
            let (first, end) = self.geometry.member_span(Lba(at), sectors);
            let _rows = self.rows.exclusive(first.0, end.0);
            // No slot is filled further there meanwhile.
            if self.is_ahead_of_labels(end.0) && !reports.label_marks() {
                return Err(Fault::Journal);
            }
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
                self.count_changes(&state.health, plan);
                record.clear();
                for command in merger.merge(plan.writes(), Sectors(u32::MAX.into())) {
                    record.discard(command.member, command.lba.0, command.sectors.0);
                }
                let failed = if self.common.is_journaled {
                    self.bring_home(scratch, &state, Vec::new(), reports)?
                } else {
                    self.note_missed(&state, &scratch.plan);
                    let mut access = Access::new(&state, None);
                    let changes = scratch.record.changes();
                    changes.for_each(|(member, lba, change)| access.do_now(member, lba, change));
                    access.failed
                };
                self.note_refusals(&state.health, &failed);
                failed
            };
            self.give_up(failed, reports)?;
            at += sectors.0;
        }
        Ok(())
    }
}
