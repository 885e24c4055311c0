//! What happens while a plan runs, for whoever watches.

use record::Point;
use units::{Instant, Nanos};
use workload::Progress;

use crate::history::History;

/// One thing that happened.
pub enum Event<'a> {
    /// A point begins.
    PointStarted {
        /// Its number, from 0.
        index: usize,
        /// How many the plan has at most.
        of: usize,
        /// Its name.
        name: &'a str,
        /// How long it should take; `None` where it ends after so much work.
        expected: Option<Nanos>,
        /// How long all points after it should take.
        expected_after: Nanos,
    },
    /// Counts so far.
    Live {
        /// The point's number.
        index: usize,
        /// What is going on.
        live: Live<'a>,
        /// Gives the point as far as it has come, where it is one that may take long: worth some milliseconds.
        so_far: Option<&'a dyn Fn() -> Point>,
    },
    /// A point ended.
    PointEnded {
        /// All that was measured.
        point: &'a Point,
    },
    /// Something is done to the target that is no point.
    Aside {
        /// What, as a clause: `waiting until the target has recovered`.
        what: &'a str,
        /// How long it should take, or takes at most.
        expected: Nanos,
    },
    /// A rate of a search was decided.
    RateDecided {
        /// The search so far.
        search: &'a record::Search,
    },
    /// A sweep ended early.
    SweepEnded {
        /// The phase's name.
        phase: &'a str,
        /// Why.
        why: String,
    },
}

/// A glance at a running point: the one shape in which a world tells how far anything has come.
#[derive(Clone, Debug)]
pub struct Live<'a> {
    /// The present of the world.
    pub now: Instant,
    /// When the point's load began.
    pub started: Instant,
    /// What it is doing: `load`, `lay out`, `fill`.
    pub doing: &'static str,
    /// Requests and bytes since it began.
    pub progress: Progress,
    /// The 99th percentile of the response times of the last whole second.
    pub p99: Option<Nanos>,
    /// The part that is done, where it can be known.
    pub done: Option<f64>,
    /// What was seen of each workload so far; empty before a load and between loads.
    pub heard: &'a [History],
}

impl Live<'static> {
    /// At `now` something goes on since `started` that is no load.
    pub fn beside(started: Instant, now: Instant, doing: &'static str) -> Live<'static> {
        Live { now, started, doing, progress: Progress::default(), p99: None, done: None, heard: &[] }
    }
}
