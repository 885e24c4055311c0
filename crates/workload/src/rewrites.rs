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
use crate::seam::IoRequest;

/// A whole, in the units in which parts are gathered.
const WHOLE: u64 = 1 << 32;

/// Which reads are followed by a write, and whose write is due.
#[derive(Debug)]
pub(crate) struct Rewrites<R> {
    /// The part that is followed, in units of 2^-32, and what has gathered of it.
    part: u64,
    gathered: u64,
    /// By slot: the write that is to follow, and its class.
    follows: Vec<Option<(R, u16)>>,
    /// Writes whose read has ended, and since when.
    due: VecDeque<(Instant, R, u16)>,
}

impl<R: IoRequest> Rewrites<R> {
    /// That `part` of the reads of a worker with `depth` slots; `None` where no read is followed.
    pub(crate) fn new(part: Share, depth: u32) -> Option<Rewrites<R>> {
        let slots = depth as usize;
        (part != Share::NONE).then(|| Rewrites {
            // Rounded up, so that a tenth is gathered by the tenth read.
            part: truncated::<u64>((part.get() * WHOLE as f64).ceil()),
            gathered: 0,
            follows: vec![None; slots],
            due: VecDeque::with_capacity(slots),
        })
    }

    /// Decides for a read that is being planned whether `write` follows it; none is followed once nothing more `may` be
    /// asked for.
    pub(crate) fn decide(&mut self, (write, class): (R, u16), may: bool) -> bool {
        self.gathered += self.part;
        let is_next = self.gathered >= WHOLE;
        if is_next {
            self.gathered -= WHOLE;
        }
        debug_assert!(self.gathered < WHOLE, "less than a write is left over");
        let follows = may && is_next;
        debug_assert!(self.follows[write.token().0 as usize].is_none(), "a slot has one write to come");
        self.follows[write.token().0 as usize] = follows.then_some((write, class));
        follows
    }

    /// Notes the end of the request in a slot; whether the slot stays taken because its write is due now.
    pub(crate) fn ended(&mut self, at: Instant, token: Token, well: bool) -> bool {
        let follows = self.follows[token.0 as usize].take().filter(|_| well);
        self.due.extend(follows.map(|(write, class)| (at, write, class)));
        debug_assert!(self.due.len() <= self.follows.len(), "each write that is due holds a slot");
        follows.is_some()
    }

    /// How many are due, each in the slot of its read.
    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }

    /// How many are decided and not issued yet.
    pub(crate) fn to_come(&self) -> usize {
        self.due.len() + self.follows.iter().flatten().count()
    }

    /// The write that has been due for longest, since when, and its class.
    pub(crate) fn pop(&mut self) -> Option<(Instant, R, u16)> {
        self.due.pop_front()
    }
}
