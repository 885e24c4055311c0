//! The bottleneck of a point of a virtual array by trial, where its record does not identify it: each part faster, and
//! twice the queue depth.

use record::names::trial::{ALIKE, AND, DEPTH, DEPTH_AND_LUN_QUEUE, LUN_QUEUE, SETTINGS};
use record::{Finding, Point, Run, Severity, Trial, WhatIf, World};

use super::latency::{self, Depth};
use super::usage::Use;
use super::{components, queues};
use crate::Code;
use crate::draft::{Draft, percent};

/// A part that gains less of what it was made faster is no bottleneck.
const CLEAR: f64 = 0.3;

/// A bottleneck gains so many times what any other part gains.
const FIRST: f64 = 2.0;

/// Where twice the queue depth gains so much, no part is the bottleneck.
const FOLLOWS: f64 = 0.4;

/// Parts that serve each operation of a disk, not each request: what one request makes of them is why they are busy.
const BEHIND_PARITY: [&str; 3] = ["disks", "channel", "controller xor"];

/// Requests wait for background work at a part that is so busy.
const BUSY_ENOUGH: f64 = 0.5;

/// A smaller gain is not reported.
const LITTLE: f64 = 0.01;

/// What lets more requests through instead of making a part faster, in words.
const MORE: [(&str, &str); 3] = [
    (DEPTH, "the queue depth"),
    (LUN_QUEUE, "the LUN queue (`host.lun_depth`)"),
    (DEPTH_AND_LUN_QUEUE, "the queue depth and the LUN queue (`host.lun_depth`)"),
];

/// Whether `trial` made a part faster.
pub(crate) fn is_of_part(trial: &Trial) -> bool {
    MORE.iter().all(|(change, _)| trial.change != *change) && !SETTINGS.contains(&trial.change.as_str())
}

/// The trials of `tried` that let more requests through, with what they doubled in words.
pub(crate) fn more_of(tried: &WhatIf) -> impl Iterator<Item = (&Trial, &'static str)> {
    let trial = |change: &str| tried.trials.iter().find(|trial| trial.change == change);
    MORE.into_iter().filter_map(move |(change, words)| Some((trial(change)?, words)))
}

/// The points of a virtual array whose bottleneck the record does not identify, by the findings of `run`.
pub fn open_points(run: &Run) -> Vec<u32> {
    let open = run.findings.iter().filter(|finding| finding.code == Code::BottleneckUndetermined.name());
    open.filter(|_| run.world == World::Array).filter_map(|finding| finding.point).collect()
}

/// The points of a virtual array that are latency-bound by their records alone: no other load of them says what a higher queue depth
/// gains, and trials can.
pub fn untried_depths(run: &Run) -> Vec<u32> {
    let found = run.findings.iter().filter(|finding| is_untried_depth(finding));
    found.filter(|_| run.world == World::Array).filter_map(|finding| finding.point).collect()
}

fn is_untried_depth(finding: &Finding) -> bool {
    let is_known = ["more_in_flight_times", "times_as_fast", "depth_rate_change"];
    finding.code == Code::LatencyBound.name()
        && is_known.iter().all(|key| !finding.numbers.contains_key(*key))
}

/// Whether trials may settle `finding`: a bottleneck that is not identified, or a latency with a queue depth that nobody has tried.
pub fn is_open(finding: &Finding) -> bool {
    finding.code == Code::BottleneckUndetermined.name() || is_untried_depth(finding)
}

/// What to do about two parts that bound the rate together. A window over a round trip is one rate.
fn together(first: &str, second: &str) -> String {
    if [[first, second], [second, first]].contains(&["distance", "connection window"]) {
        return "Raise the connection window (`protocol.window`), or shorten the way: what is under way over the round-trip time is the \
                rate."
            .into();
    }
    format!("Make {first} and {second} faster, or put less load on both: they bound the rate together.")
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
    let mut parts: Vec<&Trial> = tried.trials.iter().filter(|trial| is_of_part(trial)).collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let (first, second) = (parts.first()?, parts.get(1));
    let speed = percent(tried.times - 1.0);
    let next = second.map_or(String::new(), |second| {
        format!("; the next, {}, {}", second.change, percent(second.ops.change))
    });
    let more = more_of(tried).map(|(trial, what)| format!("; doubling {what} {}", percent(trial.ops.change)));
    let more: String = more.collect();
    let wider = tried.trials.iter().find(|trial| trial.change == LUN_QUEUE);
    let alike = tried.trials.iter().find(|trial| trial.change == ALIKE);
    let draft = if let Some(slow) = alike.filter(|slow| effect(slow) >= CLEAR * (tried.times - 1.0)) {
        by_one_disk(slow, first, &speed)
    } else if let Some(depth) = depth.filter(|depth| effect(depth) >= FOLLOWS) {
        let sentence = format!(
            "Latency-bound, by trial: doubling the queue depth raises the rate by {}, {speed} more speed of the most \
             effective part, {}, by {}.",
            percent(depth.ops.change),
            first.change,
            percent(first.ops.change)
        );
        let draft = Draft::new(Code::LatencyBound, Severity::Note, sentence);
        let draft = latency::with_parts(draft, point, Depth::Gains);
        match better_setting(tried, depth) {
            Some(advice) => draft.remedy(advice),
            None => draft,
        }
    } else if effect(first) >= CLEAR * (tried.times - 1.0)
        && second.is_none_or(|second| effect(first) >= FIRST * effect(second))
    {
        let draft = by_part(first, &speed, &format!("{next}{more}"));
        if BEHIND_PARITY.contains(&first.change.as_str()) {
            super::disks::with_operations(draft, run, point)
        } else {
            draft
        }
    } else if let Some(wider) = wider.filter(|wider| effect(wider) >= CLEAR) {
        let sentence = format!(
            "{LUN_QUEUE} is the bottleneck, by trial: twice as many requests that reach the LUN (`host.lun_depth`) raise the \
             rate by {}, {speed} more speed of the most effective part, {}, by {}.",
            percent(wider.ops.change),
            first.change,
            percent(first.ops.change)
        );
        Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(super::lun_queue::REMEDY)
    } else {
        return None;
    };
    let draft = match beside_work(point) {
        None => draft,
        Some(told) => draft.sentence(&format!(" {told}")).remedy(super::drafts::AFTER_IT),
    };
    let draft = tried.trials.iter().fold(draft, |draft, trial| {
        draft.number(&format!("{}_rate_change", trial.change.replace(' ', "_")), trial.ops.change)
    });
    Some(draft.number("times_as_fast", tried.times).about(point))
}

/// What to do about the setting that gains most, where by trial that is more than twice the queue `depth` gains.
fn better_setting(tried: &WhatIf, depth: &Trial) -> Option<String> {
    let best = crate::settings::best(tried).filter(|best| effect(best) > effect(depth))?;
    Some(format!("{} That gains more than twice the queue depth does.", crate::settings::remedy(best)))
}

/// That the disks which `slow` had as fast as the others of their set are the bottleneck, beside what the `first` of all parts gains.
fn by_one_disk(slow: &Trial, first: &Trial, speed: &str) -> Draft {
    let verb = if slow.to.starts_with("disks") { "are" } else { "is" };
    let sentence = format!(
        "{} {verb} the bottleneck, by trial: as fast as the others of the set, the rate rises by {}; {speed} more speed of {} \
         raises it by {}.",
        slow.to,
        percent(slow.ops.change),
        first.change,
        percent(first.ops.change)
    );
    Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(crate::settings::remedy(slow))
}

/// That the part of `trial`, or the several that it made faster together, is the bottleneck; `others` says what else gains.
fn by_part(trial: &Trial, speed: &str, others: &str) -> Draft {
    let name = &trial.change;
    let are_together = name.contains(AND);
    let is_several = name.ends_with('s') && !name.ends_with("bus") || are_together;
    let verb = if is_several { "are" } else { "is" };
    let faster = if name.ends_with("size") { "more of it" } else { "more speed" };
    let gain = percent(trial.ops.change);
    let sentence = format!(
        "{name} {verb} the bottleneck, by trial: {speed} {faster} raises the rate by {gain}{others}."
    );
    let remedy = match are_together {
        true => format!("Make {name} faster, or put less load on them: each alone gains next to nothing."),
        false => super::drafts::MORE_OF_IT.into(),
    };
    Draft::new(Code::Bottleneck, Severity::Note, sentence).remedy(remedy)
}

/// That background work takes a large part of the time of the part that is busiest with it; `None` where none does.
fn beside_work(point: &Point) -> Option<String> {
    let uses = components::of_breakdown(point);
    let background = |one: &Use| one.queue.map_or(0.0, |queue| queue.background);
    let beside = uses.iter().filter(|one| one.share >= BUSY_ENOUGH && background(one) >= queues::BACKGROUND);
    // What is being filled has nothing but that work, and no request waits for it.
    let beside = beside.filter(|one| background(one) < 1.0);
    let part = beside.max_by(|one, other| one.share.total_cmp(&other.share))?;
    Some(format!("The load waits for background work (a rebuild, a scrub): {}.", part.busy()))
}

/// Why a point whose bottleneck is not identified had no trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untried {
    /// It takes long, or the user chose another point.
    Unasked,
    /// Its record cannot be run again.
    Unable,
}

/// `found`, which is open and was not tried, with what to do about it.
pub fn left(run: &str, found: &Finding, why: Untried) -> Finding {
    let advice = found.point.map_or_else(String::new, |index| untried(run, index, why));
    let remedy = match found.code == Code::LatencyBound.name() {
        true => found.remedy.replace(latency::TRIES_DEPTH, &advice),
        false => advice,
    };
    Finding { remedy, ..found.clone() }
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
pub fn unsettled(run: &Run, open: &Finding, tried: &WhatIf) -> Finding {
    if open.code == Code::LatencyBound.name() {
        return with_tried_depth(run, open, tried);
    }
    let run = &run.id;
    let parts = tried.trials.iter().filter(|trial| is_of_part(trial) && effect(trial) >= LITTLE);
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
        [] if tried.floor_ops < LITTLE => (
            format!("{speed} more speed of any part gains nothing"),
            "No part that works is the limit: `fathom run PLAN --breakdown` shows what requests wait for."
                .into(),
        ),
        [] => (
            format!(
                "{speed} more speed of any part gains no more than repeated runs differ by, {}",
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
            together(&first.change, &second.change),
        ),
    };
    let more = more_of(tried).filter(|_| tried.is_the_record());
    let more: String =
        more.map(|(trial, what)| format!("; doubling {what} gains {}", percent(effect(trial)))).collect();
    let sentence = format!("{} Trials do not identify it either: {gains}{more}.", open.sentence);
    Finding { sentence, remedy, ..open.clone() }
}

/// `found`, that a point is latency-bound, with what twice the queue depth and the most effective part gain by trial.
fn with_tried_depth(run: &Run, found: &Finding, tried: &WhatIf) -> Finding {
    let point = run.points.iter().find(|point| point.index == tried.point);
    let depth = tried.trials.iter().find(|trial| trial.change == DEPTH);
    let (Some(point), Some(depth)) = (point, depth.filter(|_| tried.is_the_record())) else {
        return left(&run.id, found, Untried::Unable);
    };
    let mut parts: Vec<&Trial> = tried.trials.iter().filter(|trial| is_of_part(trial)).collect();
    parts.sort_by(|one, other| effect(other).total_cmp(&effect(one)));
    let most = parts.first().filter(|trial| effect(trial) >= LITTLE).map_or_else(String::new, |trial| {
        format!(
            ", {} more speed of {} {}",
            percent(tried.times - 1.0),
            trial.change,
            percent(trial.ops.change)
        )
    });
    let gains = effect(depth) >= LITTLE;
    let told = if gains { percent(depth.ops.change) } else { "nothing".into() };
    let kept = Draft::new(Code::LatencyBound, Severity::Note, found.sentence.clone())
        .sentence(&format!(" By trial, doubling the queue depth gains {told}{most}."))
        .number("depth_rate_change", depth.ops.change)
        .remedy(better_setting(tried, depth).unwrap_or_else(|| {
            latency::quicker_by(point, if gains { Depth::Gains } else { Depth::GainsLittle })
        }))
        .about(point);
    let numbers =
        found.numbers.iter().chain(&kept.numbers).map(|(key, value)| (key.clone(), *value)).collect();
    Finding { numbers, ..kept }
}

#[cfg(test)]
mod tests {
    use record::{Behalf, Breakdown, Effect, sample};

    use super::*;

    /// Trials by their gains, whose intervals begin a hundredth below.
    fn tried(times: f64, gains: &[(&str, f64)]) -> WhatIf {
        let trial = |(change, gain): &(&str, f64)| {
            let ops = Effect { change: *gain, low: gain - 0.001, high: gain + 0.001, is_there: true };
            Trial { times, ..sample::trial(change, ops) }
        };
        WhatIf { times, ..sample::what_if(4, gains.iter().map(trial).collect()) }
    }

    fn run() -> Run {
        sample::run("quick", vec![sample::point(3, "a", Vec::new()), sample::point(4, "b", Vec::new())])
    }

    /// That run under the name that a user keeps it by.
    fn kept() -> Run {
        Run { id: "runs/1".into(), ..run() }
    }

    fn open() -> Finding {
        let draft = Draft::new(Code::BottleneckUndetermined, Severity::Note, "It is open.");
        draft.remedy("Try it.").number("in_flight", 8.0).about(&run().points[1])
    }

    #[test]
    fn a_gain_counts_where_its_interval_lies_above_zero() {
        for (low, counts) in [(-0.1, 0.0), (0.0, 0.0), (0.1, 0.5)] {
            let mut tried = tried(2.0, &[("disks", 0.5)]);
            tried.trials[0].ops.low = low;
            assert_eq!(effect(&tried.trials[0]), counts, "{low}");
        }
    }

    #[test]
    fn open_points_are_those_of_a_virtual_array_with_an_open_bottleneck() {
        let mut run = run();
        let known = Finding { code: Code::Bottleneck.name().into(), point: Some(3), ..open() };
        run.findings = vec![known, open()];
        assert_eq!(open_points(&run), [] as [u32; 0], "storage of the host is not tried");
        run.world = World::Array;
        assert_eq!(open_points(&run), [4]);
    }

    #[test]
    fn a_latency_with_a_depth_that_nobody_has_tried_is_tried_and_told_with_what_the_depth_gains() {
        let draft = Draft::new(Code::LatencyBound, Severity::Note, "Latency-bound.");
        let found = draft.remedy(format!("Shorten it. {}", latency::TRIES_DEPTH)).number("in_flight", 1.0);
        let found = found.about(&run().points[1]);
        let mut own = Run { world: World::Array, ..kept() };
        own.findings = vec![found.clone()];
        assert_eq!((untried_depths(&own), open_points(&own)), (vec![4], vec![]));
        let asked = left("runs/1", &found, Untried::Unasked);
        assert!(
            asked.remedy.starts_with("Shorten it. Run `fathom explain runs/1 --what-if"),
            "{}",
            asked.remedy
        );
        let after = |gain: f64| unsettled(&own, &found, &tried(1.5, &[("disks", 0.1), ("depth", gain)]));
        let (gains, flat) = (after(0.2), after(0.0));
        assert_eq!(
            gains.sentence,
            "Latency-bound. By trial, doubling the queue depth gains 20 %, 50 % more speed of disks 10 %."
        );
        assert!(
            gains.remedy.contains("queue depth (sweep") || gains.remedy.contains("Increase the queue depth")
        );
        assert!(flat.sentence.contains("queue depth gains nothing"), "{}", flat.sentence);
        assert!(!flat.remedy.contains("Increase the queue depth"), "{}", flat.remedy);
        let slow = tried(1.5, &[("disks", 0.1), ("depth", 0.2), ("read-ahead", 3.0)]);
        let advice = unsettled(&own, &found, &slow).remedy;
        assert!(advice.starts_with("Switch read-ahead on. That gains more than twice"), "{advice}");
        own.findings = vec![gains];
        assert_eq!(untried_depths(&own), [] as [u32; 0], "it was tried");
    }

    #[test]
    fn the_bottleneck_gains_three_tenths_of_its_speed_and_twice_what_any_other_part_gains() {
        let code = |times: f64, gains: &[(&str, f64)]| {
            settled(&run(), &tried(times, gains)).map(|finding| finding.code)
        };
        let is = |code: Code| Some(code.name().to_owned());
        assert_eq!(code(2.0, &[("disks", 0.3)]), is(Code::Bottleneck));
        assert_eq!(code(2.0, &[("disks", 0.299)]), None);
        assert_eq!(code(1.5, &[("disks", 0.15)]), is(Code::Bottleneck));
        assert_eq!(code(1.5, &[("disks", 0.149)]), None);
        assert_eq!(code(2.0, &[("link", 0.2), ("disks", 0.4)]), is(Code::Bottleneck));
        assert_eq!(code(2.0, &[("link", 0.201), ("disks", 0.4)]), None);
        assert_eq!(code(2.0, &[("disks", 0.3), ("depth", 0.4)]), is(Code::LatencyBound));
        assert_eq!(code(2.0, &[("disks", 0.3), ("depth", 0.399)]), is(Code::Bottleneck));
        assert_eq!(code(2.0, &[("depth", 0.4)]), None, "no part was tried");
        let of_another = WhatIf { again_ops_per_s: 1_021.0, ..tried(2.0, &[("disks", 0.9)]) };
        assert_eq!(settled(&run(), &of_another), None, "it does not repeat the record");
        let elsewhere = WhatIf { point: 9, ..tried(2.0, &[("disks", 0.9)]) };
        assert_eq!(settled(&run(), &elsewhere), None);
    }

    #[test]
    fn a_disk_that_is_slower_than_the_others_comes_before_all_disks_and_two_full_parts_are_named_together() {
        let mut slow = tried(1.5, &[("disks", 0.45), (ALIKE, 0.25)]);
        slow.trials[1].to = "disk 3".into();
        let finding = settled(&run(), &slow).expect("it is one disk");
        assert_eq!(
            finding.sentence,
            "disk 3 is the bottleneck, by trial: as fast as the others of the set, the rate rises by 25 %; 50 % more speed of disks \
             raises it by 45 %."
        );
        assert!(finding.remedy.starts_with("Replace disk 3"), "{}", finding.remedy);
        slow.trials[1].ops = Effect { change: 0.1, low: 0.1, high: 0.1, is_there: true };
        assert!(settled(&run(), &slow).expect("all disks").sentence.starts_with("disks are the bottleneck"));
        let both = tried(1.5, &[("link", 0.0), ("controller bus", 0.01), ("link and controller bus", 0.48)]);
        let finding = settled(&run(), &both).expect("both together");
        assert!(
            finding.sentence.starts_with("link and controller bus are the bottleneck, by trial: 50 % more speed raises the rate by 48 %"),
            "{}",
            finding.sentence
        );
        assert!(finding.remedy.starts_with("Make link and controller bus faster"), "{}", finding.remedy);
    }

    #[test]
    fn what_settles_a_point_is_told_with_all_of_its_trials() {
        let gains = [("link", 0.1), ("stripe locks", 0.4), ("depth", 0.2)];
        let finding = settled(&run(), &tried(1.5, &gains)).expect("the locks stand out");
        assert_eq!(
            finding.sentence,
            "stripe locks are the bottleneck, by trial: 50 % more speed raises the rate by 40 %; the next, link, 10 %; \
             doubling the queue depth 20 %."
        );
        let expected = [
            ("depth_rate_change", 0.2),
            ("link_rate_change", 0.1),
            ("stripe_locks_rate_change", 0.4),
            ("times_as_fast", 1.5),
        ];
        let numbers = finding.numbers.iter().map(|(key, value)| (key.as_str(), *value));
        assert_eq!((numbers.collect::<Vec<_>>(), finding.point), (expected.to_vec(), Some(4)));
        let only = |part| settled(&run(), &tried(1.5, &[(part, 0.4)])).expect("it is alone").sentence;
        assert!(only("controller bus").starts_with("controller bus is the"), "{}", only("controller bus"));
        assert!(only("link").starts_with("link is the"), "{}", only("link"));
        let deeper = settled(&run(), &tried(1.5, &[("link", 0.1), ("disks", 0.2), ("depth", 0.6)]));
        assert_eq!(
            deeper.expect("the depth gains").sentence,
            "Latency-bound, by trial: doubling the queue depth raises the rate by 60 %, 50 % more speed of the most \
             effective part, disks, by 20 %."
        );
    }

    #[test]
    fn a_part_behind_the_planner_is_told_with_the_operations_of_disks_for_each_request() {
        let class = |component, visits| sample::visits(Behalf::HostWrite, component, visits, 0.0, 1.0);
        let mut run = run();
        let classes = vec![class("host 0 processor", 100), class("disk 0", 3_120)];
        run.points[1].breakdown = Some(Breakdown { classes, ..Breakdown::default() });
        let told = |part| settled(&run, &tried(1.5, &[(part, 0.4)])).expect("it is alone");
        let xor = told("controller xor");
        assert!(xor.sentence.contains(" Disks do 31.2 operations for each request"), "{}", xor.sentence);
        assert_eq!(xor.numbers["operations_per_request"], 31.2);
        assert!(!told("link").sentence.contains("operations"), "{}", told("link").sentence);
    }

    #[test]
    fn a_wider_queue_of_the_lun_is_the_bottleneck_where_it_gains_and_no_part_does() {
        let of = |disks: f64, wider: f64| {
            settled(&run(), &tried(1.5, &[("disks", disks), ("LUN queue", wider), ("depth", 0.0)]))
        };
        let told = of(0.1, 0.3).expect("the queue gains");
        assert_eq!(told.bottleneck(), Some("LUN queue"));
        assert!(told.remedy.contains("`host.lun_depth`"), "{}", told.remedy);
        assert_eq!(of(0.1, 0.299), None);
        let disks = of(0.2, 0.3).expect("the disks gain most of their speed");
        assert_eq!(disks.bottleneck(), Some("disks"));
        assert!(
            disks.sentence.ends_with("; doubling the LUN queue (`host.lun_depth`) 30 %."),
            "{}",
            disks.sentence
        );
    }

    #[test]
    fn trials_that_settle_nothing_add_what_they_gained_and_what_to_do() {
        let left = |gains: &[(&str, f64)]| unsettled(&kept(), &open(), &tried(1.5, gains));
        let none = left(&[("link", 0.009), ("depth", 0.3)]);
        assert_eq!(
            none.sentence,
            "It is open. Trials do not identify it either: 50 % more speed of any part gains no more than repeated runs differ \
             by, 2.0 %; doubling the queue depth gains 30 %."
        );
        assert!(
            none.remedy.contains("`fathom explain runs/1 --what-if --point 5 --seeds 20`"),
            "{}",
            none.remedy
        );
        let only = left(&[("link", 0.01), ("disks", 0.009)]);
        assert!(only.sentence.ends_with(": 50 % more speed of link gains 1.0 %, of any other part nothing."));
        assert!(only.remedy.starts_with("Make link faster first"), "{}", only.remedy);
        let two = left(&[("bus", 0.02), ("link", 0.1), ("disks", 0.12)]);
        assert!(
            two.sentence.ends_with(": 50 % more speed of disks gains 12 %, of link 10 %."),
            "{}",
            two.sentence
        );
        assert!(two.remedy.starts_with("Make disks and link faster"), "{}", two.remedy);
        assert_eq!((two.code, two.numbers, two.point), (open().code, open().numbers, Some(4)));
        let of_another = WhatIf { again_ops_per_s: 1_100.0, ..tried(1.5, &[("link", 0.1)]) };
        let refused = unsettled(&kept(), &open(), &of_another);
        assert!(
            refused.sentence.contains("the unchanged array gives 110 % of the recorded rate"),
            "{refused:?}"
        );
        assert!(refused.remedy.starts_with("Run the plan again"), "{refused:?}");
    }

    #[test]
    fn who_has_not_tried_is_told_how_by_the_number_of_the_point() {
        let asked = untried("runs/1", 4, Untried::Unasked);
        assert!(asked.starts_with("Run `fathom explain runs/1 --what-if --point 5`"), "{asked}");
        assert!(untried("runs/1", 4, Untried::Unable).starts_with("Measure half and twice the queue depth"));
    }
}
