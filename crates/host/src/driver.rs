//! One thread, one engine, one job: plan, submit, wait, complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use units::convert::narrow;
use workload::{DeviceZone, Job, JobOptions, Progress, RequestSource, Wake, ZoneCall};

use crate::clock::Clock;
use crate::engine::{Engine, EngineError, OpenFiles, Wait};
use crate::load::LoadEvent;
use crate::unwinding::whole;

/// A worker that waits for a zone looks so often whether the load has ended.
const ZONE_WAIT: Duration = Duration::from_millis(1);

/// What the outside may say to a worker, and see of it, while it runs.
#[derive(Debug, Default)]
pub struct LiveProgress {
    ops: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    in_flight: AtomicU64,
}

impl LiveProgress {
    /// Counts as of the worker's last batch.
    pub fn progress(&self) -> Progress {
        Progress {
            ops: self.ops.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            in_flight: narrow::<u32>(self.in_flight.load(Ordering::Relaxed)),
        }
    }

    /// So many are in flight now, before they are waited for: who watches can tell waiting from having nothing to do.
    #[inline]
    pub(crate) fn issued(&self, in_flight: u32) {
        self.in_flight.store(u64::from(in_flight), Ordering::Relaxed);
    }

    pub(crate) fn publish(&self, progress: Progress) {
        self.ops.store(progress.ops, Ordering::Relaxed);
        self.bytes.store(progress.bytes, Ordering::Relaxed);
        self.errors.store(progress.errors, Ordering::Relaxed);
        self.in_flight.store(u64::from(progress.in_flight), Ordering::Relaxed);
    }
}

/// The worker's connections to the outside.
pub struct DriverHooks<'a> {
    /// The position of its workload.
    pub workload: usize,
    /// Set to end the load early.
    pub stop: &'a AtomicBool,
    /// Set to end the load of all before its time: by a worker that has done its part where that is what its job says,
    /// or because a figure is steady.
    pub end_all: &'a AtomicBool,
    /// Counts for others to see.
    pub live: &'a LiveProgress,
    /// Told of closed intervals, about once a second, and of requests where the job has a journal and many wait.
    pub tell: &'a dyn Fn(LoadEvent),
    /// Opens its files anew.
    pub open: OpenAnew<'a>,
    /// Asks the device of one of its zones.
    pub zone: AskZone<'a>,
}

/// Opens the files of a worker anew.
pub type OpenAnew<'a> = &'a dyn Fn() -> Result<Arc<OpenFiles>, EngineError>;

/// Has a device do something to a zone: its report, or `None` after a reset.
pub type AskZone<'a> = &'a dyn Fn(&ZoneCall) -> Result<Option<DeviceZone>, EngineError>;

/// Runs `job` on `engine` until it is done. The job has been started.
pub fn drive<S: RequestSource>(
    job: &mut Job<S>,
    engine: &mut impl Engine<S::Request>,
    clock: &Clock,
    hooks: &DriverHooks<'_>,
) -> Result<(), EngineError> {
    let JobOptions { depth, submit_batch, complete_batch: least, exit_all, .. } = *job.options();
    assert!(depth > 0 && submit_batch > 0, "a job must have a slot and a batch");
    let mut batch = Vec::with_capacity(submit_batch as usize);
    let mut now = clock.now();
    loop {
        batch.clear();
        let wake = job.plan(now, &mut batch);
        debug_assert!(batch.len() <= submit_batch as usize, "no more may be planned than a batch");
        debug_assert!(job.progress().in_flight <= depth, "no more may be in flight than there are slots");
        if job.reopens() {
            engine.reopen((hooks.open)()?)?;
        }
        crate::fault::here("worker");
        // Some engines carry requests out as they are handed over.
        hooks.live.issued(job.progress().in_flight);
        engine.submit(&batch)?;
        // Between requests, so that it is in the time of none.
        if let Some(call) = job.zone_call() {
            job.zone_answered((hooks.zone)(&call)?);
        }
        if let Some(zone) = job.waits_for_zone() {
            zone.block(|released, waiting, is_held| {
                whole(released.wait_timeout_while(waiting, ZONE_WAIT, |_| is_held())).0
            });
        }
        let ended = match wake {
            Wake::Done => break,
            Wake::Again => engine.wait(Wait::No, &mut |done| job.complete(done))?,
            Wake::OnCompletion => engine.wait(Wait::For(least), &mut |done| job.complete(done))?,
            Wake::At(due) => engine.wait(Wait::Until(due, least), &mut |done| job.complete(done))?,
        };
        debug_assert!(ended >= now, "the clock must not go back");
        now = ended;
        report(job, hooks);
    }
    assert_eq!(job.progress().in_flight, 0, "a job must not be done while requests are in flight");
    hooks.live.publish(job.progress());
    if exit_all {
        hooks.end_all.store(true, Ordering::Relaxed);
    }
    Ok(())
}

#[inline]
fn report<S: RequestSource>(job: &mut Job<S>, hooks: &DriverHooks<'_>) {
    hooks.live.publish(job.progress());
    if job.has_interval() {
        (hooks.tell)(LoadEvent::Intervals(hooks.workload, job.take_intervals()));
    }
    if job.has_logged() {
        (hooks.tell)(LoadEvent::Logged(hooks.workload, job.take_logged()));
    }
    let is_set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    if is_set(hooks.stop) || is_set(hooks.end_all) {
        job.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use units::Bytes;
    use workload::{JobSpec, compile};

    use super::*;
    use crate::engine::Null;

    #[test]
    fn what_others_see_is_what_the_worker_published() {
        let live = LiveProgress::default();
        let published = Progress { ops: 7, bytes: 4096, errors: 2, in_flight: 3 };
        live.publish(published);
        assert_eq!(live.progress(), published);
        live.issued(9);
        assert_eq!(live.progress(), Progress { in_flight: 9, ..published });
    }

    /// Runs a job of these keys, with the two flags set before or not: its requests, how often its files were opened anew, and
    /// whether the others were told to end.
    fn driven(keys: &[(&str, &str)], [stop, end_all, exit_all]: [bool; 3]) -> (u64, u32, bool) {
        let texts = [("depth", "4"), ("engine", "null")].into_iter().chain(keys.iter().copied());
        let workload = workload::plan::from_texts("test", texts).unwrap_or_else(|e| panic!("{}", e.plain()));
        let spec = compile(&workload, &[Bytes::MIB]).expect("it fits").remove(0);
        let mut job: Job = Job::new(JobSpec { exit_all, ..spec });
        let (clock, opened, live) = (Clock::start(), Cell::new(0), LiveProgress::default());
        let (stop, end_all) = (AtomicBool::new(stop), AtomicBool::new(end_all));
        let open = || {
            opened.set(opened.get() + 1);
            Ok(Arc::new(OpenFiles(Vec::new())))
        };
        let hooks = DriverHooks {
            workload: 0,
            stop: &stop,
            end_all: &end_all,
            live: &live,
            tell: &|_| (),
            open: &open,
            zone: &|_| Ok(None),
        };
        job.start(clock.now());
        drive(&mut job, &mut Null::new(clock.clone(), 4), &clock, &hooks).expect("nothing can fail");
        assert_eq!(live.progress(), job.progress());
        (job.progress().ops, opened.get(), end_all.load(Ordering::Relaxed))
    }

    #[test]
    fn a_worker_ends_when_it_is_told_to_and_ends_the_others_where_that_is_its_part() {
        assert_eq!(driven(&[("ops", "1000")], [false, false, false]), (1000, 0, false));
        assert_eq!(driven(&[("ops", "1000")], [false, false, true]), (1000, 0, true));
        assert!(driven(&[("ops", "1000000")], [true, false, false]).0 < 1000);
        assert!(driven(&[("ops", "1000000")], [false, true, false]).0 < 1000);
    }

    #[test]
    fn files_are_opened_again_as_often_as_the_job_says() {
        assert_eq!(driven(&[("ops", "100"), ("reopen_every", "10")], [false; 3]), (100, 9, false));
    }
}
