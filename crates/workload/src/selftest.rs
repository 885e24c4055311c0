//! The generators tested by their own statistics, for a user who wants to see it.
//!
//! Each check draws a million times or more and compares with the law it claims to follow. The limits lie at
//! about five standard deviations, so that a sound generator fails once in a million runs; the seed is fixed,
//! so that it fails always or never.

use std::fmt;

use units::convert::narrow;
use units::{Bytes, OpsPerSecond, Share};

use crate::address::{Addresses, Grain, Region, RegionShare};
use crate::choice::{Choice, op_weights, size_weights};
use crate::pace::Arrivals;
use crate::rng::Streams;
use crate::spec::{Extent, OpMix, Pace, Pattern, SizeSplit, Zone};
use crate::{Op, pace};

const DRAWS: u64 = 1_000_000;
const BLOCK: Bytes = Bytes::new(4096);
const SEED: u64 = 20_260_101;

/// One statistic and the limit it must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was tested.
    pub what: &'static str,
    /// The statistic.
    pub found: f64,
    /// Its largest allowed value.
    pub limit: f64,
    /// What the statistic is.
    pub measure: &'static str,
}

impl Check {
    /// Whether the limit was kept.
    pub fn passed(&self) -> bool {
        self.found <= self.limit
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {:.3}, at most {:.3}", self.what, self.measure, self.found, self.limit)
    }
}

/// All checks, in about a second.
pub fn run() -> Vec<Check> {
    vec![
        no_repeats(),
        scattered(),
        uniform(),
        zipf(),
        pareto(),
        normal(),
        hot_zones(),
        size_split(),
        op_mix(),
        even_arrivals(),
        poisson_arrivals(),
    ]
}

fn addresses(pattern: &Pattern, blocks: u64) -> impl FnMut() -> u64 + use<> {
    let region = Region { start: Bytes::ZERO, len: BLOCK * blocks };
    let grain = Grain { align: BLOCK, largest: BLOCK, keeps_slots: false, mixed: false };
    let mut addresses =
        Addresses::new(pattern, region, RegionShare::WHOLE, grain, Streams::new(SEED), "selftest");
    move || addresses.next(narrow::<u32>(BLOCK.get())).get() / BLOCK.get()
}

/// Chi-square of counts against equal shares, in standard deviations above its mean.
fn chi_square_deviation(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let chi_square: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

/// How far `found` of `draws` lies from `share`, in standard deviations of the binomial.
fn deviation(found: u64, draws: u64, share: f64) -> f64 {
    let expected = draws as f64 * share;
    (found as f64 - expected).abs() / (expected * (1.0 - share)).sqrt()
}

const DEVIATIONS: &str = "standard deviations from the law";

fn no_repeats() -> Check {
    let mut next = addresses(&Pattern::Random, DRAWS);
    let mut seen = vec![false; narrow::<usize>(DRAWS)];
    (0..DRAWS).for_each(|_| seen[narrow::<usize>(next())] = true);
    let missed = seen.iter().filter(|seen| !**seen).count() as f64;
    Check { what: "random visits each block once", found: missed, limit: 0.0, measure: "blocks missed" }
}

fn scattered() -> Check {
    let mut next = addresses(&Pattern::Random, DRAWS);
    let mut bins = [0; 64];
    let mut before = next();
    for _ in 1..DRAWS {
        let at = next();
        bins[((at + DRAWS - before) % DRAWS * 64 / DRAWS) as usize] += 1;
        before = at;
    }
    let found = chi_square_deviation(&bins);
    Check { what: "random scatters adjacent blocks evenly", found, limit: 5.0, measure: DEVIATIONS }
}

fn uniform() -> Check {
    let mut next = addresses(&Pattern::RandomWithRepeats, 1000);
    let mut counts = vec![0; 1000];
    (0..DRAWS).for_each(|_| counts[narrow::<usize>(next())] += 1);
    let found = chi_square_deviation(&counts);
    Check { what: "random(repeats) is uniform", found, limit: 5.0, measure: DEVIATIONS }
}

fn zipf() -> Check {
    const THETA: f64 = 1.2;
    const BLOCKS: u64 = 1000;
    let mut next = addresses(&Pattern::Zipf(THETA), BLOCKS);
    let mut counts = vec![0u64; narrow::<usize>(BLOCKS)];
    (0..DRAWS).for_each(|_| counts[narrow::<usize>(next())] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let norm: f64 = (1..=BLOCKS).map(|rank| (rank as f64).powf(-THETA)).sum();
    let worst = |rank: usize| deviation(counts[rank - 1], DRAWS, (rank as f64).powf(-THETA) / norm);
    let found = [1, 2, 3, 5, 10, 20].into_iter().map(worst).fold(0.0, f64::max);
    Check { what: "zipf(1.2) gives each rank its share", found, limit: 5.0, measure: DEVIATIONS }
}

fn pareto() -> Check {
    let mut next = addresses(&Pattern::Pareto(0.2), 1000);
    let mut counts = vec![0u64; 1000];
    (0..DRAWS).for_each(|_| counts[narrow::<usize>(next())] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let found = deviation(counts[..200].iter().sum(), DRAWS, 0.8);
    Check {
        what: "pareto(0.2) gives a fifth of the blocks four fifths",
        found,
        limit: 5.0,
        measure: DEVIATIONS,
    }
}

fn normal() -> Check {
    const BLOCKS: u64 = 1_000_000;
    let share = Share::new(0.1).expect("0.1 is a share");
    let mut next = addresses(&Pattern::Normal(share), BLOCKS);
    // Within one standard deviation of the middle: erf(1 / sqrt 2) of all; four fifths of a deviation lie
    // outside the span on neither side.
    let inside = (0..DRAWS).filter(|_| next().abs_diff(BLOCKS / 2) < BLOCKS / 10).count() as u64;
    let found = deviation(inside, DRAWS, 0.682_689_9);
    Check { what: "normal(10%) has the given spread", found, limit: 5.0, measure: DEVIATIONS }
}

fn hot_zones() -> Check {
    let share = |part| Share::new(part).expect("a constant between 0 and 1");
    let zones = vec![Zone { requests: share(0.9), span: Extent::Part(share(0.1)) }];
    let mut next = addresses(&Pattern::Zones(zones), 1000);
    let hot = (0..DRAWS).filter(|_| next() < 100).count() as u64;
    let found = deviation(hot, DRAWS, 0.9);
    Check { what: "hot(90% in 10%) is so hot", found, limit: 5.0, measure: DEVIATIONS }
}

fn size_split() -> Check {
    let split = SizeSplit(vec![(BLOCK, 60.0), (BLOCK * 2, 30.0), (BLOCK * 16, 10.0)]);
    let mut choice = Choice::new(&size_weights(&split), Streams::new(SEED).open("sizes"));
    let mut counts = [0; 3];
    (0..DRAWS).for_each(|_| counts[usize::from(choice.next().0)] += 1);
    let shares = [0.6, 0.3, 0.1];
    let found =
        counts.iter().zip(shares).map(|(count, share)| deviation(*count, DRAWS, share)).fold(0.0, f64::max);
    Check { what: "a split of sizes keeps its shares", found, limit: 5.0, measure: DEVIATIONS }
}

fn op_mix() -> Check {
    let share = |part| Share::new(part).expect("a constant between 0 and 1");
    let mix = OpMix { reads: share(2.0 / 3.0), trims: share(0.05), flushes: share(0.01) };
    let mut choice = Choice::new(&op_weights(mix), Streams::new(SEED).open("ops"));
    let mut counts = [0u64; 4];
    (0..DRAWS).for_each(|_| counts[choice.next() as usize] += 1);
    let expected = [(Op::Read, 2.0 / 3.0), (Op::Write, mix.writes()), (Op::Trim, 0.05), (Op::Flush, 0.01)];
    let found = expected
        .map(|(op, share)| deviation(counts[op as usize], DRAWS, share))
        .into_iter()
        .fold(0.0, f64::max);
    Check { what: "a mix of operations keeps its shares", found, limit: 5.0, measure: DEVIATIONS }
}

fn arrivals(pace: Pace) -> Vec<f64> {
    let stream = Streams::new(SEED).open("arrivals");
    let pace::Pacer::Schedule { mut arrivals, .. } = pace::Pacer::new(pace, RegionShare::WHOLE, 1, stream)
    else {
        return Vec::new();
    };
    (0..DRAWS).map(|_| Arrivals::next_ns(&mut arrivals)).collect()
}

fn even_arrivals() -> Check {
    let due = arrivals(Pace::even(OpsPerSecond::new(1000.0)));
    let late = due.iter().enumerate().map(|(n, at)| (at - n as f64 * 1e6).abs()).fold(0.0, f64::max);
    Check { what: "an even rate does not drift", found: late, limit: 1.0, measure: "nanoseconds off" }
}

fn poisson_arrivals() -> Check {
    let due = arrivals(Pace::poisson(OpsPerSecond::new(1000.0)));
    let mut gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) / 1e6).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let n = gaps.len() as f64;
    // Kolmogorov and Smirnov: the largest distance between the distribution found and the exponential.
    let distance = gaps
        .iter()
        .enumerate()
        .map(|(rank, gap)| (1.0 - (-gap).exp() - (rank as f64 + 0.5) / n).abs() + 0.5 / n)
        .fold(0.0, f64::max);
    Check {
        what: "Poisson arrivals have exponential gaps",
        found: distance * n.sqrt(),
        // Exceeded by chance once in a thousand (asymptotic distribution of Kolmogorov).
        limit: 1.95,
        measure: "Kolmogorov-Smirnov statistic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_keeps_to_its_law() {
        let failed: Vec<String> =
            run().iter().filter(|check| !check.passed()).map(ToString::to_string).collect();
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn a_skewed_generator_is_found_out() {
        assert!(chi_square_deviation(&[1000, 1000, 1300, 1000]) > 5.0);
        assert!(deviation(91_000, 100_000, 0.9) > 5.0);
    }
}
