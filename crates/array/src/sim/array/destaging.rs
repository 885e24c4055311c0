//! What leaves the caches: destages, what follows a transfer, and what is written out or forgotten at one stroke.

use units::convert::narrow;
use units::{Bytes, Instant, Nanos, SECTOR_BYTES};

use crate::latency::{LatencyTrace, Stage};
use crate::meter::Class;
use crate::sim::back::{Ended, OperationSpec, Owner};
use crate::sim::cache::{Cache, CacheTransfer, SETTLED, VolumeRange};
use crate::sim::event::Event;
use crate::sim::traffic::Traffic;
use crate::sim::volume::Volume;

use super::{Array, Transferred};

impl Array {
    /// Has every controller destage what it wants to now.
    pub fn destage_all(&mut self, traffic: &mut Traffic) {
        for controller in 0..narrow::<u32>(self.nodes.len()) {
            self.destage(traffic, controller);
        }
    }

    /// Has a controller with dirty data look at their age every now and then.
    pub(in crate::sim) fn keep_ticking(&mut self, traffic: &mut Traffic, controller: u32) {
        let node = &mut self.nodes[controller as usize];
        if !node.ticking && node.alive && node.cache.as_ref().is_some_and(Cache::is_dirty) {
            node.ticking = true;
            traffic.time.at(traffic.time.now() + SETTLED, Event::Age(controller));
        }
    }

    /// Starts as many destages as the cache wants now.
    pub(in crate::sim) fn destage(&mut self, traffic: &mut Traffic, controller: u32) {
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
            let spec = OperationSpec {
                set: batch.set,
                owner,
                class,
                controller,
                ready,
                flow: Nanos::ZERO,
                mark: None,
            };
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

    /// Bytes that controllers have acknowledged and not yet written to members.
    pub fn dirty(&self) -> Bytes {
        let caches = self.nodes.iter().filter_map(|node| node.cache.as_ref());
        Bytes::new(caches.map(Cache::dirty_bytes).sum())
    }

    /// Room for writes in the caches of those controllers that hold some.
    pub fn write_room_in_use(&self) -> Bytes {
        let caches = self.nodes.iter().filter_map(|node| node.cache.as_ref());
        Bytes::new(caches.filter(|cache| cache.dirty_bytes() > 0).map(Cache::write_room).sum())
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
