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
