//! What configurations give, each asked once: many cases share one, and a fit comes back to where it was.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use array::spec::Source;
use array::spec::case::{Case, Metric, Subject};
use array::validate::{CaseResult, Finding, Question, judge};

/// What one configuration answers, to each precision at which it was asked and that an answer before it was not for.
type Known = Arc<Mutex<Vec<Result<Finding, String>>>>;

/// A configuration that a case asks about, and no case before it to the same precision.
#[derive(Clone, Copy, Debug)]
pub struct PendingAnswer<'c> {
    /// Which case, by its position.
    pub position: usize,
    case: &'c Case,
    subject: &'c Subject,
}

impl<'c> PendingAnswer<'c> {
    /// What `cases` ask by the arrays of `library`, in their order, each configuration once. What cannot be asked is not
    /// among it: the case's own result says why.
    pub fn of(library: &dyn Source, cases: &[&'c Case]) -> Vec<PendingAnswer<'c>> {
        let mut known = HashSet::new();
        let each = cases.iter().enumerate().flat_map(|(position, &case)| {
            case.claim.subjects().into_iter().map(move |subject| PendingAnswer { position, case, subject })
        });
        each.filter(|asked| asked.key(library).is_some_and(|key| known.insert(key))).collect()
    }

    fn key(&self, library: &dyn Source) -> Option<(String, u64)> {
        let PendingAnswer { case, subject, .. } = self;
        let question = Question::new(library, subject, case.metric, case.precision()).ok()?;
        Some((question.key(), case.precision().to_bits()))
    }
}

/// Answers under one seed.
pub struct Answers {
    seed: u64,
    known: Mutex<HashMap<String, Known>>,
}

impl Answers {
    /// None yet.
    pub fn new(seed: u64) -> Answers {
        Answers { seed, known: Mutex::default() }
    }

    /// Has the answer ready for the case that asks for it.
    pub fn prepare(&self, library: &dyn Source, asked: &PendingAnswer<'_>) {
        let PendingAnswer { case, subject, .. } = asked;
        // Where there is none the case's result says why.
        let _answer = self.of(library, subject, case.metric, case.precision());
    }

    /// What becomes of a case by the arrays of `library`.
    pub fn judge(&self, library: &dyn Source, case: &Case) -> CaseResult {
        let precision = case.precision();
        judge(case, |subject, metric| self.of(library, subject, metric, precision))
    }

    /// What `metric` is of `subject` by the arrays of `library` in base units, to the part `precision` of it, or why there
    /// is none. Who asks for what another thread is asking for waits.
    fn of(
        &self,
        library: &dyn Source,
        subject: &Subject,
        metric: Metric,
        precision: f64,
    ) -> Result<f64, String> {
        let question =
            Question::new(library, subject, metric, precision).map_err(|error| error.to_string())?;
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(question.key()).or_default().clone()
        };
        let mut known = cell.lock().unwrap_or_else(PoisonError::into_inner);
        // Why there is none does not hang on the precision.
        let is_answer = |found: &Result<Finding, String>| {
            found.as_ref().map_or(true, |found| question.is_answered_by(found))
        };
        let place = known.iter().position(is_answer).unwrap_or_else(|| {
            known.push(question.find(self.seed).map_err(|error| error.to_string()));
            known.len() - 1
        });
        debug_assert!(place < known.len(), "an answer is known, or was found");
        let value = |finding| question.value(finding).map_err(|error| error.to_string());
        known[place].as_ref().map_err(String::clone).and_then(value)
    }
}
