//! Fathom's own files: the only ones it writes without being told that they may be destroyed.
//!
//! **Invariant:** a file without Fathom's mark is never overwritten, truncated or removed.
//! **Invariant:** when a [`Scratch`] is dropped its file is gone, unless it was to be kept or a loop device is over it; so
//! it is after an error and after an interrupt that lets `main` return. Whatever else ends the process: it is in the
//! journal from before it is made until it has gone.
//! **Invariant:** the data region is written by real writes; holes and unwritten extents are looked for and are an
//! error.

mod extents;
mod header;
mod layout;
mod size;

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    Advice, AtFlags, CWD, FallocateFlags, FlockOperation, Mode, OFlags, RenameFlags, fadvise, fallocate,
    flock, linkat, openat, renameat_with, statvfs, unlinkat,
};
use rustix::io::Errno;
use units::Bytes;

use crate::restore::{Change, Journal, MadeFile, Noted, unfinished};
use crate::safety::{Permit, loop_over};
use crate::sysroot::SysRoot;
use crate::{handle, random};

pub use extents::{Extents, Gaps, extents, gaps};
pub(crate) use header::fnv1a;
pub use header::{HEADER_SIZE, Header, header_of};
pub use size::{Budget, Choice, DIRECT, LEAST, Surroundings, asked_size, auto_size, reserve};

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// So far.
    pub written: Bytes,
    /// In the end.
    pub total: Bytes,
}

/// Whether to go on writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go on.
    Continue,
    /// Stop; what is written is the file.
    Enough,
    /// Give up and remove it.
    Abort,
}

/// The scratch file wanted.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Where, in a directory that exists.
    pub path: PathBuf,
    /// The data region; rounded up to 4096. The file is [`HEADER_SIZE`] larger.
    pub size: Bytes,
    /// What its data is drawn from.
    pub seed: u64,
    /// What must stay free; [`reserve`] of the file system where not given.
    pub reserve: Option<Bytes>,
    /// Where it is noted that the file is to be removed.
    pub journal: Journal,
}

/// Why there is no scratch file.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// Somebody else's file is there.
    #[error(
        "{path} is there and is not one of Fathom's scratch files; it was not touched, name another path"
    )]
    NotOurs {
        /// The path.
        path: PathBuf,
    },
    /// A file of its name without a byte: a run that was killed before it could mark it, or somebody's.
    #[error(
        "{path} is there and empty, so nothing tells whose it is; a run that was killed may have left it: remove it, or \
         name another path"
    )]
    Empty {
        /// The path.
        path: PathBuf,
    },
    /// Another run uses it.
    #[error("{path} is in use by another run; wait for it or name another path")]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// A loop device reads and writes it, and perhaps a mount that.
    #[error(
        "{path} is behind {by}, so it is neither written nor removed; detach that: `losetup --detach {by}`"
    )]
    BehindLoop {
        /// The path.
        path: PathBuf,
        /// The loop device.
        by: String,
    },
    /// Its name leads to something else by now.
    #[error(
        "{path} leads to another file than the scratch file by now, which was moved; remove that where it is"
    )]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// That it is to be removed cannot be noted.
    #[error(
        "{path}: it cannot be noted that it is to be removed, so it was not made: {source}; free some space for the \
         library, or name another one with `--store`"
    )]
    NotNoted {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It would not fit, or leave too little.
    #[error(
        "{path}: {asked} do not fit: {free} are free and {reserve} must stay so; ask for less or free some"
    )]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// What was asked for.
        asked: Bytes,
        /// What is free.
        free: Bytes,
        /// What must stay free.
        reserve: Bytes,
    },
    /// The file system was full before its own figures said so, or a quota was reached.
    #[error(
        "{path}: no space left while laying out {asked} ({source}); {written} were written, {free} are free; the \
         partial file was removed; ask for less, or look for a quota"
    )]
    Full {
        /// The path.
        path: PathBuf,
        /// What was asked for.
        asked: Bytes,
        /// What was written by then.
        written: Bytes,
        /// What is free once it was removed.
        free: Bytes,
        /// The system's words.
        source: io::Error,
    },
    /// It was given up on request.
    #[error("{path}: laying out was interrupted; the partial file was removed")]
    Aborted {
        /// The path.
        path: PathBuf,
    },
    /// The data is not on the storage although it was written.
    #[error("{path}: {what} although every byte was written; figures on it would be false")]
    Hollow {
        /// The path.
        path: PathBuf,
        /// Hole or unwritten extent, and where.
        what: String,
    },
    /// The system refused.
    #[error("{path}: cannot {action}: {source}")]
    Os {
        /// The path.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// A scratch file, laid out and locked against other runs.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    file: File,
    permit: Arc<Permit>,
    header: Header,
    extents: Extents,
    direct: bool,
    reused: bool,
    /// That it is to be removed; `None` once it has gone or is to be kept.
    noted: Option<Noted>,
}

/// The path of scratch file number `index` in a directory.
pub fn path_in(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("fathom-scratch-{index}.dat"))
}

impl Scratch {
    /// A file with `spec.size` of data: one that is there and fits, or a new one.
    ///
    /// A file with Fathom's mark that is in nobody's use but does not fit (another size, not complete, with holes
    /// since) is replaced. `progress` is asked after every few MiB, and not at all where a file is reused.
    pub fn prepare(spec: &Spec, progress: &mut dyn FnMut(Progress) -> Step) -> Result<Scratch, ScratchError> {
        let size = spec.size.round_up(HEADER_SIZE);
        if let Some(found) = Scratch::found(&spec.path, &spec.journal)? {
            let fits = found.header.complete && found.header.data == size && !found.extents.has_gap();
            if fits {
                return Ok(found);
            }
            found.discard()?;
        }
        enough_room(&spec.path, size, spec.reserve)?;
        Scratch::lay_out(spec, size, progress)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data region: bytes 0 to this. The mark behind it must not be written.
    pub fn size(&self) -> Bytes {
        self.header.data
    }

    /// What its mark says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the file system says about holes and unwritten extents.
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// Whether it was laid out past the page cache. False for a reused one, which may be cached in part.
    pub fn laid_out_direct(&self) -> bool {
        self.direct
    }

    /// Whether it was there before.
    pub fn reused(&self) -> bool {
        self.reused
    }

    /// Lets the file stay when this is dropped, and says so in its mark.
    pub fn keep(&mut self) -> Result<(), ScratchError> {
        let kept = Header { keep: true, ..self.header };
        let os = os(&self.path, "mark as kept");
        kept.write(&self.file).and_then(|()| self.file.sync_data()).map_err(os)?;
        self.header = kept;
        self.settle();
        Ok(())
    }

    /// Leave to write to the file and to no other, whatever its name leads to by then.
    pub fn permit(&self) -> Arc<Permit> {
        self.permit.clone()
    }

    /// Has what was written to the file reach its media.
    pub fn sync(&self) -> Result<(), ScratchError> {
        self.file.sync_data().map_err(os(&self.path, "write back"))
    }

    /// Drops what the page cache holds of the file, as far as the system lets go.
    pub fn evict(&self) -> Result<(), ScratchError> {
        self.sync()?;
        fadvise(&self.file, 0, None, Advice::DontNeed).map_err(|e| os(&self.path, "evict")(e.into()))
    }

    /// Removes the file, unless it is to be kept; nothing where that was done already. An error says what stays behind.
    pub fn remove(&mut self) -> Result<(), ScratchError> {
        if self.header.keep {
            self.settle();
        }
        if self.noted.is_none() {
            return Ok(());
        }
        let root = SysRoot::real();
        if let Some(by) = loop_over(&root, &self.path, &self.file) {
            return Err(ScratchError::BehindLoop { path: self.path.clone(), by: by.display().to_string() });
        }
        let is_removed = handle::remove(&self.path, &self.file).map_err(os(&self.path, "remove"))?;
        self.settle();
        let names = self.file.metadata().map_or(0, |stat| stat.nlink());
        match is_removed || names == 0 {
            true => Ok(()),
            false => Err(ScratchError::Moved { path: self.path.clone() }),
        }
    }

    /// Leaves the file behind as a kill would: its creation id.
    #[cfg(test)]
    pub(crate) fn abandon(mut self) -> u128 {
        self.noted = None;
        self.header.creation
    }

    /// Nothing is to be put back any more.
    fn settle(&mut self) {
        if let Some(noted) = self.noted.take() {
            noted.done();
        }
    }

    /// Fathom's file at `path`, locked; `None` where there is nothing. One that was to be kept stays kept.
    fn found(path: &Path, journal: &Journal) -> Result<Option<Scratch>, ScratchError> {
        let not_ours = || ScratchError::NotOurs { path: path.into() };
        let look = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let first = match rustix::fs::open(path, look, Mode::empty()) {
            Ok(first) => File::from(first),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(not_ours()),
            Err(error) => return Err(os(path, "open")(error.into())),
        };
        let stat = first.metadata().map_err(os(path, "look at"))?;
        if !stat.is_file() {
            return Err(not_ours());
        }
        if stat.len() == 0 {
            return Err(ScratchError::Empty { path: path.into() });
        }
        let header = header_of(&first).map_err(os(path, "read"))?.ok_or_else(not_ours)?;
        let file = handle::reopen(&first, path, OFlags::RDWR).map_err(os(path, "open"))?;
        lock(path, &file)?;
        if let Some(by) = loop_over(&SysRoot::real(), path, &file) {
            return Err(ScratchError::BehindLoop { path: path.into(), by: by.display().to_string() });
        }
        let extents = extents(&file, header.data).map_err(os(path, "ask for the extents of"))?;
        let permit = leave(path, &file)?;
        let made = MadeFile::before(path).and_then(|made| made.made(&file));
        let noted = journal.note(Change::Scratch(made.map_err(os(path, "look at"))?, header.creation));
        let noted = Some(noted.map_err(not_noted(path))?);
        let path = path.into();
        Ok(Some(Scratch { path, file, permit, header, extents, direct: false, reused: true, noted }))
    }

    fn lay_out(
        spec: &Spec,
        size: Bytes,
        progress: &mut dyn FnMut(Progress) -> Step,
    ) -> Result<Scratch, ScratchError> {
        let path = spec.path.as_path();
        let creation = u128::from(random()) << 64 | u128::from(random());
        let header = Header { complete: false, keep: false, data: size, seed: spec.seed, creation };
        let full = |written: Bytes, source| {
            let free = free(path).map_or(Bytes::ZERO, |(free, _)| free);
            ScratchError::Full { path: path.into(), asked: size, written, free, source }
        };
        let (file, noted) = match create(path, &header, &spec.journal) {
            Err(ScratchError::Os { source, .. }) if is_full(&source) => {
                return Err(full(Bytes::ZERO, source));
            }
            created => created?,
        };
        let (permit, extents) = (leave(path, &file)?, Extents::Unknown);
        let (path, noted) = (path.to_owned(), Some(noted));
        // From here on dropping it removes the file.
        let mut scratch =
            Scratch { path, file, permit, header, extents, direct: false, reused: false, noted };
        let path = spec.path.as_path();
        let mut written = Bytes::ZERO;
        let mut watch = |now: Progress| {
            written = now.written;
            progress(now)
        };
        match scratch.write_all(&mut watch) {
            Ok(()) => {}
            Err(ScratchError::Os { source, .. }) if is_full(&source) => {
                drop(scratch);
                return Err(full(written, source));
            }
            Err(error) => return Err(error),
        }
        scratch.extents = extents::extents(&scratch.file, scratch.header.data)
            .map_err(os(path, "ask for the extents of"))?;
        if scratch.extents.has_gap() {
            return Err(ScratchError::Hollow { path: path.into(), what: scratch.extents.in_words() });
        }
        Ok(scratch)
    }

    fn write_all(&mut self, progress: &mut dyn FnMut(Progress) -> Step) -> Result<(), ScratchError> {
        let (path, size) = (self.path.clone(), self.header.data);
        // Space first, so that a full file system shows at once and the extents are long; the writes below make
        // them real. A file system that cannot reserve is written to all the same.
        match fallocate(&self.file, FallocateFlags::empty(), 0, (size + HEADER_SIZE).get()) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(os(&path, "reserve space for")(error.into())),
        }
        let direct = layout::reopen_direct(&self.file, &path);
        let filled = match &direct {
            Some(direct) => match layout::fill(direct, size, self.header.seed, progress) {
                // Opening was allowed and writing was not, as some stacked file systems do.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                    layout::fill(&self.file, size, self.header.seed, progress)
                }
                filled => {
                    self.direct = true;
                    filled
                }
            },
            None => layout::fill(&self.file, size, self.header.seed, progress),
        };
        match filled.map_err(os(&path, "write"))? {
            layout::Filled::Aborted => return Err(ScratchError::Aborted { path }),
            layout::Filled::Bytes(written) => self.header.data = written,
        }
        self.header.complete = true;
        // The mark first: one of the two ends the file at any moment.
        self.header.write(&self.file).map_err(os(&path, "mark"))?;
        self.file.set_len((self.header.data + HEADER_SIZE).get()).map_err(os(&path, "shorten"))?;
        self.file.sync_data().map_err(os(&path, "write back"))?;
        // A hint: what was laid out through the page cache must not be served from it.
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }

    /// Removes the file whether it was to be kept or not.
    fn discard(mut self) -> Result<(), ScratchError> {
        self.header.keep = false;
        self.remove()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody can be told here; a file that stays behind is in the journal, and is known by its mark.
        let _untold = self.remove();
    }
}

/// A new file at `path` with its mark, locked and noted: whoever finds the name finds the mark.
fn create(path: &Path, header: &Header, journal: &Journal) -> Result<(File, Noted), ScratchError> {
    let made = MadeFile::before(path).map_err(os(path, "look at the folder of"))?;
    let mut noted = journal.note(Change::Scratch(made.clone(), header.creation)).map_err(not_noted(path))?;
    let mut note = |file: &File| {
        let made = made.made(file).map_err(os(path, "look at"))?;
        noted.amend(Change::Scratch(made, header.creation)).map_err(not_noted(path))
    };
    match create_noted(path, header, &mut note) {
        Ok(file) => Ok((file, noted)),
        Err(error) => {
            noted.done();
            Err(error)
        }
    }
}

/// The file gets its name when it has its mark, which is on storage by then. On a file system without unnamed files
/// (`O_TMPFILE`, open(2)) it is made by a name that no other file has.
fn create_noted(
    path: &Path,
    header: &Header,
    note: &mut dyn FnMut(&File) -> Result<(), ScratchError>,
) -> Result<File, ScratchError> {
    let (folder, name) = handle::folder_of(path).map_err(os(path, "open the directory of"))?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let unnamed = openat(&folder, ".", flags, Mode::from_raw_mode(0o666));
    if let Ok(unnamed) = unnamed {
        let file = File::from(unnamed);
        mark(path, &file, header)?;
        note(&file)?;
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        match linkat(CWD, &own, &folder, name, AtFlags::SYMLINK_FOLLOW) {
            Ok(()) => return Ok(file),
            Err(Errno::EXIST) => return Err(ScratchError::NotOurs { path: path.into() }),
            // Without procfs, or on a file system that gives no name later on.
            Err(_) => {}
        }
    }
    create_named(path, header, note)
}

/// Makes it by a name of its creation id, which gives way to `path` when it has its mark. Where the file system can give
/// no name without replacing what is there, it is made at `path` itself; a kill in the moment before its mark leaves
/// [`ScratchError::Empty`] for the next.
fn create_named(
    path: &Path,
    header: &Header,
    note: &mut dyn FnMut(&File) -> Result<(), ScratchError>,
) -> Result<File, ScratchError> {
    let (folder, name) = handle::folder_of(path).map_err(os(path, "open the directory of"))?;
    let make = |name: &OsStr| {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let made = openat(&folder, name, flags, Mode::from_raw_mode(0o666));
        made.map(File::from).map_err(|error| match error {
            Errno::EXIST => ScratchError::NotOurs { path: path.into() },
            error => os(path, "create")(error.into()),
        })
    };
    let first = unfinished(path, header.creation);
    let first_name = first.file_name().unwrap_or_default();
    let file = make(first_name)?;
    let named = mark(path, &file, header).and_then(|()| note(&file)).and_then(|()| {
        let renamed = renameat_with(&folder, first_name, &folder, name, RenameFlags::NOREPLACE);
        let named = match renamed {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let linked = linkat(&folder, first_name, &folder, name, AtFlags::empty());
                linked.and_then(|()| unlinkat(&folder, first_name, AtFlags::empty()))
            }
            renamed => renamed,
        };
        match named {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Err(ScratchError::NotOurs { path: path.into() }),
            Err(_) => Ok(false),
        }
    });
    match named {
        Ok(true) => return Ok(file),
        Ok(false) => handle::remove(&first, &file).map_err(os(path, "remove"))?,
        Err(error) => {
            handle::remove(&first, &file).map_err(os(path, "remove"))?;
            return Err(error);
        }
    };
    let file = make(name)?;
    if let Err(error) = mark(path, &file, header).and_then(|()| note(&file)) {
        handle::remove(path, &file).map_err(os(path, "remove"))?;
        return Err(error);
    }
    Ok(file)
}

/// Locks a new file and gives it its mark, on storage when this returns.
fn mark(path: &Path, file: &File, header: &Header) -> Result<(), ScratchError> {
    lock(path, file)?;
    header.write(file).and_then(|()| file.sync_all()).map_err(os(path, "mark"))
}

fn leave(path: &Path, file: &File) -> Result<Arc<Permit>, ScratchError> {
    let what = format!("the scratch file {}", path.display());
    Permit::for_own(path, file, what).map(Arc::new).map_err(os(path, "open"))
}

fn lock(path: &Path, file: &File) -> Result<(), ScratchError> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(ScratchError::InUse { path: path.into() }),
        // A file system without locks (some network ones) is used without.
        _ => Ok(()),
    }
}

/// What is free for this user, and the size of the file system, where `path` is or would be.
fn free(path: &Path) -> io::Result<(Bytes, Bytes)> {
    let space = statvfs(folder_of(path))?;
    let bytes = |blocks: u64| Bytes::new(blocks.saturating_mul(space.f_frsize));
    Ok((bytes(space.f_bavail), bytes(space.f_blocks)))
}

/// The room there is for scratch files on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Which file system: paths of one have the same number.
    pub file_system: u64,
    /// What is free for this user.
    pub free: Bytes,
    /// How large it is.
    pub total: Bytes,
}

/// The room where `path` is or would be.
pub fn room(path: &Path) -> Result<Room, ScratchError> {
    let (free, total) = free(path).map_err(os(path, "ask for the free space of"))?;
    let stat = std::fs::metadata(folder_of(path)).map_err(os(path, "look at the folder of"))?;
    Ok(Room { file_system: stat.dev(), free, total })
}

/// A scratch file that an earlier run has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its data region.
    pub data: Bytes,
    /// What it takes of the file system, which it gives back when it is replaced.
    pub held: Bytes,
    /// Whether all of it was written.
    pub complete: bool,
}

/// What an earlier run has left at `path`; `None` where nothing is, or nothing of Fathom's.
pub fn left_behind(path: &Path) -> Option<Left> {
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let Header { data, complete, .. } = header_of(&file).ok()??;
    let held = Bytes::new(file.metadata().ok()?.blocks().saturating_mul(512));
    Some(Left { data, held, complete })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `size` more fit where `path` is or would be, and [`reserve`] stays free unless told otherwise.
pub fn enough_room(path: &Path, size: Bytes, wanted_reserve: Option<Bytes>) -> Result<(), ScratchError> {
    let (free, total) = free(path).map_err(os(path, "ask for the free space of"))?;
    let reserve = wanted_reserve.unwrap_or_else(|| reserve(total, free));
    let needed = size.get().saturating_add(HEADER_SIZE.get()).saturating_add(reserve.get());
    match needed <= free.get() {
        true => Ok(()),
        false => Err(ScratchError::TooLarge { path: path.into(), asked: size, free, reserve }),
    }
}

fn not_noted(path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError::NotNoted { path, source }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG))
}

fn os<'a>(path: &'a Path, action: &'static str) -> impl FnOnce(io::Error) -> ScratchError + use<'a> {
    move |source| ScratchError::Os { path: path.into(), action, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(folder: &tempfile::TempDir, size: Bytes) -> Spec {
        Spec {
            path: path_in(folder.path(), 0),
            size,
            seed: 7,
            reserve: Some(Bytes::ZERO),
            journal: Journal::default(),
        }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("the test has a temporary folder")
    }

    fn go_on(_: Progress) -> Step {
        Step::Continue
    }

    const SIZE: Bytes = Bytes::new(9 << 20);

    #[test]
    fn a_scratch_file_has_its_mark_no_gap_and_is_gone_when_dropped() {
        let folder = folder();
        let mut reports = Vec::new();
        let mut note = |progress: Progress| {
            reports.push(progress.written);
            Step::Continue
        };
        let scratch = Scratch::prepare(&spec(&folder, SIZE), &mut note).expect("there is room");
        assert_eq!(scratch.size(), SIZE);
        assert_eq!(reports.last(), Some(&SIZE));
        assert!(!scratch.extents().has_gap(), "{}", scratch.extents().in_words());
        let file = File::open(scratch.path()).expect("it is there");
        assert_eq!(header_of(&file).expect("it can be read"), Some(*scratch.header()));
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_without_the_mark_is_neither_overwritten_nor_removed() {
        let folder = folder();
        let spec = spec(&folder, SIZE);
        for content in [vec![], vec![1; 100], vec![2; 8192]] {
            std::fs::write(&spec.path, &content).expect("the folder is ours");
            let error = Scratch::prepare(&spec, &mut go_on).expect_err("it is not Fathom's");
            let fits = match content.is_empty() {
                true => matches!(error, ScratchError::Empty { .. }),
                false => matches!(error, ScratchError::NotOurs { .. }),
            };
            assert!(fits, "{error}");
            assert_eq!(std::fs::read(&spec.path).expect("it is there"), content);
        }
        std::fs::remove_file(&spec.path).expect("it is there");
        std::os::unix::fs::symlink("/dev/null", &spec.path).expect("the folder is ours");
        let error = Scratch::prepare(&spec, &mut go_on).expect_err("a link is not followed");
        assert!(matches!(error, ScratchError::NotOurs { .. }), "{error}");
    }

    #[test]
    fn a_kept_file_is_reused_and_stays_while_another_size_replaces_it() {
        let folder = folder();
        let mut first = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("there is room");
        first.keep().expect("the file is ours");
        let creation = first.header().creation;
        drop(first);
        let again = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("it is there");
        assert!(again.reused());
        assert_eq!(again.header().creation, creation);
        let path = again.path().to_owned();
        drop(again);
        assert!(path.exists());
        let other = Scratch::prepare(&spec(&folder, SIZE + Bytes::MIB), &mut go_on).expect("there is room");
        assert!(!other.reused());
        assert_ne!(other.header().creation, creation);
        drop(other);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_lost_its_data_since_is_laid_out_again() {
        let folder = folder();
        let mut first = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("there is room");
        first.keep().expect("the file is ours");
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let punched = fallocate(&first.file, punch, 1 << 20, 1 << 20).is_ok();
        drop(first);
        let again = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("there is room");
        assert!(!again.extents().has_gap());
        assert_eq!(again.reused(), !punched);
        std::fs::remove_file(again.path()).expect("it is there");
    }

    #[test]
    fn two_runs_do_not_share_a_file() {
        let folder = folder();
        let first = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("there is room");
        let error = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect_err("it is in use");
        assert!(matches!(error, ScratchError::InUse { .. }), "{error}");
        assert!(first.path().exists());
    }

    #[test]
    fn an_interrupt_while_laying_out_removes_the_partial_file() {
        let folder = folder();
        let error = Scratch::prepare(&spec(&folder, SIZE), &mut |_| Step::Abort).expect_err("it was aborted");
        assert!(matches!(error, ScratchError::Aborted { .. }), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is ours").count(), 0);
    }

    #[test]
    fn what_is_enough_becomes_the_file() {
        let folder = folder();
        let scratch = Scratch::prepare(&spec(&folder, Bytes::MIB * 64), &mut |_| Step::Enough);
        let scratch = scratch.expect("there is room");
        assert!(scratch.size() < Bytes::MIB * 64 && scratch.size() >= Bytes::MIB * 4, "{}", scratch.size());
        let length = std::fs::metadata(scratch.path()).expect("it is there").len();
        assert_eq!(length, (scratch.size() + HEADER_SIZE).get());
        assert!(!scratch.extents().has_gap());
    }

    #[test]
    fn more_than_fits_is_refused_before_anything_is_created() {
        let folder = folder();
        let spec = Spec { reserve: None, ..spec(&folder, Bytes::TIB * 4096) };
        let error = Scratch::prepare(&spec, &mut go_on).expect_err("it cannot fit");
        assert!(matches!(error, ScratchError::TooLarge { .. }), "{error}");
        assert!(!spec.path.exists());
    }

    #[test]
    fn a_limit_met_while_writing_says_what_was_tried_and_leaves_nothing() {
        let folder = folder();
        // Larger than any file can be, which the file system says only when it is tried.
        let size = Bytes::new(i64::MAX as u64).round_down(HEADER_SIZE) - HEADER_SIZE;
        let error = Scratch::lay_out(&spec(&folder, size), size, &mut go_on).expect_err("it cannot fit");
        assert!(matches!(error, ScratchError::Full { .. }), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is ours").count(), 0);
    }

    /// How often a stranger puts a link to a file of his in the place of the scratch file while it is made and removed.
    const RACES: u64 = 300;

    #[test]
    fn a_link_put_in_the_place_of_the_scratch_file_while_it_is_made_leads_nowhere() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        let spec = Spec { reserve: Some(Bytes::ZERO), size: Bytes::KIB * 64, ..spec(&folder, SIZE) };
        let (victim, aside) = (folder.path().join("victim"), folder.path().join("aside"));
        let precious = vec![7; 256 << 10];
        std::fs::write(&victim, &precious).expect("the folder is ours");
        let tries: u64 = std::env::var("FATHOM_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(RACES);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let exchanged = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    if std::fs::rename(&spec.path, &aside).is_ok() {
                        let _taken = std::os::unix::fs::symlink(&victim, &spec.path);
                        exchanged.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                }
            });
            for attempt in 0..tries {
                let made = Scratch::prepare(&spec, &mut go_on);
                if let Ok(scratch) = &made {
                    // As the engines do, by its permit: refused, or the scratch file itself.
                    if let Ok(Some(file)) = scratch.permit().open(0) {
                        std::os::unix::fs::FileExt::write_all_at(&file, b"load", 0).expect("it is ours");
                    }
                }
                drop(made);
                let found = std::fs::read(&victim).expect("nobody removes it");
                assert!(found == precious, "try {attempt} wrote to a file of somebody else");
                let _link = std::fs::remove_file(&spec.path);
                let _own = std::fs::remove_file(&aside);
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(exchanged.into_inner() > 0, "nobody tried");
    }

    #[test]
    fn a_new_scratch_file_never_has_its_name_without_its_mark() {
        let folder = folder();
        let spec = spec(&folder, Bytes::KIB * 64);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut bare = 0;
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let found = File::open(&spec.path).ok();
                    bare += u32::from(
                        found.is_some_and(|file| header_of(&file).is_ok_and(|mark| mark.is_none())),
                    );
                }
                bare
            });
            for _ in 0..50 {
                drop(Scratch::prepare(&spec, &mut go_on).expect("there is room"));
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(watcher.join().expect("it only looks"), 0);
        });
    }

    #[test]
    fn where_no_file_can_be_made_without_a_name_it_has_another_one_until_it_has_its_mark() {
        let folder = folder();
        let path = path_in(folder.path(), 0);
        let header = Header { complete: false, keep: false, data: Bytes::KIB * 64, seed: 1, creation: 0xabc };
        let mut named_by_then = None;
        let mut note = |_: &File| {
            named_by_then = Some(path.exists());
            Ok(())
        };
        let file = create_named(&path, &header, &mut note).expect("there is room");
        assert_eq!(named_by_then, Some(false));
        assert_eq!(header_of(&file).expect("it can be read"), Some(header));
        assert!(handle::is_at(&path, &file).expect("it is there"));
        let again = create_named(&path, &header, &mut |_| Ok(())).expect_err("it is not made over another");
        assert!(matches!(again, ScratchError::NotOurs { .. }), "{again}");
        let full = ScratchError::NotNoted { path: path.clone(), source: io::ErrorKind::StorageFull.into() };
        let other = path_in(folder.path(), 1);
        let mut full = Some(full);
        create_named(&other, &header, &mut |_| Err(full.take().expect("once"))).expect_err("it is not noted");
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }

    #[test]
    fn a_file_put_in_the_place_of_the_scratch_file_is_not_removed() {
        let folder = folder();
        let scratch = Scratch::prepare(&spec(&folder, SIZE), &mut go_on).expect("there is room");
        let path = scratch.path().to_owned();
        std::fs::rename(&path, folder.path().join("moved")).expect("the folder is ours");
        std::fs::write(&path, "somebody else's").expect("the folder is ours");
        drop(scratch);
        assert!(path.exists());
    }
}
