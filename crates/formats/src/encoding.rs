//! The text of a job file, whatever encoding its tool saved it in.

use std::borrow::Cow;

/// `bytes` as text: UTF-8; UTF-16 where it begins with the mark of one; otherwise each byte is a character, as in the
/// old encodings of Windows, whose letters beyond ASCII stand in names alone.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |of: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        Cow::Owned(
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect(),
        )
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_gives_the_same_text() {
        let wide: Vec<u8> = "\u{feff}Träger".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}Träger".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in ["Träger".as_bytes(), b"Tr\xe4ger", &wide, &big] {
            assert_eq!(decoded(bytes), "Träger");
        }
        assert_eq!(decoded(&[0xff, 0xfe, 0x41]), "");
    }
}
