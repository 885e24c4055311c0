//! Disks as the bottleneck: what they do for each request, and what makes them do it.

use record::{DiskRole, PartShare, Point, Run, WorkloadResult};
use spec::Pattern;
use units::{Bytes, Share};

use super::drafts::limit;
use super::usage::Use;
use super::{FULL, ONE, components, queues, traffic};
use crate::draft::{Draft, capital, percent};
use crate::evidence::setting;

/// Where so much of the response time is transfer at disks that are saturated, that is the rate of their media.
const MOST: f64 = 0.9;

/// Where a request that is alone waits for saturated disks for so much of it, it waits for what was acknowledged before it: they do no
/// work that nobody waits for.
const HALF: f64 = 0.5;

/// From so many operations of disks for each write on, parity is among them: a mirror does two.
const PARITY: f64 = 2.5;

/// What to do about writes that wait for those.
const FEWER: &str =
    "Have each write take fewer disk operations (RAID 10, whole stripes), or add disks, or use faster ones.";

/// Saturated disks, where hardly anything but their transfers, or of a request that is alone the wait for them, is the response time:
/// a single stream queues nowhere, and yet no higher queue depth gets more of them.
pub(super) fn at_media_rate(run: &Run, point: &Point, uses: &[Use]) -> Option<Draft> {
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
    let limit = limit(first, others, None);
    let (limit, key, share, told) = if transfer >= MOST * all {
        (limit, "disk_transfer_share", transfer / all, "transfer, at the rate of the media")
    } else if in_flight <= ONE && waits >= HALF * all {
        let told =
            "the wait until they have written out what was acknowledged before: the write cache is full";
        let is_parity = traffic::operations_per_request(point).is_some_and(|each| each >= PARITY);
        let limit = if is_parity { limit.remedy(FEWER) } else { limit };
        (limit, "disk_wait_share", waits / all, told)
    } else {
        return None;
    };
    let told = format!(" {} of the response time is {told}.", percent(share));
    Some(with_operations(limit.sentence(&told).number(key, share), run, point))
}

pub(super) fn of_disks(part: &Use) -> bool {
    part.part.starts_with("disk") || part.part.ends_with("disks")
}

/// More operations of disks for each request than this are a reason why they are busy.
const SEVERAL: f64 = 1.25;

/// `draft` with how many operations disks do for each request, where `first` are disks and it is more than one.
pub(super) fn of_operations(draft: Draft, first: &Use, run: &Run, point: &Point) -> Draft {
    if of_disks(first) { with_operations(draft, run, point) } else { draft }
}

/// `draft` with the part of the reads that caches answered, and with how many operations disks do for each request, where it is more than
/// one, and what is known to be its reason.
pub(super) fn with_operations(draft: Draft, run: &Run, point: &Point) -> Draft {
    let draft = traffic::with_hit_rate(draft, point);
    let draft = match traffic::operations_per_request(point).filter(|each| *each >= SEVERAL) {
        None => draft,
        Some(each) => {
            let cut = cut(point, each);
            let is_split = cut.is_none() && crosses_chunks(point);
            let why = match (&cut, is_split, failed_disks(point)) {
                (Some(cut), ..) => cut,
                (None, true, _) => "requests cross chunks",
                (None, false, Some(_)) => FAILED_REASONS,
                (None, false, None) => MANY_REASONS,
            };
            let draft = draft
                .sentence(&format!(" Disks do {each:.1} operations for each request ({why})."))
                .number("operations_per_request", each);
            match is_split {
                false => draft,
                true if fits_chunks(run, point) => draft.remedy(BEGIN_AT_CHUNKS),
                true => draft.remedy(LARGER_CHUNK),
            }
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

/// The same where each request is no longer than a chunk, and fills it with others of its size: it crosses chunks by where it begins.
const BEGIN_AT_CHUNKS: &str = "Have requests begin at multiples of their own size from the begin of a chunk on (`offset`, `align`; partitions at \
                               stripes): each is no longer than a chunk, and crosses one by where it begins.";

/// Whether a whole number of requests of each size fills a chunk.
fn fits_chunks(run: &Run, point: &Point) -> bool {
    let chunk = setting(run, "raid.chunk").and_then(|chunk| chunk.parse::<Bytes>().ok());
    let fits = |chunk: Bytes, size: Bytes| !size.is_zero() && chunk.is_multiple_of(size);
    chunk.is_some_and(|chunk| {
        let sizes = |one: &WorkloadResult| [one.spec.sizes.smallest(), one.spec.sizes.largest()];
        point.workloads.iter().flat_map(sizes).all(|size| fits(chunk, size))
    })
}

/// Where disks do no more than an operation for each part of a request by so much, nothing but the parts makes several.
const EACH_PART: f64 = 1.1;

/// That hosts cut requests, where this is why disks do `each` operations for one: they do one for each part.
fn cut(point: &Point, each: f64) -> Option<String> {
    let asked = point.breakdown.as_ref()?.host_traffic.filter(|asked| asked.requests > 0)?;
    let parts = asked.parts as f64 / asked.requests as f64;
    (parts >= SEVERAL && each <= EACH_PART * parts).then(|| {
        format!(
            "the host sends a request in parts of at most {}: `host.max_transfer`, or the request size of the protocol",
            Bytes::new(asked.part_max_bytes)
        )
    })
}

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

#[cfg(test)]
mod tests {
    use record::Finding;
    use record::sample;

    use super::super::tests::swept;
    use super::super::usage;
    use super::*;

    /// The finding about `in_flight` requests with those shares of their time at a disk: its transfer, and their wait.
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
        at_media_rate(&sample::run("t", Vec::new()), &point, &[use_of])
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
        assert!(found(1.0, 0.99, 0.49).is_none(), "most of the time it is elsewhere");
        assert!(found(8.0, 0.99, 0.97).is_none(), "requests wait for each other");
    }

    /// A run on an array with chunks of that size.
    fn on_chunks(chunk: Option<&str>) -> Run {
        let mut run = sample::run("t", Vec::new());
        let told = chunk.map(|chunk| format!("raid.level = 5; raid.chunk = {chunk}"));
        let facts = told.map(|told| (record::names::fact::DESCRIPTION.to_owned(), told));
        run.targets[0].facts = facts.into_iter().collect();
        run
    }

    /// The finding about disks that did `each` operations for each of 100 random reads; `failed` is out of use.
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
        of_operations(limit(&disks, &[], None), &disks, &on_chunks(None), &point).about_run()
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
    fn requests_that_fit_into_chunks_cross_them_by_where_they_begin() {
        let mut point = swept(&[(8.0, 1_000, 0.5)]).points.remove(0);
        point.workloads[0].spec.sizes = "64KiB".parse().expect("it is a size");
        let fits = |chunk| fits_chunks(&on_chunks(chunk), &point);
        assert_eq!(
            [Some("128KiB"), Some("64KiB"), Some("32KiB"), Some("96KiB"), None].map(fits),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn where_hosts_cut_requests_the_disks_do_one_operation_for_each_part() {
        let told = |each: f64, parts: u64| {
            let mut point = swept(&[(8.0, 1_000, 0.5)]).points.remove(0);
            let asked = record::HostTraffic {
                requests: 100,
                parts,
                part_max_bytes: 128 << 10,
                ..record::HostTraffic::default()
            };
            point.breakdown =
                Some(record::Breakdown { host_traffic: Some(asked), ..record::Breakdown::default() });
            cut(&point, each)
        };
        assert!(told(2.0, 200).is_some_and(|told| told.contains("parts of at most 128 KiB")));
        assert_eq!(told(4.0, 200), None, "copies or parity are behind it");
        assert_eq!(told(2.0, 100), None, "each request is sent as it is");
    }

    #[test]
    fn a_disk_that_has_failed_is_replaced_before_anything_is_added() {
        let told = of_disks_with(2, Some("disk 3"));
        assert!(told.sentence.ends_with(" Disk 3 has failed: the others do its work."), "{}", told.sentence);
        assert!(told.remedy.starts_with("Replace disk 3, and let the array rebuild;"), "{}", told.remedy);
    }
}
