//! What an operator looks at.

use std::sync::atomic::Ordering;

use array::raid::{Geometry, Health, MemberState};
use serde::{Deserialize, Serialize};
use units::SECTOR_BYTES;
use units::convert::narrow;

use super::bays::has_failed;
use super::{CacheStatus, ControllerStatus, Machine, PathStatus};
use crate::config::Status;

/// The whole array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineStatus {
    /// Its address in the library.
    pub name: String,
    /// Its number.
    pub array: String,
    /// Grows with each change of what is in use.
    pub generation: u64,
    /// Whether data are lost with the server.
    pub is_volatile: bool,
    /// Whether nothing can be written until the server is started again.
    pub is_write_protected: bool,
    /// Why writes to the drives are refused, where they are.
    #[serde(default)]
    pub writes_refused: Option<String>,
    /// Most bytes a second of each member by background work; 0: no limit.
    pub rate: u64,
    /// The share of the members' time that background work gets which begins; `None`: as the model has it.
    #[serde(default)]
    pub share: Option<f64>,
    /// The bays.
    pub bays: Vec<BayStatus>,
    /// The sets.
    pub sets: Vec<SetStatus>,
    /// Bytes of each LUN.
    pub luns: Vec<u64>,
    /// Background work.
    pub works: Vec<WorkStatus>,
    /// What the last pass of each kind over each set has come to since the server started, the oldest first.
    #[serde(default)]
    pub passes: Vec<PassStatus>,
    /// The controllers.
    #[serde(default)]
    pub controllers: Vec<ControllerStatus>,
    /// The paths to them.
    #[serde(default)]
    pub paths: Vec<PathStatus>,
    /// The controller that serves each LUN; `None` where hosts reach none that could.
    #[serde(default)]
    pub owners: Vec<Option<u32>>,
    /// The release of the firmware, where the model knows several.
    #[serde(default)]
    pub firmware: Option<String>,
    /// The releases that can be installed.
    #[serde(default)]
    pub releases: Vec<String>,
    /// The write cache, where there is one.
    #[serde(default)]
    pub cache: Option<CacheStatus>,
    /// Why no host gets an answer, where none does.
    #[serde(default)]
    pub fault: Option<String>,
}

/// A bay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayStatus {
    /// Its number.
    pub bay: u32,
    /// Its drive, or the last one.
    pub serial: String,
    /// What the drive is to the array.
    pub status: Status,
    /// Bytes of the drive.
    pub bytes: u64,
    /// The set and slot that it is in.
    pub slot: Option<(u32, u16)>,
}

/// A set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetStatus {
    /// Its number.
    pub set: u32,
    /// `RAID 5`.
    pub level: String,
    /// `optimal`, `degraded`, `rebuilding` or `failed`.
    pub state: String,
    /// Bytes that hosts see.
    pub bytes: u64,
    /// The bay of each slot's disk; `None` for a slot that has lost it.
    pub slots: Vec<Option<u32>>,
    /// The drive that a set which has failed needs first, and its bay: `drive 2K7QX of bay 3`; `None` where no drive can end that.
    #[serde(default)]
    pub first_back: Option<String>,
}

impl SetStatus {
    /// What ends the failure of a set, as an operator does it; `None` of one that has not failed.
    pub fn way_back(&self) -> Option<String> {
        (self.state == "failed").then(|| match &self.first_back {
            Some(first) => format!("to have it back, pull and insert {first} first, then the others"),
            None => "no drive that is out has all of its data".into(),
        })
    }
}

/// A piece of background work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkStatus {
    /// The controller's word for it.
    pub kind: String,
    /// The set.
    pub set: u32,
    /// The slot, where it is one's.
    pub slot: Option<u16>,
    /// The share that is done, 0 to 1.
    pub done: f64,
    /// When it will end at this speed; `None` where nothing is done yet, or no controller is online to do it.
    pub left_s: Option<f64>,
}

/// A piece of background work that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassStatus {
    /// Counted from 1 since the server started.
    pub number: u64,
    /// The controller's word for it.
    pub kind: String,
    /// The set.
    pub set: u32,
    /// The slot, where it was one's.
    pub slot: Option<u16>,
    /// Whether it came to its end.
    pub is_complete: bool,
    /// Sectors that did not match their checksums, or could not be read, and were written again.
    pub corrected_sectors: u64,
    /// Sectors that could not be computed either: reading them is an error until they are written.
    pub unreadable_sectors: u64,
    /// Stripes whose parity, or copy, did not agree with their data.
    pub inconsistent_stripes: u64,
    /// Whether parity was written again where it did not agree.
    pub is_repaired: bool,
    /// Those of them that a verify which repairs has left as they are, because more than one drive may have lost what they are of.
    #[serde(default)]
    pub left_stripes: u64,
}

impl PassStatus {
    /// Whether it came to its end and has left nothing that is wrong.
    pub fn is_good(&self) -> bool {
        self.is_complete
            && self.unreadable_sectors == 0
            && (self.inconsistent_stripes == 0 || self.is_repaired)
    }

    /// Whether it came upon something.
    pub fn has_findings(&self) -> bool {
        self.corrected_sectors + self.unreadable_sectors + self.inconsistent_stripes > 0
    }
}

/// In the words of an event log: `set 0, slot 2: rebuild complete; 3 sectors corrected, 0 unreadable, 0 stripes with wrong parity`.
impl std::fmt::Display for PassStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PassStatus { kind, set, corrected_sectors, unreadable_sectors, inconsistent_stripes, .. } = self;
        write!(f, "set {set}")?;
        if let Some(slot) = self.slot {
            write!(f, ", slot {slot}")?;
        }
        write!(f, ": {kind} {}", if self.is_complete { "complete" } else { "stopped" })?;
        if !self.has_findings() {
            return Ok(());
        }
        let repaired = match self.left_stripes {
            0 if self.is_repaired && *inconsistent_stripes > 0 => ", repaired".to_owned(),
            0 => String::new(),
            left => format!(", {left} left: more than one drive may have lost what they are of"),
        };
        write!(
            f,
            "; {corrected_sectors} sectors corrected, {unreadable_sectors} unreadable, {inconsistent_stripes} stripes with wrong \
             parity{repaired}"
        )
    }
}

/// The controller's word for a set, where work fills some of its slots.
fn word(geometry: &Geometry, health: &Health, is_filled: impl Fn(u16) -> bool) -> &'static str {
    let slots = 0..narrow::<u16>(geometry.spec().members);
    let lacking = |slot: &u16| health.state(*slot) != MemberState::Optimal;
    if has_failed(geometry, health) {
        "failed"
    } else if health.is_optimal() {
        "optimal"
    } else if slots.filter(lacking).all(is_filled) {
        "rebuilding"
    } else {
        "degraded"
    }
}

impl Machine {
    /// Whether background work is under way.
    pub fn is_busy(&self) -> bool {
        !self.works.under_way().is_empty()
    }

    fn writes_refused(&self) -> Option<String> {
        let of_the_cache = || self.cache_refusal.why();
        self.common.refusal.why().or_else(of_the_cache)
    }

    /// What there is now.
    pub fn status(&self) -> MachineStatus {
        let works = self.works.under_way();
        let now = self.works.now();
        let is_waiting = self.is_dark();
        // Before the bays: whoever holds the cache may have a drive to take out of use.
        let cache = self.cache_status();
        let (controllers, paths, owners, firmware) = self.front_status();
        let bays = self.lock_bays();
        let mut slots = vec![None; bays.bays.len()];
        let mut sets = Vec::new();
        for ((number, set), shape) in (0_u32..).zip(&self.sets).zip(&self.shape.sets) {
            let state = set.state();
            let count = narrow::<u16>(set.geometry().spec().members);
            let mut used = Vec::new();
            for slot in 0..count {
                let bay = shape.bays[usize::from(state.health.member(slot))];
                let is_there = state.health.state(slot) != MemberState::Failed;
                used.push(is_there.then_some(bay));
                let twin = state.health.twin(slot).map(|twin| shape.bays[usize::from(twin)]);
                for bay in is_there.then_some(bay).into_iter().chain(twin) {
                    let other = slots[bay as usize].replace((number, slot));
                    debug_assert_eq!(other, None, "a drive is in one slot");
                }
            }
            // What is told to be under way, and not what has begun since that was looked at.
            let is_filled = |slot| {
                works.iter().any(|work| !work.is_done.load(Ordering::Acquire) && work.is_of(number, slot))
            };
            let word = word(set.geometry(), &state.health, is_filled);
            sets.push(SetStatus {
                set: number,
                level: set.geometry().spec().level.to_string(),
                state: word.into(),
                bytes: set.geometry().capacity().bytes().get(),
                slots: used,
                first_back: (word == "failed")
                    .then(|| self.first_back(&bays, number, &state.health, ""))
                    .flatten(),
            });
        }
        MachineStatus {
            name: self.shape.name.clone(),
            array: super::open::number(&self.array).to_owned(),
            generation: bays.generation,
            is_volatile: self.is_volatile(),
            is_write_protected: self.common.is_frozen.load(Ordering::Relaxed),
            writes_refused: self.writes_refused(),
            rate: self.rate(),
            share: self.share(),
            bays: ((0_u32..).zip(&bays.bays).zip(slots))
                .map(|((bay, place), slot)| BayStatus {
                    bay,
                    serial: place.serial.clone(),
                    status: place.status,
                    bytes: self.shape.bays[bay as usize] * SECTOR_BYTES,
                    slot,
                })
                .collect(),
            sets,
            cache,
            controllers,
            paths,
            owners,
            firmware,
            releases: self.firmware.iter().map(|(release, _)| release.clone()).collect(),
            fault: (self.model.get().is_some_and(|model| model.is_broken()))
                .then(|| "internal error: the model has ended; start the server again".into()),
            luns: self.shape.luns.iter().map(|lun| lun.sectors * SECTOR_BYTES).collect(),
            passes: self.works.ended(),
            works: works
                .iter()
                .map(|work| {
                    // Hosts may write more of what a drive has missed meanwhile.
                    let done = (work.done.load(Ordering::Relaxed) as f64 / work.all.max(1) as f64).min(1.0);
                    let took = now.saturating_sub(work.began).as_secs_f64();
                    WorkStatus {
                        kind: work.kind.name().into(),
                        set: work.set,
                        slot: work.slot,
                        done,
                        left_s: (done > 0.0 && !is_waiting).then(|| took / done * (1.0 - done)),
                    }
                })
                .collect(),
        }
    }
}
