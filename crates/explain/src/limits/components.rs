//! The use of each kind of part of a virtual array, by its busy time and by what waits there.

use std::collections::BTreeMap;

use record::{Behalf, ClassShare, Component, DiskRole, Point};

use super::usage::{Queue, Use, sort};
use crate::draft::percent;

/// Every kind of part of a virtual array, the fullest first. Parts that differ by number alone are one kind: their mean
/// counts, and the fullest of them where it stands out. A disk that is being filled is a kind of its own; one that has failed or
/// waits as a spare is none.
pub(super) fn of_breakdown(point: &Point) -> Vec<Use> {
    let mut kinds: BTreeMap<String, Vec<Busy<'_>>> = BTreeMap::new();
    let elapsed_ns = point.ended_ns.saturating_sub(point.started_ns).max(1) as f64;
    let elsewhere = elsewhere(point, elapsed_ns);
    if let Some(breakdown) = &point.breakdown {
        let mut classes: BTreeMap<&str, Vec<&ClassShare>> = BTreeMap::new();
        breakdown.classes.iter().for_each(|one| classes.entry(&one.component).or_default().push(one));
        let filling = breakdown.components.iter().filter(|part| part.role == Some(DiskRole::Filling));
        let working = breakdown.components.iter().filter(|part| part.is_working());
        let working = working.map(|part| (kind(&part.name), part));
        for (kind, part) in working.chain(filling.map(|part| (part.name.clone(), part))) {
            let own = classes.get(part.name.as_str()).map_or(&[][..], Vec::as_slice);
            kinds.entry(kind).or_default().push(Busy::of(part, own, elapsed_ns));
        }
    }
    let mut uses: Vec<Use> =
        kinds.into_iter().map(|(kind, parts)| of_kind(&kind, &parts, elsewhere)).collect();
    sort(&mut uses);
    uses
}

/// Of the requests in flight those that are at no counted part: they are on the way, or wait for what a cache flushes
/// or reads ahead. Those that wait in their host for their LUN are not among them.
fn elsewhere(point: &Point, elapsed_ns: f64) -> f64 {
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let classes = point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let of_load = classes.filter(|one| is_of_load(one) && has_ended(one, elapsed_ns));
    let at_parts: f64 = of_load.map(|one| (one.wait_ns + one.service_ns) * one.visits as f64).sum();
    let queues = point.breakdown.as_ref().and_then(|breakdown| breakdown.lun_queues);
    let in_hosts = queues.map_or(0.0, |queues| queues.mean_waiting);
    (in_flight - in_hosts - at_parts / elapsed_ns).max(0.0)
}

/// A visit of the load's own, not of a cache.
fn is_of_load(class: &ClassShare) -> bool {
    class.op.is_of_load()
}

/// Whether such visits ended while the point lasted. A device says when it will serve: what waits for longer than all
/// of the point is still there at its end, and the rate is that of the others.
fn has_ended(class: &ClassShare, elapsed_ns: f64) -> bool {
    class.wait_ns <= elapsed_ns
}

/// One part of a virtual array: the utilization of its servers together, and what waited.
#[derive(Clone, Copy)]
struct Busy<'a> {
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
}

impl<'a> Busy<'a> {
    fn of(part: &'a Component, classes: &[&ClassShare], elapsed_ns: f64) -> Busy<'a> {
        let sum = |of: fn(&ClassShare) -> f64, counts: &dyn Fn(&ClassShare) -> bool| -> f64 {
            classes.iter().filter(|one| counts(one)).map(|one| of(one) * one.visits as f64).sum()
        };
        let service = sum(|one| one.service_ns, &|_| true);
        let of_load = |one: &ClassShare| is_of_load(one) && has_ended(one, elapsed_ns);
        let of_cache = |one: &ClassShare| !is_of_load(one) && !is_background(one);
        let share = if service > 0.0 { sum(|one| one.service_ns, &is_background) / service } else { 0.0 };
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
        Busy { name: &part.name, share: part.utilisation, waiting, for_cache, background, gains, inside }
    }
}

fn is_background(class: &ClassShare) -> bool {
    class.op == Behalf::Background
}

/// `controller processor` of `controller 0 processor`.
fn kind(name: &str) -> String {
    let words = name.split(' ').filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// `disks`, `controller buses`, `stripe locks`.
fn plural(kind: &str) -> String {
    match kind {
        _ if kind.ends_with("us") => format!("{kind}es"),
        _ if kind.ends_with('s') => kind.into(),
        _ => format!("{kind}s"),
    }
}

fn of_kind(kind: &str, parts: &[Busy<'_>], elsewhere: f64) -> Use {
    debug_assert!(!parts.is_empty(), "a kind is one of parts");
    let sum = |of: fn(&Busy<'_>) -> f64| parts.iter().map(of).sum::<f64>();
    let mean = sum(|part| part.share) / parts.len() as f64;
    let fullest = parts.iter().copied().reduce(|most, one| if one.share > most.share { one } else { most });
    let (name, most) = fullest.map_or((kind, 0.0), |part| (part.name, part.share));
    let inside = fullest.and_then(|part| part.inside).map_or(String::new(), |inside| format!(" ({inside})"));
    // One of several that is full while the others are not is a limit of its own.
    let stands_out = most >= super::FULL && mean < super::FULL - 0.05;
    let (part, share, basis) = match (parts.len(), stands_out) {
        (1, _) => (name.to_owned(), most, inside),
        (_, true) => {
            let basis = format!("{inside}, {} on average of all {}", percent(mean), parts.len());
            (name.to_owned(), most, basis)
        }
        (count, false) => {
            (plural(kind), mean, format!("{inside} on average of {count}, highest {}", percent(most)))
        }
    };
    let (busy, background) = match fullest.filter(|_| stands_out) {
        Some(one) => (one.share, one.background),
        None => (sum(|part| part.share), sum(|part| part.background)),
    };
    let queue = Queue {
        // Of a thousand reads ahead that wait none is waited for by more requests than there are.
        load: sum(|part| part.waiting) + sum(|part| part.for_cache).min(elsewhere),
        background: if busy > 0.0 { background / busy } else { 0.0 },
        gains: parts.iter().all(|part| part.gains),
    };
    let is_even = parts.len() > 1 && !stands_out;
    let what = "busy".into();
    Use { part, what, share, amount: None, unit: "share".into(), is_even, basis, queue: Some(queue) }
}

#[cfg(test)]
mod tests {
    use record::Breakdown;
    use record::sample;

    use super::super::FULL;
    use super::*;

    /// Nanoseconds of the points here.
    const ELAPSED: f64 = 10e9;

    #[test]
    fn kinds_are_names_without_numbers_and_have_a_plural() {
        assert_eq!(
            ["controller 0 processor", "disk 17", "link 0 rx"].map(kind),
            ["controller processor", "disk", "link rx"]
        );
        assert_eq!(kind("disk a1"), "disk a1");
        assert_eq!(
            ["disk", "controller bus", "stripe locks"].map(plural),
            ["disks", "controller buses", "stripe locks"]
        );
    }

    fn class(op: Behalf, component: &str, visits: u64, wait_ns: f64, service_ns: f64) -> ClassShare {
        ClassShare { op, size_bytes: 0, component: component.into(), visits, wait_ns, service_ns }
    }

    fn component(name: &str, utilisation: f64, wait_ns: u64) -> Component {
        Component { name: name.into(), servers: 1, utilisation, visits: 1, wait_ns, ..Component::default() }
    }

    /// A point of ten seconds with eight in flight.
    fn modelled(components: Vec<Component>, classes: Vec<ClassShare>) -> Point {
        let mut workload = sample::workload("main", &[]);
        workload.mean_in_flight = 5.0;
        let mut point = sample::point(0, "p", vec![workload.clone(), workload]);
        point.workloads[1].mean_in_flight = 3.0;
        (point.started_ns, point.ended_ns) = (5_000_000_000, 15_000_000_000);
        point.breakdown = Some(Breakdown { components, classes, ..Breakdown::default() });
        point
    }

    #[test]
    fn requests_are_elsewhere_that_are_at_no_part() {
        let of = |classes| elsewhere(&modelled(Vec::new(), classes), ELAPSED);
        assert_eq!(of(Vec::new()), 8.0);
        // 1,000 times 15 ms and 5 ms of 10 s.
        assert_eq!(of(vec![class(Behalf::HostRead, "disk 0", 1_000, 15e6, 5e6)]), 6.0);
        assert_eq!(of(vec![class(Behalf::Prefetch, "disk 0", 1_000, 15e6, 5e6)]), 8.0, "a cache's own");
        assert_eq!(of(vec![class(Behalf::HostRead, "disk 0", 1, ELAPSED, 0.0)]), 7.0);
        assert_eq!(
            of(vec![class(Behalf::HostRead, "disk 0", 1, ELAPSED + 1.0, 0.0)]),
            8.0,
            "it has not ended"
        );
        assert_eq!(of(vec![class(Behalf::HostWrite, "disk 0", 1_000, 200e6, 0.0)]), 0.0);
    }

    #[test]
    fn what_waits_at_a_part_is_told_apart_by_who_caused_it() {
        let part = component("disk 0", 0.8, 3_000_000_000);
        let of = |classes: &[ClassShare]| {
            let busy = Busy::of(&part, &classes.iter().collect::<Vec<_>>(), ELAPSED);
            assert_eq!((busy.name, busy.share), ("disk 0", 0.8));
            [busy.waiting, busy.for_cache, busy.background]
        };
        let all = [
            class(Behalf::HostRead, "disk 0", 100, 1e8, 5e7),
            class(Behalf::Destage, "disk 0", 50, 4e8, 5e7),
            class(Behalf::Background, "disk 0", 50, 9e8, 5e7),
        ];
        assert_eq!(of(&all), [1.0, 2.0, 0.25 * 0.8]);
        assert_eq!(of(&[class(Behalf::HostRead, "disk 0", 10, 2.0 * ELAPSED, 1.0)]), [0.0, 0.0, 0.0]);
        assert_eq!(of(&[class(Behalf::Background, "disk 0", 10, 1e9, 0.0)]), [0.0; 3], "nothing was served");
        let unkept = all.map(|one| ClassShare { visits: 0, ..one });
        assert_eq!((of(&unkept), of(&[])), ([0.3, 0.0, 0.0], [0.3, 0.0, 0.0]));
    }

    fn busy(name: &'static str, share: f64) -> Busy<'static> {
        Busy {
            name,
            share,
            waiting: 1.0,
            for_cache: 2.0,
            background: share / 4.0,
            gains: false,
            inside: None,
        }
    }

    #[test]
    fn parts_of_a_kind_count_by_their_mean_unless_one_of_them_stands_out() {
        let of = |shares: &[f64]| {
            let names = ["disk 0", "disk 1", "disk 2", "disk 3"];
            let parts: Vec<Busy<'_>> =
                names.into_iter().zip(shares).map(|(name, share)| busy(name, *share)).collect();
            let found = of_kind("disk", &parts, 100.0);
            (found.part, found.share, found.is_even, found.basis)
        };
        assert_eq!(of(&[0.99]), ("disk 0".into(), 0.99, false, String::new()));
        assert_eq!(of(&[0.5, 0.75]), ("disks".into(), 0.625, true, " on average of 2, highest 75 %".into()));
        assert_eq!(of(&[0.25, FULL]), ("disk 1".into(), FULL, false, ", 60 % on average of all 2".into()));
        assert!(of(&[0.25, FULL - 1e-9]).2, "it is not full");
        assert!(of(&[1.0, 2.0 * (FULL - 0.05) - 1.0]).2, "the others are nearly as full");
        assert!(!of(&[1.0, 2.0 * (FULL - 0.05) - 1.001]).2);
        assert_eq!(of(&[0.0, 1.0, 1.0, 0.0]).0, "disk 1", "the first of the fullest");
    }

    #[test]
    fn what_waits_at_a_kind_is_the_sum_and_for_a_cache_no_more_than_may_wait_for_it() {
        let queue = |shares: &[f64], elsewhere| {
            let parts: Vec<Busy<'_>> = shares.iter().map(|share| busy("disk 0", *share)).collect();
            let found = of_kind("disk", &parts, elsewhere).queue.expect("it is counted");
            (found.load, found.background)
        };
        assert_eq!(queue(&[0.5, 0.3], 100.0), (2.0 + 4.0, 0.25));
        assert_eq!(queue(&[0.5, 0.3], 3.0), (2.0 + 3.0, 0.25));
        assert_eq!(queue(&[0.0, 0.0], 3.0), (5.0, 0.0));
        let one = Busy { background: 0.5, ..busy("disk 0", 1.0) };
        let found = of_kind("disk", &[one, busy("disk 1", 0.2)], 0.0).queue.expect("it is counted");
        assert_eq!(found.background, 0.5, "of the one that stands out alone");
    }

    #[test]
    fn a_virtual_array_is_told_by_its_kinds_the_fullest_first() {
        let components = vec![
            component("disk 0", 0.2, 0),
            component("disk 1", 0.4, 0),
            component("controller 0 bus", 0.5, 0),
        ];
        let classes = vec![
            class(Behalf::HostRead, "disk 0", 1_000, 10e6, 5e6),
            class(Behalf::Prefetch, "disk 1", 1_000, 90e6, 5e6),
            class(Behalf::HostRead, "controller 0 bus", 1_000, 0.0, 5e6),
        ];
        let point = modelled(components, classes);
        let found = of_breakdown(&point);
        let names: Vec<&str> = found.iter().map(|one| one.part.as_str()).collect();
        assert_eq!(names, ["controller 0 bus", "disks"]);
        // Of eight in flight 1.5 are at the first disk and 0.5 at the bus; the others may wait for reads ahead.
        let loads: Vec<f64> = found.iter().filter_map(|one| one.queue).map(|queue| queue.load).collect();
        assert_eq!(loads, [0.0, 1.0 + 6.0]);
        assert_eq!(of_breakdown(&Point { breakdown: None, ..point }), []);
    }
}
