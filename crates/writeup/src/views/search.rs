//! What searches for the highest sustained rate found.

use chart::{Axis, Chart, Dot, Dots, Row, Scale, Unit};
use record::Search;

use crate::document::{Block, Cell, Column, Figure, Section, Sentence, Table};
use crate::number::{Number, Source};

use super::Subject;

/// The rates that keep the SLOs, a row for each run, and every rate that was tried.
pub(super) fn section(subject: &Subject<'_>) -> Option<Section> {
    let searches: Vec<(usize, &Search)> = subject
        .runs
        .iter()
        .enumerate()
        .filter_map(|(run, record)| Some((run, record.search.as_ref()?)))
        .collect();
    if searches.is_empty() {
        return None;
    }
    let rows = searches.iter().map(|(run, search)| Row {
        name: format!("{} {}", subject.label(*run), search.slos.join(", ")),
        dots: met(*run, search)
            .map(|(number, violated)| Dot {
                series: 0,
                value: number.value,
                band: violated.map(|violated| (number.value, violated.value)),
            })
            .into_iter()
            .collect(),
        missing: "no rate was seen to meet it".into(),
    });
    let chart = Dots {
        axis: Axis::new("sustained rate", Unit::PerSecond, Scale::Linear),
        series: Vec::new(),
        rows: rows.collect(),
        around_zero: false,
    };
    let figure = Figure {
        kind: "search",
        reading: answer(subject).unwrap_or_default(),
        subtitle:
            "The highest rate seen to meet the SLOs; the bar ends at the lowest rate seen to violate one"
                .into(),
        panels: vec![(String::new(), Chart::Dots(chart))],
        small: false,
        table: ladder(subject, &searches),
    };
    Some(Section { heading: "Sustained rate".into(), blocks: vec![Block::Figure(figure)] })
}

/// The highest rate that met the SLOs, and the lowest that violated one.
pub(crate) fn met(run: usize, search: &Search) -> Option<(Number, Option<Number>)> {
    let number = |key: &str, value: f64| Number {
        value,
        unit: Unit::PerSecond,
        source: Source::At(run, format!("/search/{key}")),
    };
    let met = number("met_per_s", search.met_per_s?);
    Some((met, search.violated_per_s.map(|violated| number("violated_per_s", violated))))
}

/// Each search in words; `None` without any.
pub(crate) fn answer(subject: &Subject<'_>) -> Option<Sentence> {
    let mut sentence = Sentence::default();
    for (run, search) in
        subject.runs.iter().enumerate().filter_map(|(run, record)| Some((run, record.search.as_ref()?)))
    {
        let slos = search.slos.join(" and ");
        let label = subject.label(run);
        if !sentence.is_empty() {
            sentence = sentence.words("; ");
        }
        sentence = match met(run, search) {
            None => sentence.words(format!("{label}: no rate was seen to meet {slos}")),
            Some((number, None)) => sentence
                .words(format!("{label} sustains "))
                .number(number)
                .words(format!(" IOPS with {slos}")),
            Some((number, Some(violated))) => sentence
                .words(format!("{label} sustains "))
                .number(number)
                .words(format!(" IOPS with {slos}; "))
                .number(violated)
                .words(format!(" violates {}", search.violated_by.as_deref().unwrap_or("it"))),
        };
    }
    (!sentence.is_empty()).then(|| sentence.words("."))
}

fn ladder(subject: &Subject<'_>, searches: &[(usize, &Search)]) -> Table {
    let columns = vec![
        Column::words("run"),
        Column::numbers("offered rate", Unit::PerSecond),
        Column::words("purpose"),
        Column::words("verdict"),
        Column::words("violated"),
        Column::words("seconds"),
    ];
    let row = |run: usize, index: usize, rung: &record::Rung| {
        let rate = Number {
            value: rung.rate_per_s,
            unit: Unit::PerSecond,
            source: Source::At(run, format!("/search/ladder/{index}/rate_per_s")),
        };
        vec![
            Cell::words(subject.label(run)),
            Cell::number(Some(rate)),
            Cell::words(&rung.purpose),
            Cell::words(&rung.verdict),
            Cell::words(rung.cause.clone().unwrap_or_default()),
            Cell::words(format!("{:.0}", rung.seconds)),
        ]
    };
    let rows = searches.iter().flat_map(|(run, search)| {
        search.ladder.iter().enumerate().map(|(index, rung)| row(*run, index, rung))
    });
    Table { title: "rates tried".into(), columns, rows: rows.collect() }
}
