//! What a job saw: a ledger for each class, and the window that says what counts.
//!
//! **Invariant:** nothing is allocated for a request; a closed interval, once a second, is.

use stats::{Histogram, OpenHistogram};
use units::convert::narrow;
use units::{Bytes, Instant, Nanos, Share};

use crate::Op;
use crate::choice::op_weights;
use crate::lines::JobLine;
use crate::spec::Pattern;
use crate::tally::{Class, ClassInterval, ClassTally, Edges, Gap, Gaps, Interval};
use crate::trace::Replay;
use crate::window::Window;

use super::service::{Own, Services};
use super::spec::JobSpec;

/// Requests that were due before the end of the load and found no free slot are still issued after it, for so long
/// at most. A target that had stalled answers them by then; one that is asked for more than it can do never would.
const BACKLOG_MOST: Nanos = Nanos::from_secs(10);

/// The ledgers of a job's classes and the integral of what was in flight.
#[derive(Debug)]
pub(super) struct Books {
    pub window: Window,
    pub load_end: Instant,
    /// Until then what was due before `load_end` is still issued.
    pub backlog_end: Instant,
    pub intervals: Vec<Interval>,
    pub in_flight_ns: u128,
    in_flight_since: Instant,
    pub edges: Edges,
    pub gaps: Gaps,
    ledgers: Vec<Ledger>,
    /// Where the ledgers of each operation begin.
    base: [u16; 4],
}

/// The collector of one class: the interval that is open and all measured ones before it.
#[derive(Debug)]
struct Ledger {
    total: ClassTally,
    open: OpenHistogram,
    services: Services,
    /// Equal responses that followed each other and are not in `open` yet: requests that were planned and reaped
    /// together have one latency, and one record for all of them saves 3 ns each.
    run: u64,
    run_response: Nanos,
    /// Bytes of the open interval, where sizes vary within the class.
    open_bytes: u64,
    /// Whether any line of requests asks for this class.
    possible: bool,
}

impl Books {
    /// Empty books; `scheduled` where response and service may differ.
    pub fn new(spec: &JobSpec, scheduled: bool) -> Books {
        let (ledgers, base) = ledgers(spec, scheduled);
        let mut books = Books {
            window: Window::opening(Instant::START, spec.warmup, spec.run),
            load_end: Instant::NEVER,
            backlog_end: Instant::NEVER,
            intervals: Vec::new(),
            in_flight_ns: 0,
            in_flight_since: Instant::START,
            edges: Edges::default(),
            gaps: Gaps::default(),
            ledgers,
            base,
        };
        books.start(Instant::START, spec);
        books
    }

    /// Fixes the window to the world's clock.
    pub fn start(&mut self, now: Instant, spec: &JobSpec) {
        self.load_end = Window::opening(now, spec.warmup, spec.run).until.saturating_add(spec.cooldown);
        self.backlog_end = self.load_end.saturating_add(BACKLOG_MOST);
        // A last flush belongs to what is measured: the window ends with it.
        self.window = Window::opening(now, spec.warmup, spec.run.filter(|_| !spec.flush_at_end));
        self.in_flight_since = self.window.from;
    }

    /// The class of an operation with a size, by its position among all sizes.
    #[inline]
    pub fn class(&self, op: Op, size: u16) -> u16 {
        self.base[op as usize] + size
    }

    /// The operation and size of a class.
    pub fn described(&self, class: u16) -> Class {
        self.ledgers[usize::from(class)].total.class
    }

    /// Adds the time since the last change to the integral of requests in flight, within the window.
    #[inline]
    pub fn count_in_flight(&mut self, now: Instant, in_flight: u32) {
        let until = now.min(self.window.until);
        if until > self.in_flight_since {
            let span = until - self.in_flight_since;
            self.in_flight_ns += u128::from(span.get()) * u128::from(in_flight);
            self.in_flight_since = until;
        }
    }

    /// As [`Books::count_in_flight`] where one of them has ended: what was counted of it beyond `finished_at`, because
    /// whoever drives the job heard of it late, is taken back.
    #[inline]
    pub fn count_ended(&mut self, finished_at: Instant, in_flight: u32) {
        if finished_at < self.in_flight_since {
            let beyond = self.in_flight_since.saturating_since(finished_at.max(self.window.from));
            self.in_flight_ns = self.in_flight_ns.saturating_sub(u128::from(beyond.get()));
        } else {
            self.count_in_flight(finished_at, in_flight);
        }
    }

    /// Books the response of a request that ended within the open interval and has no service time of its own.
    #[inline]
    pub fn record(&mut self, class: u16, response: Nanos) {
        self.ledgers[usize::from(class)].record(response);
    }

    /// Books a request that has ended well; the intervals that ended before it are closed.
    #[inline]
    pub fn book(&mut self, class: u16, len: u32, due: Instant, issued: Instant, finished_at: Instant) {
        let ledger = &mut self.ledgers[usize::from(class)];
        let Window { from, until, .. } = self.window;
        let response = finished_at.saturating_since(due);
        let is_open = finished_at < until;
        // Before the response, whose histograms the services are part of until one differs.
        let is_measured = if is_open { finished_at >= from } else { due < until };
        if is_measured {
            let late = issued.saturating_since(due);
            match &mut ledger.total.lag {
                None => self.edges.lag_ns += u128::from(late.get()),
                Some(lag) => {
                    lag.record(late);
                    if let Some(own) = ledger.own_services(issued == due) {
                        let service = finished_at.saturating_since(issued);
                        if is_open { own.open.record(service) } else { own.total.record(service) }
                    }
                }
            }
        }
        if is_open {
            ledger.record(response);
            ledger.open_bytes += u64::from(len);
            return;
        }
        ledger.total.ended += 1;
        if is_measured {
            ledger.total.response.record(response);
            self.edges.ended_after += 1;
            self.edges.after_ns += u128::from(finished_at.saturating_since(issued.max(until)).get());
        }
    }

    /// Books the time of a request that has failed, which is in no histogram.
    pub fn book_failed(&mut self, issued: Instant, finished_at: Instant) {
        let Window { from, .. } = self.window;
        self.edges.failed_ns += u128::from(self.window.part_of(issued, finished_at).get());
        if finished_at >= from {
            let before = from.saturating_since(issued).get();
            self.edges.before_ns = self.edges.before_ns.saturating_sub(u128::from(before));
        }
    }

    /// Books requests that were due in the window, never issued, and had waited so long when that was given up.
    pub fn book_unserved(&mut self, class: u16, waited: Nanos, count: u64) {
        let ledger = &mut self.ledgers[usize::from(class)];
        // They have no service time.
        ledger.own_services(false);
        ledger.total.response.record_n(waited, count);
    }

    /// Closes every interval that ended at or before `now`, at which the first request ends after `last_finish`; those
    /// `in_flight` were issued then.
    #[cold]
    pub fn roll(&mut self, last_finish: Instant, now: Instant, in_flight: impl Iterator<Item = Instant>) {
        let Window { from, interval_from, .. } = self.window;
        let opens = interval_from < from && from <= now;
        let mut waiting_since = Instant::NEVER;
        for issued in in_flight {
            waiting_since = waiting_since.min(issued);
            if opens {
                self.edges.before_ns += u128::from(from.saturating_since(issued).get());
            }
        }
        self.gaps.push(Gap { from: last_finish, until: now, waiting_since });
        self.close_until(now);
    }

    /// Closes the open interval where it ended at or before `now`.
    fn close_until(&mut self, now: Instant) {
        if now >= self.window.edge {
            self.close_interval(self.window.edge, self.window.is_measuring());
            // Nothing ended in those between.
            self.window.go_on_to(now);
        }
    }

    /// Ends the window with the last completion where it ended before its time, and closes the last intervals.
    pub fn end(&mut self, last_finish: Instant, ended_early: bool) {
        self.gaps.push(Gap { from: last_finish, until: Instant::NEVER, waiting_since: Instant::NEVER });
        // What ended at the very instant that the window now ends with was in it.
        let end = if ended_early { last_finish } else { self.window.end_or(last_finish) };
        self.close_until(end);
        let measured = self.window.is_measuring();
        self.window.end(last_finish, ended_early);
        self.close_interval(end.max(self.window.interval_from), measured);
    }

    fn close_interval(&mut self, until: Instant, measured: bool) {
        let classes: Vec<ClassInterval> =
            self.ledgers.iter_mut().filter_map(|ledger| ledger.close(measured)).collect();
        if !classes.is_empty() {
            self.intervals.push(Interval { from: self.window.interval_from, until, measured, classes });
        }
    }

    /// What was seen of each class that may come.
    pub fn into_classes(self) -> Vec<ClassTally> {
        self.ledgers.into_iter().filter(Ledger::may_come).map(Ledger::into_total).collect()
    }
}

impl Ledger {
    fn new(class: Class, scheduled: bool, possible: bool) -> Ledger {
        let total = ClassTally {
            class,
            ops: 0,
            bytes: Bytes::ZERO,
            ended: 0,
            response: Histogram::new(),
            service: None,
            lag: scheduled.then(Histogram::new),
        };
        Ledger {
            total,
            open: OpenHistogram::new(),
            services: if scheduled { Services::Responses } else { Services::None },
            run: 0,
            run_response: Nanos::ZERO,
            open_bytes: 0,
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

    /// Where to count a service time by itself; `None` while there are none but the responses, of which the one at hand
    /// `is_response` too.
    #[inline]
    fn own_services(&mut self, is_response: bool) -> Option<&mut Own> {
        if let Services::Responses = self.services
            && !is_response
        {
            self.part_services();
        }
        match &mut self.services {
            Services::Own(own) => Some(own),
            Services::Responses | Services::None => None,
        }
    }

    #[cold]
    fn part_services(&mut self) {
        let mut open = self.open.clone();
        open.record_n(self.run_response, self.run);
        self.services = Services::Own(Box::new(Own { open, total: self.total.response.clone() }));
    }

    /// All that was seen.
    fn into_total(self) -> ClassTally {
        let service = self.services.into_total(&self.total.response);
        ClassTally { service, ..self.total }
    }

    /// Moves the open interval to the total if it was measured, and returns it if it held anything.
    fn close(&mut self, measured: bool) -> Option<ClassInterval> {
        self.open.record_n(self.run_response, self.run);
        self.run = 0;
        if self.open.is_empty() {
            return None;
        }
        let (class, ops) = (self.total.class, self.open.count());
        let longest = self.open.max().unwrap_or_default();
        let moved = std::mem::take(&mut self.open_bytes);
        let bytes = if class.size.is_zero() { Bytes::new(moved) } else { class.size * ops };
        self.total.ended += ops;
        if measured {
            self.total.ops += ops;
            self.total.bytes += bytes;
        }
        let response = self.open.pour(measured.then_some(&mut self.total.response));
        let service = self.services.close(&response, measured);
        let interval = ClassInterval { class, ops, bytes, response, service, longest };
        Some(interval)
    }
}

/// One ledger for each operation and size that may come, and where each operation's begin.
fn ledgers(spec: &JobSpec, scheduled: bool) -> (Vec<Ledger>, [u16; 4]) {
    let ops = op_weights(spec.mix);
    let mut ledgers = Vec::new();
    let mut base = [0; 4];
    for op in Op::ALL {
        base[op as usize] = narrow::<u16>(ledgers.len());
        let may_come = ops.iter().any(|(possible, _)| *possible == op)
            || (op == Op::Flush && (spec.flush_every.is_some() || spec.flush_at_end))
            || (op == Op::Write && spec.rewrites != Share::NONE)
            || (op == Op::Read && spec.sequence.read_back.is_some());
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

/// Whether any kind of requests has both the operation and the size; size zero stands for those without a class of
/// their own.
fn may_come_together(spec: &JobSpec, op: Op, size: Bytes) -> bool {
    if let Pattern::Trace(Replay { requests: Some(trace), .. }) = &spec.pattern {
        let is_known = |len: u32| spec.sizes.0.iter().any(|(known, _)| known.get() == u64::from(len));
        return op == Op::Flush
            || trace.kinds().any(|(its, len, _)| {
                its == op && (size.get() == u64::from(len) || (size.is_zero() && !is_known(len)))
            });
    }
    let has = |kind: &JobLine| {
        kind.line.sizes.0.iter().any(|(known, _)| *known == size)
            && op_weights(kind.line.mix).iter().any(|(known, _)| {
                *known == op
                    || (Some(*known) == spec.mix.followed()
                        && op == Op::Write
                        && spec.rewrites != Share::NONE)
                    || (*known == Op::Write && op == Op::Read && spec.sequence.read_back.is_some())
            })
    };
    op == Op::Flush || spec.lines.is_empty() || spec.lines.iter().any(has)
}
