//! The results file: a header, and for each test the specifications, the figures of everybody, and the time.
//!
//! Lines end as on Windows, numbers have six decimals, and an empty field is one that does not apply. What the
//! record does not have (interrupts, packets) is 0, as where Dynamo could not find it. Raw counters are in
//! nanoseconds, and the column of the processor's speed says so: it is the number of counts in a second.
//!
//! Source: results files of Iometer 1.1.0 and of before, and the order in which it writes them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use record::{Op, Point, PointKind, Run, WorkloadResult};
use units::convert::{narrow, truncated};

use super::config::{Record, Spec};
use super::figures::{BINS, Figures, mean_ms};
use super::processors::Cpu;
use super::sheet::{Sheet, Test, Worker};

/// Which versions a results file is as of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// 1.1.0: 80 columns, the last 21 of them latency bins.
    #[default]
    New,
    /// 2001 to 2008: 56 columns.
    Old,
}

impl Generation {
    fn version(self) -> &'static str {
        match self {
            Generation::New => "1.1.0",
            Generation::Old => "2006.07.27",
        }
    }
}

/// The results file of `run`, whose phases are those of `sheet`.
pub fn write(run: &Run, sheet: &Sheet, generation: Generation) -> String {
    if sheet.record == Record::Nothing {
        return String::new();
    }
    let mut file = Writer { run, sheet, generation, text: String::new() };
    file.head();
    let mut round = None;
    for point in run.points.iter().filter(|point| point.kind == PointKind::Load) {
        let Some(test) = sheet.tests.iter().find(|test| test.phase == point.phase) else { continue };
        if !point.complete {
            break;
        }
        if round.replace(test.round) != Some(test.round) {
            file.specs(test);
        }
        file.results(test, point);
    }
    file.line(if run.ending.complete { "'End Test" } else { "Aborted test" });
    file.text
}

struct Writer<'a> {
    run: &'a Run,
    sheet: &'a Sheet,
    generation: Generation,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str("\r\n");
    }

    fn head(&mut self) {
        self.line("'Test Type,Test Description");
        self.line(&format!("{},{}", self.sheet.test_type, field(&self.sheet.description)));
        self.line("'Version");
        self.line(self.generation.version());
        self.stamp(0);
    }

    /// The time so long after the run began; in UTC, since a record does not know where it is read.
    fn stamp(&mut self, after_ns: u64) {
        let started: Timestamp = self.run.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let after = jiff::SignedDuration::from_nanos(i64::try_from(after_ns).unwrap_or(i64::MAX));
        let at = started.checked_add(after).unwrap_or(started).to_zoned(TimeZone::UTC);
        self.line("'Time Stamp");
        self.line(&format!("{}:{:03}", at.strftime("%Y-%m-%d %H:%M:%S"), at.millisecond()));
    }

    fn specs(&mut self, test: &Test) {
        self.line("'Access specifications");
        for Spec { name, assignment, lines } in &test.specs {
            self.line("'Access specification name,default assignment");
            self.line(&format!("{},{}", field(name), assignment.number()));
            self.line("'size,% of size,% reads,% random,delay,burst,align,reply");
            for line in lines {
                self.line(&format!(
                    "{},{},{},{},{},{},{},{},",
                    line.size,
                    line.share,
                    line.reads,
                    line.random,
                    line.delay_ms,
                    line.burst,
                    line.align,
                    line.reply
                ));
            }
        }
        self.line("'End access specifications");
    }

    fn results(&mut self, test: &Test, point: &Point) {
        self.line("'Results");
        let header = headings(self.generation).join(",");
        self.line(&header);
        debug_assert_eq!(
            header.split(',').count(),
            headings(self.generation).len(),
            "a heading has no comma"
        );
        let cpu = Cpu::of(point);
        let mut at = 0;
        let mut rows = Vec::new();
        let mut all: Vec<&WorkloadResult> = Vec::new();
        for (name, workers) in &test.managers {
            let count = workers.iter().map(|worker| worker.disks.len()).sum::<usize>();
            let results: Vec<&WorkloadResult> = point.workloads.iter().skip(at).take(count).collect();
            at += count;
            all.extend(&results);
            rows.extend(self.manager(name, workers, &results, &cpu, point));
        }
        let workers: Vec<&Worker> = test.managers.iter().flat_map(|(_, workers)| workers).collect();
        let mut row = Row::new("ALL", "All", &common(workers.iter().map(|worker| worker.spec.clone())));
        row.managers = Some(test.managers.len());
        row.workers = Some(workers.len());
        row.settings(&workers, &all);
        row.figures(&all, true);
        row.cpu = Some(cpu);
        let text = row.text(self.generation);
        self.line(&text);
        rows.iter().for_each(|row| self.line(row));
        self.stamp(point.ended_ns);
    }

    fn manager(
        &self,
        name: &str,
        workers: &[Worker],
        results: &[&WorkloadResult],
        cpu: &Cpu,
        point: &Point,
    ) -> Vec<String> {
        let mut rows = Vec::new();
        if self.sheet.record >= Record::NoManagers {
            return rows;
        }
        let name = if name.is_empty() { &self.run.environment.hostname } else { name };
        let mut row = Row::new("MANAGER", name, &common(workers.iter().map(|worker| worker.spec.clone())));
        row.workers = Some(workers.len());
        row.settings(&workers.iter().collect::<Vec<_>>(), results);
        row.figures(results, false);
        row.cpu = Some(*cpu);
        rows.push(row.text(self.generation));
        // Every manager is this machine, whose processors a record may hold.
        rows.extend((0..).map_while(|number| self.processor(number, point)));
        if self.sheet.record >= Record::NoWorkers {
            return rows;
        }
        let mut at = 0;
        for worker in workers {
            let own: Vec<&WorkloadResult> =
                results.iter().skip(at).take(worker.disks.len()).copied().collect();
            at += worker.disks.len();
            let mut row = Row::new("WORKER", &worker.name, &worker.spec);
            row.settings(&[worker], &own);
            row.figures(&own, false);
            rows.push(row.text(self.generation));
            if self.sheet.record >= Record::NoTargets {
                continue;
            }
            for (disk, result) in worker.disks.iter().zip(own) {
                let mut row = Row::new("DISK", &disk.name, "");
                row.settings(&[worker], &[result]);
                row.disks = None;
                row.figures(&[result], false);
                rows.push(row.text(self.generation));
            }
        }
        rows
    }

    /// The row of one processor; `None` where the record holds no such one. Columns of requests and bins stay away.
    fn processor(&self, number: usize, point: &Point) -> Option<String> {
        let cpu = Cpu::named(&format!("cpu.{number}"), point)?;
        let rates = if self.generation == Generation::New { 6 } else { 3 };
        let before = LAST.iter().position(|column| *column == "% CPU Utilization")?;
        let shares = [cpu.total, cpu.user, cpu.privileged, 0.0, cpu.interrupt];
        let figures = shares.into_iter().chain([COUNTS_PER_S, 0.0]).map(|value| format!("{value:.6}"));
        let mut fields = vec!["PROCESSOR".to_owned(), format!("CPU {number}")];
        fields.resize(FIRST.len() + rates + before, String::new());
        fields.extend(figures);
        // Effectiveness and the network's columns are the manager's.
        fields.resize(fields.len() + 4, String::new());
        assert_eq!(fields.len(), FIRST.len() + rates + LAST.len(), "all columns but those of bins");
        Some(fields.join(","))
    }
}

/// What stands above the rows.
fn headings(generation: Generation) -> Vec<&'static str> {
    let rates: &[&str] = match generation {
        Generation::New => &[
            "MiBps (Binary)",
            "Read MiBps (Binary)",
            "Write MiBps (Binary)",
            "MBps (Decimal)",
            "Read MBps (Decimal)",
            "Write MBps (Decimal)",
        ],
        Generation::Old => &["MBps", "Read MBps", "Write MBps"],
    };
    let bins: &[&str] = match generation {
        Generation::New => &BINS.map(|(_, name)| name),
        Generation::Old => &[],
    };
    [FIRST, rates, LAST, bins].concat()
}

const FIRST: &[&str] = &[
    "'Target Type",
    "Target Name",
    "Access Specification Name",
    "# Managers",
    "# Workers",
    "# Disks",
    "IOps",
    "Read IOps",
    "Write IOps",
];

const LAST: &[&str] = &[
    "Transactions per Second",
    "Connections per Second",
    "Average Response Time",
    "Average Read Response Time",
    "Average Write Response Time",
    "Average Transaction Time",
    "Average Connection Time",
    "Maximum Response Time",
    "Maximum Read Response Time",
    "Maximum Write Response Time",
    "Maximum Transaction Time",
    "Maximum Connection Time",
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    "Total Raw Read Response Time",
    "Total Raw Write Response Time",
    "Total Raw Transaction Time",
    "Total Raw Connection Time",
    "Maximum Raw Read Response Time",
    "Maximum Raw Write Response Time",
    "Maximum Raw Transaction Time",
    "Maximum Raw Connection Time",
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
];

/// What is ambiguous, such as the queue depth of two workers that differ.
const AMBIGUOUS: i64 = -1;
/// Counts in a second of the raw columns: they are nanoseconds.
const COUNTS_PER_S: f64 = 1e9;

/// One row before it is text.
#[derive(Default)]
struct Row {
    kind: &'static str,
    name: String,
    spec: String,
    managers: Option<usize>,
    workers: Option<usize>,
    disks: Option<usize>,
    start: i64,
    size: i64,
    depth: i64,
    /// Of a connection.
    transactions: i64,
    cpu: Option<Cpu>,
    is_all: bool,
    reads: Figures,
    writes: Figures,
    errors: i64,
    read_errors: i64,
    write_errors: i64,
    longest_ns: u64,
}

impl Row {
    fn new(kind: &'static str, name: &str, spec: &str) -> Row {
        Row {
            kind,
            name: field(name),
            spec: field(spec),
            start: AMBIGUOUS,
            size: AMBIGUOUS,
            depth: AMBIGUOUS,
            transactions: AMBIGUOUS,
            ..Row::default()
        }
    }

    /// Settings that all of `workers` have in common; the depth is that of the record.
    fn settings(&mut self, workers: &[&Worker], results: &[&WorkloadResult]) {
        let whole = |value: u64| i64::try_from(value).unwrap_or(AMBIGUOUS);
        self.disks = Some(results.len());
        self.transactions =
            one(results.iter().map(|result| result.spec.sequence.reopen_every.map_or(AMBIGUOUS, i64::from)));
        self.start = one(workers.iter().map(|worker| whole(worker.settings.first_sector)));
        self.size = one(workers.iter().map(|worker| whole(worker.settings.sectors)));
        self.depth = one(results.iter().map(|result| i64::from(result.spec.depth)));
    }

    fn figures(&mut self, results: &[&WorkloadResult], is_all: bool) {
        self.is_all = is_all;
        for result in results {
            self.reads.add(result, Op::Read);
            self.writes.add(result, Op::Write);
            self.longest_ns = self.longest_ns.max(result.measured_ns);
            let (reads, writes) = errors(result);
            self.errors += i64::try_from(result.errors).unwrap_or(i64::MAX);
            self.read_errors = sum(self.read_errors, reads);
            self.write_errors = sum(self.write_errors, writes);
        }
    }

    fn text(&self, generation: Generation) -> String {
        let mut fields: Vec<String> = vec![self.kind.into(), self.name.clone(), self.spec.clone()];
        let count = |count: Option<usize>| count.map(|count| count.to_string()).unwrap_or_default();
        fields.extend([self.managers, self.workers, self.disks].map(count));
        let Row { reads, writes, .. } = self;
        let both = |of: fn(&Figures) -> f64| [of(reads) + of(writes), of(reads), of(writes)];
        let per_s = both(|figures| figures.per_s);
        let mut decimals = |values: &[f64]| fields.extend(values.iter().map(|value| format!("{value:.6}")));
        decimals(&per_s);
        decimals(&both(|figures| figures.bytes_per_s / 1_048_576.0));
        if generation == Generation::New {
            decimals(&both(|figures| figures.bytes_per_s / 1e6));
        }
        let mean = mean_ms(reads.sum_ns.saturating_add(writes.sum_ns), reads.timed + writes.timed);
        let (read_ms, write_ms) = (reads.max_ns as f64 / 1e6, writes.max_ns as f64 / 1e6);
        let longest = read_ms.max(write_ms);
        let per_connection = if self.transactions > 0 { self.transactions as f64 } else { f64::INFINITY };
        decimals(&[per_s[0], per_s[0] / per_connection, mean, reads.mean_ms(), writes.mean_ms(), mean, 0.0]);
        decimals(&[longest, read_ms, write_ms, longest, 0.0]);
        fields.extend([self.errors, self.read_errors, self.write_errors].map(|errors| errors.to_string()));
        fields.extend([reads.bytes, writes.bytes, reads.count, writes.count].map(|count| count.to_string()));
        fields.push(truncated::<u64>((reads.count + writes.count) as f64 / per_connection).to_string());
        fields.push(self.transactions.to_string());
        let (sum_ns, max_ns) = (reads.sum_ns.saturating_add(writes.sum_ns), reads.max_ns.max(writes.max_ns));
        let raw =
            [reads.sum_ns, writes.sum_ns, sum_ns, 0, reads.max_ns, writes.max_ns, max_ns, 0, self.longest_ns];
        fields.extend(raw.map(|count| if self.is_all { String::new() } else { count.to_string() }));
        fields.extend([self.start, self.size, self.depth].map(|setting| setting.to_string()));
        fields.extend(self.processor(per_s[0]));
        if generation == Generation::New {
            fields.extend(
                reads.bins.iter().zip(&writes.bins).map(|(reads, writes)| (reads + writes).to_string()),
            );
        }
        debug_assert_eq!(fields.len(), headings(generation).len(), "a row has a field for each heading");
        fields.join(",")
    }

    /// The columns of processor and network.
    fn processor(&self, per_s: f64) -> Vec<String> {
        let decimal = |value: f64| format!("{value:.6}");
        let speed = if self.is_all { String::new() } else { decimal(COUNTS_PER_S) };
        let Some(cpu) = self.cpu else {
            let empty = || std::iter::repeat_n(String::new(), 5);
            return empty().chain([speed]).chain(empty()).collect();
        };
        let effectiveness = if cpu.total > 0.0 { per_s / cpu.total } else { 0.0 };
        let shares = [cpu.total, cpu.user, cpu.privileged, 0.0, cpu.interrupt].map(decimal);
        let rest = [0.0, effectiveness, 0.0, 0.0, 0.0].map(decimal);
        shares.into_iter().chain([speed]).chain(rest).collect()
    }
}

/// Errors of reads and of writes; ambiguous where the record has not kept every one.
fn errors(result: &WorkloadResult) -> (i64, i64) {
    if result.errors == 0 {
        return (0, 0);
    }
    let of = |op: Op| narrow::<i64>(result.error_samples.iter().filter(|sample| sample.op == op).count());
    match result.error_samples.len() as u64 == result.errors {
        true => (of(Op::Read), of(Op::Write)),
        false => (AMBIGUOUS, AMBIGUOUS),
    }
}

fn sum(one: i64, other: i64) -> i64 {
    if one < 0 || other < 0 { AMBIGUOUS } else { one + other }
}

/// The value that all have; ambiguous where they differ.
fn one(values: impl Iterator<Item = i64>) -> i64 {
    let mut values = values.peekable();
    let first = values.peek().copied().unwrap_or(AMBIGUOUS);
    if values.all(|value| value == first) { first } else { AMBIGUOUS }
}

/// The name that all have; nothing where they differ.
fn common(mut names: impl Iterator<Item = String>) -> String {
    let first = names.next().unwrap_or_default();
    if names.all(|name| name == first) { first } else { String::new() }
}

/// A name as a field: what ends fields and lines becomes something else, as Iometer does it.
fn field(text: &str) -> String {
    text.chars().map(|c| if c == ',' { '-' } else { c }).filter(|c| !c.is_control()).collect()
}
