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

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{Builder, CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, opcode, squeue};
use rustix::fs::FallocateFlags;
use units::convert::narrow;
use units::{Bytes, Instant, Nanos};
use workload::spec::{FlushKind, RequestFlags};
use workload::{Completion, Errno, Op, Outcome, Request, Token};

use super::choice::URING_DEPTH_MAX;
use super::priorities::Priorities;
use super::sync::flag_bits;
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
}

/// The buffers that requests in flight use, and how many those are.
struct LentPayload {
    payload: ManuallyDrop<Payload>,
    in_flight: u32,
}

impl LentPayload {
    fn new(payload: Payload) -> LentPayload {
        assert!(payload.depth() > 0, "a ring must have something to lend");
        LentPayload { payload: ManuallyDrop::new(payload), in_flight: 0 }
    }
}

impl Drop for LentPayload {
    fn drop(&mut self) {
        if self.in_flight == 0 {
            // SAFETY: this is the only place that drops it, and nothing uses it after.
            unsafe { ManuallyDrop::drop(&mut self.payload) }
        }
        // Otherwise requests could not be waited for, or the engine was forgotten, and the kernel may still write:
        // the memory is leaked on purpose, since whatever would be mapped there next could be overwritten.
    }
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

/// Why a device does not let itself be polled, if that is how the first polled request ended.
///
/// The kernel refuses such a request with EOPNOTSUPP, or EINVAL where it is not direct. Any other error is one of the
/// device, which the requests that follow will meet and count.
fn polling_refused(probe: Outcome) -> Option<EngineError> {
    match probe.result() {
        Err(Errno(errno @ (libc::EOPNOTSUPP | libc::EINVAL))) => Some(EngineError::Feature {
            feature: "IOPOLL",
            remedy: "the device has no poll queues (nvme: load with poll_queues=N) or the file is not \
                     opened direct; leave `iopoll` off",
            source: io::Error::from_raw_os_error(errno),
        }),
        _ => None,
    }
}

/// A flag of a ring that makes it cheaper, and that older kernels do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saving {
    SingleIssuer,
    DeferredTaskWork,
    CooperativeTaskWork,
    NoIndexArray,
}

impl Saving {
    const fn name(self) -> &'static str {
        match self {
            Saving::SingleIssuer => "single issuer",
            Saving::DeferredTaskWork => "deferred task work",
            Saving::CooperativeTaskWork => "cooperative task work",
            Saving::NoIndexArray => "no index array",
        }
    }

    fn set(self, builder: &mut Builder) {
        match self {
            Saving::SingleIssuer => builder.setup_single_issuer(),
            Saving::DeferredTaskWork => builder.setup_defer_taskrun(),
            Saving::CooperativeTaskWork => builder.setup_coop_taskrun(),
            Saving::NoIndexArray => builder.setup_no_sqarray(),
        };
    }
}

/// Tries the best set of flags first and drops what an older kernel does not know.
fn build(depth: u32, options: UringOptions) -> Result<(IoUring, Vec<String>), EngineError> {
    use Saving::{CooperativeTaskWork, DeferredTaskWork, NoIndexArray, SingleIssuer};
    assert!(depth <= URING_DEPTH_MAX, "`choose` refuses more");
    assert!(depth > 0, "a ring must have an entry");
    let levels: &[&[Saving]] = if options.sqpoll {
        &[&[SingleIssuer, NoIndexArray], &[]]
    } else {
        &[
            &[SingleIssuer, DeferredTaskWork, NoIndexArray],
            &[SingleIssuer, DeferredTaskWork],
            &[CooperativeTaskWork],
            &[],
        ]
    };
    let (ring, level) = first_known(levels, |level| {
        let mut builder = IoUring::builder();
        level.iter().for_each(|saving| saving.set(&mut builder));
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
        if options.iopoll {
            builder.setup_iopoll();
        }
        builder.build(depth.next_power_of_two())
    })
    .map_err(|source| refusal(options, source))?;
    assert!(ring.params().sq_entries() >= depth, "a ring must hold all that may be in flight");
    assert!(ring.params().cq_entries() >= depth, "a ring must hold the ends of all that may be in flight");
    let mut details: Vec<String> = level.iter().map(|saving| saving.name().into()).collect();
    details.extend(options.sqpoll.then(|| "SQPOLL".into()));
    details.extend(options.iopoll.then(|| "IOPOLL".into()));
    Ok((ring, details))
}

/// The first of the levels that can be built, and which that is. What a kernel does not know it refuses with EINVAL; any
/// other error is told at once.
fn first_known<'a, T, L: ?Sized>(
    levels: &[&'a L],
    mut build: impl FnMut(&L) -> io::Result<T>,
) -> io::Result<(T, &'a L)> {
    let mut refused = io::ErrorKind::InvalidInput.into();
    for level in levels {
        match build(level) {
            Ok(built) => return Ok((built, level)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
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

/// Whether the kernel takes so much memory as one buffer.
fn is_registrable(size: Bytes) -> bool {
    size <= REGISTERED_MAX
}

/// Pins the payload in the kernel. Not essential: without it each request pins its own pages.
fn register_buffers(ring: &IoUring, payload: &Payload, details: &mut Vec<String>) -> bool {
    if !is_registrable(payload.size()) {
        details.push("buffers not registered: above 1 GiB".into());
        return false;
    }
    let (base, len) = payload.whole();
    let whole = libc::iovec { iov_base: base.cast(), iov_len: len };
    // SAFETY: the payload outlives the ring's use of it: both are owned by `UringRing`, the ring dropped first, and
    // `LentPayload` keeps the memory while anything is in flight.
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
    fn entry(&mut self, request: &Request) -> squeue::Entry {
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

    /// Hands over what is queued, takes what has ended, and waits for `want` completions, or for `left` to pass.
    fn enter(&mut self, want: u32, left: Option<Nanos>) -> Result<(), EngineError> {
        debug_assert!(
            want <= self.lent.in_flight,
            "no more completions can be waited for than requests are in flight"
        );
        self.queue.sync();
        let result = match left {
            // A thread of the kernel takes requests up, and must be woken only when it sleeps.
            None if self.options.sqpoll => self.submitter.submit_and_wait(want as usize),
            // Deferred completions appear only to who asks for events, also where none is waited for.
            None => {
                let queued = narrow::<u32>(self.queue.len());
                // SAFETY: no argument is passed beside the flag.
                unsafe {
                    self.submitter.enter::<libc::sigset_t>(queued, want, EnterFlags::GETEVENTS.bits(), None)
                }
            }
            Some(left) => {
                let timeout = Timespec::from(Duration::from_nanos(left.get()));
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

    #[inline]
    fn reap(&mut self, done: &mut impl FnMut(Completion)) -> Instant {
        let finished_at = self.clock.now();
        let mut wrote = false;
        for ended in self.trimmed.drain(..) {
            self.lent.in_flight -= 1;
            done(ended);
        }
        for entry in &mut self.completions {
            debug_assert!(self.lent.in_flight > 0, "a request must end once");
            let (token, is_write, is_trim, len) = parts(entry.user_data());
            debug_assert!((token.0 as usize) < self.lent.payload.depth(), "the job must have the slot");
            let outcome = match entry.result() {
                // fallocate gives 0 for the whole range.
                0 if is_trim => Outcome::moved(len),
                result => Outcome::from_raw(result),
            };
            self.lent.in_flight -= 1;
            done(Completion { token, outcome, finished_at });
            if is_write {
                self.lent.payload.refill(token.0 as usize);
                wrote = true;
            }
        }
        if wrote { self.clock.now() } else { finished_at }
    }

    /// Trims a block device, for which a ring of this age has no request. What was submitted before goes ahead of it.
    #[cold]
    fn trim_at_once(&mut self, request: &Request) -> Result<(), EngineError> {
        self.enter(0, None)?;
        let outcome = trim(&self.files.0[usize::from(request.file)], request);
        self.trimmed.push(Completion { token: request.token, outcome, finished_at: self.clock.now() });
        self.lent.in_flight += 1;
        Ok(())
    }
}

impl HasPayload for Uring<'_> {
    fn payload(&mut self) -> &mut Payload {
        &mut self.lent.payload
    }
}

impl Engine for Uring<'_> {
    fn reopen(&mut self, files: Arc<OpenFiles>) -> Result<(), EngineError> {
        debug_assert_eq!(self.lent.in_flight, 0, "nothing may be in flight in files that are exchanged");
        assert_eq!(files.0.len(), self.files.0.len(), "they must be the same files");
        self.submitter
            .register_files_update(0, &files.raw_fds())
            .map_err(|source| EngineError::System { call: "io_uring_register (files)", source })?;
        self.files = files;
        Ok(())
    }

    fn submit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        for request in requests {
            if request.op == Op::Trim && self.files.0[usize::from(request.file)].is_block_device {
                self.trim_at_once(request)?;
                continue;
            }
            let entry = self.entry(request);
            // SAFETY: the entry's buffer is a piece of the payload that belongs to this request until it
            // completes, and its file is registered; both outlive the ring's use of them.
            let pushed = unsafe { self.queue.push(&entry) };
            assert!(pushed.is_ok(), "the ring has at least `depth` entries and a slot is used once");
            self.lent.in_flight += 1;
            debug_assert!(
                self.lent.in_flight as usize <= self.lent.payload.depth(),
                "no more may be in flight than there are slots",
            );
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, done: &mut impl FnMut(Completion)) -> Result<Instant, EngineError> {
        let least = |least: u32, in_flight: u32| least.min(in_flight);
        match wait {
            Wait::Until(due, _) if self.lent.in_flight == 0 => self.clock.sleep_until(due),
            // Some have ended: they are not to wait for others.
            Wait::For(_) | Wait::Until(..) if !self.trimmed.is_empty() => self.enter(0, None)?,
            Wait::For(count) => self.enter(least(count, self.lent.in_flight), None)?,
            Wait::Until(due, count) => self.enter_until(due, least(count, self.lent.in_flight))?,
            Wait::No => self.enter(0, None)?,
        }
        Ok(self.reap(done))
    }
}

impl Uring<'_> {
    /// Waits for `want` completions, but not past `due`.
    fn enter_until(&mut self, due: Instant, want: u32) -> Result<(), EngineError> {
        /// Below this a timer in the kernel would end late: look again and again instead.
        const SPIN: Nanos = Nanos::from_micros(60);
        self.enter(0, None)?;
        while self.completions.len() < want as usize {
            let left = due.saturating_since(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            let timer = left.saturating_sub(SPIN);
            if timer.is_zero() {
                // No system call where a thread of the kernel takes requests up.
                self.enter(0, None)?;
            } else {
                self.enter(want, Some(timer))?;
            }
        }
        Ok(())
    }
}

impl Drop for Uring<'_> {
    /// Waits for what is in flight; where that fails, the buffers are never given back.
    fn drop(&mut self) {
        while self.lent.in_flight > 0 && self.enter(1, None).is_ok() {
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
    debug_assert!(request.token.0 <= 0x3FFF_FFFF, "a slot must have no more than 30 bits");
    let slot = u64::from(request.token.0) & 0x3FFF_FFFF;
    slot | (u64::from(request.op == Op::Write) << 30)
        | (u64::from(request.op == Op::Trim) << 31)
        | (u64::from(request.len) << 32)
}

#[inline]
fn parts(data: u64) -> (Token, bool, bool, u32) {
    (Token(narrow(data & 0x3FFF_FFFF)), data & (1 << 30) != 0, data & (1 << 31) != 0, (data >> 32) as u32)
}

impl std::fmt::Debug for UringRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fd = self.ring.as_raw_fd();
        f.debug_struct("UringRing").field("fd", &fd).field("depth", &self.depth).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;
    use crate::engine::fixture::{full_of, only, open, payload};
    use crate::monitor::thread_cpu;

    const DEPTH: u32 = 4;

    /// A ring over these files; `None` where io_uring is refused, and there is nothing to test.
    fn ring_over(files: Arc<OpenFiles>, options: UringOptions) -> Option<UringRing> {
        let payload = payload(DEPTH, 0.5);
        UringRing::new(Clock::start(), files, payload, FlushKind::Fsync, DEPTH, options).ok()
    }

    /// A ring that reads from a pipe, which answers when something is written to the other end.
    fn ring() -> Option<(UringRing, File)> {
        let (reader, writer) = std::io::pipe().expect("a process has two descriptors left");
        let ring = ring_over(only(std::os::fd::OwnedFd::from(reader).into()), UringOptions::default())?;
        Some((ring, std::os::fd::OwnedFd::from(writer).into()))
    }

    /// How a request ended that is carried out alone.
    fn outcome(ring: &mut UringRing, request: &Request) -> Outcome {
        let mut engine = ring.engine().expect("only one at a time");
        engine.submit(&[*request]).expect("there is room");
        let mut ended = Vec::new();
        engine.wait(Wait::For(1), &mut |done| ended.push(done.outcome)).expect("it waits");
        assert_eq!(ended.len(), 1, "it was waited for");
        ended[0]
    }

    fn read(slot: u32, len: u32) -> Request {
        Request { offset: Bytes::ZERO, len, token: Token(slot), file: 0, op: Op::Read }
    }

    #[test]
    fn an_engine_dropped_with_requests_in_flight_waits_for_them() {
        let Some((mut ring, mut writer)) = ring() else { return };
        let mut engine = ring.engine().expect("the first engine");
        let place = engine.lent.payload.address(&read(1, 4096));
        engine.submit(&[read(0, 4096), read(1, 4096)]).expect("there is room");
        engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
        let answer = std::thread::spawn(move || {
            for byte in [1, 2] {
                Clock::start().sleep_until(Instant::START.saturating_add(Nanos::from_millis(50)));
                writer.write_all(&[byte; 4096]).expect("somebody reads");
            }
        });
        drop(engine);
        assert_eq!(ring.lent.in_flight, 0);
        // SAFETY: the payload is there as long as the ring.
        assert!(matches!(unsafe { place.read() }, 1 | 2), "its data came before the drop had ended");
        answer.join().expect("it wrote");
    }

    #[test]
    fn buffers_of_a_forgotten_engine_are_never_given_back() {
        let Some((mut ring, mut writer)) = ring() else { return };
        let mut engine = ring.engine().expect("the first engine");
        let place = engine.lent.payload.address(&read(0, 4096));
        engine.submit(&[read(0, 4096)]).expect("there is room");
        engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
        std::mem::forget(engine);
        drop(ring);
        let _nobody_reads = writer.write_all(&[7; 4096]);
        // SAFETY: this is what the test is about: the memory is still mapped, and nothing else was mapped there.
        let byte = unsafe { place.read_volatile() };
        assert!(byte == 0 || byte == 7, "{byte}");
    }

    #[test]
    fn buffers_are_kept_while_anything_is_in_flight_and_given_back_otherwise() {
        let dropped = |in_flight| {
            let payload = payload(DEPTH, 0.5);
            let (base, len) = payload.whole();
            let mut lent = LentPayload::new(payload);
            lent.in_flight = in_flight;
            drop(lent);
            (base, len)
        };
        let (base, len) = dropped(1);
        let mut resident = [0u8; 16];
        // SAFETY: mincore looks at mappings and touches no memory of them; 16 pages are more than there are.
        assert_eq!(unsafe { libc::mincore(base.cast(), len, resident.as_mut_ptr()) }, 0);
        // Given back it may be mapped by another thread by now; but what is kept is never mapped a second time.
        let mut places: Vec<usize> = (0..100).map(|_| dropped(0).0 as usize).collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() < 100, "nothing was given back");
    }

    #[test]
    #[should_panic(expected = "fits its piece")]
    fn a_request_longer_than_its_piece_never_reaches_the_kernel() {
        let Some((mut ring, _writer)) = ring() else { panic!("fits its piece: not tested without io_uring") };
        let mut engine = ring.engine().expect("the first engine");
        let _never = engine.submit(&[read(0, 8192)]);
    }

    #[test]
    fn what_must_be_known_of_a_request_comes_back_from_the_kernel_as_it_went() {
        for slot in [0, 1, 0x3FFF_FFFF] {
            for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
                for len in [0, 4096, u32::MAX] {
                    let request = Request { op, ..read(slot, len) };
                    let known = parts(user_data(&request));
                    assert_eq!(known, (Token(slot), op == Op::Write, op == Op::Trim, len), "{request:?}");
                }
            }
        }
    }

    #[test]
    fn each_kind_of_flush_and_each_refusal_is_its_own() {
        let bits = |kind| fsync_flags(kind).bits();
        assert_eq!(bits(FlushKind::Fsync), FsyncFlags::empty().bits());
        assert_eq!(bits(FlushKind::Fdatasync), FsyncFlags::DATASYNC.bits());
        let told = |sqpoll, iopoll| {
            refusal(UringOptions { sqpoll, iopoll }, io::Error::from_raw_os_error(libc::EPERM)).to_string()
        };
        assert!(told(true, false).contains("SQPOLL") && told(true, true).contains("SQPOLL"));
        assert!(told(false, true).contains("IOPOLL"));
        assert!(told(false, false).starts_with("io_uring_setup failed"));
    }

    #[test]
    fn a_wait_ends_at_its_time_with_what_is_in_flight_still_so_and_a_completion_ends_it_before() {
        let Some((mut ring, mut writer)) = ring() else { return };
        assert!(format!("{ring:?}").contains("depth: 4"));
        let clock = ring.clock.clone();
        let mut engine = ring.engine().expect("the first engine");
        let soon = || clock.now().saturating_add(Nanos::from_millis(5));
        // Nothing is in flight: until then.
        let due = soon();
        assert!(
            engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing was asked")).expect("it waits") >= due
        );
        engine.submit(&[read(0, 4096)]).expect("there is room");
        let due = soon();
        assert!(engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing came")).expect("it waits") >= due);
        assert_eq!(engine.lent.in_flight, 1);
        writer.write_all(&[3; 4096]).expect("somebody reads");
        let never = clock.now().saturating_add(Nanos::from_secs(60));
        let mut ended = Vec::new();
        let now = engine.wait(Wait::Until(never, 1), &mut |done| ended.push(done)).expect("it waits");
        assert!(now < never && ended.len() == 1, "{ended:?}");
        assert_eq!((ended[0].token, ended[0].outcome), (Token(0), Outcome::moved(4096)));
        assert!(ended[0].finished_at <= now);
        assert_eq!(engine.lent.in_flight, 0);
        assert_eq!(engine.payload().bytes(&read(0, 4096)), [3; 4096]);
        // With nothing in flight not at all.
        engine.wait(Wait::For(1), &mut |_| panic!("nothing was asked")).expect("it does not wait");
    }

    #[test]
    fn of_several_in_flight_only_as_many_as_are_wanted_are_waited_for() {
        let Some((mut ring, mut writer)) = ring() else { return };
        let mut engine = ring.engine().expect("the first engine");
        engine.submit(&[read(0, 4096), read(1, 4096)]).expect("there is room");
        writer.write_all(&[1; 4096]).expect("somebody reads");
        let mut count = 0;
        engine.wait(Wait::For(1), &mut |_| count += 1).expect("one is there");
        assert_eq!((count, engine.lent.in_flight), (1, 1));
        writer.write_all(&[2; 4096]).expect("somebody reads");
        // No more than are in flight.
        engine.wait(Wait::For(4), &mut |_| count += 1).expect("one is there");
        assert_eq!((count, engine.lent.in_flight), (2, 0));
    }

    #[test]
    fn a_ring_says_how_it_was_made() {
        let Some((ring, _writer)) = ring() else { return };
        let told = ring.details().join(", ");
        assert!(told.contains("registered files and buffers") && !told.contains("POLL"), "{told}");
        assert_eq!(told.contains("single issuer"), ring.ring.params().is_setup_single_issuer());
        assert_eq!(ring.ring.params().cq_entries(), 2 * DEPTH);
        let names = [
            Saving::SingleIssuer,
            Saving::DeferredTaskWork,
            Saving::CooperativeTaskWork,
            Saving::NoIndexArray,
        ]
        .map(Saving::name);
        assert_eq!(names, ["single issuer", "deferred task work", "cooperative task work", "no index array"]);
    }

    #[test]
    fn a_kernel_that_knows_less_gets_what_it_knows_and_any_other_refusal_is_told_at_once() {
        let built = |errnos: &[i32]| {
            let mut errnos = errnos.iter();
            let mut tried = Vec::new();
            let built = first_known(&["best", "good", "plain"], |level| {
                tried.push(level.to_owned());
                errnos.next().map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(*errno)))
            });
            (built.map(|((), level)| level).map_err(|error| error.raw_os_error()), tried.len())
        };
        assert_eq!(built(&[]), (Ok("best"), 1));
        assert_eq!(built(&[libc::EINVAL; 2]), (Ok("plain"), 3));
        assert_eq!(built(&[libc::EINVAL; 3]), (Err(Some(libc::EINVAL)), 3));
        assert_eq!(built(&[libc::EINVAL, libc::EPERM]), (Err(Some(libc::EPERM)), 2));
        assert_eq!(built(&[libc::ENOMEM]), (Err(Some(libc::ENOMEM)), 1));
    }

    #[test]
    fn requests_go_by_registered_buffers_where_these_are_and_by_their_own_memory_otherwise() {
        assert!(is_registrable(Bytes::GIB) && !is_registrable(Bytes::GIB + Bytes::new(1)));
        let file = full_of(4);
        let Some(mut ring) = ring_over(open(&file), UringOptions::default()) else { return };
        let requests = [read(0, 4096), Request { op: Op::Write, ..read(1, 4096) }];
        for request in &requests {
            assert_eq!(outcome(&mut ring, request), Outcome::moved(4096));
        }
        ring.ring.submitter().unregister_buffers().expect("they were registered");
        for request in &requests {
            assert_eq!(outcome(&mut ring, request), Outcome::failed(Errno(libc::EFAULT)), "they are gone");
        }
        ring.fixed_buffers = false;
        for request in &requests {
            assert_eq!(outcome(&mut ring, request), Outcome::moved(4096));
        }
    }

    #[test]
    fn a_flush_is_of_its_kind_and_a_file_that_is_opened_anew_is_the_one_that_is_read() {
        let Some((mut ring, _writer)) = ring() else { return };
        // A pipe has nothing to flush, and says so in another way to each call.
        for (kind, errno) in [
            (FlushKind::Fsync, libc::EINVAL),
            (FlushKind::Fdatasync, libc::EINVAL),
            (FlushKind::SyncFileRange, libc::ESPIPE),
        ] {
            ring.flush = kind;
            let flush = Request { op: Op::Flush, ..read(0, 0) };
            assert_eq!(outcome(&mut ring, &flush), Outcome::failed(Errno(errno)), "{kind:?}");
        }
        let mut ring = ring_over(open(&full_of(8)), UringOptions::default()).expect("there was one before");
        let mut engine = ring.engine().expect("the first engine");
        engine.reopen(open(&full_of(9))).expect("as many as before");
        engine.submit(&[read(0, 4096)]).expect("there is room");
        engine.wait(Wait::For(1), &mut |_| ()).expect("it waits");
        assert_eq!(engine.payload().bytes(&read(0, 4096)), [9; 4096]);
    }

    #[test]
    fn who_does_not_wait_is_told_what_has_ended_and_who_waits_for_one_is_told_of_one() {
        let Some((mut ring, mut writer)) = ring() else { return };
        let mut engine = ring.engine().expect("the first engine");
        let mut count = 0;
        engine.submit(&[read(0, 4096)]).expect("there is room");
        engine.wait(Wait::No, &mut |_| panic!("nothing was written yet")).expect("it hands over");
        writer.write_all(&[1; 4096]).expect("somebody reads");
        for _ in 0..1000 {
            engine.wait(Wait::No, &mut |_| count += 1).expect("it does not wait");
        }
        assert_eq!(count, 1);
        engine.submit(&[read(1, 4096)]).expect("there is room");
        let answer = std::thread::spawn(move || {
            Clock::start().sleep_until(Instant::START.saturating_add(Nanos::from_millis(20)));
            writer.write_all(&[2; 4096]).expect("somebody reads");
        });
        engine.wait(Wait::For(1), &mut |_| count += 1).expect("it waits");
        assert_eq!(count, 2);
        answer.join().expect("it wrote");
    }

    #[test]
    fn a_wait_takes_hardly_any_processor_time() {
        let Some((mut ring, writer)) = ring() else { return };
        let clock = ring.clock.clone();
        let mut engine = ring.engine().expect("the first engine");
        engine.submit(&[read(0, 4096)]).expect("there is room");
        let before = thread_cpu();
        for _ in 0..10 {
            let due = clock.now().saturating_add(Nanos::from_millis(10));
            let now = engine.wait(Wait::Until(due, 1), &mut |_| panic!("nothing was written"));
            assert!(now.expect("it waits") >= due);
        }
        let took = thread_cpu().since(before);
        assert!(took.user + took.system < Nanos::from_millis(30), "{took:?} of 100 ms");
        // Ends the request, which is waited for.
        drop(writer);
    }

    #[test]
    fn a_thread_of_the_kernel_that_has_gone_to_sleep_is_woken_by_the_next_request() {
        let file = full_of(6);
        let options = UringOptions { sqpoll: true, iopoll: false };
        let Some(mut ring) = ring_over(open(&file), options) else { return };
        assert!(ring.details().contains(&"SQPOLL".to_owned()), "{:?}", ring.details());
        assert_eq!(outcome(&mut ring, &read(0, 4096)), Outcome::moved(4096));
        let clock = ring.clock.clone();
        let engine = ring.engine().expect("only one at a time");
        while !engine.queue.need_wakeup() {
            clock.sleep_until(clock.now().saturating_add(Nanos::from_millis(10)));
        }
        drop(engine);
        assert_eq!(outcome(&mut ring, &read(1, 4096)), Outcome::moved(4096));
    }

    #[test]
    fn a_ring_that_the_kernel_refuses_to_enter_is_an_error_and_not_waited_for() {
        // A ring belongs to the thread that made it, where the kernel is told so.
        let made = std::thread::spawn(|| {
            let (ring, writer) = ring()?;
            let is_own = ring.ring.params().is_setup_single_issuer();
            is_own.then_some((ring, writer))
        });
        let Some((mut ring, _writer)) = made.join().expect("its assertions hold") else { return };
        let mut engine = ring.engine().expect("the first engine");
        engine.submit(&[read(0, 4096)]).expect("there is room");
        let told = engine.wait(Wait::For(1), &mut |_| panic!("nobody reads"));
        // Nobody here can wait for what it has in flight.
        std::mem::forget(engine);
        let error = told.expect_err("it is another's");
        assert!(matches!(error, EngineError::System { call: "io_uring_enter", .. }), "{error}");
    }

    #[test]
    fn a_device_that_fails_is_not_taken_for_one_without_poll_queues() {
        for errno in [libc::EOPNOTSUPP, libc::EINVAL] {
            let refusal = polling_refused(Outcome::failed(Errno(errno))).expect("it was refused").to_string();
            assert!(refusal.contains("poll_queues"), "{refusal}");
        }
        for errno in [libc::EIO, libc::ENODATA, libc::ETIMEDOUT] {
            assert!(polling_refused(Outcome::failed(Errno(errno))).is_none());
        }
        assert!(polling_refused(Outcome::moved(4096)).is_none());
    }
}
