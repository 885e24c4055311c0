//! What a job saw: counts and histograms of each class, and the window that says what counts.
//!
//! **Invariant:** nothing is allocated for a request; a closed interval, once a second, is.

use stats::{Histogram, OpenHistogram};
use units::{Bytes, Instant, Nanos};

use crate::tally::{Class, ClassInterval, ClassTally, Edges, Gap, Gaps, Interval};
use crate::window::Window;

use super::service::{Own, Services};
use super::source::JobOptions;

/// Requests that were due before the end of the load and found no free slot are still issued after it, for so long
/// at most. A target that had stalled answers them by then; one that is asked for more than it can do never would.
const BACKLOG_MOST: Nanos = Nanos::from_secs(10);

/// The statistics of a job's classes and the integral of what was in flight.
#[derive(Debug)]
pub(super) struct Statistics {
    pub window: Window,
    pub load_end: Instant,
    /// Until then what was due before `load_end` is still issued.
    pub backlog_end: Instant,
    pub intervals: Vec<Interval>,
    pub in_flight_ns: u128,
    in_flight_since: Instant,
    pub edges: Edges,
    pub gaps: Gaps,
    classes: Vec<ClassStatistics>,
}

/// The collector of one class: the interval that is open and all measured ones before it.
#[derive(Debug)]
struct ClassStatistics {
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

impl Statistics {
    /// Nothing seen yet.
    pub fn new(options: &JobOptions) -> Statistics {
        // Response and service may differ.
        let scheduled = options.pacer.is_scheduled();
        let class = |&(class, possible): &(Class, bool)| ClassStatistics::new(class, scheduled, possible);
        let mut statistics = Statistics {
            window: Window::opening(Instant::START, options.warmup, options.run),
            load_end: Instant::NEVER,
            backlog_end: Instant::NEVER,
            intervals: Vec::new(),
            in_flight_ns: 0,
            in_flight_since: Instant::START,
            edges: Edges::default(),
            gaps: Gaps::default(),
            classes: options.classes.iter().map(class).collect(),
        };
        statistics.start(Instant::START, options);
        statistics
    }

    /// Fixes the window to the world's clock.
    pub fn start(&mut self, now: Instant, options: &JobOptions) {
        // Bytes are counted in its place.
        let warmup = if options.warmup_bytes.is_some() { Nanos::MAX } else { options.warmup };
        self.window = Window::opening(now, warmup, options.window());
        self.measure_from(self.window.from, options);
    }

    /// Begins the window at `at`, until which bytes were counted; those `in_flight` were issued then.
    #[cold]
    pub fn open(&mut self, at: Instant, options: &JobOptions, in_flight: impl Iterator<Item = Instant>) {
        // An interval that another worker's warm-up ended in may be closed by now.
        let from = at.max(self.window.interval_from);
        self.close_interval(from, false);
        self.window =
            Window { begun: self.window.begun, ..Window::opening(from, Nanos::ZERO, options.window()) };
        self.edges.before_ns +=
            in_flight.map(|issued| u128::from(from.saturating_since(issued).get())).sum::<u128>();
        self.measure_from(from, options);
    }

    fn measure_from(&mut self, from: Instant, options: &JobOptions) {
        let JobOptions { run, cooldown, .. } = *options;
        let until = run.map_or(Instant::NEVER, |run| from.saturating_add(run));
        self.load_end = until.saturating_add(cooldown);
        self.backlog_end = self.load_end.saturating_add(BACKLOG_MOST);
        self.in_flight_since = from;
    }

    /// The operation and size of a class.
    pub fn described(&self, class: u16) -> Class {
        self.classes[usize::from(class)].total.class
    }

    /// Adds the time since the last change to the integral of requests in flight, within the window.
    #[inline]
    pub fn count_in_flight(&mut self, now: Instant, in_flight: u32) {
        let span = now.min(self.window.until).saturating_since(self.in_flight_since);
        if span.is_zero() {
            return;
        }
        self.in_flight_ns += u128::from(span.get()) * u128::from(in_flight);
        self.in_flight_since = self.in_flight_since.saturating_add(span);
    }

    /// As [`Statistics::count_in_flight`] where one of them has ended: what was counted of it beyond `finished_at`, because
    /// whoever drives the job heard of it late, is taken back.
    #[inline]
    pub fn count_ended(&mut self, finished_at: Instant, in_flight: u32) {
        let beyond = self.in_flight_since.saturating_since(finished_at.max(self.window.from));
        if beyond.is_zero() {
            self.count_in_flight(finished_at, in_flight);
        } else {
            self.in_flight_ns = self.in_flight_ns.saturating_sub(u128::from(beyond.get()));
        }
    }

    /// Records a request that has ended well; the intervals that ended before it are closed.
    #[inline]
    pub fn record(&mut self, class: u16, len: u32, due: Instant, issued: Instant, finished_at: Instant) {
        let seen = &mut self.classes[usize::from(class)];
        let until = self.window.until;
        let response = finished_at.saturating_since(due);
        let is_open = finished_at < until;
        let is_measured = self.window.measures(due, finished_at);
        // Before the response, whose histograms the services are part of until one differs.
        if is_measured {
            let late = issued.saturating_since(due);
            match &mut seen.total.lag {
                None => self.edges.lag_ns += u128::from(late.get()),
                Some(lag) => {
                    lag.record(late);
                    if let Some(own) = seen.own_services(issued == due) {
                        let service = finished_at.saturating_since(issued);
                        if is_open { own.open.record(service) } else { own.total.record(service) }
                    }
                }
            }
        }
        if is_open {
            seen.record(response);
            seen.open_bytes += u64::from(len);
            return;
        }
        seen.total.ended += 1;
        seen.total.ended_bytes += Bytes::new(u64::from(len));
        if is_measured {
            seen.total.response.record(response);
            seen.total.after.record(finished_at.saturating_since(issued));
            self.edges.ended_after += 1;
            self.edges.after_ns += u128::from(finished_at.saturating_since(issued.max(until)).get());
        }
    }

    /// Records the time of a request that has failed, which is in no histogram.
    pub fn record_failed(&mut self, issued: Instant, finished_at: Instant) {
        let Window { from, .. } = self.window;
        self.edges.failed_ns += u128::from(self.window.part_of(issued, finished_at).get());
        if finished_at >= from {
            let before = from.saturating_since(issued).get();
            self.edges.before_ns = self.edges.before_ns.saturating_sub(u128::from(before));
        }
    }

    /// Records requests that were due in the window, never issued, and had waited so long when that was given up.
    pub fn record_unserved(&mut self, class: u16, waited: Nanos, count: u64) {
        debug_assert!(count > 0, "no request was left out");
        let seen = &mut self.classes[usize::from(class)];
        // They have no service time.
        seen.own_services(false);
        seen.total.response.record_n(waited, count);
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

    /// Ends the window with the last completion, before the time that was set; what follows is not measured.
    #[cold]
    pub fn end_early(&mut self, last_finish: Instant) {
        self.close_until(last_finish);
        let measured = self.window.is_measuring();
        self.window.end(last_finish, true);
        let until = self.window.until;
        self.close_interval(until, measured);
        self.window.go_on_to(until);
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
        debug_assert!(self.window.interval_from <= until, "an interval must not end before it began");
        let classes: Vec<ClassInterval> =
            self.classes.iter_mut().filter_map(|class| class.close(measured)).collect();
        debug_assert!(
            self.intervals.last().is_none_or(|last| last.until <= self.window.interval_from),
            "intervals follow each other"
        );
        if !classes.is_empty() {
            self.intervals.push(Interval { from: self.window.interval_from, until, measured, classes });
        }
    }

    /// That `well` requests have ended well, each in one class, and that those that are measured have a response each, as
    /// have those that were `not_issued`. Call it at the end.
    pub fn accounts_for(&self, well: u64, not_issued: u64) {
        let sum = |of: fn(&ClassTally) -> u64| self.classes.iter().map(|class| of(&class.total)).sum::<u64>();
        assert_eq!(sum(|class| class.ended), well, "what has completed has ended well or failed");
        assert_eq!(sum(|class| class.after.count()), self.edges.ended_after, "what ends late is seen late");
        let measured = sum(|class| class.ops) + self.edges.ended_after;
        assert_eq!(
            sum(|class| class.response.count()),
            measured + not_issued,
            "what is measured has a response"
        );
        let waits = sum(|class| class.lag.as_ref().map_or(0, Histogram::count));
        assert!(
            waits == 0 || waits == measured,
            "of {waits} of {measured} requests it is known how late they were"
        );
    }

    /// What was seen of each class that may come.
    pub fn into_classes(self) -> Vec<ClassTally> {
        self.classes.into_iter().filter(ClassStatistics::may_come).map(ClassStatistics::into_total).collect()
    }
}

impl ClassStatistics {
    fn new(class: Class, scheduled: bool, possible: bool) -> ClassStatistics {
        let total = ClassTally { lag: scheduled.then(Histogram::new), ..ClassTally::new(class) };
        ClassStatistics {
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
        assert!(self.total.ops <= self.total.ended, "what was measured has ended");
        let service = self.services.into_total(&self.total.response);
        debug_assert!(
            service.as_ref().is_none_or(|service| service.count() <= self.total.response.count()),
            "of more requests than were answered it is known how they came to it"
        );
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
        debug_assert!(
            class.size.is_zero() || moved == bytes.get(),
            "{ops} requests of {class:?} moved {moved} bytes"
        );
        self.total.ended += ops;
        self.total.ended_bytes += bytes;
        if measured {
            self.total.ops += ops;
            self.total.bytes += bytes;
        }
        let response = self.open.pour(measured.then_some(&mut self.total.response));
        debug_assert_eq!(
            response.iter().map(|bucket| bucket.count).sum::<u64>(),
            ops,
            "every request of an interval is in a bucket"
        );
        debug_assert!(self.open.is_empty(), "what was handed out is counted no second time");
        debug_assert!(
            response.last().is_some_and(|last| (last.low()..=last.high()).contains(&longest)),
            "the longest response is in the last bucket"
        );
        let service = self.services.close(&response, measured);
        debug_assert!(
            service.is_empty() || service.iter().map(|bucket| bucket.count).sum::<u64>() == ops,
            "of some requests of an interval it is known how long they were served"
        );
        Some(ClassInterval { class, ops, bytes, response, service, longest })
    }
}
