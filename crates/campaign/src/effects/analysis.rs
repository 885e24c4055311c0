//! The effects on one figure, by an analysis of variance of whole blocks.

use std::collections::{BTreeMap, BTreeSet};

use record::Metric;
use stats::difference::Estimate;
use stats::factorial::{self, Analysis, Term, analyse};
use stats::geometric_mean;
use units::convert::narrow;

use super::measured::{Chance, Measured};
use super::varied::{Varied, design, label, listed};
use super::{CellFigure, Change, Effect, FigureEffects};

/// The blocks in which each cell was measured, whether its run has the figure or not.
pub(super) type Runs = BTreeMap<Vec<u32>, BTreeSet<u32>>;

/// The figure of each cell in each block.
type ByCell = BTreeMap<Vec<u32>, BTreeMap<u32, f64>>;

pub(super) fn figure_effects(
    factors: &[Varied],
    plan: String,
    point: String,
    metric: Metric,
    measured: &[Measured<'_>],
    (runs, chance): (&Runs, Chance),
    too_few: Option<&str>,
) -> Option<FigureEffects> {
    let mut by_cell = ByCell::new();
    for one in measured {
        by_cell.entry(one.cell.places()).or_default().insert(one.cell.block, one.value);
    }
    if by_cell.is_empty() {
        return None;
    }
    let blocks: BTreeSet<u32> = by_cell.values().flat_map(BTreeMap::keys).copied().collect();
    let whole: Vec<u32> =
        blocks.into_iter().filter(|block| by_cell.values().all(|cell| cell.contains_key(block))).collect();
    let cells = runs.len();
    let lacking = cells - by_cell.len().min(cells);
    assert!(by_cell.values().all(|cell| !cell.is_empty()), "a cell is here for its values");
    let values: Vec<Vec<f64>> =
        whole.iter().map(|block| by_cell.values().map(|cell| cell[block]).collect()).collect();
    debug_assert!(values.iter().all(|block| block.len() == by_cell.len()), "a whole block has every cell");
    let analysed = match lacking {
        0 => match too_few {
            Some(why) => Err(why.to_owned()),
            None => analysis(factors, &by_cell, &values, chance)
                .map_err(|refusal| refusal.told(|| what_to_repeat(factors, &by_cell, runs, metric))),
        },
        _ => Err(match metric {
            Metric::Quantile(_) => {
                let name = metric.name();
                format!(
                    "{lacking} of {cells} cells have no {name}: {TOO_FEW} {name}, which a longer `run` has"
                )
            }
            _ => format!("{lacking} of {cells} cells have no {}", metric.name()),
        }),
    };
    let (effects, refused, noise) = match &analysed {
        Ok((used, analysis)) => (told(factors, used, analysis, &by_cell), None, Some(analysis)),
        Err(why) => (Vec::new(), Some(why.clone()), None),
    };
    Some(FigureEffects {
        plan,
        point,
        metric: metric.name(),
        whole_blocks: narrow::<u32>(whole.len() as u64),
        cells: by_cell.iter().map(|(places, cell)| cell_figure(factors, places, cell)).collect(),
        effects,
        refused,
        within: noise.map(|analysis| analysis.within.deviation),
        whole_plots: noise.and_then(|analysis| Some(analysis.whole_plots?.deviation)),
    })
}

/// The factors that were varied, and what the values say of them; or why nothing is said.
fn analysis(
    factors: &[Varied],
    by_cell: &ByCell,
    values: &[Vec<f64>],
    chance: Chance,
) -> Result<(Vec<usize>, Analysis), Refusal> {
    let (used, design) = design(factors, by_cell.keys().map(Vec::as_slice)).map_err(Refusal::Other)?;
    let design = if chance == Chance::Shared { design.with_shared_chance() } else { design };
    if values.len() < 2 {
        return Err(Refusal::Unrepeated(values.len()));
    }
    let analysis = analyse(&design, values).map_err(|refusal| Refusal::Other(refusal.to_string()))?;
    Ok((used, analysis))
}

/// Why a figure has no effects.
enum Refusal {
    /// So many blocks have it of every cell, which is fewer than two.
    Unrepeated(usize),
    /// Anything else, in words.
    Other(String),
}

impl Refusal {
    fn told(self, what_to_repeat: impl FnOnce() -> String) -> String {
        let whole = match self {
            Refusal::Other(why) => return why,
            Refusal::Unrepeated(0) => "no block has every cell",
            Refusal::Unrepeated(_) => "one block has every cell",
        };
        format!(
            "{whole}, and what differs by chance shows only where cells are repeated; {}",
            what_to_repeat()
        )
    }
}

/// Why a run has no percentile, before its name.
const TOO_FEW: &str = "too few requests for a";

/// What has to be measured for two whole blocks: another block, the cells that blocks lack, or cells for longer.
fn what_to_repeat(factors: &[Varied], by_cell: &ByCell, runs: &Runs, metric: Metric) -> String {
    let blocks: BTreeSet<u32> = by_cell.values().flat_map(BTreeMap::keys).copied().collect();
    let lacking = |block: &u32| {
        let own = by_cell.iter().filter(|(_, values)| !values.contains_key(block));
        own.map(|(places, _)| places).collect::<Vec<_>>()
    };
    // Where the least is missing, the least has to be repeated.
    let mut lacks: Vec<(u32, Vec<&Vec<u32>>)> = blocks.iter().map(|block| (*block, lacking(block))).collect();
    lacks.retain(|(_, cells)| !cells.is_empty());
    lacks.sort_by_key(|(_, cells)| cells.len());
    let wanted = 2usize.saturating_sub(blocks.len() - lacks.len());
    if lacks.len() < wanted {
        return "measure two blocks at least".into();
    }
    let has_run = |block: u32, places: &Vec<u32>| runs.get(places).is_some_and(|own| own.contains(&block));
    let named = |of_measured: bool| {
        let of_block = move |(block, cells): &(u32, Vec<&Vec<u32>>)| {
            let own = cells.iter().filter(|places| has_run(*block, places) == of_measured);
            let labels: Vec<String> = own.map(|places| label(factors, places)).collect();
            (!labels.is_empty()).then(|| (*block, listed(&labels)))
        };
        lacks.iter().take(wanted).filter_map(of_block).collect::<Vec<_>>()
    };
    let joined = |told: Vec<String>, what_to_do: &str| {
        (!told.is_empty()).then(|| format!("{}: {what_to_do}", told.join(", ")))
    };
    let missing = named(false).into_iter().map(|(block, cells)| format!("block {block} lacks {cells}"));
    let missing = joined(missing.collect(), "the same command measures what is missing");
    let (name, is_tail) = (metric.name(), matches!(metric, Metric::Quantile(_)));
    let lack = if is_tail { format!("{TOO_FEW} {name}") } else { format!("no {name}") };
    let without =
        named(true).into_iter().map(|(block, cells)| format!("in block {block}, {cells} has {lack}"));
    let without =
        joined(without.collect(), if is_tail { "set a longer `run`" } else { "see what its run says" });
    [missing, without].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The geometric mean of the cells in which each of these factors is at that level.
fn mean_at(by_cell: &ByCell, factors: &[Varied], at: [(usize, usize); 2]) -> f64 {
    let is_at = |places: &[u32]| {
        at.iter().all(|(factor, level)| places.get(*factor) == factors[*factor].places.get(*level))
    };
    let own = by_cell.iter().filter(|(places, _)| is_at(places)).flat_map(|(_, blocks)| blocks.values());
    geometric_mean(&own.copied().collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

fn told(factors: &[Varied], used: &[usize], analysis: &Analysis, by_cell: &ByCell) -> Vec<Effect> {
    let factor = |place: usize| &factors[used[place]].told;
    let of_term = |term: Term| term.factors().into_iter().map(factor).collect::<Vec<_>>();
    let effect = |tested: &factorial::Tested| {
        let own = of_term(tested.term);
        let places: Vec<usize> = tested.term.factors().into_iter().map(|place| used[place]).collect();
        let changes = tested.contrasts.iter().map(|contrast| {
            let interval = contrast.ratio.interval();
            let steps = match (&places[..], &contrast.levels[..]) {
                (&[one, other], &[level, with]) => {
                    let step = |at: usize| {
                        let mean = |of: usize| mean_at(by_cell, factors, [(one, at), (other, of)]);
                        mean(with) / mean(0)
                    };
                    Some([step(0), step(level)])
                }
                _ => None,
            };
            Change {
                levels: own
                    .iter()
                    .zip(&contrast.levels)
                    .map(|(factor, level)| factor.levels[*level].clone())
                    .collect(),
                from: own.iter().map(|factor| factor.levels[0].clone()).collect(),
                ratio: contrast.ratio.value,
                low: interval.low,
                high: interval.high,
                steps,
            }
        });
        Effect {
            factors: own.iter().map(|factor| factor.name.clone()).collect(),
            p_value: tested.p_value,
            adjusted: tested.p_value,
            found: false,
            changes: changes.collect(),
        }
    };
    analysis.terms.iter().map(effect).collect()
}

/// A cell with the interval of the mean of its own runs: others may deviate less, or more.
fn cell_figure(factors: &[Varied], places: &[u32], blocks: &BTreeMap<u32, f64>) -> CellFigure {
    let level = |(factor, place): (&Varied, &u32)| {
        let at = factor.places.iter().position(|own| own == place);
        at.map(|at| factor.told.levels[at].clone()).unwrap_or_default()
    };
    assert!(!blocks.is_empty(), "a cell is here for its values");
    let values: Vec<f64> = blocks.values().copied().collect();
    let mean = geometric_mean(&values).unwrap_or(f64::NAN);
    assert!(mean > 0.0, "what effects are computed of is above zero");
    let interval = Estimate::of_repeats(&values).map(Estimate::interval);
    debug_assert!(
        interval.is_none_or(|ends| ends.low <= mean * (1.0 + 1e-9) && mean <= ends.high * (1.0 + 1e-9)),
        "an interval holds its mean, but for rounding"
    );
    CellFigure {
        levels: factors.iter().zip(places).map(level).collect(),
        values,
        mean,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        doubt: None,
    }
}
