//! What a model answers to points that were measured elsewhere.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use array::spec::{Found, Shelf, Shipped, Source};
use record::Point;
use units::Nanos;
use workload::plan::{self, Plan, Task};

use super::{ModelError, ModelledWorld};
use crate::carry::carry_out;

/// Which points of a plan a model is to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The point's number in the plan.
    pub index: usize,
    /// Load that is not counted, and load that is, last no longer than this each; `None`: as long as the plan says.
    ///
    /// A load that ends by requests or bytes alone is left as it is.
    pub at_most: Option<Nanos>,
}

/// The points of `plan` that `asked` names, as the array answers that `text` describes; it may inherit from what is
/// shipped.
///
/// One array answers all of them, in the order of the plan. Where `with_others` says so, it is asked everything else of
/// the plan too, so that its caches are as they were.
pub fn answers(
    plan: Plan,
    text: &str,
    asked: &[Asked],
    with_others: bool,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Point>, ModelError> {
    let find = |point: &plan::Point| asked.iter().find(|asked| asked.index == point.index);
    let plan = plan.only(|point| match find(point) {
        Some(Asked { at_most: Some(most), .. }) => {
            shorten(point, *most);
            true
        }
        Some(_) => true,
        None => with_others,
    });
    let mut world = ModelledWorld::open(&plan, "array:text", &Text(text), stop)?;
    let mut outcome = carry_out(&plan, &mut world, &mut |_| ());
    if let Some(error) = outcome.error {
        return Err(ModelError::Unfit(error.to_string()));
    }
    outcome.points.retain(|point| asked.iter().any(|asked| asked.index == point.index as usize));
    Ok(outcome.points)
}

fn shorten(point: &mut plan::Point, most: Nanos) {
    let Task::Load(load) = &mut point.task else { return };
    for workload in &mut load.workloads {
        workload.stop.warmup = workload.stop.warmup.min(most);
        workload.stop.run = workload.stop.run.map(|run| run.min(most));
    }
}

/// A description that is at hand, before the shipped library.
struct Text<'t>(&'t str);

impl Source for Text<'_> {
    fn find(&self, shelf: Shelf, name: &str) -> Option<Found<'_>> {
        if (shelf, name) == (Shelf::Array, "text") {
            return Some(Found { label: "the model".into(), text: self.0.into() });
        }
        Shipped.find(shelf, name)
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        Shipped.names(shelf)
    }
}
