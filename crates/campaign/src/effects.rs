//! Which factors matter, by how much: from the records of a campaign's runs.

use std::collections::{BTreeMap, BTreeSet};

use record::{CampaignCell, Metric, Point, PointKind, Run, is_named, level_name, phase_title};
use serde::{Deserialize, Serialize};
use stats::Interval;
use stats::difference::Estimate;
use stats::factorial::{self, Analysis, Design, Term, analyse, holm};
use units::convert::narrow;

use crate::notes;
use crate::published::{Published, published};

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
    /// What others said of a cell, and what was measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub claims: Vec<HeldClaim>,
    /// Published figures beside those of the virtual arrays, group by group.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub published: Vec<Published>,
    /// What is missing, and what cannot be told: sentences for whoever reads the effects.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldClaim {
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

/// A figure of one run.
struct Measured<'r> {
    cell: &'r CampaignCell,
    value: f64,
}

/// What `runs` say, those that belong to no campaign left out. A cell that was measured twice in a block counts with
/// the last.
pub fn effects(runs: &[Run]) -> Effects {
    let all: Vec<(&Run, &CampaignCell)> =
        runs.iter().filter_map(|run| Some((run, run.cell.as_ref()?))).collect();
    let (asked, of): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, cell)| cell.is_published());
    let name = of.first().or(asked.first()).map(|(_, cell)| cell.campaign.clone());
    let factors = factors(&of);
    let blocks: BTreeSet<u32> = of.iter().map(|(_, cell)| cell.block).collect();
    let mut figures: Vec<FigureEffects> = Vec::new();
    for (plan, point, metric) in subjects(&of) {
        let cells: BTreeSet<Vec<u32>> =
            of.iter().filter(|(run, _)| run.plan.name == plan).map(|(_, cell)| cell.places()).collect();
        let values = measured(&of, &plan, &point, metric);
        figures.extend(figure_effects(&factors, plan, point, metric, &values, cells.len()));
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
    let notes = notes::notes(&of, &factors, &figures);
    Effects {
        campaign: name.unwrap_or_default(),
        factors: factors.into_iter().map(|factor| factor.told).collect(),
        blocks: narrow::<u32>(blocks.len() as u64),
        tests: narrow::<u32>(all.len() as u64),
        figures,
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

/// What is claimed of cells, each claim once.
fn held(of: &[(&Run, &CampaignCell)], figures: &[FigureEffects]) -> Vec<HeldClaim> {
    let mut held: Vec<HeldClaim> = Vec::new();
    for (_, cell) in of {
        let levels: Vec<String> = cell.levels.iter().map(|level| level.level.clone()).collect();
        for claim in &cell.claims {
            let own = figures
                .iter()
                .filter(|figure| figure.metric == claim.metric && figure.point.starts_with(&claim.point));
            for figure in own {
                let Some(measured) = figure.cells.iter().find(|cell| cell.levels == levels) else { continue };
                let one = HeldClaim {
                    by: claim.by.clone(),
                    plan: figure.plan.clone(),
                    point: figure.point.clone(),
                    levels: levels.clone(),
                    metric: claim.metric.clone(),
                    claimed: claim.value,
                    measured: measured.mean,
                };
                if !held.contains(&one) {
                    held.push(one);
                }
            }
        }
    }
    held
}

/// A factor with the places of the levels that were measured.
pub(crate) struct Varied {
    pub told: FactorLevels,
    pub places: Vec<u32>,
}

fn factors(of: &[(&Run, &CampaignCell)]) -> Vec<Varied> {
    let Some((_, first)) = of.first() else { return Vec::new() };
    let names = first.levels.iter().map(|level| &level.factor);
    let varied = names.map(|name| {
        let own = of.iter().flat_map(|(_, cell)| &cell.levels).filter(|level| level.factor == *name);
        let levels: BTreeMap<u32, &str> =
            own.clone().map(|level| (level.place, level.level.as_str())).collect();
        Varied {
            told: FactorLevels {
                name: name.clone(),
                levels: levels.values().map(|level| (*level).to_owned()).collect(),
                hard: own.clone().any(|level| level.hard),
            },
            places: levels.keys().copied().collect(),
        }
    });
    varied.collect()
}

/// Every plan, point and figure, in the order in which they were first measured: of each point its headline, and the 99th
/// percentile of the latency beside a rate.
fn subjects(of: &[(&Run, &CampaignCell)]) -> Vec<(String, String, Metric)> {
    let mut subjects: Vec<(String, String, Metric)> = Vec::new();
    let mut plans: Vec<&str> = of.iter().map(|(run, _)| run.plan.name.as_str()).collect();
    plans.sort_unstable();
    plans.dedup();
    for plan in plans {
        let loads = of
            .iter()
            .filter(|(run, _)| run.plan.name == plan)
            .flat_map(|(run, _)| &run.points)
            .filter(|point| point.kind == PointKind::Load);
        for point in loads {
            let headline = Metric::of(&point.headline);
            // The highest rate of a sweep is one figure; which of its points that is differs from cell to cell.
            let tail = (headline.more_is_better() && !is_load_swept(point)).then_some(Metric::Quantile(0.99));
            for metric in std::iter::once(headline).chain(tail) {
                let subject = (plan.to_owned(), title(point), metric);
                if !subjects.contains(&subject) {
                    subjects.push(subject);
                }
            }
        }
    }
    subjects
}

/// The keys of a plan by which a load grows.
const LOAD_KEYS: [&str; 3] = ["depth", "workers", "pace"];

/// Whether the point is one of a sweep of the load.
fn is_load_swept(point: &Point) -> bool {
    point.swept.keys().any(|key| LOAD_KEYS.iter().any(|load| is_named(key, load)))
}

/// What a point is called beside those of other cells: all points of a sweep of the load are one, their best.
fn title(point: &Point) -> String {
    if !is_load_swept(point) {
        return point.name.clone();
    }
    let value = |named: &str| {
        let own = point.swept.iter().find(|(key, _)| is_named(key, named));
        own.filter(|_| !LOAD_KEYS.contains(&named)).map(|(_, value)| value.clone())
    };
    format!("{}, best of the sweep", phase_title(&point.phase, value))
}

/// The figure of each run that has it: of repetitions of a point the geometric mean, of a sweep of the load the best.
fn measured<'r>(
    of: &[(&'r Run, &'r CampaignCell)],
    plan: &str,
    point: &str,
    metric: Metric,
) -> Vec<Measured<'r>> {
    let value = |run: &Run| {
        let is_it = |own: &&Point| own.kind == PointKind::Load && own.complete && title(own) == point;
        // Of each point of a sweep, the logarithms of its repetitions.
        let mut logs: BTreeMap<&BTreeMap<String, String>, Vec<f64>> = BTreeMap::new();
        for own in run.points.iter().filter(is_it) {
            logs.entry(&own.swept).or_default().push(own.figure(metric)?.ln());
        }
        let means = logs.values().map(|logs| logs.iter().sum::<f64>() / logs.len() as f64);
        let best = if metric.more_is_better() { f64::max } else { f64::min };
        means.reduce(best).map(f64::exp)
    };
    let of_plan = of.iter().filter(|(run, _)| run.plan.name == plan);
    of_plan.filter_map(|(run, cell)| Some(Measured { cell, value: value(run)? })).collect()
}

fn figure_effects(
    factors: &[Varied],
    plan: String,
    point: String,
    metric: Metric,
    measured: &[Measured<'_>],
    cells: usize,
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
    let lacking = cells - by_cell.len().min(cells);
    assert!(by_cell.values().all(|cell| !cell.is_empty()), "a cell is here for its values");
    let values: Vec<Vec<f64>> =
        whole.iter().map(|block| by_cell.values().map(|cell| cell[block]).collect()).collect();
    debug_assert!(values.iter().all(|block| block.len() == by_cell.len()), "a whole block has every cell");
    let analysed = match lacking {
        0 => analysis(factors, &by_cell, &values),
        _ => Err(format!("{lacking} of {cells} cells have no {}: too few requests, or none", metric.name())),
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
        cells: by_cell.iter().map(|(places, cell)| cell_figure(factors, places, cell, noise)).collect(),
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
) -> Result<(Vec<usize>, Analysis), String> {
    let level = |factor: usize, place: u32| factors[factor].places.iter().position(|own| *own == place);
    let used: Vec<usize> = (0..factors.len()).filter(|factor| factors[*factor].places.len() > 1).collect();
    if used.is_empty() {
        return Err("nothing was varied".into());
    }
    let cells: Option<Vec<Vec<usize>>> = by_cell
        .keys()
        .map(|places| used.iter().map(|factor| level(*factor, *places.get(*factor)?)).collect())
        .collect();
    let cells = cells.ok_or("the runs have not the same factors")?;
    let design = used.iter().map(|factor| factorial::Factor {
        levels: factors[*factor].places.len(),
        hard: factors[*factor].told.hard,
    });
    let design = Design::of(design.collect(), cells).map_err(|error| error.to_string())?;
    if values.len() < 2 {
        let whole = match values.len() {
            0 => "no block has every cell",
            _ => "one block has every cell",
        };
        return Err(format!(
            "{whole}, and what differs by chance shows only where cells are repeated; {}",
            what_to_repeat(factors, by_cell)
        ));
    }
    let analysis = analyse(&design, values).map_err(|refusal| refusal.to_string())?;
    Ok((used, analysis))
}

/// What has to be measured for two whole blocks: another block, or the cells that blocks lack.
fn what_to_repeat(factors: &[Varied], by_cell: &ByCell) -> String {
    let blocks: BTreeSet<u32> = by_cell.values().flat_map(BTreeMap::keys).copied().collect();
    let lacking = |block: &u32| {
        let own = by_cell.iter().filter(|(_, values)| !values.contains_key(block));
        own.map(|(places, _)| label(factors, places)).collect::<Vec<_>>()
    };
    // Where the least is missing, the least has to be repeated.
    let mut lacks: Vec<(u32, Vec<String>)> = blocks.iter().map(|block| (*block, lacking(block))).collect();
    lacks.retain(|(_, cells)| !cells.is_empty());
    lacks.sort_by_key(|(_, cells)| cells.len());
    let wanted = 2usize.saturating_sub(blocks.len() - lacks.len());
    if lacks.len() < wanted {
        return "measure two blocks at least".into();
    }
    let told =
        lacks.iter().take(wanted).map(|(block, cells)| format!("block {block} lacks {}", listed(cells)));
    format!("{}: the same command measures what is missing", told.collect::<Vec<_>>().join(", "))
}

/// The first of `cells`, and how many more there are.
pub(crate) fn listed(cells: &[String]) -> String {
    match cells {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first, rest @ ..] => format!("{first} and {} more cells", rest.len()),
        [] => String::new(),
    }
}

/// `RAID 5, disks 8`
pub(crate) fn label(factors: &[Varied], places: &[u32]) -> String {
    let level = |(factor, place): (&Varied, &u32)| {
        let at = factor.places.iter().position(|own| own == place)?;
        Some(level_name(&factor.told.name, factor.told.levels.get(at)?))
    };
    factors.iter().zip(places).filter_map(level).collect::<Vec<_>>().join(", ")
}

/// The figure of each cell in each block.
type ByCell = BTreeMap<Vec<u32>, BTreeMap<u32, f64>>;

/// The geometric mean of the cells in which each of these factors is at that level.
fn mean_at(by_cell: &ByCell, factors: &[Varied], at: [(usize, usize); 2]) -> f64 {
    let is_at = |places: &[u32]| {
        at.iter().all(|(factor, level)| places.get(*factor) == factors[*factor].places.get(*level))
    };
    let own = by_cell.iter().filter(|(places, _)| is_at(places)).flat_map(|(_, blocks)| blocks.values());
    let logs: Vec<f64> = own.map(|value| value.ln()).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
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

/// The interval of the mean of a cell: by what all cells deviate from run to run, of which more is known than of one;
/// where that is not known, by its own runs.
fn interval(mean: f64, values: &[f64], noise: Option<&Analysis>) -> Option<Interval<f64>> {
    let Some(noise) = noise else { return Estimate::of_repeats(values).map(Estimate::interval) };
    let blocks = values.len() as f64;
    let within = Estimate::new(mean, noise.within.deviation.powi(2) / blocks, noise.within.freedom)?;
    let whole = match noise.whole_plots {
        Some(plots) => within.and(plots.deviation.powi(2) / blocks, plots.freedom),
        None => within,
    };
    Some(whole.interval())
}

fn cell_figure(
    factors: &[Varied],
    places: &[u32],
    blocks: &BTreeMap<u32, f64>,
    noise: Option<&Analysis>,
) -> CellFigure {
    let level = |(factor, place): (&Varied, &u32)| {
        let at = factor.places.iter().position(|own| own == place);
        at.map(|at| factor.told.levels[at].clone()).unwrap_or_default()
    };
    assert!(!blocks.is_empty(), "a cell is here for its values");
    let values: Vec<f64> = blocks.values().copied().collect();
    let logs = values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
    let interval = interval(logs.exp(), &values, noise);
    CellFigure {
        levels: factors.iter().zip(places).map(level).collect(),
        values,
        mean: logs.exp(),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};
    use record::{FactorLevel, Point};

    /// A run of a cell at 1,000 requests a second times `factor`.
    fn run(block: u32, raid: u32, disks: u32, factor: f64) -> Run {
        let stream = Stream {
            op: "read",
            size_bytes: 4096,
            per_s: units::convert::truncated(1000.0 * factor),
            median_ns: 100_000,
            spread: 0.2,
        };
        let mut run =
            sample::run("oltp", vec![sample::point(0, "8 KiB", vec![sample::workload("load", &[stream])])]);
        let level = |factor: &str, names: [&str; 2], place: u32| FactorLevel {
            factor: factor.into(),
            level: names[place as usize].into(),
            place,
            of: 2,
            hard: false,
        };
        run.cell = Some(CampaignCell {
            campaign: "levels".into(),
            key: "1a2b3c4d".into(),
            block,
            turn: 1,
            levels: vec![level("raid", ["5", "10"], raid), level("disks", ["4", "8"], disks)],
            claims: Vec::new(),
            proofs: Vec::new(),
        });
        run
    }

    /// RAID 10 is twice as fast; more disks change nothing; measurements deviate by some parts in a thousand.
    fn runs(blocks: u32) -> Vec<Run> {
        let noise = [1.0, 1.004, 0.997, 1.002, 0.999, 1.006, 0.995, 1.001, 1.003, 0.998, 1.005, 0.996];
        let mut noise = noise.iter().cycle();
        let mut runs = Vec::new();
        for block in 1..=blocks {
            for raid in 0..2 {
                for disks in 0..2 {
                    let factor = if raid == 1 { 2.0 } else { 1.0 };
                    runs.push(run(block, raid, disks, factor * noise.next().unwrap_or(&1.0)));
                }
            }
        }
        runs
    }

    #[test]
    fn the_figures_of_each_run_are_those_that_effects_count() {
        let runs = runs(1);
        let effects = effects(&runs);
        for figure in &effects.figures {
            let values: Vec<f64> = figure.cells.iter().flat_map(|cell| cell.values.clone()).collect();
            let own = |run: &Run| {
                let is_it = |one: &RunFigure| one.point == figure.point && one.metric.name() == figure.metric;
                figures(run).into_iter().find(is_it).map(|one| one.value)
            };
            assert_eq!(runs.iter().filter_map(own).collect::<Vec<_>>(), values, "{}", figure.metric);
        }
        assert!(!figures(&runs[0]).is_empty());
        assert_eq!(figures(&Run { cell: None, ..runs[0].clone() }), Vec::new());
    }

    fn of_rate(effects: &Effects) -> &FigureEffects {
        effects.figures.iter().find(|figure| figure.metric == "iops").expect("a rate was measured")
    }

    #[test]
    fn a_factor_that_doubles_the_rate_is_found_and_one_that_does_nothing_is_not() {
        let effects = effects(&runs(3));
        assert_eq!((effects.campaign.as_str(), effects.blocks), ("levels", 3));
        let names: Vec<&str> = effects.factors.iter().map(|factor| factor.name.as_str()).collect();
        assert_eq!(names, ["raid", "disks"]);
        let rate = of_rate(&effects);
        let told: Vec<(Vec<String>, bool)> =
            rate.effects.iter().map(|effect| (effect.factors.clone(), effect.found)).collect();
        let name = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            told,
            [(name(&["raid"]), true), (name(&["disks"]), false), (name(&["raid", "disks"]), false)]
        );
        let change = &rate.effects[0].changes[0];
        assert_eq!((change.levels.clone(), change.from.clone()), (name(&["10"]), name(&["5"])));
        assert!(change.low < 2.0 && 2.0 < change.high && change.high / change.low < 1.02, "{change:?}");
        assert_eq!(rate.whole_blocks, 3);
        assert!(rate.within.is_some_and(|deviation| (0.001..0.01).contains(&deviation)));
        assert!(rate.whole_plots.is_none() && rate.refused.is_none());
    }

    #[test]
    fn probabilities_are_raised_for_all_tests_of_the_campaign() {
        let effects = effects(&runs(3));
        // The rate and the 99th percentile, three effects each.
        assert_eq!(effects.tests, 6);
        let raid = &of_rate(&effects).effects[0];
        assert!((raid.adjusted - 6.0 * raid.p_value).abs() < 1e-12, "{raid:?}");
    }

    #[test]
    fn a_cell_has_its_mean_and_an_interval_once_it_is_repeated() {
        let effects = effects(&runs(3));
        let cells = &of_rate(&effects).cells;
        assert_eq!(cells.len(), 4);
        assert_eq!(cells[0].levels, ["5", "4"]);
        assert_eq!(cells[0].values.len(), 3);
        let product: f64 = cells[0].values.iter().product();
        assert!((cells[0].mean - product.cbrt()).abs() < 1e-6);
        assert!(cells[0].low < Some(cells[0].mean) && Some(cells[0].mean) < cells[0].high);
        let once = super::effects(&runs(1));
        assert_eq!((of_rate(&once).cells[0].low, of_rate(&once).cells[0].high), (None, None));
    }

    #[test]
    fn a_claim_is_held_against_the_cell_and_the_point_that_it_is_about() {
        let mut all = runs(2);
        for run in &mut all {
            let claim = |by: &str, point: &str| record::FigureClaim {
                by: by.into(),
                point: point.into(),
                metric: "iops".into(),
                value: 4000.0,
                case: None,
            };
            let cell = run.cell.as_mut().expect("each has one");
            if cell.places() == [1, 0] {
                cell.claims = vec![claim("vendor", "8 K"), claim("theory", ""), claim("nobody", "16 KiB")];
            }
        }
        let claims = effects(&all).claims;
        let by: Vec<(&str, &str)> = claims.iter().map(|one| (one.by.as_str(), one.point.as_str())).collect();
        assert_eq!(by, [("vendor", "8 KiB"), ("theory", "8 KiB")]);
        assert_eq!(claims[0].levels, ["10", "4"]);
        assert!((claims[0].measured / claims[0].claimed - 0.5).abs() < 0.01, "{:?}", claims[0]);
    }

    #[test]
    fn of_a_sweep_of_the_load_the_best_point_counts() {
        let mut all = runs(2);
        for run in &mut all {
            let peak = Point { ..run.points[0].clone() };
            let mut low = Point { name: "8 KiB, 1".into(), phase: "8 KiB, {depth}".into(), ..peak.clone() };
            low.swept.insert("depth".into(), "1".into());
            low.workloads[0].summary[0].ops_per_s.value /= 3.0;
            let mut high = Point { name: "8 KiB, 8".into(), phase: "8 KiB, {depth}".into(), ..peak };
            high.swept.insert("depth".into(), "8".into());
            run.points = vec![low, high];
        }
        let effects = effects(&all);
        assert_eq!(effects.figures.len(), 1, "{:?}", effects.figures);
        assert_eq!(effects.figures[0].point, "8 KiB, …, best of the sweep");
        assert_eq!(
            effects.figures[0].cells[0].values[0],
            of_rate(&super::effects(&runs(2))).cells[0].values[0]
        );
    }

    #[test]
    fn an_interaction_tells_the_step_of_the_one_factor_at_both_levels_of_the_other() {
        let mut all = runs(2);
        for run in &mut all {
            let doubled = run.cell.as_ref().is_some_and(|cell| cell.places() == [1, 1]);
            run.points[0].workloads[0].summary[0].ops_per_s.value *= if doubled { 3.0 } else { 1.0 };
        }
        let effects = effects(&all);
        let both = &of_rate(&effects).effects[2].changes[0];
        let [first, level] = both.steps.expect("it is of two factors");
        assert!((first - 1.0).abs() < 0.02 && (level - 3.0).abs() < 0.05, "{both:?}");
        assert!((both.ratio - level / first).abs() < 1e-9);
        assert_eq!(of_rate(&effects).effects[0].changes[0].steps, None);
    }

    #[test]
    fn without_replication_effects_are_refused() {
        let once = effects(&runs(1));
        let rate = of_rate(&once);
        assert!(rate.effects.is_empty() && rate.within.is_none());
        assert!(
            rate.refused.as_ref().is_some_and(|why| why.contains("measure two blocks at least")),
            "{rate:?}"
        );
        assert_eq!(once.tests, 0);
    }

    #[test]
    fn a_block_that_lacks_a_cell_does_not_count_and_a_cell_that_is_there_twice_counts_with_the_last() {
        let mut some = runs(3);
        some.pop();
        let lacking = effects(&some);
        assert_eq!((of_rate(&lacking).whole_blocks, of_rate(&lacking).cells[3].values.len()), (2, 2));
        let mut twice = runs(3);
        twice.push(run(1, 0, 0, 1.5));
        assert_eq!(of_rate(&effects(&twice)).cells[0].values[0], 1500.0);
        some.truncate(6);
        let told = effects(&some);
        let refused = of_rate(&told).refused.clone().unwrap_or_default();
        assert!(refused.starts_with("one block has every cell"), "{refused}");
    }

    #[test]
    fn a_factor_with_one_level_is_no_factor_and_runs_of_no_campaign_are_left_out() {
        let mut one_level: Vec<Run> = runs(2)
            .into_iter()
            .filter(|run| run.cell.as_ref().is_some_and(|cell| cell.levels[0].place == 0))
            .collect();
        one_level.push(Run { cell: None, ..run(1, 0, 0, 1.0) });
        let effects = effects(&one_level);
        let rate = of_rate(&effects);
        assert_eq!(rate.effects.len(), 1);
        assert_eq!(rate.effects[0].factors, ["disks"]);
        assert_eq!(super::effects(&[]).figures, []);
    }

    #[test]
    fn a_point_that_was_repeated_counts_with_its_geometric_mean_and_one_cut_short_not() {
        let mut all = runs(2);
        let again = Point { repeat: 2, ..run(1, 0, 0, 4.0).points[0].clone() };
        all[0].points.push(again);
        let value = of_rate(&effects(&all)).cells[0].values[0];
        assert!((value - 2000.0).abs() < 1.0, "{value}");
        // Of the cell there is nothing at all.
        let mut none = runs(2);
        for run in none.iter_mut().filter(|run| run.cell.as_ref().is_some_and(|cell| cell.places() == [0, 0]))
        {
            run.points.clear();
        }
        let refused = of_rate(&effects(&none)).refused.clone().unwrap_or_default();
        assert!(refused.starts_with("1 of 4 cells have no iops"), "{refused}");
        all[0].points.iter_mut().for_each(|point| point.complete = false);
        assert_eq!(of_rate(&effects(&all)).whole_blocks, 1);
    }
}
