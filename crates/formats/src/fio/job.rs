//! One job of fio with its values read: what each of its clones does.

use workload::plan::Slo;

use crate::{JobEnvironment, Refusal};

use super::access::{self, Places, READ, Rw, Sizes, WRITE};
use super::checks::Checks;
use super::engine::{Engine, engine};
use super::files::{Files, Service};
use super::length::{Length, length};
use super::log::Logs;
use super::pace::{Pace, asks_nothing, pace};
use super::region::{Region, region};
use super::replay::{self, Replay};
use super::section::{Origin, Section};
use super::settings::Options;
use super::tree::{self, Tree};
use super::unified::Unified;
use super::value::Amount;

#[derive(Clone, Debug)]
pub(super) struct Job {
    /// What it is called in reports: `name=` of its own, or its section.
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
    /// Whether its operations are told as one.
    pub unified: Unified,
    /// Whether its files are laid out, and nothing else.
    pub creates_only: bool,
    /// By how much it is nicer to other processes.
    pub nice: Option<i32>,
    /// Bytes of memory that each clone takes and locks; zero for none.
    pub locked: u64,
    /// Its reads and its writes, where only one of them has a rate.
    pub halves: Option<Box<[Job; 2]>>,
    /// Keys of a plan that need no more thought, with their values as TOML.
    pub keys: Vec<(&'static str, String)>,
    /// The SLO of `latency_target`, whose deepest queue is searched.
    pub slo: Option<Slo>,
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
        // A name stands on one line in tables, and one of all jobs is none of a job: fio calls each after its section.
        let name = options.own_text("name").unwrap_or(&section.name).replace(char::is_control, " ");
        // What burns processor time moves nothing, whatever rw says.
        let rw = if asks_nothing(&options) { Rw::READS } else { Rw::read(&options)? };
        let sizes = access::sizes(&options, rw, &mut notes)?;
        let mut engine = engine_of(&options, environment, &mut notes)?;
        let clones = clones(&options)?;
        check_pairs(&options, rw)?;
        check_overlap(&options, rw, engine.depth)?;
        let halves = halves(&options, rw, globals, section, environment)?;
        let tree = Tree::read(&options)?;
        let replay = Replay::read(&options, engine.name == "null", environment)?;
        if let (Some(_), Some(_), Some(setting)) = (&tree, &replay, options.get("ioengine")) {
            return Err(setting.unsupported("a trace is of blocks, not of files and directories"));
        }
        let (files, region, mut length) = match (tree, &replay) {
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
                let of_clones = (clones, engine.name == "null");
                in_files(&options, section, (rw, &sizes), of_clones, environment, &mut notes)?
            }
        };
        let places = Places::read(&options, rw, only_size(rw, &sizes))?;
        check_repeats(&options, rw, &files, only_size(rw, &sizes), &places)?;
        match halves {
            Some(_) => notes.push(
                "its reads and its writes run independently: those with the rate keep it, the others have iodepth= \
                 of their own, and rwmixread= does not hold"
                    .into(),
            ),
            None => notes.extend(access::note(rw)),
        }
        notes.extend(super::distribution::centre_note(&options, rw));
        let (pace, rated_reads) = pace(&options, rw, &sizes, environment.cpu_hz, &mut notes)?;
        let reads_percent = match rated_reads {
            Some(percent) => percent,
            None => access::reads_percent(&options, rw)?,
        };
        if replay.is_some() {
            replay::check_pace(&options, pace)?;
        }
        assert!((0.0..=100.0).contains(&reads_percent), "{reads_percent} % of a mix are reads");
        assert!(rw.has.contains(&true), "a job reads, writes or trims");
        // Whatever rw says, a trace may have any operation.
        let may_ask = if replay.is_some() { Rw { has: [true; 3], ..rw } } else { rw };
        let keys = super::keys::plain(&options, may_ask, &sizes, environment, &mut notes)?;
        let creates_only = options.flag("create_only")? == Some(true) && tree.is_none() && replay.is_none();
        let (pace, keys) = match creates_only {
            // Its files are laid out for a request that reaches no storage.
            true => {
                (engine, length) = (Engine::NOTHING, Length::ONE_REQUEST);
                (Pace::Closed, Vec::new())
            }
            false => (pace, keys),
        };
        check_percentiles(&options)?;
        check_unit(&options)?;
        let verify_pattern =
            options.read("verify_pattern", |text| super::pattern::bytes(text, environment))?;
        let mut keys = with_log(keys, &options, tree.is_some())?;
        let (checks, logs) = (Checks::read(&options)?, Logs::read(&options, &name, ends_of(rw, &sizes).0)?);
        if tree.is_none() && replay.is_none() && !creates_only {
            keys.extend(super::zones::keys(&options, rw, ends_of(rw, &sizes).1)?);
        }
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
            unified: Unified::read(&options)?,
            creates_only,
            nice: options.read("nice", niceness)?.filter(|nice| *nice != 0),
            locked: options.size("lockmem")?.unwrap_or(0),
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
    /// Has every clone use the files of these names.
    pub(super) fn goes_to(&mut self, names: &[String]) {
        self.files.of_clone.iter_mut().for_each(|of| *of = names.to_vec());
        self.halves.iter_mut().flat_map(|halves| halves.iter_mut()).for_each(|half| half.goes_to(names));
    }

    /// Gives a job whose requests go nowhere `target` of other jobs, where nothing of it is read or written, however much of it
    /// there is.
    pub(super) fn asks_nothing_of(&mut self, target: &str) {
        self.goes_to(&[target.to_owned()]);
        let halves = self.halves.iter_mut().flat_map(|halves| halves.iter_mut());
        halves.for_each(|half| half.region = tree::WHOLE);
        self.region = tree::WHOLE;
    }

    /// How far its clones come in the file of that name; `None` where they do not use it, or nothing says so.
    pub(super) fn reaches_in(&self, file: &str) -> Option<u64> {
        let clones = self.files.of_clone.iter().enumerate();
        let places = clones.flat_map(|(clone, names)| {
            let of_file = names.iter().enumerate().filter(|(_, name)| *name == file);
            of_file.map(move |(place, _)| (clone, place))
        });
        places.filter_map(|(clone, place)| self.needs(clone, place)).max()
    }

    /// How large a clone of that number needs its file of that number; `None` where nothing says so.
    pub(super) fn needs(&self, clone: usize, place: usize) -> Option<u64> {
        if !self.region.sizes.is_empty() {
            return self.region.sizes.get(place).copied();
        }
        let (Amount::Bytes(offset), Some(Amount::Bytes(span))) = (self.region.offset, self.region.span)
        else {
            return None;
        };
        // The file has the part of a block as well that no request is for.
        let span = self.region.laid.unwrap_or(span).max(span);
        let moved = if self.files.shared { self.region.increment.saturating_mul(clone as u64) } else { 0 };
        let reached = offset.saturating_add(moved).saturating_add(span);
        Some(self.region.end.map_or(reached, |end| reached.min(end)))
    }
}

/// The engine of a job, by its name and by what it measures.
fn engine_of(
    options: &Options,
    environment: &JobEnvironment<'_>,
    notes: &mut Vec<String>,
) -> Result<Engine, Refusal> {
    let mut of_engine = Vec::new();
    let mut engine = engine(options, &mut of_engine)?;
    // A virtual array is asked by no engine, whatever that would run on.
    let is_virtual =
        !environment.targets.is_empty() && environment.targets.iter().all(|name| name.starts_with("array:"));
    notes.extend(of_engine.into_iter().filter(|note| !(is_virtual && note.contains(" runs "))));
    if let Some(setting) = options.get("filename").filter(|setting| Files::are_nothing(&setting.value)) {
        notes.push(format!("{} works as the null engine: nothing leaves the program", setting.value));
        engine.name = "null";
    }
    Ok(engine)
}

fn clones(options: &Options) -> Result<u32, Refusal> {
    match options.count32("numjobs")?.unwrap_or(1) {
        clones @ 1..=65_536 => Ok(clones),
        _ => Err(refuse(options, "numjobs", "1 to 65536")),
    }
}

/// The files of a job that is neither a trace nor a tree, where in them its requests go, and when it ends.
fn in_files(
    options: &Options,
    section: &Section,
    (rw, sizes): (Rw, &[Sizes; 3]),
    (clones, is_null): (u32, bool),
    environment: &JobEnvironment<'_>,
    notes: &mut Vec<String>,
) -> Result<(Files, Region, Length), Refusal> {
    let mut files =
        Files::read(options, &section.name, &section.origin, clones, is_null, notes, environment)?;
    let region = region(options, &files, rw, ends_of(rw, sizes))?;
    if !region.sizes.is_empty() && files.service == Service::RoundRobin {
        files.service = super::files::of_unequal(rw, notes);
    }
    let length = length(options, rw, sizes, &region, &files, notes)?;
    Ok((files, region, length))
}

/// The smallest and the largest size of its requests.
fn ends_of(rw: Rw, sizes: &[Sizes; 3]) -> (u64, u64) {
    let all = || (0..3).filter(|op| rw.has[*op]).flat_map(|op| &sizes[op]).map(|(size, _)| *size);
    debug_assert!(all().all(|size| size > 0), "a request moves something");
    (all().min().unwrap_or(4096), all().max().unwrap_or(4096))
}

pub(super) fn only_size(rw: Rw, sizes: &[Sizes; 3]) -> Option<u64> {
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

/// The files that one name stands for each have a place of their own, which comes to the same block as often where all requests
/// of a stream are alike.
fn check_repeats(
    options: &Options,
    rw: Rw,
    files: &Files,
    size: Option<u64>,
    places: &Places,
) -> Result<(), Refusal> {
    let is_one = |op: &&bool| **op;
    let are_alike = rw.has.iter().filter(is_one).count() == 1
        && rw.skip == 0
        && size.is_some()
        && places.pattern == "sequential"
        && super::zones::asked(options)?.is_none();
    match options.get("filename_format").or_else(|| options.get("filename")) {
        Some(setting) if files.repeats(rw) > 1 && !are_alike => Err(setting.unsupported(
            "each of the files that have one name has a place of its own, unless a stream has one operation and one size; say \
             file_service_type=sequential, which passes the file as often, or give each a name",
        )),
        _ => Ok(()),
    }
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
    for name in ["verify", "thinktime", "thinkcycles", "steadystate", "flow", "read_iolog", "write_iolog"] {
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

fn niceness(text: &str) -> Result<i32, String> {
    let nice = text.parse::<i32>().ok().filter(|nice| (-20..=19).contains(nice));
    nice.ok_or_else(|| "a whole number from -20 to 19".into())
}

fn check_unit(options: &Options) -> Result<(), Refusal> {
    match options.get("unit_base") {
        Some(setting) if !["0", "1", "8"].contains(&setting.value.as_str()) => {
            Err(setting.wrong("0 or 8 for bytes, 1 for bits"))
        }
        _ => Ok(()),
    }
}

fn check_percentiles(options: &Options) -> Result<(), Refusal> {
    let Some(setting) = options.get("percentile_list") else { return Ok(()) };
    let wrong = |percent: &str| super::value::share(percent).is_err();
    match setting.value.split(':').any(wrong) || setting.value.split(':').count() > 20 {
        true => Err(setting.wrong("up to 20 figures from 0 to 100 apart by `:`")),
        false => Ok(()),
    }
}
