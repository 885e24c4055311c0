//! A part of a request at its controller: processors, ownership, cache, back end, and the destaging behind it.
//!
//! **Invariant:** what a controller has acknowledged and not yet written is in its cache as dirty.

use units::convert::narrow;
use units::{Bytes, Instant, Lba, Nanos, SECTOR_BYTES, Sectors};
use workload::Op;

use crate::controller::Ownership;
use crate::latency::{LatencyTrace, Stage};
use crate::link::Link;
use crate::meter::Class;
use crate::protocol::ProtocolKind;
use crate::raid::Extent;
use crate::readahead::{Fetch, Lookup};

use super::back::{Ended, OperationSpec, Owner};
use super::cache::{Cache, CacheTransfer, SETTLED, VolumeRange};
use super::event::Event;
use super::request::{HostRequest, Leg};
use super::{LOST, Sim};

impl Sim {
    /// A part is at a controller, with its data if it writes.
    pub(super) fn arrive(&mut self, place: u32) {
        let now = self.now;
        if !self.requests[place].arrived {
            if self.is_cut(place) {
                self.send_again(place);
                return;
            }
            self.requests[place].arrived = true;
        }
        let HostRequest { lun, controller, accepted, .. } = self.requests[place];
        // What it waits for outside, its controller having no place for it.
        self.traces[place as usize].wait(Stage::ControllerQueue, now);
        if !self.nodes[controller as usize].alive {
            self.lose(place);
            return;
        }
        if self.paused[lun as usize] > now {
            self.wait_for_volume(place);
            return;
        }
        if let (false, Some(limit)) = (accepted, self.topology.controller.accepts) {
            if !self.nodes[controller as usize].gate.enter(limit, place) {
                return;
            }
            self.requests[place].accepted = true;
        }
        let owner = self.owners[lun as usize];
        if owner != controller {
            match self.topology.controller.ownership {
                Ownership::Symmetric => {}
                Ownership::Transfer { .. } => {
                    self.move_lun(lun as usize, controller);
                    self.wait_for_volume(place);
                    return;
                }
                Ownership::Forward => return self.forward(place, controller, owner),
            }
        }
        self.serve(place, now);
    }

    /// Has the controller that serves a part carry it out, from `ready` on.
    pub(super) fn serve(&mut self, place: u32, ready: Instant) {
        let now = self.now;
        let HostRequest { controller, class, op, len, .. } = self.requests[place];
        let (engine, trace) = (&mut self.back.engines[controller as usize], &mut self.traces[place as usize]);
        let ready = engine.host_command(now, ready, op == Op::Write, u64::from(len), class, trace);
        let protocol = &self.topology.protocol;
        let (server, copy) = match op {
            Op::Write => (protocol.server_write, protocol.server_write_copy),
            _ => (protocol.server_read, protocol.server_read_copy),
        };
        let copy = copy.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes::new(u64::from(len))));
        let ready = engine.process(now, ready, server + copy, class, trace);
        match op {
            Op::Read => self.read(place, ready),
            Op::Write => self.write(place, ready),
            Op::Trim => self.trim(place, ready),
            Op::Flush => self.flush(place, ready),
        }
    }

    /// Passes a part on to the volume's owner.
    pub(super) fn forward(&mut self, place: u32, here: u32, owner: u32) {
        let now = self.now;
        let HostRequest { class, op, .. } = self.requests[place];
        self.requests[place].controller = owner;
        let (engine, trace) = (&mut self.back.engines[here as usize], &mut self.traces[place as usize]);
        let ready = engine.host_command(now, now, op == Op::Write, 0, class, trace);
        // The data cross the same link, whichever way they go.
        self.cross_over(place, here, ready, Leg::Across);
    }

    /// Sends a part's data from controller `here` to its partner, and the word that they are there back.
    fn cross_over(&mut self, place: u32, here: u32, ready: Instant, leg: Leg) {
        self.start_leg(place, leg);
        self.not_before(place, ready);
        if let Some(Link { params, out, .. }) = self.nodes[here as usize].partner {
            let len = u64::from(self.requests[place].len);
            self.traces[place as usize].serve(Stage::Mirror, ready + params.latency * 2);
            self.put_on_wire(place, out, ready + params.latency * 2, params.transfer(len));
        }
        self.depart(place, false);
    }

    /// The sectors of a part on its set: from, to, and where its volume ends.
    pub(super) fn sectors(&self, place: u32) -> (u32, u64, u64, u64) {
        let HostRequest { lun, offset, len, .. } = self.requests[place];
        let lun = self.topology.luns[lun as usize];
        let to = (offset + u64::from(len)).div_ceil(SECTOR_BYTES);
        (lun.set, lun.start.0 + offset / SECTOR_BYTES, lun.start.0 + to, lun.start.0 + lun.size.0)
    }

    pub(super) fn read(&mut self, place: u32, ready: Instant) {
        let (set, from, to, end) = self.sectors(place);
        let HostRequest { class, controller, .. } = self.requests[place];
        let Some(cache) = self.nodes[controller as usize].cache.as_mut() else {
            return self.read_members(place, set, from, to, ready);
        };
        let mut fetches = std::mem::take(&mut self.fetches);
        fetches.clear();
        let verdict = cache.read(set, from, to, end, &mut fetches);
        if let Some(Lookup::Coming(stream)) = verdict {
            cache.wait(stream, to, place);
        }
        for fetch in &fetches {
            let class = if fetch.from < to { class } else { Class::Prefetch };
            self.fetch(controller, set, *fetch, class, ready);
        }
        self.fetches = fetches;
        match verdict {
            Some(Lookup::Ready) => {
                let (first, last) = self.cross(place, ready);
                self.send_back(place, first, last, false);
            }
            Some(Lookup::Coming(_)) => {}
            Some(Lookup::Stranger) | None => self.read_members(place, set, from, to, ready),
        }
    }

    /// Has the members of a set read what a part asks for.
    fn read_members(&mut self, place: u32, set: u32, from: u64, to: u64, ready: Instant) {
        let HostRequest { class, controller, .. } = self.requests[place];
        let spec = OperationSpec { set, owner: Owner::Request(place), class, controller, ready };
        if self.back.read(self.now, &mut self.events, spec, Lba(from), Sectors(to - from)).is_err() {
            self.requests[place].failed = Some(LOST);
            self.respond(place, ready);
        }
    }

    /// Starts a fetch into a cache.
    pub(super) fn fetch(&mut self, controller: u32, set: u32, fetch: Fetch, class: Class, ready: Instant) {
        let Some(cache) = self.nodes[controller as usize].cache.as_mut() else { return };
        let transfer = cache.begin(CacheTransfer::Fetch { set, fetch });
        let owner = Owner::Cache { controller, transfer };
        let spec = OperationSpec { set, owner, class, controller, ready };
        let sectors = Sectors(fetch.to - fetch.from);
        if self.back.read(self.now, &mut self.events, spec, Lba(fetch.from), sectors).is_err() {
            self.back.done.push(Ended::at(owner, self.now));
        }
    }

    pub(super) fn write(&mut self, place: u32, ready: Instant) {
        let now = self.now;
        let HostRequest { class, controller, len, .. } = self.requests[place];
        let partner = self.partner_of(controller).is_some();
        let engine = &mut self.back.engines[controller as usize];
        let ready = engine.take_in(now, ready, u64::from(len), class);
        self.traces[place as usize].pass(Stage::Bus, ready, engine.crossing(u64::from(len)));
        let cache = self.nodes[controller as usize].cache.as_ref();
        // A cache that keeps what it holds is the stable storage that FUA asks for
        // (Linux, Documentation/block/writeback_cache_control.rst).
        let durable = self.requests[place].durable && cache.is_some_and(|cache| !cache.is_protected());
        let through = self.topology.protocol.sync_writes || durable;
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
        self.requests[place].stable = self.must_be_stable(place);
        let spec = OperationSpec { set, owner: Owner::Request(place), class, controller, ready };
        let extent = Extent { lba: Lba(from), sectors: Sectors(to - from) };
        if self.back.write(now, &mut self.events, spec, &[extent]).is_err() {
            self.requests[place].failed = Some(LOST);
            self.respond(place, ready);
        }
    }

    /// Whether a write that goes through is on stable storage only after a flush of the members.
    ///
    /// A cache that loses what it holds is written through so that nothing is lost, which the members' caches would. A
    /// host that asks for stable storage gets it without any cache, too: Linux follows such a write with a flush where
    /// a drive's FUA is not used, and libata does not use it unless told so (`libata.fua`). An SMB client writes in
    /// parts and asks for the whole to be stable.
    fn must_be_stable(&self, place: u32) -> bool {
        let HostRequest { controller, last, durable, .. } = self.requests[place];
        let volatile =
            self.nodes[controller as usize].cache.as_ref().is_some_and(|cache| !cache.is_protected());
        let whole = last || !matches!(self.topology.protocol.kind, ProtocolKind::Smb1 | ProtocolKind::Smb2);
        (volatile || durable) && whole && self.topology.controller.flush_members
    }

    /// The sectors that a volume lies on.
    pub(super) fn volume_range(&self, lun: usize) -> VolumeRange {
        let lun = self.topology.luns[lun];
        VolumeRange { set: lun.set, from: lun.start.0, to: lun.start.0 + lun.size.0 }
    }

    /// Has all that was acknowledged of a volume reach stable storage, then answers.
    ///
    /// Whichever controller holds it, and nothing of other volumes: SYNCHRONIZE CACHE is addressed to a logical unit
    /// (SBC-4), NVMe's Flush to a namespace.
    pub(super) fn flush(&mut self, place: u32, ready: Instant) {
        let volume = self.volume_range(self.requests[place].lun as usize);
        let volatile = |cache: &&mut Cache| !cache.is_protected();
        let working = self.nodes.iter_mut().filter(|node| node.alive);
        let waits = working
            .filter_map(|node| node.cache.as_mut().filter(volatile))
            .map(|cache| u32::from(cache.drain(volume, place)))
            .sum();
        self.requests[place].pending = waits;
        if waits == 0 {
            return self.flush_members(place, ready);
        }
        for controller in 0..narrow::<u32>(self.nodes.len()) {
            self.destage(controller);
        }
    }

    /// A cache has been emptied for a flush: the members are next once all have.
    pub(super) fn drained(&mut self, place: u32) {
        self.traces[place as usize].wait(Stage::CacheRoom, self.now);
        self.requests[place].pending -= 1;
        if self.requests[place].pending == 0 {
            self.flush_members(place, self.now);
        }
    }

    /// Passes a flush on to the members, where the array does that, and answers.
    ///
    /// A volume has its share of every member of its set, and a drive empties all of its buffer: ATA's FLUSH CACHE
    /// knows no addresses.
    fn flush_members(&mut self, place: u32, ready: Instant) {
        if !self.topology.controller.flush_members {
            self.respond(place, ready);
            return;
        }
        let (set, ..) = self.sectors(place);
        let HostRequest { class, controller, .. } = self.requests[place];
        let spec = OperationSpec { set, owner: Owner::Request(place), class, controller, ready };
        if !self.back.flush(self.now, &mut self.events, spec) {
            self.respond(place, ready);
        }
    }

    /// Tells the members that a part's data are needed no more, and answers.
    fn trim(&mut self, place: u32, ready: Instant) {
        let (set, from, to, _) = self.sectors(place);
        let HostRequest { class, controller, .. } = self.requests[place];
        let spec = OperationSpec { set, owner: Owner::Request(place), class, controller, ready };
        let extent = Extent { lba: Lba(from), sectors: Sectors(to - from) };
        if !self.back.trim(self.now, &mut self.events, spec, extent) {
            self.respond(place, ready);
        }
    }

    /// The working partner of a controller.
    pub(super) fn partner_of(&self, controller: u32) -> Option<u32> {
        (0..narrow::<u32>(self.nodes.len()))
            .find(|&other| other != controller && self.nodes[other as usize].alive)
    }

    /// Takes a write into the cache and acknowledges it, if there is room.
    pub(super) fn take_write(&mut self, place: u32, ready: Instant) -> bool {
        let now = self.now;
        let (set, from, to, _) = self.sectors(place);
        let HostRequest { class, controller, len, .. } = self.requests[place];
        let node = &mut self.nodes[controller as usize];
        let Some(cache) = &mut node.cache else { return false };
        if !cache.write(now, set, from, to) {
            return false;
        }
        let mirrors = cache.mirrors();
        let ready = ready.max(now);
        self.traces[place as usize].wait(Stage::CacheRoom, ready);
        self.keep_ticking(controller);
        if mirrors {
            let engine = &mut self.back.engines[controller as usize];
            let (first, _) = engine.cross(now, ready, engine.crossing(u64::from(len)), class);
            self.traces[place as usize].wait(Stage::Bus, first);
            self.cross_over(place, controller, first, Leg::Mirror);
        } else {
            self.respond(place, ready);
        }
        true
    }

    /// Has a controller with dirty data look at their age every now and then.
    pub(super) fn keep_ticking(&mut self, controller: u32) {
        let node = &mut self.nodes[controller as usize];
        if !node.ticking && node.alive && node.cache.as_ref().is_some_and(Cache::is_dirty) {
            node.ticking = true;
            self.events.push(self.now + SETTLED, Event::Age(controller).pack());
        }
    }

    /// Starts as many destages as the cache wants now.
    pub(super) fn destage(&mut self, controller: u32) {
        let now = self.now;
        let mut extents = std::mem::take(&mut self.extents);
        while self.nodes[controller as usize].alive {
            let idle = self.back.busy() == 0;
            let Some(cache) = &mut self.nodes[controller as usize].cache else { break };
            let Some(batch) = cache.destage(now, idle, &mut extents) else { break };
            let class = Class::Destage;
            let engine = &mut self.back.engines[controller as usize];
            let (ready, _) = engine.cross(now, now, engine.crossing(batch.bytes), class);
            let owner = Owner::Cache { controller, transfer: batch.transfer };
            let spec = OperationSpec { set: batch.set, owner, class, controller, ready };
            if self.back.write(now, &mut self.events, spec, &extents).is_err() {
                // The set has lost more than it can: there is nowhere to write to.
                self.back.done.push(Ended::at(owner, now));
            }
        }
        self.extents = extents;
        let mut drained = std::mem::take(&mut self.drained);
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            cache.drained(&mut drained);
        }
        for place in drained.drain(..) {
            self.drained(place);
        }
        self.drained = drained;
        self.end_moves();
    }

    /// A transfer of a cache has ended, having gone the way of `trace` where traces are kept.
    pub(super) fn transferred(&mut self, controller: u32, transfer: u32, trace: Option<&LatencyTrace>) {
        let now = self.now;
        let mut released = std::mem::take(&mut self.released);
        released.clear();
        let Some(cache) = &mut self.nodes[controller as usize].cache else { return };
        let ended = cache.end(transfer, &mut released);
        let destaged = matches!(ended, CacheTransfer::Destage { .. });
        if let CacheTransfer::Fetch { fetch, .. } = ended {
            let bytes = (fetch.to - fetch.from) * SECTOR_BYTES;
            self.back.engines[controller as usize].take_in(now, now, bytes, Class::Prefetch);
        }
        for &place in &released {
            let reader = &mut self.traces[place as usize];
            if let Some(trace) = trace {
                reader.follow(trace, Stage::Locate);
            }
            reader.wait(Stage::CacheRoom, now);
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
    pub(super) fn tick(&mut self, controller: u32) {
        let now = self.now;
        if let Some(cache) = &mut self.nodes[controller as usize].cache {
            let age = cache.age_limit().get().max(1);
            if now.nanos() / age != (now.nanos() - SETTLED.get()) / age {
                cache.press();
            }
        }
        self.destage(controller);
        self.nodes[controller as usize].ticking = false;
        self.keep_ticking(controller);
    }

    /// The back end has done its part of a request.
    pub(super) fn fetched(&mut self, place: u32) {
        let now = self.now;
        let HostRequest { op, class, len, controller, stable, .. } = self.requests[place];
        if stable {
            self.requests[place].stable = false;
            self.flush_members(place, now);
            return;
        }
        let (set, from, to, _) = self.sectors(place);
        if let (Op::Read, Some(cache)) = (op, &mut self.nodes[controller as usize].cache) {
            cache.keep(set, from, to);
            self.back.engines[controller as usize].take_in(now, now, u64::from(len), class);
        }
        self.deliver(place);
    }

    /// The data of a part cross the bus on their way out; when the first and the last have.
    fn cross(&mut self, place: u32, ready: Instant) -> (Instant, Instant) {
        let HostRequest { class, len, controller, .. } = self.requests[place];
        let engine = &mut self.back.engines[controller as usize];
        let work = engine.crossing(u64::from(len));
        let (first, last) = engine.cross(self.now, ready, work, class);
        self.traces[place as usize].pass(Stage::Bus, last, work);
        (first, last)
    }

    /// Brings the data of a read, which the controller has, or the word that a write has ended, to the host.
    pub(super) fn deliver(&mut self, place: u32) {
        let now = self.now;
        let (first, last) = match self.requests[place].op {
            Op::Read => self.cross(place, now),
            _ => (now, now),
        };
        self.send_back(place, first, last, true);
    }
}
