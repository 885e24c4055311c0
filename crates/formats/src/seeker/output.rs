//! What seeker prints, both versions.

use record::{Point, Run};
use units::convert::{narrow, truncated};
use workload::spec::{Pace, Pattern};

use super::{Command, SECONDS, Seekers};
use crate::{NoFigures, Output, point};

impl Command {
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
            point::classes(point).filter(|class| class.op == record::Op::Read).map(|class| class.ops).sum();
        (!point.workloads.is_empty()).then(|| Figures { reads, seconds: point::seconds(point), size_bytes })
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
    let size_bytes = run.targets.iter().map(|target| target.size_bytes).sum();
    let device = run.targets.first().map(|target| target.address.clone()).unwrap_or_default();
    let command = Command { device, seekers: Seekers::One };
    let texts: Vec<String> = run
        .points
        .iter()
        .filter(|point| is_seeking(point))
        .filter_map(|point| Figures::of(point, size_bytes))
        .map(|figures| {
            let dots = ".".repeat(narrow::<usize>(SECONDS));
            command.banner(figures.size_bytes) + &dots + &command.result(figures)
        })
        .collect();
    NoFigures::when(
        texts.is_empty(),
        "seeker",
        "no point reads at random with one request in flight, whose time alone is that of a seek; `fathom run random` has \
         such points",
    )?;
    Ok(texts.concat())
}

/// Whether seeker could have measured it: one read after the other. Of several in flight, of a rate that is given, and where
/// writes go between, the time of a read is not that from one to the next.
fn is_seeking(point: &Point) -> bool {
    let [workload] = &point.workloads[..] else { return false };
    let asked = &workload.spec;
    let is_one_by_one = asked.workers == 1 && asked.depth == 1 && asked.pace == Pace::Closed;
    let only_reads = point::classes(point).all(|class| class.op == record::Op::Read);
    asked.pattern != Pattern::Sequential && is_one_by_one && only_reads && !workload.classes.is_empty()
}
