//! A bucket of a histogram, and buckets of several.

use units::Nanos;

use crate::histogram::edges_of;

/// One bucket that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Position in the layout, as stored in a record.
    pub index: u32,
    /// Values in it.
    pub count: u64,
}

impl Bucket {
    /// The smallest value that falls into this bucket.
    pub fn low(self) -> Nanos {
        Nanos::new(edges_of(self.index as usize).0)
    }

    /// The largest value that falls into this bucket.
    pub fn high(self) -> Nanos {
        Nanos::new(edges_of(self.index as usize).1)
    }

    /// The middle of its values in nanoseconds, as sums of times take all of them.
    pub fn middle_ns(self) -> f64 {
        let (low, high) = edges_of(self.index as usize);
        (low as f64 + high as f64) / 2.0
    }

    /// Puts `buckets` of several histograms together: by rising index, each once, and none that holds nothing.
    pub fn put_together(buckets: &mut Vec<Bucket>) {
        buckets.retain(|bucket| bucket.count > 0);
        buckets.sort_unstable_by_key(|bucket| bucket.index);
        buckets.dedup_by(|next, kept| {
            let same = next.index == kept.index;
            kept.count += if same { next.count } else { 0 };
            same
        });
        debug_assert!(
            buckets.is_sorted_by(|one, next| one.index < next.index),
            "each bucket is there once, by rising index"
        );
    }
}
