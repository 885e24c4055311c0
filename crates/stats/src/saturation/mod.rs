//! Where more load no longer pays: knees of a curve of throughput against requests in flight.
//!
//! Four estimators that rest on different ideas. Where they agree there is a knee; where they do not, the curve bends
//! slowly, and no single point of it deserves the name.
//!
//! **Invariant:** no estimate outside the loads that were measured, but for the asymptotes, which say so.

mod least_squares;
mod scaling;
#[cfg(test)]
mod tests;
mod two_lines;

pub use self::scaling::Scaling;
use self::scaling::scaling;
pub use self::two_lines::TwoLines;
use self::two_lines::two_lines;
use crate::geometric_mean;

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
        let mean = geometric_mean(&knees)?;
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
