//! What is known of writes to each group of a set: what a member that is away may have missed.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use array::raid::{Geometry, Health, Level, MemberState, Plan};
use units::convert::narrow;

use super::{SetStore, slot_of};
use crate::nvram::{Nvram, REGIONS, Record};

/// Of one group.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// How often what hosts read was changed.
    changes: AtomicU64,
    /// Whether some member has refused a write, and may miss it.
    has_refused: AtomicBool,
}

impl SetStore {
    /// How often what hosts read of a group was changed: the same at two times where nothing was written in between. A member that goes
    /// while the state is held for changing has all of it. `None` where a member has refused a write, and may miss it.
    pub fn changes(&self, group: u32) -> Option<u64> {
        let written = &self.written[group as usize];
        (!written.has_refused.load(Ordering::Relaxed)).then(|| written.changes.load(Ordering::Relaxed))
    }

    /// The disk of a slot is lost at generation `since`, nobody writing meanwhile: what is written from now on is what it misses. `None`
    /// where it may have missed something before.
    pub fn lose(&self, slot: u16, since: Option<u64>) {
        let Some(nvram) = &self.common.nvram else { return };
        match since {
            Some(since) => nvram.maps().begin_reach(self.slot_number(slot), since),
            None => nvram.maps().forget_reach(self.slot_number(slot)),
        }
    }

    /// Where on the members of its group ends what the disk of a slot has missed that was lost at generation `since`; beyond every address
    /// where that is not known.
    pub fn reach_since(&self, slot: u16, since: u64) -> u64 {
        let of = |nvram: &Nvram| nvram.maps().reach_since(self.slot_number(slot), since);
        self.common.nvram.as_ref().map_or(u64::MAX, of)
    }

    /// The number of a slot among those of all sets.
    fn slot_number(&self, slot: u16) -> u32 {
        debug_assert!(u32::from(slot) < self.geometry.spec().members, "a slot of the set");
        self.first.slot + u32::from(slot)
    }

    /// The numbers of a group's slots among those of all sets.
    fn slot_numbers(&self, group: u32) -> std::ops::Range<u32> {
        debug_assert!(group < self.geometry.groups(), "a group of the set");
        let of_one = self.geometry.group_width();
        let first = self.first.slot + group * of_one;
        first..first + of_one
    }

    /// The number of a group among those of all sets, by which the controller's memory knows it.
    pub fn number_of(&self, group: u32) -> u32 {
        debug_assert!(group < self.geometry.groups(), "a group of the set");
        self.first.group + group
    }

    /// The groups of the set.
    pub fn groups(&self) -> std::ops::Range<u32> {
        0..self.geometry.groups()
    }

    /// Counts the changes that a plan is about to make. The state is held for looking meanwhile.
    pub(super) fn count_changes(&self, health: &Health, plan: &Plan) {
        for step in plan.writes() {
            self.count(health, step.member, (step.lba + step.sectors).0);
        }
    }

    /// Counts a change to a member that ends at `end` there.
    pub(super) fn count(&self, health: &Health, member: u16, end: u64) {
        for group in self.groups_of(health, member) {
            self.written[group as usize].changes.fetch_add(1, Ordering::Relaxed);
            if let Some(nvram) = &self.common.nvram {
                nvram.maps().raise_reach(self.number_of(group), self.slot_numbers(group), end + self.shift);
            }
        }
    }

    /// All of the set may be changed now.
    pub(super) fn count_all(&self) {
        for group in self.groups() {
            self.written[group as usize].changes.fetch_add(1, Ordering::Relaxed);
        }
        (0..narrow::<u16>(self.geometry.spec().members)).for_each(|slot| self.lose(slot, None));
    }

    /// Remembers that members have refused a write, before the state that it was made with is let go.
    pub(super) fn note_refusals(&self, health: &Health, failed: &[(u16, io::Error)]) {
        for (member, _) in failed {
            for group in self.groups_of(health, *member) {
                self.written[group as usize].has_refused.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Some member may miss what was written, and it is not known which.
    pub(super) fn note_refusal_of_any(&self) {
        self.written.iter().for_each(|written| written.has_refused.store(true, Ordering::Relaxed));
    }

    /// Remembers which regions a record is of.
    pub(super) fn intend(&self, nvram: &Nvram, health: &Health, record: &Record) -> io::Result<()> {
        for (member, lba, change) in record.changes() {
            self.intend_one(nvram, health, member, (lba, lba + change.sectors()))?;
        }
        Ok(())
    }

    /// Remembers that a member is written to from one sector to another.
    pub(super) fn intend_one(
        &self,
        nvram: &Nvram,
        health: &Health,
        member: u16,
        (from, to): (u64, u64),
    ) -> io::Result<()> {
        debug_assert!(
            from < to && to <= self.geometry.member_used().0,
            "no member is written beyond what the set uses"
        );
        for group in self.groups_of(health, member) {
            nvram.maps().intend(self.number_of(group), from / self.region..=(to - 1) / self.region)?;
        }
        Ok(())
    }

    /// The group that a disk is of; every one where it is of none now, and may have been of any.
    fn groups_of(&self, health: &Health, member: u16) -> std::ops::Range<u32> {
        if self.written.len() == 1 {
            return 0..1;
        }
        match self.slot_now_or_last(health, member) {
            Some(slot) => {
                let group = self.geometry.group_of(slot);
                group..group + 1
            }
            None => self.groups(),
        }
    }

    fn slot_now_or_last(&self, health: &Health, member: u16) -> Option<u16> {
        let slots = 0..narrow::<u16>(self.geometry.spec().members);
        let is_home = |slot: u16| health.member(slot) == member && health.state(slot) != MemberState::Failed;
        // Most are where they began.
        if slots.contains(&member) && is_home(member) {
            return Some(member);
        }
        slot_of(&self.geometry, health, member)
            .or_else(|| slots.into_iter().find(|&slot| health.member(slot) == member))
    }
}

/// Sectors of each member in a region of the write-intent map, and by how much a copy of a sector may lie behind it on the next member.
pub(super) fn region_of(geometry: &Geometry) -> (u64, u64) {
    let region = geometry.member_used().0.div_ceil(REGIONS).next_multiple_of(2048);
    if geometry.spec().level != Level::Raid1E {
        return (region, 0);
    }
    // Both copies lie in one row, and so in one region.
    let row = geometry.member_span(units::Lba(0), geometry.full_row()).1.0;
    (region.next_multiple_of(row), row)
}
