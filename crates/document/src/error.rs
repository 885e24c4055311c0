//! What is wrong in a document: each mistake with its place, and what would be right.

use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};

use super::source::{SourceText, TextSpan};

/// One mistake in a document, or one thing to beware of.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    message: String,
    help: Option<String>,
    place: TextSpan,
    weight: Weight,
    is_unread: bool,
}

/// Whether a document is good in spite of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It is not.
    Mistake,
    /// It is, but perhaps does not do what was meant.
    Caution,
}

impl Mistake {
    /// A mistake at `place`.
    pub fn new(place: &TextSpan, message: impl Into<String>, help: Option<String>) -> Mistake {
        let message = message.into();
        debug_assert!(!message.is_empty(), "a mistake at {place} that says nothing");
        Mistake { message, help, place: place.clone(), weight: Weight::Mistake, is_unread: false }
    }

    /// The same, as something to beware of.
    pub fn caution(self) -> Mistake {
        Mistake { weight: Weight::Caution, ..self }
    }

    /// The same, of a value that its key cannot hold.
    pub(crate) fn unread(self) -> Mistake {
        Mistake { is_unread: true, ..self }
    }

    /// Whether a value is wrong that its key cannot hold, whatever else the document says.
    pub fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would be right.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Message and help in one sentence.
    pub fn said(&self) -> String {
        self.help.as_ref().map_or_else(|| self.message.clone(), |help| format!("{}; {help}", self.message))
    }

    /// The file or argument in which it stands.
    pub fn file(&self) -> &str {
        &self.place.source().label
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        self.place.line()
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        self.place.column()
    }

    /// The line as it was typed.
    pub fn line_text(&self) -> &str {
        self.place.line_text()
    }

    /// The part of the text that is wrong.
    pub fn place(&self) -> &TextSpan {
        &self.place
    }

    /// Whether the document is good in spite of it.
    pub fn weight(&self) -> Weight {
        self.weight
    }

    /// Four lines without colours: place and message, the line as typed, a pointer, what would be right.
    pub fn plain(&self) -> String {
        let line = harmless(self.line_text()).replace('\t', " ");
        let width = self.place.text().lines().next().unwrap_or_default().chars().count().max(1);
        let at =
            if self.place.has_line() { format!(":{}:{}", self.line(), self.column()) } else { String::new() };
        let mut text = format!("{}{at}: {}\n", harmless(self.file()), harmless(&self.message));
        text += &format!("    {line}\n");
        text += &format!("    {}{}\n", " ".repeat(self.column() - 1), "^".repeat(width));
        if let Some(help) = &self.help {
            text += &format!("    {}\n", harmless(help));
        }
        text
    }
}

/// `text` with what would move the cursor, colour the terminal or turn its letters round replaced. Line ends and tabs
/// stay.
fn harmless(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' | '\t' => letter,
        _ if units::name::is_hostile(letter) => '\u{fffd}',
        _ => letter,
    };
    text.chars().map(letter).collect()
}

/// A mistake of which every text is harmless, its places as they were.
struct Harmless {
    message: String,
    help: Option<String>,
    severity: Severity,
    source: SourceText,
    range: std::ops::Range<usize>,
}

impl Harmless {
    fn of(error: &Mistake) -> Harmless {
        let source = error.place.source();
        let text = super::source::same_length(&source.text);
        let source = SourceText { label: harmless(&source.label), text, number: source.number };
        Harmless {
            message: harmless(&error.message),
            help: error.help.as_deref().map(harmless),
            severity: Diagnostic::severity(error).unwrap_or(Severity::Error),
            source,
            range: error.place.range(),
        }
    }
}

impl fmt::Debug for Harmless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for Harmless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Harmless {}

impl Diagnostic for Harmless {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new(None, self.range.start, self.range.len());
        Some(Box::new(std::iter::once(label)))
    }
}

impl Mistake {
    /// Drawn with frames and a pointer, `width` characters wide; with colours if `colour`.
    pub fn graphical(&self, colour: bool, width: usize) -> String {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
        let mut text = String::new();
        match handler.render_report(&mut text, &Harmless::of(self)) {
            Ok(()) => text,
            // The frames are an ornament; without them the facts remain.
            Err(_) => self.plain(),
        }
    }
}

impl fmt::Display for Mistake {
    /// `oltp.toml:3: what is wrong; what would be right`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.said())
    }
}

impl std::error::Error for Mistake {}

impl Diagnostic for Mistake {
    fn severity(&self) -> Option<Severity> {
        Some(match self.weight {
            Weight::Mistake => Severity::Error,
            Weight::Caution => Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.place.source())
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let range = self.place.range();
        let label = LabeledSpan::new(None, range.start, range.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Every mistake found in one reading, in the order in which they were typed. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    mistakes: Vec<Mistake>,
}

impl Errors {
    /// All of them, each once, in the order of their places.
    pub fn new(mut mistakes: Vec<Mistake>) -> Errors {
        assert!(!mistakes.is_empty(), "errors without a mistake");
        assert!(
            mistakes.iter().all(|mistake| mistake.weight == Weight::Mistake),
            "a document that is good in spite of a caution has no errors"
        );
        mistakes.sort_by(|one, other| one.place.cmp_written(&other.place));
        Errors { mistakes }
    }

    /// Each mistake.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.mistakes.iter()
    }

    /// All of them without colours, for a pipe or a log.
    pub fn plain(&self) -> String {
        self.mistakes.iter().map(Mistake::plain).collect()
    }

    /// All of them drawn with frames and pointers, `width` characters wide; with colours if `colour`.
    pub fn graphical(&self, colour: bool, width: usize) -> String {
        let drawn: Vec<String> =
            self.mistakes.iter().map(|mistake| mistake.graphical(colour, width)).collect();
        drawn.join("\n")
    }
}

impl From<Mistake> for Errors {
    fn from(mistake: Mistake) -> Errors {
        Errors::new(vec![mistake])
    }
}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Mistake;
    type IntoIter = std::slice::Iter<'a, Mistake>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Errors {
    /// The first of them, `oltp.toml:3: what is wrong; what would be right`, and how many follow.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mistakes[0].fmt(f)?;
        match self.mistakes.len() - 1 {
            0 => Ok(()),
            1 => f.write_str(" (and one more mistake)"),
            more => write!(f, " (and {more} more mistakes)"),
        }
    }
}

impl std::error::Error for Errors {}

impl Diagnostic for Errors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.mistakes.iter().map(|mistake| mistake as &dyn Diagnostic)))
    }
}
