//! The texts a document is made of, and places in them.
//!
//! A plan comes from one file and any number of `--set` arguments, an array from its file, those it inherits and an
//! address; each is a text with a label, so that every mistake can be shown where it was typed.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// One text as it was typed, and what to call it in a message.
#[derive(Debug)]
pub struct SourceText {
    /// A path, `corners (ready plan)`, `--set`; of an address the address itself.
    pub label: String,
    /// All of it.
    pub text: String,
    /// Its number among the texts of one document; files are 0.
    pub number: usize,
}

impl SourceText {
    /// A text to be shared by all places in it.
    pub fn new(label: &str, text: &str, number: usize) -> Arc<SourceText> {
        Arc::new(SourceText { label: label.into(), text: text.into(), number })
    }
}

impl SourceCode for SourceText {
    /// The lines about a place, under the text's label.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let part = self.text.read_span(span, lines_before, lines_after)?;
        let (line, column, count) = (part.line(), part.column(), part.line_count());
        let label = self.label.clone();
        Ok(Box::new(MietteSpanContents::new_named(label, part.data(), *part.span(), line, column, count)))
    }
}

/// A part of a text.
///
/// **Invariant:** the range lies within the text and on character boundaries.
#[derive(Clone)]
pub struct TextSpan {
    source: Arc<SourceText>,
    range: Range<usize>,
}

impl TextSpan {
    /// That part; cut to what the text has.
    pub fn new(source: &Arc<SourceText>, range: Range<usize>) -> TextSpan {
        let start = boundary(&source.text, range.start);
        let end = boundary(&source.text, range.end).max(start);
        assert!(source.text.get(start..end).is_some(), "a place cuts a letter or leaves its text");
        TextSpan { source: Arc::clone(source), range: start..end }
    }

    /// The text this is a part of.
    pub fn source(&self) -> &SourceText {
        &self.source
    }

    /// Byte positions in the text.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// What stands there.
    pub fn text(&self) -> &str {
        self.source.text.get(self.range.clone()).unwrap_or_default()
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        1 + self.before().matches('\n').count()
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        1 + self.before().rsplit('\n').next().unwrap_or_default().chars().count()
    }

    /// The whole line on which this begins, without its end.
    pub fn line_text(&self) -> &str {
        self.source.text.lines().nth(self.line() - 1).unwrap_or_default()
    }

    /// Sorts places in the order in which they were written.
    pub fn order(&self) -> (usize, usize) {
        (self.source.number, self.range.start)
    }

    /// Whether line and column say anything: a text that is its own label, such as an address, has none.
    pub fn has_line(&self) -> bool {
        self.source.label != self.source.text
    }

    /// The order in which they were written: by text, then from its start.
    pub(crate) fn cmp_written(&self, other: &TextSpan) -> Ordering {
        self.text_key().cmp(&other.text_key()).then(self.range.start.cmp(&other.range.start))
    }

    /// A place in the same text.
    pub fn beside(&self, range: Range<usize>) -> TextSpan {
        TextSpan::new(&self.source, range)
    }

    /// What tells texts apart.
    fn text_key(&self) -> (usize, &str) {
        (self.source.number, &self.source.label)
    }

    fn before(&self) -> &str {
        self.source.text.get(..self.range.start).unwrap_or_default()
    }
}

impl PartialEq for TextSpan {
    fn eq(&self, other: &TextSpan) -> bool {
        self.range == other.range && self.text_key() == other.text_key()
    }
}

impl fmt::Debug for TextSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.source.label, self.range)
    }
}

impl fmt::Display for TextSpan {
    /// `arrays/md3000.toml:14`, or the label alone where there is no line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source.label)?;
        if self.has_line() { write!(f, ":{}", self.line()) } else { Ok(()) }
    }
}

/// `text` as long as it is, what is hostile to a terminal replaced: places in it are places in the other.
pub(crate) fn same_length(text: &str) -> String {
    let mut same = String::with_capacity(text.len());
    for letter in text.chars() {
        let is_hostile = units::name::is_hostile(letter) && !matches!(letter, '\n' | '\t' | '\r');
        match (is_hostile, letter.len_utf8()) {
            (false, _) => same.push(letter),
            (true, 3) => same.push('\u{fffd}'),
            (true, bytes) => same.extend(std::iter::repeat_n('?', bytes)),
        }
    }
    assert_eq!(same.len(), text.len(), "places in one text are no places in the other");
    same
}

fn boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = SourceText::new("a.toml", "name = \"x\"\nabout = \"größe\" # here\n", 0);
        let at = source.text.find('#').unwrap();
        let place = TextSpan::new(&source, at..at + 1);
        assert_eq!((place.line(), place.column()), (2, 17));
        assert_eq!(place.line_text(), "about = \"größe\" # here");
        assert_eq!(place.text(), "#");
    }

    #[test]
    fn a_text_without_what_is_hostile_is_as_long_as_before() {
        let text = "a\u{1b}[2J\u{202E}b\u{061C}c\u{9b}\r\n\tö";
        let same = same_length(text);
        assert_eq!(same, "a?[2J\u{fffd}b??c??\r\n\tö");
        assert_eq!(same.len(), text.len());
    }

    #[test]
    fn a_place_never_leaves_its_text_nor_cuts_a_character() {
        let source = SourceText::new("a.toml", "ö", 0);
        assert_eq!(TextSpan::new(&source, 1..99).text(), "ö");
    }
}
