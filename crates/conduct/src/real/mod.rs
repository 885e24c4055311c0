//! Real storage as a world: targets resolved, scratch files laid out, load driven, monitors beside it.

mod ceiling;
mod describe;
mod path;
mod plain_set;
mod prepare;
mod scratch_set;
mod trees;
mod upkeep;
mod verify;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use host::engine::{FileRef, URING_DEPTH_MAX};
use host::environment::UringState;
use host::load::{Assignment, News, WorkerOutcome};
use host::monitor::{DeviceCounters, Monitor, process_cpu};
use host::restore::{Journal, ReadAhead};
use host::room::{Need, Room};
use host::safety::{Consent, Permit, consent_for, permit};
use host::target::{Facts, Place, Stored, Target};
use host::verify::Books;
use host::{DevNo, SysRoot};
use record::{CpuUse, EngineUsed, Environment};
use units::{Bytes, Instant, Nanos, SECTOR_BYTES, Share};
use workload::plan::{Background, Load, Plan, Point, SETTLE_IDLE, Settle, State, Task, Watch};
use workload::spec::{EngineKind, Files, Workload};
use workload::{Progress, compile, files_needed};

use crate::event::Live;
use crate::history::History;
use crate::listener::{self, Listener};
use crate::result::span_of;
use crate::seconds::p99_of;
use crate::world::{LoadAnswer, StateAnswer, WorkerAnswer, WorkloadAnswer, World, WorldError};

use plain_set::PlainSet;
pub use plain_set::{Look, LookKind, PlainFile};
pub(crate) use scratch_set::explicit_size;
use scratch_set::{ScratchSet, files_of, owns_targets};
use upkeep::Upkeep;
pub use upkeep::UpkeepOptions;
pub(crate) use verify::refuse as refuse_verify;
use verify::{books, verification};

/// This machine, as it is stored.
pub(crate) fn this_machine() -> Environment {
    describe::environment(&host::environment::Environment::read(&SysRoot::real()))
}

/// The way from a target on this machine to its media. Opens nothing for writing.
pub fn path_of(root: &SysRoot, target: &Target, facts: &Facts) -> record::PathPart {
    path::part(host::topology::read(root, target, facts))
}

/// What the command line says about real targets.
#[derive(Clone, Debug, Default)]
pub struct RealOptions {
    /// Paths and devices, in order.
    pub targets: Vec<String>,
    /// What may be destroyed.
    pub consents: Vec<Consent>,
    /// Let scratch files stay.
    pub keep: bool,
    /// The size of scratch files together, in place of `auto`.
    pub scratch: Option<Bytes>,
    /// A target that is not there may be made as a file.
    pub create: bool,
    /// For tools that make files of their own: how each target that is a file is treated. Empty where new files are
    /// scratch files.
    pub plain: Vec<PlainFile>,
    /// How a real array is broken, mended and watched.
    pub upkeep: UpkeepOptions,
    /// Another world that is open at the same time.
    pub beside: Beside,
    /// Look at what a file or device holds before it is first read from: sixty blocks of it.
    pub looks_inside: bool,
    /// Where it is noted what is to be put back.
    pub journal: Journal,
}

/// Another world of this program on the same file system, whose scratch files are there as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Its scratch files in the same directory: numbers that are taken.
    pub taken: usize,
    /// Whether what is free is shared with it, half and half.
    pub shares_free: bool,
}

/// One target with what is known of it.
#[derive(Debug)]
struct Resolved {
    target: Target,
    facts: Facts,
    permit: Option<Arc<Permit>>,
    /// What it holds, where somebody looked.
    stored: Option<Stored>,
}

/// Real storage.
#[derive(Debug)]
pub struct RealWorld {
    root: SysRoot,
    clock: Clock,
    stop: Arc<AtomicBool>,
    environment: host::environment::Environment,
    targets: Vec<Resolved>,
    scratch: ScratchSet,
    plain: PlainSet,
    read_ahead: Vec<ReadAhead>,
    journal: Journal,
    trees: trees::TreeSet,
    upkeep: Upkeep,
    /// What was written where; `None` where nothing is to be held against it.
    books: Option<Arc<Books>>,
    /// Whether what targets hold is still to be looked at.
    looks_inside: bool,
    listener: Option<Box<dyn Listener>>,
    keeps_seconds: bool,
}

impl RealWorld {
    /// Resolves the targets and asks the safety rules. Writes nothing yet.
    ///
    /// `stop` is set by whoever handles signals.
    pub fn open(plan: &Plan, options: &RealOptions, stop: Arc<AtomicBool>) -> Result<RealWorld, WorldError> {
        let root = SysRoot::real();
        let mut targets = Vec::with_capacity(options.targets.len());
        for name in &options.targets {
            let target = Target::parse(name)?;
            let facts = Facts::read(&root, &target)?;
            targets.push(Resolved { target, facts, permit: None, stored: None });
        }
        if !options.create {
            check_there(&targets)?;
        }
        check_fit(plan, &targets)?;
        Upkeep::check(plan, &options.upkeep)?;
        if plan.estimate().changes_data {
            for (number, resolved) in targets.iter_mut().enumerate() {
                if !is_changed(plan, number) {
                    continue;
                }
                let consent = consent_for(&root, &resolved.target, &options.consents);
                let permit = permit(&root, &resolved.target, consent)?;
                resolved.permit = Some(Arc::new(permit));
            }
        }
        let environment = host::environment::Environment::read(&root);
        let plain = PlainSet::plan(&root, &options.plain, &mut targets, &options.consents, &options.journal)?;
        let scratch = match plain.is_any() {
            true => ScratchSet::default(),
            false => ScratchSet::plan(plan, &targets, options, &environment)?,
        };
        let trees = trees::TreeSet::plan(plan, &targets, options)?;
        let world = RealWorld {
            root,
            clock: Clock::start(),
            stop,
            environment,
            targets,
            scratch,
            plain,
            read_ahead: Vec::new(),
            journal: options.journal.clone(),
            trees,
            upkeep: Upkeep::new(&options.upkeep),
            books: books(plan),
            looks_inside: options.looks_inside,
            listener: None,
            keeps_seconds: false,
        };
        if !world.plain.is_any() {
            check_room(plan, |workload| world.lengths_for(workload))?;
        }
        world.need(plan)?;
        Ok(world)
    }

    /// What the point that needs most of this machine needs of it. An error where that is more than there is.
    pub fn need(&self, plan: &Plan) -> Result<Need, WorldError> {
        let refusal = match &self.environment.uring {
            UringState::Allowed { .. } => None,
            UringState::Refused { why } => Some(why.as_str()),
        };
        let is_null =
            matches!(self.targets[..], [Resolved { target: Target { place: Place::Null { .. }, .. }, .. }]);
        check_need(plan, |workload| {
            if workload.tree.is_some() {
                return Ok(Need::of_files(workload));
            }
            let mut workload = workload.clone();
            if is_null {
                workload.engine.kind = EngineKind::Null;
            }
            Ok(Need::of(&workload, refusal)?)
        })
    }

    /// What a scratch file's size was decided by, in words; `None` where there is none.
    pub fn scratch_words(&self) -> Option<&str> {
        self.scratch.words()
    }

    /// The scratch files that are or will be made, with their sizes.
    pub fn scratch_files(&self) -> Vec<(String, Bytes)> {
        self.scratch.all_planned()
    }

    /// What will become of what an earlier run has left behind; `None` where there is nothing.
    pub fn leftover_words(&self) -> Option<&str> {
        self.trees.leftover_words()
    }

    /// The consents that permits rest on.
    pub fn consents(&self) -> Vec<String> {
        self.targets.iter().filter_map(|each| each.permit.as_ref()?.consent.clone()).collect()
    }

    /// Files and lengths for one workload, in the order of its file numbers.
    fn files_for(&self, workload: &Workload) -> (Vec<FileRef>, Vec<Bytes>) {
        if let [Resolved { target: Target { place: Place::Null { size }, .. }, .. }] = self.targets[..] {
            return (Vec::new(), vec![size; null_files(workload)]);
        }
        files_of(workload, &self.targets).into_iter().map(|number| self.file(number)).unzip()
    }

    /// The lengths of the files of one workload, also of those that are not made yet.
    fn lengths_for(&self, workload: &Workload) -> Vec<Bytes> {
        if let [Resolved { target: Target { place: Place::Null { size }, .. }, .. }] = self.targets[..] {
            return vec![size; null_files(workload)];
        }
        let length = |number: usize| match self.scratch.planned(number) {
            Some((_, size)) => size,
            None => self.targets[number].facts.size,
        };
        files_of(workload, &self.targets).into_iter().map(length).collect()
    }

    fn file(&self, number: usize) -> (FileRef, Bytes) {
        if let Some(scratch) = self.scratch.file(number) {
            return (FileRef { path: scratch.path().into(), permit: Some(scratch.permit()) }, scratch.size());
        }
        let resolved = &self.targets[number];
        let path = resolved.target.path().map(Into::into).unwrap_or_default();
        (FileRef { path, permit: resolved.permit.clone() }, resolved.facts.size)
    }

    fn devices(&self) -> Vec<(String, &'static str, DevNo)> {
        let mut devices = Vec::new();
        for facts in self.targets.iter().map(|each| &each.facts) {
            let asked = facts.devices.iter().map(|device| (device, "target"));
            let beneath = facts.members.iter().map(|relative| (&relative.device, "member"));
            for (device, relation) in asked.chain(beneath) {
                if !devices.iter().any(|(_, _, devno)| *devno == device.devno) {
                    devices.push((device.name.clone(), relation, device.devno));
                }
            }
        }
        devices
    }

    /// Looks again at what the targets stand on: a member that failed has gone, and one that replaced it has come.
    /// Where the system does not say, what was known stays.
    fn look_again(&mut self) {
        for Resolved { target, facts, .. } in &mut self.targets {
            if matches!(target.place, Place::Null { .. }) {
                continue;
            }
            if let Ok(now) = Facts::read(&self.root, target) {
                (facts.devices, facts.members) = (now.devices, now.members);
            }
        }
    }

    /// What the kernel has counted so far of every device there is, and which of them the targets stand on.
    fn counted(&mut self) -> describe::Counted {
        self.look_again();
        describe::Counted { devices: self.devices(), counters: DeviceCounters::read_all(&self.root) }
    }

    fn monitor(&self) -> Result<Monitor, WorldError> {
        let facts: Vec<Facts> = self.targets.iter().map(|each| each.facts.clone()).collect();
        let devices = self.devices().into_iter().map(|(_, _, devno)| devno).collect();
        let beneath = host::monitor::Spec::beneath(&self.root, &facts, Nanos::from_secs(1));
        let spec = host::monitor::Spec { devices, ..beneath };
        let clock = self.clock.clone();
        Monitor::start(&self.root, &spec, Arc::new(move || clock.now()))
            .map_err(|source| WorldError::System { what: "a thread for the monitors".into(), source })
    }

    fn assignments(&self, workloads: &[Workload]) -> Result<Vec<Assignment>, WorldError> {
        let assign = |workload: &Workload| {
            let (files, lengths) = self.files_for(workload);
            let mut workload = workload.clone();
            if files.is_empty() {
                workload.engine.kind = EngineKind::Null;
            }
            let jobs = compile(&workload, &lengths)?;
            let verify = self.books.as_ref().map(|books| verification(books, &files, &lengths));
            let is_logged = listener::wants(&self.listener, &workload);
            Ok(Assignment { workload, jobs, files, verify, is_logged })
        };
        workloads.iter().map(assign).collect()
    }
}

impl World for RealWorld {
    fn kind(&self) -> record::World {
        record::World::Host
    }

    fn environment(&self) -> Environment {
        describe::environment(&self.environment)
    }

    fn targets(&self) -> Vec<record::Target> {
        self.targets
            .iter()
            .enumerate()
            .map(|(number, each)| describe::target(each, &self.scratch, number))
            .collect()
    }

    fn path(&self) -> Vec<record::PathPart> {
        self.targets.iter().map(|each| path_of(&self.root, &each.target, &each.facts)).collect()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn keep_seconds(&mut self) {
        self.keeps_seconds = true;
    }

    fn tell(&mut self, listener: Box<dyn Listener>) {
        self.listener = Some(listener);
    }

    fn load(&mut self, load: &Load, live: &mut dyn FnMut(Live)) -> Result<LoadAnswer, WorldError> {
        if load.workloads.iter().any(|workload| workload.tree.is_some()) {
            return self.load_trees(load, live);
        }
        self.lay_out(live)?;
        if load.workloads.iter().any(|workload| workload.mix.reads != Share::NONE) {
            self.plain.make_whole(&self.targets, &self.clock, &self.stop, live)?;
            self.look_inside();
        }
        let assignments = self.assignments(&load.workloads)?;
        let cached = cached_of(&assignments);
        let (before, cpu_before) = (self.counted(), process_cpu());
        let monitor = self.monitor()?;
        let mut heard = Heard::new(assignments.len(), self.keeps_seconds, self.clock.now());
        let listener = &mut self.listener;
        let outcomes = host::load::run(&assignments, &self.clock, &self.stop, &mut |news| {
            match (&news, &mut *listener) {
                (News::Started(at, _), Some(listener)) => listener.begin(load, &names(&assignments), *at),
                (News::Logged(workload, requests), _) => listener::tell(listener, *workload, requests),
                _ => {}
            }
            heard.listen(news, &self.clock, &monitor, live);
        })?;
        let ended = self.clock.now();
        for outcome in &outcomes {
            listener::tell(&mut self.listener, outcome.workload, &outcome.tally.logged);
        }
        if let Some(listener) = &mut self.listener {
            listener.end(ended);
        }
        let cpu = process_cpu().since(cpu_before);
        let devices = describe::device_counters(&before, &self.counted());
        let mut series = describe::series(monitor.stop());
        series.retain(|each| each.absent.is_some() || !each.values.is_empty());
        series.extend(self.upkeep.series(heard.started));
        let cached = cached.zip(cached_of(&assignments));
        series.extend(cached.map(|held| describe::cached_series(heard.started, ended, held)));
        let mut workloads = answers(&assignments, outcomes, heard.histories);
        // After the load and the monitors, so that it disturbs neither.
        ceiling::measure(&assignments, &self.clock, &self.stop, &mut workloads);
        Ok(LoadAnswer {
            started: heard.started,
            ended,
            workloads,
            series,
            cpu: Some(CpuUse { user_s: cpu.user.as_secs_f64(), system_s: cpu.system.as_secs_f64() }),
            devices,
            breakdown: None,
        })
    }

    fn settle(
        &mut self,
        settle: Settle,
        wrote: bool,
        live: &mut dyn FnMut(Live),
    ) -> Result<Option<record::Settled>, WorldError> {
        let time = match settle {
            Settle::None => return Ok(None),
            // What a read leaves behind is no work that would end.
            Settle::Auto if !wrote => return Ok(None),
            Settle::Auto => SETTLE_IDLE,
            Settle::For(time) => time,
        };
        if self.targets.iter().all(|each| matches!(each.target.place, Place::Null { .. })) {
            return Ok(None);
        }
        let started = self.clock.now();
        let flushed = if wrote { "flushed, then " } else { "" };
        if wrote {
            self.flush()?;
        }
        self.idle(time, live);
        let seconds = self.clock.now().saturating_since(started).as_secs_f64();
        let done = format!("{flushed}{} without I/O", time.exact());
        Ok(Some(record::Settled { done, seconds, left_bytes: None }))
    }

    fn state(&mut self, state: &State, live: &mut dyn FnMut(Live)) -> Result<StateAnswer, WorldError> {
        self.lay_out(live)?;
        let started = self.clock.now();
        let mut complete = true;
        match state {
            State::Idle(time) => self.idle(*time, live),
            State::Prepare(prepare) => self.prepare(prepare, live)?,
            State::FailDisk(disk) => self.upkeep.fail_disk(*disk)?,
            State::Background(Background { wait, .. }) => {
                self.upkeep.rebuild(&self.clock)?;
                complete = self.wait_for_work(*wait, live)?;
            }
            State::Watch(Watch { work, wait }) => {
                self.upkeep.look(*work, &self.clock)?;
                complete = self.wait_for_work(*wait, live)?;
            }
        }
        let series = self.upkeep.series(started).into_iter().collect();
        Ok(StateAnswer { started, ended: self.clock.now(), series, complete: complete && !self.is_stopped() })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn put_back(&mut self) -> Vec<String> {
        let mut left = self.scratch.remove();
        left.extend(self.plain.end());
        left.extend(self.trees.remove().err().map(|error| error.to_string()));
        left.extend(self.read_ahead.iter_mut().filter_map(|set| set.put_back(&self.root).err()));
        left
    }
}

impl RealWorld {
    /// Makes the files, once.
    fn lay_out(&mut self, live: &mut dyn FnMut(Live)) -> Result<(), WorldError> {
        self.plain.lay_out(&mut self.targets, &self.clock, &self.stop, live)?;
        self.scratch.lay_out(&self.clock, &self.stop, live)
    }

    /// Looks once at what the targets hold that were there before. What cannot be looked at is not known, and the load
    /// itself tells why.
    fn look_inside(&mut self) {
        if !std::mem::take(&mut self.looks_inside) {
            return;
        }
        for number in (0..self.targets.len()).filter(|number| self.scratch.planned(*number).is_none()) {
            let Resolved { target, facts, stored, .. } = &mut self.targets[number];
            if let Place::File(path) | Place::Block { node: path, .. } = &target.place {
                *stored = host::target::stored(path, facts.size, &self.clock).ok().flatten();
            }
        }
    }

    /// Until the array's work runs, or with `to_its_end` has ended; false after an interrupt.
    fn wait_for_work(&mut self, to_its_end: bool, live: &mut dyn FnMut(Live)) -> Result<bool, WorldError> {
        let stop = self.stop.clone();
        self.upkeep.wait(to_its_end, &self.clock, &|| stop.load(Ordering::Relaxed), live)
    }

    fn idle(&self, time: Nanos, live: &mut dyn FnMut(Live)) {
        const SLICE: Nanos = Nanos::from_millis(100);
        let started = self.clock.now();
        let until = started.saturating_add(time);
        while self.clock.now() < until && !self.is_stopped() {
            let now = self.clock.now();
            self.clock.sleep_until(now.saturating_add(SLICE).min(until));
            let done = now.saturating_since(started).as_secs_f64() / time.as_secs_f64();
            live(Live {
                now,
                started,
                doing: "idle",
                progress: Progress::default(),
                p99: None,
                done: Some(done),
                heard: &[],
            });
        }
    }
}

/// What the page cache holds of all files of `assignments`; `None` where that is not known of one, or there are too
/// many to ask between two points.
fn cached_of(assignments: &[Assignment]) -> Option<Bytes> {
    const MOST: usize = 64;
    let mut paths: Vec<&Path> =
        assignments.iter().flat_map(|each| &each.files).map(|file| file.path.as_path()).collect();
    paths.sort_unstable();
    paths.dedup();
    let all = (1..=MOST).contains(&paths.len()).then_some(paths)?;
    let bytes: Option<Vec<u64>> =
        all.into_iter().map(|path| Some(host::pages::cached(path)?.get())).collect();
    Some(Bytes::new(bytes?.into_iter().sum()))
}

/// An interval closes with the first completion after it; a latency older than this is not shown as the current one.
const FRESH: Nanos = Nanos::from_secs(2);

/// What was heard of a load while it ran.
struct Heard {
    started: Instant,
    histories: Vec<History>,
    /// Of the last second in which something ended, and its end.
    p99: Option<(Instant, Nanos)>,
}

impl Heard {
    fn new(workloads: usize, keeps_seconds: bool, now: Instant) -> Heard {
        Heard { started: now, histories: vec![History::new(keeps_seconds); workloads], p99: None }
    }

    fn listen(&mut self, news: News<'_>, clock: &Clock, monitor: &Monitor, live: &mut dyn FnMut(Live)) {
        match news {
            News::Started(start, threads) => {
                self.started = start;
                for (worker, thread) in threads.iter().enumerate() {
                    monitor.watch_thread(thread.unsigned_abs(), &format!("worker {worker}"));
                }
            }
            News::Intervals(workload, intervals) => {
                let until = intervals.last().map(|interval| interval.until);
                self.p99 = until.zip(p99_of(&intervals)).or(self.p99);
                self.histories[workload].take(intervals);
            }
            News::Logged(..) => {}
            News::Progress(progress) => {
                let now = clock.now();
                // A silent target has no percentile.
                let fresh = self.p99.filter(|(until, _)| now.saturating_since(*until) < FRESH);
                let p99 = fresh.map(|(_, p99)| p99);
                let heard = &self.histories;
                live(Live { now, started: self.started, doing: "load", progress, p99, done: None, heard });
            }
        }
    }
}

/// An answer without its workers, who come with [`fill_in`].
fn answer(files: Vec<String>, span: Bytes, clock: &str, history: History) -> WorkloadAnswer {
    let engine = EngineUsed {
        name: String::new(),
        details: Vec::new(),
        fallback: None,
        clock: clock.into(),
        submit_batch: None,
        complete_batch: None,
    };
    WorkloadAnswer { engine, files, span, workers: Vec::new(), history }
}

fn answers(
    assignments: &[Assignment],
    outcomes: Vec<WorkerOutcome>,
    histories: Vec<History>,
) -> Vec<WorkloadAnswer> {
    let answer = |(assignment, history): (&Assignment, _)| {
        let mut answer = answer(names_of(assignment), span_of(&assignment.jobs), "batch", history);
        answer.engine.submit_batch = Some(assignment.workload.engine.submit_batch);
        answer.engine.complete_batch = Some(assignment.workload.engine.complete_batch);
        answer
    };
    fill_in(assignments.iter().zip(histories).map(answer).collect(), outcomes)
}

/// The names of the files of each of `assignments`.
fn names(assignments: &[Assignment]) -> Vec<Vec<String>> {
    assignments.iter().map(names_of).collect()
}

fn names_of(assignment: &Assignment) -> Vec<String> {
    assignment.files.iter().map(|file| file.path.display().to_string()).collect()
}

/// What the workers saw, given to the answers of their workloads.
fn fill_in(mut answers: Vec<WorkloadAnswer>, outcomes: Vec<WorkerOutcome>) -> Vec<WorkloadAnswer> {
    for outcome in outcomes {
        let answer = &mut answers[outcome.workload];
        answer.engine.name = outcome.engine.name.into();
        answer.engine.details = outcome.engine.details;
        answer.engine.fallback = outcome.engine.fallback;
        let (user, system) = (outcome.time.user, outcome.time.system);
        let cpu = Some(CpuUse { user_s: user.as_secs_f64(), system_s: system.as_secs_f64() });
        let (tally, verified) = (outcome.tally, outcome.verified);
        answer.workers.push(WorkerAnswer { tally, cpu, ceiling: None, verified });
    }
    answers
}

/// Whether anything of `plan` changes the target of that number, from 0.
fn is_changed(plan: &Plan, number: usize) -> bool {
    plan.points().iter().any(|point| match &point.task {
        Task::Load(load) => {
            load.workloads.iter().any(|workload| workload.uses(number) && workload.changes_data())
        }
        Task::State(_) => point.estimate().changes_data,
    })
}

/// Says no where a workload names a target that there is not.
pub(crate) fn check_on(plan: &Plan, targets: usize, what: &str) -> Result<(), String> {
    for workload in plan.points().iter().flat_map(Point::workloads) {
        if let Some(number) = workload.on.iter().find(|number| **number as usize > targets) {
            return Err(format!(
                "workload `{}` is `on` target {number}, and there are {targets} {what}",
                workload.name
            ));
        }
    }
    Ok(())
}

/// As many files of no storage as a workload, or its trace, names.
fn null_files(workload: &Workload) -> usize {
    let trace = workload.replay().and_then(|replay| replay.requests.as_ref());
    trace.map_or(0, |trace| trace.files().len()).max(files_needed(workload) as usize)
}

/// Says no to a workload, or to a request of its trace, that has no place on files of those lengths, before anything is
/// touched: a later phase that cannot be would be found out after hours.
pub(crate) fn check_room(plan: &Plan, lengths: impl Fn(&Workload) -> Vec<Bytes>) -> Result<(), WorldError> {
    let mut before: Option<&Workload> = None;
    let of_points =
        plan.points().iter().flat_map(|point| point.workloads().iter().map(move |each| (point, each)));
    for (point, workload) in of_points.filter(|(_, each)| each.tree.is_none()) {
        // Rounds and repetitions ask the same again.
        if before.is_none_or(|before| *before != *workload) {
            let no_room = |why| WorldError::NoRoom { point: point.name.clone(), why };
            compile(workload, &lengths(workload)).map_err(no_room)?;
        }
        before = Some(workload);
    }
    Ok(())
}

/// What the point that needs most of this machine needs of it, where there is room for that.
pub(crate) fn check_need(
    plan: &Plan,
    need: impl Fn(&Workload) -> Result<Need, WorldError>,
) -> Result<Need, WorldError> {
    let room = Room::read(&SysRoot::real());
    let mut most = Need::default();
    for point in plan.points() {
        let all = point.workloads().iter().map(&need);
        let together = all.reduce(|sum, one| Ok(sum?.and(one?))).transpose()?.unwrap_or_default();
        room.check(together).map_err(|why| WorldError::NoRoomHere { point: point.name.clone(), why })?;
        most = most.max(together);
    }
    Ok(most)
}

/// Says no where a target is not there: its name may be a directory's that was mistyped, or one that is not mounted.
fn check_there(targets: &[Resolved]) -> Result<(), WorldError> {
    let absent = targets.iter().find(|each| matches!(each.target.place, Place::NewFile(_)));
    absent.map_or(Ok(()), |each| {
        let name = &each.target.name;
        Err(WorldError::Unfit(format!(
            "{name}: there is no such file, directory or device; check the name and whether it is mounted, or let a \
             file be made there with `--create`"
        )))
    })
}

/// Says no where plan and targets do not go together, before anything is touched.
fn check_fit(plan: &Plan, targets: &[Resolved]) -> Result<(), WorldError> {
    let unfit = |why: String| Err(WorldError::Unfit(why));
    let is_null = |each: &Resolved| matches!(each.target.place, Place::Null { .. });
    if targets.is_empty() {
        return unfit("no target; name one with `--on`, such as `--on /mnt/array`".into());
    }
    if targets.iter().any(is_null) {
        verify::refuse(plan, "`null:`").or_else(unfit)?;
    }
    check_on(plan, targets.len(), "named with `--on`").or_else(unfit)?;
    if targets.len() > 1 && targets.iter().any(is_null) {
        return unfit("`null:` cannot be joined with other targets; name it alone".into());
    }
    let makes_files = |each: &Resolved| matches!(each.target.place, Place::Directory(_) | Place::Null { .. });
    let one_directory = targets.len() == 1 && makes_files(&targets[0]);
    for workload in plan.points().iter().flat_map(Point::workloads) {
        if workload.files != Files::Shared && !one_directory && !owns_targets(workload, targets) {
            return unfit(format!(
                "workload `{}` wants {} files of its own; that takes one directory as target, or so many files or \
                 devices that it is `on`, not {}",
                workload.name,
                files_needed(workload),
                targets.iter().map(|each| each.target.name.as_str()).collect::<Vec<_>>().join(", ")
            ));
        }
        check_depth(workload, targets)?;
        let used = targets.iter().enumerate().filter(|(number, _)| workload.uses(*number));
        for each in used.map(|(_, each)| each).filter(|each| !is_null(each) && workload.direct) {
            check_direct(workload, each)?;
        }
    }
    Ok(())
}

/// Says no to more requests of one worker than a ring holds.
fn check_depth(workload: &Workload, targets: &[Resolved]) -> Result<(), WorldError> {
    let takes_ring = matches!(workload.engine.kind, EngineKind::Auto | EngineKind::IoUring)
        && workload.tree.is_none()
        && !targets.iter().any(|each| matches!(each.target.place, Place::Null { .. }));
    if !takes_ring || workload.depth <= URING_DEPTH_MAX {
        return Ok(());
    }
    Err(WorldError::Unfit(format!(
        "workload `{}`: io_uring holds {URING_DEPTH_MAX} requests of a worker, not {}; write `depth = \
         {URING_DEPTH_MAX}` or less, and use more `workers`",
        workload.name, workload.depth
    )))
}

fn check_direct(workload: &Workload, each: &Resolved) -> Result<(), WorldError> {
    let name = &each.target.name;
    let Some(direct) = &each.facts.direct else { return Ok(()) };
    let Some(unit) = direct.offset() else {
        return Err(WorldError::Unfit(format!(
            "{name}: its file system has no direct I/O; run with `--set direct=false` and read the warning"
        )));
    };
    let sizes = workload.sizes.0.iter().map(|(size, _)| *size);
    let aligns = workload.lines.iter().filter_map(|line| line.align).chain([workload.alignment()]);
    // What no device could take is told later with the line of the trace.
    let is_told_later =
        |size: &Bytes| workload.replay().is_some() && !size.is_multiple_of(Bytes::new(SECTOR_BYTES));
    match sizes.chain(aligns).find(|size| !size.is_multiple_of(unit) && !is_told_later(size)) {
        None => Ok(()),
        Some(size) => Err(WorldError::Unfit(format!(
            "{name}: direct I/O needs multiples of {unit}, workload `{}` asks for {size}; \
             use a multiple, or `--set direct=false`",
            workload.name
        ))),
    }
}
