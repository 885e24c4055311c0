//! Flushes: what the drive holds, and then the pages of its map that say where that lies, are put on the flash.
//!
//! **Invariant:** of the log of the map one page at most is under way.

use units::Instant;

use super::FlashDrive;
use crate::meter::Class;

/// The log of the drive's map: its pages follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MapLog {
    /// Whether data were written that no page of it knows of.
    pub(super) lacks: bool,
    /// The last page of it is programmed.
    ends: Instant,
}

/// Commands and flushes that may not run beside each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// The commands that were taken have ended.
    pub(super) commands_until: Instant,
    /// So have the flushes.
    pub(super) flushes_until: Instant,
}

impl FlashDrive {
    /// When a flush that arrives at `now` ends. In the meter of the drive's commands that is a visit on behalf of `class`.
    ///
    /// A buffer that is protected is left as it is. Else all that was written by then is programmed, and behind it a page of
    /// the map's log, without which nothing knows where it lies: firmware for OpenSSD's Jasmine board writes its map out for each
    /// flush, in `ftl_flush`. Where nothing has been written since the flush before, there is nothing but that to wait for.
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
        let stable = if self.params.protected { from } else { self.make_stable(from) };
        let end = stable + self.params.command;
        self.turns.flushes_until = self.turns.flushes_until.max(end);
        self.meter.visit(now, now, from, end, class);
        end
    }

    /// When all that was written is programmed, and what tells where it lies.
    fn make_stable(&mut self, now: Instant) -> Instant {
        let programmed = self.program_rest(now);
        if std::mem::take(&mut self.map_log.lacks) {
            self.map_log.ends = self.program_log(now, programmed.max(self.map_log.ends));
        }
        programmed.max(self.map_log.ends)
    }

    /// Programs a page of the map's log from `ready` on; when that has ended.
    ///
    /// Thousands of writes fill a page: between flushes it costs next to nothing. It is written as what comes first is, with
    /// one bit a cell where the drive has such; and round and round, so that nothing of it is copied.
    fn program_log(&mut self, now: Instant, ready: Instant) -> Instant {
        let index = self.first_free_die();
        let ready = self.over_path(now, ready, 1);
        let channel = index % self.channels.len();
        let transferred = self.channels[channel].book(now, ready, self.channel_page);
        let program = self.params.slc_cache.map_or(self.params.program_page, |slc| slc.program_page);
        let die = &mut self.dies[index];
        let start = die.until().max(transferred);
        die.idles_until(start);
        let end = start + program;
        die.writes_until = end;
        self.at_dies.visit(now, transferred, start, end, self.class);
        self.works_until(end);
        end
    }

    /// The earliest that a command which comes at `now` is taken.
    pub(super) fn takes_from(&self, now: Instant) -> Instant {
        if self.params.flushes_alone { now.max(self.turns.flushes_until) } else { now }
    }
}
