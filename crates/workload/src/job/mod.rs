//! The job: one worker's share of a workload, as a state machine.
//!
//! It plans requests and takes their completions; whoever drives it has the clock, the storage and the thread. What is
//! asked, of blocks or of names, comes from its [`RequestSource`]; when, how many at a time and what came of it is the
//! same for all. One brain, two drivers.
//!
//! **Invariants:** the stream of requests depends on the specification alone, not on how or when requests end.
//! Nothing is allocated for a request after the start; a closed interval, once a second, is. Planned equals
//! completed plus in flight.

mod blocks;
mod due;
mod follow;
mod going_on;
mod journal;
mod lateness;
mod service;
mod slots;
mod source;
mod spec;
mod statistics;
mod together;
mod zoned;

use std::sync::Arc;

use units::convert::narrow;
use units::{Bytes, Instant};

use self::going_on::GoingOn;
use self::journal::Journal;
use self::lateness::Lateness;
use self::slots::{Slot, Slots};
use self::statistics::Statistics;
use crate::backlog::Backlog;
use crate::flow::Member;
use crate::pace::Pacer;
use crate::rewrites::Rewrites;
use crate::seam::IoRequest;
use crate::tally::{Class, ErrorSample, Failure, Interval, Tally};
use crate::window::Window;
use crate::{Completion, Op, Token, Wake};

pub use self::blocks::BlockRequests;
pub use self::journal::Logged;
pub use self::source::{JobOptions, Next, RequestSource};
pub use self::spec::{FileMap, JobSpec};

/// Failed requests that are kept with their offset and error number.
const ERROR_SAMPLES_MAX: usize = 16;

/// A job that has seen so many failures gives up: the target is gone, and more of them say nothing new.
pub const ERRORS_MAX: u64 = 1000;

/// Counts so far, cheap to copy out after each batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed without an error.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u32,
}

impl std::iter::Sum for Progress {
    fn sum<I: Iterator<Item = Progress>>(all: I) -> Progress {
        all.fold(Progress::default(), |sum, one| Progress {
            ops: sum.ops + one.ops,
            bytes: sum.bytes + one.bytes,
            errors: sum.errors + one.errors,
            in_flight: sum.in_flight + one.in_flight,
        })
    }
}

/// One worker's share of a workload.
#[derive(Debug)]
pub struct Job<S: RequestSource = BlockRequests> {
    spec: S::Spec,
    source: S,
    /// What waits for a slot, where requests are looked through for those that write.
    drawn: Option<Next<S::Request>>,
    /// The slot of a request that waits for its zone, and when it was due.
    waiting: Option<(Instant, Token)>,
    options: JobOptions,
    /// Whether requests may be held back or followed by others: most workloads do not pay for it.
    is_particular: bool,
    rewrites: Option<Rewrites<S::Request>>,
    backlog: Option<Backlog<S::Request>>,
    going_on: GoingOn,
    slots: Slots<S::Request>,
    statistics: Statistics,
    together: together::Counter,
    ops_left: u64,
    bytes_left: u64,
    writes_since_flush: u32,
    stopped: bool,
    planned: u64,
    completed: u64,
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

impl<S: RequestSource> Job<S> {
    /// A job ready to start. The specification comes from [`crate::compile`] or [`crate::tree::compile_tree`], which have
    /// checked it.
    pub fn new(spec: S::Spec) -> Job<S> {
        let (source, options) = S::new(&spec);
        assert!(options.depth > 0 && options.submit_batch > 0, "a job may have a request in flight");
        assert!(options.complete_batch > 0, "who waits for requests waits for one at least");
        let mut job = Job {
            is_particular: options.is_particular(),
            rewrites: Rewrites::new(options.rewrites, options.depth),
            backlog: options.sequence.read_back.map(Backlog::new),
            going_on: GoingOn::default(),
            slots: Slots::new(options.depth),
            statistics: Statistics::new(&options),
            together: together::Counter::default(),
            lateness: options.pacer.is_scheduled().then(Lateness::new),
            ops_left: options.ops.unwrap_or(u64::MAX),
            bytes_left: options.bytes.map_or(u64::MAX, Bytes::get),
            writes_since_flush: 0,
            stopped: false,
            planned: 0,
            completed: 0,
            errors: 0,
            moved: 0,
            dropped: 0,
            not_issued: 0,
            last_finish: Instant::START,
            digest: 0,
            error_samples: Vec::with_capacity(ERROR_SAMPLES_MAX),
            journal: None,
            drawn: None,
            waiting: None,
            source,
            options,
            spec,
        };
        job.going_on.counts_anew = job.options.ops_after_warmup;
        job.share_warm_up(&Arc::default());
        job.share_wear_out(&Arc::default());
        job
    }

    /// The specification it was made from.
    pub fn spec(&self) -> &S::Spec {
        &self.spec
    }

    /// How it asks.
    pub fn options(&self) -> &JobOptions {
        &self.options
    }

    /// Keeps each request, as one of that worker's, until [`Job::take_logged`] takes it. Call before the start.
    pub fn keep_journal(&mut self, worker: u32) {
        self.is_particular = true;
        self.journal = Some(Journal::new(worker, self.options.depth));
    }

    /// Fixes the window and the schedule to the world's clock. Call once, before the first `plan`.
    pub fn start(&mut self, now: Instant) {
        assert_eq!(self.planned, 0, "a job starts before its first request");
        let now = now.saturating_add(self.options.start);
        self.going_on.begins = now;
        self.statistics.start(now, &self.options);
        self.options.pacer.start(now);
        let Window { begun, from, .. } = self.statistics.window;
        self.last_finish = if self.going_on.warm_up.is_some() { begun } else { from };
    }

    /// Appends every request due at `now` for which a slot is free, at most a batch of them.
    #[inline]
    pub fn plan(&mut self, now: Instant, out: &mut Vec<S::Request>) -> Wake {
        if self.is_particular {
            self.looks_at_warm_up(now);
        }
        self.statistics.count_in_flight(now, self.in_flight());
        let before = out.len();
        let wake = self.plan_batch(now, out);
        if wake == Wake::Done {
            // Others may wait for its end.
            (self.going_on.member, self.going_on.wearing) = (None, None);
        }
        debug_assert!(
            out.len() - before <= self.options.submit_batch as usize,
            "no more requests are handed over in one call than `submit_batch`"
        );
        let issued = (out.len() - before) as u64;
        let in_flight = self.planned - self.completed;
        self.together.planned(now, &self.statistics.window, issued, in_flight, self.completed);
        if let Some(journal) = &mut self.journal {
            journal.issued(now, &out[before..]);
        }
        wake
    }

    /// Takes one completion. Response counts from the due instant, service from the issue.
    #[inline]
    pub fn complete(&mut self, done: Completion) {
        let Completion { token, outcome, finished_at } = done;
        if self.is_particular {
            self.looks_at_warm_up(finished_at);
        }
        if finished_at >= self.statistics.window.edge {
            let in_flight = self.slots.in_flight().take(self.in_flight() as usize);
            self.statistics.roll(self.last_finish, finished_at, in_flight);
        }
        self.statistics.count_ended(finished_at, self.in_flight());
        let ended = self.slots.end(token);
        let Slot { due, issued, class, ref request } = ended;
        self.completed += 1;
        self.last_finish = finished_at;
        let len = request.bytes();
        debug_assert!(due <= issued, "no request is issued before it is due");
        debug_assert!(issued <= finished_at, "no request ends before it is issued");
        debug_assert!(self.completed <= self.planned, "no request is completed that was not planned");
        let went_well = outcome.result() == Ok(len);
        if went_well {
            self.moved += u64::from(len);
            self.statistics.record(class, len, due, issued, finished_at);
            if let Some(warm_up) = &self.going_on.warm_up {
                warm_up.moved(len, finished_at);
                self.looks_at_warm_up(finished_at);
            }
        } else {
            self.fail(done, &ended);
        }
        if self.is_particular && self.is_followed(finished_at, &ended, went_well) {
            return;
        }
        match &mut self.options.pacer {
            Pacer::Think { delay, resting } => {
                let ready = finished_at.saturating_add(*delay);
                debug_assert!(
                    resting.back().is_none_or(|(last, _)| *last <= ready),
                    "slots rest in the order of time"
                );
                resting.push_back((ready, token));
            }
            _ => self.slots.free.push(token),
        }
    }

    /// The class of the request in slot `token` and when it was due, if it is measured when it ends well at
    /// `finished_at`. Ask before it is completed.
    pub fn measures(&self, token: Token, finished_at: Instant) -> Option<(Class, Instant)> {
        let Slot { due, class, .. } = *self.slots.at(token)?;
        let is_measured = self.statistics.window.measures(due, finished_at);
        is_measured.then(|| (self.statistics.described(class), due))
    }

    /// Plans nothing more; the job is done once what is in flight has ended.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Counts so far.
    pub fn progress(&self) -> Progress {
        Progress {
            ops: self.completed - self.errors,
            bytes: self.moved,
            errors: self.errors,
            in_flight: self.in_flight(),
        }
    }

    fn in_flight(&self) -> u32 {
        narrow::<u32>(self.planned - self.completed)
    }

    /// Whether a closed interval waits to be taken.
    pub fn has_interval(&self) -> bool {
        !self.statistics.intervals.is_empty()
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
        std::mem::take(&mut self.statistics.intervals)
    }

    /// All that the job saw. Call when it is done; a window without a set end ends with the last completion.
    pub fn into_tally(mut self) -> Tally {
        assert!(self.completed <= self.planned, "what was completed was planned");
        assert!(self.errors <= self.completed, "what failed was completed");
        assert!(self.error_samples.len() <= ERROR_SAMPLES_MAX, "of failures only the first are kept");
        self.accounts_for_slots();
        let ended_early = self.has_ended() && self.last_finish < self.statistics.window.from;
        if self.going_on.warm_up.is_some() || ended_early {
            // It ended before its warm-up, and its window is empty.
            self.statistics.open(self.last_finish, &self.options, std::iter::empty());
        }
        self.statistics.end(self.last_finish, self.has_ended() || self.options.measures_last_flush);
        self.statistics.accounts_for(self.completed - self.errors, self.not_issued);
        Tally {
            logged: self.take_logged(),
            intervals: std::mem::take(&mut self.statistics.intervals),
            begun: self.statistics.window.begun,
            measured_from: self.statistics.window.from,
            measured_until: self.statistics.window.until,
            planned: self.planned,
            completed: self.completed,
            in_flight_ns: self.statistics.in_flight_ns,
            together: self.together.into_counts(),
            edges: self.statistics.edges,
            gaps: std::mem::take(&mut self.statistics.gaps),
            classes: self.statistics.into_classes(),
            digest: self.digest,
            dropped: self.dropped,
            not_issued: self.not_issued,
            errors: self.errors,
            error_samples: self.error_samples,
            late: self.lateness.map(Lateness::into_histogram),
            gave_up: self.errors >= ERRORS_MAX,
            zone_resets: self.source.zone_resets(),
        }
    }

    /// That each slot is free, holds a request, rests behind one, or waits for a place or for the write that follows.
    fn accounts_for_slots(&self) {
        let in_flight = self.slots.in_flight().count();
        assert_eq!(
            in_flight,
            self.in_flight() as usize,
            "what was planned has been completed, or holds a slot"
        );
        let resting = if let Pacer::Think { resting, .. } = &self.options.pacer { resting.len() } else { 0 };
        let due = self.rewrites.as_ref().map_or(0, Rewrites::len);
        let idle = self.slots.free.len() + resting + due + usize::from(self.waiting.is_some());
        assert_eq!(idle + in_flight, self.options.depth as usize, "a slot was lost, or is there twice");
    }

    /// Whether nothing more is asked for, whatever the time.
    #[inline]
    fn has_ended(&self) -> bool {
        self.stopped || (self.ops_left == 0 || self.bytes_left == 0) && self.drawn.is_none()
    }

    #[inline]
    fn is_over(&self, now: Instant) -> bool {
        let load_end = self.statistics.load_end;
        self.has_ended() || (now >= load_end && !self.options.pacer.is_due_before(load_end))
    }

    /// Asks for what belongs to the end of the load.
    #[cold]
    fn wind_up(&mut self, now: Instant, out: &mut Vec<S::Request>) -> Wake {
        // What has found no place by now needs its slot no longer.
        self.slots.free.extend(self.waiting.take().map(|(_, token)| token));
        if let Some(wake) = self.read_back_rest(now, out) {
            return wake;
        }
        out.extend(self.last_flush(now));
        self.drain()
    }

    fn drain(&self) -> Wake {
        if self.in_flight() == 0 { Wake::Done } else { Wake::OnCompletion }
    }

    #[inline]
    fn plan_batch(&mut self, now: Instant, out: &mut Vec<S::Request>) -> Wake {
        self.looks_at_schedule(now);
        let mut left = self.options.submit_batch;
        if self.is_particular {
            if self.options.with_others && self.going_on.member.as_ref().is_none_or(Member::is_alone) {
                self.stop();
            }
            if now < self.going_on.begins && !self.stopped {
                return Wake::At(self.going_on.begins);
            }
            if let Some(wake) = self.wears_out(now) {
                return wake;
            }
            left -= self.plan_rewrites(now, out);
            if left == 0 {
                return Wake::Again;
            }
        }
        for _ in 0..left {
            if self.is_over(now) {
                return self.wind_up(now, out);
            }
            if self.is_particular {
                if let Some(request) = self.next_read_back(now) {
                    out.push(request);
                    continue;
                }
                if let Some(wake) = self.held_back(now) {
                    return wake;
                }
                if self.options.sequence.reread && !self.finds_write() {
                    return self.wind_up(now, out);
                }
            }
            let (mut due, token) = match self.waiting.take().map_or_else(|| self.next_slot(now), Ok) {
                Ok(found) => found,
                Err(wake) => return wake,
            };
            if self.is_particular {
                if self.options.is_zoned {
                    due = match self.find_place(now, (due, token)) {
                        Ok(due) => due,
                        Err(Some(wake)) => return wake,
                        Err(None) => return self.wind_up(now, out),
                    };
                }
                self.goes_ahead();
            }
            let request = self.next_request(due, now, token);
            out.push(request);
        }
        if self.is_over(now) && self.backlog.is_none() {
            return self.drain();
        }
        self.wake_after_batch(now)
    }

    #[inline]
    fn next_request(&mut self, due: Instant, now: Instant, token: Token) -> S::Request {
        if self.flush_is_due() {
            self.writes_since_flush = 0;
            let (flush, class) = self.source.flush();
            let request = self.issue(due, now, flush.in_slot(token), class);
            self.digest = request.fold(self.digest);
            return request;
        }
        let Next { request, class, .. } = match self.drawn.take() {
            Some(drawn) => drawn,
            None => self.draw(),
        };
        let request = request.in_slot(token);
        self.writes_since_flush += u32::from(request.action() == Op::Write);
        self.digest = request.fold(self.digest);
        if self.rewrites.is_some() {
            self.decide_rewrite(&request, class);
        }
        self.issue(due, now, request, class)
    }

    #[inline]
    fn flush_is_due(&self) -> bool {
        self.options.flush_every.is_some_and(|every| self.writes_since_flush >= every)
    }

    #[inline]
    fn draw(&mut self) -> Next<S::Request> {
        self.ops_left -= 1;
        let next = self.source.next();
        let len = next.request.bytes();
        self.options.pacer.drew(len, next.pause);
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(len));
        next
    }

    /// Draws on to a request that writes, and keeps the read of its block; `false` where none is left.
    fn finds_write(&mut self) -> bool {
        while self.drawn.is_none() {
            if self.has_ended() {
                return false;
            }
            let next = self.draw();
            let read = self.source.read_back(&next.request, next.class);
            self.drawn = read.map(|(request, class)| Next { request, class, ..next });
        }
        true
    }

    /// Gives a request its slot.
    #[inline]
    fn issue(&mut self, due: Instant, now: Instant, request: S::Request, class: u16) -> S::Request {
        debug_assert!(self.in_flight() < self.options.depth, "no more are in flight than the depth");
        self.planned += 1;
        self.slots.put(request.token(), Slot { due, issued: now, request, class });
        request
    }

    #[cold]
    fn fail(&mut self, done: Completion, ended: &Slot<S::Request>) {
        let failure = match done.outcome.result() {
            Ok(moved) => Failure::Short { moved },
            Err(errno) => errno.into(),
        };
        self.errors += 1;
        self.statistics.record_failed(ended.issued, done.finished_at);
        if self.error_samples.len() < ERROR_SAMPLES_MAX {
            let request = &ended.request;
            self.error_samples.push(ErrorSample {
                at: done.finished_at,
                op: request.action(),
                file: request.file(),
                offset: request.offset(),
                len: request.bytes(),
                failure,
            });
        }
        self.stopped |= self.errors >= ERRORS_MAX;
    }
}
