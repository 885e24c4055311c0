//! What a model answers to points that were measured elsewhere.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use array::spec::{Found, Shelf, Shipped, Source};
use record::Point;
use units::Nanos;
use workload::plan::{self, Plan, State, Task};

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
/// the plan too, so that its caches are as they were. What shorter loads leave of the time is spent idle, where the plan
/// is idle next: caches have clocks too, and write out what has become old when these say so.
pub fn answers(
    plan: Plan,
    text: &str,
    asked: &[Asked],
    with_others: bool,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Point>, ModelError> {
    let find = |point: &plan::Point| asked.iter().find(|asked| asked.index == point.index);
    let mut left = Nanos::ZERO;
    let plan = plan.only(|point| {
        let asked = find(point);
        if let Some(Asked { at_most: Some(most), .. }) = asked {
            left += shorten(point, *most);
        }
        if let Task::State(State::Idle(time)) = &mut point.task {
            *time += std::mem::take(&mut left);
        }
        asked.is_some() || with_others
    });
    let mut world = ModelledWorld::open(&plan, "array:text", &Text(text), stop)?;
    let mut outcome = carry_out(&plan, &mut world, &mut |_| ());
    if let Some(error) = outcome.error {
        return Err(ModelError::Unfit(error.to_string()));
    }
    outcome.points.retain(|point| asked.iter().any(|asked| asked.index == point.index as usize));
    Ok(outcome.points)
}

/// Has loads of a point last no longer; by how much it is shorter.
fn shorten(point: &mut plan::Point, most: Nanos) -> Nanos {
    let Task::Load(load) = &mut point.task else { return Nanos::ZERO };
    let lasting = |load: &plan::Load| {
        let stops = load.workloads.iter().map(|workload| workload.stop);
        stops.map(|stop| stop.warmup + stop.run.unwrap_or(Nanos::ZERO)).max().unwrap_or(Nanos::ZERO)
    };
    let before = lasting(load);
    for workload in &mut load.workloads {
        workload.stop.warmup = workload.stop.warmup.min(most);
        workload.stop.run = workload.stop.run.map(|run| run.min(most));
    }
    before.saturating_sub(lasting(load))
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
            let asked = [Asked { index: 0, at_most }, Asked { index: 2, at_most: None }];
            let text = include_str!("../../../../arrays/queue.toml");
            let points = answers(plan(), text, &asked, true, Arc::default()).expect("answers");
            points[1].started_ns as f64 / 1e9
        };
        let (long, short) = (second(None), second(Some(Nanos::from_millis(500))));
        assert!((long - 15.0).abs() < 0.1 && (long - short).abs() < 0.1, "{long} {short}");
    }
}
