//! The journal of a process that lives: a line for each change that is still to be put back.
//!
//! The first line tells whose it is; a line `+ NUMBER CHANGE` stands for a change that is about to be made, or says
//! more of it, and `- NUMBER` for one that was put back. Each line ends with a checksum, so that one that a power cut
//! tore is known: its change was not made yet.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rustix::fs::{FlockOperation, flock};

use super::change::Change;
use super::replay::{self, Report};
use crate::escape::escaped;
use crate::scratch::fnv1a;
use crate::sysroot::{SysRoot, text};
use crate::unwinding::whole;
use crate::{handle, random};

/// Journals have this behind their names.
pub(super) const ENDING: &str = "journal";

/// What this process has changed. Copies are of the same journal; the default one notes nothing.
#[derive(Clone, Debug, Default)]
pub struct Journal(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    /// Who goes on living when this process is killed, if anybody does.
    guard: Option<u32>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Where there is anything to put back.
    file: Option<(PathBuf, File)>,
    next: u64,
    open: BTreeMap<u64, Change>,
}

/// A change that is noted. It stays noted when this is dropped: only [`Noted::done`] says that it was put back.
#[derive(Debug, Default)]
pub struct Noted {
    journal: Journal,
    number: u64,
}

impl Journal {
    /// A journal in `folder`, which is made with the first change. `guard` is the process that watches over this one.
    ///
    /// An error where neither the folder nor what would hold it can be written.
    pub fn in_folder(folder: &Path, guard: Option<u32>) -> io::Result<Journal> {
        let folder = std::path::absolute(folder)?;
        let there = folder.ancestors().find(|place| place.exists()).unwrap_or(Path::new("/"));
        rustix::fs::access(there, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
        Ok(Journal(Some(Arc::new(Inner { folder, guard, state: Mutex::default() }))))
    }

    /// Whether anything is noted at all.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes a change that is about to be made; on storage when this returns. An error means: do not make it.
    pub fn note(&self, change: Change) -> io::Result<Noted> {
        let Some(inner) = &self.0 else { return Ok(Noted::default()) };
        let mut state = inner.state();
        let number = state.next;
        assert!(!state.open.contains_key(&number), "each change must have a number of its own");
        inner.add(&mut state, number, &change)?;
        state.next += 1;
        state.open.insert(number, change);
        Ok(Noted { journal: self.clone(), number })
    }

    /// Puts back at once what is noted and not yet done: for a process that cannot wait for those who would.
    pub fn put_back(&self) -> Report {
        let mut report = Report::default();
        let Some(inner) = &self.0 else { return report };
        let open: Vec<(u64, Change)> =
            inner.state().open.iter().map(|(number, change)| (*number, change.clone())).collect();
        for (number, change) in open {
            if report.add(&change, change.put_back(&SysRoot::real(), replay::Whose::Own)) {
                Noted { journal: self.clone(), number }.done();
            }
        }
        report
    }
}

impl Noted {
    /// Says more of the change; on storage when this returns.
    pub fn amend(&mut self, change: Change) -> io::Result<()> {
        let Some(inner) = &self.journal.0 else { return Ok(()) };
        let mut state = inner.state();
        inner.add(&mut state, self.number, &change)?;
        state.open.insert(self.number, change);
        Ok(())
    }

    /// What was made, with the note that it is to be put back; where it was not made there is nothing to put back.
    pub fn of<T, E>(self, made: Result<T, E>) -> Result<(T, Noted), E> {
        match made {
            Ok(made) => Ok((made, self)),
            Err(error) => {
                self.done();
                Err(error)
            }
        }
    }

    /// The change was put back, or not made. The journal goes with the last one.
    pub fn done(self) {
        let Some(inner) = &self.journal.0 else { return };
        let mut state = inner.state();
        state.open.remove(&self.number);
        let is_last = state.open.is_empty();
        if let Some((path, file)) = &mut state.file {
            // What is not told here is found to be put back already by whoever reads it.
            let _untold = match is_last {
                true => handle::remove(path, file).map(|_| ()),
                false => write_line(file, &format!("- {}", self.number)),
            };
        }
        if is_last {
            state.file = None;
            // Others may have theirs there.
            let _used = std::fs::remove_dir(&inner.folder);
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        whole(self.state.lock())
    }

    fn add(&self, state: &mut State, number: u64, change: &Change) -> io::Result<()> {
        let (_, file) = match &mut state.file {
            Some(open) => open,
            none => none.insert(self.create()?),
        };
        write_line(file, &format!("+ {number} {}", change.to_line()))?;
        file.sync_data()
    }

    /// A new journal with its first line, locked.
    fn create(&self) -> io::Result<(PathBuf, File)> {
        const TRIES: usize = 100;
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        for _ in 0..TRIES {
            // The XDG specification asks for 0700.
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let path = self.folder.join(format!("{}-{:016x}.{ENDING}", std::process::id(), random()));
            let options = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).to_owned();
            match options.open(&path) {
                Ok(mut file) => {
                    // A file system without locks is used without: the process is looked for then.
                    let _unlocked = flock(&file, FlockOperation::NonBlockingLockExclusive);
                    write_line(&mut file, &Owner::this(self.guard).to_line())?;
                    file.sync_all()?;
                    File::open(&self.folder)?.sync_all()?;
                    return Ok((path, file));
                }
                // Another process has just removed the folder, being the last that used it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => failed = error,
                Err(error) => return Err(error),
            }
        }
        Err(failed)
    }
}

/// One line with its checksum.
pub(super) fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    assert!(!line.contains('\n'), "a line of the journal must be one");
    file.write_all(format!("{line} {:016x}\n", fnv1a(line.as_bytes())).as_bytes())
}

/// Whose journal it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The machine.
    pub machine: String,
    /// Its present run, from start to stop.
    pub boot: String,
    /// The process and when it began, in ticks since then.
    pub process: (u32, u64),
    /// The same of whoever watches over it.
    pub guard: Option<(u32, u64)>,
}

impl Owner {
    /// This process.
    pub fn this(guard: Option<u32>) -> Owner {
        let root = SysRoot::real();
        let with_start = |pid: u32| (pid, started(&root, pid).unwrap_or(0));
        Owner {
            machine: machine(),
            boot: boot(),
            process: with_start(std::process::id()),
            guard: guard.map(with_start),
        }
    }

    fn to_line(&self) -> String {
        let of = |(pid, start): (u32, u64)| format!("{pid} {start}");
        let guard = self.guard.map_or_else(|| "- -".into(), of);
        let line = format!("fathom-restore 1 {} {} {} {guard}", self.machine, self.boot, of(self.process));
        debug_assert_eq!(Owner::from_line(&line).as_ref(), Some(self), "an owner is read as it is written");
        line
    }

    pub fn from_line(line: &str) -> Option<Owner> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["fathom-restore", "1", machine, boot, pid, start, guard, guard_start] = words[..] else {
            return None;
        };
        let guard = match guard {
            "-" => None,
            guard => Some((guard.parse().ok()?, guard_start.parse().ok()?)),
        };
        let process = (pid.parse().ok()?, start.parse().ok()?);
        Some(Owner { machine: machine.into(), boot: boot.into(), process, guard })
    }
}

/// The name of this machine, one word that it keeps (machine-id(5)); that of the host where it has none.
pub(super) fn machine() -> String {
    let named = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let name = text(Path::new("/etc/machine-id")).unwrap_or_else(named);
    escaped(name.as_ref())
}

/// The number of the machine's present run (random(4)), one word.
pub(super) fn boot() -> String {
    let id = text(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_else(|| "-".into());
    escaped(id.as_ref())
}

/// When a process began (proc_pid_stat(5), field 22); `None` where there is none of that number.
pub(super) fn started(root: &SysRoot, pid: u32) -> Option<u64> {
    let stat = text(&root.proc.join(pid.to_string()).join("stat"))?;
    // The name in parentheses may hold anything; behind it come the fields from the third on.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}
