//! How long a plan takes and how much it writes, as far as the plan alone says so.

use std::fmt;

use units::convert::truncated;
use units::{Bytes, Nanos};

use super::state::State;
use super::{Plan, Point, Task};
use crate::spec::{Extent, Pace, Schedule, Spacing, Span, Workload};
use crate::trace::Replay;

/// What a plan, or one point of it, costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Repeats and values of sweeps counted one by one.
    pub points: usize,
    /// Warm-up, run and cool-down of every point that ends by time, and the idle phases. Sweeps that end early
    /// take less; laying out files, opening and draining come on top.
    pub time: Nanos,
    /// Points that end after so many requests or bytes, and states that end when they are done: their time
    /// depends on the target.
    pub untimed_points: usize,
    /// Whether a sweep may end early.
    pub may_end_early: bool,
    /// What is written.
    pub written: Written,
    /// Whether anything on the target is written or trimmed.
    pub changes_data: bool,
}

/// What a plan writes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// By workloads that say how much, or at which even pace.
    pub at_most: Bytes,
    /// Time in which workloads write as fast as the target takes it: how much is not known beforehand.
    pub unbounded: Nanos,
    /// How often a span is filled whose size is known only with the target.
    pub spans: u32,
    /// Passes of workers that write, each over as much as its own files or span hold, which the target tells.
    pub passes: u32,
    /// Whether a workload writes until something else ends: another workload, or a figure that is steady.
    pub endless: bool,
    /// Whether data is taken away without being written over: trimmed, or files emptied.
    pub discards: bool,
}

impl Plan {
    /// What the whole plan costs.
    pub fn estimate(&self) -> Estimate {
        let mut sum = Estimate::default();
        for point in self.points() {
            let one = point.estimate();
            sum.points += one.points;
            sum.time = later(sum.time, one.time);
            sum.untimed_points += one.untimed_points;
            sum.may_end_early |= one.may_end_early;
            sum.changes_data |= one.changes_data;
            sum.written.at_most = more(sum.written.at_most, one.written.at_most);
            sum.written.unbounded = later(sum.written.unbounded, one.written.unbounded);
            sum.written.spans = sum.written.spans.saturating_add(one.written.spans);
            sum.written.passes = sum.written.passes.saturating_add(one.written.passes);
            sum.written.endless |= one.written.endless;
            sum.written.discards |= one.written.discards;
        }
        sum.may_end_early |= self.phases.iter().any(|phase| phase.rounds.steady.is_some());
        sum
    }
}

impl Point {
    /// What this point alone costs.
    pub fn estimate(&self) -> Estimate {
        match &self.task {
            Task::Load(load) => {
                let timed = load.workloads.iter().map(time).max().flatten();
                let mut written = Written::default();
                for workload in &load.workloads {
                    add_written(workload, &mut written);
                }
                Estimate {
                    points: 1,
                    time: timed.unwrap_or(Nanos::ZERO),
                    untimed_points: usize::from(timed.is_none()),
                    may_end_early: load.until.is_some(),
                    written,
                    changes_data: load.changes_data(),
                }
            }
            Task::State(state) => of_state(state),
        }
    }
}

/// Warm-up, run and cool-down; `None` where the end depends on the target. Of a
/// warm-up by bytes, and of what wears out, nobody knows how long it takes.
fn time(workload: &Workload) -> Option<Nanos> {
    let stop = workload.stop;
    if workload.tree.as_ref().is_some_and(|tree| !tree.op.repeats())
        || stop.warmup_bytes.is_some()
        || stop.wear_out
    {
        return None;
    }
    let run = match (stop.run, workload.pace, workload.replay()) {
        (run, Pace::Trace, Some(replay)) => {
            let lasts = replay.lasts()?.saturating_sub(stop.warmup);
            Some(run.map_or(lasts, |run| run.min(lasts)))
        }
        (run, ..) => run,
    };
    Some(later(later(later(stop.start, stop.warmup), run?), stop.cooldown))
}

fn add_written(workload: &Workload, written: &mut Written) {
    if let Some(tree) = &workload.tree {
        let files = Bytes::new(truncated((tree.sizes.mean() * tree.count as f64).ceil()));
        // What another phase needs is made where it is not there, so that each may write the files once.
        written.at_most = more(written.at_most, files);
        return;
    }
    written.discards |= workload.discards();
    if !workload.writes() {
        return;
    }
    if let Some(Replay { requests: Some(trace), .. }) = workload.replay() {
        written.at_most = more(written.at_most, trace.written());
        return;
    }
    let largest = workload.sizes.largest();
    let times = if workload.stop.ops_after_warmup { 2 } else { 1 };
    let by_ops =
        workload.stop.ops.map(|ops| Bytes::new(ops.saturating_mul(times).saturating_mul(largest.get())));
    let by_pace = match (workload.pace, time(workload)) {
        (Pace::Open(Schedule { rate, spacing: Spacing::Even, .. }), Some(time)) => {
            let requests = truncated::<u64>((rate.get() * time.as_secs_f64()).ceil()) + 1;
            Some(Bytes::new(requests.saturating_mul(largest.get())))
        }
        _ => None,
    };
    let bounds = [by_ops, workload.stop.bytes, by_pace];
    match (bounds.into_iter().flatten().min(), time(workload), workload.stop.loops) {
        (Some(bound), ..) => written.at_most = more(written.at_most, bound),
        // Workloads of one point write at the same time.
        (None, Some(time), _) => written.unbounded = written.unbounded.max(time),
        (None, None, Some(passes)) => {
            let passes = passes.saturating_mul(workload.workers);
            written.passes = written.passes.saturating_add(passes);
        }
        (None, None, None) => written.endless = true,
    }
}

fn of_state(state: &State) -> Estimate {
    let mut estimate = Estimate { points: 1, changes_data: state.changes_data(), ..Estimate::default() };
    match state {
        State::Idle(time) => estimate.time = *time,
        State::FailDisk(_) => {}
        State::Background(background) => estimate.untimed_points = usize::from(background.wait),
        State::Watch(watch) => estimate.untimed_points = usize::from(watch.wait),
        State::Prepare(prepare) => {
            estimate.untimed_points = 1;
            estimate.written.discards = prepare.trim || prepare.empty;
            match prepare.span {
                Span::Of(Extent::Bytes(span)) => {
                    estimate.written.at_most = Bytes::new(span.get().saturating_mul(prepare.fill.into()));
                }
                _ => estimate.written.spans = prepare.fill,
            }
        }
    }
    estimate
}

fn later(one: Nanos, other: Nanos) -> Nanos {
    Nanos::new(one.get().saturating_add(other.get()))
}

fn more(one: Bytes, other: Bytes) -> Bytes {
    Bytes::new(one.get().saturating_add(other.get()))
}

impl fmt::Display for Estimate {
    /// `5 points in 75.0 s`, with what is not known said in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.points == 1 { "" } else { "s" };
        write!(f, "{} point{s}", self.points)?;
        let most = if self.may_end_early { "at most " } else { "" };
        if self.untimed_points < self.points || !self.time.is_zero() {
            write!(f, " in {most}{}", self.time)?;
        }
        match self.untimed_points {
            0 => Ok(()),
            1 => write!(f, ", and one of them takes as long as the target needs"),
            n => write!(f, ", and {n} of them take as long as the target needs"),
        }
    }
}

impl fmt::Display for Written {
    /// `nothing`, `at most 4 GiB`, `as much as the target takes in 30.0 s`, or several of these. `nothing` alone means
    /// that the plan changes no data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.at_most.is_zero() {
            parts.push(format!("at most {}", self.at_most));
        }
        match self.spans {
            0 => {}
            1 => parts.push("the whole span once".into()),
            times => parts.push(format!("the whole span {times} times")),
        }
        match self.passes {
            0 => {}
            1 => parts.push("at most what is used of the target, once".into()),
            times => {
                parts.push(format!("at most {times} passes of a worker over what it uses of the target"));
            }
        }
        if !self.unbounded.is_zero() {
            parts.push(format!("as much as the target takes in {}", self.unbounded));
        }
        if self.endless {
            parts.push("as much as the target takes until the point ends".into());
        }
        let nothing = if self.discards { "nothing, but takes data away" } else { "nothing" };
        f.write_str(&if parts.is_empty() { nothing.into() } else { parts.join(", and ") })
    }
}
