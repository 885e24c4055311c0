//! Charts in characters below the figures of a run or a comparison.

use clap::Args;
use writeup::{Evidence, Figure, WriteUp};

use crate::terminal::{self, Appearance, OUTPUT};

/// Rows of a chart, with its axes, names and what it says.
const ROWS_MOST: usize = 12;
/// Rows of lines over two axes, and of the rate over time.
const ROWS: usize = 6;
const ROWS_OF_TIME: usize = 3;

// Options of charts below a text. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct Charts {
    /// A chart below the figures [default: on a terminal, where it has room]
    #[arg(long, conflicts_with = "no_chart", help_heading = OUTPUT)]
    pub chart: bool,
    /// No chart
    #[arg(long, help_heading = OUTPUT)]
    pub no_chart: bool,
}

impl Charts {
    /// Whether there is to be one, so that it is worth looking for it.
    pub fn are_wanted(&self) -> bool {
        !self.no_chart && (self.chart || terminal::stdout_is_terminal())
    }

    /// The chart that carries the answer of `evidence`, below a blank line; nothing where no chart does, or none fits that
    /// was not asked for.
    pub fn below(&self, evidence: &Evidence, appearance: &Appearance) -> String {
        let report = writeup::write_up(evidence);
        let drawn = chosen(&report, evidence).map(|figure| drawn(figure, appearance));
        let fitting = drawn.filter(|lines| self.chart || lines.len() <= ROWS_MOST);
        fitting.map(|lines| format!("\n{}\n", lines.join("\n"))).unwrap_or_default()
    }
}

/// The chart that answers: of two swept keys their heat map, of one its curve, of a single point the rate over time; where
/// nothing is swept, how runs differ.
fn chosen<'a>(report: &'a WriteUp, evidence: &Evidence) -> Option<&'a Figure> {
    let first = |kinds: &[&str]| report.figures().find(|figure| kinds.contains(&figure.kind));
    let is_single = evidence.runs.iter().all(|run| run.points.len() == 1);
    first(&["grid"])
        .or_else(|| first(&["load", "sweep", "search"]))
        .or_else(|| first(&["time"]).filter(|_| is_single))
        .or_else(|| first(&["changes"]))
}

/// What the chart says, and its first panel.
fn drawn(figure: &Figure, appearance: &Appearance) -> Vec<String> {
    let style = terminal::style(appearance);
    let mut lines = report::wrap(&report::harmless(&figure.reading.text()), style.width, "", "");
    let rows = if figure.kind == "time" { ROWS_OF_TIME } else { ROWS };
    if let Some((title, chart)) = figure.panels.first() {
        let more = figure.panels.len() - 1;
        let title = match more {
            0 => title.clone(),
            _ => format!("{title} ({more} more: fathom report --chart {})", figure.kind),
        };
        lines.extend((!title.is_empty()).then(|| report::harmless(&title)));
        let text = chart.text_within(style.width, rows, style.unicode);
        lines.extend(text.lines().map(report::harmless));
    }
    lines
}
