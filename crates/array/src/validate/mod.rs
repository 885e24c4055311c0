//! Models held to published figures: case by case the modelled value, the error, and whether it passes.
//!
//! [`judge`] is pure: it is given what models a configuration. [`measure`] does so with this crate's simulation.
//!
//! **Invariant:** a case that does not count never changes the scores of what was foretold and fitted ([`Scores`]).

mod foretold;
mod measure;
mod score;

#[cfg(test)]
mod tests;

pub use foretold::{Foretold, foretold, median_error, written};
pub use measure::{Finding, MeasureError, Precisions, Question, measure, progress};
pub use score::{Judged, Ranking, Score, Scores};

use crate::spec::case::{self, Case, Claim, Metric, Subject};

/// What became of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// The case's.
    pub id: String,
    /// What each configuration gave, in the case's unit, in the order of [`Claim::subjects`].
    pub modelled: Vec<f64>,
    /// What is compared: a value, a ratio, or for orderings and equalities the ratio that decides.
    pub value: Option<f64>,
    /// What it is compared with: the published value, or the limit that is nearest to being crossed.
    pub published: Option<f64>,
    /// `value / published − 1` of absolute cases and ratios.
    pub error: Option<f64>,
    /// How it ended.
    pub ruling: Ruling,
    /// Whether it is part of the score, and not only shown.
    pub counts: bool,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// Within its tolerance.
    Passes,
    /// Outside it.
    Fails,
    /// It could not be modelled, for this reason.
    Impossible(String),
}

/// Runs every configuration of `case` through `model`, which gives its metric in the units of
/// [`Unit::scale`](crate::spec::case::Unit::scale) 1, and compares.
pub fn judge<E: std::fmt::Display>(
    case: &Case,
    mut model: impl FnMut(&Subject, Metric) -> Result<f64, E>,
) -> CaseResult {
    let verdict = |modelled, compared: Compared| CaseResult {
        id: case.id.clone(),
        modelled,
        value: compared.value,
        published: compared.published,
        error: compared.error,
        ruling: compared.ruling,
        counts: case.score == case::Score::Counts,
    };
    let mut modelled = Vec::new();
    for subject in case.claim.subjects() {
        match model(subject, case.metric) {
            Ok(value) => modelled.push(value / case.unit.scale()),
            Err(error) => return verdict(modelled, Compared::impossible(error.to_string())),
        }
    }
    let compared = compare(&case.claim, case.tolerance.get(), &modelled);
    verdict(modelled, compared)
}

struct Compared {
    value: Option<f64>,
    published: Option<f64>,
    error: Option<f64>,
    ruling: Ruling,
}

impl Compared {
    fn impossible(why: String) -> Compared {
        Compared { value: None, published: None, error: None, ruling: Ruling::Impossible(why) }
    }

    fn figure(value: f64, published: f64, tolerance: f64) -> Compared {
        let error = value / published - 1.0;
        Compared { error: Some(error), ..Compared::claim(value, published, error.abs() <= tolerance) }
    }

    fn claim(value: f64, published: f64, holds: bool) -> Compared {
        let ruling = if holds { Ruling::Passes } else { Ruling::Fails };
        Compared { value: Some(value), published: Some(published), error: None, ruling }
    }
}

/// `modelled` in the order of [`Claim::subjects`].
fn compare(claim: &Claim, tolerance: f64, modelled: &[f64]) -> Compared {
    if modelled.iter().any(|value| !value.is_finite()) {
        return Compared::impossible("the model gave no number".into());
    }
    match (claim, modelled) {
        (Claim::Absolute { value, .. }, [modelled]) => Compared::figure(*modelled, *value, tolerance),
        (Claim::Ratio { value, .. }, [above, below]) => Compared::figure(above / below, *value, tolerance),
        (Claim::Bound { least, most, .. }, [value]) => bound(*value, *least, *most, tolerance),
        (Claim::Bound { least, most, .. }, [above, below]) => bound(above / below, *least, *most, tolerance),
        (Claim::Ordering { factor, .. }, values) => {
            let smallest = values.windows(2).map(|pair| pair[0] / pair[1]).fold(f64::INFINITY, f64::min);
            // Where only the order is asked for, equal is not more.
            let holds = if *factor > 1.0 { smallest >= *factor } else { smallest > 1.0 };
            Compared::claim(smallest, *factor, holds)
        }
        (Claim::Equal { .. }, values) => {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
            Compared::claim(largest / smallest, 1.0, largest <= smallest * (1.0 + tolerance))
        }
        _ => Compared::impossible("not every configuration was modelled".into()),
    }
}

fn bound(value: f64, least: Option<f64>, most: Option<f64>, tolerance: f64) -> Compared {
    let above = least.is_none_or(|least| value >= least * (1.0 - tolerance));
    let below = most.is_none_or(|most| value <= most * (1.0 + tolerance));
    let nearest = match (least, most) {
        (Some(least), Some(most)) if value / least < most / value => least,
        (Some(least), None) => least,
        (_, Some(most)) => most,
        (None, None) => f64::NAN,
    };
    Compared::claim(value, nearest, above && below)
}
