//! Every key of the plan language, each in one entry.
//!
//! **Invariant:** the reader, the reference page, the texts kept in a record and the suggestions for a mistyped
//! key all come from these entries; no key is known anywhere else.

pub(crate) mod draft;
pub(crate) mod lines;
pub(crate) mod phase;
pub(crate) mod state;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod workload;

use std::fmt;

use super::mistakes::Wrong;
use super::tree::Node;

/// What a user is told about one key.
#[derive(Clone, Copy, Debug)]
pub struct KeyDoc {
    /// As it is written.
    pub key: &'static str,
    /// Where it may stand.
    pub level: Level,
    /// The heading it stands under.
    pub section: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// What holds where it is left out, as it would be written after `--set KEY=`; empty where nothing does.
    pub default: &'static str,
    /// One line.
    pub short: &'static str,
    /// The rest: bounds, edge cases, why.
    pub long: &'static str,
    /// A line of a plan.
    pub example: &'static str,
}

/// A heading of the reference page, and the keys below it.
pub(crate) struct Section(pub &'static str);

impl Section {
    /// A key of a workload.
    pub const fn key(
        &self,
        key: &'static str,
        kind: Kind,
        default: &'static str,
        [short, long, example]: [&'static str; 3],
    ) -> KeyDoc {
        KeyDoc { key, level: Level::Workload, section: self.0, kind, default, short, long, example }
    }

    /// A key that all workloads of a phase have in common.
    pub const fn phase_key(
        &self,
        key: &'static str,
        kind: Kind,
        default: &'static str,
        words: [&'static str; 3],
    ) -> KeyDoc {
        KeyDoc { level: Level::Phase, ..self.key(key, kind, default, words) }
    }
}

/// Where a key may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At the top of the file.
    Plan,
    /// In a phase with load, not in `[defaults]`.
    PhaseOnly,
    /// In a phase with load and in `[defaults]`, but not in one workload of several: all run together.
    Phase,
    /// In a workload, in a phase for all its workloads, and in `[defaults]` for all phases.
    Workload,
    /// In a `[[phase.workload]]` only.
    WorkloadOnly,
    /// In a phase with a state.
    State,
}

/// What may be written as a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of these words, or a form in brackets.
    Choice(&'static [&'static str]),
    /// `8KiB`.
    Size,
    /// `8KiB`, `50%`.
    Extent,
    /// A size, or a table of sizes and weights.
    Sizes,
    /// Tables of a share and what is particular to it.
    Lines,
    /// `70%`, `2/3`.
    Share,
    /// `2:1`.
    Ratio,
    /// `0.5`.
    Factor,
    /// `30s`.
    Duration,
    /// `32`.
    Count,
    /// `true` or `false`.
    Switch,
    /// Any text.
    Text,
    /// A table.
    Table,
}

impl fmt::Display for Kind {
    /// In the words of the reference page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                f.write_str(&words.join(", "))
            }
            Kind::Size => f.write_str("a size such as `8KiB`"),
            Kind::Extent => f.write_str("a size such as `10GiB`, or a part of the target such as `50%`"),
            Kind::Sizes => f.write_str("a size such as `8KiB`, or a table of sizes and weights"),
            Kind::Lines => f.write_str("a list of tables, each with a `share`"),
            Kind::Share => f.write_str("a share such as `70%`, `2/3` or `0.7`"),
            Kind::Factor => f.write_str("a number such as `2` or `0.5`"),
            Kind::Ratio => f.write_str("a ratio such as `2:1`"),
            Kind::Duration => f.write_str("a duration such as `30s`"),
            Kind::Count => f.write_str("a whole number"),
            Kind::Switch => f.write_str("`true` or `false`"),
            Kind::Text => f.write_str("a text"),
            Kind::Table => f.write_str("a table"),
        }
    }
}

/// One key: what a user is told, and how its value goes into and out of `T`.
pub(crate) struct Entry<T: 'static> {
    /// What a user is told.
    pub doc: KeyDoc,
    /// Puts the value where it belongs, or says what is wrong with it.
    pub read: fn(&mut T, &Node) -> Result<(), Wrong>,
    /// The one text of the value, which reads back to the same.
    pub write: fn(&T) -> String,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Entry<T> {
        *self
    }
}

// Derived, they would ask the same of `T`.
impl<T> Copy for Entry<T> {}

/// The entry of `key` in a list of entries.
pub(crate) fn find<T>(entries: &'static [Entry<T>], key: &str) -> Option<&'static Entry<T>> {
    entries.iter().find(|entry| entry.doc.key == key)
}

/// Every key of the language, in the order of the reference page.
pub fn all() -> Vec<&'static KeyDoc> {
    let plan = phase::PLAN.iter().map(|entry| &entry.doc);
    let phases = phase::PHASE.iter().map(|entry| &entry.doc);
    let members = workload::MEMBER.iter().map(|entry| &entry.doc);
    let workloads = workload::WORKLOAD.iter().map(|entry| &entry.doc);
    let states = state::STATE.iter().map(|entry| &entry.doc);
    plan.chain(phases).chain(members).chain(workloads).chain(states).collect()
}

/// How often something of a phase is done: 1 to 1000 times.
pub(crate) fn phase_count(node: &Node) -> Result<u32, Wrong> {
    node.count32(1..=1000)
}

/// Fills a `none`-or-value text.
pub(crate) fn or_none<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "none".into(), text)
}
