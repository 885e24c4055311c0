//! Workers on a tree of files: set up, started together, watched, and gathered.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use units::Instant;
use workload::spec::Workload;
use workload::tree::{TreeJob, TreeJobSpec};
use workload::{Completion, Wake};

use super::executor::TreeExecutor;
use super::store::Trees;
use crate::clock::Clock;
use crate::driver::LiveProgress;
use crate::engine::EngineError;
use crate::load::{EngineReport, LoadEvent, WorkerMessage, WorkerOutcome, WorkerPool, WorkerSender};
use crate::monitor::{CpuTime, thread_cpu};
use crate::placement::place;

/// One tree workload with its workers' specifications. Its tree has been prepared.
#[derive(Clone, Debug)]
pub struct TreeAssignment {
    /// What is asked.
    pub workload: Workload,
    /// Of whom: one for each worker.
    pub jobs: Vec<TreeJobSpec>,
}

/// Runs all workers of all `assignments` together until they are done or `stop` is set.
///
/// Fails before the first request if any worker cannot be set up; a failed request is counted and goes into the
/// tally.
pub fn run(
    assignments: &[TreeAssignment],
    trees: &Trees,
    clock: &Clock,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(LoadEvent<'_>),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let workers: usize = assignments.iter().map(|each| each.jobs.len()).sum();
    let lives: Vec<LiveProgress> = (0..workers).map(|_| LiveProgress::default()).collect();
    std::thread::scope(|scope| {
        let (mut pool, reporter, reports) = WorkerPool::new();
        let mut lives_left = lives.iter();
        for (index, assignment) in assignments.iter().enumerate() {
            for job in &assignment.jobs {
                let live = lives_left.next().expect("one for each worker");
                let report = reporter.clone();
                let context =
                    WorkerContext { workload: index, assignment, job, trees, clock, stop, live, report };
                pool.spawn(scope, reporter.clone(), move |gate| context.work(gate))?;
            }
        }
        drop(reporter);
        pool.supervise(clock, stop, &lives, &reports, on_event);
        pool.join()
    })
}

/// All that a worker needs.
struct WorkerContext<'a> {
    workload: usize,
    assignment: &'a TreeAssignment,
    job: &'a TreeJobSpec,
    trees: &'a Trees,
    clock: &'a Clock,
    stop: &'a AtomicBool,
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
        let workload = &self.assignment.workload;
        place(&workload.engine, self.job.worker)?;
        let (top, shape, names) = self.trees.top(&workload.name).expect("its tree has been prepared");
        let mut executor = TreeExecutor::new(top.as_fd(), shape, self.job.worker, names, workload);
        let mut job = TreeJob::new(self.job.clone());
        self.report.send(WorkerMessage::Ready(rustix::thread::gettid().as_raw_nonzero().get()));
        let mut time = CpuTime::default();
        if let Ok(start) = gate.recv() {
            self.clock.sleep_until(start);
            job.start(start);
            let before = thread_cpu();
            self.drive(&mut job, &mut executor);
            time = thread_cpu().since(before);
        }
        Ok(WorkerOutcome {
            workload: self.workload,
            worker: self.job.worker,
            tally: job.into_tally(),
            time,
            verified: None,
            engine: EngineReport { name: "files", details: Vec::new(), fallback: None },
        })
    }

    fn drive(&self, job: &mut TreeJob, executor: &mut TreeExecutor<'_>) {
        let (mut now, mut batch) = (self.clock.now(), Vec::with_capacity(1));
        while job.plan(now, &mut batch) != Wake::Done {
            let Some(request) = batch.pop() else { break };
            crate::fault::here("worker");
            self.live.issued(1);
            let outcome = executor.execute(&request);
            now = self.clock.now();
            job.settle(Completion { token: request.token, outcome, finished_at: now });
            self.live.publish(job.progress());
            if job.has_interval() {
                self.report.send(WorkerMessage::Intervals(self.workload, job.take_intervals()));
            }
            if self.stop.load(Ordering::Relaxed) {
                job.stop();
            }
        }
        self.live.publish(job.progress());
    }
}
