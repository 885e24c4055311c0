//! How late the driver of a job was: what of the lag of a schedule's requests no full queue explains.

use stats::Histogram;
use units::Instant;

use crate::window::Window;

/// The driver's own part of the lag of all measured requests.
#[derive(Debug)]
pub(super) struct Lateness {
    of: Histogram,
    /// Whether the last plan found no free slot for a request that was due.
    full: bool,
    /// Until then requests that were due waited for a slot.
    blocked_until: Instant,
}

impl Lateness {
    /// Nothing seen yet.
    pub fn new() -> Lateness {
        Lateness { of: Histogram::new(), full: false, blocked_until: Instant::START }
    }

    /// A plan begins: what waited for a slot until now has not waited for the driver.
    pub fn plan(&mut self, now: Instant) {
        if std::mem::take(&mut self.full) {
            debug_assert!(self.blocked_until <= now, "plans follow each other");
            self.blocked_until = now;
        }
    }

    /// A request was due and found no free slot.
    pub fn found_none(&mut self) {
        self.full = true;
    }

    /// A request that was due is issued now.
    pub fn issued(&mut self, due: Instant, now: Instant, window: &Window) {
        debug_assert!(due <= now, "no request is issued before it is due");
        if due >= window.from && due < window.until {
            self.of.record(now.saturating_since(due.max(self.blocked_until)));
        }
    }

    /// Of every measured request.
    pub fn into_histogram(self) -> Histogram {
        self.of
    }
}
