//! The metric second by second, and whether it is known by them.

use std::collections::BTreeMap;

use stats::Histogram;
use stats::batch_mean;
use units::{Bytes, Nanos};
use workload::tally::Interval;

use crate::spec::case::Metric;

/// The metric of all jobs together in each second of the window that is over.
pub(super) struct Seconds {
    metric: Metric,
    within: Option<Nanos>,
    precision: f64,
    seconds: BTreeMap<u64, Second>,
}

/// What ended in a second.
#[derive(Default)]
struct Second {
    ops: u64,
    bytes: Bytes,
    response: Histogram,
}

/// Seconds that a metric is known from at the least.
const SECONDS: usize = 6;

/// Requests beyond a second's quantile that tell where it lies.
const BEYOND: f64 = 10.0;

impl Seconds {
    pub(super) fn of(metric: Metric, within: Option<Nanos>, precision: f64) -> Seconds {
        Seconds { metric, within, precision, seconds: BTreeMap::new() }
    }

    /// Takes what a job has closed; whether the metric is known by batch means ([`batch_mean`]), and neither half of the
    /// seconds differs from it by more than their interval may.
    pub(super) fn are_known(&mut self, intervals: &[Interval]) -> bool {
        for interval in intervals.iter().filter(|interval| interval.measured) {
            // Those of a window are cut a second apart from the same instant for all jobs.
            if interval.until.saturating_since(interval.from) == Nanos::from_secs(1) {
                self.add(interval);
            }
        }
        // Of the last one some jobs may not have told yet.
        let over: Option<Vec<f64>> =
            self.seconds.values().rev().skip(1).rev().map(|second| self.metric_of(second)).collect();
        over.is_some_and(|over| is_known(&over, self.precision))
    }

    fn add(&mut self, interval: &Interval) {
        let second = self.seconds.entry(interval.from.nanos()).or_default();
        for class in &interval.classes {
            second.ops += class.ops;
            second.bytes += class.bytes;
            if !matches!(self.metric, Metric::Iops | Metric::Throughput) {
                class
                    .response
                    .iter()
                    .for_each(|bucket| second.response.record_n(bucket.high(), bucket.count));
            }
        }
    }

    /// `None` where the second does not tell.
    fn metric_of(&self, second: &Second) -> Option<f64> {
        let Second { ops, bytes, response } = second;
        let quantile = |q: f64| {
            let tells = response.count() as f64 * (1.0 - q) >= BEYOND;
            response.quantile(q).filter(|_| tells).map(Nanos::as_secs_f64)
        };
        match self.metric {
            Metric::Iops => Some(*ops as f64),
            Metric::Throughput => Some(bytes.as_f64()),
            Metric::LatencyMean => response.mean(),
            Metric::LatencyP50 => quantile(0.5),
            Metric::LatencyP99 => quantile(0.99),
            Metric::ShareWithin => share_within(response, self.within),
            Metric::Time | Metric::WorkRate | Metric::Knee => None,
        }
    }
}

/// Whether the mean of `seconds` is known to the part `precision` of it.
fn is_known(seconds: &[f64], precision: f64) -> bool {
    if seconds.len() < SECONDS {
        return false;
    }
    let mean = |seconds: &[f64]| seconds.iter().sum::<f64>() / seconds.len() as f64;
    let (early, late) = seconds.split_at(seconds.len() / 2);
    let Some(known) = batch_mean(seconds) else { return false };
    let is_near = |part: &[f64]| (mean(part) / known.mean - 1.0).abs() <= precision;
    let is_narrow = known.interval.is_some_and(|interval| interval.relative_half_width() <= precision);
    is_narrow && is_near(early) && is_near(late)
}

/// The part of the requests that ended within a limit; `None` of no requests.
pub(super) fn share_within(response: &Histogram, limit: Option<Nanos>) -> Option<f64> {
    let (count, above) = (response.count(), response.count_above(limit.unwrap_or(Nanos::MAX)));
    (count > 0).then(|| 1.0 - above as f64 / count as f64)
}
