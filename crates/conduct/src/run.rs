//! A plan from its first point to its last.

use std::collections::{BTreeMap, HashMap};

use record::{Point, PointKind};
use units::Nanos;
use units::convert::narrow;
use workload::plan::{self, Load, Plan, Settle, State, Task};
use workload::spec::Content;

use crate::event::{Event, Live};
use crate::limit;
use crate::result::{growing_point, load_point, state_point};
use crate::rounds::Tracking;
use crate::world::{World, WorldError};

/// What became of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The points that were measured, in order; after a failure those before it.
    pub points: Vec<Point>,
    /// Whether every point was run, or left out by a rule of the plan.
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

/// Runs `plan` in `world` and tells `watch` what happens.
///
/// A failure or an interrupt ends the plan; what was measured before is in the outcome.
pub fn run(plan: &Plan, world: &mut dyn World, watch: &mut dyn FnMut(Event<'_>)) -> Outcome {
    let mut course = Course::new(plan);
    for position in 0..course.points.len() {
        if !course.pass(position, world, watch) {
            break;
        }
    }
    course.into_outcome()
}

/// Runs `plan` in two worlds, interleaved, and tells `watch` what happens in which, 0 or 1.
///
/// Each point is measured in both before the next. The world that was second at one point is first at the next, so that
/// what drifts slowly falls upon both alike: A B, B A, A B. What ends the plan in one world ends it in both; rules of a
/// sweep end it in each by itself.
pub fn run_interleaved(
    plan: &Plan,
    worlds: [&mut dyn World; 2],
    watch: &mut dyn FnMut(usize, Event<'_>),
) -> [Outcome; 2] {
    let mut courses = [Course::new(plan), Course::new(plan)];
    'plan: for position in 0..courses[0].points.len() {
        for turn in 0..2 {
            let side = (position + turn) % 2;
            if !courses[side].pass(position, worlds[side], &mut |event| watch(side, event)) {
                courses.iter_mut().for_each(|course| course.outcome.complete = false);
                break 'plan;
            }
        }
    }
    courses.map(Course::into_outcome)
}

/// A plan on its way through one world.
struct Course<'p> {
    plan: &'p Plan,
    points: &'p [plan::Point],
    /// How long each point should take.
    expected: Vec<Nanos>,
    /// How long the points should take that are still to come.
    expected_after: Nanos,
    curves: Curves,
    tracking: Tracking,
    outcome: Outcome,
    /// Whether what came last was a load, and then whether it wrote.
    wrote: Option<bool>,
}

impl<'p> Course<'p> {
    fn new(plan: &'p Plan) -> Course<'p> {
        let points = plan.points();
        let expected: Vec<Nanos> = points.iter().map(|point| point.estimate().time).collect();
        Course {
            plan,
            points,
            expected_after: expected.iter().copied().sum(),
            expected,
            curves: Curves::default(),
            tracking: Tracking::default(),
            outcome: Outcome::begin(),
            wrote: None,
        }
    }

    /// Measures the point at `position`, or leaves it out where a rule has ended its sweep. Whether the plan goes on.
    fn pass(&mut self, position: usize, world: &mut dyn World, watch: &mut dyn FnMut(Event<'_>)) -> bool {
        if world.is_stopped() {
            self.outcome.complete = false;
            return false;
        }
        let points = self.points;
        let point = &points[position];
        if self.is_left_out(point) {
            return true;
        }
        let expected = self.expected[position];
        self.expected_after = self.expected_after.saturating_sub(expected);
        watch(Event::PointStarted {
            index: point.index,
            of: self.points.len(),
            name: &point.name,
            expected: Some(expected).filter(|time| !time.is_zero()),
            expected_after: self.expected_after,
        });
        match self.measure(point, world, watch) {
            Ok(measured) => {
                self.outcome.complete &= measured.complete;
                watch(Event::PointEnded { point: &measured });
                let phase = &self.plan.phases[point.phase];
                let ends = [
                    self.curves.add(point, phase.repeat, &measured),
                    self.tracking.add(phase, point, &measured),
                ];
                for why in ends.into_iter().flatten() {
                    let title = record::phase_title(&phase.name, |_| None);
                    watch(Event::SweepEnded { phase: &title, why });
                    self.expected_after = self.expected_from(position + 1);
                }
                self.outcome.points.push(measured);
                true
            }
            Err(error) => {
                self.outcome.complete = false;
                self.outcome.error = Some(error);
                false
            }
        }
    }

    /// How long the points from `position` on should take, without those that are left out.
    fn expected_from(&self, position: usize) -> Nanos {
        let later = self.points.iter().zip(&self.expected).skip(position);
        later.filter(|(point, _)| !self.is_left_out(point)).map(|(_, expected)| *expected).sum()
    }

    fn measure(
        &mut self,
        point: &plan::Point,
        world: &mut dyn World,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Point, WorldError> {
        let index = point.index;
        let frame = frame(self.plan, point);
        let has_percentiles = world.has_percentiles();
        let mut live = |live: Live<'_>| {
            let heard = live.clone();
            let grown = |load| growing_point(frame.clone(), load, &heard, has_percentiles);
            match &point.task {
                Task::Load(load) if !live.heard.is_empty() => {
                    watch(Event::Live { index, live, so_far: Some(&|| grown(load)) });
                }
                _ => watch(Event::Live { index, live, so_far: None }),
            }
        };
        match &point.task {
            Task::Load(load) => {
                let settle = self.plan.phases[point.phase].settle;
                let settled = match self.wrote.filter(|_| settle != Settle::None) {
                    Some(wrote) => world.settle(settle, wrote, &mut live)?,
                    None => None,
                };
                self.wrote = Some(load.changes_data());
                let answer = world.load(load, &mut live)?;
                let measured = load_point(frame.clone(), load, answer, world);
                Ok(Point { settled, ..measured })
            }
            Task::State(state) => {
                self.wrote = None;
                Ok(state_point(frame.clone(), world.state(state, &mut live)?))
            }
        }
    }

    fn is_left_out(&self, point: &plan::Point) -> bool {
        self.curves.has_ended(point.group) || self.tracking.has_ended(point)
    }

    fn into_outcome(self) -> Outcome {
        let mut outcome = self.outcome;
        outcome.rounds = self.tracking.into_record(self.plan);
        outcome
    }
}

/// What is known of a point before it is measured.
fn frame(plan: &Plan, point: &plan::Point) -> Point {
    let headline = match &point.task {
        Task::Load(Load { headlines, .. }) => headlines.first().map(ToString::to_string).unwrap_or_default(),
        Task::State(_) => String::new(),
    };
    let kind = if headline.is_empty() { PointKind::State } else { PointKind::Load };
    Point {
        name: point.name.clone(),
        repeat: point.repeat,
        swept: point.swept.iter().cloned().collect(),
        state: state_of(&point.task),
        ..Point::before(narrow::<u32>(point.index), &plan.phases[point.phase].name, kind, headline)
    }
}

/// What a state does, by the keys of the plan; nothing for a load.
fn state_of(task: &Task) -> BTreeMap<String, String> {
    let Task::State(state) = task else { return BTreeMap::new() };
    let mut keys = BTreeMap::from([("state".to_owned(), state.word().to_string())]);
    let mut put = |key: &str, value: String| keys.insert(key.to_owned(), value);
    match state {
        State::Prepare(prepare) => {
            let content = if prepare.content == Content::Zeros { "zeros" } else { "random" };
            put("offset", prepare.offset.to_string());
            put("span", prepare.span.to_string());
            put("trim", prepare.trim.to_string());
            put("fill", prepare.fill.to_string());
            put("content", content.to_owned());
        }
        State::Idle(time) => drop(put("time", time.to_string())),
        State::FailDisk(_) | State::Background(_) | State::Watch(_) => {}
    }
    keys
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
