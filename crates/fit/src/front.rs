//! The way to the cache and back: link, cost of a request, from requests that a cache answers.

use record::Figure;

use crate::probe::{Pattern, Probe};

/// The way as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Bytes a second that nothing exceeded: of large requests from a cache, else of the fastest probe.
    pub link: Figure,
    /// Requests a second that nothing exceeded; `None` where no cache answered.
    pub most: Option<Figure>,
    /// Nanoseconds of a request without bytes; `None` where no cache answered.
    pub fixed: Option<Figure>,
    /// Nanoseconds that each byte adds to a request alone.
    pub byte: f64,
    /// Whether a small region is answered much faster than the whole target.
    pub cached: bool,
}

/// Where a measured rate is at least this part of what the way to the cache lets pass, it says nothing of members.
pub const FULL: f64 = 0.93;

/// Regions up to this size are asked over and over, so that any cache holds them.
const HOT: u64 = 32 << 20;

/// Probes of a small region, reads or writes.
pub fn hot(probes: &[Probe], reads: bool) -> impl Iterator<Item = &Probe> {
    probes.iter().filter(move |probe| {
        probe.pattern == Pattern::Random
            && probe.region.is_some_and(|region| region <= HOT)
            && if reads { probe.is_read() } else { probe.is_write() }
    })
}

/// The way, from reads; `None` where nothing was read.
pub fn fit(probes: &[Probe]) -> Option<Front> {
    let alone: Vec<&Probe> = hot(probes, true).filter(|probe| probe.depth == 1.0).collect();
    let cold = probes.iter().find(|probe| probe.is_read() && probe.is_everywhere() && probe.depth == 1.0);
    let smallest = alone.iter().min_by(|one, two| one.size.total_cmp(&two.size));
    let cached = match (smallest, cold) {
        (Some(hot), Some(cold)) => median(hot) < 0.67 * median(cold),
        _ => false,
    };
    let fastest = |of: fn(&Probe) -> f64| {
        let reads = probes.iter().filter(|probe| probe.is_read());
        reads.max_by(|one, two| of(one).total_cmp(&of(two))).map(|probe| around(of(probe), probe.error))
    };
    let link = fastest(Probe::bytes_per_s)?;
    let (fixed, byte) = line(&alone)?;
    Some(Front {
        link,
        most: cached.then(|| fastest(|probe| probe.rate)).flatten(),
        fixed: (cached && fixed.value > 0.0).then_some(fixed),
        byte: byte.max(1e9 / link.value / 64.0),
        cached,
    })
}

fn median(probe: &Probe) -> f64 {
    probe.responses.quantile(0.5).map_or(f64::INFINITY, |median| median.get() as f64)
}

/// A figure whose error is a part of it.
pub fn around(value: f64, error: f64) -> Figure {
    Figure { value, low: Some(value * (1.0 - error)), high: Some(value * (1.0 + error)) }
}

/// Mean response against size: what a request costs without bytes, with its 95 % interval from the scatter about the
/// line, and what a byte adds. Weighted by the inverse square of the response, so that small requests count.
fn line(alone: &[&Probe]) -> Option<(Figure, f64)> {
    let points: Vec<(f64, f64, f64)> =
        alone.iter().map(|probe| (probe.size, probe.response_ns, probe.response_ns.powi(-2))).collect();
    let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let weight = sum(&|point| point.2);
    let (x, y) = (sum(&|p| p.0 * p.2) / weight, sum(&|p| p.1 * p.2) / weight);
    let spread = sum(&|p| (p.0 - x).powi(2) * p.2);
    if points.is_empty() {
        return None;
    }
    let slope = if spread > 0.0 { sum(&|p| (p.0 - x) * (p.1 - y) * p.2) / spread } else { 0.0 };
    let fixed = y - slope * x;
    let freedom = points.len().saturating_sub(2) as f64;
    let squares = sum(&|p| (p.1 - fixed - slope * p.0).powi(2) * p.2);
    let error = (freedom > 0.0).then(|| {
        let variance = squares / freedom * (1.0 / weight + x * x / spread);
        1.96 * variance.sqrt()
    });
    Some((
        Figure {
            value: fixed,
            low: error.map(|error| fixed - error),
            high: error.map(|error| fixed + error),
        },
        slope,
    ))
}
