//! How large the file system of a path is, and how much of it is used.

use std::io;
use std::path::Path;

use crate::handle::parent_of;

/// A file system's size and inodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its size in bytes.
    pub bytes: u64,
    /// Those that are free, the part that is kept for root among them.
    pub free: u64,
    /// Its inodes; 0 where it makes them as it needs them.
    pub inodes: u64,
    /// Those that are free.
    pub free_inodes: u64,
}

impl FileSystem {
    /// That of `path`, or where there is no such file yet of its directory; the system's error where that is not there
    /// either.
    pub fn of(path: &Path) -> io::Result<FileSystem> {
        let place = if path.exists() { path } else { parent_of(path) };
        let space = rustix::fs::statvfs(place)?;
        Ok(FileSystem {
            bytes: space.f_blocks.saturating_mul(space.f_frsize),
            free: space.f_bfree.saturating_mul(space.f_frsize),
            inodes: space.f_files,
            free_inodes: space.f_ffree,
        })
    }
}
