//! A campaign: which factors matter, its cells point by point, and what was claimed.

mod cells;
mod claims;
mod effects;

use campaign::{CellFigure, Effects, FigureEffects};
use chart::Unit;
use record::{Metric, Run, level_name};
use report::capital;

use super::published::{self, Group};
use crate::document::{Block, Interval, KeyFigure, Section, Sentence, Span};
use crate::measured;
use crate::number::Number;
use crate::summary::UNSUSTAINED;
use cells::best_cell;
pub(crate) use cells::{BEHIND_ROWS, FAR};
use effects::ShownChange;

/// Effects that the answer names.
const ANSWERED: usize = 3;
/// Figures at the top.
const KEY_FIGURES: usize = 4;

/// What a campaign says, and its place among the records.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// What it says.
    pub effects: &'a Effects,
    /// Which of the records that is.
    pub place: usize,
}

/// Whether the figure of `cell` is of writes that met free room of a write cache, in any block.
fn is_filling(runs: &[Run], figure: &FigureEffects, cell: &CellFigure) -> bool {
    let is_of_cell = |run: &&Run| {
        let own = run.cell.as_ref().filter(|_| run.plan.name == figure.plan && run.lack().is_none());
        own.is_some_and(|own| own.levels.iter().map(|level| &level.level).eq(&cell.levels))
    };
    let metric = Metric::of(&figure.metric);
    let is_filling = |run: &Run| {
        run.cell.as_ref().is_some_and(|cell| campaign::is_filling(run, cell, &figure.point, metric))
    };
    runs.iter().filter(is_of_cell).any(is_filling)
}

impl<'a> Subject<'a> {
    /// All sections of it; what says nothing is empty.
    pub fn sections(self) -> Vec<Section> {
        let mut effects: Vec<Block> = self.effects_figure().map(Block::Figure).into_iter().collect();
        effects.extend(self.ways().map(Block::Table));
        effects.extend(self.effects.notes.iter().map(|note| Block::Text(Sentence::of(note.clone()))));
        effects.extend(self.refused().into_iter().map(Block::Text));
        let cells = self.charted().into_iter().map(|figure| Block::Figure(self.cells_figure(figure)));
        let claims = self.claims_reading().map(Block::Text).into_iter();
        let claims = claims.chain((!self.effects.claims.is_empty()).then(|| Block::Table(self.claims())));
        let section = |heading: &str, blocks| Section { heading: heading.into(), blocks };
        let mut sections = vec![section("Effects", effects)];
        sections.extend(self.groups().map(Group::section));
        sections.push(section("Cells", cells.collect()));
        sections.push(section("Claims", claims.collect()));
        sections
    }

    /// Published figures, group by group.
    fn groups(self) -> impl Iterator<Item = Group<'a>> {
        let all = self.effects.published.iter().enumerate();
        all.map(move |(at, of)| Group { of, place: (self.place, at) })
    }

    /// The factors that matter most, with their effects; and how far published figures agree.
    pub fn answer(self) -> Sentence {
        let mut answer = self.answer_by_effects();
        let groups: Vec<Group<'_>> = self.groups().collect();
        if let Some(agreement) = published::agreement(&groups, "") {
            let blank = if answer.is_empty() { "" } else { " " };
            answer = answer.words(blank);
            answer.0.extend(agreement.0);
            answer = answer.words(".");
            if let Some(foresight) = published::foresight(&groups) {
                answer = answer.words(" ");
                answer.0.extend(foresight.0);
            }
        }
        answer
    }

    fn answer_by_effects(self) -> Sentence {
        let told = self.told_by_effects();
        match &self.effects.unfinished {
            None => told,
            Some(unfinished) if self.effects.tests == 0 => Sentence::of(unfinished.to_string()),
            Some(unfinished) => {
                Sentence(std::iter::once(Span::Words(format!("{unfinished} "))).chain(told.0).collect())
            }
        }
    }

    fn told_by_effects(self) -> Sentence {
        let mut sentence = Sentence::default();
        for told in self.largest_of_each().into_iter().take(ANSWERED) {
            if !sentence.is_empty() {
                sentence = sentence.words(" ");
            }
            sentence = self.change(sentence, told);
        }
        if sentence.is_empty() && self.effects.tests > 0 {
            let many = self.effects.tests;
            return Sentence::of(format!("No effect is significant, of {many} that were tested."));
        }
        if sentence.is_empty() && !self.effects.figures.is_empty() {
            return Sentence::of("No effects: nothing was repeated.");
        }
        sentence
    }

    /// `RAID 10 against RAID 5: 2.35× the rate (8 KiB).`, `Disks 14 against 4: …`
    fn change(self, sentence: Sentence, told: ShownChange<'_>) -> Sentence {
        let (figure, effect, change) = told.of;
        let ratio = self.ratio(told, "ratio", change.ratio);
        let name = measured::name(Metric::of(&figure.metric));
        let level = |place: usize| match effect.factors[place].as_str() {
            // The name of a product keeps its letters.
            "on" => level_name("on", &change.levels[place]),
            factor => capital(&level_name(factor, &change.levels[place])),
        };
        // The factor is named once, unless it is a part of what the level is called.
        let from = |place: usize| match effect.factors[place].as_str() {
            factor @ ("raid" | "on") => level_name(factor, &change.from[place]),
            _ => change.from[place].clone(),
        };
        match effect.factors.len() {
            1 => sentence
                .words(format!("{} against {}: ", level(0), from(0)))
                .number(ratio)
                .words(format!(" the {name} ({}).", self.point(figure))),
            _ => {
                let [first, there] = change.steps.unwrap_or([1.0, change.ratio]);
                let step = |place: usize, value| self.ratio(told, &format!("steps/{place}"), value);
                sentence
                    .words(format!("{} against {}: ", level(1), from(1)))
                    .number(step(1, there))
                    .words(format!(" at {}, ", level_name(&effect.factors[0], &change.levels[0])))
                    .number(step(0, first))
                    .words(format!(" at {} ({name}, {}).", from(0), self.point(figure)))
            }
        }
    }

    /// The point of a figure, with its plan where there are several.
    fn point(self, figure: &FigureEffects) -> String {
        match self.effects.figures.iter().all(|other| other.plan == figure.plan) {
            true => figure.point.clone(),
            false => format!("{}, {}", figure.plan, figure.point),
        }
    }

    /// `rate of 8 KiB`
    fn subject(self, figure: &FigureEffects) -> String {
        format!("{} of {}", measured::name(Metric::of(&figure.metric)), self.point(figure))
    }

    /// The best cell of each point, of which `runs` say whether it is sustained.
    pub fn key_figures(self, runs: &[Run]) -> Vec<KeyFigure> {
        let figures = self.effects.headlines().into_iter().filter_map(|place| {
            let figure = &self.effects.figures[place];
            let metric = Metric::of(&figure.metric);
            let (at, best) = best_cell(&figure.cells, metric)?;
            let (number, interval) = self.cell(place, at, best);
            let mut note = self.leader(figure, at);
            if is_filling(runs, figure, best) {
                note = format!("{note}; {}", UNSUSTAINED.to_lowercase());
            }
            Some(KeyFigure {
                name: format!("{}{}", measured::in_front(metric), figure.point),
                figure: number,
                interval,
                note,
            })
        });
        figures.take(KEY_FIGURES).collect()
    }

    fn number(self, path: String, value: f64, unit: Unit) -> Number {
        Number::at(self.place, path, value, unit)
    }

    fn ratio(self, told: ShownChange<'_>, key: &str, value: f64) -> Number {
        let ShownChange { figure, effect, change, .. } = told;
        self.number(format!("/figures/{figure}/effects/{effect}/changes/{change}/{key}"), value, Unit::Ratio)
    }

    /// The figure of a cell with its interval.
    fn cell(self, figure: usize, cell: usize, of: &CellFigure) -> (Number, Interval) {
        let unit = measured::unit(Metric::of(&self.effects.figures[figure].metric));
        let at = |key: &str, value| self.number(format!("/figures/{figure}/cells/{cell}/{key}"), value, unit);
        let interval = of.low.zip(of.high).map(|(low, high)| (at("low", low), at("high", high)));
        let why = || match of.values.len() {
            0 | 1 => "it was measured in one block".into(),
            _ => "every block gave the same".into(),
        };
        let interval = interval.filter(|(low, high)| low.value < high.value);
        (at("mean", of.mean), Interval::of(interval, why))
    }

    /// The best cell, and how many others may be as good: their intervals overlap.
    fn leader(self, figure: &FigureEffects, best: usize) -> String {
        let own = &figure.cells[best];
        let ends = |cell: &CellFigure| (cell.low.unwrap_or(cell.mean), cell.high.unwrap_or(cell.mean));
        let (low, high) = ends(own);
        let overlaps = |cell: &&CellFigure| {
            let (from, to) = ends(cell);
            from <= high && low <= to
        };
        match figure.cells.iter().filter(overlaps).count() - 1 {
            0 => self.label(own),
            1 => format!("{}; 1 more cell may be as good", self.label(own)),
            others => format!("{}; {others} more cells may be as good", self.label(own)),
        }
    }

    /// `RAID 10, disks 8`
    fn label(self, cell: &CellFigure) -> String {
        self.named(&cell.levels)
    }

    /// Levels with the names of their factors.
    fn named(self, levels: &[String]) -> String {
        let named = |(factor, level): (&campaign::FactorLevels, &String)| level_name(&factor.name, level);
        self.effects.factors.iter().zip(levels).map(named).collect::<Vec<_>>().join(", ")
    }
}
