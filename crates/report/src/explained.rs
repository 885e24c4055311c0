//! Findings in full: every one of them with its numbers, its point and what to do.

use record::{Finding, Run, Severity};
use units::convert::truncated;

use crate::figures::name_of;
use crate::style::{Look, Style};
use crate::words::{harmless, wrap};
use crate::{condition, grade, warnings};

/// The grade of `run` with its reasons, and what its findings come to: those of one code, and of one part, together
/// over the points, the gravest first, at most ten. `rest` says how to see the others and all numbers, as a command.
pub fn explained_in_brief(run: &Run, style: Style, rest: &str) -> String {
    const SHOWN: usize = 10;
    let mut lines = out_of_order(run, style);
    lines.extend(grade::lines(run, style));
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let groups = warnings::groups(run);
    debug_assert!(groups.len() <= run.findings.len(), "each finding is in one group");
    if groups.is_empty() {
        lines.push("No findings.".into());
    }
    for group in groups.iter().take(SHOWN) {
        lines.extend(warnings::of_group(group, style));
    }
    if !groups.is_empty() {
        let hidden = groups.len().saturating_sub(SHOWN);
        let all = run.findings.len();
        let what = match hidden {
            0 if all == 1 => "The finding with its numbers".into(),
            0 => format!("All {all} findings with their numbers"),
            hidden => format!("{hidden} more; all {all} findings with their numbers"),
        };
        lines.push(String::new());
        lines.extend(wrap(&style.spell(&format!("{what}: {rest}")), style.width, "", "  "));
    }
    lines.join("\n") + "\n"
}

/// The condition of the array, where something in it is out of order or it works beside the load.
fn out_of_order(run: &Run, style: Style) -> Vec<String> {
    let told = condition::line(run).map(|line| wrap(&style.spell(&line), style.width, "", "  "));
    told.unwrap_or_default()
}

/// The grade of `run` with its reasons, and all its findings, in the order of its points, those about the whole run
/// first.
pub fn explained(run: &Run, style: Style) -> String {
    let above = out_of_order(run, style).into_iter().chain(grade::lines(run, style));
    let mut text = above.map(|line| format!("{line}\n")).collect::<String>();
    if !text.is_empty() {
        text.push('\n');
    }
    if run.findings.is_empty() {
        return text + "No findings.\n";
    }
    let mut about = None;
    for finding in &run.findings {
        if about != Some(finding.point) {
            if about.is_some() {
                text.push('\n');
            }
            about = Some(finding.point);
            text += &style.paint(Look::Title, &heading(run, finding));
            text.push('\n');
        }
        text += &of_finding(finding, style);
    }
    text
}

fn heading(run: &Run, finding: &Finding) -> String {
    let point = finding.point.and_then(|index| run.point(index));
    point.map_or_else(|| "The run".into(), |point| harmless(&name_of(point)))
}

fn of_finding(finding: &Finding, style: Style) -> String {
    let (word, look) = match finding.severity {
        Severity::Note => ("note", Look::Plain),
        Severity::Warning => ("warning", Look::Warning),
        Severity::Invalid => ("invalid", Look::Wrong),
    };
    let mut text = format!("  {}\n", style.paint(look, &format!("{word}: {}", harmless(&finding.code))));
    let mut add = |sentence: &str, look: Look| {
        let sentence = style.spell(&harmless(sentence));
        for line in wrap(&sentence, style.width, "    ", "    ") {
            text += &style.paint(look, &line);
            text.push('\n');
        }
    };
    add(&finding.sentence, Look::Plain);
    if !finding.remedy.is_empty() {
        add(&finding.remedy, Look::Plain);
    }
    let numbers: Vec<String> =
        finding.numbers.iter().map(|(key, value)| format!("{key} {}", figure(*value))).collect();
    if !numbers.is_empty() {
        add(&numbers.join(", "), Look::Faint);
    }
    text
}

/// Four significant digits, or all of a whole number.
fn figure(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = 3 - truncated::<i32>(value.abs().log10().floor()).clamp(-6, 3);
    format!("{value:.*}", digits.unsigned_abs() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(
            [0.98765, 12.3456, 1234.56, 64.0, 117e6].map(figure),
            ["0.9877", "12.35", "1235", "64", "117000000"]
        );
        assert_eq!(figure(0.000_012_34), "0.00001234");
    }
}
