//! A virtual array: the trait of a world over its simulation.

mod breakdown;
mod courses;
mod load;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use array::background::{BackgroundKind, BackgroundParams};
use array::device::DeviceParams;
use array::files::Unwritten;
use array::raid::HealthError;
use array::sim::{FilePlace, Sim, Topology, WorkError, WorkOrder};
use array::spec::{self, ArraySpec, Shipped, Source};
use conduct::{
    Apart, Gate, Listener, Live, Machine, MeasuredLoad, MeasuredState, Rank, World, WorldError, checks,
};
use document::Errors;
use record::names::fact;
use record::{Breakdown, Environment, Series};
use units::convert::narrow;
use units::{Bytes, Instant, Nanos, Share};
use workload::plan::{self, Background, Load, Plan, Settle, State, Work};
use workload::room::Need;
use workload::spec::{Files, Workload};
use workload::{ZoneStates, compile, file_size_needed, files_needed};

use crate::validation::validation;

/// What is waited for at the longest until caches are clean. The largest of the library take minutes; a set that has
/// failed never takes what is left.
const SETTLE_MOST: Nanos = Nanos::from_secs(3600);

/// A virtual array with its hosts.
pub struct ModelledWorld {
    asked: String,
    environment: Environment,
    spec: Arc<ArraySpec>,
    /// How far its model was from published figures.
    validation: Option<record::Validation>,
    /// The array of `spec`, perhaps with something changed.
    topology: Arc<Topology>,
    seed: u64,
    sim: Sim,
    /// When the clock of `sim` began, on that of the run.
    since: Nanos,
    /// Disks that have been failed, in order.
    failed: Vec<u32>,
    /// Whether rest leaves nothing behind but these: no page map, no background work, no file system.
    is_forgetful: bool,
    sizes: Vec<Bytes>,
    /// How far zones of its LUNs are written.
    zones: ZoneStates,
    stop: Arc<AtomicBool>,
    /// Background work that goes on beside the phases that follow, and since when.
    works: Vec<(u32, &'static str, Instant)>,
    /// What the file system of its host has not yet written.
    held: Unwritten,
    /// How many files of each worker there are, by workload, where what made them wore out.
    worn: BTreeMap<String, u64>,
    listener: Option<Box<dyn Listener>>,
    keeps_shares: bool,
    keeps_seconds: bool,
}

impl ModelledWorld {
    /// The array at `address`, as `array:md3000?raid=10`; a file of `library` or one that is shipped.
    ///
    /// `machine` runs it; `stop` is set by whoever handles signals.
    pub fn open(
        plan: &Plan,
        address: &str,
        library: &dyn Source,
        machine: &Machine,
        stop: Arc<AtomicBool>,
    ) -> Result<ModelledWorld, ModelError> {
        ModelledWorld::changed(plan, address, library, machine, stop, |_| ())
    }

    /// The same with something of it changed.
    pub fn changed(
        plan: &Plan,
        address: &str,
        library: &dyn Source,
        machine: &Machine,
        stop: Arc<AtomicBool>,
        change: impl FnOnce(&mut Topology),
    ) -> Result<ModelledWorld, ModelError> {
        let spec = spec::array(library, address)?;
        let validation = validation(library, address, &spec);
        let mut topology = spec.topology.clone();
        change(&mut topology);
        // What it says of its caches is of those that it has now.
        let spec = ArraySpec { topology: topology.clone(), ..spec };
        let made = ModelledWorld::made(plan, address, spec, topology, machine, stop)?;
        Ok(ModelledWorld { validation, ..made })
    }

    /// The array at `address` that was read before.
    pub(crate) fn read(
        plan: &Plan,
        address: &str,
        spec: &ArraySpec,
        machine: &Machine,
        stop: Arc<AtomicBool>,
    ) -> Result<ModelledWorld, ModelError> {
        ModelledWorld::made(plan, address, spec.clone(), spec.topology.clone(), machine, stop)
    }

    /// The array that `spec` describes with the parts of `topology`.
    pub(crate) fn made(
        plan: &Plan,
        address: &str,
        spec: ArraySpec,
        topology: Topology,
        machine: &Machine,
        stop: Arc<AtomicBool>,
    ) -> Result<ModelledWorld, ModelError> {
        let sim = Sim::new(&topology, plan.seed).map_err(|error| ModelError::Geometry(error.to_string()))?;
        let remembers =
            |model: &DeviceParams| matches!(model, DeviceParams::Flash(flash) if flash.remembers());
        let sizes = sim.lun_sizes();
        checks::verifies_nothing(plan, "a virtual array").map_err(ModelError::Unfit)?;
        checks::names_targets(plan, sizes.len(), "LUNs; `array:NAME?luns=N` has more")
            .map_err(ModelError::Unfit)?;
        let mut world = ModelledWorld {
            asked: address.into(),
            environment: machine.environment.clone(),
            spec: Arc::new(spec),
            validation: None,
            is_forgetful: !topology.models.iter().any(remembers),
            topology: Arc::new(topology),
            seed: plan.seed,
            sim,
            since: Nanos::ZERO,
            failed: Vec::new(),
            sizes,
            zones: ZoneStates::default(),
            stop,
            works: Vec::new(),
            held: Unwritten::default(),
            worn: BTreeMap::new(),
            listener: None,
            keeps_shares: false,
            keeps_seconds: false,
        };
        if world.traces() {
            world.sim.trace_latency();
        }
        checks::fits_lengths(plan, |workload| compile(workload, &world.files(workload).1))
            .map_err(|error| ModelError::Unfit(error.to_string()))?;
        checks::fits_machine(plan, &machine.room, |workload| Ok(Need::virtually(workload)))
            .map_err(|error| ModelError::Unfit(error.to_string()))?;
        Ok(world)
    }

    /// The simulation, for what no plan says.
    pub(crate) fn sim(&mut self) -> &mut Sim {
        self.is_forgetful = false;
        &mut self.sim
    }

    /// The sizes of its LUNs.
    pub fn lun_sizes(&self) -> &[Bytes] {
        &self.sizes
    }

    /// As [`open`](ModelledWorld::open), from the shipped library alone and on a machine without limits.
    pub fn shipped(plan: &Plan, address: &str, stop: Arc<AtomicBool>) -> Result<ModelledWorld, ModelError> {
        ModelledWorld::open(plan, address, &Shipped, &Machine::default(), stop)
    }

    /// Where the files of `workload` lie, and how long they are: LUNs, or equal parts of them where the workload
    /// has files of its own.
    fn files(&self, workload: &Workload) -> (Vec<FilePlace>, Vec<Bytes>) {
        let luns = (0u32..).zip(&self.sizes).filter(|(lun, _)| workload.uses(*lun as usize));
        if workload.files == Files::Shared {
            return luns.map(|(lun, size)| (FilePlace::whole(lun), *size)).unzip();
        }
        let luns: Vec<(u32, Bytes)> = luns.map(|(lun, size)| (lun, *size)).collect();
        let count = files_needed(workload);
        let on_each = count.div_ceil(luns.len().max(1) as u64).max(1);
        (0..count)
            .map(|number| {
                let (lun, size) = luns[narrow::<usize>(number) % luns.len()];
                let len = Bytes::new(size.get() / on_each).round_down(Bytes::KIB * 4);
                let len = file_size_needed(workload).unwrap_or(len).min(len);
                (FilePlace { lun, start: len * (number / luns.len() as u64) }, len)
            })
            .unzip()
    }

    fn fail_disk(&mut self, disk: u32) -> Result<(), WorldError> {
        let (array, disks) = (&self.spec.name, self.spec.topology.disks.len());
        if disk as usize >= disks {
            return Err(WorldError::unfit(format!(
                "{array} has no disk {disk}; its {disks} disks count from 0"
            )));
        }
        self.sim.fail_disk(disk).map_err(disk_refused)?;
        self.failed.push(disk);
        Ok(())
    }

    /// What was done to the array stays part of what its next load finds, as within one plan.
    pub(crate) fn remembers(&mut self) {
        self.is_forgetful = false;
    }

    /// Whether each request is followed. A queue alone is a few events a request, and following takes a tenth of its time; it has
    /// nothing to tell but its own wait.
    fn traces(&self) -> bool {
        let is_queue = |model: &DeviceParams| matches!(model, DeviceParams::Queue(_));
        self.keeps_shares || !self.topology.models.iter().all(is_queue)
    }

    /// The array at rest, with the disks that have failed, as it begins the point of that number.
    fn renewed(&self, index: usize) -> Sim {
        // Of the first point the seed is the plan's own; the others are as far from it as from each other.
        let seed = self.seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut sim = Sim::new(&self.topology, seed).expect("it was made of this topology before");
        for disk in &self.failed {
            sim.fail_disk(*disk).expect("it failed before");
        }
        if self.traces() {
            sim.trace_latency();
        }
        sim
    }

    /// Starts work, and lets it end where it is waited for: how far it came, and then where the time went.
    fn background(&mut self, work: &Background) -> Result<(Vec<Series>, Option<Breakdown>), WorldError> {
        self.is_forgetful = false;
        let (kind, name) = kind_of(work.work);
        let order = WorkOrder { kind, set: 0, slot: None };
        let started = self.sim.now();
        let params = match work.rate {
            None => self.sim.work_params(kind),
            Some(share) => self.at_rate(kind, name, share)?,
        };
        if !work.wait {
            let number = self.sim.start_work_as(order, params).map_err(work_refused)?;
            self.works.push((number, name, started));
            return Ok((self.progress_of(number, name, started).into_iter().collect(), None));
        }
        let (number, parts) = self.sim.metered(|sim| {
            let number = sim.start_work_as(order, params)?;
            sim.finish_work(number);
            Ok(number)
        });
        let series = self.progress_of(number.map_err(work_refused)?, name, started);
        let breakdown = breakdown::breakdown(&parts, started, self.sim.now());
        Ok((series.into_iter().collect(), Some(breakdown)))
    }

    /// The array's figures for work, at another rate.
    fn at_rate(
        &self,
        kind: BackgroundKind,
        name: &str,
        share: Share,
    ) -> Result<BackgroundParams, WorldError> {
        let own = self.spec.topology.background.iter().find(|params| params.kind == kind).copied();
        let params = own.ok_or_else(|| {
            let array = &self.spec.name;
            WorldError::unfit(format!("{array} has no figures for {name}, so that its rate cannot be set"))
        })?;
        Ok(params.at(share))
    }

    /// Looks at work beside the loads, to its end if it is waited for: how far it came, and then where the time went.
    fn watch(&mut self, watch: &plan::Watch) -> Result<(Vec<Series>, Option<Breakdown>), WorldError> {
        let name = kind_of(watch.work).1;
        if !self.works.iter().any(|(_, other, _)| *other == name) {
            let array = &self.spec.name;
            return Err(WorldError::unfit(format!("{array} has no {name} under way that could be watched")));
        }
        if !watch.wait {
            return Ok((self.series_of_works(), None));
        }
        let all = std::mem::take(&mut self.works);
        let (watched, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, other, _)| *other == name);
        self.works = others;
        let numbers: Vec<u32> = watched.iter().map(|(number, ..)| *number).collect();
        let from = self.sim.now();
        let ((), parts) = self.sim.metered(|sim| numbers.iter().for_each(|number| sim.finish_work(*number)));
        let breakdown = breakdown::breakdown(&parts, from, self.sim.now());
        let progress =
            watched.iter().filter_map(|(number, name, since)| self.progress_of(*number, name, *since));
        Ok((progress.collect(), Some(breakdown)))
    }

    /// How far the work beside the loads has come.
    fn series_of_works(&self) -> Vec<Series> {
        let progress = |(number, name, since): &(u32, &str, Instant)| self.progress_of(*number, name, *since);
        self.works.iter().filter_map(progress).collect()
    }

    /// Its beginning, each percent against time, and, until it has ended, how far it is now.
    fn progress_of(&self, number: u32, name: &str, started: Instant) -> Option<Series> {
        let progress = self.sim.work_progress(number)?;
        let times = progress.percents.iter().map(|after| started.saturating_add(*after));
        let mut course: Vec<(Instant, f64)> = vec![(started, 0.0)];
        course.extend(times.zip((1..=100).map(|percent| f64::from(percent) / 100.0)));
        let now = (self.sim.now(), progress.done.get());
        if progress.ended.is_none() && course.last().is_some_and(|last| last.0 < now.0 && last.1 <= now.1) {
            course.push(now);
        }
        debug_assert!(course.is_sorted(), "no more is done earlier");
        let (at_ns, values) = course.iter().map(|(at, part)| (at.nanos(), *part)).unzip();
        let named = Series::new(format!("{name}{}", record::names::series::DONE), "share", "the model");
        Some(Series { at_ns, values, ..named })
    }
}

/// Why there is no such virtual array.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Its description.
    #[error(transparent)]
    Spec(#[from] Errors),
    /// Its RAID sets.
    #[error("{0}")]
    Geometry(String),
    /// The plan asks for what it does not have.
    #[error("{0}")]
    Unfit(String),
}

/// `73.36 GB of 146.81 GB of disks 4, 5`: what sets leave over of members that are larger than their smallest; `None` where nothing is.
fn unused_in_words(topology: &Topology) -> Option<String> {
    let unused = topology.unused_of_members();
    let (_, most) = unused.iter().max_by_key(|(_, left)| *left)?;
    let size_of = |disk: u32| topology.models.get(*topology.disks.get(disk as usize)? as usize)?.capacity();
    let (disk, _) = unused.iter().find(|(_, left)| left == most)?;
    let all: Bytes = unused.iter().map(|(_, left)| *left).sum();
    let named: Vec<String> = unused.iter().map(|(disk, _)| disk.to_string()).collect();
    let disks = match named.len() {
        1 => format!("disk {}", named[0]),
        2..=8 => format!("disks {}", named.join(", ")),
        many => format!("{many} disks"),
    };
    Some(format!("{all} of {disks}, up to {most} of {} each", size_of(*disk)?))
}

fn work_refused(error: WorkError) -> WorldError {
    WorldError::unfit(error.to_string())
}

fn disk_refused(error: HealthError) -> WorldError {
    WorldError::unfit(error.to_string())
}

fn kind_of(work: Work) -> (BackgroundKind, &'static str) {
    match work {
        Work::Rebuild => (BackgroundKind::Rebuild, "rebuild"),
        Work::Initialise => (BackgroundKind::Initialise, "initialise"),
        Work::Clone => (BackgroundKind::Clone, "clone"),
        Work::Verify => (BackgroundKind::Verify, "verify"),
        Work::Scrub => (BackgroundKind::Scrub, "scrub"),
    }
}

impl World for ModelledWorld {
    fn kind(&self) -> record::World {
        record::World::Array
    }

    fn models_host(&self) -> bool {
        true
    }

    fn join(&mut self, _plan: &Plan, _rank: Rank, _gate: Box<dyn Gate>) -> Result<(), WorldError> {
        Err(WorldError::unfit("a virtual array is one simulation; run it without `mpirun`"))
    }

    fn environment(&self) -> Environment {
        self.environment.clone()
    }

    fn targets(&self) -> Vec<record::Target> {
        let figures = self.spec.figures.iter().map(|figure| format!("{} = {}", figure.key, figure.value));
        let facts = [
            ("model", self.spec.name.clone()),
            ("about", self.spec.about.clone()),
            (fact::DESCRIPTION, figures.collect::<Vec<_>>().join("; ")),
        ];
        let fitted =
            self.spec.is_fitted().then(|| (fact::FITTED, "rates and mean response times".to_owned()));
        let volatile =
            self.topology.volatile_behind_flush().map(|most| (fact::VOLATILE_BEHIND_FLUSH, most.exact()));
        let unused = unused_in_words(&self.topology).map(|told| (fact::UNUSED, told));
        let more = fitted.into_iter().chain(volatile).chain(unused);
        vec![record::Target {
            address: self.asked.clone(),
            kind: "array".into(),
            path: None,
            size_bytes: self.sizes.iter().copied().sum::<Bytes>().get(),
            caches: Vec::new(),
            facts: facts.into_iter().chain(more).map(|(key, value)| (key.to_owned(), value)).collect(),
            validation: self.validation.clone(),
        }]
    }

    fn has_percentiles(&self) -> bool {
        !self.spec.is_fitted()
    }

    fn write_cache(&self) -> Option<Bytes> {
        Some(self.spec.write_cache())
    }

    fn now(&self) -> Instant {
        self.sim.now().saturating_add(self.since)
    }

    fn since(&self) -> Nanos {
        self.since
    }

    fn renew(&mut self, index: usize) {
        if self.is_forgetful {
            self.since = self.now().saturating_since(Instant::default());
            self.sim = self.renewed(index);
        }
    }

    fn apart(&self, index: usize, load: &Load) -> Option<Apart> {
        // Files that were made stay, and so do write pointers.
        let leaves =
            load.workloads.iter().any(|workload| workload.tree.is_some() || workload.zones.are_there());
        if !self.is_forgetful || leaves || self.listener.is_some() {
            return None;
        }
        let (asked, environment, spec) = (self.asked.clone(), self.environment.clone(), self.spec.clone());
        let (topology, failed, sizes) = (self.topology.clone(), self.failed.clone(), self.sizes.clone());
        let (stop, seed) = (self.stop.clone(), self.seed);
        let (keeps_shares, keeps_seconds) = (self.keeps_shares, self.keeps_seconds);
        Some(Box::new(move || {
            let sim = Sim::new(&topology, seed).expect("it was made of this topology before");
            let mut world = ModelledWorld {
                asked: asked.clone(),
                environment: environment.clone(),
                spec: spec.clone(),
                validation: None,
                topology: topology.clone(),
                seed,
                sim,
                since: Nanos::ZERO,
                failed: failed.clone(),
                is_forgetful: true,
                sizes: sizes.clone(),
                zones: ZoneStates::default(),
                stop: stop.clone(),
                works: Vec::new(),
                held: Unwritten::default(),
                worn: BTreeMap::new(),
                listener: None,
                keeps_shares,
                keeps_seconds,
            };
            world.renew(index);
            Box::new(world)
        }))
    }

    fn skip(&mut self, time: Nanos) {
        self.since += time;
    }

    fn keep_shares(&mut self) {
        self.keeps_shares = true;
        self.sim.trace_latency();
    }

    fn keep_seconds(&mut self) {
        self.keeps_seconds = true;
    }

    fn tell(&mut self, listener: Box<dyn Listener>) {
        self.listener = Some(conduct::listener::join(self.listener.take(), listener));
    }

    fn load(&mut self, load: &Load, live: &mut dyn FnMut(Live)) -> Result<MeasuredLoad, WorldError> {
        self.run_load(load, live)
    }

    fn settle(
        &mut self,
        settle: Settle,
        _: bool,
        _: &mut dyn FnMut(Live),
    ) -> Result<Option<record::Settled>, WorldError> {
        let started = self.sim.now();
        let done = match settle {
            Settle::None => return Ok(None),
            Settle::Auto if self.sim.quiesce(SETTLE_MOST) => {
                "write-back caches written out, read caches emptied".to_owned()
            }
            Settle::Auto => format!("write-back caches not yet written out after {SETTLE_MOST}"),
            Settle::For(time) => {
                self.sim.idle_until(started.saturating_add(time));
                format!("{} without I/O", time.exact())
            }
        };
        let left = self.sim.dirty() + self.held.unwritten();
        let seconds = self.sim.now().saturating_since(started).as_secs_f64();
        Ok(Some(record::Settled { done, seconds, left_bytes: Some(left.get()) }))
    }

    fn state(&mut self, state: &State, _: &mut dyn FnMut(Live)) -> Result<MeasuredState, WorldError> {
        let started = self.sim.now();
        let (mut series, mut breakdown) = (Vec::new(), None);
        match state {
            State::Idle(time) => self.sim.idle_until(started.saturating_add(*time)),
            // A model has no content, no trim state and no read-ahead of this machine: it is always prepared.
            State::Prepare(_) => {}
            State::FailDisk(disk) => self.fail_disk(*disk)?,
            State::Background(work) => (series, breakdown) = self.background(work)?,
            State::Watch(watch) => (series, breakdown) = self.watch(watch)?,
        }
        Ok(MeasuredState { started, ended: self.sim.now(), series, breakdown, complete: !self.is_stopped() })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
