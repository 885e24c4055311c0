//! Which part became slower since the baseline, by a model of the array that is measured.

use array::spec;
use explain::compare::{Recorded, Shift, Suspicion, as_changed, culprit, likely, modelled, shifts};
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
    if let Some(found) = as_recorded(model, (base, runs), &plan, settings, &measured) {
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

/// What the records say was changed is tried with loads as long as they were, up to so many requests in all.
const WHOLE: u32 = 4_000_000;

/// Of more changes than this no pairs are tried, but each alone, and all together.
const PAIRS_OF: usize = 4;

/// What of the options of the array, and of the states that it was brought into, differs between the records of both sides, where the
/// model with that change alone changes as what was measured did: one of them, or several together, where they do so much better.
fn as_recorded(
    model: &str,
    (base, runs): (&[&Run], &[&Run]),
    plan: &Plan,
    settings: &[Setting],
    measured: &[Shift],
) -> Option<Culprit> {
    let is_of_array = |setting: &&Setting| option_of(setting).is_some() || setting.key == STATES;
    let changed: Vec<&Setting> = settings.iter().filter(is_of_array).collect();
    if changed.is_empty() || changed.iter().any(|setting| setting.values.len() != 2) {
        return None;
    }
    let (like, before) = (runs.first()?, fit::plan_of(base.first()?).ok()?);
    let states = changed.iter().position(|setting| setting.key == STATES);
    let points = |new: &[usize]| {
        let is_before = new.is_empty() || states.is_some_and(|at| !new.contains(&at));
        points_of(&address_with(model, &changed, new), if is_before { &before } else { plan })
    };
    let unchanged = points(&[])?;
    let tried = subsets(changed.len()).into_iter().filter_map(|new| {
        let shifts = modelled(like, &unchanged, &[&points(&new)?]).pop()?;
        let parts: Vec<&str> =
            new.iter().map(|at| option_of(changed[*at]).unwrap_or("state of the array")).collect();
        let told: Vec<String> = new.iter().map(|at| changed[*at].told()).collect();
        Some(Recorded { part: parts.join(" and "), change: told.join(" and "), shifts })
    });
    as_changed(model, measured, &tried.collect::<Vec<_>>())
}

/// The points of `plan` on the array at `address`, of several seeds, from caches as full as those of the plan.
fn points_of(address: &str, plan: &Plan) -> Option<Vec<Vec<Point>>> {
    let machine = real::this_machine();
    let study = Study::open_whole(plan, (address, &LIBRARY), WHOLE, &machine, &Signals.stop()).ok()??;
    study.seeds(SEEDS)
}

/// The value of an option that an address leaves out and whose figure is not known: the address of the model leaves it out, too.
pub const BY_DEFAULT: &str = "by default";

/// The option of an array's address that sets what differs: one that the addresses have, or a figure of descriptions that differ.
fn option_of(setting: &Setting) -> Option<&str> {
    setting.option().or_else(|| setting.key.strip_prefix(Setting::DESCRIPTION))
}

/// `model` with those options of `changed` that `new` names as they are after, and the others as they were before.
fn address_with(model: &str, changed: &[&Setting], new: &[usize]) -> String {
    let each =
        changed.iter().enumerate().filter_map(|(at, setting)| Some((at, option_of(setting)?, setting)));
    each.fold(model.to_owned(), |address, (at, option, setting)| {
        debug_assert_eq!(setting.values.len(), 2, "a setting is as before or as after");
        let value = setting.values[usize::from(new.contains(&at))].as_deref();
        with_option(&address, option, value.filter(|value| *value != BY_DEFAULT))
    })
}

/// Which of `count` changes are tried together: each alone, of few of them each pair, and all.
fn subsets(count: usize) -> Vec<Vec<usize>> {
    debug_assert!(count > 0, "there is a change to be tried");
    let mut all: Vec<Vec<usize>> = (0..count).map(|one| vec![one]).collect();
    if (3..=PAIRS_OF).contains(&count) {
        all.extend((0..count).flat_map(|one| (one + 1..count).map(move |other| vec![one, other])));
    }
    if count > 1 {
        all.push((0..count).collect());
    }
    all
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
    debug_assert!(all.iter().all(|(_, one)| !one.part.is_empty()), "a suspect is named");
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
    fn what_the_records_name_is_tried_alone_and_together_with_all_else_as_it_was() {
        assert_eq!(subsets(1), [[0]]);
        assert_eq!(subsets(2), [vec![0], vec![1], vec![0, 1]]);
        assert_eq!((subsets(3).len(), subsets(5).len()), (7, 6));
        let setting = |key: &str, values: [Option<&str>; 2]| Setting {
            key: key.into(),
            values: values.map(|value| value.map(str::to_owned)).into(),
        };
        let rate = setting(&format!("{}link.rate", Setting::OPTION), [None, Some("4MB/s")]);
        let gap = setting(&format!("{}drive.command", Setting::DESCRIPTION), [Some("1us"), Some("2us")]);
        let of = |new: &[usize]| address_with("array:m?raid=5", &[&rate, &gap], new);
        assert_eq!(of(&[]), "array:m?raid=5&drive.command=1us");
        assert_eq!(of(&[0]), "array:m?raid=5&link.rate=4MB/s&drive.command=1us");
        assert_eq!(of(&[0, 1]), "array:m?raid=5&link.rate=4MB/s&drive.command=2us");
        let window = setting(&format!("{}drive.window", Setting::OPTION), [Some(BY_DEFAULT), Some("1")]);
        let of = |new: &[usize]| address_with("array:m?drive.window=1", &[&window], new);
        assert_eq!([of(&[]), of(&[0])], ["array:m", "array:m?drive.window=1"]);
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
