//! Findings about a limit: the sentence, its numbers, and what to do.

use record::{Point, Severity};
use spec::Pattern;
use units::{Nanos, OpsPerSecond, Share};

use super::curve::{self, Answer};
use super::latency::{self, Depth};
use super::usage::Use;
use super::{FULL, ONE, places, queues};
use crate::Code;
use crate::draft::{Draft, percent};

/// From here on a utilization is printed as 100 %: the part is saturated.
const WHOLE: f64 = 0.995;

/// Parts named beside the limit.
const OTHERS: usize = 4;

/// ` Also saturated: a. Not saturated: b (94 %).`: the parts beside the `first`.
pub(super) fn not_saturated(first: &Use, others: &[Use]) -> String {
    let beside = |is_full: bool| {
        others.iter().filter(move |other| (other.share >= FULL) == is_full && other.part != first.part)
    };
    let also: Vec<&str> = beside(true).map(|other| other.part.as_str()).collect();
    let not = beside(false).take(OTHERS).map(|other| format!("{} ({})", other.part, percent(other.share)));
    let not: Vec<String> = not.collect();
    let mut told = String::new();
    if !also.is_empty() {
        told += &format!(" Also saturated: {}.", also.join(", "));
    }
    if !not.is_empty() {
        told += &format!(" Not saturated: {}.", not.join(", "));
    }
    told
}

/// What to do on real storage where the evidence names nothing.
pub(super) const DEEPER: &str = "Measure half and twice the queue depth (sweep `depth`), or name the parts that the \
                      kernel does not see with `fathom explain --parts FILE`.";

/// What to do about a bottleneck.
pub(super) const MORE_OF_IT: &str = "Add more of that part, use a faster one, or put less load on it.";

/// What to do about a part that requests wait for while the rate still grows with what is in flight.
const MORE_OR_DEEPER: &str = "Add more of that part, or use a faster one; until it is saturated a higher queue depth may raise the rate too, and makes each request wait longer: `fathom search` finds what meets a latency.";

/// What to do where background work takes a large part of it.
pub(super) const AFTER_IT: &str = "Lower the priority of the background work (its `rate`; md: `sync_speed_max`), or measure once it has ended.";

/// What is busy in a flash drive that does most for its writes, as a record has it.
pub(super) const WRITE_PATH: &str = "flash write path";

/// What to do about it.
const SPARE_ROOM: &str = "Writes wait until flash is programmed, and what is left of old blocks is copied and erased (write amplification). Give \
                          the drive more spare room, so that it copies less (leave a part of it unwritten and trimmed, or use drives with \
                          more); else use a faster one, or more of them.";

/// The same of writes in order, of which nothing is copied.
const IN_ORDER: &str = "Writes wait for the drive's own way to its flash. They come in order, so that nothing is copied before it is erased, and more \
                        spare room changes nothing: use a faster drive, or more of them.";

/// What is busy in a flash drive that takes as many commands a second as it can, as a record has it.
const CONTROLLER: &str = "drive controller";

/// `draft`, about `first`, where that is a flash drive: the way of its writes while all of `point` write in order, or its controller, which
/// takes so many commands a second whatever their size.
pub(super) fn of_flash(draft: Draft, first: &Use, point: &Point) -> Draft {
    if first.inside.as_deref() == Some(CONTROLLER) {
        return of_controller(draft, first, point);
    }
    let is_path = first.inside.as_deref() == Some(WRITE_PATH);
    let is_in_order = point.workloads.iter().all(|one| {
        one.spec.tree.is_none()
            && (one.spec.pattern == Pattern::Sequential || one.spec.mix.reads == Share::ALL)
    });
    if is_path && is_in_order { draft.remedy(IN_ORDER) } else { draft }
}

fn of_controller(draft: Draft, first: &Use, point: &Point) -> Draft {
    let rate: f64 = point.workloads.iter().filter_map(|one| one.total()).map(|all| all.ops_per_s.value).sum();
    let all = |share| point.workloads.iter().all(|one| one.spec.mix.reads == share);
    let (what, key) = match () {
        () if all(Share::ALL) => ("reads", "`command_gap`"),
        () if all(Share::NONE) => ("writes", "`write_gap`"),
        () => ("requests", "`command_gap`, `write_gap`"),
    };
    let own = if first.is_even { "the controllers of the drives" } else { "the drive's controller" };
    draft
        .sentence(&format!(" {}/s {what} are all that {own} can take ({key}).", OpsPerSecond::new(rate)))
        .remedy(format!(
            "Use larger requests where bytes count: {own} can take no more commands a second, whatever their size. Else use a \
             faster drive, or more of them."
        ))
        .number("requests_per_s", rate)
}

/// What carries bytes and nothing else, by the first word of its name.
const CARRIERS: [&str; 4] = ["link", "channel", "channels", "links"];

/// `draft`, about `first`, with what each of several workloads has of it where it carries their bytes.
pub(super) fn company_at(draft: Draft, first: &Use, point: &Point) -> Draft {
    let words: Vec<&str> = first.part.split(' ').collect();
    let is_bus = words.contains(&"bus") || words.contains(&"buses") || words.contains(&"adapter");
    if point.workloads.len() < 2 || !(is_bus || CARRIERS.iter().any(|word| words.contains(word))) {
        return draft;
    }
    let bytes = |one: &record::WorkloadResult| one.total().map_or(0.0, |all| all.bytes_per_s.value);
    let all: f64 = point.workloads.iter().map(bytes).sum();
    let mut shares: Vec<(&str, f64)> =
        point.workloads.iter().map(|one| (one.name.as_str(), bytes(one) / all.max(1.0))).collect();
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let told: Vec<String> =
        shares.iter().take(OTHERS).map(|(name, share)| format!("{name} {}", percent(*share))).collect();
    let (most, share) = shares[0];
    let other = match &first.idle {
        Some(idle) => idle.advice(),
        None => "Else use a faster part, or more of it.".into(),
    };
    draft.sentence(&format!(" Of the bytes that it carries: {}.", told.join(", "))).remedy(format!(
        "Limit `{most}` (`pace`), which takes {} of it, or run it at another time. {other}",
        percent(share)
    ))
}

/// What the name of a worker's thread in its host ends with.
const THREAD: &str = " thread";

/// What to do about it.
const MORE_WORKERS: &str = "Issue the load from more workers (`workers`; fio: `numjobs`) of less depth each: a worker is one thread, which submits and \
                            reaps all of its requests itself.";

/// The evidence names no bottleneck.
pub(super) fn open(uses: &[Use], in_flight: f64, answer: Option<Answer>, remedy: &str) -> Draft {
    let mut near: Vec<&Use> = uses.iter().filter(|one| one.share > 0.0).collect();
    near.sort_by(|one, other| other.weight().total_cmp(&one.weight()));
    near.truncate(OTHERS);
    // What one request adds to a queue is itself.
    let told = if in_flight > ONE { Use::in_short } else { Use::busy };
    let near_by: Vec<String> = near.iter().map(|one| told(one)).collect();
    let mut sentence = match near_by.is_empty() {
        true => "Bottleneck not identified: no counted part did any work.".into(),
        false => format!(
            "Bottleneck not identified: {}; {}.",
            match in_flight <= ONE {
                true => "one request in flight queues nowhere".to_owned(),
                false => {
                    let many = format!("{in_flight:.1}");
                    format!("no single part queues the {} requests in flight", many.trim_end_matches(".0"))
                }
            },
            near_by.join(", ")
        ),
    };
    if let Some(why) = queues::why_not(uses, answer).filter(|_| in_flight > ONE) {
        sentence += &format!(" {why}");
    }
    if let Some(answer) = answer {
        sentence += &format!(" {}", answer.in_words());
    }
    let draft = Draft::new(Code::BottleneckUndetermined, Severity::Note, sentence).remedy(remedy);
    with_answer(with_shares(draft.number("in_flight", in_flight), near), answer)
}

pub(super) fn limit(first: &Use, others: &[Use], answer: Option<Answer>) -> Draft {
    let verb = if first.is_even { "are" } else { "is" };
    // Below its ceiling, and with a rate that still grows, a part is where requests wait and no end of the rate.
    let is_end = first.share >= FULL || first.most >= WHOLE || answer.is_some_and(|answer| answer.is_flat());
    let yet = if is_end { "" } else { ", not yet saturated" };
    let mut sentence = format!("{} {verb} the bottleneck{yet}: {}.", first.part, first.in_words());
    let background = first.queue.map_or(0.0, |queue| queue.background);
    if background >= queues::BACKGROUND {
        sentence += &format!(
            " Background work (a rebuild, a scrub) is {} of that: without it, {} busy.",
            percent(background),
            percent(first.share * (1.0 - background))
        );
    }
    sentence += &not_saturated(first, others);
    // What is saturated bounds the rate whatever the next depth gave by chance; what is not is told with it.
    if let Some(answer) =
        answer.filter(|answer| answer.is_flat() || answer.held.is_some() || first.share < FULL)
    {
        sentence += &format!(" {}", answer.in_words());
    }
    let remedy = match is_end {
        _ if first.part.ends_with(THREAD) => MORE_WORKERS,
        _ if first.inside.as_deref() == Some(WRITE_PATH) => SPARE_ROOM,
        _ if background >= queues::BACKGROUND => AFTER_IT,
        true => MORE_OF_IT,
        false => MORE_OR_DEEPER,
    };
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence);
    let draft = match &first.idle {
        // Parts that are there cost nothing.
        Some(idle) => {
            draft.remedy(format!("{} Otherwise use faster ones, or put less load on them.", idle.advice()))
        }
        None if first.is_slow => draft.remedy(format!(
            "Replace {}: it is slower than the others; more or faster disks come after that.",
            first.part
        )),
        None => draft.remedy(remedy),
    };
    let uses = [first].into_iter().chain(others);
    with_answer(with_shares(draft, uses), answer)
}

pub(super) fn latency_bound(first: &Use, load: &curve::Load, answer: Option<Answer>, point: &Point) -> Draft {
    debug_assert!(first.share < FULL, "no part is saturated");
    let mut sentence = format!(
        "Latency-bound: average queue depth {:.1} / {} = {} IOPS. No part that is counted is saturated; the busiest, {}: {}.",
        load.in_flight,
        Nanos::from_secs_f64(load.response_s),
        OpsPerSecond::new(load.rate),
        first.part,
        first.in_words()
    );
    if let Some(answer) = answer.filter(Answer::follows) {
        sentence += &format!(" {}", answer.in_words());
    }
    let draft = Draft::new(Code::LatencyBound, Severity::Note, sentence)
        .number("in_flight", load.in_flight)
        .number("response_ms", load.response_s * 1e3)
        .number("rate_per_s", load.rate);
    let depth = if answer.is_some_and(|answer| answer.follows()) { Depth::Gains } else { Depth::Untried };
    latency::with_parts(with_answer(with_shares(draft, [first]), answer), point, depth)
}

pub(super) fn unseen(first: &Use, answer: Answer) -> Draft {
    debug_assert!(first.share < FULL, "no part is saturated");
    debug_assert!(answer.is_flat(), "a part that is not counted is full");
    let sentence = format!(
        "Bottleneck not identified: no counted part is saturated; the busiest, {}: {}. It lies in the device itself \
         or behind it. {}",
        first.part,
        first.in_words(),
        answer.in_words()
    );
    let draft = Draft::new(Code::BottleneckUncounted, Severity::Note, sentence).remedy(
        "Name the parts below it with `fathom explain --parts FILE`, or check the storage's own counters.",
    );
    with_answer(with_shares(draft, [first]), Some(answer))
}

/// More files or LUNs gave a higher rate, and so they do not share what is saturated.
pub(super) fn with_spread(draft: Draft, spread: Option<places::Spread>) -> Draft {
    match spread {
        Some(spread) => spread.numbers(draft.sentence(&format!(" {}", spread.in_words()))),
        None => draft,
    }
}

pub(super) fn with_shares<'a>(draft: Draft, uses: impl IntoIterator<Item = &'a Use>) -> Draft {
    uses.into_iter().fold(draft, |draft, each| {
        let draft = draft.number(&each.key("share"), each.share);
        match each.amount {
            Some((used, most)) => draft
                .number(&each.key(&format!("used_{}", each.unit)), used)
                .number(&each.key(&format!("most_{}", each.unit)), most),
            None => draft,
        }
    })
}

pub(super) fn with_answer(draft: Draft, answer: Option<Answer>) -> Draft {
    match answer {
        Some(answer) => draft
            .number("more_in_flight_times", answer.load_times)
            .number("more_rate_times", answer.rate_times)
            .number("more_response_times", answer.response_times),
        None => draft,
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::super::tests::swept;
    use super::super::usage;
    use super::super::{FLAT, FOLLOWS, components};
    use super::*;

    /// A point of which nothing is known.
    fn bare() -> Point {
        sample::point(0, "p", Vec::new())
    }

    #[test]
    fn the_first_four_parts_that_are_not_saturated_are_named_beside_the_limit() {
        let part = |(name, share): &(&str, f64)| record::Component {
            name: (*name).into(),
            servers: 1,
            utilisation: *share,
            visits: 1,
            ..record::Component::default()
        };
        let shares = [("a", 1.0), ("b", FULL), ("c", 0.94), ("d", 0.5), ("e", 0.4), ("f", 0.3), ("g", 0.2)];
        let components = shares.iter().map(part).collect();
        let mut point = swept(&[(8.0, 1_000, 0.5)]).points.remove(0);
        point.breakdown = Some(record::Breakdown { components, ..record::Breakdown::default() });
        let uses = components::of_breakdown(&point);
        let told = limit(&uses[0], &uses[1..], None).about_run().sentence;
        assert!(
            told.starts_with("a is the bottleneck: utilization 100 %. Also saturated: b. Not saturated: "),
            "{told}"
        );
        assert!(told.ends_with(": c (94 %), d (50 %), e (40 %), f (30 %)."), "{told}");
        let told = open(&uses, 8.0, None, DEEPER).about_run();
        assert!(told.sentence.contains("queues the 8 requests in flight; a 100 % busy, 0.0 waiting, b 95 %"));
        assert!(!told.sentence.contains("e 40 %"), "{}", told.sentence);
        assert_eq!(told.numbers["in_flight"], 8.0);
    }

    #[test]
    fn a_disk_that_is_slower_than_the_others_is_replaced() {
        let slow = Use { is_slow: true, ..usage::busy("disk 3", 0.99, 4.0, 0.0) };
        let remedy = limit(&slow, &[], None).about_run().remedy;
        assert!(remedy.starts_with("Replace disk 3: it is slower"), "{remedy}");
    }

    #[test]
    fn a_flash_drive_that_is_busy_with_its_writes_is_told_to_have_more_spare_room() {
        let mut part = usage::busy("disk 0", 0.99, 4.0, 0.0);
        part.inside = Some(WRITE_PATH.into());
        let told = limit(&part, &[], None).about_run();
        assert!(told.remedy.contains("Give the drive more spare room"), "{}", told.remedy);
        let of = |pattern| {
            let mut point = sample::point(0, "p", vec![sample::workload("main", &[])]);
            (point.workloads[0].spec.pattern, point.workloads[0].spec.mix.reads) = (pattern, Share::NONE);
            of_flash(limit(&part, &[], None), &part, &point).about_run().remedy
        };
        assert!(of(Pattern::Sequential).contains("changes nothing"), "{}", of(Pattern::Sequential));
        assert!(of(Pattern::Random).contains("Give the drive"), "what is left of old blocks is copied");
    }

    #[test]
    fn a_flash_drive_that_takes_no_more_commands_is_told_by_its_controller_and_not_by_writes() {
        let mut part = usage::busy("disk 0", 1.0, 40.0, 0.0);
        part.inside = Some(CONTROLLER.into());
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 95_000, median_ns: 600_000, spread: 0.0 };
        let mut point = sample::point(0, "p", vec![sample::workload("main", &[stream])]);
        point.workloads[0].spec.mix.reads = Share::ALL;
        let told = of_flash(limit(&part, &[], None), &part, &point).about_run();
        assert!(
            told.sentence
                .ends_with(" 95,000/s reads are all that the drive's controller can take (`command_gap`)."),
            "{}",
            told.sentence
        );
        assert!(!told.remedy.contains("rite") && told.remedy.contains("larger requests"), "{}", told.remedy);
    }

    #[test]
    fn what_takes_most_of_a_full_link_is_named_among_several_workloads() {
        let link = usage::busy("link 0 rx", 1.0, 9.0, 0.0);
        let stream =
            |per_s, size_bytes| Stream { op: "read", size_bytes, per_s, median_ns: 1_000_000, spread: 0.0 };
        let db = sample::workload("db", &[stream(128, 8 << 10)]);
        let backup = sample::workload("backup", &[stream(276, 1 << 20)]);
        let told = |part: &Use, workloads: Vec<record::WorkloadResult>| {
            company_at(limit(part, &[], None), part, &sample::point(0, "p", workloads)).about_run()
        };
        let both = told(&link, vec![db.clone(), backup.clone()]);
        assert!(
            both.sentence.ends_with(" Of the bytes that it carries: backup 100 %, db 0.4 %."),
            "{}",
            both.sentence
        );
        assert!(both.remedy.starts_with("Limit `backup`"), "{}", both.remedy);
        assert!(!told(&link, vec![db.clone()]).sentence.contains("carries"));
        let disks = usage::busy("disks", 1.0, 9.0, 0.0);
        assert!(!told(&disks, vec![db, backup]).sentence.contains("carries"), "they do more than carry");
    }

    #[test]
    fn parts_of_which_one_is_busy_all_the_time_are_not_told_to_have_time_left() {
        let of = |most| {
            let part = Use { most, is_even: true, ..usage::busy("disks", 0.93, 4.0, 0.0) };
            limit(&part, &[], None).about_run()
        };
        assert!(of(0.96).sentence.contains("not yet saturated") && of(0.96).remedy.contains("queue depth"));
        assert!(!of(1.0).sentence.contains("not yet"), "{}", of(1.0).sentence);
        assert!(!of(1.0).remedy.contains("queue depth"), "{}", of(1.0).remedy);
    }

    #[test]
    fn an_answer_at_its_bound_is_no_evidence() {
        let part = usage::busy("disks", 0.96, 4.0, 0.0);
        let of_limit = |gain: f64| limit(&part, &[], Some(curve::with_gain(gain))).about_run().sentence;
        assert!(of_limit(0.1).contains("From 8 to 16") && !of_limit(FLAT).contains("From 8 to 16"));
        let load = curve::Load { in_flight: 2.0, rate: 500.0, response_s: 0.004 };
        let idle = usage::busy("disks", 0.2, 0.0, 0.0);
        let of_latency =
            |gain: f64| latency_bound(&idle, &load, Some(curve::with_gain(gain)), &bare()).about_run();
        assert!(of_latency(0.8).sentence.contains("From 8 to 16"));
        assert!(!of_latency(FOLLOWS).sentence.contains("From 8 to 16"));
        assert!((of_latency(0.8).numbers["response_ms"] - 4.0).abs() < 1e-9);
        assert!(of_latency(0.8).sentence.contains("2.0 / 4.00 ms = 500 IOPS"));
        let quick = curve::Load { in_flight: 4.0, rate: 2_928_258.0, response_s: 1.366e-6 };
        let told = latency_bound(&idle, &quick, None, &bare()).about_run().sentence;
        assert!(told.contains("4.0 / 1.37 µs = 2,928,258 IOPS"), "{told}");
    }

    #[test]
    fn a_part_that_did_nothing_is_not_told_of() {
        let uses = [usage::busy("disks", 0.5, 4.0, 0.0), usage::busy("link", 0.0, 0.0, 0.0)];
        let sentence = |uses: &[Use]| open(uses, 8.0, None, DEEPER).about_run().sentence;
        assert!(sentence(&uses).contains("disks 50 %") && !sentence(&uses).contains("link"));
        assert!(sentence(&uses[1..]).contains("no counted part did any work"));
    }
}
