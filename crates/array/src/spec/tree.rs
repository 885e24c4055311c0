//! A file as written: tables and values that remember where they stand and what they rest on.
//!
//! A figure is a bare value, or `{ value = …, source = "…", confidence = "high" }`. A bare value rests on the
//! `source` and `confidence` of its table, or of the nearest table around it that has them.
//!
//! **Invariant:** nothing is judged here but TOML itself; what keys mean is known to the readers.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Fault, SourceLocation, SpecError};

/// How sure a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess, or scaled from a sibling.
    Low,
    /// One review, or recollection of a data sheet.
    Medium,
    /// Data sheet, manual, or several agreeing finds.
    High,
}

impl Confidence {
    fn named(text: &str) -> Option<Confidence> {
        match text {
            "low" => Some(Confidence::Low),
            "medium" => Some(Confidence::Medium),
            "high" => Some(Confidence::High),
            _ => None,
        }
    }
}

/// What a figure rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Basis {
    pub source: Option<Arc<str>>,
    pub confidence: Option<Confidence>,
}

impl Basis {
    fn within(self, outer: &Basis) -> Basis {
        // A source of its own with no confidence says nothing about how sure the outer source was.
        let confidence =
            if self.source.is_some() { self.confidence } else { self.confidence.or(outer.confidence) };
        Basis { source: self.source.or_else(|| outer.source.clone()), confidence }
    }
}

/// What stands to the right of `=`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Whole(i64),
    Real(f64),
    Truth(bool),
    List(Vec<Node>),
}

impl Scalar {
    /// As a person would write it.
    pub fn text(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Real(number) => number.to_string(),
            Scalar::Truth(truth) => truth.to_string(),
            Scalar::List(items) => format!("list of {}", items.len()),
        }
    }
}

/// A value with its place and basis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub at: SourceLocation,
    pub what: Scalar,
    pub basis: Basis,
}

/// A table or a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Table(Table),
    Value(Value),
}

impl Node {
    pub fn at(&self) -> &SourceLocation {
        match self {
            Node::Table(table) => &table.at,
            Node::Value(value) => &value.at,
        }
    }
}

/// A key, where it stands, and what it holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub at: SourceLocation,
    pub node: Node,
}

/// Keys in the order written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    pub at: SourceLocation,
    pub entries: Vec<Entry>,
}

impl Table {
    pub fn empty(at: SourceLocation) -> Table {
        Table { at, entries: Vec::new() }
    }

    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry at a dotted path.
    pub fn find(&self, path: &str) -> Option<&Entry> {
        match path.split_once('.') {
            None => self.get(path),
            Some((first, rest)) => match &self.get(first)?.node {
                Node::Table(table) => table.find(rest),
                Node::Value(_) => None,
            },
        }
    }

    /// Where the entry at a dotted path stands, or the table if it is not there.
    pub fn place_of(&self, path: &str) -> SourceLocation {
        self.find(path).map_or_else(|| self.at.clone(), |entry| entry.node.at().clone())
    }

    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(index))
    }

    /// Puts `over` on top: its values replace, its tables merge.
    ///
    /// An option declared again with `sets` is replaced whole; one with only a `choice` adds to the choices there are.
    pub fn overlay(&mut self, over: Table) {
        for entry in over.entries {
            let same = self.entries.iter().position(|mine| mine.key == entry.key);
            match (same, entry.node) {
                (Some(index), Node::Table(table)) => match &mut self.entries[index].node {
                    Node::Table(mine) if entry.key == "options" => mine.redeclare(table),
                    Node::Table(mine) => mine.overlay(table),
                    Node::Value(_) => self.entries[index].node = Node::Table(table),
                },
                (Some(index), node) => self.entries[index] = Entry { key: entry.key, at: entry.at, node },
                (None, node) => self.entries.push(Entry { key: entry.key, at: entry.at, node }),
            }
        }
    }

    fn redeclare(&mut self, over: Table) {
        for entry in over.entries {
            let adds = matches!(&entry.node, Node::Table(option) if option.get("sets").is_none());
            let same = self.entries.iter().position(|mine| mine.key == entry.key);
            match (adds, same, entry.node) {
                (true, Some(index), Node::Table(option)) => match &mut self.entries[index].node {
                    Node::Table(mine) => mine.overlay(option),
                    node => *node = Node::Table(option),
                },
                (_, Some(index), node) => self.entries[index].node = node,
                (_, None, node) => self.entries.push(Entry { node, ..entry }),
            }
        }
    }

    /// Sets the value at a dotted path, making tables on the way.
    pub fn set(&mut self, path: &str, value: Value) {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let at = value.at.clone();
        let index = self.entries.iter().position(|entry| entry.key == first).unwrap_or_else(|| {
            let node = Node::Table(Table::empty(at.clone()));
            self.entries.push(Entry { key: first.to_string(), at: at.clone(), node });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[index];
        match (rest, &mut entry.node) {
            (None, _) => *entry = Entry { key: first.to_string(), at, node: Node::Value(value) },
            (Some(rest), Node::Table(table)) => table.set(rest, value),
            (Some(rest), node) => {
                let mut table = Table::empty(at);
                table.set(rest, value);
                *node = Node::Table(table);
            }
        }
    }
}

/// Reads `text`; `label` is what errors call it.
pub(super) fn parse(label: &str, text: &str) -> Result<Table, SpecError> {
    read(Lines { label: label.into(), text, figures: true })
}

/// Reads `text`, where `value`, `source` and `confidence` are keys like any other.
pub(super) fn parse_plain(label: &str, text: &str) -> Result<Table, SpecError> {
    read(Lines { label: label.into(), text, figures: false })
}

fn read(lines: Lines<'_>) -> Result<Table, SpecError> {
    let text = lines.text;
    let table = DeTable::parse(text).map_err(|error| {
        SpecError::at(
            lines.place(error.span().map_or(0, |span| span.start)),
            Fault::Syntax { what: error.message().replace('\n', ", ") },
        )
    })?;
    lines.table(table.get_ref(), 0, &Basis::default())
}

/// Turns byte offsets into places.
struct Lines<'t> {
    label: Arc<str>,
    text: &'t str,
    /// Whether tables can be figures, and carry a basis.
    figures: bool,
}

impl Lines<'_> {
    fn place(&self, offset: usize) -> SourceLocation {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        SourceLocation {
            file: self.label.clone(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    fn table(&self, table: &DeTable<'_>, start: usize, outer: &Basis) -> Result<Table, SpecError> {
        let basis = if self.figures { self.basis_of(table)?.within(outer) } else { Basis::default() };
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let entries = keys
            .into_iter()
            .filter(|(key, _)| !self.figures || !matches!(key.get_ref().as_ref(), "source" | "confidence"))
            .map(|(key, value)| {
                Ok(Entry {
                    key: key.get_ref().to_string(),
                    at: self.place(key.span().start),
                    node: self.node(value, key.span().start, &basis)?,
                })
            })
            .collect::<Result<_, SpecError>>()?;
        Ok(Table { at: self.place(start), entries })
    }

    fn basis_of(&self, table: &DeTable<'_>) -> Result<Basis, SpecError> {
        let text = |key: &str| -> Result<Option<(String, SourceLocation)>, SpecError> {
            let Some(value) = table.get(key) else { return Ok(None) };
            let at = self.place(value.span().start);
            match value.get_ref() {
                DeValue::String(text) => Ok(Some((text.to_string(), at))),
                _ => Err(SpecError::at(
                    at,
                    Fault::Value { key: key.into(), why: "write a text in quotes".into() },
                )),
            }
        };
        let confidence = match text("confidence")? {
            None => None,
            Some((name, at)) => Some(Confidence::named(&name).ok_or_else(|| {
                SpecError::at(
                    at,
                    Fault::Value {
                        key: "confidence".into(),
                        why: format!("`{name}` is no confidence; write high, medium or low"),
                    },
                )
            })?),
        };
        Ok(Basis { source: text("source")?.map(|(source, _)| source.into()), confidence })
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, key_start: usize, basis: &Basis) -> Result<Node, SpecError> {
        match value.get_ref() {
            DeValue::Table(table) if self.figures && table.contains_key("value") => self.figure(table, basis),
            // A table's own span may cover only its header; the key is where a person looks.
            DeValue::Table(table) => Ok(Node::Table(self.table(table, key_start, basis)?)),
            other => {
                let at = self.place(value.span().start);
                Ok(Node::Value(Value { what: self.scalar(other, &at, basis)?, at, basis: basis.clone() }))
            }
        }
    }

    /// `{ value = …, source = "…", confidence = "…" }`.
    fn figure(&self, table: &DeTable<'_>, outer: &Basis) -> Result<Node, SpecError> {
        const KNOWN: [&str; 3] = ["value", "source", "confidence"];
        if let Some((key, _)) = table.iter().find(|(key, _)| !KNOWN.contains(&key.get_ref().as_ref())) {
            return Err(SpecError::at(
                self.place(key.span().start),
                Fault::UnknownKey {
                    table: "a figure".into(),
                    key: key.get_ref().to_string(),
                    meant: super::error::nearest(key.get_ref(), KNOWN),
                    known: KNOWN.join(", "),
                },
            ));
        }
        let value = &table["value"];
        let at = self.place(value.span().start);
        let basis = self.basis_of(table)?.within(outer);
        Ok(Node::Value(Value { what: self.scalar(value.get_ref(), &at, &basis)?, at, basis }))
    }

    fn scalar(&self, value: &DeValue<'_>, at: &SourceLocation, basis: &Basis) -> Result<Scalar, SpecError> {
        let wrong =
            |why: &str| SpecError::at(at.clone(), Fault::Value { key: "value".into(), why: why.into() });
        match value {
            DeValue::String(text) => Ok(Scalar::Text(text.to_string())),
            DeValue::Boolean(truth) => Ok(Scalar::Truth(*truth)),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(Scalar::Whole)
                .map_err(|_| wrong("this integer does not fit 64 bits")),
            DeValue::Float(number) => {
                number.as_str().parse().map(Scalar::Real).map_err(|_| wrong("this is not a number"))
            }
            DeValue::Datetime(_) => Err(wrong("a date is never wanted here; put texts in quotes")),
            DeValue::Array(items) => items
                .iter()
                .map(|item| self.node(item, item.span().start, basis))
                .collect::<Result<_, _>>()
                .map(Scalar::List),
            DeValue::Table(_) => Err(wrong("a table cannot be a figure's value")),
        }
    }
}
