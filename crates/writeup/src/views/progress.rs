//! How far an array's own work came: initialisation, clone, rebuild, verification; and what the load got meanwhile.

use chart::{HUES, Unit};
use record::names::series::{DONE, OPS, RESPONSE_P99};
use record::{Metric, Point, Series};
use report::{capital, grouped};

use crate::document::{Cell, Column, Course, CoursePlot, Detail, Figure, Samples, Sentence, Table};
use crate::measured::Measured;
use crate::number::Number;
use crate::samples::{Join, every_so_often, joined, stack};

use super::Subject;

/// Per cent against time with rate and p99 of the load below it, a panel for each kind of work, a line for each run and
/// point.
pub(super) fn figures(subject: &Subject<'_>, points: &[Measured<'_>]) -> Vec<Figure> {
    let mut works: Vec<Work<'_>> = points.iter().flat_map(|one| works(*one)).collect();
    name(subject, &mut works);
    let Some(reading) = works.first().and_then(|work| reading(subject, work)) else { return Vec::new() };
    let families = grouped(works.iter().map(|work| (work.family(), work)));
    let title = |family: &str| if families.len() > 1 { capital(family) } else { String::new() };
    let course = |(family, own): &(&str, Vec<&Work<'_>>)| course(title(family), &own[..own.len().min(HUES)]);
    let courses: Vec<Course> = families.iter().map(course).collect();
    let hidden = families.iter().any(|(_, own)| own.len() > HUES);
    let rest = if hidden { "; the first six, the table has all" } else { "" };
    // Where loads were measured from different instants on, no one line can mark them.
    let is_unmarked = courses.iter().any(|course| course.warm_up.is_none());
    let warming = if is_unmarked && works.iter().any(|work| measured_from(work).is_some()) {
        ", its warm-up included"
    } else {
        ""
    };
    vec![Figure {
        kind: "progress",
        reading,
        subtitle: format!(
            "What is done of the work, and rate and p99 of the load beside it{warming}, against the time since the run began{rest}"
        ),
        panels: courses.iter().map(|course| (course.title.clone(), stack(course))).collect(),
        small: false,
        table: table(&works),
        details: courses.into_iter().map(Detail::Course).collect(),
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
    assert_eq!(works.len(), parts.len(), "each work has its parts of a name");
    for (work, parts) in works.iter_mut().zip(&parts) {
        let told: Vec<&str> = differs.iter().map(|part| parts[*part].as_str()).collect();
        work.name = if told.is_empty() { parts[1].clone() } else { told.join(", ") };
    }
}

/// Of one kind of work, from top to bottom: how much is done, the rate, the 99th percentile.
fn course(title: String, works: &[&Work<'_>]) -> Course {
    let plot = |measure: &str, unit: Unit, samples: &dyn Fn(&Work<'_>) -> Samples| CoursePlot {
        measure: measure.into(),
        unit,
        lines: works.iter().map(|work| (work.name.clone(), samples(work))).collect(),
    };
    let plots = [
        plot("done", Unit::Share, &|work| work.done()),
        plot("rate", Unit::PerSecond, &|work| work.load(OPS)),
        plot("p99 latency", Unit::Nanos, &|work| work.load(RESPONSE_P99)),
    ];
    Course {
        title,
        plots: plots.into_iter().filter(CoursePlot::has_samples).collect(),
        warm_up: warm_up(works),
        ..Course::default()
    }
}

/// When the measured window of the load beside a work begins, in seconds since the start of the run; `None` where nothing comes
/// before it.
fn measured_from(work: &Work<'_>) -> Option<f64> {
    let point = work.measured.point;
    let from = point.workloads.iter().map(|workload| workload.measured_from_ns).min()?;
    (from > point.started_ns).then_some(from as f64 / 1e9)
}

/// The same of several; `None` also where it differs from one to the other.
fn warm_up(works: &[&Work<'_>]) -> Option<f64> {
    let first = measured_from(works.first()?)?;
    let is_same = |work: &&Work<'_>| measured_from(work).is_some_and(|own| (own - first).abs() < 1.0);
    works.iter().all(is_same).then_some(first)
}

impl<'a> Work<'a> {
    fn work(&self) -> &'a str {
        self.series.name.trim_end_matches(DONE)
    }

    /// Kinds of work that lie in one plot.
    fn family(&self) -> &'a str {
        if self.work().contains("initialisation") { "initialisation" } else { self.work() }
    }

    fn done(&self) -> Samples {
        let all = self.series.at_ns.iter().enumerate().take(self.series.values.len());
        every_so_often(all.map(|(at, at_ns)| (*at_ns as f64 / 1e9, self.value(at))).collect())
    }

    /// What the load got, from the same zero as the work: the start of the run.
    fn load(&self, ending: &str) -> Samples {
        let began = self.measured.point.started_ns as f64 / 1e9;
        let samples = self.measured.over_time(ending).into_iter();
        samples.map(|(since, number)| (began + since, number)).collect()
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

    /// What the load's series that end with `ending` say of the stretch in which the work was at its place `at`; `None` where no load
    /// ran then. All instants are of the clock of the run.
    fn then(&self, at: usize, ending: &str) -> Option<Number> {
        let moment = self.series.at_ns[at];
        let each = self.measured.of_load(ending).filter_map(|(index, series)| {
            let began = series.from_ns.unwrap_or(self.measured.point.started_ns);
            if moment < began {
                return None;
            }
            let place = series.at_ns.partition_point(|end| *end < moment);
            (place < series.values.len()).then(|| self.measured.of_load_at(index, series, place, ending))
        });
        joined(each.collect(), if ending == OPS { Join::Sum } else { Join::Most })
    }
}

fn reading(subject: &Subject<'_>, work: &Work<'_>) -> Option<Sentence> {
    let last = work.series.values.len().checked_sub(1)?;
    let whole = if work.name.contains(work.work()) {
        work.name.clone()
    } else {
        format!("{}, {}", work.work(), work.name)
    };
    // The name has what tells works apart: with one of several runs alone, not which run that is.
    let run = subject.named(work.measured.run, "");
    let whole = if run.is_empty() || whole.contains(&run) { whole } else { format!("{run}, {whole}") };
    let mut sentence = Sentence::of(format!("{whole}: "))
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
