//! pread and pwrite with a thread for each request in flight: what is left where io_uring is refused.

use std::ops::Add;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use units::Instant;
use workload::spec::{FlushKind, Workload};
use workload::{Completion, JobSpec, Op, Request};

use super::sync::{Call, execute};
use super::{Engine, EngineError, OpenFiles, Payload, Wait};
use crate::clock::Clock;
use crate::monitor::{CpuTime, thread_cpu};
use crate::verify::{Checker, Checks};

/// The I/O thread that owns a slot, and the channel to it.
#[derive(Debug)]
struct IoThread {
    work: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    taken: Arc<CpuCounters>,
}

/// What an I/O thread has taken of the processor since it began to serve: the [figures](CpuTime::figures) of a
/// [`CpuTime`].
#[derive(Debug, Default)]
struct CpuCounters([AtomicU64; 6]);

impl CpuCounters {
    fn store(&self, time: CpuTime) {
        for (counter, figure) in self.0.iter().zip(time.figures()) {
            counter.store(figure, Ordering::Relaxed);
        }
    }

    fn load(&self) -> CpuTime {
        CpuTime::of_figures(self.0.each_ref().map(|counter| counter.load(Ordering::Relaxed)))
    }
}

/// What an I/O thread has for its calls, of which none is deep: 256 KiB.
const STACK: usize = 262_144;

const PANICKED: EngineError = EngineError::Internal { thread: "a thread that carries out requests" };

/// One thread for each slot; the slot's number is its thread's.
#[derive(Debug)]
pub struct ThreadPool {
    clock: Clock,
    io_threads: Vec<IoThread>,
    /// `None`: the I/O thread says that it has panicked, and its request will never end.
    ended: Receiver<Option<Completion>>,
    taken: Vec<Completion>,
    in_flight: usize,
    /// The latest end that was handed over: none that follows is earlier.
    last_end: Instant,
}

impl ThreadPool {
    /// Starts `job.depth` threads, each with its own buffers. Where data is checked, the threads do it before they
    /// report a request, so that its time includes the check.
    pub fn new(
        clock: Clock,
        call: Call,
        workload: &Workload,
        job: &JobSpec,
        files: &Arc<OpenFiles>,
        checks: Option<&Checks>,
    ) -> Result<ThreadPool, EngineError> {
        let (report, ended) = channel();
        let mut io_threads = Vec::with_capacity(job.depth as usize);
        for slot in 0..job.depth {
            let own = JobSpec { depth: 1, name: format!("{}/slot{slot}", job.name), ..job.clone() };
            let payload = Payload::new(workload, &own)?;
            let flush = workload.durability.flush;
            let context =
                IoThreadContext { clock: clock.clone(), call, flush, files: files.clone(), payload };
            let checker = checks.map(|checks| checks.checker(1));
            io_threads.push(IoThread::start(context, checker, report.clone())?);
        }
        assert_eq!(io_threads.len(), job.depth as usize, "each slot must have a thread");
        let taken = Vec::with_capacity(job.depth as usize);
        Ok(ThreadPool { clock, io_threads, ended, taken, in_flight: 0, last_end: Instant::START })
    }

    /// Takes what has ended: at least so many, unless `due` comes first.
    fn receive(&mut self, least: u32, due: Option<Instant>) -> Result<(), EngineError> {
        debug_assert!(self.taken.is_empty(), "every completion must have been handed over");
        let least = self.in_flight.min(least as usize);
        while self.taken.len() < least {
            let left = due.map(|due| due.saturating_since(self.clock.now()).get());
            let one = match left.map(Duration::from_nanos) {
                None => self.ended.recv().ok(),
                Some(left) => self.ended.recv_timeout(left).ok(),
            };
            let Some(one) = one else { return Ok(()) };
            self.taken.push(one.ok_or(PANICKED)?);
        }
        Ok(())
    }
}

/// All that an I/O thread works with.
struct IoThreadContext {
    clock: Clock,
    call: Call,
    flush: FlushKind,
    files: Arc<OpenFiles>,
    payload: Payload,
}

impl IoThreadContext {
    /// Carries `request` out and stamps its end here: a completion that waits to be taken is not late for that.
    fn execute(&mut self, request: &Request, checker: Option<&mut Checker>) -> Completion {
        debug_assert_eq!(
            self.payload.depth(),
            1,
            "an I/O thread owns one slot, whose buffer has the number 0"
        );
        let own = Request { token: workload::Token(0), ..*request };
        let bytes = self.payload.bytes(&own);
        let outcome = match checker {
            None => execute(self.call, self.flush, &self.files, &own, bytes),
            Some(checker) => {
                checker.prepare(&own, bytes);
                let outcome = execute(self.call, self.flush, &self.files, &own, bytes);
                checker.conclude(&own, outcome, bytes)
            }
        };
        Completion { token: request.token, outcome, finished_at: self.clock.now() }
    }

    /// Tells the checker of new content.
    fn renew(&mut self, checker: Option<&mut Checker>) {
        if let (Some(checker), Some(content)) = (checker, self.payload.content(0)) {
            checker.renew(0, content);
        }
    }
}

impl IoThread {
    fn start(
        mut context: IoThreadContext,
        mut checker: Option<Checker>,
        report: Sender<Option<Completion>>,
    ) -> Result<IoThread, EngineError> {
        let (work, requests) = channel::<Request>();
        let taken = Arc::new(CpuCounters::default());
        let ledger = taken.clone();
        let mut serve = move |report: &Sender<Option<Completion>>| {
            let began = thread_cpu();
            context.renew(checker.as_mut());
            for request in &requests {
                crate::fault::here("hand");
                let ended = context.execute(&request, checker.as_mut());
                if report.send(Some(ended)).is_err() {
                    return;
                }
                if request.op == Op::Write {
                    context.payload.refill(0);
                    context.renew(checker.as_mut());
                }
                ledger.store(thread_cpu().since(began));
            }
        };
        let serve = move || {
            if catch_unwind(AssertUnwindSafe(|| serve(&report))).is_err() {
                // The worker may have gone for another reason.
                let _unheard = report.send(None);
            }
        };
        let thread =
            std::thread::Builder::new().name("fathom-io".into()).stack_size(STACK).spawn(serve).map_err(
                |source| EngineError::System { call: "clone (a thread for each request)", source },
            )?;
        Ok(IoThread { work: Some(work), thread: Some(thread), taken })
    }
}

impl Engine for ThreadPool {
    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            let io_thread = &self.io_threads[request.token.0 as usize];
            let work = io_thread.work.as_ref().expect("the channels close only on drop");
            work.send(*request).map_err(|_| PANICKED)?;
            debug_assert!(self.in_flight < self.io_threads.len(), "a slot must have one request at a time");
            self.in_flight += 1;
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        match wait {
            Wait::Until(due, _) if self.in_flight == 0 => self.clock.sleep_until(due),
            Wait::Until(due, least) => self.receive(least, Some(due))?,
            Wait::For(least) => self.receive(least, None)?,
            Wait::No => {}
        }
        for one in self.ended.try_iter() {
            self.taken.push(one.ok_or(PANICKED)?);
        }
        debug_assert!(self.taken.len() <= self.in_flight, "a request must end once");
        self.in_flight -= self.taken.len();
        self.taken.sort_unstable_by_key(|ended| ended.finished_at);
        for ended in self.taken.drain(..) {
            debug_assert!(ended.finished_at <= self.clock.now(), "nothing can have ended later than now");
            self.last_end = self.last_end.max(ended.finished_at);
            done(Completion { finished_at: self.last_end, ..ended });
        }
        Ok(self.clock.now())
    }

    fn helpers_cpu(&self) -> CpuTime {
        self.io_threads.iter().map(|io_thread| io_thread.taken.load()).fold(CpuTime::default(), Add::add)
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.io_threads.iter_mut().for_each(|io_thread| drop(io_thread.work.take()));
        for io_thread in &mut self.io_threads {
            if let Some(thread) = io_thread.thread.take() {
                // One that panicked has said so.
                let _panicked = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use units::Bytes;
    use workload::{Outcome, Token};

    use units::Nanos;

    use super::*;
    use crate::engine::fixture::{full_of, job, open, request, workload};

    /// A pool without a thread, with so many requests in flight; their ends come from the test.
    fn fed(in_flight: usize) -> (ThreadPool, Sender<Option<Completion>>) {
        let (report, ended) = channel();
        let (clock, last_end) = (Clock::start(), Instant::START);
        (ThreadPool { clock, io_threads: Vec::new(), ended, taken: Vec::new(), in_flight, last_end }, report)
    }

    fn ended(slot: u32, finished_at: Instant) -> Option<Completion> {
        Some(Completion { token: Token(slot), outcome: Outcome::moved(4096), finished_at })
    }

    /// What a wait hands over.
    fn told(pool: &mut ThreadPool, wait: Wait) -> Vec<(u32, Instant)> {
        let mut told = Vec::new();
        pool.wait(wait, &mut |done| told.push((done.token.0, done.finished_at))).expect("no thread panicked");
        told
    }

    #[test]
    fn ends_are_handed_over_in_their_order_and_none_before_one_that_was() {
        let (mut pool, report) = fed(3);
        let times: Vec<Instant> = (0..3).map(|_| pool.clock.now()).collect();
        for slot in [2, 1] {
            report.send(ended(slot, times[slot as usize])).expect("the pool hears");
        }
        assert_eq!(told(&mut pool, Wait::No), [(1, times[1]), (2, times[2])]);
        report.send(ended(0, times[0])).expect("the pool hears");
        assert_eq!(told(&mut pool, Wait::No), [(0, times[2])], "it is told late, and so counts as late");
        assert_eq!(pool.in_flight, 0);
    }

    #[test]
    fn a_wait_is_for_as_many_as_are_asked_for_and_in_flight_and_not_past_its_time() {
        let (mut pool, report) = fed(3);
        let clock = pool.clock.clone();
        let after = |time| clock.now().saturating_add(time);
        let answer = std::thread::spawn({
            let (clock, report) = (clock.clone(), report.clone());
            move || {
                for slot in [0, 1] {
                    clock.sleep_until(clock.now().saturating_add(Nanos::from_millis(10)));
                    report.send(ended(slot, clock.now())).expect("the pool hears");
                }
            }
        });
        assert_eq!(told(&mut pool, Wait::For(2)).len(), 2);
        answer.join().expect("it told");
        // One is in flight, and does not end in time.
        let due = after(Nanos::from_millis(5));
        assert_eq!(told(&mut pool, Wait::Until(due, 1)), []);
        assert!(clock.now() >= due);
        // It ends before the time: so does the wait, although more were asked for.
        report.send(ended(2, clock.now())).expect("the pool hears");
        let far = after(Nanos::from_secs(30));
        assert_eq!(told(&mut pool, Wait::Until(far, 4)).len(), 1);
        assert!(clock.now() < far);
        // With nothing in flight until the time, or not at all.
        let due = after(Nanos::from_millis(5));
        assert_eq!(told(&mut pool, Wait::Until(due, 1)), []);
        assert!(clock.now() >= due);
        assert_eq!(told(&mut pool, Wait::For(1)), []);
    }

    #[test]
    fn a_thread_that_panicked_ends_the_wait_and_what_threads_took_is_summed() {
        let (mut pool, report) = fed(1);
        report.send(None).expect("the pool hears");
        let error = pool.wait(Wait::For(1), &mut |_| panic!("nothing ended")).expect_err("it panicked");
        assert!(matches!(error, EngineError::Internal { .. }), "{error}");
        for figures in [[3, 50, 1, 0, 2, 9], [4, 70, 5, 1, 0, 1]] {
            let taken = CpuCounters::default();
            taken.store(CpuTime::of_figures(figures));
            pool.io_threads.push(IoThread { work: None, thread: None, taken: Arc::new(taken) });
        }
        assert_eq!(pool.helpers_cpu().figures(), [7, 120, 6, 1, 2, 10]);
        assert!(pool.reopen(Arc::new(OpenFiles(Vec::new()))).is_err(), "each thread has its files");
    }

    #[test]
    fn each_write_of_a_slot_has_content_of_its_own_and_no_thread_outlives_the_pool() {
        let file = full_of(0);
        let files = open(&file);
        let workload = workload(16, 0.5);
        let mut pool = ThreadPool::new(Clock::start(), Call::Pread, &workload, &job(&workload), &files, None)
            .expect("there is room for 16 threads");
        let mut blocks = Vec::new();
        for block in 0..4 {
            let write = Request { offset: Bytes::new(block * 4096), ..request(Op::Write, 15) };
            pool.submit(&[write]).expect("the thread lives");
            assert_eq!(told(&mut pool, Wait::For(1)).len(), 1);
            let mut written = vec![0; 4096];
            file.as_file().read_exact_at(&mut written, block * 4096).expect("it is there");
            assert!(written.iter().any(|byte| *byte != 0) && !blocks.contains(&written), "block {block}");
            blocks.push(written);
        }
        drop(pool);
        assert_eq!(Arc::strong_count(&files), 1);
    }
}
