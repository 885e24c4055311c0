//! `fathom doctor`

use std::path::PathBuf;

use host::SysRoot;
use host::environment::{Environment, UringState};
use host::safety::judge;

use crate::cli::{DoctorArgs, TreeFormat};
use crate::ending::{Ending, Failure};
use crate::put_back;
use crate::terminal;
use crate::verbs::self_test::{self, Extent};
use crate::verbs::{caches, keep, parts};

pub fn doctor(arguments: &DoctorArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    if arguments.restore {
        return put_back::restore(store);
    }
    if let (true, Some(target)) = (arguments.caches, &arguments.target) {
        return caches::caches(arguments, target, store);
    }
    let extent = if arguments.full { Extent::Full } else { Extent::Short };
    if arguments.self_test && arguments.format == TreeFormat::Json {
        if arguments.target.is_some() {
            return Err(Failure::Usage(
                "--self-test --format json takes no target: it prints the checks alone".into(),
            ));
        }
        return self_test::self_test(&arguments.only, extent, arguments.format);
    }
    let root = SysRoot::real();
    if arguments.format == TreeFormat::Json {
        return json(&root, arguments);
    }
    let mut text = machine(&Environment::read(&root));
    text += &library(store);
    if let Some(name) = &arguments.target {
        text += &target(&root, name)?;
        text +=
            &format!("\n{}", report::path(&path(&root, name, arguments)?, terminal::style(&arguments.look)));
    }
    terminal::print(&text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    if arguments.self_test {
        self_test::self_test(&arguments.only, extent, arguments.format)
    } else {
        Ok(Ending::done())
    }
}

fn row(what: &str, value: &str) -> String {
    format!("{what:<22} {value}\n")
}

fn machine(found: &Environment) -> String {
    let uring = match &found.uring {
        UringState::Allowed { deferred: true } => "allowed, with deferred task work".to_owned(),
        UringState::Allowed { deferred: false } => {
            "allowed; Linux 6.1 would run completions more cheaply".into()
        }
        UringState::Refused { why } => format!("refused: {why}"),
    };
    let mut text = row("machine", &format!("{}, {}", found.hostname, found.kernel));
    text += &row("processors", &format!("{} x {}", found.cpus, found.cpu_model));
    text += &row("memory", &found.ram.to_string());
    if let Some(hypervisor) = &found.hypervisor {
        text += &row(
            "virtual machine",
            &format!("{hypervisor}: its host may cache what this machine cannot see"),
        );
    }
    if let Some(load) = found.load.filter(|load| *load > 0.5) {
        text += &row("load average", &format!("{load}: other work may disturb a measurement"));
    }
    text + &row("io_uring", &uring)
}

fn library(store: &Option<PathBuf>) -> String {
    let state = match keep::open(store) {
        Ok(library) if library.is_writable() => library.path().display().to_string(),
        Ok(library) => format!("{}: read-only", library.path().display()),
        Err(failure) => failure.to_string(),
    };
    row("library", &state)
}

fn target(root: &SysRoot, name: &str) -> Result<String, Failure> {
    let (target, facts) = real::find(root, name)?;
    let judgement = judge(root, &target, None);
    let mut text = format!("\n{}", row("target", &judgement.what));
    if let Some(mount) = &facts.mount {
        text += &row("file system", &format!("{} on {}", mount.fs_type, mount.point.display()));
    }
    if let Some(free) = facts.free {
        text += &row("free", &free.to_string());
    }
    for reason in &judgement.reasons {
        text += &row("would not be written", &reason.to_string());
    }
    Ok(text)
}

/// The way from the target to its media, as found and as the user knows it better.
fn path(root: &SysRoot, name: &str, arguments: &DoctorArgs) -> Result<record::PathPart, Failure> {
    let (target, facts) = real::find(root, name)?;
    let mut paths = [real::path_of(root, &target, &facts)];
    parts::apply(arguments.parts.as_deref(), &mut paths)?;
    let [path] = paths;
    Ok(path)
}

fn json(root: &SysRoot, arguments: &DoctorArgs) -> Result<Ending, Failure> {
    let Some(name) = &arguments.target else {
        return Err(Failure::Usage(
            "--format json prints the path below a target; name one, or ask for --self-test".into(),
        ));
    };
    let path = path(root, name, arguments)?;
    let text = serde_json::to_string_pretty(&path)
        .map_err(|source| Failure::System { what: "writing JSON".into(), source: source.into() })?;
    terminal::print(&(text + "\n"))
        .map_err(|source| Failure::System { what: "writing to stdout".into(), source })?;
    Ok(Ending::done())
}
