//! Declaring a range unused: a hole in a file, a discard on a device.

use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::FallocateFlags;
use workload::{Op, Outcome, Request};

use super::{OpenFile, outcome};
use crate::{answered, errno};

/// Carries out a trim and says how it ended. Blocks until it has.
pub fn trim(open: &OpenFile, request: &Request) -> Outcome {
    debug_assert_eq!(request.op, Op::Trim, "nothing else may lose data");
    let ended = if open.is_block_device { discard(open, request) } else { punch_hole(open, request) };
    outcome(ended.map(|()| request.len as usize))
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
    answered(result).map(drop).map_err(errno)
}
