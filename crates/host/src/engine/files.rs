//! The files and devices a workload uses, opened the way it asks for.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags};
use units::convert::narrow;
use workload::Op;
use workload::spec::{OpenSync, Workload};

use super::EngineError;
use crate::safety::{Permit, SafetyError};

/// One open file or device.
#[derive(Debug)]
pub struct OpenFile {
    /// Its path, for messages.
    pub path: PathBuf,
    /// The handle.
    pub file: File,
    /// Whether it is a block device, which is trimmed in another way.
    pub is_block_device: bool,
}

/// All of them, by their numbers in requests.
#[derive(Debug)]
pub struct OpenFiles(pub Vec<OpenFile>);

impl OpenFiles {
    /// The handle of file number `file`.
    pub fn fd(&self, file: u16) -> BorrowedFd<'_> {
        self.0[usize::from(file)].file.as_fd()
    }

    /// Their numbers, for registration with a ring.
    pub fn raw_fds(&self) -> Vec<RawFd> {
        self.0.iter().map(|open| open.file.as_raw_fd()).collect()
    }
}

/// A file or device to be opened.
#[derive(Clone, Debug)]
pub struct FileRef {
    /// Where it is.
    pub path: PathBuf,
    /// The leave to write to it; `None` for what is only read.
    pub permit: Option<Arc<Permit>>,
}

/// Opens `files` for `workload`: for writing only if it changes data, direct if it says so.
pub fn open_files(workload: &Workload, files: &[FileRef]) -> Result<OpenFiles, EngineError> {
    files.iter().map(|file| open_file(workload, file)).collect::<Result<_, _>>().map(OpenFiles)
}

fn open_file(workload: &Workload, FileRef { path, permit }: &FileRef) -> Result<OpenFile, EngineError> {
    let file = match permit {
        Some(permit) if workload.changes_data() => open_permitted(workload, path, permit)?,
        None if workload.changes_data() => return Err(EngineError::NoPermit { path: path.into() }),
        _ => open_to_read(workload, path)?,
    };
    let is_block_device = rustix::fs::fstat(&file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    Ok(OpenFile { path: path.clone(), file, is_block_device })
}

fn open_permitted(workload: &Workload, path: &Path, permit: &Permit) -> Result<File, EngineError> {
    let file = permit.open(narrow::<i32>(open_flags(workload).bits())).map_err(|error| match error {
        SafetyError::Os { source, .. } => open_error(workload, path, true, source),
        error => error.into(),
    })?;
    file.ok_or_else(|| EngineError::NoPermit { path: path.into() })
}

fn open_to_read(workload: &Workload, path: &Path) -> Result<File, EngineError> {
    let flags = open_flags(workload) | OFlags::RDONLY | OFlags::CLOEXEC;
    // A file of somebody else may be read, but not without a trace; then the trace costs what it costs.
    let opened =
        rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()).or_else(|errno| match errno {
            rustix::io::Errno::PERM => rustix::fs::open(path, flags, Mode::empty()),
            other => Err(other),
        });
    Ok(File::from(opened.map_err(|errno| open_error(workload, path, false, errno.into()))?))
}

fn open_flags(workload: &Workload) -> OFlags {
    let mut flags = OFlags::NOCTTY;
    if workload.direct {
        flags |= OFlags::DIRECT;
    }
    flags |= match workload.durability.open {
        OpenSync::None => OFlags::empty(),
        OpenSync::Dsync => OFlags::DSYNC,
        OpenSync::Sync => OFlags::SYNC,
    };
    flags
}

fn open_error(workload: &Workload, path: &Path, writes: bool, source: io::Error) -> EngineError {
    let access = if writes { Op::Write.name() } else { Op::Read.name() };
    let mode = format!("{} {access}", if workload.direct { "direct" } else { "buffered" });
    let remedy = match source.raw_os_error() {
        Some(libc::EINVAL) if workload.direct => "its file system has no direct I/O; set `direct = false`",
        Some(libc::EACCES | libc::EPERM) => "run as a user who may, or name another target",
        Some(libc::EBUSY) => "something else holds it",
        Some(libc::EROFS) => "the file system is mounted read-only",
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files: `ulimit -n`",
        _ => "see whether it is still there",
    };
    EngineError::Open { path: path.into(), mode, remedy: remedy.into(), source }
}
