//! The simulation: one event loop, one integer clock, any number of jobs.
//!
//! The life of a request, each step a method of the part it names:
//!
//! 1. [`Sim::run`] asks the job for what is due ([`workload::Job::plan`]); `issue` gives each request a place.
//! 2. `prepare` at the host: file and processor, then splitting into parts that link and protocol carry.
//! 3. `send`: the LUN's depth, a path, adapter and link; event [`Event::Wire`] when the command, and the data of a
//!    write, are at the controller.
//! 4. `arrive`: the controller's processors, then the cache, then the back end for what the cache cannot answer.
//! 5. [`back::BackEnd`]: the RAID planner's steps as member commands, each one event at its device
//!    ([`Event::Disk`] or [`Event::Member`]), arithmetic between reads and writes ([`Event::Chain`]).
//! 6. `respond`: data back over bus, link and adapter; event [`Event::Wire`] when they are at the host.
//! 7. `answered`: the part joins its request, the request is settled ([`workload::Job::complete`]), and the job is asked
//!    again.
//!
//! **Invariant:** each request that a job planned is settled exactly once.

mod back;
mod background;
mod cache;
mod chain;
mod engine;
mod event;
mod from_spec;
mod front;
mod host;
mod initiator;
mod locks;
mod meters;
mod node;
mod outcome;
mod pages;
mod paths;
mod quiesce;
mod request;
mod resource;
mod serve;
mod topology;
mod transport;
mod unit_locks;

use units::convert::narrow;
use units::{Bytes, Instant};
use workload::{Errno, Job, Request, Wake};

pub use back::{BackEnd, Disk, Ended, Freed, OperationSpec, Owner, Set};
pub use background::{WorkError, WorkOrder, WorkProgress};
pub use engine::Engine;
pub use event::Event;
pub use host::{Gate, Host};
use initiator::Initiator;
pub use outcome::{Component, RunOutcome};
pub use resource::Resource;
pub use topology::{LunPlacement, SetTopology, Topology};

use crate::device::Device;
use crate::events::Events;
use crate::files::{FileClient, FileSystem, Unwritten};
use crate::host::StripeParams;
use crate::latency::{LatencyTotals, LatencyTrace, Stage};
use crate::link::Link;
use crate::raid::{Extent, Geometry, GeometryError, Health, HealthError, Plan, SetSpec};
use crate::readahead::Fetch;
use crate::slab::Slab;
use crate::wire::{Carried, Wire};
use background::{BackgroundWork, UnitInFlight};
use node::Node;
use paths::{OwnershipMove, Path, QueuedWithoutPath};
use request::HostRequest;

/// How far a part may be off Little's law and the utilisation law after a run.
const LAW: f64 = 0.01;

/// `EIO`: the error of data that are lost, as Linux numbers it.
const LOST: Errno = Errno(5);
/// `ENXIO`: beyond the end of the volume, or no such volume.
const NO_SUCH: Errno = Errno(6);

/// A job and where its files are.
#[derive(Debug)]
pub struct Client {
    /// The job.
    pub job: Job,
    /// Where each of its files lies.
    pub files: Vec<FilePlace>,
    /// The host it runs on.
    pub host: u32,
    /// Whether its requests go through the host's page cache, if it has one.
    pub buffered: bool,
    /// Whether each write is on stable storage when it ends: `O_DSYNC`.
    pub durable: bool,
}

/// Where one of a job's files lies: all of a LUN, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The LUN.
    pub lun: u32,
    /// Where on it the file begins.
    pub start: Bytes,
}

impl FilePlace {
    /// All of LUN `lun`.
    pub const fn whole(lun: u32) -> FilePlace {
        FilePlace { lun, start: Bytes::ZERO }
    }
}

/// What a watcher of a run wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Go on.
    GoOn,
    /// Stop all jobs; what is in flight ends.
    Stop,
}

/// A client at work.
struct Running {
    job: Initiator,
    files: Vec<FilePlace>,
    host: u32,
    buffered: bool,
    durable: bool,
    done: bool,
    /// The wake-up that is already in the queue.
    wakes_at: Instant,
    /// Requests that have ended and wait for others to be taken with them.
    ended: Vec<u32>,
    /// Where the time of its measured requests went.
    latency: LatencyTotals,
}

/// A simulated array with its hosts.
pub struct Sim {
    now: Instant,
    events: Events,
    topology: Topology,
    hosts: Vec<Host>,
    /// One direction each of every link, adapter and way to a partner.
    wires: Vec<Wire>,
    /// What each of them belongs to.
    wire_stages: Vec<Stage>,
    links: Vec<Link>,
    /// Whether a request needs not be sent: see [`Topology::is_direct`].
    is_direct: bool,
    back: BackEnd,
    nodes: Vec<Node>,
    paths: Vec<Path>,
    /// Requests that no path is left for, in order of arrival.
    without_path: Vec<QueuedWithoutPath>,
    /// Who serves each LUN.
    owners: Vec<u32>,
    /// Until when each LUN is not served, while it changes hands.
    paused: Vec<Instant>,
    /// Volumes that change hands and have something dirty at the old controller.
    moves: Vec<OwnershipMove>,
    /// Paths that each host chose for each LUN, LUN after LUN: round robin is a matter of one map of one host.
    turns: Vec<u32>,
    /// Sizes of what jobs can use.
    sizes: Vec<Bytes>,
    requests: Slab<HostRequest>,
    /// Where the time of each of them went so far, by its place, where that is traced.
    traces: Vec<LatencyTrace>,
    traces_latency: bool,
    running: Vec<Running>,
    /// The host of each client there has been: what is read ahead outlasts the load that it was read for.
    hosts_of: Vec<u32>,
    /// Clients that settled something at the present event.
    settled: Vec<u32>,
    /// One that ends the load of all has done its part.
    first_ended: bool,
    works: Vec<BackgroundWork>,
    units: Slab<UnitInFlight>,
    work_plan: Plan,
    planned: Vec<Request>,
    /// Requests that a wire has just carried.
    carried: Vec<Carried>,
    fetches: Vec<Fetch>,
    page_fetches: Vec<Fetch>,
    released: Vec<u32>,
    extents: Vec<Extent>,
    /// Flushes whose cache has been emptied.
    drained: Vec<u32>,
    /// Until when each connection is full, as far as its window limits it: that of each session, or over each link.
    flows: Vec<Instant>,
}

impl Sim {
    /// The array and hosts that `topology` describes, at rest. What is drawn at random comes from `seed`.
    ///
    /// The one thing that can be wrong with a topology whose geometries were checked: more spares than numbers.
    pub fn new(topology: &Topology, seed: u64) -> Result<Sim, GeometryError> {
        let devices = devices(topology, seed);
        let sets: Vec<Set> =
            topology.sets.iter().map(|set| new_set(topology, set)).collect::<Result<_, _>>()?;
        let mut wires = Vec::new();
        let node = |_| Node::new(&topology.controller, sets.iter().map(|set| &set.geometry), &mut wires);
        let nodes = (0..topology.controllers.max(1)).map(node).collect();
        let engines = (0..topology.controllers.max(1)).map(|_| Engine::new(&topology.controller)).collect();
        let luns = topology.luns.len();
        let links = topology.link.map_or(0, |_| topology.links.max(1) * topology.controllers.max(1));
        let laid = topology.link.iter().flat_map(|link| std::iter::repeat_n(link, links as usize));
        let cables = laid.map(|link| Link::lay(link, &mut wires)).collect();
        let sessions = topology.protocol.pinned().unwrap_or(1) * topology.controllers.max(1);
        let host = |_| Host::new(&topology.host, luns, sessions as usize, topology.adapter, &mut wires);
        let hosts = (0..topology.hosts.max(1)).map(host).collect();
        assert!(
            topology.luns.iter().all(|lun| (lun.set as usize) < sets.len()),
            "every volume must lie on one of the sets",
        );
        assert!(
            topology.luns.iter().all(|lun| lun.owner < topology.controllers.max(1)),
            "every volume must be owned by one of the controllers",
        );
        let mut sim = Sim {
            now: Instant::START,
            events: Events::with_capacity(1024),
            hosts,
            links: cables,
            is_direct: topology.is_direct(),
            wire_stages: vec![Stage::Link; wires.len()],
            wires,
            carried: Vec::new(),
            back: BackEnd::new(devices, sets, engines, topology.channel, &topology.controller),
            nodes,
            paths: vec![Path::default(); links as usize],
            without_path: Vec::new(),
            owners: topology.luns.iter().map(|lun| lun.owner).collect(),
            paused: vec![Instant::START; luns],
            moves: Vec::new(),
            works: Vec::new(),
            units: Slab::new(),
            work_plan: Plan::new(),
            fetches: Vec::new(),
            page_fetches: Vec::new(),
            released: Vec::new(),
            extents: Vec::new(),
            drained: Vec::new(),
            flows: vec![Instant::START; links.max(sessions * topology.hosts.max(1)) as usize],
            turns: vec![0; topology.hosts.max(1) as usize * luns],
            sizes: Vec::new(),
            requests: Slab::new(),
            traces: Vec::new(),
            traces_latency: false,
            running: Vec::new(),
            hosts_of: Vec::new(),
            settled: Vec::new(),
            first_ended: false,
            planned: Vec::new(),
            topology: topology.clone(),
        };
        sim.sizes = sim.lun_sizes();
        sim.name_wires();
        for &disk in &topology.failed {
            // A disk that is in no set fails without consequence.
            let _ = sim.fail_disk(disk);
        }
        Ok(sim)
    }

    fn name_wires(&mut self) {
        let partners =
            self.nodes.iter().filter_map(|node| node.partner.as_ref()).map(|link| (Stage::Mirror, link));
        let adapters = self.hosts.iter().flat_map(|host| &host.adapters).map(|link| (Stage::Adapter, link));
        for (stage, link) in partners.chain(adapters) {
            for (_, wire) in link.ways() {
                self.wire_stages[wire as usize] = stage;
            }
        }
    }

    /// Sizes of what a job can use: the LUNs, or where the hosts stripe a volume over some of them, that volume and
    /// then the other LUNs.
    pub fn lun_sizes(&self) -> Vec<Bytes> {
        let sizes = self.topology.luns.iter().map(LunPlacement::bytes);
        let Some(StripeParams { luns, .. }) = self.topology.host.stripe else { return sizes.collect() };
        let all: Vec<Bytes> = sizes.collect();
        let (striped, others) = all.split_at((luns as usize).clamp(1, all.len()));
        let smallest = striped.iter().copied().min().unwrap_or(Bytes::ZERO);
        std::iter::once(smallest * striped.len() as u64).chain(others.iter().copied()).collect()
    }

    /// Bytes that controllers have acknowledged and not yet written to members.
    pub fn dirty(&self) -> Bytes {
        let caches = self.nodes.iter().filter_map(|node| node.cache.as_ref());
        Bytes::new(caches.map(cache::Cache::dirty_bytes).sum())
    }

    /// Follows each request from now on: [`RunOutcome::latency`] tells where its time went. It takes time of its own,
    /// up to as much again where a request is a few events. Call before anything has been asked.
    pub fn trace_latency(&mut self) {
        self.traces_latency = true;
        self.back.traces_latency = true;
    }

    /// The array's own time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Takes disk `disk` out of its set at once.
    pub fn fail_disk(&mut self, disk: u32) -> Result<(), HealthError> {
        for set in &mut self.back.sets {
            if let Some(member) = set.disks.iter().position(|&number| number == disk) {
                return set.health.fail(narrow::<u32>(member)).map(|_| ());
            }
        }
        Ok(())
    }

    /// Runs `clients` to their end, from now on, and tells what they saw and where the time went.
    pub fn run(&mut self, clients: Vec<Client>) -> RunOutcome {
        self.run_watched(clients, |_, _| Watch::GoOn)
    }

    /// The same, `watch` being told of every job that has closed an interval or logged many requests: it may take them,
    /// so that a long run takes no more memory than a short one, and it may stop all jobs.
    pub fn run_watched(
        &mut self,
        clients: Vec<Client>,
        mut watch: impl FnMut(usize, &mut Job) -> Watch,
    ) -> RunOutcome {
        let running = |Client { job, files, host, buffered, durable }| Running {
            job: Initiator::Job(job),
            files,
            host: host % self.topology.hosts.max(1),
            buffered,
            durable,
            done: false,
            wakes_at: Instant::NEVER,
            ended: Vec::new(),
            latency: LatencyTotals::default(),
        };
        let running = clients.into_iter().map(running).collect();
        let (outcome, _) = self.run_initiators(running, &mut |client, initiator| match initiator {
            Initiator::Job(job) => watch(client, job),
            Initiator::Files(_) => Watch::GoOn,
        });
        outcome
    }

    /// Runs a file system on LUN 0, at the first host, until its jobs are done; `watch` is told whenever one of them
    /// has closed an interval. Gives back what has not reached the storage by then.
    pub fn run_files(
        &mut self,
        clients: &[FileClient],
        held: Unwritten,
        mut watch: impl FnMut(&mut FileSystem) -> Watch,
    ) -> (RunOutcome, Unwritten) {
        let host = &self.topology.host;
        let capacity = self.sizes.first().copied().unwrap_or(Bytes::ZERO);
        let files = FileSystem::new(host.files, host.processors, capacity, clients, held);
        let running = Running {
            job: Initiator::Files(Box::new(files)),
            files: vec![FilePlace::whole(0)],
            host: 0,
            buffered: false,
            durable: false,
            done: false,
            wakes_at: Instant::NEVER,
            ended: Vec::new(),
            latency: LatencyTotals::default(),
        };
        self.run_initiators(vec![running], &mut |_, initiator| match initiator {
            Initiator::Files(files) => watch(files),
            Initiator::Job(_) => Watch::GoOn,
        })
    }

    fn run_initiators(
        &mut self,
        running: Vec<Running>,
        watch: &mut dyn FnMut(usize, &mut Initiator) -> Watch,
    ) -> (RunOutcome, Unwritten) {
        let (from, events) = (self.now, self.events.entered());
        self.running = running;
        self.hosts_of.resize(self.hosts_of.len().max(self.running.len()), 0);
        for (known, running) in self.hosts_of.iter_mut().zip(&self.running) {
            *known = running.host;
        }
        self.restart_meters();
        self.running.iter_mut().for_each(|client| client.job.start(from));
        for client in 0..narrow::<u32>(self.running.len()) {
            self.ask(client);
        }
        while self.running.iter().any(|client| !client.done) {
            // Where nothing else can happen nobody mends a path any more: who waits for one fails, as when an operator
            // ends the queueing.
            if !self.step() && !self.give_all_up() {
                break;
            }
            if std::mem::take(&mut self.first_ended) {
                self.stop();
            }
            while let Some(client) = self.settled.pop() {
                let job = &mut self.running[client as usize].job;
                if job.has_news() && watch(client as usize, job) == Watch::Stop {
                    self.stop();
                }
            }
        }
        let until = self.now;
        self.check();
        let breakdown = self.breakdown(until.saturating_since(from));
        let (mut tallies, mut latency, mut held) = (Vec::new(), Vec::new(), Unwritten::default());
        for client in std::mem::take(&mut self.running) {
            match client.job {
                Initiator::Job(job) => {
                    tallies.push(job.into_tally());
                    latency.push(client.latency);
                }
                Initiator::Files(files) => {
                    let (seen, left) = files.into_tallies();
                    tallies.extend(seen);
                    held = left;
                }
            }
        }
        let events = self.events.entered() - events;
        (RunOutcome { breakdown, tallies, latency, from, until, events }, held)
    }

    /// Lets time pass until `at` without any job: background work and destaging go on.
    pub fn idle_until(&mut self, at: Instant) {
        while self.events.next_due() <= at && self.step() {}
        self.now = self.now.max(at);
    }

    /// The host that a request of `client` came from, also after the client's load has ended.
    fn host_of(&self, client: u32) -> u32 {
        self.hosts_of.get(client as usize).copied().unwrap_or(0)
    }

    /// Handles the next event; whether there was one.
    fn step(&mut self) -> bool {
        let Some((now, slot)) = self.events.pop() else { return false };
        debug_assert!(now >= self.now, "events must come in order of time");
        self.now = now;
        self.handle(Event::unpack(slot));
        if !self.works.is_empty() {
            self.pump_waiting();
        }
        true
    }

    /// A back end at rest, as new: for trials.
    fn restart_back(&mut self) {
        let topology = &self.topology;
        let devices = devices(topology, 0);
        let engines = (0..topology.controllers.max(1)).map(|_| Engine::new(&topology.controller)).collect();
        let sets = std::mem::take(&mut self.back.sets);
        self.back = BackEnd::new(devices, sets, engines, topology.channel, &topology.controller);
        self.back.traces_latency = self.traces_latency;
        self.events.clear();
    }

    fn stop(&mut self) {
        for client in 0..narrow::<u32>(self.running.len()) {
            self.running[client as usize].job.stop();
            self.ask(client);
        }
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Disk(disk) => self.back.disk_done(now, &mut self.events, disk),
            Event::Member(chain) => self.back.member_done(now, &mut self.events, chain),
            Event::Chain(chain) => self.back.chain_ready(now, &mut self.events, chain),
            Event::Arrive(request) => self.arrive(request),
            Event::Answer(request) => self.answered(request),
            Event::Job(client) => {
                // An alarm may outlast the load that it was set for.
                if let Some(running) = self.running.get_mut(client as usize) {
                    if running.wakes_at <= now {
                        running.wakes_at = Instant::NEVER;
                    }
                    if !running.ended.is_empty() {
                        self.release(client);
                    }
                    self.ask(client);
                }
            }
            Event::Pages(place) => {
                let host = self.host_of(self.requests[place].client);
                self.buffered_read(place, host, now);
            }
            Event::Background(work) => self.pump(work),
            Event::Age(controller) => self.tick(controller),
            Event::Retry(place) => {
                self.traces[place as usize].wait(Stage::PathLoss, now);
                let host = self.host_of(self.requests[place].client);
                self.transmit(place, host, now);
            }
            Event::Cut(link) => self.fail_link(link),
            Event::Wire(wire) => self.wire_due(wire),
            Event::Channel(wire) => self.back.channel_due(now, &mut self.events, wire),
            Event::LegDone(place) => self.leg_done(place),
            Event::Mend(link) => self.mend_link(link),
            Event::GiveUp(place) => self.give_up(place),
        }
        self.collect();
    }

    /// Hands ended operations to those who waited for them.
    fn collect(&mut self) {
        while let Some(freed) = self.back.freed.pop() {
            self.write_freed(freed);
        }
        while let Some(Ended { owner, trace }) = self.back.done.pop() {
            match owner {
                Owner::Request(request) => {
                    if let Some(trace) = &trace {
                        self.traces[request as usize].follow(trace, Stage::Locate);
                    }
                    self.fetched(request);
                }
                Owner::Cache { controller, transfer } => {
                    self.transferred(controller, transfer, trace.as_deref());
                }
                Owner::Background(unit) => self.unit_done(unit),
            }
            self.back.recycle(trace);
        }
    }

    #[cold]
    fn write_freed(&mut self, Freed { owner, is_lost }: Freed) {
        if let Owner::Request(request) = owner {
            self.traces[request as usize].wait(Stage::StripeLocks, self.now);
        }
        match owner {
            Owner::Request(request) if is_lost => {
                self.requests[request].failed = Some(LOST);
                self.respond(request, self.now);
            }
            owner if is_lost => self.back.done.push(Ended::at(owner, self.now)),
            _ => {}
        }
    }

    /// Asks a job for what is due, until it has no more for now.
    fn ask(&mut self, client: u32) {
        let now = self.now;
        loop {
            let running = &mut self.running[client as usize];
            if running.done {
                return;
            }
            let mut planned = std::mem::take(&mut self.planned);
            planned.clear();
            let wake = running.job.plan(now, &mut planned);
            match wake {
                Wake::Again | Wake::OnCompletion => {}
                Wake::Done => {
                    running.done = true;
                    self.first_ended |= running.job.exit_all();
                }
                Wake::At(at) => {
                    if at < running.wakes_at {
                        running.wakes_at = at;
                        self.events.push(at.max(now), Event::Job(client).pack());
                    }
                }
            }
            for request in &planned {
                self.issue(client, request);
            }
            self.planned = planned;
            if wake != Wake::Again {
                return;
            }
        }
    }
}

/// The disks, at rest.
fn devices(topology: &Topology, seed: u64) -> Vec<Device> {
    assert!(
        topology.disks.iter().all(|&model| (model as usize) < topology.models.len()),
        "every disk must have a model",
    );
    let device = |(&model, number)| Device::new(&topology.models[model as usize], seed.wrapping_add(number));
    topology.disks.iter().zip(0u64..).map(device).collect()
}

/// The adapter of `host` that `link` hangs on.
fn adapter(host: &Host, link: u32) -> Option<Link> {
    let count = host.adapters.len();
    (count > 0).then(|| host.adapters[link as usize % count])
}

/// A set with the array's spares among its disks.
fn new_set(topology: &Topology, set: &SetTopology) -> Result<Set, GeometryError> {
    let spec = SetSpec { spares: narrow::<u32>(topology.spares.len()), ..set.geometry.spec().clone() };
    let geometry = Geometry::new(spec)?;
    let health = Health::new(&geometry);
    let disks = set.members.iter().chain(&topology.spares).copied().collect();
    Ok(Set { geometry, health, disks })
}
