//! Data moved through a pipe: splice(2) between a file and the pipe, read(2) and vmsplice(2) at its other end.
//!
//! Each thread has a pipe of its own. **Invariant:** between two requests the pipe is empty; one of which a call failed is
//! closed with whatever it still holds.

use std::cell::Cell;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use units::convert::narrow;

use crate::{answered, errno};

/// The end that is read, and the end that is written.
type Pipe = (OwnedFd, OwnedFd);

thread_local! {
    static PIPE: Cell<Option<Pipe>> = const { Cell::new(None) };
}

/// Reads `bytes` at `offset` of `file`. How many there were.
pub(super) fn read(file: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    through_pipe(|(source, sink)| {
        let mut done = 0;
        while done < bytes.len() {
            let moved = splice(file, Some(offset + done as u64), sink, None, bytes.len() - done)?;
            if moved == 0 {
                break;
            }
            let end = done + moved;
            while done < end {
                let got = retry_on_intr(|| rustix::io::read(source, &mut bytes[done..end]))?;
                assert!(got > 0, "the pipe holds what was moved into it");
                done += got;
            }
        }
        Ok(done)
    })
}

/// Writes `bytes` at `offset` of `file`. How many it took.
pub(super) fn write(file: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    through_pipe(|(source, sink)| {
        let mut done = 0;
        while done < bytes.len() {
            let mut held = lend(sink, &bytes[done..])?;
            while held > 0 {
                let moved = splice(source, None, file, Some(offset + done as u64), held)?;
                if moved == 0 {
                    return Err(Errno::IO);
                }
                (done, held) = (done + moved, held - moved);
            }
        }
        Ok(done)
    })
}

/// Moves data through the pipe of this thread, which is kept where that went well.
fn through_pipe(
    move_data: impl FnOnce((BorrowedFd<'_>, BorrowedFd<'_>)) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    use std::os::fd::AsFd;
    let pipe = PIPE.take().map_or_else(open, Ok)?;
    let moved = move_data((pipe.0.as_fd(), pipe.1.as_fd()))?;
    PIPE.set(Some(pipe));
    Ok(moved)
}

fn open() -> Result<Pipe, Errno> {
    let (source, sink) = std::io::pipe().map_err(errno)?;
    Ok((source.into(), sink.into()))
}

/// Moves up to `len` bytes; an offset is one of a file, and the pipe has none.
fn splice(
    from: BorrowedFd<'_>,
    from_at: Option<u64>,
    to: BorrowedFd<'_>,
    to_at: Option<u64>,
    len: usize,
) -> Result<usize, Errno> {
    let [mut from_at, mut to_at] = [from_at, to_at].map(|at| at.map(narrow::<libc::loff_t>));
    let pointer =
        |at: &mut Option<libc::loff_t>| at.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
    retry_on_intr(|| {
        let (from_at, to_at) = (pointer(&mut from_at), pointer(&mut to_at));
        // SAFETY: both descriptors are open for as long as they are borrowed, and each offset is null or our own.
        let moved = unsafe {
            libc::splice(from.as_raw_fd(), from_at, to.as_raw_fd(), to_at, len, libc::SPLICE_F_MORE)
        };
        count(moved)
    })
}

/// Lends pages of `bytes` to the pipe, as many as it has room for. They must not change before they have left it.
fn lend(sink: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    let piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    retry_on_intr(|| {
        // SAFETY: the piece lies within `bytes`, which the kernel only reads, and which outlives its stay in the pipe: the
        // caller empties the pipe, or closes it.
        count(unsafe { libc::vmsplice(sink.as_raw_fd(), &raw const piece, 1, 0) })
    })
}

fn count(answer: libc::ssize_t) -> Result<usize, Errno> {
    answered(answer).map(narrow::<usize>).map_err(errno)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_goes_through_the_pipe_arrives_whole_however_long_it_is() {
        let file = tempfile::tempfile().expect("there is room");
        // Several times what a pipe holds, and not a multiple of a page.
        let bytes: Vec<u8> = (0..300_001_u32).map(|at| (at % 251) as u8).collect();
        assert_eq!(write(file.as_fd(), &bytes, 4097), Ok(bytes.len()));
        let mut back = vec![0; bytes.len() + 10];
        assert_eq!(read(file.as_fd(), &mut back, 4097), Ok(bytes.len()), "to the end of the file");
        assert_eq!(back[..bytes.len()], bytes);
    }

    #[test]
    fn a_request_that_fails_leaves_nothing_in_the_pipe_for_the_next() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let only_read = std::fs::File::open(file.path()).expect("it is there");
        assert!(write(only_read.as_fd(), &[7; 4096], 0).is_err());
        assert_eq!(write(file.as_file().as_fd(), &[9; 4096], 0), Ok(4096));
        let mut back = [0; 4096];
        assert_eq!(read(only_read.as_fd(), &mut back, 0), Ok(4096));
        assert_eq!(back, [9; 4096]);
    }
}
