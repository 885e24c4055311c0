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
//! **Invariant:** every error names file and line, and with an error nothing is changed.

use std::collections::BTreeSet;
use std::ops::Range;

use record::names::{ceiling, fact};
use record::{Ceiling, PathPart};
use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, BytesPerSecond};

/// What is wrong in a file of parts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct PartsError {
    /// The file as named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Parts as given, all of them sound by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    file: String,
    given: Vec<Given>,
}

#[derive(Clone, Debug, PartialEq)]
struct Given {
    name: String,
    line: usize,
    kind: Option<String>,
    under: Option<(String, usize)>,
    ceilings: Vec<Ceiling>,
    cache: Option<Bytes>,
}

impl Given {
    /// Facts of the part other than its ceilings.
    fn facts(&self) -> impl Iterator<Item = (String, String)> {
        self.cache.iter().map(|size| (fact::CACHE.to_owned(), size.exact()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    part: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    kind: Option<String>,
    under: Option<Spanned<String>>,
    bandwidth: Option<Spanned<String>>,
    each_way: Option<bool>,
    requests: Option<Spanned<f64>>,
    in_flight: Option<Spanned<f64>>,
    request_size: Option<Spanned<String>>,
    cache: Option<Spanned<String>>,
    source: Option<String>,
}

impl Parts {
    /// Reads the text of `file`, whose name is for messages only.
    pub fn read(file: &str, text: &str) -> Result<Parts, PartsError> {
        let at =
            |span: &Range<usize>| 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
        let wrong = |line: usize, message: String| PartsError { file: file.into(), line, message };
        let read: File = toml::from_str(text).map_err(|error| {
            wrong(error.span().as_ref().map_or(1, at), error.message().trim().replace('\n', "; "))
        })?;
        let mut given = Vec::new();
        let mut names = BTreeSet::new();
        for entry in read.part {
            let line = at(&entry.name.span());
            let ceilings = ceilings(&entry, file).map_err(|(span, message)| wrong(at(&span), message))?;
            let cache = cache(entry.cache.as_ref()).map_err(|(span, message)| wrong(at(&span), message))?;
            let name = entry.name.into_inner();
            if !names.insert(name.clone()) {
                return Err(wrong(line, format!("duplicate part `{name}`: put all of it into one [[part]]")));
            }
            let under = entry.under.map(|under| (under.get_ref().clone(), at(&under.span())));
            if ceilings.is_empty() && cache.is_none() && under.is_none() {
                let message = format!(
                    "part `{name}` has no ceiling: give bandwidth = \"112MB/s\", requests = 90000, in_flight = 32, \
                     request_size = \"64KiB\" or cache = \"512MiB\""
                );
                return Err(wrong(line, message));
            }
            given.push(Given { name, line, kind: entry.kind, under, ceilings, cache });
        }
        Ok(Parts { file: file.into(), given })
    }

    /// Puts the parts into `paths`: ceilings of a known part are replaced, a new one is added below `under`.
    ///
    /// Fails, and changes nothing, where a name is in none of the paths.
    pub fn apply(&self, paths: &mut [PathPart]) -> Result<(), PartsError> {
        let mut changed = paths.to_vec();
        for given in &self.given {
            let known: Vec<String> =
                changed.iter().flat_map(PathPart::all).map(|part| part.name.clone()).collect();
            let (name, line) = match (&given.under, known.contains(&given.name)) {
                (_, true) => (&given.name, given.line),
                (Some((under, line)), false) => (under, *line),
                (None, false) => return Err(self.stranger(&given.name, given.line, &known)),
            };
            if !known.contains(name) {
                return Err(self.stranger(name, line, &known));
            }
            changed.iter_mut().for_each(|path| put(path, name, given));
        }
        paths.clone_from_slice(&changed);
        Ok(())
    }

    fn stranger(&self, name: &str, line: usize, known: &[String]) -> PartsError {
        let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!(
            "no part `{name}` in the path, which has {known}. To add a part, set `under` to the name of the part above \
             it"
        );
        PartsError { file: self.file.clone(), line, message }
    }
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

fn cache(given: Option<&Spanned<String>>) -> Result<Option<Bytes>, (Range<usize>, String)> {
    let Some(text) = given else { return Ok(None) };
    let size: Bytes =
        text.get_ref().parse().map_err(|error: units::UnitError| (text.span(), error.to_string()))?;
    match size.is_zero() {
        true => Err((text.span(), "expected a cache size above zero, or no `cache`".into())),
        false => Ok(Some(size)),
    }
}

fn ceilings(entry: &Entry, file: &str) -> Result<Vec<Ceiling>, (Range<usize>, String)> {
    let source = entry.source.clone().unwrap_or_else(|| file.into());
    let made = |what: &str, value: f64, unit: &str| Ceiling {
        what: what.into(),
        value,
        unit: unit.into(),
        each_way: what == ceiling::BANDWIDTH && entry.each_way.unwrap_or(false),
        basis: "as given".into(),
        source: source.clone(),
    };
    let positive = |span: Range<usize>, value: f64| {
        let sound = value.is_finite() && value > 0.0;
        sound.then_some(value).ok_or_else(|| (span, format!("expected a ceiling above zero, got {value}")))
    };
    let mut ceilings = Vec::new();
    if let Some(text) = &entry.bandwidth {
        let rate: BytesPerSecond =
            text.get_ref().parse().map_err(|error: units::UnitError| (text.span(), error.to_string()))?;
        ceilings.push(made(ceiling::BANDWIDTH, positive(text.span(), rate.get())?, "bytes_per_s"));
    }
    if let Some(rate) = &entry.requests {
        ceilings.push(made(ceiling::REQUESTS, positive(rate.span(), *rate.get_ref())?, "per_s"));
    }
    if let Some(count) = &entry.in_flight {
        ceilings.push(made(ceiling::IN_FLIGHT, positive(count.span(), *count.get_ref())?, "count"));
    }
    if let Some(text) = &entry.request_size {
        let size: Bytes =
            text.get_ref().parse().map_err(|error: units::UnitError| (text.span(), error.to_string()))?;
        ceilings.push(made(ceiling::REQUEST_SIZE, positive(text.span(), size.as_f64())?, "bytes"));
    }
    Ok(ceilings)
}
