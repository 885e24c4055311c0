//! Stretches of one length, kept for some time.

use std::collections::BTreeMap;

use stats::Histogram;
use units::{Instant, Nanos};
use workload::tally::{Action, ClassInterval, Interval};

use super::pile::Pile;
use super::{Counts, LEVELS, SECOND_NS, cut_of};

/// How long after its end a stretch gets its percentile. A worker that hangs reports the stretch before only when it goes
/// on; what it reports after this time can only raise the percentile.
const LATE_NS: u64 = 300 * SECOND_NS;

/// Stretches of one length.
#[derive(Clone, Debug)]
pub(super) struct Level {
    step: u64,
    keep: Option<u64>,
    /// By whether they are measured, and when they begin on the grid of their second.
    pub(super) rows: BTreeMap<(bool, u64), Row>,
    /// Rows that begin before have their percentiles.
    sealed: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) from: Instant,
    pub(super) until: Instant,
    pub(super) cells: Vec<Cell>,
}

impl Level {
    pub(super) fn new(step: u64, keep: Option<u64>) -> Level {
        Level { step, keep, rows: BTreeMap::new(), sealed: 0 }
    }

    /// When the newest row begins.
    pub(super) fn newest(&self) -> Option<u64> {
        let last = |measured| self.rows.range((measured, 0)..=(measured, u64::MAX)).next_back();
        [false, true].into_iter().filter_map(last).map(|((_, start), _)| *start).max()
    }

    pub(super) fn add(&mut self, interval: &Interval, since: u64, newest: u64) {
        let start = since / self.step * self.step;
        let empty = || Row { from: interval.from, until: interval.until, cells: Vec::new() };
        let is_new = !self.rows.contains_key(&(interval.measured, start));
        let row = self.rows.entry((interval.measured, start)).or_insert_with(empty);
        row.from = row.from.min(interval.from);
        row.until = row.until.max(interval.until);
        debug_assert!(row.from <= row.until, "a row ends after it began");
        interval.classes.iter().for_each(|class| row.add(class));
        if is_new {
            self.grow_old(newest);
        }
    }

    /// Seals what is old, and drops what a longer stretch holds as well.
    fn grow_old(&mut self, newest: u64) {
        let until = newest.saturating_sub(LATE_NS + self.step);
        let from = self.sealed;
        self.sealed = from.max(until);
        debug_assert!(self.sealed >= from, "what is sealed stays sealed");
        for measured in [false, true] {
            for (_, row) in self.rows.range_mut((measured, from)..(measured, until.max(from))) {
                row.cells.iter_mut().for_each(Cell::seal);
            }
        }
        let Some(place) = LEVELS.iter().position(|(step, _)| *step == self.step) else { return };
        let Some((longer, _)) = LEVELS.get(place + 1) else { return };
        let cut = cut_of(newest, self.keep, *longer);
        for measured in [false, true] {
            while let Some((key, _)) = self.rows.range((measured, 0)..(measured, cut)).next() {
                let key = *key;
                self.rows.remove(&key);
            }
        }
    }
}

impl Row {
    fn add(&mut self, class: &ClassInterval) {
        cell_of(&mut self.cells, class.class.op).add(class);
    }
}

/// Where `action` is counted.
pub(super) fn cell_of(cells: &mut Vec<Cell>, action: Action) -> &mut Cell {
    let place = cells.iter().position(|cell| cell.action == action).unwrap_or_else(|| {
        cells.push(Cell::new(action));
        cells.len() - 1
    });
    &mut cells[place]
}

/// What one operation did in a row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) action: Action,
    pub(super) counts: Counts,
    /// Response times, each as the end of its bucket: how many, and their sum.
    pub(super) times: u64,
    pub(super) sum_ns: u128,
    pub(super) longest: Nanos,
    /// The 99th percentile of those that are no longer in `open`.
    sealed_p99: Nanos,
    pub(super) open: Pile,
}

impl Cell {
    fn new(action: Action) -> Cell {
        Cell {
            action,
            counts: Counts::default(),
            times: 0,
            sum_ns: 0,
            longest: Nanos::ZERO,
            sealed_p99: Nanos::ZERO,
            open: Pile::default(),
        }
    }

    fn add(&mut self, class: &ClassInterval) {
        self.counts.ops += class.ops;
        self.counts.bytes += class.bytes.get();
        self.longest = self.longest.max(class.longest);
        for bucket in &class.response {
            self.times += bucket.count;
            self.sum_ns += u128::from(bucket.high().get()) * u128::from(bucket.count);
        }
        self.open.add(&class.response);
    }

    pub(super) fn add_cell(&mut self, other: &Cell) {
        self.counts.ops += other.counts.ops;
        self.counts.bytes += other.counts.bytes;
        self.times += other.times;
        self.sum_ns += other.sum_ns;
        self.longest = self.longest.max(other.longest);
        self.sealed_p99 = self.sealed_p99.max(other.sealed_p99);
        self.open.add(&other.open.0);
    }

    /// A percentile of two groups together is never above the greater of theirs.
    pub(super) fn p99(&self) -> Nanos {
        let mut open = Histogram::new();
        self.open.pour_into(&mut open);
        self.sealed_p99.max(open.quantile(0.99).unwrap_or_default())
    }

    fn seal(&mut self) {
        let before = self.sealed_p99;
        self.sealed_p99 = self.p99();
        debug_assert!(self.sealed_p99 >= before, "what comes late never lowers a percentile");
        self.open = Pile::default();
    }
}
