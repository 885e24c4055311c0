//! What a job asked, request by request, for those who want more than counts.
//!
//! **Invariant:** requests are handed out in the order in which they were asked, and none before it has ended; so what is
//! kept is what was asked since the slowest request that is in flight, and what nobody has taken yet: about a chunk on
//! real storage, a second's requests in a virtual world, which looks when an interval has closed.

use std::collections::VecDeque;

use units::convert::narrow;
use units::{Bytes, Instant, Nanos};

use crate::seam::IoRequest;
use crate::{Op, Token};

/// So many requests are handed out together; what is kept of them takes 160 KiB.
const CHUNK: usize = 4096;

/// One request that was asked and has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When it was handed to the storage.
    pub issued: Instant,
    /// When its end was seen.
    pub finished: Instant,
    /// Distance from the start of the file; zero for a flush.
    pub offset: Bytes,
    /// Bytes asked for; zero for a flush.
    pub len: u32,
    /// Which of the job's files or LUNs; 0 of a tree.
    pub file: u16,
    /// What was asked; in a tree a write is whatever changes it, and a flush what makes changes durable.
    pub op: Op,
    /// Of which of its workload's workers.
    pub worker: u32,
}

impl Logged {
    /// How long it took.
    pub fn service(&self) -> Nanos {
        self.finished.saturating_since(self.issued)
    }
}

/// The requests of a job that were not taken yet.
#[derive(Debug)]
pub(super) struct Journal {
    worker: u32,
    entries: VecDeque<Logged>,
    /// How many were taken before the first of them.
    taken: u64,
    /// The number, from the job's start, of the last request of each slot.
    of_slot: Vec<u64>,
}

impl Journal {
    /// An empty one of that worker's job with so many slots.
    pub fn new(worker: u32, depth: u32) -> Journal {
        let of_slot = vec![0; depth as usize];
        Journal { worker, entries: VecDeque::with_capacity(CHUNK), taken: 0, of_slot }
    }

    /// Takes down requests that are issued now.
    pub fn issued(&mut self, now: Instant, requests: &[impl IoRequest]) {
        debug_assert!(
            self.entries.back().is_none_or(|last| last.issued <= now),
            "requests come in the order of time"
        );
        for request in requests {
            self.of_slot[request.token().0 as usize] = self.taken + self.entries.len() as u64;
            self.entries.push_back(request.logged(now, self.worker));
        }
    }

    /// Takes down the end of the request in that slot.
    pub fn ended(&mut self, token: Token, at: Instant) {
        debug_assert!(
            self.of_slot[token.0 as usize] >= self.taken,
            "a request was handed out before it ended"
        );
        let number = narrow::<usize>(self.of_slot[token.0 as usize] - self.taken);
        debug_assert_eq!(self.entries[number].finished, Instant::NEVER, "a request ends once");
        self.entries[number].finished = at;
    }

    /// Whether it is time to take what has ended.
    pub fn is_full(&self) -> bool {
        let has_ended = |first: &Logged| first.finished != Instant::NEVER;
        self.entries.len() >= CHUNK && self.entries.front().is_some_and(has_ended)
    }

    /// Those that have ended, as far as none before them is in flight.
    pub fn take(&mut self) -> Vec<Logged> {
        let ended = self.entries.iter().take_while(|entry| entry.finished != Instant::NEVER).count();
        self.taken += ended as u64;
        self.entries.drain(..ended).collect()
    }
}
