//! The drive at work: arm, surface, buffer and waiting commands.
//!
//! **Invariant:** at most one command is in service; its end is known when it starts.

use std::collections::VecDeque;

use units::convert::truncated;
use units::{Instant, Nanos, Sectors};

use super::buffer::Buffer;
use super::layout::SectorPosition;
use super::mechanics::{Access, Mechanics, Media};
use super::waiting::{Entry, Waiting};
use super::{AfterRw, ContinuousRead, FastWrite, Order, RotatingParams};
use crate::device::{Command, Finished, Steps};
use crate::meter::{Class, Meter};

/// Dirty extents from which the drive chooses the one it reaches first.
///
/// Not the number of its tags: what is acknowledged waits in the buffer, which holds thousands of small writes. Twice
/// as many would write 5 % faster.
const DESTAGE_WINDOW: usize = 128;

/// A disk drive.
#[derive(Clone, Debug)]
pub struct Drive {
    mechanics: Mechanics,
    sector_ns: u64,
    params: RotatingParams,
    buffer: Option<Buffer>,
    ahead: Option<Ahead>,
    dirty: VecDeque<Extent>,
    dirty_sectors: u64,
    dirty_limit: u64,
    /// When the last of what left the buffer is on the media.
    written_until: u64,
    /// When the last command ended.
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
    /// Of the command whose end was computed last.
    steps: Steps,
    meter: Meter,
}

/// A read-ahead under way: at `since` the head passed stream clock `clock`; it will go on to sector `limit`, which it
/// passes after `least` nanoseconds or later.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    segment: usize,
    since: u64,
    clock: u64,
    limit: u64,
    least: u64,
}

/// Data acknowledged but not yet on the media.
#[derive(Clone, Copy, Debug)]
struct Extent {
    first: u64,
    sectors: u64,
    /// When its first sector is in the buffer.
    ready_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Serving {
    command: Command,
    arrived: u64,
    started: u64,
    steps: Steps,
}

impl Drive {
    /// A drive at rest with an empty buffer and its arm at the first cylinder.
    pub fn new(params: &RotatingParams) -> Drive {
        let write_sectors = params.cache.map_or(0, |cache| u64::from(cache.write_segments) * cache.segment.0);
        Drive {
            mechanics: Mechanics::new(params),
            sector_ns: params.link.time_for(Sectors(1).bytes()).get(),
            buffer: params.cache.map(|cache| Buffer::new(&cache)),
            ahead: None,
            dirty: VecDeque::new(),
            dirty_sectors: 0,
            dirty_limit: write_sectors,
            written_until: 0,
            quiet_since: 0,
            answered: 0,
            beside: Nanos::ZERO,
            last_was_write: false,
            last_write_end: u64::MAX,
            waiting: Waiting::new(params.queue.window, params.queue.age_limit),
            ordered: false,
            serving: None,
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

    /// Takes a command that its buffer answers while the arm works for another; when it will have ended. `None`: it is
    /// for [`Drive::submit`]. In its meter such a command waits and takes no service: that is the arm's.
    pub fn answer_beside(&mut self, now: Instant, command: Command) -> Option<Instant> {
        let serving = self.serving.as_ref()?.command;
        let cache = self.params.cache.filter(|cache| cache.answers_beside)?;
        let Command { first, write, class, .. } = command;
        let sectors = u64::from(command.sectors);
        let (end, overhead) = (first + sectors, self.params.overhead);
        // What the arm is at passes into the buffer and out of it.
        let serves_it = first < serving.first + u64::from(serving.sectors) && serving.first < end;
        let (command_time, completion) = if write {
            let fits = cache.fast_write == FastWrite::All && self.dirty_sectors + sectors <= self.dirty_limit;
            // What is read ahead keeps its segment: a write that would take it waits until the read-ahead has ended.
            let takes_ahead = self.ahead.zip(self.buffer.as_ref());
            let takes_ahead =
                takes_ahead.is_some_and(|(ahead, buffer)| buffer.gives_way(ahead.segment, first, end));
            if serves_it || !fits || takes_ahead {
                return None;
            }
            (Nanos::new(self.overhead(overhead.write_hit)), overhead.write_completion)
        } else {
            let buffer = self.buffer.as_mut()?;
            let found = buffer.find(first).filter(|&found| end <= buffer.segment(found).end)?;
            if serves_it || self.ahead.is_some_and(|ahead| ahead.segment == found) {
                return None;
            }
            buffer.touch(found);
            if !cache.keeps_read {
                buffer.consume(found, end);
            }
            (Nanos::new(self.overhead(overhead.read_hit)), overhead.read_completion)
        };
        let begun = now.nanos().max(command.ready.nanos());
        let leaves = (begun + command_time.get() + overhead.data.get()).max(self.answered);
        self.answered = leaves + sectors * self.sector_ns;
        if write {
            self.last_write_end = end;
            if let Some(buffer) = self.buffer.as_mut() {
                buffer.write(first, end);
            }
            self.hold(first, sectors, leaves);
        }
        let ended = Instant::from_nanos(self.answered + completion.get());
        self.beside = command_time + overhead.data + completion + Nanos::new(sectors * self.sector_ns);
        self.quiet_since = self.quiet_since.max(ended.nanos());
        self.meter.visit(now, now, ended, ended, class);
        debug_assert!(ended >= now + self.beside, "an answer takes its time");
        Some(ended)
    }

    /// What the last command took that was answered beside the arm, less what it waited for the interface.
    pub fn beside(&self) -> Nanos {
        self.beside
    }

    /// Takes a command; where the drive was idle, the instant at which the command will end.
    pub fn submit(&mut self, now: Instant, command: Command) -> Option<Instant> {
        self.meter.arrive(now);
        let place = self.mechanics.layout.place(command.first);
        let entry = Entry { command, place, arrived: now.nanos() };
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
        let Serving { command, arrived, started, steps } =
            self.serving.take().expect("an end is scheduled only with a command in service");
        let [arrived, started] = [arrived, started].map(Instant::from_nanos);
        self.meter.leave(now, arrived, started, command.class);
        self.quiet_since = self.quiet_since.max(now.nanos());
        (Finished { command, arrived, started, steps }, self.start_next(now.nanos()))
    }

    /// Writes that are acknowledged and not on their way to the media at `now`.
    #[cfg(test)]
    pub fn gathered(&mut self, now: Instant) -> usize {
        self.destage_until(now.nanos());
        self.dirty.len()
    }

    /// Writes all that it has acknowledged from `now` on, nearest first; when the last of it is on the media.
    pub fn flush(&mut self, now: Instant) -> Instant {
        let now = now.nanos();
        self.destage_until(now);
        while !self.dirty.is_empty() {
            self.destage_one(now);
        }
        let answered = now + self.overhead(self.params.overhead.write_hit);
        Instant::from_nanos(self.written_until.max(answered))
    }

    /// Forgets what its buffer holds for reads; when all that it has acknowledged by `now` is on the media.
    pub fn settle(&mut self, now: Instant) -> Instant {
        let written = self.flush(now);
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
        let served =
            self.serving.iter().map(|serving| (serving.arrived, Some(serving.started), serving.command));
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
        self.meter.begin(Instant::from_nanos(now));
        let Entry { command, arrived, .. } = *entry;
        debug_assert!(self.serving.is_none(), "one command at most may be in service");
        self.serving = Some(Serving { command, arrived, started: now, steps: self.steps });
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

    fn read(&mut self, entry: &Entry, started: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        self.settle_ahead(started, first);
        let known = self.buffer.as_ref().and_then(|buffer| buffer.find(first));
        if let Some(found) = self.held(known, first, end, started) {
            let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_hit));
            self.steps = at_once(processed, processed);
            return self.read_hit(found, entry, processed + self.params.overhead.data.get());
        }
        let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_miss));
        if let Some(found) = known.filter(|&known| self.begins_in(known, first)) {
            return self.read_rest(found, first, end, processed);
        }
        let media = self.move_to(entry.place, first, sectors, processed, Access::Read);
        self.steps = media.steps(processed);
        let streams = known.is_some();
        self.read_on(first, end, &media, entry.place, streams);
        self.delivered(&media, sectors)
    }

    /// When `sectors` read from the media have crossed the drive's interface: they flow as they come, so the last
    /// one follows the head by one sector's time, or the first by all of them where the interface is slower.
    fn delivered(&self, media: &Media, sectors: u64) -> u64 {
        let forward = self.params.cache.map_or(0.0, |cache| cache.forward_after.get());
        let overhead = &self.params.overhead;
        let begun = media.first + truncated::<u64>(forward * (media.end - media.first) as f64);
        let first_out = begun + overhead.reselect.get() + overhead.data.get();
        (media.end + self.sector_ns).max(first_out + self.sector_ns * sectors)
    }

    /// The segment that has, or is about to get, all of `first..end`; `known` holds its first sector or ends before it.
    ///
    /// A read that begins in what the read-ahead has brought goes on with it. One whose first sector the head has yet to
    /// reach waits for it where the drive's policy has it so, and starts over otherwise.
    fn held(&self, known: Option<usize>, first: u64, end: u64, now: u64) -> Option<usize> {
        let buffer = self.buffer.as_ref()?;
        let almost = self.params.cache.is_some_and(|cache| cache.almost_hits);
        let on_the_way = |ahead: &Ahead| buffer.segment(ahead.segment).end <= first && end <= ahead.limit;
        let found = known.or_else(|| self.ahead.filter(on_the_way).map(|ahead| ahead.segment))?;
        let segment = buffer.segment(found);
        if end <= segment.end {
            return Some(found);
        }
        let ahead = self.ahead.filter(|ahead| ahead.segment == found)?;
        let begun = first < segment.end;
        let soon = || {
            end <= ahead.limit
                && (almost
                    || ahead.since + (self.mechanics.layout.end_clock(first, end - first) - ahead.clock)
                        <= now)
        };
        (begun || soon()).then_some(found)
    }

    /// Whether a segment has the beginning of a read at `first`, no read-ahead being about to get the rest.
    fn begins_in(&self, segment: usize, first: u64) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| first < buffer.segment(segment).end)
    }

    /// Reads from the media what the buffer lacks of `first..end`; what it has leaves meanwhile.
    fn read_rest(&mut self, found: usize, first: u64, end: u64, processed: u64) -> u64 {
        let held = self.buffer.as_ref().expect("a part is held by a buffer").segment(found).end;
        if held >= end {
            // The read-ahead has just stopped behind it.
            self.steps = at_once(processed, processed);
            return processed + (end - first) * self.sector_ns;
        }
        let place = self.mechanics.layout.place(held);
        let media = self.move_to(place, held, end - held, processed, Access::Read);
        self.steps = media.steps(processed);
        self.read_on(held, end, &media, place, true);
        (media.end + self.sector_ns).max(processed + (end - first) * self.sector_ns)
    }

    /// Answers a read from segment `found`, whose first sector leaves at `processed` or when the head has passed it.
    fn read_hit(&mut self, found: usize, entry: &Entry, processed: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        let limit = self.limit(first, end, true);
        let buffer = self.buffer.as_mut().expect("a hit needs a buffer");
        buffer.touch(found);
        let mut last_byte = processed + sectors * self.sector_ns;
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.segment == found) {
            // The stream is being read: keep the read-ahead that far in front of it.
            ahead.limit = ahead.limit.max(limit);
            if end > buffer.segment(found).end {
                let passed = self.mechanics.layout.end(entry.place, first, sectors).clock - ahead.clock;
                last_byte = last_byte.max(ahead.since + passed + self.sector_ns);
                // From here it is not as far to the limit as from where it began.
                ahead.least = passed + self.mechanics.layout.least(ahead.limit.saturating_sub(end));
                buffer.extend(found, end);
            }
        }
        if self.params.cache.is_some_and(|cache| cache.tops_up) && self.ahead.is_none() {
            self.top_up(found, limit, processed);
        }
        if !self.params.cache.is_some_and(|cache| cache.keeps_read)
            && let Some(buffer) = self.buffer.as_mut()
        {
            buffer.consume(found, end);
        }
        last_byte
    }

    /// Has the read-ahead of segment `found` go on to `limit` from where it had stopped, if the arm still stands there.
    fn top_up(&mut self, found: usize, limit: u64, now: u64) {
        let Some(buffer) = self.buffer.as_ref() else { return };
        let from = buffer.segment(found).end;
        if limit <= from || self.mechanics.arm.free_at > now {
            return;
        }
        let place = self.mechanics.layout.place(from);
        if place.cylinder.abs_diff(self.mechanics.arm.cylinder) > 1 {
            return;
        }
        let on_track = now + self.mechanics.travel(place, Access::Read);
        let since = on_track + self.mechanics.rotation(place.clock, on_track);
        let least = self.mechanics.layout.least(limit - from);
        self.ahead = Some(Ahead { segment: found, since, clock: place.clock, limit, least });
    }

    /// Where a read-ahead behind `first..end` ends by the drive's policy; at `end` where there is none. `streams` says
    /// whether the read goes on where one before it ended.
    fn limit(&self, first: u64, end: u64, streams: bool) -> u64 {
        let Some(cache) = &self.params.cache else { return end };
        let next_track = || self.mechanics.layout.track_end(self.mechanics.layout.track_end(end - 1));
        let policy = match cache.continuous_read {
            ContinuousRead::None => end,
            ContinuousRead::Track => self.mechanics.layout.track_end(end - 1),
            ContinuousRead::Cylinder => self.mechanics.layout.cylinder_end(end - 1),
            ContinuousRead::Segment if cache.keeps_read => (first + cache.segment.0).max(end),
            ContinuousRead::NextTrack => next_track(),
            ContinuousRead::Stream if streams => next_track(),
            ContinuousRead::Stream => end,
            ContinuousRead::Segment | ContinuousRead::Bounded => u64::MAX,
        };
        let most = policy.min(end + cache.read_ahead.0);
        most.max(end + cache.read_ahead_least.0).min(self.params.capacity.0)
    }

    /// Keeps what was read from the media at `place`, and starts the read-ahead that follows.
    fn read_on(&mut self, first: u64, end: u64, media: &Media, place: SectorPosition, streams: bool) {
        let limit = self.limit(first, end, streams);
        let (Some(cache), Some(buffer)) = (self.params.cache, self.buffer.as_mut()) else { return };
        let segment = match buffer.find(first) {
            Some(found) if buffer.segment(found).end == first => {
                buffer.extend(found, end);
                buffer.touch(found);
                found
            }
            _ => buffer.replace(first, end),
        };
        if !cache.keeps_read {
            buffer.consume(segment, end);
        }
        if cache.free_blocks {
            // Across a zone's edge the clock that it waited by may reach as far as its place: then nothing has passed.
            let waited_from = self.mechanics.layout.reach(place.clock.saturating_sub(media.waited));
            let passed = self.mechanics.layout.reach(place.clock).saturating_sub(waited_from);
            let before = passed.min(self.mechanics.layout.on_track(place));
            buffer.extend_down(segment, first - before);
        }
        if limit > end {
            let least = self.mechanics.layout.least(limit - first);
            self.ahead = Some(Ahead { segment, since: media.first, clock: place.clock, limit, least });
        }
    }

    fn write(&mut self, entry: &Entry, started: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        self.settle_ahead(started, first);
        let policy = self.params.cache.map_or(FastWrite::None, |cache| cache.fast_write);
        let buffered = policy != FastWrite::None && sectors <= self.dirty_limit;
        let appends = self.last_write_end == first && self.written_until_or_dirty() > started;
        let is_hit = buffered && (policy == FastWrite::All || appends);
        let overhead = self.params.overhead;
        let detached = overhead
            .detached_write
            .filter(|_| !buffered && self.last_was_write && self.last_write_end != first);
        let command = match detached {
            Some(detached) => detached.command.get(),
            None => self.overhead(if is_hit { overhead.write_hit } else { overhead.write_miss }),
        };
        let processed = self.processed(entry, started, command);
        // A write takes a segment, perhaps the one being filled: the read-ahead ends first.
        self.ahead = self.stop_ahead(processed);
        self.last_write_end = end;
        if let Some(buffer) = self.buffer.as_mut() {
            buffer.write(first, end);
        }
        if buffered {
            return self.write_to_buffer(first, sectors, processed + overhead.data.get());
        }
        let [seek, data, reselect] = match detached {
            Some(detached) => [detached.seek, detached.data, detached.reselect],
            None => [Nanos::ZERO, Nanos::ZERO, overhead.reselect],
        };
        let data_from = processed + data.get() + overhead.data.get();
        let transferred = data_from + self.sector_ns * sectors;
        let write_after = self.params.cache.map_or(0.0, |cache| cache.write_after.get());
        let gathered = data_from + truncated::<u64>(write_after * (self.sector_ns * sectors) as f64);
        let access = Access::Write { least: overhead.least_write_seek.get(), gathered };
        let media = self.move_to(entry.place, first, sectors, processed + seek.get(), access);
        self.steps = media.steps(processed);
        media.end.max(transferred) + reselect.get()
    }

    /// Until when the media is busy with writes that were acknowledged; for ever while some wait.
    fn written_until_or_dirty(&self) -> u64 {
        if self.dirty.is_empty() { self.written_until } else { u64::MAX }
    }

    /// Takes a write into the buffer, once there is room for it.
    fn write_to_buffer(&mut self, first: u64, sectors: u64, processed: u64) -> u64 {
        let mut begin = processed;
        while self.dirty_sectors + sectors > self.dirty_limit {
            self.destage_one(begin);
            begin = begin.max(self.mechanics.arm.free_at);
        }
        self.steps = at_once(processed, begin);
        self.hold(first, sectors, begin);
        begin + sectors * self.sector_ns
    }

    /// Has sectors in the buffer, from `ready_at` on, that are to be written to the media.
    fn hold(&mut self, first: u64, sectors: u64, ready_at: u64) {
        match self.dirty.back_mut().filter(|last| last.first + last.sectors == first) {
            Some(last) => last.sectors += sectors,
            None => self.dirty.push_back(Extent { first, sectors, ready_at }),
        }
        self.dirty_sectors += sectors;
        debug_assert!(self.dirty_sectors <= self.dirty_limit, "no more may be held than there is room for");
    }

    /// Carries out the destages that began before `now`, while the drive had nothing else to do.
    fn destage_until(&mut self, now: u64) {
        let patience = self.params.cache.map_or(Nanos::ZERO, |cache| cache.write_after_idle).get();
        while let Some(oldest) = self.dirty.front() {
            let waits = patience > 0 && self.dirty_sectors * 2 < self.dirty_limit;
            let from = if waits { self.quiet_since + patience } else { 0 };
            let begin = self.mechanics.arm.free_at.max(oldest.ready_at).max(from);
            if begin >= now {
                break;
            }
            self.destage_one(begin);
        }
    }

    fn destage_one(&mut self, begin: u64) {
        let begin = begin.max(self.mechanics.arm.free_at);
        let nearest = (0..self.dirty.len().min(DESTAGE_WINDOW)).min_by_key(|&index| {
            let place = self.mechanics.layout.place(self.dirty[index].first);
            let travel = self.mechanics.travel(place, Access::DESTAGE);
            travel + self.mechanics.rotation(place.clock, begin + travel)
        });
        let Some(extent) = nearest.and_then(|index| self.dirty.remove(index)) else { return };
        self.dirty_sectors -= extent.sectors;
        let place = self.mechanics.layout.place(extent.first);
        let media =
            self.move_to(place, extent.first, extent.sectors, begin.max(extent.ready_at), Access::DESTAGE);
        self.written_until = media.end;
    }

    /// Moves the arm to `place` from `begin` or when it is free, waits for the angle, and passes over `sectors`.
    fn move_to(
        &mut self,
        place: SectorPosition,
        first: u64,
        sectors: u64,
        begin: u64,
        access: Access,
    ) -> Media {
        let begin = begin.max(self.mechanics.arm.free_at);
        self.ahead = self.stop_ahead(begin);
        self.mechanics.pass(place, first, sectors, begin, access)
    }

    /// Books what the read-ahead has fetched by `now`, and ends it where it has reached its limit. What a command at
    /// `first` cannot ask for is booked when the read-ahead stops.
    fn settle_ahead(&mut self, now: u64, first: u64) {
        let Some(ahead) = self.ahead else { return };
        if now <= ahead.since {
            return;
        }
        let passed = now - ahead.since;
        let clock = ahead.clock + passed;
        if passed >= ahead.least && clock >= self.mechanics.layout.end_clock(ahead.limit - 1, 1) {
            self.ahead = None;
            self.ahead_got_to_limit(ahead);
        } else if let Some(buffer) = &self.buffer {
            // What it has passed is in the buffer, so that a stream that leaves sectors out is answered too.
            if (buffer.segment(ahead.segment).start..=ahead.limit).contains(&first) {
                self.fill_to(ahead.segment, self.mechanics.layout.reach(clock));
            }
        }
    }

    /// Stops the read-ahead at `now`; always `None`, the state that follows.
    fn stop_ahead(&mut self, now: u64) -> Option<Ahead> {
        let ahead = self.ahead?;
        let (reached, cylinder, head) =
            self.mechanics.layout.reach_at(ahead.clock + now.saturating_sub(ahead.since));
        if reached > ahead.limit {
            self.ahead_got_to_limit(ahead);
        } else {
            self.fill_to(ahead.segment, reached);
            (self.mechanics.arm.cylinder, self.mechanics.arm.head) = (cylinder, head);
        }
        None
    }

    fn ahead_got_to_limit(&mut self, ahead: Ahead) {
        self.fill_to(ahead.segment, ahead.limit);
        let last = self.mechanics.layout.place(ahead.limit - 1);
        (self.mechanics.arm.cylinder, self.mechanics.arm.head) = (last.cylinder, last.head);
    }

    /// Books what a read-ahead has brought into a segment. It may have been given away since: only one that still ends in
    /// this stream grows.
    fn fill_to(&mut self, segment: usize, reached: u64) {
        let Some(buffer) = self.buffer.as_mut() else { return };
        let held = buffer.segment(segment);
        if held.start <= reached && held.end < reached {
            buffer.extend(segment, reached);
        }
    }

    /// Takes the next command by the drive's rule, the arm being free from `ready`.
    fn choose(&mut self, ready: u64, now: u64) -> Entry {
        let ordered = if self.ordered { self.waiting.first_of(Class::Background) } else { u64::MAX };
        let index = match self.waiting.overdue(now) {
            Some(index) => index,
            None if ordered < u64::MAX => self.waiting.least(|entry| match entry.arrived.cmp(&ordered) {
                std::cmp::Ordering::Less => self.cost(entry, ready),
                std::cmp::Ordering::Equal => u64::MAX - 1,
                std::cmp::Ordering::Greater => u64::MAX,
            }),
            None => self.waiting.least(|entry| self.cost(entry, ready)),
        };
        self.waiting.take(index)
    }

    /// What the drive's rule goes by: the least is served next.
    fn cost(&self, entry: &Entry, ready: u64) -> u64 {
        match self.params.queue.order {
            Order::Fcfs => entry.arrived,
            Order::CLook => {
                // The lowest cylinder not below the arm's, or the lowest of all.
                let wrapped = entry.place.cylinder < self.mechanics.arm.cylinder;
                u64::from(wrapped) << 62
                    | u64::from(entry.place.cylinder) << 24
                    | entry.command.first & 0xff_ffff
            }
            Order::Sstf => u64::from(entry.place.cylinder.abs_diff(self.mechanics.arm.cylinder)),
            Order::Sptf => self.positioning(entry, ready),
        }
    }

    fn positioning(&self, entry: &Entry, ready: u64) -> u64 {
        let access = if entry.command.write { Access::DESTAGE } else { Access::Read };
        let travel = self.mechanics.travel(entry.place, access);
        travel + self.mechanics.rotation(entry.place.clock, ready + travel)
    }
}

/// The steps of a command that the buffer answers, with room for it at `free`.
fn at_once(processed: u64, free: u64) -> Steps {
    let [processed, free] = [processed, free].map(Instant::from_nanos);
    Steps { processed, free, on_track: free, on_sector: free }
}
