//! What lies in the bays and in the controller's memory at a start, and what of it counts.

use std::io;
use std::sync::Arc;

use super::errors::OpenError;
use super::{Bay, Shape};
use crate::config::{BayConfig, Config, Label, SlotState, Status};
use crate::disk::{self, Disk};
use crate::events::{EventLog, Severity};
use crate::medium::Medium;
use crate::nvram::remembered;

/// The disks that a shelf has, with their labels.
pub(super) struct DiskInBay {
    pub medium: Box<dyn Medium>,
    pub label: Option<Label>,
    /// Why it cannot be read, where it cannot.
    pub fault: Option<io::Error>,
}

/// What is in the bays, by number: all of it, drives that were in use and are not any more, and drives that were out and are back.
pub(super) struct Seats {
    pub bays: Vec<Bay>,
    pub missing: Vec<u32>,
    pub returned: Vec<u32>,
}

/// What the drives that were found are to the array; what is wrong with one goes to the log.
pub(super) fn seated(
    found: Vec<Option<DiskInBay>>,
    config: &Config,
    shape: &Shape,
    events: &EventLog,
) -> Result<Seats, OpenError> {
    let mut bays = Vec::new();
    let (mut missing, mut returned) = (Vec::new(), Vec::new());
    for (at, (found, known)) in (0_u32..).zip(found.into_iter().zip(&config.bays)) {
        let why = doubt(found.as_ref(), known, config, shape.bays[at as usize])
            .map_err(OpenError::system(&format!("the disk in bay {at}")))?;
        let bay = bay_of(found, known, config, shape.bays[at as usize], why.is_some());
        let was_used = known.status == Status::InUse;
        if was_used && bay.status != Status::InUse {
            missing.push(at);
        }
        if known.status == Status::Empty && bay.status == Status::Stale && why.is_none() {
            returned.push(at);
        }
        match bay.status {
            Status::Spare if known.status == Status::Empty => {
                events
                    .add(Severity::Information, format!("bay {at}: drive {} is back; hot spare", bay.serial));
            }
            Status::Foreign => events.add(
                Severity::Warning,
                format!("bay {at}: foreign drive {}; refused until it is cleared", bay.serial),
            ),
            Status::Stale => events.add(
                Severity::Warning,
                format!(
                    "bay {at}: drive {} {}; refused until it is cleared",
                    bay.serial,
                    why.unwrap_or_else(|| "is out of date".into())
                ),
            ),
            _ => {}
        }
        bays.push(bay);
    }
    Ok(Seats { bays, missing, returned })
}

/// What the controller's memory says of the array.
pub(super) fn config_of(memory: &Arc<dyn Medium>) -> Result<Option<Config>, OpenError> {
    let text = remembered(memory).map_err(OpenError::system("the controller's memory"))?;
    Ok(text.and_then(|(_, text)| serde_json::from_slice(&text).ok()))
}

/// The drive that a set has lost last, and its bay.
pub(super) fn lost_last(config: &Config) -> Option<String> {
    let lost = config.sets.iter().flatten().filter_map(|slot| match slot.state {
        SlotState::Failed { since } => Some((since, slot)),
        SlotState::Optimal | SlotState::Rebuilding { .. } => None,
    });
    let (_, slot) = lost.max_by_key(|(since, _)| *since)?;
    let bay = config.bays.iter().position(|bay| bay.serial == slot.serial).unwrap_or(slot.bay as usize);
    Some(format!("drive {}, which was lost last and belongs in bay {bay},", slot.serial))
}

/// An error where a drive that is in use, or a spare, lies in another's bay: it is as good as ever, and must not be cleared.
pub(super) fn in_their_bays(found: &[Option<DiskInBay>], config: &Config) -> Result<(), OpenError> {
    let serial = |found: &Option<DiskInBay>| {
        let label = found.as_ref()?.label.as_ref()?;
        (label.config.array == config.array).then(|| label.serial.clone())
    };
    let mut moves = Vec::new();
    for (bay, own) in found.iter().map(serial).enumerate() {
        let Some(own) = own else { continue };
        let home = config
            .bays
            .iter()
            .position(|bay| bay.serial == own && matches!(bay.status, Status::InUse | Status::Spare));
        if let Some(home) = home.filter(|&home| home != bay && serial(&found[home]).as_ref() != Some(&own)) {
            moves.push(format!("the drive {own} in bay {bay} belongs in bay {home}"));
        }
    }
    if moves.is_empty() { Ok(()) } else { Err(OpenError::Misplaced { moves: moves.join(", ") }) }
}

/// Why a drive cannot be what the configuration says of its bay, whatever its generation; `None` where nothing speaks against it.
fn doubt(
    found: Option<&DiskInBay>,
    known: &BayConfig,
    config: &Config,
    sectors: u64,
) -> io::Result<Option<String>> {
    let Some(DiskInBay { medium, label, .. }) = found else { return Ok(None) };
    let is_wanted = matches!(known.status, Status::InUse | Status::Spare);
    let Some(label) = label else {
        return Ok(is_wanted.then(|| "has no label: its file is empty, or damaged".into()));
    };
    if label.config.array != config.array {
        return Ok(None);
    }
    if !medium.has_all(disk::length(sectors))? {
        return Ok(Some("has lost its end: its file is cut short, or of a smaller drive".into()));
    }
    let is_apart = known.status == Status::InUse
        && label.serial == known.serial
        && config.counts(label.config.generation)
        && !config.start.follows(&label.config.start);
    if is_apart {
        return Ok(Some("is of a copy of this array that was used by itself".into()));
    }
    let is_another = label.serial != known.serial && config.bays.iter().any(|bay| bay.serial == label.serial);
    Ok(is_another.then(|| "is a copy of the drive in another bay".into()))
}

/// An error where a new array would overwrite what is none in the making: files of something else, or an array whose drives have lost
/// their labels.
pub(super) fn check_free(
    found: &[Option<DiskInBay>],
    memory: &Arc<dyn Medium>,
    shape: &Shape,
) -> Result<(), OpenError> {
    let occupied = |what: String| Err(OpenError::Occupied { what });
    let drives = (0_usize..).zip(found).filter_map(|(bay, found)| Some((bay, found.as_ref()?)));
    for (bay, DiskInBay { medium, label, fault }) in drives.clone() {
        if let Some(why) = fault {
            let source = io::Error::new(why.kind(), why.to_string());
            return Err(OpenError::System { what: format!("the label of bay {bay}"), source });
        }
        let sectors = shape.bays[bay];
        let look = || -> io::Result<bool> {
            if label.is_some() || medium.next_data(0)?.is_none() {
                return Ok(false);
            }
            // A label that was cut short as the first one was written lies in a file that has its full length, and nothing behind it.
            let holds = |from: &u64| *from < disk::map_at(sectors);
            Ok(!medium.has_all(disk::length(sectors))?
                || medium.next_data(disk::DATA)?.as_ref().is_some_and(holds))
        };
        if look().map_err(OpenError::system(&format!("the disk in bay {bay}")))? {
            return occupied(format!("`bay-{bay:02}.disk` holds data, and no label of a drive"));
        }
    }
    let is_without = drives.clone().all(|(_, found)| found.label.is_none());
    match config_of(memory)?.filter(|config| is_without && config.generation > 1) {
        Some(config) => occupied(format!(
            "`controller.nvram` knows an array, {}, and no drive has a label of it",
            super::open::number(&config.array)
        )),
        None => Ok(()),
    }
}

pub(super) fn label_of(medium: &dyn Medium) -> io::Result<Option<Label>> {
    let label = disk::read_label(medium)?;
    Ok(label.and_then(|(_, text)| serde_json::from_slice(&text).ok()))
}

/// The configuration that counts: the newest of labels and memory, if all of the newest are the same one of this shape. With it whether
/// the memory has it: one that is older than a drive is a copy, and knows nothing of what came after.
pub(super) fn newest(
    shape: &Shape,
    found: &[Option<DiskInBay>],
    memory: Option<Config>,
) -> Result<(Config, bool), OpenError> {
    let labels: Vec<(u32, &Label)> =
        (0..).zip(found).filter_map(|(bay, found)| Some((bay, found.as_ref()?.label.as_ref()?))).collect();
    // The array that most disks are of.
    let votes =
        |label: &Label| labels.iter().filter(|(_, other)| other.config.array == label.config.array).count();
    let of = labels.iter().max_by_key(|(_, label)| votes(label)).map(|(_, label)| &label.config.array);
    let own: Vec<_> = labels.iter().filter(|(_, label)| Some(&label.config.array) == of).collect();
    let (_, label) =
        own.iter().max_by_key(|(_, label)| label.config.generation).ok_or(OpenError::Senseless)?;
    let memory_of_it = memory.filter(|memory| memory.array == label.config.array);
    let memory = memory_of_it.clone().filter(|memory| memory.generation >= label.config.generation);
    let newest = memory.as_ref().unwrap_or(&label.config);
    let apart = |other: u32| {
        let with = own.iter().find(|(bay, label)| *bay != other && label.config == *newest);
        let one = with.map_or_else(|| "`controller.nvram`".to_owned(), |(bay, _)| format!("bay {bay}"));
        OpenError::Split { one, other }
    };
    let differs = |label: &Label| label.config.generation == newest.generation && label.config != *newest;
    if let Some((other, _)) = own.iter().find(|(_, label)| differs(label)) {
        return Err(apart(*other));
    }
    // A disk that was used since it was taken out of use was used without those that say so.
    let was_apart = |label: &Label| {
        let mut own = newest.bays.iter().filter(|bay| bay.serial == label.serial);
        let is_used = matches!(known_as(newest, label), Some(Status::InUse | Status::Spare));
        !is_used && own.any(|bay| bay.until > 0 && label.config.generation >= bay.until)
    };
    if let Some((other, _)) = own.iter().find(|(_, label)| was_apart(label)) {
        return Err(apart(*other));
    }
    let outvoting = || outvoting(newest, &own, memory_of_it.as_ref(), memory.is_some());
    if let Some(other) = of_a_copy(newest, &own).or_else(outvoting) {
        return Err(apart(other));
    }
    if newest.shape != shape.text() {
        return Err(OpenError::OtherShape { found: newest.name.clone() });
    }
    Ok((newest.clone(), memory.is_some()))
}

/// What the newest configuration says of a drive, by its serial number; `None` where it does not know it.
fn known_as(newest: &Config, label: &Label) -> Option<Status> {
    let mut own = newest.bays.iter().filter(|bay| bay.serial == label.serial).map(|bay| bay.status);
    let first = own.clone().next();
    own.find(|status| matches!(status, Status::InUse | Status::Spare)).or(first)
}

/// The bay of a drive of a copy of the array, where that and the array of the newest label were each started by themselves: either may
/// be the one that is meant. A drive that is known to be out of date is neither's.
fn of_a_copy(newest: &Config, labels: &[&(u32, &Label)]) -> Option<u32> {
    let of_it = |label: &Label| {
        known_as(newest, label) != Some(Status::Stale) && newest.start.is_apart(&label.config.start)
    };
    labels.iter().find(|(_, label)| of_it(label)).map(|(bay, _)| *bay)
}

/// The bay of a drive in use that is older than the newest configuration, where there are more of these than of those that are not: then
/// it is the newest that belongs elsewhere. The controller's memory counts as one of them.
fn outvoting(
    newest: &Config,
    labels: &[&(u32, &Label)],
    memory: Option<&Config>,
    is_of_memory: bool,
) -> Option<u32> {
    let is_current =
        |config: &Config| newest.start.follows(&config.start) && newest.counts(config.generation);
    let used = || labels.iter().filter(|(_, label)| known_as(newest, label) == Some(Status::InUse));
    let with = used().filter(|(_, label)| is_current(&label.config)).count() + usize::from(is_of_memory);
    let against = used().filter(|(_, label)| !is_current(&label.config)).map(|(bay, _)| *bay);
    let is_against = memory.is_some_and(|memory| !is_current(memory));
    let count = against.clone().count() + usize::from(is_against);
    against.min().filter(|_| count > with)
}

/// What is in a bay, by what the configuration says of it.
fn bay_of(
    found: Option<DiskInBay>,
    known: &BayConfig,
    config: &Config,
    sectors: u64,
    is_doubted: bool,
) -> Bay {
    let BayConfig { serial, status, until } = known.clone();
    let Some(DiskInBay { medium, label, .. }) = found else {
        return Bay { disk: None, serial, status: Status::Empty, until, generation: 0, start: 0 };
    };
    let (own, generation, start) = match &label {
        Some(label) => (label.serial.clone(), label.config.generation, label.config.start.own),
        None => (serial.clone(), 0, 0),
    };
    let is_same = label.as_ref().is_some_and(|label| label.serial == serial);
    let status = match &label {
        Some(label) if label.config.array != config.array => Status::Foreign,
        Some(_) if is_doubted => Status::Stale,
        Some(label) if is_same && status == Status::InUse && !config.counts(label.config.generation) => {
            Status::Stale
        }
        Some(label) if is_same && status == Status::Empty && label.is_spare_until(until) => Status::Spare,
        Some(_) if is_same => status,
        Some(_) => Status::Stale,
        // Cleared, or put there by somebody: nothing is known of it, and nothing was on it.
        None if matches!(status, Status::InUse | Status::Spare) => Status::Stale,
        None => Status::Unassigned,
    };
    let status = if status == Status::Empty { Status::Stale } else { status };
    let disk = Some(Arc::new(Disk::on(own.clone(), sectors, medium)));
    Bay { disk, serial: own, status, until, generation, start }
}
