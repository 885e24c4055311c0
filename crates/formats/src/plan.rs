//! Plans as the readers of all tools write them: tables of keys, whose values have a type.
//!
//! **Invariant:** what stands in a plan goes through [`Value`], so that no text of a user's can end a string or a line.

use std::fmt::Write;

use units::{Bytes, Nanos};

/// A key of a plan with its value as TOML.
pub(crate) type Key = (&'static str, String);

/// What can stand behind a key.
pub(crate) trait Value {
    /// It as TOML.
    fn toml(&self) -> String;
}

impl<T: Value + ?Sized> Value for &T {
    fn toml(&self) -> String {
        (**self).toml()
    }
}

impl Value for str {
    fn toml(&self) -> String {
        quoted(self)
    }
}

impl Value for String {
    fn toml(&self) -> String {
        quoted(self)
    }
}

/// Values that TOML writes as Rust does, and those whose text stands in quotes.
macro_rules! values {
    (bare: $($bare:ty)+; exact: $($exact:ty)+) => {
        $(impl Value for $bare {
            fn toml(&self) -> String {
                self.to_string()
            }
        })+
        $(impl Value for $exact {
            fn toml(&self) -> String {
                quoted(&self.exact())
            }
        })+
    };
}

values!(bare: bool u32 u64 usize; exact: Bytes Nanos);

/// So many per cent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Percent(pub u32);

impl Value for Percent {
    fn toml(&self) -> String {
        debug_assert!(self.0 <= 100, "a part is no more than all: {}%", self.0);
        format!("\"{}%\"", self.0)
    }
}

/// One number, or all of several in turn.
impl<N: std::fmt::Display> Value for [N] {
    fn toml(&self) -> String {
        assert!(!self.is_empty(), "a sweep has a value at least");
        match self {
            [one] => one.to_string(),
            several => {
                let several: Vec<String> = several.iter().map(N::to_string).collect();
                format!("{{ sweep = [{}] }}", several.join(", "))
            }
        }
    }
}

/// A value that is TOML already: a table or a list.
#[derive(Clone, Debug)]
pub(crate) struct Toml(pub String);

impl Value for Toml {
    fn toml(&self) -> String {
        self.0.clone()
    }
}

/// The keys of one table, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Vec<Key>);

impl Keys {
    /// None but the name of the table.
    pub fn named(name: &str) -> Keys {
        Keys::default().with("name", name)
    }

    /// These, and `key`.
    pub fn with(mut self, key: &'static str, value: impl Value) -> Keys {
        self.0.push((key, value.toml()));
        self
    }

    /// These, and `key` where it has a value.
    pub fn maybe(self, key: &'static str, value: Option<impl Value>) -> Keys {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// These, and the others after them.
    pub fn and(mut self, others: impl IntoIterator<Item = Key>) -> Keys {
        self.0.extend(others);
        self
    }
}

impl IntoIterator for Keys {
    type Item = Key;
    type IntoIter = std::vec::IntoIter<Key>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A plan while it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanText(String);

impl PlanText {
    /// A plan of that name; `about` says what it is about, and `seed` is left to the run where there is none.
    pub fn new(name: &str, about: &str, seed: Option<u64>) -> PlanText {
        let mut plan = PlanText::default();
        plan.keys(Keys::named(name).with("about", about).maybe("seed", seed));
        plan
    }

    /// What holds for all phases.
    pub fn defaults(&mut self, keys: Keys) {
        debug_assert!(!self.0.contains("\n[["), "what holds for all phases stands before the first");
        self.table("[defaults]", keys);
    }

    /// One phase more.
    pub fn phase(&mut self, keys: Keys) {
        self.table("[[phase]]", keys);
    }

    /// One workload more of the last phase.
    pub fn workload(&mut self, keys: Keys) {
        debug_assert!(self.0.contains("\n[[phase]]\n"), "a workload is of the phase before it");
        self.table("[[phase.workload]]", keys);
    }

    /// The plan as it was written so far, as TOML.
    pub fn text(self) -> String {
        self.0
    }

    fn table(&mut self, header: &str, keys: Keys) {
        let _ = writeln!(self.0, "\n{header}");
        self.keys(keys);
    }

    fn keys(&mut self, Keys(keys): Keys) {
        let is_alone = |at: usize| keys[..at].iter().all(|(known, _)| *known != keys[at].0);
        debug_assert!((0..keys.len()).all(is_alone), "a key stands once in its table: {keys:?}");
        debug_assert!(keys.iter().all(|(_, value)| !value.is_empty()), "a key has a value: {keys:?}");
        let width = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        for (key, value) in keys {
            let _ = writeln!(self.0, "{key:width$} = {value}");
        }
    }
}

/// `name` where a plan would fill in what stands in braces.
pub(crate) fn braced(name: &str) -> String {
    name.replace('{', "{{").replace('}', "}}")
}

/// `text` as a string of a plan: in quotes, with what TOML wants escaped.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    debug_assert!(!quoted.contains(char::is_control), "no text of a user's ends a line of a plan");
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_toml_would_misread_is_escaped() {
        assert_eq!(quoted(r#"c:\a "b""#), r#""c:\\a \"b\"""#);
        assert_eq!(quoted("a\tb\n"), r#""a\u0009b\u000A""#);
    }

    #[test]
    fn a_table_has_its_keys_below_each_other() {
        let mut plan = PlanText::new("a", "b", Some(7));
        plan.phase(
            Keys::named("c").with("depth", [1, 4].as_slice()).maybe("warmup", Some(Nanos::from_secs(3))),
        );
        plan.workload(Keys::default().with("span", Bytes::new(4096)).maybe("seed", None::<u64>));
        let text = "name  = \"a\"\nabout = \"b\"\nseed  = 7\n\n[[phase]]\nname   = \"c\"\n\
                    depth  = { sweep = [1, 4] }\nwarmup = \"3s\"\n\n[[phase.workload]]\nspan = \"4KiB\"\n";
        assert_eq!(plan.text(), text);
    }
}
