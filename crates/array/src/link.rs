//! A bus or link: bandwidth each way, cost per command, distance.

use units::{Bytes, BytesPerSecond, Instant, Nanos};

use crate::meter::Class;
use crate::station::Station;

/// The figures of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkParams {
    /// Payload rate of one direction after coding and framing, all lanes together.
    pub rate: BytesPerSecond,
    /// Lanes that share it: one transfer uses one lane, so alone it gets `rate / lanes`.
    pub lanes: u32,
    /// Whether both directions share the rate (parallel SCSI, FC loop, PCI) or each has its own.
    pub duplex: Duplex,
    /// What a command holds the link beyond its bytes: arbitration, selection, frames.
    pub command: Nanos,
    /// One way: cable, switches, adapter. Delays, but holds nothing.
    pub latency: Nanos,
}

/// Whether the two directions of a link share its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// One transfer at a time, whichever way.
    Half,
    /// Each direction has the whole rate.
    Full,
}

impl LinkParams {
    /// How long one lane takes for a command with `bytes`.
    pub fn transfer(&self, bytes: u64) -> Nanos {
        let lanes = u64::from(self.lanes.max(1));
        self.command + self.rate.time_for(Bytes::new(bytes * lanes))
    }
}

/// What moves before the next transfer has its turn: what is left of a transfer when its source has ended.
pub const TURN: u64 = 64 << 10;

/// A link at work.
#[derive(Clone, Debug)]
pub struct Link {
    params: LinkParams,
    /// Away from the host; both ways where the link is half duplex.
    out: Station,
    back: Station,
}

impl Link {
    /// Idle.
    pub fn new(params: &LinkParams) -> Link {
        Link { params: *params, out: Station::new(params.lanes), back: Station::new(params.lanes) }
    }

    /// A command with `bytes` away from the host, ready at `ready`; when it has arrived.
    pub fn send(&mut self, now: Instant, ready: Instant, bytes: u64, class: Class) -> Instant {
        let work = self.params.transfer(bytes);
        self.out.share(now, ready, work, class) + self.params.latency
    }

    /// `bytes` towards the host, which flow from `first` on and are complete at `last`; when they have arrived. The
    /// command's own cost was paid on its way out.
    pub fn answer(
        &mut self,
        now: Instant,
        first: Instant,
        last: Instant,
        bytes: u64,
        class: Class,
    ) -> Instant {
        let alone = |bytes| self.params.transfer(bytes).saturating_sub(self.params.command);
        let (work, tail) = (alone(bytes), alone(bytes.min(TURN)));
        let station = if self.params.duplex == Duplex::Half { &mut self.out } else { &mut self.back };
        station.stream(now, first, last, work, tail, class) + self.params.latency
    }

    /// One way: cable, switches, adapter.
    pub fn latency(&self) -> Nanos {
        self.params.latency
    }

    /// When all that is booked away from the host would have ended: the shorter, the less loaded.
    pub fn backlog(&self) -> Instant {
        self.out.until().max(self.back.until())
    }

    /// Both directions with their names; one where the link is half duplex.
    pub fn stations(&mut self) -> impl Iterator<Item = (&'static str, &mut Station)> {
        let half = self.params.duplex == Duplex::Half;
        let back = (!half).then_some(("back", &mut self.back));
        std::iter::once((if half { "both" } else { "out" }, &mut self.out)).chain(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(duplex: Duplex) -> Link {
        Link::new(&LinkParams {
            rate: BytesPerSecond::new(1e9),
            lanes: 1,
            duplex,
            command: Nanos::ZERO,
            latency: Nanos::new(500),
        })
    }

    #[test]
    fn a_full_duplex_link_moves_both_ways_at_once_and_a_half_duplex_one_in_turn() {
        let now = Instant::START;
        let (mut full, mut half) = (link(Duplex::Full), link(Duplex::Half));
        full.send(now, now, 1_000_000, Class::HostWrite);
        half.send(now, now, 1_000_000, Class::HostWrite);
        assert_eq!(full.answer(now, now, now, 1_000_000, Class::HostRead).nanos(), 1_000_500);
        assert_eq!(half.answer(now, now, now, 1_000_000, Class::HostRead).nanos(), 2_000_500);
    }
}
