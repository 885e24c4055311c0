//! The lines of a configuration file: keys that begin with an apostrophe, and values below them.
//!
//! **Invariant:** every line is given out once, with its number; nothing is read twice, so reading ends.

use crate::Refusal;

/// One line without blanks at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    /// What it says.
    pub text: &'a str,
}

impl Line<'_> {
    /// Whether it is a key, a caption or the end of something, not a value.
    pub fn is_key(self) -> bool {
        self.text.starts_with('\'')
    }

    /// A key as it is compared: in lower case, without the apostrophe, blanks about commas and trailing `=`.
    pub fn key(self) -> String {
        let text = self.text.trim_start_matches('\'').trim_end_matches('=').trim().to_lowercase();
        let parts = text.split(',').map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        parts.collect::<Vec<_>>().join(",")
    }

    /// Whether it is a caption of columns under a key: its text is set off from the apostrophe.
    fn is_caption(self) -> bool {
        self.text.strip_prefix('\'').is_some_and(|rest| rest.starts_with([' ', '\t']) || rest.is_empty())
    }
}

/// The longest message, in characters.
const MOST_SAID: usize = 400;

/// The lines that are still to be read.
#[derive(Debug)]
pub struct Lines<'a> {
    file: &'a str,
    lines: Vec<Line<'a>>,
    next: usize,
}

impl<'a> Lines<'a> {
    /// Those of `text`; `file` is what messages call it.
    pub fn new(file: &'a str, text: &'a str) -> Lines<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Files of Windows end lines with both characters, those of old Macintoshes with the first alone.
        let parts: Vec<&str> = match text.contains('\n') {
            true => text.split('\n').collect(),
            false => text.split('\r').collect(),
        };
        let line = |(index, text): (usize, &'a str)| Line { number: index + 1, text: text.trim() };
        Lines { file, lines: parts.into_iter().enumerate().map(line).collect(), next: 0 }
    }

    /// The next line, which stays.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.next).copied()
    }

    /// The next line.
    pub fn take(&mut self) -> Option<Line<'a>> {
        assert!(self.next <= self.lines.len(), "no line is given out that is not there");
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    /// The next line that is not empty.
    pub fn take_text(&mut self) -> Option<Line<'a>> {
        self.skip_empty();
        self.take()
    }

    /// The next line that is not empty, which stays.
    pub fn peek_text(&mut self) -> Option<Line<'a>> {
        self.skip_empty();
        self.peek()
    }

    fn skip_empty(&mut self) {
        while self.peek().is_some_and(|line| line.text.is_empty()) {
            self.next += 1;
        }
    }

    /// The value below a key, after captions of columns; empty where the next key follows at once.
    pub fn value(&mut self) -> Line<'a> {
        while self.peek().is_some_and(Line::is_caption) {
            self.next += 1;
        }
        match self.peek() {
            Some(line) if !line.is_key() => {
                self.next += 1;
                line
            }
            other => Line { number: other.map_or(self.lines.len(), |line| line.number), text: "" },
        }
    }

    /// The refusal of what stands in `line`.
    pub fn wrong(&self, line: Line<'_>, what: impl Into<String>) -> Refusal {
        let what: String = what.into();
        // A line may be as long as the file.
        let what = match what.char_indices().nth(MOST_SAID) {
            Some((end, _)) => format!("{}…", &what[..end]),
            None => what,
        };
        Refusal::Line { file: self.file.into(), line: line.number, what }
    }

    /// The refusal of a key that stands in no `part`.
    pub fn no_key(&self, line: Line<'_>, part: &str) -> Refusal {
        self.wrong(line, format!("`{}` is not a key of {part}", line.text))
    }

    /// The next line that is not empty, as long as it is not the key `end`; the refusal of a file that ends before.
    pub fn before(&mut self, end: &str) -> Result<Option<Line<'a>>, Refusal> {
        let line = self.more(end)?;
        Ok(Some(line).filter(|line| line.key() != end.to_lowercase()))
    }

    /// The next line that is not empty; the refusal of a file that ends before the key `end`.
    pub fn more(&mut self, end: &str) -> Result<Line<'a>, Refusal> {
        let missing = format!("the file ends here; '{end} is missing");
        self.take_text().ok_or_else(|| Refusal::line(self.file, self.lines.len(), missing))
    }
}

/// The fields of a value: separated by commas, blanks or both.
pub fn fields(text: &str) -> Vec<&str> {
    text.split(|c: char| c == ',' || c.is_whitespace()).filter(|field| !field.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_without_case_blanks_and_rules() {
        let key = |text| Line { number: 1, text }.key();
        assert_eq!(key("'Manager ID,  manager name"), "manager id,manager name");
        assert_eq!(key("'TEST  SETUP ====="), "test setup");
    }

    #[test]
    fn a_message_does_not_repeat_a_line_of_any_length() {
        let lines = Lines::new("x.icf", "");
        let message = lines.wrong(Line { number: 3, text: "" }, "é".repeat(100_000)).to_string();
        assert_eq!(message.chars().count(), "x.icf:3: ".len() + 401);
    }

    #[test]
    fn a_value_stands_below_captions_and_may_be_empty() {
        let text =
            "'Run Time\r\n'\thours minutes seconds\r\n\t0 1 0\r\n'Test Description\r\n\r\n'Next\r\n'After";
        let mut lines = Lines::new("x.icf", text);
        lines.take();
        assert_eq!(lines.value(), Line { number: 3, text: "0 1 0" });
        lines.take();
        assert_eq!(lines.value(), Line { number: 5, text: "" });
        lines.take();
        assert_eq!(lines.value(), Line { number: 7, text: "" });
        assert_eq!(lines.take().map(Line::key), Some("after".into()));
    }
}
