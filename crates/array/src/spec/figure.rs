//! One figure of a description, with its place and what it rests on.

use document::{Confidence, Node, Table, TextSpan, Value};

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
    pub at: TextSpan,
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
    for (key, node) in table.iter() {
        if !matches!(key.text.as_str(), "name" | "about" | "part" | "options" | "inherits") {
            walk(&key.text, node, &mut figures);
        }
    }
    figures
}

fn walk(key: &str, node: &Node, figures: &mut Vec<Figure>) {
    if let Some(table) = node.table() {
        return table.iter().for_each(|(inner, node)| walk(&format!("{key}.{}", inner.text), node, figures));
    }
    let basis = node.basis.as_deref();
    figures.push(Figure {
        key: key.to_string(),
        value: node.shown(),
        source: basis.and_then(|basis| basis.source.clone()),
        confidence: basis.and_then(|basis| basis.confidence),
        at: node.place.clone(),
        measured: measured(node),
    });
}

/// Whether a value is a measure: a number, or a text that starts with a digit.
fn measured(node: &Node) -> bool {
    match &node.value {
        Value::Integer(_) | Value::Float(_) | Value::Table(_) => true,
        Value::Text(text) => text.starts_with(|first: char| first.is_ascii_digit()),
        Value::List(items) => items.iter().any(measured),
        Value::Bool(_) | Value::Date(_) => false,
    }
}
