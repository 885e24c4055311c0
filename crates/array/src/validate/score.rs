//! What the results of many cases say together: apart for figures that a model foretold and for those it was fitted with.

use units::Share;

use super::{CaseResult, Ruling};
use crate::spec::case::{Case, Claim, Load, Score as Counting};

/// A case and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// What was published.
    pub case: &'a Case,
    /// What became of it.
    pub result: &'a CaseResult,
}

impl Judged<'_> {
    /// Whether a value or a ratio was published, and not a bound, an order or an equality.
    fn is_figure(&self) -> bool {
        matches!(self.case.claim, Claim::Absolute { .. } | Claim::Ratio { .. })
    }

    fn counts(&self) -> bool {
        self.case.score == Counting::Counts
    }

    /// The absolute error; infinite where the model gave no value.
    fn distance(&self) -> f64 {
        self.result.error.map_or(f64::INFINITY, f64::abs)
    }
}

/// What some results say together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Published values and ratios, those that could not be modelled among them.
    pub figures: usize,
    /// The median of their absolute errors; none where there are no figures, or half of them could not be modelled.
    pub median_error: Option<f64>,
    /// The part of them whose absolute error is at most a quarter; none where there are no figures.
    pub within_25: Option<Share>,
    /// Bounds, orderings and equalities, those that could not be modelled among them.
    pub claims: usize,
    /// Those of them that hold.
    pub claims_held: usize,
}

impl Score {
    /// The score of `judged`, all of them.
    pub fn of<'a>(judged: impl IntoIterator<Item = &'a Judged<'a>>) -> Score {
        let (figures, claims): (Vec<&Judged>, Vec<&Judged>) =
            judged.into_iter().partition(|one| one.is_figure());
        let mut errors: Vec<f64> = figures.iter().map(|one| one.distance()).collect();
        errors.sort_by(f64::total_cmp);
        Score {
            figures: errors.len(),
            median_error: median(&errors).filter(|error| error.is_finite()),
            within_25: share(errors.iter().filter(|error| **error <= 0.25).count(), errors.len()),
            claims: claims.len(),
            claims_held: claims.iter().filter(|one| one.result.ruling == Ruling::Passes).count(),
        }
    }

    /// The part of the bounds, orderings and equalities that hold; none where there are none.
    pub fn claims_share(&self) -> Option<Share> {
        share(self.claims_held, self.claims)
    }

    /// Whether there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.figures + self.claims == 0
    }
}

/// How far a model puts figures of one load in the order that was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    /// Pairs of figures that count, of one load asked of different configurations, whose published values are further
    /// apart than their tolerance.
    pub pairs: usize,
    /// Those of them that are modelled in the published order.
    pub ordered: usize,
}

impl Ranking {
    /// That of `judged`, which are of one system, as far as `is_of` takes in their load.
    pub fn of(judged: &[Judged<'_>], is_of: impl Fn(&Load) -> bool) -> Ranking {
        let figure = |one: &&Judged<'_>| match &one.case.claim {
            Claim::Absolute { subject, .. } => {
                let takes_in = matches!(&subject.loads[..], [load] if is_of(load));
                takes_in && one.counts() && one.result.value.is_some()
            }
            _ => false,
        };
        let figures: Vec<&Judged<'_>> = judged.iter().filter(figure).collect();
        let mut ranking = Ranking::default();
        for (index, one) in figures.iter().enumerate() {
            for other in figures[..index].iter().filter(|other| are_alike(one.case, other.case)) {
                let over = |one: Option<f64>, other: Option<f64>| {
                    one.zip(other).map_or(1.0, |(one, other)| one / other)
                };
                let published = over(one.result.published, other.result.published);
                let modelled = over(one.result.value, other.result.value);
                let tolerance = 1.0 + one.case.tolerance.get().max(other.case.tolerance.get());
                if published.max(1.0 / published) > tolerance {
                    ranking.pairs += 1;
                    ranking.ordered += usize::from((published > 1.0) == (modelled > 1.0));
                }
            }
        }
        ranking
    }

    /// That of both together.
    pub fn and(self, other: Ranking) -> Ranking {
        Ranking { pairs: self.pairs + other.pairs, ordered: self.ordered + other.ordered }
    }

    /// The part of the pairs that is in order; none where there are no pairs.
    pub fn share(&self) -> Option<Share> {
        share(self.ordered, self.pairs)
    }
}

/// Whether two cases ask the same of what may be different configurations.
fn are_alike(one: &Case, other: &Case) -> bool {
    let load = |case: &Case| match case.claim.subjects().first() {
        Some(subject) if subject.occasion.is_none() => {
            subject.loads.first().map(|load| Load { name: String::new(), held: Share::NONE, ..load.clone() })
        }
        _ => None,
    };
    one.metric == other.metric && load(one).is_some() && load(one) == load(other)
}

/// The three scores of a set of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Of the cases that count and that no figure of the model was fitted with: what the model is worth for the unseen.
    pub foretold: Score,
    /// Of the cases that count and that a figure of the model was fitted with: how well the fit agrees.
    pub fitted: Score,
    /// Of every case, those that do not count among them.
    pub all: Score,
}

impl Scores {
    /// The scores of `judged`.
    pub fn of(judged: &[Judged<'_>]) -> Scores {
        let counting = |fitted: bool| {
            judged.iter().filter(move |one| one.counts() && one.case.fits.is_empty() != fitted)
        };
        Scores {
            foretold: Score::of(counting(false)),
            fitted: Score::of(counting(true)),
            all: Score::of(judged),
        }
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

fn share(part: usize, whole: usize) -> Option<Share> {
    (whole > 0).then(|| Share::new(part as f64 / whole as f64)).flatten()
}
