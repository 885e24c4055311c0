//! diskspd's text.
//!
//! Processor time is the machine's as a whole: the line of the average is there, those of single processors are not,
//! and in virtual time nothing is.

use record::{Point, Run};
use units::convert::narrow;

use super::totals::{Columns, Counts, INTERRUPTED, Row, processor, rows_of};
use super::{Access, Buffers, Command, Format};
use crate::point::seconds;
use crate::{NoFigures, Output};

const STARS: &str = "*******************************************************************************\n";

/// The whole output of a command.
pub fn text(command: &Command, run: &Run, sizes: &[u64]) -> String {
    let mut text = head(command);
    for point in &run.points {
        let rows = rows_of(command, point, sizes);
        let columns = Columns::of(command);
        text += &results(1, point, &rows, command.thread_count(), run.environment.cpus, columns);
    }
    text
}

/// What a command asks for, in the format that it asks for.
pub fn asked_for(command: &Command) -> String {
    match command.format {
        Format::Text => head(command),
        Format::Xml => super::xml::only_profile(command),
    }
}

fn head(command: &Command) -> String {
    format!("\nCommand Line: diskspd {}\n\n{}", command.words.join(" "), parameters(command))
}

fn parameters(command: &Command) -> String {
    let mut text = "Input parameters:\n\n".to_owned();
    if command.verbose {
        text += "\tusing verbose mode\n";
    }
    text += &format!(
        "\ttimespan:   1\n\t-------------\n\tduration: {}s\n\twarm up time: {}s\n\tcool down time: {}s\n",
        command.seconds, command.warmup, command.cooldown
    );
    if command.no_affinity {
        text += "\taffinity disabled\n";
    }
    if command.latency {
        text += "\tmeasuring latency\n";
    }
    if command.iops_deviation {
        text += "\tgathering IOPS at intervals of 1000ms\n";
    }
    text += &format!("\trandom seed: {}\n", command.seed.unwrap_or(0));
    if !command.cpus.is_empty() {
        let cpus: Vec<String> = command.cpus.iter().map(|cpu| format!("0/{cpu}")).collect();
        text += &format!("\tadvanced affinity round robin (group/core): {}\n", cpus.join(", "));
    }
    if command.buffers == Buffers::Random {
        text += "\tgenerating random data for each write IO\n";
        text += "\t  WARNING: this increases the CPU cost of issuing writes and should only\n";
        text += "\t           be compared to other results using the -Zr flag\n";
    }
    command.targets.iter().for_each(|target| text += &target_parameters(command, target));
    text + "\n"
}

fn target_parameters(command: &Command, target: &str) -> String {
    let (burst, pause) = command.bursts.unwrap_or((0, 0));
    let mut text = format!("\tpath: '{target}'\n\t\tthink time: {pause}ms\n\t\tburst size: {burst}\n");
    let mut line = |words: String| text += &format!("\t\t{words}\n");
    if command.mapped {
        line("memory mapped I/O enabled".into());
    }
    line(if command.direct { "software cache disabled" } else { "using software cache" }.into());
    line(match (command.through, command.direct) {
        (true, false) => "hardware and software write caches disabled, writethrough on".into(),
        (true, true) => "hardware write cache disabled, writethrough on".into(),
        (false, _) => "using hardware write cache, writethrough off".into(),
    });
    match command.buffers {
        Buffers::Zeros => line("zeroing write buffers".into()),
        Buffers::Source(size) => line(format!("write buffer size: {size}")),
        Buffers::Pattern | Buffers::Random => {}
    }
    line(match command.writes {
        0 => "performing read test".into(),
        100 => "performing write test".into(),
        writes => format!("performing mix test (read/write ratio: {}/{writes})", 100 - writes),
    });
    line(format!("block size: {}", command.block));
    line(match command.access {
        Access::Random(align) if command.random_percent.is_some() => {
            format!(
                "using mixed random/sequential I/O ({}% random) (alignment/stride: {align})",
                command.random_percent.unwrap_or(100)
            )
        }
        Access::Random(align) => format!("using random I/O (alignment: {align})"),
        Access::Interlocked => format!("using interlocked sequential I/O (stride: {})", command.block),
        Access::Sequential(stride) => format!("using sequential I/O (stride: {stride})"),
    });
    line(format!("number of outstanding I/O operations: {}", command.outstanding));
    if command.base > 0 {
        line(format!("base file offset: {}", command.base));
    }
    if let Some(most) = command.most {
        line(format!("max file size: {most}"));
    }
    line(format!("thread stride size: {}", command.thread_stride));
    if command.total_threads.is_none() {
        line(format!("threads per file: {}", command.threads));
        if command.outstanding > 1 {
            line("using I/O Completion Ports".into());
        }
    }
    line("IO priority: normal".into());
    text
}

fn results(number: usize, point: &Point, rows: &[Row], threads: u32, cpus: u32, columns: Columns) -> String {
    let time = seconds(point);
    debug_assert!(threads > 0, "a load has a thread");
    let mut text = format!("\n\nResults for timespan {number}:\n{STARS}");
    if time < 1e-7 {
        return text + INTERRUPTED + "\n";
    }
    text += &format!("\nactual test time:\t{time:.2}s\nthread count:\t\t{threads}\nproc count:\t\t{cpus}\n");
    text += &utilisation(point);
    for (title, of) in SECTIONS {
        text += &format!("\n{title} IO\n{}", table(rows, of, time, columns));
    }
    if columns.latency {
        text += "\n\n";
        text += &percentiles(rows);
    }
    text
}

type Select = fn(&Row) -> Counts;

const SECTIONS: [(&str, Select); 3] =
    [("Total", Row::total), ("Read", |row| row.reads.clone()), ("Write", |row| row.writes.clone())];

fn utilisation(point: &Point) -> String {
    const LINE: &str = "-------------------------------------------\n";
    let average = processor(point).map_or_else(String::new, |(user, kernel, idle)| {
        format!("avg.| {:6.2}%| {user:6.2}%|  {kernel:6.2}%| {idle:6.2}%\n", user + kernel)
    });
    format!("\nCPU |  Usage |  User  |  Kernel |  Idle\n{LINE}{LINE}{average}")
}

fn table(rows: &[Row], of: Select, time: f64, columns: Columns) -> String {
    let Columns { latency, deviation } = columns;
    let either = |when: bool, text: &'static str| if when { text } else { "" };
    let border = format!(
        "------------------------------------------------------------------{}{}{}------------\n",
        either(latency, "-----------"),
        either(deviation, "-------------"),
        either(latency, "------------")
    );
    let mut text = format!(
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s {}{}{}|  file\n{border}",
        either(latency, "|  AvgLat  "),
        either(deviation, "| IopsStdDev "),
        either(latency, "| LatStdDev ")
    );
    let all: Vec<Counts> = rows.iter().map(of).collect();
    for (row, counts) in rows.iter().zip(&all) {
        let figures = cells(counts, time, columns);
        text += &format!("{:6} | {figures} | {} ({})\n", row.thread, row.path, file_size(row.size));
    }
    text + &border + &format!("total:   {}\n", cells(&Counts::sum(&all), time, columns))
}

fn cells(counts: &Counts, time: f64, columns: Columns) -> String {
    let Counts { bytes, ios, .. } = counts;
    let mib_per_s = *bytes as f64 / 1024.0 / 1024.0 / time;
    let mut text = format!("{bytes:15} | {ios:12} | {mib_per_s:10.2} | {:10.2}", *ios as f64 / time);
    if columns.latency {
        text += &format!(" | {:8.3}", counts.mean_ms().unwrap_or(0.0));
    }
    if columns.deviation {
        text += &format!(" | {:10.2}", counts.deviation());
    }
    if columns.latency {
        text += &match counts.deviation_ms() {
            Some(deviation) => format!(" |  {deviation:8.3}"),
            None => " |       N/A".into(),
        };
    }
    text
}

/// In the largest unit of which there are more than ten.
fn file_size(bytes: u64) -> String {
    match bytes {
        _ if bytes > 10 << 30 => format!("{}GiB", bytes >> 30),
        _ if bytes > 10 << 20 => format!("{}MiB", bytes >> 20),
        _ if bytes > 10 << 10 => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

const PERCENTILES: [(&str, f64); 15] = [
    ("min", 0.0),
    ("25th", 0.25),
    ("50th", 0.5),
    ("75th", 0.75),
    ("90th", 0.9),
    ("95th", 0.95),
    ("99th", 0.99),
    ("3-nines", 0.999),
    ("4-nines", 0.9999),
    ("5-nines", 0.99999),
    ("6-nines", 0.999999),
    ("7-nines", 0.9999999),
    ("8-nines", 0.99999999),
    ("9-nines", 0.999999999),
    ("max", 1.0),
];

/// A chart for each target where there are several, and one for all.
const _: () = {
    let mut at = 1;
    while at < PERCENTILES.len() {
        assert!(PERCENTILES[at - 1].1 < PERCENTILES[at].1, "quantiles come from the lowest up");
        at += 1;
    }
};

fn percentiles(rows: &[Row]) -> String {
    let mut paths: Vec<&str> = Vec::new();
    for row in rows {
        if !paths.contains(&row.path.as_str()) {
            paths.push(&row.path);
        }
    }
    let mut text = String::new();
    if paths.len() > 1 {
        for path in &paths {
            let own: Vec<Row> = rows.iter().filter(|row| row.path == *path).cloned().collect();
            text += &format!("\n{path}\n{}", chart(&own));
        }
    }
    text + "\ntotal:\n" + &chart(rows)
}

fn chart(rows: &[Row]) -> String {
    let [total, reads, writes] =
        SECTIONS.map(|(_, of)| Counts::sum(&rows.iter().map(of).collect::<Vec<_>>()));
    let cell = |value: Option<f64>| value.map_or_else(|| "N/A".into(), |ms| format!("{ms:10.3}"));
    let mut text = "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n".to_owned();
    text += "----------------------------------------------\n";
    for (name, q) in PERCENTILES {
        let (read, write) = (cell(reads.quantile_ms(q)), cell(writes.quantile_ms(q)));
        text +=
            &format!("{name:>7} | {read:>10} | {write:>10} | {:10.3}\n", total.quantile_ms(q).unwrap_or(0.0));
    }
    text
}

/// diskspd's tables of any run that reads or writes.
pub const OUTPUT: Output = Output {
    name: "diskspd",
    ending: "diskspd.txt",
    about: "diskspd's tables and percentiles, a timespan for each point and a row for each workload",
    write: any_text,
};

fn any_text(run: &Run) -> Result<String, NoFigures> {
    let mut text = format!("\nCommand Line: {}\n\n", run.command.join(" "));
    let points = || run.points.iter().filter(|point| super::xml::has_figures(point));
    if points().next().is_none() {
        return Err(super::xml::no_figures("diskspd"));
    }
    text += "Input parameters:\n\n";
    for (number, point) in (1..).zip(points()) {
        text += &format!("\ttimespan: {number:3}\n\t-------------\n\t{}\n\n", point.name);
    }
    for (number, point) in (1..).zip(points()) {
        let rows = super::xml::any_rows(run, point);
        let threads = point.workloads.iter().map(|workload| narrow::<u32>(workload.workers.len())).sum();
        text += &results(number, point, &rows, threads, run.environment.cpus, Columns::ALL);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn row() -> Row {
        let mut row = Row { thread: 3, path: "x.dat".into(), size: 64 << 20, ..Row::default() };
        row.reads.bytes = 819_200;
        row.reads.ios = 100;
        row.reads.latency.record_n(Nanos::from_micros(1500), 100);
        row.reads.seconds = vec![40.0, 60.0];
        row
    }

    #[test]
    fn columns_are_those_of_the_original() {
        let text = table(&[row()], Row::total, 2.0, Columns { latency: true, deviation: true });
        let lines: Vec<&str> = text.lines().collect();
        let header = "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file";
        assert_eq!(lines[0], header);
        assert_eq!(lines[1].len(), 66 + 11 + 13 + 12 + 12);
        assert_eq!(
            lines[2],
            "     3 |          819200 |          100 |       0.39 |      50.00 |    1.500 |      10.00 |     0.000 | x.dat (64MiB)"
        );
        assert_eq!(
            lines[4],
            "total:            819200 |          100 |       0.39 |      50.00 |    1.500 |      10.00 |     0.000"
        );
        let text =
            table(&[row()], |row| row.writes.clone(), 2.0, Columns { latency: true, deviation: false });
        assert!(text.contains("|       0.00 |    0.000 |       N/A | x.dat (64MiB)\n"), "{text}");
    }

    #[test]
    fn percentiles_without_requests_are_not_available() {
        let chart = chart(&[row()]);
        let lines: Vec<&str> = chart.lines().collect();
        assert_eq!(lines.len(), 17);
        assert_eq!(lines[2], "    min |      1.500 |        N/A |      1.500");
        assert_eq!(lines[9], "3-nines |      1.500 |        N/A |      1.500");
        assert_eq!((file_size(10 << 30).as_str(), file_size(11 << 30).as_str()), ("10240MiB", "11GiB"));
    }
}
