//! io_uring: requests are written into a ring; one system call hands them over and waits for the first that ends.
//!
//! What is submitted is with the kernel after the next call, and each call takes all completions there are: nothing
//! but the plan's batches decides how many requests wait for each other.
//!
//! The kernel writes into buffers until a request has ended, whatever becomes of the ring meanwhile. So they belong to
//! [`LentPayload`], which gives back no memory while anything is in flight.
//!
//! Flags in order of what they bring (ratios of a cached 4 KiB read and of direct reads from a virtio disk):
//! deferred task work halves the processor time of interrupt-driven I/O; a ring without the index array,
//! registered files, buffers and ring descriptor bring a few per cent each. An older kernel gets those it knows.

mod engine;
mod entry;
mod lent;
mod nvme;
mod setup;
#[cfg(test)]
mod tests;

use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter};
use units::Bytes;
use units::convert::narrow;
use workload::spec::{FlushKind, RequestFlags};
use workload::{Completion, Op, Outcome, Request, Token};

use self::entry::Asks;
pub use self::entry::Calls;
use self::lent::LentPayload;
pub use self::nvme::NvmeCommands;
use self::setup::{build, polling_refused, register_buffers};
use super::priorities::Priorities;
use super::{Engine, EngineError, OpenFiles, Payload, Wait};
use crate::clock::Clock;

/// What is asked of a ring beyond the usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// A kernel thread takes requests.
    pub sqpoll: bool,
    /// Completions are polled for.
    pub iopoll: bool,
}

/// A ring with everything registered, not yet in use.
pub struct UringRing<A: Asks = Calls> {
    // Before the buffers, so that it is closed first.
    ring: IoUring<A::Entry, A::Ended>,
    lent: LentPayload,
    clock: Clock,
    files: Arc<OpenFiles>,
    asks: A,
    depth: u32,
    options: UringOptions,
    fixed_buffers: bool,
    details: Vec<String>,
}

/// A ring in use by the thread that made it.
pub struct Uring<'ring, A: Asks = Calls> {
    submitter: Submitter<'ring>,
    queue: SubmissionQueue<'ring, A::Entry>,
    completions: CompletionQueue<'ring, A::Ended>,
    clock: &'ring Clock,
    files: Arc<OpenFiles>,
    lent: &'ring mut LentPayload,
    asks: &'ring mut A,
    options: UringOptions,
    fixed_buffers: bool,
    apart: Vec<Completion>,
}

impl UringRing {
    /// A ring for one worker of `depth`. Call on the thread that will use it.
    pub fn new(
        clock: Clock,
        files: Arc<OpenFiles>,
        payload: Payload,
        flush: FlushKind,
        depth: u32,
        options: UringOptions,
    ) -> Result<UringRing, EngineError> {
        let asks = Calls { flush, flags: RequestFlags::NONE, priorities: Priorities::default() };
        let ring = UringRing::asking(asks, clock, files, payload, depth, options)?;
        if options.iopoll { ring.refuse_without_poll_queues() } else { Ok(ring) }
    }

    /// The same that tells the kernel `flags` of each request, and the priority of those that have one.
    pub fn telling(self, flags: RequestFlags, priorities: Priorities) -> UringRing {
        UringRing { asks: Calls { flags, priorities, ..self.asks }, ..self }
    }

    /// A device without poll queues takes polled requests and fails each of them; better to say so at once.
    fn refuse_without_poll_queues(mut self) -> Result<UringRing, EngineError> {
        match polling_refused(self.probe()?) {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }
}

impl<A: Asks> UringRing<A> {
    /// A ring with entries of that kind.
    fn asking(
        asks: A,
        clock: Clock,
        files: Arc<OpenFiles>,
        payload: Payload,
        depth: u32,
        options: UringOptions,
    ) -> Result<UringRing<A>, EngineError> {
        assert_eq!(depth as usize, payload.depth(), "each slot must have its buffers");
        let (ring, mut details) = build(depth, options)?;
        ring.submitter()
            .register_files(&files.raw_fds())
            .map_err(|source| EngineError::System { call: "io_uring_register (files)", source })?;
        let fixed_buffers = register_buffers(&ring, &payload, &mut details);
        let lent = LentPayload::new(payload);
        Ok(UringRing { ring, lent, clock, files, asks, depth, options, fixed_buffers, details })
    }

    /// How a read of the first block or blocks ends.
    fn probe(&mut self) -> Result<Outcome, EngineError> {
        let block = self.files.0[0].addressing.map(|addressing| addressing.block);
        let len = probe_len(block, self.lent.payload.largest());
        let probe = Request { offset: Bytes::ZERO, len, token: Token(0), file: 0, op: Op::Read };
        let mut outcome = None;
        let mut engine = self.engine()?;
        engine.submit(&[probe])?;
        loop {
            engine.wait(Wait::For(1), &mut |done| outcome = Some(done.outcome))?;
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
        }
    }

    /// Its flags in words, for the record.
    pub fn details(&self) -> &[String] {
        &self.details
    }

    /// The engine. Only one at a time.
    pub fn engine(&mut self) -> Result<Uring<'_, A>, EngineError> {
        assert_eq!(self.lent.in_flight, 0, "no engine before this one may have left requests in flight");
        let (mut submitter, queue, completions) = self.ring.split();
        // Saves a descriptor look-up at each system call; kernels before 5.18 do not have it, which is no loss.
        let _optional = submitter.register_ring_fd();
        Ok(Uring {
            submitter,
            queue,
            completions,
            clock: &self.clock,
            files: self.files.clone(),
            lent: &mut self.lent,
            asks: &mut self.asks,
            options: self.options,
            fixed_buffers: self.fixed_buffers,
            apart: Vec::with_capacity(self.depth as usize),
        })
    }
}

/// How many bytes a ring is tried with: a page, or a block where that is larger, as far as buffers have room for it.
fn probe_len(block: Option<Bytes>, largest: u32) -> u32 {
    let wanted = block.unwrap_or(Bytes::ZERO).max(Bytes::new(4096));
    narrow::<u32>(wanted.get().min(largest.into()))
}

impl<A: Asks> std::fmt::Debug for UringRing<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fd = self.ring.as_raw_fd();
        f.debug_struct("UringRing").field("fd", &fd).field("depth", &self.depth).finish_non_exhaustive()
    }
}
