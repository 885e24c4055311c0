//! What a row of the results file says of the requests of one direction.

use std::collections::BTreeMap;

use record::{Histogram, Op, WorkloadResult};
use stats::Bucket;
use units::Nanos;

/// The latency bins: where each ends, which belongs to the next, and what it is called. Iometer itself cuts at 4 s
/// where it says 4.7, at 1/67 and 1/33 s where it says 15 and 30 ms, and leaves the last one empty; here the names
/// hold.
pub(super) const BINS: [(u64, &str); 21] = [
    (50_000, "0 to 50 uS"),
    (100_000, "50 to 100 uS"),
    (200_000, "100 to 200 uS"),
    (500_000, "200 to 500 uS"),
    (1_000_000, "0.5 to 1 mS"),
    (2_000_000, "1 to 2 mS"),
    (5_000_000, "2 to 5 mS"),
    (10_000_000, "5 to 10 mS"),
    (15_000_000, "10 to 15 mS"),
    (20_000_000, "15 to 20 mS"),
    (30_000_000, "20 to 30 mS"),
    (50_000_000, "30 to 50 mS"),
    (100_000_000, "50 to 100 mS"),
    (200_000_000, "100 to 200 mS"),
    (500_000_000, "200 to 500 mS"),
    (1_000_000_000, "0.5 to 1 S"),
    (2_000_000_000, "1 to 2 s"),
    (4_700_000_000, "2 to 4.7 s"),
    (5_000_000_000, "4.7 to 5 s"),
    (10_000_000_000, "5 to 10 s"),
    (u64::MAX, " >= 10 s"),
];

const _: () = {
    let mut at = 1;
    while at < BINS.len() {
        assert!(BINS[at - 1].0 < BINS[at].0, "a bin begins where the one before it ends");
        at += 1;
    }
    assert!(BINS[at - 1].0 == u64::MAX, "the last bin has no end");
};

/// Requests of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub count: u64,
    pub bytes: u64,
    pub per_s: f64,
    pub bytes_per_s: f64,
    /// Requests whose time is known: those that `count` counts. A record of before it was known which ones were still in
    /// flight at the end has these, too.
    pub timed: u64,
    pub sum_ns: u64,
    pub max_ns: u64,
    pub bins: [u64; BINS.len()],
}

impl Figures {
    pub fn add(&mut self, result: &WorkloadResult, op: Op) {
        let seconds = result.measured_ns as f64 / 1e9;
        for class in result.classes.iter().filter(|class| class.op == op) {
            self.count += class.ops;
            self.bytes += class.bytes;
            if seconds > 0.0 {
                self.per_s += class.ops as f64 / seconds;
                self.bytes_per_s += class.bytes as f64 / seconds;
            }
            // Dynamo's clock runs from the submission of a request, not from when it was due, and what is in flight at the
            // end is no I/O.
            let times = class.service.as_ref().unwrap_or(&class.response);
            let (after, after_ns) = class.after.as_ref().map_or((0, 0), |after| (after.count, after.sum_ns));
            self.timed += times.count.saturating_sub(after);
            self.sum_ns = self.sum_ns.saturating_add(times.sum_ns.saturating_sub(after_ns));
            let buckets = in_time(times, class.after.as_ref());
            self.max_ns = self.max_ns.max(longest_ns(times, class.after.as_ref(), &buckets));
            for bucket in buckets {
                let bin = BINS.iter().position(|(end, _)| bucket.low() < Nanos::new(*end));
                self.bins[bin.unwrap_or(BINS.len() - 1)] += bucket.count;
            }
        }
    }

    pub fn mean_ms(&self) -> f64 {
        mean_ms(self.sum_ns, self.timed)
    }
}

/// Of `times` those that are not in `after`.
fn in_time(times: &Histogram, after: Option<&Histogram>) -> Vec<Bucket> {
    let after: BTreeMap<u32, u64> =
        after.map(|after| after.buckets.iter().copied().collect()).unwrap_or_default();
    let left = |bucket: Bucket| Bucket {
        count: bucket.count.saturating_sub(after.get(&bucket.index).copied().unwrap_or(0)),
        ..bucket
    };
    let buckets = times.to_stats().map(|times| times.buckets().map(left).collect::<Vec<_>>());
    buckets.unwrap_or_default().into_iter().filter(|bucket| bucket.count > 0).collect()
}

/// The longest of those in `buckets`: to a part in a thousand where the longest of all is in `after`.
fn longest_ns(times: &Histogram, after: Option<&Histogram>, buckets: &[Bucket]) -> u64 {
    let longest = times.max_ns.unwrap_or(0);
    if after.and_then(|after| after.max_ns).is_none_or(|after| after < longest) {
        return longest;
    }
    buckets.last().map_or(0, |bucket| bucket.high().get().min(longest))
}

pub(super) fn mean_ms(sum_ns: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum_ns as f64 / count as f64 / 1e6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times_us: &[u64]) -> Histogram {
        let mut histogram = stats::Histogram::new();
        times_us.iter().for_each(|time| histogram.record(Nanos::from_micros(*time)));
        Histogram::from(&histogram)
    }

    #[test]
    fn what_was_in_flight_at_the_end_is_in_no_bin_no_mean_and_no_maximum() {
        let read =
            record::sample::Stream { op: "read", size_bytes: 4096, per_s: 1, median_ns: 1, spread: 0.0 };
        let mut result = record::sample::workload("w", &[read]);
        let mut class = result.classes[0].clone();
        (class.op, class.ops) = (Op::Read, 3);
        (class.response, class.after) = (of(&[40, 40, 150, 40, 9_000]), Some(of(&[40, 9_000])));
        class.service = None;
        result.classes = vec![class];
        let mut figures = Figures::default();
        figures.add(&result, Op::Read);
        assert_eq!((figures.count, figures.timed, figures.bins.iter().sum::<u64>()), (3, 3, 3));
        assert_eq!(figures.bins[..4], [2, 0, 1, 0]);
        assert_eq!(figures.sum_ns, 230_000);
        assert!((150_000..=150_150).contains(&figures.max_ns), "{} ns", figures.max_ns);
        // Nothing is taken from a maximum that ended in time.
        result.classes[0].after = Some(of(&[40, 150]));
        let mut figures = Figures::default();
        figures.add(&result, Op::Read);
        assert_eq!(figures.max_ns, 9_000_000);
    }
}
