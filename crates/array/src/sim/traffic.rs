//! Requests on their way between hosts and controllers: the legs they travel, and the wires that carry them.
//!
//! A request goes from place to place in legs. On a leg it may be on several wires at once, as the data that pass an
//! adapter are on the cable meanwhile; it is there when the last of them has carried it, and not before it is due.
//! Sending returns whether it is there at once; else [`Event::LegDone`] or [`Event::Wire`] follows.
//!
//! **Invariant:** a request that has set out is there exactly once.

use units::{Instant, Nanos};
use workload::Op;

use crate::latency::Stage;
use crate::link::Link;
use crate::protocol::{ProtocolKind, ProtocolParams};
use crate::wire::{Carried, Transfer};

use super::event::Event;
use super::gate::Gate;
use super::network::Network;
use super::request::{HostRequest, Leg, Requests};
use super::timeline::Timeline;
use super::{LOST, Topology};

/// Requests on their way, the clock by which they travel, and what carries them.
#[derive(Debug)]
pub struct Traffic {
    /// The clock, and what happens later.
    pub time: Timeline,
    /// All that are under way, by their places.
    pub requests: Requests,
    /// What carries them.
    pub network: Network,
    /// What each controller has accepted, and what waits outside.
    gates: Vec<Gate>,
    /// Until when each connection is full, as far as its window limits it: that of each session, or over each link.
    flows: Vec<Instant>,
    protocol: ProtocolParams,
    /// Sessions of each host.
    sessions: u32,
    /// Whether a request needs not be sent: see [`Topology::is_direct`].
    is_direct: bool,
    /// Requests that a wire has just carried.
    carried: Vec<Carried>,
}

impl Traffic {
    /// Nothing is on its way yet.
    pub fn new(topology: &Topology) -> Traffic {
        let (hosts, controllers) = (topology.hosts.max(1), topology.controllers.max(1));
        let sessions = topology.sessions();
        let network = Network::new(topology);
        Traffic {
            time: Timeline::default(),
            requests: Requests::default(),
            gates: vec![Gate::default(); controllers as usize],
            flows: vec![Instant::START; network.links().max(sessions * hosts) as usize],
            network,
            protocol: topology.protocol.clone(),
            sessions,
            is_direct: topology.is_direct(),
            carried: Vec::new(),
        }
    }

    /// Whether nothing is between hosts and the array.
    #[inline]
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Has a part, or its answer, be at the other side at `at`, nothing being between host and array.
    pub fn there_at(&mut self, place: u32, leg: Leg, at: Instant) {
        debug_assert!(self.is_direct, "what has a way must go it");
        self.requests[place].leg = leg;
        self.time.at(at, Event::LegDone(place));
    }

    /// Sends a part over a link to the controller at its end, ready at `ready`. Whether it is there at once.
    pub fn send_out(&mut self, place: u32, link: u32, ready: Instant) -> bool {
        let HostRequest { op, len, host, .. } = self.requests[place];
        let (controller, cuts) = (self.network.end_of(link), self.network.cuts(link));
        let request = &mut self.requests[place];
        (request.link, request.controller) = (link, controller);
        (request.arrived, request.accepted) = (false, false);
        (request.cuts, request.sent) = (cuts, ready);
        let bytes = self.protocol.header.get() + if op == Op::Write { u64::from(len) } else { 0 };
        let distance = self.distance();
        let (immediate, burst) = (self.protocol.immediate.get(), self.protocol.burst.get().max(1));
        self.start_leg(place, Leg::Out);
        self.not_before(place, ready + distance);
        if let Some(Link { params, out, .. }) = self.network.link(link) {
            // What does not go with the command waits for the array to ask for it, burst by burst.
            let asked = u64::from(len).saturating_sub(immediate);
            let rounds = if op == Op::Write { asked.div_ceil(burst) } else { 0 };
            let away = (distance + params.latency) * (1 + 2 * rounds);
            self.requests.trace(place).serve(Stage::Distance, ready + away);
            self.put_on_wire(place, out, ready + away, params.send(bytes));
        }
        if let Some(Link { params, out, .. }) = self.network.adapter(host, link) {
            self.requests.trace(place).serve(Stage::Distance, ready + distance.max(params.latency));
            self.put_on_wire(place, out, ready + params.latency, params.send(bytes));
        }
        self.depart(place, true)
    }

    /// Notes how long the data of a write, which are at their controller now, have flowed there.
    pub fn note_flow(&mut self, place: u32) {
        let HostRequest { op, len, link, .. } = self.requests[place];
        let link = self.network.link(link).filter(|_| op == Op::Write);
        self.requests[place].flow = link.map_or(Nanos::ZERO, |link| link.params.send(u64::from(len)));
    }

    /// Sends the answer of a part that carries no data or failed, at `ready`.
    ///
    /// It never ends at once, even where nothing takes time: a job's requests would end while it still plans them.
    pub fn respond(&mut self, place: u32, ready: Instant) {
        let ready = ready.max(self.time.now());
        let at_once = self.send_back(place, ready, ready, false);
        debug_assert!(!at_once, "an answer without data must take an event");
    }

    /// The same of a part whose data are lost.
    pub fn fail(&mut self, place: u32, ready: Instant) {
        self.requests[place].failed = Some(LOST);
        self.respond(place, ready);
    }

    /// Sends the answer of a part to its host, its data flowing from `first` and complete at `last`. Whether it is there
    /// at once, which it is only where it may be.
    pub fn send_back(&mut self, place: u32, first: Instant, last: Instant, at_once: bool) -> bool {
        debug_assert!(first <= last, "data must begin to flow before the last of them do");
        let now = self.time.now();
        if self.is_direct {
            let last = last.max(now);
            self.requests.trace(place).wait(Stage::Distance, last);
            let is_there = at_once && last == now;
            if !is_there {
                self.there_at(place, Leg::Back, last);
            }
            return is_there;
        }
        self.leave_gate(place);
        let HostRequest { op, len, link, host, .. } = self.requests[place];
        let bytes = self.protocol.header.get() + if op == Op::Read { u64::from(len) } else { 0 };
        let distance = self.distance();
        let (first, last) = (first + distance, last.max(now) + distance);
        let flow = self.flow(place, distance);
        self.start_leg(place, Leg::Back);
        self.not_before(place, last.max(flow));
        self.requests.trace(place).pass(Stage::Distance, last, distance);
        for link in [self.network.link(link), self.network.adapter(host, link)].into_iter().flatten() {
            let Link { params, back, .. } = link;
            self.requests.trace(place).serve(Stage::Distance, last + params.latency);
            // It keeps pace with its source, and a burst of it is left when the source has ended.
            let work = params.answer(bytes);
            let behind =
                Instant::from_nanos((last + link.tail(bytes, work)).nanos().saturating_sub(work.get()));
            self.put_on_wire(place, back, first.max(behind) + params.latency, work);
        }
        self.depart(place, at_once)
    }

    /// Sends a part's data from controller `here` to its partner, and the word that they are there back.
    pub fn cross_over(&mut self, place: u32, here: u32, ready: Instant, leg: Leg) {
        self.start_leg(place, leg);
        self.not_before(place, ready);
        if let Some(Link { params, out, .. }) = self.network.partner(here) {
            let len = u64::from(self.requests[place].len);
            self.requests.trace(place).serve(Stage::Mirror, ready + params.latency * 2);
            self.put_on_wire(place, out, ready + params.latency * 2, params.send(len));
        }
        let at_once = self.depart(place, false);
        debug_assert!(!at_once, "the way to the partner must take an event");
    }

    /// One way's hops.
    #[inline]
    fn distance(&self) -> Nanos {
        self.protocol.hop * u64::from(self.protocol.hops)
    }

    /// When a connection that has no more than its window under way has carried a part's data, `distance` being one
    /// way's hops.
    ///
    /// A window a round trip, whatever the wire would carry (RFC 9293, section 3.8.6).
    fn flow(&mut self, place: u32, distance: Nanos) -> Instant {
        let HostRequest { link, len, op, sent, .. } = self.requests[place];
        let (Some(window), Op::Read | Op::Write) = (self.protocol.window, op) else { return sent };
        let Some(Link { params, .. }) = self.network.link(link) else { return sent };
        let connection = self.connection(place).unwrap_or(link);
        let round = ((distance + params.latency) * 2).get();
        let carrying = u128::from(round) * u128::from(len) / u128::from(window.get().max(1));
        let flow = &mut self.flows[connection as usize];
        *flow = (*flow).max(sent) + Nanos::new(u64::try_from(carrying).unwrap_or(u64::MAX));
        *flow
    }

    /// The number of a request's session among those of all hosts; `None` where nothing is a session.
    #[inline]
    fn connection(&self, place: u32) -> Option<u32> {
        let HostRequest { host, session, .. } = self.requests[place];
        self.protocol.pinned().map(|_| host * self.sessions + session)
    }

    /// Sets a request out. Follow with [`Traffic::put_on_wire`] for each wire and [`Traffic::depart`].
    #[inline]
    fn start_leg(&mut self, place: u32, leg: Leg) {
        let request = &mut self.requests[place];
        debug_assert_eq!(request.wires, 0, "a request must be on one leg at a time");
        (request.leg, request.wires, request.due) = (leg, 0, Instant::START);
    }

    /// Has a request be there at `due` at the earliest.
    #[inline]
    fn not_before(&mut self, place: u32, due: Instant) {
        let request = &mut self.requests[place];
        request.due = request.due.max(due);
    }

    /// Puts a request on a wire, of which it takes `work` and where it is ready at `ready`.
    #[inline]
    fn put_on_wire(&mut self, place: u32, wire: u32, ready: Instant, work: Nanos) {
        self.not_before(place, ready + work);
        if work.is_zero() {
            return;
        }
        self.requests[place].wires += 1;
        let HostRequest { class, leg, op, .. } = self.requests[place];
        // SAS and Fibre Channel: frames of a command go between those of others' data. A session is a byte stream.
        let between = leg == Leg::Out && op != Op::Write && self.protocol.kind == ProtocolKind::Block;
        // A session is a byte stream; what crosses to the partner is none of it.
        let flow = if matches!(leg, Leg::Out | Leg::Back) { self.connection(place) } else { None };
        self.network.carry(
            &mut self.time,
            wire,
            Transfer { ready, work, token: place, class, flow, between },
        );
    }

    /// Has a request go on that no wire carries, by an event or at once where it may be. Whether it is there at once.
    #[must_use]
    #[inline]
    fn depart(&mut self, place: u32, at_once: bool) -> bool {
        if self.requests[place].wires > 0 {
            return false;
        }
        let (due, now) = (self.requests[place].due, self.time.now());
        let is_there = at_once && due <= now;
        if !is_there {
            self.time.at(due.max(now), Event::LegDone(place));
        }
        is_there
    }

    /// A transfer may have ended on a wire: what has been carried, each for [`Traffic::land`], and the stage at which it
    /// was. Give the list back to [`Traffic::recycle`].
    pub fn wire_due(&mut self, wire: u32) -> (Stage, Vec<Carried>) {
        let mut carried = std::mem::take(&mut self.carried);
        (self.network.advance(&mut self.time, wire, &mut carried), carried)
    }

    /// Takes a list that has been gone through, for the next.
    pub fn recycle(&mut self, mut carried: Vec<Carried>) {
        carried.clear();
        self.carried = carried;
    }

    /// A wire has carried a request. Whether it is where it was going.
    pub fn land(&mut self, stage: Stage, Carried { token: place, work }: Carried) -> bool {
        self.requests.trace(place).pass(stage, self.time.now(), work);
        debug_assert!(self.requests[place].wires > 0, "a wire must carry a request once");
        self.requests[place].wires -= 1;
        self.depart(place, true)
    }

    /// A request is where it was going: which leg it has gone.
    pub fn leg_done(&mut self, place: u32) -> Leg {
        let (now, leg) = (self.time.now(), self.requests[place].leg);
        match leg {
            Leg::Out | Leg::Across | Leg::Mirror => self.requests.trace(place).serve(Stage::Distance, now),
            // Later than its wires have carried it: its connection carries no more.
            Leg::Back => self.requests.trace(place).wait(Stage::Window, now),
        }
        leg
    }

    /// Whether a controller that accepts `limit` at once has room for a part; if not it waits outside.
    pub fn enter_gate(&mut self, place: u32, limit: u32) -> bool {
        let HostRequest { controller, .. } = self.requests[place];
        debug_assert!(!self.requests[place].accepted, "a part must be accepted once");
        let enters = self.gates[controller as usize].enter(limit, place);
        self.requests[place].accepted |= enters;
        enters
    }

    /// A part leaves what its controller has accepted; the next that waits outside takes its place.
    pub fn leave_gate(&mut self, place: u32) {
        let HostRequest { link, accepted, .. } = self.requests[place];
        if !accepted {
            return;
        }
        self.requests[place].accepted = false;
        let at = self.network.end_of(link);
        if let Some(next) = self.gates[at as usize].leave() {
            self.requests[next].accepted = true;
            self.time.soon(Event::Arrive(next));
        }
    }

    /// Whether the path of a request has been cut since it was sent.
    #[inline]
    pub fn is_cut(&self, place: u32) -> bool {
        let HostRequest { link, cuts, .. } = self.requests[place];
        self.network.cuts(link) != cuts
    }

    /// Sends a request again whose path has been cut under it, once the host's time-out has passed.
    pub fn send_again(&mut self, place: u32) {
        let at = self.network.noticed(self.requests[place].link, self.time.now());
        self.time.at(at, Event::Retry(place));
    }

    /// A request is lost with the controller that it had come to, and sent again after the host's time-out.
    pub fn lose(&mut self, place: u32) {
        self.leave_gate(place);
        self.time.at(self.time.now() + self.network.timeout(), Event::Retry(place));
    }

    /// The controller at which a request has waited in `stage` refuses it: it is sent again at once.
    pub fn refuse(&mut self, place: u32, stage: Stage) {
        self.leave_gate(place);
        self.requests.trace(place).wait(stage, self.time.now());
        self.time.soon(Event::Retry(place));
    }
}
