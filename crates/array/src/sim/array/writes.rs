//! Writes: through to the members, into a cache, or gathered with others of their stripe.

use units::Instant;
use workload::Op;

use crate::latency::Stage;
use crate::protocol::ProtocolKind;
use crate::sim::cache::VolumeRange;
use crate::sim::request::{Doing, HostRequest, Leg};
use crate::sim::traffic::Traffic;

use super::{Array, PartRange};

impl Array {
    pub(super) fn write(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) {
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
            let through =
                self.protocol.sync_writes || durable && !cache.is_protected() || cache.is_bypassed_by(len);
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
    pub(super) fn let_file_go(&mut self, traffic: &mut Traffic, lun: u32) {
        let now = traffic.time.now();
        while let Some(next) = self.files[lun as usize].next() {
            traffic.requests.trace(next).wait(Stage::FileLock, now);
            self.write(traffic, next, now);
        }
    }

    /// The lines that a write covers in part have come: they are kept, and the write continues.
    pub(super) fn filled(&mut self, traffic: &mut Traffic, place: u32) {
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

    /// Takes a write into the cache and acknowledges it, if there is room.
    pub(super) fn take_write(&mut self, traffic: &mut Traffic, place: u32, ready: Instant) -> bool {
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
}
