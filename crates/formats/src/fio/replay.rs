//! A job of fio that asks a trace again: `read_iolog` and what belongs to it.
//!
//! Source: fio's manual, `read_iolog` and the `replay_` options.

use units::Bytes;

use crate::{JobEnvironment, Refusal, quoted};

use super::files::split;
use super::job::refuse;
use super::length::{Length, delays};
use super::pace::Pace;
use super::settings::Options;
use super::value::Bare;

/// The trace of a job.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    /// The files that the trace names, or those that stand for them.
    pub files: Vec<String>,
    /// Whether its text can be read; what blktrace has recorded cannot.
    pub is_text: bool,
    /// What a plan says of it, with values as TOML.
    pub keys: Vec<(&'static str, String)>,
}

/// The most that a plan divides offsets by.
const MOST_SCALE: u64 = 1_000_000;

/// Said of every job with a trace.
pub(super) const NOTE: &str = "its trace has the requests and the end; rw, bs, size, offset, loops, time_based \
                               and fsync do not hold";

impl Replay {
    /// The trace that a job asks again; `None` where it makes its requests itself.
    pub(super) fn read(
        options: &Options,
        is_null: bool,
        environment: &JobEnvironment<'_>,
    ) -> Result<Option<Replay>, Refusal> {
        let Some(setting) = options.get("read_iolog").filter(|setting| !setting.value.is_empty()) else {
            return Ok(None);
        };
        let merge = super::merge::of(options)?;
        let file = merge.as_ref().map_or(&setting.value, |merge| &merge.into);
        if file.contains(':') {
            return Err(setting.unsupported(
                "clones with traces of their own; write a job for each, or merge what blktrace has recorded with \
                 merge_blktrace_file=",
            ));
        }
        if let Some(other) =
            options.get("verify").filter(|other| !["0", "none"].contains(&other.value.as_str()))
        {
            return Err(other.unsupported(
                "what a trace writes is not stamped, as its requests are no whole blocks; leave it out, or write and \
                 read back with a job of rw=write",
            ));
        }
        if file == "-" {
            return Err(setting.unsupported("a trace is read from a file"));
        }
        // What is merged only when the job begins is not looked at.
        let head = if merge.is_some() { None } else { (environment.file)(file).ok() };
        let files = match (named(options), environment.targets) {
            (_, [_, ..]) => environment.targets.to_vec(),
            _ if is_null => vec!["null:".into()],
            (Some(files), []) => files,
            (None, []) => head.as_deref().map(added).unwrap_or_default(),
        };
        if files.is_empty() {
            return Err(setting.wrong(
                "a log whose files can be seen beforehand (fio's own, at most 16 MiB), or the target as \
                 replay_redirect=, filename= or --on; what blktrace has recorded names none",
            ));
        }
        let keys = keys(options, file, head.as_deref(), is_null)?;
        Ok(Some(Replay { files, is_text: head.is_some(), keys }))
    }
}

/// The keys of a plan that replay the trace in `file`.
fn keys(
    options: &Options,
    file: &str,
    head: Option<&str>,
    is_null: bool,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    // A plan says `none` where it names no trace.
    debug_assert!(!file.is_empty(), "a trace is read from a file");
    let path = if file == "none" { "./none" } else { file };
    let mut keys = vec![("pattern", quoted("trace")), ("trace", quoted(path))];
    if !stalls_never(options, head)? {
        keys.push(("pace", quoted("trace")));
    }
    if let Some(percent) = options.count("replay_time_scale")?.filter(|percent| *percent != 100) {
        if !(1..=100_000).contains(&percent) {
            return Err(refuse(options, "replay_time_scale", "a percentage from 1 to 100000"));
        }
        keys.push(("trace_speed", (percent as f64 / 100.0).to_string()));
    }
    if let Some(scale) = options.count("replay_scale")?.filter(|scale| *scale > 1) {
        if scale > MOST_SCALE {
            return Err(refuse(options, "replay_scale", "1 to 1000000"));
        }
        keys.push(("trace_scale", scale.to_string()));
    }
    if let Some(align) = options.size("replay_align")?.filter(|align| *align > 0) {
        keys.push(("align", quoted(&Bytes::new(align).exact())));
    }
    if let Some(skip) = skipped(options)? {
        keys.push(("trace_skip", quoted(&skip)));
    }
    if options.get("replay_redirect").is_some() || is_null {
        keys.push(("trace_fold", "true".into()));
    }
    Ok(keys)
}

/// Says no to a pace beside that of the trace.
pub(super) fn check_pace(options: &Options, pace: Pace) -> Result<(), Refusal> {
    if pace == Pace::Closed {
        return Ok(());
    }
    let names = ["rate", "rate_iops", "thinktime", "thinkcycles"];
    let setting = names.iter().find_map(|name| options.get(name)).expect("one of them makes a pace");
    Err(setting
        .unsupported("a trace is replayed at its own rate, or as fast as possible with replay_no_stall=1"))
}

/// How long a job goes on that ends with its trace.
pub(super) fn length(options: &Options) -> Result<Length, Refusal> {
    super::length::refuse_ramp(options, "a trace is replayed from its start")?;
    let (delay_ns, delay_most_ns) = delays(options)?;
    Ok(Length {
        run_ns: options.time_ns("runtime", Bare::Seconds)?.filter(|time| *time > 0),
        ramp_ns: 0,
        ramp_bytes: None,
        delay_ns,
        delay_most_ns,
        bytes: None,
        requests: options.count("number_ios")?.filter(|count| *count > 0),
        passes: None,
    })
}

/// The targets that the job itself names.
fn named(options: &Options) -> Option<Vec<String>> {
    let named = options.text("replay_redirect").or_else(|| options.text("filename"))?;
    Some(split(named))
}

/// The files that a log of fio adds, in order.
fn added(log: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [name, "add"] | [_, name, "add"] = words[..]
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether requests follow each other as fast as they come: it is asked for, or a log of version 2 never waits.
fn stalls_never(options: &Options, head: Option<&str>) -> Result<bool, Refusal> {
    let second = head.filter(|log| log.starts_with("fio version 2 "));
    let waits = |log: &str| log.lines().any(|line| line.split_ascii_whitespace().nth(1) == Some("wait"));
    Ok(options.flag("replay_no_stall")? == Some(true) || second.is_some_and(|log| !waits(log)))
}

/// The operations that are left out.
fn skipped(options: &Options) -> Result<Option<String>, Refusal> {
    let Some(setting) = options.get("replay_skip") else { return Ok(None) };
    let known = |word: &str| match word.trim() {
        "read" => Some("read"),
        "write" => Some("write"),
        "trim" => Some("trim"),
        "sync" => Some("flush"),
        _ => None,
    };
    let words: Option<Vec<&str>> = setting.value.split(',').map(known).collect();
    let words = words.ok_or_else(|| setting.wrong("some of read, write, trim and sync"))?;
    if ["read", "write", "trim", "flush"].iter().all(|op| words.contains(op)) {
        return Err(setting.wrong("not all of read, write, trim and sync"));
    }
    Ok(Some(words.join(",")))
}
