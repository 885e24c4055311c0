//! A plan from its first point to its last.

use std::collections::HashMap;

use record::{Point, PointKind};
use units::Nanos;
use workload::plan::{self, Load, Plan, Task};

use crate::event::Event;
use crate::limit;
use crate::result::{load_point, state_point};
use crate::rounds::Tracking;
use crate::world::{World, WorldError};

/// What became of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The points that were measured, in order; after a failure those before it.
    pub points: Vec<Point>,
    /// Whether every point was carried out, or left out by a rule of the plan.
    pub complete: bool,
    /// What ended it early.
    pub error: Option<WorldError>,
    /// Phases whose figure was to become steady, as far as they came.
    pub rounds: Vec<record::Rounds>,
}

impl Outcome {
    /// Nothing measured yet.
    pub(crate) fn begin() -> Outcome {
        Outcome { points: Vec::new(), complete: true, error: None, rounds: Vec::new() }
    }
}

/// Carries `plan` out in `world` and tells `watch` what happens.
///
/// A failure or an interrupt ends the plan; what was measured before is in the outcome.
pub fn carry_out(plan: &Plan, world: &mut dyn World, watch: &mut dyn FnMut(Event<'_>)) -> Outcome {
    let mut outcome = Outcome::begin();
    let mut curves = Curves::default();
    let mut tracking = Tracking::default();
    let points = plan.points();
    for (position, point) in points.iter().enumerate() {
        if world.is_stopped() {
            outcome.complete = false;
            break;
        }
        if curves.has_ended(point.group) || tracking.has_ended(point) {
            continue;
        }
        let expected_after = points[position + 1..]
            .iter()
            .filter(|later| !curves.has_ended(later.group) && !tracking.has_ended(later))
            .map(expected_time)
            .sum();
        watch(Event::PointStarted {
            index: point.index,
            of: points.len(),
            name: &point.name,
            expected: Some(expected_time(point)).filter(|time| !time.is_zero()),
            expected_after,
        });
        match measure(plan, point, world, watch) {
            Ok(measured) => {
                outcome.complete &= measured.complete;
                watch(Event::PointEnded { point: &measured });
                if let Some(why) = curves.add(point, plan.phases[point.phase].repeat, &measured) {
                    watch(Event::SweepEnded { phase: &plan.phases[point.phase].name, why });
                }
                let phase = &plan.phases[point.phase];
                if let Some(why) = tracking.add(phase, point, &measured) {
                    watch(Event::SweepEnded { phase: &phase.name, why });
                }
                outcome.points.push(measured);
            }
            Err(error) => {
                outcome.complete = false;
                outcome.error = Some(error);
                break;
            }
        }
    }
    outcome.rounds = tracking.into_record(plan);
    outcome
}

fn expected_time(point: &plan::Point) -> Nanos {
    point.estimate().time
}

fn measure(
    plan: &Plan,
    point: &plan::Point,
    world: &mut dyn World,
    watch: &mut dyn FnMut(Event<'_>),
) -> Result<Point, WorldError> {
    let index = point.index;
    let mut live = |live| watch(Event::Live { index, live });
    let frame = frame(plan, point);
    match &point.task {
        Task::Load(load) => {
            let answer = world.load(load, &mut live)?;
            Ok(load_point(frame, load, answer, !world.is_stopped()))
        }
        Task::State(state) => Ok(state_point(frame, world.state(state, &mut live)?)),
    }
}

/// What is known of a point before it is measured.
fn frame(plan: &Plan, point: &plan::Point) -> Point {
    let headline = match &point.task {
        Task::Load(Load { headlines, .. }) => headlines.first().map(ToString::to_string).unwrap_or_default(),
        Task::State(_) => String::new(),
    };
    Point {
        index: point.index as u32,
        phase: plan.phases[point.phase].name.clone(),
        name: point.name.clone(),
        kind: if headline.is_empty() { PointKind::State } else { PointKind::Load },
        repeat: point.repeat,
        swept: point.swept.iter().cloned().collect(),
        headline,
        started_ns: 0,
        ended_ns: 0,
        complete: false,
        workloads: Vec::new(),
        series: Vec::new(),
        cpu: None,
        devices: Vec::new(),
        breakdown: None,
    }
}

/// The curves of the sweeps so far, and which of them have ended.
#[derive(Default)]
struct Curves {
    groups: HashMap<usize, Curve>,
}

/// One sweep: the figure that is watched, for each value of the innermost swept key.
#[derive(Default)]
struct Curve {
    values: Vec<(String, Vec<f64>)>,
    ended: bool,
}

impl Curves {
    fn has_ended(&self, group: usize) -> bool {
        self.groups.get(&group).is_some_and(|curve| curve.ended)
    }

    /// Adds a measured point; the reason where that ends its sweep.
    ///
    /// Repeats of one value count as their mean, and the rule is asked after the last of them.
    fn add(&mut self, point: &plan::Point, repeat: u32, measured: &Point) -> Option<String> {
        let Task::Load(Load { until: Some(until), .. }) = &point.task else { return None };
        let swept = point.swept.last().map(|(_, value)| value.clone()).unwrap_or_default();
        let flat = until.gain.map_or(plan::Flat::Iops, |gain| gain.flat);
        let figure: f64 = measured.workloads.iter().filter_map(|workload| watched(workload, flat)).sum();
        let curve = self.groups.entry(point.group).or_default();
        match curve.values.iter_mut().find(|(value, _)| *value == swept) {
            Some((_, figures)) => figures.push(figure),
            None => curve.values.push((swept, vec![figure])),
        }
        if curve.values.last().is_some_and(|(_, figures)| figures.len() < repeat as usize) {
            return None;
        }
        let means: Vec<f64> = curve
            .values
            .iter()
            .map(|(_, figures)| figures.iter().sum::<f64>() / figures.len() as f64)
            .collect();
        let no_gain = until.gain.filter(|gain| gain.ended(&means)).map(|gain| {
            format!("{} has not grown by more than {} over {} points", gain.flat, gain.within, gain.points)
        });
        let why = no_gain.or_else(|| limit::broken(until, measured));
        curve.ended = why.is_some();
        why
    }
}

fn watched(workload: &record::WorkloadResult, flat: plan::Flat) -> Option<f64> {
    let total = workload.total()?;
    Some(match flat {
        plan::Flat::Throughput => total.bytes_per_s.value,
        plan::Flat::Iops => total.ops_per_s.value,
    })
}
