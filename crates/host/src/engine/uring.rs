//! io_uring: requests are written into a ring, handed over and reaped in batches, one system call for both.
//!
//! Flags in order of what they bring (ratios of a cached 4 KiB read and of direct reads from a virtio disk):
//! deferred task work halves the processor time of interrupt-driven I/O; a ring without the index array,
//! registered files, buffers and ring descriptor bring a few per cent each. An older kernel gets those it knows.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, opcode, squeue};
use rustix::fs::FallocateFlags;
use units::{Bytes, Instant, Nanos};
use workload::spec::FlushKind;
use workload::{Completion, Op, Outcome, Request, Token};

use super::trim::trim;
use super::{Engine, EngineError, HasPayload, OpenFiles, Payload, Wait};
use crate::clock::Clock;

/// The kernel registers at most 1 GiB as one buffer (io_uring_register(2)).
const REGISTERED_MAX: Bytes = Bytes::GIB;

/// How long an idle SQPOLL thread spins before it sleeps.
const SQPOLL_IDLE_MS: u32 = 1000;

/// What is asked of a ring beyond the usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UringOptions {
    /// A kernel thread takes requests.
    pub sqpoll: bool,
    /// Completions are polled for.
    pub iopoll: bool,
    /// Requests bypass the page cache, so that none ends while it is handed over.
    pub direct: bool,
}

/// A ring with everything registered, not yet in use.
pub struct UringRing {
    ring: IoUring,
    clock: Clock,
    files: Arc<OpenFiles>,
    payload: Payload,
    flush: FlushKind,
    depth: u32,
    options: UringOptions,
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
    payload: &'ring mut Payload,
    flush: FlushKind,
    options: UringOptions,
    fixed_buffers: bool,
    in_flight: u32,
    trimmed: Vec<(Token, Outcome)>,
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
        let ring = UringRing { ring, clock, files, payload, flush, depth, options, fixed_buffers, details };
        if options.iopoll { ring.refuse_without_poll_queues() } else { Ok(ring) }
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
            engine.wait(Wait::Completion, &mut |done| outcome = Some(done.outcome))?;
        }
        drop(engine);
        match outcome.map(Outcome::result) {
            Some(Err(errno)) => Err(EngineError::Feature {
                feature: "IOPOLL",
                remedy: "the device has no poll queues (nvme: load with poll_queues=N) or the file is not \
                         opened direct; leave `iopoll` off",
                source: io::Error::from_raw_os_error(errno.0),
            }),
            _ => Ok(self),
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
            payload: &mut self.payload,
            flush: self.flush,
            options: self.options,
            fixed_buffers: self.fixed_buffers,
            in_flight: 0,
            trimmed: Vec::with_capacity(self.depth as usize),
        })
    }
}

/// Tries the best set of flags first and drops what an older kernel does not know.
fn build(depth: u32, options: UringOptions) -> Result<(IoUring, Vec<String>), EngineError> {
    let entries = depth.next_power_of_two();
    let levels: &[&[&str]] = if options.sqpoll {
        &[&["single issuer", "no index array"], &[]]
    } else {
        &[
            &["single issuer", "deferred task work", "no index array"],
            &["single issuer", "deferred task work"],
            &["cooperative task work"],
            &[],
        ]
    };
    let mut refused = None;
    for level in levels {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(entries * 2).setup_clamp();
        for flag in *level {
            match *flag {
                "single issuer" => builder.setup_single_issuer(),
                "deferred task work" => builder.setup_defer_taskrun(),
                "no index array" => builder.setup_no_sqarray(),
                _ => builder.setup_coop_taskrun(),
            };
        }
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
        if options.iopoll {
            builder.setup_iopoll();
        }
        match builder.build(entries) {
            Ok(ring) => {
                let mut details: Vec<String> = level.iter().map(|flag| (*flag).into()).collect();
                details.extend(options.sqpoll.then(|| "SQPOLL".into()));
                details.extend(options.iopoll.then(|| "IOPOLL".into()));
                return Ok((ring, details));
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = Some(error),
            Err(source) => return Err(refusal(options, source)),
        }
    }
    Err(refusal(options, refused.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))))
}

fn refusal(options: UringOptions, source: io::Error) -> EngineError {
    match options {
        UringOptions { sqpoll: true, .. } => EngineError::Feature {
            feature: "SQPOLL",
            remedy: "it needs CAP_SYS_NICE before Linux 5.11; leave `sqpoll` off",
            source,
        },
        UringOptions { iopoll: true, .. } => {
            EngineError::Feature { feature: "IOPOLL", remedy: "leave `iopoll` off", source }
        }
        _ => EngineError::System { call: "io_uring_setup", source },
    }
}

/// Pins the payload in the kernel. Not essential: without it each request pins its own pages.
fn register_buffers(ring: &IoUring, payload: &Payload, details: &mut Vec<String>) -> bool {
    if payload.size() > REGISTERED_MAX {
        details.push("buffers not registered: above 1 GiB".into());
        return false;
    }
    let (base, len) = payload.whole();
    let whole = libc::iovec { iov_base: base.cast(), iov_len: len };
    // SAFETY: the payload outlives the ring's use of it: both are owned by `UringRing`, the ring dropped first.
    match unsafe { ring.submitter().register_buffers(&[whole]) } {
        Ok(()) => {
            details.push("registered files and buffers".into());
            true
        }
        Err(error) => {
            details.push(format!("buffers not registered: {error} (raise `ulimit -l`)"));
            false
        }
    }
}

impl Uring<'_> {
    #[inline]
    fn entry(&self, request: &Request) -> squeue::Entry {
        let file = Fixed(u32::from(request.file));
        let offset = request.offset.get();
        let entry = match request.op {
            Op::Read if self.fixed_buffers => {
                opcode::ReadFixed::new(file, self.payload.address(request), request.len, 0)
                    .offset(offset)
                    .build()
            }
            Op::Write if self.fixed_buffers => {
                opcode::WriteFixed::new(file, self.payload.address(request), request.len, 0)
                    .offset(offset)
                    .build()
            }
            Op::Read => {
                opcode::Read::new(file, self.payload.address(request), request.len).offset(offset).build()
            }
            Op::Write => {
                opcode::Write::new(file, self.payload.address(request), request.len).offset(offset).build()
            }
            Op::Flush if self.flush == FlushKind::SyncFileRange => {
                opcode::SyncFileRange::new(file, 0).flags(libc::SYNC_FILE_RANGE_WRITE).build()
            }
            Op::Flush => opcode::Fsync::new(file).flags(fsync_flags(self.flush)).build(),
            Op::Trim => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(request.len))
                    .offset(offset)
                    .mode(mode.bits() as i32)
                    .build()
            }
        };
        entry.user_data(user_data(request))
    }

    /// Hands over what is queued and waits for `want` completions, or for `left` to pass.
    fn enter(&mut self, want: u32, left: Option<Nanos>) -> Result<(), EngineError> {
        self.queue.sync();
        let result = match left {
            None => self.submitter.submit_and_wait(want as usize),
            Some(left) => {
                let (secs, nanos) = (left.get() / 1_000_000_000, left.get() % 1_000_000_000);
                let timeout = Timespec::new().sec(secs).nsec(nanos as u32);
                self.submitter.submit_with_args(want as usize, &SubmitArgs::new().timespec(&timeout))
            }
        };
        // Publishes nothing new, but sees what the kernel took: its entries are free again.
        self.queue.sync();
        self.completions.sync();
        match result {
            Ok(_) => Ok(()),
            // The time passed, a signal came, or the completion ring is full: reap and be asked again.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                Ok(())
            }
            Err(source) => Err(EngineError::System { call: "io_uring_enter", source }),
        }
    }

    /// How many completions to wait for: a quarter of what is in flight.
    ///
    /// A wake-up costs more than a request; waiting for one of 128 wakes 128 times as often, waiting for all
    /// would drain the device. Three quarters stay with it.
    fn wanted(&self) -> u32 {
        (self.in_flight / 4).clamp(1, 32)
    }

    #[inline]
    fn reap(&mut self, done: &mut impl FnMut(Completion)) -> Instant {
        let finished_at = self.clock.now();
        let mut wrote = false;
        for (token, outcome) in self.trimmed.drain(..) {
            self.in_flight -= 1;
            done(Completion { token, outcome, finished_at });
        }
        for entry in &mut self.completions {
            let (token, is_write, is_trim, len) = parts(entry.user_data());
            let outcome = match entry.result() {
                // fallocate gives 0 for the whole range.
                0 if is_trim => Outcome::moved(len),
                result => Outcome::from_raw(result),
            };
            self.in_flight -= 1;
            done(Completion { token, outcome, finished_at });
            if is_write {
                self.payload.refill(token.0 as usize);
                wrote = true;
            }
        }
        if wrote { self.clock.now() } else { finished_at }
    }
}

impl HasPayload for Uring<'_> {
    fn payload(&mut self) -> &mut Payload {
        self.payload
    }
}

impl Engine for Uring<'_> {
    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        self.submitter
            .register_files_update(0, &files.raw_fds())
            .map_err(|source| EngineError::System { call: "io_uring_register (files)", source })?;
        self.files = files;
        Ok(())
    }

    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            if request.op == Op::Trim && self.files.0[usize::from(request.file)].is_block_device {
                let outcome = trim(&self.files.0[usize::from(request.file)], request);
                self.trimmed.push((request.token, outcome));
                self.in_flight += 1;
                continue;
            }
            let entry = self.entry(request);
            // SAFETY: the entry's buffer is a piece of the payload that belongs to this request until it
            // completes, and its file is registered; both outlive the ring's use of them.
            let pushed = unsafe { self.queue.push(&entry) };
            assert!(pushed.is_ok(), "the ring has at least `depth` entries and a slot is used once");
            self.in_flight += 1;
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        match wait {
            Wait::Until(due) if self.in_flight == 0 => self.clock.sleep_until(due),
            Wait::Completion | Wait::Until(_) if !self.trimmed.is_empty() => self.enter(0, None)?,
            Wait::Completion if self.in_flight > 0 => self.enter(self.wanted(), None)?,
            Wait::Until(due) => self.enter_until(due)?,
            // Nothing of these has ended: hand them over together with those that follow, 15 % fewer calls.
            Wait::No if self.options.direct => return Ok(self.clock.now()),
            Wait::No | Wait::Completion => self.enter(0, None)?,
        }
        Ok(self.reap(done))
    }
}

impl Uring<'_> {
    /// Waits for one completion, but not past `due`.
    fn enter_until(&mut self, due: Instant) -> Result<(), EngineError> {
        /// Below this a timer in the kernel would end late: look again and again instead.
        const SPIN: Nanos = Nanos::from_micros(60);
        self.enter(0, None)?;
        while self.completions.is_empty() {
            let left = due.saturating_since(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            if left > SPIN {
                self.enter(1, Some(left - SPIN))?;
            } else if self.options.iopoll || self.runs_task_work_itself() {
                self.get_events()?;
            } else {
                self.completions.sync();
            }
        }
        Ok(())
    }

    fn runs_task_work_itself(&self) -> bool {
        !self.options.sqpoll
    }

    /// With deferred task work completions appear only when the thread asks for them.
    fn get_events(&mut self) -> Result<(), EngineError> {
        // SAFETY: no argument is passed beside the flag.
        let result =
            unsafe { self.submitter.enter::<libc::sigset_t>(0, 0, EnterFlags::GETEVENTS.bits(), None) };
        self.completions.sync();
        match result {
            Ok(_) => Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(()),
            Err(source) => Err(EngineError::System { call: "io_uring_enter", source }),
        }
    }
}

impl Drop for Uring<'_> {
    /// Buffers must not be given back while the kernel still fills them.
    fn drop(&mut self) {
        while self.in_flight > 0 && self.enter(1, None).is_ok() {
            self.reap(&mut |_| ());
        }
    }
}

fn fsync_flags(kind: FlushKind) -> FsyncFlags {
    match kind {
        FlushKind::Fsync | FlushKind::SyncFileRange => FsyncFlags::empty(),
        FlushKind::Fdatasync => FsyncFlags::DATASYNC,
    }
}

/// What must be known of a request when it ends, in the 64 bits that the kernel gives back.
#[inline]
fn user_data(request: &Request) -> u64 {
    let slot = u64::from(request.token.0) & 0x3FFF_FFFF;
    slot | (u64::from(request.op == Op::Write) << 30)
        | (u64::from(request.op == Op::Trim) << 31)
        | (u64::from(request.len) << 32)
}

#[inline]
fn parts(data: u64) -> (Token, bool, bool, u32) {
    (Token(data as u32 & 0x3FFF_FFFF), data & (1 << 30) != 0, data & (1 << 31) != 0, (data >> 32) as u32)
}

impl std::fmt::Debug for UringRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fd = self.ring.as_raw_fd();
        f.debug_struct("UringRing").field("fd", &fd).field("depth", &self.depth).finish_non_exhaustive()
    }
}
