//! A request at its host: split into parts, sent over a path, joined again when the answers come back.
//!
//! **Invariant:** a request has as many parts on the way as it counts, and is settled when the last has answered.

use units::convert::narrow;
use units::{Instant, Nanos, SECTOR_BYTES};
use workload::spec::FlushKind;
use workload::{Completion, Op, Outcome as End, Request};

use crate::host::StripeParams;
use crate::latency::{LatencyTrace, Stage};
use crate::link::Link;
use crate::meter::Class;

use super::event::Event;
use super::request::{HostRequest, Leg, NONE, Purpose};
use super::{FilePlace, NO_SUCH, Running, Sim, adapter};

impl Sim {
    /// Takes a job's request into the host.
    pub(super) fn issue(&mut self, client: u32, asked: &Request) {
        let Running { files, host, .. } = &self.running[client as usize];
        let nowhere = FilePlace::whole(u32::MAX);
        let (FilePlace { lun, start }, host) =
            (files.get(usize::from(asked.file)).copied().unwrap_or(nowhere), *host);
        let offset = start.get().saturating_add(asked.offset.get());
        let class = if asked.op == Op::Read { Class::HostRead } else { Class::HostWrite };
        let durable = self.running[client as usize].durable && asked.op == Op::Write;
        let place = self.place(self.now);
        self.requests[place] = HostRequest {
            client,
            token: asked.token,
            op: asked.op,
            class,
            lun,
            offset,
            len: asked.len,
            durable,
            ..HostRequest::default()
        };
        let size = self.sizes.get(lun as usize).map_or(0, |size| size.get());
        if offset.saturating_add(u64::from(asked.len)) > size {
            self.requests[place].failed = Some(NO_SUCH);
            self.events.push(self.now, Event::Answer(place).pack());
            return;
        }
        let only_sets_out = asked.op == Op::Flush && self.only_sets_out(place);
        let (computer, trace) = (&mut self.hosts[host as usize], &mut self.traces[place as usize]);
        if self.running[client as usize].buffered && computer.pages.is_some() {
            let ready = computer.look_up(self.now, lun as usize, class, trace);
            self.buffered(place, host, ready);
        } else if only_sets_out {
            self.copy_out(place, host, self.now);
        } else {
            let ready = computer.prepare(self.now, lun as usize, class, trace);
            self.split(place, host, ready);
        }
    }

    /// Whether the flush of that place is a call that lets what the page cache holds set out, and waits for nothing: no
    /// storage hears of it.
    pub(super) fn only_sets_out(&self, place: u32) -> bool {
        let client = self.requests[place].client as usize;
        self.running[client].job.flush() == FlushKind::SyncFileRange
    }

    /// Sends a request in parts no longer than link and protocol carry.
    pub(super) fn split(&mut self, place: u32, host: u32, ready: Instant) {
        let HostRequest { op, lun, offset, len, .. } = self.requests[place];
        let protocol = &self.topology.protocol;
        let carried = if op == Op::Write { protocol.write_size } else { protocol.read_size };
        let limit = narrow::<u32>(
            carried.get().min(self.topology.host.max_transfer.get()).clamp(SECTOR_BYTES, u64::from(u32::MAX)),
        );
        if let (Op::Flush, Some(stripe), 0) = (op, self.topology.host.stripe, lun) {
            return self.flush_all(place, host, ready, stripe);
        }
        let (lun, offset, run) = self.on_lun(lun, offset);
        if u64::from(len) <= u64::from(limit).min(run) {
            (self.requests[place].lun, self.requests[place].offset) = (lun, offset);
            self.send(place, host, ready);
            return;
        }
        let whole = self.requests[place];
        // One more than the parts until all have been sent: a part may not be the last before its successor is.
        self.requests[place].pending = 1;
        let mut at = 0;
        while at < whole.len {
            let (lun, offset, run) = self.on_lun(whole.lun, whole.offset + u64::from(at));
            let len = narrow::<u32>(u64::from(limit.min(whole.len - at)).min(run));
            let part = self.part_of(place);
            let last = at + len == whole.len;
            self.requests[part] = HostRequest { parent: place, lun, offset, len, pending: 0, last, ..whole };
            self.requests[place].pending += 1;
            at += len;
            self.send(part, host, ready);
        }
        self.requests[place].pending -= 1;
    }

    /// Sends a flush of a striped volume to each of its LUNs.
    fn flush_all(&mut self, place: u32, host: u32, ready: Instant, stripe: StripeParams) {
        let whole = self.requests[place];
        let luns = stripe.luns.clamp(1, narrow::<u32>(self.topology.luns.len()));
        self.requests[place].pending = luns;
        for lun in 0..luns {
            let part = self.part_of(place);
            let last = lun + 1 == luns;
            self.requests[part] = HostRequest { parent: place, lun, offset: 0, pending: 0, last, ..whole };
            self.send(part, host, ready);
        }
    }

    /// Where `offset` of what a job uses lies: LUN, offset there, and how many bytes follow on the same LUN.
    pub(super) fn on_lun(&self, used: u32, offset: u64) -> (u32, u64, u64) {
        match self.topology.host.stripe {
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
    pub(super) fn send(&mut self, place: u32, host: u32, ready: Instant) {
        (self.requests[place].sent, self.requests[place].outstanding) = (ready, true);
        let lun = self.requests[place].lun as usize;
        if self.hosts[host as usize].admit(lun, place) {
            self.enter_session(place, host, ready);
        }
    }

    /// Sends a part, or has it wait for room in its session.
    pub(super) fn enter_session(&mut self, place: u32, host: u32, ready: Instant) {
        // What is later than now is still on its way through the host.
        self.traces[place as usize].wait(Stage::LunQueue, self.now);
        if self.is_direct {
            return match ready > self.now {
                true => self.there_at(place, Leg::Out, ready),
                false => self.arrive(place),
            };
        }
        let session = self.choose_session(host, self.requests[place].lun);
        self.requests[place].session = session;
        let limit = self.topology.protocol.outstanding;
        if self.hosts[host as usize].sessions[session as usize].enter(limit, place) {
            self.transmit(place, host, ready);
        }
    }

    /// Sends a part over the path that it takes.
    pub(super) fn transmit(&mut self, place: u32, host: u32, ready: Instant) {
        let now = self.now;
        let HostRequest { lun, op, len, class, session, .. } = self.requests[place];
        let (link, delay) = match self.choose_path(host, lun, session) {
            Ok(chosen) => chosen,
            Err(noticed) => return self.queue_without_path(place, noticed),
        };
        let controller = self.end_of(link);
        let protocol = &self.topology.protocol;
        let trace = &mut self.traces[place as usize];
        trace.wait(Stage::Session, now);
        let computer = &mut self.hosts[host as usize];
        let ready = computer.operation(now, ready.max(now), protocol.client, class, trace) + delay;
        trace.wait(Stage::PathLoss, ready);
        let request = &mut self.requests[place];
        (request.link, request.controller) = (link, controller);
        (request.arrived, request.accepted) = (false, false);
        request.cuts = self.paths.get(link as usize).map_or(0, |path| path.cuts);
        request.sent = ready;
        let bytes = protocol.header.get() + if op == Op::Write { u64::from(len) } else { 0 };
        let distance = protocol.hop * u64::from(protocol.hops);
        let (immediate, burst) = (protocol.immediate.get(), protocol.burst.get().max(1));
        let adapter = adapter(&self.hosts[host as usize], link);
        self.start_leg(place, Leg::Out);
        self.not_before(place, ready + distance);
        if let Some(Link { params, out, .. }) = self.links.get(link as usize).copied() {
            // What does not go with the command waits for the array to ask for it, burst by burst.
            let asked = u64::from(len).saturating_sub(immediate);
            let rounds = if op == Op::Write { asked.div_ceil(burst) } else { 0 };
            let away = (distance + params.latency) * (1 + 2 * rounds);
            self.traces[place as usize].serve(Stage::Distance, ready + away);
            self.put_on_wire(place, out, ready + away, params.transfer(bytes));
        }
        if let Some(Link { params, out, .. }) = adapter {
            self.traces[place as usize].serve(Stage::Distance, ready + distance.max(params.latency));
            self.put_on_wire(place, out, ready + params.latency, params.transfer(bytes));
        }
        self.depart(place, true);
    }

    /// Has a part, or its answer, be at the other side at `at`, nothing being between host and array.
    fn there_at(&mut self, place: u32, leg: Leg, at: Instant) {
        self.requests[place].leg = leg;
        self.events.push(at, Event::LegDone(place).pack());
    }

    /// Sends the answer of a part that carries no data or failed, at `ready`.
    ///
    /// It never ends at once, even where nothing takes time: a job's requests would end while it still plans them.
    pub(super) fn respond(&mut self, place: u32, ready: Instant) {
        self.send_back(place, ready, ready, false);
    }

    /// Sends the answer of a part to its host, its data flowing from `first` and complete at `last`. `at_once`: whether
    /// it may be there before this returns.
    pub(super) fn send_back(&mut self, place: u32, first: Instant, last: Instant, at_once: bool) {
        let now = self.now;
        if self.is_direct {
            let last = last.max(now);
            self.traces[place as usize].wait(Stage::Distance, last);
            return match at_once && last == now {
                true => self.answered(place),
                false => self.there_at(place, Leg::Back, last),
            };
        }
        let HostRequest { op, len, link, client, .. } = self.requests[place];
        self.leave_gate(place);
        let bytes = self.topology.protocol.header.get() + if op == Op::Read { u64::from(len) } else { 0 };
        let distance = self.topology.protocol.hop * u64::from(self.topology.protocol.hops);
        let (first, last) = (first.max(now) + distance, last.max(now) + distance);
        let adapter = adapter(&self.hosts[self.host_of(client) as usize], link);
        let flow = self.flow(place, distance);
        self.start_leg(place, Leg::Back);
        self.not_before(place, last.max(flow));
        let trace = &mut self.traces[place as usize];
        trace.pass(Stage::Distance, last, distance);
        for Link { params, back, .. } in self.links.get(link as usize).copied().into_iter().chain(adapter) {
            self.traces[place as usize].serve(Stage::Distance, last + params.latency);
            // It keeps pace with its source, and a burst of it is left when the source has ended.
            let work = params.answer(bytes);
            let behind = Instant::from_nanos((last + params.tail(bytes)).nanos().saturating_sub(work.get()));
            self.put_on_wire(place, back, first.max(behind) + params.latency, work);
        }
        self.depart(place, at_once);
    }

    /// A part leaves what its controller has accepted; the next that waits outside takes its place.
    pub(super) fn leave_gate(&mut self, place: u32) {
        let HostRequest { link, accepted, .. } = self.requests[place];
        if !accepted {
            return;
        }
        self.requests[place].accepted = false;
        let at = self.end_of(link);
        if let Some(next) = self.nodes[at as usize].gate.leave() {
            self.requests[next].accepted = true;
            self.events.push(self.now, Event::Arrive(next).pack());
        }
    }

    /// When a connection that has no more than its window under way has carried a part's data, `distance` being one
    /// way's hops.
    ///
    /// A window a round trip, whatever the wire would carry (RFC 9293, section 3.8.6).
    fn flow(&mut self, place: u32, distance: Nanos) -> Instant {
        let HostRequest { link, session, client, len, op, sent, .. } = self.requests[place];
        let (Some(window), Op::Read | Op::Write) = (self.topology.protocol.window, op) else { return sent };
        let connection = match self.topology.protocol.pinned() {
            Some(_) => self.connection(client, session) as usize,
            None => link as usize,
        };
        let Some(flow) = self.flows.get_mut(connection).filter(|_| !self.links.is_empty()) else {
            return sent;
        };
        let latency = self.links[link as usize].params.latency;
        let round = ((distance + latency) * 2).get();
        let carrying = u128::from(round) * u128::from(len) / u128::from(window.get().max(1));
        *flow = (*flow).max(sent) + Nanos::new(u64::try_from(carrying).unwrap_or(u64::MAX));
        *flow
    }

    /// The answer of a part is at its host.
    pub(super) fn answered(&mut self, place: u32) {
        let HostRequest { client, lun, parent, failed, outstanding, session, .. } = self.requests[place];
        let host = self.host_of(client);
        if outstanding && self.is_cut(place) {
            self.send_again(place);
            return;
        }
        if outstanding {
            if !self.is_direct
                && let Some(next) = self.hosts[host as usize].sessions[session as usize].leave()
            {
                self.transmit(next, host, self.requests[next].sent);
            }
            if let Some(next) = self.hosts[host as usize].release(lun as usize) {
                self.enter_session(next, host, self.requests[next].sent);
            }
        }
        if parent == NONE {
            self.ended(place);
            return;
        }
        self.requests.give(place);
        let whole = &mut self.requests[parent];
        debug_assert!(whole.pending > 0, "a request must have as many parts on the way as it counts");
        whole.pending -= 1;
        whole.failed = whole.failed.or(failed);
        if whole.pending == 0 {
            // The parts began together; this one ended last.
            self.follow_request(parent, place, Stage::HostProcessor);
            self.ended(parent);
        }
    }

    /// Completes a request: its job takes the completion at once, or in batches of its `complete_batch`.
    #[inline]
    fn ended(&mut self, place: u32) {
        let HostRequest { client, purpose, .. } = self.requests[place];
        if matches!(purpose, Purpose::Job) && self.running[client as usize].job.complete_batch() > 1 {
            return self.hold(client, place);
        }
        self.requests.give(place);
        self.settle(place);
    }

    /// Keeps a request that has ended until enough have, or all that are in flight.
    #[cold]
    fn hold(&mut self, client: u32, place: u32) {
        let running = &mut self.running[client as usize];
        running.ended.push(place);
        if running.ended.len() >= running.job.awaited() as usize {
            self.release(client);
            self.ask(client);
        }
    }

    /// Hands over what was kept: the client looks, because enough have ended or its next request is due.
    pub(super) fn release(&mut self, client: u32) {
        let mut ended = std::mem::take(&mut self.running[client as usize].ended);
        for place in ended.drain(..) {
            self.traces[place as usize].wait(Stage::CompletionBatch, self.now);
            self.requests.give(place);
            self.tell_job(place);
        }
        self.running[client as usize].ended = ended;
    }

    /// A free place for a request whose way begins at `at`.
    pub(super) fn place(&mut self, at: Instant) -> u32 {
        let place = self.requests.take();
        if self.traces.len() <= place as usize {
            self.traces.resize_with(place as usize + 1, LatencyTrace::default);
        }
        if self.traces_latency {
            self.traces[place as usize].begin(at);
        }
        place
    }

    /// The same for a part of the request at `place`, which goes on from where that is.
    fn part_of(&mut self, place: u32) -> u32 {
        self.place(self.traces[place as usize].at())
    }

    /// Has the request at `place` go the way of the one at `other`, whose end it waited for.
    pub(super) fn follow_request(&mut self, place: u32, other: u32, gap: Stage) {
        if let Ok([own, other]) = self.traces.get_disjoint_mut([place as usize, other as usize]) {
            own.follow(other, gap);
        }
    }

    /// Tells the job and asks it for more.
    pub(super) fn settle(&mut self, place: u32) {
        let HostRequest { client, len, failed, purpose, .. } = self.requests[place];
        let host = self.host_of(client);
        match purpose {
            Purpose::Job => {}
            Purpose::Pages(lun, fetch) => return self.pages_came(host, lun, fetch, failed, Some(place)),
            Purpose::Step(whole) => {
                self.follow_request(whole, place, Stage::PageCache);
                self.requests[whole].failed = self.requests[whole].failed.or(failed);
                return self.copy_out(whole, host, self.now);
            }
            Purpose::Writeback => return self.pages_left(host, len),
        }
        self.tell_job(place);
        if !self.running[client as usize].job.waits_for_arrival(self.now) {
            self.ask(client);
        }
    }

    /// Tells a job that its request has ended now.
    #[inline]
    fn tell_job(&mut self, place: u32) {
        let HostRequest { client, token, len, failed, .. } = self.requests[place];
        let outcome = failed.map_or(End::moved(len), End::failed);
        if self.traces_latency && failed.is_none() {
            self.add_trace(place);
        }
        let job = &mut self.running[client as usize].job;
        job.settle(Completion { token, outcome, finished_at: self.now });
        if job.has_news() {
            self.settled.push(client);
        }
    }

    /// Adds the trace of a request that ends well now to its job's, if the job measures it.
    fn add_trace(&mut self, place: u32) {
        let HostRequest { client, token, .. } = self.requests[place];
        let (running, trace) = (&mut self.running[client as usize], &mut self.traces[place as usize]);
        if let Some((class, due)) = running.job.measures(token, self.now) {
            trace.end(self.now);
            running.latency.add(class, due, trace);
        }
    }
}
