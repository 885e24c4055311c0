//! One thread, one engine, one job: plan, submit, wait, settle.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use workload::tally::Interval;
use workload::{Job, Logged, Progress, Wake};

use crate::clock::Clock;
use crate::engine::{Engine, EngineError, Wait};

/// What the outside may say to a worker, and see of it, while it runs.
#[derive(Debug, Default)]
pub struct Live {
    ops: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    in_flight: AtomicU64,
}

impl Live {
    /// Counts as of the worker's last batch.
    pub fn progress(&self) -> Progress {
        Progress {
            ops: self.ops.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            in_flight: self.in_flight.load(Ordering::Relaxed) as u32,
        }
    }

    pub(crate) fn publish(&self, progress: Progress) {
        self.ops.store(progress.ops, Ordering::Relaxed);
        self.bytes.store(progress.bytes, Ordering::Relaxed);
        self.errors.store(progress.errors, Ordering::Relaxed);
        self.in_flight.store(u64::from(progress.in_flight), Ordering::Relaxed);
    }
}

/// The worker's connections to the outside.
pub struct Lines<'a> {
    /// Set to end the load early.
    pub stop: &'a AtomicBool,
    /// Set to end the load of all before its time: by a worker that has done its part, or because a figure is steady.
    pub first: &'a AtomicBool,
    /// Whether this worker sets it when it has done its part.
    pub first_ends: bool,
    /// Counts for others to see.
    pub live: &'a Live,
    /// Told of closed intervals, about once a second.
    pub intervals: &'a dyn Fn(Vec<Interval>),
    /// Told of requests, where the job has a journal and many wait.
    pub logged: &'a dyn Fn(Vec<Logged>),
}

/// Runs `job` on `engine` until it is done. The job has been started.
pub fn drive<E: Engine>(
    job: &mut Job,
    engine: &mut E,
    clock: &Clock,
    lines: &Lines<'_>,
) -> Result<(), EngineError> {
    let mut batch = Vec::with_capacity(job.spec().batch as usize);
    let mut now = clock.now();
    loop {
        batch.clear();
        let wake = job.plan(now, &mut batch);
        engine.submit(&batch)?;
        now = match wake {
            Wake::Done => break,
            Wake::Again => engine.wait(Wait::No, &mut |done| job.settle(done))?,
            Wake::OnCompletion => engine.wait(Wait::Completion, &mut |done| job.settle(done))?,
            Wake::At(due) => engine.wait(Wait::Until(due), &mut |done| job.settle(done))?,
        };
        report(job, lines);
    }
    lines.live.publish(job.progress());
    if lines.first_ends {
        lines.first.store(true, Ordering::Relaxed);
    }
    Ok(())
}

#[inline]
fn report(job: &mut Job, lines: &Lines<'_>) {
    lines.live.publish(job.progress());
    if job.has_interval() {
        (lines.intervals)(job.take_intervals());
    }
    if job.has_logged() {
        (lines.logged)(job.take_logged());
    }
    let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    if is_set(lines.stop) || is_set(lines.first) {
        job.stop();
    }
}
