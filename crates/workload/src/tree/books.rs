//! What one tree job saw: the same tally as a block job's, for one request at a time.

use stats::{Histogram, OpenHistogram};
use units::{Bytes, Instant, Nanos};

use crate::tally::{Class, ClassInterval, ClassTally, Edges, Gap, Gaps, Interval};
use crate::window::Window;

/// The collector of one class: all measured intervals, and the one that is open.
#[derive(Debug)]
pub(super) struct Ledger {
    pub total: ClassTally,
    open: OpenHistogram,
    open_bytes: u64,
}

/// The measured window and its intervals.
#[derive(Debug)]
pub(super) struct Books {
    pub ledgers: Vec<Ledger>,
    pub window: Window,
    pub intervals: Vec<Interval>,
    pub in_flight_ns: u128,
    pub edges: Edges,
    pub gaps: Gaps,
}

impl Books {
    /// Books of `classes` that open at `now`.
    pub fn open(classes: &[Class], now: Instant, warmup: Nanos, run: Option<Nanos>) -> Books {
        let ledger = |class: &Class| Ledger {
            total: ClassTally {
                class: *class,
                ops: 0,
                bytes: Bytes::ZERO,
                ended: 0,
                response: Histogram::new(),
                service: None,
                lag: None,
            },
            open: OpenHistogram::new(),
            open_bytes: 0,
        };
        Books {
            ledgers: classes.iter().map(ledger).collect(),
            window: Window::opening(now, warmup, run),
            intervals: Vec::new(),
            in_flight_ns: 0,
            edges: Edges::default(),
            gaps: Gaps::default(),
        }
    }

    /// Books a request that was issued and has ended, the first after `last_finish`; `bytes` are what it moved, `None`
    /// where it failed.
    pub fn settle(
        &mut self,
        class: usize,
        last_finish: Instant,
        (issued, finished): (Instant, Instant),
        bytes: Option<u64>,
    ) {
        self.gaps.push(Gap { from: last_finish, until: finished, waiting_since: issued });
        self.close_until(finished);
        let Window { from, until, .. } = self.window;
        let within = u128::from(self.window.part_of(issued, finished).get());
        self.in_flight_ns += within;
        let Some(bytes) = bytes else {
            self.edges.failed_ns += within;
            return;
        };
        if finished >= from && issued < until {
            self.edges.before_ns += u128::from(from.saturating_since(issued).get());
            self.edges.after_ns += u128::from(finished.saturating_since(until).get());
            self.edges.ended_after += u64::from(finished >= until);
        }
        let ledger = &mut self.ledgers[class];
        let response = finished.saturating_since(issued);
        if finished < until {
            ledger.open.record(response);
            ledger.open_bytes += bytes;
            return;
        }
        ledger.total.ended += 1;
        if issued < until {
            ledger.total.response.record(response);
        }
    }

    /// Ends the window where it was still open, and the interval with it.
    pub fn end(&mut self, last_finish: Instant, early: bool) {
        self.gaps.push(Gap { from: last_finish, until: Instant::NEVER, waiting_since: Instant::NEVER });
        // What ended at the very instant that the window now ends with was in it.
        let end = if early { last_finish } else { self.window.end_or(last_finish) };
        self.close_until(end);
        let measured = self.window.is_measuring();
        self.window.end(last_finish, early);
        self.close(end.max(self.window.interval_from), measured);
    }

    /// Closes the open interval where it ended at or before `now`.
    fn close_until(&mut self, now: Instant) {
        if now >= self.window.edge {
            self.close(self.window.edge, self.window.is_measuring());
            // Nothing ended in those between.
            self.window.go_on_to(now);
        }
    }

    fn close(&mut self, until: Instant, measured: bool) {
        let classes: Vec<ClassInterval> =
            self.ledgers.iter_mut().filter_map(|ledger| ledger.close(measured)).collect();
        if !classes.is_empty() {
            self.intervals.push(Interval { from: self.window.interval_from, until, measured, classes });
        }
    }
}

impl Ledger {
    /// Moves the open interval to the total if it was measured, and returns it if it held anything.
    fn close(&mut self, measured: bool) -> Option<ClassInterval> {
        if self.open.is_empty() {
            return None;
        }
        let (ops, bytes) = (self.open.count(), Bytes::new(std::mem::take(&mut self.open_bytes)));
        let longest = self.open.max().unwrap_or_default();
        self.total.ended += ops;
        if measured {
            self.total.ops += ops;
            self.total.bytes += bytes;
        }
        let response = self.open.pour(measured.then_some(&mut self.total.response));
        let class = self.total.class;
        let interval = ClassInterval { class, ops, bytes, response, service: Vec::new(), longest };
        Some(interval)
    }
}
