//! What ranks saw of a load, put together as if one process had seen it.

use conduct::{History, MeasuredLoad, MeasuredWorker, Share};
use record::RankResult;
use stats::Histogram;
use units::convert::narrow;
use workload::tally::Interval;

use crate::wire::{Shift, Unknown, WireInterval, WireLoad, interval_in, worker_in};

/// Notes of workers whose rank is not known yet that it is `rank`.
pub(crate) fn driven_by(load: &mut MeasuredLoad, rank: u32) {
    let workers = load.workloads.iter_mut().flat_map(|workload| &mut workload.workers);
    workers.for_each(|worker| worker.rank = worker.rank.or(Some(rank)));
}

/// Workers in order of their ranks, in the order of their numbers: the first ones are those of rank `first`, where that is one.
pub(crate) fn in_order(workers: &mut [MeasuredWorker], first: u32) {
    debug_assert!(
        workers.is_sorted_by_key(|worker| worker.rank),
        "shares were added out of the ranks' order"
    );
    let before = workers.iter().filter(|worker| worker.rank.is_some_and(|rank| rank < first)).count();
    workers.rotate_left(before);
}

/// Workers, requests and bytes of a load.
pub(crate) fn counted(load: &MeasuredLoad) -> (u32, u64, u64) {
    let workers = || load.workloads.iter().flat_map(|workload| &workload.workers);
    let bytes = workers().flat_map(|worker| &worker.tally.classes).map(|class| class.bytes.get()).sum();
    (narrow(workers().count()), workers().map(|worker| worker.tally.ops()).sum(), bytes)
}

/// The median and the 99th percentile of the response times of `workers`, where there are enough requests for each.
fn responses<'a>(workers: impl Iterator<Item = &'a MeasuredWorker>) -> [Option<u64>; 2] {
    /// Requests that are slower than a percentile at least.
    const SLOWER: f64 = 10.0;
    let mut all = Histogram::default();
    workers.flat_map(|worker| &worker.tally.classes).for_each(|class| all.merge(&class.response));
    [0.5, 0.99].map(|part| {
        let is_known = all.count() as f64 * (1.0 - part) >= SLOWER;
        all.quantile(part).filter(|_| is_known).map(units::Nanos::get)
    })
}

/// What is known of the ways of one rank: the percentiles of its response times, with the interval of the 99th and its longest gap
/// where the load is one workload, whose workers all ask for the same.
pub(crate) fn ways(of_workloads: &[(&[MeasuredWorker], &History)]) -> RankResult {
    let all = of_workloads.iter().flat_map(|(workers, _)| *workers);
    let [response_p50_ns, response_p99_ns] = responses(all);
    let share = match of_workloads {
        [(workers, history)] => {
            conduct::share_of(workers.iter().map(|worker| &worker.tally), (*history).clone())
        }
        _ => Share::default(),
    };
    let p99 = share.p99.filter(|_| response_p99_ns.is_some());
    RankResult {
        response_p50_ns,
        response_p99_ns,
        response_p99_low_ns: p99.map(|interval| interval.low.get()),
        response_p99_high_ns: p99.map(|interval| interval.high.get()),
        longest_gap: share.longest_gap,
        ..RankResult::default()
    }
}

/// Adds what a rank saw; its instants are shifted so that its load began when that of rank 0 did, as it was agreed.
pub(crate) fn add(
    own: &mut MeasuredLoad,
    seen: WireLoad,
    told: Vec<(usize, WireInterval)>,
) -> Result<RankResult, Unknown> {
    let on_time = seen.started_ns.saturating_sub(seen.late_ns);
    let shift = Shift(i128::from(own.started.nanos()) - i128::from(on_time));
    if seen.workloads.len() != own.workloads.len() {
        return Err(Unknown);
    }
    let (mut workers, mut intervals) = (Vec::new(), vec![Vec::<Interval>::new(); own.workloads.len()]);
    for (workload, interval) in told {
        intervals.get_mut(workload).ok_or(Unknown)?.push(interval_in(interval, shift)?);
    }
    for (number, workload) in seen.workloads.into_iter().enumerate() {
        for interval in workload.intervals {
            intervals[number].push(interval_in(interval, shift)?);
        }
        let of_it = workload.workers.into_iter().map(|worker| worker_in(worker, shift));
        workers.push(of_it.collect::<Result<Vec<_>, _>>()?);
    }
    let histories: Vec<History> = intervals.iter().map(|own| History::of(own.clone())).collect();
    let of_workloads: Vec<_> = workers.iter().map(Vec::as_slice).zip(&histories).collect();
    let ways = ways(&of_workloads);
    let all = || workers.iter().flatten();
    let bytes = all().flat_map(|worker| &worker.tally.classes).map(|class| class.bytes.get()).sum();
    let ended = shift.of(seen.ended_ns);
    let result = RankResult {
        workers: narrow(all().count()),
        ops: all().map(|worker| worker.tally.ops()).sum(),
        bytes,
        ended_ns: Some(ended.nanos()),
        late_ns: seen.late_ns,
        cpu: seen.cpu,
        devices: seen.devices,
        ..ways
    };
    own.ended = own.ended.max(ended);
    if let (Some(sum), Some(one)) = (&mut own.cpu, seen.cpu) {
        *sum = *sum + one;
    }
    assert_eq!((workers.len(), intervals.len()), (own.workloads.len(), own.workloads.len()));
    for ((workload, workers), intervals) in own.workloads.iter_mut().zip(workers).zip(intervals) {
        workload.workers.extend(workers);
        workload.history.take(intervals);
    }
    Ok(result)
}
