//! A table being read: each key is asked for once by name, and what was never asked for is an unknown key.
//!
//! **Invariant:** the set of known keys is the set of keys asked for, so the two cannot drift apart.

use std::cell::RefCell;

use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond, Share};

use super::error::{Fault, SourceLocation, SpecError, nearest};
use super::tree::{Node, Scalar, Table, Value};

/// A type that a value can be read as. The error says what would be right.
pub(super) trait Read: Sized {
    /// In words, with an example: "a size such as 64KiB".
    const WANT: &'static str;
    fn read(what: &Scalar) -> Result<Self, String>;
}

fn not(what: &Scalar, want: &str) -> String {
    format!("`{}` is not {want}", what.text())
}

macro_rules! read_by_text {
    ($($type:ty: $want:literal),* $(,)?) => {$(
        impl Read for $type {
            const WANT: &'static str = $want;
            fn read(what: &Scalar) -> Result<Self, String> {
                match what {
                    Scalar::Text(text) => text.parse().map_err(|error: units::UnitError| error.to_string()),
                    other => Err(format!("{}, in quotes", not(other, $want))),
                }
            }
        }
    )*};
}

read_by_text! {
    Bytes: "a size such as \"64KiB\"",
    Nanos: "a duration such as \"8.2ms\"",
    BytesPerSecond: "a throughput such as \"150MB/s\"",
    OpsPerSecond: "a rate such as \"500/s\"",
    Share: "a share such as \"70%\"",
}

impl Read for String {
    const WANT: &'static str = "a text in quotes";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Text(text) => Ok(text.clone()),
            other => Err(not(other, Self::WANT)),
        }
    }
}

impl Read for bool {
    const WANT: &'static str = "true or false";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Truth(truth) => Ok(*truth),
            other => Err(not(other, Self::WANT)),
        }
    }
}

impl Read for u32 {
    const WANT: &'static str = "a whole number from 0 on";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Whole(number) => u32::try_from(*number).map_err(|_| not(what, Self::WANT)),
            other => Err(not(other, Self::WANT)),
        }
    }
}

impl Read for i64 {
    const WANT: &'static str = "a whole number";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Whole(number) => Ok(*number),
            other => Err(not(other, Self::WANT)),
        }
    }
}

impl Read for f64 {
    const WANT: &'static str = "a number";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Whole(number) => Ok(*number as f64),
            Scalar::Real(number) if number.is_finite() => Ok(*number),
            other => Err(not(other, Self::WANT)),
        }
    }
}

impl<T: Read> Read for Vec<T> {
    const WANT: &'static str = "a list in brackets";
    fn read(what: &Scalar) -> Result<Self, String> {
        let Scalar::List(items) = what else { return Err(not(what, Self::WANT)) };
        items
            .iter()
            .map(|item| match item {
                Node::Value(value) => T::read(&value.what),
                Node::Table(_) => Err(format!("expected {} in the list, got a table", T::WANT)),
            })
            .collect()
    }
}

impl<A: Read, B: Read> Read for (A, B) {
    const WANT: &'static str = "a pair in brackets";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::List(items) => match items.as_slice() {
                [Node::Value(first), Node::Value(second)] => {
                    Ok((A::read(&first.what)?, B::read(&second.what)?))
                }
                _ => Err(format!("{} ({}, {})", not(what, Self::WANT), A::WANT, B::WANT)),
            },
            other => Err(format!("{} ({}, {})", not(other, Self::WANT), A::WANT, B::WANT)),
        }
    }
}

/// A table being read. Ask for every key, then [`finish`](Fields::finish).
pub(super) struct Fields<'t> {
    path: String,
    table: &'t Table,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Fields<'t> {
    pub fn new(path: impl Into<String>, table: &'t Table) -> Fields<'t> {
        Fields { path: path.into(), table, asked: RefCell::default() }
    }

    /// Where the table stands.
    pub fn at(&self) -> &SourceLocation {
        &self.table.at
    }

    /// Where a key's value stands, or the table.
    pub fn place_of(&self, key: &str) -> SourceLocation {
        self.table.place_of(key)
    }

    /// An error about the value of `key`.
    pub fn wrong(&self, key: &str, why: impl Into<String>) -> SpecError {
        SpecError::at(self.place_of(key), Fault::Value { key: self.dotted(key), why: why.into() })
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    fn name(&self) -> String {
        if self.path.is_empty() { "the file".into() } else { format!("[{}]", self.path) }
    }

    fn node(&self, key: &'static str) -> Option<&'t Node> {
        self.asked.borrow_mut().push(key);
        self.table.get(key).map(|entry| &entry.node)
    }

    /// The value of `key`, if it is there and not `"none"` where a text is no value.
    pub fn get<T: Read>(&self, key: &'static str) -> Result<Option<T>, SpecError> {
        match self.node(key) {
            None => Ok(None),
            Some(Node::Value(value)) => self.value(key, value).map(Some),
            Some(Node::Table(_)) => Err(self.wrong(key, format!("expected {}, got a table", T::WANT))),
        }
    }

    fn value<T: Read>(&self, key: &str, value: &Value) -> Result<T, SpecError> {
        T::read(&value.what)
            .map_err(|why| SpecError::at(value.at.clone(), Fault::Value { key: self.dotted(key), why }))
    }

    /// The value of `key`, or `None` where it is absent or the text `"none"`.
    pub fn unless_none<T: Read>(&self, key: &'static str) -> Result<Option<T>, SpecError> {
        match self.table.get(key).map(|entry| &entry.node) {
            Some(Node::Value(Value { what: Scalar::Text(text), .. })) if text == "none" => {
                self.asked.borrow_mut().push(key);
                Ok(None)
            }
            _ => self.get(key),
        }
    }

    /// The value of `key`, which must be there.
    pub fn need<T: Read>(&self, key: &'static str) -> Result<T, SpecError> {
        self.get(key)?.ok_or_else(|| self.missing(key, T::WANT))
    }

    /// The value of `key`, or `otherwise`.
    pub fn or<T: Read>(&self, key: &'static str, otherwise: T) -> Result<T, SpecError> {
        Ok(self.get(key)?.unwrap_or(otherwise))
    }

    /// The value of `key` as one of `choices`, by name.
    pub fn one_of<T: Copy>(
        &self,
        key: &'static str,
        otherwise: Option<T>,
        choices: &[(&str, T)],
    ) -> Result<T, SpecError> {
        let names = || choices.iter().map(|(name, _)| *name);
        let list = || names().collect::<Vec<_>>().join(", ");
        let Some(name) = self.get::<String>(key)? else {
            return otherwise.ok_or_else(|| self.missing(key, &format!("one of {}", list())));
        };
        choices.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice).ok_or_else(|| {
            let meant =
                nearest(&name, names()).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            self.wrong(key, format!("`{name}` is not known{meant} Write one of {}", list()))
        })
    }

    /// The table `key`, or `None` where it is absent or `"none"`.
    pub fn table(&self, key: &'static str) -> Result<Option<Fields<'t>>, SpecError> {
        match self.node(key) {
            None => Ok(None),
            Some(Node::Table(table)) => Ok(Some(Fields::new(self.dotted(key), table))),
            Some(Node::Value(Value { what: Scalar::Text(text), .. })) if text == "none" => Ok(None),
            Some(Node::Value(value)) => Err(SpecError::at(
                value.at.clone(),
                Fault::Value {
                    key: self.dotted(key),
                    why: "expected a table, got a value; write a table, or \"none\"".into(),
                },
            )),
        }
    }

    /// The table `key`, which must be there.
    pub fn need_table(&self, key: &'static str) -> Result<Fields<'t>, SpecError> {
        self.table(key)?.ok_or_else(|| self.missing(key, "a table"))
    }

    /// The tables of the list `key`; empty where it is absent.
    pub fn tables(&self, key: &'static str) -> Result<Vec<Fields<'t>>, SpecError> {
        let Some(node) = self.node(key) else { return Ok(Vec::new()) };
        let Node::Value(Value { what: Scalar::List(items), .. }) = node else {
            return Err(self.wrong(key, "write a list of tables, [{ … }, { … }]"));
        };
        items
            .iter()
            .map(|item| match item {
                Node::Table(table) => Ok(Fields::new(self.dotted(key), table)),
                Node::Value(value) => Err(SpecError::at(
                    value.at.clone(),
                    Fault::Value {
                        key: self.dotted(key),
                        why: "expected a table { … } in the list, got a value".into(),
                    },
                )),
            })
            .collect()
    }

    /// Every entry of the table by name, for tables whose keys are the user's own.
    pub fn all(&self) -> impl Iterator<Item = (&'t str, &'t Node)> + use<'t> {
        self.table.entries.iter().map(|entry| (entry.key.as_str(), &entry.node))
    }

    fn missing(&self, key: &'static str, want: &str) -> SpecError {
        // A misspelt key is reported as that, not as the absence of the right one.
        self.table
            .entries
            .iter()
            .filter(|entry| !self.asked.borrow().contains(&entry.key.as_str()))
            .find(|entry| nearest(&entry.key, [key]).is_some())
            .map(|entry| {
                SpecError::at(
                    entry.at.clone(),
                    Fault::UnknownKey {
                        table: self.name(),
                        key: entry.key.clone(),
                        meant: Some(key.to_string()),
                        known: self.known(),
                    },
                )
            })
            .unwrap_or_else(|| {
                SpecError::at(
                    self.table.at.clone(),
                    Fault::Missing { table: self.name(), key: key.to_string(), want: want.to_string() },
                )
            })
    }

    fn known(&self) -> String {
        let mut known = self.asked.borrow().clone();
        known.sort_unstable();
        known.dedup();
        known.join(", ")
    }

    /// An error for the first key that was never asked for.
    pub fn finish(self) -> Result<(), SpecError> {
        let asked = self.asked.borrow();
        match self.table.entries.iter().find(|entry| !asked.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => Err(SpecError::at(
                entry.at.clone(),
                Fault::UnknownKey {
                    table: self.name(),
                    key: entry.key.clone(),
                    meant: nearest(&entry.key, asked.iter().copied()),
                    known: self.known(),
                },
            )),
        }
    }
}
