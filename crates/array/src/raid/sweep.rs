//! Background work: a pass over the members from their first used sector to the last, unit by unit.
//!
//! A sweep plans its units and remembers which are under way; who carries them out, how many at once and how fast,
//! is not its business.
//!
//! **Consistency with the host's writes.** Three rules keep a rebuilt or copied disk right: behind the mark
//! `reached` writes go to the new disk too, ahead of it they do not (the sweep brings them along), and a write that
//! touches a unit under way ([`Sweep::holds`]) waits for that unit. The caller passes both marks to
//! [`Health::progress`] after each [`Sweep::next`] and [`Sweep::settle`], [`Sweep::done_to`] to
//! [`Health::parity_built_to`] while parity is built.
//!
//! **Invariant:** units come in ascending order, without gaps, each once.

use units::convert::narrow;
use units::{Bytes, Lba, Sectors, Share};

use super::error::PlanError;
use super::geometry::{Geometry, Kind, Row, Spot};
use super::health::{Health, MemberState};
use super::plan::{Arithmetic, Candidate, Method, Plan, Role, Solve, Step, Stripe};
use super::planner::push_write;

/// What a sweep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// Fills all members with zeros, which makes parity right and erases the set.
    Zero {
        /// Reads every unit back and compares.
        verify: bool,
    },
    /// Computes parity, or the other copies, from the data that is there: the initialisation under load.
    BuildParity {
        /// Reads every unit back and compares.
        verify: bool,
    },
    /// Fills the disk that took over a failed slot.
    Rebuild {
        /// The slot.
        slot: u16,
    },
    /// Copies a slot's disk to the one that [`Health::clone_to`] named.
    Clone {
        /// The slot.
        slot: u16,
    },
    /// Reads everything and compares data with redundancy (a scrub). Writes nothing.
    Verify,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Zero { .. } => "initialise with zeros",
            Task::BuildParity { .. } => "build redundancy",
            Task::Rebuild { .. } => "rebuild",
            Task::Clone { .. } => "clone",
            Task::Verify => "verify",
        }
    }
}

/// A range of member addresses that is worked on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// First sector on each member.
    pub lba: Lba,
    /// How many.
    pub sectors: Sectors,
}

/// One pass of background work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    task: Task,
    unit: u64,
    start: u64,
    next: u64,
    end: u64,
    open: Vec<Unit>,
}

impl Sweep {
    /// A pass over all that is used of the members, in units of `unit` (for RAID 1E rounded up to pairs of rows).
    ///
    /// Refused where there is nothing to do: no redundancy to build, no disk to rebuild or to copy to, no unit.
    pub fn new(geometry: &Geometry, health: &Health, task: Task, unit: Sectors) -> Result<Sweep, PlanError> {
        possible(geometry, health, task)?;
        if unit.0 == 0 {
            return Err(refuse(task, "its unit is 0; give at least 512B, commonly 64KiB to 1MiB"));
        }
        let pair = 2 * geometry.chunk;
        let unit = if geometry.kind == Kind::Shifted { unit.0.div_ceil(pair) * pair } else { unit.0 };
        assert!(unit > 0 && geometry.member_used().0 > 0, "a pass must have units");
        Ok(Sweep { task, unit, start: 0, next: 0, end: geometry.member_used().0, open: Vec::new() })
    }

    /// The same pass over `[from, to)` alone: to go on after a stop, or to repair a part.
    ///
    /// Widened to whole units and cut to what is used of the members.
    pub fn between(mut self, from: Lba, to: Lba) -> Sweep {
        self.start = from.0.min(self.end) / self.unit * self.unit;
        self.end =
            to.0.min(self.end).div_ceil(self.unit).saturating_mul(self.unit).clamp(self.start, self.end);
        self.next = self.start;
        assert!(self.start <= self.end, "a pass must not end before it begins");
        self
    }

    /// What it does.
    pub fn task(&self) -> Task {
        self.task
    }

    /// Plans the next unit into `plan`, replacing what it held; `None` when all have been planned.
    ///
    /// `choose` picks the copy to read of a mirrored set. An error leaves the sweep where it was.
    pub fn next(
        &mut self,
        geometry: &Geometry,
        health: &Health,
        choose: impl FnMut(&[Candidate]) -> usize,
        plan: &mut Plan,
    ) -> Result<Option<Unit>, PlanError> {
        plan.clear();
        let Some(unit) = self.ahead() else { return Ok(None) };
        let planned = possible(geometry, health, self.task)
            .and_then(|()| UnitPlan { geometry, health, plan: &mut *plan, unit }.plan(self.task, choose));
        if let Err(error) = planned {
            plan.clear();
            return Err(error);
        }
        debug_assert!(plan.is_consistent(), "the steps of each stripe must stand together");
        debug_assert!(
            self.open.iter().all(|open| open.lba + open.sectors <= unit.lba),
            "units must come in ascending order, each once",
        );
        self.open.push(unit);
        self.next += unit.sectors.0;
        debug_assert!(self.next <= self.end, "no unit may end behind what is used of the members");
        Ok(Some(unit))
    }

    /// The unit that [`Sweep::next`] plans next; `None` when all have been planned.
    pub fn ahead(&self) -> Option<Unit> {
        let left = self.end.saturating_sub(self.next);
        let sectors = Sectors(self.unit.min(left));
        (left > 0).then_some(Unit { lba: Lba(self.next), sectors })
    }

    /// Says that a unit has been carried out. A unit that is not under way is ignored.
    pub fn settle(&mut self, unit: Unit) {
        self.open.retain(|open| *open != unit);
    }

    /// Forgets the units under way, so that they are planned again: a disk that they read or write has failed.
    pub fn abandon(&mut self) {
        self.next = self.done_to().0;
        self.open.clear();
    }

    /// Below this everything has been carried out.
    pub fn done_to(&self) -> Lba {
        self.open.iter().map(|unit| unit.lba).min().unwrap_or(Lba(self.next))
    }

    /// Below this everything has been planned.
    pub fn reached(&self) -> Lba {
        Lba(self.next)
    }

    /// Whether every unit has been planned and carried out.
    pub fn is_done(&self) -> bool {
        self.next >= self.end && self.open.is_empty()
    }

    /// The share of the pass that has been carried out without a gap.
    pub fn done(&self) -> Share {
        let (done, all) = (self.done_to().0 - self.start, self.end - self.start);
        debug_assert!(done <= all, "no more can be done than there is");
        let share = if all == 0 { 1.0 } else { done as f64 / all as f64 };
        Share::new(share).expect("the mark lies between start and end")
    }

    /// Whether a host write of these sectors touches a unit under way and has to wait for it.
    ///
    /// By whole rows for a request of more than one strip, so it can hold back a little more than it must.
    pub fn holds(&self, geometry: &Geometry, lba: Lba, sectors: Sectors) -> bool {
        if self.open.is_empty() || sectors.0 == 0 {
            return false;
        }
        let (from, to) = geometry.member_span(lba, sectors);
        self.open.iter().any(|unit| from < unit.lba + unit.sectors && unit.lba < to)
    }
}

fn refuse(task: Task, reason: &'static str) -> PlanError {
    PlanError::NothingToDo { task: task.name(), reason }
}

fn possible(geometry: &Geometry, health: &Health, task: Task) -> Result<(), PlanError> {
    let redundant = geometry.spec().level.survives(geometry.spec().members) > 0;
    let exists = |slot: u16| u32::from(slot) < geometry.spec().members;
    match task {
        Task::Zero { .. } => Ok(()),
        Task::BuildParity { .. } | Task::Verify if !redundant => {
            Err(refuse(task, "the set has no redundancy; use RAID 1, 1E, 10, 5, 6, 50 or 60"))
        }
        Task::BuildParity { .. } | Task::Verify if !health.is_optimal() => {
            Err(refuse(task, "a member has failed or is rebuilding; finish the rebuild first"))
        }
        Task::BuildParity { .. } | Task::Verify => Ok(()),
        Task::Rebuild { slot } | Task::Clone { slot } if !exists(slot) => {
            Err(refuse(task, "the set has no slot of that number"))
        }
        Task::Rebuild { .. } if !redundant => {
            Err(refuse(task, "the set has no redundancy to rebuild from; restore from a backup"))
        }
        Task::Rebuild { slot } => match health.state(slot) {
            MemberState::Rebuilding { .. } => Ok(()),
            _ => Err(refuse(task, "the slot has no empty disk; fail it and give it a spare first")),
        },
        Task::Clone { slot } => match health.twin(slot) {
            Some(_) => Ok(()),
            None => Err(refuse(task, "the slot has no disk to copy to; name one first")),
        },
    }
}

/// The planning of one unit.
struct UnitPlan<'a> {
    geometry: &'a Geometry,
    health: &'a Health,
    plan: &'a mut Plan,
    unit: Unit,
}

impl<'a> UnitPlan<'a> {
    fn plan(mut self, task: Task, choose: impl FnMut(&[Candidate]) -> usize) -> Result<(), PlanError> {
        match (task, self.geometry.kind) {
            (Task::Zero { verify }, _) => self.zero(verify),
            (Task::Clone { slot }, _) => self.clone(slot),
            (Task::Verify, _) => self.verify(),
            (Task::BuildParity { verify }, Kind::Parity(parity)) => self.build(parity, verify)?,
            (Task::BuildParity { verify }, _) => self.copy_all(verify),
            (Task::Rebuild { slot }, Kind::Parity(parity)) => self.rebuild(slot, parity)?,
            (Task::Rebuild { slot }, _) => self.copy_back(slot, choose)?,
        }
        Ok(())
    }

    fn zero(&mut self, verify: bool) {
        for group in 0..self.geometry.groups() {
            let start = self.starts();
            for slot in self.slots(group) {
                let role = Role::Column(narrow::<u16>(slot));
                push_write(self.health, slot, self.unit.lba.0, self.unit.sectors.0, role, None, self.plan);
            }
            self.stripe(group, Method::Zero, Arithmetic::default(), start, verify);
        }
    }

    fn clone(&mut self, slot: u16) {
        let start = self.starts();
        self.read(slot.into());
        if let Some(twin) = self.health.twin(slot) {
            self.plan.writes.push(self.step(twin, Role::Column(slot)));
        }
        let group = self.geometry.group_of(slot);
        self.stripe(group, Method::Copy, Arithmetic::default(), start, false);
    }

    fn verify(&mut self) {
        for group in 0..self.geometry.groups() {
            let start = self.starts();
            for slot in self.slots(group) {
                self.read(slot);
            }
            let arithmetic = match self.geometry.kind {
                Kind::Parity(_) => self.arithmetic(self.geometry.width),
                _ => Arithmetic::default(),
            };
            self.stripe(group, Method::Verify, arithmetic, start, false);
        }
    }

    fn build(&mut self, parity: u32, verify: bool) -> Result<(), PlanError> {
        for group in 0..self.geometry.groups() {
            for (row, from, to) in self.row_parts(group) {
                self.geometry.build_row(self.health, parity, &row, (from, to), self.plan)?;
                if verify {
                    self.check_last();
                }
            }
        }
        Ok(())
    }

    /// Reads just enough survivors and writes the column. Where one more could be read, each is left out in turn.
    fn rebuild(&mut self, slot: u16, parity: u32) -> Result<(), PlanError> {
        let group = self.geometry.group_of(slot);
        let end = self.unit.lba.0 + self.unit.sectors.0;
        let needed = self.geometry.width - parity;
        let readable = |work: &Self, other: u32| other != u32::from(slot) && work.health.can_read(other, end);
        let survivors = narrow::<u32>(self.slots(group).filter(|&other| readable(self, other)).count());
        if survivors < needed || !self.health.has_parity(end) {
            return Err(self.geometry.lost(group));
        }
        let turn = self.unit.lba.0 / self.unit.sectors.0;
        let left_out =
            if survivors > needed { narrow::<u32>(turn % u64::from(survivors)) } else { survivors };
        let start = self.starts();
        let mut seen = 0;
        for other in self.slots(group) {
            if readable(self, other) {
                if seen != left_out {
                    self.read(other);
                }
                seen += 1;
            }
        }
        self.plan.writes.push(self.step(self.health.member(slot), Role::Column(slot)));
        self.stripe(group, Method::Rebuild { slot }, self.arithmetic(needed), start, false);
        Ok(())
    }

    /// Fills the other copies from the first one.
    fn copy_all(&mut self, verify: bool) {
        for group in 0..self.geometry.groups() {
            for (spot, sectors) in self.strip_parts(group) {
                let start = self.starts();
                for copy in 0..self.geometry.copies() {
                    let step = self.copy_step(spot, copy, sectors);
                    if copy == 0 { &mut self.plan.reads } else { &mut self.plan.writes }.push(step);
                }
                self.copy_stripe(spot, sectors, start, verify);
            }
        }
    }

    /// Fills one slot from the other copies of what it holds.
    fn copy_back(
        &mut self,
        slot: u16,
        mut choose: impl FnMut(&[Candidate]) -> usize,
    ) -> Result<(), PlanError> {
        for (spot, sectors) in self.strip_parts(self.geometry.group_of(slot)) {
            for copy in 0..self.geometry.copies() {
                if self.geometry.copy_of(spot, copy).0 != u32::from(slot) {
                    continue;
                }
                let start = self.starts();
                let from = self.geometry.choose_copy(self.health, spot, sectors, &mut choose, self.plan)?;
                self.plan.reads.push(self.copy_step(spot, from.copy.into(), sectors));
                let to = self.copy_step(spot, copy, sectors);
                self.plan.writes.push(to);
                self.copy_stripe(spot, sectors, start, false);
            }
        }
        Ok(())
    }

    fn slots(&self, group: u32) -> std::ops::Range<u32> {
        let width = self.geometry.width;
        group * width..(group + 1) * width
    }

    /// The rows that the unit passes through in a parity group, with the part of each.
    fn row_parts(&self, group: u32) -> impl Iterator<Item = (Row, u64, u64)> + use<'a> {
        let geometry = self.geometry;
        let (start, end) = (self.unit.lba.0, self.unit.lba.0 + self.unit.sectors.0);
        (start / geometry.chunk..end.div_ceil(geometry.chunk)).map(move |row| {
            let base = row * geometry.chunk;
            (geometry.row(group, row), start.max(base) - base, end.min(base + geometry.chunk) - base)
        })
    }

    /// The runs whose copies lie in the unit, in a set without parity.
    ///
    /// Rows of a mirrored group follow each other on every copy, so there the unit is one run.
    fn strip_parts(&self, group: u32) -> impl Iterator<Item = (Spot, u64)> + use<'a> {
        let geometry = self.geometry;
        let Unit { lba: Lba(at), sectors: Sectors(sectors) } = self.unit;
        let shifted = geometry.kind == Kind::Shifted;
        let pair = 2 * geometry.chunk;
        let rows = if shifted { at / pair..(at + sectors).div_ceil(pair) } else { 0..1 };
        let (strips, offset, run) =
            if shifted { (geometry.width, 0, geometry.chunk) } else { (1, at, sectors) };
        rows.flat_map(move |row| (0..strips).map(move |strip| (Spot { group, row, strip, offset }, run)))
    }

    fn step(&self, member: u16, role: Role) -> Step {
        Step { member, role, lba: self.unit.lba, sectors: self.unit.sectors, host: None }
    }

    fn read(&mut self, slot: u32) {
        let step = self.step(self.health.member(narrow::<u16>(slot)), Role::Column(narrow::<u16>(slot)));
        self.plan.reads.push(step);
    }

    fn copy_step(&self, spot: Spot, copy: u32, sectors: u64) -> Step {
        let (slot, base) = self.geometry.copy_of(spot, copy);
        Step {
            member: self.health.member(narrow::<u16>(slot)),
            role: Role::Copy(narrow::<u16>(copy)),
            lba: Lba(base + spot.offset),
            sectors: Sectors(sectors),
            host: None,
        }
    }

    fn arithmetic(&self, columns: u32) -> Arithmetic {
        let bytes: Bytes = self.unit.sectors.bytes() * u64::from(columns);
        if self.geometry.kind == Kind::Parity(2) {
            Arithmetic { xor: Bytes::ZERO, weighted: bytes }
        } else {
            Arithmetic { xor: bytes, weighted: Bytes::ZERO }
        }
    }

    fn starts(&self) -> (u32, u32) {
        (narrow::<u32>(self.plan.reads.len()), narrow::<u32>(self.plan.writes.len()))
    }

    /// Ends a stripe of columns that began at `start`.
    fn stripe(
        &mut self,
        group: u32,
        method: Method,
        arithmetic: Arithmetic,
        start: (u32, u32),
        verify: bool,
    ) {
        let chunk = self.geometry.chunk;
        let from = Sectors(self.unit.lba.0 % chunk);
        let row = self.unit.lba.0 / chunk;
        self.push_stripe(group, row, (from, from + self.unit.sectors), method, arithmetic, start);
        if verify {
            self.check_last();
        }
    }

    fn copy_stripe(&mut self, spot: Spot, sectors: u64, start: (u32, u32), verify: bool) {
        let span = (Sectors(0), Sectors(sectors));
        self.push_stripe(spot.group, spot.row, span, Method::Copy, Arithmetic::default(), start);
        if verify {
            self.check_last();
        }
    }

    fn push_stripe(
        &mut self,
        group: u32,
        row: u64,
        (from, to): (Sectors, Sectors),
        method: Method,
        arithmetic: Arithmetic,
        (reads, writes): (u32, u32),
    ) {
        let (reads_end, writes_end) = self.starts();
        self.plan.stripes.push(Stripe {
            group,
            row,
            from,
            to,
            method,
            solve: Solve::default(),
            arithmetic,
            reads: reads..reads_end,
            writes: writes..writes_end,
            checks: 0..0,
            pieces: 0..0,
        });
    }

    /// Has the writes of the last stripe read back.
    fn check_last(&mut self) {
        let Plan { writes, checks, stripes, .. } = &mut *self.plan;
        let stripe = stripes.last_mut().expect("a stripe was just planned");
        let from = narrow::<u32>(checks.len());
        checks.extend_from_slice(super::plan::slice(writes, &stripe.writes));
        stripe.checks = from..narrow::<u32>(checks.len());
    }
}
