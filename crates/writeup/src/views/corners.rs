//! Points that are not swept, side by side: the corners of a target across its configurations.

use chart::{Axis, Chart, Dot, Dots, HUES, Row, Scale};
use record::{Metric, phase_title};
use report::{capital, distinct};

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::{self, Measured};
use crate::number::Number;
use crate::sweep::Phase;

use super::{Subject, band, leads};

/// Points that a reading names.
const TOLD: usize = 3;

/// A figure for each kind of headline that `phases` have, rows being phases (with what they sweep by words).
pub(crate) fn figures(subject: &Subject<'_>, phases: &[Phase<'_>]) -> Vec<Figure> {
    let metrics = distinct(phases.iter().flat_map(|phase| &phase.points).map(|one| one.headline()));
    metrics.into_iter().filter_map(|metric| figure(subject, phases, metric)).collect()
}

/// A point's name, and what of each run it is: of repeats the first.
type Group<'a> = (String, Vec<Measured<'a>>);

fn figure(subject: &Subject<'_>, phases: &[Phase<'_>], metric: Metric) -> Option<Figure> {
    let groups = groups(phases, metric);
    let shown = groups.iter().flat_map(|(_, points)| points).filter_map(|one| one.figure(metric));
    if shown.count() == 0 {
        return None;
    }
    let mut runs: Vec<usize> = groups.iter().flat_map(|(_, points)| points).map(|one| one.run).collect();
    runs.sort_unstable();
    runs.dedup();
    let chart = Dots {
        axis: Axis::new(measured::name(metric), measured::unit(metric), Scale::Linear),
        series: if runs.len() > 1 && runs.len() <= HUES {
            runs.iter().map(|run| subject.label(*run).to_owned()).collect()
        } else {
            Vec::new()
        },
        rows: rows(subject, &groups, &runs, metric),
        neutral: None,
        most: None,
    };
    let table = table(subject, &groups, &runs, metric);
    let bar = if table.has_intervals() { "; the bar is the 95 % interval" } else { "" };
    Some(Figure {
        kind: "corners",
        reading: reading(subject, &groups, metric),
        subtitle: format!("{} of each point{bar}", capital(&measured::name(metric))),
        panels: vec![(String::new(), Chart::Dots(chart))],
        table,
        ..Figure::default()
    })
}

fn groups<'a>(phases: &[Phase<'a>], metric: Metric) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for measured in phases.iter().flat_map(|phase| &phase.points) {
        if measured.headline() != metric {
            continue;
        }
        let name = phase_title(&measured.point.name, |_| None);
        match groups.iter_mut().find(|(same, _)| *same == name) {
            Some((_, points)) if points.iter().any(|one| one.run == measured.run) => {}
            Some((_, points)) => points.push(*measured),
            None => groups.push((name, vec![*measured])),
        }
    }
    groups
}

/// A row for each point; beyond the hues there are, one for each point of each run.
fn rows(subject: &Subject<'_>, groups: &[Group<'_>], runs: &[usize], metric: Metric) -> Vec<Row> {
    let dot = |one: &Measured<'_>, series: usize| {
        let (number, interval) = one.figure(metric)?;
        Some(Dot { series, value: number.value, band: band(interval.as_ref()) })
    };
    debug_assert!(runs.is_sorted_by(|one, next| one < next), "each run once, in order");
    let series = |run: usize| runs.iter().position(|other| *other == run).unwrap_or(0);
    if runs.len() <= HUES {
        let row = |(name, points): &Group<'_>| Row {
            name: name.clone(),
            dots: points.iter().filter_map(|one| dot(one, series(one.run))).collect(),
            ..Row::default()
        };
        return groups.iter().map(row).collect();
    }
    let each = groups.iter().flat_map(|(name, points)| points.iter().map(move |one| (name, one)));
    let row = |(name, one): (&String, &Measured<'_>)| Row {
        name: format!("{name}, {}", subject.label(one.run)),
        dots: dot(one, 0).into_iter().collect(),
        ..Row::default()
    };
    each.map(row).collect()
}

fn table(subject: &Subject<'_>, groups: &[Group<'_>], runs: &[usize], metric: Metric) -> Table {
    let column = |run: &usize| {
        let title = if runs.len() > 1 { subject.label(*run).to_owned() } else { measured::name(metric) };
        Column::numbers(title, measured::unit(metric))
    };
    let columns = std::iter::once(Column::words("point")).chain(runs.iter().map(column)).collect();
    let cell = |points: &[Measured<'_>], run: usize| {
        points.iter().find(|one| one.run == run).map_or(Cell::Empty, |one| one.cell(metric))
    };
    let rows = groups.iter().map(|(name, points)| {
        std::iter::once(Cell::words(name)).chain(runs.iter().map(|run| cell(points, *run))).collect()
    });
    Table { title: measured::name(metric), columns, rows: rows.collect() }
}

/// Which run is ahead where there are several, and by how much; otherwise the figures themselves.
fn reading(subject: &Subject<'_>, groups: &[Group<'_>], metric: Metric) -> Sentence {
    if let Some(sentence) = leads(subject, groups, metric, TOLD, true) {
        return sentence;
    }
    let mut sentence = Sentence::default();
    for (name, points) in groups.iter().take(TOLD) {
        let Some((number, _)) = points.first().and_then(|one| one.figure(metric)) else { continue };
        let separator = if sentence.is_empty() { "" } else { "; " };
        sentence =
            sentence.words(format!("{separator}{name}: ")).number(number).words(measured::behind(metric));
    }
    if groups.len() > TOLD && !sentence.is_empty() {
        sentence = sentence.words(format!("; {} more in the chart", groups.len() - TOLD));
    }
    if sentence.is_empty() { sentence } else { sentence.words(".") }
}

/// The point with the best figure of `metric` among `points`.
pub(crate) fn best<'a>(points: &[Measured<'a>], metric: Metric) -> Option<(Measured<'a>, Number)> {
    let figures = points.iter().filter_map(|one| Some((*one, one.figure(metric)?)));
    let ((one, (number, _)), _) = metric.best(figures, |(_, figure)| Some(measured::estimate(figure)))?;
    Some((one, number))
}
