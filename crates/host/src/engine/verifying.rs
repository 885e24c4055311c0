//! Any engine, with stamps on what it writes and an eye on what it reads.
//!
//! Content is summed and data checked between requests, after their end was stamped: a response time includes neither.
//! It is a type of its own, so that a worker that verifies nothing does not ask whether it does.

use std::sync::Arc;

use units::{Bytes, Instant};
use workload::{Completion, Op, Request, Token};

use super::{EngineError, HasPayload, OpenFiles, Wait};
use crate::clock::Clock;
use crate::engine::Engine;
use crate::verify::Checker;

/// The engine and its checker.
#[derive(Debug)]
pub struct Verifying<E> {
    inner: E,
    checker: Checker,
    clock: Clock,
    /// The request of each slot.
    taken: Vec<Request>,
    ended: Vec<Completion>,
}

impl<E: HasPayload> Verifying<E> {
    /// `inner` before its first request.
    pub fn new(mut inner: E, mut checker: Checker, clock: Clock) -> Verifying<E> {
        let depth = inner.payload().depth();
        for slot in 0..depth {
            if let Some(content) = inner.payload().content(slot) {
                checker.renew(slot, content);
            }
        }
        let unused = Request { offset: Bytes::ZERO, len: 0, token: Token(0), file: 0, op: Op::Flush };
        Verifying { inner, checker, clock, taken: vec![unused; depth], ended: Vec::with_capacity(depth) }
    }

    fn conclude(&mut self, done: Completion) -> Completion {
        let slot = done.token.0 as usize;
        let request = self.taken[slot];
        debug_assert_eq!(request.token, done.token, "what ends must have been submitted");
        let payload = self.inner.payload();
        let bytes: &[u8] = if request.op == Op::Read { payload.bytes(&request) } else { &[] };
        let outcome = self.checker.conclude(&request, done.outcome, bytes);
        if let (Op::Write, Some(content)) = (request.op, payload.content(slot)) {
            self.checker.renew(slot, content);
        }
        Completion { outcome, ..done }
    }
}

impl<E: HasPayload> Engine for Verifying<E> {
    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            debug_assert!((request.token.0 as usize) < self.taken.len(), "the job must have the slot");
            self.taken[request.token.0 as usize] = *request;
            let bytes: &mut [u8] =
                if request.op == Op::Write { self.inner.payload().bytes(request) } else { &mut [] };
            self.checker.prepare(request, bytes);
        }
        self.inner.submit(requests)
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        debug_assert!(self.ended.is_empty(), "every completion must have been handed over");
        let mut ended = std::mem::take(&mut self.ended);
        let now = self.inner.wait(wait, &mut |completion| ended.push(completion))?;
        debug_assert!(ended.len() <= self.taken.len(), "a request must end once");
        debug_assert!(
            ended.iter().all(|completion| completion.finished_at <= now),
            "the clock is read after the last one has ended"
        );
        let any = !ended.is_empty();
        ended.drain(..).for_each(|completion| done(self.conclude(completion)));
        self.ended = ended;
        Ok(if any { self.clock.now() } else { now })
    }

    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        self.inner.reopen(files)
    }
}

#[cfg(test)]
mod tests {
    use workload::Outcome;
    use workload::spec::{FlushKind, Verify, Workload};

    use super::*;
    use crate::engine::fixture::{full_of, job, open, payload, request, workload};
    use crate::engine::sync::Call;
    use crate::engine::{AtOnce, Sync};
    use crate::verify::{Books, Checks, Verification};

    /// An engine over a file of that byte, and its clock.
    fn verifying(byte: u8) -> (Verifying<AtOnce<Sync>>, Clock) {
        let (file, clock) = (full_of(byte), Clock::start());
        let books = Arc::new(Books::new(1, Bytes::new(4096)));
        let files = vec![books.ledger(file.path(), Bytes::MIB).expect("books in memory")];
        let asked = Workload { verify: Verify::Written, ..workload(1, 0.5) };
        let checks = Checks::new(&Verification { books, files }, &asked, &job(&asked));
        let inner = Sync::new(clock.clone(), Call::Pread, FlushKind::Fsync, open(&file), payload(1, 0.5));
        (Verifying::new(inner, checks.checker(1), clock.clone()), clock)
    }

    #[test]
    fn the_time_that_comes_back_is_not_before_the_checks_and_files_are_exchanged_below() {
        let (mut engine, clock) = verifying(1);
        let read = request(Op::Read, 0);
        engine.submit(&[read]).expect("nothing can fail");
        let mut seen = None;
        let told = engine.wait(Wait::For(1), &mut |done| seen = Some((done.outcome, clock.now())));
        let (outcome, handed_over) = seen.expect("it has ended");
        assert_eq!(outcome, Outcome::moved(4096), "nobody knows what was there");
        assert!(told.expect("nothing can fail") >= handed_over);
        engine.reopen(open(&full_of(2))).expect("it keeps none open");
        engine.submit(&[read]).expect("nothing can fail");
        engine.wait(Wait::For(1), &mut |_| ()).expect("nothing can fail");
        assert_eq!(engine.inner.payload().bytes(&read)[0], 2);
    }
}
