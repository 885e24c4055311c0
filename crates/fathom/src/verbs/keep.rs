//! `fathom ls`, `show`, `export` and `rm`: runs that are kept.

use std::path::PathBuf;

use library::{Filter, Library, Listed, Selector, default_path};

use crate::cli::{ExportArgs, LsArgs, RmArgs, ShowArgs};
use crate::ending::{Ending, Failure};
use crate::output;
use crate::terminal;

/// The library named on the command line, or the default one.
pub fn open(store: &Option<PathBuf>) -> Result<Library, Failure> {
    Ok(Library::open(&path(store)?)?)
}

fn path(store: &Option<PathBuf>) -> Result<PathBuf, Failure> {
    match store {
        Some(path) => Ok(path.clone()),
        None => Ok(default_path()?),
    }
}

/// The same, for a run that is going to be kept there.
pub fn open_to_save(store: &Option<PathBuf>) -> Result<Library, Failure> {
    let library = open(store)?;
    if library.is_writable() {
        return Ok(library);
    }
    Err(Failure::Usage(format!(
        "{}: the library is read-only; name another with --store FILE, or measure with --no-save",
        library.path().display()
    )))
}

pub fn ls(arguments: &LsArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let tag = |text: &String| match text.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (text.clone(), None),
    };
    let filter = Filter {
        plan: arguments.plan.clone(),
        target: arguments.on.clone(),
        tags: arguments.tags.iter().map(tag).collect(),
        since: arguments.since.clone(),
        limit: Some(arguments.limit),
    };
    let library = open(store)?;
    let Listed { entries, damaged, lost } = library.survey(&filter)?;
    print(&report::list(&entries, terminal::style(&arguments.look)))?;
    let damaged = damages(&library, &damaged, lost, arguments.check)?;
    damaged.iter().for_each(|what| terminal::say_sentence(&format!("fathom: {what}")));
    match damaged.len() {
        0 => Ok(Ending::done()),
        1 => Ok(Ending { code: 8, reason: "the library is damaged".into() }),
        count => Ok(Ending { code: 8, reason: format!("the library is damaged in {count} places") }),
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
    let path = library.path().display();
    let gone =
        format!("{path}: {lost} of its runs cannot be found any more; a copy of the file may hold them");
    Ok(damaged.iter().map(line).chain((lost > 0).then_some(gone)).collect())
}

pub fn show(arguments: &ShowArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let run = open(store)?.get(arguments.run.as_str())?;
    let rest = (!arguments.full).then(|| in_full(&run.id, store));
    print(&output::rendered(&run, arguments.format, &arguments.look, rest.as_deref())?)
}

/// How a run is shown with all that it has to say.
pub fn in_full(id: &str, store: &Option<PathBuf>) -> String {
    let store = store.as_ref().map(|path| format!(" --store {}", path.display())).unwrap_or_default();
    format!("fathom{store} show {id} --full")
}

pub fn export(arguments: &ExportArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    for path in &arguments.outputs {
        output::check(path)?;
    }
    let run = open(store)?.get(arguments.run.as_str())?;
    if arguments.outputs.is_empty() {
        return print(&output::rendered(&run, arguments.format, &arguments.look, None)?);
    }
    for path in &arguments.outputs {
        output::write(&run, path, &arguments.look)?;
    }
    Ok(Ending::done())
}

pub fn rm(arguments: &RmArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let selectors: Vec<Selector> = arguments.runs.iter().map(|text| text.as_str().into()).collect();
    for id in Library::open_to_remove(&path(store)?)?.remove(&selectors)? {
        terminal::say(&format!("removed {id}"));
    }
    Ok(Ending::done())
}

fn print(text: &str) -> Result<Ending, Failure> {
    terminal::print(text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}
