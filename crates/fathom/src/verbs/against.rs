//! `fathom run --against`: two targets in alternation, and what differs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use conduct::Event;
use explain::compare::{FailOn, Group, compare as compared};
use real::{Beside, RealOptions, RealWorld, UpkeepOptions};
use units::{Nanos, Share};
use workload::plan::{Plan, Point};

use crate::ending::{Ending, Failure};
use crate::input::candidates;
use crate::input::records;
use crate::output::{self, CompareFormat};
use crate::session::dry_run;
use crate::session::iologs;
use crate::session::store::Store;
use crate::session::{self, Session, final_ending};
use crate::terminal::progress::Progress;
use crate::verbs::compare;
use crate::verbs::measure::RunArgs;

/// Heading of the options of an A/B test.
const AGAINST: &str = "Comparing with a second target";

// No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct AgainstArgs {
    /// A/B test: measure this second target too, point by point in alternation with the first, and compare both. A
    /// target, or a saved run, whose targets are measured again; --destroy once for each
    #[arg(long, value_name = "TARGET|RUN", help_heading = AGAINST, add = candidates::targets_or_runs())]
    pub against: Option<String>,
    /// Exit 1 if the second target breaks the limit, with 95 % confidence: a change (iops<-5%, p99>10%) or a value
    /// (p99>5ms); `inconclusive`: exit 1 also where a limit cannot be decided
    #[arg(long, value_name = "LIMIT", requires = "against", help_heading = AGAINST)]
    pub fail_on: Vec<FailOn>,
    /// With --against: call two figures equivalent if the 95 % confidence interval of the change is within ± this
    #[arg(long, value_name = "PERCENT", default_value = "5%", requires = "against", help_heading = AGAINST)]
    pub margin: Share,
}

/// Measures `run` on its targets and on `second`, and compares as `arguments` says.
pub fn run(run: &RunArgs, arguments: &AgainstArgs, second: &str, store: &Store) -> Result<Ending, Failure> {
    let format = CompareFormat::of(run.format).ok_or_else(|| {
        Failure::Usage(
            "--against prints a comparison: --format text, json, csv or md; the runs are kept, and `fathom export` \
             writes them in any format"
                .into(),
        )
    })?;
    if run.metrics.are_wanted() {
        return Err(Failure::Usage(
            "--metrics and --metrics-to tell of one side, and --against measures two interleaved; run the plan on each"
                .into(),
        ));
    }
    run.outputs.iter().try_for_each(|path| output::check_comparison(path))?;
    let (planned, mut first) = run.read()?;
    let plan = &planned.plan;
    if let Some(log) = iologs::first(plan) {
        return Err(Failure::Usage(format!(
            "both sides would write the iolog {log}; leave it out with `--set iolog=none`, or run the plan on each"
        )));
    }
    let mut second = options_of(run, second, store)?;
    set_beside(plan, &mut first, &mut second)?;
    if run.dry_run {
        let ending = dry_run::run(plan, &first, plan.summary())?;
        let other = dry_run::run(plan, &second, plan.summary())?;
        return Ok(if ending.code == 0 { other } else { ending });
    }
    let library = || store.open_to_save(run.no_save);
    let (here, mut progress) = session::open(planned.clone(), &first, library()?, run.showing.wanted())?;
    let there = Session::open(planned, &second, library()?)?;
    there.notes().for_each(|note| progress.say(note));
    let kinds = [here.kind(), there.kind()];
    let recorded = here.measure_by_turns(there, &mut |side, event| {
        assert!(side < kinds.len(), "two worlds take turns");
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
    compare::deliver(&comparison, format, &run.outputs, &run.appearance, false)?;
    recorded.iter().for_each(|one| run.say_where(one, store));
    debug_assert_eq!(comparison.sides.len(), groups.len(), "each side is compared");
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

fn options_of(run: &RunArgs, second: &str, store: &Store) -> Result<RealOptions, Failure> {
    let targets = targets_of(second, store)?;
    Ok(RealOptions { targets, upkeep: UpkeepOptions::default(), ..run.options()? })
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
fn targets_of(against: &str, store: &Store) -> Result<Vec<String>, Failure> {
    let path = units::name::path(against);
    let is_target = against.starts_with("array:") || against.starts_with("null:") || path.exists();
    let record = path.extension().is_some_and(|ending| ending == "json") && path.is_file();
    let run = match (record, is_target) {
        (true, _) => records::read(against)?,
        (_, true) => return Ok(vec![against.to_owned()]),
        _ => store.open()?.get(against).map_err(|error| {
            Failure::Usage(format!("--against {against}: there is no such target, and {error}"))
        })?,
    };
    Ok(run.targets.iter().map(|target| target.address.clone()).collect())
}
