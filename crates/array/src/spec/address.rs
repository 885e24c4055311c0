//! An array's address, `md3000?raid=10&luns=2`: a name, the options it is taken with, and figures to change.

use document::{Errors, Mistake, SourceText, TextSpan};

/// An address taken apart. Nothing is checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The array.
    pub name: String,
    /// Option or dotted figure, and value, in the order typed.
    pub settings: Vec<(String, String)>,
    /// The whole, as errors show it: `array:md3000?raid=10`.
    pub label: String,
}

impl Address {
    /// Reads `NAME?OPTION=VALUE&…`, with or without `array:` before it. `%20`-like escapes are read.
    pub fn parse(text: &str) -> Result<Address, Errors> {
        let text = text.trim();
        let bare = text.strip_prefix("array:").unwrap_or(text);
        let label = format!("array:{bare}");
        let wrong = |why: String| {
            let help = "write NAME?OPTION=VALUE&OPTION=VALUE, as in md3000?raid=10&luns=2".to_owned();
            Errors::from(Mistake::new(&whole(&label), why, Some(help)))
        };
        let (name, query) = bare.split_once('?').unwrap_or((bare, ""));
        if name.is_empty() {
            return Err(wrong("the name of the array is missing".into()));
        }
        let mut settings: Vec<(String, String)> = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| wrong(format!("`{part}` has no value")))?;
            let (key, value) = (unescape(key), unescape(value));
            if key.is_empty() || value.is_empty() {
                return Err(wrong(format!("`{part}` is half empty")));
            }
            if settings.iter().any(|(known, _)| *known == key) {
                return Err(wrong(format!("`{key}` is given twice")));
            }
            settings.push((key, value));
        }
        Ok(Address { name: unescape(name), settings, label })
    }

    /// All of it.
    pub(super) fn place(&self) -> TextSpan {
        whole(&self.label)
    }

    /// Where `key` is set; all of it where that is nowhere.
    pub(super) fn place_of(&self, key: &str) -> TextSpan {
        let mut start = self.label.find('?').map_or(self.label.len(), |at| at + 1);
        for part in self.label[start..].split('&') {
            if part.split_once('=').is_some_and(|(name, _)| unescape(name) == key) {
                return self.place().beside(start..start + part.len());
            }
            start += part.len() + 1;
        }
        self.place()
    }
}

/// All of the address `label`, which is a text that is its own label.
pub(super) fn whole(label: &str) -> TextSpan {
    TextSpan::new(&SourceText::new(label, label, 1), 0..label.len())
}

/// Reads `%41` as `A`. What is no escape stays as it is.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten().and_then(hex);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_is_a_name_and_settings_in_order() {
        let address = Address::parse("array:md3000?raid=10&luns=2").unwrap();
        assert_eq!(address.name, "md3000");
        assert_eq!(address.settings, [("raid".into(), "10".into()), ("luns".into(), "2".into())]);
        assert_eq!(Address::parse("px6-300d").unwrap().settings, []);
        assert_eq!(Address::parse("x?firmware=3.88A%2E03").unwrap().settings[0].1, "3.88A.03");
    }

    #[test]
    fn a_half_written_setting_is_shown_with_a_right_one() {
        let say = |text: &str| Address::parse(text).unwrap_err().to_string();
        assert_eq!(
            say("md3000?raid"),
            "array:md3000?raid: `raid` has no value; write NAME?OPTION=VALUE&OPTION=VALUE, as in md3000?raid=10&luns=2"
        );
        assert!(say("?raid=5").contains("the name of the array is missing"));
        assert!(say("a?raid=5&raid=6").contains("`raid` is given twice"));
        assert!(say("a?=5").contains("half empty"));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC{0,40}") {
            let _ = Address::parse(&text);
        }
    }
}
