//! Variables: `[vars]` gives each a default, `--var NAME=VALUE` another value, and `{NAME}` in a text stands for it.
//!
//! **Invariant:** what `{NAME}` stands for is put in before any value is read, so that a variable may be anything that a
//! value may be. A name that is neither declared nor of the phase's own template is a mistake.

use std::collections::BTreeMap;

use document::{Mistakes, Node, SourceText, Table, TextSpan, Value, argument, nearest};

use super::keys::{self, Level};

/// Before the name of a variable in what the command line sets.
const SET: &str = "vars.";
/// What a user types to set one.
const SWITCH: &str = "--var";

/// Whether this `KEY=VALUE` sets a variable.
pub(crate) fn is_of_one(text: &str) -> bool {
    text.starts_with(SET)
}

/// Takes `[vars]` out of `root`, and puts the value of each into every text with its name.
pub(crate) fn fill(root: &mut Table, set: &[String], mistakes: &Mistakes) {
    let mut values = declared(root, mistakes);
    for (index, text) in set.iter().enumerate() {
        if let Some(text) = text.strip_prefix(SET) {
            assign(&mut values, text, index + 1, mistakes);
        }
    }
    for (key, node) in root.iter_mut() {
        let is_prose = key.text == "tags";
        visit(&key.text, node, &values, is_prose, mistakes);
    }
}

fn declared(root: &mut Table, mistakes: &Mistakes) -> BTreeMap<String, Node> {
    let Some(node) = root.remove("vars") else { return BTreeMap::new() };
    let Some(table) = node.table() else {
        mistakes.wrong(&node.place, node.not("a table", "[vars] on a line of its own"));
        return BTreeMap::new();
    };
    let mut values = BTreeMap::new();
    for (key, node) in table.iter() {
        let levels = [Level::Phase, Level::Workload, Level::WorkloadOnly];
        if !is_name(&key.text) {
            let help = "letters, digits, - and _, with a letter first";
            mistakes.tell(&key.place, format!("`{}` is no name of a variable", key.text), help);
        } else if keys::at(&levels, &key.text).is_some() {
            let message = format!("`{}` is a key, whose value `{{{0}}}` stands for in names", key.text);
            mistakes.tell(&key.place, message, "give the variable another name");
        } else {
            values.insert(key.text.clone(), node.clone());
        }
    }
    values
}

fn assign(values: &mut BTreeMap<String, Node>, text: &str, order: usize, mistakes: &Mistakes) {
    let source = SourceText::new(SWITCH, text, order);
    let Some((name, value)) = text.split_once('=') else {
        let whole = TextSpan::new(&source, 0..text.len());
        return mistakes.tell(
            &whole,
            format!("`{text}` has no `=`"),
            "write --var NAME=VALUE, as in --var size=8KiB",
        );
    };
    let place = TextSpan::new(&source, 0..name.trim_end().len());
    let name = name.trim();
    let Some(known) = values.get_mut(name) else {
        let near = nearest(name, values.keys().map(String::as_str));
        let help = match (near, values.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "the plan has no [vars]".into(),
            (None, false) => {
                format!("the plan has {}", values.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
            }
        };
        return mistakes.tell(&place, format!("`{name}` is no variable of the plan"), help);
    };
    let start = text.len() - value.len();
    let start = start + (value.len() - value.trim_start().len());
    *known = argument(&source, start..start + value.trim().len());
}

fn visit(key: &str, node: &mut Node, values: &BTreeMap<String, Node>, is_prose: bool, mistakes: &Mistakes) {
    let is_prose = is_prose || key == "name" || key == "about";
    let place = node.place.clone();
    match &mut node.value {
        Value::List(items) => {
            items.iter_mut().for_each(|item| visit(key, item, values, is_prose, mistakes));
        }
        Value::Table(table) => {
            for (key, node) in table.iter_mut() {
                visit(&key.text, node, values, is_prose, mistakes);
            }
        }
        Value::Text(text) => {
            if let Some(filled) = filled(text, values, is_prose, &place, mistakes) {
                node.value = filled;
            }
        }
        Value::Integer(_) | Value::Float(_) | Value::Bool(_) | Value::Date(_) => {}
    }
}

/// The text with what its variables stand for; none where it has none.
fn filled(
    text: &str,
    values: &BTreeMap<String, Node>,
    is_prose: bool,
    place: &TextSpan,
    mistakes: &Mistakes,
) -> Option<Value> {
    let whole =
        text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|name| values.get(name));
    if let Some(whole) = whole {
        return Some(whole.value.clone());
    }
    let mut out = String::new();
    let mut rest = text;
    let mut is_changed = false;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        if let Some(behind) = from.strip_prefix("{{") {
            out.push_str("{{");
            rest = behind;
            continue;
        }
        let Some(name) = from[1..].find('}').map(|end| &from[1..=end]).filter(|name| is_name(name)) else {
            out.push('{');
            rest = &from[1..];
            continue;
        };
        match values.get(name).map(Node::scalar) {
            Some(Some(value)) => {
                out.push_str(&value);
                is_changed = true;
            }
            Some(None) => {
                let message = format!("`{{{name}}}` stands for more than one value");
                mistakes.tell(place, message, "let it be all of the text");
            }
            None if is_prose => {
                out.push_str(&from[..name.len() + 2]);
            }
            None => {
                let near = nearest(name, values.keys().map(String::as_str));
                let help = near.map_or_else(
                    || format!("give it a default: [vars] and {name} = ... below it"),
                    |near| format!("did you mean `{{{near}}}`?"),
                );
                mistakes.tell(place, format!("`{{{name}}}` is no variable of the plan"), help);
            }
        }
        rest = &from[name.len() + 2..];
    }
    out.push_str(rest);
    is_changed.then_some(Value::Text(out))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'))
}
