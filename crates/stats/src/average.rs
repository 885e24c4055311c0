//! Values in one: their mean, their geometric mean, their median.

/// The mean; not a number without a value.
pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The geometric mean, the middle of ratios: `None` without a value, and where one is not above zero or not finite.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sound = !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
    let logs = values.iter().map(|value| value.ln()).sum::<f64>();
    sound.then(|| (logs / values.len() as f64).exp())
}

/// The median of `sorted`, of an even number the mean of the two in the middle; `None` without a value.
pub fn median(sorted: &[f64]) -> Option<f64> {
    debug_assert!(sorted.is_sorted(), "a median is of values by their size");
    let above = *sorted.get(sorted.len() / 2)?;
    let below = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(below, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_lies_in_the_middle_and_of_nothing_there_is_none() {
        assert_eq!([median(&[]), median(&[3.0]), median(&[1.0, 2.0, 9.0])], [None, Some(3.0), Some(2.0)]);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }

    #[test]
    fn the_geometric_mean_of_half_and_twice_is_one_and_of_what_has_no_logarithm_there_is_none() {
        assert!(geometric_mean(&[0.5, 2.0]).is_some_and(|mean| (mean - 1.0).abs() < 1e-12));
        for without in [&[][..], &[0.0, 1.0], &[-1.0], &[f64::INFINITY], &[f64::NAN]] {
            assert_eq!(geometric_mean(without), None, "{without:?}");
        }
    }
}
