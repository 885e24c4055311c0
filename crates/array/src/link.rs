//! A bus or link: bandwidth each way, cost per command, distance.

use units::{BytesPerSecond, Nanos};

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
