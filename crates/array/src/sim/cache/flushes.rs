//! Flushes that wait for stripes to leave.

use std::ops::RangeInclusive;

use super::stripes::Key;

/// How many flushes have come, and those that wait.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    come: u64,
    waiting: Vec<PendingFlush>,
}

/// A flush that waits.
#[derive(Clone, Debug)]
struct PendingFlush {
    place: u32,
    /// How many flushes had come before it.
    number: u64,
    stripes: RangeInclusive<Key>,
    /// Stripes that it waits for.
    left: usize,
}

impl Flushes {
    /// How many have come so far: what is written now is newer than all of them.
    pub fn come(&self) -> u64 {
        self.come
    }

    /// Has the one at `place` wait for `left` of `stripes`.
    pub fn wait(&mut self, place: u32, stripes: RangeInclusive<Key>, left: usize) {
        debug_assert!(left > 0, "a flush that waits for nothing is never told of");
        debug_assert!(
            self.waiting.last().is_none_or(|last| last.number < self.come),
            "flushes must be numbered in the order they came",
        );
        self.waiting.push(PendingFlush { place, number: self.come, stripes, left });
        self.come += 1;
    }

    /// A stripe is with the members, of which the first was written once `since` flushes had come.
    pub fn stripe_left(&mut self, stripe: Key, since: u64) {
        for flush in &mut self.waiting {
            flush.left -= usize::from(since <= flush.number && flush.stripes.contains(&stripe));
        }
    }

    /// Those that need wait no longer go to `released`.
    pub fn drained(&mut self, released: &mut Vec<u32>) {
        released.extend(self.waiting.iter().filter(|flush| flush.left == 0).map(|flush| flush.place));
        self.waiting.retain(|flush| flush.left > 0);
    }

    /// All that wait, to `released`.
    pub fn forsake(&mut self, released: &mut Vec<u32>) {
        released.extend(self.waiting.drain(..).map(|flush| flush.place));
    }
}
