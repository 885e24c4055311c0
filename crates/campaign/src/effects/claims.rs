//! What others said of cells, beside what was measured.

use record::{CampaignCell, FigureClaim, Metric, Point, PointKind, Run};
use stats::geometric_mean;

use super::measured::{measured, title};
use super::{CheckedClaim, FigureEffects};

/// What is claimed of cells, each claim once. A claim is held against any figure that a point has, whether effects are tested in it
/// or not.
pub(super) fn held(of: &[(&Run, &CampaignCell)], figures: &[FigureEffects]) -> Vec<CheckedClaim> {
    let mut held: Vec<CheckedClaim> = Vec::new();
    for (run, cell) in of {
        for claim in &cell.claims {
            let is_it = |figure: &&FigureEffects| {
                figure.metric == claim.metric && is_about(claim, &figure.point, run, cell)
            };
            let mut own: Vec<(&str, &str)> = figures
                .iter()
                .filter(is_it)
                .map(|figure| (figure.plan.as_str(), figure.point.as_str()))
                .collect();
            let titles = titles(run, cell, claim);
            if own.is_empty() {
                own.extend(titles.iter().map(|point| (run.plan.name.as_str(), point.as_str())));
            }
            for (plan, point) in own {
                let Some(measured) = mean(of, cell, figures, (plan, point), &claim.metric) else { continue };
                let one = CheckedClaim {
                    by: claim.by.clone(),
                    plan: plan.to_owned(),
                    point: point.to_owned(),
                    levels: levels_of(cell),
                    metric: claim.metric.clone(),
                    claimed: claim.value,
                    measured,
                };
                if !held.contains(&one) {
                    held.push(one);
                }
            }
        }
    }
    held
}

/// The points of `run` that `claim` is about, each title once.
fn titles(run: &Run, cell: &CampaignCell, claim: &FigureClaim) -> Vec<String> {
    let loads = run.points.iter().filter(|point| point.kind == PointKind::Load);
    let mut titles: Vec<String> =
        loads.map(|point| title(point, cell)).filter(|name| is_about(claim, name, run, cell)).collect();
    titles.dedup();
    titles
}

fn levels_of(cell: &CampaignCell) -> Vec<String> {
    cell.levels.iter().map(|level| level.level.clone()).collect()
}

/// A figure of a cell, over its blocks; `None` where the cell, or the point, has none.
fn mean(
    of: &[(&Run, &CampaignCell)],
    cell: &CampaignCell,
    figures: &[FigureEffects],
    (plan, point): (&str, &str),
    metric: &str,
) -> Option<f64> {
    let levels = levels_of(cell);
    let tested = figures
        .iter()
        .find(|one| (one.plan.as_str(), one.point.as_str(), one.metric.as_str()) == (plan, point, metric));
    if let Some(figure) = tested {
        return Some(figure.cells.iter().find(|cell| cell.levels == levels)?.mean);
    }
    let all = measured(of, plan, point, Metric::of(metric));
    let own: Vec<f64> = all.iter().filter(|one| levels_of(one.cell) == levels).map(|one| one.value).collect();
    geometric_mean(&own)
}

/// Whether `claim` is about the point `name` of `run`: it begins with what the claim names, and its requests are of the mix
/// that the claim is for.
fn is_about(claim: &FigureClaim, name: &str, run: &Run, cell: &CampaignCell) -> bool {
    let is_of_mix = |reads: f64| {
        let mut own = run.points.iter().filter(|point| title(point, cell) == name).peekable();
        own.peek().is_some() && own.all(|point| mix(point).is_some_and(|mix| (mix - reads).abs() < 1e-9))
    };
    name.starts_with(&claim.point) && claim.reads.is_none_or(is_of_mix)
}

/// The share of reads of a point; `None` where its workloads differ in it.
pub fn mix(point: &Point) -> Option<f64> {
    let mut mixes = point.workloads.iter().map(|workload| workload.spec.mix.reads.get());
    let first = mixes.next()?;
    mixes.all(|mix| (mix - first).abs() < 1e-9).then_some(first)
}
