//! The room that a file system has for scratch files.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat, statvfs};
use units::{Bytes, SECTOR_BYTES};

use super::error::{ScratchError, os};
use super::header::{HEADER_SIZE, Header, header_of};
use super::size::reserve;
use crate::handle;

/// What is free for this user, and the size of the file system, where `path` is or would be.
pub(super) fn free(path: &Path) -> io::Result<(Bytes, Bytes)> {
    let space = statvfs(handle::parent_of(path))?;
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
    let (free, total) = free(path).map_err(os(path, "read its free space"))?;
    let stat = std::fs::metadata(handle::parent_of(path)).map_err(os(path, "read its directory"))?;
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
    let file = handle::open_itself(path, OFlags::RDONLY).ok()?;
    let Header { data, complete, .. } = header_of(&file).ok()??;
    let held = Bytes::new(file.metadata().ok()?.blocks().saturating_mul(SECTOR_BYTES));
    Some(Left { data, held, complete })
}

/// Says no where no file can be made at `path`: no right to, or mounted read-only. What is there already is not asked about, and
/// nothing is made.
pub fn can_make(path: &Path) -> Result<(), ScratchError> {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            accessat(CWD, handle::parent_of(path), wanted, AtFlags::EACCESS)
                .map_err(|source| ScratchError::NotWritable { path: path.into(), source: source.into() })
        }
        // Whoever opens it says what is wrong with it.
        _ => Ok(()),
    }
}

/// Whether `size` more fit where `path` is or would be, and [`reserve`] stays free unless told otherwise.
pub fn enough_room(path: &Path, size: Bytes, wanted_reserve: Option<Bytes>) -> Result<(), ScratchError> {
    let (free, total) = free(path).map_err(os(path, "read its free space"))?;
    let reserve = wanted_reserve.unwrap_or_else(|| reserve(total, free));
    let needed = size.get().saturating_add(HEADER_SIZE.get()).saturating_add(reserve.get());
    match needed <= free.get() {
        true => Ok(()),
        false => Err(ScratchError::TooLarge { path: path.into(), asked: size, free, reserve }),
    }
}
