//! The table of figures of a comparison.

use record::{Compared, Comparison, Verdict};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use super::{name_of, summary, wrapped};
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::harmless;

/// How much of each figure a table has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// The figure on both sides, the change and the verdict.
    Few,
    /// How sure that is as well.
    All,
}

pub(super) fn figures(comparison: &Comparison, style: Style) -> Vec<String> {
    if comparison.rows.is_empty() {
        return Vec::new();
    }
    let rows = table_rows(comparison);
    let drawn = table_of(comparison, &rows, Columns::All).draw(style);
    let mut lines = drawn.lines;
    let is_effect_shown = !drawn.left_out.iter().any(|column| column == EFFECT);
    let mut notes = vec![summary(comparison, &rows, is_effect_shown)];
    if !drawn.left_out.is_empty() {
        notes.push(format!("Columns hidden: {}.", drawn.left_out.join(", ")));
    }
    lines.extend(wrapped(&notes, style));
    lines
}

/// The rows that a table has: all but throughput that says the same as the rate.
pub(super) fn table_rows(comparison: &Comparison) -> Vec<&Compared> {
    comparison.rows.iter().filter(|row| !repeats_the_rate(comparison, row)).collect()
}

/// The verdict where the change has no interval.
const NO_INTERVAL: &str = "no CI";

/// The heading of the change that would have been found.
const EFFECT: &str = "min. effect";

pub(super) fn table_of(comparison: &Comparison, chosen: &[&Compared], wanted: Columns) -> Table {
    debug_assert!(
        comparison.rows.iter().all(|row| (1..comparison.sides.len()).contains(&(row.side as usize))),
        "a row is of a side beside the baseline"
    );
    let several = comparison.sides.len() > 2;
    let titles = if several {
        [format!("base {}", name_of(comparison, 0)), "figure".to_owned()]
    } else {
        [0, 1].map(|side| name_of(comparison, side))
    };
    let mut columns = vec![
        Column::words("point"),
        Column::words("figure"),
        Column::words("side"),
        Column::figures(&titles[0], 1),
        Column::figures(&titles[1], 1),
        Column::figures("change", 0),
        Column::figures("95 % CI", 2),
        Column::figures("A/A noise", 6),
        Column::figures(EFFECT, 3),
        Column::words("verdict"),
    ];
    let few = wanted == Columns::Few;
    if few {
        columns.drain(6..9);
    }
    let mut rows = Vec::new();
    let mut before = String::new();
    let is_bare = chosen.iter().all(|row| row.verdict == Verdict::Inconclusive && row.low.is_none());
    for row in chosen {
        let cell = cell_of(comparison, row);
        let shown = if cell == before { String::new() } else { cell.clone() };
        before = cell;
        let side = if several { name_of(comparison, row.side) } else { String::new() };
        let mut drawn = cells(row, shown, side, comparison.is_doubted(row));
        if is_bare && let Some(verdict) = drawn.last_mut() {
            // What holds for every row is said once, below.
            *verdict = Cell::default();
        }
        if few {
            drawn.drain(6..9);
        }
        rows.push(drawn);
    }
    debug_assert_eq!(rows.len(), chosen.len(), "a row for each figure");
    Table { columns, rows }
}

/// Whether this is a throughput that changes exactly as the rate of the same cell: every request has the same size.
fn repeats_the_rate(comparison: &Comparison, row: &Compared) -> bool {
    let same = |other: &&Compared| {
        other.metric == "iops"
            && (&other.cell, &other.workload, &other.op, other.side)
                == (&row.cell, &row.workload, &row.op, row.side)
    };
    row.metric == "mb_per_s"
        && comparison.rows.iter().find(same).is_some_and(|rate| (rate.ratio / row.ratio - 1.0).abs() < 1e-9)
}

/// The cell, with workload and operation where they are needed to tell it from others.
fn cell_of(comparison: &Comparison, row: &Compared) -> String {
    let alone = comparison.rows.iter().all(|other| other.cell != row.cell || other.workload == row.workload);
    let mut name = harmless(&row.cell);
    if !alone {
        name += &format!(" / {}", harmless(&row.workload));
    }
    if !row.total {
        name += &format!(" {}", row.op);
    }
    name
}

/// What a reader calls the figure of a row: `IOPS`, `p99`.
pub(super) fn figure_name(metric: &str) -> &str {
    match metric {
        "iops" => "IOPS",
        "mb_per_s" => "MB/s",
        "met_per_s" => "highest rate",
        other => other,
    }
}

/// The cells of a row; where a side is no measurement of what it seems to be, a difference is neither better nor worse.
fn cells(row: &Compared, cell: String, side: String, is_doubted: bool) -> Vec<Cell> {
    let interval = row.low.zip(row.high).map(|(low, high)| format!("{} to {}", change(low), change(high)));
    let (look, verdict) = match row.verdict {
        Verdict::Better | Verdict::Worse if is_doubted => (Look::Faint, "differs"),
        Verdict::Better => (Look::Title, "better"),
        Verdict::Worse => (Look::Wrong, "worse"),
        Verdict::Equivalent => (Look::Plain, "equivalent"),
        Verdict::Offered => (Look::Faint, "offered, not compared"),
        Verdict::Inconclusive if row.low.is_none() => (Look::Faint, NO_INTERVAL),
        Verdict::Inconclusive => (Look::Faint, "inconclusive"),
    };
    let part = |part: Option<f64>| part.map(percent).unwrap_or_default();
    vec![
        Cell::plain(cell),
        Cell::plain(harmless(figure_name(&row.metric))),
        Cell::plain(side),
        Cell::plain(figure(row, row.base)),
        Cell::plain(figure(row, row.value)),
        Cell::plain(change(row.ratio)),
        Cell::of(Look::Faint, interval.unwrap_or_default()),
        Cell::of(Look::Faint, part(row.noise_floor)),
        Cell::of(Look::Faint, row.detectable_effect.map(effect).unwrap_or_default()),
        Cell::of(look, verdict),
    ]
}

fn figure(row: &Compared, value: f64) -> String {
    match row.unit.as_str() {
        "per_s" => OpsPerSecond::new(value).to_string(),
        "bytes_per_s" => BytesPerSecond::new(value).to_string().trim_end_matches(" MB/s").to_owned(),
        _ => Nanos::from_secs_f64(value / 1e9).to_string(),
    }
}

/// From where on the two directions of a least effect are far apart in per cent.
const FAR_APART: f64 = 0.1;

/// The least rise that would be seen, and where it is large the least fall too: they are alike as factors.
fn effect(rise: f64) -> String {
    match rise {
        FAR_APART.. => format!("{} / {}", change(1.0 / (1.0 + rise)), change(1.0 + rise)),
        small => percent(small),
    }
}

/// `+4.1 %`, `-12 %`, `0 %`.
pub(super) fn change(ratio: f64) -> String {
    debug_assert!(ratio >= 0.0, "figures are not below zero");
    let percent = (ratio - 1.0) * 100.0;
    let digits = digits(percent.abs());
    let text = format!("{percent:+.digits$} %");
    if ratio == 1.0 { "0 %".into() } else { text }
}

pub(super) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    format!("{percent:.*} %", digits(percent))
}

/// Two figures that say something, as long as there is more than a hundredth of a per cent.
fn digits(percent: f64) -> usize {
    match percent {
        9.95.. => 0,
        0.995.. => 1,
        _ => 2,
    }
}
