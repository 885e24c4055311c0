//! Where descriptions come from: a source of texts by name, the shipped library, and inheritance between files.
//!
//! **Invariant:** nothing here touches a file; whoever does hands the text in.

use std::borrow::Cow;

use super::error::{Fault, SourceLocation, SpecError, nearest};
use super::tree::{Node, Scalar, Table, Value, parse};

/// The two kinds of description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// `arrays/`.
    Array,
    /// `devices/`.
    Device,
}

impl Shelf {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Shelf::Array => "array",
            Shelf::Device => "device",
        }
    }
}

/// A description's text, and what errors call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText<'s> {
    /// A path, commonly.
    pub label: Cow<'s, str>,
    /// TOML.
    pub text: Cow<'s, str>,
}

/// Gives descriptions by name.
pub trait Source {
    /// The description of that name, or `None`.
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>>;
    /// Every name there is, for lists and for "did you mean".
    fn names(&self, shelf: Shelf) -> Vec<String>;
}

/// Looks in `first`, then in `then`: a user's own folder over the shipped library.
#[derive(Clone, Copy, Debug)]
pub struct Layered<A, B> {
    /// Wins.
    pub first: A,
    /// Asked where `first` has nothing.
    pub then: B,
}

impl<A: Source, B: Source> Source for Layered<A, B> {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        self.first.find(shelf, name).or_else(|| self.then.find(shelf, name))
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        let mut names = self.first.names(shelf);
        names.extend(self.then.names(shelf));
        names.sort();
        names.dedup();
        names
    }
}

/// The file `name` with everything it inherits beneath it. `asked_at` is who asks.
pub(super) fn load(
    source: &dyn Source,
    shelf: Shelf,
    name: &str,
    asked_at: &SourceLocation,
) -> Result<Table, SpecError> {
    load_chain(source, shelf, name, asked_at, &mut Vec::new())
}

fn load_chain(
    source: &dyn Source,
    shelf: Shelf,
    name: &str,
    asked_at: &SourceLocation,
    chain: &mut Vec<String>,
) -> Result<Table, SpecError> {
    if chain.iter().any(|seen| seen == name) {
        let chain = chain.iter().chain([&name.to_string()]).cloned().collect::<Vec<_>>().join(" → ");
        return Err(SpecError::at(asked_at.clone(), Fault::Cycle { name: name.into(), chain }));
    }
    let found = source.find(shelf, name).ok_or_else(|| {
        SpecError::at(
            asked_at.clone(),
            Fault::NoSuchFile {
                shelf: shelf.noun(),
                name: name.into(),
                meant: nearest(name, source.names(shelf).iter().map(String::as_str)),
            },
        )
    })?;
    chain.push(name.to_string());
    let table = with_parents(source, shelf, parse(&found.label, &found.text)?, chain)?;
    chain.pop();
    Ok(table)
}

/// `table` laid over the files that its `inherits` names, the last of them uppermost.
pub(super) fn with_parents(
    source: &dyn Source,
    shelf: Shelf,
    mut table: Table,
    chain: &mut Vec<String>,
) -> Result<Table, SpecError> {
    let Some(inherits) = table.remove("inherits") else { return Ok(table) };
    let mut whole = Table::empty(table.at.clone());
    for (parent, at) in parents(&inherits.node)? {
        let mut below = load_chain(source, shelf, &parent, &at, chain)?;
        // A parent's name and purpose are its own.
        ["name", "about", "part"].iter().for_each(|key| drop(below.remove(key)));
        whole.overlay(below);
    }
    whole.at = table.at.clone();
    whole.overlay(table);
    Ok(whole)
}

fn parents(node: &Node) -> Result<Vec<(String, SourceLocation)>, SpecError> {
    let wrong = |at: &SourceLocation| {
        SpecError::at(
            at.clone(),
            Fault::Value {
                key: "inherits".into(),
                why: "write the name of another file, or a list of names".into(),
            },
        )
    };
    match node {
        Node::Value(Value { what: Scalar::Text(name), at, .. }) => Ok(vec![(name.clone(), at.clone())]),
        Node::Value(Value { what: Scalar::List(items), at, .. }) => items
            .iter()
            .map(|item| match item {
                Node::Value(Value { what: Scalar::Text(name), at, .. }) => Ok((name.clone(), at.clone())),
                _ => Err(wrong(at)),
            })
            .collect(),
        other => Err(wrong(other.at())),
    }
}

/// The shipped library, carried inside the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Source for Shipped {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        let (_, label, text) = shelf_of(shelf).iter().find(|(known, _, _)| *known == name)?;
        Some(SourceText { label: Cow::Borrowed(label), text: Cow::Borrowed(text) })
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        shelf_of(shelf).iter().map(|(name, _, _)| (*name).to_string()).collect()
    }
}

type Text = (&'static str, &'static str, &'static str);

fn shelf_of(shelf: Shelf) -> &'static [Text] {
    match shelf {
        Shelf::Array => super::shipped::ARRAYS,
        Shelf::Device => super::shipped::DEVICES,
    }
}
