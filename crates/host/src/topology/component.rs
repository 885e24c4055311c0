//! One part of the path from a file to its media, and what it can do at most.

use std::path::Path;

use crate::sysroot::{SysRoot, text};

/// What a ceiling is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes a second.
    Bandwidth,
    /// Requests a second while only one is in flight.
    OneAtATime,
    /// Requests in flight.
    InFlight,
    /// Bytes of one request.
    RequestSize,
}

impl Limit {
    /// As records name it.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Bandwidth => "bandwidth",
            Limit::OneAtATime => "requests one at a time",
            Limit::InFlight => "in flight",
            Limit::RequestSize => "request size",
        }
    }

    /// The unit of its value.
    pub fn unit(self) -> &'static str {
        match self {
            Limit::Bandwidth => "bytes_per_s",
            Limit::OneAtATime => "per_s",
            Limit::InFlight => "count",
            Limit::RequestSize => "bytes",
        }
    }
}

/// What a part can do at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Of what.
    pub limit: Limit,
    /// The most, in the unit of `limit`.
    pub value: f64,
    /// Whether each direction has that much.
    pub each_way: bool,
    /// How it follows from what the kernel says.
    pub basis: String,
    /// The file of the kernel, as `/sys/class/net/eth0/speed`.
    pub source: String,
}

/// One part and those it stands on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathComponent {
    /// The kernel's name; one part has one name wherever it appears.
    pub name: String,
    /// What it is, in words.
    pub kind: String,
    /// Settings and identity, in words, in the order they were found.
    pub facts: Vec<(String, String)>,
    /// What it can do at most.
    pub ceilings: Vec<Ceiling>,
    /// How the names of its series begin; `None` where the kernel does not count it.
    pub series: Option<String>,
    /// What could not be found out, and why.
    pub unknown: Vec<String>,
    /// Whether it was told before in the same tree.
    pub repeated: bool,
    /// What it stands on.
    pub below: Vec<PathComponent>,
}

impl PathComponent {
    /// A part of which only this is known.
    pub(super) fn new(name: impl Into<String>, kind: impl Into<String>) -> PathComponent {
        PathComponent { name: name.into(), kind: kind.into(), ..PathComponent::default() }
    }

    /// The same with a fact more, where there is one.
    pub(super) fn fact(mut self, name: &str, value: Option<impl Into<String>>) -> PathComponent {
        self.facts.extend(value.map(|value| (name.to_owned(), value.into())));
        self
    }

    /// The same with a ceiling more, or with the reason why there is none.
    pub(super) fn ceiling(mut self, found: Result<Ceiling, String>) -> PathComponent {
        match found {
            Ok(ceiling) => self.ceilings.push(ceiling),
            Err(reason) => self.unknown.push(reason),
        }
        self
    }

    /// The same with a ceiling more where there is one; its absence means nothing.
    pub(super) fn maybe(mut self, found: Option<Ceiling>) -> PathComponent {
        self.ceilings.extend(found);
        self
    }

    /// The same on top of `below`.
    pub(super) fn on(mut self, below: Vec<PathComponent>) -> PathComponent {
        self.below.extend(below);
        self
    }

    /// The value of a ceiling.
    pub fn most(&self, limit: Limit) -> Option<f64> {
        self.ceilings.iter().find(|ceiling| ceiling.limit == limit).map(|ceiling| ceiling.value)
    }

    /// This part or the first below it of that name.
    pub fn find(&self, name: &str) -> Option<&PathComponent> {
        if self.name == name {
            return Some(self);
        }
        self.below.iter().find_map(|part| part.find(name))
    }
}

/// A flag as a fact.
pub(super) fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

/// A file of `root` as it is called on a real machine: `/sys/…` or `/proc/…`.
pub(super) fn shown(root: &SysRoot, path: &Path) -> String {
    let trees = [(&root.sys, "/sys"), (&root.proc, "/proc"), (&root.dev, "/dev")];
    for (tree, name) in trees {
        // Folders of devices are resolved, while the root may have been reached through a link.
        let real = std::fs::canonicalize(tree).unwrap_or_else(|_| tree.clone());
        let below = path.strip_prefix(tree).or_else(|_| path.strip_prefix(&real));
        if let Ok(below) = below {
            return Path::new(name).join(below).display().to_string();
        }
    }
    path.display().to_string()
}

/// The number that a text such as `8.0 GT/s PCIe`, `6.0 Gbit` or `10000` begins with; `None` unless it is positive.
pub(super) fn leading_number(path: &Path) -> Option<f64> {
    let text = text(path)?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite())
}
