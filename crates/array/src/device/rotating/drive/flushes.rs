//! Flushes: the drive writes out what it has acknowledged.
//!
//! **Invariant:** a drive serves a command or a flush, never both: a flush counts as service from the end of the command before it, and
//! a command that comes during a flush waits for its end.

use units::Instant;

use super::Drive;
use crate::meter::Class;

/// The last flushes of a drive that followed each other without a gap, as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flushing {
    from: u64,
    until: u64,
}

impl Flushing {
    /// When the service of a command begins that starts at `now` and ends at `end`: after a flush in between.
    pub fn served_from(self, now: u64, end: u64) -> u64 {
        if end > self.from { now.max(self.until.min(end)) } else { now }
    }

    /// Adds a flush that is served from `from` to `until`, which is no earlier than the ends of those before.
    fn extend(&mut self, from: u64, until: u64) {
        if from > self.until {
            self.from = from;
        }
        self.until = self.until.max(until);
    }
}

impl Drive {
    /// Writes all that it has acknowledged from `now` on, nearest first; when the last of it is on the media. In its meter that is
    /// a visit on behalf of `class`.
    pub fn flush(&mut self, now: Instant, class: Class) -> Instant {
        let ended = self.write_out(now.nanos());
        let in_service = self.serving.as_ref().map_or(0, |serving| serving.end);
        let from = now.nanos().max(in_service).max(self.flushing.until).min(ended);
        let [started, end] = [from, ended].map(Instant::from_nanos);
        self.meter.visit(now, now, started, end, class);
        if from < ended {
            self.flushing.extend(from, ended);
        }
        end
    }

    /// The same without a visit; when it has ended.
    pub(super) fn write_out(&mut self, now: u64) -> u64 {
        self.destage_until(now);
        while !self.dirty.is_empty() {
            self.destage_one(now);
        }
        self.written_until.max(now + self.overhead(self.params.overhead.write_hit))
    }

    /// Has the meter know of the command in service by `now` that it is served, once the flush has ended that it waited for.
    pub(super) fn catch_up(&mut self, now: u64) {
        if let Some(serving) = self.serving.as_mut().filter(|one| !one.is_metered && one.served_from <= now) {
            serving.is_metered = true;
            self.meter.begin(Instant::from_nanos(serving.served_from));
        }
    }

    /// Begins a window of its meter.
    pub fn restart_meter(&mut self, now: Instant) {
        self.catch_up(now.nanos());
        self.meter.restart(now);
    }

    /// Nanoseconds that it was busy in the window until `now`.
    pub fn busy_by(&mut self, now: Instant) -> u64 {
        self.catch_up(now.nanos());
        self.meter.busy_by(now)
    }
}
