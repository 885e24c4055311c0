//! A bus or link: bandwidth each way, cost per command, distance.

use units::convert::narrow;
use units::{Bytes, BytesPerSecond, Nanos, SECTOR_BYTES};

use crate::wire::Wire;

/// The figures of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkParams {
    /// Payload rate towards the host after coding and framing, all lanes together.
    pub rate: BytesPerSecond,
    /// The same away from it, which may be lower: on PCI Express a device asks for what is written, and gets it in packets
    /// of 64 bytes where those that it sends have 128 (read completion boundary, PCI Express Base Specification 2.1, 2.3.1.1).
    pub write_rate: BytesPerSecond,
    /// Lanes that share it: one transfer uses one lane, so alone it gets `rate / lanes`.
    pub lanes: u32,
    /// Whether both directions share the rate (parallel SCSI, FC loop, PCI) or each has its own.
    pub duplex: Duplex,
    /// What a command holds the link beyond its bytes: arbitration, selection, frames.
    pub command: Nanos,
    /// One way: cable, switches, adapter. Delays, but holds nothing.
    pub latency: Nanos,
    /// Bytes of one transfer that a lane moves before the next transfer has its turn, where several are under way: a
    /// burst of a SCSI bus, a sequence of Fibre Channel frames, a segment handed to a network adapter.
    pub quantum: Bytes,
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
    /// How long one lane takes for a command that brings `bytes`, away from the host.
    #[inline]
    pub fn send(&self, bytes: u64) -> Nanos {
        self.command + self.lane_time(self.write_rate, bytes)
    }

    /// How long one lane takes for a command that fetches `bytes`, towards the host.
    #[inline]
    pub fn fetch(&self, bytes: u64) -> Nanos {
        self.command + self.answer(bytes)
    }

    /// How long one lane takes for `bytes`, towards the host, of a command that has paid for itself on its way out.
    #[inline]
    pub fn answer(&self, bytes: u64) -> Nanos {
        self.lane_time(self.rate, bytes)
    }

    #[inline]
    fn lane_time(&self, rate: BytesPerSecond, bytes: u64) -> Nanos {
        rate.time_for(Bytes::new(bytes * u64::from(self.lanes.max(1))))
    }

    /// What is left of an answer of `bytes` when its source has ended: its last burst.
    pub fn tail(&self, bytes: u64) -> Nanos {
        self.answer(bytes.min(self.quantum.get()).min(QUANTUM.get()))
    }

    /// One direction of it, idle, which moves data at `rate`.
    fn wire(&self, rate: BytesPerSecond) -> Wire {
        Wire::new(self.lanes, self.lane_time(rate, self.quantum.get()))
    }
}

/// What moves in one turn where nothing else is said: the burst that SCSI targets and TCP stacks commonly send.
pub const QUANTUM: Bytes = Bytes::new(64 << 10);

/// A link among the wires of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its figures.
    pub params: LinkParams,
    /// The wire away from the host; both ways where the link is half duplex.
    pub out: u32,
    /// The wire towards the host.
    pub back: u32,
    /// How long one lane takes for a command that fetches one sector.
    pub sector: Nanos,
    /// What is left of a long answer when its source has ended.
    burst: Nanos,
}

impl Link {
    /// Lays its wires: they join `wires`.
    pub fn lay(params: &LinkParams, wires: &mut Vec<Wire>) -> Link {
        let out = narrow::<u32>(wires.len());
        wires.push(params.wire(params.write_rate));
        if params.duplex == Duplex::Full {
            wires.push(params.wire(params.rate));
        }
        let back = narrow::<u32>(wires.len()) - 1;
        let (sector, burst) = (params.fetch(SECTOR_BYTES), params.tail(u64::MAX));
        Link { params: *params, out, back, sector, burst }
    }

    /// [`LinkParams::tail`] of `bytes`, whose [`LinkParams::answer`] is `answer`: a short one is left whole.
    #[inline]
    pub fn tail(&self, bytes: u64, answer: Nanos) -> Nanos {
        let is_long = bytes >= self.params.quantum.get().min(QUANTUM.get());
        if is_long { self.burst } else { answer }
    }

    /// Its wires with their names, seen from the host: one where it is half duplex.
    pub fn ways(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let half = self.out == self.back;
        let back = (!half).then_some(("rx", self.back));
        std::iter::once((if half { "tx+rx" } else { "tx" }, self.out)).chain(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(duplex: Duplex) -> LinkParams {
        LinkParams {
            rate: BytesPerSecond::new(1e9),
            write_rate: BytesPerSecond::new(5e8),
            lanes: 2,
            duplex,
            command: Nanos::new(300),
            latency: Nanos::new(500),
            quantum: QUANTUM,
        }
    }

    #[test]
    fn a_lane_takes_its_share_of_the_rate_and_the_command_is_paid_once() {
        let link = params(Duplex::Full);
        assert_eq!(link.fetch(1_000), Nanos::new(2_300));
        assert_eq!(link.answer(1_000), Nanos::new(2_000));
        assert_eq!(link.tail(1 << 20), link.answer(64 << 10));
    }

    #[test]
    fn what_is_written_takes_the_rate_away_from_the_host() {
        assert_eq!(params(Duplex::Full).send(1_000), Nanos::new(4_300));
    }

    #[test]
    fn what_a_laid_link_knows_beforehand_is_what_its_figures_say() {
        let link = Link::lay(&params(Duplex::Half), &mut Vec::new());
        assert_eq!(link.sector, link.params.fetch(SECTOR_BYTES));
        for bytes in [0, 1, 511, 4096, QUANTUM.get() - 1, QUANTUM.get(), QUANTUM.get() + 1, 1 << 30] {
            assert_eq!(link.tail(bytes, link.params.answer(bytes)), link.params.tail(bytes), "{bytes}");
        }
    }

    #[test]
    fn a_full_duplex_link_has_a_wire_each_way_and_a_half_duplex_one_has_one() {
        let mut wires = Vec::new();
        let half = Link::lay(&params(Duplex::Half), &mut wires);
        let full = Link::lay(&params(Duplex::Full), &mut wires);
        assert_eq!(half.ways().collect::<Vec<_>>(), [("tx+rx", 0)]);
        assert_eq!(full.ways().collect::<Vec<_>>(), [("tx", 1), ("rx", 2)]);
        assert_eq!((wires.len(), half.back), (3, 0));
    }
}
