//! Bytes as one word of visible characters: percent-encoding (RFC 3986, 2.1).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Every byte that is no visible ASCII, and the percent sign, as `%20`: any path is one word.
pub(crate) fn escaped(text: &OsStr) -> String {
    let escape = |byte: &u8| match byte {
        b'%' => "%25".to_owned(),
        byte if byte.is_ascii_graphic() => char::from(*byte).to_string(),
        byte => format!("%{byte:02x}"),
    };
    text.as_bytes().iter().map(escape).collect()
}

/// What `%41` and the like stand for; `None` where a percent sign is not followed by two digits.
pub(crate) fn unescaped(word: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |byte: &u8| u8::try_from(char::from(*byte).to_digit(16)?).ok();
                (digit(high)? << 4 | digit(low)?, tail)
            }
            (b'%', _) => return None,
            (byte, tail) => (*byte, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    Some(OsString::from_vec(bytes))
}
