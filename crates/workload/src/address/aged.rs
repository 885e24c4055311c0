//! One pass of writes after which a flash device looks as after long random ones.
//!
//! A log that is cleaned in the order of writing, and written uniformly at random for long, holds of a part of age x
//! exp(-k x) that is still valid, x from 0 to 1, where the mean of that is the capacity over the size of the log:
//! (1 - exp(-k)) / k = 1 / (1 + spare). So the pass fills the log part by part, the oldest first: each part begins by
//! writing again what the part before is to have lost, and goes on with blocks that were never written.
//!
//! Source: P. Desnoyers, Analytic models of SSD write performance, ACM TOS 10 (2014), section 3 (LRW cleaning).

use units::Share;
use units::convert::truncated;

use super::RegionShare;
use crate::permutation::Permutation;

/// Where in the pass a worker is; workers take its turns one after the other.
#[derive(Clone, Debug)]
pub(super) struct Aged {
    order: Permutation,
    /// Turns at which parts begin, with where their new blocks begin in the order, and how many come again before those.
    parts: Vec<Begin>,
    turn: u64,
    turns: u64,
    /// Of the whole pass.
    all: u64,
    /// The part of the last turn.
    current: usize,
}

/// Where a part begins.
#[derive(Clone, Copy, Debug)]
struct Begin {
    turn: u64,
    /// In the order, of the new blocks.
    fresh: u64,
    /// Blocks that come again: those from `old` on in the order.
    again: u64,
    old: u64,
}

impl Aged {
    pub(super) fn new(spare: Share, parts: u32, order: Permutation, part: RegionShare) -> Aged {
        let slots = order.len();
        let (begins, all) = begins(spare.get(), u64::from(parts).min(slots), slots);
        let turn = u64::from(part.index) % all;
        Aged { order, parts: begins, turn, turns: u64::from(part.of), all, current: 0 }
    }

    pub(super) fn next(&mut self) -> u64 {
        if self.turn < self.parts[self.current].turn {
            self.current = 0;
        }
        while self.parts.get(self.current + 1).is_some_and(|next| next.turn <= self.turn) {
            self.current += 1;
        }
        let begin = self.parts[self.current];
        let within = self.turn - begin.turn;
        self.turn = (self.turn + self.turns) % self.all;
        let place =
            if within < begin.again { begin.old + within } else { begin.fresh + within - begin.again };
        self.order.at(place.min(self.order.len() - 1))
    }
}

/// Where the parts begin, and how many turns the pass has.
fn begins(spare: f64, parts: u64, slots: u64) -> (Vec<Begin>, u64) {
    let decay = decay(1.0 / (1.0 + spare));
    let size = (slots as f64 * (1.0 + spare) / parts as f64).max(1.0);
    let (mut begins, mut fresh, mut before) =
        (Vec::new(), 0u64, Begin { turn: 0, fresh: 0, again: 0, old: 0 });
    let mut turn = 0;
    for number in 0..parts {
        let age = 1.0 - (number as f64 - 0.5) / parts as f64;
        // The first part has none before it that could lose anything.
        let lost = if number == 0 { 0.0 } else { size * (1.0 - (-decay * age).exp()) };
        let again = truncated::<u64>(lost.round()).min(fresh - before.fresh);
        let begin = Begin { turn, fresh, again, old: before.fresh };
        begins.push(begin);
        let end = truncated::<u64>((size * (number + 1) as f64).round()).max(turn + again);
        fresh = (fresh + end - turn - again).min(slots);
        turn = turn + again + (fresh - begin.fresh);
        before = begin;
    }
    // What rounding has left.
    turn += slots - fresh;
    assert!(turn >= slots, "a pass writes every block");
    debug_assert!(begins.is_sorted_by_key(|part| (part.turn, part.fresh)), "parts follow each other");
    (begins, turn)
}

/// The k at which the mean of exp(-k x) over x from 0 to 1 is `mean`, between 0 and 1, by bisection.
fn decay(mean: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 50.0f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if (1.0 - (-middle).exp()) / middle > mean { low = middle } else { high = middle }
    }
    low
}
