//! Runs a case's configuration through the simulation.

use std::collections::BTreeMap;

use stats::Histogram;
use stats::batch_mean;
use units::convert::{narrow, truncated};
use units::{Bytes, Nanos, Share};

use workload::spec::{EngineSpec, Extent, OpMix, OpenSync, Pattern, SizeSplit, Span, Stop, Workload};
use workload::tally::{Interval, Tally};
use workload::{CompileError, Job, compile};

use crate::background::BackgroundKind;
use crate::raid::{GeometryError, HealthError};
use crate::sim::{Client, FilePlace, Sim, Watch, WorkError, WorkOrder};
use crate::spec::case::{self, Activity, ActivityKind, Load, Metric, PRECISION_LEAST, Subject};
use crate::spec::{ArraySpec, Errors, Source, array};
use crate::streams::Stream;

/// Why a configuration could not be modelled.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The address names no array that can be.
    #[error(transparent)]
    Spec(#[from] Errors),
    /// The load does not fit the array.
    #[error(transparent)]
    Load(#[from] CompileError),
    /// Too many spares.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The disk cannot be lost.
    #[error(transparent)]
    Health(#[from] HealthError),
    /// The work cannot be done.
    #[error(transparent)]
    Background(#[from] WorkError),
    /// The load uses more LUNs than there are.
    #[error(
        "the load `{load}` uses {wanted} LUNs, `{array}` has {there_are}; add `luns={wanted}` to the address"
    )]
    Luns {
        /// By its name in the case.
        load: String,
        /// The address.
        array: String,
        /// LUNs the load uses.
        wanted: u32,
        /// LUNs there are.
        there_are: usize,
    },
    /// Nothing was measured.
    #[error("{what}; give the load more time or the phase an end that it reaches")]
    Nothing {
        /// What is missing.
        what: String,
    },
}

/// What `metric` is of `subject`, in operations a second, bytes a second, seconds, parts of one, or pieces.
///
/// Same `seed`, same value. After a warm-up it is taken as soon as it is known to half a percent.
pub fn measure(
    library: &dyn Source,
    subject: &Subject,
    metric: Metric,
    seed: u64,
) -> Result<f64, MeasureError> {
    Question::new(library, subject, metric, PRECISION_LEAST)?.answer(seed)
}

/// What is asked of one configuration, its array read.
pub struct Question<'s> {
    spec: ArraySpec,
    subject: &'s Subject,
    metric: Metric,
    precision: f64,
}

/// What the simulation tells, of which questions with one key take their values.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The value.
    Value(f64),
    /// When each percent of background work is reached.
    Course(Vec<Nanos>),
}

impl<'s> Question<'s> {
    /// `metric` of `subject` by the arrays of `library`. Once the 95 % interval of it reaches no further than the part
    /// `precision` of it, a run after a warm-up may end.
    pub fn new(
        library: &dyn Source,
        subject: &'s Subject,
        metric: Metric,
        precision: f64,
    ) -> Result<Question<'s>, MeasureError> {
        Ok(Question { spec: array(library, &subject.array)?, subject, metric, precision })
    }

    /// Questions with the same key have the same finding: the array part for part, whatever it is called, the loads, the
    /// work, the metric and the precision are the same. Of work without a load any part is read off one course.
    pub fn key(&self) -> String {
        let Subject { array: _, loads, occasion, within } = self.subject;
        let topology = &self.spec.topology;
        if let (Some(Activity { work, disk, .. }), []) = (self.timed(), &loads[..]) {
            return format!("{topology:?} {work:?} {disk}");
        }
        let loads: Vec<Load> =
            loads.iter().map(|load| Load { name: String::new(), ..load.clone() }).collect();
        format!("{topology:?} {loads:?} {occasion:?} {within:?} {:?} {}", self.metric, self.precision)
    }

    /// The work whose time is asked for.
    fn timed(&self) -> Option<Activity> {
        self.subject.occasion.filter(|_| matches!(self.metric, Metric::Time | Metric::WorkRate))
    }

    /// Asks the simulation.
    pub fn find(&self, seed: u64) -> Result<Finding, MeasureError> {
        let Question { spec, subject, metric, precision } = self;
        if let Some(occasion) = self.timed() {
            return course(spec, subject, occasion, *metric, seed).map(Finding::Course);
        }
        if *metric == Metric::Knee {
            return knee(spec, subject, *precision, seed).map(Finding::Value);
        }
        let tallies = run(spec, subject, &subject.loads, *metric, *precision, seed)?;
        read(*metric, &tallies, subject.within).map(Finding::Value)
    }

    /// The value by what was found for a question with the same key.
    pub fn value(&self, finding: &Finding) -> Result<f64, MeasureError> {
        match (finding, self.timed()) {
            (Finding::Value(value), _) => Ok(*value),
            (Finding::Course(percents), Some(occasion)) => pace(&self.spec, occasion, self.metric, percents),
            (Finding::Course(_), None) => {
                Err(MeasureError::Nothing { what: format!("`{}` is not of work", self.metric.name()) })
            }
        }
    }

    /// As [`measure`] has it, to the question's precision.
    pub fn answer(&self, seed: u64) -> Result<f64, MeasureError> {
        self.value(&self.find(seed)?)
    }
}

/// When each percent of the subject's background work is reached without a load; `None` where it has a load, or no such
/// work.
pub fn progress(
    library: &dyn Source,
    subject: &Subject,
    seed: u64,
) -> Result<Option<Vec<Nanos>>, MeasureError> {
    let Some(Activity { work: ActivityKind::Background(kind), disk, .. }) = subject.occasion else {
        return Ok(None);
    };
    if !subject.loads.is_empty() {
        return Ok(None);
    }
    let spec = array(library, &subject.array)?;
    alone(&mut Sim::new(&spec.topology, seed)?, &spec, kind, disk).map(Some)
}

/// When each percent of the work is reached without a load. A disk that is rebuilt has failed then.
fn alone(
    sim: &mut Sim,
    spec: &ArraySpec,
    kind: BackgroundKind,
    disk: u32,
) -> Result<Vec<Nanos>, MeasureError> {
    if kind == BackgroundKind::Rebuild {
        sim.fail_disk(disk)?;
    }
    Ok(sim.work_alone(order(spec, kind, disk), sim.work_params(kind), SAMPLES)?)
}

/// When each percent of background work is reached, beside the loads if there are any.
fn course(
    spec: &ArraySpec,
    subject: &Subject,
    occasion: Activity,
    metric: Metric,
    seed: u64,
) -> Result<Vec<Nanos>, MeasureError> {
    let order = ordered(spec, occasion, metric)?;
    let mut sim = Sim::new(&spec.topology, seed)?;
    let alone = alone(&mut sim, spec, order.kind, occasion.disk)?;
    match reached(&alone, occasion.to) {
        Some(alone) if !subject.loads.is_empty() => {
            beside(&mut sim, spec, subject, (order, occasion.to), alone, seed)
        }
        _ => Ok(alone),
    }
}

/// The time of background work from one progress to another, or what it moves on a member meanwhile, by its course.
///
/// Between two whole percents progress is taken to lie on a straight line.
fn pace(
    spec: &ArraySpec,
    occasion: Activity,
    metric: Metric,
    percents: &[Nanos],
) -> Result<f64, MeasureError> {
    let WorkOrder { set, .. } = ordered(spec, occasion, metric)?;
    let (Some(from), Some(to)) = (reached(percents, occasion.from), reached(percents, occasion.to)) else {
        let what = format!("beside the load the work does not get so far in {PATIENCE} times its own time");
        return Err(MeasureError::Nothing { what });
    };
    let member =
        spec.topology.sets.get(set as usize).map_or(0.0, |set| set.geometry.member_used().bytes().as_f64());
    let part = member * (occasion.to.get() - occasion.from.get());
    let time = (to - from).max(1e-9);
    Ok(if metric == Metric::Time { time } else { part / time })
}

/// Places of a pass at which its pace is taken: a zoned disk changes by a few percent between two of them.
const SAMPLES: u32 = 20;

/// How many times as long as alone work may take beside a load before it is given up: under a policy that lets every
/// host go first it may never end.
const PATIENCE: u64 = 50;

/// Seconds after which so much was done; `None` where the work did not get so far.
fn reached(percents: &[Nanos], done: Share) -> Option<f64> {
    let at = |percent: usize| match percent.checked_sub(1) {
        None => Some(0.0),
        Some(index) => percents.get(index).map(|nanos| nanos.as_secs_f64()),
    };
    let percent = done.get() * 100.0;
    // A share that was written as a whole percent is one.
    let whole = if (percent - percent.round()).abs() < 1e-6 { percent.round() } else { percent.floor() };
    let (below, part) = (at(truncated::<usize>(whole))?, (percent - whole).max(0.0));
    if part < 1e-6 { Some(below) } else { Some(below + (at(truncated::<usize>(whole) + 1)? - below) * part) }
}

/// The work whose time is asked for.
fn ordered(spec: &ArraySpec, occasion: Activity, metric: Metric) -> Result<WorkOrder, MeasureError> {
    match occasion.work {
        ActivityKind::Background(kind) => Ok(order(spec, kind, occasion.disk)),
        ActivityKind::Degraded | ActivityKind::PathLost => {
            Err(MeasureError::Nothing { what: format!("`{}` is of work that ends", metric.name()) })
        }
    }
}

/// The work in the set that holds `disk`. A slot has the number that its disk has in the set.
fn order(spec: &ArraySpec, kind: BackgroundKind, disk: u32) -> WorkOrder {
    let place = |members: &[u32]| members.iter().position(|&member| member == disk);
    let found =
        spec.topology.sets.iter().zip(0u32..).find_map(|(set, number)| Some((number, place(&set.members)?)));
    let (set, slot) = found.unwrap_or((0, disk as usize));
    let slot = matches!(kind, BackgroundKind::Clone | BackgroundKind::Rebuild).then_some(narrow::<u16>(slot));
    WorkOrder { kind, set, slot }
}

/// When each percent of the work is reached with the loads beside it, up to the share that is asked for.
///
/// `alone` is the time the work takes so far without them, in seconds.
fn beside(
    sim: &mut Sim,
    spec: &ArraySpec,
    subject: &Subject,
    (order, to): (WorkOrder, Share),
    alone: f64,
    seed: u64,
) -> Result<Vec<Nanos>, MeasureError> {
    let run = Nanos::from_secs_f64(alone * PATIENCE as f64);
    let loads: Vec<Load> =
        subject.loads.iter().map(|load| Load { warmup: Nanos::ZERO, run, ..load.clone() }).collect();
    let clients = clients(sim, spec, subject, &loads, seed)?;
    let number = sim.start_work(order)?;
    // The next whole percent, which a share between two of them is drawn from.
    let last = Share::new(((to.get() * 100.0 - 1e-6).ceil() / 100.0).clamp(0.0, 1.0)).unwrap_or(to);
    sim.stop_jobs_at(number, last);
    sim.run_watched(clients, |_, job| {
        job.take_intervals();
        Watch::GoOn
    });
    Ok(sim.work_progress(number).map(|progress| progress.percents).unwrap_or_default())
}

/// Puts the array into the state that the occasion says. Background work is past its start-up and past `from`.
fn begin(sim: &mut Sim, spec: &ArraySpec, occasion: Activity) -> Result<(), MeasureError> {
    match occasion.work {
        ActivityKind::Degraded => sim.fail_disk(occasion.disk)?,
        ActivityKind::PathLost => sim.fail_link(0),
        ActivityKind::Background(kind) => {
            if kind == BackgroundKind::Rebuild {
                sim.fail_disk(occasion.disk)?;
            }
            let number = sim.start_work(order(spec, kind, occasion.disk))?;
            sim.advance_work(number, occasion.from);
        }
    }
    Ok(())
}

/// Parallel requests beyond which twice as many give less than 5 % more operations a second.
fn knee(spec: &ArraySpec, subject: &Subject, precision: f64, seed: u64) -> Result<f64, MeasureError> {
    const MOST: u32 = 4096;
    let rate = |workers: u32| {
        let loads: Vec<Load> = subject.loads.iter().map(|load| Load { workers, ..load.clone() }).collect();
        read(Metric::Iops, &run(spec, subject, &loads, Metric::Iops, precision, seed)?, None)
    };
    let (mut workers, mut before) = (1, rate(1)?);
    while workers < MOST {
        let after = rate(workers * 2)?;
        if after < before * 1.05 {
            return Ok(f64::from(workers));
        }
        (workers, before) = (workers * 2, after);
    }
    Err(MeasureError::Nothing { what: format!("operations still grow at {MOST} parallel requests") })
}

/// Lets the loads run, each as long as it says. After a warm-up they end as soon as the metric is known to the precision.
fn run(
    spec: &ArraySpec,
    subject: &Subject,
    loads: &[Load],
    metric: Metric,
    precision: f64,
    seed: u64,
) -> Result<Vec<Tally>, MeasureError> {
    let mut sim = Sim::new(&spec.topology, seed)?;
    if let Some(occasion) = subject.occasion {
        begin(&mut sim, spec, occasion)?;
    }
    for load in loads {
        hold(&mut sim, load, spec.topology.hosts);
        if load.fills {
            fill(&mut sim, load, seed);
        }
    }
    let clients = clients(&sim, spec, subject, loads, seed)?;
    let warms_up = loads.iter().all(|load| !load.warmup.is_zero());
    let mut seconds = warms_up.then(|| Seconds::of(metric, subject.within, precision));
    let outcome = sim.run_watched(clients, |_, job| {
        let intervals = job.take_intervals();
        let are_known = seconds.as_mut().is_some_and(|seconds| seconds.are_known(&intervals));
        if are_known { Watch::Stop } else { Watch::GoOn }
    });
    Ok(outcome.tallies)
}

/// The metric of all jobs together in each second of the window that is over.
struct Seconds {
    metric: Metric,
    within: Option<Nanos>,
    precision: f64,
    seconds: BTreeMap<u64, Second>,
}

/// What ended in a second.
#[derive(Default)]
struct Second {
    ops: u64,
    bytes: Bytes,
    response: Histogram,
}

/// Seconds that a metric is known from at the least.
const SECONDS: usize = 6;

/// Requests beyond a second's quantile that tell where it lies.
const BEYOND: f64 = 10.0;

impl Seconds {
    fn of(metric: Metric, within: Option<Nanos>, precision: f64) -> Seconds {
        Seconds { metric, within, precision, seconds: BTreeMap::new() }
    }

    /// Takes what a job has closed; whether the metric is known by batch means ([`batch_mean`]), and neither half of the
    /// seconds differs from it by more than their interval may.
    fn are_known(&mut self, intervals: &[Interval]) -> bool {
        for interval in intervals.iter().filter(|interval| interval.measured) {
            // Those of a window are cut a second apart from the same instant for all jobs.
            if interval.until.saturating_since(interval.from) == Nanos::from_secs(1) {
                self.add(interval);
            }
        }
        // Of the last one some jobs may not have told yet.
        let over: Option<Vec<f64>> =
            self.seconds.values().rev().skip(1).rev().map(|second| self.metric_of(second)).collect();
        over.is_some_and(|over| is_known(&over, self.precision))
    }

    fn add(&mut self, interval: &Interval) {
        let second = self.seconds.entry(interval.from.nanos()).or_default();
        for class in &interval.classes {
            second.ops += class.ops;
            second.bytes += class.bytes;
            if !matches!(self.metric, Metric::Iops | Metric::Throughput) {
                class
                    .response
                    .iter()
                    .for_each(|bucket| second.response.record_n(bucket.high(), bucket.count));
            }
        }
    }

    /// `None` where the second does not tell.
    fn metric_of(&self, second: &Second) -> Option<f64> {
        let Second { ops, bytes, response } = second;
        let quantile = |q: f64| {
            let tells = response.count() as f64 * (1.0 - q) >= BEYOND;
            response.quantile(q).filter(|_| tells).map(Nanos::as_secs_f64)
        };
        match self.metric {
            Metric::Iops => Some(*ops as f64),
            Metric::Throughput => Some(bytes.as_f64()),
            Metric::LatencyMean => response.mean(),
            Metric::LatencyP50 => quantile(0.5),
            Metric::LatencyP99 => quantile(0.99),
            Metric::ShareWithin => share_within(response, self.within),
            Metric::Time | Metric::WorkRate | Metric::Knee => None,
        }
    }
}

/// Whether the mean of `seconds` is known to the part `precision` of it.
fn is_known(seconds: &[f64], precision: f64) -> bool {
    if seconds.len() < SECONDS {
        return false;
    }
    let mean = |seconds: &[f64]| seconds.iter().sum::<f64>() / seconds.len() as f64;
    let (early, late) = seconds.split_at(seconds.len() / 2);
    let Some(known) = batch_mean(seconds) else { return false };
    let is_near = |part: &[f64]| (mean(part) / known.mean - 1.0).abs() <= precision;
    let is_narrow = known.interval.is_some_and(|interval| interval.relative_half_width() <= precision);
    is_narrow && is_near(early) && is_near(late)
}

/// The part of the requests that ended within a limit; `None` of no requests.
fn share_within(response: &Histogram, limit: Option<Nanos>) -> Option<f64> {
    let (count, above) = (response.count(), response.count_above(limit.unwrap_or(Nanos::MAX)));
    (count > 0).then(|| 1.0 - above as f64 / count as f64)
}

/// The part of each LUN that a load uses, first byte and end.
fn used<'l>(sizes: &'l [Bytes], load: &'l Load) -> impl Iterator<Item = (u32, u64, u64)> + 'l {
    (0..load.luns).zip(sizes).map(|(lun, &size)| {
        let used = match (load.span, load.span_share) {
            (Some(span), _) => span.get(),
            (None, share) => truncated::<u64>(share.unwrap_or(Share::ALL).get() * size.as_f64()),
        };
        let from = load.offset.get().min(size.get());
        (lun, from, from.saturating_add(used).min(size.get()))
    })
}

/// Has the memory of the array, and the page cache of a load that goes through it, hold what the load finds there.
fn hold(sim: &mut Sim, load: &Load, hosts: u32) {
    let sizes = sim.lun_sizes();
    for (lun, from, end) in used(&sizes, load) {
        let held = truncated::<u64>(load.held.get() * (end - from) as f64);
        let part = Bytes::new(end - held)..Bytes::new(end);
        if held == 0 {
            continue;
        }
        if !load.direct {
            sim.hold_pages(lun % hosts.max(1), lun, part.clone());
        }
        sim.hold(lun, part.start, part.end);
    }
}

/// Has the caches of the array be as full as a load's writes make them: each has taken random writes of its size, on all
/// its LUNs in turn, until it takes no more.
fn fill(sim: &mut Sim, load: &Load, seed: u64) {
    let sizes = sim.lun_sizes();
    let mut draws = Stream::open(seed, "filling");
    let size = load.size.get().max(1);
    let mut open: Vec<(u32, u64, u64)> =
        used(&sizes, load).map(|(lun, from, end)| (lun, from, (end - from) / size)).collect();
    // A part that is smaller than the cache's room never fills it: as many writes as it has places are enough.
    let most = open.iter().map(|(_, _, slots)| *slots).max().unwrap_or(0);
    for _ in 0..most {
        open.retain(|&(lun, from, slots)| {
            let at = from + draws.below(slots) * size;
            slots > 0 && sim.fill_with(lun, Bytes::new(at), Bytes::new(at + size))
        });
        if open.is_empty() {
            return;
        }
    }
}

/// A job for each worker of each load.
fn clients(
    sim: &Sim,
    spec: &ArraySpec,
    subject: &Subject,
    loads: &[Load],
    seed: u64,
) -> Result<Vec<Client>, MeasureError> {
    let sizes = sim.lun_sizes();
    let mut clients = Vec::new();
    for (load, number) in loads.iter().zip(0u64..) {
        if load.luns as usize > sizes.len() {
            return Err(MeasureError::Luns {
                load: load.name.clone(),
                array: subject.array.clone(),
                wanted: load.luns,
                there_are: sizes.len(),
            });
        }
        for lun in 0..load.luns {
            let workload = workload(load, seed ^ number.wrapping_mul(0x9e37_79b9) ^ u64::from(lun) << 32);
            for job in compile(&workload, &sizes[lun as usize..=lun as usize])? {
                let (host, buffered) = (lun % spec.topology.hosts, !workload.direct);
                clients.push(Client {
                    job: Job::new(job),
                    files: vec![FilePlace::whole(lun)],
                    host,
                    buffered,
                    durable: workload.durability.open != OpenSync::None,
                });
            }
        }
    }
    Ok(clients)
}

/// The load as a workload on one LUN.
fn workload(load: &Load, seed: u64) -> Workload {
    let span = match (load.span, load.span_share) {
        (Some(span), _) => Span::Of(Extent::Bytes(span)),
        (None, Some(share)) => Span::Of(Extent::Part(share)),
        (None, None) => Span::Auto,
    };
    let plain = Workload::plain(&load.name);
    Workload {
        pattern: match load.pattern {
            case::Pattern::Sequential => Pattern::Sequential,
            // The tools of the write-ups draw afresh each time.
            case::Pattern::Random => Pattern::RandomWithRepeats,
        },
        sizes: SizeSplit::one(load.size),
        mix: OpMix { reads: load.reads, ..plain.mix },
        offset: Extent::Bytes(load.offset),
        align: load.align,
        span,
        workers: load.workers,
        depth: load.depth,
        stop: Stop { warmup: load.warmup, run: Some(load.run), ..Stop::default() },
        seed,
        direct: load.direct,
        engine: EngineSpec { submit_batch: 64, ..plain.engine },
        ..plain
    }
}

/// All jobs together.
fn read(metric: Metric, tallies: &[Tally], within: Option<Nanos>) -> Result<f64, MeasureError> {
    let per_second = |count: &dyn Fn(&Tally) -> f64| {
        tallies.iter().map(|tally| count(tally) / tally.measured().as_secs_f64().max(1e-9)).sum::<f64>()
    };
    let mut response = Histogram::new();
    for class in tallies.iter().flat_map(|tally| &tally.classes) {
        response.merge(&class.response);
    }
    let nothing = || MeasureError::Nothing { what: "no request ended in the measured time".into() };
    let quantile = |q| response.quantile(q).map(Nanos::as_secs_f64).ok_or_else(nothing);
    match metric {
        Metric::Iops => Ok(per_second(&|tally| tally.ops() as f64)),
        Metric::Throughput => {
            Ok(per_second(&|tally| tally.classes.iter().map(|class| class.bytes).sum::<Bytes>().as_f64()))
        }
        Metric::LatencyMean => response.mean().map(|ns| ns * 1e-9).ok_or_else(nothing),
        Metric::LatencyP50 => quantile(0.5),
        Metric::LatencyP99 => quantile(0.99),
        Metric::ShareWithin => share_within(&response, within).ok_or_else(nothing),
        Metric::Time | Metric::WorkRate | Metric::Knee => {
            Err(MeasureError::Nothing { what: format!("`{}` is not measured of a load", metric.name()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Shipped;
    use workload::tally::{Action, Class, ClassInterval};

    fn part(part: f64) -> Share {
        Share::new(part).expect("a share")
    }

    /// Random reads of 8 KiB, eight outstanding, beside the work on `disk` up to one percent.
    fn beside(array: &str, loads: u32, work: ActivityKind, disk: u32) -> Subject {
        let load = Load {
            name: "load".into(),
            pattern: case::Pattern::Random,
            size: Bytes::KIB * 8,
            reads: Share::ALL,
            workers: 1,
            depth: 8,
            direct: true,
            span: None,
            span_share: None,
            held: Share::NONE,
            fills: false,
            luns: 1,
            offset: Bytes::ZERO,
            align: None,
            warmup: Nanos::from_secs(1),
            run: Nanos::from_secs(4),
        };
        let occasion = Some(Activity { work, disk, from: Share::NONE, to: part(0.01) });
        Subject { array: array.into(), loads: vec![load; loads as usize], occasion, within: None }
    }

    fn measured(subject: &Subject, metric: Metric) -> f64 {
        measure(&Shipped, subject, metric, 1).expect("the shipped array can do it")
    }

    /// After how many seconds a metric is known, each of as many requests with that response time.
    fn known_after(metric: Metric, precision: f64, seconds: &[(u64, Nanos)]) -> Option<usize> {
        let mut known = Seconds::of(metric, Some(Nanos::from_millis(2)), precision);
        seconds.iter().zip(1u64..).position(|(&(ops, time), second)| {
            let mut response = Histogram::new();
            response.record_n(time, ops);
            let class = ClassInterval {
                class: Class { op: Action::Block(workload::Op::Read), size: Bytes::KIB },
                ops,
                bytes: Bytes::KIB * ops,
                response: response.buckets().collect(),
                service: Vec::new(),
                longest: time,
            };
            let interval = Interval {
                from: units::Instant::from_nanos(second * 1_000_000_000),
                until: units::Instant::from_nanos((second + 1) * 1_000_000_000),
                measured: true,
                classes: vec![class],
            };
            known.are_known(&[interval])
        })
    }

    #[test]
    fn a_rate_is_known_once_its_interval_is_narrow_and_not_while_it_changes() {
        let after = |precision, counts: &[u64]| {
            let seconds: Vec<_> = counts.iter().map(|ops| (*ops, Nanos::from_millis(1))).collect();
            known_after(Metric::Iops, precision, &seconds)
        };
        // The seventh second says that the sixth is over.
        assert_eq!(after(0.005, &[1_000; 20]), Some(6));
        let rough: Vec<u64> = (0..20).map(|at| 1_000 + at % 2 * 200).collect();
        assert_eq!(after(0.005, &rough), None);
        // Twenty of them lie within 4.4 % with 95 % confidence.
        assert!(after(0.06, &rough).is_some_and(|seconds| (8..20).contains(&seconds)));
        let rising: Vec<u64> = (0..20).map(|at| 1_000 + at * 10).collect();
        assert_eq!(after(0.005, &rising), None);
        assert_eq!(after(0.005, &[1_000; 6]), None);
    }

    #[test]
    fn a_latency_is_known_by_its_own_seconds_and_a_quantile_by_those_that_have_enough_beyond_it() {
        let milli = |count| Nanos::from_millis(count);
        let steady: Vec<_> = (0..20).map(|_| (900, milli(1))).collect();
        let rough: Vec<_> = (0..20).map(|at| (900, milli(1 + at % 2 * 3))).collect();
        for metric in [Metric::LatencyMean, Metric::LatencyP50, Metric::ShareWithin] {
            assert_eq!(known_after(metric, 0.01, &steady), Some(6), "{metric:?}");
            assert_eq!(known_after(metric, 0.01, &rough), None, "{metric:?}");
        }
        assert_eq!(known_after(Metric::Iops, 0.01, &rough), Some(6));
        assert_eq!(known_after(Metric::LatencyP99, 0.01, &steady), None);
        let many: Vec<_> = (0..20).map(|_| (1_000, milli(1))).collect();
        assert_eq!(known_after(Metric::LatencyP99, 0.01, &many), Some(6));
    }

    #[test]
    fn parts_of_a_pass_are_read_off_one_course() {
        let initialise = ActivityKind::Background(BackgroundKind::Initialise);
        let asked = |to, metric| {
            let mut subject = beside("md3000", 0, initialise, 0);
            if let Some(occasion) = subject.occasion.as_mut() {
                occasion.to = part(to);
            }
            let question =
                Question::new(&Shipped, &subject, metric, 0.005).expect("the shipped array is one");
            let value = question.value(&question.find(1).expect("it has a course")).expect("it gets so far");
            (question.key(), value)
        };
        let [(one, tenth), (other, whole)] = [0.1, 1.0].map(|to| asked(to, Metric::Time));
        assert_eq!(one, other);
        assert!(whole > 9.0 * tenth && whole < 15.0 * tenth, "{whole} against {tenth}");
        assert_eq!(one, asked(0.1, Metric::WorkRate).0);
    }

    #[test]
    fn progress_between_two_percents_lies_on_a_straight_line() {
        let percents = [10, 30, 60].map(Nanos::from_secs);
        let at = |share| reached(&percents, part(share));
        assert_eq!((at(0.0), at(0.01), at(0.03)), (Some(0.0), Some(10.0), Some(60.0)));
        assert!(at(0.015).is_some_and(|seconds| (seconds - 20.0).abs() < 1e-6));
        assert_eq!((at(0.035), at(0.04)), (None, None));
    }

    #[test]
    fn the_course_of_work_ends_when_its_time_says_and_a_load_has_none() {
        let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
        let subject = beside("esds-s24s-g2240", 0, rebuild, 3);
        let course = progress(&Shipped, &subject, 1).expect("it can").expect("it has one");
        assert_eq!(course.len(), 100);
        assert!((course[0].as_secs_f64() / measured(&subject, Metric::Time) - 1.0).abs() < 1e-9);
        let loaded = beside("esds-s24s-g2240", 1, rebuild, 3);
        assert_eq!(progress(&Shipped, &loaded, 1).expect("it can"), None);
    }

    #[test]
    fn work_goes_on_in_the_set_that_holds_its_disk() {
        let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
        let [first, second] =
            [3, 15].map(|disk| measured(&beside("esds-s24s-g2240", 0, rebuild, disk), Metric::Time));
        assert!((second / first - 1.0).abs() < 0.01, "{second} against {first}");
    }

    #[test]
    fn a_load_beside_work_with_a_start_up_meets_the_work_and_not_its_start_up() {
        let rebuild = ActivityKind::Background(BackgroundKind::Rebuild);
        let degraded = measured(&beside("esds-s24s-g2240", 1, ActivityKind::Degraded, 3), Metric::Iops);
        let rebuilding = measured(&beside("esds-s24s-g2240", 1, rebuild, 3), Metric::Iops);
        assert!(rebuilding < 0.97 * degraded, "{rebuilding} against {degraded}");
    }

    #[test]
    fn work_that_lets_a_busy_host_go_first_for_ever_is_given_up() {
        let array = "perc-3-qc?raid=5&disks=3&background.policy=idle";
        let subject = beside(array, 1, ActivityKind::Background(BackgroundKind::Rebuild), 1);
        let error = measure(&Shipped, &subject, Metric::Time, 1).expect_err("it never gets a turn");
        assert!(error.to_string().contains("50 times its own time"), "{error}");
    }

    #[test]
    fn a_state_that_does_not_end_has_no_time() {
        let subject = beside("md3000", 1, ActivityKind::Degraded, 3);
        assert!(matches!(measure(&Shipped, &subject, Metric::Time, 1), Err(MeasureError::Nothing { .. })));
    }
}
