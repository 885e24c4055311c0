//! Putting one change back, if what was changed is still as it was left.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::change::{Change, FileId, MadeFile};
use super::journal::Journal;
use super::queue;
use super::replay::Whose;
use crate::scratch::{Header, header_of};
use crate::sysroot::SysRoot;
use crate::tree::{self, FolderState};
use crate::{handle, safety};

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was put back: what was done, as a clause with the change's name left out: `removed`.
    Restored(String),
    /// There was nothing to put back.
    Nothing,
    /// Somebody else has changed it since, so it was left as it is: why.
    Left(String),
    /// It could not be put back, and should be tried again: why.
    Failed(String),
}

impl Change {
    /// Puts it back, if it is still as it was left.
    pub(super) fn put_back(&self, root: &SysRoot, whose: Whose) -> Fate {
        let fate = match self {
            Change::Scratch(file, creation) => scratch(root, file, *creation, whose),
            Change::Plain(file) => plain(root, file, whose),
            Change::Tree(file) => tree(file, whose),
            // A machine that was started anew has its own setting again.
            Change::Queue(_) if whose == Whose::OfEarlierBoot => Ok(Fate::Nothing),
            Change::Queue(setting) => queue::put_back(root, setting, whose),
        };
        fate.unwrap_or_else(|error| Fate::Failed(error.to_string()))
    }
}

fn scratch(root: &SysRoot, made: &MadeFile, creation: u128, whose: Whose) -> io::Result<Fate> {
    let Some(mut names) = names(made)? else { return Ok(absent(made)) };
    names.push(unfinished(&made.path, creation));
    for path in names {
        let Some(file) = look(&path)? else { continue };
        let stat = file.metadata()?;
        let is_unfinished = path == unfinished(&made.path, creation);
        // Nobody else has ever known the name that a file has before it has its mark.
        let is_it = is_unfinished || made.id.is_some_and(|id| id.inode == stat.ino());
        if !stat.is_file() || !is_it {
            continue;
        }
        let mark = header_of(&file)?;
        let is_marked = mark.is_some_and(|mark| mark.creation == creation);
        if !is_marked && !is_unfinished {
            return Ok(unmarked());
        }
        // One that was put aside was about to be removed all the same.
        if matches!(mark, Some(Header { keep: true, .. })) && path == made.path {
            return Ok(Fate::Nothing);
        }
        if whose != Whose::Own && handle::is_locked_by_another(&file) {
            // Whoever uses it has noted it himself.
            return Ok(Fate::Nothing);
        }
        return remove(root, &path, &file);
    }
    Ok(Fate::Nothing)
}

fn plain(root: &SysRoot, made: &MadeFile, whose: Whose) -> io::Result<Fate> {
    let Some(names) = names(made)? else { return Ok(absent(made)) };
    for path in names {
        let (Some(file), Some(id)) = (look(&path)?, made.id) else { continue };
        let now = FileId::of(&file)?;
        // The number of a file system is good until it is mounted anew; the time at which a file was made stays.
        let is_it = now.inode == id.inode
            && now.born == id.born
            && (id.born.is_some() || (now.device == id.device && whose != Whose::OfEarlierBoot));
        if is_it && file.metadata()?.is_file() {
            return remove(root, &path, &file);
        }
    }
    Ok(Fate::Nothing)
}

fn tree(made: &MadeFile, whose: Whose) -> io::Result<Fate> {
    if whose == Whose::Own {
        // Its maker has it open and locked; it takes long to clear, and the next start does it.
        return Ok(Fate::Failed("it is cleared by the next start".into()));
    }
    if !is_there(made)? {
        return Ok(absent(made));
    }
    let Some(folder) = look(&made.path)? else { return Ok(Fate::Nothing) };
    let stat = folder.metadata()?;
    if !stat.is_dir() || made.id.is_some_and(|id| id.inode != stat.ino()) {
        return Ok(Fate::Nothing);
    }
    let directory = handle::parent_of(&made.path);
    match tree::look(directory).map_err(io::Error::other)? {
        FolderState::Nothing | FolderState::InUse => Ok(Fate::Nothing),
        // Killed before it had its mark: a folder that holds anything is not removed.
        FolderState::Foreign if made.id.is_none() => Ok(match std::fs::remove_dir(&made.path) {
            Ok(()) => Fate::Restored("removed".into()),
            Err(_) => Fate::Nothing,
        }),
        FolderState::Foreign => Ok(unmarked()),
        FolderState::Left => {
            let mut trees =
                tree::Trees::open(directory, false, &Journal::default()).map_err(io::Error::other)?;
            trees.remove().map_err(io::Error::other)?;
            Ok(Fate::Restored("cleared and removed".into()))
        }
    }
}

fn unmarked() -> Fate {
    Fate::Left("it no longer has Fathom's mark, so it was left".into())
}

/// Removes what was found to be ours, unless a loop device reads and writes it.
fn remove(root: &SysRoot, path: &Path, file: &File) -> io::Result<Fate> {
    assert!(file.metadata()?.is_file(), "only a regular file is removed by its name");
    if let Some(by) = safety::loop_over(root, path, file) {
        let by = by.display();
        let why = format!("it is behind {by}; detach that (`losetup --detach {by}`) and it can be removed");
        return Ok(Fate::Failed(why));
    }
    Ok(match handle::remove(path, file)? {
        true => Fate::Restored("removed".into()),
        false => Fate::Nothing,
    })
}

/// The name that a file has until it has its mark.
pub(crate) fn unfinished(path: &Path, creation: u128) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{creation:032x}.new"));
    path.with_file_name(name)
}

/// Its own name, and those that it is put aside by just before it is removed; `None` where its directory is not there.
fn names(made: &MadeFile) -> io::Result<Option<Vec<PathBuf>>> {
    if !is_there(made)? {
        return Ok(None);
    }
    let own = made.path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
    let mut names = vec![made.path.clone()];
    for entry in std::fs::read_dir(handle::parent_of(&made.path))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_aside = name
            .strip_prefix(own.as_slice())
            .is_some_and(|rest| rest.starts_with(b".") && rest.ends_with(handle::ASIDE.as_bytes()));
        if is_aside {
            names.push(path);
        }
    }
    Ok(Some(names))
}

/// Whether the directory is there that it was made in, and not the mount point below it.
fn is_there(made: &MadeFile) -> io::Result<bool> {
    match std::fs::metadata(handle::parent_of(&made.path)) {
        Ok(stat) => Ok(stat.is_dir() && stat.ino() == made.folder),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn absent(made: &MadeFile) -> Fate {
    let folder = handle::parent_of(&made.path).display();
    Fate::Failed(format!("{folder} is not what it was: perhaps its file system is not mounted"))
}

/// What is at `path` itself, open for reading; `None` where nothing is, or a link.
fn look(path: &Path) -> io::Result<Option<File>> {
    match handle::open_itself(path, OFlags::RDONLY) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
