//! Documents whose values are figures, each with what it rests on.
//!
//! A figure is a bare value, or `{ value = …, source = "…", confidence = "high" }`. A bare value rests on the `source`
//! and `confidence` of its table, or of the nearest table around it that has them.

use std::sync::Arc;

use crate::mistakes::{Mistakes, Wrong};
use crate::nearest::nearest;
use crate::tree::{Node, Table, Value};

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

/// What a figure rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// A public document, a measurement, or a stated fit. `None`: nobody says.
    pub source: Option<String>,
    /// How sure it is.
    pub confidence: Option<Confidence>,
}

/// The keys of a table that is one figure.
const KEYS: [&str; 3] = ["value", "source", "confidence"];

/// Gives every value of `table` its [`Node::basis`], and makes a value of each table that is a figure. No `source` and
/// no `confidence` is left among the keys.
pub fn figures(table: &mut Table, mistakes: &Mistakes) {
    within(table, &Arc::default(), mistakes);
}

fn within(table: &mut Table, outer: &Arc<Basis>, mistakes: &Mistakes) {
    let basis = basis(table, outer, mistakes);
    table.iter_mut().for_each(|(_, node)| rest(node, &basis, mistakes));
}

fn rest(node: &mut Node, outer: &Arc<Basis>, mistakes: &Mistakes) {
    match &mut node.value {
        Value::Table(table) => {
            let Some(value) = table.remove("value") else { return within(table, outer, mistakes) };
            let basis = basis(table, outer, mistakes);
            for (key, _) in table.iter() {
                let message = format!("`a figure` has no key `{}`", key.text);
                let near = nearest(&key.text, KEYS).map(|near| format!("did you mean `{near}`? It takes "));
                let help = near.unwrap_or_else(|| "it takes ".into()) + &KEYS.join(", ");
                mistakes.wrong(&key.place, Wrong::new(message, help));
            }
            *node = value;
            match &node.value {
                Value::Table(_) => {
                    let wrong = Wrong::new("`value`: a table cannot be a figure's value", "write one value");
                    mistakes.wrong(&node.place, wrong);
                }
                _ => rest(node, &basis, mistakes),
            }
        }
        Value::List(items) => {
            items.iter_mut().for_each(|item| rest(item, outer, mistakes));
            node.basis = Some(Arc::clone(outer));
        }
        _ => node.basis = Some(Arc::clone(outer)),
    }
}

/// Takes `source` and `confidence` out of a table: what its values rest on.
fn basis(table: &mut Table, outer: &Arc<Basis>, mistakes: &Mistakes) -> Arc<Basis> {
    let mut text = |key: &str| {
        let node = table.remove(key)?;
        match node.value {
            Value::Text(text) => Some((text, node.place)),
            _ => {
                mistakes.wrong(&node.place, Wrong::said(format!("`{key}`: write a text in quotes")));
                None
            }
        }
    };
    let confidence = text("confidence").and_then(|(name, place)| match name.as_str() {
        "low" => Some(Confidence::Low),
        "medium" => Some(Confidence::Medium),
        "high" => Some(Confidence::High),
        _ => {
            let message = format!("`confidence`: `{name}` is not a confidence");
            mistakes.wrong(&place, Wrong::new(message, "write high, medium or low"));
            None
        }
    });
    let source = text("source").map(|(source, _)| source);
    if source.is_none() && confidence.is_none() {
        return Arc::clone(outer);
    }
    // A source of its own with no confidence says nothing about how sure the outer source was.
    let confidence = if source.is_some() { confidence } else { confidence.or(outer.confidence) };
    Arc::new(Basis { source: source.or_else(|| outer.source.clone()), confidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use crate::source::SourceText;

    fn read(text: &str) -> (Table, Mistakes) {
        let mistakes = Mistakes::default();
        let mut table = parse(&SourceText::new("f.toml", text, 0), |_| String::new(), &mistakes).unwrap();
        figures(&mut table, &mistakes);
        (table, mistakes)
    }

    #[test]
    fn a_figure_rests_on_what_it_says_or_on_the_nearest_table_around_it() {
        let text = "source = \"a\"\nconfidence = \"high\"\nx = 1\n[t]\nsource = \"b\"\ny = [1]\n\
                    z = { value = 2, confidence = \"low\" }\n";
        let (table, mistakes) = read(text);
        assert!(mistakes.none());
        let inner = table.get("t").and_then(Node::table).unwrap();
        let rests = |node: &Node| {
            let basis = node.basis.as_deref().unwrap();
            (basis.source.clone().unwrap(), basis.confidence)
        };
        assert_eq!(rests(table.get("x").unwrap()), ("a".into(), Some(Confidence::High)));
        // Another source says nothing about how sure the outer one was.
        assert_eq!(rests(inner.get("y").unwrap()), ("b".into(), None));
        assert_eq!(rests(inner.get("z").unwrap()), ("b".into(), Some(Confidence::Low)));
        assert_eq!(inner.get("z").and_then(Node::scalar).as_deref(), Some("2"));
        assert!(table.get("source").is_none() && inner.get("source").is_none());
    }

    #[test]
    fn what_is_no_figure_is_told() {
        let (_, mistakes) = read("x = { value = {} }\ny = { value = 1, sorce = \"a\" }\nconfidence = 3\n");
        let errors = mistakes.into_result().unwrap_err();
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[1].contains("did you mean `source`?"), "{told:?}");
    }
}
