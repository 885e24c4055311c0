//! What this program could ask at most: the same jobs, closed, with an engine that answers at once.

use std::sync::atomic::{AtomicBool, Ordering};

use conduct::MeasuredWorkload;
use host::clock::Clock;
use host::engine::EngineError;
use host::load::{Assignment, WorkerOutcome, run};
use units::{Nanos, OpsPerSecond};
use workload::JobSpec;
use workload::spec::{EngineKind, Pace, Sequence};

/// Before the window: threads wake, caches fill.
const WARMUP: Nanos = Nanos::from_millis(3);

/// The window: more than a hundred thousand requests of a worker that has a processor. The longer ones are for machines
/// so busy that some worker had none in the one before.
const TIMES: [Nanos; 3] = [Nanos::from_millis(15), Nanos::from_millis(60), Nanos::from_millis(240)];

/// Gives each worker of `answers` its ceiling.
///
/// All workers of all workloads run at once, as they did before, so that they share the processors likewise. None is
/// given where no storage was asked, for there the rate is the ceiling itself; nor after an interrupt.
pub(crate) fn measure(
    assignments: &[Assignment],
    clock: &Clock,
    stop: &AtomicBool,
    answers: &mut [MeasuredWorkload],
) {
    let on_nothing = |each: &Assignment| each.workload.engine.kind == EngineKind::Null;
    if stop.load(Ordering::Relaxed) || assignments.iter().all(on_nothing) {
        return;
    }
    for time in TIMES {
        let idle: Vec<Assignment> = assignments.iter().map(|each| on_null(each, time)).collect();
        // No thread for it is no reason to lose what was measured, nor to end the plan.
        let own_stop = AtomicBool::new(false);
        let outcomes = match run(&idle, clock, &own_stop, &mut |_| ()) {
            Ok(outcomes) => outcomes,
            Err(error) => {
                // A mistake of Fathom's own does.
                stop.fetch_or(matches!(error, EngineError::Internal { .. }), Ordering::Relaxed);
                return;
            }
        };
        for outcome in &outcomes {
            if let Some(worker) = answers[outcome.workload].workers.get_mut(outcome.worker as usize) {
                worker.ceiling = ceiling(outcome);
            }
        }
        if outcomes.iter().all(|outcome| ceiling(outcome).is_some()) {
            return;
        }
    }
}

/// By its own processor time, which others that want the processor do not shorten. `None` for a worker that did
/// nothing.
fn ceiling(outcome: &WorkerOutcome) -> Option<OpsPerSecond> {
    let seconds = (outcome.time.user + outcome.time.system).as_secs_f64();
    let ops = outcome.tally.completed;
    (ops > 0 && seconds > 0.0).then(|| OpsPerSecond::new(ops as f64 / seconds))
}

/// The same addresses, sizes, operations, depth and batch; no storage, no pace, no pause, no end but that of the
/// window.
fn on_null(assignment: &Assignment, time: Nanos) -> Assignment {
    let mut workload = assignment.workload.clone();
    workload.engine.kind = EngineKind::Null;
    workload.stop.exit_all = false;
    workload.stop.steady = None;
    let closed = |job: &JobSpec| JobSpec {
        pace: Pace::Closed,
        // Proportions, pauses and reading back would have workers wait for each other.
        sequence: Sequence::PLAIN,
        zones: None,
        start: Nanos::ZERO,
        warmup: WARMUP,
        warmup_bytes: None,
        run: Some(time),
        wall: None,
        cooldown: Nanos::ZERO,
        ops: None,
        ops_after_warmup: false,
        bytes: None,
        flush_every: None,
        flush_at_end: false,
        exit_all: false,
        with_others: false,
        ..job.clone()
    };
    let jobs = assignment.jobs.iter().map(closed).collect();
    Assignment::new(workload, jobs, Vec::new())
}
