//! Flushes: what the drive holds is put on the flash, and who waits for that.

use units::Instant;

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
        let stable = if self.params.protected { from } else { self.program_rest(from) };
        let end = stable + self.params.command;
        if self.params.flushes_alone {
            self.turns.alone.book(from, from, end - from);
        }
        self.meter.visit(now, now, from, end, class);
        end
    }

    /// When the flush that has yet to begin has ended, which is for what was written by `now` as well.
    fn share_flush(&mut self, now: Instant, class: Class) -> Instant {
        let stable = if self.params.protected { now } else { self.program_rest(self.turns.last_begins) };
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
