//! The simulation: one event loop, one integer clock, any number of jobs.
//!
//! [`Sim`] is five components beside the figures. Each owns its state, is lent by its methods' arguments what else it
//! needs, and tells what has to follow by what it returns or by an [`Event`]; [`Sim`] calls the next. Downwards, from the
//! jobs to the members, a component calls the one below it. `traffic` has the clock, the requests under way and the way back,
//! and is lent to all: what the array answers, refuses or loses it sends by it. All else that ends is handed up by [`Sim`].
//!
//! The walk of a request, with no step back:
//!
//! 1. `clients`: the job says what is due ([`workload::Job::plan`]), and each becomes a request.
//! 2. `hosts`: `Hosts::issue` takes file and processor; the page cache answers, or the request is split into parts that
//!    link and protocol carry. Each waits for the LUN's depth, its session and a path.
//! 3. `traffic`: adapter and link carry the command, and the data of a write; [`Event::Wire`] and [`Event::LegDone`] tell
//!    when they are at the controller.
//! 4. `array`: `Array::arrive` asks whether the controller serves the volume; then its processors, its cache, and the
//!    back end for what the cache cannot answer.
//! 5. `back`, in `array`: the RAID planner's steps as member commands, each one event at its device ([`Event::Disk`] or
//!    [`Event::Member`]), arithmetic between reads and writes ([`Event::Chain`]). What has ended lies in
//!    [`BackEnd::done`], which [`Sim`] collects after each event.
//! 6. `array` and `traffic`: `Array::deliver` takes the data over the bus, link and adapter carry them back.
//! 7. `hosts`: those that waited for the part's session and queue go on; the part joins its request.
//! 8. `clients`: the request is complete ([`workload::Job::complete`]), and the job plans again.
//!
//! Where each request was meanwhile stands in its trace, which `request::Requests` keeps beside it. Background work
//! (`works`) enters at 5 by itself.
//!
//! **Invariant:** each request that a job planned is settled exactly once.

mod array;
mod back;
mod bitmap;
mod cache;
mod chain;
mod clients;
mod commit;
mod courses;
mod engine;
mod event;
mod file_lock;
mod gate;
mod host;
mod hosts;
mod indirect;
mod initiator;
mod locks;
mod meters;
mod network;
mod node;
mod outcome;
mod outside;
mod ownership;
mod pages;
mod paths;
mod quiesce;
mod request;
mod resource;
mod syncs;
mod timeline;
mod traffic;
mod trial;
mod unit_locks;
mod volume;
mod warm_ups;
mod works;

use std::ops::Range;
use std::sync::Arc;

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Share};
use workload::{Completion, Errno, Job, Request, WarmUp};

pub use back::{BackEnd, Disk, Ended, Freed, OperationSpec, Owner, Set};
pub use clients::{Client, FilePlace};
pub use courses::{Course, Courses};
pub use engine::Engine;
pub use event::Event;
pub use outcome::{Component, HostTraffic, LunQueues, RunOutcome};
pub use resource::Resource;
pub use timeline::Timeline;
pub use works::{WorkError, WorkOrder, WorkProgress};

/// The request that [`Sim::submit`] takes, its slot, and what it does.
pub use workload::{Op as OutsideOp, Request as OutsideRequest, Token as OutsideToken};

pub use crate::topology::{BitmapParams, LunPlacement, ReadBalance, SetTopology, Topology};

use crate::background::{BackgroundKind, BackgroundParams};
use crate::files::{FileClient, FileSystem, Unwritten};
use crate::latency::LatencyTrace;
use crate::raid::{GeometryError, HealthError, PlanError};
use array::Array;
use clients::{Clients, Running};
use hosts::Hosts;
use initiator::Initiator;
use request::{Leg, Purpose};
use traffic::Traffic;
use trial::Trial;
use warm_ups::WarmUps;
use works::Works;

/// `EIO`: the error of data that are lost, as Linux numbers it.
const LOST: Errno = Errno(5);
/// `ENXIO`: beyond the end of the volume, or no such volume.
const NO_SUCH: Errno = Errno(6);

/// What a watcher of a run wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The load runs on.
    GoOn,
    /// Stop all jobs; what is in flight ends.
    Stop,
}

/// A simulated array with its hosts.
pub struct Sim {
    topology: Topology,
    clients: Clients,
    hosts: Hosts,
    /// Requests on their way, and the clock.
    traffic: Traffic,
    array: Array,
    works: Works,
    /// How long each of the next run's loads warms up, and those of its warm-ups that count bytes.
    warmup: (Vec<Nanos>, Vec<Arc<WarmUp>>),
}

impl Sim {
    /// The array and hosts that `topology` describes, at rest. What is drawn at random comes from `seed`.
    ///
    /// The one thing that can be wrong with a topology whose geometries were checked: more spares than numbers.
    pub fn new(topology: &Topology, seed: u64) -> Result<Sim, GeometryError> {
        topology.assert_whole();
        let sets = topology.sets.iter().map(|set| Set::new(topology, set)).collect::<Result<_, _>>()?;
        let mut sim = Sim {
            clients: Clients::default(),
            hosts: Hosts::new(topology),
            traffic: Traffic::new(topology),
            array: Array::new(topology, BackEnd::of(topology, sets, seed)),
            works: Works::new(&topology.background, &topology.luns),
            topology: topology.clone(),
            warmup: Default::default(),
        };
        for &disk in &topology.failed {
            // A disk that is in no set fails without consequence.
            let _ = sim.fail_disk(disk);
        }
        Ok(sim)
    }

    /// Sizes of what a job can use: the LUNs, or where the hosts stripe a volume over some of them, that volume and
    /// then the other LUNs.
    pub fn lun_sizes(&self) -> Vec<Bytes> {
        self.hosts.sizes().to_vec()
    }

    /// Has the cache of the controller that serves `lun` hold its bytes `from..to` for reads, as far as it has room.
    pub fn hold(&mut self, lun: u32, from: Bytes, to: Bytes) {
        self.array.hold(lun, from.get() / SECTOR_BYTES, to.get() / SECTOR_BYTES);
    }

    /// Has the page cache of a host hold `part` of `lun`, as far as it has room.
    pub fn hold_pages(&mut self, host: u32, lun: u32, part: Range<Bytes>) {
        self.hosts.hold_pages(host, lun, part.start.get(), part.end.get());
    }

    /// Has the cache of the controller that serves `lun` take a write of its bytes `from..to` at once; whether it has
    /// room.
    pub fn fill_with(&mut self, lun: u32, from: Bytes, to: Bytes) -> bool {
        self.array.fill_with(
            self.traffic.time.now(),
            lun,
            from.get() / SECTOR_BYTES,
            to.get().div_ceil(SECTOR_BYTES),
        )
    }

    /// Bytes that controllers have acknowledged and not yet written to members.
    pub fn dirty(&self) -> Bytes {
        self.array.dirty()
    }

    /// Loads of the next run warm up until so long after its begin, and until `by_bytes` are over: from the last of that on parts are
    /// metered, from the last before one of them has done its part.
    pub fn warm_up(&mut self, times: Vec<Nanos>, by_bytes: Vec<Arc<WarmUp>>) {
        self.warmup = (times, by_bytes);
    }

    /// The same with what the buffers of flash drives hold.
    pub fn unwritten(&self) -> Bytes {
        self.dirty() + self.buffers().map(|[held, _]| held).sum::<Bytes>()
    }

    /// Room for writes in the caches of those controllers, and in the buffers of those flash drives, that hold some: a volume writes
    /// to the cache of its owner.
    pub fn write_room_in_use(&self) -> Bytes {
        let filled = self.buffers().filter(|[held, _]| *held > Bytes::ZERO);
        self.array.write_room_in_use() + filled.map(|[_, size]| size).sum::<Bytes>()
    }

    /// What each disk's buffer holds, and its size.
    fn buffers(&self) -> impl Iterator<Item = [Bytes; 2]> {
        let now = self.now();
        self.array.back.disks.iter().map(move |disk| disk.device.buffered(now))
    }

    /// Follows each request from now on: [`RunOutcome::latency`] tells where its time went. It takes time of its own,
    /// up to as much again where a request is a few events. Call before anything has been asked.
    pub fn trace_latency(&mut self) {
        self.traffic.requests.trace_all();
        self.array.back.traces_latency = true;
    }

    /// The array's own time.
    pub fn now(&self) -> Instant {
        self.traffic.time.now()
    }

    /// Takes disk `disk` out of its set at once.
    pub fn fail_disk(&mut self, disk: u32) -> Result<(), HealthError> {
        self.array.fail_disk(disk)
    }

    /// Takes the disk of a slot out of use at once, or the one that is becoming its copy. Panics for a slot that there is not.
    pub fn fail_slot(&mut self, set: u32, slot: u16, is_copy: bool) -> Result<(), HealthError> {
        self.array.fail_slot(set, slot, is_copy)
    }

    /// A slot has a disk again that has missed nothing: its failed one, or, in place of one that is being filled, the one before it. A set
    /// that had failed is online again where that suffices. Nothing where the slot has such a disk. Panics for a slot that there is not.
    pub fn take_back(&mut self, set: u32, slot: u16) -> Result<(), HealthError> {
        self.array.take_back(set, slot)
    }

    /// The sets that have failed for good, by number, and why.
    pub fn failed_sets(&self) -> impl Iterator<Item = (usize, PlanError)> {
        let sets = self.array.back.sets.iter().enumerate();
        sets.filter_map(|(number, set)| Some((number, set.geometry.failure(&set.health)?)))
    }

    /// Cuts a link at an instant to come, with what is on its way there.
    pub fn fail_link_at(&mut self, link: u32, at: Instant) {
        self.traffic.time.at(at.max(self.now()), Event::Cut(link));
    }

    /// Cuts a link: numbers run over the links of the first controller, then of the second.
    pub fn fail_link(&mut self, link: u32) {
        self.traffic.network.cut(link, self.traffic.time.now());
    }

    /// Mends a link. Volumes that had moved go back to where they belong.
    pub fn mend_link(&mut self, link: u32) {
        self.traffic.network.mend(link);
        self.array.fail_back(&mut self.traffic);
        self.hosts.resume(&mut self.traffic, &mut self.array);
    }

    /// Mends a link at an instant to come.
    pub fn mend_link_at(&mut self, link: u32, at: Instant) {
        self.traffic.time.at(at.max(self.now()), Event::Mend(link));
    }

    /// Stops a controller: its partner takes its volumes over, and without a partner writes go through.
    ///
    /// What the partner has in its mirror it destages; what nobody mirrored stays where it is until the controller
    /// comes back. Writes that waited for room are lost and sent again. Background work stands still while no controller works.
    pub fn fail_controller(&mut self, controller: u32) {
        self.array.fail_controller(&mut self.traffic, controller);
        self.have_works_led();
    }

    /// Brings a controller back, with its volumes.
    pub fn mend_controller(&mut self, controller: u32) {
        self.array.mend_controller(&mut self.traffic, controller);
        self.hosts.resume(&mut self.traffic, &mut self.array);
        self.have_works_led();
    }

    /// Background work is the doing of controllers: without one that works none of it starts.
    fn have_works_led(&mut self) {
        let is_dark = !self.array.has_working_controller();
        self.works.stand_still(&mut self.traffic.time, &mut self.array.back, is_dark);
    }

    /// Starts background work under the figures that the array has for its kind, or plain ones; its number.
    pub fn start_work(&mut self, order: WorkOrder) -> Result<u32, WorkError> {
        self.start_work_as(order, self.work_params(order.kind))
    }

    /// The figures that the array has for a kind of work, or plain ones: a mebibyte at a time, two at once, no control.
    pub fn work_params(&self, kind: BackgroundKind) -> BackgroundParams {
        self.works.params(kind)
    }

    /// Starts background work under the figures given; its number.
    pub fn start_work_as(&mut self, order: WorkOrder, params: BackgroundParams) -> Result<u32, WorkError> {
        let sets = self.array.back.sets.len();
        if order.set as usize >= sets {
            return Err(WorkError::NoSuchSet { set: order.set, sets });
        }
        let startup = Trial { sim: self, order, params }.startup()?;
        let number = self.works.start(self.now(), &mut self.array.back, order, params, startup)?;
        self.works.pump(&mut self.traffic.time, &mut self.array.back, number);
        Ok(number)
    }

    /// Starts background work past its start-up, as if everything below `from` of the pass had been done; its number.
    ///
    /// [`WorkProgress::done`] is then the share of what was left, as for all work that is continued.
    pub fn start_work_from(&mut self, order: WorkOrder, from: Share) -> Result<u32, WorkError> {
        self.start_work_from_as(order, self.work_params(order.kind), from)
    }

    /// As [`Sim::start_work_from`], under the figures given.
    pub fn start_work_from_as(
        &mut self,
        order: WorkOrder,
        params: BackgroundParams,
        from: Share,
    ) -> Result<u32, WorkError> {
        let sets = self.array.back.sets.len();
        if order.set as usize >= sets {
            return Err(WorkError::NoSuchSet { set: order.set, sets });
        }
        let number = self.works.start(self.now(), &mut self.array.back, order, params, Nanos::ZERO)?;
        let used = self.array.back.sets[order.set as usize].geometry.member_used();
        let first = truncated::<u64>(used.0 as f64 * from.get()).min(used.0.saturating_sub(1));
        self.works.confine(number, Lba(first), Lba(used.0));
        self.works.pump(&mut self.traffic.time, &mut self.array.back, number);
        Ok(number)
    }

    /// What precedes the first unit of a piece of work, as [`start_work`](Sim::start_work) has it.
    pub fn work_startup(&self, order: WorkOrder) -> Result<Nanos, WorkError> {
        Trial { sim: self, order, params: self.work_params(order.kind) }.startup()
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
        Trial { sim: self, order, params }.alone(samples)
    }

    /// How far a piece of work has got; `None` for a number that was never given.
    pub fn work_progress(&self, number: u32) -> Option<WorkProgress> {
        self.works.progress(number)
    }

    /// Lets time pass until a piece of work has ended, without any job.
    pub fn finish_work(&mut self, number: u32) {
        self.advance_work(number, Share::ALL);
    }

    /// Lets time pass without any job until a piece of work has got further than `done`, or has ended.
    pub fn advance_work(&mut self, number: u32, done: Share) {
        while self.works.is_short_of(number, done) && self.step() {}
    }

    /// Has all jobs stop as soon as a piece of work has reached `done`; what they have in flight ends.
    pub fn stop_jobs_at(&mut self, number: u32, done: Share) {
        self.works.stop_jobs_at(number, done);
    }

    /// Lets time pass until `at` without any job: background work and destaging go on.
    pub fn idle_until(&mut self, at: Instant) {
        while self.traffic.time.next_due() <= at && self.step() {}
        self.traffic.time.pass_to(at);
    }

    /// From now on requests come from outside, for the LUNs by number as [`Request::file`]; see [`Sim::submit`]. No
    /// job can run any more.
    pub fn admit(&mut self) {
        let luns = narrow::<u32>(self.topology.luns.len());
        self.clients.enter(vec![Running::outside(luns)]);
        self.restart_meters();
        self.clients.start(self.now());
    }

    /// A request arrives from outside at `at`, or now where that is past. Tokens of requests under way must differ.
    ///
    /// # Panics
    ///
    /// Without [`Sim::admit`] before.
    pub fn submit(&mut self, at: Instant, request: Request) {
        self.idle_until(at);
        let outside = self.clients.outside().expect("requests from outside must have been admitted");
        outside.hand(request);
        self.ask(0);
    }

    /// When something happens next; [`Instant::NEVER`] where nothing does until a request arrives.
    pub fn next_due(&self) -> Instant {
        self.traffic.time.next_due()
    }

    /// Requests from outside that have ended since this was last called, in order.
    pub fn take_ended(&mut self) -> Vec<Completion> {
        self.clients.outside().map(|outside| outside.take_ended().collect()).unwrap_or_default()
    }

    /// Does `act`, and tells where the time went meanwhile.
    pub fn metered<T>(&mut self, act: impl FnOnce(&mut Sim) -> T) -> (T, Vec<outcome::Component>) {
        let from = self.now();
        self.restart_meters();
        let answer = act(self);
        self.check();
        (answer, self.breakdown(self.now().saturating_since(from)))
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
        let hosts = self.topology.hosts.max(1);
        let running = clients.into_iter().map(|client| Running::job(client, hosts)).collect();
        let (outcome, _) = self.run_initiators(running, &mut |client, initiator| match initiator {
            Initiator::Job(job) => watch(client, job),
            Initiator::Files(_) | Initiator::Outside(_) => Watch::GoOn,
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
        let capacity = self.hosts.sizes().first().copied().unwrap_or(Bytes::ZERO);
        let files = FileSystem::new(host.files, host.processors, capacity, clients, held);
        self.run_initiators(vec![Running::files(files)], &mut |_, initiator| match initiator {
            Initiator::Files(files) => watch(files),
            Initiator::Job(_) | Initiator::Outside(_) => Watch::GoOn,
        })
    }

    fn run_initiators(
        &mut self,
        running: Vec<Running>,
        watch: &mut dyn FnMut(usize, &mut Initiator) -> Watch,
    ) -> (RunOutcome, Unwritten) {
        let (from, events) = (self.now(), self.traffic.time.entered());
        let mut courses = Courses::begin(from);
        let (times, by_bytes) = std::mem::take(&mut self.warmup);
        let mut warm_ups = WarmUps::begin(from, &times, by_bytes);
        let (mut metered_from, mut unwritten) = (from, self.unwritten());
        self.clients.enter(running);
        self.restart_meters();
        self.clients.start(from);
        for client in 0..narrow::<u32>(self.clients.len()) {
            self.ask(client);
        }
        while !self.clients.are_done() {
            // Where nothing else can happen nobody mends a path any more: who waits for one fails, as when an operator
            // ends the queueing.
            if !self.pass_warm_up(&warm_ups)
                && !self.step()
                && !self.hosts.paths.give_all_up(&mut self.traffic)
            {
                break;
            }
            if warm_ups.go_on() && warm_ups.take_over(self.now()) && !self.clients.any_is_done() {
                (metered_from, unwritten) = (self.now(), self.unwritten());
                self.meter_anew(&mut courses);
            }
            if courses.is_due(self.now()) {
                self.sample(&mut courses);
            }
            if self.clients.first_has_ended() {
                self.stop();
            }
            while let Some((client, job)) = self.clients.news() {
                if watch(client, job) == Watch::Stop {
                    self.stop();
                }
            }
        }
        let until = self.now();
        if courses.is_half_due(until) {
            self.sample(&mut courses);
        }
        self.check();
        let elapsed = until.saturating_since(metered_from);
        let (breakdown, lun_queues) = (self.breakdown(elapsed), self.lun_queues(elapsed));
        let (tallies, latency, held) = self.clients.finish();
        let events = self.traffic.time.entered() - events;
        let outcome = RunOutcome {
            breakdown,
            lun_queues,
            host_traffic: self.host_traffic(),
            slc: self.slc(),
            courses,
            tallies,
            latency,
            from,
            metered_from,
            until,
            events,
            unwritten,
        };
        (outcome, held)
    }

    /// Lets time pass to the end of a warm-up at which nothing else happens; whether there was one.
    #[inline]
    fn pass_warm_up(&mut self, warm_ups: &WarmUps) -> bool {
        if !warm_ups.go_on() {
            return false;
        }
        let over = warm_ups.over_before(self.traffic.time.next_due());
        over.inspect(|end| self.traffic.time.pass_to(*end)).is_some()
    }

    /// Has all jobs plan nothing more of their own accord.
    fn stop(&mut self) {
        for client in 0..narrow::<u32>(self.clients.len()) {
            self.clients.stop(client);
            self.ask(client);
        }
    }

    /// Handles the next event; whether there was one.
    #[inline]
    fn step(&mut self) -> bool {
        let Some(event) = self.traffic.time.advance() else { return false };
        self.handle(event);
        self.collect();
        if !self.works.is_empty() {
            self.works.pump_waiting(&mut self.traffic.time, &mut self.array.back);
        }
        true
    }

    fn handle(&mut self, event: Event) {
        let Sim { clients, hosts, traffic, array, works, .. } = self;
        match event {
            Event::Disk(disk) => array.back.disk_done(&mut traffic.time, disk),
            Event::Member(chain) => array.back.member_done(&mut traffic.time, chain),
            Event::Chain(chain) => array.back.chain_ready(&mut traffic.time, chain),
            Event::Channel(wire) => array.back.channel_due(&mut traffic.time, wire),
            Event::Arrive(place) => array.arrive(traffic, place),
            Event::Age(controller) => array.tick(traffic, controller),
            Event::Retry(place) => hosts.retry(traffic, array, place),
            Event::GiveUp(place) => hosts.paths.give_up(traffic, place),
            Event::Pages(place) => hosts.read_on(traffic, array, place),
            Event::Job(client) if clients.wake(traffic, client) => self.ask(client),
            Event::Job(_) => {}
            Event::Wire(wire) => self.wire_due(wire),
            Event::LegDone(place) => self.leg_done(place),
            Event::Answer(place) => self.answered(place),
            Event::Background(work) => works.pump(&mut traffic.time, &mut array.back, work),
            Event::Cut(link) => self.fail_link(link),
            Event::Mend(link) => self.mend_link(link),
        }
    }

    /// Hands ended operations to those who waited for them.
    fn collect(&mut self) {
        self.free_writes();
        while let Some(Ended { owner, trace, flow }) = self.array.back.done.pop() {
            match owner {
                Owner::Request(place) => {
                    if self.array.fetched(&mut self.traffic, place, flow, trace.as_deref()) {
                        self.deliver(place);
                    }
                }
                Owner::Cache { controller, transfer } => {
                    self.transferred(controller, transfer, trace.as_deref());
                }
                Owner::Background(unit) => self.unit_done(unit),
                Owner::Bitmap { set, disk } => {
                    self.array.back.bitmap_step(&mut self.traffic.time, set, disk);
                    self.free_writes();
                }
            }
            self.array.back.recycle(trace);
        }
    }

    /// Tells writes that have waited to be carried out that they wait no longer.
    fn free_writes(&mut self) {
        while let Some(freed) = self.array.back.freed.pop() {
            self.array.write_freed(&mut self.traffic, freed);
        }
    }

    /// A transfer of a controller's cache has ended.
    fn transferred(&mut self, controller: u32, transfer: u32, trace: Option<&LatencyTrace>) {
        let transferred = self.array.transferred(&mut self.traffic, controller, transfer, trace);
        for &place in &transferred.readers {
            self.deliver(place);
        }
        self.array.go_on(&mut self.traffic, controller, transferred);
    }

    /// Brings what the array has for a part to its host.
    fn deliver(&mut self, place: u32) {
        if self.array.deliver(&mut self.traffic, place) {
            self.answered(place);
        }
    }

    /// A unit of background work has been carried out.
    fn unit_done(&mut self, unit: u32) {
        let ended = self.works.unit_done(&mut self.traffic.time, &mut self.array.back, unit);
        let Some(ended) = ended else { return };
        if ended.stops_jobs {
            self.stop();
        }
        self.works.pump(&mut self.traffic.time, &mut self.array.back, ended.work);
    }

    /// A transfer may have ended on a wire.
    fn wire_due(&mut self, wire: u32) {
        let (stage, carried) = self.traffic.wire_due(wire);
        for &transfer in &carried {
            if self.traffic.land(stage, transfer) {
                self.leg_done(transfer.token);
            }
        }
        self.traffic.recycle(carried);
    }

    /// A request is where it was going.
    fn leg_done(&mut self, place: u32) {
        match self.traffic.leg_done(place) {
            Leg::Out => self.array.arrive(&mut self.traffic, place),
            Leg::Across => self.array.serve(&mut self.traffic, place),
            Leg::Mirror => self.traffic.respond(place, self.traffic.time.now()),
            Leg::Back => self.answered(place),
        }
    }

    /// The answer of a part is at its host.
    fn answered(&mut self, place: u32) {
        if self.traffic.requests[place].outstanding {
            if self.traffic.is_cut(place) {
                return self.traffic.send_again(place);
            }
            self.hosts.come_back(&mut self.traffic, &mut self.array, place);
        }
        if let Some(whole) = self.traffic.requests.join(place) {
            self.ended(whole);
        }
    }

    /// A request has all of its answers.
    #[inline]
    fn ended(&mut self, place: u32) {
        match self.traffic.requests[place].purpose {
            Purpose::Job => {
                if let Some(client) = self.clients.ended(&mut self.traffic, place) {
                    self.ask(client);
                }
            }
            purpose => {
                self.traffic.requests.end(place);
                self.hosts.fetched(&mut self.traffic, &mut self.array, place, purpose);
            }
        }
    }

    /// Asks a job for what is due, until it has no more for now.
    fn ask(&mut self, client: u32) {
        while let Some((planned, is_more)) = self.clients.plan(&mut self.traffic.time, client) {
            for asked in &planned {
                let (place, manner) = self.clients.request(&mut self.traffic, client, asked);
                self.hosts.issue(&mut self.traffic, &mut self.array, place, manner);
            }
            self.clients.recycle(planned);
            if !is_more {
                return;
            }
        }
    }
}
