//! Background work in the members' queues: initialise, clone, rebuild, verify, scrub.
//!
//! A piece of work is a closed loop: so many units outstanding, each planned by its sweep and carried out like any
//! operation. What differs is when the next unit may start; that is the policy's to say.
//!
//! **Invariant:** units under way never exceed the window, and each is settled once.

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors, Share};

use crate::background::{BackgroundKind, BackgroundParams, BackgroundPolicy};
use crate::meter::Class;
use crate::raid::{HealthError, MemberState, Plan, PlanError, Sweep, Task, Unit, first};
use crate::slab::Slab;

use super::back::{BackEnd, OperationSpec, Owner, Set};
use super::event::Event;
use super::timeline::Timeline;
use crate::topology::LunPlacement;

/// How long Linux md waits before it looks again whether hosts are quiet.
const MD_PAUSE: Nanos = Nanos::from_millis(500);

/// What is to be done, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    /// What.
    pub kind: BackgroundKind,
    /// By its number, from 0.
    pub set: u32,
    /// For a clone or a rebuild: the slot. A rebuild without one takes the first slot that has failed.
    pub slot: Option<u16>,
}

/// Why work could not start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorkError {
    /// No such set.
    #[error("there is no RAID set {set}; the array has {sets}, numbered from 0")]
    NoSuchSet {
        /// Asked for.
        set: u32,
        /// There are.
        sets: usize,
    },
    /// Nothing to rebuild.
    #[error("RAID set {set} has no failed member to rebuild; fail a disk first")]
    NothingFailed {
        /// By its number, from 0.
        set: u32,
    },
    /// Nowhere to copy to.
    #[error("RAID set {set} has no spare to copy to; give the array one")]
    NoSpare {
        /// By its number, from 0.
        set: u32,
    },
    /// The planner refuses.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The set's health refuses.
    #[error(transparent)]
    Health(#[from] HealthError),
}

/// How far a piece of work has got.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkProgress {
    /// The share done.
    pub done: Share,
    /// When each whole percent was reached, counted from the start of the work: 1 % to 100 %.
    pub percents: Vec<Nanos>,
    /// When it ended.
    pub ended: Option<Instant>,
}

/// A piece of work.
struct BackgroundWork {
    params: BackgroundParams,
    set: u32,
    slot: Option<u16>,
    sweep: Sweep,
    controller: u32,
    begun: Instant,
    under_way: u32,
    /// Nothing starts before.
    not_before: Instant,
    /// The wake-up that is in the queue.
    wakes_at: Instant,
    /// The shortest that a unit has taken: its service without company.
    shortest: Nanos,
    moved: Bytes,
    percents: Vec<Nanos>,
    ended: Option<Instant>,
    /// Jobs stop once so much is done.
    stops_jobs_at: Option<Share>,
}

/// A unit under way.
#[derive(Clone, Copy, Debug, Default)]
struct UnitInFlight {
    work: u32,
    unit: Option<Unit>,
    launched: Instant,
}

/// A unit that has ended.
#[derive(Clone, Copy, Debug)]
pub struct UnitEnd {
    /// The work it was a part of, for [`Works::pump`].
    pub work: u32,
    /// Whether jobs are to stop by it.
    pub stops_jobs: bool,
}

/// All background work, by number.
pub struct Works {
    works: Vec<BackgroundWork>,
    units: Slab<UnitInFlight>,
    /// The last plan, for the next.
    plan: Plan,
    /// What it moves of each member, likewise.
    passed: Vec<Sectors>,
    params: Vec<BackgroundParams>,
    luns: Vec<LunPlacement>,
    /// Whether no unit starts: nobody is there to start one.
    stands_still: bool,
}

impl Works {
    /// None yet; the array has figures for those in `params`, and `luns` on its sets.
    pub fn new(params: &[BackgroundParams], luns: &[LunPlacement]) -> Works {
        Works {
            works: Vec::new(),
            units: Slab::new(),
            plan: Plan::new(),
            passed: Vec::new(),
            params: params.to_vec(),
            luns: luns.to_vec(),
            stands_still: false,
        }
    }

    /// Whether there has never been any.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.works.is_empty()
    }

    /// The figures that the array has for a kind of work, or plain ones.
    pub fn params(&self, kind: BackgroundKind) -> BackgroundParams {
        let own = self.params.iter().find(|params| params.kind == kind).copied();
        own.unwrap_or(BackgroundParams {
            kind,
            unit: Bytes::MIB,
            window: 2,
            policy: BackgroundPolicy::Fifo,
            startup: Share::NONE,
            member_limit: None,
        })
    }

    /// Starts background work whose first unit may start after `startup`; its number. Follow with [`Works::pump`].
    pub fn start(
        &mut self,
        now: Instant,
        back: &mut BackEnd,
        order: WorkOrder,
        params: BackgroundParams,
        startup: Nanos,
    ) -> Result<u32, WorkError> {
        let set = &mut back.sets[order.set as usize];
        let (task, slot) = task(set, order)?;
        let unit = Sectors((params.unit.get() / SECTOR_BYTES).max(1));
        let sweep = Sweep::new(&set.geometry, &set.health, task, unit)?;
        let controller = self.luns.iter().find(|lun| lun.set == order.set).map_or(0, |lun| lun.owner);
        let window = match params.policy {
            BackgroundPolicy::Tags(share) => back.background_tags(order.set, share),
            _ => params.window,
        };
        self.works.push(BackgroundWork {
            params: BackgroundParams { window, ..params },
            set: order.set,
            slot,
            sweep,
            controller,
            begun: now,
            under_way: 0,
            not_before: now + startup,
            wakes_at: Instant::NEVER,
            shortest: Nanos::MAX,
            moved: Bytes::ZERO,
            percents: Vec::with_capacity(100),
            ended: None,
            stops_jobs_at: None,
        });
        back.work_begins(order.set);
        Ok(narrow::<u32>(self.works.len()) - 1)
    }

    /// How far a piece of work has got; `None` for a number that was never given.
    pub fn progress(&self, number: u32) -> Option<WorkProgress> {
        let work = self.works.get(number as usize)?;
        Some(WorkProgress { done: work.sweep.done(), percents: work.percents.clone(), ended: work.ended })
    }

    /// Whether a piece of work continues and has got no further than `done`.
    pub fn is_short_of(&self, number: u32, done: Share) -> bool {
        let short = |work: &BackgroundWork| work.ended.is_none() && work.sweep.done() <= done;
        self.works.get(number as usize).is_some_and(short)
    }

    /// Bytes that a piece of work has done of each member.
    pub fn moved(&self, number: u32) -> Bytes {
        self.works[number as usize].moved
    }

    /// Has a piece of work that has just been started do the sectors `from` to `to` of each member instead of all.
    pub fn confine(&mut self, number: u32, from: Lba, to: Lba) {
        debug_assert!(from < to, "there must be something to do");
        let work = &mut self.works[number as usize];
        work.sweep.abandon();
        work.sweep = work.sweep.clone().between(from, to);
        (work.under_way, work.wakes_at) = (0, Instant::NEVER);
    }

    /// Has all jobs stop as soon as a piece of work has reached `done`; what they have in flight ends.
    pub fn stop_jobs_at(&mut self, number: u32, done: Share) {
        if let Some(work) = self.works.get_mut(number as usize) {
            work.stops_jobs_at = Some(done);
        }
    }

    /// Starts as many units as window and policy allow.
    pub fn pump(&mut self, time: &mut Timeline, back: &mut BackEnd, number: u32) {
        while self.may_start(time, back, number) && self.launch_unit(time, back, number) {}
    }

    /// Whether the next unit of a piece of work may start now, and has its place for itself.
    fn may_start(&mut self, time: &mut Timeline, back: &mut BackEnd, number: u32) -> bool {
        let due = self.is_due(time, back, number);
        let work = &self.works[number as usize];
        let (set, unit) = (work.set, work.sweep.ahead());
        if !due {
            back.forgo_unit(time, set, number);
        }
        due && unit.is_none_or(|unit| back.hold_unit(set, number, unit))
    }

    /// Whether window and policy let a unit start now; if it is only a matter of time, the work is woken then.
    fn is_due(&mut self, time: &mut Timeline, back: &BackEnd, number: u32) -> bool {
        let now = time.now();
        let quiet = back.foreground() == 0;
        let work = &mut self.works[number as usize];
        if self.stands_still || work.ended.is_some() || work.under_way >= work.params.window.max(1) {
            return false;
        }
        let mut at = work.not_before;
        match work.params.policy {
            BackgroundPolicy::Idle if !quiet => return false,
            BackgroundPolicy::Md { min, .. } if !quiet => {
                let allowed = min.time_for(work.moved);
                if work.begun + allowed > now {
                    // Below the minimum hosts do not count.
                } else {
                    at = at.max(now + MD_PAUSE);
                }
            }
            _ => {}
        }
        if at <= now {
            return true;
        }
        if at < work.wakes_at || work.wakes_at <= now {
            work.wakes_at = at;
            time.at(at, Event::Background(number));
        }
        false
    }

    fn launch_unit(&mut self, time: &mut Timeline, back: &mut BackEnd, number: u32) -> bool {
        let now = time.now();
        let work = &mut self.works[number as usize];
        let set = &mut back.sets[work.set as usize];
        let next = work.sweep.next(&set.geometry, &set.health, first, &mut self.plan);
        let Ok(Some(unit)) = next else {
            if next.is_err() {
                // The set has lost more than the work can do without.
                work.ended = Some(now);
                back.work_ends(time, work.set, number);
            }
            return false;
        };
        mark(work, set);
        work.under_way += 1;
        debug_assert!(
            work.under_way <= work.params.window.max(1),
            "no more units may be under way than the window"
        );
        let bytes = unit.sectors.bytes();
        let limit = match work.params.policy {
            BackgroundPolicy::Rate(rate) | BackgroundPolicy::Md { max: rate, .. } => rate.time_for(bytes),
            _ => Nanos::ZERO,
        };
        // What is written and read back passes twice.
        let ceiling = work
            .params
            .member_limit
            .map_or(Nanos::ZERO, |rate| rate.time_for(busiest(&self.plan, &mut self.passed).bytes()));
        work.not_before = work.not_before.max(now) + limit.max(ceiling);
        let place = self.units.take();
        self.units[place] = UnitInFlight { work: number, unit: Some(unit), launched: now };
        let BackgroundWork { set, controller, .. } = *work;
        let owner = Owner::Background(place);
        let spec = OperationSpec {
            set,
            owner,
            class: Class::Background,
            controller,
            ready: now,
            flow: Nanos::ZERO,
            mark: None,
        };
        back.launch(time, spec, &self.plan);
        true
    }

    /// A unit has been carried out; `None` for a place that holds none.
    pub fn unit_done(&mut self, time: &mut Timeline, back: &mut BackEnd, place: u32) -> Option<UnitEnd> {
        let now = time.now();
        let UnitInFlight { work: number, unit, launched } = self.units[place];
        self.units.give(place);
        debug_assert!(launched <= now, "a unit must end after it began");
        let quiet = back.foreground() == 0;
        let work = &mut self.works[number as usize];
        let unit = unit?;
        work.sweep.settle(unit);
        let set = &mut back.sets[work.set as usize];
        mark(work, set);
        // Work that cannot go on has ended before the last of its units does.
        let had_ended = work.ended.is_some();
        debug_assert!(work.under_way > 0, "a unit must end once");
        work.under_way -= 1;
        work.moved += unit.sectors.bytes();
        work.shortest = work.shortest.min(now - launched);
        let rest = match work.params.policy {
            BackgroundPolicy::Delay(delay) => delay,
            // While hosts wait too, a unit's time is a share of the disk's: the rest of it is theirs.
            BackgroundPolicy::Share(share) if !quiet && share.get() > 0.0 => {
                let theirs = (1.0 - share.get()) / share.get();
                Nanos::new(truncated(work.shortest.get() as f64 * theirs))
            }
            _ => Nanos::ZERO,
        };
        work.not_before = work.not_before.max(now + rest);
        let percent = truncated::<usize>(work.sweep.done().get() * 100.0 + 1e-9);
        while work.percents.len() < percent {
            work.percents.push(now - work.begun);
        }
        debug_assert!(work.percents.len() <= 100, "no more than all of the work can be done");
        let stops_jobs = work.stops_jobs_at.take_if(|at| work.sweep.done() >= *at).is_some();
        if work.sweep.is_done() {
            debug_assert_eq!(work.under_way, 0, "work is done when its last unit is");
            assert_eq!(work.percents.len(), 100, "work that is done has passed each percent");
            work.ended = Some(now);
            match (work.sweep.task(), work.slot) {
                (Task::Rebuild { .. } | Task::Clone { .. }, Some(slot)) => set.health.finish(slot),
                (Task::Zero { .. } | Task::BuildParity { .. }, _) => set.health.parity_is_built(),
                _ => {}
            }
        }
        back.release_unit(time, work.set, number, unit);
        if work.ended.is_some() && !had_ended {
            back.work_ends(time, work.set, number);
        }
        Some(UnitEnd { work: number, stops_jobs })
    }

    /// Wakes work that waits for hosts to be quiet, once they are, or for a unit that a write has left.
    pub fn pump_waiting(&mut self, time: &mut Timeline, back: &mut BackEnd) {
        if back.foreground() > 0 && !back.units_are_free() {
            return;
        }
        self.pump_all(time, back);
    }

    /// No unit starts from now on, or all that may start do.
    pub fn stand_still(&mut self, time: &mut Timeline, back: &mut BackEnd, stands_still: bool) {
        if std::mem::replace(&mut self.stands_still, stands_still) && !stands_still {
            self.pump_all(time, back);
        }
    }

    fn pump_all(&mut self, time: &mut Timeline, back: &mut BackEnd) {
        for number in 0..narrow::<u32>(self.works.len()) {
            if self.works[number as usize].ended.is_none() {
                self.pump(time, back, number);
            }
        }
    }
}

/// What a plan moves of the member that it moves most of; `passed` is used for the sums.
fn busiest(plan: &Plan, passed: &mut Vec<Sectors>) -> Sectors {
    passed.clear();
    for step in plan.reads().iter().chain(plan.writes()).chain(plan.checks()) {
        let member = usize::from(step.member);
        if passed.len() <= member {
            passed.resize(member + 1, Sectors(0));
        }
        passed[member].0 += step.sectors.0;
    }
    passed.iter().copied().max().unwrap_or(Sectors(0))
}

/// What a set has to do for `order`, and on which slot; spares and fresh disks take their places.
fn task(set: &mut Set, order: WorkOrder) -> Result<(Task, Option<u16>), WorkError> {
    Ok(match order.kind {
        BackgroundKind::Initialise => (Task::Zero { verify: false }, None),
        BackgroundKind::InitialiseVerify => (Task::Zero { verify: true }, None),
        BackgroundKind::InitialiseOnline => (Task::BuildParity { verify: false }, None),
        BackgroundKind::Verify | BackgroundKind::Scrub => (Task::Verify, None),
        BackgroundKind::Clone => {
            let slot = order.slot.unwrap_or(0);
            if set.health.twin(slot).is_none() {
                let spare = set.health.spares().next().ok_or(WorkError::NoSpare { set: order.set })?;
                set.health.clone_to(slot, u32::from(spare))?;
            }
            (Task::Clone { slot }, Some(slot))
        }
        BackgroundKind::Rebuild => {
            let members = narrow::<u16>(set.geometry.spec().members);
            let failed = |slot: &u16| set.health.state(*slot) == MemberState::Failed;
            let rebuilding =
                |slot: &u16| !matches!(set.health.state(*slot), MemberState::Optimal | MemberState::Failed);
            let slot =
                order.slot.or_else(|| (0..members).find(failed)).or_else(|| (0..members).find(rebuilding));
            let slot = slot.ok_or(WorkError::NothingFailed { set: order.set })?;
            if failed(&slot) {
                if set.health.spares().next().is_some() {
                    set.health.rebuild_on_spare(slot)?;
                } else {
                    // A fresh disk in the same bay.
                    let member = u32::from(set.health.member(slot));
                    set.health.clear(member)?;
                    set.health.rebuild_on(slot, member)?;
                }
            }
            (Task::Rebuild { slot }, Some(slot))
        }
    })
}

/// Tells the set how far the work has got, so that hosts' requests are planned accordingly.
fn mark(work: &BackgroundWork, set: &mut Set) {
    match (work.sweep.task(), work.slot) {
        (Task::Rebuild { .. } | Task::Clone { .. }, Some(slot)) => {
            set.health.progress(slot, work.sweep.done_to(), work.sweep.reached());
        }
        (Task::BuildParity { .. }, _) => set.health.parity_built_to(work.sweep.done_to()),
        _ => {}
    }
}
