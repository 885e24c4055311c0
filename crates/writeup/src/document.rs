//! A write-up as plain data: what every format is drawn from.

use chart::{Chart, Unit};
use record::{Grade, Severity};

use crate::number::{Number, Source};

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteUp {
    /// What it is about: `random on array:md3000`.
    pub title: String,
    /// The answer, with its uncertainty, in a sentence or two.
    pub answer: Sentence,
    /// The worst grade of its runs; absent where none was graded.
    pub grade: Option<Grade>,
    /// Three to six figures.
    pub key_figures: Vec<KeyFigure>,
    /// From the most important to the least.
    pub sections: Vec<Section>,
    /// What warns, the most severe first.
    pub warnings: Vec<Warning>,
    /// Each run: its label, and what it is.
    pub runs: Vec<RunFacts>,
}

/// A part of a report under one heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What stands in it, in order.
    pub blocks: Vec<Block>,
}

/// One thing in a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(Sentence),
    /// Charts beside each other, with what they say and the table that they are drawn from.
    Figure(Figure),
    /// A table that stands by itself.
    Table(Table),
}

/// Charts with one reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Names it where single charts are asked for: `load`, `sizes`, `percentiles`.
    pub kind: &'static str,
    /// What the charts say, in a sentence.
    pub reading: Sentence,
    /// The measure and its unit.
    pub subtitle: String,
    /// The charts; each with a title of its own where there are several.
    pub panels: Vec<(String, Chart)>,
    /// Whether they are small and stand beside each other.
    pub small: bool,
    /// What they are drawn from.
    pub table: Table,
    /// What a workbook shows beside the table, since it has the room.
    pub details: Vec<Detail>,
}

/// What is shown where there is room for every sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// Lines over time.
    Course(Course),
    /// Numbers of rows and columns as colours.
    Map(Table),
}

/// Plots over one axis of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Of what.
    pub title: String,
    /// From top to bottom.
    pub plots: Vec<CoursePlot>,
    /// The hue of each line; by its place where there is none for it.
    pub hues: Vec<usize>,
    /// The seconds before the measured window began; absent where nothing of them is shown.
    pub warm_up: Option<f64>,
}

/// Lines over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CoursePlot {
    /// What goes upwards: `rate`.
    pub measure: String,
    /// What its numbers count.
    pub unit: Unit,
    /// Its lines, each with its name.
    pub lines: Vec<(String, Samples)>,
}

impl CoursePlot {
    /// Whether anything was sampled.
    pub(crate) fn has_samples(&self) -> bool {
        self.lines.iter().any(|(_, samples)| !samples.is_empty())
    }
}

/// What was sampled, each with its time in seconds.
pub type Samples = Vec<(f64, Number)>;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names it, as the sheet of a workbook.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<Column>,
    /// Rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// Head of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What is in it.
    pub title: String,
    /// What its numbers count; absent for words.
    pub unit: Option<Unit>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: not measured, or not to be had.
    Empty,
    /// Words.
    Words(String),
    /// A number, and how sure it is.
    Number(Number, Interval),
}

/// The 95 % interval of a number in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// Nobody asks for one: it is counted, set, or computed from others.
    Unasked,
    /// Its ends.
    Ends(Box<(Number, Number)>),
    /// There is none, for this reason, which the table tells once.
    Lacking(String),
}

impl Interval {
    /// The ends; `None` where there are none.
    pub fn ends(&self) -> Option<&(Number, Number)> {
        match self {
            Interval::Ends(ends) => Some(ends),
            Interval::Unasked | Interval::Lacking(_) => None,
        }
    }

    /// The ends as they are written beside their figure; where those read alike and are not, half their distance as a part of
    /// it.
    pub(crate) fn written(&self, figure: &Number) -> Option<Written<'_>> {
        let (low, high) = self.ends()?;
        if low.value >= high.value || low.bare() != high.bare() || figure.value <= 0.0 {
            return Some(Written::Ends(low, high));
        }
        let less = |one: &Number, other: &Number| {
            Source::Difference(Box::new((one.source.clone(), other.source.clone())))
        };
        let half = Source::Mean(vec![less(high, figure), less(figure, low)]);
        let sum = (high.value - figure.value) + (figure.value - low.value);
        Some(Written::Around(Number {
            value: sum / 2.0 / figure.value,
            unit: Unit::Share,
            source: Source::Ratio(Box::new((half, figure.source.clone()))),
        }))
    }

    /// Of `ends`, or without them for the reason that `why` gives.
    pub(crate) fn of(ends: Option<(Number, Number)>, why: impl FnOnce() -> String) -> Interval {
        ends.map_or_else(|| Interval::Lacking(why()), |ends| Interval::Ends(Box::new(ends)))
    }
}

/// How an interval is written beside its figure.
pub(crate) enum Written<'a> {
    /// By its ends.
    Ends(&'a Number, &'a Number),
    /// By how far they are from the figure, as a part of it.
    Around(Number),
}

/// A part that reads as nothing.
pub(crate) const NOTHING: &str = "0 %";
/// Said in place of it.
pub(crate) const NEXT_TO_NOTHING: &str = "below 0.001 %";

/// One of the figures at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFigure {
    /// What it is.
    pub name: String,
    /// The figure.
    pub figure: Number,
    /// Its interval, or why there is none.
    pub interval: Interval,
    /// Beside it, in words: of which configuration.
    pub note: String,
}

/// Words with numbers in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence(pub Vec<Span>);

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Words.
    Words(String),
    /// A number with its unit.
    Number(Number),
}

/// A finding of one or several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Its stable name.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What was found.
    pub sentence: String,
    /// What to do.
    pub remedy: String,
    /// Where: labels of runs and names of points.
    pub places: Vec<String>,
}

/// What one run is.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// How it is called in charts and tables.
    pub label: String,
    /// Its name in the library.
    pub id: String,
    /// What is to be known of it, by name.
    pub facts: Vec<(String, String)>,
    /// The command that repeats it.
    pub command: String,
    /// The text of its plan.
    pub plan: String,
    /// The file of the campaign that it is of; empty where it is of none, or not known.
    pub campaign: String,
}

impl Sentence {
    /// A sentence of words alone.
    pub fn of(words: impl Into<String>) -> Sentence {
        Sentence(vec![Span::Words(words.into())])
    }

    /// With `words` behind it.
    #[must_use]
    pub fn words(mut self, words: impl Into<String>) -> Sentence {
        self.0.push(Span::Words(words.into()));
        self
    }

    /// With `number` behind it.
    #[must_use]
    pub fn number(mut self, number: Number) -> Sentence {
        self.0.push(Span::Number(number));
        self
    }

    /// Its spans, of which no two of words follow each other.
    fn joined(&self) -> Vec<Span> {
        let mut joined: Vec<Span> = Vec::new();
        for span in &self.0 {
            match (joined.last_mut(), span) {
                (Some(Span::Words(before)), Span::Words(words)) => before.push_str(words),
                _ => joined.push(span.clone()),
            }
        }
        joined
    }

    /// Its first sentence, and what follows it; nothing follows where there is one alone.
    pub(crate) fn parted(&self) -> (Sentence, Sentence) {
        const END: &str = ". ";
        let whole = self.joined();
        let at = whole.iter().enumerate().find_map(|(place, span)| match span {
            Span::Words(words) => Some((place, words, words.find(END)?)),
            Span::Number(_) => None,
        });
        let Some((place, words, end)) = at else { return (self.clone(), Sentence::default()) };
        let (first, rest) = words.split_at(end + 1);
        let rest = Span::Words(rest.trim_start().to_owned());
        let head = whole[..place].iter().cloned().chain([Span::Words(first.to_owned())]);
        let tail = std::iter::once(rest).chain(whole[place + 1..].iter().cloned());
        (Sentence(head.collect()), Sentence(tail.collect()))
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As plain text.
    pub fn text(&self) -> String {
        let text = |span: &Span| match span {
            Span::Words(words) => words.clone(),
            Span::Number(number) => number.text(),
        };
        self.0.iter().map(text).collect()
    }
}

impl Column {
    /// A column of words.
    pub fn words(title: impl Into<String>) -> Column {
        Column { title: title.into(), unit: None }
    }

    /// A column of numbers.
    pub fn numbers(title: impl Into<String>, unit: Unit) -> Column {
        Column { title: title.into(), unit: Some(unit) }
    }

    /// Its title with the unit that its cells leave out.
    pub fn head(&self) -> String {
        match self.unit {
            Some(Unit::BytesPerSecond) if !self.title.contains("MB/s") => format!("{}, MB/s", self.title),
            Some(Unit::PerSecond) if !self.title.contains("IOPS") => format!("{}, IOPS", self.title),
            Some(Unit::Share) => format!("{}, %", self.title),
            _ => self.title.clone(),
        }
    }
}

impl Table {
    /// Whether every row has a cell for every column.
    pub fn is_whole(&self) -> bool {
        self.rows.iter().all(|row| row.len() == self.columns.len())
    }

    /// Whether any of its figures has an interval.
    pub fn has_intervals(&self) -> bool {
        self.rows.iter().flatten().any(|cell| matches!(cell, Cell::Number(_, Interval::Ends(_))))
    }

    /// How many of its figures have no interval, and why, in a sentence; `None` where all have one.
    pub fn note(&self) -> Option<String> {
        without_interval(self.rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Number(_, interval) => Some(interval),
            _ => None,
        }))
    }
}

impl Cell {
    /// `words`, or nothing where there are none.
    pub fn words(words: impl Into<String>) -> Cell {
        let words = words.into();
        if words.is_empty() { Cell::Empty } else { Cell::Words(words) }
    }

    /// `number` without an interval, or nothing.
    pub fn number(number: Option<Number>) -> Cell {
        number.map_or(Cell::Empty, |number| Cell::Number(number, Interval::Unasked))
    }

    /// As plain text, an interval behind its figure.
    pub fn text(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Words(words) => words.clone(),
            Cell::Number(number, interval) => {
                let figure = number.bare();
                match interval.written(number) {
                    None => figure,
                    Some(Written::Ends(low, high)) => format!("{figure} ({}–{})", low.bare(), high.bare()),
                    Some(Written::Around(half)) => match half.text() {
                        nothing if nothing == NOTHING => format!("{figure} (± {NEXT_TO_NOTHING})"),
                        half => format!("{figure} (± {half})"),
                    },
                }
            }
        }
    }
}

/// The figures among those with `intervals` that lack one, by the reason.
fn without_interval<'a>(intervals: impl Iterator<Item = &'a Interval>) -> Option<String> {
    let asked: Vec<&Interval> = intervals.filter(|one| **one != Interval::Unasked).collect();
    let reasons = asked.iter().filter_map(|one| match one {
        Interval::Lacking(why) => Some(why.as_str()),
        _ => None,
    });
    report::without_interval(asked.len(), reasons)
}

impl WriteUp {
    /// The same of the figures at the top.
    pub fn key_note(&self) -> Option<String> {
        without_interval(self.key_figures.iter().map(|figure| &figure.interval))
    }

    /// All charts with their tables, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }

    /// All tables, those behind charts with them.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Figure(figure) => Some(&figure.table),
            Block::Table(table) => Some(table),
            Block::Text(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_whose_ends_read_alike_is_not_written_as_one_without_a_width() {
        let at = |name: &str, value| Number {
            value,
            unit: Unit::PerSecond,
            source: crate::number::Source::At(0, format!("/{name}")),
        };
        let cell = |low: f64, high: f64| {
            let ends = (at("low", low), at("high", high));
            Cell::Number(at("mean", 2859.0), Interval::Ends(Box::new(ends)))
        };
        assert_eq!(cell(2800.0, 2900.0).text(), "2,859 (2,800–2,900)");
        assert_eq!(cell(2858.9, 2859.1).text(), "2,859 (± 0.003 %)");
        assert_eq!(cell(2_858.999_99, 2_859.000_01).text(), "2,859 (± below 0.001 %)");
        let Cell::Number(figure, interval) = cell(2858.9, 2859.1) else { panic!("it is a number") };
        let Some(Written::Around(half)) = interval.written(&figure) else { panic!("{interval:?}") };
        let records = [serde_json::json!({"mean": 2859.0, "low": 2858.9, "high": 2859.1})];
        assert_eq!(
            half.source.to_string().parse::<Source>().map(|source| source.read(&records)),
            Ok(Some(half.value))
        );
    }

    #[test]
    fn a_sentence_is_parted_behind_its_first_full_stop_and_no_number_is() {
        let source = crate::number::Source::At(0, "/a".into());
        let number = Number { value: 1.25, unit: Unit::Ratio, source };
        let two = Sentence::of("RAID 10 is ")
            .number(number.clone())
            .words(" ahead.")
            .words(" Tested: 2 effects. None else.");
        let (first, rest) = two.parted();
        assert_eq!(first.text(), "RAID 10 is 1.25× ahead.");
        assert_eq!(rest.text(), "Tested: 2 effects. None else.");
        let one = Sentence::of("It is ").number(number).words(".");
        assert_eq!(one.parted(), (one.clone(), Sentence::default()));
    }
}
