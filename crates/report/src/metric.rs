//! Which figure of a point is its headline.

use record::LATENCY_QUANTILES;

/// The figure a point is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metric {
    /// Completed requests a second.
    Iops,
    /// Throughput.
    MbPerS,
    /// Mean response.
    Mean,
    /// Longest response.
    Max,
    /// The response that this share of the requests does not exceed.
    Quantile(f64),
}

impl Metric {
    /// Reads `iops`, `mb_per_s`, `mean`, `max`, `p99`, `p99.9`; anything else is IOPS.
    pub(crate) fn of(headline: &str) -> Metric {
        let percent = || headline.strip_prefix('p')?.parse::<f64>().ok();
        match headline {
            "mb_per_s" => Metric::MbPerS,
            "mean" => Metric::Mean,
            "max" => Metric::Max,
            _ => percent().map_or(Metric::Iops, |percent| Metric::Quantile(percent / 100.0)),
        }
    }

    /// Whether this is the quantile `q`.
    pub(crate) fn is_quantile(self, q: f64) -> bool {
        matches!(self, Metric::Quantile(own) if (own - q).abs() < 1e-9)
    }
}

/// The quantiles a table shows: the usual three, and those that some point is about.
pub(crate) fn quantiles(headlines: &[Metric]) -> Vec<f64> {
    const USUAL: [f64; 3] = [0.5, 0.99, 0.999];
    let wanted = |q: &f64| USUAL.contains(q) || headlines.iter().any(|metric| metric.is_quantile(*q));
    LATENCY_QUANTILES.into_iter().filter(wanted).collect()
}

/// `p50`, `p99.9`.
pub(crate) fn quantile_name(q: f64) -> String {
    // Seven digits of a percentage are more than any summary has, and hide what binary adds.
    format!("p{}", (q * 1e9).round() / 1e7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headlines_are_read_as_plans_write_them() {
        assert_eq!(Metric::of("iops"), Metric::Iops);
        assert_eq!(Metric::of("mb_per_s"), Metric::MbPerS);
        assert!(Metric::of("p99.9").is_quantile(0.999));
        assert_eq!(Metric::of("something new"), Metric::Iops);
    }

    #[test]
    fn a_percentile_that_a_point_is_about_has_a_column() {
        assert_eq!(quantiles(&[Metric::Iops]), [0.5, 0.99, 0.999]);
        assert_eq!(quantiles(&[Metric::of("p95")]), [0.5, 0.95, 0.99, 0.999]);
        let names: Vec<String> = LATENCY_QUANTILES.into_iter().map(quantile_name).collect();
        assert_eq!(names, ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]);
    }
}
