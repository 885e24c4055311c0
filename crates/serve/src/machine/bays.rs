//! What is in the bays, what the sets know of it, and what the labels say.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use array::raid::{Geometry, Health, MemberState};
use units::Lba;
use units::convert::narrow;

use super::{Bays, Filled, Going, Lost, Machine, Shape, is_group_whole, size};
use crate::cache::WriteCache;
use crate::config::{BayConfig, Config, FilledConfig, Label, LostConfig, SlotConfig, SlotState, Status};
use crate::disk::Disk;
use crate::events::Severity;
use crate::set::{is_rebuilding, slot_of};

impl Shape {
    /// The number of a bay's disk in a set; `None` where it is too small for it.
    pub(super) fn member(&self, set: usize, bay: u32) -> Option<u16> {
        self.sets[set].bays.iter().position(|&other| other == bay).map(narrow::<u16>)
    }
}

impl Machine {
    /// Takes the disk of a bay out of use in the set that uses it; rebuilds onto a spare are begun elsewhere.
    pub(super) fn take_out_of_use(&self, bays: &mut Bays, bay: u32, going: Going) {
        let until = bays.generation + 1;
        let place = &mut bays.bays[bay as usize];
        (place.status, place.until) = (Status::Failed, until);
        for (number, set) in self.sets.iter().enumerate() {
            let Some(member) = self.shape.member(number, bay) else { continue };
            let slot = slot_of(set.geometry(), &set.state().health, member);
            let group = slot.map(|slot| set.geometry().group_of(slot));
            if going == Going::Whole && group.is_some_and(|group| is_group_whole(set, group)) {
                // What was written before is on it. Where that cannot be made sure it counts as missed.
                let _forgotten = self.common.checkpoint(false);
            }
            if let (Some(nvram), Some(group)) = (&self.common.nvram, group) {
                // Before it is gone: what is written from then on is what it misses.
                nvram.maps().keep_intents(set.number_of(group), true);
            }
            let mut state = set.state_mut();
            let was = slot.map(|slot| state.health.state(slot));
            let is_copy = slot.is_some_and(|slot| state.health.twin(slot) == Some(member));
            // A copy in the making of it takes its place, as far as it has got.
            if state.health.fail(u32::from(member)).is_err() {
                continue;
            }
            if let (Some(model), Some(slot)) = (self.model.get(), slot) {
                model.fail_slot(narrow::<u32>(number), slot, is_copy);
            }
            let gone = state.disks[usize::from(member)].take();
            // Nobody writes to it any more: it has all of it once this is done, also where the machine loses power.
            let going = match (going, gone.map(|disk| disk.flush())) {
                (Going::Whole, Some(Err(_))) => Going::Refusing,
                (going, _) => going,
            };
            let Some(slot) = slot.filter(|_| !is_copy) else { continue };
            assert!(bays.lost[number][usize::from(slot)].since <= until, "generations only grow");
            let group = set.geometry().group_of(slot);
            if going == Going::Whole
                && let Some(nvram) = &self.common.nvram
            {
                // Where that is not remembered it counts as written to.
                let _touched = nvram.maps().lose(set.number_of(group), until);
            }
            let changes = if going == Going::Whole { set.changes(group) } else { None };
            let serial = bays.bays[bay as usize].serial.clone();
            let lost = Lost { serial, since: until, start: bays.labelled, changes };
            match was {
                // One that was being filled lacks more than what is written from now on: what the slot lacks is still the one before it.
                Some(MemberState::Rebuilding { done_to, .. }) => {
                    bays.filled[number][usize::from(slot)] = Filled { lost, done_to: done_to.0 };
                }
                _ => {
                    set.lose(slot, changes.is_some().then_some(until));
                    bays.lost[number][usize::from(slot)] = lost;
                }
            }
            if state.health.state(slot) != MemberState::Failed {
                let copy = self.shape.sets[number].bays[usize::from(state.health.member(slot))];
                let text = format!(
                    "set {number}: degraded, slot {slot} is the copy in bay {copy} as far as it has got"
                );
                self.say(Severity::Warning, text);
                continue;
            }
            self.works.disk_is_gone(narrow::<u32>(number), slot);
            let is_lost = has_failed(set.geometry(), &state.health);
            drop(state);
            let level = set.geometry().spec().level;
            if is_lost {
                self.say(
                    Severity::Critical,
                    format!("set {number} ({level}): failed; what the lost members held cannot be read"),
                );
            } else {
                self.say(Severity::Warning, format!("set {number} ({level}): degraded, slot {slot} is lost"));
            }
        }
    }

    /// Has each set know which disks are spares now, and the array which disks are live.
    pub(super) fn sync_spares(&self, bays: &Bays) {
        for set in &self.sets {
            let shape = &self.shape.sets[set_number(self, set)];
            let mut state = set.state_mut();
            for (member, &bay) in (0_u16..).zip(&shape.bays) {
                let bay = &bays.bays[bay as usize];
                let is_spare = state.health.spares().any(|spare| spare == member);
                let is_wanted = bay.status == Status::Spare && bay.disk.is_some();
                if is_wanted && !is_spare && slot_of(set.geometry(), &state.health, member).is_none() {
                    // A disk that is in a slot cannot be cleared, and is none of these.
                    let _used = state.health.clear(u32::from(member));
                }
                if is_spare && !is_wanted {
                    let _known = state.health.fail(u32::from(member));
                }
                let is_used = bay.status == Status::InUse || is_wanted;
                state.disks[usize::from(member)] = if is_used { bay.disk.clone() } else { None };
            }
        }
        let live = bays.bays.iter().filter(|bay| bay.status == Status::InUse);
        *self.common.live.write().unwrap_or_else(PoisonError::into_inner) =
            live.filter_map(|bay| bay.disk.clone()).collect();
        for set in &self.sets {
            let Some(nvram) = &self.common.nvram else { continue };
            for group in set.groups() {
                nvram.maps().keep_intents(set.number_of(group), !is_group_whole(set, group));
            }
        }
    }

    /// Writes what is now on the labels of all disks in use, as a new generation. Until that succeeds nothing is written: a next start
    /// would not know of what it is written to. A disk that refuses its label is taken out of use where the others suffice.
    pub(super) fn relabel(&self, bays: &mut Bays) -> io::Result<()> {
        let labelled = loop {
            let refused = match self.write_labels(bays) {
                Err(why) => break Err(why),
                Ok(refused) => refused,
            };
            let Some((bay, why)) = refused.into_iter().next() else {
                bays.taken = bays.generation;
                break Ok(());
            };
            if crate::set::is_full(&why) || !self.can_do_without(bays, bay) {
                break Err(why);
            }
            self.say(Severity::Critical, format!("bay {bay}: it takes no label; drive taken out of use"));
            self.take_out_of_use(bays, bay, Going::Refusing);
            self.use_spares_soon();
        };
        self.common.is_unlabelled.store(labelled.is_err(), Ordering::Release);
        labelled
    }

    /// Whether no set fails for want of the disk of a bay.
    fn can_do_without(&self, bays: &Bays, bay: u32) -> bool {
        let status = bays.bays[bay as usize].status;
        status == Status::Spare
            || self.sets.iter().enumerate().all(|(number, set)| {
                let Some(member) = self.shape.member(number, bay) else { return true };
                let mut health = set.state().health.clone();
                let was_lost = has_failed(set.geometry(), &health);
                // One that is no slot's is not needed.
                health.fail(u32::from(member)).is_err() || was_lost || !has_failed(set.geometry(), &health)
            })
    }

    /// Writes the labels; the disks that did not take theirs, by bay, with the reason of each.
    pub(super) fn write_labels(&self, bays: &mut Bays) -> io::Result<Vec<(u32, io::Error)>> {
        debug_assert_eq!(bays.bays.len(), self.shape.bays.len(), "each bay is known");
        bays.generation += 1;
        self.sync_spares(bays);
        // Marks say what is filled and synced: nothing that is filled after they are looked at.
        let config = self.config(bays);
        // What lies in the journal belongs to the disks that there were.
        self.common.checkpoint(false)?;
        if let (Some(nvram), Some(_)) = (&self.common.nvram, &self.shelf) {
            // First: no drive may be newer than the memory that says which of them are in use.
            nvram.remember(config.generation, &serde_json::to_vec(&config)?)?;
        }
        bays.labelled = self.start.own;
        let mut refused = Vec::new();
        for (at, bay) in (0..).zip(&bays.bays) {
            let (Some(disk), Status::InUse | Status::Spare) = (&bay.disk, bay.status) else { continue };
            let label = Label { serial: bay.serial.clone(), config: config.clone() };
            if let Err(why) = write(disk, &label) {
                self.say(Severity::Warning, format!("drive {} did not take its label: {why}", bay.serial));
                refused.push((at, why));
            }
        }
        if refused.is_empty() {
            self.are_labelled(&config);
        }
        Ok(refused)
    }

    /// Tells the sets what the labels say of their marks.
    fn are_labelled(&self, config: &Config) {
        for (set, slots) in self.sets.iter().zip(&config.sets) {
            for (slot, config) in (0_u16..).zip(slots) {
                set.is_labelled(
                    slot,
                    match config.state {
                        SlotState::Rebuilding { done_to } => done_to,
                        SlotState::Optimal | SlotState::Failed { .. } => 0,
                    },
                );
            }
        }
    }

    fn config(&self, bays: &Bays) -> Config {
        let sets = self.sets.iter().enumerate().map(|(number, set)| {
            let state = set.state();
            let of = &self.shape.sets[number].bays;
            (0..narrow::<u16>(set.geometry().spec().members))
                .map(|slot| {
                    let bay = of[usize::from(state.health.member(slot))];
                    let is_failed = state.health.state(slot) == MemberState::Failed;
                    let last = &bays.lost[number][usize::from(slot)];
                    SlotConfig {
                        bay,
                        serial: if is_failed {
                            last.serial.clone()
                        } else {
                            bays.bays[bay as usize].serial.clone()
                        },
                        state: match state.health.state(slot) {
                            MemberState::Optimal => SlotState::Optimal,
                            MemberState::Failed => SlotState::Failed { since: last.since },
                            MemberState::Rebuilding { done_to, .. } => {
                                SlotState::Rebuilding { done_to: done_to.0 }
                            }
                        },
                        start: if is_failed { last.start } else { 0 },
                        since: if is_back(last, &state.health, slot, &bays.bays[bay as usize].serial) {
                            last.since
                        } else {
                            0
                        },
                        filled: (bays.filled[number].get(usize::from(slot)))
                            // Of one that may not have kept what it was filled with, nothing counts.
                            .filter(|filled| is_failed && filled.lost.changes.is_some())
                            .map(Filled::config),
                        before: is_before(last, &state.health, slot, &bays.bays[bay as usize].serial)
                            // One that may not have had all when it went is of no use.
                            .then(|| last.config())
                            .filter(|_| {
                                last.changes.is_some() || set.reach_since(slot, last.since) < u64::MAX
                            }),
                        // Begun anew after a restart: a copy in the making is no redundancy that would be missed.
                        twin: state.health.twin(slot).map(|twin| (of[usize::from(twin)], 0)),
                    }
                })
                .collect()
        });
        Config {
            array: self.array.clone(),
            name: self.shape.name.clone(),
            shape: self.shape.text(),
            generation: bays.generation,
            taken: bays.taken,
            start: self.start.clone(),
            bays: (bays.bays.iter())
                .map(|bay| BayConfig { serial: bay.serial.clone(), status: bay.status, until: bay.until })
                .collect(),
            sets: sets.collect(),
            works: self.works.configs(),
            cache: (self.cache.as_ref())
                .filter(|cache| !(self.is_closing.load(Ordering::Acquire) && cache.is_empty()))
                .map(WriteCache::session),
        }
    }

    /// An empty disk for a bay, with a serial number of its own.
    pub(super) fn blank(&self, bays: &Bays, bay: u32) -> io::Result<Arc<Disk>> {
        let there = bays.bays.iter().map(|bay| bay.serial.clone());
        let others: Vec<String> =
            there.chain(bays.outside.iter().map(|(disk, _)| disk.serial().to_owned())).collect();
        let serial = super::open::new_serial(self.seed, bays.generation, bay, &others);
        let sectors = self.shape.bays[bay as usize];
        let disk = match &self.shelf {
            None => Disk::in_memory(serial, sectors),
            Some(shelf) => {
                let made = shelf.new_disk(bay).map(|medium| Disk::new_on(serial, sectors, medium));
                made?.inspect_err(|_| {
                    // What is left of it would be in the way of the drive that was there.
                    let _left = shelf.discard(bay);
                })?
            }
        };
        let text = format!("bay {bay}: new drive {}, {}", disk.serial(), size(sectors));
        self.say(Severity::Information, text);
        Ok(Arc::new(disk))
    }
}

impl Lost {
    fn config(&self) -> LostConfig {
        LostConfig { serial: self.serial.clone(), since: self.since, start: self.start }
    }
}

impl Filled {
    fn config(&self) -> FilledConfig {
        FilledConfig { lost: self.lost.config(), done_to: self.done_to }
    }
}

/// Whether a slot is filled on another disk than the one that it has lost.
fn is_before(lost: &Lost, health: &Health, slot: u16, serial: &str) -> bool {
    is_rebuilding(health, slot) && !lost.serial.is_empty() && lost.serial != serial
}

/// Whether a slot is filled on the disk that it had lost, with what that missed.
pub(super) fn is_back(lost: &Lost, health: &Health, slot: u16, serial: &str) -> bool {
    is_rebuilding(health, slot) && !lost.serial.is_empty() && lost.serial == serial
}

fn set_number(machine: &Machine, set: &crate::set::SetStore) -> usize {
    machine.sets.iter().position(|other| std::ptr::eq(other, set)).unwrap_or_default()
}

pub(super) fn write(disk: &Disk, label: &Label) -> io::Result<()> {
    let text = serde_json::to_vec(label)?;
    disk.write_label(label.config.generation, &text)
}

/// Whether some data of the set cannot be read. A disk that is being filled counts as lost: where the set ends it has nothing.
pub(super) fn has_failed(geometry: &Geometry, health: &Health) -> bool {
    geometry.failure(health).is_some()
}

/// Whether the disk that a slot has lost is another's by now: one that serves it, that becomes its copy, or that it has lost later.
fn is_elsewhere(slots: &[SlotConfig], slot: u16) -> bool {
    let own = &slots[usize::from(slot)];
    let since = |config: &SlotConfig| match config.state {
        SlotState::Failed { since } => Some(since),
        SlotState::Optimal | SlotState::Rebuilding { .. } => None,
    };
    (0_u16..).zip(slots).filter(|&(other, _)| other != slot).any(|(other, config)| {
        let is_later = since(config).is_none_or(|lost| (Some(lost), other) > (since(own), slot));
        config.twin.is_some_and(|(bay, _)| bay == own.bay) || (config.bay == own.bay && is_later)
    })
}

/// Brings a new health to what a configuration says of a set: disks in their slots, and no spares.
pub(super) fn restored(
    geometry: &Geometry,
    shape: &Shape,
    set: usize,
    slots: &[SlotConfig],
) -> Option<Health> {
    let mut health = Health::new(geometry);
    let count = narrow::<u16>(geometry.spec().members);
    let member = |bay: u32| shape.member(set, bay);
    let holders: Vec<u16> = slots.iter().map(|slot| member(slot.bay)).collect::<Option<_>>()?;
    if holders.len() != usize::from(count) {
        return None;
    }
    // Everything that is not where it began is empty first.
    for slot in 0..count {
        let is_home = holders[usize::from(slot)] == slot
            && matches!(slots[usize::from(slot)].state, SlotState::Optimal);
        if !is_home {
            health.fail(u32::from(slot)).ok()?;
            health.clear(u32::from(slot)).ok()?;
        }
    }
    for (slot, (config, &holder)) in (0_u16..).zip(slots.iter().zip(&holders)) {
        if holder == slot && config.state == SlotState::Optimal {
            continue;
        }
        if matches!(config.state, SlotState::Failed { .. }) && is_elsewhere(slots, slot) {
            continue;
        }
        health.rebuild_on(slot, u32::from(holder)).ok()?;
        match config.state {
            SlotState::Optimal => health.finish(slot),
            SlotState::Failed { .. } => {
                health.fail(u32::from(holder)).ok()?;
            }
            SlotState::Rebuilding { done_to } => health.progress(slot, Lba(done_to), Lba(done_to)),
        }
    }
    for (slot, config) in (0_u16..).zip(slots) {
        if let Some((bay, _)) = config.twin {
            health.clone_to(slot, u32::from(member(bay)?)).ok()?;
        }
    }
    let spares: Vec<u16> = health.spares().collect();
    for spare in spares {
        health.fail(u32::from(spare)).ok()?;
    }
    debug_assert!(health.spares().next().is_none(), "spares are made of disks that are there");
    Some(health)
}
