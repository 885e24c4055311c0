//! The one text of every part of a specification: what `Display` writes, `FromStr` reads back to the same.
//!
//! **Invariant:** `text.parse()` of a written text gives an equal value; tests of `workload` hold it for many.

mod amounts;
mod content;
mod lines;
mod load;
mod pattern;
mod stamp;
mod steady;
mod trace;
mod zones;

use std::str::FromStr;

use document::{Wrong, nearest};
use units::{Share, UnitError};

pub use amounts::{LARGEST_REQUEST, MOST_SIZES};
pub use amounts::{sizes_of, split_of, weight_of};
pub use content::ContentText;
pub use lines::{LineList, OwnLine, own_lines};
pub use load::{CpuList, Ratio, TargetList};
pub use load::{FILES, LAYOUTS, PACES};
pub use pattern::MOST_ZONES;
pub use pattern::PATTERNS;
pub use trace::{DataOp, Factor, OpList};

/// Shares that sum to 1 within this do: 2/3 and 1/3 have no exact binary form.
pub const SHARE_SLACK: f64 = 1e-9;

/// Why a text is not a pattern, a pace or the like.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {help}")]
pub struct TextError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl From<TextError> for Wrong {
    fn from(error: TextError) -> Wrong {
        Wrong::new(error.message, error.help)
    }
}

impl From<Wrong> for TextError {
    fn from(wrong: Wrong) -> TextError {
        let help = wrong.help.unwrap_or_else(|| "see the rules for units".into());
        TextError { message: wrong.message, help }
    }
}

pub(crate) fn wrong<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { message: message.into(), help: help.into() })
}

/// A size, duration, rate or share within a longer text.
pub(crate) fn unit<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, TextError> {
    text.trim().parse().map_err(|error: UnitError| Wrong::from(error).into())
}

/// A whole number.
pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, TextError> {
    let wrong =
        |_| TextError { message: format!("`{text}` is not an integer"), help: "for example 32".into() };
    text.trim().parse().map_err(wrong)
}

/// `name(argument)` taken apart; `None` for the argument where there are no brackets.
pub(crate) fn call(text: &str) -> Result<(&str, Option<&str>), TextError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else { return Ok((text, None)) };
    match rest.strip_suffix(')') {
        Some(argument) if !argument.trim().is_empty() => Ok((name.trim(), Some(argument.trim()))),
        Some(_) => wrong(format!("nothing is between the brackets of `{text}`"), "fill or drop the brackets"),
        None => wrong(format!("`{text}` does not end with a bracket"), format!("write `{text})`")),
    }
}

/// That `text` is none of `known`, with the nearest of them.
pub fn unknown<T>(text: &str, what: &str, known: &[&str]) -> Result<T, TextError> {
    assert!(!known.is_empty(), "there is no such thing as {what}");
    let word = text.split('(').next().unwrap_or(text).trim();
    let words = known.iter().map(|form| form.split('(').next().unwrap_or(form));
    let near = nearest(word, words).and_then(|word| known.iter().find(|form| form.starts_with(word)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`? All of them: {}", known.join(", ")),
        None => format!("one of {}", known.join(", ")),
    };
    wrong(format!("`{text}` is not {what}"), help)
}

/// The shortest text of a share that reads back to the same number: `70%`, else `0.6666666666666666`.
pub fn share_text(share: Share) -> String {
    debug_assert_eq!(share.exact().parse(), Ok(share), "what is shown does not read back");
    let percent = format!("{}%", (share.get() * 1e11).round() / 1e9);
    if percent.parse() == Ok(share) { percent } else { share.exact() }
}

/// Items with commas between them.
fn listed<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Writes and reads an enum whose variants are single words.
///
/// Without a list of them the type has `ALL` and `name`, which say the same.
#[macro_export]
macro_rules! words {
    ($type:ty, $what:literal) => {
        impl std::fmt::Display for $type {
            /// The word that `FromStr` reads back.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::text::TextError;

            fn from_str(text: &str) -> Result<$type, $crate::text::TextError> {
                let text = text.trim();
                match <$type>::ALL.into_iter().find(|one| one.name() == text) {
                    Some(one) => Ok(one),
                    None => $crate::text::unknown(text, $what, &<$type>::ALL.map(<$type>::name)),
                }
            }
        }
    };
    ($type:ty, $what:literal, $($variant:path => $word:literal),+ $(,)?) => {
        impl std::fmt::Display for $type {
            /// The word that `FromStr` reads back.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($variant => $word),+ })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::text::TextError;

            fn from_str(text: &str) -> Result<$type, $crate::text::TextError> {
                match text.trim() {
                    $($word => Ok($variant),)+
                    other => $crate::text::unknown(other, $what, &[$($word),+]),
                }
            }
        }
    };
}
pub use crate::words;
