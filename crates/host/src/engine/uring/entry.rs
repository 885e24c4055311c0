//! Entries of the submission queue, and what the kernel answers to them.

use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};
use rustix::fs::FallocateFlags;
use units::convert::narrow;
use workload::spec::{FlushKind, RequestFlags};
use workload::{Op, Outcome, Request, Token};

use crate::engine::priorities::Priorities;
use crate::engine::sync::flag_bits;
use crate::engine::trim::trim;
use crate::engine::{OpenFile, Payload};

/// Makes the entries of a ring, and says how they ended.
pub trait Asks {
    /// What is submitted.
    type Entry: squeue::EntryMarker;
    /// What comes back.
    type Ended: cqueue::EntryMarker;

    /// The entry of `request`, whose data are in `payload`: in a registered buffer if `is_fixed`.
    fn entry(&mut self, request: &Request, open: &OpenFile, payload: &Payload, is_fixed: bool)
    -> Self::Entry;

    /// How a request of `len` bytes ended that gave `result`.
    fn outcome(result: i32, is_trim: bool, len: u32) -> Outcome;

    /// Whether a ring has no entry for `request`.
    fn is_apart(request: &Request, open: &OpenFile) -> bool;

    /// Carries out what is apart.
    fn execute(request: &Request, open: &OpenFile) -> Outcome;
}

/// Reads, writes and flushes of files and block devices.
#[derive(Debug)]
pub struct Calls {
    pub(super) flush: FlushKind,
    pub(super) flags: RequestFlags,
    pub(super) priorities: Priorities,
}

impl Asks for Calls {
    type Entry = squeue::Entry;
    type Ended = cqueue::Entry;

    #[inline]
    fn entry(&mut self, request: &Request, _: &OpenFile, payload: &Payload, is_fixed: bool) -> squeue::Entry {
        let flags = narrow::<i32>(flag_bits(self.flags, request.op));
        let priority = self.priorities.of(request);
        let file = Fixed(u32::from(request.file));
        let offset = request.offset.get();
        // Of a registered buffer the number comes last.
        macro_rules! moving {
            ($entry:ident $(, $buffer:literal)?) => {
                opcode::$entry::new(file, payload.address(request), request.len $(, $buffer)?)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            };
        }
        match request.op {
            Op::Read if is_fixed => moving!(ReadFixed, 0),
            Op::Write if is_fixed => moving!(WriteFixed, 0),
            Op::Read => moving!(Read),
            Op::Write => moving!(Write),
            Op::Flush if self.flush == FlushKind::SyncFileRange => {
                opcode::SyncFileRange::new(file, 0).flags(libc::SYNC_FILE_RANGE_WRITE).build()
            }
            Op::Flush => opcode::Fsync::new(file).flags(fsync_flags(self.flush)).build(),
            Op::Trim => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(request.len))
                    .offset(offset)
                    .mode(narrow::<i32>(mode.bits()))
                    .build()
            }
        }
    }

    #[inline]
    fn outcome(result: i32, is_trim: bool, len: u32) -> Outcome {
        match result {
            // fallocate gives 0 for the whole range.
            0 if is_trim => Outcome::moved(len),
            result => Outcome::from_raw(result),
        }
    }

    /// A ring of this age has no request that trims a block device.
    #[inline]
    fn is_apart(request: &Request, open: &OpenFile) -> bool {
        request.op == Op::Trim && open.is_block_device
    }

    fn execute(request: &Request, open: &OpenFile) -> Outcome {
        trim(open, request)
    }
}

pub(super) fn fsync_flags(kind: FlushKind) -> FsyncFlags {
    match kind {
        FlushKind::Fsync | FlushKind::SyncFileRange => FsyncFlags::empty(),
        FlushKind::Fdatasync => FsyncFlags::DATASYNC,
    }
}

/// What must be known of a request when it ends, in the 64 bits that the kernel gives back.
#[inline]
pub(super) fn user_data(request: &Request) -> u64 {
    debug_assert!(request.token.0 <= 0x3FFF_FFFF, "a slot must have no more than 30 bits");
    let slot = u64::from(request.token.0) & 0x3FFF_FFFF;
    slot | (u64::from(request.op == Op::Write) << 30)
        | (u64::from(request.op == Op::Trim) << 31)
        | (u64::from(request.len) << 32)
}

#[inline]
pub(super) fn parts(data: u64) -> (Token, bool, bool, u32) {
    (Token(narrow(data & 0x3FFF_FFFF)), data & (1 << 30) != 0, data & (1 << 31) != 0, (data >> 32) as u32)
}
