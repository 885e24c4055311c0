//! A histogram as it is stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{Bucket, SUB_BUCKET_BITS};
use units::Nanos;

/// Counts of time spans by size, enough to merge and to find any quantile.
///
/// Bucket `i` below `2^(b+1)` holds the value `i`; above, with `s = (i >> b) - 1`, the values from
/// `(i - (s << b)) << s` on, `2^s` of them. `b` is `sub_bucket_bits`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Histogram {
    /// Values counted.
    pub count: u64,
    /// Their exact sum.
    pub sum_ns: u64,
    /// The smallest, exact; absent when nothing was counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min_ns: Option<u64>,
    /// The largest, exact; absent when nothing was counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_ns: Option<u64>,
    /// Each power of two is cut into two to this power buckets.
    pub sub_bucket_bits: u32,
    /// Pairs of bucket index and count, by rising index, empty buckets left out.
    pub buckets: Vec<(u32, u64)>,
}

impl From<&stats::Histogram> for Histogram {
    fn from(histogram: &stats::Histogram) -> Histogram {
        debug_assert_eq!(
            histogram.buckets().map(|bucket| bucket.count).sum::<u64>(),
            histogram.count(),
            "every value is in a bucket"
        );
        debug_assert!(
            histogram.buckets().is_sorted_by(|one, next| one.index < next.index),
            "buckets are in order, each once"
        );
        debug_assert!(histogram.min() <= histogram.max(), "the smallest is not above the largest");
        Histogram {
            count: histogram.count(),
            sum_ns: u64::try_from(histogram.sum_ns()).unwrap_or(u64::MAX),
            min_ns: histogram.min().map(Nanos::get),
            max_ns: histogram.max().map(Nanos::get),
            sub_bucket_bits: SUB_BUCKET_BITS,
            buckets: histogram.buckets().map(|bucket| (bucket.index, bucket.count)).collect(),
        }
    }
}

impl Histogram {
    /// The histogram to compute with, or `None` where the stored parts contradict each other or have another
    /// layout.
    pub fn to_stats(&self) -> Option<stats::Histogram> {
        if self.sub_bucket_bits != SUB_BUCKET_BITS {
            return None;
        }
        let buckets = self.buckets.iter().map(|(index, count)| Bucket { index: *index, count: *count });
        let (min, max) = (self.min_ns.unwrap_or(0), self.max_ns.unwrap_or(0));
        let histogram =
            stats::Histogram::from_parts(buckets, u128::from(self.sum_ns), Nanos::new(min), Nanos::new(max))?;
        (histogram.count() == self.count).then_some(histogram)
    }
}
