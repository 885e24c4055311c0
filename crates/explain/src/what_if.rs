//! What a point gains from a faster part.

use record::names::trial::{ALIKE, LUN_QUEUE};
use record::{Effect, Finding, Point, Run, Severity, Trial, WhatIf};
use units::OpsPerSecond;

use crate::Code;
use crate::draft::{Draft, percent};
use crate::limits::settle::{is_of_part, more_of};
use crate::settings;

/// The finding of the trials of a point; `None` where the run has no such point.
pub fn what_if(run: &Run, tried: &WhatIf) -> Option<Finding> {
    let point: &Point = run.points.iter().find(|point| point.index == tried.point)?;
    let faster: Vec<&Trial> = tried.trials.iter().filter(|trial| is_of_part(trial)).collect();
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
    for (trial, what) in more_of(tried) {
        let gain = if changes(trial) { gain(trial) } else { "no gain".into() };
        sentence += &format!(" Twice {what}: {gain}.");
    }
    sentence += &settings::in_words(tried);
    let most = worth.iter().map(|trial| trial.ops.change).fold(0.0, f64::max);
    let wider = more_of(tried).find(|(trial, _)| trial.change.ends_with(LUN_QUEUE));
    let wider = wider.filter(|(trial, _)| tried.gains(trial) && trial.ops.change >= most);
    let most = wider.map_or(most, |(trial, _)| trial.ops.change);
    let is_of_disks = worth.first().is_some_and(|trial| trial.change == "disks");
    let alike = tried.trials.iter().find(|trial| trial.change == ALIKE && tried.gains(trial) && is_of_disks);
    let setting = settings::best(tried).filter(|trial| trial.ops.change >= most);
    let advice = match (setting, wider, worth.as_slice()) {
        (Some(trial), _, _) => format!("{} That gains more than any part.", settings::remedy(trial)),
        (None, None, _) if alike.is_some() => {
            let remedy = alike.map(settings::remedy).unwrap_or_default();
            format!("{remedy} Faster disks come after that.")
        }
        (None, Some((_, what)), _) => {
            format!("Raise {what} first: it is a setting, and gains more than any of the parts.")
        }
        (None, None, []) => "Upgrade none of them.".into(),
        (None, None, _) => "Upgrade the first of them.".into(),
    };
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

pub(crate) fn changes(trial: &Trial) -> bool {
    trial.ops.is_there || trial.p99.is_some_and(|p99| p99.is_there)
}

/// `7.8 % (7.2 % to 8.4 %) more IOPS and 5.1 % (4.0 % to 6.2 %) less p99`.
pub(crate) fn gain(trial: &Trial) -> String {
    let told = |effect: &Effect, of: &str| effect.is_there.then(|| changed(effect, of));
    let effects = [told(&trial.ops, "IOPS"), trial.p99.as_ref().and_then(|p99| told(p99, "p99"))];
    effects.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

/// `52 % (50 % to 54 %) more IOPS`; from twice as much on `2.6 times (2.5 to 2.7) the IOPS`.
fn changed(&Effect { change, low, high, .. }: &Effect, of: &str) -> String {
    if change >= 1.0 {
        return format!("{:.1} times ({:.1} to {:.1}) the {of}", 1.0 + change, 1.0 + low, 1.0 + high);
    }
    let (low, high, word) = if change < 0.0 { (-high, -low, "less") } else { (low, high, "more") };
    format!("{} ({} to {}) {word} {of}", percent(change.abs()), percent(low), percent(high))
}

#[cfg(test)]
mod tests {
    use record::sample;

    use super::*;
    use record::names::trial::DEPTH;

    fn effect(change: f64, is_there: bool) -> Effect {
        Effect { change, low: change - 0.01, high: change + 0.02, is_there }
    }

    fn trial(change: &str, ops: Effect, p99: Option<Effect>) -> Trial {
        Trial { p99, ..sample::trial(change, ops) }
    }

    /// What is told of trials on an array that did `again` where the record has 1,000 a second.
    fn told(again: f64, trials: Vec<Trial>) -> Option<Finding> {
        let run = sample::run("quick", vec![sample::point(3, "reads", Vec::new())]);
        let (recorded_low, recorded_high) = (Some(980.0), Some(1_020.0));
        let tried = sample::what_if(3, trials);
        let tried = WhatIf {
            seeds: 5,
            recorded_low,
            recorded_high,
            again_ops_per_s: again,
            floor_ops: 0.004,
            ..tried
        };
        what_if(&run, &tried)
    }

    #[test]
    fn a_change_is_told_from_its_nearer_end_to_its_farther_one() {
        let told = |change, low, high| changed(&Effect { change, low, high, is_there: true }, "IOPS");
        assert_eq!(told(0.08, 0.07, 0.1), "8.0 % (7.0 % to 10 %) more IOPS");
        assert_eq!(told(-0.05, -0.07, -0.04), "5.0 % (4.0 % to 7.0 %) less IOPS");
        assert_eq!(told(0.0, -0.01, 0.02), "0.0 % (-1.0 % to 2.0 %) more IOPS");
        assert_eq!(told(0.99, 0.9, 1.1), "99 % (90 % to 110 %) more IOPS");
        assert_eq!(told(26.14, 25.27, 27.04), "27.1 times (26.3 to 28.0) the IOPS");
    }

    #[test]
    fn a_change_of_the_rate_or_of_the_percentile_is_one_and_only_what_is_there_is_told() {
        let (there, nothing) = (effect(0.08, true), effect(0.01, false));
        for (ops, p99, words) in [
            (there, None, "8.0 % (7.0 % to 10 %) more IOPS"),
            (there, Some(nothing), "8.0 % (7.0 % to 10 %) more IOPS"),
            (nothing, Some(effect(-0.05, true)), "5.0 % (3.0 % to 6.0 %) less p99"),
            (there, Some(there), "8.0 % (7.0 % to 10 %) more IOPS and 8.0 % (7.0 % to 10 %) more p99"),
            (nothing, Some(nothing), ""),
            (nothing, None, ""),
        ] {
            let trial = trial("x", ops, p99);
            assert_eq!((gain(&trial).as_str(), changes(&trial)), (words, !words.is_empty()));
        }
    }

    #[test]
    fn gains_come_first_then_the_parts_without_and_last_the_queue_depth() {
        let parts =
            || vec![trial("disks", effect(0.3, true), None), trial("link", effect(0.01, false), None)];
        let depth = |ops| trial(DEPTH, ops, Some(effect(0.4, false)));
        let sentence = |trials| told(1_000.0, trials).expect("the run has the point").sentence;
        let gain = "Gain with one part 50 % faster (95 % CI): disks 30 % (29 % to 32 %) more IOPS.";
        assert_eq!(sentence(parts()), format!("{gain} No gain: link."));
        assert_eq!(sentence(parts()[..1].to_vec()), gain);
        assert_eq!(sentence(parts()[1..].to_vec()), "50 % more speed of any part gains nothing.");
        let with_depth = |ops| sentence(parts().into_iter().chain([depth(ops)]).collect());
        assert_eq!(
            with_depth(effect(0.2, true)),
            format!("{gain} No gain: link. Twice the queue depth: 20 % (19 % to 22 %) more IOPS.")
        );
        assert!(with_depth(effect(0.0, false)).ends_with(" Twice the queue depth: no gain."));
        let all = [parts(), vec![depth(effect(0.2, true))]].concat();
        let finding = told(1_000.0, all).expect("the run has the point");
        assert_eq!(
            finding.remedy,
            "Upgrade the first of them. Repeated runs of 5 seeds differ by 0.4 % in rate, and the 95 % CI of the \
             recorded rate is ± 2.0 %: smaller gains do not count."
        );
        let numbers: Vec<(&str, f64)> =
            finding.numbers.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        assert_eq!(
            numbers,
            [
                ("again_ops_per_s", 1_000.0),
                ("depth_p99_change", 0.4),
                ("depth_rate_change", 0.2),
                ("disks_rate_change", 0.3),
                ("floor_rate", 0.004),
                ("link_rate_change", 0.01),
                ("recorded_ops_per_s", 1_000.0),
            ]
        );
        assert!(told(1_000.0, parts()[1..].to_vec()).is_some_and(|it| it.remedy.starts_with("Upgrade none")));
    }

    #[test]
    fn an_array_that_does_more_or_less_than_its_record_is_told_by_how_much() {
        let start = |again| told(again, Vec::new()).expect("the run has the point").sentence;
        assert!(
            start(1_250.0).contains(" gives 1,250/s, 25 % more than the 1,000/s of the record (± 2.0 %)")
        );
        assert!(
            start(750.0).contains(" gives 750/s, 25 % less than the 1,000/s of the record"),
            "{}",
            start(750.0)
        );
        assert!(start(1_019.0).starts_with("50 % more speed"), "within the interval it is the record");
    }
}
