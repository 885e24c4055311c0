//! Sums of squares of a split-plot design in complete blocks, and the errors that effects are held against.

use statrs::function::beta::checked_beta_reg;

use crate::difference::Estimate;

use super::spread::Spread;
use super::{Analysis, Contrast, Design, EXACT, Stratum, StratumError, Term, Tested, by_block, holm};

/// The analysis of values that are sums of effects, `logs[block][cell]`: for a balanced design and at least two blocks
/// of all its cells.
pub(super) fn anova(design: &Design, logs: &[Vec<f64>]) -> Analysis {
    let means: Vec<f64> =
        (0..design.cells().len()).map(|cell| average(logs.iter().map(|block| block[cell]))).collect();
    let (whole_plots, within) = errors(design, logs, &means);
    let held = |term: Term| {
        let stratum = design.stratum(term)?;
        if design.has_shared_chance() {
            return Some(by_block::tested(design, logs, term, stratum));
        }
        let spread = match stratum {
            Stratum::WholePlots => whole_plots.as_ref()?,
            Stratum::Within => &within,
        };
        Some(tested(design, &means, logs.len() as f64, term, stratum, spread))
    };
    let wanted = design.terms();
    let mut terms: Vec<Tested> = wanted.iter().filter_map(|term| held(*term)).collect();
    assert_eq!(terms.len(), wanted.len(), "each term of a balanced design has its error");
    let p_values: Vec<f64> = terms.iter().map(|one| one.p_value).collect();
    for (one, adjusted) in terms.iter_mut().zip(holm(&p_values)) {
        one.adjusted = adjusted;
    }
    Analysis { terms, whole_plots: whole_plots.map(|spread| spread.error()), within: within.error() }
}

/// The errors between whole plots and within them: blocks by plots, and blocks by the cells of each plot.
fn errors(design: &Design, logs: &[Vec<f64>], means: &[f64]) -> (Option<Spread>, Spread) {
    let (plots, count) = design.plots();
    let size = means.len() as f64 / count as f64;
    let centre = average(means.iter().copied());
    let expected = by_place(means, &plots, count);
    let (mut between, mut inside) = (vec![0.0; count], vec![0.0; means.len()]);
    for block in logs {
        let level = average(block.iter().copied()) - centre;
        let seen = by_place(block, &plots, count);
        let off = |plot: usize| seen[plot] - expected[plot];
        for (plot, sum) in between.iter_mut().enumerate() {
            *sum += (off(plot) - level).powi(2) * size;
        }
        for (cell, sum) in inside.iter_mut().enumerate() {
            *sum += (block[cell] - means[cell] - off(plots[cell])).powi(2);
        }
    }
    let within = error(&inside, means.len() - count, logs.len());
    debug_assert!(within.freedom >= 1.0 && within.mean_square.is_finite(), "{within:?}");
    let whole_plots = (count > 1).then(|| {
        let all = error(&between, count - 1, logs.len());
        let own = ((all.mean_square - within.mean_square) / size).max(0.0);
        let error = StratumError { deviation: own.sqrt(), ..all };
        Spread::of(plots.clone(), &between, &vec![0; count], logs.len(), error)
    });
    (whole_plots, Spread::of((0..means.len()).collect(), &inside, &plots, logs.len(), within))
}

/// The error of units with these sums of squares, so many of which are independent in each of the blocks but one.
fn error(squares: &[f64], independent: usize, blocks: usize) -> StratumError {
    let freedom = (independent * (blocks - 1)) as f64;
    let mean_square = beyond_rounding(squares.iter().sum::<f64>() / freedom);
    StratumError { mean_square, freedom, deviation: mean_square.sqrt() }
}

fn tested(
    design: &Design,
    means: &[f64],
    blocks: f64,
    term: Term,
    stratum: Stratum,
    spread: &Spread,
) -> Tested {
    let corners = design.corners(term);
    let (freedom, combinations) = (corners.len() as f64, design.combinations(term));
    let shared = blocks * means.len() as f64 / combinations as f64;
    let effects = effects(design, means, term);
    debug_assert_eq!(effects.len(), combinations);
    debug_assert!(effects.iter().sum::<f64>().abs() <= EXACT * combinations as f64, "{effects:?} sum to nil");
    let square = shared * effects.iter().map(|effect| effect.powi(2)).sum::<f64>() / freedom;
    let (independent, error_freedom) = (spread.independent(design, term), spread.freedom());
    let (f, p_value) = f_test(square, spread.error().mean_square, independent, error_freedom);
    let contrast = |levels: Vec<usize>| {
        let weights: Vec<f64> =
            design.weights(term, &levels).into_iter().map(|weight| weight * blocks / shared).collect();
        let log = weights.iter().zip(means).map(|(weight, mean)| weight * mean).sum::<f64>();
        let (variance, freedom) = spread.contrast(&weights);
        Contrast { levels, ratio: Estimate { value: ratio(log, variance), variance, freedom } }
    };
    let contrasts = corners.into_iter().map(contrast).collect();
    Tested { term, stratum, f, freedom, error_freedom, p_value, adjusted: p_value, contrasts }
}

/// A ratio beyond its exponential is none that a number holds.
const LOG_MOST: f64 = 700.0;

/// The ratio of which `log` is the logarithm: 1 where that is exact and rounded.
pub(super) fn ratio(log: f64, variance: f64) -> f64 {
    if variance == 0.0 && log.abs() < EXACT { 1.0 } else { log.clamp(-LOG_MOST, LOG_MOST).exp() }
}

/// What each combination of levels of `term` adds, by the place of the combination.
pub(super) fn effects(design: &Design, means: &[f64], term: Term) -> Vec<f64> {
    let margin = |term: Term| {
        let places: Vec<usize> = design.cells().iter().map(|cell| design.place(term, cell)).collect();
        by_place(means, &places, design.combinations(term))
    };
    let centre = average(means.iter().copied());
    match term {
        Term::Main(_) => margin(term).into_iter().map(|mean| mean - centre).collect(),
        Term::Pair(one, other) => {
            let (rows, columns) = (margin(Term::Main(one)), margin(Term::Main(other)));
            let apart = |(place, mean): (usize, f64)| {
                mean - rows[place / columns.len()] - columns[place % columns.len()] + centre
            };
            margin(term).into_iter().enumerate().map(apart).collect()
        }
    }
}

/// The probability of a ratio of mean squares, and the ratio. Where the error is nil an effect is there or not: what is
/// rounded is none.
pub(super) fn f_test(effect: f64, error: f64, freedom: f64, error_freedom: f64) -> (f64, f64) {
    if error == 0.0 {
        return if beyond_rounding(effect) == 0.0 { (0.0, 1.0) } else { (f64::INFINITY, 0.0) };
    }
    let f = effect / error;
    (f, beyond(f, freedom, error_freedom))
}

/// The probability of more than `f` where there is no effect: the upper tail of Fisher's distribution.
fn beyond(f: f64, freedom: f64, error_freedom: f64) -> f64 {
    let share = error_freedom / (error_freedom + freedom * f);
    // Both degrees are at least 1 and the share is 0 to 1 wherever a ratio is made.
    checked_beta_reg(error_freedom / 2.0, freedom / 2.0, share).map_or(1.0, |p| p.clamp(0.0, 1.0))
}

pub(super) fn beyond_rounding(mean_square: f64) -> f64 {
    if mean_square < EXACT * EXACT { 0.0 } else { mean_square }
}

pub(super) fn average(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The mean of the values at each of so many places, each of which has one.
pub(super) fn by_place(values: &[f64], places: &[usize], count: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); count];
    for (value, place) in values.iter().zip(places) {
        sums[*place].0 += value;
        sums[*place].1 += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorial::Factor;

    fn near(found: f64, wanted: f64, within: f64) {
        assert!((found - wanted).abs() <= within, "{found} in place of {wanted}");
    }

    /// Yates' oats, 1935: by block, the plots of Victory, Golden Rain and Marvellous with 0, 0.2, 0.4 and 0.6 cwt of
    /// nitrogen an acre; quarter pounds a sub-plot.
    const OATS: [[f64; 12]; 6] = [
        [111.0, 130.0, 157.0, 174.0, 117.0, 114.0, 161.0, 141.0, 105.0, 140.0, 118.0, 156.0],
        [61.0, 91.0, 97.0, 100.0, 70.0, 108.0, 126.0, 149.0, 96.0, 124.0, 121.0, 144.0],
        [68.0, 64.0, 112.0, 86.0, 60.0, 102.0, 89.0, 96.0, 89.0, 129.0, 132.0, 124.0],
        [74.0, 89.0, 81.0, 122.0, 64.0, 103.0, 132.0, 133.0, 70.0, 89.0, 104.0, 117.0],
        [62.0, 90.0, 100.0, 116.0, 80.0, 82.0, 94.0, 126.0, 63.0, 70.0, 109.0, 99.0],
        [53.0, 74.0, 118.0, 113.0, 89.0, 82.0, 86.0, 104.0, 97.0, 99.0, 119.0, 121.0],
    ];

    fn factors(levels: &[(usize, bool)]) -> Vec<Factor> {
        levels.iter().map(|(levels, hard)| Factor { levels: *levels, hard: *hard }).collect()
    }

    #[test]
    fn yates_oats_have_the_table_of_the_textbooks() {
        let (design, values) = oats();
        let found = anova(&design, &values);
        let plots = found.whole_plots.unwrap();
        near(plots.mean_square, 601.33, 0.005);
        near(found.within.mean_square, 177.08, 0.005);
        near(plots.deviation, ((601.330_6f64 - 177.083_3) / 4.0).sqrt(), 1e-3);
        near(found.within.deviation, 177.083_3f64.sqrt(), 1e-3);
        let wanted = [
            (Term::Main(0), Stratum::WholePlots, 893.18, 601.33, 1.485, 2.0, 10.0, 0.2724),
            (Term::Main(1), Stratum::Within, 6673.5, 177.08, 37.686, 3.0, 45.0, 2.458e-12),
            (Term::Pair(0, 1), Stratum::Within, 53.6, 177.08, 0.303, 6.0, 45.0, 0.9322),
        ];
        for (one, (term, stratum, square, error, f, freedom, error_freedom, p)) in
            found.terms.iter().zip(wanted)
        {
            assert_eq!((one.term, one.stratum), (term, stratum));
            // The textbooks take it that all plots deviate alike.
            assert!(
                one.freedom == freedom && (0.5 * error_freedom..=error_freedom).contains(&one.error_freedom)
            );
            near(one.f, f, 5e-4);
            near(one.f * error / square, 1.0, 1e-3);
            near(beyond(one.f, freedom, error_freedom) / p, 1.0, 5e-4);
            assert!(one.p_value > 0.5 * p, "{one:?}");
        }
        assert_eq!(found.terms.len(), 3);
    }

    fn oats() -> (Design, Vec<Vec<f64>>) {
        let values = OATS.iter().map(|block| block.to_vec()).collect();
        (Design::full(factors(&[(3, true), (4, false)])).unwrap(), values)
    }

    #[test]
    fn contrasts_of_oats_have_the_standard_errors_of_the_textbooks() {
        let (design, values) = oats();
        let found = anova(&design, &values);
        // Yields rise from 79.39 by 19.5, 34.83 and 44 with nitrogen; means of 18 plots each.
        for (contrast, wanted) in found.terms[1].contrasts.iter().zip([19.5, 34.833_33, 44.0]) {
            near(contrast.ratio.value.ln(), wanted, 1e-4);
            // What these plots deviate by themselves is more for some levels than what all do.
            let error = contrast.ratio.variance.sqrt();
            assert!((4.4357..5.1).contains(&error), "{error}");
            assert!(contrast.ratio.freedom <= found.terms[1].error_freedom);
        }
        // Varieties over Victory: means of 24 plots, four of each of six whole plots.
        for (contrast, wanted) in found.terms[0].contrasts.iter().zip([6.875, 12.166_67]) {
            near(contrast.ratio.value.ln(), wanted, 1e-4);
            let error = contrast.ratio.variance.sqrt();
            assert!((7.0788..10.0).contains(&error), "{error}");
            assert!(contrast.ratio.freedom <= found.terms[0].error_freedom);
        }
        for contrast in &found.terms[2].contrasts {
            let times = contrast.ratio.variance / (177.083_33 * 4.0 / 6.0);
            assert!((0.9999..1.8).contains(&times), "{times}");
        }
        let levels: Vec<&[usize]> =
            found.terms[2].contrasts.iter().map(|one| one.levels.as_slice()).collect();
        assert_eq!(levels, [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]);
    }

    #[test]
    fn squares_of_blocks_effects_and_errors_are_all_there_are() {
        let (design, values) = oats();
        let found = anova(&design, &values);
        let centre = average(values.concat().into_iter());
        let all: f64 = values.concat().iter().map(|value| (value - centre).powi(2)).sum();
        let blocks: f64 =
            values.iter().map(|block| (average(block.iter().copied()) - centre).powi(2) * 12.0).sum();
        let plots = found.whole_plots.unwrap();
        let errors = plots.mean_square * plots.freedom + found.within.mean_square * found.within.freedom;
        let of = |one: &Tested| {
            let error = if one.stratum == Stratum::WholePlots { plots } else { found.within };
            one.f * error.mean_square * one.freedom
        };
        near(blocks + errors + found.terms.iter().map(of).sum::<f64>(), all, 1e-6);
    }

    #[test]
    fn factors_that_are_all_hard_to_change_have_the_error_of_those_that_are_all_easy() {
        let (_, values) = oats();
        let of = |hard: bool| anova(&Design::full(factors(&[(3, hard), (4, hard)])).unwrap(), &values);
        assert_eq!(of(true), of(false));
        let found = of(false);
        assert_eq!((found.whole_plots, found.within.freedom), (None, 55.0));
        near(found.within.mean_square, (601.330_6 * 10.0 + 177.083_3 * 45.0) / 55.0, 1e-3);
    }

    #[test]
    fn whole_plots_that_deviate_less_than_their_measurements_have_no_deviation_of_their_own() {
        let design = Design::full(factors(&[(2, true), (2, false)])).unwrap();
        let found = anova(&design, &[vec![1.0, 2.0, 2.0, 1.0], vec![2.0, 1.0, 1.0, 2.1]]);
        let plots = found.whole_plots.unwrap();
        assert!(0.0 < plots.mean_square && plots.mean_square < found.within.mean_square, "{found:?}");
        assert_eq!(plots.deviation, 0.0);
    }

    #[test]
    fn an_interaction_that_lies_between_whole_plots_has_their_error() {
        // Of half of five factors, what the last two do together is what the first three do.
        let hard = [(2, true), (2, true), (2, true), (2, false), (2, false)];
        let design = Design::fraction(factors(&hard), 2).unwrap();
        let mut draws = crate::draws::Draws(7);
        let values: Vec<Vec<f64>> =
            (0..3).map(|_| design.cells().iter().map(|_| draws.uniform()).collect()).collect();
        let found = anova(&design, &values);
        let plots = found.whole_plots.unwrap();
        assert_eq!((plots.freedom, found.within.freedom), (14.0, 16.0));
        let one = found.of(Term::Pair(3, 4)).unwrap();
        assert!(one.stratum == Stratum::WholePlots && (7.0..=14.0).contains(&one.error_freedom), "{one:?}");
        // Twelve values in each of four cells: the ratio of ratios has four of their variances.
        near(one.contrasts[0].ratio.variance, plots.mean_square * 4.0 / 12.0, 1e-12);
        near(one.f, one.contrasts[0].ratio.value.ln().powi(2) / one.contrasts[0].ratio.variance, 1e-9);
    }

    #[test]
    fn tails_are_those_of_the_tables_of_fisher() {
        for (f, freedom, error_freedom, p) in
            [(4.964_603, 1.0, 10.0, 0.05), (3.885_294, 2.0, 12.0, 0.05), (4.249_2, 3.0, 45.0, 0.01)]
        {
            near(beyond(f, freedom, error_freedom) / p, 1.0, 1e-4);
        }
        // With very many degrees of the error it is the tail of chi squared; computed apart from this program.
        near(beyond(1.1, 3.0, 1e4), 0.34769545626551285, 1e-6);
        near(beyond(1.1, 3.0, 1e6), 0.3476431729248343, 1e-6);
        near(beyond(1.1, 40.0, 1e6), 0.3060318733413526, 1e-6);
        // Two degrees of the effect have a closed form.
        near(beyond(3.0, 2.0, 7.0), (1.0f64 + 6.0 / 7.0).powf(-3.5), 1e-12);
        assert_eq!(beyond(0.0, 3.0, 4.0), 1.0);
        assert_eq!(f_test(0.0, 2.0, 1.0, 3.0), (0.0, 1.0));
    }
}
