//! Questions to a record that more than one finding asks.

use record::names::fact;
use record::{Cache, Histogram, PathPart, Point, Run, Series, Target, WorkloadResult};
use units::convert::narrow;
use units::{Bytes, SECTOR_BYTES};

/// Whether every target is `null:`, or every request was answered by nothing.
pub(crate) fn on_nothing(run: &Run) -> bool {
    let mut workloads = run.points.iter().flat_map(|point| &point.workloads).peekable();
    let no_target = !run.targets.is_empty() && run.targets.iter().all(|target| target.kind == "null");
    no_target || workloads.peek().is_some() && workloads.all(|workload| workload.engine.name == "null")
}

/// A key of the workload, as text.
pub(crate) fn key<'a>(workload: &'a WorkloadResult, key: &str) -> Option<&'a str> {
    workload.spec.get(key).map(String::as_str)
}

/// Whether requests bypassed the page cache, as far as this program asked for it; `None` where it is not known.
///
/// Loads and stores on a mapping go through the page cache whatever was asked.
pub(crate) fn is_direct(workload: &WorkloadResult) -> Option<bool> {
    if workload.engine.name == "mmap" {
        return Some(false);
    }
    key(workload, "direct").map(|direct| direct == "true")
}

/// Bytes of all requests of `op` that ended without an error, from the start of the point.
pub(crate) fn moved(point: &Point, op: &str) -> u64 {
    let totals = point.workloads.iter().flat_map(|workload| &workload.totals);
    totals.filter(|total| total.op == op).map(|total| total.bytes).sum()
}

/// Bytes a workload moved by `op` from the start.
pub(crate) fn moved_by(workload: &WorkloadResult, op: &str) -> u64 {
    workload.totals.iter().filter(|total| total.op == op).map(|total| total.bytes).sum()
}

/// How often a state wrote the whole target; 0 for what is no `prepare`, did not end, or only made the files.
pub(crate) fn fills(state: &Point) -> u32 {
    let times = state.state.get("fill").and_then(|fill| fill.parse().ok());
    times.filter(|_| state.complete).unwrap_or(0)
}

/// All caches below this machine that are known: seen, told by the device, or given by the user with the parts of the
/// path.
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

/// What the kernel counted of the devices that were asked first.
pub(crate) struct Counted {
    pub devices: usize,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

/// `None` where nothing was counted, as for remote storage and memory.
pub(crate) fn counted(point: &Point) -> Option<Counted> {
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
        .collect()
}

/// `None` for no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The first and the last third of `values`; `None` for fewer than six.
pub(crate) fn outer_thirds(values: &[f64]) -> Option<(&[f64], &[f64])> {
    let third = values.len() / 3;
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
