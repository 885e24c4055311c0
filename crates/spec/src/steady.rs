//! When a figure counts as steady, second by second.
//!
//! The rule is fio's `steadystate`: over a window of whole seconds either no value lies further from the mean of the
//! window than a limit, or the line fitted through them by least squares rises or falls by less than it each second.

/// When a figure is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Of which the values are.
    pub figure: SteadyFigure,
    /// What of them is held against the limit.
    pub measure: SteadyMeasure,
    /// Below which it is steady; above 0.
    pub limit: SteadyLimit,
    /// The window, in seconds; at least 2.
    pub over_s: u32,
    /// Seconds of the measured time before the window may begin.
    pub after_s: u32,
}

/// A figure of each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyFigure {
    /// Requests.
    Iops,
    /// Bytes.
    Throughput,
    /// The mean response time in nanoseconds.
    Latency,
}

/// What is small where a figure is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyMeasure {
    /// The largest distance of a value from the mean of the window.
    Deviation,
    /// The slope of the line through the window, a second.
    Slope,
}

/// How small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteadyLimit {
    /// A part of the mean of the window.
    Part(f64),
    /// So much of the figure itself.
    Value(f64),
}

/// A window that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// The mean of its values.
    pub mean: f64,
    /// The line's rise each second.
    pub slope: f64,
    /// The largest distance from the mean.
    pub deviation: f64,
    /// What is held against the limit: in percent of the mean where the limit is a part of it.
    pub value: f64,
    /// Whether it lies within the limit.
    pub is_met: bool,
}

impl Steady {
    /// What `window` comes to; `None` where it is not full or empty of load.
    pub fn criterion(&self, window: &[f64]) -> Option<Criterion> {
        debug_assert!(self.over_s >= 2, "one value has neither a slope nor a deviation");
        debug_assert!(
            window.iter().all(|value| value.is_finite() && *value >= 0.0),
            "a second of {window:?}"
        );
        if window.len() < self.over_s as usize || window.len() < 2 {
            return None;
        }
        let n = window.len() as f64;
        let mean = window.iter().sum::<f64>() / n;
        let deviation = window.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let middle = (n - 1.0) / 2.0;
        let covariance: f64 = (0..).zip(window).map(|(x, y)| (f64::from(x) - middle) * (y - mean)).sum();
        // Seconds are 0 to n - 1, whose squared distances from their mean sum to n(n² - 1)/12.
        let slope = covariance / (n * (n * n - 1.0) / 12.0);
        let absolute = match self.measure {
            SteadyMeasure::Deviation => deviation,
            SteadyMeasure::Slope => slope,
        };
        let (value, limit) = match self.limit {
            SteadyLimit::Part(part) if mean > 0.0 => (absolute / mean * 100.0, part * 100.0),
            SteadyLimit::Part(_) => return None,
            SteadyLimit::Value(limit) => (absolute, limit),
        };
        debug_assert!(deviation >= 0.0 && slope.is_finite(), "deviation {deviation}, slope {slope}");
        Some(Criterion { mean, slope, deviation, value, is_met: value.abs() < limit })
    }
}
