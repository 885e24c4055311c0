//! Effects that are estimated in each block by itself, and held against how they differ between blocks.
//!
//! Cells that are measured with the same random numbers are alike in what is by chance, some wholly and some not at all:
//! what they deviate by is then no measure of what an effect deviates by. The blocks alone are independent of each other.
//! A contrast has the interval of its mean over them; a term of several has the test of repeated measures, with degrees of
//! freedom after Geisser & Greenhouse, *An extension of Box's results on the use of the F distribution in multivariate
//! analysis*, Annals of Mathematical Statistics 29 (1958).

use crate::difference::Estimate;

use super::anova::{average, beyond_rounding, effects, f_test, ratio};
use super::{Contrast, Design, Stratum, Term, Tested};

/// What the blocks say of `term`, `logs[block][cell]`.
pub(super) fn tested(design: &Design, logs: &[Vec<f64>], term: Term, stratum: Stratum) -> Tested {
    let blocks = logs.len() as f64;
    let corners = design.corners(term);
    let freedom = corners.len() as f64;
    let seen: Vec<Vec<f64>> = logs.iter().map(|block| effects(design, block, term)).collect();
    let mean: Vec<f64> =
        (0..design.combinations(term)).map(|place| average(seen.iter().map(|block| block[place]))).collect();
    let off: Vec<Vec<f64>> =
        seen.iter().map(|block| block.iter().zip(&mean).map(|(one, mean)| one - mean).collect()).collect();
    let shared = design.cells().len() as f64 / mean.len() as f64;
    let square = blocks * shared * product(&mean, &mean) / freedom;
    let error =
        shared * off.iter().map(|block| product(block, block)).sum::<f64>() / (freedom * (blocks - 1.0));
    let independent = independent(&off, freedom);
    let error_freedom = independent * (blocks - 1.0);
    let (f, p_value) = f_test(square, beyond_rounding(error), independent, error_freedom);
    let contrast = |levels: Vec<usize>| contrast(design, logs, term, levels);
    let contrasts = corners.into_iter().map(contrast).collect();
    Tested { term, stratum, f, freedom, error_freedom, p_value, adjusted: p_value, contrasts }
}

/// How many independent contrasts deviate as those of a term do together: one to `freedom`. Where all is exact, all.
fn independent(off: &[Vec<f64>], freedom: f64) -> f64 {
    let trace: f64 = off.iter().map(|block| product(block, block)).sum();
    let squares: f64 = off.iter().flat_map(|one| off.iter().map(|other| product(one, other).powi(2))).sum();
    if squares > 0.0 { (trace.powi(2) / squares).clamp(1.0, freedom) } else { freedom }
}

fn contrast(design: &Design, logs: &[Vec<f64>], term: Term, levels: Vec<usize>) -> Contrast {
    let weights = design.weights(term, &levels);
    let shared = design.cells().len() as f64 / design.combinations(term) as f64;
    let each: Vec<f64> = logs.iter().map(|block| product(&weights, block) / shared).collect();
    let (blocks, log) = (each.len() as f64, average(each.iter().copied()));
    let variance =
        beyond_rounding(each.iter().map(|one| (one - log).powi(2)).sum::<f64>() / (blocks - 1.0)) / blocks;
    let ratio = Estimate { value: ratio(log, variance), variance, freedom: blocks - 1.0 };
    Contrast { levels, ratio }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;
    use crate::factorial::{Factor, analyse};

    fn design(levels: &[usize]) -> Design {
        let factor = |levels: &usize| Factor { levels: *levels, hard: false };
        Design::full(levels.iter().map(factor).collect()).unwrap()
    }

    /// What is by chance in a cell, of draws that are another block's anew.
    type Chance<'a> = &'a dyn Fn(&[usize], &[f64]) -> f64;

    /// Blocks of a campaign in which nothing matters: the chance of a cell is `chance` of its levels, drawn anew in each block.
    fn nothing(
        design: &Design,
        blocks: usize,
        chance: impl Fn(&[usize], &[f64]) -> f64,
        draws: &mut Draws,
    ) -> Vec<Vec<f64>> {
        let block = |_| {
            let drawn: Vec<f64> = (0..16).map(|_| draws.normal()).collect();
            design.cells().iter().map(|cell| (0.02 * chance(cell, &drawn)).exp()).collect()
        };
        (0..blocks).map(block).collect()
    }

    fn claims(design: &Design, campaigns: u32, mut values: impl FnMut() -> Vec<Vec<f64>>) -> f64 {
        let names_one = |values: &[Vec<f64>]| {
            analyse(design, values).unwrap().terms.iter().any(|one| one.adjusted <= 0.05)
        };
        let named: u32 = (0..campaigns).map(|_| u32::from(names_one(&values()))).sum();
        f64::from(named) / f64::from(campaigns)
    }

    #[test]
    fn of_campaigns_whose_cells_share_their_chance_at_most_one_in_twenty_names_an_effect() {
        // Six labels that change nothing, and a span that is asked at other places.
        let copies = |cell: &[usize], drawn: &[f64]| drawn[cell[1]];
        // The labels are alike by threes.
        let threes = |cell: &[usize], drawn: &[f64]| drawn[cell[0] / 3 * 2 + cell[1]];
        // What most have in common, and a little of their own.
        let nearly = |cell: &[usize], drawn: &[f64]| drawn[cell[1]] + 0.1 * drawn[2 + 2 * cell[0] + cell[1]];
        let own = |cell: &[usize], drawn: &[f64]| drawn[2 * cell[0] + cell[1]];
        let chances: [Chance<'_>; 4] = [&copies, &threes, &nearly, &own];
        let mut draws = Draws(21);
        for (which, chance) in chances.into_iter().enumerate() {
            for blocks in [2, 3, 5] {
                let design = design(&[6, 2]);
                let shared = design.clone().with_shared_chance();
                let named = claims(&shared, 1000, || nothing(&design, blocks, chance, &mut draws));
                // 5 % and three standard errors of a thousand campaigns.
                assert!(named <= 0.071, "chance {which}, {blocks} blocks: {named}");
            }
        }
        // Copies counted as repeats name what is not there.
        let alone = design(&[6, 2]);
        let named = claims(&alone, 1000, || nothing(&alone, 2, copies, &mut draws));
        assert!(named > 0.4, "{named}");
    }

    #[test]
    fn intervals_of_cells_that_share_their_chance_hold_the_truth_in_95_per_cent() {
        let design = design(&[3, 2]).with_shared_chance();
        let nearly = |cell: &[usize], drawn: &[f64]| drawn[cell[1]] + 0.3 * drawn[2 + 2 * cell[0] + cell[1]];
        let mut draws = Draws(22);
        for blocks in [2, 3, 6] {
            let (mut held, mut of) = (0u32, 0u32);
            for _ in 0..1000 {
                let values = nothing(&design, blocks, nearly, &mut draws);
                for contrast in analyse(&design, &values).unwrap().terms.iter().flat_map(|one| &one.contrasts)
                {
                    let range = contrast.ratio.interval();
                    (held, of) = (held + u32::from(range.low <= 1.0 && 1.0 <= range.high), of + 1);
                }
            }
            let share = f64::from(held) / f64::from(of);
            assert!((0.93..=0.97).contains(&share), "{blocks} blocks: {share}");
        }
    }

    #[test]
    fn a_factor_whose_cells_are_copies_widens_no_interval_and_narrows_none() {
        let few = design(&[2]).with_shared_chance();
        let many = design(&[2, 5]).with_shared_chance();
        let blocks = [[1.0, 1.31], [1.02, 1.29], [0.97, 1.32]];
        let copied = blocks.map(|block| [vec![block[0]; 5], vec![block[1]; 5]].concat());
        let of = |design: &Design, values: &[Vec<f64>]| {
            let found = analyse(design, values).unwrap();
            let one = found.of(Term::Main(0)).unwrap();
            (one.p_value, one.contrasts[0].ratio.value, one.contrasts[0].ratio.variance)
        };
        let (one, other) = (of(&few, &blocks.map(|block| block.to_vec())), of(&many, &copied));
        assert!((one.0 - other.0).abs() < 1e-9 && (one.1 - other.1).abs() < 1e-9, "{one:?} {other:?}");
        assert!((one.2 / other.2 - 1.0).abs() < 1e-9, "{one:?} {other:?}");
        let found = analyse(&many, &copied).unwrap();
        for term in [Term::Main(1), Term::Pair(0, 1)] {
            assert_eq!(found.of(term).unwrap().p_value, 1.0, "copies differ by nothing");
        }
    }
}
