//! A plan from its first point to its last.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use record::{Point, PointKind, Settled};
use units::convert::narrow;
use units::{Instant, Nanos};
use workload::plan::{self, Load, Plan, Settle, State, Task};
use workload::spec::Content;

use crate::event::{Event, Live};
use crate::in_order::{Taker, in_order, processors};
use crate::limit;
use crate::result::{growing_point, load_point, state_point};
use crate::rounds::Tracking;
use crate::world::{Apart, World, WorldError};

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

    /// Worlds of their own for the points from `position` on that can be measured apart from each other: each begins at
    /// rest. Where the plan goes on after them the world itself measures the last, so that it is as that leaves it.
    fn apart(&self, position: usize, world: &dyn World) -> Vec<Apart> {
        let mut worlds = Vec::new();
        for point in &self.points[position..] {
            let Task::Load(load) = &point.task else { break };
            let is_at_rest = if worlds.is_empty() { self.begins_at_rest(point) } else { self.settles(point) };
            match world.apart(point.index, load).filter(|_| is_at_rest) {
                Some(apart) => worlds.push(apart),
                None => break,
            }
        }
        if position + worlds.len() < self.points.len() {
            // Which of the points of a phase that may end early is the last is not known yet.
            let is_open = |point: &plan::Point| {
                let ends = matches!(&point.task, Task::Load(Load { until: Some(_), .. }));
                ends || self.plan.phases[point.phase].rounds.steady.is_some()
            };
            while worlds.pop().is_some() && is_open(&self.points[position + worlds.len()]) {}
        }
        worlds
    }

    /// Whether a target is brought to rest before `point` where a load came before.
    fn settles(&self, point: &plan::Point) -> bool {
        self.plan.phases[point.phase].settle == Settle::Auto
    }

    /// Whether nothing goes on when `point`, the next, begins.
    fn begins_at_rest(&self, point: &plan::Point) -> bool {
        self.settles(point) && (self.is_new || self.wrote.is_some())
    }

    /// Measures the points from `first` on, which have these worlds of their own. Whether the plan goes on.
    fn pass_apart(
        &mut self,
        first: usize,
        worlds: &[Apart],
        threads: usize,
        world: &mut dyn World,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> bool {
        let (plan, points) = (self.plan, self.points);
        let needless: Vec<AtomicBool> = worlds.iter().map(|_| AtomicBool::new(false)).collect();
        let piece = |at: usize| Piece {
            plan,
            point: &points[first + at],
            then_rests: points.get(first + at + 1).is_some_and(|next| {
                matches!(next.task, Task::Load(_)) && plan.phases[next.phase].settle == Settle::Auto
            }),
            world: &worlds[at],
        };
        let work = |at: usize| {
            (!needless[at].load(Ordering::Relaxed)).then(|| piece(at).carried_out(Nanos::ZERO, &mut |_| ()))
        };
        let mut taker =
            Front { course: self, first, needless: &needless, piece: &piece, world, watch, goes_on: true };
        in_order(worlds.len(), threads, &work, &mut taker);
        taker.goes_on
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

/// A point that is measured in a world of its own.
struct Piece<'p, 'w> {
    plan: &'p Plan,
    point: &'p plan::Point,
    /// Whether what comes next begins at rest.
    then_rests: bool,
    world: &'w Apart,
}

/// What became of it.
struct Measured {
    /// On a clock that begins with it.
    point: Result<Point, WorldError>,
    took: Nanos,
    rested: Option<(Result<Option<Settled>, WorldError>, Nanos)>,
}

impl Piece<'_, '_> {
    /// Measures it; `watch` is told of how far it is, the point as far as it has come being `since` later.
    fn carried_out(&self, since: Nanos, watch: &mut dyn FnMut(Event<'_>)) -> Measured {
        let Task::Load(load) = &self.point.task else { unreachable!("states are not measured apart") };
        let mut world = (self.world)();
        let (frame, has_percentiles) = (frame(self.plan, self.point), world.has_percentiles());
        let (since, began) = (since + world.since(), world.now());
        let answer = world.load(load, &mut |live| {
            tell_growing((self.point, &frame, load), live, (since, has_percentiles), watch);
        });
        let ended = world.now();
        let point = answer.map(|answer| load_point(frame.clone(), load, answer, &*world));
        let rested = (self.then_rests && point.is_ok()).then(|| {
            let settled = world.settle(Settle::Auto, load.changes_data(), &mut |_| ());
            (settled, world.now().saturating_since(ended))
        });
        Measured { point, took: ended.saturating_since(began), rested }
    }
}

/// Takes points that were measured apart, in order, and measures the foremost where everybody can see it.
struct Front<'c, 'p, 'w> {
    course: &'c mut Course<'p>,
    /// The position of the first of them.
    first: usize,
    /// Which of them nobody needs to measure any more.
    needless: &'c [AtomicBool],
    piece: &'c dyn Fn(usize) -> Piece<'p, 'c>,
    world: &'w mut dyn World,
    watch: &'w mut dyn FnMut(Event<'_>),
    goes_on: bool,
}

impl Front<'_, '_, '_> {
    fn is_left_out(&self, at: usize) -> bool {
        self.course.is_left_out(&self.course.points[self.first + at])
    }
}

impl Taker<Option<Measured>> for Front<'_, '_, '_> {
    fn next(&mut self, at: usize, is_free: bool) -> Option<Option<Measured>> {
        if self.world.is_stopped() {
            (self.course.outcome.complete, self.goes_on) = (false, false);
            return Some(None);
        }
        if self.is_left_out(at) {
            return is_free.then_some(None);
        }
        self.course.begin(self.first + at, self.watch);
        if !is_free {
            return None;
        }
        let (piece, watch) = ((self.piece)(at), &mut *self.watch);
        let since = self.world.now().saturating_since(Instant::default());
        Some(Some(piece.carried_out(since, watch)))
    }

    fn take(&mut self, at: usize, measured: Option<Measured>) -> bool {
        let position = self.first + at;
        if !self.goes_on || self.is_left_out(at) {
            return self.goes_on;
        }
        let Some(Measured { point, took, rested }) = measured else { return true };
        let asked = &self.course.points[position];
        let Task::Load(load) = &asked.task else { unreachable!("states are not measured apart") };
        let settled = self.course.rest(asked, self.world, self.watch);
        self.course.loaded(load);
        let since = self.world.now().saturating_since(Instant::default());
        self.world.skip(took);
        let point = settled.and_then(|settled| Ok(Point { settled, ..point?.later(since.get()) }));
        self.course.rested = rested;
        self.goes_on = self.course.add(position, point, self.watch);
        for (at, needless) in (0..).zip(self.needless) {
            needless.store(self.is_left_out(at), Ordering::Relaxed);
        }
        self.goes_on
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
