//! seeker 2.0 (2007) and 3.0 (2009): random reads of one sector for 30 seconds, one at a time.
//!
//! The original draws 31-bit offsets and is seeded with the second of the start: on large devices not every
//! sector can be reached, and copies started together ask for the same. Here every sector can be reached, and
//! every call has a seed of its own.

use record::{OpSummary, Point, Run};
use units::convert::{narrow, truncated};

use crate::{NoFigures, Order, Output, Refusal, quoted};

/// The time that both versions read for.
pub const SECONDS: u64 = 30;

const TOOL: &str = "seeker";

/// A command line of seeker: `seeker DEVICE [THREADS]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What is read.
    pub device: String,
    /// How many seek at once.
    pub seekers: Seekers,
}

/// How many seek at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seekers {
    /// One, and the output of version 2.0.
    One,
    /// So many threads, and the output of version 3.0.
    Threads(u32),
    /// 1, 2, 4 and so on until more of them seek no more often. Not in the original.
    UntilFlat,
}

impl Command {
    /// Reads the arguments after the tool's name.
    pub fn parse(arguments: &[String]) -> Result<Command, Refusal> {
        let (device, threads) = match arguments {
            [device] => (device, None),
            [device, threads] => (device, Some(threads)),
            _ => {
                let what = "usage: seeker DEVICE [THREADS|auto]".into();
                return Err(Refusal::Usage { tool: TOOL, what });
            }
        };
        if device.starts_with('-') {
            return Err(Refusal::unknown(TOOL, device, &[]));
        }
        let seekers = match threads.map(String::as_str) {
            None => Seekers::One,
            Some("auto") => Seekers::UntilFlat,
            Some(text) => match text.parse() {
                Ok(threads @ 1..=1024) => Seekers::Threads(threads),
                _ => {
                    return Err(Refusal::Value {
                        tool: TOOL,
                        option: "THREADS".into(),
                        value: text.into(),
                        want: "a number from 1 to 1024, or `auto` for more and more until it no longer pays"
                            .into(),
                    });
                }
            },
        };
        Ok(Command { device: device.clone(), seekers })
    }

    /// The plan that does what the command asks. `seed` differs from call to call.
    pub fn order(&self, seed: u32) -> Order {
        let (workers, until) = match self.seekers {
            Seekers::One => ("1".into(), ""),
            Seekers::Threads(threads) => (threads.to_string(), ""),
            Seekers::UntilFlat => (
                "{ sweep = { from = 1, to = 1024, times = 2 } }".into(),
                "until   = { flat = \"iops\", within = \"5%\", points = 2 }\n",
            ),
        };
        let about = quoted(&format!("what `seeker {}` asks for", self.device));
        let plan = format!(
            "name  = \"seeker\"\nabout = {about}\nseed  = {seed}\n\n\
             [[phase]]\nname    = \"{{workers}} threads\"\npattern = \"random\"\nsize    = \"512B\"\n\
             direct  = false\nengine  = \"pread\"\nspan    = \"100%\"\nworkers = {workers}\nrun     = \"{SECONDS}s\"\n{until}"
        );
        Order { plan, targets: vec![self.device.clone()], notes: Vec::new() }
    }

    /// What is printed before the first read of a device of `size_bytes`.
    pub fn banner(&self, size_bytes: u64) -> String {
        let device = &self.device;
        match self.seekers {
            Seekers::One => format!(
                "Seeker v2.0, 2007-01-15, http://www.linuxinsight.com/how_fast_is_your_disk.html\n\
                 Benchmarking {device} [{}MB], wait {SECONDS} seconds",
                size_bytes >> 20
            ),
            Seekers::Threads(_) | Seekers::UntilFlat => format!(
                // 2^30 bytes are called GB here, and 10^9 GiB, as in the original: programs read these lines.
                // Its reads are of 512 bytes whatever the device's sectors are.
                "Seeker v3.0, 2009-06-17, http://www.linuxinsight.com/how_fast_is_your_disk.html\n\
                 Benchmarking {device} [{} blocks, {size_bytes} bytes, {} GB, {} MB, {} GiB, {} MiB]\n\
                 [512 logical sector size, 512 physical sector size]\n",
                size_bytes / 512,
                size_bytes >> 30,
                size_bytes >> 20,
                size_bytes / 1_000_000_000,
                size_bytes / 1_000_000
            ),
        }
    }

    /// What is printed before the dots of one point of the order's plan; nothing for version 2.0.
    pub fn heading(&self, point: &str) -> String {
        match self.seekers {
            Seekers::One => String::new(),
            Seekers::Threads(_) | Seekers::UntilFlat => {
                format!("[{point}]\nWait {SECONDS} seconds")
            }
        }
    }

    /// The line of the result; without the dots. Empty when nothing was read, as in the original.
    pub fn result(&self, figures: Figures) -> String {
        let Figures { reads, seconds, size_bytes } = figures;
        if reads == 0 {
            return "\n".into();
        }
        let (per_second, ms) = (truncated::<u64>(reads as f64 / seconds), 1000.0 * seconds / reads as f64);
        match self.seekers {
            Seekers::One => format!("\nResults: {per_second} seeks/second, {ms:.2} ms random access time\n"),
            Seekers::Threads(_) | Seekers::UntilFlat => format!(
                "\nResults: {per_second} seeks/second, {ms:.3} ms random access time (0 < offsets < {size_bytes})\n"
            ),
        }
    }
}

/// What the tool counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Reads that ended within the time.
    pub reads: u64,
    /// The time.
    pub seconds: f64,
    /// Of the device.
    pub size_bytes: u64,
}

impl Figures {
    /// The figures of one point on a device of `size_bytes`: reads of all its workloads; `None` without any.
    pub fn of(point: &Point, size_bytes: u64) -> Option<Figures> {
        let reads =
            point.workloads.iter().flat_map(|workload| &workload.classes).filter(|class| class.op == "read");
        let measured_ns = point.workloads.iter().map(|workload| workload.measured_ns).max()?;
        Some(Figures {
            reads: reads.map(|class| class.ops).sum(),
            seconds: measured_ns as f64 / 1e9,
            size_bytes,
        })
    }
}

/// seeker's output of any run that has random reads.
pub const OUTPUT: Output = Output {
    name: "seeker",
    ending: "seeker.txt",
    about: "seeks a second and access time, as seeker 2.0 prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let is_random = |point: &&Point| {
        let of_workload = |workload: &record::WorkloadResult| {
            workload.spec.get("pattern").is_some_and(|pattern| pattern != "sequential")
                && workload.summary.iter().any(|summary: &OpSummary| summary.op == "read")
        };
        point.workloads.iter().any(of_workload)
    };
    let size_bytes = run.targets.iter().map(|target| target.size_bytes).sum();
    let device = run.targets.first().map(|target| target.address.clone()).unwrap_or_default();
    let command = Command { device, seekers: Seekers::One };
    let texts: Vec<String> = run
        .points
        .iter()
        .filter(is_random)
        .filter_map(|point| Figures::of(point, size_bytes))
        .map(|figures| {
            let dots = ".".repeat(narrow::<usize>(SECONDS));
            command.banner(figures.size_bytes) + &dots + &command.result(figures)
        })
        .collect();
    match texts.is_empty() {
        true => Err(NoFigures {
            format: "seeker",
            why: "no point reads at random; `fathom run random` has such points".into(),
        }),
        false => Ok(texts.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, Refusal> {
        Command::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_thread_count_asks_for_version_three() {
        assert_eq!(parse("/dev/sda").unwrap().seekers, Seekers::One);
        assert_eq!(parse("/dev/sda 60").unwrap().seekers, Seekers::Threads(60));
        assert_eq!(parse("/dev/sda auto").unwrap().seekers, Seekers::UntilFlat);
        for wrong in ["", "/dev/sda 0", "/dev/sda many", "/dev/sda 1 2", "--fast"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_order_is_a_plan() {
        for line in ["/dev/sda", "/dev/sda 60", "/dev/\"odd\" auto"] {
            let order = parse(line).unwrap_or_else(|refusal| panic!("{refusal}")).order(7);
            let plan = workload::plan::Plan::parse("seeker", &order.plan, &Default::default());
            assert!(plan.is_ok(), "{}: {:?}", order.plan, plan.err());
        }
    }

    #[test]
    fn the_lines_of_version_two_are_those_of_the_original() {
        let command = parse("/dev/sda").unwrap();
        let size_bytes = 122_104 << 20;
        assert_eq!(
            command.banner(size_bytes),
            "Seeker v2.0, 2007-01-15, http://www.linuxinsight.com/how_fast_is_your_disk.html\n\
             Benchmarking /dev/sda [122104MB], wait 30 seconds"
        );
        let figures = Figures { reads: 445_423, seconds: 30.0, size_bytes };
        assert_eq!(command.result(figures), "\nResults: 14847 seeks/second, 0.07 ms random access time\n");
        assert_eq!(command.result(Figures { reads: 0, ..figures }), "\n");
    }
}
