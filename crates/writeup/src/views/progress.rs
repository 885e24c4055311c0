//! How far an array's own work came beside its load: initialisation, clone, rebuild, verification.

use chart::{Axis, Chart, Line, Mark, Plot, Scale, Unit};
use record::Series;
use record::names::series::DONE;

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::Number;

use super::Subject;
use super::corners::capital;

/// Per cent against time, a line for each run and point.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let works: Vec<Work<'_>> = points.iter().flat_map(|one| works(subject, *one)).collect();
    let Some(reading) = works.first().and_then(reading) else { return Vec::new() };
    let lines = works.iter().enumerate().map(|(hue, work)| Line {
        name: work.name.clone(),
        hue,
        points: work.marks(),
        ..Line::default()
    });
    let plot = Plot {
        x: Axis::new("time", Unit::Seconds, Scale::Linear),
        y: Axis { range: Some((0.0, 1.0)), ..Axis::new("done", Unit::Share, Scale::Linear) },
        lines: lines.collect(),
        rules: Vec::new(),
    };
    vec![Figure {
        kind: "progress",
        reading,
        subtitle: "What is done of the work against time, beside the load".into(),
        panels: vec![(String::new(), Chart::Plot(plot))],
        small: false,
        table: table(&works),
    }]
}

/// One work beside one point.
struct Work<'a> {
    name: String,
    measured: Measured<'a>,
    index: usize,
    series: &'a Series,
}

fn works<'a>(subject: &Subject<'_>, measured: Measured<'a>) -> Vec<Work<'a>> {
    let series = measured.point.series.iter().enumerate();
    let works = series.filter(|(_, series)| series.name.ends_with(DONE) && series.values.len() > 1);
    works
        .map(|(index, series)| {
            let work = series.name.trim_end_matches(DONE);
            let name = subject.named(measured.run, &format!("{work}, {}", measured.point.name));
            Work { name, measured, index, series }
        })
        .collect()
}

impl Work<'_> {
    fn marks(&self) -> Vec<Mark> {
        let start = self.measured.point.started_ns;
        let all = self.series.at_ns.iter().zip(&self.series.values);
        let stride = self.series.values.len().div_ceil(300).max(1);
        let last = self.series.values.len() - 1;
        all.enumerate()
            .filter(|(index, _)| index % stride == 0 || *index == last)
            .map(|(_, (at, value))| Mark {
                x: at.saturating_sub(start) as f64 / 1e9,
                y: Some(*value),
                ..Mark::default()
            })
            .collect()
    }

    fn value(&self, at: usize) -> Number {
        let rest = format!("/series/{}/values/{at}", self.index);
        self.measured.number(&rest, self.series.values[at], Unit::Share)
    }

    fn moment(&self, at: usize) -> Number {
        self.measured.number(
            &format!("/series/{}/at_ns/{at}", self.index),
            self.series.at_ns[at] as f64,
            Unit::Nanos,
        )
    }
}

fn reading(work: &Work<'_>) -> Option<Sentence> {
    let last = work.series.values.len().checked_sub(1)?;
    Some(
        Sentence::of(format!("{}: ", capital(&work.name)))
            .number(work.value(last))
            .words(" done ")
            .number(work.moment(last))
            .words(" after the run began."),
    )
}

/// Where each work was at about every tenth of what is known of it.
fn table(works: &[Work<'_>]) -> Table {
    let columns = vec![
        Column::words("work"),
        Column::numbers("since the start of the run", Unit::Nanos),
        Column::numbers("done", Unit::Share),
    ];
    let rows = works.iter().flat_map(|work| {
        let last = work.series.values.len() - 1;
        let mut places: Vec<usize> = (0..=10).map(|tenth| last * tenth / 10).collect();
        places.dedup();
        places.into_iter().map(move |at| {
            vec![
                Cell::words(&work.name),
                Cell::number(Some(work.moment(at))),
                Cell::number(Some(work.value(at))),
            ]
        })
    });
    Table { title: "progress".into(), columns, rows: rows.collect() }
}
