//! `fathom run`

use std::path::PathBuf;

use conduct::Event;
use real::{Beside, Consent, Journal, RealOptions, Source, UpkeepOptions};
use record::Run;
use units::name::path;

use crate::cli::{Format, MeasureArgs, RunArgs, Upkeep};
use crate::dry;
use crate::ending::{Ending, Failure};
use crate::models;
use crate::output;
use crate::progress::Progress;
use crate::recorder::Recorded;
use crate::session::{Planned, Session, final_ending};
use crate::terminal;
use crate::verbs::{against, keep, plan};

pub fn run(arguments: &MeasureArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    if let Some(against) = &arguments.against {
        return against::run(arguments, against, store);
    }
    let (shares, arguments) = (arguments.shares, &arguments.run);
    for path in &arguments.outputs {
        output::check(path)?;
    }
    let overrides = plan::overrides(&arguments.change);
    let plan::Read { plan, origin, targets } =
        plan::read_on(&arguments.plan, &overrides, &arguments.targets)?;
    let options = options_for(arguments, targets)?;
    if shares && models::address(&options.targets)?.is_none() {
        return Err(Failure::Usage(
            "--shares follows each request through a virtual array, and real storage does not tell where it is; choose \
             one with `--on array:NAME`"
                .into(),
        ));
    }
    if arguments.dry_run {
        return dry::run(&plan, &options);
    }
    let library = match arguments.no_save {
        true => None,
        false => Some(keep::open_to_save(store)?),
    };
    let mut progress = Progress::new(arguments.quiet);
    let mut session = Session::open(Planned { plan, origin, overrides }, &options, library)?;
    if shares {
        session.keep_shares();
    }
    if let Some(words) = &session.scratch_words {
        progress.say(&format!("scratch file: {words}"));
    }
    if let Some(words) = &session.leftover_words {
        progress.say(words);
    }
    progress.of_world(session.kind());
    let recorded = session.measure(&mut |event| {
        progress.show(event);
        if arguments.format == Format::Jsonl {
            stream(event);
        }
    });
    progress.finish();
    if recorded.is_refused {
        return Ok(final_ending(recorded));
    }
    deliver(&recorded.run, arguments, store)?;
    say_where(&recorded, arguments, store);
    Ok(final_ending(recorded))
}

/// What the command line says, on the targets of a tool's job file where it names none. What a job file names is made
/// where it is not there, as the tool itself would.
pub(super) fn options_for(arguments: &RunArgs, of_job: Vec<String>) -> Result<RealOptions, Failure> {
    let mut options = options(arguments)?;
    if options.targets.is_empty() {
        options.targets = of_job;
        options.create = true;
    }
    must_make_files(&options)?;
    Ok(options)
}

/// A size of scratch files is for targets that have such.
pub(super) fn must_make_files(options: &RealOptions) -> Result<(), Failure> {
    let has_files = |name: &String| path(name).is_dir() || !(name.contains(':') || path(name).exists());
    match options.scratch {
        Some(size) if !options.targets.is_empty() && !options.targets.iter().any(has_files) => {
            Err(Failure::Usage(format!(
                "--scratch {}: no scratch file is made on {}; say how much of it to use with `--set span={0}`",
                size.exact(),
                options.targets.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

pub(super) fn options(arguments: &RunArgs) -> Result<RealOptions, Failure> {
    Ok(RealOptions {
        targets: arguments.targets.clone(),
        consents: consents(&arguments.destroy)?,
        keep: arguments.keep,
        scratch: arguments.scratch,
        create: arguments.create,
        plain: Vec::new(),
        upkeep: upkeep(&arguments.upkeep),
        beside: Beside::default(),
        looks_inside: true,
        journal: Journal::default(),
    })
}

fn upkeep(arguments: &Upkeep) -> UpkeepOptions {
    let command = arguments.progress_cmd.clone().map(Source::Command);
    UpkeepOptions {
        progress: arguments.progress.clone().or(command),
        fail: arguments.fail_cmd.clone(),
        rebuild: arguments.rebuild_cmd.clone(),
    }
}

/// What `--destroy` names, each of it.
pub fn consents(given: &[String]) -> Result<Vec<Consent>, Failure> {
    let parsed = given.iter().map(|text| Consent::parse(text)).collect::<Result<_, _>>();
    parsed.map_err(|error| Failure::Usage(format!("--destroy: {error}")))
}

/// How to see the run again; or that it cannot be.
pub(super) fn say_where(recorded: &Recorded, arguments: &RunArgs, store: &Option<PathBuf>) {
    if let Some(error) = &recorded.lost {
        terminal::say(&format!("the run is not kept: {error}"));
    } else if !arguments.no_save && !arguments.quiet {
        let store = store.as_ref().map(|path| format!("--store {} ", path.display())).unwrap_or_default();
        // Apart from the table where both are on the same screen.
        let gap = if terminal::is_one_screen() { "\n" } else { "" };
        terminal::say(&format!("{gap}Saved; show it with: fathom {store}show {}", recorded.run.id));
    }
}

pub(super) fn deliver(run: &Run, arguments: &RunArgs, store: &Option<PathBuf>) -> Result<(), Failure> {
    let rest = match arguments.no_save {
        true => "keep the run (without `--no-save`), or `-o result.txt`".into(),
        false => keep::in_full(&run.id, store),
    };
    let text = match arguments.format {
        Format::Jsonl => last_event(run),
        format => output::rendered(run, format, &arguments.look, Some(&rest))?,
    };
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    for path in &arguments.outputs {
        output::write(run, path, &arguments.look)?;
    }
    Ok(())
}

/// Prints one event as one line of JSON.
pub(super) fn stream(event: &Event<'_>) {
    let line = match event {
        Event::PointStarted { index, of, name, expected, .. } => serde_json::json!({
            "event": "point-started", "index": index, "of": of, "name": name,
            "expected_ns": expected.map(units::Nanos::get),
        }),
        Event::Live { index, live, .. } => serde_json::json!({
            "event": "live", "index": index, "doing": live.doing, "now_ns": live.now.nanos(),
            "ops": live.progress.ops, "bytes": live.progress.bytes, "errors": live.progress.errors,
            "in_flight": live.progress.in_flight, "response_p99_ns": live.p99.map(units::Nanos::get),
            "done": live.done,
        }),
        Event::PointEnded { point } => serde_json::json!({ "event": "point-ended", "point": point }),
        Event::Aside { what, expected } => {
            serde_json::json!({ "event": "aside", "what": what, "expected_ns": expected.get() })
        }
        Event::RateDecided { search } => {
            serde_json::json!({ "event": "rate-decided", "rung": search.ladder.last() })
        }
        Event::SweepEnded { phase, why } => {
            serde_json::json!({ "event": "sweep-ended", "phase": phase, "why": why })
        }
    };
    // A reader that has gone is noticed at the end.
    let _gone = terminal::print(&format!("{line}\n"));
}

fn last_event(run: &Run) -> String {
    let ended = serde_json::json!({
        "event": "run-ended", "id": run.id, "ending": run.ending, "findings": run.findings, "grading": run.grading,
    });
    format!("{ended}\n")
}
