//! Rules of a sweep that look at one point alone: an SLO, the processors, failed requests.

use record::names::series;
use record::{Point, WorkloadResult};
use stats::Histogram;
use units::Share;
use workload::plan::{LatencyFigure, Slo, Time, Until};

/// Why a sweep ends after `point`; `None` where it goes on.
pub fn broken(until: &Until, point: &Point) -> Option<String> {
    let slo = until.slo.filter(|slo| breaks(slo, point)).map(|slo| format!("{slo} is violated"));
    let errors = until.errors.filter(|most| failed(point) > most.get());
    let errors = errors.map(|most| format!("more than {most} of the requests failed"));
    slo.or(errors).or_else(|| busy(until.cpu?, point))
}

/// By the figure that was seen, without regard to how sure it is.
fn breaks(slo: &Slo, point: &Point) -> bool {
    let Slo::Latency { of, time, figure, below } = slo else {
        return failed(point) >= slo.limit();
    };
    let classes = point.workloads.iter().flat_map(|workload| &workload.classes);
    let classes = classes.filter(|class| match of {
        Some(of) => class.op == (*of).into(),
        None => class.op != record::Op::Flush,
    });
    let times = classes.filter_map(|class| match (time, &class.service) {
        (Time::Service, Some(service)) => service.to_stats(),
        _ => class.response.to_stats(),
    });
    let Some(all) = Histogram::merged(times) else { return false };
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

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};
    use record::{Breakdown, Component};

    fn point(idle: f64) -> Point {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 1_000, median_ns: 100_000, spread: 0.2 };
        let mut point = sample::point(0, "4k", vec![sample::workload("main", &[stream])]);
        let own = point.series.iter_mut().find(|own| own.name == series::CPU_IDLE);
        own.expect("a sample has it").values.fill(idle);
        point
    }

    fn until(cpu: f64) -> Until {
        Until { gain: None, slo: None, cpu: Share::new(cpu), errors: None }
    }

    #[test]
    fn processors_as_busy_as_allowed_end_a_sweep_and_less_busy_ones_do_not() {
        assert_eq!(broken(&until(0.9), &point(0.125)), None);
        assert_eq!(broken(&until(0.875), &point(0.125)), Some("the processors are 88 % busy".into()));
        assert_eq!(broken(&until(0.9), &point(0.0)), Some("the processors are 100 % busy".into()));
    }

    #[test]
    fn a_promise_about_reads_ends_a_sweep_by_reads_alone() {
        let stream = |op, median_ns| Stream { op, size_bytes: 4096, per_s: 1_000, median_ns, spread: 0.1 };
        let slow_writes = [stream("read", 100_000), stream("write", 9_000_000)];
        let point = sample::point(0, "4k", vec![sample::workload("main", &slow_writes)]);
        let until = |slo: &str| Until { slo: Some(slo.parse().expect("an SLO")), ..Until::default() };
        assert_eq!(broken(&until("read.p99<5ms"), &point), None);
        assert_eq!(broken(&until("write.p99<5ms"), &point), Some("write.p99<5ms is violated".into()));
        assert_eq!(broken(&until("p99<5ms"), &point), Some("p99<5ms is violated".into()));
        let slow_flushes = [stream("write", 100_000), stream("flush", 9_000_000)];
        let point = sample::point(0, "4k", vec![sample::workload("main", &slow_flushes)]);
        assert_eq!(broken(&until("p99<5ms"), &point), None, "a flush is no request of its own");
        assert_eq!(broken(&until("fdatasync.p99<5ms"), &point), Some("flush.p99<5ms is violated".into()));
    }

    #[test]
    fn of_an_array_the_busiest_host_counts() {
        let mut modelled = point(0.0);
        modelled.series.clear();
        assert_eq!(broken(&until(0.1), &modelled), None, "nothing is known of processors");
        let part = |name: &str, utilisation| Component {
            name: name.into(),
            servers: 1,
            utilisation,
            ..Component::default()
        };
        let components = vec![
            part("controller 0 processor", 1.0),
            part("host 0 processor", 0.2),
            part("host 1 processor", 0.95),
        ];
        modelled.breakdown = Some(Breakdown { components, ..Breakdown::default() });
        assert_eq!(broken(&until(0.9), &modelled), Some("the processors are 95 % busy".into()));
    }
}
