//! `fathom search`

use clap::Args;
use conduct::search::{LOOK_LEAST, SearchOptions, Slo, load_of};
use units::{Bytes, Nanos, OpsPerSecond, Share};

use crate::ending::{Ending, Failure};
use crate::output;
use crate::session::store::Store;
use crate::session::{dry_run, ranks};
use crate::verbs::measure::RunArgs;

/// Heading of the options of the search itself.
const SEARCH: &str = "Search";

/// What the plan is to a search.
const PLAN: &str = "The workload whose maximum rate is searched: a ready plan (`fathom plan list`), a TOML file, or a job file of \
                    fio, Iometer or SQLIO. The search sets the rate and the queue depth; --load names one workload of several";

#[derive(Debug, Args)]
#[command(mut_arg("plan", |plan| plan.help(PLAN).long_help(PLAN)))]
pub struct SearchArgs {
    /// The service level objective (SLO) to meet: p99<5ms, read.p99<5ms (write., trim., flush.), service p99.9<10ms (from the issue of
    /// a request, not from when it was due), mean<800us, errors<0.1%; may be given several times
    #[arg(long = "slo", value_name = "SLO", required = true)]
    pub slos: Vec<Slo>,
    /// Which workload of the plan to search, by the name of its point or phase (`fathom plan check`) [default: the only
    /// one; points that differ only in queue depth, workers, rate, rounds or repeats count as one]
    #[arg(long, value_name = "NAME")]
    pub load: Option<String>,
    /// Stop when the highest rate that meets the SLO and the lowest that violates it are this close
    #[arg(long, value_name = "PERCENT", default_value = "2%", help_heading = SEARCH)]
    pub tolerance: Share,
    /// Duration of the first trial at a rate, at least 10s; until the trials decide, each further one doubles the total
    #[arg(long, value_name = "TIME", default_value = "15s", help_heading = SEARCH)]
    pub trial: Nanos,
    /// Once the trials at a rate took this long together, no further one starts and it counts as undecided; trials that
    /// confirm a rate are counted apart [default: 4min, 16min for SLOs beyond p99]
    #[arg(long, value_name = "TIME", help_heading = SEARCH)]
    pub max_trial: Option<Nanos>,
    /// Maximum queue depth [default: twice what the SLO allows at the highest rate, up to 1024]
    #[arg(long, value_name = "COUNT", help_heading = SEARCH)]
    pub depth: Option<u32>,
    /// Size of the write cache: it is filled before each rate that keeps it full, so that the storage behind it is
    /// measured; 0B: do not fill [default: that of the virtual array; otherwise detected by writing]
    #[arg(long, value_name = "SIZE", help_heading = SEARCH)]
    pub write_cache: Option<Bytes>,
    /// Lowest rate to try, such as 500/s or 20k/s [default: 1 % of the rate at full load]
    #[arg(long, value_name = "RATE", help_heading = SEARCH)]
    pub from: Option<OpsPerSecond>,
    /// Highest rate to try; the search then does not start without a rate limit [default: no maximum]
    #[arg(long, value_name = "RATE", help_heading = SEARCH)]
    pub to: Option<OpsPerSecond>,
    /// Maximum duration of the whole search from its first load on: what is known by then is the answer [default: as long
    /// as it needs]
    #[arg(long, value_name = "TIME", help_heading = SEARCH)]
    pub budget: Option<Nanos>,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Of fewer requests a second no look could see enough.
const RATE_LEAST: f64 = 1.0;

/// Rates that a search looks at, if the edge lies where the grid expects it and the first winner is confirmed.
const RATES_USUAL: u64 = 17;

/// The same where the grid has to continue upwards, or the edge from above is another one.
const RATES_MANY: u64 = 25;

const _: () = assert!(RATES_USUAL < RATES_MANY, "a search that continues upwards looks at more rates");

pub fn search(arguments: &SearchArgs, store: &Store) -> Result<Ending, Failure> {
    let run = &arguments.run;
    if !ranks::is_first() && run.dry_run {
        return Ok(Ending::done());
    }
    if let Some(ending) = run.serve() {
        return Ok(ending);
    }
    run.check_outputs()?;
    let search = search_options(arguments)?;
    let (planned, options) = run.read()?;
    load_of(&planned.plan, search.load.as_deref()).map_err(Failure::Usage)?;
    if run.dry_run {
        let ending = dry_run::run(&planned.plan, &options, planned.plan.summary().without_costs())?;
        output::print_wrapped(&what_it_would_do(&search))?;
        return Ok(ending);
    }
    let (session, mut progress) = run.open(planned, &options, store)?;
    let recorded = session.search(&search, &mut |event| run.watch(&mut progress, event));
    progress.finish();
    run.end(recorded, store)
}

fn search_options(arguments: &SearchArgs) -> Result<SearchOptions, Failure> {
    let usage = |text: String| Err(Failure::Usage(text));
    if arguments.trial < LOOK_LEAST {
        return usage(format!(
            "--trial {}: a trial takes at least {LOOK_LEAST}, because its seconds are compared with each other",
            arguments.trial
        ));
    }
    let longest = arguments.max_trial.unwrap_or_else(|| SearchOptions::longest_for(&arguments.slos));
    if longest < arguments.trial {
        return usage(format!("--max-trial {longest} is shorter than --trial {}", arguments.trial));
    }
    if !(0.001..=0.5).contains(&arguments.tolerance.get()) {
        return usage(format!("--tolerance {}: from 0.1% to 50%", percent(arguments.tolerance)));
    }
    if let Some(bound) =
        [arguments.from, arguments.to].into_iter().flatten().find(|bound| bound.get() < RATE_LEAST)
    {
        return usage(format!("{}: a search has no rates below {RATE_LEAST}/s", bound.exact()));
    }
    if let (Some(from), Some(to)) = (arguments.from, arguments.to)
        && from.get() >= to.get()
    {
        return usage(format!("--from {} is not below --to {}", from.exact(), to.exact()));
    }
    if let Some(budget) = arguments.budget.filter(|budget| *budget < arguments.trial) {
        return usage(format!(
            "--budget {budget} is shorter than one trial of {} (--trial)",
            arguments.trial
        ));
    }
    if arguments.depth == Some(0) {
        return usage("--depth 0: the queue depth is at least 1".into());
    }
    Ok(SearchOptions {
        slos: arguments.slos.clone(),
        within: arguments.tolerance.get(),
        look: arguments.trial,
        longest,
        depth: arguments.depth,
        write_cache: arguments.write_cache,
        load: arguments.load.clone(),
        from: arguments.from,
        to: arguments.to,
        budget: arguments.budget,
    })
}

fn percent(share: Share) -> String {
    workload::plan::text::share_text(share)
}

fn what_it_would_do(search: &SearchOptions) -> String {
    let slos: Vec<String> = search.slos.iter().map(ToString::to_string).collect();
    let times = |each: Nanos, rates: u64| Nanos::new(each.get().saturating_mul(rates));
    debug_assert!(search.look <= search.longest, "a first trial is no longer than all that follow it may be");
    let first = match search.to {
        Some(to) => format!("never more than {}/s", to.exact()),
        None => "a closed loop first, 5s at each depth".into(),
    };
    let end = search
        .budget
        .map(|budget| format!("  after {budget} it ends with what is known\n"))
        .unwrap_or_default();
    format!(
        "search  the maximum sustained rate with {}, to {}\n  {first}; then about {RATES_USUAL} to {RATES_MANY} rates, {} to {} \
         each: {} to {} together\n  besides, after a rate that fails up to 2min until the target has recovered, and for a load that \
         writes, before each rate what filling or emptying the write cache takes\n{end}",
        slos.join(" and "),
        Share::new(search.within).map_or_else(|| "2%".into(), percent),
        search.look,
        search.longest,
        times(search.look, RATES_USUAL),
        times(search.longest, RATES_MANY),
    )
}
