//! Whether a run is good enough, as text, JUnit XML and annotations of a build server.

use std::fmt::Write;

use record::judgement::{Culprit, Gate, GateRow, Judgement, ObjectiveRow, Verdict};
use record::{Run, Severity};
use units::name;
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::style::{Look, Style};
use crate::words::{harmless, percent, wrap};

/// A figure in its base unit, for a person: `5.12 ms`, `20,000/s`.
fn shown(value: f64, unit: &str) -> String {
    match unit {
        "ns" => Nanos::from_secs_f64(value / 1e9).to_string(),
        "per_s" => OpsPerSecond::new(value).to_string(),
        "bytes_per_s" => BytesPerSecond::new(value).to_string(),
        _ => format!("{} %", (value * 1e6).round() / 1e4),
    }
}

/// The lines below a run's table; none where nothing was asked of it.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let Some(judgement) = &run.judgement else { return Vec::new() };
    let mut told = vec![format!("SLOs and baseline: {}", word(judgement.verdict))];
    told.extend(worst_first(&judgement.objectives, |row| row.verdict, objective));
    if let Some(gate) = &judgement.gate {
        told.extend(gate_lines(gate));
    }
    let wrapped = told.iter().enumerate().flat_map(|(index, line)| {
        let look = if index == 0 { Look::Title } else { Look::Plain };
        let first = if line.starts_with(' ') { "  " } else { "" };
        let wrapped = wrap(&style.spell(&harmless(line.trim_start())), style.width, first, "    ");
        wrapped.into_iter().map(move |line| style.paint(look, &line))
    });
    wrapped.collect()
}

/// As many rows of a kind are shown: the rest is in the record.
const ROWS_SHOWN: usize = 6;

/// The rows of a kind, what is violated first, and how many more there are.
fn worst_first<R>(rows: &[R], verdict: impl Fn(&R) -> Verdict, told: impl Fn(&R) -> String) -> Vec<String> {
    let mut rows: Vec<&R> = rows.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(verdict(row)));
    debug_assert!(
        rows.is_sorted_by_key(|row| std::cmp::Reverse(verdict(row))),
        "what is violated comes first"
    );
    let (shown, more) = rows.split_at(rows.len().min(ROWS_SHOWN));
    let mut lines: Vec<String> = shown.iter().map(|row| format!("  {}", told(row))).collect();
    if let Some(worst) = more.first() {
        let best = match verdict(worst) {
            Verdict::Met => "all met",
            _ => "some not met",
        };
        lines.push(format!("  {} more, {best}: `judgement` in fathom show --json", more.len()));
    }
    lines
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Violated => "violated",
    }
}

/// One row as a sentence: figure first, then its interval and the verdict.
pub fn objective(row: &ObjectiveRow) -> String {
    let of = if row.cell.is_empty() { String::new() } else { format!(" at {}", row.cell) };
    let Some(value) = row.value else {
        return format!("{} {}{of}: {}", row.objective, word(row.verdict), row.why);
    };
    let end = |end: f64| shown(end, &row.unit);
    let interval = match (row.low, row.high) {
        (None, None) => "no 95 % CI".to_owned(),
        (Some(low), Some(high)) => format!("95 % CI {} to {}", end(low), end(high)),
        (Some(low), None) => format!("95 % lower bound {}", end(low)),
        (None, Some(high)) => format!("95 % upper bound {}", end(high)),
    };
    let why = if row.why.is_empty() { String::new() } else { format!("; {}", row.why) };
    format!("{} {}{of}: {} ({interval}){why}", row.objective, word(row.verdict), shown(value, &row.unit))
}

/// One figure against the baseline's as a sentence.
pub fn gate_row(row: &GateRow) -> String {
    let side = if row.worse >= 0.0 { "worse" } else { "better" };
    let bounds = row.worse_low.zip(row.worse_high).map_or_else(
        || "bounds unknown".to_owned(),
        |(low, high)| format!("{:+.1} to {:+.1} %", low * 100.0, high * 100.0),
    );
    let found = row.detectable.map(|least| format!("; detects {}", percent(least))).unwrap_or_default();
    format!(
        "{} at {} {}: {}, {} {side} than {} ({bounds}{found})",
        row.metric,
        row.cell,
        word(row.verdict),
        shown(row.value, &row.unit),
        percent(row.worse.abs()),
        shown(row.base, &row.unit),
    )
}

fn gate_lines(gate: &Gate) -> Vec<String> {
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    let mut lines = vec![format!(
        "Baseline {} ({}): {}{}",
        gate.baseline,
        runs(gate.baseline_runs.len()),
        word(gate.verdict),
        if gate.confirmed { ", confirmed by a second run" } else { "" }
    )];
    lines.extend(worst_first(&gate.rows, |row| row.verdict, gate_row));
    if !gate.rows.is_empty() {
        lines.push(format!(
            "  false alarms: at most {} of runs that are no more than {} worse; noise {}",
            percent(gate.false_alarm_rate),
            percent(gate.tolerance),
            gate.noise
        ));
    }
    lines.extend(gate.culprit.iter().map(|found| format!("  {}", culprit(found))));
    lines.extend(gate.notes.iter().map(|note| format!("  {note}")));
    lines
}

/// The part that became slower as a sentence, or why it is unknown.
pub fn culprit(found: &Culprit) -> String {
    let named = found.part.as_ref().and_then(|_| found.suspects.first());
    let Some(first) = named else { return format!("slower part: unknown, as {}", found.why) };
    let next = match found.suspects.get(1) {
        Some(next) if next.less_likely < 1e6 => {
            format!("; next {}, {:.0} times less likely", next.part, next.less_likely)
        }
        _ => String::new(),
    };
    format!("slower part: {} {}, by {}{next}", first.part, first.change, found.model)
}

/// All that is violated or inconclusive, a sentence each with the line of the plan it is about, worst first.
pub fn complaints(judgement: &Judgement) -> Vec<(Verdict, u32, String)> {
    let objectives = judgement.objectives.iter().map(|row| (row.verdict, row.line, objective(row)));
    let gate = judgement.gate.iter();
    let rows = gate.clone().flat_map(|gate| {
        let of = format!("baseline {}: ", gate.baseline);
        gate.rows.iter().map(move |row| (row.verdict, 0, of.clone() + &gate_row(row)))
    });
    let empty = gate
        .filter(|gate| gate.rows.is_empty())
        .map(|gate| (gate.verdict, 0, format!("baseline {}: {}", gate.baseline, gate.notes.join(" "))));
    let mut all: Vec<_> =
        objectives.chain(rows).chain(empty).filter(|(verdict, ..)| *verdict != Verdict::Met).collect();
    all.sort_by_key(|(verdict, ..)| std::cmp::Reverse(*verdict));
    all
}

/// The verdicts of `run` as commands of GitHub Actions, one a line: `::error file=…,line=…::…`; invalid results first,
/// then violations as errors and what is inconclusive as a warning, or as errors where `fails_open`.
pub fn annotations(run: &Run, fails_open: bool) -> String {
    let mut text = String::new();
    let mut add = |kind: &str, line: u32, what: &str| {
        // What starts a property or ends a line is written as the runner decodes it.
        let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        let line = if line == 0 { String::new() } else { format!(",line={line}") };
        let title = property(&format!("fathom {}", run.plan.name));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "::{kind} file={}{line},title={title}::{}",
            property(&harmless(&run.plan.origin)),
            data(&harmless(what))
        );
    };
    for finding in run.findings.iter().filter(|finding| finding.severity == Severity::Invalid) {
        add("error", 0, &format!("the result is invalid: {}", finding.sentence));
    }
    for (verdict, line, what) in run.judgement.iter().flat_map(complaints) {
        let is_error = verdict == Verdict::Violated || fails_open;
        add(if is_error { "error" } else { "warning" }, line, &what);
    }
    text
}

/// One test of the suite.
struct Case {
    class: String,
    name: String,
    verdict: Result<Verdict, ()>,
    told: String,
}

/// `run` as JUnit XML: one suite, a test for each objective in each cell, for each figure of the baseline, and for whether
/// the result is valid. A violation is a `failure`, an invalid result an `error`, what is inconclusive `skipped`, or a
/// `failure` where `fails_open`.
pub fn junit(run: &Run, fails_open: bool) -> String {
    let cases = cases(run);
    let fails = |case: &&Case| match case.verdict {
        Ok(Verdict::Violated) => true,
        Ok(Verdict::Inconclusive) => fails_open,
        _ => false,
    };
    let failures = cases.iter().filter(fails).count();
    let errors = cases.iter().filter(|case| case.verdict.is_err()).count();
    let skipped = cases.iter().filter(|case| case.verdict == Ok(Verdict::Inconclusive)).count();
    let skipped = if fails_open { 0 } else { skipped };
    let ns = run.points.iter().map(|point| point.ended_ns).max().unwrap_or(0);
    let seconds = Nanos::new(ns).as_secs_f64();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let name = attribute(&run.plan.name);
    // The schema wants a time without a zone and without parts of a second.
    let started = run.started.split(['.', 'Z', '+']).next().unwrap_or_default();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", cases.len());
    // Writing to a string cannot fail.
    let _ = writeln!(xml, "<testsuites name=\"fathom\" {counts} time=\"{seconds:.3}\">");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{name}\" package=\"fathom\" id=\"0\" timestamp=\"{}\" hostname=\"{}\" {counts} \
         skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        attribute(started),
        attribute(&run.environment.hostname)
    );
    xml.push_str("    <properties>\n");
    for (key, value) in properties(run) {
        let _ =
            writeln!(xml, "      <property name=\"{}\" value=\"{}\"/>", attribute(&key), attribute(&value));
    }
    xml.push_str("    </properties>\n");
    let each = if cases.is_empty() { 0.0 } else { seconds / cases.len() as f64 };
    for case in &cases {
        let _ = write!(
            xml,
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{each:.3}\"",
            attribute(&case.class),
            attribute(&case.name)
        );
        let told = attribute(&case.told);
        let inner = match case.verdict {
            Err(()) => format!("<error type=\"invalid\" message=\"{told}\"/>"),
            Ok(Verdict::Violated) => format!("<failure type=\"violated\" message=\"{told}\"/>"),
            Ok(Verdict::Inconclusive) if fails_open => {
                format!("<failure type=\"inconclusive\" message=\"{told}\"/>")
            }
            Ok(Verdict::Inconclusive) => format!("<skipped message=\"{told}\"/>"),
            Ok(Verdict::Met) => String::new(),
        };
        if inner.is_empty() {
            xml.push_str("/>\n");
        } else {
            let _ = writeln!(xml, ">\n      {inner}\n    </testcase>");
        }
    }
    xml.push_str("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
    xml
}

fn cases(run: &Run) -> Vec<Case> {
    let class = |of: &str| format!("{}.{}", run.plan.name, if of.is_empty() { "plan" } else { of });
    let invalid = run.findings.iter().find(|finding| finding.severity == Severity::Invalid);
    let reason = match (run.ending.code, invalid) {
        (_, Some(finding)) => Some(finding.sentence.clone()),
        (0 | 1, None) => None,
        (code, None) => Some(format!("exit {code}: {}", run.ending.reason)),
    };
    let mut cases = vec![Case {
        class: class(""),
        name: "the result is valid".into(),
        verdict: if reason.is_some() { Err(()) } else { Ok(Verdict::Met) },
        told: reason.unwrap_or_default(),
    }];
    let Some(judgement) = &run.judgement else { return cases };
    cases.extend(judgement.objectives.iter().map(|row| Case {
        class: class(&row.cell),
        name: row.objective.clone(),
        verdict: Ok(row.verdict),
        told: objective(row),
    }));
    let Some(gate) = &judgement.gate else { return cases };
    cases.extend(gate.rows.iter().map(|row| Case {
        class: class(&row.cell),
        name: format!("{} against {}", row.metric, gate.baseline),
        verdict: Ok(row.verdict),
        told: gate_row(row),
    }));
    if gate.rows.is_empty() {
        cases.push(Case {
            class: class(""),
            name: format!("against {}", gate.baseline),
            verdict: Ok(gate.verdict),
            told: gate.notes.join(" "),
        });
    }
    cases
}

fn properties(run: &Run) -> Vec<(String, String)> {
    let targets: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    let mut all = vec![
        ("fathom.version".to_owned(), run.tool.version.clone()),
        ("run".into(), run.id.clone()),
        ("targets".into(), targets.join(", ")),
    ];
    if let Some(grading) = &run.grading {
        all.push(("grade".into(), grading.grade.to_string()));
    }
    if let Some(gate) = run.judgement.as_ref().and_then(|judgement| judgement.gate.as_ref()) {
        all.push(("baseline.runs".into(), gate.baseline_runs.join(" ")));
        all.push(("false_alarm_rate".into(), gate.false_alarm_rate.to_string()));
        all.push(("noise".into(), gate.noise.clone()));
        all.extend(
            gate.culprit
                .iter()
                .map(|found| ("slower_part".into(), found.part.clone().unwrap_or_else(|| "unknown".into()))),
        );
    }
    all.extend(run.tags.iter().map(|(key, value)| (format!("tag.{key}"), value.clone())));
    all
}

/// `text` within an attribute, on one line.
fn attribute(text: &str) -> String {
    name::xml(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use record::sample;

    use super::*;

    fn run(verdict: Verdict) -> Run {
        let row = ObjectiveRow {
            objective: "p99<5ms".into(),
            line: 3,
            cell: "4k x8, \"hot\"".into(),
            unit: "ns".into(),
            limit: 5e6,
            value: Some(7e6),
            low: Some(6.5e6),
            high: None,
            verdict,
            why: String::new(),
        };
        let mut run = sample::run("gate", Vec::new());
        run.plan.origin = "ci/gate, new.toml".into();
        run.judgement = Some(Judgement { verdict, objectives: vec![row], gate: None });
        run
    }

    #[test]
    fn a_sentence_has_the_figure_its_interval_and_the_verdict() {
        let told = objective(&run(Verdict::Violated).judgement.unwrap().objectives[0]);
        assert_eq!(told, "p99<5ms violated at 4k x8, \"hot\": 7.00 ms (95 % lower bound 6.50 ms)");
    }

    #[test]
    fn of_many_rows_those_that_are_violated_come_first_and_the_rest_is_counted() {
        let verdicts = [[Verdict::Met; 7].as_slice(), &[Verdict::Violated]].concat();
        let lines = worst_first(&verdicts, |one| *one, |one| word(*one).to_owned());
        assert_eq!((lines.len(), lines[0].as_str()), (ROWS_SHOWN + 1, "  violated"));
        assert!(lines[ROWS_SHOWN].starts_with("  2 more, all met"), "{lines:?}");
    }

    #[test]
    fn an_annotation_names_the_plan_and_the_line_and_escapes_what_a_runner_would_take_for_its_own() {
        let text = annotations(&run(Verdict::Violated), false);
        assert!(
            text.starts_with("::error file=ci/gate%2C new.toml,line=3,title=fathom gate::p99<5ms"),
            "{text}"
        );
        assert!(text.contains("95 %25 lower bound") && text.lines().count() == 1, "{text}");
        assert!(annotations(&run(Verdict::Inconclusive), false).starts_with("::warning "));
        assert!(annotations(&run(Verdict::Inconclusive), true).starts_with("::error "));
        assert_eq!(annotations(&run(Verdict::Met), true), "");
    }

    #[test]
    fn junit_has_a_test_for_each_objective_and_counts_what_fails() {
        let of = |verdict, fails_open| junit(&run(verdict), fails_open);
        let violated = of(Verdict::Violated, false);
        assert!(violated.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{violated}");
        assert!(
            violated.contains("classname=\"gate.4k x8, &quot;hot&quot;\" name=\"p99&lt;5ms\""),
            "{violated}"
        );
        let open = of(Verdict::Inconclusive, false);
        assert!(
            open.contains("failures=\"0\" errors=\"0\" skipped=\"1\"") && open.contains("<skipped "),
            "{open}"
        );
        assert!(of(Verdict::Inconclusive, true).contains("failures=\"1\" errors=\"0\" skipped=\"0\""));
        assert!(!of(Verdict::Met, true).contains("<failure"));
        let mut wrong = run(Verdict::Met);
        wrong.ending.code = 5;
        assert!(junit(&wrong, false).contains("errors=\"1\"") && junit(&wrong, false).contains("exit 5"));
    }
}
