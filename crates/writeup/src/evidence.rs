//! What a report is drawn from and holds: its runs without what it does not show, and how they differ.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use campaign::Effects;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use record::names::series;
use record::{Comparison, Metric, Point, PointKind, Run, Series};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Points that are shown second by second and request by request, of one run and of all.
const OF_A_RUN: usize = 6;
const OF_ALL: usize = 24;
/// Points of a campaign that are shown over time, and values of all their series together.
const OF_A_CAMPAIGN: usize = 12;
const _: () = assert!(0 < OF_A_RUN && OF_A_RUN <= OF_ALL && 0 < OF_A_CAMPAIGN);
const VALUES_MOST: usize = 80_000;
/// More than any report holds: a page that unfolds to more is not one of ours.
const LARGEST: u64 = 512 << 20;

/// The version of this program, and of what its reports are made of.
const TOOL: &str = env!("CARGO_PKG_VERSION");
const BUILD: &str = env!("FATHOM_WRITEUP_BUILD");

/// What a report is drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The version of the program that drew it.
    pub tool: String,
    /// Its build: builds of one version may word a report differently. Empty where an older one drew it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub build: String,
    /// What the report is called; by its runs where absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// The runs. Of points that are not shown second by second, series, buckets of histograms and parts are left out; those
    /// of a campaign that are shown over time keep the series that this takes.
    pub runs: Vec<Run>,
    /// How they differ.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comparison: Option<Comparison>,
}

/// Why evidence could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// It cannot be written.
    #[error("the records cannot be packed into the report: {0}")]
    Unpackable(String),
    /// It cannot be read.
    #[error("the records in the report cannot be read: {0}")]
    Unreadable(String),
}

impl Evidence {
    /// What is kept of `runs`.
    pub fn of(mut runs: Vec<Run>, comparison: Option<Comparison>, title: Option<String>) -> Evidence {
        let kept = chosen(&runs, comparison.is_none() && are_of_one_campaign(&runs));
        runs.iter_mut().enumerate().for_each(|(run, record)| kept.reduce(run, record));
        Evidence { tool: TOOL.into(), build: BUILD.into(), title, runs, comparison }
    }

    /// Who drew it, as its page says: `0.1.0, build 0123456789abcdef`.
    pub fn drawn_by(&self) -> String {
        if self.build.is_empty() { self.tool.clone() } else { format!("{}, build {}", self.tool, self.build) }
    }

    /// Whether this build drew it.
    pub(crate) fn is_of_this_build(&self) -> bool {
        self.tool == TOOL && self.build == BUILD
    }

    /// Points that are shown over time, by run and place.
    pub(crate) fn portraits(&self) -> Vec<(usize, usize)> {
        let Chosen { whole, courses } = chosen(&self.runs, self.is_campaign());
        whole.into_iter().chain(courses).collect()
    }

    /// Whether all runs are of one campaign and nobody asked to compare them. One run alone is written up as any other.
    pub(crate) fn is_campaign(&self) -> bool {
        self.comparison.is_none() && are_of_one_campaign(&self.runs)
    }

    /// What the campaign says that the runs are; `None` where they are none.
    pub(crate) fn effects(&self) -> Option<Effects> {
        self.is_campaign().then(|| campaign::effects(&self.runs))
    }

    /// Its runs, its comparison and the effects that follow from the runs as JSON, in the order in which sources number them.
    pub(crate) fn records(&self) -> Result<Vec<Value>, EvidenceError> {
        let unpackable = |error: serde_json::Error| EvidenceError::Unpackable(error.to_string());
        let runs = self.runs.iter().map(serde_json::to_value);
        runs.chain(self.comparison.iter().map(serde_json::to_value))
            .chain(self.effects().iter().map(serde_json::to_value))
            .collect::<Result<_, _>>()
            .map_err(unpackable)
    }

    /// Whether its run number `run` is what is kept of `whole`. Of which points more is kept than their figures is a choice
    /// of the build that drew the page.
    pub fn holds(&self, run: usize, whole: &Run) -> bool {
        let Some(own) = self.runs.get(run) else { return false };
        let mut kept = whole.clone();
        for (kept, own) in kept.points.iter_mut().zip(&own.points) {
            let forms = [Kept::Whole, Kept::Course, Kept::Figures].map(|form| form.of(kept.clone()));
            if let Some(form) = forms.into_iter().find(|form| form == own) {
                *kept = form;
            }
        }
        *own == kept
    }

    /// As text that a page can hold: JSON, by gzip, in base 64. The checksum of gzip tells whether a record was altered that the page
    /// shows nothing of.
    pub fn packed(&self) -> Result<String, EvidenceError> {
        let unpackable = |error: &dyn std::fmt::Display| EvidenceError::Unpackable(error.to_string());
        let json = serde_json::to_vec(self).map_err(|error| unpackable(&error))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&json).map_err(|error| unpackable(&error))?;
        Ok(STANDARD.encode(encoder.finish().map_err(|error| unpackable(&error))?))
    }

    /// What [`packed`](Evidence::packed) made text of. Text that unfolds to more than any report holds is refused.
    pub fn unpacked(text: &str) -> Result<Evidence, EvidenceError> {
        let unreadable = |error: &dyn std::fmt::Display| EvidenceError::Unreadable(error.to_string());
        let bytes = STANDARD.decode(text.trim()).map_err(|error| unreadable(&error))?;
        let mut json = Vec::new();
        let read = GzDecoder::new(bytes.as_slice()).take(LARGEST).read_to_end(&mut json);
        read.map_err(|error| unreadable(&error))?;
        serde_json::from_slice(&json).map_err(|error| unreadable(&error))
    }
}

/// Of which points more than the figures is kept, by run and place.
#[derive(Default)]
struct Chosen {
    /// Everything.
    whole: BTreeSet<(usize, usize)>,
    /// What happened over time, in as few series as that takes.
    courses: BTreeSet<(usize, usize)>,
}

/// Whether `runs` are several of one campaign.
fn are_of_one_campaign(runs: &[Run]) -> bool {
    let [first, others @ ..] = runs else { return false };
    let campaign = |run: &'_ Run| run.cell.as_ref().map(|cell| cell.campaign.clone());
    let own = campaign(first);
    own.is_some() && !others.is_empty() && others.iter().all(|run| campaign(run) == own)
}

/// Points that are shown second by second: those that are alone in their phase first, then of sweeps the ends and
/// the point of the highest rate, or the middle.
/// Of a campaign, which shows its cells and effects, what happened over time in its cells.
fn chosen(runs: &[Run], is_campaign: bool) -> Chosen {
    if is_campaign {
        return Chosen { courses: courses(runs), ..Chosen::default() };
    }
    let each = (OF_ALL / runs.len().max(1)).clamp(1, OF_A_RUN);
    let all = runs.iter().flat_map(|run| &run.points).filter(|point| point.kind == PointKind::Load);
    let rate = |point: &Point| point.estimate(Metric::Iops);
    let peak = Metric::Iops.best(all, |point| rate(point)).map(|(point, _)| point.name.as_str());
    let of_run = |record: &Run| -> Vec<usize> {
        let loads: Vec<(usize, &Point)> =
            record.points.iter().enumerate().filter(|(_, point)| point.kind == PointKind::Load).collect();
        let alone =
            |one: &(usize, &Point)| loads.iter().filter(|other| other.1.phase == one.1.phase).count() == 1;
        let still: Vec<(usize, &Point)> = loads.iter().copied().filter(alone).collect();
        let swept: Vec<(usize, &Point)> = loads.iter().copied().filter(|one| !alone(one)).collect();
        debug_assert_eq!(still.len() + swept.len(), loads.len(), "a load is one of a sweep, or alone");
        let places = |all: &[(usize, &Point)], count: usize| -> Vec<usize> {
            let (count, last) = (count.min(all.len()), all.len().saturating_sub(1));
            let step = |index: usize| if count > 1 { last * index / (count - 1) } else { last };
            (0..count).map(|index| all[step(index)].0).collect()
        };
        let mut chosen = places(&still, each);
        let mut ends = places(&swept, (each - chosen.len()).min(3));
        // Where the rate is highest is what is asked about: it takes the place of the middle, the same in all runs.
        let is_highest = |one: &&(usize, &Point)| Some(one.1.name.as_str()) == peak;
        let own = Metric::Iops.best(&swept, |one| rate(one.1)).map(|(one, _)| one);
        if let Some((at, _)) = swept.iter().find(is_highest).or(own)
            && !ends.contains(at)
            && let Some(middle) = ends.len().checked_div(2)
            && let Some(place) = ends.get_mut(middle)
        {
            *place = *at;
            ends.sort_unstable();
        }
        debug_assert!(ends.is_sorted_by(|one, next| one < next), "each point once, in order");
        chosen.extend(ends);
        debug_assert!(chosen.len() <= each, "a run has no more than its part of all");
        chosen
    };
    let whole = runs
        .iter()
        .enumerate()
        .take(OF_ALL)
        .flat_map(|(run, record)| of_run(record).into_iter().map(move |at| (run, at)))
        .collect();
    Chosen { whole, ..Chosen::default() }
}

/// Points of a campaign's first block beside which an array did work of its own; where it did none, of each run the
/// longest, and of several the one with the highest load. What is chosen of runs of which nothing else is kept is the same.
fn courses(runs: &[Run]) -> BTreeSet<(usize, usize)> {
    let block = |run: &Run| run.cell.as_ref().filter(|cell| !cell.is_published()).map(|cell| cell.block);
    let first = runs.iter().filter_map(block).min();
    let of_first = || runs.iter().enumerate().filter(|(_, run)| first.is_some() && block(run) == first);
    let loads = |run: &'_ Run| -> Vec<usize> {
        let loads = run.points.iter().enumerate().filter(|(_, point)| point.kind == PointKind::Load);
        loads.map(|(at, _)| at).collect()
    };
    let has_work = |point: &Point| point.series.iter().any(|series| series.name.ends_with(series::DONE));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (run, record) in of_first() {
        let own = loads(record).into_iter().filter(|at| has_work(&record.points[*at]));
        found.extend(own.map(|at| (run, at)));
    }
    if found.is_empty() {
        for (run, record) in of_first() {
            let length = |at: &usize| {
                record.points[*at].workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0)
            };
            found.extend(loads(record).into_iter().max_by_key(length).map(|at| (run, at)));
        }
    }
    let mut values = 0;
    let fits = |(run, at): &(usize, usize)| {
        let series = runs[*run].points[*at].series.iter().filter(|series| is_of_course(series));
        let before = values;
        values += series.map(|series| series.values.len()).sum::<usize>();
        // The first one always: of the rest something would be chosen that this reduced.
        before == 0 || values <= VALUES_MOST
    };
    found.into_iter().take(OF_A_CAMPAIGN).take_while(fits).collect()
}

/// Whether a series is one of those that are shown over time: of work of an array's own, of rates, of the 99th percentile.
fn is_of_course(series: &Series) -> bool {
    let endings = [series::DONE, series::OPS, series::RESPONSE_P99];
    endings.iter().any(|ending| series.name.ends_with(ending))
}

impl Chosen {
    /// Leaves of the points of `record`, run number `run`, their figures, and of those that are chosen more.
    fn reduce(&self, run: usize, record: &mut Run) {
        for (at, point) in record.points.iter_mut().enumerate() {
            let place = (run, at);
            let form = match () {
                () if self.whole.contains(&place) => Kept::Whole,
                () if self.courses.contains(&place) => Kept::Course,
                () => Kept::Figures,
            };
            form.reduce(point);
        }
    }
}

/// What is kept of a point.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    /// Everything.
    Whole,
    /// Its figures, and what happened over time.
    Course,
    /// Its figures.
    Figures,
}

impl Kept {
    fn of(self, mut point: Point) -> Point {
        self.reduce(&mut point);
        point
    }

    fn reduce(self, point: &mut Point) {
        if self == Kept::Whole {
            return;
        }
        let is_course = self == Kept::Course;
        point.series.retain(|series| is_course && is_of_course(series));
        if !is_course {
            point.workloads.iter_mut().for_each(|workload| workload.responses_over_time = None);
        }
        reduce_point(point);
    }
}

/// Leaves of `point` its figures, and what happened over time.
fn reduce_point(point: &mut Point) {
    for class in point.workloads.iter_mut().flat_map(|workload| &mut workload.classes) {
        let histograms = [Some(&mut class.response), class.service.as_mut(), class.lag.as_mut()];
        histograms.into_iter().flatten().for_each(|histogram| histogram.buckets.clear());
    }
    for workload in &mut point.workloads {
        workload.late = None;
        workload.digests.clear();
        workload.workers.clear();
    }
    if let Some(breakdown) = &mut point.breakdown {
        breakdown.classes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };

    fn run(points: u32) -> Run {
        let points = (0..points).map(|index| {
            let mut point = sample::point(index, "p", vec![sample::workload("load", &[STREAM])]);
            point.swept.insert("depth".into(), (index + 1).to_string());
            point
        });
        sample::run("random", points.collect())
    }

    #[test]
    fn evidence_is_unpacked_as_it_was_packed() {
        let evidence = Evidence::of(vec![run(3)], None, Some("Title".into()));
        let packed = evidence.packed().expect("it can be packed");
        assert_eq!(Evidence::unpacked(&packed).expect("it can be read"), evidence);
    }

    #[test]
    fn of_few_phases_each_is_shown_over_time_and_of_many_the_ends_among_others() {
        let phases = |count: u32| {
            let mut run = run(count);
            (0..).zip(&mut run.points).for_each(|(index, point)| point.phase = format!("phase {index}"));
            Evidence::of(vec![run], None, None).portraits()
        };
        assert_eq!(phases(4), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        let many = phases(11);
        assert_eq!((many.len(), many[0], many[5]), (6, (0, 0), (0, 10)));
    }

    #[test]
    fn a_page_holds_a_run_whichever_of_its_points_the_build_that_drew_it_kept_whole() {
        let whole = run(101);
        let mut evidence = Evidence::of(vec![whole.clone()], None, None);
        assert!(evidence.holds(0, &whole));
        // Another build kept another point whole.
        evidence.runs[0].points[50] = Kept::Figures.of(whole.points[50].clone());
        evidence.runs[0].points[40] = whole.points[40].clone();
        assert!(evidence.holds(0, &whole));
        evidence.runs[0].points[40].workloads[0].summary[0].ops_per_s.value += 1.0;
        assert!(!evidence.holds(0, &whole) && !evidence.holds(1, &whole));
    }

    #[test]
    fn what_is_no_evidence_is_an_error_and_no_panic() {
        for text in ["", "!", "AAAA", "eyJ9"] {
            assert!(Evidence::unpacked(text).is_err(), "{text}");
        }
    }

    #[test]
    fn of_many_points_the_ends_and_the_middle_are_kept_whole() {
        let evidence = Evidence::of(vec![run(101)], None, None);
        let whole: Vec<usize> = evidence.runs[0]
            .points
            .iter()
            .enumerate()
            .filter(|(_, point)| !point.series.is_empty())
            .map(|(at, _)| at)
            .collect();
        assert_eq!(whole, [0, 50, 100]);
        assert_eq!(evidence.portraits(), [(0, 0), (0, 50), (0, 100)]);
        let again = Evidence::of(evidence.runs.clone(), None, None);
        assert_eq!(again, evidence, "what was left out is not left out again");
    }
}
