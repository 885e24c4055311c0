//! Has more load stopped paying?

/// How a sweep is judged flat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flat {
    /// Gains up to this part of the best value seen before count as none.
    pub within: f64,
    /// Consecutive points without a gain that end the sweep.
    pub points: usize,
}

/// The index of the first of the last `points` values that brought no gain, or `None` while it still pays.
///
/// A value gains when it is more than `within` above the best value before it. The first value always gains.
pub fn flat_since(values: &[f64], rule: Flat) -> Option<usize> {
    let mut best = f64::NEG_INFINITY;
    let mut idle = 0;
    for value in values {
        let gained = best == f64::NEG_INFINITY || *value > best * (1.0 + rule.within);
        idle = if gained { 0 } else { idle + 1 };
        best = best.max(*value);
    }
    (rule.points > 0 && idle >= rule.points).then(|| values.len() - idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Flat = Flat { within: 0.03, points: 2 };

    #[test]
    fn a_sweep_that_still_gains_goes_on() {
        assert_eq!(flat_since(&[100.0, 190.0, 300.0], RULE), None);
        assert_eq!(flat_since(&[100.0, 101.0, 150.0], RULE), None);
    }

    #[test]
    fn two_points_without_a_gain_end_it_at_the_first_of_them() {
        assert_eq!(flat_since(&[100.0, 190.0, 192.0, 191.0], RULE), Some(2));
    }

    #[test]
    fn small_steps_are_measured_against_the_best_so_far() {
        // Two per cent at every step is a gain of four per cent over two: the best before it counts.
        assert_eq!(flat_since(&[100.0, 102.0, 104.0], Flat { within: 0.03, points: 3 }), None);
        assert_eq!(flat_since(&[100.0, 90.0, 80.0], RULE), Some(1));
        assert_eq!(flat_since(&[], RULE), None);
    }
}
