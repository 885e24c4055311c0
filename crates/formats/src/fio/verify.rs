//! `verify=`: what a job writes is stamped, and read back and checked in a phase behind it.
//!
//! fio reads back what it wrote in the order of its own log. Here the same seed asks for the same blocks in the same
//! order again, and the run's own books say which of them were written.

use crate::Refusal;

use super::access::{READ, WRITE};
use super::arrange::Member;
use super::job::Job;
use super::section::Setting;

fn setting(job: &Job) -> Option<&Setting> {
    let idle = |setting: &Setting| matches!(setting.value.as_str(), "0" | "none" | "null");
    job.options.get("verify").filter(|setting| !idle(setting))
}

/// Kinds whose blocks hold the pattern and nothing else.
fn is_pattern(setting: &Setting) -> bool {
    matches!(setting.value.as_str(), "pattern" | "null_pattern")
}

/// The keys that `verify=` comes to for a job. Only a job that does nothing but read expects all of it to be stamped.
pub(super) fn keys(job: &Job, seed: u64) -> Result<Vec<(&'static str, String)>, Refusal> {
    let Some(setting) = setting(job) else { return Ok(Vec::new()) };
    let verify = match job.rw.has[WRITE] {
        _ if is_pattern(setting) => "content",
        true => "written",
        false => "all",
    };
    let mut keys = vec![("verify", format!("\"{verify}\""))];
    if job.rw.has[WRITE] {
        // Not that of the phase: the one that reads back must ask for the same blocks.
        keys.push(("seed", seed.to_string()));
    }
    if let Some(every) = read_back_every(job)? {
        keys.push(("read_back", every.to_string()));
    }
    if is_pattern(setting) {
        let Some(pattern) = job.options.get("verify_pattern") else {
            return Err(setting.wrong("it goes with verify_pattern="));
        };
        let bytes = super::pattern::bytes(&pattern.value).map_err(|want| pattern.wrong(want))?;
        // A job that writes says so already.
        if !job.rw.changes() {
            keys.push(("content", super::keys::pattern_text(&bytes)));
        }
    }
    Ok(keys)
}

/// Whether what an earlier run wrote is only read.
pub(super) fn is_only(job: &Job) -> Result<bool, Refusal> {
    let Some(setting) = job.options.get("verify_only") else { return Ok(false) };
    if job.options.flag("verify_only")? != Some(true) || !job.rw.has[WRITE] {
        return Ok(false);
    }
    match self::setting(job) {
        Some(_) => Ok(true),
        None => Err(setting.wrong("it goes with verify=")),
    }
}

/// After how many writes they are read back by the job itself: `verify_backlog`, or at the end of a job of which nobody
/// knows beforehand how much it writes.
fn read_back_every(job: &Job) -> Result<Option<u32>, Refusal> {
    if !job.rw.has[WRITE] || job.options.flag("do_verify")? == Some(false) || is_only(job)? {
        return Ok(None);
    }
    let backlog = job.options.count("verify_backlog")?.filter(|every| *every > 0);
    let is_timed = job.length.bytes.is_none() && job.length.requests.is_none() && job.length.passes.is_none();
    let every = backlog.or(is_timed.then_some(u64::from(u32::MAX)));
    Ok(every.map(|every| u32::try_from(every).unwrap_or(u32::MAX)))
}

/// The workloads that read back what `members` wrote; none where nothing is to be checked, or the jobs do so
/// themselves.
pub(super) fn read_back(jobs: &[Job], members: &[Member]) -> Result<Vec<Member>, Refusal> {
    let mut readers = Vec::new();
    for member in members {
        let job = &jobs[member.job];
        if setting(job).is_none() || !job.rw.has[WRITE] || job.options.flag("do_verify")? == Some(false) {
            continue;
        }
        if read_back_every(job)?.is_none() && !is_only(job)? {
            readers.push(reader(member));
        }
    }
    Ok(readers)
}

/// What reads only what an earlier run of the same job has written: every block must carry its stamp.
pub(super) fn only(member: &Member) -> Member {
    let mut reader = reader(member);
    reader.keys.extend(member.keys.iter().filter(|(key, _)| *key == "iolog").cloned());
    for (key, value) in &mut reader.keys {
        if *key == "verify" && value == "\"written\"" {
            *value = "\"all\"".into();
        }
    }
    reader
}

/// The same requests, all of them reads, as fast as they go.
fn reader(member: &Member) -> Member {
    const OF_WRITES: [&str; 14] = [
        "reads",
        "trims",
        "pace",
        "sync",
        "flush",
        "flush_every",
        "flush_at_end",
        "compress",
        "read_back",
        "flow",
        "steady",
        "start",
        "exit_all",
        "iolog",
    ];
    // What is looked for stays, what was written goes.
    let looks_for = member.keys.contains(&("verify", "\"content\"".into()));
    let kept =
        |(key, _): &&(&'static str, String)| !OF_WRITES.contains(key) && (looks_for || *key != "content");
    let as_reads = |(key, value): &(&'static str, String)| match *key {
        "mix" => (*key, value.replace("reads = \"0%\"", "reads = \"100%\"")),
        key => (key, value.clone()),
    };
    let keys = member.keys.iter().filter(kept).map(as_reads).collect();
    Member { job: member.job, name: member.name.clone(), keys, joins: member.joins }
}

/// Words for the user, once for each job.
pub(super) fn note(job: &Job) -> Option<String> {
    let setting = setting(job)?;
    let behind = if job.rw.has[WRITE] && job.rw.has[READ] { "; all its blocks are read back" } else { "" };
    let what = match is_pattern(setting) {
        true => "reads are verified against the pattern",
        false => "blocks carry Fathom's own stamp with a CRC-32, whatever the kind",
    };
    Some(format!("job `{}`: verify={}: {what}{behind}", job.name, setting.value))
}
