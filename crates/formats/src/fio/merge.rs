//! Traces of blktrace that a job has merged into one before it asks it again: `merge_blktrace_file` and what belongs to it.
//!
//! Source: fio's manual, the `merge_blktrace_` options.

use units::convert::truncated;
use workload::trace::{MergedBlktrace, merge_blktraces};

use crate::Refusal;

use super::command::Command;
use super::files::split;
use super::settings::Options;

/// What is merged before the jobs begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// The traces.
    pub parts: Vec<MergedTrace>,
    /// The file that they are written to.
    pub into: String,
}

/// One trace of several.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedTrace {
    /// What blktrace has recorded.
    pub file: String,
    /// Its times become so many percent of what they were.
    pub percent: u64,
    /// So many times it comes.
    pub times: u64,
}

/// The merge of a job; `None` where it asks for none.
pub(super) fn of(options: &Options) -> Result<Option<Merge>, Refusal> {
    let Some(into) = options.get("merge_blktrace_file").filter(|into| !into.value.is_empty()) else {
        return Ok(None);
    };
    let Some(traces) = options.get("read_iolog").filter(|traces| !traces.value.is_empty()) else {
        return Err(into.wrong("it goes with read_iolog=, which names the traces"));
    };
    let files = split(&traces.value);
    let figures = |name: &str, default: u64| -> Result<Vec<u64>, Refusal> {
        let Some(setting) = options.get(name) else { return Ok(vec![default; files.len()]) };
        let read = |text: &str| {
            let figure = text.trim().parse::<f64>().ok().filter(|figure| (1.0..=1e6).contains(figure));
            figure.map(truncated::<u64>)
        };
        let all: Option<Vec<u64>> = setting.value.split(':').map(read).collect();
        all.filter(|all| all.len() == files.len()).ok_or_else(|| {
            setting.wrong("a number from 1 to 1000000 for each trace of read_iolog=, apart by `:`")
        })
    };
    let (percents, times) = (figures("merge_blktrace_scalars", 100)?, figures("merge_blktrace_iters", 1)?);
    let parts = files.into_iter().zip(percents).zip(times);
    let parts = parts.map(|((file, percent), times)| MergedTrace { file, percent, times }).collect();
    Ok(Some(Merge { parts, into: into.value.clone() }))
}

impl Command {
    /// What is merged before the jobs begin, each file once.
    pub fn merges(&self) -> Vec<Merge> {
        let mut all: Vec<Merge> = Vec::new();
        for merge in self.jobs.iter().filter_map(|job| of(&job.options).ok().flatten()) {
            if !all.contains(&merge) {
                all.push(merge);
            }
        }
        all
    }
}

impl Merge {
    /// The merged trace of what the traces hold, in the order of `parts`. Fails where one of them is none, or ends within an
    /// event.
    pub fn merged(&self, traces: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        assert_eq!(self.parts.len(), traces.len(), "each part has its trace");
        let parts: Vec<MergedBlktrace<'_>> = self
            .parts
            .iter()
            .zip(traces)
            .map(|(part, bytes)| MergedBlktrace { bytes, percent: part.percent, times: part.times })
            .collect();
        merge_blktraces(&parts).map_err(|(place, why)| format!("{}: {why}", self.parts[place].file))
    }
}
