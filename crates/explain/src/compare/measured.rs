//! The figures of one measurement, and how sure it is of them by itself.
//!
//! **Invariant:** a latency has an estimate only where the record has an interval of it that holds for requests that
//! depend on each other.

use record::names::series;
use record::{Metric, Op, OpSummary, Ops, Point, RUN_TO_RUN, WorkloadResult};
use stats::difference::{BATCHES_LEAST, Estimate};

/// Quantiles that are always compared where there were requests enough.
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];
/// How sure [`RUN_TO_RUN`] is: as sure as the deviation of some ten measurements.
const RUN_TO_RUN_FREEDOM: f64 = 10.0;
/// How the rates of a workload's bytes end in the names of their series.
const BYTES: &str = " bytes";

/// One workload and operation of one point.
pub(super) struct Measured<'a> {
    pub point: &'a Point,
    pub workload: &'a WorkloadResult,
    pub summary: &'a OpSummary,
    /// Whether it was measured on real storage.
    pub is_real: bool,
}

/// By this part the requests in flight may differ from the depth that was asked for: what a worker takes between two requests.
const FULL_WITHIN: f64 = 0.05;

impl Measured<'_> {
    /// The figures it has.
    pub fn metrics(&self) -> Vec<Metric> {
        let headline = Some(Metric::of(&self.point.headline));
        let extra = headline.filter(|one| {
            matches!(one, Metric::Quantile(_)) && !QUANTILES.iter().any(|usual| one.is_quantile(*usual))
        });
        let quantiles = QUANTILES.into_iter().map(Metric::Quantile).chain(extra);
        let all = [Metric::Iops, Metric::Throughput, Metric::Mean].into_iter().chain(quantiles);
        all.filter(|metric| self.value(*metric).is_some()).collect()
    }

    /// The figure, where it is above zero.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.summary.figure(metric)
    }

    /// The figure of a single measurement: with what its own seconds say of it, and on real storage with what
    /// measurements are known to differ by besides.
    pub fn alone(&self, metric: Metric) -> Option<Estimate> {
        Some(self.besides(self.within(metric)?))
    }

    /// A rate with the interval that the record has of it: also of a window that is too short for [`Measured::within`].
    pub fn recorded(&self, metric: Metric) -> Option<Estimate> {
        Some(self.besides(self.stored(metric)?))
    }

    /// The same without what measurements differ by besides.
    fn stored(&self, metric: Metric) -> Option<Estimate> {
        let figure = match metric {
            Metric::Iops => &self.summary.ops_per_s,
            Metric::Throughput => &self.summary.bytes_per_s,
            Metric::Mean | Metric::Max | Metric::Quantile(_) => return None,
        };
        let (low, high) = figure.low.zip(figure.high).filter(|(low, _)| *low > 0.0)?;
        Estimate::of_half_width(figure.value, (high / low).ln() / 2.0, self.freedom()?)
    }

    fn besides(&self, within: Estimate) -> Estimate {
        if self.is_real { within.and(RUN_TO_RUN.powi(2), RUN_TO_RUN_FREEDOM) } else { within }
    }

    fn freedom(&self) -> Option<f64> {
        stats::dependent::freedom((self.workload.measured_ns / 1_000_000_000) as usize)
    }

    /// The figure with the variation between its own seconds. Of a virtual array by the interval that the record has, which is what
    /// is shown of it; of a rate without one by its seconds. On real storage, where what disturbs a second may last into the
    /// next, a rate has the widest interval that its seconds allow.
    pub fn within(&self, metric: Metric) -> Option<Estimate> {
        let value = self.value(metric)?;
        let rate = || Estimate::of_stretches(self.summary.ops_per_s.value, &self.each_second(series::OPS));
        let of_seconds = || match metric {
            Metric::Throughput => Estimate::of_stretches(value, &self.each_second(BYTES)).or_else(|| {
                let rate = rate()?;
                Estimate::new(value, rate.variance, rate.freedom)
            }),
            _ => rate(),
        };
        match metric {
            Metric::Iops | Metric::Throughput => {
                let is_told = !self.is_real && self.each_second(series::OPS).len() >= BATCHES_LEAST;
                self.stored(metric).filter(|_| is_told).or_else(of_seconds)
            }
            Metric::Mean if self.interval(metric).is_none() && self.is_full() => {
                let rate = self.within(Metric::Iops)?;
                Estimate::new(value, rate.variance, rate.freedom)
            }
            Metric::Mean | Metric::Max | Metric::Quantile(_) => {
                let (low, high) = self.interval(metric)?;
                // A few groups of requests give fewer degrees of freedom for a tail than all seconds do.
                Estimate::of_half_width(value, (high / low).ln() / 2.0, self.freedom()?)
            }
        }
    }

    /// Whether the same number of requests was in flight all the time, so that the mean response time is that number over the
    /// rate (Little, *A proof for the queuing formula L = λW*, Operations Research 9, 1961), and moves as it does.
    fn is_full(&self) -> bool {
        let of_all = self.summary.op == Ops::All || self.workload.summary.len() == 1;
        let depth = f64::from(self.workload.spec.depth) * f64::from(self.workload.spec.workers);
        let near = |in_flight: f64| (in_flight / depth - 1.0).abs() < FULL_WITHIN;
        let by_figures = self.value(Metric::Iops).zip(self.value(Metric::Mean));
        of_all
            && self.workload.spec.pace == spec::Pace::Closed
            && by_figures.is_some_and(|(rate, mean_ns)| near(rate * mean_ns / 1e9))
    }

    /// The stored interval of a latency; `None` where there is none, or one for independent requests.
    fn interval(&self, metric: Metric) -> Option<(f64, f64)> {
        let response = self.summary.response.as_ref().filter(|response| response.holds_for_dependent())?;
        let (low, high) = match metric {
            Metric::Quantile(q) => {
                let figure = response.quantile(q)?;
                (figure.low_ns?.max(1) as f64, figure.high_ns?.max(1) as f64)
            }
            Metric::Mean => (response.mean_low_ns?, response.mean_high_ns?),
            // The longest of all has no interval.
            Metric::Iops | Metric::Throughput | Metric::Max => return None,
        };
        (low > 0.0 && high >= low).then_some((low, high))
    }

    /// A rate in each whole second of the window; nothing of any other figure.
    pub fn seconds(&self, metric: Metric) -> Vec<f64> {
        match metric {
            Metric::Iops => self.each_second(series::OPS),
            Metric::Throughput => self.each_second(BYTES),
            Metric::Mean | Metric::Max | Metric::Quantile(_) => Vec::new(),
        }
    }

    /// The sum of those series in each whole second of the window.
    fn each_second(&self, ending: &str) -> Vec<f64> {
        let ours = self.point.series.iter().filter(|series| self.is_ours(series, ending));
        self.workload.whole_seconds(ours, ending)
    }

    fn is_ours(&self, series: &record::Series, ending: &str) -> bool {
        let own = series.workload.as_deref() == Some(self.workload.name.as_str());
        let op = series.name.strip_suffix(ending);
        let is_counted = |op: &str| match self.summary.op {
            Ops::All => op != Op::Flush.name(),
            Ops::One(own) => op == own.name(),
        };
        own && op.is_some_and(is_counted)
    }
}

#[cfg(test)]
mod tests {
    use record::Op;
    use record::sample::{self, Stream};

    use super::*;

    #[test]
    fn each_figure_has_its_name_and_unit() {
        let names = [
            Metric::Iops,
            Metric::Throughput,
            Metric::Mean,
            Metric::Quantile(0.5),
            Metric::Quantile(0.99),
            Metric::Quantile(0.999),
            Metric::Quantile(0.9999999),
        ]
        .map(|metric| (metric.name(), metric.unit()));
        let wanted = [
            ("iops", "per_s"),
            ("mb_per_s", "bytes_per_s"),
            ("mean", "ns"),
            ("p50", "ns"),
            ("p99", "ns"),
            ("p99.9", "ns"),
            ("p99.99999", "ns"),
        ];
        assert_eq!(names, wanted.map(|(name, unit)| (name.to_owned(), unit)));
    }

    fn point(headline: &str) -> Point {
        let stream = |op, per_s| Stream { op, size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.5 };
        let workloads = vec![
            sample::workload("a", &[stream("read", 3_000), stream("write", 1_000)]),
            sample::workload("b", &[stream("read", 500)]),
        ];
        Point { headline: headline.into(), ..sample::point(0, "p", workloads) }
    }

    fn measured(point: &Point, summary: usize, is_real: bool) -> Measured<'_> {
        let workload = &point.workloads[0];
        Measured { point, workload, summary: &workload.summary[summary], is_real }
    }

    #[test]
    fn the_percentile_of_the_headline_is_compared_besides_the_usual_ones() {
        let names = |headline: &str| -> Vec<String> {
            let point = point(headline);
            measured(&point, 0, true).metrics().into_iter().map(Metric::name).collect()
        };
        let usual = ["iops", "mb_per_s", "mean", "p50", "p99", "p99.9"];
        assert_eq!(names("iops"), usual);
        assert_eq!(names("p99"), usual);
        assert_eq!(names("p90"), [&usual[..], &["p90"]].concat());
    }

    #[test]
    fn the_seconds_of_an_operation_are_its_own_and_of_all_the_sums() {
        let point = point("iops");
        let all = measured(&point, 0, true);
        assert_eq!(all.summary.op, Ops::All);
        let mean = |of: &Measured<'_>| {
            let rates = of.each_second(series::OPS);
            assert_eq!(rates.len(), 30);
            rates.iter().sum::<f64>() / 30.0
        };
        let by_op = |op: Op| {
            let at = point.workloads[0].summary.iter().position(|summary| summary.op == op);
            mean(&measured(&point, at.unwrap_or(0), true))
        };
        assert!((mean(&all) - 4_000.0).abs() < 1.0, "{}", mean(&all));
        assert!((by_op(Op::Read) - 3_000.0).abs() < 1.0 && (by_op(Op::Write) - 1_000.0).abs() < 1.0);
    }

    #[test]
    fn on_real_storage_a_single_measurement_deviates_by_what_measurements_are_known_to() {
        let point = point("iops");
        let (real, model) = (measured(&point, 0, true), measured(&point, 0, false));
        let variance = |found: Option<Estimate>| found.map_or(f64::NAN, |found| found.variance);
        let [own, of_model] = [&real, &model].map(|one| variance(one.within(Metric::Iops)));
        assert_eq!(variance(model.alone(Metric::Iops)), of_model);
        assert!((variance(real.alone(Metric::Iops)) - own - 0.0009).abs() < 1e-12);
        let throughput = real.within(Metric::Throughput).map(|found| (found.value, found.variance));
        assert_eq!(throughput, Some((4_000.0 * 4096.0, own)), "as the rate, whose sizes are all alike");
    }

    #[test]
    fn a_rate_is_compared_with_the_interval_that_is_shown_of_it() {
        let mut point = point("iops");
        let rate = point.workloads[0].summary[0].ops_per_s.value;
        let figure = &mut point.workloads[0].summary[0].ops_per_s;
        (figure.low, figure.high) = (Some(rate * 0.902), Some(rate * 1.098));
        let within = |point: &Point| measured(point, 0, false).within(Metric::Iops).expect("it has one");
        let range = within(&point).interval();
        assert!((range.high / range.low - 1.098 / 0.902).abs() < 1e-9, "{range:?}");
        // Seconds that resemble those before change nothing of it; they tell where the record has none.
        let held = |at: usize| if (at / 10).is_multiple_of(2) { 900.0 } else { 1_100.0 };
        for series in &mut point.series {
            series.values.iter_mut().enumerate().for_each(|(at, value)| *value = held(at));
        }
        assert_eq!(within(&point).interval(), range);
        let figure = &mut point.workloads[0].summary[0].ops_per_s;
        (figure.low, figure.high) = (None, None);
        let of_seconds = within(&point).interval();
        assert!(of_seconds.high / of_seconds.low > 1.3, "{of_seconds:?}");
    }

    #[test]
    fn the_mean_of_a_full_queue_without_an_interval_moves_as_the_rate() {
        let mut point = point("iops");
        let workload = &mut point.workloads[0];
        (workload.spec.depth, workload.spec.workers) = (4, 1);
        let summary = &mut workload.summary[0];
        let response = summary.response.as_mut().expect("it has times");
        response.mean_ns = 4.02e9 / summary.ops_per_s.value;
        (response.mean_low_ns, response.mean_high_ns) = (None, None);
        response.no_interval = Some("mean: few groups".into());
        let of = |point: &Point, metric| measured(point, 0, true).within(metric);
        let (rate, mean) = (of(&point, Metric::Iops).expect("thirty seconds"), of(&point, Metric::Mean));
        let mean = mean.expect("the queue was full");
        assert_eq!((mean.variance, mean.freedom), (rate.variance, rate.freedom));
        // Of one operation of two, and of a queue that is not full, the rate says nothing of the mean.
        point.workloads[0].summary[1].response.as_mut().expect("it has times").mean_low_ns = None;
        assert_eq!(measured(&point, 1, true).within(Metric::Mean), None);
        point.workloads[0].spec.depth = 8;
        assert_eq!(of(&point, Metric::Mean), None);
    }

    #[test]
    fn a_figure_of_nothing_is_none_and_an_interval_that_is_the_wrong_way_round_says_nothing() {
        let mut point = point("iops");
        point.workloads[0].summary[0].ops_per_s.value = 0.0;
        assert_eq!(measured(&point, 0, true).value(Metric::Iops), None);
        point.workloads[0].summary[0].ops_per_s.value = f64::INFINITY;
        assert_eq!(measured(&point, 0, true).value(Metric::Iops), None);
        let mut interval = |low: f64, high: f64| {
            let response = point.workloads[0].summary[0].response.as_mut().expect("it has times");
            (response.mean_low_ns, response.mean_high_ns) = (Some(low), Some(high));
            measured(&point, 0, true).interval(Metric::Mean)
        };
        assert_eq!(interval(4e5, 5e5), Some((4e5, 5e5)));
        assert_eq!(interval(4e5, 4e5), Some((4e5, 4e5)));
        assert_eq!((interval(5e5, 4e5), interval(0.0, 4e5), interval(-2.0, -1.0)), (None, None, None));
    }

    #[test]
    fn a_percentile_has_its_own_interval_and_the_freedom_of_the_seconds() {
        let point = point("iops");
        let all = measured(&point, 0, true);
        let quantile = all.summary.response.as_ref().and_then(|response| response.quantile(0.99));
        let quantile = quantile.expect("it has one");
        let ends = quantile.low_ns.zip(quantile.high_ns).map(|(low, high)| (low as f64, high as f64));
        assert!(ends.is_some());
        assert_eq!(all.interval(Metric::Quantile(0.99)), ends);
        assert_ne!(all.interval(Metric::Mean), ends);
        // Thirty seconds, eight cosines.
        let within = all.within(Metric::Quantile(0.99)).expect("it has ends");
        assert_eq!(within.freedom, 8.0);
        // Twice the half is the whole on the scale of logarithms.
        let (low, high) = ends.expect("it has both");
        let again = within.interval();
        assert!((again.high / again.low / (high / low) - 1.0).abs() < 1e-12, "{again:?}");
    }
}
