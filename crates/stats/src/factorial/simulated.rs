//! Campaigns whose truth is known, tried again and again: nothing is claimed, intervals hold the truth, and effects are
//! found as often as is said of them.

use super::*;
use crate::draws::Draws;

/// What changes over a campaign besides the factors.
#[derive(Clone, Copy)]
enum Drift {
    None,
    /// From the first measurement to the last, as a logarithm.
    Line(f64),
    /// Each measurement from the one before, as a deviation.
    Walk(f64),
}

/// Each block in an order of its own: whole plots, and the cells of each, one after the other.
fn campaign(
    design: &Design,
    blocks: usize,
    truth: &[f64],
    noise: Noise,
    drift: Drift,
    draws: &mut Draws,
) -> Vec<Vec<f64>> {
    let plots = design.whole_plots();
    let all = (blocks * plots.len()) as f64;
    let (mut level, mut count) = (0.0, 0.0);
    let mut block = || {
        let mut order: Vec<usize> = (0..=plots.iter().copied().max().unwrap()).collect();
        draws.shuffle(&mut order);
        let mut values = vec![0.0; plots.len()];
        let of_block = draws.normal() * 0.1;
        for plot in order {
            let mut cells: Vec<usize> = (0..plots.len()).filter(|cell| plots[*cell] == plot).collect();
            draws.shuffle(&mut cells);
            let common = of_block + draws.normal() * noise.whole_plot;
            for cell in cells {
                match drift {
                    Drift::None => {}
                    Drift::Line(whole) => level = whole * count / all,
                    Drift::Walk(step) => level += step * draws.normal(),
                }
                count += 1.0;
                values[cell] = (truth[cell] + level + common + noise.within * draws.normal()).exp();
            }
        }
        values
    };
    (0..blocks).map(|_| block()).collect()
}

fn factors(levels: &[(usize, bool)]) -> Vec<Factor> {
    levels.iter().map(|(levels, hard)| Factor { levels: *levels, hard: *hard }).collect()
}

fn full(levels: &[(usize, bool)]) -> Design {
    Design::full(factors(levels)).unwrap()
}

/// The part of so many campaigns of which `is_so` holds.
fn share(times: u32, mut is_so: impl FnMut() -> bool) -> f64 {
    f64::from((0..times).map(|_| u32::from(is_so())).sum::<u32>()) / f64::from(times)
}

#[test]
fn at_most_one_campaign_of_twenty_without_effects_claims_one() {
    let half = Design::fraction(factors(&[(2, true), (2, true), (2, false), (2, false)]), 2).unwrap();
    let designs = [full(&[(2, true), (3, false), (2, false)]), full(&[(3, false), (2, false)]), half];
    let drifts = [Drift::None, Drift::Line(0.2), Drift::Walk(0.01)];
    let noise = Noise { whole_plot: 0.03, within: 0.02 };
    let mut draws = Draws(1);
    for (which, design) in designs.iter().enumerate() {
        let truth = vec![0.0; design.cells().len()];
        for (how, drift) in drifts.into_iter().enumerate() {
            let claims = share(1000, || {
                let values = campaign(design, 4, &truth, noise, drift, &mut draws);
                analyse(design, &values).unwrap().terms.iter().any(|one| one.adjusted <= 0.05)
            });
            // 5 % and three standard errors of a thousand campaigns.
            assert!(claims <= 0.071, "design {which}, drift {how}: {claims}");
            assert!(
                claims >= 0.02,
                "a test that never claims anything finds nothing: {which}, {how}: {claims}"
            );
        }
    }
}

#[test]
fn each_test_alone_claims_what_is_not_there_as_often_as_its_level() {
    let design = full(&[(2, true), (3, false)]);
    let noise = Noise { whole_plot: 0.05, within: 0.02 };
    let (mut draws, mut claims) = (Draws(2), [0u32; 3]);
    for _ in 0..4000 {
        let values = campaign(&design, 3, &[0.0; 6], noise, Drift::None, &mut draws);
        for (count, one) in claims.iter_mut().zip(analyse(&design, &values).unwrap().terms) {
            *count += u32::from(one.p_value <= 0.05);
        }
    }
    // 5 % and three standard errors; fewer where what deviates alike might not.
    assert!(claims.iter().all(|count| (100..=241).contains(count)), "{claims:?}");
}

/// The logarithm of the mean ratio that a contrast estimates, from the truth of each cell.
fn true_contrast(design: &Design, truth: &[f64], term: Term, levels: &[usize]) -> f64 {
    let factors = term.factors();
    let mean = |wanted: &[usize]| {
        let fits =
            |cell: &&Vec<usize>| factors.iter().zip(wanted).all(|(factor, level)| cell[*factor] == *level);
        let at: Vec<f64> = design
            .cells()
            .iter()
            .zip(truth)
            .filter(|(cell, _)| fits(cell))
            .map(|(_, truth)| *truth)
            .collect();
        at.iter().sum::<f64>() / at.len() as f64
    };
    match *levels {
        [level] => mean(&[level]) - mean(&[0]),
        [one, other] => mean(&[one, other]) - mean(&[one, 0]) - mean(&[0, other]) + mean(&[0, 0]),
        _ => panic!("{levels:?}"),
    }
}

#[test]
fn intervals_of_planted_effects_hold_them_in_95_per_cent() {
    let design = full(&[(2, true), (3, true), (3, false)]);
    // A tenth more by each factor's level, and a third factor that helps less where the first is at its second level.
    let truth: Vec<f64> = design
        .cells()
        .iter()
        .map(|cell| {
            let sum = cell.iter().sum::<usize>() as f64 * 0.1;
            sum - 0.07 * (cell[0] * cell[2]) as f64 + 0.2 * (cell[1] * cell[2] / 2) as f64
        })
        .collect();
    let noise = Noise { whole_plot: 0.05, within: 0.03 };
    let mut draws = Draws(3);
    let mut held = std::collections::BTreeMap::<Term, (u32, u32)>::new();
    for _ in 0..1500 {
        let values = campaign(&design, 3, &truth, noise, Drift::None, &mut draws);
        for one in analyse(&design, &values).unwrap().terms {
            for contrast in &one.contrasts {
                let truth = true_contrast(&design, &truth, one.term, &contrast.levels).exp();
                let range = contrast.ratio.interval();
                let counts = held.entry(one.term).or_default();
                *counts = (counts.0 + u32::from(range.low <= truth && truth <= range.high), counts.1 + 1);
            }
        }
    }
    assert_eq!(held.len(), 6);
    for (term, (held, of)) in held {
        let share = f64::from(held) / f64::from(of);
        assert!((0.94..=0.98).contains(&share), "{term}: {share}");
    }
}

#[test]
fn cells_that_deviate_unlike_each_other_make_no_more_claims_and_no_narrower_intervals() {
    let noise = Noise { whole_plot: 0.0, within: 0.0 };
    let mut draws = Draws(7);
    // The first half of the cells hardly deviates; the last level of the first factor alone does.
    let halves = |place: usize, cells: usize| if place < cells / 2 { 1e-4 } else { 0.05 };
    let quarter = |place: usize, cells: usize| if place < cells - cells / 4 { 1e-4 } else { 0.05 };
    /// By its place among so many cells.
    type Deviation<'a> = &'a dyn Fn(usize, usize) -> f64;
    let cases: [(Design, Deviation<'_>); 4] = [
        (full(&[(2, false), (2, false), (2, false)]), &halves),
        (full(&[(4, false), (2, false)]), &halves),
        (full(&[(4, false), (2, false), (2, false)]), &quarter),
        (full(&[(2, true), (2, false), (3, false)]), &halves),
    ];
    for (which, (design, deviation)) in cases.iter().enumerate() {
        let cells = design.cells().len();
        for blocks in [2, 3, 5] {
            let (mut named, mut held, mut of) = (0u32, 0u32, 0u32);
            for _ in 0..1000 {
                let mut values = campaign(design, blocks, &vec![0.0; cells], noise, Drift::None, &mut draws);
                for (cell, value) in values.iter_mut().flat_map(|block| block.iter_mut().enumerate()) {
                    *value *= (deviation(cell, cells) * draws.normal()).exp();
                }
                let found = analyse(design, &values).unwrap();
                named += u32::from(found.terms.iter().any(|one| one.adjusted <= 0.05));
                for contrast in found.terms.iter().flat_map(|one| &one.contrasts) {
                    let range = contrast.ratio.interval();
                    (held, of) = (held + u32::from(range.low <= 1.0 && 1.0 <= range.high), of + 1);
                }
            }
            // 5 % and three standard errors of a thousand campaigns.
            assert!(named <= 71, "design {which}, {blocks} blocks: {named}");
            let held = f64::from(held) / f64::from(of);
            assert!(held >= 0.94, "design {which}, {blocks} blocks: {held}");
        }
    }
}

#[test]
fn effects_are_found_as_often_as_was_planned() {
    let design = full(&[(2, true), (3, false), (2, false)]);
    let noise = Noise { whole_plot: 0.04, within: 0.05 };
    let alpha = 0.05;
    let mut draws = Draws(4);
    let terms = [
        (Term::Main(0), 0.6),
        (Term::Main(1), 0.8),
        (Term::Main(2), 0.9),
        (Term::Pair(0, 1), 0.7),
        (Term::Pair(1, 2), 0.5),
    ];
    for (blocks, (term, wanted)) in [2, 3, 4, 6].into_iter().flat_map(|blocks| terms.map(|of| (blocks, of))) {
        let ratio = smallest(&design, term, blocks, noise, alpha, wanted).unwrap();
        // The first and the last level lie apart, all others in the middle.
        let side = |cell: &[usize], factor: usize| match cell[factor] {
            0 => -1.0,
            level if level + 1 == design.factors()[factor].levels => 1.0,
            _ => 0.0,
        };
        let of = |cell: &Vec<usize>| {
            let sides = term.factors().into_iter().map(|factor| side(cell, factor));
            sides.map(|side| side / 2.0).product::<f64>() * ratio.ln()
        };
        let truth: Vec<f64> = design.cells().iter().map(of).collect();
        let found = share(3000, || {
            let values = campaign(&design, blocks, &truth, noise, Drift::None, &mut draws);
            analyse(&design, &values).unwrap().of(term).unwrap().p_value <= alpha
        });
        assert!((found - wanted).abs() < 0.03, "{blocks} blocks, {term}: {found} in place of {wanted}");
    }
}

#[test]
fn deviations_that_were_put_in_are_found_again() {
    let design = full(&[(3, true), (4, false)]);
    let noise = Noise { whole_plot: 0.05, within: 0.02 };
    let mut draws = Draws(5);
    let values = campaign(&design, 400, &[0.0; 12], noise, Drift::None, &mut draws);
    let found = analyse(&design, &values).unwrap().noise();
    assert!(
        (found.whole_plot / 0.05 - 1.0).abs() < 0.1 && (found.within / 0.02 - 1.0).abs() < 0.05,
        "{found:?}"
    );
}
