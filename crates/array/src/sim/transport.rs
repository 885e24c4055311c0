//! Requests on the wires of links, adapters and of the way between controllers.
//!
//! A request goes from place to place in legs. On a leg it may be on several wires at once, as the data that pass an
//! adapter are on the cable meanwhile; it is there when the last of them has carried it, and not before it is due.
//!
//! **Invariant:** a request that has set out is there exactly once.

use units::convert::narrow;
use units::{Instant, Nanos};

use crate::latency::Stage;
use crate::wire::{Carried, Transfer};

use super::Sim;
use super::event::Event;
use super::request::{HostRequest, Leg};

impl Sim {
    /// Sets a request out. Follow with [`Sim::put_on_wire`] for each wire and [`Sim::depart`].
    pub(super) fn start_leg(&mut self, place: u32, leg: Leg) {
        let request = &mut self.requests[place];
        (request.leg, request.wires, request.due) = (leg, 0, Instant::START);
    }

    /// Has a request be there at `due` at the earliest.
    pub(super) fn not_before(&mut self, place: u32, due: Instant) {
        let request = &mut self.requests[place];
        request.due = request.due.max(due);
    }

    /// Puts a request on a wire, of which it takes `work` and where it is ready at `ready`.
    pub(super) fn put_on_wire(&mut self, place: u32, wire: u32, ready: Instant, work: Nanos) {
        self.not_before(place, ready + work);
        if work.is_zero() {
            return;
        }
        self.requests[place].wires += 1;
        let HostRequest { class, client, session, leg, .. } = self.requests[place];
        // A session is a byte stream; what crosses to the partner is none of it.
        let streams = matches!(leg, Leg::Out | Leg::Back) && self.topology.protocol.pinned().is_some();
        let flow = streams.then(|| self.connection(client, session));
        self.wires[wire as usize].join(self.now, Transfer { ready, work, token: place, class, flow });
        self.arm(wire);
    }

    /// Has a request go on that no wire carries: by an event, or at once where it may be.
    pub(super) fn depart(&mut self, place: u32, at_once: bool) {
        if self.requests[place].wires > 0 {
            return;
        }
        let due = self.requests[place].due;
        if at_once && due <= self.now {
            self.leg_done(place);
        } else {
            self.events.push(due.max(self.now), Event::LegDone(place).pack());
        }
    }

    /// A transfer may have ended on a wire.
    pub(super) fn wire_due(&mut self, wire: u32) {
        let mut carried = std::mem::take(&mut self.carried);
        self.wires[wire as usize].advance(self.now, &mut carried);
        self.arm(wire);
        let stage = self.wire_stages[wire as usize];
        for Carried { token: place, work } in carried.drain(..) {
            self.traces[place as usize].pass(stage, self.now, work);
            debug_assert!(self.requests[place].wires > 0, "a wire must carry a request once");
            self.requests[place].wires -= 1;
            self.depart(place, true);
        }
        self.carried = carried;
    }

    /// A request is where it was going.
    pub(super) fn leg_done(&mut self, place: u32) {
        let (now, leg, trace) = (self.now, self.requests[place].leg, &mut self.traces[place as usize]);
        match leg {
            Leg::Out | Leg::Across | Leg::Mirror => trace.serve(Stage::Distance, now),
            // Later than its wires have carried it: its connection carries no more.
            Leg::Back => trace.wait(Stage::Window, now),
        }
        match leg {
            Leg::Out => self.arrive(place),
            Leg::Across => self.serve(place, now),
            Leg::Mirror => self.respond(place, now),
            Leg::Back => self.answered(place),
        }
    }

    /// The number of a session among those of all hosts.
    pub(super) fn connection(&self, client: u32, session: u32) -> u32 {
        self.host_of(client) * narrow::<u32>(self.hosts[0].sessions.len()) + session
    }

    fn arm(&mut self, wire: u32) {
        if let Some(at) = self.wires[wire as usize].arm() {
            self.events.push(at, Event::Wire(wire).pack());
        }
    }
}
