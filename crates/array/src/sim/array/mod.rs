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
use crate::protocol::{ProtocolKind, ProtocolParams};
use crate::raid::{Extent, HealthError};
use crate::readahead::{Fetch, Lookup};

use super::Topology;
use super::back::{BackEnd, Ended, Freed, OperationSpec, Owner};
use super::cache::{Cache, CacheTransfer, SETTLED, VolumeRange};
use super::commit::Commits;
use super::event::Event;
use super::file_lock::FileLock;
use super::node::Node;
use super::request::{Doing, HostRequest, Leg};
use super::traffic::Traffic;
use super::volume::{Volume, Volumes};

mod stable;

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

    /// A part is at a controller, with its data if it writes.
    pub fn arrive(&mut self, traffic: &mut Traffic, place: u32) {
        let now = traffic.time.now();
        if !traffic.requests[place].arrived {
            if traffic.is_cut(place) {
                return traffic.send_again(place);
            }
            traffic.requests[place].arrived = true;
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
        let server = server + copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(len)));
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
        let HostRequest { class, controller, .. } = traffic.requests[place];
        OperationSpec { set, owner: Owner::Request(place), class, controller, ready }
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
            Some(Lookup::Stranger) | None => self.read_members(traffic, place, &part, ready),
        }
    }

    /// Has the members of a set read the data of a part.
    #[inline]
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
        let spec = OperationSpec { set, owner, class, controller, ready };
        let sectors = Sectors(fetch.to - fetch.from);
        if self.back.read(&mut traffic.time, spec, Lba(fetch.from), sectors).is_err() {
            self.back.done.push(Ended::at(owner, traffic.time.now()));
        }
    }

    fn write(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let HostRequest { class, controller, len, durable, .. } = traffic.requests[place];
        if self.waits_for_file(traffic, place) || self.fill(traffic, place, ready) {
            return;
        }
        let partner = self.partner_of(controller).is_some();
        let engine = &mut self.back.engines[controller as usize];
        let ready = engine.take_in(traffic.time.now(), ready, u64::from(len), class);
        traffic.requests.trace(place).pass(Stage::Bus, ready, engine.crossing(u64::from(len)));
        if let Some(cache) = self.nodes[controller as usize].cache.as_ref() {
            // A cache that keeps what it holds is the stable storage that FUA asks for
            // (Linux, Documentation/block/writeback_cache_control.rst).
            let through = self.protocol.sync_writes || durable && !cache.is_protected();
            if !through && cache.takes_writes(partner) {
                return self.write_back(traffic, place, ready);
            }
        }
        let part = self.range_of(traffic, place);
        if self.write_part(traffic, place, &part, ready) || self.write_out_with_others(traffic, place, &part)
        {
            return;
        }
        if let Some(cache) = self.cache(controller) {
            cache.keep(part.set, part.from, part.to);
        }
        if self.must_be_stable(&traffic.requests[place]) {
            traffic.requests[place].doing = Doing::Stable;
        }
        let spec = Self::operation(traffic, place, part.set, ready);
        if self.back.write(&mut traffic.time, spec, &[part.extent()]).is_err() {
            traffic.fail(place, ready);
        }
    }

    /// Takes in a part of a write that an SMB client sends one part after the other, and of which the whole is to be
    /// stable: all but the last are dirty and answered, and with the last all of the file leaves (`fsync`). `false`: it
    /// goes by itself.
    fn write_part(&mut self, traffic: &mut Traffic, place: u32, part: &PartRange, ready: Instant) -> bool {
        let HostRequest { last, controller, lun, .. } = traffic.requests[place];
        let comes_in_parts = self.protocol.kind == ProtocolKind::Smb1 && traffic.requests[place].is_part();
        let now = traffic.time.now();
        let &PartRange { set, from, to, .. } = part;
        let whole = self.volumes[lun].range;
        let Some(cache) = self.cache(controller).filter(|cache| comes_in_parts && !cache.is_protected())
        else {
            return false;
        };
        if !cache.write(now, set, from, to) {
            return false;
        }
        if last {
            let waits = cache.drain(whole, place);
            debug_assert!(waits, "what is dirty has to leave");
            let stable = self.must_be_stable(&traffic.requests[place]);
            let request = &mut traffic.requests[place];
            (request.pending, request.doing) = (1, if stable { Doing::Stable } else { Doing::Asked });
        } else {
            traffic.respond(place, ready);
        }
        self.keep_ticking(traffic, controller);
        self.destage(traffic, controller);
        true
    }

    /// Has a write gathered with others of its stripe, on a set with parity whose layer keeps stripes: it is dirty first,
    /// and leaves at once. `false`: it goes by itself.
    fn write_out_with_others(&mut self, traffic: &mut Traffic, place: u32, part: &PartRange) -> bool {
        let now = traffic.time.now();
        let has_parity = self.back.sets[part.set as usize].geometry.spec().level.parity() > 0;
        let controller = traffic.requests[place].controller;
        let &PartRange { set, from, to, .. } = part;
        let Some(cache) = self.cache(controller).filter(|cache| has_parity && cache.keeps_stripes()) else {
            return false;
        };
        if !cache.write(now, set, from, to) {
            return false;
        }
        let waits = cache.hurry(VolumeRange { set, from, to }, place);
        debug_assert!(waits, "what is dirty has to leave");
        let stable = self.must_be_stable(&traffic.requests[place]);
        let request = &mut traffic.requests[place];
        (request.pending, request.doing) = (1, if stable { Doing::Stable } else { Doing::Asked });
        self.keep_ticking(traffic, controller);
        self.destage(traffic, controller);
        true
    }

    /// Has the lines read that a write covers in part and that are not here. `false`: there are none.
    fn fill(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) -> bool {
        /// A write has a line at each end.
        const ENDS: u8 = 2;
        let HostRequest { controller, fills, .. } = traffic.requests[place];
        let Some(cache) = self.nodes[controller as usize].cache.as_ref() else { return false };
        let PartRange { set, from, to, end } = self.range_of(traffic, place);
        let missing = cache.to_fill(set, from, to).filter(|_| fills < ENDS);
        let Some((from, to)) = missing else { return false };
        traffic.requests[place].fills += 1;
        traffic.requests[place].doing = Doing::Filling;
        let part = PartRange { set, from, to: to.min(end), end };
        if self.params.file_lock {
            self.files[traffic.requests[place].lun as usize].hold(place);
        }
        self.read_members(traffic, place, &part, ready);
        true
    }

    /// Whether a write waits for another that holds its file.
    fn waits_for_file(&mut self, traffic: &Traffic, place: u32) -> bool {
        self.files[traffic.requests[place].lun as usize].waits(place)
    }

    /// A write that held its file has gone on: so do those that have waited for it, up to the next that holds it.
    fn let_file_go(&mut self, traffic: &mut Traffic, lun: u32) {
        let now = traffic.time.now();
        while let Some(next) = self.files[lun as usize].next() {
            traffic.requests.trace(next).wait(Stage::FileLock, now);
            self.write(traffic, next, now);
        }
    }

    /// The lines that a write covers in part have come: they are kept, and it goes on.
    fn filled(&mut self, traffic: &mut Traffic, place: u32) {
        let now = traffic.time.now();
        let PartRange { set, from, to, .. } = self.range_of(traffic, place);
        traffic.requests[place].doing = Doing::Asked;
        let controller = traffic.requests[place].controller;
        if let Some(cache) = self.cache(controller)
            && let Some((from, to)) = cache.to_fill(set, from, to)
        {
            cache.keep(set, from, to);
        }
        let lun = traffic.requests[place].lun;
        self.files[lun as usize].let_go(place);
        self.write(traffic, place, now);
        self.let_file_go(traffic, lun);
    }

    /// Has a write taken into the cache, once those before it are and there is room.
    fn write_back(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
        let HostRequest { controller, .. } = traffic.requests[place];
        let waits = self.cache(controller).is_some_and(|cache| !cache.writers.is_empty());
        if (waits || !self.take_write(traffic, place, ready))
            && let Some(cache) = self.cache(controller)
        {
            cache.writers.push_back(place);
        }
        self.destage(traffic, controller);
    }

    /// Has every controller destage what it wants to now.
    pub fn destage_all(&mut self, traffic: &mut Traffic) {
        for controller in 0..narrow::<u32>(self.nodes.len()) {
            self.destage(traffic, controller);
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

    /// Takes a write into the cache and acknowledges it, if there is room.
    fn take_write(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) -> bool {
        let now = traffic.time.now();
        let PartRange { set, from, to, .. } = self.range_of(traffic, place);
        let HostRequest { class, controller, len, .. } = traffic.requests[place];
        let Some(cache) = self.cache(controller) else { return false };
        debug_assert_eq!(traffic.requests[place].op, Op::Write, "only a write makes anything dirty");
        if !cache.write(now, set, from, to) {
            return false;
        }
        let mirrors = cache.mirrors();
        let ready = ready.max(now);
        traffic.requests.trace(place).wait(Stage::CacheRoom, ready);
        self.keep_ticking(traffic, controller);
        if mirrors {
            let engine = &mut self.back.engines[controller as usize];
            let (first, _) = engine.cross(now, ready, engine.crossing(u64::from(len)), class);
            traffic.requests.trace(place).wait(Stage::Bus, first);
            traffic.cross_over(place, controller, first, Leg::Mirror);
        } else {
            traffic.respond(place, ready);
        }
        true
    }

    /// Has a controller with dirty data look at their age every now and then.
    pub(super) fn keep_ticking(&mut self, traffic: &mut Traffic, controller: u32) {
        let node = &mut self.nodes[controller as usize];
        if !node.ticking && node.alive && node.cache.as_ref().is_some_and(Cache::is_dirty) {
            node.ticking = true;
            traffic.time.at(traffic.time.now() + SETTLED, Event::Age(controller));
        }
    }

    /// Starts as many destages as the cache wants now.
    pub(super) fn destage(&mut self, traffic: &mut Traffic, controller: u32) {
        let now = traffic.time.now();
        let mut extents = std::mem::take(&mut self.extents);
        while self.is_alive(controller) {
            let idle = self.back.busy() == 0;
            let Some(cache) = self.cache(controller) else { break };
            let Some(batch) = cache.destage(now, idle, &mut extents) else { break };
            let class = Class::Destage;
            let engine = &mut self.back.engines[controller as usize];
            let (ready, _) = engine.cross(now, now, engine.crossing(batch.bytes), class);
            let owner = Owner::Cache { controller, transfer: batch.transfer };
            let spec = OperationSpec { set: batch.set, owner, class, controller, ready };
            let written = match batch.is_known {
                true => self.back.write_known(&mut traffic.time, spec, &extents),
                false => self.back.write(&mut traffic.time, spec, &extents),
            };
            if written.is_err() {
                // The set has lost more than it can: there is nowhere to write to.
                self.back.done.push(Ended::at(owner, now));
            }
        }
        self.extents = extents;
        let mut drained = std::mem::take(&mut self.drained);
        if let Some(cache) = self.cache(controller) {
            cache.drained(&mut drained);
        }
        for place in drained.drain(..) {
            self.drained(traffic, place);
        }
        self.drained = drained;
        self.end_moves(traffic);
    }

    /// A transfer of a cache has ended, having gone the way of `trace` where traces are kept.
    pub fn transferred(
        &mut self,
        traffic: &mut Traffic,
        controller: u32,
        transfer: u32,
        trace: Option<&LatencyTrace>,
    ) -> Transferred {
        let now = traffic.time.now();
        let mut readers = std::mem::take(&mut self.readers);
        let Some(cache) = self.cache(controller) else { return Transferred { readers, has_room: false } };
        let ended = cache.end(transfer, &mut readers);
        if let CacheTransfer::Fetch { fetch, .. } = ended {
            let bytes = (fetch.to - fetch.from) * SECTOR_BYTES;
            self.back.engines[controller as usize].take_in(now, now, bytes, Class::Prefetch);
        }
        for &place in &readers {
            let reader = traffic.requests.trace(place);
            if let Some(trace) = trace {
                reader.follow(trace, Stage::Locate);
            }
            reader.wait(Stage::CacheRoom, now);
        }
        Transferred { readers, has_room: matches!(ended, CacheTransfer::Destage { .. }) }
    }

    /// What follows a transfer of a cache once the reads that have waited for it are on their way: writes that have
    /// waited for room, and the next destages.
    pub fn go_on(
        &mut self,
        traffic: &mut Traffic,
        controller: u32,
        Transferred { mut readers, has_room }: Transferred,
    ) {
        let now = traffic.time.now();
        readers.clear();
        self.readers = readers;
        while has_room
            && let Some(cache) = self.cache(controller)
            && let Some(place) = cache.writers.pop_front()
        {
            if !self.take_write(traffic, place, now) {
                if let Some(cache) = self.cache(controller) {
                    cache.writers.push_front(place);
                }
                break;
            }
        }
        self.destage(traffic, controller);
    }

    /// Looks after dirty data: idle members take what has settled, and what is too old leaves in any case.
    pub fn tick(&mut self, traffic: &mut Traffic, controller: u32) {
        let now = traffic.time.now();
        debug_assert!(self.nodes[controller as usize].ticking, "a cache must have one tick in the queue");
        if let Some(cache) = self.cache(controller) {
            let age = cache.age_limit().get().max(1);
            if now.nanos() / age != (now.nanos() - SETTLED.get()) / age {
                cache.press();
            }
            cache.expire(now);
        }
        self.destage(traffic, controller);
        self.nodes[controller as usize].ticking = false;
        self.keep_ticking(traffic, controller);
    }

    /// The back end has done its part of a request, having gone the way of `trace` where traces are kept. Whether that
    /// was all: [`Array::deliver`] is next.
    pub fn fetched(&mut self, traffic: &mut Traffic, place: u32, trace: Option<&LatencyTrace>) -> bool {
        if let Some(trace) = trace {
            traffic.requests.trace(place).follow(trace, Stage::Locate);
        }
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

    /// Brings the data of a read, which the controller has, or the word that a write has ended, to the host. Whether
    /// they are there at once.
    pub fn deliver(&mut self, traffic: &mut Traffic, place: u32) -> bool {
        debug_assert!(traffic.requests[place].outstanding, "only what was sent is answered");
        let now = traffic.time.now();
        let (first, last) = match traffic.requests[place].op {
            Op::Read => self.cross(traffic, place, now),
            _ => (now, now),
        };
        traffic.send_back(place, first, last, true)
    }

    /// A write waits no longer for a unit that background work held.
    #[cold]
    pub fn write_freed(&mut self, traffic: &mut Traffic, Freed { owner, is_lost }: Freed) {
        let now = traffic.time.now();
        if let Owner::Request(place) = owner {
            traffic.requests.trace(place).wait(Stage::StripeLocks, now);
        }
        match owner {
            Owner::Request(place) if is_lost => traffic.fail(place, now),
            owner if is_lost => self.back.done.push(Ended::at(owner, now)),
            _ => {}
        }
    }

    /// Bytes that controllers have acknowledged and not yet written to members.
    pub fn dirty(&self) -> Bytes {
        let caches = self.nodes.iter().filter_map(|node| node.cache.as_ref());
        Bytes::new(caches.map(Cache::dirty_bytes).sum())
    }

    /// Whether a working controller holds anything that the members do not.
    pub fn is_writing_out(&self) -> bool {
        let working = self.nodes.iter().filter(|node| node.alive);
        working.filter_map(|node| node.cache.as_ref()).any(|cache| cache.dirty_bytes() > 0)
    }

    /// Has all that is dirty at working controllers leave for the members.
    pub fn write_out(&mut self, traffic: &mut Traffic) {
        let ranges: Vec<VolumeRange> = self.volumes.each().map(|volume| volume.range).collect();
        for range in ranges {
            self.working_caches().for_each(|cache| cache.urge(range));
        }
        self.destage_all(traffic);
    }

    /// Has the cache of the controller that serves a volume, and what its members have of memory, keep sectors
    /// `from..to` of it.
    pub fn hold(&mut self, lun: u32, from: u64, to: u64) {
        let Volume { range, owner, .. } = self.volumes[lun];
        let (from, to) = (range.from + from, (range.from + to).min(range.to));
        self.back.hold(range.set, from, to);
        if let Some(cache) = self.cache(owner).filter(|_| from < to) {
            cache.keep(range.set, from, to);
        }
    }

    /// Has the cache of the controller that serves a volume take a write of its sectors `from..to` at `now`; whether it
    /// does.
    pub fn fill_with(&mut self, now: Instant, lun: u32, from: u64, to: u64) -> bool {
        let Volume { range, owner, .. } = self.volumes[lun];
        let (from, to) = (range.from + from, (range.from + to).min(range.to));
        let has_partner = self.nodes.len() > 1;
        let Some(cache) = self.cache(owner).filter(|cache| from < to && cache.takes_writes(has_partner))
        else {
            return false;
        };
        cache.write(now, range.set, from, to)
    }

    /// Empties what caches keep for reads.
    pub fn forget_reads(&mut self) {
        self.nodes.iter_mut().filter_map(|node| node.cache.as_mut()).for_each(Cache::forget_reads);
    }
}
