//! What is wrong in a plan: each mistake with its place, and what would be right.

use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};

use super::source::{Place, SourceText};

/// One mistake in a plan, or one thing to beware of.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanError {
    message: String,
    help: Option<String>,
    place: Place,
    weight: Weight,
}

/// Whether a plan can be carried out in spite of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It cannot.
    Mistake,
    /// It can, but perhaps does not do what was meant.
    Caution,
}

impl PlanError {
    /// A mistake at `place`.
    pub(super) fn new(place: &Place, message: impl Into<String>, help: Option<String>) -> PlanError {
        PlanError { message: message.into(), help, place: place.clone(), weight: Weight::Mistake }
    }

    /// The same, as something to beware of.
    pub(super) fn caution(self) -> PlanError {
        PlanError { weight: Weight::Caution, ..self }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What would be right.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The file, ready plan or argument in which it stands.
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
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether the plan can be carried out in spite of it.
    pub fn weight(&self) -> Weight {
        self.weight
    }

    /// Four lines without colours: place and message, the line as typed, a pointer, what would be right.
    pub fn plain(&self) -> String {
        let line = harmless(self.line_text()).replace('\t', " ");
        let width = self.place.text().lines().next().unwrap_or_default().chars().count().max(1);
        let mut text = format!(
            "{}:{}:{}: {}\n",
            harmless(self.file()),
            self.line(),
            self.column(),
            harmless(&self.message)
        );
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
    fn of(error: &PlanError) -> Harmless {
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

impl PlanError {
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

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlanError {}

impl Diagnostic for PlanError {
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
pub struct PlanErrors {
    mistakes: Vec<PlanError>,
}

impl PlanErrors {
    /// All of them, each once, in the order of their places.
    pub(super) fn new(mut mistakes: Vec<PlanError>) -> PlanErrors {
        assert!(!mistakes.is_empty(), "errors without a mistake");
        mistakes.sort_by_key(|mistake| mistake.place.order());
        PlanErrors { mistakes }
    }

    /// Each mistake.
    pub fn iter(&self) -> std::slice::Iter<'_, PlanError> {
        self.mistakes.iter()
    }

    /// All of them without colours, for a pipe or a log.
    pub fn plain(&self) -> String {
        self.mistakes.iter().map(PlanError::plain).collect()
    }

    /// All of them drawn with frames and pointers, `width` characters wide; with colours if `colour`.
    pub fn graphical(&self, colour: bool, width: usize) -> String {
        let drawn: Vec<String> =
            self.mistakes.iter().map(|mistake| mistake.graphical(colour, width)).collect();
        drawn.join("\n")
    }
}

impl<'a> IntoIterator for &'a PlanErrors {
    type Item = &'a PlanError;
    type IntoIter = std::slice::Iter<'a, PlanError>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for PlanErrors {
    /// `oltp.toml: 2 mistakes`, or the message where there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mistakes[..] {
            [one] => write!(f, "{}:{}: {}", one.file(), one.line(), one.message),
            [first, ..] => write!(f, "{}: {} mistakes", first.file(), self.mistakes.len()),
            [] => Ok(()),
        }
    }
}

impl std::error::Error for PlanErrors {}

impl Diagnostic for PlanErrors {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.mistakes.iter().map(|mistake| mistake as &dyn Diagnostic)))
    }
}
