//! How requests reach the kernel.

use super::command::Commands;
use crate::priority::{IoPriority, Priorities, RequestFlags, WriteHint};

/// How requests reach the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// Which.
    pub kind: EngineKind,
    /// At most so many requests are handed over in one call, and stamped with one clock reading.
    pub submit_batch: u32,
    /// A worker that waits for requests to end waits for so many of them, or for all that are in flight.
    pub complete_batch: u32,
    /// A kernel thread submits (io_uring).
    pub sqpoll: bool,
    /// Completions are polled for (io_uring, direct).
    pub iopoll: bool,
    /// Worker i runs on the i-th of these, from the start again at the end; empty means anywhere.
    pub cpus: Vec<u32>,
    /// Buffers and workers stay on this node.
    pub numa_node: Option<u32>,
    /// Buffers lie in huge pages.
    pub huge_pages: bool,
    /// What requests have that no rule gives another; `None` is what the process has.
    pub io_priority: Option<IoPriority>,
    /// Which requests have a priority of their own (io_uring).
    pub request_priority: Priorities,
    /// What the kernel is told of each request.
    pub flags: RequestFlags,
    /// How long written data is said to live; `None` says nothing.
    pub write_hint: Option<WriteHint>,
    /// What a device is sent by an engine that sends commands.
    pub commands: Commands,
}

/// Which way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// pread at depth 1, io_uring where it is allowed, otherwise pread with a thread per request in flight.
    Auto,
    /// io_uring(7).
    IoUring,
    /// pread(2) and pwrite(2).
    Pread,
    /// preadv2(2) and pwritev2(2).
    Preadv2,
    /// Loads and stores on a mapping.
    Mmap,
    /// pread(2) and pwrite(2) of what calls of a few bytes come to in a buffer of 4 KiB, as in C's stdio.
    Stdio,
    /// fallocate(2) in place of data: a write allocates its range and lets the file grow, a read allocates and does not.
    Fallocate,
    /// ftruncate(2) in place of data: a write cuts the file where it would begin.
    Ftruncate,
    /// splice(2) through a pipe, with read(2) or vmsplice(2) at its other end.
    Splice,
    /// pread(2) and pwrite(2), each with its bytes locked for as long as it takes.
    Locked,
    /// SCSI commands past the block layer (`SG_IO`).
    Sg,
    /// NVMe commands past the block layer (`IORING_OP_URING_CMD`).
    Nvme,
    /// Nothing at all: what the tool itself can do.
    Null,
}

impl EngineKind {
    /// Whether requests only change what a file has, and move no data.
    pub fn moves_no_data(self) -> bool {
        matches!(self, EngineKind::Fallocate | EngineKind::Ftruncate)
    }

    /// Whether a device is sent commands, past the block layer and the page cache.
    pub fn sends_commands(self) -> bool {
        matches!(self, EngineKind::Sg | EngineKind::Nvme)
    }
}
