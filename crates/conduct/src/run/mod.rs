//! A plan from its first point to its last.

mod apart;

use std::collections::BTreeMap;

use record::{Point, PointKind, Settled};
use units::convert::narrow;
use units::{Instant, Nanos};
use workload::plan::{self, Load, Plan, Settle, State, Task};
use workload::spec::Content;

use crate::curves::Curves;
use crate::event::{Event, Live};
use crate::in_order::processors;
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
/// A failure or an interrupt ends the plan; what was measured before is in the outcome. Points that a world can measure
/// apart from each other ([`World::apart`]) are measured on all processors.
pub fn run(plan: &Plan, world: &mut dyn World, watch: &mut dyn FnMut(Event<'_>)) -> Outcome {
    run_on(processors(), plan, world, watch)
}

/// The same on at most so many threads; the outcome does not depend on it.
pub fn run_on(
    threads: usize,
    plan: &Plan,
    world: &mut dyn World,
    watch: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    let mut course = Course::new(plan);
    let mut position = 0;
    while position < course.points.len() {
        let apart = if threads > 1 { course.apart(position, world) } else { Vec::new() };
        let goes_on = match apart.len() {
            0 | 1 => course.pass(position, world, watch),
            _ => course.pass_apart(position, &apart, threads, world, watch),
        };
        if !goes_on {
            break;
        }
        position += apart.len().max(1);
    }
    course.into_outcome()
}

/// The same, point by point and on one thread, for as long as `goes_on` says so before a point: with its name, and how long
/// the run has gone on by then. What it leaves out, nobody has missed.
pub fn run_while(
    plan: &Plan,
    world: &mut dyn World,
    goes_on: &mut dyn FnMut(&str, Nanos) -> bool,
    watch: &mut dyn FnMut(Event<'_>),
) -> Outcome {
    let mut course = Course::new(plan);
    for (position, point) in plan.points().iter().enumerate() {
        let since = world.since() + world.now().saturating_since(Instant::default());
        if !goes_on(&point.name, since) || !course.pass(position, world, watch) {
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
    /// How a world apart came to rest after the last load, and how long that took.
    rested: Option<(Result<Option<Settled>, WorldError>, Nanos)>,
    /// Whether nothing was done yet.
    is_new: bool,
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
            rested: None,
            is_new: true,
        }
    }

    /// Whether a target is brought to rest before `point` where a load came before.
    fn settles(&self, point: &plan::Point) -> bool {
        self.plan.phases[point.phase].settle == Settle::Auto
    }

    /// Whether nothing goes on when `point`, the next, begins.
    fn begins_at_rest(&self, point: &plan::Point) -> bool {
        self.settles(point) && (self.is_new || self.wrote.is_some())
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
        self.begin(position, watch);
        let measured = self.measure(point, world, watch);
        self.add(position, measured, watch)
    }

    /// Tells that the point at `position` begins.
    fn begin(&mut self, position: usize, watch: &mut dyn FnMut(Event<'_>)) {
        let (point, expected) = (&self.points[position], self.expected[position]);
        self.expected_after = self.expected_after.saturating_sub(expected);
        watch(Event::PointStarted {
            index: point.index,
            of: self.points.len(),
            name: &point.name,
            expected: Some(expected).filter(|time| !time.is_zero()),
            expected_after: self.expected_after,
        });
    }

    /// Takes what became of the point at `position`. Whether the plan goes on.
    fn add(
        &mut self,
        position: usize,
        measured: Result<Point, WorldError>,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> bool {
        let point = &self.points[position];
        match measured {
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
                let before = self.outcome.points.last().map(|last| last.index);
                assert!(before.is_none_or(|before| before < measured.index), "points are measured in order");
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
        let frame = frame(self.plan, point);
        match &point.task {
            Task::Load(load) => {
                let settled = self.rest(point, world, watch)?;
                if self.begins_at_rest(point) {
                    world.renew(point.index);
                }
                self.loaded(load);
                let (since, has_percentiles) = (world.since(), world.has_percentiles());
                let mut live = |live: Live<'_>| {
                    tell_growing((point, &frame, load), live, (since, has_percentiles), watch);
                };
                let answer = world.load(load, &mut live)?;
                let measured = load_point(frame.clone(), load, answer, world);
                Ok(Point { settled, ..measured })
            }
            Task::State(state) => {
                (self.wrote, self.rested, self.is_new) = (None, None, false);
                let index = point.index;
                let mut live = |live: Live<'_>| watch(Event::Live { index, live, so_far: None });
                let answer = world.state(state, &mut live)?;
                Ok(state_point(frame, answer, world.since()))
            }
        }
    }

    /// Lets the target come to rest before `point`, where the plan says so and a load came before.
    fn rest(
        &mut self,
        point: &plan::Point,
        world: &mut dyn World,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Settled>, WorldError> {
        if let Some((settled, took)) = self.rested.take() {
            world.skip(took);
            return settled;
        }
        let settle = self.plan.phases[point.phase].settle;
        let Some(wrote) = self.wrote.filter(|_| settle != Settle::None) else { return Ok(None) };
        let index = point.index;
        world.settle(settle, wrote, &mut |live| watch(Event::Live { index, live, so_far: None }))
    }

    /// A load has begun.
    fn loaded(&mut self, load: &Load) {
        (self.wrote, self.is_new) = (Some(load.changes_data()), false);
    }

    fn is_left_out(&self, point: &plan::Point) -> bool {
        self.curves.has_ended(point.group) || self.tracking.has_ended(point)
    }

    fn into_outcome(self) -> Outcome {
        let mut outcome = self.outcome;
        assert!(outcome.error.is_none() || !outcome.complete, "a plan that has failed is not complete");
        outcome.rounds = self.tracking.into_record(self.plan);
        outcome
    }
}

/// Tells how far a load has come.
fn tell_growing(
    (point, frame, load): (&plan::Point, &Point, &Load),
    live: Live<'_>,
    (since, has_percentiles): (Nanos, bool),
    watch: &mut dyn FnMut(Event<'_>),
) {
    let (index, heard) = (point.index, live.clone());
    let so_far = || growing_point(frame.clone(), load, &heard, has_percentiles).later(since.get());
    let so_far: Option<&dyn Fn() -> Point> = if heard.heard.is_empty() { None } else { Some(&so_far) };
    watch(Event::Live { index, live, so_far });
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
        set: point.set.clone(),
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
            if let Some(size) = prepare.read_ahead {
                put("read_ahead", size.exact());
            }
            if let Some(name) = &prepare.scheduler {
                put("scheduler", name.clone());
            }
        }
        State::Idle(time) => drop(put("time", time.to_string())),
        State::FailDisk(_) | State::Background(_) | State::Watch(_) => {}
    }
    keys
}
