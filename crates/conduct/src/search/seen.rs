//! What a load showed: its seconds as batches, what was lost, and whether this machine was late.

use std::collections::BTreeMap;

use stats::exceedance::Batch;
use stats::{Bucket, Histogram};
use units::Instant;
use workload::Op;
use workload::plan::{LatencyFigure, Load, Slo, Time};
use workload::spec::{Pace, Workload};
use workload::tally::{Action, Class, ClassInterval};

use super::drive::Driver;
use super::evidence::Evidence;
use crate::world::MeasuredLoad;

/// The lateness of this program that a verdict bears, as a part of the response time that 99 % do not exceed.
const LATE: f64 = 0.05;

impl Driver<'_, '_> {
    /// What a load showed of the SLOs.
    pub(super) fn evidence(&self, load: &Load, answer: &MeasuredLoad) -> Evidence {
        let rate: f64 = load.workloads.iter().filter_map(mean_rate).sum();
        let seconds = answer.tallies().map(|tally| tally.measured().as_secs_f64()).fold(0.0, f64::max);
        let sum = |of: fn(&workload::tally::Tally) -> u64| answer.tallies().map(of).sum::<u64>();
        Evidence {
            seconds,
            asked: rate * seconds,
            completed: sum(|tally| tally.ops()),
            lost: sum(|tally| tally.dropped + tally.not_issued),
            errors: sum(|tally| tally.errors),
            issued: sum(|tally| tally.planned),
            generator_saturated: self.was_late(answer),
            batches: self.options.slos.iter().map(|slo| batches(slo, answer)).collect(),
        }
    }

    /// Whether requests were issued late although they could have been issued: this program or machine was slow.
    fn was_late(&self, answer: &MeasuredLoad) -> bool {
        if self.world.models_host() {
            return false;
        }
        let (mut lag, mut response) = (Histogram::new(), Histogram::new());
        let (mut in_flight_ns, mut window_ns) = (0u128, 0u64);
        for tally in answer.tallies() {
            in_flight_ns += tally.in_flight_ns;
            window_ns = window_ns.max(tally.measured().get());
            for class in &tally.classes {
                class.lag.iter().for_each(|own| lag.merge(own));
                response.merge(&class.response);
            }
        }
        let room = f64::from(self.depth) * self.workers() as f64 / 2.0;
        let had_room = (in_flight_ns as f64) < room * window_ns as f64;
        match (lag.quantile(0.99), response.quantile(0.99)) {
            (Some(lag), Some(response)) => had_room && lag.as_secs_f64() > LATE * response.as_secs_f64(),
            _ => false,
        }
    }
}

fn mean_rate(workload: &Workload) -> Option<f64> {
    match workload.pace {
        Pace::Open(schedule) => Some(schedule.mean_rate().get()),
        _ => None,
    }
}

/// The whole seconds of the measured window as batches, and in the last of them what ended after it.
fn batches(slo: &Slo, answer: &MeasuredLoad) -> Vec<Batch> {
    let mut seconds: BTreeMap<Instant, Batch> = BTreeMap::new();
    let mut all = Batch::default();
    for workload in &answer.workloads {
        let of_workers = workload.workers.iter().flat_map(|worker| &worker.tally.intervals);
        let whole =
            workload.history.intervals().iter().chain(of_workers).filter(|interval| interval.measured);
        for interval in whole {
            // Workers cut theirs at the same instants; one that ended early has cut its last one short.
            let batch = seconds.entry(interval.from).or_default();
            let own = interval.classes.iter().filter(|class| is_about(slo, class.class));
            own.for_each(|class| add(batch, of_interval(slo, class)));
        }
        let classes = workload.workers.iter().flat_map(|worker| &worker.tally.classes);
        for class in classes.filter(|class| is_about(slo, class.class)) {
            let service = class.service.as_ref().unwrap_or(&class.response);
            add(&mut all, of_histogram(slo, if is_service(slo) { service } else { &class.response }));
        }
    }
    let seen = seconds.values().fold(Batch::default(), |mut sum, one| {
        add(&mut sum, *one);
        sum
    });
    // Requests that were due in the window and ended after it waited longest; they belong to its end.
    if let Some(mut last) = seconds.last_entry()
        && all.count > seen.count
    {
        let late = Batch { count: all.count - seen.count, sum: (all.sum - seen.sum).max(0.0) };
        add(last.get_mut(), late);
    }
    seconds.into_values().collect()
}

/// Whether requests of a class are those that `slo` is about: all but flushes where it names none. It is about no names of files.
fn is_about(slo: &Slo, class: Class) -> bool {
    match slo.of() {
        Some(of) => class.op == Action::Block(of),
        None => class.op != Action::Block(Op::Flush),
    }
}

fn is_service(slo: &Slo) -> bool {
    matches!(slo, Slo::Latency { time: Time::Service, .. })
}

fn add(batch: &mut Batch, other: Batch) {
    batch.count += other.count;
    batch.sum += other.sum;
}

fn of_interval(slo: &Slo, class: &ClassInterval) -> Batch {
    // Where nothing is late, service equals response and is not kept apart.
    let buckets = if is_service(slo) && !class.service.is_empty() { &class.service } else { &class.response };
    let mut batch = Batch::default();
    for bucket in buckets {
        let count = bucket.count as f64;
        add(&mut batch, Batch { count, sum: count * worth(slo, *bucket) });
    }
    batch
}

/// What one request of a bucket adds: itself where it is beyond the limit, or its time.
fn worth(slo: &Slo, bucket: Bucket) -> f64 {
    match slo {
        Slo::Errors { .. } => 0.0,
        Slo::Latency { figure: LatencyFigure::Quantile(_), below, .. } => f64::from(bucket.low() > *below),
        Slo::Latency { figure: LatencyFigure::Mean, .. } => {
            (bucket.low().get() as f64 + bucket.high().get() as f64) / 2.0
        }
    }
}

fn of_histogram(slo: &Slo, histogram: &Histogram) -> Batch {
    let count = histogram.count() as f64;
    let sum = match slo {
        Slo::Errors { .. } => 0.0,
        Slo::Latency { figure: LatencyFigure::Quantile(_), below, .. } => {
            histogram.count_above(*below) as f64
        }
        Slo::Latency { figure: LatencyFigure::Mean, .. } => histogram.sum_ns() as f64,
    };
    Batch { count, sum }
}
