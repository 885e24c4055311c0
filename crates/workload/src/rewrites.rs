//! Writes that follow reads of the same block.
//!
//! **Invariant:** whether a read is followed is decided when it is planned, so that the stream depends on seed and
//! specification alone, however long the read takes and whatever else ends before it.

use std::collections::VecDeque;

use units::{Instant, Share};

use crate::Token;
use crate::choice::Choice;
use crate::rng::Stream;

/// Which reads are followed by a write, and whose write is due.
#[derive(Debug)]
pub(crate) struct Rewrites {
    chance: Choice<bool>,
    /// By slot: whether its read is to be followed.
    marked: Vec<bool>,
    /// Slots whose read has ended, since when, and how long it was.
    due: VecDeque<(Instant, Token, u32)>,
}

impl Rewrites {
    /// That `part` of the reads of a worker with `depth` slots; `None` where no read is followed.
    pub(crate) fn new(part: Share, depth: u32, stream: Stream) -> Option<Rewrites> {
        let chance = || Choice::new(&[(true, part.get()), (false, 1.0 - part.get())], stream);
        let slots = depth as usize;
        (part != Share::NONE).then(|| Rewrites {
            chance: chance(),
            marked: vec![false; slots],
            due: VecDeque::with_capacity(slots),
        })
    }

    /// Decides for a read that is being planned; none is followed once nothing more `may` be asked for.
    pub(crate) fn decide(&mut self, token: Token, may: bool) -> bool {
        let follows = may && self.chance.next();
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
