//! Locks of units under background work: while a unit is rebuilt, copied, initialised or compared, nobody writes to it.
//!
//! What a rebuild reads from the survivors and what it writes to the new disk must belong together, so a write to the
//! unit waits until the unit is done, and a unit waits for the writes that are under way in it. RAIDframe does so
//! (`rf_ForceOrBlockRecon` in `rf_reconstruct.c`), and Linux md (`raise_barrier` in `drivers/md/raid1.c`; a stripe of
//! `raid5.c` is rebuilt and written by turns). Reads do not wait: the work changes nothing that a read looks at, which
//! comes from the members that are well (`wait_read_barrier` in `raid1.c`).
//!
//! **Invariant:** a write is planned once nothing holds its place any more, so it finds the members as the work has
//! left them. A unit that waits keeps later writes out, and its turn comes.

use std::collections::VecDeque;

use units::{Instant, Lba};

use crate::latency::Stage;
use crate::meter::Class;
use crate::raid::{Extent, Geometry, PlanError, Unit};

use super::back::{BackEnd, Freed, OperationSpec};
use super::timeline::Timeline;

/// Addresses on the members, first and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemberRange {
    from: Lba,
    to: Lba,
}

impl MemberRange {
    fn of(unit: Unit) -> MemberRange {
        MemberRange { from: unit.lba, to: unit.lba + unit.sectors }
    }

    /// All that a write of `extents`, ascending, can touch.
    fn of_write(geometry: &Geometry, extents: &[Extent]) -> MemberRange {
        let spans = extents.iter().map(|extent| geometry.member_span(extent.lba, extent.sectors));
        let nothing = MemberRange { from: Lba(u64::MAX), to: Lba(0) };
        spans.fold(nothing, |all, (from, to)| MemberRange { from: all.from.min(from), to: all.to.max(to) })
    }

    fn meets(self, other: MemberRange) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// A write that waits.
struct Waiting {
    since: Instant,
    spec: OperationSpec,
    span: MemberRange,
    extents: Vec<Extent>,
}

/// The units of one set that are held, and who waits for them.
#[derive(Default)]
pub struct UnitLocks {
    /// Pieces of work that have not ended.
    works: u32,
    /// What each piece of work, by its number, holds.
    held: Vec<(u32, MemberRange)>,
    /// What it waits for, and keeps later writes out of.
    wanted: Vec<(u32, MemberRange)>,
    /// Writes under way that began beside the work, by their operation.
    writes: Vec<(u32, MemberRange)>,
    waiting: VecDeque<Waiting>,
    /// Buffers of writes that wait no longer.
    spare: Vec<Vec<Extent>>,
}

impl UnitLocks {
    fn is_held(&self, span: MemberRange) -> bool {
        self.held.iter().chain(&self.wanted).any(|(_, held)| held.meets(span))
    }
}

impl BackEnd {
    /// A piece of work on `set` begins: from now on it is known which writes are under way.
    pub fn work_begins(&mut self, set: u32) {
        self.locking.units[set as usize].works += 1;
    }

    /// The work with that number on `set` has ended.
    pub fn work_ends(&mut self, time: &mut Timeline, set: u32, work: u32) {
        let units = &mut self.locking.units[set as usize];
        assert!(units.works > 0, "a piece of work ends once");
        units.works -= 1;
        units.held.retain(|(number, _)| *number != work);
        units.wanted.retain(|(number, _)| *number != work);
        self.let_writes_go(time, set);
        let units = &self.locking.units[set as usize];
        debug_assert!(
            units.works > 0 || units.held.len() + units.wanted.len() + units.waiting.len() == 0,
            "without work nothing is held and no write waits"
        );
    }

    /// The work with that number on `set` may not go on for now: it waits for no unit either.
    pub fn forgo_unit(&mut self, time: &mut Timeline, set: u32, work: u32) {
        let wanted = &mut self.locking.units[set as usize].wanted;
        let before = wanted.len();
        wanted.retain(|(number, _)| *number != work);
        if wanted.len() < before {
            self.let_writes_go(time, set);
        }
    }

    /// Whether `work` has the unit of `set` that it wants next; if not, no write enters the unit any more, and
    /// [`BackEnd::units_are_free`] tells when those under way have left it.
    pub fn hold_unit(&mut self, set: u32, work: u32, unit: Unit) -> bool {
        let (units, span) = (&mut self.locking.units[set as usize], MemberRange::of(unit));
        units.wanted.retain(|(number, _)| *number != work);
        let free = !units.writes.iter().any(|(_, write)| write.meets(span));
        debug_assert!(
            units.held.iter().all(|(number, held)| *number != work || !held.meets(span)),
            "a piece of work must hold each sector once",
        );
        if free { &mut units.held } else { &mut units.wanted }.push((work, span));
        free
    }

    /// A unit of `work` is done: the writes that waited for it alone begin.
    pub fn release_unit(&mut self, time: &mut Timeline, set: u32, work: u32, unit: Unit) {
        self.locking.units[set as usize].held.retain(|held| *held != (work, MemberRange::of(unit)));
        self.let_writes_go(time, set);
    }

    /// Whether a write has left a unit since this was last asked.
    pub fn units_are_free(&mut self) -> bool {
        std::mem::take(&mut self.locking.unit_is_free)
    }

    /// Starts a write of `extents`, ascending and apart, of a set, `is_known` whether all of its stripe is that is not
    /// written; where background work holds what it would touch, as soon as it no longer does. After an error nothing has
    /// been started.
    pub(super) fn write_beside_work(
        &mut self,
        time: &mut Timeline,
        spec: OperationSpec,
        extents: &[Extent],
        is_known: bool,
    ) -> Result<(), PlanError> {
        let units = &mut self.locking.units[spec.set as usize];
        if units.works == 0 {
            return self.write_now(time, spec, extents, is_known).map(drop);
        }
        // Background work has its own idea of what stands on the members: nothing is known beside it.
        let span = MemberRange::of_write(&self.sets[spec.set as usize].geometry, extents);
        if units.is_held(span) {
            let mut kept = units.spare.pop().unwrap_or_default();
            kept.clear();
            kept.extend_from_slice(extents);
            units.waiting.push_back(Waiting { since: time.now(), spec, span, extents: kept });
            self.locking.waits.arrive(time.now());
            return Ok(());
        }
        let operation = self.write_now(time, spec, extents, false)?;
        self.operations[operation].beside_work = Some(spec.set);
        self.locking.units[spec.set as usize].writes.push((operation, span));
        Ok(())
    }

    /// A write that began beside work on `set` has ended.
    pub(super) fn write_left(&mut self, set: u32, operation: u32) {
        let units = &mut self.locking.units[set as usize];
        let Some(at) = units.writes.iter().position(|(number, _)| *number == operation) else { return };
        let (_, span) = units.writes.swap_remove(at);
        self.locking.unit_is_free |= units.is_held(span);
    }

    /// Starts the writes that nothing holds up any more, in order of arrival.
    fn let_writes_go(&mut self, time: &mut Timeline, set: u32) {
        for _ in 0..self.locking.units[set as usize].waiting.len() {
            let units = &mut self.locking.units[set as usize];
            let Some(waiting) = units.waiting.pop_front() else { return };
            if units.is_held(waiting.span) {
                units.waiting.push_back(waiting);
                continue;
            }
            let Waiting { since, spec, extents, .. } = waiting;
            self.locking.waits.begin(time.now());
            self.locking.waits.leave(time.now(), since, time.now(), spec.class);
            let spec = OperationSpec { ready: spec.ready.max(time.now()), ..spec };
            // Meanwhile the set may have lost more than it can.
            let is_lost = self.write_beside_work(time, spec, &extents, false).is_err();
            if is_lost {
                self.unmark(time.now(), spec.mark);
            }
            self.freed.push(Freed { owner: spec.owner, is_lost, stage: Stage::StripeLocks });
            self.locking.units[set as usize].spare.push(extents);
        }
    }

    /// Writes that wait for units: since when, and as what.
    pub(super) fn waiting_for_units(&self) -> impl Iterator<Item = (Instant, Class)> {
        let waiting = self.locking.units.iter().flat_map(|units| &units.waiting);
        waiting.map(|waiting| (waiting.since, waiting.spec.class))
    }
}
