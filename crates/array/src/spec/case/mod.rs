//! Published figures as cases: what was measured, on which array, with which load, and what came out.
//!
//! The format is described in `validation/README.md`; [`cases`] reads a file of it.
//!
//! **Invariant:** a case that does not count towards the score says why.

mod read;
mod subject;
mod unit;

#[cfg(test)]
mod tests;

pub use subject::{Activity, ActivityKind, Load, Pattern, Subject};
pub use unit::{Metric, Unit};

use document::{Errors, TextSpan};
use units::Share;

/// A file of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseFile {
    /// Which figures these are, in a sentence.
    pub about: String,
    /// The cases, in the order written.
    pub cases: Vec<Case>,
    /// Published figures that no case can be made of.
    pub omitted: Vec<Omitted>,
}

/// One published figure and how to ask a model for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Unique within its file: the figure's number in its source.
    pub id: String,
    /// Where it stands.
    pub at: TextSpan,
    /// What was published where, and what was assumed to make a case of it.
    pub about: String,
    /// The write-up or document, with its year.
    pub source: String,
    /// What is compared.
    pub claim: Claim,
    /// What is measured.
    pub metric: Metric,
    /// The unit of the published value.
    pub unit: Unit,
    /// How far the model may be off, as a part of the published value.
    pub tolerance: Share,
    /// Whether it counts.
    pub score: Score,
    /// The figures of the library that were fitted with its help, as `FILE KEY`: it then shows agreement, not foresight.
    pub fits: Vec<String>,
}

/// How far the 95 % interval of a value may reach, as a part of it, whatever it is compared with.
pub const PRECISION_LEAST: f64 = 0.005;

/// What a run's own interval may take of the effect that is tested: half of it where a claim holds or does not, for an
/// interval that has both sides of a bound decides nothing.
const PRECISION_OF_FIGURE: f64 = 1.0 / 10.0;
const PRECISION_OF_CLAIM: f64 = PRECISION_OF_FIGURE / 2.0;

impl Case {
    /// How far the 95 % interval of each value may reach, as a part of it: a tenth of the tolerance of a figure, a twentieth
    /// of that of a claim or of what an ordering asks for; half a percent where that is finer.
    pub fn precision(&self) -> f64 {
        let (effect, part) = match &self.claim {
            Claim::Ordering { factor, .. } => (factor - 1.0, PRECISION_OF_CLAIM),
            Claim::Absolute { .. } => (self.tolerance.get(), PRECISION_OF_FIGURE),
            _ => (self.tolerance.get(), PRECISION_OF_CLAIM),
        };
        (effect.min(LARGEST_EFFECT) * part).max(PRECISION_LEAST)
    }
}

/// Beyond a quarter nothing is taken less exactly: the score counts what lies within it.
const LARGEST_EFFECT: f64 = 0.25;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// One configuration gives this value.
    Absolute {
        /// What is run.
        subject: Subject,
        /// Published.
        value: f64,
    },
    /// The first configuration's value over the second's.
    Ratio {
        /// Above the line.
        subject: Subject,
        /// Below it.
        against: Subject,
        /// Published.
        value: f64,
    },
    /// One configuration, or its ratio to another, stays within this.
    Bound {
        /// What is run.
        subject: Subject,
        /// What it is divided by, if anything.
        against: Option<Subject>,
        /// At least so much.
        least: Option<f64>,
        /// At most so much.
        most: Option<f64>,
    },
    /// Each configuration gives more than the next, by at least `factor`.
    Ordering {
        /// From the largest to the smallest.
        subjects: Vec<Subject>,
        /// At least this ratio between neighbours; 1 asks only for the order.
        factor: f64,
    },
    /// All configurations give the same within the tolerance.
    Equal {
        /// In any order.
        subjects: Vec<Subject>,
    },
}

impl Claim {
    /// Every configuration it names, in the order written.
    pub fn subjects(&self) -> Vec<&Subject> {
        match self {
            Claim::Absolute { subject, .. } => vec![subject],
            Claim::Bound { subject, against, .. } => [subject].into_iter().chain(against).collect(),
            Claim::Ratio { subject, against, .. } => vec![subject, against],
            Claim::Ordering { subjects, .. } | Claim::Equal { subjects } => subjects.iter().collect(),
        }
    }

    /// The same, to be changed.
    pub fn subjects_mut(&mut self) -> Vec<&mut Subject> {
        match self {
            Claim::Absolute { subject, .. } => vec![subject],
            Claim::Bound { subject, against, .. } => [subject].into_iter().chain(against).collect(),
            Claim::Ratio { subject, against, .. } => vec![subject, against],
            Claim::Ordering { subjects, .. } | Claim::Equal { subjects } => subjects.iter_mut().collect(),
        }
    }

    /// `absolute`, `ratio`, `bound`, `ordering` or `equal`.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Absolute { .. } => "absolute",
            Claim::Ratio { .. } => "ratio",
            Claim::Bound { .. } => "bound",
            Claim::Ordering { .. } => "ordering",
            Claim::Equal { .. } => "equal",
        }
    }
}

/// Whether a case counts towards the median and the share within 25 %.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Score {
    /// It does.
    Counts,
    /// It is run and shown, but does not count, for this reason.
    Listed(String),
}

/// Published figures that no case can be made of, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Their numbers.
    pub ids: Vec<String>,
    /// In a sentence.
    pub why: String,
}

/// Reads a file of cases; `label` is what errors call it.
///
/// Addresses of arrays are read but not looked up: see [`array`](super::array) for that.
pub fn cases(label: &str, text: &str) -> Result<CaseFile, Errors> {
    read::file(label, text)
}

/// The shipped cases: name and text of each file of `validation/`.
pub fn shipped() -> &'static [(&'static str, &'static str, &'static str)] {
    super::shipped::CASES
}
