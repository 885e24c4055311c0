//! The metric second by second, and whether it is known by them.

use std::collections::BTreeMap;

use stats::Histogram;
use stats::batch_mean;
use units::{Bytes, Nanos};
use workload::tally::Interval;

use crate::spec::case::{Metric, Subject};

/// The precisions to which a run ends at one instant: from one on, and below another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precisions {
    from: f64,
    below: f64,
}

impl Precisions {
    /// Any.
    pub(super) const ALL: Precisions = Precisions { from: 0.0, below: f64::INFINITY };

    /// Whether `precision` is among them.
    pub(super) fn hold(self, precision: f64) -> bool {
        self.from <= precision && precision < self.below
    }

    /// Those that are among others as well.
    pub(super) fn and(self, other: Precisions) -> Precisions {
        Precisions { from: self.from.max(other.from), below: self.below.min(other.below) }
    }
}

/// The metric of all jobs together in each second of the window that is over.
pub(super) struct Seconds<'s> {
    metric: Metric,
    subject: &'s Subject,
    precision: f64,
    /// To what the metric was known as that was enough.
    reached: Option<f64>,
    /// To what it was known at best as that was not enough.
    nearest: f64,
    /// Jobs that tell of each second in which something of theirs ended.
    jobs: usize,
    seconds: BTreeMap<u64, Second>,
}

/// What ended in a second.
#[derive(Default)]
struct Second {
    /// Jobs that have told of it.
    told: usize,
    ops: u64,
    bytes: Bytes,
    response: Histogram,
}

/// Seconds that a metric is known from at the least.
const SECONDS: usize = 6;

/// The shortest window that may end early: no longer one does.
pub(super) const LEAST: Nanos = Nanos::from_secs(SECONDS as u64);

/// Requests beyond a second's quantile that tell where it lies.
const BEYOND: f64 = 10.0;

impl<'s> Seconds<'s> {
    /// None yet, of so many jobs.
    pub(super) fn of(metric: Metric, subject: &'s Subject, precision: f64, jobs: usize) -> Seconds<'s> {
        Seconds {
            metric,
            subject,
            precision,
            reached: None,
            nearest: f64::INFINITY,
            jobs,
            seconds: BTreeMap::new(),
        }
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
        let over: Option<Vec<f64>> =
            self.seconds.values().take(self.over()).map(|second| self.metric_of(second)).collect();
        let known = over.map_or(f64::INFINITY, |over| known_to(&over));
        if self.reached.is_none() && known <= self.precision {
            self.reached = Some(known);
        } else if self.reached.is_none() {
            self.nearest = self.nearest.min(known);
        }
        self.reached.is_some()
    }

    /// The precisions to which a run would have ended as this one did.
    pub(super) fn precisions(&self) -> Precisions {
        Precisions { from: self.reached.unwrap_or(0.0), below: self.nearest }
    }

    /// How many seconds all jobs have told of. Of the last one some may not have yet; a job of which nothing ended in one
    /// before it never will.
    fn over(&self) -> usize {
        let is_open = self.seconds.values().next_back().is_some_and(|last| last.told < self.jobs);
        self.seconds.len() - usize::from(is_open)
    }

    fn add(&mut self, interval: &Interval) {
        let second = self.seconds.entry(interval.from.nanos()).or_default();
        second.told += 1;
        debug_assert!(second.told <= self.jobs, "a job tells of a second once");
        for class in interval.classes.iter().filter(|class| self.subject.counts(class.class)) {
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
        let Second { told: _, ops, bytes, response } = second;
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
            Metric::ShareWithin => share_within(response, self.subject.within),
            Metric::Time | Metric::WorkRate | Metric::Knee => None,
        }
    }
}

/// To what part of itself the mean of `seconds` is known: the half width of its interval, and how far either half of them lies
/// from it. Infinite where that cannot be told.
fn known_to(seconds: &[f64]) -> f64 {
    let Some(known) = batch_mean(seconds).filter(|_| seconds.len() >= SECONDS) else { return f64::INFINITY };
    let mean = |seconds: &[f64]| seconds.iter().sum::<f64>() / seconds.len() as f64;
    let (early, late) = seconds.split_at(seconds.len() / 2);
    let off = |part: &[f64]| (mean(part) / known.mean - 1.0).abs();
    let width = known.interval.map_or(f64::INFINITY, |interval| interval.relative_half_width());
    // Of no number nothing is known: a mean of zero has no parts.
    let is_number = |part: f64| if part.is_nan() { f64::INFINITY } else { part };
    [width, off(early), off(late)].map(is_number).into_iter().fold(0.0, f64::max)
}

/// The part of the requests that ended within a limit; `None` of no requests.
pub(super) fn share_within(response: &Histogram, limit: Option<Nanos>) -> Option<f64> {
    let (count, above) = (response.count(), response.count_above(limit.unwrap_or(Nanos::MAX)));
    (count > 0).then(|| 1.0 - above as f64 / count as f64)
}
