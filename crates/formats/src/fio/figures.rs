//! The figures of fio's reports, computed from a record.
//!
//! fio counts a request from its issue, whatever its pace: so do `clat` and `lat` of its own jobs, which are the same
//! because `slat`, what a submission takes, is not measured, as with fio's synchronous engines. Of any other plan
//! whose requests fall due by a schedule `lat` counts from the due instant and `slat` is the time between, so that the
//! three add up.

use std::collections::BTreeMap;

use record::{Engine, Op, Point, PointKind, Run, WorkloadResult};
use units::Nanos;
use units::convert::truncated;

use super::steady::Attained;
use super::unified::Unified;
use super::value::KbBase;
use crate::point::is_in_order;

/// fio's own list.
pub(super) const PERCENTILES: [f64; 17] =
    [1., 5., 10., 20., 30., 40., 50., 60., 70., 80., 90., 95., 99., 99.5, 99.9, 99.95, 99.99];
ascending!(PERCENTILES, "percentiles come from the lowest up");

/// One entry of a report: a job, or the jobs of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub name: String,
    pub description: Option<String>,
    pub group: u32,
    /// How many jobs it stands for.
    pub jobs: u64,
    pub error: i32,
    pub options: Vec<(String, String)>,
    pub percentiles: Percentiles,
    /// Reads, writes, trims.
    pub directions: [Direction; 3],
    /// Whether they are told as one.
    pub unified: Unified,
    pub syncs: stats::Histogram,
    pub runtime_ms: u64,
    /// Seconds since the start of the run.
    pub elapsed_s: u64,
    /// Milliseconds since the epoch.
    pub started_ms: u64,
    pub user_percent: f64,
    /// Context switches and page faults of all of its workers; none where the record does not have them.
    pub counts: record::TaskCounts,
    pub system_percent: f64,
    /// What `latency_target` asked for.
    pub target: Target,
    /// The window of `steadystate`.
    pub steady: Option<Attained>,
    /// The most requests of one job that may be in flight.
    pub queue: u32,
    /// How many were in flight, went out and came back together.
    pub together: record::Together,
    /// Requests that failed, and the number of the first error, where the job was to go on after errors.
    pub failed: Option<(u64, i32)>,
    /// Zones that its writes reset; `None` where it has none.
    pub zone_resets: Option<u64>,
    /// By what large figures are divided first.
    pub base: KbBase,
    /// Whether rates are in bits (`unit_base=1`).
    pub tells_bits: bool,
}

/// A latency that a part of the requests is to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub ns: u64,
    pub percent: f64,
    pub window_us: u64,
    /// The depth that its search came to; `None` without one.
    pub depth: Option<u32>,
}

impl Default for Target {
    fn default() -> Target {
        Target { ns: 0, percent: 100.0, window_us: 0, depth: None }
    }
}

/// Which percentiles are shown, and of what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Percentiles {
    pub list: Vec<f64>,
    pub slat: bool,
    pub clat: bool,
    pub lat: bool,
}

impl Default for Percentiles {
    fn default() -> Percentiles {
        Percentiles { list: PERCENTILES.to_vec(), slat: false, clat: true, lat: false }
    }
}

/// One operation of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub requests: u64,
    pub bytes: u64,
    pub runtime_ms: u64,
    pub slat: stats::Histogram,
    pub clat: stats::Histogram,
    pub lat: stats::Histogram,
    /// KiB a second, for each whole second.
    pub bandwidth: Samples,
    pub rate: Samples,
    /// The mean response in nanoseconds.
    pub mean_ns: Samples,
    /// Bytes a second of all jobs of the group together.
    pub of_group: u64,
}

/// A figure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Samples(pub Vec<f64>);

impl Samples {
    pub(super) fn mean(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.iter().sum::<f64>() / self.0.len() as f64 }
    }

    /// Of a sample, as fio's.
    pub(super) fn deviation(&self) -> f64 {
        if self.0.len() < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (self.0.len() - 1) as f64).sqrt()
    }

    pub(super) fn least(&self) -> u64 {
        if self.0.is_empty() {
            0
        } else {
            truncated::<u64>(self.0.iter().copied().fold(f64::INFINITY, f64::min))
        }
    }

    pub(super) fn most(&self) -> u64 {
        truncated::<u64>(self.0.iter().copied().fold(0.0, f64::max))
    }
}

impl Direction {
    /// Requests a second.
    pub(super) fn per_second(&self) -> f64 {
        if self.runtime_ms == 0 { 0.0 } else { self.requests as f64 * 1000.0 / self.runtime_ms as f64 }
    }

    /// How much the mean of its seconds is of what the group moves, in percent.
    pub(super) fn part_of_group(&self) -> f64 {
        if self.of_group == 0 {
            return 0.0;
        }
        (self.bandwidth.mean() * 1024.0 * 100.0 / self.of_group as f64).min(100.0)
    }

    /// Takes in what was done afterwards.
    fn add(&mut self, later: &Direction) {
        self.requests += later.requests;
        self.bytes += later.bytes;
        self.runtime_ms += later.runtime_ms;
        self.slat.merge(&later.slat);
        self.clat.merge(&later.clat);
        self.lat.merge(&later.lat);
        let pairs = [
            (&mut self.bandwidth, &later.bandwidth),
            (&mut self.rate, &later.rate),
            (&mut self.mean_ns, &later.mean_ns),
        ];
        for (samples, later) in pairs {
            samples.0.extend(&later.0);
        }
    }

    pub(super) fn bytes_per_second(&self) -> u64 {
        match self.runtime_ms {
            0 => 0,
            ms => u64::try_from(u128::from(self.bytes) * 1000 / u128::from(ms)).unwrap_or(u64::MAX),
        }
    }
}

/// Since when `lat` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// A request was due, which may be before its issue where a schedule says so.
    Due,
    /// It was issued.
    Issue,
}

/// What is done to files and their names stands among the reads, which is what fio's jobs are unless they say another.
const OF_FILES: [Op; 3] = [Op::Create, Op::Stat, Op::Delete];

/// The load points of a run, in order.
pub(super) fn loads(run: &Run) -> impl Iterator<Item = &Point> {
    run.points.iter().filter(|point| point.kind == PointKind::Load)
}

impl Entry {
    /// The depth that a search of `latency_target` came to, or the one that was given.
    pub(super) fn latency_depth(&self) -> u32 {
        self.target.depth.map_or(self.queue, |depth| depth.min(self.queue))
    }

    /// The figures of `workloads` of `point` together.
    pub(super) fn of(run: &Run, point: &Point, workloads: &[&WorkloadResult], since: Since) -> Entry {
        let mut directions = [Op::Read, Op::Write, Op::Trim].map(|op| direction(point, workloads, op, since));
        let lasted_ns = workloads.iter().map(|workload| lasted_ns(point, workload)).max().unwrap_or(0);
        for direction in &mut directions {
            // Begun milliseconds count, so that what moved anything has a rate.
            direction.runtime_ms = if direction.requests > 0 { lasted_ns.div_ceil(NS_PER_MS) } else { 0 };
        }
        let workers = || workloads.iter().flat_map(|workload| &workload.workers);
        let jobs = (workers().count() as u64).max(1);
        let taken = workers().filter_map(|worker| worker.cpu).reduce(std::ops::Add::add);
        let cpu = |of: fn(&record::CpuUse) -> f64| -> f64 {
            let seconds = taken.as_ref().map_or(0.0, of);
            let lasted = (point.ended_ns.saturating_sub(point.started_ns)) as f64 / 1e9;
            if lasted > 0.0 { seconds * 100.0 / lasted / jobs as f64 } else { 0.0 }
        };
        let mut syncs = stats::Histogram::new();
        let flushes = workloads.iter().filter(|workload| counts_flushes(workload, since));
        for class in flushes.flat_map(|workload| &workload.classes).filter(|class| class.op == Op::Flush) {
            add(&mut syncs, times(class, since));
        }
        let started_ms = epoch_seconds(&run.started).unwrap_or(0) * 1000;
        Entry {
            name: workloads.first().map(|workload| workload.name.clone()).unwrap_or_default(),
            description: None,
            group: 0,
            jobs,
            error: workloads.iter().find_map(|workload| errno(workload)).unwrap_or(0),
            options: workloads.first().map(|workload| said(workload)).unwrap_or_default(),
            percentiles: Percentiles::default(),
            directions,
            unified: Unified::None,
            syncs,
            runtime_ms: lasted_ns / NS_PER_MS,
            elapsed_s: point.ended_ns.div_ceil(1_000_000_000),
            started_ms: started_ms + millis(point.started_ns),
            user_percent: cpu(|cpu| cpu.user_s),
            counts: taken.and_then(|taken| taken.counts).unwrap_or_default(),
            system_percent: cpu(|cpu| cpu.system_s),
            target: Target::default(),
            steady: None,
            failed: None,
            queue: workloads.iter().map(|each| each.spec.depth).max().unwrap_or(1),
            together: together(workloads),
            zone_resets: zone_resets(workloads),
            base: KbBase::Binary,
            tells_bits: false,
        }
    }

    /// Takes in what was read back of a job's writes: its errors, and its reads beside those of the job itself.
    pub(super) fn read_back(&mut self, readers: &Entry) {
        if self.error == 0 {
            self.error = readers.error;
        }
        self.directions[0].add(&readers.directions[0]);
        self.elapsed_s = self.elapsed_s.max(readers.elapsed_s);
    }

    /// Requests of all operations.
    pub(super) fn requests(&self) -> u64 {
        self.directions.iter().map(|direction| direction.requests).sum()
    }

    /// The part of requests, in percent, whose `lat` is at least `from` and below `below` nanoseconds.
    pub(super) fn within(&self, from: u64, below: u64) -> f64 {
        assert!(from < below, "a part of the latencies lies between two of them");
        let count = |limit: u64| -> u64 {
            let above = |lat: &stats::Histogram| match limit {
                0 => lat.count(),
                u64::MAX => 0,
                limit => lat.count_above(Nanos::new(limit - 1)),
            };
            self.directions.iter().map(|direction| above(&direction.lat)).sum()
        };
        match count(0) {
            0 => 0.0,
            all => (count(from).saturating_sub(count(below))) as f64 * 100.0 / all as f64,
        }
    }

    /// fio's table of requests handed over at a time, in percent of the times: 0, 1 to 4, 5 to 8 and so on.
    pub(super) fn submit_table(&self) -> [f64; 7] {
        batch_table(&self.together.submitted)
    }

    /// The same of those that were found to have ended.
    pub(super) fn complete_table(&self) -> [f64; 7] {
        batch_table(&self.together.completed)
    }

    /// fio's table of depths, in percent of the requests: 1, 2 to 3, 4 to 7 and so on to 64 and more.
    pub(super) fn depth_table(&self) -> [f64; 7] {
        parts(self.together.in_flight)
    }
}

/// fio has a place for none, which is never counted here, and the first four in one.
fn batch_table(counts: &[u64; 8]) -> [f64; 7] {
    let [one, two, four, eight, sixteen, thirty_two, sixty_four, more] = *counts;
    parts([0, one + two + four, eight, sixteen, thirty_two, sixty_four, more])
}

/// Each in percent of all; zeros of nothing.
fn parts(counts: [u64; 7]) -> [f64; 7] {
    let all: u64 = counts.iter().sum();
    let parts = counts.map(|count| if all == 0 { 0.0 } else { count as f64 * 100.0 / all as f64 });
    debug_assert!(all == 0 || (parts.iter().sum::<f64>() - 100.0).abs() < 1e-6, "the parts are the whole");
    parts
}

/// Tells each direction what all jobs of its group move in it: all their bytes over the longest of their times.
pub(super) fn share_out(entries: &mut [Entry]) {
    let groups: Vec<[u64; 3]> = entries.iter().map(|entry| moved(entries, entry.group)).collect();
    for (entry, sums) in entries.iter_mut().zip(groups) {
        for (direction, sum) in entry.directions.iter_mut().zip(sums) {
            direction.of_group = sum;
        }
    }
}

fn moved(entries: &[Entry], group: u32) -> [u64; 3] {
    let of_group = || entries.iter().filter(|entry| entry.group == group);
    [0, 1, 2].map(|at| {
        let of = |entry: &Entry| (entry.directions[at].bytes, entry.directions[at].runtime_ms);
        let bytes = of_group().map(|entry| of(entry).0).sum();
        let runtime_ms = of_group().map(|entry| of(entry).1).max().unwrap_or(0);
        Direction { bytes, runtime_ms, ..Direction::default() }.bytes_per_second()
    })
}

/// Edges of fio's tables of latencies, in their own unit; the last of milliseconds has none.
pub(super) const EDGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
ascending!(EDGES, "an edge is above the one before it");

/// The table of `unit_ns`: of each edge the part of requests below it and not below the one before.
pub(super) fn table(entry: &Entry, unit_ns: u64) -> Vec<(String, f64)> {
    assert!(matches!(unit_ns, 1 | 1000 | 1_000_000), "fio has tables of ns, µs and ms");
    let mut edges = EDGES.to_vec();
    if unit_ns == 1_000_000 {
        edges.push(2000);
    }
    // A table begins where the one of the smaller unit ends.
    let mut from = if unit_ns == 1 { 0 } else { unit_ns };
    let mut table = Vec::new();
    for edge in edges {
        table.push((edge.to_string(), entry.within(from, edge * unit_ns)));
        from = edge * unit_ns;
    }
    if unit_ns == 1_000_000 {
        table.push((">=2000".into(), entry.within(from, u64::MAX)));
    }
    table
}

fn direction(point: &Point, workloads: &[&WorkloadResult], op: Op, since: Since) -> Direction {
    let mut direction = Direction::default();
    let counts = |own: Op| own == op || op == Op::Read && OF_FILES.contains(&own);
    let (ramped, measured): (Vec<&WorkloadResult>, Vec<&WorkloadResult>) =
        workloads.iter().partition(|workload| ended_in_ramp(point, workload));
    for total in ramped.iter().flat_map(|workload| &workload.totals).filter(|total| counts(total.op)) {
        direction.requests += total.ops;
        direction.bytes += total.bytes;
    }
    for class in measured.iter().flat_map(|workload| &workload.classes).filter(|class| counts(class.op)) {
        direction.requests += class.ops;
        direction.bytes += class.bytes;
        add(&mut direction.clat, times(class, Since::Issue));
        add(&mut direction.lat, times(class, since));
        if let Some(lag) = class.lag.as_ref().filter(|_| since == Since::Due) {
            add(&mut direction.slat, lag);
        }
    }
    direction.mean_ns = means(point, workloads, op);
    direction.rate = samples(point, workloads, &format!("{op} ops"), 1.0);
    direction.bandwidth = samples(point, workloads, &format!("{op} bytes"), 1024.0);
    direction
}

/// Whether its work was done before its ramp was over. fio then counts all of it, and has no latencies.
fn ended_in_ramp(point: &Point, workload: &WorkloadResult) -> bool {
    point.complete && workload.ended_in_warmup()
}

/// How long is counted of a workload.
fn lasted_ns(point: &Point, workload: &WorkloadResult) -> u64 {
    let begun = point.started_ns.saturating_add(workload.spec.stop.start.get());
    match ended_in_ramp(point, workload) {
        true => workload.measured_from_ns.saturating_sub(begun),
        false => workload.measured_ns,
    }
}

/// Whether flushes of a workload count as `sync`: fio issues those of `end_fsync` after it has stopped accounting.
fn counts_flushes(workload: &WorkloadResult, since: Since) -> bool {
    let durability = &workload.spec.durability;
    since == Since::Due || durability.every.is_some() || !durability.at_end
}

/// How long the requests of a class took.
fn times(class: &record::Class, since: Since) -> &record::Histogram {
    match since {
        Since::Due => &class.response,
        Since::Issue => class.service.as_ref().unwrap_or(&class.response),
    }
}

fn add(sum: &mut stats::Histogram, histogram: &record::Histogram) {
    if let Some(histogram) = histogram.to_stats() {
        sum.merge(&histogram);
    }
}

/// The values of a workload's series of that name over the measured window, by their ends: whole seconds, or what there
/// is of one where there is no whole one.
fn stretches(point: &Point, workload: &WorkloadResult, name: &str) -> BTreeMap<u64, f64> {
    let own =
        |series: &&record::Series| series.name == name && series.workload.as_ref() == Some(&workload.name);
    let from = workload.measured_from_ns;
    let to = from.saturating_add(workload.measured_ns);
    let is_whole = |at: u64| workload.measured_ns < SECOND_NS || (at - from).is_multiple_of(SECOND_NS);
    let all =
        point.series.iter().find(own).into_iter().flat_map(|series| series.at_ns.iter().zip(&series.values));
    let within = all.filter(|(at, _)| (from.saturating_add(1)..=to).contains(*at) && is_whole(**at));
    within.map(|(at, value)| (*at, *value)).collect()
}

const SECOND_NS: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// The series of that name of all `workloads` together, over the measured window.
fn samples(point: &Point, workloads: &[&WorkloadResult], name: &str, unit: f64) -> Samples {
    let mut sums: Vec<f64> = Vec::new();
    for workload in workloads {
        for (second, value) in stretches(point, workload, name).into_values().enumerate() {
            match sums.get_mut(second) {
                Some(sum) => *sum += value / unit,
                None => sums.push(value / unit),
            }
        }
    }
    Samples(sums)
}

/// The mean response of each second, of all `workloads` together; zero where nothing ended.
fn means(point: &Point, workloads: &[&WorkloadResult], op: Op) -> Samples {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for workload in workloads {
        let means = stretches(point, workload, &format!("{op} response mean"));
        for (second, (at, ops)) in stretches(point, workload, &format!("{op} ops")).into_iter().enumerate() {
            if sums.len() <= second {
                sums.resize(second + 1, (0.0, 0.0));
            }
            sums[second].0 += ops;
            sums[second].1 += ops * means.get(&at).copied().unwrap_or(0.0);
        }
    }
    Samples(sums.iter().map(|(ops, sum)| if *ops > 0.0 { sum / ops } else { 0.0 }).collect())
}

/// Of all workloads; nothing of a record that was kept without it.
fn zone_resets(workloads: &[&WorkloadResult]) -> Option<u64> {
    let zoned = workloads.iter().filter(|workload| workload.spec.zones.are_there());
    zoned.map(|workload| workload.zone_resets).reduce(u64::saturating_add)
}

fn together(workloads: &[&WorkloadResult]) -> record::Together {
    let mut sum = record::Together::default();
    for one in workloads.iter().filter_map(|workload| workload.together.as_ref()) {
        sum.add(one);
    }
    sum
}

/// The number of the first error, as in `Input/output error (os error 5)`. Data that was wrong is EILSEQ, as in fio.
pub(super) fn errno(workload: &WorkloadResult) -> Option<i32> {
    let failure = &workload.error_samples.first()?.failure;
    let number = failure.rsplit_once("(os error ").and_then(|(_, rest)| rest.strip_suffix(')')?.parse().ok());
    // EIO stands for what has no number, such as a short transfer.
    Some(number.unwrap_or(if failure == "data-corrupt" { EILSEQ } else { EIO }))
}

const EIO: i32 = 5;
const EILSEQ: i32 = 84;

/// What the C library calls an error, of those that fio's jobs mostly end with.
pub(super) fn error_text(number: i32) -> String {
    match number {
        EILSEQ => "Invalid or incomplete multibyte or wide character".into(),
        number => {
            let said = std::io::Error::from_raw_os_error(number).to_string();
            said.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

/// Options that readers look for, in fio's words, of a workload that no job of fio stands behind.
fn said(workload: &WorkloadResult) -> Vec<(String, String)> {
    let spec = &workload.spec;
    let has = |op: Op| workload.classes.iter().any(|class| class.op == op && class.ops > 0);
    let random = !is_in_order(&spec.pattern);
    let rw = match (has(Op::Read), has(Op::Write), has(Op::Trim)) {
        (true, true, _) => "rw",
        (_, true, _) => "write",
        (false, false, true) => "trim",
        _ => "read",
    };
    let sizes =
        || workload.classes.iter().filter(|class| class.op != Op::Flush).map(|class| class.size_bytes);
    let size = sizes().min().unwrap_or(0);
    let bs = if size > 0 && size % 1024 == 0 { format!("{}k", size / 1024) } else { size.to_string() };
    let engine = match workload.engine.name {
        Engine::Pread => "psync",
        Engine::Preadv2 => "pvsync2",
        Engine::Fallocate => "falloc",
        Engine::Nvme => "io_uring_cmd",
        other => other.name(),
    };
    [
        ("name", workload.name.as_str()),
        ("rw", &if random { format!("rand{rw}") } else { rw.to_owned() }),
        ("bs", &bs),
        ("iodepth", &spec.depth.to_string()),
        ("numjobs", &spec.workers.to_string()),
        ("ioengine", engine),
        ("direct", if spec.direct { "1" } else { "0" }),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .collect()
}

pub(super) fn millis(ns: u64) -> u64 {
    ns.saturating_add(500_000) / 1_000_000
}

/// Seconds since 1970 of `2026-11-21T07:36:53Z`, fractions cut.
pub(super) fn epoch_seconds(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days of the proleptic Gregorian calendar, years counted from March so that a leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    u64::try_from(days * 86_400 + hour * 3600 + minute * 60 + second).ok()
}

/// `Sat Nov 21 07:36:53 2026` of the same text, as ctime(3) in UTC.
pub(crate) fn ctime(text: &str) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or("0");
    let Some(seconds) = epoch_seconds(text) else { return String::new() };
    let month = part(5, 7).parse::<usize>().unwrap_or(1).clamp(1, 12);
    let day: u32 = part(8, 10).parse().unwrap_or(0);
    let weekday = DAYS[(seconds / 86_400 % 7) as usize];
    format!("{weekday} {} {day:2} {} {}", MONTHS[month - 1], part(11, 19), part(0, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(epoch_seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(epoch_seconds("2026-11-21T07:36:53Z"), Some(1_795_246_613));
        assert_eq!(epoch_seconds("2000-02-29T12:00:00.5Z"), Some(951_825_600));
        assert_eq!(ctime("2026-11-21T07:36:53Z"), "Sat Nov 21 07:36:53 2026");
        assert_eq!(epoch_seconds("soon"), None);
    }

    #[test]
    fn samples_have_the_deviation_of_a_sample() {
        let samples = Samples(vec![2.0, 4.0, 6.0]);
        assert_eq!((samples.mean(), samples.deviation(), samples.least(), samples.most()), (4.0, 2.0, 2, 6));
        assert_eq!(Samples::default().deviation(), 0.0);
    }
}
