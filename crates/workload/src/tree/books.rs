//! What one tree job saw: the same tally as a block job's, for one request at a time.

use stats::Histogram;
use units::{Bytes, Instant, Nanos};

use crate::tally::{Class, ClassInterval, ClassTally, Interval};

/// How often an interval is closed.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The collector of one class: all measured intervals, and the one that is open.
#[derive(Debug)]
pub(super) struct Ledger {
    pub total: ClassTally,
    open: Histogram,
    open_bytes: u64,
}

/// The measured window and its intervals.
#[derive(Debug)]
pub(super) struct Books {
    pub ledgers: Vec<Ledger>,
    pub from: Instant,
    pub until: Instant,
    interval_from: Instant,
    edge: Instant,
    pub intervals: Vec<Interval>,
    pub in_flight_ns: u128,
}

impl Books {
    /// Books of `classes` that open at `now`.
    pub fn open(classes: &[Class], now: Instant, warmup: Nanos, run: Option<Nanos>) -> Books {
        let from = now.saturating_add(warmup);
        let until = run.map_or(Instant::NEVER, |run| from.saturating_add(run));
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
            open: Histogram::new(),
            open_bytes: 0,
        };
        let mut books = Books {
            ledgers: classes.iter().map(ledger).collect(),
            from,
            until,
            interval_from: now,
            edge: now,
            intervals: Vec::new(),
            in_flight_ns: 0,
        };
        books.edge = books.next_edge(now);
        books
    }

    /// Books a request that was issued and has ended; `bytes` are what it moved, `None` where it failed.
    pub fn settle(&mut self, class: usize, issued: Instant, finished: Instant, bytes: Option<u64>) {
        while finished >= self.edge {
            let edge = self.edge;
            self.close(edge);
            self.interval_from = edge;
            self.edge = self.next_edge(edge);
        }
        let (begun, ended) = (issued.max(self.from), finished.min(self.until));
        self.in_flight_ns += u128::from(ended.saturating_since(begun).get());
        let Some(bytes) = bytes else { return };
        let ledger = &mut self.ledgers[class];
        let response = finished.saturating_since(issued);
        if finished < self.until {
            ledger.open.record(response);
            ledger.open_bytes += bytes;
            return;
        }
        ledger.total.ended += 1;
        if issued < self.until {
            ledger.total.response.record(response);
        }
    }

    /// Ends the window where it was still open, and the interval with it.
    pub fn end(&mut self, last_finish: Instant, early: bool) {
        if early && last_finish < self.until {
            self.until = last_finish.max(self.from);
        }
        self.close(last_finish.max(self.interval_from));
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

    fn close(&mut self, until: Instant) {
        let measured = self.interval_from >= self.from
            && (self.interval_from < self.until || self.interval_from == self.from);
        let classes: Vec<ClassInterval> =
            self.ledgers.iter_mut().filter_map(|ledger| ledger.close(measured)).collect();
        if !classes.is_empty() {
            self.intervals.push(Interval { from: self.interval_from, until, measured, classes });
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
        self.total.ended += ops;
        let interval = ClassInterval {
            class: self.total.class,
            ops,
            bytes,
            response: self.open.buckets().collect(),
            service: Vec::new(),
            longest: self.open.max().unwrap_or_default(),
        };
        if measured {
            self.total.ops += ops;
            self.total.bytes += bytes;
            self.total.response.merge(&self.open);
        }
        self.open.clear();
        Some(interval)
    }
}
