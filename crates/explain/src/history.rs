//! What came before each point of a run, gone through once: a run may have thousands of points.

use std::collections::BTreeMap;

use record::{Point, Run};

use crate::evidence::{fills, moved};
use crate::working_set;

/// What a run had done to its target by each of its points, and what it is for.
#[derive(Debug)]
pub(crate) struct History {
    /// Whether the run looks for caches: then spans that fit them are meant.
    pub is_probe: bool,
    points: BTreeMap<u32, Before>,
}

/// What the points up to one had done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    /// How often a state before it wrote the whole target, at most.
    pub fills: u32,
    /// Bytes that were written up to its end.
    pub written: u64,
}

impl History {
    /// Of `run`, in the order in which its points were measured.
    pub fn of(run: &Run) -> History {
        let (mut points, mut sum) = (BTreeMap::new(), Before::default());
        for point in &run.points {
            sum.written += moved(point, record::Op::Write);
            points.insert(point.index, sum);
            sum.fills = sum.fills.max(fills(point));
        }
        History { is_probe: working_set::is_probe(run), points }
    }

    /// What was done by the end of `point`, fills before it.
    pub fn before(&self, point: &Point) -> Before {
        self.points.get(&point.index).copied().unwrap_or_default()
    }
}
