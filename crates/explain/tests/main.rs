//! Each finding is made when its evidence is there, and not when it is not.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod bookkeeping;
mod caches;
mod campaign;
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
mod power;
mod ranks;
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
    workload(run).spec.set(key, value).unwrap();
}

/// The first finding of that code.
pub(crate) fn find(run: &Run, code: &str) -> Option<Finding> {
    explain::findings(&unfilled(run)).iter().for_each(has_no_placeholder);
    explain::findings(run).into_iter().find(|finding| finding.code == code)
}

/// The same run of phases whose names have keys in them that are filled in for each point.
fn unfilled(run: &Run) -> Run {
    let mut run = run.clone();
    let unfilled = |phase: &str| format!("{phase} {{reads}} at {{depth}} and {{workload.workers}}");
    run.points.iter_mut().for_each(|point| point.phase = unfilled(&point.phase));
    run.rounds.iter_mut().for_each(|rounds| rounds.phase = unfilled(&rounds.phase));
    run
}

fn has_no_placeholder(finding: &Finding) {
    for text in [&finding.sentence, &finding.remedy] {
        assert!(!text.contains(['{', '}']), "{}: {text}", finding.code);
    }
}

#[test]
fn every_code_is_found_in_some_test_so_that_no_sentence_keeps_a_placeholder() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let sources = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // The guide's test names every code and finds none.
    let tests: String = sources
        .filter(|path| !path.ends_with("guide.rs"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let unfound: Vec<&str> = explain::Code::ALL
        .iter()
        .map(|code| code.name())
        .filter(|name| !tests.contains(&format!("\"{name}\"")))
        .collect();
    assert!(unfound.is_empty(), "no test finds {unfound:?}");
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
