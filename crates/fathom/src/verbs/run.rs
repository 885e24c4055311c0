//! `fathom run`

use std::path::PathBuf;

use conduct::modelled::ModelledWorld;
use conduct::real::{RealOptions, RealWorld};
use conduct::{Event, Outcome, World, carry_out};
use host::safety::Consent;
use record::{Point, Run};
use workload::plan::Plan;

use crate::cli::{Format, RunArgs};
use crate::dry;
use crate::ending::{Ending, Failure};
use crate::models::{self, LIBRARY};
use crate::output;
use crate::progress::Progress;
use crate::recorder::{Recorded, Recorder};
use crate::signals::Signals;
use crate::terminal;
use crate::verbs::{keep, plan};

pub fn run(arguments: &RunArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    for path in &arguments.outputs {
        output::check(path)?;
    }
    let overrides = plan::overrides(&arguments.change);
    let (plan, origin) = plan::read(&arguments.plan, &overrides)?;
    let options = options(arguments)?;
    if arguments.dry_run {
        return dry::run(&plan, &options);
    }
    let library = match arguments.no_save {
        true => None,
        false => Some(keep::open_to_save(store)?),
    };
    let signals = Signals::listen()
        .map_err(|source| Failure::System { what: "listening for signals".into(), source })?;
    let mut progress = Progress::new(arguments.quiet);
    let Opened { mut world, consents } = open(&plan, &options, &signals, &progress)?;
    progress.of_world(world.kind());
    let mut recorder = Recorder::start(&plan, &origin, &overrides, &*world, consents, library);
    let outcome = carry_out(&plan, &mut *world, &mut |event| {
        progress.show(&event);
        if arguments.format == Format::Jsonl {
            stream(&event);
        }
        if let Event::PointEnded { point } = event {
            recorder.add(point);
        }
    });
    progress.finish();
    recorder.set_targets(world.targets());
    let recorded = recorder.finish(outcome.complete, ending(&outcome, &signals));
    deliver(&recorded.run, arguments)?;
    say_where(&recorded, arguments, store);
    Ok(final_ending(recorded))
}

/// A world, and what of the user's data may be destroyed in it.
struct Opened {
    world: Box<dyn World>,
    consents: Vec<String>,
}

/// The world that the targets belong to.
fn open(
    plan: &Plan,
    options: &RealOptions,
    signals: &Signals,
    progress: &Progress,
) -> Result<Opened, Failure> {
    if let Some(address) = models::address(&options.targets)? {
        let world = ModelledWorld::open(plan, address, &LIBRARY, signals.stop())?;
        return Ok(Opened { world: Box::new(world), consents: Vec::new() });
    }
    let world = RealWorld::open(plan, options, signals.stop())?;
    if let Some(words) = world.scratch_words() {
        progress.say(&format!("scratch file: {words}"));
    }
    Ok(Opened { consents: world.consents(), world: Box::new(world) })
}

fn options(arguments: &RunArgs) -> Result<RealOptions, Failure> {
    let consent = arguments.destroy.as_deref().map(Consent::parse).transpose();
    Ok(RealOptions {
        targets: arguments.targets.clone(),
        consent: consent.map_err(|error| Failure::Usage(format!("--destroy: {error}")))?,
        keep: arguments.keep,
        scratch: arguments.scratch,
    })
}

/// How the measuring ended.
fn ending(outcome: &Outcome, signals: &Signals) -> Ending {
    if let Some(code) = signals.exit_code() {
        return Ending {
            code,
            reason: "interrupted; what was measured so far is a valid partial run".into(),
        };
    }
    if let Some(error) = &outcome.error {
        // Code 2 promises that nothing was touched, which no longer holds: what fitted before and does not now
        // has changed beneath the run.
        let code = match error.exit_code() {
            2 if !outcome.points.is_empty() => 5,
            code => code,
        };
        return Ending { code, reason: error.to_string() };
    }
    let errors: u64 =
        outcome.points.iter().flat_map(|point| &point.workloads).map(|workload| workload.errors).sum();
    let reason = match errors {
        0 => return Ending::done(),
        1 => format!("a request failed{}", first_error(&outcome.points)),
        errors => format!("{errors} requests failed{}", first_error(&outcome.points)),
    };
    Ending { code: 5, reason }
}

fn first_error(points: &[Point]) -> String {
    let mut samples =
        points.iter().flat_map(|point| &point.workloads).flat_map(|workload| &workload.error_samples);
    samples.next().map_or_else(String::new, |first| {
        let place = if first.file.is_empty() { String::new() } else { format!(" of {}", first.file) };
        format!(
            ", the first a {} of {} bytes at {}{place}: {}",
            first.op, first.len_bytes, first.offset_bytes, first.failure
        )
    })
}

/// The ending of the record, unless all went well but for the library.
fn final_ending(recorded: Recorded) -> Ending {
    let record::Ending { code, reason, .. } = recorded.run.ending;
    match recorded.lost {
        Some(error) if code == 0 => Ending { code: 8, reason: format!("the run could not be kept: {error}") },
        _ => Ending { code, reason },
    }
}

/// How to see the run again; or that it cannot be.
fn say_where(recorded: &Recorded, arguments: &RunArgs, store: &Option<PathBuf>) {
    if let Some(error) = &recorded.lost {
        terminal::say(&format!("the run is not kept: {error}"));
    } else if !arguments.no_save && !arguments.quiet {
        let store = store.as_ref().map(|path| format!("--store {} ", path.display())).unwrap_or_default();
        // Apart from the table where both are on the same screen.
        let gap = if terminal::is_one_screen() { "\n" } else { "" };
        terminal::say(&format!("{gap}Bring it back with: fathom {store}show {}", recorded.run.id));
    }
}

fn deliver(run: &Run, arguments: &RunArgs) -> Result<(), Failure> {
    let text = match arguments.format {
        Format::Jsonl => last_event(run),
        format => output::rendered(run, format, &arguments.look)?,
    };
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    for path in &arguments.outputs {
        output::write(run, path, &arguments.look)?;
    }
    Ok(())
}

/// Prints one event as one line of JSON.
fn stream(event: &Event<'_>) {
    let line = match event {
        Event::PointStarted { index, of, name, expected, .. } => serde_json::json!({
            "event": "point-started", "index": index, "of": of, "name": name,
            "expected_ns": expected.map(units::Nanos::get),
        }),
        Event::Live { index, live } => serde_json::json!({
            "event": "live", "index": index, "doing": live.doing, "now_ns": live.now.nanos(),
            "ops": live.progress.ops, "bytes": live.progress.bytes, "errors": live.progress.errors,
            "in_flight": live.progress.in_flight, "response_p99_ns": live.p99.map(units::Nanos::get),
            "done": live.done,
        }),
        Event::PointEnded { point } => serde_json::json!({ "event": "point-ended", "point": point }),
        Event::SweepEnded { phase, why } => {
            serde_json::json!({ "event": "sweep-ended", "phase": phase, "why": why })
        }
    };
    // A reader that has gone is noticed at the end.
    let _gone = terminal::print(&format!("{line}\n"));
}

fn last_event(run: &Run) -> String {
    let ended = serde_json::json!({
        "event": "run-ended", "id": run.id, "ending": run.ending, "findings": run.findings,
    });
    format!("{ended}\n")
}
