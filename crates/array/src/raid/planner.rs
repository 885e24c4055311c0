//! From a request to the steps of the members: the entry to planning, and the levels without parity.
//!
//! **Invariant:** planning is a function of geometry, health and request; it reads no clock and does no I/O.

use units::convert::narrow;
use units::{Lba, Sectors};

use super::error::PlanError;
use super::geometry::{Geometry, Kind, MemberSector, Spot};
use super::health::{Health, MemberState};
use super::plan::{Candidate, Plan, Role, Step};

/// A run of host sectors, for writes that gather several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First sector.
    pub lba: Lba,
    /// How many.
    pub sectors: Sectors,
}

/// Always the first place: for levels without copies, and where the choice does not matter.
pub fn first(_: &[Candidate]) -> usize {
    0
}

impl Geometry {
    /// Plans a read into `plan`, replacing what it held.
    ///
    /// Where a strip has more than one good copy, `choose` is given all of them and returns the number of the one
    /// to read (panics beyond the last). No sectors give an empty plan. After an error the plan is empty.
    pub fn plan_read(
        &self,
        health: &Health,
        lba: Lba,
        sectors: Sectors,
        mut choose: impl FnMut(&[Candidate]) -> usize,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        plan.clear();
        self.check(lba, sectors)?;
        let planned = match self.kind {
            Kind::Parity(_) => self.read_rows(health, lba, sectors, plan),
            Kind::Copies | Kind::Shifted => self.read_copies(health, lba, sectors, &mut choose, plan),
        };
        debug_assert!(
            planned.is_err() || plan.is_consistent(),
            "the steps of each stripe must stand together"
        );
        debug_assert!(planned.is_err() || plan.writes.is_empty(), "a read must write nothing");
        planned.inspect_err(|_| plan.clear())
    }

    /// The disk, and the address there, of a read that is one command and needs no plan: all of it lies in one strip,
    /// which has one place, and that is well. `None` says nothing but that it is to be planned.
    #[inline]
    pub fn lone_read(&self, health: &Health, lba: Lba, sectors: Sectors) -> Option<(u16, Lba)> {
        self.check(lba, sectors).ok()?;
        let spot = self.spot(lba);
        let has_one_place = matches!(self.kind, Kind::Parity(_)) || self.copies() == 1;
        let is_inside = sectors.0 > 0 && spot.offset + sectors.0 <= self.chunk;
        if !has_one_place || !is_inside {
            return None;
        }
        let MemberSector { slot, lba } = self.place_of(spot);
        health.can_read(slot.into(), lba.0 + sectors.0).then(|| (health.member(slot), lba))
    }

    /// Plans a write into `plan`, replacing what it held.
    ///
    /// Every live copy and every live parity strip is written. No sectors give an empty plan. After an error the
    /// plan is empty.
    pub fn plan_write(
        &self,
        health: &Health,
        lba: Lba,
        sectors: Sectors,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        self.plan_gathered(health, &[Extent { lba, sectors }], plan)
    }

    /// Plans the write of several runs at once, so that runs in the same stripe share its parity.
    ///
    /// `extents` are in ascending order and do not overlap (a write cache's dirty runs); the host's buffer holds
    /// them one after the other. Otherwise as [`Geometry::plan_write`].
    pub fn plan_gathered(
        &self,
        health: &Health,
        extents: &[Extent],
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        plan.clear();
        for extent in extents {
            self.check(extent.lba, extent.sectors)?;
        }
        debug_assert!(
            extents.windows(2).all(|pair| pair[0].lba + pair[0].sectors <= pair[1].lba),
            "the extents of a write must ascend and not overlap",
        );
        let planned = match self.kind {
            Kind::Parity(parity) => self.write_rows(health, parity, extents, plan),
            Kind::Copies | Kind::Shifted => self.write_copies(health, extents, plan),
        };
        debug_assert!(
            planned.is_err() || plan.is_consistent(),
            "the steps of each stripe must stand together"
        );
        planned.inspect_err(|_| plan.clear())
    }

    fn read_copies(
        &self,
        health: &Health,
        lba: Lba,
        sectors: Sectors,
        choose: &mut impl FnMut(&[Candidate]) -> usize,
        plan: &mut Plan,
    ) -> Result<(), PlanError> {
        let mut spot = self.spot(lba);
        let mut host = 0;
        while host < sectors.0 {
            let part = (self.chunk - spot.offset).min(sectors.0 - host);
            let chosen = self.choose_copy(health, spot, part, choose, plan)?;
            let role = if self.copies() == 1 { Role::Data(0) } else { Role::Copy(chosen.copy) };
            plan.reads.push(Step {
                member: chosen.member,
                role,
                lba: chosen.lba,
                sectors: Sectors(part),
                host: Some(Sectors(host)),
            });
            host += part;
            self.next_strip(&mut spot);
        }
        Ok(())
    }

    /// The copy of `sectors` at `spot` to read, chosen among the good ones.
    #[inline]
    pub(super) fn choose_copy(
        &self,
        health: &Health,
        spot: Spot,
        sectors: u64,
        choose: &mut impl FnMut(&[Candidate]) -> usize,
        plan: &mut Plan,
    ) -> Result<Candidate, PlanError> {
        plan.candidates.clear();
        for copy in 0..self.copies() {
            let (slot, base) = self.copy_of(spot, copy);
            let lba = base + spot.offset;
            if health.can_read(slot, lba + sectors) {
                let member = health.member(narrow::<u16>(slot));
                plan.candidates.push(Candidate { member, copy: narrow::<u16>(copy), lba: Lba(lba) });
            }
        }
        match plan.candidates.len() {
            0 => Err(self.lost(spot.group)),
            1 => Ok(plan.candidates[0]),
            _ => Ok(plan.candidates[choose(&plan.candidates)]),
        }
    }

    fn write_copies(&self, health: &Health, extents: &[Extent], plan: &mut Plan) -> Result<(), PlanError> {
        let mut host = 0;
        for extent in extents {
            let mut spot = self.spot(extent.lba);
            let end = host + extent.sectors.0;
            while host < end {
                let sectors = (self.chunk - spot.offset).min(end - host);
                // What goes to no copy that can be read is kept by none.
                let is_kept = health.is_clean(spot.group)
                    || (0..self.copies()).any(|copy| {
                        let (slot, base) = self.copy_of(spot, copy);
                        health.can_read(slot, base + spot.offset + sectors)
                    });
                if !is_kept {
                    return Err(self.lost(spot.group));
                }
                for copy in 0..self.copies() {
                    let (slot, base) = self.copy_of(spot, copy);
                    let role =
                        if self.copies() == 1 { Role::Data(0) } else { Role::Copy(narrow::<u16>(copy)) };
                    let host = Some(Sectors(host));
                    push_write(health, slot, base + spot.offset, sectors, role, host, plan);
                }
                host += sectors;
                self.next_strip(&mut spot);
            }
        }
        Ok(())
    }

    /// Copies of every strip of a level without parity.
    #[inline]
    pub(super) fn copies(&self) -> u32 {
        if self.kind == Kind::Shifted { 2 } else { self.width }
    }

    /// Slot of one copy of the strip at `spot`, and the strip's address there.
    #[inline]
    pub(super) fn copy_of(&self, spot: Spot, copy: u32) -> (u32, u64) {
        debug_assert!(copy < self.copies(), "the level must have so many copies");
        if self.kind == Kind::Shifted {
            let slot = spot.strip + copy;
            let slot = if slot == self.width { 0 } else { slot };
            return (slot, (2 * spot.row + u64::from(copy)) * self.chunk);
        }
        (spot.group * self.width + copy, spot.row * self.chunk)
    }

    /// What has failed for good: of the first group that has fewer whole members than its data need, the error that a
    /// request gets. `None` while every sector can be read. A member that is being rebuilt is not whole.
    pub fn failure(&self, health: &Health) -> Option<PlanError> {
        let groups = self.spec().members / self.group_width();
        (0..groups).find(|group| self.has_group_failed(health, *group)).map(|group| self.lost(group))
    }

    /// Whether a group has fewer whole members than its data need. Panics for a group that the set does not have.
    pub fn has_group_failed(&self, health: &Health, group: u32) -> bool {
        let first = group * self.group_width();
        let is_gone = |slot: u32| health.state(narrow::<u16>(slot)) != MemberState::Optimal;
        let gone = (first..first + self.group_width()).filter(|slot| is_gone(*slot)).count();
        match self.kind {
            Kind::Parity(parity) => gone > parity as usize,
            Kind::Copies => gone == self.group_width() as usize,
            Kind::Shifted => (0..self.width).any(|slot| {
                let next = if slot + 1 == self.width { 0 } else { slot + 1 };
                is_gone(first + slot) && is_gone(first + next)
            }),
        }
    }

    pub(super) fn lost(&self, group: u32) -> PlanError {
        PlanError::DataLost { level: self.spec().level, group }
    }
}

/// Adds the write of a slot to the disks that must have it: its own, and a copy in the making that is past it.
#[inline]
pub(super) fn push_write(
    health: &Health,
    slot: u32,
    lba: u64,
    sectors: u64,
    role: Role,
    host: Option<Sectors>,
    plan: &mut Plan,
) {
    debug_assert!(sectors > 0, "a write must have a length");
    let step = |member| Step { member, role, lba: Lba(lba), sectors: Sectors(sectors), host };
    if health.must_write(slot, lba) {
        plan.writes.push(step(health.member(narrow::<u16>(slot))));
    }
    if let Some(twin) = health.twin_behind(slot, lba) {
        plan.writes.push(step(twin));
    }
}
