//! `fathom explain`: the findings of a run in full.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use explain::Untried;
use modelled::{Chosen, simulate_on};
use record::{ModelComparison, PointKind, Run};

use crate::ending::{Ending, Failure};
use crate::input::arrays::LIBRARY;
use crate::input::{candidates, path_value};
use crate::output::{self, TreeFormat};
use crate::session::store::Store;
use crate::terminal::{self, Appearance};
use crate::verbs::what_if::{self, WhatIfArgs};
use crate::verbs::{fit, parts};

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last", add = candidates::runs())]
    pub run: String,
    /// Parts and ceilings of the path to the media that the kernel does not know, in TOML
    #[arg(long, value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub parts: Option<PathBuf>,
    #[command(flatten)]
    pub what_if: WhatIfArgs,
    /// Compare every point with the prediction of this model, an array file of `fathom array fit`
    #[arg(long, value_name = "FILE", conflicts_with = "parts")]
    #[arg(value_parser = path_value())]
    pub model: Option<PathBuf>,
    /// Every finding of every point with its numbers, not only the top ten
    #[arg(long)]
    pub full: bool,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// Judges a kept run by the rules of this program, whatever it was judged by before. The library is not changed.
pub fn explain(arguments: &ExplainArgs, store: &Store) -> Result<Ending, Failure> {
    let mut run = store.open()?.get(arguments.run.as_str())?;
    if run.path.is_empty() && arguments.parts.is_some() {
        let why = match run.world {
            record::World::Array => {
                "was on a virtual array, whose parts and ceilings are known: list them with `fathom array show`, and \
                 change them in the address, as in array:md3000?link.rate=2GB/s"
            }
            record::World::Host => "has no path to its media, so --parts has nothing to extend",
        };
        return Err(Failure::Usage(format!("run {} {why}", run.id)));
    }
    parts::apply(arguments.parts.as_deref(), &mut run.path)?;
    explain::judge(&mut run);
    let mut table = String::new();
    if let Some(model) = &arguments.model {
        let held = held(&run, model)?;
        let style = terminal::style(&arguments.appearance);
        table = report::held(&held, style)
            + &report::wrap(RATES_ALONE, style.width, "", "  ").join("\n")
            + "\n\n";
        run.findings = explain::model::findings(&run, &held);
    }
    let tried =
        if arguments.what_if.what_if { Some(what_if::try_parts(&arguments.what_if, &run)?) } else { None };
    match &tried {
        None if arguments.model.is_none() => what_if::settle(&mut run),
        tried => {
            tried.iter().for_each(|tried| what_if::settle_with(&mut run, tried));
            let is_tried = |index: u32| tried.as_ref().is_some_and(|tried| tried.point == index);
            let others: Vec<u32> = open_points(&run).into_iter().filter(|index| !is_tried(*index)).collect();
            what_if::leave(&mut run, &others, Untried::Unasked);
        }
    }
    debug_assert!(
        tried.as_ref().is_none_or(|tried| run.points.iter().any(|point| point.index == tried.point)),
        "what was tried is a point of the run"
    );
    let found = tried.as_ref().and_then(|tried| explain::what_if(&run, tried));
    run.findings.extend(found);
    let text = match arguments.format {
        TreeFormat::Text => table + &text(arguments, &run, tried.as_ref(), store),
        TreeFormat::Json => output::json(&run.findings)?,
    };
    output::print(&text)?;
    Ok(Ending::done())
}

/// What was found, and the tables below it.
fn text(arguments: &ExplainArgs, run: &Run, tried: Option<&record::WhatIf>, store: &Store) -> String {
    let style = terminal::style(&arguments.appearance);
    let found = match arguments.full {
        true => report::explained(run, style),
        false => report::explained_in_brief(run, style, &in_full(arguments, store)),
    };
    let trials = tried.map_or(String::new(), |one| report::what_if(one, style));
    let tables = [report::shares(run, style), report::work(run, style), trials];
    let below = tables.iter().filter(|table| !table.is_empty()).map(|table| format!("\n{table}"));
    std::iter::once(found).chain(below).collect()
}

/// The points of which something is open that trials may settle.
fn open_points(run: &Run) -> Vec<u32> {
    explain::open_points(run).into_iter().chain(explain::untried_depths(run)).collect()
}

/// The command that prints every finding.
fn in_full(arguments: &ExplainArgs, store: &Store) -> String {
    let option = |name: &str, path: &Option<PathBuf>| {
        path.as_ref().map(|path| format!(" {name} {}", path.display())).unwrap_or_default()
    };
    let (parts, model) = (option("--parts", &arguments.parts), option("--model", &arguments.model));
    format!("fathom{} explain {}{parts}{model} --full", store.option(), arguments.run)
}

const RATES_ALONE: &str =
    "Only rates are compared: a fitted model gives no percentiles, because too few of them are within 25 %.";

/// The address of the virtual array that `model` names, as a file or as an address.
fn address(model: &Path) -> Result<String, Failure> {
    let named = model.display().to_string();
    if named.starts_with("array:") {
        return Ok(named);
    }
    fs::metadata(model)
        .map_err(|error| Failure::Usage(format!("--model {named}: cannot read it: {error}")))?;
    let is_path = named.contains('/') || named.ends_with(".toml");
    Ok(if is_path { format!("array:{named}") } else { format!("array:./{named}") })
}

/// The loads of a run with the figures of the model in `file`, or at an address, for its plan.
fn held(run: &Run, file: &Path) -> Result<Vec<ModelComparison>, Failure> {
    let address = address(file)?;
    let plan = fit::plan_of(run).map_err(Failure::Usage)?;
    let there = |index: usize| run.points.iter().any(|point| point.index as usize == index);
    let plan = plan.only(|point| there(point.index));
    let loads = run.points.iter().filter(|point| point.kind == PointKind::Load);
    let chosen: Vec<Chosen> =
        loads.map(|point| Chosen { index: point.index as usize, at_most: None }).collect();
    let points =
        simulate_on(plan, (&address, &LIBRARY), &chosen, true, &real::this_machine(), Arc::default())
            .map_err(|error| Failure::Usage(format!("--model {}: {error}", file.display())))?;
    debug_assert!(points.len() <= chosen.len(), "the model answers for points of the plan alone");
    Ok(explain::model::held(run, &points))
}
