//! Job files of other tools, as `fathom run FILE` and `fathom plan convert FILE` read them.

use crate::{Order, Refusal, Surroundings};

/// One kind of job file.
#[derive(Debug)]
pub struct JobFile {
    /// The tool, as `--from` names it.
    pub tool: &'static str,
    /// Whether a file of that name with that text is one. Two kinds never claim the same file.
    pub is_one: fn(name: &str, text: &str) -> bool,
    /// Reads it; `name` is what messages call it.
    pub read: fn(name: &str, text: &str, around: &Surroundings<'_>) -> Result<Order, Refusal>,
}

/// All kinds there are.
pub fn job_files() -> &'static [JobFile] {
    const ALL: &[JobFile] = &[crate::fio::JOB_FILE, crate::iometer::JOB_FILE, crate::sqlio::JOB_FILE];
    ALL
}

/// The kind of a file of that name with that text; `None` where it is none, such as a plan of our own.
pub fn job_file(name: &str, text: &str) -> Option<&'static JobFile> {
    job_files().iter().find(|kind| (kind.is_one)(name, text))
}
