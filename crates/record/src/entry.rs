//! What is known of a run without reading its record.

use std::collections::BTreeMap;

use crate::{Grade, OpSummary, Point, Run, Severity, World};

/// One line of a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Given by a library when the run was first saved, from 1, and never given again; 0 before.
    pub number: i64,
    /// The run's own name.
    pub id: String,
    /// UTC, RFC 3339.
    pub started: String,
    /// UTC, RFC 3339; absent while it runs, or when its process was killed.
    pub ended: Option<String>,
    /// The plan's name.
    pub plan: String,
    /// `host` or `array`.
    pub world: String,
    /// The machine that asked.
    pub hostname: String,
    /// What was asked, as typed.
    pub targets: Vec<String>,
    /// Labels given by the user.
    pub tags: BTreeMap<String, String>,
    /// Points measured.
    pub points: u64,
    /// The best rate of any workload in any point; absent where nothing was measured.
    pub peak_ops_per_s: Option<f64>,
    /// The best throughput likewise.
    pub peak_bytes_per_s: Option<f64>,
    /// Findings that warn.
    pub warnings: u64,
    /// Findings that make a figure invalid.
    pub invalid: u64,
    /// How far its figures can be relied on; absent where nothing was judged.
    pub grade: Option<Grade>,
    /// Whether every point of the plan was carried out.
    pub complete: bool,
    /// The exit code.
    pub code: u8,
    /// How it ended, in words.
    pub reason: String,
    /// Size of the record.
    pub json_bytes: u64,
}

impl Entry {
    /// The entry of `run`, whose record is so many bytes long. Without a number yet.
    pub fn of(run: &Run, json_bytes: usize) -> Entry {
        let found =
            |severity| run.findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        let (peak_ops_per_s, peak_bytes_per_s) = peaks(&run.points);
        Entry {
            number: 0,
            id: run.id.clone(),
            started: run.started.clone(),
            ended: run.ended.clone(),
            plan: run.plan.name.clone(),
            world: match run.world {
                World::Host => "host".into(),
                World::Array => "array".into(),
            },
            hostname: run.environment.hostname.clone(),
            targets: run.targets.iter().map(|target| target.address.clone()).collect(),
            tags: run.tags.clone(),
            points: run.points.len() as u64,
            peak_ops_per_s,
            peak_bytes_per_s,
            warnings: found(Severity::Warning),
            invalid: found(Severity::Invalid),
            grade: run.grading.as_ref().map(|grading| grading.grade),
            complete: run.ending.complete,
            code: run.ending.code,
            reason: run.ending.reason.clone(),
            json_bytes: json_bytes as u64,
        }
    }
}

/// The best rate and the best throughput of any workload in `points`; `None` where nothing was measured.
pub fn peaks(points: &[Point]) -> (Option<f64>, Option<f64>) {
    let peak = |of: fn(&OpSummary) -> f64| {
        let workloads = points.iter().flat_map(|point| &point.workloads);
        workloads.filter_map(|workload| workload.total()).map(of).reduce(f64::max)
    };
    (peak(|summary| summary.ops_per_s.value), peak(|summary| summary.bytes_per_s.value))
}
