//! A stretch of a load as it is shown.

use units::{Instant, Nanos};
use workload::tally::Action;

use super::level::{Cell, cell_of};

/// A stretch of a load as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// When it began.
    pub from: Instant,
    /// When it ended.
    pub until: Instant,
    pub(super) cells: Vec<Cell>,
}

/// What one operation did in a stretch.
pub(crate) struct Seen {
    /// Requests that ended.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Their mean response, at most a thousandth too high; their 99th percentile, and the longest.
    pub mean_ns: f64,
    pub p99_ns: f64,
    pub longest_ns: f64,
}

impl Stretch {
    /// How long it is; not zero.
    pub fn length(&self) -> Nanos {
        debug_assert!(self.from < self.until, "a stretch has a length");
        self.until - self.from
    }

    /// What was done in it.
    pub fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        self.cells.iter().map(|cell| cell.action)
    }

    /// What `action` did; `None` where nothing of it ended.
    pub fn seen(&self, action: Action) -> Option<Seen> {
        let cell = self.cells.iter().find(|cell| cell.action == action)?;
        Some(Seen {
            ops: cell.counts.ops,
            bytes: cell.counts.bytes,
            mean_ns: cell.sum_ns as f64 / cell.times.max(1) as f64,
            p99_ns: cell.p99().get() as f64,
            longest_ns: cell.longest.get() as f64,
        })
    }

    pub(super) fn add(&mut self, other: &Cell) {
        cell_of(&mut self.cells, other.action).add_cell(other);
    }
}
