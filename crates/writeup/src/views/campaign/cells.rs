//! The cells of a campaign: what each measured, beside what is claimed of it.

use campaign::{CellFigure, CheckedClaim, FigureEffects};
use chart::{Axis, Chart, Dot, Dots, HUES, Row, Scale, Unit};
use record::{Estimate, Metric, level_name};
use report::{capital, distinct};

use crate::document::{Cell, Column, Figure, Sentence, Table};
use crate::measured;
use crate::number::Number;

use super::Subject;

/// Beyond so many times the highest figure a claim is marked at the edge, with its value behind the row.
pub(crate) const FAR: f64 = 2.5;
/// Said of charts with such a mark.
const AT_THE_EDGE: &str = "; an arrow at the edge is a claim beyond the axis";
/// Said of charts that write it, and of no others.
pub(crate) const BEHIND_ROWS: &str = "; with each row the figure, and its part of what is claimed";
/// Points that have a chart of their cells; of more, those whose figures vary most.
const POINTS: usize = 40;

/// What the bar of a cell is, where there is one.
const BAR: &str = "; the bar is the 95 % interval of the mean over the blocks";

impl<'a> Subject<'a> {
    /// Points that have a chart: all, or those whose cells differ most, in the order of the plan.
    pub(super) fn charted(self) -> Vec<usize> {
        let mut places = self.effects.headlines();
        let spread = |place: &usize| {
            let means = || self.effects.figures[*place].cells.iter().map(|cell| cell.mean);
            means().fold(0.0, f64::max) / means().fold(f64::INFINITY, f64::min)
        };
        if places.len() > POINTS {
            places.sort_by(|one, other| spread(other).total_cmp(&spread(one)));
            places.truncate(POINTS);
            places.sort_unstable();
        }
        places
    }

    pub(super) fn cells_figure(self, place: usize) -> Figure {
        let figure = &self.effects.figures[place];
        let claims = self.claims_of(figure);
        let chart = if claims.is_empty() { self.dots(figure) } else { self.dots_with(figure, &claims) };
        let rest = match (claims.is_empty(), chart.has_beyond()) {
            (true, _) => String::new(),
            (_, false) => BEHIND_ROWS.to_owned(),
            (_, true) => BEHIND_ROWS.to_owned() + AT_THE_EDGE,
        };
        let table = self.cells_table(place);
        let bar = if table.has_intervals() { BAR } else { "" };
        Figure {
            kind: "cells",
            reading: self.cells_reading(place),
            subtitle: format!("{}{bar}{rest}", capital(&self.subject(figure))),
            panels: vec![(String::new(), Chart::Dots(chart))],
            table,
            ..Figure::default()
        }
    }

    /// What is claimed of a figure: by vendors, by theory.
    fn claims_of(self, figure: &FigureEffects) -> Vec<&'a CheckedClaim> {
        let is_of = |claim: &&CheckedClaim| {
            (&claim.plan, &claim.point, &claim.metric) == (&figure.plan, &figure.point, &figure.metric)
        };
        self.effects.claims.iter().filter(is_of).collect()
    }

    /// Who claims anything of a figure, each once.
    fn claimants(self, figure: &FigureEffects) -> Vec<&'a str> {
        distinct(self.claims_of(figure).into_iter().map(|claim| claim.by.as_str()))
    }

    /// What `by` claims of `figure` in `cell`.
    fn claimed(self, figure: &FigureEffects, cell: &CellFigure, by: &str) -> Option<Number> {
        let is_it = |claim: &CheckedClaim| {
            (&claim.plan, &claim.point, &claim.metric) == (&figure.plan, &figure.point, &figure.metric)
                && claim.levels == cell.levels
                && claim.by == by
        };
        let at = self.effects.claims.iter().position(is_it)?;
        let unit = measured::unit(Metric::of(&figure.metric));
        Some(self.number(format!("/claims/{at}/claimed"), self.effects.claims[at].claimed, unit))
    }

    /// A row for each cell, what is claimed of it beside what was measured, which has the hue of its first factor's level. A
    /// claim far beyond all that was measured would press that together: it is an arrow at the edge.
    fn dots_with(self, figure: &FigureEffects, claims: &[&CheckedClaim]) -> Dots {
        let metric = Metric::of(&figure.metric);
        let unit = measured::unit(metric);
        let mut series = self.levels_of_first();
        if series.is_empty() || series.len() > HUES / 2 {
            series = vec!["found".to_owned()];
        }
        let levels = series.len();
        assert!(0 < levels && levels < HUES, "a colour is left for who claims something");
        for claim in claims {
            if !series[levels..].contains(&claim.by) && series.len() < HUES {
                series.push(claim.by.clone());
            }
        }
        let most = figure.cells.iter().map(|cell| cell.high.unwrap_or(cell.mean)).fold(0.0, f64::max);
        let row = |cell: &CellFigure| {
            let own: Vec<&CheckedClaim> =
                claims.iter().filter(|claim| claim.levels == cell.levels).copied().collect();
            let claimed = own.iter().filter_map(|claim| {
                let place = series[levels..].iter().position(|name| *name == claim.by)?;
                Some(Dot { series: levels + place, value: claim.claimed, band: None })
            });
            let mut dots: Vec<Dot> = claimed.collect();
            dots.sort_by_key(|dot| dot.series);
            // On top of what is claimed.
            let hue = if levels > 1 { self.hue(cell) } else { 0 };
            dots.push(Dot { series: hue, value: cell.mean, band: cell.low.zip(cell.high) });
            let parts: Vec<String> = own
                .iter()
                .map(|claim| {
                    let part = Unit::Share.written(claim.measured / claim.claimed);
                    format!("{part} of {}", unit.written(claim.claimed))
                })
                .collect();
            let value = unit.written(cell.mean);
            let together = if parts.is_empty() { value } else { format!("{value}: {}", parts.join(", ")) };
            Row { name: self.label(cell), dots, missing: String::new(), together }
        };
        Dots {
            axis: Axis::new(measured::name(metric), unit, Scale::Linear),
            rows: figure.cells.iter().map(row).collect(),
            series,
            neutral: None,
            most: Some(FAR * most),
        }
    }

    /// The levels of the first factor as series of their own, where there are others beside it and as many hues; else none.
    fn levels_of_first(self) -> Vec<String> {
        match self.effects.factors.first() {
            Some(first) if first.levels.len() <= HUES && self.effects.factors.len() > 1 => {
                first.levels.iter().map(|level| level_name(&first.name, level)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The hue of a cell: the place of its level of the first factor.
    fn hue(self, cell: &CellFigure) -> usize {
        let levels = self.effects.factors.first().map_or(&[][..], |first| &first.levels);
        levels.iter().position(|level| Some(level) == cell.levels.first()).unwrap_or(0)
    }

    /// The places of a cell's levels of all factors but the first.
    fn places_of_rest(self, cell: &CellFigure) -> Vec<usize> {
        let rest = self.effects.factors.iter().zip(&cell.levels).skip(1);
        rest.map(|(factor, level)| factor.levels.iter().position(|own| own == level).unwrap_or(0)).collect()
    }

    /// A row for each combination of the other factors, a dot for each level of the first.
    fn dots(self, figure: &FigureEffects) -> Dots {
        let metric = Metric::of(&figure.metric);
        let series = self.levels_of_first();
        let (mut rows, mut places): (Vec<Row>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for cell in &figure.cells {
            let (hue, name) = if series.is_empty() {
                (0, self.label(cell))
            } else {
                let hue = self.hue(cell);
                let rest = self.effects.factors.iter().zip(&cell.levels).skip(1);
                (
                    hue,
                    rest.map(|(factor, level)| level_name(&factor.name, level))
                        .collect::<Vec<_>>()
                        .join(", "),
                )
            };
            let dot = Dot { series: hue, value: cell.mean, band: cell.low.zip(cell.high) };
            match rows.iter_mut().find(|row| row.name == name) {
                Some(row) => row.dots.push(dot),
                None => {
                    rows.push(Row { name, dots: vec![dot], ..Row::default() });
                    places.push(self.places_of_rest(cell));
                }
            }
        }
        // Where a part of the cells is measured, they come in the order of all.
        let mut placed: Vec<(Vec<usize>, Row)> = places.into_iter().zip(rows).collect();
        placed.sort_by(|one, other| one.0.cmp(&other.0));
        let rows = placed.into_iter().map(|(_, row)| row).collect();
        Dots {
            axis: Axis::new(measured::name(metric), measured::unit(metric), Scale::Linear),
            series,
            rows,
            neutral: None,
            most: None,
        }
    }

    fn cells_reading(self, place: usize) -> Sentence {
        let figure = &self.effects.figures[place];
        let metric = Metric::of(&figure.metric);
        let cells = || figure.cells.iter().enumerate();
        let order =
            |one: &(usize, &CellFigure), other: &(usize, &CellFigure)| one.1.mean.total_cmp(&other.1.mean);
        let (Some(low), Some(high), Some(best)) =
            (cells().min_by(order), cells().max_by(order), best_cell(&figure.cells, metric))
        else {
            return Sentence::default();
        };
        let end = |(at, cell): (usize, &CellFigure)| self.cell(place, at, cell).0;
        let worst = if metric.more_is_better() { low } else { high };
        let behind = measured::behind(metric);
        let (bottom, top) = if metric.more_is_better() { (worst, best) } else { (best, worst) };
        let apart = bottom.1.high.zip(top.1.low).is_some_and(|(low, high)| low < high);
        let about = match metric {
            Metric::Iops | Metric::Throughput => format!("{}: ", figure.point),
            latency => format!("{}, {}: ", figure.point, measured::name(latency)),
        };
        if let [only] = &figure.cells[..] {
            let label = self.label(only);
            let cell = if label.is_empty() { String::new() } else { format!(" ({label})") };
            return Sentence::of(about).number(end(best)).words(format!("{behind}{cell}."));
        }
        if end(low).text() == end(high).text() {
            let lacks =
                self.effects.unfinished.as_ref().is_some_and(|unfinished| unfinished.cells_without > 0);
            let cells = if lacks { "all cells that were measured" } else { "all cells" };
            return Sentence::of(about).number(end(best)).words(format!("{behind} in {cells}."));
        }
        if !apart {
            return Sentence::of(about)
                .number(end(low))
                .words(" to ")
                .number(end(high))
                .words(format!("{behind}; no cell is certain to be ahead."));
        }
        let others = match cells().filter(|cell| end(*cell).text() == end(worst).text()).count() - 1 {
            0 => String::new(),
            1 => "; 1 more cell has the same".to_owned(),
            others => format!("; {others} more cells have the same"),
        };
        Sentence::of(about)
            .number(end(best))
            .words(format!("{behind} at best ({}), ", self.leader(figure, best.0)))
            .number(end(worst))
            .words(format!("{behind} at worst ({}{others}).", self.label(worst.1)))
    }

    fn cells_table(self, place: usize) -> Table {
        let figure = &self.effects.figures[place];
        let metric = Metric::of(&figure.metric);
        let factors = self.effects.factors.iter().map(|factor| Column::words(&factor.name));
        let claimants = self.claimants(figure);
        let unit = measured::unit(metric);
        let columns = factors
            .chain([Column::numbers(measured::name(metric), unit)])
            .chain(claimants.iter().map(|by| Column::numbers(format!("claimed by {by}"), unit)))
            .chain([Column::numbers("blocks", Unit::Count)]);
        let row = |(at, cell): (usize, &CellFigure)| {
            let (number, interval) = self.cell(place, at, cell);
            let words = cell.levels.iter().map(Cell::words);
            let blocks = Cell::Words(cell.values.len().to_string());
            let claimed = claimants.iter().map(|by| Cell::number(self.claimed(figure, cell, by)));
            words.chain([Cell::Number(number, interval)]).chain(claimed).chain([blocks]).collect()
        };
        Table {
            title: self.subject(figure),
            columns: columns.collect(),
            rows: figure.cells.iter().enumerate().map(row).collect(),
        }
    }
}

/// The cell with the best figure, and its place.
pub(super) fn best_cell(cells: &[CellFigure], metric: Metric) -> Option<(usize, &CellFigure)> {
    let estimate = |cell: &CellFigure| Estimate { value: cell.mean, interval: cell.low.zip(cell.high) };
    metric.best(cells.iter().enumerate(), |(_, cell)| Some(estimate(cell))).map(|(best, _)| best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use campaign::{Effects, FactorLevels};

    fn cell(raid: &str, disks: &str, mean: f64) -> CellFigure {
        CellFigure {
            doubt: None,
            levels: vec![raid.into(), disks.into()],
            values: vec![mean, mean],
            mean,
            low: Some(mean * 0.99),
            high: Some(mean * 1.01),
        }
    }

    fn claim(by: &str, of: &CellFigure, claimed: f64) -> CheckedClaim {
        CheckedClaim {
            by: by.into(),
            plan: "oltp".into(),
            point: "8 KiB".into(),
            levels: of.levels.clone(),
            metric: "iops".into(),
            claimed,
            measured: of.mean,
        }
    }

    fn effects() -> Effects {
        let cells = vec![cell("5", "4", 500.0), cell("5", "8", 950.0), cell("10", "4", 700.0)];
        let claims = vec![claim("theory", &cells[0], 600.0), claim("vendor", &cells[1], 90_000.0)];
        let factor = |name: &str, levels: [&str; 2]| FactorLevels {
            name: name.into(),
            levels: levels.map(str::to_owned).into(),
            hard: false,
        };
        Effects {
            unfinished: None,
            campaign: "raid".into(),
            factors: vec![factor("raid", ["5", "10"]), factor("disks", ["4", "8"])],
            blocks: 2,
            tests: 0,
            figures: vec![FigureEffects {
                plan: "oltp".into(),
                point: "8 KiB".into(),
                metric: "iops".into(),
                whole_blocks: 2,
                cells,
                effects: Vec::new(),
                refused: None,
                within: None,
                whole_plots: None,
            }],
            claims,
            published: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_row_has_its_figure_and_a_claim_far_beyond_is_told_and_marked_at_the_edge() {
        let effects = effects();
        let figure = Subject { effects: &effects, place: 0 }.cells_figure(0);
        let [(_, Chart::Dots(dots))] = &figure.panels[..] else { panic!("{:?}", figure.panels) };
        let told: Vec<&str> = dots.rows.iter().map(|row| row.together.as_str()).collect();
        assert_eq!(told, ["500: 83.3 % of 600", "950: 1.06 % of 90,000", "700"]);
        let drawn: Vec<f64> = dots.rows.iter().flat_map(|row| &row.dots).map(|dot| dot.value).collect();
        assert_eq!(drawn, [600.0, 500.0, 90_000.0, 950.0, 700.0]);
        assert!(dots.most < Some(90_000.0) && dots.most > Some(950.0), "{:?}", dots.most);
        assert!(figure.subtitle.ends_with(AT_THE_EDGE), "{}", figure.subtitle);
        let drawing = figure.panels[0].1.svg(760.0, "claims");
        assert!(drawing.contains(">vendor<") && drawing.contains(": 90,000, beyond the axis<"), "{drawing}");
        assert_eq!(dots.series, ["RAID 5", "RAID 10", "theory", "vendor"]);
        let hues: Vec<usize> = dots.rows.iter().filter_map(|row| Some(row.dots.last()?.series)).collect();
        assert_eq!(hues, [0, 0, 1], "a level of the first factor has one hue in all charts");
    }

    #[test]
    fn claims_of_rates_and_of_latencies_are_told_apart() {
        let mut effects = effects();
        let told = |effects: &Effects| {
            Subject { effects, place: 0 }.claims_reading().map(|sentence| sentence.text()).unwrap_or_default()
        };
        assert_eq!(
            told(&effects),
            "Of 2 claims of a rate, found is 1.06 % at least and 83.3 % at most of what is claimed."
        );
        effects.claims.push(CheckedClaim {
            metric: "p99".into(),
            claimed: 5e6,
            measured: 1e7,
            ..effects.claims[0].clone()
        });
        assert!(
            told(&effects).ends_with(
                " Of the claim of a latency, found is 200 % of what is claimed, of which less is better."
            ),
            "{}",
            told(&effects)
        );
    }

    #[test]
    fn cells_that_are_as_bad_as_the_worst_are_counted() {
        let mut effects = effects();
        effects.figures[0].cells[2] = cell("10", "4", 500.1);
        let reading = Subject { effects: &effects, place: 0 }.cells_figure(0).reading.text();
        assert!(
            reading.ends_with("500 IOPS at worst (RAID 5, disks 4; 1 more cell has the same)."),
            "{reading}"
        );
    }

    #[test]
    fn cells_that_are_equal_as_they_are_written_have_no_best_and_no_worst() {
        let mut effects = effects();
        effects.figures[0].cells = vec![cell("5", "4", 500.1), cell("10", "4", 500.2)];
        effects.figures[0]
            .cells
            .iter_mut()
            .for_each(|cell| (cell.low, cell.high) = (Some(cell.mean), Some(cell.mean)));
        let figure = Subject { effects: &effects, place: 0 }.cells_figure(0);
        assert_eq!(figure.reading.text(), "8 KiB: 500 IOPS in all cells.");
        effects.figures[0].cells.truncate(1);
        let figure = Subject { effects: &effects, place: 0 }.cells_figure(0);
        assert_eq!(figure.reading.text(), "8 KiB: 500 IOPS (RAID 5, disks 4).", "one cell is not all");
    }
}
