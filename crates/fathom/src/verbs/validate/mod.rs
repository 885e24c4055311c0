//! `fathom validate`: virtual arrays against published figures, case by case, and what they foretell.

mod json;
mod text;

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use array::spec::case::{Case, cases, shipped};
use array::validate::{CaseResult, Judged, Score, judge, measure};
use clap::Args;
use host::clock::Clock;
use units::Share;

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
    /// Exit with 1 where the median error of the foretold figures is above this
    #[arg(long, value_name = "SHARE", default_value = "12%")]
    pub max_median: Share,
    /// Exit with 1 where less than this part of the foretold figures lies within 25 %, or of the foretold bounds, orders
    /// and equalities holds
    #[arg(long, value_name = "SHARE", default_value = "85%")]
    pub min_within: Share,
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
    let clock = Clock::start();
    let begun = clock.now();
    let is_text = arguments.format == TreeFormat::Text;
    if is_text {
        output::print(&text::heading())?;
    }
    let cases: Vec<&Case> = chosen.iter().map(|(_, case)| *case).collect();
    let rows = Mutex::new(text::InOrder::new(&cases));
    let results = results(&cases, arguments.seed, &AtomicBool::new(false), &|position, result| {
        let mut rows = rows.lock().expect("no holder panics");
        let text = rows.add(position, result);
        // Where stdout cannot be written, the last rows say so.
        let _printed = if is_text { output::print(&text) } else { Ok(()) };
        terminal::show_line(&rows.progress(clock.now().saturating_since(begun)));
    });
    let judged: Vec<(&str, Judged<'_>)> = chosen
        .iter()
        .zip(&results)
        .map(|((system, case), result)| (*system, Judged { case, result }))
        .collect();
    output::print(&match arguments.format {
        TreeFormat::Text => text::closing(&judged),
        TreeFormat::Json => output::json(&json::document(&judged, arguments.seed))?,
    })?;
    let foretold = text::scores(&judged).foretold;
    Ok(match short_of(&foretold, arguments) {
        None => Ending::done(),
        Some(reason) => Ending { code: 1, reason },
    })
}

/// What of the score of the foretold is not as asked; `None` where all is, or nothing was foretold.
fn short_of(foretold: &Score, arguments: &ValidateArgs) -> Option<String> {
    let (most, least) = (arguments.max_median, arguments.min_within);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let below = |share: Option<Share>| share.filter(|share| share.get() < least.get());
    if foretold.figures > 0 && foretold.median_error.is_none_or(|error| error > most.get()) {
        let error = foretold.median_error.map_or("beyond any number".into(), percent);
        return Some(format!("the median error of the foretold figures is {error}, above {most}"));
    }
    if let Some(share) = below(foretold.within_25) {
        return Some(format!(
            "{} of the foretold figures lie within 25 %, fewer than {least}",
            percent(share.get())
        ));
    }
    below(foretold.claims_share()).map(|share| {
        format!(
            "{} of the foretold bounds, orders and equalities hold, fewer than {least}",
            percent(share.get())
        )
    })
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
            system(name, &label, &text)
        };
        arguments.cases.iter().map(read).collect::<Result<Vec<_>, _>>()?
    };
    systems.retain(|system| !system.cases.is_empty());
    Ok(systems)
}

/// Every case through its simulations: many side by side, one on each processor. Each is given to `ended` with its
/// position as soon as it has ended. Once `stop` is set no more are begun, and those that are missing have no result.
pub fn results(
    chosen: &[&Case],
    seed: u64,
    stop: &AtomicBool,
    ended: &(dyn Fn(usize, &CaseResult) + Sync),
) -> Vec<CaseResult> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(chosen.len()));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = chosen.get(position) else { return };
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let result = judge(case, |subject, metric| measure(&LIBRARY, subject, metric, seed));
                    ended(position, &result);
                    done.lock().expect("no holder panics").push((position, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no holder panics");
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}
