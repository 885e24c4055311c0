//! The text of what writes contain: `random`, `reused`, `zeros`, `pattern(deadbeef)`.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::convert::narrow;

use super::{TextError, call, unknown, wrong};
use crate::{Content, MOST_PATTERN};

/// What the key `content` says; ratios have keys of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentText {
    /// Noise.
    Random,
    /// Noise that is made once.
    Reused,
    /// Nothing but zeros.
    Zeros,
    /// These bytes again and again.
    Pattern(Vec<u8>),
}

impl ContentText {
    /// What the key says of `content`.
    pub fn of(content: &Content) -> ContentText {
        match content {
            Content::Zeros => ContentText::Zeros,
            Content::Pattern(bytes) => ContentText::Pattern(bytes.clone()),
            Content::Random { .. } => ContentText::Random,
            Content::Reused => ContentText::Reused,
        }
    }
}

impl Display for ContentText {
    /// The text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentText::Random => f.write_str("random"),
            ContentText::Reused => f.write_str("reused"),
            ContentText::Zeros => f.write_str("zeros"),
            ContentText::Pattern(bytes) => {
                f.write_str("pattern(")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
        }
    }
}

impl FromStr for ContentText {
    type Err = TextError;

    fn from_str(text: &str) -> Result<ContentText, TextError> {
        match call(text)? {
            ("random", None) => Ok(ContentText::Random),
            ("reused", None) => Ok(ContentText::Reused),
            ("zeros", None) => Ok(ContentText::Zeros),
            ("pattern", Some(digits)) => pattern(digits).map(ContentText::Pattern),
            ("pattern", None) => {
                wrong("`pattern` needs its bytes", "two hexadecimal digits each: pattern(deadbeef)")
            }
            _ => unknown(text, "a content", &["random", "reused", "zeros", "pattern(deadbeef)"]),
        }
    }
}

fn pattern(digits: &str) -> Result<Vec<u8>, TextError> {
    let digit = |character: char| character.to_digit(16);
    let values: Option<Vec<u32>> = digits.chars().map(digit).collect();
    match values {
        Some(values) if values.len() % 2 == 0 && (1..=MOST_PATTERN).contains(&(values.len() / 2)) => {
            Ok(values.chunks_exact(2).map(|pair| narrow::<u8>(pair[0] * 16 + pair[1])).collect())
        }
        _ => wrong(
            format!("`{digits}` is not a pattern of bytes"),
            format!(
                "two hexadecimal digits for each of 1 to {MOST_PATTERN} bytes, such as pattern(deadbeef)"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_reads_back_and_half_a_byte_is_a_mistake() {
        for text in ["random", "reused", "zeros", "pattern(00ff10)"] {
            assert_eq!(text.parse::<ContentText>().unwrap().to_string(), text);
        }
        for wrong in ["pattern", "pattern(abc)", "pattern(xy)", "noise", "pattern(é)"] {
            assert!(wrong.parse::<ContentText>().is_err(), "{wrong}");
        }
        assert!(format!("pattern({})", "00".repeat(MOST_PATTERN + 1)).parse::<ContentText>().is_err());
    }
}
