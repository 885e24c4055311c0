//! One die, or one of its planes where those read by themselves: what is booked on it, and how much of its time it has been idle.
//!
//! **Invariant:** it does one thing at a time.

use units::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Die {
    /// Reads are served until then.
    pub(super) reads_until: Instant,
    /// Programs and erases are booked until then; reads pass those that have not begun.
    pub(super) writes_until: Instant,
    /// A collection holds the die until then.
    pub(super) collection_until: Instant,
    /// Copies owed before the next collection, in pages.
    pub(super) owed: f64,
    /// Pages written since the last erase.
    pub(super) written: u32,
    /// Nanoseconds that it has been idle, up to what is booked on it last.
    idle_ns: u64,
}

impl Die {
    /// When all that is booked on it has ended.
    pub(super) fn until(&self) -> Instant {
        self.reads_until.max(self.writes_until)
    }

    /// Something that begins at `start` or waits for what is booked: what lies between is idle.
    pub(super) fn idles_until(&mut self, start: Instant) {
        self.idle_ns += start.saturating_since(self.until()).get();
    }

    /// Nanoseconds that it has worked by `now`: it does one thing at a time, so all but what it was idle.
    pub(super) fn worked_by(&self, now: Instant) -> u64 {
        debug_assert!(
            self.idle_ns <= self.until().nanos(),
            "a die cannot be idle for longer than time has passed"
        );
        let booked = self.until().nanos() - self.idle_ns;
        booked.saturating_sub(self.until().saturating_since(now).get())
    }
}
