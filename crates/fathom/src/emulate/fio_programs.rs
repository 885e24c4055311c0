//! Programs and commands that jobs of fio have run: before and after all of them, and beside each load.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use conduct::{Event, Listener};
use formats::fio::{Command, Execution, Executions};
use host::command::{self, Running};
use record::PointKind;
use units::Instant;
use workload::Logged;
use workload::plan::Load;
use workload::spec::{EngineKind, Pace, Workload};

use crate::ending::Failure;

/// What the jobs of a command have run.
#[derive(Clone, Debug)]
pub struct Programs {
    asked: Arc<Executions>,
    open: Arc<Mutex<Open>>,
}

/// Programs of the load that is running.
#[derive(Debug, Default)]
struct Open {
    loads: usize,
    /// Loads that have ended.
    ended: usize,
    running: Vec<(Running, Duration)>,
    wrong: Option<String>,
}

impl Programs {
    /// Those of `command`; `None` where it has none.
    pub fn of(command: &Command) -> Option<Programs> {
        let asked = command.executions();
        (asked != Executions::default())
            .then(|| Programs { asked: Arc::new(asked), open: Arc::new(Mutex::new(Open::default())) })
    }

    /// Runs what comes before all jobs.
    pub fn before(&self) -> Result<(), Failure> {
        self.asked.first().try_for_each(|one| ran(one).map_err(Failure::Usage))
    }

    /// Where a load has ended, runs what comes after it and before the next one.
    pub fn hear(&self, event: &Event<'_>) {
        if matches!(event, Event::PointEnded { point } if point.kind == PointKind::Load) {
            let load = self.with(|open| {
                open.ended += 1;
                open.ended - 1
            });
            self.between(load);
        }
    }

    /// Runs what comes after all jobs, of which only the last look of a search was one.
    pub fn after_search(&self) {
        self.between(0);
    }

    fn between(&self, load: usize) {
        for wrong in self.asked.between(load).filter_map(|one| ran(one).err()) {
            self.with(|open| {
                open.wrong.get_or_insert(wrong);
            });
        }
    }

    /// The first that went wrong with a command after the first load began, if anything did.
    pub fn wrong(&self) -> Option<String> {
        self.with(|open| open.wrong.take())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn ran(execution: &Execution) -> Result<(), String> {
    command::run(&execution.command, &[]).map_err(|error| told(execution, &error))
}

fn told(execution: &Execution, error: &std::io::Error) -> String {
    format!("`{}` of the job file: {error}", execution.command)
}

impl Listener for Programs {
    /// Only who wants to hear of requests hears of loads: of those of a job that runs a program, of which there is one.
    fn wants(&self, workload: &Workload) -> bool {
        let asks_once = matches!(workload.pace, Pace::Think(_));
        !self.asked.beside.is_empty() && workload.engine.kind == EngineKind::Null && asks_once
    }

    fn begin(&mut self, _: &Load, _: &[Vec<String>], _: Instant) {
        let asked = self.asked.clone();
        self.with(|open| {
            debug_assert!(open.running.is_empty(), "programs of one load end before those of the next begin");
            for execution in asked.beside.iter().filter(|execution| execution.load == open.loads) {
                match Running::start(&execution.command) {
                    Ok(running) => open.running.push((running, Duration::from_secs(execution.grace_s))),
                    Err(error) => open.wrong = Some(told(execution, &error)),
                }
            }
            open.loads += 1;
        });
    }

    fn hear(&mut self, _: usize, _: &[Logged]) {}

    fn end(&mut self, _: Instant) {
        let running = self.with(|open| std::mem::take(&mut open.running));
        for (running, grace) in running {
            if let Err(error) = running.stop(grace) {
                self.with(|open| {
                    open.wrong = Some(format!("a program of the job file cannot be ended: {error}"));
                });
            }
        }
    }
}
