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
}
