//! The load curve: one short run at each queue depth.

use std::sync::Arc;

use array::spec::{self, ArraySpec, Source};
use conduct::{Machine, World, WorldError};
use record::{Point, PointKind};
use units::Bytes;
use units::convert::narrow;
use workload::plan::Plan;

use super::plan::{self, Length};
use super::window::{self, Pilot};
use super::{Effort, LabError, Setting, side_by_side};
use crate::world::ModelledWorld;

/// How often a warm-up is made longer: writes go slower the fuller a buffer is, and its last part takes the longest.
const FILLINGS: usize = 3;

/// What each depth gave.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The array, every choice made.
    pub spec: ArraySpec,
    /// One for each depth, in their order.
    pub loads: Vec<DepthLoad>,
    /// The sizes of its LUNs.
    pub luns: Vec<Bytes>,
}

/// One depth.
#[derive(Clone, Debug)]
pub struct DepthLoad {
    /// Requests in flight.
    pub depth: u32,
    /// The plan that was run: `fathom run` of it gives the same point.
    pub plan: String,
    /// What came back, with its number among the depths.
    pub point: Point,
}

/// The load curve of `setting` over `depths`, which rise.
///
/// Depths are simulated side by side, on as many threads as there are processors; the answer does not depend on that.
pub fn curve(
    setting: &Setting,
    depths: &[u32],
    effort: Effort,
    library: &dyn Source,
) -> Result<Curve, LabError> {
    setting.check(depths)?;
    assert!(!depths.is_empty(), "the check refuses a curve without a depth");
    let spec = spec::array(library, &setting.array)?;
    let array = Simulated { setting, spec: &spec };
    // What a request costs is much the same at all depths.
    let weight = array.weight(depths[depths.len() / 2])?;
    let load = |number: usize| array.load(depths[number], number, weight, effort);
    let loads = side_by_side::all(depths.len(), load);
    let loads = loads.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(loads.len(), depths.len(), "a load for each depth");
    debug_assert!(loads.iter().zip(depths).all(|(load, depth)| load.depth == *depth), "in their order");
    let luns = spec.topology.lun_sizes();
    Ok(Curve { spec, loads, luns })
}

/// An array that is simulated again and again.
#[derive(Clone, Copy)]
pub(super) struct Simulated<'a> {
    pub setting: &'a Setting,
    pub spec: &'a ArraySpec,
}

impl Simulated<'_> {
    /// A depth in as long a window as it needs.
    fn load(&self, depth: u32, number: usize, weight: f64, effort: Effort) -> Result<DepthLoad, LabError> {
        let length = self.length(depth, weight, effort)?;
        let (plan, point) = self.sustained(depth, length, weight, effort)?;
        Ok(DepthLoad { depth, plan, point: Point { index: narrow::<u32>(number), ..point } })
    }

    /// The load of a depth and its plan, with as much more warm-up as fills the write caches and buffers that its writes met
    /// free room of, where a moment is enough for that and it is no quick look.
    pub fn sustained(
        &self,
        depth: u32,
        mut length: Length,
        weight: f64,
        effort: Effort,
    ) -> Result<(String, Point), LabError> {
        for _ in 0..FILLINGS {
            let text = plan::depth(self.setting, depth, length);
            let (point, _) = self.run(&text, |_| Ok(()))?;
            match window::filled(&point, length, weight) {
                Some(longer) if effort == Effort::Full => length = longer,
                _ => return Ok((text, point)),
            }
        }
        let text = plan::depth(self.setting, depth, length);
        let (point, _) = self.run(&text, |_| Ok(()))?;
        Ok((text, point))
    }

    /// What a request costs to simulate, from a few of them; 1 is a small read.
    pub fn weight(&self, depth: u32) -> Result<f64, LabError> {
        Ok(self.found(depth, window::probe(depth))?.weight())
    }

    /// The window of a depth, from what a short pilot finds.
    pub fn length(&self, depth: u32, weight: f64, effort: Effort) -> Result<Length, LabError> {
        Ok(self.found(depth, window::pilot(depth, weight))?.window(depth, effort))
    }

    fn found(&self, depth: u32, length: Length) -> Result<Pilot, LabError> {
        let array = &self.setting.array;
        let (point, _) = self.run(&plan::depth(self.setting, depth, length), |_| Ok(()))?;
        let mut failed = point.workloads.iter().flat_map(|workload| &workload.error_samples);
        if let Some(error) = failed.next() {
            return Err(LabError::Unfit(format!(
                "{array} cannot serve this workload with so many disks failed: a {} ends with {}; choose a level that \
                 survives them, or fail fewer",
                error.op, error.failure
            )));
        }
        Pilot::of(&point).ok_or_else(|| {
            LabError::Unfit(format!(
                "no request of this workload completes on {array}; choose another block size"
            ))
        })
    }

    /// The load of a plan on an array of its own; `before` may change the array when its disks have failed.
    pub fn run(
        &self,
        text: &str,
        before: impl FnOnce(&mut ModelledWorld) -> Result<(), LabError>,
    ) -> Result<(Point, ModelledWorld), LabError> {
        let (mut world, load) = self.ready(text)?;
        before(&mut world)?;
        let points = finished(conduct::run(&load, &mut world, &mut |_| ()))?;
        let load = points.into_iter().find(|point| point.kind == PointKind::Load);
        let load = load.ok_or_else(|| LabError::Unfit("the plan of the lab has no load".into()))?;
        Ok((load, world))
    }

    /// An array of its own whose disks have failed as a plan says, and the load of that plan, its last point.
    pub fn ready(&self, text: &str) -> Result<(ModelledWorld, Plan), LabError> {
        let (plan, machine) = (plan::parse(text)?, Machine::default());
        let Simulated { setting, spec } = self;
        let mut world = ModelledWorld::read(&plan, &setting.array, spec, &machine, Arc::default())?;
        world.keep_shares();
        let last = plan.points().len().saturating_sub(1);
        if last > 0 {
            let states = plan.clone().only(|point| point.index < last);
            finished(conduct::run(&states, &mut world, &mut |_| ()))?;
            world.remembers();
        }
        Ok((world, plan.only(|point| point.index == last)))
    }
}

fn finished(outcome: conduct::Outcome) -> Result<Vec<Point>, WorldError> {
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(outcome.points),
    }
}
