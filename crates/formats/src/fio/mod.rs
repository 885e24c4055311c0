//! fio: job files and command lines in, JSON, text and terse lines out.
//!
//! A job becomes a workload, jobs that run together a phase; see [`Command::translated`]. An option that changes the
//! requests is supported or refused by name; one that does not is accepted, with a note where more may be expected.

mod access;
mod arrange;
mod checks;
mod command;
mod commands;
mod complaints;
mod depths;
mod distribution;
mod draw;
mod engine;
mod execution;
mod figures;
mod files;
mod ini;
mod job;
mod json;
mod keys;
mod layout;
mod length;
mod log;
mod log_store;
mod member;
mod merge;
mod options;
mod output;
mod overlay;
mod pace;
mod pattern;
mod priority;
mod region;
mod replay;
mod section;
mod settings;
mod steady;
mod text;
mod times;
mod tree;
mod unified;
mod value;
mod verify;
mod wanted;
mod zones;

#[cfg(test)]
mod starred;
#[cfg(test)]
mod tests;

use units::Share;
use workload::plan::{LatencyFigure, Slo};

use crate::{JobEnvironment, JobFile, Refusal, TranslatedJob};

pub use command::Command;
#[cfg(test)]
pub(crate) use command::SYNTAX;
pub use execution::{Execution, Executions};
pub(crate) use figures::ctime;
pub use layout::{Growth, LaidOut, Layout};
pub use log::RequestLog;
pub use log_store::inflate_log;
pub use merge::{Merge, MergedTrace};
#[cfg(test)]
pub(crate) use options::{counts, elsewhere, markdown};
pub use output::{JSON, TERSE, TEXT};
pub use overlay::Overlay;
pub use wanted::{Format, STDIN, Trigger, VERSION, Wanted};

const TOOL: &str = "fio";

/// Whether fio's jobs have an option of that name.
pub fn is_option(name: &str) -> bool {
    options::find(name).is_some()
}

/// fio's job files.
pub const JOB_FILE: JobFile = JobFile {
    tool: TOOL,
    about: "sections, jobs that run together or after a stonewall, and their options",
    is_one: ini::is_one,
    read,
};

fn read(name: &str, text: &str, environment: &JobEnvironment<'_>) -> Result<TranslatedJob, Refusal> {
    let mut sections = ini::read(name, text, environment)?;
    overlay::lay_over(&mut sections, environment.set)?;
    let jobs = command::jobs(&sections, environment)?;
    if jobs.is_empty() {
        let what = "there is no job: write a [section] that is not [global]".into();
        return Err(Refusal::Line { file: name.into(), line: 1, what });
    }
    if let Some((job, slo)) = jobs.iter().find_map(|job| Some((job, job.slo?))) {
        let setting = job.options.get("latency_target").expect("an SLO comes from it");
        // No sample can show that all requests meet an SLO: the last of a thousand stands for the last of all.
        let slo = match slo {
            Slo::Latency { figure: LatencyFigure::Quantile(Share::ALL), below, .. } => {
                format!("p99.9<{}", below.exact())
            }
            other => other.to_string(),
        };
        return Err(setting.unsupported(format!(
            "a plan is not a search; `fathom as fio {name}` searches, or leave latency_* out and run \
             `fathom search {name} --slo '{slo}'`"
        )));
    }
    for job in &jobs {
        let Some(setting) = job.options.get("read_iolog").filter(|_| job.replay.is_some()) else { continue };
        // A plan is checked with its traces.
        let merge = merge::of(&job.options)?;
        let trace = merge.as_ref().map_or(&setting.value, |merge| &merge.into);
        let is_there = || (environment.kind)(trace).is_some();
        if !job.replay.as_ref().is_some_and(|replay| replay.is_text) && !is_there() {
            return Err(setting.wrong("a log that is there; a job before it writes one with write_iolog="));
        }
    }
    Ok(arrange::arrange(&jobs, &stem(name), name, environment.salt)?.translated)
}

/// What the plan of a job file is called: `small` of `jobs/small.fio`. The tool's name where that is nothing.
fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.trim().is_empty() { TOOL.into() } else { stem.into() }
}
