//! A campaign: which factors matter, its cells point by point, and what was claimed.

mod cells;

use campaign::{CellFigure, Change, Effect, Effects, FALSE_EFFECTS, FigureEffects, HeldClaim};
use chart::{Axis, Chart, Dot, Dots, Row, Scale, Unit};
use record::{Metric, Run, level_name};

use super::published::{self, Group};
use crate::document::{Block, Cell, Column, Figure, Interval, KeyFigure, Section, Sentence, Span, Table};
use crate::measured;
use crate::number::{Number, Source};
use crate::summary::UNSUSTAINED;
use cells::best_cell;
pub(crate) use cells::{BEHIND_ROWS, FAR};

/// Figures whose effects have a chart, and effects in each; the table has all.
const PANELS: usize = 4;
const SHOWN: usize = 8;
/// An interval of a ratio that reaches further from one tells nothing.
const RATIO_MOST: f64 = 1000.0;
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

/// One change of one effect of one figure, by their places.
#[derive(Clone, Copy)]
struct Told<'a> {
    figure: usize,
    effect: usize,
    change: usize,
    of: (&'a FigureEffects, &'a Effect, &'a Change),
}

/// Whether the figure of `cell` is of writes that met free room of a write cache, in any block.
fn is_filling(runs: &[Run], figure: &FigureEffects, cell: &CellFigure) -> bool {
    let is_of_cell = |run: &&Run| {
        let own = run.cell.as_ref().filter(|_| run.plan.name == figure.plan && run.lack().is_none());
        own.is_some_and(|own| own.levels.iter().map(|level| &level.level).eq(&cell.levels))
    };
    let metric = Metric::of(&figure.metric);
    runs.iter().filter(is_of_cell).any(|run| campaign::is_filling(run, &figure.point, metric))
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
    fn change(self, sentence: Sentence, told: Told<'_>) -> Sentence {
        let (figure, effect, change) = told.of;
        let ratio = self.ratio(told, "ratio", change.ratio);
        let name = measured::name(Metric::of(&figure.metric));
        let level = |place: usize| match effect.factors[place].as_str() {
            // The name of a product keeps its letters.
            "on" => level_name("on", &change.levels[place]),
            factor => super::capital(&level_name(factor, &change.levels[place])),
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
        let figures = self.headlines().into_iter().filter_map(|place| {
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
        Number { value, unit, source: Source::At(self.place, path) }
    }

    fn ratio(self, told: Told<'_>, key: &str, value: f64) -> Number {
        let Told { figure, effect, change, .. } = told;
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

    fn told(self) -> Vec<Told<'a>> {
        let figures = self.effects.figures.iter().enumerate();
        let all = figures.flat_map(|(figure, of)| {
            of.effects.iter().enumerate().flat_map(move |(effect, own)| {
                let changes = own.changes.iter().enumerate();
                changes.map(move |(change, one)| Told { figure, effect, change, of: (of, own, one) })
            })
        });
        all.collect()
    }

    /// Of each effect that was found, its largest change; the largest first.
    fn largest_of_each(self) -> Vec<Told<'a>> {
        let mut found: Vec<Told<'_>> = self.told().into_iter().filter(|told| told.of.1.found).collect();
        // Factors before interactions, and what points are about before their percentiles.
        let headlines = self.headlines();
        let rank = |told: &Told<'_>| (told.of.1.factors.len(), !headlines.contains(&told.figure));
        found.sort_by(|one, other| rank(one).cmp(&rank(other)).then(other.size().total_cmp(&one.size())));
        let mut largest: Vec<Told<'_>> = Vec::new();
        for told in found {
            if !largest.iter().any(|known| known.of.1.factors == told.of.1.factors) {
                largest.push(told);
            }
        }
        largest
    }

    fn effects_figure(self) -> Option<Figure> {
        let all = self.told();
        if all.is_empty() {
            return None;
        }
        // Figures with the largest effects, in the order of the plans.
        let size = |place: &usize| {
            let own = all.iter().filter(|told| told.figure == *place && told.of.1.found);
            own.map(Told::size).fold(0.0, f64::max)
        };
        let mut places: Vec<usize> = (0..self.effects.figures.len()).collect();
        places.sort_by(|one, other| size(other).total_cmp(&size(one)));
        places.truncate(PANELS);
        places.sort_unstable();
        debug_assert!(
            places.is_sorted_by(|one, next| one < next),
            "each figure once, in the order of the plans"
        );
        let panels = places.into_iter().map(|place| {
            let own: Vec<&Told<'_>> = all.iter().filter(|told| told.figure == place).collect();
            (self.subject(&self.effects.figures[place]), Chart::Dots(changes(&own)))
        });
        Some(Figure {
            kind: "effects",
            reading: self.reading(),
            subtitle: format!(
                "The figure over that at the first level of the factor, with its 95 % interval{}",
                self.left_out(&all)
            ),
            panels: panels
                .filter(|(_, chart)| !matches!(chart, Chart::Dots(dots) if dots.rows.is_empty()))
                .collect(),
            small: false,
            details: Vec::new(),
            table: self.effects_table(&all),
        })
    }

    /// What of the effects has no place in the chart.
    fn left_out(self, all: &[Told<'_>]) -> String {
        let figures = self.effects.figures.len();
        let of_figure = |place: usize| all.iter().filter(|told| told.figure == place).count();
        let most = (0..figures).map(of_figure).max().unwrap_or(0);
        let few = (most > SHOWN).then(|| format!("the {SHOWN} largest of up to {most} changes of a figure"));
        let some = (figures > PANELS).then(|| format!("{PANELS} of {figures} figures"));
        let told: Vec<String> = [few, some].into_iter().flatten().collect();
        if told.is_empty() { String::new() } else { format!("; {}; the table has all", told.join(", ")) }
    }

    fn reading(self) -> Sentence {
        let largest = self.largest_of_each();
        let found: Vec<String> = largest.iter().map(Told::name).collect();
        let mut not: Vec<String> = Vec::new();
        for told in self.told() {
            let name = told.name();
            if !found.contains(&name) && !not.contains(&name) {
                not.push(name);
            }
        }
        let Effects { tests, blocks, .. } = self.effects;
        let many = found.len() + not.len();
        let matter = if found.is_empty() { "nothing".into() } else { found.join(", ") };
        let rest =
            if not.is_empty() { String::new() } else { format!(" Not significant: {}.", not.join(", ")) };
        let share = FALSE_EFFECTS * 100.0;
        Sentence::of(format!(
            "Significant: {matter}.{rest} Tested: {} in {}, {} in {blocks} blocks; false-positive rate of the whole campaign: {share:.0} % (Holm).",
            report::counted(many, "effect"),
            report::counted(
                self.effects.figures.iter().filter(|own| !own.effects.is_empty()).count(),
                "figure"
            ),
            report::counted(*tests as usize, "test"),
        ))
    }

    /// Which way each significant effect goes: a ratio of one figure hides that others go the other way.
    fn ways(self) -> Option<Table> {
        let row = |told: &Told<'_>| {
            let (_, Effect { factors, .. }, change) = told.of;
            let directions = self.effects.directions(factors, change);
            let level = |at: usize| level_name(&factors[at], &change.levels[at]);
            let from = |at: usize| level_name(&factors[at], &change.from[at]);
            let last = factors.len() - 1;
            vec![
                Cell::words(told.name()),
                Cell::words(format!("{} against {}", level(last), from(last))),
                Cell::words(format!("{} of {}", directions.significant, directions.tested)),
                Cell::words(directions.told(&level(0), &from(0))),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.largest_of_each().iter().map(row).collect();
        let columns = ["effect", "its largest change", "significant in figures", "which way"];
        (!rows.is_empty()).then(|| Table {
            title: "significant effects".into(),
            columns: columns.map(Column::words).into(),
            rows,
        })
    }

    fn effects_table(self, all: &[Told<'_>]) -> Table {
        let columns = vec![
            Column::words("effect"),
            Column::words("level"),
            Column::words("against"),
            Column::words("figure"),
            Column::numbers("ratio", Unit::Ratio),
            Column::words("significant"),
        ];
        let row = |told: &Told<'_>| {
            let (figure, effect, change) = told.of;
            let ends = (self.ratio(*told, "low", change.low), self.ratio(*told, "high", change.high));
            let ends = (change.low >= 1.0 / RATIO_MOST && change.high <= RATIO_MOST).then_some(ends);
            let interval = Interval::of(ends, || "blocks differ too much for the ratio to be told".into());
            vec![
                Cell::words(told.name()),
                Cell::words(level(change)),
                Cell::words(change.from.join(", ")),
                Cell::words(self.subject(figure)),
                Cell::Number(self.ratio(*told, "ratio", change.ratio), interval),
                Cell::words(if effect.found { "yes" } else { "no" }),
            ]
        };
        Table { title: "effects".into(), columns, rows: all.iter().map(row).collect() }
    }

    /// Why some figures have no effects.
    fn refused(self) -> Vec<Sentence> {
        let is_told =
            self.effects.unfinished.as_ref().is_some_and(|unfinished| unfinished.too_few().is_some());
        if is_told {
            return Vec::new();
        }
        let told = self.effects.refusals().into_iter().map(|(why, figures)| {
            if figures.len() == self.effects.figures.len() {
                return Sentence::of(format!("No effects: {why}."));
            }
            let named: Vec<String> = figures.iter().map(|figure| self.subject(figure)).collect();
            Sentence::of(format!("No effects of {}: {why}.", named.join("; of ")))
        });
        told.collect()
    }

    /// Of each point the figure that it is about.
    fn headlines(self) -> Vec<usize> {
        let mut known: Vec<(&str, &str)> = Vec::new();
        let mut headlines = Vec::new();
        for (place, figure) in self.effects.figures.iter().enumerate() {
            let point = (figure.plan.as_str(), figure.point.as_str());
            if !known.contains(&point) {
                known.push(point);
                headlines.push(place);
            }
        }
        headlines
    }

    /// From which part of a claim to which was measured: of rates, of which less is short of the claim, and of latencies, of
    /// which more is.
    fn claims_reading(self) -> Option<Sentence> {
        let rates = self.parts_of_claims(true, "rate");
        let latencies = self.parts_of_claims(false, "latency");
        [rates, latencies].into_iter().flatten().reduce(|one, other| {
            let mut one = one.words(" ");
            one.0.extend(other.0);
            one
        })
    }

    fn parts_of_claims(self, is_rate: bool, what: &str) -> Option<Sentence> {
        let part = |(at, claim): (usize, &HeldClaim)| {
            let unit = measured::unit(Metric::of(&claim.metric));
            let number = |key: &str, value| self.number(format!("/claims/{at}/{key}"), value, unit);
            super::ratio(&number("measured", claim.measured), &number("claimed", claim.claimed), Unit::Share)
        };
        let order = |one: &Number, other: &Number| one.value.total_cmp(&other.value);
        let all = self.effects.claims.iter().enumerate();
        let is_own = |claim: &HeldClaim| Metric::of(&claim.metric).more_is_better() == is_rate;
        let parts: Vec<Number> = all.filter(|(_, claim)| is_own(claim)).map(part).collect();
        let (least, most) = (parts.iter().cloned().min_by(order)?, parts.iter().cloned().max_by(order)?);
        let mind = if is_rate { "" } else { ", of which less is better" };
        Some(match parts.len() {
            1 => Sentence::of(format!("Of the claim of a {what}, measured is "))
                .number(least)
                .words(format!(" of what is claimed{mind}.")),
            many => Sentence::of(format!("Of {many} claims of a {what}, measured is "))
                .number(least)
                .words(" at least and ")
                .number(most)
                .words(format!(" at most of what is claimed{mind}.")),
        })
    }

    fn claims(self) -> Table {
        let columns = ["by", "point", "cell", "figure", "claimed", "measured"].map(Column::words);
        let row = |(at, claim): (usize, &HeldClaim)| {
            let metric = Metric::of(&claim.metric);
            let number =
                |key: &str, value| self.number(format!("/claims/{at}/{key}"), value, measured::unit(metric));
            let (claimed, found) = (number("claimed", claim.claimed), number("measured", claim.measured));
            let part = super::ratio(&found, &claimed, Unit::Share);
            vec![
                Cell::words(&claim.by),
                Cell::words(format!("{}: {}", claim.plan, claim.point)),
                Cell::words(self.named(&claim.levels)),
                Cell::words(match metric {
                    Metric::Iops => "IOPS".into(),
                    Metric::Throughput => "MB/s".into(),
                    other => other.name(),
                }),
                Cell::number(Some(claimed)),
                Cell::number(Some(found)),
                Cell::number(Some(part)),
            ]
        };
        let columns = columns.into_iter().chain([Column::numbers("measured of claimed", Unit::Share)]);
        // What is furthest off comes first.
        let mut claims: Vec<(usize, &HeldClaim)> = self.effects.claims.iter().enumerate().collect();
        claims.sort_by(|one, other| other.1.off().total_cmp(&one.1.off()));
        Table {
            title: "claims".into(),
            columns: columns.collect(),
            rows: claims.into_iter().map(row).collect(),
        }
    }
}

/// A factor as people call it.
fn factor_name(factor: &str) -> &str {
    match factor {
        "on" => "target",
        "raid" => "RAID level",
        other => other,
    }
}

impl Told<'_> {
    /// `raid × disks`
    fn name(&self) -> String {
        self.of.1.factors.iter().map(|factor| factor_name(factor)).collect::<Vec<_>>().join(" × ")
    }

    /// `raid 10 × disks 8`
    fn label(&self) -> String {
        let (_, effect, change) = self.of;
        let named =
            effect.factors.iter().zip(&change.levels).map(|(factor, level)| level_name(factor, level));
        named.collect::<Vec<_>>().join(" × ")
    }

    fn size(&self) -> f64 {
        self.of.2.ratio.ln().abs()
    }
}

/// The effects of one figure, the largest first.
fn changes(own: &[&Told<'_>]) -> Dots {
    let mut largest = own.to_vec();
    largest.sort_by(|one, other| other.size().total_cmp(&one.size()));
    largest.truncate(SHOWN);
    debug_assert!(largest.is_sorted_by(|one, next| one.size() >= next.size()), "the largest comes first");
    let row = |told: &&Told<'_>| Row {
        name: told.label(),
        dots: vec![Dot {
            series: usize::from(!told.of.1.found),
            value: told.of.2.ratio,
            band: Some((told.of.2.low, told.of.2.high)),
        }],
        ..Row::default()
    };
    let is_of_two = largest.iter().all(|told| told.of.1.factors.len() > 1);
    Dots {
        // Twice and half are equally far from one.
        axis: Axis::new(
            if is_of_two { "ratio of two ratios" } else { "ratio to the first level" },
            Unit::Ratio,
            Scale::Log2,
        ),
        series: vec!["significant".into(), "not significant".into()],
        rows: largest.iter().map(row).collect(),
        neutral: Some(1.0),
        most: None,
    }
}

fn level(change: &Change) -> String {
    change.levels.join(", ")
}
