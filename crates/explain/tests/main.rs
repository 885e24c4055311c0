//! Each finding is made when its evidence is there, and not when it is not.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod bookkeeping;
mod caches;
mod carry_over;
mod company;
mod compare;
mod content;
mod failures;
mod grade;
mod guide;
mod limits;
mod model;
mod parts;
mod samples;
mod saturation;
mod search;
mod sound;
mod steady;
mod what_if;
mod working_set;
mod writes;

use record::sample::{self, Stream};
use record::{Finding, Point, Run, WorkloadResult};

/// Random reads, enough of them, with nothing to say about.
pub(crate) fn reads() -> Run {
    of("read")
}

/// Random writes likewise.
pub(crate) fn writes() -> Run {
    of("write")
}

fn of(op: &'static str) -> Run {
    let stream = Stream { op, size_bytes: 4096, per_s: 20_000, median_ns: 400_000, spread: 0.5 };
    sample::run("quick", vec![sample::point(0, "4k", vec![sample::workload("main", &[stream])])])
}

/// The run's only point.
pub(crate) fn point(run: &mut Run) -> &mut Point {
    &mut run.points[0]
}

/// The run's only workload.
pub(crate) fn workload(run: &mut Run) -> &mut WorkloadResult {
    &mut run.points[0].workloads[0]
}

/// Changes a key of the only workload.
pub(crate) fn set(run: &mut Run, key: &str, value: &str) {
    workload(run).spec.insert(key.into(), value.into());
}

/// The first finding of that code.
pub(crate) fn find(run: &Run, code: &str) -> Option<Finding> {
    explain::findings(run).into_iter().find(|finding| finding.code == code)
}

/// The finding of that code, which must be there, say something and tell what to do.
pub(crate) fn found(run: &Run, code: &str) -> Finding {
    let finding = find(run, code).unwrap_or_else(|| panic!("no {code} among {:?}", codes(run)));
    assert!(finding.sentence.ends_with('.'), "{}", finding.sentence);
    assert!(finding.remedy.ends_with('.'), "{}", finding.remedy);
    finding
}

/// The codes of all findings.
pub(crate) fn codes(run: &Run) -> Vec<String> {
    explain::findings(run).into_iter().map(|finding| finding.code).collect()
}
