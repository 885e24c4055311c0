//! The mean of a series whose neighbours resemble each other, with an interval that admits it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Interval;
use crate::average::average;

/// A mean and the range that holds the long-run mean with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchMean {
    /// The mean of all values.
    pub mean: f64,
    /// The 95 % range; `None` with fewer than two batches, or when a batch is too short to be independent.
    pub interval: Option<Interval<f64>>,
    /// Batches used.
    pub batches: usize,
}

/// Fewer batches give a Student factor above 2.3 and say little; more make each too short.
const BATCHES_MAX: usize = 30;

/// The mean of `values` taken at equal spacing, and its 95 % interval by non-overlapping batch means.
///
/// Up to 30 batches of equal length; leading values that do not fill a batch count for the mean alone.
/// `None` when there are no values. Source: Law, *Simulation Modeling and Analysis*, section 9.5.3.
pub fn batch_mean(values: &[f64]) -> Option<BatchMean> {
    if values.is_empty() {
        return None;
    }
    let mean = average(values);
    let batches = values.len().min(BATCHES_MAX);
    let length = values.len() / batches;
    let means: Vec<f64> = values[values.len() - batches * length..].chunks(length).map(average).collect();
    Some(BatchMean { mean, interval: student_interval(&means, mean), batches })
}

fn student_interval(means: &[f64], centre: f64) -> Option<Interval<f64>> {
    let n = means.len();
    if n < 2 {
        return None;
    }
    let grand = average(means);
    let variance = means.iter().map(|mean| (mean - grand).powi(2)).sum::<f64>() / (n - 1) as f64;
    let factor = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?.inverse_cdf(0.975);
    let half = factor * (variance / n as f64).sqrt();
    Some(Interval { low: centre - half, high: centre + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_give_the_textbook_student_interval() {
        let result = batch_mean(&[9.0, 10.0, 11.0, 10.0, 10.0]).unwrap();
        let interval = result.interval.unwrap();
        // s = sqrt(0.5), t(4, 0.975) = 2.7764: half width 2.7764 * 0.7071 / sqrt(5) = 0.878
        assert!((result.mean - 10.0).abs() < 1e-12);
        assert!((interval.high - 10.878).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn the_interval_of_a_series_is_that_of_thirty_batches_at_its_end() {
        let rough = |count: usize| -> Vec<f64> {
            (0..count).map(|at| 100.0 + ((at * 7_919 + 13) % 101) as f64 / 10.0).collect()
        };
        // Computed apart from this program. Of 64 values the first four fill no batch of two.
        for (count, batches, mean, low, high) in [
            (64, 30, 104.989_062_5, 104.407_377_932_32, 105.570_747_067_68),
            (7, 7, 104.942_857_142_86, 102.139_258_713_32, 107.746_455_572_39),
        ] {
            let found = batch_mean(&rough(count)).unwrap();
            let range = found.interval.unwrap();
            assert_eq!(found.batches, batches);
            for (found, wanted) in [(found.mean, mean), (range.low, low), (range.high, high)] {
                assert!((found - wanted).abs() < 1e-6, "{found} in place of {wanted}");
            }
        }
        assert!(batch_mean(&rough(2)).unwrap().interval.is_some());
    }

    #[test]
    fn one_value_has_a_mean_and_no_interval() {
        let result = batch_mean(&[7.0]).unwrap();
        assert_eq!((result.mean, result.interval), (7.0, None));
        assert_eq!(batch_mean(&[]), None);
    }

    #[test]
    fn neighbours_that_resemble_each_other_widen_the_interval() {
        let alternating: Vec<f64> = (0..600).map(|i| f64::from(i % 2)).collect();
        let blocks: Vec<f64> = (0..600).map(|i| f64::from((i / 100) % 2)).collect();
        let width = |values: &[f64]| batch_mean(values).unwrap().interval.unwrap().relative_half_width();
        assert!(width(&blocks) > 10.0 * width(&alternating));
    }
}
