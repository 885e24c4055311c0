//! Iometer and Dynamo, versions of 1998 to 1.1.0: configuration files in, the results file out.
//!
//! A configuration says who asks (managers and their workers), whom (disks), for what (access specifications:
//! lines of size, share, reads, random, delay, burst, alignment, reply), how many at once for each disk, and in
//! which order workers, disks and depths are tried. Each worker and disk becomes a workload of its own, since
//! each has its own queue and its own place where a sequential request goes on.

mod builtin;
mod config;
mod cycling;
mod figures;
mod job;
mod lines;
mod naming;
mod options;
mod output;
mod processors;
mod reader;
mod sheet;
#[cfg(test)]
mod tests;

pub use config::{Config, Record};
pub use job::Job;
pub use options::{Command, Destination, refused_dynamo};
pub use output::{Generation, write};
pub use sheet::{Disk, Sheet, Test, Worker, WorkerSettings};

use record::Run;

use crate::{JobEnvironment, JobFile, NoFigures, Output, Refusal, TranslatedJob};
pub(crate) use options::SYNTAX;

const TOOL: &str = "iometer";

/// Iometer's configuration files, `*.icf`.
pub const JOB_FILE: JobFile = JobFile {
    tool: TOOL,
    about: "a configuration (.icf) of 1998 to 1.1.0: access specifications, workers, targets",
    is_one,
    read,
};

/// The results file of 1.1.0: 80 columns.
pub const OUTPUT: Output = Output {
    name: "iometer",
    ending: "iometer.csv",
    about: "results file of Iometer 1.1.0, with its latency bins",
    write: |run| text(run, Generation::New),
};

/// The results file of versions before 1.1: 56 columns.
pub const OLD_OUTPUT: Output = Output {
    name: "iometer-2006",
    ending: "iometer-2006.csv",
    about: "results file of Iometer before 1.1, without latency bins",
    write: |run| text(run, Generation::Old),
};

fn is_one(name: &str, text: &str) -> bool {
    let is_named_so = name.len() > 4 && name.is_char_boundary(name.len() - 4) && {
        name[name.len() - 4..].eq_ignore_ascii_case(".icf")
    };
    // A results file has the same keys, and begins with another.
    let is_result = text.trim_start().starts_with("'Test Type");
    is_named_so || !is_result && text.lines().any(|line| reader::section_of(line).is_some())
}

fn read(name: &str, text: &str, environment: &JobEnvironment<'_>) -> Result<TranslatedJob, Refusal> {
    let config = Config::read(name, text)?;
    let mut job = Job::of(&config, name, None)?;
    if environment.targets.is_empty() {
        job.translated.notes.extend(job.naming());
    }
    Ok(job.translated)
}

fn text(run: &Run, generation: Generation) -> Result<String, NoFigures> {
    let format = match generation {
        Generation::New => OUTPUT.name,
        Generation::Old => OLD_OUTPUT.name,
    };
    let has_figures = run.points.iter().any(|point| point.kind == record::PointKind::Load);
    NoFigures::when(!has_figures, format, "no point loads the target; any plan of loads has such")?;
    Ok(write(run, &Sheet::of(run), generation))
}
