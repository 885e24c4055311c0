//! What a number counts, and how it is written at an axis.

use units::convert::truncated;
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond};

/// What the numbers of an axis count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A bare number: queue depth, workers.
    Count,
    /// Requests a second.
    PerSecond,
    /// Bytes a second, written in MB/s.
    BytesPerSecond,
    /// Nanoseconds, written in the unit that fits.
    Nanos,
    /// Seconds of a run, written in seconds, minutes or hours.
    Seconds,
    /// Bytes, in binary units.
    Bytes,
    /// A part of one, written in per cent.
    Share,
    /// A probability, written in per cent or, where it is small, as a power of ten.
    Chance,
    /// One value over another, written with `×`.
    Ratio,
    /// `1/(1 − q)` of a quantile `q`, written as `p99`.
    Tail,
}

impl Unit {
    /// `value` in words, as a table has it: `1,930`, `12.4 ms`, `412 MB/s`.
    pub fn written(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".into();
        }
        match self {
            Unit::Count => plain(value),
            Unit::PerSecond => signed(value, |value| OpsPerSecond::new(value).to_string()),
            Unit::BytesPerSecond => signed(value, |value| BytesPerSecond::new(value).to_string()),
            Unit::Nanos => signed(value, |value| Nanos::new(truncated(value.round())).to_string()),
            Unit::Seconds => signed(value, |value| Nanos::from_secs_f64(value).to_string()),
            Unit::Bytes => signed(value, |value| Bytes::new(truncated(value.round())).to_string()),
            Unit::Share => format!("{} %", plain(value * 100.0)),
            Unit::Chance if value != 0.0 && value.abs() < 1e-3 => format!("{value:.1e}").replace('-', "−"),
            Unit::Chance => Unit::Share.written(value),
            Unit::Ratio if value.abs() >= 1000.0 => format!("{}×", plain(value)),
            Unit::Ratio if value.abs() >= 100.0 => format!("{value:.0}×"),
            Unit::Ratio if value.abs() >= 0.1 || value == 0.0 => format!("{value:.2}×"),
            Unit::Ratio => format!("{}×", small(value)),
            Unit::Tail => {
                // Percentiles need their nines; more digits than seven only show how binary rounds.
                format!("p{}", ((1.0 - 1.0 / value.max(1.0)) * 1e9).round() / 1e7)
            }
        }
    }

    /// `value` at a tick of an axis: as short as it can be.
    pub fn tick(self, value: f64) -> String {
        match self {
            Unit::PerSecond => short(value),
            Unit::BytesPerSecond => short_mb(value / 1e6),
            Unit::Nanos | Unit::Seconds => {
                let seconds = if self == Unit::Nanos { value / 1e9 } else { value };
                duration(seconds)
            }
            Unit::Ratio if value.abs() < 0.1 && value != 0.0 => format!("{}×", small(value)),
            Unit::Ratio => format!("{}×", plain(value)),
            _ => self.written(value).replace(' ', "\u{a0}"),
        }
    }

    /// What is written beside the name of the axis; empty where ticks say it themselves.
    pub fn at_axis(self) -> &'static str {
        match self {
            Unit::PerSecond => "IOPS",
            Unit::BytesPerSecond => "MB/s",
            _ => "",
        }
    }
}

fn signed(value: f64, written: impl Fn(f64) -> String) -> String {
    if value < 0.0 { format!("−{}", written(-value)) } else { written(value) }
}

/// Three significant digits without zeros at the end; thousands apart.
fn plain(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        return signed(value, |value| OpsPerSecond::new(value).to_string());
    }
    let decimals = match size {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// A number near zero that is none: two significant digits, `0.0039`, or its power of ten, `2.4e−6`.
fn small(value: f64) -> String {
    let digit = value.abs().log10().floor();
    if digit < -4.0 {
        return format!("{value:.1e}").replace('-', "−");
    }
    let decimals: usize = truncated(1.0 - digit);
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').replace('-', "−")
}

/// `900`, `12 k`, `1.5 M`.
fn short(value: f64) -> String {
    match value.abs() {
        1e6.. => format!("{}\u{a0}M", plain(value / 1e6)),
        1e4.. => format!("{}\u{a0}k", plain(value / 1e3)),
        _ => plain(value),
    }
}

/// `900`, `12,000`: of a number that has its unit at the axis.
fn short_mb(value: f64) -> String {
    plain(value)
}

fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        0.0 => return "0".into(),
        size if size >= 2.0 * 86_400.0 => (seconds / 86_400.0, "d"),
        size if size >= 2.0 * 3_600.0 => (seconds / 3_600.0, "h"),
        size if size >= 180.0 => (seconds / 60.0, "min"),
        size if size >= 0.999_5 => (seconds, "s"),
        size if size >= 0.999_5e-3 => (seconds * 1e3, "ms"),
        size if size >= 0.999_5e-6 => (seconds * 1e6, "µs"),
        _ => (seconds * 1e9, "ns"),
    };
    format!("{}\u{a0}{unit}", plain(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_as_short_as_they_can_be() {
        let nanos = [1e3, 1.5e6, 2e7, 1e9, 0.0].map(|value| Unit::Nanos.tick(value).replace('\u{a0}', " "));
        assert_eq!(nanos, ["1 µs", "1.5 ms", "20 ms", "1 s", "0"]);
        let rates = [0.0, 900.0, 2_000.0, 12_500.0, 2e6]
            .map(|value| Unit::PerSecond.tick(value).replace('\u{a0}', " "));
        assert_eq!(rates, ["0", "900", "2,000", "12.5 k", "2 M"]);
        assert_eq!(Unit::BytesPerSecond.tick(2.5e8), "250");
        assert_eq!(Unit::Seconds.tick(7_200.0), "2\u{a0}h");
        assert_eq!(Unit::Bytes.tick(4096.0), "4\u{a0}KiB");
    }

    #[test]
    fn no_two_powers_of_two_of_a_ratio_are_written_alike_and_none_as_zero() {
        let powers: Vec<f64> = (-20..=10).map(|power| 2f64.powi(power)).collect();
        for of in [Unit::tick, Unit::written] {
            let texts: Vec<String> = powers.iter().map(|value| of(Unit::Ratio, *value)).collect();
            assert!(texts.windows(2).all(|two| two[0] != two[1]), "{texts:?}");
            assert!(
                texts.iter().all(|text| text.contains(|sign: char| ('1'..='9').contains(&sign))),
                "{texts:?}"
            );
        }
        assert_eq!(
            [0.0625, 2f64.powi(-12), 0.0].map(|value| Unit::Ratio.tick(value)),
            ["0.062×", "0.00024×", "0×"]
        );
    }

    #[test]
    fn a_small_probability_keeps_its_digits() {
        let written = [0.0, 2.06e-5, 0.0123].map(|value| Unit::Chance.written(value));
        assert_eq!(written, ["0 %", "2.1e−5", "1.23 %"]);
    }

    #[test]
    fn a_tail_is_written_as_its_percentile() {
        let names = [1.0, 2.0, 10.0, 100.0, 1e3, 1e5].map(|value| Unit::Tail.written(value));
        assert_eq!(names, ["p0", "p50", "p90", "p99", "p99.9", "p99.999"]);
    }

    #[test]
    fn what_is_no_number_is_a_dash_and_what_is_negative_keeps_its_sign() {
        assert_eq!(Unit::Count.written(f64::NAN), "–");
        assert_eq!(Unit::Nanos.written(-1_500_000.0), "−1.50 ms");
        assert_eq!(Unit::Share.written(-0.125), "−12.5 %");
        assert_eq!(Unit::Ratio.written(1.0), "1.00×");
        assert_eq!((Unit::Ratio.written(99.9), Unit::Ratio.written(306.4)), ("99.90×".into(), "306×".into()));
    }
}
