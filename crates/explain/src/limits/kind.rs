//! The parts of one kind: how busy they are together, which of them stand out, and what a finding calls them.

use record::{Behalf, ClassShare, Component};
use units::Nanos;

use super::queues::BUSY;
use super::usage::{Idle, Queue, Use};
use crate::draft::percent;

/// The kind of a disk.
pub(super) const DISK: &str = "disk";

/// A visit of the load's own, not of a cache.
pub(super) fn is_of_load(class: &ClassShare) -> bool {
    class.op.is_of_load()
}

/// Whether such visits ended while the point lasted. A device says when it will serve: what waits for longer than all
/// of the point is still there at its end, and the rate is that of the others.
pub(super) fn has_ended(class: &ClassShare, elapsed_ns: f64) -> bool {
    class.wait_ns <= elapsed_ns
}

/// One part of a virtual array: the utilization of its servers together, and what waited.
#[derive(Clone, Copy)]
pub(super) struct Busy<'a> {
    name: &'a str,
    share: f64,
    /// Requests of the load.
    waiting: f64,
    /// What a cache writes out and fetches ahead.
    for_cache: f64,
    /// Busy time for background work, as a share of the servers' time.
    background: f64,
    /// Whether it does more a second where more requests of the load wait for it.
    gains: bool,
    /// What inside it is so busy.
    inside: Option<&'a str>,
    /// Mean time that it serves a visit, in nanoseconds; 0 where too few tell.
    service_ns: f64,
    /// Visits, on whosever behalf.
    visits: u64,
    /// Bytes that a disk read and wrote.
    moved: [u64; 2],
    /// The model of a disk.
    model: Option<u32>,
}

/// Fewer visits have no mean service time worth a comparison.
const VISITS: u64 = 100;

/// A part that serves a visit for so many times as long as the others of its kind is slow.
const SLOW: f64 = 1.5;

/// And so is one for which so many times as many requests wait.
const CROWDED: f64 = 3.0;

/// A slow part that is so much busier than all of its kind are on average is a limit of its own.
const BUSIER: f64 = 0.03;

/// Disks of one model that move no more than this more than the others on average do the same.
const SAME: f64 = 1.05;

/// Parts of a kind that are so much less busy than the busiest are as busy as that.
const AS_BUSY: f64 = 0.05;

impl<'a> Busy<'a> {
    pub(super) fn of(part: &'a Component, classes: &[&ClassShare], elapsed_ns: f64) -> Busy<'a> {
        let sum = |of: fn(&ClassShare) -> f64, counts: &dyn Fn(&ClassShare) -> bool| -> f64 {
            classes.iter().filter(|one| counts(one)).map(|one| of(one) * one.visits as f64).sum()
        };
        let busy = |one: &ClassShare| one.service_ns + one.deferred_ns;
        let service = sum(busy, &|_| true);
        let of_load = |one: &ClassShare| is_of_load(one) && has_ended(one, elapsed_ns);
        let of_cache = |one: &ClassShare| !is_of_load(one) && !is_background(one);
        let share = if service > 0.0 { sum(busy, &is_background) / service } else { 0.0 };
        let (waiting, for_cache, background) = match classes.iter().any(|one| one.visits > 0) {
            true => (
                sum(|one| one.wait_ns, &of_load) / elapsed_ns,
                sum(|one| one.wait_ns, &of_cache) / elapsed_ns,
                share,
            ),
            // Records of before visits were kept by class.
            false => (part.wait_ns as f64 / elapsed_ns, 0.0, 0.0),
        };
        let background = background * part.utilisation;
        let has_choice = part.chooses_among.is_some_and(|among| part.mean_in_system < f64::from(among));
        let gains = has_choice && waiting > for_cache;
        let inside = part.busiest.as_deref();
        let served = part.service_ns as f64 / part.visits.max(1) as f64;
        let service_ns = if part.visits >= VISITS { served } else { 0.0 };
        let share = part.utilisation;
        let (name, visits, model) = (part.name.as_str(), part.visits, part.model);
        let moved = [part.read_bytes, part.written_bytes].map(|bytes| bytes.unwrap_or(0));
        Busy { name, share, waiting, for_cache, background, gains, inside, service_ns, visits, moved, model }
    }
}

pub(super) fn is_background(class: &ClassShare) -> bool {
    class.op == Behalf::Background
}

/// `controller processor` of `controller 0 processor`.
pub(super) fn kind(name: &str) -> String {
    let words = name.split(' ').filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// `disks`, `controller buses`, `stripe locks`.
fn plural(kind: &str) -> String {
    // The two directions of a wire, and the two together.
    if let Some((wire, way)) =
        [" tx+rx", " rx", " tx"].iter().find_map(|way| Some((kind.strip_suffix(way)?, way.trim())))
    {
        return format!("{wire}s ({way})");
    }
    match kind {
        _ if kind.ends_with("us") => format!("{kind}es"),
        _ if kind.ends_with('s') => kind.into(),
        _ => format!("{kind}s"),
    }
}

/// Why a disk that moves no more than the others has no time left while they have.
const OF_ANOTHER: &str = "; it is of another model than they are";

/// Parts of a kind with less than this share of the utilization of the busiest have nothing to do with it.
const IDLE: f64 = 0.1;

pub(super) fn of_kind(kind: &str, all: &[Busy<'_>], elsewhere: f64, most_waiting: f64) -> Use {
    debug_assert!(!all.is_empty(), "a kind is one of parts");
    let busiest = all.iter().map(|part| part.share).fold(0.0, f64::max);
    // What does not work for the load is no measure of what does.
    let works = |part: &Busy<'_>| part.share >= IDLE * busiest && (busiest == 0.0 || part.visits > 0);
    let (parts, idle): (Vec<Busy<'_>>, Vec<Busy<'_>>) = all.iter().copied().partition(works);
    // Records of before visits were kept have parts that are busy without any.
    let (parts, idle) = if parts.is_empty() { (all, Vec::new()) } else { (parts.as_slice(), idle) };
    let idle = Idle::of(plural(kind), idle.iter().map(|part| part.share), all.len());
    let sum = |of: fn(&Busy<'_>) -> f64| parts.iter().map(of).sum::<f64>();
    let mean = mean_of(parts);
    let fullest = parts.iter().copied().reduce(|most, one| if one.share > most.share { one } else { most });
    let most = fullest.map_or(0.0, |part| part.share);
    let slow = fullest.filter(|part| !is_like_most(part, parts)).and_then(|part| slower(part, parts));
    // Of disks that are one model and do the same none is slow: what the others are less busy by is what they have ahead of requests.
    let ahead = fullest.filter(|part| most >= super::FULL && all_do_as(part, parts));
    // One of several that is full while the others are not is a limit of its own, and so are several of many.
    let as_busy: Vec<&Busy<'_>> = parts.iter().filter(|part| part.share >= most - AS_BUSY).collect();
    // Of another model it bounds each stripe that it is a part of, however busy it keeps the others.
    let is_odd = fullest.is_some_and(|part| part.model.is_some() && !is_like_most(&part, parts));
    let are_few = mean < super::FULL - AS_BUSY || is_odd && 2 * as_busy.len() < parts.len();
    let is_full = most >= super::FULL && are_few && ahead.is_none();
    let is_odd_and_slow = is_odd && fullest.is_some_and(|part| moves_no_more(&part, parts));
    let stands_out = is_full || slow.is_some() && most >= BUSY && most - mean >= BUSIER;
    let several = stands_out && slow.is_none() && as_busy.len() > 1;
    let named = match (stands_out, fullest) {
        (true, _) if several => of_several(kind, &as_busy, all),
        (true, Some(one)) if slow.is_none() && is_odd_and_slow => of_one(one, all, Some(OF_ANOTHER)),
        (true, Some(one)) => of_one(one, all, slow.as_deref()),
        (false, Some(one)) if ahead.is_some() && mean < super::FULL => {
            of_busiest(kind, &one, parts, all.len())
        }
        _ => of_even(kind, parts, most, all.len()),
    };
    let Named { part, share, basis, inside } = named;
    let basis = match &idle {
        Some(idle) if !stands_out => format!("{basis}; {}", idle.in_words()),
        _ => basis,
    };
    let (busy, background) = match fullest.filter(|_| stands_out) {
        Some(one) => (one.share, one.background),
        None => (sum(|part| part.share), sum(|part| part.background)),
    };
    let queue = Queue {
        // Of a thousand reads ahead that wait none is waited for by more requests than there are.
        load: sum(|part| part.waiting).min(most_waiting) + sum(|part| part.for_cache).min(elsewhere),
        background: if busy > 0.0 { background / busy } else { 0.0 },
        gains: parts.iter().all(|part| part.gains),
    };
    let is_even = several || parts.len() > 1 && !stands_out;
    let what = "busy".into();
    Use {
        part,
        what,
        share,
        amount: None,
        unit: "share".into(),
        most: if stands_out { share } else { most.max(share) },
        is_even,
        basis,
        inside,
        idle,
        is_slow: kind == DISK && stands_out && (slow.is_some() || is_odd_and_slow),
        queue: Some(queue),
    }
}

/// Which parts of a kind a finding names, how busy they are, and on what evidence.
struct Named {
    part: String,
    share: f64,
    basis: String,
    inside: Option<String>,
}

fn inside(part: Option<&Busy<'_>>) -> Option<String> {
    part.and_then(|part| part.inside).map(str::to_owned)
}

/// How busy `parts` are on average.
fn mean_of(parts: &[Busy<'_>]) -> f64 {
    parts.iter().map(|part| part.share).sum::<f64>() / parts.len().max(1) as f64
}

/// Those that are as busy as the busiest of `all`.
fn of_several(kind: &str, as_busy: &[&Busy<'_>], all: &[Busy<'_>]) -> Named {
    let names: Vec<&str> = as_busy.iter().map(|part| part.name).collect();
    let share = as_busy.iter().map(|part| part.share).sum::<f64>() / as_busy.len() as f64;
    let (inside, mean) = (inside(as_busy.first().copied()), percent(mean_of(all)));
    let basis = format!(", {mean} on average of all {}", all.len());
    Named { part: some_of(kind, &names, all.len()), share, basis, inside }
}

fn of_one(one: Busy<'_>, all: &[Busy<'_>], slow: Option<&str>) -> Named {
    let (inside, mean) = (inside(Some(&one)), percent(mean_of(all)));
    let basis = format!(", {mean} on average of all {}{}", all.len(), slow.unwrap_or_default());
    Named { part: one.name.to_owned(), share: one.share, basis, inside }
}

/// Whether half of `parts` or more are of the model of `part`: it is no slower than they are.
fn is_like_most(part: &Busy<'_>, parts: &[Busy<'_>]) -> bool {
    part.model.is_some() && 2 * parts.iter().filter(|other| other.model == part.model).count() > parts.len()
}

/// Whether all `parts` are of one model, and `part` moves no more than they do.
fn all_do_as(part: &Busy<'_>, parts: &[Busy<'_>]) -> bool {
    let is_one_model = part.model.is_some() && parts.iter().all(|other| other.model == part.model);
    is_one_model && parts.len() > 1 && moves_no_more(part, parts)
}

/// Whether `part` moves no more than `parts` do on average.
fn moves_no_more(part: &Busy<'_>, parts: &[Busy<'_>]) -> bool {
    let moved = |one: &Busy<'_>| one.moved.iter().sum::<u64>() as f64;
    let mean = parts.iter().map(moved).sum::<f64>() / parts.len().max(1) as f64;
    mean > 0.0 && moved(part) <= SAME * mean
}

/// All that work, which do the same: as near to their limit as the busiest.
fn of_busiest(kind: &str, busiest: &Busy<'_>, parts: &[Busy<'_>], all: usize) -> Named {
    debug_assert!(busiest.share >= super::FULL, "a part with time to spare is not what bounds its kind");
    let [read, written] = busiest.moved;
    let why = match read > written && busiest.inside.is_none() {
        true => {
            "; each moves as much, and those that have it in their own buffers before it is requested are less busy"
        }
        false => "; each moves as much",
    };
    let mean = percent(mean_of(parts));
    let basis = format!(" of the busiest, {mean} on average of {}{why}", parts.len());
    Named { basis, share: busiest.share, ..of_even(kind, parts, busiest.share, all) }
}

/// All that work, which are alike.
fn of_even(kind: &str, parts: &[Busy<'_>], most: f64, all: usize) -> Named {
    let mean = mean_of(parts);
    let inside = inside(parts.iter().max_by(|one, other| one.share.total_cmp(&other.share)));
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    match names.as_slice() {
        [only] => Named { part: (*only).to_owned(), share: most, basis: String::new(), inside },
        _ => Named {
            part: if names.len() < all { some_of(kind, &names, all) } else { plural(kind) },
            share: mean,
            basis: format!(" on average of {}, highest {}", names.len(), percent(most)),
            inside,
        },
    }
}

/// `; an operation takes it 12.5 ms, the others 5.54 ms`, where it serves an operation for much longer than the median of its kind, or
/// `; 24.1 requests wait for it, 3.0 at most for another`, where so many more wait: a drive that chooses among many is nearly as
/// fast as one that has few.
fn slower(part: Busy<'_>, parts: &[Busy<'_>]) -> Option<String> {
    let mut served: Vec<f64> = parts.iter().map(|part| part.service_ns).filter(|time| *time > 0.0).collect();
    served.sort_by(f64::total_cmp);
    let served = served.get(served.len() / 2).copied().filter(|_| served.len() > 2)?;
    let others = parts.iter().filter(|other| other.name != part.name);
    let waiting = others.map(|other| other.waiting).fold(0.0, f64::max);
    let told = |ns: f64| Nanos::from_secs_f64(ns * 1e-9);
    if part.service_ns >= SLOW * served {
        let (own, others) = (told(part.service_ns), told(served));
        return Some(format!("; an operation takes it {own}, the others {others}"));
    }
    (part.waiting >= CROWDED * waiting.max(1.0))
        .then(|| format!("; {:.1} requests wait for it, {waiting:.1} at most for another", part.waiting))
}

/// `disks 0, 1 and 2`; `5 of 12 disks` of more than three.
fn some_of(kind: &str, names: &[&str], many: usize) -> String {
    debug_assert!(names.len() > 1 && names.len() <= many, "some of them");
    let numbers: Vec<&str> =
        names.iter().filter_map(|name| name.split(' ').find(|word| word.parse::<u32>().is_ok())).collect();
    match numbers.split_last() {
        Some((last, first)) if names.len() <= 3 && kind == DISK => {
            format!("{} {} and {last}", plural(kind), first.join(", "))
        }
        _ => format!("{} of {many} {}", names.len(), plural(kind)),
    }
}

#[cfg(test)]
mod tests {
    use record::sample::visits;

    use super::super::FULL;
    use super::*;

    /// Nanoseconds of the points here.
    const ELAPSED: f64 = 10e9;

    fn busy(name: &'static str, share: f64) -> Busy<'static> {
        Busy {
            name,
            share,
            waiting: 1.0,
            for_cache: 2.0,
            background: share / 4.0,
            gains: false,
            inside: None,
            service_ns: 6e6,
            visits: 1_000,
            moved: [0; 2],
            model: None,
        }
    }

    #[test]
    fn kinds_are_names_without_numbers_and_have_a_plural() {
        assert_eq!(
            ["controller 0 processor", "disk 17", "link 0 rx"].map(kind),
            ["controller processor", "disk", "link rx"]
        );
        assert_eq!(kind("disk a1"), "disk a1");
        assert_eq!(
            ["disk", "controller bus", "stripe locks", "link rx", "channel tx+rx"].map(plural),
            ["disks", "controller buses", "stripe locks", "links (rx)", "channels (tx+rx)"]
        );
    }

    #[test]
    fn what_waits_at_a_part_is_told_apart_by_who_caused_it() {
        let (name, wait_ns) = ("disk 0".to_owned(), 3_000_000_000);
        let part =
            Component { name, servers: 1, utilisation: 0.8, visits: 1, wait_ns, ..Component::default() };
        let of = |classes: &[ClassShare]| {
            let busy = Busy::of(&part, &classes.iter().collect::<Vec<_>>(), ELAPSED);
            assert_eq!((busy.name, busy.share), ("disk 0", 0.8));
            [busy.waiting, busy.for_cache, busy.background]
        };
        let all = [
            visits(Behalf::HostRead, "disk 0", 100, 1e8, 5e7),
            visits(Behalf::Destage, "disk 0", 50, 4e8, 5e7),
            visits(Behalf::Background, "disk 0", 50, 9e8, 5e7),
        ];
        assert_eq!(of(&all), [1.0, 2.0, 0.25 * 0.8]);
        assert_eq!(of(&[visits(Behalf::HostRead, "disk 0", 10, 2.0 * ELAPSED, 1.0)]), [0.0, 0.0, 0.0]);
        assert_eq!(of(&[visits(Behalf::Background, "disk 0", 10, 1e9, 0.0)]), [0.0; 3], "nothing was served");
        let unkept = all.map(|one| ClassShare { visits: 0, ..one });
        assert_eq!((of(&unkept), of(&[])), ([0.3, 0.0, 0.0], [0.3, 0.0, 0.0]));
    }

    #[test]
    fn parts_of_a_kind_count_by_their_mean_unless_one_of_them_stands_out() {
        let of = |shares: &[f64]| {
            let names = ["disk 0", "disk 1", "disk 2", "disk 3"];
            let parts: Vec<Busy<'_>> =
                names.into_iter().zip(shares).map(|(name, share)| busy(name, *share)).collect();
            let found = of_kind(DISK, &parts, 100.0, f64::INFINITY);
            (found.part, found.share, found.is_even, found.basis)
        };
        assert_eq!(of(&[0.99]), ("disk 0".into(), 0.99, false, String::new()));
        assert_eq!(of(&[0.5, 0.75]), ("disks".into(), 0.625, true, " on average of 2, highest 75 %".into()));
        assert_eq!(of(&[0.25, FULL]), ("disk 1".into(), FULL, false, ", 60 % on average of all 2".into()));
        assert!(of(&[0.25, FULL - 1e-9]).2, "it is not full");
        assert!(of(&[1.0, 2.0 * (FULL - 0.05) - 1.0]).2, "the others are nearly as full");
        assert!(!of(&[1.0, 2.0 * (FULL - 0.05) - 1.001]).2);
        assert_eq!(of(&[0.0, 1.0, 1.0, 0.0]).0, "disks 1 and 2", "both are full");
        assert_eq!(
            of(&[0.0, 1.0, 0.951, 0.0]),
            ("disks 1 and 2".into(), 0.9755, true, " on average of 2, highest 100 %; 2 of 4 are idle".into())
        );
        assert_eq!(of(&[0.5, 1.0, 0.951, 0.5]).3, ", 74 % on average of all 4");
        assert_eq!(of(&[0.5, 1.0, 0.949, 0.5]).0, "disk 1");
        let names = ["disk 0", "disk 3", "disk 4", "disk 5"];
        assert_eq!(some_of(DISK, &names[..3], 12), "disks 0, 3 and 4");
        assert_eq!(some_of(DISK, &names, 12), "4 of 12 disks");
        assert_eq!(some_of("link rx", &["link 0 rx", "link 1 rx"], 4), "2 of 4 links (rx)");
    }

    #[test]
    fn parts_that_do_not_work_for_a_load_are_counted_and_are_no_measure_of_those_that_do() {
        let of = |shares: [f64; 4]| {
            let part = |(name, share): (&'static str, f64)| Busy {
                visits: if share > 0.0 { 1_000 } else { 0 },
                ..busy(name, share)
            };
            let names = ["disk 0", "disk 1", "disk 2", "disk 3"];
            let parts: Vec<Busy<'_>> = names.into_iter().zip(shares).map(part).collect();
            of_kind(DISK, &parts, 100.0, f64::INFINITY)
        };
        let half = of([0.5, 0.75, 0.0, 0.0]);
        assert_eq!((half.part.as_str(), half.share), ("disks 0 and 1", 0.625));
        assert_eq!(half.basis, " on average of 2, highest 75 %; 2 of 4 are idle");
        let advice = half.idle.expect("two are idle").advice();
        assert!(
            advice.starts_with("Spread the load over all 4 disks, of which 2 hardly work: use the LUNs"),
            "{advice}"
        );
        let one = of([0.5, 0.049, 0.0, 0.02]);
        assert_eq!((one.part.as_str(), one.basis.as_str()), ("disk 0", "; 3 of 4 are at most 4.9 % busy"));
        assert!(of([0.5, 0.05, 0.05, 0.05]).idle.is_none(), "a tenth is work");
        assert!(of([0.0; 4]).idle.is_none(), "nothing works");
    }

    #[test]
    fn a_part_that_takes_longer_for_each_visit_than_the_others_is_named() {
        let of = |slow_ns: f64, share: f64, others: f64| {
            let slow = Busy { service_ns: slow_ns, ..busy("disk 1", share) };
            let parts = [busy("disk 0", others), slow, busy("disk 2", others), busy("disk 3", others)];
            let found = of_kind(DISK, &parts, 100.0, f64::INFINITY);
            (found.part, found.basis)
        };
        let (part, basis) = of(26.1e6, 1.0, 0.94);
        assert_eq!(part, "disk 1");
        assert!(basis.ends_with(" of all 4; an operation takes it 26.1 ms, the others 6.00 ms"), "{basis}");
        assert_eq!(of(26.1e6, 0.91, 0.41).0, "disk 1", "it is busy and far busier than the others");
        assert_eq!(of(26.1e6, 0.89, 0.41).0, "disks", "it has time to spare");
        assert_eq!(of(26.1e6, 0.95, 0.94).0, "disks", "it is no busier");
        assert_eq!(of(8.9e6, 1.0, 0.94).0, "disks", "it is as fast");
        let crowd = |waiting: f64| {
            let part = Busy { waiting, ..busy("disk 1", 1.0) };
            let others = busy("disk 0", 0.93);
            of_kind(DISK, &[others, part, others, others], 100.0, f64::INFINITY).basis
        };
        assert!(
            crowd(3.0).ends_with("; 3.0 requests wait for it, 1.0 at most for another"),
            "{}",
            crowd(3.0)
        );
        assert!(crowd(2.9).ends_with("highest 100 %"));
    }

    #[test]
    fn a_disk_of_the_model_of_the_others_is_not_slow_where_these_have_read_ahead_what_it_reads() {
        let of = |models: [u32; 4], moved: u64| {
            let part = |(name, model, moved): (&'static str, u32, u64), share, service_ns| Busy {
                service_ns,
                model: Some(model),
                moved: [moved, 0],
                ..busy(name, share)
            };
            let parts = [
                part(("disk 0", models[0], 1_000), 0.45, 0.2e6),
                part(("disk 1", models[1], moved), 1.0, 0.5e6),
                part(("disk 2", models[2], 1_000), 0.45, 0.2e6),
                part(("disk 3", models[3], 1_000), 0.45, 0.2e6),
            ];
            of_kind(DISK, &parts, 100.0, f64::INFINITY)
        };
        let alike = of([0; 4], 1_000);
        assert_eq!((alike.part.as_str(), alike.share, alike.is_even), ("disks", 1.0, true));
        assert!(
            alike.basis.starts_with(" of the busiest, 59 % on average of 4; each moves as much, and those"),
            "{}",
            alike.basis
        );
        let slow = of([0, 1, 0, 0], 1_000);
        assert_eq!((slow.part.as_str(), slow.is_slow), ("disk 1", true), "of another model");
        assert!(slow.basis.contains("an operation takes it 500 µs, the others 200 µs"), "{}", slow.basis);
        let loaded = of([0; 4], 2_000);
        assert_eq!((loaded.part.as_str(), loaded.basis.as_str()), ("disk 1", ", 59 % on average of all 4"));
    }

    #[test]
    fn a_full_disk_of_another_model_is_named_however_busy_it_keeps_the_others() {
        let of = |model: u32| {
            let names = ["disk 0", "disk 1", "disk 2", "disk 3"];
            let part = |(number, name): (u32, &'static str)| Busy {
                model: Some(if number == 1 { model } else { 0 }),
                share: if number == 1 { 1.0 } else { 0.91 },
                moved: [1_000, 0],
                ..busy(name, 0.0)
            };
            let parts: Vec<Busy<'_>> = (0..).zip(names).map(part).collect();
            of_kind(DISK, &parts, 100.0, f64::INFINITY)
        };
        let odd = of(7);
        assert_eq!((odd.part.as_str(), odd.share, odd.is_slow), ("disk 1", 1.0, true));
        assert_eq!(odd.basis, ", 93 % on average of all 4; it is of another model than they are");
        assert_eq!((of(0).part.as_str(), of(0).most), ("disks", 1.0), "all are alike and do the same");
    }

    #[test]
    fn what_waits_at_a_kind_is_the_sum_and_for_a_cache_no_more_than_may_wait_for_it() {
        let queue = |shares: &[f64], elsewhere| {
            let parts: Vec<Busy<'_>> = shares.iter().map(|share| busy("disk 0", *share)).collect();
            let found = of_kind(DISK, &parts, elsewhere, f64::INFINITY).queue.expect("it is counted");
            (found.load, found.background)
        };
        assert_eq!(queue(&[0.5, 0.3], 100.0), (2.0 + 4.0, 0.25));
        assert_eq!(queue(&[0.5, 0.3], 3.0), (2.0 + 3.0, 0.25));
        assert_eq!(queue(&[0.0, 0.0], 3.0), (5.0, 0.0));
        let one = Busy { background: 0.5, ..busy("disk 0", 1.0) };
        let found =
            of_kind(DISK, &[one, busy("disk 1", 0.2)], 0.0, f64::INFINITY).queue.expect("it is counted");
        assert_eq!(found.background, 0.5, "of the one that stands out alone");
    }
}
