//! Counts of bytes, and addresses and counts of 512-byte sectors.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use crate::{UnitError, scaled, serde_by_text, split_number};

/// Bytes in one sector, the unit of every address in a virtual array and of `/proc/diskstats`.
///
/// Linux counts in 512-byte sectors whatever the device's own block size is
/// (`Documentation/admin-guide/iostats.rst`).
pub const SECTOR_BYTES: u64 = 512;

/// A count of bytes: a size, a length, or a distance from the start of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

const BINARY: [(&str, u64); 5] =
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// One byte.
    pub const B: Bytes = Bytes(1);
    /// 1024 bytes.
    pub const KIB: Bytes = Bytes(1 << 10);
    /// 1024 KiB.
    pub const MIB: Bytes = Bytes(1 << 20);
    /// 1024 MiB.
    pub const GIB: Bytes = Bytes(1 << 30);
    /// 1024 GiB.
    pub const TIB: Bytes = Bytes(1 << 40);

    /// That many bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The count.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The count as a float, for rates and ratios. Exact below 2^53.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Whether there are none.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is a multiple of `unit`. False for a zero `unit`.
    pub const fn is_multiple_of(self, unit: Bytes) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// The largest multiple of `unit` that is not above this. `unit` must not be zero.
    pub const fn round_down(self, unit: Bytes) -> Bytes {
        assert!(unit.0 != 0, "nothing is a multiple of no bytes");
        Bytes(self.0 - self.0 % unit.0)
    }

    /// The smallest multiple of `unit` that is not below this, or all that 64 bits hold where that is less. `unit` must
    /// not be zero.
    pub const fn round_up(self, unit: Bytes) -> Bytes {
        assert!(unit.0 != 0, "nothing is a multiple of no bytes");
        Bytes(self.0.div_ceil(unit.0).saturating_mul(unit.0))
    }

    /// This less `other`, or zero where `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// The text that [`FromStr`] reads back to the same count: the largest binary unit that divides it.
    ///
    /// `4096` gives `4KiB`, `4097` gives `4097B`.
    pub fn exact(self) -> String {
        let (unit, scale) = BINARY
            .iter()
            .find(|(_, scale)| self.0 != 0 && self.0.is_multiple_of(*scale))
            .unwrap_or(&BINARY[4]);
        let text = format!("{}{unit}", self.0 / scale);
        debug_assert_eq!(text.parse(), Ok(self), "an exact text reads back to the same");
        text
    }
}

impl Bytes {
    /// Decimal and rounded, as storage is sold: `960 GB`, `3.84 TB`; in `MB` below 1 GB.
    pub fn as_sold(self) -> String {
        let (scale, unit) = match self.0 {
            0..1_000_000_000 => (1e6, "MB"),
            1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
            _ => (1e12, "TB"),
        };
        match self.as_f64() / scale {
            value if value < 99.5 => format!("{} {unit}", (value * 100.0).round() / 100.0),
            value => format!("{value:.0} {unit}"),
        }
    }
}

impl fmt::Display for Bytes {
    /// Binary units; exact where three digits or a whole number say it, otherwise two decimals: `64 KiB`,
    /// `1.46 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = BINARY.iter().find(|(_, scale)| self.0 >= *scale).unwrap_or(&BINARY[4]);
        let text = if self.0.is_multiple_of(*scale) {
            format!("{} {unit}", self.0 / scale)
        } else {
            format!("{:.2} {unit}", self.0 as f64 / *scale as f64)
        };
        f.pad(&text)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Reads `512B`, `4KiB`, `1.5 MiB`, `1MB` (decimal), and bare `4k` as binary, as storage tools do.
    ///
    /// A bare number is an error, and bits are never read as bytes.
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        let (number, unit) = split_number(text);
        if number.is_empty() {
            return Err(UnitError::NotANumber { text: text.into(), what: "size", example: "4KiB" });
        }
        let scale = match unit {
            "" => {
                let example = format!("{number}B or {number}KiB");
                return Err(UnitError::NoUnit { text: text.into(), what: "size", example });
            }
            "B" => 1,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "k" | "K" | "Ki" | "KiB" => 1 << 10,
            "m" | "M" | "Mi" | "MiB" => 1 << 20,
            "g" | "G" | "Gi" | "GiB" => 1 << 30,
            "t" | "T" | "Ti" | "TiB" => 1 << 40,
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.into(),
                    unit: unit.into(),
                    what: "size",
                    known: "B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB (powers of 1000)",
                });
            }
        };
        scaled(number, scale)
            .map(Bytes)
            .ok_or_else(|| UnitError::NotWhole { text: text.into(), smallest: "bytes" })
    }
}

serde_by_text!(Bytes, r"^[0-9._]+ ?(B|[KMGT]iB|[kMGT]B)$", "A size: `4KiB`, `1.5GiB`, `1MB`");

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, times: u64) -> Bytes {
        Bytes(self.0 * times)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        Bytes(iter.map(|bytes| bytes.0).sum())
    }
}

/// The address of a 512-byte sector, counted from the start of its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A count of 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sectors(pub u64);

impl Lba {
    /// Distance in bytes from the start of the device.
    pub const fn byte_offset(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Sectors {
    /// The sectors that hold `bytes`, the last one perhaps in part.
    pub const fn holding(bytes: Bytes) -> Sectors {
        Sectors(bytes.0.div_ceil(SECTOR_BYTES))
    }

    /// Their size.
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Add<Sectors> for Lba {
    type Output = Lba;
    fn add(self, count: Sectors) -> Lba {
        Lba(self.0 + count.0)
    }
}

impl Sub for Lba {
    type Output = Sectors;
    fn sub(self, other: Lba) -> Sectors {
        Sectors(self.0 - other.0)
    }
}

impl Add for Sectors {
    type Output = Sectors;
    fn add(self, other: Sectors) -> Sectors {
        Sectors(self.0 + other.0)
    }
}

impl Sub for Sectors {
    type Output = Sectors;
    fn sub(self, other: Sectors) -> Sectors {
        Sectors(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_size_is_told_as_storage_is_sold() {
        for (bytes, told) in [
            (960_197_124_096, "960 GB"),
            (3_840_755_982_336, "3.84 TB"),
            (32_000_000_000, "32 GB"),
            (64_000_000, "64 MB"),
        ] {
            assert_eq!(Bytes::new(bytes).as_sold(), told);
        }
    }

    #[test]
    fn binary_and_decimal_units_are_never_mixed_up() {
        assert_eq!("1KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("1kB".parse(), Ok(Bytes(1000)));
        assert_eq!("1.5 MiB".parse(), Ok(Bytes(1_572_864)));
        assert_eq!("4k".parse(), Ok(Bytes(4096)));
        assert_eq!("2TB".parse(), Ok(Bytes(2_000_000_000_000)));
    }

    #[test]
    fn a_bare_number_is_an_error_that_shows_both_readings() {
        let error = "4096".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("4096B or 4096KiB"), "{error}");
    }

    #[test]
    fn bits_and_nonsense_are_refused_by_name() {
        for text in ["1Gbit", "4 potatoes", "", "KiB", "1.2.3KiB", "-4KiB", "0.3B", "99999999TiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text} was read");
        }
    }

    #[test]
    fn people_see_at_most_two_decimals() {
        assert_eq!(Bytes(65536).to_string(), "64 KiB");
        assert_eq!(Bytes(1_567_000_000).to_string(), "1.46 GiB");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(format!("{:>8}", Bytes(512)), "   512 B");
    }

    proptest! {
        #[test]
        fn exact_text_reads_back_to_the_same_count(count: u64) {
            prop_assert_eq!(Bytes(count).exact().parse(), Ok(Bytes(count)));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,24}") {
            let _ = text.parse::<Bytes>();
        }
    }
}
