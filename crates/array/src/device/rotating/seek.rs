//! Seek time by distance, as a table.

use std::sync::Arc;

use units::Nanos;
use units::convert::{narrow, truncated};

use super::Seek;

/// Distances below this have an entry of their own: short seeks bend, and are the most frequent under a queue.
const NEAR: u32 = 1024;
/// Entries for the rest of the stroke; straight lines between them.
const FAR: u32 = 2048;

/// Read seek time by distance in cylinders, looked up in constant time.
///
/// Drives alike share one: what all of them look up stays close to the processor.
///
/// **Invariant:** distance zero takes no time.
#[derive(Clone, Debug)]
pub struct SeekTable {
    near: Arc<[u32]>,
    far: Arc<[u32]>,
    far_shift: u32,
}

impl SeekTable {
    /// The curve over `cylinders` cylinders.
    pub fn new(seek: &Seek, cylinders: u32) -> SeekTable {
        let curve = Curve::new(seek, cylinders);
        let far_shift = (cylinders / FAR).max(1).ilog2() + 1;
        let at = |distance: u32| truncated::<u32>(curve.nanos(distance).round().min(f64::from(u32::MAX)));
        assert_eq!(at(0), 0, "an arm that stays must take no time");
        SeekTable {
            near: (0..NEAR).map(at).collect(),
            far: (0..(cylinders >> far_shift) + 2).map(|index| at(index << far_shift)).collect(),
            far_shift,
        }
    }

    /// How long the arm takes over `distance` cylinders, in nanoseconds.
    #[inline]
    pub fn nanos(&self, distance: u32) -> u32 {
        if distance < NEAR {
            return self.near[distance as usize];
        }
        let index = (distance >> self.far_shift) as usize;
        let (Some(&low), Some(&high)) = (self.far.get(index), self.far.get(index + 1)) else {
            return self.far[self.far.len() - 1];
        };
        let part = u64::from(distance & ((1 << self.far_shift) - 1));
        narrow::<u32>(
            i64::from(low) + (((i64::from(high) - i64::from(low)) * narrow::<i64>(part)) >> self.far_shift),
        )
    }
}

/// `Σ (C-d)·f(d) / Σ (C-d)` over `d = 1 .. C-1`: the law of the distance of two uniform points on a line.
fn triangular_mean(cylinders: u32, nanos: impl Fn(u32) -> f64) -> f64 {
    // A large drive has 10^5 cylinders and the curve is smooth, so a sample of 2,000 distances is exact enough.
    let step = (cylinders / 2000).max(1);
    let (mut sum, mut weights) = (0.0, 0.0);
    for distance in (1..cylinders).step_by(step as usize) {
        let weight = f64::from(cylinders - distance);
        sum += weight * nanos(distance);
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// The curve before it is tabulated, in nanoseconds.
enum Curve<'a> {
    /// `first + slope·(√d - 1)` up to `bend`, then a straight line to `full` at `last`.
    Bent {
        first: f64,
        slope: f64,
        bend: f64,
        full: f64,
        last: f64,
    },
    Points(&'a [(u32, Nanos)]),
}

impl Curve<'_> {
    fn new(seek: &Seek, cylinders: u32) -> Curve<'_> {
        match seek {
            Seek::Measured(points) => Curve::Points(points),
            Seek::ThreeNumbers { track_to_track, average, full } => {
                let [first, average, full] = [track_to_track, average, full].map(|time| time.get() as f64);
                fit(first, average, full, cylinders)
            }
        }
    }

    fn nanos(&self, distance: u32) -> f64 {
        if distance == 0 {
            return 0.0;
        }
        match self {
            Curve::Bent { first, slope, bend, full, last } => {
                let d = f64::from(distance);
                let root = |d: f64| first + slope * (d.sqrt() - 1.0);
                if d <= *bend {
                    root(d)
                } else {
                    root(*bend) + (full - root(*bend)) * (d - bend) / (last - bend)
                }
            }
            Curve::Points(points) => between(points, distance),
        }
    }
}

/// Finds the slope that gives the curve its average. The bend at a tenth of the stroke is the best of several
/// shapes over ten measured drives (weighted error: median 2.4 % of the mean seek, worst 8.3 %).
fn fit(first: f64, average: f64, full: f64, cylinders: u32) -> Curve<'static> {
    let bend = (0.1 * f64::from(cylinders)).max(1.0);
    let last = f64::from(cylinders.saturating_sub(1)).max(bend + 1.0);
    let curve = |slope| Curve::Bent { first, slope, bend, full, last };
    let (mut low, mut high) = (0.0, (full - first).max(0.0) / (bend.sqrt() - 1.0).max(1e-9));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let candidate = curve(middle);
        let mean = triangular_mean(cylinders, |distance| candidate.nanos(distance));
        if mean < average { low = middle } else { high = middle }
    }
    curve(0.5 * (low + high))
}

fn between(points: &[(u32, Nanos)], distance: u32) -> f64 {
    let time = |index: usize| points[index].1.get() as f64;
    let after = points.partition_point(|point| point.0 < distance);
    match points {
        [] => 0.0,
        [only] => only.1.get() as f64,
        _ if after == 0 => time(0),
        _ => {
            let right = after.min(points.len() - 1);
            let (left, right) = (right - 1, right);
            let run = f64::from(points[right].0 - points[left].0).max(1.0);
            time(left) + (time(right) - time(left)) * (f64::from(distance) - f64::from(points[left].0)) / run
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(track: u64, average: u64, full: u64) -> Seek {
        let [track_to_track, average, full] = [track, average, full].map(Nanos::from_micros);
        Seek::ThreeNumbers { track_to_track, average, full }
    }

    #[test]
    fn the_fitted_curve_passes_through_all_three_numbers() {
        for (seek, cylinders, numbers) in [
            (three(830, 5400, 10630), 6_962, [830.0, 5400.0, 10630.0]),
            (three(600, 8200, 16000), 150_000, [600.0, 8200.0, 16000.0]),
        ] {
            let table = SeekTable::new(&seek, cylinders);
            let mean = triangular_mean(cylinders, |distance| f64::from(table.nanos(distance))) / 1e3;
            assert!((f64::from(table.nanos(1)) / 1e3 - numbers[0]).abs() < 1.0);
            assert!((mean / numbers[1] - 1.0).abs() < 0.005, "{mean}");
            assert!((f64::from(table.nanos(cylinders - 1)) / 1e3 / numbers[2] - 1.0).abs() < 0.002);
        }
    }

    #[test]
    fn a_measured_curve_is_followed_point_by_point_and_straight_in_between() {
        let points = [(1, 800), (10, 1_700), (5000, 9_000)].map(|(d, us)| (d, Nanos::from_micros(us)));
        let table = SeekTable::new(&Seek::Measured(points.to_vec()), 6000);
        assert_eq!(table.nanos(0), 0);
        assert_eq!(table.nanos(1), 800_000);
        assert_eq!(table.nanos(4), 1_100_000);
        assert!(table.nanos(5000).abs_diff(9_000_000) < 2_000);
    }
}
