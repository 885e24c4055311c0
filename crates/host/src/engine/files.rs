//! The files and devices a workload uses, opened the way it asks for.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags};
use units::Bytes;
use units::convert::narrow;
use workload::spec::{EngineKind, OpenSync, Workload, WriteHint};
use workload::{Op, Request};

use super::{EngineError, nvme, scsi};
use crate::nbd::Uri;
use crate::safety::{Permit, SafetyError};
use crate::sysroot::SysRoot;
use crate::{answered, pages};

/// What the commands to a device count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// A logical block.
    pub block: Bytes,
    /// The number of the namespace; 0 where there are none.
    pub namespace: u32,
}

/// One open file or device.
#[derive(Debug)]
pub struct OpenFile {
    /// Its path, for messages.
    pub path: PathBuf,
    /// The handle.
    pub file: File,
    /// Whether it is a block device, which is trimmed in another way.
    pub is_block_device: bool,
    /// What commands count in; `None` where none are sent.
    pub addressing: Option<Addressing>,
}

impl OpenFile {
    /// The first block of a request and how many it is of; `None` where it is not of whole blocks, and where no commands are
    /// sent.
    pub(super) fn blocks_of(&self, request: &Request) -> Option<(u64, u32)> {
        let block = self.addressing?.block.get();
        debug_assert!(block > 0, "a device must have blocks that have a size");
        let is_whole = |bytes: u64| bytes.is_multiple_of(block);
        let blocks = u64::from(request.len) / block;
        (is_whole(request.offset.get())
            && is_whole(request.len.into())
            && (blocks > 0 || request.op == Op::Flush))
            .then(|| (request.offset.get() / block, narrow::<u32>(blocks)))
    }
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
    /// Where it is; of an export of an NBD server its URI, which no absolute path is.
    pub path: PathBuf,
    /// The leave to write to it; `None` for what is only read.
    pub permit: Option<Arc<Permit>>,
}

impl FileRef {
    /// The export of an NBD server that this is in place of a file; `None` for what is opened.
    pub fn export(&self) -> Option<Uri> {
        Uri::of_path(&self.path)
    }
}

/// Opens `files` for `workload`: for writing only if it changes data, direct if it says so.
pub fn open_files(workload: &Workload, files: &[FileRef]) -> Result<OpenFiles, EngineError> {
    assert!(files.len() <= 65_536, "files must be told apart by their numbers");
    files.iter().map(|file| open_file(workload, file)).collect::<Result<_, _>>().map(OpenFiles)
}

fn open_file(workload: &Workload, FileRef { path, permit }: &FileRef) -> Result<OpenFile, EngineError> {
    let file = match permit {
        Some(permit) if workload.changes_data() => open_permitted(workload, path, permit)?,
        None if workload.changes_data() => return Err(EngineError::NoPermit { path: path.into() }),
        _ => open_to_read(workload, path)?,
    };
    if workload.sequence.reopen_cold {
        // What cannot be forgotten stays: the record tells how much the page cache holds.
        let _ = pages::forget(&file);
    }
    capable(workload, path, &file)?;
    let is_block_device = rustix::fs::fstat(&file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice);
    let (file, addressing) = match workload.engine.kind.sends_commands() {
        true => addressed(workload, path, file).map(|(file, addressing)| (file, Some(addressing)))?,
        false => (file, None),
    };
    Ok(OpenFile { path: path.clone(), file, is_block_device, addressing })
}

/// What commands to the block device `file` go to, and what they count in. The page cache, which they pass by, holds nothing
/// of it from then on: neither what is still to be written over what they write, nor what they will have overwritten.
fn addressed(workload: &Workload, path: &Path, file: File) -> Result<(File, Addressing), EngineError> {
    let kind = workload.engine.kind;
    let what = if kind == EngineKind::Nvme { "engine = \"nvme\"" } else { "engine = \"sg\"" };
    let incapable = |reason| EngineError::Incapable { path: path.into(), what, reason };
    let told = |error: io::Error| incapable(error.to_string());
    file.sync_all().and_then(|()| pages::forget(&file)).map_err(told)?;
    if kind == EngineKind::Nvme {
        return nvme::open(&SysRoot::real(), &file, workload.changes_data()).map_err(incapable);
    }
    scsi::ready(&file).map_err(incapable)?;
    let block = scsi::block_of(&file).map_err(told)?;
    Ok((file, Addressing { block, namespace: 0 }))
}

/// Tells the file what is to be told once, and asks whether it can do what each write asks.
fn capable(workload: &Workload, path: &Path, file: &File) -> Result<(), EngineError> {
    let refused = |what, reason: String| Err(EngineError::Incapable { path: path.into(), what, reason });
    if !workload.changes_data() {
        return Ok(());
    }
    if let Some(hint) = workload.engine.write_hint
        && let Err(error) = set_write_hint(file, hint)
    {
        return refused("write_hint", format!("{error}; leave it out"));
    }
    if !workload.engine.flags.atomic {
        return Ok(());
    }
    let (sizes, known) = (&workload.sizes, atomic_unit(path));
    match known {
        Some((least, most)) if sizes.smallest() >= least && sizes.largest() <= most => Ok(()),
        Some((least, most)) if !most.is_zero() => {
            refused("atomic", format!("it takes untorn writes of {least} to {most}; write such a `size`"))
        }
        _ => refused(
            "atomic",
            "it takes no untorn writes; leave `atomic` out, or name a device that does".into(),
        ),
    }
}

/// The smallest and the largest write that is not torn; `None` where the kernel does not say.
fn atomic_unit(path: &Path) -> Option<(Bytes, Bytes)> {
    /// `STATX_WRITE_ATOMIC` of include/uapi/linux/stat.h.
    const WRITE_ATOMIC: libc::c_uint = 0x0001_0000;
    let path = CString::new(path.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: all of it are numbers, for which zero is a value.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and the kernel fills the structure, which lives through the call.
    let result = unsafe { libc::statx(libc::AT_FDCWD, path.as_ptr(), 0, WRITE_ATOMIC, &raw mut found) };
    let bytes = |count: u32| Bytes::new(count.into());
    (result == 0 && found.stx_mask & WRITE_ATOMIC != 0)
        .then(|| (bytes(found.stx_atomic_write_unit_min), bytes(found.stx_atomic_write_unit_max)))
}

fn set_write_hint(file: &File, hint: WriteHint) -> io::Result<()> {
    /// `F_SET_RW_HINT` of include/uapi/linux/fcntl.h, as the numbers of lifetimes are.
    const SET_RW_HINT: libc::c_int = 1036;
    let value: u64 = match hint {
        WriteHint::Short => 2,
        WriteHint::Medium => 3,
        WriteHint::Long => 4,
        WriteHint::Extreme => 5,
    };
    // SAFETY: the call reads the 64 bits behind the pointer, which live through it.
    answered(unsafe { libc::fcntl(file.as_raw_fd(), SET_RW_HINT, &raw const value) }).map(drop)
}

fn open_permitted(workload: &Workload, path: &Path, permit: &Permit) -> Result<File, EngineError> {
    let file = permit.open(narrow::<i32>(open_flags(workload).bits())).map_err(|error| match error {
        SafetyError::Os { source, .. } => open_error(workload, path, true, source),
        error => error.into(),
    })?;
    file.ok_or_else(|| EngineError::NoPermit { path: path.into() })
}

fn open_to_read(workload: &Workload, path: &Path) -> Result<File, EngineError> {
    let flags = open_flags(workload) | OFlags::CLOEXEC;
    // A file of somebody else may be read, but not without a trace; then the trace costs what it costs.
    let opened =
        rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()).or_else(|errno| match errno {
            rustix::io::Errno::PERM => rustix::fs::open(path, flags, Mode::empty()),
            other => Err(other),
        });
    Ok(File::from(opened.map_err(|errno| open_error(workload, path, false, errno.into()))?))
}

fn open_flags(workload: &Workload) -> OFlags {
    let direct = if workload.direct { OFlags::DIRECT } else { OFlags::empty() };
    OFlags::NOCTTY | direct | sync_flag(workload.durability.open)
}

/// Flags of open(2) for durable writes.
pub(crate) fn sync_flag(open: OpenSync) -> OFlags {
    match open {
        OpenSync::None => OFlags::empty(),
        OpenSync::Dsync => OFlags::DSYNC,
        OpenSync::Sync => OFlags::SYNC,
    }
}

fn open_error(workload: &Workload, path: &Path, writes: bool, source: io::Error) -> EngineError {
    let access = if writes { Op::Write.name() } else { Op::Read.name() };
    let mode = format!("{} {access}", if workload.direct { "direct" } else { "buffered" });
    let remedy = match source.raw_os_error() {
        Some(libc::EINVAL) if workload.direct => {
            "its file system does not support direct I/O; set `direct = false`"
        }
        Some(libc::EACCES | libc::EPERM) => "run as a user with permission, or name another target",
        Some(libc::EBUSY) => "another program holds it",
        Some(libc::EROFS) => "the file system is mounted read-only",
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files: `ulimit -n`",
        _ => "check whether it still exists",
    };
    EngineError::Open { path: path.into(), mode, remedy: remedy.into(), source }
}

#[cfg(test)]
mod tests {
    use workload::spec::Durability;

    use super::*;
    use crate::engine::fixture::request;

    fn workload(direct: bool, open: OpenSync) -> Workload {
        let plain = Workload::plain("files");
        Workload { direct, durability: Durability { open, ..plain.durability }, ..plain }
    }

    #[test]
    fn a_file_is_opened_as_the_workload_says() {
        let flags = |direct, open| open_flags(&workload(direct, open));
        assert_eq!(flags(false, OpenSync::None), OFlags::NOCTTY);
        assert_eq!(flags(true, OpenSync::None), OFlags::NOCTTY | OFlags::DIRECT);
        assert_eq!(flags(false, OpenSync::Dsync), OFlags::NOCTTY | OFlags::DSYNC);
        assert_eq!(flags(true, OpenSync::Sync), OFlags::NOCTTY | OFlags::DIRECT | OFlags::SYNC);
    }

    #[test]
    fn each_reason_why_a_file_cannot_be_opened_has_its_remedy() {
        let told = |direct, errno| {
            let source = io::Error::from_raw_os_error(errno);
            open_error(&workload(direct, OpenSync::None), Path::new("/f"), false, source).to_string()
        };
        for (direct, errno, remedy) in [
            (true, libc::EINVAL, "set `direct = false`"),
            (false, libc::EINVAL, "check whether it still exists"),
            (true, libc::EACCES, "run as a user with permission"),
            (true, libc::EPERM, "run as a user with permission"),
            (true, libc::EBUSY, "another program holds it"),
            (true, libc::EROFS, "mounted read-only"),
            (true, libc::EMFILE, "ulimit -n"),
            (true, libc::ENFILE, "ulimit -n"),
            (true, libc::ENOENT, "check whether it still exists"),
        ] {
            let told = told(direct, errno);
            assert!(told.ends_with(remedy) || told.contains(remedy), "{errno}: {told}");
            let mode = if direct { "direct read" } else { "buffered read" };
            assert!(told.contains(mode), "{told}");
        }
        let source = io::Error::from_raw_os_error(libc::EROFS);
        let writing = open_error(&workload(true, OpenSync::None), Path::new("/f"), true, source).to_string();
        assert!(writing.contains("direct write"), "{writing}");
    }

    #[test]
    fn what_is_read_needs_no_permit_what_is_written_does_and_a_file_is_no_block_device() {
        let file = tempfile::NamedTempFile::new().expect("the test has a temporary folder");
        let refs = [FileRef { path: file.path().into(), permit: None }];
        let reads = workload(false, OpenSync::None);
        assert!(!reads.changes_data());
        let opened = open_files(&reads, &refs).expect("it is there");
        assert!(!opened.0[0].is_block_device && opened.0[0].path == file.path());
        assert_eq!(opened.raw_fds(), [opened.fd(0).as_raw_fd()]);
        let mix = workload::spec::OpMix { reads: units::Share::NONE, ..reads.mix };
        let error = open_files(&Workload { mix, ..reads }, &refs).map(|_| ()).expect_err("nobody permits it");
        assert!(matches!(error, EngineError::NoPermit { .. }), "{error}");
    }

    #[test]
    fn what_is_only_read_is_opened_for_reading_whatever_is_permitted_and_as_the_workload_says() {
        let path =
            tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).expect("the test has a folder");
        let permit = Permit::for_own(path.path(), path.as_file(), "a file".into()).expect("it is open");
        let files = [FileRef { path: path.path().into(), permit: Some(Arc::new(permit)) }];
        for (direct, open) in [(false, OpenSync::None), (true, OpenSync::None), (false, OpenSync::Dsync)] {
            let opened = match open_files(&workload(direct, open), &files) {
                // A file system without direct I/O.
                Err(EngineError::Open { .. }) if direct => continue,
                opened => opened.expect("it is there"),
            };
            let flags = rustix::fs::fcntl_getfl(opened.fd(0)).expect("it is open");
            assert_eq!(flags & OFlags::ACCMODE, OFlags::RDONLY);
            assert_eq!(flags.contains(OFlags::DIRECT), direct);
            assert_eq!(flags.contains(OFlags::DSYNC), open == OpenSync::Dsync);
            let own = rustix::io::fcntl_getfd(opened.fd(0)).expect("it is open");
            assert!(own.contains(rustix::io::FdFlags::CLOEXEC), "no other program has it");
        }
    }

    #[test]
    fn a_request_is_of_whole_blocks_or_of_none() {
        let file = tempfile::tempfile().expect("there is room");
        let addressing = Some(Addressing { block: Bytes::new(4096), namespace: 1 });
        let mut open = OpenFile { path: "a device".into(), file, is_block_device: true, addressing };
        let of = |open: &OpenFile, op, offset, len| {
            let request = Request { offset: Bytes::new(offset), len, ..request(op, 0) };
            open.blocks_of(&request)
        };
        assert_eq!(of(&open, Op::Read, 8192, 16_384), Some((2, 4)));
        assert_eq!(of(&open, Op::Flush, 0, 0), Some((0, 0)));
        for (op, offset, len) in
            [(Op::Write, 512, 4096), (Op::Read, 4096, 512), (Op::Read, 0, 6144), (Op::Trim, 0, 0)]
        {
            assert_eq!(of(&open, op, offset, len), None, "{op:?} of {len} at {offset}");
        }
        open.addressing = None;
        assert_eq!(of(&open, Op::Read, 0, 4096), None, "no commands are sent to it");
    }

    #[test]
    fn a_file_of_somebody_else_is_read_all_the_same() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("the test has a temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "data").expect("the folder is ours");
        for (path, mode) in [(folder.path(), 0o755), (&*path, 0o644)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        }
        let reads = workload(false, OpenSync::None);
        let flags = |file: &File| rustix::fs::fcntl_getfl(file).expect("it is open");
        let own = open_to_read(&reads, &path).expect("it is ours");
        assert!(flags(&own).contains(OFlags::NOATIME));
        let Some(other) = crate::fixture::as_nobody(|| open_to_read(&reads, &path)) else { return };
        assert!(!flags(&other.expect("everybody may read it")).contains(OFlags::NOATIME));
        let missing = open_to_read(&reads, &folder.path().join("none")).expect_err("it is not there");
        assert!(matches!(missing, EngineError::Open { .. }), "{missing}");
    }
}
