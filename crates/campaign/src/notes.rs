//! What is missing in a campaign, and what it cannot tell.

use std::collections::BTreeSet;

use record::{CampaignCell, CellLack, Grade, Run, level_name};
use stats::factorial::{Alias, Design, Term};

use crate::condition::conditions;
use crate::effects::{CheckedClaim, Varied, design, label, listed};
use crate::file::Claim;
use crate::misnamed::misnamed;
use crate::unfinished::Unfinished;

/// Sentences about cells that were not measured, levels that are not told apart, arrays that were not healthy, runs that are in
/// doubt, and claims that nothing was measured for.
pub(crate) fn notes(
    of: &[(&Run, &CampaignCell)],
    factors: &[Varied],
    claims: &[CheckedClaim],
    unfinished: Option<&Unfinished>,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(unfinished.map(Unfinished::to_string));
    notes.extend(unmeasured(of, factors));
    notes.extend(unbalanced(of, factors));
    notes.extend(aliases(of, factors));
    notes.extend(misnamed(of));
    notes.extend(conditions(of));
    notes.extend(doubts(of));
    notes.extend(unheld(of, claims));
    notes
}

/// That what is by chance is alike in the cells of a block, and how much `blocks` say of it.
pub(crate) fn shared_chance(blocks: usize) -> String {
    let few = match blocks {
        0..=2 => ": with 2 blocks the intervals are wide; measure more blocks",
        _ => "",
    };
    format!(
        "The runs of a block have the same seed, so that cells without a difference give the same figures: each effect is \
         estimated in each block, and its interval is from the differences between {blocks} blocks{few}."
    )
}

/// Figures that no run has: no effect is tested in them.
pub(crate) fn absent(figures: &[String]) -> Option<String> {
    let (shown, more) = figures.split_at(figures.len().min(NAMED));
    let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
    (!shown.is_empty()).then(|| {
        format!(
            "No run has {}{more}: too few requests, or none; no effect of it is tested. A longer `run` has more.",
            shown.join("; ")
        )
    })
}

/// Runs that do not count, together where they have the same reason.
pub(crate) fn lacks(lacking: &[(&Run, &CampaignCell)]) -> Vec<String> {
    let mut by_reason: Vec<(CellLack, Vec<String>)> = Vec::new();
    for (run, cell) in lacking {
        let Some(lack) = run.lack() else { continue };
        let named = format!("{}, block {}", cell.label(), cell.block);
        match by_reason.iter_mut().find(|(known, _)| *known == lack) {
            Some((_, own)) if own.contains(&named) => {}
            Some((_, own)) => own.push(named),
            None => by_reason.push((lack, vec![named])),
        }
    }
    let told = by_reason.into_iter().map(|(lack, named)| {
        let runs = if named.len() == 1 { "run" } else { "runs" };
        let more = named.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let shown = named[..named.len().min(NAMED)].join("; ");
        format!(
            "{} {runs} {} ({shown}{more}): {}.",
            named.len(),
            lack.kind.word(),
            lack.why.trim_end_matches('.')
        )
    });
    told.collect()
}

/// Runs of one reason that are named.
const NAMED: usize = 8;

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
    // A block that is under way lacks what is still to come, which goes without saying.
    let is_told = |(_, lacks): &(u32, Vec<String>)| !lacks.is_empty() && 2 * lacks.len() <= cells.len();
    let lacks = blocks.iter().map(lacking).filter(is_told);
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
    // Of cells that are still to come nothing is said: as long as they are, most is the same as something else.
    let asked = of.first().map_or(0, |(_, cell)| cell.runs / cell.blocks.max(1)) as usize;
    let turns: BTreeSet<_> = of.iter().map(|(run, cell)| (run.plan.name.as_str(), cell.places())).collect();
    if turns.len() < asked {
        return Vec::new();
    }
    let Ok((used, design)) = design(factors, cells.iter().map(Vec::as_slice)) else { return Vec::new() };
    let name = |term: Term| {
        let names: Vec<&str> =
            term.factors().into_iter().map(|place| factors[used[place]].told.name.as_str()).collect();
        names.join(" × ")
    };
    aliases_told(&design, name).into_iter().map(|told| told + ".").collect()
}

/// The confounded effects of `design`, a sentence for each group that one difference stands for.
pub fn aliases_told(design: &Design, name: impl Fn(Term) -> String) -> Vec<String> {
    let aliases = design.aliases();
    let group = |alias: &Alias| alias.with.iter().copied().chain([alias.term]).collect::<BTreeSet<Term>>();
    let groups: Vec<BTreeSet<Term>> = aliases.iter().map(group).collect();
    let has = |term: &Term, own: &BTreeSet<Term>| {
        aliases.iter().zip(&groups).any(|(other, group)| other.term == *term && group == own)
    };
    let listed = |terms: &[Term]| terms.iter().map(|term| name(*term)).collect::<Vec<_>>().join(", ");
    let mut told: Vec<String> = Vec::new();
    for (alias, own) in aliases.iter().zip(&groups) {
        let is_mutual = own.iter().all(|term| has(term, own));
        let sentence = match is_mutual {
            // Of two, either is told from the other.
            true if own.len() == 2 => {
                let two: Vec<String> = own.iter().map(|term| name(*term)).collect();
                format!("{} cannot be told from {}", two[0], two[1])
            }
            true => {
                format!("{} cannot be told from each other", listed(&Vec::from_iter(own.iter().copied())))
            }
            false => format!("{} cannot be told from {}", name(alias.term), listed(&alias.with)),
        };
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    told
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

/// Claims of points that no plan has, of plans whose points have these `titles`; each once.
pub fn claims_of_no_point(claims: &[Claim], titles: &BTreeSet<String>) -> Vec<String> {
    let is_held = |claim: &&Claim| titles.iter().any(|title| title.starts_with(&claim.point));
    let mut notes: Vec<String> = Vec::new();
    for claim in claims.iter().filter(|claim| !is_held(claim)) {
        let named: Vec<String> = titles.iter().take(TITLES).map(|title| format!("`{title}`")).collect();
        let more = if titles.len() > TITLES { ", …" } else { "" };
        let note = format!(
            "The claim of {} is about no figure: no point has a name that begins with `{}`; the plans have {}{more}.",
            claim.by,
            claim.point,
            named.join(", ")
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Names of points that a note lists at most.
const TITLES: usize = 6;

/// Claims of points that nobody measured.
fn unheld(of: &[(&Run, &CampaignCell)], held: &[CheckedClaim]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let claims = || of.iter().flat_map(|(run, cell)| cell.claims.iter().map(move |claim| (*run, claim)));
    for (_, claim) in claims() {
        // Theory has a claim for each mix, and some point is of one of them.
        let is_held = held.iter().any(|one| {
            (&one.by, &one.metric) == (&claim.by, &claim.metric) && one.point.starts_with(&claim.point)
        });
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
