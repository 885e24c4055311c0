//! Journals whose processes have gone: what is left in them is put back.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use units::Nanos;

use super::change::Change;
use super::fate::Fate;
use super::journal::{ENDING, Owner, boot, machine, started, write_line};
use crate::clock::Clock;
use crate::handle;
use crate::scratch::fnv1a;
use crate::sysroot::{SysRoot, names};

/// What became of what was to be put back, in sentences without their stops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was put back, and how.
    pub restored: Vec<String>,
    /// What somebody else has changed since, and was left for that. It is not tried again.
    pub left: Vec<String>,
    /// What could not be put back, and why. It stays in its journal and is tried again.
    pub failed: Vec<String>,
    /// Processes that are at work, and put back themselves what they have changed.
    pub at_work: Vec<u32>,
}

/// Who puts back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The process that made the change.
    Own,
    /// Another one, its maker having gone.
    Gone,
    /// The same, and the machine has been started anew since.
    OfEarlierBoot,
}

impl Report {
    /// Adds what became of a change; whether it is done with.
    pub(super) fn add(&mut self, change: &Change, fate: Fate) -> bool {
        let sentence = |what: String| format!("{}: {what}", change.named());
        match fate {
            Fate::Nothing => true,
            Fate::Restored(how) => {
                self.restored.push(sentence(how));
                true
            }
            Fate::Left(why) => {
                self.left.push(sentence(why));
                true
            }
            Fate::Failed(why) => {
                self.failed.push(sentence(why));
                false
            }
        }
    }
}

/// Puts back what is left in the journals of `folder` whose processes have gone.
///
/// A process whose guard has gone is about to end: it is waited for, at most `patience`. What stays in a journal is
/// told with the journal's path, which may be removed to have it forgotten.
pub fn replay(folder: &Path, patience: Nanos) -> Report {
    let mut report = Report::default();
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            report.failed.push(format!("the journals in {}: {error}", folder.display()));
        }
        _ => {}
    }
    for path in journals(folder) {
        if let Err(error) = replay_one(&path, patience, &mut report) {
            report.failed.push(format!("the journal {}: {error}", path.display()));
        }
    }
    // Others may have theirs there.
    let _used = std::fs::remove_dir(folder);
    report
}

fn replay_one(path: &Path, patience: Nanos, report: &mut Report) -> io::Result<()> {
    let options = OpenOptions::new().read(true).append(true).custom_flags(libc::O_NOFOLLOW).to_owned();
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    if !lock(&mut file, patience)? {
        let read = read(&mut file)?;
        report.at_work.extend(read.owner.map(|owner| owner.process.0));
        return Ok(());
    }
    // Its process may have ended well while it was waited for.
    if !handle::is_at(path, &file).unwrap_or(false) {
        return Ok(());
    }
    let read = read(&mut file)?;
    let Some(owner) = read.owner else {
        // A power cut came before the first line was written, and so before anything was changed.
        return handle::remove(path, &file).map(|_| ());
    };
    if owner.machine != machine() {
        let why = format!(
            "the journal {} is of another machine, {}; put it back there",
            path.display(),
            owner.machine
        );
        report.failed.push(why);
        return Ok(());
    }
    let whose = if owner.boot == boot() { Whose::Gone } else { Whose::OfEarlierBoot };
    let before = report.failed.len();
    for (number, change) in &read.open {
        if report.add(change, change.put_back(&SysRoot::real(), whose)) {
            // Untold it is found to be put back already.
            let _untold = write_line(&mut file, &format!("- {number}"));
        }
    }
    let failed = &mut report.failed[before..];
    assert!(failed.len() <= read.open.len(), "each change must have one fate");
    failed.iter_mut().for_each(|each| each.push_str(&format!(" (recorded in {})", path.display())));
    if failed.is_empty() {
        handle::remove(path, &file)?;
    }
    Ok(())
}

/// Locks a journal; `false` where its process is at work. One that is about to end is waited for.
fn lock(file: &mut File, patience: Nanos) -> io::Result<bool> {
    const APART: Nanos = Nanos::from_millis(50);
    let clock = Clock::start();
    let until = clock.now().saturating_add(patience);
    loop {
        let is_alive = match flock(&*file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => true,
            // A file system without locks: the process is looked for.
            Err(_) => false,
        };
        let owner = read(file)?.owner;
        let lives = |(pid, start): (u32, u64)| started(&SysRoot::real(), pid) == Some(start);
        let is_here = |owner: &Owner| (owner.machine == machine()) && (owner.boot == boot());
        if !is_alive && !owner.as_ref().is_some_and(|owner| is_here(owner) && lives(owner.process)) {
            return Ok(true);
        }
        let is_ending = owner.and_then(|owner| owner.guard).is_some_and(|guard| !lives(guard));
        if !is_ending || clock.now() >= until {
            return Ok(false);
        }
        clock.sleep_until(clock.now().saturating_add(APART));
    }
}

/// The journals in `folder`, by name.
pub(super) fn journals(folder: &Path) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    names(folder).into_iter().map(|name| folder.join(name)).filter(is_one).collect()
}

/// What is in a journal.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Whose it is; `None` where not even that was written.
    pub owner: Option<Owner>,
    /// Changes that are still to be put back.
    pub open: BTreeMap<u64, Change>,
}

/// Reads a journal from its start. A last line without its end was torn, and stands for nothing that was done; any
/// other line that is not as it was written is an error.
pub(super) fn read(file: &mut File) -> io::Result<Contents> {
    io::Seek::rewind(file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines: Vec<&[u8]> = bytes[..whole].split_inclusive(|byte| *byte == b'\n').collect();
    let mut contents = Contents::default();
    for (index, line) in lines.iter().enumerate() {
        let taken = std::str::from_utf8(line).ok().and_then(|line| {
            let (said, sum) = line.trim_end_matches('\n').rsplit_once(' ')?;
            (u64::from_str_radix(sum, 16) == Ok(fnv1a(said.as_bytes()))).then(|| contents.take(said))?
        });
        if taken.is_none() && index + 1 < lines.len() {
            let why = format!("line {} is damaged; nothing of it was restored", index + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
    }
    Ok(contents)
}

impl Contents {
    fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.splitn(3, ' ');
        match (words.next()?, words.next()?, words.next()) {
            ("+", number, Some(change)) => {
                self.open.insert(number.parse().ok()?, Change::from_line(change)?);
            }
            ("-", number, None) => {
                self.open.remove(&number.parse().ok()?);
            }
            _ => self.owner = Some(Owner::from_line(line)?),
        }
        Some(())
    }
}
