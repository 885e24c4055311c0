//! The flash drive at work.
//!
//! **Invariant:** a command's end is known when it arrives; programs and collections that it causes are booked on
//! their die then, and reads pass them as the drive allows.

use units::convert::{narrow, truncated};
use units::{Bytes, Instant, Nanos, SECTOR_BYTES};

use super::map::{Collection, PageMap, write_amplification};
use super::slc::SlcCache;
use super::{FlashParams, MOST_PAGES, Translation, Written};
use crate::backlog::Backlog;
use crate::device::Command;
use crate::device::write_buffer::WriteBuffer;
use crate::meter::{Class, Meter};

/// Streams told apart, to know sequential requests from random ones.
const STREAMS: usize = 16;

/// Channels of dies behind a buffer, with a map of pages where the figures have one.
#[derive(Clone, Debug)]
pub struct FlashDrive {
    params: FlashParams,
    dies: Vec<Die>,
    channels: Vec<Backlog>,
    to_drive: Backlog,
    to_host: Backlog,
    processor: Backlog,
    /// The controller's way to the flash, and what a page takes of it.
    write_path: Option<(Backlog, Nanos)>,
    channel_page: Nanos,
    program_unit: Bytes,
    buffer: WriteBuffer,
    slc: Option<SlcCache>,
    translation: State,
    writes: Streams,
    reads: Streams,
    gathered: u64,
    /// Whether the last of the gathered bytes went on where others ended.
    gathers_stream: bool,
    /// What the dies had worked when the meter's window began.
    busy_before: u64,
    meter: Meter,
    /// What the dies do, each page read, program and collection a visit.
    at_dies: Meter,
    /// On whose behalf they do it: of the command that came last.
    class: Class,
}

#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// Reads are served until then.
    reads_until: Instant,
    /// Programs and erases are booked until then; reads pass those that have not begun.
    writes_until: Instant,
    /// A collection holds the die until then.
    collection_until: Instant,
    /// Copies owed before the next collection, in pages.
    owed: f64,
    /// Pages written since the last erase.
    written: u32,
    /// Nanoseconds that it has been idle, up to what is booked on it last.
    idle_ns: u64,
}

impl Die {
    /// When all that is booked on it has ended.
    fn until(&self) -> Instant {
        self.reads_until.max(self.writes_until)
    }

    /// Something that begins at `start` or waits for what is booked: what lies between is idle.
    fn idles_until(&mut self, start: Instant) {
        self.idle_ns += start.saturating_since(self.until()).get();
    }

    /// Nanoseconds that it has worked by `now`: it does one thing at a time, so all but what it was idle.
    fn worked_by(&self, now: Instant) -> u64 {
        debug_assert!(
            self.idle_ns <= self.until().nanos(),
            "a die cannot be idle for longer than time has passed"
        );
        let booked = self.until().nanos() - self.idle_ns;
        booked.saturating_sub(self.until().saturating_since(now).get())
    }
}

/// Where the latest streams ended.
#[derive(Clone, Debug)]
struct Streams {
    ends: [u64; STREAMS],
    next: usize,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams { ends: [u64::MAX; STREAMS], next: 0 }
    }
}

impl Streams {
    /// Whether a request goes on where one before it ended.
    fn continues(&mut self, offset: u64, bytes: u64) -> bool {
        match self.ends.iter().position(|&end| end == offset) {
            Some(stream) => {
                self.ends[stream] = offset + bytes;
                true
            }
            None => {
                self.ends[self.next] = offset + bytes;
                self.next = (self.next + 1) % STREAMS;
                false
            }
        }
    }
}

#[derive(Clone, Debug)]
enum State {
    Steady {
        amplification: f64,
        /// Pages that have not been programmed since the drive was new: until they are, nothing is collected.
        fresh: u64,
    },
    Mapped {
        map: Box<PageMap>,
        scale: Scale,
        /// Written at random and less than a page so far.
        begun: u64,
        /// Collections that no die has yet spent time on.
        owed: Collection,
    },
}

impl FlashDrive {
    /// A drive whose flash is in the state that `params` have it begin in.
    pub fn new(params: &FlashParams, seed: u64) -> FlashDrive {
        let dies = (params.channels.max(1) * params.dies_per_channel.max(1)) as usize;
        assert!(dies > 0, "flash must have dies");
        let translation = match params.translation {
            Translation::Steady => State::Steady {
                amplification: write_amplification(params.over_provisioning),
                fresh: match params.state {
                    Written::Steady => 0,
                    Written::Fresh => params.physical_pages(),
                },
            },
            Translation::Mapped { scale } => {
                let pages = narrow::<u32>(params.pages_of_map(scale).min(u64::from(MOST_PAGES)));
                let map = match params.state {
                    Written::Steady => PageMap::new(pages, params.over_provisioning, params.victims, seed),
                    Written::Fresh => PageMap::fresh(pages, params.over_provisioning, params.victims),
                };
                State::Mapped {
                    map: Box::new(map),
                    scale: Scale(scale.into()),
                    begun: 0,
                    owed: Collection::default(),
                }
            }
        };
        FlashDrive {
            dies: vec![Die::default(); dies],
            channels: vec![Backlog::default(); params.channels.max(1) as usize],
            to_drive: Backlog::default(),
            to_host: Backlog::default(),
            processor: Backlog::default(),
            channel_page: params.channel.time_for(params.page),
            write_path: params.write_path.map(|rate| (Backlog::default(), rate.time_for(params.page))),
            program_unit: params.page * u64::from(params.planes.max(1)),
            buffer: WriteBuffer::new(params.write_buffer),
            slc: params.slc_cache.map(SlcCache::new),
            translation,
            writes: Streams::default(),
            reads: Streams::default(),
            gathered: 0,
            gathers_stream: false,
            busy_before: 0,
            meter: Meter::of_servers_apart(),
            at_dies: Meter::of_servers_apart(),
            class: Class::HostRead,
            params: params.clone(),
        }
    }

    /// Takes a command and returns when it ends.
    pub fn submit(&mut self, now: Instant, command: Command) -> Instant {
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        let begun =
            self.processor.book(now, now, self.params.command_gap).max(command.ready) + self.params.command;
        self.class = command.class;
        if self.slc.is_some() {
            self.fold(now);
        }
        if let Some((path, _)) = self.write_path.as_mut().filter(|_| !command.write) {
            // One controller does both: what a read takes of it no page can have. Reads go first.
            path.book(now, now, self.params.command_gap);
        }
        let end = if command.write {
            self.write(now, begun, command.first * SECTOR_BYTES, bytes)
        } else {
            self.read(now, begun, command.first * SECTOR_BYTES, bytes)
        };
        if let Some(slc) = &mut self.slc {
            slc.is_busy_until(end);
        }
        self.meter.visit(now, now, begun.min(end), end, command.class);
        end
    }

    /// How long `command` would take of a drive that does nothing else: its pages are read at once where they lie on
    /// different dies, and a write ends in the buffer.
    pub fn alone(&self, command: Command) -> Nanos {
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        let interface = self.params.link.time_for(bytes) + self.params.link_command;
        let flash = match command.write {
            true if self.buffer.fits(bytes.get()) => Nanos::ZERO,
            true => self.params.slc_cache.map_or(self.params.program_page, |slc| slc.program_page),
            false => {
                let within = self.params.page.min(bytes.max(self.params.mapping));
                let page = self.channel_page.get() * within.get() / self.params.page.get().max(1);
                self.params.read_page.first().copied().unwrap_or(Nanos::ZERO) + Nanos::new(page)
            }
        };
        self.params.command + flash + interface
    }

    fn read(&mut self, now: Instant, begun: Instant, offset: u64, bytes: Bytes) -> Instant {
        let page = self.params.page.get();
        let mapping = self.params.mapping.get().clamp(1, page);
        let (first, last) = (offset / page, (offset + bytes.get() - 1) / page);
        // The beginning of a page is already in memory when the read before it ended inside the page.
        let goes_on = self.params.keeps_page && self.reads.continues(offset, bytes.get());
        let kept = u64::from(goes_on && !offset.is_multiple_of(page));
        let mut fetched = begun;
        for number in first + kept..=last {
            let (from, to) = (offset.max(number * page), (offset + bytes.get()).min((number + 1) * page));
            let within = to.next_multiple_of(mapping) - from / mapping * mapping;
            let die = narrow::<usize>(spread(number)) % self.dies.len();
            let ready = self.read_page(now, die, number, begun);
            let channel = die % self.channels.len();
            // A die gives only what is mapped together with the bytes asked for.
            let transfer = Nanos::new(self.channel_page.get() * within / page);
            fetched = fetched.max(self.channels[channel].book(now, ready, transfer));
        }
        let transfer = self.params.link.time_for(bytes) + self.params.link_command;
        let tail = match bytes.get() <= page {
            true => transfer,
            false => self.params.link.time_for(Bytes::new(page)) + self.params.link_command,
        };
        self.to_host.book_behind(now, fetched, transfer, tail)
    }

    /// When a page is in its die's register.
    fn read_page(&mut self, now: Instant, die: usize, number: u64, begun: Instant) -> Instant {
        let kinds = &self.params.read_page;
        let time = kinds.get(narrow::<usize>(number / self.dies.len() as u64) % kinds.len().max(1)).copied();
        let time = time.unwrap_or(Nanos::ZERO);
        let program = self.params.program_page.get().max(1);
        let die = &mut self.dies[die];
        let start = begun.max(die.reads_until);
        let write_left = die.writes_until.saturating_since(start).get();
        let collection_left = die.collection_until.saturating_since(start).get();
        // Of the booked programs only the one under way is in front of a read; a collection is not left halfway
        // unless the flash can suspend.
        let in_front = if collection_left > 0 { collection_left } else { write_left % program };
        let in_front = self.params.suspend.map_or(in_front, |limit| in_front.min(limit.get()));
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

    fn write(&mut self, now: Instant, begun: Instant, offset: u64, bytes: Bytes) -> Instant {
        let transfer = self.params.link.time_for(bytes) + self.params.link_command;
        let arrived = self.to_drive.book(now, begun, transfer);
        let sequential = self.writes.continues(offset, bytes.get());
        let buffered = self.buffer.fits(bytes.get());
        let room = if buffered { self.buffer.room(arrived, bytes.get()) } else { arrived };
        let mapping = self.params.mapping.get().clamp(1, self.params.page.get());
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
        let free = self.dies.iter().enumerate().min_by_key(|(_, die)| die.writes_until);
        free.map_or(0, |(index, _)| index)
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

    /// Moves what lies in cells of one bit to the rest of the flash, as far as the drive had time for it before `now`.
    ///
    /// Each die reads and programs pages, each of which passes its channel twice. It is not in the meter of the dies.
    fn fold(&mut self, now: Instant) {
        let FlashParams { planes, page, erase_block, pages_per_block, .. } = self.params;
        let (dies, channels) = (self.dies.len() as f64, self.channels.len() as f64);
        let copy = self.copy().as_secs_f64() / (dies * f64::from(planes.max(1)));
        let copy = copy.max(2.0 * self.channel_page.as_secs_f64() / channels);
        let Some(slc) = &mut self.slc else { return };
        let mut idle = slc.idle(now);
        if idle.is_zero() {
            return;
        }
        let amplification = match &mut self.translation {
            State::Steady { fresh: 1.., .. } => 1.0,
            State::Steady { amplification, .. } => *amplification,
            State::Mapped { owed, .. } => {
                let blocks = f64::from(owed.erased / pages_per_block.max(1));
                let all = f64::from(owed.copied) * copy + blocks * erase_block.as_secs_f64() / dies;
                let part = (idle.as_secs_f64() / all.max(1e-12)).min(1.0);
                let pages = truncated::<u32>(f64::from(owed.erased) * part);
                if pages > 0 {
                    owed.part(pages);
                }
                idle = idle.saturating_sub(Nanos::from_secs_f64(all * part));
                1.0
            }
        };
        slc.fold(idle, page.as_f64() / copy.max(1e-12), amplification);
    }

    /// A page from one block to another.
    fn copy(&self) -> Nanos {
        self.params.read_page.first().copied().unwrap_or(Nanos::ZERO) + self.params.program_page
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

    /// Enters a write into the page map, where there is one: of a stream the pages that it ends, of others as many as
    /// they fill together.
    fn map(&mut self, offset: u64, bytes: u64, sequential: bool, rewritten: u64) {
        let State::Mapped { map, scale, begun, owed } = &mut self.translation else { return };
        let page = self.params.page.get().max(1);
        let first = offset / page;
        let count = if sequential {
            (offset + bytes) / page - first
        } else {
            *begun += rewritten;
            let count = *begun / page;
            *begun %= page;
            count
        };
        for number in first..first + count {
            owed.add(map.write(scale.page(map, number)));
        }
    }

    /// What die `index` has to collect now, before it can take more: whole blocks at a time.
    fn owed(&mut self, index: usize, sequential: bool, planes: u32) -> Option<Collection> {
        let per_block = self.params.pages_per_block.max(1);
        match &mut self.translation {
            State::Steady { fresh, .. } if *fresh > 0 => {
                *fresh = fresh.saturating_sub(u64::from(planes));
                None
            }
            State::Steady { amplification, .. } => {
                let per_page = if sequential { 0.0 } else { *amplification - 1.0 };
                let block = f64::from(self.params.pages_per_block);
                // A victim's valid share, 1 - 1/WA, is what each collection copies.
                let valid = (block * (1.0 - 1.0 / amplification.max(1.0))).max(1.0);
                let die = &mut self.dies[index];
                die.owed += per_page * f64::from(planes);
                if self.params.incremental {
                    let copied = truncated::<u32>(die.owed);
                    die.owed -= f64::from(copied);
                    return (copied > 0).then_some(Collection { erased: 0, copied });
                }
                (die.owed >= valid).then(|| {
                    die.owed -= valid;
                    Collection { erased: per_block, copied: truncated::<u32>(valid) }
                })
            }
            // Blocks lie on different dies: each program's die pays for its part of them.
            State::Mapped { owed, .. } if self.params.incremental => {
                // What gains as much room as the program takes.
                let gained = (owed.erased - owed.copied).max(1);
                let pages = (planes * owed.erased).div_ceil(gained).min(owed.erased);
                (pages > 0).then(|| Collection { erased: 0, ..owed.part(pages) })
            }
            State::Mapped { owed, .. } => {
                let blocks = (owed.erased / per_block).div_ceil(narrow::<u32>(self.dies.len()));
                (blocks > 0).then(|| owed.part(blocks * per_block))
            }
        }
    }

    /// When a flush that arrives at `now` ends: at once where the buffer is protected, else with the last program.
    pub fn flush(&mut self, now: Instant) -> Instant {
        if self.params.protected {
            return now + self.params.command;
        }
        self.program_rest(now) + self.params.command
    }

    /// Programs what is less than a program's worth all the same, the rest of it left empty; when its buffer is empty.
    fn program_rest(&mut self, now: Instant) -> Instant {
        if self.gathered > 0 {
            let end = self.program(now, now, self.gathers_stream);
            self.buffer.hold(self.gathered, end);
            self.gathered = 0;
        }
        self.buffer.last().map_or(now, |end| end.max(now))
    }

    /// When all that it has taken by `now` is programmed, and the collections that this left behind are done.
    pub fn settle(&mut self, now: Instant) -> Instant {
        let programmed = self.program_rest(now);
        self.dies.iter().map(Die::until).fold(programmed, Instant::max)
    }

    /// When a trim has been answered. Of a drive with a page map the pages that lie in it whole are copied no more; the
    /// law of the long run knows of none.
    pub fn trim(&mut self, now: Instant, first: u64, sectors: u32) -> Instant {
        let page = self.params.page.get();
        let (from, to) = (first * SECTOR_BYTES, (first + u64::from(sectors)) * SECTOR_BYTES);
        if let State::Mapped { map, scale, .. } = &mut self.translation {
            let (mut from, to) = (from.div_ceil(page), to / page);
            while from < to {
                let next = to.min(scale.next_run(from));
                (from..next.min(from + RUN)).for_each(|number| map.trim(scale.page(map, number)));
                from = next;
            }
        }
        self.processor.book(now, now, self.params.command_gap)
            + self.params.command
            + self.params.link_command
    }

    /// Dies.
    pub fn servers(&self) -> u32 {
        narrow::<u32>(self.dies.len())
    }

    /// Begins a window of its meters at `now`: what the dies still have to do lies in it.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
        self.at_dies.restart(now);
        self.at_dies.edge(self.booked_beyond(now));
        self.busy_before = self.worked_by(now);
    }

    /// Ends it: what they have not done does not.
    pub fn close_meter(&mut self, now: Instant) {
        self.meter.close(now, std::iter::empty());
        self.at_dies.close(now, std::iter::empty());
        self.at_dies.edge(self.booked_beyond(now));
        let busy = self.worked_by(now).saturating_sub(self.busy_before);
        self.at_dies.add_busy(Nanos::new(busy));
    }

    /// Nanoseconds that the dies have worked by `now`, all together.
    fn worked_by(&self, now: Instant) -> u64 {
        self.dies.iter().map(|die| die.worked_by(now)).sum()
    }

    /// How long after `now` the dies have something booked, all together.
    fn booked_beyond(&self, now: Instant) -> Nanos {
        Nanos::new(self.dies.iter().map(|die| die.until().saturating_since(now).get()).sum())
    }

    /// What its dies did, and how long they were busy by the clock.
    pub fn dies(&mut self) -> &mut Meter {
        &mut self.at_dies
    }

    /// The commands it was given.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

/// Pages that follow each other on the drive and in its page map.
const RUN: u64 = 256;

/// How many pages of a drive one of its map stands for: so many runs that follow each other share one of the map. A stream
/// is one in the map too, and a part of the drive the same part of it.
#[derive(Clone, Copy, Debug)]
struct Scale(u64);

impl Scale {
    /// The page of the map that stands for a page of the drive.
    fn page(self, map: &PageMap, number: u64) -> u32 {
        let run = number / (RUN * self.0.max(1));
        narrow::<u32>((run * RUN + number % RUN) % u64::from(map.pages()))
    }

    /// The first page of the drive after `number` that lies in another run of the map.
    fn next_run(self, number: u64) -> u64 {
        let runs = RUN * self.0.max(1);
        (number / runs + 1) * runs
    }
}

/// Scatters page numbers over the dies, as a translation layer does after random writes.
fn spread(page: u64) -> u64 {
    // The multiplier of SplitMix64's first mixing step; the high half is the well-mixed one.
    page.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

#[cfg(test)]
mod tests {
    use super::super::{SlcParams, Victims};
    use super::*;
    use crate::streams::Stream;
    use units::BytesPerSecond;

    /// An enterprise NVMe drive of 2021 in round figures.
    fn nvme() -> FlashParams {
        FlashParams {
            capacity: Bytes::GIB * 1800,
            over_provisioning: 0.12,
            channels: 8,
            dies_per_channel: 8,
            planes: 1,
            page: Bytes::KIB * 16,
            mapping: Bytes::KIB * 4,
            keeps_page: false,
            pages_per_block: 256,
            read_page: vec![Nanos::from_micros(62)],
            program_page: Nanos::from_micros(400),
            erase_block: Nanos::from_millis(3),
            suspend: None,
            channel: BytesPerSecond::new(1.2e9),
            command: Nanos::from_micros(14),
            command_gap: Nanos::new(700),
            link: BytesPerSecond::new(6.9e9),
            link_command: Nanos::ZERO,
            write_buffer: Bytes::MIB * 4,
            protected: true,
            translation: Translation::Steady,
            victims: Victims::Greedy,
            state: Written::Steady,
            incremental: false,
            write_path: None,
            slc_cache: None,
        }
    }

    fn command(first: u64, sectors: u32, write: bool) -> Command {
        let class = if write { Class::HostWrite } else { Class::HostRead };
        Command { first, sectors, tag: 0, write, class, ready: Instant::START, given: Instant::START }
    }

    /// Operations per second with `depth` always outstanding.
    fn closed(
        params: &FlashParams,
        depth: usize,
        count: u64,
        sectors: u32,
        write: bool,
        random: bool,
    ) -> f64 {
        let mut drive = FlashDrive::new(params, 1);
        let mut draws = Stream::open(2, "test");
        let slots = params.capacity.get() / SECTOR_BYTES / u64::from(sectors);
        let mut ends = std::collections::BinaryHeap::new();
        let mut now = Instant::START;
        for n in 0..count {
            if ends.len() == depth {
                let std::cmp::Reverse(end) = ends.pop().expect("depth is at least one");
                now = end;
            }
            let slot = if random { draws.below(slots) } else { n % slots };
            let end = drive.submit(now, command(slot * u64::from(sectors), sectors, write));
            ends.push(std::cmp::Reverse(end));
        }
        count as f64 / now.since_start().as_secs_f64()
    }

    #[test]
    fn one_small_read_is_command_page_channel_and_link() {
        let mut drive = FlashDrive::new(&nvme(), 1);
        let end = drive.submit(Instant::START, command(8, 8, false));
        // 0.7 + 14 + 62 + 4096/1.2e9 + 4096/6.9e9 = 80.7 µs
        assert!(end.nanos().abs_diff(80_700) < 300, "{}", end.nanos());
    }

    #[test]
    fn deep_random_reads_meet_the_limit_of_the_dies() {
        let limit = 64.0 / 65.4e-6;
        let reached = closed(&nvme(), 512, 200_000, 8, false, true);
        assert!(reached < limit && reached > 0.85 * limit, "{reached} of {limit}");
    }

    #[test]
    fn large_reads_meet_the_link() {
        let bytes = closed(&nvme(), 8, 5_000, 2048, false, true) * 1_048_576.0;
        assert!((bytes / 6.9e9 - 1.0).abs() < 0.05, "{bytes}");
    }

    #[test]
    fn sustained_random_writes_pay_the_write_amplification() {
        let params = nvme();
        let rate = closed(&params, 32, 400_000, 32, true, true);
        let amplification = write_amplification(params.over_provisioning);
        let page_us = amplification * 400.0 + (amplification - 1.0) * 62.0 + 13.7;
        let expected = 64.0 / page_us * 1e6;
        assert!((rate / expected - 1.0).abs() < 0.15, "{rate} against {expected}");
    }

    /// Operations per second with 128 outstanding, three of ten of them writes.
    fn mixed(params: &FlashParams) -> f64 {
        let mut drive = FlashDrive::new(params, 1);
        let mut draws = Stream::open(3, "test");
        let mut ends = std::collections::BinaryHeap::new();
        let (mut now, count) = (Instant::START, 300_000);
        for n in 0..count {
            if ends.len() == 128 {
                let std::cmp::Reverse(end) = ends.pop().expect("there are as many as the depth");
                now = end;
            }
            let slot = draws.below(params.capacity.get() / 4096);
            ends.push(std::cmp::Reverse(drive.submit(now, command(slot * 8, 8, n % 10 < 3))));
        }
        f64::from(count) / now.since_start().as_secs_f64()
    }

    #[test]
    fn reads_and_writes_share_one_controller() {
        let params = FlashParams {
            command_gap: Nanos::from_micros(2),
            write_path: Some(BytesPerSecond::new(1.6e9)),
            over_provisioning: 0.4,
            program_page: Nanos::from_micros(100),
            incremental: true,
            ..nvme()
        };
        let amplification = write_amplification(params.over_provisioning);
        let write_us = 4096.0 / 1.6e9 * 1e6 * (1.0 + 2.0 * (amplification - 1.0));
        let expected = 1e6 / (0.7 * 2.0 + 0.3 * write_us);
        let reached = mixed(&params);
        assert!((reached / expected - 1.0).abs() < 0.05, "{reached} against {expected}");
    }

    #[test]
    fn sequential_writes_do_not() {
        let params = nvme();
        let (random, sequential) =
            (closed(&params, 32, 200_000, 32, true, true), closed(&params, 32, 200_000, 32, true, false));
        assert!(sequential > 2.5 * random, "{sequential} against {random}");
    }

    #[test]
    fn a_flush_waits_for_the_programs_unless_the_buffer_is_protected() {
        let flushed = |protected| {
            let params = FlashParams { protected, ..nvme() };
            let mut drive = FlashDrive::new(&params, 1);
            let written = drive.submit(Instant::START, command(8, 8, true));
            (drive.flush(written) - written).get()
        };
        // Protected: the command's 14 µs. Else a page of 16 KiB over the channel and its program before them.
        assert_eq!(flushed(true), 14_000);
        assert!(flushed(false).abs_diff(14_000 + 400_000 + 13_653) < 10, "{}", flushed(false));
    }

    #[test]
    fn what_is_trimmed_is_copied_no_more() {
        let mapped = FlashParams { translation: Translation::Mapped { scale: 4_096 }, ..nvme() };
        let rate = |trimmed: bool| {
            let mut drive = FlashDrive::new(&mapped, 1);
            if trimmed {
                drive.trim(Instant::START, 0, u32::MAX);
            }
            let mut draws = Stream::open(2, "test");
            let slots = mapped.capacity.get() / mapped.page.get() / 2;
            let mut now = Instant::START;
            for _ in 0..40_000 {
                now = drive.submit(now, command(draws.below(slots) * 32, 32, true));
            }
            40_000.0 / now.since_start().as_secs_f64()
        };
        assert!(rate(true) > 1.5 * rate(false), "{} against {}", rate(true), rate(false));
    }

    #[test]
    fn the_page_map_and_the_law_agree_on_random_writes() {
        let mut mapped = nvme();
        mapped.translation = Translation::Mapped { scale: 4096 };
        let (law, map) =
            (closed(&nvme(), 32, 300_000, 32, true, true), closed(&mapped, 32, 300_000, 32, true, true));
        assert!((map / law - 1.0).abs() < 0.05, "{map} against {law}");
    }

    /// Pages that a drive with a page map copies for each written, of 20,000 after so many `pages`.
    fn copied(params: FlashParams, sectors: u32, pages: u64, mut first: impl FnMut(u64) -> u64) -> f64 {
        // Of blocks so long that no program pays for any.
        let translation = Translation::Mapped { scale: 14_000 };
        let mapped = FlashParams { translation, pages_per_block: 1 << 20, ..params };
        let mut drive = FlashDrive::new(&mapped, 1);
        let commands = |pages: u64| pages * mapped.page.get() / u64::from(sectors) / SECTOR_BYTES;
        let mut copied = 0;
        for n in 0..commands(pages + 20_000) {
            drive.submit(Instant::from_nanos(n * 1_000_000), command(first(n), sectors, true));
            let State::Mapped { owed, .. } = &mut drive.translation else { panic!("it has a map") };
            copied += if n >= commands(pages) { owed.copied } else { 0 };
            *owed = Collection::default();
        }
        f64::from(copied) / 20_000.0
    }

    #[test]
    fn sequential_writes_of_any_size_copy_nothing_of_a_page_map_that_they_have_gone_over() {
        for (sectors, planes, streams) in [(8, 1, 1), (8, 2, 3), (128, 4, 1), (200, 2, 2), (1024, 1, 4)] {
            let params = FlashParams { planes, ..nvme() };
            let apart = params.capacity.get() / SECTOR_BYTES / streams;
            let first = |n: u64| n % streams * apart + n / streams * u64::from(sectors);
            let share = copied(params, sectors, 20_000, first);
            assert!(share < 0.01, "{sectors} sectors, {planes} planes, {streams} streams: {share}");
        }
    }

    #[test]
    fn a_part_of_a_drive_is_that_part_of_its_map_and_a_stream_one_of_it() {
        let mapped = FlashParams { translation: Translation::Mapped { scale: 4_096 }, ..nvme() };
        let mut drive = FlashDrive::new(&mapped, 1);
        let sectors = mapped.capacity.get() / SECTOR_BYTES;
        drive.trim(Instant::START, sectors / 2, narrow::<u32>(sectors / 2));
        let State::Mapped { map, scale, .. } = &drive.translation else { panic!("it has a map") };
        let kept = (0..map.pages()).filter(|page| map.holds(*page)).count() as f64;
        assert!((kept / f64::from(map.pages()) - 0.5).abs() < 0.02, "{kept}");
        let places: Vec<u32> = (0..RUN).map(|number| scale.page(map, 5 * 4_096 * RUN + number)).collect();
        assert!(places.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{places:?}");
    }

    #[test]
    fn random_writes_all_over_a_drive_with_a_page_map_follow_the_law() {
        let slots = nvme().capacity.get() / nvme().page.get();
        let mut draws = Stream::open(2, "test");
        let (all, law) =
            (copied(nvme(), 32, 10_000, |_| draws.below(slots) * 32), write_amplification(0.12) - 1.0);
        assert!((all / law - 1.0).abs() < 0.06, "{all} against {law}");
    }

    /// 1 GiB with half as much spare, whose dies program 64 pages of 16 KiB at a time.
    fn little() -> FlashParams {
        FlashParams { capacity: Bytes::GIB, over_provisioning: 0.5, write_buffer: Bytes::ZERO, ..nvme() }
    }

    /// Writes a second of each of `parts` of `count` random writes of a page.
    fn in_parts(params: &FlashParams, parts: usize, count: u64) -> Vec<f64> {
        let mut drive = FlashDrive::new(params, 1);
        let mut draws = Stream::open(2, "test");
        let pages = params.capacity.get() / params.page.get();
        let mut ends = std::collections::BinaryHeap::new();
        let mut now = Instant::START;
        let mut part = || {
            let from = now;
            for _ in 0..count {
                if ends.len() == 256 {
                    let std::cmp::Reverse(end) = ends.pop().expect("some are under way");
                    now = end;
                }
                let end = drive.submit(now, command(draws.below(pages) * 32, 32, true));
                ends.push(std::cmp::Reverse(end));
            }
            count as f64 / (now - from).as_secs_f64()
        };
        (0..parts).map(|_| part()).collect()
    }

    #[test]
    fn a_drive_fresh_out_of_the_box_writes_without_collection_until_its_flash_is_used() {
        // 65,536 pages and half as many spare: nine of ten parts of 10,000, and then those of a steady drive.
        let fresh = FlashParams { state: Written::Fresh, ..little() };
        let (rates, steady) = (in_parts(&fresh, 12, 10_000), in_parts(&little(), 12, 10_000));
        let programs = 64.0 / (400e-6 + 16_384.0 / 1.2e9);
        for rate in &rates[1..9] {
            assert!((rate / programs - 1.0).abs() < 0.1, "{rate} of {programs}: {rates:?}");
        }
        assert!(rates[..9].iter().all(|rate| *rate > 1.4 * steady[5]), "{rates:?} {steady:?}");
        assert!(rates[10..].iter().all(|rate| (rate / steady[5] - 1.0).abs() < 0.1), "{rates:?} {steady:?}");
        // A page map has them fall from where the flash is used on, over more than a part.
        let translation = Translation::Mapped { scale: 1 };
        let rates = in_parts(&FlashParams { translation, ..fresh }, 24, 10_000);
        assert!(rates[..9].iter().all(|rate| *rate > 1.3 * steady[5]), "{rates:?}");
        assert!(rates[9] > rates[11], "{rates:?}");
        let late = rates[16..].iter().sum::<f64>() / 8.0;
        assert!((late / steady[5] - 1.0).abs() < 0.1, "{late} against {steady:?}");
    }

    #[test]
    fn an_slc_cache_takes_a_burst_at_its_rate_falls_to_that_of_the_flash_and_recovers_in_idle_time() {
        // 64 dies: 16 KiB in 100 us and 14 of the channel with one bit a cell, in 1,600 us else; 256 MiB are 16,384 pages.
        let slc = SlcParams {
            size: Bytes::MIB * 256,
            program_page: Nanos::from_micros(100),
            fold_after: Nanos::from_millis(50),
        };
        let params = FlashParams {
            program_page: Nanos::from_micros(1_600),
            write_buffer: Bytes::ZERO,
            slc_cache: Some(slc),
            ..nvme()
        };
        let mut drive = FlashDrive::new(&params, 1);
        let (mut page, mut now) = (0, Instant::START);
        let mut burst = |drive: &mut FlashDrive, now: &mut Instant, pages: u64| {
            let from = *now;
            let mut last = from;
            for _ in 0..pages / 256 {
                let ends = (0..256).map(|_| {
                    page += 1;
                    drive.submit(*now, command(page * 32, 32, true))
                });
                last = ends.max().unwrap_or(last);
                *now = last;
            }
            (pages as f64) / (last - from).as_secs_f64()
        };
        let [cells, flash] = [100.0, 1_600.0].map(|program| 64.0 / (program * 1e-6));
        let first = burst(&mut drive, &mut now, 16_384);
        assert!(first > 0.5 * cells && first < cells, "{first} of {cells}");
        let full = burst(&mut drive, &mut now, 8_192);
        assert!((full / flash - 1.0).abs() < 0.05, "{full} of {flash}");
        // Each die moves a page in 1,662 us: 223 ms move 8,587.
        now += Nanos::from_millis(50 + 223);
        let again = burst(&mut drive, &mut now, 8_448);
        assert!((again / first - 1.0).abs() < 0.1, "{again} after {first}");
        let full = burst(&mut drive, &mut now, 4_096);
        assert!((full / flash - 1.0).abs() < 0.1, "{full} of {flash}");
        let none = FlashParams { slc_cache: None, ..params };
        let mut drive = FlashDrive::new(&none, 1);
        let without = burst(&mut drive, &mut now, 8_192);
        assert!((without / flash - 1.0).abs() < 0.1, "{without} of {flash}");
    }

    #[test]
    fn collection_shares_the_controllers_way_to_the_flash_with_the_writes_that_cause_it() {
        // Programs would go at 2.5 GB/s.
        let path = 400e6;
        let params = FlashParams { write_path: Some(BytesPerSecond::new(path)), ..nvme() };
        let bytes = |random: bool| closed(&params, 32, 60_000, 32, true, random) * 16_384.0;
        let sequential = bytes(false);
        assert!((sequential / path - 1.0).abs() < 0.02, "{sequential}");
        let copies = write_amplification(params.over_provisioning) - 1.0;
        let (random, law) = (bytes(true), path / (1.0 + 2.0 * copies));
        assert!((random / law - 1.0).abs() < 0.05, "{random} of {law}");
        let fresh = FlashParams { state: Written::Fresh, ..params.clone() };
        let random = closed(&fresh, 32, 60_000, 32, true, true) * 16_384.0;
        assert!((random / path - 1.0).abs() < 0.02, "{random}");
    }

    #[test]
    fn incremental_collection_costs_the_same_and_has_no_read_wait_for_a_block() {
        for translation in [Translation::Steady, Translation::Mapped { scale: 4_096 }] {
            let run = |incremental: bool| {
                let params = FlashParams { incremental, translation, ..nvme() };
                let mut drive = FlashDrive::new(&params, 1);
                let mut draws = Stream::open(2, "test");
                let mut ends = std::collections::BinaryHeap::new();
                let (mut now, mut longest) = (Instant::START, Nanos::ZERO);
                for n in 0..150_000 {
                    if ends.len() == 32 {
                        let std::cmp::Reverse(end) = ends.pop().expect("some are under way");
                        now = end;
                    }
                    let slots = params.capacity.get() / SECTOR_BYTES / 32;
                    ends.push(std::cmp::Reverse(
                        drive.submit(now, command(draws.below(slots) * 32, 32, true)),
                    ));
                    if n % 100 == 0 {
                        let end = drive.submit(now, command(draws.below(slots) * 32, 8, false));
                        longest = longest.max(end - now);
                    }
                }
                (150_000.0 / now.since_start().as_secs_f64(), longest)
            };
            let ((blocks, stalled), (little, longest)) = (run(false), run(true));
            assert!((little / blocks - 1.0).abs() < 0.05, "{little} and {blocks}");
            // A block of 256 pages has 205 to copy, at 462 us each; else a read waits for one program.
            assert!(
                stalled > Nanos::from_millis(50) && longest < Nanos::from_millis(20),
                "{longest} {stalled}"
            );
        }
    }

    /// What a buffer takes of a burst that comes at `link` and leaves at `flash` is its size over 1 - flash/link.
    #[test]
    fn a_buffer_takes_a_burst_at_the_rate_of_the_interface_until_it_is_full() {
        let params = FlashParams {
            link: BytesPerSecond::new(4e9),
            write_buffer: Bytes::MIB * 64,
            command: Nanos::ZERO,
            command_gap: Nanos::ZERO,
            ..nvme()
        };
        let flash = 64.0 * 16_384.0 / 400e-6;
        let absorbed = 64.0 * 1_048_576.0 / (1.0 - flash / 4e9);
        let mut drive = FlashDrive::new(&params, 1);
        let mut now = Instant::START;
        let mut taken = 0;
        loop {
            let end = drive.submit(now, command(taken / SECTOR_BYTES, 256, true));
            // 131,072 bytes take the interface 33 us.
            if (end - now).get() > 60_000 {
                break;
            }
            taken += 131_072;
            now = end;
        }
        assert!((taken as f64 / absorbed - 1.0).abs() < 0.05, "{taken} of {absorbed}");
    }

    #[test]
    fn random_writes_smaller_than_the_mapping_cost_all_of_it() {
        let small = nvme();
        let coarse = FlashParams { mapping: Bytes::KIB * 16, ..nvme() };
        let ratio = closed(&small, 32, 200_000, 8, true, true) / closed(&coarse, 32, 200_000, 8, true, true);
        assert!((ratio / 4.0 - 1.0).abs() < 0.1, "{ratio}");
        let [small, coarse] = [small, coarse].map(|params| closed(&params, 1, 20_000, 8, true, false));
        assert_eq!(small.to_bits(), coarse.to_bits(), "in sequence nothing is rewritten");
    }

    #[test]
    fn dies_are_busy_for_throughput_times_service_whatever_reads_and_writes_do_to_each_other() {
        for (suspend, writes) in [(None, 3), (Some(Nanos::from_micros(100)), 3), (None, 1), (None, 0)] {
            let params = FlashParams { suspend, ..nvme() };
            let mut drive = FlashDrive::new(&params, 1);
            let mut draws = Stream::open(2, "test");
            let mut now = Instant::START;
            for n in 0..60_000 {
                if n == 20_000 {
                    drive.restart_meter(now);
                }
                now += Nanos::new(draws.below(60_000));
                let write = draws.below(6) < writes;
                drive.submit(now, command(draws.below(1 << 30) * 8, 8 << draws.below(4), write));
            }
            drive.close_meter(now);
            let gap = drive.dies().utilisation_gap();
            assert!(gap.is_some_and(|gap| gap < 1e-9), "{gap:?}");
            assert!(drive.dies().total().count >= 40_000 * (6 - writes) / 6);
        }
    }

    #[test]
    fn a_kept_page_answers_the_small_reads_that_follow_in_it() {
        let forgets = closed(&nvme(), 1, 3200, 1, false, false);
        let keeps = closed(&FlashParams { keeps_page: true, ..nvme() }, 1, 3200, 1, false, false);
        // One page read in 32, the command alone for the rest.
        assert!(keeps > 4.0 * forgets, "{keeps} {forgets}");
        let random = closed(&FlashParams { keeps_page: true, ..nvme() }, 1, 3200, 1, false, true);
        assert!((random / forgets - 1.0).abs() < 0.02, "{random} {forgets}");
    }

    /// Four dies in small odd figures, so that each of them shows.
    fn small() -> FlashParams {
        FlashParams {
            over_provisioning: 0.5,
            channels: 2,
            dies_per_channel: 2,
            planes: 2,
            keeps_page: true,
            pages_per_block: 6,
            read_page: [10, 31].map(Nanos::from_micros).to_vec(),
            program_page: Nanos::from_micros(100),
            erase_block: Nanos::from_millis(1),
            channel: BytesPerSecond::new(2.048e9),
            command: Nanos::from_micros(5),
            command_gap: Nanos::from_micros(1),
            link: BytesPerSecond::new(4.096e9),
            link_command: Nanos::new(300),
            write_buffer: Bytes::KIB * 128,
            protected: false,
            ..nvme()
        }
    }

    /// Every 37 us a command, two writes to a read, some of which go on where the one before ended: how late each is.
    fn late(drive: &mut FlashDrive) -> (u64, u64) {
        let mut last = [0; 2];
        let late: Vec<u64> = (0..48u64)
            .map(|n| {
                let (write, sectors) = (n % 3 != 0, 5 << (n % 6));
                let kind = usize::from(write);
                let first = if n % 4 >= 2 { last[kind] } else { (n * 7_919 + 13) % 101 * 9 };
                last[kind] = first + sectors;
                let now = Instant::from_nanos(n * 37_000);
                (drive.submit(now, command(first, narrow::<u32>(sectors), write)) - now).get()
            })
            .collect();
        (late.iter().sum(), (1..).zip(&late).map(|(place, late)| place * late).sum())
    }

    #[test]
    fn commands_take_what_their_pages_dies_channels_and_collections_take() {
        let suspends = FlashParams {
            suspend: Some(Nanos::from_micros(23)),
            planes: 1,
            write_buffer: Bytes::ZERO,
            ..small()
        };
        let tight = FlashParams {
            over_provisioning: 0.12,
            keeps_page: false,
            pages_per_block: 4,
            planes: 1,
            ..small()
        };
        // How late all are, each by its place, what the dies worked, have booked, a flush, all: computed apart from
        // this program.
        for (params, late_all, by_place, worked, beyond, flush, settle) in [
            (small(), 27_483_400, 898_353_850, 5_620_050, 8_138_950, 1_962_300, 2_507_800),
            (suspends, 75_224_150, 2_649_406_800, 6_626_050, 21_252_950, 5_000, 5_946_300),
            (tight, 225_374_400, 7_676_283_800, 6_500_300, 55_991_700, 13_604_800, 14_446_300),
        ] {
            let mut drive = FlashDrive::new(&params, 1);
            assert_eq!(late(&mut drive), (late_all, by_place));
            let now = Instant::from_nanos(48 * 37_000);
            assert_eq!((drive.worked_by(now), drive.booked_beyond(now).get()), (worked, beyond));
            assert_eq!(((drive.flush(now) - now).get(), (drive.settle(now) - now).get()), (flush, settle));
            assert_eq!((drive.servers(), drive.meter().total().count), (4, 48));
            drive.restart_meter(now);
            drive.submit(now, command(0, 8, false));
            assert_eq!(drive.meter().total().count, 1);
        }
    }

    #[test]
    fn a_command_alone_takes_its_command_page_bytes_and_interface() {
        let drive = FlashDrive::new(&small(), 1);
        let alone =
            |drive: &FlashDrive, sectors: u32, write: bool| drive.alone(command(0, sectors, write)).get();
        // 5 us, 10 us of the page, 2 of its 8 us over the channel, 1 us and 300 ns of the interface.
        assert_eq!(alone(&drive, 8, false), 5_000 + 10_000 + 2_000 + 1_000 + 300);
        assert_eq!(alone(&drive, 1, false), 5_000 + 10_000 + 2_000 + 125 + 300, "what is mapped together");
        assert_eq!(alone(&drive, 64, false), 5_000 + 10_000 + 8_000 + 8_000 + 300, "pages at once");
        assert_eq!((alone(&drive, 8, true), alone(&drive, 256, true)), (6_300, 5_000 + 32_000 + 300));
        assert_eq!(alone(&drive, 264, true), 5_000 + 100_000 + 33_000 + 300, "more than the buffer");
    }

    #[test]
    fn dies_of_one_channel_share_it_and_others_do_not() {
        // A page takes 80 us over its channel, 4 us over the interface: ends are told in steps of 50 us.
        let channel = BytesPerSecond::new(0.2048e9);
        let params = FlashParams { planes: 1, write_buffer: Bytes::ZERO, channel, ..small() };
        let page =
            [0, 1, 2, 3].map(|die| (0..).find(|page| spread(*page) % 4 == die).expect("each has some"));
        let apart = |write: bool, pages: &[u64]| -> Vec<u64> {
            let mut drive = FlashDrive::new(&params, 1);
            let mut end =
                |page: &u64| drive.submit(Instant::START, command(page * 32, 32, write)).nanos() / 50_000;
            pages.iter().map(&mut end).collect()
        };
        let share = |one: usize, other: usize| {
            let ends = apart(false, &[page[one], page[other]]);
            ends[1] > ends[0]
        };
        assert!(share(0, 2) && share(1, 3) && !share(0, 1) && !share(2, 3));
        // Programs go to the dies in turn, and so to the channels.
        let ends = apart(true, &[1, 3, 5, 7]);
        assert!(ends[0] == ends[1] && ends[1] < ends[2] && ends[2] == ends[3], "{ends:?}");
    }

    #[test]
    fn each_read_holds_the_interface_for_its_command_and_its_bytes() {
        let link_command = Nanos::from_micros(20);
        let params = FlashParams { link_command, command_gap: Nanos::ZERO, ..small() };
        let mut drive = FlashDrive::new(&params, 1);
        let ends = (0..8).map(|page| drive.submit(Instant::START, command(page * 32, 8, false)).nanos());
        // 20 us and 1 us each.
        assert!(ends.max().is_some_and(|last| last >= 8 * 21_000));
    }

    #[test]
    fn sixteen_streams_are_told_apart_and_the_oldest_is_forgotten() {
        let mut streams = Streams::default();
        assert!((0..16).all(|stream| !streams.continues(stream * 1_000, 10)));
        assert!((0..16).all(|stream| streams.continues(stream * 1_000 + 10, 5)));
        assert!(!streams.continues(99_999, 10) && !streams.continues(15, 1), "the first one has made room");
        assert!(streams.continues(100_009, 1) && streams.continues(2_015, 1));
    }

    #[test]
    fn nothing_gathered_is_programmed_by_no_flush() {
        let mut drive = FlashDrive::new(&small(), 1);
        let now = Instant::from_nanos(5_000_000);
        assert_eq!((drive.flush(now) - now).get(), 5_000);
        assert_eq!(drive.settle(now), now);
        assert_eq!(drive.booked_beyond(now), Nanos::ZERO);
    }

    #[test]
    fn only_pages_that_lie_in_a_trim_whole_are_dropped() {
        // A page map is overwritten until it is steady: a small one soon is.
        let capacity = Bytes::MIB * 16;
        let params = FlashParams { capacity, translation: Translation::Mapped { scale: 1 }, ..small() };
        let dropped = |first: u64, sectors: u32| -> Vec<u32> {
            let mut drive = FlashDrive::new(&params, 1);
            let end = drive.trim(Instant::START, first, sectors);
            assert_eq!(end.nanos(), 1_000 + 5_000 + 300);
            let State::Mapped { map, .. } = &drive.translation else { panic!("it has a map") };
            (0..map.pages()).filter(|page| !map.holds(*page)).collect()
        };
        assert_eq!((dropped(0, 32), dropped(64, 64)), (vec![0], vec![2, 3]));
        assert_eq!((dropped(1, 32), dropped(31, 34)), (Vec::new(), vec![1]));
        assert!(dropped(5, 0).is_empty());
    }
}
