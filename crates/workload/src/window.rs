//! The measured window, and the intervals that a load is cut into.

use units::{Instant, Nanos};

/// How often an interval ends.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The measured window and the interval that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub from: Instant,
    pub until: Instant,
    /// When the load began.
    pub begun: Instant,
    pub interval_from: Instant,
    /// The next instant at which something changes: an interval ends, or the window does.
    pub edge: Instant,
}

impl Window {
    /// The window of a load that begins at `now`; without `run` it lasts until [`Window::end`].
    pub fn opening(now: Instant, warmup: Nanos, run: Option<Nanos>) -> Window {
        let from = now.saturating_add(warmup);
        let until = run.map_or(Instant::NEVER, |run| from.saturating_add(run));
        let mut window = Window { from, until, begun: now, interval_from: now, edge: now };
        window.edge = window.edge_after(now);
        debug_assert!(window.begun <= window.from && window.from <= window.until, "a warm-up, then a window");
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

    /// The part of a stretch that lies within the window.
    pub fn part_of(&self, begun: Instant, ended: Instant) -> Nanos {
        ended.min(self.until).saturating_since(begun.max(self.from))
    }

    /// Where the window ends; the last completion where no end was set.
    pub fn end_or(&self, last_finish: Instant) -> Instant {
        if self.until == Instant::NEVER { last_finish } else { self.until }
    }

    /// Begins the interval that holds `now`, at or after the end of the open one.
    pub fn go_on_to(&mut self, now: Instant) {
        let Window { from, until, interval_from, .. } = *self;
        let seconds = |since: Instant| INTERVAL * ((now - since).get() / INTERVAL.get());
        self.interval_from = match () {
            () if now >= until => until,
            () if now >= from => from.saturating_add(seconds(from)),
            () => interval_from.saturating_add(seconds(interval_from)),
        };
        self.edge = self.edge_after(self.interval_from);
        debug_assert!(
            interval_from <= self.interval_from && self.interval_from <= now.max(interval_from),
            "an interval begins in the past, behind the last one"
        );
        debug_assert!(self.edge > now, "the next edge lies ahead");
    }

    /// Ends the window with the last completion where the load ended before its time.
    pub fn end(&mut self, last_finish: Instant, ended_early: bool) {
        if ended_early && last_finish < self.until {
            self.until = last_finish.max(self.from);
        }
        assert!(self.from <= self.until, "a window ends after it began");
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
