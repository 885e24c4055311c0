//! A part of a whole.

use std::fmt;
use std::str::FromStr;

use crate::{UnitError, serde_by_text};

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(f64);

impl Share {
    /// Nothing.
    pub const NONE: Share = Share(0.0);
    /// All.
    pub const ALL: Share = Share(1.0);

    /// That part, or `None` outside 0 to 1.
    pub fn new(part: f64) -> Option<Share> {
        (0.0..=1.0).contains(&part).then_some(Share(part))
    }

    /// The number, 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The text that [`FromStr`] reads back.
    pub fn exact(self) -> String {
        debug_assert!((0.0..=1.0).contains(&self.0), "a share is a part of the whole");
        format!("{}", self.0)
    }
}

impl fmt::Display for Share {
    /// Percent with at most one decimal: `70 %`, `66.7 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 1000.0).round() / 10.0;
        f.pad(&format!("{percent} %"))
    }
}

impl FromStr for Share {
    type Err = UnitError;

    /// Reads `70%`, `2/3`, `0.7`. A bare number above 1 is an error rather than a percentage.
    fn from_str(text: &str) -> Result<Share, UnitError> {
        let wrong = || UnitError::NotANumber { text: text.into(), what: "share", example: "70%, 2/3 or 0.7" };
        let number = |part: &str| part.trim().parse::<f64>().map_err(|_| wrong());
        let part = if let Some(percent) = text.trim().strip_suffix('%') {
            number(percent)? / 100.0
        } else if let Some((of, whole)) = text.split_once('/') {
            number(of)? / number(whole)?
        } else {
            number(text)?
        };
        Share::new(part)
            .ok_or(UnitError::OutOfRange { text: text.into(), range: "0 to 1 (write percent as `70%`)" })
    }
}

serde_by_text!(Share, r"^[0-9.]+( ?%|/[0-9.]+)?$", "A share: `70%`, `2/3`, `0.7`");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_percent_fraction_or_number() {
        assert_eq!("70%".parse(), Ok(Share(0.7)));
        assert_eq!("1/4".parse(), Ok(Share(0.25)));
        assert_eq!("0.5".parse(), Ok(Share(0.5)));
        for text in ["70", "-1%", "3/2", "1/0", "0/0", "NaN", "", "%"] {
            assert!(text.parse::<Share>().is_err(), "{text} was read");
        }
    }

    #[test]
    fn people_see_percent() {
        assert_eq!(Share(2.0 / 3.0).to_string(), "66.7 %");
        assert_eq!(Share(0.7).to_string(), "70 %");
    }
}
