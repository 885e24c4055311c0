//! `fathom validate`: virtual arrays against published figures, case by case, and what they foretell.

mod answers;
mod json;
mod leave_out;
mod left_out;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use array::spec::case::{Case, cases, shipped};
use array::spec::is_path;
use array::validate::{CaseResult, Judged, Score, written};
use clap::Args;
use conduct::{Taker, in_order, processors};
use host::clock::Clock;
use units::Share;

use self::answers::{Answers, PendingAnswer};
use self::leave_out::LeaveOut;
use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::path_value;
use crate::output::{self, TreeFormat};
use crate::terminal;

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Use these cases in place of the shipped ones; may be given several times
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub cases: Vec<PathBuf>,
    /// Only cases whose id contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Cross-validation: fit the fitted figures anew without a group of cases, and score that group. `each`: every array
    /// with its options in turn; `systems`: every file of cases in turn; else the group of that system, or of addresses
    /// that contain this
    #[arg(long, value_name = "GROUP")]
    pub leave_out: Option<LeaveOut>,
    /// Exit with 1 where the median error of the foretold figures is above this
    #[arg(long, value_name = "SHARE", default_value = "12%")]
    pub max_median: Share,
    /// Exit with 1 where less than this part of the foretold figures lies within 25 %, or of the foretold bounds, orders
    /// and equalities holds
    #[arg(long, value_name = "SHARE", default_value = "85%")]
    pub min_within: Share,
    /// Write how far each array's model was from the figures that it was not fitted to, in TOML: what runs on the array show
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "leave_out"])]
    #[arg(value_parser = path_value())]
    pub save_scores: Option<PathBuf>,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
}

/// Cases of one system: those of a file.
struct System {
    name: String,
    cases: Vec<Case>,
}

pub fn validate(arguments: &ValidateArgs) -> Result<Ending, Failure> {
    let systems = systems(arguments)?;
    let chosen: Vec<(&str, &Case)> =
        systems.iter().flat_map(|all| all.cases.iter().map(|case| (all.name.as_str(), case))).collect();
    if chosen.is_empty() {
        let only = arguments.only.as_deref().unwrap_or_default();
        return Err(Failure::Usage(format!(
            "no case has `{only}` in its id or the name of its file; `fathom validate` lists them all"
        )));
    }
    if let Some(asked) = &arguments.leave_out {
        return leaving_out(asked, &chosen, arguments);
    }
    let clock = Clock::start();
    let begun = clock.now();
    let is_text = arguments.format == TreeFormat::Text;
    if is_text {
        output::print(&text::heading())?;
    }
    let cases: Vec<&Case> = chosen.iter().map(|(_, case)| *case).collect();
    let results = results(&cases, arguments.seed, &AtomicBool::new(false), &mut |position, result| {
        // Where stdout cannot be written, the last rows say so.
        let _printed = if is_text { output::print(&text::row(cases[position], result)) } else { Ok(()) };
        let elapsed = clock.now().saturating_since(begun);
        terminal::show_line(&text::progress(&cases, position + 1, elapsed));
    });
    assert_eq!(results.len(), chosen.len(), "each case has a result");
    let judged: Vec<(&str, Judged<'_>)> = chosen
        .iter()
        .zip(&results)
        .map(|((system, case), result)| (*system, Judged { case, result }))
        .collect();
    output::print(&match arguments.format {
        TreeFormat::Text => text::closing(&judged),
        TreeFormat::Json => output::json(&json::document(&judged, arguments.seed))?,
    })?;
    if let Some(path) = &arguments.save_scores {
        let judged: Vec<Judged<'_>> = judged.iter().map(|(_, judged)| *judged).collect();
        output::write_whole(path, written(&judged))?;
    }
    let foretold = text::scores(&judged).foretold;
    Ok(match short_of(&foretold, "foretold", arguments) {
        None => Ending::done(),
        Some(reason) => Ending { code: 1, reason },
    })
}

/// Groups of cases, each with the score that it has where nothing was fitted with it.
fn leaving_out(
    asked: &LeaveOut,
    cases: &[(&str, &Case)],
    arguments: &ValidateArgs,
) -> Result<Ending, Failure> {
    let is_text = arguments.format == TreeFormat::Text;
    if is_text {
        output::print(&left_out::heading())?;
    }
    let left = leave_out::leave_out(asked, cases, &LIBRARY, arguments.seed, &mut |group, ended, all| {
        let _printed = if is_text { output::print(&left_out::row(group)) } else { Ok(()) };
        terminal::show_line(&format!("{ended} of {all} groups"));
    })?;
    output::print(&match arguments.format {
        TreeFormat::Text => left_out::closing(&left),
        TreeFormat::Json => output::json(&left_out::document(&left, arguments.seed))?,
    })?;
    let judged: Vec<Judged<'_>> =
        left.iter().flat_map(leave_out::LeftOut::judged).map(|(_, judged)| judged).collect();
    Ok(match short_of(&Score::of(&judged), "left-out", arguments) {
        None => Ending::done(),
        Some(reason) => Ending { code: 1, reason },
    })
}

/// What of the score of the `kind` of cases is not as asked; `None` where all is, or there are none.
fn short_of(score: &Score, kind: &str, arguments: &ValidateArgs) -> Option<String> {
    let (most, least) = (arguments.max_median, arguments.min_within);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let below = |share: Option<Share>| share.filter(|share| share.get() < least.get());
    debug_assert!(score.claims_held <= score.claims, "claims that hold are some of all");
    debug_assert!(score.median_error.is_none_or(|error| error >= 0.0), "an error is a distance");
    let is_off = score.figures > 0 && score.median_error.is_none_or(|error| error > most.get());
    let median = is_off.then(|| {
        let error = score.median_error.map_or("beyond any number".into(), percent);
        format!("the median error of the {kind} figures is {error}, above {most}")
    });
    let within = below(score.within_25).map(|share| {
        format!("{} of the {kind} figures lie within 25 %, fewer than {least}", percent(share.get()))
    });
    let claims = below(score.claims_share()).map(|share| {
        let share = percent(share.get());
        format!("{share} of the {kind} bounds, orders and equalities hold, fewer than {least}")
    });
    let short: Vec<String> = [median, within, claims].into_iter().flatten().collect();
    (!short.is_empty()).then(|| short.join("; "))
}

/// The chosen cases of each file; files without any are left out.
fn systems(arguments: &ValidateArgs) -> Result<Vec<System>, Failure> {
    let only = |name: &str, case: &Case| {
        arguments
            .only
            .as_ref()
            .is_none_or(|only| case.id.contains(only.as_str()) || name.contains(only.as_str()))
    };
    let system = |name: String, label: &str, text: &str| {
        let mut cases = cases(label, text)?.cases;
        cases.retain(|case| only(&name, case));
        Ok::<System, Failure>(System { name, cases })
    };
    let mut systems = if arguments.cases.is_empty() {
        shipped()
            .iter()
            .map(|(name, label, text)| system((*name).to_owned(), label, text))
            .collect::<Result<Vec<_>, _>>()?
    } else {
        let read = |path: &PathBuf| {
            let label = path.display().to_string();
            let text = fs::read_to_string(path)
                .map_err(|error| Failure::Usage(format!("{label}: the cases cannot be read: {error}")))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let mut system = system(name, &label, &text)?;
            for subject in system.cases.iter_mut().flat_map(|case| case.claim.subjects_mut()) {
                subject.array = beside(path, &subject.array);
            }
            Ok(system)
        };
        arguments.cases.iter().map(read).collect::<Result<Vec<_>, Failure>>()?
    };
    systems.retain(|system| !system.cases.is_empty());
    Ok(systems)
}

/// The address of an array that the file `cases` names: a path is one from where that file lies, if there is such a file.
fn beside(cases: &Path, address: &str) -> String {
    let (scheme, rest) = match address.strip_prefix("array:") {
        Some(rest) => ("array:", rest),
        None => ("", address),
    };
    let (name, options) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let folder = cases.parent().filter(|folder| !folder.as_os_str().is_empty() && is_path(name));
    // Of two paths that are joined the second stands where it begins at the root.
    let joined = folder.map(|folder| folder.join(name.strip_prefix("./").unwrap_or(name)));
    match joined.filter(|joined| joined.exists()) {
        Some(joined) => format!("{scheme}{}{options}", joined.display()),
        None => address.to_owned(),
    }
}

/// Every case through its simulations, on all processors. Each is given to `ended` with its position, in order, as soon
/// as it and those before it have ended. Once `stop` is set no more are begun, and those that are missing have no result.
///
/// Configurations are what is shared out, each once: of two threads with a case each, one would wait for the other where
/// both ask for the same.
pub fn results(
    chosen: &[&Case],
    seed: u64,
    stop: &AtomicBool,
    ended: &mut dyn FnMut(usize, &CaseResult),
) -> Vec<CaseResult> {
    let asked = PendingAnswer::of(&LIBRARY, chosen);
    let mut taken = Taken { answers: &Answers::new(seed), chosen, asked: &asked, results: Vec::new(), ended };
    let answers = taken.answers;
    let ask = |place: usize| {
        let goes_on = !stop.load(Ordering::Relaxed);
        if goes_on {
            answers.prepare(&LIBRARY, &asked[place]);
        }
        goes_on
    };
    in_order(asked.len(), processors(), &ask, &mut taken);
    if asked.is_empty() {
        taken.judge_before(chosen.len());
    }
    taken.results
}

/// Results so far.
struct Taken<'a, 'e> {
    answers: &'a Answers,
    chosen: &'a [&'a Case],
    asked: &'a [PendingAnswer<'a>],
    results: Vec<CaseResult>,
    ended: &'e mut dyn FnMut(usize, &CaseResult),
}

impl Taken<'_, '_> {
    /// Judges the cases before the one at `end`, of which all is known.
    fn judge_before(&mut self, end: usize) {
        debug_assert!(
            self.results.len() <= end && end <= self.chosen.len(),
            "cases are judged once, in their order"
        );
        for (position, case) in self.chosen.iter().enumerate().take(end).skip(self.results.len()) {
            let result = self.answers.judge(&LIBRARY, case);
            (self.ended)(position, &result);
            self.results.push(result);
        }
    }
}

impl Taker<bool> for Taken<'_, '_> {
    fn take(&mut self, place: usize, was_asked: bool) -> bool {
        if was_asked {
            // Nothing is missing but what is asked for next.
            self.judge_before(self.asked.get(place + 1).map_or(self.chosen.len(), |next| next.position));
        }
        was_asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn by_default() -> ValidateArgs {
        let command = ValidateArgs::augment_args(clap::Command::new("validate"));
        let matches = command.try_get_matches_from(["validate"]).unwrap();
        ValidateArgs::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn every_limit_that_is_missed_is_told() {
        let share = |part| Some(Share::new(part).unwrap());
        let score =
            Score { figures: 4, median_error: Some(0.2), within_25: share(0.5), claims: 4, claims_held: 4 };
        let short = |score| short_of(&score, "foretold", &by_default());
        assert_eq!(
            short(score).unwrap(),
            "the median error of the foretold figures is 20.0 %, above 12 %; 50.0 % of the foretold figures lie within 25 %, \
             fewer than 85 %"
        );
        assert_eq!(short(Score { median_error: Some(0.1), within_25: share(0.9), ..score }), None);
    }
}
