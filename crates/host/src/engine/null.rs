//! The engine that does nothing: what the tool itself can do.

use std::sync::Arc;

use units::Instant;
use workload::{Completion, Outcome, Request};

use super::{Engine, EngineError, OpenFiles, Wait};
use crate::clock::Clock;

/// Completes every request at once.
#[derive(Debug)]
pub struct Null {
    clock: Clock,
    taken: Vec<Request>,
}

impl Null {
    /// For a job of `depth`.
    pub fn new(clock: Clock, depth: u32) -> Null {
        assert!(depth > 0, "a job must have a slot");
        Null { clock, taken: Vec::with_capacity(depth as usize) }
    }
}

impl Engine for Null {
    fn reopen(&mut self, _: Arc<OpenFiles>) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        debug_assert!(
            self.taken.len() + requests.len() <= self.taken.capacity(),
            "no more may be in flight than there are slots",
        );
        self.taken.extend_from_slice(requests);
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        if let (true, Wait::Until(due, _)) = (self.taken.is_empty(), wait) {
            self.clock.sleep_until(due);
        }
        let finished_at = self.clock.now();
        for request in self.taken.drain(..) {
            done(Completion { token: request.token, outcome: Outcome::moved(request.len), finished_at });
        }
        Ok(finished_at)
    }
}
