//! Plans, by the name of a ready one or of a file, which may be the job file of another tool.

use std::fs;

use clap::Args;
use formats::JobEnvironment;
use formats::fio::Overlay;
use workload::plan::{Overrides, Plan, ready};

use crate::ending::Failure;
use crate::input::{candidates, environment, traces};
use crate::terminal;

// Options that change a plan. No doc comment: clap would take it for the help of the verb.
#[derive(Debug, Args)]
pub struct PlanChange {
    /// Set a key of the plan (`fathom plan help` lists them), such as depth=32, or phase.1.size=8KiB (fio: bs) in its first phase,
    /// or several values, measured one after the other: `depth={sweep=[1,8,64]}`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE", add = candidates::keys("="))]
    pub set: Vec<String>,
    /// Set a variable of the plan, which its `[vars]` declares, such as size=8KiB; may be given several times
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub vars: Vec<String>,
    /// Label the run, such as room=3; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", add = candidates::tag_keys("="))]
    pub tags: Vec<String>,
}

impl PlanChange {
    pub fn overrides(&self) -> Overrides {
        // The plan language has one list of what is set; variables are below `vars`.
        let vars = self.vars.iter().map(|var| format!("vars.{var}"));
        Overrides { set: vars.chain(self.set.iter().cloned()).collect(), tags: self.tags.clone() }
    }
}

/// A plan and where it came from.
#[derive(Clone, Debug)]
pub struct Planned {
    pub plan: Plan,
    pub origin: String,
    pub overrides: Overrides,
}

/// A plan's text and the targets that it names.
#[derive(Default)]
struct PlanText {
    text: String,
    /// What a tool's job file does otherwise here.
    notes: Vec<String>,
    /// None of a plan; those of a tool's job file.
    targets: Vec<String>,
    /// Of what is set, the keys of the plan.
    set: Vec<String>,
}

/// A result given for the job that it came from is a slip worth naming.
fn must_not_be_results(file: &str, text: &str) -> Result<(), Failure> {
    match formats::results_of(text) {
        None => Ok(()),
        Some(tool) => Err(Failure::Usage(format!(
            "{file}: these are results of {tool}, not a job; give the job file or the command line that \
             they came from"
        ))),
    }
}

/// The notes of a job file, each with its name.
fn told(file: &str, order: &formats::TranslatedJob) -> Vec<String> {
    order.notes.iter().map(|note| format!("{file}: {note}")).collect()
}

fn ordered(
    kind: &formats::JobFile,
    file: &str,
    text: &str,
    (on, set): (&[String], &[String]),
) -> Result<formats::TranslatedJob, Failure> {
    Ok(environment::with(file, on, |around| (kind.read)(file, text, &JobEnvironment { set, ..*around }))?)
}

/// The plan called `name`, read. Cautions go to stderr.
pub fn read(name: &str, overrides: Overrides) -> Result<Planned, Failure> {
    Ok(read_on(name, overrides, &[], false)?.0)
}

/// The same, and the targets that a tool's job file names, in place of which `on` may name others. What that file does
/// otherwise here is said unless the user is to read nothing beside the result.
pub fn read_on(
    name: &str,
    overrides: Overrides,
    on: &[String],
    is_quiet: bool,
) -> Result<(Planned, Vec<String>), Failure> {
    let PlanText { text, targets, notes, set } = find(name, on, &overrides.set)?;
    let overrides = Overrides { set, ..overrides };
    notes.iter().filter(|_| !is_quiet).for_each(|note| terminal::say(note));
    let planned = parse(name, &text, overrides)?;
    for caution in &planned.plan.cautions {
        terminal::say(&caution.plain());
    }
    Ok((planned, targets))
}

/// The plan that `text` is, with its traces; messages call it `origin`.
pub fn parse(origin: &str, text: &str, overrides: Overrides) -> Result<Planned, Failure> {
    let mut plan = Plan::parse(origin, text, &overrides).map_err(Failure::Plan)?;
    traces::attach(&mut plan)?;
    Ok(Planned { plan, origin: origin.into(), overrides })
}

/// The text of the plan called `name`.
pub fn text(name: &str) -> Result<String, Failure> {
    let PlanText { text, notes, .. } = find(name, &[], &[])?;
    notes.iter().for_each(|note| terminal::say(note));
    Ok(text)
}

/// A file where the name looks like a path or one is there; otherwise a ready plan. `set` is what the user sets of it.
fn find(name: &str, on: &[String], set: &[String]) -> Result<PlanText, Failure> {
    let looks_like_path = name.contains('/') || name.ends_with(".toml");
    if !looks_like_path && let Some(ready) = ready::find(name) {
        return Ok(PlanText { text: ready.text.into(), set: set.to_vec(), ..PlanText::default() });
    }
    match fs::read(units::name::path(name)) {
        Ok(bytes) => decoded(name, bytes, on, set),
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
fn decoded(name: &str, bytes: Vec<u8>, on: &[String], set: &[String]) -> Result<PlanText, Failure> {
    let text = formats::decoded(&bytes);
    if let Some(kind) = formats::job_file(name, &text) {
        let Overlay { options, keys } = match kind.tool == formats::fio::JOB_FILE.tool {
            true => Overlay::of(set)?,
            false => Overlay { keys: set.to_vec(), ..Overlay::default() },
        };
        let order = ordered(kind, name, &text, (on, &options))?;
        let notes = told(name, &order);
        return Ok(PlanText { text: order.plan, targets: order.targets, notes, set: keys });
    }
    must_not_be_results(name, &text)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::Usage(format!("{name}: the plan cannot be read: {error}")))?;
    Ok(PlanText { text, set: set.to_vec(), ..PlanText::default() })
}

/// A tool's job file as a plan, its targets in a comment.
pub fn converted(file: &str, from: Option<&str>) -> Result<String, Failure> {
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
    let order = ordered(kind, file, &text, (&[], &[]))?;
    told(file, &order).iter().for_each(|note| terminal::say(note));
    // A comment of TOML has no character that cannot be shown.
    let shown = |target: &String| target.replace(char::is_control, "?");
    let targets: String = order.targets.iter().map(|target| format!(" --on '{}'", shown(target))).collect();
    let head = if targets.is_empty() { String::new() } else { format!("# Targets:{targets}\n\n") };
    debug_assert!(head.lines().count() <= 2, "targets stand in one line, which is a comment");
    Ok(head + &order.plan)
}
