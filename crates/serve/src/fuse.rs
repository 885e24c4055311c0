//! A LUN as a file: a loop device over it is a block device of this kernel's.
//!
//! The file is mounted by FUSE over a file that is there. Whoever uses it goes past the page cache of the file
//! (`losetup --direct-io=on`), so that every request reaches the array.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::machine::Machine;
use crate::pace::{Deliver, ModelRequest, Op, Pacer, Pending};
use crate::set::{Fault, Scratch};

/// A LUN that is mounted for as long as this is held.
pub struct Mounted {
    session: Option<BackgroundSession>,
}

impl Mounted {
    /// Mounts LUN `lun` over the file at `path`, which is made where it is not there.
    pub fn over(
        path: &Path,
        machine: Arc<Machine>,
        lun: u32,
        pacer: Option<Arc<Pacer>>,
    ) -> io::Result<Mounted> {
        // What a server that was killed has left behind.
        if let Err(error) = std::fs::metadata(path)
            && error.raw_os_error() == Some(libc::ENOTCONN)
        {
            rustix::mount::unmount(path, rustix::mount::UnmountFlags::DETACH)?;
        }
        drop(File::options().append(true).create(true).open(path)?);
        let lun_of = machine.luns().get(lun as usize);
        let bytes = lun_of.ok_or_else(|| io::Error::other(format!("the array has no LUN {lun}")))?.sectors
            * SECTOR_BYTES;
        let losses = machine.told(lun);
        let file = LunFile { machine, pacer, lun, bytes, losses };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("fathom".into())];
        config.n_threads = Some(2);
        config.clone_fd = true;
        Ok(Mounted { session: Some(fuser::spawn_mount(file, path, &config)?) })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            // A loop device that still has it open keeps the mount; it gets errors from now on.
            let _in_use = session.umount_and_join();
        }
    }
}

struct LunFile {
    machine: Arc<Machine>,
    pacer: Option<Arc<Pacer>>,
    lun: u32,
    bytes: u64,
    /// The losses of the write cache that whoever syncs has been told of.
    losses: AtomicU64,
}

const KEEP: Duration = Duration::from_secs(3600);

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl LunFile {
    fn attributes(&self) -> FileAttr {
        FileAttr {
            ino: INodeNo::ROOT,
            size: self.bytes,
            blocks: self.bytes / SECTOR_BYTES,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: FileType::RegularFile,
            perm: 0o600,
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            flags: 0,
            blksize: 4096,
        }
    }

    /// Shows the model, where there is one, a request that comes now.
    fn ask(&self, op: Op, offset: u64, len: u64) -> Option<Pending> {
        self.pacer.as_ref().map(|pacer| pacer.ask(ModelRequest { lun: self.lun, op, offset, len }))
    }

    fn with<T>(&self, act: impl FnOnce(&Machine, &mut Scratch) -> T) -> T {
        SCRATCH.with_borrow_mut(|scratch| act(&self.machine, scratch))
    }

    /// What of a request lies in the LUN.
    fn inside(&self, offset: u64, len: u64) -> u64 {
        len.min(self.bytes.saturating_sub(offset))
    }
}

/// Has `answer` be given when the model says; at once where there is none.
fn in_time(pending: Option<Pending>, answer: Deliver) {
    match pending {
        Some(pending) => pending.answer(answer),
        None => answer(true),
    }
}

fn errno(fault: Fault) -> Errno {
    Errno::from_i32(fault.errno())
}

impl Filesystem for LunFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::other("this kernel's FUSE has one direct request in flight");
        // Without it the kernel waits for each direct request before it sends the next one.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        let _less = config.set_max_write(1 << 20);
        config.set_max_background(1024).map(|_| ()).map_err(|_| io::Error::other("no background requests"))
    }

    fn lookup(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        let _unused = Generation(0);
        reply.error(Errno::ENOTDIR);
    }

    fn getattr(&self, _: &Request, _: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&KEEP, &self.attributes());
    }

    fn setattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match size {
            Some(size) if size != self.bytes => reply.error(Errno::EPERM),
            _ => reply.attr(&KEEP, &self.attributes()),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = self.inside(offset, size.into());
        if len == 0 {
            return reply.data(&[]);
        }
        let first = offset / SECTOR_BYTES * SECTOR_BYTES;
        let last = (offset + len).next_multiple_of(SECTOR_BYTES);
        let mut data = vec![0; narrow::<usize>(last - first)];
        let pending = self.ask(Op::Read, offset, len);
        match self.with(|machine, scratch| machine.read(scratch, self.lun, first, &mut data)) {
            Err(fault) => reply.error(errno(fault)),
            Ok(()) => in_time(
                pending,
                Box::new(move |is_answered| match is_answered {
                    true => reply.data(&data[narrow::<usize>(offset - first)..][..narrow::<usize>(len)]),
                    false => reply.error(Errno::EIO),
                }),
            ),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let len = data.len() as u64;
        if self.inside(offset, len) < len || len == 0 {
            return reply.error(if len == 0 { Errno::EINVAL } else { Errno::ENOSPC });
        }
        if !offset.is_multiple_of(SECTOR_BYTES) || !len.is_multiple_of(SECTOR_BYTES) {
            // A loop device writes whole sectors.
            return reply.error(Errno::EINVAL);
        }
        let pending = self.ask(Op::Write, offset, len);
        match self.with(|machine, scratch| machine.write(scratch, self.lun, offset, data)) {
            Err(fault) => reply.error(errno(fault)),
            Ok(()) => {
                let count = narrow::<u32>(len);
                in_time(
                    pending,
                    Box::new(move |is_answered| match is_answered {
                        true => reply.written(count),
                        false => reply.error(Errno::EIO),
                    }),
                );
            }
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let pending = self.ask(Op::Flush, 0, 0);
        match self.machine.flush_telling(self.lun, &self.losses) {
            Err(fault) => reply.error(errno(fault)),
            Ok(()) => in_time(
                pending,
                Box::new(move |is_answered| match is_answered {
                    true => reply.ok(),
                    false => reply.error(Errno::EIO),
                }),
            ),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let is_inside = length > 0 && self.inside(offset, length) == length;
        let is_whole = offset.is_multiple_of(SECTOR_BYTES) && length.is_multiple_of(SECTOR_BYTES);
        let zeroes = mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0;
        if !is_inside || !is_whole || !zeroes {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let keeps = mode & libc::FALLOC_FL_ZERO_RANGE != 0;
        match self.with(|machine, scratch| machine.write_zeros(scratch, self.lun, offset, length, keeps)) {
            Ok(()) => reply.ok(),
            Err(fault) => reply.error(errno(fault)),
        }
    }
}
