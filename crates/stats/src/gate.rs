//! Whether a figure has become worse by more than is allowed, how often one that has not is called so, and which
//! slowdown is found.
//!
//! **Invariant:** a worsening is a positive number whatever the figure: less of a rate, more of a time.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

use crate::difference::{Estimate, Ratio, student};

/// By how much a figure is worse than that of a baseline, on the scale of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worsening {
    /// Above zero where it is worse.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom behind the error.
    pub freedom: f64,
}

/// What follows for a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Surely no worse than allowed.
    Met,
    /// Surely worse than allowed.
    Violated,
    /// Neither.
    Inconclusive,
}

impl Worsening {
    /// Of `value` against `base`, which were measured apart from each other.
    ///
    /// Student's distribution with the degrees of freedom of two unequal variances, as in [`Ratio::of`].
    pub fn of(base: Estimate, value: Estimate, more_is_better: bool) -> Worsening {
        let ratio = Ratio::of(base, value).value.ln();
        let log = if more_is_better { -ratio } else { ratio };
        Worsening {
            log,
            error: (base.variance + value.variance).sqrt(),
            freedom: crate::difference::welch(base, value),
        }
    }

    /// The verdict on a worsening of more than the part `tolerance`, either side of which is wrong with probability
    /// `level` at most.
    ///
    /// One-sided tests at `level`: worse where the lower bound lies above the tolerance, kept where the upper one lies
    /// below it.
    pub fn judge(self, tolerance: f64, level: f64) -> Judged {
        let limit = tolerance.ln_1p();
        let half = student(self.freedom, 1.0 - level) * self.error;
        if self.log - half > limit {
            Judged::Violated
        } else if self.log + half <= limit {
            Judged::Met
        } else {
            Judged::Inconclusive
        }
    }

    /// Between which parts the worsening lies, each end wrong with probability `level` at most.
    pub fn bounds(self, level: f64) -> (f64, f64) {
        let half = student(self.freedom, 1.0 - level) * self.error;
        ((self.log - half).exp_m1(), (self.log + half).exp_m1())
    }

    /// The probability with which a true worsening by the part `worse` is found at `level`.
    ///
    /// The error is itself an estimate, so the statistic has the non-central distribution of Student, here by its normal
    /// approximation; source: Johnson & Welch, *Applications of the non-central t-distribution*, Biometrika 31 (1940).
    pub fn power(self, worse: f64, tolerance: f64, level: f64) -> f64 {
        let beyond = worse.ln_1p() - tolerance.ln_1p();
        if self.error == 0.0 {
            return if beyond > 0.0 { 1.0 } else { 0.0 };
        }
        let (middle, spread) = self.reach(level);
        normal().map_or(0.0, |law| law.cdf((beyond / self.true_error() - middle) / spread))
    }

    /// The smallest true worsening, as a part, that is found with probability `power` at `level`.
    pub fn detectable(self, power: f64, tolerance: f64, level: f64) -> f64 {
        let (middle, spread) = self.reach(level);
        let quantile = normal().map_or(f64::INFINITY, |law| law.inverse_cdf(power));
        (tolerance.ln_1p() + (middle + quantile * spread) * self.true_error()).exp_m1()
    }

    /// How many errors beyond the tolerance a worsening lies that is found half of the time, and what one standard
    /// deviation of the statistic adds to that.
    fn reach(self, level: f64) -> (f64, f64) {
        let critical = student(self.freedom, 1.0 - level);
        let middle = critical * (1.0 - 1.0 / (4.0 * self.freedom));
        (middle, (1.0 + critical.powi(2) / (2.0 * self.freedom)).sqrt())
    }

    /// The error without the bias of a deviation that few values are estimated from.
    fn true_error(self) -> f64 {
        self.error * (1.0 + 1.0 / (4.0 * self.freedom))
    }
}

/// The logarithm of the likelihood of a value that is `off` from what was expected with that deviation, which is itself an
/// estimate with `freedom` degrees of freedom: Student's density but for what depends on `freedom` alone.
pub fn log_likelihood(off: f64, deviation: f64, freedom: f64) -> f64 {
    debug_assert!(deviation > 0.0, "nothing is known exactly");
    let z = off / deviation;
    -deviation.ln() - (freedom + 1.0) / 2.0 * (z * z / freedom).ln_1p()
}

/// How strange a value is that is `off` from what was expected with that deviation, itself an estimate with `freedom`
/// degrees of freedom: the square of the standard normal deviate that is as rare, 0 where it is what was expected.
///
/// Of values that are independent of each other the sum has the chi-square distribution, of [`chi_square`].
pub fn strangeness(off: f64, deviation: f64, freedom: f64) -> f64 {
    debug_assert!(deviation > 0.0, "nothing is known exactly");
    let below = -(off / deviation).abs();
    let rare = StudentsT::new(0.0, 1.0, freedom).map_or(0.5, |law| law.cdf(below));
    // Rarer than this is told apart by no double.
    normal().map_or(0.0, |law| law.inverse_cdf(rare.max(f64::MIN_POSITIVE))).powi(2)
}

/// The value that the sum of the squares of `count` independent standard normal deviates does not exceed with that
/// probability.
pub fn chi_square(count: f64, probability: f64) -> f64 {
    debug_assert!(count > 0.0 && (0.0..1.0).contains(&probability), "{count} squares, {probability}");
    ChiSquared::new(count).map_or(f64::INFINITY, |law| law.inverse_cdf(probability))
}

/// The value that Student's distribution with `freedom` degrees of freedom does not exceed with that probability.
pub fn quantile(freedom: f64, probability: f64) -> f64 {
    student(freedom, probability)
}

fn normal() -> Option<Normal> {
    Normal::new(0.0, 1.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(log: f64) -> Worsening {
        Worsening { log, error: 0.01, freedom: 18.0 }
    }

    #[test]
    fn less_of_a_rate_and_more_of_a_time_are_worse() {
        let of = |value: f64| Estimate::new(value, 0.0001, 9.0).unwrap();
        let rate = Worsening::of(of(100.0), of(80.0), true);
        let time = Worsening::of(of(80.0), of(100.0), false);
        assert!((rate.log - 1.25f64.ln()).abs() < 1e-12 && (time.log - rate.log).abs() < 1e-12);
        assert!((rate.error - 0.0002f64.sqrt()).abs() < 1e-12 && (rate.freedom - 18.0).abs() < 1e-9);
    }

    #[test]
    fn a_verdict_changes_where_the_one_sided_bound_reaches_the_tolerance() {
        // t(18, 0.99) = 2.5524
        let (limit, half) = (0.05f64.ln_1p(), 2.5524 * 0.01);
        assert_eq!(at(limit + half + 1e-5).judge(0.05, 0.01), Judged::Violated);
        assert_eq!(at(limit + half - 1e-5).judge(0.05, 0.01), Judged::Inconclusive);
        assert_eq!(at(limit - half + 1e-5).judge(0.05, 0.01), Judged::Inconclusive);
        assert_eq!(at(limit - half - 1e-5).judge(0.05, 0.01), Judged::Met);
    }

    #[test]
    fn a_value_is_as_strange_as_the_normal_deviate_that_is_as_rare() {
        // Student's distribution with 4 degrees of freedom exceeds 2.1318 either way in 10 of 100 values, the normal 1.6449.
        assert!((strangeness(-2.1318, 1.0, 4.0) - 1.6449f64.powi(2)).abs() < 1e-3);
        assert!((strangeness(4.2636, 2.0, 4.0) - 1.6449f64.powi(2)).abs() < 1e-3);
        assert!(strangeness(0.0, 1.0, 4.0).abs() < 1e-12 && strangeness(1e9, 1.0, 30.0).is_finite());
        // A table of the chi-square distribution.
        for (count, value) in [(1.0, 6.6349), (10.0, 23.2093)] {
            assert!((chi_square(count, 0.99) - value).abs() < 1e-3, "{count}");
        }
    }

    #[test]
    fn a_value_is_less_likely_the_farther_it_is_off_and_tails_are_those_of_student() {
        let of = |off| log_likelihood(off, 1.0, 4.0);
        // The ratio of Student's densities with 4 degrees of freedom at 0 and 2: (1 + 4/4)^2.5.
        assert!((of(0.0) - of(2.0) - 2.5 * 2f64.ln()).abs() < 1e-12);
        assert!((log_likelihood(3.0, 1.0, 1e6) - log_likelihood(0.0, 1.0, 1e6) + 4.5).abs() < 1e-3);
        assert!(log_likelihood(0.0, 0.5, 9.0) > log_likelihood(0.0, 1.0, 9.0), "who is surer risks more");
        assert!((quantile(18.0, 0.99) - 2.5524).abs() < 1e-3);
    }

    #[test]
    fn what_is_detectable_is_found_with_that_power() {
        let least = at(0.0).detectable(0.9, 0.05, 0.01);
        assert!((at(0.0).power(least, 0.05, 0.01) - 0.9).abs() < 1e-6);
        assert!((at(0.0).power(0.05, 0.05, 0.01) - 0.01).abs() < 1e-3, "at the limit it is the false alarms");
        let exact = Worsening { log: 0.0, error: 0.0, freedom: 5.0 };
        assert_eq!((exact.power(0.06, 0.05, 0.01), exact.power(0.04, 0.05, 0.01)), (1.0, 0.0));
    }
}
