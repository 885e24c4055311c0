//! Front doors: the classic tools' own command lines and outputs, served by plans.
//!
//! A door reads the tool's arguments, carries the plan out that they come to, and prints what the tool would
//! print. Nothing of it measures. The run is kept in the library as any other, and `fathom show last` has what
//! the tool does not tell.
//!
//! **Invariant:** a tool's own words give no consent. What holds data that is not ours is written only with
//! `--destroy` or `FATHOM_DESTROY`, as everywhere.

mod bonnie;
mod dd;
mod diskspd;
mod fio;
mod hdparm;
mod iometer;
mod iozone;
mod latencies;
mod orion;
mod seeker;
mod sqlio;

use std::path::PathBuf;
use std::sync::Arc;

use conduct::Event;
use formats::Order;
use library::Library;
use modelled::ModelledWorld;
use real::{Consent, Look, LookKind, PlainFile, RealOptions};
use units::Bytes;
use workload::plan::{Overrides, Plan};

use crate::cli::AsArgs;
use crate::ending::{Ending, Failure};
use crate::models::{self, LIBRARY};
use crate::recorder::{self, Recorded};
use crate::session::{Planned, Session, final_ending};
use crate::terminal;
use crate::traces;
use crate::verbs::keep;
use crate::verbs::run::consents;

/// One tool.
struct Tool {
    /// As it is called, and as a link to the program may be called.
    names: &'static [&'static str],
    about: &'static str,
    serve: fn(&Door, &[String]) -> Result<Ending, Failure>,
}

const TOOLS: &[Tool] = &[
    Tool {
        names: &["bonnie++"],
        about: "Bonnie++ 2.00: characters, blocks, rewriting, seeks and small files",
        serve: bonnie::serve_200,
    },
    Tool { names: &["bonnie"], about: "the same as version 1.03e", serve: bonnie::serve_103 },
    Tool {
        names: &["dd"],
        about: "one stream, one block at a time, to a target or from one",
        serve: dd::serve,
    },
    Tool { names: &["fio"], about: "fio's job files and options; text, JSON and terse", serve: fio::serve },
    Tool {
        names: &["iometer", "Iometer", "IOmeter"],
        about: "access specifications of an .icf file, with its workers, targets and cycling",
        serve: iometer::serve,
    },
    Tool {
        names: &["dynamo"],
        about: "Iometer's other half; says why it is not served",
        serve: iometer::serve_dynamo,
    },
    Tool {
        names: &["hdparm"],
        about: "timings of a device and of memory: -t -T --direct --offset",
        serve: hdparm::serve,
    },
    Tool {
        names: &["orion"],
        about: "small random and large requests at once, a data point for each number of them in flight",
        serve: orion::serve,
    },
    Tool {
        names: &["iozone"],
        about: "thirteen kinds of passes over files, by file and record size or by several children",
        serve: iozone::serve,
    },
    Tool {
        names: &["seeker"],
        about: "random reads of one sector, one at a time, for 30 seconds",
        serve: seeker::serve,
    },
    Tool {
        names: &["diskspd"],
        about: "threads on each target, each with a pattern of its own",
        serve: diskspd::serve,
    },
    Tool { names: &["sqlio"], about: "one kind of request, threads on each file", serve: sqlio::serve },
];

fn find(name: &str) -> Option<&'static Tool> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    TOOLS.iter().find(|tool| tool.names.contains(&name))
}

/// The tool that the program was called as, through a link of its name.
pub fn called_as(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    find(name).map(|tool| tool.names[0])
}

/// The tools, for help.
pub fn list() -> String {
    let width = TOOLS.iter().map(|tool| tool.names[0].len()).max().unwrap_or(0);
    let lines = TOOLS.iter().map(|tool| format!("  {:width$}  {}\n", tool.names[0], tool.about));
    format!("Tools:\n{}", lines.collect::<String>())
}

/// Serves `fathom as TOOL ARGUMENTS`.
pub fn serve(arguments: &AsArgs, store: &Option<PathBuf>) -> Result<Ending, Failure> {
    let (name, words) = arguments.words.split_first().expect("clap wants one at least");
    let Some(tool) = find(name) else {
        return Err(Failure::Usage(format!("there is no tool `{name}`\n{}", list().trim_end())));
    };
    let consents = consents(&arguments.destroy)?;
    let door = Door { store: store.clone(), consents, keeps: !arguments.no_save };
    (tool.serve)(&door, words)
}

/// What every tool has beside its own arguments.
pub struct Door {
    store: Option<PathBuf>,
    consents: Vec<Consent>,
    keeps: bool,
}

/// How a tool treats the files it measures on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scratch {
    /// They stay afterwards.
    pub keep: bool,
    /// All of them together, in place of what the plan leaves open.
    pub size: Option<Bytes>,
}

impl Door {
    /// Opens the world for `order`, which `tool` stands behind. Notes go to stderr.
    pub fn open(&self, tool: &str, order: &Order, scratch: Scratch) -> Result<Session, Failure> {
        self.open_with(tool, order, scratch, Vec::new())
    }

    /// The same for a tool that makes files of its own names: how each target that is a file is treated.
    pub fn open_on_files(
        &self,
        tool: &str,
        order: &Order,
        files: Vec<PlainFile>,
    ) -> Result<Session, Failure> {
        self.open_with(tool, order, Scratch::default(), files)
    }

    fn open_with(
        &self,
        tool: &str,
        order: &Order,
        scratch: Scratch,
        plain: Vec<PlainFile>,
    ) -> Result<Session, Failure> {
        let Planned { plan, origin, overrides } = self.plan(tool, order)?;
        let options = RealOptions {
            targets: order.targets.clone(),
            consents: self.consents.clone(),
            keep: scratch.keep,
            scratch: scratch.size,
            // A classic tool makes the files that it names, or has said no by now.
            create: true,
            plain,
            ..RealOptions::default()
        };
        Session::open(Planned { plan, origin, overrides }, &options, self.library()?)
    }

    /// The plan of `order`, as it would be carried out. Notes go to stderr.
    pub fn plan(&self, tool: &str, order: &Order) -> Result<Planned, Failure> {
        for note in &order.notes {
            terminal::say(&format!("{tool}: {note}"));
        }
        // What stands between two loads of a tool is what its own plan says.
        let overrides = Overrides { set: vec!["settle=none".into()], tags: Vec::new() };
        let origin = format!("fathom as {tool}");
        let mut plan = Plan::parse(&origin, &order.plan, &overrides).map_err(Failure::Plan)?;
        traces::attach(&mut plan)?;
        Ok(Planned { plan, origin, overrides })
    }

    /// Carries `session` out; the ending says whether what came back may be believed.
    pub fn measure(&self, session: Session, watch: &mut dyn FnMut(&Event<'_>)) -> Recorded {
        session.measure(watch)
    }

    /// For the plan of a tool that draws other random numbers each time it is called.
    pub fn seed(&self) -> u32 {
        recorder::salt().into()
    }

    fn library(&self) -> Result<Option<Library>, Failure> {
        match self.keeps {
            true => Ok(Some(keep::open_to_save(&self.store)?)),
            false => Ok(None),
        }
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

/// What is known of a target before the plan for it is written. Nothing is opened for writing.
pub fn look(target: &str) -> Result<Look, Failure> {
    match models::address(&[target.to_owned()])? {
        None => Ok(Look::at(target)?),
        Some(address) => {
            let size = luns(address)?.into_iter().sum();
            Ok(Look { kind: LookKind::Device, size, direct_unit: None, remote: false })
        }
    }
}

/// The same for several. A virtual array that is named several times has its LUNs, one after the other.
pub fn look_all(tool: &'static str, names: &[&str]) -> Result<Vec<Look>, Failure> {
    let usage = |what: String| Failure::Tool(formats::Refusal::Usage { tool, what });
    let first = names.first().copied().unwrap_or_default();
    if names.len() > 1 && first.starts_with("array:") && names.iter().all(|name| *name == first) {
        let (sizes, wants) = (luns(first)?, names.len());
        if sizes.len() < wants {
            let has = sizes.len();
            let what =
                format!("{first} is named {wants} times and has {has} LUNs; `?luns={wants}` gives it more");
            return Err(usage(what));
        }
        let of_lun = |size| Look { kind: LookKind::Device, size, direct_unit: None, remote: false };
        return Ok(sizes.into_iter().take(wants).map(of_lun).collect());
    }
    let one = |name: &&str| {
        let look = look(name)?;
        match look.kind {
            LookKind::Directory => Err(usage(format!("{name} is a directory; name a file in it"))),
            _ => Ok(look),
        }
    };
    names.iter().map(one).collect()
}

/// The sizes of a virtual array's LUNs.
fn luns(address: &str) -> Result<Vec<Bytes>, Failure> {
    let nothing = Plan::parse("look", "[[phase]]\nrun = \"1s\"\n", &Overrides::default());
    let plan = nothing.expect("a phase with a run is a plan");
    Ok(ModelledWorld::open(&plan, address, &LIBRARY, &real::this_machine(), Arc::default())?
        .lun_sizes()
        .to_vec())
}

/// Prints a part of the tool's output at once, as the tool does while it works.
pub fn print(text: &str) -> Result<(), Failure> {
    terminal::print(text).map_err(|source| Failure::System { what: "writing to stdout".into(), source })
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
}
