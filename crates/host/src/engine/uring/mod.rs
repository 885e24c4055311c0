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
mod setup;
#[cfg(test)]
mod tests;

use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{CompletionQueue, IoUring, SubmissionQueue, Submitter};
use units::Bytes;
use workload::spec::{FlushKind, RequestFlags};
use workload::{Completion, Op, Request, Token};

use self::lent::LentPayload;
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
pub struct UringRing {
    // Before the buffers, so that it is closed first.
    ring: IoUring,
    lent: LentPayload,
    clock: Clock,
    files: Arc<OpenFiles>,
    flush: FlushKind,
    depth: u32,
    options: UringOptions,
    flags: RequestFlags,
    priorities: Priorities,
    fixed_buffers: bool,
    details: Vec<String>,
}

/// A ring in use by the thread that made it.
pub struct Uring<'ring> {
    submitter: Submitter<'ring>,
    queue: SubmissionQueue<'ring>,
    completions: CompletionQueue<'ring>,
    clock: &'ring Clock,
    files: Arc<OpenFiles>,
    lent: &'ring mut LentPayload,
    flush: FlushKind,
    options: UringOptions,
    flags: RequestFlags,
    priorities: &'ring mut Priorities,
    fixed_buffers: bool,
    trimmed: Vec<Completion>,
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
        let (ring, mut details) = build(depth, options)?;
        ring.submitter()
            .register_files(&files.raw_fds())
            .map_err(|source| EngineError::System { call: "io_uring_register (files)", source })?;
        let fixed_buffers = register_buffers(&ring, &payload, &mut details);
        let lent = LentPayload::new(payload);
        let ring = UringRing {
            ring,
            lent,
            clock,
            files,
            flush,
            depth,
            options,
            flags: RequestFlags::NONE,
            priorities: Priorities::default(),
            fixed_buffers,
            details,
        };
        if options.iopoll { ring.refuse_without_poll_queues() } else { Ok(ring) }
    }

    /// The same that tells the kernel `flags` of each request, and the priority of those that have one.
    pub fn telling(self, flags: RequestFlags, priorities: Priorities) -> UringRing {
        UringRing { flags, priorities, ..self }
    }

    /// Its flags in words, for the record.
    pub fn details(&self) -> &[String] {
        &self.details
    }

    /// A device without poll queues takes polled requests and fails each of them; better to say so at once.
    fn refuse_without_poll_queues(mut self) -> Result<UringRing, EngineError> {
        let probe = Request { offset: Bytes::ZERO, len: 4096, token: Token(0), file: 0, op: Op::Read };
        let mut outcome = None;
        let mut engine = self.engine()?;
        engine.submit(&[probe])?;
        while outcome.is_none() {
            engine.wait(Wait::For(1), &mut |done| outcome = Some(done.outcome))?;
        }
        drop(engine);
        match outcome.and_then(polling_refused) {
            Some(refusal) => Err(refusal),
            None => Ok(self),
        }
    }

    /// The engine. Only one at a time.
    pub fn engine(&mut self) -> Result<Uring<'_>, EngineError> {
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
            flush: self.flush,
            options: self.options,
            flags: self.flags,
            priorities: &mut self.priorities,
            fixed_buffers: self.fixed_buffers,
            trimmed: Vec::with_capacity(self.depth as usize),
        })
    }
}

impl std::fmt::Debug for UringRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fd = self.ring.as_raw_fd();
        f.debug_struct("UringRing").field("fd", &fd).field("depth", &self.depth).finish_non_exhaustive()
    }
}
