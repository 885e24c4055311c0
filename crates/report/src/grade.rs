//! How far a run can be relied on, and why.

use record::{Check, Grade, Grading, Outcome, Run};

use crate::style::{Look, Style};
use crate::words::{harmless, wrap};

/// The colour of a grade.
pub(crate) fn look(grade: Grade) -> Look {
    match grade {
        Grade::A | Grade::B => Look::Plain,
        Grade::C | Grade::D | Grade::E => Look::Warning,
        Grade::F => Look::Wrong,
    }
}

/// The section of a text; no lines where nothing was graded.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let Some(grading) = &run.grading else { return Vec::new() };
    let title = format!("Grade {}", grading.grade);
    let mut lines = vec![match look(grading.grade) {
        Look::Plain => style.paint(Look::Title, &title),
        other => style.paint(other, &title),
    }];
    for (check, words) in reasons(grading) {
        let mark = match check.outcome {
            Outcome::Failed if check.grade == Grade::F => "X",
            Outcome::Failed => "!",
            Outcome::NotChecked => "?",
            Outcome::Passed => "-",
        };
        let first = format!("  {mark} {}", harmless(&check.name));
        lines.extend(wrap(&style.spell(&words), style.width, &format!("{first} "), "    "));
    }
    if let Some(passed) = passed(grading) {
        lines.extend(wrap(&passed, style.width, "  Passed: ", "    "));
    }
    lines
}

/// The grade in a line or two: which checks failed, and which were not made.
pub(crate) fn short(run: &Run, style: Style) -> Vec<String> {
    let Some(grading) = &run.grading else { return Vec::new() };
    let title = format!("Grade {}", grading.grade);
    let named = |outcome: Outcome| {
        let checks = reasons(grading).into_iter().filter(|(check, _)| check.outcome == outcome);
        let name = |check: &Check| match meaning(&check.name).filter(|_| outcome == Outcome::Failed) {
            Some(meaning) => format!("{} ({meaning})", harmless(&check.name)),
            None => harmless(&check.name),
        };
        checks.map(|(check, _)| name(check)).collect::<Vec<_>>().join(", ")
    };
    let parts = [
        (named(Outcome::Failed), "failed"),
        (named(Outcome::NotChecked), "not checked"),
        (passed(grading).map(|names| names.trim_end_matches('.').to_owned()).unwrap_or_default(), "passed"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, how)| format!("{how}: {names}"))
        .collect();
    let words = if said.is_empty() { title.clone() } else { format!("{title} · {}", said.join("; ")) };
    let mut lines = wrap(&style.spell(&words), style.width, "", "  ");
    if let Some(rest) = lines[0].strip_prefix(&title) {
        let look = match look(grading.grade) {
            Look::Plain => Look::Title,
            other => other,
        };
        lines[0] = style.paint(look, &title) + rest;
    }
    lines
}

/// The section of a Markdown page; nothing where nothing was graded.
pub(crate) fn markdown(run: &Run) -> String {
    use crate::markdown::{escaped, prose};
    let Some(grading) = &run.grading else { return String::new() };
    let mut text = format!("\n#### Grade {}\n\n", grading.grade);
    for (check, words) in reasons(grading) {
        text += &format!("- **{}** {}\n", escaped(&check.name), prose(&words));
    }
    if let Some(passed) = passed(grading) {
        text += &format!("- Passed: {}\n", escaped(&passed));
    }
    text
}

/// Whether anything keeps the run from an A.
pub(crate) fn has_reasons(run: &Run) -> bool {
    run.grading.as_ref().is_some_and(|grading| !reasons(grading).is_empty())
}

/// What keeps the run from an A, the worst first: `failed (drift) at 4k read`, `not checked: …`.
fn reasons(grading: &Grading) -> Vec<(&Check, String)> {
    let mut checks: Vec<&Check> = grading
        .checks
        .iter()
        .filter(|check| check.outcome != Outcome::Passed || check.grade > Grade::A)
        .collect();
    checks.sort_by_key(|check| (check.outcome != Outcome::Failed, std::cmp::Reverse(check.grade)));
    checks.into_iter().map(|check| (check, words(check))).collect()
}

fn words(check: &Check) -> String {
    let codes = check.codes.join(", ");
    let place = place(&check.points);
    match check.outcome {
        Outcome::Failed => format!("failed ({codes}){place}."),
        Outcome::NotChecked => {
            format!("was not checked{place}: {}.", harmless(&check.why).trim_end_matches('.'))
        }
        Outcome::Passed => format!("passed, with a note ({codes}){place}."),
    }
}

/// What it means that the check of that name failed, in a few words; `None` of one that is not known here.
fn meaning(name: &str) -> Option<&'static str> {
    Some(match name {
        "requests" => "some failed or were not issued",
        "accounting" => "figures do not agree",
        "direct" => "the page cache answered",
        "cache" => "a cache answered",
        "content" => "the data compress, repeat or were never written",
        "generator" => "this machine was the limit, not the storage",
        "preconditioned" => "the flash was not in steady state before",
        "steady" => "the rate was still changing",
        "samples" => "too few",
        "external-io" => "others used the device or the processors",
        "cpu-clock" => "it changed",
        _ => return None,
    })
}

/// ` at 4k read`, ` at 4k read and 3 more points`; nothing where it is about the run.
fn place(points: &[String]) -> String {
    match points {
        [] => String::new(),
        [only] => format!(" at {}", harmless(only)),
        [first, second] => format!(" at {} and {}", harmless(first), harmless(second)),
        [first, rest @ ..] => format!(" at {} and {} more points", harmless(first), rest.len()),
    }
}

fn passed(grading: &Grading) -> Option<String> {
    let passed =
        grading.checks.iter().filter(|check| check.grade == Grade::A && check.outcome == Outcome::Passed);
    let names: Vec<&str> = passed.map(|check| check.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("{}.", names.join(", ")))
}
