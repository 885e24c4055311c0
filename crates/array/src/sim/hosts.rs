//! The hosts: a request is prepared, split into parts, and each part sent over a path.
//!
//! **Invariant:** a part that counts as outstanding leaves its session and its LUN's queue once, when it comes back.

use units::convert::narrow;
use units::{Bytes, Instant, SECTOR_BYTES};
use workload::Op;

use crate::host::{HostParams, StripeParams};
use crate::latency::Stage;
use crate::protocol::ProtocolParams;
use crate::readahead::Fetch;

use super::array::Array;
use super::event::Event;
use super::host::Host;
use super::paths::Paths;
use super::request::{HostRequest, Leg, Purpose};
use super::traffic::Traffic;
use super::{NO_SUCH, Topology};

/// How a host takes a request.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Through its page cache, if it has one.
    pub buffered: bool,
    /// A flush that lets what the page cache holds set out, and waits for nothing: no storage hears of it.
    pub only_sets_out: bool,
}

/// All hosts, and how they reach the array.
pub struct Hosts {
    pub(super) each: Vec<Host>,
    /// The requests that no path is left for, and how the others are chosen.
    pub paths: Paths,
    /// Sizes of what jobs can use.
    pub(super) sizes: Vec<Bytes>,
    luns: u32,
    params: HostParams,
    protocol: ProtocolParams,
    pub(super) fetches: Vec<Fetch>,
}

impl Hosts {
    /// Those of `topology`, at rest.
    pub fn new(topology: &Topology) -> Hosts {
        let mirrors = topology.sets.iter().any(|set| set.geometry.spec().level.is_mirrored());
        let (luns, sessions) = (topology.luns.len(), topology.sessions() as usize);
        let host = |_| Host::new(&topology.host, luns, sessions, mirrors);
        Hosts {
            each: (0..topology.hosts.max(1)).map(host).collect(),
            paths: Paths::new(topology),
            sizes: topology.lun_sizes(),
            luns: narrow::<u32>(topology.luns.len()),
            params: topology.host.clone(),
            protocol: topology.protocol.clone(),
            fetches: Vec::new(),
        }
    }

    /// Sizes of what jobs can use.
    pub fn sizes(&self) -> &[Bytes] {
        &self.sizes
    }

    pub(super) fn host_of(&mut self, traffic: &Traffic, place: u32) -> &mut Host {
        &mut self.each[traffic.requests[place].host as usize]
    }

    /// Takes the requests that a job issues.
    pub fn issue(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, manner: Manner) {
        let HostRequest { op, host, lun, offset, len, purpose, .. } = traffic.requests[place];
        debug_assert_eq!(purpose, Purpose::Job, "only jobs ask from outside");
        let now = traffic.time.now();
        let size = self.sizes.get(lun as usize).map_or(0, |size| size.get());
        if offset.saturating_add(u64::from(len)) > size {
            traffic.requests[place].failed = Some(NO_SUCH);
            traffic.time.soon(Event::Answer(place));
            return;
        }
        let host = &mut self.each[host as usize];
        host.traffic.requests += 1;
        if manner.buffered && host.pages.is_some() {
            host.traffic.through_pages[usize::from(op != Op::Read)] += Bytes::new(u64::from(len));
            let ready = host.look_up(now, &mut traffic.requests, place);
            if !self.reads_pointers(traffic, array, place, ready, true) {
                self.buffered(traffic, array, place, ready, manner.only_sets_out);
            }
        } else if manner.only_sets_out {
            self.copy_out(traffic, place, now);
        } else {
            let ready = host.prepare(now, &mut traffic.requests, place);
            if !self.reads_pointers(traffic, array, place, ready, false) {
                self.split(traffic, array, place, ready);
            }
        }
    }

    /// Sends a request in parts no longer than link and protocol carry.
    pub(super) fn split(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let HostRequest { op, lun, offset, len, .. } = traffic.requests[place];
        let carried = if op == Op::Write { self.protocol.write_size } else { self.protocol.read_size };
        let limit = narrow::<u32>(
            carried.get().min(self.params.max_transfer.get()).clamp(SECTOR_BYTES, u64::from(u32::MAX)),
        );
        if let (Op::Flush, Some(stripe), 0) = (op, self.params.stripe, lun) {
            return self.flush_all(traffic, array, place, ready, stripe);
        }
        let (lun, offset, run) = self.on_lun(lun, offset);
        if u64::from(len) <= u64::from(limit).min(run) {
            let request = &mut traffic.requests[place];
            (request.lun, request.offset) = (lun, offset);
            return self.send(traffic, array, place, ready);
        }
        let whole = traffic.requests[place];
        // One more than the parts until all have been sent: a part may not be the last before its successor is.
        traffic.requests[place].pending = 1;
        let mut at = 0;
        while at < whole.len {
            let (lun, offset, run) = self.on_lun(whole.lun, whole.offset + u64::from(at));
            let len = narrow::<u32>(u64::from(limit.min(whole.len - at)).min(run));
            debug_assert!(len > 0, "each part must carry something");
            let last = at + len == whole.len;
            let part = HostRequest { parent: place, lun, offset, len, pending: 0, last, ..whole };
            let part = traffic.requests.begin_part(place, part);
            traffic.requests[place].pending += 1;
            at += len;
            self.send(traffic, array, part, ready);
        }
        traffic.requests[place].pending -= 1;
    }

    /// Sends a flush of a striped volume to each of its LUNs.
    fn flush_all(
        &mut self,
        traffic: &mut Traffic,
        array: &mut Array,
        place: u32,
        ready: Instant,
        stripe: StripeParams,
    ) {
        let whole = traffic.requests[place];
        let luns = stripe.luns.clamp(1, self.luns);
        traffic.requests[place].pending = luns;
        debug_assert!(luns <= self.luns, "a stripe must lie on LUNs that there are");
        for lun in 0..luns {
            let last = lun + 1 == luns;
            let part = HostRequest { parent: place, lun, offset: 0, pending: 0, last, ..whole };
            let part = traffic.requests.begin_part(place, part);
            self.send(traffic, array, part, ready);
        }
    }

    /// Where `offset` of what a job uses lies: LUN, offset there, and how many bytes follow on the same LUN.
    fn on_lun(&self, used: u32, offset: u64) -> (u32, u64, u64) {
        match self.params.stripe {
            None => (used, offset, u64::MAX),
            Some(StripeParams { luns, .. }) if used > 0 => (used + luns - 1, offset, u64::MAX),
            Some(StripeParams { chunk, luns }) => {
                let (chunk, luns) = (chunk.get().max(SECTOR_BYTES), u64::from(luns.max(1)));
                let (number, within) = (offset / chunk, offset % chunk);
                (narrow::<u32>(number % luns), number / luns * chunk + within, chunk - within)
            }
        }
    }

    /// Sends a part, or has it wait for the LUN's depth.
    fn send(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let request = &mut traffic.requests[place];
        debug_assert_eq!(request.pending, 0, "only what has no parts is sent");
        (request.sent, request.outstanding) = (ready, true);
        let HostRequest { host, lun, purpose, .. } = *request;
        let now = traffic.time.now();
        self.each[host as usize].traffic.parts += u64::from(purpose == Purpose::Job);
        if self.each[host as usize].admit(now, lun as usize, place, purpose) {
            self.enter_session(traffic, array, place, ready);
        }
    }

    /// Sends a part, or has it wait for room in its session.
    fn enter_session(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let now = traffic.time.now();
        // What is later than now is still on its way through the host.
        traffic.requests.trace(place).wait(Stage::LunQueue, now);
        if traffic.is_direct() {
            return match ready > now {
                true => traffic.there_at(place, Leg::Out, ready),
                false => array.arrive(traffic, place),
            };
        }
        let HostRequest { host, lun, .. } = traffic.requests[place];
        let host = &mut self.each[host as usize];
        let session = self.paths.choose_session(host, array.owner(lun), lun);
        traffic.requests[place].session = session;
        if host.sessions[session as usize].enter(self.protocol.outstanding, place) {
            self.transmit(traffic, array, place, ready);
        }
    }

    /// Sends a part over the path that it takes.
    fn transmit(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, ready: Instant) {
        let now = traffic.time.now();
        let (link, delay) = match self.paths.choose(&traffic.network, array, now, &traffic.requests[place]) {
            Ok(chosen) => chosen,
            Err(noticed) => return self.paths.queue(traffic, place, noticed),
        };
        traffic.requests.trace(place).wait(Stage::Session, now);
        let work = self.protocol.client;
        let host = self.host_of(traffic, place);
        let ready = host.operation(now, ready.max(now), work, &mut traffic.requests, place) + delay;
        traffic.requests.trace(place).wait(Stage::PathLoss, ready);
        if traffic.send_out(place, link, ready) {
            traffic.leg_done(place);
            array.arrive(traffic, place);
        }
    }

    /// Sends a part again whose path, or controller, was lost under it.
    pub fn retry(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32) {
        let now = traffic.time.now();
        traffic.requests.trace(place).wait(Stage::PathLoss, now);
        self.transmit(traffic, array, place, now);
    }

    /// Sends what had no path left, in order of arrival, now that there may be one.
    pub fn resume(&mut self, traffic: &mut Traffic, array: &mut Array) {
        for place in self.paths.take_queued() {
            self.retry(traffic, array, place);
        }
    }

    /// The answer of an outstanding part is here: those that have waited for its session and for its LUN go on.
    pub fn come_back(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32) {
        debug_assert!(traffic.requests[place].outstanding, "only what was sent can come back");
        let HostRequest { host, lun, session, .. } = traffic.requests[place];
        let host = &mut self.each[host as usize];
        if !traffic.is_direct()
            && let Some(next) = host.sessions[session as usize].leave()
        {
            let ready = traffic.requests[next].sent;
            self.transmit(traffic, array, next, ready);
        }
        let now = traffic.time.now();
        if let Some(next) = self.host_of(traffic, place).release(now, lun as usize) {
            let ready = traffic.requests[next].sent;
            self.enter_session(traffic, array, next, ready);
        }
    }

    /// A request that the host made for its own `purpose` has ended: whoever has waited for it goes on.
    pub fn fetched(&mut self, traffic: &mut Traffic, array: &mut Array, place: u32, purpose: Purpose) {
        let HostRequest { host, failed, .. } = traffic.requests[place];
        let now = traffic.time.now();
        match purpose {
            Purpose::Job => {}
            Purpose::Pages(lun, fetch) => {
                self.pages_came(traffic, host, lun, fetch, failed, Some(place));
            }
            Purpose::Step(whole) => {
                traffic.requests.follow(whole, place, Stage::PageCache);
                let request = &mut traffic.requests[whole];
                request.failed = request.failed.or(failed);
                self.copy_out(traffic, whole, now);
            }
            Purpose::Pointers { whole, buffered } => {
                self.pointers_came(traffic, array, place, (whole, buffered));
            }
            Purpose::Writeback(age) => self.pages_left(traffic, array, place, age),
        }
    }
}
