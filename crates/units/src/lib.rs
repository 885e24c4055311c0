//! Sizes, durations, instants and rates: the words every other room speaks.
//!
//! Integers inside, so that the same seed gives the same run on every machine; `f64` only for rates.
//! Binary and decimal units are never mixed up: `KiB` is 1024 bytes, `kB` is 1000.
//!
//! **Invariant:** this crate knows no file, no clock and no other crate of the workspace.

mod bytes;
pub mod convert;
mod duration;
mod error;
mod instant;
pub mod name;
mod rate;
mod share;

pub use bytes::{Bytes, Lba, SECTOR_BYTES, Sectors};
pub use duration::Nanos;
pub use error::UnitError;
pub use instant::Instant;
pub use rate::{BytesPerSecond, OpsPerSecond};
pub use share::Share;

/// Splits `"4.5 KiB"` into the number's text and the unit's text, both trimmed.
///
/// The number is the longest prefix of digits, `.` and `_`; the unit is the rest and may be empty.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number × scale`, exact where the product is an integer, or `None` where it is not one or overflows.
///
/// Done in integers: `0.1 s` must be exactly 100,000,000 ns, which binary floating point cannot promise.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let decimals = u32::try_from(fraction.len()).ok()?;
    let divisor = 10u128.checked_pow(decimals)?;
    let mantissa: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = mantissa.checked_mul(u128::from(scale))?;
    (product % divisor == 0).then(|| u64::try_from(product / divisor).ok())?
}

/// Implements serde and schemars for a type by its text: `Display` writes what `FromStr` reads.
macro_rules! serde_by_text {
    ($type:ty, $pattern:literal, $about:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.exact())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "description": $about })
            }
        }
    };
}
use serde_by_text;
