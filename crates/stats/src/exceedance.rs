//! How often values lie beyond a limit, and how sure that is: for independent values, and for those that cluster.
//!
//! Slow requests come together, so a bound for independent ones is too narrow; batches of equal length see the
//! clustering, but a few of them see too little of a rare event. A decision should hold under both.
//!
//! **Invariant:** bounds never leave 0 to 1 for counts; a bound that cannot be known is the widest there is.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

use units::Nanos;

use crate::{Histogram, Interval};

/// The one-sided bounds of a share of which `found` of `of` independent values were seen.
///
/// Each end alone holds with `confidence`. Exact: found by halving the binomial distribution function. `0..1` where
/// `of` is zero.
/// Source: Clopper & Pearson, *The use of confidence or fiducial limits*, Biometrika 26 (1934).
pub fn binomial_bounds(found: u64, of: u64, confidence: f64) -> Interval<f64> {
    let (k, n, rest) = (found.min(of) as f64, of as f64, 1.0 - confidence);
    let low = if found == 0 { 0.0 } else { root(|p| at_least(k, n, p) >= rest) };
    let high = if found >= of { 1.0 } else { root(|p| 1.0 - at_least(k + 1.0, n, p) <= rest) };
    debug_assert!([low, high].iter().all(|end| (0.0..=1.0).contains(end)));
    Interval { low, high }
}

/// The probability of at least `k` of `n`, `k` above zero and at most `n`.
fn at_least(k: f64, n: f64, p: f64) -> f64 {
    beta_reg(k, n - k + 1.0, p)
}

/// The smallest probability at which `reached` holds, which is false below it and true above.
fn root(reached: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Fifty halvings leave less than the rounding of a double near 1.
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if reached(middle) { high = middle } else { low = middle }
    }
    (low + high) / 2.0
}

/// What the `q` quantile of values that come from one distribution is not below, one-sided with `confidence`, however they
/// depend on each other; `None` where the values say nothing of that, as of every `q` up to `confidence`.
///
/// Of the values, a part of 1 - `q` is expected above the quantile, so that by Markov's inequality a part `s` is there with a
/// probability of at most (1 - `q`) / `s`: were the quantile below this bound, so many above it would be too unlikely. A
/// time bucket counts from its lower edge.
/// Source: Markov's inequality.
pub fn quantile_floor(values: &Histogram, q: f64, confidence: f64) -> Option<Nanos> {
    debug_assert!(
        (0.0..1.0).contains(&q) && (0.0..1.0).contains(&confidence),
        "{q} and {confidence} are parts"
    );
    let above = (1.0 - q) / (1.0 - confidence);
    if above >= 1.0 || values.is_empty() {
        return None;
    }
    let wanted = (above * values.count() as f64).ceil().max(1.0);
    let mut at_or_below = 0;
    let bucket = values.buckets().find(|bucket| {
        at_or_below += bucket.count;
        ((values.count() - at_or_below) as f64) < wanted
    })?;
    Some(bucket.low())
}

/// The chance with which a bound passes below its limit after [`times_to_pass`].
const CHANCE: f64 = 0.9;

/// A figure that is nearer to its limit than this part of it is at the limit: sums of doubles are no better.
const ROUNDING: f64 = 1e-9;

/// How many times as much has to be seen until the upper bound of a figure, which lies at `high` by what was seen so
/// far, is below `limit` with nine chances of ten; `None` where the figure itself is not below it.
///
/// A bound of that one-sided `confidence` comes nearer to its figure with the square root of what is seen. It has to
/// come so near that a figure 1.28 of its own deviations too high still passes.
pub fn times_to_pass(figure: f64, high: f64, limit: f64, confidence: f64) -> Option<f64> {
    let deviations = |chance: f64| Normal::standard().inverse_cdf(chance);
    let part = 1.0 + deviations(CHANCE) / deviations(confidence);
    let (width, room) = (high - figure, limit - figure);
    // The bound of what was not seen at all comes nearer with what is seen itself.
    (room > ROUNDING * limit && width.is_finite()).then(|| (part * width / room).powi(2).max(width / room))
}

/// A stretch of a run: how many values, and the sum of what is averaged over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// Values.
    pub count: f64,
    /// Their sum; of values that are 0 or 1 the number beyond the limit.
    pub sum: f64,
}

/// More batches than these are put together; a Student factor gains nothing from more.
const BATCHES: usize = 30;

/// Fewer batches than these have no interval that could be trusted.
pub const BATCHES_LEAST: usize = 10;

/// The one-sided bounds of the sum over the count of many batches, taken at equal lengths in order of time.
///
/// Each end alone holds with `confidence`. Batches are put together to 30 and to 15; the wider interval counts, so
/// that what is correlated over a batch widens it. `None` with fewer than ten batches, or without any value.
///
/// Rare clusters make the ratio skewed, and a ratio that came out low comes with a deviation that is too low: an
/// interval of equal arms lies below the truth far more often than above it. So the interval has the shape of that of a
/// Poisson count with the same relative deviation, Student's factor in place of the normal one: its upper arm is the
/// longer, and with many clusters the two are alike.
/// Source: Law, *Simulation Modeling and Analysis*, section 9.5.3, for the ratio of two means (Cochran, *Sampling
/// Techniques*, section 6.3); Wilson & Hilferty, *The distribution of chi-square*, PNAS 17 (1931), and Garwood,
/// *Fiducial limits for the Poisson distribution*, Biometrika 28 (1936), for the shape.
pub fn ratio_bounds(batches: &[Batch], confidence: f64) -> Option<Interval<f64>> {
    if batches.len() < BATCHES_LEAST {
        return None;
    }
    let total = together(batches);
    if total.count <= 0.0 {
        return None;
    }
    let ratio = total.sum / total.count;
    let (factor, deviation) = [BATCHES, BATCHES / 2]
        .into_iter()
        .filter(|parts| *parts <= batches.len().max(BATCHES / 2))
        .filter_map(|parts| spread(&grouped(batches, parts), ratio, confidence))
        .max_by(|one, other| (one.0 * one.1).total_cmp(&(other.0 * other.1)))
        .unwrap_or((0.0, 0.0));
    // So many independent events would have that relative deviation.
    let events = (ratio / deviation).powi(2);
    if !events.is_finite() || events <= 0.0 {
        return Some(Interval { low: ratio, high: ratio });
    }
    Some(Interval {
        low: ratio * cubed(events, -factor),
        high: ratio * (events + 1.0) / events * cubed(events + 1.0, factor),
    })
}

/// The quantile of a gamma distribution of mean 1 and of that shape, `factor` normal deviations from its middle.
fn cubed(shape: f64, factor: f64) -> f64 {
    (1.0 - 1.0 / (9.0 * shape) + factor / (3.0 * shape.sqrt())).max(0.0).powi(3)
}

/// Student's factor and the deviation of the ratio.
fn spread(groups: &[Batch], ratio: f64, confidence: f64) -> Option<(f64, f64)> {
    let n = groups.len() as f64;
    let total = together(groups);
    let squares: f64 = groups.iter().map(|group| (group.sum - ratio * group.count).powi(2)).sum();
    let deviation = (squares * n / (n - 1.0)).sqrt() / total.count;
    let factor = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(confidence);
    Some((factor, deviation))
}

/// `batches` in at most so many groups of neighbours, as equal as can be.
pub fn grouped(batches: &[Batch], groups: usize) -> Vec<Batch> {
    let groups = groups.min(batches.len()).max(1);
    let edge = |group: usize| group * batches.len() / groups;
    (0..groups).map(|group| together(&batches[edge(group)..edge(group + 1)])).collect()
}

fn together(batches: &[Batch]) -> Batch {
    batches
        .iter()
        .fold(Batch::default(), |all, one| Batch { count: all.count + one.count, sum: all.sum + one.sum })
}

/// For how many batches a value still shows in those after it: half the factor by which the variance of a long mean
/// exceeds that of independent batches; at least 1/2, which is what independent batches have.
///
/// Batches are doubled until the variance of their means times their length no longer grows by a tenth, or fewer
/// than ten are left. `None` where there are too few to say.
/// Source: Law, *Simulation Modeling and Analysis*, section 4.4, with the doubling of Flyvbjerg & Petersen (1989).
pub fn relaxation(batches: &[Batch]) -> Option<f64> {
    let spread = |groups: usize| {
        let groups = grouped(batches, groups);
        let total = together(&groups);
        let ratio = total.sum / total.count;
        let squares: f64 = groups.iter().map(|group| (group.sum - ratio * group.count).powi(2)).sum();
        squares / (groups.len() - 1) as f64 * groups.len() as f64
    };
    if batches.len() < 2 * BATCHES_LEAST {
        return None;
    }
    let single = spread(batches.len());
    let (mut groups, mut widest) = (batches.len(), single);
    while groups / 2 >= BATCHES_LEAST {
        groups /= 2;
        let wider = spread(groups);
        if wider <= widest * 1.1 {
            break;
        }
        widest = wider;
    }
    debug_assert!(widest >= single, "it only grows");
    (single > 0.0).then(|| (widest / single / 2.0).max(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(each: impl IntoIterator<Item = u64>) -> Histogram {
        let mut times = Histogram::new();
        each.into_iter().for_each(|micros| times.record(Nanos::from_micros(micros)));
        times
    }

    #[test]
    fn a_99th_percentile_is_not_below_what_two_fifths_of_the_values_are_above() {
        let floor = |q| quantile_floor(&times(1..=1_000), q, 0.975).map(|floor| floor.get() / 1_000);
        // Within a bucket's width of the 601st of a thousand.
        assert!(floor(0.99).is_some_and(|floor| (599..=601).contains(&floor)), "{:?}", floor(0.99));
        assert!(floor(0.999).is_some_and(|floor| (959..=961).contains(&floor)), "{:?}", floor(0.999));
        assert_eq!(floor(0.95), None, "twice as many as there are would have to be above");
        assert_eq!(quantile_floor(&times([]), 0.99, 0.975), None);
        assert_eq!(quantile_floor(&times([2]), 0.99, 0.975), Some(Nanos::from_micros(2)));
    }

    #[test]
    fn the_floor_of_a_percentile_is_above_it_as_seldom_as_it_says_where_slow_values_come_all_together() {
        // The worst there is for a bound: all values of a run are slow, or none is, a run in a hundred.
        let runs = (0..1_000u32).map(|run| times([if run % 100 == 0 { 9_000 } else { 1 }; 50]));
        let wrong =
            runs.filter_map(|run| quantile_floor(&run, 0.99, 0.975)).filter(|floor| floor.get() > 1_000);
        assert_eq!(wrong.count(), 10, "one in a hundred, for the 25 that it may be of a thousand");
    }

    #[test]
    fn the_limits_of_a_percentile_are_those_of_the_binomial_distribution() {
        // (quantile, requests, most beyond it to pass, least beyond it to fail), one-sided 95 %.
        let table = [
            (0.99, 1_000u64, 4u64, 16u64),
            (0.99, 10_000, 83, 118),
            (0.99, 100_000, 948, 1_053),
            (0.99, 1_000_000, 9_836, 10_165),
            (0.999, 10_000, 4, 16),
            (0.999, 100_000, 83, 118),
            (0.999, 1_000_000, 947, 1_053),
        ];
        for (quantile, n, pass, fail) in table {
            let limit = 1.0 - quantile;
            let bounds = |k| binomial_bounds(k, n, 0.95);
            assert!(bounds(pass).high < limit && bounds(pass + 1).high >= limit, "{n} at {quantile}");
            assert!(bounds(fail).low > limit && bounds(fail - 1).low <= limit, "{n} at {quantile}");
        }
    }

    #[test]
    fn so_many_requests_can_pass_at_all() {
        for (quantile, least) in [(0.99, 299u64), (0.999, 2_995), (0.9999, 29_956)] {
            let limit: f64 = 1.0 - quantile;
            assert!(binomial_bounds(0, least, 0.95).high < limit);
            assert!(binomial_bounds(0, least - 1, 0.95).high >= limit);
        }
        assert_eq!(binomial_bounds(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(binomial_bounds(7, 7, 0.95).high, 1.0);
    }

    #[test]
    fn half_the_room_takes_four_times_as_much() {
        let times = |figure| times_to_pass(figure, figure + 0.001, 0.01, 0.95).unwrap();
        assert!((times(0.009) / times(0.008) - 4.0).abs() < 1e-9);
        // 1 + 1.2816 / 1.6449, squared, where the room is the width.
        assert!((times(0.009) - 3.165).abs() < 1e-3, "{}", times(0.009));
        assert_eq!(times_to_pass(0.01, 0.011, 0.01, 0.95), None);
        // 299 requests without any beyond the limit pass at all: of ten times as many a tenth.
        let high = binomial_bounds(0, 2_990, 0.95).high;
        assert!((times_to_pass(0.0, high, 0.01, 0.95).unwrap() * 2_990.0 / 299.0 - 1.0).abs() < 0.01);
    }

    fn batches(of: impl Fn(usize) -> f64) -> Vec<Batch> {
        (0..600).map(|index| Batch { count: 10.0, sum: of(index) }).collect()
    }

    #[test]
    fn clustering_widens_the_bounds_of_batches() {
        let width = |of: fn(usize) -> f64| {
            let bounds = ratio_bounds(&batches(of), 0.95).unwrap();
            assert!(bounds.low < 0.05 + 1e-12 && bounds.high > 0.05 - 1e-12, "{bounds:?}");
            bounds.high - bounds.low
        };
        assert!(width(|i| f64::from(i % 20 == 0) * 10.0) < 0.001);
        assert!(width(|i| f64::from(i < 30) * 10.0) > 0.1);
        assert_eq!(ratio_bounds(&batches(|_| 1.0)[..9], 0.95), None);
    }

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} in place of {wanted}");
    }

    #[test]
    fn bounds_of_a_ratio_are_those_of_a_count_with_the_deviation_of_batches() {
        // Batches, for how long a sum is held, low, high, relaxation; computed apart from this program.
        for (count, held, low, high, relaxes) in [
            (47, 1, 0.141_152_299_684_77, 0.217_830_881_802_61, Some(0.811_535_557_952_96)),
            (47, 3, 0.116_950_381_954_13, 0.240_625_014_961_24, Some(1.559_464_911_424_33)),
            (100, 5, 0.135_048_684_176_99, 0.240_227_512_885_65, Some(2.358_068_078_447_93)),
            (12, 1, 0.118_169_031_367_69, 0.288_193_207_499_71, None),
            (30, 1, 0.129_063_017_857_8, 0.241_648_637_420_3, Some(0.712_860_599_169_98)),
            (29, 2, 0.118_451_472_316_52, 0.236_229_316_668_4, Some(1.029_909_406_967_26)),
        ] {
            let batches: Vec<Batch> = (0..count)
                .map(|at| Batch {
                    count: f64::from(10 + at % 3),
                    sum: f64::from(((at / held) * 7_919 + 13) % 101 % 5),
                })
                .collect();
            let bounds = ratio_bounds(&batches, 0.95).unwrap();
            near(bounds.low, low);
            near(bounds.high, high);
            match (relaxation(&batches), relaxes) {
                (Some(found), Some(wanted)) => near(found, wanted),
                (found, wanted) => assert_eq!(found, wanted),
            }
        }
    }

    #[test]
    fn of_thirty_and_of_fifteen_groups_the_wider_interval_counts_and_fewer_batches_make_no_thirty() {
        let width = |count: usize, of: fn(usize) -> f64| {
            let bounds = ratio_bounds(&batches(of)[..count], 0.95).unwrap();
            bounds.high - bounds.low
        };
        // Two and two in turn: of thirty groups of two each has none or all, of fifteen each the half.
        assert!(width(60, |at| f64::from(at % 4 < 2) * 10.0) > 0.25);
        // One and one in turn: fifteen groups of 28 are mostly pairs, which are alike; 28 groups would differ the most.
        assert!(width(28, |at| f64::from(at % 2 == 0) * 10.0) < 0.2);
    }

    #[test]
    fn what_is_nearer_to_its_limit_than_sums_are_exact_never_passes() {
        let times = |room: f64| times_to_pass(0.01 - room, 0.011, 0.01, 0.95);
        assert!(times(1e-9).is_some());
        assert_eq!(times(1e-12), None);
        assert_eq!(times_to_pass(0.0, 0.1, 0.0, 0.95), None);
    }

    #[test]
    fn batches_are_doubled_no_more_once_their_variance_grows_by_less_than_a_tenth() {
        // Pairs and fours of (1, 0, 1, 0) and of its opposite in turn. Variances are 20 x 40 / 39 of the single ones,
        // 20 x 20 / 19 of pairs, a fortieth more, and 40 x 10 / 9 of fours.
        let all: Vec<Batch> = (0..40)
            .map(|at: i32| Batch {
                count: 10.0,
                sum: f64::from(u8::from(at % 2 == 0)) * if at / 4 % 2 == 0 { 10.0 } else { -10.0 },
            })
            .collect();
        assert_eq!(relaxation(&all), Some(0.5));
    }

    #[test]
    fn a_ratio_without_deviation_or_without_values_has_the_bounds_that_follow() {
        let alike = ratio_bounds(&batches(|_| 2.5), 0.95).unwrap();
        assert_eq!((alike.low, alike.high), (0.25, 0.25));
        assert_eq!(ratio_bounds(&[Batch::default(); 20], 0.95), None);
        assert_eq!(ratio_bounds(&batches(|_| 0.0), 0.95), Some(Interval { low: 0.0, high: 0.0 }));
        assert!(ratio_bounds(&batches(|at| at as f64)[..10], 0.95).is_some());
        assert_eq!(relaxation(&batches(|at| at as f64)[..19]), None);
        assert!(relaxation(&batches(|at| at as f64)[..20]).is_some());
        assert_eq!(relaxation(&batches(|_| 1.0)), None, "nothing deviates");
    }

    #[test]
    fn groups_are_as_equal_as_can_be_and_hold_all() {
        let all: Vec<Batch> = (0..7).map(|at| Batch { count: 1.0, sum: f64::from(at) }).collect();
        let counts = |groups: usize| grouped(&all, groups).iter().map(|one| one.count).collect::<Vec<_>>();
        assert_eq!(counts(3), [2.0, 2.0, 3.0]);
        assert_eq!(counts(9), [1.0; 7]);
        assert_eq!(counts(0), [7.0]);
        assert_eq!(grouped(&all, 1)[0].sum, 21.0);
    }

    #[test]
    fn more_has_to_be_seen_the_wider_the_bound_and_the_less_the_room() {
        near(times_to_pass(0.004, 0.007, 0.01, 0.95).unwrap(), 0.791_324_136_533_9);
        near(times_to_pass(0.004, 0.0041, 0.01, 0.99).unwrap(), 1.0 / 60.0);
        near(times_to_pass(0.0, 0.001, 0.01, 0.95).unwrap(), 0.1);
        assert_eq!(times_to_pass(0.004, f64::INFINITY, 0.01, 0.95), None);
        assert_eq!(times_to_pass(0.02, 0.03, 0.01, 0.95), None);
    }

    #[test]
    fn a_value_that_stays_for_long_is_found_to_relax_slowly() {
        let slow = relaxation(&batches(|i| f64::from((i / 16) % 2 == 0) * 10.0));
        assert!(slow.unwrap() > 2.0, "{slow:?}");
        let quick = relaxation(&batches(|i| f64::from(i % 2 == 0)));
        assert_eq!(quick, Some(0.5));
        assert_eq!(relaxation(&batches(|_| 1.0)[..12]), None);
    }
}
