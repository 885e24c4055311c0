//! Workers on a tree of files: set up, started together, watched, and gathered.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use units::Instant;
use workload::spec::Workload;
use workload::tree::{TreeJob, TreeJobSpec};
use workload::{Completion, Wake};

use super::carry::Carrier;
use super::store::Trees;
use crate::clock::Clock;
use crate::driver::Live;
use crate::engine::EngineError;
use crate::load::{Crew, EngineReport, News, Report, Reporter, WorkerOutcome};
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
    news: &mut dyn FnMut(News<'_>),
) -> Result<Vec<WorkerOutcome>, EngineError> {
    let workers: usize = assignments.iter().map(|each| each.jobs.len()).sum();
    let lives: Vec<Live> = (0..workers).map(|_| Live::default()).collect();
    std::thread::scope(|scope| {
        let (mut crew, reporter, reports) = Crew::gathering();
        let mut lives_left = lives.iter();
        for (index, assignment) in assignments.iter().enumerate() {
            for job in &assignment.jobs {
                let live = lives_left.next().expect("one for each worker");
                let report = reporter.clone();
                let seat = Seat { workload: index, assignment, job, trees, clock, stop, live, report };
                crew.hire(scope, reporter.clone(), move |gate| seat.work(gate))?;
            }
        }
        drop(reporter);
        crew.supervise(clock, stop, &lives, &reports, news);
        crew.gather()
    })
}

/// All that a worker needs.
struct Seat<'a> {
    workload: usize,
    assignment: &'a TreeAssignment,
    job: &'a TreeJobSpec,
    trees: &'a Trees,
    clock: &'a Clock,
    stop: &'a AtomicBool,
    live: &'a Live,
    report: Reporter,
}

impl Seat<'_> {
    /// A worker's life. Says `Broken` before it ends with an error.
    fn work(self, gate: &Receiver<Instant>) -> Result<WorkerOutcome, EngineError> {
        let outcome = self.set_up_and_run(gate);
        if outcome.is_err() {
            self.report.say(Report::Broken);
        }
        outcome
    }

    fn set_up_and_run(&self, gate: &Receiver<Instant>) -> Result<WorkerOutcome, EngineError> {
        let workload = &self.assignment.workload;
        place(&workload.engine, self.job.worker)?;
        let (top, shape, names) = self.trees.top(&workload.name).expect("its tree has been prepared");
        let mut carrier = Carrier::new(top.as_fd(), shape, self.job.worker, names, workload);
        let mut job = TreeJob::new(self.job.clone());
        self.report.say(Report::Ready(rustix::thread::gettid().as_raw_nonzero().get()));
        let mut time = CpuTime::default();
        if let Ok(start) = gate.recv() {
            self.clock.sleep_until(start);
            job.start(start);
            let before = thread_cpu();
            self.drive(&mut job, &mut carrier);
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

    fn drive(&self, job: &mut TreeJob, carrier: &mut Carrier<'_>) {
        let (mut now, mut batch) = (self.clock.now(), Vec::with_capacity(1));
        while job.plan(now, &mut batch) != Wake::Done {
            let Some(request) = batch.pop() else { break };
            crate::fault::here("worker");
            self.live.asked(1);
            let outcome = carrier.carry_out(&request);
            now = self.clock.now();
            job.settle(Completion { token: request.token, outcome, finished_at: now });
            self.live.publish(job.progress());
            if job.has_interval() {
                self.report.say(Report::Intervals(self.workload, job.take_intervals()));
            }
            if self.stop.load(Ordering::Relaxed) {
                job.stop();
            }
        }
        self.live.publish(job.progress());
    }
}
