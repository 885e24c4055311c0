//! Files of arrays and devices as trees of figures, and how they lie over one another.

use document::{Key, Mistakes, Node, SourceText, Table, TextSpan, Value, figures, implied};

/// The whole of a file, with what lies below and above it.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Its keys.
    pub table: Table,
    /// Its start.
    pub at: TextSpan,
}

/// Reads `text`; `label` is what errors call it. `None` where it is not TOML.
pub(super) fn parse(label: &str, text: &str, mistakes: &Mistakes) -> Option<File> {
    let mut file = parse_plain(label, text, mistakes)?;
    figures(&mut file.table, mistakes);
    Some(file)
}

/// Reads `text`, where `value`, `source` and `confidence` are keys like any other.
pub(super) fn parse_plain(label: &str, text: &str, mistakes: &Mistakes) -> Option<File> {
    let source = SourceText::new(label, text, 0);
    let table = document::parse(&source, |key| format!("keep one `{key}`"), mistakes)?;
    Some(File { table, at: TextSpan::new(&source, 0..0) })
}

/// Puts `over` on top: its values replace, its tables merge.
///
/// An option declared again with `sets` is replaced whole; one with only a `choice` adds to the choices there are. Devices that are
/// named in one of the two ways take the place of those named in the other.
pub(super) fn overlay(table: &mut Table, over: Table) {
    for (key, node) in over {
        match (table.get_mut(&key.text).and_then(Node::table_mut), node) {
            (Some(mine), Node { value: Value::Table(over), .. }) if key.text == "options" => {
                redeclare(mine, over);
            }
            (Some(mine), Node { value: Value::Table(over), .. }) => {
                if key.text == DEVICES {
                    displace(mine, &over);
                }
                overlay(mine, over);
            }
            (_, node) => table.put(key, node),
        }
    }
}

/// The table that names devices, by `model` and `count` or by `mix`.
const DEVICES: &str = "devices";

/// Takes out of `devices` what `over`, which names them in the other way, replaces.
fn displace(devices: &mut Table, over: &Table) {
    if over.get("mix").is_some() {
        devices.remove("model");
        devices.remove("count");
    } else if over.get("model").and_then(Node::scalar).is_some_and(|model| model != "none") {
        devices.remove("mix");
    }
}

fn redeclare(table: &mut Table, over: Table) {
    for (key, node) in over {
        let adds = node.table().is_some_and(|option| option.get("sets").is_none());
        match (table.get_mut(&key.text).and_then(Node::table_mut), node) {
            (Some(mine), Node { value: Value::Table(option), .. }) if adds => overlay(mine, option),
            (_, node) => table.put(key, node),
        }
    }
}

/// Sets the value at a dotted path, making tables on the way.
pub(super) fn set(table: &mut Table, path: &str, node: Node) {
    let key = |text: &str| Key { text: text.to_owned(), place: node.place.clone() };
    let Some((first, rest)) = path.split_once('.') else { return table.put(key(path), node) };
    if table.get(first).and_then(Node::table).is_none() {
        table.put(key(first), implied(&node.place, Value::Table(Table::default())));
    }
    let inner = table.get_mut(first).and_then(Node::table_mut).expect("a table was put there");
    if first == DEVICES && !rest.contains('.') {
        let mut one = Table::default();
        one.put(key(rest), node);
        displace(inner, &one);
        return overlay(inner, one);
    }
    set(inner, rest, node);
}
