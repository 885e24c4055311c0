//! A run on a terminal.

use record::{DisplayCost, Run, WorkloadResult};
use units::Nanos;

use crate::style::{Look, Style};
use crate::words::{harmless, thousands, wrap};
use crate::{exploration, figures, grade, header, judgement, ladder, ranks, rounds, sweep, upkeep, warnings};

/// The whole of `run` as text: what was measured, the table with each point's headline figure set off, sweeps
/// as curves, the first errors, the grade with its reasons, and the warnings. Ends with a line end.
///
/// No line is wider than the style's width, but for words that are. Where there is no room, names of points are cut
/// as far as they stay different, then columns are left out in this order and named below the table: cores, CPU, mean,
/// max, quantiles beyond p99, p50, interval, p99, MB/s, IOPS; a figure that is a point's headline stays longest.
pub fn text(run: &Run, style: Style) -> String {
    let mut sections = measured(run, style, usize::MAX, true);
    sections.push(judgement::lines(run, style));
    sections.push(grade::lines(run, style));
    sections.push(warnings::lines(run, style));
    sections.push(tail(run, style));
    joined(sections)
}

/// The same without what a first look does not need: the grade in one line, and the three findings that matter most.
/// `rest` says how to see the others, as a command.
pub fn brief(run: &Run, style: Style, rest: &str) -> String {
    let mut sections = measured(run, style, ERRORS_IN_BRIEF, false);
    sections.push(judgement::lines(run, style));
    sections.push(grade::short(run, style));
    sections.push(warnings::first(run, style, rest));
    sections.push(tail(run, style));
    joined(sections)
}

/// Failed requests that a run names at its end.
const ERRORS_IN_BRIEF: usize = 3;

/// What was measured, or searched for, and its figures; of a search over designs all where `full`.
fn measured(run: &Run, style: Style, errors_shown: usize, full: bool) -> Vec<Vec<String>> {
    let mut sections = vec![head(run, style)];
    if run.exploration.is_some() {
        sections.push(exploration::lines(run, style, full));
    } else if run.points.is_empty() {
        sections.push(vec!["No point was measured.".into()]);
    } else if run.search.is_some() {
        // Its points are looks at rates; the ladder says what they came to.
        sections.push(ladder::lines(run, style));
    } else {
        sections.push(table(run, style, full));
    }
    sections.push(ranks::lines(run, style, full));
    sections.push(rounds::lines(run, style));
    sections.push(upkeep::lines(run, style));
    sections.push(errors(run, style, errors_shown));
    sections
}

fn joined(mut sections: Vec<Vec<String>>) -> String {
    sections.retain(|section| !section.is_empty());
    let sections: Vec<String> = sections.iter().map(|section| section.join("\n")).collect();
    sections.join("\n\n") + "\n"
}

fn head(run: &Run, style: Style) -> Vec<String> {
    let lines = header::lines(run);
    let wrapped = lines.iter().enumerate().flat_map(|(index, line)| {
        let look = if index == 0 { Look::Title } else { Look::Plain };
        let wrapped = wrap(&style.spell(line), style.width, "", "  ");
        wrapped.into_iter().map(move |line| style.paint(look, &line))
    });
    wrapped.collect()
}

/// Figures; what showing progress in a line cost where `full`, that of a full screen always.
fn table(run: &Run, style: Style, full: bool) -> Vec<String> {
    let figures = figures::figures(run);
    let drawn = figures.table.draw(style);
    let mut lines = drawn.lines;
    let mut note = |text: &str| {
        let wrapped = wrap(&style.spell(text), style.width, "", "  ");
        lines.extend(wrapped.iter().map(|line| style.paint(Look::Faint, line)));
    };
    // Where there is colour, weight marks it.
    if !style.colour && figures.table.has_headline() {
        note("*: the main figure of the point.");
    }
    if figures.too_few {
        note("A percentile is blank where fewer than ten requests were slower.");
    }
    if let Some(why) = &figures.no_interval {
        note(why);
    }
    if !drawn.left_out.is_empty() {
        note(&format!(
            "Columns hidden: {}; `--width {}` shows all.",
            drawn.left_out.join(", "),
            drawn.whole_width
        ));
    }
    let is_told = |cost: &&DisplayCost| cost.shown_s > 0.0 && (full || cost.kind == "full");
    if let Some(cost) = run.display.as_ref().filter(is_told) {
        let what = if cost.kind == "full" { "full screen" } else { "progress line" };
        let (cpu, share) = (Nanos::from_secs_f64(cost.cpu_s), cost.cpu_s / cost.shown_s * 100.0);
        note(&format!("The {what} took {cpu} of processor time: {share:.2} % of one processor."));
    }
    let curves = sweep::lines(run, style);
    if !curves.is_empty() {
        lines.push(String::new());
        lines.extend(curves);
    }
    lines
}

/// The first failed requests of each workload that had any, at most `shown` of all together, and how many more failed.
fn errors(run: &Run, style: Style, shown: usize) -> Vec<String> {
    const EACH: usize = 3;
    let failed = |workload: &&WorkloadResult| !workload.error_samples.is_empty();
    let workloads = run.points.iter().flat_map(|point| &point.workloads).filter(failed);
    let (mut lines, mut left, mut unsaid): (Vec<String>, usize, u64) = (Vec::new(), shown, 0);
    for workload in workloads {
        let samples = &workload.error_samples[..workload.error_samples.len().min(EACH).min(left)];
        left -= samples.len();
        for sample in samples {
            let text = format!(
                "{}: {} of {} B at {} of {}: {}",
                workload.name, sample.op, sample.len_bytes, sample.offset_bytes, sample.file, sample.failure
            );
            lines.extend(wrap(&harmless(&text), style.width, "  ", "    "));
        }
        let more = workload.errors.saturating_sub(samples.len() as u64);
        match samples.is_empty() {
            true => unsaid += more,
            false if more > 0 => {
                lines.push(format!("  {}: and {} more", harmless(&workload.name), thousands(more)));
            }
            false => {}
        }
    }
    if unsaid > 0 {
        lines.push(format!("  {} more elsewhere", thousands(unsaid)));
    }
    if !lines.is_empty() {
        lines.insert(0, style.paint(Look::Title, "Errors"));
    }
    lines
}

fn tail(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if !run.ending.complete || run.ending.code != 0 {
        let state = if run.ending.complete { "Ended" } else { "Not complete" };
        let text = format!("{state}: {} (exit code {}).", harmless(&run.ending.reason), run.ending.code);
        lines.extend(wrap(&text, style.width, "", "  ").iter().map(|line| style.paint(Look::Wrong, line)));
    }
    lines
}
