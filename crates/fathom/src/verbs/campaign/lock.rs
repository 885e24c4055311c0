//! One process measures a campaign: the lock that it has meanwhile, and who has it.

use std::fs::{File, Metadata, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use host::clock::Clock;
use library::{Library, Location};
use units::Nanos;

use super::subject::Subject;
use crate::ending::Failure;
use crate::session::store::Store;
use crate::terminal;

/// How long a process that is ending is waited for.
const PATIENCE: Nanos = Nanos::from_secs(60);
/// How soon it is looked again whether it has ended.
const LOOK_AGAIN: Nanos = Nanos::from_millis(50);

/// What one process has while it measures the campaign: a lock on a file beside the library, and on a server a claim.
pub type Lock = (Locked, Option<Library>);

/// A locked file, which is removed when its process lets go of it: of a campaign that has ended nothing is left beside the
/// library.
pub struct Locked {
    file: File,
    path: PathBuf,
}

impl Locked {
    /// Whether the path still leads to the file: the process that had the lock before may have removed it meanwhile, and then
    /// another one is there for the next.
    fn is_there(&self) -> bool {
        let known = |one: std::io::Result<Metadata>| one.map(|one| (one.dev(), one.ino())).ok();
        let own = known(self.file.metadata());
        own.is_some() && own == known(std::fs::metadata(&self.path))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.is_there() {
            // Where that fails, an empty lock is left, which is in nobody's way.
            let _left = std::fs::remove_file(&self.path);
        }
    }
}

/// Takes the lock, or says who has it: on a server perhaps a process of another machine.
pub fn lock(subject: &Subject, store: &Store) -> Result<Result<Lock, Holder>, Failure> {
    let file = match lock_beside(subject, store)? {
        Ok(file) => file,
        Err(holder) => return Ok(Err(holder)),
    };
    let Location::Server(_) = store.place()? else { return Ok(Ok((file, None))) };
    let library = store.open()?;
    let is_ours = library.claim(&subject.key)?;
    Ok(if is_ours { Ok((file, Some(library))) } else { Err(Holder::default()) })
}

/// Whether some process measures the campaign: nothing is written for it, so that a library can be looked at that cannot be
/// written.
pub fn is_running(subject: &Subject, store: &Store) -> Result<bool, Failure> {
    if let Location::Server(_) = store.place()? {
        return Ok(lock(subject, store)?.is_err());
    }
    let path = store.beside()?;
    let path = named(path, subject, "lock");
    let file = match File::open(&path) {
        // Nobody has measured it here.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(Failure::system(format!("{}", path.display())))?,
    };
    Ok(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The same; a process whose guard was killed is waited for, as it ends by itself: it restores what it has changed, and keeps
/// what it has measured.
pub fn lock_in_time(subject: &Subject, store: &Store) -> Result<Lock, Failure> {
    let clock = Clock::start();
    let until = clock.now().saturating_add(PATIENCE);
    let mut has_said = false;
    loop {
        let holder = match lock(subject, store)? {
            Ok(lock) => return Ok(lock),
            Err(holder) => holder,
        };
        if !holder.is_ending() || clock.now() >= until {
            return Err(Failure::Usage(format!(
                "the campaign {} is being measured by another process{}; `--status` says how far it is",
                subject.campaign.name,
                holder.named()
            )));
        }
        if !std::mem::replace(&mut has_said, true) {
            terminal::say_sentence(&format!(
                "the process before this one{} is ending; waiting for it",
                holder.named()
            ));
        }
        clock.sleep_until(clock.now().saturating_add(LOOK_AGAIN));
    }
}

/// The process that measures the campaign, as it has written it into the lock.
#[derive(Default)]
pub struct Holder(Option<Process>);

/// A process and the one that guards it.
struct Process {
    id: u32,
    guard: u32,
}

impl Holder {
    fn read(path: &Path) -> Holder {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|word| word.parse::<u32>().ok());
        Holder(match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(id), Some(guard)) => Some(Process { id, guard }),
            _ => None,
        })
    }

    /// ` (process 4711)`; empty where it is not known.
    fn named(&self) -> String {
        self.0.as_ref().map(|process| format!(" (process {})", process.id)).unwrap_or_default()
    }

    /// Whether its guard has gone, so that it ends by itself.
    fn is_ending(&self) -> bool {
        self.0.as_ref().is_some_and(|process| parent_of(process.id) != Some(process.guard))
    }
}

/// The parent of the process `id`; `None` where there is no such process any more.
fn parent_of(id: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn lock_beside(subject: &Subject, store: &Store) -> Result<Result<Locked, Holder>, Failure> {
    let path = beside(subject, store, "lock")?;
    lock_file(&path).map_err(Failure::system(format!("{}", path.display())))
}

fn lock_file(path: &Path) -> std::io::Result<Result<Locked, Holder>> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Err(Holder::read(path))),
            Err(TryLockError::Error(source)) => return Err(source),
        }
        let mut locked = Locked { file, path: path.to_owned() };
        if locked.is_there() {
            let guard = std::os::unix::process::parent_id();
            locked.file.set_len(0)?;
            locked.file.write_all(format!("{} {guard}\n", std::process::id()).as_bytes())?;
            return Ok(Ok(locked));
        }
    }
}

/// A file of the campaign beside the library: `runs.sqlite.campaign-1a2b3c4d.lock`.
pub fn beside(subject: &Subject, store: &Store, ending: &str) -> Result<PathBuf, Failure> {
    let path = store.beside()?;
    if let Some(folder) = path.parent() {
        // Where that fails, the file says why.
        let _there = std::fs::create_dir_all(folder);
    }
    Ok(named(path, subject, ending))
}

fn named(library: PathBuf, subject: &Subject, ending: &str) -> PathBuf {
    let mut path = library.into_os_string();
    debug_assert!(
        !subject.key.is_empty() && subject.key.chars().all(|letter| letter.is_ascii_alphanumeric()),
        "a campaign's key is part of a file's name"
    );
    path.push(format!(".campaign-{}.{ending}", subject.key));
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_keeps_others_out_and_leaves_no_file_behind() {
        let folder = std::env::temp_dir().join(format!("fathom-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("runs.sqlite.campaign-1a2b3c4d.lock");
        let first = lock_file(&path).unwrap();
        let first = first.unwrap_or_else(|_| panic!("nobody has it"));
        assert!(matches!(lock_file(&path), Ok(Err(_))), "one has it");
        drop(first);
        assert!(!path.exists());
        // Who has opened the file that the one before removes has no lock on the next one's.
        let opened = File::options().create(true).truncate(false).write(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!Locked { file: opened, path: path.clone() }.is_there());
        let next = lock_file(&path).unwrap();
        assert!(next.is_ok() && path.exists());
        drop(next);
        std::fs::remove_dir(&folder).unwrap();
    }
}
