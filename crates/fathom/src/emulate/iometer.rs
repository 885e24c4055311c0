//! `fathom as iometer [/c FILE.icf] [/r RESULTS.csv] [--on TARGET]…`
//!
//! A directory stands for a drive: the file `iobw.tst` in it is asked. Where it is not there it is laid out, and
//! removed at the end.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use formats::Refusal;
use formats::iometer::{Command, Config, Destination, Job, Record, refused_dynamo, write};

use super::{Context, Scratch};
use crate::ending::{Ending, Failure};
use crate::output::print;
use crate::terminal;

pub fn run(context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    let command = Command::parse(arguments)?;
    let file = &command.config;
    let bytes = fs::read(units::name::path(file)).map_err(|error| {
        Failure::Usage(format!("iometer: {file}: the configuration cannot be read: {error}"))
    })?;
    let mut config = Config::read(file, &formats::decoded(&bytes))?;
    // Whoever names a file for results wants them, whatever the configuration says. So does Iometer.
    if config.setup.record == Record::Nothing {
        config.setup.record = Record::All;
    }
    // As Iometer does, places differ from run to run unless a worker has a fixed seed; its workload then says so itself.
    let Job { translated: mut order, sheet, disks } = Job::of(&config, file, Some(context.seed().into()))?;
    order.notes.extend(command.notes.iter().cloned());
    if !command.targets.is_empty() {
        check_count(&command.targets, disks.len())?;
        order.targets = command.targets.clone();
    } else if order.targets.is_empty() {
        let what = format!("name the target of each of these with `--on`, in this order: {}", listed(&disks));
        return Err(Refusal::Usage { tool: "iometer", what }.into());
    }
    order.targets = order.targets.iter().map(|target| file_of_drive(target)).collect();
    check_results(&command.results)?;
    let session = context.open("iometer", &order, Scratch::default())?;
    let recorded = session.measure(&mut |_| ());
    deliver(&command.results, &write(&recorded.run, &sheet, command.generation))?;
    Ok(context.end(recorded))
}

pub fn run_dynamo(_context: &Context<'_>, arguments: &[String]) -> Result<Ending, Failure> {
    Err(refused_dynamo(arguments).into())
}

/// An array has LUNs of its own; everything else is named one by one.
fn check_count(targets: &[String], wanted: usize) -> Result<(), Failure> {
    let is_array = targets.len() == 1 && targets[0].starts_with("array:");
    match is_array || targets.len() == wanted {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "iometer: the configuration has {wanted} targets and `--on` names {}; name each of them in turn",
            targets.len()
        ))),
    }
}

fn listed(disks: &[String]) -> String {
    let name = |name: &String| if name.is_empty() { "the target".into() } else { format!("`{name}`") };
    disks.iter().map(name).collect::<Vec<String>>().join(", ")
}

/// A directory is a drive, and of a drive Iometer asks the file `iobw.tst`.
fn file_of_drive(target: &str) -> String {
    let path = units::name::path(target);
    match path.is_dir() {
        true => units::name::text(path.join("iobw.tst").as_os_str()),
        false => target.into(),
    }
}

/// That results can be appended, before anything is measured.
fn check_results(results: &Destination) -> Result<(), Failure> {
    let Destination::File(path) = results else { return Ok(()) };
    let path = units::name::path(path);
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() && !path.is_dir() {
        true => Ok(()),
        false => Err(Failure::Usage(format!("iometer: {}: no file can be written there", path.display()))),
    }
}

fn deliver(results: &Destination, text: &str) -> Result<(), Failure> {
    let Destination::File(path) = results else { return print(text) };
    let system = Failure::system(format!("writing {path}"));
    let mut file =
        OpenOptions::new().append(true).create(true).open(units::name::path(path)).map_err(&system)?;
    file.write_all(text.as_bytes()).map_err(&system)?;
    terminal::say(&format!("iometer: results are at the end of {path}"));
    Ok(())
}
