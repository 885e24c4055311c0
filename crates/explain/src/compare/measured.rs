//! The figures of one measurement, and how sure it is of them by itself.
//!
//! **Invariant:** a latency has an estimate only where something in the record says how slow requests cluster.

use record::names::series;
use record::{OpSummary, Point, WorkloadResult};
use stats::difference::Estimate;

use crate::evidence::{key, within};

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Metric {
    Iops,
    Throughput,
    Mean,
    Quantile(f64),
}

impl Metric {
    /// As plans write it: `iops`, `mb_per_s`, `mean`, `p99.9`.
    pub fn name(self) -> String {
        match self {
            Metric::Iops => "iops".into(),
            Metric::Throughput => "mb_per_s".into(),
            Metric::Mean => "mean".into(),
            // Seven digits of a percentage are more than any summary has, and hide what binary adds.
            Metric::Quantile(q) => format!("p{}", (q * 1e9).round() / 1e7),
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Metric::Iops => "per_s",
            Metric::Throughput => "bytes_per_s",
            Metric::Mean | Metric::Quantile(_) => "ns",
        }
    }
}

/// Quantiles that are always compared where there were requests enough.
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];
/// Two-sided 95 % of the normal distribution, by which stored intervals of quantiles were made.
const NORMAL: f64 = 1.959_964;
/// How the rates of a workload's bytes end in the names of their series.
const BYTES: &str = " bytes";
/// How the names of series of 99th percentiles end.
const P99: &str = " response p99";

/// One workload and operation of one point.
pub(super) struct Measured<'a> {
    pub point: &'a Point,
    pub workload: &'a WorkloadResult,
    pub summary: &'a OpSummary,
}

impl Measured<'_> {
    /// The figures it has.
    pub fn metrics(&self) -> Vec<Metric> {
        let headline = self.point.headline.strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
        let headline = headline.map(|percent| percent / 100.0);
        let extra = headline.filter(|q| QUANTILES.iter().all(|usual| (usual - q).abs() > 1e-9));
        let quantiles = QUANTILES.into_iter().chain(extra).map(Metric::Quantile);
        let all = [Metric::Iops, Metric::Throughput, Metric::Mean].into_iter().chain(quantiles);
        all.filter(|metric| self.value(*metric).is_some()).collect()
    }

    /// The figure, where it is above zero.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let response = self.summary.response.as_ref();
        let value = match metric {
            Metric::Iops => self.summary.ops_per_s.value,
            Metric::Throughput => self.summary.bytes_per_s.value,
            Metric::Mean => response?.mean_ns,
            Metric::Quantile(q) => response?.quantile(q)?.value_ns as f64,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// The figure with what its own seconds say of it.
    pub fn estimate(&self, metric: Metric) -> Option<Estimate> {
        let value = self.value(metric)?;
        let rate = Estimate::of_stretches(self.summary.ops_per_s.value, &self.each_second(series::OPS));
        match metric {
            Metric::Iops => rate,
            Metric::Throughput => Estimate::of_stretches(value, &self.each_second(BYTES))
                .or_else(|| Estimate::new(value, rate?.variance, rate?.freedom)),
            Metric::Mean | Metric::Quantile(_) => {
                let (factor, freedom) = self.clustering(rate)?;
                Estimate::new(value, self.independent(metric)? * factor, freedom)
            }
        }
    }

    /// The variance that the logarithm of a latency would have if requests were independent.
    fn independent(&self, metric: Metric) -> Option<f64> {
        let response = self.summary.response.as_ref()?;
        match metric {
            Metric::Quantile(q) => {
                let figure = response.quantile(q)?;
                let (low, high) = (figure.low_ns?.max(1) as f64, figure.high_ns?.max(1) as f64);
                Some(((high / low).ln() / (2.0 * NORMAL)).powi(2))
            }
            _ => Some((response.std_dev_ns / response.mean_ns).powi(2) / response.count.max(1) as f64),
        }
    }

    /// By how much more latencies vary than independent ones would, at least 1, and the degrees of freedom behind it.
    ///
    /// The seconds' own 99th percentiles show it; in a closed loop the rate does as well, which is there the number
    /// in flight over the mean response. The larger counts. `None` where there is neither.
    fn clustering(&self, rate: Option<Estimate>) -> Option<(f64, f64)> {
        let over = |found: Option<Estimate>, metric: Metric| {
            let (found, independent) = (found?, self.independent(metric)?);
            (independent > 0.0).then(|| (found.variance / independent, found.freedom))
        };
        let is_closed = key(self.workload, "pace").is_some_and(|pace| pace == "closed");
        let of_rate = over(rate.filter(|_| is_closed), Metric::Mean);
        let tails = self.seconds_of(P99).into_iter().map(|series| {
            let value = series.iter().sum::<f64>() / series.len().max(1) as f64;
            over(Estimate::of_stretches(value, &series), Metric::Quantile(0.99))
        });
        let all = tails.chain([of_rate]).flatten();
        all.reduce(|most, one| if one.0 > most.0 { one } else { most })
            .map(|(factor, freedom)| (factor.max(1.0), freedom))
    }

    /// The values of each of the workload's series with that ending, within the measured window.
    fn seconds_of(&self, ending: &str) -> Vec<Vec<f64>> {
        let until = self.workload.measured_from_ns.saturating_add(self.workload.measured_ns);
        let chosen = self.point.series.iter().filter(|series| self.is_ours(series, ending));
        chosen.map(|series| within(series, self.workload.measured_from_ns, until)).collect()
    }

    /// The sum of those series in each whole second of the window.
    fn each_second(&self, ending: &str) -> Vec<f64> {
        let ours = self.point.series.iter().filter(|series| self.is_ours(series, ending));
        self.workload.whole_seconds(ours, ending)
    }

    fn is_ours(&self, series: &record::Series, ending: &str) -> bool {
        let own = series.workload.as_deref() == Some(self.workload.name.as_str());
        let op = series.name.strip_suffix(ending);
        own && op.is_some_and(|op| self.summary.op == "all" || op == self.summary.op)
    }
}
