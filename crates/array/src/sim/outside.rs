//! Requests that come from outside of the simulation, one by one.

use units::Instant;
use workload::{Completion, Request};

/// An initiator that issues what it is handed.
#[derive(Debug, Default)]
pub struct Outside {
    due: Vec<Request>,
    ended: Vec<Completion>,
}

impl Outside {
    /// Has `request` be issued when it is next asked.
    pub fn hand(&mut self, request: Request) {
        self.due.push(request);
    }

    /// Appends what was handed in.
    pub fn plan(&mut self, out: &mut Vec<Request>) {
        out.append(&mut self.due);
    }

    /// Keeps a completion until it is taken.
    pub fn complete(&mut self, done: Completion) {
        debug_assert!(done.finished_at < Instant::NEVER, "what has ended must have ended at some time");
        self.ended.push(done);
    }

    /// Those that have ended since this was last called, in order.
    pub fn take_ended(&mut self) -> std::vec::Drain<'_, Completion> {
        self.ended.drain(..)
    }
}
