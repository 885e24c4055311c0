//! What a disk has lost together with its checksums: it reads as if never written, and only the others know better.

use std::io;

use array::raid::{MemberState, Sweep, Task};
use units::convert::narrow;
use units::{Lba, Sectors};

use super::work::Attempt;
use super::{Access, Scratch, SetState, SetStore, disk, slot_of, without};
use crate::disk::Promise;
use crate::nvram::{Change, Record};
use crate::tag::SECTOR;

/// What became of rows that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refilled {
    /// No disk lacks anything that it should have.
    Nothing,
    /// What a disk had lost is on it again.
    Some,
    /// More than one disk may have lost it, and nothing tells which: parity anew would make the loss final.
    Unclear,
}

impl SetStore {
    /// Writes again what single disks have lost of rows that do not fit, as far as the others tell which disk it is: the one without
    /// which data and parity, or the copies, do not fit, and with what is computed for it do. The rows are held.
    #[cold]
    pub(super) fn refill(&self, attempt: &mut Attempt<'_>, (from, to): (u64, u64)) -> Refilled {
        let Attempt { scratch, state, found, failed, reports, .. } = attempt;
        assert!(from < to, "rows that do not fit are some");
        let mut refilled: Vec<(u16, u64, u64)> = Vec::new();
        let mut is_unclear = false;
        for lba in from..to {
            let may_lack: Vec<u16> = self.whole(state).filter(|&member| lacks(state, member, lba)).collect();
            if may_lack.is_empty() || self.fits(scratch, state, lba) {
                continue;
            }
            let has_several = may_lack.len() > 1;
            let fitting: Vec<u16> =
                may_lack.into_iter().filter(|&member| self.would_fit(scratch, state, member, lba)).collect();
            match fitting.as_slice() {
                // No one disk explains it, and two together explain anything.
                [] => is_unclear |= has_several,
                &[member] if self.restore(scratch, state, member, lba, failed) => {
                    found.corrected += 1;
                    match refilled.last_mut().filter(|last| last.0 == member && last.1 + last.2 == lba) {
                        Some(last) => last.2 += 1,
                        None => refilled.push((member, lba, 1)),
                    }
                }
                _ => is_unclear = true,
            }
        }
        for &(member, lba, sectors) in &refilled {
            reports.refilled(self.number, member, lba, sectors);
        }
        match (is_unclear, refilled.is_empty()) {
            (true, _) => Refilled::Unclear,
            (false, false) => Refilled::Some,
            (false, true) => Refilled::Nothing,
        }
    }

    /// The disks that have all of their slots.
    fn whole<'s>(&self, state: &'s SetState) -> impl Iterator<Item = u16> + 's {
        let geometry = self.geometry.clone();
        (0..narrow::<u16>(state.disks.len())).filter(move |&member| {
            let slot = slot_of(&geometry, &state.health, member);
            slot.is_some_and(|slot| {
                state.health.member(slot) == member && state.health.state(slot) == MemberState::Optimal
            })
        })
    }

    /// Whether data and parity, or the copies, of a row fit each other.
    fn fits(&self, scratch: &mut Scratch, state: &SetState, lba: u64) -> bool {
        let sweep = Sweep::new(&self.geometry, &state.health, Task::Verify, Sectors(1));
        let Ok(mut sweep) = sweep.map(|sweep| sweep.between(Lba(lba), Lba(lba + 1))) else { return true };
        let mut access = Access::thin(state);
        while let Ok(Some(unit)) =
            sweep.next(&self.geometry, &state.health, array::raid::first, &mut scratch.plan)
        {
            let worked = scratch.executor.work(&self.geometry, &scratch.plan, &mut access);
            sweep.settle(unit);
            if !worked.unwrap_or(true) {
                return false;
            }
        }
        true
    }

    /// Whether what the others compute for a disk is not zeros, and the same whichever of them is left out besides: then it is this disk
    /// that has lost it. Nothing is written: a stop in between must not leave a guess on a disk.
    fn would_fit(&self, scratch: &mut Scratch, state: &SetState, member: u16, lba: u64) -> bool {
        let Some(computed) = self.computed(scratch, state, (member, None), lba) else { return false };
        computed.iter().any(|&byte| byte != 0)
            && self.whole(state).filter(|&other| other != member).all(|other| {
                // Where the level survives no second one, there is nothing to hold it against.
                let without = self.computed(scratch, state, (member, Some(other)), lba);
                without.is_none_or(|without| without == computed)
            })
    }

    /// What the checksum of a sector of a disk says of it: [`Disk::promise`](crate::disk::Disk::promise).
    pub(super) fn promise(&self, state: &SetState, member: u16, lba: u64) -> Option<Promise> {
        disk(&state.disks, member).ok()?.promise(lba)
    }

    /// Writes what the others have for a sector to its disk, if some of them have what its checksum promises; whether they do. Parity, or a
    /// copy, that was never written with the data is none of these.
    #[cold]
    pub(super) fn keep_promise(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        (member, lba): (u16, u64),
        promise: &Promise,
        failed: &mut Vec<(u16, io::Error)>,
    ) -> bool {
        let others = self.whole(state).filter(|&other| other != member).map(Some);
        let mut is_computable = false;
        let kept = std::iter::once(None).chain(others).find_map(|left_out| {
            let computed = self.computed(scratch, state, (member, left_out), lba)?;
            is_computable = true;
            Some(computed).filter(|computed| promise.is_kept_by(computed))
        });
        match kept {
            // Where a level has no single sectors all of it is written.
            None => !is_computable && self.restore(scratch, state, member, lba, failed),
            Some(sector) => {
                if let Ok(disk) = disk(&state.disks, member)
                    && let Err(why) = disk.write(lba, &sector)
                {
                    failed.push((member, io::Error::other(why)));
                }
                true
            }
        }
    }

    /// What the others have of a sector of a disk, without one of them where that is said; `None` where it cannot be computed.
    fn computed(
        &self,
        scratch: &mut Scratch,
        state: &SetState,
        (member, left_out): (u16, Option<u16>),
        lba: u64,
    ) -> Option<Vec<u8>> {
        let (mut health, slot) = without(&self.geometry, &state.health, member)?;
        if let Some(other) = left_out {
            health.fail(u32::from(other)).ok()?;
        }
        let sweep = Sweep::new(&self.geometry, &health, Task::Rebuild { slot }, Sectors(1)).ok()?;
        let mut sweep = sweep.between(Lba(lba), Lba(lba + 1));
        let mut record = Record::default();
        while let Some(unit) =
            sweep.next(&self.geometry, &health, array::raid::first, &mut scratch.plan).ok()?
        {
            let mut access = Access::new(state, Some(&mut record));
            scratch.executor.work(&self.geometry, &scratch.plan, &mut access).ok()?;
            sweep.settle(unit);
        }
        // Some levels compute more than one sector.
        record.changes().filter(|(to, at, _)| *to == member && *at <= lba).find_map(|(_, at, change)| {
            match change {
                Change::Write(bytes) => {
                    Some(bytes.get(narrow::<usize>(lba - at) * SECTOR..)?.get(..SECTOR)?.to_vec())
                }
                Change::Discard(sectors) => (lba - at < sectors).then(|| vec![0; SECTOR]),
            }
        })
    }
}

fn lacks(state: &SetState, member: u16, lba: u64) -> bool {
    disk(&state.disks, member).is_ok_and(|disk| disk.is_unwritten(lba))
}
