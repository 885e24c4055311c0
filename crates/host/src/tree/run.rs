//! Workers that ask for files and directories: one system call after the other.

use std::sync::Arc;

use units::Instant;
use workload::Completion;
use workload::spec::Workload;
use workload::tree::{TreeJob, TreeJobSpec, TreeRequest};

use super::executor::TreeExecutor;
use super::store::OpenTree;
use crate::clock::Clock;
use crate::engine::{Engine, EngineError, OpenFiles, Wait};
use crate::load::{Assigned, EngineReport, Worker, WorkerOutcome};

/// One tree workload with its workers' specifications, in its tree, which has been prepared.
#[derive(Debug)]
pub struct TreeAssignment<'a> {
    /// What is asked.
    pub workload: Workload,
    /// Of whom: one for each worker.
    pub jobs: Vec<TreeJobSpec>,
    /// Whether each request is reported, for a log.
    pub is_logged: bool,
    pub(super) tree: OpenTree<'a>,
}

impl Assigned for TreeAssignment<'_> {
    type Shared = ();

    fn workload(&self) -> &Workload {
        &self.workload
    }

    fn workers(&self) -> usize {
        self.jobs.len()
    }

    fn share(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn work(&self, (): &(), worker: &Worker<'_>) -> Result<WorkerOutcome, EngineError> {
        let spec = self.jobs[worker.number as usize].clone();
        let executor = TreeExecutor::new(self.tree, spec.worker, &self.workload);
        let mut engine = TreeEngine { executor, clock: worker.clock.clone(), taken: None };
        let mut job = TreeJob::new(spec);
        if self.is_logged {
            job.keep_journal(worker.number);
        }
        let seen = worker.run(job, &mut engine, (&|| Ok(Arc::new(OpenFiles(Vec::new()))), &|_| Ok(None)))?;
        let report = EngineReport { choice: None, details: Vec::new(), fallback: None };
        let verified = engine.executor.verified();
        Ok(WorkerOutcome { verified, ..worker.outcome(seen, report) })
    }
}

/// Carries out each request when it is waited for.
struct TreeEngine<'a> {
    executor: TreeExecutor<'a>,
    clock: Clock,
    taken: Option<TreeRequest>,
}

impl Engine<TreeRequest> for TreeEngine<'_> {
    fn submit(&mut self, requests: &[TreeRequest]) -> Result<(), EngineError> {
        debug_assert!(requests.len() <= 1 && self.taken.is_none(), "one request is in flight at a time");
        self.taken = requests.first().copied();
        Ok(())
    }

    fn wait(&mut self, _: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        let ended = self.taken.take().map(|request| (request.token, self.executor.execute(&request)));
        let finished_at = self.clock.now();
        if let Some((token, outcome)) = ended {
            done(Completion { token, outcome, finished_at });
        }
        Ok(finished_at)
    }
}
