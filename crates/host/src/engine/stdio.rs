//! Calls gathered in user space, as the standard I/O library of C gathers them.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::io::{Errno as OsErrno, retry_on_intr};
use units::convert::narrow;
use workload::spec::FlushKind;
use workload::{Op, Outcome, Request};

use super::trim::trim;
use super::{AtOnce, Carrier, OpenFiles, Payload, outcome};
use crate::clock::Clock;
use crate::errno;

/// What is gathered of each file: the block of a common file system, which is what glibc takes for its buffers.
pub const BUFFER: usize = 4096;

/// One buffer for each file. The kernel is called when it is full, or holds nothing of what is asked; requests of
/// `BUFFER` bytes and more go past it.
///
/// **Invariant:** what was written and not yet handed to the kernel lies in one buffer, and is handed over before
/// anything else is done to that file. What is left at the end is handed over when the engine is dropped, after the
/// measured time, unless a flush came before.
#[derive(Debug)]
pub struct Stdio {
    flush: FlushKind,
    files: Arc<OpenFiles>,
    streams: Vec<Stream>,
}

/// A buffer and which part of its file it holds.
#[derive(Debug)]
struct Stream {
    buffer: Box<[u8]>,
    start: u64,
    len: usize,
    /// Written by the user and not yet by the kernel.
    dirty: bool,
}

impl Stdio {
    /// For one worker of depth 1.
    pub fn new(clock: Clock, flush: FlushKind, files: Arc<OpenFiles>, payload: Payload) -> AtOnce<Stdio> {
        let streams = files.0.iter().map(|_| Stream::empty()).collect();
        AtOnce::new(clock, payload, Stdio { flush, files, streams })
    }
}

impl Carrier for Stdio {
    fn execute(&mut self, request: &Request, bytes: &mut [u8]) -> Outcome {
        let number = usize::from(request.file);
        let (file, stream) = (&self.files.0[number].file, &mut self.streams[number]);
        let offset = request.offset.get();
        let moved = match request.op {
            Op::Read => stream.read(file, offset, bytes),
            Op::Write => stream.write(file, offset, bytes),
            Op::Trim => match stream.hand_over(file) {
                Ok(()) => {
                    stream.len = 0;
                    return trim(&self.files.0[number], request);
                }
                Err(errno) => Err(errno),
            },
            Op::Flush => {
                stream.hand_over(file).and_then(|()| super::flush(self.flush, file.as_fd()).map(|()| 0))
            }
        };
        outcome(moved)
    }
}

impl Stream {
    fn empty() -> Stream {
        Stream { buffer: vec![0; BUFFER].into_boxed_slice(), start: 0, len: 0, dirty: false }
    }

    fn read(&mut self, file: &File, offset: u64, bytes: &mut [u8]) -> Result<usize, OsErrno> {
        self.hand_over(file)?;
        debug_assert!(!self.dirty, "what was written is handed over before anything is read");
        let mut done = 0;
        while done < bytes.len() {
            let (at, left) = (offset + done as u64, &mut bytes[done..]);
            let held = at.checked_sub(self.start).filter(|from| *from < self.len as u64);
            done += match held {
                Some(from) => {
                    let held = &self.buffer[narrow::<usize>(from)..self.len];
                    let count = held.len().min(left.len());
                    left[..count].copy_from_slice(&held[..count]);
                    count
                }
                None if left.len() >= BUFFER => {
                    match retry_on_intr(|| rustix::io::pread(file, &mut *left, at))? {
                        0 => return Ok(done),
                        moved => moved,
                    }
                }
                None => {
                    self.len = 0;
                    (self.start, self.len) =
                        (at, retry_on_intr(|| rustix::io::pread(file, &mut *self.buffer, at))?);
                    match self.len {
                        0 => return Ok(done),
                        _ => 0,
                    }
                }
            };
        }
        Ok(done)
    }

    fn write(&mut self, file: &File, offset: u64, bytes: &[u8]) -> Result<usize, OsErrno> {
        let follows = self.dirty && offset == self.start + self.len as u64;
        if !follows {
            self.hand_over(file)?;
            (self.start, self.len) = (offset, 0);
        }
        let mut done = 0;
        while done < bytes.len() {
            let left = &bytes[done..];
            if self.len == 0 && left.len() >= BUFFER {
                return write_all(file, self.start, left).map(|()| bytes.len());
            }
            let count = left.len().min(BUFFER - self.len);
            self.buffer[self.len..self.len + count].copy_from_slice(&left[..count]);
            self.len += count;
            debug_assert!(self.len <= BUFFER, "no more is gathered than a buffer holds");
            self.dirty = true;
            done += count;
            if self.len == BUFFER {
                let end = self.start + self.len as u64;
                self.hand_over(file)?;
                (self.start, self.len) = (end, 0);
            }
        }
        Ok(done)
    }

    /// Gives the kernel what it has not seen. What it does not take is lost, as with stdio: the request that notices
    /// fails.
    fn hand_over(&mut self, file: &File) -> Result<(), OsErrno> {
        debug_assert!(!self.dirty || self.len > 0, "what was written must lie in the buffer");
        if !std::mem::take(&mut self.dirty) {
            return Ok(());
        }
        let len = std::mem::take(&mut self.len);
        write_all(file, self.start, &self.buffer[..len])
    }
}

/// Writes all of `bytes`, by as many calls as it takes; a file that takes nothing more is broken.
fn write_all(file: &File, offset: u64, bytes: &[u8]) -> Result<(), OsErrno> {
    file.write_all_at(bytes, offset).map_err(errno)
}

impl Drop for Stdio {
    fn drop(&mut self) {
        for (stream, open) in self.streams.iter_mut().zip(&self.files.0) {
            // As in a program that does not look at what fclose returns.
            let _unseen = stream.hand_over(&open.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek};

    use units::Bytes;

    use super::*;
    use crate::engine::Engine;
    use crate::engine::fixture::{full_of, open, payload, request};

    fn length(file: &File) -> usize {
        narrow::<usize>(file.metadata().unwrap().len())
    }

    #[test]
    fn single_characters_reach_the_kernel_a_buffer_at_a_time() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = Stream::empty();
        for at in 0..3 * BUFFER + 5 {
            assert_eq!(stream.write(&file, at as u64, &[narrow::<u8>(at % 256)]), Ok(1));
            assert_eq!(length(&file), (at + 1) / BUFFER * BUFFER, "after character {at}");
        }
        stream.hand_over(&file).unwrap();
        let mut written = Vec::new();
        (&file).rewind().unwrap();
        (&file).read_to_end(&mut written).unwrap();
        let expected: Vec<u8> = (0..3 * BUFFER + 5).map(|at| narrow::<u8>(at % 256)).collect();
        assert_eq!(written, expected);

        // What is in the buffer is not read again: it is served although the file has lost it.
        let mut one = [0];
        assert_eq!(stream.read(&file, 0, &mut one), Ok(1));
        file.set_len(0).unwrap();
        for at in 1..BUFFER {
            assert_eq!((stream.read(&file, at as u64, &mut one), one), (Ok(1), [narrow::<u8>(at % 256)]));
        }
        assert_eq!(stream.read(&file, BUFFER as u64, &mut one), Ok(0));
    }

    #[test]
    fn what_does_not_follow_is_handed_over_first_and_what_follows_is_gathered() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = Stream::empty();
        assert_eq!(stream.write(&file, 10, b"abc"), Ok(3));
        assert_eq!((stream.start, stream.len, stream.dirty, length(&file)), (10, 3, true, 0));
        assert_eq!(stream.write(&file, 13, b"def"), Ok(3));
        assert_eq!((stream.start, stream.len, length(&file)), (10, 6, 0));
        assert_eq!(stream.write(&file, 20, b"x"), Ok(1));
        assert_eq!((stream.start, stream.len, length(&file)), (20, 1, 16));
        stream.hand_over(&file).unwrap();
        assert_eq!((stream.len, stream.dirty, length(&file)), (0, false, 21));
        stream.hand_over(&file).unwrap();
        assert_eq!(length(&file), 21);
    }

    #[test]
    fn what_fills_the_buffer_goes_on_behind_it_and_a_buffer_and_more_goes_past_it() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = Stream::empty();
        let first = vec![1; BUFFER - 2];
        stream.write(&file, 5, &first).unwrap();
        assert_eq!(length(&file), 0);
        // Two bytes fill it, and the third is the first of the next.
        assert_eq!(stream.write(&file, 5 + BUFFER as u64 - 2, &[2; 3]), Ok(3));
        assert_eq!((length(&file), stream.start, stream.len), (5 + BUFFER, 5 + BUFFER as u64, 1));
        stream.hand_over(&file).unwrap();
        assert_eq!(stream.write(&file, 0, &vec![3; BUFFER]), Ok(BUFFER));
        assert_eq!((stream.len, stream.dirty, length(&file)), (0, false, 6 + BUFFER));
        let mut found = vec![0; 6 + BUFFER];
        file.read_exact_at(&mut found, 0).unwrap();
        assert!(found[..BUFFER].iter().all(|byte| *byte == 3));
        assert_eq!(found[BUFFER..], [1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_large_write_that_follows_what_is_gathered_does_not_overtake_it() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = Stream::empty();
        stream.write(&file, 0, b"abc").unwrap();
        let large: Vec<u8> = (0..2 * BUFFER).map(|at| narrow::<u8>(at % 251)).collect();
        assert_eq!(stream.write(&file, 3, &large), Ok(large.len()));
        stream.hand_over(&file).unwrap();
        let mut found = vec![0; 3 + large.len()];
        file.read_exact_at(&mut found, 0).unwrap();
        assert_eq!((&found[..3], &found[3..]), (&b"abc"[..], &large[..]));
    }

    #[test]
    fn a_large_read_goes_past_the_buffer_and_leaves_what_that_holds() {
        let file = full_of(5);
        let (file, mut stream) = (file.as_file(), Stream::empty());
        let mut bytes = vec![0; 2 * BUFFER];
        assert_eq!(stream.read(file, 10, &mut bytes[..1]), Ok(1));
        for len in [BUFFER, 2 * BUFFER] {
            assert_eq!(stream.read(file, 65_536, &mut bytes[..len]), Ok(len));
            assert_eq!((stream.start, stream.len), (10, BUFFER));
        }
    }

    #[test]
    fn what_is_left_in_the_buffer_reaches_the_file_when_the_engine_goes() {
        let file = full_of(0);
        let mut engine = Stdio::new(Clock::start(), FlushKind::Fsync, open(&file), payload(1, 0.5));
        let write = Request { offset: Bytes::new(512), len: 100, ..request(Op::Write, 0) };
        engine.submit(&[write]).unwrap();
        let written = || std::fs::read(file.path()).unwrap().iter().filter(|byte| **byte != 0).count();
        assert_eq!(written(), 0, "it is gathered");
        assert!(engine.reopen(open(&file)).is_err(), "the buffer is that of the first");
        drop(engine);
        assert!((80..=100).contains(&written()), "{} bytes are no zeros", written());
    }

    #[test]
    fn a_read_past_the_end_is_as_long_as_there_is_and_a_failure_is_told() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![4; BUFFER + 10], 0).unwrap();
        let mut stream = Stream::empty();
        let mut bytes = vec![0; 3 * BUFFER];
        assert_eq!(stream.read(&file, 0, &mut bytes), Ok(BUFFER + 10));
        assert_eq!(stream.read(&file, BUFFER as u64 + 5, &mut bytes[..100]), Ok(5));
        // What the buffer holds is served up to its end, and the rest is read.
        assert_eq!(stream.read(&file, 10, &mut bytes[..7]), Ok(7));
        assert_eq!((stream.start, stream.len), (10, BUFFER));
        assert_eq!(stream.read(&file, BUFFER as u64, &mut bytes[..100]), Ok(10));
        assert_eq!(stream.read(&file, 2 * BUFFER as u64, &mut bytes[..1]), Ok(0));
        let named = tempfile::NamedTempFile::new().unwrap();
        let read_only = File::open(named.path()).unwrap();
        assert_eq!(write_all(&read_only, 0, b"x"), Err(OsErrno::BADF));
        assert_eq!(stream.write(&read_only, 0, &vec![1; BUFFER]), Err(OsErrno::BADF));
    }

    #[test]
    fn what_was_written_is_seen_by_a_read_and_by_large_requests() {
        let file = tempfile::tempfile().unwrap();
        let mut stream = Stream::empty();
        stream.write(&file, 0, b"abc").unwrap();
        stream.write(&file, 100, b"xyz").unwrap();
        let mut three = [0; 3];
        assert_eq!((stream.read(&file, 0, &mut three), &three), (Ok(3), b"abc"));
        assert_eq!((stream.read(&file, 100, &mut three), &three), (Ok(3), b"xyz"));
        let large = vec![9; 3 * BUFFER];
        stream.write(&file, 101, &large).unwrap();
        assert_eq!(length(&file), 101 + large.len());
        let mut back = vec![0; 2 * BUFFER + 1];
        assert_eq!(stream.read(&file, 100, &mut back), Ok(back.len()));
        assert_eq!((back[0], &back[1..]), (b'x', &large[..2 * BUFFER]));
    }
}
