//! `verify=`: what a job writes is stamped, and read back and checked in a phase behind it.
//!
//! fio reads back what it wrote in the order of its own log. Here the same seed asks for the same blocks in the same
//! order again, and the run's own books say which of them were written.

use crate::Refusal;

use super::arrange::Member;
use super::asked::{READ, WRITE};
use super::job::Job;
use super::section::Setting;

fn setting(job: &Job) -> Option<&Setting> {
    let idle = |setting: &Setting| matches!(setting.value.as_str(), "0" | "none" | "null");
    job.options.get("verify").filter(|setting| !idle(setting))
}

/// The keys that `verify=` comes to for a job. Only a job that does nothing but read expects all of it to be stamped.
pub(super) fn keys(job: &Job, seed: u64) -> Result<Vec<(&'static str, String)>, Refusal> {
    let Some(setting) = setting(job) else { return Ok(Vec::new()) };
    if setting.value.starts_with("pattern") {
        return Err(
            setting.unserved("blocks are stamped with their place, the seed and a number; say crc32c")
        );
    }
    let verify = if job.rw.has[WRITE] { "written" } else { "all" };
    let mut keys = vec![("verify", format!("\"{verify}\""))];
    if job.rw.has[WRITE] {
        // Not that of the phase: the one that reads back must ask for the same blocks.
        keys.push(("seed", seed.to_string()));
    }
    Ok(keys)
}

/// The workloads that read back what `members` wrote; none where nothing is to be checked.
pub(super) fn read_back(jobs: &[Job], members: &[Member]) -> Result<Vec<Member>, Refusal> {
    let mut readers = Vec::new();
    for member in members {
        let job = &jobs[member.job];
        let Some(setting) = setting(job) else { continue };
        if !job.rw.has[WRITE] || job.options.flag("do_verify")? == Some(false) {
            continue;
        }
        if job.length.bytes.is_none() && job.length.requests.is_none() {
            return Err(setting.unserved(
                "how much a timed job writes is not known beforehand, so that it could be read back; say size= \
                 without time_based and ramp_time",
            ));
        }
        readers.push(reader(member));
    }
    Ok(readers)
}

/// The same requests, all of them reads, as fast as they go.
fn reader(member: &Member) -> Member {
    const OF_WRITES: [&str; 9] =
        ["reads", "trims", "pace", "sync", "flush", "flush_every", "flush_at_end", "content", "compress"];
    let kept = |(key, _): &&(&'static str, String)| !OF_WRITES.contains(key);
    let as_reads = |(key, value): &(&'static str, String)| match *key {
        "mix" => (*key, value.replace("reads = \"0%\"", "reads = \"100%\"")),
        key => (key, value.clone()),
    };
    let keys = member.keys.iter().filter(kept).map(as_reads).collect();
    Member { job: member.job, name: member.name.clone(), keys }
}

/// Words for the user, once for each job.
pub(super) fn note(job: &Job) -> Option<String> {
    let setting = setting(job)?;
    let behind =
        if job.rw.has[WRITE] && job.rw.has[READ] { "; all blocks it asked for are read back" } else { "" };
    Some(format!(
        "job `{}`: verify={}: blocks carry Fathom's own stamp with a CRC-32; reading back is in the record, not in \
         fio's figures{behind}",
        job.name, setting.value
    ))
}
