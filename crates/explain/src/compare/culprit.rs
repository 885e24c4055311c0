//! Which part became slower: the change of a part of the model under which the model's figures change as the measured
//! ones did.
//!
//! A slower part leaves a pattern: which sizes, depths and operations it slows, whether the middle of the response times or
//! their tail, and whether the host works longer for a request. Each suspect is a change of one part, of several degrees,
//! with the figures that the model then has at the points of the plan. How likely it is, is the mean over its degrees: what
//! explains the figures with one degree of many has been fitted to them, and counts for less than what happens or does not.
//! The likeliest suspect *fits* where, at its likeliest degree, every figure lies within the noise of the measurement and
//! the error of a model, and all of them together are no stranger than those make them; it is *named* where it fits and neither another part that fits nor noise alone is nearly as likely.
//! Everything else is unknown. At one point alone any degree of many that slows it by as much fits: there no part is likelier than another that
//! fits.
//!
//! **Invariant:** a part is named by what was measured alone: no suspect is likelier than another beforehand, and no degree
//! on the scale of logarithms. Source: MacKay, *Bayesian interpolation*, Neural Computation 4 (1992), on evidence.

use std::collections::BTreeSet;

use record::judgement::{Culprit, Suspect};
use stats::gate::quantile;

use super::figure_pair::{FigurePair, MISFIT, paired};
use super::shifts::Shift;
use super::suspicion::{Suspicion, Traced};
use crate::draft::percent;

/// A part is named where it explains the figures so many times as well as every other part.
pub const LIKELIER: f64 = 20.0;

/// Suspects that are told at most.
const TOLD: usize = 3;

/// The suspicions that are worth another look, the likeliest first, each with its degree: where
/// one is not [`LIKELIER`] squared times less likely than the first, `most` of them.
pub fn likely(measured: &[Shift], suspicions: &[Suspicion], most: usize) -> Vec<(usize, f64)> {
    let traced = suspicions.iter().enumerate().filter_map(|(at, one)| Some((at, one.trace(measured)?)));
    let mut all: Vec<(usize, Traced)> = traced.collect();
    all.sort_by(|(_, one), (_, other)| other.log_likelihood.total_cmp(&one.log_likelihood));
    let best = all.first().map_or(0.0, |(_, one)| one.log_likelihood);
    let near = all.into_iter().filter(|(_, one)| best - one.log_likelihood <= 2.0 * LIKELIER.ln());
    near.take(most).map(|(at, one)| (at, one.times)).collect()
}

/// A part whose time is no further from that of the array as it is was not changed: it would be told as `1.0 times`.
const SLIGHT: f64 = 0.05;

/// The part that became slower, of those that `suspicions` name, by the figures `measured`; unknown where none fits and
/// where two fit about equally.
pub fn culprit(model: &str, measured: &[Shift], suspicions: &[Suspicion]) -> Culprit {
    let is_one_point = measured.iter().filter_map(Shift::point).collect::<BTreeSet<_>>().len() < 2;
    let trace = |one: &Suspicion| {
        let mut traced = one.trace(measured)?;
        // The one point is what a degree is taken from: that others would not fit it says nothing against the part.
        if is_one_point {
            traced.log_likelihood = traced.highest;
        }
        Some(traced)
    };
    let mut all: Vec<(&Suspicion, Traced)> =
        suspicions.iter().filter_map(|one| Some((one, trace(one)?))).collect();
    if is_one_point {
        let highest =
            all.iter().filter(|(_, one)| one.fits).map(|(_, one)| one.log_likelihood).reduce(f64::max);
        all.iter_mut()
            .filter(|(_, one)| one.fits)
            .for_each(|(_, one)| one.log_likelihood = highest.unwrap_or_default());
        // What fits stays in the order that it was given in.
        all.sort_by_key(|(_, one)| !one.fits);
    }
    all.sort_by(|(_, one), (_, other)| other.log_likelihood.total_cmp(&one.log_likelihood));
    let tried = all.iter().map(|(one, _)| &one.part).collect::<BTreeSet<_>>().len();
    // A part that is slower by nothing is the array as it is, and no candidate.
    all.retain(|(one, traced)| one.tried.len() < 2 || (traced.times - 1.0).abs() >= SLIGHT);
    let best = all.first().map_or(0.0, |(_, traced)| traced.log_likelihood);
    let mut parts: Vec<Vec<(&Suspicion, Traced)>> = Vec::new();
    for one in all {
        match parts.iter_mut().find(|changes| changes[0].0.part == one.0.part) {
            Some(changes) => changes.push(one),
            None => parts.push(vec![one]),
        }
    }
    let suspects: Vec<Suspect> = parts.iter().map(|changes| suspect(changes, best)).collect();
    let is_noise =
        !suspects.is_empty() && is_within_noise(measured) && best - noise_alone(measured) < LIKELIER.ln();
    let why = if is_noise { NOISE_ALONE.into() } else { unknown(model, &suspects, tried, is_one_point) };
    let part = suspects.first().filter(|_| why.is_empty()).map(|first| first.part.clone());
    let figures = u32::try_from(measured.len()).unwrap_or(u32::MAX);
    let suspects = suspects.into_iter().take(TOLD).collect();
    Culprit { model: model.into(), part, why, figures, suspects }
}

/// A part with its changes, the likeliest first, where the likeliest of all is as likely as `best` says. It has those that fit
/// about as well as the first, too: the part is known, and not which of its changes it was.
fn suspect(changes: &[(&Suspicion, Traced)], best: f64) -> Suspect {
    let (first, traced) = &changes[0];
    let is_near = |other: &Traced| traced.log_likelihood - other.log_likelihood < LIKELIER.ln();
    let others = changes.iter().skip(1).filter(|(_, other)| traced.fits && other.fits && is_near(other));
    let near = others.map(|(other, traced)| other.told(traced.times));
    let mut told: Vec<String> = std::iter::once(first.told(traced.times)).chain(near).collect();
    told.dedup();
    let (worst, measured, modelled) = traced.worst.clone().unwrap_or_default();
    Suspect {
        part: first.part.clone(),
        change: told.join(" or "),
        fits: traced.fits,
        less_likely: (best - traced.log_likelihood).min(300.0).exp(),
        worst,
        measured: measured.exp_m1(),
        modelled: modelled.exp_m1(),
    }
}

/// Why no part is named where nothing has to have changed.
const NOISE_ALONE: &str = "the noise of the runs explains the pattern about as well as any part; longer or more runs have less of it";

/// Whether no figure changed by more than the intervals of the runs leave to chance, all figures together.
fn is_within_noise(measured: &[Shift]) -> bool {
    paired(measured, |_| Some((0.0, 0.0))).iter().all(|one| {
        let reach = quantile(one.measured.freedom, 1.0 - MISFIT / (2.0 * measured.len() as f64));
        one.off().abs() <= one.least() + reach * one.noise()
    })
}

/// The logarithm of the likelihood of what was measured where nothing has changed.
fn noise_alone(measured: &[Shift]) -> f64 {
    paired(measured, |_| Some((0.0, 0.0))).iter().map(FigurePair::log_likelihood).sum()
}

/// What the records themselves say was changed, one thing or several, and the figures of the model with that.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// `link.rate`, `link.rate and cache.size`.
    pub part: String,
    /// From what to what.
    pub change: String,
    /// By how much the figures of the model then change.
    pub shifts: Vec<Shift>,
}

/// What the records themselves say was changed, where the figures of the model then change as the measured ones did; `None` where they
/// do not. Of several that fit it is the first, what names fewer changes being given first, unless another is so much likelier.
pub fn as_changed(model: &str, measured: &[Shift], tried: &[Recorded]) -> Option<Culprit> {
    let mut chosen: Option<(Suspicion, Traced)> = None;
    for Recorded { part, change, shifts } in tried {
        let were = if part.contains(" and ") { "were" } else { "was" };
        let change = format!("{were} changed: {change}; it fits");
        let one = Suspicion { part: part.clone(), change, tried: vec![(1.0, shifts.clone())] };
        let Some(traced) = one.trace(measured).filter(|traced| traced.fits) else { continue };
        let is_likelier = |than: &Traced| traced.log_likelihood - than.log_likelihood >= LIKELIER.ln();
        if chosen.as_ref().is_none_or(|(_, than)| is_likelier(than)) {
            chosen = Some((one, traced));
        }
    }
    let (one, traced) = chosen?;
    let (part, best) = (Some(one.part.clone()), traced.log_likelihood);
    let suspects = vec![suspect(&[(&one, traced)], best)];
    let figures = u32::try_from(measured.len()).unwrap_or(u32::MAX);
    Some(Culprit { model: model.into(), part, why: String::new(), figures, suspects })
}

/// Why no part is named, of so many that were tried; empty where one is.
fn unknown(model: &str, suspects: &[Suspect], tried: usize, is_one_point: bool) -> String {
    let none = format!("none of the parts of {model} that were tried ({tried}) explains the pattern");
    let Some(first) = suspects.first() else {
        return if tried == 0 {
            format!("{model} has no figure of the points that were compared")
        } else {
            none
        };
    };
    if !first.fits {
        return format!(
            "{none}; nearest comes {} {}, which changes {} by {} instead of {}",
            first.part,
            first.change,
            first.worst,
            percent(first.modelled),
            percent(first.measured)
        );
    }
    let rivals: Vec<String> = suspects
        .iter()
        .filter(|one| one.fits && one.less_likely < LIKELIER)
        .map(|one| format!("{} {}", one.part, one.change))
        .collect();
    if rivals.len() < 2 {
        return String::new();
    }
    if is_one_point {
        return format!(
            "one point cannot tell these apart: {}; measure several sizes, mixes and depths",
            rivals.join(", ")
        );
    }
    format!(
        "these explain the pattern about equally: {}; points of other sizes, mixes or depths tell them apart",
        rivals.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::host_time::HOST_TIME;
    use super::*;

    /// Figures of two cells: the middle and the tail of `a`, and the middle of `b`, by so many parts more.
    fn changed(parts: [f64; 3]) -> Vec<Shift> {
        let of = |cell: &str, metric: &str, part: f64| Shift {
            cell: cell.into(),
            metric: metric.into(),
            log: part.ln_1p(),
            variance: 0.01f64.powi(2),
            freedom: 8.0,
        };
        vec![of("a", "mean", parts[0]), of("a", "p99", parts[1]), of("b", "mean", parts[2])]
    }

    fn suspicion(part: &str, tried: &[(f64, [f64; 3])]) -> Suspicion {
        let tried = tried.iter().map(|(times, parts)| (*times, changed(*parts))).collect();
        Suspicion { part: part.into(), change: "{} times as slow".into(), tried }
    }

    fn all() -> Vec<Suspicion> {
        vec![
            suspicion("disks", &[(2.0, [0.5, 0.5, 0.1]), (4.0, [1.5, 1.5, 0.3])]),
            suspicion("link", &[(2.0, [0.0, 0.0, 0.5]), (4.0, [0.0, 0.0, 1.5])]),
            suspicion("cache", &[(1.0, [0.0, 2.0, 0.0])]),
        ]
    }

    #[test]
    fn of_what_the_records_name_one_change_that_fits_is_enough_and_several_that_fit_better_are_told() {
        let recorded = |part: &str, parts: [f64; 3]| Recorded {
            part: part.into(),
            change: "1 → 2".into(),
            shifts: changed(parts),
        };
        let tried = [
            recorded("rate", [0.5, 0.5, 0.1]),
            recorded("size", [0.0, 0.0, 0.5]),
            recorded("rate and size", [0.5, 0.5, 0.6]),
        ];
        let named = |parts: [f64; 3]| as_changed("array:m", &changed(parts), &tried).and_then(|one| one.part);
        assert_eq!(named([0.5, 0.5, 0.1]).as_deref(), Some("rate"));
        assert_eq!(named([0.5, 0.5, 0.6]).as_deref(), Some("rate and size"));
        assert_eq!(named([0.0, 0.0, 3.0]), None, "no change that is known explains it");
        let nothing_more = [tried[0].clone(), recorded("rate and name", [0.5, 0.5, 0.1])];
        let found = as_changed("array:m", &changed([0.5, 0.5, 0.1]), &nothing_more);
        assert_eq!(found.and_then(|one| one.part).as_deref(), Some("rate"), "what adds nothing is not named");
    }

    #[test]
    fn the_part_whose_pattern_was_measured_is_named_with_its_degree() {
        for (measured, part, change) in [
            ([0.5, 0.5, 0.1], "disks", "2.0 times as slow"),
            ([0.9, 0.9, 0.18], "disks", "2.8 times as slow"),
            ([0.0, 0.0, 0.22], "link", "1.4 times as slow"),
            ([0.0, 2.0, 0.0], "cache", "1.0 times as slow"),
        ] {
            let found = culprit("array:m", &changed(measured), &all());
            assert_eq!(found.part.as_deref(), Some(part), "{found:#?}");
            let close = |one: &str, other: &str| {
                let number = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
                (number(one) - number(other)).abs() <= 0.2
            };
            assert!(found.suspects[0].fits && close(&found.suspects[0].change, change), "{found:#?}");
        }
    }

    #[test]
    fn a_degree_between_two_that_were_tried_is_found() {
        let tried = [2.0f64, 16.0].map(|times| (times, [0.1 * (times - 1.0), 0.0, 0.0]));
        let traced = suspicion("part", &tried).trace(&changed([0.7, 0.0, 0.0])).unwrap();
        assert!((traced.times - 8.0).abs() < 0.4 && traced.fits, "{traced:?}");
    }

    #[test]
    fn what_no_part_explains_is_unknown_and_the_nearest_is_told() {
        let found = culprit("array:m", &changed([0.5, 0.0, 0.5]), &all());
        assert_eq!(found.part, None);
        assert!(
            found.why.starts_with("none of the parts of array:m that were tried (3) explains"),
            "{}",
            found.why
        );
        let nothing = culprit("array:m", &changed([0.5, 0.0, 0.5]), &[]);
        assert!(nothing.part.is_none() && nothing.why.contains("no figure"), "{nothing:?}");
    }

    #[test]
    fn a_change_to_no_degree_is_not_the_nearest() {
        let idle = suspicion("queue", &[(1.3, [0.0, 0.0, 0.0]), (2.0, [0.0, 0.0, 0.0])]);
        let found = culprit("array:m", &changed([0.0, 0.0, 4.5]), &[idle]);
        assert_eq!(found.part, None);
        assert!(found.why.ends_with("that were tried (1) explains the pattern"), "{}", found.why);
    }

    #[test]
    fn a_part_that_is_slower_by_nothing_is_no_candidate() {
        let idle = suspicion("queue", &[(1.3, [0.5, 0.5, 0.0]), (2.0, [1.0, 1.0, 0.0])]);
        let other = suspicion("cache", &[(1.0, [0.0, 0.0, 0.04])]);
        let found = culprit("array:m", &changed([0.0, 0.0, 0.04]), &[idle, other]);
        assert!(found.suspects.iter().all(|one| one.part != "queue"), "{found:#?}");
    }

    #[test]
    fn what_the_records_say_was_changed_is_named_where_the_model_with_it_fits() {
        let of = |modelled| {
            as_changed(
                "array:m",
                &changed([0.0, 0.0, 0.5]),
                &[Recorded { part: "link.rate".into(), change: "8 → 4".into(), shifts: changed(modelled) }],
            )
        };
        let found = of([0.0, 0.0, 0.5]).expect("it fits");
        assert_eq!(found.part.as_deref(), Some("link.rate"));
        assert_eq!(found.suspects[0].change, "was changed: 8 → 4; it fits");
        assert_eq!(of([0.5, 0.5, 0.0]), None);
    }

    #[test]
    fn what_is_off_by_a_little_in_every_cell_is_no_part_though_no_figure_alone_says_so() {
        let of = |off: f64| -> Vec<Shift> {
            let cell = |at: usize| Shift {
                cell: at.to_string(),
                metric: "mean".into(),
                log: 0.34 + if at.is_multiple_of(2) { off } else { -off },
                variance: 0.01f64.powi(2),
                freedom: 8.0,
            };
            (0..10).map(cell).collect()
        };
        let disks = Suspicion { part: "disks".into(), change: "slower".into(), tried: vec![(1.5, of(0.0))] };
        let named = |off: f64| culprit("array:m", &of(off), std::slice::from_ref(&disks)).part;
        assert_eq!(named(0.03).as_deref(), Some("disks"));
        assert_eq!(named(0.08), None);
        // The same in one cell alone is within what a model may be off by.
        let mut one = of(0.0);
        one[0].log += 0.08;
        assert_eq!(culprit("array:m", &one, &[disks]).part.as_deref(), Some("disks"));
    }

    #[test]
    fn two_parts_that_explain_it_alike_are_both_told_and_neither_is_named() {
        let mut alike = all();
        alike.push(suspicion("bus", &[(2.0, [0.0, 0.0, 0.5]), (4.0, [0.0, 0.0, 1.5])]));
        let found = culprit("array:m", &changed([0.0, 0.0, 0.5]), &alike);
        assert_eq!(found.part, None);
        assert!(
            found.why.contains("about equally: link 2.0") && found.why.contains("bus 2.0"),
            "{}",
            found.why
        );
        let same: Vec<Suspicion> =
            alike.into_iter().map(|one| Suspicion { part: one.part.replace("bus", "link"), ..one }).collect();
        let found = culprit("array:m", &changed([0.0, 0.0, 0.5]), &same);
        assert_eq!(found.part.as_deref(), Some("link"), "two changes of one part are no rivals");
        assert_eq!(found.suspects[0].change, "2.0 times as slow", "the same words once");
    }

    #[test]
    fn one_point_alone_names_no_part_of_those_that_slow_it_alike() {
        let of = |part: f64| -> Vec<Shift> {
            changed([part, part, part])
                .into_iter()
                .filter(|one| one.cell == "a" && one.metric == "mean")
                .collect()
        };
        let by_degrees = |part: &str| {
            let tried = [(2.0, of(1.0)), (50.0, of(49.0))].to_vec();
            Suspicion { part: part.into(), change: "{} times as slow".into(), tried }
        };
        let happened = Suspicion {
            part: "rebuild".into(),
            change: "beside the load".into(),
            tried: vec![(1.0, of(1.1))],
        };
        let all = [by_degrees("link"), by_degrees("channel"), happened];
        let found = culprit("array:m", &of(1.0), &all);
        assert_eq!(found.part, None, "{found:#?}");
        assert!(
            found
                .why
                .starts_with("one point cannot tell these apart: link 2.0 times as slow, channel 2.0 times"),
            "{}",
            found.why
        );
        assert!(found.why.contains("rebuild beside the load"), "{}", found.why);
        // The one part that slows it so is named, whatever its degree.
        let cannot = Suspicion { part: "cache".into(), change: "off".into(), tried: vec![(1.0, of(0.1))] };
        let found = culprit("array:m", &of(1.0), &[by_degrees("link"), cannot]);
        assert_eq!(found.part.as_deref(), Some("link"), "{found:#?}");
    }

    #[test]
    fn of_two_parts_that_requests_cannot_tell_apart_the_host_is_named_by_its_own_time() {
        let with_host = |mut shifts: Vec<Shift>, times: f64| {
            let metric = HOST_TIME.into();
            shifts.push(Shift { cell: "a".into(), metric, log: times.ln(), variance: 0.04, freedom: 8.0 });
            shifts
        };
        let requests = [0.5, 0.5, 0.0];
        let of = |part: &str, host: f64| {
            let tried = vec![(8.0, with_host(changed(requests), host))];
            Suspicion { part: part.into(), change: "{} times as slow".into(), tried }
        };
        let both = [of("host processor", 8.0), of("controller processor", 1.0)];
        for (times, part) in
            [(7.0, "host processor"), (0.9, "controller processor"), (1.2, "controller processor")]
        {
            let found = culprit("array:m", &with_host(changed(requests), times), &both);
            assert_eq!(found.part.as_deref(), Some(part), "{times}: {found:#?}");
        }
        // What it may do by itself tells nothing.
        let slight = [of("host processor", 1.8), of("controller processor", 1.0)];
        let found = culprit("array:m", &with_host(changed(requests), 1.8), &slight);
        assert!(found.part.is_none() && found.why.contains("about equally"), "{found:#?}");
    }

    #[test]
    fn a_degree_that_was_tried_is_told_to_the_last_digit() {
        // Out of its logarithm 16 comes back a little smaller.
        let times = 16.0f64;
        let one = suspicion("disks", &[(5.0, [0.5, 0.5, 0.1]), (times, [1.5, 1.5, 0.3])]);
        let found = likely(&changed([1.5, 1.5, 0.3]), &[one], 1);
        assert_eq!(found[0].1.to_bits(), times.to_bits());
    }

    #[test]
    fn at_a_degree_that_was_tried_the_noise_is_that_of_its_own_seeds() {
        let of = |variance: f64| {
            let degrees = [(1.3, [0.15, 0.15, 0.03]), (2.0, [0.5, 0.5, 0.1]), (4.0, [1.5, 1.5, 0.3])];
            let mut all = suspicion("disks", &degrees);
            // Either side of the second degree was tried with fewer seeds.
            for at in [0, 2] {
                all.tried[at].1.iter_mut().for_each(|one| one.variance = variance);
            }
            all.trace(&changed([0.5, 0.5, 0.1])).unwrap().log_likelihood
        };
        let cost = of(0.01f64.powi(2)) - of(1.0);
        assert!(
            cost > 0.0 && cost < 2.0,
            "fewer degrees are as likely, and the one that was tried is: {cost}"
        );
    }

    #[test]
    fn what_noise_explains_names_no_part() {
        // One suspect alone, whose change is as small as the noise.
        let slight = [suspicion("cache", &[(1.0, [0.0, 0.01, 0.01])])];
        let found = culprit("array:m", &changed([0.0, 0.01, 0.01]), &slight);
        assert!(found.part.is_none() && found.suspects[0].fits, "{found:?}");
        assert!(found.why.starts_with("the noise of the runs"), "{found:?}");
        let large = [suspicion("cache", &[(1.0, [0.0, 0.3, 0.3])])];
        let found = culprit("array:m", &changed([0.0, 0.3, 0.3]), &large);
        assert_eq!(found.part.as_deref(), Some("cache"), "{found:?}");
    }

    #[test]
    fn a_change_far_beyond_the_intervals_of_the_runs_is_not_put_down_to_noise() {
        // Three times as long, to a hundredth, where the one part that was tried slows something else.
        let other = [suspicion("cache", &[(1.0, [0.0, 0.0, 0.5])])];
        let found = culprit("array:m", &changed([2.1, 2.1, 0.0]), &other);
        assert!(found.part.is_none(), "{found:?}");
        assert!(found.why.starts_with("none of the parts of array:m that were tried (1)"), "{}", found.why);
    }

    #[test]
    fn what_fits_with_one_degree_of_many_is_less_likely_than_what_happened_or_did_not() {
        let measured = changed([0.0, 2.0, 0.0]);
        let of = |one: &Suspicion| one.trace(&measured).unwrap();
        let fitted = suspicion("fitted", &[(4.0, [0.0, 1.0, 0.0]), (16.0, [0.0, 20.0, 0.0])]);
        let (fitted, plain) = (of(&fitted), of(&all()[2]));
        assert!(fitted.fits && plain.fits && plain.log_likelihood > fitted.log_likelihood + 1.0);
        let again = likely(&measured, &all(), 5);
        assert_eq!(again, [(2, 1.0)], "what is far off is not tried again");
    }
}
