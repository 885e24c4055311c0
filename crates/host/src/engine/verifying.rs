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
use crate::monitor::CpuTime;
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
        let any = !ended.is_empty();
        ended.drain(..).for_each(|completion| done(self.conclude(completion)));
        self.ended = ended;
        Ok(if any { self.clock.now() } else { now })
    }

    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        self.inner.reopen(files)
    }

    fn helpers_cpu(&self) -> CpuTime {
        self.inner.helpers_cpu()
    }
}
