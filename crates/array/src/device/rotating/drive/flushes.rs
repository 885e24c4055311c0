//! Flushes, and the drive's own time: it writes out what it has acknowledged.
//!
//! **Invariant:** a drive serves a command or writes out, never both: what it writes out counts as work from the end of the command
//! before it, and a command that comes meanwhile waits for its end.

use units::Instant;

use super::Drive;
use super::writes::Written;
use crate::meter::Class;

/// The last times that a drive wrote out which followed each other without a gap, as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WritingOut {
    from: u64,
    until: u64,
}

impl WritingOut {
    /// When the service of a command begins that starts at `now` and ends at `end`: after what is written out in between.
    pub fn served_from(self, now: u64, end: u64) -> u64 {
        if end > self.from { now.max(self.until.min(end)) } else { now }
    }

    /// Adds what is written out from `from` to `until`, which is no earlier than the ends of those before.
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
        let from = self.at_leisure_from(now.nanos()).min(ended);
        let [started, end] = [from, ended].map(Instant::from_nanos);
        self.meter.visit(now, now, started, end, class);
        if from < ended {
            self.writing_out.extend(from, ended);
        }
        end
    }

    /// From when on, at `now` or later, it neither serves a command nor writes out, as far as is known.
    fn at_leisure_from(&self, now: u64) -> u64 {
        let served_until = self.serving.as_ref().map_or(self.served_until, |serving| serving.end);
        now.max(served_until).max(self.writing_out.until)
    }

    /// Writes one extent out from `begin` on or when the arm is free, as work in its meter; whether there was one.
    pub(super) fn destage(&mut self, begin: u64) -> bool {
        let Some(Written { class, begun, ended }) = self.destage_one(begin) else { return false };
        let from = self.at_leisure_from(begun).min(ended);
        if from < ended {
            self.meter.work(Instant::from_nanos(from), Instant::from_nanos(ended), class);
            self.writing_out.extend(from, ended);
        }
        true
    }

    /// The same without a visit; when it has ended.
    pub(super) fn write_out(&mut self, now: u64) -> u64 {
        self.destage_until(now);
        while self.destage_one(now).is_some() {}
        self.written_until.max(now + self.overhead(self.params.overhead.write_hit))
    }

    /// Has the meter know what was written out by `now`, and of the command in service that it is served, once it has begun.
    pub(super) fn catch_up(&mut self, now: u64) {
        if self.serving.is_none() {
            self.destage_until(now);
        }
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
