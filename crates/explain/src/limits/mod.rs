//! Which part is the bottleneck, which are not, and on what evidence.
//!
//! **Invariant:** a part is named only by what was counted of it: its use against its ceiling, its utilization, or how
//! the rate responds to a higher queue depth. Where nothing was counted nothing is named.

mod ceilings;
mod components;
mod curve;
mod flushes;
mod gates;
pub(crate) mod imposed;
mod lun_queue;
pub(crate) mod offered;
mod partial_writes;
mod places;
mod queues;
pub(crate) mod settle;
mod usage;

use record::{DiskRole, PartShare, Point, PointKind, Run, Severity, WorkloadResult, World};
use spec::{OpenSync, Pattern};
use units::{Nanos, OpsPerSecond, Share};

use crate::Code;
use crate::company;
use crate::draft::{Draft, capital, percent};
use crate::evidence::on_nothing;
use curve::{Answer, Sweeps};
use lun_queue::LunQueue;
use places::Places;
use queues::Shown;
use usage::Use;

/// A part with this utilization is saturated.
const FULL: f64 = 0.95;

/// A part with less utilization is far from saturated. Requests of an open system of one server wait at 70 % for 2.3
/// times their service time (Kleinrock, *Queueing Systems*, volume 1, M/M/1): beyond it requests may well wait.
const FAR: f64 = 0.70;

/// Where the rate grows with a lower power of what is in flight, it is flat.
const FLAT: f64 = 0.15;

/// Where it grows with a higher one, it still scales.
const FOLLOWS: f64 = 0.70;

/// No more in flight than one request and what the edges of the window add.
const ONE: f64 = 1.5;

/// Parts named beside the limit.
const OTHERS: usize = 4;

/// The sweeps and the numbers of files and LUNs that the loads of a run belong to.
#[derive(Debug)]
pub(crate) struct Loads<'r> {
    sweeps: Sweeps<'r>,
    places: Places,
}

impl<'r> Loads<'r> {
    /// Of `run`, in one pass over its points.
    pub(crate) fn of(run: &'r Run) -> Loads<'r> {
        Loads { sweeps: Sweeps::of(run), places: Places::of(run) }
    }
}

/// What bounds `point`, if the evidence names it.
pub(crate) fn of_point(run: &Run, loads: &Loads<'_>, point: &Point) -> Option<Draft> {
    if point.kind == PointKind::State {
        return of_work(point);
    }
    if point.kind != PointKind::Load || on_nothing(run) {
        return None;
    }
    if run.world == World::Host
        && let Some(imposed) = imposed::by_group(run, point)
    {
        return Some(imposed);
    }
    if run.world == World::Host
        && let Some(flush) = flushes::by_requests(point)
    {
        return Some(flush);
    }
    let uses = match run.world {
        World::Array => components::of_breakdown(point),
        World::Host => ceilings::of_path(run, point),
    };
    if let Some(offered) = offered::met(point, &uses, run.search.is_some()) {
        return Some(offered);
    }
    let (first, others) = uses.split_first()?;
    let answer = curve::answer(run, &loads.sweeps, point);
    let spread = places::spread(run, &loads.places, point);
    if run.world == World::Array {
        if let Some(flush) = flushes::limit(point, &uses) {
            return Some(with_answer(with_shares(flush, &uses), answer));
        }
        if let Some(gate) = gates::limit(point, &uses) {
            return Some(with_answer(with_shares(gate, &uses), answer));
        }
        if let Some(queue) = LunQueue::limit(point, &uses) {
            return Some(with_answer(with_shares(queue.finding(&uses), &uses), answer));
        }
        if let Some(disks) = at_media_rate(point, &uses) {
            return Some(with_answer(disks, answer));
        }
        let load = curve::load(point);
        let in_flight = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
        return Some(match queues::shown(&uses, in_flight, load.as_ref(), answer, waited(point)) {
            Shown::Limit(place) => {
                let mut others = uses.clone();
                let first = others.remove(place);
                let limit = limit(&first, &others, answer);
                with_spread(in_order(of_operations(limit, &first, point), &first, point), spread)
            }
            Shown::Latency => with_partial_writes(latency(first, &load?, answer), point),
            Shown::Open => match spread {
                Some(spread) => spread.finding(),
                None => {
                    // A record of one seed is the same whenever it is made: it does not have its own id.
                    let remedy = settle::untried("last", point.index, settle::Untried::Unasked);
                    open(&uses, in_flight, answer, &remedy)
                }
            },
        });
    }
    debug_assert!(!first.is_even, "the parts of real storage are counted one by one");
    if first.share >= FULL {
        return Some(with_spread(limit(first, others, answer), spread));
    }
    if let Some(imposed) = imposed::by_constancy(&loads.sweeps, point) {
        return Some(imposed);
    }
    if let Some(spread) = spread {
        return Some(spread.finding());
    }
    let load = curve::load(point)?;
    let flat = answer.is_some_and(|answer| answer.is_flat());
    let follows = answer.is_some_and(|answer| answer.follows());
    if flat && load.in_flight > ONE {
        return Some(unseen(first, answer?));
    }
    // A single request does not queue; but where the next load of the sweep gained little, a higher depth is no advice.
    let alone = load.in_flight <= ONE && answer.is_none();
    // A processor that is never idle bounds the rate, and no depth helps against it.
    let has_idle_cpu = company::cpu_saturated(run, point).is_none();
    if first.share < FAR && (alone || follows) && has_idle_cpu {
        return Some(latency(first, &load, answer).remedy(quicker(point)));
    }
    (first.share >= FAR || answer.is_some()).then(|| open(&uses, load.in_flight, answer, DEEPER))
}

/// The part that bounds a rebuild or other work of a virtual array that a phase waited for: one that is saturated. Such work has no
/// queue in front of it that would tell.
fn of_work(point: &Point) -> Option<Draft> {
    let uses = components::of_breakdown(point);
    let (first, others) = uses.split_first().filter(|(first, _)| first.share >= FULL)?;
    let work = point.state.values().next().map_or("work", |state| state.trim_start_matches("watch "));
    let verb = if first.is_even { "are" } else { "is" };
    let mut sentence = format!("{} {verb} the bottleneck of the {work}: {}.", first.part, first.in_words());
    sentence += &not_saturated(first, others);
    let draft = Draft::new(Code::Bottleneck, Severity::Note, sentence)
        .remedy(format!("Use a faster one, or more of it, for a shorter {work}."));
    Some(with_shares(draft, &uses))
}

/// ` Also saturated: a. Not saturated: b (94 %).`: the parts beside the `first`.
fn not_saturated(first: &Use, others: &[Use]) -> String {
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

/// Where so much of the response time is transfer at disks that are saturated, that is the rate of their media; and where a request
/// that is alone waits for them so long, it waits for what was acknowledged before it.
const MOST: f64 = 0.9;

/// Saturated disks, where hardly anything but their transfers, or of a request that is alone the wait for them, is the response time:
/// a single stream queues nowhere, and yet no higher queue depth gets more of them.
fn at_media_rate(point: &Point, uses: &[Use]) -> Option<Draft> {
    let response = &point.breakdown.as_ref()?.response;
    let sum = |is_of: fn(&str) -> bool, time: fn(&PartShare) -> f64| -> f64 {
        response.iter().filter(|part| is_of(&part.part)).map(time).sum()
    };
    let all = sum(|part| part != components::SCHEDULE, PartShare::time_ns);
    let transfer = sum(|part| part == "disk transfer", |part| part.service_ns);
    let behind_cache = |part: &str| part.starts_with("disk") || part == "cache room";
    let waits = sum(behind_cache, |part| part.wait_ns);
    let (first, others) = uses.split_first().filter(|_| all > 0.0)?;
    let background = first.queue.map_or(0.0, |queue| queue.background);
    if !(of_disks(first) && first.share >= FULL && background < queues::BACKGROUND) {
        return None;
    }
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let (key, share, told) = if transfer >= MOST * all {
        ("disk_transfer_share", transfer / all, "transfer, at the rate of the media")
    } else if in_flight <= ONE && waits >= MOST * all {
        let told =
            "the wait until they have written out what was acknowledged before: the write cache is full";
        ("disk_wait_share", waits / all, told)
    } else {
        return None;
    };
    let told = format!(" {} of the response time is {told}.", percent(share));
    Some(with_operations(limit(first, others, None).sentence(&told).number(key, share), point))
}

fn of_disks(part: &Use) -> bool {
    part.part.starts_with("disk") || part.part.ends_with("disks")
}

/// More operations of disks for each request than this are a reason why they are busy.
const SEVERAL: f64 = 1.25;

/// The fullest part of a virtual array, as `disks 99 % busy`, and whether it does more where more requests wait for it; `None` where
/// it has time to spare, where much of its work is the array's own, and of real storage.
pub(crate) fn saturated(point: &Point) -> Option<(String, bool)> {
    let uses = components::of_breakdown(point);
    let first = uses.first().filter(|first| first.share >= FULL)?;
    let queue = first.queue.unwrap_or_default();
    (queue.background < queues::BACKGROUND).then(|| (first.busy(), queue.gains))
}

/// `draft` with how many operations disks do for each request, where `first` are disks and it is more than one.
fn of_operations(draft: Draft, first: &Use, point: &Point) -> Draft {
    if of_disks(first) { with_operations(draft, point) } else { draft }
}

/// `draft` with how many operations disks do for each request, where it is more than one, and with what is known to be its reason.
fn with_operations(draft: Draft, point: &Point) -> Draft {
    let draft = match components::operations_per_request(point).filter(|each| *each >= SEVERAL) {
        None => draft,
        Some(each) => {
            let is_split = crosses_chunks(point);
            let why = match (is_split, failed_disks(point)) {
                (true, _) => "requests cross chunks",
                (false, Some(_)) => FAILED_REASONS,
                (false, None) => MANY_REASONS,
            };
            let draft = draft
                .sentence(&format!(" Disks do {each:.1} operations for each request ({why})."))
                .number("operations_per_request", each);
            if is_split { draft.remedy(LARGER_CHUNK) } else { draft }
        }
    };
    match failed_disks(point) {
        None => draft,
        Some(failed) if is_rebuilt(point) => {
            let has = if failed.contains(',') { "have" } else { "has" };
            let told = format!(
                " {} {has} failed: the others do its work, and that of the rebuild, which runs.",
                capital(&failed)
            );
            draft.sentence(&told).remedy(format!(
                "Wait until the rebuild of {failed} has ended, or lower its rate (`rate`; md: `sync_speed_max`) where the load matters \
                 more; more or faster disks come after that."
            ))
        }
        Some(failed) => {
            let has = if failed.contains(',') { "have" } else { "has" };
            draft.sentence(&format!(" {} {has} failed: the others do its work.", capital(&failed))).remedy(
                format!("Replace {failed}, and let the array rebuild; more or faster disks come after that."),
            )
        }
    }
}

/// Why disks may do more operations than hosts send requests.
const MANY_REASONS: &str = "parity, copies, flushes, or a request that crosses chunks";

/// Likewise, of a set with a failed disk.
const FAILED_REASONS: &str = "what the failed disk held is computed from the others; parity, copies, flushes, or a request that crosses chunks";

/// What to do where that is because requests cross chunks.
const LARGER_CHUNK: &str = "Use a larger chunk (`raid.chunk`), so that a request lies on one disk, or smaller requests; only then add more \
                            disks, or faster ones.";

/// Whether nothing but a request that crosses chunks makes several operations of one: random reads of a set without a failed disk.
fn crosses_chunks(point: &Point) -> bool {
    let is_read = |one: &WorkloadResult| {
        one.spec.mix.reads == Share::ALL && one.spec.pattern != Pattern::Sequential && one.spec.tree.is_none()
    };
    point.workloads.iter().all(is_read) && failed_disks(point).is_none()
}

/// Whether the array works at disks on its own account, a disk being filled or not: beside a failed one that is its rebuild.
fn is_rebuilt(point: &Point) -> bool {
    let Some(breakdown) = &point.breakdown else { return false };
    let is_filled = |part: &record::Component| part.role == Some(DiskRole::Filling);
    let is_work = |one: &record::ClassShare| {
        one.op == record::Behalf::Background && one.component.starts_with("disk ") && one.visits > 0
    };
    breakdown.components.iter().any(is_filled) || breakdown.classes.iter().any(is_work)
}

/// The disks that have failed: `disk 3`, `disks 3, 4`; `None` where none has.
fn failed_disks(point: &Point) -> Option<String> {
    let components = point.breakdown.iter().flat_map(|breakdown| &breakdown.components);
    let failed = components.filter(|part| part.role == Some(DiskRole::Failed));
    let numbers: Vec<&str> = failed.filter_map(|part| part.name.split(' ').nth(1)).collect();
    let plural = if numbers.len() > 1 { "s" } else { "" };
    (!numbers.is_empty()).then(|| format!("disk{plural} {}", numbers.join(", ")))
}

/// What to do on real storage where the evidence names nothing.
const DEEPER: &str = "Measure half and twice the queue depth (sweep `depth`), or name the parts that the \
                      kernel does not see with `fathom explain --parts FILE`.";

/// What to do about a bottleneck.
const MORE_OF_IT: &str = "Add more of that part, use a faster one, or put less load on it.";

/// What to do about a part that requests wait for while the rate still grows with what is in flight.
const MORE_OR_DEEPER: &str = "Add more of that part, or use a faster one; until it is saturated a higher queue depth may raise the rate too, and makes each request wait longer: `fathom search` finds what meets a latency.";

/// What to do where background work takes a large part of it.
const AFTER_IT: &str = "Lower the priority of the background work (its `rate`; md: `sync_speed_max`), or measure once it has ended.";

/// What is busy in a flash drive that does most for its writes, as a record has it.
const WRITE_PATH: &str = "flash write path";

/// What to do about it.
const SPARE_ROOM: &str = "Writes wait until flash is programmed, and what is left of old blocks is copied and erased (write amplification). Give \
                          the drive more spare room, so that it copies less (leave a part of it unwritten and trimmed, or use drives with \
                          more); else use a faster one, or more of them.";

/// The same of writes in order, of which nothing is copied.
const IN_ORDER: &str = "Writes wait for the drive's own way to its flash. They come in order, so that nothing is copied before it is erased, and more \
                        spare room changes nothing: use a faster drive, or more of them.";

/// `draft`, about `first`, where that is the way of writes through flash drives and all of `point` write in order.
fn in_order(draft: Draft, first: &Use, point: &Point) -> Draft {
    let is_path = first.inside.as_deref() == Some(WRITE_PATH);
    let is_in_order = point.workloads.iter().all(|one| {
        one.spec.tree.is_none()
            && (one.spec.pattern == Pattern::Sequential || one.spec.mix.reads == Share::ALL)
    });
    if is_path && is_in_order { draft.remedy(IN_ORDER) } else { draft }
}

/// What the name of a worker's thread in its host ends with.
const THREAD: &str = " thread";

/// What to do about it.
const MORE_WORKERS: &str = "Issue the load from more workers (`workers`; fio: `numjobs`) of less depth each: a worker is one thread, which submits and \
                            reaps all of its requests itself.";

/// The evidence names no bottleneck.
fn open(uses: &[Use], in_flight: f64, answer: Option<Answer>, remedy: &str) -> Draft {
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

fn limit(first: &Use, others: &[Use], answer: Option<Answer>) -> Draft {
    let verb = if first.is_even { "are" } else { "is" };
    // Below its ceiling, and with a rate that still grows, a part is where requests wait and no end of the rate.
    let is_end = first.share >= FULL || answer.is_some_and(|answer| answer.is_flat());
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

/// The part of the response time that is waiting; `None` where the record does not say where requests were.
fn waited(point: &Point) -> Option<f64> {
    let response = &point.breakdown.as_ref()?.response;
    let all: f64 = response.iter().map(PartShare::time_ns).sum();
    (all > 0.0).then(|| response.iter().map(|part| part.wait_ns).sum::<f64>() / all)
}

/// Whether every write of a workload is made durable by itself.
fn syncs_writes(workload: &WorkloadResult) -> bool {
    workload.spec.durability.open != OpenSync::None && workload.spec.mix.reads < Share::ALL
}

/// What raises the rate of a load that is latency-bound. A stream that waits for disks is read too little ahead.
fn quicker(point: &Point) -> &'static str {
    let is_stream =
        |spec: &spec::Workload| spec.pattern == Pattern::Sequential && spec.mix.reads == Share::ALL;
    let response = point.breakdown.as_ref().map_or(&[][..], |breakdown| &breakdown.response);
    let at_disks: f64 =
        response.iter().filter(|part| part.part.starts_with("disk")).map(PartShare::time_ns).sum();
    if at_disks > response.iter().map(PartShare::time_ns).sum::<f64>() / 2.0
        && point.workloads.iter().all(|one| is_stream(&one.spec))
    {
        "Read further ahead, increase the queue depth, or lower the latency of each request."
    } else if point.breakdown.is_none() && point.workloads.iter().any(syncs_writes) {
        "Each write waits until it is durable (`sync`): measure once with `sync = \"none\"`, and what it is faster is the flush. Sync \
         less often, use a device with a cache that is protected against power loss, or increase the queue depth."
    } else {
        "Increase the queue depth, or lower the latency of each request."
    }
}

/// `draft`, of a load that is latency-bound, with what each write takes where it updates parity, and with what makes it quicker.
pub(super) fn with_partial_writes(draft: Draft, point: &Point) -> Draft {
    let Some(each) = partial_writes::operations(point) else { return draft.remedy(quicker(point)) };
    let told = format!(
        " Each write takes {each:.1} disk operations: old data and parity are read before anything is written."
    );
    draft.sentence(&told).number("operations_per_request", each).remedy(partial_writes::REMEDY)
}

fn latency(first: &Use, load: &curve::Load, answer: Option<Answer>) -> Draft {
    debug_assert!(first.share < FULL, "no part is saturated");
    let mut sentence = format!(
        "Latency-bound: queue depth {:.1} / {} = {} IOPS. No part that is counted is saturated; the busiest, {}: {}.",
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
    with_answer(with_shares(draft, [first]), answer)
}

fn unseen(first: &Use, answer: Answer) -> Draft {
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
fn with_spread(draft: Draft, spread: Option<places::Spread>) -> Draft {
    match spread {
        Some(spread) => spread.numbers(draft.sentence(&format!(" {}", spread.in_words()))),
        None => draft,
    }
}

fn with_shares<'a>(draft: Draft, uses: impl IntoIterator<Item = &'a Use>) -> Draft {
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

fn with_answer(draft: Draft, answer: Option<Answer>) -> Draft {
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
    use record::{Ceiling, Finding, PathPart, Series};

    use super::*;

    /// A sweep of depth on a disk, by what is in flight, the rate, and the share of the disk's bandwidth.
    fn swept(loads: &[(f64, u64, f64)]) -> Run {
        let point = |(index, (in_flight, per_s, share)): (u32, &(f64, u64, f64))| {
            let stream =
                Stream { op: "read", size_bytes: 4096, per_s: *per_s, median_ns: 1_000_000, spread: 0.0 };
            let mut workload = sample::workload("main", &[stream]);
            workload.mean_in_flight = *in_flight;
            let mut point = sample::point(index, "p", vec![workload]);
            point.swept = [("depth".to_owned(), in_flight.to_string())].into();
            point.series.push(Series {
                name: "disk.sda.read_bytes_per_s".into(),
                unit: "bytes_per_s".into(),
                workload: None,
                source: "test".into(),
                from_ns: None,
                at_ns: sample::ends(),
                values: vec![share * 1e9; 30],
                absent: None,
            });
            point
        };
        let mut run = sample::run("sweep", (0..).zip(loads).map(point).collect());
        let (what, unit, basis) = ("bandwidth".into(), "bytes_per_s".into(), "as given".into());
        let bandwidth = Ceiling { what, value: 1e9, unit, each_way: false, basis, source: "test".into() };
        let (name, series) = ("sda".into(), Some("disk.sda".into()));
        run.path = vec![PathPart { name, series, ceilings: vec![bandwidth], ..PathPart::default() }];
        run
    }

    /// What is found of the first of these loads.
    fn first(loads: &[(f64, u64, f64)]) -> Option<Finding> {
        let run = swept(loads);
        of_point(&run, &Loads::of(&run), &run.points[0]).map(Draft::about_run)
    }

    fn code(loads: &[(f64, u64, f64)]) -> Option<String> {
        first(loads).map(|finding| finding.code)
    }

    fn is(code: Code) -> Option<String> {
        Some(code.name().to_owned())
    }

    #[test]
    fn a_part_is_saturated_from_its_nineteenth_twentieth_on() {
        assert_eq!(code(&[(8.0, 1_000, 0.95)]), is(Code::Bottleneck));
        assert_eq!(code(&[(8.0, 1_000, 0.949)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 1_000, 0.70)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 1_000, 0.699)]), None, "nothing tells what the storage can do");
    }

    #[test]
    fn what_a_higher_depth_gains_decides_where_no_part_is_saturated() {
        // Twice in flight with an exponent of 0.15 makes 1.1096 times the rate, with one of 0.70 1.6245 times.
        let twice = |per_s: u64| code(&[(8.0, 10_000, 0.5), (16.0, per_s, 0.5)]);
        assert_eq!(
            (twice(11_090), twice(11_100)),
            (is(Code::BottleneckUncounted), is(Code::BottleneckUndetermined))
        );
        assert_eq!(
            (twice(16_240), twice(16_250)),
            (is(Code::BottleneckUndetermined), is(Code::LatencyBound))
        );
        assert_eq!(code(&[(8.0, 10_000, 0.70), (16.0, 20_000, 0.5)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(8.0, 10_000, 0.699), (16.0, 20_000, 0.5)]), is(Code::LatencyBound));
    }

    #[test]
    fn one_request_at_a_time_is_bound_by_its_latency_unless_the_next_load_gained_little() {
        assert_eq!((code(&[(1.5, 1_000, 0.5)]), code(&[(1.51, 1_000, 0.5)])), (is(Code::LatencyBound), None));
        assert_eq!(code(&[(1.5, 10_000, 0.5), (3.0, 10_000, 0.5)]), is(Code::BottleneckUndetermined));
        assert_eq!(code(&[(1.51, 10_000, 0.5), (3.02, 10_000, 0.5)]), is(Code::BottleneckUncounted));
    }

    #[test]
    fn a_finding_tells_what_a_higher_depth_gains_where_that_is_evidence_for_it() {
        let sentence = |loads: &[(f64, u64, f64)]| first(loads).expect("something is found").sentence;
        let scales = sentence(&[(8.0, 10_000, 0.5), (16.0, 20_000, 0.5)]);
        assert!(scales.ends_with("a factor of 1.00: the rate scales with the queue depth."), "{scales}");
        let alone = sentence(&[(1.0, 1_000, 0.5)]);
        assert!(alone.contains("the busiest, sda: 500 MB/s") && alone.contains(" 50 % of its "), "{alone}");
        let flat = sentence(&[(8.0, 10_000, 0.97), (16.0, 10_000, 0.97)]);
        assert!(flat.ends_with(": a higher queue depth only adds latency."), "{flat}");
        assert!(sentence(&[(8.0, 10_000, 0.97), (16.0, 20_000, 0.97)]).ends_with("(as given)."));
        let null = Run { targets: Vec::new(), ..swept(&[(1.0, 1_000, 0.5)]) };
        let state = Point { kind: PointKind::State, ..null.points[0].clone() };
        assert!(of_point(&null, &Loads::of(&null), &state).is_none(), "a state is no load");
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
        assert!(
            told.sentence.contains("queues the 8 requests in flight; a 100 % busy, mean queue 0.0, b 95 %")
        );
        assert!(!told.sentence.contains("e 40 %"), "{}", told.sentence);
        assert_eq!(told.numbers["in_flight"], 8.0);
    }

    /// What is told of `in_flight` requests that spend those shares of their time at a disk, transferring and waiting.
    fn at_disk(in_flight: f64, shares: [f64; 2], use_of: Use) -> Option<Draft> {
        let [transfer, wait] = shares;
        let part = |part: &str, wait_ns: f64, service_ns: f64| record::PartShare {
            part: part.into(),
            wait_ns,
            service_ns,
        };
        let elsewhere = 1.0 - transfer - wait;
        let response = vec![
            part("link", 0.0, elsewhere),
            part("disk seek", wait, 0.0),
            part("disk transfer", 0.0, transfer),
        ];
        let mut point = swept(&[(in_flight, 250, 0.5)]).points.remove(0);
        point.breakdown = Some(record::Breakdown { response, ..record::Breakdown::default() });
        at_media_rate(&point, &[use_of])
    }

    #[test]
    fn a_single_stream_whose_time_is_transfer_at_a_full_disk_is_at_the_rate_of_its_media() {
        let found = |share: f64, transfer: f64, background: f64| {
            at_disk(1.0, [transfer, 0.0], usage::busy("disk 0", share, 0.0, background))
        };
        let told = found(0.99, 0.99, 0.0).expect("it is the limit").about_run().sentence;
        assert!(
            told.starts_with("disk 0 is the bottleneck: utilization 99 %. 99 % of the response"),
            "{told}"
        );
        assert!(found(0.94, 0.99, 0.0).is_none() && found(0.99, 0.89, 0.0).is_none());
        assert!(found(0.99, 0.99, 0.3).is_none(), "a rebuild fills it");
    }

    #[test]
    fn one_request_that_waits_for_a_full_disk_waits_for_what_was_acknowledged_before_it() {
        let found = |in_flight: f64, share: f64, wait: f64| {
            at_disk(in_flight, [0.01, wait], usage::busy("disk 0", share, 0.0, 0.0))
        };
        let told = found(1.0, 0.99, 0.97).expect("it is the limit").about_run().sentence;
        assert!(told.contains("97 % of the response time is the wait until they have written out"), "{told}");
        assert!(found(1.0, 0.94, 0.97).is_none(), "the disk has time to spare");
        assert!(found(1.0, 0.99, 0.89).is_none(), "much of the time it is elsewhere");
        assert!(found(8.0, 0.99, 0.97).is_none(), "requests wait for each other");
    }

    /// What is told of disks that did so many operations for each request of 100, random reads, where `failed` is out of use.
    fn of_disks_with(each: u64, failed: Option<&str>) -> Finding {
        let class = |component, visits| sample::visits(record::Behalf::HostRead, component, visits, 0.0, 1.0);
        let failed = failed.map(|name| record::Component {
            name: name.into(),
            role: Some(DiskRole::Failed),
            ..record::Component::default()
        });
        let mut point = swept(&[(8.0, 1_000, 0.5)]).points.remove(0);
        point.breakdown = Some(record::Breakdown {
            classes: vec![class("host 0 processor", 100), class("disk 0", 100 * each)],
            components: failed.into_iter().collect(),
            ..record::Breakdown::default()
        });
        let disks = usage::busy("disks", 0.99, 4.0, 0.0);
        of_operations(limit(&disks, &[], None), &disks, &point).about_run()
    }

    #[test]
    fn disks_that_do_more_than_one_operation_for_a_random_read_are_told_to_have_larger_chunks() {
        let told = of_disks_with(14, None);
        assert!(
            told.sentence.ends_with(" Disks do 14.0 operations for each request (requests cross chunks)."),
            "{}",
            told.sentence
        );
        assert!(told.remedy.starts_with("Use a larger chunk (`raid.chunk`)"), "{}", told.remedy);
        assert!(of_disks_with(1, None).remedy.starts_with("Add more of that part"));
    }

    #[test]
    fn a_disk_that_has_failed_is_replaced_before_anything_is_added() {
        let told = of_disks_with(2, Some("disk 3"));
        assert!(told.sentence.ends_with(" Disk 3 has failed: the others do its work."), "{}", told.sentence);
        assert!(told.remedy.starts_with("Replace disk 3, and let the array rebuild;"), "{}", told.remedy);
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
            in_order(limit(&part, &[], None), &part, &point).about_run().remedy
        };
        assert!(of(Pattern::Sequential).contains("changes nothing"), "{}", of(Pattern::Sequential));
        assert!(of(Pattern::Random).contains("Give the drive"), "what is left of old blocks is copied");
    }

    #[test]
    fn an_answer_at_its_bound_is_no_evidence() {
        let part = usage::busy("disks", 0.96, 4.0, 0.0);
        let of_limit = |gain: f64| limit(&part, &[], Some(curve::with_gain(gain))).about_run().sentence;
        assert!(of_limit(0.1).contains("From 8 to 16") && !of_limit(FLAT).contains("From 8 to 16"));
        let load = curve::Load { in_flight: 2.0, rate: 500.0, response_s: 0.004 };
        let idle = usage::busy("disks", 0.2, 0.0, 0.0);
        let of_latency = |gain: f64| latency(&idle, &load, Some(curve::with_gain(gain))).about_run();
        assert!(of_latency(0.8).sentence.contains("From 8 to 16"));
        assert!(!of_latency(FOLLOWS).sentence.contains("From 8 to 16"));
        assert!((of_latency(0.8).numbers["response_ms"] - 4.0).abs() < 1e-9);
        assert!(of_latency(0.8).sentence.contains("2.0 / 4.00 ms = 500 IOPS"));
        let quick = curve::Load { in_flight: 4.0, rate: 2_928_258.0, response_s: 1.366e-6 };
        let told = latency(&idle, &quick, None).about_run().sentence;
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
