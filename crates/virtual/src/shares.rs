//! How the response time of a load divides over the parts of a virtual array.

use array::latency::{LatencyTotals, Stage, Times};
use array::sim::RunOutcome;
use record::{PartShare, ResponseShare, Shares};
use workload::plan::Load;
use workload::tally::{Class, Tally};

/// The share of the requests that is the tail.
const TAIL: f64 = 0.01;

/// Fewer requests have no tail: ten have to lie beyond a percentile that is shown.
const TAIL_REQUESTS: u64 = 1_000;

/// For each workload and class; `workload_of` names the workload of each job.
pub fn of(load: &Load, outcome: &RunOutcome, workload_of: &[usize]) -> Vec<ResponseShare> {
    let mut shares = Vec::new();
    assert_eq!(workload_of.len(), outcome.tallies.len(), "each job is of a workload");
    debug_assert!(workload_of.iter().all(|of| *of < load.workloads.len()), "of one of the load");
    for (index, workload) in load.workloads.iter().enumerate() {
        let mut totals = LatencyTotals::default();
        let own = || workload_of.iter().enumerate().filter(|(_, of)| **of == index).map(|(job, _)| job);
        own().for_each(|job| totals.merge(&outcome.latency[job]));
        for class in totals.classes() {
            let mut all = totals.all(class);
            let waits = own().map(|job| measured(&outcome.tallies[job], class));
            let (count, waited_ns) = waits.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            // Requests that fell due and were never issued are in the histograms with what they had waited by then.
            let never = (count.saturating_sub(all.count), waited_ns.saturating_sub(all.response_ns));
            let tail =
                (never.0 == 0 && all.count >= TAIL_REQUESTS).then(|| totals.tail(class, TAIL)).flatten();
            (all.count, all.response_ns) = (count, waited_ns);
            all.stages[Stage::Schedule as usize].0 += never.1;
            shares.push(ResponseShare {
                workload: workload.name.clone(),
                op: class.op.into(),
                size_bytes: class.size.get(),
                all: means(&all, 0),
                tail: tail.map(|tail| means(&tail.times, tail.from.get())),
            });
        }
    }
    shares
}

/// The mean over all requests of `shares`, part by part in the order in which a request meets them.
pub fn together(shares: &[ResponseShare]) -> Vec<PartShare> {
    let requests: u64 = shares.iter().map(|share| share.all.requests).sum();
    let parts = |stage: &Stage| {
        let name = stage.name();
        let mut sum = PartShare { part: name.into(), wait_ns: 0.0, service_ns: 0.0 };
        for share in shares {
            let weight = share.all.requests as f64 / requests.max(1) as f64;
            for own in share.all.parts.iter().filter(|own| own.part == name) {
                sum.wait_ns += weight * own.wait_ns;
                sum.service_ns += weight * own.service_ns;
            }
        }
        (sum.wait_ns + sum.service_ns > 0.0).then_some(sum)
    };
    Stage::ALL.iter().filter_map(parts).collect()
}

/// Measured requests of a class and their response times.
fn measured(tally: &Tally, class: Class) -> (u64, u64) {
    let own = tally.classes.iter().filter(|own| own.class == class);
    own.fold((0, 0), |(count, sum), own| {
        let sum_ns = u64::try_from(own.response.sum_ns()).unwrap_or(u64::MAX);
        (count + own.response.count(), sum + sum_ns)
    })
}

fn means(times: &Times, from_ns: u64) -> Shares {
    debug_assert_eq!(
        times.spent().map(|(_, wait, service)| wait + service).sum::<u64>(),
        times.response_ns,
        "what was spent at the parts is the response time"
    );
    let mean = |sum: u64| sum as f64 / times.count.max(1) as f64;
    let part = |(stage, wait, service): (Stage, u64, u64)| PartShare {
        part: stage.name().into(),
        wait_ns: mean(wait),
        service_ns: mean(service),
    };
    Shares {
        requests: times.count,
        from_ns,
        mean_ns: mean(times.response_ns),
        parts: times.spent().map(part).collect(),
    }
}
