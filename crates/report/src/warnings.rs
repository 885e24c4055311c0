//! Findings, the most severe first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use record::{Check, Finding, Grade, Outcome, Run, Severity};

use crate::figures::name_of;
use crate::grade;
use crate::style::{Look, Style};
use crate::words::{harmless, percent, wrap};

/// Findings of one code.
pub(crate) struct Group<'a> {
    /// The first of the gravest.
    pub first: &'a Finding,
    /// The point it is about; absent where it is about the run.
    pub point: Option<String>,
    /// Other points with findings of the same code about the same part, whose numbers differ.
    pub others: Vec<Other<'a>>,
}

/// A finding at another point.
#[derive(Clone, Debug)]
pub(crate) struct Other<'a> {
    name: String,
    finding: &'a Finding,
}

/// Notes that hold the result of a run, before those that only limit it.
const ANSWERS: [&str; 14] = [
    "slo-maximum",
    "slo-violated",
    "what-if",
    "cache-seen",
    "rate-limited",
    "bottleneck",
    "bottleneck-uncounted",
    "latency-bound",
    "offered-load",
    "knee",
    "no-sharp-knee",
    "superlinear",
    "below-model",
    "above-model",
];

/// The findings of `run` by code and, where it names a part, by that part: the gravest first, among equals what costs the grade
/// most, what answers the question, then in the order in which they were found.
pub(crate) fn groups(run: &Run) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in &run.findings {
        let point = finding.point.and_then(|index| run.point(index));
        let name = point.map(name_of);
        // What is about the run has its place in its own sentence: the knee of one curve is not that of another.
        let same = |group: &&mut Group<'_>| {
            group.first.code == finding.code
                && subject(group.first) == subject(finding)
                // Beside a rebuild there is another remedy for the same latency.
                && (finding.code != "latency-bound" || group.first.remedy == finding.remedy)
                && (group.point.is_some() || name.is_some())
        };
        match groups.iter_mut().find(same) {
            Some(group) if finding.severity > group.first.severity => {
                let before = std::mem::replace(&mut group.point, name);
                let finding = std::mem::replace(&mut group.first, finding);
                group.others.extend(before.map(|name| Other { name, finding }));
            }
            Some(group) => group.others.extend(name.map(|name| Other { name, finding })),
            None => groups.push(Group { first: finding, point: name, others: Vec::new() }),
        }
    }
    groups.iter_mut().for_each(name_once);
    groups.sort_by_key(|group| {
        let costs = if group.first.severity > Severity::Note { costs(run, group) } else { Grade::A };
        (Reverse(group.first.severity), Reverse(costs), answers(group))
    });
    groups
}

/// The worst grade of a check that failed by such a finding; A where none did.
fn costs(run: &Run, group: &Group<'_>) -> Grade {
    let failed = |check: &&Check| check.outcome == Outcome::Failed && check.codes.contains(&group.first.code);
    let checks = run.grading.iter().flat_map(|grading| &grading.checks);
    checks.filter(failed).map(|check| check.grade).max().unwrap_or(Grade::A)
}

/// The place among the answers; behind them for what is none.
fn answers(group: &Group<'_>) -> usize {
    ANSWERS.iter().position(|code| *code == group.first.code).unwrap_or(ANSWERS.len())
}

/// The part that a bottleneck is about, `disks are the bottleneck`, the busiest part where there is none, and the percentiles that
/// lack: another part or other percentiles at other points are another finding.
fn subject(finding: &Finding) -> &str {
    match finding.code.as_str() {
        "bottleneck" => finding.sentence.split(':').next().unwrap_or_default(),
        _ if finding.part().is_some() => finding.part().unwrap_or_default(),
        "few-samples" => {
            let lacking = finding.sentence.split_once(" too few for ").map_or("", |(_, rest)| rest);
            lacking.split(':').next().unwrap_or_default()
        }
        _ => "",
    }
}

/// Several workloads of a point may have the same finding.
fn name_once(group: &mut Group<'_>) {
    let mut seen: BTreeSet<String> = group.point.iter().cloned().collect();
    group.others.retain(|other| seen.insert(other.name.clone()));
}

/// `Also at 4k write (disks 97.0 %).`, `Also at 11 more points (disks 94.0 % to 97.0 %).`, each with its own figure of the part that the
/// finding is about, where it has one; nothing where there are no others.
pub(crate) fn also(others: &[Other<'_>]) -> String {
    const NAMED: usize = 3;
    let share = |other: &Other<'_>| other.finding.part_share();
    let told = |other: &Other<'_>| match other.finding.part().zip(share(other)) {
        Some((part, share)) => format!("{} ({part} {})", other.name, percent(share)),
        None => other.name.clone(),
    };
    let names: Vec<String> = others.iter().map(told).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => format!("Also at {only}."),
        [front @ .., last] if names.len() <= NAMED => format!("Also at {} and {last}.", front.join(", ")),
        more => format!("Also at {} more points{}.", more.len(), range(others)),
    }
}

/// ` (disks 94.0 % to 97.0 %)`, where all have a figure.
fn range(others: &[Other<'_>]) -> String {
    let shares: Option<Vec<f64>> = others.iter().map(|other| other.finding.part_share()).collect();
    let part = others.first().and_then(|other| other.finding.part());
    let Some((part, shares)) = part.zip(shares) else { return String::new() };
    let least = percent(shares.iter().copied().fold(f64::INFINITY, f64::min));
    let most = percent(shares.iter().copied().fold(0.0, f64::max));
    if least == most { format!(" ({part} {most})") } else { format!(" ({part} {least} to {most})") }
}

/// What the section is called: a run without a warning has notes.
pub(crate) fn heading(groups: &[Group<'_>]) -> &'static str {
    match groups.iter().all(|group| group.first.severity == Severity::Note) {
        true => "Notes",
        false => "Warnings",
    }
}

/// The section of a text, with its title; no lines where there is nothing to tell.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let groups = groups(run);
    if groups.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![style.paint(Look::Title, heading(&groups))];
    for group in groups {
        lines.extend(of_group(&group, style));
    }
    lines
}

/// The three findings that matter most, and how to see the others; no lines where there is nothing to tell.
pub(crate) fn first(run: &Run, style: Style, rest: &str) -> Vec<String> {
    const SHOWN: usize = 3;
    let groups = groups(run);
    let mut lines: Vec<String> =
        chosen(&groups, SHOWN).into_iter().flat_map(|group| of_group(group, style)).collect();
    if !lines.is_empty() {
        lines.insert(0, style.paint(Look::Title, heading(&groups)));
    }
    if groups.len() > SHOWN || grade::has_reasons(run) {
        lines.extend(wrap(
            &style.spell(&more(groups.len().saturating_sub(SHOWN), rest)),
            style.width,
            "",
            "  ",
        ));
    }
    lines
}

/// The first so many; the last place is for the first answer, where cautions alone would take all of them.
fn chosen<'a, 'b>(groups: &'a [Group<'b>], count: usize) -> Vec<&'a Group<'b>> {
    let mut chosen: Vec<&Group<'b>> = groups.iter().take(count).collect();
    let is_answer = |group: &&Group<'_>| answers(group) < ANSWERS.len();
    let answer = groups.iter().find(is_answer);
    if let (Some(last), Some(answer)) = (chosen.last_mut(), answer)
        && groups.len() > count
        && last.first.severity < Severity::Invalid
        && !groups[..count].iter().any(|group| is_answer(&group))
    {
        *last = answer;
    }
    chosen
}

/// `4 more findings, and the checks of the grade: REST`.
fn more(left: usize, rest: &str) -> String {
    match left {
        0 => format!("All checks of the grade: {rest}"),
        1 => format!("1 more finding, and all checks of the grade: {rest}"),
        left => format!("{left} more findings, and all checks of the grade: {rest}"),
    }
}

pub(crate) fn of_group(group: &Group<'_>, style: Style) -> Vec<String> {
    let (mark, look) = match group.first.severity {
        Severity::Note => ("-", Look::Plain),
        Severity::Warning => ("!", Look::Warning),
        Severity::Invalid => ("X", Look::Wrong),
    };
    let head = format!("  {mark} {}", harmless(&group.first.code));
    let first = match &group.point {
        Some(point) => format!("{head} at {point}"),
        None => head.clone(),
    };
    let wrapped = wrap(&first[head.len()..], style.width, &head, "    ");
    // The code is the only part that is coloured, and it is all on the first line.
    let mut lines: Vec<String> = wrapped
        .iter()
        .map(|line| {
            line.strip_prefix(&head).map_or(line.clone(), |rest| {
                let space = if rest.is_empty() { "" } else { " " };
                style.paint(look, &head) + space + rest.trim_start()
            })
        })
        .collect();
    let sentence = style.spell(&harmless(&group.first.sentence));
    lines.extend(wrap(&sentence, style.width, "    ", "    "));
    lines.extend(remedy(group.first, style));
    if !group.others.is_empty() {
        lines.extend(wrap(&also(&group.others), style.width, "    ", "    "));
    }
    lines
}

/// What to do; no lines where nothing is.
pub(crate) fn remedy(finding: &Finding, style: Style) -> Vec<String> {
    if finding.remedy.is_empty() {
        return Vec::new();
    }
    let arrow = if style.unicode { "    → " } else { "    > " };
    wrap(&style.spell(&harmless(&finding.remedy)), style.width, arrow, "      ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_counted_and_few_are_named() {
        let drift = finding(0, "drift", "The rate drifts.", 0.0);
        let of = |count: usize| {
            let others = (1..=count).map(|i| Other { name: format!("p{i}"), finding: &drift });
            also(&others.collect::<Vec<_>>())
        };
        assert_eq!(of(1), "Also at p1.");
        assert_eq!(of(3), "Also at p1, p2 and p3.");
        assert_eq!(of(11), "Also at 11 more points.");
    }

    fn finding(point: u32, code: &str, sentence: &str, disks: f64) -> Finding {
        Finding {
            code: code.into(),
            severity: Severity::Note,
            sentence: sentence.into(),
            remedy: String::new(),
            numbers: [("disks_busy_share".to_owned(), disks), ("controller_0_xor_busy_share".into(), 0.48)]
                .into(),
            point: Some(point),
        }
    }

    #[test]
    fn a_rate_limit_from_outside_comes_before_the_other_notes() {
        let mut run = record::sample::run("p", vec![record::sample::point(0, "p", Vec::new())]);
        run.findings = ["virtual-machine", "few-samples", "rate-limited"]
            .map(|code| finding(0, code, "It is.", 0.1))
            .into();
        let first = groups(&run).first().map(|group| group.first.code.clone());
        assert_eq!(first.as_deref(), Some("rate-limited"));
    }

    #[test]
    fn of_warnings_the_one_that_costs_the_grade_most_comes_first() {
        let mut run = record::sample::run("p", vec![record::sample::point(0, "p", Vec::new())]);
        let codes = ["external-io", "wide-interval", "cpu-saturated"];
        run.findings = codes.map(|code| finding(0, code, "It is.", 0.1)).into();
        run.findings.iter_mut().for_each(|finding| finding.severity = Severity::Warning);
        let failed = |code: &str, grade| Check {
            name: code.into(),
            outcome: Outcome::Failed,
            grade,
            codes: vec![code.into()],
            why: String::new(),
            points: Vec::new(),
        };
        let checks = vec![failed(codes[0], Grade::C), failed(codes[1], Grade::C), failed(codes[2], Grade::D)];
        run.grading = Some(record::Grading { grade: Grade::D, checks });
        let order: Vec<String> = groups(&run).into_iter().map(|group| group.first.code.clone()).collect();
        assert_eq!(order, ["cpu-saturated", "external-io", "wide-interval"]);
    }

    #[test]
    fn points_are_grouped_by_the_part_that_is_told_and_each_has_its_own_figure_of_it() {
        let names = ["healthy", "degraded", "rebuilding", "rebuilt", "again", "once more"];
        let points = (0..).zip(names).map(|(index, name)| record::sample::point(index, name, Vec::new()));
        let mut run = record::sample::run("rebuild", points.collect());
        let offered = |point: u32, busiest: &str, disks: f64| {
            finding(
                point,
                "offered-load",
                &format!("The busiest is named; the busiest, {busiest}: so."),
                disks,
            )
        };
        run.findings = vec![
            offered(0, "disks", 0.16),
            offered(1, "disks", 0.27),
            offered(2, "controller 0 xor", 0.38),
            offered(3, "disks", 0.161),
        ];
        let told = |run: &Run| {
            let told =
                groups(run).into_iter().map(|group| (group.point.unwrap_or_default(), also(&group.others)));
            told.collect::<Vec<_>>()
        };
        assert_eq!(
            told(&run),
            [
                ("healthy".into(), "Also at degraded (disks 27.0 %) and rebuilt (disks 16.1 %).".into()),
                ("rebuilding".into(), String::new()),
            ]
        );
        run.findings.extend([offered(4, "disks", 0.2), offered(5, "disks", 0.3)]);
        assert_eq!(told(&run)[0].1, "Also at 4 more points (disks 16.1 % to 30.0 %).");
    }
}
