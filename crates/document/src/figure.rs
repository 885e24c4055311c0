//! Documents whose values are figures, each with what it rests on.
//!
//! A figure is a bare value, or `{ value = …, source = "…", confidence = "high" }`. A bare value rests on the `source`
//! and `confidence` of its table, or of the nearest table around it that has them. A figure that was fitted also has the
//! `bounds` that it was fitted within.

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
    /// Of a figure that was fitted, what it was fitted within.
    pub fitted: Option<Fitted>,
}

/// What a figure was fitted within.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The least and the most that it may be, as written.
    pub bounds: [String; 2],
    /// Figures of the same file that are what it is: in the same table by their keys, elsewhere dotted.
    pub also: Vec<String>,
}

/// The keys of a table that is one figure.
const KEYS: [&str; 5] = ["value", "source", "confidence", "bounds", "also"];

/// Gives every value of `table` its [`Node::basis`], and makes a value of each table that is a figure. No `source` and
/// no `confidence` is left among the keys.
pub fn figures(table: &mut Table, mistakes: &Mistakes) {
    within(table, &Arc::default(), mistakes);
    debug_assert!(
        ["source", "confidence"].iter().all(|key| table.get(key).is_none()),
        "what figures rest on is taken from the keys of their table"
    );
}

fn within(table: &mut Table, outer: &Arc<Basis>, mistakes: &Mistakes) {
    let basis = basis(table, outer, mistakes);
    table.iter_mut().for_each(|(_, node)| rest(node, &basis, mistakes));
}

fn rest(node: &mut Node, outer: &Arc<Basis>, mistakes: &Mistakes) {
    match &mut node.value {
        Value::Table(table) => {
            let Some(value) = table.remove("value") else { return within(table, outer, mistakes) };
            let mut basis = basis(table, outer, mistakes);
            if let Some(fitted) = fitted(table, mistakes) {
                basis = Arc::new(Basis { fitted: Some(fitted), ..Basis::clone(&basis) });
            }
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
    Arc::new(Basis { source: source.or_else(|| outer.source.clone()), confidence, fitted: None })
}

/// Takes `bounds` and `also` out of the table of a figure.
fn fitted(table: &mut Table, mistakes: &Mistakes) -> Option<Fitted> {
    let (bounds, also) = (table.remove("bounds"), table.remove("also"));
    let texts = |node: &Node, right: &str| {
        let texts = match &node.value {
            Value::List(items) => items.iter().map(Node::scalar).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        mistakes.take(&node.place, texts.ok_or_else(|| Wrong::said(right.to_owned())))
    };
    let names = also.as_ref().and_then(|node| {
        texts(node, "`also`: write the keys of figures that are the same: also = [\"server_write\"]")
    });
    let Some(node) = bounds else {
        if let Some(also) = also {
            let help = "`also`: only a figure with `bounds` says what is the same";
            mistakes.wrong(&also.place, Wrong::said(help));
        }
        return None;
    };
    const RIGHT: &str =
        "`bounds`: write the least and the most that it may be: bounds = [\"20us\", \"80us\"]";
    let both = texts(&node, RIGHT)?;
    let both = <[String; 2]>::try_from(both).map_err(|_| Wrong::said(RIGHT));
    let bounds = mistakes.take(&node.place, both)?;
    Some(Fitted { bounds, also: names.unwrap_or_default() })
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
    fn a_fitted_figure_has_bounds_and_its_neighbours_have_none() {
        let text = "x = { value = \"5us\", bounds = [\"1us\", \"9us\"], also = [\"y\"] }\ny = 1\n";
        let (table, mistakes) = read(text);
        assert!(mistakes.none());
        let fitted = |key: &str| table.get(key).unwrap().basis.as_deref().unwrap().fitted.clone();
        let expected = Fitted { bounds: ["1us".into(), "9us".into()], also: vec!["y".into()] };
        assert_eq!((fitted("x"), fitted("y")), (Some(expected), None));
    }

    #[test]
    fn bounds_that_are_not_two_values_are_told() {
        for bad in ["bounds = 3", "bounds = [1]", "bounds = [1, {}]", "also = [\"y\"]"] {
            let (_, mistakes) = read(&format!("x = {{ value = 1, {bad} }}\n"));
            assert!(mistakes.into_result().unwrap_err().to_string().contains("bounds"), "{bad}");
        }
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
