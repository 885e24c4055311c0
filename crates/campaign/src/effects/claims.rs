//! What others said of cells, beside what was measured.

use record::{CampaignCell, FigureClaim, Point, Run};

use super::measured::title;
use super::{FigureEffects, HeldClaim};

/// What is claimed of cells, each claim once.
pub(super) fn held(of: &[(&Run, &CampaignCell)], figures: &[FigureEffects]) -> Vec<HeldClaim> {
    let mut held: Vec<HeldClaim> = Vec::new();
    for (run, cell) in of {
        let levels: Vec<String> = cell.levels.iter().map(|level| level.level.clone()).collect();
        for claim in &cell.claims {
            let own = figures
                .iter()
                .filter(|figure| figure.metric == claim.metric && is_about(claim, &figure.point, run));
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

/// Whether `claim` is about the point `name` of `run`: it begins with what the claim names, and its requests are of the mix
/// that the claim is for.
pub(crate) fn is_about(claim: &FigureClaim, name: &str, run: &Run) -> bool {
    let is_of_mix = |reads: f64| {
        let mut own = run.points.iter().filter(|point| title(point) == name).peekable();
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
