//! What hdparm prints of its timings.

use record::{Point, Run, WorkloadResult};

use workload::spec::{Extent, Pattern};

use super::job::READ;
use super::{CACHED, Command, DISK};
use crate::{NoFigures, Output, point};

impl Command {
    /// What is printed before the reads of the phase called `name`; nothing for other phases.
    pub fn label(&self, name: &str) -> String {
        match name {
            CACHED => label(true, self.direct, 0),
            DISK => label(false, self.direct, self.offset_gib),
            _ => String::new(),
        }
    }
}

/// What hdparm prints before a device's timings.
pub fn heading(device: &str) -> String {
    format!("\n{device}:\n")
}

/// The rest of the line after its label, from the record's reads and time.
pub fn figures(point: &Point) -> String {
    let (mib, seconds) = (point::bytes(point) >> 20, point::seconds(point));
    let rate = if seconds > 0.0 { mib as f64 / seconds } else { 0.0 };
    match rate > 1.0 {
        true => format!("{mib:3} MB in {seconds:5.2} seconds = {rate:6.2} MB/sec\n"),
        false => format!("{mib:3} MB in {seconds:5.2} seconds = {:6.2} kB/sec\n", rate * 1024.0),
    }
}

pub(super) fn label(cached: bool, direct: bool, offset_gib: u64) -> String {
    match (cached, direct) {
        (true, false) => " Timing cached reads:   ".into(),
        (true, true) => " Timing O_DIRECT cached reads:   ".into(),
        (false, direct) => {
            let how = if direct { "O_DIRECT" } else { "buffered" };
            let offset = match offset_gib {
                0 => String::new(),
                gib => format!(" (offset {gib} GB)"),
            };
            format!(" Timing {how} disk reads{offset}: ")
        }
    }
}

/// hdparm's output of any run that reads a stream in pieces of 2 MiB.
pub const OUTPUT: Output = Output {
    name: "hdparm",
    ending: "hdparm.txt",
    about: "timings of streams of 2 MiB reads, as hdparm -tT prints them",
    write: text,
};

fn text(run: &Run) -> Result<String, NoFigures> {
    let lines: String = run.points.iter().filter_map(line).collect();
    let names: Vec<&str> = run.targets.iter().map(|target| target.address.as_str()).collect();
    NoFigures::when(
        lines.is_empty(),
        "hdparm",
        "no point reads one stream in pieces of 2 MiB; `fathom run hdparm` has such points",
    )?;
    Ok(heading(&names.join(" ")) + &lines)
}

/// The line of a point, if hdparm could have measured it. Single reads that prime a cache are none.
fn line(point: &Point) -> Option<String> {
    let [workload] = &point.workloads[..] else { return None };
    let asked = &workload.spec;
    let is_stream = asked.pattern == Pattern::Sequential && asked.workers == 1 && asked.depth == 1;
    let [class] = &workload.classes[..] else { return None };
    if !is_stream || class.op != record::Op::Read || class.size_bytes != READ || class.ops < 2 {
        return None;
    }
    let cached = workload.span_bytes == Some(READ);
    let label = label(cached, asked.direct, if cached { 0 } else { offset_of(workload) });
    Some(label + &figures(point))
}

fn offset_of(workload: &WorkloadResult) -> u64 {
    match workload.spec.offset {
        Extent::Bytes(bytes) => bytes.get() >> 30,
        Extent::Part(_) => 0,
    }
}
