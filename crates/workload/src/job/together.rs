//! How many requests were in flight together, and how many went out and came back together.

use units::Instant;

use crate::tally::Together;
use crate::window::Window;

/// Counts of one job, over its measured window; of one that ends within its warm-up over all of it.
#[derive(Debug, Default)]
pub(super) struct Counter {
    of: Together,
    /// Whether the window has begun.
    is_measuring: bool,
    /// Completed when the job was last asked what to do.
    completed: u64,
}

impl Counter {
    /// The job was asked at `now`, handed over `issued` requests, of which the last made `in_flight`, and has seen
    /// `completed` end in all.
    #[inline]
    pub fn planned(&mut self, now: Instant, window: &Window, issued: u64, in_flight: u64, completed: u64) {
        debug_assert!(issued <= in_flight, "what is issued is in flight");
        debug_assert!(self.completed <= completed, "what has completed stays so");
        let came_back = completed - std::mem::replace(&mut self.completed, completed);
        if now >= window.until {
            return;
        }
        if now >= window.from && !self.is_measuring {
            (self.of, self.is_measuring) = (Together::default(), true);
        }
        if came_back > 0 {
            self.of.completed[Together::at_most(came_back)] += 1;
        }
        if issued > 0 {
            self.of.submitted[Together::at_most(issued)] += 1;
            for depth in in_flight - issued + 1..=in_flight {
                self.of.in_flight[Together::at_least(depth)] += 1;
            }
        }
    }

    /// All that was counted.
    pub fn into_counts(self) -> Together {
        let sum = |steps: &[u64]| steps.iter().sum::<u64>();
        assert!(sum(&self.of.submitted) <= sum(&self.of.in_flight), "some are handed over without a request");
        self.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_or_end_with_each_power_of_two() {
        let places = |of: fn(u64) -> usize| [0, 1, 2, 3, 4, 5, 8, 9, 64, 65, 128, u64::MAX].map(of);
        assert_eq!(places(Together::at_least), [0, 0, 1, 1, 2, 2, 3, 3, 6, 6, 6, 6]);
        assert_eq!(places(Together::at_most), [0, 0, 1, 2, 2, 3, 3, 4, 6, 7, 7, 7]);
    }
}
