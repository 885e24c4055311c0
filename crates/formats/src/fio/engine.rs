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

impl Engine {
    /// The one that has nothing done.
    pub(super) const NOTHING: Engine = Engine {
        name: "null",
        is_deep: false,
        depth: 1,
        low_water: None,
        submit_batch: 1,
        complete_batch: 1,
    };
}

const ENGINES: &str = "psync, sync, pvsync, pvsync2, io_uring, libaio, posixaio, mmap, splice, sg, io_uring_cmd, falloc, ftruncate, nbd, null, cpuio, exec, filecreate, \
                       filestat, filedelete, dircreate, dirstat and dirdelete are";

/// Engines of fio that are refused, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("e4defrag", DEFRAG),
    ("rbd rados", "an object store is a server of its own; map the image (`rbd map`) and measure the device"),
    (
        "gfapi gfapi_async ime_psync ime_psyncv ime_aio dfs",
        "the client library of that file system is not here; mount it and measure a file",
    ),
    ("nfs", "mount the export and measure a file with psync or io_uring"),
    ("http libhdfs", "an object store has no blocks; `fathom` measures files and devices"),
    ("libiscsi", "log in (`iscsiadm --login`) and measure the device"),
    (
        "net netsplice rdma librpma_apm_client librpma_apm_server librpma_gpspm_client librpma_gpspm_server",
        "it measures a network; storage that is reached over one is measured by its device or file",
    ),
    ("libpmem pmemblk dev-dax", "a mount with `-o dax` is measured as a file, with mmap or psync"),
    ("mtd", "a flash chip without a block layer is not measured; its block device, /dev/mtdblockN, is"),
    (
        "libzbc",
        "zones are reported and reset by the kernel; zonemode=zbd with psync or io_uring on /dev/sdX asks the same drive",
    ),
    ("libblkio xnvme", "the driver runs in user space; measure the device that the kernel has, /dev/nvmeXnY"),
    (
        "libcufile libhipfile",
        "memory of a graphics card is no target; psync and io_uring move data to main memory",
    ),
    ("windowsaio solarisaio guasi", "the system is another one; libaio and io_uring are the nearest"),
    ("external", "a plug-in of fio's own cannot be loaded; io_uring reaches every file and device"),
];

/// Why an engine is refused, where there is more to say than which ones are served.
fn refused(engine: &str) -> Option<&'static str> {
    // A plug-in may be named by its path.
    let name = if engine.starts_with("external") || engine.contains('/') { "external" } else { engine };
    REFUSED.iter().find(|(names, _)| names.split(' ').any(|one| one == name)).map(|(_, why)| *why)
}

pub(super) const DEFRAG: &str = "ioengine=e4defrag moves the extents of a file, which is no I/O; run `e4defrag` before, and measure it then";

/// What `--enghelp` says.
pub(super) fn engines_told(name: &str) -> String {
    match refused(name) {
        Some(why) => format!("{name} is not supported: {why}\n"),
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

/// The engine that the job has, by the one name that fio has for it.
pub(super) fn name_of(options: &Options) -> &str {
    match options.text("ioengine") {
        None => "psync",
        Some("aio" | "linuxaio") => "libaio",
        Some(name) => name,
    }
}

/// Whether the engine has several requests in flight, so that submitting one and its end are two things.
pub(super) fn is_deep(options: &Options) -> bool {
    let mut unheard = Vec::new();
    engine(options, &mut unheard).is_ok_and(|engine| engine.is_deep)
}

pub(super) fn engine(options: &Options, notes: &mut Vec<String>) -> Result<Engine, Refusal> {
    let asked = name_of(options);
    let (name, is_deep) = match asked {
        "sync" | "psync" | "vsync" | "pvsync" => ("pread", false),
        "pvsync2" => ("preadv2", false),
        "io_uring" => ("io_uring", true),
        "libaio" | "posixaio" => {
            notes.push(format!("ioengine={asked} runs on io_uring, or by threads where that is not allowed"));
            ("auto", true)
        }
        "io_uring_cmd" => ("nvme", true),
        "mmap" => ("mmap", false),
        "falloc" => ("fallocate", false),
        "ftruncate" => ("ftruncate", false),
        "splice" => ("splice", false),
        "sg" => {
            let is_generic = super::commands::is_generic(options);
            if is_generic {
                notes.push(
                    "ioengine=sg sends each request of iodepth= from a thread of its own, by SG_IO".into(),
                );
            }
            ("sg", is_generic)
        }
        // A URI is what makes it one.
        "nbd" => ("auto", true),
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
            return Err(setting.unsupported(refused(asked).unwrap_or(ENGINES)));
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
