//! Whether two figures differ, by how much, and which difference could have been seen.
//!
//! Figures of storage are compared as ratios, on the scale of their logarithms: a tenth more and a tenth less are then
//! as far from one, and the deviation of a figure is a part of it, whatever its unit.
//!
//! **Invariant:** an [`Estimate`] is above zero and its variance is not below zero; nothing is said to differ without
//! a probability of seeing the same by chance.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Interval;
use crate::average::average;

/// The confidence of every interval here.
pub const CONFIDENCE: f64 = 0.95;

/// The probability with which the smallest effect that is stated would have been found.
pub const POWER: f64 = 0.90;

/// More degrees of freedom change no figure that is shown.
const FREEDOM_MOST: f64 = 1e6;

/// A figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The variance of its logarithm: the square of its relative standard error, where that is small.
    pub variance: f64,
    /// Degrees of freedom behind the variance.
    pub freedom: f64,
}

impl Estimate {
    /// A figure whose logarithm has that variance; `None` where that cannot be.
    pub fn new(value: f64, variance: f64, freedom: f64) -> Option<Estimate> {
        let sound = value.is_finite() && value > 0.0 && variance.is_finite() && variance >= 0.0;
        let freedom = freedom.min(FREEDOM_MOST);
        (sound && freedom >= 1.0).then_some(Estimate { value, variance, freedom })
    }

    /// The geometric mean of independent measurements of one figure, with the variance that they show.
    ///
    /// `None` with fewer than two, or where one is not above zero.
    pub fn of_repeats(values: &[f64]) -> Option<Estimate> {
        let spread = Spread::of(values)?;
        let n = values.len() as f64;
        Estimate::new(spread.centre, spread.variance / n, n - 1.0)
    }

    /// The figure `value` of one measurement, whose equally long stretches in order of time gave `stretches`.
    ///
    /// What lasts for several stretches widens the interval: stretches are put together to 30, 15 and 10 batches, and
    /// besides taken for a series of which each value resembles the one before; the widest interval counts. `None` with
    /// fewer than ten, or where the mean is not above zero. Source: Law, *Simulation Modeling and Analysis*, section
    /// 9.5.3; for the series Bayley & Hammersley, *The effective number of independent observations*, 1946; the
    /// variance of a logarithm by the delta method.
    pub fn of_stretches(value: f64, stretches: &[f64]) -> Option<Estimate> {
        if stretches.len() < BATCHES_LEAST {
            return None;
        }
        let divided = BATCHES.into_iter().filter(|batches| *batches <= stretches.len());
        let found = divided.filter_map(|batches| of_batches(value, stretches, batches));
        let found = found.chain(of_series(value, stretches));
        let width = |one: &Estimate| factor(one.freedom) * one.variance.sqrt();
        found.reduce(|widest, one| if width(&one) > width(&widest) { one } else { widest })
    }

    /// The range that holds the figure with 95 % confidence.
    pub fn interval(self) -> Interval<f64> {
        let half = factor(self.freedom) * self.variance.sqrt();
        Interval { low: self.value * (-half).exp(), high: self.value * half.exp() }
    }

    /// The figure with the half width that its 95 % interval has on the scale of logarithms, and the degrees of freedom
    /// behind it; `None` where that cannot be.
    pub fn of_half_width(value: f64, half: f64, freedom: f64) -> Option<Estimate> {
        Estimate::new(value, (half / factor(freedom)).powi(2), freedom)
    }

    /// The same figure with that variance besides its own, of another source.
    ///
    /// Degrees of freedom after Satterthwaite (1946).
    pub fn and(self, variance: f64, freedom: f64) -> Estimate {
        let sum = self.variance + variance;
        let parts = self.variance.powi(2) / self.freedom + variance.powi(2) / freedom;
        let freedom = if parts > 0.0 { sum.powi(2) / parts } else { self.freedom };
        Estimate::new(self.value, sum, freedom).unwrap_or(self)
    }

    /// The same figure with at least that variance, where it is the larger.
    pub fn at_least(self, variance: f64, freedom: f64) -> Estimate {
        match variance > self.variance {
            true => Estimate::new(self.value, variance, freedom).unwrap_or(self),
            false => self,
        }
    }
}

/// Fewer batches say too little of their own variance.
pub const BATCHES_LEAST: usize = 10;
/// How many batches are tried.
const BATCHES: [usize; 3] = [30, 15, BATCHES_LEAST];

fn of_batches(value: f64, stretches: &[f64], batches: usize) -> Option<Estimate> {
    let edge = |batch: usize| batch * stretches.len() / batches;
    let means: Vec<f64> =
        (0..batches).map(|batch| average(&stretches[edge(batch)..edge(batch + 1)])).collect();
    let centre = average(&means);
    if centre <= 0.0 {
        return None;
    }
    let n = batches as f64;
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    Estimate::new(value, squares / (n - 1.0) / n / centre.powi(2), n - 1.0)
}

/// The correlation of neighbours that is still believed: beyond it so few values are left that they say nothing.
const CORRELATION_MOST: f64 = 0.9;

/// An interval of fewer degrees holds rates a thousandfold apart. The correlation is taken higher than it was seen already,
/// so that nothing is lost of its confidence down to ten seconds of a correlation of 0.6: see the test of series whose mean is known.
const FREEDOM_LEAST: f64 = 2.0;

/// By the correlation of neighbours, which is raised for what a short series understates it by and by one standard
/// error: too low a correlation makes differences of nothing. Source of the bias: Marriott & Pope, Biometrika 41
/// (1954).
fn of_series(value: f64, stretches: &[f64]) -> Option<Estimate> {
    let n = stretches.len() as f64;
    let centre = average(stretches);
    let squares: f64 = stretches.iter().map(|value| (value - centre).powi(2)).sum();
    if centre <= 0.0 || squares <= 0.0 {
        return None;
    }
    let neighbours: f64 = stretches.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    let seen = neighbours / squares;
    let unbiased = (seen + (1.0 + 4.0 * seen) / n).clamp(-1.0, 1.0);
    let believed = (unbiased + ((1.0 - unbiased.powi(2)) / n).sqrt()).clamp(0.0, CORRELATION_MOST);
    let times = (1.0 + believed) / (1.0 - believed);
    Estimate::new(
        value,
        squares / (n - 1.0) / n * times / centre.powi(2),
        (n / times - 1.0).max(FREEDOM_LEAST),
    )
}

/// Logarithms of several values: what they lie around, and the variance of one of them.
struct Spread {
    centre: f64,
    variance: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Spread> {
        if values.len() < 2 || values.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
            return None;
        }
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let centre = average(&logs);
        let squares: f64 = logs.iter().map(|log| (log - centre).powi(2)).sum();
        Some(Spread { centre: centre.exp(), variance: squares / (values.len() - 1) as f64 })
    }
}

/// One figure over another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The second over the first.
    pub value: f64,
    /// The range that holds the true ratio with 95 % confidence.
    pub interval: Interval<f64>,
    /// The probability of a ratio at least so far from one where there is no difference.
    pub p_value: f64,
    /// The smallest true difference, as a part of the first figure, that would have been found nine times of ten.
    pub detectable_effect: f64,
    /// Degrees of freedom behind the interval.
    pub freedom: f64,
}

impl Ratio {
    /// `second` over `first`, which were measured apart from each other.
    ///
    /// Student's distribution on the difference of the logarithms, with as many degrees of freedom as two unequal
    /// variances have.
    /// Source: Welch, *The generalization of Student's problem*, Biometrika 34 (1947), and Satterthwaite (1946); the
    /// smallest effect by the usual formula of power, Cohen, *Statistical Power Analysis*, 2nd edition, chapter 2.
    pub fn of(first: Estimate, second: Estimate) -> Ratio {
        let variance = first.variance + second.variance;
        let freedom = welch(first, second);
        let error = variance.sqrt();
        let difference = (second.value / first.value).ln();
        let half = factor(freedom) * error;
        Ratio {
            value: difference.exp(),
            interval: Interval { low: (difference - half).exp(), high: (difference + half).exp() },
            p_value: two_sided(difference, error, freedom),
            detectable_effect: ((factor(freedom) + student(freedom, POWER)) * error).exp_m1(),
            freedom,
        }
    }
}

pub(crate) fn welch(first: Estimate, second: Estimate) -> f64 {
    let sum = first.variance + second.variance;
    let parts = first.variance.powi(2) / first.freedom + second.variance.powi(2) / second.freedom;
    match parts > 0.0 {
        true => (sum.powi(2) / parts).min(FREEDOM_MOST),
        false => first.freedom.min(second.freedom),
    }
}

fn two_sided(difference: f64, error: f64, freedom: f64) -> f64 {
    if error == 0.0 {
        return if difference == 0.0 { 1.0 } else { 0.0 };
    }
    let below = |t: f64| StudentsT::new(0.0, 1.0, freedom).map_or(0.5, |law| law.cdf(t));
    (2.0 * below(-(difference / error).abs())).min(1.0)
}

/// By how many standard errors an interval reaches to either side.
fn factor(freedom: f64) -> f64 {
    student(freedom, 0.5 + CONFIDENCE / 2.0)
}

/// The value that Student's distribution does not exceed with that probability.
pub(crate) fn student(freedom: f64, probability: f64) -> f64 {
    // Degrees of freedom are at least 1 wherever an estimate is made.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(probability))
}

/// By how much one figure varies from one measurement to the next when nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The variance of the logarithm of one measurement.
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub freedom: f64,
}

impl Noise {
    /// What groups of equal measurements show together; groups of fewer than two count for nothing.
    ///
    /// Their variances are pooled by degrees of freedom. `None` where no group says anything.
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<Noise> {
        let parts = groups.into_iter().filter_map(|group| {
            let freedom = group.len().checked_sub(1)? as f64;
            Some((Spread::of(group)?.variance * freedom, freedom))
        });
        let (squares, freedom) = parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (freedom > 0.0).then(|| Noise { variance: squares / freedom, freedom })
    }

    /// The change that means of so many measurements show by chance in one comparison of twenty, as a part.
    pub fn floor(self, first: usize, second: usize) -> f64 {
        let means = 1.0 / first.max(1) as f64 + 1.0 / second.max(1) as f64;
        (factor(self.freedom) * (self.variance * means).sqrt()).exp_m1()
    }
}

/// The probability of each of several tests, raised so that of those at or below `rate` no more than that part is
/// wrong on average.
///
/// In the order given; 0 to 1. Holds for tests that are independent or depend positively on each other, as figures of
/// one load do.
/// Source: Benjamini & Hochberg, *Controlling the false discovery rate*, Journal of the Royal Statistical Society B 57
/// (1995); dependence: Benjamini & Yekutieli, Annals of Statistics 29 (2001).
pub fn false_discovery(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 1.0f64;
    for (rank, index) in order.iter().enumerate().rev() {
        least = least.min(p_values[*index] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[*index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-3 * wanted.abs().max(1e-3), "{found} in place of {wanted}");
    }

    #[test]
    fn two_sets_of_repeats_give_the_interval_of_welch() {
        // Logarithms 0, 1, 2 and 2, 4, 6, 8: means 1 and 5, variances of the means 1/3 and 20/3/4.
        let first = Estimate::of_repeats(&[0.0f64, 1.0, 2.0].map(f64::exp)).unwrap();
        let second = Estimate::of_repeats(&[2.0f64, 4.0, 6.0, 8.0].map(f64::exp)).unwrap();
        near(first.variance, 1.0 / 3.0);
        near(second.variance, 5.0 / 3.0);
        let ratio = Ratio::of(first, second);
        near(ratio.value.ln(), 4.0);
        // (1/3 + 5/3)^2 / ((1/9)/2 + (25/9)/3) = 4 / (53/54); t(4.0755, 0.975) = 2.7541 with an error of sqrt(2).
        near(ratio.freedom, 216.0 / 53.0);
        near(ratio.interval.high.ln() - 4.0, 2.7543 * 2f64.sqrt());
        near(ratio.interval.low.ln() - 4.0, -2.7543 * 2f64.sqrt());
    }

    #[test]
    fn an_interval_ends_at_one_where_the_probability_is_that_of_the_level() {
        let at = |value: f64| Estimate::new(value, 0.0004, 9.0).unwrap();
        // Equal variances and freedoms: 18 degrees, t = 2.1009, an error of sqrt(0.0008).
        let edge = (2.100_922 * 0.0008f64.sqrt()).exp();
        let ratio = Ratio::of(at(100.0), at(100.0 * edge));
        near(ratio.freedom, 18.0);
        near(ratio.interval.low, 1.0);
        assert!((ratio.p_value - 0.05).abs() < 1e-5, "{ratio:?}");
        // t(18, 0.9) = 1.3304
        near(ratio.detectable_effect, ((2.1009 + 1.3304) * 0.0008f64.sqrt()).exp_m1());
    }

    #[test]
    fn equal_figures_without_any_deviation_do_not_differ_and_others_do() {
        let exact = |value: f64| Estimate::new(value, 0.0, 5.0).unwrap();
        assert_eq!(Ratio::of(exact(3.0), exact(3.0)).p_value, 1.0);
        assert_eq!(Ratio::of(exact(3.0), exact(3.1)).p_value, 0.0);
        assert_eq!(Ratio::of(exact(3.0), exact(3.0)).detectable_effect, 0.0);
    }

    #[test]
    fn what_is_no_figure_is_no_estimate() {
        assert_eq!(Estimate::new(0.0, 0.1, 3.0), None);
        assert_eq!(Estimate::new(1.0, f64::NAN, 3.0), None);
        assert_eq!(Estimate::new(1.0, 0.1, 0.0), None);
        assert_eq!(Estimate::of_repeats(&[4.0]), None);
        assert_eq!(Estimate::of_repeats(&[4.0, 0.0]), None);
        assert_eq!(Estimate::of_stretches(4.0, &[4.0; 9]), None);
        assert_eq!(Estimate::of_stretches(4.0, &[0.0; 12]), None);
    }

    #[test]
    fn stretches_that_resemble_their_neighbours_widen_the_interval() {
        let alone: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 2)).collect();
        let together: Vec<f64> = (0..60).map(|i| 100.0 + f64::from((i / 6) % 2)).collect();
        let variance = |stretches: &[f64]| Estimate::of_stretches(100.0, stretches).unwrap().variance;
        assert!(variance(&together) > 2.0 * variance(&alone).max(1e-9));
        // Ten batches of 100 and 101 in turn: 0.25 x 10/9 / 10 over 100.5 squared; the series' own is no less.
        assert!(variance(&together) >= 0.25 / 9.0 / 100.5f64.powi(2) * (1.0 - 1e-9));
        // In turn, so that neighbours tell against each other: no less than independent ones have.
        near(variance(&alone), 60.0 * 0.25 / 59.0 / 60.0 / 100.5f64.powi(2));
    }

    /// Values of 100 to 110 without a pattern, each held for so many places.
    fn rough(count: usize, held: usize) -> Vec<f64> {
        (0..count).map(|at| 100.0 + (((at / held) * 7_919 + 13) % 101) as f64 / 10.0).collect()
    }

    /// Within a millionth: the figures beside it were computed apart from this program, from the sources that are named.
    fn equal(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} in place of {wanted}");
    }

    #[test]
    fn batches_of_a_series_have_the_variance_of_their_means() {
        for (series, batches, variance) in [
            (rough(47, 1), 30, 1.648_216_670_067_3e-5),
            (rough(47, 1), 15, 8.006_397_137_500_4e-6),
            (rough(47, 1), 10, 4.921_839_150_565_5e-6),
            (rough(60, 8), 15, 5.685_084_480_114_7e-5),
        ] {
            let found = of_batches(100.0, &series, batches).unwrap();
            equal(found.variance, variance);
            assert_eq!((found.value, found.freedom), (100.0, batches as f64 - 1.0));
        }
    }

    #[test]
    fn a_series_has_as_many_values_as_the_correlation_of_neighbours_leaves() {
        for (series, variance, freedom) in [
            (rough(47, 1), 1.694_739_851_075_5e-5, 46.0),
            (rough(47, 3), 1.085_275_852_499_5e-4, 6.631_534_212_485_8),
            // The correlation is no longer believed here: of 60 values 60 / 19 are left.
            (rough(60, 8), 2.563_105_884_255_1e-4, 60.0 / 19.0 - 1.0),
        ] {
            let found = of_series(100.0, &series).unwrap();
            equal(found.variance, variance);
            equal(found.freedom, freedom);
        }
        assert_eq!(of_series(100.0, &[7.0; 20]), None, "nothing deviates");
        assert_eq!(of_series(100.0, &[-1.0, -2.0, -1.0, -2.0]), None);
    }

    #[test]
    fn seconds_that_resemble_the_one_before_have_intervals_that_hold_the_mean_and_still_say_something() {
        const TRIALS: usize = 4000;
        let mut draws = crate::draws::Draws(7);
        for (count, correlation, least) in
            [(10, 0.0, 0.95), (10, 0.6, 0.94), (30, 0.3, 0.95), (30, 0.8, 0.95)]
        {
            let (mut held, mut widths) = (0u32, Vec::new());
            for _ in 0..TRIALS {
                let (mut off, mut series) = (draws.normal(), Vec::new());
                for _ in 0..count {
                    series.push(100.0 + off);
                    off = correlation * off + draws.normal() * f64::sqrt(1.0 - correlation * correlation);
                }
                let range = Estimate::of_stretches(average(&series), &series).unwrap().interval();
                held += u32::from(range.low <= 100.0 && 100.0 <= range.high);
                widths.push(range.high - range.low);
            }
            let share = f64::from(held) / TRIALS as f64;
            assert!(share >= least, "{count} seconds, {correlation}: {share}");
            widths.sort_by(f64::total_cmp);
            // In deviations of one second: more than eight to both sides tell of nothing.
            assert!(
                widths[TRIALS / 100 * 95] < 16.0,
                "{count} seconds, {correlation}: {}",
                widths[TRIALS / 2]
            );
        }
    }

    #[test]
    fn of_batches_and_the_series_the_widest_counts() {
        let widest = |series: &[f64]| Estimate::of_stretches(100.0, series).unwrap();
        assert_eq!(Some(widest(&rough(47, 1))), of_batches(100.0, &rough(47, 1), 30));
        assert_eq!(Some(widest(&rough(47, 3))), of_series(100.0, &rough(47, 3)));
        assert_eq!(Some(widest(&rough(12, 1))), of_batches(100.0, &rough(12, 1), 10));
        assert!(Estimate::of_stretches(100.0, &rough(10, 1)).is_some());
        assert_eq!(Estimate::of_stretches(100.0, &rough(9, 1)), None);
    }

    #[test]
    fn stretches_that_are_all_alike_are_as_many_as_they_can_be_divided_into() {
        let alike = Estimate::of_stretches(100.0, &[5.0; 60]).unwrap();
        assert_eq!((alike.variance, alike.freedom), (0.0, 29.0));
    }

    #[test]
    fn what_is_no_figure_says_nothing_of_noise() {
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(Noise::of([[1.0, bad].as_slice()]), None, "{bad}");
            assert_eq!(Estimate::of_repeats(&[1.0, bad]), None, "{bad}");
        }
    }

    #[test]
    fn an_interval_is_as_wide_on_either_side_as_a_part() {
        let range = Estimate::new(100.0, 0.0004, 9.0).unwrap().interval();
        equal(range.low, 95.576_506_574_902);
        equal(range.high, 104.628_222_545_078);
        let back = Estimate::of_half_width(100.0, 0.1, 5.0).unwrap();
        equal(back.variance, 0.001_513_342_160_122_77);
        equal(back.interval().high, 100.0 * 0.1f64.exp());
    }

    #[test]
    fn a_second_source_of_deviation_adds_to_the_first_and_shares_its_freedom() {
        let own = Estimate::new(100.0, 0.0004, 9.0).unwrap();
        let both = own.and(0.0009, 4.0);
        equal(both.variance, 0.0013);
        equal(both.freedom, 7.672_131_147_540_98);
        let exact = Estimate::new(100.0, 0.0, 9.0).unwrap();
        assert_eq!(exact.and(0.0, 4.0), exact, "none and none is none");
        assert_eq!(own.at_least(0.0009, 4.0), Estimate { variance: 0.0009, freedom: 4.0, ..own });
        assert_eq!(own.at_least(0.0004, 4.0), own);
        assert_eq!(own.at_least(0.0001, 4.0), own);
    }

    #[test]
    fn a_difference_has_the_probability_of_students_distribution_either_way() {
        equal(two_sided(0.05, 0.02, 7.0), 0.040_992_218_585_752_9);
        equal(two_sided(-0.05, 0.02, 7.0), 0.040_992_218_585_752_9);
        assert_eq!(two_sided(0.0, 0.02, 7.0), 1.0);
    }

    #[test]
    fn what_deviates_by_nothing_has_the_freedom_of_the_lesser() {
        let exact = |freedom: f64| Estimate::new(3.0, 0.0, freedom).unwrap();
        assert_eq!(welch(exact(5.0), exact(9.0)), 5.0);
        assert_eq!(Estimate::new(3.0, 0.1, 1.0).map(|one| one.freedom), Some(1.0));
        assert_eq!(Estimate::new(3.0, 0.1, 1e9).map(|one| one.freedom), Some(FREEDOM_MOST));
        assert_eq!(Estimate::new(f64::INFINITY, 0.1, 3.0), None);
        assert_eq!(Estimate::new(1.0, -0.1, 3.0), None);
    }

    #[test]
    fn the_floor_of_noise_is_that_of_as_many_measurements_as_there_are() {
        let noise = Noise { variance: 0.0009, freedom: 5.0 };
        // t(5, 0.975) = 2.5706.
        let floor = |means: f64| (2.570_581_8 * (0.0009 * means).sqrt()).exp_m1();
        equal(noise.floor(4, 2), floor(0.75));
        equal(noise.floor(0, 1), floor(2.0));
    }

    #[test]
    fn noise_pools_groups_by_their_degrees_of_freedom() {
        let groups = [vec![1.0, 1f64.exp()], vec![1.0, 2f64.exp(), 4f64.exp()], vec![7.0]];
        let noise = Noise::of(groups.iter().map(Vec::as_slice)).unwrap();
        // Squares 0.5 with one degree, 8 with two.
        near(noise.variance, 8.5 / 3.0);
        assert_eq!(noise.freedom, 3.0);
        // t(3, 0.975) = 3.1824
        near(noise.floor(2, 2), (3.1824 * (8.5f64 / 3.0).sqrt()).exp_m1());
        assert_eq!(Noise::of([[7.0].as_slice()]), None);
    }

    #[test]
    fn false_discoveries_are_those_of_the_first_paper() {
        // The fifteen tests of Benjamini & Hochberg, section 3.2: four are rejected at 5 %.
        let tests = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let adjusted = false_discovery(&tests);
        assert_eq!(adjusted.iter().filter(|p| **p <= 0.05).count(), 4);
        near(adjusted[3], 0.0095 * 15.0 / 4.0);
        assert_eq!(adjusted[14], 1.0);
        let mut backwards = tests;
        backwards.reverse();
        let mut again = false_discovery(&backwards);
        again.reverse();
        assert_eq!(again, adjusted);
        assert!(false_discovery(&[]).is_empty());
    }
}
