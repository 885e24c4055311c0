//! `fathom run --against`: two targets by turns, and what differs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use conduct::Event;
use explain::compare::{Group, compare as compared};
use real::{Beside, RealOptions, RealWorld, UpkeepOptions};
use units::Nanos;
use workload::plan::{Plan, Point};

use crate::cli::{CompareFormat, Format, MeasureArgs};
use crate::dry;
use crate::ending::{Ending, Failure};
use crate::iologs;
use crate::output;
use crate::progress::Progress;
use crate::session::{Planned, Session, final_ending};
use crate::verbs::run::{options, options_for, say_where};
use crate::verbs::{compare, keep, plan};

pub fn run(arguments: &MeasureArgs, against: &str, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let run = &arguments.run;
    let format = format_of(run.format)?;
    run.outputs.iter().try_for_each(|path| output::check_comparison(path))?;
    let overrides = plan::overrides(&run.change);
    let plan::Read { plan, origin, targets } = plan::read_on(&run.plan, &overrides, &run.targets)?;
    if let Some(log) = iologs::first(&plan) {
        return Err(Failure::Usage(format!(
            "both sides would write the iolog {log}; leave it out with `--set iolog=none`, or run the plan on each"
        )));
    }
    let mut first = options_for(run, targets)?;
    let mut second = second(arguments, against, store)?;
    set_beside(&plan, &mut first, &mut second)?;
    if run.dry_run {
        let ending = dry::run(&plan, &first)?;
        let other = dry::run(&plan, &second)?;
        return Ok(if ending.code == 0 { other } else { ending });
    }
    let open = |options: &RealOptions| -> Result<Session, Failure> {
        let library = match run.no_save {
            true => None,
            false => Some(keep::open_to_save(store)?),
        };
        let planned = Planned { plan: plan.clone(), origin: origin.clone(), overrides: overrides.clone() };
        Session::open(planned, options, library)
    };
    let sessions = [open(&first)?, open(&second)?];
    let mut progress = Progress::new(run.quiet);
    for words in
        sessions.iter().flat_map(|session| [&session.scratch_words, &session.leftover_words]).flatten()
    {
        progress.say(words);
    }
    let kinds = [sessions[0].kind(), sessions[1].kind()];
    let [here, there] = sessions;
    let recorded = here.measure_by_turns(there, &mut |side, event| {
        progress.of_world(kinds[side]);
        show(&mut progress, side, event);
    });
    progress.finish();
    if recorded.iter().any(|one| one.is_refused) {
        let mut endings = recorded.map(final_ending).into_iter();
        return Ok(endings.find(|ending| ending.code != 0).unwrap_or_else(Ending::done));
    }
    let groups: Vec<Group<'_>> = recorded
        .iter()
        .enumerate()
        .map(|(side, one)| Group { name: compare::letter(side), runs: vec![&one.run] })
        .collect();
    let comparison = compared(None, &groups, arguments.margin.get());
    compare::deliver(&comparison, format, &run.outputs, &run.look, false)?;
    recorded.iter().for_each(|one| say_where(one, run, store));
    let endings = recorded.map(final_ending);
    match endings.into_iter().find(|ending| ending.code != 0) {
        Some(ending) => Ok(ending),
        None => compare::judge(&comparison, &arguments.fail_on),
    }
}

/// The same event, the point's name with the side it is measured on.
fn show(progress: &mut Progress, side: usize, event: &Event<'_>) {
    match event {
        Event::PointStarted { index, of, name, expected, expected_after } => {
            let name = format!("{name} on {}", compare::letter(side));
            progress.show(&Event::PointStarted {
                index: *index,
                of: *of,
                name: &name,
                expected: *expected,
                // The other side takes about as long.
                expected_after: Nanos::new(expected_after.get().saturating_mul(2)),
            });
        }
        event => progress.show(event),
    }
}

fn format_of(format: Format) -> Result<CompareFormat, Failure> {
    match format {
        Format::Text => Ok(CompareFormat::Text),
        Format::Json => Ok(CompareFormat::Json),
        Format::Csv => Ok(CompareFormat::Csv),
        Format::Md => Ok(CompareFormat::Md),
        Format::Jsonl | Format::Tool(_) => Err(Failure::Usage(
            "--against prints a comparison: --format text, json, csv or md; the runs are kept, and `fathom export` \
             writes them in any format"
                .into(),
        )),
    }
}

fn second(arguments: &MeasureArgs, against: &str, store: &Option<PathBuf>) -> Result<RealOptions, Failure> {
    let targets = targets_of(against, store)?;
    Ok(RealOptions { targets, upkeep: UpkeepOptions::default(), ..options(&arguments.run)? })
}

/// Lets both sides have scratch files on one file system, or in one directory.
fn set_beside(plan: &Plan, first: &mut RealOptions, second: &mut RealOptions) -> Result<(), Failure> {
    let folder = |name: &String| {
        let path = units::name::path(name);
        path.is_dir().then(|| fs::canonicalize(path).ok()).flatten()
    };
    let folders = |options: &RealOptions| options.targets.iter().filter_map(folder).collect::<Vec<_>>();
    let (here, there) = (folders(first), folders(second));
    let device = |path: &PathBuf| fs::metadata(path).ok().map(|found| found.dev());
    let shares_free = here.iter().any(|one| there.iter().any(|other| device(one) == device(other)));
    let shared = here.iter().find(|one| there.contains(one));
    if let Some(shared) = shared
        && plan.points().iter().flat_map(Point::workloads).any(|workload| workload.tree.is_some())
    {
        return Err(Failure::Usage(format!(
            "the plan makes a tree of files, and both sides would make it in {}; name two directories",
            shared.display()
        )));
    }
    first.beside = Beside { taken: 0, shares_free };
    if shared.is_some() {
        let taken = RealWorld::open(plan, first, Arc::default())?.scratch_files().len();
        second.beside = Beside { taken, shares_free };
    } else {
        second.beside = first.beside;
    }
    Ok(())
}

/// The target itself, or the targets of the run that is named; a record's file is a run.
fn targets_of(against: &str, store: &Option<PathBuf>) -> Result<Vec<String>, Failure> {
    let path = units::name::path(against);
    let is_target = against.starts_with("array:") || against.starts_with("null:") || path.exists();
    let record = path.extension().is_some_and(|ending| ending == "json") && path.is_file();
    let run = match (record, is_target) {
        (true, _) => compare::read(against)?,
        (_, true) => return Ok(vec![against.to_owned()]),
        _ => keep::open(store)?.get(against).map_err(|error| {
            Failure::Usage(format!("--against {against}: there is no such target, and {error}"))
        })?,
    };
    Ok(run.targets.iter().map(|target| target.address.clone()).collect())
}
