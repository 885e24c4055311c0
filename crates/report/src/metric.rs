//! Which quantiles a table shows.

use record::{LATENCY_QUANTILES, Metric};

/// The usual three, and those that some point is about.
pub(crate) fn quantiles(headlines: &[Metric]) -> Vec<f64> {
    const USUAL: [f64; 3] = [0.5, 0.99, 0.999];
    let wanted = |q: &f64| USUAL.contains(q) || headlines.iter().any(|metric| metric.is_quantile(*q));
    LATENCY_QUANTILES.into_iter().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::quantile_name;

    #[test]
    fn a_percentile_that_a_point_is_about_has_a_column() {
        assert_eq!(quantiles(&[Metric::Iops]), [0.5, 0.99, 0.999]);
        assert_eq!(quantiles(&[Metric::of("p95")]), [0.5, 0.95, 0.99, 0.999]);
        let names: Vec<String> = LATENCY_QUANTILES.into_iter().map(quantile_name).collect();
        assert_eq!(names, ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]);
    }
}
