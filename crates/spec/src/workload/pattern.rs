//! Where requests go.

use units::{Bytes, Share};

use super::Extent;
use crate::trace::Replay;

/// Where the next request goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Upwards, each worker through its own share of the span, from the start again at the end.
    Sequential,
    /// Downwards, likewise.
    Reverse,
    /// Upwards, one stream for all workers, who take its requests in turn. Wants a single size.
    Interlocked,
    /// Upwards in steps of this many bytes from start to start, at least the request's size.
    Stride(Bytes),
    /// Upwards: `run` bytes without gaps, then on to where the next `step` begins.
    StrideOf {
        /// From start to start, at least `run`.
        step: Bytes,
        /// How much of it is passed through, at least a request's size.
        run: Bytes,
    },
    /// Upwards in steps, as [`Pattern::Stride`]; each pass begins one request later than the last, within so many bytes
    /// of each step.
    Columns {
        /// From start to start, at least `width`.
        step: Bytes,
        /// How much of each step is visited in the end, at least a request's size.
        width: Bytes,
    },
    /// Downwards in steps of this many bytes from start to start, at least the request's size.
    ReverseStride(Bytes),
    /// Uniform, each block once before any comes again: a keyed permutation for each pass, workers take turns in it.
    Random,
    /// Uniform, drawn afresh each time, so blocks repeat.
    RandomWithRepeats,
    /// Rank r is drawn in proportion to 1/r^θ, θ > 0; ranks are scattered over the span by a keyed permutation.
    Zipf(f64),
    /// Part 1 - h of the requests goes to part h of the blocks, and so on within them, 0 < h < 1; the blocks are
    /// scattered over the span by a keyed permutation.
    Pareto(f64),
    /// Bell-shaped about the middle of the span; the standard deviation as a part of the span.
    Normal(Share),
    /// The same of ranks, which are scattered over the span by a keyed permutation.
    NormalScattered(Share),
    /// Zones from the start of the span; uniform within each.
    Zones(Vec<Zone>),
    /// Blocks of the largest size by their numbers from the start of the span, over and over; every worker for itself.
    Sequence {
        /// At least one.
        blocks: Vec<u64>,
        /// Each round begins as many blocks further as there are in it.
        moves: bool,
    },
    /// What random writes come to that have gone on for long, in one pass that writes `1 + spare` times the span: parts
    /// of it in turn, each with new blocks in random order and with blocks of the part before once more, so many that
    /// what stays valid of each part is what cleaning in the order of writing would have left of it.
    Aged {
        /// What a flash device has beyond the span, as a part of it.
        spare: Share,
        /// In how many parts; at least 2.
        parts: u32,
    },
    /// Requests of a trace, as they were asked; workers take them in turn.
    Trace(Replay),
}

impl Pattern {
    /// Whether each request goes to a place of its own, not beside the one before.
    pub fn is_random(&self) -> bool {
        !self.has_stretches() && *self != Pattern::Interlocked
    }

    /// Whether workers that share a region have parts of it for themselves.
    pub fn has_stretches(&self) -> bool {
        matches!(
            self,
            Pattern::Sequential
                | Pattern::Reverse
                | Pattern::Stride(_)
                | Pattern::StrideOf { .. }
                | Pattern::Columns { .. }
                | Pattern::ReverseStride(_)
        )
    }
}

/// A part of the span and the part of the requests that goes there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Part of the requests.
    pub requests: Share,
    /// How much of the span.
    pub span: Extent,
}
