//! Campaigns for the page: their cells, what is measured of them, and whether a text is one.
//!
//! **Invariant:** what comes from the page runs no command, asks nobody at a terminal and opens no file but targets:
//! plans and published figures are the program's own.

use std::collections::{BTreeMap, BTreeSet};

use campaign::{Campaign, Means, Turn, ready};
use record::{CampaignCell, Entry, Run};
use serde_json::{Value, json};
use units::Share;
use units::convert::narrow;
use web::{Answer, CampaignAsked, Refusal};
use workload::plan::{self, Overrides};

use super::desk::article;
use super::plans;
use crate::ending::Failure;
use crate::session::dry_run::Foreseen;
use crate::session::store::Store;
use crate::verbs::campaign::forecast;
use crate::verbs::campaign::kept::Kept;
use crate::verbs::campaign::subject::{Change, Subject, targets_of};
use crate::verbs::compare::CampaignRuns;

/// What errors call a text that came from the page.
const LABEL: &str = "campaign.toml";

/// The ready campaigns.
pub fn ready() -> Value {
    let about = |ready: &ready::Ready| {
        Campaign::parse(ready.name, ready.text).map(|campaign| campaign.about).unwrap_or_default()
    };
    let all = ready::all().iter().map(|ready| json!({ "name": ready.name, "about": about(ready) }));
    json!({ "campaigns": all.collect::<Vec<_>>() })
}

/// One of them with its text.
pub fn ready_one(name: &str) -> Answer {
    let ready = ready::find(name).ok_or_else(|| unknown(name))?;
    Ok(json!({ "name": name, "toml": ready.text }))
}

fn unknown(name: &str) -> Refusal {
    let near = ready::suggest(name).map(|near| format!("did you mean `{near}`?"));
    let help = near.unwrap_or_else(|| "GET /api/campaign/ready lists them".into());
    Refusal { status: 404, error: format!("there is no ready campaign `{name}`"), help: Some(help) }
}

/// The text of a campaign that is asked for, and what errors call it.
fn text(asked: &CampaignAsked) -> Result<(&str, &str), Refusal> {
    match (&asked.campaign, &asked.toml) {
        (Some(name), None) => Ok((name, ready::find(name).ok_or_else(|| unknown(name))?.text)),
        (None, Some(toml)) => Ok((LABEL, toml)),
        _ => Err(Refusal::parted(400, "a campaign has either `campaign` or `toml`; give one of them")),
    }
}

/// The campaign that is asked for; nothing is opened on a target.
fn subject(asked: &CampaignAsked, label: &str, text: &str) -> Result<Subject, Failure> {
    must_be_free(&Campaign::parse(label, text)?)?;
    let overrides = Overrides { set: asked.set.clone(), tags: Vec::new() };
    let targets = asked.on.list();
    let change = Change {
        targets: &targets,
        hosts: &[],
        overrides: &overrides,
        repeats: asked.repeats,
        fraction: asked.fraction,
    };
    Subject::of(label, text, &change)
}

/// That the page may start it.
fn must_be_free(campaign: &Campaign) -> Result<(), Failure> {
    let terminal = "start it in a terminal: fathom campaign FILE";
    for factor in &campaign.factors {
        let why = match &factor.means {
            _ if factor.check.is_some() => "`check` is a command, and the page runs none",
            Some(Means::Set(_)) => "`set` is a command, and the page runs none",
            Some(Means::Ask(_)) => "`ask` waits for a person at a terminal",
            _ => continue,
        };
        return Err(Failure::Usage(format!("factor `{}`: {why}; {terminal}", factor.name)));
    }
    for name in &campaign.plans {
        if plan::ready::find(name).is_none() {
            let near = plan::ready::suggest(name).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| format!("name a ready plan, or {terminal}"));
            return Err(Failure::Usage(format!("plan `{name}` is none of the ready plans; {help}")));
        }
    }
    match campaign.published.iter().find(|name| name.contains(".toml")) {
        Some(name) => {
            Err(Failure::Usage(format!("published = \"{name}\": the page opens no file; {terminal}")))
        }
        None => Ok(()),
    }
}

/// Whether an answer to somebody without the token opens nothing: targets, levels that are options of arrays, traces.
fn opens_nothing(subject: &Campaign, asked: &CampaignAsked, text: &str) -> bool {
    let is_file =
        |level: &String| level.contains(".toml") || level.contains('/') && level.parse::<Share>().is_err();
    let is_on = |name: &str| name == "on";
    let levels = subject.factors.iter().filter(|factor| !is_on(&factor.name)).flat_map(|own| &own.levels);
    let has_trace = |text: &str| text.to_lowercase().contains("trace");
    let on = asked.on.list();
    targets_of(subject).iter().chain(&on).all(|target| plans::is_free(target))
        && subject.factors.iter().all(|factor| !matches!(factor.means, Some(Means::Target(_))))
        && !levels.into_iter().any(is_file)
        && !asked.set.iter().any(|key| has_trace(key))
        && (asked.toml.is_none() || !has_trace(text))
}

/// Whether what is asked for is a campaign, and what it would do.
pub fn check(asked: &CampaignAsked, trusted: bool, store: &Store) -> Answer {
    let (label, text) = text(asked)?;
    let campaign = match Campaign::parse(label, text) {
        Ok(campaign) => campaign,
        Err(errors) => return Ok(plans::wrong(Failure::Document(errors), label)),
    };
    if !trusted && !opens_nothing(&campaign, asked, text) {
        return Err(plans::names_files("campaign"));
    }
    Ok(foreseen(asked, label, text, store).unwrap_or_else(|failure| plans::wrong(failure, label)))
}

fn foreseen(asked: &CampaignAsked, label: &str, text: &str, store: &Store) -> Result<Value, Failure> {
    let subject = subject(asked, label, text)?;
    let kept = Kept::of(&subject, store)?;
    let mut text = forecast::foreseen(&subject, &kept, usize::MAX)?;
    let mut refused = None;
    for request in first_on_each(&subject)? {
        let Foreseen { text: own, refused: why, .. } = plans::on_targets(&request.0, request.1)?;
        refused = refused.or(why);
        text += &format!("\nthe first run on it\n{own}");
    }
    let left = kept.left(&subject).len();
    debug_assert!(left <= subject.schedule().len(), "runs that are left are some of all");
    Ok(json!({
        "ok": true, "name": subject.campaign.name, "dry_run": text, "refused": refused, "cautions": [],
        "runs": subject.schedule().len(), "left": left, "real": is_real(&subject.campaign),
    }))
}

/// Whether storage can be written to.
fn is_real(campaign: &Campaign) -> bool {
    targets_of(campaign).iter().any(|target| target != "null:" && !target.starts_with("array:"))
}

/// The plan of the first run on each real target: whether that is safe, and what it writes.
fn first_on_each(subject: &Subject) -> Result<Vec<(plan::Plan, Vec<String>)>, Failure> {
    let mut firsts: Vec<(plan::Plan, Vec<String>)> = Vec::new();
    for turn in subject.schedule().iter().filter(|turn| turn.block == 1) {
        let request = subject.request(turn, &[])?;
        let is_known = firsts.iter().any(|(_, targets)| *targets == request.targets);
        if !is_known && !request.targets.iter().any(|target| target.starts_with("array:")) {
            firsts.push((request.planned.plan, request.targets));
        }
    }
    Ok(firsts)
}

/// The name of a campaign that can be carried out for the page.
pub fn name(asked: &CampaignAsked) -> Result<String, Refusal> {
    let (label, text) = text(asked)?;
    Ok(subject(asked, label, text).map_err(super::refusal)?.campaign.name)
}

/// The tag by which runs know their campaign.
const TAG: &str = "campaign";

/// Names of the campaigns that runs belong to.
pub fn names(entries: &[Entry]) -> BTreeSet<&str> {
    entries.iter().filter_map(|entry| entry.tags.get(TAG)).map(String::as_str).collect()
}

/// What the record of a run says of the campaign that it belongs to.
#[derive(Clone)]
pub struct Belongs {
    /// Of its file: campaigns of one name that have other files have other keys.
    pub key: String,
    /// How many runs it has; 0 where the record does not say.
    pub runs: u32,
}

/// Each with what the list of runs says of it, the one measured last first. `belongs` tells what the record of one says.
pub fn list(entries: &[Entry], belongs: &dyn Fn(&Entry) -> Option<Belongs>) -> Value {
    let mut all: Vec<(&str, Value)> =
        names(entries).into_iter().map(|name| summed(name, entries, belongs)).collect();
    all.sort_by(|one, other| other.0.cmp(one.0));
    let campaigns: Vec<Value> = all.into_iter().map(|(_, campaign)| campaign).collect();
    json!({ "campaigns": campaigns })
}

/// How runs end of cells that are void or skipped, at which a campaign was ended, and which failed.
const NOT_MEASURED: [u8; 3] = [1, 4, 5];

/// When the last run of a campaign was started, and what there is of it.
fn summed<'e>(
    name: &str,
    entries: &'e [Entry],
    belongs: &dyn Fn(&Entry) -> Option<Belongs>,
) -> (&'e str, Value) {
    let own: Vec<&Entry> =
        entries.iter().filter(|entry| entry.tags.get(TAG).is_some_and(|own| own == name)).collect();
    let is_published = |entry: &&&Entry| entry.tags.contains_key("published");
    let measured: Vec<(&Entry, Belongs)> = own
        .iter()
        .filter(|entry| !is_published(entry))
        .filter_map(|entry| Some((*entry, belongs(entry)?)))
        .collect();
    let newest = measured.iter().max_by_key(|(entry, _)| entry.number).map(|(_, belongs)| belongs.clone());
    // A file that measures something else is another campaign of the name.
    let is_of_it = |own: &Belongs| newest.as_ref().is_some_and(|newest| newest.key == own.key);
    let of_it = || measured.iter().filter(|(_, own)| is_of_it(own)).map(|(entry, _)| *entry);
    let runs_done = of_it().filter(|entry| entry.complete && entry.code == 0).count() as u64;
    let asked = newest.as_ref().map(|newest| newest.runs).filter(|runs| *runs > 0);
    let runs_done = asked.map_or(runs_done, |asked| runs_done.min(asked.into()));
    // What was not measured at its turn, as far as it has not been since.
    let is_lacking =
        |entry: &&Entry| NOT_MEASURED.contains(&entry.code) && (entry.complete || entry.points == 0);
    let lacking = of_it().filter(is_lacking).count() as u64;
    let lacking = asked.map_or(lacking, |asked| lacking.min(u64::from(asked) - runs_done));
    debug_assert!(measured.len() <= own.len(), "runs of turns are some of all");
    let times = || own.iter().map(|entry| entry.started.as_str());
    let latest = times().max().unwrap_or_default();
    let campaign = json!({
        "name": name, "runs_done": runs_done, "runs_planned": asked, "lacking": lacking,
        "started": times().min(), "latest": latest,
    });
    (latest, campaign)
}

/// A campaign with its cells: those to come as well where it is known how it was asked for, which else follow from the
/// levels that were measured.
pub fn one(name: &str, runs: CampaignRuns, asked: Option<&CampaignAsked>) -> Answer {
    let CampaignRuns { held, lacking } = runs;
    let subject = asked_as(name, asked);
    let of: Vec<(&Run, &CampaignCell, &str)> = held
        .iter()
        .chain(&lacking)
        .map(|run| (run, run.lack().map_or("done", |lack| lack.kind.word())))
        .filter_map(|(run, state)| Some((run, run.cell.as_ref()?, state)))
        .filter(|(_, cell, _)| !cell.is_published())
        .collect();
    let first = of.first().map(|(_, cell, _)| *cell);
    // A text that asks something else is of another campaign of this name.
    let subject = subject.filter(|subject| first.is_none_or(|cell| cell.key == subject.key));
    let (factors, plans, wanted) = match (&subject, first) {
        (Some(subject), _) => planned(subject),
        (None, Some(first)) => as_written(&of, first).unwrap_or_else(|| measured(&of, first)),
        // Of published figures alone there are no cells.
        (None, None) if !held.is_empty() => Default::default(),
        (None, None) => {
            let error = format!(
                "there is no run of a campaign `{name}`; the page Campaigns has those that there are (GET /api/campaigns)"
            );
            return Err(Refusal::parted(404, &error));
        }
    };
    let blocks = of.iter().map(|(_, cell, _)| cell.block.max(cell.blocks)).max().unwrap_or(1);
    let blocks = subject.as_ref().map_or(blocks, |subject| blocks.max(subject.campaign.repeats));
    let mut cells = Vec::new();
    for block in 1..=blocks {
        for levels in &wanted {
            for plan in &plans {
                let places: Vec<u32> = levels.iter().map(|(_, place, _)| *place).collect();
                let is_it = |run: &Run, cell: &CampaignCell| {
                    cell.block == block && cell.places() == places && run.plan.name == *plan
                };
                let found =
                    of.iter().find(|(run, cell, _)| is_it(run, cell)).map(|(run, _, state)| (*run, *state));
                cells.push(cell(plan, block, levels, found));
            }
        }
    }
    let told: Vec<Value> = factors
        .iter()
        .map(|(name, levels)| json!({ "name": name, "levels": levels.values().collect::<Vec<_>>() }))
        .collect();
    let mut campaign =
        json!({ "name": name, "factors": told, "plans": plans, "blocks": blocks, "cells": cells });
    let report = match held.is_empty() {
        true => empty(name),
        false => article(&writeup::evidence([held, lacking].concat(), None, None)),
    };
    if let (Value::Object(campaign), Value::Object(report)) = (&mut campaign, report) {
        campaign.extend(report);
    }
    Ok(campaign)
}

/// The campaign as it was started last, or the ready one of that name.
fn asked_as(name: &str, asked: Option<&CampaignAsked>) -> Option<Subject> {
    let ready = CampaignAsked { campaign: Some(name.into()), ..CampaignAsked::default() };
    let asked = asked.unwrap_or(&ready);
    let (label, text) = text(asked).ok()?;
    subject(asked, label, text).ok()
}

/// Levels by their places, the names of the plans, and the cells.
type Wanted = (Vec<(String, BTreeMap<u32, String>)>, Vec<String>, Vec<Vec<At>>);

/// All that a campaign asks for.
fn planned(subject: &Subject) -> Wanted {
    let Campaign { factors, .. } = &subject.campaign;
    let levels = |factor: &campaign::Factor| (0..).zip(factor.levels.iter().cloned()).collect();
    let named = factors.iter().map(|factor| (factor.name.clone(), levels(factor))).collect();
    let first = subject.schedule().into_iter().next();
    let name_of = |plan: usize| {
        let request = first.clone().and_then(|turn| subject.request(&Turn { plan, ..turn }, &[]).ok());
        request.map_or_else(|| subject.campaign.plans[plan].clone(), |request| request.planned.plan.name)
    };
    let plans = (0..subject.campaign.plans.len()).map(name_of).collect();
    let at = |(factor, place): (&campaign::Factor, &usize)| {
        (factor.name.clone(), narrow::<u32>(*place as u64), factor.levels[*place].clone())
    };
    let cells = subject.cells().iter().map(|cell| factors.iter().zip(cell).map(at).collect()).collect();
    (named, plans, cells)
}

/// All that the campaign's file asks for, which its records have; `None` where they do not. Nothing is opened.
fn as_written(of: &[(&Run, &CampaignCell, &str)], first: &CampaignCell) -> Option<Wanted> {
    let campaign = Campaign::parse(LABEL, &first.toml).ok()?;
    let levels = |factor: &campaign::Factor| (0..).zip(factor.levels.iter().cloned()).collect();
    let factors: Vec<(String, BTreeMap<u32, String>)> =
        campaign.factors.iter().map(|factor| (factor.name.clone(), levels(factor))).collect();
    let is_asked = first.levels.iter().map(|level| &level.factor).eq(factors.iter().map(|(name, _)| name));
    // A plan of which nothing ran is called as the file names it.
    let called = |plan: &String| {
        let own = of
            .iter()
            .find(|(run, ..)| run.plan.origin == *plan || run.plan.origin.ends_with(&format!("/{plan}")));
        own.map_or_else(|| plan.clone(), |(run, ..)| run.plan.name.clone())
    };
    let plans: Vec<String> = campaign.plans.iter().map(called).collect();
    let mut cells = every(&factors);
    let one_of = cells.len() * plans.len() * first.blocks as usize / (first.runs as usize).max(1);
    if one_of > 1 {
        // With a fraction of the cells only these are to come.
        let factor = |level: &record::FactorLevel| stats::factorial::Factor {
            levels: level.of as usize,
            hard: level.hard,
        };
        let design = stats::factorial::Design::fraction(first.levels.iter().map(factor).collect(), one_of)?;
        let chosen = design.cells();
        cells.retain(|cell| {
            chosen
                .iter()
                .any(|own| own.iter().zip(cell).all(|(level, (_, place, _))| *level == *place as usize))
        });
    }
    (is_asked && first.runs > 0).then_some((factors, plans, cells))
}

/// All combinations of what was measured.
fn measured(of: &[(&Run, &CampaignCell, &str)], first: &CampaignCell) -> Wanted {
    let factors: Vec<(String, BTreeMap<u32, String>)> = first
        .levels
        .iter()
        .enumerate()
        .map(|(index, level)| {
            let own = of.iter().filter_map(|(_, cell, _)| cell.levels.get(index));
            (level.factor.clone(), own.map(|level| (level.place, level.level.clone())).collect())
        })
        .collect();
    let plans: BTreeSet<String> = of.iter().map(|(run, ..)| run.plan.name.clone()).collect();
    let cells = every(&factors);
    (factors, plans.into_iter().collect(), cells)
}

/// In place of a report where no run counts.
fn empty(name: &str) -> Value {
    json!({ "title": name, "answer": "No run counts yet.", "html": "", "css": "" })
}

/// A factor, the place of its level and the level.
type At = (String, u32, String);

/// Every combination of levels.
fn every(factors: &[(String, BTreeMap<u32, String>)]) -> Vec<Vec<At>> {
    factors.iter().fold(vec![Vec::new()], |cells, (name, levels)| {
        let with = |cell: &Vec<At>| -> Vec<Vec<At>> {
            let level = |(place, level): (&u32, &String)| {
                [cell.as_slice(), &[(name.clone(), *place, level.clone())]].concat()
            };
            levels.iter().map(level).collect()
        };
        cells.iter().flat_map(with).collect()
    })
}

fn cell(plan: &str, block: u32, levels: &[At], found: Option<(&Run, &str)>) -> Value {
    let levels: BTreeMap<&str, &str> =
        levels.iter().map(|(name, _, level)| (name.as_str(), level.as_str())).collect();
    let figures: BTreeMap<String, Value> = found.map(|(run, _)| figures(run)).unwrap_or_default();
    let lack = found.and_then(|(run, _)| run.lack());
    json!({
        "plan": plan, "levels": levels, "block": block, "run": found.map(|(run, _)| &run.id),
        "state": found.map_or("missing", |(_, state)| state), "figures": figures,
        "why": lack.map(|lack| lack.why),
    })
}

/// What a run says, as effects count it.
fn figures(run: &Run) -> BTreeMap<String, Value> {
    let figure = |(place, own): (usize, campaign::RunFigure)| {
        let name = format!("{}, {}", own.point, own.metric.name());
        (name, json!({ "value": own.value, "unit": own.metric.unit(), "place": place }))
    };
    campaign::figures(run).into_iter().enumerate().map(figure).collect()
}
