//! The text of how blocks are marked: `fathom`, `fio(crc32c)`, `fio(md5, every 4KiB, at 100B)`.

use std::fmt::{self, Display};
use std::str::FromStr;

use units::Bytes;

use super::{TextError, call, unit, unknown, wrong};
use crate::{Header, HeaderKind, Stamp};

impl Display for Stamp {
    /// The text that [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp::Fio(Header { kind, every, at }) = self else { return f.write_str("fathom") };
        write!(f, "fio({}", kind.name())?;
        if let Some(every) = every {
            write!(f, ", every {}", every.exact())?;
        }
        if !at.is_zero() {
            write!(f, ", at {}", at.exact())?;
        }
        f.write_str(")")
    }
}

impl FromStr for Stamp {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Stamp, TextError> {
        let arguments = match call(text)? {
            ("fathom", None) => return Ok(Stamp::Fathom),
            ("fio", Some(arguments)) => arguments,
            ("fio", None) => return wrong("`fio` needs what its headers check", "for example fio(crc32c)"),
            _ => return unknown(text, "a stamp", &["fathom", "fio(crc32c)"]),
        };
        let mut parts = arguments.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let names = HeaderKind::ALL.map(|(_, name, _)| name);
        let Some(kind) = HeaderKind::named(name) else { return unknown(name, "a header of fio", &names) };
        let mut header = Header { kind, every: None, at: Bytes::ZERO };
        for part in parts {
            match part.split_once(' ') {
                Some(("every", size)) => {
                    header.every = Some(unit::<Bytes>(size)?).filter(|every| !every.is_zero());
                }
                Some(("at", size)) => header.at = unit(size)?,
                _ => {
                    return wrong(
                        format!("`{part}` is neither `every` nor `at`"),
                        "for example fio(md5, every 4KiB)",
                    );
                }
            }
        }
        let len = Bytes::new(header.kind.bytes() as u64);
        let end = header.at + len;
        match header.every {
            // It changes places with data, which would be its own.
            _ if !header.at.is_zero() && header.at < len => wrong(
                format!("a header of {} at {} would overlap itself", len.exact(), header.at.exact()),
                "raise `at`, or leave it out",
            ),
            Some(every) if every < end => wrong(
                format!("a header at {} does not fit each {}", header.at.exact(), every.exact()),
                "lower `at`",
            ),
            _ => Ok(Stamp::Fio(header)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_would_overlap_itself_is_refused() {
        for text in ["fio(md5, at 1B)", "fio(md5, every 4KiB, at 55B)"] {
            let error = text.parse::<Stamp>().expect_err("fio itself cannot read it back").message;
            assert!(error.contains("overlap"), "{error}");
        }
        assert!("fio(md5, every 4KiB, at 56B)".parse::<Stamp>().is_ok());
    }
}
