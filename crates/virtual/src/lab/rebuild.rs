//! What a rebuild costs the load beside it, and how long it takes beside that load.
//!
//! A rebuild takes hours of virtual time, and each of them minutes of a processor. It is simulated where it is at some
//! places of the pass instead, each on an array of its own that has everything below the place rebuilt: the pace and the
//! load's figures there. Between two places they are taken to lie on a straight line.

use array::background::BackgroundKind;
use array::sim::{WorkError, WorkOrder};
use array::spec::{self, ArraySpec, Source};
use record::{OpSummary, Point};
use units::Share;
use units::convert::{narrow, truncated};

use super::curve::Simulated;
use super::plan::{self, Length};
use super::{Effort, LabError, Setting, side_by_side};
use crate::world::ModelledWorld;

/// Places of the pass that are simulated.
pub(super) const PLACES: usize = 5;

/// Places of the pass without a load.
const ALONE: u32 = 10;

/// Queue depth of the load beside it, where nothing else is said.
pub const DEPTH: u32 = 16;

/// A rebuild with its load.
#[derive(Clone, Debug)]
pub struct Rebuild {
    /// The array, every choice made.
    pub spec: ArraySpec,
    /// Requests in flight.
    pub depth: u32,
    /// The load on the array before the disk fails.
    pub healthy: Point,
    /// The load with the disk failed and nothing that replaces it.
    pub degraded: Point,
    /// Whether the load on the healthy array, on the degraded one or at a place wrote into free room of a write cache.
    pub is_filling: bool,
    /// What precedes the first unit of the pass, in seconds.
    pub startup_s: f64,
    /// The places that were simulated, from the start of the pass to its end.
    pub places: Vec<PassPoint>,
    /// How long it takes without any load, in seconds.
    pub alone_s: f64,
}

/// A place of the pass.
#[derive(Clone, Debug)]
pub struct PassPoint {
    /// The part of the pass that had been done when it began.
    pub at: f64,
    /// The part of the whole pass that is done in a second there.
    pub per_s: f64,
    /// The load beside it.
    pub load: Point,
    /// Whether its writes met free room of a write cache.
    pub is_filling: bool,
}

/// The rebuild at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since the rebuild was started.
    pub at_s: f64,
    /// How much is done.
    pub percent: f64,
    /// The load's rate.
    pub iops: f64,
    /// Its 99th percentile; `None` where too few requests ended for one.
    pub p99_us: Option<f64>,
}

/// What a rebuild of `slot` costs the load of `setting` with `depth` requests in flight.
pub fn rebuild(setting: &Setting, slot: u32, depth: u32, library: &dyn Source) -> Result<Rebuild, LabError> {
    setting.check(&[depth])?;
    let spec = spec::array(library, &setting.array)?;
    let order = order(&spec, slot)?;
    if setting.fail.contains(&slot) || spec.topology.failed.contains(&slot) {
        return Err(LabError::Unfit(format!(
            "disk {slot} has failed already; rebuild another, or do not fail it"
        )));
    }
    let failed = Setting { fail: setting.fail.iter().copied().chain([slot]).collect(), ..setting.clone() };
    let (before, after) = (Simulated { setting, spec: &spec }, Simulated { setting: &failed, spec: &spec });
    let length = after.length(depth, after.weight(depth)?, Effort::Full)?;
    let (whole, lost) = (plan::depth(setting, depth, length), plan::depth(&failed, depth, length));
    enum One {
        Load(Point, bool),
        PassPoint(PassPoint),
    }
    let load = |array: &Simulated<'_>, text: &str| {
        let (point, _) = array.run(text, |_| Ok(()))?;
        let is_filling = point.is_filling();
        Ok(One::Load(point, is_filling))
    };
    let made = side_by_side::all(PLACES + 2, |number| match number {
        0 => load(&before, &whole),
        1 => load(&after, &lost),
        number => place(&after, &lost, length, order, number - 2).map(One::PassPoint),
    });
    let (mut loads, mut places, mut filling) = (Vec::new(), Vec::new(), false);
    for one in made {
        match one? {
            One::Load(load, is_filling) => {
                loads.push(load);
                filling |= is_filling;
            }
            One::PassPoint(place) => {
                filling |= place.is_filling;
                places.push(place);
            }
        }
    }
    let (startup_s, alone_s) = alone(&after, &lost, order)?;
    let (Some(degraded), Some(healthy)) = (loads.pop(), loads.pop()) else {
        return Err(LabError::Unfit("the load of the lab gave no figure".into()));
    };
    Ok(Rebuild { spec, depth, healthy, degraded, is_filling: filling, startup_s, places, alone_s })
}

/// The rebuild of the disk in `slot`, in the set that it is a member of.
pub(super) fn order(spec: &ArraySpec, slot: u32) -> Result<WorkOrder, LabError> {
    let disks = spec.topology.disks.len();
    if slot as usize >= disks {
        let why = format!("there is no disk {slot}: {} has {disks}, numbered 0 to {}", spec.name, disks - 1);
        return Err(LabError::Unfit(why));
    }
    let place = |members: &[u32]| members.iter().position(|&member| member == slot);
    let mut sets = (0u32..).zip(&spec.topology.sets);
    let found = sets.find_map(|(set, topology)| Some((set, place(&topology.members)?)));
    let Some((set, member)) = found else {
        return Err(LabError::Unfit(format!(
            "disk {slot} is in no RAID set, so there is nothing to rebuild"
        )));
    };
    Ok(WorkOrder { kind: BackgroundKind::Rebuild, set, slot: Some(narrow::<u16>(member)) })
}

/// The load beside the rebuild where it is at the place of that number.
pub(super) fn place(
    array: &Simulated<'_>,
    text: &str,
    length: Length,
    order: WorkOrder,
    number: usize,
) -> Result<PassPoint, LabError> {
    // The last place leaves room for what is done meanwhile.
    let at = number as f64 / PLACES as f64 + 0.5 / PLACES as f64;
    let mut work = 0;
    let (load, mut world) = array.run(text, |world| {
        work = started(world, order, at)?;
        Ok(())
    })?;
    let seconds = match length {
        Length::Time { warmup, run } => (warmup + run).as_secs_f64(),
        Length::Requests(_) => (load.ended_ns - load.started_ns) as f64 / 1e9,
    };
    let progress = world.sim().work_progress(work);
    // What is done is a part of what was left.
    let done = progress.as_ref().map_or(0.0, |progress| progress.done.get()) * (1.0 - at);
    let ended = progress.and_then(|progress| progress.ended);
    let seconds = ended.map_or(seconds, |ended| (ended.nanos() - load.started_ns) as f64 / 1e9);
    let is_filling = load.is_filling();
    Ok(PassPoint { at, per_s: done / seconds, load, is_filling })
}

fn started(world: &mut ModelledWorld, order: WorkOrder, at: f64) -> Result<u32, LabError> {
    let from = Share::new(at).unwrap_or(Share::NONE);
    world.sim().start_work_from(order, from).map_err(|error| LabError::Unfit(error.to_string()))
}

/// The start-up and the whole of the rebuild without any load, in seconds.
pub(super) fn alone(array: &Simulated<'_>, text: &str, order: WorkOrder) -> Result<(f64, f64), LabError> {
    let (mut world, _) = array.ready(text)?;
    let (sim, unfit) = (world.sim(), |error: WorkError| LabError::Unfit(error.to_string()));
    let startup = sim.work_startup(order).map_err(unfit)?;
    let percents = sim.work_alone(order, sim.work_params(order.kind), ALONE).map_err(unfit)?;
    let whole = percents.last().map_or(0.0, |last| last.as_secs_f64());
    Ok((startup.as_secs_f64(), whole))
}

impl Rebuild {
    /// How long the rebuild takes beside the load, in seconds; `None` where it does not get on at all.
    pub fn seconds(&self) -> Option<f64> {
        self.moments(PARTS + 1).last().map(|last| last.at_s)
    }

    /// The rebuild from its start to its end at `count` instants or fewer, a like part of the pass between two; empty
    /// where it does not get on.
    pub fn moments(&self, count: usize) -> Vec<Moment> {
        let parts = count.saturating_sub(1).clamp(1, PARTS);
        if self.places.is_empty() || self.places.iter().any(|place| place.per_s <= 0.0) {
            return Vec::new();
        }
        let p99s: Option<Vec<f64>> = self.places.iter().map(|place| p99_us(&place.load)).collect();
        let moment = |part: usize, at_s: f64| {
            let done = part as f64 / parts as f64;
            Moment {
                at_s,
                percent: done * 100.0,
                iops: self.at(done, |place| crate::what_if::rate_of(&place.load).value),
                p99_us: p99s.as_ref().map(|_| self.at(done, |place| p99_us(&place.load).unwrap_or(f64::NAN))),
            }
        };
        let mut elapsed = self.startup_s;
        let mut moments = vec![moment(0, 0.0)];
        for part in 0..parts {
            // The time of a part is the mean of the times at its middle, not the inverse of a mean pace.
            elapsed += self.at((part as f64 + 0.5) / parts as f64, |place| 1.0 / place.per_s) / parts as f64;
            moments.push(moment(part + 1, elapsed));
        }
        moments
    }

    /// A figure at a part of the pass, on the straight line between the two places beside it.
    fn at(&self, done: f64, of: impl Fn(&PassPoint) -> f64) -> f64 {
        let place = (done * PLACES as f64 - 0.5).clamp(0.0, (self.places.len() - 1) as f64);
        let left = truncated::<usize>(place.floor());
        let right = (left + 1).min(self.places.len() - 1);
        let (one, other) = (of(&self.places[left]), of(&self.places[right]));
        one + (other - one) * (place - left as f64)
    }
}

/// Parts that the whole is summed up from.
const PARTS: usize = 199;

/// The 99th percentile of all requests of a point; `None` where there were too few for one.
pub fn p99_us(point: &Point) -> Option<f64> {
    let [workload] = point.workloads.as_slice() else { return None };
    let response = workload.total().and_then(|total: &OpSummary| total.response.as_ref())?;
    response.quantile(0.99).map(|figure| figure.value_ns as f64 / 1e3)
}
