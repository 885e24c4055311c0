//! Values of fio's options: sizes with either meaning of `k`, times, shares, lists of three.
//!
//! **Invariant:** no text makes a reader panic or run long; what overflows is a mistake.

use units::convert::truncated;
/// 1024 or 1000: what `k` stands for. The doubled spellings (`KiB`) then stand for the other, as in fio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum KbBase {
    /// `4k` is 4096 and `4KiB` is 4000: fio's default, kept for old job files.
    #[default]
    Binary,
    /// `4k` is 4000 and `4KiB` is 4096.
    Decimal,
}

/// An amount of bytes, or a part of what is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(f64),
}

/// What a bare number of a time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    Seconds,
    Microseconds,
}

impl KbBase {
    /// What figures are divided by, 1024 or 1000, and what they are divided by in brackets behind them.
    pub(super) fn thousands(self) -> [u64; 2] {
        match self {
            KbBase::Binary => [1024, 1000],
            KbBase::Decimal => [1000, 1024],
        }
    }

    /// The factor of `suffix`, in any case; `None` where it is none.
    fn factor(self, suffix: &str) -> Option<u64> {
        let suffix = suffix.to_ascii_lowercase();
        let (own, other) = match self {
            KbBase::Binary => (1024u64, 1000u64),
            KbBase::Decimal => (1000, 1024),
        };
        let mut letters = suffix.chars();
        let Some(first) = letters.next() else { return Some(1) };
        let power = match first {
            'b' if suffix == "b" => return Some(1),
            'k' => 1,
            'm' => 2,
            'g' => 3,
            't' => 4,
            'p' => 5,
            _ => return None,
        };
        match letters.as_str() {
            "" | "b" | "i" => own.checked_pow(power),
            "ib" => other.checked_pow(power),
            _ => None,
        }
    }

    /// Reads `4k`, `0x1000`, `1.5g` (not in fio), `(8*1024)`.
    pub(super) fn size(self, text: &str) -> Result<u64, String> {
        whole(Sum { text: text.trim(), factor: &|suffix| self.factor(suffix) }.value()?, text)
    }

    /// Reads a size or `50%`.
    pub(super) fn amount(self, text: &str) -> Result<Amount, String> {
        match text.trim().strip_suffix('%') {
            Some(percent) => Ok(Amount::Percent(share(percent)?)),
            None => Ok(Amount::Bytes(self.size(text)?)),
        }
    }
}

/// Reads a whole number without a unit.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let factor = |suffix: &str| KbBase::Binary.factor(suffix);
    whole(Sum { text: text.trim(), factor: &factor }.value()?, text)
}

/// Reads a share of 0 to 100, with or without `%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{}` is not a percentage from 0 to 100", text.trim())),
    }
}

/// Reads `30`, `30s`, `1m`, `500ms`, `1d`; in brackets numbers count microseconds. Nanoseconds come back.
pub(super) fn time_ns(text: &str, bare: Bare) -> Result<u64, String> {
    let text = text.trim();
    let unit = match bare {
        _ if text.starts_with('(') => 1_000,
        Bare::Seconds => 1_000_000_000,
        Bare::Microseconds => 1_000,
    };
    let factor = |suffix: &str| {
        Some(match suffix.to_ascii_lowercase().as_str() {
            "" => unit,
            "us" | "usec" => 1_000,
            "ms" | "msec" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            _ => return None,
        })
    };
    whole(Sum { text, factor: &factor }.value()?, text)
}

/// Values for reads, writes and trims: `4k`, `4k,8k`, `,8k`, `4k,8k,`. `None` is fio's default of the option.
///
/// The last one holds for those that follow it, unless a comma ends the list.
pub(super) fn three(text: &str) -> [Option<String>; 3] {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut three = [None, None, None];
    for (index, slot) in three.iter_mut().enumerate() {
        let part = parts.get(index).or_else(|| parts.last());
        *slot = part.filter(|part| !part.is_empty()).map(|part| (*part).to_owned());
    }
    three
}

/// A list such as [`three`] reads, of one in which `-` may part the last two as `,` does: `4k-32k`. What follows the dash
/// elsewhere counts for nothing, as in fio.
pub(super) fn listed(text: &str) -> String {
    let count = text.split(',').count();
    let part = |(number, part): (usize, &str)| match part.split_once('-') {
        Some((first, "")) => first.to_owned(),
        Some((first, second)) if number + 1 == count => format!("{first},{second}"),
        Some((first, _)) => first.to_owned(),
        None => part.to_owned(),
    };
    text.split(',').enumerate().map(part).collect::<Vec<_>>().join(",")
}

fn whole(value: f64, text: &str) -> Result<u64, String> {
    // 2^63 is beyond every disk and within the exact powers of a double.
    match value.is_finite() && (0.0..9.2e18).contains(&value) {
        true => Ok(truncated::<u64>(value)),
        false => Err(format!("`{}` is too large, or below 0", text.trim())),
    }
}

/// A number, or an expression in brackets.
struct Sum<'a> {
    text: &'a str,
    factor: &'a dyn Fn(&str) -> Option<u64>,
}

/// Brackets within brackets; deeper than this is no job file.
const DEEPEST: u32 = 32;

impl Sum<'_> {
    fn value(&self) -> Result<f64, String> {
        let mut reader = Reader { rest: self.text, factor: self.factor, whole: self.text };
        // Only brackets make an expression: fio reads the first number of `1+1`, and no further.
        let is_sum = self.text.starts_with('(');
        let value = if is_sum { reader.sum(DEEPEST)? } else { reader.number()? };
        let rest = reader.rest.trim_start();
        match rest.is_empty() || !is_sum && rest.starts_with(['*', '+', '/']) {
            true => Ok(value),
            false => Err(reader.wrong()),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    factor: &'a dyn Fn(&str) -> Option<u64>,
    whole: &'a str,
}

impl Reader<'_> {
    fn wrong(&self) -> String {
        format!("`{}` is not a number that is supported here", self.whole)
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|each| wanted.contains(each))?;
        debug_assert!(self.rest.starts_with(found), "what is taken is what comes next");
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self, depth: u32) -> Result<f64, String> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.take(&['+', '-']) {
            let other = self.product(depth)?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self, depth: u32) -> Result<f64, String> {
        let mut value = self.power(depth)?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let other = self.power(depth)?;
            value = match sign {
                '*' => value * other,
                _ if other == 0.0 => return Err(format!("`{}` divides by 0", self.whole)),
                '/' => (value / other).floor(),
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self, depth: u32) -> Result<f64, String> {
        let value = self.atom(depth)?;
        match self.take(&['^']) {
            Some(_) => Ok(value.powf(self.atom(depth)?)),
            None => Ok(value),
        }
    }

    fn atom(&mut self, depth: u32) -> Result<f64, String> {
        match self.take(&['(']) {
            Some(_) if depth == 0 => Err(self.wrong()),
            Some(_) => {
                let value = self.sum(depth - 1)?;
                self.take(&[')']).map(|_| value).ok_or_else(|| self.wrong())
            }
            None => self.number(),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        self.rest = self.rest.trim_start();
        if let Some(hex) = self.rest.strip_prefix("0x").or_else(|| self.rest.strip_prefix("0X")) {
            let end = hex.find(|each: char| !each.is_ascii_hexdigit()).unwrap_or(hex.len());
            let value = u64::from_str_radix(&hex[..end], 16).map_err(|_| self.wrong())?;
            self.rest = &hex[end..];
            return Ok(value as f64);
        }
        let end =
            self.rest.find(|each: char| !each.is_ascii_digit() && each != '.').unwrap_or(self.rest.len());
        let value: f64 = self.rest[..end].parse().map_err(|_| self.wrong())?;
        let after = &self.rest[end..];
        debug_assert!(value >= 0.0, "a sign stands before a number, and is none of it");
        let stop = after.find(|each: char| !each.is_ascii_alphabetic()).unwrap_or(after.len());
        let factor = (self.factor)(&after[..stop]).ok_or_else(|| self.wrong())?;
        self.rest = &after[stop..];
        Ok(value * factor as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_k_is_1024_and_a_kib_1000_unless_the_base_is_1000() {
        for (text, binary, decimal) in [
            ("4k", 4096, 4000),
            ("4KB", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("512", 512, 512),
            ("0x1000", 4096, 4096),
        ] {
            assert_eq!(KbBase::Binary.size(text), Ok(binary), "{text}");
            assert_eq!(KbBase::Decimal.size(text), Ok(decimal), "{text}");
        }
    }

    #[test]
    fn expressions_are_worked_out() {
        assert_eq!(KbBase::Binary.size("(4+2)*2k"), Ok(12_288));
        assert_eq!(KbBase::Binary.size("(5*1024*1024*8/8)"), Ok(5 << 20));
        assert_eq!([KbBase::Binary.size("1m+1m"), count("2*3")], [Ok(1 << 20), Ok(2)]);
        assert_eq!(KbBase::Binary.size("(2^10)"), Ok(1024));
        for wrong in ["", "k", "4x", "(4", "(4/0)", "-1", "1-2", "99999999999999999999999"] {
            assert!(KbBase::Binary.size(wrong).is_err(), "{wrong}");
        }
        assert!(KbBase::Binary.size(&"(".repeat(100_000)).is_err());
    }

    #[test]
    fn a_bare_time_counts_what_its_option_counts() {
        assert_eq!(time_ns("30", Bare::Seconds), Ok(30_000_000_000));
        assert_eq!(time_ns("30", Bare::Microseconds), Ok(30_000));
        assert_eq!(time_ns("2m", Bare::Seconds), Ok(120_000_000_000));
        assert_eq!(time_ns("500ms", Bare::Seconds), Ok(500_000_000));
        assert_eq!(time_ns("(5+5)", Bare::Seconds), Ok(10_000));
    }

    #[test]
    fn the_last_of_three_holds_for_the_rest_unless_a_comma_ends_them() {
        let of = |text| three(text).map(|each| each.unwrap_or_else(|| "-".into())).join(" ");
        assert_eq!(of("8k"), "8k 8k 8k");
        assert_eq!(of("8k,32k"), "8k 32k 32k");
        assert_eq!(of("8k,32k,"), "8k 32k -");
        assert_eq!(of(",8k"), "- 8k 8k");
        assert_eq!(of(",8k,"), "- 8k -");
        assert_eq!(of("8k,"), "8k - -");
    }

    #[test]
    fn a_dash_parts_the_last_two_sizes_as_a_comma_does() {
        let of = |text| three(&listed(text)).map(|each| each.unwrap_or_else(|| "-".into())).join(" ");
        assert_eq!(of("4k-32k"), "4k 32k 32k");
        assert_eq!(of("4k-32k,8k"), "4k 8k 8k");
        assert_eq!(of("4k,8k-32k"), "4k 8k 32k");
        assert_eq!(of("4k-"), "4k 4k 4k");
        assert_eq!(of("4k,"), "4k - -");
    }
}
