//! Declaring a range unused: a hole in a file, a discard on a device.

use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::FallocateFlags;
use workload::{Errno, Op, Outcome, Request};

use super::OpenFile;

/// Carries out a trim and says how it ended. Blocks until it has.
pub fn trim(open: &OpenFile, request: &Request) -> Outcome {
    debug_assert_eq!(request.op, Op::Trim, "nothing else may lose data");
    let ended = if open.is_block_device { discard(open, request) } else { punch_hole(open, request) };
    match ended {
        Ok(()) => Outcome::moved(request.len),
        Err(errno) => Outcome::failed(Errno(errno.raw_os_error())),
    }
}

fn punch_hole(open: &OpenFile, request: &Request) -> rustix::io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(open.file.as_fd(), flags, request.offset.get(), u64::from(request.len))
}

/// `BLKDISCARD` of linux/fs.h, `_IO(0x12, 119)`: takes the start and the length in bytes.
const BLKDISCARD: libc::c_ulong = 0x1277;

fn discard(open: &OpenFile, request: &Request) -> rustix::io::Result<()> {
    let range = [request.offset.get(), u64::from(request.len)];
    // SAFETY: BLKDISCARD reads two u64 behind the pointer; `range` lives through the call.
    let result = unsafe { libc::ioctl(open.file.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if result == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Err(rustix::io::Errno::from_raw_os_error(errno))
}
