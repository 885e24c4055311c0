//! `fathom ls`, `show`, `export` and `rm`: runs that are kept.

use std::path::PathBuf;

use clap::Args;
use library::{Filter, Library, Listed, Location, Selector};

use crate::ending::{Ending, Failure};
use crate::input::{candidates, path_value};
use crate::output::{self, Format};
use crate::session::store::Store;
use crate::terminal::{self, Appearance};
use crate::verbs::charts::Charts;

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only runs of this plan
    #[arg(long, add = candidates::saved_plans())]
    pub plan: Option<String>,
    /// Only runs whose target's name contains this
    #[arg(long, value_name = "TEXT")]
    pub on: Option<String>,
    /// Only runs with this label: KEY or KEY=VALUE
    #[arg(long = "tag", value_name = "KEY[=VALUE]", add = candidates::tags())]
    pub tags: Vec<String>,
    /// Only runs started on this day or later, such as 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Maximum number of runs listed
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: u64,
    /// The list as JSON: an array with an object for each run
    #[arg(long)]
    pub json: bool,
    /// Read every run in the library and list those whose checksum does not match
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub appearance: Appearance,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last", add = candidates::runs())]
    pub run: String,
    /// Format of stdout: text, json, jsonl, csv, md, or that of a classic tool; `fathom formats` lists all
    #[arg(long, value_enum, default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// All findings, and the checks behind the grade
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub charts: Charts,
    #[command(flatten)]
    pub appearance: Appearance,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// last, last~1, a number of `fathom ls`, or the beginning of an id
    #[arg(default_value = "last", add = candidates::runs())]
    pub run: String,
    /// The file to write, in the format of its extension (`fathom formats`); may be given several times
    #[arg(short, long = "output", value_name = "FILE")]
    #[arg(value_parser = path_value())]
    pub outputs: Vec<PathBuf>,
    /// Format of stdout, where no file is named; `fathom formats` lists all
    #[arg(long, value_enum, default_value_t = Format::Json, hide_possible_values = true)]
    pub format: Format,
    #[command(flatten)]
    pub appearance: Appearance,
}

#[derive(Debug, Args)]
pub struct RmArgs {
    /// last, last~1, numbers of `fathom ls`, or beginnings of ids
    #[arg(required = true, add = candidates::runs())]
    pub runs: Vec<String>,
}

pub fn ls(arguments: &LsArgs, store: &Store) -> Result<Ending, Failure> {
    let filter = Filter {
        plan: arguments.plan.clone(),
        target: arguments.on.clone(),
        tags: arguments.tags.iter().map(|text| label(text)).collect(),
        since: arguments.since.clone(),
        limit: Some(arguments.limit),
    };
    let library = store.open()?;
    let Listed { entries, damaged, lost } = library.survey(&filter)?;
    let text = match arguments.json {
        true => report::list_json(&entries)?,
        false => report::list(&entries, terminal::style(&arguments.appearance)),
    };
    output::print(&text)?;
    let damaged = damages(&library, &damaged, lost, arguments.check)?;
    damaged.iter().for_each(|what| terminal::say_sentence(&format!("fathom: {what}")));
    match damaged.len() {
        0 => Ok(Ending::done()),
        1 => Ok(Ending { code: 8, reason: "the library is damaged".into() }),
        count => Ok(Ending { code: 8, reason: format!("the library is damaged in {count} places") }),
    }
}

/// A label as it is looked for: `KEY`, or `KEY=VALUE`.
pub fn label(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// What is damaged, a sentence for each: all of it where everything `is_read`, otherwise what the list shows.
fn damages(library: &Library, damaged: &[i64], lost: u64, is_read: bool) -> Result<Vec<String>, Failure> {
    if is_read {
        return Ok(library.check()?);
    }
    let line = |number: &i64| {
        format!("run {number} is not as it was saved and is not shown; `fathom rm {number}` removes it")
    };
    let place = library.place();
    let copy =
        if matches!(place, Location::File(_)) { "a copy of the file" } else { "a backup of the database" };
    let gone = format!("{place}: {lost} of its runs cannot be found any more; {copy} may hold them");
    Ok(damaged.iter().map(line).chain((lost > 0).then_some(gone)).collect())
}

pub fn show(arguments: &ShowArgs, store: &Store) -> Result<Ending, Failure> {
    let run = store.open()?.get(arguments.run.as_str())?;
    let rest = (!arguments.full).then(|| store.show_full(&run.id));
    let format = if arguments.json { Format::Json } else { arguments.format };
    output::print(&output::rendered(&run, format, &arguments.appearance, rest.as_deref())?)?;
    if format == Format::Text && arguments.charts.are_wanted() {
        let evidence = writeup::evidence(vec![run], None, None);
        output::print(&arguments.charts.below(&evidence, &arguments.appearance))?;
    }
    Ok(Ending::done())
}

pub fn export(arguments: &ExportArgs, store: &Store) -> Result<Ending, Failure> {
    arguments.outputs.iter().try_for_each(|path| output::check(path))?;
    let run = store.open()?.get(arguments.run.as_str())?;
    if arguments.outputs.is_empty() {
        output::print(&output::rendered(&run, arguments.format, &arguments.appearance, None)?)?;
    }
    arguments.outputs.iter().try_for_each(|path| output::write(&run, path, &arguments.appearance))?;
    Ok(Ending::done())
}

pub fn rm(arguments: &RmArgs, store: &Store) -> Result<Ending, Failure> {
    let selectors: Vec<Selector> = arguments.runs.iter().map(|text| text.as_str().into()).collect();
    for id in Library::open_to_remove(&store.place()?)?.remove(&selectors)? {
        terminal::say(&format!("removed {id}"));
    }
    Ok(Ending::done())
}
