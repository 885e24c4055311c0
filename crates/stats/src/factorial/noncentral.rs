//! How often a ratio of mean squares is beyond what chance gives, where there is an effect.

use statrs::function::beta::{checked_beta_reg, ln_beta};
use statrs::function::gamma::checked_gamma_lr;
use units::convert::truncated;

/// A test of a ratio of mean squares at one level.
#[derive(Debug)]
pub(super) struct Test {
    /// Half the degrees of freedom of the effect, and of the error.
    effect: f64,
    error: f64,
    alpha: f64,
    /// The part that the error has in both sums of squares where the test just finds something.
    critical: f64,
}

/// Up to half such a noncentrality the mixture is summed; beyond, it is as good as its mean.
const SUMMED_MOST: f64 = 1e5;

impl Test {
    /// Of an effect and an error with so many degrees of freedom.
    pub(super) fn new(freedom: f64, error_freedom: f64, alpha: f64) -> Test {
        assert!(alpha > 0.0 && alpha < 1.0, "a level is between 0 and 1: {alpha}");
        assert!(freedom >= 1.0 && error_freedom >= 1.0, "{freedom} and {error_freedom} degrees of freedom");
        let (effect, error) = (freedom / 2.0, error_freedom / 2.0);
        let is_seen = |share: f64| checked_beta_reg(error, effect, share).is_ok_and(|below| below < alpha);
        Test { effect, error, alpha, critical: boundary(0.0, 1.0, is_seen) }
    }

    /// The probability that an effect of that noncentrality is found.
    ///
    /// The noncentral distribution of Fisher: the sum of squares of the effect has two degrees of freedom more for each
    /// event of Poisson's distribution around half the noncentrality. Source: Johnson, Kotz & Balakrishnan, *Continuous
    /// Univariate Distributions* 2, chapter 30; each tail from the one before: NIST, *Digital Library of Mathematical
    /// Functions*, 8.17.21.
    pub(super) fn power(&self, noncentrality: f64) -> f64 {
        let mean = noncentrality / 2.0;
        if mean > SUMMED_MOST {
            return self.with_many(mean);
        }
        let apart = 1.0 - self.critical;
        let logs = self.error * self.critical.ln() + self.effect * apart.ln();
        let mut step = (logs - ln_beta(self.effect, self.error)).exp() / self.effect;
        let (mut tail, mut log_weight, mut sum) = (self.alpha, -mean, 0.0);
        let last = truncated::<u32>(mean + 10.0 * mean.sqrt() + 20.0);
        for events in (0..=last).map(f64::from) {
            sum += log_weight.exp() * tail;
            log_weight += (mean / (events + 1.0)).ln();
            tail += step;
            step *= apart * (self.effect + self.error + events) / (self.effect + events + 1.0);
        }
        debug_assert!((0.0..1.0 + 1e-6).contains(&sum), "{sum}");
        sum.min(1.0)
    }

    /// The same with so many events that their number is as good as known: what is left to chance is the sum of squares
    /// of the error. To some 1e-5.
    fn with_many(&self, events: f64) -> f64 {
        // There is none of what is infinite: everything is found.
        checked_gamma_lr(self.error, -(-self.critical).ln_1p() * events).unwrap_or(1.0)
    }

    /// The noncentrality that is found with that probability; infinite where none is.
    pub(super) fn needed(&self, power: f64) -> f64 {
        let mut most = 1.0;
        while self.power(most) < power {
            most *= 2.0;
            if most > NONCENTRALITY_MOST {
                return f64::INFINITY;
            }
        }
        boundary(0.0, most, |noncentrality| self.power(noncentrality) < power)
    }
}

/// Nothing that is measured is so clear.
const NONCENTRALITY_MOST: f64 = 1e30;

/// Where `is_below` ends to hold between `low`, where it does, and `high`, where it does not, to the last digit.
fn boundary(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    debug_assert!(low < high);
    loop {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            return high;
        }
        *(if is_below(middle) { &mut low } else { &mut high }) = middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noncentral_tails_are_those_of_published_tables_and_programs() {
        // Noncentrality, degrees of freedom, level, power.
        for (noncentrality, freedom, error_freedom, alpha, power) in [
            // The example of R's `power.anova.test`: four groups of five, variances of 1 and 3.
            (5.0, 3.0, 16.0, 0.05, 0.353_559_4),
            // The example of G*Power's manual for ten groups of 39, effect size 0.25.
            (24.375, 9.0, 380.0, 0.05, 0.952_363),
            // Computed apart from this program.
            (6.0, 1.0, 10.0, 0.05, 0.599_153_319_416_343),
            (10.0, 2.0, 12.0, 0.05, 0.701_508_342_247_629_3),
            (20.0, 3.0, 45.0, 0.01, 0.863_399_591_430_139_1),
            (8.0, 6.0, 45.0, 0.05, 0.467_378_503_758_482_3),
            (0.5, 2.0, 3.0, 0.05, 0.066_356_279_570_701_17),
            (1000.0, 1.0, 2.0, 0.001, 0.632_304_636_542_262_9),
            (30.0, 4.0, 8.0, 0.0025, 0.373_163_545_338_104_8),
        ] {
            let found = Test::new(freedom, error_freedom, alpha).power(noncentrality);
            assert!((found - power).abs() < 1e-6, "{found} in place of {power}");
        }
    }

    #[test]
    fn what_is_very_clear_is_found_as_often_with_the_mean_of_the_mixture_as_with_its_sum() {
        for (noncentrality, freedom, error_freedom, alpha, power) in [
            (150_000.0, 1.0, 1.0, 0.0025, 0.871_718_352_507_512_5),
            (250_000.0, 1.0, 1.0, 0.0025, 0.950_410_776_697_745),
            (250_000.0, 1.0, 2.0, 1e-5, 0.917_914_796_166_538),
            (300_000.0, 2.0, 3.0, 1e-8, 0.292_704_078_453_486_9),
        ] {
            let found = Test::new(freedom, error_freedom, alpha).power(noncentrality);
            assert!((found - power).abs() < 2e-5, "{found} in place of {power}");
        }
        let test = Test::new(2.0, 6.0, 1e-9);
        let (summed, mean) = (test.power(2e4), test.with_many(1e4));
        assert!((0.1..0.999).contains(&summed) && (summed - mean).abs() < 1e-3, "{summed}, {mean}");
    }
}
