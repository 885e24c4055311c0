//! The limit of a point of a virtual array by trial, where its record does not tell: each part faster, and more in
//! flight.

use record::{Finding, Point, Run, Severity, Trial, WhatIf, World};

use crate::Code;
use crate::draft::{Draft, percent};

/// A part that brings less of what it was made faster is no limit.
const CLEAR: f64 = 0.3;

/// A limit brings so many times what any other part brings.
const FIRST: f64 = 2.0;

/// Twice as much in flight that brings so much is not stopped by a part.
const FOLLOWS: f64 = 0.4;

/// The change of how much is in flight, which is no part.
pub(crate) const DEPTH: &str = "depth";

/// The points of a virtual array whose limit the record leaves open, as the findings of `run` say.
pub fn open_points(run: &Run) -> Vec<u32> {
    let open = run.findings.iter().filter(|finding| finding.code == Code::LimitOpen.name());
    open.filter(|_| run.world == World::Array).filter_map(|finding| finding.point).collect()
}

/// What the trials of a point say of its limit; `None` where they leave it open too, or where the array as it is did
/// not do again what was recorded.
pub fn settled(run: &Run, tried: &WhatIf) -> Option<Finding> {
    let point: &Point = run.points.iter().find(|point| point.index == tried.point)?;
    if !tried.is_the_record() {
        return None;
    }
    let effect = |trial: &Trial| if trial.ops.is_there { trial.ops.change.max(0.0) } else { 0.0 };
    let depth = tried.trials.iter().find(|trial| trial.change == DEPTH);
    let mut parts: Vec<&Trial> = tried.trials.iter().filter(|trial| trial.change != DEPTH).collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let (first, second) = (parts.first()?, parts.get(1));
    let speed = percent(tried.times - 1.0);
    let next = second.map_or(String::new(), |second| {
        format!("; the next, {}, {}", second.change, percent(second.ops.change))
    });
    let deeper = depth
        .map_or(String::new(), |depth| format!("; twice as much in flight {}", percent(depth.ops.change)));
    let draft = if let Some(depth) = depth.filter(|depth| effect(depth) >= FOLLOWS) {
        let sentence = format!(
            "No resource is saturated, you are latency-bound, by trial: twice as much in flight raises the rate by {}; \
             {speed} more speed of the part that matters most, {}, by {}.",
            percent(depth.ops.change),
            first.change,
            percent(first.ops.change)
        );
        Draft::new(Code::LatencyBound, Severity::Note, sentence)
            .remedy("Ask with more in flight, or make each request faster.")
    } else if effect(first) >= CLEAR * (tried.times - 1.0)
        && second.is_none_or(|second| effect(first) >= FIRST * effect(second))
    {
        let verb = if first.change.ends_with('s') && !first.change.ends_with("bus") { "are" } else { "is" };
        let sentence = format!(
            "{} {verb} the limit, by trial: {speed} more speed raises the rate by {}{next}{deeper}.",
            first.change,
            percent(first.ops.change)
        );
        Draft::new(Code::Limit, Severity::Note, sentence)
            .remedy("Only more or faster of that part, or asking less of it, brings more.")
    } else {
        return None;
    };
    let draft = tried.trials.iter().fold(draft, |draft, trial| {
        draft.number(&format!("{}_rate_change", trial.change.replace(' ', "_")), trial.ops.change)
    });
    Some(draft.number("times_as_fast", tried.times).about(point))
}
