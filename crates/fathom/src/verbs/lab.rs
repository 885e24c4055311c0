//! The array lab: a load curve of a virtual array with its knee, its bottleneck and what is published of it.
//!
//! [`answer`] takes and gives plain data; `lab_json` has the same as JSON.

use array::spec::{ArraySpec, Source};
use document::Errors;
use host::clock::Clock;
use modelled::ModelError;
use modelled::lab::breakdown::{PartTime, breakdown};
use modelled::lab::curve::{Curve, DepthLoad, curve};
use modelled::lab::published::{Published, published};
use modelled::lab::slots::{Slot, slots};
use modelled::lab::{Effort, LabError, LabPattern, LabWorkload, Setting, first_seed};
use record::{Figure, Finding, OpSummary, Point, Run, Settled, Severity};
use serde::{Deserialize, Serialize};
use units::{Bytes, BytesPerSecond, Nanos, OpsPerSecond};

use crate::verbs::bare::run_of;

/// What is asked of the lab.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabRequest {
    /// The array's address.
    pub array: String,
    /// What is issued.
    pub workload: LabWorkload,
    /// Queue depths, rising.
    #[serde(default = "usual_depths")]
    pub depths: Vec<u32>,
    /// Disks that have failed.
    #[serde(default)]
    pub fail: Vec<u32>,
    /// Every random choice follows from it.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// How long each depth is simulated.
    #[serde(default)]
    pub effort: Effort,
}

/// The depths of a request that names none.
pub fn usual_depths() -> Vec<u32> {
    vec![1, 2, 4, 8, 16, 32, 64]
}

/// What the lab answers.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The figure with its uncertainty, in a sentence.
    pub answer: String,
    /// What limits it, in a sentence.
    pub reading: String,
    /// The load curve.
    pub points: Vec<CurvePoint>,
    /// The depth nearest to the knee; none where the curve has none.
    pub knee: Option<u32>,
    /// The bottleneck at the highest rate; none where no part is one.
    pub limit: Option<Limit>,
    /// Where the mean response time went, for each depth.
    pub breakdown: Vec<DepthBreakdown>,
    /// Published figures of this array under this workload.
    pub published: Vec<PublishedFigure>,
    /// The enclosure.
    pub slots: Vec<Slot>,
    /// What hosts can use of the LUNs.
    pub usable_bytes: u64,
    /// How long each depth was simulated.
    pub effort: Effort,
    /// What makes figures doubtful.
    pub warnings: Vec<Warning>,
    /// How long it took to answer, in milliseconds.
    pub took_ms: f64,
}

/// One depth of the curve.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    pub depth: u32,
    pub iops: f64,
    pub mb_s: f64,
    pub mean_us: Option<f64>,
    pub p50_us: Option<f64>,
    /// None where too few requests ended for one.
    pub p99_us: Option<f64>,
    /// The 95 % interval of the IOPS.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// Requests behind the figures.
    pub requests: u64,
    /// The measured window, in virtual seconds.
    pub seconds: f64,
    /// The plan that `fathom run` gives the same figures with.
    pub plan: String,
}

/// The bottleneck.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    pub part: String,
    pub evidence: String,
}

/// Where the time went at one depth.
#[derive(Clone, Debug, Serialize)]
pub struct DepthBreakdown {
    pub depth: u32,
    pub parts: Vec<PartTime>,
}

/// A figure from elsewhere.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedFigure {
    #[serde(flatten)]
    pub figure: Published,
    pub kind: &'static str,
}

/// A finding about some of the depths.
#[derive(Clone, Debug, Serialize)]
pub struct Warning {
    pub code: String,
    pub sentence: String,
    /// The depths that it is about; empty where it is about the curve.
    pub depths: Vec<u32>,
}

/// Why the lab has no answer: what was tried and why not, and what to do, where that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabRefusal {
    pub error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl From<LabError> for LabRefusal {
    fn from(error: LabError) -> LabRefusal {
        match error {
            LabError::Spec(errors) | LabError::Model(ModelError::Spec(errors)) => of_mistakes(&errors),
            error => LabRefusal { error: error.to_string(), help: None },
        }
    }
}

/// The first of the mistakes, whose help is what would be right.
fn of_mistakes(errors: &Errors) -> LabRefusal {
    let error = errors.iter().map(|mistake| mistake.message().to_owned()).collect::<Vec<_>>().join("; ");
    LabRefusal { error, help: errors.iter().find_map(|mistake| mistake.help().map(str::to_owned)) }
}

/// Milliseconds since `clock` started.
pub(super) fn milliseconds(clock: &Clock) -> f64 {
    clock.now().nanos() as f64 / 1e6
}

/// The load curve of `ask`, on an array of `library`.
pub fn answer(ask: &LabRequest, library: &dyn Source) -> Result<Answer, LabError> {
    let clock = Clock::start();
    let LabRequest { array, workload, fail, seed, .. } = ask;
    let setting = Setting { array: array.clone(), workload: *workload, fail: fail.clone(), seed: *seed };
    let curve = curve(&setting, &ask.depths, ask.effort, library)?;
    let run = judged(&curve);
    let best = best(&curve);
    let knee = knee(&run, &curve);
    assert!(best < curve.loads.len(), "the highest rate is that of a load");
    debug_assert_eq!(run.points.len(), curve.loads.len(), "each load is a point of the record");
    let limit = limit_of(&run, best);
    Ok(Answer {
        answer: sentence(&curve, workload, knee, best) + &model_error(&curve.spec, array, library),
        reading: limit.map_or_else(String::new, |found| {
            format!("At queue depth {}: {}", curve.loads[best].depth, found.sentence)
        }),
        points: curve.loads.iter().map(point).collect(),
        knee: knee.map(|place| curve.loads[place].depth),
        limit: limit.and_then(|found| {
            let part = found.bottleneck()?.to_owned();
            Some(Limit { part, evidence: found.sentence.clone() })
        }),
        breakdown: curve
            .loads
            .iter()
            .map(|load| DepthBreakdown { depth: load.depth, parts: breakdown(&load.point) })
            .collect(),
        published: published(&curve.spec, fail, workload)
            .into_iter()
            .map(|figure| PublishedFigure { figure, kind: "published" })
            .collect(),
        slots: slots(&curve.spec, fail),
        usable_bytes: curve.luns.iter().copied().sum::<Bytes>().get(),
        effort: ask.effort,
        warnings: warnings(&run, &curve),
        took_ms: milliseconds(&clock),
    })
}

/// A sentence on how far the model was from published figures; empty where nothing is known of that.
fn model_error(spec: &ArraySpec, address: &str, library: &dyn Source) -> String {
    let validation = modelled::validation(library, address, spec);
    validation
        .map_or_else(String::new, |known| format!(" {}.", report::capital(&report::model_error(&known))))
}

/// The loads as one record, judged as any run. Each was on an array of its own: nothing carries over.
fn judged(curve: &Curve) -> Run {
    let own = |load: &DepthLoad| {
        let done = "an array of its own".to_owned();
        let settled = Some(Settled { done, seconds: 0.0, left_bytes: Some(0) });
        Point { settled, ..load.point.clone() }
    };
    let mut run = run_of(curve.loads.iter().map(own).collect());
    run.findings = explain::findings(&run);
    run
}

/// All requests of a load together; a load of the lab has one workload.
pub(super) fn total(point: &Point) -> Option<&OpSummary> {
    point.workloads.first()?.total()
}

fn iops(load: &DepthLoad) -> f64 {
    total(&load.point).map_or(0.0, |total| total.ops_per_s.value)
}

/// The depth of the highest rate.
fn best(curve: &Curve) -> usize {
    let better = |best: usize, place: usize| {
        if iops(&curve.loads[place]) > iops(&curve.loads[best]) { place } else { best }
    };
    (0..curve.loads.len()).fold(0, better)
}

/// The depth that is nearest to the knee by its ratio.
fn knee(run: &Run, curve: &Curve) -> Option<usize> {
    let found = run.findings.iter().find(|finding| finding.code == "knee")?;
    let knee = *found.numbers.get("knee")?;
    debug_assert!(knee > 0.0, "a knee is a depth, and has a ratio to others");
    let far = |place: &usize| (f64::from(curve.loads[*place].depth) / knee).ln().abs();
    (0..curve.loads.len()).min_by(|one, other| far(one).total_cmp(&far(other)))
}

/// The finding about the bottleneck of a point.
fn limit_of(run: &Run, place: usize) -> Option<&Finding> {
    const CODES: [&str; 4] =
        ["bottleneck", "latency-bound", "bottleneck-uncounted", "bottleneck-undetermined"];
    let own = |finding: &&Finding| finding.point.is_some_and(|index| index as usize == place);
    run.findings.iter().filter(own).find(|finding| CODES.contains(&finding.code.as_str()))
}

fn point(load: &DepthLoad) -> CurvePoint {
    let total = total(&load.point);
    let response = total.and_then(|total| total.response.as_ref());
    let quantile = |q: f64| response?.quantile(q).map(|figure| figure.value_ns as f64 / 1e3);
    let rate = total.map(|total| total.ops_per_s);
    let seconds = load.point.workloads.first().map_or(0.0, |workload| workload.measured_ns as f64 / 1e9);
    CurvePoint {
        depth: load.depth,
        iops: iops(load),
        mb_s: total.map_or(0.0, |total| total.bytes_per_s.value / 1e6),
        mean_us: response.map(|response| response.mean_ns / 1e3),
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
        low: rate.and_then(|rate| rate.low),
        high: rate.and_then(|rate| rate.high),
        no_interval: rate.filter(|rate| rate.low.is_none()).map(|_| no_interval(seconds)),
        requests: response.map_or(0, |response| response.count),
        seconds,
        plan: load.plan.clone(),
    }
}

/// Why a rate has no interval. Records cut a window into seconds.
fn no_interval(seconds: f64) -> String {
    debug_assert!(seconds >= 0.0, "a window has a length");
    let window = Nanos::from_secs_f64(seconds);
    match seconds < 4.0 {
        true => format!("the window of {window} has no four whole seconds to differ from each other"),
        false => format!("the rate changed more slowly than the window of {window} is long"),
    }
}

/// Findings that make figures doubtful, each once with its depths, and caches that were not yet full.
fn warnings(run: &Run, curve: &Curve) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for finding in run.findings.iter().filter(|finding| finding.severity >= Severity::Warning) {
        let depth = finding.point.and_then(|index| Some(curve.loads.get(index as usize)?.depth));
        match warnings.iter_mut().find(|known| known.code == finding.code) {
            Some(known) => known.depths.extend(depth),
            None => warnings.push(Warning {
                code: finding.code.clone(),
                sentence: finding.sentence.clone(),
                depths: depth.into_iter().collect(),
            }),
        }
    }
    warnings.extend(filling(curve));
    warnings
}

/// Depths whose writes went into a cache that still had room.
fn filling(curve: &Curve) -> Option<Warning> {
    let room = curve.spec.write_cache();
    let depths = filling_depths(curve);
    let sentence = format!(
        "The write cache of {room} was still filling: writes met its free room, and the sustained rate may be lower."
    );
    (!depths.is_empty()).then(|| Warning { code: "cache-filling".into(), sentence, depths })
}

fn filling_depths(curve: &Curve) -> Vec<u32> {
    let filling = curve.loads.iter().filter(|load| load.point.is_filling());
    filling.map(|load| load.depth).collect()
}

/// Ahead of rates that do not last.
const UNSUSTAINED: &str = "Not sustained, the write cache was still filling: ";
/// The figure at the knee, or the highest, and the other of the two.
fn sentence(curve: &Curve, workload: &LabWorkload, knee: Option<usize>, best: usize) -> String {
    let place = knee.unwrap_or(best);
    let load = &curve.loads[place];
    let Some(total) = total(&load.point) else { return "No request completed.".into() };
    let is_knee = if knee.is_some() { ", the knee" } else { ", the highest rate" };
    let unsustained = if filling_depths(curve).contains(&load.depth) { UNSUSTAINED } else { "" };
    let mut sentence =
        format!("{unsustained}{} at queue depth {}{is_knee}", rate(total, workload), load.depth);
    if let Some(response) = &total.response {
        sentence += &format!(", with a mean response time of {}", nanos(response.mean_ns));
        let p99 =
            response.quantile(0.99).map(|figure| format!(" and a p99 of {}", Nanos::new(figure.value_ns)));
        sentence += &p99.unwrap_or_default();
    }
    if place != best
        && let Some(highest) = self::total(&curve.loads[best].point)
    {
        let (figure, unit) = figure(highest, workload);
        let figure = written(figure.value, unit);
        sentence += &format!("; the highest is {figure} at queue depth {}", curve.loads[best].depth);
    }
    sentence + "."
}

fn nanos(mean_ns: f64) -> Nanos {
    Nanos::from_secs_f64(mean_ns / 1e9)
}

/// What the workload is commonly judged by: IOPS of random I/O, MB/s of sequential.
fn figure(total: &OpSummary, workload: &LabWorkload) -> (Figure, LabPattern) {
    match workload.pattern {
        LabPattern::Random => (total.ops_per_s, LabPattern::Random),
        LabPattern::Sequential => (total.bytes_per_s, LabPattern::Sequential),
    }
}

fn written(value: f64, of: LabPattern) -> String {
    match of {
        LabPattern::Random => format!("{} IOPS", OpsPerSecond::new(value)),
        LabPattern::Sequential => BytesPerSecond::new(value).to_string(),
    }
}

/// `2,468 IOPS (95 % CI 2,384 to 2,552)`.
fn rate(total: &OpSummary, workload: &LabWorkload) -> String {
    let (figure, of) = figure(total, workload);
    let short = |value: f64| {
        let text = written(value, of);
        text.rsplit_once(' ').map_or(text.clone(), |(number, _)| number.to_owned())
    };
    let interval = match figure.low.zip(figure.high) {
        Some((low, high)) => format!("95 % CI {} to {}", short(low), short(high)),
        None => "no interval: too short a window".into(),
    };
    format!("{} ({interval})", written(figure.value, of))
}
