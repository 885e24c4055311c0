//! The write cache as an operator sees it: what he does to it, what it is doing, and what it has lost.

use std::io;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use units::{Bytes, SECTOR_BYTES};

use super::Machine;
use super::bays::has_failed;
use super::errors::OperateError;
use crate::cache::{SectorRange, Settings, WriteCache};
use crate::events::Severity;
use crate::set::{Fault, Scratch, SetStore};

/// What is done to the write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheAction {
    /// Writes are acknowledged from it.
    WriteBack {
        /// Without a battery, too.
        forced: bool,
    },
    /// Writes are acknowledged when members have them.
    WriteThrough,
    /// The battery fails.
    BatteryDead,
    /// The battery is replaced.
    BatteryGood,
    /// Power goes and comes back.
    PowerLoss,
    /// Everything is written to the members.
    Flush,
}

/// The write cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStatus {
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that members do not have yet.
    pub dirty_bytes: u64,
    /// Whether writes are acknowledged from it.
    pub is_write_back: bool,
    /// Whether what it holds survives a loss of power.
    pub has_battery: bool,
    /// Whether writes are acknowledged from it even without a battery.
    #[serde(default)]
    pub is_forced: bool,
    /// What it has lost, and nobody has written again.
    pub lost: Vec<LostRange>,
}

/// Bytes of a LUN that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRange {
    /// The LUN.
    pub lun: u32,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// Lines of the event log that a loss takes at most.
const LINES: usize = 16;

impl Machine {
    /// Reads again what a former server has left in the cache, once the journal is on the members.
    pub(super) fn recover_cache(&self) -> io::Result<()> {
        let Some(cache) = &self.cache else { return Ok(()) };
        let scratch = std::cell::RefCell::new(Scratch::default());
        let lost = cache.recover(|set, lba, into| {
            self.sets[set as usize].read(&mut scratch.borrow_mut(), lba, into, self)
        })?;
        let dirty = Bytes::new(cache.dirty());
        if cache.dirty() > 0 {
            self.say(Severity::Information, format!("write cache: the battery has kept {dirty}"));
        }
        self.say_lost(&lost);
        Ok(())
    }

    /// What the cache is doing; `None` where there is none.
    pub fn cache_status(&self) -> Option<CacheStatus> {
        let cache = self.cache.as_ref()?;
        let settings = cache.settings();
        Some(CacheStatus {
            bytes: cache.size(),
            dirty_bytes: cache.dirty(),
            is_write_back: cache.takes_writes(),
            has_battery: settings.has_battery,
            is_forced: settings.is_forced,
            lost: self.on_luns(&cache.lost()),
        })
    }

    /// Does something to the cache; what came of it, in a sentence.
    pub fn set_cache(&self, action: CacheAction) -> Result<String, OperateError> {
        let cache = self.cache.as_ref().ok_or(OperateError::NoCache)?;
        let now = cache.settings();
        let system = |source| OperateError::System { what: "setting the write cache".into(), source };
        let set = |settings: Settings| cache.set(settings).map_err(system);
        let said = match action {
            CacheAction::WriteBack { forced: false } if !now.has_battery => {
                return Err(OperateError::NoBattery);
            }
            CacheAction::WriteBack { forced } => {
                set(Settings { is_write_back: true, is_forced: forced, ..now })?;
                let text =
                    if now.has_battery { "write-back" } else { "write-back without a battery, forced" };
                self.say(Severity::Information, format!("write cache: {text}"));
                format!("write cache: {text}")
            }
            CacheAction::WriteThrough => {
                set(Settings { is_write_back: false, is_forced: false, ..now })?;
                let text = "write cache: write-through";
                self.say(Severity::Information, text);
                self.emptied(cache).unwrap_or_else(|why| format!("{text}; {why}"))
            }
            CacheAction::Flush => self.emptied(cache)?,
            CacheAction::BatteryGood => {
                let emptied = self.emptied(cache);
                // What stays is saved before the battery is relied on. What was forced was forced for want of it.
                set(Settings { has_battery: true, is_forced: false, ..now })?;
                let text = "write cache: battery good";
                self.say(Severity::Information, text);
                emptied.map_or_else(|why| format!("{text}; {why}"), |_| text.into())
            }
            CacheAction::BatteryDead => {
                let dirty = Bytes::new(cache.dirty());
                // What was flushed under the battery is not lost without it: it dies once that is on the drives.
                cache.pause(true);
                let emptied = self.emptied(cache);
                let is_set = set(Settings { has_battery: false, ..now });
                cache.pause(false);
                is_set?;
                let now = match cache.takes_writes() {
                    true => "write-back continues without it, forced",
                    false => "write-through",
                };
                let text = match &emptied {
                    Ok(_) => {
                        format!("write cache: {dirty} flushed to the drives, then the battery failed; {now}")
                    }
                    Err(_) => format!(
                        "write cache: battery failed with {} not on the drives; {now}",
                        Bytes::new(cache.dirty())
                    ),
                };
                self.say(Severity::Critical, text.clone());
                match emptied {
                    Ok(emptied) if !cache.takes_writes() => emptied,
                    Ok(_) => text,
                    Err(why) => format!("{text}; {why}"),
                }
            }
            CacheAction::PowerLoss => self.lose_power(cache).map_err(system)?,
        };
        Ok(said)
    }

    fn lose_power(&self, cache: &WriteCache) -> io::Result<String> {
        let _alone = cache.alone();
        let dirty = Bytes::new(cache.dirty());
        let scratch = std::cell::RefCell::new(Scratch::default());
        self.say(Severity::Critical, "power failed, and came back");
        let lost = cache.lose_power(|set, lba, into| {
            self.sets[set as usize].read(&mut scratch.borrow_mut(), lba, into, self)
        })?;
        if cache.settings().has_battery {
            let text = format!("write cache: the battery has kept {dirty}");
            self.say(Severity::Information, text.clone());
            return Ok(text);
        }
        self.say_lost(&lost);
        Ok(match lost.is_empty() {
            true => "write cache: nothing was in it that the drives do not have".into(),
            false => format!("write cache: {} lost; `fathom array cache` names them", total(&lost)),
        })
    }

    /// A controller goes that others had copies of their writes on.
    pub(super) fn partner_lost(&self) {
        let Some(cache) = &self.cache else { return };
        if self.shape.front.is_mirrored {
            self.say(Severity::Warning, "write cache: no partner to mirror to; write-through");
            cache.set_partner(false);
        }
        if let Err(why) = self.destage_all(cache, None) {
            self.say_stays(cache, "stay in it", why);
        }
    }

    /// All controllers work.
    pub(super) fn partner_back(&self) {
        let Some(cache) = self.cache.as_ref().filter(|_| self.shape.front.is_mirrored) else { return };
        cache.set_partner(true);
        if cache.takes_writes() {
            self.say(Severity::Information, "write cache: mirrored again; write-back");
        }
    }

    fn emptied(&self, cache: &WriteCache) -> Result<String, OperateError> {
        let dirty = Bytes::new(cache.dirty());
        self.destage_all(cache, None).map_err(|why| OperateError::Stays {
            stays: Bytes::new(cache.dirty()),
            why: self.not_taken(why),
        })?;
        Ok(format!("write cache: {dirty} written to the drives; it is empty"))
    }

    /// Why drives do not take what the cache has.
    fn not_taken(&self, why: Fault) -> String {
        let has_failed = |set: &SetStore| has_failed(set.geometry(), &set.state().health);
        match why {
            Fault::Lost if self.sets.iter().any(has_failed) => "a set has failed and takes nothing".into(),
            Fault::Lost => "a stripe has lost more than its RAID level survives, and takes nothing".into(),
            why => why.to_string(),
        }
    }

    /// What becomes of what could not be written to the drives.
    pub(super) fn say_stays(&self, cache: &WriteCache, becomes: &str, why: Fault) {
        let dirty = Bytes::new(cache.dirty());
        self.say(Severity::Critical, format!("write cache: {dirty} {becomes}: {}", self.not_taken(why)));
    }

    fn say_lost(&self, lost: &[SectorRange]) {
        if lost.is_empty() {
            return;
        }
        let ranges = self.on_luns(lost);
        let mut luns: Vec<u32> = ranges.iter().map(|range| range.lun).collect();
        debug_assert!(luns.is_sorted(), "a LUN that came twice would count one loss as two");
        luns.dedup();
        luns.iter().for_each(|&lun| {
            self.losses[lun as usize].fetch_add(1, Ordering::AcqRel);
        });
        let text = format!("write cache: {} lost in {} ranges", total(lost), ranges.len());
        self.say(Severity::Critical, text);
        for LostRange { lun, offset, bytes } in ranges.iter().take(LINES) {
            let text = format!("lun{lun}: lost: {} from byte {offset} on", Bytes::new(*bytes));
            self.say(Severity::Critical, text);
        }
        if ranges.len() > LINES {
            let text =
                format!("{} more ranges are lost: `fathom array cache` names them", ranges.len() - LINES);
            self.say(Severity::Critical, text);
        }
    }

    pub(super) fn on_luns(&self, places: &[SectorRange]) -> Vec<LostRange> {
        let part = |place: &SectorRange, number: u32, lun: &super::Lun| {
            let first = place.lba.max(lun.start);
            let end = (place.lba + place.sectors).min(lun.start + lun.sectors);
            (place.set == lun.set && first < end).then(|| LostRange {
                lun: number,
                offset: (first - lun.start) * SECTOR_BYTES,
                bytes: (end - first) * SECTOR_BYTES,
            })
        };
        let luns = (0_u32..).zip(&self.shape.luns);
        luns.flat_map(|(number, lun)| places.iter().filter_map(move |place| part(place, number, lun)))
            .collect()
    }
}

fn total(places: &[SectorRange]) -> Bytes {
    Bytes::new(places.iter().map(|place| place.sectors * SECTOR_BYTES).sum())
}
