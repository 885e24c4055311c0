//! The language of DiskSim's parameter files: blocks of `name = value`, lists in brackets, files inside files.
//!
//! ```text
//! disksim_disk NAME {
//!    Model = source name.model,
//!    Segment size (in blks) = 64,
//!    Zones = [ dm_layout_g1_zone { … }, … ]
//! } # comment
//! ```
//!
//! Source: DiskSim 4.0 reference manual (CMU-PDL-08-101), chapter "Parameter file". No crate reads it.

use super::DiskSimError;

/// Blocks within blocks: no drive has more.
const DEEPEST: u32 = 32;
/// Files within files.
const MOST_FILES: u32 = 32;

/// What stands right of an equals sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number or a name.
    Word(String),
    /// `[ … ]`
    List(Vec<Value>),
    /// `type { … }`
    Block(Block),
}

/// `type NAME { key = value, … }`
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Block {
    /// Its type, such as `disksim_disk`.
    pub kind: String,
    /// Its name; empty inside another block.
    pub name: String,
    entries: Vec<Entry>,
    /// Its file, and the line on which it begins.
    label: String,
    line: usize,
}

/// `key = value`, and its line.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: String,
    value: Value,
    line: usize,
}

impl Block {
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The file, and the line of `key`, or that on which the block begins.
    pub fn place(&self, key: &str) -> String {
        format!("{}:{}", self.label, self.entry(key).map_or(self.line, |entry| entry.line))
    }

    pub fn word(&self, key: &str) -> Option<&str> {
        if let Some(Value::Word(word)) = self.get(key) { Some(word) } else { None }
    }

    pub fn block(&self, key: &str) -> Option<&Block> {
        if let Some(Value::Block(block)) = self.get(key) { Some(block) } else { None }
    }

    pub fn list(&self, key: &str) -> &[Value] {
        if let Some(Value::List(items)) = self.get(key) { items } else { &[] }
    }

    /// The number behind `key`; `None` where there is none, an error where it is no number.
    pub fn number(&self, key: &str) -> Result<Option<f64>, DiskSimError> {
        let Some(word) = self.word(key) else { return Ok(None) };
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| {
            DiskSimError::new(&self.place(key), format!("`{key} = {word}` of {} is not a number", self.kind))
        })
    }
}

/// The top-level blocks of `text` and of all files that it takes in; `files` gives their texts.
pub(super) fn blocks(
    label: &str,
    text: &str,
    files: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<Vec<Block>, DiskSimError> {
    let mut taken = 0;
    let mut blocks = Vec::new();
    Reader { label, text, at: 0, lines: (0, 1), files, taken: &mut taken }.top(&mut blocks)?;
    Ok(blocks)
}

struct Reader<'t> {
    label: &'t str,
    text: &'t str,
    at: usize,
    /// A place before `at`, and its line.
    lines: (usize, usize),
    files: &'t mut dyn FnMut(&str) -> Option<String>,
    taken: &'t mut u32,
}

impl Reader<'_> {
    fn wrong(&self, what: impl Into<String>) -> DiskSimError {
        let line = self.text[..self.at].matches('\n').count() + 1;
        DiskSimError { place: format!("{}:{line}", self.label), what: what.into() }
    }

    /// The line of `at`, counted on from where it was asked for last.
    fn line(&mut self) -> usize {
        let (from, line) = if self.lines.0 <= self.at { self.lines } else { (0, 1) };
        self.lines = (self.at, line + self.text[from..self.at].matches('\n').count());
        self.lines.1
    }

    /// A block whose brace has just been read, to its end.
    fn block(&mut self, kind: &str, name: &str, depth: u32) -> Result<Block, DiskSimError> {
        let (label, line) = (self.label.to_owned(), self.line());
        let entries = self.entries(depth)?;
        Ok(Block { kind: kind.into(), name: name.into(), entries, label, line })
    }

    /// Past white space, commas and comments.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
            self.at += blank;
            if !self.text[self.at..].starts_with('#') {
                return;
            }
            self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Up to one of `ends`, a comment or the end of the text; without white space around it.
    fn until(&mut self, ends: &[char]) -> String {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| c == '#' || ends.contains(&c)).unwrap_or(rest.len());
        self.at += length;
        rest[..length].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn top(&mut self, into: &mut Vec<Block>) -> Result<(), DiskSimError> {
        loop {
            self.skip();
            if self.peek().is_none() {
                return Ok(());
            }
            let words = self.until(&['{', '[', '\n']);
            match (words.split_once(' '), self.peek()) {
                (Some(("source", file)), _) => self.take_in(file, into)?,
                // `topology … [ … ]` and `instantiate [ … ] as NAME` say how parts are wired.
                (_, Some('[')) => {
                    self.at += 1;
                    self.list(0)?;
                    if words.starts_with("instantiate") {
                        self.until(&['\n']);
                    }
                }
                (_, Some('{')) => {
                    self.at += 1;
                    let (kind, name) = words.split_once(' ').unwrap_or((&words, ""));
                    into.push(self.block(kind, name, 0)?);
                }
                // The brace may stand on the next line.
                _ if !words.is_empty() => {
                    self.skip();
                    if self.peek() != Some('{') {
                        return Err(
                            self.wrong(format!("`{words}` is no block of DiskSim's: `type NAME {{ … }}`"))
                        );
                    }
                    self.at += 1;
                    let (kind, name) = words.split_once(' ').unwrap_or((&words, ""));
                    into.push(self.block(kind, name, 0)?);
                }
                _ => return Err(self.wrong("expected a block, `type NAME { … }`")),
            }
        }
    }

    fn take_in(&mut self, file: &str, into: &mut Vec<Block>) -> Result<(), DiskSimError> {
        *self.taken += 1;
        if *self.taken > MOST_FILES {
            return Err(self.wrong(format!(
                "{file} is taken in after {MOST_FILES} others; does a file take in itself?"
            )));
        }
        let Some(text) = (self.files)(file) else {
            return Err(self.wrong(format!("`source {file}`: there is no such file beside this one")));
        };
        Reader { label: file, text: &text, at: 0, lines: (0, 1), files: self.files, taken: self.taken }
            .top(into)
    }

    /// `key = value` up to the closing brace.
    fn entries(&mut self, depth: u32) -> Result<Vec<Entry>, DiskSimError> {
        let mut entries = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a block")),
                Some('}') => {
                    self.at += 1;
                    return Ok(entries);
                }
                Some(_) => {
                    let key = self.until(&['=', '{', '}', '[', ']']);
                    if self.peek() != Some('=') || key.is_empty() {
                        return Err(self.wrong(format!("expected `name = value` after `{key}`")));
                    }
                    self.at += 1;
                    let line = self.line();
                    entries.push(Entry { key, value: self.value(depth + 1)?, line });
                }
            }
        }
    }

    fn list(&mut self, depth: u32) -> Result<Vec<Value>, DiskSimError> {
        let mut items = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None => return Err(self.wrong("the text ends inside a list")),
                Some(']') => {
                    self.at += 1;
                    return Ok(items);
                }
                Some('}' | '{') => return Err(self.wrong("a brace inside a list")),
                Some(_) => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn value(&mut self, depth: u32) -> Result<Value, DiskSimError> {
        if depth > DEEPEST {
            return Err(self.wrong("blocks lie too deep in each other"));
        }
        self.skip();
        if self.peek() == Some('[') {
            self.at += 1;
            return self.list(depth).map(Value::List);
        }
        let word = self.until(&[',', '{', '}', '[', ']', '\n']);
        if self.peek() == Some('\n') && !word.is_empty() {
            // The brace may stand on the next line.
            let end = self.at;
            self.skip();
            if self.peek() != Some('{') {
                self.at = end;
            }
        }
        match self.peek() {
            Some('{') => {
                self.at += 1;
                self.block(&word, "", depth).map(Value::Block)
            }
            // A part of a topology: `disksim_bus bus0 [ … ]`.
            Some('[') => {
                self.at += 1;
                self.list(depth).map(Value::List)
            }
            _ if word.is_empty() => Err(self.wrong("expected a value")),
            _ => match word.strip_prefix("source ") {
                Some(file) => {
                    let mut inside = Vec::new();
                    self.take_in(file.trim(), &mut inside)?;
                    let first = inside.into_iter().next();
                    first.map(Value::Block).ok_or_else(|| self.wrong(format!("{file} holds no block")))
                }
                None => Ok(Value::Word(word)),
            },
        }
    }
}
