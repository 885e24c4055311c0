//! A point of a plan on a virtual array again and again, one thing changed at a time.
//!
//! Every change is tried with the same seeds as the unchanged array, so that both are asked for the same requests; what
//! the seeds differ by with nothing changed is the noise below which nothing is called an effect. Each trial carries out
//! the plan from its first point to the one that is asked about: caches, failed disks and rebuilds are then as they were
//! in the record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use array::sim::{Resource, Topology};
use array::spec::{self, Source};
use conduct::{Machine, World, WorldError};
use record::names::trial;
use record::{Behalf, Effect, Figure, Op, Point, Trial, WhatIf};
use stats::Histogram;
use stats::difference::{Estimate, Noise, Ratio};
use units::convert::{narrow, truncated};
use units::{Bytes, Nanos};
use workload::plan::{Load, Plan, Point as Planned, Task};
use workload::spec::{Pace, Workload};

use crate::settings::{Setting, row_of};
use crate::world::{ModelError, ModelledWorld};

/// How many times as much is in flight where that is tried.
const DEEPER: u32 = 2;

/// By how much two quantiles may differ that lie on either side of the edge of a histogram's bucket, as a part.
const BUCKET: f64 = 1.0 / 64.0;

/// How many times as fast a part is made where the record leaves the limit open: enough to tell one from another.
pub const SETTLE_TIMES: f64 = 1.5;

/// How often each is tried for that.
pub const SETTLE_SEEDS: u32 = 3;

/// How often what then seems to matter is tried, where so few leave it open: an interval of nine is a third as wide.
pub const SETTLE_AGAIN: u32 = 9;

/// As many parts are tried again, beside the array as it is and twice as much in flight.
pub const SETTLE_PARTS: usize = 2;

/// The rate of all workloads of a point together; its interval is as wide as theirs together.
pub fn rate_of(point: &Point) -> Figure {
    let totals =
        || point.workloads.iter().filter_map(|workload| workload.total()).map(|total| total.ops_per_s);
    Figure {
        value: totals().map(|rate| rate.value).sum(),
        low: totals().map(|rate| rate.low).sum(),
        high: totals().map(|rate| rate.high).sum(),
    }
}

/// A point of a plan on an array whose parts are changed one at a time.
#[derive(Clone, Copy, Debug)]
pub struct Study<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Which of its points.
    pub index: usize,
    /// The array, as `array:md3000?raid=10`.
    pub address: &'a str,
    /// What of that array was made how many times as fast before anything was tried; nothing for a run of an address.
    pub altered: &'a [(Resource, f64)],
    /// Its rate in the record, with its interval.
    pub recorded: Figure,
    /// How often each is tried, at least two.
    pub seeds: u32,
    /// How many times as fast a part is made.
    pub times: f64,
    /// What runs the simulation.
    pub machine: &'a Machine,
}

impl Study<'_> {
    /// The point that is asked about.
    fn planned(&self) -> Option<&Planned> {
        self.plan.points().iter().find(|point| point.index == self.index)
    }
}

/// Why it could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// The array.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The load.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The point asks for nothing.
    #[error(
        "point {0} brings the array into a state and issues no requests, so that nothing can be compared"
    )]
    NoLoad(usize),
    /// Nothing was measured.
    #[error("the point gave no figure when it was run again")]
    NoFigure,
}

/// Kinds of parts, a bit for each of [`Resource::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts(u16);

impl Parts {
    fn of(all: impl Iterator<Item = Resource>) -> Parts {
        let bit =
            |part: Resource| Resource::ALL.iter().position(|other| *other == part).map_or(0, |at| 1 << at);
        Parts(all.fold(0, |bits, part| bits | bit(part)))
    }

    fn each(self) -> impl Iterator<Item = Resource> {
        (0..).zip(Resource::ALL).filter(move |(at, _)| self.0 >> at & 1 == 1).map(|(_, part)| part)
    }

    /// `link and controller bus`.
    fn name(self) -> String {
        let names: Vec<&str> = self.each().map(Resource::name).collect();
        match names.split_last() {
            Some((last, first)) if !first.is_empty() => format!("{}{}{last}", first.join(", "), trial::AND),
            _ => names.concat(),
        }
    }
}

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    /// The same again: all parts next to nothing faster, so that whatever follows from chance is another chance.
    Again,
    /// Nothing but a warm-up after which a write-intent bitmap has its steady state.
    WarmedUp,
    Faster(Resource),
    /// Parts that are saturated side by side, by their places in [`Resource::ALL`].
    Together(Parts),
    Deeper,
    /// Twice as many requests reach each LUN; with it twice as much in flight, where all that is reaches it already.
    Wider {
        deeper: bool,
    },
    /// What the load pays for is put right.
    PutRight(Setting),
}

impl Change {
    fn is_deeper(self) -> bool {
        matches!(self, Change::Deeper | Change::Wider { deeper: true })
    }

    fn apply(self, topology: &mut Topology, times: f64, point: &Planned) {
        match self {
            Change::Faster(resource) => resource.speed_up(topology, times),
            Change::Together(parts) => parts.each().for_each(|part| part.speed_up(topology, times)),
            Change::Wider { .. } => {
                topology.host.lun_depth = topology.host.lun_depth.max(1).saturating_mul(DEEPER);
            }
            Change::PutRight(setting) => setting.apply(topology, point),
            Change::Again => Resource::ALL.into_iter().for_each(|part| part.speed_up(topology, AGAIN)),
            Change::Nothing | Change::WarmedUp | Change::Deeper => {}
        }
    }

    /// The unchanged array that it is compared with; for a bitmap, one that had the bitmap's warm-up as well.
    fn base(self) -> Change {
        if self == Change::PutRight(Setting::NoBitmap) { Change::WarmedUp } else { Change::Nothing }
    }

    /// The warm-up that it takes at least.
    fn warmup(self) -> Option<Nanos> {
        let is_of_bitmap = [Change::WarmedUp, Change::PutRight(Setting::NoBitmap)].contains(&self);
        is_of_bitmap.then_some(BITMAP_SETTLES)
    }
}

/// So many times as fast is the same again.
const AGAIN: f64 = 1.000_1;

/// Until then a load sets bits of a write-intent bitmap that would be set: bits are cleared five to ten seconds after the last write to
/// their regions (md/bitmap.c: `daemon_sleep`, 5 s).
const BITMAP_SETTLES: Nanos = Nanos::from_secs(15);

/// What one trial gave.
#[derive(Clone, Copy, Debug)]
struct Figures {
    ops_per_s: f64,
    p99_ns: Option<f64>,
    /// Operations of disks for each request.
    operations: Option<f64>,
    /// Whether writes went into free room of a write cache.
    is_filling: bool,
    /// The kinds of parts of which one is saturated.
    full: Parts,
}

/// Tries every part of the array faster, twice as much in flight, twice as many requests that reach each LUN where more may
/// wait for that, and what the load pays for put right ([`Setting`]); the most worth first.
///
/// All that the plan has before the point is run first. Trials run side by side, one on each processor. `stop`
/// ends it with [`WorldError::Interrupted`].
pub fn what_if(
    study: &Study<'_>,
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<WhatIf, WhatIfError> {
    let point = study.plan.points().get(study.index).ok_or(WhatIfError::NoLoad(study.index))?;
    let Task::Load(load) = &point.task else { return Err(WhatIfError::NoLoad(study.index)) };
    let mut topology = spec::array(library, study.address).map_err(ModelError::from)?.topology;
    alter(study, &mut topology);
    let parts = Resource::ALL.into_iter().filter(|one| one.is_in(&topology)).map(Change::Faster);
    let deeper = is_closed(load).then_some(Change::Deeper);
    let settings = settings_of(study, point, &topology);
    let changes: Vec<Change> = parts.chain(deeper).chain(wider(load, &topology)).chain(settings).collect();
    tried(study, &point.name, &changes, library, stop)
}

/// What the load of the point pays for, put right with [`SETTLE_SEEDS`] seeds, whatever `study` says; `None` where there is nothing
/// that it may pay for.
pub fn put_right(
    study: &Study<'_>,
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<Option<WhatIf>, WhatIfError> {
    let study = Study { seeds: SETTLE_SEEDS, times: SETTLE_TIMES, ..*study };
    let point = study.plan.points().iter().find(|point| point.index == study.index);
    let point = point.ok_or(WhatIfError::NoLoad(study.index))?;
    let mut topology = spec::array(library, study.address).map_err(ModelError::from)?.topology;
    alter(&study, &mut topology);
    let changes: Vec<Change> = settings_of(&study, point, &topology).collect();
    if changes.is_empty() {
        return Ok(None);
    }
    tried(&study, &point.name, &changes, library, stop).map(Some)
}

/// What the load of `point` may pay for; a bitmap where what it has to be tried after is no more than [`BITMAP_FILLS`] requests.
fn settings_of<'s>(
    study: &'s Study<'_>,
    point: &'s Planned,
    topology: &'s Topology,
) -> impl Iterator<Item = Change> + 's {
    let settings = Setting::ALL.into_iter().filter(|one| one.is_in(study.plan, point, topology));
    let warms_up = point.workloads().iter().map(|one| one.stop.warmup).max().unwrap_or(Nanos::ZERO);
    settings.map(Change::PutRight).filter(move |change| {
        let longer = change.warmup().filter(|own| *own > warms_up);
        longer.is_none_or(|own| study.recorded.value * own.as_secs_f64() <= BITMAP_FILLS)
    })
}

/// The same [`SETTLE_TIMES`] as fast with [`SETTLE_SEEDS`] seeds, whatever `study` says of both; where `is_settled` says
/// that this leaves the limit open, the [`SETTLE_PARTS`] parts that brought most, and the depth, with [`SETTLE_AGAIN`].
pub fn settle(
    study: &Study<'_>,
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
    is_settled: impl Fn(&WhatIf) -> bool,
) -> Result<WhatIf, WhatIfError> {
    let study = Study { seeds: SETTLE_SEEDS, times: SETTLE_TIMES, ..*study };
    let first = what_if(&study, library, stop)?;
    if is_settled(&first) || !first.is_the_record() {
        return Ok(first);
    }
    let mut parts: Vec<(f64, Change)> = Vec::new();
    for part in Resource::ALL {
        let trial = first.trials.iter().find(|trial| trial.change == part.name());
        parts.extend(trial.map(|trial| (trial.ops.change, Change::Faster(part))));
    }
    parts.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let parts = parts.into_iter().take(SETTLE_PARTS).map(|(_, part)| part);
    let others = [Change::Deeper, Change::Wider { deeper: false }, Change::Wider { deeper: true }];
    let others = others.into_iter().filter(|one| first.trials.iter().any(|trial| trial.change == name(*one)));
    let changes: Vec<Change> = parts.chain(others).collect();
    let mut again = tried(&Study { seeds: SETTLE_AGAIN, ..study }, &first.name, &changes, library, stop)?;
    for trial in first.trials {
        if again.trials.iter().all(|other| other.change != trial.change) {
            again.trials.push(trial);
        }
    }
    again.trials.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    Ok(again)
}

/// What each of `changes` brings.
fn tried(
    study: &Study<'_>,
    point: &str,
    changes: &[Change],
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<WhatIf, WhatIfError> {
    let warmed = changes.iter().any(|change| change.base() == Change::WarmedUp).then_some(Change::WarmedUp);
    let bases = [Change::Nothing, Change::Again].into_iter().chain(warmed);
    let changes: Vec<Change> = bases.chain(changes.iter().copied()).collect();
    assert!(study.seeds >= 2, "a noise floor takes two seeds");
    assert!(study.times > 1.0, "a part is made faster");
    let (changes, figures) = with_both(study, changes, library, stop)?;
    assert_eq!(figures.len(), changes.len(), "each change is tried");
    let of = |change: Change| changes.iter().position(|one| *one == change).and_then(|at| figures.get(at));
    let unchanged = of(Change::Nothing).ok_or(WhatIfError::NoFigure)?;
    let again = of(Change::Again).ok_or(WhatIfError::NoFigure)?;
    let first = unchanged.first().ok_or(WhatIfError::NoFigure)?;
    let seeds = unchanged.len();
    let floor_ops = floor(&ops(unchanged), &ops(again)).ok_or(WhatIfError::NoFigure)?;
    let floor_p99 = p99(unchanged).zip(p99(again)).and_then(|(one, other)| floor(&one, &other));
    let floor_p99 = floor_p99.map(|floor| floor.max(BUCKET));
    let is_base = |change: Change| [Change::Nothing, Change::Again, Change::WarmedUp].contains(&change);
    let mut trials = Vec::new();
    for (change, figures) in changes.iter().zip(&figures).filter(|(change, _)| !is_base(**change)) {
        let base = of(change.base()).ok_or(WhatIfError::NoFigure)?;
        // A larger cache that is still filling takes more of the window, and nothing of the rate that lasts.
        let is_of_window =
            *change == Change::Faster(Resource::Cache) && figures.iter().any(|one| one.is_filling);
        // What the array or the plan has no room for has no figures.
        if figures.len() == seeds && !is_of_window {
            trials.push(trial(study, library, *change, (base, figures), (floor_ops, floor_p99))?);
        }
    }
    debug_assert!(trials.len() < changes.len(), "no change has two trials");
    trials.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    Ok(WhatIf {
        point: narrow::<u32>(study.index),
        name: point.to_owned(),
        seeds: narrow::<u32>(seeds),
        times: study.times,
        recorded_ops_per_s: study.recorded.value,
        recorded_low: study.recorded.low,
        recorded_high: study.recorded.high,
        again_ops_per_s: first.ops_per_s,
        floor_ops,
        floor_p99,
        trials,
    })
}

/// What `change` brings by the figures of both, beside what repeated runs differ by in rate and percentile.
fn trial(
    study: &Study<'_>,
    library: &(dyn Source + Sync),
    change: Change,
    (base, figures): (&[Figures], &[Figures]),
    (floor_ops, floor_p99): (f64, Option<f64>),
) -> Result<Trial, WhatIfError> {
    let operations = |of: &[Figures]| of.first().and_then(|one| one.operations);
    let of_p99 = || effect(&p99(base)?, &p99(figures)?, floor_p99?);
    Ok(Trial {
        change: name(change),
        to: to(study, library, change)?,
        times: match change {
            Change::Faster(_) | Change::Together(_) => study.times,
            Change::PutRight(_) => 1.0,
            _ => f64::from(DEEPER),
        },
        ops: effect(&ops(base), &ops(figures), floor_ops).ok_or(WhatIfError::NoFigure)?,
        p99: of_p99(),
        operations: operations(base).zip(operations(figures)).map(<[f64; 2]>::from),
        is_filling: figures.iter().any(|one| one.is_filling),
    })
}

/// To what `change` puts a setting right; empty where it puts none.
fn to(study: &Study<'_>, library: &(dyn Source + Sync), change: Change) -> Result<String, WhatIfError> {
    let Change::PutRight(setting) = change else { return Ok(String::new()) };
    let mut topology = spec::array(library, study.address).map_err(ModelError::from)?.topology;
    alter(study, &mut topology);
    Ok(study.planned().map_or_else(String::new, |point| setting.to(point, &topology)))
}

fn ops(figures: &[Figures]) -> Vec<f64> {
    figures.iter().map(|one| one.ops_per_s).collect()
}

fn p99(figures: &[Figures]) -> Option<Vec<f64>> {
    figures.iter().map(|one| one.p99_ns).collect()
}

/// The figures of `changes`, and of what is saturated side by side made faster together.
fn with_both(
    study: &Study<'_>,
    mut changes: Vec<Change>,
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<(Vec<Change>, Vec<Vec<Figures>>), WhatIfError> {
    let mut figures = all(study, &changes, library, stop)?;
    if let Some(both) = side_by_side(study, &changes, &figures) {
        figures.extend(all(study, &[both], library, stop)?);
        changes.push(both);
    }
    Ok((changes, figures))
}

/// The gain in rate where there is one, otherwise that of the percentile, which is told below every gain in rate.
fn worth(trial: &Trial) -> f64 {
    let p99 = trial.p99.filter(|effect| effect.is_there).map_or(0.0, |effect| -effect.change);
    if trial.ops.is_there { trial.ops.change + p99 * 1e-6 } else { p99 * 1e-3 }
}

/// Of `changes` each part alone gains less of what it was made faster, so that another holds the load up as well.
const LITTLE: f64 = 0.3;

/// The parts that are saturated in the array as it is and were tried, where each of them gains little alone and there are several.
fn side_by_side(study: &Study<'_>, changes: &[Change], figures: &[Vec<Figures>]) -> Option<Change> {
    let unchanged = figures.first()?.first()?;
    let gain = |part: Resource| {
        let at = changes.iter().position(|change| *change == Change::Faster(part))?;
        Some(figures[at].first()?.ops_per_s / unchanged.ops_per_s - 1.0)
    };
    let full: Vec<(Resource, f64)> =
        unchanged.full.each().filter_map(|part| Some((part, gain(part)?))).collect();
    let is_held = full.len() > 1 && full.iter().all(|(_, gain)| *gain < LITTLE * (study.times - 1.0));
    is_held.then(|| Change::Together(Parts::of(full.into_iter().map(|(part, _)| part))))
}

/// A part that is so busy is saturated.
const SATURATED: f64 = 0.95;

/// The kinds of parts of which one is saturated in `point`.
fn saturated(point: &Point) -> Parts {
    let busy = point.breakdown.iter().flat_map(|breakdown| &breakdown.components);
    let busy: Vec<String> = busy
        .filter(|part| part.utilisation >= SATURATED)
        .map(|part| {
            part.name.split(' ').filter(|word| word.parse::<u32>().is_err()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let is_of = |part: Resource, kind: &str| match part {
        Resource::Disks => kind == "disk",
        part => {
            kind == part.name() || kind.strip_suffix(" rx").or(kind.strip_suffix(" tx")) == Some(part.name())
        }
    };
    Parts::of(Resource::ALL.into_iter().filter(|part| busy.iter().any(|kind| is_of(*part, kind))))
}

fn name(change: Change) -> String {
    let name = match change {
        Change::Together(parts) => return parts.name(),
        Change::Nothing | Change::Again | Change::WarmedUp => "nothing",
        Change::Faster(resource) => resource.name(),
        Change::Deeper => trial::DEPTH,
        Change::Wider { deeper: false } => trial::LUN_QUEUE,
        Change::Wider { deeper: true } => trial::DEPTH_AND_LUN_QUEUE,
        Change::PutRight(setting) => setting.name(),
    };
    name.into()
}

/// A wider queue of each LUN, where more may be in flight than reaches the LUNs; where twice as much may, both.
fn wider(load: &Load, topology: &Topology) -> Option<Change> {
    let reach = u64::from(topology.host.lun_depth.max(1)) * topology.luns.len().max(1) as u64;
    let slots = |workload: &Workload| u64::from(workload.depth) * u64::from(workload.workers);
    let asked: u64 = load.workloads.iter().map(slots).sum();
    let asked = asked.div_ceil(u64::from(topology.hosts.max(1)));
    let deeper = asked <= reach;
    let is_tried = if deeper { is_closed(load) && asked * u64::from(DEEPER) > reach } else { true };
    is_tried.then_some(Change::Wider { deeper })
}

fn is_closed(load: &Load) -> bool {
    load.workloads.iter().all(|workload| matches!(workload.pace, Pace::Closed | Pace::Think(_)))
}

/// What figures of the same array differ by, each as a part of that with the same seed: the larger of their mean difference and of what
/// means of so many pairs show by chance in one comparison of twenty. `None` where a figure is none.
fn floor(before: &[f64], again: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = before.iter().zip(again).map(|(before, again)| again / before).collect();
    let noise = Noise::of([ratios.as_slice()])?.floor(ratios.len(), usize::MAX);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    Some(noise.max((mean - 1.0).abs()))
}

/// The change from each of `before` to that of `after` with the same seed; `None` where a figure is none.
fn effect(before: &[f64], after: &[f64], floor: f64) -> Option<Effect> {
    let ratios: Vec<f64> = before.iter().zip(after).map(|(before, after)| after / before).collect();
    let ratio = Estimate::of_repeats(&ratios)?;
    let change = Ratio::of(Estimate::new(1.0, 0.0, ratio.freedom)?, ratio);
    let (low, high) = (change.interval.low - 1.0, change.interval.high - 1.0);
    let change = change.value - 1.0;
    let is_there = (low > 0.0 || high < 0.0) && change.abs() > floor;
    Some(Effect { change, low, high, is_there })
}

/// The figures of every change with every seed.
fn all(
    study: &Study<'_>,
    changes: &[Change],
    library: &(dyn Source + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Vec<Figures>>, WhatIfError> {
    let seeds = study.seeds.max(2) as usize;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (change, seed) = (number / seeds, number % seeds);
            if change >= changes.len() {
                return;
            }
            let figures = once(study, changes[change], seed as u64, library, stop);
            if is_end(changes[change], &figures) {
                // Nobody begins another.
                next.store(changes.len() * seeds, Ordering::Relaxed);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((change, seed, figures));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(changes.len() * seeds) {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(change, seed, _)| (*change, *seed));
    let mut figures = vec![Vec::new(); changes.len()];
    for (change, _, one) in found {
        match one {
            Err(_) if !is_end(changes[change], &one) => {}
            one => figures[change].push(one?),
        }
    }
    Ok(figures)
}

/// Whether `figures` of `change` end all trials. What is put right may leave no room for the plan, which is no reason not to try
/// the rest.
fn is_end(change: Change, figures: &Result<Figures, WhatIfError>) -> bool {
    let is_stopped = matches!(figures, Err(WhatIfError::World(WorldError::Interrupted)));
    figures.is_err() && (is_stopped || !matches!(change, Change::PutRight(_)))
}

/// One trial. Seed 0 is the run's own. What is put right is measured once write caches that it fills are full, as long as that
/// takes no more than [`FILLS`] requests.
fn once(
    study: &Study<'_>,
    change: Change,
    seed: u64,
    library: &dyn Source,
    stop: &Arc<AtomicBool>,
) -> Result<Figures, WhatIfError> {
    let mut warmup = change.warmup();
    let mut point = simulated(study, change, (seed, warmup), library, stop)?;
    for _ in 0..FILL_ROUNDS {
        let Some(longer) = filled_by(&point).filter(|_| matches!(change, Change::PutRight(_))) else { break };
        warmup = warmup.max(Some(longer));
        point = simulated(study, change, (seed, warmup), library, stop)?;
    }
    let takes_in = matches!(change, Change::PutRight(_)) && gains(&point) > TAKES;
    let figures = figures(&point).ok_or(WhatIfError::NoFigure)?;
    Ok(Figures { is_filling: figures.is_filling || takes_in, ..figures })
}

/// Requests that fill a write cache before a trial at most: some seconds of a processor.
const FILLS: f64 = 400_000.0;

/// Requests before a bitmap is tried at most.
const BITMAP_FILLS: f64 = 2_000_000.0;

/// A cache fills more slowly the nearer it is to its end: so often its warm-up is made longer.
const FILL_ROUNDS: usize = 3;

/// And so many times as long as it takes at the pace of the window.
const BEYOND: f64 = 1.5;

/// A cache that takes in more of what is written than this has a rate that is not sustained.
const TAKES: f64 = 0.02;

/// The part of what a load wrote that went into free room of write caches while it was measured.
fn gains(point: &Point) -> f64 {
    let fill = point.breakdown.as_ref().and_then(|breakdown| breakdown.write_cache);
    let written: u64 = point.workloads.iter().map(|workload| workload.written_measured()).sum();
    fill.map_or(0.0, |fill| fill.gained() as f64 / written.max(1) as f64)
}

/// The warm-up after which the write caches that `point` fills are full; `None` where they are, and where that takes too long.
fn filled_by(point: &Point) -> Option<Nanos> {
    if gains(point) <= TAKES {
        return None;
    }
    let fill = point.breakdown.as_ref()?.write_cache?;
    let measured_ns = point.workloads.iter().map(|workload| workload.measured_ns).max().unwrap_or(0);
    let left = fill.room_bytes.saturating_sub(fill.unwritten_bytes) as f64;
    let windows = 1.0 + BEYOND * left / fill.gained().max(1) as f64;
    let warmup = point.warmed_up_ns() as f64 + measured_ns as f64 * windows;
    let requests = rate_of(point).value * (warmup + measured_ns as f64) * 1e-9;
    (requests <= FILLS).then(|| Nanos::new(truncated(warmup)))
}

/// The point with `change` and a seed, after a warm-up of that length where it is given.
fn simulated(
    study: &Study<'_>,
    change: Change,
    (seed, warmup): (u64, Option<Nanos>),
    library: &dyn Source,
    stop: &Arc<AtomicBool>,
) -> Result<Point, WhatIfError> {
    let planned = study.planned().ok_or(WhatIfError::NoLoad(study.index))?;
    let row = match change {
        Change::PutRight(_) => {
            row_of(&spec::array(library, study.address).map_err(ModelError::from)?.topology)
        }
        _ => Bytes::ZERO,
    };
    let mut plan = study.plan.clone().only(|point| {
        let stays = match change {
            Change::PutRight(setting) => setting.apply_to(point, study.index, row),
            _ => true,
        };
        if let Task::Load(load) = &mut point.task {
            for workload in &mut load.workloads {
                workload.seed = workload.seed.wrapping_add(seed << 32);
                if point.index != study.index {
                    continue;
                }
                if change.is_deeper() {
                    workload.depth = workload.depth.saturating_mul(DEEPER);
                }
                workload.stop.warmup = warmup.unwrap_or(workload.stop.warmup).max(workload.stop.warmup);
            }
        }
        stays && point.index <= study.index
    });
    plan.seed = plan.seed.wrapping_add(seed << 32);
    let mut world =
        ModelledWorld::changed(&plan, study.address, library, study.machine, stop.clone(), |topology| {
            alter(study, topology);
            change.apply(topology, study.times, planned);
        })?;
    let outcome = conduct::run(&plan, &mut world, &mut |_| {});
    if world.is_stopped() {
        return Err(WorldError::Interrupted.into());
    }
    if let Some(error) = outcome.error {
        return Err(error.into());
    }
    let point = outcome.points.into_iter().find(|point| point.index as usize == study.index);
    point.ok_or(WhatIfError::NoFigure)
}

fn alter(study: &Study<'_>, topology: &mut Topology) {
    study.altered.iter().for_each(|(resource, times)| resource.speed_up(topology, *times));
}

/// The rates of all workloads together, and the percentile of all their requests.
fn figures(point: &Point) -> Option<Figures> {
    let mut response = Histogram::new();
    for class in point.workloads.iter().flat_map(|workload| &workload.classes) {
        response.merge(&class.response.to_stats()?);
    }
    let totals = point.workloads.iter().filter_map(|workload| workload.total());
    let ops_per_s: f64 = totals.map(|total| total.ops_per_s.value).sum();
    let given =
        |summary: &record::OpSummary| summary.response.as_ref().is_none_or(|of| !of.quantiles.is_empty());
    let are_given = point.workloads.iter().filter_map(|workload| workload.total()).all(given);
    let enough = are_given && response.count() as f64 * 0.01 >= 10.0;
    let p99_ns = enough.then(|| response.quantile(0.99)).flatten().map(|value| value.get() as f64);
    (ops_per_s.is_finite() && ops_per_s > 0.0).then_some(Figures {
        ops_per_s,
        p99_ns,
        operations: operations(point).filter(|_| is_written_out(point)),
        is_filling: point.is_filling(),
        full: saturated(point),
    })
}

/// Whether disks have done what the load asked them for while it was measured: caches hold neither much more nor much less of what it
/// wrote at the end than at the begin.
fn is_written_out(point: &Point) -> bool {
    let fill = point.breakdown.as_ref().and_then(|breakdown| breakdown.write_cache);
    let (_, written) = point.metered(Op::Write);
    fill.is_none_or(|fill| {
        let before = fill.unwritten_measured_bytes.unwrap_or(fill.unwritten_before_bytes);
        fill.unwritten_bytes.abs_diff(before) as f64 <= TAKES * written as f64
    })
}

/// Operations that disks did for each request of the load, those of caches among them; `None` where none was counted.
fn operations(point: &Point) -> Option<f64> {
    let classes = || point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let visits = |at: &str, counts: fn(Behalf) -> bool| -> u64 {
        let own = classes().filter(|one| one.component.starts_with(at) && counts(one.op));
        own.filter(|one| one.component.starts_with("disk ") || one.component.ends_with(" processor"))
            .map(|one| one.visits)
            .sum()
    };
    let requests = visits("host ", Behalf::is_of_load);
    let operations = visits("disk ", |op| op != Behalf::Background);
    (requests > 0 && operations > 0).then(|| operations as f64 / requests as f64)
}
