//! The time that a search may take, and what of it is left.

use units::{Instant, Nanos};
use workload::plan::Load;

use super::drive::Driver;

/// With less left nothing is begun: it would show too little.
const LEAST: Nanos = Nanos::from_millis(10);

/// A warm-up takes no more than this part of a load that is cut short.
const WARM_UP_PART: u64 = 4;

/// How long a search may take, and since when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// `None` for as long as it needs.
    whole: Option<Nanos>,
    began: Option<Instant>,
}

impl Budget {
    pub(super) fn of(whole: Option<Nanos>) -> Budget {
        Budget { whole, began: None }
    }

    /// The first load has begun: what was laid out before it is not the search's time.
    pub(super) fn begin(&mut self, at: Instant) {
        self.began.get_or_insert(at);
    }

    /// Whether the time is running.
    pub(super) fn has_begun(self) -> bool {
        self.began.is_some()
    }

    /// What is left at `now`; `None` where there is no end to it.
    pub(super) fn left(self, now: Instant) -> Option<Nanos> {
        let passed = self.began.map_or(Nanos::ZERO, |began| now.saturating_since(began));
        Some(Nanos::new(self.whole?.get().saturating_sub(passed.get())))
    }

    /// Whether too little is left to begin anything.
    pub(super) fn is_over(self, now: Instant) -> bool {
        self.left(now).is_some_and(|left| left < LEAST)
    }

    /// `load`, and ending when the time is over.
    pub(super) fn cut(self, now: Instant, load: &Load) -> Load {
        let mut load = load.clone();
        let Some(left) = self.left(now) else { return load };
        for workload in &mut load.workloads {
            let stop = &mut workload.stop;
            // The warm-up of the first load is not the search's time.
            if !self.has_begun() {
                stop.run = Some(stop.run.unwrap_or(left).min(left));
            } else if stop.warmup + stop.run.unwrap_or(left) > left {
                stop.warmup = stop.warmup.min(Nanos::new(left.get() / WARM_UP_PART));
                stop.run = Some(Nanos::new((left - stop.warmup).get().max(1)));
            }
        }
        load
    }
}

impl Driver<'_, '_> {
    /// Whether nothing more is begun: the user has asked for an end, or the search's time is over.
    pub(super) fn is_over(&self) -> bool {
        self.world.is_stopped() || self.is_out_of_time()
    }

    /// Whether the search's time is over.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.budget.is_over(self.world.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_counts_from_the_first_load_and_is_never_negative() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let mut budget = Budget::of(Some(Nanos::from_secs(5)));
        assert_eq!(budget.left(at(100)), Some(Nanos::from_secs(5)), "nothing has begun");
        budget.begin(at(100));
        budget.begin(at(103));
        assert_eq!(budget.left(at(104)), Some(Nanos::from_secs(1)));
        assert!(!budget.is_over(at(104)) && budget.is_over(at(105)) && budget.is_over(at(200)));
        assert_eq!(budget.left(at(200)), Some(Nanos::ZERO));
        assert_eq!(Budget::of(None).left(at(200)), None);
        assert!(!Budget::of(None).is_over(at(200)));
    }
}
