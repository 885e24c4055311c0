//! Two swept keys at once: depth by size, file size by record size.

use chart::{Chart, Heat, Surface};

use units::Bytes;

use crate::document::{Cell, Column, Figure, Sentence, Table};
use record::Metric;
use report::{capital, distinct, grouped};

use crate::measured::{self, Measured, swept};
use crate::sweep::{Phase, name_of, pair, shown, value};

use super::Subject;
use super::corners::best;

/// Fewer values of a key are lines of a plot.
const LEAST: usize = 3;

/// Values of the two innermost keys as a heat map for each run and each set of values of the others; results
/// by two sizes also as the surface that IOzone's are known by.
pub(super) fn figures(subject: &Subject<'_>, phase: &Phase<'_>) -> Vec<Figure> {
    let [.., rows_key, columns_key] = phase.keys[..] else { return Vec::new() };
    let (rows, columns) = (values(phase, rows_key), values(phase, columns_key));
    if rows.len() < LEAST || columns.len() < LEAST {
        return Vec::new();
    }
    let metric = phase.points.first().map_or(Metric::Iops, |one| one.headline());
    let panels = panels(subject, phase);
    let filled: Vec<Panel<'_>> = panels.into_iter().map(|(title, points)| Panel { title, points }).collect();
    let all = || filled.iter().flat_map(|panel| &panel.points);
    let figures = all().filter_map(|one| Some(one.figure(metric)?.0.value));
    let (low, high) =
        figures.fold((f64::MAX, 0.0), |(low, high), value| (f64::min(low, value), f64::max(high, value)));
    if high <= 0.0 {
        return Vec::new();
    }
    let names = |values: &[&str]| values.iter().map(|value| shown(value)).collect::<Vec<_>>();
    let heat = |panel: &Panel<'_>| Heat {
        x_name: phase.title(columns_key),
        columns: names(&columns),
        y_name: phase.title(rows_key),
        rows: names(&rows),
        unit: measured::unit(metric),
        values: rows
            .iter()
            .map(|row| {
                columns
                    .iter()
                    .map(|column| {
                        Some(panel.at(&[(rows_key, row), (columns_key, column)])?.figure(metric)?.0.value)
                    })
                    .collect()
            })
            .collect(),
        range: Some(if metric.more_is_better() { (0.0, high) } else { (low, high) }),
        logarithmic: !metric.more_is_better(),
    };
    let is_surface = rows.iter().chain(&columns).all(|value| value.parse::<Bytes>().is_ok());
    let mut drawn: Vec<(String, Chart)> = Vec::new();
    for panel in &filled {
        drawn.push((panel.title.clone(), Chart::Heat(heat(panel))));
        if is_surface {
            drawn.push((panel.title.clone(), Chart::Surface(Surface { grid: heat(panel) })));
        }
    }
    let small = drawn.len() > 1;
    vec![Figure {
        kind: "grid",
        reading: reading(subject, phase, metric),
        subtitle: format!(
            "{} by {} and {}{}",
            capital(&measured::name(metric)),
            phase.title(rows_key),
            phase.title(columns_key),
            if small { "; all panels have the same colours" } else { "" }
        ),
        panels: drawn,
        small,
        details: Vec::new(),
        table: table(&filled, (rows_key, &rows), (columns_key, &columns), metric),
    }]
}

struct Panel<'a> {
    title: String,
    points: Vec<Measured<'a>>,
}

impl<'a> Panel<'a> {
    /// The point of these swept values.
    fn at(&self, pairs: &[(&str, &str)]) -> Option<&Measured<'a>> {
        let has = |one: &&Measured<'_>| pairs.iter().all(|(key, wanted)| value(one, key) == *wanted);
        self.points.iter().find(has)
    }
}

/// The values of `key` in order: of numbers by size.
fn values<'a>(phase: &Phase<'a>, key: &str) -> Vec<&'a str> {
    let mut values = distinct(phase.points.iter().map(|one| value(one, key)));
    if values.iter().all(|value| swept(value).is_some()) {
        values.sort_by(|one, other| {
            let number = |text: &str| swept(text).map_or(0.0, |(value, _)| value);
            number(one).total_cmp(&number(other))
        });
    }
    values
}

/// The points of each run and each set of values of the keys further out.
fn panels<'a>(subject: &Subject<'_>, phase: &Phase<'a>) -> Vec<(String, Vec<Measured<'a>>)> {
    assert!(phase.keys.len() >= 2, "a grid is of two keys");
    let further = &phase.keys[..phase.keys.len() - 2];
    let title = |one: &Measured<'_>| {
        let around = further.iter().map(|key| pair(key, value(one, key)));
        subject.named(one.run, &around.collect::<Vec<_>>().join(", "))
    };
    grouped(phase.points.iter().map(|one| (title(one), *one)))
}

fn reading(subject: &Subject<'_>, phase: &Phase<'_>, metric: Metric) -> Sentence {
    let Some((one, number)) = best(&phase.points, metric) else { return Sentence::default() };
    let at: Vec<String> = phase.keys.iter().map(|key| pair(key, value(&one, key))).collect();
    let word = if metric.more_is_better() { "highest" } else { "lowest" };
    let run = if subject.labels.len() > 1 { format!("{}, ", subject.label(one.run)) } else { String::new() };
    let is_best = |other: &Measured<'_>| {
        let other = other.figure(metric).map(|(other, _)| other.value);
        other.is_none_or(
            |other| if metric.more_is_better() { other <= number.value } else { other >= number.value },
        )
    };
    let certain = if phase.points.iter().all(is_best) { "" } else { " that is certain" };
    let of = phase.of.as_ref().map(|of| format!(" of {of},")).unwrap_or_default();
    let unit = measured::behind(metric);
    Sentence::of(format!("The {word} {}{of}{certain} is ", measured::name(metric)))
        .number(number)
        .words(format!("{unit} at {run}{}.", at.join(", ")))
}

fn table(panels: &[Panel<'_>], rows: (&str, &[&str]), columns: (&str, &[&str]), metric: Metric) -> Table {
    let mut heads = vec![Column::words("panel"), Column::words(name_of(rows.0))];
    heads.extend(columns.1.iter().map(|value| Column::numbers(shown(value), measured::unit(metric))));
    let several = panels.len() > 1;
    let row = |panel: &Panel<'_>, row: &str| {
        let cells = columns.1.iter().map(|column| {
            let figure = panel.at(&[(rows.0, row), (columns.0, column)]).and_then(|one| one.figure(metric));
            Cell::number(figure.map(|(number, _)| number))
        });
        let mut head = vec![Cell::words(&panel.title), Cell::words(shown(row))];
        head.extend(cells);
        head
    };
    let mut table = Table {
        title: format!("{} by {} and {}", measured::name(metric), name_of(rows.0), name_of(columns.0)),
        columns: heads,
        rows: panels.iter().flat_map(|panel| rows.1.iter().map(move |value| row(panel, value))).collect(),
    };
    if !several {
        table.columns.remove(0);
        table.rows.iter_mut().for_each(|row| drop(row.remove(0)));
    }
    table
}
