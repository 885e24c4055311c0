//! What is heard of a load while it runs, and its answers.

use std::path::Path;

use conduct::{Beside, FileNames, History, Live, MeasuredWorker, MeasuredWorkload, Recent, span_of};
use host::clock::Clock;
use host::engine::{Call, EngineChoice};
use host::load::{Assignment, LoadEvent, WorkerOutcome};
use host::monitor::{CpuTime, Monitor};
use record::{CpuUse, Engine, EngineUsed, TaskCounts};
use units::{Bytes, Instant};
use workload::tally::Interval;

/// What the page cache holds of all files of `assignments`; `None` where that is not known of one, or there are too
/// many to ask between two points.
pub(crate) fn cached_of(assignments: &[Assignment]) -> Option<Bytes> {
    const MOST: usize = 64;
    let mut paths: Vec<&Path> =
        assignments.iter().flat_map(|each| &each.files).map(|file| file.path.as_path()).collect();
    paths.sort_unstable();
    paths.dedup();
    let all = (1..=MOST).contains(&paths.len()).then_some(paths)?;
    let bytes: Option<Vec<u64>> =
        all.into_iter().map(|path| Some(host::pages::cached(path)?.get())).collect();
    Some(Bytes::new(bytes?.into_iter().sum()))
}

/// What was heard of a load while it ran.
pub(crate) struct Heard {
    pub(crate) started: Instant,
    pub(crate) histories: Vec<History>,
    recent: Recent,
    /// Whether other processes drive parts of the load, and one of them tells of all.
    is_shared: bool,
    fresh: Vec<Interval>,
}

impl Heard {
    pub(crate) fn new(workloads: usize, keeps_seconds: bool, is_shared: bool, now: Instant) -> Heard {
        let histories = vec![History::new(keeps_seconds); workloads];
        Heard { started: now, histories, recent: Recent::default(), is_shared, fresh: Vec::new() }
    }

    pub(crate) fn listen(
        &mut self,
        event: LoadEvent,
        clock: &Clock,
        monitor: &Monitor,
        live: &mut dyn FnMut(Live),
    ) {
        match event {
            LoadEvent::Started(start, threads) => {
                self.started = start;
                for (worker, thread) in threads.iter().enumerate() {
                    monitor.watch_thread(thread.unsigned_abs(), &format!("worker {worker}"));
                }
            }
            LoadEvent::Intervals(workload, intervals) => {
                self.recent.take(&intervals);
                if self.is_shared {
                    self.fresh.extend_from_slice(&intervals);
                }
                self.histories[workload].take(intervals);
            }
            LoadEvent::Logged(..) => {}
            LoadEvent::Progress(progress) => {
                let now = clock.now();
                let responses = self.recent.responses(now);
                let (started, heard, latest) = (self.started, &self.histories, || monitor.latest());
                let beside = Beside(Some(&latest));
                let fresh = std::mem::take(&mut self.fresh);
                let seen = Live { progress, responses, heard, beside, ..Live::beside(started, now, "load") };
                live(Live { fresh: &fresh, ..seen });
            }
        }
    }
}

/// An answer without what its workers saw, which comes with [`fill_in`].
pub(crate) fn answer(files: FileNames, span: Bytes, clock: &str) -> MeasuredWorkload {
    MeasuredWorkload::before(EngineUsed::new(Engine::Unreported, clock), files, span)
}

/// The same of one that asks for blocks.
pub(crate) fn answer_of(assignment: &Assignment) -> MeasuredWorkload {
    let files = FileNames::Listed(names_of(assignment));
    let mut answer = answer(files, span_of(&assignment.jobs), "batch");
    answer.engine.submit_batch = Some(assignment.workload.engine.submit_batch);
    answer.engine.complete_batch = Some(assignment.workload.engine.complete_batch);
    answer
}

/// The word of a record for an engine; without one, names are asked for.
fn engine_of(choice: Option<EngineChoice>) -> Engine {
    match choice {
        Some(EngineChoice::Uring) => Engine::IoUring,
        Some(EngineChoice::Sync(Call::Pread)) => Engine::Pread,
        Some(EngineChoice::Sync(Call::Preadv2(_))) => Engine::Preadv2,
        Some(EngineChoice::Pool(Call::Pread)) => Engine::PreadThreads,
        Some(EngineChoice::Pool(Call::Preadv2(_))) => Engine::Preadv2Threads,
        Some(EngineChoice::Sync(Call::Fallocate) | EngineChoice::Pool(Call::Fallocate)) => Engine::Fallocate,
        Some(EngineChoice::Sync(Call::Ftruncate) | EngineChoice::Pool(Call::Ftruncate)) => Engine::Ftruncate,
        Some(EngineChoice::Sync(Call::Splice) | EngineChoice::Pool(Call::Splice)) => Engine::Splice,
        Some(EngineChoice::Sync(Call::Locked) | EngineChoice::Pool(Call::Locked)) => Engine::Locked,
        Some(EngineChoice::Sync(Call::Scsi(_)) | EngineChoice::Pool(Call::Scsi(_))) => Engine::Sg,
        Some(EngineChoice::Nvme) => Engine::Nvme,
        Some(EngineChoice::Mmap) => Engine::Mmap,
        Some(EngineChoice::Stdio) => Engine::Stdio,
        Some(EngineChoice::Nbd) => Engine::Nbd,
        Some(EngineChoice::Null) => Engine::Null,
        None => Engine::Files,
    }
}

/// The names of its files.
pub(crate) fn names_of(assignment: &Assignment) -> Vec<String> {
    assignment.files.iter().map(|file| file.path.display().to_string()).collect()
}

/// What the workers saw and told, given to the answers of their workloads.
pub(crate) fn fill_in(
    mut answers: Vec<MeasuredWorkload>,
    histories: Vec<History>,
    outcomes: Vec<WorkerOutcome>,
) -> Vec<MeasuredWorkload> {
    assert_eq!(answers.len(), histories.len(), "each workload was heard");
    for (answer, history) in answers.iter_mut().zip(histories) {
        answer.history = history;
    }
    for outcome in outcomes {
        let answer = &mut answers[outcome.workload];
        assert_eq!(
            answer.workers.len(),
            outcome.worker as usize,
            "workers come in the order of their numbers"
        );
        answer.engine.name = engine_of(outcome.engine.choice);
        answer.engine.details = outcome.engine.details;
        answer.engine.fallback = outcome.engine.fallback;
        let cpu = Some(cpu_use(outcome.time));
        let (tally, verified) = (outcome.tally, outcome.verified);
        answer.workers.push(MeasuredWorker { tally, cpu, ceiling: None, verified, rank: None });
    }
    answers
}

/// Processor time as the record has it.
pub(crate) fn cpu_use(time: CpuTime) -> CpuUse {
    CpuUse {
        user_s: time.user.as_secs_f64(),
        system_s: time.system.as_secs_f64(),
        counts: Some(TaskCounts {
            context_switches: time.context_switches,
            major_faults: time.major_faults,
            minor_faults: time.minor_faults,
        }),
        content_s: (!time.content.is_zero()).then(|| time.content.as_secs_f64()),
    }
}
