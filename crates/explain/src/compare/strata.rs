//! Cells of a campaign at what its other factors were set to, and runs at what they asked for: what was measured at another
//! setting or of another load is no repeat.
//!
//! **Invariant:** where the runs of each side asked for the same, the setting is that of campaigns alone, and of no campaign
//! empty.

use std::collections::BTreeMap;

use record::{CampaignCell, Point, PointKind, Run, level_name};

use super::Group;

/// Keys and their texts.
type Texts = BTreeMap<String, String>;

/// What varies within sides besides what they are compared by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Strata {
    /// Factors that have several levels within a side.
    factors: Vec<String>,
    /// Whether a side has several plans.
    has_plans: bool,
    /// Keys of loads that have several values within a side, at one point of a plan.
    loads: Vec<String>,
}

impl Strata {
    /// Of the cells of campaigns in `groups`. A factor that has one level in each side is what sides are compared by, whatever
    /// that was called.
    pub fn of(groups: &[Group<'_>]) -> Strata {
        let mut strata = Strata::default();
        for group in groups {
            strata.add_loads(group);
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

    /// Notes the keys of loads in which runs of `group` differ at the same point.
    fn add_loads(&mut self, group: &Group<'_>) {
        let mut first: BTreeMap<(&str, &Texts), Texts> = BTreeMap::new();
        let runs = group.runs.iter().filter(|run| run.cell.is_none() && run.search.is_none());
        for point in runs.flat_map(|run| &run.points).filter(|point| point.kind == PointKind::Load) {
            let asked = point.asked();
            let known = first.entry((&point.phase, &point.swept)).or_insert_with(|| asked.clone());
            let differs = |key: &&String| known.get(*key) != asked.get(*key);
            for key in known.keys().chain(asked.keys()).filter(differs) {
                if !self.loads.contains(key) {
                    self.loads.push(key.clone());
                }
            }
        }
    }

    /// The values at `point` of `run` of all that varies within sides: `disks 8, firmware 3.88`, `depth 32`; empty where nothing
    /// besides was varied.
    pub fn setting(&self, run: &Run, point: &Point) -> String {
        let asked = if self.loads.is_empty() { BTreeMap::new() } else { point.asked() };
        let load = |key: &String| Some(format!("{key} {}", asked.get(key)?));
        let loads = self.loads.iter().filter_map(load);
        std::iter::once(self.of_cell(run))
            .filter(|setting| !setting.is_empty())
            .chain(loads)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn of_cell(&self, run: &Run) -> String {
        let Some(cell) = &run.cell else { return String::new() };
        let plan = self.has_plans.then(|| format!("plan {}", run.plan.name));
        let level = |factor: &String| Some(level_name(factor, level_of(cell, factor)?));
        plan.into_iter().chain(self.factors.iter().filter_map(level)).collect::<Vec<_>>().join(", ")
    }

    /// That runs of a side asked for different loads, and of what; nothing where all asked for the same.
    pub fn note_of_loads(&self) -> Option<String> {
        (!self.loads.is_empty()).then(|| {
            let keys = self.loads.join(", ");
            format!(
                "Runs of one side differ in load ({keys}) and are no repeats of each other: figures are compared at the same \
                 {keys}."
            )
        })
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
