//! Where more load no longer pays: knees of a curve of throughput against requests in flight.
//!
//! Four estimators that rest on different ideas. Where they agree there is a knee; where they do not, the curve bends
//! slowly, and no single point of it deserves the name.
//!
//! **Invariant:** no estimate outside the loads that were measured, but for the asymptotes, which say so.

use units::convert::truncated;

use crate::Interval;
use crate::draws::Draws;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Requests in flight, above zero.
    pub load: f64,
    /// Requests a second, above zero.
    pub rate: f64,
    /// The mean response time in seconds, above zero.
    pub response_s: f64,
}

/// Fewer points make no curve.
pub const POINTS_LEAST: usize = 4;

/// What the estimators say of one curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// The load at which rate over response time is greatest.
    /// Source: Kleinrock, *Power and deterministic rules of thumb*, ICC 1979.
    pub power_knee: f64,
    /// The load at which the line of no queueing meets the ceiling: the highest rate times the response time of the
    /// lightest load. Source: Denning & Buzen, *The operational analysis of queueing network models*, 1978.
    pub asymptote_knee: f64,
    /// Where the curve is farthest above the straight line between its ends, on the logarithm of the load; `None` where
    /// it nowhere is. Source: Satopää and others, *Finding a Kneedle in a Haystack*, 2011.
    pub kneedle: Option<f64>,
    /// Where two straight lines through the logarithms of rate and load meet best.
    pub two_lines: TwoLines,
    /// The universal scalability law through all points; `None` where no curve of that kind fits.
    pub scaling: Option<Scaling>,
    /// How far the last rate lies below the highest, as a part of it.
    pub fall: f64,
    /// Whether some point does more than its load times the rate for one in flight at the lightest load.
    pub superlinear: bool,
    /// Each load with its rate as a part of the highest.
    pub shares: Vec<(f64, f64)>,
}

/// A bend between two straight lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoLines {
    /// The load at the bend.
    pub knee: f64,
    /// The range that should hold it with 90 %, by drawing the deviations again; with few points a little too narrow.
    pub interval: Interval<f64>,
    /// How fast the rate grows before it: 1 where twice the load gives twice the rate.
    pub slope_before: f64,
    /// Likewise after it.
    pub slope_after: f64,
}

/// The universal scalability law: `rate = single·N / (1 + sigma·(N-1) + kappa·N·(N-1))`.
/// Source: Gunther, *Guerrilla Capacity Planning*, 2007, chapters 4 and 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// The rate of one in flight.
    pub single: f64,
    /// What is done one after the other; at least 0.
    pub sigma: f64,
    /// What keeping in step costs for each pair; at least 0. Above zero the curve has a peak.
    pub kappa: f64,
    /// The load at the peak; `None` where `kappa` is zero.
    pub peak: Option<f64>,
    /// The part of the variance of the rates that it explains; 1 is all.
    pub explained: f64,
}

/// Estimators that are no further apart than this factor speak of the same knee: one step of a doubling load.
const AGREE: f64 = 2.0;

/// Below so much of the highest rate more load still pays, whatever the estimators say.
const NO_LONGER_PAYS: f64 = 0.9;

impl Saturation {
    /// The estimators' loads.
    pub fn knees(&self) -> Vec<f64> {
        let mut knees = vec![self.power_knee, self.asymptote_knee, self.two_lines.knee];
        knees.extend(self.kneedle);
        knees
    }

    /// Where the knee is, if the curve has one: it bends by half of its slope, the estimators are no more than a
    /// doubling apart, and with so much in flight it does nine tenths of its highest rate. Their geometric mean.
    pub fn knee(&self) -> Option<f64> {
        let knees = self.knees();
        let (low, high) =
            knees.iter().fold((f64::INFINITY, 0.0f64), |(low, high), knee| (low.min(*knee), high.max(*knee)));
        let bends = self.two_lines.slope_after < self.two_lines.slope_before / 2.0;
        let mean = (knees.iter().map(|knee| knee.ln()).sum::<f64>() / knees.len() as f64).exp();
        let agrees = high / low <= AGREE * (1.0 + 1e-9);
        (bends && agrees && self.share_at(mean) >= NO_LONGER_PAYS).then_some(mean)
    }

    /// The rate at `load` as a part of the highest one, on straight lines between the points.
    pub fn share_at(&self, load: f64) -> f64 {
        let above = self.shares.iter().position(|(own, _)| *own >= load);
        match above {
            None => self.shares.last().map_or(0.0, |(_, share)| *share),
            Some(0) => self.shares[0].1,
            Some(index) => {
                let ((from, low), (to, high)) = (self.shares[index - 1], self.shares[index]);
                low + (high - low) * (load - from) / (to - from)
            }
        }
    }
}

/// What a curve says. `points` by rising load, each load once; `None` with fewer than four, or where a figure is not
/// above zero.
///
/// `seed` is where the drawing for the interval comes from.
pub fn saturation(points: &[LoadPoint], seed: u64) -> Option<Saturation> {
    let sound = |point: &LoadPoint| {
        [point.load, point.rate, point.response_s].iter().all(|figure| figure.is_finite() && *figure > 0.0)
    };
    let rising = points.windows(2).all(|pair| pair[0].load < pair[1].load);
    if points.len() < POINTS_LEAST || !points.iter().all(sound) || !rising {
        return None;
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    let power = |point: &LoadPoint| point.rate / point.response_s;
    let best =
        points.iter().copied().reduce(|best, one| if power(&one) > power(&best) { one } else { best })?;
    let most = points.iter().map(|point| point.rate).fold(0.0, f64::max);
    // A fiftieth is what a rate varies by anyway.
    let superlinear = points.iter().any(|point| point.rate > 1.02 * first.rate / first.load * point.load);
    debug_assert!(first.rate <= most && last.rate <= most);
    Some(Saturation {
        power_knee: best.load,
        asymptote_knee: most * first.response_s,
        kneedle: kneedle(points),
        two_lines: two_lines(points, seed),
        scaling: scaling(points),
        fall: 1.0 - last.rate / most,
        shares: points.iter().map(|point| (point.load, point.rate / most)).collect(),
        superlinear,
    })
}

fn kneedle(points: &[LoadPoint]) -> Option<f64> {
    let (first, last) = (points[0], points[points.len() - 1]);
    let most = points.iter().map(|point| point.rate).fold(f64::MIN, f64::max);
    let least = points.iter().map(|point| point.rate).fold(f64::MAX, f64::min);
    if most <= least {
        return None;
    }
    let width = (last.load / first.load).log2();
    let height =
        |point: &LoadPoint| (point.rate - least) / (most - least) - (point.load / first.load).log2() / width;
    let knee = points.iter().max_by(|one, other| height(one).total_cmp(&height(other)))?;
    // Below a tenth of the height the curve is a straight line.
    (height(knee) > 0.1).then_some(knee.load)
}

/// A bend and the sum of squares that it leaves.
#[derive(Clone, Copy)]
struct Bend {
    at: f64,
    intercept: f64,
    before: f64,
    after: f64,
    left: f64,
}

/// Bends are tried at so many places between the second and the last but one point.
const PLACES: usize = 64;

/// What two lines that meet are determined by: where, how high there, and two slopes.
const FITTED: f64 = 4.0;

/// How often the deviations are drawn again.
const DRAWS: usize = 200;

fn two_lines(points: &[LoadPoint], seed: u64) -> TwoLines {
    let data: Vec<(f64, f64)> = points.iter().map(|point| (point.load.ln(), point.rate.ln())).collect();
    let bend = best_bend(&data);
    let fitted: Vec<f64> = data.iter().map(|(x, _)| value(&bend, *x)).collect();
    // Four fitted numbers take their part of the deviations away; without it the range is too narrow.
    let n = data.len() as f64;
    let wider = (n / (n - FITTED).max(1.0)).sqrt();
    let deviations: Vec<f64> = data.iter().zip(&fitted).map(|((_, y), fit)| (y - fit) * wider).collect();
    let mut draws = Draws(seed);
    let mut knees: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let again: Vec<(f64, f64)> = data
                .iter()
                .zip(&fitted)
                .map(|((x, _), fit)| (*x, fit + deviations[draws.below(deviations.len())]))
                .collect();
            best_bend(&again).at
        })
        .collect();
    knees.sort_by(f64::total_cmp);
    let quantile = |q: f64| below(&knees, q).exp();
    let knee = bend.at.exp();
    TwoLines {
        knee,
        interval: Interval { low: quantile(0.05).min(knee), high: quantile(0.95).max(knee) },
        slope_before: bend.before,
        slope_after: bend.after,
    }
}

/// The one of `sorted` that so large a part of the others lies below, or a little less.
fn below(sorted: &[f64], part: f64) -> f64 {
    debug_assert!(sorted.is_sorted());
    sorted[truncated::<usize>((sorted.len() - 1) as f64 * part)]
}

fn value(bend: &Bend, x: f64) -> f64 {
    bend.intercept + bend.before * (x - bend.at).min(0.0) + bend.after * (x - bend.at).max(0.0)
}

/// The least squares of two lines that meet, over a grid of places where they may.
fn best_bend(data: &[(f64, f64)]) -> Bend {
    let (from, to) = (data[1].0, data[data.len() - 2].0);
    let bends = (0..=PLACES).map(|place| bend_at(data, from + (to - from) * place as f64 / PLACES as f64));
    bends.reduce(|best, one| if one.left < best.left { one } else { best }).expect("there is a first place")
}

/// The least squares of `y = a + b·min(x-at, 0) + c·max(x-at, 0)`.
fn bend_at(data: &[(f64, f64)], at: f64) -> Bend {
    let rows = data.iter().map(|(x, y)| ([1.0, (x - at).min(0.0), (x - at).max(0.0)], *y));
    let [intercept, before, after] = least_squares(rows).unwrap_or([data[0].1, 0.0, 0.0]);
    let mut bend = Bend { at, intercept, before, after, left: 0.0 };
    bend.left = data.iter().map(|(x, y)| (y - value(&bend, *x)).powi(2)).sum();
    bend
}

/// Solves the normal equations of three unknowns; `None` where they do not determine them.
fn least_squares(rows: impl Iterator<Item = ([f64; 3], f64)>) -> Option<[f64; 3]> {
    let mut m = [[0.0f64; 4]; 3];
    for (row, y) in rows {
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += row[i] * row[j];
            }
            m[i][3] += row[i] * y;
        }
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs()))?;
        m.swap(i, pivot);
        (m[i][i].abs() >= 1e-12).then_some(())?;
        let top = m[i];
        for (j, row) in m.iter_mut().enumerate() {
            if j != i {
                let factor = row[i] / top[i];
                row.iter_mut().zip(top).for_each(|(own, above)| *own -= factor * above);
            }
        }
    }
    Some([m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]])
}

/// `N/rate` is a parabola in N, whose three terms are `sigma` and the like; each point counts by its relative error.
fn scaling(points: &[LoadPoint]) -> Option<Scaling> {
    // N/rate = a + b·(N-1) + c·N·(N-1), divided by N/rate so that deviations are parts of the rate.
    let row = |point: &LoadPoint| {
        let (n, scale) = (point.load, point.rate / point.load);
        ([scale, (n - 1.0) * scale, n * (n - 1.0) * scale], 1.0)
    };
    let all = least_squares(points.iter().map(row))?;
    let [a, b, c] = match (all[1] >= 0.0, all[2] >= 0.0) {
        (true, true) => all,
        (false, true) => bounded(points, row, 2),
        (_, false) => bounded(points, row, 1),
    };
    if a <= 0.0 {
        return None;
    }
    let (single, sigma, kappa) = (1.0 / a, (b / a).max(0.0), (c / a).max(0.0));
    let predicted = |n: f64| single * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
    let mean = points.iter().map(|point| point.rate).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|point| (point.rate - mean).powi(2)).sum();
    let left: f64 = points.iter().map(|point| (point.rate - predicted(point.load)).powi(2)).sum();
    debug_assert!(sigma >= 0.0 && kappa >= 0.0);
    Some(Scaling {
        single,
        sigma,
        kappa,
        peak: peak(sigma, kappa),
        explained: if total > 0.0 { 1.0 - left / total } else { 0.0 },
    })
}

fn peak(sigma: f64, kappa: f64) -> Option<f64> {
    (kappa > 0.0 && sigma < 1.0).then(|| ((1.0 - sigma) / kappa).sqrt())
}

/// The fit without the term that came out negative: of `sigma`, 1, and `kappa`, 2, the other one is `kept`.
fn bounded(points: &[LoadPoint], row: impl Fn(&LoadPoint) -> ([f64; 3], f64), kept: usize) -> [f64; 3] {
    let (mut aa, mut ab, mut bb, mut ay, mut by) = (0.0, 0.0, 0.0, 0.0, 0.0);
    // What the terms add up to is 1 of every point.
    for (terms, _) in points.iter().map(row) {
        let (a, b) = (terms[0], terms[kept]);
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ay += a;
        by += b;
    }
    let determinant = aa * bb - ab * ab;
    let mut solution = [0.0; 3];
    if determinant.abs() >= 1e-12 {
        solution[0] = (ay * bb - by * ab) / determinant;
        solution[kept] = ((by * aa - ay * ab) / determinant).max(0.0);
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

    /// A closed loop by Little's law.
    fn curve(rate: impl Fn(f64) -> f64) -> Vec<LoadPoint> {
        let point = |load: f64| LoadPoint { load, rate: rate(load), response_s: load / rate(load) };
        LOADS.into_iter().map(point).collect()
    }

    #[test]
    fn a_sharp_knee_is_where_all_estimators_put_it() {
        // Sixteen servers of a millisecond.
        let found = saturation(&curve(|n| 1000.0 * n.min(16.0)), 1).unwrap();
        assert_eq!((found.power_knee, found.kneedle), (16.0, Some(16.0)));
        assert!((found.asymptote_knee - 16.0).abs() < 1e-9);
        assert!((found.two_lines.knee / 16.0 - 1.0).abs() < 0.05, "{:?}", found.two_lines);
        assert!((found.knee().unwrap() / 16.0 - 1.0).abs() < 0.05);
        assert!(found.fall.abs() < 1e-9 && !found.superlinear);
    }

    fn doubling(rates: &[f64]) -> Vec<LoadPoint> {
        let point = |(step, rate): (u32, &f64)| {
            let load = f64::from(1u32 << step);
            LoadPoint { load, rate: *rate, response_s: load / rate }
        };
        (0..).zip(rates).map(point).collect()
    }

    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} in place of {wanted}");
    }

    #[test]
    fn two_lines_and_the_law_of_scalability_have_the_figures_of_their_sources() {
        // All computed apart from this program.
        let found =
            saturation(&doubling(&[1000.0, 1900.0, 3500.0, 6000.0, 8200.0, 9100.0, 9000.0]), 7).unwrap();
        near(found.two_lines.knee, 10.834_044_375_495);
        near(found.two_lines.interval.low, 9.110_309_078_053_5);
        near(found.two_lines.interval.high, 12.337_686_603_263_5);
        near(found.two_lines.slope_before, 0.867_066_971_561);
        near(found.two_lines.slope_after, 0.074_091_414_796_36);
        let law = found.scaling.unwrap();
        near(law.single, 1_016.533_749_731_3);
        near(law.sigma, 0.053_664_231_142_512);
        near(law.kappa, 0.000_743_421_504_833_95);
        near(law.peak.unwrap(), 35.678_375_167_707_6);
        near(law.explained, 0.995_436_597_857_4);
        assert_eq!((found.power_knee, found.kneedle), (8.0, Some(16.0)));
        near(found.asymptote_knee, 9.1);
        near(found.fall, 1.0 / 91.0);
        assert!(!found.superlinear);

        let falling =
            saturation(&doubling(&[1000.0, 2100.0, 4300.0, 8500.0, 9000.0, 8500.0, 7000.0]), 1).unwrap();
        near(falling.two_lines.knee, 9.513_656_920_021_8);
        near(falling.two_lines.interval.low, 8.724_061_861_322);
        near(falling.two_lines.interval.high, 10.374_716_437_208);
        near(falling.two_lines.slope_after, -0.190_453_887_051_847);
        near(falling.scaling.unwrap().explained, 0.930_729_734_622_14);
        near(falling.knee().unwrap(), 8.603_843_305_150_4);
        near(falling.fall, 2.0 / 9.0);
        assert!(falling.superlinear);
        // The straight line between its ends is nowhere a tenth below it.
        let straight = [1000.0, 1950.0, 3800.0, 7000.0, 11_000.0, 13_000.0, 14_500.0];
        assert_eq!(saturation(&doubling(&straight), 1).unwrap().kneedle, None);
    }

    #[test]
    fn kneedle_finds_no_knee_within_a_tenth_of_the_straight_line() {
        // The first point is a tenth of all above the line from the lowest rate to the last.
        let kneedle = |first: f64| super::kneedle(&doubling(&[first, 1000.0, 1000.0, 1000.0, 2000.0]));
        assert_eq!((kneedle(1100.0), kneedle(1101.0)), (None, Some(1.0)));
    }

    #[test]
    fn unknowns_that_the_rows_do_not_tell_apart_are_not_solved_for() {
        let rows = |times: f64| {
            [0.1, 0.2, 0.3, 0.7].map(|x: f64| ([1.0, x, times * x * x + 0.3 * x], x)).into_iter()
        };
        // Rounding leaves something of the third column even where it is a multiple of the second.
        assert_eq!(least_squares(rows(0.0)), None);
        let [one, other, third] = least_squares(rows(1.0)).unwrap();
        assert!(
            one.abs() < 1e-9 && (other - 1.0).abs() < 1e-9 && third.abs() < 1e-9,
            "{one} {other} {third}"
        );
    }

    /// A curve whose estimators lie so and whose lines rise so, at nine tenths from 8 in flight.
    fn knees_at(power: f64, others: f64, slope_after: f64) -> Saturation {
        Saturation {
            power_knee: power,
            asymptote_knee: others,
            kneedle: None,
            two_lines: TwoLines {
                knee: others,
                interval: Interval { low: others, high: others },
                slope_before: 1.0,
                slope_after,
            },
            scaling: None,
            fall: 0.0,
            superlinear: false,
            shares: vec![(4.0, 0.5), (8.0, 0.9), (64.0, 1.0)],
        }
    }

    #[test]
    fn a_knee_is_where_the_curve_bends_by_half_estimators_agree_and_nine_tenths_are_reached() {
        near(knees_at(8.0, 16.0, 0.4).knee().unwrap(), 2_048f64.cbrt());
        near(knees_at(8.01, 8.01, 0.499).knee().unwrap(), 8.01);
        assert_eq!(knees_at(8.01, 8.01, 0.5).knee(), None, "it bends by half and no more");
        assert_eq!(knees_at(8.01, 16.1, 0.4).knee(), None, "more than a doubling apart");
        assert_eq!(knees_at(7.9, 7.9, 0.4).knee(), None, "a little less than nine tenths");
    }

    #[test]
    fn four_points_are_a_curve_and_of_equal_power_the_lightest_load_counts() {
        let point = |load: f64, rate: f64, response_s: f64| LoadPoint { load, rate, response_s };
        let points = [
            point(1.0, 1000.0, 1.0),
            point(2.0, 2000.0, 2.0),
            point(4.0, 2100.0, 4.0),
            point(8.0, 2100.0, 8.0),
        ];
        assert_eq!(saturation(&points, 1).unwrap().power_knee, 1.0);
    }

    #[test]
    fn more_than_linear_is_more_than_a_fiftieth_above_the_line_of_the_lightest_load() {
        let superlinear = |first: (f64, f64), second: (f64, f64)| {
            let points = [first, second, (8.0, second.1), (16.0, second.1)];
            let points = points.map(|(load, rate)| LoadPoint { load, rate, response_s: load / rate });
            saturation(&points, 1).unwrap().superlinear
        };
        assert!(!superlinear((1.0, 100.0), (2.0, 203.0)));
        assert!(!superlinear((1.0, 100.0), (2.0, 204.0)));
        assert!(superlinear((1.0, 100.0), (2.0, 205.0)));
        assert!(superlinear((2.0, 200.0), (4.0, 450.0)) && !superlinear((2.0, 200.0), (4.0, 405.0)));
    }

    #[test]
    fn loads_of_four_times_as_much_have_knees_at_four_times_as_much() {
        let rates = [1000.0, 1900.0, 3500.0, 6000.0, 8200.0, 9100.0, 9000.0];
        let points = doubling(&rates);
        let more: Vec<LoadPoint> =
            points.iter().map(|point| LoadPoint { load: 4.0 * point.load, ..*point }).collect();
        assert_eq!(kneedle(&more), kneedle(&points).map(|knee| 4.0 * knee));
        near(two_lines(&more, 7).knee, 4.0 * two_lines(&points, 7).knee);
    }

    #[test]
    fn the_ends_of_a_range_are_a_twentieth_of_the_draws_from_either_end() {
        let drawn: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!((below(&drawn, 0.05), below(&drawn, 0.95)), (9.0, 189.0));
    }

    #[test]
    fn a_curve_that_does_not_rise_bends_at_the_first_place_and_nothing_of_it_is_explained() {
        let flat = saturation(&doubling(&[1.0; 6]), 1).unwrap();
        assert_eq!((flat.two_lines.knee, flat.kneedle), (2.0, None));
        assert_eq!(flat.scaling.unwrap().explained, 0.0);
        assert_eq!((flat.two_lines.slope_before, flat.two_lines.slope_after), (0.0, 0.0));
    }

    #[test]
    fn a_term_of_scalability_that_comes_out_negative_is_left_out() {
        // Exact fractions, computed apart from this program: the full fit has kappa, sigma, sigma below zero.
        let fit = |rates: &[f64]| saturation(&doubling(rates), 1).unwrap().scaling.unwrap();
        let no_kappa = fit(&[1000.0, 1700.0, 2700.0, 4300.0, 7000.0]);
        near(no_kappa.single, 929.576_408_170_306_8);
        near(no_kappa.sigma, 0.085_220_665_540_722_15);
        near(no_kappa.explained, 0.981_473_508_967_736_1);
        assert_eq!((no_kappa.kappa, no_kappa.peak), (0.0, None));
        let no_sigma = fit(&[1000.0, 2100.0, 4000.0, 6500.0, 8000.0]);
        near(no_sigma.single, 1_034.136_623_497_504_8);
        near(no_sigma.kappa, 0.004_486_353_748_145_271);
        near(no_sigma.explained, 0.999_334_508_517_513_7);
        near(no_sigma.peak.unwrap(), 14.929_774_311_331_244);
        assert_eq!(no_sigma.sigma, 0.0);
        // Neither is left, and the other two stay as they came out.
        let neither = fit(&[1000.0, 2100.0, 4400.0, 9300.0]);
        near(neither.single, 1_038.118_974_261_194_8);
        assert_eq!((neither.sigma, neither.kappa, neither.peak), (0.0, 0.0, None));
    }

    #[test]
    fn only_what_keeping_in_step_costs_makes_a_peak() {
        assert_eq!(peak(0.0, 0.25), Some(2.0));
        assert_eq!(peak(0.75, 0.25), Some(1.0));
        assert_eq!((peak(0.5, 0.0), peak(1.0, 0.1), peak(1.5, 0.1)), (None, None, None));
    }

    #[test]
    fn a_slow_bend_has_no_sharp_knee() {
        assert_eq!(saturation(&curve(|n| 1000.0 * n.powf(0.5)), 1).unwrap().knee(), None);
        assert_eq!(saturation(&curve(|n| 1000.0 * n), 1).unwrap().knee(), None, "it never bends");
    }

    #[test]
    fn where_more_load_still_pays_a_third_there_is_no_knee() {
        // As a mirrored set of disks behind a cache does: the estimators meet at 7.4, and 256 do 41 % more.
        let rates = [300.0, 560.0, 960.0, 1_500.0, 1_760.0, 1_960.0, 2_060.0, 2_100.0, 2_110.0];
        let points: Vec<LoadPoint> = (0..)
            .zip(rates)
            .map(|(step, rate)| {
                let load = f64::from(1u32 << step);
                LoadPoint { load, rate, response_s: load / rate }
            })
            .collect();
        let found = saturation(&points, 1).unwrap();
        let knees = found.knees();
        let mean = (knees.iter().map(|knee| knee.ln()).sum::<f64>() / knees.len() as f64).exp();
        assert!(found.share_at(mean) < 0.9, "{knees:?}");
        assert_eq!(found.knee(), None, "{knees:?}");
        assert!((found.share_at(12.0) - (1_500.0 + 1_760.0) / 2.0 / 2_110.0).abs() < 1e-9);
        assert_eq!((found.share_at(0.5), found.share_at(999.0)), (300.0 / 2_110.0, 1.0));
    }

    #[test]
    fn the_law_of_scalability_gives_back_its_parameters() {
        let (sigma, kappa) = (0.03, 0.0002);
        let law = |n: f64| 900.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
        let found = saturation(&curve(law), 1).unwrap();
        let fit = found.scaling.unwrap();
        assert!((fit.single / 900.0 - 1.0).abs() < 1e-6 && (fit.sigma / sigma - 1.0).abs() < 1e-6, "{fit:?}");
        assert!((fit.kappa / kappa - 1.0).abs() < 1e-6 && fit.explained > 0.999_999);
        assert!((fit.peak.unwrap() - (0.97f64 / 0.0002).sqrt()).abs() < 1e-3);
        assert!(found.fall > 0.3, "it is retrograde: {}", found.fall);
    }

    #[test]
    fn what_never_falls_has_no_peak() {
        let fit = saturation(&curve(|n| 1000.0 * n.min(16.0)), 1).unwrap().scaling.unwrap();
        assert!(fit.sigma >= 0.0 && fit.kappa >= 0.0, "{fit:?}");
        let amdahl =
            saturation(&curve(|n| 1000.0 * n / (1.0 + 0.05 * (n - 1.0))), 1).unwrap().scaling.unwrap();
        assert!((amdahl.sigma - 0.05).abs() < 1e-6 && amdahl.kappa < 1e-9, "{amdahl:?}");
    }

    #[test]
    fn more_than_linear_is_named() {
        let found =
            saturation(&curve(|n| if n >= 4.0 { 1500.0 * n.min(16.0) } else { 1000.0 * n }), 1).unwrap();
        assert!(found.superlinear);
    }

    #[test]
    fn the_interval_of_a_bend_holds_it_in_noise() {
        let mut holds = 0;
        for seed in 0..100u64 {
            let mut draws = Draws(seed);
            let mut noisy = |n: f64| 1000.0 * n.min(16.0) * (0.97 + draws.below(1000) as f64 * 6e-5);
            let points: Vec<LoadPoint> = LOADS
                .into_iter()
                .map(|load| {
                    let rate = noisy(load);
                    LoadPoint { load, rate, response_s: load / rate }
                })
                .collect();
            let found = saturation(&points, seed).unwrap().two_lines;
            assert!((found.knee / 16.0 - 1.0).abs() < 0.2, "{found:?}");
            holds += u32::from(found.interval.low <= 16.0 && found.interval.high >= 16.0);
        }
        // Ten points with four fitted numbers: drawing again is known to come out a little narrow.
        assert!((80..=99).contains(&holds), "{holds} of 100");
    }

    #[test]
    fn too_few_or_senseless_points_are_no_curve() {
        let points = curve(|n| 1000.0 * n.min(16.0));
        assert_eq!(saturation(&points[..3], 1), None);
        let mut twice = points.clone();
        twice[1].load = twice[0].load;
        assert_eq!(saturation(&twice, 1), None);
        let mut none = points;
        none[2].rate = 0.0;
        assert_eq!(saturation(&none, 1), None);
    }
}
