//! What `fathom validate --format json` prints.

use array::spec::case::Score as Counting;
use array::validate::{Judged, Ranking, Ruling, Score, Scores};
use serde::Serialize;
use units::Share;

use super::text::{by_system, ranking, scores, without_largest};

/// All cases and their scores.
#[derive(Serialize)]
pub struct Document<'a> {
    seed: u64,
    cases: Vec<Row<'a>>,
    systems: Vec<Named<'a>>,
    all: Three,
    without_largest: Option<Named<'a>>,
    ranking: Ranked,
    ranking_of_random: Ranked,
}

/// Pairs of figures of one load that lie further apart than their tolerance, and those in the published order.
#[derive(Serialize)]
struct Ranked {
    pairs: usize,
    ordered: usize,
}

/// A case.
#[derive(Serialize)]
pub struct Row<'a> {
    id: &'a str,
    system: &'a str,
    source: &'a str,
    claim: &'static str,
    unit: &'static str,
    published: Option<f64>,
    modelled: Option<f64>,
    error: Option<f64>,
    tolerance: f64,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_modelled: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    fits: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    does_not_count: Option<&'a str>,
}

/// The scores of a system, or of all but it.
#[derive(Serialize)]
struct Named<'a> {
    system: &'a str,
    #[serde(flatten)]
    scores: Three,
}

/// The three scores of a set of cases.
#[derive(Serialize)]
struct Three {
    foretold: One,
    fitted: One,
    all: One,
}

/// A score.
#[derive(Serialize)]
pub struct One {
    figures: usize,
    median_error: Option<f64>,
    within_25_percent: Option<f64>,
    claims: usize,
    claims_held: usize,
}

/// `judged` with the name of each one's system.
pub fn document<'a>(judged: &[(&'a str, Judged<'a>)], seed: u64) -> Document<'a> {
    let named = |(system, scores): (&'a str, Scores)| Named { system, scores: three(&scores) };
    Document {
        seed,
        cases: judged.iter().map(|(system, one)| row(system, *one)).collect(),
        systems: by_system(judged).into_iter().map(named).collect(),
        all: three(&scores(judged)),
        without_largest: without_largest(judged).map(named),
        ranking: ranked(ranking(judged, false)),
        ranking_of_random: ranked(ranking(judged, true)),
    }
}

fn ranked(Ranking { pairs, ordered }: Ranking) -> Ranked {
    Ranked { pairs, ordered }
}

pub fn row<'a>(system: &'a str, judged: Judged<'a>) -> Row<'a> {
    let Judged { case, result } = judged;
    let (verdict, not_modelled) = match &result.ruling {
        Ruling::Passes => ("within tolerance", None),
        Ruling::Fails => ("outside tolerance", None),
        Ruling::Impossible(why) => ("not modelled", Some(why.as_str())),
    };
    Row {
        id: &case.id,
        system,
        source: &case.source,
        claim: case.claim.kind(),
        unit: case.unit.name(),
        published: result.published,
        modelled: result.value,
        error: result.error,
        tolerance: case.tolerance.get(),
        verdict,
        not_modelled,
        fits: &case.fits,
        does_not_count: match &case.score {
            Counting::Counts => None,
            Counting::Listed(why) => Some(why),
        },
    }
}

fn three(scores: &Scores) -> Three {
    Three { foretold: one(&scores.foretold), fitted: one(&scores.fitted), all: one(&scores.all) }
}

pub fn one(score: &Score) -> One {
    One {
        figures: score.figures,
        median_error: score.median_error,
        within_25_percent: score.within_25.map(Share::get),
        claims: score.claims,
        claims_held: score.claims_held,
    }
}
