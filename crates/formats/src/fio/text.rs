//! fio's report to read, and its lines of semicolons (terse, version 3).

use std::fmt::Write;

use record::Run;
use units::Nanos;
use units::convert::truncated;

use super::figures::{self, Direction, Entry};
use super::job::Job;
use super::json::{Disk, Report};
use super::unified::Unified;
use super::value::KbBase;
use super::wanted::VERSION;

/// What fio says of its jobs before they start.
pub(super) fn head(jobs: &[Job]) -> String {
    let mut text = String::new();
    let mut group = 0;
    for (index, job) in jobs.iter().enumerate() {
        group += u32::from(index > 0 && (job.waits || job.new_group));
        let size = |op: usize| {
            let sizes = job.sizes[op].iter().map(|(size, _)| *size);
            let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
            let told = |size: u64| short(size, 4, job.options.base.thousands()[0], "B");
            format!("{}-{}", told(least), told(most))
        };
        let rw = direction_name(job.options.text("rw").unwrap_or("read"));
        let engine = super::engine::name_of(&job.options);
        let depth = job.options.text("iodepth").unwrap_or("1");
        let (reads, writes, trims) = (size(0), size(1), size(2));
        let _ = writeln!(
            text,
            "{}: (g={group}): rw={rw}, bs=(R) {reads}, (W) {writes}, (T) {trims}, ioengine={engine}, iodepth={depth}",
            job.name
        );
        if job.clones > 1 {
            text.push_str("...\n");
        }
    }
    let threads = |job: &&Job| job.options.flag("thread") == Ok(Some(true));
    let sum = |wanted: bool| -> u64 {
        jobs.iter().filter(|job| threads(job) == wanted).map(|job| u64::from(job.clones)).sum()
    };
    let counted = |count: u64, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let started = [counted(sum(true), "thread", "threads"), counted(sum(false), "process", "processes")];
    let started = started.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let _ = writeln!(text, "{VERSION}\nStarting {started}");
    text
}

/// fio's one word for what `rw` says.
fn direction_name(said: &str) -> &str {
    match said.split(':').next().unwrap_or(said) {
        "readwrite" => "rw",
        name => name,
    }
}

pub(super) fn report(run: &Run, report: &Report) -> String {
    let mut text = String::new();
    for entry in &report.entries {
        text.push('\n');
        job(&mut text, run, entry);
    }
    groups(&mut text, &report.entries);
    disks(&mut text, &report.disks(run));
    text
}

fn job(text: &mut String, run: &Run, entry: &Entry) {
    let ended = figures::ctime(run.ended.as_deref().unwrap_or(&run.started));
    let error = match entry.error {
        0 => " 0".to_owned(),
        number => format!("{number:2} (error={})", figures::error_text(number)),
    };
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={error}: pid=0: {ended}",
        entry.name, entry.group, entry.jobs
    );
    if let Some(description) = &entry.description {
        let _ = writeln!(text, "  Description  : [{description}]");
    }
    for (name, of) in entry.reported().iter().filter(|(_, of)| of.requests > 0) {
        direction(text, name, of, entry);
    }
    latencies(text, entry);
    syncs(text, entry);
    let _ = writeln!(
        text,
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}",
        entry.user_percent,
        entry.system_percent,
        entry.counts.context_switches,
        entry.counts.major_faults,
        entry.counts.minor_faults
    );
    depths(text, entry);
    if let Some((count, first)) = entry.failed {
        let _ = writeln!(
            text,
            "     errors    : total={count}, first_error={first}/<{}>",
            figures::error_text(first)
        );
    }
    steady_state(text, entry);
}

/// The shares of requests that took up to each of fio's edges.
fn latencies(text: &mut String, entry: &Entry) {
    for (unit, name) in [(1, "nsec"), (1000, "usec"), (1_000_000, "msec")] {
        let table: Vec<String> = figures::table(entry, unit)
            .iter()
            .filter(|(_, part)| *part > 0.0)
            .map(|(edge, part)| format!("{edge}={part:3.2}%"))
            .collect();
        for line in table.chunks(5) {
            let _ = writeln!(text, "  lat ({name})   : {}", line.join(", "));
        }
    }
}

/// The requests in flight, how they were handed over and taken back, and how many there were.
fn depths(text: &mut String, entry: &Entry) {
    let named = |names: [&str; 7], parts: [f64; 7]| {
        let part = |(name, part): (&str, f64)| format!("{name}={part:3.1}%");
        names.into_iter().zip(parts).map(part).collect::<Vec<_>>().join(", ")
    };
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let _ = writeln!(text, "  IO depths    : {}", named(depths, entry.depth_table()));
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let _ = writeln!(text, "     submit    : {}", named(batches, entry.submit_table()));
    let _ = writeln!(text, "     complete  : {}", named(batches, entry.complete_table()));
    let [reads, writes, trims] = match entry.unified {
        Unified::Mixed => [entry.requests(), 0, 0],
        _ => entry.directions.each_ref().map(|of| of.requests),
    };
    let _ = writeln!(
        text,
        "     issued rwts: total={reads},{writes},{trims},{} short=0,0,0,0 dropped=0,0,0,0",
        entry.syncs.count()
    );
    let _ = writeln!(
        text,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        entry.target.ns,
        entry.target.window_us,
        entry.target.percent,
        entry.latency_depth()
    );
}

/// What became of `steadystate`, where the job has it.
fn steady_state(text: &mut String, entry: &Entry) {
    let Some(steady) = &entry.steady else { return };
    let attained = if steady.criterion.is_met { "yes" } else { "no" };
    let mean = |all: &[f64]| truncated::<u64>(all.iter().sum::<f64>() / all.len().max(1) as f64);
    let (bytes, iops) = (mean(&steady.bytes), mean(&steady.iops));
    let [own, other] = rates(bytes, entry);
    let bandwidth = format!("{own} ({other})");
    let _ = writeln!(
        text,
        "  steadystate  : attained={attained}, bw={bandwidth}, iops={}, {}",
        short(iops, 4, 1000, ""),
        steady.criterion_text()
    );
}

fn direction(text: &mut String, name: &str, of: &Direction, entry: &Entry) {
    let (bw, runtime) = (of.bytes_per_second(), of.runtime_ms);
    let [rate, other_rate] = rates(bw, entry);
    let resets = entry.zone_resets.filter(|_| name.trim() == "write");
    let resets = resets.map(|resets| format!("; {resets} zone resets")).unwrap_or_default();
    let _ = writeln!(
        text,
        "  {name}: IOPS={}, BW={rate} ({other_rate})({}/{runtime}msec){resets}",
        short(truncated::<u64>(of.per_second()), 4, 1000, ""),
        short(of.bytes, 4, entry.base.thousands()[0], "B"),
    );
    for (label, latency) in [("slat", &of.slat), ("clat", &of.clat), (" lat", &of.lat)] {
        times(text, label, latency);
    }
    if entry.percentiles.clat {
        percentiles(text, "clat", &of.clat, &entry.percentiles.list);
    }
    if entry.percentiles.lat {
        percentiles(text, "lat", &of.lat, &entry.percentiles.list);
    }
    if !of.bandwidth.0.is_empty() {
        let (unit, scale) = bandwidth_unit(of.bandwidth.mean(), entry.base, entry.tells_bits);
        let _ = writeln!(
            text,
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
            truncated::<u64>(of.bandwidth.least() as f64 / scale),
            truncated::<u64>(of.bandwidth.most() as f64 / scale),
            of.part_of_group(),
            of.bandwidth.mean() / scale,
            of.bandwidth.deviation() / scale,
            of.bandwidth.0.len()
        );
    }
    if !of.rate.0.is_empty() {
        let _ = writeln!(
            text,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            of.rate.least(),
            of.rate.most(),
            of.rate.mean(),
            of.rate.deviation(),
            of.rate.0.len()
        );
    }
}

/// A rate in both bases, fio's own first.
fn rates(bytes_per_second: u64, entry: &Entry) -> [String; 2] {
    let (value, unit) = match entry.tells_bits {
        true => (bytes_per_second.saturating_mul(8), "bit/s"),
        false => (bytes_per_second, "B/s"),
    };
    entry.base.thousands().map(|thousand| short(value, 4, thousand, unit))
}

/// The unit in which bandwidths whose mean is so many KiB/s are told, in bits where that is asked for, and how many KiB it has.
fn bandwidth_unit(mean: f64, base: KbBase, tells_bits: bool) -> (&'static str, f64) {
    let (kilo, names) = match (base, tells_bits) {
        (KbBase::Binary, false) => (1024.0, ["KiB", "MiB"]),
        (KbBase::Decimal, false) => (1000.0, ["kB", "MB"]),
        (KbBase::Binary, true) => (1024.0, ["Kibit", "Mibit"]),
        (KbBase::Decimal, true) => (1000.0, ["kbit", "Mbit"]),
    };
    let scale = kilo / 1024.0 / if tells_bits { 8.0 } else { 1.0 };
    if mean / scale > kilo * kilo { (names[1], scale * kilo) } else { (names[0], scale) }
}

/// The line of a latency; none where there is nothing.
fn times(text: &mut String, label: &str, latency: &stats::Histogram) {
    if latency.is_empty() {
        return;
    }
    let (unit, divisor) = unit_of(latency);
    let whole = |value: Option<Nanos>| short(value.map_or(0, Nanos::get) / divisor, 6, 1000, "");
    let scaled = |value: Option<f64>| value.unwrap_or(0.0) / divisor as f64;
    let _ = writeln!(
        text,
        "    {label} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        whole(latency.min()),
        whole(latency.max()),
        scaled(latency.mean()),
        scaled(latency.std_dev())
    );
}

/// What its flushes took.
fn syncs(text: &mut String, entry: &Entry) {
    if !entry.syncs.is_empty() {
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        times(text, "sync", &entry.syncs);
        percentiles(text, "sync", &entry.syncs, &entry.percentiles.list);
    }
}

fn percentiles(text: &mut String, label: &str, of: &stats::Histogram, list: &[f64]) {
    let values: Vec<(f64, u64)> =
        list.iter().filter_map(|percent| Some((*percent, of.quantile(percent / 100.0)?.get()))).collect();
    let (Some((_, least)), Some((_, most))) = (values.first(), values.last()) else { return };
    debug_assert!(values.is_sorted_by(|one, next| one.1 <= next.1), "percentiles rise: {values:?}");
    let (unit, divisor) = match (least, most) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2001.., 100_000..) => ("usec", 1000),
        _ => ("nsec", 1),
    };
    let _ = writeln!(text, "    {label} percentiles ({unit}):");
    for (index, line) in values.chunks(4).enumerate() {
        let each: Vec<String> = line
            .iter()
            .map(|(percent, value)| format!(" {percent:5.2}th=[{:5}]", value.div_ceil(divisor)))
            .collect();
        let more = (index + 1) * 4 < values.len();
        let _ = writeln!(text, "     |{}{}", each.join(","), if more { "," } else { "" });
    }
}

/// Nanoseconds, unless all figures are so large that others read better.
fn unit_of(latency: &stats::Histogram) -> (&'static str, u64) {
    let (min, max) = (latency.min().map_or(0, Nanos::get), latency.max().map_or(0, Nanos::get));
    let (mean, deviation) = (latency.mean().unwrap_or(0.0), latency.std_dev().unwrap_or(0.0));
    let beyond = |scale: u64| {
        let least = scale as f64;
        min > 2 * scale && max > 100 * scale - 1 && mean > 2.0 * least && deviation > least
    };
    match () {
        () if beyond(1_000_000) => ("msec", 1_000_000),
        () if beyond(1000) => ("usec", 1000),
        () => ("nsec", 1),
    }
}

/// `value` in at most `digits` digits with a prefix: `13.8k`, `53.8MiB`, `992KiB`.
fn short(value: u64, digits: usize, thousand: u64, unit: &str) -> String {
    const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    assert!(matches!(thousand, 1000 | 1024), "a prefix is a power of 1000 or 1024");
    assert!(digits > 3, "what is below a prefix has up to four digits");
    let prefixes = if thousand == 1024 { BINARY } else { DECIMAL };
    let (mut number, mut rest, mut power) = (value, None, 0);
    while number.to_string().len() > digits && power < 6 {
        rest = Some(number % thousand);
        number /= thousand;
        power += 1;
    }
    let prefix = prefixes[power];
    let room = digits.saturating_sub(number.to_string().len());
    match rest {
        Some(rest) if room > 1 => {
            let exact = number as f64 + rest as f64 / thousand as f64;
            format!("{exact:.*}{prefix}{unit}", room - 1)
        }
        Some(rest) if rest >= thousand / 2 => format!("{}{prefix}{unit}", number + 1),
        _ => format!("{number}{prefix}{unit}"),
    }
}

fn groups(text: &mut String, entries: &[Entry]) {
    let Some(last) = entries.iter().map(|entry| entry.group).max() else { return };
    for group in 0..=last {
        let of_group: Vec<&Entry> = entries.iter().filter(|entry| entry.group == group).collect();
        if of_group.is_empty() {
            continue;
        }
        let _ = write!(text, "\nRun status group {group} (all jobs):\n");
        let reported: Vec<_> = of_group.iter().flat_map(|entry| entry.reported()).collect();
        for name in ["read", "write", "trim", "mixed"] {
            let of_name = reported.iter().filter(|(own, of)| *own == name && of.requests > 0);
            let all: Vec<&Direction> = of_name.map(|(_, of)| &**of).collect();
            if all.is_empty() {
                continue;
            }
            let bandwidths = || all.iter().map(|of| of.bytes_per_second());
            let (least, most) = (bandwidths().min().unwrap_or(0), bandwidths().max().unwrap_or(0));
            let (sum, bytes): (u64, u64) = (bandwidths().sum(), all.iter().map(|of| of.bytes).sum());
            let times = || all.iter().map(|of| of.runtime_ms);
            let rate = |value: u64| rates(value, of_group[0]);
            let [[sum, sum_si], [least, least_si], [most, most_si]] = [rate(sum), rate(least), rate(most)];
            let [io, io_si] = of_group[0].base.thousands().map(|thousand| short(bytes, 4, thousand, "B"));
            let _ = writeln!(
                text,
                "{:>7}: bw={sum} ({sum_si}), {least}-{most} ({least_si}-{most_si}), io={io} ({io_si}), run={}-{}msec",
                name.to_uppercase(),
                times().min().unwrap_or(0),
                times().max().unwrap_or(0)
            );
        }
    }
}

fn disks(text: &mut String, disks: &[Disk]) {
    if disks.is_empty() {
        return;
    }
    text.push_str("\nDisk stats (read/write):\n");
    for disk in disks {
        let _ = writeln!(
            text,
            "  {}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
            disk.name,
            disk.reads,
            disk.writes,
            disk.read_sectors,
            disk.write_sectors,
            disk.merges[0],
            disk.merges[1],
            disk.ticks[0],
            disk.ticks[1],
            disk.in_queue,
            disk.busy
        );
    }
}

/// One line for each entry, in the fields of that terse version, 2 to 5; 0 is 3.
pub(super) fn terse(run: &Run, report: &Report, version: u8) -> String {
    let version = if version == 0 { 3 } else { version };
    assert!((2..=5).contains(&version), "fio has terse outputs 2 to 5");
    let mut text = String::new();
    for entry in &report.entries {
        let mut fields: Vec<String> = match version {
            // The oldest has neither the tool nor, after the name, anything but the group and the error.
            2 => vec!["2".into(), entry.name.clone()],
            version => vec![version.to_string(), VERSION.into(), entry.name.clone()],
        };
        fields.extend([entry.group.to_string(), entry.error.to_string()]);
        // Version 3 alone has no trims.
        let count = if version == 3 { 2 } else { 3 };
        let mixed = entry.mixed();
        let mut directions: Vec<&Direction> = match entry.unified {
            Unified::Mixed => vec![&mixed],
            _ => entry.directions.iter().collect(),
        };
        directions.truncate(count);
        directions.extend((entry.unified == Unified::Both).then_some(&mixed));
        for of in directions {
            terse_direction(&mut fields, of, &entry.percentiles.list, version);
        }
        fields.push(format!("{:.6}%", entry.user_percent));
        fields.push(format!("{:.6}%", entry.system_percent));
        let counts = entry.counts;
        let counts = [counts.context_switches, counts.major_faults, counts.minor_faults];
        fields.extend(counts.map(|count| count.to_string()));
        fields.extend(entry.depth_table().map(|part| format!("{part:3.1}%")));
        for unit in [1000, 1_000_000] {
            fields.extend(figures::table(entry, unit).iter().map(|(_, part)| format!("{part:3.2}%")));
        }
        for disk in report.disks(run).into_iter().filter(|_| version > 2) {
            let [merges, ticks] = [disk.merges, disk.ticks];
            let counts = [disk.reads, disk.writes, merges[0], merges[1], ticks[0], ticks[1], disk.in_queue];
            fields.push(disk.name);
            fields.extend(counts.map(|count| count.to_string()));
            fields.push(format!("{:3.2}%", disk.busy));
        }
        if let Some((count, first)) = entry.failed {
            fields.extend([count.to_string(), first.to_string()]);
        }
        text.push_str(&fields.join(";"));
        if let Some(description) = &entry.description {
            // In version 2 on a line of its own, with its semicolon.
            text.push_str(if version == 2 { "\n;" } else { ";" });
            text.push_str(description);
        }
        text.push('\n');
    }
    text
}

fn terse_direction(fields: &mut Vec<String>, of: &Direction, list: &[f64], version: u8) {
    let before = fields.len();
    let bw = of.bytes_per_second() >> 10;
    let figures = [of.bytes >> 10, bw, truncated::<u64>(of.per_second()), of.runtime_ms];
    fields.extend(figures.map(|figure| figure.to_string()));
    let micros = |value: Option<Nanos>| (value.map_or(0, Nanos::get) / 1000).to_string();
    let latency = |fields: &mut Vec<String>, of: &stats::Histogram| {
        fields.extend([micros(of.min()), micros(of.max())]);
        fields.extend([of.mean(), of.std_dev()].map(|value| format!("{:.6}", value.unwrap_or(0.0) / 1000.0)));
    };
    latency(fields, &of.slat);
    latency(fields, &of.clat);
    for place in 0..20 {
        fields.push(match list.get(place) {
            Some(percent) => format!("{percent:.6}%={}", micros(of.clat.quantile(percent / 100.0))),
            None => "0%=0".into(),
        });
    }
    latency(fields, &of.lat);
    fields.extend([of.bandwidth.least().to_string(), of.bandwidth.most().to_string()]);
    fields.push(format!("{:.6}%", of.part_of_group()));
    fields.extend([of.bandwidth.mean(), of.bandwidth.deviation()].map(|value| format!("{value:.6}")));
    if version >= 5 {
        let rate = &of.rate;
        fields.extend([of.bandwidth.0.len().to_string(), rate.least().to_string(), rate.most().to_string()]);
        fields.extend([rate.mean(), rate.deviation()].map(|value| format!("{value:.6}")));
        fields.push(rate.0.len().to_string());
    }
    debug_assert_eq!(
        fields.len() - before,
        if version >= 5 { 47 } else { 41 },
        "readers count the fields of a direction"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_told_in_megabytes_from_a_thousand_thousands_on() {
        let text = |mean: f64, base| bandwidth_unit(mean, base, false).0;
        assert_eq!(text(1_048_576.0, KbBase::Binary), "KiB");
        assert_eq!(text(1_048_577.0, KbBase::Binary), "MiB");
        assert_eq!(bandwidth_unit(2e6, KbBase::Binary, false).1, 1024.0);
        assert_eq!(text(976_562.0, KbBase::Decimal), "kB");
        assert_eq!(text(976_563.0, KbBase::Decimal), "MB");
        assert_eq!(bandwidth_unit(200_000.0, KbBase::Binary, true), ("Mibit", 128.0));
        // A kB is less than a KiB, so there are more of them.
        assert_eq!(1024.0 / bandwidth_unit(1.0, KbBase::Decimal, false).1, 1048.576);
    }

    #[test]
    fn large_numbers_are_shortened_as_fio_shortens_them() {
        assert_eq!(short(13_777, 4, 1000, ""), "13.8k");
        assert_eq!(short(992 << 10, 4, 1024, "B"), "992KiB");
        assert_eq!(short(56_434_000, 4, 1024, "B"), "53.8MiB");
        assert_eq!(short(56_434_000, 4, 1000, "B"), "56.4MB");
        assert_eq!(short(1056 << 10, 4, 1024, "B"), "1056KiB");
        assert_eq!(short(27_331, 6, 1000, ""), "27331");
        assert_eq!(short(0, 4, 1000, ""), "0");
    }
}
