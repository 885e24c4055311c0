//! Numbers with a letter behind them, as each tool counts them.

/// The letters that a tool takes behind a number, each `base` times the one before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// In lower case; either case is taken.
    pub letters: &'static str,
    /// 1000 or 1024.
    pub base: u64,
    /// The power of the base that the first letter stands for: 0 where a bare number counts those already.
    pub first: u32,
}

/// `k m g` of 1024 bytes.
pub(crate) const BYTES: Units = Units { letters: "kmg", base: 1024, first: 1 };

impl Units {
    /// What `suffix` multiplies by; 1 where it is empty, `None` where it is no letter of these.
    pub fn factor(&self, suffix: &str) -> Option<u64> {
        debug_assert!(self.base > 1, "each letter is more than the one before it");
        debug_assert!(!self.letters.contains(char::is_uppercase), "letters are compared in lower case");
        let mut letters = suffix.chars();
        match (letters.next().map(|letter| letter.to_ascii_lowercase()), letters.next()) {
            (None, _) => Some(1),
            (Some(letter), None) => {
                let place = (0..).zip(self.letters.chars()).find(|(_, known)| *known == letter)?.0;
                self.base.checked_pow(self.first + place)
            }
            _ => None,
        }
    }

    /// Digits, perhaps with a letter behind them; `None` where it is anything else, or too large.
    pub fn read(&self, text: &str) -> Option<u64> {
        with_suffix(text, |suffix| self.factor(suffix))
    }
}

/// Digits and a suffix of which `factor` knows what it multiplies by.
pub(crate) fn with_suffix(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let digits = text.find(|each: char| !each.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    number.parse::<u64>().ok()?.checked_mul(factor(suffix)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_multiplies_by_the_power_of_its_place() {
        let mebi = Units { letters: "mg", base: 1024, first: 0 };
        let decimal = Units { letters: "kmgtpe", base: 1000, first: 1 };
        for (units, text, number) in [
            (BYTES, "512", 512),
            (BYTES, "4K", 4096),
            (BYTES, "2g", 2 << 30),
            (mebi, "3m", 3),
            (mebi, "2g", 2048),
            (decimal, "5p", 5_000_000_000_000_000),
        ] {
            assert_eq!(units.read(text), Some(number), "{text}");
        }
        for wrong in ["", "k", "4x", "4kk", "-1", "1.5k", "99999999999g", "4é"] {
            assert_eq!(BYTES.read(wrong), None, "{wrong}");
        }
    }
}
