//! The one text of how large files are.

use std::fmt;
use std::str::FromStr;

use units::Bytes;

use super::FileSizes;
use crate::SizeSplit;
use crate::text::TextError;

/// A file larger than this is a matter for the block workloads.
const LARGEST: Bytes = Bytes::GIB;

impl fmt::Display for FileSizes {
    /// `4KiB`, `1KiB..64KiB` or `{ "4KiB" = 60, "64KiB" = 40 }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileSizes::Range { least, most } if least == most => f.write_str(&least.exact()),
            FileSizes::Range { least, most } => write!(f, "{}..{}", least.exact(), most.exact()),
            FileSizes::Split(split) => split.fmt(f),
        }
    }
}

impl FromStr for FileSizes {
    type Err = TextError;

    fn from_str(text: &str) -> Result<FileSizes, TextError> {
        let sizes = match text.split_once("..") {
            _ if text.trim_start().starts_with('{') => FileSizes::Split(text.parse::<SizeSplit>()?),
            Some((least, most)) => FileSizes::Range { least: size(least)?, most: size(most)? },
            None => FileSizes::one(size(text)?),
        };
        sizes.checked()
    }
}

impl FileSizes {
    /// Itself, a split of one size being that size; unless no file could be so.
    pub fn checked(self) -> Result<FileSizes, TextError> {
        let wrong = |message: String, help: &str| Err(TextError { message, help: help.into() });
        match &self {
            FileSizes::Range { least, most } if least > most => {
                let message = format!("{} is more than {}", least.exact(), most.exact());
                wrong(message, "write the smaller size first: \"1KiB..64KiB\"")
            }
            sizes if sizes.largest() > LARGEST => {
                let message = format!("files of {} are more than 1GiB", sizes.largest().exact());
                wrong(message, "for large files leave `tree` out and write `size`, `pattern` and `files`")
            }
            FileSizes::Split(split) if split.0.len() == 1 => Ok(FileSizes::one(split.0[0].0)),
            _ => Ok(self),
        }
    }
}

fn size(text: &str) -> Result<Bytes, TextError> {
    text.trim().parse().map_err(|error: units::UnitError| TextError {
        message: error.to_string(),
        help: "for example \"4KiB\" or \"1KiB..64KiB\"".into(),
    })
}
