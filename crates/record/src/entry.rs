//! What is known of a run without reading its record.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Grade, Metric, Point, PointKind, Run, Severity, Target, World};

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
    /// What was asked, as typed; of a file that was named from a folder its whole path.
    pub targets: Vec<String>,
    /// Labels given by the user.
    pub tags: BTreeMap<String, String>,
    /// Points measured.
    pub points: u64,
    /// The highest rate of all workloads of a point together; of a search the highest rate that kept its SLOs. Absent
    /// where there is none.
    pub peak_ops_per_s: Option<f64>,
    /// The best throughput likewise.
    pub peak_bytes_per_s: Option<f64>,
    /// Kinds of findings that warn, as a page shows them: one of several points counts once.
    pub warnings: u64,
    /// Kinds of findings that make a figure invalid, likewise.
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

/// A target in a list: files of one name in several folders are told apart.
fn told(target: &Target) -> String {
    let is_relative = target.kind == "file" && !target.address.starts_with('/');
    target.path.clone().filter(|_| is_relative).unwrap_or_else(|| target.address.clone())
}

impl Entry {
    /// The entry of `run`, whose record is so many bytes long. Without a number yet.
    pub fn of(run: &Run, json_bytes: usize) -> Entry {
        // As a page shows them: a finding of several points once.
        let found = |severity| {
            let codes =
                run.findings.iter().filter(|finding| finding.severity == severity).map(|one| &one.code);
            codes.collect::<BTreeSet<_>>().len() as u64
        };
        let (peak_ops_per_s, peak_bytes_per_s) = peaks_of_search(run).unwrap_or_else(|| peaks(&run.points));
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
            targets: run.targets.iter().map(told).collect(),
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

/// The highest rate and the highest throughput of `points`, all workloads of a point together; `None` where nothing was
/// measured. What only brought a target into a state is no result.
pub fn peaks(points: &[Point]) -> (Option<f64>, Option<f64>) {
    let loads = || points.iter().filter(|point| point.kind == PointKind::Load);
    let peak = |metric: Metric| Some(metric.best(loads(), |point| point.estimate(metric))?.1);
    (peak(Metric::Iops), peak(Metric::Throughput))
}

/// What the search of `run` found: the highest rate that kept its SLOs, and the throughput there. `None` where it is no
/// search, whose trials beyond that rate are no result.
pub fn peaks_of_search(run: &Run) -> Option<(Option<f64>, Option<f64>)> {
    let search = run.search.as_ref()?;
    let kept = search
        .ladder
        .iter()
        .filter(|rung| rung.verdict == "pass" && Some(rung.rate_per_s) == search.met_per_s);
    let points = kept.flat_map(|rung| &rung.points).filter_map(|index| run.point(*index));
    let throughput = Metric::Throughput.best(points, |point| point.estimate(Metric::Throughput));
    Some((search.met_per_s, throughput.map(|(_, value)| value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };

    #[test]
    fn a_file_that_was_named_from_a_folder_is_told_by_its_whole_path() {
        let mut run = sample::run("p", Vec::new());
        let of = |run: &Run| Entry::of(run, 0).targets;
        let whole = run.targets[0].address.clone();
        assert_eq!(of(&run), [whole]);
        run.targets[0].address = "r.0.0".into();
        run.targets[0].kind = "file".into();
        run.targets[0].path = Some("/home/a/r.0.0".into());
        assert_eq!(of(&run), ["/home/a/r.0.0"]);
        run.targets[0].path = None;
        assert_eq!(of(&run), ["r.0.0"]);
    }

    #[test]
    fn the_peak_of_a_point_is_that_of_its_workloads_together() {
        let alone = sample::point(0, "alone", vec![sample::workload("a", &[STREAM])]);
        let both = sample::point(
            1,
            "both",
            vec![sample::workload("a", &[STREAM]), sample::workload("b", &[STREAM])],
        );
        let one = alone.figure(Metric::Iops).expect("it was measured");
        let run = sample::run("threads", vec![alone, both]);
        let entry = Entry::of(&run, 0);
        let peak = entry.peak_ops_per_s.expect("it was measured");
        assert!((peak / one - 2.0).abs() < 1e-9, "{peak} of two, {one} of one");
        assert!(entry.peak_bytes_per_s.is_some_and(|bytes| (bytes / peak - 4096.0).abs() < 1e-6));
    }

    #[test]
    fn the_peak_of_a_search_is_what_it_found_and_not_what_it_tried() {
        let search = serde_json::json!({
            "slos": ["p99<5ms"], "tolerance": 0.02, "ceiling_per_s": 9000.0, "met_per_s": 500.0,
            "confirmed": true, "complete": true, "ladder": [],
        });
        let point = sample::point(0, "overload", vec![sample::workload("a", &[STREAM])]);
        let mut run = sample::run("search", vec![point]);
        run.search = Some(serde_json::from_value(search).expect("it is a search"));
        assert_eq!(Entry::of(&run, 0).peak_ops_per_s, Some(500.0));
        run.search.as_mut().expect("it has one").met_per_s = None;
        assert_eq!(Entry::of(&run, 0).peak_ops_per_s, None, "a rate that broke the SLO is no peak");
    }
}
