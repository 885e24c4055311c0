//! Why a device, an array, an address or a case could not be read.
//!
//! **Invariant:** every error about a file names the file and the line, says what is wrong and what would be right.

use std::fmt;
use std::sync::Arc;

use workload::plan::slips_within;

use crate::raid::GeometryError;

/// Where something stands: a file (or an address such as `array:md3000?raid=5`), a line and a column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLocation {
    /// What the source called the file.
    pub file: Arc<str>,
    /// Counted from 1; 0 where there are no lines, as in an address.
    pub line: u32,
    /// In characters from 1; 0 where there are no lines.
    pub column: u32,
}

impl SourceLocation {
    /// All of `file`, without a line.
    pub fn of(file: &str) -> SourceLocation {
        SourceLocation { file: file.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for SourceLocation {
    /// `arrays/md3000.toml:14`, or the file alone where there is no line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { write!(f, "{}", self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// Why a description could not be read: where, and what is wrong.
///
/// Prints as `FILE:LINE: what is wrong and what would be right`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {fault}")]
pub struct SpecError {
    /// The key, the value, or the address.
    pub at: SourceLocation,
    /// What is wrong there.
    pub fault: Box<Fault>,
}

impl SpecError {
    pub(super) fn at(at: SourceLocation, fault: Fault) -> SpecError {
        SpecError { at, fault: Box::new(fault) }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not TOML.
    #[error("not TOML: {what}")]
    Syntax {
        /// The parser's words.
        what: String,
    },
    /// A key that its table does not have.
    #[error("`{table}` has no key `{key}`{}", choices(.meant, .known))]
    UnknownKey {
        /// Its table, dotted.
        table: String,
        /// As written.
        key: String,
        /// The nearest key that exists.
        meant: Option<String>,
        /// All keys that exist, comma-separated.
        known: String,
    },
    /// A key that must be there.
    #[error("`{table}` needs `{key}`, {want}")]
    Missing {
        /// The table, dotted.
        table: String,
        /// What is missing.
        key: String,
        /// What it would hold.
        want: String,
    },
    /// A value of the wrong type, unit or range.
    #[error("`{key}`: {why}")]
    Value {
        /// Its key, dotted.
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// A file that is not there.
    #[error("there is no {shelf} `{name}`{}", elsewhere(.meant))]
    NoSuchFile {
        /// `array` or `device`.
        shelf: &'static str,
        /// As written.
        name: String,
        /// The nearest name that exists.
        meant: Option<String>,
    },
    /// A file that inherits itself.
    #[error("`{name}` inherits itself ({chain}); remove one `inherits`")]
    Cycle {
        /// The file met twice.
        name: String,
        /// `a → b → a`.
        chain: String,
    },
    /// A set that cannot exist.
    #[error("{why}")]
    Raid {
        /// What is impossible and what would be right.
        why: GeometryError,
    },
    /// A disk that the array does not have.
    #[error("there is no disk {disk}: the array has {count}, numbered 0 to {}", .count.saturating_sub(1))]
    NoSuchDisk {
        /// As written.
        disk: i64,
        /// Disks there are.
        count: u32,
    },
    /// An option that the array does not take.
    #[error("`{array}` takes no option `{option}`{}", choices(.meant, .known))]
    UnknownOption {
        /// The array.
        array: String,
        /// As written.
        option: String,
        /// The nearest option.
        meant: Option<String>,
        /// All options, comma-separated.
        known: String,
    },
    /// An option with a value it does not take.
    #[error("option `{option}` of `{array}` cannot be `{value}`{}", choices(.meant, .known))]
    OptionValue {
        /// The array.
        array: String,
        /// The option.
        option: String,
        /// As written.
        value: String,
        /// The nearest value.
        meant: Option<String>,
        /// What it takes.
        known: String,
    },
    /// An address that is not `NAME?OPTION=VALUE&…`.
    #[error("{why}; write NAME?OPTION=VALUE&OPTION=VALUE, as in md3000?raid=10&luns=2")]
    Address {
        /// What is wrong.
        why: String,
    },
}

/// The end of a sentence about a name that is not known.
fn choices(meant: &Option<String>, known: &str) -> String {
    match meant {
        Some(name) => format!("; did you mean `{name}`? It takes {known}"),
        None => format!("; it takes {known}"),
    }
}

fn elsewhere(meant: &Option<String>) -> String {
    match meant {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; `fathom array list` shows what there is".into(),
    }
}

/// The name most like `typed`, if one is like it at all: at most a third of it differs, or one begins the other.
pub(super) fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let limit = (typed.chars().count() / 3).max(1);
    names
        .into_iter()
        .filter_map(|name| {
            let begins = typed.len() >= 3 && (name.starts_with(typed) || typed.starts_with(name));
            Some((slips_within(typed, name, if begins { usize::MAX } else { limit })?, name))
        })
        .min()
        .map(|(_, name)| name.to_string())
}
