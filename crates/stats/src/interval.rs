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
