//! Writes: into the buffer, and from there by programs to the flash.

use units::{Bytes, Instant, Nanos};

use super::super::map::Collection;
use super::FlashDrive;
use super::die::Die;
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
        self.slc.iter_mut().for_each(|slc| slc.written(offset));
        self.firmware.is_behind = true;
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
        let until = |die: &[Die]| die.iter().map(|plane| plane.writes_until.nanos()).max().unwrap_or(0);
        first_of_least(self.dies.chunks(self.params.reads_at_once()).map(until)).unwrap_or(0)
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
        let start = self.free_at(index).max(transferred);
        self.occupy(now, index, transferred, (start, start + program));
        start + program
    }

    /// When no plane of die `index` has anything left to do.
    fn free_at(&self, index: usize) -> Instant {
        self.dies[self.planes_of(index)].iter().map(Die::until).fold(Instant::START, Instant::max)
    }

    /// Has all planes of die `index` work `from` one instant `to` another, for what has been there since `transferred`.
    fn occupy(&mut self, now: Instant, index: usize, transferred: Instant, (from, to): (Instant, Instant)) {
        for plane in self.planes_of(index) {
            let plane = &mut self.dies[plane];
            plane.idles_until(from);
            plane.writes_until = to;
            self.at_dies.visit(now, transferred, from, to, self.class);
        }
        self.works_until(to);
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
        // Reads that are booked go first.
        let start = self.free_at(index).max(transferred);
        let programmed = start + self.params.program_page;
        let mut after = Nanos::ZERO;
        let own = self.planes_of(index);
        let (first, dies) = (own.start, &mut self.dies[..]);
        dies[first].written += planes;
        if let Some(Collection { erased, copied }) = collected {
            let blocks = u64::from(erased / self.params.pages_per_block.max(1));
            after = copy * u64::from(copied.div_ceil(planes)) + self.params.erase_block * blocks;
            if self.params.incremental {
                // Reads pass what has not begun, as they do programs.
                dies[first].written += copied;
            } else {
                dies[own].iter_mut().for_each(|plane| plane.collection_until = programmed + after);
                dies[first].written = 0;
            }
        }
        if dies[first].written >= self.params.pages_per_block * planes {
            after += self.params.erase_block;
            dies[first].written = 0;
        }
        self.occupy(now, index, transferred, (start, programmed + after));
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
