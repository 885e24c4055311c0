//! Which part became slower since the baseline, by a model of the array that is measured.

use array::spec;
use explain::compare::{Shift, Suspicion, as_changed, culprit, likely, modelled, shifts};
use modelled::suspects::{Study, StudyResult, Suspect};
use record::judgement::Culprit;
use record::{Point, Run, Setting};
use workload::plan::Plan;

use crate::ending::Failure;
use crate::input::arrays::{self, LIBRARY};
use crate::session::signals::Signals;
use crate::terminal;
use crate::verbs::fit;

/// Requests of each load on the model: enough for its 99th percentile.
const REQUESTS: u32 = 5_000;

/// As many changes are tried again with more seeds.
const TRIED_AGAIN: usize = 5;

/// That `model` is a virtual array.
pub fn check(model: &str) -> Result<(), Failure> {
    match arrays::address(&[model.to_owned()])? {
        Some(address) => spec::array(&LIBRARY, address).map(drop).map_err(Failure::Plan),
        None => Err(Failure::Usage(format!(
            "model = \"{model}\": a model is a virtual array, such as `array:md3000?raid=5`"
        ))),
    }
}

/// The part of `model` with whose change the points of the plan change as from `base` to `runs`, repeats of each other;
/// unknown where there is none, and where the model cannot carry out the plan.
///
/// `settings` is what differs between the two: where it has an option of a part, the part's change names that option.
pub fn named(model: &str, base: &[&Run], runs: &[&Run], settings: &[Setting]) -> Culprit {
    let unknown =
        |why: String| Culprit { model: model.into(), part: None, why, figures: 0, suspects: Vec::new() };
    let Some(like) = runs.first() else { return unknown("nothing was measured".into()) };
    let plan = match fit::plan_of(like) {
        Ok(plan) => plan,
        Err(why) => return unknown(why),
    };
    if let Some(point) = planned_otherwise(base, runs) {
        return unknown(format!(
            "the plan differs at {point}, and a slower part shows between runs of one plan"
        ));
    }
    terminal::say_sentence(&format!("slower than the baseline; simulating {model} to find the slower part"));
    let measured = shifts(base, runs);
    if let Some(found) = only_change(model, (base, runs), &plan, settings, &measured) {
        return found;
    }
    let again = |found: &StudyResult| {
        let (suspects, all): (Vec<Suspect>, Vec<Suspicion>) =
            suspicions(like, found, settings).into_iter().unzip();
        let chosen = likely(&measured, &all, TRIED_AGAIN).into_iter();
        chosen.filter_map(|(at, times)| Some((*suspects.get(at)?, times))).collect()
    };
    let machine = real::this_machine();
    let study = Study::open(&plan, (model, &LIBRARY), REQUESTS, &machine, &Signals.stop());
    match study.map(|study| study?.search(again)) {
        Ok(Some(found)) => {
            let tried = suspicions(like, &found, settings);
            let all: Vec<Suspicion> = tried.iter().map(|(_, one)| one.clone()).collect();
            settled(culprit(model, &measured, &all), &tried, settings)
        }
        Ok(None) => unknown(format!("{model} does not run the plan, or was interrupted")),
        Err(error) => unknown(error.to_string()),
    }
}

/// As many seeds of what the records say was changed are tried.
const SEEDS: u32 = 3;

/// The one option of the array, or the states that it was brought into, of which the records of both sides differ, where the model with
/// that change alone changes as what was measured did.
fn only_change(
    model: &str,
    (base, runs): (&[&Run], &[&Run]),
    plan: &Plan,
    settings: &[Setting],
    measured: &[Shift],
) -> Option<Culprit> {
    let is_of_array = |setting: &&Setting| setting.option().is_some() || setting.key == STATES;
    let changed: Vec<&Setting> = settings.iter().filter(is_of_array).collect();
    let [only] = changed.as_slice() else { return None };
    let (like, before) = (runs.first()?, fit::plan_of(base.first()?).ok()?);
    let [old, new] = only.values.as_slice() else { return None };
    let with = |value: &Option<String>| match only.option() {
        Some(option) => with_option(model, option, value.as_deref()),
        None => model.to_owned(),
    };
    let machine = real::this_machine();
    let points = |plan: &Plan, address: &str| -> Option<Vec<Vec<Point>>> {
        let study = Study::open(plan, (address, &LIBRARY), REQUESTS, &machine, &Signals.stop()).ok()??;
        (0..SEEDS).map(|seed| study.points(None, seed)).collect()
    };
    let (unchanged, after) = (points(&before, &with(old))?, points(plan, &with(new))?);
    let shifts = modelled(like, &unchanged, &[&after]).pop()?;
    let part = only.option().unwrap_or("state of the array");
    as_changed(model, measured, part, &only.told(), shifts)
}

/// As a comparison calls what the array was brought into.
const STATES: &str = "states";

/// `address` with `option` at `value`, or without it.
fn with_option(address: &str, option: &str, value: Option<&str>) -> String {
    let (array, options) = address.split_once('?').unwrap_or((address, ""));
    let is_other = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some(option);
    let mut all: Vec<String> = options.split('&').filter(is_other).map(str::to_owned).collect();
    all.extend(value.map(|value| format!("{option}={value}")));
    if all.is_empty() { array.to_owned() } else { format!("{array}?{}", all.join("&")) }
}

/// The first point of both sides whose workloads are not the same on both, but for their seeds.
fn planned_otherwise(base: &[&Run], runs: &[&Run]) -> Option<String> {
    let asked = |point: &Point| -> Vec<_> {
        let texts = point.workloads.iter().flat_map(|one| one.spec.texts());
        texts.filter(|(key, _)| *key != "seed").collect()
    };
    let point_of = |runs: &[&Run], name: &str| -> Option<Vec<_>> {
        runs.iter().flat_map(|run| &run.points).find(|point| point.plain_name() == name).map(asked)
    };
    let differs =
        |point: &&Point| point_of(base, point.plain_name()).is_some_and(|before| before != asked(point));
    runs.iter().flat_map(|run| &run.points).find(differs).map(|point| point.name.clone())
}

/// `found`, unless it names a part of which no figure differs (`link.rate`) where those of others do: no trial changes these. An
/// option of an array's own (`write_cache`) may be of any part.
fn settled(found: Culprit, all: &[(Suspect, Suspicion)], settings: &[Setting]) -> Culprit {
    let changed: Vec<&Setting> = settings.iter().filter(|setting| setting.option().is_some()).collect();
    let is_of = |part: &str, setting: &&Setting| {
        let option = setting.option().unwrap_or_default();
        all.iter().any(|(suspect, one)| one.part == part && suspect.is_set_by(option))
    };
    match &found.part {
        Some(part)
            if !changed.is_empty()
                && changed
                    .iter()
                    .all(|setting| setting.option().is_some_and(|option| option.contains('.')))
                && !changed.iter().any(|setting| is_of(part, setting)) =>
        {
            let named = |setting: &&Setting| Some(format!("{} ({})", setting.option()?, setting.told()));
            let told: Vec<String> = changed.iter().filter_map(named).collect();
            let is_tried = changed.iter().any(|setting| {
                all.iter().any(|(suspect, _)| suspect.is_set_by(setting.option().unwrap_or_default()))
            });
            let but = if is_tried {
                "with which the model does not fit"
            } else {
                "which no trial changes by itself"
            };
            let why =
                format!("the pattern fits {part}, but what was changed is {}, {but}", told.join(" and "));
            Culprit { part: None, why, ..found }
        }
        _ => found,
    }
}

/// Each suspect with what it does to the figures of the model. Those with an option in `settings` come first.
fn suspicions(like: &Run, found: &StudyResult, settings: &[Setting]) -> Vec<(Suspect, Suspicion)> {
    let each = found.each(|unchanged, changed| modelled(like, unchanged, changed)).into_iter();
    let mut all: Vec<(Suspect, Suspicion)> = each
        .map(|(suspect, tried)| {
            let change =
                format!("{}{}", suspect.change(), set_otherwise(suspect, settings).unwrap_or_default());
            (suspect, Suspicion { part: suspect.part().into(), change, tried })
        })
        .collect();
    all.sort_by_key(|(suspect, _)| set_otherwise(*suspect, settings).is_none());
    all
}

/// ` (link.rate was changed: 290MB/s → 145MB/s)`: the option of the part `suspect` of which sides differ.
fn set_otherwise(suspect: Suspect, settings: &[Setting]) -> Option<String> {
    let of_part = |setting: &&Setting| setting.option().is_some_and(|option| suspect.is_set_by(option));
    let setting = settings.iter().find(of_part)?;
    Some(format!(" ({} was changed: {})", setting.option()?, setting.told()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use array::sim::Resource;

    #[test]
    fn no_part_is_named_whose_figures_are_the_same_where_those_of_another_differ() {
        let named = |part: &str| Culprit {
            model: "array:md3000".into(),
            part: Some(part.into()),
            why: String::new(),
            figures: 4,
            suspects: Vec::new(),
        };
        let suspect = |one: Suspect| {
            (one, Suspicion { part: one.part().into(), change: String::new(), tried: Vec::new() })
        };
        let all = [Resource::Link, Resource::ControllerProcessor].map(|part| suspect(Suspect::Slower(part)));
        let of = |part: &str, options: &[&str]| {
            let setting = |option: &&str| Setting {
                key: format!("{}{option}", Setting::OPTION),
                values: vec![None, Some("1ms".into())],
            };
            settled(named(part), &all, &options.iter().map(setting).collect::<Vec<_>>())
        };
        let unknown = of("controller processor", &["link.latency"]);
        assert!(
            unknown.part.is_none() && unknown.why.contains("what was changed is link.latency (none → 1ms),"),
            "{unknown:?}"
        );
        assert!(of("link", &["link.rate"]).part.is_some(), "it is the link's");
        assert!(of("link", &["link.rate", "cache.size"]).part.is_some());
        assert!(of("controller processor", &[]).part.is_some(), "on real storage nothing is known to differ");
        assert!(of("link", &["write_cache"]).part.is_some(), "an option of the array's own");
    }

    #[test]
    fn an_option_takes_the_place_of_the_one_that_an_address_has() {
        let of = |address: &str, value| with_option(address, "link.rate", value);
        assert_eq!(of("array:m", Some("4MB/s")), "array:m?link.rate=4MB/s");
        assert_eq!(of("array:m?raid=5&link.rate=8MB/s", Some("4MB/s")), "array:m?raid=5&link.rate=4MB/s");
        assert_eq!(of("array:m?link.rate=8MB/s", None), "array:m");
    }

    #[test]
    fn a_point_of_another_plan_tells_of_no_slower_part() {
        let run = |depth: u32, seed: u64| {
            let stream = record::sample::Stream {
                op: "read",
                size_bytes: 4096,
                per_s: 100,
                median_ns: 1_000,
                spread: 0.1,
            };
            let mut workload = record::sample::workload("main", &[stream]);
            workload.spec.depth = depth;
            workload.spec.seed = seed;
            record::sample::run("gate", vec![record::sample::point(0, "p", vec![workload])])
        };
        let (one, same, other) = (run(1, 1), run(1, 2), run(4, 1));
        assert_eq!(planned_otherwise(&[&one], &[&same]), None);
        assert_eq!(planned_otherwise(&[&one], &[&other]).as_deref(), Some("p"));
    }
}
