//! `fathom search`

use std::path::PathBuf;

use conduct::search::{LOOK_LEAST, SearchOptions, load_of};
use units::{Nanos, Share};

use crate::cli::{Format, SearchArgs};
use crate::dry;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::progress::Progress;
use crate::session::{Planned, Session, final_ending};
use crate::terminal;
use crate::verbs::run::{deliver, options_for, say_where, stream};
use crate::verbs::{keep, plan};

/// Of fewer requests a second no look could see enough.
const RATE_LEAST: f64 = 1.0;

/// Rates that a search looks at, if the edge lies where the grid expects it and the first winner is confirmed.
const RATES_USUAL: u64 = 17;

pub fn search(arguments: &SearchArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let run = &arguments.run;
    for path in &run.outputs {
        output::check(path)?;
    }
    let search = search_options(arguments)?;
    let overrides = plan::overrides(&run.change);
    let plan::Read { plan, origin, targets } = plan::read_on(&run.plan, &overrides, &run.targets)?;
    load_of(&plan, search.load.as_deref()).map_err(Failure::Usage)?;
    let options = options_for(run, targets)?;
    if run.dry_run {
        let ending = dry::run(&plan, &options)?;
        print(&what_it_would_do(&search))?;
        return Ok(ending);
    }
    let library = match run.no_save {
        true => None,
        false => Some(keep::open_to_save(store)?),
    };
    let mut progress = Progress::new(run.quiet);
    let session = Session::open(Planned { plan, origin, overrides }, &options, library)?;
    if let Some(words) = &session.scratch_words {
        progress.say(&format!("scratch file: {words}"));
    }
    progress.of_world(session.kind());
    let recorded = session.search(&search, &mut |event| {
        progress.show(event);
        if run.format == Format::Jsonl {
            stream(event);
        }
    });
    progress.finish();
    if recorded.is_refused {
        return Ok(final_ending(recorded));
    }
    deliver(&recorded.run, run, store)?;
    say_where(&recorded, run, store);
    Ok(final_ending(recorded))
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
    })
}

fn percent(share: Share) -> String {
    workload::plan::text::share_text(share)
}

fn what_it_would_do(search: &SearchOptions) -> String {
    let slos: Vec<String> = search.slos.iter().map(ToString::to_string).collect();
    let times = |each: Nanos| Nanos::new(each.get().saturating_mul(RATES_USUAL));
    let first = match search.to {
        Some(to) => format!("never more than {}/s", to.exact()),
        None => "a closed loop first, 5s at each depth".into(),
    };
    format!(
        "search  the maximum sustained rate with {}, to {}\n  {first}; then about {RATES_USUAL} rates, {} to {} each: {} to {} \
         together\n  after a rate that fails up to 2min until the target has recovered; a load that writes fills the write \
         cache before each rate\n  `run` of the plan does not apply\n",
        slos.join(" and "),
        Share::new(search.within).map_or_else(|| "2%".into(), percent),
        search.look,
        search.longest,
        times(search.look),
        times(search.longest),
    )
}

fn print(text: &str) -> Result<(), Failure> {
    terminal::print_wrapped(text)
        .map_err(|source| Failure::System { what: "writing to stdout".into(), source })
}
