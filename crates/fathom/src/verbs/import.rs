//! `fathom import`: runs of another library, and records in files.

use std::path::Path;

use clap::Args;
use clap::builder::TypedValueParser;
use library::{Library, LibraryError, Location, Selector};
use record::Run;

use crate::ending::{Ending, Failure};
use crate::input::path_value;
use crate::input::records::read;
use crate::session::store::Store;
use crate::terminal;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Where they are: a library (a file or postgres://USER@HOST/DATABASE), or the record of a run in a JSON file
    #[arg(value_name = "FROM", value_parser = path_value().map(Location::from))]
    pub from: Location,
    /// Only these of a library: last, last~1, numbers, or beginnings of ids [default: all]
    pub runs: Vec<String>,
}

pub fn import(arguments: &ImportArgs, store: &Store) -> Result<Ending, Failure> {
    let is_record = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    match &arguments.from {
        Location::File(path) if !path.is_file() => {
            Err(Failure::Usage(format!("{}: no such file; nothing is imported", path.display())))
        }
        Location::File(path) if is_record(path) => {
            let run = read(&units::name::text(path.as_os_str()))?;
            let mut library = open(store)?;
            if !is_there(&library, &run.id)? {
                take(&mut library, &run)?;
            }
            Ok(Ending::done())
        }
        from if *from == store.place()? => Err(Failure::Usage(format!(
            "{from}: the runs are there already; name another library with --store"
        ))),
        from => between(&Library::open(from)?, &mut open(store)?, &arguments.runs),
    }
}

fn open(store: &Store) -> Result<Library, Failure> {
    store.open_to_save(false)?.ok_or_else(|| Failure::Usage("nothing is to be kept".into()))
}

/// Brings the runs of `from` that are `wanted`, or all, the oldest first. One that is damaged hinders no other.
fn between(from: &Library, to: &mut Library, wanted: &[String]) -> Result<Ending, Failure> {
    let mut selectors: Vec<Selector> = wanted.iter().map(|text| text.as_str().into()).collect();
    let mut damaged = Vec::new();
    if wanted.is_empty() {
        let listed = from.survey(&library::Filter::default())?;
        damaged.extend(listed.damaged.iter().map(|number| format!("run {number} is not as it was saved")));
        selectors.extend(listed.entries.into_iter().rev().map(|entry| Selector::Id(entry.id)));
    }
    let mut already = 0;
    for selector in selectors {
        let entry = from.find(selector)?;
        if is_there(to, &entry.id)? {
            already += 1;
            continue;
        }
        match from.get(Selector::Number(entry.number)) {
            Ok(run) => take(to, &run)?,
            Err(error @ (LibraryError::Damaged { .. } | LibraryError::Record { .. })) => {
                damaged.push(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    if already > 0 {
        terminal::say(&format!("already there: {already}"));
    }
    damaged.iter().for_each(|what| terminal::say_sentence(&format!("fathom: {what}")));
    match damaged.len() {
        0 => Ok(Ending::done()),
        count => Ok(Ending { code: 8, reason: format!("damaged, and not imported: {count}") }),
    }
}

/// Whether the run of that id is there, and has ended there: of one that has not, this may be more.
fn is_there(library: &Library, id: &str) -> Result<bool, Failure> {
    match library.find(Selector::Id(id.into())) {
        Ok(entry) => Ok(entry.id == id && entry.ended.is_some()),
        Err(LibraryError::NoSuchRun { .. } | LibraryError::Ambiguous { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn take(library: &mut Library, run: &Run) -> Result<(), Failure> {
    let number = library.save(run)?;
    terminal::say(&format!("imported {} as {number}", run.id));
    Ok(())
}
