//! Workers on real storage: started together, watched, and gathered. What they ask for is [`Assigned`] to them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use units::convert::narrow;
use units::{Instant, Nanos};
use workload::spec::Workload;
use workload::steady::SteadyWatch;
use workload::tally::{Interval, Tally};
use workload::{FlowTotals, Job, Logged, Progress, RequestSource, Verified, WarmUp, WearOut};

pub use crate::assignment::Assignment;
use crate::clock::Clock;
use crate::driver::{AskZone, DriverHooks, LiveProgress, OpenAnew, drive};
use crate::engine::{Engine, EngineChoice, EngineError};
use crate::monitor::{CpuTime, thread_cpu};
use crate::placement::place;
use crate::unwinding::StopOnPanic;

/// One workload with its workers' specifications and what they work on.
pub trait Assigned: Sync {
    /// What its workers share.
    type Shared: Sync;

    /// What is asked.
    fn workload(&self) -> &Workload;

    /// Of how many workers.
    fn workers(&self) -> usize;

    /// Sets up what its workers share, before any of them.
    fn share(&self) -> Result<Self::Shared, EngineError>;

    /// The life of one worker: sets up its engine and its job, and runs them with [`Worker::run`].
    fn work(&self, shared: &Self::Shared, worker: &Worker<'_>) -> Result<WorkerOutcome, EngineError>;
}

/// How an engine came to be, for the record.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineReport {
    /// Which it is; `None` where names are asked for instead of blocks.
    pub choice: Option<EngineChoice>,
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

/// What happens while a load runs, as workers and whoever supervises them tell it.
#[derive(Debug)]
pub enum LoadEvent {
    /// All workers are ready and start at that instant; their thread ids, for monitors.
    Started(Instant, Vec<i32>),
    /// Intervals that a worker of that workload closed.
    Intervals(usize, Vec<Interval>),
    /// Requests of a worker of that workload; the last of them are in its tally.
    Logged(usize, Vec<Logged>),
    /// Sums over all workers, several times a second.
    Progress(Progress),
}

const TICK: Duration = Duration::from_millis(100);

/// Stops the workers of an assignment once their figure is steady; of files and directories none is.
fn steady_watch(assignment: &impl Assigned) -> Option<SteadyWatch> {
    let workload = assignment.workload();
    workload.stop.steady.filter(|_| workload.tree.is_none()).map(SteadyWatch::new)
}

/// Runs all workers of all `assignments` together until they are done or `stop` is set.
///
/// Fails before the first request if any worker cannot be set up. A worker whose engine breaks later ends the
/// load of all; its error comes back. A failed request is counted and goes into the tally.
pub fn run<A: Assigned>(
    assignments: &[A],
    clock: &Clock,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(LoadEvent),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let ahead = start_ahead(assignments.iter().map(A::workers).sum());
    run_from(assignments, clock, stop, &mut |now| Some(now().saturating_add(ahead)), on_event)
}

/// The instant at which all workers start, asked once they are ready, of whoever may read the clock; `None` where they do
/// not start.
pub type StartRule<'a> = &'a mut dyn FnMut(&dyn Fn() -> Instant) -> Option<Instant>;

/// The same, with the workers starting when `start` says. Nothing was seen where it says that they do not.
pub fn run_from<A: Assigned>(
    assignments: &[A],
    clock: &Clock,
    stop: &AtomicBool,
    start: StartRule<'_>,
    on_event: &mut dyn FnMut(LoadEvent),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let shared: Vec<A::Shared> = assignments.iter().map(A::share).collect::<Result<_, _>>()?;
    let workers: usize = assignments.iter().map(A::workers).sum();
    let lives: Vec<LiveProgress> = (0..workers).map(|_| LiveProgress::default()).collect();
    let (end_all, flows) = (AtomicBool::new(false), Arc::new(FlowTotals::default()));
    let of_workloads: Vec<(Arc<WarmUp>, Arc<WearOut>)> =
        assignments.iter().map(|_| Default::default()).collect();
    let mut watches: Vec<Option<SteadyWatch>> = assignments.iter().map(steady_watch).collect();
    let mut on_load_event = |one: LoadEvent| {
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
        for (workload, (assignment, shared)) in assignments.iter().zip(&shared).enumerate() {
            for number in 0..narrow::<u32>(assignment.workers()) {
                let live = lives_left.next().expect("one for each worker");
                let (flows, report, end_all) = ((&flows, &of_workloads[workload]), report.clone(), &end_all);
                pool.spawn(scope, report.clone(), move |gate| {
                    place(&assignment.workload().engine, number)?;
                    let worker = Worker { workload, number, clock, stop, end_all, flows, live, report, gate };
                    assignment.work(shared, &worker)
                })?;
            }
        }
        drop(report);
        assert!(lives_left.next().is_none(), "counters must be a worker's");
        pool.supervise((clock, start), stop, &lives, &reports, &mut on_load_event);
        pool.join()
    })
}

/// A message of a worker.
enum WorkerMessage {
    /// It is set up; its thread's id.
    Ready(i32),
    /// It ends with an error.
    Broken,
    /// Something that happens in its load.
    Event(LoadEvent),
}

/// What a worker sends its messages with.
#[derive(Clone)]
struct WorkerSender(Sender<WorkerMessage>);

impl WorkerSender {
    /// Sends it to the supervisor, which may have ended after another worker broke.
    fn send(&self, report: WorkerMessage) {
        let _unheard = self.0.send(report);
    }
}

/// The threads and the gates that hold them until all are ready.
struct WorkerPool<'scope> {
    threads: Vec<ScopedJoinHandle<'scope, Result<WorkerOutcome, EngineError>>>,
    gates: Vec<Sender<Instant>>,
}

impl<'scope> WorkerPool<'scope> {
    /// An empty pool, what its workers send messages with, and where these arrive.
    fn new() -> (WorkerPool<'scope>, WorkerSender, Receiver<WorkerMessage>) {
        let (report, reports) = channel();
        (WorkerPool { threads: Vec::new(), gates: Vec::new() }, WorkerSender(report), reports)
    }

    /// One more worker, which waits at the gate it is given until it may start. Should it fail or panic, the others end.
    /// Fails where the system has no thread for it.
    fn spawn<'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        report: WorkerSender,
        work: impl FnOnce(&Receiver<Instant>) -> Result<WorkerOutcome, EngineError> + Send + 'scope,
    ) -> Result<(), EngineError> {
        let (gate, opened) = channel();
        let work = move || {
            let internal = |_| Err(EngineError::Internal { thread: "a worker" });
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&opened))).unwrap_or_else(internal);
            if outcome.is_err() {
                report.send(WorkerMessage::Broken);
            }
            outcome
        };
        let thread = std::thread::Builder::new().spawn_scoped(scope, work);
        self.threads.push(thread.map_err(|source| EngineError::System { call: "clone (a worker)", source })?);
        self.gates.push(gate);
        Ok(())
    }

    /// Waits until all are ready, starts them, and passes events on until the last one has hung up.
    fn supervise(
        &mut self,
        (clock, start): (&Clock, StartRule<'_>),
        stop: &AtomicBool,
        lives: &[LiveProgress],
        reports: &Receiver<WorkerMessage>,
        on_event: &mut dyn FnMut(LoadEvent),
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
                Ok(WorkerMessage::Event(_)) => unreachable!("no worker has started"),
            }
        }
        let Some(start) = start(&|| clock.now()) else { return self.gates.clear() };
        on_event(LoadEvent::Started(start, tids));
        for gate in self.gates.drain(..) {
            gate.send(start).expect("the worker waits at its gate");
        }
        loop {
            match reports.recv_timeout(TICK) {
                Ok(WorkerMessage::Event(event)) => on_event(event),
                Ok(WorkerMessage::Broken) => stop.store(true, Ordering::Relaxed),
                Ok(WorkerMessage::Ready(_)) => unreachable!("all were ready before the start"),
                Err(RecvTimeoutError::Timeout) => {
                    on_event(LoadEvent::Progress(lives.iter().map(LiveProgress::progress).sum()));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Every worker's outcome, or the first error.
    fn join(self) -> Result<Vec<WorkerOutcome>, EngineError> {
        let internal = || Err(EngineError::Internal { thread: "a worker" });
        self.threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| internal())).collect()
    }
}

/// That many workers wake at their gates within this time, so that the last one is not late: a wake-up takes some tens
/// of microseconds, and many share a processor. At most 2 ms, since each point of a plan waits for it.
pub fn start_ahead(workers: usize) -> Nanos {
    Nanos::from_micros(200 + 25 * workers as u64).min(Nanos::from_millis(2))
}

/// What a worker saw of its job, and the processor time that it took.
pub type Seen = (Tally, CpuTime);

/// One worker of a load, on its own thread.
pub struct Worker<'a> {
    /// Its workload's position.
    workload: usize,
    /// Its own number within it.
    pub number: u32,
    /// The clock of the load.
    pub clock: &'a Clock,
    stop: &'a AtomicBool,
    end_all: &'a AtomicBool,
    /// What it shares with all others, and with those of its workload.
    flows: (&'a Arc<FlowTotals>, &'a (Arc<WarmUp>, Arc<WearOut>)),
    live: &'a LiveProgress,
    report: WorkerSender,
    gate: &'a Receiver<Instant>,
}

impl Worker<'_> {
    /// Says that it is ready, waits for the start of all, and runs `job` on `engine` to its end; `open` opens files anew
    /// where the job asks for it, and `zone` asks the device of one of its zones. Nothing was seen where the others could not start.
    pub fn run<S: RequestSource>(
        &self,
        mut job: Job<S>,
        engine: &mut impl Engine<S::Request>,
        (open, zone): (OpenAnew<'_>, AskZone<'_>),
    ) -> Result<Seen, EngineError> {
        let (flow, (warm_up, wear_out)) = self.flows;
        job.share_flow(flow);
        job.share_warm_up(warm_up);
        job.share_wear_out(wear_out);
        self.report.send(WorkerMessage::Ready(rustix::thread::gettid().as_raw_nonzero().get()));
        let Ok(start) = self.gate.recv() else { return Ok((job.into_tally(), CpuTime::default())) };
        self.clock.sleep_until(start);
        job.start(start);
        let before = thread_cpu();
        let tell = |event| self.report.send(WorkerMessage::Event(event));
        let Worker { workload, stop, end_all, live, .. } = *self;
        drive(
            &mut job,
            engine,
            self.clock,
            &DriverHooks { workload, stop, end_all, live, tell: &tell, open, zone },
        )?;
        let own = thread_cpu().since(before);
        Ok((job.into_tally(), own + engine.helpers_cpu()))
    }

    /// What it saw, by an engine of that name.
    pub fn outcome(&self, (tally, time): Seen, engine: EngineReport) -> WorkerOutcome {
        WorkerOutcome { workload: self.workload, worker: self.number, tally, time, verified: None, engine }
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
        let one = Progress { ops: 3, bytes: 10, errors: 1, in_flight: 4 };
        let other = Progress { ops: 5, bytes: 20, errors: 3, in_flight: 2 };
        let all = Progress { ops: 8, bytes: 30, errors: 4, in_flight: 6 };
        assert_eq!([one, other].into_iter().sum::<Progress>(), all);
        assert_eq!([].into_iter().sum::<Progress>(), Progress::default());
    }
}
