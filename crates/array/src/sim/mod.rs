//! The simulation: one event loop, one integer clock, any number of jobs.
//!
//! The life of a request, each step a method of the part it names:
//!
//! 1. [`Sim::run`] asks the job for what is due ([`workload::Job::plan`]); `issue` gives each request a place.
//! 2. `prepare` at the host: file and processor, then splitting into parts that link and protocol carry.
//! 3. `send`: the LUN's depth, a path, adapter and link; event [`Event::Arrive`] when the command, and the data of a
//!    write, are at the controller.
//! 4. `arrive`: the controller's processors, then the cache, then the back end for what the cache cannot answer.
//! 5. [`back::BackEnd`]: the RAID planner's steps as member commands, each one event at its device
//!    ([`Event::Disk`] or [`Event::Member`]), arithmetic between reads and writes ([`Event::Chain`]).
//! 6. `respond`: data back over bus, link and adapter; event [`Event::Answer`] at the host.
//! 7. `answered`: the part joins its request, the request is settled ([`workload::Job::settle`]), and the job is asked
//!    again.
//!
//! **Invariant:** each request that a job planned is settled exactly once.

mod back;
mod cache;
mod engine;
mod event;
mod from_spec;
mod host;
mod node;
mod outcome;
mod pages;
mod paths;
mod plant;
mod request;
mod work;

use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors};
use workload::{Completion, Errno, Job, Op, Outcome as End, Request, Wake};

pub use back::{BackEnd, Disk, Owner, Set};
pub use engine::Engine;
pub use event::Event;
pub use host::{Gate, Host};
pub use outcome::{Component, Outcome};
pub use plant::{LunPlant, Plant, SetPlant};
pub use work::{Progress, WorkError, WorkOrder};

use crate::controller::Ownership;
use crate::device::Device;
use crate::events::Events;
use crate::host::StripeParams;
use crate::link::Link;
use crate::meter::{Class, Meter};
use crate::raid::{Extent, Geometry, GeometryError, Health, HealthError, Plan, SetSpec};
use crate::readahead::{Fetch, Verdict};
use crate::slab::Slab;
use back::Errand;
use cache::{SETTLED, Transfer};
use node::Node;
use paths::Path;
use request::{HostRequest, NONE, Purpose};
use work::{UnderWay, Work};

/// `EIO`: the error of data that are lost, as Linux numbers it.
const LOST: Errno = Errno(5);
/// `ENXIO`: beyond the end of the volume, or no such volume.
const NO_SUCH: Errno = Errno(6);

/// A job and where its files are.
#[derive(Debug)]
pub struct Client {
    /// The job.
    pub job: Job,
    /// The LUN of each of its files.
    pub luns: Vec<u32>,
    /// The host it runs on.
    pub host: u32,
    /// Whether its requests go through the host's page cache, if it has one.
    pub buffered: bool,
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
    job: Job,
    luns: Vec<u32>,
    host: u32,
    buffered: bool,
    done: bool,
    /// The wake-up that is already in the queue.
    wakes_at: Instant,
}

/// A simulated array with its hosts.
pub struct Sim {
    now: Instant,
    events: Events,
    plant: Plant,
    hosts: Vec<Host>,
    links: Vec<Link>,
    back: BackEnd,
    nodes: Vec<Node>,
    paths: Vec<Path>,
    /// Who serves each LUN.
    owners: Vec<u32>,
    /// Until when each LUN is not served, while it changes hands.
    paused: Vec<Instant>,
    turn: u32,
    /// Sizes of what jobs can use.
    sizes: Vec<Bytes>,
    requests: Slab<HostRequest>,
    running: Vec<Running>,
    /// Clients that settled something at the present event.
    settled: Vec<u32>,
    works: Vec<Work>,
    units: Slab<UnderWay>,
    work_plan: Plan,
    planned: Vec<Request>,
    fetches: Vec<Fetch>,
    page_fetches: Vec<Fetch>,
    released: Vec<u32>,
    extents: Vec<Extent>,
}

impl Sim {
    /// The array and hosts that `plant` describes, at rest. What is drawn at random comes from `seed`.
    ///
    /// The one thing that can be wrong with a plant whose geometries were checked: more spares than numbers.
    pub fn new(plant: &Plant, seed: u64) -> Result<Sim, GeometryError> {
        let devices =
            plant.disks.iter().zip(0u64..).map(|(&model, number)| {
                Device::new(&plant.models[model as usize], seed.wrapping_add(number))
            });
        let sets: Vec<Set> = plant.sets.iter().map(|set| new_set(plant, set)).collect::<Result<_, _>>()?;
        let node = |_| Node::new(&plant.controller, sets.iter().map(|set| &set.geometry));
        let nodes = (0..plant.controllers.max(1)).map(node).collect();
        let engines = (0..plant.controllers.max(1)).map(|_| Engine::new(&plant.controller)).collect();
        let luns = plant.luns.len();
        let links = plant.link.map_or(0, |_| plant.links.max(1) * plant.controllers.max(1));
        let mut sim = Sim {
            now: Instant::START,
            events: Events::with_capacity(1024),
            hosts: (0..plant.hosts.max(1)).map(|_| Host::new(&plant.host, luns, plant.adapter)).collect(),
            links: plant.link.map_or(Vec::new(), |link| vec![Link::new(&link); links as usize]),
            back: BackEnd::new(devices.collect(), sets, engines, plant.channel),
            nodes,
            paths: vec![Path::default(); links as usize],
            owners: plant.luns.iter().map(|lun| lun.owner).collect(),
            paused: vec![Instant::START; luns],
            works: Vec::new(),
            units: Slab::new(),
            work_plan: Plan::new(),
            fetches: Vec::new(),
            page_fetches: Vec::new(),
            released: Vec::new(),
            extents: Vec::new(),
            turn: 0,
            sizes: Vec::new(),
            requests: Slab::new(),
            running: Vec::new(),
            settled: Vec::new(),
            planned: Vec::new(),
            plant: plant.clone(),
        };
        sim.sizes = sim.lun_sizes();
        for &disk in &plant.failed {
            // A disk that is in no set fails without consequence.
            let _ = sim.fail_disk(disk);
        }
        Ok(sim)
    }

    /// Sizes of what a job can use: the LUNs, or where the hosts stripe a volume over some of them, that volume and
    /// then the other LUNs.
    pub fn lun_sizes(&self) -> Vec<Bytes> {
        let sizes = self.plant.luns.iter().map(LunPlant::bytes);
        let Some(StripeParams { luns, .. }) = self.plant.host.stripe else { return sizes.collect() };
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

    /// The array's own time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Takes disk `disk` out of its set at once.
    pub fn fail_disk(&mut self, disk: u32) -> Result<(), HealthError> {
        for set in &mut self.back.sets {
            if let Some(member) = set.disks.iter().position(|&number| number == disk) {
                return set.health.fail(member as u32).map(|_| ());
            }
        }
        Ok(())
    }

    /// Runs `clients` to their end, from now on, and tells what they saw and where the time went.
    pub fn run(&mut self, clients: Vec<Client>) -> Outcome {
        self.run_watched(clients, |_, _| Watch::GoOn)
    }

    /// The same, `watch` being told of every job that has closed an interval: it may take the intervals, so that a
    /// long run takes no more memory than a short one, and it may stop all jobs.
    pub fn run_watched(
        &mut self,
        clients: Vec<Client>,
        mut watch: impl FnMut(usize, &mut Job) -> Watch,
    ) -> Outcome {
        let (from, events) = (self.now, self.events.entered());
        self.each_meter(|_, meter, _| meter.restart(from));
        self.running = clients
            .into_iter()
            .map(|Client { mut job, luns, host, buffered }| {
                job.start(from);
                Running {
                    job,
                    luns,
                    host: host % self.plant.hosts.max(1),
                    buffered,
                    done: false,
                    wakes_at: Instant::NEVER,
                }
            })
            .collect();
        for client in 0..self.running.len() as u32 {
            self.ask(client);
        }
        while self.running.iter().any(|client| !client.done) {
            if !self.step() {
                break;
            }
            while let Some(client) = self.settled.pop() {
                let job = &mut self.running[client as usize].job;
                if job.has_interval() && watch(client as usize, job) == Watch::Stop {
                    self.stop();
                }
            }
        }
        let until = self.now;
        self.check();
        Outcome {
            breakdown: self.breakdown(until.saturating_since(from)),
            tallies: std::mem::take(&mut self.running)
                .into_iter()
                .map(|client| client.job.into_tally())
                .collect(),
            from,
            until,
            events: self.events.entered() - events,
        }
    }

    /// Lets time pass until `at` without any job: background work and destaging go on.
    pub fn idle_until(&mut self, at: Instant) {
        while self.events.next_due() <= at && self.step() {}
        self.now = self.now.max(at);
    }

    /// Handles the next event; whether there was one.
    fn step(&mut self) -> bool {
        let Some((now, slot)) = self.events.pop() else { return false };
        self.now = now;
        self.handle(Event::unpack(slot));
        if !self.works.is_empty() {
            self.pump_idle();
        }
        true
    }

    /// A back end at rest, as new: for trials.
    fn restart_back(&mut self) {
        let seed = 0;
        let plant = &self.plant;
        let devices =
            plant.disks.iter().map(|&model| Device::new(&plant.models[model as usize], seed)).collect();
        let engines = (0..plant.controllers.max(1)).map(|_| Engine::new(&plant.controller)).collect();
        let sets = std::mem::take(&mut self.back.sets);
        self.back = BackEnd::new(devices, sets, engines, plant.channel);
        self.events.clear();
    }

    fn stop(&mut self) {
        for client in 0..self.running.len() as u32 {
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
                if self.running[client as usize].wakes_at <= now {
                    self.running[client as usize].wakes_at = Instant::NEVER;
                }
                self.ask(client);
            }
            Event::Background(work) => self.pump(work),
            Event::Age(controller) => self.tick(controller),
        }
        self.collect();
    }

    /// Hands ended operations to those who waited for them.
    fn collect(&mut self) {
        while let Some(owner) = self.back.done.pop() {
            match owner {
                Owner::Request(request) => self.fetched(request),
                Owner::Cache { controller, transfer } => self.transferred(controller, transfer),
                Owner::Background(unit) => self.unit_done(unit),
            }
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
                Wake::Done => running.done = true,
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

    /// Takes a job's request into the host.
    fn issue(&mut self, client: u32, asked: &Request) {
        let Running { luns, host, .. } = &self.running[client as usize];
        let (lun, host) = (luns.get(usize::from(asked.file)).copied().unwrap_or(u32::MAX), *host);
        let class = if asked.op == Op::Read { Class::HostRead } else { Class::HostWrite };
        let place = self.requests.take();
        self.requests[place] = HostRequest {
            client,
            token: asked.token,
            op: asked.op,
            class,
            lun,
            offset: asked.offset.get(),
            len: asked.len,
            ..HostRequest::default()
        };
        let size = self.sizes.get(lun as usize).map_or(0, |size| size.get());
        if asked.offset.get() + u64::from(asked.len) > size {
            self.requests[place].failed = Some(NO_SUCH);
            self.events.push(self.now, Event::Answer(place).pack());
            return;
        }
        let ready = self.hosts[host as usize].prepare(self.now, lun as usize, class);
        if self.running[client as usize].buffered && self.hosts[host as usize].pages.is_some() {
            self.buffered(place, host, ready);
        } else {
            self.split(place, host, ready);
        }
    }

    /// Sends a request in parts no longer than link and protocol carry.
    fn split(&mut self, place: u32, host: u32, ready: Instant) {
        let whole = self.requests[place];
        let protocol = &self.plant.protocol;
        let carried = if whole.op == Op::Write { protocol.write_size } else { protocol.read_size };
        let limit =
            carried.get().min(self.plant.host.max_transfer.get()).clamp(SECTOR_BYTES, u64::from(u32::MAX))
                as u32;
        let (lun, offset, run) = self.on_lun(whole.lun, whole.offset);
        if u64::from(whole.len) <= u64::from(limit).min(run) {
            (self.requests[place].lun, self.requests[place].offset) = (lun, offset);
            self.send(place, host, ready);
            return;
        }
        // One more than the parts until all have been sent: a part may not be the last before its successor is.
        self.requests[place].pending = 1;
        let mut at = 0;
        while at < whole.len {
            let (lun, offset, run) = self.on_lun(whole.lun, whole.offset + u64::from(at));
            let len = u64::from(limit.min(whole.len - at)).min(run) as u32;
            let part = self.requests.take();
            self.requests[part] = HostRequest { parent: place, lun, offset, len, pending: 0, ..whole };
            self.requests[place].pending += 1;
            at += len;
            self.send(part, host, ready);
        }
        self.requests[place].pending -= 1;
    }

    /// Where `offset` of what a job uses lies: LUN, offset there, and how many bytes follow on the same LUN.
    fn on_lun(&self, used: u32, offset: u64) -> (u32, u64, u64) {
        match self.plant.host.stripe {
            None => (used, offset, u64::MAX),
            Some(StripeParams { luns, .. }) if used > 0 => (used + luns - 1, offset, u64::MAX),
            Some(StripeParams { chunk, luns }) => {
                let (chunk, luns) = (chunk.get().max(SECTOR_BYTES), u64::from(luns.max(1)));
                let (number, within) = (offset / chunk, offset % chunk);
                ((number % luns) as u32, number / luns * chunk + within, chunk - within)
            }
        }
    }

    /// Sends a part, or has it wait for the LUN's depth.
    fn send(&mut self, place: u32, host: u32, ready: Instant) {
        (self.requests[place].sent, self.requests[place].outstanding) = (ready, true);
        let lun = self.requests[place].lun as usize;
        if self.hosts[host as usize].admit(lun, place) {
            self.enter_session(place, host, ready);
        }
    }

    /// Sends a part, or has it wait for room in the protocol's sessions.
    fn enter_session(&mut self, place: u32, host: u32, ready: Instant) {
        let limit = self.plant.protocol.outstanding.saturating_mul(self.plant.protocol.sessions.max(1));
        if self.hosts[host as usize].session.enter(limit, place) {
            self.transmit(place, host, ready);
        }
    }

    fn transmit(&mut self, place: u32, host: u32, ready: Instant) {
        let now = self.now;
        let HostRequest { lun, op, len, class, .. } = self.requests[place];
        let (link, delay) = self.choose_path(host, lun);
        let controller = self.end_of(link);
        let protocol = &self.plant.protocol;
        let ready = self.hosts[host as usize].operation(now, ready.max(now), protocol.client, class) + delay;
        let request = &mut self.requests[place];
        (request.link, request.controller, request.accepted) = (link, controller, false);
        let bytes = protocol.header.get() + if op == Op::Write { u64::from(len) } else { 0 };
        let distance = protocol.hop * u64::from(protocol.hops);
        let mut arrives = ready + distance;
        if let Some(link) = self.links.get_mut(link as usize) {
            arrives = link.send(now, arrives, bytes, class);
            if op == Op::Write {
                // What does not go with the command waits for the array to ask for it, burst by burst.
                let asked = u64::from(len).saturating_sub(protocol.immediate.get());
                let rounds = asked.div_ceil(protocol.burst.get().max(1));
                arrives += (distance + link.latency()) * (2 * rounds);
            }
        }
        if let Some(adapter) = adapter(&mut self.hosts[host as usize], link) {
            arrives = arrives.max(adapter.send(now, ready, bytes, class));
        }
        if arrives > now {
            self.events.push(arrives, Event::Arrive(place).pack());
        } else {
            self.arrive(place);
        }
    }

    /// A part is at a controller, with its data if it writes.
    fn arrive(&mut self, place: u32) {
        let now = self.now;
        let HostRequest { lun, controller, accepted, class, op, len, .. } = self.requests[place];
        if self.paused[lun as usize] > now {
            self.events.push(self.paused[lun as usize], Event::Arrive(place).pack());
            return;
        }
        if let (false, Some(limit)) = (accepted, self.plant.controller.accepts) {
            if !self.nodes[controller as usize].gate.enter(limit, place) {
                return;
            }
            self.requests[place].accepted = true;
        }
        let owner = self.owners[lun as usize];
        let mut ready = now;
        if owner != controller {
            match self.plant.controller.ownership {
                Ownership::Symmetric => {}
                Ownership::Transfer { .. } => {
                    self.move_lun(lun as usize, controller);
                    self.events.push(self.paused[lun as usize], Event::Arrive(place).pack());
                    return;
                }
                Ownership::Forward => ready = self.forward(place, controller, owner),
            }
        }
        let serving = self.requests[place].controller;
        let engine = &mut self.back.engines[serving as usize];
        ready = engine.host_command(now, ready, op == Op::Write, u64::from(len), class);
        let protocol = &self.plant.protocol;
        let (server, copy) = match op {
            Op::Write => (protocol.server_write, protocol.server_write_copy),
            _ => (protocol.server_read, protocol.server_read_copy),
        };
        let copy = copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(u64::from(len))));
        ready = engine.processor.book(now, ready, server + copy, class);
        match op {
            Op::Read => self.read(place, ready),
            Op::Write => self.write(place, ready),
            Op::Trim | Op::Flush => self.respond(place, ready),
        }
    }

    /// Passes a part on to the volume's owner; when it is there.
    fn forward(&mut self, place: u32, here: u32, owner: u32) -> Instant {
        let now = self.now;
        let HostRequest { class, len, op, .. } = self.requests[place];
        self.requests[place].controller = owner;
        let ready = self.back.engines[here as usize].host_command(now, now, op == Op::Write, 0, class);
        // The data cross the same link, whichever way they go.
        match &mut self.nodes[here as usize].partner {
            Some(partner) => partner.send(now, ready, u64::from(len), class) + partner.latency(),
            None => ready,
        }
    }

    /// The sectors of a part on its set: from, to, and where its volume ends.
    fn sectors(&self, place: u32) -> (u32, u64, u64, u64) {
        let HostRequest { lun, offset, len, .. } = self.requests[place];
        let lun = self.plant.luns[lun as usize];
        let to = (offset + u64::from(len)).div_ceil(SECTOR_BYTES);
        (lun.set, lun.start.0 + offset / SECTOR_BYTES, lun.start.0 + to, lun.start.0 + lun.size.0)
    }

    fn read(&mut self, place: u32, ready: Instant) {
        let now = self.now;
        let (set, from, to, end) = self.sectors(place);
        let HostRequest { class, controller, len, .. } = self.requests[place];
        let mut fetches = std::mem::take(&mut self.fetches);
        fetches.clear();
        let cache = self.nodes[controller as usize].cache.as_mut();
        let verdict = cache.and_then(|cache| cache.read(set, from, to, end, &mut fetches));
        if let (Some(Verdict::Coming(stream)), Some(cache)) =
            (verdict, self.nodes[controller as usize].cache.as_mut())
        {
            cache.wait(stream, to, place);
        }
        for fetch in &fetches {
            let class = if fetch.from < to { class } else { Class::Prefetch };
            self.fetch(controller, set, *fetch, class, ready);
        }
        self.fetches = fetches;
        match verdict {
            Some(Verdict::Ready) => {
                let (first, last) =
                    self.back.engines[controller as usize].cross(now, ready, u64::from(len), class);
                let arrives = self.way_back(place, first, last);
                self.events.push(arrives, Event::Answer(place).pack());
            }
            Some(Verdict::Coming(_)) => {}
            Some(Verdict::Stranger) | None => {
                let errand = Errand { set, owner: Owner::Request(place), class, controller, ready };
                let sectors = Sectors(to - from);
                if self.back.read(now, &mut self.events, errand, Lba(from), sectors).is_err() {
                    self.requests[place].failed = Some(LOST);
                    self.respond(place, ready);
                }
            }
        }
    }

    /// Starts a fetch into a cache.
    fn fetch(&mut self, controller: u32, set: u32, fetch: Fetch, class: Class, ready: Instant) {
        let Some(cache) = self.nodes[controller as usize].cache.as_mut() else { return };
        let transfer = cache.begin(Transfer::Fetch { set, fetch });
        let owner = Owner::Cache { controller, transfer };
        let errand = Errand { set, owner, class, controller, ready };
        let sectors = Sectors(fetch.to - fetch.from);
        if self.back.read(self.now, &mut self.events, errand, Lba(fetch.from), sectors).is_err() {
            self.back.done.push(owner);
        }
    }

    fn write(&mut self, place: u32, ready: Instant) {
        let now = self.now;
        let HostRequest { class, controller, len, .. } = self.requests[place];
        let partner = self.partner_of(controller).is_some();
        let ready = self.back.engines[controller as usize].take_in(now, ready, u64::from(len), class);
        let through = self.plant.protocol.sync_writes;
        let cache = self.nodes[controller as usize].cache.as_ref();
        if !through && cache.is_some_and(|cache| cache.takes_writes(partner)) {
            let waits =
                self.nodes[controller as usize].cache.as_ref().is_some_and(|cache| !cache.writers.is_empty());
            if (waits || !self.take_write(place, ready))
                && let Some(cache) = &mut self.nodes[controller as usize].cache
            {
                cache.writers.push_back(place);
            }
            self.destage(controller);
            return;
        }
        let (set, from, to, _) = self.sectors(place);
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            cache.keep(set, from, to);
        }
        let errand = Errand { set, owner: Owner::Request(place), class, controller, ready };
        let extent = Extent { lba: Lba(from), sectors: Sectors(to - from) };
        if self.back.write(now, &mut self.events, errand, &[extent]).is_err() {
            self.requests[place].failed = Some(LOST);
            self.respond(place, ready);
        }
    }

    /// The working partner of a controller.
    fn partner_of(&self, controller: u32) -> Option<u32> {
        (0..self.nodes.len() as u32).find(|&other| other != controller && self.nodes[other as usize].alive)
    }

    /// Takes a write into the cache and acknowledges it, if there is room.
    fn take_write(&mut self, place: u32, ready: Instant) -> bool {
        let now = self.now;
        let (set, from, to, _) = self.sectors(place);
        let HostRequest { class, controller, len, .. } = self.requests[place];
        let node = &mut self.nodes[controller as usize];
        let Some(cache) = &mut node.cache else { return false };
        if !cache.write(now, set, from, to) {
            return false;
        }
        let mut ready = ready.max(now);
        if cache.mirrors() {
            let (first, _) = self.back.engines[controller as usize].cross(now, ready, u64::from(len), class);
            if let Some(partner) = &mut node.partner {
                // There with the data, and back with the word that they are there.
                ready = partner.send(now, first, u64::from(len), class) + partner.latency();
            }
        }
        if !node.ticking {
            node.ticking = true;
            self.events.push(now + SETTLED, Event::Age(controller).pack());
        }
        self.respond(place, ready);
        true
    }

    /// Starts as many destages as the cache wants now.
    fn destage(&mut self, controller: u32) {
        let now = self.now;
        let mut extents = std::mem::take(&mut self.extents);
        loop {
            let idle = self.back.busy() == 0;
            let Some(cache) = &mut self.nodes[controller as usize].cache else { break };
            let Some(batch) = cache.destage(now, idle, &mut extents) else { break };
            let class = Class::Destage;
            let (ready, _) = self.back.engines[controller as usize].cross(now, now, batch.bytes, class);
            let owner = Owner::Cache { controller, transfer: batch.transfer };
            let errand = Errand { set: batch.set, owner, class, controller, ready };
            if self.back.write(now, &mut self.events, errand, &extents).is_err() {
                // The set has lost more than it can: there is nowhere to write to.
                self.back.done.push(owner);
            }
        }
        self.extents = extents;
    }

    /// A transfer of a cache has ended.
    fn transferred(&mut self, controller: u32, transfer: u32) {
        let now = self.now;
        let mut released = std::mem::take(&mut self.released);
        released.clear();
        let Some(cache) = &mut self.nodes[controller as usize].cache else { return };
        let ended = cache.end(transfer, &mut released);
        let destaged = matches!(ended, Transfer::Destage { .. });
        if let Transfer::Fetch { fetch, .. } = ended {
            let bytes = (fetch.to - fetch.from) * SECTOR_BYTES;
            self.back.engines[controller as usize].take_in(now, now, bytes, Class::Prefetch);
        }
        for &place in &released {
            self.deliver(place);
        }
        self.released = released;
        if destaged {
            while let Some(cache) = &mut self.nodes[controller as usize].cache
                && let Some(place) = cache.writers.pop_front()
            {
                if !self.take_write(place, now) {
                    if let Some(cache) = &mut self.nodes[controller as usize].cache {
                        cache.writers.push_front(place);
                    }
                    break;
                }
            }
        }
        self.destage(controller);
    }

    /// Looks after dirty data: idle members take what has settled, and what is too old leaves in any case.
    fn tick(&mut self, controller: u32) {
        let now = self.now;
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            let age = cache.age_limit().get().max(1);
            if now.nanos() / age != (now.nanos() - SETTLED.get()) / age {
                cache.press();
            }
        }
        self.destage(controller);
        let node = &mut self.nodes[controller as usize];
        node.ticking = node.cache.as_ref().is_some_and(cache::Cache::is_dirty);
        if node.ticking {
            self.events.push(now + SETTLED, Event::Age(controller).pack());
        }
    }

    /// The back end has done its part of a request.
    fn fetched(&mut self, place: u32) {
        let now = self.now;
        let HostRequest { op, class, len, controller, .. } = self.requests[place];
        let (set, from, to, _) = self.sectors(place);
        if let (Op::Read, Some(cache)) = (op, &mut self.nodes[controller as usize].cache) {
            cache.keep(set, from, to);
            self.back.engines[controller as usize].take_in(now, now, u64::from(len), class);
        }
        self.deliver(place);
    }

    /// Brings the data of a read, which the controller has, or the word that a write has ended, to the host.
    fn deliver(&mut self, place: u32) {
        let now = self.now;
        let HostRequest { op, class, len, controller, .. } = self.requests[place];
        let (first, last) = match op {
            Op::Read => self.back.engines[controller as usize].cross(now, now, u64::from(len), class),
            _ => (now, now),
        };
        let arrives = self.way_back(place, first, last);
        if arrives > now {
            self.events.push(arrives, Event::Answer(place).pack());
        } else {
            self.answered(place);
        }
    }

    /// Sends the answer of a part that carries no data or failed, at `ready`.
    ///
    /// It never ends at once, even where nothing takes time: a job's requests would end while it still plans them.
    fn respond(&mut self, place: u32, ready: Instant) {
        let arrives = self.way_back(place, ready, ready);
        self.events.push(arrives, Event::Answer(place).pack());
    }

    /// When the answer of a part is at its host, its data flowing from `first` and complete at `last`.
    fn way_back(&mut self, place: u32, first: Instant, last: Instant) -> Instant {
        let now = self.now;
        let HostRequest { op, class, len, link, client, accepted, .. } = self.requests[place];
        if accepted {
            let at = self.end_of(link);
            if let Some(next) = self.nodes[at as usize].gate.leave() {
                self.requests[next].accepted = true;
                self.events.push(now, Event::Arrive(next).pack());
            }
        }
        let bytes = self.plant.protocol.header.get() + if op == Op::Read { u64::from(len) } else { 0 };
        let distance = self.plant.protocol.hop * u64::from(self.plant.protocol.hops);
        let (first, last) = (first.max(now) + distance, last.max(now) + distance);
        let mut arrives = last;
        if let Some(link) = self.links.get_mut(link as usize) {
            arrives = link.answer(now, first, last, bytes, class);
        }
        let host = self.running[client as usize].host;
        if let Some(adapter) = adapter(&mut self.hosts[host as usize], link) {
            arrives = arrives.max(adapter.answer(now, first, last, bytes, class));
        }
        arrives
    }

    /// The answer of a part is at its host.
    fn answered(&mut self, place: u32) {
        let HostRequest { client, lun, parent, failed, outstanding, .. } = self.requests[place];
        let host = self.running[client as usize].host;
        if outstanding {
            if let Some(next) = self.hosts[host as usize].session.leave() {
                self.transmit(next, host, self.requests[next].sent);
            }
            if let Some(next) = self.hosts[host as usize].release(lun as usize) {
                self.enter_session(next, host, self.requests[next].sent);
            }
        }
        self.requests.give(place);
        if parent == NONE {
            self.settle(place);
            return;
        }
        let whole = &mut self.requests[parent];
        whole.pending -= 1;
        whole.failed = whole.failed.or(failed);
        if whole.pending == 0 {
            self.requests.give(parent);
            self.settle(parent);
        }
    }

    /// Tells the job and asks it for more.
    fn settle(&mut self, place: u32) {
        let HostRequest { client, token, len, failed, purpose, .. } = self.requests[place];
        let host = self.running[client as usize].host;
        match purpose {
            Purpose::Job => {}
            Purpose::Pages(lun, fetch) => return self.pages_came(host, lun, fetch),
            Purpose::Writeback => return self.pages_left(host, len),
        }
        let outcome = failed.map_or(End::moved(len), End::failed);
        self.running[client as usize].job.settle(Completion { token, outcome, finished_at: self.now });
        self.settled.push(client);
        self.ask(client);
    }

    /// Little's law and the utilisation law in every part that was ever idle: a breach is an error of the model.
    fn check(&mut self) {
        self.each_meter(|name, meter, _| {
            let gap = meter.little_gap().unwrap_or(0.0);
            assert!(gap < 0.01, "Little's law is off by {gap} at {}", name());
        });
    }

    fn breakdown(&mut self, elapsed: Nanos) -> Vec<Component> {
        let mut components = Vec::new();
        self.each_meter(|name, meter, servers| {
            components.extend(Component::of(name(), meter, servers, elapsed));
        });
        components
    }

    /// Every meter of the array and its hosts, with its part's name and number of servers.
    fn each_meter(&mut self, mut visit: impl FnMut(&dyn Fn() -> String, &mut Meter, u32)) {
        for (n, host) in self.hosts.iter_mut().enumerate() {
            let servers = host.processor.servers();
            visit(&|| format!("host {n} processor"), host.processor.meter(), servers);
            for (f, file) in host.files.iter_mut().enumerate() {
                visit(&|| format!("host {n} file {f}"), file.meter(), 1);
            }
            for (a, adapter) in host.adapters.iter_mut().enumerate() {
                for (way, station) in adapter.stations() {
                    let servers = station.servers();
                    visit(&|| format!("host {n} adapter {a} {way}"), station.meter(), servers);
                }
            }
        }
        for (n, link) in self.links.iter_mut().enumerate() {
            for (way, station) in link.stations() {
                let servers = station.servers();
                visit(&|| format!("link {n} {way}"), station.meter(), servers);
            }
        }
        for (n, engine) in self.back.engines.iter_mut().enumerate() {
            let servers = engine.processor.servers();
            visit(&|| format!("controller {n} processor"), engine.processor.meter(), servers);
            visit(&|| format!("controller {n} bus"), engine.bus.meter(), 1);
            visit(&|| format!("controller {n} xor"), engine.xor.meter(), 1);
        }
        for (n, node) in self.nodes.iter_mut().enumerate() {
            for (way, station) in node.partner.iter_mut().flat_map(Link::stations) {
                let servers = station.servers();
                visit(&|| format!("controller {n} mirror {way}"), station.meter(), servers);
            }
        }
        for (n, channel) in self.back.channels().iter_mut().enumerate() {
            let servers = channel.servers();
            visit(&|| format!("channel {n}"), channel.meter(), servers);
        }
        for (n, disk) in self.back.disks.iter_mut().enumerate() {
            visit(&|| format!("disk {n}"), disk.device.meter(), 1);
        }
    }
}

/// The adapter of `host` that `link` hangs on.
fn adapter(host: &mut Host, link: u32) -> Option<&mut Link> {
    let count = host.adapters.len();
    (count > 0).then(|| &mut host.adapters[link as usize % count])
}

/// A set with the array's spares among its disks.
fn new_set(plant: &Plant, set: &SetPlant) -> Result<Set, GeometryError> {
    let spec = SetSpec { spares: plant.spares.len() as u32, ..set.geometry.spec().clone() };
    let geometry = Geometry::new(spec)?;
    let health = Health::new(&geometry);
    let disks = set.members.iter().chain(&plant.spares).copied().collect();
    Ok(Set { geometry, health, disks })
}
