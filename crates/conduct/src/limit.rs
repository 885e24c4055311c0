//! Rules of a sweep that look at one point alone: a promise, the processors, failed requests.

use record::names::series;
use record::{Point, WorkloadResult};
use units::Share;
use workload::plan::{LatencyFigure, Promise, Time, Until};

/// Why a sweep ends after `point`; `None` where it goes on.
pub fn broken(until: &Until, point: &Point) -> Option<String> {
    let slo = until.slo.filter(|slo| breaks(slo, point)).map(|slo| format!("{slo} is broken"));
    let errors = until.errors.filter(|most| failed(point) > most.get());
    let errors = errors.map(|most| format!("more than {most} of the requests failed"));
    slo.or(errors).or_else(|| busy(until.cpu?, point))
}

/// By the figure that was seen, without regard to how sure it is.
fn breaks(promise: &Promise, point: &Point) -> bool {
    let Promise::Latency { time, figure, below } = promise else {
        return failed(point) >= promise.limit();
    };
    let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
    let times = classes.filter_map(|class| match (time, &class.service) {
        (Time::Service, Some(service)) => service.to_stats(),
        _ => class.response.to_stats(),
    });
    let Some(all) = times.reduce(|mut all, one| {
        all.merge(&one);
        all
    }) else {
        return false;
    };
    let found_ns = match figure {
        LatencyFigure::Mean => all.mean(),
        LatencyFigure::Quantile(share) => all.quantile(share.get()).map(|time| time.get() as f64),
    };
    found_ns.is_some_and(|found_ns| found_ns >= below.get() as f64)
}

fn failed(point: &Point) -> f64 {
    let sum = |of: fn(&WorkloadResult) -> u64| point.workloads.iter().map(of).sum::<u64>() as f64;
    sum(|workload| workload.errors) / sum(|workload| workload.planned).max(1.0)
}

/// Of real storage the machine's processors, of an array those of its busiest host.
fn busy(most: Share, point: &Point) -> Option<String> {
    let idle = point.series.iter().find(|series| series.name == series::CPU_IDLE);
    let measured = idle
        .filter(|idle| !idle.values.is_empty())
        .map(|idle| 1.0 - idle.values.iter().sum::<f64>() / idle.values.len() as f64);
    let parts = point.breakdown.iter().flat_map(|breakdown| &breakdown.components);
    let hosts = parts.filter(|part| part.name.starts_with("host ") && part.name.contains("processor"));
    let modelled = hosts.map(|part| part.utilisation).reduce(f64::max);
    let busy = measured.or(modelled).filter(|busy| *busy >= most.get())?;
    Some(format!("the processors are {:.0} % busy", busy * 100.0))
}
