//! What dominates what.

/// Of `points`, each a list of costs (less is better) with who has it, those that no other dominates: the positions of
/// one for each list of costs, in rising order of the lists, and how many more have the same.
///
/// Of equal lists the first of `points` stands for all. `chance` is as in [`dominates`].
pub fn front(points: &[Vec<f64>], chance: &[f64]) -> Vec<(usize, u64)> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|one, other| compare(&points[*one], &points[*other]).then(one.cmp(other)));
    let mut found: Vec<(usize, u64)> = Vec::new();
    for at in order {
        if let Some((_, alike)) = found.last_mut().filter(|(last, _)| points[*last] == points[at]) {
            *alike += 1;
            continue;
        }
        // In this order whatever dominates a point stands before it.
        if !found.iter().any(|(other, _)| dominates(&points[*other], &points[at], chance)) {
            found.push((at, 0));
        }
    }
    assert_eq!(found.is_empty(), points.is_empty(), "of any points one is not dominated");
    debug_assert!(
        found.windows(2).all(|pair| compare(&points[pair[0].0], &points[pair[1].0]).is_lt()),
        "each list of costs stands once, in rising order"
    );
    found
}

/// Whether `one` costs no more of anything than `other`, and of something less by more than its `chance`, by which costs differ where
/// nothing but the seed does.
///
/// What dominates something dominates whatever that dominates.
pub fn dominates(one: &[f64], other: &[f64], chance: &[f64]) -> bool {
    debug_assert_eq!(one.len(), other.len(), "lists of the same costs");
    let mut is_less = false;
    debug_assert_eq!(one.len(), chance.len(), "a chance for each cost");
    for ((one, other), chance) in one.iter().zip(other).zip(chance) {
        if one > other {
            return false;
        }
        // What is as good as can be is no better than its like.
        is_less |= one < other && other - one > *chance;
    }
    is_less
}

fn compare(one: &[f64], other: &[f64]) -> std::cmp::Ordering {
    let pairs = one.iter().zip(other).map(|(one, other)| one.total_cmp(other));
    pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_dominates_stays_and_equals_are_counted() {
        let points: Vec<Vec<f64>> =
            [[3.0, 1.0], [1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [2.0, 2.0], [3.0, 3.0]].map(Vec::from).into();
        assert_eq!(front(&points, &[0.0; 2]), [(1, 0), (2, 1), (0, 0)]);
        assert_eq!(front(&[], &[]), []);
    }

    #[test]
    fn what_is_better_by_no_more_than_chance_dominates_nothing() {
        let points = vec![vec![4.0, 446.0], vec![4.0, 557.0], vec![4.0, 600.0], vec![5.0, 446.0]];
        assert_eq!(front(&points, &[0.0, 0.0]), [(0, 0)]);
        assert_eq!(front(&points, &[0.0, 120.0]), [(0, 0), (1, 0)], "a higher price is no chance");
    }

    #[test]
    fn a_front_is_what_comparing_all_with_all_gives() {
        // A fixed walk through 300 points of three costs with many ties.
        let mut state = 9u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 60) & 7) as f64
        };
        let points: Vec<Vec<f64>> = (0..300).map(|_| vec![next(), next(), next()]).collect();
        let mut all: Vec<Vec<f64>> = Vec::new();
        for point in &points {
            if !points.iter().any(|other| dominates(other, point, &[0.0; 3])) && !all.contains(point) {
                all.push(point.clone());
            }
        }
        all.sort_by(|one, other| compare(one, other));
        let found: Vec<Vec<f64>> =
            front(&points, &[0.0; 3]).iter().map(|(at, _)| points[*at].clone()).collect();
        assert_eq!(found, all);
    }
}
