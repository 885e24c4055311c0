//! Emulated tools: the classic tools' own command lines and outputs, by way of plans.
//!
//! Each reads the tool's arguments, runs the plan that they come to, and prints what the tool would print. Nothing here
//! measures. The run is kept in the library as any other, and `fathom show last` has what
//! the tool does not tell.
//!
//! **Invariant:** a tool's own words give no consent. What holds data that is not ours is written only with
//! `--destroy` or `FATHOM_DESTROY`, as everywhere.

mod bonnie;
mod dd;
mod diskspd;
mod fio;
mod fio_logs;
mod fio_programs;
mod fio_status;
mod fio_trigger;
mod hdparm;
mod hdparm_query;
mod iometer;
mod ior;
mod iozone;
mod latencies;
mod log_files;
mod mdtest;
mod op_files;
mod orion;
mod seeker;
mod sqlio;
mod stonewall;

use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use formats::TranslatedJob;
use real::Consent;
use real::{PlainFile, RealOptions};
use workload::plan::Overrides;

use crate::ending::{Ending, Failure};
use crate::input::plans::{self, Planned};
use crate::input::targets;
use crate::output;
use crate::session::recorder::Recorded;
use crate::session::store::Store;
use crate::session::{Session, final_ending};
use crate::terminal;

#[derive(Debug, Args)]
pub struct AsArgs {
    /// Consent to destroy the data on the target: its serial number, by-id name, or a file's absolute path, with
    /// `data:` before it where a device is not blank; once for each target, in the environment one per line
    #[arg(long, value_name = "IDENTITY", env = "FATHOM_DESTROY", value_delimiter = '\n')]
    pub destroy: Vec<String>,
    /// Do not save the run in the library
    #[arg(long, env = "FATHOM_NO_SAVE")]
    pub no_save: bool,
    /// The tool and its own arguments
    // One list, so that everything after the tool's name is the tool's, whatever it looks like.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TOOL ARGUMENTS",
        add = candidates()
    )]
    pub words: Vec<String>,
}

/// What is called by the name of a classic tool, and answers as that.
struct Tool {
    /// As it is called, and as a link to the program may be called.
    names: &'static [&'static str],
    about: &'static str,
    run: fn(&Context<'_>, &[String]) -> Result<Ending, Failure>,
}

const fn tool(
    names: &'static [&'static str],
    about: &'static str,
    run: fn(&Context<'_>, &[String]) -> Result<Ending, Failure>,
) -> Tool {
    Tool { names, about, run }
}

const TOOLS: &[Tool] = &[
    tool(
        &["bonnie++"],
        "Bonnie++ 2.00: characters, blocks, rewriting, seeks and small files",
        bonnie::run_200,
    ),
    tool(&["bonnie"], "the same as version 1.03e", bonnie::run_103),
    tool(&["dd"], "one stream, one block at a time, to a target or from one", dd::run),
    tool(&["fio"], "fio's job files and options; text, JSON and terse", fio::run),
    tool(
        &["iometer", "Iometer", "IOmeter"],
        "access specifications of an .icf file, with its workers, targets and cycling",
        iometer::run,
    ),
    tool(&["dynamo"], "Iometer's other half; says why it is not supported", iometer::run_dynamo),
    tool(
        &["hdparm"],
        "timings of a device and of memory, and what a drive reports: -t -T -a -g -i -I -r",
        hdparm::run,
    ),
    tool(
        &["orion"],
        "small random and large requests at once, a data point for each number of them in flight",
        orion::run,
    ),
    tool(
        &["ior"],
        "segments of blocks of transfers by several tasks, in one shared file or one for each",
        ior::run,
    ),
    tool(
        &["iozone"],
        "thirteen kinds of passes over files, by file and record size or by several children",
        iozone::run,
    ),
    tool(
        &["mdtest"],
        "directories and small files made, looked at, read and removed, in a tree",
        mdtest::run,
    ),
    tool(&["seeker"], "random reads of one sector, one at a time, for 30 seconds", seeker::run),
    tool(&["diskspd"], "threads on each target, each with a pattern of its own", diskspd::run),
    tool(&["sqlio"], "one kind of request, threads on each file", sqlio::run),
];

const _: () = {
    let mut at = 0;
    while at < TOOLS.len() {
        assert!(
            !TOOLS[at].names.is_empty() && !TOOLS[at].about.is_empty(),
            "a tool has a name and does something"
        );
        at += 1;
    }
};

fn find(name: &str) -> Option<&'static Tool> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    TOOLS.iter().find(|tool| tool.names.contains(&name))
}

/// The tool that the program was called as, through a link of its name.
pub fn called_as(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    find(name).map(|tool| tool.names[0])
}

/// The tools: the name of each, and what is emulated of it.
pub fn tools() -> impl Iterator<Item = (&'static str, &'static str)> {
    TOOLS.iter().map(|tool| (tool.names[0], tool.about))
}

/// The names of the tools in a line, for help.
pub fn list() -> String {
    let names: Vec<&str> = tools().map(|tool| tool.0).collect();
    format!("Tools: {}. `fathom formats` says what is emulated of each.", names.join(", "))
}

/// The names of the tools, for shells.
pub fn candidates() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        tools().map(|(name, about)| CompletionCandidate::new(name).help(Some(about.into()))).collect()
    })
}

/// Tools that `mpirun` starts, each process as one or several tasks.
const OVER_RANKS: [&str; 2] = ["ior", "mdtest"];

/// Whether the tool of these arguments may be started by `mpirun`.
pub fn runs_over_ranks(arguments: &AsArgs) -> bool {
    arguments.words.first().is_some_and(|name| OVER_RANKS.contains(&name.as_str()))
}

/// Serves `fathom as TOOL ARGUMENTS`.
pub fn run(arguments: &AsArgs, store: &Store) -> Result<Ending, Failure> {
    let (name, words) = arguments.words.split_first().expect("clap wants one at least");
    let Some(tool) = find(name) else {
        return Err(Failure::Usage(format!("there is no tool `{name}`. {}", list())));
    };
    if let Some(text) = formats::answer(tool.names[0], words) {
        output::print(&text)?;
        return Ok(Ending::done());
    }
    let consents = targets::consents(&arguments.destroy)?;
    let context = Context { store, consents, no_save: arguments.no_save };
    let ended = (tool.run)(&context, words);
    let why = match &ended {
        Ok(ending) => ending.reason.clone(),
        Err(failure) => failure.to_string(),
    };
    let (misplaced, words) = split_consents(words);
    let given = arguments.destroy.iter().cloned().chain(misplaced.iter().cloned()).chain(wanted(&why));
    let given: Vec<String> = given.collect();
    if given.len() > arguments.destroy.len() {
        terminal::say(&format!("consent stands before the tool: {}", command(&given, name, &words)));
    }
    ended
}

/// What consent `why`, the reason of a refusal, asks for.
fn wanted(why: &str) -> Option<String> {
    let (_, rest) = why.split_once("`--destroy=")?;
    rest.split_once('`').map(|(name, _)| name.to_owned())
}

/// Consent among a tool's own words, where it is none, and the words without it.
fn split_consents(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut consents, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match (word.strip_prefix("--destroy="), word.as_str()) {
            (Some(name), _) => consents.push(name.to_owned()),
            (None, "--destroy") => consents.extend(words.next().cloned()),
            (None, _) => rest.push(word.clone()),
        }
    }
    (consents, rest)
}

/// The whole command line, as a shell reads it.
fn command(consents: &[String], tool: &str, words: &[String]) -> String {
    let consents = consents.iter().map(|name| format!("--destroy={name}"));
    debug_assert!(find(tool).is_some(), "a command line is one of a tool that is there");
    let all = ["fathom".into(), "as".into()].into_iter().chain(consents).chain([tool.to_owned()]);
    all.chain(words.iter().cloned()).map(|word| report::shell_word(&word)).collect::<Vec<_>>().join(" ")
}

/// What every tool has beside its own arguments.
pub struct Context<'a> {
    store: &'a Store,
    consents: Vec<Consent>,
    no_save: bool,
}

/// How a tool treats the files it measures on.
#[derive(Debug, Default)]
pub struct Scratch {
    /// They stay afterwards.
    pub keep: bool,
    /// Those of the tool's own names, and how each is treated.
    pub plain: Vec<PlainFile>,
    /// None is made.
    pub only_existing: bool,
    /// What was written where is kept in [`VERIFY_STATE`], for a later run that verifies.
    pub keeps_verify_state: bool,
}

/// The directory of it.
const VERIFY_STATE: &str = "fathom-verify-state";

impl Context<'_> {
    /// Opens the world for `order`, which `tool` stands behind. Notes go to stderr.
    pub fn open(&self, tool: &str, order: &TranslatedJob, scratch: Scratch) -> Result<Session, Failure> {
        let (planned, options) = self.ready(tool, order, scratch)?;
        let session = Session::open(planned, &options, self.store.open_to_save(self.no_save)?)?;
        // The tools themselves fail there, so that no script of theirs takes this for a fault.
        session.trim_words.iter().for_each(|words| terminal::say(&format!("{tool}: {words}")));
        Ok(session)
    }

    /// The plan of `order`, and how its targets are opened.
    fn ready(
        &self,
        tool: &str,
        order: &TranslatedJob,
        scratch: Scratch,
    ) -> Result<(Planned, RealOptions), Failure> {
        let options = RealOptions {
            targets: order.targets.clone(),
            consents: self.consents.clone(),
            keep: scratch.keep,
            // A classic tool makes the files that it names, or has said no by now.
            create: !scratch.only_existing,
            plain: scratch.plain,
            verify_state: scratch.keeps_verify_state.then(|| VERIFY_STATE.into()),
            ..RealOptions::default()
        };
        Ok((self.plan(tool, order)?, options))
    }

    /// The plan of `order`, as it would be carried out. Notes go to stderr.
    pub fn plan(&self, tool: &str, order: &TranslatedJob) -> Result<Planned, Failure> {
        debug_assert!(!order.plan.is_empty(), "a call that measures has a plan");
        for note in &order.notes {
            terminal::say(&format!("{tool}: {note}"));
        }
        // What stands between two loads of a tool is what its own plan says.
        let overrides = Overrides { set: vec!["settle=none".into()], tags: Vec::new() };
        plans::parse(&format!("fathom as {tool}"), &order.plan, overrides)
    }

    /// For the plan of a tool that draws other random numbers each time it is called.
    pub fn seed(&self) -> u32 {
        output::salt().into()
    }

    /// The ending of a tool's run. What the tool itself does not say goes to a person, not into a script's log.
    pub fn end(&self, recorded: Recorded) -> Ending {
        if terminal::stderr_is_terminal() {
            for finding in &recorded.run.findings {
                terminal::say_sentence(&format!("fathom: {}", finding.sentence));
            }
        }
        final_ending(recorded)
    }
}

/// What `path` is in, as tools print it; `None` where that cannot be asked, as of a virtual array.
fn file_system(path: &str) -> Option<formats::FileSystem> {
    let host::file_system::FileSystem { bytes, free, inodes, free_inodes } =
        host::file_system::FileSystem::of(&units::name::path(path)).ok()?;
    Some(formats::FileSystem { bytes, free, inodes, free_inodes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_a_tools_name_is_that_tool() {
        assert_eq!(called_as("/usr/local/bin/seeker"), Some("seeker"));
        assert_eq!(called_as("seeker.exe"), Some("seeker"));
        assert_eq!(called_as("/usr/bin/fathom"), None);
    }

    #[test]
    fn consent_that_a_tool_lacks_or_has_among_its_words_comes_before_the_tool_in_the_whole_command() {
        let why = "writing would destroy its data; if it may be lost, consent with `--destroy=/mnt/my file`";
        assert_eq!(wanted(why).as_deref(), Some("/mnt/my file"));
        assert_eq!(wanted("no such file"), None);
        let words = ["--destroy", "a", "mix.fio", "--destroy=b", "--minimal"].map(str::to_owned);
        let (consents, rest) = split_consents(&words);
        assert_eq!(
            (consents, rest.clone()),
            (vec!["a".into(), "b".into()], vec!["mix.fio".into(), "--minimal".into()])
        );
        assert_eq!(
            command(&["/mnt/my file".into()], "fio", &rest),
            "fathom as '--destroy=/mnt/my file' fio mix.fio --minimal"
        );
    }
}
