//! The text of a job file, whatever encoding its tool saved it in.

use std::borrow::Cow;

/// `bytes` as text: UTF-8; UTF-16 where it begins with the mark of one, or with letters of which every other byte is
/// zero; otherwise each byte is a character, as in the old encodings of Windows, whose letters beyond ASCII stand in
/// names alone. The mark itself is no part of the text.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        Cow::Owned(
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect(),
        )
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [1..=255, 0, 1..=255, 0, ..] => wide(bytes, u16::from_le_bytes),
        [0, 1..=255, 0, 1..=255, ..] => wide(bytes, u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
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
        for bytes in ["Träger", "\u{feff}Träger"].map(str::as_bytes) {
            assert_eq!(decoded(bytes), "Träger");
        }
        for bytes in [&b"Tr\xe4ger"[..], &wide, &big, &wide[2..], &big[2..]] {
            assert_eq!(decoded(bytes), "Träger");
        }
        assert_eq!(decoded(&[0xff, 0xfe, 0x41]), "");
    }
}
