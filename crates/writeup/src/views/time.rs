//! Rates and latencies second by second.

use chart::{Axis, Chart, Line, Mark, Plot, Rule, Scale, Unit};
use record::names::series::{OPS, RESPONSE_P99};
use record::{Metric, Series, WorkloadResult, phase_title};

use crate::document::{self, Cell, Column, CoursePlot, Detail, Figure, Sentence, Table};
use crate::measured::Measured;
use crate::number::Number;

use super::{Subject, foremost};

/// Panels that a reader looks at.
const PANELS: usize = 6;
/// Fewer seconds are no course.
const LEAST: usize = 8;
/// Longer than any run, in nanoseconds: a record that says more has been tampered with.
const LONGEST_NS: u64 = 100_000_000 * 1_000_000_000;

/// The rate of each second, a panel for each point, a line for each run.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let mut panels: Vec<(String, Vec<Course<'_>>)> = Vec::new();
    for one in points {
        let name = phase_title(&one.point.name, |_| None);
        let Some(course) = Course::of(*one) else { continue };
        match panels.iter_mut().find(|(same, _)| *same == name) {
            Some((_, all)) => all.push(course),
            None => panels.push((name, vec![course])),
        }
    }
    panels.truncate(PANELS);
    if panels.is_empty() {
        return Vec::new();
    }
    let small = panels.len() > 1;
    let drawn = panels.iter().map(|(title, courses)| {
        let lines = courses.iter().map(|course| Line {
            name: turn(subject, course),
            hue: course.measured.run,
            points: course.marks(),
            ..Line::default()
        });
        let events = courses.iter().flat_map(|course| {
            course.measured.point.workloads.iter().flat_map(|workload| {
                workload.stalls.iter().map(|stall| {
                    let at = stall.from_ns.saturating_sub(workload.measured_from_ns) as f64 / 1e9;
                    Rule::Event(at, format!("stall of {}", Unit::Nanos.written(stall.length_ns as f64)))
                })
            })
        });
        let plot = Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y: Axis::new("rate", Unit::PerSecond, Scale::Linear),
            lines: lines.collect(),
            rules: events.take(3).collect(),
        };
        (title.clone(), Chart::Plot(plot))
    });
    vec![Figure {
        kind: "time",
        reading: reading(subject, &panels),
        subtitle: "Rate of each second; a second in which nothing ended is at zero".into(),
        panels: drawn.collect(),
        small,
        table: table(subject, &panels),
        details: panels
            .iter()
            .map(|(title, courses)| Detail::Course(samples(subject, title, courses)))
            .collect(),
    }]
}

/// The seconds of one point, all workloads together.
struct Course<'a> {
    measured: Measured<'a>,
    seconds: Vec<f64>,
}

impl<'a> Course<'a> {
    fn of(measured: Measured<'a>) -> Option<Course<'a>> {
        let is_possible = measured.point.workloads.iter().all(|workload| workload.measured_ns < LONGEST_NS);
        if !is_possible {
            return None;
        }
        let mut seconds: Vec<f64> = Vec::new();
        for workload in 0..measured.point.workloads.len() {
            let own = measured.seconds(workload, OPS);
            seconds.resize(seconds.len().max(own.len()), 0.0);
            seconds.iter_mut().zip(own).for_each(|(sum, rate)| *sum += rate);
        }
        (seconds.len() >= LEAST).then_some(Course { measured, seconds })
    }

    /// Seconds in which nothing ended.
    fn silent(&self) -> usize {
        self.seconds.iter().filter(|rate| **rate == 0.0).count()
    }

    /// One for each second as long as a screen can show them, else one for each stretch of some.
    fn marks(&self) -> Vec<Mark> {
        let each = self.seconds.len().div_ceil(300);
        let mean = |stretch: &[f64]| stretch.iter().sum::<f64>() / stretch.len() as f64;
        let mark = |(index, stretch): (usize, &[f64])| {
            let lowest = stretch.iter().copied().fold(f64::MAX, f64::min);
            let highest = stretch.iter().copied().fold(0.0, f64::max);
            Mark {
                x: (index * each) as f64 + each as f64 / 2.0,
                y: Some(mean(stretch)),
                band: (each > 1).then_some((lowest, highest)),
                label: String::new(),
            }
        };
        self.seconds.chunks(each).enumerate().map(mark).collect()
    }
}

/// The run of a course, with the number of its repeat.
fn turn(subject: &Subject<'_>, course: &Course<'_>) -> String {
    let repeat = course.measured.point.repeat;
    let number = if repeat > 1 { format!("#{repeat}") } else { String::new() };
    let run = subject.named(course.measured.run, "");
    [run, number].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn reading(subject: &Subject<'_>, panels: &[(String, Vec<Course<'_>>)]) -> Sentence {
    let all: Vec<(&String, &Course<'_>)> =
        panels.iter().flat_map(|(name, courses)| courses.iter().map(move |course| (name, course))).collect();
    // A stop is what one looks for in a course; without one the highest rate.
    let stopped =
        all.iter().max_by_key(|(_, course)| course.silent()).filter(|(_, course)| course.silent() > 0);
    let Some((name, course)) = stopped.or(foremost(&all, |(_, course)| course.measured)) else {
        return Sentence::default();
    };
    let silent = course.silent();
    let mean = course.measured.figure(Metric::Iops).map(|(number, _)| number);
    let mut sentence = Sentence::of(format!("{}: ", subject.named(course.measured.run, name)));
    if let Some(mean) = mean {
        sentence = sentence.number(mean).words(" IOPS on average");
    }
    let rest = match silent {
        0 => format!("; no second of {} without a completion.", course.seconds.len()),
        1 => "; one second without any completion.".to_owned(),
        silent => format!("; {silent} seconds without any completion."),
    };
    sentence.words(rest)
}

/// Rates and 99th percentiles of one panel.
fn samples(subject: &Subject<'_>, title: &str, courses: &[Course<'_>]) -> document::Course {
    let plot = |measure: &str, unit, ending| CoursePlot {
        measure: measure.into(),
        unit,
        lines: courses
            .iter()
            .map(|course| {
                let name = [turn(subject, course), title.to_owned()];
                let name: Vec<String> = name.into_iter().filter(|part| !part.is_empty()).collect();
                (name.join(", "), course.measured.over_time(ending))
            })
            .collect(),
    };
    let plots = [plot("rate", Unit::PerSecond, OPS), plot("p99 latency", Unit::Nanos, RESPONSE_P99)];
    document::Course {
        title: title.into(),
        plots: plots.into_iter().filter(CoursePlot::has_samples).collect(),
        ..document::Course::default()
    }
}

/// Where each point's latency second by second is to be had: the largest p99 of any second of
/// the measured window.
fn worst(measured: Measured<'_>) -> Option<Number> {
    let is_tail = |series: &&(usize, &Series)| series.1.name.ends_with(RESPONSE_P99);
    let series: Vec<(usize, &Series)> = measured.point.series.iter().enumerate().collect();
    let is_measured = |series: &Series, at: usize| {
        let own = |workload: &&WorkloadResult| series.workload.as_deref() == Some(workload.name.as_str());
        measured.point.workloads.iter().find(own).zip(series.at_ns.get(at)).is_some_and(
            |(workload, ended)| {
                let from = workload.measured_from_ns;
                *ended > from && *ended <= from.saturating_add(workload.measured_ns)
            },
        )
    };
    let numbers = series.iter().filter(is_tail).flat_map(|(index, series)| {
        let own = series.values.iter().enumerate().filter(move |(at, _)| is_measured(series, *at));
        own.map(move |(at, value)| {
            measured.number(&format!("/series/{index}/values/{at}"), *value, Unit::Nanos)
        })
    });
    numbers.max_by(|one, other| one.value.total_cmp(&other.value))
}

fn table(subject: &Subject<'_>, panels: &[(String, Vec<Course<'_>>)]) -> Table {
    let columns = vec![
        Column::words("point"),
        Column::words("run"),
        Column::words("seconds"),
        Column::numbers("rate", Unit::PerSecond),
        Column::numbers("highest p99 of a second", Unit::Nanos),
    ];
    let row = |name: &str, course: &Course<'_>| {
        vec![
            Cell::words(name),
            Cell::words(match course.measured.point.repeat {
                repeat if repeat > 1 => format!("{} #{repeat}", subject.label(course.measured.run)),
                _ => subject.label(course.measured.run).to_owned(),
            }),
            Cell::words(course.seconds.len().to_string()),
            Cell::number(course.measured.figure(Metric::Iops).map(|(number, _)| number)),
            Cell::number(worst(course.measured)),
        ]
    };
    let rows = panels.iter().flat_map(|(name, courses)| courses.iter().map(move |course| row(name, course)));
    Table { title: "over time".into(), columns, rows: rows.collect() }
}
