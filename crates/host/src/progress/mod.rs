//! How far a rebuild, a scrub or the like has come, as the system that does it says.
//!
//! **Invariant:** nothing here begins, hurries or ends such work: it is only asked after.
//! **Invariant:** what a text does not say is never guessed; the readers are functions of the text alone.

mod btrfs;
mod mdstat;
mod percent;
mod watch;
mod zpool;

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::str::FromStr;

pub use watch::{Sample, Watcher};

/// Whom to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `/proc/mdstat`, about that array: `md0`.
    Md(String),
    /// `btrfs replace status`, of the file system mounted there.
    BtrfsReplace(PathBuf),
    /// `btrfs scrub status` likewise.
    BtrfsScrub(PathBuf),
    /// `zpool status`, of that pool.
    Zpool(String),
    /// What this command, given to `sh`, prints last with a `%` or alone.
    Command(String),
}

/// What was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// The part that is done, 0 to 1.
    Running(f64),
    /// It has been carried to its end, or there is nothing to do.
    Done,
    /// Nothing goes on, and not because all is well: the reason in words.
    Standing(String),
}

/// Why it is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgressError {
    /// Not one of the forms.
    #[error(
        "`{0}` is not a source of progress: write md:md0, btrfs-replace:/mnt, btrfs-scrub:/mnt or \
         zpool:tank, or give a command \
         that prints a percentage with --progress-cmd"
    )]
    Unknown(String),
    /// The file or the program.
    #[error("{what}: {why}")]
    Unreadable {
        /// What was tried.
        what: String,
        /// What went wrong.
        why: String,
    },
    /// It says nothing that could be understood.
    #[error("{what} does not say how far it is: {said}")]
    Unclear {
        /// Who was asked.
        what: String,
        /// The beginning of what it said.
        said: String,
    },
}

impl FromStr for Source {
    type Err = ProgressError;

    /// `md:md0`, `btrfs-replace:/mnt`, `btrfs-scrub:/mnt`, `zpool:tank`.
    fn from_str(text: &str) -> Result<Source, ProgressError> {
        let unknown = || ProgressError::Unknown(text.into());
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty()).ok_or_else(unknown)?;
        // A name that begins with a dash would be an option of the program that is asked.
        if name.starts_with('-') {
            return Err(unknown());
        }
        Ok(match kind {
            "md" => Source::Md(name.trim_start_matches("/dev/").into()),
            "btrfs-replace" => Source::BtrfsReplace(name.into()),
            "btrfs-scrub" => Source::BtrfsScrub(name.into()),
            "zpool" => Source::Zpool(name.into()),
            _ => return Err(unknown()),
        })
    }
}

impl fmt::Display for Source {
    /// Where it is read, for a record: `/proc/mdstat, md0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Md(name) => write!(f, "/proc/mdstat, {name}"),
            Source::BtrfsReplace(path) => write!(f, "btrfs replace status {}", path.display()),
            Source::BtrfsScrub(path) => write!(f, "btrfs scrub status {}", path.display()),
            Source::Zpool(name) => write!(f, "zpool status {name}"),
            Source::Command(command) => f.write_str(command),
        }
    }
}

impl Source {
    /// Asks once. May take as long as the program that is asked.
    pub fn read(&self) -> Result<Reading, ProgressError> {
        let text = self.text()?;
        self.understand(&text).ok_or_else(|| ProgressError::Unclear {
            what: self.to_string(),
            said: text.trim().chars().take(200).collect(),
        })
    }

    /// What a text from there means; `None` where it says nothing.
    pub fn understand(&self, text: &str) -> Option<Reading> {
        match self {
            Source::Md(name) => mdstat::reading(text, name),
            Source::BtrfsReplace(_) => btrfs::replace(text),
            Source::BtrfsScrub(_) => btrfs::scrub(text),
            Source::Zpool(name) => zpool::reading(text, name),
            Source::Command(_) => percent::reading(text),
        }
    }

    fn text(&self) -> Result<String, ProgressError> {
        match self {
            Source::Md(_) => std::fs::read_to_string("/proc/mdstat").map_err(|error| {
                ProgressError::Unreadable { what: "/proc/mdstat".into(), why: error.to_string() }
            }),
            // `-1` prints once; without it the program stays until the replacement ends.
            Source::BtrfsReplace(path) => {
                said(self, Command::new("btrfs").args(["replace", "status", "-1"]).arg(path))
            }
            Source::BtrfsScrub(path) => said(self, Command::new("btrfs").args(["scrub", "status"]).arg(path)),
            Source::Zpool(name) => said(self, Command::new("zpool").arg("status").arg(name)),
            Source::Command(command) => said(self, Command::new("sh").arg("-c").arg(command)),
        }
    }
}

fn said(source: &Source, command: &mut Command) -> Result<String, ProgressError> {
    let unreadable = |why: String| ProgressError::Unreadable { what: source.to_string(), why };
    let output = command
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| unreadable(error.to_string()))?;
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        return Err(unreadable(format!("{}: {}", output.status, err.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The number before a `%`, as a part of 1; `None` where there is none or it is no part.
fn before_percent(text: &str) -> Option<f64> {
    let at = text.find('%')?;
    let number = text[..at].rsplit(|c: char| !(c.is_ascii_digit() || c == '.')).next()?;
    let percent: f64 = number.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_named_as_they_are_written() {
        assert_eq!("md:/dev/md127".parse(), Ok(Source::Md("md127".into())));
        assert_eq!("zpool:tank".parse(), Ok(Source::Zpool("tank".into())));
        assert_eq!("btrfs-replace:/mnt/a b".parse(), Ok(Source::BtrfsReplace("/mnt/a b".into())));
        for text in ["md", "md:", "raid:md0", "zpool:-x", ""] {
            assert_eq!(text.parse::<Source>(), Err(ProgressError::Unknown(text.into())));
        }
    }

    #[test]
    fn a_command_is_asked_and_its_failure_is_told() {
        assert_eq!(Source::Command("echo 12.5 %".into()).read(), Ok(Reading::Running(0.125)));
        let failed = Source::Command("echo gone >&2; exit 3".into()).read().unwrap_err().to_string();
        assert!(failed.contains("gone") && failed.contains('3'), "{failed}");
        let unclear = Source::Command("echo nothing".into()).read().unwrap_err().to_string();
        assert!(unclear.contains("does not say how far it is: nothing"), "{unclear}");
    }
}
