//! Background work: rebuild, clone, verify.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use array::raid::{MemberState, Sweep};
use units::convert::narrow;
use units::{BytesPerSecond, Lba};

use super::Machine;
use super::errors::OperateError;
use super::pass::{UNIT, task};
use super::status::PassStatus;
use super::work::{Extent, Work, WorkKind, is_repairing};
use crate::clock::{self, Clock};
use crate::config::{SetWork, Status, WorkConfig};
use crate::events::Severity;
use crate::set::{Findings, is_rebuilding};

/// Work, and the thread that does it.
type Running = (Arc<Work>, Option<JoinHandle<()>>);

/// All of it.
pub struct Works {
    machine: Weak<Machine>,
    running: Mutex<Vec<Running>>,
    /// Work on whole sets that an earlier server, or the end of this one, has interrupted.
    interrupted: Mutex<Vec<WorkConfig>>,
    /// What the last pass of each kind over each slot or set has come to, the oldest first.
    ended: Mutex<Vec<PassStatus>>,
    /// Most bytes a second of one member; 0: no limit.
    rate: AtomicU64,
    /// Of the members' time, for work that begins; `None`: as the model has it.
    share: Mutex<Option<f64>>,
    /// Held by who begins some. Taken before all other locks.
    beginning: Mutex<()>,
    /// Held by who tells what has come of a pass.
    ending: Mutex<()>,
    clock: Clock,
}

impl Works {
    pub(super) fn new(machine: Weak<Machine>) -> Works {
        Works {
            machine,
            running: Mutex::default(),
            interrupted: Mutex::default(),
            ended: Mutex::default(),
            rate: AtomicU64::new(0),
            share: Mutex::default(),
            beginning: Mutex::default(),
            ending: Mutex::default(),
            clock: Clock::start(),
        }
    }

    /// The array, as long as it is open.
    pub(super) fn machine(&self) -> Option<Arc<Machine>> {
        self.machine.upgrade()
    }

    /// Work that an earlier server has interrupted: labels go on to say so until it goes on.
    pub(super) fn was_interrupted(&self, works: Vec<WorkConfig>) {
        *self.interrupted() = works;
    }

    /// Parity of a set may be wrong until a verify that repairs has come to its end: the next begins as soon as the set is optimal, and
    /// labels say so until then.
    pub(super) fn owe_verify(&self, set: u32, kind: SetWork) {
        let mut interrupted = self.interrupted();
        let is_owed = |kind| move |work: &WorkConfig| (work.kind, work.set) == (kind, set);
        let kind = if interrupted.iter().any(is_owed(SetWork::Resync)) { SetWork::Resync } else { kind };
        interrupted
            .retain(|work| !matches!(work.kind, SetWork::Verify { .. } | SetWork::Resync) || work.set != set);
        interrupted.push(WorkConfig { kind, set, done_to: 0, is_cleared: false });
    }

    /// Whether a verify of that set is owed; from now on it is not.
    fn take_verify(&self, set: u32) -> Option<WorkConfig> {
        let mut interrupted = self.interrupted();
        let is_it = |work: &WorkConfig| is_repairing(work.kind) && work.set == set;
        let at = interrupted.iter().position(is_it)?;
        Some(interrupted.remove(at))
    }

    /// Has labels say that a set is being initialised, and whether all reads as zeros; `None`: no more.
    pub(super) fn set_interrupted(&self, set: u32, is_cleared: Option<bool>) {
        let mut interrupted = self.interrupted();
        interrupted.retain(|work| (work.kind, work.set) != (SetWork::Initialise, set));
        let config = |is_cleared| WorkConfig { kind: SetWork::Initialise, set, done_to: 0, is_cleared };
        interrupted.extend(is_cleared.map(config));
    }

    /// Work on whole sets that has not been brought to its end, for the labels.
    pub(super) fn configs(&self) -> Vec<WorkConfig> {
        let under_way = self.under_way();
        let is_open = |work: &&Arc<Work>| !work.is_done.load(Ordering::Acquire);
        let mut all: Vec<WorkConfig> =
            under_way.iter().filter(is_open).filter_map(|work| work.config()).collect();
        all.extend(self.interrupted().iter());
        all
    }

    /// What the last pass of each kind over each slot or set has come to, the oldest first.
    pub(super) fn ended(&self) -> Vec<PassStatus> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers what a pass has come to, in place of the one before it.
    pub(super) fn has_ended(&self, work: &Work, found: Findings, is_complete: bool) -> PassStatus {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let number = ended.last().map_or(1, |last| last.number + 1);
        let pass = work.came_to(number, found, is_complete);
        ended.retain(|one| (&one.kind, one.set, one.slot) != (&pass.kind, pass.set, pass.slot));
        ended.push(pass.clone());
        debug_assert!(
            ended.is_sorted_by(|one, next| one.number < next.number),
            "passes are in the order they ended in"
        );
        pass
    }

    fn interrupted(&self) -> std::sync::MutexGuard<'_, Vec<WorkConfig>> {
        self.interrupted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that have not ended.
    pub(super) fn under_way(&self) -> Vec<Arc<Work>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(work, _)| !work.is_over.load(Ordering::Acquire));
        running.iter().map(|(work, _)| work.clone()).collect()
    }

    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// What is under way on a set, if anything is.
    pub(super) fn kind_under_way(&self, set: u32) -> Option<WorkKind> {
        let is_of_it = |work: &&Arc<Work>| work.set == set && !work.is_done.load(Ordering::Acquire);
        self.under_way().iter().find(is_of_it).map(|work| work.kind)
    }

    /// Whether a slot is being filled, or copied.
    pub(super) fn is_filling(&self, set: u32, slot: u16) -> bool {
        let does = |work: &Arc<Work>| !work.is_done.load(Ordering::Acquire) && work.is_of(set, slot);
        self.under_way().iter().any(does)
    }

    /// No other pass is told of meanwhile.
    pub(super) fn telling(&self) -> std::sync::MutexGuard<'_, ()> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing else begins meanwhile, and no pass is left that was to fill a disk which is gone.
    pub(super) fn alone(&self) -> std::sync::MutexGuard<'_, ()> {
        let alone = self.beginning.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ending = |work: &Arc<Work>| {
            work.is_stopped.load(Ordering::Acquire) && !work.is_done.load(Ordering::Acquire)
        };
        while self.under_way().iter().any(is_ending) {
            clock::wait(Duration::from_millis(1));
        }
        alone
    }

    /// The disk that a pass fills is gone: the pass ends where it is, and its marks are of no other disk.
    pub(super) fn disk_is_gone(&self, set: u32, slot: u16) {
        for work in self.under_way() {
            if work.is_of(set, slot) {
                work.is_stopped.store(true, Ordering::Release);
            }
        }
    }

    /// Stops all of it where it is, and waits until it has.
    pub(super) fn stop_all(&self) {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for (work, _) in &running {
            work.is_stopped.store(true, Ordering::Relaxed);
        }
        for (work, thread) in running {
            // A thread that has panicked has ended as well.
            let _ended = thread.map(JoinHandle::join);
            if !work.is_done.load(Ordering::Acquire) {
                self.interrupted().extend(work.config());
            }
        }
    }
}

impl Machine {
    /// Limits background work to so many bytes a second of each member; 0: no limit. What the log says of it comes back.
    pub fn set_rate(&self, bytes_per_second: u64) -> String {
        self.works.rate.store(bytes_per_second, Ordering::Relaxed);
        let limit = match bytes_per_second {
            0 => "no limit".into(),
            rate => format!("at most {} of each member", BytesPerSecond::new(rate as f64)),
        };
        self.said(format!("background work: {limit}"))
    }

    /// Tells the log, and whoever has asked for it.
    fn said(&self, text: String) -> String {
        self.say(Severity::Information, text.clone());
        text
    }

    /// Has work that begins from now on get that share of the members' time, where a model decides how fast it is. What the log says
    /// of it comes back.
    pub fn set_share(&self, share: f64) -> Result<String, OperateError> {
        let refused = |why: &str| Err(OperateError::AlreadySo(why.into()));
        let Some(model) = self.model.get() else {
            return refused(
                "a share is one of the model's time, and none runs with `--pace max`; give a rate such as 30MB/s",
            );
        };
        match units::Share::new(share) {
            Some(share) => {
                model.set_share(share);
                *self.works.share.lock().unwrap_or_else(PoisonError::into_inner) = Some(share.get());
                let percent = share.get() * 100.0;
                Ok(self.said(format!("new background work: {percent:.0} % of the members' time")))
            }
            None => refused("a share is from 0 % to 100 %"),
        }
    }

    /// The share of the members' time that work gets which begins; `None`: as the model has it.
    pub fn share(&self) -> Option<f64> {
        *self.works.share.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes a second of each member that background work is limited to; 0: no limit.
    pub fn rate(&self) -> u64 {
        self.works.rate.load(Ordering::Relaxed)
    }

    /// Rebuilds the lost slot of a set onto a spare, or goes on with one that was being filled.
    pub fn rebuild(self: &Arc<Machine>, set: u32) -> Result<(), OperateError> {
        let slots = self.slots(set)?;
        let open: Vec<u16> = {
            let state = self.sets[set as usize].state();
            let is_lost = |slot: &u16| state.health.state(*slot) == MemberState::Failed;
            let is_left =
                |slot: &u16| is_rebuilding(&state.health, *slot) && !self.works.is_filling(set, *slot);
            slots.clone().filter(is_lost).chain(slots.filter(is_left)).collect()
        };
        // As many as there are spares for; that one group has failed is nothing to another.
        let begun: Vec<Result<(), OperateError>> = (open.into_iter())
            .map(|slot| {
                let extent = self.extent_of(set, slot);
                self.begin(WorkKind::Rebuild, set, Some(slot), extent, false)
            })
            .collect();
        let is_of_it = |work: &Arc<Work>| work.set == set && work.kind == WorkKind::Rebuild;
        let goes_on = begun.is_empty() && self.works.under_way().iter().any(is_of_it);
        if goes_on || begun.iter().any(Result::is_ok) {
            return Ok(());
        }
        let nothing = OperateError::NothingToDo { set, why: "no member is lost; nothing to rebuild".into() };
        begun.into_iter().next().unwrap_or(Err(nothing))
    }

    /// Copies the drive in a bay to a spare, which takes its place.
    pub fn copy(self: &Arc<Machine>, bay: u32) -> Result<(), OperateError> {
        self.bay(&self.lock_bays(), bay)?;
        for (number, set) in (0_u32..).zip(&self.sets) {
            let Some(member) = self.shape.member(number as usize, bay) else { continue };
            let state = set.state();
            let slot = self.slots(number)?.find(|&slot| {
                state.health.member(slot) == member && state.health.state(slot) == MemberState::Optimal
            });
            drop(state);
            if let Some(slot) = slot {
                return self.begin(WorkKind::Clone, number, Some(slot), Extent::All, false);
            }
        }
        Err(OperateError::wrong(bay, "its drive is not a complete member of a set; only those are copied"))
    }

    /// Compares data, checksums and redundancy of a set.
    pub fn verify(self: &Arc<Machine>, set: u32, repairs: bool) -> Result<(), OperateError> {
        self.slots(set)?;
        self.begin(WorkKind::Verify { repairs }, set, None, Extent::All, false)
    }

    pub(super) fn slots(&self, set: u32) -> Result<std::ops::Range<u16>, OperateError> {
        let store = self.sets.get(set as usize);
        let store = store.ok_or(OperateError::NoSuchSet { set, sets: self.sets.len() })?;
        Ok(0..narrow::<u16>(store.geometry().spec().members))
    }

    /// Begins work on a set. No two are begun at once: a slot has one at a time.
    pub(super) fn begin(
        self: &Arc<Machine>,
        kind: WorkKind,
        set: u32,
        slot: Option<u16>,
        extent: Extent,
        is_automatic: bool,
    ) -> Result<(), OperateError> {
        let _alone = self.works.alone();
        self.begin_alone(kind, set, slot, extent, is_automatic)
    }

    /// As [`Machine::begin`], by who holds [`Works::alone`].
    pub(super) fn begin_alone(
        self: &Arc<Machine>,
        kind: WorkKind,
        set: u32,
        slot: Option<u16>,
        extent: Extent,
        is_automatic: bool,
    ) -> Result<(), OperateError> {
        assert_eq!(
            slot.is_some(),
            matches!(kind, WorkKind::Rebuild | WorkKind::Clone),
            "a {} fills a slot, or goes over all of them",
            kind.name()
        );
        let store = &self.sets[set as usize];
        let refused = |why: &dyn std::fmt::Display| OperateError::NothingToDo { set, why: why.to_string() };
        // One that has done what it does may begin what follows.
        let is_busy = |work: &Arc<Work>| {
            !work.is_done.load(Ordering::Acquire)
                && work.set == set
                && work.slot == slot
                && (slot.is_some() || work.kind.name() == kind.name())
        };
        if self.works.under_way().iter().any(is_busy) {
            return Err(refused(&format!("a {} is under way already", kind.name())));
        }
        {
            let mut bays = self.lock_bays();
            let mut state = store.state_mut();
            let taken = match (kind, slot) {
                // What it has lost cannot be computed, and the drive that it lost last may come back.
                (WorkKind::Rebuild, Some(slot))
                    if state.health.state(slot) == MemberState::Failed
                        && store
                            .geometry()
                            .has_group_failed(&state.health, store.geometry().group_of(slot)) =>
                {
                    let first = self.first_back(&bays, set, &state.health, "");
                    let first = first.unwrap_or_else(|| "the drive that was lost last".into());
                    return Err(refused(&format!("it has failed; reinsert {first}")));
                }
                (WorkKind::Rebuild, Some(slot)) if state.health.state(slot) == MemberState::Failed => {
                    Some(state.health.rebuild_on_spare(slot).map_err(|why| refused(&why))?)
                }
                (WorkKind::Clone, Some(slot)) if state.health.twin(slot).is_none() => {
                    let spare = state.health.spares().next();
                    let why = "there is no spare to copy to; make one with `array spare`";
                    let spare = spare.ok_or_else(|| refused(&why))?;
                    state.health.clone_to(slot, spare.into()).map_err(|why| refused(&why))?;
                    Some(spare)
                }
                _ => None,
            };
            drop(state);
            if let Some(member) = taken {
                let bay = self.shape.sets[set as usize].bays[usize::from(member)];
                bays.bays[bay as usize].status = Status::InUse;
                let text = match (kind, slot) {
                    (WorkKind::Clone, Some(slot)) => {
                        format!("bay {bay}: hot spare becomes a copy of set {set}, slot {slot}")
                    }
                    _ => format!("bay {bay}: hot spare takes over in set {set}"),
                };
                self.say(Severity::Information, text);
                if let Err(source) = self.relabel(&mut bays) {
                    return Err(OperateError::Unrecorded(source));
                }
            }
        }
        self.named().forget();
        // The planner says whether it is possible at all.
        let state = store.state();
        Sweep::new(store.geometry(), &state.health, task(kind, slot), UNIT).map_err(|why| refused(&why))?;
        let from = match slot.map(|slot| state.health.state(slot)) {
            Some(MemberState::Rebuilding { done_to, .. }) => done_to,
            _ => Lba(0),
        };
        drop(state);
        let end = Lba(store.geometry().member_used().0);
        let from = if let Extent::From(lba) = extent { lba.min(end) } else { from };
        let missed = || {
            let group = store.geometry().group_of(slot.unwrap_or_default());
            let of = |nvram: &crate::nvram::Nvram| {
                nvram.maps().intents(store.number_of(group)).len() as u64 * store.region()
            };
            self.common.nvram.as_ref().map_or(0, of).min(end.0)
        };
        let all = if extent == Extent::Missed { missed() } else { end.0.saturating_sub(from.0) };
        let work = Arc::new(Work {
            kind,
            set,
            slot,
            from: from.0,
            done: AtomicU64::new(0),
            all,
            began: self.works.now(),
            is_automatic,
            is_stopped: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            is_done: AtomicBool::new(false),
        });
        let by = if is_automatic { "" } else { " by the operator" };
        let on = slot.map(|slot| format!(", slot {slot}")).unwrap_or_default();
        self.say(Severity::Information, format!("set {set}{on}: {} started{by}", kind.name()));
        if let Some(model) = self.model.get() {
            work.begin_in(model, store.geometry());
        }
        let (machine, own) = (self.works.machine.clone(), work.clone());
        let thread = std::thread::Builder::new().name(format!("fathom-{}", kind.name())).spawn(move || {
            if let Some(machine) = machine.upgrade() {
                machine.carry_on(&own, extent);
            }
            own.is_over.store(true, Ordering::Release);
        });
        let thread =
            thread.map_err(|source| OperateError::System { what: "starting a thread".into(), source })?;
        self.works.running.lock().unwrap_or_else(PoisonError::into_inner).push((work, Some(thread)));
        match slot {
            // The label of the slot says it.
            Some(_) => Ok(()),
            None => self.remember_works(),
        }
    }

    /// Labels say which work on whole sets is under way, so that the next server goes on with it.
    pub(super) fn remember_works(&self) -> Result<(), OperateError> {
        let remembered = self.relabel(&mut self.lock_bays());
        remembered.map_err(OperateError::Unrecorded)
    }

    /// Begins the verifies that are owed to sets which are optimal by now.
    pub(super) fn verify_owed(self: &Arc<Machine>) {
        for (set, _) in (0_u32..).zip(&self.sets).filter(|(_, store)| store.state().health.is_optimal()) {
            let Some(WorkConfig { kind, done_to, .. }) = self.works.take_verify(set) else { continue };
            let rest = Extent::From(Lba(done_to));
            if self.begin(WorkKind::from(kind), set, None, rest, true).is_err() {
                // Another is under way, or the set is no longer optimal.
                self.works.owe_verify(set, kind);
            }
        }
    }

    /// Goes on with the work on whole sets that an earlier server has not brought to its end.
    pub(super) fn resume_works(self: &Arc<Machine>) {
        let interrupted = std::mem::take(&mut *self.works.interrupted());
        for WorkConfig { kind, set, done_to, is_cleared } in interrupted {
            if is_repairing(kind)
                && self.sets.get(set as usize).is_some_and(|store| !store.state().health.is_optimal())
            {
                self.works.owe_verify(set, kind);
                self.say(Severity::Warning, format!("set {set}: a verify waits until the set is optimal"));
                continue;
            }
            let kind = WorkKind::from(kind);
            let rest = Extent::From(Lba(done_to));
            let is_known = (set as usize) < self.sets.len();
            let resumed = || match kind {
                WorkKind::Initialise if !is_cleared => self.initialise(set),
                _ => self.begin(kind, set, None, rest, true),
            };
            if is_known && let Err(why) = resumed() {
                let name = kind.name();
                self.say(
                    Severity::Warning,
                    format!("set {set}: an interrupted {name} is not resumed: {why}"),
                );
            }
        }
    }
}
