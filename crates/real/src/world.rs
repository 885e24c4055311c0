//! Real storage: the trait of a world over what the host can do.

mod load;
mod prepare;
mod told;
mod trees;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use conduct::listener::Listener;
use conduct::{Gate, Live, MeasuredLoad, MeasuredState, Rank, World, WorldError, Wrote, checks};
use host::clock::Clock;
use host::engine::FileRef;
use host::environment::UringState;
use host::monitor::{DeviceCounters, Monitor};
use host::restore::{Journal, QueueSetting};
use host::safety::{consent_for, permit};
use host::target::{Facts, Target, TargetKind};
use host::verify::Books;
use host::{DevNo, SysRoot};
use record::Environment;
use units::convert::narrow;
use units::{Bytes, Instant, Nanos};
use workload::plan::{Load, Plan, SETTLE_IDLE, Settle, State, Watch};
use workload::room::Need;
use workload::spec::{EngineKind, Workload};
use workload::tree::FileOp;
use workload::{ZoneStates, compile, files_needed};

use crate::checks::{check_fit, check_there, holes, is_changed};
use crate::describe;
use crate::failure::HostError;
use crate::options::RealOptions;
use crate::plain_set::PlainSet;
use crate::scratch_set::{ScratchSet, files_of};
use crate::target::{Resolved, find, path_of};
use crate::upkeep::Upkeep;
use crate::verify::books;
use crate::zoned::{on_zones, zoned_of};
use trees::TreeSet;

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
    /// What trims do to a target that is no device.
    holes: Option<String>,
    queues: Vec<QueueSetting>,
    journal: Journal,
    trees: TreeSet,
    upkeep: Upkeep,
    /// What was written where; `None` where nothing is to be held against it.
    books: Option<Arc<Books>>,
    /// How far zones are written.
    zones: ZoneStates,
    /// Whether what targets hold is still to be looked at.
    looks_inside: bool,
    listener: Option<Box<dyn Listener>>,
    keeps_seconds: bool,
    /// Which of several processes this is, and where it waits for the others.
    rank: Option<(Rank, GateOf)>,
    /// What the others wrote before the load that comes.
    others_wrote: Vec<(u32, Wrote)>,
    /// Bytes that each worker wrote in the last load that wrote, where that may have ended early: a later one reads no more.
    written: BTreeMap<u32, Bytes>,
    /// What the kernel had counted when the last load began.
    before: Option<describe::Counted>,
}

/// A gate that says nothing of itself.
struct GateOf(Box<dyn Gate>);

impl std::fmt::Debug for GateOf {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Gate")
    }
}

impl std::ops::Deref for GateOf {
    type Target = dyn Gate;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl std::ops::DerefMut for GateOf {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl RealWorld {
    /// Resolves the targets and asks the safety rules. Writes nothing yet.
    ///
    /// `stop` is set by whoever handles signals.
    pub fn open(plan: &Plan, options: &RealOptions, stop: Arc<AtomicBool>) -> Result<RealWorld, WorldError> {
        let root = SysRoot::real();
        let mut targets = Vec::with_capacity(options.targets.len());
        for name in &options.targets {
            let (target, facts) = find(&root, name)?;
            let zoned = zoned_of(&target, &facts);
            targets.push(Resolved { target, facts, permit: None, stored: None, zoned });
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
                let permit = permit(&root, &resolved.target, consent).map_err(HostError::told)?;
                resolved.permit = Some(Arc::new(permit));
            }
        }
        let environment = host::environment::Environment::read(&root);
        let holes = holes(plan, &targets);
        let plain = PlainSet::plan(&root, options, &mut targets)?;
        let scratch = match plain.is_any() {
            true => ScratchSet::default(),
            false => ScratchSet::plan(plan, &targets, options, &environment)?,
        };
        let trees = TreeSet::plan(plan, &targets, options)?;
        let world = RealWorld {
            root,
            clock: Clock::start(),
            stop,
            environment,
            targets,
            scratch,
            plain,
            holes,
            queues: Vec::new(),
            journal: options.journal.clone(),
            trees,
            upkeep: Upkeep::new(&options.upkeep),
            books: books(plan, options.verify_state.as_deref()),
            zones: ZoneStates::default(),
            looks_inside: options.looks_inside,
            listener: None,
            keeps_seconds: false,
            rank: None,
            others_wrote: Vec::new(),
            written: BTreeMap::new(),
            before: None,
        };
        if !world.plain.is_any() {
            checks::fits_lengths(plan, |workload| {
                compile(&on_zones(workload, &world.targets), &world.lengths_for(workload))
            })?;
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
        let is_null = matches!(
            self.targets[..],
            [Resolved { target: Target { kind: TargetKind::Null { .. }, .. }, .. }]
        );
        checks::fits_machine(plan, &host::room::read(&self.root), |workload| {
            if workload.tree.is_some() {
                return Ok(Need::of_files(workload));
            }
            let mut workload = workload.clone();
            if is_null {
                workload.engine.kind = EngineKind::Null;
            }
            host::room::need(&workload, refusal).map_err(HostError::told)
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

    /// That files which grow may fill their file system; `None` where there is room for all of them.
    pub fn room_words(&self) -> Option<&str> {
        self.plain.words()
    }

    /// What trims do to the first target that is no device; `None` where nothing trims one.
    pub fn trim_words(&self) -> Option<&str> {
        self.holes.as_deref()
    }

    /// The consents that permits rest on.
    pub fn consents(&self) -> Vec<String> {
        self.targets.iter().filter_map(|each| each.permit.as_ref()?.consent.clone()).collect()
    }

    pub(crate) fn targets(&self) -> &[Resolved] {
        &self.targets
    }

    pub(crate) fn zones(&self) -> &ZoneStates {
        &self.zones
    }

    /// Files and lengths for one workload, in the order of its file numbers.
    fn files_for(&self, workload: &Workload) -> (Vec<FileRef>, Vec<Bytes>) {
        if let [Resolved { target: Target { kind: TargetKind::Null { size }, .. }, .. }] = self.targets[..] {
            return (Vec::new(), vec![size; null_files(workload)]);
        }
        files_of(workload, &self.targets).into_iter().map(|number| self.file(number)).unzip()
    }

    /// The lengths of the files of one workload, also of those that are not made yet.
    fn lengths_for(&self, workload: &Workload) -> Vec<Bytes> {
        if let [Resolved { target: Target { kind: TargetKind::Null { size }, .. }, .. }] = self.targets[..] {
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
        let path = match &resolved.target.kind {
            // Its engine finds it by that.
            TargetKind::Nbd(export) => export.uri.to_string().into(),
            _ => resolved.target.path().map(Into::into).unwrap_or_default(),
        };
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
            // Asking a server again would be a request of its own.
            if matches!(target.kind, TargetKind::Null { .. } | TargetKind::Nbd(_)) {
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
            .map_err(WorldError::failed("a thread for the monitors"))
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
            .map(|(number, each)| describe::target(each, (&self.scratch, &self.plain), number))
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

    fn counted_since(&mut self) -> Option<Vec<record::DeviceCounters>> {
        let before = self.before.take()?;
        Some(describe::device_counters(&before, &self.counted()))
    }

    fn tell(&mut self, listener: Box<dyn Listener>) {
        self.listener = Some(conduct::listener::join(self.listener.take(), listener));
    }

    fn join(&mut self, plan: &Plan, rank: Rank, gate: Box<dyn Gate>) -> Result<(), WorldError> {
        shareable(plan)?;
        if self.books.as_ref().is_some_and(|books| books.are_kept()) {
            let why = "`--verify-state` keeps what one process has written; leave it out, or run it without `mpirun`";
            return Err(WorldError::unfit(why));
        }
        if !rank.makes_files() {
            self.scratch.follow();
            self.plain.follow()?;
            self.trees.follow();
        }
        self.rank = Some((rank, GateOf(gate)));
        Ok(())
    }

    fn lengths(&self) -> Vec<Option<Bytes>> {
        let was_there = |(number, each): (usize, &Resolved)| match each.target.kind {
            TargetKind::Null { size } => Some(size),
            TargetKind::File(_) | TargetKind::Block { .. } | TargetKind::Nbd(_) => {
                self.scratch.planned(number).is_none().then_some(each.facts.size)
            }
            _ => None,
        };
        self.targets.iter().enumerate().map(was_there).collect()
    }

    fn wrote(&mut self) -> Wrote {
        self.tell_others()
    }

    fn others_wrote(&mut self, others: Vec<(u32, Wrote)>) {
        self.others_wrote = others;
    }

    fn drive_for(&mut self, number: u32) {
        if let Some((rank, _)) = &mut self.rank {
            rank.drives = number;
        }
    }

    fn load(&mut self, load: &Load, live: &mut dyn FnMut(Live)) -> Result<MeasuredLoad, WorldError> {
        if let (Some(_), Some(worn)) = (&self.rank, load.workloads.iter().find(|each| each.stop.wear_out)) {
            let what = format!(
                "workload `{}`: `wear_out` counts the workers of one process, not of a team",
                worn.name
            );
            return Err(WorldError::unfit(what));
        }
        match load.workloads.iter().any(|workload| workload.tree.is_some()) {
            true => self.load_trees(load, live),
            false => self.load_blocks(load, live),
        }
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
        if self.targets.iter().all(|each| matches!(each.target.kind, TargetKind::Null { .. })) {
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

    fn state(&mut self, state: &State, live: &mut dyn FnMut(Live)) -> Result<MeasuredState, WorldError> {
        self.lay_out(live)?;
        let started = self.clock.now();
        let mut complete = true;
        match state {
            State::Idle(time) => self.idle(*time, live),
            State::Prepare(prepare) => self.prepare(prepare, live)?,
            State::FailDisk(disk) => self.upkeep.fail_disk(*disk)?,
            State::Background(background) => {
                self.upkeep.begin(background, &self.clock)?;
                complete = self.wait_for_work(background.wait, live)?;
            }
            State::Watch(Watch { work, wait }) => {
                self.upkeep.look(*work, &self.clock)?;
                complete = self.wait_for_work(*wait, live)?;
            }
        }
        let series = self.upkeep.series(started).into_iter().collect();
        Ok(MeasuredState {
            started,
            ended: self.clock.now(),
            series,
            breakdown: None,
            complete: complete && !self.is_stopped(),
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn put_back(&mut self) -> Vec<String> {
        let mut left = self.scratch.remove();
        match self.plain.is_any() {
            true => left.extend(self.plain.end()),
            false => {
                let mut looks = host::plain::Looks::default();
                self.targets.iter().for_each(|each| leave(each, &mut looks));
            }
        }
        left.extend(self.trees.remove().err().map(|error| error.to_string()));
        left.extend(self.queues.iter_mut().filter_map(|set| set.put_back(&self.root).err()));
        left
    }
}

/// Marks a file again that nobody but this program has written, so that it may be written so again. One that cannot be marked, or
/// that is another one by now, counts as the user's.
fn leave(each: &Resolved, looks: &mut host::plain::Looks) {
    let permit = each.permit.as_ref().and_then(|permit| Some((permit, permit.mark?)));
    let Some((permit, mark)) = permit else { return };
    if let Ok(Some(file)) = permit.open(0) {
        let _users = host::plain::leave(&file, mark, looks);
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
            if let TargetKind::File(path) | TargetKind::Block { node: path, .. } = &target.kind {
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
            live(Live { done: Some(done), ..Live::beside(started, now, "idle") });
        }
    }
}

/// That nothing in `plan` needs its workers in one process.
fn shareable(plan: &Plan) -> Result<(), WorldError> {
    for workload in plan.points().iter().flat_map(workload::plan::Point::workloads) {
        let what = match workload {
            _ if workload.tree.as_ref().is_some_and(|tree| tree.op == FileOp::Rename) => "renames files",
            _ if workload.sequence.read_back.is_some() => "reads back what it wrote",
            _ if workload.stop.steady.is_some() => "ends once its figure is steady",
            _ if workload.stop.exit_all => "ends the others when it ends",
            _ if workload.sequence.flow.is_some() => "keeps a proportion to others",
            _ if workload.zones.are_there() => "shares write pointers of zones",
            _ if workload.stop.with_others => "ends with the others",
            _ => continue,
        };
        return Err(WorldError::unfit(format!(
            "workload `{}` {what}, for which all workers must be in one process; run it without `mpirun`",
            workload.name
        )));
    }
    Ok(())
}

/// As many files of no storage as a workload, or its trace, names.
fn null_files(workload: &Workload) -> usize {
    let trace = workload.replay().and_then(|replay| replay.requests.as_ref());
    trace.map_or(0, |trace| trace.files().len()).max(narrow::<usize>(files_needed(workload)))
}
