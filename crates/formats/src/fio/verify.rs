//! `verify=`: what a job writes is stamped, and read back and checked in a phase behind it.
//!
//! fio reads back what it wrote in the order of its own log. Here the same seed asks for the same blocks in the same
//! order again, and the run's own books say which of them were written.

use crate::Refusal;

use units::Bytes;
use workload::spec::HeaderKind;

use super::access::WRITE;
use super::job::Job;
use super::member::Member;
use super::section::Setting;

fn setting(job: &Job) -> Option<&Setting> {
    let idle = |setting: &Setting| matches!(setting.value.as_str(), "0" | "none" | "null");
    // The null engine reads nothing that could be checked: fio pretends.
    job.options.get("verify").filter(|setting| !idle(setting) && job.engine.name != "null")
}

/// Kinds whose blocks hold the pattern and nothing else.
fn is_pattern(setting: &Setting) -> bool {
    matches!(setting.value.as_str(), "pattern" | "null_pattern")
}

/// The header of fio's that each block carries, as a plan's `stamp` says it.
fn stamp(job: &Job, setting: &Setting) -> Result<String, Refusal> {
    let kind = match setting.value.as_str() {
        "crc32c-intel" => "crc32c",
        kind => kind,
    };
    if HeaderKind::named(kind).is_none() {
        let names = HeaderKind::ALL.map(|(_, name, _)| name).join(", ");
        return Err(setting.wrong(format!("one of {names}, pattern and null")));
    }
    let mut text = format!("fio({kind}");
    // One for each so many bytes of a request, where that is less than a request has and divides it.
    let sizes = || (0..3).filter(|op| job.rw.has[*op]).flat_map(|op| &job.sizes[op]).map(|(size, _)| *size);
    let asked = job.options.size("verify_interval")?.filter(|every| *every > 0);
    if let Some(every) = asked.filter(|every| sizes().any(|size| size > *every)) {
        let every = sizes().fold(every, super::keys::gcd);
        text += &format!(", every {}", Bytes::new(every).exact());
    }
    if let Some(at) = job.options.size("verify_offset")?.filter(|at| *at > 0) {
        text += &format!(", at {}", Bytes::new(at).exact());
    }
    Ok(format!("\"{text})\""))
}

/// The keys that `verify=` comes to for a job. Only a job that does nothing but read expects all of it to be stamped.
pub(super) fn keys(job: &Job, seed: u64) -> Result<Vec<(&'static str, String)>, Refusal> {
    let Some(setting) = setting(job) else { return Ok(Vec::new()) };
    if let Some(trims) = job.options.get("trim_percentage").filter(|part| part.value != "0") {
        return Err(
            trims.unsupported("of what verify= reads back nothing is trimmed; a job of rw=randtrim does")
        );
    }
    let verify = match job.rw.has[WRITE] {
        _ if is_pattern(setting) => "content",
        true => "written",
        // Where an earlier run was stopped is in the state that it has kept.
        false if job.options.flag("verify_state_load")? == Some(true) => "written",
        false => "all",
    };
    let mut keys = vec![("verify", format!("\"{verify}\""))];
    if !is_pattern(setting) {
        keys.push(("stamp", stamp(job, setting)?));
    }
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
        let bytes = job.verify_pattern.clone().ok_or_else(|| pattern.wrong("bytes such as 0xdeadface"))?;
        check_interval(job, &bytes)?;
        // A job that writes says so already.
        if !job.rw.changes() {
            keys.push(("content", super::keys::pattern_text(&bytes)));
        }
    }
    Ok(keys)
}

/// Refuses `verify_pattern_interval` where it would change the data: it does not where the interval is a multiple of the pattern's
/// length.
fn check_interval(job: &Job, pattern: &[u8]) -> Result<(), Refusal> {
    let Some(setting) = job.options.get("verify_pattern_interval") else { return Ok(()) };
    let every = job.options.size("verify_pattern_interval")?.unwrap_or(0);
    match every == 0 || every.is_multiple_of(pattern.len() as u64) {
        true => Ok(()),
        false => Err(setting.unsupported(format!(
            "a pattern begins with each request; say a multiple of the {} bytes of verify_pattern=",
            pattern.len()
        ))),
    }
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
/// knows beforehand how much it writes, as where `runtime` may end it first.
fn read_back_every(job: &Job) -> Result<Option<u32>, Refusal> {
    if !job.rw.has[WRITE] || job.options.flag("do_verify")? == Some(false) || is_only(job)? {
        return Ok(None);
    }
    let backlog = job.options.count("verify_backlog")?.filter(|every| *every > 0);
    // Where write pointers were is known to the job alone.
    let counts_anew = job.length.requests.is_some() && job.length.is_ramped();
    let is_late = job.length.run_ns.is_some() || counts_anew || super::zones::asked(&job.options)?.is_some();
    let every = backlog.or(is_late.then_some(u64::from(u32::MAX)));
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
            readers.push(reader(member, job.rw.is_mixed()));
        }
    }
    Ok(readers)
}

/// What reads only what an earlier run of the same job has written: every block must carry its stamp, but where the state
/// that an earlier run kept says how far it came.
pub(super) fn only(job: &Job, member: &Member) -> Result<Member, Refusal> {
    let mut reader = reader(member, job.rw.is_mixed());
    reader.keys.extend(member.keys.iter().filter(|(key, _)| *key == "iolog").cloned());
    let has_state = job.options.flag("verify_state_load")? == Some(true);
    for (key, value) in &mut reader.keys {
        if *key == "verify" && value == "\"written\"" && !has_state {
            *value = "\"all\"".into();
        }
    }
    Ok(reader)
}

/// The same requests, all of them reads, as fast as they go; of a mix of reads and writes those that write alone.
fn reader(member: &Member, is_mixed: bool) -> Member {
    const OF_WRITES: [&str; 20] = [
        "atomic",
        "write_hint",
        "write_command",
        "write_fua",
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
        "warmup",
        "warmup_bytes",
        "exit_all",
        "iolog",
    ];
    // What is looked for stays, what was written goes.
    let looks_for = member.keys.contains(&("verify", "\"content\"".into()));
    let kept = |(key, _): &&(&'static str, String)| {
        !OF_WRITES.contains(key) && (looks_for || *key != "content") || is_mixed && *key == "reads"
    };
    let mut keys: Vec<(&'static str, String)> = member.keys.iter().filter(kept).cloned().collect();
    if is_mixed {
        keys.push(("reread", "true".into()));
    }
    Member { job: member.job, name: member.name.clone(), keys, joins: member.joins }
}

/// Words for the user, once for each job.
pub(super) fn note(job: &Job) -> Option<String> {
    let setting = setting(job)?;
    let what = match is_pattern(setting) {
        true => "reads are verified against the pattern",
        false => return None,
    };
    Some(format!("job `{}`: verify={}: {what}", job.name, setting.value))
}
