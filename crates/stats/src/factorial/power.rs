//! Which effects so many blocks would find, before they are measured.

use super::noncentral::Test;
use super::{Design, EXACT, Refusal, Stratum, Term};

/// By how much equal measurements differ, as relative standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// What all measurements of one whole plot have in common; counts for nothing where no factor is hard to change.
    pub whole_plot: f64,
    /// What each measurement has for itself.
    pub within: f64,
}

/// The probability that the test of `term` finds two levels that differ by `ratio`, at the level `alpha`.
///
/// All other levels lie in the middle between the two, on the scale of logarithms: of all effects with two levels so
/// far apart the one that is found least. Of an interaction, `ratio` is the ratio of ratios of two levels of each
/// factor, to which the four cells add a quarter each, and nothing is added elsewhere: again the one that is found
/// least. For several tests, `alpha` is the level of all over their number, the first step of [`holm`](super::holm).
///
/// # Errors
///
/// Fewer than two blocks, a design that is not balanced, and a term that it cannot tell from others.
///
/// # Panics
///
/// With a `ratio` that is not above zero, a deviation below zero, or an `alpha` that is not between 0 and 1.
pub fn power(
    design: &Design,
    term: Term,
    blocks: usize,
    ratio: f64,
    noise: Noise,
    alpha: f64,
) -> Result<f64, Refusal> {
    assert!(ratio > 0.0 && ratio.is_finite(), "a ratio is above zero: {ratio}");
    let (test, sharpness) = planned(design, term, blocks, noise, alpha)?;
    Ok(test.power(sharpness * ratio.ln().powi(2)))
}

/// The smallest ratio above one that the test of `term` finds with that probability; see [`power()`]. Infinite where no
/// ratio that a number holds would be found.
///
/// # Errors
///
/// As [`power()`].
///
/// # Panics
///
/// As [`power()`], and with a `power` that is not between `alpha` and 1.
pub fn smallest(
    design: &Design,
    term: Term,
    blocks: usize,
    noise: Noise,
    alpha: f64,
    power: f64,
) -> Result<f64, Refusal> {
    assert!(alpha < power && power < 1.0, "what is found by chance needs no effect: {power}");
    let (test, sharpness) = planned(design, term, blocks, noise, alpha)?;
    let ratio = (test.needed(power) / sharpness).sqrt().exp();
    debug_assert!(ratio > 1.0, "{ratio}");
    Ok(ratio)
}

/// The test of `term`, and by what the square of the logarithm of a ratio is multiplied to its noncentrality.
fn planned(
    design: &Design,
    term: Term,
    blocks: usize,
    noise: Noise,
    alpha: f64,
) -> Result<(Test, f64), Refusal> {
    assert!(noise.whole_plot >= 0.0 && noise.within >= 0.0, "deviations are not below zero: {noise:?}");
    if blocks < 2 {
        return Err(Refusal::Blocks(blocks));
    }
    design.balance()?;
    let stratum = if design.terms().contains(&term) { design.stratum(term) } else { None };
    let stratum = stratum.ok_or(Refusal::Term(term))?;
    let (cells, plots) = (design.cells().len(), design.plots().1);
    let is_hard = design.factors().iter().any(|factor| factor.hard);
    // Where plots are no stratum of their own, each measurement is a plot if any factor is hard to change.
    let size = match stratum {
        Stratum::WholePlots => cells as f64 / plots as f64,
        Stratum::Within => f64::from(plots == 1 && is_hard),
    };
    let mean_square = (noise.within.powi(2) + size * noise.whole_plot.powi(2)).max(EXACT * EXACT);
    if design.has_shared_chance() {
        // So many blocks tell of no more contrasts that are independent of each other.
        let told = (design.corners(term).len()).min(blocks - 1) as f64;
        let test = Test::new(told, told * (blocks - 1) as f64, alpha);
        return Ok((test, sharpness(design, term, blocks) / mean_square));
    }
    let between = if stratum == Stratum::WholePlots { plots - 1 } else { cells - plots };
    let test = Test::new(design.corners(term).len() as f64, known(between, blocks), alpha);
    Ok((test, sharpness(design, term, blocks) / mean_square))
}

/// The degrees of freedom of a stratum with so many independent deviations in each block. That they are alike is not known
/// when they are measured: of several, such a part is left on average (see `spread`).
fn known(deviations: usize, blocks: usize) -> f64 {
    let all = (deviations * (blocks - 1)) as f64;
    if deviations == 1 { all } else { all * blocks as f64 / (blocks + 1) as f64 }
}

/// The same before it is held against chance.
fn sharpness(design: &Design, term: Term, blocks: usize) -> f64 {
    let shared = (blocks * design.cells().len() / design.combinations(term)) as f64;
    shared / f64::from(1u8 << term.factors().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::Factor;
    use proptest::prelude::*;

    fn full(levels: &[(usize, bool)]) -> Design {
        Design::full(levels.iter().map(|(levels, hard)| Factor { levels: *levels, hard: *hard }).collect())
            .unwrap()
    }

    #[test]
    fn a_plan_has_the_noncentrality_of_its_measurements_and_the_error_of_its_stratum() {
        // Four blocks of two whole plots of three cells; a ratio whose logarithm is 0.3.
        let (noise, ratio) = (Noise { whole_plot: 0.1, within: 0.2 }, 0.3f64.exp());
        let design = full(&[(2, true), (3, false)]);
        let (plots, within) = (0.04 + 3.0 * 0.01, 0.04);
        for (term, freedom, error_freedom, noncentrality) in [
            // Twelve measurements at each of two levels, half of 0.3 from the middle.
            (Term::Main(0), 1.0, 3.0, 24.0 * 0.0225 / plots),
            // Eight at each of the two.
            (Term::Main(1), 2.0, 12.0 * 4.0 / 5.0, 16.0 * 0.0225 / within),
            // Four in each of four cells, a quarter of 0.3 from the middle.
            (Term::Pair(0, 1), 2.0, 12.0 * 4.0 / 5.0, 16.0 * 0.005_625 / within),
        ] {
            let found = power(&design, term, 4, ratio, noise, 0.05).unwrap();
            let wanted = Test::new(freedom, error_freedom, 0.05).power(noncentrality);
            assert!((found - wanted).abs() < 1e-12, "{term}: {found} in place of {wanted}");
            let below = power(&design, term, 4, 1.0 / ratio, noise, 0.05).unwrap();
            assert!((found - below).abs() < 1e-12, "a ratio below one is as far from it");
        }
    }

    #[test]
    fn without_whole_plots_of_several_cells_there_is_one_error() {
        let noise = Noise { whole_plot: 0.1, within: 0.2 };
        let of =
            |hard: bool| power(&full(&[(2, hard), (3, hard)]), Term::Main(1), 3, 1.5, noise, 0.01).unwrap();
        let log = 1.5f64.ln();
        // Six at each of two levels; (6 - 1) x (3 - 1) degrees of freedom, three of four of which are known.
        let test = Test::new(2.0, 7.5, 0.01);
        assert!((of(false) - test.power(12.0 * log * log / 4.0 / 0.04)).abs() < 1e-12);
        assert!((of(true) - test.power(12.0 * log * log / 4.0 / 0.05)).abs() < 1e-12);
    }

    #[test]
    fn where_cells_share_their_chance_the_blocks_alone_tell_of_it() {
        let noise = Noise { whole_plot: 0.0, within: 0.2 };
        let shared = full(&[(2, false), (4, false)]).with_shared_chance();
        for (term, blocks, freedom, error_freedom) in
            [(Term::Main(0), 2, 1.0, 1.0), (Term::Main(1), 3, 2.0, 4.0), (Term::Main(1), 9, 3.0, 24.0)]
        {
            let found = power(&shared, term, blocks, 2.0, noise, 0.05).unwrap();
            // A quarter of the square of the ratio, at each of two levels.
            let at_level = (8 * blocks / shared.factors()[term.factors()[0]].levels) as f64;
            let noncentrality = at_level / 2.0 * 2f64.ln().powi(2) / 0.04;
            let wanted = Test::new(freedom, error_freedom, 0.05).power(noncentrality);
            assert!((found - wanted).abs() < 1e-12, "{term}: {found} in place of {wanted}");
        }
    }

    #[test]
    fn no_effect_is_found_as_often_as_the_level_says_and_without_noise_each_is() {
        let design = full(&[(2, true), (2, false)]);
        let noise = Noise { whole_plot: 0.02, within: 0.03 };
        assert_eq!(power(&design, Term::Main(0), 2, 1.0, noise, 0.01), Ok(0.01));
        let none = Noise { whole_plot: 0.0, within: 0.0 };
        let clear = power(&design, Term::Main(1), 3, 1.001, none, 0.01).unwrap();
        assert!(clear > 0.999_999 && clear <= 1.0, "{clear}");
        let least = smallest(&design, Term::Main(1), 3, none, 0.05, 0.9).unwrap();
        assert!(least > 1.0 + EXACT && least < 1.0 + 10.0 * EXACT, "{least}");
        let hopeless = smallest(&design, Term::Main(0), 2, noise, 1e-300, 0.9);
        assert_eq!(hopeless, Ok(f64::INFINITY));
    }

    #[test]
    fn nothing_is_planned_that_would_not_be_analysed() {
        let noise = Noise { whole_plot: 0.0, within: 0.03 };
        let design = full(&[(2, false), (2, false), (2, false)]);
        let half = Design::fraction(design.factors().to_vec(), 2).unwrap();
        let of = |design: &Design, term, blocks| power(design, term, blocks, 2.0, noise, 0.05);
        assert_eq!(of(&design, Term::Main(0), 1), Err(Refusal::Blocks(1)));
        assert_eq!(of(&half, Term::Pair(0, 1), 2), Err(Refusal::Term(Term::Pair(0, 1))));
        assert_eq!(of(&design, Term::Main(3), 2), Err(Refusal::Term(Term::Main(3))));
        assert!(of(&half, Term::Main(2), 2).is_ok());
        let uneven = Design::of(design.factors().to_vec(), design.cells()[1..].to_vec()).unwrap();
        let refused = smallest(&uneven, Term::Main(0), 2, noise, 0.05, 0.9);
        assert_eq!(refused, Err(Refusal::Unbalanced(Term::Main(0))));
    }

    #[test]
    #[should_panic(expected = "a level is between 0 and 1")]
    fn a_level_that_is_none_is_a_mistake_of_whoever_asks() {
        let noise = Noise { whole_plot: 0.0, within: 0.03 };
        drop(power(&full(&[(2, false)]), Term::Main(0), 2, 2.0, noise, 0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_smallest_ratio_is_found_with_just_that_probability(
            (levels, blocks) in (2usize..5, 2usize..9),
            (whole_plot, within) in (0.0..0.2f64, 0.001..0.2f64),
            (alpha, wanted) in (0.001..0.1f64, 0.2..0.99f64),
        ) {
            let design = full(&[(2, true), (levels, false)]);
            let noise = Noise { whole_plot, within };
            for term in design.terms() {
                let ratio = smallest(&design, term, blocks, noise, alpha, wanted).unwrap();
                let of = |ratio: f64| power(&design, term, blocks, ratio, noise, alpha).unwrap();
                if ratio.is_finite() && ratio < 1e6 {
                    prop_assert!((of(ratio) - wanted).abs() < 1e-4, "{} at {}", of(ratio), ratio);
                    prop_assert!(of(ratio.sqrt()) < of(ratio));
                }
            }
        }
    }
}
