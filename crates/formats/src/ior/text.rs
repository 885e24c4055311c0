//! What IOR prints: a heading, a line for each phase, and a summary.

use record::{Op, Point};
use units::Nanos;
use workload::spec::{Pace, Workload};

use super::options::{Command, Offsets, Shape};
use super::spread::Spread;
use crate::point;
use crate::tasks::{FileSystem, VERSION};

/// A mebibyte, in which IOR counts.
pub(super) const MIB: f64 = 1_048_576.0;

/// What a phase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It writes.
    Write,
    /// It reads.
    Read,
}

impl Access {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Write => "write",
            Access::Read => "read",
        }
    }
}

/// One phase that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What it did.
    pub access: Access,
    /// Which repetition, from 0.
    pub iteration: u32,
    /// Bytes moved by all tasks.
    pub bytes: u64,
    /// Transfers of all tasks.
    pub transfers: u64,
    /// From the common start to the end of the last task, its flush included.
    pub seconds: f64,
    /// Mean time of a transfer of the quickest task; where a task has several in flight, of all.
    pub latency_s: f64,
    /// Bytes of its block and of a transfer, where these are not what was asked of all phases.
    pub sizes: Option<[u64; 2]>,
    /// Seconds to the stonewall behind which it wore out, and bytes that all tasks had moved by then.
    pub at_wall: Option<(f64, f64)>,
}

impl Row {
    /// The figures of `point`, which has read or written blocks; `None` where it did both, neither, or ended at once.
    pub fn of(point: &Point, iteration: u32) -> Option<Row> {
        let (writes, reads) = (point::has(point, Op::Write), point::has(point, Op::Read));
        let (access, op) = match (writes, reads) {
            (true, false) => (Access::Write, Op::Write),
            (false, true) => (Access::Read, Op::Read),
            _ => return None,
        };
        let seconds = point::seconds(point);
        let of_op = || point::classes(point).filter(move |class| class.op == op);
        let transfers = of_op().map(|class| class.ops).sum();
        let most = point::workers(point).map(|worker| worker.ops).max().unwrap_or(0);
        (seconds > 0.0 && most > 0).then(|| Row {
            access,
            iteration,
            bytes: of_op().map(|class| class.bytes).sum(),
            transfers,
            seconds,
            latency_s: of_several(point, op).unwrap_or(seconds / most as f64),
            sizes: None,
            at_wall: at_wall(point, op),
        })
    }

    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// Transfers a second.
    pub fn per_second(&self) -> f64 {
        self.transfers as f64 / self.seconds
    }
}

/// The mean response time in seconds, where a worker has more than one request in flight or is given a rate: then the time from
/// one end to the next is none of a transfer.
fn of_several(point: &Point, op: Op) -> Option<f64> {
    let one_by_one = |asked: &Workload| asked.depth == 1 && asked.pace == Pace::Closed;
    if point.workloads.iter().all(|workload| one_by_one(&workload.spec)) {
        return None;
    }
    let of_op = || point::classes(point).filter(move |class| class.op == op);
    let (sum_ns, count) = of_op().fold((0.0, 0.0), |(sum_ns, count), class| {
        (sum_ns + class.response.sum_ns as f64, count + class.response.count as f64)
    });
    (count > 0.0).then(|| sum_ns / count / 1e9)
}

/// Seconds to the stonewall of a load that wore out, which are whole ones, and bytes that `op` had moved in them.
fn at_wall(point: &Point, op: Op) -> Option<(f64, f64)> {
    let [workload] = &point.workloads[..] else { return None };
    let stop = workload.spec.stop;
    let run = stop.run.filter(|_| stop.wear_out)?;
    let name = format!("{op}{}", record::names::series::OPS);
    let each = workload.whole_seconds(point.series.iter().filter(|series| series.name == name), &name);
    let seconds = run.get() / 1_000_000_000;
    let transfers: f64 = each.iter().take(units::convert::narrow(seconds)).sum();
    Some((run.as_secs_f64(), transfers * workload.spec.sizes.largest().as_f64()))
}

/// A value that is printed.
enum Shown {
    Text(String),
    Count(u64),
    Number(i32),
    Figure(f64),
}

impl Shown {
    fn text(&self) -> String {
        match self {
            Shown::Text(text) => text.clone(),
            Shown::Count(count) => count.to_string(),
            Shown::Number(number) => number.to_string(),
            Shown::Figure(figure) => format!("{figure:.4}"),
        }
    }

    fn json(&self) -> String {
        match self {
            Shown::Text(text) => crate::plan::quoted(text),
            other => other.text(),
        }
    }
}

type Pair = (&'static str, Shown);
type Pairs = Vec<Pair>;

fn word(text: impl Into<String>) -> Shown {
    Shown::Text(text.into())
}

fn count(count: impl Into<u64>) -> Shown {
    Shown::Count(count.into())
}

/// What stands around the lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What was asked for.
    pub asked: Command,
    /// The command line, the tool's name first.
    pub command: String,
    /// Name of this host.
    pub hostname: String,
    /// Hosts on which tasks run.
    pub hosts: u32,
    /// Bytes of memory that are held on each host; `None` for none.
    pub hog: Option<u64>,
    /// What the files are in; `None` where that is none, or is not known any more.
    pub file_system: Option<FileSystem>,
    /// When it began, as `ctime` writes it.
    pub began: String,
}

impl Sheet {
    fn head(&self) -> Pairs {
        vec![
            ("Began", word(&self.began)),
            ("Command line", word(&self.command)),
            ("Machine", word(format!("Linux {}", self.hostname))),
        ]
    }

    fn options(&self) -> Pairs {
        let Shape { file, segments, tasks, transfer, block, repetitions, .. } = &self.asked.shape;
        let access = if self.asked.shape.file_per_task { "file-per-process" } else { "single-shared-file" };
        let order = if self.asked.shape.offsets == Offsets::InOrder { "sequential" } else { "random" };
        let mut pairs = vec![
            ("api", word("POSIX")),
            ("apiVersion", word("")),
            ("test filename", word(file)),
            ("access", word(access)),
            ("type", word(if self.asked.shape.collective { "collective" } else { "independent" })),
            ("segments", count(*segments)),
            ("ordering in a file", word(order)),
        ];
        pairs.extend(self.order());
        pairs.extend([
            ("nodes", count(self.hosts)),
            ("tasks", count(*tasks)),
            ("clients per node", count(self.tasks_per_host())),
        ]);
        pairs.extend(self.hog.map(|bytes| ("memoryPerNode", word(human(bytes)))));
        pairs.extend([
            ("memoryBuffer", word("CPU")),
            ("dataAccess", word("CPU")),
            ("GPUDirect", word("0")),
            ("repetitions", count(*repetitions)),
            ("xfersize", word(human(*transfer))),
            ("blocksize", word(human(*block))),
            ("aggregate filesize", word(human(self.asked.shape.total()))),
        ]);
        pairs.extend(self.asked.is_dry.then(|| ("dryRun", count(1u32))));
        if let Some(stonewall) = self.asked.shape.stonewall {
            pairs.push(("stonewallingTime", count(stonewall.after.get() / 1_000_000_000)));
            pairs.push(("stoneWallingWearOut", count(u32::from(self.asked.shape.wear_out.is_on))));
        }
        pairs
    }

    /// Whose data a task reads; of `-Z -Z` IOR says nothing.
    fn order(&self) -> Pairs {
        let Shape { reorders, random_reorders, task_offset, reorder_seed, .. } = self.asked.shape;
        let offset = ("task offset", count(task_offset));
        match (reorders, random_reorders) {
            (true, _) => vec![("ordering inter file", word("constant task offset")), offset],
            (_, 0) => vec![("ordering inter file", word("no tasks offsets"))],
            (_, 1) => vec![
                ("ordering inter file", word("random task offset")),
                offset,
                ("reorder random seed", Shown::Number(reorder_seed)),
            ],
            _ => Vec::new(),
        }
    }

    /// The file of the first task.
    fn path(&self) -> String {
        let files = self.asked.files().unwrap_or_default();
        files.into_iter().next().map_or_else(|| self.asked.shape.file.clone(), |file| file.path)
    }

    fn tasks_per_host(&self) -> u32 {
        self.asked.shape.tasks.div_ceil(self.hosts.max(1))
    }

    /// All above the first line of figures, in text.
    pub fn heading(&self) -> String {
        let mut text = format!("IOR-{VERSION}: MPI Coordinated Test of Parallel I/O\n");
        text += &lines(&self.head());
        text +=
            &lines(&[("TestID", count(0u32)), ("StartTime", word(&self.began)), ("Path", word(self.path()))]);
        text += &self.file_system.map(FileSystem::line).unwrap_or_default();
        text += "\nOptions: \n";
        text += &lines(&self.options());
        text += "\nResults: \n\n";
        text += "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n";
        text += "------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----\n";
        text
    }

    /// Bytes of the block and of a transfer of a phase.
    fn sizes(&self, row: &Row) -> [u64; 2] {
        row.sizes.unwrap_or([self.asked.shape.block, self.asked.shape.transfer])
    }

    /// The line of one phase, in text.
    pub fn line(&self, row: &Row) -> String {
        let figures = [row.rate() / MIB, row.per_second(), row.latency_s];
        let [rate, iops, latency] = figures.map(figure);
        let sizes = self.sizes(row).map(|bytes| figure(bytes as f64 / 1024.0));
        let times = [0.0, row.seconds, 0.0, row.seconds].map(figure);
        let (name, iteration) = (row.access.name(), row.iteration);
        format!(
            "{name:<10}{rate} {iops} {latency}  {} {} {} {iteration:<4}\n",
            sizes[0],
            sizes[1],
            times.join(" ")
        )
    }

    /// All below the last line of figures, in text; `finished` is when it ended, as `ctime` writes it.
    pub fn summary(&self, rows: &[Row], finished: &str) -> String {
        const HEAD: &str = "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     \
             StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed \
             segcnt   blksiz    xsize aggs(MiB)   API RefNum\n";
        let mut text = format!("\nSummary of all tests:\n{HEAD}");
        for access in [Access::Write, Access::Read] {
            text += &Spread::of(rows, access).map(|spread| self.summed(access, &spread)).unwrap_or_default();
        }
        text + &lines(&[("Finished", word(finished))])
    }

    fn summed(&self, access: Access, spread: &Spread) -> String {
        let Shape { tasks, repetitions, segments, block, transfer, reference, .. } = self.asked.shape;
        let name = access.name();
        let mut text = format!("{name:<9} ");
        spread.rates.iter().chain(&spread.per_second).for_each(|figure| text += &format!("{figure:10.2} "));
        let [wall, rate] = match self.at_wall(spread) {
            Some((wall, rate)) => [format!("{wall:.2}"), format!("{rate:.2}")],
            None => ["NA".into(), "NA".into()],
        };
        text += &format!("{:10.5} {wall:>10} {rate:>13} ", spread.seconds);
        let flags = [self.asked.shape.file_per_task, self.asked.shape.reorders].map(u32::from);
        text += &format!(
            "{:5} {tasks:6} {:3} {repetitions:4} {:3} {:5} ",
            0,
            self.tasks_per_host(),
            flags[0],
            flags[1]
        );
        let Shape { task_offset, random_reorders, reorder_seed, .. } = self.asked.shape;
        text += &format!(
            "{task_offset:8} {random_reorders:9} {reorder_seed:4} {segments:6} {block:8} {transfer:8} "
        );
        text + &format!("{:9.1} POSIX {reference:6}\n", spread.bytes / MIB)
    }

    /// Mean seconds to the stonewall of a phase that wore out, and MiB that a task had moved by then, a second.
    fn at_wall(&self, spread: &Spread) -> Option<(f64, f64)> {
        let (seconds, bytes) = spread.at_wall?;
        Some((seconds, bytes / f64::from(self.asked.shape.tasks) / seconds / MIB))
    }

    /// All of it as one object.
    pub fn json(&self, rows: &[Row], finished: &str) -> String {
        let rows_json: Vec<String> = rows.iter().map(|row| object(&self.row_pairs(row), 8)).collect();
        let mut about =
            vec![("TestID", count(0u32)), ("StartTime", word(&self.began)), ("Path", word(self.path()))];
        let of_file_system = self.file_system.map(FileSystem::pairs).into_iter().flatten();
        about.extend(of_file_system.map(|(key, value)| (key, word(value))));
        let about: String =
            about.iter().map(|(key, value)| format!("      \"{key}\": {},\n", value.json())).collect();
        let test = format!(
            "    {{\n{about}      \"Parameters\": {},\n      \"Options\": {},\n      \"Results\": [\n        {}\n      ]\n    }}",
            object(&self.parameters(), 8),
            object(&self.options(), 8),
            rows_json.join(",\n        ")
        );
        let summaries: Vec<String> = [Access::Write, Access::Read]
            .into_iter()
            .filter_map(|access| Some(object(&self.summary_pairs(access, &Spread::of(rows, access)?), 4)))
            .collect();
        let head = [("Version", word(VERSION))].into_iter().chain(self.head());
        let head: String = head.map(|(key, value)| format!("  \"{key}\": {},\n", value.json())).collect();
        format!(
            "{{\n{head}  \"tests\": [\n{test}\n  ],\n  \"summary\": [\n    {}\n  ],\n  \"Finished\": {}\n}}\n",
            summaries.join(",\n    "),
            word(finished).json()
        )
    }

    fn parameters(&self) -> Pairs {
        let (asked, shape) = (&self.asked, &self.asked.shape);
        let seconds = |time: Option<Nanos>| count(time.map_or(0, |time| time.get() / 1_000_000_000));
        let (on, none) = (|flag: bool| count(u32::from(flag)), || count(0u32));
        vec![
            ("testID", none()),
            ("refnum", count(shape.reference)),
            ("api", word("POSIX")),
            ("platform", word(format!("{}(Linux)", self.hostname))),
            ("testFileName", word(&shape.file)),
            ("deadlineForStonewall", seconds(shape.stonewall.map(|wall| wall.after))),
            ("stoneWallingWearOut", on(shape.wear_out.is_on)),
            ("maxTimeDuration", count(asked.within.map_or(0, |time| time.get() / 60_000_000_000))),
            ("outlierThreshold", count(asked.outlier_s.unwrap_or(0))),
            ("options", word("(null)")),
            ("dryRun", on(asked.is_dry)),
            ("nodes", count(self.hosts)),
            ("memoryPerTask", none()),
            ("memoryPerNode", count(self.hog.unwrap_or(0))),
            ("tasksPerNode", count(self.tasks_per_host())),
            ("repetitions", count(shape.repetitions)),
            ("multiFile", on(asked.multi_file)),
            ("interTestDelay", seconds(asked.delay)),
            ("fsync", on(asked.flushes)),
            ("fsyncperwrite", on(asked.flushes_each)),
            ("useExistingTestFile", on(asked.uses_existing)),
            ("uniqueDir", on(asked.unique_dir)),
            ("singleXferAttempt", none()),
            ("readFile", on(asked.reads)),
            ("writeFile", on(asked.writes)),
            ("filePerProc", on(shape.file_per_task)),
            ("reorderTasks", on(shape.reorders)),
            ("reorderTasksRandom", count(shape.random_reorders)),
            ("reorderTasksRandomSeed", Shown::Number(shape.reorder_seed)),
            ("randomOffset", on(shape.offsets != Offsets::InOrder)),
            ("checkWrite", on(asked.checks_writes)),
            ("checkRead", on(asked.checks_reads)),
            ("dataPacketType", none()),
            ("keepFile", on(asked.keeps)),
            ("keepFileWithError", none()),
            ("warningAsErrors", none()),
            ("verbose", none()),
            ("data packet type", word("g")),
            ("setTimeStampSignature/incompressibleSeed", count(asked.seed)),
            ("collective", on(shape.collective)),
            ("segmentCount", count(shape.segments)),
            ("transferSize", count(shape.transfer)),
            ("blockSize", count(shape.block)),
        ]
    }

    fn row_pairs(&self, row: &Row) -> Pairs {
        vec![
            ("access", word(row.access.name())),
            ("bwMiB", Shown::Figure(row.rate() / MIB)),
            ("blockKiB", Shown::Figure(self.sizes(row)[0] as f64 / 1024.0)),
            ("xferKiB", Shown::Figure(self.sizes(row)[1] as f64 / 1024.0)),
            ("iops", Shown::Figure(row.per_second())),
            ("latency", Shown::Figure(row.latency_s)),
            ("openTime", Shown::Figure(0.0)),
            ("wrRdTime", Shown::Figure(row.seconds)),
            ("closeTime", Shown::Figure(0.0)),
            ("totalTime", Shown::Figure(row.seconds)),
        ]
    }

    fn summary_pairs(&self, access: Access, spread: &Spread) -> Pairs {
        const RATES: [&str; 4] = ["bwMaxMIB", "bwMinMIB", "bwMeanMIB", "bwStdMIB"];
        const COUNTS: [&str; 4] = ["OPsMax", "OPsMin", "OPsMean", "OPsSD"];
        let shape = &self.asked.shape;
        let mut pairs = vec![
            ("operation", word(access.name())),
            ("API", word("POSIX")),
            ("TestID", count(0u32)),
            ("ReferenceNumber", count(shape.reference)),
            ("segmentCount", count(shape.segments)),
            ("blockSize", count(shape.block)),
            ("transferSize", count(shape.transfer)),
            ("numTasks", count(shape.tasks)),
            ("tasksPerNode", count(self.tasks_per_host())),
            ("repetitions", count(shape.repetitions)),
            ("filePerProc", count(u32::from(shape.file_per_task))),
            ("reorderTasks", count(u32::from(shape.reorders))),
            ("taskPerNodeOffset", count(shape.task_offset)),
            ("reorderTasksRandom", count(shape.random_reorders)),
            ("reorderTasksRandomSeed", Shown::Number(shape.reorder_seed)),
        ];
        pairs.extend(RATES.into_iter().zip(spread.rates.map(Shown::Figure)));
        pairs.extend(COUNTS.into_iter().zip(spread.per_second.map(Shown::Figure)));
        pairs.push(("MeanTime", Shown::Figure(spread.seconds)));
        if let Some((seconds, rate)) = self.at_wall(spread) {
            pairs.push(("StoneWallTime", Shown::Figure(seconds)));
            pairs.push(("StoneWallbwMeanMIB", Shown::Figure(rate)));
        }
        pairs.push(("xsizeMiB", Shown::Figure(spread.bytes / MIB)));
        pairs
    }

    /// The names of the columns, with commas between them.
    pub fn csv_heading() -> &'static str {
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n"
    }

    /// The line of one phase, with commas.
    pub fn csv_line(&self, row: &Row) -> String {
        let sizes = self.sizes(row).map(|bytes| bytes as f64 / 1024.0);
        let figures = [
            row.rate() / MIB,
            row.per_second(),
            row.latency_s,
            sizes[0],
            sizes[1],
            0.0,
            row.seconds,
            0.0,
            row.seconds,
        ];
        let figures: String = figures.iter().map(|figure| format!("{figure:.4},")).collect();
        let line = format!("{},{figures}{},{}\n", row.access.name(), self.asked.shape.tasks, row.iteration);
        let columns = Sheet::csv_heading().matches(',').count();
        debug_assert_eq!(line.matches(',').count(), columns, "a field for each column");
        line
    }
}

fn lines(pairs: &[Pair]) -> String {
    pairs.iter().map(|(key, value)| format!("{key:<20}: {}\n", value.text())).collect()
}

fn object(pairs: &[Pair], indent: usize) -> String {
    let lines: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{:indent$}  \"{key}\": {}", "", value.json())).collect();
    format!("{{\n{}\n{:indent$}}}", lines.join(",\n"), "")
}

/// Ten characters, from the left, with as many digits as IOR shows.
fn figure(number: f64) -> String {
    let digits = match number {
        number if number < 1.0 => 6,
        number if number < 3600.0 => 2,
        _ => 0,
    };
    format!("{number:<10.digits$}")
}

/// A size with its unit; below a mebibyte in bytes.
fn human(bytes: u64) -> String {
    for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20)] {
        let whole = 1u64 << shift;
        if bytes >= whole {
            return match bytes % whole {
                0 => format!("{} {unit}", bytes / whole),
                _ => format!("{:.2} {unit}", bytes as f64 / whole as f64),
            };
        }
    }
    format!("{bytes} bytes")
}
