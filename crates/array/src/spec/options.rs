//! The options a description takes, and what choosing one of their values changes.
//!
//! An option either *sets* keys to the value typed, within `values` or `range`, or offers *choices*, each a named
//! set of changes laid over the file (firmware releases, protocols).
//!
//! **Invariant:** named sets are laid over before values are set, so that what was typed always wins.

use super::address::Address;
use super::error::{Fault, SourceLocation, SpecError, nearest};
use super::fields::Fields;
use super::tree::{Basis, Node, Scalar, Table, Value};

/// One option, as `fathom array show` prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionSpec {
    /// As in `?NAME=`.
    pub name: String,
    /// What it decides, in a sentence.
    pub about: String,
    /// What it takes.
    pub takes: Takes,
    /// Taken where the address does not say. `None`: the figures stand as the file has them.
    pub default: Option<String>,
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
    /// Its value.
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
pub(super) fn declared(root: &Table) -> Result<Vec<OptionSpec>, SpecError> {
    Ok(read_all(root)?.into_iter().map(|option| option.spec).collect())
}

/// Applies the address to the loaded file; what was chosen comes back, defaults among it.
pub(super) fn apply(root: &mut Table, address: &Address) -> Result<Vec<Chosen>, SpecError> {
    let options = read_all(root)?;
    let at = SourceLocation::of(&address.label);
    for (name, _) in address.settings.iter().filter(|(name, _)| !name.contains('.')) {
        if !options.iter().any(|option| option.spec.name == *name) {
            return Err(unknown_option(&at, address, name, &options));
        }
    }
    let mut chosen = Vec::new();
    for option in &options {
        let typed = address.settings.iter().find(|(name, _)| *name == option.spec.name);
        let Some(value) = typed.map(|(_, value)| value.clone()).or_else(|| option.spec.default.clone())
        else {
            continue;
        };
        check(option, &value, &at, address)?;
        chosen.push(Chosen { option: option.spec.name.clone(), value, typed: typed.is_some() });
    }
    for taken in &chosen {
        let option = options.iter().find(|option| option.spec.name == taken.option);
        let choice = option.and_then(|option| option.choices.iter().find(|(name, _)| *name == taken.value));
        if let Some((_, changes)) = choice {
            root.overlay(changes.clone());
        }
    }
    for taken in &chosen {
        for option in options.iter().filter(|option| option.spec.name == taken.option) {
            option.sets.iter().for_each(|path| root.set(path, typed_value(&at, &taken.value)));
        }
    }
    for (path, value) in address.settings.iter().filter(|(name, _)| name.contains('.')) {
        root.set(path, typed_value(&at, value));
        chosen.push(Chosen { option: path.clone(), value: value.clone(), typed: true });
    }
    root.remove("options");
    Ok(chosen)
}

fn unknown_option(at: &SourceLocation, address: &Address, name: &str, options: &[Declared]) -> SpecError {
    let names = || options.iter().map(|option| option.spec.name.as_str());
    let known = if options.is_empty() { "none".to_string() } else { names().collect::<Vec<_>>().join(", ") };
    SpecError::at(
        at.clone(),
        Fault::UnknownOption {
            array: address.name.clone(),
            option: name.into(),
            meant: nearest(name, names()),
            known: format!("{known}, and any figure by its dotted name, as cache.size=1GiB"),
        },
    )
}

fn check(option: &Declared, value: &str, at: &SourceLocation, address: &Address) -> Result<(), SpecError> {
    let (fits, meant) = match &option.spec.takes {
        Takes::Any => (true, None),
        Takes::Range(least, most) => {
            (value.parse::<i64>().is_ok_and(|number| (*least..=*most).contains(&number)), None)
        }
        Takes::Values(values) => {
            (values.iter().any(|known| known == value), nearest(value, values.iter().map(String::as_str)))
        }
    };
    if fits {
        return Ok(());
    }
    Err(SpecError::at(
        at.clone(),
        Fault::OptionValue {
            array: address.name.clone(),
            option: option.spec.name.clone(),
            value: value.into(),
            meant,
            known: option.spec.takes.text(),
        },
    ))
}

/// What was typed in an address, as the value that TOML would have read.
fn typed_value(at: &SourceLocation, text: &str) -> Value {
    let what = match text {
        "true" => Scalar::Truth(true),
        "false" => Scalar::Truth(false),
        _ if text.contains(',') => Scalar::List(
            text.split(',')
                .filter(|part| !part.is_empty())
                .map(|part| Node::Value(typed_value(at, part)))
                .collect(),
        ),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Scalar::Whole(number),
            (_, Ok(number)) if number.is_finite() => Scalar::Real(number),
            _ => Scalar::Text(text.into()),
        },
    };
    Value {
        at: at.clone(),
        what,
        basis: Basis { source: Some("typed in the address".into()), confidence: None },
    }
}

fn read_all(root: &Table) -> Result<Vec<Declared>, SpecError> {
    let Some(Node::Table(options)) = root.get("options").map(|entry| &entry.node) else {
        return Ok(Vec::new());
    };
    options
        .entries
        .iter()
        .filter_map(|entry| match &entry.node {
            Node::Table(table) => Some(read_one(&entry.key, table)),
            // `options.protocol = "none"` takes an inherited option away.
            Node::Value(Value { what: Scalar::Text(text), .. }) if text == "none" => None,
            Node::Value(value) => Some(Err(SpecError::at(
                value.at.clone(),
                Fault::Value {
                    key: format!("options.{}", entry.key),
                    why: "an option is a table with `about` and `sets` or `choice`, or \"none\"".into(),
                },
            ))),
        })
        .collect()
}

fn read_one(name: &str, table: &Table) -> Result<Declared, SpecError> {
    let fields = Fields::new(format!("options.{name}"), table);
    let about = fields.need("about")?;
    let default = fields.get::<String>("default")?;
    let values = fields.get::<Vec<Word>>("values")?;
    let range = fields.get::<(i64, i64)>("range")?;
    let sets = fields.get::<Words>("sets")?.map(|words| words.0).unwrap_or_default();
    let choices = match fields.table("choice")? {
        None => Vec::new(),
        Some(choice) => {
            choice.all().map(|(name, node)| changes(&choice, name, node)).collect::<Result<_, _>>()?
        }
    };
    let takes = match (values, range, choices.as_slice()) {
        (Some(values), None, []) => Takes::Values(values.into_iter().map(|word| word.0).collect()),
        (None, Some((least, most)), []) => Takes::Range(least, most),
        (None, None, []) => Takes::Any,
        (None, None, choices) => Takes::Values(choices.iter().map(|(name, _)| name.clone()).collect()),
        _ => return Err(fields.wrong("about", "give one of `values`, `range` and `choice`")),
    };
    if sets.is_empty() && choices.is_empty() {
        return Err(fields.wrong("about", "the option changes nothing; give `sets` or `choice`"));
    }
    fields.finish()?;
    Ok(Declared { spec: OptionSpec { name: name.into(), about, takes, default }, sets, choices })
}

fn changes(choice: &Fields<'_>, name: &str, node: &Node) -> Result<(String, Table), SpecError> {
    match node {
        Node::Table(table) => Ok((name.to_string(), table.clone())),
        Node::Value(_) => Err(choice.wrong(name, "a choice is a table of what it changes")),
    }
}

/// A text or a number, as text: option values such as `5` and `1e` stand side by side.
struct Word(String);

impl super::fields::Read for Word {
    const WANT: &'static str = "a text or a number";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Text(_) | Scalar::Whole(_) | Scalar::Truth(_) => Ok(Word(what.text())),
            other => Err(format!("`{}` is not {}", other.text(), Self::WANT)),
        }
    }
}

/// One dotted key, or a list of them.
struct Words(Vec<String>);

impl super::fields::Read for Words {
    const WANT: &'static str = "a dotted key such as \"raid.level\", or a list of them";
    fn read(what: &Scalar) -> Result<Self, String> {
        match what {
            Scalar::Text(text) => Ok(Words(vec![text.clone()])),
            list => Vec::<String>::read(list).map(Words),
        }
    }
}
