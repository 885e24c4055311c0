//! Figures of points, each with its place in the records.

use chart::Unit;
use record::names::series::OPS;
use record::{Estimate, LatencySummary, Metric, OpSummary, Point, PointKind, Run, Series, quantile_name};
use units::{Bytes, OpsPerSecond, Share};

use crate::document::{Cell, Interval, Samples};
use crate::number::{Number, Source};
use crate::samples::{Join, at_once, thinned};

/// One measured point of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    /// Which run.
    pub run: usize,
    /// Where its record has the point.
    pub at: usize,
    /// The point.
    pub point: &'a Point,
    /// The one of its workloads that is looked at, and the figure that this is about; all of them together where absent.
    pub only: Option<(&'a str, Metric)>,
}

/// A figure and its interval.
pub(crate) type WithInterval = (Number, Option<(Number, Number)>);

/// The same as what [`Metric::best`] chooses by.
pub(crate) fn estimate((number, interval): &WithInterval) -> Estimate {
    let ends = interval.as_ref().map(|(low, high)| (low.value, high.value));
    Estimate { value: number.value, interval: ends }
}

/// What its numbers count.
pub(crate) fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::Iops => Unit::PerSecond,
        Metric::Throughput => Unit::BytesPerSecond,
        Metric::Mean | Metric::Max | Metric::Quantile(_) => Unit::Nanos,
    }
}

/// `rate`, `throughput`, `p99 latency`.
pub(crate) fn name(metric: Metric) -> String {
    match metric {
        Metric::Iops => "rate".into(),
        Metric::Throughput => "throughput".into(),
        Metric::Mean => "mean latency".into(),
        Metric::Max => "longest latency".into(),
        Metric::Quantile(q) => format!("{} latency", quantile_name(q)),
    }
}

/// What is written behind a figure of it in a sentence: the unit that the figure itself leaves out.
pub(crate) fn behind(metric: Metric) -> &'static str {
    if metric == Metric::Iops { " IOPS" } else { "" }
}

/// What is written in front of the name of a figure that says by itself neither what it is nor its unit: `p99, `.
pub(crate) fn in_front(metric: Metric) -> String {
    match metric {
        Metric::Iops => "IOPS, ".into(),
        Metric::Throughput => String::new(),
        latency => format!("{}, ", latency.name()),
    }
}

/// All loads of `runs` that measured something, in the order of the runs and of their points.
pub(crate) fn measured(runs: &[Run]) -> Vec<Measured<'_>> {
    runs.iter().enumerate().flat_map(|(run, record)| of_run(run, record)).collect()
}

fn of_run(run: usize, record: &Run) -> impl Iterator<Item = Measured<'_>> {
    let loads = record.points.iter().enumerate().filter(|(_, point)| point.kind == PointKind::Load);
    let shown = loads.filter(|(_, point)| point.workloads.iter().any(|workload| workload.total().is_some()));
    shown.map(move |(at, point)| Measured { run, at, point, only: None })
}

impl<'a> Measured<'a> {
    fn place(self, workload: usize, summary: usize, rest: &str) -> Source {
        Source::At(self.run, format!("/points/{}/workloads/{workload}/summary/{summary}/{rest}", self.at))
    }

    /// A number that stands at `rest` behind the point.
    pub fn number(self, rest: &str, value: f64, unit: Unit) -> Number {
        Number::at(self.run, format!("/points/{}{rest}", self.at), value, unit)
    }

    /// The figure it is about.
    pub fn headline(self) -> Metric {
        self.only.map_or_else(|| Metric::of(&self.point.headline), |(_, metric)| metric)
    }

    /// Whether it moves data, or is about anything else: a flush has no throughput.
    pub fn has_figure(self) -> bool {
        self.headline() != Metric::Throughput
            || self.figure(Metric::Throughput).is_some_and(|(number, _)| number.value > 0.0)
    }

    /// The figure `metric` of the workload that is looked at, or of all together: rates are added up; a latency is that of the
    /// only workload.
    pub fn figure(self, metric: Metric) -> Option<WithInterval> {
        if let Some((name, _)) = self.only {
            let place = self.point.workloads.iter().position(|workload| workload.name == name)?;
            return self.of_workload(place, 0, metric);
        }
        match metric {
            Metric::Iops | Metric::Throughput => self.rate(metric),
            _ if self.point.workloads.len() == 1 => self.of_workload(0, 0, metric),
            _ => None,
        }
    }

    /// The same with why there is no interval, where there is none.
    pub fn sure(self, metric: Metric) -> Option<(Number, Interval)> {
        let (number, ends) = self.figure(metric)?;
        let workloads = &self.point.workloads;
        let own = match self.only {
            Some((name, _)) => workloads.iter().find(|workload| workload.name == name),
            None if workloads.len() == 1 => workloads.first(),
            None => None,
        };
        let interval = match own.and_then(|workload| workload.summary.first()) {
            Some(summary) => self.interval(ends, summary, metric),
            None => Interval::of(ends, || "rates of several workloads are added up".into()),
        };
        Some((number, interval))
    }

    /// The same as a cell of a table.
    pub fn cell(self, metric: Metric) -> Cell {
        self.sure(metric).map_or(Cell::Empty, |(number, interval)| Cell::Number(number, interval))
    }

    /// The interval `ends` of the figure `metric` of `summary`, or why there is none that tells anything.
    pub fn interval(self, ends: Option<(Number, Number)>, summary: &OpSummary, metric: Metric) -> Interval {
        Interval::of(ends, || summary.why_no_interval(metric).unwrap_or(report::ALIKE).into())
    }

    fn rate(self, metric: Metric) -> Option<WithInterval> {
        let each: Vec<WithInterval> = (0..self.point.workloads.len())
            .filter_map(|workload| self.of_workload(workload, 0, metric))
            .collect();
        let mut each = each.into_iter();
        let first = each.next()?;
        let others: Vec<WithInterval> = each.collect();
        if others.is_empty() {
            return Some(first);
        }
        let all: Vec<Number> = std::iter::once(first).chain(others).map(|(number, _)| number).collect();
        let value = all.iter().map(|number| number.value).sum();
        let source = Source::Sum(all.into_iter().map(|number| number.source).collect());
        Some((Number { value, unit: unit(metric), source }, None))
    }

    /// The figure `metric` of one line of one workload's summary.
    pub fn of_workload(self, workload: usize, line: usize, metric: Metric) -> Option<WithInterval> {
        let summary = self.point.workloads.get(workload)?.summary.get(line)?;
        let at = |rest: String, value: f64| Number {
            value,
            unit: unit(metric),
            source: self.place(workload, line, &rest),
        };
        let ends = |key: &str, low: Option<f64>, high: Option<f64>| {
            Some((at(format!("{key}low"), low?), at(format!("{key}high"), high?)))
        };
        match metric {
            Metric::Iops | Metric::Throughput => {
                let (key, figure) = rate_of(summary, metric);
                let number = at(format!("{key}/value"), figure.value);
                // An interval without a width, as of a deterministic load in virtual time, tells nothing.
                let ends = ends(&format!("{key}/"), figure.low, figure.high);
                Some((number, ends.filter(|(low, high)| low.value < high.value)))
            }
            _ => latency_of(summary.response.as_ref()?, metric, at),
        }
    }

    /// Seconds since it began.
    pub fn since(self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.point.started_ns) as f64 / 1e9
    }

    /// Series of its load whose names end with `ending`, by their places.
    pub fn of_load(self, ending: &str) -> impl Iterator<Item = (usize, &'a Series)> {
        let is_it = move |series: &Series| series.workload.is_some() && series.name.ends_with(ending);
        self.point.series.iter().enumerate().filter(move |(_, series)| is_it(series))
    }

    /// What the series of a load that is number `index` and ends with `ending` has at `place`.
    pub fn of_load_at(self, index: usize, series: &Series, place: usize, ending: &str) -> Number {
        let unit = if ending == OPS { Unit::PerSecond } else { Unit::Nanos };
        self.number(&format!("/series/{index}/values/{place}"), series.values[place], unit)
    }

    /// The load's rate over time, or its 99th percentile: rates of all operations added up, of percentiles the highest; of
    /// long stretches the mean rate and the highest percentile.
    pub fn over_time(self, ending: &str) -> Samples {
        let (at_one_time, of_a_stretch) =
            if ending == OPS { (Join::Sum, Join::Mean) } else { (Join::Most, Join::Most) };
        let each = self.of_load(ending).flat_map(|(index, series)| {
            let places = series.at_ns.iter().enumerate().take(series.values.len());
            places.map(move |(place, at_ns)| (*at_ns, self.of_load_at(index, series, place, ending)))
        });
        thinned(at_once(each, at_one_time, |at_ns| self.since(at_ns)), of_a_stretch)
    }

    /// Its rate over its seconds: the end of each since the point began in seconds, and the requests in it. Of the
    /// workload `workload`.
    pub fn seconds(self, workload: usize, ending: &str) -> Vec<f64> {
        let series = &self.point.series;
        self.point
            .workloads
            .get(workload)
            .map_or_else(Vec::new, |workload| workload.whole_seconds(series, ending))
    }
}

fn rate_of(summary: &OpSummary, metric: Metric) -> (&'static str, record::Figure) {
    match metric {
        Metric::Throughput => ("bytes_per_s", summary.bytes_per_s),
        _ => ("ops_per_s", summary.ops_per_s),
    }
}

fn latency_of(
    latency: &LatencySummary,
    metric: Metric,
    at: impl Fn(String, f64) -> Number,
) -> Option<WithInterval> {
    match metric {
        Metric::Max => Some((at("response/max_ns".into(), latency.max_ns as f64), None)),
        Metric::Quantile(q) => {
            let index = latency.quantiles.iter().position(|figure| (figure.q - q).abs() < 1e-9)?;
            let figure = latency.quantiles[index];
            let end = |key: &str, value: Option<u64>| {
                Some(at(format!("response/quantiles/{index}/{key}"), value? as f64))
            };
            let ends = end("low_ns", figure.low_ns).zip(end("high_ns", figure.high_ns));
            Some((at(format!("response/quantiles/{index}/value_ns"), figure.value_ns as f64), ends))
        }
        _ => {
            let end = |key: &str, value: Option<f64>| Some(at(format!("response/{key}"), value?));
            let ends = end("mean_low_ns", latency.mean_low_ns).zip(end("mean_high_ns", latency.mean_high_ns));
            Some((at("response/mean_ns".into(), latency.mean_ns), ends))
        }
    }
}

/// A swept value as a number with its unit: `4KiB`, `70%`, `500/s`, `32`; `None` for words.
pub(crate) fn swept(text: &str) -> Option<(f64, Unit)> {
    if let Ok(count) = text.parse::<f64>() {
        return count.is_finite().then_some((count, Unit::Count));
    }
    if let Ok(share) = text.parse::<Share>() {
        return Some((share.get(), Unit::Share));
    }
    if let Ok(rate) = text.parse::<OpsPerSecond>() {
        return Some((rate.get(), Unit::PerSecond));
    }
    let bytes = text.parse::<Bytes>().ok()?;
    Some((bytes.as_f64(), Unit::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::sample::{self, Stream};

    const STREAM: Stream =
        Stream { op: "read", size_bytes: 4096, per_s: 1000, median_ns: 100_000, spread: 0.2 };

    #[test]
    fn every_figure_is_what_the_record_has_at_its_place() {
        let workloads = vec![sample::workload("one", &[STREAM]), sample::workload("two", &[STREAM])];
        let run = sample::run(
            "random",
            vec![sample::point(0, "p", vec![workloads[0].clone()]), sample::point(1, "q", workloads)],
        );
        let record = [serde_json::to_value(&run).expect("it is JSON")];
        let runs = [run];
        let all = measured(&runs);
        assert_eq!(all.len(), 2);
        let metrics = [Metric::Iops, Metric::Throughput, Metric::Mean, Metric::Quantile(0.99), Metric::Max];
        for metric in metrics {
            let (number, interval) = all[0].figure(metric).expect("it is there");
            assert_eq!(number.source.read(&record), Some(number.value), "{metric:?}");
            for end in interval.into_iter().flat_map(|(low, high)| [low, high]) {
                assert_eq!(end.source.read(&record), Some(end.value), "{metric:?}");
            }
        }
        let (both, interval) = all[1].figure(Metric::Iops).expect("it is there");
        assert!((both.value - 2000.0).abs() < 1e-6 && interval.is_none());
        assert_eq!(both.source.read(&record), Some(both.value));
        assert!(all[1].figure(Metric::Mean).is_none(), "of two workloads there is no common latency");
    }

    #[test]
    fn swept_values_are_numbers_where_they_can_be() {
        assert_eq!(swept("32"), Some((32.0, Unit::Count)));
        assert_eq!(swept("4KiB"), Some((4096.0, Unit::Bytes)));
        assert_eq!(swept("70%"), Some((0.7, Unit::Share)));
        assert_eq!(swept("500/s"), Some((500.0, Unit::PerSecond)));
        assert_eq!(swept("random"), None);
    }
}
