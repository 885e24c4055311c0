//! Names of files as text, also those that are none.
//!
//! A name on Linux is any bytes. Where a name has to be text, as on the way through a plan or a record, each byte that is
//! no part of valid UTF-8 is one character of a private area, so that the name comes back from it to the byte.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The character that stands for byte 0, of which only those for 0x80 and above come. Supplementary Private Use Area-B,
/// far from those that fonts use.
const FIRST: u32 = 0x10_FE00;

/// `name` as text. [`os`] gives it back, whatever it is.
pub fn text(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte_of(letter) {
                None => text.push(letter),
                // A name that has such a character itself is told byte by byte.
                Some(_) => text.extend(letter.encode_utf8(&mut [0; 4]).bytes().map(letter_of)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(letter_of));
    }
    debug_assert_eq!(os(&text), name, "a name comes back to the byte");
    text
}

/// The name that [`text`] was made of; other texts are names as they are.
pub fn os(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte_of(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    OsString::from_vec(bytes)
}

/// The same as a path.
pub fn path(text: &str) -> PathBuf {
    os(text).into()
}

/// The byte that a character of such a text stands for; `None` for one that stands for itself.
pub fn byte_of(letter: char) -> Option<u8> {
    let byte = u32::from(letter).checked_sub(FIRST)?;
    u8::try_from(byte).ok().filter(|byte| *byte >= 0x80)
}

/// Whether a character commands a terminal, turns the direction of text (Unicode Standard Annex 9, 2.1 to 2.6), or breaks a
/// line without being a line end.
pub fn is_hostile(letter: char) -> bool {
    let directs = matches!(letter, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || directs || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// `text` as content of an element or an attribute of XML or HTML. What commands a terminal or turns the direction of
/// text is left out, and what XML cannot hold; line ends and tabs stay.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            hostile if is_hostile(hostile) => {}
            '\u{fffe}' | '\u{ffff}' => {}
            letter => out.push(letter),
        }
    }
    out
}

fn letter_of(byte: u8) -> char {
    debug_assert!(byte >= 0x80, "byte {byte} is a letter of its own, and is read as one");
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_stays_text() {
        for name in ["", "/mnt/array", "größer, 東京 – 5 µs", "a\u{FFFD}b", "\u{E000}"] {
            assert_eq!(text(OsStr::new(name)), name);
            assert_eq!(os(name), name);
        }
    }

    #[test]
    fn a_name_that_has_a_character_of_the_area_itself_comes_back() {
        let name = OsString::from("a\u{10FEFF}b");
        assert_ne!(text(&name), name.to_str().unwrap());
        assert_eq!(os(&text(&name)), name);
    }

    #[test]
    fn what_commands_a_terminal_or_turns_text_is_hostile() {
        for letter in
            ['\u{1b}', '\n', '\u{7f}', '\u{9b}', '\u{202E}', '\u{2066}', '\u{200F}', '\u{061C}', '\u{2028}']
        {
            assert!(is_hostile(letter), "{letter:?}");
        }
        assert!(!"größer, 東京 – 5 µs\u{FFFD}".chars().any(is_hostile));
    }

    proptest! {
        #[test]
        fn every_name_comes_back_to_the_byte(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let name = OsString::from_vec(bytes);
            prop_assert_eq!(os(&text(&name)), name);
        }
    }
}
