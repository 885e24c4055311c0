//! What configurations give, each asked once: many cases share one, and a fit comes back to where it was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use array::spec::Source;
use array::spec::case::{Metric, Subject};
use array::validate::Question;

/// Answers under one seed.
pub struct Answers {
    seed: u64,
    known: Mutex<HashMap<String, Arc<OnceLock<Answer>>>>,
}

/// A value in base units, or why there is none.
type Answer = Result<f64, String>;

impl Answers {
    /// None yet.
    pub fn new(seed: u64) -> Answers {
        Answers { seed, known: Mutex::default() }
    }

    /// What `metric` is of `subject` by the arrays of `library`. Who asks for what another thread is asking for waits.
    pub fn of(&self, library: &dyn Source, subject: &Subject, metric: Metric) -> Answer {
        let question = Question::new(library, subject, metric).map_err(|error| error.to_string())?;
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(question.key()).or_default().clone()
        };
        cell.get_or_init(|| question.answer(self.seed).map_err(|error| error.to_string())).clone()
    }
}
