//! fio: job files and command lines in, JSON, text and terse lines out.
//!
//! A job becomes a workload, jobs that run together a phase; see [`Command::order`]. An option that changes the
//! requests is served or refused by name; one that does not is accepted, with a note where more may be expected.

mod arrange;
mod asked;
mod checks;
mod command;
mod draw;
mod figures;
mod files;
mod ini;
mod job;
mod json;
mod keys;
mod log;
mod options;
mod output;
mod pattern;
mod replay;
mod section;
mod steady;
mod table;
mod text;
mod tree;
mod value;
mod verify;

#[cfg(test)]
mod starred;
#[cfg(test)]
mod tests;

use crate::{JobFile, Order, Refusal, Surroundings};

pub use command::{Command, Format, Wanted};
pub use output::{JSON, TERSE, TEXT};

const TOOL: &str = "fio";

/// fio's job files.
pub const JOB_FILE: JobFile = JobFile {
    tool: TOOL,
    about: "sections, jobs that run together or after a stonewall, and their options",
    is_one: ini::is_one,
    read,
};

fn read(name: &str, text: &str, around: &Surroundings<'_>) -> Result<Order, Refusal> {
    let sections = ini::read(name, text, around)?;
    let jobs = command::jobs(&sections, around)?;
    if jobs.is_empty() {
        let what = "there is no job: write a [section] that is not [global]".into();
        return Err(Refusal::Line { file: name.into(), line: 1, what });
    }
    if let Some((job, promise)) = jobs.iter().find_map(|job| Some((job, job.promise.as_ref()?))) {
        let setting = job.options.get("latency_target").expect("a promise comes from it");
        return Err(setting.unserved(format!(
            "a plan is no search; `fathom as fio {name}` searches, or leave latency_* out and run \
             `fathom search {name} --slo '{promise}'`"
        )));
    }
    Ok(arrange::arrange(&jobs, name, around.salt)?.order)
}
