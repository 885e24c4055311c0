//! How far a campaign is that is not finished.

use std::collections::BTreeSet;
use std::fmt;

use record::{CampaignCell, Run};
use serde::{Deserialize, Serialize};
use units::convert::narrow;

/// What there is of a campaign of which something is still to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Runs that were measured.
    pub measured: u32,
    /// Of how many.
    pub runs: u32,
    /// Blocks that have every cell of which there is a measurement at all: effects are of those.
    pub whole_blocks: u32,
    /// Of how many.
    pub blocks: u32,
    /// Cells of plans that no block has a measurement of: no effect is of them.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub cells_without: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Unfinished {
    /// Of the runs that count and those that do not; `None` where all is measured, and where the records do not say how much
    /// that is.
    pub(crate) fn of(counting: &[(&Run, &CampaignCell)], lacking: &[(&Run, &CampaignCell)]) -> Option<Self> {
        let all = || counting.iter().chain(lacking).map(|(_, cell)| *cell);
        let runs = all().map(|cell| cell.runs).max().filter(|runs| *runs > 0)?;
        let blocks = all().map(|cell| cell.blocks).max()?.max(1);
        let measured = turns(counting.iter().filter(|(run, _)| run.ending.complete));
        if measured.len() as u64 >= u64::from(runs) {
            return None;
        }
        let seen = of_any_block(&measured);
        let known = of_any_block(&turns(counting.iter().chain(lacking))).len() as u64;
        let is_whole = |block: &u32| measured.iter().filter(|turn| turn.0 == *block).count() == seen.len();
        let begun: BTreeSet<u32> = measured.iter().map(|turn| turn.0).collect();
        // As long as nothing is known of some cell, no block has every one.
        let whole = if known < u64::from(runs / blocks) {
            0
        } else {
            begun.iter().filter(|block| is_whole(block)).count()
        };
        let of_a_block = u64::from(runs / blocks);
        Some(Unfinished {
            cells_without: narrow::<u32>(of_a_block.saturating_sub(seen.len() as u64)),
            measured: narrow::<u32>(measured.len() as u64),
            runs,
            whole_blocks: narrow::<u32>(whole as u64),
            blocks,
        })
    }

    /// Why there are no effects yet: one block does not tell what differs by chance. `None` where there are two.
    pub fn too_few(&self) -> Option<String> {
        let Unfinished { whole_blocks, blocks, .. } = self;
        match whole_blocks {
            0 => Some(format!("none of {blocks} blocks has every cell yet, and effects need two")),
            1 if self.cells_without > 0 => {
                Some(format!("{}, 1 of {blocks} blocks has all others, and effects need two", self.without()))
            }
            1 => Some(format!("1 of {blocks} blocks has every cell, and effects need two")),
            _ => None,
        }
    }

    /// `2 cells have no run in any block`
    fn without(&self) -> String {
        match self.cells_without {
            1 => "1 cell has no run in any block".into(),
            many => format!("{many} cells have no run in any block"),
        }
    }
}

impl fmt::Display for Unfinished {
    /// `Not finished: 40 of 54 runs were measured; effects are of 2 of 3 blocks.`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfinished { measured, runs, whole_blocks, blocks, cells_without } = self;
        write!(f, "Not finished: {measured} of {runs} runs were measured; ")?;
        match self.too_few() {
            Some(why) => write!(f, "{why}."),
            None if *cells_without > 0 => {
                let others = (runs / blocks.max(&1)).saturating_sub(*cells_without);
                let of = match others {
                    1 => "one cell alone has no effects".into(),
                    _ => format!(
                        "effects are of the other {others} cells, in {whole_blocks} of {blocks} blocks"
                    ),
                };
                write!(f, "{}; {of}.", self.without())
            }
            None => write!(f, "effects are of {whole_blocks} of {blocks} blocks."),
        }
    }
}

/// A block, a plan, and the places of the levels of a cell.
type Turn<'r> = (u32, &'r str, Vec<u32>);

/// The same without their blocks.
fn of_any_block<'r>(turns: &BTreeSet<Turn<'r>>) -> BTreeSet<(&'r str, Vec<u32>)> {
    turns.iter().map(|(_, plan, places)| (*plan, places.clone())).collect()
}

fn turns<'r, 'a: 'r>(of: impl Iterator<Item = &'r (&'a Run, &'a CampaignCell)>) -> BTreeSet<Turn<'a>> {
    of.map(|(run, cell)| (cell.block, run.plan.name.as_str(), cell.places())).collect()
}
