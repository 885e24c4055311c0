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
    /// So have the flushes.
    pub(super) flushes_until: Instant,
    /// Flushes that nothing runs beside.
    pub(super) alone: Backlog,
}

impl FlashDrive {
    /// When a flush that arrives at `now` ends. In the meter of the drive's commands that is a visit on behalf of `class`.
    ///
    /// A buffer that is protected is left as it is. Else all that was written by then is programmed; where nothing has been written
    /// since the flush before, there is nothing but that to wait for.
    ///
    /// FLUSH CACHE EXT is no queued command (ACS-3): over Serial ATA it waits until all commands have ended, and those that
    /// come meanwhile, reads as well, wait for it (libata's `ata_std_qc_defer`: "Non-NCQ commands cannot run with any other
    /// command"). So of many writers those who wrote while one was under way find all of it programmed by the first flush
    /// after it, as where Linux gathers theirs into that one (`block/blk-flush.c`, C1). Linux does so for each queue of a
    /// drive (`blk_get_flush_queue`); over NVMe, where each processor has a queue, flushes run side by side.
    pub fn flush(&mut self, now: Instant, class: Class) -> Instant {
        self.class = class;
        let from = if self.params.flushes_alone {
            now.max(self.turns.commands_until).max(self.turns.flushes_until)
        } else {
            now
        };
        let stable = if self.params.protected { from } else { self.program_rest(from) };
        let end = stable + self.params.command;
        self.turns.flushes_until = self.turns.flushes_until.max(end);
        if self.params.flushes_alone {
            self.turns.alone.book(from, from, end - from);
        }
        self.meter.visit(now, now, from, end, class);
        end
    }

    /// The earliest that a command which comes at `now` is taken.
    pub(super) fn takes_from(&self, now: Instant) -> Instant {
        if self.params.flushes_alone { now.max(self.turns.flushes_until) } else { now }
    }
}
