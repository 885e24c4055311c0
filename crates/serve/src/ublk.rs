//! A LUN as a block device of this kernel's, `/dev/ublkbN`, without a file and a loop device between them.
//!
//! The kernel's driver (`ublk_drv`, Linux 6.0 and later) hands each request to a thread here through io_uring; the thread
//! asks the array, and answers at once, or when the pacer says: then another thread leaves the answer in [`Answers`] and
//! wakes the queue's ring. Needs CAP_SYS_ADMIN. The `libublk` crate speaks to the driver.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use io_uring::{opcode, types};
use libublk::ctrl::{UblkCtrl, UblkCtrlBuilder};
use libublk::helpers::IoBuf;
use libublk::io::{BufDescList, UblkDev, UblkIOCtx, UblkQueue};
use libublk::{BufDesc, UblkError, UblkFlags, UblkIORes, sys};
use rustix::event::{EventfdFlags, eventfd};
use units::SECTOR_BYTES;
use units::convert::narrow;

use crate::machine::Machine;
use crate::pace::{ModelRequest, Op, Pacer, Pending};
use crate::set::{Fault, Scratch};

/// Requests in flight of a queue, as many as fio and file systems have at most by default.
const DEPTH: u16 = 128;
/// The largest request: what a virtual array's host sends without splitting.
const LARGEST: u32 = 1 << 20;
/// The driver's control device.
const CONTROL: &str = "/dev/ublk-control";

/// A LUN that is a block device for as long as this is held.
pub struct Device {
    path: PathBuf,
    id: u32,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    /// Makes a block device of LUN `lun`.
    ///
    /// # Errors
    ///
    /// Where the kernel has no driver, or does not let this user; the words say what to do.
    pub fn start(machine: Arc<Machine>, lun: u32, pacer: Option<Arc<Pacer>>) -> io::Result<Device> {
        std::fs::metadata(CONTROL).map_err(|error| {
            io::Error::new(error.kind(), format!("{CONTROL}: {error}; load the driver: modprobe ublk_drv"))
        })?;
        let of = machine.luns().get(lun as usize);
        let bytes =
            of.ok_or_else(|| io::Error::other(format!("the array has no LUN {lun}")))?.sectors * SECTOR_BYTES;
        let losses = machine.told(lun);
        let lun = Arc::new(Lun { machine, pacer, lun, bytes, losses });
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name("ublk".into()).spawn(move || {
            if let Err(error) = run(&lun, tell.clone()) {
                let _nobody_waits = tell.send(Err(refused(&error)));
            }
        })?;
        // A thread that ends without a word has dropped its sender.
        let (id, path) = told.recv().map_err(|_| io::Error::other("the driver's thread ended"))??;
        Ok(Device { path, id, thread: Some(thread) })
    }

    /// `/dev/ublkbN`
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Whoever has it open gets errors from now on; requests in flight are answered first.
        let stopped = i32::try_from(self.id).ok().and_then(|id| UblkCtrl::new_simple(id).ok());
        if let Some(control) = stopped {
            let _gone = control.kill_dev();
        }
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
        if let Some(control) = i32::try_from(self.id).ok().and_then(|id| UblkCtrl::new_simple(id).ok()) {
            let _gone = control.del_dev_async();
        }
    }
}

/// Where a device was made: its number, and its path.
type Made = io::Result<(u32, PathBuf)>;

/// Serves one device until it is stopped.
fn run(lun: &Arc<Lun>, tell: Sender<Made>) -> Result<(), UblkError> {
    let control = UblkCtrlBuilder::default()
        .name("fathom")
        .nr_queues(1)
        .depth(DEPTH)
        .io_buf_bytes(LARGEST)
        .dev_flags(UblkFlags::UBLK_DEV_F_ADD_DEV)
        .build()?;
    let bytes = lun.bytes;
    let served = lun.clone();
    control.run_target(
        move |device| {
            describe(device, bytes);
            Ok(())
        },
        move |queue, device| {
            // A queue that cannot begin leaves the device without answers, and the driver ends it.
            let _ended = serve(queue, device, &served);
        },
        move |control| {
            let made = (control.dev_info().dev_id, PathBuf::from(control.get_bdev_path()));
            let _nobody_waits = tell.send(Ok(made));
        },
    )?;
    Ok(())
}

/// What the kernel is told of the device: sectors, flushes, and room that can be given back.
fn describe(device: &mut UblkDev, bytes: u64) {
    device.set_default_params(bytes);
    let target = &mut device.tgt;
    // Room for the answers' own poll beside a command of each request.
    target.sq_depth = DEPTH * 2;
    target.cq_depth = DEPTH * 2;
    let params = &mut target.params;
    params.basic.attrs = sys::UBLK_ATTR_VOLATILE_CACHE | sys::UBLK_ATTR_FUA;
    params.types |= sys::UBLK_PARAM_TYPE_DISCARD;
    params.discard.discard_granularity = narrow(SECTOR_BYTES);
    params.discard.max_discard_sectors = u32::MAX >> 9;
    params.discard.max_write_zeroes_sectors = u32::MAX >> 9;
    params.discard.max_discard_segments = 1;
}

/// Serves one queue on this thread until the device is stopped.
fn serve(queue: u16, device: &UblkDev, lun: &Lun) -> Result<(), UblkError> {
    let mut buffers = device.alloc_queue_io_bufs();
    let answers = Arc::new(Answers::new()?);
    let queue =
        UblkQueue::new(queue, device)?.submit_fetch_commands_unified(BufDescList::Slices(Some(&buffers)))?;
    answers.poll(&queue)?;
    let mut scratch = Scratch::default();
    queue.wait_and_handle_io(|queue, tag, io: &UblkIOCtx| {
        if io.is_tgt_io() {
            for (tag, result) in answers.take() {
                complete(queue, tag, &buffers[usize::from(tag)], result);
            }
            // A ring that is ending takes no more of them, and no answers are left.
            let _ending = answers.poll(queue);
            return;
        }
        let buffer = &mut buffers[usize::from(tag)];
        let request = Request::of(queue, tag);
        let pending = lun.ask(&request);
        match (lun.execute(&request, buffer.as_mut_slice(), &mut scratch), pending) {
            (Ok(()), Some(pending)) => {
                let answers = answers.clone();
                let result = narrow::<i32>(request.len);
                pending.answer(Box::new(move |is_answered| {
                    answers.give(tag, if is_answered { result } else { -libc::EIO });
                }));
            }
            (Ok(()), None) => complete(queue, tag, buffer, narrow(request.len)),
            (Err(errno), _) => complete(queue, tag, buffer, -errno),
        }
    });
    Ok(())
}

/// Gives the driver the `result` of a request, bytes or a negative errno, and fetches the next.
fn complete(queue: &UblkQueue<'_>, tag: u16, buffer: &IoBuf<u8>, result: i32) {
    let answered =
        queue.complete_io_cmd_unified(tag, BufDesc::Slice(buffer.as_slice()), Ok(UblkIORes::Result(result)));
    debug_assert!(answered.is_ok(), "a buffer of a queue's own is always taken");
}

/// A request of the driver's.
struct Request {
    kind: u32,
    is_forced: bool,
    offset: u64,
    len: u64,
}

impl Request {
    fn of(queue: &UblkQueue<'_>, tag: u16) -> Request {
        let asked = queue.get_iod(tag);
        let kind = asked.op_flags & 0xff;
        // A flush is of no sectors: its first one is the largest number there is.
        let (first, sectors) = match kind {
            sys::UBLK_IO_OP_FLUSH => (0, 0),
            _ => (asked.start_sector, asked.nr_sectors),
        };
        Request {
            kind,
            is_forced: asked.op_flags & sys::UBLK_IO_F_FUA != 0,
            offset: first.saturating_mul(SECTOR_BYTES),
            len: u64::from(sectors) * SECTOR_BYTES,
        }
    }
}

/// What a queue is served from.
struct Lun {
    machine: Arc<Machine>,
    pacer: Option<Arc<Pacer>>,
    lun: u32,
    bytes: u64,
    /// The losses of the write cache that whoever flushes has been told of.
    losses: AtomicU64,
}

impl Lun {
    /// Shows the model, where there is one, a request that it takes time for.
    fn ask(&self, request: &Request) -> Option<Pending> {
        let op = match request.kind {
            sys::UBLK_IO_OP_READ => Op::Read,
            sys::UBLK_IO_OP_WRITE => Op::Write,
            sys::UBLK_IO_OP_FLUSH => Op::Flush,
            _ => return None,
        };
        let Request { offset, len, .. } = *request;
        let asked = ModelRequest { lun: self.lun, op, offset, len };
        self.pacer.as_ref().filter(|_| self.has(request)).map(|pacer| pacer.ask(asked))
    }

    /// Whether a request lies in the LUN.
    fn has(&self, request: &Request) -> bool {
        request.offset.checked_add(request.len).is_some_and(|end| end <= self.bytes)
    }

    /// Carries out `request`, with its data in `buffer`; an errno where it cannot be.
    fn execute(&self, request: &Request, buffer: &mut [u8], scratch: &mut Scratch) -> Result<(), i32> {
        if !self.has(request) {
            return Err(libc::EINVAL);
        }
        let Request { kind, is_forced, offset, len } = *request;
        let data = || usize::try_from(len).ok().filter(|len| *len <= LARGEST as usize).ok_or(libc::EINVAL);
        let machine = &self.machine;
        let done = match kind {
            sys::UBLK_IO_OP_READ => machine.read(scratch, self.lun, offset, &mut buffer[..data()?]),
            sys::UBLK_IO_OP_WRITE => machine
                .write(scratch, self.lun, offset, &buffer[..data()?])
                .and_then(|()| if is_forced { machine.flush(self.lun) } else { Ok(()) }),
            sys::UBLK_IO_OP_FLUSH => machine.flush_telling(self.lun, &self.losses),
            sys::UBLK_IO_OP_DISCARD => machine.trim(scratch, self.lun, offset, len),
            sys::UBLK_IO_OP_WRITE_ZEROES => machine.write_zeros(scratch, self.lun, offset, len, true),
            _ => return Err(libc::EOPNOTSUPP),
        };
        done.map_err(Fault::errno)
    }
}

/// Answers whose time has come, which other threads leave for the thread of a queue.
struct Answers {
    given: Mutex<Vec<(u16, i32)>>,
    /// Readable while there are some.
    bell: OwnedFd,
}

impl Answers {
    fn new() -> Result<Answers, UblkError> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| UblkError::IOError(error.into()))?;
        Ok(Answers { given: Mutex::default(), bell })
    }

    /// Leaves an answer and wakes the queue.
    fn give(&self, tag: u16, result: i32) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push((tag, result));
        // A counter that is full wakes as well.
        let _rung = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Those that were left, in their order.
    fn take(&self) -> Vec<(u16, i32)> {
        // Silenced first: what comes from now on rings again.
        let _silent = rustix::io::read(&self.bell, &mut [0; 8]);
        std::mem::take(&mut *self.given.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the ring of the queue wake once when there are some.
    fn poll(&self, queue: &UblkQueue<'_>) -> Result<(), UblkError> {
        let readable = u32::try_from(libc::POLLIN).unwrap_or_default();
        let poll = opcode::PollAdd::new(types::Fd(self.bell.as_raw_fd()), readable)
            .build()
            .user_data(UblkIOCtx::build_user_data(0, 0, 0, true));
        queue.ublk_submit_sqe_sync(poll)
    }
}

/// Why there is no device, for people.
fn refused(error: &UblkError) -> io::Error {
    let errno = match error {
        UblkError::OtherError(code) | UblkError::UringIOError(code) => code.saturating_abs(),
        UblkError::IOError(error) => error.raw_os_error().unwrap_or_default(),
        _ => 0,
    };
    match errno {
        libc::EPERM | libc::EACCES => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the ublk driver needs CAP_SYS_ADMIN; serve NBD on a Unix socket without it",
        ),
        0 => io::Error::other(error.to_string()),
        errno => io::Error::from_raw_os_error(errno),
    }
}
