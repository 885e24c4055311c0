//! What a campaign says: its cells, the effects of its factors, and what was claimed; on one screen.

use campaign::{
    CellFigure, Change, CheckedClaim, Directions, Effect, Effects, FALSE_EFFECTS, FigureEffects, Published,
};
use record::{Metric, level_name};
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use crate::groups::distinct;
use crate::style::{Look, Style};
use crate::table::{Cell, Column, Table};
use crate::words::{counted, half_width, harmless, percent, wrap};

/// What a screen has room for.
const CELLS: usize = 24;
const ABREAST: usize = 6;
const ABREAST_WITH_INTERVALS: usize = 3;
/// Lines that tables of cells take together, if the first alone does not take more.
const LINES: usize = 60;
const EFFECTS: usize = 6;
const CLAIMS: usize = 4;
const NOTES: usize = 5;
/// Reasons for which figures have no effects, and figures of each.
const REFUSALS: usize = 3;

/// `effects` as text: a table of cells, which factors matter and by how much, and claims held against what was measured.
pub fn effects(effects: &Effects, style: Style) -> String {
    let mut lines = Vec::new();
    let headlines: Vec<&FigureEffects> = headlines(effects).collect();
    let mut notes = Vec::new();
    let shown = cells(effects, &headlines, style);
    lines.extend(shown.lines);
    let most = headlines.iter().map(|figure| figure.cells.len()).max().unwrap_or(0);
    if most > CELLS {
        notes.push(format!("{CELLS} of {most} cells are shown; the report has all."));
    }
    if shown.points < headlines.len() {
        notes.push(format!("{} of {} points are shown; the report has all.", shown.points, headlines.len()));
    }
    lines.extend(notes.iter().flat_map(|note| wrap(note, style.width, "", "")));
    lines.push(String::new());
    lines.push(style.paint(Look::Title, "Effects"));
    for sentence in told(effects) {
        lines.extend(wrap(&style.spell(&harmless(&sentence)), style.width, "  ", "    "));
    }
    if !effects.notes.is_empty() {
        lines.push(String::new());
        lines.push(style.paint(Look::Title, "Warnings"));
        for note in effects.notes.iter().take(NOTES) {
            lines.extend(wrap(&style.spell(&harmless(note)), style.width, "  ", "    "));
        }
    }
    let agreements: Vec<String> = effects.published.iter().filter_map(agreement).collect();
    if !agreements.is_empty() {
        lines.push(String::new());
        lines.push(style.paint(Look::Title, "Published figures"));
        for sentence in agreements {
            lines.extend(wrap(&style.spell(&harmless(&sentence)), style.width, "  ", "    "));
        }
    }
    if !effects.claims.is_empty() {
        lines.push(String::new());
        lines.push(style.paint(Look::Title, "Claims"));
        // What is furthest off comes first.
        let mut claims: Vec<&CheckedClaim> = effects.claims.iter().collect();
        claims.sort_by(|one, other| other.off().total_cmp(&one.off()));
        for claim in claims.into_iter().take(CLAIMS) {
            lines.extend(wrap(&style.spell(&harmless(&claimed(effects, claim))), style.width, "  ", "    "));
        }
        let more = effects.claims.len().saturating_sub(CLAIMS);
        lines.extend((more > 0).then(|| format!("  {more} more in the report")));
    }
    lines.join("\n") + "\n"
}

/// Of each point the figure that it is about.
fn headlines(effects: &Effects) -> impl Iterator<Item = &FigureEffects> {
    effects.headlines().into_iter().map(|place| &effects.figures[place])
}

/// Tables of cells, and of how many points.
#[derive(Default)]
struct Shown {
    lines: Vec<String>,
    points: usize,
}

/// One column a cell and one row a point where so few cells are beside each other; otherwise the other way round, in as many
/// tables below each other as it takes to hide no point.
fn cells(effects: &Effects, headlines: &[&FigureEffects], style: Style) -> Shown {
    let Some(widest) = headlines.iter().max_by_key(|figure| figure.cells.len()) else {
        return Shown::default();
    };
    if widest.cells.len() <= ABREAST {
        let drawn = points_down(effects, headlines, widest).draw(style);
        if drawn.left_out.is_empty() {
            return Shown { lines: drawn.lines, points: headlines.len().min(CELLS) };
        }
    }
    let mut shown = Shown::default();
    let fits = |many: usize, from: usize, with_intervals: bool| {
        let points = headlines.get(from..from + many)?;
        let drawn = cells_down(effects, points, headlines, widest, with_intervals).draw(style);
        // One point has to be shown, whatever is left out of it.
        (drawn.left_out.is_empty() || many == 1).then_some(drawn.lines)
    };
    // Figures of all points beside each other say more than their intervals.
    let with_intervals =
        fits(headlines.len(), 0, false).is_none() || fits(headlines.len(), 0, true).is_some();
    while shown.points < headlines.len() {
        let rest = headlines.len() - shown.points;
        let Some((many, lines)) =
            (1..=rest).rev().find_map(|many| Some((many, fits(many, shown.points, with_intervals)?)))
        else {
            break;
        };
        if !shown.lines.is_empty() {
            if shown.lines.len() + lines.len() > LINES {
                break;
            }
            shown.lines.push(String::new());
        }
        shown.lines.extend(lines);
        shown.points += many;
    }
    shown
}

/// The levels of the factors above, a row for each point.
fn points_down(effects: &Effects, headlines: &[&FigureEffects], widest: &FigureEffects) -> Table {
    let first = effects.factors.first().map_or("", |factor| &factor.name);
    let level =
        |cell: &CellFigure, factor: usize| harmless(cell.levels.get(factor).map_or("", String::as_str));
    let mut columns = vec![Column::words(&harmless(first))];
    columns.extend(widest.cells.iter().map(|cell| Column::figures(&level(cell, 0), 1)));
    let names = effects.factors.iter().enumerate().skip(1).map(|(place, factor)| {
        let levels = widest.cells.iter().map(|cell| Cell::plain(level(cell, place)));
        std::iter::once(Cell::plain(harmless(&factor.name))).chain(levels).collect()
    });
    let points = headlines.iter().take(CELLS).map(|figure| {
        let own = |cell: &CellFigure| figure.cells.iter().find(|own| own.levels == cell.levels);
        let room = widest.cells.len() <= ABREAST_WITH_INTERVALS;
        let values = widest.cells.iter().map(|cell| shown(figure, own(cell), room));
        std::iter::once(Cell::plain(title(figure, headlines))).chain(values).collect()
    });
    Table { columns, rows: names.chain(points).collect() }
}

/// A row for each cell, a column for each of `points`, which are some of all.
fn cells_down(
    effects: &Effects,
    points: &[&FigureEffects],
    all: &[&FigureEffects],
    widest: &FigureEffects,
    with_intervals: bool,
) -> Table {
    let factors = effects.factors.iter().map(|factor| Column::words(&harmless(&factor.name)));
    let titles = (0u8..).zip(points).map(|(turn, figure)| Column::figures(&title(figure, all), turn));
    let row = |cell: &CellFigure| {
        let levels = cell.levels.iter().map(|level| Cell::plain(harmless(level)));
        let own = |figure: &&FigureEffects| {
            let own = figure.cells.iter().find(|own| own.levels == cell.levels);
            shown(figure, own, with_intervals)
        };
        levels.chain(points.iter().map(own)).collect()
    };
    Table {
        columns: factors.chain(titles).collect(),
        rows: widest.cells.iter().take(CELLS).map(row).collect(),
    }
}

/// `8 KiB, IOPS`, with the plan where there are several.
fn title(figure: &FigureEffects, headlines: &[&FigureEffects]) -> String {
    let several = headlines.iter().any(|other| other.plan != figure.plan);
    let plan = if several { format!("{}: ", figure.plan) } else { String::new() };
    harmless(&format!("{plan}{}, {}", figure.point, unit(figure)))
}

fn unit(figure: &FigureEffects) -> String {
    match Metric::of(&figure.metric) {
        Metric::Iops => "IOPS".into(),
        Metric::Throughput => "MB/s".into(),
        metric => metric.name(),
    }
}

/// `2,798 ± 1.8 %`
fn shown(figure: &FigureEffects, cell: Option<&CellFigure>, with_interval: bool) -> Cell {
    let Some(cell) = cell else { return Cell::default() };
    let half = cell.low.zip(cell.high).filter(|_| with_interval).map(|(low, high)| (high / low).sqrt() - 1.0);
    let interval = half.map(|half| format!(" {}", around(half))).unwrap_or_default();
    Cell::plain(value(&figure.metric, cell.mean) + &interval)
}

/// `± 1.8 %`; of an interval that reaches to more than twice the figure only that.
fn around(half: f64) -> String {
    if half <= 1.0 { format!("± {}", half_width(half)) } else { "± over 100 %".into() }
}

/// A figure as people read it, throughput without its unit.
fn value(metric: &str, value: f64) -> String {
    match Metric::of(metric) {
        Metric::Iops => OpsPerSecond::new(value).to_string(),
        Metric::Throughput => BytesPerSecond::new(value).to_string().trim_end_matches(" MB/s").to_owned(),
        _ => Nanos::from_secs_f64(value / 1e9).to_string(),
    }
}

/// `IOPS of oltp, 8 KiB`
fn subject(figure: &FigureEffects) -> String {
    format!("{} of {}, {}", unit(figure), figure.plan, figure.point)
}

/// What was found, the largest first; what was not; and what was refused.
fn told(effects: &Effects) -> Vec<String> {
    let headlines: Vec<&FigureEffects> = headlines(effects).collect();
    let is_headline = |figure: &FigureEffects| headlines.iter().any(|one| std::ptr::eq(*one, figure));
    let all: Vec<(&FigureEffects, &Effect)> = effects
        .figures
        .iter()
        .flat_map(|figure| figure.effects.iter().map(move |effect| (figure, effect)))
        .collect();
    let names = distinct(all.iter().map(|(_, effect)| effect.factors.as_slice()));
    let many = names.len();
    let mut found: Vec<(usize, f64, String)> = Vec::new();
    let mut not_found: Vec<String> = Vec::new();
    for name in names {
        let own: Vec<&(&FigureEffects, &Effect)> =
            all.iter().filter(|(_, effect)| effect.factors == *name).collect();
        let seen: Vec<&&(&FigureEffects, &Effect)> = own.iter().filter(|(_, effect)| effect.found).collect();
        let of_headlines: Vec<&&(&FigureEffects, &Effect)> =
            seen.iter().filter(|(figure, _)| is_headline(figure)).copied().collect();
        match largest(if of_headlines.is_empty() { &seen } else { &of_headlines }) {
            Some((figure, change)) => {
                let directions = effects.directions(name, change);
                debug_assert_eq!(directions.significant, seen.len(), "of the figures that were seen");
                found.push((
                    name.len(),
                    change.ratio.ln().abs(),
                    sentence(name, figure, change, &directions) + &in_doubt(effects, figure, name, change),
                ));
            }
            None => not_found.push(name.join(" × ")),
        }
    }
    // Factors before interactions.
    found.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    debug_assert!(found.iter().all(|(factors, ..)| (1..=2).contains(factors)), "an effect is of one or two");
    let more = found.len().saturating_sub(EFFECTS);
    let mut told: Vec<String> = found.into_iter().take(EFFECTS).map(|(_, _, sentence)| sentence).collect();
    if more > 0 {
        told.push(format!("{more} more effects are in the report."));
    }
    if !not_found.is_empty() {
        told.push(format!("Not significant: {}.", not_found.join(", ")));
    }
    if !all.is_empty() {
        let share = percent(FALSE_EFFECTS);
        told.push(format!(
            "Tested: {} in {}, {} in {}; false-positive rate of the whole campaign: {share} (Holm).",
            counted(many, "effect"),
            counted(effects.figures.iter().filter(|figure| !figure.effects.is_empty()).count(), "figure"),
            counted(effects.tests as usize, "test"),
            counted(effects.blocks as usize, "block"),
        ));
    }
    if effects.figures.is_empty() && effects.published.is_empty() {
        told.push("No effects: nothing was measured.".into());
    }
    let refusals = effects.refusals();
    told.extend(refusals.iter().take(REFUSALS).map(|(why, figures)| {
        if figures.len() == effects.figures.len() {
            return format!("No effects: {why}.");
        }
        let (named, more) = figures.split_at(figures.len().min(REFUSALS));
        let named: Vec<String> = named.iter().map(|figure| subject(figure)).collect();
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        format!("No effects of {}{more}: {why}.", named.join("; of "))
    }));
    let more = refusals.len().saturating_sub(REFUSALS);
    told.extend((more > 0).then(|| {
        let figures = refusals[REFUSALS..].iter().map(|(_, figures)| figures.len()).sum::<usize>();
        format!("Nor of {}; the report says why.", counted(figures, "more figure"))
    }));
    told
}

/// Of effects that were found, the change that is largest.
fn largest<'e>(seen: &[&&(&'e FigureEffects, &'e Effect)]) -> Option<(&'e FigureEffects, &'e Change)> {
    let changes =
        seen.iter().flat_map(|(figure, effect)| effect.changes.iter().map(move |change| (*figure, change)));
    // Of equal ones the first: a rate before its latency.
    let size = |one: &(&FigureEffects, &Change)| one.1.ratio.ln().abs();
    changes.reduce(|most, one| if size(&one) > size(&most) { one } else { most })
}

/// `RAID 10 against RAID 5: ×2.35 (2.33 to 2.37) IOPS of oltp, 8 KiB; significant in 1 of 2 figures: better in 1.`
fn sentence(factors: &[String], figure: &FigureEffects, change: &Change, directions: &Directions) -> String {
    let ratio = format!("×{} ({} to {})", factor(change.ratio), factor(change.low), factor(change.high));
    let of = subject(figure);
    let level = |place: usize| level_name(&factors[place], &change.levels[place]);
    let from = |place: usize| level_name(&factors[place], &change.from[place]);
    let said = match factors.len() {
        1 => format!("{} against {}: {ratio} {of}", level(0), from(0)),
        _ => {
            let [first, there] = change.steps.unwrap_or([1.0, change.ratio]);
            let (at, from_at) = (level(0), from(0));
            let (there, first) = (factor(there), factor(first));
            format!("{} against {}: ×{there} at {at}, ×{first} at {from_at}, {of}", level(1), from(1))
        }
    };
    let Directions { tested, significant, .. } = directions;
    let ways = directions.told(&level(0), &from(0));
    format!("{said}; significant in {significant} of {tested} figures: {ways}.")
}

/// ` In doubt, 4 of the 8 cells: grade C.`, where that is so of what the change rests on.
fn in_doubt(effects: &Effects, figure: &FigureEffects, factors: &[String], change: &Change) -> String {
    effects.in_doubt(figure, factors, change).map_or_else(String::new, |why| format!(" In doubt, {why}."))
}

/// Three digits at least; two of what is near zero.
fn factor(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 0.1 {
        let decimals: usize = units::convert::truncated((1.0 - ratio.log10().floor()).min(12.0));
        return format!("{ratio:.decimals$}");
    }
    if ratio >= 100.0 {
        format!("{ratio:.0}")
    } else if ratio >= 10.0 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.2}")
    }
}

/// `md3000: 7 of 8 figures are within 10 % of the model, 8 within 25 %; 1 of 1 bounds and orders holds.`
fn agreement(group: &Published) -> Option<String> {
    let all = &group.all;
    let figures = match all.figures {
        0 => None,
        many => Some(format!(
            "{} of {many} figures are within 10 % of the model, {} within 25 %",
            all.within_10, all.within_25
        )),
    };
    let statements = match group.statements {
        0 => None,
        many => {
            let open = match group.inconclusive {
                0 => String::new(),
                open => format!(", {open} inconclusive"),
            };
            Some(format!("{} of {many} bounds and orders hold{open}", group.held))
        }
    };
    let told: Vec<String> = figures.into_iter().chain(statements).collect();
    (!told.is_empty()).then(|| format!("{}: {}.", group.group, told.join("; ")))
}

fn claimed(effects: &Effects, claim: &CheckedClaim) -> String {
    let named = effects.factors.iter().zip(&claim.levels);
    let cell: Vec<String> = named.map(|(factor, level)| level_name(&factor.name, level)).collect();
    let figure = |figure: f64| {
        let value = value(&claim.metric, figure);
        match Metric::of(&claim.metric) {
            Metric::Iops => format!("{value} IOPS"),
            Metric::Throughput => format!("{value} MB/s"),
            other => format!("{} {value}", other.name()),
        }
    };
    format!(
        "{}: {} for {} of {} at {}; measured {}, {} of it.",
        claim.by,
        figure(claim.claimed),
        claim.point,
        claim.plan,
        cell.join(", "),
        figure(claim.measured),
        percent(claim.measured / claim.claimed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use campaign::FactorLevels;

    const STYLE: Style = Style { colour: false, unicode: true, width: 100 };

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn sample() -> Effects {
        let cell = |levels: &[&str], mean: f64| CellFigure {
            levels: texts(levels),
            values: vec![mean, mean],
            mean,
            low: Some(mean / 1.02),
            high: Some(mean * 1.02),
            doubt: None,
        };
        let effect = |factors: &[&str], ratio: f64, found| Effect {
            factors: texts(factors),
            p_value: 0.001,
            adjusted: 0.003,
            found,
            changes: vec![Change {
                levels: texts(&["10", "8"][..factors.len()]),
                from: texts(&["5", "4"][..factors.len()]),
                steps: (factors.len() == 2).then_some([1.0, ratio]),
                ratio,
                low: ratio / 1.01,
                high: ratio * 1.01,
            }],
        };
        let figure = |metric: &str, scale: f64| FigureEffects {
            plan: "oltp".into(),
            point: "8 KiB".into(),
            metric: metric.into(),
            whole_blocks: 2,
            cells: vec![
                cell(&["5", "4"], 1000.0 * scale),
                cell(&["5", "8"], 1000.0 * scale),
                cell(&["10", "4"], 2350.0 * scale),
                cell(&["10", "8"], 2500.0 * scale),
            ],
            effects: vec![
                effect(&["raid"], 2.35, true),
                effect(&["disks"], 1.0, false),
                effect(&["raid", "disks"], 1.064, metric == "iops"),
            ],
            refused: None,
            within: Some(0.01),
            whole_plots: None,
        };
        let factor = |name: &str, levels: &[&str]| FactorLevels {
            name: name.into(),
            levels: texts(levels),
            hard: false,
        };
        Effects {
            unfinished: None,
            campaign: "levels".into(),
            factors: vec![factor("raid", &["5", "10"]), factor("disks", &["4", "8"])],
            blocks: 2,
            tests: 6,
            figures: vec![figure("iops", 1.0), figure("p99", 1e4)],
            notes: vec!["3 of 4 cells were measured.".into()],
            published: Vec::new(),
            claims: vec![CheckedClaim {
                by: "vendor".into(),
                plan: "oltp".into(),
                point: "8 KiB".into(),
                levels: texts(&["10", "8"]),
                metric: "iops".into(),
                claimed: 90_000.0,
                measured: 2500.0,
            }],
        }
    }

    #[test]
    fn cells_effects_and_claims_fit_one_screen() {
        let text = effects(&sample(), STYLE);
        insta::assert_snapshot!(text);
        assert!(text.lines().count() < 25 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn an_effect_that_rests_on_cells_in_doubt_says_so_beside_its_ratio() {
        let mut doubtful = sample();
        doubtful.figures[0].cells[0].doubt = Some("grade C, the write cache was still filling".into());
        let text = effects(&doubtful, Style { width: 400, ..STYLE });
        let line = text.lines().find(|line| line.contains("RAID 10 against RAID 5")).expect("it was found");
        assert!(
            line.ends_with("In doubt, 1 of the 4 cells: grade C, the write cache was still filling."),
            "{line}"
        );
        assert!(!effects(&sample(), Style { width: 400, ..STYLE }).contains("In doubt"));
    }

    #[test]
    fn a_factor_that_betters_one_figure_and_worsens_another_says_how_many_of_each() {
        // More requests a second at a longer 99th percentile.
        let text = effects(&sample(), Style { width: 200, ..STYLE });
        assert!(text.contains("significant in 2 of 2 figures: better in 1, worse in 1."), "{text}");
        // The step of the disks is larger at RAID 10.
        assert!(text.contains("significant in 1 of 2 figures: more gain at RAID 10 in 1."), "{text}");
        let mut open = sample();
        open.figures[1].effects[0].changes[0].low = 0.9;
        let text = effects(&open, Style { width: 200, ..STYLE });
        assert!(text.contains("significant in 2 of 2 figures: better in 1, undecided in 1."), "{text}");
    }

    #[test]
    fn what_is_refused_says_why() {
        let mut refused = sample();
        for figure in &mut refused.figures {
            figure.effects.clear();
            figure.refused = Some("one block has every cell".into());
        }
        let text = effects(&refused, STYLE);
        assert!(text.contains("No effects: one block has every cell."), "{text}");
        assert!(!text.contains("were tested"));
    }
}
