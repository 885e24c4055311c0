//! What was found of the factors of a design, as ratios.

use crate::difference::Estimate;

use super::anova::anova;
use super::{Design, Noise, Refusal, Stratum, Term};

/// What the values of a design say of its effects.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Each effect that can be estimated: main effects first, then interactions.
    pub terms: Vec<Tested>,
    /// The error between whole plots; `None` where no factor is hard to change, or each plot has one cell.
    pub whole_plots: Option<StratumError>,
    /// The error within whole plots; the only one where they are no stratum of their own.
    pub within: StratumError,
}

impl Analysis {
    /// What is said of one effect; `None` where it cannot be told from others.
    pub fn of(&self, term: Term) -> Option<&Tested> {
        self.terms.iter().find(|one| one.term == term)
    }

    /// What was seen of chance, for planning with [`power()`](super::power()).
    pub fn noise(&self) -> Noise {
        let whole_plot = self.whole_plots.map_or(0.0, |error| error.deviation);
        Noise { whole_plot, within: self.within.deviation }
    }
}

/// What one measurement, or one whole plot, deviates by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumError {
    /// The mean square of logarithms that effects are held against; 0 below the square of [`EXACT`](super::EXACT).
    pub mean_square: f64,
    /// Its degrees of freedom, if all that it is of deviates alike.
    pub freedom: f64,
    /// The relative standard deviation that one measurement of a whole plot, or one whole plot besides its
    /// measurements, adds of its own; 0 where plots deviate less than their measurements explain.
    pub deviation: f64,
}

/// One effect, held against chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// Which effect.
    pub term: Term,
    /// Which error it is held against.
    pub stratum: Stratum,
    /// The mean square of the effect over that of the error; infinite where nothing deviates but the effect, 0 where
    /// the effect neither.
    pub f: f64,
    /// Degrees of freedom of the effect.
    pub freedom: f64,
    /// Degrees of freedom of the error: fewer than those of its stratum where cells deviate unlike each other.
    pub error_freedom: f64,
    /// The probability of at least such an `f` where there is no effect.
    pub p_value: f64,
    /// The same, raised for the number of effects of this analysis after [`holm`](super::holm).
    pub adjusted: f64,
    /// Each combination of levels that are not the first, in their order; as many as `freedom`.
    pub contrasts: Vec<Contrast>,
}

/// By how much levels differ from the first ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// The level of each factor of the term, counted from zero; none is zero.
    pub levels: Vec<usize>,
    /// Of a main effect, the geometric mean at the level over that at the first; of an interaction, that ratio of the
    /// second factor at the level of the first factor, over the same ratio at its first level.
    pub ratio: Estimate,
}

/// Which effects the values of complete blocks show, `values[block][cell]`, each above zero.
///
/// # Errors
///
/// Fewer than two blocks, a block with too few or too many values, a value that is no figure above zero, or a design
/// that is not balanced.
pub fn analyse(design: &Design, values: &[Vec<f64>]) -> Result<Analysis, Refusal> {
    if values.len() < 2 {
        return Err(Refusal::Blocks(values.len()));
    }
    design.balance()?;
    let cells = design.cells().len();
    if let Some((block, uneven)) = values.iter().enumerate().find(|(_, block)| block.len() != cells) {
        return Err(Refusal::Uneven { block, values: uneven.len(), cells });
    }
    let each =
        values.iter().enumerate().flat_map(|(block, of)| of.iter().enumerate().map(move |one| (block, one)));
    for (block, (cell, value)) in each {
        if !(value.is_finite() && *value > 0.0) {
            return Err(Refusal::Value { block, cell, value: *value });
        }
    }
    let logs: Vec<Vec<f64>> =
        values.iter().map(|block| block.iter().map(|value| value.ln()).collect()).collect();
    Ok(anova(design, &logs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::Ratio;
    use crate::factorial::{EXACT, Factor};
    use proptest::prelude::*;

    fn full(levels: &[(usize, bool)]) -> Design {
        Design::full(levels.iter().map(|(levels, hard)| Factor { levels: *levels, hard: *hard }).collect())
            .unwrap()
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-3), "{found} in place of {wanted}");
    }

    #[test]
    fn two_levels_in_blocks_are_the_test_of_pairs_and_their_ratio_that_of_geometric_means() {
        let pairs = [[100.0, 110.0], [90.0, 95.0], [105.0, 119.0], [80.0, 92.0]];
        let found = analyse(&full(&[(2, false)]), &pairs.map(|pair| pair.to_vec())).unwrap();
        let ratios = Estimate::of_repeats(&pairs.map(|pair| pair[1] / pair[0])).unwrap();
        let one = &found.terms[0];
        let [Contrast { levels, ratio }] = one.contrasts.as_slice() else { panic!("{one:?}") };
        assert_eq!((levels.as_slice(), ratio.freedom), ([1].as_slice(), 3.0));
        near(ratio.value, ratios.value);
        near(ratio.variance, ratios.variance);
        near(one.f, ratios.value.ln().powi(2) / ratios.variance);
        near(one.p_value, Ratio::of(Estimate::new(1.0, 0.0, 3.0).unwrap(), ratios).p_value);
        // One block more or less of a pair deviates twice as much as one measurement.
        near(found.within.mean_square, ratios.variance * 4.0 / 2.0);
        near(found.noise().within, (ratios.variance * 2.0).sqrt());
        assert_eq!((found.whole_plots, found.noise().whole_plot), (None, 0.0));
        assert_eq!((found.terms.len(), one.adjusted), (1, one.p_value));
    }

    #[test]
    fn a_contrast_of_two_factors_is_the_ratio_of_their_ratios() {
        let design = full(&[(2, true), (3, false)]);
        let blocks = [[1.0, 2.0, 5.0, 3.0, 7.0, 11.0], [1.5, 2.5, 4.0, 4.0, 7.5, 13.0]];
        let found = analyse(&design, &blocks.map(|block| block.to_vec())).unwrap();
        let mean = |cell: usize| (blocks[0][cell] * blocks[1][cell]).sqrt();
        let values = |term: Term| -> Vec<(Vec<usize>, f64)> {
            let all = &found.of(term).unwrap().contrasts;
            all.iter().map(|one| (one.levels.clone(), one.ratio.value)).collect()
        };
        let pair = |at: usize| mean(3 + at) / mean(3) / (mean(at) / mean(0));
        for (found, wanted) in values(Term::Pair(0, 1)).iter().zip([(1, pair(1)), (2, pair(2))]) {
            assert_eq!(found.0, [1, wanted.0]);
            near(found.1, wanted.1);
        }
        let level = |at: usize| (mean(at) * mean(3 + at)).sqrt();
        for (found, wanted) in values(Term::Main(1)).iter().zip([1, 2]) {
            assert_eq!(found.0, [wanted]);
            near(found.1, level(wanted) / level(0));
        }
        near(values(Term::Main(0))[0].1, (mean(3) * mean(4) * mean(5) / mean(0) / mean(1) / mean(2)).cbrt());
        let within = found.within.mean_square;
        // Means of 2 blocks of 1 cell, four of them; of 2 blocks of 2 cells, two; of 2 blocks of 3, two.
        near(found.of(Term::Pair(0, 1)).unwrap().contrasts[0].ratio.variance, within * 4.0 / 2.0);
        near(found.of(Term::Main(1)).unwrap().contrasts[0].ratio.variance, within * 2.0 / 4.0);
        let plots = found.whole_plots.unwrap().mean_square;
        near(found.of(Term::Main(0)).unwrap().contrasts[0].ratio.variance, plots * 2.0 / 6.0);
        assert_eq!(found.of(Term::Main(2)), None);
        let holm = crate::factorial::holm(&found.terms.iter().map(|one| one.p_value).collect::<Vec<_>>());
        assert_eq!(found.terms.iter().map(|one| one.adjusted).collect::<Vec<_>>(), holm);
    }

    #[test]
    fn a_model_without_chance_has_the_effects_that_it_has_and_no_other() {
        // Sums of tenths in another order in each block: they differ in the last place.
        let design = full(&[(2, true), (2, false), (3, false)]);
        let value =
            |cell: &[usize], tilt: f64| (0.1 + tilt + 0.2 - tilt) * if cell[1] == 1 { 1.7 } else { 1.0 };
        let block = |tilt: f64| design.cells().iter().map(|cell| value(cell, tilt)).collect::<Vec<f64>>();
        let blocks = [block(0.0), block(0.7), block(1e3)];
        assert_ne!(blocks[0], blocks[2]);
        let found = analyse(&design, &blocks).unwrap();
        assert_eq!((found.within.mean_square, found.whole_plots.unwrap().mean_square), (0.0, 0.0));
        assert_eq!((found.within.deviation, found.whole_plots.unwrap().deviation), (0.0, 0.0));
        for one in &found.terms {
            let is_there = one.term == Term::Main(1);
            let (f, p, ratio) = if is_there { (f64::INFINITY, 0.0, 1.7) } else { (0.0, 1.0, 1.0) };
            assert_eq!((one.f, one.p_value, one.adjusted), (f, p, p), "{one:?}");
            for contrast in &one.contrasts {
                let range = contrast.ratio.interval();
                assert!(is_there || contrast.ratio.value == 1.0, "{contrast:?}");
                near(contrast.ratio.value, ratio);
                assert_eq!((range.low, range.high), (contrast.ratio.value, contrast.ratio.value));
            }
        }
    }

    #[test]
    fn a_billionth_parts_what_is_exact_from_what_deviates() {
        let design = full(&[(2, false)]);
        // The mean square of an error `e` between two blocks is the square of `e` / 2.
        let of = |effect: f64, error: f64| {
            let block = |sign: f64| vec![1.0, (effect + sign * error / 2.0).exp()];
            analyse(&design, &[block(1.0), block(-1.0)]).unwrap()
        };
        let tested = |found: &Analysis| (found.terms[0].f, found.terms[0].p_value);
        // Means of two blocks: the mean square of an effect is its square.
        assert_eq!(tested(&of(0.9 * EXACT, 0.0)), (0.0, 1.0));
        assert_eq!(tested(&of(1.1 * EXACT, 0.0)), (f64::INFINITY, 0.0));
        assert_eq!(of(0.0, 1.9 * EXACT).within.mean_square, 0.0);
        let just = of(0.5 * EXACT, 2.1 * EXACT);
        assert!(just.within.mean_square > 0.0 && just.terms[0].p_value > 0.05, "{just:?}");
        assert!(just.terms[0].contrasts[0].ratio.value > 1.0 + 0.4 * EXACT);
        assert_eq!(of(0.9 * EXACT, 0.0).terms[0].contrasts[0].ratio.value, 1.0);
    }

    #[test]
    fn values_at_the_ends_of_what_a_number_holds_give_ratios_that_are_numbers() {
        let design = full(&[(2, false), (2, false)]);
        let block = vec![1e-300, 1e300, 1e300, 1e-300];
        let found = analyse(&design, &[block.clone(), block]).unwrap();
        let ratio = found.of(Term::Pair(0, 1)).unwrap().contrasts[0].ratio;
        near(ratio.value, (-700f64).exp());
    }

    #[test]
    fn what_is_measured_badly_is_refused_for_what_is_wrong_with_it() {
        let design = full(&[(2, false), (2, false)]);
        let good = vec![1.0, 2.0, 3.0, 4.0];
        let with = |block: Vec<f64>| analyse(&design, &[good.clone(), block]).unwrap_err();
        assert_eq!(analyse(&design, std::slice::from_ref(&good)), Err(Refusal::Blocks(1)));
        assert_eq!(analyse(&design, &[]), Err(Refusal::Blocks(0)));
        assert_eq!(with(vec![1.0, 2.0, 3.0]), Refusal::Uneven { block: 1, values: 3, cells: 4 });
        assert_eq!(with(vec![1.0; 5]), Refusal::Uneven { block: 1, values: 5, cells: 4 });
        for value in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(with(vec![1.0, 2.0, value, 3.0]), Refusal::Value { block: 1, cell: 2, value });
        }
        assert!(matches!(with(vec![f64::NAN; 4]), Refusal::Value { cell: 0, .. }));
        let uneven = Design::of(design.factors().to_vec(), design.cells()[..3].to_vec()).unwrap();
        assert_eq!(analyse(&uneven, &[vec![1.0; 3], vec![2.0; 3]]), Err(Refusal::Unbalanced(Term::Main(0))));
    }

    /// The same cells with the levels of each factor in another order, and the factors in the other.
    fn renamed(design: &Design, levels: &[Vec<usize>]) -> Design {
        let cell =
            |cell: &Vec<usize>| cell.iter().zip(levels).rev().map(|(level, new)| new[*level]).collect();
        let factors = design.factors().iter().rev().copied().collect();
        Design::of(factors, design.cells().iter().map(cell).collect()).unwrap()
    }

    prop_compose! {
        fn measured()(
            hard in proptest::collection::vec(any::<bool>(), 3),
            values in proptest::collection::vec(proptest::collection::vec(1.0..9.0f64, 12), 2..5),
            two in Just(vec![0, 1]).prop_shuffle(),
            three in Just(vec![0, 1, 2]).prop_shuffle(),
        ) -> (Design, Vec<Vec<f64>>, Vec<Vec<usize>>) {
            (full(&[(2, hard[0]), (3, hard[1]), (2, hard[2])]), values, vec![two.clone(), three, two])
        }
    }

    proptest! {
        #[test]
        fn names_of_levels_and_the_order_of_factors_change_nothing((design, values, levels) in measured()) {
            let one = analyse(&design, &values).unwrap();
            let other = analyse(&renamed(&design, &levels), &values).unwrap();
            for tested in &one.terms {
                let term = match tested.term {
                    Term::Main(factor) => Term::Main(2 - factor),
                    Term::Pair(one, other) => Term::pair(2 - one, 2 - other),
                };
                let again = other.of(term).unwrap();
                prop_assert!((tested.f - again.f).abs() <= 1e-9 * (1.0 + tested.f));
                prop_assert!((tested.p_value - again.p_value).abs() <= 1e-9);
                let held = |one: &Tested| (one.stratum, one.freedom, one.error_freedom);
                prop_assert_eq!(held(tested), held(again));
                prop_assert_eq!(tested.contrasts.len() as f64, tested.freedom);
            }
            prop_assert_eq!(one.whole_plots.is_some(), other.whole_plots.is_some());
        }

        #[test]
        fn another_unit_and_faster_blocks_change_nothing((design, values, _) in measured(), times in 0.01..100.0f64) {
            let scaled: Vec<Vec<f64>> = (0i32..)
                .zip(&values)
                .map(|(at, block)| block.iter().map(|value| value * times.powi(at)).collect())
                .collect();
            let (one, other) = (analyse(&design, &values).unwrap(), analyse(&design, &scaled).unwrap());
            for (tested, again) in one.terms.iter().zip(&other.terms) {
                prop_assert!((tested.f - again.f).abs() <= 1e-8 * (1.0 + tested.f));
                for (first, second) in tested.contrasts.iter().zip(&again.contrasts) {
                    prop_assert!((first.ratio.value / second.ratio.value - 1.0).abs() < 1e-9);
                }
            }
        }
    }
}
