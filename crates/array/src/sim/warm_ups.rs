//! When the warm-ups of a run are over, with the last of which what its parts did begins to count.

use std::sync::Arc;

use units::{Instant, Nanos};
use workload::WarmUp;

/// The warm-ups of a run that are not over.
#[derive(Debug, Default)]
pub(super) struct WarmUps {
    /// Ends of those that last for a time, the latest first.
    ends: Vec<Instant>,
    /// Those that count bytes.
    by_bytes: Vec<Arc<WarmUp>>,
}

impl WarmUps {
    /// Those that last so long from `from` on, and those that count bytes.
    pub fn begin(from: Instant, times: &[Nanos], by_bytes: Vec<Arc<WarmUp>>) -> WarmUps {
        let mut ends: Vec<Instant> = times.iter().map(|time| from.saturating_add(*time)).collect();
        ends.sort_unstable_by(|one, other| other.cmp(one));
        WarmUps { ends, by_bytes }
    }

    /// Whether any has not ended.
    #[inline]
    pub fn go_on(&self) -> bool {
        !self.ends.is_empty() || !self.by_bytes.is_empty()
    }

    /// When one is over before anything happens at `due`; `None` where nothing will happen any more.
    pub fn over_before(&self, due: Instant) -> Option<Instant> {
        self.ends.last().copied().filter(|end| *end < due && due != Instant::NEVER)
    }

    /// Takes out those that are over by `now`; whether any was.
    pub fn take_over(&mut self, now: Instant) -> bool {
        let before = self.ends.len() + self.by_bytes.len();
        self.ends.retain(|end| *end > now);
        self.by_bytes.retain(|one| one.over().is_none());
        self.ends.len() + self.by_bytes.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_over_first_and_none_where_nothing_happens_any_more() {
        let at = |seconds: u64| Instant::START.saturating_add(Nanos::from_secs(seconds));
        let times = [Nanos::from_secs(3), Nanos::from_secs(1)];
        let mut warm_ups = WarmUps::begin(at(10), &times, Vec::new());
        assert_eq!(warm_ups.over_before(at(12)), Some(at(11)));
        assert_eq!(warm_ups.over_before(at(11)), None, "what happens at its end comes first");
        assert_eq!(warm_ups.over_before(Instant::NEVER), None);
        assert!(!warm_ups.take_over(at(10)) && warm_ups.take_over(at(11)) && warm_ups.go_on());
        assert!(warm_ups.take_over(at(20)) && !warm_ups.go_on());
    }
}
