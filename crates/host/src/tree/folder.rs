//! The folder of Fathom's own in a user's directory, known by a mark in it.
//!
//! The mark is a file that is locked while a run uses the folder and that is removed last, so that what a killed run
//! leaves behind is known. The folder is open to its owner alone.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat, unlinkat,
};
use rustix::io::Errno;

use super::{TreeError, os};
use crate::handle;
use crate::restore::{Change, FileId, Journal, MadeFile, Noted};
use crate::sysroot::is_numbered;

/// The folder's name.
pub const FOLDER: &str = "fathom-tree";
/// The mark's name in it.
pub const MARK: &str = ".fathom-tree";
/// What the mark says.
const WORDS: &[u8] =
    b"FATHOM TREE 1\nThis folder was made by `fathom run`, which clears it and removes it.\n";

/// Deeper than any tree is: `levels` are at most 20, below the tree's own top and the worker's.
const DEEPEST: u32 = 24;

/// What is found where the folder would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderState {
    /// Nothing.
    Nothing,
    /// A folder that an earlier run has left there.
    Left,
    /// A folder that another run uses.
    InUse,
    /// Somebody else's.
    Foreign,
}

/// What is in `directory` where the folder would be. Changes nothing.
pub fn look(directory: &Path) -> Result<FolderState, TreeError> {
    let path = directory.join(FOLDER);
    let at = open_directory(rustix::fs::CWD, directory).map_err(os(directory, "open"))?;
    match open_directory(at.as_fd(), Path::new(FOLDER)) {
        Err(Errno::NOENT) => Ok(FolderState::Nothing),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(FolderState::Foreign),
        Err(error) => Err(os(&path, "open")(error)),
        Ok(top) => match mark_in(top.as_fd()) {
            None => Ok(FolderState::Foreign),
            Some(mark) => match flock(&mark, FlockOperation::NonBlockingLockShared) {
                Err(Errno::WOULDBLOCK) => Ok(FolderState::InUse),
                _ => Ok(FolderState::Left),
            },
        },
    }
}

/// The folder, made or taken over, empty and locked; removed when dropped unless it is to be kept.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    parent: OwnedFd,
    top: OwnedFd,
    /// Locked as long as it is open.
    _mark: std::fs::File,
    /// That it is to be removed; `None` once it has gone, or where it is to be kept.
    noted: Option<Noted>,
}

impl Folder {
    /// The folder in `directory`. One that an earlier run has left is cleared.
    pub fn claim(directory: &Path, keep: bool, journal: &Journal) -> Result<Folder, TreeError> {
        let path = directory.join(FOLDER);
        let not_noted = |source| TreeError::Os { path: path.clone(), action: "record its removal", source };
        let made = MadeFile::before(&path).map_err(not_noted)?;
        let journal = if keep { &Journal::default() } else { journal };
        let mut noted = journal.note(Change::Tree(made.clone())).map_err(not_noted)?;
        let claimed = Folder::take(directory, &mut |top| {
            let id = Some(FileId::of(top)?);
            noted.amend(Change::Tree(MadeFile { id, ..made.clone() }))
        });
        let (mut folder, noted) = noted.of(claimed)?;
        folder.noted = (!keep).then_some(noted);
        Ok(folder)
    }

    /// The folder in `directory` that another process of the same run has claimed; it is neither cleared nor removed from
    /// here.
    pub fn join(directory: &Path) -> Result<Folder, TreeError> {
        let path = directory.join(FOLDER);
        let parent = open_directory(rustix::fs::CWD, directory).map_err(os(directory, "open"))?;
        let top = open_directory(parent.as_fd(), Path::new(FOLDER)).map_err(|error| match error {
            Errno::NOENT => TreeError::NotShared { path: path.clone() },
            Errno::NOTDIR | Errno::LOOP => TreeError::NotOurs { path: path.clone() },
            error => os(&path, "open")(error),
        })?;
        let mark = mark_in(top.as_fd()).ok_or_else(|| TreeError::NotOurs { path: path.clone() })?;
        Ok(Folder { path, parent, top, _mark: mark, noted: None })
    }

    fn take(
        directory: &Path,
        note: &mut dyn FnMut(BorrowedFd<'_>) -> std::io::Result<()>,
    ) -> Result<Folder, TreeError> {
        let path = directory.join(FOLDER);
        let parent = open_directory(rustix::fs::CWD, directory).map_err(os(directory, "open"))?;
        let is_new = match mkdirat(&parent, FOLDER, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(os(&path, "create")(error)),
        };
        let top = open_directory(parent.as_fd(), Path::new(FOLDER)).map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => TreeError::NotOurs { path: path.clone() },
            error => os(&path, "open")(error),
        })?;
        // Half a folder is of no use to anybody.
        let undo = |source, action: &'static str| {
            if is_new {
                let _none = unlinkat(&top, MARK, AtFlags::empty());
                let _used = unlinkat(&parent, FOLDER, AtFlags::REMOVEDIR);
            }
            TreeError::Os { path: path.clone(), action, source }
        };
        let mark = match is_new {
            true => new_mark(top.as_fd()).map_err(|source| undo(source, "mark"))?,
            false => mark_in(top.as_fd()).ok_or_else(|| TreeError::NotOurs { path: path.clone() })?,
        };
        if handle::is_locked_by_another(&mark) {
            return Err(TreeError::InUse { path });
        }
        note(top.as_fd()).map_err(|source| undo(source, "record its removal"))?;
        let folder = Folder { path, parent, top, _mark: mark, noted: None };
        folder.clear()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its descriptor.
    pub fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// Removes everything in it but the mark.
    pub fn clear(&self) -> Result<(), TreeError> {
        clear(self.top.as_fd(), &self.path, 0)
    }

    /// Removes everything in one directory of it, and the directory.
    pub fn remove(&self, name: &str) -> Result<(), TreeError> {
        assert!(is_our_name(name), "only what Fathom has named is removed");
        let path = self.path.join(name);
        match open_directory(self.top(), Path::new(name)) {
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(os(&path, "open")(error)),
            Ok(directory) => clear(directory.as_fd(), &path, 1)?,
        }
        unlinkat(&self.top, name, AtFlags::REMOVEDIR).map_err(os(&path, "remove"))
    }
}

impl Folder {
    /// Clears it and removes it, unless it is to be kept; nothing where that was done already. An error says what stays
    /// behind.
    pub fn remove_all(&mut self) -> Result<(), TreeError> {
        if self.noted.is_none() {
            return Ok(());
        }
        // Another folder may stand at the path by now, or none at all: ours is what the descriptor leads to.
        let is_same = || {
            let there = open_directory(self.parent.as_fd(), Path::new(FOLDER)).ok()?;
            Some(handle::is_one(&fstat(&there).ok()?, &fstat(&self.top).ok()?))
        };
        if is_same() == Some(true) {
            self.clear()?;
            unlinkat(&self.top, MARK, AtFlags::empty()).map_err(os(&self.path, "remove its mark"))?;
            unlinkat(&self.parent, FOLDER, AtFlags::REMOVEDIR).map_err(os(&self.path, "remove"))?;
        }
        if let Some(noted) = self.noted.take() {
            noted.done();
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nobody can be told here; what stays behind is in the journal, and is known by its mark.
        let _untold = self.remove_all();
    }
}

pub(super) fn open_directory(at: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    openat(at, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn new_mark(top: BorrowedFd<'_>) -> std::io::Result<std::fs::File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut mark = std::fs::File::from(openat(top, MARK, flags, Mode::RUSR | Mode::WUSR)?);
    mark.write_all(WORDS)?;
    mark.sync_all()?;
    Ok(mark)
}

/// The mark in a folder; `None` where there is none, or something else of its name.
fn mark_in(top: BorrowedFd<'_>) -> Option<std::fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut mark = std::fs::File::from(openat(top, MARK, flags, Mode::empty()).ok()?);
    let mut said = Vec::new();
    let is_file = mark.metadata().ok()?.is_file();
    (&mut mark).take(WORDS.len() as u64 + 1).read_to_end(&mut said).ok()?;
    (is_file && said == WORDS).then_some(mark)
}

/// Removes all that Fathom named in a directory; anything else is an error, and stays.
fn clear(directory: BorrowedFd<'_>, path: &Path, depth: u32) -> Result<(), TreeError> {
    let entries = Dir::read_from(directory).map_err(os(path, "read"))?;
    for entry in entries {
        let entry = entry.map_err(os(path, "read"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." || (depth == 0 && name == MARK) {
            continue;
        }
        let own = path.join(&name);
        if !is_our_name(&name) || depth > DEEPEST {
            return Err(TreeError::Stranger { path: own });
        }
        let is_directory = match entry.file_type() {
            FileType::Directory => true,
            FileType::Unknown => !name.starts_with('f'),
            _ => false,
        };
        match is_directory {
            true => {
                let inner = open_directory(directory, Path::new(&name)).map_err(os(&own, "open"))?;
                clear(inner.as_fd(), &own, depth + 1)?;
                unlinkat(directory, &name, AtFlags::REMOVEDIR).map_err(os(&own, "remove"))?;
            }
            false => unlinkat(directory, &name, AtFlags::empty()).map_err(os(&own, "remove"))?,
        }
    }
    Ok(())
}

/// `t0`, `w3`, `d17`, `f000-0000012`, and the last with `r`, `.link` or `.sym`.
fn is_our_name(name: &str) -> bool {
    ["t", "w", "d"].iter().any(|kind| is_numbered(name, kind))
        || name.split_once('-').is_some_and(|(worker, file)| {
            let ends = ["r", ".link", ".sym"];
            let bare = ends.iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
            is_numbered(worker, "f") && is_numbered(bare, "")
        })
}
