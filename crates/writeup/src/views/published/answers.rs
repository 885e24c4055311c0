//! Published figures beside their answers, as charts and as a table.

use campaign::CheckedFigure;
use chart::{Axis, Chart, Dot, Dots, Row, Scale, Unit};
use report::{capital, grouped};

use super::Group;
use super::words::{configurations, measure, series, standing, unit};
use crate::document::{Cell, Column, Figure, Table};

/// So many figures of one load have a chart of their own.
const OWN_CHART: usize = 3;

/// Beyond this factor between the largest and the smallest figure of a chart its axis is logarithmic.
const WIDE: f64 = 12.0;

/// What the marks are: of a model, and of storage that was measured.
const MODEL: [&str; 4] = ["published", "model, foretold", "model, fitted to it", "model, does not count"];
const MEASURED: [&str; 2] = ["published", "measured"];

impl<'a> Group<'a> {
    pub(super) fn figure(self, figures: &[(usize, &'a CheckedFigure)]) -> Figure {
        let rounds = match self.of.rounds {
            1 => "measured once".to_owned(),
            rounds => format!("mean of {rounds} repeats, each with addresses of its own"),
        };
        let who = self.who();
        Figure {
            kind: "published",
            reading: self.reading(),
            subtitle: format!(
                "Source: {}. {}: {rounds}. Behind each row: {who} over published",
                self.of.sources.join("; "),
                capital(who)
            ),
            panels: self.panels(figures),
            table: self.table(figures),
            ..Figure::default()
        }
    }

    /// A chart for each load that several figures are of, and one for each unit of the others.
    fn panels(self, figures: &[(usize, &'a CheckedFigure)]) -> Vec<(String, Chart)> {
        let many = |figure: &CheckedFigure| {
            let same = |other: &&(usize, &CheckedFigure)| {
                (&other.1.metric, &other.1.case.load) == (&figure.metric, &figure.case.load)
            };
            figures.iter().filter(same).count() >= OWN_CHART
        };
        let panel = |one: &(usize, &'a CheckedFigure)| {
            let own = many(one.1);
            let title = match own {
                true => format!("{}: {}", capital(&one.1.case.load), measure(&one.1.metric)),
                false => capital(measure(&one.1.metric)),
            };
            ((title, own), *one)
        };
        let panels = grouped(figures.iter().map(panel));
        let drawn = panels.into_iter().map(|((title, own), rows)| {
            let chart = Chart::Dots(self.dots(&rows, own));
            (title, chart)
        });
        drawn.collect()
    }

    fn dots(self, figures: &[(usize, &CheckedFigure)], is_by_array: bool) -> Dots {
        let row = |(place, figure): &(usize, &CheckedFigure)| {
            let scaled = |value: f64| if figure.metric == "time" { value / 1e9 } else { value };
            let mut dots = vec![Dot { series: 0, value: scaled(figure.published), band: None }];
            dots.extend(figure.answer.map(scaled).map(|value| Dot {
                series: if self.is_measured() { 1 } else { series(figure) },
                value,
                band: figure.low.map(scaled).zip(figure.high.map(scaled)),
            }));
            Row {
                name: match is_by_array {
                    true => format!("{} {}", figure.id, self.configurations(figure)),
                    false => format!("{} {}", figure.id, figure.case.load),
                },
                dots,
                missing: String::new(),
                together: self.ratio(*place).map_or("no answer".into(), |ratio| ratio.text()),
            }
        };
        let series: &[&str] = if self.is_measured() { &MEASURED } else { &MODEL };
        let first = figures.first().map_or("", |(_, figure)| figure.metric.as_str());
        let values = || figures.iter().map(|(_, figure)| figure.published);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let scale = match unit(first) {
            Unit::Ratio => Scale::Log2,
            _ if high > low * WIDE => Scale::Log10,
            _ => Scale::Linear,
        };
        Dots {
            // Times of hours have ticks of hours.
            axis: Axis::new(measure(first), if first == "time" { Unit::Seconds } else { unit(first) }, scale),
            series: series.iter().map(|name| (*name).to_owned()).collect(),
            rows: figures.iter().map(row).collect(),
            neutral: (unit(first) == Unit::Ratio).then_some(1.0),
            most: None,
        }
    }

    /// The configurations of a figure; without the name of the array where all figures of the group are of one.
    fn configurations(self, figure: &CheckedFigure) -> String {
        let words = configurations(figure);
        match self.only_array() {
            Some(array) => words.replace(&format!("{array}: "), ""),
            None => words,
        }
    }

    fn table(self, figures: &[(usize, &CheckedFigure)]) -> Table {
        let ratio = format!("{} / published", self.who());
        let columns =
            ["figure", "what", "configuration", "of", "published", self.who(), &ratio, "is", "source"];
        let row = |(place, figure): &(usize, &CheckedFigure)| {
            vec![
                Cell::words(&figure.id),
                Cell::words(&figure.case.load),
                Cell::words(configurations(figure)),
                Cell::words(measure(&figure.metric)),
                Cell::number(Some(self.published(*place))),
                self.answer(*place).map_or(Cell::Empty, |(number, interval)| Cell::Number(number, interval)),
                Cell::number(self.ratio(*place)),
                Cell::words(if self.is_measured() { "measured".into() } else { standing(figure) }),
                Cell::words(&figure.by),
            ]
        };
        Table {
            title: format!("published figures: {}", self.name()),
            columns: columns.map(Column::words).to_vec(),
            rows: figures.iter().map(row).collect(),
        }
    }
}
