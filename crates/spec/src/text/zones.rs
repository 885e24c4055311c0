//! The text of how large zones are: `device`, `256MiB`.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::Bytes;

use super::{TextError, unit, wrong};
use crate::ZoneSize;

impl Display for ZoneSize {
    /// The text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ZoneSize::OfDevice => f.write_str("device"),
            ZoneSize::Of(size) => f.write_str(&size.exact()),
        }
    }
}

impl FromStr for ZoneSize {
    type Err = TextError;

    fn from_str(text: &str) -> Result<ZoneSize, TextError> {
        match text.trim() {
            "device" => Ok(ZoneSize::OfDevice),
            size => match unit::<Bytes>(size)? {
                Bytes::ZERO => wrong("a zone of 0 bytes holds nothing", "for example 256MiB, or `device`"),
                size => Ok(ZoneSize::Of(size)),
            },
        }
    }
}
