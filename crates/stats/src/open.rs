//! Time spans of an interval that is still open: the first as they are, more of them in buckets.
//!
//! Sixty random reads of a disk spread over six thousand buckets of a histogram, which to look through cost as much as
//! the rest of booking them. Sorted, they cost as many steps as they are.
//!
//! **Invariant:** the histogram holds nothing while `first` has room, but for values that came several at once.

use units::Nanos;
use units::convert::narrow;

use crate::Bucket;
use crate::histogram::{Histogram, index_of};

/// How many are kept as they are: 2 KiB of them, sorted in a few microseconds.
const FIRST: usize = 256;

/// Counts of time spans that become those of a total, and leave nothing.
#[derive(Clone, Debug, Default)]
pub struct OpenHistogram {
    first: Vec<Nanos>,
    rest: Histogram,
}

impl OpenHistogram {
    /// One with nothing in it, which takes no memory yet.
    pub const fn new() -> OpenHistogram {
        OpenHistogram { first: Vec::new(), rest: Histogram::new() }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        if self.first.len() < FIRST {
            self.first.push(value);
        } else {
            self.rest.record(value);
        }
    }

    /// Counts `times` equal values. `times` of zero changes nothing.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, times: u64) {
        if times == 1 {
            self.record(value);
        } else {
            self.rest.record_n(value, times);
        }
    }

    /// How many values it holds.
    pub fn count(&self) -> u64 {
        self.first.len() as u64 + self.rest.count()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The largest value; `None` without one.
    pub fn max(&self) -> Option<Nanos> {
        self.first.iter().copied().max().max(self.rest.max())
    }

    /// Empties it: what it held, from the smallest values up, added to `into` where there is one.
    pub fn pour(&mut self, into: Option<&mut Histogram>) -> Vec<Bucket> {
        if self.rest.is_empty() {
            return self.pour_first(into);
        }
        self.first.drain(..).for_each(|value| self.rest.record(value));
        self.rest.pour(into)
    }

    /// As [`OpenHistogram::pour`], while there are only the first. Sorted before they are added, so that the buckets of
    /// the total are gone through once, from the left to the right.
    fn pour_first(&mut self, into: Option<&mut Histogram>) -> Vec<Bucket> {
        self.first.sort_unstable();
        if let Some(into) = into {
            self.first.iter().for_each(|value| into.record(*value));
        }
        let index = |value: &Nanos| index_of(value.get());
        let buckets = self
            .first
            .chunk_by(|one, next| index(one) == index(next))
            .map(|equal| Bucket { index: narrow::<u32>(index(&equal[0])), count: equal.len() as u64 })
            .collect();
        self.first.clear();
        buckets
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|(value, times)| histogram.record_n(Nanos::new(*value), *times));
        histogram
    }

    fn spans() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let value = (0u32..64).prop_flat_map(|bits| 0..=(u64::MAX >> bits));
        prop::collection::vec((value, prop_oneof![5 => Just(1u64), 1 => 0u64..4]), 1..600)
    }

    #[test]
    fn the_first_are_kept_as_they_are_and_more_of_them_in_buckets() {
        let mut open = OpenHistogram::new();
        for at in 0..FIRST as u64 {
            open.record(Nanos::new(at));
        }
        assert_eq!((open.first.len(), open.rest.count()), (FIRST, 0));
        assert!(!open.is_empty() && OpenHistogram::new().is_empty());
        open.record(Nanos::new(7));
        open.record_n(Nanos::new(9), 1);
        assert_eq!((open.first.len(), open.rest.count()), (FIRST, 2));
        let mut several = OpenHistogram::new();
        several.record_n(Nanos::new(7), 1);
        several.record_n(Nanos::new(7), 2);
        several.record_n(Nanos::new(7), 0);
        assert_eq!((several.first.len(), several.rest.count(), several.count()), (1, 2, 3));
    }

    proptest! {
        #[test]
        fn what_is_poured_is_what_a_histogram_of_the_same_values_holds(
            before in spans(), intervals in prop::collection::vec(spans(), 1..3),
        ) {
            let (mut total, mut open) = (of(&before), OpenHistogram::new());
            for values in &intervals {
                let held = of(values);
                values.iter().for_each(|(value, times)| open.record_n(Nanos::new(*value), *times));
                prop_assert_eq!((open.count(), open.max()), (held.count(), held.max()));
                prop_assert_eq!(open.pour(Some(&mut total)), held.buckets().collect::<Vec<_>>());
                prop_assert!(open.is_empty());
            }
            prop_assert_eq!(total, of(&[&[before][..], &intervals].concat().concat()));
        }
    }
}
