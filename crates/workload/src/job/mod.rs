//! The job: one worker's share of a workload, as a state machine.
//!
//! It plans requests and settles completions; whoever drives it has the clock, the storage and the thread.
//! One brain, two drivers.
//!
//! **Invariants:** the stream of requests depends on the specification alone, not on how or when requests end.
//! Nothing is allocated for a request after the start; a closed interval, once a second, is. Planned equals
//! settled plus in flight.

mod books;
mod due;
mod follow;
mod generator;
mod going_on;
mod journal;
mod lane;
mod lateness;
mod service;
mod slots;
mod spec;

use std::ops::Range;

use units::convert::narrow;
use units::{Bytes, Instant};

use self::books::Books;
use self::due::pacer;
use self::generator::{Generator, Place, What};
use self::going_on::GoingOn;
use self::journal::Journal;
use self::lane::Lane;
use self::lateness::Lateness;
use self::slots::{Slot, Slots};
use crate::lines::Drawn;
use crate::pace::Pacer;
use crate::rewrites::Rewrites;
use crate::rng::Streams;
use crate::tally::{Class, ErrorSample, Failure, Interval, Tally};
use crate::window::Window;
use crate::{Completion, Op, Request, Token, Wake};

pub use self::journal::Logged;
pub use self::spec::{FileMap, JobSpec};

/// Failed requests that are kept with their offset and error number.
const ERROR_SAMPLES_MAX: usize = 16;

/// A job that has seen so many failures gives up: the target is gone, and more of them say nothing new.
pub const ERRORS_MAX: u64 = 1000;

/// Live counts, cheap to copy out after each batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests settled without an error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u32,
}

/// One worker's share of a workload.
#[derive(Debug)]
pub struct Job {
    spec: JobSpec,
    lane: Lane,
    generator: Generator,
    rewrites: Option<Rewrites>,
    going_on: GoingOn,
    /// Files that are still to be flushed at the end.
    last_flushes: Range<u16>,
    pacer: Pacer,
    slots: Slots,
    books: Books,
    ops_left: u64,
    bytes_left: u64,
    writes_since_flush: u32,
    stopped: bool,
    planned: u64,
    settled: u64,
    errors: u64,
    moved: u64,
    dropped: u64,
    not_issued: u64,
    last_finish: Instant,
    digest: u64,
    error_samples: Vec<ErrorSample>,
    /// Of a schedule.
    lateness: Option<Lateness>,
    /// Where its requests are told one by one.
    journal: Option<Journal>,
}

impl Job {
    /// A job ready to start. The specification comes from [`crate::compile`], which has checked it.
    pub fn new(spec: JobSpec) -> Job {
        let streams = Streams::new(spec.seed);
        let own = |purpose: &str| streams.open(&format!("{purpose}/{}/{}", spec.name, spec.worker.index));
        let generator = Generator::new(&spec, streams, own);
        let pacer = pacer(&spec, generator.lines.as_ref(), own("arrival"));
        let rewrites = Rewrites::new(spec.rewrites, spec.depth);
        Job {
            lane: Lane::of(&spec, &generator, &pacer),
            generator,
            rewrites,
            going_on: GoingOn::new(&spec),
            last_flushes: if spec.flush_at_end { spec.files.numbers() } else { 0..0 },
            slots: Slots::new(spec.depth),
            books: Books::new(&spec, pacer.is_scheduled()),
            lateness: pacer.is_scheduled().then(Lateness::new),
            pacer,
            ops_left: spec.ops.unwrap_or(u64::MAX),
            bytes_left: spec.bytes.map_or(u64::MAX, Bytes::get),
            writes_since_flush: 0,
            stopped: false,
            planned: 0,
            settled: 0,
            errors: 0,
            moved: 0,
            dropped: 0,
            not_issued: 0,
            last_finish: Instant::START,
            digest: 0,
            error_samples: Vec::with_capacity(ERROR_SAMPLES_MAX),
            journal: None,
            spec,
        }
    }

    /// The specification it was made from.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Keeps each request until [`Job::take_logged`] takes it. Call before the start.
    pub fn keep_journal(&mut self) {
        // The other lanes have no branch for it.
        self.lane = Lane::Particular;
        self.journal = Some(Journal::new(self.spec.depth));
    }

    /// Fixes the window and the schedule to the world's clock. Call once, before the first `plan`.
    pub fn start(&mut self, now: Instant) {
        let now = now.saturating_add(self.spec.start);
        self.going_on.begins = now;
        self.books.start(now, &self.spec);
        self.pacer.start(now);
        self.last_finish = self.books.window.from;
    }

    /// Appends every request due at `now` for which a slot is free, at most a batch of them.
    #[inline]
    pub fn plan(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        self.books.count_in_flight(now, self.in_flight());
        match self.lane {
            Lane::Particular => self.plan_and_log(now, out),
            Lane::Scheduled => self.plan_scheduled(now, out),
            _ if self.is_over(now) => self.wind_up(now, out),
            Lane::Plain => self.plan_plain(now, out),
            Lane::Uniform(what) => self.plan_uniform(what, now, out),
        }
    }

    /// Books one completion. Response counts from the due instant, service from the issue.
    #[inline]
    pub fn settle(&mut self, done: Completion) {
        // After the window nothing changes any more, and what was due in it is still measured.
        let Window { edge, until, .. } = self.books.window;
        if matches!(self.lane, Lane::Particular) || done.finished_at >= edge.min(until) {
            return self.settle_particular(done);
        }
        self.books.count_ended(done.finished_at, self.in_flight());
        let Slot { due, issued, len, class, .. } = self.slots.end(done.token);
        self.settled += 1;
        self.last_finish = done.finished_at;
        if done.outcome.result() == Ok(len) {
            self.moved += u64::from(len);
            match self.lane {
                Lane::Scheduled => self.books.book(class, len, due, issued, done.finished_at),
                _ => self.books.record(class, done.finished_at.saturating_since(due)),
            }
        } else {
            self.fail(done, len);
        }
        self.slots.free.push(done.token);
    }

    /// The class of the request in slot `token` and when it was due, if it is measured when it ends well at
    /// `finished_at`. Ask before it is settled.
    pub fn measures(&self, token: Token, finished_at: Instant) -> Option<(Class, Instant)> {
        let Slot { due, class, .. } = self.slots.last(token);
        self.books.window.measures(due, finished_at).then(|| (self.books.described(class), due))
    }

    /// Plans nothing more; the job is done once what is in flight has ended.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Counts so far.
    pub fn progress(&self) -> Progress {
        Progress {
            ops: self.settled - self.errors,
            bytes: self.moved,
            errors: self.errors,
            in_flight: self.in_flight(),
        }
    }

    fn in_flight(&self) -> u32 {
        narrow::<u32>(self.planned - self.settled)
    }

    /// Whether a closed interval waits to be taken.
    pub fn has_interval(&self) -> bool {
        !self.books.intervals.is_empty()
    }

    /// Whether many requests of its journal wait to be taken.
    pub fn has_logged(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::is_full)
    }

    /// Takes the requests of its journal that have ended, in the order in which they were asked. Empty without one.
    pub fn take_logged(&mut self) -> Vec<Logged> {
        self.journal.as_mut().map(Journal::take).unwrap_or_default()
    }

    /// Takes the intervals closed since the last call.
    pub fn take_intervals(&mut self) -> Vec<Interval> {
        std::mem::take(&mut self.books.intervals)
    }

    /// All that the job saw. Call when it is done; a window without a set end ends with the last completion.
    pub fn into_tally(mut self) -> Tally {
        self.books.end(self.last_finish, self.has_ended() || self.spec.flush_at_end);
        Tally {
            logged: self.take_logged(),
            intervals: std::mem::take(&mut self.books.intervals),
            begun: self.books.window.begun,
            measured_from: self.books.window.from,
            measured_until: self.books.window.until,
            planned: self.planned,
            settled: self.settled,
            in_flight_ns: self.books.in_flight_ns,
            edges: self.books.edges,
            gaps: std::mem::take(&mut self.books.gaps),
            classes: self.books.into_classes(),
            digest: self.digest,
            dropped: self.dropped,
            not_issued: self.not_issued,
            errors: self.errors,
            error_samples: self.error_samples,
            late: self.lateness.map(Lateness::into_histogram),
            gave_up: self.errors >= ERRORS_MAX,
        }
    }

    /// Whether nothing more is asked for, whatever the time.
    #[inline]
    fn has_ended(&self) -> bool {
        self.stopped || self.ops_left == 0 || self.bytes_left == 0
    }

    #[inline]
    fn is_over(&self, now: Instant) -> bool {
        let load_end = self.books.load_end;
        self.has_ended() || (now >= load_end && !self.pacer.is_due_before(load_end))
    }

    /// Asks for what belongs to the end of the load.
    #[cold]
    fn wind_up(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        if let Some(wake) = self.read_back_rest(now, out) {
            return wake;
        }
        out.extend(self.last_flush(now));
        self.drain()
    }

    fn drain(&self) -> Wake {
        if self.in_flight() == 0 { Wake::Done } else { Wake::OnCompletion }
    }

    /// Plans requests of any kind, and takes them down where there is a journal.
    fn plan_and_log(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        let before = out.len();
        let wake = self.plan_particular(now, out);
        if let Some(journal) = &mut self.journal {
            journal.asked(now, &out[before..]);
        }
        wake
    }

    /// Plans requests that may be of several kinds, followed by others, or due by any pace.
    fn plan_particular(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        self.looks_at_schedule(now);
        if now < self.going_on.begins && !self.stopped {
            return Wake::At(self.going_on.begins);
        }
        let rewritten = if self.rewrites.is_some() { self.plan_rewrites(now, out) } else { 0 };
        for _ in rewritten..self.spec.submit_batch {
            if self.is_over(now) {
                return self.wind_up(now, out);
            }
            if let Some(request) = self.next_read_back(now) {
                out.push(request);
                continue;
            }
            if let Some(wake) = self.held_back(now) {
                return wake;
            }
            let (due, token) = match self.next_slot(now) {
                Ok(found) => found,
                Err(wake) => return wake,
            };
            self.goes_ahead();
            let request = self.next_request(due, now, token);
            out.push(request);
        }
        if rewritten == self.spec.submit_batch {
            return Wake::Again;
        }
        if self.is_over(now) && self.going_on.backlog.is_none() {
            return self.drain();
        }
        self.wake_after_batch(now)
    }

    /// Books one completion of any kind, at any time.
    fn settle_particular(&mut self, done: Completion) {
        if done.finished_at >= self.books.window.edge {
            self.books.roll(self.last_finish, done.finished_at, self.slots.in_flight());
        }
        self.books.count_ended(done.finished_at, self.in_flight());
        if let Some(journal) = &mut self.journal {
            journal.ended(done.token, done.finished_at);
        }
        let ended = self.slots.end(done.token);
        let Slot { due, issued, class, len, .. } = ended;
        self.settled += 1;
        self.last_finish = done.finished_at;
        let went_well = done.outcome.result() == Ok(len);
        if went_well {
            self.moved += u64::from(len);
            self.books.book(class, len, due, issued, done.finished_at);
            self.book_written(ended);
        } else {
            self.fail(done, len);
        }
        if let Some(rewrites) = &mut self.rewrites
            && rewrites.ended(done.finished_at, done.token, len, went_well)
        {
            return;
        }
        match &mut self.pacer {
            Pacer::Think { delay, resting } => {
                resting.push_back((done.finished_at.saturating_add(*delay), done.token));
            }
            _ => self.slots.free.push(done.token),
        }
    }

    fn next_request(&mut self, due: Instant, now: Instant, token: Token) -> Request {
        if self.spec.flush_every.is_some_and(|every| self.writes_since_flush >= every) {
            self.writes_since_flush = 0;
            let place = self.generator.flush_place();
            return self.booked(due, now, token, place, What::FLUSH);
        }
        self.ops_left -= 1;
        let drawn = self.drawn();
        let Drawn { op, size, len, .. } = drawn;
        let place = self.generator.place_of(&drawn);
        let request = self.asked(due, now, token, place, What { op, size, len });
        self.writes_since_flush += u32::from(op == Op::Write);
        if Some(op) == self.spec.mix.followed() {
            self.decide_rewrite(&request);
        }
        request
    }

    /// What the next request asks; the pace counts it.
    fn drawn(&mut self) -> Drawn {
        let drawn = self.generator.drawn();
        self.pacer.drew(drawn.len, drawn.pause);
        drawn
    }

    /// Takes a request that counts towards the workload's end into the digest and its slot.
    #[inline]
    fn asked(&mut self, due: Instant, now: Instant, token: Token, place: Place, what: What) -> Request {
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(what.len));
        self.booked(due, now, token, place, what)
    }

    /// Takes a request into the digest and its slot.
    #[inline]
    fn booked(&mut self, due: Instant, now: Instant, token: Token, place: Place, what: What) -> Request {
        let (Place { file, offset }, What { op, size, len }) = (place, what);
        self.digest = fold(self.digest, op, file, offset, len);
        self.planned += 1;
        let class = self.books.class(op, size);
        self.slots.put(token, Slot { due, issued: now, offset, len, file, class });
        Request { offset, len, token, file, op }
    }

    #[cold]
    fn fail(&mut self, done: Completion, len: u32) {
        let failure = match done.outcome.result() {
            Ok(moved) => Failure::Short { moved },
            Err(errno) => errno.into(),
        };
        self.errors += 1;
        let Slot { file, offset, class, issued, .. } = self.slots.last(done.token);
        self.books.book_failed(issued, done.finished_at);
        if self.error_samples.len() < ERROR_SAMPLES_MAX {
            let op = self.books.described(class).op;
            self.error_samples.push(ErrorSample { at: done.finished_at, op, file, offset, len, failure });
        }
        self.stopped |= self.errors >= ERRORS_MAX;
    }
}

/// Takes one request into the digest. Order matters; only one multiplication waits for the request before.
#[inline]
fn fold(digest: u64, op: Op, file: u16, offset: Bytes, len: u32) -> u64 {
    let what = (u64::from(len) << 32) | (u64::from(file) << 8) | op as u64;
    let request = (offset.get() ^ what.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (digest.rotate_left(29) ^ request ^ (request >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
