//! The figures that a point may be about, by the names that plans and comparisons give them.

/// A figure of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Completed requests a second.
    Iops,
    /// Throughput.
    Throughput,
    /// Mean latency.
    Mean,
    /// Longest latency.
    Max,
    /// The latency that this share of the requests does not exceed.
    Quantile(f64),
}

impl Metric {
    /// Reads a point's headline: `iops`, `mb_per_s`, `mean`, `max`, `p99`, `p99.9`; anything else is IOPS.
    pub fn of(headline: &str) -> Metric {
        let percent = || headline.strip_prefix('p')?.parse::<f64>().ok();
        match headline {
            "mb_per_s" => Metric::Throughput,
            "mean" => Metric::Mean,
            "max" => Metric::Max,
            _ => percent().map_or(Metric::Iops, |percent| Metric::Quantile(percent / 100.0)),
        }
    }

    /// As plans write it: `iops`, `mb_per_s`, `mean`, `p99.9`.
    pub fn name(self) -> String {
        match self {
            Metric::Iops => "iops".into(),
            Metric::Throughput => "mb_per_s".into(),
            Metric::Mean => "mean".into(),
            Metric::Max => "max".into(),
            Metric::Quantile(q) => quantile_name(q),
        }
    }

    /// The base unit of its values: `per_s`, `bytes_per_s` or `ns`.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Iops => "per_s",
            Metric::Throughput => "bytes_per_s",
            Metric::Mean | Metric::Max | Metric::Quantile(_) => "ns",
        }
    }

    /// Whether this is the quantile `q`.
    pub fn is_quantile(self, q: f64) -> bool {
        matches!(self, Metric::Quantile(own) if (own - q).abs() < 1e-9)
    }

    /// The item with the best figure, and its value: the rate whose interval has the highest lower end, or the time whose
    /// interval has the lowest upper end, of equals the first; the highest of many figures is more often than not the
    /// least certain one. `None` where `figure` knows of none that is a number.
    ///
    /// Where some have an interval, one without is taken for as uncertain as those are in the middle; where none has one,
    /// values decide. Whatever says "the highest" asks here, so that one page never has two of them.
    pub fn best<T>(
        self,
        items: impl IntoIterator<Item = T>,
        figure: impl Fn(&T) -> Option<Estimate>,
    ) -> Option<(T, f64)> {
        let (mut known, ends) = self.known(items, figure);
        let best = self.best_end(&ends)?;
        let (item, estimate) = known.swap_remove(best);
        Some((item, estimate.value))
    }

    /// Where a curve becomes flat: the first item, in the order given, which the [best](Metric::best) is not better than by more
    /// than the 95 % interval of their difference, and whose worse end is no more than 5 % behind; and its value. `None`
    /// where there is no best.
    pub fn flat_from<T>(
        self,
        items: impl IntoIterator<Item = T>,
        figure: impl Fn(&T) -> Option<Estimate>,
    ) -> Option<(T, f64)> {
        let (known, ends) = self.known(items, figure);
        let at = self.best_end(&ends)?;
        let (best, end) = (known[at].1, ends[at]);
        let is_as_good = |(one, own): (&(T, Estimate), &f64)| {
            (best.value - one.1.value).abs() <= one.1.half().hypot(best.half())
                && (own - end).abs() <= AS_GOOD * end.abs()
        };
        let first = known.iter().zip(&ends).position(is_as_good)?;
        known.into_iter().nth(first).map(|(item, estimate)| (item, estimate.value))
    }

    /// The items whose figure is known, with the worse end of each.
    fn known<T>(
        self,
        items: impl IntoIterator<Item = T>,
        figure: impl Fn(&T) -> Option<Estimate>,
    ) -> (Vec<(T, Estimate)>, Vec<f64>) {
        let known = items.into_iter().filter_map(|item| {
            let estimate = figure(&item).filter(|estimate| estimate.value.is_finite())?;
            Some((item, estimate))
        });
        let known: Vec<(T, Estimate)> = known.collect();
        let unknown = typical_reach(self, known.iter().map(|(_, estimate)| *estimate));
        let ends = known.iter().map(|(_, estimate)| estimate.end(self, unknown)).collect();
        (known, ends)
    }

    /// The place of the first of the best.
    fn best_end(self, ends: &[f64]) -> Option<usize> {
        let is_ahead = |one: f64, other: f64| if self.more_is_better() { one > other } else { one < other };
        (0..ends.len()).reduce(|best, next| if is_ahead(ends[next], ends[best]) { next } else { best })
    }

    /// Whether more of it is better: rates, not times.
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Iops | Metric::Throughput)
    }
}

/// What a figure is worse than the best by, at most, for certain, and still as good.
const AS_GOOD: f64 = 0.05;

/// A figure with what is known of its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure, in the base unit of its metric.
    pub value: f64,
    /// The ends of its 95 % interval; absent where it has none.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A value without an interval.
    pub fn of(value: f64) -> Estimate {
        Estimate { value, interval: None }
    }

    /// Half the width of its interval; 0 without one.
    fn half(self) -> f64 {
        self.interval.map_or(0.0, |(low, high)| (high - low) / 2.0)
    }

    /// How far the worse end of its interval lies from the value, as a part of the value; `None` without an interval.
    fn reach(self, metric: Metric) -> Option<f64> {
        let (low, high) = self.interval?;
        let worse = if metric.more_is_better() { low } else { high };
        Some(((worse - self.value) / self.value).abs()).filter(|reach| reach.is_finite())
    }

    /// The worse end of its interval, which lies `unknown`, a part of the value, away where it has none.
    fn end(self, metric: Metric, unknown: f64) -> f64 {
        let reach = self.reach(metric).unwrap_or(unknown);
        if metric.more_is_better() { self.value * (1.0 - reach) } else { self.value * (1.0 + reach) }
    }
}

/// The reach in the middle of those that have one; nothing where none has.
fn typical_reach(metric: Metric, estimates: impl Iterator<Item = Estimate>) -> f64 {
    let mut each: Vec<f64> = estimates.filter_map(|estimate| estimate.reach(metric)).collect();
    each.sort_by(f64::total_cmp);
    each.get(each.len() / 2).copied().unwrap_or(0.0)
}

/// `p50`, `p99.9`. Seven digits of a percentage are more than any summary has, and hide what binary adds.
pub fn quantile_name(q: f64) -> String {
    format!("p{}", (q * 1e9).round() / 1e7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_highest_rate_or_the_shortest_time_and_of_equals_the_first() {
        let of = |metric: Metric, values: [f64; 4]| {
            metric
                .best(values.into_iter().enumerate(), |(_, value)| Some(Estimate::of(*value)))
                .map(|((at, _), value)| (at, value))
        };
        assert_eq!(of(Metric::Iops, [2.0, f64::NAN, 3.0, 3.0]), Some((2, 3.0)));
        assert_eq!(of(Metric::Mean, [2.0, f64::NAN, 3.0, 2.0]), Some((0, 2.0)));
        assert_eq!(Metric::Iops.best([1, 2], |_| None), None);
    }

    #[test]
    fn the_best_is_the_one_whose_interval_has_the_better_end_and_not_the_least_certain() {
        let of = |metric: Metric, all: &[(f64, Option<(f64, f64)>)]| {
            let estimates =
                all.iter().map(|(value, interval)| Estimate { value: *value, interval: *interval });
            metric.best(estimates.enumerate(), |(_, one)| Some(*one)).map(|((at, _), value)| (at, value))
        };
        let rates = [(6_750.0, Some((2_310.0, 11_190.0))), (3_295.0, Some((3_258.0, 3_332.0)))];
        assert_eq!(of(Metric::Iops, &rates), Some((1, 3_295.0)));
        let times = [(2.0, Some((0.5, 9.0))), (3.0, Some((2.9, 3.1)))];
        assert_eq!(of(Metric::Mean, &times), Some((1, 3.0)));
        // Without an interval nothing is certain of it; with none anywhere the value decides.
        assert_eq!(of(Metric::Iops, &[(100.0, Some((80.0, 120.0))), (99.0, None)]), Some((0, 100.0)));
        assert_eq!(of(Metric::Iops, &[(100.0, Some((80.0, 120.0))), (900.0, None)]), Some((1, 900.0)));
        assert_eq!(of(Metric::Iops, &[(100.0, None), (900.0, None)]), Some((1, 900.0)));
    }

    #[test]
    fn a_curve_is_flat_from_the_first_that_is_as_good_as_the_best() {
        let rate = |value: f64, half: f64| Estimate { value, interval: Some((value - half, value + half)) };
        let at = |all: &[Estimate]| {
            Metric::Iops
                .flat_from(all.iter().copied().enumerate(), |(_, one)| Some(*one))
                .map(|((at, _), _)| at)
        };
        // The second reaches as much for certain, a little less than the third, and is not told apart from it.
        assert_eq!(at(&[rate(1_940.0, 30.0), rate(3_596.0, 27.0), rate(3_591.0, 15.0)]), Some(1));
        assert_eq!(at(&[rate(1_940.0, 30.0), rate(3_500.0, 27.0), rate(3_591.0, 15.0)]), Some(2));
        // What is not steady reaches little for certain, however wide its interval is.
        assert_eq!(at(&[rate(3_354.0, 1_270.0), rate(2_970.0, 25.0), rate(2_981.0, 20.0)]), Some(1));
    }

    #[test]
    fn headlines_are_read_as_plans_write_them() {
        assert_eq!(Metric::of("iops"), Metric::Iops);
        assert_eq!(Metric::of("mb_per_s"), Metric::Throughput);
        assert!(Metric::of("p99.9").is_quantile(0.999));
        assert_eq!(Metric::of("something new"), Metric::Iops);
        for name in ["iops", "mb_per_s", "mean", "max", "p50", "p99.9", "p99.99"] {
            assert_eq!(Metric::of(name).name(), name);
        }
    }
}
