//! Which part became slower since the baseline, by a model of the array that is measured.

use array::spec;
use explain::compare::{Suspicion, culprit, likely, modelled, shifts};
use modelled::suspects::{Found, Study, Suspect};
use record::judgement::Culprit;
use record::{Run, Setting};

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
    terminal::say_sentence(&format!("slower than the baseline; simulating {model} to find the slower part"));
    let measured = shifts(base, runs);
    let again = |found: &Found| {
        let (suspects, all): (Vec<Suspect>, Vec<Suspicion>) =
            suspicions(like, found, settings).into_iter().unzip();
        let chosen = likely(&measured, &all, TRIED_AGAIN).into_iter();
        chosen.filter_map(|(at, times)| Some((*suspects.get(at)?, times))).collect()
    };
    let machine = real::this_machine();
    let study = Study::open(&plan, (model, &LIBRARY), REQUESTS, &machine, &Signals.stop());
    match study.map(|study| study?.search(again)) {
        Ok(Some(found)) => {
            let all: Vec<Suspicion> =
                suspicions(like, &found, settings).into_iter().map(|(_, one)| one).collect();
            culprit(model, &measured, &all)
        }
        Ok(None) => unknown(format!("{model} does not run the plan, or was interrupted")),
        Err(error) => unknown(error.to_string()),
    }
}

/// Each suspect with what it does to the figures of the model. Those with an option in `settings` come first.
fn suspicions(like: &Run, found: &Found, settings: &[Setting]) -> Vec<(Suspect, Suspicion)> {
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
