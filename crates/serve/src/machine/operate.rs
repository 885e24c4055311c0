//! What an operator does: fail, pull, insert, clear, spare.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use array::raid::MemberState;
use units::convert::narrow;

use super::bays::is_back;
use super::errors::OperateError;
use super::found::label_of;
use super::returning::Known;
use super::work::{Extent, WorkKind};
use super::{Bay, Bays, Going, Lost, Machine};
use crate::config::Status;
use crate::disk::{self, Disk};
use crate::events::Severity;
use crate::set::is_rebuilding;

/// What is put into a bay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Insert {
    /// The disk that was in it last.
    Same,
    /// An empty one.
    New,
    /// One that is out of its bay, by its serial number.
    Serial(String),
}

impl Machine {
    /// Takes the drive in a bay out of use, which stays there; a spare takes over.
    pub fn fail(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        {
            let mut bays = self.lock_bays();
            let status = self.bay(&bays, bay)?.status;
            if !matches!(status, Status::InUse | Status::Spare) {
                return Err(OperateError::wrong(
                    bay,
                    "its drive is not in use; `array status` shows those that are",
                ));
            }
            self.say(Severity::Critical, format!("bay {bay}: drive failed by the operator"));
            self.take_out_whole(&mut bays, bay);
            self.relabel(&mut bays).map_err(OperateError::Unrecorded)?;
        }
        self.use_spares();
        Ok(())
    }

    /// Takes a drive out of use that has everything until now, and a label from now: a copy of it that was made before is out of date.
    fn take_out_whole(&self, bays: &mut Bays, bay: u32) {
        // Where it does not take the label it is out of date itself, and others are asked again once it is gone.
        let _unlabelled = self.write_labels(bays);
        self.take_out_of_use(bays, bay, Going::Whole);
    }

    /// Takes the drive out of its bay.
    pub fn pull(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        {
            let mut bays = self.lock_bays();
            let Bay { disk, status, serial, .. } = self.bay(&bays, bay)?.clone();
            let Some(disk) = disk else { return Err(OperateError::wrong(bay, "it is empty already")) };
            if let Some(shelf) = &self.shelf {
                // First: a drive that stays in its bay stays in use.
                let refused = OperateError::system(format!("taking {serial} out of bay {bay}"));
                shelf.take_out(bay, &serial).map_err(refused)?;
            }
            let severity = match status {
                Status::InUse => Severity::Critical,
                _ => Severity::Warning,
            };
            self.say(severity, format!("bay {bay}: drive {serial} removed"));
            if status == Status::InUse {
                self.take_out_whole(&mut bays, bay);
            }
            let until = bays.generation + 1;
            let place = &mut bays.bays[bay as usize];
            if place.status == Status::Spare {
                place.until = until;
            }
            (place.disk, place.status) = (None, Status::Empty);
            if self.shelf.is_none() {
                bays.outside.push((disk, status));
            }
            self.relabel(&mut bays).map_err(OperateError::Unrecorded)?;
        }
        self.use_spares();
        Ok(())
    }

    /// Puts a drive into an empty bay. One that was away is used again if all that it missed is known; any other that
    /// has something on it is refused until it is cleared.
    pub fn insert(self: &Arc<Machine>, bay: u32, what: &Insert) -> Result<Status, OperateError> {
        // A slot that has its disk again is filled by this and by nothing else.
        let alone = self.works.alone();
        let (status, known) = {
            let mut bays = self.lock_bays();
            let place = self.bay(&bays, bay)?.clone();
            if place.disk.is_some() {
                return Err(OperateError::wrong(bay, "there is a drive in it; pull that first"));
            }
            let mut inserted = self.put_in(&mut bays, bay, what, &place.serial)?;
            let serial = inserted.serial.clone();
            inserted.until = until_of(&mut bays, &serial);
            let known = self.use_again(&mut bays, bay, &mut inserted);
            let text = match (inserted.status, &known) {
                (_, Known::Current { .. }) => {
                    format!("bay {bay}: drive {serial} is back; it has missed nothing")
                }
                (_, Known::Behind { .. }) => {
                    format!("bay {bay}: drive {serial} is back; what it missed is rebuilt")
                }
                (_, Known::Filling { .. }) => {
                    format!(
                        "bay {bay}: drive {serial} is back; it has missed nothing, and its rebuild continues"
                    )
                }
                (_, Known::Instead { of, missed: 0, .. }) => format!(
                    "bay {bay}: drive {serial} is back; it has missed nothing, and takes its slot again from the drive in bay {of}"
                ),
                (_, Known::Instead { of, missed, .. }) => format!(
                    "bay {bay}: drive {serial} is back; {} that it may have missed was copied from the drive in bay {of}, and it takes \
                     its slot again",
                    super::size(*missed)
                ),
                (_, Known::Needed) => format!(
                    "bay {bay}: drive {serial} is out of date, and what it has missed cannot be computed; {}",
                    self.advice(&bays, bay, &serial)
                ),
                (Status::Foreign, _) => {
                    format!("bay {bay}: foreign drive {serial}; refused until it is cleared")
                }
                (Status::Stale, _) => match bays.bays.iter().position(|other| other.is_in_with(&serial)) {
                    Some(other) => format!(
                        "bay {bay}: drive {serial} is a copy of the drive in bay {other}; refused until it is cleared"
                    ),
                    None => format!("bay {bay}: drive {serial} is out of date; refused until it is cleared"),
                },
                (Status::Spare, _) => format!("bay {bay}: drive {serial} is back; hot spare"),
                _ => format!("bay {bay}: drive {serial} inserted"),
            };
            self.say(Severity::Information, text);
            bays.bays[bay as usize] = inserted;
            self.relabel(&mut bays).map_err(OperateError::Unrecorded)?;
            (bays.bays[bay as usize].status, known)
        };
        // What could not go on without it can now.
        self.go_on_with(known, alone)?;
        if status == Status::Unassigned {
            self.replace(bay)?;
            self.tell_unassigned(bay);
        }
        // It may be a spare itself, and with it a set may no longer have failed: what else that has lost can be computed now.
        self.use_spares();
        self.verify_owed();
        Ok(status)
    }

    /// Says what becomes of a drive that no set has taken: by itself, nothing.
    pub(super) fn tell_unassigned(&self, bay: u32) {
        if self.lock_bays().bays[bay as usize].status == Status::Unassigned {
            let text = format!("bay {bay}: unassigned; `fathom array spare {bay}` makes it a hot spare");
            self.say(Severity::Information, text);
        }
    }

    /// An empty disk in the bay of one that failed, where nothing else has taken over: the replacement.
    fn replace(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        let is_awaited = (0..).zip(&self.sets).any(|(number, set)| {
            let Some(member) = self.shape.member(number, bay) else { return false };
            let state = set.state();
            let mut slots = 0..narrow::<u16>(set.geometry().spec().members);
            slots.any(|slot| {
                state.health.member(slot) == member && state.health.state(slot) == MemberState::Failed
            })
        });
        if is_awaited && self.is_automatic { self.spare(bay) } else { Ok(()) }
    }

    fn put_in(&self, bays: &mut Bays, bay: u32, what: &Insert, last: &str) -> Result<Bay, OperateError> {
        let serial = match what {
            Insert::New => {
                let disk =
                    self.blank(bays, bay).map_err(OperateError::system(format!("a drive for bay {bay}")))?;
                let serial = disk.serial().to_owned();
                return Ok(Bay {
                    disk: Some(disk),
                    serial,
                    status: Status::Unassigned,
                    until: 0,
                    generation: 0,
                    start: 0,
                });
            }
            Insert::Same => last.to_owned(),
            Insert::Serial(serial) => serial.clone(),
        };
        let Some(shelf) = &self.shelf else {
            let at = bays.outside.iter().position(|(disk, _)| disk.serial() == serial);
            let there = || list(bays.outside.iter().map(|(disk, _)| disk.serial().to_owned()));
            let Some(at) = at else { return Err(OperateError::NoSuchDrive { serial, there: there() }) };
            if bays.outside[at].0.sectors() < self.shape.bays[bay as usize] {
                return Err(OperateError::wrong(bay, "the drive is too small for this bay"));
            }
            let (disk, was) = bays.outside.remove(at);
            let generation = bays.generation;
            return Ok(Bay { disk: Some(disk), serial, status: back(was), until: 0, generation, start: 0 });
        };
        let outside = shelf.outside().map_err(OperateError::system("the drives outside".into()))?;
        if !outside.contains(&serial) {
            return Err(OperateError::NoSuchDrive { serial, there: list(outside) });
        }
        shelf.put_in(bay, &serial).map_err(OperateError::system(format!("putting {serial} in")))?;
        let medium = shelf.disk(bay).map_err(OperateError::system(format!("the disk in bay {bay}")))?;
        let Some(medium) = medium else { return Err(OperateError::wrong(bay, "the drive is gone again")) };
        let label = label_of(medium.as_ref()).map_err(OperateError::system("its label".into()))?;
        let sectors = self.shape.bays[bay as usize];
        if !medium
            .has_all(disk::length(sectors))
            .map_err(OperateError::system(format!("the length of {serial}")))?
        {
            let needed = super::size(sectors);
            self.say(
                Severity::Warning,
                format!(
                    "bay {bay}: the file of drive {serial} is cut short, or of a drive smaller than {needed}"
                ),
            );
            let disk = Some(Arc::new(Disk::on(serial.clone(), sectors, medium)));
            return Ok(Bay { disk, serial, status: Status::Stale, until: 0, generation: 0, start: 0 });
        }
        let (status, serial, generation) = match &label {
            None => (Status::Unassigned, serial, 0),
            Some(label) if label.config.array != self.array => (Status::Foreign, label.serial.clone(), 0),
            Some(label) => {
                let mut own = bays.bays.iter().filter(|bay| bay.serial == label.serial);
                let is_spare = own.any(|bay| label.is_spare_until(bay.until));
                let status = if is_spare { Status::Spare } else { Status::Stale };
                (status, label.serial.clone(), label.config.generation)
            }
        };
        let disk = Disk::on(serial.clone(), sectors, medium);
        let start = label.map_or(0, |label| label.config.start.own);
        Ok(Bay { disk: Some(Arc::new(disk)), serial, status, until: 0, generation, start })
    }

    /// What is to be filled of a disk that takes a slot: of one that is back, what it missed.
    pub(super) fn extent_of(&self, set: u32, slot: u16) -> Extent {
        let bays = self.lock_bays();
        let state = self.sets[set as usize].state();
        let bay = self.shape.sets[set as usize].bays[usize::from(state.health.member(slot))];
        let lost = &bays.lost[set as usize][usize::from(slot)];
        match is_back(lost, &state.health, slot, &bays.bays[bay as usize].serial) {
            true => Extent::Missed,
            false => Extent::All,
        }
    }

    /// Fills those disks of a set of which some is missing and nothing is under way.
    pub(super) fn go_on_filling(self: &Arc<Machine>, set: u32) {
        for slot in 0..narrow::<u16>(self.sets[set as usize].geometry().spec().members) {
            let is_open = is_rebuilding(&self.sets[set as usize].state().health, slot);
            if is_open {
                let extent = self.extent_of(set, slot);
                // What cannot be begun is told in the log, and can be begun by hand.
                let _told = self.begin(WorkKind::Rebuild, set, Some(slot), extent, true);
            }
        }
    }

    /// Forgets what is on a drive that is not in use: it becomes a spare, and may take over at once. One that a failed set may need to
    /// come back is cleared only where `destroy` is its serial number.
    pub fn clear(self: &Arc<Machine>, bay: u32, destroy: Option<&str>) -> Result<(), OperateError> {
        let bays = self.lock_bays();
        let drive = self.bay(&bays, bay)?;
        match drive.status {
            Status::InUse => return Err(OperateError::wrong(bay, "its drive is in use; fail it first")),
            Status::Empty => return Err(OperateError::wrong(bay, "it is empty; insert a drive first")),
            Status::Spare => return Err(OperateError::wrong(bay, "its drive is a spare already")),
            _ => {}
        }
        let serial = &drive.serial;
        match (destroy, &self.failed_without(&bays, serial)[..]) {
            (Some(named), _) if named != serial => {
                return Err(OperateError::wrong(bay, &format!("its drive is {serial}, not {named}")));
            }
            (None, [set, ..]) => {
                let why = format!(
                    "its drive {serial} was lost by set {set}, which has failed and may need it to come back; `fathom array clear {bay} \
                     --destroy {serial}` forgets what is on it all the same"
                );
                return Err(OperateError::wrong(bay, &why));
            }
            _ => {}
        }
        drop(bays);
        self.make_spare(bay)
    }

    /// Makes the drive in a bay a hot spare; what was on it is lost. One that holds what is no longer the array's, or never was, is
    /// refused until it is cleared.
    pub fn spare(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        let bays = self.lock_bays();
        let Bay { status, serial, .. } = self.bay(&bays, bay)?.clone();
        let is_needed = !self.failed_without(&bays, &serial).is_empty();
        drop(bays);
        let consent = if is_needed { format!(" --destroy {serial}") } else { String::new() };
        let refused = |what: &str| {
            let why = format!(
                "its drive {what}; `fathom array clear {bay}{consent}` forgets that and makes it a hot spare"
            );
            Err(OperateError::wrong(bay, &why))
        };
        match status {
            Status::Foreign => refused("holds data of another array"),
            Status::Stale => refused("holds data of this array that are out of date"),
            Status::Failed if is_needed => {
                refused("was lost by a set that has failed, and may be needed to have it back")
            }
            _ => self.make_spare(bay),
        }
    }

    pub(super) fn make_spare(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        {
            let mut bays = self.lock_bays();
            let Bay { disk, status, serial, .. } = self.bay(&bays, bay)?.clone();
            if matches!(status, Status::InUse | Status::Spare) {
                return Err(OperateError::wrong(bay, "its drive is in use, or a spare already"));
            }
            let Some(old) = disk else {
                return Err(OperateError::wrong(bay, "it is empty; insert a drive first"));
            };
            old.renew().map_err(|why| OperateError::wrong(bay, &format!("clearing failed: {why}")))?;
            let was = if status == Status::Unassigned { "" } else { "cleared; " };
            self.say(Severity::Information, format!("bay {bay}: drive {serial} {was}hot spare"));
            // No slot that has lost it gets back what it held.
            let Bays { lost, filled, .. } = &mut *bays;
            let filled = filled.iter_mut().flatten().map(|filled| &mut filled.lost);
            let all = lost.iter_mut().flatten().chain(filled);
            all.filter(|lost| lost.serial == serial).for_each(|lost| *lost = Lost::default());
            let place = &mut bays.bays[bay as usize];
            (place.status, place.until) = (Status::Spare, 0);
            self.relabel(&mut bays).map_err(OperateError::Unrecorded)?;
        }
        self.use_spares();
        Ok(())
    }

    /// [`Machine::use_spares`], by a thread of its own: whoever asks holds what beginning work needs.
    pub(super) fn use_spares_soon(&self) {
        let Some(machine) = self.works.machine().filter(|_| self.is_automatic) else { return };
        let name = "fathom-spares".to_owned();
        // Where no thread is to be had, a spare takes over at the next occasion.
        let _later = std::thread::Builder::new().name(name).spawn(move || machine.use_spares());
    }

    /// Has spares take over every slot that is lost, where that is to be done by itself.
    pub(super) fn use_spares(self: &Arc<Machine>) {
        if !self.is_automatic || self.is_closing.load(Ordering::Acquire) {
            return;
        }
        for (number, set) in (0_u32..).zip(&self.sets) {
            for slot in 0..narrow::<u16>(set.geometry().spec().members) {
                let is_lost = set.state().health.state(slot) == MemberState::Failed;
                if is_lost {
                    // One group may have failed, or no spare be large enough, and another be helped all the same.
                    let _can_wait = self.begin(WorkKind::Rebuild, number, Some(slot), Extent::All, true);
                }
            }
        }
    }

    pub(super) fn bay<'b>(&self, bays: &'b Bays, bay: u32) -> Result<&'b Bay, OperateError> {
        let last = bays.bays.len() - 1;
        bays.bays.get(bay as usize).ok_or(OperateError::NoSuchBay { bay, last })
    }
}

/// The first generation without a drive that was in some bay: known of where it is from now on, and nowhere else.
fn until_of(bays: &mut Bays, serial: &str) -> u64 {
    let was_there = |bay: &&mut Bay| bay.serial == serial && bay.disk.is_none();
    bays.bays.iter_mut().filter(was_there).map(|bay| std::mem::take(&mut bay.until)).max().unwrap_or(0)
}

/// What a drive in memory is that was `was` when it was last in a bay: a hot spare, and one that nothing was made of, hold nothing that
/// could be out of date.
fn back(was: Status) -> Status {
    match was {
        Status::Spare | Status::Unassigned | Status::Foreign => was,
        Status::InUse | Status::Failed | Status::Empty | Status::Stale => Status::Stale,
    }
}

fn list(serials: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = serials.into_iter().collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}
