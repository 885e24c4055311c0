//! Whether the load generator was saturated: its CPU time, its ceiling, and how late it issued requests.

use record::{CpuUse, Point, Run, Severity, WorkloadResult};
use units::{Nanos, OpsPerSecond};

use crate::Code;
use crate::draft::{Draft, percent, several};
use crate::evidence::{merged, took_s};

/// A worker whose CPU utilization is this high is saturated.
const WORKER_BUSY: f64 = 0.95;

/// At this part of the load generator's ceiling half of every request's time is its own: storage with no latency at all
/// would have given twice the rate, and not more.
const CEILING: f64 = 0.50;

/// Lateness of the load generator itself beyond this part of the response time changes what is measured.
const LATE: f64 = 0.05;
/// Below this lateness is that of any timer.
const LATE_LEAST: Nanos = Nanos::from_micros(100);

pub(crate) fn limited(run: &Run, point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    by_processors(point, workload).or_else(|| by_ceiling(run, workload)).or_else(|| by_lateness(workload))
}

fn draft(sentence: String) -> Draft {
    Draft::new(Code::GeneratorSaturated, Severity::Warning, sentence)
        .remedy("Use more `workers` with less `depth` each, a larger `submit_batch`, or a larger machine.")
}

fn by_processors(point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    // With polling a worker is busy by intent.
    if workload.spec.engine.iopoll {
        return None;
    }
    let took = took_s(point);
    let busy = |cpu: CpuUse| cpu.total_s() / took;
    let shares: Vec<f64> = workload.workers.iter().filter_map(|worker| worker.cpu).map(busy).collect();
    let limited = shares.iter().filter(|share| **share >= WORKER_BUSY).count() as u64;
    let busiest = shares.iter().copied().reduce(f64::max).filter(|share| share.is_finite())?;
    if limited == 0 {
        return None;
    }
    let sentence = format!(
        "Load generator saturated: {} of {} kept a processor {} busy. The storage may do more.",
        several(limited, "worker"),
        workload.workers.len(),
        percent(busiest)
    );
    Some(draft(sentence).number("workers_limited", limited as f64).number("busiest_share", busiest))
}

/// The ceiling of all workers together, each with a processor of its own as far as there are any; `None` where that was
/// not measured of each.
pub(crate) fn ceiling(run: &Run, workload: &WorkloadResult) -> Option<f64> {
    let ceilings: Option<Vec<f64>> = workload.workers.iter().map(|worker| worker.ceiling_per_s).collect();
    let ceilings = ceilings.filter(|each| !each.is_empty())?;
    let processors = match run.environment.cpus {
        0 => ceilings.len(),
        cpus => ceilings.len().min(cpus as usize),
    };
    let sum = ceilings.iter().sum::<f64>() / ceilings.len() as f64 * processors as f64;
    (sum > 0.0).then_some(sum)
}

fn by_ceiling(run: &Run, workload: &WorkloadResult) -> Option<Draft> {
    let ceiling = ceiling(run, workload)?;
    let rate = workload.total()?.ops_per_s.value;
    let share = rate / ceiling;
    if share < CEILING {
        return None;
    }
    let sentence = format!(
        "Load generator near its ceiling: {}/s is {} of the {}/s that it reaches without storage. The storage may do \
         more.",
        OpsPerSecond::new(rate.round()),
        percent(share),
        OpsPerSecond::new(ceiling.round())
    );
    Some(draft(sentence).number("ceiling_per_s", ceiling).number("ceiling_share", share))
}

/// An engine that blocks in the kernel makes the load generator late, too; hence only what exceeds every service time.
fn by_lateness(workload: &WorkloadResult) -> Option<Draft> {
    let late = workload.late.as_ref()?.to_stats()?.quantile(0.99)?;
    let response = merged(workload.classes.iter().map(|class| &class.response))?.quantile(0.99)?;
    let services = workload.classes.iter().filter_map(|class| class.service.as_ref());
    let longest = services.filter_map(|service| service.max_ns).max().map_or(Nanos::ZERO, Nanos::new);
    let matters = late >= LATE_LEAST && late.as_secs_f64() > LATE * response.as_secs_f64();
    if !matters || late <= longest {
        return None;
    }
    let sentence = format!(
        "Load generator saturated: 1 % of the requests were issued {late} late or more although the queue was not \
         full. The p99 response time is {response}."
    );
    Some(
        draft(sentence)
            .number("late_ns_p99", late.get() as f64)
            .number("response_ns_p99", response.get() as f64),
    )
}
