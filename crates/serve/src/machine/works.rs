//! Background work: rebuild, clone, verify.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use array::background::BackgroundKind;
use array::raid::{Geometry, MemberState, Sweep, Task};
use array::sim::WorkOrder;
use units::convert::narrow;
use units::{BytesPerSecond, Lba, SECTOR_BYTES, Sectors, Share};

use super::bays::has_failed;
use super::operate::{OperateError, wrong};
use super::{Lost, Machine, is_whole};
use crate::clock::{self, Clock};
use crate::config::{SetWork, Status, WorkConfig};
use crate::events::Severity;
use crate::pace::Pacer;
use crate::set::{Findings, Scratch, is_rebuilding};

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Fills the disk of a slot from the others.
    Rebuild,
    /// Copies the disk of a slot to a spare, which takes its place.
    Clone,
    /// Compares data, checksums and parity; puts right what differs where that is said.
    Verify {
        /// Whether it is put right.
        repairs: bool,
    },
    /// Fills the set with zeros.
    Initialise,
}

impl WorkKind {
    /// The controller's word for it.
    pub fn name(self) -> &'static str {
        match self {
            WorkKind::Rebuild => "rebuild",
            WorkKind::Clone => "clone",
            WorkKind::Verify { .. } => "verify",
            WorkKind::Initialise => "initialise",
        }
    }
}

impl WorkKind {
    fn of_the_model(self) -> BackgroundKind {
        match self {
            WorkKind::Rebuild => BackgroundKind::Rebuild,
            WorkKind::Clone => BackgroundKind::Clone,
            WorkKind::Verify { .. } => BackgroundKind::Verify,
            WorkKind::Initialise => BackgroundKind::Initialise,
        }
    }
}

impl From<SetWork> for WorkKind {
    fn from(work: SetWork) -> WorkKind {
        match work {
            SetWork::Verify { repairs } => WorkKind::Verify { repairs },
            SetWork::Initialise => WorkKind::Initialise,
        }
    }
}

/// One piece of work.
pub(super) struct Work {
    pub kind: WorkKind,
    pub set: u32,
    pub slot: Option<u16>,
    /// Where it began: an earlier server had done what lies before.
    from: u64,
    pub done: AtomicU64,
    pub all: u64,
    pub began: Duration,
    is_stopped: AtomicBool,
    pub is_over: AtomicBool,
    /// It was brought to its end, or cannot be.
    is_done: AtomicBool,
}

impl Work {
    /// Has the model do it as well: what is left of it.
    pub fn begin_in(&self, model: &Pacer, geometry: &Geometry) {
        let all = geometry.member_used().0 as f64;
        let left = self.all.saturating_sub(self.done.load(Ordering::Relaxed)) as f64;
        let from = Share::new((1.0 - left / all).max(0.0)).unwrap_or(Share::NONE);
        model.start_work(WorkOrder { kind: self.kind.of_the_model(), set: self.set, slot: self.slot }, from);
    }

    /// How far it is, where a label has to say so: that of a slot is a mark of the slot.
    fn config(&self) -> Option<WorkConfig> {
        let kind = match self.kind {
            WorkKind::Verify { repairs } => SetWork::Verify { repairs },
            WorkKind::Initialise => SetWork::Initialise,
            WorkKind::Rebuild | WorkKind::Clone => return None,
        };
        Some(WorkConfig { kind, set: self.set, done_to: self.from + self.done.load(Ordering::Relaxed) })
    }
}

/// Work, and the thread that does it.
type Running = (Arc<Work>, Option<JoinHandle<()>>);

/// All of it.
pub struct Works {
    machine: Weak<Machine>,
    running: Mutex<Vec<Running>>,
    /// Work on whole sets that an earlier server, or the end of this one, has interrupted.
    interrupted: Mutex<Vec<WorkConfig>>,
    /// Most bytes a second of one member; 0: no limit.
    rate: AtomicU64,
    /// Of the members' time, for work that begins; `None`: as the model has it.
    share: Mutex<Option<f64>>,
    /// Held by who begins some. Taken before all other locks.
    beginning: Mutex<()>,
    clock: Clock,
}

/// Which addresses work is done on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All, or what a slot's disk lacks.
    All,
    /// What lies behind that address.
    From(Lba),
    /// What was written while the slot's disk was away, and until the work comes there.
    Missed,
}

/// Where work is in time.
struct Pacing {
    /// When the labels had the marks last.
    marked: Duration,
    /// Until when it is to wait for its limit.
    owed: Duration,
}

/// Sectors of each member that are done at once.
const UNIT: Sectors = Sectors(1024);
/// Marks go onto the labels so often.
const MARKS: Duration = Duration::from_secs(5);

impl Works {
    pub(super) fn new(machine: Weak<Machine>) -> Works {
        Works {
            machine,
            running: Mutex::default(),
            interrupted: Mutex::default(),
            rate: AtomicU64::new(0),
            share: Mutex::default(),
            beginning: Mutex::default(),
            clock: Clock::start(),
        }
    }

    /// Work that an earlier server has interrupted: labels go on to say so until it goes on.
    pub(super) fn was_interrupted(&self, works: Vec<WorkConfig>) {
        *self.interrupted() = works;
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

    /// Whether a slot is being filled, or copied.
    pub(super) fn is_filling(&self, set: u32, slot: u16) -> bool {
        let does = |work: &Arc<Work>| {
            !work.is_done.load(Ordering::Acquire) && (work.set, work.slot) == (set, Some(slot))
        };
        self.under_way().iter().any(does)
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
            if (work.set, work.slot) == (set, Some(slot)) {
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
        let state = self.sets[set as usize].state();
        let is_lost = |slot: &u16| state.health.state(*slot) == MemberState::Failed;
        let is_left = |slot: &u16| is_rebuilding(&state.health, *slot) && !self.works.is_filling(set, *slot);
        let slot = slots.clone().find(is_lost).or_else(|| slots.clone().find(is_left));
        drop(state);
        let is_of_it = |work: &Arc<Work>| work.set == set && work.kind == WorkKind::Rebuild;
        if slot.is_none() && self.works.under_way().iter().any(is_of_it) {
            // What was to be begun goes on already.
            return Ok(());
        }
        match slot {
            Some(slot) => self.begin(WorkKind::Rebuild, set, Some(slot), Extent::All, false),
            None => {
                Err(OperateError::NothingToDo { set, why: "no member is lost; nothing to rebuild".into() })
            }
        }
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
        Err(wrong(bay, "its drive is not a complete member of a set; only those are copied"))
    }

    /// Compares data, checksums and redundancy of a set.
    pub fn verify(self: &Arc<Machine>, set: u32, repairs: bool) -> Result<(), OperateError> {
        self.slots(set)?;
        self.begin(WorkKind::Verify { repairs }, set, None, Extent::All, false)
    }

    /// Has every sector of a set read as zeros.
    pub fn initialise(self: &Arc<Machine>, set: u32) -> Result<(), OperateError> {
        self.slots(set)?;
        if let Some(cache) = &self.cache {
            let _alone = cache.alone();
            let system = |source| OperateError::System { what: "clearing the write cache".into(), source };
            cache.clear(Some(set)).map_err(system)?;
        }
        self.begin(WorkKind::Initialise, set, None, Extent::All, false)
    }

    fn slots(&self, set: u32) -> Result<std::ops::Range<u16>, OperateError> {
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
                self.say(Severity::Information, format!("bay {bay}: hot spare takes over in set {set}"));
                if let Err(source) = self.relabel(&mut bays) {
                    return Err(OperateError::System { what: "writing labels".into(), source });
                }
            }
        }
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
            let nvram = self.common.nvram.as_ref();
            nvram.map_or(0, |nvram| nvram.intents(set).len() as u64 * store.region()).min(end.0)
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
    fn remember_works(&self) -> Result<(), OperateError> {
        let remembered = self.relabel(&mut self.lock_bays());
        remembered.map_err(|source| OperateError::System { what: "writing labels".into(), source })
    }

    /// Goes on with the work on whole sets that an earlier server has not brought to its end.
    pub(super) fn resume_works(self: &Arc<Machine>) {
        let interrupted = std::mem::take(&mut *self.works.interrupted());
        for WorkConfig { kind, set, done_to } in interrupted {
            let kind = WorkKind::from(kind);
            let rest = Extent::From(Lba(done_to));
            let is_known = (set as usize) < self.sets.len();
            if is_known && let Err(why) = self.begin(kind, set, None, rest, true) {
                let name = kind.name();
                self.say(
                    Severity::Warning,
                    format!("set {set}: an interrupted {name} is not resumed: {why}"),
                );
            }
        }
    }

    /// Does the work to its end, or until it is stopped.
    fn carry_on(self: &Arc<Machine>, work: &Work, extent: Extent) {
        let mut found = Findings::default();
        let now = self.works.now();
        let mut pacing = Pacing { marked: now, owed: now };
        let end = Lba(self.sets[work.set as usize].geometry().member_used().0);
        let ended = match (extent, work.slot) {
            (Extent::Missed, Some(slot)) => self.missed(work, slot, end, &mut pacing, &mut found),
            _ => self.range(work, (Lba(work.from), end), &mut pacing, &mut found),
        };
        let is_done = !matches!(ended, Ok(false));
        work.is_done.store(is_done, Ordering::Release);
        if is_done && work.slot.is_none() {
            // Where it is not forgotten the next server does some of it again.
            let _again = self.remember_works();
        }
        let (set, name) = (work.set, work.kind.name());
        let on = work.slot.map(|slot| format!(", slot {slot}")).unwrap_or_default();
        match ended {
            Ok(true) => {
                match work.slot.map(|slot| self.settle(work, slot)) {
                    None | Some(Ok(true)) => {}
                    // What it has filled is gone.
                    Some(Ok(false)) => return,
                    Some(Err(why)) => {
                        return self.say(
                            Severity::Critical,
                            format!("set {set}{on}: {name} is not recorded: {why}"),
                        );
                    }
                }
                let Findings { corrected, unreadable, inconsistent } = found;
                let bad = match (corrected, unreadable, inconsistent) {
                    (0, 0, 0) => String::new(),
                    _ => format!(
                        "; {corrected} sectors corrected, {unreadable} unreadable, {inconsistent} stripes with wrong parity"
                    ),
                };
                self.say(Severity::Information, format!("set {set}{on}: {name} complete{bad}"));
                if work.slot.is_some() && is_whole(&self.sets[set as usize]) {
                    let level = self.sets[set as usize].geometry().spec().level;
                    self.say(Severity::Information, format!("set {set} ({level}): optimal"));
                }
                // Work until then: what follows may be more of it on the same slot, or what waited for this one.
                self.go_on_filling(set);
                self.use_spares();
            }
            Ok(false) if work.slot.is_some_and(|slot| self.has_lost(set, slot)) => {
                self.say(Severity::Warning, format!("set {set}{on}: {name} stopped: its drive is gone"));
            }
            Ok(false) => {}
            Err(_) if work.kind == WorkKind::Clone && self.is_to_be_filled(work) => {
                self.say(
                    Severity::Warning,
                    format!(
                        "set {set}{on}: clone stopped: the drive that it copies is gone; the rest is rebuilt"
                    ),
                );
                self.go_on_filling(set);
            }
            Err(_) if work.slot.is_some_and(|slot| self.has_lost(set, slot)) => {
                self.say(Severity::Warning, format!("set {set}{on}: {name} stopped: its drive is gone"));
            }
            Err(_)
                if has_failed(
                    self.sets[set as usize].geometry(),
                    &self.sets[set as usize].state().health,
                ) =>
            {
                self.say(
                    Severity::Critical,
                    format!(
                        "set {set}{on}: {name} stopped: the set has failed; drives that are reinserted and have missed nothing are used again"
                    ),
                );
            }
            Err(why) => self.say(Severity::Critical, format!("set {set}{on}: {name} stopped: {why}")),
        }
    }

    /// Whether the disk that was to be the copy has taken over the slot.
    fn is_to_be_filled(&self, work: &Work) -> bool {
        work.slot.is_some_and(|slot| is_rebuilding(&self.sets[work.set as usize].state().health, slot))
    }

    fn has_lost(&self, set: u32, slot: u16) -> bool {
        self.sets[set as usize].state().health.state(slot) == MemberState::Failed
    }

    /// Fills a disk that was away with what was written meanwhile, region by region; whether all of it was done.
    fn missed(
        &self,
        work: &Work,
        slot: u16,
        end: Lba,
        pacing: &mut Pacing,
        found: &mut Findings,
    ) -> Result<bool, array::raid::PlanError> {
        let store = &self.sets[work.set as usize];
        let region = store.region();
        for number in 0..end.0.div_ceil(region) {
            let (from, to) = (Lba(number * region), Lba((number + 1) * region).min(end));
            // Looked up when it is come to: hosts write on, and what lies ahead is not written to the disk.
            let was_written =
                || self.common.nvram.as_ref().is_none_or(|nvram| nvram.is_intended(work.set, number));
            if !store.pass_over(slot, from, to, was_written)
                && !self.range(work, (from, to), pacing, found)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all between two addresses was done.
    fn range(
        &self,
        work: &Work,
        (from, to): (Lba, Lba),
        pacing: &mut Pacing,
        found: &mut Findings,
    ) -> Result<bool, array::raid::PlanError> {
        let store = &self.sets[work.set as usize];
        let mut scratch = Scratch::default();
        let Pacing { marked, owed } = pacing;
        let sweep = Sweep::new(store.geometry(), &store.state().health, task(work.kind, work.slot), UNIT)?;
        let mut sweep = sweep.between(from, to);
        let repairs = matches!(work.kind, WorkKind::Verify { repairs: true });
        loop {
            while self.is_dark() && !work.is_stopped.load(Ordering::Relaxed) {
                clock::wait(Duration::from_millis(50));
            }
            if work.is_stopped.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let Some(done) = store.work(&mut scratch, &mut sweep, repairs, found, self)? else { break };
            debug_assert!(done.0 <= UNIT.0, "a unit is no larger than it should be");
            work.done.fetch_add(done.0, Ordering::Relaxed);
            while let Some(model) = self.model.get()
                && let Some(share) = model.progress(work.set)
                && work.done.load(Ordering::Relaxed) as f64 > share * work.all as f64
            {
                clock::wait(Duration::from_millis(10));
                if work.is_stopped.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            let now = self.works.now();
            let rate = self.works.rate.load(Ordering::Relaxed);
            if rate > 0 {
                let time = Duration::from_secs_f64((done.0 * SECTOR_BYTES) as f64 / rate as f64);
                *owed = (*owed).max(now.saturating_sub(Duration::from_millis(200))) + time;
                // In small pieces, so that a stop is heard.
                while let Some(rest) = owed.checked_sub(self.works.now()).filter(|rest| !rest.is_zero()) {
                    if self.works.rate.load(Ordering::Relaxed) != rate {
                        *owed = self.works.now();
                        break;
                    }
                    clock::wait(rest.min(Duration::from_millis(50)));
                    if work.is_stopped.load(Ordering::Relaxed) {
                        return Ok(false);
                    }
                }
            }
            if now >= *marked + MARKS {
                *marked = now;
                // It is only a mark: without it more is done again after a restart.
                let _later = self.common.sync().and_then(|()| self.relabel(&mut self.lock_bays()));
            }
        }
        Ok(true)
    }

    /// A slot's new disk is whole, unless it is gone.
    fn settle(&self, work: &Work, slot: u16) -> std::io::Result<bool> {
        let set = work.set;
        // What was filled must be there before a label says so.
        self.common.sync()?;
        let store = &self.sets[set as usize];
        let mut bays = self.lock_bays();
        if work.is_stopped.load(Ordering::Acquire) {
            return Ok(false);
        }
        let mut state = store.state_mut();
        let old = state.health.twin(slot).map(|_| state.health.member(slot));
        state.health.finish(slot);
        drop(state);
        // A disk that the slot lost earlier must not be taken for this one's predecessor if it comes back.
        bays.lost[set as usize][usize::from(slot)] = Lost::default();
        if let Some(old) = old {
            let bay = self.shape.sets[set as usize].bays[usize::from(old)];
            bays.bays[bay as usize].status = Status::Unassigned;
        }
        self.relabel(&mut bays).map(|()| true)
    }
}

fn task(kind: WorkKind, slot: Option<u16>) -> Task {
    let slot = slot.unwrap_or_default();
    match kind {
        WorkKind::Rebuild => Task::Rebuild { slot },
        WorkKind::Clone => Task::Clone { slot },
        WorkKind::Verify { .. } => Task::Verify,
        WorkKind::Initialise => Task::Zero { verify: false },
    }
}
