//! Sizes of caches, from the mean response time of random reads over spans of growing size.
//!
//! Once a span no longer fits a cache of size C, uniform reads of a span S find their data in it with probability C /
//! S, whatever is evicted. So the mean response is `t + d (1 - min(1, C / S))`: flat, then rising towards the response
//! of what lies below. Several caches add up.
//!
//! **Invariant:** a cache is found only where it explains the points better than chance would, whichever one of them is
//! left out, and makes a step that matters; it is never found outside the spans that were asked.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use units::convert::truncated;

use crate::Interval;

/// One measured span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpanPoint {
    /// How much of the target the reads were spread over.
    pub span: f64,
    /// Their mean response, in any unit.
    pub response: f64,
}

/// A cache that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its size, in the unit of the spans.
    pub size: f64,
    /// Sizes that explain the points nearly as well, at 95 %, to the next that was tried on either side.
    pub interval: Interval<f64>,
    /// Mean response of what it holds.
    pub before: f64,
    /// Mean response of what it does not hold.
    pub after: f64,
}

/// Fewer spans cannot tell a step from noise.
pub const SPANS_LEAST: usize = 7;

/// More caches than a drive's, an array's and a host's are not looked for.
const STEPS_MOST: usize = 3;

/// A step is told where what lies behind it takes at least so many times as long. Less is what seeks over a longer way
/// make of it.
const RATIO_LEAST: f64 = 1.5;

/// So many spans lie between the sizes of two caches at least: with fewer, no level of what the larger one holds was measured,
/// and the two are one whose misses take longer over a longer way.
const BETWEEN_LEAST: usize = 2;

/// Chance brings about a better fit by one more step less than once in so many times.
const CHANCE: f64 = 0.01;

/// Means of some thousand requests are no better than this, however well they fit.
const ERROR_LEAST: f64 = 0.005;

/// Candidate sizes to an octave: three per cent apart.
const CANDIDATES: f64 = 24.0;

/// The caches that `points` show, the smallest first; none with fewer than seven spans.
///
/// By least squares of relative errors over all candidate sizes, one more cache at a time, each held against the fit
/// without it by an F test; each that is told has to be seen whichever point is left out, too: a single span that
/// something else made slow is no cache, so the last span alone shows none. Spans may be in any order.
pub fn steps(points: &[SpanPoint]) -> Vec<Step> {
    let mut points: Vec<SpanPoint> =
        points.iter().copied().filter(|point| point.span > 0.0 && point.response > 0.0).collect();
    points.sort_by(|one, other| one.span.total_cmp(&other.span));
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    if points.len() < SPANS_LEAST
        || !points.iter().all(|point| point.response.is_finite() && point.span.is_finite())
    {
        return Vec::new();
    }
    let candidates = candidates(first.span, last.span);
    debug_assert!(candidates.iter().all(|size| first.span <= *size && *size <= last.span));
    let mut best = Fit::of(&points, &[]).expect("a mean can always be had");
    let mut sound = best.clone();
    while best.sizes.len() < STEPS_MOST {
        let Some(more) = with_one_more(&points, &best, &candidates) else { break };
        if !is_better(&best, &more, freedom(points.len(), more.sizes.len())) || !more.steps_matter() {
            break;
        }
        best = more;
        if no_step_is_of_one_point(&points, &best) {
            sound = best.clone();
        }
    }
    sound.into_steps(&points, &candidates)
}

/// What so many points leave for the error of a mean and two numbers for each of so many steps; may be none or less.
fn freedom(points: usize, steps: usize) -> f64 {
    points as f64 - 1.0 - 2.0 * steps as f64
}

fn candidates(from: f64, to: f64) -> Vec<f64> {
    let count = truncated::<usize>(((to / from).log2() * CANDIDATES).floor());
    (0..count).map(|step| from * (step as f64 / CANDIDATES).exp2()).collect()
}

/// The best fit that has one more size than `fit`, all of its sizes tuned once more.
fn with_one_more(points: &[SpanPoint], fit: &Fit, candidates: &[f64]) -> Option<Fit> {
    let with = |size: f64| {
        let mut sizes = fit.sizes.clone();
        sizes.push(size);
        sizes.sort_by(f64::total_cmp);
        Fit::of(points, &sizes)
    };
    let mut best = best_of(points, candidates.iter().filter_map(|size| with(*size)))?;
    // The sizes found before leave their places for the new one.
    for _ in 0..3 {
        for index in 0..best.sizes.len() {
            let moved = candidates.iter().filter_map(|size| best.moved(points, index, *size));
            best = best_of(points, moved.chain([best.clone()]))?;
        }
    }
    Some(best)
}

fn best_of(points: &[SpanPoint], fits: impl Iterator<Item = Fit>) -> Option<Fit> {
    fits.filter(|fit| fit.rises.iter().all(|rise| *rise > 0.0) && fit.is_apart(points))
        .min_by(|one, other| one.error.total_cmp(&other.error))
}

/// Whether each step of `fit` explains what is left of the points where any one of them is left out.
fn no_step_is_of_one_point(points: &[SpanPoint], fit: &Fit) -> bool {
    let is_sound = |step: usize, left_out: usize| {
        let (mut rest, mut others) = (points.to_vec(), fit.sizes.clone());
        rest.remove(left_out);
        others.remove(step);
        let fits = Fit::of(&rest, &others).zip(Fit::of(&rest, &fit.sizes));
        fits.is_some_and(|(without, with)| is_better(&without, &with, freedom(rest.len(), with.sizes.len())))
    };
    (0..fit.sizes.len()).all(|step| (0..points.len()).all(|left_out| is_sound(step, left_out)))
}

/// Two more parameters, held against what is left over; never where nothing is.
fn is_better(without: &Fit, with: &Fit, freedom: f64) -> bool {
    let f = (without.error - with.error) / 2.0 / (with.error / freedom);
    FisherSnedecor::new(2.0, freedom).is_ok_and(|law| 1.0 - law.cdf(f.max(0.0)) < CHANCE)
}

/// Responses and sizes that fit the points best.
#[derive(Clone, Debug)]
struct Fit {
    sizes: Vec<f64>,
    /// What fits the smallest cache.
    base: f64,
    /// What each cache saves.
    rises: Vec<f64>,
    /// The sum of squares of relative errors.
    error: f64,
}

impl Fit {
    /// `None` where the sizes cannot be told apart by the points.
    fn of(points: &[SpanPoint], sizes: &[f64]) -> Option<Fit> {
        let row = |point: &SpanPoint| -> Vec<f64> {
            let missed = sizes.iter().map(|size| 1.0 - (size / point.span).min(1.0));
            std::iter::once(1.0).chain(missed).map(|value| value / point.response).collect()
        };
        let rows: Vec<Vec<f64>> = points.iter().map(row).collect();
        let found = least_squares(&rows)?;
        let off =
            |row: &Vec<f64>| 1.0 - row.iter().zip(&found).map(|(value, factor)| value * factor).sum::<f64>();
        let error: f64 = rows.iter().map(|row| off(row).powi(2)).sum();
        let floor = ERROR_LEAST.powi(2) * points.len() as f64;
        let (base, rises) = found.split_first()?;
        Some(Fit { sizes: sizes.to_vec(), base: *base, rises: rises.to_vec(), error: error + floor })
    }

    /// The same with another size at `index`; `None` where that changes the order.
    fn moved(&self, points: &[SpanPoint], index: usize, size: f64) -> Option<Fit> {
        let mut sizes = self.sizes.clone();
        sizes[index] = size;
        sizes.is_sorted().then(|| Fit::of(points, &sizes))?
    }

    /// Responses of what each cache holds, and of what none does.
    fn levels(&self) -> Vec<f64> {
        let mut levels = vec![self.base];
        levels.extend(self.rises.iter().scan(self.base, |level, rise| {
            *level += rise;
            Some(*level)
        }));
        levels
    }

    /// Whether between each two sizes enough was measured to tell them apart.
    fn is_apart(&self, points: &[SpanPoint]) -> bool {
        let between =
            |low: f64, high: f64| points.iter().filter(|point| low < point.span && point.span < high).count();
        self.sizes.windows(2).all(|pair| between(pair[0], pair[1]) >= BETWEEN_LEAST)
    }

    fn steps_matter(&self) -> bool {
        self.base > 0.0 && self.levels().windows(2).all(|pair| pair[1] >= RATIO_LEAST * pair[0])
    }

    fn into_steps(self, points: &[SpanPoint], candidates: &[f64]) -> Vec<Step> {
        let levels = self.levels();
        debug_assert!(self.sizes.is_sorted() && levels.len() == self.sizes.len() + 1);
        let freedom = freedom(points.len(), self.sizes.len()).max(1.0);
        let beyond = FisherSnedecor::new(1.0, freedom).map_or(1.0, |law| law.inverse_cdf(0.95));
        let most = self.error * (1.0 + beyond / freedom);
        let step = |(index, size): (usize, &f64)| {
            let as_good = candidates
                .iter()
                .copied()
                .filter(|other| self.moved(points, index, *other).is_some_and(|fit| fit.error <= most));
            let (low, high) =
                as_good.fold((*size, *size), |(low, high), size| (size.min(low), size.max(high)));
            // What lies between two candidates was not tried.
            let apart = (1.0 / CANDIDATES).exp2();
            let interval = Interval { low: low / apart, high: high * apart };
            Step { size: *size, interval, before: levels[index], after: levels[index + 1] }
        };
        self.sizes.iter().enumerate().map(step).collect()
    }
}

/// The factors of the columns that bring the sums of `rows` nearest to 1; `None` where columns are alike.
///
/// By the normal equations and elimination: there are four columns at most.
fn least_squares(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let columns = rows.first()?.len();
    let dot = |one: usize, other: usize| rows.iter().map(|row| row[one] * row[other]).sum::<f64>();
    let mut system: Vec<Vec<f64>> = (0..columns)
        .map(|one| {
            let right = rows.iter().map(|row| row[one]).sum::<f64>();
            (0..columns).map(|other| dot(one, other)).chain([right]).collect()
        })
        .collect();
    for pivot in 0..columns {
        let scale = system[pivot][pivot];
        // What elimination has left of a column that the ones before explain.
        if scale <= 1e-9 * dot(pivot, pivot) {
            return None;
        }
        for value in &mut system[pivot] {
            *value /= scale;
        }
        let row = system[pivot].clone();
        for other in (0..columns).filter(|other| *other != pivot) {
            let factor = system[other][pivot];
            system[other].iter_mut().zip(&row).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    Some(system.iter().map(|row| row[columns]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Means over spans of 1 MiB to 4 GiB, half an octave apart, with caches of (size, response) before `media`.
    fn measured(caches: &[(f64, f64)], media: f64, noise: impl Fn(usize) -> f64) -> Vec<SpanPoint> {
        let spans = (0..=24).map(|half| MIB * (f64::from(half) / 2.0).exp2());
        let response = |span: f64| {
            let mut reached = 0.0;
            let mut mean = 0.0;
            for (size, response) in caches {
                let share = (size / span).min(1.0);
                mean += (share - reached) * response;
                reached = share;
            }
            mean + (1.0 - reached) * media
        };
        spans
            .enumerate()
            .map(|(at, span)| SpanPoint { span, response: response(span) * (1.0 + noise(at)) })
            .collect()
    }

    /// Errors of about three per cent, without a pattern.
    fn rough(at: usize) -> f64 {
        0.06 * (((at * 7_919 + 13) % 101) as f64 / 101.0 - 0.5)
    }

    fn near(found: f64, size: f64) -> bool {
        (found / size - 1.0).abs() < 0.1
    }

    #[test]
    fn one_cache_is_found_at_its_size_and_its_responses() {
        for size in [5.0 * MIB, 64.0 * MIB, 300.0 * MIB, 2_000.0 * MIB] {
            let found = steps(&measured(&[(size, 50e-6)], 8e-3, rough));
            let [step] = found[..] else { panic!("{size}: {found:?}") };
            assert!(near(step.size, size), "{size}: {step:?}");
            assert!(
                step.interval.low <= size * 1.03 && step.interval.high >= size * 0.97,
                "{size}: {step:?}"
            );
            assert!((step.before / 50e-6 - 1.0).abs() < 0.1, "{step:?}");
        }
    }

    #[test]
    fn a_cache_of_a_drive_behind_one_of_an_array_is_told_apart() {
        let found = steps(&measured(&[(32.0 * MIB, 60e-6), (512.0 * MIB, 400e-6)], 9e-3, rough));
        let sizes: Vec<f64> = found.iter().map(|step| step.size / MIB).collect();
        assert_eq!(sizes.len(), 2, "{found:?}");
        assert!(near(sizes[0], 32.0) && near(sizes[1], 512.0), "{sizes:?}");
        assert!((found[1].before / 400e-6 - 1.0).abs() < 0.2 && found[1].after > 8e-3, "{found:?}");
    }

    #[test]
    fn a_cache_whose_misses_take_longer_over_a_longer_way_is_one() {
        // A virtual P2000 G3, whose cache of 1.9 GiB is followed by three spans.
        let mut points = measured(&[], 43.2, |_| 0.0);
        points[22..].iter_mut().zip([127.0, 820.0, 1430.0]).for_each(|(point, mean)| point.response = mean);
        let found = steps(&points);
        assert!(found.len() == 1 && near(found[0].size, 1_950.0 * MIB), "{found:?}");
    }

    #[test]
    fn the_interval_of_a_size_is_what_an_f_test_of_its_own_leaves() {
        let points: Vec<SpanPoint> = measured(&[(32.0 * MIB, 60e-6), (512.0 * MIB, 400e-6)], 9e-3, rough)
            .into_iter()
            .step_by(2)
            .collect();
        let found = steps(&points);
        let octaves = |size: f64| (size / MIB).log2() * CANDIDATES;
        let told: Vec<[f64; 3]> = found
            .iter()
            .map(|step| [step.interval.low, step.size, step.interval.high].map(|size| octaves(size).round()))
            .collect();
        // Steps of a candidate from 1 MiB on, computed apart from this program, and one on either side.
        assert_eq!(told, [[119.0, 122.0, 125.0], [215.0, 217.0, 220.0]]);
    }

    #[test]
    fn nothing_is_found_where_nothing_steps() {
        assert_eq!(steps(&measured(&[], 100e-6, rough)), []);
        // A slow growth, as of seeks over a longer way.
        let mut seeks = measured(&[], 5e-3, rough);
        seeks.iter_mut().enumerate().for_each(|(at, point)| point.response *= 1.0 + at as f64 / 80.0);
        assert_eq!(steps(&seeks), []);
        // A cache that holds all that was asked is not seen.
        assert_eq!(steps(&measured(&[(1e15, 50e-6)], 8e-3, rough)), []);
    }

    #[test]
    fn one_span_that_something_else_made_slow_or_fast_is_no_cache() {
        for (at, factor) in (0..=24).flat_map(|at| [0.3, 2.0, 20.0].map(|factor| (at, factor))) {
            let mut points = measured(&[], 100e-6, rough);
            points[at].response *= factor;
            assert_eq!(steps(&points), [], "{at}: {factor}");
        }
        let mut points = measured(&[(64.0 * MIB, 50e-6)], 8e-3, rough);
        points[24].response *= 3.0;
        let found = steps(&points);
        assert!(found.len() == 1 && near(found[0].size, 64.0 * MIB), "{found:?}");
        // A last span of seven, as a busy machine measured it: 5.34 MiB by all points.
        let measured_us = [96.9, 94.1, 90.6, 101.0, 103.0, 109.0, 193.0];
        let point = |(half, response): (usize, &f64)| SpanPoint {
            span: MIB * (half as f64 / 2.0).exp2(),
            response: *response,
        };
        let points: Vec<SpanPoint> = measured_us.iter().enumerate().map(point).collect();
        assert_eq!(steps(&points), []);
    }

    #[test]
    fn too_few_spans_or_none_at_all_show_nothing() {
        let few = measured(&[(64.0 * MIB, 50e-6)], 8e-3, |_| 0.0);
        assert_eq!(steps(&few[10..15]), []);
        assert_eq!(steps(&[]), []);
        assert_eq!(steps(&[SpanPoint { span: f64::NAN, response: 1.0 }; 9]), []);
    }

    #[test]
    fn points_that_cannot_be_are_left_out_and_one_without_bounds_leaves_nothing() {
        let points = measured(&[(64.0 * MIB, 50e-6)], 8e-3, rough);
        let found = steps(&points);
        assert_eq!(found.len(), 1);
        let with = |span: f64, response: f64| steps(&[&points[..], &[SpanPoint { span, response }]].concat());
        for (span, response) in [(0.0, 1e-3), (MIB, 0.0), (-MIB, 1e-3), (MIB, -1e-3)] {
            assert_eq!(with(span, response), found, "{span} {response}");
        }
        assert_eq!((with(MIB, f64::INFINITY), with(f64::INFINITY, 1e-3)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn seven_spans_are_enough_for_a_cache_and_no_run_shows_four() {
        let clean = |caches: &[(f64, f64)]| measured(caches, 1.0, |_| 0.0);
        let of_seven = |caches: &[(f64, f64)]| -> usize {
            let spans: Vec<SpanPoint> = clean(caches).into_iter().step_by(4).collect();
            assert_eq!(spans.len(), 7);
            steps(&spans).len()
        };
        assert_eq!(of_seven(&[(16.0 * MIB, 1e-4)]), 1);
        let four = [(4.0 * MIB, 1e-5), (32.0 * MIB, 2e-4), (256.0 * MIB, 4e-3), (1_024.0 * MIB, 6e-2)];
        assert_eq!(steps(&clean(&four)).len(), 3);
    }

    #[test]
    fn each_step_takes_two_numbers_from_the_points() {
        assert_eq!((freedom(7, 0), freedom(7, 1), freedom(7, 3), freedom(25, 2)), (6.0, 4.0, 0.0, 20.0));
        let points = measured(&[], 1.0, |_| 0.0);
        let flat = Fit::of(&points, &[]).unwrap();
        assert!((flat.error / (25.0 * ERROR_LEAST.powi(2)) - 1.0).abs() < 1e-9, "{flat:?}");
        assert!(!is_better(&Fit { error: 1.0, ..flat.clone() }, &flat, 0.0), "nothing is left over");
    }

    #[test]
    fn candidates_are_so_many_to_an_octave_from_the_first_span_on() {
        let found = candidates(3.0, 12.0);
        assert_eq!((found.len(), found[0]), (48, 3.0));
        assert!((found[24] / 6.0 - 1.0).abs() < 1e-12 && found[47] < 12.0);
    }

    #[test]
    fn a_step_from_nothing_is_none() {
        let fit = |base: f64, rise: f64| Fit { sizes: vec![MIB], base, rises: vec![rise], error: 0.0 };
        assert!(fit(1.0, 0.5).steps_matter() && !fit(1.0, 0.49).steps_matter());
        assert!(!fit(0.0, 1.0).steps_matter() && !fit(-1.0, 5.0).steps_matter());
    }

    #[test]
    fn columns_that_the_ones_before_explain_have_no_factors() {
        let rows = |times: f64| -> Vec<Vec<f64>> {
            [0.1, 0.2, 0.3, 0.7].map(|x: f64| vec![1e3, 1e4 * x, 3e3 * x + times * x * x]).to_vec()
        };
        // Rounding leaves something of the third column even where it is a multiple of the second.
        assert_eq!(least_squares(&rows(0.0)), None);
        assert!(least_squares(&rows(1e3)).is_some());
    }
}
