//! How latency is distributed: the spectrum of its percentiles.

use chart::{Axis, Chart, Line, Mark, Plot, Scale, Unit};
use record::{phase_title, quantile_name};
use report::grouped;

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::{Number, Source};

use super::{Subject, foremost};

/// Panels that a reader looks at.
const PANELS: usize = 6;
/// Requests beyond a percentile that it takes to tell it.
const BEYOND: f64 = 10.0;
/// The percentiles of the table.
const TABLE: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
const _: () = {
    let mut at = 1;
    while at < TABLE.len() {
        assert!(TABLE[at - 1] < TABLE[at], "quantiles come from the lowest up");
        at += 1;
    }
};

/// A panel for each point, a line for each of its operations and sizes in each run.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let named = |one: &Measured<'_>| phase_title(&one.point.name, |_| None);
    let all = points.iter().flat_map(|one| classes(*one).into_iter().map(|class| (named(one), class)));
    let mut panels: Vec<(String, Vec<Class<'_>>)> = grouped(all);
    panels.truncate(PANELS);
    let first = foremost(&panels, |(_, classes)| classes[0].measured);
    let Some(reading) = first.and_then(|(name, classes)| reading(subject, name, classes.first()?)) else {
        return Vec::new();
    };
    let small = panels.len() > 1;
    let all = || panels.iter().flat_map(|(_, classes)| classes);
    let range = all().filter_map(Class::extent).fold(None, |range: Option<(f64, f64)>, (low, high)| {
        let (least, most) = range.unwrap_or((low, high));
        Some((least.min(low), most.max(high)))
    });
    let tail = all().map(Class::tail).fold(10.0, f64::max);
    let drawn = panels.iter().map(|(title, classes)| {
        let several = classes.iter().any(|class| class.name != classes[0].name);
        let line = |(index, class): (usize, &Class<'_>)| {
            let name = if several { class.name.as_str() } else { "" };
            // Repeats of one thing have one hue and one name.
            let first = classes.iter().position(|other| other.is_repeat_of(class)).unwrap_or(index);
            let hue = if several || subject.labels.len() == 1 { first } else { class.measured.run };
            let count = classes.iter().filter(|other| other.is_repeat_of(class)).count();
            let name = match (first == index, count) {
                (true, 1) => subject.named(class.measured.run, name),
                (true, count) => {
                    format!("{} ({count} repeats)", subject.named(class.measured.run, name)).trim().to_owned()
                }
                (false, _) => String::new(),
            };
            Line { name, hue, points: class.spectrum(), ..Line::default() }
        };
        let plot = Plot {
            x: Axis {
                range: small.then_some((1.0, tail)),
                ..Axis::new("percentile", Unit::Tail, Scale::Log10)
            },
            y: Axis { range: range.filter(|_| small), ..Axis::new("latency", Unit::Nanos, Scale::Log10) },
            lines: classes.iter().enumerate().map(line).collect(),
            rules: Vec::new(),
        };
        (title.clone(), Chart::Plot(plot))
    });
    vec![Figure {
        kind: "percentiles",
        reading,
        subtitle: "Latency by percentile, up to the last that ten requests exceed".into(),
        panels: drawn.collect(),
        small,
        details: Vec::new(),
        table: table(subject, &panels),
    }]
}

/// Requests of one operation and size at one point.
struct Class<'a> {
    name: String,
    size_bytes: u64,
    measured: Measured<'a>,
    pointer: String,
    histogram: stats::Histogram,
}

fn classes(measured: Measured<'_>) -> Vec<Class<'_>> {
    let workloads = measured.point.workloads.iter().enumerate();
    let classes = workloads.flat_map(|(place, workload)| {
        let several = measured.point.workloads.len() > 1;
        workload.classes.iter().enumerate().filter_map(move |(index, class)| {
            let histogram =
                class.response.to_stats().filter(|histogram| histogram.count() as f64 > 2.0 * BEYOND)?;
            // Of a record without buckets nothing but its summary is left.
            let prefix = if several { format!("{} ", workload.name) } else { String::new() };
            Some(Class {
                name: format!("{prefix}{}", class.op),
                size_bytes: class.size_bytes,
                measured,
                pointer: format!("/points/{}/workloads/{place}/classes/{index}/response", measured.at),
                histogram,
            })
        })
    });
    classes.collect()
}

impl Class<'_> {
    /// Whether both are the same thing of one run, measured several times.
    fn is_repeat_of(&self, other: &Class<'_>) -> bool {
        let is_same = self.measured.run == other.measured.run && self.name == other.name;
        is_same && self.size_bytes == other.size_bytes
    }

    fn number(&self, q: f64) -> Option<Number> {
        let enough = q <= 0.5 || self.histogram.count() as f64 * (1.0 - q) >= BEYOND;
        let value = self.histogram.quantile(q).filter(|_| enough)?.get() as f64;
        let source = Source::Quantile(self.measured.run, self.pointer.clone(), q);
        Some(Number { value, unit: Unit::Nanos, source })
    }

    /// `1/(1 − q)` of the last percentile that there are requests enough for.
    fn tail(&self) -> f64 {
        (self.histogram.count() as f64 / BEYOND).max(2.0)
    }

    fn extent(&self) -> Option<(f64, f64)> {
        let last = self.histogram.quantile(1.0 - 1.0 / self.tail())?;
        Some((self.histogram.quantile(0.0)?.get().max(1) as f64, last.get() as f64))
    }

    /// Equal steps along the logarithm of the tail.
    fn spectrum(&self) -> Vec<Mark> {
        debug_assert!(!self.histogram.is_empty(), "a class is of requests");
        const STEPS: u32 = 60;
        let tail = self.tail();
        let at = |step: u32| tail.powf(f64::from(step) / f64::from(STEPS));
        let mark = |x: f64| {
            let y = self.histogram.quantile(1.0 - 1.0 / x).map(|value| value.get() as f64);
            Mark { x, y, ..Mark::default() }
        };
        (0..=STEPS).map(at).map(mark).collect()
    }
}

fn reading(subject: &Subject<'_>, name: &str, class: &Class<'_>) -> Option<Sentence> {
    let whole = subject.named(class.measured.run, &format!("{name}, {}", class.name));
    let median = class.number(0.5)?;
    let tail = [0.9999, 0.999, 0.99, 0.9].into_iter().find_map(|q| Some((q, class.number(q)?)));
    let sentence = Sentence::of(format!("{whole}: p50 is ")).number(median);
    Some(match tail {
        Some((q, number)) => sentence.words(format!(", {} is ", quantile_name(q))).number(number).words("."),
        None => sentence.words("."),
    })
}

fn table(subject: &Subject<'_>, panels: &[(String, Vec<Class<'_>>)]) -> Table {
    let mut columns = vec![Column::words("point"), Column::words("requests")];
    columns.extend(TABLE.map(|q| Column::numbers(quantile_name(q), Unit::Nanos)));
    let row = |name: &str, class: &Class<'_>| {
        let requests = subject.named(class.measured.run, &class.name);
        let repeat = class.measured.point.repeat;
        let requests = if repeat > 1 { format!("{requests} #{repeat}") } else { requests };
        let head = [Cell::words(name), Cell::words(requests)];
        head.into_iter().chain(TABLE.map(|q| Cell::number(class.number(q)))).collect()
    };
    let rows = panels.iter().flat_map(|(name, classes)| classes.iter().map(move |class| row(name, class)));
    Table { title: "latency by percentile".into(), columns, rows: rows.collect() }
}
