//! Writes that follow reads, or trims, of the same block. Below a read stands for both.
//!
//! They are spread evenly: of a tenth every tenth read is followed, as Bonnie++ does it.
//!
//! **Invariant:** whether a read is followed is decided when it is planned, so that the stream depends on the
//! specification alone, however long the read takes and whatever else ends before it.

use std::collections::VecDeque;

use units::convert::truncated;
use units::{Instant, Share};

use crate::Token;

/// A whole, in the units in which parts are gathered.
const WHOLE: u64 = 1 << 32;

/// Which reads are followed by a write, and whose write is due.
#[derive(Debug)]
pub(crate) struct Rewrites {
    /// The part that is followed, in units of 2^-32, and what has gathered of it.
    part: u64,
    gathered: u64,
    /// By slot: whether its read is to be followed.
    marked: Vec<bool>,
    /// Slots whose read has ended, since when, and how long it was.
    due: VecDeque<(Instant, Token, u32)>,
}

impl Rewrites {
    /// That `part` of the reads of a worker with `depth` slots; `None` where no read is followed.
    pub(crate) fn new(part: Share, depth: u32) -> Option<Rewrites> {
        let slots = depth as usize;
        (part != Share::NONE).then(|| Rewrites {
            // Rounded up, so that a tenth is gathered by the tenth read.
            part: truncated::<u64>((part.get() * WHOLE as f64).ceil()),
            gathered: 0,
            marked: vec![false; slots],
            due: VecDeque::with_capacity(slots),
        })
    }

    /// Decides for a read that is being planned; none is followed once nothing more `may` be asked for.
    pub(crate) fn decide(&mut self, token: Token, may: bool) -> bool {
        self.gathered += self.part;
        let is_next = self.gathered >= WHOLE;
        if is_next {
            self.gathered -= WHOLE;
        }
        let follows = may && is_next;
        self.marked[token.0 as usize] = follows;
        follows
    }

    /// Books the end of the request in a slot; whether the slot stays taken because its write is due now.
    // Apart from `settle`, so that a workload without rewrites does not pay for it.
    #[inline(never)]
    pub(crate) fn ended(&mut self, at: Instant, token: Token, len: u32, well: bool) -> bool {
        let follows = std::mem::take(&mut self.marked[token.0 as usize]) && well;
        if follows {
            self.due.push_back((at, token, len));
        }
        follows
    }

    /// The slot whose write has been due for longest, since when, and how long it is.
    pub(crate) fn pop(&mut self) -> Option<(Instant, Token, u32)> {
        self.due.pop_front()
    }
}
