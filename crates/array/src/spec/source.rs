//! Where descriptions come from: a source of texts by name, the shipped library, and inheritance between files.
//!
//! **Invariant:** nothing here touches a file; whoever does hands the text in.

use std::borrow::Cow;

use document::{Mistakes, Node, Table, TextSpan, Value, Wrong, nearest};

use super::tree::{File, overlay, parse};

/// The two kinds of description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// `arrays/`.
    Array,
    /// `devices/`.
    Device,
}

impl Shelf {
    pub(super) fn noun(self) -> &'static str {
        match self {
            Shelf::Array => "array",
            Shelf::Device => "device",
        }
    }
}

/// A description's text, and what errors call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText<'s> {
    /// A path, commonly.
    pub label: Cow<'s, str>,
    /// TOML.
    pub text: Cow<'s, str>,
}

/// Gives descriptions by name.
pub trait Source {
    /// The description of that name, or `None`.
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>>;
    /// Every name there is, for lists and for "did you mean".
    fn names(&self, shelf: Shelf) -> Vec<String>;
}

/// Looks in `first`, then in `then`: a user's own folder over the shipped library.
#[derive(Clone, Copy, Debug)]
pub struct Layered<A, B> {
    /// Wins.
    pub first: A,
    /// Asked where `first` has nothing.
    pub then: B,
}

impl<A: Source, B: Source> Source for Layered<A, B> {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        self.first.find(shelf, name).or_else(|| self.then.find(shelf, name))
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        let mut names = self.first.names(shelf);
        names.extend(self.then.names(shelf));
        names.sort();
        names.dedup();
        names
    }
}

/// The file `name` with everything it inherits beneath it. `asked_at` is who asks.
pub(super) fn load(
    source: &dyn Source,
    shelf: Shelf,
    name: &str,
    asked_at: &TextSpan,
    mistakes: &Mistakes,
) -> Option<File> {
    Shelves { source, shelf, mistakes }.load(name, asked_at, &mut Vec::new())
}

/// `file` laid over the files that its `inherits` names, the last of them uppermost.
pub(super) fn with_parents(
    source: &dyn Source,
    shelf: Shelf,
    file: File,
    mistakes: &Mistakes,
) -> Option<File> {
    Shelves { source, shelf, mistakes }.with_parents(file, &mut Vec::new())
}

/// Whether a name is a path rather than a name of the library.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || [".toml", ".diskspecs", ".parv"].iter().any(|ending| name.ends_with(ending))
}

/// `name` as it is to be looked for: a path that a file names is one from where that file lies, if there is such a file.
pub(super) fn beside(source: &dyn Source, shelf: Shelf, name: &str, asked_at: &TextSpan) -> String {
    let folder = asked_at.has_line().then(|| asked_at.source().label.rsplit_once('/')).flatten();
    let Some((folder, _)) = folder.filter(|_| is_path(name) && !name.starts_with('/')) else {
        return name.to_owned();
    };
    let joined = format!("{folder}/{}", name.strip_prefix("./").unwrap_or(name));
    if source.find(shelf, &joined).is_some() { joined } else { name.to_owned() }
}

/// Devices of the library that begin as `name` does.
fn alike(name: &str, names: &[String]) -> String {
    let begin: String = name.chars().take(2).collect();
    let alike: Vec<&str> =
        names.iter().map(String::as_str).filter(|known| known.starts_with(&begin)).collect();
    match &alike[..] {
        [] => "name a device of the library, as disk-sata or s3700-800, or a file such as ./mine.toml".into(),
        some => format!("those that begin alike are {}; or name a file such as ./mine.toml", some.join(", ")),
    }
}

/// Where files come from while one of them is put together.
struct Shelves<'s> {
    source: &'s dyn Source,
    shelf: Shelf,
    mistakes: &'s Mistakes,
}

impl Shelves<'_> {
    fn load(&self, name: &str, asked_at: &TextSpan, chain: &mut Vec<String>) -> Option<File> {
        let refuse = |message: String, help: String| {
            self.mistakes.wrong(asked_at, Wrong::new(message, help));
            None
        };
        if chain.iter().any(|seen| seen == name) {
            let chain = [chain.join(" → "), name.to_owned()].join(" → ");
            return refuse(format!("`{name}` inherits itself ({chain})"), "remove one `inherits`".into());
        }
        let Some(found) = self.source.find(self.shelf, name) else {
            if self.shelf == Shelf::Device && self.source.find(Shelf::Array, name).is_some() {
                let help = "give a device of the library, such as disk-sata, or the file of one".into();
                return refuse(format!("`{name}` describes an array, not a device"), help);
            }
            let names = self.source.names(self.shelf);
            let near = nearest(name, names.iter().map(String::as_str));
            let help = match (near, self.shelf) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, _) if is_path(name) => "a path is relative to the file that names it".into(),
                (None, Shelf::Array) => "`fathom array list` shows what there is".into(),
                (None, Shelf::Device) => alike(name, &names),
            };
            return refuse(format!("there is no {} `{name}`", self.shelf.noun()), help);
        };
        chain.push(name.to_string());
        let file = self.with_parents(parse(&found.label, &found.text, self.mistakes)?, chain);
        chain.pop();
        file
    }

    fn with_parents(&self, mut file: File, chain: &mut Vec<String>) -> Option<File> {
        let Some(inherits) = file.table.remove("inherits") else { return Some(file) };
        let mut whole = Table::default();
        for (parent, at) in self.parents(&inherits)? {
            let parent = beside(self.source, self.shelf, &parent, at);
            let mut below = self.load(&parent, at, chain)?.table;
            // A parent's name and purpose are its own.
            ["name", "about", "part"].iter().for_each(|key| drop(below.remove(key)));
            overlay(&mut whole, below);
        }
        overlay(&mut whole, file.table);
        Some(File { table: whole, at: file.at })
    }

    /// The names in an `inherits`: one, or a list of them.
    fn parents<'n>(&self, inherits: &'n Node) -> Option<Vec<(String, &'n TextSpan)>> {
        let nodes = if let Value::List(items) = &inherits.value {
            &items[..]
        } else {
            std::slice::from_ref(inherits)
        };
        let name = |node: &'n Node| {
            let text = node.text("").map(|name| (name.to_owned(), &node.place));
            let help = "write the name of another file, or a list of names";
            self.mistakes.take(&node.place, text.map_err(|_| Wrong::said(format!("`inherits`: {help}"))))
        };
        nodes.iter().map(name).collect()
    }
}

/// The shipped library, carried inside the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Source for Shipped {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        let (_, label, text) = shelf_of(shelf).iter().find(|(known, _, _)| *known == name)?;
        Some(SourceText { label: Cow::Borrowed(label), text: Cow::Borrowed(text) })
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        shelf_of(shelf).iter().map(|(name, _, _)| (*name).to_string()).collect()
    }
}

type Text = (&'static str, &'static str, &'static str);

fn shelf_of(shelf: Shelf) -> &'static [Text] {
    match shelf {
        Shelf::Array => super::shipped::ARRAYS,
        Shelf::Device => super::shipped::DEVICES,
    }
}
