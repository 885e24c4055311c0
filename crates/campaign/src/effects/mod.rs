//! Which factors matter, by how much: from the records of a campaign's runs.

mod analysis;
mod claims;
mod directions;
mod measured;
#[cfg(test)]
mod tests;
mod varied;

use std::collections::BTreeSet;

use record::{CampaignCell, Metric, Run};
use serde::{Deserialize, Serialize};
use stats::factorial::holm;
use units::convert::narrow;

use self::analysis::{Runs, figure_effects};
use self::claims::held;
pub use self::claims::mix;
pub use self::directions::{Directions, Way};
use self::measured::{Chance, doubts, measured, subjects};
pub use self::measured::{figures_of, is_filling, titles_of};
use self::varied::factors;
pub(crate) use self::varied::{Varied, design, label, listed};
use crate::notes;
use crate::published::{Published, published};
use crate::unfinished::Unfinished;

/// The probability with which a campaign without any effect may still name one.
pub const FALSE_EFFECTS: f64 = 0.05;

/// What the runs of a campaign say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    /// The campaign.
    pub campaign: String,
    /// What was varied, in the order of its file.
    pub factors: Vec<FactorLevels>,
    /// Blocks of which there is a run.
    pub blocks: u32,
    /// Effects that were tested, over all figures: a probability is raised for their number.
    pub tests: u32,
    /// Each figure of each point of each plan.
    pub figures: Vec<FigureEffects>,
    /// How far the campaign is; absent where all of it is measured, and of records that do not say how much that is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unfinished: Option<Unfinished>,
    /// What others said of a cell, and what was measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub claims: Vec<CheckedClaim>,
    /// Published figures beside those of the virtual arrays, group by group.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Published>,
    /// What is missing, and what cannot be told: sentences for whoever reads the effects.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedClaim {
    /// Who says so.
    pub by: String,
    /// The plan whose figure it is compared with.
    pub plan: String,
    /// The point.
    pub point: String,
    /// The cell, by its levels in the order of the factors.
    pub levels: Vec<String>,
    /// Of what: `iops`, `mb_per_s`, `p99`.
    pub metric: String,
    /// What is claimed, in base units.
    pub claimed: f64,
    /// What was measured: the geometric mean over the blocks.
    pub measured: f64,
}

impl CheckedClaim {
    /// How far it is off: the logarithm of what was measured over what is claimed, without its sign.
    pub fn off(&self) -> f64 {
        (self.measured / self.claimed).ln().abs()
    }
}

/// A factor as it was varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorLevels {
    /// Its name.
    pub name: String,
    /// The levels that were measured.
    pub levels: Vec<String>,
    /// Whether it was set once for a whole plot.
    pub hard: bool,
}

/// What one figure of one point says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureEffects {
    /// The plan.
    pub plan: String,
    /// The point.
    pub point: String,
    /// The figure, by the name that plans give it: `iops`, `mb_per_s`, `p99`.
    pub metric: String,
    /// Blocks that have every cell, and so count for effects.
    pub whole_blocks: u32,
    /// Each cell, in the order of the levels.
    pub cells: Vec<CellFigure>,
    /// Each effect, main effects first; empty where they are refused.
    pub effects: Vec<Effect>,
    /// Why effects are refused; absent where they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
    /// The relative deviation from run to run within a whole plot; absent where effects are refused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<f64>,
    /// The same that whole plots add of their own; absent without whole plots.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub whole_plots: Option<f64>,
}

/// A figure of one cell, over the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFigure {
    /// The level of each factor, in their order.
    pub levels: Vec<String>,
    /// The figure in each block that has it.
    pub values: Vec<f64>,
    /// Their geometric mean.
    pub mean: f64,
    /// Lower end of its 95 % interval; absent with one block.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
    /// Why a run that it is of is in doubt: the worst grade of its points below B, or a write cache that was still filling; absent where
    /// none is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub doubt: Option<String>,
}

/// The effect of a factor, or how two work together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// One factor, or two.
    pub factors: Vec<String>,
    /// The probability of such an effect, or a larger one, by chance.
    pub p_value: f64,
    /// The same raised for the number of tests of the campaign, after Holm.
    pub adjusted: f64,
    /// Whether it is significant: `adjusted` is below [`FALSE_EFFECTS`].
    pub found: bool,
    /// By how much levels differ from the first.
    pub changes: Vec<Change>,
}

impl Effects {
    /// Of each point the figure that it is about, by its place.
    pub fn headlines(&self) -> Vec<usize> {
        let mut known: Vec<(&str, &str)> = Vec::new();
        let mut headlines = Vec::new();
        for (place, figure) in self.figures.iter().enumerate() {
            let point = (figure.plan.as_str(), figure.point.as_str());
            if !known.contains(&point) {
                known.push(point);
                headlines.push(place);
            }
        }
        headlines
    }

    /// What of the cells that `change` of `figure`, by `factors`, rests on is in doubt: `4 of the 8 cells have grade C`; `None` where
    /// nothing is.
    pub fn in_doubt(&self, figure: &FigureEffects, factors: &[String], change: &Change) -> Option<String> {
        let place = |name: &String| self.factors.iter().position(|factor| factor.name == *name);
        let compared = factors.iter().zip(change.levels.iter().zip(&change.from));
        let compared: Vec<_> = compared.filter_map(|(name, levels)| Some((place(name)?, levels))).collect();
        let rests_on = |cell: &&CellFigure| {
            compared.iter().all(|(place, (level, from))| {
                cell.levels.get(*place).is_some_and(|own| own == *level || own == *from)
            })
        };
        let cells: Vec<&CellFigure> = figure.cells.iter().filter(rests_on).collect();
        let mut why: Vec<(&str, usize)> = Vec::new();
        for doubt in cells.iter().filter_map(|cell| cell.doubt.as_deref()) {
            match why.iter_mut().find(|(known, _)| *known == doubt) {
                Some((_, many)) => *many += 1,
                None => why.push((doubt, 1)),
            }
        }
        let told: Vec<String> =
            why.iter().map(|(why, many)| format!("{many} of the {} cells: {why}", cells.len())).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Why figures have no effects, each reason with the figures that it is of; in the order of the figures.
    pub fn refusals(&self) -> Vec<(&str, Vec<&FigureEffects>)> {
        let mut refusals: Vec<(&str, Vec<&FigureEffects>)> = Vec::new();
        for figure in &self.figures {
            let Some(why) = figure.refused.as_deref() else { continue };
            match refusals.iter_mut().find(|(known, _)| *known == why) {
                Some((_, own)) => own.push(figure),
                None => refusals.push((why, vec![figure])),
            }
        }
        refusals
    }
}

/// By how much a level differs from the first one of its factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The level of each factor of the effect.
    pub levels: Vec<String>,
    /// The first level of each.
    pub from: Vec<String>,
    /// The figure at the level over that at the first; of two factors, that ratio of the second at the level of the first,
    /// over the same at its first level.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Of two factors: the ratio of the second at the first level of the first factor, and at the level.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steps: Option<[f64; 2]>,
}

/// What `runs` say, those that belong to no campaign left out. A cell that was measured twice in a block counts with
/// the last; one that was not measured, or whose state did not hold, counts with none, and a note names it.
pub fn effects(runs: &[Run]) -> Effects {
    let (lacking, all): (Vec<_>, Vec<_>) = runs
        .iter()
        .filter_map(|run| Some((run, run.cell.as_ref()?)))
        .partition(|(run, _)| run.lack().is_some());
    let (asked, of): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, cell)| cell.is_published());
    let name = of.first().or(asked.first()).or(lacking.first()).map(|(_, cell)| cell.campaign.clone());
    let (_, lacking_own): (Vec<_>, Vec<_>) = lacking.iter().partition(|(_, cell)| cell.is_published());
    let unfinished = Unfinished::of(&of, &lacking_own);
    // Where a block has every cell, what the others lack is told with the reason.
    let begun = unfinished.as_ref().filter(|unfinished| unfinished.whole_blocks == 0);
    let too_few = begun.and_then(Unfinished::too_few);
    let factors = factors(&of);
    let blocks: BTreeSet<u32> = of.iter().map(|(_, cell)| cell.block).collect();
    let mut figures: Vec<FigureEffects> = Vec::new();
    let (mut absent, mut is_shared): (Vec<String>, bool) = (Vec::new(), false);
    for (plan, point, metric) in subjects(&of) {
        let mut runs = Runs::new();
        for (run, cell) in of.iter().filter(|(run, _)| run.plan.name == plan) {
            let blocks = runs.entry(cell.places()).or_default();
            blocks.extend(run.ending.complete.then_some(cell.block));
        }
        let values = measured(&of, &plan, &point, metric);
        let chance = Chance::of(&of, &plan);
        if values.is_empty() {
            absent.push(format!("{} of {plan}, {point}", metric.name()));
            continue;
        }
        let doubts = doubts(&of, &plan, &point, metric);
        let found =
            figure_effects(&factors, plan, point, metric, &values, (&runs, chance), too_few.as_deref());
        figures.extend(found.map(|mut figure| {
            for cell in &mut figure.cells {
                cell.doubt = doubts.get(&cell.levels).cloned();
            }
            figure
        }));
        is_shared |= chance == Chance::Shared;
    }
    let all: Vec<f64> =
        figures.iter().flat_map(|figure| &figure.effects).map(|effect| effect.p_value).collect();
    debug_assert!(all.iter().all(|p| (0.0..=1.0).contains(p)), "probabilities");
    let each = figures.iter_mut().flat_map(|figure| &mut figure.effects);
    for (effect, adjusted) in each.zip(holm(&all)) {
        debug_assert!(adjusted >= effect.p_value, "more tests make no effect likelier");
        effect.adjusted = adjusted;
        effect.found = adjusted < FALSE_EFFECTS;
    }
    let claims = held(&of, &figures);
    let lacks = notes::lacks(&lacking);
    let shared = (is_shared && !all.is_empty()).then(|| notes::shared_chance(blocks.len()));
    let notes = notes::notes(&of, &factors, &claims, unfinished.as_ref());
    let notes = lacks.into_iter().chain(notes).chain(notes::absent(&absent)).chain(shared).collect();
    Effects {
        campaign: name.unwrap_or_default(),
        factors: factors.into_iter().map(|factor| factor.told).collect(),
        blocks: narrow::<u32>(blocks.len() as u64),
        tests: narrow::<u32>(all.len() as u64),
        figures,
        unfinished,
        claims,
        published: published(&asked),
        notes,
    }
}

/// A figure of one run, as effects count it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigure {
    /// The point; of a sweep of the load its best.
    pub point: String,
    /// Of what.
    pub metric: Metric,
    /// In the base unit of the metric.
    pub value: f64,
}

/// The figures of one run of a campaign that effects would be computed of; none of a run that is of no campaign.
pub fn figures(run: &Run) -> Vec<RunFigure> {
    let of: Vec<(&Run, &CampaignCell)> = run.cell.iter().map(|cell| (run, cell)).collect();
    let figure = |(plan, point, metric): (String, String, Metric)| {
        let value = measured(&of, &plan, &point, metric).first()?.value;
        Some(RunFigure { point, metric, value })
    };
    subjects(&of).into_iter().filter_map(figure).collect()
}
