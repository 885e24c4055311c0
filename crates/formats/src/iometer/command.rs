//! Iometer's command line.

use super::TOOL;
use super::results::Generation;
use crate::Refusal;

/// `iometer [/c FILE] [/r FILE] [/t SECONDS] [/p PORT] [/m 1]`, or `iometer FILE RESULTS SECONDS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The configuration.
    pub config: String,
    /// Where results are appended.
    pub results: Place,
    /// What is asked in place of the targets of the file. Not in the original.
    pub targets: Vec<String>,
    /// Which versions the results are as of. Not in the original.
    pub generation: Generation,
    /// What was understood and changes nothing.
    pub notes: Vec<String>,
}

/// Where results go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// To the terminal or whoever reads.
    #[default]
    Output,
    /// To the end of a file.
    File(String),
}

const OPTIONS: [&str; 8] = ["/c", "/r", "/t", "/p", "/m", "/?", "--on", "--results"];
const USAGE: &str = "usage: iometer [/c FILE.icf] [/r RESULTS.csv] [/t SECONDS] [/p PORT] [/m 1] \
                     [--on TARGET]... [--results 1.1.0|2006.07.27]";
/// What Iometer reads when no file is named.
const DEFAULT_CONFIG: &str = "iometer.icf";

impl Command {
    /// Reads the arguments after the tool's name. `/` and `-` are the same before an option.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let mut command = Command::default();
        let mut plain: Vec<&String> = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let option = match option_of(word) {
                Some(option) => option,
                None if is_plain(word) => {
                    plain.push(word);
                    continue;
                }
                None => return Err(Refusal::unknown(TOOL, word, &OPTIONS)),
            };
            if option == "/?" {
                return Err(Refusal::Usage { tool: TOOL, what: USAGE.into() });
            }
            let Some(value) = words.next() else {
                return Err(Refusal::Usage {
                    tool: TOOL,
                    what: format!("`{word}` wants a value after it; {USAGE}"),
                });
            };
            command.take(option, word, value)?;
        }
        command.positional(&plain)?;
        if command.config.is_empty() {
            command.config = DEFAULT_CONFIG.into();
        }
        Ok(command)
    }

    fn take(&mut self, option: &str, word: &str, value: &str) -> Result<(), Refusal> {
        let wrong = |want: &str| {
            let (option, value) = (word.into(), value.into());
            Refusal::Value { tool: TOOL, option, value, want: want.into() }
        };
        match option {
            "/c" => self.config = value.into(),
            "/r" => self.results = Place::File(value.into()),
            "--on" => self.targets.push(value.into()),
            "--results" => {
                self.generation = match value {
                    "1.1.0" => Generation::New,
                    "2001.07.19" | "2003.05.10" | "2004.07.30" | "2006.07.27" | "2008.06.18" => {
                        Generation::Old
                    }
                    _ => return Err(wrong("1.1.0, or 2006.07.27 for the 56 columns of before")),
                }
            }
            "/t" => {
                value.parse::<u32>().map_err(|_| wrong("seconds to wait for managers"))?;
                self.notes.push("/t: no manager is waited for, since this host does the work itself".into());
            }
            "/p" => {
                value.parse::<u16>().map_err(|_| wrong("a port, from 0 to 65535"))?;
                self.notes.push("/p: no port is opened, since this host does the work itself".into());
            }
            _ => {
                value.parse::<u32>().map_err(|_| wrong("0 or 1"))?;
                self.notes.push("/m: there is no big meter; `fathom show last` has the figures".into());
            }
        }
        Ok(())
    }

    /// `iometer CONFIG RESULTS SECONDS`, as scripts of before have it.
    fn positional(&mut self, plain: &[&String]) -> Result<(), Refusal> {
        let what = match plain {
            [] => return Ok(()),
            [_, _, _, extra, ..] => format!("`{extra}` is one argument too many; {USAGE}"),
            _ if !self.config.is_empty() => {
                format!("`{}` stands beside `/c`, which names the configuration already; {USAGE}", plain[0])
            }
            [config, rest @ ..] => {
                self.config = (*config).clone();
                if let [results, rest @ ..] = rest {
                    self.results = Place::File((*results).clone());
                    if let [seconds] = rest {
                        return self.take("/t", seconds, seconds);
                    }
                }
                return Ok(());
            }
        };
        Err(Refusal::Usage { tool: TOOL, what })
    }
}

/// The option that a word is.
fn option_of(word: &str) -> Option<&'static str> {
    let slashed = match word.strip_prefix('-') {
        Some(rest) if !rest.starts_with('-') => format!("/{rest}"),
        _ => word.to_owned(),
    };
    OPTIONS.into_iter().find(|option| option.eq_ignore_ascii_case(&slashed))
}

/// Whether a word that is no option can be a file; on this system files begin with `/` as well.
fn is_plain(word: &str) -> bool {
    !word.starts_with('-') && (!word.starts_with('/') || word.len() > 3)
}

/// Why Dynamo is not supported.
pub fn refused_dynamo(arguments: &[String]) -> Refusal {
    Refusal::Unsupported {
        tool: "dynamo",
        option: arguments.first().map_or("dynamo", String::as_str).into(),
        why: "Dynamo does what an Iometer on another host tells it over the network; give the configuration itself \
              to `fathom as iometer /c FILE.icf` on the host whose storage is to be asked"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_begin_with_either_character_and_may_be_capitals() {
        let command = parse("/C a.icf -r b.csv /t 10 --on array:md3000").unwrap();
        assert_eq!(command.config, "a.icf");
        assert_eq!(command.results, Place::File("b.csv".into()));
        assert_eq!(command.targets, ["array:md3000"]);
        assert_eq!(command.notes.len(), 1);
    }

    #[test]
    fn files_may_stand_without_options_and_begin_with_a_slash() {
        let command = parse("/tmp/a.icf /tmp/b.csv 20").unwrap();
        assert_eq!(
            (command.config.as_str(), command.results),
            ("/tmp/a.icf", Place::File("/tmp/b.csv".into()))
        );
        assert_eq!(parse("").unwrap().config, "iometer.icf");
    }

    #[test]
    fn what_is_no_option_is_refused_by_name() {
        let message = |line: &str| parse(line).unwrap_err().to_string();
        assert!(message("/z").contains("there is no option `/z`"), "{}", message("/z"));
        assert!(message("--result 1.1.0").contains("did you mean `--results`?"));
        assert!(message("/c").contains("`/c` wants a value"));
        assert!(message("/t soon").contains("does not take `soon`"));
        assert!(message("a.icf b.csv 10 11").contains("`11` is one argument too many"));
        assert!(message("/c a.icf b.icf").contains("beside `/c`"));
        assert!(message("--results 1.2").contains("56 columns"));
    }
}
