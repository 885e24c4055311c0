//! The table of `fathom validate`: cases as they end, and what they say together.

use array::spec::case::{Case, Pattern, Score as Counting};
use array::validate::{CaseResult, Judged, Ranking, Ruling, Score, Scores};
use report::counted;
use units::{Nanos, Share};

/// Above the cases.
pub fn heading() -> String {
    format!(
        "{:<16} {:>12} {:>12} {:<9} {:>8}  {}\n",
        "case", "published", "modelled", "unit", "error", "verdict"
    )
}

/// How many have ended in `elapsed`, which is next, and how long the others take at that pace.
pub fn progress(cases: &[&Case], ended: usize, elapsed: Nanos) -> String {
    let all = cases.len();
    let left = elapsed.as_secs_f64() * (all - ended) as f64 / ended.max(1) as f64;
    let next = cases.get(ended).map(|case| format!(", next {}", case.id)).unwrap_or_default();
    format!("{ended} of {all} cases{next}, about {left:.0} s left")
}

/// A case and what became of it.
pub fn row(case: &Case, result: &CaseResult) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.2}"));
    let error = result.error.map_or_else(String::new, |error| format!("{:+.1} %", error * 100.0));
    let ruling = match &result.ruling {
        Ruling::Passes => "ok".to_owned(),
        Ruling::Fails => format!("LEAVES its tolerance of {}", case.tolerance),
        Ruling::Impossible(why) => format!("NOT MODELLED: {why}"),
    };
    let fitted = if case.fits.is_empty() { "" } else { ", fitted" };
    let listed = if case.score == Counting::Counts { "" } else { " (does not count)" };
    format!(
        "{:<16} {:>12} {:>12} {:<9} {:>8}  {ruling}{fitted}{listed}\n",
        case.id,
        number(result.published),
        number(result.value),
        case.unit.name(),
        error
    )
}

/// The scores of all systems together.
pub fn scores(judged: &[(&str, Judged<'_>)]) -> Scores {
    Scores::of(&judged.iter().map(|(_, one)| *one).collect::<Vec<_>>())
}

/// The scores of each system, in order of appearance.
pub fn by_system<'a>(judged: &[(&'a str, Judged<'_>)]) -> Vec<(&'a str, Scores)> {
    judged.chunk_by(|one, other| one.0 == other.0).map(|of_one| (of_one[0].0, scores(of_one))).collect()
}

/// The system with the most figures that count, and the scores of all others; `None` for one system alone.
pub fn without_largest<'a>(judged: &[(&'a str, Judged<'_>)]) -> Option<(&'a str, Scores)> {
    let systems = by_system(judged);
    let figures = |scores: &Scores| scores.foretold.figures + scores.fitted.figures;
    let (largest, _) = *systems.iter().max_by_key(|(_, scores)| figures(scores))?;
    let others: Vec<_> = judged.iter().filter(|(system, _)| *system != largest).copied().collect();
    (!others.is_empty()).then(|| (largest, scores(&others)))
}

/// Below the cases: a line for each system, one for all, one without the largest, and the answer.
pub fn closing(judged: &[(&str, Judged<'_>)]) -> String {
    let all = scores(judged);
    let systems = by_system(judged);
    let largest = without_largest(judged);
    let mut text = format!(
        "\n{:<18}{:>29}{:>24}{:>24}\n{:<18}{:>7}{:>8}{:>7}{:>7}{:>10}{:>7}{:>7}{:>10}{:>7}{:>7}\n",
        "",
        "foretold",
        "fitted",
        "scored or not",
        "system",
        "figures",
        "median",
        "<=25%",
        "hold",
        "figures",
        "median",
        "<=25%",
        "figures",
        "median",
        "<=25%"
    );
    for (system, scores) in &systems {
        text += &line(system, scores);
    }
    if systems.len() > 1 {
        text += &line("all", &all);
    }
    if let Some((largest, scores)) = &largest {
        text += &line(&format!("all but {largest}"), scores);
    }
    text + &answer(&all) + &ranked(ranking(judged, false), ranking(judged, true))
}

/// How far figures of one load are in the published order, all systems together; of random loads alone where it is so
/// asked.
pub fn ranking(judged: &[(&str, Judged<'_>)], random: bool) -> Ranking {
    let of_one = |of_one: &[(&str, Judged<'_>)]| {
        let each: Vec<Judged<'_>> = of_one.iter().map(|(_, one)| *one).collect();
        Ranking::of(&each, |load| !random || load.pattern == Pattern::Random)
    };
    judged.chunk_by(|one, other| one.0 == other.0).map(of_one).fold(Ranking::default(), Ranking::and)
}

fn ranked(all: Ranking, random: Ranking) -> String {
    if all.pairs == 0 {
        return String::new();
    }
    debug_assert!(random.pairs <= all.pairs, "random loads are some of all");
    let of_random = match random.pairs {
        0 => String::new(),
        pairs => format!("; of random loads {} of {pairs}", percent(random.share().map(Share::get))),
    };
    format!(
        "Ranking: {} of {} of one load further apart than their tolerance are in the published order{of_random}.\n",
        percent(all.share().map(Share::get)),
        counted(all.pairs, "pair"),
    )
}

pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.1}%", share * 100.0))
}

fn line(system: &str, scores: &Scores) -> String {
    let within = |score: &Score| percent(score.within_25.map(Share::get));
    let Scores { foretold, fitted, all } = scores;
    let held = match foretold.claims {
        0 => "-".to_owned(),
        claims => format!("{}/{claims}", foretold.claims_held),
    };
    format!(
        "{system:<18}{:>7}{:>8}{:>7}{held:>7}{:>10}{:>7}{:>7}{:>10}{:>7}{:>7}\n",
        foretold.figures,
        percent(foretold.median_error),
        within(foretold),
        fitted.figures,
        percent(fitted.median_error),
        within(fitted),
        all.figures,
        percent(all.median_error),
        within(all),
    )
}

fn answer(all: &Scores) -> String {
    let Scores { foretold, fitted, .. } = all;
    let mut parts = Vec::new();
    if foretold.figures > 0 {
        parts.push(format!(
            "{}, median error {}, {} within 25 %",
            counted(foretold.figures, "figure"),
            percent(foretold.median_error),
            percent(foretold.within_25.map(Share::get)),
        ));
    }
    if foretold.claims > 0 {
        parts.push(format!(
            "{} of {} bounds, orders and equalities hold",
            foretold.claims_held, foretold.claims
        ));
    }
    let mut text = String::from("\n");
    text += &match foretold.is_empty() {
        true => {
            "Nothing was foretold: figures of the models were fitted with every case that counts.\n".into()
        }
        false => format!("Foretold: {}.\n", parts.join("; ")),
    };
    if !fitted.is_empty() {
        text += &format!(
            "Fitted: {} had a part in the model's own figures; they show agreement, not foresight.\n",
            counted(fitted.figures + fitted.claims, "case")
        );
    }
    text
}
