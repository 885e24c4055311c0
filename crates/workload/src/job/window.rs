//! The measured window and where time stands in it.

use units::{Instant, Nanos};

use super::spec::JobSpec;

/// Requests that were due before the end of the load and found no free slot are still issued after it, for so long
/// at most. A target that had stalled answers them by then; one that is asked for more than it can do never would.
const BACKLOG_MOST: Nanos = Nanos::from_secs(10);

/// How often a job closes an interval.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The measured window and where time stands in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub from: Instant,
    pub until: Instant,
    pub load_end: Instant,
    /// Until then what was due before `load_end` is still issued.
    pub backlog_end: Instant,
    pub interval_from: Instant,
    /// The next instant at which something changes: an interval ends, or the window does.
    pub edge: Instant,
}

impl Window {
    /// The window of a load that begins at `now`.
    pub fn starting(now: Instant, spec: &JobSpec) -> Window {
        let from = now.saturating_add(spec.warmup);
        let ends = spec.run.map_or(Instant::NEVER, |run| from.saturating_add(run));
        let load_end = ends.saturating_add(spec.cooldown);
        // A last flush belongs to what is measured: the window ends with it.
        let until = if spec.flush_at_end { Instant::NEVER } else { ends };
        let backlog_end = load_end.saturating_add(BACKLOG_MOST);
        let mut window = Window { from, until, load_end, backlog_end, interval_from: now, edge: now };
        window.edge = window.next_edge(now);
        window
    }

    /// Intervals are cut each second from the start of the window, and at its end.
    pub fn next_edge(&self, after: Instant) -> Instant {
        if after < self.from {
            return self.from.min(after.saturating_add(INTERVAL));
        }
        if after >= self.until {
            return Instant::NEVER;
        }
        let seconds = (after - self.from).get() / INTERVAL.get();
        self.from.saturating_add(INTERVAL * (seconds + 1)).min(self.until)
    }
}
