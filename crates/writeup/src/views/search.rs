//! What searches for the highest sustained rate found.

use chart::{Axis, Chart, Dot, Dots, Line, Mark, Plot, Row, Rule, Scale, Unit};
use record::{Metric, Search};
use report::capital;
use units::Nanos;

use crate::document::{Block, Cell, Column, Figure, Section, Sentence, Table};
use crate::measured::{self, Measured};
use crate::number::Number;

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
        ..Row::default()
    });
    let chart = Dots {
        axis: Axis::new("sustained rate", Unit::PerSecond, Scale::Linear),
        series: Vec::new(),
        rows: rows.collect(),
        neutral: None,
        most: None,
    };
    let figure = Figure {
        kind: "search",
        reading: answer(subject).unwrap_or_default(),
        subtitle:
            "The highest rate seen to meet the SLOs; the bar ends at the lowest rate seen to violate one"
                .into(),
        panels: vec![(String::new(), Chart::Dots(chart))],
        table: ladder(subject, &searches),
        ..Figure::default()
    };
    let curves = searches.iter().filter_map(|(run, search)| curve(subject, *run, search)).map(Block::Figure);
    Some(Section {
        heading: "Sustained rate".into(),
        blocks: std::iter::once(Block::Figure(figure)).chain(curves).collect(),
    })
}

/// The latency that an SLO such as `p99<40ms` is about, and its limit in nanoseconds.
fn latency_slo(slo: &str) -> Option<(Metric, f64)> {
    let (name, limit) = slo.split_once('<')?;
    let limit = limit.trim().parse::<Nanos>().ok()?;
    let metric = match name.trim() {
        "mean" => Metric::Mean,
        name => Metric::Quantile(name.strip_prefix('p')?.parse::<f64>().ok()? / 100.0),
    };
    Some((metric, limit.get() as f64))
}

/// The latency of the first SLO in every trial, with its limit.
fn curve(subject: &Subject<'_>, run: usize, search: &Search) -> Option<Figure> {
    let (slo, (metric, limit)) = search.slos.iter().find_map(|slo| Some((slo, latency_slo(slo)?)))?;
    let record = &subject.runs[run];
    let mut trials: Vec<(Measured<'_>, Number, Number)> = Vec::new();
    for index in search.ladder.iter().flat_map(|rung| &rung.points) {
        let Some(at) = record.points.iter().position(|point| point.index == *index) else { continue };
        let one = Measured { run, at, point: &record.points[at], only: None };
        let figures = one.figure(Metric::Iops).zip(one.figure(metric));
        trials.extend(figures.map(|(rate, latency)| (one, rate.0, latency.0)));
    }
    trials.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let mark = |trial: &(Measured<'_>, Number, Number)| Mark {
        x: trial.1.value,
        y: Some(trial.2.value),
        ..Mark::default()
    };
    let plot = Plot {
        x: Axis::new("rate", Unit::PerSecond, Scale::Linear),
        y: Axis::new(measured::name(metric), Unit::Nanos, Scale::Log10),
        lines: vec![Line { marked: true, points: trials.iter().map(mark).collect(), ..Line::default() }],
        rules: vec![Rule::Limit(limit, slo.clone())],
    };
    let (lowest, highest) = (trials.first()?, trials.last()?);
    let reading = Sentence::of(format!("{} is ", capital(&measured::name(metric))))
        .number(lowest.2.clone())
        .words(" at ")
        .number(lowest.1.clone())
        .words(" IOPS and ")
        .number(highest.2.clone())
        .words(" at ")
        .number(highest.1.clone())
        .words(" IOPS.");
    let rows = trials.iter().map(|(one, rate, latency)| {
        let numbers = [rate, latency].map(|number| Cell::number(Some(number.clone())));
        std::iter::once(Cell::words(&one.point.name)).chain(numbers).collect()
    });
    Some(Figure {
        kind: "latency",
        reading,
        subtitle: format!(
            "{} against the rate in every trial of the search",
            capital(&measured::name(metric))
        ),
        panels: vec![(String::new(), Chart::Plot(plot))],
        table: Table {
            title: "trials of the search".into(),
            columns: vec![
                Column::words("trial"),
                Column::numbers("rate", Unit::PerSecond),
                Column::numbers(measured::name(metric), Unit::Nanos),
            ],
            rows: rows.collect(),
        },
        ..Figure::default()
    })
}

/// The highest rate that met the SLOs, and the lowest that violated one.
pub(crate) fn met(run: usize, search: &Search) -> Option<(Number, Option<Number>)> {
    let number = |key: &str, value| Number::at(run, format!("/search/{key}"), value, Unit::PerSecond);
    let met = number("met_per_s", search.met_per_s?);
    Some((met, search.violated_per_s.map(|violated| number("violated_per_s", violated))))
}

/// The lower rate that further trials confirmed.
fn confirmed(run: usize, search: &Search) -> Option<Number> {
    let lower = search.confirmed_per_s?;
    Some(Number::at(run, "/search/confirmed_per_s", lower, Unit::PerSecond))
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
            None if search.is_generator_late() => sentence.words(format!(
                "{label}: unknown whether a rate meets {slos}, as the load generator was late at every rate that failed"
            )),
            None => sentence.words(format!("{label}: no rate was seen to meet {slos}")),
            Some((number, violated)) => {
                let kept = match search.confirmed {
                    true => sentence
                        .words(format!("{label} sustains "))
                        .number(number)
                        .words(format!(" IOPS with {slos}")),
                    false => {
                        let met = sentence.words(format!("{label} met {slos} at ")).number(number);
                        match confirmed(run, search) {
                            Some(lower) => met.words(" IOPS (").number(lower).words(" confirmed)"),
                            None => met.words(" IOPS, which no further trial confirmed"),
                        }
                    }
                };
                match violated {
                    None => kept,
                    Some(violated) => kept
                        .words("; ")
                        .number(violated)
                        .words(format!(" violates {}", search.violated_by.as_deref().unwrap_or("it"))),
                }
            }
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
        let path = format!("/search/ladder/{index}/rate_per_s");
        let rate = Number::at(run, path, rung.rate_per_s, Unit::PerSecond);
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
