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

/// Content that takes this part of the workers' time slows a worker that never waits for anything else.
const CONTENT: f64 = 0.05;

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

/// What making the content of writes cost, where it is much of the workers' time.
pub(crate) fn content_cost(point: &Point, workload: &WorkloadResult) -> Option<Draft> {
    let spent = workload.workers.iter().filter_map(|worker| worker.cpu?.content_s).sum::<f64>();
    let share = spent / (took_s(point) * workload.workers.len().max(1) as f64);
    let writes: u64 =
        workload.totals.iter().filter(|total| total.op == record::Op::Write).map(|total| total.ops).sum();
    if share.is_nan() || share < CONTENT || writes == 0 {
        return None;
    }
    let each = Nanos::from_secs_f64(spent / writes as f64);
    let sentence = format!(
        "Generating the data of a write took {each} of CPU time, {} of the workers' time. It is not part of any latency, \
         but lowers the rate of a worker that is never idle.",
        percent(share)
    );
    let draft = Draft::new(Code::ContentCost, Severity::Note, sentence).remedy(
        "`content = \"reused\"` makes it once, as many programs do, where the storage does not deduplicate.",
    );
    Some(draft.number("content_share", share).number("content_ns", each.get() as f64))
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

#[cfg(test)]
mod tests {
    use record::WorkerResult;
    use record::sample::{self, Stream, responses};

    use super::*;

    /// 20,000 reads a second of 1 ms by workers with these ceilings and processor times, in a point of 31 s.
    fn run(workers: &[(Option<f64>, f64)]) -> Run {
        let stream =
            Stream { op: "read", size_bytes: 4096, per_s: 20_000, median_ns: 1_000_000, spread: 0.0 };
        let mut workload = sample::workload("main", &[stream]);
        let worker = |(index, (ceiling_per_s, total_s)): (u32, &(Option<f64>, f64))| WorkerResult {
            index,
            cpu: Some(CpuUse { user_s: total_s / 4.0, system_s: total_s * 0.75, ..CpuUse::default() }),
            ceiling_per_s: *ceiling_per_s,
            ..workload.workers[0].clone()
        };
        workload.workers = (0..).zip(workers).map(worker).collect();
        sample::run("quick", vec![sample::point(0, "p", vec![workload])])
    }

    fn found(run: &Run) -> Option<record::Finding> {
        limited(run, &run.points[0], &run.points[0].workloads[0]).map(Draft::about_run)
    }

    #[test]
    fn content_that_takes_a_twentieth_of_the_workers_time_is_told_with_what_a_write_costs() {
        let with = |content_s: Option<f64>| {
            let stream =
                Stream { op: "write", size_bytes: 4096, per_s: 20_000, median_ns: 1_000_000, spread: 0.0 };
            let mut workload = sample::workload("main", &[stream]);
            for worker in &mut workload.workers {
                worker.cpu = worker.cpu.map(|cpu| CpuUse { content_s, ..cpu });
            }
            let run = sample::run("quick", vec![sample::point(0, "p", vec![workload])]);
            let point = &run.points[0];
            (took_s(point), content_cost(point, &point.workloads[0]).map(Draft::about_run))
        };
        let (took, none) = with(None);
        assert!(none.is_none());
        assert!(with(Some(took * 0.049)).1.is_none());
        let finding = with(Some(took * 0.10)).1.expect("a tenth of its time");
        assert_eq!((finding.code.as_str(), finding.severity), ("content-cost", Severity::Note));
        assert!((finding.numbers["content_share"] - 0.10).abs() < 1e-9, "{finding:?}");
        assert!(finding.numbers["content_ns"] > 0.0, "{finding:?}");
    }

    #[test]
    fn workers_that_are_busy_for_nineteen_twentieths_of_a_point_limit_it() {
        // Of 32 s, which a share of 0.95 divides without rest.
        let with = |busy_s: &[f64]| {
            let workers: Vec<_> = busy_s.iter().map(|busy_s| (None, *busy_s)).collect();
            let mut run = run(&workers);
            run.points[0].ended_ns = run.points[0].started_ns + 32_000_000_000;
            run
        };
        assert!(found(&with(&[30.3, 3.2])).is_none());
        let finding = found(&with(&[3.2, 30.4, 31.04])).expect("two are busy");
        assert_eq!(
            finding.sentence,
            "Load generator saturated: 2 workers of 3 kept a processor 97 % busy. The storage may do more."
        );
        assert_eq!(
            (finding.numbers["workers_limited"], finding.numbers["busiest_share"]),
            (2.0, 31.04 / 32.0)
        );
        let mut polling = with(&[32.0]);
        polling.points[0].workloads[0].spec.engine.iopoll = true;
        assert!(found(&polling).is_none(), "it polls");
        let mut at_once = with(&[1.0]);
        at_once.points[0].ended_ns = at_once.points[0].started_ns;
        assert!(found(&at_once).is_none(), "it took no time");
        at_once.points[0].workloads[0].workers[0].cpu = None;
        assert!(found(&at_once).is_none());
    }

    #[test]
    fn the_ceiling_is_the_mean_of_the_workers_for_each_that_has_a_processor() {
        let of = |ceilings: &[Option<f64>], cpus: u32| {
            let workers: Vec<_> = ceilings.iter().map(|ceiling| (*ceiling, 0.0)).collect();
            let mut run = run(&workers);
            run.environment.cpus = cpus;
            ceiling(&run, &run.points[0].workloads[0])
        };
        let three = [Some(1e4), Some(2e4), Some(6e4)];
        assert_eq!([0, 1, 2, 3, 8].map(|cpus| of(&three, cpus)), [9e4, 3e4, 6e4, 9e4, 9e4].map(Some));
        assert_eq!((of(&[Some(1e4), None], 8), of(&[], 8), of(&[Some(0.0)], 8)), (None, None, None));
    }

    #[test]
    fn half_of_the_ceiling_is_near_it() {
        let near = |ceiling: f64| found(&run(&[(Some(ceiling), 0.0)]));
        assert!(near(40_001.0).is_none());
        let finding = near(40_000.0).expect("20,000 are half of it");
        assert_eq!(
            finding.sentence,
            "Load generator near its ceiling: 20,000/s is 50 % of the 40,000/s that it reaches without storage. The \
             storage may do more."
        );
        assert_eq!((finding.numbers["ceiling_per_s"], finding.numbers["ceiling_share"]), (40_000.0, 0.5));
    }

    #[test]
    fn lateness_beyond_a_twentieth_of_the_response_a_timer_and_every_service_is_the_generators() {
        let late = |response_ns: u64, late_ns: u64, service_ns: Option<u64>| {
            let mut run = run(&[]);
            let workload = &mut run.points[0].workloads[0];
            workload.classes[0].response = responses(1_000, response_ns, 0.0);
            workload.classes[0].service = service_ns.map(|service_ns| responses(1_000, service_ns, 0.0));
            workload.late = Some(responses(1_000, late_ns, 0.0));
            found(&run)
        };
        // These are ends of buckets, which a quantile is to the nanosecond.
        let (twentieth, all) = (204_799, 4_095_980);
        let finding = late(all / 2, twentieth, None).expect("a tenth");
        assert!(
            finding
                .sentence
                .starts_with("Load generator saturated: 1 % of the requests were issued 205 µs late")
        );
        assert!((finding.numbers["late_ns_p99"] / finding.numbers["response_ns_p99"] - 0.1).abs() < 1e-3);
        assert!(late(all + all / 50, twentieth, None).is_none());
        assert!(late(all - all / 50, twentieth, None).is_some());
        // Values that all are alike are told to the nanosecond.
        assert!(late(20 * 104_000, 104_000, None).is_none(), "a twentieth");
        assert!(late(20 * 104_000, 104_001, None).is_some());
        assert!(late(1_000, 99_000, None).is_none(), "any timer is as late");
        assert!(late(1_000, 101_000, None).is_some());
        assert!(late(1_000, 200_000, Some(210_000)).is_none(), "a call that blocks takes as long");
        assert!(late(1_000, 200_000, Some(190_000)).is_some());
    }
}
