//! `fathom array fit`: measures what tells a model its figures, and writes the model.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conduct::Machine;
use modelled::{Chosen, simulate};
use real::{Beside, Journal, RealOptions, UpkeepOptions};
use record::{Point, Run};
use units::convert::truncated;
use units::{Bytes, Nanos};
use workload::plan::{self, Overrides, Plan};
use workload::spec::{Extent, Span};

use crate::cli::FitArgs;
use crate::ending::{Ending, Failure};
use crate::output;
use crate::progress::Progress;
use crate::session::{Planned, Session};
use crate::signals;
use crate::terminal;
use crate::verbs::{compare, keep, plan as plans, run};

/// Reading alone, and writing.
const PLANS: [&str; 2] = ["calibrate", "calibrate-writes"];

pub fn fit(arguments: &FitArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let name = arguments.output.file_stem().and_then(|stem| stem.to_str()).unwrap_or("fitted").to_owned();
    let mut runs = Vec::new();
    for what in &arguments.what {
        if is_target(what) {
            runs.extend(measured(what, arguments, store)?);
        } else if what.ends_with(".json") {
            runs.push(compare::read(what)?);
        } else {
            let found = keep::open(store)?.get(what.as_str());
            runs.push(
                found.map_err(|error| {
                    Failure::Usage(format!("{what}: there is no such target, and {error}"))
                })?,
            );
        }
    }
    if let Some(code) = runs.iter().map(|run| run.ending.code).find(|code| *code != 0) {
        let reason = runs.iter().find(|run| run.ending.code == code).map(|run| run.ending.reason.clone());
        return Ok(Ending { code, reason: reason.unwrap_or_default() });
    }
    // What was measured is kept; the model is thought out without listening.
    signals::unattended();
    let mut model = Model { runs: &runs, machine: real::this_machine() };
    let fitted = fit::fit(&runs, &name, &mut model).map_err(|error| Failure::Usage(error.to_string()))?;
    output::write_whole(&arguments.output, &fitted.text)?;
    let text = text_of(&fitted, arguments);
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}

fn is_target(what: &str) -> bool {
    what.starts_with("array:")
        || what.starts_with("null:")
        || (units::name::path(what).exists() && !what.ends_with(".json"))
}

/// The runs on a target: reads, and writes where they are allowed.
fn measured(target: &str, arguments: &FitArgs, store: &Option<PathBuf>) -> Result<Vec<Run>, Failure> {
    let may_write =
        target.starts_with("array:") || units::name::path(target).is_dir() || !arguments.destroy.is_empty();
    let mut runs = Vec::new();
    for name in PLANS.iter().take(if may_write { 2 } else { 1 }) {
        runs.push(carried_out(name, target, arguments, store)?);
        if runs.last().is_some_and(|run| run.ending.code != 0) {
            break;
        }
    }
    Ok(runs)
}

fn carried_out(
    name: &str,
    target: &str,
    arguments: &FitArgs,
    store: &Option<PathBuf>,
) -> Result<Run, Failure> {
    let overrides = Overrides::default();
    let options = RealOptions {
        targets: vec![target.to_owned()],
        consents: run::consents(&arguments.destroy)?,
        keep: true,
        scratch: arguments.scratch,
        create: false,
        plain: Vec::new(),
        upkeep: UpkeepOptions::default(),
        beside: Beside::default(),
        looks_inside: false,
        journal: Journal::default(),
    };
    let plans::Read { plan, origin, .. } = plans::read(name, &overrides)?;
    let size = size_of(&plan, target, arguments, &options)?;
    let plan = plan.only(|point| fits(point, size));
    let library = match arguments.no_save {
        true => None,
        false => Some(keep::open_to_save(store)?),
    };
    let mut progress = Progress::new(arguments.quiet);
    let session = Session::open(Planned { plan, origin, overrides }, &options, library)?;
    for words in [&session.scratch_words, &session.leftover_words].into_iter().flatten() {
        progress.say(words);
    }
    progress.of_world(session.kind());
    let recorded = session.measure(&mut |event| progress.show(event));
    progress.finish();
    Ok(recorded.run)
}

/// Bytes of the target, as far as they are known before it is opened.
fn size_of(
    plan: &Plan,
    target: &str,
    arguments: &FitArgs,
    options: &RealOptions,
) -> Result<Option<Bytes>, Failure> {
    if units::name::path(target).is_dir() {
        return Ok(arguments.scratch);
    }
    // What asks for no region fits any target, so that this opens the world and no more.
    let plan = plan.clone().only(|point| fits(point, Some(Bytes::MIB * 64)));
    let session = Session::open(
        Planned { plan, origin: String::new(), overrides: Overrides::default() },
        options,
        None,
    )?;
    Ok(session.targets().first().map(|target| Bytes::new(target.size_bytes)))
}

/// Whether the regions that a point asks for lie within a target of `size`; a state always does.
fn fits(point: &plan::Point, size: Option<Bytes>) -> bool {
    let Some(size) = size else { return true };
    point.workloads().iter().all(|workload| {
        let of = |extent: &Extent| match extent {
            Extent::Bytes(bytes) => bytes.get(),
            Extent::Part(share) => truncated::<u64>(share.get() * size.as_f64()),
        };
        let span = match &workload.span {
            Span::Of(extent) => of(extent),
            // A few places at least.
            Span::Auto => workload.alignment().get() * 64,
        };
        of(&workload.offset).saturating_add(span) <= size.get()
    })
}

/// The model, run on the plans that the runs carried out.
struct Model<'r> {
    runs: &'r [Run],
    machine: Machine,
}

impl fit::Ask for Model<'_> {
    fn ask(
        &mut self,
        text: &str,
        wanted: &[fit::Wanted],
        whole: bool,
    ) -> Result<Vec<(fit::Wanted, Point)>, String> {
        fit::by_run(self.runs, wanted, |run, wanted| {
            let chosen: Vec<Chosen> = wanted.iter().map(chosen_of).collect();
            let there = |point: &plan::Point| run.points.iter().any(|had| had.index as usize == point.index);
            let plan = plan_of(run)?.only(|point| there(point));
            simulate(plan, text, &chosen, whole, &self.machine, Arc::default())
                .map_err(|error| error.to_string())
        })
    }
}

fn chosen_of(wanted: &fit::Wanted) -> Chosen {
    Chosen { index: wanted.index as usize, at_most: wanted.seconds.map(Nanos::from_secs_f64) }
}

/// The plan that a run carried out.
pub fn plan_of(run: &Run) -> Result<Plan, String> {
    let overrides = Overrides { set: run.plan.overrides.clone(), tags: Vec::new() };
    Plan::parse(&run.plan.origin, &run.plan.text, &overrides)
        .map_err(|errors| format!("the plan of run {} cannot be read any more: {}", run.id, errors.plain()))
}

fn text_of(fitted: &fit::Fit, arguments: &FitArgs) -> String {
    let output = &arguments.output;
    let style = terminal::style(&arguments.look);
    let mut text =
        report::fitted(&fitted.lines, style) + "\n" + &report::held(&fitted.residuals, style) + "\n";
    for sentence in &fitted.trust {
        text += &(report::wrap(sentence, style.width, "", "  ").join("\n") + "\n");
    }
    text + &format!("\nWritten to {}; ask it with: --on array:{}\n", output.display(), shown(output))
}

/// A path as an address takes it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains('/') || text.ends_with(".toml") { text } else { format!("./{text}") }
}
