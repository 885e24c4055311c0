//! The measured window, and the intervals that a load is cut into.

use units::{Instant, Nanos};

/// How often an interval ends.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The measured window and the interval that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub from: Instant,
    pub until: Instant,
    pub interval_from: Instant,
    /// The next instant at which something changes: an interval ends, or the window does.
    pub edge: Instant,
}

impl Window {
    /// The window of a load that begins at `now`; without `run` it lasts until [`Window::end`].
    pub fn opening(now: Instant, warmup: Nanos, run: Option<Nanos>) -> Window {
        let from = now.saturating_add(warmup);
        let until = run.map_or(Instant::NEVER, |run| from.saturating_add(run));
        let mut window = Window { from, until, interval_from: now, edge: now };
        window.edge = window.edge_after(now);
        window
    }

    /// Whether what ends in the open interval is measured.
    pub fn is_measuring(&self) -> bool {
        self.interval_from >= self.from && self.interval_from < self.until
    }

    /// Whether a request that was due at `due` and has ended well at `finished_at` is measured: it was in flight at
    /// some time of the window.
    pub fn measures(&self, due: Instant, finished_at: Instant) -> bool {
        if finished_at < self.until { finished_at >= self.from } else { due < self.until }
    }

    /// Begins the next interval where the open one ends.
    pub fn next_interval(&mut self) {
        self.interval_from = self.edge;
        self.edge = self.edge_after(self.edge);
    }

    /// Ends the window with the last completion where the load ended before its time.
    pub fn end(&mut self, last_finish: Instant, ended_early: bool) {
        if ended_early && last_finish < self.until {
            self.until = last_finish.max(self.from);
        }
    }

    /// Intervals are cut each second from the start of the window, and at its end.
    fn edge_after(&self, after: Instant) -> Instant {
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
