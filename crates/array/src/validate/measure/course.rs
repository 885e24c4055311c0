//! When background work reaches each percent of itself, alone or beside loads, and its time and pace by that.

use units::convert::{narrow, truncated};
use units::{Nanos, Share};

use super::MeasureError;
use super::load::clients;
use crate::background::BackgroundKind;
use crate::sim::{Sim, Watch, WorkOrder};
use crate::spec::ArraySpec;
use crate::spec::case::{Activity, ActivityKind, Load, Metric, Subject};

/// When each percent of the work is reached without a load. A disk that is rebuilt has failed then.
pub(super) fn alone(
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
pub(super) fn course(
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
pub(super) fn pace(
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
pub(super) fn reached(percents: &[Nanos], done: Share) -> Option<f64> {
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

/// The work whose time is requested.
pub(super) fn ordered(
    spec: &ArraySpec,
    occasion: Activity,
    metric: Metric,
) -> Result<WorkOrder, MeasureError> {
    match occasion.work {
        ActivityKind::Background(kind) => Ok(order(spec, kind, occasion.disk)),
        ActivityKind::Degraded | ActivityKind::PathLost => {
            Err(MeasureError::Nothing { what: format!("`{}` is of work that ends", metric.name()) })
        }
    }
}

/// The work in the set that holds `disk`. A slot has the number that its disk has in the set.
pub(super) fn order(spec: &ArraySpec, kind: BackgroundKind, disk: u32) -> WorkOrder {
    let place = |members: &[u32]| members.iter().position(|&member| member == disk);
    let found =
        spec.topology.sets.iter().zip(0u32..).find_map(|(set, number)| Some((number, place(&set.members)?)));
    let (set, slot) = found.unwrap_or((0, disk as usize));
    let slot = matches!(kind, BackgroundKind::Clone | BackgroundKind::Rebuild).then_some(narrow::<u16>(slot));
    WorkOrder { kind, set, slot }
}

/// When each percent of the work is reached with the loads beside it, up to the requested share.
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
