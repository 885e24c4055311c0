//! How far an array's own work came: initialisation, clone, rebuild, verification; and what the load got meanwhile.

use std::collections::BTreeMap;

use chart::{Axis, Chart, HUES, Line, Mark, Plot, Scale, Stack, Unit};
use record::names::series::{DONE, OPS, RESPONSE_P99};
use record::{Metric, Point, Series};

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};

use super::Subject;
use super::corners::capital;

/// Marks of a line: more than a screen has places for.
const MARKS: usize = 300;

/// Per cent against time with rate and p99 of the load below it, a panel for each kind of work, a line for each run and
/// point.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let mut works: Vec<Work<'_>> = points.iter().flat_map(|one| works(*one)).collect();
    name(subject, &mut works);
    let Some(reading) = works.first().and_then(reading) else { return Vec::new() };
    let mut families: Vec<&str> = Vec::new();
    for work in &works {
        if !families.contains(&work.family()) {
            families.push(work.family());
        }
    }
    let panel = |family: &&str| {
        let own: Vec<&Work<'_>> = works.iter().filter(|work| work.family() == *family).take(HUES).collect();
        (if families.len() > 1 { capital(family) } else { String::new() }, Chart::Stack(stack(&own)))
    };
    let hidden =
        families.iter().any(|family| works.iter().filter(|work| work.family() == *family).count() > HUES);
    let rest = if hidden { "; the first six, the table has all" } else { "" };
    vec![Figure {
        kind: "progress",
        reading,
        subtitle: format!(
            "What is done of the work, and rate and p99 of the load beside it, against time{rest}"
        ),
        panels: families.iter().map(panel).collect(),
        small: false,
        table: table(&works),
    }]
}

/// When half of an array's own work beside `point` was done, and all of it, since the start of the run: `rebuild 50 %`.
pub(super) fn milestones(point: &Point) -> Vec<(u64, String)> {
    let works = point.series.iter().filter(|series| series.name.ends_with(DONE));
    let milestone = |series: &Series, part: f64, words: &str| {
        // A work that is done already was not watched getting there.
        let place = series.values.iter().position(|done| *done >= part).filter(|place| *place > 0)?;
        let work = series.name.trim_end_matches(DONE);
        Some((*series.at_ns.get(place)?, format!("{work} {words}")))
    };
    works
        .flat_map(|series| [milestone(series, 0.5, "50 %"), milestone(series, 0.9995, "done")])
        .flatten()
        .collect()
}

/// One work beside one point.
struct Work<'a> {
    name: String,
    measured: Measured<'a>,
    index: usize,
    series: &'a Series,
}

fn works(measured: Measured<'_>) -> Vec<Work<'_>> {
    let series = measured.point.series.iter().enumerate();
    let works = series.filter(|(_, series)| series.name.ends_with(DONE) && series.values.len() > 1);
    works.map(|(index, series)| Work { name: String::new(), measured, index, series }).collect()
}

/// Names `works` by what they do not have in common: the run, the work, the point.
fn name(subject: &Subject<'_>, works: &mut [Work<'_>]) {
    let parts: Vec<[String; 3]> = works
        .iter()
        .map(|work| {
            [subject.named(work.measured.run, ""), work.work().into(), work.measured.point.name.clone()]
        })
        .collect();
    let differs: Vec<usize> =
        (0..3).filter(|part| parts.iter().any(|own| own[*part] != parts[0][*part])).collect();
    for (work, parts) in works.iter_mut().zip(&parts) {
        let told: Vec<&str> = differs.iter().map(|part| parts[*part].as_str()).collect();
        work.name = if told.is_empty() { parts[1].clone() } else { told.join(", ") };
    }
}

/// The plots of one kind of work, from top to bottom: how much is done, the rate, the 99th percentile.
fn stack(works: &[&Work<'_>]) -> Stack {
    let plot = |y: Axis, marks: &dyn Fn(&Work<'_>) -> Vec<Mark>| {
        let line = |(hue, work): (usize, &&Work<'_>)| Line {
            name: work.name.clone(),
            hue,
            points: marks(work),
            ..Line::default()
        };
        Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y,
            lines: works.iter().enumerate().map(line).collect(),
            rules: Vec::new(),
        }
    };
    let done = Axis { range: Some((0.0, 1.0)), ..Axis::new("done", Unit::Share, Scale::Linear) };
    let rate = Axis::new("rate", Unit::PerSecond, Scale::Linear);
    let tail = Axis::new("p99 latency", Unit::Nanos, Scale::Log10);
    let plots = [
        plot(done, &|work| work.done()),
        plot(rate, &|work| work.beside(OPS)),
        plot(tail, &|work| work.beside(RESPONSE_P99)),
    ];
    let has_points = |plot: &Plot| plot.lines.iter().any(|line| !line.points.is_empty());
    Stack { plots: plots.into_iter().filter(has_points).collect() }
}

impl<'a> Work<'a> {
    fn work(&self) -> &'a str {
        self.series.name.trim_end_matches(DONE)
    }

    /// Kinds of work that lie in one plot.
    fn family(&self) -> &'a str {
        if self.work().contains("initialisation") { "initialisation" } else { self.work() }
    }

    /// Seconds since the point began.
    fn since(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.measured.point.started_ns) as f64 / 1e9
    }

    fn done(&self) -> Vec<Mark> {
        let all = self.series.at_ns.iter().zip(&self.series.values);
        let stride = self.series.values.len().div_ceil(MARKS).max(1);
        let last = self.series.values.len() - 1;
        all.enumerate()
            .filter(|(index, _)| index % stride == 0 || *index == last)
            .map(|(_, (at, value))| Mark { x: self.since(*at), y: Some(*value), ..Mark::default() })
            .collect()
    }

    /// Series of the load whose names end with `ending`, by their places.
    fn of_load(&self, ending: &str) -> impl Iterator<Item = (usize, &'a Series)> {
        let is_it = move |series: &Series| series.workload.is_some() && series.name.ends_with(ending);
        self.measured.point.series.iter().enumerate().filter(move |(_, series)| is_it(series))
    }

    /// The load's rate, or its 99th percentile: rates of all operations added up, of percentiles the highest; of long
    /// stretches the mean rate and the highest percentile.
    fn beside(&self, ending: &str) -> Vec<Mark> {
        let is_rate = ending == OPS;
        let mut all: BTreeMap<u64, f64> = BTreeMap::new();
        for (_, series) in self.of_load(ending) {
            for (at, value) in series.at_ns.iter().zip(&series.values) {
                let known = all.entry(*at).or_insert(0.0);
                *known = if is_rate { *known + value } else { known.max(*value) };
            }
        }
        let all: Vec<(u64, f64)> = all.into_iter().collect();
        let mark = |stretch: &[(u64, f64)]| {
            let values = || stretch.iter().map(|(_, value)| *value);
            let value = match is_rate {
                true => values().sum::<f64>() / stretch.len() as f64,
                false => values().fold(0.0, f64::max),
            };
            Mark { x: self.since(stretch[stretch.len() / 2].0), y: Some(value), ..Mark::default() }
        };
        all.chunks(all.len().div_ceil(MARKS).max(1)).map(mark).collect()
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

    /// What the load's series that end with `ending` say of the stretch in which the work was at its place `at`.
    fn then(&self, at: usize, ending: &str) -> Option<Number> {
        let moment = self.series.at_ns[at];
        let each = self.of_load(ending).filter_map(|(index, series)| {
            let place =
                series.at_ns.partition_point(|end| *end < moment).min(series.at_ns.len().checked_sub(1)?);
            let pointer = format!("/points/{}/series/{index}/values/{place}", self.measured.at);
            Some((*series.values.get(place)?, Source::At(self.measured.run, pointer)))
        });
        let (values, mut sources): (Vec<f64>, Vec<Source>) = each.unzip();
        let is_rate = ending == OPS;
        let value =
            values.iter().copied().reduce(|one, other| if is_rate { one + other } else { one.max(other) })?;
        let source = match (sources.len(), is_rate) {
            (1, _) => sources.pop()?,
            (_, true) => Source::Sum(sources),
            (_, false) => Source::Most(sources),
        };
        Some(Number { value, unit: if is_rate { Unit::PerSecond } else { Unit::Nanos }, source })
    }
}

fn reading(work: &Work<'_>) -> Option<Sentence> {
    let last = work.series.values.len().checked_sub(1)?;
    let whole = if work.name.contains(work.work()) {
        work.name.clone()
    } else {
        format!("{}, {}", work.work(), work.name)
    };
    let mut sentence = Sentence::of(format!("{}: ", capital(&whole)))
        .number(work.value(last))
        .words(" done ")
        .number(work.moment(last))
        .words(" after the run began");
    if let Some((rate, _)) = work.measured.figure(Metric::Iops) {
        sentence = sentence.words("; the load beside it got ").number(rate).words(" IOPS");
        if let Some((tail, _)) = work.measured.figure(Metric::Quantile(0.99)) {
            sentence = sentence.words(" at a p99 of ").number(tail);
        }
    }
    Some(sentence.words("."))
}

/// Where each work was at about every tenth of what is known of it, and what the load got then.
fn table(works: &[Work<'_>]) -> Table {
    let columns = vec![
        Column::words("work"),
        Column::numbers("since the start of the run", Unit::Nanos),
        Column::numbers("done", Unit::Share),
        Column::numbers("rate", Unit::PerSecond),
        Column::numbers("p99", Unit::Nanos),
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
                Cell::number(work.then(at, OPS)),
                Cell::number(work.then(at, RESPONSE_P99)),
            ]
        })
    });
    Table { title: "progress".into(), columns, rows: rows.collect() }
}
