//! The universal scalability law.

use super::LoadPoint;
use super::least_squares::least_squares;

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

/// `N/rate` is a parabola in N, whose three terms are `sigma` and the like; each point counts by its relative error.
pub(super) fn scaling(points: &[LoadPoint]) -> Option<Scaling> {
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

pub(super) fn peak(sigma: f64, kappa: f64) -> Option<f64> {
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
