//! Whether a figure holds still, second by second, so that a load may end.
//!
//! The rule is fio's `steadystate`: over a window of whole seconds either no value lies further from the mean of the
//! window than a limit, or the line fitted through them by least squares rises or falls by less than it each second.

use std::collections::{BTreeMap, VecDeque};

use units::{Instant, Nanos};

use crate::tally::Interval;

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
        Some(Criterion { mean, slope, deviation, value, is_met: value.abs() < limit })
    }
}

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    ops: u64,
    bytes: u64,
    response_ns: f64,
}

/// Follows the intervals of a workload's workers until its figure is steady.
#[derive(Debug)]
pub struct SteadyWatch {
    rule: Steady,
    open: BTreeMap<u64, Second>,
    window: VecDeque<f64>,
    next: Option<u64>,
    seen: u32,
}

/// A second is looked at once a worker has told of one that lies so many behind it: all others have then had time to
/// tell theirs.
const SETTLED_AFTER: u64 = 2;

impl SteadyWatch {
    /// Before the first interval.
    pub fn new(rule: Steady) -> SteadyWatch {
        SteadyWatch { rule, open: BTreeMap::new(), window: VecDeque::new(), next: None, seen: 0 }
    }

    /// Takes the intervals that a worker has closed; whether the figure is steady by now.
    pub fn take(&mut self, intervals: &[Interval]) -> bool {
        let whole = Nanos::from_secs(1);
        for interval in intervals.iter().filter(|interval| interval.measured) {
            // Intervals of a window are cut a second apart from the same instant for all workers.
            if interval.until.saturating_since(interval.from) < whole {
                continue;
            }
            let second = self.open.entry(second_of(interval.from)).or_default();
            for class in &interval.classes {
                second.ops += class.ops;
                second.bytes += class.bytes.get();
                let sum = class.response.iter().map(|bucket| {
                    (bucket.low().get() + bucket.high().get()) as f64 / 2.0 * bucket.count as f64
                });
                second.response_ns += sum.sum::<f64>();
            }
        }
        self.look()
    }

    fn look(&mut self) -> bool {
        let Some((last, _)) = self.open.last_key_value() else { return false };
        let Some(settled) = last.checked_sub(SETTLED_AFTER) else { return false };
        let mut next =
            *self.next.get_or_insert_with(|| *self.open.first_key_value().expect("it has a last").0);
        while next <= settled {
            let second = self.open.remove(&next).unwrap_or_default();
            next += 1;
            self.next = Some(next);
            self.seen += 1;
            if self.seen <= self.rule.after_s {
                continue;
            }
            self.window.push_back(match self.rule.figure {
                SteadyFigure::Iops => second.ops as f64,
                SteadyFigure::Throughput => second.bytes as f64,
                SteadyFigure::Latency => second.response_ns / second.ops.max(1) as f64,
            });
            if self.window.len() > self.rule.over_s as usize {
                self.window.pop_front();
            }
            let criterion = self.rule.criterion(self.window.make_contiguous());
            if criterion.is_some_and(|criterion| criterion.is_met) {
                return true;
            }
        }
        false
    }
}

/// Numbers that differ by one from second to second, whatever instant the seconds begin at.
fn second_of(from: Instant) -> u64 {
    from.nanos() / 1_000_000_000
}
