//! Why a tool's command line or job file is not carried out. Nothing has been touched then.

use workload::plan::slips_within;

/// Each names what was found and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The tool has no such option.
    #[error("{tool}: there is no option `{option}`{}", near(.nearest))]
    Unknown {
        /// The tool.
        tool: &'static str,
        /// As typed.
        option: String,
        /// One that the tool has.
        nearest: Option<String>,
    },
    /// The tool has the option, and Fathom does not support it.
    #[error("{tool}: `{option}` is not supported: {why}")]
    Unsupported {
        /// The tool.
        tool: &'static str,
        /// As typed.
        option: String,
        /// Why not, and what comes nearest.
        why: String,
    },
    /// A value that the option does not take.
    #[error("{tool}: `{option}` does not take `{value}`: {want}")]
    Value {
        /// The tool.
        tool: &'static str,
        /// As typed.
        option: String,
        /// As typed.
        value: String,
        /// What it takes.
        want: String,
    },
    /// Something is missing or contradicts something else.
    #[error("{tool}: {what}")]
    Usage {
        /// The tool.
        tool: &'static str,
        /// What, and what would be right.
        what: String,
    },
    /// A mistake in a job file.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
}

impl Refusal {
    /// The refusal of a command in which something is missing or contradicts something else.
    pub fn usage(tool: &'static str, what: impl Into<String>) -> Refusal {
        Refusal::Usage { tool, what: what.into() }
    }

    /// Refuses by the words of the first of `wrong` that is so.
    pub(crate) fn check(tool: &'static str, wrong: &[(bool, &str)]) -> Result<(), Refusal> {
        match wrong.iter().find(|(is_so, _)| *is_so) {
            Some((_, what)) => Err(Refusal::usage(tool, *what)),
            None => Ok(()),
        }
    }

    /// The refusal of a `value` that `option` does not take; `want` is what it takes.
    pub fn value(tool: &'static str, option: &str, value: &str, want: impl Into<String>) -> Refusal {
        let want = want.into();
        debug_assert!(!want.is_empty(), "who is refused learns what `{option}` takes");
        Refusal::Value { tool, option: option.into(), value: value.into(), want }
    }

    /// The refusal of an `option` that the tool has and Fathom does not support.
    pub fn unsupported(tool: &'static str, option: impl Into<String>, why: impl Into<String>) -> Refusal {
        let why = why.into();
        debug_assert!(!why.is_empty(), "who is refused learns why");
        Refusal::Unsupported { tool, option: option.into(), why }
    }

    /// The refusal of `line` of `file`, counted from 1.
    pub fn line(file: &str, line: usize, what: impl Into<String>) -> Refusal {
        debug_assert!(line > 0, "lines are counted from 1");
        Refusal::Line { file: file.into(), line, what: what.into() }
    }

    /// The refusal of an unknown `option`, with the nearest of those `known`.
    pub fn unknown(tool: &'static str, option: &str, known: &[&str]) -> Refusal {
        // A letter in place of another is no slip of the pen where there is only one.
        let letters = option.chars().filter(|each| each.is_alphanumeric()).count();
        let most = if letters < 2 { 0 } else { (letters / 3).max(1) };
        let near = known.iter().filter_map(|name| Some((slips_within(option, name, most)?, name)));
        let nearest = near.min_by_key(|(slips, _)| *slips).map(|(_, name)| (*name).into());
        Refusal::Unknown { tool, option: option.into(), nearest }
    }
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_answered_with_the_nearest_one_there_is() {
        let refusal = Refusal::unknown("dd", "oflga", &["iflag", "oflag", "status"]);
        assert_eq!(refusal.to_string(), "dd: there is no option `oflga`; did you mean `oflag`?");
        let refusal = Refusal::unknown("dd", "zebra", &["iflag", "oflag", "status"]);
        assert_eq!(refusal.to_string(), "dd: there is no option `zebra`");
        let refusal = Refusal::unknown("iozone", "-%", &["-a", "-b"]);
        assert_eq!(refusal.to_string(), "iozone: there is no option `-%`");
    }
}
