//! pread(2) and pwrite(2), each with its bytes locked for as long as it takes: reads share a lock, a write has it alone.
//!
//! A lock belongs to the open file (`F_OFD_SETLKW`, fcntl(2)), so that workers of one process wait for each other as
//! processes do.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::{Errno, retry_on_intr};
use units::convert::narrow;

use crate::{answered, errno};

/// Reads `bytes` at `offset` of `file` while nobody else writes them. How many there were.
pub(super) fn read(file: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let _held = RecordLock::take(file, libc::F_RDLCK, offset, bytes.len())?;
    retry_on_intr(|| rustix::io::pread(file, &mut *bytes, offset))
}

/// Writes `bytes` at `offset` of `file` while nobody else reads or writes them. How many it took.
pub(super) fn write(file: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    let _held = RecordLock::take(file, libc::F_WRLCK, offset, bytes.len())?;
    retry_on_intr(|| rustix::io::pwrite(file, bytes, offset))
}

/// Bytes of a file that are locked until this is dropped.
struct RecordLock<'a> {
    file: BorrowedFd<'a>,
    start: i64,
    len: i64,
}

impl RecordLock<'_> {
    /// Waits until nobody holds a lock that contradicts.
    fn take(
        file: BorrowedFd<'_>,
        kind: libc::c_int,
        offset: u64,
        len: usize,
    ) -> Result<RecordLock<'_>, Errno> {
        debug_assert!(len > 0, "a lock of no length would reach to the end of the file");
        let held = RecordLock { file, start: narrow::<i64>(offset), len: narrow::<i64>(len) };
        retry_on_intr(|| held.set(kind))?;
        Ok(held)
    }

    fn set(&self, kind: libc::c_int) -> Result<(), Errno> {
        let lock = self.described(kind);
        // SAFETY: the call reads the structure, which lives through it.
        let result = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const lock) };
        answered(result).map(drop).map_err(errno)
    }

    fn described(&self, kind: libc::c_int) -> libc::flock {
        // SAFETY: all of it are numbers, for which zero is a value.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = narrow::<libc::c_short>(kind);
        lock.l_whence = narrow::<libc::c_short>(libc::SEEK_SET);
        (lock.l_start, lock.l_len) = (self.start, self.len);
        lock
    }
}

impl Drop for RecordLock<'_> {
    fn drop(&mut self) {
        // A file that is closed has no locks any more: there is nothing to do about a failure.
        let _unlocked = self.set(libc::F_UNLCK);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::os::fd::AsFd;

    use super::*;

    /// Whether a lock of that kind could be taken at once.
    fn is_free(file: &File, kind: libc::c_int, offset: u64) -> bool {
        let asked = std::mem::ManuallyDrop::new(RecordLock {
            file: file.as_fd(),
            start: narrow::<i64>(offset),
            len: 1,
        });
        let mut lock = asked.described(kind);
        // SAFETY: the call reads and writes the structure, which lives through it.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
        assert_eq!(result, 0, "locks can be asked for");
        i32::from(lock.l_type) == libc::F_UNLCK
    }

    #[test]
    fn bytes_are_locked_while_a_request_lasts_and_no_others() {
        let one = tempfile::NamedTempFile::new().expect("there is room");
        let other = OpenOptions::new().read(true).write(true).open(one.path()).expect("it is there");
        let held =
            RecordLock::take(one.as_file().as_fd(), libc::F_WRLCK, 4096, 4096).expect("nobody else has it");
        let free = |offset| (is_free(&other, libc::F_RDLCK, offset), is_free(&other, libc::F_WRLCK, offset));
        assert_eq!((free(4096), free(8191)), ((false, false), (false, false)));
        assert_eq!((free(4095), free(8192)), ((true, true), (true, true)));
        drop(held);
        assert_eq!(free(4096), (true, true));
        let held =
            RecordLock::take(one.as_file().as_fd(), libc::F_RDLCK, 0, 4096).expect("nobody else has it");
        assert_eq!(free(0), (true, false), "reads share a lock");
        drop(held);
    }

    #[test]
    fn what_is_written_is_read_and_nothing_stays_locked() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let other = OpenOptions::new().read(true).write(true).open(file.path()).expect("it is there");
        assert_eq!(write(file.as_file().as_fd(), &[7; 4096], 4096), Ok(4096));
        let mut bytes = [0; 4096];
        assert_eq!(read(other.as_fd(), &mut bytes, 4096), Ok(4096));
        assert_eq!(bytes, [7; 4096]);
        assert!(is_free(&other, libc::F_WRLCK, 4096));
        let closed = File::open(file.path()).expect("it is there");
        assert_eq!(
            write(closed.as_fd(), &[7; 1], 0),
            Err(Errno::BADF),
            "a lock to write wants a file open for it"
        );
    }
}
