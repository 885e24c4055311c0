//! What happens while a plan runs, for whoever watches.

use record::Point;
use units::{Instant, Nanos};
use workload::Progress;
use workload::tally::Interval;

use crate::history::History;
use crate::recent::Responses;

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
    /// Until when those are counted: `now`, and some tenths of a second before where other hosts have told them.
    pub counted: Instant,
    /// Response times of the last whole second.
    pub responses: Option<Responses>,
    /// The part that is done, where it can be known.
    pub done: Option<f64>,
    /// What was seen of each workload so far; empty before a load and between loads.
    pub heard: &'a [History],
    /// What is watched beside it.
    pub beside: Beside<'a>,
    /// What workers have closed since the last glance; empty unless several processes drive the load.
    pub fresh: &'a [Interval],
    /// Each host by itself, where processes on several drive the load; otherwise empty.
    pub hosts: &'a [HostLive],
}

/// A glance at the part of a load that one host drives.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLive {
    /// As it calls itself.
    pub host: String,
    /// Workers that it drives.
    pub workers: u32,
    /// Requests and bytes since the load began.
    pub progress: Progress,
    /// Until when those are counted.
    pub counted: Instant,
    /// Response times of its last whole second.
    pub responses: Option<Responses>,
}

/// What is watched beside a load, asked for only when somebody looks.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a>(pub Option<&'a dyn Fn() -> Vec<(String, f64)>>);

impl Beside<'_> {
    /// The last value of every series so far, by the names that they have in a record; none where nothing is watched.
    pub fn latest(&self) -> Vec<(String, f64)> {
        self.0.map(|latest| latest()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Beside<'_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(if self.0.is_some() { "Beside" } else { "Beside(nothing)" })
    }
}

impl Live<'static> {
    /// At `now` something goes on since `started` that is no load.
    pub fn beside(started: Instant, now: Instant, doing: &'static str) -> Live<'static> {
        let (progress, beside) = (Progress::default(), Beside::default());
        Live {
            now,
            started,
            doing,
            progress,
            counted: now,
            responses: None,
            done: None,
            heard: &[],
            beside,
            fresh: &[],
            hosts: &[],
        }
    }
}
