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

    /// The item with the best figure, and that figure: the highest rate or the shortest time, of equals the first. `None`
    /// where `figure` knows of none that is a number.
    ///
    /// Whatever says "the highest" asks here, so that one page never has two of them.
    pub fn best<T>(
        self,
        items: impl IntoIterator<Item = T>,
        figure: impl Fn(&T) -> Option<f64>,
    ) -> Option<(T, f64)> {
        let known = items.into_iter().filter_map(|item| {
            let value = figure(&item).filter(|value| value.is_finite())?;
            Some((item, value))
        });
        known.reduce(|best, next| {
            let is_ahead = if self.more_is_better() { next.1 > best.1 } else { next.1 < best.1 };
            if is_ahead { next } else { best }
        })
    }

    /// Whether more of it is better: rates, not times.
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Iops | Metric::Throughput)
    }
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
                .best(values.into_iter().enumerate(), |(_, value)| Some(*value))
                .map(|((at, _), value)| (at, value))
        };
        assert_eq!(of(Metric::Iops, [2.0, f64::NAN, 3.0, 3.0]), Some((2, 3.0)));
        assert_eq!(of(Metric::Mean, [2.0, f64::NAN, 3.0, 2.0]), Some((0, 2.0)));
        assert_eq!(Metric::Iops.best([1, 2], |_| None), None);
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
