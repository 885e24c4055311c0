//! Sums over all workloads of a point, as tools print them.

use record::{Class, Op, Point, WorkerResult};
use workload::spec::Pattern;

/// What was measured of each operation and size, of all workloads.
pub(crate) fn classes(point: &Point) -> impl Iterator<Item = &Class> {
    point.workloads.iter().flat_map(|workload| &workload.classes)
}

/// What each worker did, of all workloads.
pub(crate) fn workers(point: &Point) -> impl Iterator<Item = &WorkerResult> {
    point.workloads.iter().flat_map(|workload| &workload.workers)
}

/// The mean of a series of shares, in per cent; `None` where it was not watched.
pub(crate) fn mean_percent(point: &Point, name: &str) -> Option<f64> {
    let series = point.series.iter().find(|series| series.name == name && !series.values.is_empty())?;
    Some(100.0 * series.values.iter().sum::<f64>() / series.values.len() as f64)
}

/// Whether requests go through the span from place to place, one beside the other or in steps.
pub(crate) fn is_in_order(pattern: &Pattern) -> bool {
    pattern == &Pattern::Interlocked || pattern.has_stretches() && !matches!(pattern, Pattern::Columns { .. })
}

/// Whether anything was done by `op`.
pub(crate) fn has(point: &Point, op: Op) -> bool {
    classes(point).any(|class| class.op == op)
}

/// Bytes that all requests moved.
pub(crate) fn bytes(point: &Point) -> u64 {
    classes(point).map(|class| class.bytes).sum()
}

/// The time of the workload that was measured longest.
pub(crate) fn measured_ns(point: &Point) -> u64 {
    point.workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0)
}

/// The same in seconds.
pub(crate) fn seconds(point: &Point) -> f64 {
    measured_ns(point) as f64 / 1e9
}

/// On how many hosts the ranks of `point` ran; 1 where it was one process.
pub(crate) fn hosts(point: &Point) -> u32 {
    let mut names: Vec<&str> = point.ranks.iter().map(|rank| rank.host.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    units::convert::narrow(names.len().max(1))
}
