//! Buckets of several histograms.

use stats::{Bucket, Histogram};

/// Buckets of several histograms, put together when they are many.
#[derive(Clone, Debug, Default)]
pub(super) struct Pile(pub(super) Vec<Bucket>);

impl Pile {
    pub(super) fn add(&mut self, buckets: &[Bucket]) {
        if self.0.len() + buckets.len() > self.0.capacity() && !self.0.is_empty() {
            self.put_together();
        }
        self.0.extend(buckets);
    }

    pub(super) fn put_together(&mut self) {
        Bucket::put_together(&mut self.0);
    }

    pub(super) fn pour_into(&self, histogram: &mut Histogram) {
        for bucket in &self.0 {
            histogram.record_n(bucket.high(), bucket.count);
        }
    }
}
