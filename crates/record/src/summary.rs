//! The figures people ask for first, with their intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::dependent::{NoInterval, Stretch, Stretches, mean_interval};
use units::convert::{narrow, truncated};

use crate::metric::{Metric, quantile_name};
use crate::point::{Class, WorkloadResult};
use crate::words::{Op, Ops};

/// The quantiles of a summary. One list for tables, exports and charts.
pub const LATENCY_QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];
const _: () = {
    let mut at = 1;
    while at < LATENCY_QUANTILES.len() {
        assert!(LATENCY_QUANTILES[at - 1] < LATENCY_QUANTILES[at], "percentiles rise");
        at += 1;
    }
};

const _: () = {
    let mut rank = 1;
    while rank < LATENCY_QUANTILES.len() {
        assert!(LATENCY_QUANTILES[rank - 1] < LATENCY_QUANTILES[rank], "quantiles rise");
        rank += 1;
    }
};

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Lower end; absent when there were too few samples to have one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<f64>,
}

impl Figure {
    /// Half the interval as a part of the value; `None` without an interval or for a value of zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = (self.low?, self.high?);
        (self.value != 0.0).then(|| (high - low) / 2.0 / self.value.abs())
    }
}

/// One quantile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantileFigure {
    /// Which, 0 to 1.
    pub q: f64,
    /// Never below the truth, at most a thousandth above.
    pub value_ns: u64,
    /// Lower end of the 95 % interval, which holds for requests that depend on each other; absent where the run has too
    /// little for one, as `no_interval` of the summary says. A record without that key and without `mean_low_ns` is of
    /// an earlier version, whose interval was one for independent requests and mostly too narrow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low_ns: Option<u64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high_ns: Option<u64>,
}

/// Latencies of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Requests behind the figures.
    pub count: u64,
    /// Exact.
    pub mean_ns: f64,
    /// Lower end of the mean's 95 % interval, which holds for requests that depend on each other; absent where there
    /// is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_low_ns: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_high_ns: Option<f64>,
    /// From the buckets.
    pub std_dev_ns: f64,
    /// Exact.
    pub min_ns: u64,
    /// Exact.
    pub max_ns: u64,
    /// Only quantiles with at least ten requests beyond them, and the median.
    pub quantiles: Vec<QuantileFigure>,
    /// Which of these figures have no interval, and why: `p99, p99.9: slow requests came in too few groups`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub no_interval: Option<String>,
}

/// What ended in one of equally long stretches of the measured window, of one class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassSecond {
    /// Requests.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Their response times, in any order.
    pub responses: Vec<stats::Bucket>,
}

impl ClassSecond {
    /// Adds what ended in another stretch.
    fn add(&mut self, other: &ClassSecond) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.responses.extend(&other.responses);
    }
}

impl LatencySummary {
    /// The figures of `histogram`, with the intervals that its `stretches` in order of time give; `None` when it is
    /// empty.
    pub fn of(histogram: &stats::Histogram, stretches: &Stretches) -> Option<LatencySummary> {
        let enough = |q: &f64| *q <= 0.5 || histogram.count() as f64 * (1.0 - q) >= 10.0;
        let mut missing = Missing::default();
        let mean_ns = histogram.mean()?;
        let mean = missing.note("mean".into(), stretches.mean_interval(mean_ns));
        let mut quantile = |q: f64| {
            let value = histogram.quantile(q)?;
            let interval = missing.note(quantile_name(q), stretches.quantile_interval(q));
            // What ended after the window is in the figure and in no stretch of it.
            Some(QuantileFigure {
                q,
                value_ns: value.get(),
                low_ns: interval.map(|interval| interval.low.min(value).get()),
                high_ns: interval.map(|interval| interval.high.max(value).get()),
            })
        };
        let quantiles: Vec<QuantileFigure> =
            LATENCY_QUANTILES.into_iter().filter(enough).filter_map(&mut quantile).collect();
        debug_assert!(
            mean.is_none_or(|mean| mean.low <= mean_ns && mean_ns <= mean.high),
            "an interval holds its mean"
        );
        debug_assert!(
            quantiles.is_sorted_by_key(|figure| figure.value_ns),
            "a higher percentile is no shorter"
        );
        debug_assert!(
            quantiles.iter().all(|one| one.low_ns.is_none_or(|low| low <= one.value_ns)
                && one.high_ns.is_none_or(|high| high >= one.value_ns)),
            "an interval holds its figure"
        );
        Some(LatencySummary {
            count: histogram.count(),
            mean_ns,
            mean_low_ns: mean.map(|mean| mean.low),
            mean_high_ns: mean.map(|mean| mean.high),
            std_dev_ns: histogram.std_dev()?,
            min_ns: histogram.min()?.get(),
            max_ns: histogram.max()?.get(),
            quantiles,
            no_interval: missing.told(),
        })
    }

    /// The quantile `q`, if there were requests enough for it.
    pub fn quantile(&self, q: f64) -> Option<QuantileFigure> {
        self.quantiles.iter().find(|figure| (figure.q - q).abs() < 1e-9).copied()
    }

    /// Whether its intervals hold for requests that depend on each other, as those of every present version do.
    pub fn holds_for_dependent(&self) -> bool {
        self.mean_low_ns.is_some() || self.no_interval.is_some()
    }
}

/// Figures without an interval, by the reason.
#[derive(Default)]
struct Missing {
    figures: Vec<(NoInterval, Vec<String>)>,
}

impl Missing {
    fn note<T>(&mut self, figure: String, interval: Result<T, NoInterval>) -> Option<T> {
        let why = match interval {
            Ok(interval) => return Some(interval),
            Err(why) => why,
        };
        match self.figures.iter_mut().find(|(same, _)| *same == why) {
            Some((_, figures)) => figures.push(figure),
            None => self.figures.push((why, vec![figure])),
        }
        None
    }

    fn told(&self) -> Option<String> {
        let each = self.figures.iter().map(|(why, figures)| format!("{}: {why}", figures.join(", ")));
        (!self.figures.is_empty()).then(|| each.collect::<Vec<_>>().join("; "))
    }
}

/// All requests of one operation, or of all of them, whatever their size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpSummary {
    /// `all`, or one operation.
    pub op: Ops,
    /// Completed requests a second over the measured window.
    pub ops_per_s: Figure,
    /// Bytes moved a second over the measured window.
    pub bytes_per_s: Figure,
    /// Why these two have no interval; absent where they have one, and in records of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub no_interval: Option<String>,
    /// From due to finished.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response: Option<LatencySummary>,
}

impl OpSummary {
    /// The figure `metric`, where there is one and it is above zero.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        let response = self.response.as_ref();
        let value = match metric {
            Metric::Iops => self.ops_per_s.value,
            Metric::Throughput => self.bytes_per_s.value,
            Metric::Mean => response?.mean_ns,
            Metric::Max => response?.max_ns as f64,
            Metric::Quantile(q) => response?.quantile(q)?.value_ns as f64,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }

    /// The ends of the 95 % interval of the figure `metric`, where it has one.
    pub fn interval(&self, metric: Metric) -> Option<(f64, f64)> {
        let response = self.response.as_ref();
        match metric {
            Metric::Iops => self.ops_per_s.low.zip(self.ops_per_s.high),
            Metric::Throughput => self.bytes_per_s.low.zip(self.bytes_per_s.high),
            Metric::Mean => response.and_then(|times| times.mean_low_ns.zip(times.mean_high_ns)),
            Metric::Max => None,
            Metric::Quantile(q) => {
                let figure = response?.quantile(q)?;
                Some((figure.low_ns? as f64, figure.high_ns? as f64))
            }
        }
    }
}

/// Why a rate has no interval in a record that does not say it.
const UNSAID: &str = "the window has too few stretches independent of each other";
/// Why the longest latency of all has none.
const LONGEST: &str = "the longest of all is one request";

impl OpSummary {
    /// Why the figure `metric` has no 95 % interval, in words that follow a colon; `None` where it has one, and where there is
    /// no such figure.
    pub fn why_no_interval(&self, metric: Metric) -> Option<&str> {
        if self.figure(metric).is_none() || self.interval(metric).is_some() {
            return None;
        }
        let response = self.response.as_ref().and_then(|times| times.no_interval.as_deref());
        match metric {
            Metric::Iops | Metric::Throughput => Some(self.no_interval.as_deref().unwrap_or(UNSAID)),
            Metric::Max => Some(LONGEST),
            Metric::Mean => Some(response.and_then(|told| reason_of(told, "mean")).unwrap_or(UNSAID)),
            Metric::Quantile(q) => {
                Some(response.and_then(|told| reason_of(told, &quantile_name(q))).unwrap_or(UNSAID))
            }
        }
    }
}

/// What `told`, as [`LatencySummary::no_interval`] has it, says of the figure `name`.
fn reason_of<'a>(told: &'a str, name: &str) -> Option<&'a str> {
    let reasons = told.split("; ").filter_map(|part| part.split_once(": "));
    reasons.into_iter().find(|(names, _)| names.split(", ").any(|own| own == name)).map(|(_, why)| why)
}

/// A rate over the window with its interval from the rates of equally long stretches in it.
fn rate(total: f64, seconds: f64, of_stretches: &[f64]) -> (Figure, Option<NoInterval>) {
    debug_assert!(total >= 0.0 && seconds >= 0.0, "counts and times");
    let (interval, why) = match mean_interval(of_stretches) {
        Ok(interval) => (Some(interval), None),
        Err(why) => (None, Some(why)),
    };
    let value = if seconds > 0.0 { total / seconds } else { 0.0 };
    // The interval is about the mean of whole stretches; centre it on the figure that is shown.
    let half = interval.map(|interval| (interval.high - interval.low) / 2.0);
    debug_assert!(half.is_none_or(|half| half >= 0.0), "an interval lies around its figure");
    (
        Figure { value, low: half.map(|half| (value - half).max(0.0)), high: half.map(|half| value + half) },
        why,
    )
}

/// One summary for each operation that occurred, and first one for all that read, write or trim where there are several.
/// Flushes come last and are counted in no other: they move nothing, and a rate with them would be no rate of I/O.
///
/// `stretches` holds, for each whole stretch of `each_s` seconds of the measured window, what ended in it of each class,
/// in the order of `workload.classes`.
pub fn summarise(workload: &WorkloadResult, each_s: f64, stretches: &[Vec<ClassSecond>]) -> Vec<OpSummary> {
    let mut ops: Vec<Op> = Vec::new();
    for class in &workload.classes {
        if class.response.count > 0 && !ops.contains(&class.op) {
            ops.push(class.op);
        }
    }
    ops.sort_by_key(|op| *op == Op::Flush);
    let mut summaries = Vec::new();
    if ops.iter().filter(|op| **op != Op::Flush).count() > 1 {
        summaries.push(summary(Ops::All, workload, (each_s, stretches), |class| class.op != Op::Flush));
    }
    debug_assert!(
        stretches.iter().all(|stretch| stretch.len() == workload.classes.len()),
        "each stretch has every class, in their order"
    );
    let of = |op: Op| summary(op.into(), workload, (each_s, stretches), |class| class.op == op);
    summaries.extend(ops.into_iter().map(of));
    summaries
}

/// Stretches that hold whole periods of a schedule that pauses, of such that may not, with the seconds of each: an interval is taken
/// from what may be alike. What is left over at the end is of no such stretch.
fn in_whole_periods(
    pace: spec::Pace,
    each_s: f64,
    stretches: Vec<Vec<ClassSecond>>,
) -> (f64, Vec<Vec<ClassSecond>>) {
    let period_s = pace.whole_periods_s();
    let holds = |many: &u64| truncated::<u64>(each_s * *many as f64).is_multiple_of(period_s);
    let many = (1..=period_s).find(holds).filter(|many| *many > 1 && each_s >= 1.0);
    let Some(many) = many else { return (each_s, stretches) };
    let sum = |stretches: &[Vec<ClassSecond>]| -> Vec<ClassSecond> {
        let mut sum = vec![ClassSecond::default(); stretches[0].len()];
        stretches.iter().for_each(|one| sum.iter_mut().zip(one).for_each(|(sum, more)| sum.add(more)));
        sum
    };
    (each_s * many as f64, stretches.chunks_exact(narrow::<usize>(many)).map(sum).collect())
}

fn summary(
    op: Ops,
    workload: &WorkloadResult,
    (each_s, stretches): (f64, &[Vec<ClassSecond>]),
    belongs: impl Fn(&Class) -> bool,
) -> OpSummary {
    let chosen: Vec<usize> = workload
        .classes
        .iter()
        .enumerate()
        .filter(|(_, class)| belongs(class))
        .map(|(index, _)| index)
        .collect();
    assert!(!chosen.is_empty(), "{op} has no class of requests");
    let mut response = stats::Histogram::new();
    for index in &chosen {
        if let Some(histogram) = workload.classes[*index].response.to_stats() {
            response.merge(&histogram);
        }
    }
    let sum = |of: fn(&Class) -> u64| chosen.iter().map(|index| of(&workload.classes[*index])).sum::<u64>();
    let chosen_of = |second: &'_ Vec<ClassSecond>| -> Vec<ClassSecond> {
        chosen.iter().filter_map(|index| second.get(*index)).cloned().collect()
    };
    let own: Vec<Vec<ClassSecond>> = stretches.iter().map(chosen_of).collect();
    let (each_s, own) = in_whole_periods(workload.spec.pace, each_s, own);
    let rates = |of: fn(&ClassSecond) -> u64| -> Vec<f64> {
        own.iter().map(|one| one.iter().map(of).sum::<u64>() as f64 / each_s).collect()
    };
    let stretches: Vec<Stretch> = own
        .iter()
        .map(|second| Stretch::of(second.iter().flat_map(|class| class.responses.iter().copied())))
        .collect();
    debug_assert!(stretches.is_empty() || each_s > 0.0, "a stretch has a length");
    let window_s = workload.measured_ns as f64 / 1e9;
    let (ops_per_s, why) = rate(sum(|class| class.ops) as f64, window_s, &rates(|one| one.ops));
    let (bytes_per_s, _) = rate(sum(|class| class.bytes) as f64, window_s, &rates(|one| one.bytes));
    OpSummary {
        op,
        ops_per_s,
        bytes_per_s,
        no_interval: why.map(|why| why.to_string()),
        response: LatencySummary::of(&response, &Stretches::of(&stretches)),
    }
}
