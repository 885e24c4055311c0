//! A comparison for a ticket, a spreadsheet and programs.

use record::{Compared, Comparison};

use super::figures::{Columns, table_of, table_rows};
use super::overall::overall;
use super::settings::settings_table;
use super::{graded, name_of, summary, title, unmatched};
use crate::ReportError;
use crate::judgement::culprit;
use crate::markdown;
use crate::words::{csv_cell, harmless};

/// The names of the columns of [`comparison_csv`], in their order. A column is only ever added, at the end.
pub const COMPARISON_COLUMNS: [&str; 24] = [
    "cell",
    "workload",
    "op",
    "total",
    "metric",
    "unit",
    "base_side",
    "side",
    "base",
    "value",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_value",
    "adjusted_p",
    "noise_floor",
    "detectable_effect",
    "base_repeats",
    "repeats",
    "basis",
    "verdict",
    "value_low",
    "value_high",
    "margin",
];

/// The same as GitHub-flavoured Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = format!("### {}\n\n", markdown::escaped(&title(comparison)));
    for side in &comparison.sides {
        let line = format!("{}: {} ({}){}", side.name, side.about, side.runs.join(", "), graded(side));
        text += &format!("- {}\n", markdown::escaped(&harmless(&line)));
    }
    if let Some(doubted) = comparison.doubted() {
        text += &format!("\n**{}**\n", markdown::escaped(&harmless(&doubted)));
    }
    if !comparison.settings.is_empty() {
        text += &format!("\n{}", markdown::drawn(&settings_table(comparison, usize::MAX)));
    }
    if !comparison.rows.is_empty() {
        let rows = table_rows(comparison);
        let drawn = markdown::drawn(&table_of(comparison, &rows, Columns::All));
        text += &format!("\n{drawn}\n{}\n", summary(comparison, &rows, true));
    }
    let slower = comparison.culprit.iter().map(culprit);
    let rest: Vec<String> = slower
        .chain(unmatched(comparison))
        .chain(comparison.notes.iter().cloned())
        .chain(overall(comparison, &table_rows(comparison)))
        .collect();
    if !rest.is_empty() {
        text.push('\n');
    }
    for line in rest {
        text += &format!("- {}\n", markdown::prose(&line));
    }
    text
}

/// The comparison itself, indented, with a line end.
pub fn comparison_json(comparison: &Comparison) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(comparison);
    text.map(|text| text + "\n").map_err(|error| unwritable(comparison, "JSON", &error.to_string()))
}

/// One line for each figure, under a line of titles; ratios as numbers, figures in the base unit that the line names.
pub fn comparison_csv(comparison: &Comparison) -> Result<String, ReportError> {
    let unwritable = |why: String| unwritable(comparison, "CSV", &why);
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COMPARISON_COLUMNS).map_err(|error| unwritable(error.to_string()))?;
    for row in &comparison.rows {
        let row = fields(comparison, row).map(|text| csv_cell(&text));
        writer.write_record(row).map_err(|error| unwritable(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unwritable(error.to_string()))
}

fn unwritable(comparison: &Comparison, format: &'static str, why: &str) -> ReportError {
    let ids = comparison.sides.iter().flat_map(|side| &side.runs).cloned().collect::<Vec<_>>().join(", ");
    ReportError::Unwritable { id: ids, format, why: why.into() }
}

fn fields(comparison: &Comparison, row: &Compared) -> [String; 24] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        row.cell.clone(),
        row.workload.clone(),
        row.op.to_string(),
        row.total.to_string(),
        row.metric.clone(),
        row.unit.clone(),
        name_of(comparison, 0),
        name_of(comparison, row.side),
        row.base.to_string(),
        row.value.to_string(),
        row.ratio.to_string(),
        number(row.low),
        number(row.high),
        number(row.p_value),
        number(row.adjusted_p),
        number(row.noise_floor),
        number(row.detectable_effect),
        row.repeats[0].to_string(),
        row.repeats[1].to_string(),
        word(&row.basis),
        word(&row.verdict),
        number(row.value_low),
        number(row.value_high),
        comparison.margin.to_string(),
    ]
}

/// As it is spelled in JSON.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
