//! Response times of the last second of a load, for a glance.

use stats::Histogram;
use units::{Instant, Nanos};
use workload::tally::{ClassInterval, Interval};

/// A latency older than this is not shown as the current one: an interval closes with the first completion after it.
const FRESH: Nanos = Nanos::from_secs(2);

/// Response times of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responses {
    /// The median.
    pub p50: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The longest, exact.
    pub longest: Nanos,
    /// By how much requests were handed out after they were due, in the mean; `None` in a closed loop, where each is due
    /// when it is handed out.
    pub lag: Option<Nanos>,
}

/// Puts together what all workers tell of the newest second. Its cost is that of what is told.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    until: Instant,
    response: Histogram,
    longest: Nanos,
    late: Late,
    responses: Option<Responses>,
}

/// Sums of the requests whose service times differ from their response times.
#[derive(Clone, Copy, Debug, Default)]
struct Late {
    count: u64,
    response_ns: f64,
    service_ns: f64,
}

impl Recent {
    /// Takes what a worker has closed. Intervals that overlap are of one second.
    pub fn take(&mut self, intervals: &[Interval]) {
        for interval in intervals {
            if interval.until < self.until {
                continue;
            }
            if interval.from >= self.until {
                *self = Recent::default();
            }
            self.until = interval.until;
            interval.classes.iter().for_each(|class| self.add(class));
        }
        self.responses = self.summed();
    }

    /// Of several together, as each is seen at `now`; `None` where none has anything.
    pub fn together<'r>(all: impl Iterator<Item = &'r Recent>, now: Instant) -> Option<Responses> {
        let mut sum = Recent::default();
        for recent in all.filter(|recent| recent.responses(now).is_some()) {
            sum.response.merge(&recent.response);
            sum.longest = sum.longest.max(recent.longest);
            sum.late.count += recent.late.count;
            sum.late.response_ns += recent.late.response_ns;
            sum.late.service_ns += recent.late.service_ns;
        }
        sum.summed()
    }

    fn summed(&self) -> Option<Responses> {
        let quantile = |part: f64| self.response.quantile(part);
        quantile(0.5).zip(quantile(0.99)).map(|(p50, p99)| {
            // A bucket ends above its values.
            let (p50, p99) = (p50.min(self.longest), p99.min(self.longest));
            debug_assert!(p50 <= p99, "a higher percentile is no shorter");
            Responses { p50, p99, longest: self.longest, lag: self.late.mean() }
        })
    }

    /// Of the last second in which something ended; `None` at `now` where that is long ago: a silent target has no
    /// percentile.
    pub fn responses(&self, now: Instant) -> Option<Responses> {
        self.responses.filter(|_| now.saturating_since(self.until) < FRESH)
    }

    fn add(&mut self, class: &ClassInterval) {
        for bucket in &class.response {
            self.response.record_n(bucket.high(), bucket.count);
        }
        self.longest = self.longest.max(class.longest);
        if !class.service.is_empty() {
            self.late.count += class.response.iter().map(|bucket| bucket.count).sum::<u64>();
            self.late.response_ns += sum_of(&class.response);
            self.late.service_ns += sum_of(&class.service);
            debug_assert!(self.late.response_ns >= 0.0 && self.late.service_ns >= 0.0, "sums of times");
        }
    }
}

impl Late {
    fn mean(&self) -> Option<Nanos> {
        let lag_ns = (self.response_ns - self.service_ns).max(0.0) / self.count as f64;
        (self.count > 0).then(|| Nanos::from_secs_f64(lag_ns / 1e9))
    }
}

fn sum_of(buckets: &[stats::Bucket]) -> f64 {
    buckets.iter().map(|bucket| bucket.middle_ns() * bucket.count as f64).sum()
}

#[cfg(test)]
mod tests {
    use units::Bytes;
    use workload::Op;
    use workload::tally::{Action, Class};

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// A worker's second from `from_ms` on with a request for each of `times_us`, served in as many of `served_us`.
    fn told(from_ms: u64, times_us: &[u64], served_us: &[u64]) -> Vec<Interval> {
        let buckets = |times: &[u64]| {
            let mut histogram = Histogram::new();
            times.iter().for_each(|time| histogram.record_n(Nanos::from_micros(*time), 1));
            histogram.buckets().collect()
        };
        let classes = vec![ClassInterval {
            class: Class { op: Action::Block(Op::Read), size: Bytes::KIB },
            ops: times_us.len() as u64,
            bytes: Bytes::KIB,
            response: buckets(times_us),
            service: buckets(served_us),
            longest: Nanos::from_micros(times_us.iter().copied().max().unwrap_or(0)),
        }];
        vec![Interval { from: at(from_ms), until: at(from_ms + 1000), measured: true, classes }]
    }

    #[test]
    fn several_together_lie_among_what_each_of_them_shows() {
        let (mut one, mut other, mut past) = (Recent::default(), Recent::default(), Recent::default());
        one.take(&told(5_000, &[10, 10, 10], &[]));
        // Its second ends when the other's is half over.
        other.take(&told(5_500, &[400, 500], &[]));
        past.take(&told(0, &[9_000], &[]));
        let all = Recent::together([&one, &other, &past].into_iter(), at(6_600)).unwrap();
        let [one, other] = [&one, &other].map(|recent| recent.responses(at(6_600)).unwrap());
        assert!(one.p99 <= all.p99 && all.p99 <= other.p99, "{all:?}");
        assert!(all.p50 < Nanos::from_micros(11), "three of five took 10 us: {all:?}");
        assert_eq!(all.longest, other.longest);
        assert_eq!(Recent::together([&past].into_iter(), at(6_600)), None);
    }

    #[test]
    fn workers_of_one_second_are_put_together_and_the_next_second_begins_anew() {
        let mut recent = Recent::default();
        recent.take(&told(0, &[10, 10, 10], &[]));
        recent.take(&told(0, &[500], &[]));
        let one = recent.responses(at(1_000)).unwrap();
        assert!(one.p50 < Nanos::from_micros(11), "{one:?}");
        assert_eq!((one.p99, one.longest, one.lag), (Nanos::from_micros(500), Nanos::from_micros(500), None));
        recent.take(&told(1_000, &[20], &[]));
        assert_eq!(recent.responses(at(2_000)).unwrap().longest, Nanos::from_micros(20));
        // What comes of a second that is over changes nothing.
        recent.take(&told(0, &[900], &[]));
        assert_eq!(recent.responses(at(2_000)).unwrap().longest, Nanos::from_micros(20));
        assert_eq!(recent.responses(at(4_000)), None, "it has been silent since");
    }

    #[test]
    fn lag_is_what_a_response_takes_more_than_its_service() {
        let mut recent = Recent::default();
        recent.take(&told(0, &[300, 500], &[100, 100]));
        let lag = recent.responses(at(1_000)).unwrap().lag.unwrap();
        assert!((299..302).contains(&(lag.get() / 1000)), "{lag}");
    }
}
