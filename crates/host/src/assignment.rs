//! Workers that ask for blocks: their files, and the engine that each of them uses.

use std::sync::Arc;

use workload::spec::{Verify, Workload};
use workload::{Job, JobSpec, ZoneCall, ZoneStates};

use crate::engine::{
    EngineChoice, EngineError, FileRef, HasPayload, Mmap, Nbd, Null, OpenFiles, Payload, Priorities, Stdio,
    Sync, ThreadPool, UringOptions, UringRing, Verifying, choose, open_files, serves_exports,
};
use crate::environment::{self, UringState};
use crate::load::{Assigned, EngineReport, Seen, Worker, WorkerOutcome};
use crate::nbd::Uri;
use crate::sysroot::SysRoot;
use crate::verify::{Checks, Verification};
use crate::zoned;

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
    /// How far the zones of its files are written.
    pub zones: ZoneStates,
    /// Whether each of its requests is reported, for a log.
    pub is_logged: bool,
}

/// What the workers of an assignment share.
#[derive(Debug)]
pub struct Opened {
    files: Arc<OpenFiles>,
    /// Why there is no io_uring, if there is none.
    refusal: Option<String>,
    /// In place of files; empty where there are files.
    exports: Vec<Uri>,
}

impl Assigned for Assignment {
    type Shared = Opened;

    fn workload(&self) -> &Workload {
        &self.workload
    }

    fn workers(&self) -> usize {
        self.jobs.len()
    }

    fn share(&self) -> Result<Opened, EngineError> {
        let refusal = match environment::uring(&SysRoot::real()) {
            UringState::Allowed { .. } => None,
            UringState::Refused { why } => Some(why),
        };
        let exports = self.exports()?;
        let files = if exports.is_empty() { self.open()? } else { Arc::new(OpenFiles(Vec::new())) };
        Ok(Opened { files, refusal, exports })
    }

    fn work(&self, shared: &Opened, worker: &Worker<'_>) -> Result<WorkerOutcome, EngineError> {
        let (workload, job) = (&self.workload, &self.jobs[worker.number as usize]);
        let on = (worker, shared);
        let (chosen, fallback) = match shared.exports.is_empty() {
            true => choose(workload, shared.refusal.as_deref())?,
            false => (EngineChoice::Nbd, None),
        };
        let mut engine = EngineReport { choice: Some(chosen), details: Vec::new(), fallback };
        let (clock, files) = (worker.clock.clone(), shared.files.clone());
        let flush = workload.durability.flush;
        let payload = || Payload::new(workload, job);
        let options = UringOptions { sqpoll: workload.engine.sqpoll, iopoll: workload.engine.iopoll };
        let checks = self.verify.as_ref();
        let checks = checks.filter(|_| workload.verify != Verify::None || workload.changes_data());
        let checks = checks.map(|known| Checks::new(known, workload, job));
        let seen = match chosen {
            EngineChoice::Null => self.run(job, &mut Null::new(clock, job.depth), on)?,
            EngineChoice::Nbd => {
                let engine = Nbd::connect(clock, &shared.exports, workload, payload()?)?;
                self.run_with(job, engine, checks.as_ref(), on)?
            }
            EngineChoice::Sync(call) => {
                let engine = Sync::new(clock, call, flush, files, payload()?);
                self.run_with(job, engine, checks.as_ref(), on)?
            }
            EngineChoice::Pool(call) => {
                let mut pool = ThreadPool::new(clock, call, workload, job, &files, checks.as_ref())?;
                self.run(job, &mut pool, on)?
            }
            EngineChoice::Mmap => {
                let engine = Mmap::new(
                    clock,
                    files,
                    payload()?,
                    workload.changes_data(),
                    workload.pattern.is_random(),
                )?;
                self.run_with(job, engine, checks.as_ref(), on)?
            }
            EngineChoice::Stdio => {
                let engine = Stdio::new(clock, flush, files, payload()?);
                self.run_with(job, engine, checks.as_ref(), on)?
            }
            EngineChoice::Nvme => {
                let commands = workload.engine.commands;
                let mut ring = UringRing::commanding(commands, clock, files, payload()?, job.depth, options)?;
                engine.details = ring.details().to_vec();
                self.run_with(job, ring.engine()?, checks.as_ref(), on)?
            }
            EngineChoice::Uring => {
                let priorities = Priorities::new(&workload.engine.request_priority.0, job);
                let ring = UringRing::new(clock, files, payload()?, flush, job.depth, options)?;
                let mut ring = ring.telling(workload.engine.flags, priorities);
                engine.details = ring.details().to_vec();
                self.run_with(job, ring.engine()?, checks.as_ref(), on)?
            }
        };
        let verified = checks.filter(|_| workload.verify != Verify::None).map(|checks| checks.verified());
        Ok(WorkerOutcome { verified, ..worker.outcome(seen, engine) })
    }
}

impl Assignment {
    /// Of these workers on these files, of which nothing is known: nothing is verified or logged, and zones are empty.
    pub fn new(workload: Workload, jobs: Vec<JobSpec>, files: Vec<FileRef>) -> Assignment {
        Assignment { workload, jobs, files, verify: None, zones: ZoneStates::default(), is_logged: false }
    }

    /// The exports that it asks in place of files; none where it asks files, and an error where it asks both.
    fn exports(&self) -> Result<Vec<Uri>, EngineError> {
        let exports: Vec<Uri> = self.files.iter().filter_map(FileRef::export).collect();
        if exports.is_empty() {
            return Ok(Vec::new());
        }
        if exports.len() < self.files.len() {
            let why =
                "exports of NBD servers cannot be joined with files; use `on`, or targets of one kind".into();
            return Err(EngineError::Unfit { engine: "nbd", why });
        }
        serves_exports(&self.workload)?;
        let unpermitted = self.files.iter().find(|file| file.permit.is_none());
        match unpermitted.filter(|_| self.workload.changes_data()) {
            Some(file) => Err(EngineError::NoPermit { path: file.path.clone() }),
            None => Ok(exports),
        }
    }

    fn open(&self) -> Result<Arc<OpenFiles>, EngineError> {
        open_files(&self.workload, &self.files).map(Arc::new)
    }

    /// Runs `engine` as it is, or stamps what goes through it and checks what comes back.
    fn run_with(
        &self,
        job: &JobSpec,
        mut engine: impl HasPayload,
        checks: Option<&Checks>,
        on: (&Worker<'_>, &Opened),
    ) -> Result<Seen, EngineError> {
        match checks {
            None => self.run(job, &mut engine, on),
            Some(checks) => {
                let checker = checks.checker(job.depth);
                self.run(job, &mut Verifying::new(engine, checker, on.0.clock.clone()), on)
            }
        }
    }

    fn run(
        &self,
        job: &JobSpec,
        engine: &mut impl crate::engine::Engine,
        (worker, shared): (&Worker<'_>, &Opened),
    ) -> Result<Seen, EngineError> {
        let mut job: Job = Job::new(job.clone());
        let name = |file: u16| self.files.get(usize::from(file)).map(|file| file.path.display().to_string());
        job.share_zones(&self.zones, |file| name(file).unwrap_or_default());
        if self.is_logged {
            job.keep_journal(worker.number);
        }
        let zone = |call: &ZoneCall| zoned::execute(&shared.files.0[usize::from(call.file)], call);
        worker.run(job, engine, (&|| self.open(), &zone))
    }
}
