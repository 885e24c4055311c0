//! Response times over time as they are stored: what a latency heat map is drawn of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Bucket;
use units::Nanos;

/// How long the requests of each stretch of the measured window took. Stretches are equally long and follow each other;
/// what is left over of a stretch at either end of the window is not in it.
///
/// Buckets are those of a [`Histogram`](crate::Histogram), only wider: `b`, of which its description speaks, is
/// `sub_bucket_bits` here as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseMap {
    /// When the first stretch begins, since the start of the run.
    pub from_ns: u64,
    /// How long each stretch is.
    pub each_ns: u64,
    /// Each power of two is cut into two to this power buckets.
    pub sub_bucket_bits: u32,
    /// Of each stretch the pairs of bucket index and count, by rising index, empty buckets left out; nothing where no
    /// request ended.
    pub stretches: Vec<Vec<(u32, u64)>>,
}

/// Four buckets for each power of two: a step of 19 %.
const BITS: u32 = 2;

impl ResponseMap {
    /// More stretches than a reader can tell apart are put together.
    pub const STRETCHES_MOST: usize = 120;

    /// The map of equally long `stretches` from `from_ns` on, each with the fine buckets of its requests in any order;
    /// `None` without a stretch, and where no request ended.
    pub fn of(from_ns: u64, each_ns: u64, stretches: &[Vec<Bucket>]) -> Option<ResponseMap> {
        let together = stretches.len().div_ceil(ResponseMap::STRETCHES_MOST);
        if stretches.iter().all(Vec::is_empty) {
            return None;
        }
        // A last one that is shorter than the others would look as if less had ended in it.
        let whole = stretches.chunks_exact(together);
        assert!(whole.len() <= ResponseMap::STRETCHES_MOST, "stretches are put together");
        debug_assert!(each_ns > 0, "a stretch has a length");
        let map = ResponseMap {
            from_ns,
            each_ns: each_ns.saturating_mul(together as u64),
            sub_bucket_bits: BITS,
            stretches: whole.clone().map(|chunk| coarse(chunk.iter().flatten())).collect(),
        };
        debug_assert_eq!(
            map.stretches.iter().flatten().map(|(_, count)| count).sum::<u64>(),
            whole.flatten().flatten().map(|bucket| bucket.count).sum::<u64>(),
            "a request that ended in a stretch is in no bucket of it"
        );
        Some(map)
    }

    /// Whether its buckets are those that this version knows, so that [`edges`] and [`quantile`] are about them.
    pub fn is_known(&self) -> bool {
        self.sub_bucket_bits == BITS
    }
}

/// The buckets of `fine` ones, put together.
fn coarse<'a>(fine: impl Iterator<Item = &'a Bucket>) -> Vec<(u32, u64)> {
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for bucket in fine.filter(|bucket| bucket.count > 0) {
        let index = index_of(bucket.low());
        match counts.binary_search_by_key(&index, |(own, _)| *own) {
            Ok(place) => counts[place].1 += bucket.count,
            Err(place) => counts.insert(place, (index, bucket.count)),
        }
    }
    debug_assert!(counts.is_sorted_by(|one, next| one.0 < next.0), "buckets are in order, each once");
    counts
}

fn index_of(value: Nanos) -> u32 {
    let ns = value.get();
    let shift = (u64::BITS - BITS - 1).saturating_sub(ns.leading_zeros());
    // Below two to the power of `BITS + 1`.
    let within = ns >> shift;
    debug_assert!(within < 1 << (BITS + 1), "a bucket within its power of two");
    (shift << BITS) + units::convert::narrow::<u32>(within)
}

/// The smallest value of bucket `index` of a [`ResponseMap`], and the first above it; an index beyond all buckets has the
/// greatest value at both ends.
pub fn edges(index: u32) -> (Nanos, Nanos) {
    let shift = (index >> BITS).saturating_sub(1);
    let low = |index: u32| -> Nanos {
        let within = u128::from(index - (shift << BITS));
        let value = if shift < u64::BITS { within << shift } else { u128::MAX };
        Nanos::new(u64::try_from(value).unwrap_or(u64::MAX))
    };
    let ends = (low(index), low(index.saturating_add(1)));
    debug_assert!(ends.0 <= ends.1, "a bucket ends where the next begins");
    debug_assert!(ends.1 == Nanos::MAX || index_of(ends.0) == index, "a bucket begins in another");
    ends
}

/// The quantile `q` of one stretch, as the upper end of its bucket: never below the truth, at most a quarter above it.
/// `None` for an empty stretch.
pub fn quantile(stretch: &[(u32, u64)], q: f64) -> Option<Nanos> {
    quantile_edges(stretch, q).map(|(_, above)| above)
}

/// Both ends of the bucket in which the quantile `q` of one stretch lies. `None` for an empty stretch.
pub fn quantile_edges(stretch: &[(u32, u64)], q: f64) -> Option<(Nanos, Nanos)> {
    assert!((0.0..=1.0).contains(&q), "a quantile is a part");
    // A record from elsewhere may count anything.
    let count = stretch.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let rank = (count as f64 * q).ceil().max(1.0);
    let mut seen = 0u64;
    let reaches = |(_, count): &&(u32, u64)| {
        seen = seen.saturating_add(*count);
        seen as f64 >= rank
    };
    let (index, _) = stretch.iter().find(reaches)?;
    Some(edges(*index))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(values_ns: &[u64]) -> Vec<Bucket> {
        let mut histogram = stats::Histogram::new();
        values_ns.iter().for_each(|ns| histogram.record(Nanos::new(*ns)));
        histogram.buckets().collect()
    }

    #[test]
    fn counts_that_no_sum_holds_are_no_fault() {
        let hostile = [(1, u64::MAX), (2, u64::MAX)];
        assert_eq!(quantile_edges(&hostile, 0.5), Some(edges(1)));
    }

    #[test]
    fn every_value_lies_between_the_edges_of_its_bucket() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        for ns in powers.flat_map(|power| [power - 1, power, power + power / 3, power + (power - 1)]) {
            let (low, end) = edges(index_of(Nanos::new(ns)));
            assert!(low.get() <= ns && (ns < end.get() || end.get() == u64::MAX), "{ns}: {low} {end}");
            assert!(ns < 8 || end.get() == u64::MAX || end.get() - low.get() <= low.get() / 4, "{ns}");
        }
        // Whatever a record says has edges.
        assert!([0, 7, 8, 251, 252, 1 << 20, u32::MAX].into_iter().map(edges).all(|(low, end)| low <= end));
    }

    #[test]
    fn no_request_is_lost_and_quantiles_are_never_below_the_truth() {
        let times: Vec<u64> = (1..=1000).map(|rank| rank * 10_000).collect();
        let map = ResponseMap::of(5, 1_000_000_000, &[buckets(&times), Vec::new()]).expect("it has requests");
        assert_eq!((map.from_ns, map.each_ns, map.stretches.len()), (5, 1_000_000_000, 2));
        let count: u64 = map.stretches[0].iter().map(|(_, count)| count).sum();
        assert_eq!(count, 1000);
        for (q, truth) in [(0.5, 5_000_000.0), (0.99, 9_900_000.0), (1.0, 10_000_000.0)] {
            let found = quantile(&map.stretches[0], q).expect("it has requests").get() as f64;
            assert!(found >= truth && found <= truth * 1.26, "{q}: {found}");
        }
        assert_eq!(quantile(&map.stretches[1], 0.5), None);
    }

    #[test]
    fn many_stretches_are_put_together_and_a_rest_is_left_out() {
        let each: Vec<Vec<Bucket>> = (0..512).map(|_| buckets(&[100_000])).collect();
        let map = ResponseMap::of(0, 4, &each).expect("it has requests");
        assert_eq!((map.each_ns, map.stretches.len()), (20, 102));
        assert!(map.stretches.iter().all(|stretch| stretch.len() == 1 && stretch[0].1 == 5));
        assert_eq!(ResponseMap::of(0, 4, &[Vec::new(), Vec::new()]), None);
        assert_eq!(ResponseMap::of(0, 4, &[]), None);
    }
}
