//! Engines that carry a request out as it is handed over, so that only depth 1 makes sense.

use std::sync::Arc;

use units::Instant;
use workload::{Completion, Op, Outcome, Request};

use super::{Engine, EngineError, HasPayload, OpenFiles, Payload, Wait, keeps_files};
use crate::clock::Clock;

/// Carries out one request after the other.
pub trait Carrier {
    /// One request from start to end; `bytes` is its data.
    fn execute(&mut self, request: &Request, bytes: &mut [u8]) -> Outcome;

    /// As [`Engine::reopen`].
    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        keeps_files(files)
    }
}

/// An engine whose requests are carried out when they are submitted, one after the other; completions are kept until they
/// are asked for.
#[derive(Debug)]
pub struct AtOnce<C> {
    clock: Clock,
    payload: Payload,
    ended: Vec<(Request, Outcome)>,
    carrier: C,
}

impl<C> AtOnce<C> {
    pub(super) fn new(clock: Clock, payload: Payload, carrier: C) -> AtOnce<C> {
        AtOnce { clock, payload, ended: Vec::new(), carrier }
    }
}

impl<C: Carrier> HasPayload for AtOnce<C> {
    fn payload(&mut self) -> &mut Payload {
        &mut self.payload
    }
}

impl<C: Carrier> Engine for AtOnce<C> {
    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            debug_assert!(
                self.ended.iter().all(|(other, _)| other.token != request.token),
                "a slot must have one request at a time"
            );
            let outcome = self.carrier.execute(request, self.payload.bytes(request));
            self.ended.push((*request, outcome));
        }
        Ok(())
    }

    /// Hands all of them over, stamped after the last one ended, and makes new content for slots that wrote.
    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        if let (true, Wait::Until(due, _)) = (self.ended.is_empty(), wait) {
            self.clock.sleep_until(due);
        }
        let finished_at = self.clock.now();
        let mut wrote = false;
        for (request, outcome) in self.ended.drain(..) {
            done(Completion { token: request.token, outcome, finished_at });
            if request.op == Op::Write {
                self.payload.refill(request.token.0 as usize);
                wrote = true;
            }
        }
        Ok(if wrote { self.clock.now() } else { finished_at })
    }

    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        self.carrier.reopen(files)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;
    use workload::Token;

    use super::*;
    use crate::engine::fixture::{payload, request};

    /// Writes all and reads 512 bytes.
    struct Half;

    impl Carrier for Half {
        fn execute(&mut self, request: &Request, _: &mut [u8]) -> Outcome {
            Outcome::moved(if request.op == Op::Write { request.len } else { 512 })
        }
    }

    #[test]
    fn a_slot_has_new_content_once_its_write_has_been_handed_over_and_no_other_slot_has() {
        let clock = Clock::start();
        let mut engine = AtOnce::new(clock.clone(), payload(3, 0.5), Half);
        let contents = |engine: &mut AtOnce<Half>| -> Vec<Vec<u8>> {
            (0..3).map(|slot| engine.payload().content(slot).expect("it writes").to_vec()).collect()
        };
        let before = contents(&mut engine);
        assert!(before[0] != before[1] && before[1] != before[2]);
        engine.submit(&[request(Op::Write, 1), request(Op::Read, 2)]).expect("nothing can fail");
        let mut seen = Vec::new();
        let asked_at = clock.now();
        let until = Wait::Until(asked_at.saturating_add(Nanos::from_secs(60)), 1);
        let now = engine.wait(until, &mut |done| seen.push(done)).expect("nothing can fail");
        let told: Vec<_> = seen.iter().map(|done| (done.token, done.outcome)).collect();
        assert_eq!(told, [(Token(1), Outcome::moved(4096)), (Token(2), Outcome::moved(512))]);
        assert!(seen.iter().all(|done| done.finished_at >= asked_at && done.finished_at <= now));
        assert!(now < asked_at.saturating_add(Nanos::from_secs(30)), "something had ended: no waiting");
        let after = contents(&mut engine);
        assert_eq!([0, 1, 2].map(|slot| before[slot] == after[slot]), [true, false, true]);
        // With nothing that has ended, until the time.
        let due = clock.now().saturating_add(Nanos::from_millis(3));
        let now = engine.wait(Wait::Until(due, 1), &mut |_| panic!("none")).expect("nothing can fail");
        assert!(now >= due);
        engine.wait(Wait::For(1), &mut |_| panic!("none")).expect("nothing can fail");
    }
}
