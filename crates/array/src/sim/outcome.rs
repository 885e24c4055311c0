//! What a run gives: what the jobs saw, and where the time went.

use units::{Bytes, Instant, Nanos};
use workload::tally::Tally;

use crate::device::SlcUse;
use crate::latency::LatencyTotals;
use crate::meter::{Class, Meter, Visits};
use crate::raid::DiskRole;

use super::courses::Courses;

/// The end of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// One for each job, in the order given.
    pub tallies: Vec<Tally>,
    /// Where the time of each job's measured requests went, in the order of the tallies: empty unless latency is
    /// traced, and for the jobs of a file system.
    pub latency: Vec<LatencyTotals>,
    /// Every part that did something from `metered_from` on.
    pub breakdown: Vec<Component>,
    /// What the LUNs of all hosts had outstanding from then on.
    pub lun_queues: LunQueues,
    /// What jobs asked of the hosts from then on, and what of it the hosts asked of the array.
    pub host_traffic: HostTraffic,
    /// What the caches of one bit a cell of the flash drives in the sets took from then on; `None` where there are none.
    pub slc: Option<SlcUse>,
    /// How busy each part was over time, from the begin of the run.
    pub courses: Courses,
    /// When the run began and ended.
    pub from: Instant,
    /// When the last of its loads had warmed up, of those that did before one of them had done its part.
    pub metered_from: Instant,
    /// Its end: the last completion.
    pub until: Instant,
    /// Events that it took.
    pub events: u64,
    /// Bytes that were acknowledged and not yet on members at `metered_from`.
    pub unwritten: Bytes,
}

/// What one part did during a run, or the metered part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its kind and number: `disk 3`, `controller 0 bus`.
    pub name: String,
    /// Share of its servers' time that was spent serving.
    pub utilisation: f64,
    /// Mean number present, waiting or served.
    pub mean_present: f64,
    /// Time spent serving, all servers together.
    pub busy: Nanos,
    /// Visits by class, for the classes that came.
    pub visits: Vec<(Class, Visits)>,
    /// Of a disk: read and written by the commands it was given, in that order.
    pub moved: Option<[Bytes; 2]>,
    /// Of a disk that is no whole member of a set: what it is, at the end of the run.
    pub role: Option<DiskRole>,
    /// Of a disk: its model, by the number of the first that is like it.
    pub model: Option<u32>,
    /// Of a disk that takes the nearest of the commands that wait: among how many.
    pub chooses_among: Option<u32>,
    /// Of a disk whose parts work side by side: the kind of them that is the busiest, of which utilisation and busy time are.
    pub busiest: Option<&'static str>,
}

/// What jobs asked of the hosts, and what those asked of the array for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTraffic {
    /// Requests of jobs and of a file system, those that a page cache answered among them.
    pub requests: u64,
    /// Parts in which they were sent: what a page cache reads and writes on its own account does not count.
    pub parts: u64,
    /// Read and written through page caches, in that order.
    pub through_pages: [Bytes; 2],
    /// Read from and written to the array by page caches, in that order.
    pub by_pages: [Bytes; 2],
}

impl HostTraffic {
    /// What several hosts had together.
    pub fn and(self, other: HostTraffic) -> HostTraffic {
        let sum = |own: [Bytes; 2], other: [Bytes; 2]| [own[0] + other[0], own[1] + other[1]];
        HostTraffic {
            requests: self.requests + other.requests,
            parts: self.parts + other.parts,
            through_pages: sum(self.through_pages, other.through_pages),
            by_pages: sum(self.by_pages, other.by_pages),
        }
    }
}

/// How many requests the hosts let reach their LUNs at once, and what waited for that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LunQueues {
    /// Requests that one LUN of one host has outstanding at most.
    pub depth: u32,
    /// LUNs of all hosts.
    pub queues: u32,
    /// Requests that were outstanding at all of them together, on average.
    pub mean_outstanding: f64,
    /// Requests that waited for that on average, but for what a page cache writes back and nobody waits for.
    pub mean_waiting: f64,
}

impl Component {
    /// What `meter` says of a part of `servers` servers after `elapsed`.
    pub fn of(name: String, meter: &Meter, servers: u32, elapsed: Nanos) -> Component {
        debug_assert!(servers > 0, "what serves must have a server");
        let visits: Vec<(Class, Visits)> = Class::ALL
            .into_iter()
            .map(|class| (class, meter.visits(class)))
            .filter(|(_, visits)| visits.count > 0)
            .collect();
        Component {
            name,
            utilisation: meter.utilisation(elapsed, servers),
            mean_present: meter.mean_present(elapsed),
            busy: Nanos::new(meter.busy_ns()),
            visits,
            moved: None,
            role: None,
            model: None,
            chooses_among: None,
            busiest: None,
        }
    }

    /// What it is, without its numbers: `controller processor` of `controller 0 processor`.
    fn kind(&self) -> impl Iterator<Item = &str> {
        self.name.split(' ').filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Leaves `components` only with kinds that anything came to: a part that nothing came to says something beside one of its kind
    /// that worked, and nothing where all of them cost nothing.
    pub fn keep_met(components: &mut Vec<Component>) {
        let mut met: Vec<Vec<String>> = Vec::new();
        for part in components.iter().filter(|part| !part.visits.is_empty()) {
            if !met.iter().any(|kind| part.kind().eq(kind.iter())) {
                met.push(part.kind().map(str::to_owned).collect());
            }
        }
        components.retain(|part| met.iter().any(|kind| part.kind().eq(kind.iter())));
    }

    /// The same, busy for `busy` as its `servers` were together, which do not serve a visit each.
    pub fn with_busy(self, busy: Nanos, servers: u32, elapsed: Nanos) -> Component {
        let whole = elapsed.get() as f64 * f64::from(servers);
        let utilisation = if whole > 0.0 { busy.get() as f64 / whole } else { 0.0 };
        Component { utilisation, busy, ..self }
    }
}
