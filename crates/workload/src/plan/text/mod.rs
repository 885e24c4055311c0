//! The one text of every part of a specification: what `Display` writes, `FromStr` reads back to the same.
//!
//! **Invariant:** `text.parse()` of a written text gives an equal value; property-tested below.

mod amounts;
mod content;
mod load;
mod pattern;
mod steady;
mod trace;

use std::str::FromStr;

use units::{Share, UnitError};

use super::mistakes::Wrong;
use super::suggest::nearest;
pub use amounts::{LARGEST_REQUEST, MOST_SIZES};
pub(crate) use amounts::{split_of, weight_of};
pub use content::ContentText;
pub use load::{CpuList, Ratio, TargetList};
pub(crate) use load::{FILES, LAYOUTS, PACES};
pub use pattern::MOST_ZONES;
pub(crate) use pattern::PATTERNS;
pub use trace::{DataOp, Factor, OpList};

/// Shares that sum to 1 within this do: 2/3 and 1/3 have no exact binary form.
pub(crate) const SHARE_SLACK: f64 = 1e-9;

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

impl From<UnitError> for Wrong {
    /// A unit's complaint, parted where its own advice begins.
    fn from(error: UnitError) -> Wrong {
        let said = error.to_string();
        match said.split_once("; ") {
            Some((message, help)) => Wrong::new(message, help),
            None => Wrong::said(said),
        }
    }
}

fn wrong<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { message: message.into(), help: help.into() })
}

/// A size, duration, rate or share within a longer text.
fn unit<T: FromStr<Err = UnitError>>(text: &str) -> Result<T, TextError> {
    text.trim().parse().map_err(|error: UnitError| {
        let wrong = Wrong::from(error);
        let help = wrong.help.unwrap_or_else(|| "see the rules for units".into());
        TextError { message: wrong.message, help }
    })
}

/// `name(argument)` taken apart; `None` for the argument where there are no brackets.
fn call(text: &str) -> Result<(&str, Option<&str>), TextError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else { return Ok((text, None)) };
    match rest.strip_suffix(')') {
        Some(argument) if !argument.trim().is_empty() => Ok((name.trim(), Some(argument.trim()))),
        Some(_) => wrong(format!("nothing is between the brackets of `{text}`"), "fill or drop the brackets"),
        None => wrong(format!("`{text}` does not end with a bracket"), format!("write `{text})`")),
    }
}

/// That `text` is none of `known`, with the nearest of them.
pub(crate) fn unknown<T>(text: &str, what: &str, known: &[&str]) -> Result<T, TextError> {
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
macro_rules! words {
    ($type:ty, $what:literal) => {
        impl std::fmt::Display for $type {
            /// The word that `FromStr` reads back.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::plan::text::TextError;

            fn from_str(text: &str) -> Result<$type, $crate::plan::text::TextError> {
                let text = text.trim();
                match <$type>::ALL.into_iter().find(|one| one.name() == text) {
                    Some(one) => Ok(one),
                    None => $crate::plan::text::unknown(text, $what, &<$type>::ALL.map(<$type>::name)),
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
            type Err = $crate::plan::text::TextError;

            fn from_str(text: &str) -> Result<$type, $crate::plan::text::TextError> {
                match text.trim() {
                    $($word => Ok($variant),)+
                    other => $crate::plan::text::unknown(other, $what, &[$($word),+]),
                }
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::tests::arbitrary::{extent, pace, pattern, share, split};
    use crate::spec::{EngineKind, Files, LunLayout, Pace, Pattern, SizeSplit, Span};

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            pattern in pattern(), pace in pace(), extent in extent(), split in split(), share in share(),
            ratio in 1.0..=1000.0f64, cpus in proptest::collection::vec(0u32..300, 0..40),
        ) {
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
            prop_assert_eq!(pace.to_string().parse(), Ok(pace));
            prop_assert_eq!(extent.to_string().parse(), Ok(extent));
            prop_assert_eq!(Span::Of(extent).to_string().parse(), Ok(Span::Of(extent)));
            prop_assert_eq!(split.to_string().parse(), Ok(split));
            prop_assert_eq!(share_text(share).parse(), Ok(share));
            prop_assert_eq!(Ratio(ratio).to_string().parse(), Ok(Ratio(ratio)));
            prop_assert_eq!(CpuList(cpus.clone()).to_string().parse(), Ok(CpuList(cpus)));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "\\PC{0,40}", inner in "[0-9a-z%,./: -]{0,20}") {
            for text in [text.clone(), format!("hot({inner})"), format!("rate({inner})"), format!("{{{text}}}"), inner] {
                let _ = text.parse::<Pattern>();
                let _ = text.parse::<Pace>();
                let _ = text.parse::<Span>();
                let _ = text.parse::<SizeSplit>();
                let _ = text.parse::<Files>();
                let _ = text.parse::<LunLayout>();
                let _ = text.parse::<Ratio>();
                let _ = text.parse::<CpuList>();
                let _ = text.parse::<EngineKind>();
            }
        }
    }
}
