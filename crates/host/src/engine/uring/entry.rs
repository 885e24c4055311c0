//! An entry of the submission queue, and what the kernel gives back of it.

use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{opcode, squeue};
use rustix::fs::FallocateFlags;
use units::convert::narrow;
use workload::spec::FlushKind;
use workload::{Op, Request, Token};

use super::Uring;
use crate::engine::sync::flag_bits;

impl Uring<'_> {
    #[inline]
    pub(super) fn entry(&mut self, request: &Request) -> squeue::Entry {
        let flags = narrow::<i32>(flag_bits(self.flags, request.op));
        let priority = self.priorities.of(request);
        let file = Fixed(u32::from(request.file));
        let offset = request.offset.get();
        let entry = match request.op {
            Op::Read if self.fixed_buffers => {
                opcode::ReadFixed::new(file, self.lent.payload.address(request), request.len, 0)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            Op::Write if self.fixed_buffers => {
                opcode::WriteFixed::new(file, self.lent.payload.address(request), request.len, 0)
                    .offset(offset)
                    .rw_flags(flags)
                    .ioprio(priority)
                    .build()
            }
            Op::Read => opcode::Read::new(file, self.lent.payload.address(request), request.len)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(priority)
                .build(),
            Op::Write => opcode::Write::new(file, self.lent.payload.address(request), request.len)
                .offset(offset)
                .rw_flags(flags)
                .ioprio(priority)
                .build(),
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
        };
        entry.user_data(user_data(request))
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
