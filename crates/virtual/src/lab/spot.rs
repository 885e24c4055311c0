//! One depth of one workload on an array in one state, and its rebuild: what a search over many arrays asks for again
//! and again. Nothing here uses a second processor; whoever asks for many spots has them side by side.

use array::spec::ArraySpec;
use record::Point;
use units::{Bytes, Share};

use super::curve::Simulated;
use super::plan::{self, Length};
use super::rebuild::{self, PassPoint};
use super::window::ROUNDS;
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
    let weight = array.weight(depth)?;
    let length = array.length(depth, weight, effort)?;
    let text = plan::depth(&setting, depth, length);
    if state != State::Rebuilding {
        let (_, point) = array.sustained(depth, length, weight, effort)?;
        let is_filling = point.is_filling();
        return Ok(Spot { point, rebuild_s: None, is_filling });
    }
    let order = rebuild::order(spec, slot)?;
    let (startup_s, _) = rebuild::alone(&array, &text, order)?;
    let place =
        |text: &str, length: Length, number: usize| rebuild::place(&array, text, length, order, number);
    let middle = rebuild::PLACES / 2;
    let mut places: Vec<PassPoint> = match effort {
        Effort::Quick => vec![place(&text, length, middle)?],
        Effort::Full => {
            (0..rebuild::PLACES).map(|number| place(&text, length, number)).collect::<Result<_, _>>()?
        }
    };
    if effort == Effort::Quick && is_too_short(&places[0], depth) {
        let length = array.length(depth, array.weight(depth)?, Effort::Full)?;
        places = vec![place(&plan::depth(&setting, depth, length), length, middle)?];
    }
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

/// Whether a window is no look at the load beside the rebuild: not a step of that was done, or not each request in flight ended as
/// often as a window is to hold it. A fast array serves little else during a step, which may be longer than the window.
fn is_too_short(place: &PassPoint, depth: u32) -> bool {
    let classes = place.load.workloads.iter().flat_map(|workload| &workload.classes);
    // Of the window alone: what ends behind it is no part of the rate.
    place.per_s <= 0.0 || classes.map(|class| class.ops).sum::<u64>() < ROUNDS * u64::from(depth)
}

fn first_slot(spec: &ArraySpec) -> Result<u32, LabError> {
    let first = spec.topology.sets.first().and_then(|set| set.members.first());
    first.copied().ok_or_else(|| LabError::Unfit(format!("{} has no RAID set", spec.name)))
}
