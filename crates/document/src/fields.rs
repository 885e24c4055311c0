//! A table being read: each key is asked for by name, and what was never asked for is an unknown key.
//!
//! **Invariant:** the set of known keys is the set of keys asked for, so the two cannot drift apart. A value that could
//! not be read, or is missing, is noted in [`Mistakes`] and replaced by one that nobody will see.

use std::cell::RefCell;

use crate::mistakes::{Mistakes, Wrong};
use crate::nearest::nearest;
use crate::read::Read;
use crate::source::TextSpan;
use crate::tree::{Key, Node, Table, Value};

/// A table being read. Ask for every key, then [`finish`](Fields::finish).
#[derive(Debug)]
pub struct Fields<'t> {
    path: String,
    table: &'t Table,
    at: TextSpan,
    mistakes: &'t Mistakes,
    asked: RefCell<Vec<&'static str>>,
    missing: RefCell<Vec<(&'static str, String)>>,
    unread: RefCell<Vec<String>>,
}

impl<'t> Fields<'t> {
    /// The table at `path`, which is dotted and empty for a whole file. It stands at `at`.
    pub fn new(
        path: impl Into<String>,
        table: &'t Table,
        at: &TextSpan,
        mistakes: &'t Mistakes,
    ) -> Fields<'t> {
        let path = path.into();
        debug_assert!(!path.starts_with('.') && !path.ends_with('.'), "`{path}` is no dotted path");
        let (asked, missing, unread) = Default::default();
        Fields { path, table, at: at.clone(), mistakes, asked, missing, unread }
    }

    /// Where the table stands.
    pub fn at(&self) -> &TextSpan {
        &self.at
    }

    /// Where all that is wrong goes.
    pub fn mistakes(&self) -> &'t Mistakes {
        self.mistakes
    }

    /// Where a key's value stands, or the table. Of a value that is a table, where its key stands.
    pub fn place_of(&self, key: &str) -> TextSpan {
        self.table.entry(key).map_or_else(|| self.at.clone(), |(key, node)| node.seen_at(&key.place).clone())
    }

    /// Notes that the value of `key` is wrong; what would be right follows the first `; ` of `why`.
    pub fn wrong(&self, key: &str, why: impl AsRef<str>) {
        self.note(key, Wrong::parted(why.as_ref()));
    }

    /// Notes that the value of the first of `keys` is wrong unless `holds`, which is about all of them: nothing follows
    /// from one that could not be read.
    pub fn check(&self, keys: &[&str], holds: bool, why: impl AsRef<str>) {
        let unread = self.unread.borrow();
        if !holds && !unread.iter().any(|key| keys.contains(&key.as_str())) {
            self.wrong(keys[0], why);
        }
    }

    /// Whether every key so far that must be there is, and could be read like the others; once all are asked for, also
    /// whether there are no others.
    pub fn is_sound(&self) -> bool {
        self.unread.borrow().is_empty()
    }

    fn note(&self, key: &str, wrong: Wrong) {
        let place = wrong.place.clone().unwrap_or_else(|| self.place_of(key));
        let message = format!("`{}`: {}", self.dotted(key), wrong.message);
        self.mistakes.wrong(&place, Wrong { message, ..wrong });
    }

    fn unread<T>(&self, key: &str, wrong: Wrong) -> Option<T> {
        self.unread.borrow_mut().push(key.to_owned());
        self.note(key, wrong.unread());
        None
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    fn name(&self) -> String {
        if self.path.is_empty() { "the file".into() } else { format!("[{}]", self.path) }
    }

    fn node(&self, key: &'static str) -> Option<&'t Node> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    /// The value of `key`, if it is there.
    pub fn get<T: Read>(&self, key: &'static str) -> Option<T> {
        let node = self.node(key)?;
        if node.table().is_some() {
            return self.unread(key, Wrong::said(format!("expected {}, got a table", T::WANT)));
        }
        T::read(node).map_or_else(|wrong| self.unread(key, wrong), Some)
    }

    /// The value of `key`, or `None` where it is absent or the text `"none"`.
    pub fn unless_none<T: Read>(&self, key: &'static str) -> Option<T> {
        self.node(key).filter(|node| !node.is("none")).and_then(|_| self.get(key))
    }

    /// The value of `key`, which must be there.
    pub fn need_some<T: Read>(&self, key: &'static str) -> Option<T> {
        self.needed(key, T::WANT).and_then(|()| self.get(key))
    }

    /// The value of `key`, which must be there.
    pub fn need<T: Read + Default>(&self, key: &'static str) -> T {
        self.need_some(key).unwrap_or_default()
    }

    /// The value of `key`, or `otherwise`.
    pub fn or<T: Read>(&self, key: &'static str, otherwise: T) -> T {
        self.get(key).unwrap_or(otherwise)
    }

    /// The value of `key` as one of `choices`, by name; `None` where it is absent.
    pub fn choice<T: Copy>(&self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        assert!(!choices.is_empty(), "`{key}` has no choice");
        let name = self.get::<String>(key)?;
        let known = choices.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice);
        known.or_else(|| {
            let near = nearest(&name, choices.iter().map(|(name, _)| *name));
            let near = near.map_or("write".to_owned(), |near| format!("did you mean `{near}`? Write"));
            self.unread(
                key,
                Wrong::new(format!("`{name}` is not known"), format!("{near} {}", one_of(choices))),
            )
        })
    }

    /// The value of `key` as one of `choices`, by name, or `otherwise`.
    pub fn one_of<T: Copy>(&self, key: &'static str, otherwise: T, choices: &[(&str, T)]) -> T {
        self.choice(key, choices).unwrap_or(otherwise)
    }

    /// The value of `key` as one of `choices`, by name; it must be there.
    pub fn need_choice<T: Copy>(&self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        self.needed(key, &one_of(choices)).and_then(|()| self.choice(key, choices))
    }

    /// The count `key`, 1 to `most`; without `otherwise` it must be there.
    pub fn count(&self, key: &'static str, otherwise: Option<u32>, most: u32) -> u32 {
        assert!(
            otherwise.is_none_or(|otherwise| (1..=most).contains(&otherwise)),
            "the default of `{key}` is outside its range"
        );
        let count = otherwise.map_or_else(|| self.need(key), |otherwise| self.or(key, otherwise));
        self.check(&[key], (1..=most).contains(&count), format!("give 1 to {most}"));
        count.clamp(1, most)
    }

    /// The table `key`, or `None` where it is absent or `"none"`.
    pub fn table(&self, key: &'static str) -> Option<Fields<'t>> {
        let node = self.node(key).filter(|node| !node.is("none"))?;
        match node.table() {
            Some(table) => Some(Fields::new(self.dotted(key), table, &self.place_of(key), self.mistakes)),
            None => {
                self.unread(key, Wrong::new("expected a table, got a value", "write a table, or \"none\""))
            }
        }
    }

    /// The table `key`, which must be there.
    pub fn need_table(&self, key: &'static str) -> Option<Fields<'t>> {
        if self.table.get(key).is_some_and(|node| node.is("none")) {
            return self.lacks(key, "a table");
        }
        self.needed(key, "a table").and_then(|()| self.table(key))
    }

    /// The tables of the list `key`; empty where it is absent.
    pub fn tables(&self, key: &'static str) -> Vec<Fields<'t>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            self.unread::<()>(key, Wrong::said("write a list of tables, [{ … }, { … }]"));
            return Vec::new();
        };
        let item = |item: &'t Node| match item.table() {
            Some(table) => Some(Fields::new(self.dotted(key), table, &item.place, self.mistakes)),
            None => {
                let wrong = Wrong::said("expected a table { … } in the list, got a value");
                self.unread(key, wrong.at(&item.place))
            }
        };
        items.iter().filter_map(item).collect()
    }

    /// Every entry of the table, for tables whose keys are the user's own.
    pub fn all(&self) -> impl Iterator<Item = (&'t Key, &'t Node)> + use<'t> {
        self.table.iter()
    }

    /// Whether the table has `key`.
    pub fn says(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Notes that `key`, which holds `want`, is missing if it is; [`finish`](Fields::finish) says it.
    fn needed(&self, key: &'static str, want: &str) -> Option<()> {
        if self.says(key) { Some(()) } else { self.lacks(key, want) }
    }

    fn lacks<T>(&self, key: &'static str, want: &str) -> Option<T> {
        self.asked.borrow_mut().push(key);
        self.unread.borrow_mut().push(key.to_owned());
        self.missing.borrow_mut().push((key, want.to_owned()));
        None
    }

    /// Notes every key that is missing, and every key that was never asked for. A misspelt key is said to be that, and
    /// the right one not to be missing.
    pub fn finish(&self) {
        for key in self.lacking() {
            self.unknown(key);
        }
    }

    /// The same where it is not known which keys there are: notes what is missing or misspelt, and nothing else.
    pub fn abandon(&self) {
        let missing = self.missing.borrow();
        for key in self.lacking() {
            if nearest(&key.text, missing.iter().map(|(key, _)| *key)).is_some() {
                self.unknown(key);
            }
        }
    }

    /// Notes every key that is missing, misspelt ones aside; gives the keys that were never asked for.
    fn lacking(&self) -> Vec<&'t Key> {
        let asked = self.asked.borrow();
        let keys = self.table.iter().map(|(key, _)| key);
        let strangers: Vec<_> = keys.filter(|key| !asked.contains(&key.text.as_str())).collect();
        for (key, want) in self.missing.borrow().iter() {
            if !strangers.iter().any(|stranger| nearest(&stranger.text, [*key]).is_some()) {
                let message = format!("`{}` needs `{key}`, {want}", self.name());
                self.mistakes.wrong(&self.at, Wrong::said(message));
            }
        }
        strangers
    }

    fn unknown(&self, key: &Key) {
        self.unread.borrow_mut().push(key.text.clone());
        let mut known = self.asked.borrow().clone();
        known.sort_unstable();
        known.dedup();
        let missing = self.missing.borrow();
        let near = nearest(&key.text, missing.iter().map(|(key, _)| *key));
        let near = near.or_else(|| nearest(&key.text, known.iter().copied()));
        let near = near.map_or("it takes".to_owned(), |near| format!("did you mean `{near}`? It takes"));
        let message = format!("`{}` has no key `{}`", self.name(), key.text);
        self.mistakes.wrong(&key.place, Wrong::new(message, format!("{near} {}", known.join(", "))));
    }
}

fn one_of<T>(choices: &[(&str, T)]) -> String {
    format!("one of {}", choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};

    use super::*;
    use crate::source::SourceText;
    use crate::{Errors, parse};

    /// A made-up link.
    fn link(fields: &Fields<'_>) -> (Bytes, Nanos, u32) {
        let (rate, delay, lanes) =
            (fields.need("rate"), fields.or("delay", Nanos::ZERO), fields.count("lanes", None, 4));
        fields.check(&["rate", "lanes"], rate > Bytes::new(u64::from(lanes)), "too slow; give more");
        fields.finish();
        (rate, delay, lanes)
    }

    fn read(text: &str) -> Result<(Bytes, Nanos, u32), Errors> {
        let (source, mistakes) = (SourceText::new("l.toml", text, 0), Mistakes::default());
        let table = parse(&source, |_| String::new(), &mistakes).unwrap();
        let read = link(&Fields::new("link", &table, &TextSpan::new(&source, 0..0), &mistakes));
        mistakes.finish(Some(read))
    }

    fn told(text: &str) -> Vec<String> {
        read(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_table_without_a_mistake_is_read() {
        assert_eq!(read("rate = \"4KiB\"\nlanes = 2\n").unwrap(), (Bytes::KIB * 4, Nanos::ZERO, 2));
    }

    #[test]
    fn every_mistake_is_told_where_it_was_typed_and_none_that_follows_from_another() {
        assert_eq!(
            told("delay = 5\nrate = \"4\"\nlanes = 5\nwidth = 1\n"),
            [
                "l.toml:1: `link.delay`: `5` is not a duration such as \"8.2ms\", in quotes",
                "l.toml:2: `link.rate`: `4` has no unit; write a size such as 4B or 4KiB",
                "l.toml:3: `link.lanes`: give 1 to 4",
                "l.toml:4: `[link]` has no key `width`; it takes delay, lanes, rate",
            ]
        );
        assert_eq!(told("rate = \"1B\"\nlanes = 2\n"), ["l.toml:1: `link.rate`: too slow; give more"]);
    }

    #[test]
    fn a_value_that_its_key_cannot_hold_is_told_from_one_that_it_could() {
        let errors = read("rate = \"4\"\nlanes = 5\n").unwrap_err();
        assert_eq!(errors.iter().map(crate::Mistake::is_unread).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_is_missing_is_told_unless_it_is_only_misspelt() {
        assert_eq!(
            told("rat = \"4KiB\"\n"),
            [
                "l.toml:1: `[link]` needs `lanes`, a whole number from 0 on",
                "l.toml:1: `[link]` has no key `rat`; did you mean `rate`? It takes delay, lanes, rate",
            ]
        );
    }

    #[test]
    fn a_mistake_shows_the_line_and_a_pointer() {
        let errors = read("rate = \"4KiB\"\nlanes = 9 # many\n").unwrap_err();
        let expected = "l.toml:2:9: `link.lanes`: give 1 to 4\n    lanes = 9 # many\n            ^\n";
        assert_eq!(errors.plain(), expected);
    }
}
