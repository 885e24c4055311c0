//! Writes the files of `savePerOpDataCSV` of IOR and mdtest: a line for each operation, a file for each task.

use std::sync::{Arc, Mutex, PoisonError};

use conduct::Listener;
use formats::{OP_HEAD, OpFile, op_line};
use units::Instant;
use workload::Logged;
use workload::plan::Load;
use workload::spec::{Op, Workload};

use super::log_files::LogFiles;
use crate::session::Session;

/// The files, shared between whoever hears which phase begins and whoever hears its requests.
#[derive(Clone, Debug)]
pub struct OpFiles(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    /// The file of the phase under way; `None` of a phase whose operations are not written.
    current: Option<OpFile>,
    files: LogFiles,
    began: Instant,
    /// Whether each task is a workload of its own.
    is_split: bool,
}

impl OpFiles {
    /// None are open yet; `session` tells of its requests where they `are_wanted`.
    pub fn told_by(session: &mut Session, are_wanted: bool) -> OpFiles {
        let files = LogFiles::headed(OP_HEAD);
        let open = Open { current: None, files, began: Instant::START, is_split: false };
        let op_files = OpFiles(Arc::new(Mutex::new(open)));
        if are_wanted {
            session.tell(Box::new(op_files.clone()));
        }
        op_files
    }

    /// A phase begins whose operations go to such files, in the place of those that an earlier phase had of these names.
    pub fn begin(&self, of: Option<OpFile>) {
        self.with(|open| {
            if let Some(of) = &of {
                open.files.forget(&of.name(""));
            }
            open.current = of;
        });
    }

    /// Gives the files their names; what went wrong, if anything did.
    pub fn finish(&self) -> Option<String> {
        self.with(|open| open.files.finish())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Open) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for OpFiles {
    fn wants(&self, _: &Workload) -> bool {
        self.with(|open| open.current.is_some())
    }

    fn begin(&mut self, load: &Load, _: &[Vec<String>], at: Instant) {
        self.with(|open| (open.began, open.is_split) = (at, load.workloads.len() > 1));
    }

    fn hear(&mut self, workload: usize, requests: &[Logged]) {
        self.with(|open| {
            let (Some(of), Some(first)) = (&open.current, requests.first()) else { return };
            let task = if open.is_split { workload } else { first.worker as usize };
            let mut text = String::new();
            for request in requests.iter().filter(|request| request.op != Op::Flush) {
                let since = request.issued.saturating_since(open.began);
                op_line(since, request.service(), of.bytes, &mut text);
            }
            open.files.add(&of.name(&format!("{task:05}.csv")), text.as_bytes());
        });
    }

    fn end(&mut self, _: Instant) {}
}
