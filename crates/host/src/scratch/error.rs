//! Why there is no scratch file, in words for whoever asked for one.

use std::io;
use std::path::{Path, PathBuf};

use units::Bytes;

/// Why there is no scratch file.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// Somebody else's file is there.
    #[error("{path} exists and is not one of Fathom's scratch files; it was not touched; name another path")]
    NotOurs {
        /// The path.
        path: PathBuf,
    },
    /// A file of its name without a byte: a run that was killed before it could mark it, or somebody's.
    #[error(
        "{path} exists and is empty, so its owner is unknown; a run that was killed may have left it: \
         remove it, or name another path"
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
    #[error("{path} is no longer the scratch file, which was moved; remove it at its new place")]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// That it is to be removed cannot be noted.
    #[error(
        "{path}: not created, because its removal cannot be recorded: {source}; free some space for the \
         library, or name another one with `--store`"
    )]
    NotNoted {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Rank 0 has laid it out, and it is not there.
    #[error(
        "{path} is not there although rank 0 has laid it out: the directory is not shared with its host; name one that \
         is, or give each rank files of its own with `--file-per-rank`"
    )]
    NotShared {
        /// The path.
        path: PathBuf,
    },
    /// Its directory takes no file: of another user, or mounted read-only.
    #[error(
        "{path}: no file can be made there: {source}; run as a user who may write to it, or name another place"
    )]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It would not fit, or leave too little.
    #[error(
        "{path}: {asked} do not fit: {free} are free, of which {reserve} are reserved; use a smaller size, \
         or free some space"
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
        "{path}: no space left while laying out {asked} ({source}); {written} were written, {free} are \
         free; the partial file was removed; use a smaller size, or check for a quota"
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

pub(super) fn not_noted(path: &Path) -> impl FnOnce(io::Error) -> ScratchError {
    let path = path.to_owned();
    move |source| ScratchError::NotNoted { path, source }
}

pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG))
}

pub(super) fn os<'a>(
    path: &'a Path,
    action: &'static str,
) -> impl FnOnce(io::Error) -> ScratchError + use<'a> {
    move |source| ScratchError::Os { path: path.into(), action, source }
}
