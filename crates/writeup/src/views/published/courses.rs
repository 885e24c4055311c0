//! The course of an array's own work, with the published times on it.

use campaign::CheckedFigure;
use chart::{Axis, Chart, Line, Mark, Plot, Scale, Unit};
use record::{ClaimKind, WorkCourse};
use report::{capital, grouped};

use super::Group;
use super::words::configuration;
use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::number::Number;

/// Work of an array's own, by its place among the figures and within one.
#[derive(Clone, Copy)]
struct Course<'a> {
    place: usize,
    at: usize,
    of: &'a WorkCourse,
    figure: &'a CheckedFigure,
}

impl<'a> Course<'a> {
    fn is_like(&self, other: &Course<'_>) -> bool {
        self.of.work == other.of.work && self.of.at_ns == other.of.at_ns
    }

    /// Kinds of work that lie beside each other in a chart.
    fn family(&self) -> &'a str {
        if self.of.work.contains("initialisation") { "initialisation" } else { &self.of.work }
    }

    /// When so many percent are done.
    fn at(&self, group: Group<'_>, percent: usize) -> Option<Number> {
        let index = percent.checked_sub(1)?;
        let at_ns = *self.of.at_ns.get(index)?;
        let path = format!("figures/{}/case/courses/{}/at_ns/{index}", self.place, self.at);
        Some(group.number(&path, at_ns as f64, Unit::Nanos))
    }

    fn end(self, group: Group<'_>) -> Option<(Course<'a>, Number)> {
        Some((self, self.at(group, self.of.at_ns.len())?))
    }

    /// The published time, where the figure is one from the beginning of the work.
    fn mark(&self) -> Option<Mark> {
        let is_time = self.figure.metric == "time" && self.figure.case.kind == ClaimKind::Figure;
        is_time.then(|| Mark {
            x: self.figure.published / 1e9,
            y: Some(f64::from(self.of.to_percent) / 100.0),
            ..Mark::default()
        })
    }
}

impl<'a> Group<'a> {
    /// Percent against time of work of the array's own, a chart for each kind, with the published times on the lines.
    pub(super) fn courses_figure(self) -> Option<Figure> {
        let figures = self.of.figures.iter().enumerate();
        let all: Vec<Course<'_>> = figures
            .flat_map(|(place, figure)| {
                let own = figure.case.courses.iter().enumerate();
                own.map(move |(at, of)| Course { place, at, of, figure })
            })
            .collect();
        // Several figures are of one course: of the first there is a line, of all of them a mark.
        let mut lines: Vec<Course<'_>> = Vec::new();
        for course in &all {
            if !lines.iter().any(|known| known.is_like(course)) {
                lines.push(*course);
            }
        }
        let longest = lines
            .iter()
            .filter_map(|course| course.end(self))
            .max_by(|one, other| one.1.value.total_cmp(&other.1.value))?;
        let families = grouped(lines.iter().map(|course| (course.family(), *course)));
        let panel =
            |(family, own): &(&str, Vec<Course<'_>>)| (capital(family), Chart::Plot(self.plot(own, &all)));
        let (course, number) = longest;
        Some(Figure {
            kind: "courses",
            reading: Sentence::of(format!(
                "The longest work is the {} on {}: ",
                course.of.work,
                configuration(&course.of.array)
            ))
            .number(number)
            .words(" without a load."),
            subtitle: match all.iter().any(|course| course.mark().is_some()) {
                true => "What is done of the work against time, without a load; marks are published times",
                false => "What is done of the work against time, without a load",
            }
            .into(),
            panels: families.iter().map(panel).collect(),
            small: families.len() > 1,
            details: Vec::new(),
            table: self.courses_table(&lines),
        })
    }

    /// A line for each of `own`, and a mark for each published time among `all` that is of one of them.
    fn plot(self, own: &[Course<'_>], all: &[Course<'_>]) -> Plot {
        let is_of_several = own.iter().any(|course| course.of.work != own[0].of.work);
        let line = |(hue, course): (usize, &Course<'_>)| {
            let done = (1..).map(|percent| f64::from(percent) / 100.0);
            let marks = course.of.at_ns.iter().zip(done).map(|(at_ns, done)| Mark {
                x: *at_ns as f64 / 1e9,
                y: Some(done),
                ..Mark::default()
            });
            let zero = Mark { y: Some(0.0), ..Mark::default() };
            Line {
                name: match (is_of_several, self.short(&course.of.array)) {
                    (false, array) => array,
                    (true, array) => format!("{}, {array}", course.of.work),
                },
                hue,
                points: std::iter::once(zero).chain(marks).collect(),
                ..Line::default()
            }
        };
        let mut lines: Vec<Line> = own.iter().enumerate().map(line).collect();
        let of_these = all.iter().filter(|other| own.iter().any(|course| other.is_like(course)));
        // A gap behind each mark: nothing is published between them.
        let gapped = |mark: Mark| {
            let gap = Mark { y: None, ..mark.clone() };
            [mark, gap]
        };
        let published: Vec<Mark> = of_these.filter_map(Course::mark).flat_map(gapped).collect();
        if !published.is_empty() {
            let hue = lines.len();
            lines.push(Line {
                name: "published".into(),
                hue,
                marked: true,
                points: published,
                ..Line::default()
            });
        }
        Plot {
            x: Axis::new("time", Unit::Seconds, Scale::Linear),
            y: Axis { range: Some((0.0, 1.0)), ..Axis::new("done", Unit::Share, Scale::Linear) },
            lines,
            rules: Vec::new(),
        }
    }

    /// A configuration, without the name of the array where all are of one.
    fn short(self, address: &str) -> String {
        let words = configuration(address);
        match self.only_array() {
            Some(array) if words != array => words.replacen(&format!("{array}: "), "", 1),
            _ => words,
        }
    }

    /// When each tenth of the work is done.
    fn courses_table(self, courses: &[Course<'_>]) -> Table {
        let tenths = (1..=10).map(|tenth| Column::numbers(format!("{} %", tenth * 10), Unit::Nanos));
        let row = |course: &Course<'_>| {
            let words = [Cell::words(&course.of.work), Cell::words(configuration(&course.of.array))];
            let times = (1..=10).map(|tenth| Cell::number(course.at(self, tenth * 10)));
            words.into_iter().chain(times).collect()
        };
        Table {
            title: format!("courses of work: {}", self.name()),
            columns: [Column::words("work"), Column::words("configuration")]
                .into_iter()
                .chain(tenths)
                .collect(),
            rows: courses.iter().map(row).collect(),
        }
    }
}
