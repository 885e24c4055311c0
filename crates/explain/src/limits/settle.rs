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

/// Less is not told.
const LITTLE: f64 = 0.01;

/// The change of how much is in flight, which is no part.
pub(crate) const DEPTH: &str = "depth";

/// What to do where nothing was tried yet.
pub(super) const REMEDY: &str =
    "`fathom explain` carries the point out again with each part faster, and at twice the queue depth.";

/// The points of a virtual array whose limit the record leaves open, as the findings of `run` say.
pub fn open_points(run: &Run) -> Vec<u32> {
    let open = run.findings.iter().filter(|finding| finding.code == Code::LimitOpen.name());
    open.filter(|_| run.world == World::Array).filter_map(|finding| finding.point).collect()
}

/// What a change brought of the rate, 0 where its interval leaves that out. The interval is of pairs with the same
/// seed each, so that what seeds differ by does not count.
fn effect(trial: &Trial) -> f64 {
    if trial.ops.low > 0.0 { trial.ops.change } else { 0.0 }
}

/// What the trials of a point say of its limit; `None` where they leave it open too, or where the array as it is did
/// not do again what was recorded.
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
            "Latency-bound, by trial: doubling the queue depth raises the rate by {}; {speed} more speed of the part \
             that matters most, {}, by {}.",
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

/// Why nothing was tried of a point whose limit is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untried {
    /// It takes long, or something else was asked for.
    Unasked,
    /// Its record cannot be carried out again.
    Unable,
}

/// What to do about the open limit of the point `index` of `run`, of which nothing was tried.
pub fn untried(run: &str, index: u32, why: Untried) -> String {
    match why {
        Untried::Unasked => format!(
            "Ask for this point alone, which may take minutes: `fathom explain {run} --what-if --point {}` carries it \
             out again with each part faster, and at twice the queue depth.",
            index + 1
        ),
        Untried::Unable => {
            "This record cannot be carried out again. Measure twice and half the queue depth (`depth = [8, 16, 32]`)."
                .into()
        }
    }
}

/// `open`, a finding of `run`, with what was tried of its point in vain, and what to do then: for trials of which
/// [`settled`] says nothing.
pub fn unsettled(run: &str, open: &Finding, tried: &WhatIf) -> Finding {
    let parts = tried.trials.iter().filter(|trial| trial.change != DEPTH && effect(trial) >= LITTLE);
    let mut parts: Vec<&Trial> = parts.collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let speed = percent(tried.times - 1.0);
    let number = open.point.map_or(1, |index| index + 1);
    let (told, remedy) = match parts.as_slice() {
        _ if !tried.is_the_record() => (
            format!(
                "carried out again the array does {} of what was recorded, so that no trial says anything of the record",
                percent(1.0 + tried.off())
            ),
            "Carry the plan out again with this program, and ask of that run.".into(),
        ),
        [] => (
            format!(
                "{speed} more speed of any part, and doubling the queue depth, bring no more than equal runs differ by, {}",
                percent(tried.floor_ops)
            ),
            format!(
                "Run longer, so that equal runs differ by less, or try it more often: `fathom explain {run} --what-if \
                 --point {number} --seeds 20`."
            ),
        ),
        [only] => (
            format!(
                "{speed} more speed of {} brings {}, of any other nothing",
                only.change,
                percent(only.ops.change)
            ),
            format!(
                "What it brings is less than a limit would: several bound the rate one after the other. Make {} faster \
                 first, and ask again.",
                only.change
            ),
        ),
        [first, second, ..] => (
            format!(
                "{speed} more speed of {} brings {}, of {} {}",
                first.change,
                percent(first.ops.change),
                second.change,
                percent(second.ops.change)
            ),
            format!(
                "They bound the rate together: make {} and {} faster, or ask less of both.",
                first.change, second.change
            ),
        ),
    };
    let sentence = format!("{} Trials leave it open: {told}.", open.sentence);
    Finding { sentence, remedy, ..open.clone() }
}
