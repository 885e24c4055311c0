//! What stands between two loads, so that a point inherits nothing from the one before it; and their order.

use std::fmt;
use std::str::FromStr;

use units::Nanos;

use super::text::{TextError, words};

/// How a target comes to rest before a load that follows another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settle {
    /// A virtual array: until its write-back caches are clean, and without what they keep for reads. Real storage, after
    /// a load that writes: flushed, and left alone for [`SETTLE_IDLE`].
    #[default]
    Auto,
    /// The load begins at once.
    None,
    /// Real storage is flushed; then the target is left alone for so long.
    For(Nanos),
}

/// How long real storage is left alone after a flush: what the flush has set off ends, and what is busy for longer is
/// for the plan to say.
pub const SETTLE_IDLE: Nanos = Nanos::from_secs(2);

impl fmt::Display for Settle {
    /// The text that [`FromStr`] reads back: `30s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settle::Auto => f.write_str("auto"),
            Settle::None => f.write_str("none"),
            Settle::For(time) => f.write_str(&time.exact()),
        }
    }
}

impl FromStr for Settle {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Settle, TextError> {
        match text.trim() {
            "auto" => Ok(Settle::Auto),
            "none" => Ok(Settle::None),
            other => other.parse().map(Settle::For).map_err(|_| TextError {
                message: format!("`{other}` is neither `auto` nor `none` nor a duration"),
                help: "write `settle = \"auto\"`, or a duration such as `settle = \"60s\"`".into(),
            }),
        }
    }
}

/// In which order the points of a phase are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointOrder {
    /// The last swept key fastest, each in the order of its values, repeats one after the other.
    #[default]
    AsWritten,
    /// In an order that follows from the seed of the plan; each repeat is a pass over all points, in an order of its own.
    Shuffled,
}

words!(
    PointOrder, "an order of points",
    PointOrder::AsWritten => "as-written", PointOrder::Shuffled => "shuffled");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_loads_reads_what_it_writes() {
        for text in ["auto", "none", "30s", "2m"] {
            let read: Settle = text.parse().unwrap();
            assert_eq!(read.to_string().parse::<Settle>().unwrap(), read, "{text}");
        }
        assert_eq!("90s".parse::<Settle>().unwrap(), Settle::For(Nanos::from_secs(90)));
        assert!("soon".parse::<Settle>().unwrap_err().to_string().contains("a duration such as"));
    }
}
