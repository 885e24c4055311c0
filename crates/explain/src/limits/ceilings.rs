//! The use of each part of the path to the media, against its ceilings.

use std::collections::{BTreeMap, BTreeSet};

use record::names::ceiling;
use record::{Ceiling, PathPart, Point, Run};

use super::usage::{Use, sort};
use crate::evidence::{mean, within};

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
        most: used / ceiling.value,
        amount: Some((used, ceiling.value)),
        unit: unit.into(),
        is_even: false,
        basis: ceiling.basis.clone(),
        inside: None,
        idle: None,
        is_slow: false,
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
            most: share,
            amount: None,
            unit: "share".into(),
            is_even: false,
            basis,
            inside: None,
            idle: None,
            is_slow: false,
            queue: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use record::Series;
    use record::sample::{self, Stream};

    use super::*;

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
