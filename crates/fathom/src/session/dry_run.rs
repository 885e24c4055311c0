//! `--dry-run`: what would be done, written and destroyed. Opens nothing for writing.

use std::sync::Arc;

use host::safety::Reason;
use modelled::ModelledWorld;
use real::{Judgement, RealOptions, RealWorld};
use workload::plan::{Plan, Summary};

use crate::ending::{Ending, Failure};
use crate::input::arrays::{self, LIBRARY};
use crate::output;

/// Prints what `plan` would do, of which `summary` is the plan itself.
pub fn run(plan: &Plan, options: &RealOptions, summary: Summary<'_>) -> Result<Ending, Failure> {
    let Foreseen { text, refused, .. } = foreseen(plan, options, summary)?;
    output::print_wrapped(&text)?;
    Ok(match refused {
        Some(what) => Ending { code: 3, reason: format!("{what} would be refused") },
        None => Ending::done(),
    })
}

/// What a run would do.
pub struct Foreseen {
    /// In words: points, bytes, time, targets, scratch files.
    pub text: String,
    /// The target that would be refused as unsafe, if one would be.
    pub refused: Option<String>,
    /// What speaks against it that no consent lifts: a mount, a use.
    pub barred: Option<String>,
}

/// What `plan` would do to the targets, below its `summary`. Opens nothing for writing.
pub fn foreseen(plan: &Plan, options: &RealOptions, summary: Summary<'_>) -> Result<Foreseen, Failure> {
    let mut text = summary.to_string() + "\n";
    if let Some(address) = arrays::address(&options.targets)? {
        let array = array::spec::array(&LIBRARY, address)?;
        // Whether the plan fits it is asked as a run would.
        ModelledWorld::open(plan, address, &LIBRARY, &real::this_machine(), Arc::default())?;
        text += &format!("target {address}: {}; nothing real is touched\n", array.about);
        return Ok(Foreseen { text, refused: None, barred: None });
    }
    let (mut refused, mut barred) = (None, None);
    for (name, judgement) in real::judgements(options)? {
        text += &target_words(name, &judgement, plan.estimate().changes_data);
        if plan.estimate().changes_data && !judgement.reasons.is_empty() {
            refused.get_or_insert(judgement.what.clone());
            let own: Vec<String> = beyond_consent(&judgement).map(ToString::to_string).collect();
            barred = barred.or((!own.is_empty()).then(|| own.join("; ")));
        }
    }
    debug_assert!(barred.is_none() || refused.is_some(), "what is barred is refused");
    if refused.is_none() {
        text += &scratch_words(plan, options)?;
    }
    Ok(Foreseen { text, refused, barred })
}

/// The scratch files that would be made. Opening the world also asks whether the plan fits the targets.
fn scratch_words(plan: &Plan, options: &RealOptions) -> Result<String, Failure> {
    if !options.create {
        arrays::check_real(&options.targets)?;
    }
    let world = RealWorld::open(plan, options, Arc::default())?;
    let files = world.scratch_files();
    let mut text = format!("needs about {} of this machine\n", world.need(plan)?);
    for (path, size) in &files {
        text += &format!("scratch file {path}, {}, written before the first point\n", size.exact());
    }
    if let Some(words) = world.scratch_words() {
        text += &format!("  {words}\n");
    }
    if let Some(words) = world.trim_words() {
        text += &format!("  {words}\n");
    }
    Ok(text)
}

/// Reasons that consent to destroy data is no answer to.
fn beyond_consent(judgement: &Judgement) -> impl Iterator<Item = &Reason> {
    let is_lifted = |reason: &&Reason| {
        matches!(reason, Reason::NoConsent { .. } | Reason::OtherConsent { .. } | Reason::NotBlank { .. })
    };
    judgement.reasons.iter().filter(move |reason| !is_lifted(reason))
}

fn target_words(name: &str, judgement: &Judgement, writes: bool) -> String {
    let mut text = match judgement.what.contains(name) {
        true => format!("target {}\n", judgement.what),
        false => format!("target {name}: {}\n", judgement.what),
    };
    if !writes {
        return text + "  only read\n";
    }
    if judgement.destroys {
        text += "  its data would be destroyed\n";
    }
    for reason in &judgement.reasons {
        text += &format!("  refused: {reason}\n");
    }
    let is_barred = beyond_consent(judgement).next().is_some();
    if let Some(consent) = judgement.consents.first().filter(|_| !is_barred) {
        text += &format!("  consent: --destroy={consent}\n");
    }
    text
}
