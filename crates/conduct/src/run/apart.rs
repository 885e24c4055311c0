//! Points that a world can measure apart from each other, on all processors, taken in the order of the plan.

use std::sync::atomic::{AtomicBool, Ordering};

use record::{Point, Settled};
use units::{Instant, Nanos};
use workload::plan::{self, Load, Plan, Settle, Task};

use super::{Course, frame, tell_growing};
use crate::event::Event;
use crate::in_order::{Taker, in_order};
use crate::result::load_point;
use crate::world::{Apart, World, WorldError};

impl<'p> Course<'p> {
    /// Worlds of their own for the points from `position` on that can be measured apart from each other: each begins at
    /// rest. Where the plan goes on after them the world itself measures the last, so that it is as that leaves it.
    pub(super) fn apart(&self, position: usize, world: &dyn World) -> Vec<Apart> {
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

    /// Measures the points from `first` on, which have these worlds of their own. Whether the plan goes on.
    pub(super) fn pass_apart(
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
