//! The least of a function of several figures within bounds, of which only values are to be had.
//!
//! Compass search: from a point one step up and down along each axis, to the best of these while one is better, then
//! with half the step. Simulated answers have kinks and small steps, which slopes cannot be taken of; this needs none.
//! Source: Kolda, Lewis and Torczon, "Optimization by Direct Search", SIAM Review 45 (2003), section 1.2.

/// Where the least was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Least {
    /// The place, each figure as a part of the way between its bounds.
    pub at: Vec<f64>,
    /// The value there; infinite where no value was finite.
    pub value: f64,
}

/// The first step, as a part of the way between the bounds.
const FIRST_STEP: f64 = 0.25;

/// Searches the unit cube from `start` on until no step of `finest` or more, 0.25 at most, leads down any more.
///
/// `values` gives the values at several places at once; one that is no number counts as infinite. Finds a place that no
/// such step improves, which is the least one where the function has no other such places.
pub fn least(start: &[f64], finest: f64, values: &mut dyn FnMut(&[Vec<f64>]) -> Vec<f64>) -> Least {
    assert!(finest > 0.0, "a search by no step never ends");
    let begin: Vec<f64> = start.iter().map(|part| part.clamp(0.0, 1.0)).collect();
    let value = values(std::slice::from_ref(&begin)).first().copied().unwrap_or(f64::INFINITY);
    let mut best = Least { at: begin, value: finite(value) };
    let mut step = FIRST_STEP;
    while step >= finest {
        let places = around(&best.at, step);
        let there = values(&places);
        assert_eq!(there.len(), places.len(), "every place has its value");
        let lower = places.into_iter().zip(there).map(|(at, value)| Least { at, value: finite(value) });
        match lower.min_by(|one, other| one.value.total_cmp(&other.value)) {
            Some(lower) if lower.value < best.value => best = lower,
            _ => step /= 2.0,
        }
    }
    assert!(best.at.iter().all(|part| (0.0..=1.0).contains(part)), "the search stays in the unit cube");
    best
}

fn finite(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

/// One step up and down along each axis, as far as the cube goes.
fn around(at: &[f64], step: f64) -> Vec<Vec<f64>> {
    debug_assert!(step > 0.0 && step <= FIRST_STEP, "a step leads somewhere");
    let moved = |axis: usize, by: f64| {
        let mut place = at.to_vec();
        place[axis] = (place[axis] + by).clamp(0.0, 1.0);
        (place[axis] != at[axis]).then_some(place)
    };
    (0..at.len()).flat_map(|axis| [moved(axis, step), moved(axis, -step)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the middle, `of` asked place by place.
    fn found(axes: usize, of: impl Fn(&[f64]) -> f64) -> Least {
        least(&vec![0.5; axes], 1.0 / 256.0, &mut |places| places.iter().map(|at| of(at)).collect())
    }

    #[test]
    fn the_bottom_of_a_bowl_is_found_to_the_finest_step() {
        let bottom = [0.2, 0.71, 0.9];
        let bowl = |at: &[f64]| at.iter().zip(bottom).map(|(x, low)| (x - low).powi(2)).sum();
        let found = found(3, bowl);
        for (x, low) in found.at.iter().zip(bottom) {
            assert!((x - low).abs() < 1.0 / 128.0, "{found:?}");
        }
    }

    #[test]
    fn a_bowl_with_steps_and_one_beyond_the_bounds_end_where_they_are_lowest_within() {
        let stairs = |at: &[f64]| ((at[0] * 20.0).round() - 6.0).abs();
        assert!(((found(1, stairs).at[0] * 20.0).round() - 6.0).abs() < 1e-9);
        assert_eq!(found(1, |at| (at[0] - 3.0).powi(2)).at, [1.0]);
    }

    #[test]
    fn what_is_no_number_is_left_and_nothing_to_move_is_no_search() {
        let half = |at: &[f64]| if at[0] < 0.6 { f64::NAN } else { at[0] };
        assert!((found(1, half).at[0] - 0.6).abs() < 0.01);
        assert_eq!(found(0, |_| 4.0), Least { at: vec![], value: 4.0 });
    }
}
