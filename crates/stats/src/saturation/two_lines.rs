//! Two straight lines that meet, and the range of where they do.

use units::convert::truncated;

use super::LoadPoint;
use super::least_squares::least_squares;
use crate::Interval;
use crate::draws::Draws;

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

pub(super) fn two_lines(points: &[LoadPoint], seed: u64) -> TwoLines {
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
pub(super) fn below(sorted: &[f64], part: f64) -> f64 {
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
