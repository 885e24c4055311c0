//! Parts of the path to the media that the kernel does not report, or reports wrongly: a small TOML file.
//!
//! ```toml
//! [[part]]
//! name = "eth0"             # a part of the path: its ceilings of these kinds are replaced
//! bandwidth = "112MB/s"
//!
//! [[part]]
//! name = "controller"       # a part that the kernel does not see
//! under = "eth0"
//! kind = "array controller"
//! requests = 90000          # a second
//! in_flight = 256
//! cache = "2GiB"            # memory that may serve requests in place of what lies below
//! source = "data sheet"
//! ```
//!
//! **Invariant:** every mistake has its place, all are told at once, and with one nothing is changed.

use std::collections::BTreeSet;

use document::{Errors, Fields, Mistakes, Read, SourceText, TextSpan, Wrong};
use record::names::{ceiling, fact};
use record::{Ceiling, PathPart};
use units::{Bytes, BytesPerSecond};

/// Parts as given, all of them sound by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    given: Vec<Given>,
}

#[derive(Clone, Debug, PartialEq)]
struct Given {
    name: String,
    /// Where it is named.
    at: TextSpan,
    kind: Option<String>,
    /// The part above it, and where that is named.
    under: Option<(String, TextSpan)>,
    ceilings: Vec<Ceiling>,
    cache: Option<Bytes>,
}

impl Given {
    /// Facts of the part other than its ceilings.
    fn facts(&self) -> impl Iterator<Item = (String, String)> {
        self.cache.iter().map(|size| (fact::CACHE.to_owned(), size.exact()))
    }
}

impl Parts {
    /// Reads the text of `file`, whose name is for messages only.
    pub fn read(file: &str, text: &str) -> Result<Parts, Errors> {
        let mistakes = Mistakes::default();
        let source = SourceText::new(file, text, 0);
        let table = document::parse(&source, |key| format!("keep one `{key}`"), &mistakes);
        let parts = table.map(|table| {
            let fields = Fields::new("", &table, &TextSpan::new(&source, 0..0), &mistakes);
            let given: Vec<Given> = fields.tables("part").iter().map(|part| read(part, file)).collect();
            fields.finish();
            names_stand_once(&given, &mistakes);
            Parts { given }
        });
        mistakes.finish(parts)
    }

    /// Puts the parts into `paths`: ceilings of a known part are replaced, a new one is added below `under`.
    ///
    /// Fails, and changes nothing, where a name is in none of the paths.
    pub fn apply(&self, paths: &mut [PathPart]) -> Result<(), Errors> {
        let mistakes = Mistakes::default();
        let mut changed = paths.to_vec();
        for given in &self.given {
            let known: BTreeSet<String> =
                changed.iter().flat_map(PathPart::all).map(|part| part.name.clone()).collect();
            let (name, at) = match &given.under {
                Some((under, at)) if !known.contains(&given.name) => (under, at),
                _ => (&given.name, &given.at),
            };
            if !known.contains(name) {
                mistakes.wrong(at, stranger(name, &known));
            }
            changed.iter_mut().for_each(|path| put(path, name, given));
        }
        mistakes.into_result()?;
        paths.clone_from_slice(&changed);
        Ok(())
    }
}

fn stranger(name: &str, known: &BTreeSet<String>) -> Wrong {
    let known = known.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let help = "to add a part, set `under` to the name of the part above it";
    Wrong::new(format!("no part `{name}` in the path, which has {known}"), help)
}

fn put(part: &mut PathPart, name: &str, given: &Given) {
    part.below.iter_mut().for_each(|below| put(below, name, given));
    if part.name != name || part.repeated {
        return;
    }
    if name == given.name {
        part.ceilings.retain(|old| !given.ceilings.iter().any(|new| new.what == old.what));
        part.ceilings.extend(given.ceilings.iter().cloned());
        part.kind = given.kind.clone().unwrap_or_else(|| part.kind.clone());
        part.facts.extend(given.facts());
    } else {
        part.below.push(PathPart {
            name: given.name.clone(),
            kind: given.kind.clone().unwrap_or_else(|| "given part".into()),
            ceilings: given.ceilings.clone(),
            facts: given.facts().collect(),
            ..PathPart::default()
        });
    }
}

/// One `[[part]]` of `file`.
fn read(fields: &Fields<'_>, file: &str) -> Given {
    let name: String = fields.need("name");
    let under = fields.get::<String>("under").map(|under| (under, fields.place_of("under")));
    let ceilings = ceilings(fields, file);
    let cache: Option<Bytes> = fields.get("cache");
    fields.check(&["cache"], cache != Some(Bytes::ZERO), "expected a cache size above zero, or no `cache`");
    let (kind, at) = (fields.get("kind"), fields.place_of("name"));
    fields.finish();
    if fields.is_sound() && ceilings.is_empty() && cache.is_none() && under.is_none() {
        let help = "give bandwidth = \"112MB/s\", requests = 90000, in_flight = 32, request_size = \"64KiB\" or \
                    cache = \"512MiB\"";
        fields.mistakes().wrong(&at, Wrong::new(format!("part `{name}` has no ceiling"), help));
    }
    Given { name, at, kind, under, ceilings, cache }
}

fn names_stand_once(given: &[Given], mistakes: &Mistakes) {
    let mut names = BTreeSet::new();
    for part in given.iter().filter(|part| !names.insert(&part.name)) {
        let message = format!("duplicate part `{}`", part.name);
        mistakes.wrong(&part.at, Wrong::new(message, "put all of it into one [[part]]"));
    }
}

fn ceilings(fields: &Fields<'_>, file: &str) -> Vec<Ceiling> {
    let source: String = fields.or("source", file.into());
    let each_way = fields.or("each_way", false);
    let made = |(what, value, unit): (&str, Option<f64>, &str)| {
        Some(Ceiling {
            what: what.into(),
            value: value?,
            unit: unit.into(),
            each_way: what == ceiling::BANDWIDTH && each_way,
            basis: "as given".into(),
            source: source.clone(),
        })
    };
    let kinds = [
        (ceiling::BANDWIDTH, positive(fields, "bandwidth", BytesPerSecond::get), "bytes_per_s"),
        (ceiling::REQUESTS, positive(fields, "requests", |rate: f64| rate), "per_s"),
        (ceiling::IN_FLIGHT, positive(fields, "in_flight", |count: f64| count), "count"),
        (ceiling::REQUEST_SIZE, positive(fields, "request_size", Bytes::as_f64), "bytes"),
    ];
    kinds.into_iter().filter_map(made).collect()
}

/// The value of `key` as a number, which is above zero.
fn positive<T: Read>(fields: &Fields<'_>, key: &'static str, number: impl Fn(T) -> f64) -> Option<f64> {
    let value = number(fields.get(key)?);
    let sound = value.is_finite() && value > 0.0;
    fields.check(&[key], sound, format!("expected a ceiling above zero, got {value}"));
    Some(value)
}
