//! Collecting what is wrong while a document is read.

use std::cell::RefCell;

use units::UnitError;

use crate::error::{Errors, Mistake, Weight};
use crate::source::TextSpan;

/// What a reader of one value found wrong with it; its place is added by whoever knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// Where, if it is only a part of the value.
    pub place: Option<TextSpan>,
    /// Whether it is none of the values that its key can hold, whatever else the document says.
    pub is_unread: bool,
}

impl Wrong {
    /// What is wrong and what would be right.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: Some(help.into()), place: None, is_unread: false }
    }

    /// What is wrong, where the message itself says what would be right.
    pub fn said(message: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: None, place: None, is_unread: false }
    }

    /// What is wrong, parted where the advice begins: behind the first `; `.
    pub fn parted(told: &str) -> Wrong {
        match told.split_once("; ") {
            Some((message, help)) => Wrong::new(message, help),
            None => Wrong::said(told),
        }
    }

    /// The same, with its own place unless it has one already.
    pub fn at(mut self, place: &TextSpan) -> Wrong {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// The same, of a value that its key cannot hold.
    pub fn unread(self) -> Wrong {
        Wrong { is_unread: true, ..self }
    }

    /// As a mistake, at its own place or else at `place`.
    pub fn into_error(self, place: &TextSpan) -> Mistake {
        let mistake = Mistake::new(self.place.as_ref().unwrap_or(place), self.message, self.help);
        if self.is_unread { mistake.unread() } else { mistake }
    }
}

impl From<UnitError> for Wrong {
    fn from(error: UnitError) -> Wrong {
        Wrong::parted(&error.to_string())
    }
}

/// Nobody reads more of them at once; a sweep over thousands of values may repeat one at each.
const MOST_MISTAKES: usize = 200;

/// Collects mistakes, each once, up to 200.
///
/// Whoever reads on after one holds values that nobody may see: [`Mistakes::into_result`] keeps them back.
#[derive(Debug, Default)]
pub struct Mistakes {
    found: RefCell<Vec<Mistake>>,
}

impl Mistakes {
    /// Adds one unless the same is known or there are enough. The first real mistake always finds room.
    pub fn add(&self, mistake: Mistake) {
        let is_first = mistake.weight() == Weight::Mistake && self.none();
        let mut all = self.found.borrow_mut();
        let known = |found: &Mistake| match mistake.weight() {
            Weight::Mistake => *found == mistake,
            // A range repeats a caution with another figure at each of its values.
            Weight::Caution => found.weight() == Weight::Caution && found.place() == mistake.place(),
        };
        if (all.len() < MOST_MISTAKES || is_first) && !all.iter().any(known) {
            assert!(all.len() <= MOST_MISTAKES, "only the first real mistake finds room where there is none");
            all.push(mistake);
        }
    }

    /// Adds what a reader found wrong at `place`.
    pub fn wrong(&self, place: &TextSpan, wrong: Wrong) {
        self.add(wrong.into_error(place));
    }

    /// Adds what is wrong at `place`, and what would be right.
    pub fn tell(&self, place: &TextSpan, message: impl Into<String>, help: impl Into<String>) {
        self.wrong(place, Wrong::new(message, help));
    }

    /// The value, or `None` and one mistake more.
    pub fn take<T>(&self, place: &TextSpan, result: Result<T, Wrong>) -> Option<T> {
        result.map_err(|wrong| self.wrong(place, wrong)).ok()
    }

    /// Whether nothing but cautions was found.
    pub fn none(&self) -> bool {
        !self.found.borrow().iter().any(|mistake| mistake.weight() == Weight::Mistake)
    }

    /// Fails with all mistakes so far, if there are any: what follows would only repeat them in other words.
    pub fn stop(&self) -> Result<(), Errors> {
        let found = RefCell::new(self.found.borrow().clone());
        if self.none() { Ok(()) } else { Mistakes { found }.into_result().map(drop) }
    }

    /// The cautions, or all mistakes.
    pub fn into_result(self) -> Result<Vec<Mistake>, Errors> {
        let is_good = self.none();
        let found = self.found.into_inner();
        if is_good {
            return Ok(found);
        }
        Err(Errors::new(found.into_iter().filter(|found| found.weight() == Weight::Mistake).collect()))
    }

    /// What was read, or all mistakes. Without a mistake there is a value: a reader that stops early has said why.
    pub fn finish<T>(self, read: Option<T>) -> Result<T, Errors> {
        self.into_result().map(|_| read.expect("whoever reads nothing says why"))
    }
}
