//! The utilization of each part: against its ceiling, or by its busy time.

use std::collections::{BTreeMap, BTreeSet};

use record::names::ceiling;
use record::{Behalf, Ceiling, ClassShare, Component, PathPart, Point, Run};
use units::{BytesPerSecond, OpsPerSecond};

use crate::draft::percent;
use crate::evidence::{mean, within};

/// The use of one part in one respect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    /// The part, or the parts of a kind together: `eth0`, `disks`.
    pub part: String,
    /// Of what: `busy`, `reads`, `writes`, `bandwidth`, `requests`, `queue`.
    pub what: String,
    /// Used over most, 0 to 1 and a little more.
    pub share: f64,
    /// Used and most in `unit`; `None` for busy time, which is a share by itself.
    pub amount: Option<(f64, f64)>,
    /// `bytes_per_s`, `per_s` or `count`.
    pub unit: String,
    /// Whether it is the mean of several parts that share the work evenly: then the fullest is fuller.
    pub is_even: bool,
    /// The evidence, for a sentence: the source of the ceiling, or how many parts.
    basis: String,
    /// What waits there; `None` where it is not counted.
    pub queue: Option<Queue>,
}

/// What waits at a part of a virtual array, and how much of its work is background work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Queue {
    /// Visits that wait on average: of requests, and of what a cache writes out and fetches ahead as far as requests
    /// may wait for it.
    pub load: f64,
    /// The share of the busy time that is background work: a rebuild, a verification.
    pub background: f64,
}

impl Use {
    /// `117 MB/s of reads, 99 % of its 118 MB/s (1000 Mb/s, …)`.
    pub(super) fn in_words(&self) -> String {
        let share = percent(self.share);
        match (self.amount, self.unit.as_str()) {
            (Some((used, most)), "bytes_per_s") => format!(
                "{} of {}, {share} of its {} ({})",
                BytesPerSecond::new(used),
                self.what,
                BytesPerSecond::new(most),
                self.basis
            ),
            (Some((used, most)), "per_s") => format!(
                "{}/s, {share} of its {}/s ({})",
                OpsPerSecond::new(used),
                OpsPerSecond::new(most),
                self.basis
            ),
            (Some((used, most)), _) => {
                format!("queue {share} full, {used:.1} of {most:.0} ({})", self.basis)
            }
            (None, _) => format!("utilization {share}{}", self.basis),
        }
    }

    /// `disks 72 % busy with 3.1 waiting`.
    pub(super) fn in_short(&self) -> String {
        let share = percent(self.share);
        match (self.what.as_str(), self.queue) {
            ("busy", Some(Queue { load, background })) => {
                let own = if background >= 0.1 {
                    format!(", {} of it background work,", percent(background))
                } else {
                    String::new()
                };
                format!("{} {share} busy{own} with {load:.1} waiting", self.part)
            }
            ("busy", None) => format!("{} {share} busy", self.part),
            (what, _) => format!("{} {share} ({what})", self.part),
        }
    }

    /// How near it is to being the bottleneck: what waits, and where that is not counted or nothing does, its use.
    pub(super) fn weight(&self) -> f64 {
        self.queue.map_or(0.0, |queue| queue.load) + self.share
    }

    /// A key for a number of this use.
    pub(super) fn key(&self, what: &str) -> String {
        let words = format!("{} {} {what}", self.part, self.what);
        words.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
    }
}

/// Every kind of part of a virtual array, the fullest first. Parts that differ by number alone are one kind: their mean
/// counts, and the fullest of them where it stands out.
pub(super) fn of_breakdown(point: &Point) -> Vec<Use> {
    let mut kinds: BTreeMap<String, Vec<Busy<'_>>> = BTreeMap::new();
    let elapsed_ns = point.ended_ns.saturating_sub(point.started_ns).max(1) as f64;
    let elsewhere = elsewhere(point, elapsed_ns);
    if let Some(breakdown) = &point.breakdown {
        let mut classes: BTreeMap<&str, Vec<&ClassShare>> = BTreeMap::new();
        breakdown.classes.iter().for_each(|one| classes.entry(&one.component).or_default().push(one));
        for part in &breakdown.components {
            let own = classes.get(part.name.as_str()).map_or(&[][..], Vec::as_slice);
            kinds.entry(kind(&part.name)).or_default().push(Busy::of(part, own, elapsed_ns));
        }
    }
    let mut uses: Vec<Use> =
        kinds.into_iter().map(|(kind, parts)| of_kind(&kind, &parts, elsewhere)).collect();
    sort(&mut uses);
    uses
}

/// Of the requests in flight those that are at no counted part: they are on the way, or wait for what a cache flushes
/// or reads ahead.
fn elsewhere(point: &Point, elapsed_ns: f64) -> f64 {
    let in_flight: f64 = point.workloads.iter().map(|workload| workload.mean_in_flight).sum();
    let classes = point.breakdown.iter().flat_map(|breakdown| &breakdown.classes);
    let of_load = classes.filter(|one| is_of_load(one) && has_ended(one, elapsed_ns));
    let at_parts: f64 = of_load.map(|one| (one.wait_ns + one.service_ns) * one.visits as f64).sum();
    (in_flight - at_parts / elapsed_ns).max(0.0)
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
        Busy { name: &part.name, share: part.utilisation, waiting, for_cache, background }
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
    // One of several that is full while the others are not is a limit of its own.
    let stands_out = most >= super::FULL && mean < super::FULL - 0.05;
    let (part, share, basis) = match (parts.len(), stands_out) {
        (1, _) => (name.to_owned(), most, String::new()),
        (_, true) => {
            (name.to_owned(), most, format!(", {} on average of all {}", percent(mean), parts.len()))
        }
        (count, false) => (plural(kind), mean, format!(" on average of {count}, highest {}", percent(most))),
    };
    let (busy, background) = match fullest.filter(|_| stands_out) {
        Some(one) => (one.share, one.background),
        None => (sum(|part| part.share), sum(|part| part.background)),
    };
    let queue = Queue {
        // Of a thousand reads ahead that wait none is waited for by more requests than there are.
        load: sum(|part| part.waiting) + sum(|part| part.for_cache).min(elsewhere),
        background: if busy > 0.0 { background / busy } else { 0.0 },
    };
    let is_even = parts.len() > 1 && !stands_out;
    let what = "busy".into();
    Use { part, what, share, amount: None, unit: "share".into(), is_even, basis, queue: Some(queue) }
}

/// Every part of the path that has a ceiling and is counted, the fullest first.
///
/// A part that the kernel does not count carries what the counted parts above it carry together.
pub(super) fn of_path(run: &Run, point: &Point) -> Vec<Use> {
    let counts = Counts::new(run, point);
    let mut uses = Vec::new();
    for part in counts.parts.values() {
        let Some(carried) = counts.carried(part) else { continue };
        uses.extend(part.ceilings.iter().flat_map(|ceiling| against(part, ceiling, &carried)));
    }
    uses.extend(counts.parts.values().filter_map(|part| counts.busy(part)));
    sort(&mut uses);
    uses
}

/// The fullest first; a full queue after whatever else is full, as the one follows from the other.
fn sort(uses: &mut [Use]) {
    let only_waits = |one: &Use| one.what == "queue" || one.share < super::FULL;
    uses.sort_by(|one, other| {
        only_waits(one).cmp(&only_waits(other)).then(other.share.total_cmp(&one.share))
    });
}

/// What one part carried on average in the measured window.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    read_bytes: f64,
    write_bytes: f64,
    requests: f64,
    in_flight: f64,
}

fn against(part: &PathPart, ceiling: &Ceiling, carried: &Carried) -> Vec<Use> {
    let made = |what: &str, used: f64, unit: &str| Use {
        part: part.name.clone(),
        what: what.into(),
        share: used / ceiling.value,
        amount: Some((used, ceiling.value)),
        unit: unit.into(),
        is_even: false,
        basis: ceiling.basis.clone(),
        queue: None,
    };
    match ceiling.what.as_str() {
        _ if ceiling.value <= 0.0 => Vec::new(),
        ceiling::BANDWIDTH if ceiling.each_way => vec![
            made("reads", carried.read_bytes, "bytes_per_s"),
            made("writes", carried.write_bytes, "bytes_per_s"),
        ],
        ceiling::BANDWIDTH => {
            vec![made("reads and writes", carried.read_bytes + carried.write_bytes, "bytes_per_s")]
        }
        ceiling::REQUESTS => vec![made("requests", carried.requests, "per_s")],
        ceiling::IN_FLIGHT => vec![made("queue", carried.in_flight, "count")],
        _ => Vec::new(),
    }
}

struct Counts<'a> {
    point: &'a Point,
    window: (u64, u64),
    /// Each part once, by its name.
    parts: BTreeMap<&'a str, &'a PathPart>,
    /// For each part the nearest parts above it, or itself, that are counted.
    counted: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Counts<'a> {
    fn new(run: &'a Run, point: &'a Point) -> Counts<'a> {
        let from = point.workloads.iter().map(|workload| workload.measured_from_ns).min();
        let until = point
            .workloads
            .iter()
            .map(|workload| workload.measured_from_ns.saturating_add(workload.measured_ns));
        let window = (from.unwrap_or(point.started_ns), until.max().unwrap_or(point.ended_ns));
        let mut parts: BTreeMap<&str, &PathPart> = BTreeMap::new();
        for part in run.path.iter().flat_map(PathPart::all).filter(|part| !part.repeated) {
            parts.entry(&part.name).or_insert(part);
        }
        let mut counts = Counts { point, window, parts, counted: BTreeMap::new() };
        let mut waiting: Vec<(&PathPart, Option<&str>)> = run.path.iter().map(|part| (part, None)).collect();
        let mut seen: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
        while let Some((part, above)) = waiting.pop() {
            let part = counts.parts.get(part.name.as_str()).copied().unwrap_or(part);
            let own = counts.is_counted(part).then_some(part.name.as_str());
            let by = own.or(above);
            if !seen.insert((&part.name, by)) {
                continue;
            }
            counts.counted.entry(&part.name).or_default().extend(by);
            waiting.extend(part.below.iter().map(|below| (below, by)));
        }
        counts
    }

    fn is_counted(&self, part: &PathPart) -> bool {
        ["read_bytes_per_s", "received_bytes_per_s"].iter().any(|what| self.value(part, what).is_some())
    }

    fn value(&self, part: &PathPart, what: &str) -> Option<f64> {
        let name = format!("{}.{what}", part.series.as_ref()?);
        let series =
            self.point.series.iter().find(|series| series.workload.is_none() && series.name == name)?;
        mean(&within(series, self.window.0, self.window.1))
    }

    fn of(&self, part: &PathPart) -> Carried {
        let either =
            |one: &str, other: &str| self.value(part, one).or_else(|| self.value(part, other)).unwrap_or(0.0);
        Carried {
            read_bytes: either("read_bytes_per_s", "received_bytes_per_s"),
            write_bytes: either("write_bytes_per_s", "sent_bytes_per_s"),
            requests: either("reads_per_s", "read_ops_per_s") + either("writes_per_s", "write_ops_per_s"),
            in_flight: self.value(part, "queue_mean").unwrap_or(0.0),
        }
    }

    /// `None` where nothing above it is counted.
    fn carried(&self, part: &PathPart) -> Option<Carried> {
        let by = self.counted.get(part.name.as_str()).filter(|by| !by.is_empty())?;
        let all = by.iter().filter_map(|name| self.parts.get(name)).map(|part| self.of(part));
        all.reduce(|sum, one| Carried {
            read_bytes: sum.read_bytes + one.read_bytes,
            write_bytes: sum.write_bytes + one.write_bytes,
            requests: sum.requests + one.requests,
            in_flight: sum.in_flight + one.in_flight,
        })
    }

    /// A rotating disk does one thing at a time: while it is busy it is full. What serves several at once is busy long
    /// before that, and so are LUNs, maps and partitions, whatever they say of themselves.
    fn busy(&self, part: &PathPart) -> Option<Use> {
        let one_at_a_time = part.ceilings.iter().any(|ceiling| ceiling.what == ceiling::ONE_AT_A_TIME);
        let share = one_at_a_time.then(|| self.value(part, "busy")).flatten()?;
        let basis = ", and it serves one request at a time".into();
        Some(Use {
            part: part.name.clone(),
            what: "busy".into(),
            share,
            amount: None,
            unit: "share".into(),
            is_even: false,
            basis,
            queue: None,
        })
    }
}

/// A part that is so busy, with what waits there and the share of background work.
#[cfg(test)]
pub(super) fn busy(part: &str, share: f64, load: f64, background: f64) -> Use {
    Use {
        part: part.into(),
        what: "busy".into(),
        share,
        amount: None,
        unit: "share".into(),
        is_even: false,
        basis: String::new(),
        queue: Some(Queue { load, background }),
    }
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};
    use record::{Breakdown, Series};

    use super::super::FULL;
    use super::*;

    /// Nanoseconds of the points here.
    const ELAPSED: f64 = 10e9;

    fn used(part: &str, what: &str, share: f64) -> Use {
        Use {
            part: part.into(),
            what: what.into(),
            share,
            amount: None,
            unit: "share".into(),
            is_even: false,
            basis: String::new(),
            queue: None,
        }
    }

    #[test]
    fn a_use_is_told_by_its_unit() {
        let told = |unit: &str, used_of: f64, most: f64| {
            let basis = "as given".into();
            Use {
                amount: Some((used_of, most)),
                unit: unit.into(),
                basis,
                ..used("eth0", "reads", used_of / most)
            }
            .in_words()
        };
        assert_eq!(told("bytes_per_s", 117e6, 118e6), "117 MB/s of reads, 99 % of its 118 MB/s (as given)");
        assert_eq!(told("per_s", 500.0, 1_000.0), "500/s, 50 % of its 1,000/s (as given)");
        assert_eq!(told("count", 24.04, 32.0), "queue 75 % full, 24.0 of 32 (as given)");
        assert_eq!(
            Use { basis: ", by test".into(), ..used("sda", "busy", 0.5) }.in_words(),
            "utilization 50 %, by test"
        );
    }

    #[test]
    fn in_short_a_use_names_what_waits_and_background_work_from_a_tenth_on() {
        let queued =
            |background| Use { queue: Some(Queue { load: 3.12, background }), ..used("disks", "busy", 0.72) };
        assert_eq!(queued(0.099).in_short(), "disks 72 % busy with 3.1 waiting");
        assert_eq!(queued(0.1).in_short(), "disks 72 % busy, 10 % of it background work, with 3.1 waiting");
        assert_eq!(used("sda", "busy", 0.72).in_short(), "sda 72 % busy");
        assert_eq!(used("eth0", "reads", 0.72).in_short(), "eth0 72 % (reads)");
        assert_eq!((queued(0.0).weight(), used("sda", "busy", 0.72).weight()), (3.12 + 0.72, 0.72));
        assert_eq!(used("pci 0:3b", "reads and writes", 0.1).key("share"), "pci_0_3b_reads_and_writes_share");
    }

    #[test]
    fn kinds_are_names_without_numbers_and_have_a_plural() {
        assert_eq!(
            ["controller 0 processor", "disk 17", "link 0 back"].map(kind),
            ["controller processor", "disk", "link back"]
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
        Component {
            name: name.into(),
            servers: 1,
            utilisation,
            mean_in_system: 0.0,
            visits: 1,
            wait_ns,
            service_ns: 0,
        }
    }

    /// A point of ten seconds with eight in flight.
    fn modelled(components: Vec<Component>, classes: Vec<ClassShare>) -> Point {
        let mut workload = sample::workload("main", &[]);
        workload.mean_in_flight = 5.0;
        let mut point = sample::point(0, "p", vec![workload.clone(), workload]);
        point.workloads[1].mean_in_flight = 3.0;
        (point.started_ns, point.ended_ns) = (5_000_000_000, 15_000_000_000);
        point.breakdown = Some(Breakdown { components, classes, shares: Vec::new() });
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
        assert_eq!(of(vec![class(Behalf::HostRead, "disk 0", 1, ELAPSED + 1.0, 0.0)]), 8.0, "it has not ended");
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
        Busy { name, share, waiting: 1.0, for_cache: 2.0, background: share / 4.0 }
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

    #[test]
    fn a_full_queue_comes_after_other_parts_that_are_full() {
        let mut uses = [
            ("a", "busy", 0.9),
            ("b", "queue", 1.2),
            ("c", "reads", FULL),
            ("d", "busy", 0.99),
            ("e", "busy", 0.94),
        ]
        .map(|(part, what, share)| used(part, what, share));
        sort(&mut uses);
        assert_eq!(uses.map(|one| one.part), ["d", "c", "b", "e", "a"]);
    }

    fn ceiling(what: &str, value: f64, each_way: bool) -> Ceiling {
        let (unit, basis, source) = ("x".into(), "as given".into(), "test".into());
        Ceiling { what: what.into(), value, unit, each_way, basis, source }
    }

    #[test]
    fn each_ceiling_is_held_against_what_it_limits() {
        let carried = Carried { read_bytes: 10.0, write_bytes: 30.0, requests: 5.0, in_flight: 2.0 };
        let of = |what: &str, value: f64, each_way: bool| -> Vec<(String, f64, String)> {
            let found = against(&PathPart::default(), &ceiling(what, value, each_way), &carried);
            assert!(found.iter().all(|one| one.amount.is_some_and(|(used, most)| used / most == one.share)));
            found.into_iter().map(|one| (one.what, one.share, one.unit)).collect()
        };
        let is = |what: &str, share: f64, unit: &str| (what.to_owned(), share, unit.to_owned());
        assert_eq!(
            of(ceiling::BANDWIDTH, 40.0, true),
            [is("reads", 0.25, "bytes_per_s"), is("writes", 0.75, "bytes_per_s")]
        );
        assert_eq!(of(ceiling::BANDWIDTH, 40.0, false), [is("reads and writes", 1.0, "bytes_per_s")]);
        assert_eq!(of(ceiling::REQUESTS, 10.0, false), [is("requests", 0.5, "per_s")]);
        assert_eq!(of(ceiling::IN_FLIGHT, 8.0, false), [is("queue", 0.25, "count")]);
        assert_eq!(of(ceiling::REQUEST_SIZE, 8.0, false), []);
        assert_eq!((of(ceiling::REQUESTS, 0.0, false), of(ceiling::REQUESTS, -1.0, false)), (vec![], vec![]));
    }

    fn part(name: &str, is_counted: bool, ceilings: Vec<Ceiling>, below: Vec<PathPart>) -> PathPart {
        let series = is_counted.then(|| name.to_owned());
        PathPart { name: name.into(), series, ceilings, below, ..PathPart::default() }
    }

    /// Two loads that are measured from 2 s to 8 s, and what the parts counted each second up to 10 s: the value of the
    /// window, and a hundred outside of it.
    fn counted(path: Vec<PathPart>, counts: &[(&str, f64)]) -> Run {
        let stream = Stream { op: "read", size_bytes: 4096, per_s: 100, median_ns: 1_000, spread: 0.0 };
        let mut workload = sample::workload("main", &[stream]);
        (workload.measured_from_ns, workload.measured_ns) = (2_000_000_000, 3_000_000_000);
        let mut later = workload.clone();
        later.measured_from_ns = 5_000_000_000;
        let mut point = sample::point(0, "p", vec![later, workload]);
        let series = |(name, value): &(&str, f64)| Series {
            name: (*name).into(),
            unit: "per_s".into(),
            workload: None,
            source: "test".into(),
            from_ns: Some(0),
            at_ns: (1..=10).map(|second| second * 1_000_000_000).collect(),
            values: (1..=10).map(|second| if (3..=8).contains(&second) { *value } else { 100.0 }).collect(),
            absent: None,
        };
        point.series = counts.iter().map(series).collect();
        let own = Series { workload: Some("main".into()), ..series(&("a.read_bytes_per_s", 77.0)) };
        point.series.insert(0, own);
        let mut run = sample::run("quick", vec![point]);
        run.path = path;
        run
    }

    fn shares(run: &Run) -> Vec<(String, String, f64)> {
        of_path(run, &run.points[0]).into_iter().map(|one| (one.part, one.what, one.share)).collect()
    }

    #[test]
    fn a_part_is_held_against_its_ceilings_by_what_it_carried_in_the_window() {
        let ceilings = || {
            vec![
                ceiling(ceiling::BANDWIDTH, 100.0, true),
                ceiling(ceiling::REQUESTS, 10.0, false),
                ceiling(ceiling::IN_FLIGHT, 10.0, false),
                ceiling(ceiling::ONE_AT_A_TIME, 10.0, false),
            ]
        };
        let is = |share: f64, what: &str| ("a".to_owned(), what.to_owned(), share);
        let expected =
            [is(0.75, "requests"), is(0.5, "reads"), is(0.25, "writes"), is(0.125, "busy"), is(0.1, "queue")];
        let disk = [
            ("a.read_bytes_per_s", 50.0),
            ("a.write_bytes_per_s", 25.0),
            ("a.reads_per_s", 5.0),
            ("a.writes_per_s", 2.5),
            ("a.queue_mean", 1.0),
            ("a.busy", 0.125),
        ];
        assert_eq!(shares(&counted(vec![part("a", true, ceilings(), vec![])], &disk)), expected);
        let link = [
            ("a.received_bytes_per_s", 50.0),
            ("a.sent_bytes_per_s", 25.0),
            ("a.read_ops_per_s", 5.0),
            ("a.write_ops_per_s", 2.5),
            ("a.queue_mean", 1.0),
            ("a.busy", 0.125),
        ];
        assert_eq!(shares(&counted(vec![part("a", true, ceilings(), vec![])], &link)), expected);
        assert_eq!(
            shares(&counted(vec![part("a", false, ceilings(), vec![])], &disk)),
            [],
            "it has no series"
        );
        assert_eq!(
            shares(&counted(vec![part("a", true, ceilings(), vec![])], &disk[1..2])),
            [],
            "none are its reads"
        );
        let no_disk = vec![ceiling(ceiling::REQUESTS, 10.0, false)];
        assert_eq!(
            shares(&counted(vec![part("a", true, no_disk, vec![])], &disk)),
            [is(0.75, "requests")],
            "what serves several at once is not full while it is busy"
        );
    }

    #[test]
    fn a_part_that_is_not_counted_carries_what_the_nearest_counted_ones_above_it_carry() {
        let bandwidth =
            || vec![ceiling(ceiling::BANDWIDTH, 100.0, false), ceiling(ceiling::REQUESTS, 100.0, false)];
        let bus = || {
            part(
                "bus",
                false,
                [bandwidth(), vec![ceiling(ceiling::IN_FLIGHT, 100.0, false)]].concat(),
                vec![],
            )
        };
        let again = PathPart { repeated: true, ceilings: Vec::new(), ..bus() };
        let path = vec![part(
            "top",
            true,
            Vec::new(),
            vec![part("a", true, Vec::new(), vec![bus()]), part("b", true, Vec::new(), vec![again])],
        )];
        let counts = [
            ("top.read_bytes_per_s", 99.0),
            ("a.read_bytes_per_s", 10.0),
            ("a.write_bytes_per_s", 2.0),
            ("a.reads_per_s", 3.0),
            ("a.queue_mean", 1.0),
            ("b.read_bytes_per_s", 20.0),
            ("b.write_bytes_per_s", 5.0),
            ("b.writes_per_s", 4.0),
            ("b.queue_mean", 2.0),
        ];
        let is = |share: f64, what: &str| ("bus".to_owned(), what.to_owned(), share);
        let expected = [is(0.37, "reads and writes"), is(0.07, "requests"), is(0.03, "queue")];
        assert_eq!(shares(&counted(path, &counts)), expected);
        assert_eq!(shares(&counted(vec![bus()], &counts)), [], "nothing above it is counted");
    }
}
