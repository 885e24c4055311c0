//! One system call for each request: pread and pwrite, or preadv2 and pwritev2.

use std::cell::Cell;
use std::io::{IoSlice, IoSliceMut};
use std::sync::Arc;

use rustix::fs::FallocateFlags;
use rustix::io::{ReadWriteFlags, retry_on_intr};
use units::Share;
use workload::spec::{Commands, FlushKind, RequestFlags};
use workload::{Op, Outcome, Request};

use super::trim::trim;
use super::{AtOnce, Carrier, EngineError, OpenFiles, Payload, outcome};
use crate::clock::Clock;

/// Which pair of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// pread(2), pwrite(2).
    Pread,
    /// preadv2(2), pwritev2(2), with flags.
    Preadv2(RequestFlags),
    /// fallocate(2); a read keeps the size of the file.
    Fallocate,
    /// ftruncate(2) to where a write begins.
    Ftruncate,
    /// splice(2) through a pipe.
    Splice,
    /// pread(2), pwrite(2), each with its bytes locked.
    Locked,
    /// SCSI commands, SG_IO ioctl(2).
    Scsi(Commands),
}

/// One call for each request; [`super::ThreadPool`] has several at a time.
#[derive(Debug)]
pub struct Sync {
    call: Call,
    flush: FlushKind,
    files: Arc<OpenFiles>,
}

impl Sync {
    /// For one worker of depth 1.
    pub fn new(
        clock: Clock,
        call: Call,
        flush: FlushKind,
        files: Arc<OpenFiles>,
        payload: Payload,
    ) -> AtOnce<Sync> {
        AtOnce::new(clock, payload, Sync { call, flush, files })
    }
}

impl Carrier for Sync {
    fn execute(&mut self, request: &Request, bytes: &mut [u8]) -> Outcome {
        execute(self.call, self.flush, &self.files, request, bytes)
    }

    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        assert_eq!(files.0.len(), self.files.0.len(), "they must be the same files");
        self.files = files;
        Ok(())
    }
}

/// Flags of a request of that kind for preadv2(2), pwritev2(2) and io_uring. `RWF_ATOMIC` goes with writes alone: only they
/// can be torn.
///
/// Source: include/uapi/linux/fs.h, `RWF_NOWAIT`, `RWF_ATOMIC` and `RWF_DONTCACHE`.
pub(super) fn flag_bits(flags: RequestFlags, op: Op) -> u32 {
    const NOWAIT: u32 = 0x8;
    const ATOMIC: u32 = 0x40;
    const DONTCACHE: u32 = 0x80;
    let when = |on: bool, bit: u32| if on { bit } else { 0 };
    when(flags.nowait, NOWAIT)
        | when(flags.atomic && op == Op::Write, ATOMIC)
        | when(flags.uncached, DONTCACHE)
}

/// `RWF_HIPRI` for that part of the calls of this thread, evenly spread: the multiples of the golden ratio fall anywhere
/// alike, and into step with no pattern of requests.
fn polled_bit(part: Share) -> u32 {
    const HIPRI: u32 = 0x1;
    const STEP: u32 = 0x9e37_79b9;
    thread_local!(static AT: Cell<u32> = const { Cell::new(0) });
    if part == Share::NONE {
        return 0;
    }
    let at = AT.with(|at| at.replace(at.get().wrapping_add(STEP)));
    if f64::from(at) < part.get() * f64::from(u32::MAX) + 1.0 { HIPRI } else { 0 }
}

/// One request from start to end. A call that a signal interrupted is made again.
pub(super) fn execute(
    call: Call,
    flush: FlushKind,
    files: &OpenFiles,
    request: &Request,
    bytes: &mut [u8],
) -> Outcome {
    let (fd, offset) = (files.fd(request.file), request.offset.get());
    let flags = |told: RequestFlags| {
        ReadWriteFlags::from_bits_retain(flag_bits(told, request.op) | polled_bit(told.polled))
    };
    let moved = match (request.op, call) {
        (_, Call::Scsi(commands)) => {
            return super::scsi::execute(&files.0[usize::from(request.file)], commands, request, bytes);
        }
        (Op::Read, Call::Pread) => retry_on_intr(|| rustix::io::pread(fd, &mut *bytes, offset)),
        (Op::Write, Call::Pread) => retry_on_intr(|| rustix::io::pwrite(fd, bytes, offset)),
        (Op::Read, Call::Preadv2(told)) => retry_on_intr(|| {
            rustix::io::preadv2(fd, &mut [IoSliceMut::new(&mut *bytes)], offset, flags(told))
        }),
        (Op::Write, Call::Preadv2(told)) => {
            retry_on_intr(|| rustix::io::pwritev2(fd, &[IoSlice::new(bytes)], offset, flags(told)))
        }
        (Op::Read | Op::Write, Call::Fallocate) => {
            let keeps = request.op == Op::Read;
            let flags = if keeps { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
            let len = request.len;
            retry_on_intr(|| rustix::fs::fallocate(fd, flags, offset, len.into()).map(|()| len as usize))
        }
        (Op::Write, Call::Ftruncate) => {
            retry_on_intr(|| rustix::fs::ftruncate(fd, offset).map(|()| request.len as usize))
        }
        (Op::Read, Call::Splice) => super::splice::read(fd, bytes, offset),
        (Op::Write, Call::Splice) => super::splice::write(fd, bytes, offset),
        (Op::Read, Call::Locked) => super::locked::read(fd, bytes, offset),
        (Op::Write, Call::Locked) => super::locked::write(fd, bytes, offset),
        (Op::Read, Call::Ftruncate) => Err(rustix::io::Errno::INVAL),
        (Op::Trim, _) => return trim(&files.0[usize::from(request.file)], request),
        (Op::Flush, _) => retry_on_intr(|| super::flush(flush, fd).map(|()| 0)),
    };
    debug_assert!(
        moved.is_err() || moved.is_ok_and(|moved| moved <= request.len as usize),
        "no more can be moved than the request has"
    );
    outcome(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{full_of, open, payload, request};
    use crate::engine::{Engine, HasPayload, Wait};

    #[test]
    fn a_file_is_allocated_and_cut_without_data() {
        use std::os::unix::fs::MetadataExt;
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let ask = |call, op, offset: u64| {
            let mut engine = Sync::new(Clock::start(), call, FlushKind::Fsync, open(&file), payload(1, 0.5));
            let asked = Request { offset: units::Bytes::new(offset), ..request(op, 0) };
            engine.submit(&[asked]).expect("nothing can fail");
            let mut ended = Vec::new();
            engine.wait(Wait::For(1), &mut |done| ended.push(done.outcome)).expect("nothing can fail");
            let seen = file.as_file().metadata().expect("it is there");
            (ended[0], seen.len(), seen.blocks() * 512)
        };
        let moved = Outcome::moved(4096);
        assert_eq!(ask(Call::Fallocate, Op::Write, 8192), (moved, 12_288, 4096));
        assert_eq!(ask(Call::Fallocate, Op::Read, 16_384), (moved, 12_288, 8192));
        assert_eq!(ask(Call::Ftruncate, Op::Write, 4096).1, 4096);
        assert_eq!(ask(Call::Ftruncate, Op::Write, 40_960).1, 40_960);
        assert_ne!(ask(Call::Ftruncate, Op::Read, 0).0, moved);
    }

    #[test]
    fn a_write_is_told_what_a_read_need_not_be() {
        let flags = RequestFlags { atomic: true, nowait: true, ..RequestFlags::NONE };
        assert_eq!((flag_bits(flags, Op::Write), flag_bits(flags, Op::Read)), (0x48, 0x8));
        assert_eq!(flag_bits(RequestFlags::NONE, Op::Write), 0);
    }

    #[test]
    fn as_many_requests_are_polled_for_as_are_asked() {
        for percent in [0, 1, 30, 50, 100u32] {
            let part = Share::new(f64::from(percent) / 100.0).expect("it is a part");
            let polled: u32 = (0..10_000).map(|_| polled_bit(part)).sum();
            assert!(polled.abs_diff(percent * 100) <= 10, "{polled} of {percent} %");
        }
    }

    #[test]
    fn what_is_opened_anew_is_what_is_read_from_then_on() {
        let (one, other) = (full_of(1), full_of(2));
        for call in [Call::Pread, Call::Preadv2(RequestFlags::NONE)] {
            let mut engine = Sync::new(Clock::start(), call, FlushKind::Fsync, open(&one), payload(1, 1.0));
            let read = |engine: &mut AtOnce<Sync>| {
                engine.submit(&[request(Op::Read, 0)]).expect("nothing can fail");
                engine.wait(Wait::For(1), &mut |_| ()).expect("nothing can fail");
                engine.payload().bytes(&request(Op::Read, 0))[4095]
            };
            assert_eq!(read(&mut engine), 1);
            engine.reopen(open(&other)).expect("it keeps none open");
            assert_eq!(read(&mut engine), 2);
        }
    }
}
