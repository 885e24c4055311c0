//! The runs that a plan is held against.

use std::fmt;
use std::str::FromStr;

use super::text::TextError;

/// Which runs a run must not be worse than.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Those of the plan with a label: with that value, or with the newest there is.
    Tag {
        /// The label.
        key: String,
        /// `None` takes the newest there is.
        value: Option<String>,
    },
    /// One, as in `fathom show`, or a record's file; several apart by commas.
    Run(String),
}

/// Before a label.
const TAG: &str = "tag:";

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Baseline::Tag { key, value: None } => write!(f, "{TAG}{key}"),
            Baseline::Tag { key, value: Some(value) } => write!(f, "{TAG}{key}={value}"),
            Baseline::Run(name) => f.write_str(name),
        }
    }
}

impl FromStr for Baseline {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Baseline, TextError> {
        let text = text.trim();
        let wrong = |message: &str| TextError {
            message: message.into(),
            help: "write tag:release, tag:release=2.1, a run such as last, or a record's file".into(),
        };
        let Some(label) = text.strip_prefix(TAG) else {
            return match text {
                "" => Err(wrong("a baseline names runs")),
                name => Ok(Baseline::Run(name.into())),
            };
        };
        let (key, value) =
            label.split_once('=').map_or((label, None), |(key, value)| (key, Some(value.into())));
        match key.trim() {
            "" => Err(wrong("a baseline by label names the label")),
            key => Ok(Baseline::Tag { key: key.into(), value }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_read_what_they_write() {
        for text in ["tag:release", "tag:release=2.1", "last", "base.json", "12,13"] {
            assert_eq!(text.parse::<Baseline>().map(|one| one.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "tag:", "tag:=2"] {
            assert!(text.parse::<Baseline>().is_err(), "{text}");
        }
    }
}
