//! In which order the cells are measured: blocks one after the other, each with every cell once; within a block whole
//! plots, in which the levels of hard factors stay; within a whole plot the runs, shuffled.
//!
//! What changes slowly, the weather or a file system that fills, then differs between blocks, and not between the cells
//! that are compared. Source: Montgomery, *Design and Analysis of Experiments*, chapter 14 (split-plot designs).

use std::collections::BTreeSet;

use record::CampaignCell;
use units::convert::narrow;
use workload::Streams;

use crate::Campaign;

/// A run of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, from 1.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// The level of each factor, by its place.
    pub levels: Vec<usize>,
    /// Which of the campaign's plans.
    pub plan: usize,
}

/// By which a run that was measured is found again, wherever the schedule has it: its block, its levels, its plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnKey {
    /// The block, from 1.
    pub block: u32,
    /// The levels by their names.
    pub levels: Vec<String>,
    /// The plan as the file names it.
    pub plan: String,
}

impl Turn {
    /// By which it is found again.
    pub fn key(&self, campaign: &Campaign) -> TurnKey {
        assert_eq!(self.levels.len(), campaign.factors.len(), "a turn has a level of each factor");
        TurnKey {
            block: self.block,
            levels: self.level_names(campaign).map(str::to_owned).collect(),
            plan: campaign.plans[self.plan].clone(),
        }
    }

    /// Its levels by their names, in the order of the factors.
    pub fn level_names<'c>(&self, campaign: &'c Campaign) -> impl Iterator<Item = &'c str> {
        let names = |(factor, level): (&'c crate::Factor, &usize)| factor.levels[*level].as_str();
        let levels: Vec<&str> = campaign.factors.iter().zip(&self.levels).map(names).collect();
        levels.into_iter()
    }
}

impl TurnKey {
    /// That of a run whose record says `cell` and which carried out `plan`.
    pub fn of(cell: &CampaignCell, plan: &str) -> TurnKey {
        let levels = cell.levels.iter().map(|level| level.level.clone()).collect();
        TurnKey { block: cell.block, levels, plan: plan.to_owned() }
    }
}

/// Every combination of levels, the last factor changing fastest.
pub fn every_cell(campaign: &Campaign) -> Vec<Vec<usize>> {
    let mut cells = vec![Vec::new()];
    for factor in &campaign.factors {
        let with = |cell: &Vec<usize>| {
            let cell = cell.clone();
            (0..factor.levels.len()).map(move |level| [cell.clone(), vec![level]].concat())
        };
        cells = cells.iter().flat_map(with).collect();
    }
    debug_assert_eq!(
        cells.len(),
        campaign.factors.iter().map(|factor| factor.levels.len()).product::<usize>(),
        "every combination is there"
    );
    cells
}

/// The runs of `cells` in their order. `hard` says of each factor whether it is hard to change.
pub fn schedule(campaign: &Campaign, cells: &[Vec<usize>], hard: &[bool]) -> Vec<Turn> {
    assert_eq!(hard.len(), campaign.factors.len(), "each factor is hard or easy to change");
    let streams = Streams::new(campaign.seed);
    let whole_plot = |cell: &[usize]| -> Vec<usize> {
        cell.iter().zip(hard).filter(|(_, hard)| **hard).map(|(level, _)| *level).collect()
    };
    let mut turns = Vec::with_capacity(cells.len() * campaign.plans.len());
    for block in 1..=campaign.repeats {
        let plots: BTreeSet<Vec<usize>> = cells.iter().map(|cell| whole_plot(cell)).collect();
        let mut plots: Vec<Vec<usize>> = plots.into_iter().collect();
        plots.sort_by_cached_key(|plot| streams.key(&format!("campaign/{block}/plot/{plot:?}")));
        for plot in plots {
            let own = cells.iter().filter(|cell| whole_plot(cell) == plot);
            let mut runs: Vec<(&Vec<usize>, usize)> =
                own.flat_map(|cell| (0..campaign.plans.len()).map(move |plan| (cell, plan))).collect();
            runs.sort_by_cached_key(|(cell, plan)| {
                streams.key(&format!("campaign/{block}/run/{cell:?}/{plan}"))
            });
            for (cell, plan) in runs {
                debug_assert!(plan < campaign.plans.len(), "a plan of the campaign");
                let number = narrow::<u32>(turns.len() as u64 + 1);
                turns.push(Turn { number, block, levels: cell.clone(), plan });
            }
        }
    }
    debug_assert_eq!(
        turns.len() as u64,
        cells.len() as u64 * campaign.plans.len() as u64 * u64::from(campaign.repeats),
        "every cell has its turn with every plan in every block"
    );
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(text: &str) -> Campaign {
        Campaign::parse("file", text).unwrap_or_else(|errors| panic!("{}", errors.plain()))
    }

    const FILE: &str = "name = \"x\"\nplans = [\"a\", \"b\"]\nrepeats = 4\n[factors]\nfirmware = [1, 2, 3]\nraid = [5, 10]\n";

    fn turns(text: &str, hard: &[bool]) -> (Campaign, Vec<Turn>) {
        let campaign = campaign(text);
        let turns = schedule(&campaign, &every_cell(&campaign), hard);
        (campaign, turns)
    }

    #[test]
    fn every_block_has_every_cell_once_with_every_plan() {
        let (campaign, turns) = turns(FILE, &[true, false]);
        assert_eq!(turns.len(), 4 * 6 * 2);
        let keys: BTreeSet<TurnKey> = turns.iter().map(|turn| turn.key(&campaign)).collect();
        assert_eq!(keys.len(), turns.len());
        for (index, block) in turns.chunks(12).enumerate() {
            assert!(block.iter().all(|turn| turn.block as usize == index + 1));
        }
        let numbers: Vec<u32> = turns.iter().map(|turn| turn.number).collect();
        assert_eq!(numbers, (1..=48).collect::<Vec<u32>>());
    }

    #[test]
    fn a_hard_factor_is_set_once_in_a_block_and_an_easy_one_varies_within() {
        let (_, turns) = turns(FILE, &[true, false]);
        for block in turns.chunks(12) {
            let firmware: Vec<usize> = block.iter().map(|turn| turn.levels[0]).collect();
            assert!(
                firmware.chunks(4).all(|plot| plot.iter().all(|level| *level == plot[0])),
                "{firmware:?}"
            );
            let changes = block.windows(2).filter(|two| two[0].levels[1] != two[1].levels[1]).count();
            assert!(changes > 2, "raid is shuffled: {changes}");
        }
    }

    #[test]
    fn blocks_have_orders_of_their_own_and_the_seed_decides() {
        let (_, first) = turns(FILE, &[false, false]);
        let order = |turns: &[Turn], block: usize| -> Vec<(Vec<usize>, usize)> {
            turns[block * 12..][..12].iter().map(|turn| (turn.levels.clone(), turn.plan)).collect()
        };
        assert_ne!(order(&first, 0), order(&first, 1));
        assert_eq!(turns(FILE, &[false, false]).1, first);
        let other = FILE.replace("repeats", "seed = 2\nrepeats");
        assert_ne!(turns(&other, &[false, false]).1, first);
        // More blocks leave those that are measured already as they are.
        let more = FILE.replace("repeats = 4", "repeats = 5");
        assert_eq!(turns(&more, &[false, false]).1[..48], first[..]);
    }

    #[test]
    fn without_factors_there_is_one_cell() {
        let campaign = campaign("name = \"x\"\nplans = \"a\"\nrepeats = 2");
        assert_eq!(every_cell(&campaign), [Vec::<usize>::new()]);
        assert_eq!(schedule(&campaign, &every_cell(&campaign), &[]).len(), 2);
    }
}
