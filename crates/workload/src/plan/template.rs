//! Names with `{key}` in them.

use document::Wrong;
use spec::readable_title;

/// A name taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Key(String),
}

impl Template {
    /// Takes `text` apart; `{{` and `}}` are single braces.
    pub fn read(text: &str) -> Result<Template, Wrong> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain += &rest[..at];
            let (brace, after) = rest[at..].split_at(1);
            if after.starts_with(brace) {
                plain += brace;
                rest = &after[1..];
                continue;
            }
            let closing = after.find('}').filter(|_| brace == "{");
            let Some(end) = closing else {
                let message = format!("the name has a `{brace}` without its partner");
                return Err(Wrong::new(message, "write {key} to fill a value in, and {{ or }} for a brace"));
            };
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Key(after[..end].trim().to_string()));
            rest = &after[end + 1..];
        }
        plain += rest;
        pieces.push(Piece::Text(plain));
        Ok(Template { pieces })
    }

    /// The keys that are filled in.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Key(key) => Some(key.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The name with each key filled in by `value`; no reads are writes.
    pub fn fill(&self, value: impl Fn(&str) -> String) -> String {
        let filled = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Key(key) => value(key),
        });
        readable_title(&filled.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_filled_in_and_doubled_braces_stay() {
        let template = Template::read("8k {{x}} {workers} of {oltp.depth}").unwrap();
        assert_eq!(template.keys().collect::<Vec<_>>(), ["workers", "oltp.depth"]);
        assert_eq!(template.fill(|key| format!("<{key}>")), "8k {x} <workers> of <oltp.depth>");
    }

    #[test]
    fn a_lonely_brace_is_refused() {
        for text in ["{workers", "x}", "{"] {
            assert!(Template::read(text).unwrap_err().message.contains("without its partner"), "{text}");
        }
    }
}
