//! Rows of a table: what each kind of option takes, and what becomes of it.

use std::ops::RangeInclusive;

use super::{Does, Opt, Read, UNLISTED};

const fn row<T>(names: &'static str, value: &'static str, help: &'static str, does: Does<T>) -> Opt<T> {
    let letters = names.as_bytes();
    assert!(!letters.is_empty(), "an option has a name");
    let mut at = 0;
    while at < letters.len() {
        let is_first = at == 0 || letters[at - 1] == b' ';
        assert!(letters[at] != b' ' || !is_first, "one blank is between two names");
        at += 1;
    }
    assert!(letters[at - 1] != b' ', "a name stands behind each blank");
    Opt { names, value, help, does }
}

/// An option that stands alone.
pub(crate) const fn flag<T>(names: &'static str, help: &'static str, set: fn(&mut T)) -> Opt<T> {
    row(names, "", help, Does::Flag(set))
}

/// An option with a whole number.
pub(crate) const fn number<T>(
    names: &'static str,
    help: &'static str,
    range: RangeInclusive<u32>,
    set: fn(&mut T, u32),
) -> Opt<T> {
    assert!(*range.start() <= *range.end(), "some number is in a range");
    row(names, "N", help, Does::Number(range, set))
}

/// An option with any text.
pub(crate) const fn text<T>(
    names: &'static str,
    value: &'static str,
    help: &'static str,
    set: fn(&mut T, &str),
) -> Opt<T> {
    row(names, value, help, Does::Text(set))
}

/// An option with one text or more.
pub(crate) const fn several<T>(
    names: &'static str,
    value: &'static str,
    help: &'static str,
    add: fn(&mut T, &str),
) -> Opt<T> {
    row(names, value, help, Does::Several(add))
}

/// An option with one of `words`.
pub(crate) const fn one_of<T>(names: &'static str, help: &'static str, words: &'static [Opt<T>]) -> Opt<T> {
    assert!(!words.is_empty(), "an option of words has some");
    row(names, "WORD", help, Does::One(words))
}

/// An option with some of `words`, commas between them.
pub(crate) const fn some_of<T>(names: &'static str, help: &'static str, words: &'static [Opt<T>]) -> Opt<T> {
    assert!(!words.is_empty(), "an option of words has some");
    row(names, "WORDS", help, Does::Some(words))
}

/// An option whose value `read` makes out.
pub(crate) const fn parsed<T>(
    names: &'static str,
    value: &'static str,
    help: &'static str,
    read: Read<T>,
) -> Opt<T> {
    row(names, value, help, Does::Parsed(read))
}

/// The same, where a value is only one that stands in the same word, and may be left out.
pub(crate) const fn optional<T>(
    names: &'static str,
    value: &'static str,
    help: &'static str,
    read: Read<T>,
) -> Opt<T> {
    row(names, value, help, Does::Optional(read))
}

/// An option whose value is several, commas between them, each of which `read` makes out.
pub(crate) const fn some_assigned<T>(
    names: &'static str,
    value: &'static str,
    help: &'static str,
    read: Read<T>,
) -> Opt<T> {
    row(names, value, help, Does::Each(read))
}

/// An option without a value that is accepted and changes nothing, and why.
pub(crate) const fn ignored<T>(names: &'static str, why: &'static str) -> Opt<T> {
    row(names, "", why, Does::Ignored)
}

/// Options that the tool has and Fathom does not, and why.
pub(crate) const fn unsupported<T>(names: &'static str, why: &'static str) -> Opt<T> {
    row(names, "", why, Does::Unsupported)
}

/// Options that the tool reads and its manual does not have, which are refused, and why.
pub(crate) const fn unlisted<T>(names: &'static str, why: &'static str) -> Opt<T> {
    row(names, UNLISTED, why, Does::Unsupported)
}

/// An option that the tool answers and then ends (its help, its version), where it stands alone.
pub(crate) const fn alone<T>(names: &'static str, help: &'static str) -> Opt<T> {
    row(names, "", help, Does::Alone)
}

/// Options that ask for help, and get `text`.
pub(crate) const fn usage<T>(names: &'static str, text: &'static str) -> Opt<T> {
    row(names, "", text, Does::Usage)
}
