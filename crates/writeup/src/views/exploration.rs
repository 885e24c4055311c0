//! What searches over designs found: the front, its designs through all figures, what each requirement costs, and why not
//! another design.

use chart::{Axis, Chart, HUES, Line, Mark, Parallel, Plot, Rule, Scale, Scope, Thread, Unit};
use record::{DesignFigure, DesignUnit, Exploration, FrontDesign};
use report::capital;

use crate::document::{Block, Cell, Column, Figure, Interval, KeyFigure, Section, Sentence, Table};
use crate::number::Number;

use super::Subject;

/// Designs whose lines a reader can follow.
const LINES_MOST: usize = 40;

/// One search.
struct LabelledExploration<'a> {
    run: usize,
    label: &'a str,
    exploration: &'a Exploration,
}

fn all<'a>(subject: &'a Subject<'_>) -> Vec<LabelledExploration<'a>> {
    let found = |(run, record): (usize, &'a record::Run)| {
        Some(LabelledExploration {
            run,
            label: subject.label(run),
            exploration: record.exploration.as_ref()?,
        })
    };
    subject.runs.iter().enumerate().filter_map(found).collect()
}

/// All sections of all searches.
pub(super) fn sections(subject: &Subject<'_>) -> Vec<Section> {
    let all = all(subject);
    let is_one = all.len() == 1;
    all.iter().flat_map(|found| found.sections(if is_one { "" } else { found.label })).collect()
}

/// The cheapest design of each search; `None` without any search.
pub(crate) fn answer(subject: &Subject<'_>) -> Option<Sentence> {
    all(subject).iter().map(LabelledExploration::answer).reduce(|told, next| {
        let mut told = told.words(" ");
        told.0.extend(next.0);
        told
    })
}

/// The price of the cheapest design of each search, and of a single search its other figures.
pub(crate) fn key_figures(subject: &Subject<'_>) -> Vec<KeyFigure> {
    let all = all(subject);
    let of = |found: &LabelledExploration<'_>| -> Vec<KeyFigure> {
        let figures = if all.len() > 1 { 1 } else { found.exploration.figures.len() };
        let note = if all.len() > 1 { found.label } else { "" };
        (0..figures).filter_map(|figure| found.key_figure(figure, note)).collect()
    };
    all.iter().flat_map(of).collect()
}

/// How the numbers of a figure are written.
fn unit(of: DesignUnit) -> Unit {
    match of {
        DesignUnit::Price | DesignUnit::Watts => Unit::Count,
        DesignUnit::Bytes => Unit::Bytes,
        DesignUnit::Seconds => Unit::Seconds,
        DesignUnit::PerYear => Unit::Chance,
        DesignUnit::PerSecond => Unit::PerSecond,
        DesignUnit::BytesPerSecond => Unit::BytesPerSecond,
        DesignUnit::Nanos => Unit::Nanos,
    }
}

impl LabelledExploration<'_> {
    fn front(&self) -> &[FrontDesign] {
        &self.exploration.front
    }

    fn number(&self, design: usize, figure: usize) -> Option<Number> {
        let value = *self.front().get(design)?.values.get(figure)?;
        let unit = unit(self.exploration.figures.get(figure)?.unit);
        Some(Number::at(self.run, format!("/exploration/front/{design}/values/{figure}"), value, unit))
    }

    /// The name of a figure, with the unit that its numbers leave out.
    fn name(&self, figure: &DesignFigure) -> String {
        match figure.unit {
            DesignUnit::Price => format!("{}, {}", figure.name, self.exploration.price_unit),
            DesignUnit::Watts => format!("{}, W", figure.name),
            _ => figure.name.clone(),
        }
    }

    fn key_figure(&self, figure: usize, note: &str) -> Option<KeyFigure> {
        let name = self.name(self.exploration.figures.get(figure)?);
        Some(KeyFigure {
            name,
            figure: self.number(0, figure)?,
            interval: Interval::Unasked,
            note: note.to_owned(),
        })
    }

    fn answer(&self) -> Sentence {
        let designs = self.exploration.counts.designs;
        let (Some(cheapest), Some(price)) = (self.front().first(), self.number(0, 0)) else {
            return Sentence::of(format!("No design of {designs} meets every requirement."));
        };
        let front = match self.front().len() {
            1 => "no other is better in any figure".to_owned(),
            many => format!("none is better than the {many} of the front in every figure"),
        };
        Sentence::of(format!(
            "Of {designs} designs {} is the cheapest that meets every requirement: ",
            cheapest.address
        ))
        .number(price)
        .words(format!(" {}; {front}.", self.exploration.price_unit))
    }

    fn sections(&self, label: &str) -> Vec<Section> {
        let prefix = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let section =
            |heading: &str, blocks: Vec<Block>| Section { heading: format!("{prefix}{heading}"), blocks };
        let figures = [self.front_figure(), self.designs_figure()].into_iter().flatten();
        vec![
            section("Front", figures.map(Block::Figure).collect()),
            section("What each requirement costs", table(self.requirements())),
            section("Why not another design", table(self.neighbours())),
            section("Closer than the models can tell", table(self.close_calls())),
            section("What was searched", vec![Block::Text(self.counts())]),
        ]
    }

    /// The factor by which designs are coloured: the first in which they differ, unless it has more levels than hues.
    fn hued(&self) -> Option<Hued<'_>> {
        let factor = *self.exploration.varied().first()?;
        let levels = levels(self.front(), factor);
        (levels.len() <= HUES).then_some(Hued { factor, levels })
    }

    /// Every figure against the price.
    fn front_figure(&self) -> Option<Figure> {
        let figures = &self.exploration.figures;
        if self.front().is_empty() || figures.len() < 2 {
            return None;
        }
        let panels = (1..figures.len())
            .map(|figure| (capital(&figures[figure].name), Chart::Plot(self.against_price(figure))));
        Some(Figure {
            kind: "front",
            reading: self.trade(),
            subtitle: format!(
                "Each design of the front by its {} and one more figure",
                self.name(&figures[0])
            ),
            panels: panels.collect(),
            small: figures.len() > 2,
            details: Vec::new(),
            table: self.table(),
        })
    }

    fn against_price(&self, figure: usize) -> Plot {
        let own = &self.exploration.figures[figure];
        let mark = |design: &FrontDesign| {
            let x = *design.values.first()?;
            Some(Mark { x, y: design.values.get(figure).copied(), ..Mark::default() })
        };
        let line = |name: String, hue: usize, designs: Vec<&FrontDesign>| {
            let mut points: Vec<Mark> = designs.into_iter().filter_map(mark).collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            Line { name, hue, apart: true, points, ..Line::default() }
        };
        let lines = match self.hued() {
            None => vec![line(String::new(), 0, self.front().iter().collect())],
            Some(Hued { factor, levels }) => (0..)
                .zip(levels)
                .map(|(hue, level)| {
                    let of_it = self.front().iter().filter(|design| design.level(factor) == Some(level));
                    line(format!("{factor} {level}"), hue, of_it.collect())
                })
                .collect(),
        };
        let scale = if own.unit == DesignUnit::PerYear { Scale::Log10 } else { Scale::Linear };
        let limits = self.exploration.requirements.iter().filter(|cost| cost.figure as usize == figure);
        Plot {
            x: Axis::new(self.name(&self.exploration.figures[0]), Unit::Count, self.scale(0)),
            y: Axis::new(self.name(own), unit(own.unit), scale),
            lines,
            rules: limits.map(|cost| Rule::Limit(cost.limit, cost.requirement.clone())).collect(),
        }
    }

    /// Each design as a line through its levels and figures.
    fn designs_figure(&self) -> Option<Figure> {
        let (varied, hued) = (self.exploration.varied(), self.hued());
        if self.front().len() < 2 {
            return None;
        }
        let mut axes: Vec<Scope> =
            varied.iter().map(|factor| self.scope_of_factor(factor, hued.as_ref())).collect();
        axes.extend((0..self.exploration.figures.len()).map(|figure| self.scope_of_figure(figure)));
        let shown = self.front().len().min(LINES_MOST);
        let lines = self.front()[..shown].iter().map(|design| self.thread(design, &varied, hued.as_ref()));
        let chart = Parallel { axes, lines: lines.collect() };
        let of = match shown < self.front().len() {
            true => format!("the {shown} cheapest of {} designs", self.front().len()),
            false => format!("{shown} designs"),
        };
        Some(Figure {
            kind: "designs",
            reading: Sentence::of(format!("The designs of the front differ in {}.", varied.join(", "))),
            subtitle: format!(
                "A line for each of {of} through its levels and figures; what is better lies at the same end of each figure's \
                 axis, and the cheapest design is the thickest line"
            ),
            panels: vec![(String::new(), Chart::Parallel(chart))],
            table: Table { title: "designs of the front".into(), ..self.table() },
            ..Figure::default()
        })
    }

    fn thread(&self, design: &FrontDesign, varied: &[&str], hued: Option<&Hued<'_>>) -> Thread {
        let place = |factor: &&str| {
            let own = design.level(factor)?;
            Some(levels(self.front(), factor).iter().position(|level| *level == own)? as f64)
        };
        let figures = (0..self.exploration.figures.len()).map(|figure| design.values.get(figure).copied());
        Thread {
            name: design.words(varied),
            hue: hued.map_or(0, |hued| hued.of(design)),
            values: varied.iter().map(place).chain(figures).collect(),
        }
    }

    fn scope_of_factor(&self, factor: &str, hued: Option<&Hued<'_>>) -> Scope {
        let words: Vec<String> = levels(self.front(), factor).into_iter().map(str::to_owned).collect();
        let hues = match hued.is_some_and(|hued| hued.factor == factor) {
            true => (0..words.len()).collect(),
            false => Vec::new(),
        };
        Scope::of_words(factor, words, hues)
    }

    fn scope_of_figure(&self, figure: usize) -> Scope {
        let own = &self.exploration.figures[figure];
        Scope::of(Axis::new(self.name(own), unit(own.unit), self.scale(figure)), !own.more_is_better)
    }

    /// Where no value is zero an axis is as long as they differ, and does not begin at zero.
    fn scale(&self, figure: usize) -> Scale {
        let mut values = self.front().iter().filter_map(|design| design.values.get(figure));
        if values.all(|value| *value > 0.0) { Scale::Log10 } else { Scale::Linear }
    }

    /// What more money buys: the ends of the front in price and in the first figure that is simulated.
    fn trade(&self) -> Sentence {
        let figures = &self.exploration.figures;
        let Some(figure) = figures.iter().position(|figure| figure.simulated && figure.more_is_better) else {
            return Sentence::default();
        };
        // Of designs with as much, the first is the cheapest.
        let value = |design: &usize| self.number(*design, figure).map_or(f64::NEG_INFINITY, |one| one.value);
        let most =
            (0..self.front().len()).reduce(|most, one| if value(&one) > value(&most) { one } else { most });
        let of = |design: usize| Some((self.number(design, figure)?, self.number(design, 0)?));
        let (Some((from, least)), Some(most)) = (of(0), most) else { return Sentence::default() };
        let (name, money) = (&figures[figure].name, &self.exploration.price_unit);
        let sentence =
            Sentence::of(format!("{} is ", capital(name))).number(from).words(" for ").number(least);
        match of(most).filter(|_| most > 0) {
            Some((to, price)) => sentence
                .words(format!(" {money}, and at most "))
                .number(to)
                .words(" for ")
                .number(price)
                .words(format!(" {money}.")),
            None => sentence.words(format!(" {money}, and no design of the front has more.")),
        }
    }

    /// The front: a row for each design, its levels and its figures.
    fn table(&self) -> Table {
        let varied = self.exploration.varied();
        let words = varied.iter().map(|factor| Column::words(*factor));
        let figures = self.exploration.figures.iter();
        let figures = figures.map(|figure| Column::numbers(self.name(figure), unit(figure.unit)));
        // A column of its own only where there is something to say.
        let is_told = self.front().iter().any(|design| !design.unsustained.is_empty());
        let unsustained = is_told.then(|| {
            Column::words("not sustained: the write cache was still filling, or the rate was not steady")
        });
        let row = |(place, design): (usize, &FrontDesign)| {
            let levels = varied.iter().map(|factor| Cell::words(design.level(factor).unwrap_or_default()));
            let numbers =
                (0..self.exploration.figures.len()).map(|figure| Cell::number(self.number(place, figure)));
            let unsustained = is_told.then(|| Cell::words(design.unsustained.join(", ")));
            levels.chain(numbers).chain(unsustained).chain([Cell::words(&design.address)]).collect()
        };
        Table {
            title: "front".into(),
            columns: words.chain(figures).chain(unsustained).chain([Column::words("design")]).collect(),
            rows: self.front().iter().enumerate().map(row).collect(),
        }
    }

    fn requirements(&self) -> Table {
        let money = &self.exploration.price_unit;
        let columns = vec![
            Column::words("requirement"),
            Column::words("has"),
            Column::words("best found"),
            Column::numbers(format!("saves, {money}"), Unit::Count),
            Column::words("then has"),
        ];
        let row = |(place, cost): (usize, &record::RequirementCost)| {
            let without = cost.without.as_ref();
            let saved = without.and_then(|cheaper| {
                let path = format!("/exploration/requirements/{place}/without/saves");
                Some(Number::at(self.run, path, cheaper.saves?, Unit::Count))
            });
            let saved = match without {
                None if !self.front().is_empty() => Cell::words("nothing"),
                _ => Cell::number(saved),
            };
            let then = without.map_or_else(String::new, |cheaper| cheaper.shown.clone());
            let words = [&cost.requirement, &cost.shown, &cost.best].map(Cell::words);
            words.into_iter().chain([saved, Cell::words(then)]).collect()
        };
        let rows = self.exploration.requirements.iter().enumerate().map(row).collect();
        Table { title: "requirements".into(), columns, rows }
    }

    fn neighbours(&self) -> Table {
        let row = |one: &record::NeighbourDesign| {
            vec![Cell::words(format!("{} {}", one.factor, one.level)), Cell::words(&one.rejected)]
        };
        Table {
            title: "designs beside it".into(),
            columns: vec![Column::words("with one factor changed"), Column::words("it")],
            rows: self.exploration.neighbours.iter().map(row).collect(),
        }
    }

    fn close_calls(&self) -> Table {
        let row = |(place, call): (usize, &record::CloseCall)| {
            let path = format!("/exploration/close_calls/{place}/ahead");
            let ahead = Number::at(self.run, path, call.ahead, Unit::Share);
            vec![Cell::words(&call.requirement), Cell::number(Some(ahead)), Cell::words(&call.address)]
        };
        let columns = vec![
            Column::words("requirement"),
            Column::numbers("inside the limit", Unit::Share),
            Column::words("design"),
        ];
        let rows = self.exploration.close_calls.iter().enumerate().map(row).collect();
        Table { title: "close calls".into(), columns, rows }
    }

    fn counts(&self) -> Sentence {
        let counts = &self.exploration.counts;
        let number = |key: &str, value: u64| {
            Number::at(self.run, format!("/exploration/counts/{key}"), value as f64, Unit::Count)
        };
        let [short, long] = counts.simulated;
        let model_error = self.exploration.model_error;
        let error = Number::at(self.run, "/exploration/model_error", model_error, Unit::Share);
        Sentence::default()
            .number(number("designs", counts.designs))
            .words(" designs, of which ")
            .number(number("impossible", counts.impossible))
            .words(" cannot be built; ")
            .number(number("simulated/0", short))
            .words(" short simulations and ")
            .number(number("simulated/1", long))
            .words(" long ones, and ")
            .number(number("known", counts.known))
            .words(" that were known before. ")
            .number(number("left_out", counts.left_out))
            .words(
                " designs were not simulated at length: they miss two requirements, or are beaten by more than a long \
                 simulation may differ from a short one. Half of what the models foretell is within ",
            )
            .number(error)
            .words(" of what was measured.")
    }
}

/// A factor with the hues of its levels.
struct Hued<'a> {
    factor: &'a str,
    levels: Vec<&'a str>,
}

impl Hued<'_> {
    fn of(&self, design: &FrontDesign) -> usize {
        let own = design.level(self.factor);
        self.levels.iter().position(|level| Some(*level) == own).unwrap_or(HUES)
    }
}

/// The levels of `factor` that designs of `front` have, in the order of the study.
fn levels<'a>(front: &'a [FrontDesign], factor: &str) -> Vec<&'a str> {
    let own = front.iter().flat_map(|design| design.levels.iter().filter(|own| own.factor == factor));
    let mut found: Vec<(u32, &str)> = own.map(|own| (own.place, own.level.as_str())).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, level)| level).collect()
}

fn table(table: Table) -> Vec<Block> {
    if table.rows.is_empty() { Vec::new() } else { vec![Block::Table(table)] }
}
