//! Published figures beside those of the virtual arrays: what agrees, by how much, and what was fitted.

mod answers;
mod courses;
mod reading;
mod statements;
mod words;

use campaign::Published;
use chart::Unit;
use record::ClaimKind;

pub(crate) use self::reading::{agreement, foresight};
use self::words::unit;
use crate::document::{Block, Interval, Section};
use crate::number::Number;

/// One group, and its place among the records.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// What it says.
    pub of: &'a Published,
    /// Which of the records, and where in it.
    pub place: (usize, usize),
}

impl<'a> Group<'a> {
    /// Its figures and what else was said of the array.
    pub fn section(self) -> Section {
        let of_kind = |is_figure: bool| {
            let all = self.of.figures.iter().enumerate();
            all.filter(move |(_, one)| (one.case.kind == ClaimKind::Figure) == is_figure).collect::<Vec<_>>()
        };
        let (figures, statements) = (of_kind(true), of_kind(false));
        let mut blocks = Vec::new();
        if !figures.is_empty() {
            blocks.push(Block::Figure(self.figure(&figures)));
        }
        blocks.extend(self.courses_figure().map(Block::Figure));
        if !statements.is_empty() {
            blocks.push(Block::Text(self.statements_reading()));
            blocks.push(Block::Table(self.statements(&statements)));
        }
        blocks.extend(self.unanswered().map(Block::Text));
        let what = if statements.len() > figures.len() { "statements" } else { "figures" };
        Section { heading: format!("Published {what}: {}", self.name()), blocks }
    }

    /// Whether real storage was measured, and no model asked.
    fn is_measured(self) -> bool {
        self.of.figures.iter().any(|figure| !figure.case.point.is_empty())
    }

    /// Who has the answers.
    fn who(self) -> &'static str {
        if self.is_measured() { "measured" } else { "model" }
    }

    /// What its figures are of.
    fn name(self) -> &'a str {
        let name = self.of.group.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".toml").unwrap_or(name)
    }

    fn number(self, path: &str, value: f64, unit: Unit) -> Number {
        let (record, group) = self.place;
        Number::at(record, format!("/published/{group}/{path}"), value, unit)
    }

    fn count(self, path: &str, many: u32) -> Number {
        self.number(path, many.into(), Unit::Count)
    }

    fn of_figure(self, place: usize, key: &str, value: f64) -> Number {
        let unit = unit(&self.of.figures[place].metric);
        self.number(&format!("figures/{place}/{key}"), value, unit)
    }

    fn published(self, place: usize) -> Number {
        self.of_figure(place, "published", self.of.figures[place].published)
    }

    fn answer(self, place: usize) -> Option<(Number, Interval)> {
        let figure = &self.of.figures[place];
        let at = |key: &str, value| self.of_figure(place, key, value);
        let ends = figure.low.zip(figure.high).map(|(low, high)| (at("low", low), at("high", high)));
        let ends = ends.filter(|(low, high)| low.value < high.value);
        let why = || match self.of.rounds {
            1 => "it was measured once".into(),
            _ => "every repeat gave the same".into(),
        };
        Some((at("answer", figure.answer?), Interval::of(ends, why)))
    }

    fn ratio(self, place: usize) -> Option<Number> {
        Some(super::ratio(&self.answer(place)?.0, &self.published(place), Unit::Ratio))
    }

    fn only_array(self) -> Option<&'a str> {
        let name = |address: &'a String| address.split('?').next().unwrap_or_default();
        let mut names = self.of.figures.iter().flat_map(|figure| &figure.case.arrays).map(name);
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }
}
