//! When something that goes on will be done, as far as its course so far can tell.

use crate::{Interval, batch_mean};

/// What is left of a course, were it to go on as it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The part that was done at the last sample.
    pub done: f64,
    /// Parts a second over the whole course.
    pub per_s: f64,
    /// Seconds from the last sample to the end.
    pub left_s: f64,
    /// The range that holds [`Forecast::left_s`] with 95 % confidence; its upper end is infinite where the rate
    /// cannot be told from none. `None` with too few samples.
    pub left_range_s: Option<Interval<f64>>,
}

/// Equal stretches of time into which a course is divided: the spread of their rates is that of the rate.
const STRETCHES: usize = 10;

/// The forecast from samples of (seconds, part done), in order of time.
///
/// The rate is the progress over the course; its 95 % interval that of the means of up to ten equal stretches of it
/// (see [`batch_mean`]). `None` where nothing has moved, or less than two samples are at different times. A course
/// that is done has nothing left.
pub fn forecast(samples: &[(f64, f64)]) -> Option<Forecast> {
    let (first, last) = (*samples.first()?, *samples.last()?);
    let (time, moved) = (last.0 - first.0, last.1 - first.1);
    if !(time > 0.0 && moved > 0.0) {
        return None;
    }
    let (done, per_s) = (last.1, moved / time);
    let left = (1.0 - done).max(0.0);
    let stretches = STRETCHES.min(samples.len() - 1);
    let at = |number: usize| part_at(samples, first.0 + time * number as f64 / stretches as f64);
    let rates: Vec<f64> =
        (0..stretches).map(|number| (at(number + 1) - at(number)) * stretches as f64 / time).collect();
    let of_rates = batch_mean(&rates).and_then(|mean| mean.interval);
    let left_range_s = of_rates.map(|rate| Interval {
        low: left / rate.high,
        high: if left == 0.0 { 0.0 } else { left / rate.low.max(0.0) },
    });
    Some(Forecast { done, per_s, left_s: left / per_s, left_range_s })
}

/// The part done at `time`, on the straight line between the samples around it, which are in order of time; beyond them where they
/// end, and 0 of none.
pub fn part_at(samples: &[(f64, f64)], time: f64) -> f64 {
    let after = samples.partition_point(|(at, _)| *at < time);
    // The one before is before `time`, the one after is not, so that they are at different times.
    match (after.checked_sub(1).map(|before| samples[before]), samples.get(after)) {
        (Some((t0, p0)), Some((t1, p1))) => p0 + (p1 - p0) * (time - t0) / (t1 - t0),
        (None, Some((_, part))) => *part,
        (Some((_, part)), None) => part,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_course_is_done_when_its_line_says() {
        let samples: Vec<(f64, f64)> = (0..=20).map(|n| (f64::from(n) * 3.0, f64::from(n) * 0.02)).collect();
        let found = forecast(&samples).expect("it moves");
        assert!((found.left_s - 90.0).abs() < 1e-6, "{found:?}");
        let range = found.left_range_s.expect("enough samples");
        assert!((range.low - 90.0).abs() < 1e-3 && (range.high - 90.0).abs() < 1e-3, "{range:?}");
    }

    #[test]
    fn a_course_of_uneven_samples_has_the_figures_of_its_line_and_its_stretches() {
        let near = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < 1e-9, "{found} in place of {wanted}");
        };
        // Computed apart from this program.
        let samples = [
            (5.0, 0.10),
            (7.0, 0.13),
            (8.0, 0.16),
            (12.0, 0.21),
            (17.0, 0.30),
            (20.0, 0.34),
            (26.0, 0.44),
            (31.0, 0.50),
        ];
        let found = forecast(&samples).expect("it moves");
        near(found.done, 0.5);
        near(found.per_s, 0.4 / 26.0);
        near(found.left_s, 32.5);
        let range = found.left_range_s.expect("enough samples");
        near(range.low, 28.337_761_038_458);
        near(range.high, 38.095_443_433_227);
        let few = forecast(&[(0.0, 0.0), (1.0, 0.1), (4.0, 0.25), (6.0, 0.4)]).expect("it moves");
        let range = few.left_range_s.expect("enough samples");
        near(range.low, 5.852_396_355_616_4);
        near(range.high, 19.473_421_006_277_6);
    }

    #[test]
    fn between_samples_a_course_is_on_their_line_and_beyond_them_where_they_end() {
        let samples = [(1.0, 0.1), (3.0, 0.5), (3.0, 0.6)];
        let at = |time: f64| part_at(&samples, time);
        assert!((at(2.0) - 0.3).abs() < 1e-12 && (at(1.5) - 0.2).abs() < 1e-12);
        assert_eq!((at(0.0), at(1.0), at(9.0)), (0.1, 0.1, 0.6));
        assert!((at(3.0) - 0.5).abs() < 1e-12);
        assert_eq!(part_at(&[], 1.0), 0.0);
    }

    #[test]
    fn an_uneven_course_has_a_wide_range_around_its_mean() {
        let mut part = 0.0;
        let samples: Vec<(f64, f64)> = (0..=40)
            .map(|n| {
                part += if (n / 4) % 2 == 0 { 0.002 } else { 0.018 };
                (f64::from(n), part)
            })
            .collect();
        let found = forecast(&samples).expect("it moves");
        let range = found.left_range_s.expect("enough samples");
        assert!(range.low < found.left_s && found.left_s < range.high, "{found:?}");
        assert!(range.high > 1.5 * range.low, "{found:?}");
    }

    #[test]
    fn a_course_that_stands_still_has_no_forecast_and_a_finished_one_nothing_left() {
        assert_eq!(forecast(&[(0.0, 0.3), (5.0, 0.3)]), None);
        assert_eq!(forecast(&[(5.0, 0.3), (5.0, 0.4)]), None, "no time has passed");
        assert_eq!(forecast(&[(0.0, 0.3)]), None);
        assert_eq!(forecast(&[]), None);
        let done = forecast(&[(0.0, 0.0), (5.0, 0.5), (10.0, 1.0)]).expect("it moved");
        assert_eq!((done.left_s, done.left_range_s.map(|range| range.high)), (0.0, Some(0.0)));
    }

    #[test]
    fn a_rate_that_cannot_be_told_from_none_leaves_the_end_open() {
        let found = forecast(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.3)]).expect("it moved");
        assert_eq!(found.left_range_s.map(|range| range.high), Some(f64::INFINITY));
    }
}
