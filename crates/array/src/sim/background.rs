//! Background work in the members' queues: initialise, clone, rebuild, verify, scrub.
//!
//! A piece of work is a closed loop: so many units outstanding, each planned by its sweep and carried out like any
//! operation. What differs is when the next unit may start; that is the policy's to say.
//!
//! **Invariant:** units under way never exceed the window, and each is settled once.

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos, SECTOR_BYTES, Sectors, Share};

use crate::background::{BackgroundKind, BackgroundParams, BackgroundPolicy};
use crate::meter::Class;
use crate::raid::{HealthError, Plan, PlanError, Sweep, Task, Unit, first};

use super::Sim;
use super::back::{OperationSpec, Owner};
use super::event::Event;

/// How long Linux md waits before it looks again whether hosts are quiet.
const MD_PAUSE: Nanos = Nanos::from_millis(500);

/// What is to be done, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    /// What.
    pub kind: BackgroundKind,
    /// To which set.
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
        /// The set.
        set: u32,
    },
    /// Nowhere to copy to.
    #[error("RAID set {set} has no spare to copy to; give the array one")]
    NoSpare {
        /// The set.
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
pub struct BackgroundWork {
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
pub struct UnitInFlight {
    work: u32,
    unit: Option<Unit>,
    launched: Instant,
}

impl Sim {
    /// Starts background work under the figures that the array has for its kind, or plain ones; its number.
    pub fn start_work(&mut self, order: WorkOrder) -> Result<u32, WorkError> {
        self.start_work_as(order, self.work_params(order.kind))
    }

    /// The figures that the array has for a kind of work, or plain ones: a mebibyte at a time, two at once, no control.
    pub fn work_params(&self, kind: BackgroundKind) -> BackgroundParams {
        let own = self.topology.background.iter().find(|params| params.kind == kind).copied();
        own.unwrap_or(BackgroundParams {
            kind,
            unit: Bytes::MIB,
            window: 2,
            policy: BackgroundPolicy::Fifo,
            startup: Share::NONE,
            member_limit: None,
        })
    }

    /// Starts background work under the figures given; its number.
    pub fn start_work_as(&mut self, order: WorkOrder, params: BackgroundParams) -> Result<u32, WorkError> {
        let sets = self.back.sets.len();
        if order.set as usize >= sets {
            return Err(WorkError::NoSuchSet { set: order.set, sets });
        }
        let startup = self.startup(order, params)?;
        let (task, slot) = self.task(order)?;
        let set = &self.back.sets[order.set as usize];
        let unit = Sectors((params.unit.get() / SECTOR_BYTES).max(1));
        let sweep = Sweep::new(&set.geometry, &set.health, task, unit)?;
        let controller =
            self.topology.luns.iter().find(|lun| lun.set == order.set).map_or(0, |lun| lun.owner);
        let window = match params.policy {
            BackgroundPolicy::Tags(share) => self.back.background_tags(order.set, share),
            _ => params.window,
        };
        let params = BackgroundParams { window, ..params };
        self.works.push(BackgroundWork {
            params,
            set: order.set,
            slot,
            sweep,
            controller,
            begun: self.now,
            under_way: 0,
            not_before: self.now + startup,
            wakes_at: Instant::NEVER,
            shortest: Nanos::MAX,
            moved: Bytes::ZERO,
            percents: Vec::with_capacity(100),
            ended: None,
            stops_jobs_at: None,
        });
        let number = narrow::<u32>(self.works.len()) - 1;
        self.back.work_begins(order.set);
        self.pump(number);
        Ok(number)
    }

    /// What precedes the first unit: a share of the whole work's own time, which a trial on an idle array gives.
    fn startup(&self, order: WorkOrder, params: BackgroundParams) -> Result<Nanos, WorkError> {
        if params.startup.get() <= 0.0 {
            return Ok(Nanos::ZERO);
        }
        let whole = self.work_alone(order, BackgroundParams { startup: Share::NONE, ..params }, 10)?;
        let last = whole.last().copied().unwrap_or(Nanos::ZERO);
        Ok(Nanos::new(truncated(last.get() as f64 * params.startup.get())))
    }

    /// When each whole percent would be reached if nothing else went on: from `samples` places of the pass instead
    /// of all of it, which takes milliseconds where the whole takes minutes. Figures between two samples lie on a
    /// straight line.
    ///
    /// The array itself is left as it is.
    pub fn work_alone(
        &self,
        order: WorkOrder,
        params: BackgroundParams,
        samples: u32,
    ) -> Result<Vec<Nanos>, WorkError> {
        let startup = self.startup(order, params)?;
        let samples = samples.clamp(1, 100);
        let mut pace = Vec::with_capacity(samples as usize);
        for sample in 0..samples {
            let at = (f64::from(sample) + 0.5) / f64::from(samples);
            pace.push(self.pace_at(order, params, at)?);
        }
        let mut elapsed = startup.get() as f64;
        Ok((0..100)
            .map(|percent| {
                let at = (f64::from(percent) + 0.5) / 100.0 * f64::from(samples) - 0.5;
                let left = truncated::<usize>(at.max(0.0)).min(pace.len() - 1);
                let right = (left + 1).min(pace.len() - 1);
                let part = (at - left as f64).clamp(0.0, 1.0);
                elapsed += (pace[left] + (pace[right] - pace[left]) * part) / 100.0;
                Nanos::new(truncated(elapsed))
            })
            .collect())
    }

    /// Nanoseconds that the whole pass would take at the pace it has at `at` of the way.
    fn pace_at(&self, order: WorkOrder, params: BackgroundParams, at: f64) -> Result<f64, WorkError> {
        let topology = super::Topology { failed: Vec::new(), ..self.topology.clone() };
        let Ok(mut trial) = Sim::new(&topology, 0) else { return Ok(0.0) };
        for (set, own) in trial.back.sets.iter_mut().zip(&self.back.sets) {
            set.health = own.health.clone();
        }
        let number = trial.start_work_as(order, BackgroundParams { startup: Share::NONE, ..params })?;
        trial.events.clear();
        let work = &mut trial.works[number as usize];
        let used = trial.back.sets[order.set as usize].geometry.member_used().0;
        let unit = (params.unit.get() / SECTOR_BYTES).max(1);
        let units = (4 * u64::from(params.window)).max(48);
        let from = truncated::<u64>(used as f64 * at).min(used.saturating_sub(units * unit));
        work.sweep.abandon();
        work.sweep = work.sweep.clone().between(units::Lba(from), units::Lba(from + units * unit));
        (work.under_way, work.wakes_at) = (0, Instant::NEVER);
        trial.restart_back();
        trial.pump(number);
        let mut ends = Vec::with_capacity(narrow::<usize>(units));
        while trial.works[number as usize].ended.is_none() {
            let before = trial.works[number as usize].moved;
            if !trial.step() {
                break;
            }
            if trial.works[number as usize].moved > before {
                ends.push(trial.now);
            }
        }
        // The first units fill the window and find the arms elsewhere.
        let skipped = ends.len() / 4;
        let (Some(&first), Some(&last)) = (ends.get(skipped), ends.last()) else { return Ok(0.0) };
        let counted = (ends.len() - 1 - skipped).max(1) as f64;
        Ok((last - first).get() as f64 / counted * (used as f64 / unit as f64))
    }

    fn task(&mut self, order: WorkOrder) -> Result<(Task, Option<u16>), WorkError> {
        let set = &mut self.back.sets[order.set as usize];
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
                use crate::raid::MemberState;
                let members = narrow::<u16>(set.geometry.spec().members);
                let failed = |slot: &u16| set.health.state(*slot) == MemberState::Failed;
                let rebuilding = |slot: &u16| {
                    !matches!(set.health.state(*slot), MemberState::Optimal | MemberState::Failed)
                };
                let slot = order
                    .slot
                    .or_else(|| (0..members).find(failed))
                    .or_else(|| (0..members).find(rebuilding));
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

    /// How far a piece of work has got; `None` for a number that was never given.
    pub fn work_progress(&self, number: u32) -> Option<WorkProgress> {
        let work = self.works.get(number as usize)?;
        Some(WorkProgress { done: work.sweep.done(), percents: work.percents.clone(), ended: work.ended })
    }

    /// Lets time pass until a piece of work has ended, without any job.
    pub fn finish_work(&mut self, number: u32) {
        while self.works.get(number as usize).is_some_and(|work| work.ended.is_none()) && self.step() {}
    }

    /// Lets time pass without any job until a piece of work has got further than `done`, or has ended.
    pub fn advance_work(&mut self, number: u32, done: Share) {
        let short = |work: &BackgroundWork| work.ended.is_none() && work.sweep.done() <= done;
        while self.works.get(number as usize).is_some_and(short) && self.step() {}
    }

    /// Has all jobs stop as soon as a piece of work has reached `done`; what they have in flight ends.
    pub fn stop_jobs_at(&mut self, number: u32, done: Share) {
        if let Some(work) = self.works.get_mut(number as usize) {
            work.stops_jobs_at = Some(done);
        }
    }

    /// Starts as many units as window and policy allow.
    pub(super) fn pump(&mut self, number: u32) {
        let mut plan = std::mem::take(&mut self.work_plan);
        while self.may_start(number) && self.launch_unit(number, &mut plan) {}
        self.work_plan = plan;
    }

    /// Whether the next unit of a piece of work may start now, and has its place for itself.
    fn may_start(&mut self, number: u32) -> bool {
        let due = self.is_due(number);
        let work = &self.works[number as usize];
        let (set, unit) = (work.set, work.sweep.ahead());
        if !due {
            self.back.forgo_unit(self.now, &mut self.events, set, number);
        }
        due && unit.is_none_or(|unit| self.back.hold_unit(set, number, unit))
    }

    /// Whether window and policy let a unit start now; if it is only a matter of time, the work is woken then.
    fn is_due(&mut self, number: u32) -> bool {
        let now = self.now;
        let quiet = self.back.foreground() == 0;
        let work = &mut self.works[number as usize];
        if work.ended.is_some() || work.under_way >= work.params.window.max(1) {
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
            self.events.push(at, Event::Background(number).pack());
        }
        false
    }

    fn launch_unit(&mut self, number: u32, plan: &mut Plan) -> bool {
        let now = self.now;
        let work = &mut self.works[number as usize];
        let set = &mut self.back.sets[work.set as usize];
        let next = work.sweep.next(&set.geometry, &set.health, first, plan);
        let Ok(Some(unit)) = next else {
            if next.is_err() {
                // The set has lost more than the work can do without.
                work.ended = Some(now);
                let set = work.set;
                self.back.work_ends(now, &mut self.events, set, number);
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
        let ceiling = work.params.member_limit.map_or(Nanos::ZERO, |rate| rate.time_for(bytes));
        work.not_before = work.not_before.max(now) + limit.max(ceiling);
        let place = self.units.take();
        self.units[place] = UnitInFlight { work: number, unit: Some(unit), launched: now };
        let (set, controller) = (work.set, work.controller);
        let owner = Owner::Background(place);
        let spec = OperationSpec { set, owner, class: Class::Background, controller, ready: now };
        self.back.launch(now, &mut self.events, spec, plan);
        true
    }

    /// A unit has been carried out.
    pub(super) fn unit_done(&mut self, place: u32) {
        let now = self.now;
        let UnitInFlight { work: number, unit, launched } = self.units[place];
        self.units.give(place);
        let quiet = self.back.foreground() == 0;
        let work = &mut self.works[number as usize];
        let Some(unit) = unit else { return };
        work.sweep.settle(unit);
        mark(work, &mut self.back.sets[work.set as usize]);
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
        let stops = work.stops_jobs_at.is_some_and(|at| work.sweep.done() >= at);
        if stops {
            work.stops_jobs_at = None;
        }
        if work.sweep.is_done() {
            work.ended = Some(now);
            let set = &mut self.back.sets[work.set as usize];
            match (work.sweep.task(), work.slot) {
                (Task::Rebuild { .. } | Task::Clone { .. }, Some(slot)) => set.health.finish(slot),
                (Task::Zero { .. } | Task::BuildParity { .. }, _) => set.health.parity_is_built(),
                _ => {}
            }
        }
        let (set, ended) = (work.set, work.ended.is_some());
        self.back.release_unit(now, &mut self.events, set, number, unit);
        if ended {
            self.back.work_ends(now, &mut self.events, set, number);
        }
        if stops {
            self.stop();
        }
        self.pump(number);
    }

    /// Wakes work that waits for hosts to be quiet, once they are, or for a unit that a write has left.
    pub(super) fn pump_waiting(&mut self) {
        if self.back.foreground() > 0 && !self.back.units_are_free() {
            return;
        }
        for number in 0..narrow::<u32>(self.works.len()) {
            if self.works[number as usize].ended.is_none() {
                self.pump(number);
            }
        }
    }
}

/// Tells the set how far the work has got, so that hosts' requests are planned accordingly.
fn mark(work: &BackgroundWork, set: &mut super::Set) {
    match (work.sweep.task(), work.slot) {
        (Task::Rebuild { .. } | Task::Clone { .. }, Some(slot)) => {
            set.health.progress(slot, work.sweep.done_to(), work.sweep.reached());
        }
        (Task::BuildParity { .. }, _) => set.health.parity_built_to(work.sweep.done_to()),
        _ => {}
    }
}
