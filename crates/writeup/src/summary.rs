//! A report, and its top: title, answer, key figures.

use record::{Finding, Grade, Metric, PointKind, Run, Validation, World};
use report::{capital, distinct};

use crate::document::{Interval, KeyFigure, Section, Sentence, Span, Table, WriteUp};
use crate::facts::{facts, told_runs};
use crate::measured::{self, Measured};
use crate::number::Number;
use crate::sweep::{Phase, phases};
use crate::views::{Subject, best, exploration_answer, exploration_figures, leads, search_answer};
use crate::warnings::warnings;

/// Figures at the top: what a reader takes in at a glance.
const KEY_FIGURES: usize = 6;

/// Cases of one kind of headline that the answer names.
const CASES: usize = 1;

/// What is said of a rate that writes reached in free room of a write cache.
pub(crate) const UNSUSTAINED: &str = "Not sustained, the write cache was still filling";

/// The whole report of `sections`.
pub(crate) fn write_up(subject: &Subject<'_>, sections: Vec<Section>, title: Option<&str>) -> WriteUp {
    let grades = subject.runs.iter().filter_map(|run| Some(run.grading.as_ref()?.grade));
    let report = WriteUp {
        title: title.map_or_else(|| self::title(subject), str::to_owned),
        answer: answer(subject).words(simulated(subject.runs)),
        grade: grades.max(),
        key_figures: key_figures(subject),
        sections,
        warnings: warnings(subject),
        runs: told_runs(subject).map(|(run, label)| facts(run, label)).collect(),
    };
    debug_assert!(report.tables().all(Table::is_whole), "every row of a table has a cell for every column");
    debug_assert!(report.sections.iter().all(|section| !section.blocks.is_empty()), "no heading is alone");
    debug_assert!(
        report.warnings.is_sorted_by_key(|warning| std::cmp::Reverse(warning.severity)),
        "what is most severe comes first"
    );
    report
}

/// That figures are a model's, where they are: whoever reads the first lines alone must not take them for measured.
fn simulated(runs: &[Run]) -> String {
    let arrays = runs.iter().filter(|run| run.world == World::Array).count();
    let simulated = match runs.len() {
        _ if arrays == 0 => return String::new(),
        1 => "Simulated on a virtual array, not measured".to_owned(),
        all if all == arrays => "Simulated on virtual arrays, not measured".into(),
        all => format!("{arrays} of the {all} runs are simulated on virtual arrays, not measured"),
    };
    let targets = runs.iter().flat_map(|run| &run.targets);
    let known = targets.filter_map(|target| target.validation.as_ref());
    let least = known.clone().min_by(|one, other| one.median_error.total_cmp(&other.median_error));
    let most = known.max_by(|one, other| one.median_error.total_cmp(&other.median_error));
    let error = match (least, most) {
        (Some(least), Some(most)) if least == most => format!("; {}", report::model_error(most)),
        (Some(least), Some(most)) => {
            let percent = |known: &Validation| known.median_error * 100.0;
            format!(
                "; model errors {:.0} to {:.0} % (medians of published figures)",
                percent(least),
                percent(most)
            )
        }
        _ => String::new(),
    };
    format!(" {simulated}{error}.")
}

fn title(subject: &Subject<'_>) -> String {
    if let Some(campaign) = subject.campaign {
        return campaign.effects.campaign.clone();
    }
    let plans = subject.plans().join(", ");
    match subject.runs {
        [only] => plans + &report::on_targets(only),
        _ if subject.labels.len() <= 4 => format!("{plans}: {}", subject.labels.join(" vs ")),
        _ => format!("{plans}: {} runs", subject.runs.len()),
    }
}

/// What the searches found, or the best figures; and which part was the bottleneck there.
fn answer(subject: &Subject<'_>) -> Sentence {
    if let Some(campaign) = subject.campaign {
        let answer = campaign.answer();
        let filling = subject.measured().iter().filter(|one| one.point.is_filling()).count();
        return match (filling, subject.measured().len()) {
            (0, _) => answer,
            (some, all) => answer.words(format!(
                " In {some} of {all} points the write cache was still filling: not sustained."
            )),
        };
    }
    let found = search_answer(subject).or_else(|| exploration_answer(subject));
    let sentence =
        found.unwrap_or_else(|| if subject.runs.len() > 1 { ahead(subject) } else { highest(subject) });
    if sentence.is_empty() {
        return Sentence::of("Nothing was measured.");
    }
    let limits = bottlenecks(subject);
    let sentence = if limits.is_empty() { sentence } else { sentence.words(format!(" {limits}")) };
    match incomplete(subject) {
        Some(why) => Sentence(std::iter::once(Span::Words(why)).chain(sentence.0).collect()),
        None => sentence,
    }
}

/// Which runs did not carry out all of their points, and why: what the rest says is of those that were. `None` where all did.
fn incomplete(subject: &Subject<'_>) -> Option<String> {
    let of_run = |(place, run): (usize, &Run)| {
        let ending = &run.ending;
        // One that is under way has no reason yet.
        let is_cut = !ending.complete && !ending.reason.is_empty();
        let label = subject.labels.get(place).filter(|_| subject.runs.len() > 1);
        is_cut.then(|| match label {
            None => ending.reason.clone(),
            Some(label) => format!("{label} ({})", ending.reason),
        })
    };
    let all: Vec<String> = subject.runs.iter().enumerate().filter_map(of_run).collect();
    (!all.is_empty()).then(|| format!("Incomplete: {}. ", all.join("; ")))
}

/// The highest rate and throughput of a single run, and the latency there.
fn highest(subject: &Subject<'_>) -> Sentence {
    let points = figures(subject);
    let mut sentence = Sentence::default();
    for metric in [Metric::Iops, Metric::Throughput] {
        let own = of_headline(&points, metric);
        let Some((one, number)) = best(&own, metric) else { continue };
        let most = own.iter().filter_map(|other| Some(other.figure(metric)?.0.value)).fold(0.0, f64::max);
        let (word, beyond) =
            if number.value < most { ("reaches ", ", and no higher one is certain") } else { ("up to ", "") };
        let word = if one.point.is_filling() { format!("{UNSUSTAINED}: {word}") } else { word.to_owned() };
        let word = if sentence.is_empty() { capital(&word) } else { format!("; {word}") };
        sentence = sentence.words(word).number(number);
        sentence = sentence.words(format!("{} ({})", measured::behind(metric), called(&one)));
        if let Some((latency, _)) = one.figure(Metric::Quantile(0.99)).filter(|_| metric == Metric::Iops) {
            sentence = sentence.words(" at a p99 of ").number(latency);
        }
        sentence = sentence.words(beyond);
        if let Some((flat, latency)) = flat_before(&own, &one, metric) {
            sentence =
                sentence.words(format!("; {} reaches as much at a p99 of ", called(&flat))).number(latency);
        }
    }
    if let Some(one) = points.first().filter(|_| sentence.is_empty()) {
        return latencies(&points, one.headline());
    }
    if sentence.is_empty() { sentence } else { sentence.words(".") }
}

/// The point of the same phase, before the `highest` one, that is not told apart from it, with its p99; `None` where there is none,
/// and where it waits no less.
fn flat_before<'a>(
    points: &[Measured<'a>],
    highest: &Measured<'a>,
    metric: Metric,
) -> Option<(Measured<'a>, Number)> {
    let is_along = |one: &&Measured<'a>| one.run == highest.run && one.point.phase == highest.point.phase;
    let along = points.iter().filter(is_along).filter_map(|one| Some((*one, one.figure(metric)?)));
    let ((flat, _), _) = metric.flat_from(along, |(_, figure)| Some(measured::estimate(figure)))?;
    let p99 = |one: &Measured<'a>| Some(one.figure(Metric::Quantile(0.99))?.0);
    let (own, most) = (p99(&flat)?, p99(highest)?);
    (flat.at < highest.at && own.value < most.value).then_some((flat, own))
}

/// Where the latency `metric` is shortest, and where longest.
fn latencies(points: &[Measured<'_>], metric: Metric) -> Sentence {
    let own = of_headline(points, metric);
    let figures = || own.iter().filter_map(|one| Some((one, one.figure(metric)?.0)));
    let order = |one: &(&Measured<'_>, Number), other: &(&Measured<'_>, Number)| {
        one.1.value.total_cmp(&other.1.value)
    };
    match (figures().min_by(order), figures().max_by(order)) {
        (Some((first, low)), Some((last, high))) if low.value < high.value => {
            Sentence::of(format!("{} from ", capital(&measured::name(metric))))
                .number(low)
                .words(format!(" ({}) to ", first.point.name))
                .number(high)
                .words(format!(" ({}).", last.point.name))
        }
        (Some((first, low)), _) => Sentence::of(format!("{} of ", capital(&measured::name(metric))))
            .number(low)
            .words(format!(" ({}).", first.point.name)),
        _ => Sentence::default(),
    }
}

/// Of each kind of headline: which run is ahead, and how far.
fn ahead(subject: &Subject<'_>) -> Sentence {
    let points = subject.measured();
    let told = [Metric::Iops, Metric::Throughput]
        .into_iter()
        .filter_map(|metric| leads(subject, &cases(&points, metric, usize::MAX), metric, CASES, false));
    let sentences: Vec<Sentence> = told.collect();
    let mut spans = Vec::new();
    for sentence in sentences {
        if !spans.is_empty() {
            spans.push(Span::Words(" ".into()));
        }
        spans.extend(sentence.0);
    }
    if spans.is_empty() { highest(subject) } else { Sentence(spans) }
}

/// All loads that have a figure; of a point whose workloads have sweeps of their own, each workload.
fn figures<'a>(subject: &Subject<'a>) -> Vec<Measured<'a>> {
    let all: Vec<Measured<'a>> = subject.measured().into_iter().filter(|one| one.has_figure()).collect();
    phases(&all).into_iter().flat_map(|phase| phase.points).collect()
}

/// The cases of all phases of `points` that are about `metric`: of each phase no more than `most`.
fn cases<'a>(points: &[Measured<'a>], metric: Metric, most: usize) -> Vec<(String, Vec<Measured<'a>>)> {
    let all: Vec<Measured<'a>> = points.iter().filter(|one| one.has_figure()).copied().collect();
    let about = |phase: &Phase<'_>| phase.points.first().is_some_and(|one| one.headline() == metric);
    // Of a matrix one is enough for a look; a comparison looks at all.
    let of = |phase: &Phase<'a>| {
        phase.cases_within(if phase.of.is_some() && most < usize::MAX { 1 } else { most })
    };
    phases(&all).iter().filter(|phase| about(phase)).flat_map(of).collect()
}

/// A point by its name, and the workload of it that is looked at.
fn called(one: &Measured<'_>) -> String {
    match one.only {
        Some((name, _)) if one.point.workloads.len() > 1 => format!("{name} of {}", one.point.name),
        _ => one.point.name.clone(),
    }
}

/// What the points are about, each once.
fn headlines(points: &[Measured<'_>]) -> Vec<Metric> {
    distinct(points.iter().map(|one| one.headline()))
}

fn of_headline<'a>(points: &[Measured<'a>], metric: Metric) -> Vec<Measured<'a>> {
    points.iter().filter(|one| one.headline() == metric).copied().collect()
}

/// `The disks are the bottleneck in all runs.`: by the findings, of those runs that name one.
fn bottlenecks(subject: &Subject<'_>) -> String {
    let of_run = |run: &Run| distinct(run.findings.iter().filter_map(Finding::bottleneck).map(str::to_owned));
    let each: Vec<Vec<String>> = subject.runs.iter().map(of_run).collect();
    let Some(first) = each.first().filter(|parts| !parts.is_empty()) else { return String::new() };
    if !each.iter().all(|parts| parts == first) {
        let named = each.iter().zip(subject.labels).filter(|(parts, _)| !parts.is_empty());
        let told: Vec<String> =
            named.take(4).map(|(parts, label)| format!("{label}: {}", parts.join(", "))).collect();
        return format!("Bottlenecks: {}.", told.join("; "));
    }
    if let [only] = subject.runs {
        return bottlenecks_of(only, first);
    }
    let word = if first.len() > 1 { "Bottlenecks" } else { "Bottleneck" };
    let is_named = |run: &Run, index: u32| {
        run.findings
            .iter()
            .any(|finding| finding.bottleneck().is_some() && finding.point.is_none_or(|own| own == index))
    };
    let is_everywhere = |run: &Run| {
        let mut loads = run.points.iter().filter(|point| point.kind == PointKind::Load);
        loads.all(|point| is_named(run, point.index))
    };
    // A part that is the limit of one point is none of the others'.
    let whose = if subject.runs.iter().all(is_everywhere) {
        " in all runs"
    } else {
        " in all runs, at the points of which one is known"
    };
    format!("{word}{whose}: {}.", first.join(", "))
}

/// The same of one run, each part with the points at which it is the bottleneck, as far as that is not all of them.
fn bottlenecks_of(run: &Run, parts: &[String]) -> String {
    let loads = run.points.iter().filter(|point| point.kind == PointKind::Load).count();
    let told = parts.iter().map(|part| {
        let of_part = |finding: &&Finding| finding.bottleneck().is_some_and(|own| own == part.as_str());
        let mut names: Vec<&str> = Vec::new();
        for finding in run.findings.iter().filter(of_part) {
            let point = finding.point.and_then(|index| run.point(index));
            names.extend(point.map(|point| point.name.as_str()).filter(|name| !names.contains(name)));
        }
        match names[..] {
            [] => part.clone(),
            _ if names.len() >= loads => part.clone(),
            [only] => format!("{part} ({only})"),
            [first, ..] => {
                format!("{part} ({first}, and {} more)", report::counted(names.len() - 1, "point"))
            }
        }
    });
    let told: Vec<String> = told.collect();
    format!("{}: {}.", if told.len() > 1 { "Bottlenecks" } else { "Bottleneck" }, told.join(", "))
}

/// What the searches found; else the best of each kind of headline of each run, and its p99.
fn key_figures(subject: &Subject<'_>) -> Vec<KeyFigure> {
    if let Some(campaign) = subject.campaign {
        return campaign.key_figures(subject.runs);
    }
    let points = self::figures(subject);
    let mut figures = exploration_figures(subject);
    for (run, record) in subject.runs.iter().enumerate() {
        let Some(search) = &record.search else { continue };
        let Some((figure, violated)) = crate::views::search_met(run, search) else { continue };
        let interval = Interval::of(violated.map(|violated| (figure.clone(), violated)), || {
            "no higher rate was tried that violates an SLO".into()
        });
        let name = format!("IOPS with {}", search.slos.join(", "));
        figures.push(KeyFigure { name, figure, interval, note: subject.labels[run].clone() });
    }
    if !figures.is_empty() {
        figures.truncate(KEY_FIGURES);
        return figures;
    }
    for metric in headlines(&points) {
        for (name, case) in cases(&subject.measured(), metric, KEY_FIGURES) {
            for run in 0..subject.runs.len() {
                let own: Vec<Measured<'_>> = case.iter().filter(|one| one.run == run).copied().collect();
                let Some((one, _)) = best(&own, metric) else { continue };
                figures.extend(key_figure(subject, one, metric, &name));
            }
        }
    }
    figures.truncate(KEY_FIGURES);
    if let [only] = &figures[..] {
        let note = only.note.clone();
        if let Some((one, _)) = best(&points, Metric::Iops) {
            let latency = one.sure(Metric::Quantile(0.99));
            figures.extend(latency.map(|(figure, interval)| KeyFigure {
                name: "p99 latency there".into(),
                figure,
                interval,
                note,
            }));
        }
    }
    figures
}

fn key_figure(subject: &Subject<'_>, one: Measured<'_>, metric: Metric, case: &str) -> Option<KeyFigure> {
    let (figure, interval) = one.sure(metric)?;
    let unit = measured::in_front(metric);
    let several = subject.labels.len() > 1 && !case.is_empty();
    let of = if several { case.to_owned() } else { called(&one) };
    let note = if subject.labels.len() > 1 { subject.labels[one.run].clone() } else { String::new() };
    let unsustained = one.point.is_filling().then(|| UNSUSTAINED.to_lowercase());
    let note = [note, unsustained.unwrap_or_default()].into_iter().filter(|part| !part.is_empty());
    let note = note.collect::<Vec<_>>().join("; ");
    Some(KeyFigure { name: format!("{unit}{of}"), figure, interval, note })
}

/// What a grade means, in a few words.
pub(crate) fn meaning(grade: Grade) -> &'static str {
    match grade {
        Grade::A => "every check passed",
        Grade::B => "something could not be checked",
        Grade::C => "how exact the figures are is in doubt",
        Grade::D => "what was measured is in doubt",
        Grade::E => "what was measured is in doubt for several reasons",
        Grade::F => "a figure does not mean what it seems to",
    }
}
