//! Workers on real storage: set up, started together, watched, and gathered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use units::convert::narrow;
use units::{Instant, Nanos};
use workload::spec::{Verify, Workload};
use workload::steady::SteadyWatch;
use workload::tally::{Interval, Tally};
use workload::{FlowTotals, Job, JobSpec, Logged, Progress, Verified};

use crate::clock::Clock;
use crate::driver::{DriverHooks, LiveProgress, drive};
use crate::engine::{
    EngineChoice, EngineError, FileRef, HasPayload, Mmap, Null, OpenFiles, Payload, Stdio, Sync, ThreadPool,
    UringOptions, UringRing, Verifying, choose, open_files,
};
use crate::environment::{self, UringState};
use crate::monitor::{CpuTime, thread_cpu};
use crate::placement::place;
use crate::sysroot::SysRoot;
use crate::unwinding::StopOnPanic;
use crate::verify::{Checks, Verification};

/// One workload with its workers' specifications and the files they use.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// What is asked.
    pub workload: Workload,
    /// Of whom: one for each worker.
    pub jobs: Vec<JobSpec>,
    /// Files and devices by their numbers in requests.
    pub files: Vec<FileRef>,
    /// What was written to them so far; `None` where nothing of the run is held against it.
    pub verify: Option<Verification>,
    /// Whether its requests are told one by one.
    pub is_logged: bool,
}

/// How an engine came to be, for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineReport {
    /// Its name.
    pub name: &'static str,
    /// Flags and settings in words.
    pub details: Vec<String>,
    /// Why it is not the best one.
    pub fallback: Option<String>,
}

/// What one worker saw.
#[derive(Debug)]
pub struct WorkerOutcome {
    /// Its workload's position.
    pub workload: usize,
    /// Its own number within it.
    pub worker: u32,
    /// Counts and histograms.
    pub tally: Tally,
    /// Processor time between start and end of the load, of its thread and of those that work for it.
    pub time: CpuTime,
    /// What it held against what had been written; `None` where nothing was to be.
    pub verified: Option<Verified>,
    /// How its engine came to be.
    pub engine: EngineReport,
}

/// What happens while the load runs.
#[derive(Debug)]
pub enum LoadEvent<'a> {
    /// All workers are ready and start at that instant; their thread ids, for monitors.
    Started(Instant, &'a [i32]),
    /// Intervals that a worker of that workload closed.
    Intervals(usize, Vec<Interval>),
    /// Requests of a worker of that workload; the last of them are in its tally.
    Logged(usize, Vec<Logged>),
    /// Sums over all workers, several times a second.
    Progress(Progress),
}

const TICK: Duration = Duration::from_millis(100);

/// Runs all workers of all `assignments` together until they are done or `stop` is set.
///
/// Fails before the first request if any worker cannot be set up. A worker whose engine breaks later ends the
/// load of all; its error comes back.
pub fn run(
    assignments: &[Assignment],
    clock: &Clock,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(LoadEvent<'_>),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let refusal = match environment::uring(&SysRoot::real()) {
        UringState::Allowed { .. } => None,
        UringState::Refused { why } => Some(why),
    };
    let opened: Vec<Arc<OpenFiles>> = assignments
        .iter()
        .map(|each| open_files(&each.workload, &each.files).map(Arc::new))
        .collect::<Result<_, _>>()?;
    let workers: u32 = assignments.iter().map(|each| narrow::<u32>(each.jobs.len())).sum();
    let lives: Vec<LiveProgress> = (0..workers).map(|_| LiveProgress::default()).collect();
    let (end_all, flows) = (AtomicBool::new(false), Arc::new(FlowTotals::default()));
    let watch = |each: &Assignment| each.workload.stop.steady.map(SteadyWatch::new);
    let mut watches: Vec<Option<SteadyWatch>> = assignments.iter().map(watch).collect();
    let mut on_load_event = |one: LoadEvent<'_>| {
        if let LoadEvent::Intervals(workload, intervals) = &one
            && watches[*workload].as_mut().is_some_and(|watch| watch.take(intervals))
        {
            end_all.store(true, Ordering::Relaxed);
        }
        on_event(one);
    };
    std::thread::scope(|scope| {
        let (mut pool, report, reports) = WorkerPool::new();
        let mut lives_left = lives.iter();
        for (index, assignment) in assignments.iter().enumerate() {
            for job in &assignment.jobs {
                let context = WorkerContext {
                    workload: index,
                    assignment,
                    job,
                    files: opened[index].clone(),
                    refusal: refusal.as_deref(),
                    clock,
                    stop,
                    end_all: &end_all,
                    flows: &flows,
                    live: lives_left.next().expect("one for each worker"),
                    report: report.clone(),
                };
                pool.spawn(scope, report.clone(), move |gate| context.work(gate))?;
            }
        }
        drop(report);
        pool.supervise(clock, stop, &lives, &reports, &mut on_load_event);
        pool.join()
    })
}

/// A message of a worker.
pub(crate) enum WorkerMessage {
    /// It is set up; its thread's id.
    Ready(i32),
    /// It ends with an error.
    Broken,
    /// It has closed intervals of that workload.
    Intervals(usize, Vec<Interval>),
    /// Requests of that workload have ended.
    Logged(usize, Vec<Logged>),
}

/// What a worker sends its messages with.
#[derive(Clone)]
pub(crate) struct WorkerSender(Sender<WorkerMessage>);

impl WorkerSender {
    /// Sends it to the supervisor, which may have ended after another worker broke.
    pub fn send(&self, report: WorkerMessage) {
        let _unheard = self.0.send(report);
    }
}

/// The threads and the gates that hold them until all are ready.
pub(crate) struct WorkerPool<'scope> {
    threads: Vec<ScopedJoinHandle<'scope, Result<WorkerOutcome, EngineError>>>,
    gates: Vec<Sender<Instant>>,
}

impl<'scope> WorkerPool<'scope> {
    /// An empty pool, what its workers send messages with, and where these arrive.
    pub fn new() -> (WorkerPool<'scope>, WorkerSender, Receiver<WorkerMessage>) {
        let (report, reports) = channel();
        (WorkerPool { threads: Vec::new(), gates: Vec::new() }, WorkerSender(report), reports)
    }

    /// One more worker, which waits at the gate it is given until it may start. Should it panic, the others end.
    /// Fails where the system has no thread for it.
    pub fn spawn<'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        report: WorkerSender,
        work: impl FnOnce(&Receiver<Instant>) -> Result<WorkerOutcome, EngineError> + Send + 'scope,
    ) -> Result<(), EngineError> {
        let (gate, opened) = channel();
        let work = move || {
            catch_unwind(AssertUnwindSafe(|| work(&opened))).unwrap_or_else(|_| {
                report.send(WorkerMessage::Broken);
                Err(EngineError::Internal { thread: "a worker" })
            })
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, work);
        self.threads.push(thread.map_err(|source| EngineError::System { call: "clone (a worker)", source })?);
        self.gates.push(gate);
        Ok(())
    }

    /// Waits until all are ready, starts them, and passes events on until the last one has hung up.
    pub fn supervise(
        &mut self,
        clock: &Clock,
        stop: &AtomicBool,
        lives: &[LiveProgress],
        reports: &Receiver<WorkerMessage>,
        on_event: &mut dyn FnMut(LoadEvent<'_>),
    ) {
        // Should `on_event` panic, the workers would go on to the end of their jobs.
        let _workers = StopOnPanic(stop);
        assert_eq!(lives.len(), self.threads.len(), "each worker must have counters of its own");
        assert_eq!(self.gates.len(), self.threads.len(), "each worker must have a gate");
        let mut tids = Vec::with_capacity(self.threads.len());
        while tids.len() < self.threads.len() {
            match reports.recv() {
                Ok(WorkerMessage::Ready(tid)) => tids.push(tid),
                // Dropping the gates ends all workers.
                Ok(WorkerMessage::Broken) | Err(_) => return self.gates.clear(),
                Ok(WorkerMessage::Intervals(..) | WorkerMessage::Logged(..)) => {
                    unreachable!("nobody has started")
                }
            }
        }
        let start = clock.now().saturating_add(start_ahead(tids.len()));
        on_event(LoadEvent::Started(start, &tids));
        for gate in self.gates.drain(..) {
            gate.send(start).expect("the worker waits at its gate");
        }
        loop {
            match reports.recv_timeout(TICK) {
                Ok(WorkerMessage::Intervals(workload, intervals)) => {
                    on_event(LoadEvent::Intervals(workload, intervals));
                }
                Ok(WorkerMessage::Logged(workload, requests)) => {
                    on_event(LoadEvent::Logged(workload, requests));
                }
                Ok(WorkerMessage::Broken) => stop.store(true, Ordering::Relaxed),
                Ok(WorkerMessage::Ready(_)) => unreachable!("all were ready before the start"),
                Err(RecvTimeoutError::Timeout) => on_event(LoadEvent::Progress(sum(lives))),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Every worker's outcome, or the first error.
    pub fn join(self) -> Result<Vec<WorkerOutcome>, EngineError> {
        let internal = || Err(EngineError::Internal { thread: "a worker" });
        self.threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| internal())).collect()
    }
}

/// That many workers wake at their gates within this time, so that the last one is not late: a wake-up takes some tens
/// of microseconds, and many share a processor. At most 2 ms, since each point of a plan waits for it.
fn start_ahead(workers: usize) -> Nanos {
    Nanos::from_micros(200 + 25 * workers as u64).min(Nanos::from_millis(2))
}

fn sum(lives: &[LiveProgress]) -> Progress {
    lives.iter().map(LiveProgress::progress).fold(Progress::default(), |sum, one| Progress {
        ops: sum.ops + one.ops,
        bytes: sum.bytes + one.bytes,
        errors: sum.errors + one.errors,
        in_flight: sum.in_flight + one.in_flight,
    })
}

/// All that a worker needs.
struct WorkerContext<'a> {
    workload: usize,
    assignment: &'a Assignment,
    job: &'a JobSpec,
    files: Arc<OpenFiles>,
    refusal: Option<&'a str>,
    clock: &'a Clock,
    stop: &'a AtomicBool,
    end_all: &'a AtomicBool,
    flows: &'a Arc<FlowTotals>,
    live: &'a LiveProgress,
    report: WorkerSender,
}

impl WorkerContext<'_> {
    /// A worker's life. Says `Broken` before it ends with an error.
    fn work(self, gate: &Receiver<Instant>) -> Result<WorkerOutcome, EngineError> {
        let outcome = self.set_up_and_run(gate);
        if outcome.is_err() {
            self.report.send(WorkerMessage::Broken);
        }
        outcome
    }

    fn set_up_and_run(&self, gate: &Receiver<Instant>) -> Result<WorkerOutcome, EngineError> {
        let Assignment { workload, .. } = self.assignment;
        place(&workload.engine, self.job.worker.index)?;
        let (chosen, fallback) = choose(workload, self.refusal)?;
        let mut outcome = self.idle(chosen, fallback);
        let (clock, files) = (self.clock.clone(), self.files.clone());
        let flush = workload.durability.flush;
        let payload = || Payload::new(workload, self.job);
        let checks = self.assignment.verify.as_ref();
        let checks = checks.filter(|_| workload.verify != Verify::None || workload.changes_data());
        let checks = checks.map(|known| Checks::new(known, workload, self.job));
        match chosen {
            EngineChoice::Null => self.run(&mut Null::new(clock, self.job.depth), gate, &mut outcome)?,
            EngineChoice::Sync(call) => {
                let engine = Sync::new(clock, call, flush, files, payload()?);
                self.run_with(engine, checks.as_ref(), gate, &mut outcome)?;
            }
            EngineChoice::Pool(call) => {
                let mut pool = ThreadPool::new(clock, call, workload, self.job, &files, checks.as_ref())?;
                self.run(&mut pool, gate, &mut outcome)?;
            }
            EngineChoice::Mmap => {
                let writes = workload.changes_data();
                let engine = Mmap::new(clock, files, payload()?, writes)?;
                self.run_with(engine, checks.as_ref(), gate, &mut outcome)?;
            }
            EngineChoice::Stdio => {
                let engine = Stdio::new(clock, flush, files, payload()?);
                self.run_with(engine, checks.as_ref(), gate, &mut outcome)?;
            }
            EngineChoice::Uring => {
                let options = UringOptions { sqpoll: workload.engine.sqpoll, iopoll: workload.engine.iopoll };
                let mut ring = UringRing::new(clock, files, payload()?, flush, self.job.depth, options)?;
                outcome.engine.details = ring.details().to_vec();
                self.run_with(ring.engine()?, checks.as_ref(), gate, &mut outcome)?;
            }
        }
        outcome.verified = checks.filter(|_| workload.verify != Verify::None).map(|checks| checks.verified());
        Ok(outcome)
    }

    /// Runs `engine` as it is, or stamps what goes through it and checks what comes back.
    fn run_with(
        &self,
        mut engine: impl HasPayload,
        checks: Option<&Checks>,
        gate: &Receiver<Instant>,
        outcome: &mut WorkerOutcome,
    ) -> Result<(), EngineError> {
        match checks {
            None => self.run(&mut engine, gate, outcome),
            Some(checks) => {
                let checker = checks.checker(self.job.depth);
                self.run(&mut Verifying::new(engine, checker, self.clock.clone()), gate, outcome)
            }
        }
    }

    /// An outcome with nothing in it, which is what a worker has that was ended at its gate.
    fn idle(&self, chosen: EngineChoice, fallback: Option<String>) -> WorkerOutcome {
        WorkerOutcome {
            workload: self.workload,
            worker: self.job.worker.index,
            tally: Job::new(self.job.clone()).into_tally(),
            time: CpuTime::default(),
            verified: None,
            engine: EngineReport { name: chosen.name(), details: Vec::new(), fallback },
        }
    }

    fn run(
        &self,
        engine: &mut impl crate::engine::Engine,
        gate: &Receiver<Instant>,
        outcome: &mut WorkerOutcome,
    ) -> Result<(), EngineError> {
        let mut job = Job::new(self.job.clone());
        job.share_flow(self.flows);
        if self.assignment.is_logged {
            job.keep_journal();
        }
        self.report.send(WorkerMessage::Ready(rustix::thread::gettid().as_raw_nonzero().get()));
        let Ok(start) = gate.recv() else { return Ok(()) };
        self.clock.sleep_until(start);
        job.start(start);
        let before = thread_cpu();
        let send = |intervals| self.report.send(WorkerMessage::Intervals(self.workload, intervals));
        let log = |requests| self.report.send(WorkerMessage::Logged(self.workload, requests));
        let (end_all, exit_all) = (self.end_all, self.job.exit_all);
        let open = || open_files(&self.assignment.workload, &self.assignment.files).map(Arc::new);
        let (stop, live) = (self.stop, self.live);
        let hooks =
            DriverHooks { stop, end_all, exit_all, live, intervals: &send, logged: &log, open: &open };
        drive(&mut job, engine, self.clock, &hooks)?;
        let (own, helpers) = (thread_cpu().since(before), engine.helpers_cpu());
        outcome.time = CpuTime { user: own.user + helpers.user, system: own.system + helpers.system };
        outcome.tally = job.into_tally();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workers_start_later_and_none_more_than_two_milliseconds_ahead() {
        let micros = [0, 1, 8, 72, 73, 10_000].map(|workers| start_ahead(workers).get() / 1_000);
        assert_eq!(micros, [200, 225, 400, 2_000, 2_000, 2_000]);
    }

    #[test]
    fn what_all_workers_did_is_the_sum_of_each() {
        let (one, other) = (LiveProgress::default(), LiveProgress::default());
        one.publish(Progress { ops: 3, bytes: 10, errors: 1, in_flight: 4 });
        other.publish(Progress { ops: 5, bytes: 20, errors: 3, in_flight: 2 });
        let all = Progress { ops: 8, bytes: 30, errors: 4, in_flight: 6 };
        assert_eq!(sum(&[one, other]), all);
        assert_eq!(sum(&[]), Progress::default());
    }
}
