//! Collecting what is wrong while a plan is read.

use spec::text::TextError;
use units::UnitError;

use super::error::{PlanError, PlanErrors, Weight};
use super::source::Place;

/// What a reader of one value found wrong with it; its place is added by whoever knows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// Where, if it is only a part of the value.
    pub place: Option<Place>,
}

impl Wrong {
    /// What is wrong and what would be right.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: Some(help.into()), place: None }
    }

    /// What is wrong, where the message itself says what would be right.
    pub fn said(message: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: None, place: None }
    }

    /// The same, with its own place unless it has one already.
    pub fn at(mut self, place: &Place) -> Wrong {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// As a mistake, at its own place or else at `place`.
    pub fn into_error(self, place: &Place) -> PlanError {
        PlanError::new(self.place.as_ref().unwrap_or(place), self.message, self.help)
    }
}

impl From<TextError> for Wrong {
    fn from(error: TextError) -> Wrong {
        Wrong::new(error.message, error.help)
    }
}

impl From<UnitError> for Wrong {
    /// A unit's complaint, parted where its own advice begins.
    fn from(error: UnitError) -> Wrong {
        let said = error.to_string();
        match said.split_once("; ") {
            Some((message, help)) => Wrong::new(message, help),
            None => Wrong::said(said),
        }
    }
}

/// Nobody reads more of them at once; a sweep over thousands of values may repeat one at each.
const MOST_MISTAKES: usize = 200;

/// Collects mistakes, each once, up to 200.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    found: Vec<PlanError>,
}

impl Mistakes {
    /// Adds one unless the same is known or there are enough. The first real mistake always finds room.
    pub fn add(&mut self, mistake: PlanError) {
        let room = self.found.len() < MOST_MISTAKES || mistake.weight() == Weight::Mistake && self.none();
        let known = |found: &PlanError| match mistake.weight() {
            Weight::Mistake => *found == mistake,
            // A range repeats a caution with another figure at each of its values.
            Weight::Caution => found.weight() == Weight::Caution && found.place() == mistake.place(),
        };
        if room && !self.found.iter().any(known) {
            self.found.push(mistake);
        }
    }

    /// Adds what a reader found wrong at `place`.
    pub fn wrong(&mut self, place: &Place, wrong: Wrong) {
        self.add(wrong.into_error(place));
    }

    /// The value, or `None` and one mistake more.
    pub fn take<T>(&mut self, place: &Place, result: Result<T, Wrong>) -> Option<T> {
        result.map_err(|wrong| self.wrong(place, wrong)).ok()
    }

    /// Whether nothing that prevents the plan from being carried out was found.
    pub fn none(&self) -> bool {
        !self.found.iter().any(|mistake| mistake.weight() == Weight::Mistake)
    }

    /// The cautions, or all mistakes.
    pub fn into_result(self) -> Result<Vec<PlanError>, PlanErrors> {
        if self.none() {
            return Ok(self.found);
        }
        let mistakes = self.found.into_iter().filter(|found| found.weight() == Weight::Mistake);
        Err(PlanErrors::new(mistakes.collect()))
    }
}
