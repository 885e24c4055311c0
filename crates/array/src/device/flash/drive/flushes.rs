//! Flushes: what the drive holds is put on the flash, and who waits for that.

use units::{Instant, Nanos};

use super::FlashDrive;
use crate::backlog::Backlog;
use crate::meter::Class;

/// Commands and flushes that may not run beside each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// The commands that were taken have ended.
    pub(super) commands_until: Instant,
    /// Flushes that nothing runs beside, until the last of them has ended, and when that begins.
    pub(super) alone: Backlog,
    last_begins: Instant,
}

/// What the firmware does beside programs so that data outlast a loss of power.
///
/// Data first and then the map of where they lie: the next begins with its data while the map of the one before is written, so
/// that two are under way at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Firmware {
    stages: Backlog,
    /// Whether anything was written since the flush that came last.
    pub(super) is_behind: bool,
    /// When what that flush made to last did.
    lasts_from: Instant,
}

impl Firmware {
    /// When something that begins at `from` and takes `time` alone has ended.
    fn book(&mut self, from: Instant, time: Nanos) -> Instant {
        let stage = Nanos::new(time.get() / 2);
        self.stages.book(from, from, stage) + time.saturating_sub(stage)
    }
}

impl FlashDrive {
    /// When a flush that arrives at `now` ends. In the meter of the drive's commands that is a visit on behalf of `class`.
    ///
    /// A buffer that is protected is left as it is. Else all that was written by then is programmed; where nothing has been written
    /// since the flush before, there is nothing but that to wait for.
    ///
    /// FLUSH CACHE EXT is no queued command (ACS-3): over Serial ATA it waits until all commands have ended, and those that
    /// come meanwhile, reads as well, wait for it (libata's `ata_std_qc_defer`: "Non-NCQ commands cannot run with any other
    /// command"). All who ask for one while another is under way, or has yet to begin, are answered by the one after it
    /// (Linux, `block/blk-flush.c`, C1: one is in progress at a time, and what comes meanwhile shares the next). Linux does
    /// so for each queue of a drive (`blk_get_flush_queue`); over NVMe, where each processor has a queue, flushes run side by
    /// side.
    pub fn flush(&mut self, now: Instant, class: Class) -> Instant {
        self.class = class;
        if self.params.flushes_alone && now < self.turns.last_begins {
            return self.share_flush(now, class);
        }
        let from = if self.params.flushes_alone {
            now.max(self.turns.commands_until).max(self.turns.alone.until())
        } else {
            now
        };
        self.turns.last_begins = from;
        let end = self.make_stable(from) + self.params.command;
        if self.params.flushes_alone {
            self.turns.alone.book(from, from, end - from);
        }
        self.meter.visit(now, now, from, end, class);
        end
    }

    /// When all that the drive holds at `from` outlasts a loss of power.
    fn make_stable(&mut self, from: Instant) -> Instant {
        if self.params.protected {
            return from;
        }
        let programmed = self.program_rest(from);
        if let Some(time) = self.params.flush.filter(|_| self.firmware.is_behind) {
            self.firmware.lasts_from = self.firmware.book(from, time);
        }
        self.firmware.is_behind = false;
        programmed.max(self.firmware.lasts_from)
    }

    /// When the write that came last, answered by `now`, is on the flash, as one that is forced there (FUA).
    pub fn force(&mut self, now: Instant, class: Class) -> Instant {
        let Some(time) = self.params.fua.filter(|_| !self.params.protected) else {
            return self.flush(now, class);
        };
        self.class = class;
        let end = if time.is_zero() { now } else { self.firmware.book(now, time) };
        self.meter.visit(now, now, now, end, class);
        end
    }

    /// When the flush that has yet to begin has ended, which is for what was written by `now` as well.
    fn share_flush(&mut self, now: Instant, class: Class) -> Instant {
        // What the firmware takes for the flush that is shared is booked with it; it had nothing to do where nothing was written then.
        let is_booked = self.firmware.lasts_from > self.turns.last_begins;
        self.firmware.is_behind &= !is_booked;
        let stable = self.make_stable(self.turns.last_begins).max(now);
        let before = self.turns.alone.until();
        let end = before.max(stable + self.params.command);
        self.turns.alone.book(before, before, end - before);
        self.meter.visit(now, now, end, end, class);
        end
    }

    /// The earliest that a command which comes at `now` is taken.
    pub(super) fn takes_from(&self, now: Instant) -> Instant {
        if self.params.flushes_alone { now.max(self.turns.alone.until()) } else { now }
    }
}
