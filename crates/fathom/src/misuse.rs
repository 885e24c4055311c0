//! What clap says of a command line that it does not understand, with what it cannot know.

use std::ffi::OsString;

use clap::Error;
use clap::builder::{StyledStr, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Verbs that take a target, as they stand in a usage line.
const MEASURE: [&str; 3] = ["fathom run ", "fathom search ", "fathom campaign "];

/// Options that the environment may give.
const BY_ENVIRONMENT: [&str; 3] = [" --store <FILE>", " --destroy <IDENTITY>", " --no-save"];

/// `error` with a pointer to `--on` where a target stands without it, and without options in its usage that are not on the
/// command line but in the environment.
pub fn helped(mut error: Error) -> Error {
    if let Some(tip) = target_tip(&error).or_else(|| fio_tip(&error)) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    if let Some(usage) = usage_of(&error) {
        let typed: Vec<OsString> = std::env::args_os().collect();
        let bare = without_environment(&usage, &typed);
        if bare != usage {
            error.insert(ContextKind::Usage, ContextValue::StyledStr(styled(&bare)));
        }
    }
    error
}

fn usage_of(error: &Error) -> Option<String> {
    match error.get(ContextKind::Usage)? {
        ContextValue::StyledStr(usage) => Some(usage.to_string()),
        _ => None,
    }
}

/// `--on TARGET` of a second word without an option before it; `None` where no target is taken, or it is an option.
fn target_tip(error: &Error) -> Option<String> {
    let usage = usage_of(error)?;
    let takes_target = MEASURE.iter().any(|verb| usage.contains(verb));
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_word = error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-');
    (takes_target && is_word).then(|| format!("a target follows --on: --on {word}"))
}

/// Where options of fio stand, of an option of fio's that a verb which measures does not have.
fn fio_tip(error: &Error) -> Option<String> {
    let measures = MEASURE.iter().any(|verb| usage_of(error).is_some_and(|usage| usage.contains(verb)));
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = word.strip_prefix("--")?.split('=').next()?;
    if error.kind() != ErrorKind::UnknownArgument || !measures || !formats::fio::is_option(name) {
        return None;
    }
    // A plan's times have units.
    let value = if name == "runtime" { "2s" } else { "VALUE" };
    Some(format!("options of fio go by `--set {name}={value}`, or use `fathom as fio`"))
}

fn without_environment(usage: &str, typed: &[OsString]) -> String {
    let is_typed = |option: &str| {
        let name = option.split_whitespace().next().unwrap_or_default();
        typed.iter().any(|word| word.to_string_lossy().split('=').next() == Some(name))
    };
    let absent = BY_ENVIRONMENT.iter().filter(|option| !is_typed(option));
    absent.fold(usage.to_owned(), |usage, option| usage.replace(option, ""))
}

/// A usage line with its heading as clap paints it.
fn styled(usage: &str) -> StyledStr {
    let heading = *Styles::styled().get_usage();
    usage.replacen("Usage:", &format!("{heading}Usage:{heading:#}"), 1).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_the_environment_is_not_in_the_usage_unless_it_was_typed() {
        let usage = "Usage: fathom as --store <FILE> <TOOL ARGUMENTS>...";
        let bare = |typed: &[&str]| {
            without_environment(usage, &typed.iter().map(OsString::from).collect::<Vec<_>>())
        };
        assert_eq!(bare(&["fathom", "as"]), "Usage: fathom as <TOOL ARGUMENTS>...");
        assert_eq!(bare(&["fathom", "--store", "x", "as"]), usage);
        assert_eq!(bare(&["fathom", "--store=x", "as"]), usage);
    }
}
