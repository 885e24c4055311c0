//! Command lines of tools: each a table of options, all read by one parser.
//!
//! A row has an option's spellings, what its value looks like, a line of help, and what becomes of it: it sets
//! something, it changes nothing, or it is not supported and says why. The parser cuts words as the tool does
//! ([`Style`]), finds the rows, checks the values that rows describe, and words every mistake.
//!
//! **Invariant:** no words make the parser panic. An option is carried out, noted or refused, never dropped.

#[cfg(test)]
pub(crate) mod guide;
mod rows;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::Refusal;

pub(crate) use rows::{
    alone, flag, ignored, number, one_of, optional, parsed, several, some_assigned, some_of, text, unlisted,
    unsupported, usage,
};

/// How a tool's words are cut into options and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As getopt: letters may stand together, a value is the rest of the word or the next one. Also `--name`,
    /// `--name=VALUE` and `--name VALUE`.
    Letters,
    /// One option in a word, its value behind it without a blank: `-t4`.
    Glued,
    /// `-name VALUE`.
    Words,
    /// `name=VALUE`.
    Assignments,
}

/// The command line of a tool that is read into a `T`.
pub(crate) struct Syntax<T: 'static> {
    /// The tool, as messages call it.
    pub tool: &'static str,
    pub style: Style,
    /// Options, and words that are values, are the same in capitals.
    pub any_case: bool,
    /// Where notes go: what was understood but changes nothing.
    pub notes: fn(&mut T) -> &mut Vec<String>,
    /// The options, in one or several parts.
    pub options: &'static [&'static [Opt<T>]],
    /// What becomes of a word that is no option: a target, or a refusal.
    pub operand: fn(&mut T, &str) -> Result<(), Refusal>,
}

/// One option, or one word that an option takes.
pub(crate) struct Opt<T: 'static> {
    /// Its spellings, blanks between them; the first is the usual one.
    names: &'static str,
    /// What its value looks like; empty where it has none.
    value: &'static str,
    /// What it does, or why it does nothing or is not supported.
    help: &'static str,
    does: Does<T>,
}

type Read<T> = fn(&mut T, &Given<'_>) -> Result<(), Refusal>;

/// What becomes of an option.
enum Does<T: 'static> {
    Flag(fn(&mut T)),
    Number(RangeInclusive<u32>, fn(&mut T, u32)),
    Text(fn(&mut T, &str)),
    /// Its own value and the words after it, up to the next option.
    Several(fn(&mut T, &str)),
    /// One of these words.
    One(&'static [Opt<T>]),
    /// Some of these words, commas between them.
    Some(&'static [Opt<T>]),
    Parsed(Read<T>),
    /// The same, of each part between commas.
    Each(Read<T>),
    /// The same, of a value that must stand in the same word, and may be empty.
    Optional(Read<T>),
    Ignored,
    Unsupported,
    /// It is answered with the help text.
    Usage,
    /// It is answered before anything else is read, where it stands alone.
    Alone,
}

/// Stands in place of a value where a manual has no such option.
const UNLISTED: &str = "not in the manual";

/// Which part of the line an option takes beside itself.
enum Takes {
    Nothing,
    RestOfWord,
    Value,
    Values,
}

impl<T> Opt<T> {
    fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    fn takes(&self) -> Takes {
        match self.does {
            Does::Flag(_) | Does::Ignored | Does::Unsupported | Does::Usage | Does::Alone => Takes::Nothing,
            Does::Optional(_) => Takes::RestOfWord,
            Does::Several(_) => Takes::Values,
            _ => Takes::Value,
        }
    }

    /// What help shows: the spellings with the value behind them.
    fn shown(&self) -> String {
        let value = match &self.does {
            Does::One(words) => {
                let words = words.iter().filter(|word| !matches!(word.does, Does::Unsupported));
                words.filter_map(|word| word.spellings().next()).collect::<Vec<_>>().join("|")
            }
            _ => self.value.into(),
        };
        format!("{} {value}", self.names.replace(' ', ", ")).trim_end().into()
    }
}

/// An option as it stands on a line.
pub(crate) struct Given<'a> {
    tool: &'static str,
    style: Style,
    /// Its spelling.
    pub option: &'a str,
    /// Its value; empty where it has none.
    pub value: &'a str,
}

impl Given<'_> {
    /// The option and its value as they were typed.
    pub fn typed(&self) -> String {
        let between = match self.style {
            _ if self.value.is_empty() => "",
            Style::Glued => "",
            Style::Assignments => "=",
            Style::Letters | Style::Words => " ",
        };
        format!("{}{between}{}", self.option, self.value)
    }

    /// A part of the value, which messages then name in its place.
    pub fn part<'b>(&'b self, value: &'b str) -> Given<'b> {
        Given { tool: self.tool, style: self.style, option: self.option, value }
    }

    /// The refusal of the value: `want` is what it should be.
    pub fn wrong(&self, want: impl Into<String>) -> Refusal {
        let mut want = want.into();
        if self.style == Style::Glued && self.value.is_empty() {
            want += ", without a blank before it";
        }
        Refusal::value(self.tool, self.option, self.value, want)
    }

    /// The refusal of what the tool takes and Fathom does not.
    pub fn unsupported(&self, why: impl Into<String>) -> Refusal {
        Refusal::unsupported(self.tool, self.typed(), why)
    }

    /// The note that it is accepted and changes nothing, and why.
    pub fn ignored(&self, why: &str) -> String {
        let colon = if why.is_empty() { "" } else { ": " };
        format!("`{}` changes nothing{colon}{why}", self.typed())
    }

    /// The value as a whole number within bounds.
    pub fn number<N: FromStr + PartialOrd + Display>(&self, range: RangeInclusive<N>) -> Result<N, Refusal> {
        debug_assert!(!range.is_empty(), "`{}` takes some number", self.option);
        match self.value.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.wrong(format!("a whole number from {} to {}", range.start(), range.end()))),
        }
    }

    /// What `read` makes of the value; where that is nothing, the refusal that says what is wanted.
    pub fn read<V>(&self, read: impl FnOnce(&str) -> Option<V>, want: &str) -> Result<V, Refusal> {
        read(self.value).ok_or_else(|| self.wrong(want))
    }
}

pub(crate) type Words<'a> = std::iter::Peekable<std::slice::Iter<'a, String>>;

impl<T> Syntax<T> {
    /// Reads `arguments` into `into`, from left to right.
    pub fn read(&self, into: &mut T, arguments: &[String]) -> Result<(), Refusal> {
        let mut words = arguments.iter().peekable();
        while let Some(word) = words.next() {
            match self.style {
                Style::Letters if word.starts_with("--") => {
                    let (name, value) = split(word);
                    self.named(into, name, value, &mut words)?;
                }
                Style::Letters | Style::Glued => match word.strip_prefix('-').filter(|rest| !rest.is_empty())
                {
                    Some(letters) => self.letters(into, word, letters, &mut words)?,
                    None => (self.operand)(into, word)?,
                },
                Style::Words if !word.starts_with('-') && self.find(word).is_none() => {
                    (self.operand)(into, word)?;
                }
                Style::Words => self.named(into, word, None, &mut words)?,
                Style::Assignments => {
                    let (name, value) = split(word);
                    // A value is never a word of its own.
                    self.named(into, name, value, &mut [].iter().peekable())?;
                }
            }
        }
        Ok(())
    }

    /// Reads the option called `name` with its value, as if it stood on the line.
    pub fn set(&self, into: &mut T, name: &str, value: &str) -> Result<(), Refusal> {
        self.named(into, name, Some(value), &mut [].iter().peekable())
    }

    /// The rows of all parts, one part after the other.
    pub fn rows(&self) -> impl Iterator<Item = &'static Opt<T>> {
        self.options.iter().flat_map(|part| part.iter())
    }

    /// A line of help for each option that is supported: what it looks like, and what it does.
    pub fn help(&self) -> String {
        const WIDTH: usize = 28;
        let is_shown =
            |row: &&Opt<T>| !row.help.is_empty() && !matches!(row.does, Does::Unsupported | Does::Usage);
        let line = |row: &Opt<T>| match row.shown() {
            long if long.len() >= WIDTH => format!("  {long}\n  {:WIDTH$}{}\n", "", row.help),
            short => format!("  {short:WIDTH$}{}\n", row.help),
        };
        self.rows().filter(is_shown).map(line).collect()
    }

    /// The refusal of `option`, which the tool does not have.
    pub fn unknown(&self, option: &str) -> Refusal {
        let known: Vec<&str> = self.names().collect();
        Refusal::unknown(self.tool, option, &known)
    }

    fn is_same(&self, spelling: &str, word: &str) -> bool {
        spelling == word || self.any_case && spelling.eq_ignore_ascii_case(word)
    }

    fn find(&self, name: &str) -> Option<(&'static Opt<T>, &'static str)> {
        self.rows()
            .find_map(|row| Some((row, row.spellings().find(|spelling| self.is_same(spelling, name))?)))
    }

    /// The option that `letters` begin with, the longest there is, and what follows it.
    fn begins<'a>(&self, letters: &'a str) -> Option<(&'static Opt<T>, &'static str, &'a str)> {
        let spelled = self.rows().flat_map(|row| row.spellings().map(move |spelling| (row, spelling)));
        let fits = spelled.filter_map(|(row, spelling)| {
            let rest =
                letters.strip_prefix(spelling.strip_prefix('-').filter(|name| !name.starts_with('-'))?)?;
            Some((row, spelling, rest))
        });
        fits.max_by_key(|(_, spelling, _)| spelling.len())
    }

    fn letters(&self, into: &mut T, word: &str, letters: &str, words: &mut Words<'_>) -> Result<(), Refusal> {
        let is_glued = self.style == Style::Glued;
        let mut letters = letters;
        while !letters.is_empty() {
            let unknown = || match is_glued {
                true => self.unknown(word),
                false => self.unknown(&format!("-{}", first_of(letters))),
            };
            let (row, spelling, rest) = self.begins(letters).ok_or_else(unknown)?;
            assert!(rest.len() < letters.len(), "an option takes a letter of its word, so that reading ends");
            let given = |value| self.given(spelling, value);
            letters = "";
            match row.takes() {
                Takes::Nothing if matches!(row.does, Does::Unsupported) => {
                    self.apply(into, row, &given(if is_glued { rest } else { "" }))?;
                }
                Takes::Nothing if is_glued && !rest.is_empty() => return Err(self.unknown(word)),
                Takes::Nothing => {
                    self.apply(into, row, &given(""))?;
                    letters = rest;
                }
                Takes::RestOfWord => self.apply(into, row, &given(rest))?,
                Takes::Value if is_glued || !rest.is_empty() => self.apply(into, row, &given(rest))?,
                Takes::Value => self.apply(into, row, &given(self.value_of(row, spelling, words)?))?,
                Takes::Values => {
                    let first = Some(rest).filter(|rest| !rest.is_empty());
                    let mut next = || words.next_if(|next| !next.starts_with('-')).map(String::as_str);
                    let mut value = first.or_else(&mut next);
                    if value.is_none() {
                        return Err(self.missing(row, spelling));
                    }
                    while let Some(found) = value {
                        self.apply(into, row, &given(found))?;
                        value = next();
                    }
                }
            }
        }
        Ok(())
    }

    /// The spellings of all options.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows().flat_map(Opt::spellings)
    }

    /// Whether there is an option of that name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Reads an option whose name is known whole, perhaps with its value; otherwise that is the next of `words`.
    pub fn named(
        &self,
        into: &mut T,
        name: &str,
        value: Option<&str>,
        words: &mut Words<'_>,
    ) -> Result<(), Refusal> {
        let (row, spelling) = self.find(name).ok_or_else(|| self.unknown(name))?;
        let value = match (row.takes(), value) {
            (Takes::Nothing | Takes::RestOfWord, None) => "",
            (Takes::Nothing, Some(value)) if matches!(row.does, Does::Unsupported) => value,
            (Takes::Nothing, Some(_)) => {
                return Err(Refusal::usage(self.tool, format!("`{spelling}` takes no value")));
            }
            (_, Some(value)) => value,
            (_, None) => self.value_of(row, spelling, words)?,
        };
        self.apply(into, row, &self.given(spelling, value))
    }

    /// The next word, which is the value of an option.
    fn value_of<'a>(&self, row: &Opt<T>, spelling: &str, words: &mut Words<'a>) -> Result<&'a str, Refusal> {
        words.next().map(String::as_str).ok_or_else(|| self.missing(row, spelling))
    }

    fn missing(&self, row: &Opt<T>, spelling: &str) -> Refusal {
        Refusal::usage(self.tool, format!("`{spelling}` needs a value: {}", row.help))
    }

    fn given<'a>(&self, option: &'a str, value: &'a str) -> Given<'a> {
        Given { tool: self.tool, style: self.style, option, value }
    }

    fn apply(&self, into: &mut T, row: &Opt<T>, given: &Given<'_>) -> Result<(), Refusal> {
        match &row.does {
            Does::Flag(set) => set(into),
            Does::Number(range, set) => set(into, given.number(range.clone())?),
            Does::Text(_) if self.style == Style::Glued && given.value.is_empty() => {
                return Err(given.wrong(row.value));
            }
            Does::Text(set) | Does::Several(set) => set(into, given.value),
            Does::One(words) => {
                let word = self.word(words, given.value).ok_or_else(|| given.wrong(either(words)))?;
                self.apply(into, word, given)?;
            }
            Does::Some(words) => {
                for value in given.value.split(',') {
                    let known: Vec<&str> = words.iter().flat_map(Opt::spellings).collect();
                    let unknown = || Refusal::unknown(self.tool, value, &known);
                    let word = self.word(words, value).ok_or_else(unknown)?;
                    self.apply(into, word, &self.given(given.option, value))?;
                }
            }
            Does::Parsed(read) | Does::Optional(read) => read(into, given)?,
            Does::Each(read) => {
                for part in given.value.split(',') {
                    read(into, &given.part(part))?;
                }
            }
            Does::Ignored => (self.notes)(into).push(given.ignored(row.help)),
            Does::Unsupported => return Err(given.unsupported(row.help)),
            Does::Usage => return Err(Refusal::usage(self.tool, row.help)),
            Does::Alone => {
                let what = format!(
                    "`{}` goes with no other option: it {}, and measures nothing",
                    given.option, row.help
                );
                return Err(Refusal::usage(self.tool, what));
            }
        }
        Ok(())
    }

    fn word(&self, words: &'static [Opt<T>], value: &str) -> Option<&'static Opt<T>> {
        words.iter().find(|word| word.spellings().any(|spelling| self.is_same(spelling, value)))
    }
}

/// A word before and behind its first `=`.
pub(crate) fn split(word: &str) -> (&str, Option<&str>) {
    word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)))
}

/// The first letter, with a `+` before it the first two characters.
fn first_of(letters: &str) -> &str {
    let count = if letters.starts_with('+') { 2 } else { 1 };
    letters.char_indices().nth(count).map_or(letters, |(end, _)| &letters[..end])
}

/// The words that are supported: "`a`, `b` or `c`".
fn either<T>(words: &[Opt<T>]) -> String {
    let words = words.iter().filter(|word| !matches!(word.does, Does::Unsupported));
    let words: Vec<String> =
        words.filter_map(|word| word.spellings().next()).map(|word| format!("`{word}`")).collect();
    match &words[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        words => words.concat(),
    }
}
