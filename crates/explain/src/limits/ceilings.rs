//! The utilization of each part: against its ceiling, or by its busy time.

use std::collections::{BTreeMap, BTreeSet};

use record::names::ceiling;
use record::{Ceiling, ClassShare, Component, PathPart, Point, Run};
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
    class.op.starts_with("host-")
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
    class.op == "background"
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
    let sum = |of: fn(&Busy<'_>) -> f64| parts.iter().map(of).sum::<f64>();
    let mean = sum(|part| part.share) / parts.len() as f64;
    let fullest = parts.iter().copied().reduce(|most, one| if one.share > most.share { one } else { most });
    let (name, most) = fullest.map_or((kind, 0.0), |part| (part.name, part.share));
    // One of several that is full while the others are not is a limit of its own.
    let stands_out = parts.len() > 1 && most >= super::FULL && mean < super::FULL - 0.05;
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
