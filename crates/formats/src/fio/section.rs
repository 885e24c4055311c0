//! Sections of fio jobs, from a job file or a command line, before anything is made of their values.

use crate::Refusal;

use super::TOOL;
use super::options::{self, Known, Verdict};

/// Where something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A line of a file, from 1.
    Line(String, usize),
    /// An argument.
    Argument,
}

impl Origin {
    /// The refusal of something that has no option of its own.
    pub(super) fn refuse(&self, what: String) -> Refusal {
        match self {
            Origin::Line(file, line) => Refusal::Line { file: file.clone(), line: *line, what },
            Origin::Argument => Refusal::Usage { tool: TOOL, what },
        }
    }
}

/// One option with its value.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub known: Known,
    /// As typed, variables filled in; empty where it stands alone.
    pub value: String,
    pub origin: Origin,
}

impl Setting {
    /// The setting of `name`; the refusal of a name that fio does not have, or that is not supported.
    pub(super) fn read(name: &str, value: Option<&str>, origin: &Origin) -> Result<Setting, Refusal> {
        let Some(known) = options::find(name) else { return Err(unknown(name, origin)) };
        let value = value.map(str::trim).unwrap_or_default().to_owned();
        let setting = Setting { known, value, origin: origin.clone() };
        if setting.value.is_empty() && !known.bare && known.name != "description" {
            return Err(setting.wrong("it needs a value"));
        }
        if known.name == "name" && setting.value.contains(char::is_control) {
            return Err(setting.wrong("a name has no characters that cannot be shown"));
        }
        if let Verdict::Unsupported { why, idle } = known.verdict
            && !idle.contains(&setting.value.as_str())
        {
            return Err(setting.unsupported(why));
        }
        Ok(setting)
    }

    /// The refusal of its value.
    pub(super) fn wrong(&self, want: impl Into<String>) -> Refusal {
        let (option, value, want) = (self.known.name, &self.value, want.into());
        match &self.origin {
            Origin::Line(..) => self.origin.refuse(format!("`{option}={value}`: {want}")),
            Origin::Argument => {
                Refusal::Value { tool: TOOL, option: option.into(), value: value.clone(), want }
            }
        }
    }

    /// The refusal of what is understood and not supported.
    pub(super) fn unsupported(&self, why: impl Into<String>) -> Refusal {
        let why = why.into();
        let option = match self.value.as_str() {
            "" => self.known.name.to_owned(),
            value => format!("{}={value}", self.known.name),
        };
        match &self.origin {
            Origin::Line(..) => self.origin.refuse(format!("`{option}` is not supported: {why}")),
            Origin::Argument => Refusal::Unsupported { tool: TOOL, option, why },
        }
    }
}

fn unknown(name: &str, origin: &Origin) -> Refusal {
    let refusal = Refusal::unknown(TOOL, name, &options::names());
    match (origin, &refusal) {
        (Origin::Line(..), Refusal::Unknown { nearest: Some(near), .. }) => {
            origin.refuse(format!("fio has no option `{name}`; did you mean `{near}`?"))
        }
        (Origin::Line(..), _) => origin
            .refuse(format!("`{name}` is not an option of fio, or one of an engine that is not supported")),
        (Origin::Argument, _) => refusal,
    }
}

/// One job, or what holds for the jobs after it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub origin: Origin,
    pub settings: Vec<Setting>,
    /// Whether it is the first of a job file, and waits for all before it.
    pub begins_file: bool,
}

impl Section {
    /// One without options yet. A name that cannot be shown on one line is refused: nobody could tell the job by it.
    pub(super) fn named(name: String, origin: &Origin) -> Result<Section, Refusal> {
        if name.contains(char::is_control) {
            return Err(
                origin.refuse(format!("{name:?} cannot name a job: it has a character that cannot be shown"))
            );
        }
        Ok(Section { name, origin: origin.clone(), settings: Vec::new(), begins_file: false })
    }

    pub(super) fn is_global(&self) -> bool {
        self.name == "global"
    }
}
