//! Whether a figure holds still, second by second, so that a load may end.
//!
//! The rule is fio's `steadystate`: over a window of whole seconds either no value lies further from the mean of the
//! window than a limit, or the line fitted through them by least squares rises or falls by less than it each second.

use std::collections::{BTreeMap, VecDeque};

pub use spec::steady::{Criterion, Steady, SteadyFigure, SteadyLimit, SteadyMeasure};
use units::{Instant, Nanos};

use crate::tally::Interval;

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
            debug_assert!(
                self.window.len() <= self.rule.over_s as usize,
                "a window is as long as its rule says"
            );
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
