//! How runs differ: in their figures, with verdicts, and in their configurations.

use chart::{Axis, Chart, Dot, Dots, HUES, Row, Scale, Unit};
use record::{Compared, Comparison, Verdict};

use crate::document::{Block, Cell, Column, Figure, Interval, Section, Sentence, Table};
use crate::number::Number;

use super::Subject;

/// Rows of the chart; the table has all.
const SHOWN: usize = 12;
/// A change that is not decided is drawn while its interval is within this factor of none: a wider one would press all
/// others together.
const DRAWN_WITHIN: f64 = 2.0;

/// Changes against the first run with their verdicts, and settings that are not the same.
pub(super) fn section(subject: &Subject<'_>) -> Section {
    let mut blocks = Vec::new();
    if let Some((comparison, place)) = subject.comparison {
        let rows: Vec<(usize, &Compared)> =
            comparison.rows.iter().enumerate().filter(|(_, row)| row.total && is_main(row)).collect();
        if !rows.is_empty() {
            blocks.push(Block::Figure(changes(subject, comparison, place, &rows)));
        }
        if !comparison.settings.is_empty() {
            blocks.push(Block::Text(Sentence::of("What is not the same in the configurations:")));
            blocks.push(Block::Table(settings(subject, comparison)));
        }
    }
    Section { heading: "Differences".into(), blocks }
}

/// Rates, and the latencies that people look at.
fn is_main(row: &Compared) -> bool {
    ["iops", "p99", "met_per_s"].contains(&row.metric.as_str())
}

fn name(subject: &Subject<'_>, row: &Compared) -> String {
    let side = subject.labels.get(row.side as usize).map_or("", String::as_str);
    let metric = if row.metric == "iops" { "IOPS" } else { &row.metric };
    if subject.labels.len() > 2 {
        format!("{}, {metric}, {side}", row.cell)
    } else {
        format!("{}, {metric}", row.cell)
    }
}

fn number(place: usize, index: usize, key: &str, value: f64, unit: Unit) -> Number {
    Number::at(place, format!("/rows/{index}/{key}"), value, unit)
}

fn changes(
    subject: &Subject<'_>,
    comparison: &Comparison,
    place: usize,
    rows: &[(usize, &Compared)],
) -> Figure {
    let dot = |row: &Compared| Dot {
        series: (row.side as usize).saturating_sub(1) % HUES,
        value: row.ratio,
        band: row.low.zip(row.high),
    };
    // What is decided first, the largest changes first; what cannot be drawn last.
    let mut largest: Vec<&(usize, &Compared)> = rows.iter().collect();
    largest.sort_by(|one, other| {
        let order = |row: &Compared| (!is_decided(row), !is_drawn(row));
        let size = |row: &Compared| row.ratio.ln().abs();
        order(one.1).cmp(&order(other.1)).then(size(other.1).total_cmp(&size(one.1)))
    });
    largest.truncate(SHOWN);
    let is_any = largest.iter().any(|(_, row)| is_drawn(row));
    let drawn = largest.iter().map(|(_, row)| match is_drawn(row) {
        true => Row { name: name(subject, row), dots: vec![dot(row)], ..Row::default() },
        false => Row { name: name(subject, row), missing: undrawn(row), ..Row::default() },
    });
    let chart = Dots {
        axis: Axis::new(format!("ratio to {}", subject.label(0)), Unit::Ratio, Scale::Log10),
        series: Vec::new(),
        rows: drawn.collect(),
        neutral: Some(1.0),
        most: None,
    };
    Figure {
        kind: "changes",
        reading: reading(subject, comparison, place, &largest),
        subtitle: format!("Ratio to {} with its 95 % interval, the largest change first", subject.label(0)),
        // Without a mark it would be an empty plot beside the same words as in the table.
        panels: if is_any { vec![(String::new(), Chart::Dots(chart))] } else { Vec::new() },
        table: table(subject, comparison, place, rows),
        ..Figure::default()
    }
}

/// Whether it is known to have changed.
fn is_decided(row: &Compared) -> bool {
    matches!(row.verdict, Verdict::Better | Verdict::Worse)
}

/// Whether it has its place on an axis with others: decided either way, or nearly.
fn is_drawn(row: &Compared) -> bool {
    let is_near = |(low, high): (f64, f64)| low >= 1.0 / DRAWN_WITHIN && high <= DRAWN_WITHIN;
    row.verdict != Verdict::Inconclusive || row.low.zip(row.high).is_some_and(is_near)
}

/// What stands in place of a change that is not drawn.
fn undrawn(row: &Compared) -> String {
    match row.low.zip(row.high) {
        Some((low, high)) => {
            format!("inconclusive: {} to {}", Unit::Ratio.written(low), Unit::Ratio.written(high))
        }
        None => "inconclusive: no interval".into(),
    }
}

fn verdict(row: &Compared) -> &'static str {
    match row.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Offered => "offered, not compared",
    }
}

fn reading(
    subject: &Subject<'_>,
    comparison: &Comparison,
    place: usize,
    largest: &[&(usize, &Compared)],
) -> Sentence {
    let count = |verdict| {
        comparison.rows.iter().filter(|row| row.total && is_main(row) && row.verdict == verdict).count()
    };
    let counts = [
        (Verdict::Better, "better"),
        (Verdict::Worse, "worse"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let told: Vec<String> = counts
        .into_iter()
        .map(|(verdict, word)| (count(verdict), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let sentence = Sentence::of(format!("Of rates and p99: {}.", told.join(", ")));
    match largest.first().filter(|(_, row)| is_decided(row)) {
        Some((index, row)) => sentence
            .words(format!(" The largest change is {}: ", name(subject, row)))
            .number(number(place, *index, "ratio", row.ratio, Unit::Ratio))
            .words("."),
        None => sentence,
    }
}

fn table(subject: &Subject<'_>, comparison: &Comparison, place: usize, rows: &[(usize, &Compared)]) -> Table {
    let several = comparison.sides.len() > 2;
    let mut columns = vec![Column::words("figure")];
    columns.extend(several.then(|| Column::words("run")));
    columns.extend([
        Column::words("of"),
        Column::words(subject.label(0)),
        Column::words(if several { "value" } else { subject.labels.get(1).map_or("value", String::as_str) }),
        Column::numbers("ratio", Unit::Ratio),
        Column::words("verdict"),
    ]);
    let row = |(index, row): &(usize, &Compared)| {
        let unit = match row.unit.as_str() {
            "per_s" => Unit::PerSecond,
            "bytes_per_s" => Unit::BytesPerSecond,
            _ => Unit::Nanos,
        };
        let ends = row.low.zip(row.high).map(|(low, high)| {
            let end = |key: &str, value| number(place, *index, key, value, Unit::Ratio);
            (end("low", low), end("high", high))
        });
        let interval = Interval::of(ends, || "a side has too little for an interval".into());
        let mut cells = vec![Cell::words(&row.cell)];
        cells.extend(
            several.then(|| Cell::words(subject.labels.get(row.side as usize).map_or("", String::as_str))),
        );
        cells.extend([
            Cell::words(&row.metric),
            Cell::number(Some(number(place, *index, "base", row.base, unit))),
            Cell::number(Some(number(place, *index, "value", row.value, unit))),
            Cell::Number(number(place, *index, "ratio", row.ratio, Unit::Ratio), interval),
            Cell::words(verdict(row)),
        ]);
        cells
    };
    Table { title: "changes".into(), columns, rows: rows.iter().map(row).collect() }
}

fn settings(subject: &Subject<'_>, comparison: &Comparison) -> Table {
    let columns = std::iter::once(Column::words("setting")).chain(subject.labels.iter().map(Column::words));
    let row = |setting: &record::Setting| {
        let values = setting.values.iter().map(|value| Cell::words(value.clone().unwrap_or_default()));
        std::iter::once(Cell::words(&setting.key)).chain(values).collect()
    };
    Table {
        title: "settings".into(),
        columns: columns.collect(),
        rows: comparison.settings.iter().map(row).collect(),
    }
}
