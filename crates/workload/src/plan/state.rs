//! What is done to a target between loads: prepared, left alone, or, where it is a virtual array, broken and mended.

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Nanos, Share};

use super::text::TextError;
use crate::spec::{Content, Extent, Span};

/// A phase that asks for nothing but brings the target into a state.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Brought into a known condition before a measurement.
    Prepare(Prepare),
    /// Left alone for so long.
    Idle(Nanos),
    /// That disk fails, counted from 0. On real storage a command of the user's makes it fail.
    FailDisk(u32),
    /// Work of the array itself. On real storage a command of the user's begins it.
    Background(Background),
    /// Work that goes on already is watched.
    Watch(Watch),
}

/// Work of an array, already begun, whose progress is kept beside what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// What it does.
    pub work: Work,
    /// Whether the next phase waits for its end.
    pub wait: bool,
}

/// How a target is made ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepare {
    /// The part that is trimmed and filled begins here.
    pub offset: Extent,
    /// How much is trimmed and filled.
    pub span: Span,
    /// Before all else, files that a tool makes under names of its own are cut to no length.
    pub empty: bool,
    /// First the part is declared unused.
    pub trim: bool,
    /// Then it is written from end to end so many times, 0 for not at all.
    pub fill: u32,
    /// What is written.
    pub content: Content,
    /// Then what is written is flushed and the page cache forgets it.
    pub drop_caches: bool,
    /// Read-ahead of the block device from then on; `None` leaves it as it is.
    pub read_ahead: Option<Bytes>,
    /// Scheduler of the block device from then on; `None` leaves it as it is.
    pub scheduler: Option<String>,
}

/// Work an array does by itself while hosts may load it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background {
    /// What it does.
    pub work: Work,
    /// The part of its attention the array gives to it; `None` takes the array's own setting.
    pub rate: Option<Share>,
    /// Whether the next phase waits for its end; otherwise it goes on beside the phases that follow.
    pub wait: bool,
}

/// What an array can do by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Makes the content of a failed member anew on a spare.
    Rebuild,
    /// Makes parity or mirrors of a new set consistent.
    Initialise,
    /// Copies one member to a spare that takes its place.
    Clone,
    /// Reads everything and compares it with its parity or mirror.
    Verify,
    /// Reads everything for unreadable sectors.
    Scrub,
}

/// The word of a state, before its other keys are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateWord {
    /// `prepare`.
    Prepare,
    /// `idle`.
    Idle,
    /// `fail disk N`.
    FailDisk(u32),
    /// `rebuild`, `initialise`, `clone`, `verify`, `scrub`.
    Background(Work),
    /// `watch rebuild` and so on.
    Watch(Work),
}

const STATES: [&str; 9] =
    ["prepare", "idle", "fail disk 3", "rebuild", "initialise", "clone", "verify", "scrub", "watch rebuild"];

impl StateWord {
    /// The word without its number, as the reference page lists it.
    pub fn family(self) -> &'static str {
        match self {
            StateWord::Prepare => "prepare",
            StateWord::Idle => "idle",
            StateWord::FailDisk(_) => "fail disk N",
            StateWord::Background(work) => work.name(),
            StateWord::Watch(_) => "watch WORK",
        }
    }
}

impl Work {
    const ALL: [Work; 5] = [Work::Rebuild, Work::Initialise, Work::Clone, Work::Verify, Work::Scrub];

    fn named(name: &str) -> Option<Work> {
        Work::ALL.into_iter().find(|work| work.name() == name)
    }

    /// The word used in plans and tables.
    pub fn name(self) -> &'static str {
        match self {
            Work::Rebuild => "rebuild",
            Work::Initialise => "initialise",
            Work::Clone => "clone",
            Work::Verify => "verify",
            Work::Scrub => "scrub",
        }
    }
}

impl State {
    /// What a plan writes for it, without details.
    pub fn word(&self) -> StateWord {
        match self {
            State::Prepare(_) => StateWord::Prepare,
            State::Idle(_) => StateWord::Idle,
            State::FailDisk(disk) => StateWord::FailDisk(*disk),
            State::Background(background) => StateWord::Background(background.work),
            State::Watch(watch) => StateWord::Watch(watch.work),
        }
    }

    /// Whether a virtual array does it by itself, and real storage only by a command of the user's.
    pub fn is_of_arrays(&self) -> bool {
        matches!(self, State::FailDisk(_) | State::Background(_))
    }

    /// Whether what the target holds is changed.
    pub fn changes_data(&self) -> bool {
        match self {
            State::Prepare(prepare) => prepare.fill > 0 || prepare.trim || prepare.empty,
            State::Idle(_) => false,
            // A virtual array holds no data of anybody.
            State::FailDisk(_) | State::Background(_) | State::Watch(_) => false,
        }
    }
}

impl fmt::Display for StateWord {
    /// The text that [`FromStr`] reads back: `fail disk 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateWord::FailDisk(disk) => write!(f, "fail disk {disk}"),
            StateWord::Watch(work) => write!(f, "watch {}", work.name()),
            word => f.write_str(word.family()),
        }
    }
}

impl FromStr for StateWord {
    type Err = TextError;

    fn from_str(text: &str) -> Result<StateWord, TextError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["prepare"] => Ok(StateWord::Prepare),
            ["idle"] => Ok(StateWord::Idle),
            ["fail", "disk", number] => match number.parse::<u16>() {
                Ok(disk) => Ok(StateWord::FailDisk(disk.into())),
                Err(_) => Err(TextError {
                    message: format!("`{number}` is not the number of a disk"),
                    help: "disks are counted from 0, for example `fail disk 3`".into(),
                }),
            },
            ["fail", ..] => Err(TextError {
                message: format!("`{text}` does not say which disk"),
                help: "for example `fail disk 3`".into(),
            }),
            ["watch", name] => Work::named(name).map(StateWord::Watch).ok_or_else(|| unknown(text)),
            _ => Work::named(text.trim()).map(StateWord::Background).ok_or_else(|| unknown(text)),
        }
    }
}

fn unknown(text: &str) -> TextError {
    let near = document::nearest(text.trim(), STATES);
    let all = STATES.join(", ");
    let help =
        near.map_or(format!("one of {all}"), |near| format!("did you mean `{near}`? All of them: {all}"));
    TextError { message: format!("`{text}` is not a state"), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_read_what_they_write() {
        for text in STATES {
            assert_eq!(text.parse::<StateWord>().map(|word| word.to_string()), Ok(text.to_string()));
        }
    }

    #[test]
    fn a_wrong_state_is_told_the_right_one() {
        let help = |text: &str| text.parse::<StateWord>().unwrap_err().to_string();
        assert!(help("initialize").contains("did you mean `initialise`"));
        assert!(help("fail disk").contains("`fail disk 3`"));
        assert!(help("fail disk -1").contains("counted from 0"));
        assert!(help("").contains("one of prepare"));
    }
}
