//! fio's engines that move no data: filecreate, filestat, filedelete, and their like for directories.
//!
//! A job of theirs does one thing to each of its files, which is what a workload with `tree` does. The files lie in
//! the directory that the job names, each job's in a folder of its own there.

use units::Bytes;

use crate::{JobEnvironment, Refusal, quoted};

use super::files::{Files, Service, each_size};
use super::length::Length;
use super::region::Region;
use super::section::{Origin, Setting};
use super::settings::Options;
use super::value::{Amount, Bare};

/// What a job does to files or directories, and to how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// As `tree` says it.
    op: &'static str,
    /// Files of one clone.
    count: u64,
    /// The smallest and the largest file.
    sizes: (Bytes, Bytes),
    is_random: bool,
    /// Visits of one clone, where it may go round more than once.
    visits: Option<u64>,
}

/// What an engine does to a tree; `None` for those that move data.
fn op_of(engine: &str) -> Option<&'static str> {
    Some(match engine {
        "filecreate" => "create",
        "filestat" => "stat",
        "filedelete" => "delete",
        "dircreate" => "mkdir",
        "dirstat" => "stat",
        "dirdelete" => "rmdir",
        _ => return None,
    })
}

/// Whether an engine moves no data.
pub(super) fn is_one(engine: &str) -> bool {
    op_of(engine).is_some()
}

impl Tree {
    /// What the options ask for; `None` where their engine moves data.
    pub(super) fn read(options: &Options) -> Result<Option<Tree>, Refusal> {
        let Some(op) = options.text("ioengine").and_then(op_of) else {
            return match options.get("stat_type") {
                Some(setting) => Err(setting.wrong("it goes with ioengine=filestat")),
                None => Ok(None),
            };
        };
        if let Some(setting) = options.get("stat_type").filter(|setting| setting.value != "stat") {
            return Err(setting.unsupported("stat is"));
        }
        let idle = |setting: &Setting| matches!(setting.value.as_str(), "0" | "none" | "null");
        for name in ["rate", "rate_iops", "thinktime", "thinkcycles", "number_ios", "io_size", "verify"] {
            if let Some(setting) = options.get(name).filter(|setting| !idle(setting)) {
                let why =
                    "files are counted by nrfiles=, and each is visited as soon as the one before is done";
                return Err(setting.unsupported(why));
            }
        }
        for name in ["cpus_allowed", "cpumask", "numa_cpu_nodes"] {
            if let Some(setting) = options.get(name) {
                return Err(
                    setting.unsupported("files are visited from any processor; run `taskset` around fathom")
                );
            }
        }
        // Names are counted: the files themselves lie in a folder that is Fathom's own.
        let named = options.text("filename").map_or(1, |names| super::files::split(names).len() as u64);
        let count = options.count("nrfiles")?.unwrap_or(1).max(named);
        let random = options.text("file_service_type").is_some_and(|order| order.starts_with("random"));
        let goes_round = op == "stat";
        let timed = options.flag("time_based")? == Some(true);
        let loops = options.count("loops")?.unwrap_or(1).max(1);
        if let Some(setting) = options.get("loops").filter(|_| loops > 1 && !goes_round) {
            return Err(
                setting.unsupported("a file is made or deleted once; stonewall and another job do so again")
            );
        }
        if let Some(setting) = options.get("time_based").filter(|_| timed && !goes_round) {
            return Err(setting.unsupported("a file is made or deleted once, however long that takes"));
        }
        let visits = (goes_round && !timed).then(|| count.saturating_mul(loops));
        Ok(Some(Tree { op, count, sizes: file_sizes(options, count)?, is_random: random, visits }))
    }

    /// The directory of its clones.
    pub(super) fn files(
        options: &Options,
        section: &Origin,
        clones: u32,
        environment: &JobEnvironment<'_>,
    ) -> Result<Files, Refusal> {
        let named = options.get("directory");
        let directory = match (environment.targets, named) {
            ([], None) => ".".to_owned(),
            ([], Some(setting)) if setting.value.contains(':') && !setting.value.starts_with("array:") => {
                return Err(setting.unsupported("files to create, stat or delete lie in one directory"));
            }
            ([], Some(setting)) => setting.value.clone(),
            ([one], _) => one.clone(),
            _ => return Err(section.refuse("files to create, stat or delete lie in one directory".into())),
        };
        Ok(Files {
            of_clone: vec![vec![directory]; clones as usize],
            each: 1,
            passes: 1,
            service: Service::RoundRobin,
            known_size: None,
            are_new: false,
            unlink: options.flag("unlink")? == Some(true),
            shared: true,
            apart: false,
            origin: named.map_or_else(|| section.clone(), |setting| setting.origin.clone()),
        })
    }

    /// How long its clones go on: a file is made or deleted once, whatever `runtime` says.
    pub(super) fn length(self, options: &Options) -> Result<Length, Refusal> {
        const AT_ONCE: &str = "the first file is visited at once";
        super::length::refuse_ramp(options, AT_ONCE)?;
        if let (Some(setting), true) = (options.get("startdelay"), super::length::delays(options)?.1 > 0) {
            return Err(setting.unsupported(AT_ONCE));
        }
        let run_ns = options.time_ns("runtime", Bare::Seconds)?.filter(|time| *time > 0 && self.op == "stat");
        if options.flag("time_based")? == Some(true) && run_ns.is_none() {
            let setting = options.get("time_based").expect("it is set");
            return Err(setting.wrong("it goes with runtime="));
        }
        Ok(Length { run_ns, requests: None, ..Length::ONE_REQUEST })
    }

    /// One size, or a range in which each is as likely.
    fn file_size(self) -> String {
        let (least, most) = self.sizes;
        if least == most { most.exact() } else { format!("{}..{}", least.exact(), most.exact()) }
    }

    /// The keys of a workload of `workers` of its clones.
    pub(super) fn keys(self, workers: u32) -> Vec<(&'static str, String)> {
        let all = |each: u64| each.saturating_mul(workers.into()).min(i64::MAX as u64).to_string();
        let mut keys = vec![("tree", quoted(self.op))];
        match self.op {
            // As many directories, below one that is there.
            "mkdir" | "rmdir" => keys.extend([("levels", "1".into()), ("fanout", all(self.count))]),
            _ => keys.extend([("count", all(self.count)), ("file_size", quoted(&self.file_size()))]),
        }
        if self.is_random {
            keys.push(("order", quoted("random")));
        }
        if workers > 1 {
            keys.push(("workers", workers.to_string()));
        }
        // Where nothing says how long, each is visited once anyway.
        if let Some(visits) = self.visits {
            keys.push(("ops", all(visits)));
        }
        keys
    }
}

/// Nothing of a file is left out.
pub(super) const WHOLE: Region = Region {
    offset: Amount::Bytes(0),
    increment: 0,
    span: None,
    end: None,
    laid: None,
    total: None,
    sizes: Vec::new(),
};

/// Words for the user.
pub(super) const NOTE: &str = "its files lie in a folder of its own below `fathom-tree`, whatever filename= calls them, \
                               and fio's figures of them stand for files, not for requests; dirstat looks at files, \
                               by the same call";

fn file_sizes(options: &Options, count: u64) -> Result<(Bytes, Bytes), Refusal> {
    assert!(count > 0, "a tree has a file at least");
    let filesize = each_size(options)?;
    let size = match options.amount("size")? {
        Some(Amount::Bytes(size)) => Some(size),
        Some(Amount::Percent(_)) => {
            let setting = options.get("size").expect("it has a value");
            return Err(setting.unsupported("say filesize= in bytes"));
        }
        None => None,
    };
    // fio's filecreate opens its files and writes nothing to them.
    if !matches!(options.text("ioengine"), Some("filestat" | "filedelete")) {
        return Ok((Bytes::ZERO, Bytes::ZERO));
    }
    let (least, most) = filesize.or(size.map(|size| (size / count, size / count))).unwrap_or((0, 0));
    Ok((Bytes::new(least), Bytes::new(most)))
}
