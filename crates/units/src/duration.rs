//! Spans of time in whole nanoseconds.

use crate::convert::truncated;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use crate::{UnitError, scaled, serde_by_text, split_number};

/// A span of time. Up to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

const SCALES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Nanos {
    /// No time.
    pub const ZERO: Nanos = Nanos(0);
    /// The longest span.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// That many nanoseconds.
    pub const fn new(nanos: u64) -> Nanos {
        Nanos(nanos)
    }

    /// That many microseconds.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros * 1_000)
    }

    /// That many milliseconds.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis * 1_000_000)
    }

    /// That many seconds.
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs * 1_000_000_000)
    }

    /// The nearest whole span. Negative and not-a-number give zero, too large gives [`Nanos::MAX`].
    pub fn from_secs_f64(secs: f64) -> Nanos {
        Nanos(truncated::<u64>((secs * 1e9).round()))
    }

    /// The count.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The same span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether no time passes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This less `other`, or zero where `other` is longer.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// The text that [`FromStr`] reads back to the same span: `90s`, `250us`, `1500ms`.
    pub fn exact(self) -> String {
        let (unit, scale) = SCALES[2..]
            .iter()
            .find(|(_, scale)| self.0 != 0 && self.0.is_multiple_of(*scale))
            .unwrap_or(&("s", 1_000_000_000));
        let text = format!("{}{unit}", self.0 / scale);
        debug_assert_eq!(text.parse(), Ok(self), "an exact text reads back to the same");
        text
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits in the unit that fits: `980 ns`, `16.4 µs`, `2.04 s`, `95.0 s`; above two
    /// minutes minutes and seconds, above two hours hours and minutes, above three days days and hours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..999_500 => three_digits(self.0, 1_000, "µs"),
            999_500..999_500_000 => three_digits(self.0, 1_000_000, "ms"),
            999_500_000..120_000_000_000 => three_digits(self.0, 1_000_000_000, "s"),
            120_000_000_000..7_200_000_000_000 => {
                let secs = self.0 / 1_000_000_000;
                format!("{} min {:02} s", secs / 60, secs % 60)
            }
            7_200_000_000_000..259_200_000_000_000 => {
                let minutes = self.0 / 60_000_000_000;
                format!("{} h {:02} min", minutes / 60, minutes % 60)
            }
            _ => {
                let hours = self.0 / 3_600_000_000_000;
                format!("{} d {:02} h", hours / 24, hours % 24)
            }
        };
        f.pad(&text)
    }
}

fn three_digits(count: u64, scale: u64, unit: &str) -> String {
    let value = count as f64 / scale as f64;
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Reads `30s`, `5m`, `250us`, `1.5h`, `10 ms`. A bare number is an error: peers read it as
    /// microseconds, milliseconds or seconds.
    fn from_str(text: &str) -> Result<Nanos, UnitError> {
        let (number, unit) = split_number(text);
        if number.is_empty() {
            return Err(UnitError::NotANumber { text: text.into(), what: "duration", example: "30s" });
        }
        let scale = match unit {
            "" => {
                let example = format!("{number}s or {number}ms");
                return Err(UnitError::NoUnit { text: text.into(), what: "duration", example });
            }
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.into(),
                    unit: unit.into(),
                    what: "duration",
                    known: "ns, us, ms, s, m (minutes), h, d",
                });
            }
        };
        scaled(number, scale)
            .map(Nanos)
            .ok_or_else(|| UnitError::NotWhole { text: text.into(), smallest: "nanoseconds" })
    }
}

serde_by_text!(Nanos, r"^[0-9._]+ ?(ns|us|µs|ms|s|m|h|d)$", "A duration: `30s`, `250us`");

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;
    fn mul(self, times: u64) -> Nanos {
        Nanos(self.0 * times)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(iter: I) -> Nanos {
        Nanos(iter.map(|nanos| nanos.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenth_of_a_second_is_exact() {
        assert_eq!("0.1s".parse(), Ok(Nanos::from_millis(100)));
        assert_eq!("5m".parse(), Ok(Nanos::from_secs(300)));
        assert_eq!("250 µs".parse(), Ok(Nanos::from_micros(250)));
    }

    #[test]
    fn a_bare_number_is_an_error_because_peers_disagree() {
        let error = "30".parse::<Nanos>().unwrap_err().to_string();
        assert!(error.contains("30s or 30ms"), "{error}");
    }

    #[test]
    fn people_see_three_digits() {
        let shown = |nanos| Nanos(nanos).to_string();
        assert_eq!(shown(0), "0 ns");
        assert_eq!(shown(980), "980 ns");
        assert_eq!(shown(16_400), "16.4 µs");
        assert_eq!(shown(999_499), "999 µs");
        assert_eq!(shown(999_500), "1.00 ms");
        assert_eq!(shown(2_040_000_000), "2.04 s");
        assert_eq!(shown(150_000_000_000), "2 min 30 s");
        assert_eq!(shown(8_000_000_000_000), "2 h 13 min");
        assert_eq!(shown(8_766 * 3_600_000_000_000), "365 d 06 h");
    }

    proptest! {
        #[test]
        fn exact_text_reads_back_to_the_same_span(count: u64) {
            prop_assert_eq!(Nanos(count).exact().parse(), Ok(Nanos(count)));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,24}") {
            let _ = text.parse::<Nanos>();
        }
    }
}
