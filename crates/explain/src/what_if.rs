//! What a point gains from a faster part.

use record::{Finding, Point, Run, Severity, Trial, WhatIf};
use units::OpsPerSecond;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::limits::settle::DEPTH;

/// The finding of the trials of a point; `None` where the run has no such point.
pub fn what_if(run: &Run, tried: &WhatIf) -> Option<Finding> {
    let point: &Point = run.points.iter().find(|point| point.index == tried.point)?;
    let faster: Vec<&Trial> = tried.trials.iter().filter(|trial| trial.change != DEPTH).collect();
    let (sentence, remedy) = match tried.is_the_record() {
        true => gained(tried, &faster),
        false => refused(tried),
    };
    let mut draft = Draft::new(Code::WhatIf, Severity::Note, sentence).remedy(remedy);
    for trial in &tried.trials {
        let key = trial.change.replace(' ', "_");
        draft = draft.number(&format!("{key}_rate_change"), trial.ops.change);
        if let Some(p99) = trial.p99 {
            draft = draft.number(&format!("{key}_p99_change"), p99.change);
        }
    }
    let draft = draft.number("recorded_ops_per_s", tried.recorded_ops_per_s);
    let draft = draft.number("floor_rate", tried.floor_ops).number("again_ops_per_s", tried.again_ops_per_s);
    Some(draft.number("floor_p99", tried.floor_p99.unwrap_or(f64::NAN)).about(point))
}

/// What each change gained, and what to do.
fn gained(tried: &WhatIf, faster: &[&Trial]) -> (String, String) {
    let (worth, idle): (Vec<&Trial>, Vec<&Trial>) = faster.iter().partition(|trial| tried.gains(trial));
    let speed = percent(tried.times - 1.0);
    let gains: Vec<String> = worth.iter().map(|trial| format!("{} {}", trial.change, gain(trial))).collect();
    let mut sentence = match gains.as_slice() {
        [] => format!("{speed} more speed of any part gains nothing."),
        gains => format!("Gain with one part {speed} faster (95 % CI): {}.", gains.join("; ")),
    };
    if !idle.is_empty() && !worth.is_empty() {
        let idle: Vec<&str> = idle.iter().map(|trial| trial.change.as_str()).collect();
        sentence += &format!(" No gain: {}.", idle.join(", "));
    }
    if let Some(depth) = tried.trials.iter().find(|trial| trial.change == DEPTH) {
        let gain = if changes(depth) { gain(depth) } else { "no gain".into() };
        sentence += &format!(" Twice the queue depth: {gain}.");
    }
    let advice = if worth.is_empty() { "Upgrade none of them." } else { "Upgrade the first of them." };
    let remedy = format!(
        "{advice} Repeated runs of {} seeds differ by {} in rate, and the 95 % CI of the recorded rate is ± {}: \
         smaller gains do not count.",
        tried.seeds,
        percent(tried.floor_ops),
        percent(tried.within())
    );
    (sentence, remedy)
}

/// Why nothing is recommended.
fn refused(tried: &WhatIf) -> (String, String) {
    let sentence = format!(
        "Run again up to this point, the unchanged array gives {}/s, {} {} than the {}/s of the record (± {}): it is \
         in another state, so the trials do not apply to the record.",
        OpsPerSecond::new(tried.again_ops_per_s),
        percent(tried.off().abs()),
        if tried.off() > 0.0 { "more" } else { "less" },
        OpsPerSecond::new(tried.recorded_ops_per_s),
        percent(tried.within())
    );
    let remedy = "Run the plan again with this program, and explain that run: the record is of another version of the \
                  model or of the array's file, or the point depends on more than the plan.";
    (sentence, remedy.into())
}

fn changes(trial: &Trial) -> bool {
    trial.ops.is_there || trial.p99.is_some_and(|p99| p99.is_there)
}

/// `7.8 % (7.2 % to 8.4 %) more IOPS and 5.1 % (4.0 % to 6.2 %) less p99`.
fn gain(trial: &Trial) -> String {
    let ops = trial.ops;
    let rate = ops.is_there.then(|| {
        let (low, high, word) = sides(ops.change, ops.low, ops.high);
        format!("{} ({low} to {high}) {word} IOPS", percent(ops.change.abs()))
    });
    let p99 = trial.p99.filter(|p99| p99.is_there).map(|p99| {
        let (low, high, word) = sides(p99.change, p99.low, p99.high);
        format!("{} ({low} to {high}) {word} p99", percent(p99.change.abs()))
    });
    [rate, p99].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn sides(change: f64, low: f64, high: f64) -> (String, String, &'static str) {
    match change < 0.0 {
        true => (percent(-high), percent(-low), "less"),
        false => (percent(low), percent(high), "more"),
    }
}
