//! What a figure was in each stretch of the window. It decides where requests depend on each other so much that no interval
//! is narrow enough: a cache that fills, a load that falls behind its schedule.
//!
//! The median of the stretches lies between their least and their greatest figure, whatever their distribution (sign test).

use record::{Metric, Op, Ops, ResponseMap, response_map};
use stats::exceedance::binomial_bounds;

use super::cells::Cell;
use super::measured::Measured;

/// With as many stretches the median lies outside all of them once in 128 times; that is on top of what an interval misses.
const FEWEST: usize = 8;

const _: () = assert!(FEWEST >= 6, "with fewer the median lies outside them more than once in 40 times");

/// How sure it must be that requests that are all below a limit prove a percentile below it.
const SURE: f64 = 0.975;

/// The least and the greatest figure of a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The least; absent where none of the stretches tells one.
    pub low: Option<f64>,
    /// The greatest; absent where one of them has none.
    pub high: Option<f64>,
    /// How many stretches.
    pub count: usize,
}

/// The range of `metric` over all stretches of the cell's measurements: of a rate its whole seconds, of a percentile the
/// stretches of the record's map. `None` of a mean, of one operation among several, and of fewer than eight stretches.
pub(super) fn range(cell: &Cell<'_>, metric: Metric) -> Option<Range> {
    let ends: Vec<(f64, Option<f64>)> = match metric {
        Metric::Iops | Metric::Throughput => {
            let seconds = cell.measured().iter().flat_map(|one| one.seconds(metric));
            seconds.map(|rate| (rate, Some(rate))).collect()
        }
        Metric::Quantile(q) => {
            let maps: Option<Vec<&ResponseMap>> = cell.measured().iter().map(map).collect();
            let all_issued = cell.measured().iter().all(all_issued);
            let maps = maps?;
            let stretches = || maps.iter().flat_map(|map| &map.stretches);
            let requests: u64 = stretches().flatten().map(|(_, count)| count).sum();
            // Percentiles of few requests each are all low because the slow ones are rare.
            let proves = all_issued && binomial_bounds(0, requests, SURE).high <= 1.0 - q;
            let of = |stretch: &Vec<(u32, u64)>| match response_map::quantile_edges(stretch, q) {
                Some((low, high)) => (low.get() as f64, proves.then_some(high.get() as f64)),
                // Nothing ended: whatever was in flight took longer, and nobody knows by how much.
                None => (f64::INFINITY, None),
            };
            stretches().map(of).collect()
        }
        Metric::Mean | Metric::Max => return None,
    };
    if ends.len() < FEWEST {
        return None;
    }
    let low = ends.iter().map(|(low, _)| *low).fold(f64::INFINITY, f64::min);
    let high = ends.iter().try_fold(0.0, |most: f64, (_, high)| Some(most.max((*high)?)));
    assert!(high.is_none_or(|high| low <= high), "the least is no more than the greatest");
    Some(Range { low: low.is_finite().then_some(low), high, count: ends.len() })
}

/// The times of the cell's requests by stretch; `None` where those of other operations are among them.
fn map<'a>(one: &Measured<'a>) -> Option<&'a ResponseMap> {
    let flushes = one.workload.each_op().any(|summary| summary.op == Ops::One(Op::Flush));
    let is_alone = one.summary.op == Ops::All && !flushes || one.workload.each_op().count() <= 1;
    one.workload.responses_over_time.as_ref().filter(|map| is_alone && map.is_known())
}

/// Whether every request that fell due was issued: the map has what ended.
fn all_issued(one: &Measured<'_>) -> bool {
    one.workload.not_issued == 0 && one.workload.dropped == 0
}
