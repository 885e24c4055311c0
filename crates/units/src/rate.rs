//! Operations and bytes per second.

use crate::convert::truncated;
use std::fmt;
use std::str::FromStr;

use crate::{Bytes, Nanos, UnitError, serde_by_text, split_number};

/// Completed operations per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct OpsPerSecond(f64);

impl OpsPerSecond {
    /// That many a second.
    pub const fn new(per_second: f64) -> OpsPerSecond {
        OpsPerSecond(per_second)
    }

    /// `ops` over `elapsed`; zero where no time passed.
    pub fn of(ops: u64, elapsed: Nanos) -> OpsPerSecond {
        OpsPerSecond(if elapsed.is_zero() { 0.0 } else { ops as f64 / elapsed.as_secs_f64() })
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The text that [`FromStr`] reads back: `5000/s`.
    pub fn exact(self) -> String {
        format!("{}/s", self.0)
    }
}

impl fmt::Display for OpsPerSecond {
    /// A whole number with thousands apart, `59,512`; below 100 one decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&if self.0 < 100.0 { format!("{:.1}", self.0) } else { with_thousands(self.0) })
    }
}

impl FromStr for OpsPerSecond {
    type Err = UnitError;

    /// Reads `500/s`, `20k/s` (decimal thousands), `1.5M/s`, `90/m`.
    fn from_str(text: &str) -> Result<OpsPerSecond, UnitError> {
        let (number, unit) = split_number(text);
        let per_second = match unit {
            "/s" => 1.0,
            "k/s" => 1e3,
            "M/s" => 1e6,
            "/m" | "/min" => 1.0 / 60.0,
            "" if !number.is_empty() => {
                let example = format!("{number}/s");
                return Err(UnitError::NoUnit { text: text.into(), what: "rate", example });
            }
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.into(),
                    unit: unit.into(),
                    what: "rate",
                    known: "/s, k/s, M/s, /m",
                });
            }
        };
        let count: f64 = number.replace('_', "").parse().map_err(|_| UnitError::NotANumber {
            text: text.into(),
            what: "rate",
            example: "500/s",
        })?;
        Ok(OpsPerSecond(count * per_second))
    }
}

serde_by_text!(OpsPerSecond, r"^[0-9._]+(k|M)?/(s|m)$", "Operations a second: `500/s`");

/// Bytes moved per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(f64);

impl BytesPerSecond {
    /// That many a second.
    pub const fn new(per_second: f64) -> BytesPerSecond {
        BytesPerSecond(per_second)
    }

    /// `bytes` over `elapsed`; zero where no time passed.
    pub fn of(bytes: Bytes, elapsed: Nanos) -> BytesPerSecond {
        BytesPerSecond(if elapsed.is_zero() { 0.0 } else { bytes.as_f64() / elapsed.as_secs_f64() })
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// In units of 1,000,000 bytes a second, as links and disks are sold.
    pub fn mb_per_s(self) -> f64 {
        self.0 / 1e6
    }

    /// In units of 1,048,576 bytes a second.
    pub fn mib_per_s(self) -> f64 {
        self.0 / 1_048_576.0
    }

    /// How long `bytes` take at this rate, rounded up to the next nanosecond.
    ///
    /// A rate of zero gives [`Nanos::MAX`].
    #[inline]
    pub fn time_for(self, bytes: Bytes) -> Nanos {
        debug_assert!(self.0 >= 0.0, "bytes move forwards");
        let exact = bytes.as_f64() * 1e9 / self.0;
        let whole = truncated::<u64>(exact);
        // A simulation asks for every request, and `ceil` is a call where no instruction set beyond the base is asked for.
        Nanos::new(whole.saturating_add(u64::from((whole as f64) < exact)))
    }

    /// The text that [`FromStr`] reads back: `125000000B/s`.
    pub fn exact(self) -> String {
        format!("{}B/s", self.0)
    }
}

impl fmt::Display for BytesPerSecond {
    /// Decimal megabytes with three significant digits, `612 MB/s`, `2,410 MB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = self.mb_per_s();
        let text = match mb {
            0.0..10.0 => format!("{mb:.2} MB/s"),
            10.0..100.0 => format!("{mb:.1} MB/s"),
            _ => format!("{} MB/s", with_thousands(mb)),
        };
        f.pad(&text)
    }
}

impl FromStr for BytesPerSecond {
    type Err = UnitError;

    /// Reads a size followed by `/s`: `150MB/s`, `1GiB/s`.
    fn from_str(text: &str) -> Result<BytesPerSecond, UnitError> {
        let size = text.trim().strip_suffix("/s").ok_or_else(|| UnitError::NoUnit {
            text: text.into(),
            what: "throughput",
            example: "150MB/s".into(),
        })?;
        Ok(BytesPerSecond(size.parse::<Bytes>()?.as_f64()))
    }
}

serde_by_text!(BytesPerSecond, r"^[0-9._]+ ?(B|[KMGT]iB|[kMGT]B)/s$", "A throughput: `150MB/s`");

fn with_thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_what_they_write() {
        assert_eq!("500/s".parse(), Ok(OpsPerSecond(500.0)));
        assert_eq!("20k/s".parse(), Ok(OpsPerSecond(20_000.0)));
        assert_eq!("150MB/s".parse(), Ok(BytesPerSecond(150e6)));
        assert!("500".parse::<OpsPerSecond>().unwrap_err().to_string().contains("500/s"));
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(OpsPerSecond(59_512.4).to_string(), "59,512");
        assert_eq!(OpsPerSecond(12.34).to_string(), "12.3");
        assert_eq!(BytesPerSecond(2_410_000_000.0).to_string(), "2,410 MB/s");
        assert_eq!(BytesPerSecond(612_345_678.0).to_string(), "612 MB/s");
    }

    #[test]
    fn time_for_bytes_rounds_up() {
        assert_eq!(BytesPerSecond(3e9).time_for(Bytes::new(10)), Nanos::new(4));
    }

    #[test]
    fn time_for_bytes_is_the_least_whole_nanosecond_that_is_enough() {
        for rate in [0.0, 1e-3, 1.0, 3.0, 1e6 / 3.0, 125e6, 3.2e9, 1e18, f64::INFINITY] {
            for bytes in [0, 1, 511, 4096, 16_384, 1 << 40, u64::MAX] {
                let exact = (bytes as f64 * 1e9 / rate).ceil();
                let found = BytesPerSecond(rate).time_for(Bytes::new(bytes));
                assert_eq!(found, Nanos::new(truncated(exact)), "{bytes} bytes at {rate} a second");
            }
        }
    }
}
