//! Numbers as dd reads and writes them.

use units::convert::narrow;
/// A number of an operand with its multipliers: `1M`, `512`, `2x1KiB`, `10kB`. `None` where it is none or too large.
///
/// `c` 1, `w` 2, `b` 512, `K M G T P E` powers of 1024, the same with `iB`, and with `B` powers of 1000.
pub(super) fn read(text: &str) -> Option<u64> {
    text.split('x').try_fold(1u64, |product, factor| product.checked_mul(factor_of(factor)?))
}

fn factor_of(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    let number = if number.is_empty() && !suffix.is_empty() { 1 } else { number.parse().ok()? };
    let multiplier = match suffix {
        "" | "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        _ => power(suffix)?,
    };
    u64::checked_mul(number, multiplier)
}

fn power(suffix: &str) -> Option<u64> {
    let mut letters = suffix.chars();
    let exponent = match letters.next()? {
        'k' | 'K' => 1,
        'm' | 'M' => 2,
        'g' | 'G' => 3,
        't' | 'T' => 4,
        'P' => 5,
        'E' => 6,
        _ => return None,
    };
    let base: u64 = match letters.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    base.checked_pow(exponent)
}

const PREFIXES: [char; 10] = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y', 'R', 'Q'];

/// A size with an SI prefix, as `8.2 MB`: one decimal below 10, otherwise none, halves to even.
pub(super) fn si(bytes: u64) -> String {
    scaled(u128::from(bytes), 1, 1000).0
}

/// A size with an IEC prefix, as `7.8 MiB`.
pub(super) fn iec(bytes: u64) -> String {
    scaled(u128::from(bytes), 1, 1024).0
}

/// Whether the size has a prefix in units of `base`.
pub(super) fn has_prefix(bytes: u64, base: u64) -> bool {
    scaled(u128::from(bytes), 1, u128::from(base)).1
}

/// The fraction with a prefix, and whether it has one.
fn scaled(numerator: u128, denominator: u128, base: u128) -> (String, bool) {
    let (mut unit, mut exponent) = (denominator, 0usize);
    while numerator / unit >= base && exponent < PREFIXES.len() {
        unit *= base;
        exponent += 1;
    }
    let mut text = match exponent {
        0 => halves_to_even(numerator, unit).to_string(),
        _ => match halves_to_even(numerator * 10, unit) {
            tenths @ 0..100 => format!("{}.{}", tenths / 10, tenths % 10),
            _ => halves_to_even(numerator, unit).to_string(),
        },
    };
    if text == base.to_string() && exponent < PREFIXES.len() {
        text = "1.0".into();
        exponent += 1;
    }
    (format!("{text} {}B", prefix(exponent, base)), exponent > 0)
}

fn prefix(exponent: usize, base: u128) -> String {
    match (exponent, base) {
        (0, _) => String::new(),
        (1, 1024) => "Ki".into(),
        (exponent, 1024) => format!("{}i", PREFIXES[exponent - 1]),
        (exponent, _) => PREFIXES[exponent - 1].to_string(),
    }
}

fn halves_to_even(numerator: u128, denominator: u128) -> u128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + whole % 2,
        std::cmp::Ordering::Greater => whole + 1,
    }
}

/// A rate with an SI prefix, as `98.7 MB/s`: always one decimal below 100, and never below `kB/s` unless the time is
/// a whole number of seconds, as coreutils prints it.
pub(super) fn rate(bytes: u64, elapsed_ns: u64) -> String {
    const SECOND: u128 = 1_000_000_000;
    if elapsed_ns == 0 {
        return "Infinity B/s".into();
    }
    let (bytes, elapsed) = (u128::from(bytes), u128::from(elapsed_ns));
    if SECOND.is_multiple_of(elapsed) || elapsed.is_multiple_of(SECOND) {
        return format!("{}/s", scaled(bytes * SECOND, elapsed, 1000).0);
    }
    let mut value = bytes as f64 * 1e9 / elapsed as f64 / 1000.0;
    let mut exponent = 1;
    while value >= 1000.0 && exponent < PREFIXES.len() {
        value /= 1000.0;
        exponent += 1;
    }
    let with_decimal = format!("{value:.1}");
    let text = if with_decimal.len() > 4 { format!("{value:.0}") } else { with_decimal };
    format!("{text} {}B/s", PREFIXES[exponent - 1])
}

/// A number as `%g` of C prints it: six significant digits without zeros at the end.
pub(super) fn shortest(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`e` is what separates the exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent {
        -4..=5 => trimmed(&format!("{value:.*}", narrow::<usize>(5 - exponent))),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_are_those_of_the_manual() {
        let cases = [
            ("0", 0),
            ("512", 512),
            ("1c", 1),
            ("3w", 6),
            ("2b", 1024),
            ("1k", 1024),
            ("1kB", 1000),
            ("1KiB", 1024),
            ("1M", 1 << 20),
            ("1MB", 1_000_000),
            ("2G", 2 << 30),
            ("1T", 1 << 40),
            ("2x1Kx3", 6144),
            ("4xM", 4 << 20),
            ("100B", 100),
        ];
        for (text, bytes) in cases {
            assert_eq!(read(text), Some(bytes), "{text}");
        }
        for wrong in ["", "x", "1x", "-1", "1.5M", "1Q", "1KB1", "many", "99999999999999999999", "16E"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_and_rates_are_rounded_as_coreutils_does() {
        let sizes = [
            (8_192_000, "8.2 MB", "7.8 MiB"),
            (2_147_483_648, "2.1 GB", "2.0 GiB"),
            (2_684_354_560, "2.7 GB", "2.5 GiB"),
            (12_582_912, "13 MB", "12 MiB"),
            (1000, "1.0 kB", "1000 B"),
            (1024, "1.0 kB", "1.0 KiB"),
            (999_999, "1.0 MB", "977 KiB"),
            (9_950_000, "10 MB", "9.5 MiB"),
            (512, "512 B", "512 B"),
        ];
        for (bytes, decimal, binary) in sizes {
            assert_eq!((si(bytes).as_str(), iec(bytes).as_str()), (decimal, binary));
        }
        let rates = [
            (8_192_000, 4_920_700, "1.7 GB/s"),
            (2_147_483_648, 3_968_160_000, "541 MB/s"),
            (2_684_354_560, 27_203_500_000, "98.7 MB/s"),
            (1, 33_760, "29.6 kB/s"),
            (1, 5_100_000_000, "0.0 kB/s"),
            (512, 1_000_000_000, "512 B/s"),
            (12_500_000, 1_000_000_000, "12 MB/s"),
            (1, 0, "Infinity B/s"),
        ];
        for (bytes, elapsed, text) in rates {
            assert_eq!(rate(bytes, elapsed), text);
        }
    }

    #[test]
    fn seconds_are_printed_as_c_does() {
        let cases = [
            (0.0049207, "0.0049207"),
            (3.376e-5, "3.376e-05"),
            (27.2035, "27.2035"),
            (123.4567, "123.457"),
            (30.0, "30"),
            (1234567.0, "1.23457e+06"),
            (0.000123456789, "0.000123457"),
        ];
        for (value, text) in cases {
            assert_eq!(shortest(value), text);
        }
    }
}
