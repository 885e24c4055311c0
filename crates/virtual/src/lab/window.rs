//! How long a depth is simulated: long enough for an interval where the rate allows it, and never for more requests than
//! a moment has room for.

use record::Point;
use units::Nanos;
use units::convert::truncated;

use super::plan::Length;
use crate::what_if::rate_of;

/// Requests that find the rate, and as many times the depth at least.
const PILOT: u64 = 400;
const PILOT_ROUNDS: u64 = 4;

/// Requests that a window is to hold, of those that pass as many parts as [`PARTS`].
const WANTED: f64 = 3_000.0;

/// Requests that it holds at most, likewise: a tenth of a second of a processor for a curve of seven depths.
const MOST: f64 = 8_000.0;

/// Parts of host, array and disks that a small read passes. A request costs as much as it has visits to parts: a stripe
/// of blocks or an update of parity has many.
const PARTS: f64 = 16.0;

/// Whole seconds from which a rate has an interval.
const SECONDS_LEAST: f64 = 4.0;

/// The longest window. A rate of a few requests a second needs no more than this to be seen.
const SECONDS_MOST: f64 = 60.0;

/// The warm-up as a part of the window.
const WARMUP: f64 = 0.25;

/// What a pilot found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    per_s: f64,
    /// Visits to parts that a request costs.
    visits: f64,
}

impl Found {
    /// Of `point`; `None` where nothing completed.
    pub fn of(point: &Point) -> Option<Found> {
        let per_s = rate_of(point).value;
        let completed: u64 = point.workloads.iter().map(|workload| workload.completed).sum();
        let components = point.breakdown.iter().flat_map(|breakdown| &breakdown.components);
        let visits: u64 = components.map(|component| component.visits).sum();
        let visits = visits as f64 / completed.max(1) as f64;
        (per_s.is_finite() && per_s > 0.0).then_some(Found { per_s, visits })
    }

    /// The window. Whole seconds where the requests allow it, since records cut windows into seconds and take intervals
    /// from them; a faster array gets a window without.
    pub fn window(self) -> Length {
        let weight = (self.visits / PARTS).max(1.0);
        let (wanted, most) = (WANTED / weight, MOST / weight);
        let seconds = match self.per_s * SECONDS_LEAST <= most {
            true => (wanted / self.per_s).clamp(SECONDS_LEAST, SECONDS_MOST).ceil(),
            false => most / self.per_s,
        };
        let run = two_digits(seconds * 1e9);
        Length::Time { warmup: two_digits(run.get() as f64 * WARMUP), run }
    }
}

/// The plan that finds the rate.
pub(super) fn pilot(depth: u32) -> Length {
    Length::Requests(PILOT.max(PILOT_ROUNDS * u64::from(depth)))
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
        match (Found { per_s, visits }).window() {
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
    fn windows_have_two_digits_so_that_their_plans_can_be_read() {
        assert_eq!(two_digits(123_456_789.0), Nanos::from_millis(120));
        assert_eq!(two_digits(60e9), Nanos::from_secs(60));
        assert_eq!(two_digits(0.0), Nanos::new(100));
    }
}
