//! Campaigns for the page: their cells, and what is measured of them.

use std::collections::{BTreeMap, BTreeSet};

use record::{CampaignCell, Entry, Run};
use serde_json::{Value, json};
use web::{Answer, Refusal};

use super::desk::article;
use crate::verbs::compare::CampaignRuns;

/// The label by which runs know their campaign.
const LABEL: &str = "campaign";

/// Names of the campaigns that runs belong to.
pub fn names(entries: &[Entry]) -> BTreeSet<&str> {
    entries.iter().filter_map(|entry| entry.tags.get(LABEL)).map(String::as_str).collect()
}

/// Each with what the list of runs says of it, the one measured last first.
pub fn list(entries: &[Entry]) -> Value {
    let mut all: Vec<(&str, Value)> = names(entries).into_iter().map(|name| summed(name, entries)).collect();
    all.sort_by(|one, other| other.0.cmp(one.0));
    let campaigns: Vec<Value> = all.into_iter().map(|(_, campaign)| campaign).collect();
    json!({ "campaigns": campaigns })
}

/// When the last run of a campaign was started, and what there is of it.
fn summed<'e>(name: &str, entries: &'e [Entry]) -> (&'e str, Value) {
    let own: Vec<&Entry> =
        entries.iter().filter(|entry| entry.tags.get(LABEL).is_some_and(|own| own == name)).collect();
    // The levels of a cell are labels too.
    let done: BTreeSet<_> = own
        .iter()
        .filter(|entry| entry.complete && entry.code == 0)
        .map(|entry| (&entry.plan, &entry.tags, &entry.targets))
        .collect();
    let times = || own.iter().map(|entry| entry.started.as_str());
    let latest = times().max().unwrap_or_default();
    let campaign = json!({
        "name": name, "runs": own.len(), "cells_done": done.len(), "started": times().min(), "latest": latest,
    });
    (latest, campaign)
}

/// A campaign with its cells. Those that are missing follow from the levels that were measured.
pub fn one(name: &str, runs: CampaignRuns) -> Answer {
    let CampaignRuns { held, void } = runs;
    let of: Vec<(&Run, &CampaignCell, &str)> = held
        .iter()
        .map(|run| (run, "done"))
        .chain(void.iter().map(|run| (run, "void")))
        .filter_map(|(run, state)| Some((run, run.cell.as_ref()?, state)))
        .collect();
    let Some((_, first, _)) = of.first() else {
        let error = format!("there is no run of a campaign `{name}`; GET /api/campaigns lists them");
        return Err(Refusal::parted(404, &error));
    };
    let factors: Vec<(&str, BTreeMap<u32, &str>)> = first
        .levels
        .iter()
        .enumerate()
        .map(|(index, level)| {
            let own = of.iter().filter_map(|(_, cell, _)| cell.levels.get(index));
            (level.factor.as_str(), own.map(|level| (level.place, level.level.as_str())).collect())
        })
        .collect();
    let plans: BTreeSet<&str> = of.iter().map(|(run, ..)| run.plan.name.as_str()).collect();
    let blocks = of.iter().map(|(_, cell, _)| cell.block).max().unwrap_or(1);
    let mut cells = Vec::new();
    for block in 1..=blocks {
        for levels in every(&factors) {
            for plan in &plans {
                let places: Vec<u32> = levels.iter().map(|(_, place, _)| *place).collect();
                let is_it = |run: &Run, cell: &CampaignCell| {
                    cell.block == block && cell.places() == places && run.plan.name == *plan
                };
                let found =
                    of.iter().find(|(run, cell, _)| is_it(run, cell)).map(|(run, _, state)| (*run, *state));
                cells.push(cell(plan, block, &levels, found));
            }
        }
    }
    let told: Vec<Value> = factors
        .iter()
        .map(|(name, levels)| json!({ "name": name, "levels": levels.values().collect::<Vec<_>>() }))
        .collect();
    let mut campaign =
        json!({ "name": name, "factors": told, "plans": plans, "blocks": blocks, "cells": cells });
    let report = if held.is_empty() { empty(name) } else { article(&writeup::evidence(held, None, None)) };
    if let (Value::Object(campaign), Value::Object(report)) = (&mut campaign, report) {
        campaign.extend(report);
    }
    Ok(campaign)
}

/// In place of a report where no run counts.
fn empty(name: &str) -> Value {
    json!({ "title": name, "answer": "No run counts yet.", "html": "", "css": "" })
}

/// A factor, the place of its level and the level.
type At<'f> = (&'f str, u32, &'f str);

/// Every combination of levels.
fn every<'f>(factors: &[(&'f str, BTreeMap<u32, &'f str>)]) -> Vec<Vec<At<'f>>> {
    factors.iter().fold(vec![Vec::new()], |cells, (name, levels)| {
        let with = |cell: &Vec<At<'f>>| -> Vec<Vec<At<'f>>> {
            levels
                .iter()
                .map(|(place, level)| [cell.as_slice(), &[(*name, *place, *level)]].concat())
                .collect()
        };
        cells.iter().flat_map(with).collect()
    })
}

fn cell(plan: &str, block: u32, levels: &[At<'_>], found: Option<(&Run, &str)>) -> Value {
    let levels: BTreeMap<&str, &str> = levels.iter().map(|(name, _, level)| (*name, *level)).collect();
    let figures: BTreeMap<String, Value> = found.map(|(run, _)| figures(run)).unwrap_or_default();
    let unproven = found.and_then(|(run, _)| run.cell.as_ref()?.unproven());
    json!({
        "plan": plan, "levels": levels, "block": block, "run": found.map(|(run, _)| &run.id),
        "state": found.map_or("missing", |(_, state)| state), "figures": figures,
        "why": unproven.map(|proof| format!("{} is {}, expected {}", proof.factor, proof.found, proof.expected)),
    })
}

/// What a run says, as effects count it.
fn figures(run: &Run) -> BTreeMap<String, Value> {
    let figure = |own: campaign::RunFigure| {
        let name = format!("{}, {}", own.point, own.metric.name());
        (name, json!({ "value": own.value, "unit": own.metric.unit() }))
    };
    campaign::figures(run).into_iter().map(figure).collect()
}
