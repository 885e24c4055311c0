//! Ranks of one load that did not do alike: a host that is the limit, a path that is slower, a straggler.

use record::{Point, RankResult, Run, Severity};
use units::{Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent};

/// A rank or host whose workers do less than this part of what those of the others do is slow.
const SLOW: f64 = 0.8;

/// With fewer requests a rank's rate is a matter of chance.
const OPS_LEAST: u64 = 100;

/// A host whose ranks used more than this part of its processors had no more to give.
const BUSY: f64 = 0.9;

/// Ranks are to start within this time of each other.
const TOGETHER_NS: u64 = 1_000_000;

/// A start that may be off by this part of the window makes the figures of the whole uncertain.
const EDGE: f64 = 0.01;

/// Ranks of one host that are in the figures and drove something.
pub(crate) struct Host<'a> {
    pub name: &'a str,
    pub ranks: Vec<&'a RankResult>,
}

impl Host<'_> {
    /// Requests of a worker.
    fn each(&self) -> f64 {
        let ops: u64 = self.ranks.iter().map(|rank| rank.ops).sum();
        let workers: u32 = self.ranks.iter().map(|rank| rank.workers).sum();
        ops as f64 / f64::from(workers.max(1))
    }

    /// Of its processors, how many parts its ranks used; `None` where that is not known.
    fn busy(&self, point: &Point) -> Option<f64> {
        let processors = self.ranks.iter().filter_map(|rank| rank.processors).max()?;
        let used: Option<f64> = self.ranks.iter().map(|rank| Some(rank.cpu?.total_s())).sum();
        let last = self.ranks.iter().filter_map(|rank| rank.ended_ns).max()?;
        let from = point.workloads.iter().map(|workload| workload.measured_from_ns).min()?;
        let seconds = last.checked_sub(from).filter(|ns| *ns > 0)? as f64 / 1e9;
        Some(used? / (seconds * f64::from(processors)))
    }
}

/// Hosts with ranks that are in the figures, in the order of their first ranks.
pub(crate) fn hosts(point: &Point) -> Vec<Host<'_>> {
    let mut hosts: Vec<Host<'_>> = Vec::new();
    for rank in point.ranks.iter().filter(|rank| rank.is_counted()) {
        match hosts.iter_mut().find(|host| host.name == rank.host) {
            Some(host) => host.ranks.push(rank),
            None => hosts.push(Host { name: &rank.host, ranks: vec![rank] }),
        }
    }
    hosts
}

/// The middle one; of two in the middle the lower.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Whether workers of all ranks were asked for the same: of several workloads a rank may have more of one than another.
pub(crate) fn is_alike(point: &Point) -> bool {
    let enough = |rank: &RankResult| !rank.is_counted() || rank.ops >= OPS_LEAST;
    point.workloads.len() == 1
        && point.ranks.iter().filter(|rank| !enough(rank)).count() * 2 < point.ranks.len()
}

/// A host whose ranks left its processors no idle time.
pub(crate) fn host_limit(_: &Run, point: &Point) -> Option<Draft> {
    if point.ranks.len() < 2 {
        return None;
    }
    let hosts = hosts(point);
    let busiest = hosts.iter().filter_map(|host| Some((host, host.busy(point)?)));
    let (host, busy) =
        busiest.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, busy)| *busy >= BUSY)?;
    let sentence = format!(
        "The ranks on {} used {} of its processors: this host is the limit, and not the storage.",
        host.name,
        percent(busy.min(1.0))
    );
    let draft = Draft::new(Code::HostLimit, Severity::Warning, sentence)
        .remedy("Spread the same workers over more hosts, or use a larger block size.");
    Some(draft.number("busy_share", busy))
}

/// A host whose workers did less than those of the others, though it has processors to spare.
pub(crate) fn unequal_paths(_: &Run, point: &Point) -> Option<Draft> {
    if !is_alike(point) {
        return None;
    }
    let hosts = hosts(point);
    let slow = hosts.iter().min_by(|one, other| one.each().total_cmp(&other.each()))?;
    let others = hosts.iter().filter(|host| host.name != slow.name).map(Host::each).collect();
    let usual = median(others)?;
    if slow.each() >= SLOW * usual || slow.busy(point).is_some_and(|busy| busy >= BUSY) {
        return None;
    }
    let sentence = format!(
        "A worker on {} had {} requests, one on the other hosts {}: its path to the storage is slower.",
        slow.name,
        count(slow.each()),
        count(usual)
    );
    let draft = Draft::new(Code::UnequalPaths, Severity::Warning, sentence)
        .remedy("Compare its link speed, mount options and targets with those of another host; the figures are those of both.");
    Some(draft.number("requests_per_worker", slow.each()).number("other_requests_per_worker", usual))
}

/// A rank whose workers did less than those of the other ranks of its host.
pub(crate) fn straggler(_: &Run, point: &Point) -> Option<Draft> {
    if !is_alike(point) {
        return None;
    }
    let hosts = hosts(point);
    let behind = |host: &Host<'_>| {
        let slow = *host
            .ranks
            .iter()
            .min_by(|one, other| one.ops_per_worker().total_cmp(&other.ops_per_worker()))?;
        let others = host
            .ranks
            .iter()
            .filter(|rank| rank.rank != slow.rank)
            .map(|rank| rank.ops_per_worker())
            .collect();
        let usual = median(others)?;
        let own = slow.ops_per_worker();
        (own < SLOW * usual).then(|| (slow.rank, host.name.to_owned(), own, usual))
    };
    let part = |of: &(u32, String, f64, f64)| of.2 / of.3;
    let worst = hosts.iter().filter_map(behind).min_by(|one, other| part(one).total_cmp(&part(other)))?;
    let (rank, host, own, usual) = worst;
    let sentence = format!(
        "Rank {rank} on {host} is a straggler: a worker of it had {} requests, one of the other ranks there {}.",
        count(own),
        count(usual)
    );
    let draft = Draft::new(Code::Straggler, Severity::Warning, sentence)
        .remedy("See what else runs on the processors of that rank, and whether its files lie elsewhere.");
    Some(draft.number("requests_per_worker", own).number("other_requests_per_worker", usual))
}

/// That a rank may have started apart from the others: by how little is known of its clock, and by how late it was told.
pub(crate) fn rank_clocks(_: &Run, point: &Point) -> Option<Draft> {
    let apart = |rank: &RankResult| rank.late_ns + rank.clock.map_or(0, |clock| clock.uncertainty_ns);
    let counted = point.ranks.iter().filter(|rank| rank.is_counted());
    let worst = counted.max_by_key(|rank| apart(rank)).filter(|rank| apart(rank) > TOGETHER_NS)?;
    let window = point.workloads.iter().map(|workload| workload.measured_ns).max().filter(|ns| *ns > 0)?;
    let part = apart(worst) as f64 / window as f64;
    let RankResult { rank, host, late_ns, clock, .. } = worst;
    let known = clock.map_or(0, |clock| clock.uncertainty_ns);
    let late = match late_ns {
        0 => String::new(),
        late => format!(", and it started {} late", Nanos::new(*late)),
    };
    let (severity, follows) = match part >= EDGE {
        true => (Severity::Warning, "The figures include a time in which not all ranks issued requests"),
        false => {
            (Severity::Note, "The figures of the whole do not show it; do not compare instants of two hosts")
        }
    };
    let sentence = format!(
        "Ranks may have started {} apart, {} of the window of {}: the clock of rank {rank} on {host} is known to {}{late}. \
         {follows}.",
        Nanos::new(apart(worst)),
        percent(part),
        Nanos::new(window),
        Nanos::new(known),
    );
    let draft = Draft::new(Code::RankClocks, severity, sentence).remedy(
        "Measure for longer, with as many ranks as there are processors at most, and not beside other programs: a clock is known \
         to half of the quickest round trip.",
    );
    Some(draft.number("apart_s", apart(worst) as f64 / 1e9).number("window_share", part))
}

/// A number of requests, as rates are written.
fn count(requests: f64) -> String {
    OpsPerSecond::new(requests).to_string()
}
