//! diskspd's XML.

use record::{Point, Run};
use units::convert::narrow;

use super::totals::{Columns, Counts, INTERRUPTED, Row, processor, rows, rows_of};
use super::{Access, Buffers, Command, Throughput};
use crate::point::seconds;
use crate::{NoFigures, Output, point};

/// The whole output of a command.
pub fn xml(command: &Command, run: &Run, sizes: &[u64]) -> String {
    let mut out = Xml::default();
    out.inside("Results", |out| {
        system(out, run);
        profile(out, command);
        for point in &run.points {
            let rows = rows_of(command, point, sizes);
            let columns = Columns::of(command);
            time_span(out, point, &rows, run.environment.cpus, command.thread_count(), columns);
        }
    });
    out.0
}

/// What a command asks for, as `-Rpxml` prints it.
pub(super) fn only_profile(command: &Command) -> String {
    let mut out = Xml::default();
    profile(&mut out, command);
    out.0
}

/// Elements one after the other, a line each.
#[derive(Default)]
struct Xml(String);

impl Xml {
    fn inside(&mut self, name: &str, fill: impl FnOnce(&mut Xml)) {
        debug_assert!(name.bytes().all(|letter| letter.is_ascii_alphabetic()), "a tag is a word: {name}");
        self.0 += &format!("<{name}>\n");
        fill(self);
        self.0 += &format!("</{name}>\n");
    }

    fn element(&mut self, name: &str, value: impl std::fmt::Display) {
        let mut text = String::new();
        for character in value.to_string().chars() {
            match character {
                '<' => text += "&lt;",
                '>' => text += "&gt;",
                '&' => text += "&amp;",
                control if control.is_control() => text.push(' '),
                plain => text.push(plain),
            }
        }
        self.0 += &format!("<{name}>{text}</{name}>\n");
    }

    /// With three digits after the point; left out where there is no figure.
    fn ms(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.element(name, format_args!("{value:.3}"));
        }
    }
}

fn system(out: &mut Xml, run: &Run) {
    out.inside("System", |out| {
        out.element("ComputerName", &run.environment.hostname);
        out.inside("Tool", |out| {
            out.element("Version", format_args!("{} {}", run.tool.name, run.tool.version));
            out.element("VersionDate", run.started.get(..10).unwrap_or_default().replace('-', "/"));
        });
        let date = run.started.get(..10).unwrap_or_default().replace('-', "/");
        out.element("RunTime", format_args!("{date} {} UTC", run.started.get(11..19).unwrap_or_default()));
    });
}

fn profile(out: &mut Xml, command: &Command) {
    out.inside("Profile", |out| {
        out.element("Progress", 0);
        out.element("ResultFormat", "xml");
        out.element("Verbose", command.verbose);
        out.inside("TimeSpans", |out| {
            out.inside("TimeSpan", |out| {
                out.element("CompletionRoutines", false);
                out.element("MeasureLatency", command.latency);
                out.element("CalculateIopsStdDev", command.iops_deviation);
                out.element("DisableAffinity", command.no_affinity);
                out.element("Duration", command.seconds);
                out.element("Warmup", command.warmup);
                out.element("Cooldown", command.cooldown);
                out.element("ThreadCount", command.total_threads.unwrap_or(0));
                out.element("RequestCount", 0);
                out.element("IoBucketDuration", 1000);
                out.element("RandSeed", command.seed.unwrap_or(0));
                if !command.cpus.is_empty() {
                    out.inside("Affinity", |out| {
                        for cpu in &command.cpus {
                            out.0 += &format!("<AffinityGroupAssignment Group=\"0\" Processor=\"{cpu}\"/>\n");
                        }
                    });
                }
                out.inside("Targets", |out| {
                    command.targets.iter().for_each(|path| target(out, command, path));
                });
            });
        });
    });
}

fn target(out: &mut Xml, command: &Command, path: &str) {
    out.inside("Target", |out| {
        out.element("Path", path);
        out.element("BlockSize", command.block);
        out.element("BaseFileOffset", command.base);
        out.element("SequentialScan", false);
        out.element("RandomAccess", false);
        out.element("TemporaryFile", false);
        out.element("UseLargePages", command.large_pages);
        if command.direct {
            out.element("DisableOSCache", true);
        }
        if command.through {
            out.element("WriteThrough", true);
        }
        out.inside("WriteBufferContent", |out| match command.buffers {
            Buffers::Zeros => out.element("Pattern", "zero"),
            Buffers::Pattern => out.element("Pattern", "sequential"),
            Buffers::Random => out.element("Pattern", "random"),
            Buffers::Source(size) => {
                out.element("Pattern", "random");
                out.inside("RandomDataSource", |out| out.element("SizeInBytes", size));
            }
        });
        out.element("ParallelAsyncIO", false);
        if let Some((burst, pause)) = command.bursts {
            out.element("BurstSize", burst);
            out.element("ThinkTime", pause);
        }
        if let Some(size) = command.create {
            out.element("FileSize", size);
        }
        match command.access {
            Access::Random(align) => out.element("Random", align),
            Access::Sequential(stride) => {
                out.element("StrideSize", stride);
                out.element("InterlockedSequential", false);
            }
            Access::Interlocked => {
                out.element("StrideSize", command.block);
                out.element("InterlockedSequential", true);
            }
        }
        out.element("ThreadStride", command.thread_stride);
        out.element("MaxFileSize", command.most.unwrap_or(0));
        out.element("RequestCount", command.outstanding);
        out.element("WriteRatio", command.writes);
        match command.throughput {
            Some(Throughput::Requests(rate)) => out.element("ThroughputIOPS", rate),
            Some(Throughput::Bytes(rate)) => out.element("Throughput", rate),
            None => out.element("Throughput", 0),
        }
        out.element("ThreadsPerFile", command.threads);
        out.element("IOPriority", 3);
        out.element("Weight", 1);
    });
}

fn time_span(out: &mut Xml, point: &Point, rows: &[Row], cpus: u32, threads: u32, columns: Columns) {
    out.inside("TimeSpan", |out| {
        let time = seconds(point);
        if time < 1e-7 {
            return out.element("Error", INTERRUPTED);
        }
        out.element("TestTimeSeconds", format_args!("{time:.2}"));
        out.element("ThreadCount", threads);
        out.element("ProcCount", cpus);
        out.inside("CpuUtilization", |out| {
            let Some((user, kernel, idle)) = processor(point) else { return };
            out.inside("Average", |out| {
                out.element("UsagePercent", format_args!("{:.2}", user + kernel));
                out.element("UserPercent", format_args!("{user:.2}"));
                out.element("KernelPercent", format_args!("{kernel:.2}"));
                out.element("IdlePercent", format_args!("{idle:.2}"));
            });
        });
        let sum = |of: fn(&Row) -> Counts| Counts::sum(&rows.iter().map(of).collect::<Vec<_>>());
        let (reads, writes) = (sum(|row| row.reads.clone()), sum(|row| row.writes.clone()));
        if columns.latency {
            percentiles(out, &reads, &writes);
        }
        if columns.deviation {
            iops(out, &reads, &writes);
        }
        let mut rest = rows;
        while let Some(first) = rest.first() {
            let own = rest.iter().take_while(|row| row.thread == first.thread).count();
            assert!(own > 0, "a thread has a row, so that this ends");
            out.inside("Thread", |out| {
                out.element("Id", first.thread);
                rest[..own].iter().for_each(|row| thread_target(out, row, columns));
            });
            rest = &rest[own..];
        }
    });
}

fn percentiles(out: &mut Xml, reads: &Counts, writes: &Counts) {
    let total = Counts::sum([reads, writes]);
    out.inside("Latency", |out| {
        out.ms("AverageReadMilliseconds", reads.mean_ms());
        out.ms("ReadLatencyStdev", reads.deviation_ms());
        out.ms("AverageWriteMilliseconds", writes.mean_ms());
        out.ms("WriteLatencyStdev", writes.deviation_ms());
        out.ms("AverageTotalMilliseconds", total.mean_ms());
        out.ms("LatencyStdev", total.deviation_ms());
        let whole = (0..=99).map(|percent| percent.to_string());
        let nines = (1..=7).map(|nines| format!("99.{}", "9".repeat(nines)));
        for percent in whole.chain(nines).chain(["100".to_owned()]) {
            let q = percent.parse::<f64>().expect("these are numbers") / 100.0;
            out.inside("Bucket", |out| {
                out.element("Percentile", &percent);
                out.ms("ReadMilliseconds", reads.quantile_ms(q));
                out.ms("WriteMilliseconds", writes.quantile_ms(q));
                out.ms("TotalMilliseconds", total.quantile_ms(q));
            });
        }
    });
}

fn iops(out: &mut Xml, reads: &Counts, writes: &Counts) {
    let total = Counts::sum([reads, writes]);
    out.inside("Iops", |out| {
        for (name, counts) in [("ReadIopsStdDev", reads), ("WriteIopsStdDev", writes), ("IopsStdDev", &total)]
        {
            out.ms(name, Some(counts.deviation()).filter(|_| !counts.seconds.is_empty()));
        }
        for (index, sum) in total.seconds.iter().enumerate() {
            let of = |counts: &Counts| counts.seconds.get(index).copied().unwrap_or(0.0);
            out.0 += &format!(
                "<Bucket SampleMillisecond=\"{}\" Read=\"{:.0}\" Write=\"{:.0}\" Total=\"{sum:.0}\"/>\n",
                (index + 1) * 1000,
                of(reads),
                of(writes)
            );
        }
    });
}

fn thread_target(out: &mut Xml, row: &Row, columns: Columns) {
    let total = row.total();
    out.inside("Target", |out| {
        out.element("Path", &row.path);
        out.element("BytesCount", total.bytes);
        out.element("FileSize", row.size);
        out.element("IOCount", total.ios);
        out.element("ReadBytes", row.reads.bytes);
        out.element("ReadCount", row.reads.ios);
        out.element("WriteBytes", row.writes.bytes);
        out.element("WriteCount", row.writes.ios);
        if columns.latency {
            out.ms("AverageReadLatencyMilliseconds", row.reads.mean_ms());
            out.ms("ReadLatencyStdev", row.reads.deviation_ms());
            out.ms("AverageWriteLatencyMilliseconds", row.writes.mean_ms());
            out.ms("WriteLatencyStdev", row.writes.deviation_ms());
            out.ms("AverageLatencyMilliseconds", total.mean_ms());
            out.ms("LatencyStdev", total.deviation_ms());
        }
        if columns.deviation {
            iops(out, &row.reads, &row.writes);
        }
    });
}

/// diskspd's XML of any run that reads or writes. What it says of the profile is left out.
pub const OUTPUT_XML: Output = Output {
    name: "diskspd-xml",
    ending: "diskspd.xml",
    about: "diskspd's XML, a timespan for each point and a thread for each workload",
    write: any_xml,
};

fn any_xml(run: &Run) -> Result<String, NoFigures> {
    let mut out = Xml::default();
    let points: Vec<&Point> = run.points.iter().filter(|point| has_figures(point)).collect();
    if points.is_empty() {
        return Err(no_figures("diskspd-xml"));
    }
    out.inside("Results", |out| {
        system(out, run);
        for point in points {
            let threads = point.workloads.iter().map(|workload| narrow::<u32>(workload.workers.len())).sum();
            time_span(out, point, &any_rows(run, point), run.environment.cpus, threads, Columns::ALL);
        }
    });
    Ok(out.0)
}

/// A row for each workload of any run.
pub(super) fn any_rows(run: &Run, point: &Point) -> Vec<Row> {
    let names: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    let size = run.targets.iter().map(|target| target.size_bytes).sum();
    rows(point, |index, _| (narrow::<u32>(index), names.join(" "), size))
}

/// Whether requests of a point read or wrote.
pub(super) fn has_figures(point: &Point) -> bool {
    point::classes(point)
        .any(|class| class.ops > 0 && matches!(class.op, record::Op::Read | record::Op::Write))
}

pub(super) fn no_figures(format: &'static str) -> NoFigures {
    NoFigures { format, why: "no point reads or writes; `fathom run diskspd` has such points".into() }
}
