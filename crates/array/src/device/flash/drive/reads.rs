//! Reads: pages to registers, registers over channels, and all of it to the host.

use units::convert::narrow;
use units::{Bytes, Instant, Nanos};

use super::FlashDrive;

impl FlashDrive {
    pub(super) fn read(&mut self, now: Instant, begun: Instant, offset: u64, bytes: Bytes) -> Instant {
        let page = self.params.page.get();
        let (first, last) = (offset / page, (offset + bytes.get() - 1) / page);
        let reader = self.reader(offset, bytes.get());
        // The beginning of a page is already in memory when the read before it ended inside the page.
        let kept = self.params.keeps_page
            && !self.ahead.is_on()
            && self.reads.continues(offset, bytes.get())
            && !offset.is_multiple_of(page);
        let transfer = self.params.link.time_for(bytes) + self.params.link_command;
        if first == last && !kept && reader.is_none() {
            let (there, _) = self.fetch(now, begun, first, (offset, offset + bytes.get()));
            return self.to_host.book(self.takes_from(now), there, transfer);
        }
        // What is in memory is there at once; else the interface waits for the first bytes of the first page that comes.
        let (mut first_there, mut fetched) = (if kept { begun } else { Instant::NEVER }, begun);
        for number in first + u64::from(kept)..=last {
            let (there, rest) = match reader {
                Some(reader) => self.come(now, begun, number, reader),
                None => {
                    let part = (offset.max(number * page), (offset + bytes.get()).min((number + 1) * page));
                    self.fetch(now, begun, number, part)
                }
            };
            let rest = rest.saturating_sub(self.channel_codeword);
            first_there = first_there.min(Instant::from_nanos(there.nanos() - rest.get()));
            fetched = fetched.max(there);
        }
        let tail = match bytes.get() <= page {
            true => transfer,
            false => self.params.link.time_for(Bytes::new(page)) + self.params.link_command,
        };
        let from = self.takes_from(now);
        let end = self.to_host.book_behind(from, first_there.min(fetched), fetched, transfer, tail);
        if let Some(reader) = reader {
            for number in self.ahead.wanted(reader, first, last) {
                self.come(now, begun, number, reader);
            }
        }
        end
    }

    /// The stream that a read belongs to; none where the drive reads nothing ahead. A read belongs to one where it begins at
    /// the end of an earlier read, or among pages that have been fetched ahead.
    fn reader(&mut self, offset: u64, bytes: u64) -> Option<usize> {
        if !self.ahead.is_on() {
            return None;
        }
        let first = offset / self.params.page.get().max(1);
        self.ahead
            .find(first)
            .or_else(|| self.reads.continues(offset, bytes).then(|| self.ahead.begin(first)))
    }

    /// When page `number` of a stream is in the controller's memory, and how much of that it crosses its channel: whole
    /// pages are fetched, once.
    fn come(&mut self, now: Instant, begun: Instant, number: u64, reader: usize) -> (Instant, Nanos) {
        if let Some(there) = self.ahead.there(reader, number) {
            return (there.max(begun), Nanos::ZERO);
        }
        let page = self.params.page.get();
        let (there, over_channel) = self.fetch(now, begun, number, (number * page, (number + 1) * page));
        self.ahead.came(reader, number, there);
        (there, over_channel)
    }

    /// When bytes `from..to`, which lie on page `number`, are in the controller's memory, and how long they cross their
    /// channel: a die gives only what is mapped together with them.
    #[inline]
    fn fetch(
        &mut self,
        now: Instant,
        begun: Instant,
        number: u64,
        (from, to): (u64, u64),
    ) -> (Instant, Nanos) {
        let page = self.params.page.get();
        let mapping = self.params.mapping.get().clamp(1, page);
        let within = to.next_multiple_of(mapping) - from / mapping * mapping;
        let spread = spread(number);
        let die = narrow::<usize>(spread) % self.die_count();
        let ready = self.read_page(now, self.plane_of(die, spread), number, begun);
        let channel = die % self.channels.len();
        let over_channel = Nanos::new(self.channel_page.get() * within / page);
        (self.channels[channel].book(now, ready, over_channel), over_channel)
    }

    /// Which plane of a die has a page that is scattered so.
    fn plane_of(&self, die: usize, spread: u64) -> usize {
        let planes = self.planes_of(die);
        planes.start + narrow::<usize>(spread / self.die_count() as u64) % planes.len()
    }

    /// How long the flash takes for page `number`, by what kind it is of.
    fn page_time(&mut self, number: u64) -> Nanos {
        let offset = number * self.params.page.get();
        if let Some(time) = self.slc.as_mut().and_then(|slc| slc.read(offset)) {
            return time;
        }
        match &self.params.read_page[..] {
            [only] => *only,
            kinds => {
                let kind = narrow::<usize>(number / self.die_count() as u64) % kinds.len().max(1);
                kinds.get(kind).copied().unwrap_or(Nanos::ZERO)
            }
        }
    }

    /// When a page is in the register of its die, or of its plane where those read by themselves.
    fn read_page(&mut self, now: Instant, die: usize, number: u64, begun: Instant) -> Instant {
        let time = self.page_time(number);
        let die = &mut self.dies[die];
        let start = begun.max(die.reads_until);
        let write_left = die.writes_until.saturating_since(start).get();
        let collection_left = die.collection_until.saturating_since(start).get();
        // Of the booked programs only the one under way is in front of a read; a collection is not left halfway
        // unless the flash can suspend.
        let in_front = match (collection_left, write_left) {
            (0, 0) => 0,
            (0, programs) => programs % self.params.program_page.get().max(1),
            (collection, _) => collection,
        };
        let in_front = match self.params.suspend {
            Some(limit) if in_front > limit.get() => limit.get(),
            _ => in_front,
        };
        let ready = start + Nanos::new(in_front) + time;
        if write_left > 0 {
            // What is booked ends so much later.
            die.writes_until += time;
        } else {
            die.idles_until(start);
        }
        die.reads_until = ready;
        self.at_dies.visit(now, begun, start + Nanos::new(in_front), ready, self.class);
        ready
    }
}

/// Scatters page numbers over the dies, as a translation layer does after random writes.
pub(super) fn spread(page: u64) -> u64 {
    // The multiplier of SplitMix64's first mixing step; the high half is the well-mixed one.
    page.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}
