//! Evidence in a record that more than one finding uses.

use std::collections::BTreeSet;

use record::names::fact;
use record::{Cache, Engine, Histogram, Op, PathPart, Point, Run, Series, Target, WorkloadResult};
use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES};

/// Whether every target is `null:`, or every request went to the null engine.
pub(crate) fn on_nothing(run: &Run) -> bool {
    let mut workloads = run.points.iter().flat_map(|point| &point.workloads).peekable();
    let no_target = !run.targets.is_empty() && run.targets.iter().all(|target| target.kind == "null");
    no_target || workloads.peek().is_some() && workloads.all(|workload| workload.engine.name == Engine::Null)
}

/// What `key` of a virtual array's description is, as its first target has it: `round-robin` of `host.multipath`; `None` where it is not
/// told.
pub(crate) fn setting<'r>(run: &'r Run, key: &str) -> Option<&'r str> {
    settings(run).find_map(|one| one.strip_prefix(key)?.strip_prefix(" = "))
}

/// Whether a virtual array's description has `key`, or keys in it.
pub(crate) fn has_setting(run: &Run, key: &str) -> bool {
    settings(run).any(|one| one.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.'])))
}

fn settings(run: &Run) -> impl Iterator<Item = &str> {
    let told = run.targets.first().and_then(|target| target.facts.get(fact::DESCRIPTION));
    told.into_iter().flat_map(|text| text.split("; "))
}

/// Whether requests passed by the page cache. Loads and stores on a mapping go through it whatever was requested.
pub(crate) fn is_direct(workload: &WorkloadResult) -> bool {
    match workload.engine.name {
        Engine::Mmap => false,
        // A socket has no page cache on this side, and the null engine asks none.
        Engine::Nbd | Engine::Null => true,
        _ => workload.spec.direct,
    }
}

/// Whether its requests were commands past the block layer, which never meet the page cache.
pub(crate) fn sends_commands(workload: &WorkloadResult) -> bool {
    matches!(workload.engine.name, Engine::Sg | Engine::Nvme)
}

/// Bytes of all requests of `op` that completed without an error, from the start of the point. Requests of
/// the null engine move nothing, also beside workloads that ask storage.
pub(crate) fn moved(point: &Point, op: Op) -> u64 {
    let asks = |workload: &&WorkloadResult| workload.engine.name != Engine::Null;
    let totals = point.workloads.iter().filter(asks).flat_map(|workload| &workload.totals);
    totals.filter(|total| total.op == op).map(|total| total.bytes).sum()
}

/// Bytes a workload moved by `op` from the start.
pub(crate) fn moved_by(workload: &WorkloadResult, op: Op) -> u64 {
    workload.totals.iter().filter(|total| total.op == op).map(|total| total.bytes).sum()
}

/// How often a state wrote the whole target; 0 for what is no `prepare`, did not end, or only made the files.
pub(crate) fn fills(state: &Point) -> u32 {
    let times = state.state.get("fill").and_then(|fill| fill.parse().ok());
    times.filter(|_| state.complete).unwrap_or(0)
}

/// All known caches of the storage: detected, reported by the device, or given by the user with the parts of the path.
pub(crate) fn known_caches(run: &Run) -> Vec<Cache> {
    (0..run.targets.len()).flat_map(|number| caches_of(run, number)).collect()
}

/// Those of target number `number`.
pub(crate) fn caches_of(run: &Run, number: usize) -> Vec<Cache> {
    let own = run.targets.get(number).into_iter().flat_map(|target| target.caches.clone());
    let given = |part: &PathPart| {
        let size = part.facts.get(fact::CACHE)?.parse::<Bytes>().ok()?;
        Some(Cache { name: format!("cache of {}", part.name), size_bytes: size.get() })
    };
    let parts = run.path.get(number).into_iter().flat_map(PathPart::all);
    own.chain(parts.filter_map(given)).collect()
}

/// What the kernel counted of the devices of the targets.
pub(crate) struct Counted {
    pub devices: usize,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

/// From how many hosts a load came.
pub(crate) fn hosts(point: &Point) -> usize {
    let hosts: BTreeSet<&str> = point.ranks.iter().map(|rank| rank.host.as_str()).collect();
    hosts.len().max(1)
}

/// `None` where nothing was counted, as for remote storage and memory, where commands passed the block layer by, which counts none
/// of them, and where several hosts drove the load: the counters are those of one.
pub(crate) fn counted(point: &Point) -> Option<Counted> {
    if hosts(point) > 1 || point.workloads.iter().any(sends_commands) {
        return None;
    }
    let devices: Vec<_> = point.devices.iter().filter(|device| device.relation == "target").collect();
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
    (!devices.is_empty()).then(|| Counted {
        devices: devices.len(),
        read_bytes: devices.iter().map(|device| bytes(device.read_sectors)).sum(),
        write_bytes: devices.iter().map(|device| bytes(device.write_sectors)).sum(),
    })
}

/// The values of the series `name` that belong to the machine, sampled within the point's time.
pub(crate) fn sampled<'a>(point: &'a Point, name: &str) -> Vec<f64> {
    let own = |series: &&'a Series| series.workload.is_none() && series.name == name;
    let series = point.series.iter().find(own);
    series.map(|series| within(series, point.started_ns, point.ended_ns)).unwrap_or_default()
}

/// Values of a series at most: as many seconds are 48 days, and a file may claim stretches of any length.
const VALUES_MOST: usize = 1 << 22;

/// Values of `series` whose stretches ended after `from` and no later than `until`. That of a stretch which is several
/// times as long as the shortest, as in an old part of a long load, is there as often.
pub(crate) fn within(series: &Series, from: u64, until: u64) -> Vec<f64> {
    let first = series.from_ns.unwrap_or(0);
    let began = std::iter::once(first).chain(series.at_ns.iter().copied());
    let mut lengths: Vec<u64> =
        series.at_ns.iter().zip(began).map(|(at, began)| at.saturating_sub(began)).collect();
    if let (None, Some(unknown)) = (series.from_ns, lengths.first_mut()) {
        *unknown = 0;
    }
    let shortest = lengths.iter().copied().filter(|length| *length > 0).min().unwrap_or(1);
    let times = |length: u64| length.saturating_add(shortest / 2) / shortest;
    let all = series.at_ns.iter().zip(&series.values).zip(lengths);
    let own = all.filter(|((at, _), _)| **at > from && **at <= until);
    own.flat_map(|((_, value), length)| std::iter::repeat_n(*value, narrow::<usize>(times(length).max(1))))
        .take(VALUES_MOST)
        .collect()
}

/// `None` for no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The first and the last third of `values`; `None` for fewer than six.
pub(crate) fn outer_thirds(values: &[f64]) -> Option<(&[f64], &[f64])> {
    let third = values.len() / 3;
    debug_assert!(2 * third <= values.len(), "no value is in both");
    (third >= 2).then(|| (&values[..third], &values[values.len() - third..]))
}

/// The type of the file system of a target; `None` for devices and where it is not known.
pub(crate) fn file_system(target: &Target) -> Option<&str> {
    target.facts.get(fact::FILE_SYSTEM).map(String::as_str)
}

/// How long a point took in seconds.
pub(crate) fn took_s(point: &Point) -> f64 {
    point.ended_ns.saturating_sub(point.started_ns) as f64 / 1e9
}

/// All requests together; `None` where there are none.
pub(crate) fn merged<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Option<stats::Histogram> {
    histograms.filter_map(Histogram::to_stats).reduce(|mut sum, one| {
        sum.merge(&one);
        sum
    })
}

#[cfg(test)]
mod tests {
    use record::sample::{self, Stream};

    use super::*;

    fn run() -> Run {
        let stream = |op| Stream { op, size_bytes: 4096, per_s: 1_000, median_ns: 400_000, spread: 0.5 };
        let workloads = vec![
            sample::workload("a", &[stream("read"), stream("write")]),
            sample::workload("b", &[stream("read")]),
        ];
        sample::run("quick", vec![sample::point(0, "p", workloads)])
    }

    fn series(from_ns: Option<u64>, at_ns: &[u64], values: &[f64]) -> Series {
        Series {
            name: "x".into(),
            unit: "share".into(),
            workload: None,
            source: "test".into(),
            from_ns,
            at_ns: at_ns.to_vec(),
            values: values.to_vec(),
            absent: None,
        }
    }

    #[test]
    fn values_count_that_ended_within_and_long_stretches_as_often_as_they_are_long() {
        let even = series(Some(0), &[10, 20, 30, 40], &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(within(&even, 0, 40), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(within(&even, 10, 30), [2.0, 3.0], "after the start, and no later than the end");
        assert_eq!(within(&even, 9, 29), [1.0, 2.0]);
        let old = series(Some(0), &[30, 40, 50], &[1.0, 2.0, 3.0]);
        assert_eq!(within(&old, 0, 50), [1.0, 1.0, 1.0, 2.0, 3.0]);
        // Rounded: 14 is once ten, 15 and 16 twice.
        for (length, times) in [(14, 1), (15, 2), (16, 2), (25, 3)] {
            let one = series(Some(0), &[10, 10 + length], &[1.0, 2.0]);
            assert_eq!(within(&one, 0, 99).len(), 1 + times, "{length}");
        }
        // Where the first stretch began is not known: it counts once, however late it ended.
        assert_eq!(within(&series(None, &[500, 510, 520], &[1.0, 2.0, 3.0]), 0, 999), [1.0, 2.0, 3.0]);
        assert_eq!(within(&series(None, &[], &[]), 0, 999), [] as [f64; 0]);
        assert_eq!(within(&series(Some(7), &[7], &[1.0]), 0, 9), [1.0], "a stretch of no length is one");
    }

    #[test]
    fn a_stretch_that_a_file_claims_to_be_of_centuries_takes_no_more_memory_than_days() {
        let claimed = series(Some(0), &[1, u64::MAX], &[1.0, 2.0]);
        assert_eq!(within(&claimed, 0, u64::MAX).len(), VALUES_MOST);
    }

    #[test]
    fn thirds_need_two_values_each_and_a_mean_one() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        assert_eq!(outer_thirds(&values), Some((&values[..2], &values[6..])));
        assert_eq!(outer_thirds(&values[..6]), Some((&values[..2], &values[4..6])));
        assert_eq!(outer_thirds(&values[..5]), None);
        assert_eq!((mean(&values), mean(&[])), (Some(3.5), None));
    }

    #[test]
    fn what_was_moved_is_summed_by_operation_over_one_workload_or_all() {
        let run = run();
        let (point, each) = (&run.points[0], 30_000 * 4096);
        assert_eq!(
            (moved(point, Op::Read), moved(point, Op::Write), moved(point, Op::Trim)),
            (2 * each, each, 0)
        );
        assert_eq!(moved_by(&point.workloads[0], Op::Read), each);
        assert_eq!(moved_by(&point.workloads[1], Op::Write), 0);
        assert_eq!(took_s(point), 31.0);
    }

    #[test]
    fn what_goes_nowhere_beside_a_workload_that_asks_storage_was_not_moved() {
        let mut run = run();
        run.points[0].workloads[1].engine.name = Engine::Null;
        run.points[0].workloads[1].spec.direct = false;
        let (point, each) = (&run.points[0], 30_000 * 4096);
        assert_eq!((moved(point, Op::Read), moved(point, Op::Write)), (each, each));
        assert!(point.workloads.iter().all(is_direct));
    }

    #[test]
    fn devices_that_were_asked_are_counted_and_their_members_are_not() {
        let mut run = run();
        let mut member = run.points[0].devices[0].clone();
        member.relation = "member".into();
        run.points[0].devices.push(member);
        let seen = counted(&run.points[0]).expect("one is counted");
        let each = 30_000 * 4096;
        assert_eq!((seen.devices, seen.read_bytes, seen.write_bytes), (1, 2 * each, each));
        run.points[0].workloads[0].engine.name = Engine::Sg;
        assert!(counted(&run.points[0]).is_none(), "the kernel counts none of its commands");
        run.points[0].workloads[0].engine.name = Engine::Pread;
        run.points[0].devices.remove(0);
        assert!(counted(&run.points[0]).is_none());
    }

    #[test]
    fn direct_is_what_was_asked_for_unless_the_engine_cannot() {
        let mut run = run();
        let workload = &mut run.points[0].workloads[0];
        assert!(is_direct(workload));
        workload.spec.direct = false;
        assert!(!is_direct(workload));
        workload.spec.direct = true;
        workload.engine.name = Engine::Mmap;
        assert!(!is_direct(workload));
    }

    #[test]
    fn nothing_was_asked_where_every_target_or_every_engine_is_null() {
        let mut run = run();
        assert!(!on_nothing(&run));
        run.points[0].workloads[0].engine.name = Engine::Null;
        assert!(!on_nothing(&run), "the other workload asked something");
        run.points[0].workloads[1].engine.name = Engine::Null;
        assert!(on_nothing(&run));
        let mut run = self::run();
        run.targets[0].kind = "null".into();
        assert!(on_nothing(&run));
        let other = Target { kind: "block".into(), ..run.targets[0].clone() };
        run.targets.push(other);
        assert!(!on_nothing(&run));
        run.targets.clear();
        assert!(!on_nothing(&run));
        run.points.clear();
        assert!(!on_nothing(&run));
    }

    #[test]
    fn a_state_filled_the_target_as_often_as_it_says_if_it_ended() {
        let mut state = run().points.remove(0);
        assert_eq!(fills(&state), 0);
        state.state.insert("fill".into(), "2".into());
        assert_eq!(fills(&state), 2);
        state.complete = false;
        assert_eq!(fills(&state), 0);
    }

    #[test]
    fn caches_are_those_of_the_target_and_of_the_parts_of_its_path() {
        let mut run = run();
        assert_eq!(known_caches(&run), []);
        run.targets[0].caches = vec![Cache { name: "seen".into(), size_bytes: 7 }];
        let part = |name: &str, cache: &str| PathPart {
            name: name.into(),
            facts: [(fact::CACHE.to_owned(), cache.to_owned())].into(),
            ..PathPart::default()
        };
        run.path = vec![PathPart { below: vec![part("box", "2 GiB")], ..part("disk", "unknown") }];
        let names = |caches: Vec<Cache>| -> Vec<(String, u64)> {
            caches.into_iter().map(|cache| (cache.name, cache.size_bytes)).collect()
        };
        let expected = [("seen".to_owned(), 7), ("cache of box".to_owned(), 2 << 30)];
        assert_eq!(names(caches_of(&run, 0)), expected);
        assert_eq!(names(known_caches(&run)), expected);
        assert_eq!(caches_of(&run, 1), []);
    }

    #[test]
    fn samples_of_the_machine_within_the_point_are_taken_and_those_of_workloads_are_not() {
        let mut run = run();
        let point = &mut run.points[0];
        (point.started_ns, point.ended_ns) = (10, 30);
        let own = series(Some(0), &[10, 20, 30, 40], &[1.0, 2.0, 3.0, 4.0]);
        let of_workload = Series { workload: Some("a".into()), values: vec![9.0; 4], ..own.clone() };
        point.series = vec![of_workload, own];
        assert_eq!(sampled(point, "x"), [2.0, 3.0]);
        assert_eq!(sampled(point, "y"), [] as [f64; 0]);
    }

    #[test]
    fn histograms_are_one_together_and_none_are_none() {
        let histogram = |count, ns| sample::responses(count, ns, 0.0);
        let (one, other) = (histogram(10, 500), histogram(30, 900));
        let all = merged([&one, &other].into_iter()).expect("there are two");
        assert_eq!((all.count(), all.mean()), (40, Some(800.0)));
        assert!(merged(std::iter::empty()).is_none());
    }
}
