//! TOML as a tree whose every key and value knows its place.
//!
//! **Invariant:** tables keep the order in which their keys were written, because sweeps nest in that order.

use std::ops::{Range, RangeInclusive};
use std::str::FromStr;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Mistake;
use crate::figure::Basis;
use crate::mistakes::{Mistakes, Wrong};
use crate::nearest::nearest;
use crate::source::{SourceText, TextSpan};

/// The longest text that is read: far above any plan or array, far below what would hurt.
const LONGEST_BYTES: usize = 1 << 20;

/// A value and where it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What.
    pub value: Value,
    /// Where.
    pub place: TextSpan,
    /// What it rests on, in documents of [`figures`](crate::figures).
    pub basis: Option<Arc<Basis>>,
}

/// What TOML can say, numbers still as text so that no digit is lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `"8KiB"`.
    Text(String),
    /// `32`, in decimal.
    Integer(String),
    /// `0.5`.
    Float(String),
    /// `true`.
    Bool(bool),
    /// A date or a time, which no key wants.
    Date(String),
    /// `[1, 2, 4]`.
    List(Vec<Node>),
    /// `{ a = 1 }` or `[a]`.
    Table(Table),
}

/// Keys and values in the order written, each key once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    entries: Vec<(Key, Node)>,
}

/// A key and where it was typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its text, without quotes.
    pub text: String,
    /// Where.
    pub place: TextSpan,
}

impl Table {
    /// Every entry in the order written.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Node)> {
        self.entries.iter().map(|(key, node)| (key, node))
    }

    /// Likewise, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Key, &mut Node)> {
        self.entries.iter_mut().map(|(key, node)| (key, node))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.iter_mut().find(|(known, _)| known.text == key).map(|(_, node)| node)
    }

    /// Key and value of `key`.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        self.iter().find(|(known, _)| known.text == key)
    }

    /// That there are no keys but `known`, or which one there is.
    pub fn only(&self, known: &[&str]) -> Result<(), Wrong> {
        let Some((key, _)) = self.iter().find(|(key, _)| !known.contains(&key.text.as_str())) else {
            return Ok(());
        };
        let near = nearest(&key.text, known.iter().copied());
        let help =
            near.map_or(format!("one of {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
        Err(Wrong::new(format!("`{}` is not known here", key.text), help).at(&key.place))
    }

    /// Gives `key` that value: in the place of the one it has, or at the end.
    pub fn put(&mut self, key: Key, node: Node) {
        match self.entries.iter_mut().find(|(known, _)| known.text == key.text) {
            Some(entry) => *entry = (key, node),
            None => self.entries.push((key, node)),
        }
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|(known, _)| known.text == key)?;
        debug_assert!(
            self.entries[index + 1..].iter().all(|(known, _)| known.text != key),
            "`{key}` is a duplicate, and one of the two would be left"
        );
        Some(self.entries.remove(index).1)
    }
}

impl IntoIterator for Table {
    type Item = (Key, Node);
    type IntoIter = std::vec::IntoIter<(Key, Node)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// The tree of a whole text, and every mistake of its TOML. `twice` is what would be right where a key stands twice.
/// `None` where it is not TOML.
pub fn parse(source: &Arc<SourceText>, twice: fn(&str) -> String, mistakes: &Mistakes) -> Option<Table> {
    if source.text.len() > LONGEST_BYTES {
        let message = format!("this has {} bytes, and {LONGEST_BYTES} are read at most", source.text.len());
        let help = "such files are small; is this the right one?".to_owned();
        mistakes.add(Mistake::new(&TextSpan::new(source, 0..0), message, Some(help)));
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    errors.iter().for_each(|error| mistakes.add(syntax(source, error, twice)));
    errors.is_empty().then(|| self::table(source, 0, table.get_ref()))
}

/// The value in the part `range` of a text such as `KEY=VALUE`.
///
/// What is not TOML is taken as a text, so that `--set size=8KiB` needs no second pair of quotes.
pub fn argument(source: &Arc<SourceText>, range: Range<usize>) -> Node {
    let place = TextSpan::new(source, range);
    let start = place.range().start;
    match DeValue::parse(place.text()) {
        Ok(parsed) if !matches!(parsed.get_ref(), DeValue::Datetime(_)) => node(source, start, &parsed),
        _ => implied(&place, Value::Text(place.text().to_owned())),
    }
}

/// The value that `text` is by itself; see [`argument`].
pub fn value(text: &str) -> Node {
    argument(&SourceText::new(text, text, 0), 0..text.len())
}

/// A value that was not typed but follows from what stands at `place`.
pub fn implied(place: &TextSpan, value: Value) -> Node {
    Node { value, place: place.clone(), basis: None }
}

/// The table whose places are counted from `start` of the text.
fn table(source: &Arc<SourceText>, start: usize, from: &DeTable<'_>) -> Table {
    let place = |span: Range<usize>| TextSpan::new(source, start + span.start..start + span.end);
    let entry = |(key, value): (&Spanned<_>, _)| {
        let text: &std::borrow::Cow<'_, str> = key.get_ref();
        (Key { text: text.to_string(), place: place(key.span()) }, node(source, start, value))
    };
    let mut entries: Vec<(Key, Node)> = from.iter().map(entry).collect();
    entries.sort_by_key(|(key, _)| key.place.order());
    debug_assert!(
        entries
            .iter()
            .enumerate()
            .all(|(at, (key, _))| entries[..at].iter().all(|(known, _)| known.text != key.text)),
        "a table whose keys are not each there once"
    );
    Table { entries }
}

fn node(source: &Arc<SourceText>, start: usize, from: &Spanned<DeValue<'_>>) -> Node {
    let value = match from.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Integer(decimal(number.as_str(), number.radix())),
        DeValue::Float(number) => Value::Float(number.as_str().to_string()),
        DeValue::Boolean(on) => Value::Bool(*on),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| node(source, start, item)).collect()),
        DeValue::Table(entries) => Value::Table(table(source, start, entries)),
    };
    let span = from.span();
    implied(&TextSpan::new(source, start + span.start..start + span.end), value)
}

/// The same integer in decimal; what is too large even for 128 bits stays as typed and fails where it is read.
fn decimal(digits: &str, radix: u32) -> String {
    i128::from_str_radix(digits, radix).map_or_else(|_| digits.to_string(), |number| number.to_string())
}

fn syntax(source: &Arc<SourceText>, error: &toml::de::Error, twice: fn(&str) -> String) -> Mistake {
    let place = TextSpan::new(source, error.span().unwrap_or_default());
    let message = error.message();
    let typed = place.text();
    if message.starts_with("string values must be quoted") && !typed.is_empty() {
        let help = format!("write it with quotes: \"{typed}\"");
        return Mistake::new(&place, format!("`{typed}` is a text and needs quotes"), Some(help));
    }
    if message == "duplicate key" {
        return Mistake::new(&place, format!("`{typed}` is a duplicate key"), Some(twice(typed)));
    }
    let help = SYNTAX_HELP.iter().find(|(start, _)| message.starts_with(start));
    let name = place.line_text().trim_start_matches(['[', ' ']).split([']', '#']).next().unwrap_or_default();
    let help = help.map(|(_, help)| help.replace("NAME", name.trim_end()));
    Mistake::new(&place, format!("not TOML: {}", message.replace('\n', ", ")), help)
}

/// What the TOML reader says, and what is usually the cause; NAME is that of the heading.
const SYNTAX_HELP: [(&str, &str); 5] = [
    ("invalid basic string", "a text ends with the quote it began with, on the same line"),
    ("unclosed array table", "a heading ends with as many brackets as it began with: [[NAME]]"),
    ("unclosed table", "a heading ends with as many brackets as it began with: [NAME]"),
    ("key with no value", "write KEY = VALUE"),
    ("extra comma", "one comma between two values"),
];

impl Node {
    /// What kind of value this is, in words.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The text of a scalar as typed, without quotes; `None` for lists and tables.
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) | Value::Integer(text) | Value::Float(text) | Value::Date(text) => {
                Some(text.clone())
            }
            Value::Bool(on) => Some(on.to_string()),
            Value::List(_) | Value::Table(_) => None,
        }
    }

    /// A scalar as a person would write it; of a list its length.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Float(digits) => {
                digits.parse().map_or_else(|_| digits.clone(), |number: f64| number.to_string())
            }
            Value::List(items) => format!("list of {}", items.len()),
            _ => self.scalar().unwrap_or_else(|| self.kind().into()),
        }
    }

    /// Where a person looks for it: the place of a table may be all of its text, or only its heading.
    pub(crate) fn seen_at<'p>(&'p self, key: &'p TextSpan) -> &'p TextSpan {
        if self.table().is_some() { key } else { &self.place }
    }

    /// The entries of a table.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The entries of a table, to be changed.
    pub fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text, or what should have stood here.
    pub fn text(&self, example: &str) -> Result<&str, Wrong> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.not("a text", example)),
        }
    }

    /// A word or number read by its type's own rule, or that rule's complaint.
    pub fn read<T>(&self, example: &str) -> Result<T, Wrong>
    where
        T: FromStr,
        Wrong: From<T::Err>,
    {
        let text = self.scalar().ok_or_else(|| self.not("a single value", example))?;
        text.parse().map_err(|error| Wrong::from(error).at(&self.place))
    }

    /// `true` or `false`.
    pub fn switch(&self) -> Result<bool, Wrong> {
        match self.value {
            Value::Bool(on) => Ok(on),
            _ => Err(self.not("true or false", "true")),
        }
    }

    /// A whole number within `range`.
    pub fn count(&self, range: RangeInclusive<u64>) -> Result<u64, Wrong> {
        assert!(!range.is_empty(), "nobody can write a count that would be taken");
        let Value::Integer(digits) = &self.value else {
            return Err(self.not("a whole number", &range.start().to_string()));
        };
        let outside = || {
            let message = format!("`{digits}` is outside {} to {}", range.start(), shown(*range.end()));
            Wrong::said(message).at(&self.place)
        };
        digits.parse().ok().filter(|number| range.contains(number)).ok_or_else(outside)
    }

    /// A whole number within `range` that fits 32 bits.
    pub fn count32(&self, range: RangeInclusive<u32>) -> Result<u32, Wrong> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        let number = self.count(wide)?;
        Ok(u32::try_from(number).expect("the range ends within 32 bits"))
    }

    /// Whether it is the text `word`.
    pub fn is(&self, word: &str) -> bool {
        matches!(&self.value, Value::Text(text) if text == word)
    }

    /// `none`, or what `read` makes of anything else.
    pub fn optional<T>(&self, read: impl FnOnce(&Node) -> Result<T, Wrong>) -> Result<Option<T>, Wrong> {
        self.unless("none", read)
    }

    /// The text `word`, or what `read` makes of anything else.
    pub fn unless<T>(
        &self,
        word: &str,
        read: impl FnOnce(&Node) -> Result<T, Wrong>,
    ) -> Result<Option<T>, Wrong> {
        if self.is(word) { Ok(None) } else { read(self).map(Some) }
    }

    /// That this is something else than `wanted`.
    pub fn not(&self, wanted: &str, example: &str) -> Wrong {
        let what = match (&self.value, self.scalar()) {
            (Value::Text(text), _) => format!("the text \"{text}\""),
            (_, Some(text)) => format!("`{text}`"),
            _ => self.kind().to_string(),
        };
        Wrong::new(format!("expected {wanted}, got {what}"), format!("for example: {example}"))
            .at(&self.place)
    }
}

/// 2^64-1 says nothing to a reader.
fn shown(limit: u64) -> String {
    if limit == u64::MAX { "2^64-1".into() } else { limit.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Table, Mistakes) {
        let mistakes = Mistakes::default();
        let table = parse(&SourceText::new("t.toml", text, 0), |_| String::new(), &mistakes);
        (table.unwrap_or_default(), mistakes)
    }

    #[test]
    fn keys_keep_the_order_in_which_they_were_written() {
        let (table, _) = read("z = 1\na = 2\nm = 3\n");
        let keys: Vec<_> = table.iter().map(|(key, _)| key.text.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
    }

    #[test]
    fn a_missing_quote_is_named_with_the_quoted_text() {
        let (_, mistakes) = read("size = 4KiB\n");
        let errors = mistakes.into_result().unwrap_err();
        assert!(
            errors.plain().contains("t.toml:1:8: `4KiB` is a text and needs quotes"),
            "{}",
            errors.plain()
        );
        assert!(errors.plain().contains("\"4KiB\""));
    }

    #[test]
    fn an_argument_that_is_no_toml_is_a_text() {
        let source = SourceText::new("--set size=8KiB", "size=8KiB", 1);
        let node = argument(&source, 5..9);
        assert_eq!(node.scalar().as_deref(), Some("8KiB"));
        let source = SourceText::new("--set", "depth={ sweep = [1, 2] }", 1);
        let node = argument(&source, 6..source.text.len());
        let list = node.table().and_then(|table| table.get("sweep")).unwrap();
        assert_eq!(list.place.text(), "[1, 2]");
    }
}
