//! The variance of a mean from the slowest cosines of what it is the mean of.

use std::f64::consts::PI;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{NoInterval, STRETCHES_LEAST};
use crate::average::average;

/// Cosines of a run of 16 to 64 stretches; a Student factor of 2.3.
const COSINES: usize = 8;
/// Cosines of the longest runs; more would gain a twentieth in width and see less of what is slow.
const COSINES_MOST: usize = 16;
/// The variance is never below this part of what independent stretches would have: cosines may be small by chance.
const INDEPENDENT_PART: f64 = 2.0 / 3.0;
/// So many times as strong as those that follow, the slowest cosines are a drift, or a change slower than the run.
const STEEP: f64 = 5.0;

pub(super) fn cosines_of(cells: usize) -> usize {
    (cells / 8).clamp(COSINES, COSINES_MOST).min(cells / 2)
}

/// Half the width of the interval of the mean of what `residuals` are the deviations of.
pub(super) fn half_width(residuals: &[f64]) -> Result<f64, NoInterval> {
    let (variance, freedom) = variance(residuals)?;
    Ok(student(freedom) * variance.sqrt())
}

/// The variance of the mean, and its degrees of freedom.
pub(super) fn variance(residuals: &[f64]) -> Result<(f64, f64), NoInterval> {
    let n = residuals.len();
    if n < STRETCHES_LEAST {
        return Err(NoInterval::TooShort);
    }
    let slow = cosines_of(n);
    let powers: Vec<f64> = (1..=(3 * slow).min(n - 1)).map(|number| power(residuals, number)).collect();
    let (slowest, following) = (average(&powers[..slow]), average(&powers[slow..]));
    if n >= 2 * COSINES && slowest > STEEP * following {
        return Err(NoInterval::TooSlow);
    }
    let variance = (slowest / n as f64).max(INDEPENDENT_PART * independent(residuals));
    Ok((variance, slow as f64))
}

/// The power of the cosine that has `number` half periods in the run.
pub(super) fn power(residuals: &[f64], number: usize) -> f64 {
    let n = residuals.len() as f64;
    let wave = |place: usize| (PI * number as f64 * (place as f64 + 0.5) / n).cos();
    let sum: f64 = residuals.iter().enumerate().map(|(place, value)| value * wave(place)).sum();
    sum * sum * 2.0 / n
}

/// The variance of the mean if neighbours told nothing of each other.
pub(super) fn independent(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    residuals.iter().map(|value| value * value).sum::<f64>() / (n - 1.0) / n
}

/// The two-sided 95 % factor.
pub(super) fn student(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(0.975))
}
