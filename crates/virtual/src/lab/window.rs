//! How long a depth is simulated: long enough for an interval where the rate allows it, and never for more requests than
//! a moment has room for.

use record::Point;
use units::Nanos;
use units::convert::truncated;

use super::Effort;
use super::plan::Length;
use crate::what_if::rate_of;

/// Requests that find what one costs.
const PROBE: u64 = 24;

/// Requests that find the rate, of those that pass as many parts as [`PARTS`].
const PILOT: f64 = 400.0;
/// So many at least, and as many times the depth: each that is in flight ends twice.
const PILOT_LEAST: u64 = 48;
pub(super) const ROUNDS: u64 = 2;

/// Requests of a quick look, likewise.
const QUICK: f64 = 600.0;

/// Requests that a window is to hold, of those that pass as many parts as [`PARTS`].
const WANTED: f64 = 3_000.0;

/// Requests that it holds at most, likewise: a tenth of a second of a processor for a curve of seven depths.
const MOST: f64 = 8_000.0;

/// Requests that fill a write cache before a window at most, likewise: a tenth of a second of a processor for one depth.
const FILLS: f64 = 60_000.0;

/// So many times as long as a cache takes at the pace of the window: it fills more slowly the nearer it is to its end.
const BEYOND: f64 = 1.5;

/// Parts of host, array and disks that a small read passes. A request costs as much as it has visits to parts: a stripe
/// of blocks or an update of parity has many.
const PARTS: f64 = 16.0;

/// Whole seconds from which a rate has an interval.
const SECONDS_LEAST: f64 = 4.0;

/// The longest window. A rate of a few requests a second needs no more than this to be seen.
const SECONDS_MOST: f64 = 60.0;

const _: () = assert!(SECONDS_LEAST < SECONDS_MOST && QUICK < WANTED && WANTED < MOST);

/// The warm-up as a part of the window.
const WARMUP: f64 = 0.25;

/// What a pilot found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pilot {
    per_s: f64,
    /// Visits to parts that a request costs.
    visits: f64,
}

impl Pilot {
    /// Of `point`; `None` where nothing completed.
    pub fn of(point: &Point) -> Option<Pilot> {
        let per_s = rate_of(point).value;
        let completed: u64 = point.workloads.iter().map(|workload| workload.completed).sum();
        let components = point.breakdown.iter().flat_map(|breakdown| &breakdown.components);
        let visits: u64 = components.map(|component| component.visits).sum();
        let visits = visits as f64 / completed.max(1) as f64;
        (per_s.is_finite() && per_s > 0.0).then_some(Pilot { per_s, visits })
    }

    /// What a request costs, in small reads.
    pub fn weight(self) -> f64 {
        debug_assert!(self.visits >= 0.0, "a count");
        (self.visits / PARTS).max(1.0)
    }

    /// The window of a depth. Whole seconds where the requests allow it, since records cut windows into seconds and take
    /// intervals from them; a faster array, and a quick look, get a window without.
    pub fn window(self, depth: u32, effort: Effort) -> Length {
        let (wanted, most) = (WANTED / self.weight(), MOST / self.weight());
        let quick = (QUICK / self.weight()).max((ROUNDS * u64::from(depth)) as f64);
        let seconds = match effort {
            Effort::Quick => (quick / self.per_s).min(SECONDS_MOST),
            Effort::Full if self.per_s * SECONDS_LEAST <= most => {
                (wanted / self.per_s).clamp(SECONDS_LEAST, SECONDS_MOST).ceil()
            }
            Effort::Full => most / self.per_s,
        };
        debug_assert!(seconds > 0.0 && seconds <= SECONDS_MOST.max(MOST / self.per_s), "a window ends");
        let run = two_digits(seconds * 1e9);
        Length::Time { warmup: two_digits(run.get() as f64 * WARMUP), run }
    }
}

/// As long a window whose warm-up fills the write caches that the writes of `point` met free room of; `None` where they met none, and
/// where a moment has no room for that. `point` is of `length`, and its requests cost `weight`.
pub(super) fn filled(point: &Point, length: Length, weight: f64) -> Option<Length> {
    let Length::Time { warmup, run } = length else { return None };
    let fill = point.breakdown.as_ref()?.write_cache.filter(|_| point.is_filling())?;
    let since = fill.unwritten_measured_bytes?;
    let gained = fill.unwritten_bytes.saturating_sub(since) as f64 / run.as_secs_f64();
    let seconds = fill.room_bytes.saturating_sub(since) as f64 / gained;
    let longer = two_digits((warmup.as_secs_f64() + seconds * BEYOND) * 1e9);
    let requests = rate_of(point).value * (longer + run).as_secs_f64() * weight;
    (longer > warmup && requests <= FILLS).then_some(Length::Time { warmup: longer, run })
}

/// How many requests find what one costs.
pub(super) fn probe(depth: u32) -> Length {
    Length::Requests(PROBE.max(u64::from(depth)))
}

/// How many requests find the rate, where one costs `weight`.
pub(super) fn pilot(depth: u32, weight: f64) -> Length {
    let count = truncated::<u64>(PILOT / weight.max(1.0));
    Length::Requests(count.max(PILOT_LEAST).max(ROUNDS * u64::from(depth)))
}

/// Rounded to two significant digits, so that a plan can be read; whole seconds stay what they are.
fn two_digits(nanos: f64) -> Nanos {
    let digit = 10f64.powi(truncated::<i32>(nanos.max(1e3).log10().floor()) - 1);
    Nanos::new(truncated((nanos / digit).round().max(1.0) * digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(per_s: f64, visits: f64) -> (Nanos, Nanos) {
        match (Pilot { per_s, visits }).window(4, Effort::Full) {
            Length::Time { warmup, run } => (warmup, run),
            Length::Requests(_) => (Nanos::ZERO, Nanos::ZERO),
        }
    }

    #[test]
    fn a_window_has_whole_seconds_as_long_as_the_requests_allow_it() {
        assert_eq!(window(100.0, 10.0), (Nanos::from_millis(7_500), Nanos::from_secs(30)));
        assert_eq!(window(1.0, 10.0).1, Nanos::from_secs(60));
        assert_eq!(window(2_000.0, 16.0).1, Nanos::from_secs(4));
        assert_eq!(window(1_000_000.0, 16.0), (Nanos::from_millis(2), Nanos::from_millis(8)));
        assert_eq!(window(2_000.0, 64.0).1, Nanos::from_secs(1), "a request that costs four times as much");
    }

    #[test]
    fn a_quick_look_and_a_pilot_are_shorter_where_requests_cost_more_and_see_each_depth_through() {
        let quick =
            |visits: f64, depth: u32| match (Pilot { per_s: 1_000.0, visits }).window(depth, Effort::Quick) {
                Length::Time { run, .. } => run,
                Length::Requests(_) => Nanos::ZERO,
            };
        assert_eq!([quick(16.0, 1), quick(64.0, 1)], [600, 150].map(Nanos::from_millis));
        assert_eq!(quick(1_600.0, 64), Nanos::from_millis(130), "twice what is in flight");
        let pilots = [(1, 1.0), (64, 1.0), (1, 4.0), (64, 4.0), (1, 100.0)]
            .map(|(depth, weight)| pilot(depth, weight));
        assert_eq!(pilots, [400, 400, 100, 128, 48].map(Length::Requests));
    }

    #[test]
    fn windows_have_two_digits_so_that_their_plans_can_be_read() {
        assert_eq!(two_digits(123_456_789.0), Nanos::from_millis(120));
        assert_eq!(two_digits(60e9), Nanos::from_secs(60));
        assert_eq!(two_digits(0.0), Nanos::new(100));
    }
}
