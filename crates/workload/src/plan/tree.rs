//! TOML as a tree whose every key and value knows its place.
//!
//! **Invariant:** tables keep the order in which their keys were written, because sweeps nest in that order.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::PlanError;
use super::mistakes::{Mistakes, Wrong};
use super::source::{Place, SourceText};
use super::synonyms;

/// The longest text that is read as a plan: far above any plan, far below what would hurt.
const LONGEST_PLAN_BYTES: usize = 1 << 20;

/// A value and where it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What.
    pub value: Value,
    /// Where.
    pub place: Place,
}

/// What TOML can say, numbers still as text so that no digit is lost.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `"8KiB"`.
    Text(String),
    /// `32`.
    Integer(String),
    /// `0.5`.
    Float(String),
    /// `true`.
    Bool(bool),
    /// A date or a time, which no key of a plan wants.
    Date(String),
    /// `[1, 2, 4]`.
    List(Vec<Node>),
    /// `{ a = 1 }` or `[a]`.
    Table(Table),
}

/// Keys and values in the order written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: Vec<(Key, Node)>,
}

/// A key and where it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// Its text, without quotes.
    pub text: String,
    /// Where.
    pub place: Place,
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

    /// Key and value of `key`.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        self.iter().find(|(known, _)| known.text == key)
    }
}

/// The tree of a whole document, or every mistake of its TOML.
pub(crate) fn document(source: &Arc<SourceText>, mistakes: &mut Mistakes) -> Table {
    if source.text.len() > LONGEST_PLAN_BYTES {
        let help = "a plan is a small text; is this the right file?".to_string();
        let message =
            format!("this has {} bytes, and a plan at most {LONGEST_PLAN_BYTES}", source.text.len());
        mistakes.add(PlanError::new(&Place::new(source, 0..0), message, Some(help)));
        return Table::default();
    }
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    for error in &errors {
        mistakes.add(syntax(source, error));
    }
    let mut root = self::table(source, table.get_ref());
    synonyms::translate(&mut root, mistakes);
    root
}

/// The value of a `--set KEY=VALUE` argument, of which it is the part in `range`.
///
/// What is not TOML is taken as a text, so that `--set size=8KiB` needs no second pair of quotes.
pub(crate) fn argument(source: &Arc<SourceText>, range: std::ops::Range<usize>) -> Node {
    let place = Place::new(source, range);
    let text = place.text().to_string();
    let value = match DeValue::parse(&text) {
        Ok(parsed) if !matches!(parsed.get_ref(), DeValue::Datetime(_)) => parsed,
        _ => return Node { value: Value::Text(text), place },
    };
    // Places inside the value are counted from its own start.
    let mut node = node(source, &value);
    shift(&mut node, place.range().start);
    node
}

/// A value that was not typed but follows from what stands at `place`.
pub(crate) fn implied(place: &Place, value: Value) -> Node {
    Node { value, place: place.clone() }
}

fn shift(node: &mut Node, by: usize) {
    let moved = |place: &Place| place.beside(place.range().start + by..place.range().end + by);
    node.place = moved(&node.place);
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Table(table) => {
            for (key, value) in &mut table.entries {
                key.place = moved(&key.place);
                shift(value, by);
            }
        }
        _ => {}
    }
}

fn table(source: &Arc<SourceText>, from: &DeTable<'_>) -> Table {
    let mut entries: Vec<(Key, Node)> = from
        .iter()
        .map(|(key, value)| {
            let place = Place::new(source, key.span());
            (Key { text: key.get_ref().to_string(), place }, node(source, value))
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.place.order());
    Table { entries }
}

fn node(source: &Arc<SourceText>, from: &Spanned<DeValue<'_>>) -> Node {
    let value = match from.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => Value::Integer(decimal(number.as_str(), number.radix())),
        DeValue::Float(number) => Value::Float(number.as_str().to_string()),
        DeValue::Boolean(on) => Value::Bool(*on),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| node(source, item)).collect()),
        DeValue::Table(entries) => Value::Table(table(source, entries)),
    };
    Node { value, place: Place::new(source, from.span()) }
}

/// The same integer in decimal; what is too large even for 128 bits stays as typed and fails where it is read.
fn decimal(digits: &str, radix: u32) -> String {
    i128::from_str_radix(digits, radix).map_or_else(|_| digits.to_string(), |number| number.to_string())
}

fn syntax(source: &Arc<SourceText>, error: &toml::de::Error) -> PlanError {
    let place = Place::new(source, error.span().unwrap_or_default());
    let message = error.message();
    let typed = place.text();
    if message.starts_with("string values must be quoted") && !typed.is_empty() {
        let help = format!("write it with quotes: \"{typed}\"");
        return PlanError::new(&place, format!("`{typed}` is a text and needs quotes"), Some(help));
    }
    if message == "duplicate key" {
        let help = match typed {
            "phase" | "workload" => {
                format!("each {typed} begins with two brackets: [[{}]]", table_name(typed))
            }
            _ => format!("keep one `{typed}`; to measure several values write {{ sweep = [...] }}"),
        };
        return PlanError::new(&place, format!("`{typed}` is a duplicate key"), Some(help));
    }
    let help = SYNTAX_HELP.iter().find(|(start, _)| message.starts_with(start));
    PlanError::new(&place, format!("not TOML: {message}"), help.map(|(_, help)| (*help).to_string()))
}

/// What the TOML reader says, and what is usually the cause.
const SYNTAX_HELP: [(&str, &str); 5] = [
    ("invalid basic string", "a text ends with the quote it began with, on the same line"),
    ("unclosed array table", "a heading ends with as many brackets as it began with: [[phase]]"),
    ("unclosed table", "a heading ends with as many brackets as it began with: [defaults]"),
    ("key with no value", "write KEY = VALUE"),
    ("extra comma", "one comma between two values"),
];

fn table_name(key: &str) -> &'static str {
    if key == "phase" { "phase" } else { "phase.workload" }
}

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

    /// `none`, or what `read` makes of anything else.
    pub fn optional<T>(&self, read: impl FnOnce(&Node) -> Result<T, Wrong>) -> Result<Option<T>, Wrong> {
        match &self.value {
            Value::Text(text) if text == "none" => Ok(None),
            _ => read(self).map(Some),
        }
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
        let mut mistakes = Mistakes::default();
        let table = document(&SourceText::new("t.toml", text, 0), &mut mistakes);
        (table, mistakes)
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
