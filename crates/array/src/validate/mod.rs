//! Models held to published figures: case by case the modelled value, the error, and whether it passes.
//!
//! [`judge`] is pure: it is given what models a configuration. [`measure`] does so with this crate's simulation.
//!
//! **Invariant:** a case that does not count never changes a [`Summary`].

mod measure;

#[cfg(test)]
mod tests;

pub use measure::{MeasureError, measure, progress};

use units::Share;

use crate::spec::case::{Case, Claim, Metric, Score, Subject};

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
    /// Whether it counts.
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

/// What all cases that count say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Absolute cases and ratios that count.
    pub figures: usize,
    /// The median of their absolute errors.
    pub median_error: Option<f64>,
    /// The part of them whose absolute error is at most a quarter.
    pub within_25: Option<Share>,
    /// Bounds, orderings and equalities that count.
    pub claims: usize,
    /// Those of them that pass.
    pub claims_passed: usize,
    /// Cases that count and do not pass, of every kind.
    pub failed: usize,
    /// Cases that do not count.
    pub listed: usize,
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
        counts: case.score == Score::Counts,
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

/// What the verdicts say together.
pub fn summarise(verdicts: &[CaseResult]) -> Summary {
    let counting = || verdicts.iter().filter(|verdict| verdict.counts);
    let mut errors: Vec<f64> = counting().filter_map(|verdict| verdict.error).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let claims = || counting().filter(|verdict| verdict.error.is_none() && verdict.value.is_some());
    let within = errors.iter().filter(|error| **error <= 0.25).count();
    Summary {
        figures: errors.len(),
        median_error: median(&errors),
        within_25: (!errors.is_empty()).then(|| Share::new(within as f64 / errors.len() as f64)).flatten(),
        claims: claims().count(),
        claims_passed: claims().filter(|verdict| verdict.ruling == Ruling::Passes).count(),
        failed: counting().filter(|verdict| verdict.ruling != Ruling::Passes).count(),
        listed: verdicts.iter().filter(|verdict| !verdict.counts).count(),
    }
}

/// The middle of sorted values, or the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}
