//! The drive at work: arm, surface, buffer and waiting commands.
//!
//! **Invariant:** at most one command is in service; its end is known when it starts.
//! **Invariant:** the arm is where the last media operation or the read-ahead left it; nothing moves it silently.

use std::collections::VecDeque;

use units::convert::truncated;
use units::{Instant, Nanos, Sectors};

use super::buffer::Buffer;
use super::layout::{Layout, SectorPosition};
use super::seek::SeekTable;
use super::waiting::{Entry, Waiting};
use super::{AfterRw, Order, RotatingParams};
use crate::device::{Command, Finished, Steps};
use crate::divisor::Divisor;
use crate::meter::{Class, Meter};

/// Dirty extents from which the drive chooses the one it reaches first.
///
/// Not the number of its tags: what is acknowledged waits in the buffer, which holds thousands of small writes. Twice
/// as many would write 5 % faster.
const DESTAGE_WINDOW: usize = 128;

/// A disk drive.
#[derive(Clone, Debug)]
pub struct Drive {
    revolution: Divisor,
    /// How far the spindle is ahead of one that was at angle zero when the world began.
    phase: u64,
    write_settle: u64,
    head_switch: u32,
    sector_ns: u64,
    params: RotatingParams,
    seek: SeekTable,
    layout: Layout,
    buffer: Option<Buffer>,
    arm: Arm,
    ahead: Option<Ahead>,
    dirty: VecDeque<Extent>,
    dirty_sectors: u64,
    dirty_limit: u64,
    /// When the last of what left the buffer is on the media.
    written_until: u64,
    last_was_write: bool,
    /// Where the last read ended, and how many contiguous ones it ended.
    last_read_end: u64,
    contiguous: u32,
    waiting: Waiting,
    /// Whether background work comes with ordered tags: what came before it goes first, what came after it waits.
    ordered: bool,
    serving: Option<Serving>,
    /// Of the command whose end was computed last.
    steps: Steps,
    meter: Meter,
}

/// Where the arm is, and from when it is free.
#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    cylinder: u32,
    head: u32,
    free_at: u64,
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

/// A media operation: when the arm was free for it and on its track, and when it starts and ends.
struct Media {
    free: u64,
    on_track: u64,
    start: u64,
    end: u64,
}

impl Drive {
    /// A drive at rest with an empty buffer and its arm at the first cylinder.
    pub fn new(params: &RotatingParams) -> Drive {
        let revolution = params.revolution();
        let seek = SeekTable::new(&params.seek, params.cylinders);
        let layout = Layout::new(params, revolution, &seek);
        let write_sectors = params.cache.map_or(0, |cache| u64::from(cache.write_segments) * cache.segment.0);
        Drive {
            revolution: Divisor::new(revolution.get().max(1)),
            phase: 0,
            write_settle: params.write_settle.get(),
            head_switch: u32::try_from(params.head_switch.get()).unwrap_or(u32::MAX),
            sector_ns: params.link.time_for(Sectors(1).bytes()).get(),
            buffer: params.cache.map(|cache| Buffer::new(&cache)),
            arm: Arm::default(),
            ahead: None,
            dirty: VecDeque::new(),
            dirty_sectors: 0,
            dirty_limit: write_sectors,
            written_until: 0,
            last_was_write: false,
            last_read_end: u64::MAX,
            contiguous: 0,
            waiting: Waiting::new(params.queue.window, params.queue.age_limit),
            ordered: false,
            serving: None,
            steps: Steps::default(),
            meter: Meter::default(),
            params: params.clone(),
            seek,
            layout,
        }
    }

    /// The same drive, its spindle ahead by a share of a revolution.
    pub fn ahead_by(mut self, share: f64) -> Drive {
        self.phase = self.revolution.divide(truncated::<u64>(share * self.revolution.get() as f64)).1;
        self
    }

    /// Takes a command; where the drive was idle, the instant at which the command will end.
    pub fn submit(&mut self, now: Instant, command: Command) -> Option<Instant> {
        self.meter.arrive(now);
        let place = self.layout.place(command.first);
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
        (Finished { command, arrived, started, steps }, self.start_next(now.nanos()))
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
        self.last_read_end = u64::MAX;
        self.contiguous = 0;
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
        self.layout.place(sector).cylinder.abs_diff(self.arm.cylinder)
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
        let entry = self.choose(ready.max(self.arm.free_at), now);
        Some(self.start(&entry, ready, now))
    }

    /// From when the next command may be carried out that starts `now`, the drive having written meanwhile what it could.
    ///
    /// With overlap the arm is free to move on from the end of the media operation, while the last bytes and the status
    /// of the command before still travel.
    fn ready(&mut self, now: u64) -> u64 {
        self.destage_until(now);
        if self.params.queue.overlap { self.arm.free_at.min(now) } else { now }
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
        let overhead = &self.params.overhead;
        let completion = overhead.completion.get();
        let end = if entry.command.write { self.write(entry, started) } else { self.read(entry, started) };
        (end + completion).max(now)
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
        self.contiguous = if first == self.last_read_end { self.contiguous + 1 } else { 0 };
        self.last_read_end = end;
        self.settle_ahead(started, first);
        let known = self.buffer.as_ref().and_then(|buffer| buffer.find(first));
        if let Some(found) = self.held(known, first, end, started) {
            let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_hit));
            self.steps = at_once(processed, processed);
            return self.read_hit(found, entry, processed);
        }
        let processed = self.processed(entry, started, self.overhead(self.params.overhead.read_miss));
        if let Some(found) = known.filter(|&known| self.begins_in(known, first)) {
            return self.read_rest(found, first, end, processed);
        }
        let media = self.move_to(entry.place, first, sectors, processed, false);
        self.steps = media.steps(processed);
        self.read_on(first, end, media.start, entry.place.clock);
        self.delivered(media, sectors)
    }

    /// When `sectors` read from the media have crossed the drive's interface: they flow as they come, so the last
    /// one follows the head by one sector's time, or the first by all of them where the interface is slower.
    fn delivered(&self, media: Media, sectors: u64) -> u64 {
        let forward = self.params.cache.map_or(0.0, |cache| cache.forward_after.get());
        let first_out = media.start + truncated::<u64>(forward * (media.end - media.start) as f64);
        (media.end + self.sector_ns).max(first_out + self.sector_ns * sectors)
    }

    /// The segment that has, or is about to get, all of `first..end`; `known` holds its first sector or ends before it.
    fn held(&self, known: Option<usize>, first: u64, end: u64, now: u64) -> Option<usize> {
        let buffer = self.buffer.as_ref()?;
        let on_the_way = |ahead: &Ahead| buffer.segment(ahead.segment).end <= first && end <= ahead.limit;
        let found = known.or_else(|| self.ahead.filter(on_the_way).map(|ahead| ahead.segment))?;
        let segment = buffer.segment(found);
        let filling = self.ahead.filter(|ahead| ahead.segment == found && end <= ahead.limit);
        let here = end <= segment.end;
        let soon = filling.is_some_and(|ahead| {
            let almost = self.params.cache.is_some_and(|cache| cache.almost_hits);
            almost || ahead.since + (self.layout.end_clock(first, end - first) - ahead.clock) <= now
        });
        (here || soon).then_some(found)
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
        let place = self.layout.place(held);
        let media = self.move_to(place, held, end - held, processed, false);
        self.steps = media.steps(processed);
        self.read_on(held, end, media.start, place.clock);
        (media.end + self.sector_ns).max(processed + (end - first) * self.sector_ns)
    }

    fn read_hit(&mut self, found: usize, entry: &Entry, processed: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        let read_ahead = self.params.cache.map_or(0, |cache| cache.read_ahead.0);
        let buffer = self.buffer.as_mut().expect("a hit needs a buffer");
        buffer.touch(found);
        let mut last_byte = processed + sectors * self.sector_ns;
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.segment == found) {
            // The stream is being read: keep the read-ahead that far in front of it.
            ahead.limit = ahead.limit.max((end + read_ahead).min(self.params.capacity.0));
            if end > buffer.segment(found).end {
                let passed = self.layout.end(entry.place, first, sectors).clock - ahead.clock;
                last_byte = last_byte.max(ahead.since + passed + self.sector_ns);
                // From here it is not as far to the limit as from where it began.
                ahead.least = passed + self.layout.least(ahead.limit.saturating_sub(end));
                buffer.extend(found, end);
            }
        }
        if self.params.cache.is_some_and(|cache| cache.tops_up) && self.ahead.is_none() {
            self.top_up(found, end, processed);
        }
        if !self.keeps_read() {
            self.consume(found, end);
        }
        last_byte
    }

    /// Has the read-ahead of segment `found` go on from where it had stopped, if the arm still stands there.
    fn top_up(&mut self, found: usize, read_to: u64, now: u64) {
        let (Some(cache), Some(buffer)) = (self.params.cache, self.buffer.as_ref()) else { return };
        let from = buffer.segment(found).end;
        let limit = (read_to + cache.read_ahead.0).min(self.params.capacity.0);
        if limit <= from || self.arm.free_at > now {
            return;
        }
        let place = self.layout.place(from);
        if place.cylinder.abs_diff(self.arm.cylinder) > 1 {
            return;
        }
        let on_track = now + self.travel(place, false);
        let since = on_track + self.rotation(place.clock, on_track);
        let least = self.layout.least(limit - from);
        self.ahead = Some(Ahead { segment: found, since, clock: place.clock, limit, least });
    }

    fn keeps_read(&self) -> bool {
        self.params.cache.is_some_and(|cache| cache.keeps_read)
    }

    fn consume(&mut self, segment: usize, end: u64) {
        if let Some(buffer) = self.buffer.as_mut() {
            buffer.consume(segment, end);
        }
    }

    /// Starts the read-ahead that follows a read from the media.
    fn read_on(&mut self, first: u64, end: u64, since: u64, clock: u64) {
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
        let limit = (end + cache.read_ahead.0).min(self.params.capacity.0);
        if limit > end && self.contiguous >= cache.read_ahead_after {
            let least = self.layout.least(limit - first);
            self.ahead = Some(Ahead { segment, since, clock, limit, least });
        }
    }

    fn write(&mut self, entry: &Entry, started: u64) -> u64 {
        let Command { first, sectors, .. } = entry.command;
        let (sectors, end) = (u64::from(sectors), first + u64::from(sectors));
        self.settle_ahead(started, first);
        let appends = self
            .buffer
            .as_ref()
            .is_some_and(|buffer| buffer.find(first).is_some_and(|found| buffer.segment(found).end == first));
        let overhead = &self.params.overhead;
        let overhead = self.overhead(if appends { overhead.write_hit } else { overhead.write_miss });
        let processed = self.processed(entry, started, overhead);
        // A write takes a segment, perhaps the one being filled: the read-ahead ends first.
        self.ahead = self.stop_ahead(processed);
        if let Some(buffer) = self.buffer.as_mut() {
            buffer.replace(first, end);
        }
        if sectors <= self.dirty_limit && self.params.cache.is_some_and(|cache| cache.write_back) {
            return self.write_to_buffer(first, sectors, processed);
        }
        let transferred = processed + self.sector_ns * sectors;
        let media = self.move_to(entry.place, first, sectors, processed, true);
        self.steps = media.steps(processed);
        media.end.max(transferred)
    }

    /// Takes a write into the buffer, once there is room for it.
    fn write_to_buffer(&mut self, first: u64, sectors: u64, processed: u64) -> u64 {
        let mut begin = processed;
        while self.dirty_sectors + sectors > self.dirty_limit {
            self.destage_one(begin);
            begin = begin.max(self.arm.free_at);
        }
        let ready_at = begin;
        self.steps = at_once(processed, begin);
        match self.dirty.back_mut().filter(|last| last.first + last.sectors == first) {
            Some(last) => last.sectors += sectors,
            None => self.dirty.push_back(Extent { first, sectors, ready_at }),
        }
        self.dirty_sectors += sectors;
        begin + sectors * self.sector_ns
    }

    /// Carries out the destages that began before `now`, while the drive had nothing else to do.
    fn destage_until(&mut self, now: u64) {
        while let Some(oldest) = self.dirty.front() {
            let begin = self.arm.free_at.max(oldest.ready_at);
            if begin >= now {
                break;
            }
            self.destage_one(begin);
        }
    }

    fn destage_one(&mut self, begin: u64) {
        let begin = begin.max(self.arm.free_at);
        let nearest = (0..self.dirty.len().min(DESTAGE_WINDOW)).min_by_key(|&index| {
            let place = self.layout.place(self.dirty[index].first);
            let travel = self.travel(place, true);
            travel + self.rotation(place.clock, begin + travel)
        });
        let Some(extent) = nearest.and_then(|index| self.dirty.remove(index)) else { return };
        self.dirty_sectors -= extent.sectors;
        let place = self.layout.place(extent.first);
        let media = self.move_to(place, extent.first, extent.sectors, begin.max(extent.ready_at), true);
        self.written_until = media.end;
    }

    /// Moves the arm to `place` from `begin` or when it is free, waits for the angle, and passes over `sectors`.
    fn move_to(&mut self, place: SectorPosition, first: u64, sectors: u64, begin: u64, write: bool) -> Media {
        let begin = begin.max(self.arm.free_at);
        self.ahead = self.stop_ahead(begin);
        let on_track = begin + self.travel(place, write);
        let start = on_track + self.rotation(place.clock, on_track);
        let passed = self.layout.end(place, first, sectors);
        let end = start + (passed.clock - place.clock);
        self.arm = Arm { cylinder: passed.cylinder, head: passed.head, free_at: end };
        Media { free: begin, on_track, start, end }
    }

    /// Seek or head switch, and settling.
    fn travel(&self, place: SectorPosition, write: bool) -> u64 {
        let distance = place.cylinder.abs_diff(self.arm.cylinder);
        let moved = if distance == 0 {
            if place.head == self.arm.head {
                return 0;
            }
            self.head_switch
        } else {
            self.seek.nanos(distance).max(self.head_switch)
        };
        u64::from(moved) + if write { self.write_settle } else { 0 }
    }

    /// How long until the angle of stream clock `clock` passes, from `now`.
    fn rotation(&self, clock: u64, now: u64) -> u64 {
        let spindle = now + self.phase;
        match clock.checked_sub(spindle) {
            Some(until) => self.revolution.divide(until).1,
            None => self.revolution.get() - 1 - self.revolution.divide(spindle - clock - 1).1,
        }
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
        if passed >= ahead.least && clock >= self.layout.end_clock(ahead.limit - 1, 1) {
            self.ahead = None;
            self.ahead_got_to_limit(ahead);
        } else if let Some(buffer) = &self.buffer {
            // What it has passed is in the buffer, so that a stream that leaves sectors out is answered too.
            if (buffer.segment(ahead.segment).start..=ahead.limit).contains(&first) {
                self.fill_to(ahead.segment, self.layout.reach(clock));
            }
        }
    }

    /// Stops the read-ahead at `now`; always `None`, the state that follows.
    fn stop_ahead(&mut self, now: u64) -> Option<Ahead> {
        let ahead = self.ahead?;
        let (reached, cylinder, head) = self.layout.reach_at(ahead.clock + now.saturating_sub(ahead.since));
        if reached > ahead.limit {
            self.ahead_got_to_limit(ahead);
        } else {
            self.fill_to(ahead.segment, reached);
            (self.arm.cylinder, self.arm.head) = (cylinder, head);
        }
        None
    }

    fn ahead_got_to_limit(&mut self, ahead: Ahead) {
        self.fill_to(ahead.segment, ahead.limit);
        let last = self.layout.place(ahead.limit - 1);
        (self.arm.cylinder, self.arm.head) = (last.cylinder, last.head);
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
                let wrapped = entry.place.cylinder < self.arm.cylinder;
                u64::from(wrapped) << 62
                    | u64::from(entry.place.cylinder) << 24
                    | entry.command.first & 0xff_ffff
            }
            Order::Sstf => u64::from(entry.place.cylinder.abs_diff(self.arm.cylinder)),
            Order::Sptf => self.positioning(entry, ready),
        }
    }

    fn positioning(&self, entry: &Entry, ready: u64) -> u64 {
        let travel = self.travel(entry.place, entry.command.write);
        travel + self.rotation(entry.place.clock, ready + travel)
    }
}

impl Media {
    fn steps(&self, processed: u64) -> Steps {
        let [processed, free, on_track, on_sector] =
            [processed, self.free, self.on_track, self.start].map(Instant::from_nanos);
        Steps { processed, free, on_track, on_sector }
    }
}

/// The steps of a command that the buffer answers, with room for it at `free`.
fn at_once(processed: u64, free: u64) -> Steps {
    let [processed, free] = [processed, free].map(Instant::from_nanos);
    Steps { processed, free, on_track: free, on_sector: free }
}
