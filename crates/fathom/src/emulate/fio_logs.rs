//! Writes fio's logs of requests while they end.

use std::sync::{Arc, Mutex, PoisonError};

use conduct::Listener;
use formats::fio::{Command, RequestLog};
use units::{Bytes, Instant};
use workload::Logged;
use workload::plan::Load;
use workload::spec::{Stop, Workload};

use super::log_files::LogFiles;

/// The logs, shared between whoever waits for the end and whoever hears of requests.
#[derive(Clone, Debug)]
pub struct FioLogs(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    logs: Vec<RequestLog>,
    /// Loads that have begun.
    loads: usize,
    /// The workloads of the load that goes on, by their positions.
    names: Vec<String>,
    files: LogFiles,
}

impl FioLogs {
    /// The logs of requests that the jobs of `command` ask for; `None` where there are none.
    pub fn of(command: &Command) -> Option<FioLogs> {
        let logs = command.request_logs();
        (!logs.is_empty()).then(|| {
            FioLogs(Arc::new(Mutex::new(Open { logs, loads: 0, names: Vec::new(), files: LogFiles::anew() })))
        })
    }

    /// Gives the files their names; what went wrong, if anything did.
    pub fn finish(&self) -> Option<String> {
        self.with(|open| {
            // A job that asked nothing has an empty log.
            for index in 0..open.logs.len() {
                let (file, rest) = (open.logs[index].file.clone(), open.logs[index].rest());
                open.files.add(&file, &rest);
            }
            open.files.finish()
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Open {
    /// Has each log of the load that goes on add to its file.
    fn each(
        &mut self,
        which: impl Fn(&RequestLog) -> bool,
        mut act: impl FnMut(&mut RequestLog, &mut String),
    ) {
        debug_assert!(self.loads > 0, "requests are of a load that has begun");
        let load = self.loads.saturating_sub(1);
        for index in 0..self.logs.len() {
            if self.logs[index].load != load || !which(&self.logs[index]) {
                continue;
            }
            let mut text = String::new();
            act(&mut self.logs[index], &mut text);
            let log = &mut self.logs[index];
            let (file, bytes) = (log.file.clone(), log.stored(text));
            self.files.add(&file, &bytes);
        }
    }
}

impl Listener for FioLogs {
    fn wants(&self, workload: &Workload) -> bool {
        self.with(|open| open.logs.iter().any(|log| log.workload == workload.name))
    }

    fn begin(&mut self, load: &Load, _: &[Vec<String>], at: Instant) {
        self.with(|open| {
            open.loads += 1;
            open.names = load.workloads.iter().map(|workload| workload.name.clone()).collect();
            let begins = |log: &mut RequestLog| {
                let of_log = |workload: &&Workload| workload.name == log.workload;
                let Some(Stop { start, warmup, warmup_bytes, .. }) =
                    load.workloads.iter().find(of_log).map(|workload| workload.stop)
                else {
                    return;
                };
                let at = at.saturating_add(start).saturating_add(warmup);
                log.begin(at, warmup_bytes.unwrap_or(Bytes::ZERO));
            };
            open.each(|_| true, |log, _| begins(log));
        });
    }

    fn hear(&mut self, workload: usize, requests: &[Logged]) {
        self.with(|open| {
            let Some(name) = open.names.get(workload).cloned() else { return };
            open.each(|log| log.workload == name, |log, text| log.hear(requests, text));
        });
    }

    fn end(&mut self, at: Instant) {
        self.with(|open| open.each(|_| true, |log, text| log.end(at, text)));
    }
}
