//! What a case runs: an array, loads on it, and perhaps work that the array gives itself.

use units::{Bytes, Nanos, Share};
use workload::Op;
use workload::spec::Durability;
use workload::tally::{Action, Class};

use crate::background::BackgroundKind;

/// One configuration with what is done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// `md3000?raid=10`, as [`array`](crate::spec::array) takes it.
    pub array: String,
    /// Loads that run together; empty where only background work is timed.
    pub loads: Vec<Load>,
    /// What the array does meanwhile.
    pub occasion: Option<Activity>,
    /// The limit of `share-within`.
    pub within: Option<Nanos>,
}

impl Subject {
    /// Whether the metric is of requests of a class: flushes are none, they are part of what the writes before them cost.
    pub fn counts(&self, class: Class) -> bool {
        let of = self.loads.first().and_then(|load| load.of);
        of.map_or(class.op != Action::Block(Op::Flush), |op| class.op == Action::Block(op))
    }
}

/// What a group of identical workers asks for, in the few words that published tests give.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The plan's name in its file.
    pub name: String,
    /// Where the next request goes.
    pub pattern: Pattern,
    /// Bytes of each request.
    pub size: Bytes,
    /// Part of the requests that read.
    pub reads: Share,
    /// The requests that the metric is of, where it is not all of them.
    pub of: Option<Op>,
    /// Identical workers on each LUN used.
    pub workers: u32,
    /// Requests each worker keeps in flight.
    pub depth: u32,
    /// Whether the host's page cache is left out.
    pub direct: bool,
    /// What is done so that what was written lasts.
    pub durability: Durability,
    /// Part of each LUN that is used, from its start; `None` for all of it.
    pub span: Option<Bytes>,
    /// The same as a share of the LUN. At most one of the two is given.
    pub span_share: Option<Share>,
    /// LUNs used, from the first. A file counts as a LUN of its own: what serialises its requests is the same.
    pub luns: u32,
    /// Where the load begins in the LUN.
    pub offset: Bytes,
    /// What each request begins at a multiple of; `None`: of its own size.
    pub align: Option<Bytes>,
    /// The share of what is used, its end, that the memory of the array holds as the load begins, as after a pass over it;
    /// where the load goes through the host's page cache, that too.
    pub held: Share,
    /// Whether the caches of the array have taken as many of its writes as they can as the load begins.
    pub fills: bool,
    /// Load that is not counted, before.
    pub warmup: Nanos,
    /// The measured time.
    pub run: Nanos,
}

impl Load {
    /// Direct reads of `size` on all of the first LUN, one at a time, for two seconds after one of warm-up.
    pub fn plain(pattern: Pattern, size: Bytes) -> Load {
        Load {
            name: "load".into(),
            pattern,
            size,
            reads: Share::ALL,
            of: None,
            workers: 1,
            depth: 1,
            direct: true,
            durability: Durability::NONE,
            span: None,
            span_share: None,
            held: Share::NONE,
            fills: false,
            luns: 1,
            offset: Bytes::ZERO,
            align: None,
            warmup: Nanos::from_secs(1),
            run: Nanos::from_secs(2),
        }
    }
}

/// Where the next request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Upwards, each worker through its own part of the span.
    Sequential,
    /// Anywhere in the span.
    Random,
}

/// Work that the array gives itself, in the first set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    /// What it does.
    pub work: ActivityKind,
    /// The disk it is done to: the failed one for a rebuild, the source of a clone.
    pub disk: u32,
    /// Progress from which the time counts.
    pub from: Share,
    /// Progress at which it stops.
    pub to: Share,
}

/// What the array does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// Background work.
    Background(BackgroundKind),
    /// Nothing, with the disk lost.
    Degraded,
    /// The first path is lost when the load begins.
    PathLost,
}
