//! The flash drive at work.
//!
//! **Invariant:** a command's end is known when it arrives; programs and collections that it causes are booked on
//! their die then, and reads pass them as the drive allows.

mod ahead;
mod collection;
mod die;
mod flushes;
mod inner;
mod programs;
mod reads;
mod streams;
mod translation;

use units::convert::narrow;
use units::{Bytes, Instant, Nanos, SECTOR_BYTES};

use super::FlashParams;
use super::slc::{SlcCache, SlcUse};
use crate::backlog::Backlog;
use crate::device::write_buffer::WriteBuffer;
use crate::device::{Command, Inner};
use crate::meter::{Class, Meter};
use ahead::Ahead;
use die::Die;
use flushes::{Firmware, Turns};
use streams::Streams;
use translation::{RUN, State};

/// What a controller checks as one: the data of a page may leave in such pieces, before the last of them has come.
///
/// Micron's MT29F64G08CBAAA data sheet asks for 24 bits of correction in 1,080 bytes, 1 KiB of which are data.
const CODEWORD: Bytes = Bytes::KIB;

/// Channels of dies behind a buffer, with a map of pages where the figures have one.
#[derive(Clone, Debug)]
pub struct FlashDrive {
    params: FlashParams,
    /// Those of one die beside each other: as many as it has planes that read by themselves.
    dies: Vec<Die>,
    channels: Vec<Backlog>,
    to_drive: Backlog,
    to_host: Backlog,
    processor: Backlog,
    /// The controller's way to the flash, and what a page takes of it.
    write_path: Option<(Backlog, Nanos)>,
    /// What the commands of reads have taken of it.
    path_for_reads: Nanos,
    channel_page: Nanos,
    channel_codeword: Nanos,
    program_unit: Bytes,
    buffer: WriteBuffer,
    slc: Option<SlcCache>,
    translation: State,
    /// 1,024 ends: enough for hundreds of streams among random writes.
    writes: Streams<256>,
    /// 32 ends: what is random in a small place must not be taken for streams.
    reads: Streams<8>,
    ahead: Ahead,
    turns: Turns,
    firmware: Firmware,
    gathered: u64,
    /// Whether the last of the gathered bytes went on where others ended.
    gathers_stream: bool,
    /// What its parts had worked when the meter's window began.
    worked_before: [Inner; inner::KINDS],
    meter: Meter,
    /// What the dies do, each page read, program and collection a visit.
    at_dies: Meter,
    /// On whose behalf they do it: of the command that came last.
    class: Class,
}

impl FlashDrive {
    /// A drive whose flash is in the state that `params` have it begin in.
    pub fn new(params: &FlashParams, seed: u64) -> FlashDrive {
        let dies = (params.channels.max(1) * params.dies_per_channel.max(1)) as usize;
        assert!(dies > 0, "flash must have dies");
        let page = params.page.get().max(1);
        FlashDrive {
            dies: vec![Die::default(); dies * params.reads_at_once()],
            channels: vec![Backlog::default(); params.channels.max(1) as usize],
            to_drive: Backlog::default(),
            to_host: Backlog::default(),
            processor: Backlog::default(),
            channel_page: params.channel.time_for(params.page),
            channel_codeword: params.channel.time_for(CODEWORD),
            write_path: params.write_path.map(|rate| (Backlog::default(), rate.time_for(params.page))),
            path_for_reads: Nanos::ZERO,
            program_unit: params.page * u64::from(params.planes.max(1)),
            buffer: WriteBuffer::new(params.write_buffer),
            slc: SlcCache::of(params),
            translation: State::new(params, seed),
            writes: Streams::default(),
            reads: Streams::default(),
            ahead: Ahead::new(params.read_ahead.get().div_ceil(page), params.capacity.get() / page),
            turns: Turns::default(),
            firmware: Firmware::default(),
            gathered: 0,
            gathers_stream: false,
            worked_before: [Inner::default(); inner::KINDS],
            meter: Meter::of_servers_apart(),
            at_dies: Meter::of_servers_apart(),
            class: Class::HostRead,
            params: params.clone(),
        }
    }

    /// Another drive with the same figures as this one, which is at rest.
    pub fn another(&self, seed: u64) -> FlashDrive {
        let translation = self.translation.another(&self.params, seed);
        FlashDrive { translation, ..self.clone() }
    }

    /// Takes a command, all of whose data are there when it is, and returns when it ends.
    pub fn submit(&mut self, now: Instant, command: Command) -> Instant {
        self.submit_behind(now, command, Nanos::ZERO)
    }

    /// How long the interface takes for the data of a command.
    pub fn transfer(&self, command: Command) -> Nanos {
        self.params.link.time_for(Bytes::new(u64::from(command.sectors) * SECTOR_BYTES))
    }

    /// Takes a command and returns when it ends. The data of a write had flowed towards the drive for `flow` when the last of them
    /// were there: its interface has kept pace with them, as far as it was idle.
    pub fn submit_behind(&mut self, now: Instant, command: Command, flow: Nanos) -> Instant {
        let bytes = Bytes::new(u64::from(command.sectors) * SECTOR_BYTES);
        let from = self.takes_from(now);
        let [time, gap] = self.of_controller(command.write);
        let begun = self.processor.book(from, from, gap).max(command.ready) + time;
        self.class = command.class;
        if self.slc.is_some() {
            self.fold(now);
        }
        if let Some((path, _)) = self.write_path.as_mut().filter(|_| !command.write) {
            // One controller does both: what a read takes of it no page can have. Reads go first.
            path.book(now, now, self.params.command_gap);
            self.path_for_reads += self.params.command_gap;
        }
        let end = if command.write {
            self.write(now, begun, flow, command.first * SECTOR_BYTES, bytes)
        } else {
            self.read(now, begun, command.first * SECTOR_BYTES, bytes)
        };
        if let Some(slc) = &mut self.slc {
            slc.is_busy_until(end);
        }
        self.turns.commands_until = self.turns.commands_until.max(end);
        // What it takes more than of a drive that does nothing else it waits, for whichever part.
        let started = end.nanos().saturating_sub(self.alone(command).get());
        self.meter.visit(now, now, Instant::from_nanos(started).max(now), end, command.class);
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
                let as_slc = self.slc.as_ref().and_then(|slc| slc.time_at(command.first * SECTOR_BYTES));
                let read = as_slc.or_else(|| self.params.read_page.first().copied());
                read.unwrap_or(Nanos::ZERO) + Nanos::new(page)
            }
        };
        let [time, _] = self.of_controller(command.write);
        time + flash + interface
    }

    /// The controller's time for a write or a read, and between two of them.
    fn of_controller(&self, write: bool) -> [Nanos; 2] {
        let FlashParams { command, write_command, command_gap, write_gap, .. } = self.params;
        if write { [write_command, write_gap] } else { [command, command_gap] }
    }

    /// What its buffer holds at `now` that is not on the flash.
    pub fn unwritten(&self, now: Instant) -> Bytes {
        self.buffer.held_at(now)
    }

    /// Writes that its buffer has room for.
    pub fn buffer_size(&self) -> Bytes {
        self.params.write_buffer
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

    /// Dies, or their planes that read by themselves.
    pub fn servers(&self) -> u32 {
        narrow::<u32>(self.dies.len())
    }

    /// Begins a window of its meters at `now`: what the dies still have to do lies in it.
    pub fn restart_meter(&mut self, now: Instant) {
        self.meter.restart(now);
        self.at_dies.restart(now);
        self.at_dies.edge(self.booked_beyond(now));
        self.worked_before = self.worked_by(now);
        self.slc.iter_mut().for_each(SlcCache::restart);
    }

    /// What its cache of one bit a cell took since then; `None` where it has none.
    pub fn slc(&self) -> Option<SlcUse> {
        Some(self.slc.as_ref()?.seen(self.params.programs()))
    }

    /// Ends it: what they have not done does not.
    pub fn close_meter(&mut self, now: Instant) {
        self.meter.close(now, std::iter::empty());
        self.at_dies.close(now, std::iter::empty());
        self.at_dies.edge(self.booked_beyond(now));
        let [dies, ..] = self.worked_by(now);
        self.at_dies.add_busy(dies.busy.saturating_sub(self.worked_before[0].busy));
    }

    /// How many dies there are.
    fn die_count(&self) -> usize {
        self.dies.len() / self.params.reads_at_once()
    }

    /// What of `dies` belongs to die `index`.
    fn planes_of(&self, index: usize) -> std::ops::Range<usize> {
        let planes = self.params.reads_at_once();
        index * planes..(index + 1) * planes
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

#[cfg(test)]
mod tests;
