//! Which factors matter: the chart of their effects, its reading, and the tables behind it.

use campaign::{Change, Effect, Effects, FALSE_EFFECTS, FigureEffects};
use chart::{Axis, Chart, Dot, Dots, Row, Scale, Unit};
use record::level_name;

use super::Subject;
use crate::document::{Cell, Column, Figure, Interval, Sentence, Table};

/// Figures whose effects have a chart, and effects in each; the table has all.
const PANELS: usize = 4;
const SHOWN: usize = 8;
/// An interval of a ratio that reaches further from one tells nothing.
const RATIO_MOST: f64 = 1000.0;
/// One change of one effect of one figure, by their places.
#[derive(Clone, Copy)]
pub(super) struct ShownChange<'a> {
    pub(super) figure: usize,
    pub(super) effect: usize,
    pub(super) change: usize,
    pub(super) of: (&'a FigureEffects, &'a Effect, &'a Change),
}

impl<'a> Subject<'a> {
    fn told(self) -> Vec<ShownChange<'a>> {
        let figures = self.effects.figures.iter().enumerate();
        let all = figures.flat_map(|(figure, of)| {
            of.effects.iter().enumerate().flat_map(move |(effect, own)| {
                let changes = own.changes.iter().enumerate();
                changes.map(move |(change, one)| ShownChange { figure, effect, change, of: (of, own, one) })
            })
        });
        all.collect()
    }

    /// Of each effect that was found, its largest change; the largest first.
    pub(super) fn largest_of_each(self) -> Vec<ShownChange<'a>> {
        let mut found: Vec<ShownChange<'_>> =
            self.told().into_iter().filter(|told| told.of.1.found).collect();
        // Factors before interactions, and what points are about before their percentiles.
        let headlines = self.effects.headlines();
        let rank = |told: &ShownChange<'_>| (told.of.1.factors.len(), !headlines.contains(&told.figure));
        found.sort_by(|one, other| rank(one).cmp(&rank(other)).then(other.size().total_cmp(&one.size())));
        let mut largest: Vec<ShownChange<'_>> = Vec::new();
        for told in found {
            if !largest.iter().any(|known| known.of.1.factors == told.of.1.factors) {
                largest.push(told);
            }
        }
        largest
    }

    pub(super) fn effects_figure(self) -> Option<Figure> {
        let all = self.told();
        if all.is_empty() {
            return None;
        }
        // Figures with the largest effects, in the order of the plans.
        let size = |place: &usize| {
            let own = all.iter().filter(|told| told.figure == *place && told.of.1.found);
            own.map(ShownChange::size).fold(0.0, f64::max)
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
            let own: Vec<&ShownChange<'_>> = all.iter().filter(|told| told.figure == place).collect();
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
            table: self.effects_table(&all),
            ..Figure::default()
        })
    }

    /// What of the effects has no place in the chart.
    fn left_out(self, all: &[ShownChange<'_>]) -> String {
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
        let found: Vec<String> = largest.iter().map(ShownChange::name).collect();
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
    pub(super) fn ways(self) -> Option<Table> {
        let row = |told: &ShownChange<'_>| {
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

    fn effects_table(self, all: &[ShownChange<'_>]) -> Table {
        let columns = vec![
            Column::words("effect"),
            Column::words("level"),
            Column::words("against"),
            Column::words("figure"),
            Column::numbers("ratio", Unit::Ratio),
            Column::words("significant"),
        ];
        let row = |told: &ShownChange<'_>| {
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
                Cell::words(match (effect.found, self.effects.in_doubt(figure, &effect.factors, change)) {
                    (true, Some(doubt)) => format!("yes; in doubt, {doubt}"),
                    (true, None) => "yes".into(),
                    (false, _) => "no".into(),
                }),
            ]
        };
        Table { title: "effects".into(), columns, rows: all.iter().map(row).collect() }
    }

    /// Why some figures have no effects.
    pub(super) fn refused(self) -> Vec<Sentence> {
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
}

/// A factor as people call it.
fn factor_name(factor: &str) -> &str {
    match factor {
        "on" => "target",
        "raid" => "RAID level",
        other => other,
    }
}

impl ShownChange<'_> {
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
fn changes(own: &[&ShownChange<'_>]) -> Dots {
    let mut largest = own.to_vec();
    largest.sort_by(|one, other| other.size().total_cmp(&one.size()));
    largest.truncate(SHOWN);
    debug_assert!(largest.is_sorted_by(|one, next| one.size() >= next.size()), "the largest comes first");
    let row = |told: &&ShownChange<'_>| Row {
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
