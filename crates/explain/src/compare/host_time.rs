//! What a request takes of the host's processors, before a change and after: it tells what is slower at the host from what
//! is slower behind its cable, and is in no response time.
//!
//! On real storage that is the time of the threads that issue the requests, in this program and in the kernel for it; of a
//! virtual array it is the time that its host's processors work.
//!
//! **Invariant:** where waiting takes a processor – polling – nothing is told.

use record::Point;
use stats::difference::{Estimate, Noise};
use stats::geometric_mean;

use super::cells::Cell;
use super::estimate::RESOLUTION;
use super::pairs::same_in;
use super::shifts::Shift;

/// The figure, as it is named in what is said of it.
pub(super) const HOST_TIME: &str = "host time";

/// The time may be so many times as long without a cause at the host. Measured on a virtual machine beside other loads:
/// between equal runs up to 2.0 times, and where a disk answered 3 to 32 times as slowly up to 1.3 times, as fewer requests
/// are issued and ended together.
pub(super) const BY_ITSELF: f64 = 2.0;

/// By how much it changed at each point that both sides have.
pub(super) fn shifts(base: &[Vec<Cell<'_>>], runs: &[Vec<Cell<'_>>]) -> Vec<Shift> {
    let Some(first) = base.first() else { return Vec::new() };
    let mut points: Vec<(&str, [Vec<f64>; 2])> = Vec::new();
    for cell in first.iter().filter(|cell| cell.total) {
        let sides = [base, runs].map(|side| times(side, cell));
        // Workloads of one point share its time.
        let is_new = points.iter().all(|(name, _)| *name != cell.name);
        if is_new && sides.iter().all(|side| !side.is_empty()) {
            points.push((&cell.name, sides));
        }
    }
    let noise = Noise::of(points.iter().flat_map(|(_, sides)| sides.iter().map(Vec::as_slice)));
    points.iter().filter_map(|(name, sides)| shift(name, sides, noise)).collect()
}

/// That of each run.
fn times(runs: &[Vec<Cell<'_>>], like: &Cell<'_>) -> Vec<f64> {
    let cells = runs.iter().filter_map(|run| same_in(run, like));
    cells
        .filter_map(|cell| {
            let each: Option<Vec<f64>> = cell.measured().iter().map(|one| of(one.point)).collect();
            geometric_mean(&each?)
        })
        .collect()
}

/// Processor time of the host for each request that ended, in seconds.
fn of(point: &Point) -> Option<f64> {
    let of_start = point.workloads.iter().map(|workload| workload.completed).sum::<u64>() as f64;
    let (taken, ended) = match &point.breakdown {
        Some(breakdown) => {
            let is_host = |name: &str| name.starts_with("host ") && name.ends_with(" processor");
            let parts = breakdown.components.iter().filter(|part| is_host(&part.name));
            let taken: f64 = parts.map(|part| part.service_ns as f64 / 1e9).sum();
            (taken, measured(point).filter(|_| point.leaves_warm_up_out()).unwrap_or(of_start))
        }
        None => (of_workers(point)?, of_start),
    };
    (ended > 0.0 && taken > 0.0).then(|| taken / ended)
}

/// Requests that ended while they were measured.
fn measured(point: &Point) -> Option<f64> {
    let each = point
        .workloads
        .iter()
        .map(|workload| Some(workload.total()?.ops_per_s.value * workload.measured_ns as f64 / 1e9));
    each.sum()
}

fn of_workers(point: &Point) -> Option<f64> {
    let polls = point.workloads.iter().any(|workload| workload.spec.engine.iopoll);
    let workers = point.workloads.iter().flat_map(|workload| &workload.workers);
    let each: Option<Vec<f64>> = workers.map(|worker| Some(worker.cpu?.total_s())).collect();
    each.filter(|_| !polls).map(|each| each.iter().sum())
}

fn shift(name: &str, [base, runs]: &[Vec<f64>; 2], noise: Option<Noise>) -> Option<Shift> {
    let log = (geometric_mean(runs)? / geometric_mean(base)?).ln();
    let by_noise = |noise: Noise| noise.variance * (1.0 / base.len() as f64 + 1.0 / runs.len() as f64);
    // What single runs differ by is among what the time may differ by itself.
    let (variance, freedom) = noise.map_or((0.0, f64::INFINITY), |noise| (by_noise(noise), noise.freedom));
    let sure = Estimate::new(log.exp(), variance, freedom)?.at_least(RESOLUTION, f64::INFINITY);
    Some(Shift {
        cell: name.to_owned(),
        metric: HOST_TIME.into(),
        log,
        variance: sure.variance,
        freedom: sure.freedom,
    })
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Breakdown, Component, Run};

    use super::*;
    use crate::compare::shifts;

    /// A run whose requests take so many microseconds of the host each.
    fn run(microseconds: f64) -> Run {
        let reads = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.5 };
        let mut run = sample::run("p", vec![sample::point(0, "p", vec![sample::workload("main", &[reads])])]);
        let workload = &mut run.points[0].workloads[0];
        let cpu = workload.workers[0].cpu.as_mut().expect("a sample has it");
        (cpu.user_s, cpu.system_s) = (0.0, workload.completed as f64 * microseconds / 1e6);
        run
    }

    fn told(base: &[&Run], runs: &[&Run]) -> Vec<Shift> {
        shifts(base, runs).into_iter().filter(|one| one.metric == HOST_TIME).collect()
    }

    #[test]
    fn the_time_of_a_request_at_the_host_is_that_of_the_workers_in_single_runs_and_in_repeats() {
        let told_alone = told(&[&run(5.0)], &[&run(15.0)]);
        assert_eq!(told_alone.len(), 1);
        assert!((told_alone[0].log - 3.0f64.ln()).abs() < 1e-9, "{told_alone:?}");
        let repeated = told(&[&run(4.0), &run(6.25)], &[&run(15.0)]);
        assert!((repeated[0].log - 3.0f64.ln()).abs() < 1e-9, "{repeated:?}");
        let expected = (1.5625f64.ln().powi(2) / 2.0) * 1.5;
        assert!((repeated[0].variance - expected).abs() < 1e-9, "{repeated:?} {expected}");
    }

    #[test]
    fn a_virtual_array_tells_the_time_of_its_hosts_processors_and_of_no_other_part() {
        let modelled = |host: u64| {
            let mut run = run(5.0);
            let part =
                |name: &str, service_ns| Component { name: name.into(), service_ns, ..Component::default() };
            let components = vec![
                part("host 0 processor", host),
                part("host 1 processor", host),
                part("controller 0 processor", 7),
            ];
            run.points[0].breakdown = Some(Breakdown { components, ..Breakdown::default() });
            run
        };
        let told = told(&[&modelled(100)], &[&modelled(200)]);
        assert!((told[0].log - 2.0f64.ln()).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_worker_that_polls_tells_nothing_of_the_host() {
        let mut polls = run(15.0);
        polls.points[0].workloads[0].spec.engine.iopoll = true;
        assert!(told(&[&run(5.0)], &[&polls]).is_empty());
    }
}
