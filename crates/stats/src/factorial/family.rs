//! Several tests of which none may claim what is not there.

/// The probability of each of several tests, raised so that none of those at or below `alpha` is wrong, but with that
/// probability.
///
/// In the order given; 0 to 1, never below what was given. Holds however the tests depend on each other.
/// Source: Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6
/// (1979).
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    debug_assert!(p_values.iter().all(|p| (0.0..=1.0).contains(p)), "probabilities: {p_values:?}");
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut most = 0.0f64;
    for (rank, index) in order.into_iter().enumerate() {
        most = most.max(p_values[index] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[index] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_test_is_raised_by_how_many_are_left_and_none_passes_one_that_is_clearer() {
        // By hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 is no clearer than 0.03.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, wanted) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - wanted).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0], "a probability is no more than 1");
        assert_eq!(holm(&[0.02]), [0.02]);
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_raised_probability_lies_between_its_own_and_that_of_the_first_step(
            p_values in proptest::collection::vec(0.0..=1.0f64, 1..20),
        ) {
            let adjusted = holm(&p_values);
            for (own, raised) in p_values.iter().zip(&adjusted) {
                prop_assert!(own <= raised);
                let first_step = (own * p_values.len() as f64).min(1.0);
                // Or as high as one that is clearer.
                let pushed = p_values.iter().zip(&adjusted).any(|(p, other)| p < own && other == raised);
                prop_assert!(*raised <= first_step || pushed);
            }
            let least = p_values.iter().copied().fold(1.0, f64::min);
            let first = adjusted.iter().copied().fold(1.0, f64::min);
            prop_assert_eq!(first, (least * p_values.len() as f64).min(1.0));
        }
    }
}
