//! Making what was written durable, or at least setting it out.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use workload::spec::FlushKind;

use crate::{answered, errno};

/// Flushes `fd` by the call of that kind.
pub fn flush(kind: FlushKind, fd: BorrowedFd<'_>) -> Result<(), Errno> {
    match kind {
        FlushKind::Fsync => rustix::fs::fsync(fd),
        FlushKind::Fdatasync => rustix::fs::fdatasync(fd),
        FlushKind::SyncFileRange => set_out(fd),
    }
}

/// Lets what the page cache holds of a file set out, and waits for none of it.
fn set_out(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    // No bytes mean all to the end.
    // SAFETY: sync_file_range touches no memory of this program, and the descriptor is open while it is borrowed.
    let result = unsafe { libc::sync_file_range(fd.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
    answered(result).map(drop).map_err(errno)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn each_kind_reaches_a_file_and_what_cannot_be_flushed_says_so() {
        let file = tempfile::tempfile().expect("the test has a temporary folder");
        let (pipe, _other) = std::io::pipe().expect("there is a descriptor left");
        for (kind, refusal) in [
            (FlushKind::Fsync, Errno::INVAL),
            (FlushKind::Fdatasync, Errno::INVAL),
            (FlushKind::SyncFileRange, Errno::SPIPE),
        ] {
            assert_eq!(flush(kind, file.as_fd()), Ok(()), "{kind:?}");
            assert_eq!(flush(kind, pipe.as_fd()), Err(refusal), "{kind:?}");
        }
    }
}
