//! A range that holds the true value with a stated confidence.

/// Lower and upper end, both possible. The confidence belongs to whoever made it; by default 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval<T> {
    /// The smallest value not excluded.
    pub low: T,
    /// The largest value not excluded.
    pub high: T,
}

impl Interval<f64> {
    /// Half the width, as a part of the middle; infinite when the middle is zero.
    pub fn relative_half_width(&self) -> f64 {
        let middle = (self.low + self.high) / 2.0;
        if middle == 0.0 { f64::INFINITY } else { (self.high - self.low) / 2.0 / middle.abs() }
    }

    /// Whether no value lies in both. Intervals that overlap or touch may differ by chance.
    pub fn is_apart(&self, other: &Interval<f64>) -> bool {
        self.high < other.low || other.high < self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_width_is_a_part_of_the_middle_on_either_side_of_zero() {
        let part = |low: f64, high: f64| Interval { low, high }.relative_half_width();
        assert_eq!(part(3.0, 5.0), 0.25);
        assert_eq!(part(-5.0, -3.0), 0.25);
        assert_eq!(part(4.0, 4.0), 0.0);
        assert_eq!(part(-1.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn intervals_are_apart_that_neither_overlap_nor_touch() {
        let one = Interval { low: 1.0, high: 2.0 };
        for (low, high, apart) in [
            (2.5, 3.0, true),
            (2.0, 3.0, false),
            (1.5, 1.6, false),
            (0.0, 9.0, false),
            (0.0, 1.0, false),
            (0.0, 0.9, true),
        ] {
            assert_eq!(one.is_apart(&Interval { low, high }), apart, "{low} to {high}");
        }
    }
}
