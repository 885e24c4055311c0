//! What a shell may complete: the plans, arrays, devices, runs and labels that there are.
//!
//! **Invariant:** nothing is written, made or waited for; what cannot be read is no candidate.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use array::spec::{self, Shelf, Source};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use library::{Filter, Library, Location, default_path};
use record::Entry;
use workload::plan::{Overrides, ready, reference};

use crate::input::arrays::LIBRARY;

/// Runs that are offered, the latest.
const RUNS: u64 = 50;

/// Where disks have names that stay.
const BY_ID: &str = "/dev/disk/by-id/";

/// The library that the command line names; unset, the default one.
static LIBRARY_FILE: OnceLock<PathBuf> = OnceLock::new();

/// Takes `--store` from the words that are being completed.
pub fn set_store(words: &[String]) {
    let after = words.iter().position(|word| word == "--store").and_then(|place| words.get(place + 1));
    let joined = words.iter().find_map(|word| word.strip_prefix("--store="));
    if let Some(file) = after.map(String::as_str).or(joined) {
        let _again = LIBRARY_FILE.set(units::name::path(file));
    }
}

type Candidates = Vec<CompletionCandidate>;

fn candidate(value: impl Into<String>, about: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(value.into()).help(Some(about.into().into()))
}

fn beginning_with(candidates: Candidates, typed: &OsStr) -> Candidates {
    let begins =
        |one: &CompletionCandidate| one.get_value().as_encoded_bytes().starts_with(typed.as_encoded_bytes());
    candidates.into_iter().filter(begins).collect()
}

fn files(typed: &OsStr, wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Candidates {
    PathCompleter::any().filter(wanted).complete(typed)
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml") && path.is_file()
}

/// The ready plans, and TOML files.
pub fn plans() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let about =
            |plan: &ready::Ready| plan.plan(&Overrides::default()).map(|plan| plan.about).unwrap_or_default();
        let ready = ready::all().iter().filter(|plan| begins(plan.name, typed));
        let mut found: Candidates = ready.map(|plan| candidate(plan.name, about(plan))).collect();
        found.extend(files(typed, is_toml));
        found
    })
}

fn begins(name: &str, typed: &OsStr) -> bool {
    name.as_bytes().starts_with(typed.as_encoded_bytes())
}

/// The virtual arrays by name, and TOML files.
pub fn arrays() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut found = named_arrays("", typed);
        found.extend(files(typed, is_toml));
        found
    })
}

/// Arrays whose name behind `prefix` begins as typed.
fn named_arrays(prefix: &str, typed: &OsStr) -> Candidates {
    let names =
        LIBRARY.names(Shelf::Array).into_iter().filter(|name| begins(&format!("{prefix}{name}"), typed));
    let files = names.filter_map(|name| spec::array_file(&LIBRARY, &name).ok());
    files
        .filter(|file| !file.part)
        .map(|file| candidate(format!("{prefix}{}", file.name), file.about))
        .collect()
}

/// Targets: virtual arrays, disks by the names that stay, directories, files and devices.
pub fn targets() -> ArgValueCompleter {
    ArgValueCompleter::new(found_targets)
}

fn found_targets(typed: &OsStr) -> Candidates {
    if begins_with(typed, "array:") {
        return named_arrays("array:", typed);
    }
    let worlds =
        vec![candidate("array:", "a virtual array"), candidate("null:", "no storage: the tool itself")];
    let mut found = beginning_with(worlds, typed);
    // Only once something of it is typed: the disks of a machine are many.
    if !typed.is_empty() {
        found.extend(beginning_with(disks(), typed));
    }
    let is_target = |path: &Path| {
        fs::metadata(path).is_ok_and(|found| {
            let kind = found.file_type();
            kind.is_dir() || kind.is_file() || kind.is_block_device()
        })
    };
    found.extend(files(typed, is_target).into_iter().map(|one| {
        let path = one.get_value().to_string_lossy().into_owned();
        one.id(Some(path))
    }));
    found
}

fn begins_with(typed: &OsStr, prefix: &str) -> bool {
    typed.as_encoded_bytes().starts_with(prefix.as_bytes())
}

/// The disks and partitions under their by-id names, with the names of the kernel.
fn disks() -> Candidates {
    let entries = fs::read_dir(BY_ID).into_iter().flatten().filter_map(Result::ok);
    let mut found: Candidates = entries
        .filter_map(|entry| {
            let device = fs::canonicalize(entry.path()).ok()?;
            let path = format!("{BY_ID}{}", entry.file_name().to_str()?);
            // The id tells it from the same path as a file.
            Some(candidate(&path, device.display().to_string()).id(Some(path)))
        })
        .collect();
    found.sort();
    found
}

/// The latest runs of the library; nothing where there is none, and of a server, which would be waited for.
fn entries() -> Vec<Entry> {
    let chosen = LIBRARY_FILE.get().cloned();
    let from_environment = || std::env::var_os("FATHOM_STORE").map(PathBuf::from);
    let Some(path) = chosen.or_else(from_environment).or_else(|| default_path().ok()) else {
        return Vec::new();
    };
    let Location::File(path) = path.into() else { return Vec::new() };
    let latest = Filter { limit: Some(RUNS), ..Filter::default() };
    let listed = Library::open_to_read(&path).and_then(|library| library.list(&latest));
    listed.unwrap_or_default()
}

fn found_runs() -> Candidates {
    let entries = entries();
    let about = |entry: &Entry| format!("{} on {}, {}", entry.plan, entry.targets.join(" "), entry.started);
    let last =
        ["last", "last~1"].into_iter().zip(&entries).map(|(name, entry)| candidate(name, about(entry)));
    last.chain(entries.iter().map(|entry| candidate(&entry.id, about(entry)))).collect()
}

/// Saved runs: `last`, `last~1`, and their ids.
pub fn runs() -> ArgValueCandidates {
    ArgValueCandidates::new(found_runs)
}

/// Saved runs and the files of records.
pub fn runs_or_records() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut found = beginning_with(found_runs(), typed);
        found.extend(files(typed, |path| path.extension().is_some_and(|ending| ending == "json")));
        found
    })
}

/// Targets and saved runs.
pub fn targets_or_runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut found = beginning_with(found_runs(), typed);
        found.extend(found_targets(typed));
        found
    })
}

/// Labels of saved runs, as `KEY=VALUE`.
pub fn tags() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        distinct(
            entries().into_iter().flat_map(|entry| entry.tags).map(|(key, value)| format!("{key}={value}")),
        )
    })
}

/// Keys of labels of saved runs, each with `behind` behind it.
pub fn tag_keys(behind: &'static str) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        distinct(entries().into_iter().flat_map(|entry| entry.tags).map(|(key, _)| key + behind))
    })
}

/// Plans of saved runs.
pub fn saved_plans() -> ArgValueCandidates {
    ArgValueCandidates::new(|| distinct(entries().into_iter().map(|entry| entry.plan)))
}

fn distinct(values: impl Iterator<Item = String>) -> Candidates {
    let sorted: std::collections::BTreeSet<String> = values.collect();
    sorted.into_iter().map(CompletionCandidate::new).collect()
}

/// Keys of the plan language, each with `behind` behind it.
pub fn keys(behind: &'static str) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        // A key stands in several sections, with other meanings.
        let entry =
            |(key, about): (&str, &str)| candidate(format!("{key}{behind}"), about).id(Some(key.into()));
        reference::keys().map(entry).collect()
    })
}

/// Tools whose job files are read.
pub fn job_tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        formats::job_files().iter().map(|file| candidate(file.tool, file.about)).collect()
    })
}
