//! Whether a series rises or falls, whatever the shape of its deviations.
//!
//! Stricter than the rule of [`steady`](crate::steady): that one accepts a slow drift for ever, this one finds it when
//! there are values enough.
//!
//! **Invariant:** values are taken at equal distances and for independent of each other; where neighbours resemble each
//! other, whoever asks puts them together to batches first.

use statrs::distribution::{ContinuousCDF, Normal};
use units::convert::{narrow, truncated};

use crate::{Interval, median};

/// What a series does over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Pairs of which the later is higher, less those of which it is lower.
    pub rises: i64,
    /// The probability of so clear an order, either way, where there is no trend.
    pub p_value: f64,
    /// By how much the value rises from one to the next: the median over all pairs.
    pub slope: f64,
    /// The range that holds the true slope with 95 % confidence; `None` with too few values.
    pub interval: Option<Interval<f64>>,
    /// The median of the values.
    pub median: f64,
}

/// Fewer values cannot show a trend at 5 %.
pub const VALUES_LEAST: usize = 5;

/// The probability below which a trend is one.
pub const LEVEL: f64 = 0.05;

impl Trend {
    /// The trend of `values`; `None` with fewer than five, or where one is not a number.
    ///
    /// The test is exact for up to ten values without ties, otherwise in its normal approximation.
    /// Source: Mann, Econometrica 13 (1945); Kendall, *Rank Correlation Methods*; the slope: Theil (1950) and Sen,
    /// Journal of the American Statistical Association 63 (1968).
    pub fn of(values: &[f64]) -> Option<Trend> {
        if values.len() < VALUES_LEAST || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (mut rises, mut slopes) = (0, Vec::new());
        for (first, early) in values.iter().enumerate() {
            for (distance, late) in values[first + 1..].iter().enumerate() {
                rises += i64::from(late > early) - i64::from(late < early);
                slopes.push((late - early) / (distance + 1) as f64);
            }
        }
        slopes.sort_by(f64::total_cmp);
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let variance = variance(&sorted);
        let has_ties = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        let p_value = match values.len() <= EXACT_MOST && !has_ties {
            true => exact(values.len(), rises),
            false => normal(rises, variance),
        };
        Some(Trend {
            rises,
            p_value,
            slope: median(&slopes)?,
            interval: slope_interval(&slopes, variance),
            median: median(&sorted)?,
        })
    }

    /// Whether the series rises or falls beyond chance.
    pub fn is_there(&self) -> bool {
        self.p_value < LEVEL
    }
}

/// More values than these are counted by the normal approximation.
const EXACT_MOST: usize = 10;

/// The variance of the count of rises among values in order, less for ties.
fn variance(sorted: &[f64]) -> f64 {
    let part = |n: usize| (n * (n - 1) * (2 * n + 5)) as f64;
    let ties: f64 = sorted.chunk_by(|one, other| one == other).map(|tie| part(tie.len())).sum();
    (part(sorted.len()) - ties) / 18.0
}

/// Two-sided, with the correction for a count that moves in steps.
fn normal(rises: i64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (rises.unsigned_abs().saturating_sub(1)) as f64 / variance.sqrt();
    (2.0 * Normal::standard().cdf(-z)).min(1.0)
}

/// Two-sided, by counting the orders of `n` values by their inversions.
fn exact(n: usize, rises: i64) -> f64 {
    // Each further value can stand before none to all of those so far.
    let mut orders = vec![1.0f64];
    for more in 2..=n {
        let most = orders.len() - 1;
        let with_one_more = |inversions: usize| {
            let before = (inversions + 1).saturating_sub(more)..=inversions.min(most);
            orders[before].iter().sum()
        };
        orders = (0..orders.len() + more - 1).map(with_one_more).collect();
    }
    let pairs = narrow::<i64>(n * (n - 1) / 2);
    debug_assert_eq!(narrow::<i64>(orders.len()), pairs + 1, "none to all pairs may be the wrong way round");
    let all: f64 = orders.iter().sum();
    let as_far = orders
        .iter()
        .enumerate()
        .filter(|(inversions, _)| pairs - 2 * narrow::<i64>(*inversions) >= rises.abs());
    (2.0 * as_far.map(|(_, count)| count).sum::<f64>() / all).min(1.0)
}

/// Order statistics of the slopes. Source: Gilbert, *Statistical Methods for Environmental Pollution Monitoring*,
/// section 16.5.
fn slope_interval(sorted: &[f64], variance: f64) -> Option<Interval<f64>> {
    let half = 1.959_964 * variance.sqrt();
    let pairs = sorted.len() as f64;
    // As many are left out at either end.
    let low = ((pairs - half) / 2.0).floor();
    (low >= 1.0).then(|| Interval {
        low: sorted[truncated::<usize>(low) - 1],
        high: sorted[truncated::<usize>(pairs - low)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_in_order_are_one_of_the_two_clearest_orders_of_120() {
        let trend = Trend::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((trend.rises, trend.slope, trend.median), (10, 1.0, 3.0));
        assert!((trend.p_value - 2.0 / 120.0).abs() < 1e-12, "{trend:?}");
        assert!(trend.is_there());
        let falling = Trend::of(&[5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
        assert_eq!((falling.rises, falling.p_value), (-10, trend.p_value));
    }

    #[test]
    fn one_pair_out_of_order_is_five_orders_either_way() {
        // One with no inversion, four with one.
        let trend = Trend::of(&[1.0, 2.0, 3.0, 5.0, 4.0]).unwrap();
        assert!((trend.p_value - 10.0 / 120.0).abs() < 1e-12, "{trend:?}");
        assert!(!trend.is_there());
    }

    #[test]
    fn a_slow_drift_that_the_common_rule_calls_steady_is_found() {
        let rounds: Vec<f64> = (0..12).map(|round| 100.0 + f64::from(round)).collect();
        assert!(crate::steady::Steady::of(&rounds).unwrap().reached());
        let trend = Trend::of(&rounds).unwrap();
        // 66 rises; variance 12 x 11 x 29 / 18, z = 65 / 14.583.
        assert_eq!(trend.rises, 66);
        assert!((trend.p_value - 8.3e-6).abs() < 2e-7, "{trend:?}");
        let interval = trend.interval.unwrap();
        assert_eq!((interval.low, trend.slope, interval.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn series_with_and_without_ties_have_the_figures_of_the_sources() {
        // Value, rises, variance, probability, slope, median, range of the slope; computed apart from this program.
        type Case = (&'static [f64], i64, f64, f64, f64, f64, (f64, f64));
        const CASES: [Case; 4] = [
            (
                &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0],
                55,
                399.0,
                0.006_863_794_985_449,
                4.0 / 9.0,
                5.0,
                (1.0 / 6.0, 8.0 / 11.0),
            ),
            // Of the 720 orders of six values 196 are as clear, of the 5,040 of seven 152.
            (&[2.0, 7.0, 1.0, 8.0, 2.5, 8.5], 7, 28.333_333_333_333, 196.0 / 720.0, 0.5, 4.75, (-5.5, 6.0)),
            (
                &[10.0, 12.0, 11.0, 15.0, 13.0, 18.0, 17.0],
                15,
                44.333_333_333_333,
                152.0 / 5_040.0,
                1.5,
                13.0,
                (-1.0, 7.0 / 3.0),
            ),
            (
                &[1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 8.0, 7.0, 10.0, 9.0, 12.0],
                49,
                165.0,
                0.000_186_380_805_763,
                1.0,
                6.0,
                (0.8, 1.25),
            ),
        ];
        for (values, rises, spread, p_value, slope, middle, (low, high)) in CASES {
            let found = Trend::of(values).unwrap();
            let near = |found: f64, wanted: f64| {
                assert!((found - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{found}, not {wanted}");
            };
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            near(variance(&sorted), spread);
            assert_eq!(found.rises, rises);
            near(found.p_value, p_value);
            near(found.slope, slope);
            near(found.median, middle);
            let range = found.interval.expect("they are enough");
            near(range.low, low);
            near(range.high, high);
        }
    }

    #[test]
    fn too_few_slopes_have_no_range() {
        // Of ten slopes not one may be left out at either end; of fifteen one.
        assert_eq!(Trend::of(&[1.0, 3.0, 2.0, 5.0, 4.0]).unwrap().interval, None);
        assert!(Trend::of(&[1.0, 3.0, 2.0, 5.0, 4.0, 6.0]).unwrap().interval.is_some());
    }

    #[test]
    fn one_outlier_hardly_moves_the_slope() {
        let mut values: Vec<f64> = (0..20).map(f64::from).collect();
        values[10] = 1e6;
        let trend = Trend::of(&values).unwrap();
        assert!((trend.slope - 1.0).abs() < 0.01, "{trend:?}");
    }

    #[test]
    fn equal_values_have_no_trend() {
        let trend = Trend::of(&[7.0; 8]).unwrap();
        assert_eq!((trend.rises, trend.p_value, trend.slope), (0, 1.0, 0.0));
    }

    #[test]
    fn ties_lessen_the_variance() {
        // 6 values, two ties of three: (6 x 5 x 17 - 2 x 3 x 2 x 11) / 18.
        assert!((variance(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]) - 21.0).abs() < 1e-12);
        assert_eq!(Trend::of(&[1.0; 4]), None);
        assert_eq!(Trend::of(&[1.0, 2.0, f64::NAN, 3.0, 4.0]), None);
    }

    #[test]
    fn a_trend_is_there_below_its_level_and_not_at_it() {
        let at = |p_value: f64| Trend { p_value, ..Trend::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap() };
        assert!(at(0.999 * LEVEL).is_there() && !at(LEVEL).is_there());
    }
}
