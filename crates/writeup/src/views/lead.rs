//! Which run is ahead, and how far.
//!
//! **Invariant:** a ratio is of one point that both runs have, and only where the comparison of the two decided something;
//! otherwise the figures are told with the reason why there is none.

use chart::Unit;
use record::{Compared, Metric, RUN_TO_RUN, Verdict, World, doubted};
use report::grouped;

use crate::document::Sentence;
use crate::measured::{self, Measured, WithInterval};
use crate::number::Number;

use super::{Subject, best, ratio};

/// Deviations within which 95 of 100 values lie.
const CONFIDENCE: f64 = 1.96;
/// Runs whose figures one sentence tells.
const TOLD_MOST: usize = 4;
/// The name that the number of a round has among swept values. Rounds are repeats.
const ROUND: &str = "round";

/// A case that several runs have.
struct Lead<'a> {
    name: String,
    /// The best of each run, the best first.
    peaks: Vec<(Measured<'a>, Number)>,
    /// Whether some run has several points of it.
    is_swept: bool,
    outcome: Outcome,
}

/// What a case says of its runs.
enum Outcome {
    /// At the point of this name one run is ahead of another: figures and ratio.
    Ahead { at: String, first: (usize, Number), last: (usize, Number), ratio: Number },
    /// It is not known which one is, and why.
    Open(String),
    /// They differ by no more than what is told apart.
    Alike(String),
    /// What one of the runs measured is no figure of the storage.
    Doubtful(String),
    /// The runs asked for different loads of different storage: in what the loads differ.
    Mixed(String),
    /// No point is one of two runs.
    Apart,
}

/// The run with the highest figure of each case, and how far it is ahead of the lowest; the widest lead first, at most
/// `most` of them. `None` where no case is one of several runs.
pub(crate) fn leads(
    subject: &Subject<'_>,
    cases: &[(String, Vec<Measured<'_>>)],
    metric: Metric,
    most: usize,
    is_whole: bool,
) -> Option<Sentence> {
    let all: Vec<Lead<'_>> =
        cases.iter().filter_map(|(name, case)| lead(subject, name, case, metric)).collect();
    if all.is_empty() {
        return None;
    }
    let is_none = |lead: &&Lead<'_>| matches!(lead.outcome, Outcome::Doubtful(_) | Outcome::Mixed(_));
    let doubtful = all.iter().find(is_none);
    if let Some(lead) = doubtful {
        return Some(lead.undecided(subject, metric));
    }
    let count = all.len();
    let (mut wide, open): (Vec<Lead<'_>>, Vec<Lead<'_>>) =
        all.into_iter().partition(|lead| lead.factor().is_some());
    wide.sort_by(|one, other| other.factor().unwrap_or(1.0).total_cmp(&one.factor().unwrap_or(1.0)));
    debug_assert_eq!(wide.len() + open.len(), count, "a lead is decided or open");
    let mut sentence = Sentence::default();
    for lead in wide.iter().take(most) {
        sentence = lead.decided(subject, metric, sentence);
    }
    let blank = if sentence.is_empty() { "" } else { " " };
    Some(match (wide.len().saturating_sub(most), open.as_slice()) {
        _ if !is_whole && !sentence.is_empty() => sentence,
        (0, []) => sentence,
        (0, [only]) if wide.is_empty() => only.undecided(subject, metric),
        (0, open) => sentence.words(format!("{blank}{}", without_lead(open, &wide, &measured::name(metric)))),
        (more, _) => sentence.words(format!("{blank}{more} more of {count} points differ.")),
    })
}

/// Of all points, those at which no run is ahead: `In 2 of 5 points no difference in rate is certain; in 1 it is too small to
/// matter.` Of a sweep that is its best point alone.
fn without_lead(open: &[Lead<'_>], wide: &[Lead<'_>], name: &str) -> String {
    let alike = open.iter().filter(|lead| matches!(lead.outcome, Outcome::Alike(_))).count();
    let count = open.len() + wide.len();
    let is_swept = open.iter().chain(wide).any(|lead| lead.is_swept);
    let (at, at_others) = if is_swept { ("At the best point of", "at that of") } else { ("In", "in") };
    let things = if is_swept { "sweeps" } else { "points" };
    match (open.len() - alike, alike) {
        (0, alike) => format!("{at} {alike} of {count} {things} the runs are equivalent in {name}."),
        (open, 0) => format!("{at} {open} of {count} {things} no difference in {name} is certain."),
        (open, alike) => format!(
            "{at} {open} of {count} {things} no difference in {name} is certain, and {at_others} {alike} the runs are \
             equivalent."
        ),
    }
}

/// What makes two points the same, whichever run they are of.
fn key<'a>(one: &Measured<'a>) -> (&'a str, Vec<(&'a str, &'a str)>) {
    let swept = one.point.swept.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    (one.point.phase.as_str(), swept.filter(|(key, _)| *key != ROUND).collect())
}

fn lead<'a>(subject: &Subject<'_>, name: &str, case: &[Measured<'a>], metric: Metric) -> Option<Lead<'a>> {
    let runs = runs_of(case);
    let of_run = |run: &usize| best(&own(case, *run), metric);
    let mut peaks: Vec<(Measured<'a>, Number)> = runs.iter().filter_map(of_run).collect();
    peaks.sort_by(|one, other| other.1.value.total_cmp(&one.1.value));
    if peaks.len() < 2 {
        return None;
    }
    debug_assert!(peaks.is_sorted_by(|one, next| one.1.value >= next.1.value), "the best comes first");
    let outcome = outcome(subject, case, metric);
    let is_swept = case.len() > peaks.len();
    Some(Lead { name: name.to_owned(), peaks, is_swept, outcome })
}

fn runs_of(points: &[Measured<'_>]) -> Vec<usize> {
    let mut runs: Vec<usize> = points.iter().map(|one| one.run).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

fn own<'a>(points: &[Measured<'a>], run: usize) -> Vec<Measured<'a>> {
    points.iter().filter(|one| one.run == run).copied().collect()
}

fn outcome(subject: &Subject<'_>, case: &[Measured<'_>], metric: Metric) -> Outcome {
    if let Some(doubts) = doubts(subject, &runs_of(case)) {
        return Outcome::Doubtful(doubts);
    }
    let Some(shared) = shared(case, metric) else { return Outcome::Apart };
    if let Some(loads) = mixed(subject, &shared) {
        return Outcome::Mixed(loads);
    }
    let found = outcome_at(subject, &shared, metric);
    if !matches!(found, Outcome::Open(_)) {
        return found;
    }
    // What is open at the best point of a sweep may be decided at others, as the tables say.
    let others = groups(case).into_iter().map(|group| outcome_at(subject, &group, metric));
    let ahead = others.filter_map(|outcome| match &outcome {
        Outcome::Ahead { first, .. } => Some((first.1.value, outcome)),
        _ => None,
    });
    ahead.max_by(|one, other| one.0.total_cmp(&other.0)).map_or(found, |(_, outcome)| outcome)
}

/// In what the loads of one point differ between runs on different storage: `depth 1 → 32`. Cells of a campaign are called by
/// what they were set to, and are compared as that.
fn mixed(subject: &Subject<'_>, shared: &[Measured<'_>]) -> Option<String> {
    let runs = runs_of(shared);
    let storage = |run: &usize| -> Vec<&str> {
        subject.runs[*run].targets.iter().map(|target| target.address.as_str()).collect()
    };
    let is_same = runs.windows(2).all(|pair| storage(&pair[0]) == storage(&pair[1]));
    if is_same || runs.iter().any(|run| subject.runs[*run].cell.is_some()) {
        return None;
    }
    let asked: Vec<_> = runs
        .iter()
        .filter_map(|run| shared.iter().find(|one| one.run == *run))
        .map(|one| one.point.asked())
        .collect();
    let keys = report::distinct(asked.iter().flat_map(|keys| keys.keys().cloned()));
    let told = |key: &String| {
        let values: Vec<&str> =
            asked.iter().map(|keys| keys.get(key).map_or("none", String::as_str)).collect();
        let differs = values.windows(2).any(|pair| pair[0] != pair[1]);
        differs.then(|| format!("{key} {}", values.join(" → ")))
    };
    let told: Vec<String> = keys.iter().filter_map(told).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The same at one point, of which each run has a measurement in `shared`.
fn outcome_at(subject: &Subject<'_>, shared: &[Measured<'_>], metric: Metric) -> Outcome {
    let of_run = |run: usize| Some((run, best(&own(shared, run), metric)?.0));
    let mut each: Vec<(usize, Measured<'_>)> = runs_of(shared).into_iter().filter_map(of_run).collect();
    let value = |one: &(usize, Measured<'_>)| one.1.figure(metric).map_or(0.0, |(number, _)| number.value);
    each.sort_by(|one, other| value(other).total_cmp(&value(one)));
    let (Some(first), Some(last)) = (each.first(), each.last()) else { return Outcome::Apart };
    let at = first.1.point.name.clone();
    match by_comparison(subject, &at, metric, first.0, last.0) {
        Some(found) => found,
        None => by_intervals(subject, at, metric, (first, last)),
    }
}

/// The measurement of the point that most runs have, of several the one with the best figure; `None` where no two runs
/// have one.
pub(super) fn shared<'a>(case: &[Measured<'a>], metric: Metric) -> Option<Vec<Measured<'a>>> {
    let estimate = |group: &Vec<Measured<'a>>| {
        let figure = best(group, metric)?.0.figure(metric)?;
        Some(measured::estimate(&figure))
    };
    metric.best(groups(case), estimate).map(|(group, _)| group)
}

/// The points that most runs have, each with its measurements; none where no two runs have one.
fn groups<'a>(case: &[Measured<'a>]) -> Vec<Vec<Measured<'a>>> {
    let groups = grouped(case.iter().map(|one| (key(one), *one)));
    let mut groups: Vec<Vec<Measured<'a>>> = groups.into_iter().map(|(_, group)| group).collect();
    let most = groups.iter().map(|group| runs_of(group).len()).max().unwrap_or(0);
    debug_assert!(groups.iter().all(|group| !group.is_empty()), "a group is of points");
    groups.retain(|group| most > 1 && runs_of(group).len() == most);
    groups
}

/// Which of `runs` are no measurement of what they seem to be.
fn doubts(subject: &Subject<'_>, runs: &[usize]) -> Option<String> {
    let of_run = |run: &usize| {
        let grading = subject.runs[*run].grading.as_ref()?;
        doubted(subject.label(*run), grading.grade, &grading.doubts())
    };
    let told: Vec<String> = runs.iter().filter_map(of_run).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What the comparison of the records says of the point `at`; `None` where it holds no such row, as of two runs neither of
/// which is the first.
fn by_comparison(
    subject: &Subject<'_>,
    at: &str,
    metric: Metric,
    first: usize,
    last: usize,
) -> Option<Outcome> {
    let (comparison, place) = subject.comparison?;
    let side = first.max(last);
    let is_it = |row: &Compared| {
        row.total && row.cell == at && row.metric == metric.name() && row.side as usize == side
    };
    let mut rows = comparison.rows.iter().enumerate().filter(|(_, row)| is_it(row));
    let (index, row) = rows.next().filter(|_| first.min(last) == 0)?;
    // Of several workloads each has its own row, and none is of all of them.
    if rows.next().is_some() {
        return None;
    }
    let number = |key: &str, value, unit| Number::at(place, format!("/rows/{index}/{key}"), value, unit);
    let unit = measured::unit(metric);
    let (base, value) = (number("base", row.base, unit), number("value", row.value, unit));
    Some(match row.verdict {
        Verdict::Better | Verdict::Worse => {
            let (above, below) = if first == 0 { (base, value) } else { (value, base) };
            let ratio = match first == 0 {
                true => ratio(&above, &below, Unit::Ratio),
                false => number("ratio", row.ratio, Unit::Ratio),
            };
            Outcome::Ahead { at: at.to_owned(), first: (first, above), last: (last, below), ratio }
        }
        Verdict::Equivalent => Outcome::Alike(format!("equivalent at {at}")),
        Verdict::Inconclusive => Outcome::Open(inconclusive(at, row, first == 0)),
        Verdict::Offered => Outcome::Open(format!("the plan sets the rate at {at}")),
    })
}

/// Why nothing is decided: the range in which the ratio lies, of the baseline to the other where it `is_turned`.
fn inconclusive(at: &str, row: &Compared, is_turned: bool) -> String {
    let Some((low, high)) = row.low.zip(row.high).filter(|(low, _)| *low > 0.0) else {
        return format!("inconclusive at {at}, as too little was measured for an interval of the ratio");
    };
    let (low, high) = if is_turned { (1.0 / high, 1.0 / low) } else { (low, high) };
    let [low, high] = [low, high].map(|end| Unit::Ratio.written(end));
    format!("inconclusive at {at}, where the 95 % interval of the ratio is {low} to {high}")
}

/// What the intervals of both figures say, where no comparison is at hand.
fn by_intervals(
    subject: &Subject<'_>,
    at: String,
    metric: Metric,
    (first, last): (&(usize, Measured<'_>), &(usize, Measured<'_>)),
) -> Outcome {
    // Seconds within single runs do not show how much runs on real storage differ.
    let is_real = subject.runs.iter().any(|run| run.world == World::Host);
    let (Some(above), Some(below)) = (first.1.figure(metric), last.1.figure(metric)) else {
        return Outcome::Apart;
    };
    if above.1.is_none() || below.1.is_none() {
        return Outcome::Open(format!("inconclusive at {at}, where a run has no 95 % interval"));
    }
    if ends(&above, is_real).0 <= ends(&below, is_real).1 {
        return Outcome::Open(format!("inconclusive at {at}, where the 95 % intervals overlap"));
    }
    let ratio = ratio(&above.0, &below.0, Unit::Ratio);
    Outcome::Ahead { at, first: (first.0, above.0), last: (last.0, below.0), ratio }
}

/// The ends of an interval, no nearer than a two-hundredth. A run on real storage deviates from the next, which its own interval does not
/// know.
fn ends(figure: &WithInterval, is_real: bool) -> (f64, f64) {
    let deviation = if is_real { CONFIDENCE * RUN_TO_RUN } else { 0.005 };
    let value = figure.0.value;
    let (low, high) = figure.1.as_ref().map_or((value, value), |(low, high)| (low.value, high.value));
    let beyond = |end: f64| (end - value).hypot(deviation * value);
    (value - beyond(low), value + beyond(high))
}

impl Lead<'_> {
    /// How far one is ahead, where that is known.
    fn factor(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Ahead { ratio, .. } => Some(ratio.value),
            _ => None,
        }
    }

    /// `sentence` with the figure of the run that is ahead, and its ratio to the last.
    fn decided(&self, subject: &Subject<'_>, metric: Metric, sentence: Sentence) -> Sentence {
        let Outcome::Ahead { at, first, last, ratio } = &self.outcome else { return sentence };
        let blank = if sentence.is_empty() { "" } else { " " };
        let along = self.peaks.iter().any(|(one, _)| one.point.name != *at);
        let case = if along || self.name.is_empty() { at } else { &self.name };
        sentence
            .words(format!("{blank}{} reaches ", subject.label(first.0)))
            .number(first.1.clone())
            .words(format!("{}, ", measured::behind(metric)))
            .number(ratio.clone())
            .words(format!(" {} ({case}).", subject.label(last.0)))
    }

    /// The best of each run, and why there is no ratio.
    fn undecided(&self, subject: &Subject<'_>, metric: Metric) -> Sentence {
        let mut sentence = match &self.outcome {
            Outcome::Doubtful(why) => Sentence::of(format!("Not comparable: {why}. ")),
            _ => Sentence::default(),
        };
        // A point that all have is named once, by the reason.
        let at = self.peaks.first().map_or("", |(one, _)| one.point.name.as_str());
        let is_shared = matches!(&self.outcome, Outcome::Open(why) | Outcome::Alike(why) if why.contains(at))
            && self.peaks.iter().all(|(one, _)| one.point.name == at);
        let hidden = self.peaks.len().saturating_sub(TOLD_MOST);
        for (place, (one, number)) in self.peaks.iter().enumerate() {
            // Of many, the best ones and the last.
            if hidden > 0 && (TOLD_MOST - 1..self.peaks.len() - 1).contains(&place) {
                continue;
            }
            let comma = if place > 0 { ", " } else { "" };
            let named = if is_shared { String::new() } else { format!(" ({})", one.point.name) };
            sentence = sentence
                .words(format!("{comma}{}: ", subject.label(one.run)))
                .number(number.clone())
                .words(format!("{}{named}", measured::behind(metric)));
        }
        if hidden > 0 {
            sentence = sentence.words(format!(", and {hidden} more between the last two"));
        }
        match &self.outcome {
            Outcome::Open(why) | Outcome::Alike(why) => sentence.words(format!("; {why}.")),
            Outcome::Mixed(loads) => sentence.words(format!(": {}: {loads}.", report::LOADS_DIFFER)),
            Outcome::Apart => sentence.words(": no point in common, so there is no ratio."),
            _ => sentence.words("."),
        }
    }
}
