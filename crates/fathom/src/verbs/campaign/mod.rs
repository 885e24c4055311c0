//! `fathom campaign`

pub mod course;
mod detach;
pub mod forecast;
pub mod kept;
mod lacking;
mod lock;
mod published;
mod state;
pub mod subject;
mod workers;

use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Nanos};

use crate::ending::{Ending, Failure};
use crate::input::plans::PlanChange;
use crate::input::{candidates, hosts, path_value};
use crate::output;
use crate::session::metrics::MetricsArgs;
use crate::session::ranks;
use crate::session::store::Store;
use crate::terminal::{Appearance, Showing};
use subject::{Change, Subject};

/// Headings of options, by task.
const TARGET: &str = "Target";

#[derive(Debug, Args)]
pub struct CampaignArgs {
    /// The campaign: a TOML file of factors and plans, or a ready campaign
    #[arg(required_unless_present = "list")]
    pub file: Option<String>,
    /// List the ready campaigns
    #[arg(long, conflicts_with_all = ["file", "show", "dry_run", "status", "detach"])]
    pub list: bool,
    /// Print the campaign's file, to change it
    #[arg(long, conflicts_with_all = ["dry_run", "status", "detach"])]
    pub show: bool,
    /// The target of all cells: as of `fathom run` [default: `on` of the file]
    #[arg(long = "on", value_name = "TARGET", help_heading = TARGET, add = candidates::targets())]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub change: PlanChange,
    /// Consent to destroy the data on a target, as of `fathom run`
    #[arg(long, value_name = "IDENTITY", help_heading = TARGET)]
    pub destroy: Vec<String>,
    /// Keep the scratch files between the runs and afterwards, so that they need not be laid out again
    #[arg(long, help_heading = TARGET)]
    pub keep: bool,
    /// Total size of the scratch files (fio: `size`) [default: larger than the known caches, as far as space allows]
    #[arg(long, value_name = "SIZE", help_heading = TARGET)]
    pub scratch: Option<Bytes>,
    /// Under `mpirun`: each rank makes scratch files of its own, as of `fathom run`
    #[arg(long, help_heading = TARGET)]
    pub file_per_rank: bool,
    /// Under `mpirun`: the targets of each host, in place of --on, as of `fathom run`
    #[arg(long, value_name = "FILE", conflicts_with = "targets", help_heading = TARGET)]
    #[arg(value_parser = path_value())]
    pub hosts_config: Option<PathBuf>,
    /// Blocks, in each of which every cell is measured once [default: `repeats` of the file]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Measure 1/COUNT of the cells, every level equally often; what can then not be told apart is in the warnings
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub fraction: Option<u32>,
    /// Fit the campaign into this time: fewer blocks, then a fraction of the cells; says what is given up
    #[arg(long, value_name = "TIME")]
    pub within: Option<Nanos>,
    /// Print the runs in their order, the hours and the smallest effect that would be seen; measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: print all runs in their order, not only the first
    #[arg(long, requires = "dry_run")]
    pub order: bool,
    /// Print the progress and the results so far; measure nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub status: bool,
    /// Run in the background, also when the terminal closes; progress goes to a log file beside the library
    #[arg(long, conflicts_with_all = ["dry_run", "status"])]
    pub detach: bool,
    #[command(flatten)]
    pub showing: Showing,
    #[command(flatten)]
    pub metrics: MetricsArgs,
    #[command(flatten)]
    pub appearance: Appearance,
}

impl CampaignArgs {
    /// Whether storage is measured by this process.
    pub fn measures(&self) -> bool {
        !(self.dry_run || self.status || self.detach || self.list || self.show)
    }
}

pub fn campaign(arguments: &CampaignArgs, store: &Store) -> Result<Ending, Failure> {
    if !arguments.measures() && !ranks::is_first() {
        return Ok(Ending::done());
    }
    if arguments.list {
        return list();
    }
    let file = arguments.file.as_deref().unwrap_or_default();
    if arguments.show {
        output::print(&subject::text(file)?)?;
        return Ok(Ending::done());
    }
    let overrides = arguments.change.overrides();
    let read = |repeats, fraction| {
        let (targets, hosts) = match &arguments.hosts_config {
            None => (arguments.targets.clone(), Vec::new()),
            Some(path) => (hosts::targets_of(path, &ranks::host_name())?, hosts::all(path)?),
        };
        let change = Change { targets: &targets, hosts: &hosts, overrides: &overrides, repeats, fraction };
        Subject::read(file, &change)
    };
    let whole = |subject: Subject| match arguments.within {
        Some(time) => forecast::fitted(subject, time, &read),
        None => Ok(subject),
    };
    let subject = match read(arguments.repeats, arguments.fraction).and_then(whole) {
        Err(failure) if arguments.measures() => return ranks::decline_work_items(failure),
        subject => subject?,
    };
    if ranks::are_several() && arguments.detach {
        return Err(ranks::for_one_process(
            "--detach starts one process; have `mpirun` itself run in the background",
        ));
    }
    match arguments {
        CampaignArgs { dry_run: true, .. } => forecast::dry_run(&subject, arguments, store),
        CampaignArgs { status: true, .. } => course::status(&subject, arguments, store),
        CampaignArgs { detach: true, .. } => detach::detach(&subject, store),
        _ => {
            if let Some(ending) = over_ranks(&subject, arguments)? {
                return Ok(ending);
            }
            arguments.metrics.serve()?;
            course::execute(&subject, arguments, store)
        }
    }
}

/// How a rank other than 0 ended, which has driven its share of all cells that rank 0 measured; `None` where this is none.
fn over_ranks(subject: &Subject, arguments: &CampaignArgs) -> Result<Option<Ending>, Failure> {
    if !ranks::are_several() {
        return Ok(None);
    }
    if subject.is_virtual() {
        workers::can_share(subject, arguments).map_err(|why| ranks::for_one_process(&why))?;
        return Ok(workers::serve(subject, arguments));
    }
    ranks::heads_several();
    Ok(ranks::serve_several(|cell| course::cell(subject, arguments, cell)))
}

fn list() -> Result<Ending, Failure> {
    let line = |ready: &campaign::ready::Ready| {
        let about = campaign::Campaign::parse(ready.name, ready.text).map(|campaign| campaign.about);
        format!("{:<10} {}\n", ready.name, about.unwrap_or_default())
    };
    output::print_wrapped(&campaign::ready::all().iter().map(line).collect::<String>())?;
    Ok(Ending::done())
}
