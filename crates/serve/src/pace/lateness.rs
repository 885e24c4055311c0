//! How late answers are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use units::convert::{narrow, truncated};

/// How long after the model had completed them answers were given.
#[derive(Debug, Default)]
pub struct Late {
    /// Until they began to be sent, which is when a device would raise its interrupt.
    pub sent: Lateness,
    /// Until they were in the hands of the system and whoever waits for them was woken, which takes longest where a processor slept.
    pub taken: Lateness,
}

/// Times after the model, of all answers.
#[derive(Debug)]
pub struct Lateness {
    count: AtomicU64,
    sum_ns: AtomicU64,
    /// Answers by how late they were, in microseconds: [`bucket`].
    buckets: [AtomicU64; BUCKETS],
}

/// Eight for each power of two, up to a second and more.
const BUCKETS: usize = 8 * 20;

/// Which bucket so many microseconds belong to: below 16 each has its own, and above it each power of two has eight.
fn bucket(micros: u64) -> usize {
    let octave = (64 - micros.leading_zeros()).saturating_sub(4);
    let at = u64::from(octave) * 8 + (micros >> octave);
    narrow::<usize>(at).min(BUCKETS - 1)
}

/// The first number of microseconds that is beyond a bucket.
fn beyond(bucket: usize) -> u64 {
    let at = bucket as u64 + 1;
    let octave = (at / 8).saturating_sub(1);
    (at - octave * 8) << octave
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            count: AtomicU64::default(),
            sum_ns: AtomicU64::default(),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

impl Lateness {
    pub(super) fn add(&self, late: Duration) {
        let nanos = truncated::<u64>(late.as_secs_f64() * 1e9);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(nanos, Ordering::Relaxed);
        self.buckets[bucket(nanos / 1000)].fetch_add(1, Ordering::Relaxed);
    }

    /// How many answers, and their mean lateness.
    pub fn mean(&self) -> (u64, Duration) {
        let count = self.count.load(Ordering::Relaxed);
        (count, Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed) / count.max(1)))
    }

    /// A bound in microseconds that the share `share` of all answers is within, an eighth too high at most.
    pub fn quantile_us(&self, share: f64) -> u64 {
        let count = self.count.load(Ordering::Relaxed) as f64;
        let mut seen = 0;
        for (bucket, answers) in self.buckets.iter().enumerate() {
            seen += answers.load(Ordering::Relaxed);
            if seen as f64 >= count * share {
                return beyond(bucket);
            }
        }
        beyond(BUCKETS - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BUCKETS, Lateness, beyond, bucket};

    #[test]
    fn a_bucket_holds_what_is_below_its_end_and_no_eighth_more() {
        for micros in (0..5000).chain([65_535, 65_536, 999_999]) {
            let end = beyond(bucket(micros));
            assert!(end > micros && end as f64 <= (micros + 1) as f64 * 1.125, "{micros}: {end}");
        }
        assert!((1..BUCKETS).all(|at| beyond(at) > beyond(at - 1)));
        let lateness = Lateness::default();
        (1..=1000).for_each(|micros| lateness.add(Duration::from_micros(micros)));
        assert!((990..1100).contains(&lateness.quantile_us(0.99)), "{}", lateness.quantile_us(0.99));
        assert_eq!(lateness.mean().0, 1000);
    }
}
