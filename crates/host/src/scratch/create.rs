//! Making a scratch file so that whoever finds its name finds its mark, and whoever finds neither finds it noted.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::error::{ScratchError, not_noted, os};
use super::{Header, lock};
use crate::handle;
use crate::restore::{Change, Journal, MadeFile, Noted, unfinished};

/// A new file at `path` with its mark, locked and noted: whoever finds the name finds the mark.
pub(super) fn create(path: &Path, header: &Header, journal: &Journal) -> Result<(File, Noted), ScratchError> {
    let made = MadeFile::before(path).map_err(os(path, "read its directory"))?;
    let mut noted = journal.note(Change::Scratch(made.clone(), header.creation)).map_err(not_noted(path))?;
    let mut note = |file: &File| {
        let made = made.made(file).map_err(os(path, "look at"))?;
        noted.amend(Change::Scratch(made, header.creation)).map_err(not_noted(path))
    };
    let made = create_noted(path, header, &mut note);
    noted.of(made)
}

/// The file gets its name when it has its mark, which is on storage by then. On a file system without unnamed files
/// (`O_TMPFILE`, open(2)) it is made by a name that no other file has.
pub(super) fn create_noted(
    path: &Path,
    header: &Header,
    note: &mut dyn FnMut(&File) -> Result<(), ScratchError>,
) -> Result<File, ScratchError> {
    let (folder, name) = handle::folder_of(path).map_err(os(path, "open its directory"))?;
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

/// Makes it by a name of its creation id, which gives way to `path` when it has its mark. Where the file system can
/// give no name without replacing what is there, it is made at `path` itself; a kill in the moment before its mark leaves
/// [`ScratchError::Empty`] for the next.
pub(super) fn create_named(
    path: &Path,
    header: &Header,
    note: &mut dyn FnMut(&File) -> Result<(), ScratchError>,
) -> Result<File, ScratchError> {
    let (folder, name) = handle::folder_of(path).map_err(os(path, "open its directory"))?;
    let make = |name: &OsStr| {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
        let made = openat(&folder, name, flags, Mode::from_raw_mode(0o666));
        made.map(File::from).map_err(|error| match error {
            Errno::EXIST => ScratchError::NotOurs { path: path.into() },
            error => os(path, "create")(error.into()),
        })
    };
    let first = unfinished(path, header.creation);
    assert_ne!(first, path, "an unfinished file must have a name of its own");
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
    if matches!(named, Ok(true)) {
        return Ok(file);
    }
    handle::remove(&first, &file).map_err(os(path, "remove"))?;
    named?;
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
