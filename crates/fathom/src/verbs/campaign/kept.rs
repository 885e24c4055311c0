//! What a library has of a campaign, and which turns are left.

use std::collections::{BTreeMap, BTreeSet};

use campaign::{Turn, TurnKey};
use library::Filter;
use record::Run;

use super::subject::Subject;
use crate::ending::Failure;
use crate::session::store::Store;
use crate::terminal;

/// What a library has of a campaign.
pub struct Kept {
    /// Its runs that hold, of every turn the last.
    pub runs: Vec<Run>,
    /// The turns that they are.
    pub done: BTreeSet<TurnKey>,
    /// Of every other turn the last run that does not count, with its reason: not measured, void or failed.
    pub lacks: Vec<Run>,
    /// Runs of the same name of a file that asked something else.
    pub others: usize,
}

impl Kept {
    /// What `store` has of the campaign.
    pub fn of(subject: &Subject, store: &Store) -> Result<Kept, Failure> {
        let mut kept = Kept { runs: Vec::new(), done: BTreeSet::new(), lacks: Vec::new(), others: 0 };
        let mut lacking = BTreeMap::new();
        if !store.is_there()? {
            return Ok(kept);
        }
        let library = store.open()?;
        let tags = vec![("campaign".to_owned(), Some(subject.campaign.name.clone()))];
        // The newest first.
        for entry in library.list(&Filter { tags, ..Filter::default() })? {
            // What was cut short says nothing of its cell.
            if !entry.complete && entry.points > 0 {
                continue;
            }
            let run = library.get(entry.id.as_str())?;
            let Some(cell) = &run.cell else { continue };
            match subject.key_of(cell, &run.plan) {
                None => kept.others += 1,
                Some(key) if run.counts() => {
                    if kept.done.insert(key) {
                        kept.runs.push(run);
                    }
                }
                // It is measured again.
                Some(key) if run.lack().is_some() => drop(lacking.entry(key).or_insert(run)),
                Some(_) => {}
            }
        }
        kept.runs.reverse();
        debug_assert!(
            lacking.values().all(|run| !run.counts()),
            "a run that counts is kept, and is no reason for lacking one"
        );
        kept.lacks =
            lacking.into_iter().filter(|(key, _)| !kept.done.contains(key)).map(|(_, run)| run).collect();
        debug_assert!(kept.runs.len() <= kept.done.len(), "each cell of a block counts with one run");
        Ok(kept)
    }

    /// The turns that are left.
    pub fn left(&self, subject: &Subject) -> Vec<Turn> {
        let turns = subject.schedule().into_iter();
        turns.filter(|turn| !self.done.contains(&turn.key(&subject.campaign))).collect()
    }

    /// Runs of another campaign of the same name.
    pub fn say_others(&self) {
        if self.others > 0 {
            terminal::say_sentence(&format!(
                "{} runs in the library are of a campaign of this name whose file measures something else; they are ignored",
                self.others
            ));
        }
    }
}
