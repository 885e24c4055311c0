//! The bottleneck of a point of a virtual array by trial, where its record does not identify it: each part faster, and
//! twice the queue depth.

use record::{Finding, Point, Run, Severity, Trial, WhatIf, World};

use crate::Code;
use crate::draft::{Draft, percent};

/// A part that gains less of what it was made faster is no bottleneck.
const CLEAR: f64 = 0.3;

/// A bottleneck gains so many times what any other part gains.
const FIRST: f64 = 2.0;

/// Where twice the queue depth gains so much, no part is the bottleneck.
const FOLLOWS: f64 = 0.4;

/// A smaller gain is not reported.
const LITTLE: f64 = 0.01;

/// The change of the queue depth, which is no part.
pub(crate) const DEPTH: &str = "depth";

/// What to do before any trial.
pub(super) const REMEDY: &str =
    "Run `fathom explain`: it repeats the point with each part faster, and at twice the queue depth.";

/// The points of a virtual array whose bottleneck the record does not identify, by the findings of `run`.
pub fn open_points(run: &Run) -> Vec<u32> {
    let open = run.findings.iter().filter(|finding| finding.code == Code::BottleneckUndetermined.name());
    open.filter(|_| run.world == World::Array).filter_map(|finding| finding.point).collect()
}

/// What a change gained in rate, 0 where its interval includes none. The interval is of pairs with the same
/// seed each, so that what seeds differ by does not count.
fn effect(trial: &Trial) -> f64 {
    if trial.ops.low > 0.0 { trial.ops.change } else { 0.0 }
}

/// The bottleneck of a point by its trials; `None` where they do not identify it, or where the unchanged array did not
/// repeat what was recorded.
pub fn settled(run: &Run, tried: &WhatIf) -> Option<Finding> {
    let point: &Point = run.points.iter().find(|point| point.index == tried.point)?;
    if !tried.is_the_record() {
        return None;
    }
    let depth = tried.trials.iter().find(|trial| trial.change == DEPTH);
    let mut parts: Vec<&Trial> = tried.trials.iter().filter(|trial| trial.change != DEPTH).collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let (first, second) = (parts.first()?, parts.get(1));
    let speed = percent(tried.times - 1.0);
    let next = second.map_or(String::new(), |second| {
        format!("; the next, {}, {}", second.change, percent(second.ops.change))
    });
    let deeper = depth
        .map_or(String::new(), |depth| format!("; doubling the queue depth {}", percent(depth.ops.change)));
    let draft = if let Some(depth) = depth.filter(|depth| effect(depth) >= FOLLOWS) {
        let sentence = format!(
            "Latency-bound, by trial: doubling the queue depth raises the rate by {}, {speed} more speed of the most \
             effective part, {}, by {}.",
            percent(depth.ops.change),
            first.change,
            percent(first.ops.change)
        );
        Draft::new(Code::LatencyBound, Severity::Note, sentence)
            .remedy("Increase the queue depth, or lower the latency of each request.")
    } else if effect(first) >= CLEAR * (tried.times - 1.0)
        && second.is_none_or(|second| effect(first) >= FIRST * effect(second))
    {
        let verb = if first.change.ends_with('s') && !first.change.ends_with("bus") { "are" } else { "is" };
        let sentence = format!(
            "{} {verb} the bottleneck, by trial: {speed} more speed raises the rate by {}{next}{deeper}.",
            first.change,
            percent(first.ops.change)
        );
        Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(super::MORE_OF_IT)
    } else {
        return None;
    };
    let draft = tried.trials.iter().fold(draft, |draft, trial| {
        draft.number(&format!("{}_rate_change", trial.change.replace(' ', "_")), trial.ops.change)
    });
    Some(draft.number("times_as_fast", tried.times).about(point))
}

/// Why a point whose bottleneck is not identified had no trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untried {
    /// It takes long, or the user chose another point.
    Unasked,
    /// Its record cannot be run again.
    Unable,
}

/// What to do about the point `index` of `run`, whose bottleneck is not identified and which had no trials.
pub fn untried(run: &str, index: u32, why: Untried) -> String {
    match why {
        Untried::Unasked => format!(
            "Run `fathom explain {run} --what-if --point {}`: it repeats this point with each part faster, and at \
             twice the queue depth, which may take minutes.",
            index + 1
        ),
        Untried::Unable => {
            "Measure half and twice the queue depth (sweep `depth`): this record cannot be run again.".into()
        }
    }
}

/// `open`, a finding of `run`, with the gains of its trials and what to do next: for trials that do not identify the
/// bottleneck by [`settled`].
pub fn unsettled(run: &str, open: &Finding, tried: &WhatIf) -> Finding {
    let parts = tried.trials.iter().filter(|trial| trial.change != DEPTH && effect(trial) >= LITTLE);
    let mut parts: Vec<&Trial> = parts.collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let speed = percent(tried.times - 1.0);
    let number = open.point.map_or(1, |index| index + 1);
    let (gains, remedy) = match parts.as_slice() {
        _ if !tried.is_the_record() => (
            format!(
                "run again, the unchanged array gives {} of the recorded rate, so they do not apply to the record",
                percent(1.0 + tried.off())
            ),
            "Run the plan again with this program, and explain that run.".into(),
        ),
        [] => (
            format!(
                "{speed} more speed of any part, and doubling the queue depth, gain no more than repeated runs differ \
                 by, {}",
                percent(tried.floor_ops)
            ),
            format!(
                "Run longer, so that repeated runs differ less, or use more seeds: `fathom explain {run} --what-if \
                 --point {number} --seeds 20`."
            ),
        ),
        [only] => (
            format!(
                "{speed} more speed of {} gains {}, of any other part nothing",
                only.change,
                percent(only.ops.change)
            ),
            format!(
                "Make {} faster first, then run `fathom explain` again: several parts bound the rate one after the \
                 other.",
                only.change
            ),
        ),
        [first, second, ..] => (
            format!(
                "{speed} more speed of {} gains {}, of {} {}",
                first.change,
                percent(first.ops.change),
                second.change,
                percent(second.ops.change)
            ),
            format!(
                "Make {} and {} faster, or put less load on both: they bound the rate together.",
                first.change, second.change
            ),
        ),
    };
    let sentence = format!("{} Trials do not identify it either: {gains}.", open.sentence);
    Finding { sentence, remedy, ..open.clone() }
}
