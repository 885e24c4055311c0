//! The times of the requests that ended in one stretch of a run.

use crate::Bucket;

/// A stretch of a run: the times of the requests that ended in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// From the smallest values up, each index once.
    pub(super) buckets: Vec<Bucket>,
    pub(super) count: u64,
    pub(super) sum_ns: f64,
}

impl Stretch {
    /// Of `buckets` in any order, of several histograms.
    pub fn of(buckets: impl IntoIterator<Item = Bucket>) -> Stretch {
        let mut buckets: Vec<Bucket> = buckets.into_iter().collect();
        Bucket::put_together(&mut buckets);
        let count = buckets.iter().map(|bucket| bucket.count).sum();
        let sum_ns = buckets.iter().map(|bucket| bucket.middle_ns() * bucket.count as f64).sum();
        Stretch { buckets, count, sum_ns }
    }

    /// What it holds, from the smallest values up.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.buckets.iter().copied()
    }

    /// Requests that ended in it.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn above(&self, index: u32) -> f64 {
        let from = self.buckets.partition_point(|bucket| bucket.index <= index);
        self.buckets[from..].iter().map(|bucket| bucket.count as f64).sum()
    }
}
