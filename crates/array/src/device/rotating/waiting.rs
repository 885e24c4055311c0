//! The commands that wait at a drive: those it sees, and the rest in order of arrival.
//!
//! **Invariant:** the rest is empty unless the window is full.

use std::collections::VecDeque;

use units::Nanos;

use super::layout::SectorPosition;
use crate::device::Command;
use crate::least::first_of_least;
use crate::meter::Class;

/// A command that waits.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What is asked.
    pub command: Command,
    /// Where its first sector lies.
    pub place: SectorPosition,
    /// When it came, in nanoseconds.
    pub arrived: u64,
    /// From when on the drive sees it: a command that waits in front of a full window does not age.
    pub seen: u64,
}

/// Commands that wait: those the drive sees, and the rest in order of arrival.
#[derive(Clone, Debug)]
pub struct Waiting {
    window: Vec<Entry>,
    rest: VecDeque<Entry>,
    limit: usize,
    age_limit: u64,
}

impl Waiting {
    /// None, with a drive that sees `window` at once and serves first what has waited for longer than `age_limit`.
    pub fn new(window: u32, age_limit: Option<Nanos>) -> Waiting {
        let limit = window.max(1) as usize;
        let age_limit = age_limit.map_or(u64::MAX, Nanos::get);
        Waiting { window: Vec::with_capacity(limit), rest: VecDeque::new(), limit, age_limit }
    }

    /// Adds the command that came last.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if self.window.len() < self.limit {
            self.window.push(entry);
        } else {
            self.rest.push_back(entry);
        }
        debug_assert!(self.is_consistent(), "the rest must be empty unless the window is full");
    }

    /// The one that the drive sees at a place.
    pub fn seen(&self, index: usize) -> &Entry {
        &self.window[index]
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.window.len() + self.rest.len()
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// All of them, those that the drive sees first.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.window.iter().chain(&self.rest)
    }

    /// Takes one that the drive sees, by its place there; the drive sees the next of the rest from `now` on.
    #[inline]
    pub fn take(&mut self, index: usize, now: u64) -> Entry {
        let entry = self.window.swap_remove(index);
        self.window.extend(self.rest.pop_front().map(|next| Entry { seen: now, ..next }));
        debug_assert!(self.is_consistent(), "the rest must be empty unless the window is full");
        entry
    }

    fn is_consistent(&self) -> bool {
        self.window.len() <= self.limit && (self.rest.is_empty() || self.window.len() == self.limit)
    }

    /// The place of the one that the drive has seen for longest, if that is too long.
    pub fn overdue(&self, now: u64) -> Option<usize> {
        if self.age_limit == u64::MAX {
            return None;
        }
        let oldest = first_of_least(self.window.iter().map(|entry| entry.seen))
            .expect("there must be a command to choose");
        (now.saturating_sub(self.window[oldest].seen) > self.age_limit).then_some(oldest)
    }

    /// When the oldest of a class that the drive sees arrived; [`u64::MAX`] where it sees none.
    pub fn first_of(&self, class: Class) -> u64 {
        let of_class = self.window.iter().filter(|entry| entry.command.class == class);
        of_class.map(|entry| entry.arrived).min().unwrap_or(u64::MAX)
    }

    /// The place of the one with the smallest cost, of those that the drive sees; of equal ones, of the one that came
    /// first. `cost` gets the smallest so far: for a command that costs more it need not compute how much more.
    #[inline]
    pub fn least(&self, cost: impl Fn(&Entry, u64) -> u64) -> usize {
        debug_assert!(!self.window.is_empty(), "there must be a command to choose");
        if self.window.len() == 1 {
            return 0;
        }
        let mut best = (0, u64::MAX, u64::MAX);
        for (index, entry) in self.window.iter().enumerate() {
            let cost = cost(entry, best.1);
            if (cost, entry.arrived) < (best.1, best.2) {
                best = (index, cost, entry.arrived);
            }
        }
        best.0
    }
}
