//! Intervals of rates, mean times and percentiles of requests that depend on each other.
//!
//! Slow requests come together, so the number of requests says little of how sure a figure is. What counts is how much
//! stretches of a run differ from each other, and that over the longest times the run has room for: the variance of a
//! mean is the spectrum of its stretches at frequency zero. It is estimated from the slowest cosines of the run, which
//! are nearly independent of each other whatever the requests do, and Student's distribution has as many degrees of
//! freedom as there are cosines.
//!
//! **Invariant:** an interval is given where the run surely has enough of what it is about: not the number of independent
//! groups that it seems to have decides but the lower bound of that number, and where the tail is concerned that of a
//! more common share. Runs that are given an interval are no fair sample: one that found too short times found too little
//! deviation with them, and too many groups. Therefore intervals widen steeply towards the fewest groups that are given
//! one, until they are so wide that there is none, and above the figure more than below it: near saturation the deviation
//! of a mean grows with its square, so halves are equal on the scale on which the deviation stays what it is.
//!
//! Sources: Müller, *HAC corrections for strongly autocorrelated time series*, Journal of Business & Economic
//! Statistics 32 (2014), and Lazarus, Lewis, Stock & Watson, the same 36 (2018), for equally weighted cosines; Woodruff,
//! *Confidence intervals for medians and other position measures*, Journal of the American Statistical Association 47
//! (1952), for percentiles by the share above each candidate; Cochran, *Sampling Techniques*, section 6.3, for shares
//! as ratios of two means; Whitt, *Planning queueing simulations*, Management Science 35 (1989), and Asmussen, *Queueing
//! simulation in heavy traffic*, Mathematics of Operations Research 17 (1992), for how deviations grow near saturation;
//! Fithian, Sun & Taylor, *Optimal inference after model selection* (2014), for intervals of what was let through.

mod cosines;
mod stretch;
mod stretches;
#[cfg(test)]
mod tests;

use std::fmt;

use self::cosines::{cosines_of, half_width};
pub use self::stretch::Stretch;
pub use self::stretches::Stretches;
use crate::Interval;
use crate::average::average;

/// Fewer stretches than these say nothing of how they differ.
pub const STRETCHES_LEAST: usize = 4;

/// More stretches than these are put together: only slow changes count, and memory stays what it is.
const STRETCHES_MOST: usize = 128;

/// Why a figure has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// Fewer stretches than four, or nothing in them.
    TooShort,
    /// Too few independent requests beyond it.
    TooFew,
    /// Changes that are slower than the run has room for.
    TooSlow,
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoInterval::TooShort => "fewer than 4 whole seconds were measured",
            NoInterval::TooFew => "slow requests came in too few groups independent of each other",
            NoInterval::TooSlow => "it changed more slowly than the run is long",
        })
    }
}

/// The range that holds the long-run mean of `values`, taken at equal spacing, with 95 % confidence; the reason where
/// there is none.
pub fn mean_interval(values: &[f64]) -> Result<Interval<f64>, NoInterval> {
    let cells: Vec<f64> = grouped(values).map(average).collect();
    let mean = average(&cells);
    let residuals: Vec<f64> = cells.iter().map(|cell| cell - mean).collect();
    let half = half_width(&residuals)?;
    let centre = average(values);
    Ok(Interval { low: centre - half, high: centre + half })
}

/// The degrees of freedom behind an interval of that many equally long stretches; `None` where there is none.
pub fn freedom(stretches: usize) -> Option<f64> {
    let cells = stretches / stretches.div_ceil(STRETCHES_MOST).max(1);
    debug_assert!(cells <= STRETCHES_MOST);
    (cells >= STRETCHES_LEAST).then(|| cosines_of(cells) as f64)
}

fn grouped<T>(values: &[T]) -> std::slice::Chunks<'_, T> {
    let length = values.len().div_ceil(STRETCHES_MOST).max(1);
    values[values.len() % length..].chunks(length)
}
