//! Ranks of one load held beside each other.

use super::{Point, RankResult};

/// Ranks that are nearer to each other are as fast as each other.
const ALIKE: f64 = 0.995;

/// Those that drove something and are in the figures, the slowest first: by requests of a worker, then by their end.
pub fn by_rate(ranks: &[RankResult]) -> Vec<&RankResult> {
    let mut ranks: Vec<&RankResult> = ranks.iter().filter(|rank| rank.is_counted()).collect();
    ranks.sort_by(|one, other| {
        let by_rate = one.ops_per_worker().total_cmp(&other.ops_per_worker());
        by_rate.then_with(|| other.ended_ns.cmp(&one.ended_ns))
    });
    ranks
}

/// Whether each rank has as many workers of each workload as any other: what a worker did is otherwise that of different workloads.
fn drive_alike(point: &Point) -> bool {
    let ranks = point.ranks.len().max(1);
    point.workloads.len() < 2 || point.workloads.iter().all(|workload| workload.workers.len() % ranks == 0)
}

/// The slowest one; `None` where all are as fast, to the percent, and where they drive different workloads.
pub fn slowest(point: &Point) -> Option<&RankResult> {
    let by_rate = by_rate(&point.ranks);
    (by_rate.len() > 1 && evenness(point) < ALIKE).then(|| by_rate[0])
}

/// Requests and bytes a second of `rank` of `point`: over the window, of one that was lost over the time for which it is known
/// what it did; `None` where that is not known.
pub fn rates(point: &Point, rank: &RankResult) -> Option<(f64, f64)> {
    let window = || point.workloads.iter().map(|workload| workload.measured_ns).max();
    let over_ns = match &rank.lost {
        Some(_) => rank.heard_until_ns?.checked_sub(point.started_ns),
        None => window(),
    };
    let seconds = over_ns.filter(|ns| *ns > 0)? as f64 / 1e9;
    Some((rank.ops as f64 / seconds, rank.bytes as f64 / seconds))
}

/// What a worker of the slowest rank did of what one of the fastest did; 1 where they drive different workloads.
pub fn evenness(point: &Point) -> f64 {
    if !drive_alike(point) {
        return 1.0;
    }
    let ranks = by_rate(&point.ranks);
    let evenness = match (ranks.first(), ranks.last()) {
        (Some(slow), Some(quick)) if quick.ops > 0 => slow.ops_per_worker() / quick.ops_per_worker(),
        _ => 1.0,
    };
    assert!((0.0..=1.0).contains(&evenness), "the slowest rank is {evenness} times as fast as the quickest");
    evenness
}
