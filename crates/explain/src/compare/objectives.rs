//! Objectives held against what was measured: met, violated, or inconclusive.
//!
//! **Invariant:** a verdict other than inconclusive follows from an interval or from every stretch of the window, never from
//! a figure alone.

use record::judgement::{ObjectiveRow, Verdict};
use record::{LATENCY_QUANTILES, Metric, Ops, Run};
use stats::exceedance::binomial_bounds;
use stats::geometric_mean;
use units::{BytesPerSecond, Nanos, OpsPerSecond};

use super::cells::{self, Cell};
use super::estimate::estimate;
use super::floor;
use super::stretches::{self, Range};

/// How sure either end of an interval of 95 % is.
pub(super) const ONE_SIDED: f64 = 0.975;

/// What has to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// As the plan has it.
    pub text: String,
    /// The line of the plan; 0 where it was not written there.
    pub line: u32,
    /// The phase that it is about, as written; none where it is about every load.
    pub phase: Option<String>,
    /// Of which figure.
    pub about: About,
}

/// The figure of an objective and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// A mean or a percentile of times stays below that many nanoseconds.
    Time {
        /// Of which requests.
        op: Ops,
        /// Which figure.
        metric: Metric,
        /// Whether times count from the issue, not from when a request was due.
        of_service: bool,
        /// The limit.
        below_ns: f64,
    },
    /// A rate stays above a limit, in its base unit.
    Rate {
        /// Of which requests.
        op: Ops,
        /// Which rate.
        metric: Metric,
        /// The limit.
        above: f64,
    },
    /// Of all requests this part fails at most.
    Errors {
        /// The limit.
        below: f64,
    },
}

/// A figure with as much of its interval as is known.
#[derive(Clone, Debug, Default)]
struct Seen {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    why: &'static str,
}

impl About {
    fn op(&self) -> Ops {
        match self {
            About::Time { op, .. } | About::Rate { op, .. } => *op,
            About::Errors { .. } => Ops::All,
        }
    }

    fn limit(&self) -> f64 {
        match self {
            About::Time { below_ns, .. } => *below_ns,
            About::Rate { above, .. } => *above,
            About::Errors { below } => *below,
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            About::Time { .. } => "ns",
            About::Rate { metric, .. } => metric.unit(),
            About::Errors { .. } => "share",
        }
    }

    /// `low` and `high` are the ends of what the figure may be.
    fn verdict(&self, low: Option<f64>, high: Option<f64>) -> Verdict {
        let limit = self.limit();
        let (met, violated) = match self {
            About::Rate { .. } => {
                (low.is_some_and(|low| low >= limit), high.is_some_and(|high| high < limit))
            }
            _ => (high.is_some_and(|high| high < limit), low.is_some_and(|low| low >= limit)),
        };
        match (met, violated) {
            (true, _) => Verdict::Met,
            (_, true) => Verdict::Violated,
            _ => Verdict::Inconclusive,
        }
    }
}

/// Each of `promises` in each cell of `run` that it is about. Repeats of a point are one cell.
///
/// A promise about what no load of the run has gives one row without a cell, inconclusive.
pub fn objectives(run: &Run, promises: &[Promise]) -> Vec<ObjectiveRow> {
    let cells = cells::of(&[run]);
    let mut rows = Vec::new();
    for promise in promises {
        let op = promise.about.op();
        let is_of = |cell: &&Cell<'_>| {
            let of_op = if op == Ops::All { cell.total } else { cell.key.op == op };
            of_op && promise.phase.as_deref().is_none_or(|phase| phase == cell.key.phase)
        };
        let before = rows.len();
        rows.extend(cells.iter().filter(is_of).map(|cell| row(promise, cell)));
        if rows.len() == before {
            let why = "no load that ran to its end has this figure".into();
            rows.push(ObjectiveRow { why, ..blank(promise, String::new()) });
        }
    }
    rows
}

fn blank(promise: &Promise, cell: String) -> ObjectiveRow {
    ObjectiveRow {
        objective: promise.text.clone(),
        line: promise.line,
        cell,
        unit: promise.about.unit().into(),
        limit: promise.about.limit(),
        value: None,
        low: None,
        high: None,
        verdict: Verdict::Inconclusive,
        why: String::new(),
    }
}

fn row(promise: &Promise, cell: &Cell<'_>) -> ObjectiveRow {
    let seen = match promise.about {
        About::Rate { metric, .. } => figure(cell, metric),
        About::Errors { .. } => errors(cell),
        About::Time { metric, of_service: true, .. } => service(cell, metric),
        About::Time { metric, .. } => figure(cell, metric),
    };
    let verdict = promise.about.verdict(seen.low, seen.high);
    let (verdict, why) = match (verdict, of_stretches(promise.about, cell)) {
        (Verdict::Inconclusive, Some(decided)) => decided,
        (Verdict::Inconclusive, None) => (verdict, seen.why.to_owned()),
        _ => (verdict, String::new()),
    };
    debug_assert!(
        verdict == Verdict::Inconclusive || seen.low.is_some() || seen.high.is_some() || !why.is_empty(),
        "{}: a verdict by a figure alone",
        promise.text
    );
    ObjectiveRow {
        value: seen.value,
        low: seen.low,
        high: seen.high,
        verdict,
        why,
        ..blank(promise, cell.title())
    }
}

/// The verdict where every stretch of the window is on one side of the limit, and what they were; `None` where they are
/// not, and where there are too few.
fn of_stretches(about: About, cell: &Cell<'_>) -> Option<(Verdict, String)> {
    let metric = match about {
        About::Rate { metric, .. } | About::Time { metric, of_service: false, .. } => metric,
        About::Time { .. } | About::Errors { .. } => return None,
    };
    let Range { low, high, count } = stretches::range(cell, metric)?;
    let verdict = about.verdict(low, high);
    let shown = |value: f64| match metric {
        Metric::Iops => OpsPerSecond::new(value).to_string(),
        Metric::Throughput => BytesPerSecond::new(value).to_string(),
        Metric::Mean | Metric::Max | Metric::Quantile(_) => Nanos::from_secs_f64(value / 1e9).to_string(),
    };
    let told = match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("{} or more", shown(low)),
        (None, high) => format!("{} or less", shown(high?)),
    };
    (verdict != Verdict::Inconclusive)
        .then(|| (verdict, format!("{told} in each of {count} stretches of the window")))
}

/// A rate or a response time with its interval; between two percentiles of a summary, that of both together: the
/// percentile lies between them.
fn figure(cell: &Cell<'_>, metric: Metric) -> Seen {
    let recorded = |metric: Metric| match cell.measured() {
        [only] => only.recorded(metric),
        _ => None,
    };
    let known = |metric: Metric| {
        let found = estimate(cell, metric, None).or_else(|| recorded(metric));
        found.map(|found| (found.value, found.interval()))
    };
    if let Some((value, interval)) = known(metric) {
        let why = "its interval reaches over the limit; measure longer, or repeat";
        return Seen { value: Some(value), low: Some(interval.low), high: Some(interval.high), why };
    }
    let value = geometric_mean(&cell.values(metric));
    let Metric::Quantile(q) = metric else {
        return Seen { value, why: "too little was measured for an interval", ..Seen::default() };
    };
    let value = value.or_else(|| Some(floor::times(cell, false)?.quantile(q)?.get() as f64));
    let around = |one: f64| known(Metric::Quantile(one)).map(|(_, interval)| interval);
    let below = LATENCY_QUANTILES.into_iter().filter(|one| *one <= q).filter_map(around).next_back();
    let above = LATENCY_QUANTILES.into_iter().filter(|one| *one >= q).find_map(around);
    let low =
        [below.map(|one| one.low), floor::of_responses(cell, metric)].into_iter().flatten().reduce(f64::max);
    let why = "too little was measured for an interval; measure longer";
    Seen { value, low, high: above.map(|one| one.high), why }
}

/// A service time. It has no interval of its own where requests waited for their turn; a response is never shorter.
fn service(cell: &Cell<'_>, metric: Metric) -> Seen {
    let has_own =
        cell.measured().iter().any(|one| one.workload.classes.iter().any(|class| class.service.is_some()));
    let response = figure(cell, metric);
    if !has_own {
        return response;
    }
    let times = floor::times(cell, true);
    let value = times.as_ref().and_then(|times| match metric {
        Metric::Quantile(q) => times.quantile(q).map(|time| time.get() as f64),
        _ => times.mean(),
    });
    Seen {
        value,
        low: floor::of_services(cell, metric),
        high: response.high,
        why: "service times apart from waiting have no interval; use the response time in the SLO",
    }
}

fn errors(cell: &Cell<'_>) -> Seen {
    let sum = |of: fn(&record::WorkloadResult) -> u64| {
        cell.measured().iter().map(|one| of(one.workload)).sum::<u64>()
    };
    let (errors, all) = (sum(|one| one.errors), sum(|one| one.planned));
    if all == 0 {
        return Seen { why: "no request was issued", ..Seen::default() };
    }
    let bounds = binomial_bounds(errors, all, ONE_SIDED);
    let why = "too few requests to be sure of so small a share; measure longer";
    Seen { value: Some(errors as f64 / all as f64), low: Some(bounds.low), high: Some(bounds.high), why }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Figure, Op};

    use super::*;

    fn run() -> Run {
        let stream = |op, per_s| Stream { op, size_bytes: 4096, per_s, median_ns: 400_000, spread: 0.1 };
        let workload = sample::workload("load", &[stream("read", 3_000), stream("write", 1_000)]);
        sample::run("quick", vec![sample::point(0, "p", vec![workload])])
    }

    fn judged(run: &Run, about: About) -> ObjectiveRow {
        let promise = Promise { text: "it".into(), line: 7, phase: None, about };
        let mut rows = objectives(run, &[promise]);
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
    }

    #[test]
    fn a_rate_is_kept_or_violated_where_its_whole_interval_is_and_else_inconclusive() {
        let of = |above: f64, op: Ops| judged(&run(), About::Rate { op, metric: Metric::Iops, above });
        let all = of(1.0, Ops::All);
        let (low, high) = (all.low.unwrap(), all.high.unwrap());
        assert!(low < 4_000.0 && high > 4_000.0, "{all:?}");
        assert_eq!((all.verdict, all.line, all.cell.as_str()), (Verdict::Met, 7, "p"));
        assert_eq!(of(high * 1.001, Ops::All).verdict, Verdict::Violated);
        assert_eq!(of(4_000.0, Ops::All).verdict, Verdict::Inconclusive);
        assert!(!of(4_000.0, Ops::All).why.is_empty() && all.why.is_empty());
        assert_eq!(of(2_000.0, Op::Read.into()).verdict, Verdict::Met);
        assert_eq!(of(2_000.0, Op::Write.into()).verdict, Verdict::Violated);
        let none = of(2_000.0, Op::Trim.into());
        assert_eq!((none.verdict, none.cell.as_str(), none.value), (Verdict::Inconclusive, "", None));
    }

    #[test]
    fn a_time_without_an_interval_decides_nothing_and_a_percentile_between_two_lies_between_them() {
        let time = |run: &Run, metric, below_ns| {
            judged(run, About::Time { op: Ops::All, metric, of_service: false, below_ns })
        };
        let mut run = run();
        let p99 = time(&run, Metric::Quantile(0.99), 1.0);
        let value = p99.value.unwrap();
        assert!(p99.low.is_some_and(|low| low <= value), "{p99:?}");
        assert_eq!(p99.verdict, Verdict::Violated);
        assert_eq!(time(&run, Metric::Quantile(0.99), value * 10.0).verdict, Verdict::Met);
        let p97 = time(&run, Metric::Quantile(0.97), 1.0);
        let p95 = time(&run, Metric::Quantile(0.95), 1.0);
        assert_eq!((p97.low, p97.high), (p95.low, p99.high));
        assert!(p97.value.is_some_and(|found| found <= value), "{p97:?}");
        for summary in &mut run.points[0].workloads[0].summary {
            let response = summary.response.as_mut().unwrap();
            (response.mean_low_ns, response.mean_high_ns) = (None, None);
            response.no_interval = Some("mean: too short".into());
        }
        let mean = time(&run, Metric::Mean, 1.0);
        assert_eq!((mean.verdict, mean.low), (Verdict::Inconclusive, None));
        assert!(mean.value.is_some() && !mean.why.is_empty());
    }

    /// A run whose latencies have no interval, as where each request waits for those before it.
    fn without_intervals() -> Run {
        let mut run = run();
        for summary in &mut run.points[0].workloads[0].summary {
            let response = summary.response.as_mut().unwrap();
            response.quantiles.iter_mut().for_each(|one| (one.low_ns, one.high_ns) = (None, None));
        }
        run
    }

    #[test]
    fn where_no_interval_holds_every_second_on_one_side_of_the_limit_decides() {
        let run = without_intervals();
        let p90 = |run: &Run, below_ns| {
            let metric = Metric::Quantile(0.9);
            judged(run, About::Time { op: Ops::All, metric, of_service: false, below_ns })
        };
        let broken = p90(&run, 100_000.0);
        assert_eq!((broken.verdict, broken.low), (Verdict::Violated, None));
        assert!(broken.why.contains("in each of 30 stretches"), "{}", broken.why);
        assert_eq!(p90(&run, 4e9).verdict, Verdict::Met);
        let at = broken.value.unwrap();
        assert_eq!(p90(&run, at).verdict, Verdict::Inconclusive, "seconds lie on both sides");
        let mut behind = run.clone();
        behind.points[0].workloads[0].not_issued = 1;
        assert_eq!(p90(&behind, 4e9).verdict, Verdict::Inconclusive, "what was not issued took longer");
        assert_eq!(p90(&behind, 100_000.0).verdict, Verdict::Violated);
        let mut short = run;
        short.points[0].workloads[0].responses_over_time.as_mut().unwrap().stretches.truncate(7);
        assert_eq!(p90(&short, 100_000.0).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_percentile_that_most_requests_are_above_is_violated_however_short_the_run() {
        let mut run = without_intervals();
        run.points[0].workloads[0].responses_over_time = None;
        let of = |metric, of_service, below_ns| {
            judged(&run, About::Time { op: Ops::All, metric, of_service, below_ns })
        };
        let p99 = |below_ns| of(Metric::Quantile(0.99), false, below_ns);
        let median = of(Metric::Quantile(0.5), false, 1.0).value.expect("a median");
        assert_eq!(p99(median).verdict, Verdict::Violated, "{:?}", p99(median));
        assert_eq!(of(Metric::Quantile(0.99), true, median).verdict, Verdict::Violated);
        let near = p99(p99(1.0).value.expect("a p99"));
        assert_eq!((near.verdict, near.high), (Verdict::Inconclusive, None), "{near:?}");
        assert!(!near.why.is_empty());
        assert_eq!(of(Metric::Quantile(0.5), false, 1.0).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn no_failure_of_few_requests_proves_no_small_share() {
        let mut run = run();
        let of = |run: &Run, below| judged(run, About::Errors { below }).verdict;
        let workload = |run: &mut Run, planned, errors| {
            (run.points[0].workloads[0].planned, run.points[0].workloads[0].errors) = (planned, errors);
        };
        workload(&mut run, 1_000, 0);
        assert_eq!(of(&run, 0.001), Verdict::Inconclusive);
        workload(&mut run, 10_000, 0);
        assert_eq!(of(&run, 0.001), Verdict::Met);
        workload(&mut run, 10_000, 40);
        assert_eq!(of(&run, 0.001), Verdict::Violated);
    }

    #[test]
    fn an_objective_of_a_phase_is_held_against_its_loads_alone() {
        let run = run();
        let about = About::Rate { op: Ops::All, metric: Metric::Iops, above: 1.0 };
        let of = |phase: &str| Promise { text: "it".into(), line: 0, phase: Some(phase.into()), about };
        let phase = run.points[0].phase.clone();
        let rows = objectives(&run, &[of(&phase), of("another")]);
        assert_eq!(rows.iter().map(|row| row.cell.as_str()).collect::<Vec<_>>(), ["p", ""]);
        let mut cut = run.clone();
        cut.points[0].complete = false;
        assert_eq!(objectives(&cut, &[of(&phase)])[0].verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_rate_of_a_short_run_is_judged_by_the_interval_that_the_record_has() {
        let mut run = run();
        run.points[0].series.clear();
        let figure = run.points[0].workloads[0].summary[0].ops_per_s;
        let (low, value) = (figure.low.unwrap(), figure.value);
        let above = |above: f64| {
            let about = About::Rate { op: Ops::All, metric: Metric::Iops, above };
            let row = judged(&run, about);
            assert!(row.low.is_some() && row.high.is_some(), "{row:?}");
            row.verdict
        };
        assert_eq!(above(value * 0.5), Verdict::Met);
        assert_eq!(above(value * 2.0), Verdict::Violated);
        assert_eq!(above(f64::midpoint(low, value)), Verdict::Inconclusive);
    }

    #[test]
    fn service_times_of_a_schedule_are_kept_where_the_responses_are() {
        let mut run = run();
        let about = |below_ns| About::Time {
            op: Ops::All,
            metric: Metric::Quantile(0.99),
            of_service: true,
            below_ns,
        };
        let response = judged(&run, about(1.0));
        assert_eq!(response.verdict, Verdict::Violated, "without a schedule both are the same");
        for class in &mut run.points[0].workloads[0].classes {
            class.service = Some(class.response.clone());
        }
        assert_eq!(judged(&run, about(1.0)).verdict, Verdict::Violated, "most services took longer");
        let at = response.value.unwrap();
        assert_eq!(judged(&run, about(at)).verdict, Verdict::Inconclusive);
        assert_eq!(judged(&run, about(response.high.unwrap() * 1.01)).verdict, Verdict::Met);
        run.points[0].workloads[0].summary[0].ops_per_s = Figure { value: 0.0, low: None, high: None };
    }
}
