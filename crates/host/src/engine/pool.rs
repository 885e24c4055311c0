//! pread and pwrite with a thread for each request in flight: what is left where io_uring is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use units::{Instant, Nanos};
use workload::spec::{FlushKind, Workload};
use workload::{Completion, JobSpec, Op, Outcome, Request};

use super::sync::{Call, carry_out};
use super::{Engine, EngineError, OpenFiles, Payload, Wait};
use crate::clock::Clock;
use crate::monitor::{CpuTime, thread_cpu};
use crate::verify::{Checker, Checks};

/// The thread that owns a slot, and its door.
#[derive(Debug)]
struct Hand {
    work: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    taken: Arc<Taken>,
}

/// Processor time a hand has taken since it began to serve, in nanoseconds.
#[derive(Debug, Default)]
struct Taken {
    user: AtomicU64,
    system: AtomicU64,
}

/// One thread for each slot; the slot's number is its thread's.
#[derive(Debug)]
pub struct Pool {
    clock: Clock,
    hands: Vec<Hand>,
    ended: Receiver<(Request, Outcome)>,
    batch: Vec<(Request, Outcome)>,
    in_flight: usize,
}

impl Pool {
    /// Starts `job.depth` threads, each with its own buffers. Where data is checked, the threads do it before they
    /// report a request, so that its time includes the check.
    pub fn new(
        clock: Clock,
        call: Call,
        workload: &Workload,
        job: &JobSpec,
        files: &Arc<OpenFiles>,
        checks: Option<&Checks>,
    ) -> Result<Pool, EngineError> {
        let (report, ended) = channel();
        let mut hands = Vec::with_capacity(job.depth as usize);
        for slot in 0..job.depth {
            let own = JobSpec { depth: 1, name: format!("{}/slot{slot}", job.name), ..job.clone() };
            let payload = Payload::new(workload, &own)?;
            let desk = Desk { call, flush: workload.durability.flush, files: files.clone(), payload };
            let checker = checks.map(|checks| checks.checker(1));
            hands.push(Hand::start(desk, checker, report.clone())?);
        }
        let batch = Vec::with_capacity(job.depth as usize);
        Ok(Pool { clock, hands, ended, batch, in_flight: 0 })
    }

    fn receive(&self, wait: Wait) -> Option<(Request, Outcome)> {
        let Wait::Until(due) = wait else { return self.ended.recv().ok() };
        let left = Duration::from_nanos(due.saturating_since(self.clock.now()).get());
        self.ended.recv_timeout(left).ok()
    }
}

/// All that a hand works with.
struct Desk {
    call: Call,
    flush: FlushKind,
    files: Arc<OpenFiles>,
    payload: Payload,
}

impl Desk {
    fn carry_out(&mut self, request: &Request, checker: Option<&mut Checker>) -> Outcome {
        let bytes = self.payload.bytes(request);
        let Some(checker) = checker else {
            return carry_out(self.call, self.flush, &self.files, request, bytes);
        };
        checker.prepare(request, bytes);
        let outcome = carry_out(self.call, self.flush, &self.files, request, bytes);
        checker.conclude(request, outcome, bytes)
    }

    /// Tells the checker of new content.
    fn renew(&mut self, checker: Option<&mut Checker>) {
        if let (Some(checker), Some(content)) = (checker, self.payload.content(0)) {
            checker.renew(0, content);
        }
    }
}

impl Hand {
    fn start(
        mut desk: Desk,
        mut checker: Option<Checker>,
        report: Sender<(Request, Outcome)>,
    ) -> Result<Hand, EngineError> {
        let (work, requests) = channel::<Request>();
        let taken = Arc::new(Taken::default());
        let ledger = taken.clone();
        let serve = move || {
            let began = thread_cpu();
            desk.renew(checker.as_mut());
            for request in requests {
                // The hand owns one slot, so its only buffer has the number 0.
                let own = Request { token: workload::Token(0), ..request };
                let outcome = desk.carry_out(&own, checker.as_mut());
                if report.send((request, outcome)).is_err() {
                    return;
                }
                if request.op == Op::Write {
                    desk.payload.refill(0);
                    desk.renew(checker.as_mut());
                }
                let so_far = thread_cpu().since(began);
                ledger.user.store(so_far.user.get(), Ordering::Relaxed);
                ledger.system.store(so_far.system.get(), Ordering::Relaxed);
            }
        };
        let thread =
            std::thread::Builder::new().name("fathom-io".into()).stack_size(256 << 10).spawn(serve).map_err(
                |source| EngineError::System { call: "clone (a thread for each request)", source },
            )?;
        Ok(Hand { work: Some(work), thread: Some(thread), taken })
    }
}

impl Engine for Pool {
    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            let hand = &self.hands[request.token.0 as usize];
            let work = hand.work.as_ref().expect("doors close only on drop");
            work.send(*request).expect("a hand ends only after its door");
            self.in_flight += 1;
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        match wait {
            Wait::Until(due) if self.in_flight == 0 => self.clock.sleep_until(due),
            Wait::Completion | Wait::Until(_) if self.in_flight > 0 => self.batch.extend(self.receive(wait)),
            _ => {}
        }
        self.batch.extend(self.ended.try_iter());
        // Read after the last one was taken: a stamp may be late, never early.
        let finished_at = self.clock.now();
        self.in_flight -= self.batch.len();
        for (request, outcome) in self.batch.drain(..) {
            done(Completion { token: request.token, outcome, finished_at });
        }
        Ok(finished_at)
    }

    fn helpers_cpu(&self) -> CpuTime {
        CpuTime { user: self.sum(|taken| &taken.user), system: self.sum(|taken| &taken.system) }
    }
}

impl Pool {
    fn sum(&self, of: fn(&Taken) -> &AtomicU64) -> Nanos {
        Nanos::new(self.hands.iter().map(|hand| of(&hand.taken).load(Ordering::Relaxed)).sum())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.hands.iter_mut().for_each(|hand| drop(hand.work.take()));
        for hand in &mut self.hands {
            if let Some(thread) = hand.thread.take() {
                let ended = thread.join();
                debug_assert!(ended.is_ok(), "a hand does not panic");
            }
        }
    }
}
