//! The steady state rule of the SNIA Solid State Storage Performance Test Specification.
//!
//! A figure is measured once a round. It is steady when, over the last five rounds, its values stay within a tenth of
//! their mean to either side and the line fitted through them rises or falls by no more than a tenth of that mean.
//!
//! **Invariant:** the rule is that of the specification and nothing else: it accepts a device that drifts by up to
//! 2.5 % a round for ever. Whoever shows its verdict says that it is this rule's.

/// The rounds that are looked at, the last of those measured.
pub const WINDOW: usize = 5;

/// The round after which a test ends without steady state.
pub const ROUNDS_MAX: usize = 25;

/// The largest difference of two values of the window, as a part of their mean.
///
/// Source: SNIA SSS PTS, definition of steady state, data excursion: within 10 % of the mean to either side.
pub const RANGE_MAX: f64 = 0.20;

/// The most that the fitted line may rise or fall within the window, as a part of the mean.
///
/// Source: SNIA SSS PTS, definition of steady state, slope excursion.
pub const SLOPE_MAX: f64 = 0.10;

/// Five rounds held against the rule, with everything that a report of steady state has to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The first round of the window, from 1.
    pub first_round: usize,
    /// The last round of the window.
    pub last_round: usize,
    /// The mean of the window.
    pub mean: f64,
    /// Largest value less the smallest.
    pub range: f64,
    /// The most that [`Steady::range`] may be: a fifth of the mean.
    pub range_allowed: f64,
    /// By how much the fitted line rises from one round to the next; below 0 where it falls.
    pub slope: f64,
    /// Where the fitted line is at round 0: the fit is `slope * round + intercept`.
    pub intercept: f64,
    /// How far the fitted line goes from the first round of the window to the last, without its sign.
    pub excursion: f64,
    /// The most that [`Steady::excursion`] may be: a tenth of the mean.
    pub excursion_allowed: f64,
}

impl Steady {
    /// The last five of `rounds`, one value for each round from the first; `None` with fewer than five.
    ///
    /// The line is the least squares fit over the numbers of the rounds.
    pub fn of(rounds: &[f64]) -> Option<Steady> {
        let from = rounds.len().checked_sub(WINDOW)?;
        let window = &rounds[from..];
        let mean = window.iter().sum::<f64>() / WINDOW as f64;
        let largest = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = window.iter().copied().fold(f64::INFINITY, f64::min);
        // Steps from the middle round: -2, -1, 0, 1, 2, whose squares sum to 10.
        let steps = window.iter().zip(-2i32..).map(|(value, step)| value * f64::from(step));
        let slope = steps.sum::<f64>() / 10.0;
        let middle = (from + 1) as f64 + 2.0;
        Some(Steady {
            first_round: from + 1,
            last_round: rounds.len(),
            mean,
            range: largest - smallest,
            range_allowed: RANGE_MAX * mean.abs(),
            slope,
            intercept: mean - slope * middle,
            excursion: slope.abs() * (WINDOW - 1) as f64,
            excursion_allowed: SLOPE_MAX * mean.abs(),
        })
    }

    /// Whether both conditions hold. A window of nothing but zeros is not steady: nothing was measured in it.
    pub fn reached(&self) -> bool {
        self.mean != 0.0 && self.range_holds() && self.slope_holds()
    }

    /// Whether the values are near enough to each other.
    pub fn range_holds(&self) -> bool {
        self.range <= self.range_allowed
    }

    /// Whether the fitted line is flat enough.
    pub fn slope_holds(&self) -> bool {
        self.excursion <= self.excursion_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values, mean, range over mean, line over mean, steady.
    type Vector = ([f64; 5], f64, f64, f64, bool);

    const VECTORS: [Vector; 7] = [
        ([100.0, 104.0, 98.0, 102.0, 101.0], 101.0, 0.0594, 0.0000, true),
        ([100.0, 105.0, 110.0, 115.0, 120.0], 110.0, 0.1818, 0.1818, false),
        ([100.0, 125.0, 101.0, 99.0, 100.0], 105.0, 0.2476, 0.0990, false),
        ([95.0, 105.0, 95.0, 105.0, 100.0], 100.0, 0.1000, 0.0400, true),
        ([100.0, 102.5, 105.0, 107.5, 110.0], 105.0, 0.0952, 0.0952, true),
        ([100.0, 102.0, 105.0, 108.0, 111.0], 105.2, 0.1046, 0.1065, false),
        ([90.0, 110.0, 90.0, 110.0, 90.0], 98.0, 0.2041, 0.0000, false),
    ];

    #[test]
    fn the_vectors_of_the_rule_come_out_as_they_should() {
        for (values, mean, range, line, steady) in VECTORS {
            let found = Steady::of(&values).expect("five rounds");
            assert!((found.mean - mean).abs() < 1e-9, "{values:?}: {found:?}");
            assert!((found.range / found.mean - range).abs() < 5e-5, "{values:?}: {found:?}");
            assert!((found.excursion / found.mean - line).abs() < 5e-5, "{values:?}: {found:?}");
            assert_eq!(found.reached(), steady, "{values:?}: {found:?}");
        }
    }

    #[test]
    fn each_condition_is_told_apart() {
        let of = |vector: usize| {
            let found = Steady::of(&VECTORS[vector].0).expect("five rounds");
            (found.range_holds(), found.slope_holds())
        };
        assert_eq!(
            [of(1), of(2), of(5), of(6)],
            [(true, false), (false, true), (true, false), (false, true)]
        );
    }

    #[test]
    fn four_rounds_are_too_few_and_only_the_last_five_count() {
        assert_eq!(Steady::of(&[1.0, 1.0, 1.0, 1.0]), None);
        let found =
            Steady::of(&[900.0, 10.0, 500.0, 100.0, 104.0, 98.0, 102.0, 101.0]).expect("eight rounds");
        assert_eq!((found.first_round, found.last_round, found.reached()), (4, 8, true));
    }

    #[test]
    fn the_fit_goes_through_the_rounds_by_their_numbers() {
        // Rounds 3 to 7 of 2 x round + 90.
        let rounds: Vec<f64> = (1..=7).map(|round| 2.0 * f64::from(round) + 90.0).collect();
        let found = Steady::of(&rounds).expect("seven rounds");
        assert!((found.slope - 2.0).abs() < 1e-9 && (found.intercept - 90.0).abs() < 1e-9, "{found:?}");
        assert!((found.excursion - 8.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        assert!(!Steady::of(&[0.0; 5]).expect("five rounds").reached());
    }
}
