//! One job of fio with its values read: what each of its clones does.

use units::convert::truncated;

use crate::{JobEnvironment, Refusal};

use super::access::{self, Places, READ, Rw, Sizes, WRITE};
use super::checks::Checks;
use super::files::{Files, Service};
use super::log::Logs;
use super::replay::{self, Replay};
use super::section::{Origin, Section};
use super::settings::Options;
use super::tree::{self, Tree};
use super::value::{Amount, Bare};

#[derive(Clone, Debug)]
pub(super) struct Job {
    /// What it is called in reports: `name=`, or its section.
    pub name: String,
    /// Its section, after which its files are called.
    pub section: String,
    pub origin: Origin,
    pub options: Options,
    pub clones: u32,
    pub rw: Rw,
    /// Of reads, writes, trims.
    pub sizes: [Sizes; 3],
    pub reads_percent: f64,
    pub places: Places,
    /// What offsets of reads and of writes are multiples of, where they differ.
    pub aligns_of: Option<[u64; 2]>,
    pub files: Files,
    pub region: Region,
    pub length: Length,
    pub pace: Pace,
    pub engine: Engine,
    /// What it does to files in place of requests.
    pub tree: Option<Tree>,
    /// The trace that it asks again in place of requests of its own.
    pub replay: Option<Replay>,
    /// The bytes of `verify_pattern`.
    pub verify_pattern: Option<Vec<u8>>,
    /// Its reads and its writes, where only one of them has a rate.
    pub halves: Option<Box<[Job; 2]>>,
    /// Keys of a plan that need no more thought, with their values as TOML.
    pub keys: Vec<(&'static str, String)>,
    /// The SLO of `latency_target`, whose highest load is searched.
    pub slo: Option<String>,
    /// Its part of the requests of all jobs that have one.
    pub flow: Option<u32>,
    /// When it is steady and ends.
    pub steady: Option<workload::steady::Steady>,
    /// What it fails by, whatever the storage answers.
    pub checks: Checks,
    /// The logs it writes.
    pub logs: Logs,
    pub waits: bool,
    pub wait_for: Option<String>,
    pub new_group: bool,
    pub grouped: bool,
    pub notes: Vec<String>,
}

/// Which part of each file is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub offset: Amount,
    /// Each clone begins so much after the one before.
    pub increment: u64,
    /// Of each file; `None` is all that is left.
    pub span: Option<Amount>,
    /// Of all files of a clone, where it is known.
    pub total: Option<u64>,
}

/// How long a clone goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length {
    pub run_ns: Option<u64>,
    pub ramp_ns: u64,
    pub delay_ns: u64,
    /// Of one clone.
    pub bytes: Option<u64>,
    /// Of one clone.
    pub requests: Option<u64>,
    /// So many times all of its files, where nobody knows here how large they are.
    pub passes: Option<u64>,
    /// The end of a range of delays, of which each clone draws one; otherwise `delay_ns`.
    pub delay_most_ns: u64,
}

/// When the next request of a clone is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Closed,
    /// After so many requests have ended, so long.
    Think {
        ns: u64,
        blocks: u32,
    },
    /// After so long, and once all requests of it have ended, so long.
    Spells {
        ns: u64,
        busy_ns: u64,
    },
    /// Requests a second of one clone.
    Rate {
        per_second: f64,
        poisson: bool,
    },
}

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

impl Job {
    /// Reads `section` after the `globals` before it.
    pub(super) fn read(
        globals: &[super::section::Setting],
        section: &Section,
        environment: &JobEnvironment<'_>,
    ) -> Result<Job, Refusal> {
        let options = Options::of(globals, section)?;
        check_bounds(&options)?;
        let mut notes = Vec::new();
        // A name stands on one line in tables.
        let name = options.text("name").unwrap_or(&section.name).replace(char::is_control, " ");
        // What burns processor time moves nothing, whatever rw says.
        let rw = if only_burns(&options) { Rw::READS } else { Rw::read(&options)? };
        let sizes = access::sizes(&options, rw, &mut notes)?;
        let mut engine = engine(&options, &mut notes)?;
        if let Some(setting) = options.get("filename").filter(|setting| Files::are_nothing(&setting.value)) {
            notes.push(format!("{} works as the null engine: nothing leaves the program", setting.value));
            engine.name = "null";
        }
        let clones = options.count32("numjobs")?.unwrap_or(1);
        if clones == 0 || clones > 65_536 {
            return Err(refuse(&options, "numjobs", "1 to 65536"));
        }
        check_pairs(&options, rw)?;
        check_overlap(&options, rw, engine.depth)?;
        let halves = halves(&options, rw, globals, section, environment)?;
        let tree = Tree::read(&options)?;
        let smallest = (0..3).filter(|op| rw.has[*op]).flat_map(|op| &sizes[op]).map(|(size, _)| *size).min();
        let replay = Replay::read(&options, engine.name == "null", environment)?;
        if let (Some(_), Some(_), Some(setting)) = (&tree, &replay, options.get("ioengine")) {
            return Err(setting.unsupported("a trace is of blocks, not of files and directories"));
        }
        let (files, region, length) = match (tree, &replay) {
            (_, Some(replay)) => {
                notes.push(replay::NOTE.into());
                let files = Files::replayed(&replay.files, clones, &section.origin);
                (files, tree::WHOLE, replay::length(&options)?)
            }
            (Some(tree), None) => {
                notes.push(tree::NOTE.into());
                let files = Tree::files(&options, &section.origin, clones, environment)?;
                (files, tree::WHOLE, tree.length(&options)?)
            }
            (None, None) => {
                let is_null = engine.name == "null";
                let files = Files::read(
                    &options,
                    &section.name,
                    &section.origin,
                    clones,
                    is_null,
                    &mut notes,
                    environment,
                )?;
                let region = region(&options, &files, smallest.unwrap_or(4096))?;
                let length = length(&options, rw, &sizes, &region, &files, &mut notes)?;
                (files, region, length)
            }
        };
        let places = Places::read(&options, rw, only_size(rw, &sizes))?;
        match halves {
            Some(_) => notes.push(
                "its reads and its writes run independently: those with the rate keep it, the others have iodepth= \
                 of their own, and rwmixread= does not hold"
                    .into(),
            ),
            None => notes.extend(access::note(rw)),
        }
        notes.extend(access::centre_note(&options, rw));
        let (pace, rated_reads) = pace(&options, rw, &sizes, &mut notes)?;
        let reads_percent = match rated_reads {
            Some(percent) => percent,
            None => access::reads_percent(&options, rw)?,
        };
        if replay.is_some() {
            replay::check_pace(&options, pace)?;
        }
        // Whatever rw says, a trace may have any operation.
        let may_ask = if replay.is_some() { Rw { has: [true; 3], ..rw } } else { rw };
        let keys = super::keys::plain(&options, may_ask, &sizes, environment, &mut notes)?;
        check_percentiles(&options)?;
        let verify_pattern =
            options.read("verify_pattern", |text| super::pattern::bytes(text, environment))?;
        let keys = with_log(keys, &options, tree.is_some())?;
        let (checks, logs) =
            (Checks::read(&options)?, Logs::read(&options, &name, smallest.unwrap_or(4096))?);
        let steady = super::steady::rule(&options, &mut notes)?;
        Ok(Job {
            section: section.name.clone(),
            origin: section.origin.clone(),
            clones,
            rw,
            aligns_of: super::keys::aligns_of(&options, rw, &sizes)?,
            sizes,
            reads_percent,
            slo: super::keys::slo(&options)?,
            places,
            files,
            region,
            length,
            pace,
            engine,
            tree,
            replay,
            halves,
            verify_pattern,
            keys,
            checks,
            logs,
            flow: options.count32("flow")?.filter(|flow| *flow > 0),
            steady,
            waits: options.flag("stonewall")? == Some(true) || section.begins_file,
            wait_for: options.text("wait_for").map(str::to_owned),
            new_group: options.flag("new_group")? == Some(true),
            grouped: options.flag("group_reporting")? == Some(true),
            notes,
            name,
            options,
        })
    }
}

impl Job {
    /// How far its clones come in the file of that name; `None` where they do not use it, or nothing says so.
    pub(super) fn reaches_in(&self, file: &str) -> Option<u64> {
        let clones = self.files.of_clone.iter().enumerate();
        let last = clones
            .filter(|(_, names)| names.iter().any(|name| name == file))
            .map(|(clone, _)| clone)
            .next_back()?;
        let (Amount::Bytes(offset), Some(Amount::Bytes(span))) = (self.region.offset, self.region.span)
        else {
            return None;
        };
        let moved = if self.files.shared { self.region.increment.saturating_mul(last as u64) } else { 0 };
        Some(offset.saturating_add(moved).saturating_add(span))
    }
}

fn only_size(rw: Rw, sizes: &[Sizes; 3]) -> Option<u64> {
    let mut all = (0..3).filter(|op| rw.has[*op]).flat_map(|op| &sizes[op]).map(|(size, _)| *size);
    let first = all.next()?;
    all.all(|size| size == first).then_some(first)
}

pub(super) fn refuse(options: &Options, name: &str, want: &str) -> Refusal {
    options.get(name).map_or_else(
        || Refusal::Usage { tool: super::TOOL, what: format!("{name}: {want}") },
        |setting| setting.wrong(want),
    )
}

/// Numbers below which, and shares above which, fio says no whatever else the job says.
fn check_bounds(options: &Options) -> Result<(), Refusal> {
    if let Some(setting) = options.get("iodepth").filter(|_| options.count("iodepth") == Ok(Some(0))) {
        return Err(setting.wrong("at least 1"));
    }
    for share in ["rwmixread", "rwmixwrite", "dedupe_percentage", "buffer_compress_percentage"] {
        options.share(share)?;
    }
    options.three("percentage_random", super::value::share)?;
    Ok(())
}

/// Requests in flight overlap only where places are drawn without a map; fio then holds one of them back.
fn check_overlap(options: &Options, rw: Rw, depth: u32) -> Result<(), Refusal> {
    let Some(setting) = options.get("serialize_overlap") else { return Ok(()) };
    let may_overlap = depth > 1 && rw.random && access::may_repeat(options)?;
    match options.flag("serialize_overlap")? == Some(true) && may_overlap {
        true => Err(setting.unsupported(
            "of requests that are drawn without a map two may overlap, and neither waits; leave norandommap out",
        )),
        false => Ok(()),
    }
}

const ENGINES: &str = "psync, sync, pvsync, pvsync2, io_uring, libaio, posixaio, mmap, falloc, ftruncate, null, cpuio, filecreate, \
                       filestat, filedelete, dircreate, dirstat and dirdelete are";

/// Engines of fio that are refused, each with its reason.
const REFUSED: &[(&str, &str)] = &[
    ("sg", "SCSI commands past the block layer are not sent; measure the disk itself, /dev/sdX"),
    ("io_uring_cmd", "NVMe commands past the block layer are not sent; measure the namespace, /dev/nvmeXnY"),
    ("splice", "data that goes through a pipe is not measured; psync moves it once"),
    ("exec", EXEC),
    ("e4defrag", DEFRAG),
];

pub(super) const DEFRAG: &str = "ioengine=e4defrag moves the extents of a file, which is no I/O; run `e4defrag` before, and measure it then";
pub(super) const EXEC: &str =
    "ioengine=exec runs a program, and a job file has none executed here; run it beside fathom";

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

fn engine(options: &Options, notes: &mut Vec<String>) -> Result<Engine, Refusal> {
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
        "null" | "cpp_null" => ("null", true),
        "cpuio" => ("null", false),
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

/// How large the only file of a job is, or all of its files are; of a range one size is drawn, the same in every run.
fn one_size(options: &Options, files: &Files, smallest: u64) -> Result<Option<u64>, Refusal> {
    let Some((least, most)) = super::files::each_size(options)? else { return Ok(None) };
    if least == most {
        return Ok(Some(most));
    }
    if files.of_clone.len() > 1 || files.each > 1 {
        let setting = options.get("filesize").expect("it has a value");
        return Err(setting.unsupported(
            "requests visit files that are equally large; say one size, or write a job for each file. A range holds \
             for a job of one file, and for ioengine=filestat and filedelete",
        ));
    }
    let seed = options.count("randseed")?.unwrap_or(1);
    let size = super::draw::drawn_within(seed, files.first_name(), least, most);
    Ok(Some((size - size % smallest).max(smallest)))
}

fn region(options: &Options, files: &Files, smallest: u64) -> Result<Region, Refusal> {
    let (size, each) = (options.amount("size")?, files.each as u64);
    let filesize = one_size(options, files, smallest)?;
    let mut offset = options.amount("offset")?.unwrap_or(Amount::Bytes(0));
    if let (Some(align), Amount::Bytes(at)) =
        (options.size("offset_align")?.filter(|align| *align > 0), offset)
    {
        offset = Amount::Bytes(at.next_multiple_of(align));
    }
    // What moves from clone to clone is said in bytes.
    if let (Amount::Percent(part), Some(size)) = (offset, files.known_size) {
        let at = truncated::<u64>(size as f64 * part.min(100.0) / 100.0);
        offset = Amount::Bytes(at - at % smallest);
    }
    let increment = match options.amount("offset_increment")? {
        None => 0,
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(part)) => match files.known_size {
            Some(size) => truncated::<u64>(size as f64 * part / 100.0) / smallest * smallest,
            None => {
                let setting = options.get("offset_increment").expect("it has a value");
                return Err(setting.wrong(format!(
                    "how large {} is, is not known here; say it in bytes, or name with --on what is there",
                    files.first_name()
                )));
            }
        },
    };
    let span = match (filesize, size) {
        (Some(filesize), size) => match offset {
            Amount::Bytes(at) if at < filesize => {
                let rest = filesize - at;
                Some(Amount::Bytes(match size {
                    Some(Amount::Percent(part)) => {
                        let part = truncated::<u64>(filesize as f64 * part / 100.0).min(rest);
                        (part - part % smallest).max(smallest)
                    }
                    _ => rest,
                }))
            }
            _ => return Err(refuse(options, "offset", "it leaves nothing of filesize")),
        },
        (None, Some(Amount::Bytes(0)) | None) => None,
        (None, Some(Amount::Bytes(size))) => {
            let span = size / each - size / each % smallest;
            if span == 0 {
                return Err(refuse(options, "size", "it has no room for one request in each file"));
            }
            Some(Amount::Bytes(span))
        }
        (None, Some(Amount::Percent(part))) if part >= 100.0 && offset == Amount::Bytes(0) => None,
        (None, Some(Amount::Percent(part))) => Some(Amount::Percent(part.min(100.0))),
    };
    let known = |amount: Amount| match amount {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(part) => files.known_size.map(|size| truncated::<u64>(size as f64 * part / 100.0)),
    };
    let total = match span {
        Some(span) => known(span),
        None => files.known_size.zip(known(offset)).map(|(size, offset)| size.saturating_sub(offset)),
    };
    if files.are_new && known(span.unwrap_or(Amount::Percent(100.0))).is_none() {
        return Err(files.origin.refuse(format!(
            "{} is not there yet, and nothing says how large it becomes; add size=",
            files.first_name()
        )));
    }
    if span.is_some() && files.each > 1 && files.service != Service::RoundRobin && offset != Amount::Bytes(0)
    {
        return Err(refuse(options, "offset", "with several files it wants file_service_type=roundrobin"));
    }
    Ok(Region { offset, increment, span, total: total.map(|each_file| each_file.saturating_mul(each)) })
}

fn length(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    region: &Region,
    files: &Files,
    notes: &mut Vec<String>,
) -> Result<Length, Refusal> {
    let run_ns = options.time_ns("runtime", Bare::Seconds)?.filter(|time| *time > 0);
    let ramp_ns = options.time_ns("ramp_time", Bare::Seconds)?.unwrap_or(0);
    let (delay_ns, delay_most_ns) = delays(options)?;
    let requests = options.count("number_ios")?.filter(|count| *count > 0);
    let loops = options.count("loops")?.unwrap_or(1).max(1);
    // As fio, which says so and goes on.
    let is_timed = options.flag("time_based")? == Some(true) || only_burns(options);
    let time_based = is_timed && run_ns.is_some();
    if let (Some(_), None) = (options.get("time_based"), run_ns) {
        notes.push("time_based without runtime= has no effect".into());
    }
    let io_size = match options.amount("io_size")? {
        Some(Amount::Percent(part)) => {
            region.total.map(|total| truncated::<u64>(total as f64 * part / 100.0))
        }
        Some(Amount::Bytes(bytes)) => Some(bytes).filter(|bytes| *bytes > 0),
        None => None,
    };
    // size= bounds the transfer where filesize= says how large the files are.
    let size = match options.amount("size")? {
        Some(Amount::Bytes(bytes)) if bytes > 0 => Some(bytes.min(region.total.unwrap_or(bytes))),
        _ => region.total,
    };
    // A stream that leaves something out ends with its pass.
    let size = match only_size(rw, sizes) {
        Some(each) if !rw.random && rw.skip != 0 => size.map(|size| passed(size, each, rw.skip)),
        _ => size,
    };
    let whole = io_size.or(size).map(|bytes| bytes.saturating_mul(loops));
    if let Some(setting) = options.get("fill_device")
        && options.flag("fill_device")? == Some(true)
        && (files.are_new || options.get("size").is_some_and(|size| size.value != "0"))
    {
        return Err(
            setting.unsupported("all of a device is written without size=; files have a size, so say size=")
        );
    }
    let mut passes = None;
    let bytes = match whole {
        _ if time_based => None,
        None if requests.is_none() && (ramp_ns == 0 || run_ns.is_none()) => {
            passes = Some(loops);
            None
        }
        Some(_) if run_ns.is_some() && ramp_ns > 0 => {
            notes.push("with ramp_time the job runs for all of runtime, also past size".into());
            None
        }
        whole => whole,
    };
    Ok(Length { run_ns, ramp_ns, delay_ns, delay_most_ns, bytes, requests, passes })
}

/// Of `size` bytes those that a pass in requests of `each` visits, `skip` bytes from the end of one to the next.
fn passed(size: u64, each: u64, skip: i64) -> u64 {
    let step = match u64::try_from(skip) {
        Ok(skip) => each.saturating_add(skip),
        Err(_) => skip.unsigned_abs().saturating_sub(each).max(1),
    };
    (size.saturating_sub(each) / step + 1).saturating_mul(each)
}

/// The delay of a job, or the range that each clone draws one from.
pub(super) fn delays(options: &Options) -> Result<(u64, u64), Refusal> {
    let read = |text: &str| super::value::time_ns(text, Bare::Seconds);
    let range = |text: &str| match text.split_once('-') {
        Some((least, most)) => {
            let (least, most) = (read(least)?, read(most)?);
            if least <= most {
                Ok((least, most))
            } else {
                Err("a range from less to more, such as 5-10".to_owned())
            }
        }
        None => read(text).map(|delay| (delay, delay)),
    };
    Ok(options.read("startdelay", range)?.unwrap_or((0, 0)))
}

/// Each block that is trimmed is written again, by one request as large.
fn check_pairs(options: &Options, rw: Rw) -> Result<(), Refusal> {
    if !rw.rewrites_trims() {
        return Ok(());
    }
    match options.get("verify").filter(|verify| !["0", "none", "null"].contains(&verify.value.as_str())) {
        Some(verify) => {
            Err(verify.unsupported("what is trimmed and then written is not read back; a rw=write job is"))
        }
        None => Ok(()),
    }
}

/// The reads and the writes of a job of which one has a rate and the other goes as fast as it can.
fn halves(
    options: &Options,
    rw: Rw,
    globals: &[super::section::Setting],
    section: &Section,
    environment: &JobEnvironment<'_>,
) -> Result<Option<Box<[Job; 2]>>, Refusal> {
    let has = |name: &str, op: usize| -> Result<bool, Refusal> {
        Ok(options.three(name, |text| options.base.size(text))?[op].is_some_and(|rate| rate > 0))
    };
    let rated = |op: usize| Ok::<bool, Refusal>(has("rate", op)? || has("rate_iops", op)?);
    if !rw.is_mixed() || rated(READ)? == rated(WRITE)? {
        return Ok(None);
    }
    let set =
        |name: &str| options.get(name).filter(|setting| !["0", "none"].contains(&setting.value.as_str()));
    let setting = options.get("rate").or_else(|| options.get("rate_iops")).expect("one of them has a value");
    if options.flag("time_based")? != Some(true) || set("number_ios").is_some() {
        return Err(setting.unsupported(
            "a job of which only reads or only writes have a rate ends by time; say runtime= and time_based, or give \
             both a rate",
        ));
    }
    for name in ["verify", "thinktime", "steadystate", "flow", "read_iolog", "write_iolog"] {
        if let Some(other) = set(name) {
            return Err(other.unsupported("only reads or only writes of the job have a rate; write two jobs"));
        }
    }
    let Some(said) = options.get("rw") else { return Ok(None) };
    let half = |direction: &str| {
        let random = if rw.random { "rand" } else { "" };
        let rest = said.value.split_once(':').map_or(String::new(), |(_, rest)| format!(":{rest}"));
        let mut section = section.clone();
        section
            .settings
            .push(super::section::Setting { value: format!("{random}{direction}{rest}"), ..said.clone() });
        Job::read(globals, &section, environment)
    };
    Ok(Some(Box::new([half("read")?, half("write")?])))
}

/// The pace, and the part of reads in percent where two rates decide it.
fn pace(
    options: &Options,
    rw: Rw,
    sizes: &[Sizes; 3],
    notes: &mut Vec<String>,
) -> Result<(Pace, Option<f64>), Refusal> {
    if only_burns(options) {
        return Ok((burnt(options, notes)?, None));
    }
    let think_ns = options.time_ns("thinktime", Bare::Microseconds)?.unwrap_or(0);
    let rates = rates(options, rw, sizes)?;
    let Some((per_second, reads)) = rates else {
        if think_ns == 0 {
            return Ok((Pace::Closed, None));
        }
        return Ok((think(options, think_ns)?, None));
    };
    // Of a pause and a rate the slower one decides: a pause that fits between two requests of the rate is part of it.
    if think_ns > 0 {
        let paused = think(options, think_ns)?;
        let (every, pause) = match paused {
            Pace::Think { ns, blocks } => (f64::from(blocks), ns),
            _ => {
                let setting = options.get("thinktime_iotime").expect("it has a value");
                return Err(
                    setting.unsupported("a job with a rate pauses after requests; leave one of them out")
                );
            }
        };
        let is_slower = pause as f64 / 1e9 > every / per_second;
        notes.push(format!(
            "of rate and thinktime the slower one holds: here the {}",
            if is_slower { "thinktime" } else { "rate" }
        ));
        if is_slower {
            return Ok((paused, rw.is_mixed().then_some(reads)));
        }
    }
    let poisson = match options.text("rate_process") {
        None | Some("linear") => false,
        Some("poisson") => true,
        Some(_) => return Err(refuse(options, "rate_process", "linear or poisson")),
    };
    if rw.is_mixed() && (reads - access::reads_percent(options, rw)?).abs() > 1e-6 {
        notes.push(format!(
            "the rates of reads and writes decide their shares: {} % reads",
            access::figure(reads)
        ));
    }
    Ok((Pace::Rate { per_second, poisson }, rw.is_mixed().then_some(reads)))
}

/// Whether a job asks no storage and only burns processor time, as ioengine=cpuio.
pub(super) fn only_burns(options: &Options) -> bool {
    options.text("ioengine") == Some("cpuio")
}

/// The pace of such a job: requests that go nowhere for as long as `cpuchunks` says, then the pause that leaves `cpuload`.
fn burnt(options: &Options, notes: &mut Vec<String>) -> Result<Pace, Refusal> {
    let load = options.count("cpuload")?.unwrap_or(0);
    if !(1..=100).contains(&load) {
        return Err(refuse(
            options,
            "cpuload",
            "percent of a processor, from 1 to 100; ioengine=cpuio needs it",
        ));
    }
    if options.time_ns("runtime", Bare::Seconds)?.unwrap_or(0) == 0 {
        return Err(refuse(options, "runtime", "ioengine=cpuio needs it: nothing else ends the job"));
    }
    let busy_ns =
        options.time_ns("cpuchunks", Bare::Microseconds)?.filter(|busy| *busy > 0).unwrap_or(50_000_000);
    notes.push(
        "ioengine=cpuio burns its time with requests that leave the program nowhere; none is reported".into(),
    );
    match load {
        100 => Ok(Pace::Closed),
        load => Ok(Pace::Spells { ns: busy_ns.saturating_mul(100 - load) / load, busy_ns }),
    }
}

/// The pace of a job that pauses for `ns`.
fn think(options: &Options, ns: u64) -> Result<Pace, Refusal> {
    if let Some(setting) = options.get("thinktime_blocks_type")
        && !matches!(setting.value.as_str(), "complete" | "issue")
    {
        return Err(setting.wrong("complete or issue"));
    }
    let blocks = options.count32("thinktime_blocks")?;
    match (options.time_ns("thinktime_iotime", Bare::Seconds)?.filter(|busy| *busy > 0), blocks) {
        (Some(busy_ns), None) => Ok(Pace::Spells { ns, busy_ns }),
        (None, blocks) => Ok(Pace::Think { ns, blocks: blocks.unwrap_or(1).max(1) }),
        (Some(_), Some(_)) => {
            let setting = options.get("thinktime_iotime").expect("it has a value");
            Err(setting.unsupported(
                "a pause comes after so many requests or after so long; leave it or thinktime_blocks out",
            ))
        }
    }
}

/// Requests a second of one clone, and the part of them that reads, in percent; `None` without any rate.
fn rates(options: &Options, rw: Rw, sizes: &[Sizes; 3]) -> Result<Option<(f64, f64)>, Refusal> {
    let by_count = options.three("rate_iops", |text| Ok(options.base.size(text)? as f64))?;
    let by_bytes = options.three("rate", |text| Ok(options.base.size(text)? as f64))?;
    let of = |op: usize| {
        let bytes = by_bytes[op].filter(|rate| *rate > 0.0).map(|rate| rate / mean(&sizes[op]));
        let count = by_count[op].filter(|rate| *rate > 0.0);
        match (bytes, count) {
            (Some(one), Some(other)) => Some(f64::min(one, other)),
            (one, other) => one.or(other),
        }
    };
    let active: Vec<Option<f64>> = (0..3).filter(|op| rw.has[*op]).map(of).collect();
    let given: Vec<f64> = active.iter().copied().flatten().collect();
    if given.is_empty() {
        return Ok(None);
    }
    if rw.rewrites_trims() {
        // Each trim brings its write with it.
        return Ok(Some((given.into_iter().fold(f64::INFINITY, f64::min), 0.0)));
    }
    // Halves of a job of which one has a rate have one pace each.
    if given.len() < active.len() {
        return Ok(None);
    }
    let total: f64 = given.iter().sum();
    let reads = if rw.has[READ] { given[0] } else { 0.0 };
    Ok(Some((total, reads * 100.0 / total)))
}

fn mean(sizes: &Sizes) -> f64 {
    let weight: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    sizes.iter().map(|(size, weight)| *size as f64 * weight).sum::<f64>() / weight
}

/// Whether reads and writes have the same sizes, so that one split says both.
pub(super) fn same_sizes(rw: Rw, sizes: &[Sizes; 3]) -> bool {
    !rw.is_mixed() || sizes[READ] == sizes[WRITE]
}

/// `keys` with the log that the requests are written to.
fn with_log(
    mut keys: Vec<(&'static str, String)>,
    options: &Options,
    is_tree: bool,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    let Some(setting) = options.get("write_iolog").filter(|setting| !setting.value.is_empty()) else {
        return Ok(keys);
    };
    if is_tree {
        return Err(setting.unsupported("a log has requests to blocks, and this engine works on files"));
    }
    // A plan says `none` where it writes no log.
    let path = if setting.value == "none" { "./none" } else { &setting.value };
    keys.push(("iolog", crate::quoted(path)));
    Ok(keys)
}

fn check_percentiles(options: &Options) -> Result<(), Refusal> {
    let Some(setting) = options.get("percentile_list") else { return Ok(()) };
    let wrong = |percent: &str| super::value::share(percent).is_err();
    match setting.value.split(':').any(wrong) || setting.value.split(':').count() > 20 {
        true => Err(setting.wrong("up to 20 figures from 0 to 100 apart by `:`")),
        false => Ok(()),
    }
}
