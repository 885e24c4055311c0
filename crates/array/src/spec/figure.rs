//! One figure of a description, with its place and what it rests on.

use super::error::SourceLocation;
use super::tree::{Confidence, Node, Scalar, Table};

/// One figure, as `fathom array show` prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Dotted: `cache.size`; a device's begin with its model and a colon.
    pub key: String,
    /// As written.
    pub value: String,
    /// A public document, a measurement, or a stated fit. `None`: nobody says.
    pub source: Option<String>,
    /// How sure it is.
    pub confidence: Option<Confidence>,
    /// Where it stands.
    pub at: SourceLocation,
    /// Whether it is a size, time, rate, share or number, rather than a name or a choice.
    pub measured: bool,
}

impl Figure {
    pub(super) fn of_device(self, model: &str) -> Figure {
        Figure { key: format!("{model}: {}", self.key), ..self }
    }
}

/// Every value of a table but its name, purpose and options, in the order written.
pub(super) fn collect(table: &Table) -> Vec<Figure> {
    let mut figures = Vec::new();
    for entry in &table.entries {
        if !matches!(entry.key.as_str(), "name" | "about" | "part" | "options" | "inherits") {
            walk(&entry.key, &entry.node, &mut figures);
        }
    }
    figures
}

fn walk(key: &str, node: &Node, figures: &mut Vec<Figure>) {
    match node {
        Node::Table(table) => {
            table
                .entries
                .iter()
                .for_each(|entry| walk(&format!("{key}.{}", entry.key), &entry.node, figures));
        }
        Node::Value(value) => figures.push(Figure {
            key: key.to_string(),
            value: value.what.text(),
            source: value.basis.source.as_deref().map(str::to_string),
            confidence: value.basis.confidence,
            at: value.at.clone(),
            measured: measured(&value.what),
        }),
    }
}

/// Whether a value is a measure: a number, or a text that starts with a digit.
fn measured(what: &Scalar) -> bool {
    match what {
        Scalar::Whole(_) | Scalar::Real(_) => true,
        Scalar::Text(text) => text.starts_with(|first: char| first.is_ascii_digit()),
        Scalar::List(items) => items.iter().any(|item| match item {
            Node::Value(value) => measured(&value.what),
            Node::Table(_) => true,
        }),
        Scalar::Truth(_) => false,
    }
}
