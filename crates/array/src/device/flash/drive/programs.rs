//! Writes: into the buffer, and from there by programs to the flash.

use units::{Bytes, Instant, Nanos};

use super::super::map::Collection;
use super::FlashDrive;
use crate::least::first_of_least;

impl FlashDrive {
    pub(super) fn write(
        &mut self,
        now: Instant,
        begun: Instant,
        flow: Nanos,
        offset: u64,
        bytes: Bytes,
    ) -> Instant {
        let transfer = self.params.link.time_for(bytes) + self.params.link_command;
        // Its last page is left when the last is there.
        let tail = self.params.link.time_for(bytes.min(self.params.page)) + self.params.link_command;
        let flow = flow.min(transfer.saturating_sub(tail));
        let arrived = self.to_drive.book_after(self.takes_from(now), begun, flow, transfer);
        let sequential = self.writes.continues(offset, bytes.get());
        let buffered = self.buffer.fits(bytes.get());
        let room = if buffered { self.buffer.room(arrived, bytes.get()) } else { arrived };
        let mapping = self.params.mapping.get().max(1);
        let rewritten = (offset + bytes.get()).next_multiple_of(mapping) - offset / mapping * mapping;
        self.gathered += if sequential { bytes.get() } else { rewritten };
        self.gathers_stream = sequential;
        self.map(offset, bytes.get(), sequential, rewritten);
        let mut programmed = room;
        while self.gathered >= self.program_unit.get() || !buffered && self.gathered > 0 {
            let unit = self.gathered.min(self.program_unit.get());
            self.gathered -= unit;
            let end = self.program(now, room, sequential);
            if buffered {
                self.buffer.hold(unit, end);
            }
            programmed = programmed.max(end);
        }
        if buffered { room } else { programmed }
    }

    fn first_free_die(&self) -> usize {
        first_of_least(self.dies.iter().map(|die| die.writes_until.nanos())).unwrap_or(0)
    }

    /// Books one program, with the collection that it may leave behind; when the program ends.
    fn program(&mut self, now: Instant, ready: Instant, sequential: bool) -> Instant {
        let planes = self.params.planes.max(1);
        // The die that is free first: a controller does not queue programs behind a collection.
        let index = self.first_free_die();
        let channel = index % self.channels.len();
        let ready = self.over_path(now, ready, u64::from(planes));
        let transferred = self.channels[channel].book(now, ready, self.channel_page * u64::from(planes));
        let as_slc = match &mut self.slc {
            Some(slc) => slc.take(self.program_unit.get(), sequential),
            None => None,
        };
        let Some(program) = as_slc else { return self.program_native(now, index, transferred, sequential) };
        let die = &mut self.dies[index];
        let start = die.until().max(transferred);
        die.idles_until(start);
        let programmed = start + program;
        die.writes_until = programmed;
        self.at_dies.visit(now, transferred, start, programmed, self.class);
        self.works_until(programmed);
        programmed
    }

    /// When so many pages have passed between the controller's memory and the flash.
    fn over_path(&mut self, now: Instant, ready: Instant, pages: u64) -> Instant {
        match &mut self.write_path {
            Some((path, page)) => path.book(now, ready, *page * pages),
            None => ready,
        }
    }

    /// The drive with a cache of one bit a cell works until then.
    fn works_until(&mut self, end: Instant) {
        if let Some(slc) = &mut self.slc {
            slc.is_busy_until(end);
        }
    }

    /// Books a program with as many bits a cell as the flash has, whose bytes are at the die at `transferred`.
    fn program_native(
        &mut self,
        now: Instant,
        index: usize,
        transferred: Instant,
        sequential: bool,
    ) -> Instant {
        let planes = self.params.planes.max(1);
        let collected = self.owed(index, sequential, planes);
        let copy = self.copy();
        if let Some(Collection { copied, .. }) = collected {
            self.over_path(now, transferred, u64::from(copied) * 2);
        }
        let die = &mut self.dies[index];
        // Reads that are booked go first.
        let start = die.until().max(transferred);
        die.idles_until(start);
        let programmed = start + self.params.program_page;
        let mut after = Nanos::ZERO;
        die.written += planes;
        if let Some(Collection { erased, copied }) = collected {
            let blocks = u64::from(erased / self.params.pages_per_block.max(1));
            after = copy * u64::from(copied.div_ceil(planes)) + self.params.erase_block * blocks;
            if self.params.incremental {
                // Reads pass what has not begun, as they do programs.
                die.written += copied;
            } else {
                die.collection_until = programmed + after;
                die.written = 0;
            }
        }
        if die.written >= self.params.pages_per_block * planes {
            after += self.params.erase_block;
            die.written = 0;
        }
        die.writes_until = programmed + after;
        self.at_dies.visit(now, transferred, start, programmed + after, self.class);
        self.works_until(programmed + after);
        programmed
    }

    /// Programs what is less than a program's worth all the same, the rest of it left empty; when its buffer is empty.
    pub(super) fn program_rest(&mut self, now: Instant) -> Instant {
        if self.gathered > 0 {
            let end = self.program(now, now, self.gathers_stream);
            self.buffer.hold(self.gathered, end);
            self.gathered = 0;
        }
        self.buffer.last().map_or(now, |end| end.max(now))
    }
}
