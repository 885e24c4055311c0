//! `fathom validate`: virtual arrays against published figures, case by case.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use array::spec::case::{Case, CaseFile, cases, shipped};
use array::validate::{CaseResult, Ruling, judge, measure, summarise};
use clap::Args;

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::path_value;
use crate::output;

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
}

pub fn validate(arguments: &ValidateArgs) -> Result<Ending, Failure> {
    let files = files(arguments)?;
    let chosen: Vec<&Case> = files
        .iter()
        .flat_map(|file| &file.cases)
        .filter(|case| arguments.only.as_ref().is_none_or(|only| case.id.contains(only.as_str())))
        .collect();
    if chosen.is_empty() {
        let only = arguments.only.as_deref().unwrap_or_default();
        return Err(Failure::Usage(format!(
            "no case has `{only}` in its id; `fathom validate` lists them all"
        )));
    }
    let verdicts = verdicts(&chosen, arguments.seed, &AtomicBool::new(false));
    let mut text = format!(
        "{:<12} {:>12} {:>12} {:<9} {:>8}  {}\n",
        "case", "published", "modelled", "unit", "error", "verdict"
    );
    for (case, verdict) in chosen.iter().zip(&verdicts) {
        text += &row(case, verdict);
    }
    let summary = summarise(&verdicts);
    text += &format!("\n{}", closing(&summary));
    output::print(&text)?;
    Ok(match summary.failed {
        0 => Ending::done(),
        failed => Ending { code: 1, reason: format!("{failed} cases left their stated tolerance") },
    })
}

fn files(arguments: &ValidateArgs) -> Result<Vec<CaseFile>, Failure> {
    if arguments.cases.is_empty() {
        return Ok(shipped().iter().map(|(_, label, text)| cases(label, text)).collect::<Result<_, _>>()?);
    }
    let read = |path: &std::path::PathBuf| {
        let label = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::Usage(format!("{label}: the cases cannot be read: {error}")))?;
        Ok(cases(&label, &text)?)
    };
    arguments.cases.iter().map(read).collect()
}

/// Every case through its simulations: many side by side, one on each processor. Once `stop` is set no more are begun,
/// and those that are missing have no verdict.
pub fn verdicts(chosen: &[&Case], seed: u64, stop: &AtomicBool) -> Vec<CaseResult> {
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
                    let verdict = judge(case, |subject, metric| measure(&LIBRARY, subject, metric, seed));
                    done.lock().expect("no holder panics").push((position, verdict));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no holder panics");
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, verdict)| verdict).collect()
}

fn row(case: &Case, verdict: &CaseResult) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
    let error = verdict.error.map_or_else(String::new, |error| format!("{:+.1} %", error * 100.0));
    let ruling = match &verdict.ruling {
        Ruling::Passes => "ok".to_owned(),
        Ruling::Fails => format!("LEAVES its tolerance of {}", case.tolerance),
        Ruling::Impossible(why) => format!("NOT MODELLED: {why}"),
    };
    let listed = if verdict.counts { "" } else { " (does not count)" };
    format!(
        "{:<12} {:>12} {:>12} {:<9} {:>8}  {ruling}{listed}\n",
        case.id,
        number(verdict.published),
        number(verdict.value),
        case.unit.name(),
        error
    )
}

fn closing(summary: &array::validate::Summary) -> String {
    let percent =
        |share: Option<f64>| share.map_or_else(|| "-".into(), |share| format!("{:.1} %", share * 100.0));
    format!(
        "{} published figures: median error {}, within 25 %: {}\n{} orderings, bounds and equalities: {} hold\n\
         {} cases leave their tolerance, {} are listed and do not count\n",
        summary.figures,
        percent(summary.median_error),
        percent(summary.within_25.map(units::Share::get)),
        summary.claims,
        summary.claims_passed,
        summary.failed,
        summary.listed
    )
}
