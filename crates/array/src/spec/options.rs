//! The options a description takes, and what choosing one of their values changes.
//!
//! An option either *sets* keys to the value typed, within `values` or `range`, or offers *choices*, each a named
//! set of changes laid over the file (firmware releases, protocols).
//!
//! **Invariant:** named sets are laid over before values are set, so that what was typed always wins.

use std::sync::Arc;

use document::{Basis, Fields, Mistakes, Node, Read, Table, TextSpan, Value, Wrong, implied, nearest};

use super::address::Address;
use super::tree::{File, overlay, set};

/// One option, as `fathom array show` prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// As in `?NAME=`.
    pub name: String,
    /// What it decides, in a sentence.
    pub about: String,
    /// Which values may be written.
    pub takes: Takes,
    /// Taken where the address does not say. `None`: the figures stand as the file has them.
    pub default: Option<String>,
    /// The dotted keys that it sets, or the tables that its choices change: `raid.level`, `link`.
    pub changes: Vec<String>,
}

/// The values of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// One of these.
    Values(Vec<String>),
    /// A whole number, both ends included.
    Range(i64, i64),
    /// Anything that the keys it sets can hold.
    Any,
}

impl Takes {
    /// In words, for lists and errors.
    pub fn text(&self) -> String {
        match self {
            Takes::Values(values) => values.join(", "),
            Takes::Range(least, most) => format!("{least} to {most}"),
            Takes::Any => "any value".into(),
        }
    }
}

/// What was chosen for one option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Chosen {
    /// The option, or a dotted figure.
    pub option: String,
    /// As it is written.
    pub value: String,
    /// Whether the address said so, rather than the option's default.
    pub typed: bool,
}

struct Declared {
    spec: OptionSpec,
    sets: Vec<String>,
    choices: Vec<(String, Table)>,
}

/// The options that a loaded file declares.
pub(super) fn declared(file: &File, mistakes: &Mistakes) -> Vec<OptionSpec> {
    read_all(file, mistakes).into_iter().map(|option| option.spec).collect()
}

/// Applies the address to the loaded file; what was chosen comes back, defaults among it.
pub(super) fn apply(file: &mut File, address: &Address, mistakes: &Mistakes) -> Vec<Chosen> {
    let options = read_all(file, mistakes);
    for (name, _) in address.settings.iter().filter(|(name, _)| !name.contains('.')) {
        if !options.iter().any(|option| option.spec.name == *name) {
            mistakes.wrong(&address.place_of(name), unknown_option(address, name, &options));
        }
    }
    let mut chosen = Vec::new();
    for option in &options {
        let name = &option.spec.name;
        let typed = address.settings.iter().find(|(known, _)| known == name);
        let Some(value) = typed.map(|(_, value)| value.clone()).or_else(|| option.spec.default.clone())
        else {
            continue;
        };
        let Some(()) = mistakes.take(&address.place_of(name), check(option, &value, address)) else {
            continue;
        };
        chosen.push(Chosen { option: name.clone(), value, typed: typed.is_some() });
    }
    // An option is chosen once, in the order of the options.
    let of_chosen = || chosen.iter().filter_map(|taken| Some((taken, find(&options, &taken.option)?)));
    for (taken, option) in of_chosen() {
        if let Some((_, changes)) = option.choices.iter().find(|(name, _)| *name == taken.value) {
            overlay(&mut file.table, changes.clone());
        }
    }
    for (taken, option) in of_chosen() {
        for path in &option.sets {
            set(&mut file.table, path, typed_value(&address.place_of(&taken.option), &taken.value));
        }
    }
    for (path, value) in address.settings.iter().filter(|(name, _)| name.contains('.')) {
        set(&mut file.table, path, typed_value(&address.place_of(path), value));
        chosen.push(Chosen { option: path.clone(), value: value.clone(), typed: true });
    }
    file.table.remove("options");
    chosen
}

fn find<'o>(options: &'o [Declared], name: &str) -> Option<&'o Declared> {
    options.iter().find(|option| option.spec.name == name)
}

/// The end of a sentence about a name that is not known.
fn instead<'n>(typed: &str, names: impl Iterator<Item = &'n str>, known: &str) -> String {
    let near =
        nearest(typed, names).map_or("it takes".into(), |near| format!("did you mean `{near}`? It takes"));
    format!("{near} {known}")
}

fn unknown_option(address: &Address, name: &str, options: &[Declared]) -> Wrong {
    let names = || options.iter().map(|option| option.spec.name.as_str());
    let known = if options.is_empty() { "none".to_string() } else { names().collect::<Vec<_>>().join(", ") };
    let known = format!("{known}, and any figure by its dotted name, as cache.size=1GiB");
    Wrong::new(format!("`{}` takes no option `{name}`", address.name), instead(name, names(), &known))
}

fn check(option: &Declared, value: &str, address: &Address) -> Result<(), Wrong> {
    let OptionSpec { name, takes, .. } = &option.spec;
    let (fits, known) = match takes {
        Takes::Any => (true, &[][..]),
        Takes::Range(least, most) => {
            (value.parse::<i64>().is_ok_and(|number| (*least..=*most).contains(&number)), &[][..])
        }
        Takes::Values(values) => (values.iter().any(|known| known == value), &values[..]),
    };
    if fits {
        return Ok(());
    }
    let message = format!("option `{name}` of `{}` cannot be `{value}`", address.name);
    let wrong = Wrong::new(message, instead(value, known.iter().map(String::as_str), &takes.text()));
    let is_unread = match takes {
        // A count is none below zero, whatever stands beside it.
        Takes::Range(least, _) => value.parse::<i64>().map_or(true, |number| number < 0 && *least >= 0),
        Takes::Values(_) | Takes::Any => true,
    };
    Err(if is_unread { wrong.unread() } else { wrong })
}

/// What was typed in an address, as the value that TOML would have read.
fn typed_value(at: &TextSpan, text: &str) -> Node {
    let value = match text {
        "true" | "false" => Value::Bool(text == "true"),
        _ if text.contains(',') => {
            let parts = text.split(',').filter(|part| !part.is_empty());
            Value::List(parts.map(|part| typed_value(at, part)).collect())
        }
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Value::Integer(number.to_string()),
            (_, Ok(number)) if number.is_finite() => Value::Float(number.to_string()),
            _ => Value::Text(text.into()),
        },
    };
    let basis = Basis { source: Some("typed in the address".into()), ..Basis::default() };
    Node { basis: Some(Arc::new(basis)), ..implied(at, value) }
}

fn read_all(file: &File, mistakes: &Mistakes) -> Vec<Declared> {
    let options = file.table.get("options").and_then(Node::table);
    let one = |(key, node): (&document::Key, &Node)| match node.table() {
        Some(table) => Some(read_one(
            &key.text,
            Fields::new(format!("options.{}", key.text), table, &key.place, mistakes),
        )),
        // `options.protocol = "none"` takes an inherited option away.
        None if node.is("none") => None,
        None => {
            let why = "an option is a table with `about` and `sets` or `choice`, or \"none\"";
            mistakes.wrong(&node.place, Wrong::said(format!("`options.{}`: {why}", key.text)));
            None
        }
    };
    options.into_iter().flat_map(Table::iter).filter_map(one).collect()
}

fn read_one(name: &str, fields: Fields<'_>) -> Declared {
    let about = fields.need("about");
    let default = fields.get::<String>("default");
    let values = fields.get::<Vec<Word>>("values");
    let range = fields.get::<(i64, i64)>("range");
    let sets = fields.or("sets", Words::default()).0;
    let choices: Vec<(String, Table)> =
        fields.table("choice").map(|choice| choices(&choice)).unwrap_or_default();
    let takes = match (values, range) {
        (Some(values), None) => Takes::Values(values.into_iter().map(|word| word.0).collect()),
        (None, Some((least, most))) => Takes::Range(least, most),
        _ if choices.is_empty() => Takes::Any,
        _ => Takes::Values(choices.iter().map(|(name, _)| name.clone()).collect()),
    };
    let given = ["values", "range", "choice"].iter().filter(|key| fields.says(key)).count();
    fields.check(&["about"], given < 2, "give one of `values`, `range` and `choice`");
    let changes_any = !sets.is_empty() || !choices.is_empty();
    fields.check(
        &["about", "sets", "choice"],
        changes_any,
        "the option changes nothing; give `sets` or `choice`",
    );
    fields.finish();
    let changes = if sets.is_empty() { tables(&choices) } else { sets.clone() };
    Declared { spec: OptionSpec { name: name.into(), about, takes, default, changes }, sets, choices }
}

/// The tables that any of the choices changes, each once, in the order written.
fn tables(choices: &[(String, Table)]) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for (key, node) in choices.iter().flat_map(|(_, changes)| changes.iter()) {
        if node.table().is_some() && !tables.contains(&key.text) {
            tables.push(key.text.clone());
        }
    }
    tables
}

/// What each choice of an option changes, by its name.
fn choices(fields: &Fields<'_>) -> Vec<(String, Table)> {
    let one = |(key, node): (&document::Key, &Node)| {
        let table = node.table().map(|table| (key.text.clone(), table.clone()));
        fields.check(&[&key.text], table.is_some(), "a choice is a table of what it changes");
        table.unwrap_or_else(|| (key.text.clone(), Table::default()))
    };
    fields.all().map(one).collect()
}

/// A text or a number, as text: option values such as `5` and `1e` stand side by side.
struct Word(String);

impl Read for Word {
    const WANT: &'static str = "a text or a number";
    fn read(node: &Node) -> Result<Self, Wrong> {
        match node.value {
            Value::Text(_) | Value::Integer(_) | Value::Bool(_) => Ok(Word(node.shown())),
            _ => Err(Self::not(node)),
        }
    }
}

/// One dotted key, or a list of them.
#[derive(Default)]
struct Words(Vec<String>);

impl Read for Words {
    const WANT: &'static str = "a dotted key such as \"raid.level\", or a list of them";
    fn read(node: &Node) -> Result<Self, Wrong> {
        document::one_or_more(node).map(Words)
    }
}
