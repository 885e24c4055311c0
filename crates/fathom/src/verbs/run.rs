//! `fathom run`

use clap::Args;

use crate::ending::{Ending, Failure};
use crate::input::arrays;
use crate::session::dry_run;
use crate::session::store::Store;
use crate::verbs::against::{self, AgainstArgs};
use crate::verbs::measure::RunArgs;

#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub against: AgainstArgs,
    /// On a virtual array: record the latency breakdown of each request (time in queue, cache, link, disk) for `fathom
    /// explain`. The simulation runs slower
    #[arg(long, conflicts_with = "against")]
    pub breakdown: bool,
}

pub fn run(arguments: &MeasureArgs, store: &Store) -> Result<Ending, Failure> {
    let (breakdown, run) = (arguments.breakdown, &arguments.run);
    if let Some(second) = &arguments.against.against {
        return against::run(run, &arguments.against, second, store);
    }
    run.check_outputs()?;
    let (planned, options) = run.read()?;
    if breakdown && arrays::address(&options.targets)?.is_none() {
        return Err(Failure::Usage(
            "--breakdown needs a virtual array, because real storage does not show where a request spends \
             its time; choose one with `--on array:NAME`"
                .into(),
        ));
    }
    if run.dry_run {
        return dry_run::run(&planned.plan, &options);
    }
    let (mut session, mut progress) = run.open(planned, &options, store)?;
    if breakdown {
        session.keep_breakdown();
    }
    let recorded = session.measure(&mut |event| run.watch(&mut progress, event));
    progress.finish();
    run.end(recorded, store)
}
