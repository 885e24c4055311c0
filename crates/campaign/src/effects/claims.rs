//! What others said of cells, beside what was measured.

use record::{CampaignCell, Run};

use super::{FigureEffects, HeldClaim};

/// What is claimed of cells, each claim once.
pub(super) fn held(of: &[(&Run, &CampaignCell)], figures: &[FigureEffects]) -> Vec<HeldClaim> {
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
