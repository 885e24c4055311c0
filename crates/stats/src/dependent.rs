//! Intervals of rates, mean times and percentiles of requests that depend on each other.
//!
//! Slow requests come together, so the number of requests says little of how sure a figure is. What counts is how much
//! stretches of a run differ from each other, and that over the longest times the run has room for: the variance of a
//! mean is the spectrum of its stretches at frequency zero. It is estimated from the slowest cosines of the run, which
//! are nearly independent of each other whatever the requests do, and Student's distribution has as many degrees of
//! freedom as there are cosines.
//!
//! **Invariant:** an interval is given where the run surely has enough of what it is about: not the number of independent
//! groups that it seems to have decides but the lower bound of that number, and where the tail is concerned that of a
//! more common share. Runs that are given an interval are no fair sample: one that found too short times found too little
//! deviation with them, and too many groups. Therefore intervals widen steeply towards the fewest groups that are given
//! one, until they are so wide that there is none, and above the figure more than below it: near saturation the deviation
//! of a mean grows with its square, so halves are equal on the scale on which the deviation stays what it is.
//!
//! Sources: Müller, *HAC corrections for strongly autocorrelated time series*, Journal of Business & Economic
//! Statistics 32 (2014), and Lazarus, Lewis, Stock & Watson, the same 36 (2018), for equally weighted cosines; Woodruff,
//! *Confidence intervals for medians and other position measures*, Journal of the American Statistical Association 47
//! (1952), for percentiles by the share above each candidate; Cochran, *Sampling Techniques*, section 6.3, for shares
//! as ratios of two means; Whitt, *Planning queueing simulations*, Management Science 35 (1989), and Asmussen, *Queueing
//! simulation in heavy traffic*, Mathematics of Operations Research 17 (1992), for how deviations grow near saturation;
//! Fithian, Sun & Taylor, *Optimal inference after model selection* (2014), for intervals of what was let through.

use std::f64::consts::PI;
use std::fmt;

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};
use units::Nanos;

use crate::{Bucket, Interval};

/// Fewer stretches than these say nothing of how they differ.
pub const STRETCHES_LEAST: usize = 4;
/// More stretches than these are put together: only slow changes count, and memory stays what it is.
const STRETCHES_MOST: usize = 128;
/// Cosines of a run of 16 to 64 stretches; a Student factor of 2.3.
const COSINES: usize = 8;
/// Cosines of the longest runs; more would gain a twentieth in width and see less of what is slow.
const COSINES_MOST: usize = 16;
/// The variance is never below this part of what independent stretches would have: cosines may be small by chance.
const INDEPENDENT_PART: f64 = 2.0 / 3.0;
/// So many times as strong as those that follow, the slowest cosines are a drift, or a change slower than the run.
const STEEP: f64 = 5.0;
/// Independent groups of requests that there surely have to be beyond a more common percentile.
const GROUPS_LEAST: f64 = 50.0;
/// With so much confidence.
const GROUPS_SURE: f64 = 0.95;
/// Intervals of percentiles grow by this over the groups that there surely are above the median: the fewer, the more a
/// run owes to luck that it has enough of them. The number is from runs of M/M/1, M/D/1 and closed loops, with other
/// seeds, loads and service times than those of benches/RESULTS.md.
const DOUBTED: f64 = 20.0;
/// The same of means. Near saturation a mean has one group where the share above the median has three: it is 1.7 times
/// as far off, for it forgets more slowly.
const MEAN_DOUBTED: f64 = 3.0 * DOUBTED;
/// The deviation of a mean time, as a part, grows with so high a power of the mean: near saturation the mean is one
/// over what is left free and its deviation the square of that; the deviation that a run finds is later still.
const MEAN_POWER: f64 = 2.0;
/// The same of the odds of a share of slow requests.
const SHARE_POWER: f64 = 1.0;
/// No interval where deviations would grow beyond any bound, or nearly so, on the way to its upper end.
const GROWTH_MOST: f64 = 0.95;
/// How much more common that percentile is.
const MORE_COMMON: f64 = 10.0;
/// Fewer requests beyond a percentile give it no upper end.
const BEYOND_LEAST: f64 = 10.0;

/// Why a figure has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// Fewer stretches than four, or nothing in them.
    TooShort,
    /// Too few independent requests beyond it.
    TooFew,
    /// Changes that are slower than the run has room for.
    TooSlow,
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoInterval::TooShort => "fewer than 4 whole seconds were measured",
            NoInterval::TooFew => "slow requests came in too few groups independent of each other",
            NoInterval::TooSlow => "it changed more slowly than the run is long",
        })
    }
}

/// A stretch of a run: the times of the requests that ended in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// From the smallest values up, each index once.
    buckets: Vec<Bucket>,
    count: u64,
    sum_ns: f64,
}

impl Stretch {
    /// Of `buckets` in any order, of several histograms.
    pub fn of(buckets: impl IntoIterator<Item = Bucket>) -> Stretch {
        let mut sorted: Vec<Bucket> = buckets.into_iter().filter(|bucket| bucket.count > 0).collect();
        sorted.sort_unstable_by_key(|bucket| bucket.index);
        sorted.dedup_by(|next, kept| {
            let same = next.index == kept.index;
            kept.count += if same { next.count } else { 0 };
            same
        });
        debug_assert!(
            sorted.windows(2).all(|pair| pair[0].index < pair[1].index),
            "each index once, by size"
        );
        let count = sorted.iter().map(|bucket| bucket.count).sum();
        let sum_ns = sorted.iter().map(|bucket| middle_ns(*bucket) * bucket.count as f64).sum();
        Stretch { buckets: sorted, count, sum_ns }
    }

    /// What it holds, from the smallest values up.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.buckets.iter().copied()
    }

    /// Requests that ended in it.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn above(&self, index: u32) -> f64 {
        let from = self.buckets.partition_point(|bucket| bucket.index <= index);
        self.buckets[from..].iter().map(|bucket| bucket.count as f64).sum()
    }
}

fn middle_ns(bucket: Bucket) -> f64 {
    (bucket.low().get() as f64 + bucket.high().get() as f64) / 2.0
}

/// The stretches of a run in order of time, each as long as the others.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    cells: Vec<Stretch>,
    /// All of them together.
    pooled: Stretch,
}

impl Stretches {
    /// Of equally long stretches. Many are put together to at most 128; leading ones that fill none are left out.
    pub fn of(stretches: &[Stretch]) -> Stretches {
        let cells: Vec<Stretch> = grouped(stretches)
            .map(|group| Stretch::of(group.iter().flat_map(|one| one.buckets.clone())))
            .collect();
        let pooled = Stretch::of(cells.iter().flat_map(|cell| cell.buckets.iter().copied()));
        Stretches { cells, pooled }
    }

    /// What all of them hold, from the smallest values up.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.pooled.buckets.iter().copied()
    }

    /// The mean time, from the middles of the buckets; `None` without any request.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.pooled.count > 0).then(|| self.pooled.sum_ns / self.pooled.count as f64)
    }

    /// The range that holds the long-run mean time with 95 % confidence, in nanoseconds, around `mean_ns`.
    ///
    /// Its upper end is further away. The reason where there is none.
    pub fn mean_interval(&self, mean_ns: f64) -> Result<Interval<f64>, NoInterval> {
        let groups = self.groups(0.5)?;
        let own = self.pooled.sum_ns / self.pooled.count as f64;
        let residuals = self.residuals(|cell| cell.sum_ns - own * cell.count as f64);
        let half = (1.0 + MEAN_DOUBTED / groups) * half_width(&residuals)? / own;
        let sides = Sides::of(half, MEAN_POWER)?;
        Ok(Interval {
            low: mean_ns * (-half * sides.below).exp(),
            high: mean_ns * (half * sides.above).exp(),
        })
    }

    /// The range that holds the long-run quantile `q` with 95 % confidence.
    ///
    /// Each bound is the last candidate that the share of requests above it does not speak against. The reason where
    /// there is none.
    pub fn quantile_interval(&self, q: f64) -> Result<Interval<Nanos>, NoInterval> {
        let tail = 1.0 - q;
        if (self.pooled.count as f64) * tail.min(q) < BEYOND_LEAST {
            return Err(NoInterval::TooFew);
        }
        let doubt = 1.0 + DOUBTED / self.groups(0.5)?;
        self.groups((MORE_COMMON * tail).min(0.5))?;
        let (own, last) = (self.at_share(tail), self.pooled.buckets.len() - 1);
        if own == last {
            return Err(NoInterval::TooFew);
        }
        let (share, residuals) = self.above(own);
        debug_assert!(
            0.0 < share && share < 1.0,
            "some lie above a bucket that is not the last, and some in it"
        );
        // A drift speaks against every candidate; elsewhere few requests may, and then nothing is refused.
        let half = doubt * half_width(&residuals)? / (share * (1.0 - share));
        let sides = Sides::of(half, SHARE_POWER)?;
        let agrees = |bucket: usize, times: f64| self.agrees(self.pooled.buckets[bucket].index, tail, times);
        let low = boundary(own, 0, |bucket| agrees(bucket, doubt * sides.below));
        let high = boundary(own, last, |bucket| agrees(bucket, doubt * sides.above));
        if high == last {
            return Err(NoInterval::TooFew);
        }
        debug_assert!(low <= own && own <= high, "an interval holds what it is about");
        // What agrees is that the quantile lies above the bucket before the lowest and not above the highest.
        Ok(Interval { low: self.pooled.buckets[low].low(), high: self.pooled.buckets[high + 1].high() })
    }

    /// In how many independent groups at least requests above a share that is more common come; the reason where in too
    /// few.
    fn groups(&self, share: f64) -> Result<f64, NoInterval> {
        if self.pooled.count == 0 {
            return Err(NoInterval::TooShort);
        }
        let (found, residuals) = self.above(self.at_share(share));
        let variance = variance(&residuals)?.0.max(independent(&residuals));
        // Stretches that are all alike have groups without end.
        let groups = if variance > 0.0 { found * found / variance } else { f64::INFINITY };
        let least = groups * least_part(residuals.len());
        (least >= GROUPS_LEAST).then_some(least).ok_or(NoInterval::TooFew)
    }

    /// The first bucket of all that no more than that share of the requests lie above.
    fn at_share(&self, share: f64) -> usize {
        let most = share * self.pooled.count as f64;
        let mut above = self.pooled.count as f64;
        let fits = |bucket: &Bucket| {
            above -= bucket.count as f64;
            above <= most
        };
        let last = self.pooled.buckets.len().saturating_sub(1);
        self.pooled.buckets.iter().position(fits).unwrap_or(last)
    }

    /// The share of requests above that bucket of all, and by how much each stretch deviates from it.
    fn above(&self, bucket: usize) -> (f64, Vec<f64>) {
        let index = self.pooled.buckets[bucket].index;
        let share = self.pooled.above(index) / self.pooled.count as f64;
        (share, self.residuals(|cell| cell.above(index) - share * cell.count as f64))
    }

    fn residuals(&self, of: impl Fn(&Stretch) -> f64) -> Vec<f64> {
        let each = self.pooled.count as f64 / self.cells.len() as f64;
        self.cells.iter().map(|cell| of(cell) / each).collect()
    }

    /// Whether the share of requests above `index` may be `tail` in the long run, on the scale of log odds, with an
    /// interval so many times as wide.
    fn agrees(&self, index: u32, tail: f64, times: f64) -> bool {
        let found = self.pooled.above(index) / self.pooled.count as f64;
        let residuals = self.residuals(|cell| cell.above(index) - found * cell.count as f64);
        let Ok((variance, freedom)) = variance(&residuals) else { return true };
        // Of a share of nothing or of all this is not a number, and nothing agrees.
        let half = times * student(freedom) * variance.sqrt() / (found * (1.0 - found));
        let odds = |share: f64| (share / (1.0 - share)).ln();
        (odds(found) - odds(tail)).abs() <= half
    }
}

/// The last place from `inside` towards `end` where `agrees` still holds, if it holds up to one place and no further.
fn boundary(inside: usize, end: usize, agrees: impl Fn(usize) -> bool) -> usize {
    let (mut holds, mut fails) = (inside, end);
    if agrees(end) {
        return end;
    }
    while holds.abs_diff(fails) > 1 {
        let between = usize::midpoint(holds, fails);
        if agrees(between) { holds = between } else { fails = between }
    }
    holds
}

/// How far the ends of an interval are, in halves on the scale of logarithms.
struct Sides {
    below: f64,
    above: f64,
}

impl Sides {
    /// Where deviations grow with that power of what they are deviations of: halves are then equal on the scale of one
    /// over that power.
    fn of(half: f64, power: f64) -> Result<Sides, NoInterval> {
        let grown = power * half;
        if grown >= GROWTH_MOST {
            Err(NoInterval::TooFew)
        } else if grown <= f64::EPSILON {
            Ok(Sides { below: 1.0, above: 1.0 })
        } else {
            let sides = Sides { below: grown.ln_1p() / grown, above: -(-grown).ln_1p() / grown };
            debug_assert!(sides.below <= sides.above, "the upper end is the further");
            Ok(sides)
        }
    }
}

/// The part of the groups that so many stretches seem to have that there surely are: their variance is known as well as
/// that of independent stretches.
fn least_part(stretches: usize) -> f64 {
    let freedom = stretches.saturating_sub(1) as f64;
    ChiSquared::new(freedom).map_or(0.0, |law| law.inverse_cdf(1.0 - GROUPS_SURE) / freedom)
}

/// The range that holds the long-run mean of `values`, taken at equal spacing, with 95 % confidence; the reason where
/// there is none.
pub fn mean_interval(values: &[f64]) -> Result<Interval<f64>, NoInterval> {
    let cells: Vec<f64> = grouped(values).map(average).collect();
    let mean = average(&cells);
    let residuals: Vec<f64> = cells.iter().map(|cell| cell - mean).collect();
    let half = half_width(&residuals)?;
    let centre = average(values);
    Ok(Interval { low: centre - half, high: centre + half })
}

/// The degrees of freedom behind an interval of that many equally long stretches; `None` where there is none.
pub fn freedom(stretches: usize) -> Option<f64> {
    let cells = stretches / stretches.div_ceil(STRETCHES_MOST).max(1);
    debug_assert!(cells <= STRETCHES_MOST);
    (cells >= STRETCHES_LEAST).then(|| cosines_of(cells) as f64)
}

fn grouped<T>(values: &[T]) -> std::slice::Chunks<'_, T> {
    let length = values.len().div_ceil(STRETCHES_MOST).max(1);
    values[values.len() % length..].chunks(length)
}

fn cosines_of(cells: usize) -> usize {
    (cells / 8).clamp(COSINES, COSINES_MOST).min(cells / 2)
}

/// Half the width of the interval of the mean of what `residuals` are the deviations of.
fn half_width(residuals: &[f64]) -> Result<f64, NoInterval> {
    let (variance, freedom) = variance(residuals)?;
    Ok(student(freedom) * variance.sqrt())
}

/// The variance of the mean, and its degrees of freedom.
fn variance(residuals: &[f64]) -> Result<(f64, f64), NoInterval> {
    let n = residuals.len();
    if n < STRETCHES_LEAST {
        return Err(NoInterval::TooShort);
    }
    let slow = cosines_of(n);
    let powers: Vec<f64> = (1..=(3 * slow).min(n - 1)).map(|number| power(residuals, number)).collect();
    let (slowest, following) = (average(&powers[..slow]), average(&powers[slow..]));
    if n >= 2 * COSINES && slowest > STEEP * following {
        return Err(NoInterval::TooSlow);
    }
    let variance = (slowest / n as f64).max(INDEPENDENT_PART * independent(residuals));
    Ok((variance, slow as f64))
}

/// The power of the cosine that has `number` half periods in the run.
fn power(residuals: &[f64], number: usize) -> f64 {
    let n = residuals.len() as f64;
    let wave = |place: usize| (PI * number as f64 * (place as f64 + 0.5) / n).cos();
    let sum: f64 = residuals.iter().enumerate().map(|(place, value)| value * wave(place)).sum();
    sum * sum * 2.0 / n
}

/// The variance of the mean if neighbours told nothing of each other.
fn independent(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    residuals.iter().map(|value| value * value).sum::<f64>() / (n - 1.0) / n
}

/// The two-sided 95 % factor.
pub(crate) fn student(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(0.975))
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    fn stretch(values: impl IntoIterator<Item = u64>) -> Stretch {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(Nanos::new(value)));
        Stretch::of(histogram.buckets())
    }

    #[test]
    fn stretches_that_are_all_alike_leave_no_doubt() {
        let all = Stretches::of(&vec![stretch(1..=1000); 20]);
        let median = all.quantile_interval(0.5).unwrap();
        assert!(median.low.get() <= 500 && median.high.get() <= 502, "{median:?}");
        let mean = all.mean_interval(500.5).unwrap();
        assert!((mean.high - mean.low).abs() < 1e-6, "{mean:?}");
    }

    #[test]
    fn slow_stretches_that_come_together_widen_the_interval_or_leave_none() {
        let of = |slow: fn(u64) -> bool| {
            let each =
                |second: u64| stretch((0..1000).map(move |n| 1000 + n + if slow(second) { 500 } else { 0 }));
            Stretches::of(&(0..60).map(each).collect::<Vec<_>>())
        };
        let width = |all: &Stretches| {
            let range = all.quantile_interval(0.5).ok()?;
            Some(range.high.get() - range.low.get())
        };
        let quick = width(&of(|second| second % 2 == 0)).unwrap();
        assert!(width(&of(|second| (second / 8) % 2 == 0)).is_none_or(|slow| slow > quick));
        assert_eq!(of(|second| second < 30).quantile_interval(0.5), Err(NoInterval::TooSlow));
        assert_eq!(of(|second| second < 30).mean_interval(1.0), Err(NoInterval::TooSlow));
    }

    #[test]
    fn groups_are_what_they_surely_are_and_surer_of_a_longer_run() {
        // The fifth percentile of chi-square with 9 and 29 degrees of freedom is 3.33 and 17.7.
        assert!((least_part(10) - 3.325 / 9.0).abs() < 1e-3, "{}", least_part(10));
        assert!((least_part(30) - 17.708 / 29.0).abs() < 1e-3, "{}", least_part(30));
        assert_eq!((least_part(0), least_part(1)), (0.0, 0.0));
    }

    #[test]
    fn halves_are_equal_where_the_deviation_stays_what_it_is() {
        let sides = Sides::of(0.2, 2.0).unwrap();
        let at = |logarithm: f64| (-2.0 * logarithm).exp();
        let (low, high) = (at(-0.2 * sides.below), at(0.2 * sides.above));
        assert!((low - 1.4).abs() < 1e-9 && (high - 0.6).abs() < 1e-9, "{low} {high}");
        assert!(Sides::of(0.48, 2.0).is_err() && Sides::of(0.0, 2.0).is_ok());
    }

    #[test]
    fn three_stretches_and_a_tail_of_nine_requests_have_no_interval() {
        assert_eq!(
            Stretches::of(&vec![stretch(1..=1000); 3]).quantile_interval(0.5),
            Err(NoInterval::TooShort)
        );
        assert_eq!(mean_interval(&[5.0; 3]), Err(NoInterval::TooShort));
        assert_eq!(Stretches::default().mean_interval(1.0), Err(NoInterval::TooShort));
        let few = Stretches::of(&vec![stretch(1..=90); 10]);
        assert_eq!(few.quantile_interval(0.99), Err(NoInterval::TooFew));
        assert!(few.quantile_interval(0.9).is_ok());
    }

    /// Values of 100 to 110 without a pattern, each held for so many places.
    fn rough(count: usize, held: usize) -> Vec<f64> {
        (0..count).map(|at| 100.0 + (((at / held) * 7_919 + 13) % 101) as f64 / 10.0).collect()
    }

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} in place of {wanted}");
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_slowest_cosines() {
        // Length, how long values are held, low, high, variance, cosines; computed apart from this program.
        for (count, held, low, high, spread, cosines) in [
            (5, 1, 99.419_909_203_657, 111.500_090_796_343, 1.970_671_989_327_5, 2.0),
            (12, 1, 103.570_541_277_865, 107.096_125_388_801, 0.518_997_804_154_94, 6.0),
            (16, 1, 103.451_452_638_595, 106.361_047_361_405, 0.398_001_625_577_91, 8.0),
            (47, 1, 104.314_910_799_486, 105.944_663_668_599, 0.124_871_507_207_012, 8.0),
            (60, 3, 103.558_897_775_398, 106.241_102_224_602, 0.338_223_362_106_394, 8.0),
        ] {
            let values = rough(count, held);
            let found = mean_interval(&values).unwrap();
            near(found.low, low);
            near(found.high, high);
            let mean = average(&values);
            let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
            let (variance, freedom) = variance(&residuals).unwrap();
            near(variance, spread);
            assert_eq!(freedom, cosines);
        }
        // Put together by three, and the first one, which fills no three, counts for the mean alone.
        let found = mean_interval(&rough(301, 1)).unwrap();
        near(found.low, 104.794_186_541_354);
        near(found.high, 105.202_491_199_510);
    }

    #[test]
    fn a_run_has_cosines_by_its_length() {
        let found = [4, 5, 15, 16, 17, 63, 64, 71, 72, 128, 129, 300, 3600].map(freedom);
        let wanted = [2, 2, 7, 8, 8, 8, 8, 8, 9, 16, 8, 12, 15];
        assert_eq!(found, wanted.map(|cosines| Some(f64::from(cosines))));
    }

    #[test]
    fn the_upper_end_is_further_by_what_deviations_grow() {
        let of = |half, power| Sides::of(half, power).map(|sides| (sides.below, sides.above));
        for (half, power, below, above) in [
            (0.3, 1.0, 0.874_547_548_224_970, 1.188_916_479_795_77),
            (0.2, 2.0, 0.841_180_591_553_032, 1.277_064_059_414_98),
        ] {
            let found = of(half, power).unwrap();
            near(found.0, below);
            near(found.1, above);
        }
        assert_eq!(of(0.0, 2.0), Ok((1.0, 1.0)));
        assert_eq!(of(0.475, 2.0), Err(NoInterval::TooFew));
        assert!(of(0.474, 2.0).is_ok());
    }

    #[test]
    fn the_last_place_that_agrees_is_found_in_either_direction() {
        assert_eq!(boundary(5, 20, |place| place <= 13), 13);
        assert_eq!(boundary(5, 0, |place| place >= 3), 3);
        assert_eq!(boundary(5, 20, |_| true), 20);
        assert_eq!(boundary(5, 20, |_| false), 5);
        assert_eq!(boundary(5, 6, |place| place <= 5), 5);
    }

    #[test]
    fn mean_and_percentiles_of_stretches_have_the_ranges_that_the_sources_give() {
        let times = |second: u64| {
            (0..100 + second % 7)
                .map(move |n| 100 + second % 5 * 20 + (n * 7_919 + second * 613) % 997)
                .collect::<Vec<u64>>()
        };
        let all = Stretches::of(&(0..24).map(|second| stretch(times(second))).collect::<Vec<_>>());
        // Computed apart from this program.
        near(all.groups(0.5).unwrap(), 3_803.772_393_588_666);
        let own = all.mean_ns().unwrap();
        let mean = all.mean_interval(own).unwrap();
        near(mean.low, 625.675_727_073_549);
        near(mean.high, 647.892_536_208_848);
        for (quantile, low, high) in [(0.5, 624, 647), (0.9, 1024, 1049), (0.95, 1075, 1101)] {
            let range = all.quantile_interval(quantile).unwrap();
            assert_eq!((range.low.get(), range.high.get()), (low, high), "{quantile}");
        }
        // Around another figure the interval is as wide as a part of it.
        let twice = all.mean_interval(2.0 * own).unwrap();
        near(twice.low, 2.0 * mean.low);
        near(twice.high, 2.0 * mean.high);
    }

    #[test]
    fn the_upper_end_of_a_percentile_is_further_by_what_the_odds_of_its_share_leave() {
        let times = |second: u64| {
            (0..60 + second % 7).map(move |n| 100 + second % 7 * 40 + (n * 7_919 + second * 613) % 997)
        };
        let all = Stretches::of(&(0..24).map(|second| stretch(times(second))).collect::<Vec<_>>());
        // Computed apart from this program.
        for (quantile, low, high) in [(0.5, 662, 776), (0.75, 918, 1036), (0.9, 1067, 1261)] {
            let range = all.quantile_interval(quantile).unwrap();
            assert_eq!((range.low.get(), range.high.get()), (low, high), "{quantile}");
        }
    }

    #[test]
    fn ten_requests_beyond_a_percentile_are_enough_and_nine_are_not() {
        let median = |count: usize| {
            Stretches::of(&vec![stretch((1..=5).cycle().take(count)); 4]).quantile_interval(0.5)
        };
        assert_eq!(median(5).map(|range| (range.low.get(), range.high.get())), Ok((3, 4)));
        assert_eq!(median(4), Err(NoInterval::TooFew));
    }

    #[test]
    fn each_reason_for_no_interval_has_its_own_words() {
        let words =
            [NoInterval::TooShort, NoInterval::TooFew, NoInterval::TooSlow].map(|why| why.to_string());
        for (words, part) in words.iter().zip(["4 whole seconds", "too few groups", "more slowly"]) {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn buckets_of_several_histograms_are_put_together() {
        let bucket = |index, count| Bucket { index, count };
        let both = Stretch::of([bucket(7, 2), bucket(3, 1), bucket(7, 5), bucket(9, 0), bucket(3, 1)]);
        assert_eq!(both.buckets().collect::<Vec<_>>(), [bucket(3, 2), bucket(7, 7)]);
        assert_eq!((both.count(), both.sum_ns), (9, 55.0));
        assert_eq!((both.above(2), both.above(3), both.above(6), both.above(7)), (9.0, 7.0, 7.0, 0.0));
        // 4,096 to 4,099 share a bucket, whose middle counts.
        assert_eq!(stretch([4_096, 4_099]).sum_ns, 2.0 * 4_097.5);
        assert_eq!(Stretches::default().mean_ns(), None);
    }

    #[test]
    fn the_first_bucket_beyond_a_share_is_found() {
        let all = Stretches::of(&vec![stretch(1..=100); 10]);
        let at = |share: f64| all.pooled.buckets[all.at_share(share)].index;
        assert_eq!((at(0.5), at(0.1), at(0.0), at(1.0)), (50, 90, 100, 1));
        let (share, residuals) = all.above(89);
        assert_eq!((share, residuals.len()), (0.1, 10));
    }

    #[test]
    fn slow_requests_that_come_in_few_groups_leave_a_percentile_beyond_them_without_an_interval() {
        // Ten of a thousand take long in every stretch; the rest of the slowest tenth comes in some stretches alone.
        let of = |lumps: [u64; 2]| {
            let each = |second: usize| {
                let medium = lumps[second % 2];
                stretch(
                    (1..=990 - medium).chain(1_001..1_001 + medium).chain((0..10).map(|n| 1_500 + 20 * n)),
                )
            };
            Stretches::of(&(0..24).map(each).collect::<Vec<_>>())
        };
        assert_eq!(of([20, 160]).quantile_interval(0.99), Err(NoInterval::TooFew));
        assert!(of([20, 160]).quantile_interval(0.5).is_ok(), "above the median there are enough");
        assert!(of([90, 90]).quantile_interval(0.99).is_ok());
    }

    #[test]
    fn fifty_groups_are_enough_and_a_little_less_is_not() {
        // Shares above the median of 1/2 ± d in turn: variance of the mean d² / 23, groups 23 / 4 d² x 0.5692, which is
        // the fifth percentile of chi-square with 23 degrees of freedom, 13.0905, over 23.
        let of = |more: u64| {
            let each = |second: u64| {
                let slow = if second.is_multiple_of(2) { 5_000 + more } else { 5_000 - more };
                Stretch::of([Bucket { index: 1, count: 10_000 - slow }, Bucket { index: 2, count: slow }])
            };
            Stretches::of(&(0..24).map(each).collect::<Vec<_>>()).groups(0.5)
        };
        assert!(of(2_558).is_ok_and(|groups| (50.0..50.1).contains(&groups)), "{:?}", of(2_558));
        assert_eq!(of(2_559), Err(NoInterval::TooFew));
    }

    #[test]
    fn nothing_in_any_stretch_and_equal_times_in_all_of_them_are_told_apart() {
        let empty = Stretches::of(&vec![Stretch::default(); 6]);
        assert_eq!(empty.mean_interval(1.0), Err(NoInterval::TooShort));
        let alike = Stretches::of(&vec![stretch([7; 100]); 6]);
        assert_eq!(alike.mean_interval(7.0), Ok(Interval { low: 7.0, high: 7.0 }));
        assert_eq!(alike.quantile_interval(0.5), Err(NoInterval::TooFew), "no request lies above");
        assert_eq!(Stretches::of(&vec![stretch(1..=1000); 3]).mean_interval(1.0), Err(NoInterval::TooShort));
        assert_eq!(mean_interval(&[]), Err(NoInterval::TooShort));
    }

    #[test]
    fn the_slowest_cosines_are_held_against_all_that_follow_and_only_of_sixteen_stretches_and_more() {
        // One slow cosine, and one of the seven that follow the eight slowest of sixteen; powers by their squares.
        let wave = |number: f64, place: usize| (PI * number * (place as f64 + 0.5) / 16.0).cos();
        let of = |power: f64| -> Vec<f64> {
            (0..16).map(|at| power.sqrt() * wave(1.0, at) + (7.0 / 8.0f64).sqrt() * wave(12.0, at)).collect()
        };
        // Their means stand to each other as `power` to 1.
        assert!(variance(&of(4.9)).is_ok());
        assert_eq!(variance(&of(5.1)), Err(NoInterval::TooSlow));
        let rising = |count: u32| mean_interval(&(0..count).map(f64::from).collect::<Vec<_>>());
        assert!(rising(15).is_ok() && rising(12).is_ok() && rising(4).is_ok());
        assert_eq!(rising(16), Err(NoInterval::TooSlow));
    }

    #[test]
    fn an_hour_of_seconds_is_put_together_and_keeps_its_figures() {
        let hour: Vec<f64> = (0..3600).map(|second| 100.0 + f64::from(second % 7)).collect();
        let range = mean_interval(&hour).unwrap();
        assert!((range.low..range.high).contains(&103.0) && range.high - range.low < 0.2, "{range:?}");
        assert_eq!(
            (freedom(3), freedom(4), freedom(10), freedom(60)),
            (None, Some(2.0), Some(5.0), Some(8.0))
        );
        assert_eq!(freedom(3600), Some(15.0));
    }
}
