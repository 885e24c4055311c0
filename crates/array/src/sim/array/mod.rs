//! A part of a request at its controller: processors, ownership, cache, back end, and the destaging behind it.
//!
//! What goes back to a host goes by an event, but for the data of a read that have just come, and the word that a write
//! has ended: the caller gets them back and passes them to [`Array::deliver`].
//!
//! **Invariant:** what a controller has acknowledged and not yet written is in its cache as dirty.

use units::convert::narrow;
use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors};
use workload::Op;

use crate::controller::{ControllerParams, Ownership};
use crate::latency::{LatencyTrace, Stage};
use crate::meter::Class;
use crate::protocol::ProtocolParams;
use crate::raid::{Extent, HealthError, MemberState};
use crate::readahead::{Fetch, Lookup};

use super::Topology;
use super::back::{BackEnd, Ended, Freed, OperationSpec, Owner};
use super::cache::{Cache, CacheTransfer, VolumeRange};
use super::commit::Commits;
use super::file_lock::FileLock;
use super::node::Node;
use super::request::{Doing, HostRequest, Leg};
use super::traffic::Traffic;
use super::volume::Volumes;

mod destaging;
mod stable;
mod writes;

/// The controllers, their volumes, and the members behind them.
pub struct Array {
    /// The controllers.
    pub(super) nodes: Vec<Node>,
    /// The volumes, and who serves them.
    pub(super) volumes: Volumes,
    /// The members.
    pub back: BackEnd,
    pub(super) params: ControllerParams,
    protocol: ProtocolParams,
    fetches: Vec<Fetch>,
    extents: Vec<Extent>,
    /// Reads that a transfer has ended for.
    readers: Vec<u32>,
    /// Flushes whose cache has been emptied.
    drained: Vec<u32>,
    /// By set: the transactions of the journal on it.
    commits: Vec<Commits>,
    /// By volume: the lock of the file that it is.
    files: Vec<FileLock>,
}

/// What an ended transfer of a cache leaves to do.
#[must_use]
pub struct Transferred {
    /// Reads that have waited for it: their data go out, each by [`Array::deliver`], before [`Array::go_on`].
    pub readers: Vec<u32>,
    /// Whether it has made room for writes.
    pub has_room: bool,
}

/// Where a part lies on its set.
struct PartRange {
    set: u32,
    /// Sectors, first and end.
    from: u64,
    to: u64,
    /// Where its volume ends.
    end: u64,
}

impl PartRange {
    fn extent(&self) -> Extent {
        Extent { lba: Lba(self.from), sectors: Sectors(self.to - self.from) }
    }
}

impl Array {
    /// Working controllers with empty caches before the members in `back`.
    pub fn new(topology: &Topology, back: BackEnd) -> Array {
        assert_eq!(
            back.engines.len(),
            topology.controllers.max(1) as usize,
            "each controller must have its engine",
        );
        let node = |_| Node::new(&topology.controller, back.sets.iter().map(|set| &set.geometry));
        Array {
            nodes: (0..topology.controllers.max(1)).map(node).collect(),
            commits: back.sets.iter().map(|_| Commits::default()).collect(),
            volumes: Volumes::new(&topology.luns),
            files: topology.luns.iter().map(|_| FileLock::default()).collect(),
            back,
            params: topology.controller.clone(),
            protocol: topology.protocol.clone(),
            fetches: Vec::new(),
            extents: Vec::new(),
            readers: Vec::new(),
            drained: Vec::new(),
        }
    }

    /// Whether a controller works.
    pub fn is_alive(&self, controller: u32) -> bool {
        self.nodes[controller as usize].alive
    }

    /// Whether one of them works.
    pub fn has_working_controller(&self) -> bool {
        self.nodes.iter().any(|node| node.alive)
    }

    /// Takes disk `disk` out of its set at once.
    pub fn fail_disk(&mut self, disk: u32) -> Result<(), HealthError> {
        for set in &mut self.back.sets {
            if let Some(member) = set.disks.iter().position(|&number| number == disk) {
                set.health.fail(narrow::<u32>(member))?;
                set.is_offline |= set.geometry.failure(&set.health).is_some();
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes the disk of a slot out of use, or the one that is becoming its copy.
    pub fn fail_slot(&mut self, set: u32, slot: u16, is_copy: bool) -> Result<(), HealthError> {
        let set = &mut self.back.sets[set as usize];
        let member = if is_copy { set.health.twin(slot) } else { Some(set.health.member(slot)) };
        if let Some(member) = member {
            set.health.fail(member.into())?;
            set.is_offline |= set.geometry.failure(&set.health).is_some();
        }
        Ok(())
    }

    /// A slot has a disk again that has missed nothing: its failed one, or, in place of one that is being filled, the one before it. The
    /// set is online where that suffices.
    pub fn take_back(&mut self, set: u32, slot: u16) -> Result<(), HealthError> {
        let set = &mut self.back.sets[set as usize];
        if set.health.state(slot) == MemberState::Failed {
            let member = set.health.member(slot).into();
            set.health.clear(member)?;
            set.health.rebuild_on(slot, member)?;
        }
        set.health.finish(slot);
        set.is_offline = set.geometry.failure(&set.health).is_some();
        Ok(())
    }

    /// A part is at a controller, with its data if it writes.
    pub fn arrive(&mut self, traffic: &mut Traffic, place: u32) {
        let now = traffic.time.now();
        if !traffic.requests[place].arrived {
            if traffic.is_cut(place) {
                return traffic.send_again(place);
            }
            traffic.requests[place].arrived = true;
            if self.back.passes_through {
                traffic.note_flow(place);
            }
        }
        let HostRequest { lun, controller, accepted, .. } = traffic.requests[place];
        debug_assert!(traffic.requests[place].outstanding, "only what was sent can arrive");
        debug_assert!(
            !accepted || self.params.accepts.is_some(),
            "only where there is a limit is it counted"
        );
        // What it waits for outside, its controller having no place for it.
        traffic.requests.trace(place).wait(Stage::ControllerQueue, now);
        if !self.is_alive(controller) {
            return traffic.lose(place);
        }
        if self.volumes[lun].paused > now {
            return self.volumes.wait(traffic, place);
        }
        if let (false, Some(limit)) = (accepted, self.params.accepts)
            && !traffic.enter_gate(place, limit)
        {
            return;
        }
        let owner = self.volumes[lun].owner;
        match self.params.ownership {
            _ if owner == controller => self.serve(traffic, place),
            Ownership::Symmetric => self.serve(traffic, place),
            Ownership::Transfer { .. } => {
                self.move_volume(traffic, lun, controller);
                self.volumes.wait(traffic, place);
            }
            Ownership::Forward => self.forward(traffic, place, owner),
        }
    }

    /// Has the controller that serves a part carry it out.
    pub fn serve(&mut self, traffic: &mut Traffic, place: u32) {
        let HostRequest { controller, class, op, len, .. } = traffic.requests[place];
        let (now, len) = (traffic.time.now(), u64::from(len));
        let (server, copy) = match op {
            Op::Write => (self.protocol.server_write, self.protocol.server_write_copy),
            _ => (self.protocol.server_read, self.protocol.server_read_copy),
        };
        let server = copy.map_or(server, |rate| server + rate.time_for(Bytes::new(len)));
        let engine = &mut self.back.engines[controller as usize];
        let command = engine.host_work(now, op == Op::Write, len);
        let processed = engine.processor.book(now, now, command, class);
        let ready = engine.processor.book(now, processed, server, class);
        debug_assert!(now <= processed && processed <= ready, "a processor must not work in the past");
        let trace = traffic.requests.trace(place);
        trace.pass(Stage::ControllerProcessor, processed, command);
        trace.pass(Stage::ControllerProcessor, ready, server);
        if self.is_offline(traffic, place) {
            return traffic.fail(place, ready);
        }
        match op {
            Op::Read => self.read(traffic, place, ready),
            Op::Write => self.write(traffic, place, ready),
            Op::Trim => self.trim(traffic, place, ready),
            Op::Flush => self.flush(traffic, place, ready),
        }
    }

    fn is_offline(&self, traffic: &Traffic, place: u32) -> bool {
        let set = self.volumes[traffic.requests[place].lun].range.set;
        self.back.sets[set as usize].is_offline
    }

    /// Passes a part on to the volume's owner.
    fn forward(&mut self, traffic: &mut Traffic, place: u32, owner: u32) {
        let HostRequest { controller: here, class, op, .. } = traffic.requests[place];
        debug_assert_ne!(here, owner, "a part must be passed on to the other controller");
        traffic.requests[place].controller = owner;
        let (now, engine) = (traffic.time.now(), &mut self.back.engines[here as usize]);
        let command = engine.host_work(now, op == Op::Write, 0);
        let ready = engine.processor.book(now, now, command, class);
        traffic.requests.trace(place).pass(Stage::ControllerProcessor, ready, command);
        // The data cross the same link, whichever way they go.
        traffic.cross_over(place, here, ready, Leg::Across);
    }

    /// Where a part lies on its set.
    #[inline]
    fn range_of(&self, traffic: &Traffic, place: u32) -> PartRange {
        let HostRequest { lun, offset, len, .. } = traffic.requests[place];
        let VolumeRange { set, from, to: end } = self.volumes[lun].range;
        let to = from + (offset + u64::from(len)).div_ceil(SECTOR_BYTES);
        debug_assert!(len > 0, "what lies on sectors must have a length");
        PartRange { set, from: from + offset / SECTOR_BYTES, to, end }
    }

    /// What the back end needs to know of an operation for a part.
    #[inline]
    fn operation(traffic: &Traffic, place: u32, set: u32, ready: Instant) -> OperationSpec {
        let HostRequest { class, controller, flow, .. } = traffic.requests[place];
        OperationSpec { set, owner: Owner::Request(place), class, controller, ready, flow, mark: None }
    }

    fn cache(&mut self, controller: u32) -> Option<&mut Cache> {
        self.nodes[controller as usize].cache.as_mut()
    }

    /// The caches of the controllers that work.
    pub(super) fn working_caches(&mut self) -> impl Iterator<Item = &mut Cache> {
        self.nodes.iter_mut().filter(|node| node.alive).filter_map(|node| node.cache.as_mut())
    }

    fn read(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let part = self.range_of(traffic, place);
        let HostRequest { class, controller, .. } = traffic.requests[place];
        let Some(cache) = self.nodes[controller as usize].cache.as_mut() else {
            return self.read_members(traffic, place, &part, ready);
        };
        let mut fetches = std::mem::take(&mut self.fetches);
        fetches.clear();
        let verdict = cache.read(part.set, part.from, part.to, part.end, &mut fetches);
        if let Some(Lookup::Coming(stream)) = verdict {
            cache.wait(stream, part.to, place);
        }
        for &fetch in &fetches {
            let class = if fetch.from < part.to { class } else { Class::Prefetch };
            self.fetch(traffic, controller, part.set, fetch, class, ready);
        }
        self.fetches = fetches;
        match verdict {
            Some(Lookup::Ready) => {
                let (first, last) = self.cross(traffic, place, ready);
                traffic.send_back(place, first, last, false);
            }
            Some(Lookup::Coming(_)) => {}
            Some(Lookup::Stranger) | None => self.read_lacking(traffic, place, part, ready),
        }
    }

    /// Has the members of a set read what the cache lacks of a part.
    #[inline(never)]
    fn read_lacking(&mut self, traffic: &mut Traffic, place: u32, part: PartRange, ready: Instant) {
        let controller = traffic.requests[place].controller;
        let PartRange { set, from, to, end } = part;
        let lacking = self.cache(controller).and_then(|cache| cache.lacking(set, from, to));
        let (from, to) = lacking.map_or((from, to), |(from, to)| (from, to.min(end)));
        self.read_members(traffic, place, &PartRange { from, to, ..part }, ready);
    }

    /// Has the members of a set read the data of a part.
    #[inline(always)]
    fn read_members(&mut self, traffic: &mut Traffic, place: u32, part: &PartRange, ready: Instant) {
        let spec = Self::operation(traffic, place, part.set, ready);
        let Extent { lba, sectors } = part.extent();
        if self.back.read(&mut traffic.time, spec, lba, sectors).is_err() {
            // A write that held its file holds it no more.
            let lun = traffic.requests[place].lun;
            self.files[lun as usize].let_go(place);
            traffic.fail(place, ready);
        }
    }

    /// Starts a fetch into a cache.
    fn fetch(
        &mut self,
        traffic: &mut Traffic,
        controller: u32,
        set: u32,
        fetch: Fetch,
        class: Class,
        ready: Instant,
    ) {
        let Some(cache) = self.cache(controller) else { return };
        let transfer = cache.begin(CacheTransfer::Fetch { set, fetch });
        let owner = Owner::Cache { controller, transfer };
        let spec = OperationSpec { set, owner, class, controller, ready, flow: Nanos::ZERO, mark: None };
        let sectors = Sectors(fetch.to - fetch.from);
        if self.back.read(&mut traffic.time, spec, Lba(fetch.from), sectors).is_err() {
            self.back.done.push(Ended::at(owner, traffic.time.now()));
        }
    }

    /// Tells the members that a part's data are needed no more, and answers.
    fn trim(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let part = self.range_of(traffic, place);
        let spec = Self::operation(traffic, place, part.set, ready);
        if !self.back.trim(&mut traffic.time, spec, part.extent()) {
            traffic.respond(place, ready);
        }
    }

    /// The working partner of a controller.
    pub(super) fn partner_of(&self, controller: u32) -> Option<u32> {
        (0..narrow::<u32>(self.nodes.len())).find(|&other| other != controller && self.is_alive(other))
    }

    /// The back end has done its part of a request, having gone the way of `trace` where traces are kept. Whether that
    /// was all: [`Array::deliver`] is next.
    pub fn fetched(
        &mut self,
        traffic: &mut Traffic,
        place: u32,
        flow: Nanos,
        trace: Option<&LatencyTrace>,
    ) -> bool {
        if let Some(trace) = trace {
            traffic.requests.trace(place).follow(trace, Stage::Locate);
        }
        traffic.requests[place].flow = flow;
        let now = traffic.time.now();
        let HostRequest { op, class, len, controller, doing, .. } = traffic.requests[place];
        debug_assert!(doing == Doing::Asked || op == Op::Write, "only a write takes more than one step");
        if doing != Doing::Asked {
            return self.next_step(traffic, place, doing);
        }
        if op == Op::Read && self.nodes[controller as usize].cache.is_some() {
            let PartRange { set, from, to, .. } = self.range_of(traffic, place);
            self.cache(controller).into_iter().for_each(|cache| cache.keep(set, from, to));
            self.back.engines[controller as usize].take_in(now, now, u64::from(len), class);
        }
        true
    }

    /// The data of a part cross the bus on their way out; when the first and the last have.
    #[inline]
    fn cross(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) -> (Instant, Instant) {
        let HostRequest { class, len, controller, .. } = traffic.requests[place];
        let engine = &mut self.back.engines[controller as usize];
        let work = engine.crossing(u64::from(len));
        let (first, last) = engine.cross(traffic.time.now(), ready, work, class);
        traffic.requests.trace(place).pass(Stage::Bus, last, work);
        (first, last)
    }

    /// The data of a read pass the bus as they come from the members; when the first and the last have.
    fn pass(&mut self, traffic: &mut Traffic, place: u32, now: Instant) -> (Instant, Instant) {
        let HostRequest { class, len, controller, flow, .. } = traffic.requests[place];
        let engine = &mut self.back.engines[controller as usize];
        let last = engine.take_in(now, now, u64::from(len), class);
        traffic.requests.trace(place).pass(Stage::Bus, last, engine.crossing(u64::from(len)));
        (Instant::from_nanos(now.nanos().saturating_sub(flow.get())), last)
    }

    /// Brings the data of a read, which the controller has, or the word that a write has ended, to the host. Whether
    /// they are there at once.
    pub fn deliver(&mut self, traffic: &mut Traffic, place: u32) -> bool {
        debug_assert!(traffic.requests[place].outstanding, "only what was sent is answered");
        let now = traffic.time.now();
        let (first, last) = match traffic.requests[place].op {
            Op::Read if self.back.passes_through => self.pass(traffic, place, now),
            Op::Read => self.cross(traffic, place, now),
            _ => (now, now),
        };
        traffic.send_back(place, first, last, true)
    }

    /// A write waits no longer for a unit that background work held, or for the bitmap of its set.
    #[cold]
    pub fn write_freed(&mut self, traffic: &mut Traffic, Freed { owner, is_lost, stage }: Freed) {
        let now = traffic.time.now();
        if let Owner::Request(place) = owner {
            traffic.requests.trace(place).wait(stage, now);
        }
        match owner {
            Owner::Request(place) if is_lost => traffic.fail(place, now),
            owner if is_lost => self.back.done.push(Ended::at(owner, now)),
            _ => {}
        }
    }
}
