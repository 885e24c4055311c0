//! The job: one worker's share of a workload, as a state machine.
//!
//! It plans requests and settles completions; whoever drives it has the clock, the storage and the thread.
//! One brain, two drivers.
//!
//! **Invariants:** the stream of requests depends on the specification alone, not on how or when requests end.
//! Nothing is allocated for a request after the start; a closed interval, once a second, is. Planned equals
//! settled plus in flight.

use std::ops::Range;

use stats::Histogram;
use units::{Bytes, Instant, Nanos, Share};

use crate::address::{Addresses, Grain, Part, Region, Step};
use crate::choice::{Choice, op_weights, size_weights};
use crate::lines::{JobLine, Lines};
use crate::pace::{Bursts, Pacer};
use crate::rewrites::Rewrites;
use crate::rng::{Stream, Streams};
use crate::spec::{OpMix, Overflow, Pace, Pattern, SizeSplit};
use crate::tally::{Class, ClassInterval, ClassTally, ErrorSample, Failure, Interval, Tally};
use crate::{Completion, Op, Request, Token, Wake};

/// Failed requests that are kept with their offset and error number.
const ERROR_SAMPLES_MAX: usize = 16;

/// A job that has seen so many failures gives up: the target is gone, and more of them say nothing new.
pub const ERRORS_MAX: u64 = 1000;

/// Requests that were due before the end of the load and found no free slot are still issued after it, for so long
/// at most. A target that had stalled answers them by then; one that is asked for more than it can do never would.
pub const BACKLOG_MOST: Nanos = Nanos::from_secs(10);

/// Of those that are left then so many are booked one by one; beyond, each stands for several.
const UNSERVED_STEPS: u64 = 1_000_000;

/// How often a job closes an interval.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// A workload compiled for one worker: numbers only.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Names the random streams; the workload's name.
    pub name: String,
    /// Seeds them.
    pub seed: u64,
    /// Which of the workload's workers this is. Shares out rate and limits.
    pub worker: Part,
    /// Where requests go.
    pub pattern: Pattern,
    /// How large they are.
    pub sizes: SizeSplit,
    /// Which operations they are.
    pub mix: OpMix,
    /// Requests of several kinds, or of one kind of which some go on where the last one ended; otherwise empty.
    pub lines: Vec<JobLine>,
    /// Part of the reads that is followed by a write of the same block.
    pub rewrites: Share,
    /// Offsets are multiples of this.
    pub align: Bytes,
    /// The used part of each file, or of the joined address space.
    pub region: Region,
    /// Which of the workers that share the region this is.
    pub part: Part,
    /// How addresses map to files.
    pub files: FileMap,
    /// Requests in flight at most; at least 1.
    pub depth: u32,
    /// Requests planned at most at a time; at least 1.
    pub batch: u32,
    /// When they are due.
    pub pace: Pace,
    /// Load before the measured window.
    pub warmup: Nanos,
    /// The measured window; `None` lasts until `ops` or `bytes` are done.
    pub run: Option<Nanos>,
    /// Load after it.
    pub cooldown: Nanos,
    /// Requests of this worker, flushes by `flush_every` not counted.
    pub ops: Option<u64>,
    /// Bytes of this worker.
    pub bytes: Option<Bytes>,
    /// A flush after so many writes.
    pub flush_every: Option<u32>,
    /// A flush of each of its files after the last request; the measured window ends with it.
    pub flush_at_end: bool,
    /// Once it has done its part, whoever drives it stops all others.
    pub first_ends: bool,
}

/// How a job's addresses map to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileMap {
    /// One file, number 0.
    One,
    /// So many files from number `first`, each with the whole region, visited in turn.
    Turns {
        /// The first file's number.
        first: u16,
        /// How many.
        count: u16,
    },
    /// Files of these lengths, one after the other.
    Concatenated(Vec<Bytes>),
    /// So many files, `unit` bytes from each in turn. No request crosses a unit.
    Striped {
        /// Bytes from each.
        unit: Bytes,
        /// How many files.
        count: u16,
    },
}

impl FileMap {
    /// The numbers of the files that a worker uses.
    pub(crate) fn numbers(&self) -> Range<u16> {
        match self {
            FileMap::One => 0..1,
            FileMap::Turns { first, count } => *first..first + count,
            FileMap::Concatenated(lengths) => 0..lengths.len() as u16,
            FileMap::Striped { count, .. } => 0..*count,
        }
    }
}

impl JobSpec {
    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        self.mix.has_writes() || self.rewrites != Share::NONE
    }
}

/// Where a request goes.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: u16,
    offset: Bytes,
}

/// What a request left behind until it is settled.
#[derive(Clone, Copy, Debug)]
struct Slot {
    due: Instant,
    issued: Instant,
    offset: Bytes,
    len: u32,
    file: u16,
    class: u16,
}

impl Slot {
    /// Stands in `len` of a slot without a request; no request is so long.
    const FREE: u32 = u32::MAX;
}

/// The measured window and where time stands in it.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Instant,
    until: Instant,
    load_end: Instant,
    /// Until then what was due before `load_end` is still issued.
    backlog_end: Instant,
    interval_from: Instant,
    /// The next instant at which something changes: an interval ends, or the window does.
    edge: Instant,
}

/// The collector of one class: the interval that is open and all measured ones before it.
#[derive(Debug)]
struct Ledger {
    total: ClassTally,
    open: Histogram,
    /// Service times of the open interval, where they are kept.
    open_service: Option<Histogram>,
    /// Equal responses that followed each other and are not in `open` yet: requests that were planned and reaped
    /// together have one latency, and one record for all of them saves 3 ns each.
    run: u64,
    run_response: Nanos,
    /// Whether any line of requests asks for this class.
    possible: bool,
}

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
    addresses: Vec<Addresses>,
    turn: usize,
    ops: Choice<Op>,
    sizes: Choice<(u16, u32)>,
    /// Whether all requests are of one kind, none is followed by another, and only schedules count them.
    is_plain: bool,
    lines: Option<Lines>,
    rewrites: Option<Rewrites>,
    /// Files that are still to be flushed at the end.
    last_flushes: Range<u16>,
    pacer: Pacer,
    free: Vec<Token>,
    slots: Vec<Slot>,
    ledgers: Vec<Ledger>,
    class_base: [u16; 4],
    window: Window,
    intervals: Vec<Interval>,
    ops_left: u64,
    bytes_left: u64,
    writes_since_flush: u32,
    stopped: bool,
    planned: u64,
    settled: u64,
    errors: u64,
    moved: u64,
    dropped: u64,
    unserved: u64,
    in_flight_ns: u128,
    in_flight_since: Instant,
    last_finish: Instant,
    digest: u64,
    error_samples: Vec<ErrorSample>,
}

impl Job {
    /// A job ready to start. The specification comes from [`crate::compile`], which has checked it.
    pub fn new(spec: JobSpec) -> Job {
        let streams = Streams::new(spec.seed);
        let own = |purpose: &str| streams.open(&format!("{purpose}/{}/{}", spec.name, spec.worker.index));
        let ops = op_weights(spec.mix);
        let lines = Lines::new(&spec.lines, &spec.sizes, own);
        let pacer = pacer(&spec, lines.as_ref(), own("arrival"));
        let (ledgers, class_base) = ledgers(&spec, &ops);
        let depth = spec.depth as usize;
        let unused = Slot {
            due: Instant::NEVER,
            issued: Instant::NEVER,
            offset: Bytes::ZERO,
            len: Slot::FREE,
            file: 0,
            class: 0,
        };
        Job {
            addresses: generators(&spec, streams),
            turn: 0,
            ops: Choice::new(&ops, own("op")),
            sizes: Choice::new(&size_weights(&spec.sizes), own("size")),
            is_plain: spec.flush_every.is_none()
                && lines.is_none()
                && spec.rewrites == Share::NONE
                && !matches!(pacer, Pacer::Bursts(_) | Pacer::Capped { .. }),
            lines,
            rewrites: Rewrites::new(spec.rewrites, spec.depth, own("rewrite")),
            last_flushes: if spec.flush_at_end { spec.files.numbers() } else { 0..0 },
            pacer,
            free: (0..spec.depth).rev().map(Token).collect(),
            slots: vec![unused; depth],
            ledgers,
            class_base,
            window: Window::starting(Instant::START, &spec),
            intervals: Vec::new(),
            ops_left: spec.ops.unwrap_or(u64::MAX),
            bytes_left: spec.bytes.map_or(u64::MAX, Bytes::get),
            writes_since_flush: 0,
            stopped: false,
            planned: 0,
            settled: 0,
            errors: 0,
            moved: 0,
            dropped: 0,
            unserved: 0,
            in_flight_ns: 0,
            in_flight_since: Instant::START,
            last_finish: Instant::START,
            digest: 0,
            error_samples: Vec::with_capacity(ERROR_SAMPLES_MAX),
            spec,
        }
    }

    /// The specification it was made from.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Fixes the window and the schedule to the world's clock. Call once, before the first `plan`.
    pub fn start(&mut self, now: Instant) {
        self.window = Window::starting(now, &self.spec);
        self.pacer.start(now);
        self.in_flight_since = self.window.from;
        self.last_finish = self.window.from;
    }

    /// Appends every request due at `now` for which a slot is free, at most a batch of them.
    pub fn plan(&mut self, now: Instant, out: &mut Vec<Request>) -> Wake {
        self.count_in_flight(now);
        if now >= self.window.backlog_end && !self.stopped {
            self.abandon_backlog(now);
        }
        let rewritten = if self.rewrites.is_some() { self.plan_rewrites(now, out) } else { 0 };
        for _ in rewritten..self.spec.batch {
            if self.is_over(now) {
                if let Some(request) = self.last_flush(now) {
                    out.push(request);
                }
                return self.drain();
            }
            let (due, token) = match self.next_slot(now) {
                Ok(found) => found,
                Err(wake) => return wake,
            };
            let request = self.next_request(due, now, token);
            out.push(request);
        }
        if rewritten == self.spec.batch {
            return Wake::Again;
        }
        if self.is_over(now) {
            return self.drain();
        }
        match &self.pacer {
            Pacer::Closed if self.free.is_empty() => Wake::OnCompletion,
            _ => Wake::Again,
        }
    }

    /// Books one completion. Response counts from the due instant, service from the issue.
    #[inline]
    pub fn settle(&mut self, done: Completion) {
        if done.finished_at >= self.window.edge {
            self.roll(done.finished_at);
        }
        self.count_in_flight(done.finished_at);
        let slot = &mut self.slots[done.token.0 as usize];
        assert!(slot.len != Slot::FREE, "token {} completed twice", done.token.0);
        let (due, issued, class, len) = (slot.due, slot.issued, slot.class, slot.len);
        slot.len = Slot::FREE;
        self.settled += 1;
        self.last_finish = done.finished_at;
        let result = done.outcome.result();
        match result {
            Ok(moved) if moved == len => self.book(class, len, due, issued, done.finished_at),
            Ok(moved) => self.fail(done, len, Failure::Short { moved }),
            Err(errno) => self.fail(done, len, errno.into()),
        }
        if let Some(rewrites) = &mut self.rewrites
            && rewrites.ended(done.finished_at, done.token, len, result == Ok(len))
        {
            return;
        }
        match &mut self.pacer {
            Pacer::Think { delay, resting } => {
                resting.push_back((done.finished_at.saturating_add(*delay), done.token));
            }
            _ => self.free.push(done.token),
        }
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
        (self.planned - self.settled) as u32
    }

    /// Whether a closed interval waits to be taken.
    pub fn has_interval(&self) -> bool {
        !self.intervals.is_empty()
    }

    /// Takes the intervals closed since the last call.
    pub fn take_intervals(&mut self) -> Vec<Interval> {
        std::mem::take(&mut self.intervals)
    }

    /// All that the job saw. Call when it is done; a window without a set end ends with the last completion.
    pub fn into_tally(mut self) -> Tally {
        let ended_early =
            self.stopped || self.ops_left == 0 || self.bytes_left == 0 || self.spec.flush_at_end;
        if ended_early && self.last_finish < self.window.until {
            self.window.until = self.last_finish.max(self.window.from);
        }
        self.close_interval(self.last_finish.max(self.window.interval_from));
        Tally {
            classes: self.ledgers.into_iter().filter(Ledger::may_come).map(|ledger| ledger.total).collect(),
            intervals: self.intervals,
            measured_from: self.window.from,
            measured_until: self.window.until,
            planned: self.planned,
            settled: self.settled,
            in_flight_ns: self.in_flight_ns,
            digest: self.digest,
            dropped: self.dropped,
            unserved: self.unserved,
            errors: self.errors,
            error_samples: self.error_samples,
            gave_up: self.errors >= ERRORS_MAX,
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        let has_ended = self.stopped || self.ops_left == 0 || self.bytes_left == 0;
        has_ended || (now >= self.window.load_end && !self.pacer.is_due_before(self.window.load_end))
    }

    /// Leaves out what is due at `now`, because no slot is free, and says when the next request is due.
    #[cold]
    fn drop_due(&mut self, now: Instant) -> Wake {
        while let Some(due) = self.pacer.due_before(self.window.load_end).filter(|due| *due <= now) {
            self.dropped += u64::from(due >= self.window.from && due < self.window.until);
            self.pacer.advance();
        }
        match self.pacer.due_before(self.window.load_end) {
            Some(due) => Wake::At(due),
            None => Wake::At(self.window.load_end.max(now)),
        }
    }

    /// Books what was due before the end of the load and will not be issued any more: each response is at least the
    /// time waited until now.
    #[cold]
    fn abandon_backlog(&mut self, now: Instant) {
        let expected = self.pacer.expected_before(self.window.load_end).min(self.ops_left);
        let each = expected.div_ceil(UNSERVED_STEPS).max(1);
        while self.ops_left > 0
            && let Some(due) = self.pacer.due_before(self.window.load_end)
        {
            let count = each.min(self.ops_left);
            self.ops_left -= count;
            let (op, size_index, ..) = self.drawn();
            if due >= self.window.from && due < self.window.until {
                self.unserved += count;
                let class = usize::from(self.class_base[op as usize] + size_index);
                self.ledgers[class].total.response.record_n(now.saturating_since(due), count);
            }
            self.pacer.skip(count);
        }
    }

    /// Appends the writes that follow reads which have ended, at most a batch of them, and says how many.
    #[inline(never)]
    fn plan_rewrites(&mut self, now: Instant, out: &mut Vec<Request>) -> u32 {
        let mut count = 0;
        while count < self.spec.batch
            && let Some(request) = self.next_rewrite(now)
        {
            out.push(request);
            count += 1;
        }
        count
    }

    /// The write that follows a read which has ended, while there is load.
    fn next_rewrite(&mut self, now: Instant) -> Option<Request> {
        let may = !self.stopped && now < self.window.load_end;
        let (due, token, len) = self.rewrites.as_mut().filter(|_| may)?.pop()?;
        let slot = &mut self.slots[token.0 as usize];
        // Reads and writes have the same sizes in the same order.
        let class = self.class_base[Op::Write as usize] + slot.class - self.class_base[Op::Read as usize];
        *slot = Slot { due, issued: now, len, class, ..*slot };
        self.planned += 1;
        Some(Request { offset: slot.offset, len, token, file: slot.file, op: Op::Write })
    }

    /// The flush of the next file that has not had its last one, once nothing else is in flight.
    #[cold]
    fn last_flush(&mut self, now: Instant) -> Option<Request> {
        if self.stopped || self.in_flight() > 0 {
            return None;
        }
        let file = self.last_flushes.next()?;
        let resting = match &mut self.pacer {
            Pacer::Think { resting, .. } => resting.pop_front().map(|(_, token)| token),
            _ => None,
        };
        let unwritten = self.rewrites.as_mut().and_then(Rewrites::pop).map(|(_, token, _)| token);
        let token = self.free.pop().or(resting).or(unwritten)?;
        Some(self.booked(now, now, token, Place { file, offset: Bytes::ZERO }, (Op::Flush, 0, 0)))
    }

    fn drain(&self) -> Wake {
        if self.in_flight() == 0 { Wake::Done } else { Wake::OnCompletion }
    }

    /// The next free slot and the instant it was due, or when to ask again.
    #[inline]
    fn next_slot(&mut self, now: Instant) -> Result<(Instant, Token), Wake> {
        match &mut self.pacer {
            Pacer::Closed => match self.free.pop() {
                Some(token) => Ok((now, token)),
                None => Err(Wake::OnCompletion),
            },
            Pacer::Think { resting, .. } => match (self.free.pop(), resting.front()) {
                (Some(token), _) => Ok((now, token)),
                (None, None) => Err(Wake::OnCompletion),
                (None, Some((ready, _))) if *ready > now => Err(Wake::At((*ready).min(self.window.load_end))),
                (None, Some((ready, token))) => {
                    let found = (*ready, *token);
                    resting.pop_front();
                    Ok(found)
                }
            },
            Pacer::Capped { due, .. } if *due > now => Err(Wake::At((*due).min(self.window.load_end))),
            Pacer::Capped { .. } => match self.free.pop() {
                Some(token) => Ok((now, token)),
                None => Err(Wake::OnCompletion),
            },
            Pacer::Bursts(bursts) => {
                let in_flight = (self.planned - self.settled) as u32;
                match bursts.due(now, in_flight, self.last_finish, !self.free.is_empty()) {
                    Err(Wake::At(ready)) => Err(Wake::At(ready.min(self.window.load_end))),
                    Err(wake) => Err(wake),
                    Ok(due) => Ok((due, self.free.pop().expect("a burst goes on only with a free slot"))),
                }
            }
            Pacer::Schedule { due, .. } if *due > now => Err(Wake::At((*due).min(self.window.load_end))),
            Pacer::Schedule { due, overflow, .. } => match (self.free.pop(), overflow) {
                (Some(token), _) => {
                    let due = *due;
                    self.pacer.advance();
                    Ok((due, token))
                }
                (None, Overflow::Queue) => Err(Wake::OnCompletion),
                (None, Overflow::Drop) => Err(self.drop_due(now)),
            },
        }
    }

    #[inline]
    fn next_request(&mut self, due: Instant, now: Instant, token: Token) -> Request {
        if self.is_plain {
            self.ops_left -= 1;
            let op = self.ops.next();
            let (size_index, len) = if op == Op::Flush { (0, 0) } else { self.sizes.next() };
            let place = if len == 0 { self.flush_place() } else { self.place(len) };
            return self.asked(due, now, token, place, (op, size_index, len));
        }
        self.next_particular(due, now, token)
    }

    /// The next request where some are of several kinds, or are followed by others, or are counted by the pace.
    // Apart from `next_request`, so that a plain workload does not pay for it.
    #[inline(never)]
    fn next_particular(&mut self, due: Instant, now: Instant, token: Token) -> Request {
        if self.spec.flush_every.is_some_and(|every| self.writes_since_flush >= every) {
            self.writes_since_flush = 0;
            return self.booked(due, now, token, self.flush_place(), (Op::Flush, 0, 0));
        }
        self.ops_left -= 1;
        let (op, size_index, len, step) = self.drawn();
        let place = match step {
            _ if len == 0 => self.flush_place(),
            None => self.place(len),
            Some(step) => {
                let at = self.addresses[self.turn].next_of(len, step);
                self.mapped(at)
            }
        };
        let request = self.asked(due, now, token, place, (op, size_index, len));
        self.writes_since_flush += u32::from(op == Op::Write);
        if op == Op::Read {
            self.decide_rewrite(&request);
        }
        request
    }

    /// Takes a request that counts towards the workload's end into the digest and its slot.
    #[inline]
    fn asked(
        &mut self,
        due: Instant,
        now: Instant,
        token: Token,
        place: Place,
        what: (Op, u16, u32),
    ) -> Request {
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(what.2));
        self.booked(due, now, token, place, what)
    }

    /// Takes a request into the digest and its slot.
    #[inline]
    fn booked(
        &mut self,
        due: Instant,
        now: Instant,
        token: Token,
        Place { file, offset }: Place,
        (op, size_index, len): (Op, u16, u32),
    ) -> Request {
        self.digest = fold(self.digest, op, file, offset, len);
        self.planned += 1;
        let class = self.class_base[op as usize] + size_index;
        self.slots[token.0 as usize] = Slot { due, issued: now, offset, len, file, class };
        Request { offset, len, token, file, op }
    }

    /// Decides whether a read is followed by a write, and counts the write as asked for from now on.
    fn decide_rewrite(&mut self, read: &Request) {
        let Some(rewrites) = &mut self.rewrites else { return };
        if rewrites.decide(read.token, self.ops_left > 0 && self.bytes_left > 0) {
            self.ops_left -= 1;
            self.bytes_left = self.bytes_left.saturating_sub(u64::from(read.len));
            self.writes_since_flush += 1;
            self.digest = fold(self.digest, Op::Write, read.file, read.offset, read.len);
        }
    }

    fn drawn(&mut self) -> (Op, u16, u32, Option<Step>) {
        let Some(lines) = &mut self.lines else {
            let (op, (size_index, len)) = match self.ops.next() {
                Op::Flush => (Op::Flush, (0, 0)),
                op => (op, self.sizes.next()),
            };
            self.pacer.drew(len, Nanos::ZERO);
            return (op, size_index, len, None);
        };
        let drawn = lines.next();
        self.pacer.drew(drawn.len, drawn.pause);
        (drawn.op, drawn.size, drawn.len, Some(drawn.step))
    }

    #[inline]
    fn place(&mut self, len: u32) -> Place {
        let at = self.addresses[self.turn].next(len);
        self.mapped(at)
    }

    /// The file of an address and the offset within it.
    #[inline]
    fn mapped(&mut self, at: Bytes) -> Place {
        let (file, offset) = match &self.spec.files {
            FileMap::One => (0, at),
            FileMap::Turns { first, count } => {
                let file = first + self.turn as u16;
                self.turn = if self.turn + 1 == usize::from(*count) { 0 } else { self.turn + 1 };
                (file, at)
            }
            FileMap::Concatenated(lengths) => concatenated(lengths, at),
            FileMap::Striped { unit, count } => striped(*unit, *count, at),
        };
        Place { file, offset }
    }

    /// A flush goes to the file whose turn it is.
    fn flush_place(&self) -> Place {
        let file = match &self.spec.files {
            FileMap::Turns { first, .. } => first + self.turn as u16,
            _ => 0,
        };
        Place { file, offset: Bytes::ZERO }
    }

    #[inline]
    fn book(&mut self, class: u16, len: u32, due: Instant, issued: Instant, finished_at: Instant) {
        self.moved += u64::from(len);
        let ledger = &mut self.ledgers[usize::from(class)];
        let response = finished_at.saturating_since(due);
        if finished_at < self.window.until {
            ledger.record(response);
            if finished_at < self.window.from {
                return;
            }
        } else {
            ledger.total.ended += 1;
            if due >= self.window.until {
                return;
            }
            ledger.total.response.record(response);
        }
        let service = if finished_at < self.window.until {
            &mut ledger.open_service
        } else {
            &mut ledger.total.service
        };
        if let (Some(service), Some(lag)) = (service, &mut ledger.total.lag) {
            service.record(finished_at.saturating_since(issued));
            lag.record(issued.saturating_since(due));
        }
    }

    #[cold]
    fn fail(&mut self, done: Completion, len: u32, failure: Failure) {
        self.errors += 1;
        if self.error_samples.len() < ERROR_SAMPLES_MAX {
            let Slot { file, offset, class, .. } = self.slots[done.token.0 as usize];
            let op = self.ledgers[usize::from(class)].total.class.op;
            self.error_samples.push(ErrorSample { at: done.finished_at, op, file, offset, len, failure });
        }
        self.stopped |= self.errors >= ERRORS_MAX;
    }

    /// Adds the time since the last change to the integral of requests in flight, within the window.
    #[inline]
    fn count_in_flight(&mut self, now: Instant) {
        let until = now.min(self.window.until);
        if until > self.in_flight_since {
            let span = until - self.in_flight_since;
            self.in_flight_ns += u128::from(span.get()) * u128::from(self.in_flight());
            self.in_flight_since = until;
        }
    }

    /// Closes every interval that ended at or before `now`.
    #[cold]
    fn roll(&mut self, now: Instant) {
        while now >= self.window.edge {
            let edge = self.window.edge;
            self.close_interval(edge);
            self.window.interval_from = edge;
            self.window.edge = self.window.next_edge(edge);
        }
    }

    fn close_interval(&mut self, until: Instant) {
        let measured =
            self.window.interval_from >= self.window.from && self.window.interval_from < self.window.until;
        let classes: Vec<ClassInterval> =
            self.ledgers.iter_mut().filter_map(|ledger| ledger.close(measured)).collect();
        if !classes.is_empty() {
            self.intervals.push(Interval { from: self.window.interval_from, until, measured, classes });
        }
    }
}

impl Window {
    fn starting(now: Instant, spec: &JobSpec) -> Window {
        let from = now.saturating_add(spec.warmup);
        let ends = spec.run.map_or(Instant::NEVER, |run| from.saturating_add(run));
        let load_end = ends.saturating_add(spec.cooldown);
        // A last flush belongs to what is measured: the window ends with it.
        let until = if spec.flush_at_end { Instant::NEVER } else { ends };
        let backlog_end = load_end.saturating_add(BACKLOG_MOST);
        let mut window = Window { from, until, load_end, backlog_end, interval_from: now, edge: now };
        window.edge = window.next_edge(now);
        window
    }

    /// Intervals are cut each second from the start of the window, and at its end.
    fn next_edge(&self, after: Instant) -> Instant {
        if after < self.from {
            return self.from.min(after.saturating_add(INTERVAL));
        }
        if after >= self.until {
            return Instant::NEVER;
        }
        let seconds = (after - self.from).get() / INTERVAL.get();
        self.from.saturating_add(INTERVAL * (seconds + 1)).min(self.until)
    }
}

impl Ledger {
    fn new(class: Class, scheduled: bool, possible: bool) -> Ledger {
        let kept = || scheduled.then(Histogram::new);
        let total = ClassTally {
            class,
            ops: 0,
            bytes: Bytes::ZERO,
            ended: 0,
            response: Histogram::new(),
            service: kept(),
            lag: kept(),
        };
        Ledger {
            total,
            open: Histogram::new(),
            open_service: kept(),
            run: 0,
            run_response: Nanos::ZERO,
            possible,
        }
    }

    fn may_come(&self) -> bool {
        self.possible || self.total.ended > 0
    }

    #[inline]
    fn record(&mut self, response: Nanos) {
        if response == self.run_response {
            self.run += 1;
        } else {
            self.open.record_n(self.run_response, self.run);
            (self.run_response, self.run) = (response, 1);
        }
    }

    /// Moves the open interval to the total if it was measured, and returns it if it held anything.
    fn close(&mut self, measured: bool) -> Option<ClassInterval> {
        self.open.record_n(self.run_response, self.run);
        self.run = 0;
        if self.open.is_empty() {
            return None;
        }
        let (class, ops) = (self.total.class, self.open.count());
        let bytes = class.size * ops;
        self.total.ended += ops;
        let interval = ClassInterval {
            class,
            ops,
            bytes,
            response: self.open.buckets().collect(),
            service: self.open_service.iter().flat_map(Histogram::buckets).collect(),
            longest: self.open.max().unwrap_or_default(),
        };
        if measured {
            self.total.ops += ops;
            self.total.bytes += bytes;
            self.total.response.merge(&self.open);
            if let (Some(total), Some(open)) = (&mut self.total.service, &self.open_service) {
                total.merge(open);
            }
        }
        if let Some(open) = &mut self.open_service {
            open.clear();
        }
        self.open.clear();
        Some(interval)
    }
}

/// One ledger for each operation and size that may come, and where each operation's begin.
fn ledgers(spec: &JobSpec, ops: &[(Op, f64)]) -> (Vec<Ledger>, [u16; 4]) {
    let scheduled = Pacer::new(spec.pace, spec.worker, 1, Streams::new(0).open("probe")).is_scheduled();
    let mut ledgers = Vec::new();
    let mut base = [0; 4];
    for op in Op::ALL {
        base[op as usize] = ledgers.len() as u16;
        let may_come = ops.iter().any(|(possible, _)| *possible == op)
            || (op == Op::Flush && (spec.flush_every.is_some() || spec.flush_at_end))
            || (op == Op::Write && spec.rewrites != Share::NONE);
        if !may_come {
            continue;
        }
        let flush = [(Bytes::ZERO, 1.0)];
        let sizes = if op == Op::Flush { &flush[..] } else { &spec.sizes.0[..] };
        let ledger = |(size, _): &(Bytes, f64)| {
            Ledger::new(Class { op: op.into(), size: *size }, scheduled, may_come_together(spec, op, *size))
        };
        ledgers.extend(sizes.iter().map(ledger));
    }
    (ledgers, base)
}

/// Whether any kind of requests has both the operation and the size.
fn may_come_together(spec: &JobSpec, op: Op, size: Bytes) -> bool {
    let has = |kind: &JobLine| {
        kind.line.sizes.0.iter().any(|(known, _)| *known == size)
            && op_weights(kind.line.mix).iter().any(|(known, _)| {
                *known == op || (*known == Op::Read && op == Op::Write && spec.rewrites != Share::NONE)
            })
    };
    op == Op::Flush || spec.lines.is_empty() || spec.lines.iter().any(has)
}

/// The workload's pace, or the bursts and pauses of its lines.
fn pacer(spec: &JobSpec, lines: Option<&Lines>, stream: Stream) -> Pacer {
    match lines {
        Some(lines) if spec.pace == Pace::Closed && Lines::pause(&spec.lines) => {
            Pacer::Bursts(Bursts::of_lines(lines.first_pause()))
        }
        _ => Pacer::new(spec.pace, spec.worker, spec.depth, stream),
    }
}

/// A generator for each file that is visited in turn, otherwise one. Files have orders of their own.
fn generators(spec: &JobSpec, streams: Streams) -> Vec<Addresses> {
    let keeps_slots = matches!(spec.files, FileMap::Concatenated(_) | FileMap::Striped { .. });
    let grain = Grain { align: spec.align, largest: spec.sizes.largest(), keeps_slots };
    let continues = spec.lines.iter().any(|line| line.jumps.is_some());
    let make = if continues { Addresses::continued } else { Addresses::new };
    let generator = |name: &str| make(&spec.pattern, spec.region, spec.part, grain, streams, name);
    match spec.files {
        FileMap::Turns { first, count } => {
            (first..first + count).map(|file| generator(&format!("{}/file{file}", spec.name))).collect()
        }
        // A region of its own, and an order of its own in it.
        _ if spec.part == Part::WHOLE && spec.worker.of > 1 => {
            vec![generator(&format!("{}/worker{}", spec.name, spec.worker.index))]
        }
        _ => vec![generator(&spec.name)],
    }
}

/// The file that holds `at` and the offset within it. Past the end only by a bug in the region.
fn concatenated(lengths: &[Bytes], at: Bytes) -> (u16, Bytes) {
    let mut rest = at;
    for (file, length) in (0u16..).zip(lengths) {
        if rest < *length {
            return (file, rest);
        }
        rest = rest - *length;
    }
    panic!("address {at} lies past the last file")
}

#[inline]
fn striped(unit: Bytes, count: u16, at: Bytes) -> (u16, Bytes) {
    let (stripe, within) = (at.get() / unit.get(), at.get() % unit.get());
    let file = (stripe % u64::from(count)) as u16;
    (file, unit * (stripe / u64::from(count)) + Bytes::new(within))
}

/// Takes one request into the digest. Order matters; only one multiplication waits for the request before.
#[inline]
fn fold(digest: u64, op: Op, file: u16, offset: Bytes, len: u32) -> u64 {
    let what = (u64::from(len) << 32) | (u64::from(file) << 8) | op as u64;
    let request = (offset.get() ^ what.rotate_left(23)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (digest.rotate_left(29) ^ request ^ (request >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
