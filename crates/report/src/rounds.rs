//! Rounds until a figure is steady: the verdict, and each cell's mean over the rounds of the window.

use record::{Point, PointKind, Rounds, Run, Window, WorkloadResult, phase_title};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{harmless, wrap};

/// For each phase in rounds what the rule of SNIA's PTS says, then its cells.
pub(crate) fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for rounds in &run.rounds {
        let words = wrap(&style.spell(&verdict(rounds)), style.width, "", "  ");
        lines.extend(words.iter().map(|line| style.paint(Look::Title, line)));
        if let Some(window) = rounds.window {
            let words = wrap(&style.spell(&measured(rounds, window)), style.width, "", "  ");
            lines.extend(words);
            lines.extend(cells(run, rounds, window).draw(style).lines);
        }
    }
    lines
}

fn verdict(rounds: &Rounds) -> String {
    let (phase, figure) = (harmless(&phase_title(&rounds.phase, |_| None)), harmless(&rounds.tracked()));
    match rounds.window.filter(|_| rounds.steady) {
        Some(window) => format!(
            "{phase}: {figure} is steady over rounds {} to {} (the rule of SNIA's PTS).",
            window.first_round, window.last_round
        ),
        None => format!(
            "{phase}: steady state NOT ACHIEVED by {figure} in {} of at most {} rounds (the rule of SNIA's PTS).",
            rounds.values.len(),
            rounds.most
        ),
    }
}

fn measured(rounds: &Rounds, window: Window) -> String {
    let part = |value: f64| format!("{:.2} %", value / window.mean.abs() * 100.0);
    let all: Vec<String> = rounds.values.iter().map(|value| number(&rounds.figure, *value)).collect();
    format!(
        "Mean {}; from least to most {} ({} allowed); the line {:.4} x round + {:.4} goes by {} ({} allowed). All \
         rounds: {}.",
        number(&rounds.figure, window.mean),
        part(window.range),
        part(window.range_allowed),
        window.slope,
        window.intercept,
        part(window.excursion),
        part(window.excursion_allowed),
        all.join(", ")
    )
}

/// A figure with its unit; times are kept in nanoseconds.
fn number(figure: &str, value: f64) -> String {
    match figure {
        "iops" => OpsPerSecond::new(value).to_string(),
        "mb_per_s" => BytesPerSecond::new(value * 1e6).to_string(),
        _ => Nanos::from_secs_f64(value / 1e9).to_string(),
    }
}

/// One row for each cell of a round: the mean over the rounds of the window.
fn cells(run: &Run, rounds: &Rounds, window: Window) -> Table {
    let columns = vec![
        Column::words("cell, mean of the window"),
        Column::figures("IOPS", 1),
        Column::figures("MB/s", 2),
        Column::figures("mean", 2),
        Column::figures("max", 3),
    ];
    let mut rows: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &run.points {
        let round = point.swept.get("round").and_then(|round| round.parse::<u32>().ok());
        let inside = round.is_some_and(|round| (window.first_round..=window.last_round).contains(&round));
        if point.phase != rounds.phase || point.kind != PointKind::Load || !inside {
            continue;
        }
        let swept = point.swept.iter().filter(|(key, _)| *key != "round");
        let cell: Vec<String> = swept.map(|(key, value)| format!("{key} {value}")).collect();
        let cell = if cell.is_empty() { point.phase_title(|_| None) } else { cell.join(", ") };
        match rows.iter_mut().find(|(name, _)| *name == cell) {
            Some((_, points)) => points.push(point),
            None => rows.push((cell, vec![point])),
        }
    }
    Table { columns, rows: rows.iter().map(|(name, points)| row(name, points)).collect() }
}

fn row(name: &str, points: &[&Point]) -> Vec<Cell> {
    let totals = || points.iter().flat_map(|point| point.workloads.iter().filter_map(WorkloadResult::total));
    let rounds = points.len().max(1) as f64;
    let ops: f64 = totals().map(|total| total.ops_per_s.value).sum::<f64>() / rounds;
    let bytes: f64 = totals().map(|total| total.bytes_per_s.value).sum::<f64>() / rounds;
    let responses: Vec<_> = totals().filter_map(|total| total.response.as_ref()).collect();
    let count: f64 = responses.iter().map(|one| one.count as f64).sum();
    let mean = responses.iter().map(|one| one.mean_ns * one.count as f64).sum::<f64>() / count;
    let max = responses.iter().map(|one| one.max_ns).max();
    let mean = if mean.is_finite() { Nanos::from_secs_f64(mean / 1e9).to_string() } else { String::new() };
    vec![
        Cell::plain(harmless(name)),
        Cell::plain(OpsPerSecond::new(ops).to_string()),
        Cell::plain(BytesPerSecond::new(bytes).to_string().trim_end_matches(" MB/s").to_owned()),
        Cell::plain(mean),
        Cell::plain(max.map(|max| Nanos::new(max).to_string()).unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};
    use stats::steady::Steady;
    use units::convert::narrow;

    const STYLE: Style = Style { colour: false, unicode: true, width: 300 };

    fn run_of(values: &[f64], steady: bool) -> Run {
        let stream = Stream { op: "write", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };
        let points = (0..values.len()).map(|round| {
            let mut point =
                sample::point(narrow::<u32>(round), "cells", vec![sample::workload("load", &[stream])]);
            point.phase = "cells".into();
            point.swept = [("round".to_owned(), (round + 1).to_string())].into();
            point
        });
        let mut run = sample::run("rounds", points.collect());
        run.rounds = vec![Rounds {
            phase: "cells".into(),
            figure: "iops".into(),
            at: [("size".to_owned(), "4KiB".to_owned())].into(),
            values: values.to_vec(),
            most: 25,
            steady,
            window: Steady::of(values).map(Window::from),
        }];
        run
    }

    #[test]
    fn a_verdict_shows_what_the_rule_allows_and_what_was_measured() {
        let text = lines(&run_of(&[300.0, 100.0, 104.0, 98.0, 102.0, 101.0], true), STYLE).join("\n");
        assert!(text.contains("cells: iops at size 4KiB is steady over rounds 2 to 6"), "{text}");
        assert!(text.contains("from least to most 5.94 % (20.00 % allowed)"), "{text}");
        assert!(text.contains("goes by 0.00 % (10.00 % allowed)"), "{text}");
        assert!(text.contains("All rounds: 300, 100, 104, 98"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("cells ") && line.contains("1,000")), "{text}");
    }

    #[test]
    fn what_was_not_achieved_is_said_and_the_last_window_is_shown() {
        let text = lines(&run_of(&[100.0, 105.0, 110.0, 115.0, 120.0], false), STYLE).join("\n");
        assert!(
            text.contains("steady state NOT ACHIEVED by iops at size 4KiB in 5 of at most 25 rounds"),
            "{text}"
        );
        assert!(text.contains("goes by 18.18 % (10.00 % allowed)"), "{text}");
        let few = lines(&run_of(&[100.0, 105.0], false), STYLE).join("\n");
        assert!(few.contains("in 2 of at most 25") && !few.contains("Mean"), "{few}");
    }
}
