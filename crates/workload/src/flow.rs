//! Workloads that go on in a fixed proportion, however fast each of them could, and those that end with the others.
//!
//! Each job counts its requests and those of all; one that is ahead of its part waits. The rule is that of fio's
//! `flow`.
//!
//! **Invariant:** a job that has ended counts no more, so that the others go on by their own parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What all jobs of one load share: how many requests those of a flow have asked, and how many jobs have not ended that others
/// end with.
#[derive(Debug, Default)]
pub struct FlowTotals {
    requests: AtomicU64,
    weights: AtomicU64,
    working: AtomicU32,
}

/// A job among those of its load.
#[derive(Debug)]
pub(crate) struct Member {
    totals: Arc<FlowTotals>,
    works: bool,
}

impl Member {
    /// One that the others wait for where it `works`.
    pub(crate) fn new(totals: &Arc<FlowTotals>, works: bool) -> Member {
        totals.working.fetch_add(works.into(), Ordering::Relaxed);
        Member { totals: totals.clone(), works }
    }

    /// Whether all that others wait for have ended.
    pub(crate) fn is_alone(&self) -> bool {
        self.totals.working.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let working = self.totals.working.fetch_sub(self.works.into(), Ordering::Relaxed);
        debug_assert!(working >= u32::from(self.works), "a job ends once");
    }
}

/// One job's part.
#[derive(Debug)]
pub(crate) struct Flow {
    totals: Arc<FlowTotals>,
    weight: u64,
    requests: u64,
    has_joined: bool,
}

impl Flow {
    /// A part of that weight, which counts `at_once`, before the first request of any job, or from its own first.
    pub(crate) fn new(totals: &Arc<FlowTotals>, weight: u32, at_once: bool) -> Flow {
        assert!(weight > 0, "who takes part in a flow has a part");
        let mut flow =
            Flow { totals: totals.clone(), weight: u64::from(weight), requests: 0, has_joined: false };
        if at_once {
            flow.join();
        }
        flow
    }

    fn join(&mut self) {
        self.totals.weights.fetch_add(self.weight, Ordering::Relaxed);
        self.has_joined = true;
    }

    /// Counts a request if it may go now; otherwise the job has had its part.
    pub(crate) fn admit(&mut self) -> bool {
        if !self.has_joined {
            self.join();
        }
        let (requests, weights) =
            (self.totals.requests.load(Ordering::Relaxed), self.totals.weights.load(Ordering::Relaxed));
        debug_assert!(
            self.requests <= requests && self.weight <= weights,
            "what one has issued is part of what all have"
        );
        // own / all > weight / weights, in whole numbers that cannot overflow.
        if u128::from(self.requests) * u128::from(weights) > u128::from(requests) * u128::from(self.weight) {
            return false;
        }
        self.totals.requests.fetch_add(1, Ordering::Relaxed);
        self.requests += 1;
        true
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        if self.has_joined {
            self.totals.requests.fetch_sub(self.requests, Ordering::Relaxed);
            self.totals.weights.fetch_sub(self.weight, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_keep_their_proportion_and_one_that_is_left_alone_goes_on() {
        let totals = Arc::new(FlowTotals::default());
        let (mut one, mut eight) = (Flow::new(&totals, 1, true), Flow::new(&totals, 8, true));
        let (mut ones, mut eights) = (0, 0);
        for _ in 0..9000 {
            ones += u32::from(one.admit());
            eights += u32::from(eight.admit());
        }
        assert!((7.9..8.1).contains(&(f64::from(eights) / f64::from(ones))), "{eights} beside {ones}");
        drop(eight);
        assert!((0..100).all(|_| one.admit()));
    }
}
