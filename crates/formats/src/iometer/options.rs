//! Iometer's command line.

use super::TOOL;
use super::output::Generation;
use crate::Refusal;
use crate::options::{Opt, Style, Syntax, number, parsed, text, usage};

/// `iometer [/c FILE] [/r FILE] [/t SECONDS] [/p PORT] [/m 1]`, or `iometer FILE RESULTS SECONDS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The configuration.
    pub config: String,
    /// Where results are appended.
    pub results: Destination,
    /// What is asked in place of the targets of the file. Not in the original.
    pub targets: Vec<String>,
    /// Which versions the results are as of. Not in the original.
    pub generation: Generation,
    /// What was understood and changes nothing.
    pub notes: Vec<String>,
    /// Words that are no options.
    plain: Vec<String>,
}

/// Where results go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// To the terminal or whoever reads.
    #[default]
    Output,
    /// To the end of a file.
    File(String),
}

const USAGE: &str = "usage: iometer [/c FILE.icf] [/r RESULTS.csv] [/t SECONDS] [/p PORT] [/m 1] \
                     [--on TARGET]... [--results 1.1.0|2006.07.27]";
/// What Iometer reads when no file is named.
const DEFAULT_CONFIG: &str = "iometer.icf";

impl Command {
    /// Reads the arguments after the tool's name. `/` and `-` are the same before an option.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut command = Command::default();
        SYNTAX.read(&mut command, arguments)?;
        let plain = std::mem::take(&mut command.plain);
        command.positional(&plain)?;
        if command.config.is_empty() {
            command.config = DEFAULT_CONFIG.into();
        }
        Ok(command)
    }

    /// `iometer CONFIG RESULTS SECONDS`, as scripts of before have it.
    fn positional(&mut self, plain: &[String]) -> Result<(), Refusal> {
        let what = match plain {
            [] => return Ok(()),
            [_, _, _, extra, ..] => format!("`{extra}` is one argument too many; {USAGE}"),
            _ if !self.config.is_empty() => {
                format!("`{}` was given with `/c`, which names the configuration already; {USAGE}", plain[0])
            }
            [config, rest @ ..] => {
                self.config = (*config).clone();
                if let [results, rest @ ..] = rest {
                    self.results = Destination::File((*results).clone());
                    if let [seconds] = rest {
                        return SYNTAX.set(self, "/t", seconds);
                    }
                }
                return Ok(());
            }
        };
        Err(Refusal::usage(TOOL, what))
    }
}

pub(crate) const SYNTAX: Syntax<Command> = Syntax {
    tool: TOOL,
    style: Style::Words,
    any_case: true,
    notes: |draft| &mut draft.notes,
    options: &[OPTIONS],
    operand: |command, word| match is_plain(word) {
        true => {
            command.plain.push(word.into());
            Ok(())
        }
        false => Err(SYNTAX.unknown(word)),
    },
};

const OPTIONS: &[Opt<Command>] = &[
    text("/c -c", "FILE", "the configuration (iometer.icf)", |command, file| command.config = file.into()),
    text("/r -r", "FILE", "where results are appended; without it they go to stdout", |command, file| {
        command.results = Destination::File(file.into());
    }),
    number("/t -t", "seconds to wait for managers", 0..=u32::MAX, |command, _| {
        command.notes.push("/t: no manager is waited for, since this host does the work itself".into());
    }),
    number("/p -p", "the port of managers", 0..=65_535, |command, _| {
        command.notes.push("/p: no port is opened, since this host does the work itself".into());
    }),
    number("/m -m", "shows the big meter", 0..=1, |command, _| {
        command.notes.push("/m: no big meter; `fathom show last` has the figures".into());
    }),
    text(
        "--on",
        "TARGET",
        "a target in place of those of the file; not in the original",
        |command, target| {
            command.targets.push(target.into());
        },
    ),
    parsed("--results", "VERSION", "whose columns are written; not in the original", |command, given| {
        command.generation = match given.value {
            "1.1.0" => Generation::New,
            "2001.07.19" | "2003.05.10" | "2004.07.30" | "2006.07.27" | "2008.06.18" => Generation::Old,
            _ => return Err(given.wrong("1.1.0, or 2006.07.27 for the 56 columns of before")),
        };
        Ok(())
    }),
    usage("/? -?", USAGE),
];

/// Whether a word that is no option can be a file; on this system files begin with `/` as well.
fn is_plain(word: &str) -> bool {
    !word.starts_with('-') && (!word.starts_with('/') || word.len() > 3)
}

/// Why Dynamo is not supported.
pub fn refused_dynamo(arguments: &[String]) -> Refusal {
    Refusal::Unsupported {
        tool: "dynamo",
        option: arguments.first().map_or("dynamo", String::as_str).into(),
        why: "Dynamo runs what an Iometer on another host sends it over the network; give the configuration \
              itself \
              to `fathom as iometer /c FILE.icf` on the host whose storage is to be measured"
            .into(),
    }
}
