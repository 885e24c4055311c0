//! How the requests of a job reach the kernel: fio's engines, and which of them are refused and why.

use crate::Refusal;

use super::job::refuse;
use super::settings::Options;

/// How requests reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    pub name: &'static str,
    /// Whether it keeps more than one request in flight.
    pub is_deep: bool,
    pub depth: u32,
    /// Once the depth is reached nothing more is sent before so few are in flight.
    pub low_water: Option<u32>,
    /// Requests handed over at a time.
    pub submit_batch: u32,
    /// Completions waited for at a time.
    pub complete_batch: u32,
}

const ENGINES: &str = "psync, sync, pvsync, pvsync2, io_uring, libaio, posixaio, mmap, splice, falloc, ftruncate, null, cpuio, exec, filecreate, \
                       filestat, filedelete, dircreate, dirstat and dirdelete are";

/// Engines of fio that are refused, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("sg", "SCSI commands past the block layer are not sent; measure the disk itself, /dev/sdX"),
    ("io_uring_cmd", "NVMe commands past the block layer are not sent; measure the namespace, /dev/nvmeXnY"),
    ("e4defrag", DEFRAG),
];

pub(super) const DEFRAG: &str = "ioengine=e4defrag moves the extents of a file, which is no I/O; run `e4defrag` before, and measure it then";

/// What `--enghelp` says.
pub(super) fn engines_told(name: &str) -> String {
    let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
    match refused {
        Some((engine, why)) => format!("{engine} is not supported: {why}\n"),
        None => format!(
            "Available IO engines:\n{}\n",
            ENGINES
                .trim_end_matches(" are")
                .replace(" and ", ", ")
                .split(", ")
                .map(|engine| format!("\t{engine}"))
                .collect::<Vec<_>>()
                .join("\n")
        ),
    }
}

pub(super) fn engine(options: &Options, notes: &mut Vec<String>) -> Result<Engine, Refusal> {
    let asked = options.text("ioengine").unwrap_or("psync");
    let (name, is_deep) = match asked {
        "sync" | "psync" | "vsync" | "pvsync" => ("pread", false),
        "pvsync2" => ("preadv2", false),
        "io_uring" => ("io_uring", true),
        "libaio" | "linuxaio" | "posixaio" => {
            notes.push(format!("ioengine={asked} runs on io_uring, or by threads where that is not allowed"));
            ("auto", true)
        }
        "mmap" => ("mmap", false),
        "falloc" => ("fallocate", false),
        "ftruncate" => ("ftruncate", false),
        "splice" => ("splice", false),
        "null" | "cpp_null" => ("null", true),
        "cpuio" | "exec" => ("null", false),
        "page_fault" => {
            notes.push("ioengine=page_fault runs as mmap: data is copied to and from the mapping".into());
            ("mmap", false)
        }
        // A tree has no engine.
        tree if super::tree::is_one(tree) => ("auto", false),
        _ => {
            let setting = options.get("ioengine").expect("the default is supported");
            let refused = REFUSED.iter().find(|(name, _)| *name == asked);
            return Err(setting.unsupported(refused.map_or(ENGINES, |(_, why)| *why)));
        }
    };
    let depth = options.count32("iodepth")?.unwrap_or(1).max(1);
    if depth > 65_536 {
        return Err(refuse(options, "iodepth", "1 to 65536"));
    }
    if depth > 1 && !is_deep {
        notes.push(format!("ioengine={asked} keeps one request in flight; iodepth={depth} has no effect"));
    }
    let depth = if is_deep { depth } else { 1 };
    let low_water = options.count32("iodepth_low")?.filter(|low| *low > 0 && *low < depth);
    let submit_batch = batch(options, "iodepth_batch", depth)?.unwrap_or(depth);
    // None is asked for where nobody waits; fio then waits for one as well.
    let complete_batch = batch(options, "iodepth_batch_complete_min", depth)?.unwrap_or(1);
    Ok(Engine { name, is_deep, depth, low_water, submit_batch, complete_batch })
}

/// So many requests at a time: one by default and no more than the depth, as in fio, and no more than a plan can say.
/// `None` for 0.
fn batch(options: &Options, name: &str, depth: u32) -> Result<Option<u32>, Refusal> {
    let asked = options.count32(name)?.unwrap_or(1);
    Ok((asked > 0).then(|| asked.min(depth).min(4096)))
}
