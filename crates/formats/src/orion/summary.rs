//! The summary: what was asked, of what, and the best figures.

use record::{Point, Run};
use units::convert::{narrow, truncated};
use workload::spec::LunLayout;

use super::figures::{Cell, Figures, Flow, is_sequential, microseconds};
use super::histogram::histograms_of;
use super::options::{Command, Large, Shape, Simulated};
use super::points::{Grid, Load};

/// What a summary says that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The command line.
    pub words: String,
    /// The test's name.
    pub name: String,
    /// Size of small requests, in KiB.
    pub small_kib: u64,
    /// Size of large ones.
    pub large_kib: u64,
    /// How large requests follow each other.
    pub large: Large,
    /// Requests in flight of each stream.
    pub stream_ios: u32,
    /// How the LUNs are put together.
    pub array: Simulated,
    /// Which part writes, in percent.
    pub write: u8,
    /// The size of the caches, in MiB.
    pub cache_mib: Option<u64>,
    /// Of each data point.
    pub seconds: u64,
    /// What is listed as columns, small and large.
    pub listed: (Vec<u32>, Vec<u32>),
    /// Data points, as Orion counts them.
    pub total: u32,
}

impl Test {
    /// What `command` asks on the data points of `grid`.
    pub fn of(command: &Command, grid: &Grid) -> Test {
        Test {
            words: command.words.join(" "),
            name: command.name.clone(),
            small_kib: command.small_kib,
            large_kib: command.large_kib,
            large: command.large,
            stream_ios: command.stream_ios,
            array: command.array,
            write: command.write,
            cache_mib: command.cache_mib,
            seconds: command.seconds.into(),
            listed: grid.listed.clone(),
            total: grid.total,
        }
    }

    /// What a run of any plan asked, in Orion's words.
    pub fn of_run(run: &Run, figures: &Figures) -> Test {
        let workloads = || run.points.iter().flat_map(|point: &Point| &point.workloads);
        let size = |of: fn(&Cell) -> Option<&Flow>| {
            figures.cells().find_map(|(_, cell)| of(cell)).map(|flow| flow.size_bytes >> 10)
        };
        let streams =
            workloads().find(|workload| is_sequential(workload) && workload.name.starts_with("large"));
        let sum = |op: record::Op| -> u64 {
            let classes = workloads().flat_map(|workload| &workload.classes);
            classes.filter(|class| class.op == op).map(|class| class.ops).sum()
        };
        let (reads, writes) = (sum(record::Op::Read), sum(record::Op::Write));
        let stripe = workloads().find_map(|workload| stripe_kib(workload.spec.luns));
        let longest_ns = workloads().map(|workload| workload.measured_ns).max().unwrap_or(0);
        let (small, large) = (loads(figures, |load| load.small), loads(figures, |load| load.large));
        Test {
            words: run.command.iter().skip(1).cloned().collect::<Vec<_>>().join(" "),
            name: run.plan.name.clone(),
            small_kib: size(|cell| cell.small.as_ref()).unwrap_or(8),
            large_kib: size(|cell| cell.large.as_ref()).unwrap_or(1024),
            large: if streams.is_some() { Large::Sequential } else { Large::Random },
            stream_ios: streams.map_or(4, |workload| workload.spec.depth),
            array: stripe.map_or(Simulated::Concat, |stripe_kib| Simulated::Raid0 { stripe_kib }),
            write: truncated::<u8>((writes as f64 * 100.0 / (reads + writes).max(1) as f64).round()),
            cache_mib: None,
            seconds: (longest_ns + 500_000_000) / 1_000_000_000,
            listed: (small, large),
            total: narrow::<u32>(figures.cells().count()),
        }
    }

    fn heading(&self, shape: Shape) -> String {
        let Test { words, name, small_kib, large_kib, .. } = self;
        let (large, streams) = match self.large {
            Large::Random => ("Large Random IOs", String::new()),
            Large::Sequential => (
                "Large Sequential Streams",
                format!(
                    "Number of Concurrent IOs Per Stream: {}\nForce streams to separate disks: No\n",
                    self.stream_ios
                ),
            ),
        };
        let array = match self.array {
            Simulated::Concat => "CONCAT".into(),
            Simulated::Raid0 { stripe_kib } => format!("RAID 0\nStripe Depth: {stripe_kib} KB"),
        };
        let cache = self.cache_mib.map_or("Not Entered".into(), |mib| format!("{mib} MB"));
        let columns = |loads: &[u32]| loads.iter().map(|load| format!(",{load:7}")).collect::<String>();
        format!(
            "ORION VERSION {}\n\nCommandline:\n{words}\n\nThis maps to this test:\nTest: {name}\n\
             Small IO size: {small_kib} KB\nLarge IO size: {large_kib} KB\nIO Types: Small Random IOs, {large}\n{streams}\
             Simulated Array Type: {array}\nWrite: {}%\nCache Size: {cache}\n\
             Duration for each Data Point: {} seconds\nSmall Columns:{}\nLarge Columns:{}\nTotal Data Points: {}\n\n",
            shape.version(),
            self.write,
            self.seconds,
            columns(&self.listed.0),
            columns(&self.listed.1),
            self.total
        )
    }
}

/// The loads that occur, by size.
pub(super) fn loads(figures: &Figures, of: fn(&Load) -> u32) -> Vec<u32> {
    let mut loads: Vec<u32> = figures.cells().map(|(load, _)| of(&load)).collect();
    loads.sort_unstable();
    loads.dedup();
    debug_assert!(loads.is_sorted_by(|one, next| one < next), "each load is listed once");
    loads
}

fn stripe_kib(luns: LunLayout) -> Option<u64> {
    match luns {
        LunLayout::Striped(chunk) if chunk.get() % 1024 == 0 => Some(chunk.get() >> 10),
        _ => None,
    }
}

/// The summary of a test on `luns`, each with its size.
pub fn summary(test: &Test, luns: &[(String, u64)], figures: &Figures, shape: Shape) -> String {
    let mut text = test.heading(shape);
    for (name, size) in luns {
        text += &format!("Name: {name}\tSize: {size}\n");
    }
    text += &format!("{} FILEs found.\n\n", luns.len());
    text + &best(figures, shape)
}

/// The best figures, each with its data point. What was not measured has no line.
pub fn best(figures: &Figures, shape: Shape) -> String {
    let mut text = String::new();
    let large = greatest(figures, |cell| Some(cell.large.as_ref()?.mbps()));
    if let Some((value, load, cell)) = large {
        text += &format!("Maximum Large MBPS={value:.2} @ {}\n", at(load));
        text += &details(shape, "Large", load, cell.large.as_ref());
    }
    let small = greatest(figures, |cell| Some(cell.small.as_ref()?.iops()));
    if let Some((value, load, cell)) = small {
        text += &format!("Maximum Small IOPS={value:.0} @ {}\n", at(load));
        text += &details(shape, "Small", load, cell.small.as_ref());
    }
    let quickest = greatest(figures, |cell| Some(-cell.small.as_ref()?.latency_ns()?));
    if let Some((value, load, cell)) = quickest {
        text += &match shape {
            Shape::V112 => format!("Minimum Small Latency={:.2} usecs @ {}\n", -value / 1e3, at(load)),
            Shape::V10 | Shape::V11 => format!("Minimum Small Latency={:.2} @ {}\n", -value / 1e6, at(load)),
        };
        text += &details(shape, "Small", load, cell.small.as_ref());
    }
    text
}

fn at(load: Load) -> String {
    format!("Small={} and Large={}", load.small, load.large)
}

/// The first cell of those with the greatest value.
fn greatest(figures: &Figures, value: impl Fn(&Cell) -> Option<f64>) -> Option<(f64, Load, &Cell)> {
    let mut greatest: Option<(f64, Load, &Cell)> = None;
    for (load, cell) in figures.cells() {
        if let Some(value) = value(cell)
            && greatest.is_none_or(|(before, ..)| value > before)
        {
            greatest = Some((value, load, cell));
        }
    }
    greatest
}

/// Latencies of reads and of writes, and their histogram; from 11.2 on.
fn details(shape: Shape, name: &str, load: Load, flow: Option<&Flow>) -> String {
    let (Shape::V112, Some(flow)) = (shape, flow) else { return String::new() };
    let mut text = String::new();
    for (op, times) in [("Read", &flow.reads), ("Write", &flow.writes)] {
        if let Some([mean, least, most, deviation]) = microseconds(times) {
            text += &format!(
                "{name} {op} Latency: avg={mean:.3} us, min={least:.3} us, max={most:.3} us, std dev={deviation:.3} us \
                 @ {}\n",
                at(load)
            );
        }
    }
    let histogram = match name {
        "Small" => histograms_of(load, Some(flow), None),
        _ => histograms_of(load, None, Some(flow)),
    };
    text + "\n" + &histogram
}

#[cfg(test)]
mod tests {
    use record::sample::{Stream, point, workload};

    use super::*;

    fn figures() -> Figures {
        let one = |name: &str, size_bytes, per_s, median_ns, depth: u32| {
            let mut result =
                workload(name, &[Stream { op: "read", size_bytes, per_s, median_ns, spread: 0.0 }]);
            result.spec.depth = depth;
            point(0, name, vec![result])
        };
        Figures::of(&[
            one("small", 8192, 100, 7_450_000, 1),
            one("small", 8192, 185, 9_000_000, 2),
            one("large", 1 << 20, 34, 20_000_000, 1),
            one("large", 1 << 20, 34, 40_000_000, 2),
        ])
    }

    #[test]
    fn a_summary_reads_as_orion_writes_it() {
        let words: Vec<String> =
            "-run simple -testname mytest -num_disks 1".split(' ').map(str::to_owned).collect();
        let command = Command::parse(&words).unwrap();
        let test = Test::of(&command, &command.grid(1).unwrap());
        let luns = [("/dev/sda2".to_owned(), 629_143_441_920)];
        let text = summary(&test, &luns, &figures(), Shape::V11);
        assert_eq!(
            text,
            "ORION VERSION 11.1.0.7.0\n\nCommandline:\n-run simple -testname mytest -num_disks 1\n\n\
             This maps to this test:\nTest: mytest\nSmall IO size: 8 KB\nLarge IO size: 1024 KB\n\
             IO Types: Small Random IOs, Large Random IOs\nSimulated Array Type: CONCAT\nWrite: 0%\n\
             Cache Size: Not Entered\nDuration for each Data Point: 60 seconds\nSmall Columns:,      0\n\
             Large Columns:,      0,      1,      2\nTotal Data Points: 8\n\n\
             Name: /dev/sda2\tSize: 629143441920\n1 FILEs found.\n\n\
             Maximum Large MBPS=34.00 @ Small=0 and Large=1\nMaximum Small IOPS=185 @ Small=2 and Large=0\n\
             Minimum Small Latency=7.45 @ Small=1 and Large=0\n"
        );
    }

    #[test]
    fn later_versions_tell_more_of_latencies() {
        let text = best(&figures(), Shape::V112);
        assert!(text.contains("Minimum Small Latency=7450.00 usecs @ Small=1 and Large=0\n"), "{text}");
        assert!(
            text.contains("Small Read Latency: avg=9000.000 us, min=9000.000 us, max=9000.000 us, std dev=")
        );
        assert!(text.contains("Large Read / Write Latency Histogram @ Small=0 and Large=1\n"));
        assert!(!text.contains("Write Latency: avg"));
    }

    #[test]
    fn streams_and_stripes_are_named() {
        let words: Vec<String> =
            "-run advanced -type seq -simulate raid0 -write 25 -cache_size 512 -num_disks 2"
                .split(' ')
                .map(str::to_owned)
                .collect();
        let command = Command::parse(&words).unwrap();
        let text = Test::of(&command, &command.grid(1).unwrap()).heading(Shape::V10);
        assert!(text.starts_with("ORION VERSION 10.2.0.1.0\n"));
        for line in [
            "IO Types: Small Random IOs, Large Sequential Streams\nNumber of Concurrent IOs Per Stream: 4\n",
            "Simulated Array Type: RAID 0\nStripe Depth: 1024 KB\nWrite: 25%\nCache Size: 512 MB\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(stripe_kib(LunLayout::Striped(units::Bytes::MIB)), Some(1024));
        assert_eq!(stripe_kib(LunLayout::Concatenated), None);
    }
}
