//! `fathom completions`, and the answers to the scripts that it prints.
//!
//! A script asks the program itself, with `FATHOM_COMPLETE` in its environment, so that plans, arrays, disks and runs
//! are completed as they are at that moment.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::complete;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};

use crate::ending::{Ending, Failure};
use crate::input::candidates;
use crate::output;

/// Says which shell asks.
const VARIABLE: &str = "FATHOM_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[&Bash, &Elvish, &Fish, &Powershell, &Zsh]);

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub fn completions(arguments: &CompletionsArgs) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    let shell = SHELLS.completer(&arguments.shell);
    let written = shell.map_or(Ok(()), |shell| {
        shell.write_registration(VARIABLE, "fathom", "fathom", "fathom", &mut script)
    });
    written.map_err(Failure::system("writing the script"))?;
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Ending::done())
}

/// Answers a script, where one asks; whether one did. Call before anything else: nothing of it may be written.
pub fn answer<C: CommandFactory>() -> bool {
    if std::env::var_os(VARIABLE).is_none() {
        return false;
    }
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    candidates::set_store(&words);
    let folder = std::env::current_dir().ok();
    let answered = CompleteEnv::with_factory(C::command)
        .var(VARIABLE)
        .bin("fathom")
        .shells(SHELLS)
        .try_complete(std::env::args_os(), folder.as_deref());
    // Nobody reads an error at a prompt; there are no candidates then.
    answered.unwrap_or(true)
}

/// Bash, which cuts words at `:` and `=` before a script sees them. It hands over the line as it is, so that
/// `array:md3000` and `--on=/dev` are each one word.
struct Bash;

const BASH: &str = r#"_fathom() {
    local IFS=$'\n'
    COMPREPLY=($(VARIABLE=bash COMPLETER -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=/:] ]] || compopt -o nospace 2>/dev/null
}
complete -o nosort -F _fathom BIN 2>/dev/null || complete -F _fathom BIN
"#;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        program: &str,
        completer: &str,
        script: &mut dyn Write,
    ) -> io::Result<()> {
        let text = BASH.replace("VARIABLE", variable).replace("COMPLETER", completer).replace("BIN", program);
        script.write_all(text.as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        answer: &mut dyn Write,
    ) -> io::Result<()> {
        let text = |place: usize| {
            words.get(place).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let line = Line::split(&text(0));
        let typed = line.words.last().cloned().unwrap_or_default();
        let last = line.words.len().saturating_sub(1);
        candidates::set_store(&line.words);
        let words = line.words.iter().map(OsString::from).collect();
        // Bash replaces what stands behind the last of these alone.
        let breaks = text(1);
        let is_break = |letter: char| matches!(letter, ':' | '=') && breaks.contains(letter);
        let kept = if line.quote.is_some() { 0 } else { typed.rfind(is_break).map_or(0, |place| place + 1) };
        debug_assert!(kept <= typed.len(), "what stays is some of what was typed");
        for candidate in complete(command, words, last, folder)? {
            let value = candidate.get_value().to_string_lossy();
            if let Some(rest) = value.get(kept..).filter(|_| value.starts_with(&typed)) {
                writeln!(answer, "{}", quoted(rest, line.quote))?;
            }
        }
        Ok(())
    }
}

/// A command line up to the cursor, split as a shell does: quotes and backslashes keep what would split.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    /// The last is the one at the cursor, which may be empty.
    words: Vec<String>,
    /// The quote that is open at the cursor.
    quote: Option<char>,
}

impl Line {
    fn split(text: &str) -> Line {
        let mut line = Line { words: vec![String::new()], quote: None };
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let word = line.words.last_mut().expect("it begins with one");
            match (line.quote, letter) {
                (Some(quote), letter) if letter == quote => line.quote = None,
                (None, '\'' | '"') => line.quote = Some(letter),
                (None | Some('"'), '\\') => word.extend(letters.next()),
                (None, ' ' | '\t') if word.is_empty() => {}
                (None, ' ' | '\t') => line.words.push(String::new()),
                // The command before is not ours.
                (None, ';' | '|' | '&' | '(') => line.words = vec![String::new()],
                (_, letter) => word.push(letter),
            }
        }
        // Variables of the command, as in `FATHOM_STORE=x.sqlite fathom show`.
        let variables =
            line.words[..line.words.len() - 1].iter().take_while(|word| word.contains('=')).count();
        line.words.drain(..variables);
        line
    }
}

/// `text` so that a shell takes it for one word, or for the rest of one in an open quote.
fn quoted(text: &str, quote: Option<char>) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/.,:=_-+%@~".contains(letter);
    match quote {
        Some(_) => text.to_owned(),
        None => {
            let mut word = String::new();
            for letter in text.chars() {
                if !is_plain(letter) {
                    word.push('\\');
                }
                word.push(letter);
            }
            word
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_does_and_the_word_at_the_cursor_may_be_empty() {
        let split = |text: &str| Line::split(text);
        assert_eq!(
            split("fathom run oltp --on array:md").words,
            ["fathom", "run", "oltp", "--on", "array:md"]
        );
        assert_eq!(split("fathom  run ").words, ["fathom", "run", ""]);
        assert_eq!(split("cd x; fathom ls").words, ["fathom", "ls"]);
        assert_eq!(split(r"fathom run a\ b").words, ["fathom", "run", "a b"]);
        assert_eq!(split("FATHOM_STORE=x fathom ls --on=").words, ["fathom", "ls", "--on="]);
        let open = split("fathom run 'a b");
        assert_eq!((open.words.last().map(String::as_str), open.quote), (Some("a b"), Some('\'')));
    }

    #[test]
    fn a_candidate_that_a_shell_would_split_is_quoted() {
        assert_eq!(quoted("my plan.toml", None), r"my\ plan.toml");
        assert_eq!(quoted("my plan.toml", Some('"')), "my plan.toml");
        assert_eq!(quoted("/dev/disk/by-id/ata-X_1", None), "/dev/disk/by-id/ata-X_1");
    }
}
