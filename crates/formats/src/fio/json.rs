//! fio's JSON, key for key and in its order. Source: output of fio 3.33 and the schema of 3.42.

use std::borrow::Cow;
use std::fmt::Write;

use record::Run;
use units::Nanos;
use units::convert::truncated;

use super::figures::{self, Direction, Entry, Samples};
use super::steady::Attained;
use super::unified::Unified;
use super::wanted::VERSION;

/// A value that keeps its order and prints as fio prints it.
pub(super) enum Json {
    Text(String),
    Count(u64),
    Signed(i64),
    Figure(f64),
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
}

/// What stands beside the entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// fio's `global options`; left out where there are none.
    pub globals: Vec<(String, String)>,
    pub entries: Vec<Entry>,
    /// Whether every bucket of the histograms is printed.
    pub bins: bool,
    /// What the jobs ask for and do not get.
    pub notes: Vec<String>,
    /// Whether every job says `disk_util=0`, so that nothing is told of devices.
    pub without_disks: bool,
}

impl Report {
    /// The report of these entries, of which each knows its part of its group.
    pub(super) fn of(mut entries: Vec<Entry>) -> Report {
        figures::share_out(&mut entries);
        Report { entries, ..Report::default() }
    }

    /// The devices that are told of.
    pub(super) fn disks(&self, run: &Run) -> Vec<Disk> {
        if self.without_disks { Vec::new() } else { disks(run) }
    }
}

/// The document, with its last line ended.
pub(super) fn document(run: &Run, report: &Report) -> String {
    let ended = run.ended.as_deref().unwrap_or(&run.started);
    let seconds = figures::epoch_seconds(ended).unwrap_or(0);
    let mut keys = vec![
        entry("fio version", Json::Text(VERSION.into())),
        entry("timestamp", Json::Count(seconds)),
        entry("timestamp_ms", Json::Count(seconds * 1000)),
        entry("time", Json::Text(figures::ctime(ended))),
    ];
    if !report.globals.is_empty() {
        keys.push(entry("global options", options(&report.globals)));
    }
    let jobs = report.entries.iter().map(|entry| job(entry, report.bins)).collect();
    keys.push(entry("jobs", Json::List(jobs)));
    keys.push(entry("disk_util", Json::List(report.disks(run).iter().map(Disk::json).collect())));
    keys.push(entry("fathom", fathom(run, report)));
    let mut text = String::new();
    Json::Object(keys).print(&mut text, 0);
    text.push('\n');
    text
}

/// What fio's keys have no place for.
fn fathom(run: &Run, report: &Report) -> Json {
    let texts = |all: &mut dyn Iterator<Item = String>| Json::List(all.map(Json::Text).collect());
    Json::Object(vec![
        entry("program", Json::Text(run.tool.name.clone())),
        entry("version", Json::Text(run.tool.version.clone())),
        entry("run", Json::Text(run.id.clone())),
        entry("notes", texts(&mut report.notes.iter().cloned())),
        entry("findings", texts(&mut run.findings.iter().map(|finding| told(run, finding)))),
    ])
}

/// The sentence of a finding, behind the names of the jobs that it is about where it is not about the run.
fn told(run: &Run, finding: &record::Finding) -> String {
    let about = finding.point.and_then(|index| run.points.iter().find(|point| point.index == index));
    match about {
        Some(point) => {
            let jobs: Vec<&str> = point.workloads.iter().map(|workload| workload.name.as_str()).collect();
            format!("{}: {}", jobs.join(", "), finding.sentence)
        }
        None => finding.sentence.clone(),
    }
}

fn entry(key: &str, value: Json) -> (String, Json) {
    (key.into(), value)
}

fn options(said: &[(String, String)]) -> Json {
    Json::Object(said.iter().map(|(key, value)| (key.clone(), Json::Text(value.clone()))).collect())
}

fn job(job: &Entry, bins: bool) -> Json {
    let mut keys = vec![
        entry("jobname", Json::Text(job.name.clone())),
        entry("groupid", Json::Count(job.group.into())),
        entry("job_start", Json::Count(job.started_ms)),
        entry("error", Json::Signed(job.error.into())),
        entry("eta", Json::Count(0)),
        entry("elapsed", Json::Count(job.elapsed_s)),
        entry("job options", options(&job.options)),
    ];
    if let Some(description) = &job.description {
        keys.push(entry("desc", Json::Text(description.clone())));
    }
    // fio has no syncs where all is one, and what is one besides stands behind them.
    let (apart, mixed): (Vec<_>, Vec<_>) = job.reported().into_iter().partition(|(name, _)| *name != "mixed");
    let told = |(name, of): &(&str, Cow<'_, Direction>)| entry(name, direction(of, job, bins));
    keys.extend(apart.iter().map(told));
    let syncs = vec![
        entry("total_ios", Json::Count(job.syncs.count())),
        entry("lat_ns", latency(&job.syncs, Some(&job.percentiles.list), bins)),
    ];
    keys.extend((job.unified != Unified::Mixed).then(|| entry("sync", Json::Object(syncs))));
    keys.extend(mixed.iter().map(told));
    keys.extend([
        entry("job_runtime", Json::Count(job.runtime_ms * job.jobs)),
        entry("usr_cpu", Json::Figure(job.user_percent)),
        entry("sys_cpu", Json::Figure(job.system_percent)),
        entry("ctx", Json::Count(job.counts.context_switches)),
        entry("majf", Json::Count(job.counts.major_faults)),
        entry("minf", Json::Count(job.counts.minor_faults)),
    ]);
    keys.extend(shares(job));
    if let Some((count, first)) = job.failed {
        keys.push(entry("total_err", Json::Count(count)));
        keys.push(entry("first_error", Json::Signed(first.into())));
    }
    keys.extend([
        entry("latency_depth", Json::Count(job.latency_depth().into())),
        entry("latency_target", Json::Count(job.target.ns)),
        entry("latency_target_ns", Json::Count(job.target.ns)),
        entry("latency_percentile", Json::Figure(job.target.percent)),
        entry("latency_window", Json::Count(job.target.window_us)),
        entry("latency_window_us", Json::Count(job.target.window_us)),
    ]);
    keys.extend(job.steady.as_ref().map(steady));
    Json::Object(keys)
}

/// The shares of requests by requests in flight, by how many were handed over and taken back at once, and by latency.
fn shares(job: &Entry) -> Vec<(String, Json)> {
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let share = |(name, share): (&str, f64)| entry(name, Json::Figure(share));
    let mut keys = vec![entry(
        "iodepth_level",
        Json::Object(depths.into_iter().zip(job.depth_table()).map(share).collect()),
    )];
    for (name, parts) in [("iodepth_submit", job.submit_table()), ("iodepth_complete", job.complete_table())]
    {
        keys.push(entry(name, Json::Object(batches.into_iter().zip(parts).map(share).collect())));
    }
    for (name, unit) in [("latency_ns", 1), ("latency_us", 1000), ("latency_ms", 1_000_000)] {
        let table = figures::table(job, unit);
        keys.push(entry(name, Json::Object(table.iter().map(|(edge, part)| share((edge, *part))).collect())));
    }
    keys
}

fn steady(of: &Attained) -> (String, Json) {
    debug_assert!(of.iops.len() <= of.rule.over_s as usize, "a window is no longer than its rule says");
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
    let list = |all: &[f64]| {
        Json::List(all.iter().map(|value| Json::Count(truncated::<u64>(value.round()))).collect())
    };
    let data = vec![
        entry("bw_mean", Json::Count(truncated::<u64>(mean(&of.bytes)))),
        entry("iops_mean", Json::Count(truncated::<u64>(mean(&of.iops)))),
        entry("iops", list(&of.iops)),
        entry("bw", list(&of.bytes)),
    ];
    let keys = vec![
        entry("ss", Json::Text(of.name())),
        entry("duration", Json::Count(of.rule.over_s.into())),
        entry("attained", Json::Count(of.criterion.is_met.into())),
        entry("criterion", Json::Text(of.value())),
        entry("max_deviation", Json::Figure(of.criterion.deviation)),
        entry("slope", Json::Figure(of.criterion.slope)),
        entry("data", Json::Object(data)),
    ];
    entry("steadystate", Json::Object(keys))
}

fn direction(of: &Direction, job: &Entry, bins: bool) -> Json {
    let percentiles = &job.percentiles;
    let clat = percentiles.clat.then_some(percentiles.list.as_slice());
    let lat = percentiles.lat.then_some(percentiles.list.as_slice());
    let Direction { bandwidth, rate, .. } = of;
    let mut slat = latency(&of.slat, None, bins);
    if let (Json::Object(keys), true) = (&mut slat, percentiles.slat && of.requests > 0) {
        keys.push(entry("percentile", quantiles(&of.slat, &percentiles.list)));
    }
    Json::Object(vec![
        entry("io_bytes", Json::Count(of.bytes)),
        entry("io_kbytes", Json::Count(of.bytes >> 10)),
        entry("bw_bytes", Json::Count(of.bytes_per_second())),
        entry("bw", Json::Count(of.bytes_per_second() >> 10)),
        entry("iops", Json::Figure(of.per_second())),
        entry("runtime", Json::Count(of.runtime_ms)),
        entry("total_ios", Json::Count(of.requests)),
        entry("short_ios", Json::Count(0)),
        entry("drop_ios", Json::Count(0)),
        entry("slat_ns", slat),
        entry("clat_ns", latency(&of.clat, clat, bins)),
        entry("lat_ns", latency(&of.lat, lat, bins)),
        entry("bw_min", Json::Count(bandwidth.least())),
        entry("bw_max", Json::Count(bandwidth.most())),
        entry("bw_agg", Json::Figure(of.part_of_group())),
        entry("bw_mean", Json::Figure(bandwidth.mean())),
        entry("bw_dev", Json::Figure(bandwidth.deviation())),
        entry("bw_samples", Json::Count(bandwidth.0.len() as u64)),
        entry("iops_min", Json::Count(rate.least())),
        entry("iops_max", Json::Count(rate.most())),
        entry("iops_mean", Json::Figure(rate.mean())),
        entry("iops_stddev", Json::Figure(rate.deviation())),
        entry("iops_samples", Json::Count(rate.0.len() as u64)),
    ])
}

fn latency(of: &stats::Histogram, percentiles: Option<&[f64]>, bins: bool) -> Json {
    let ns = |value: Option<Nanos>| Json::Count(value.map_or(0, Nanos::get));
    let mut keys = vec![
        entry("min", ns(of.min())),
        entry("max", ns(of.max())),
        entry("mean", Json::Figure(of.mean().unwrap_or(0.0))),
        entry("stddev", Json::Figure(of.std_dev().unwrap_or(0.0))),
        entry("N", Json::Count(of.count())),
    ];
    if let Some(list) = percentiles.filter(|_| !of.is_empty()) {
        keys.push(entry("percentile", quantiles(of, list)));
        if bins {
            // Named by the middle of the bucket, as fio's.
            let bin = |bucket: stats::Bucket| {
                let (low, high) = (bucket.low().get(), bucket.high().get());
                ((low + (high - low) / 2).to_string(), Json::Count(bucket.count))
            };
            keys.push(entry("bins", Json::Object(of.buckets().map(bin).collect())));
        }
    }
    Json::Object(keys)
}

/// By their percentages, in nanoseconds; 0 where nothing was seen.
fn quantiles(of: &stats::Histogram, list: &[f64]) -> Json {
    let value = |percent: &f64| {
        (format!("{percent:.6}"), Json::Count(of.quantile(percent / 100.0).map_or(0, Nanos::get)))
    };
    Json::Object(list.iter().map(value).collect())
}

/// The counters of one block device over all points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Disk {
    pub name: String,
    pub reads: u64,
    pub writes: u64,
    pub read_sectors: u64,
    pub write_sectors: u64,
    /// Of reads and writes.
    pub merges: [u64; 2],
    /// Milliseconds of reads and of writes.
    pub ticks: [u64; 2],
    /// Milliseconds of all requests together.
    pub in_queue: u64,
    /// Percent of the time that it was busy.
    pub busy: f64,
}

/// The devices that were asked.
fn disks(run: &Run) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    for point in figures::loads(run) {
        for device in point.devices.iter().filter(|device| device.relation == "target") {
            let place = disks.iter().position(|disk| disk.name == device.device).unwrap_or(disks.len());
            if place == disks.len() {
                disks.push(Disk { name: device.device.clone(), ..Disk::default() });
            }
            let disk = &mut disks[place];
            disk.reads += device.read_requests;
            disk.writes += device.write_requests;
            disk.read_sectors += device.read_sectors;
            disk.write_sectors += device.write_sectors;
            let Some(waits) = device.waits else { continue };
            let add = |sums: &mut [u64; 2], read: u64, write: u64| {
                sums[0] = sums[0].saturating_add(read);
                sums[1] = sums[1].saturating_add(write);
            };
            add(&mut disk.merges, waits.read_merges, waits.write_merges);
            add(&mut disk.ticks, waits.read_ns / 1_000_000, waits.write_ns / 1_000_000);
            disk.in_queue = disk.in_queue.saturating_add(waits.queue_ns / 1_000_000);
        }
    }
    for disk in &mut disks {
        let name = format!("disk.{}.busy", disk.name);
        let series = run.points.iter().flat_map(|point| &point.series).filter(|series| series.name == name);
        let busy = Samples(series.flat_map(|series| series.values.iter().copied()).collect());
        disk.busy = busy.mean() * 100.0;
    }
    disks
}

impl Disk {
    fn json(&self) -> Json {
        Json::Object(vec![
            entry("name", Json::Text(self.name.clone())),
            entry("read_ios", Json::Count(self.reads)),
            entry("write_ios", Json::Count(self.writes)),
            entry("read_sectors", Json::Count(self.read_sectors)),
            entry("write_sectors", Json::Count(self.write_sectors)),
            entry("read_merges", Json::Count(self.merges[0])),
            entry("write_merges", Json::Count(self.merges[1])),
            entry("read_ticks", Json::Count(self.ticks[0])),
            entry("write_ticks", Json::Count(self.ticks[1])),
            entry("in_queue", Json::Count(self.in_queue)),
            entry("util", Json::Figure(self.busy)),
        ])
    }
}

impl Json {
    fn print(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth + 1);
        let _infallible = match self {
            Json::Text(text) => write!(out, "{}", quoted(text)),
            Json::Count(count) => write!(out, "{count}"),
            Json::Signed(count) => write!(out, "{count}"),
            Json::Figure(figure) => write!(out, "{figure:.6}"),
            Json::Object(keys) if keys.is_empty() => write!(out, "{{\n{}}}", "  ".repeat(depth)),
            Json::List(items) if items.is_empty() => write!(out, "[\n{}]", "  ".repeat(depth)),
            Json::Object(keys) => {
                out.push_str("{\n");
                for (index, (key, value)) in keys.iter().enumerate() {
                    out.push_str(&format!("{indent}{} : ", quoted(key)));
                    value.print(out, depth + 1);
                    out.push_str(if index + 1 < keys.len() { ",\n" } else { "\n" });
                }
                write!(out, "{}}}", "  ".repeat(depth))
            }
            Json::List(items) => {
                out.push_str("[\n");
                for (index, item) in items.iter().enumerate() {
                    out.push_str(&indent);
                    item.print(out, depth + 1);
                    out.push_str(if index + 1 < items.len() { ",\n" } else { "\n" });
                }
                write!(out, "{}]", "  ".repeat(depth))
            }
        };
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if u32::from(control) < 0x20 => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}
