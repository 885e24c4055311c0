//! Analysis of variance of a split-plot design in complete blocks, on the scale of logarithms.

use statrs::function::beta::checked_beta_reg;

use crate::difference::Estimate;

use super::{Design, EXACT, Refusal, Stratum, Term, holm};

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

/// What one measurement, or one whole plot, deviates by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StratumError {
    /// The mean square of logarithms that effects are held against; 0 below the square of [`EXACT`].
    pub mean_square: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// The relative standard deviation that one measurement of a whole plot, or one whole plot besides its measurements,
    /// adds of its own; 0 where plots deviate less than their measurements explain.
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
    /// Degrees of freedom of the error.
    pub error_freedom: f64,
    /// The probability of at least such an `f` where there is no effect.
    pub p_value: f64,
    /// The same, raised for the number of effects of this analysis after [`holm`].
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

/// The same of values that are sums of effects; for a balanced design and at least two blocks of all its cells.
fn anova(design: &Design, logs: &[Vec<f64>]) -> Analysis {
    let means: Vec<f64> =
        (0..design.cells().len()).map(|cell| average(logs.iter().map(|block| block[cell]))).collect();
    let (whole_plots, within) = errors(design, logs, &means);
    let held = |term: Term| {
        let stratum = design.stratum(term)?;
        let error = match stratum {
            Stratum::WholePlots => whole_plots?,
            Stratum::Within => within,
        };
        Some(tested(design, &means, logs.len() as f64, term, stratum, error))
    };
    let wanted = design.terms();
    let mut terms: Vec<Tested> = wanted.iter().filter_map(|term| held(*term)).collect();
    assert_eq!(terms.len(), wanted.len(), "each term of a balanced design has its error");
    let p_values: Vec<f64> = terms.iter().map(|one| one.p_value).collect();
    for (one, adjusted) in terms.iter_mut().zip(holm(&p_values)) {
        one.adjusted = adjusted;
    }
    Analysis { terms, whole_plots, within }
}

/// The errors between whole plots and within them: blocks by plots, and blocks by the cells of each plot.
fn errors(design: &Design, logs: &[Vec<f64>], means: &[f64]) -> (Option<StratumError>, StratumError) {
    let (plots, count) = design.plots();
    let (blocks, cells) = (logs.len() as f64, means.len() as f64);
    let size = cells / count as f64;
    let centre = average(means.iter().copied());
    let expected = by_place(means, &plots, count);
    let (mut between, mut inside) = (0.0, 0.0);
    for block in logs {
        let level = average(block.iter().copied()) - centre;
        let seen = by_place(block, &plots, count);
        let off = |plot: usize| seen[plot] - expected[plot];
        between += (0..count).map(|plot| (off(plot) - level).powi(2)).sum::<f64>() * size;
        let apart =
            block.iter().zip(means).zip(&plots).map(|((value, mean), plot)| value - mean - off(*plot));
        inside += apart.map(|one| one.powi(2)).sum::<f64>();
    }
    let freedom = (cells - count as f64) * (blocks - 1.0);
    let square = beyond_rounding(inside / freedom);
    let within = StratumError { mean_square: square, freedom, deviation: square.sqrt() };
    debug_assert!(freedom >= 1.0 && square.is_finite(), "{within:?}");
    let whole_plots = (count > 1).then(|| {
        let freedom = (count as f64 - 1.0) * (blocks - 1.0);
        let mean_square = beyond_rounding(between / freedom);
        let own = ((mean_square - within.mean_square) / size).max(0.0);
        StratumError { mean_square, freedom, deviation: own.sqrt() }
    });
    (whole_plots, within)
}

fn tested(
    design: &Design,
    means: &[f64],
    blocks: f64,
    term: Term,
    stratum: Stratum,
    error: StratumError,
) -> Tested {
    let corners = design.corners(term);
    let (freedom, combinations) = (corners.len() as f64, design.combinations(term));
    let shared = blocks * means.len() as f64 / combinations as f64;
    let effects = effects(design, means, term);
    debug_assert_eq!(effects.len(), combinations);
    debug_assert!(effects.iter().sum::<f64>().abs() <= EXACT * combinations as f64, "{effects:?} sum to nil");
    let square = shared * effects.iter().map(|effect| effect.powi(2)).sum::<f64>() / freedom;
    let (f, p_value) = f_test(square, error.mean_square, freedom, error.freedom);
    let contrast = |levels: Vec<usize>| {
        let weights = design.weights(term, &levels);
        let log =
            weights.iter().zip(means).map(|(weight, mean)| weight * mean).sum::<f64>() * blocks / shared;
        let log = if error.mean_square == 0.0 && log.abs() < EXACT { 0.0 } else { log };
        // As many means as the first and the other level of each factor have combinations.
        let variance = error.mean_square * f64::from(1u8 << levels.len()) / shared;
        let value = log.clamp(-LOG_MOST, LOG_MOST).exp();
        Contrast { levels, ratio: Estimate { value, variance, freedom: error.freedom } }
    };
    let contrasts = corners.into_iter().map(contrast).collect();
    let error_freedom = error.freedom;
    Tested { term, stratum, f, freedom, error_freedom, p_value, adjusted: p_value, contrasts }
}

/// A ratio beyond its exponential is none that a number holds.
const LOG_MOST: f64 = 700.0;

/// What each combination of levels of `term` adds, by the place of the combination.
fn effects(design: &Design, means: &[f64], term: Term) -> Vec<f64> {
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
fn f_test(effect: f64, error: f64, freedom: f64, error_freedom: f64) -> (f64, f64) {
    if error == 0.0 {
        return if beyond_rounding(effect) == 0.0 { (0.0, 1.0) } else { (f64::INFINITY, 0.0) };
    }
    let f = effect / error;
    (f, beyond(f, freedom, error_freedom))
}

/// The probability of more than `f` where there is no effect: the upper tail of Fisher's distribution.
pub(super) fn beyond(f: f64, freedom: f64, error_freedom: f64) -> f64 {
    let share = error_freedom / (error_freedom + freedom * f);
    // Both degrees are at least 1 and the share is 0 to 1 wherever a ratio is made.
    checked_beta_reg(error_freedom / 2.0, freedom / 2.0, share).map_or(1.0, |p| p.clamp(0.0, 1.0))
}

fn beyond_rounding(mean_square: f64) -> f64 {
    if mean_square < EXACT * EXACT { 0.0 } else { mean_square }
}

fn average(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The mean of the values at each of so many places, each of which has one.
fn by_place(values: &[f64], places: &[usize], count: usize) -> Vec<f64> {
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

    pub(super) fn near(found: f64, wanted: f64, within: f64) {
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
        let design = Design::full(factors(&[(3, true), (4, false)])).unwrap();
        let values: Vec<Vec<f64>> = OATS.iter().map(|block| block.to_vec()).collect();
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
            assert_eq!((one.freedom, one.error_freedom), (freedom, error_freedom));
            near(one.f, f, 5e-4);
            near(one.f * error / square, 1.0, 1e-3);
            near(one.p_value / p, 1.0, 5e-4);
        }
        assert_eq!(found.terms.len(), 3);
    }
}
