//! What IOzone prints of several children.

use record::Point;
use units::convert::narrow;

use super::children::Test;
use super::figure::{Timed, Unit};
use super::options::Command;

/// What one throughput test came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Throughput {
    /// What all children did.
    pub test: &'static Test,
    /// Each child's own.
    pub children: Vec<Timed>,
    /// From the first record of any child to the last of any.
    pub parent_ns: u64,
    /// Seconds of processors, of all children; `None` where there is no processor.
    pub cpu_s: Option<f64>,
}

impl Throughput {
    /// What a point of IOzone's own plans came to; `None` for others.
    pub fn of(point: &Point) -> Option<Throughput> {
        let (count, test) = Test::named(&point.phase)?;
        let children: Vec<Timed> = point.workloads.iter().map(Timed::of).collect();
        if children.len() != count as usize {
            return None;
        }
        let from = point.workloads.iter().map(|child| child.measured_from_ns).min()?;
        let until = point.workloads.iter().map(|child| child.measured_from_ns + child.measured_ns).max()?;
        let cpu_s = point.cpu.map(record::CpuUse::total_s);
        Some(Throughput { test, children, parent_ns: until.saturating_sub(from), cpu_s })
    }

    /// The sum of what each child reached.
    pub fn sum(&self, unit: Unit) -> f64 {
        self.children.iter().map(|child| child.rate(unit)).sum()
    }

    /// All children as one, over the time of all.
    pub fn parent(&self, unit: Unit) -> f64 {
        let sum = |of: fn(&Timed) -> u64| self.children.iter().map(of).sum();
        let all = Timed {
            bytes: sum(|child| child.bytes),
            records: sum(|child| child.records),
            elapsed_ns: self.parent_ns,
        };
        all.rate(unit)
    }
}

impl Command {
    /// What is printed before the first test of so many children.
    pub fn throughput_heading(&self, children: u32) -> String {
        let (many, one) = if self.threads { ("threads", "thread") } else { ("processes", "process") };
        let many = if children == 1 { one } else { many };
        let sizes = self.grid.pairs().first().map(|pair| self.of_child(*pair, children));
        let (file, record) = sizes.map_or((0, 0), |pair| (pair.file_kib, pair.record_kib));
        format!(
            "\tThroughput test with {children} {many}\n\tEach {one} writes a {file} kByte file in {record} kByte records\n"
        )
    }

    /// The lines of one test, and a blank one before them.
    pub fn throughput_lines(&self, result: &Throughput) -> String {
        let (unit, who) = (self.unit, if self.threads { "thread" } else { "process" });
        let label = unit.label();
        let count = narrow::<u32>(result.children.len());
        let rates: Vec<f64> = result.children.iter().map(|child| child.rate(unit)).collect();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        let sum = result.sum(unit);
        let slowest = result.children.iter().map(|child| child.bytes).min().unwrap_or(0);
        let mut text = format!(
            "\n{}= {sum:10.2} {label}\n{}= {:10.2} {label}\n",
            result.test.line("Children see", count),
            result.test.line("Parent sees", count),
            result.parent(unit)
        );
        for (what, figure) in [("Min", least), ("Max", most), ("Avg", sum / f64::from(count.max(1)))] {
            text += &format!("\t{what} throughput per {who} \t\t\t= {figure:10.2} {label}\n");
        }
        text += &format!("\tMin xfer \t\t\t\t\t= {:10.2} kB\n", slowest as f64 / 1024.0);
        if let Some(cpu) = result.cpu_s.filter(|_| self.shows_cpu) {
            let wall = result.parent_ns as f64 / 1e9;
            let part = if wall > 0.0 { 100.0 * cpu / wall } else { 0.0 };
            text += &format!(
                "\tCPU Utilization: Wall time {wall:8.3}    CPU time {cpu:8.3}    CPU utilization {part:6.2} %\n"
            );
        }
        if self.shows_children {
            for (number, (child, rate)) in result.children.iter().zip(&rates).enumerate() {
                let moved = child.bytes as f64 / 1024.0;
                text += &format!(
                    "\tChild[{number}] xfer count = {moved:10.2} kB, Throughput = {rate:10.2} {label}\n"
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::children::TESTS;
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_original() {
        let words: Vec<String> = "-t 2 -s 4m -r 64k".split(' ').map(str::to_owned).collect();
        let command = Command::parse(&words).unwrap();
        let child = |kib: u64| Timed { bytes: kib << 10, records: kib / 64, elapsed_ns: 4_000_000 };
        let result = Throughput {
            test: &TESTS[0],
            children: vec![child(4096), child(3712)],
            parent_ns: 5_000_000,
            cpu_s: Some(0.004),
        };
        assert_eq!(
            command.throughput_heading(2),
            "\tThroughput test with 2 processes\n\tEach process writes a 4096 kByte file in 64 kByte records\n"
        );
        assert_eq!(
            command.throughput_lines(&result),
            "\n\tChildren see throughput for  2 initial writers \t= 1952000.00 kB/sec\n\
             \tParent sees throughput for  2 initial writers \t= 1561600.00 kB/sec\n\
             \tMin throughput per process \t\t\t=  928000.00 kB/sec\n\
             \tMax throughput per process \t\t\t= 1024000.00 kB/sec\n\
             \tAvg throughput per process \t\t\t=  976000.00 kB/sec\n\
             \tMin xfer \t\t\t\t\t=    3712.00 kB\n"
        );
        let shows = Command { shows_cpu: true, ..command };
        let line = "\tCPU Utilization: Wall time    0.005    CPU time    0.004    CPU utilization  80.00 %\n";
        assert!(shows.throughput_lines(&result).ends_with(line));
    }
}
