//! Every key of the plan language, each in one entry.
//!
//! **Invariant:** the reader, the reference page and the suggestions for a mistyped key all come from these entries, and
//! what a record keeps of a workload stands under the same keys (`spec::form`); tests compare them.

/// A list of keys, each with all that is known of it:
///
/// `key (kind, default, example) [where its value belongs] "one line" "the rest"`
///
/// `_` in place of the one line takes that of [`spec::about`], which records have too.
///
/// The example is a value, or in brackets a whole line: the compiler breaks what is long.
/// Where a value belongs is a field, `[spec.depth]`, whose type reads it ([`KeyValue`]); a field and the type of its
/// text, `[spec.engine.cpus as CpuList]`; or what is to be done with it, `[|draft, node| …]`. A literal before keys is
/// the heading that they stand under; `@ Level` behind a key is a level other than that of the list.
macro_rules! keys {
    (
        $(#[$about:meta])* $list:ident: $into:ident, $level:ident;
        $($section:literal: $(
            $key:ident $(@ $own:ident)? ($kind:expr, $default:literal, $example:tt) [$($place:tt)+]
            $short:tt $long:literal
        )+)+
    ) => {
        $(#[$about])*
        pub(crate) static $list: &[Entry<$into>] = &[$($(Entry {
            doc: KeyDoc {
                key: stringify!($key),
                level: keys!(@level $($own)? $level),
                section: $section,
                kind: {
                    use $crate::plan::keys::Kind::*;
                    $kind
                },
                default: $default,
                short: keys!(@short $key $short),
                long: $long,
                example: keys!(@example $key $example),
            },
            read: keys!(@read $($place)+),
        },)+)+];
    };
    (@short $key:ident _) => { spec::about(stringify!($key)) };
    (@short $key:ident $line:literal) => { $line };
    (@example $key:ident ($line:literal)) => { $line };
    (@example $key:ident $value:tt) => { concat!(stringify!($key), " = ", stringify!($value)) };
    (@level $own:ident $level:ident) => { Level::$own };
    (@level $level:ident) => { Level::$level };
    (@read |$into:ident, $node:ident| $read:expr) => { |$into, $node, _| $read };
    (@read $($field:ident).+) => {
        |into, node, doc| KeyValue::read(node, doc).map(|value| into.$($field).+ = value)
    };
    (@read $($field:ident).+ as $text:ident) => {
        |into, node, doc| <$text as KeyValue>::read(node, doc).map(|value| into.$($field).+ = value.0)
    };
}

pub(crate) mod draft;
pub(crate) mod lines;
pub(crate) mod phase;
pub(crate) mod state;
mod value;
pub(crate) mod workload;

use std::fmt;

use document::{Node, Wrong};
pub(crate) use value::KeyValue;

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
    /// `32`: the least and the most.
    Count(u64, u64),
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
            Kind::Count(..) => f.write_str("a whole number"),
            Kind::Switch => f.write_str("`true` or `false`"),
            Kind::Text => f.write_str("a text"),
            Kind::Table => f.write_str("a table"),
        }
    }
}

/// One key: what a user is told, and how its value goes into `T`.
pub(crate) struct Entry<T: 'static> {
    /// What a user is told.
    pub doc: KeyDoc,
    read: fn(&mut T, &Node, &KeyDoc) -> Result<(), Wrong>,
}

impl<T> Entry<T> {
    /// Puts the value where it belongs, or says what is wrong with it.
    pub fn read(&self, into: &mut T, node: &Node) -> Result<(), Wrong> {
        (self.read)(into, node, &self.doc)
    }
}

/// The entry of `key` in a list of entries.
pub(crate) fn find<T>(entries: &'static [Entry<T>], key: &str) -> Option<&'static Entry<T>> {
    entries.iter().find(|entry| entry.doc.key == key)
}

/// An entry of any list.
pub(crate) trait AnyEntry {
    /// What a user is told.
    fn doc(&self) -> &KeyDoc;
    /// Whether the value can be read, or what is wrong with it.
    fn check(&self, node: &Node) -> Result<(), Wrong>;
}

impl<T: Default> AnyEntry for Entry<T> {
    fn doc(&self) -> &KeyDoc {
        &self.doc
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        self.read(&mut T::default(), node)
    }
}

/// Every entry, in the order of the reference page.
fn entries() -> impl Iterator<Item = &'static dyn AnyEntry> {
    fn any<T: Default>(list: &'static [Entry<T>]) -> impl Iterator<Item = &'static dyn AnyEntry> {
        list.iter().map(|entry| entry as &dyn AnyEntry)
    }
    let of_phases = any(phase::PLAN).chain(any(phase::PHASE)).chain(any(workload::MEMBER));
    of_phases.chain(any(workload::WORKLOAD)).chain(any(state::STATE))
}

/// The entry of `key` at one of these levels.
pub(crate) fn at(levels: &[Level], key: &str) -> Option<&'static dyn AnyEntry> {
    entries().find(|entry| entry.doc().key == key && levels.contains(&entry.doc().level))
}

/// Every key of the language, in the order of the reference page.
pub fn all() -> Vec<&'static KeyDoc> {
    entries().map(AnyEntry::doc).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_once_at_a_level_and_the_bounds_of_a_count_rise() {
        let mut known = Vec::new();
        for doc in all() {
            assert!(!known.contains(&(doc.key, doc.level)), "`{}` twice", doc.key);
            known.push((doc.key, doc.level));
            assert!(!matches!(doc.kind, Kind::Count(least, most) if least >= most), "`{}`", doc.key);
        }
    }
}
