//! `fathom doctor`

use std::path::PathBuf;

use clap::Args;
use host::SysRoot;
use host::environment::{Environment, UringState};
use host::safety::judge;
use units::Bytes;

use crate::ending::{Ending, Failure};
use crate::input::{candidates, path_value};
use crate::output::{self, TreeFormat};
use crate::session::restore;
use crate::session::store::Store;
use crate::terminal::{self, Appearance};
use crate::verbs::self_test::{self, Extent, SelfTestPart};
use crate::verbs::{caches, parts};

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, file or device to check; it is only read, but for scratch files of --caches
    #[arg(add = candidates::targets())]
    pub target: Option<String>,
    /// Parts and ceilings of the path to the media that the kernel does not know, in TOML
    #[arg(long, value_name = "FILE", requires = "target")]
    #[arg(value_parser = path_value())]
    pub parts: Option<PathBuf>,
    /// Find the caches of the target, or of a virtual array, by random reads over working sets of growing size; the run
    /// is saved, and later runs on the target use it
    #[arg(long, requires = "target", conflicts_with_all = ["parts", "self_test"])]
    pub caches: bool,
    /// The largest working set [default: 4GiB]
    #[arg(long, value_name = "SIZE", requires = "caches")]
    pub most: Option<Bytes>,
    /// Restore what killed runs left changed, and list it: scratch files removed, read-ahead reset. Every run does that
    /// for the runs before it
    #[arg(long, conflicts_with_all = ["target", "parts", "caches", "self_test", "format"])]
    pub restore: bool,
    /// Format of stdout
    #[arg(long, value_enum, default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    /// Test the program's own generators, intervals and verdicts against known answers, in about a minute
    #[arg(long)]
    pub self_test: bool,
    /// Only this part; may be given several times
    #[arg(long, value_enum, value_name = "PART", requires = "self_test")]
    pub only: Vec<SelfTestPart>,
    /// As many cases as the published figures rest on; takes minutes
    #[arg(long, requires = "self_test")]
    pub full: bool,
    #[command(flatten)]
    pub appearance: Appearance,
}

pub fn doctor(arguments: &DoctorArgs, store: &Store) -> Result<Ending, Failure> {
    if arguments.restore {
        return restore::restore(store);
    }
    if let (true, Some(target)) = (arguments.caches, &arguments.target) {
        let (format, appearance) = (arguments.format, &arguments.appearance);
        return caches::caches(target, arguments.most, format, appearance, store);
    }
    if let Some(array) = arguments.target.as_deref().filter(|target| target.starts_with("array:")) {
        return Err(Failure::Usage(format!(
            "{array} is a virtual array, which has no device to look at; `fathom doctor {array} --caches` finds its caches, \
             and `fathom array show {array}` prints what it is made of"
        )));
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
        text += &format!(
            "\n{}",
            report::path(&path(&root, name, arguments)?, terminal::style(&arguments.appearance))
        );
    }
    output::print(&text)?;
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

fn library(store: &Store) -> String {
    let state = match store.open() {
        Ok(library) if library.is_writable() => library.place().to_string(),
        Ok(library) => format!("{}: read-only", library.place()),
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
            "--format json prints the path below a target; name one, or use --self-test".into(),
        ));
    };
    output::print(&output::json(&path(root, name, arguments)?)?)?;
    Ok(Ending::done())
}
