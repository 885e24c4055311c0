//! Fathom's own files: the only ones it writes without being told that they may be destroyed.
//!
//! **Invariant:** a file without Fathom's mark is never overwritten, truncated or removed.
//! **Invariant:** when a [`Scratch`] is dropped its file is gone, unless it was to be kept or a loop device is over it; so
//! it is after an error and after an interrupt that lets `main` return. Whatever else ends the process: it is in the
//! journal from before it is made until it has gone.
//! **Invariant:** the data region is written by real writes; holes and unwritten extents are looked for and are an
//! error.

mod create;
mod error;
mod extents;
mod header;
mod layout;
mod room;
mod size;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;
use units::Bytes;

use crate::restore::{Change, Journal, MadeFile, Noted};
use crate::safety::{Permit, loop_over};
use crate::sysroot::SysRoot;
use crate::{handle, pages, random};
use create::create;
use error::{is_full, not_noted, os};
use room::free;

pub use error::ScratchError;
pub use extents::{Extents, FileExtent, Gaps, extents, gaps, places};
pub(crate) use header::fnv1a;
pub use header::{HEADER_SIZE, Header, header_of};
pub use room::{Left, Room, can_make, enough_room, left_behind, room};
pub use size::{Budget, DIRECT, LEAST, SizeChoice, SizeEnvironment, auto_size, requested_size, reserve};

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
        assert!(size >= spec.size, "no less may be laid out than the plan needs");
        if let Some(found) = Scratch::found(&spec.path, &spec.journal)? {
            let fits = found.header.complete && found.header.data == size && !found.extents.has_gap();
            if fits {
                assert!(found.reused && !found.direct, "of an existing file the cached part is unknown");
                return Ok(found);
            }
            found.discard()?;
        }
        enough_room(&spec.path, size, spec.reserve)?;
        Scratch::lay_out(spec, size, progress)
    }

    /// The file that another process has laid out and keeps locked; it is not removed from here.
    pub fn join(path: &Path) -> Result<Scratch, ScratchError> {
        let not_ours = || ScratchError::NotOurs { path: path.into() };
        let not_shared = || ScratchError::NotShared { path: path.into() };
        let file = open_there(path, OFlags::RDWR)?.ok_or_else(not_shared)?;
        let header = header_of(&file).map_err(os(path, "read"))?.ok_or_else(not_ours)?;
        let extents = extents(&file, header.data).map_err(os(path, "read its extents"))?;
        let (permit, path) = (leave(path, &file)?, path.into());
        Ok(Scratch { path, file, permit, header, extents, direct: false, reused: true, noted: None })
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
        assert!(self.noted.is_none(), "nothing may be noted of a file that stays");
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
        pages::forget(&self.file).map_err(os(&self.path, "evict"))
    }

    /// Removes the file, unless it is to be kept; nothing where that was done already. An error says what stays behind.
    pub fn remove(&mut self) -> Result<(), ScratchError> {
        if self.header.keep {
            self.settle();
        }
        if self.noted.is_none() {
            return Ok(());
        }
        in_no_loop(&self.path, &self.file)?;
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
        let Some(first) = open_there(path, OFlags::RDONLY)? else { return Ok(None) };
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
        in_no_loop(path, &file)?;
        let extents = extents(&file, header.data).map_err(os(path, "read its extents"))?;
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
                let removed = scratch.file.try_clone();
                drop(scratch);
                // A process that was started meanwhile holds the file until it runs its own program: the blocks go now,
                // so that what is said to be free is free.
                let _they_go_later = removed.and_then(|file| file.set_len(0));
                return Err(full(written, source));
            }
            Err(error) => return Err(error),
        }
        scratch.extents =
            extents::extents(&scratch.file, scratch.header.data).map_err(os(path, "read its extents"))?;
        if scratch.extents.has_gap() {
            return Err(ScratchError::Hollow { path: path.into(), what: scratch.extents.in_words() });
        }
        assert!(
            scratch.header.complete && !scratch.header.keep,
            "a new file is whole, and stays only if told to"
        );
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
        let mut fill = |file: &File| layout::fill(file, size, self.header.seed, progress);
        let direct = direct.map(|file| fill(&file));
        let (filled, is_direct) = layout::or_cached(direct, || fill(&self.file));
        self.direct = is_direct;
        match filled.map_err(os(&path, "write"))? {
            layout::Filled::Aborted => return Err(ScratchError::Aborted { path }),
            layout::Filled::Bytes(written) => self.header.data = written,
        }
        assert!(self.header.data <= size, "no more may be written than the file holds");
        self.header.complete = true;
        // The mark first: one of the two ends the file at any moment.
        self.header.write(&self.file).map_err(os(&path, "mark"))?;
        self.file.set_len((self.header.data + HEADER_SIZE).get()).map_err(os(&path, "shorten"))?;
        debug_assert!(
            header_of(&self.file).is_ok_and(|found| found == Some(self.header)),
            "the mark must end the file",
        );
        self.file.sync_data().map_err(os(&path, "write back"))?;
        // A hint: what was laid out through the page cache must not be served from it.
        let _ = pages::forget(&self.file);
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

/// What is at `path`, and no link; `None` where nothing is.
fn open_there(path: &Path, access: OFlags) -> Result<Option<File>, ScratchError> {
    match handle::open_itself(path, access) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP) => Err(ScratchError::NotOurs { path: path.into() }),
        Err(error) => Err(os(path, "open")(error.into())),
    }
}

/// That no loop device reads and writes the file.
fn in_no_loop(path: &Path, file: &File) -> Result<(), ScratchError> {
    match loop_over(&SysRoot::real(), path, file) {
        Some(by) => Err(ScratchError::BehindLoop { path: path.into(), by: by.display().to_string() }),
        None => Ok(()),
    }
}

fn leave(path: &Path, file: &File) -> Result<Arc<Permit>, ScratchError> {
    let what = format!("the scratch file {}", path.display());
    Permit::for_own(path, file, what).map(Arc::new).map_err(os(path, "open"))
}

fn lock(path: &Path, file: &File) -> Result<(), ScratchError> {
    match handle::is_locked_by_another(file) {
        true => Err(ScratchError::InUse { path: path.into() }),
        false => Ok(()),
    }
}
