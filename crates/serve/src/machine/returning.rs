//! Drives that come back: which slot has lost one, and whether that can use it again.

use std::sync::{Arc, MutexGuard};

use array::raid::{Geometry, Health, MemberState};
use units::Lba;
use units::convert::narrow;

use super::errors::OperateError;
use super::pass::UNIT;
use super::work::{Extent, WorkKind};
use super::{Bay, Bays, Filled, Lost, Machine};
use crate::config::Status;
use crate::disk::{Disk, DiskError};
use crate::events::Severity;
use crate::set::is_rebuilding;
use crate::tag::SECTOR;

/// What is known of a drive that comes back.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// It has missed nothing, and is in use.
    Current { set: u32 },
    /// It is to be filled with what it missed.
    Behind { set: u32, slot: u16 },
    /// It was being filled when it was lost, nothing was written since, and that goes on.
    Filling { set: u32 },
    /// It is in use in place of the one in bay `of`, which was being filled for its slot and had the sectors that it has missed.
    Instead { set: u32, of: u32, missed: u64 },
    /// It has missed something that cannot be computed: too many others are lost.
    Needed,
    /// It is no slot's, or may have missed anything.
    Nothing,
}

impl Machine {
    /// Has a drive that was away be used again where that can be.
    pub(super) fn use_again(&self, bays: &mut Bays, bay: u32, drive: &mut Bay) -> Known {
        let of_whole = |set: usize, slot: u16| &bays.lost[set][usize::from(slot)];
        let of_filled = |set: usize, slot: u16| &bays.filled[set][usize::from(slot)].lost;
        // Where another was filled for the slot and lost after it, that is the one which the slot had last.
        let is_home = bays.bays[bay as usize].serial == drive.serial;
        let has_lost = |health: &Health, slot, member| {
            health.state(slot) == MemberState::Failed && (is_home || health.member(slot) == member)
        };
        let has_lost_this = |health: &Health, slot, member| {
            health.state(slot) == MemberState::Failed && health.member(slot) == member
        };
        let is_filled = |health: &Health, slot, _| is_home && is_rebuilding(health, slot);
        let known = if let Some((set, slot)) = self.slot_that_lost(bay, drive, of_whole, has_lost) {
            self.take_back(bays, bay, drive, set, slot)
        } else if let Some((set, slot)) = self.slot_that_lost(bay, drive, of_filled, has_lost_this) {
            self.fill_on(bays, bay, drive, set, slot)
        } else if let Some((set, slot)) = self.slot_that_lost(bay, drive, of_whole, is_filled) {
            self.take_instead(bays, bay, drive, set, slot)
        } else {
            Known::Nothing
        };
        if !matches!(known, Known::Needed | Known::Nothing) {
            // What was taken out of use later is another time.
            (drive.status, drive.until) = (Status::InUse, 0);
        }
        known
    }

    /// A drive that was out of its bay and is in it again at the start: as [`Machine::insert`].
    pub(super) fn came_back(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        let alone = self.works.alone();
        let known = {
            let mut bays = self.lock_bays();
            let mut drive = bays.bays[bay as usize].clone();
            let known = self.use_again(&mut bays, bay, &mut drive);
            if drive.status != Status::InUse {
                return Ok(());
            }
            self.say(Severity::Information, format!("bay {bay}: drive {} is back", drive.serial));
            bays.bays[bay as usize] = drive;
            self.relabel(&mut bays).map_err(OperateError::Unrecorded)?;
            known
        };
        self.go_on_with(known, alone)
    }

    /// Begins what a drive that is back brings about: what it missed is rebuilt, or what could not go on without it goes on. `alone` is
    /// held since it was looked at.
    pub(super) fn go_on_with(
        self: &Arc<Machine>,
        known: Known,
        alone: MutexGuard<'_, ()>,
    ) -> Result<(), OperateError> {
        if let Known::Behind { set, slot } = known {
            self.begin_alone(WorkKind::Rebuild, set, Some(slot), Extent::Missed, true)?;
        }
        drop(alone);
        match known {
            Known::Current { set } | Known::Filling { set } => self.go_on_filling(set),
            Known::Instead { set, of, .. } => self.go_on_instead(set, of),
            Known::Behind { .. } | Known::Needed | Known::Nothing => {}
        }
        Ok(())
    }

    /// A slot has the disk again that it had before the one in bay `of`: that is a hot spare again, and what could not go on can now.
    fn go_on_instead(self: &Arc<Machine>, set: u32, of: u32) {
        self.go_on_filling(set);
        // It can be made one by hand where it does not take to it.
        if !self.is_automatic || self.make_spare(of).is_err() {
            self.tell_unassigned(of);
        }
    }

    /// The set and slot that a drive which comes back was lost by.
    fn slot_that_lost<'b>(
        &self,
        bay: u32,
        drive: &Bay,
        last: impl Fn(usize, u16) -> &'b Lost,
        is_it: impl Fn(&Health, u16, u16) -> bool,
    ) -> Option<(u32, u16)> {
        if drive.status != Status::Stale {
            return None;
        }
        (0_u32..).zip(&self.sets).find_map(|(set, store)| {
            let member = self.shape.member(set as usize, bay)?;
            let state = store.state();
            let mut slots = 0..narrow::<u16>(store.geometry().spec().members);
            let slot = slots.find(|&slot| {
                let lost = last(set as usize, slot);
                is_it(&state.health, slot, member)
                    && lost.serial == drive.serial
                    // An older one was away before, and a newer one was used without this array since.
                    && (self.shelf.is_none() || (drive.generation + 1, drive.start) == (lost.since, lost.start))
            })?;
            Some((set, slot))
        })
    }

    /// Has a slot use its old disk again, as it is or to be filled, if what it missed is known and can be had. No request is under way
    /// while that is looked at, so that none is missed by both.
    fn take_back(&self, bays: &mut Bays, bay: u32, drive: &Bay, set: u32, slot: u16) -> Known {
        let store = &self.sets[set as usize];
        // Without a map of what was written everything may have been.
        let (Some(nvram), Some(member)) = (&self.common.nvram, self.shape.member(set as usize, bay)) else {
            return Known::Nothing;
        };
        let lost = &bays.lost[set as usize][usize::from(slot)];
        let mut state = store.state_mut();
        let mut with_it = state.health.clone();
        // It was failed, and is the slot's: both are possible.
        let is_in = with_it.clear(member.into()).and_then(|()| with_it.rebuild_on(slot, member.into()));
        let group = store.geometry().group_of(slot);
        let is_unchanged = lost.changes.is_some() && lost.changes == store.changes(group);
        let written = nvram.maps().intents(store.number_of(group));
        let is_current = is_unchanged || written.is_empty();
        let written_to = written.last().map_or(0, |region| (region + 1) * store.region());
        let behind = Lba(written_to.min(store.reach_since(slot, lost.since)));
        if is_in.is_err() || (!is_current && !can_be_had(store.geometry(), &with_it, slot, behind)) {
            return Known::Needed;
        }
        if is_current {
            with_it.finish(slot);
        }
        state.health = with_it;
        state.disks[usize::from(member)].clone_from(&drive.disk);
        drop(state);
        // One that was filled for the slot in its place is no longer wanted.
        bays.filled[set as usize][usize::from(slot)] = Filled::default();
        if !is_current {
            return Known::Behind { set, slot };
        }
        if let Some(model) = self.model.get() {
            model.take_back(set, slot);
        }
        self.tell_state(set);
        Known::Current { set }
    }

    /// Has a slot use a disk again that was being filled for it, from where that had come to, if nothing was written since.
    fn fill_on(&self, bays: &Bays, bay: u32, drive: &Bay, set: u32, slot: u16) -> Known {
        let (store, Filled { lost, done_to }) =
            (&self.sets[set as usize], &bays.filled[set as usize][usize::from(slot)]);
        let Some(member) = self.shape.member(set as usize, bay) else { return Known::Nothing };
        let mut state = store.state_mut();
        if lost.changes.is_none() || lost.changes != store.changes(store.geometry().group_of(slot)) {
            return Known::Nothing;
        }
        let mut with_it = state.health.clone();
        let is_in = with_it.clear(member.into()).and_then(|()| with_it.rebuild_on(slot, member.into()));
        if is_in.is_err() {
            return Known::Nothing;
        }
        with_it.progress(slot, Lba(*done_to), Lba(*done_to));
        state.health = with_it;
        state.disks[usize::from(member)].clone_from(&drive.disk);
        Known::Filling { set }
    }

    /// Has a slot use the disk again that it had before the one which is being filled for it, where its group has failed: all is there if
    /// nothing was written since, or what was lies where the other one is filled. That is copied while no request is under way.
    fn take_instead(&self, bays: &mut Bays, bay: u32, drive: &Bay, set: u32, slot: u16) -> Known {
        let store = &self.sets[set as usize];
        let Some(member) = self.shape.member(set as usize, bay) else { return Known::Nothing };
        let mut state = store.state_mut();
        let group = store.geometry().group_of(slot);
        if !store.geometry().has_group_failed(&state.health, group) {
            return Known::Nothing;
        }
        let lost = &bays.lost[set as usize][usize::from(slot)];
        let has_all = lost.changes.is_some() && lost.changes == store.changes(group);
        let other = state.health.member(slot);
        let Some(missed) = self.had_by_the_other(&state.health, set, slot, lost, has_all) else {
            return Known::Needed;
        };
        let mut with_it = state.health.clone();
        let is_in = (with_it.fail(other.into()))
            .and_then(|_| with_it.clear(member.into()))
            .and_then(|()| with_it.rebuild_on(slot, member.into()));
        let copied = match (&state.disks[usize::from(other)], &drive.disk) {
            (Some(from), Some(to)) => copy(from, to, &missed),
            _ => Err(DiskError::Gone),
        };
        if is_in.is_err() || copied.is_err() {
            return Known::Needed;
        }
        with_it.finish(slot);
        // The pass that filled the other one ends where it is.
        self.works.disk_is_gone(set, slot);
        state.health = with_it;
        state.disks[usize::from(other)] = None;
        state.disks[usize::from(member)].clone_from(&drive.disk);
        drop(state);
        let of = self.shape.sets[set as usize].bays[usize::from(other)];
        let until = bays.generation + 1;
        let place = &mut bays.bays[of as usize];
        (place.status, place.until) = (Status::Unassigned, until);
        if let Some(model) = self.model.get() {
            model.take_back(set, slot);
        }
        self.tell_state(set);
        Known::Instead { set, of, missed: missed.iter().map(|(from, to)| to - from).sum() }
    }

    /// What a slot's disk of before lacks, where the one that is being filled for the slot has all of that, as ranges of sectors.
    fn had_by_the_other(
        &self,
        health: &Health,
        set: u32,
        slot: u16,
        lost: &Lost,
        has_all: bool,
    ) -> Option<Vec<(u64, u64)>> {
        if has_all {
            return Some(Vec::new());
        }
        let (store, nvram) = (&self.sets[set as usize], self.common.nvram.as_ref()?);
        let MemberState::Rebuilding { done_to, .. } = health.state(slot) else { return None };
        let (region, reach) = (store.region(), store.reach_since(slot, lost.since));
        // Known only of one that had all when it went.
        if reach > done_to.0 {
            return None;
        }
        let written = nvram.maps().intents(store.number_of(store.geometry().group_of(slot)));
        let ranges = written.into_iter().map(|at| (at * region, ((at + 1) * region).min(reach)));
        Some(ranges.filter(|(from, to)| from < to).collect())
    }

    /// The drive that a set which has failed needs first, and its bay: of those that it has lost one that has missed nothing, or else the
    /// one that was lost last; `None` where there is none but `besides`.
    pub(super) fn first_back(&self, bays: &Bays, set: u32, health: &Health, besides: &str) -> Option<String> {
        let store = &self.sets[set as usize];
        let slots = 0..narrow::<u16>(store.geometry().spec().members);
        let is_failed = |slot: &u16| {
            health.state(*slot) != MemberState::Optimal
                && store.geometry().has_group_failed(health, store.geometry().group_of(*slot))
        };
        let of_slot = |slot: u16| {
            let (lost, filled) = (
                &bays.lost[set as usize][usize::from(slot)],
                &bays.filled[set as usize][usize::from(slot)].lost,
            );
            let has_all = |lost: &Lost| {
                lost.changes.is_some() && lost.changes == store.changes(store.geometry().group_of(slot))
            };
            let is_gone = health.state(slot) == MemberState::Failed;
            let last = (is_gone || has_all(lost)).then_some((has_all(lost), lost));
            let filled = (is_gone && has_all(filled)).then_some((true, filled));
            [last, filled].into_iter().flatten()
        };
        let is_another = |(_, lost): &(bool, &Lost)| !lost.serial.is_empty() && lost.serial != besides;
        let (_, first) = slots
            .filter(is_failed)
            .flat_map(of_slot)
            .filter(is_another)
            .max_by_key(|(has_all, lost)| (*has_all, lost.since))?;
        let bay = bays.bays.iter().position(|bay| bay.serial == first.serial)?;
        Some(format!("drive {} of bay {bay}", first.serial))
    }

    /// The sets that have failed and have lost this drive: without it they may not come back.
    pub(super) fn failed_without(&self, bays: &Bays, serial: &str) -> Vec<u32> {
        let is_needed = |&number: &u32| {
            let set = &self.sets[number as usize];
            let state = set.state();
            let mut slots =
                (0_u16..).zip(bays.lost[number as usize].iter().zip(&bays.filled[number as usize]));
            slots.any(|(slot, (lost, filled))| {
                state.health.state(slot) != MemberState::Optimal
                    && [&lost.serial, &filled.lost.serial].into_iter().any(|other| other == serial)
                    && set.geometry().has_group_failed(&state.health, set.geometry().group_of(slot))
            })
        };
        (0..narrow::<u32>(self.sets.len() as u64)).filter(is_needed).collect()
    }

    /// What to do about a drive that is refused.
    pub(super) fn advice(&self, bays: &Bays, bay: u32, serial: &str) -> String {
        let failed = self.failed_without(bays, serial);
        let first_of = |set: &u32| {
            let state = self.sets[*set as usize].state();
            self.first_back(bays, *set, &state.health, serial)
        };
        match failed.iter().find_map(first_of) {
            Some(first) => {
                format!("a set has failed: reinsert {first} first, then pull and reinsert this one")
            }
            None if !failed.is_empty() => {
                format!(
                    "a set has failed, and no drive that is out has all of its data; `fathom array clear {bay} --destroy {serial}` forgets this one's"
                )
            }
            None => {
                format!("`fathom array clear {bay}` forgets what is on it and makes it a hot spare")
            }
        }
    }

    /// What the drive in a bay is that is refused as it is, and what to do about it.
    pub fn refused_as(&self, bay: u32) -> (String, String) {
        let bays = self.lock_bays();
        let serial = bays.bays.get(bay as usize).map(|bay| bay.serial.clone()).unwrap_or_default();
        let is_other = |(at, other): (u32, &Bay)| (at != bay && other.is_in_with(&serial)).then_some(at);
        let what = match (0..).zip(&bays.bays).find_map(is_other) {
            Some(other) => format!("a copy of the drive in bay {other}"),
            None => "out of date".into(),
        };
        (what, self.advice(&bays, bay, &serial))
    }
}

/// Copies ranges of sectors from a disk to another; what cannot be read is unreadable there as well.
fn copy(from: &Disk, to: &Disk, ranges: &[(u64, u64)]) -> Result<(), DiskError> {
    let mut buffer = vec![0; narrow::<usize>(UNIT.0) * SECTOR];
    for &(start, end) in ranges {
        assert!(start < end, "a range has sectors");
        for lba in (start..end).step_by(narrow::<usize>(UNIT.0)) {
            let sectors = UNIT.0.min(end - lba);
            let bytes = &mut buffer[..narrow::<usize>(sectors) * SECTOR];
            if from.read(lba, bytes).is_ok() {
                to.write(lba, bytes)?;
                continue;
            }
            for (lba, bytes) in (lba..).zip(bytes.chunks_mut(SECTOR)) {
                match (from.read(lba, bytes), from.promise(lba)) {
                    (Ok(()), _) => to.write(lba, bytes)?,
                    (Err(_), Some(promise)) => to.spoil_as(&promise)?,
                    (Err(_), None) => to.spoil(lba)?,
                }
            }
        }
    }
    to.flush()
}

/// Whether what slot `slot` lacks below `to` can be computed from the others: one that is being filled has what lies below its mark.
fn can_be_had(geometry: &Geometry, health: &Health, slot: u16, to: Lba) -> bool {
    let mut below = health.clone();
    for other in 0..narrow::<u16>(geometry.spec().members) {
        let has_it = matches!(health.state(other), MemberState::Rebuilding { done_to, .. } if done_to >= to);
        if other != slot && has_it {
            below.finish(other);
        }
    }
    !geometry.has_group_failed(&below, geometry.group_of(slot))
}
