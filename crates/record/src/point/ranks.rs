//! Ranks of one load held beside each other.

use super::RankResult;

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

/// The slowest one; `None` where all are as fast, to the percent.
pub fn slowest(ranks: &[RankResult]) -> Option<&RankResult> {
    let by_rate = by_rate(ranks);
    (by_rate.len() > 1 && evenness(ranks) < ALIKE).then(|| by_rate[0])
}

/// What a worker of the slowest rank did of what one of the fastest did.
pub fn evenness(ranks: &[RankResult]) -> f64 {
    let ranks = by_rate(ranks);
    match (ranks.first(), ranks.last()) {
        (Some(slow), Some(quick)) if quick.ops > 0 => slow.ops_per_worker() / quick.ops_per_worker(),
        _ => 1.0,
    }
}
