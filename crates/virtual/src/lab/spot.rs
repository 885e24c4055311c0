//! One depth of one workload on an array in one state, and its rebuild: what a search over many arrays asks for again
//! and again. Nothing here uses a second processor; whoever asks for many spots has them side by side.

use array::spec::ArraySpec;
use record::Point;
use units::{Bytes, Share};

use super::curve::{Simulated, is_filling};
use super::plan;
use super::rebuild::{self, Place};
use super::{Effort, LabError, LabPattern, LabWorkload, Setting};

/// How the array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// All disks are there.
    Healthy,
    /// The first disk of the first set has failed, and nothing replaces it.
    Degraded,
    /// That disk is being rebuilt, and half of it has been.
    Rebuilding,
}

impl State {
    /// As it is written in files.
    pub fn name(self) -> &'static str {
        match self {
            State::Healthy => "healthy",
            State::Degraded => "degraded",
            State::Rebuilding => "rebuilding",
        }
    }
}

/// What a spot gave.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The load.
    pub point: Point,
    /// How long the whole rebuild takes beside that load, in seconds; `None` where none is under way, or where it does
    /// not get on.
    pub rebuild_s: Option<f64>,
    /// Whether writes met free room of a write cache, so that the rate is not the one of the long run.
    pub is_filling: bool,
}

/// The load of `setting`, which fails no disk itself, with `depth` requests in flight on `spec`, which is the array that
/// it names.
///
/// A rebuild is looked at in the middle of its pass, with [`Effort::Full`] at five places of it.
pub fn spot(
    setting: &Setting,
    spec: &ArraySpec,
    state: State,
    depth: u32,
    effort: Effort,
) -> Result<Spot, LabError> {
    setting.check(&[depth])?;
    let slot = first_slot(spec)?;
    let fail = if state == State::Healthy { Vec::new() } else { vec![slot] };
    let setting = Setting { fail, ..setting.clone() };
    let array = Simulated { setting: &setting, spec };
    let length = array.length(depth, array.weight(depth)?, effort)?;
    let text = plan::depth(&setting, depth, length);
    if state != State::Rebuilding {
        let (point, mut world) = array.run(&text, |_| Ok(()))?;
        let is_filling = is_filling(&point, world.sim().dirty(), spec.write_cache());
        return Ok(Spot { point, rebuild_s: None, is_filling });
    }
    let order = rebuild::order(spec, slot)?;
    let (startup_s, _) = rebuild::alone(&array, &text, order)?;
    let middle = rebuild::PLACES / 2;
    let numbers = match effort {
        Effort::Quick => middle..middle + 1,
        Effort::Full => 0..rebuild::PLACES,
    };
    let places = numbers.map(|number| rebuild::place(&array, &text, length, order, number));
    let mut places: Vec<Place> = places.collect::<Result<_, _>>()?;
    let count = places.len() as f64;
    let gets_on = places.iter().all(|place| place.per_s > 0.0);
    let each: f64 = places.iter().map(|place| 1.0 / place.per_s).sum();
    let is_filling = places.iter().any(|place| place.is_filling);
    let point = places.swap_remove(places.len() / 2).load;
    Ok(Spot { point, rebuild_s: gets_on.then_some(startup_s + each / count), is_filling })
}

/// How long the rebuild of the first disk of the first set takes without any load, in seconds.
///
/// `address` names `spec`, as in `md3000?raid=5`. An error where the level has nothing to rebuild from.
pub fn rebuild_alone(address: &str, spec: &ArraySpec, seed: u64) -> Result<f64, LabError> {
    let slot = first_slot(spec)?;
    // One request has to be there for the plan to be one; the rebuild does not meet it.
    let workload =
        LabWorkload { pattern: LabPattern::Random, size: Bytes::new(4 << 10), reads: Share::ALL, span: None };
    let setting = Setting { array: format!("array:{address}"), workload, fail: vec![slot], seed };
    let array = Simulated { setting: &setting, spec };
    let text = plan::depth(&setting, 1, plan::Length::Requests(1));
    let (_, whole_s) = rebuild::alone(&array, &text, rebuild::order(spec, slot)?)?;
    Ok(whole_s)
}

fn first_slot(spec: &ArraySpec) -> Result<u32, LabError> {
    let first = spec.topology.sets.first().and_then(|set| set.members.first());
    first.copied().ok_or_else(|| LabError::Unfit(format!("{} has no RAID set", spec.name)))
}
