//! The drive at work: arm, surface, buffer and waiting commands.
//!
//! **Invariant:** at most one command is in service; its end is known when it starts.

mod ahead;
mod beside;
mod dirty;
mod flushes;
mod order;
mod reads;
mod writes;

use units::{Instant, Nanos, Sectors};

use super::buffer::Buffer;
use super::mechanics::Mechanics;
use super::waiting::{Entry, Waiting};
use super::{AfterRw, DriveQueueParams, Order, RotatingParams};
use crate::device::{Command, Finished, Steps};
use crate::meter::Meter;
use ahead::Ahead;
use dirty::Dirty;
use flushes::WritingOut;

/// A disk drive.
#[derive(Clone, Debug)]
pub struct Drive {
    mechanics: Mechanics,
    /// The sector behind the last that the head passed for a command or for the buffer.
    passed_last: u64,
    sector_ns: u64,
    params: RotatingParams,
    buffer: Option<Buffer>,
    ahead: Option<Ahead>,
    dirty: Dirty,
    dirty_limit: u64,
    /// Sectors `leaving.0..leaving.1` left the buffer last; when they are on the media.
    leaving: (u64, u64),
    written_until: u64,
    /// When the last command that the arm served ended, and the last of all.
    served_until: u64,
    quiet_since: u64,
    /// When the last answer beside the arm had crossed the interface, and what it took of an idle drive.
    answered: u64,
    beside: Nanos,
    last_was_write: bool,
    /// Where the last write ended.
    last_write_end: u64,
    waiting: Waiting,
    /// Whether background work comes with ordered tags: what came before it goes first, what came after it waits.
    ordered: bool,
    serving: Option<Serving>,
    writing_out: WritingOut,
    /// Of the command whose end was computed last.
    steps: Steps,
    meter: Meter,
}

#[derive(Clone, Copy, Debug)]
struct Serving {
    command: Command,
    arrived: u64,
    started: u64,
    end: u64,
    /// Since when its meter has it as served, and whether it was told.
    served_from: u64,
    is_metered: bool,
    steps: Steps,
}

impl Drive {
    /// A drive at rest with an empty buffer and its arm at the first cylinder.
    pub fn new(params: &RotatingParams) -> Drive {
        let write_sectors = params.cache.map_or(0, |cache| u64::from(cache.write_segments) * cache.segment.0);
        Drive {
            mechanics: Mechanics::new(params),
            passed_last: 0,
            sector_ns: params.link.time_for(Sectors(1).bytes()).get(),
            buffer: params.cache.map(|cache| Buffer::new(&cache)),
            ahead: None,
            dirty: Dirty::default(),
            dirty_limit: write_sectors,
            leaving: (0, 0),
            written_until: 0,
            served_until: 0,
            quiet_since: 0,
            answered: 0,
            beside: Nanos::ZERO,
            last_was_write: false,
            last_write_end: u64::MAX,
            waiting: Waiting::new(params.queue.window, params.queue.age_limit),
            ordered: false,
            serving: None,
            writing_out: WritingOut::default(),
            steps: Steps::default(),
            meter: Meter::default(),
            params: params.clone(),
        }
    }

    /// The same drive, its spindle ahead by a share of a revolution.
    pub fn ahead_by(mut self, share: f64) -> Drive {
        self.mechanics.turn_ahead_by(share);
        self
    }

    /// Takes a command; where the drive was idle, the instant at which the command will end.
    pub fn submit(&mut self, now: Instant, command: Command) -> Option<Instant> {
        self.catch_up(now.nanos());
        self.meter.arrive(now);
        let place = self.mechanics.layout.place(command.first);
        let entry = Entry { command, place, arrived: now.nanos(), seen: now.nanos() };
        if self.serving.is_some() {
            self.waiting.push(entry);
            return None;
        }
        // Nothing waits where nothing is served.
        let ready = self.ready(now.nanos());
        Some(self.start(&entry, ready, now.nanos()))
    }

    /// Ends the command in service, whose end is `now`; also the end of the next, where one waits.
    ///
    /// # Panics
    /// Where nothing is in service: only an error of the event loop does that.
    pub fn finish(&mut self, now: Instant) -> (Finished, Option<Instant>) {
        self.catch_up(now.nanos());
        let Serving { command, arrived, started, served_from, is_metered, steps, .. } =
            self.serving.take().expect("an end is scheduled only with a command in service");
        debug_assert!(is_metered, "what ends has been served");
        let [arrived, started, served] = [arrived, started, served_from].map(Instant::from_nanos);
        self.meter.leave(now, arrived, served, command.class);
        self.served_until = now.nanos();
        self.quiet_since = self.quiet_since.max(now.nanos());
        (Finished { command, arrived, started, steps }, self.start_next(now.nanos()))
    }

    /// Writes that are acknowledged and not on their way to the media at `now`.
    #[cfg(test)]
    pub fn gathered(&mut self, now: Instant) -> usize {
        self.destage_until(now.nanos());
        self.dirty.len()
    }

    /// Forgets what its buffer holds for reads; when all that it has acknowledged by `now` is on the media.
    pub fn settle(&mut self, now: Instant) -> Instant {
        let written = Instant::from_nanos(self.write_out(now.nanos()));
        self.buffer = self.params.cache.map(|cache| Buffer::new(&cache));
        self.ahead = None;
        written
    }

    /// When a trim has been answered: it changes nothing here.
    pub fn trim(&self, now: Instant) -> Instant {
        now + Nanos::new(self.overhead(self.params.overhead.write_hit))
    }

    /// Commands waiting or in service.
    pub fn present(&self) -> usize {
        self.waiting.len() + usize::from(self.serving.is_some())
    }

    /// Among how many waiting commands it takes the nearest, by whatever rule; `None` where it serves them as they came.
    pub fn chooses_among(&self) -> Option<u32> {
        let DriveQueueParams { order, window, .. } = self.params.queue;
        (order != Order::Fcfs && window > 1).then_some(window)
    }

    /// Has background work come with ordered tags from now on; the tags the drive has.
    pub fn order_background(&mut self) -> u32 {
        self.ordered = true;
        self.params.queue.window
    }

    /// How far the arm would have to go to `sector`, in cylinders: mirrored reads go to the nearer arm.
    pub fn distance(&self, sector: u64) -> u32 {
        self.mechanics.layout.place(sector).cylinder.abs_diff(self.mechanics.arm.cylinder)
    }

    /// Ends the window of its meter.
    pub fn close_meter(&mut self, now: Instant) {
        self.catch_up(now.nanos());
        let served = self.serving.iter().map(|serving| {
            (serving.arrived, serving.is_metered.then_some(serving.served_from), serving.command)
        });
        let waiting = self.waiting.all().map(|entry| (entry.arrived, None, entry.command));
        let here = served.chain(waiting).map(|(arrived, started, command)| {
            (Instant::from_nanos(arrived), started.map(Instant::from_nanos), command.class)
        });
        self.meter.close(now, here);
    }

    /// Its past.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// Starts the next command, if one waits, and returns its end.
    fn start_next(&mut self, now: u64) -> Option<Instant> {
        if self.waiting.is_empty() {
            return None;
        }
        let ready = self.ready(now);
        let entry = self.choose(ready.max(self.mechanics.arm.free_at), now);
        Some(self.start(&entry, ready, now))
    }

    /// From when the next command may be carried out that starts `now`, the drive having written meanwhile what it could.
    ///
    /// With overlap the arm is free to move on from the end of the media operation, while the last bytes and the status
    /// of the command before still travel.
    fn ready(&mut self, now: u64) -> u64 {
        self.destage_until(now);
        if self.params.queue.overlap { self.mechanics.arm.free_at.min(now) } else { now }
    }

    /// Starts a command, which may be carried out from `ready` on, and returns its end.
    fn start(&mut self, entry: &Entry, ready: u64, now: u64) -> Instant {
        let started = if self.params.queue.overlap { ready.max(entry.arrived) } else { now };
        let end = self.serve(entry, started, now);
        self.last_was_write = entry.command.write;
        let Entry { command, arrived, .. } = *entry;
        debug_assert!(self.serving.is_none(), "one command at most may be in service");
        let (served_from, steps) = (self.writing_out.served_from(now, end), self.steps);
        self.serving =
            Some(Serving { command, arrived, started: now, end, served_from, is_metered: false, steps });
        self.catch_up(now);
        Instant::from_nanos(end)
    }

    /// Carries `entry` out from `started` and returns when its status arrives, not before `now`.
    fn serve(&mut self, entry: &Entry, started: u64, now: u64) -> u64 {
        let end = if entry.command.write {
            self.write(entry, started) + self.params.overhead.write_completion.get()
        } else {
            self.read(entry, started) + self.params.overhead.read_completion.get()
        };
        end.max(now)
    }

    fn overhead(&self, which: AfterRw) -> u64 {
        if self.last_was_write { which.after_write.get() } else { which.after_read.get() }
    }

    /// When the command's processing is over and its data are there. In a queueing drive it was done while the command
    /// waited.
    fn processed(&self, entry: &Entry, started: u64, overhead: u64) -> u64 {
        let processed = if self.params.queue.overlap {
            started.max(entry.arrived + overhead)
        } else {
            started + overhead
        };
        processed.max(entry.command.ready.nanos())
    }
}

/// The steps of a command that the buffer answers, with room for it at `free`.
fn at_once(processed: u64, free: u64) -> Steps {
    let [processed, free] = [processed, free].map(Instant::from_nanos);
    Steps { processed, free, on_track: free, on_sector: free }
}
