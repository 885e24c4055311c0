//! `fathom plan`, and how every verb finds a plan.

use std::fs;

use workload::plan::{Overrides, Plan, ready, reference};

use crate::around;
use crate::cli::{PlanChange, PlanVerb};
use crate::ending::{Ending, Failure};
use crate::terminal;
use crate::traces;

/// A plan's text and where it came from.
pub struct Found {
    pub origin: String,
    pub text: String,
    /// The targets that a tool's job file names; none of a plan.
    pub targets: Vec<String>,
}

/// A plan that was read.
pub struct Read {
    pub plan: Plan,
    pub origin: String,
    /// The targets that a tool's job file names; none of a plan.
    pub targets: Vec<String>,
}

pub fn plan(verb: &PlanVerb) -> Result<Ending, Failure> {
    let printed = match verb {
        PlanVerb::List => terminal::print_wrapped(&list()),
        PlanVerb::Show { plan } => terminal::print(&find(plan, &[])?.text),
        PlanVerb::Check { plan, change } => {
            let read = read(plan, &overrides(change))?;
            terminal::print_wrapped(&read.plan.summary().to_string())
        }
        PlanVerb::Help { key: None } => terminal::print_wrapped(&reference::list()),
        PlanVerb::Help { key: Some(key) } => {
            terminal::print_wrapped(&reference::help(key).map_err(Failure::Usage)?)
        }
        PlanVerb::Convert { file, from } => terminal::print(&converted(file, from.as_deref())?),
    };
    printed.map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}

pub fn overrides(change: &PlanChange) -> Overrides {
    Overrides { set: change.set.clone(), tags: change.tags.clone() }
}

/// A tool's job file as a plan, its targets in a comment.
fn converted(file: &str, from: Option<&str>) -> Result<String, Failure> {
    let bytes = fs::read(units::name::path(file))
        .map_err(|error| Failure::Usage(format!("{file}: the job file cannot be read: {error}")))?;
    let text = formats::decoded(&bytes);
    let kind = match from {
        Some(tool) => formats::job_files().iter().find(|kind| kind.tool == tool),
        None => formats::job_file(file, &text),
    };
    let Some(kind) = kind else {
        must_not_be_results(file, &text)?;
        let tools: Vec<&str> = formats::job_files().iter().map(|kind| kind.tool).collect();
        return Err(Failure::Usage(format!(
            "{file}: no job file of a tool that is known; say which with `--from` ({})",
            tools.join(", ")
        )));
    };
    let order = ordered(kind, file, &text, &[])?;
    // A comment of TOML has no character that cannot be shown.
    let shown = |target: &String| target.replace(char::is_control, "?");
    let targets: String = order.targets.iter().map(|target| format!(" --on '{}'", shown(target))).collect();
    let head = if targets.is_empty() { String::new() } else { format!("# Targets:{targets}\n\n") };
    Ok(head + &order.plan)
}

/// A result given for the job that it came from is a slip worth naming.
fn must_not_be_results(file: &str, text: &str) -> Result<(), Failure> {
    match formats::results_of(text) {
        None => Ok(()),
        Some(tool) => Err(Failure::Usage(format!(
            "{file}: these are results of {tool}, and no job; give the job file or the command line that they came \
             from"
        ))),
    }
}

fn ordered(
    kind: &formats::JobFile,
    file: &str,
    text: &str,
    on: &[String],
) -> Result<formats::TranslatedJob, Failure> {
    let order = around::with(file, on, |around| (kind.read)(file, text, around))?;
    for note in &order.notes {
        terminal::say(&format!("{file}: {note}"));
    }
    Ok(order)
}

/// The plan called `name`, read. Cautions go to stderr.
pub fn read(name: &str, overrides: &Overrides) -> Result<Read, Failure> {
    read_on(name, overrides, &[])
}

/// The same, where a job file's own targets are replaced by those that `on` names.
pub fn read_on(name: &str, overrides: &Overrides, on: &[String]) -> Result<Read, Failure> {
    let Found { origin, text, targets } = find(name, on)?;
    let mut plan = Plan::parse(&origin, &text, overrides).map_err(Failure::Plan)?;
    traces::attach(&mut plan)?;
    for caution in &plan.cautions {
        terminal::say(&caution.plain());
    }
    Ok(Read { plan, origin, targets })
}

/// A file where the name looks like a path or one is there; otherwise a ready plan.
fn find(name: &str, on: &[String]) -> Result<Found, Failure> {
    let looks_like_path = name.contains('/') || name.ends_with(".toml");
    if !looks_like_path && let Some(ready) = ready::find(name) {
        return Ok(Found { origin: name.into(), text: ready.text.into(), targets: Vec::new() });
    }
    match fs::read(units::name::path(name)) {
        Ok(bytes) => read_text(name, bytes, on),
        Err(error) if looks_like_path => {
            Err(Failure::Usage(format!("{name}: the plan cannot be read: {error}")))
        }
        Err(_) => {
            let near =
                ready::suggest(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Err(Failure::Usage(format!(
                "there is no plan `{name}`: neither a ready one (`fathom plan list`) nor a file{near}"
            )))
        }
    }
}

/// A job file, whatever its encoding, or a plan.
fn read_text(name: &str, bytes: Vec<u8>, on: &[String]) -> Result<Found, Failure> {
    let text = formats::decoded(&bytes);
    if let Some(kind) = formats::job_file(name, &text) {
        let formats::TranslatedJob { plan, targets, .. } = ordered(kind, name, &text, on)?;
        return Ok(Found { origin: name.into(), text: plan, targets });
    }
    must_not_be_results(name, &text)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::Usage(format!("{name}: the plan cannot be read: {error}")))?;
    Ok(Found { origin: name.into(), text, targets: Vec::new() })
}

fn list() -> String {
    let widest = ready::all().iter().map(|ready| ready.name.len()).max().unwrap_or(0);
    let about =
        |ready: &ready::Ready| ready.plan(&Overrides::default()).map(|plan| plan.about).unwrap_or_default();
    ready::all().iter().map(|ready| format!("{:widest$}  {}\n", ready.name, about(ready))).collect()
}
