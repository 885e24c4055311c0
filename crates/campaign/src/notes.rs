//! What is missing in a campaign, and what it cannot tell.

use std::collections::BTreeSet;

use record::{CampaignCell, Grade, Run, level_name};

use crate::effects::{FigureEffects, Varied, design, label, listed};

/// Sentences about cells that were not measured, levels that are not told apart, runs that are in doubt, and claims that
/// nothing was measured for.
pub(crate) fn notes(
    of: &[(&Run, &CampaignCell)],
    factors: &[Varied],
    figures: &[FigureEffects],
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(unmeasured(of, factors));
    notes.extend(unbalanced(of, factors));
    notes.extend(aliases(of, factors));
    notes.extend(doubts(of));
    notes.extend(unheld(of, figures));
    notes
}

/// How many cells are there, and which factors were at one level alone.
fn unmeasured(of: &[(&Run, &CampaignCell)], factors: &[Varied]) -> Vec<String> {
    let Some((_, first)) = of.first() else { return Vec::new() };
    let all = first.levels.iter().fold(1usize, |all, level| all.saturating_mul(level.of as usize));
    let cells: BTreeSet<Vec<u32>> = of.iter().map(|(_, cell)| cell.places()).collect();
    let mut notes = Vec::new();
    if cells.len() < all {
        notes.push(format!("{} of {all} cells were measured.", cells.len()));
    }
    for (factor, level) in factors.iter().zip(&first.levels) {
        let told = &factor.told;
        if told.levels.len() == 1 && level.of > 1 {
            let name = level_name(&told.name, &told.levels[0]);
            notes.push(format!(
                "{}: only {name} was measured, so that nothing is known of its effect.",
                told.name
            ));
        }
    }
    notes
}

/// Blocks that lack a cell: effects are of whole blocks, so that no cell weighs more than another.
fn unbalanced(of: &[(&Run, &CampaignCell)], factors: &[Varied]) -> Vec<String> {
    let blocks: BTreeSet<u32> = of.iter().map(|(_, cell)| cell.block).collect();
    let cells: BTreeSet<(&str, Vec<u32>)> =
        of.iter().map(|(run, cell)| (run.plan.name.as_str(), cell.places())).collect();
    let has = |block: u32, (plan, places): &(&str, Vec<u32>)| {
        of.iter().any(|(run, cell)| {
            run.ending.complete
                && (cell.block, run.plan.name.as_str()) == (block, *plan)
                && cell.places() == *places
        })
    };
    let lacking = |block: &u32| {
        let own = cells.iter().filter(|cell| !has(*block, cell));
        let mut labels: Vec<String> = own.map(|(_, places)| label(factors, places)).collect();
        labels.sort();
        labels.dedup();
        (*block, labels)
    };
    let lacks = blocks.iter().map(lacking).filter(|(_, cells)| !cells.is_empty());
    let told = lacks.map(|(block, cells)| {
        format!(
            "Block {block} lacks {} and does not count for effects; the same command measures what is missing.",
            listed(&cells)
        )
    });
    told.collect()
}

/// What cannot be told apart because a fraction of the cells was measured.
fn aliases(of: &[(&Run, &CampaignCell)], factors: &[Varied]) -> Vec<String> {
    let cells: BTreeSet<Vec<u32>> = of.iter().map(|(_, cell)| cell.places()).collect();
    let Ok((used, design)) = design(factors, cells.iter().map(Vec::as_slice)) else { return Vec::new() };
    let name = |term: stats::factorial::Term| {
        let names: Vec<&str> =
            term.factors().into_iter().map(|place| factors[used[place]].told.name.as_str()).collect();
        names.join(" × ")
    };
    let told = design.aliases().into_iter().map(|alias| {
        let others: Vec<String> = alias.with.iter().map(|other| name(*other)).collect();
        format!("{} cannot be told from {}.", name(alias.term), others.join(", "))
    });
    told.collect()
}

/// How far the figures of the runs can be relied on, and which checks say so.
fn doubts(of: &[(&Run, &CampaignCell)]) -> Option<String> {
    let graded = || of.iter().filter_map(|(run, _)| Some((*run, run.grading.as_ref()?)));
    let worst = graded().map(|(_, grading)| grading.grade).max().filter(|grade| *grade > Grade::B)?;
    let many = graded().filter(|(_, grading)| grading.grade == worst).count();
    let failed: BTreeSet<&str> = graded()
        .flat_map(|(_, grading)| &grading.checks)
        .filter(|check| check.outcome == record::Outcome::Failed)
        .map(|check| check.name.as_str())
        .collect();
    let why = match failed.is_empty() {
        true => String::new(),
        false => format!(" Failed checks: {}.", failed.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("{many} of {} runs have grade {worst}.{why}", of.len()))
}

/// Claims of points that nobody measured.
fn unheld(of: &[(&Run, &CampaignCell)], figures: &[FigureEffects]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for claim in of.iter().flat_map(|(_, cell)| &cell.claims) {
        let is_held = figures
            .iter()
            .any(|figure| figure.metric == claim.metric && figure.point.starts_with(&claim.point));
        let note = format!(
            "The claim of {} is about no figure: no point with a name that begins with `{}` has {}.",
            claim.by, claim.point, claim.metric
        );
        if !is_held && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}
