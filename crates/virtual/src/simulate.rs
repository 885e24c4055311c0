//! Points that were measured elsewhere, simulated on a model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use array::spec::{Shelf, Shipped, Source, SourceText};
use conduct::Machine;
use record::Point;
use units::Nanos;
use workload::plan::{self, Plan, State, Task};

use crate::world::{ModelError, ModelledWorld};

/// A point of a plan that is to be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The point's number in the plan.
    pub index: usize,
    /// Load that is not counted, and load that is, last no longer than this each; `None`: as long as the plan says.
    ///
    /// A load that ends by requests or bytes alone is left as it is.
    pub at_most: Option<Nanos>,
}

/// The points of `plan` that `chosen` names, simulated on the array that `text` describes; it may inherit from what is
/// shipped.
///
/// One array is asked for all of them, in the order of the plan. Where `with_others` says so, everything else of the plan
/// is simulated too, so that its caches are as they were. What shorter loads leave of the time is spent idle, where the plan
/// is idle next: caches have clocks too, and write out what has become old when these say so.
pub fn simulate(
    plan: Plan,
    text: &str,
    chosen: &[Chosen],
    with_others: bool,
    machine: &Machine,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Point>, ModelError> {
    simulate_on(plan, ("array:text", &Text(text)), chosen, with_others, machine, stop)
}

/// The same of the array at an address, whose files are found in a library.
pub fn simulate_on(
    plan: Plan,
    (address, library): (&str, &dyn Source),
    chosen: &[Chosen],
    with_others: bool,
    machine: &Machine,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Point>, ModelError> {
    let find = |point: &plan::Point| chosen.iter().find(|chosen| chosen.index == point.index);
    let mut left = Nanos::ZERO;
    let plan = plan.only(|point| {
        let found = find(point);
        if let Some(Chosen { at_most: Some(most), .. }) = found {
            left += shorten(point, *most);
        }
        if let Task::State(State::Idle(time)) = &mut point.task {
            *time += std::mem::take(&mut left);
        }
        found.is_some() || with_others
    });
    let mut world = ModelledWorld::open(&plan, address, library, machine, stop)?;
    let mut outcome = conduct::run(&plan, &mut world, &mut |_| ());
    if let Some(error) = outcome.error {
        return Err(ModelError::Unfit(error.to_string()));
    }
    outcome.points.retain(|point| chosen.iter().any(|chosen| chosen.index == point.index as usize));
    Ok(outcome.points)
}

/// Has loads of a point last no longer; by how much it is shorter.
pub(crate) fn shorten(point: &mut plan::Point, most: Nanos) -> Nanos {
    let before = lasting(point);
    let Task::Load(load) = &mut point.task else { return Nanos::ZERO };
    for workload in &mut load.workloads {
        workload.stop.warmup = workload.stop.warmup.min(most);
        workload.stop.run = workload.stop.run.map(|run| run.min(most));
    }
    let after = lasting(point);
    assert!(after <= before, "a load that is to last no longer than {most} lasts no longer");
    before - after
}

/// How long a load with its warm-up lasts; zero of what is no load, and of one that ends by what it has done.
pub(crate) fn lasting(point: &plan::Point) -> Nanos {
    let Task::Load(load) = &point.task else { return Nanos::ZERO };
    let stops = load.workloads.iter().map(|workload| workload.stop);
    stops.map(|stop| stop.warmup + stop.run.unwrap_or(Nanos::ZERO)).max().unwrap_or(Nanos::ZERO)
}

/// A description that is at hand, before the shipped library.
struct Text<'t>(&'t str);

impl Source for Text<'_> {
    fn find(&self, shelf: Shelf, name: &str) -> Option<SourceText<'_>> {
        if (shelf, name) == (Shelf::Array, "text") {
            return Some(SourceText { label: "the model".into(), text: self.0.into() });
        }
        Shipped.find(shelf, name)
    }

    fn names(&self, shelf: Shelf) -> Vec<String> {
        Shipped.names(shelf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::plan::Overrides;

    const PLAN: &str = r#"
name = "two"
[defaults]
size = "4KiB"
[[phase]]
name = "first"
warmup = "2s"
run = "8s"
[[phase]]
state = "idle"
run = "5s"
[[phase]]
name = "second"
warmup = "0s"
run = "1s"
"#;

    #[test]
    fn what_follows_an_idle_time_begins_when_it_would_have_without_shorter_loads() {
        let plan = || Plan::parse("plan.toml", PLAN, &Overrides::default()).expect("a plan");
        let second = |at_most: Option<Nanos>| {
            let chosen = [Chosen { index: 0, at_most }, Chosen { index: 2, at_most: None }];
            let text = include_str!("../../../arrays/queue.toml");
            let points = simulate(plan(), text, &chosen, true, &Machine::default(), Arc::default())
                .expect("it is simulated");
            points[1].started_ns as f64 / 1e9
        };
        let (long, short) = (second(None), second(Some(Nanos::from_millis(500))));
        assert!((long - 15.0).abs() < 0.1 && (long - short).abs() < 0.1, "{long} {short}");
    }
}
