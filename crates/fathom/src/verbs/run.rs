//! `fathom run`

use std::path::PathBuf;

use conduct::real::{RealOptions, RealWorld};
use conduct::{Event, Outcome, carry_out};
use host::safety::Consent;
use record::{Point, Run, Severity};

use crate::cli::{Format, RunArgs};
use crate::dry;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::signals::Signals;
use crate::terminal;
use crate::verbs::{keep, plan};

pub fn run(arguments: &RunArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    for path in &arguments.outputs {
        output::format_of(path)?;
    }
    let overrides = plan::overrides(&arguments.change);
    let (plan, origin) = plan::read(&arguments.plan, &overrides)?;
    let options = options(arguments)?;
    if arguments.dry_run {
        return dry::run(&plan, &options);
    }
    let library = match arguments.no_save {
        true => None,
        false => Some(keep::open(store)?),
    };
    let signals = Signals::listen()
        .map_err(|source| Failure::System { what: "listening for signals".into(), source })?;
    let mut world = RealWorld::open(&plan, &options, signals.stop())?;
    let mut progress = Progress::new(arguments.quiet);
    if let Some(words) = world.scratch_words() {
        progress.say(&format!("scratch file: {words}"));
    }
    let mut recorder = Recorder::start(&plan, &origin, &overrides, &world, world.consents(), library);
    let mut kept = Ok(());
    let outcome = carry_out(&plan, &mut world, &mut |event| {
        progress.show(&event);
        if arguments.format == Format::Jsonl {
            stream(&event);
        }
        if let Event::PointEnded { point } = event
            && kept.is_ok()
        {
            kept = recorder.add(point);
        }
    });
    progress.finish();
    kept?;
    recorder.set_targets(conduct::World::targets(&world));
    let ending = ending(&outcome, &signals);
    let run = recorder.finish(record::Ending {
        complete: outcome.complete,
        code: ending.code,
        reason: ending.reason.clone(),
    })?;
    deliver(&run, arguments)?;
    Ok(ending_with_findings(&run, ending))
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
        return Ending { code, reason: "interrupted; the partial run is kept".into() };
    }
    if let Some(error) = &outcome.error {
        return Ending { code: error.exit_code(), reason: error.to_string() };
    }
    let errors: u64 =
        outcome.points.iter().flat_map(|point| &point.workloads).map(|workload| workload.errors).sum();
    match errors {
        0 => Ending::done(),
        errors => {
            Ending { code: 5, reason: format!("{errors} requests failed{}", first_error(&outcome.points)) }
        }
    }
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

/// A run that went through may still be invalid.
fn ending_with_findings(run: &Run, ending: Ending) -> Ending {
    let invalid = run.findings.iter().find(|finding| finding.severity == Severity::Invalid);
    match invalid {
        Some(finding) if ending.code == 0 => {
            Ending { code: 4, reason: format!("the result is invalid: {}", finding.sentence) }
        }
        _ => ending,
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
