//! The way to the cache and back: link, cost of a request, from requests that a cache answers.

use record::Figure;

use crate::probe::{Pattern, Probe};

/// How many requests pass in a second at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// Points show it: so many.
    Seen(Figure),
    /// No point came to it: more than this.
    Above(f64),
    /// No cache answered, so that members were asked.
    Unknown,
}

impl Ceiling {
    /// Where it shows.
    pub fn seen(self) -> Option<Figure> {
        match self {
            Ceiling::Seen(figure) => Some(figure),
            Ceiling::Above(_) | Ceiling::Unknown => None,
        }
    }

    /// What a model takes: the ceiling, or where none shows the most that passed.
    pub fn taken(self) -> Option<f64> {
        match self {
            Ceiling::Seen(figure) => Some(figure.value),
            Ceiling::Above(most) => Some(most),
            Ceiling::Unknown => None,
        }
    }
}

/// The way as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Bytes a second that nothing exceeded: of large requests from a cache, else of the fastest probe.
    pub link: Figure,
    /// Requests a second at most.
    pub most: Ceiling,
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
    let smallest = alone.iter().min_by(|one, two| one.size.total_cmp(&two.size))?;
    let cached = cold.is_some_and(|cold| median(smallest) < 0.67 * median(cold));
    let reads = || probes.iter().filter(|probe| probe.is_read());
    let link = reads().max_by(|one, two| one.bytes_per_s().total_cmp(&two.bytes_per_s()))?;
    let link = around(link.bytes_per_s(), link.error);
    debug_assert!(link.low <= link.high, "an interval is in order");
    let (fixed, byte) = line(&alone)?;
    let fixed = sooner(fixed, smallest, probes);
    Some(Front {
        link,
        most: if cached { ceiling(probes) } else { Ceiling::Unknown },
        fixed: (cached && fixed.value > 0.0).then_some(fixed),
        byte: byte.max(1e9 / link.value / 64.0),
        cached,
    })
}

/// What a request without bytes costs where a larger region, which a cache holds too, is answered sooner than the few
/// mebibytes: asked at random, these look like streams to some arrays, which read ahead for nothing.
fn sooner(fixed: Figure, smallest: &Probe, probes: &[Probe]) -> Figure {
    let larger = held(probes).filter(|probe| probe.depth == 1.0 && probe.size == smallest.size);
    let soonest = larger.map(|probe| probe.response_ns).fold(f64::INFINITY, f64::min);
    let late = smallest.response_ns - soonest;
    debug_assert!(!late.is_nan(), "a response is a time");
    if late < SOONER * smallest.response_ns {
        return fixed;
    }
    let shifted = |edge: Option<f64>| edge.map(|edge| edge - late);
    Figure { value: fixed.value - late, low: shifted(fixed.low), high: shifted(fixed.high) }
}

/// What is sooner by less is answered alike.
const SOONER: f64 = 0.1;

/// Reads of a region in bytes, at random.
fn held(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    let random = |probe: &&Probe| probe.pattern == Pattern::Random && probe.is_read();
    probes.iter().filter(random).filter(|probe| probe.region.is_some())
}

/// The ceiling, from reads that a cache answers.
///
/// It shows where several in flight wait for each other: they are fewer by half than they would be if each took as long
/// as one alone (the asymptotic bounds of closed networks, Denning and Buzen 1978). What a read exceeds is no ceiling.
fn ceiling(probes: &[Probe]) -> Ceiling {
    let fastest = |one: &&Probe, two: &&Probe| one.rate.total_cmp(&two.rate);
    let Some(most) = probes.iter().filter(|probe| probe.is_read()).max_by(fastest) else {
        return Ceiling::Unknown;
    };
    let waits = |probe: &&Probe| {
        let same =
            |other: &&Probe| other.depth == 1.0 && other.size == probe.size && other.region == probe.region;
        held(probes).find(same).is_some_and(|alone| probe.rate < WAITING * probe.depth * alone.rate)
    };
    match held(probes).filter(waits).max_by(fastest) {
        Some(full) if full.rate > SAME * most.rate => Ceiling::Seen(around(full.rate, full.error)),
        _ => Ceiling::Above(most.rate),
    }
}

/// The part of the rate without waiting below which something is full.
const WAITING: f64 = 0.5;

/// Rates that are nearer to each other than this are one ceiling.
const SAME: f64 = 0.95;

fn median(probe: &Probe) -> f64 {
    probe.responses.quantile(0.5).map_or(f64::INFINITY, |median| median.get() as f64)
}

/// A figure whose error is a part of it.
pub fn around(value: f64, error: f64) -> Figure {
    debug_assert!(error >= 0.0, "an error is a part of its figure");
    Figure { value, low: Some(value * (1.0 - error)), high: Some(value * (1.0 + error)) }
}

/// Mean response against size: what a request costs without bytes, with its 95 % interval from the scatter about the
/// line, and what a byte adds. Weighted by the inverse square of the response, so that small requests count.
fn line(alone: &[&Probe]) -> Option<(Figure, f64)> {
    let points: Vec<(f64, f64, f64)> =
        alone.iter().map(|probe| (probe.size, probe.response_ns, probe.response_ns.powi(-2))).collect();
    let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let weight = sum(&|point| point.2);
    debug_assert!(points.is_empty() || weight > 0.0, "every response has a weight");
    let (x, y) = (sum(&|p| p.0 * p.2) / weight, sum(&|p| p.1 * p.2) / weight);
    let spread = sum(&|p| (p.0 - x).powi(2) * p.2);
    if points.is_empty() {
        return None;
    }
    let slope = if spread > 0.0 { sum(&|p| (p.0 - x) * (p.1 - y) * p.2) / spread } else { 0.0 };
    let fixed = y - slope * x;
    let freedom = points.len().saturating_sub(2) as f64;
    let squares = sum(&|p| (p.1 - fixed - slope * p.0).powi(2) * p.2);
    debug_assert!(squares >= 0.0, "what is left is a sum of squares");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::read_alone;

    fn point(region: Option<u64>, depth: f64, rate: f64) -> Probe {
        Probe { region, depth, rate, ..read_alone(4096.0, depth / rate * 1e9) }
    }

    const HOT: Option<u64> = Some(8 << 20);
    const LARGER: Option<u64> = Some(64 << 20);

    #[test]
    fn a_ceiling_is_what_points_with_several_in_flight_come_to() {
        let points = [point(HOT, 1.0, 8_000.0), point(HOT, 16.0, 43_000.0), point(HOT, 128.0, 44_000.0)];
        assert_eq!(ceiling(&points).seen().map(|most| most.value), Some(44_000.0));
    }

    #[test]
    fn a_rate_that_one_at_a_time_comes_to_is_no_ceiling_but_what_it_lies_above() {
        // Random reads of a few mebibytes have an array read ahead for nothing; a stream passes twice as fast.
        let stream = Probe { pattern: Pattern::Sequential, ..point(None, 1.0, 16_140.0) };
        let hot = [point(HOT, 1.0, 8_270.0), point(HOT, 16.0, 8_776.0), point(HOT, 128.0, 8_722.0)];
        let points = [&hot[..], &[stream]].concat();
        assert_eq!(ceiling(&points), Ceiling::Above(16_140.0));
        // A larger region shows what passes.
        let larger = [point(LARGER, 1.0, 15_731.0), point(LARGER, 128.0, 44_000.0)];
        assert_eq!(
            ceiling(&[points, larger.to_vec()].concat()).seen().map(|most| most.value),
            Some(44_000.0)
        );
    }

    #[test]
    fn depths_that_do_not_wait_for_each_other_show_no_ceiling() {
        let points = [point(HOT, 1.0, 10_000.0), point(HOT, 16.0, 155_000.0)];
        assert_eq!(ceiling(&points), Ceiling::Above(155_000.0));
    }

    #[test]
    fn a_request_costs_what_the_region_lets_it_that_is_answered_soonest() {
        let fixed = around(112e3, 0.1);
        let hot = point(HOT, 1.0, 8_270.0);
        let told = |rate: f64| sooner(fixed, &hot, &[point(LARGER, 1.0, rate)]).value;
        assert!((told(16_000.0) - (112e3 - (1e9 / 8_270.0 - 1e9 / 16_000.0))).abs() < 1.0);
        assert_eq!(told(8_300.0), 112e3, "alike");
        assert_eq!(told(1_000.0), 112e3, "slower");
    }
}
