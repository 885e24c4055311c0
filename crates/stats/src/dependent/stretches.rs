//! A run in equally long stretches: the intervals of its mean time and of its percentiles.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use units::Nanos;

use super::cosines::{half_width, independent, student, variance};
use super::{NoInterval, Stretch, grouped};
use crate::{Bucket, Interval};

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

/// The stretches of a run in order of time, each as long as the others.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    cells: Vec<Stretch>,
    /// All of them together.
    pub(super) pooled: Stretch,
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
    pub(super) fn groups(&self, share: f64) -> Result<f64, NoInterval> {
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
    pub(super) fn at_share(&self, share: f64) -> usize {
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
    pub(super) fn above(&self, bucket: usize) -> (f64, Vec<f64>) {
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

/// The last place from `inside` towards `end` up to which `agrees` holds.
///
/// It may hold again further on, where nothing is known of some place: the steps outwards double, and the first place at which it does
/// not hold ends them.
pub(super) fn boundary(inside: usize, end: usize, agrees: impl Fn(usize) -> bool) -> usize {
    let towards = |steps: usize| {
        if end < inside { inside.saturating_sub(steps).max(end) } else { (inside + steps).min(end) }
    };
    let (mut holds, mut fails, mut steps) = (inside, None, 1);
    while fails.is_none() && holds != end {
        match towards(steps) {
            next if agrees(next) => holds = next,
            next => fails = Some(next),
        }
        steps *= 2;
    }
    let Some(mut fails) = fails else { return holds };
    while holds.abs_diff(fails) > 1 {
        let between = usize::midpoint(holds, fails);
        if agrees(between) { holds = between } else { fails = between }
    }
    holds
}

/// How far the ends of an interval are, in halves on the scale of logarithms.
pub(super) struct Sides {
    pub(super) below: f64,
    pub(super) above: f64,
}

impl Sides {
    /// Where deviations grow with that power of what they are deviations of: halves are then equal on the scale of one
    /// over that power.
    pub(super) fn of(half: f64, power: f64) -> Result<Sides, NoInterval> {
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
pub(super) fn least_part(stretches: usize) -> f64 {
    let freedom = stretches.saturating_sub(1) as f64;
    ChiSquared::new(freedom).map_or(0.0, |law| law.inverse_cdf(1.0 - GROUPS_SURE) / freedom)
}
