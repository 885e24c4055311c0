//! Cells of a campaign at what its other factors were set to: what was measured at another setting is no repeat.
//!
//! **Invariant:** runs of no campaign have the empty setting, and so are compared as they always are.

use record::{CampaignCell, Run, level_name};

use super::Group;

/// What varies within sides besides what they are compared by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Strata {
    /// Factors that have several levels within a side.
    factors: Vec<String>,
    /// Whether a side has several plans.
    has_plans: bool,
}

impl Strata {
    /// Of the cells of campaigns in `groups`. A factor that has one level in each side is what sides are compared by, whatever
    /// that was called.
    pub fn of(groups: &[Group<'_>]) -> Strata {
        let mut strata = Strata::default();
        for group in groups {
            let cells = || group.runs.iter().filter_map(|run| Some((*run, run.cell.as_ref()?)));
            let Some((first_run, first)) = cells().next() else { continue };
            strata.has_plans |= cells().any(|(run, _)| run.plan.name != first_run.plan.name);
            for level in &first.levels {
                let varies = cells().any(|(_, cell)| level_of(cell, &level.factor) != Some(&level.level));
                if varies && !strata.factors.contains(&level.factor) {
                    strata.factors.push(level.factor.clone());
                }
            }
        }
        strata
    }

    /// What these were set to in `run`: `disks 8, firmware 3.88`; empty where nothing besides was varied.
    pub fn setting(&self, run: &Run) -> String {
        let Some(cell) = &run.cell else { return String::new() };
        let plan = self.has_plans.then(|| format!("plan {}", run.plan.name));
        let level = |factor: &String| Some(level_name(factor, level_of(cell, factor)?));
        plan.into_iter().chain(self.factors.iter().filter_map(level)).collect::<Vec<_>>().join(", ")
    }

    /// That figures are held against each other at the same setting; nothing where all of a side is one cell.
    pub fn note(&self, groups: &[Group<'_>]) -> Option<String> {
        let plan = self.has_plans.then(|| "plan".to_owned());
        let all: Vec<String> = plan.into_iter().chain(self.factors.iter().cloned()).collect();
        let campaign = groups.iter().flat_map(|group| &group.runs).find_map(|run| run.cell.as_ref())?;
        (!all.is_empty()).then(|| {
            format!(
                "Cells of a campaign are compared at the same {}; only their blocks count as repeats. For the effect over \
                 all cells: `fathom report campaign:{}`.",
                all.join(" and "),
                campaign.campaign
            )
        })
    }
}

fn level_of<'c>(cell: &'c CampaignCell, factor: &str) -> Option<&'c String> {
    cell.levels.iter().find(|level| level.factor == factor).map(|level| &level.level)
}
