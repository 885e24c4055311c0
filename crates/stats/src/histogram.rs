//! A mergeable log-linear histogram of time spans.
//!
//! Buckets are exact below 2,048 ns and 1/1,024 of their value wide above, up to the whole of 64 bits: nothing
//! saturates. The layout is that of HdrHistogram at three significant digits (hdrhistogram.org), with one unit
//! for the whole program, no resizing and no error path, because `record` runs once for every I/O.
//!
//! Buckets above the largest value so far cost no memory: a run of hundreds of points keeps some histograms of each.
//!
//! **Invariant:** `count` is the sum of all buckets; `min` and `max` are exact; there is a bucket for each value so
//! far.

use units::Nanos;
use units::convert::{narrow, truncated};

use crate::Bucket;

/// Each power of two above the exact range is cut into `2^SUB_BUCKET_BITS` buckets.
pub const SUB_BUCKET_BITS: u32 = 10;

const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;
const BUCKETS: usize = index_of(u64::MAX) + 1;

#[expect(
    clippy::cast_possible_truncation,
    reason = "the largest index is far below; constants convert by `as`"
)]
pub(crate) const fn index_of(value: u64) -> usize {
    let shift = (u64::BITS - SUB_BUCKET_BITS - 1).saturating_sub(value.leading_zeros());
    ((shift as u64 * SUB_BUCKETS) + (value >> shift)) as usize
}

/// The smallest and largest values that share bucket `index`.
pub(crate) const fn edges_of(index: usize) -> (u64, u64) {
    let shift = (index as u64 / SUB_BUCKETS).saturating_sub(1);
    let low = (index as u64 - shift * SUB_BUCKETS) << shift;
    (low, low + ((1 << shift) - 1))
}

/// Counts of time spans by size.
#[derive(Clone)]
pub struct Histogram {
    /// As many as the largest value so far needed, in whole powers of two of values.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("mean", &self.mean())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        (self.count, self.sum_ns, self.min_ns, self.max_ns)
            == (other.count, other.sum_ns, other.min_ns, other.max_ns)
            && self.buckets().eq(other.buckets())
    }
}

impl Histogram {
    /// One with nothing in it. It takes 8 KiB for each power of two of nanoseconds up to the largest value recorded: 90
    /// KiB for a millisecond, 270 KiB for an hour.
    pub const fn new() -> Histogram {
        Histogram { counts: Vec::new(), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    /// Counts `times` equal values. `times` of zero changes nothing.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, times: u64) {
        if times == 0 {
            return;
        }
        let ns = value.get();
        let index = index_of(ns);
        match self.counts.get_mut(index) {
            Some(count) => *count += times,
            None => self.counts_to(index)[index] = times,
        }
        self.count += times;
        self.sum_ns += u128::from(ns) * u128::from(times);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all that `other` counted. The result equals one histogram that had seen both streams.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        let range = index_of(other.min_ns)..=index_of(other.max_ns);
        let own = &mut self.counts_to(*range.end())[range.clone()];
        own.iter_mut().zip(&other.counts[range]).for_each(|(sum, count)| *sum += count);
        self.add_summary(other);
    }

    /// All of them added up; `None` of none.
    pub fn merged(all: impl Iterator<Item = Histogram>) -> Option<Histogram> {
        all.reduce(|mut sum, one| {
            sum.merge(&one);
            sum
        })
    }

    /// Empties it: what it held, from the smallest values up, added to `into` where there is one.
    pub(crate) fn pour(&mut self, mut into: Option<&mut Histogram>) -> Vec<Bucket> {
        /// Buckets looked at together, since most hold nothing. It divides a power of two of values, so that the counts
        /// are a whole number of them.
        const RUN: usize = 32;
        if self.count == 0 {
            return Vec::new();
        }
        let (first, last) = (index_of(self.min_ns), index_of(self.max_ns));
        if let Some(into) = &mut into {
            into.add_summary(self);
            into.counts_to(last);
        }
        let mut buckets = Vec::new();
        let first = first / RUN * RUN;
        let (runs, _) = self.counts[first..(last / RUN + 1) * RUN].as_chunks_mut::<RUN>();
        for (run, from) in runs.iter_mut().zip((first..).step_by(RUN)).filter(|(run, _)| holds_any(*run)) {
            for (count, index) in run.iter_mut().zip(from..).filter(|(count, _)| **count > 0) {
                let count = std::mem::take(count);
                buckets.push(Bucket { index: narrow::<u32>(index), count });
                if let Some(into) = &mut into {
                    into.counts[index] += count;
                }
            }
        }
        debug_assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), self.count);
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
        buckets
    }

    /// The counts, with one for bucket `index` among them. Cold, because of all that is recorded only the first value of
    /// a power of two comes here.
    #[cold]
    fn counts_to(&mut self, index: usize) -> &mut [u64] {
        if index >= self.counts.len() {
            let (octave, octaves) = (narrow::<usize>(SUB_BUCKETS), index / narrow::<usize>(SUB_BUCKETS) + 1);
            self.counts.reserve_exact(octaves * octave - self.counts.len());
            self.counts.resize(octaves * octave, 0);
        }
        debug_assert!(index < self.counts.len());
        &mut self.counts
    }

    fn add_summary(&mut self, other: &Histogram) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The smallest value, exact. `None` when nothing was recorded.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then(|| Nanos::new(self.min_ns))
    }

    /// The largest value, exact. `None` when nothing was recorded.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then(|| Nanos::new(self.max_ns))
    }

    /// The sum of all values in nanoseconds, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The mean in nanoseconds, exact but for the division. `None` when nothing was recorded.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The standard deviation in nanoseconds, from the middles of the buckets: at most 1/2,048 of a value off.
    pub fn std_dev(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: f64 = self
            .buckets()
            .map(|bucket| {
                let middle = (bucket.low().get() as f64 + bucket.high().get() as f64) / 2.0;
                (middle - mean).powi(2) * bucket.count as f64
            })
            .sum();
        Some((squares / self.count as f64).sqrt())
    }

    /// The smallest recorded value that at least a share `q` of the values do not exceed.
    ///
    /// Exact below 2,048 ns; above, the upper edge of its bucket or the exact maximum, whichever is less: at
    /// most 1/1,024 too high and never too low. `None` when nothing was recorded. `q` of 1 gives the maximum,
    /// `q` of 0 the bucket of the minimum.
    /// Source: inverse of the empirical distribution function (Hyndman & Fan 1996, type 1).
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        (self.count > 0).then(|| self.value_at_rank(rank_of(q, self.count)))
    }

    /// Values above `limit`. Those that share the bucket of `limit` count as not above it.
    pub fn count_above(&self, limit: Nanos) -> u64 {
        self.counts.iter().skip(index_of(limit.get()) + 1).sum()
    }

    fn value_at_rank(&self, rank: u64) -> Nanos {
        let mut seen = 0;
        for bucket in self.buckets() {
            seen += bucket.count;
            if seen >= rank {
                return bucket.high().min(Nanos::new(self.max_ns));
            }
        }
        unreachable!("the buckets hold {} values, rank {rank} wanted", self.count)
    }

    /// The buckets that hold something, from the smallest values up.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let range = if self.count == 0 { 0..0 } else { index_of(self.min_ns)..index_of(self.max_ns) + 1 };
        range.clone().zip(&self.counts[range]).filter(|(_, count)| **count > 0).map(|(index, count)| Bucket {
            index: u32::try_from(index).expect("the layout has 56,320 buckets"),
            count: *count,
        })
    }

    /// Rebuilds a histogram from its stored parts; `None` where they contradict each other.
    pub fn from_parts(
        buckets: impl IntoIterator<Item = Bucket>,
        sum_ns: u128,
        min: Nanos,
        max: Nanos,
    ) -> Option<Histogram> {
        let mut histogram = Histogram::new();
        for bucket in buckets {
            let index = bucket.index as usize;
            if index >= BUCKETS {
                return None;
            }
            let slot = &mut histogram.counts_to(index)[index];
            *slot = slot.checked_add(bucket.count)?;
            histogram.count = histogram.count.checked_add(bucket.count)?;
        }
        if histogram.count == 0 {
            return Some(histogram);
        }
        (histogram.sum_ns, histogram.min_ns, histogram.max_ns) = (sum_ns, min.get(), max.get());
        let first = histogram.counts.iter().position(|count| *count > 0)?;
        let last = histogram.counts.iter().rposition(|count| *count > 0)?;
        (first == index_of(histogram.min_ns) && last == index_of(histogram.max_ns)).then_some(histogram)
    }
}

/// Whether any of them counts something; without a branch for each.
fn holds_any(counts: &[u64]) -> bool {
    counts.iter().fold(0, |any, count| any | count) > 0
}

/// The 1-based rank of quantile `q` among `count` values, exact for the decimal fractions people write.
///
/// `0.99 × 100` is 99.00000000000001 in binary floating point; without the correction its ceiling would be
/// rank 100.
fn rank_of(q: f64, count: u64) -> u64 {
    let exact = q.clamp(0.0, 1.0) * count as f64;
    let rank = truncated::<u64>((exact - exact * 4.0 * f64::EPSILON).ceil());
    debug_assert!(count > 0, "nothing has no rank");
    rank.clamp(1, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(Nanos::new(*value)));
        histogram
    }

    /// The definition, on the sorted samples themselves.
    fn true_quantile(sorted: &[u64], q: f64) -> u64 {
        sorted[narrow::<usize>(rank_of(q, sorted.len() as u64)) - 1]
    }

    #[test]
    fn every_value_falls_into_a_bucket_whose_edges_hold_it() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1, (1u64 << bit) + 1]) {
            let (low, high) = edges_of(index_of(value));
            assert!(low <= value && value <= high, "{value} is outside {low}..={high}");
        }
        assert_eq!(edges_of(BUCKETS - 1).1, u64::MAX);
    }

    #[test]
    fn buckets_are_contiguous_and_at_most_a_thousandth_wide() {
        let mut next = 0;
        for index in 0..BUCKETS - 1 {
            let (low, high) = edges_of(index);
            assert_eq!(low, next);
            assert!(high - low <= low / SUB_BUCKETS);
            next = high + 1;
        }
    }

    #[test]
    fn the_ninety_ninth_percentile_of_a_hundred_values_is_the_ninety_ninth_value() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(of(&values).quantile(0.99), Some(Nanos::new(99)));
        assert_eq!(of(&values).quantile(1.0), Some(Nanos::new(100)));
        assert_eq!(of(&values).quantile(0.0), Some(Nanos::new(1)));
    }

    #[test]
    fn nothing_recorded_gives_no_figure() {
        let empty = Histogram::new();
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.max()), (None, None, None));
        assert_eq!(empty.buckets().count(), 0);
    }

    #[test]
    fn the_deviation_is_that_of_the_middles_of_the_buckets() {
        // Around 4 lie -2, -1, 1, 2: the mean of 4, 1, 1, 4 is 2.5.
        assert_eq!(of(&[2, 3, 5, 6]).std_dev(), Some(2.5f64.sqrt()));
        // Buckets of 4,096 to 4,099 and of 8,192 to 8,199, whose middles lie 4,098 apart, around the exact mean.
        let found = of(&[4_096, 8_192]).std_dev().unwrap();
        let (low, high) = (6_144.0 - 4_097.5, 8_195.5 - 6_144.0);
        assert!((found - ((low * low + high * high) / 2.0f64).sqrt()).abs() < 1e-9, "{found}");
        assert_eq!(Histogram::new().std_dev(), None);
        // Around 3 lie -1, three times, and 3.
        assert_eq!(of(&[2, 2, 2, 6]).std_dev(), Some(3f64.sqrt()));
    }

    #[test]
    fn what_shares_the_bucket_of_a_limit_is_not_above_it() {
        let histogram = of(&[10, 10, 11, 12, 4_096, 4_099, 4_100]);
        let above = |limit: u64| histogram.count_above(Nanos::new(limit));
        assert_eq!([9, 10, 11, 12].map(above), [7, 5, 4, 3]);
        assert_eq!([4_095, 4_096, 4_099, 4_100, u64::MAX].map(above), [3, 1, 1, 0, 0]);
    }

    #[test]
    fn parts_that_contradict_each_other_are_no_histogram() {
        let bucket = |index, count| Bucket { index, count };
        let parts = |buckets: &[Bucket], min: u64, max: u64| {
            Histogram::from_parts(buckets.iter().copied(), 30, Nanos::new(min), Nanos::new(max))
        };
        let sound = [bucket(10, 1), bucket(20, 1)];
        let whole = parts(&sound, 10, 20).expect("they agree");
        assert_eq!((whole.count(), whole.sum_ns(), whole.mean()), (2, 30, Some(15.0)));
        assert_eq!(parts(&sound, 9, 20), None);
        assert_eq!(parts(&sound, 10, 21), None);
        assert_eq!(parts(&[bucket(narrow::<u32>(BUCKETS), 1)], 10, 10), None);
        assert_eq!(parts(&[bucket(10, u64::MAX), bucket(10, 1)], 10, 10), None);
        assert_eq!(parts(&[bucket(10, u64::MAX), bucket(20, 1)], 10, 20), None);
        assert_eq!(parts(&[bucket(10, 1), bucket(10, 2)], 10, 10).map(|all| all.count()), Some(3));
        assert!(parts(&[], 10, 20).is_some_and(|none| none.is_empty() && none.min().is_none()));
        let last = narrow::<u32>(BUCKETS) - 1;
        assert!(parts(&[bucket(last, 1)], u64::MAX, u64::MAX).is_some());
    }

    #[test]
    fn a_rank_is_that_of_the_decimal_fraction_that_was_written() {
        assert_eq!(
            [(0.99, 100), (0.07, 100), (0.29, 100), (0.999, 1_000)].map(|(q, n)| rank_of(q, n)),
            [99, 7, 29, 999]
        );
        assert_eq!([0.0, -1.0, 1.0, 2.0].map(|q| rank_of(q, 10)), [1, 1, 10, 10]);
        assert_eq!(rank_of(0.901, 10), 10);
    }

    #[test]
    fn memory_grows_by_whole_powers_of_two_of_values_and_a_few_figures_are_shown() {
        assert_eq!(Histogram::new().counts.len(), 0);
        assert_eq!(of(&[1_023]).counts.len(), 1_024);
        assert_eq!(of(&[1_024]).counts.len(), 2_048);
        assert_eq!(of(&[1 << 20]).counts.len(), 11 * 1_024 + 1_024);
        let mut grown = of(&[1]);
        grown.record_n(Nanos::new(1 << 20), 3);
        assert!(grown.counts.capacity() < 13 * 1_024, "it takes no more than it needs");
        assert_eq!((grown.count(), grown.sum_ns()), (4, 3 * (1 << 20) + 1));
        let shown = format!("{:?}", of(&[10, 20]));
        for part in ["Histogram", "count: 2", "10", "15.0", "20"] {
            assert!(shown.contains(part), "{shown}");
        }
    }

    #[test]
    fn a_run_of_buckets_that_holds_nothing_is_passed_over() {
        assert!(!holds_any(&[0; 32]) && holds_any(&[0, 3, 0]) && holds_any(&[5, 5]));
    }

    #[test]
    fn equal_counts_of_other_sums_are_not_equal() {
        // Both fall into the bucket of 4,096.
        assert_ne!(of(&[4_096]), of(&[4_097]));
        assert_ne!(of(&[1, 2, 9]), of(&[1, 3, 8]));
        assert_ne!(of(&[1]), of(&[1, 1]));
        let mut same = of(&[5]);
        same.merge(&Histogram::new());
        same.record_n(Nanos::new(7), 0);
        assert_eq!(same, of(&[5]));
    }

    #[test]
    fn hours_and_the_largest_span_do_not_saturate() {
        let histogram = of(&[1, 5 * 3_600_000_000_000, u64::MAX]);
        assert_eq!(histogram.max(), Some(Nanos::MAX));
        let hours = histogram.quantile(0.5).unwrap().as_secs_f64() / 3600.0;
        assert!((5.0..5.005).contains(&hours), "{hours}");
    }

    #[test]
    fn the_layout_agrees_with_hdrhistogram_at_three_digits() {
        let mut peer = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        let mut ours = Histogram::new();
        for step in 0..20_000u64 {
            let value = step * step * 37 + 1;
            peer.record(value).unwrap();
            ours.record(Nanos::new(value));
        }
        for q in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let (a, b) = (ours.quantile(q).unwrap().get() as f64, peer.value_at_quantile(q) as f64);
            assert!((a / b - 1.0).abs() <= 1.0 / 1024.0, "q {q}: {a} and {b}");
        }
    }

    fn spans() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0u32..64).prop_flat_map(|bits| 0..=(u64::MAX >> bits)), 1..400)
    }

    proptest! {
        #[test]
        fn quantiles_are_never_below_the_truth_and_at_most_a_thousandth_above(
            mut values in spans(), q in 0.0f64..=1.0,
        ) {
            let histogram = of(&values);
            values.sort_unstable();
            let truth = true_quantile(&values, q);
            let shown = histogram.quantile(q).unwrap().get();
            prop_assert!(shown >= truth);
            prop_assert!(shown - truth <= truth / SUB_BUCKETS);
        }

        #[test]
        fn merging_equals_recording_both_streams(left in spans(), right in spans()) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }

        #[test]
        fn stored_parts_give_the_histogram_back(values in spans()) {
            let histogram = of(&values);
            let again = Histogram::from_parts(
                histogram.buckets(), histogram.sum_ns(), histogram.min().unwrap(), histogram.max().unwrap(),
            );
            prop_assert_eq!(again, Some(histogram));
        }

        #[test]
        fn mean_min_and_max_are_exact(values in spans()) {
            let histogram = of(&values);
            let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
            prop_assert_eq!(histogram.mean(), Some(sum as f64 / values.len() as f64));
            prop_assert_eq!(histogram.min().map(Nanos::get), values.iter().min().copied());
            prop_assert_eq!(histogram.max().map(Nanos::get), values.iter().max().copied());
        }
    }
}
