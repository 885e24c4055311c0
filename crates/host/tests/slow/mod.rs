//! A block device whose answers a test decides on: a loop device over a file of a FUSE server in this process.
//!
//! The server lives in a mount namespace of the calling thread, and the loop device is told to go when it is last
//! closed: whatever ends the process, nothing is left behind.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry,
    ReplyOpen, Request,
};
use host::clock::Clock;
use tempfile::TempDir;
use units::{Bytes, Instant, Nanos};

use crate::loops::{attach, run};

/// A device that stands still for so long has met an engine that holds requests or completions back.
const PATIENCE: Duration = Duration::from_secs(20);

/// When the device answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// At once.
    AtOnce,
    /// Each request after so long.
    After(Nanos),
    /// The oldest request, and no other, once `depth` are there; the rest once all of `total` have come.
    OneWhenFull { depth: usize, total: u64 },
}

/// Requests that have come, and how they are answered.
struct Waiting {
    requests: VecDeque<(Instant, u32, ReplyData)>,
    answers: Answers,
    patience: Duration,
    received: u64,
    most: usize,
    is_stuck: bool,
    is_over: bool,
}

struct RequestQueue {
    clock: Clock,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl RequestQueue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("no holder panics")
    }

    /// Answers what is due, until the device is gone.
    fn serve(&self) {
        let mut waiting = self.waiting();
        while !waiting.is_over {
            let count = waiting.requests.len();
            let ready = match waiting.answers {
                Answers::AtOnce => count,
                Answers::After(time) => {
                    let now = self.clock.now();
                    waiting.requests.iter().take_while(|request| request.0 + time <= now).count()
                }
                Answers::OneWhenFull { total, .. } if waiting.received >= total => count,
                Answers::OneWhenFull { depth, .. } => usize::from(count >= depth),
            };
            let replies: Vec<_> = waiting.requests.drain(..ready).collect();
            if !replies.is_empty() {
                drop(waiting);
                replies.into_iter().for_each(|(_, len, reply)| reply.data(&vec![0; len as usize]));
                waiting = self.waiting();
                continue;
            }
            let patience = match (waiting.answers, waiting.requests.front()) {
                (Answers::After(time), Some(first)) => {
                    Duration::from_nanos((first.0 + time).saturating_since(self.clock.now()).get())
                }
                _ => waiting.patience,
            };
            let holds = matches!(waiting.answers, Answers::OneWhenFull { .. });
            let (woken, timeout) = self.changed.wait_timeout(waiting, patience).expect("no holder panics");
            waiting = woken;
            if timeout.timed_out() && holds && !waiting.requests.is_empty() {
                (waiting.is_stuck, waiting.answers) = (true, Answers::AtOnce);
            }
        }
    }
}

/// The file system: one file of zeros.
struct Server {
    queue: Arc<RequestQueue>,
    size: Bytes,
}

impl Server {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let is_top = ino == INodeNo::ROOT;
        FileAttr {
            ino,
            size: if is_top { 0 } else { self.size.get() },
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_top { FileType::Directory } else { FileType::RegularFile },
            perm: 0o755,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            flags: 0,
            blksize: 4096,
        }
    }
}

const KEEP: Duration = Duration::from_secs(3600);
const DISK: INodeNo = INodeNo(2);

impl Filesystem for Server {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::other("this kernel's FUSE has one direct request in flight");
        // Without it the kernel waits for each direct request before it sends the next one.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        config.set_max_background(1024).map(|_| ()).map_err(|_| io::Error::other("no background requests"))
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == "disk" {
            reply.entry(&KEEP, &self.attributes(DISK), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&KEEP, &self.attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut waiting = self.queue.waiting();
        waiting.requests.push_back((self.queue.clock.now(), size, reply));
        waiting.received += 1;
        waiting.most = waiting.most.max(waiting.requests.len());
        self.queue.changed.notify_all();
    }
}

/// The device; gone when dropped.
pub struct Slow {
    pub node: String,
    queue: Arc<RequestQueue>,
    /// Closed last of all who have it open, so that the kernel ends the device.
    open: Option<File>,
    session: Option<BackgroundSession>,
    folder: TempDir,
}

/// What a device saw since [`Slow::answer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub received: u64,
    /// Requests that were there at once, at most.
    pub most: usize,
    /// Whether it waited in vain for more requests.
    pub is_stuck: bool,
}

impl Slow {
    /// `None`, with a line that says why, where such a device cannot be made. Call on a thread of its own: it leaves the
    /// mount namespace of the process.
    pub fn make(size: Bytes) -> Option<Slow> {
        let made = Slow::try_make(size);
        if let Err(why) = &made {
            let _closed = writeln!(io::stderr(), "skipped: needs root, FUSE and losetup: {why}");
        }
        made.ok()
    }

    fn try_make(size: Bytes) -> io::Result<Slow> {
        leave_mount_namespace()?;
        let folder = TempDir::new()?;
        let waiting = Waiting {
            requests: VecDeque::new(),
            answers: Answers::AtOnce,
            patience: PATIENCE,
            received: 0,
            most: 0,
            is_stuck: false,
            is_over: false,
        };
        let queue = Arc::new(RequestQueue {
            clock: Clock::start(),
            waiting: Mutex::new(waiting),
            changed: Condvar::new(),
        });
        let server = Server { queue: queue.clone(), size };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName("fathom-test".into())];
        let session = fuser::spawn_mount(server, folder.path(), &config)?;
        let mut device = Slow { node: String::new(), queue, open: None, session: Some(session), folder };
        let queue = device.queue.clone();
        std::thread::spawn(move || queue.serve());
        let image = device.folder.path().join("disk");
        let image = image.to_str().ok_or_else(|| io::Error::other("the folder's name is no text"))?;
        device.node = attach(&["--read-only", "--direct-io=on", image])
            .ok_or_else(|| io::Error::other("losetup failed"))?;
        device.open = File::open(&device.node).ok();
        // It is in use, so this only says that it goes when it is closed.
        run("losetup", &["--detach", &device.node]);
        // Neighbours stay requests of their own. The device may be used again, and then begins with this as it was.
        device.set_queue("nomerges", "2");
        Ok(device)
    }

    fn set_queue(&self, key: &str, value: &str) {
        let name = Path::new(&self.node).file_name().expect("a node has a name");
        let path = Path::new("/sys/block").join(name).join("queue").join(key);
        fs::write(path, value).expect("root may set up its loop device");
    }

    /// Answers so from now on, and counts anew.
    pub fn answer(&self, answers: Answers) {
        let mut waiting = self.queue.waiting();
        (waiting.answers, waiting.received, waiting.most, waiting.is_stuck) = (answers, 0, 0, false);
        self.queue.changed.notify_all();
    }

    /// Stands still for no longer than that before it counts as stuck.
    pub fn patience(&self, patience: Duration) {
        self.queue.waiting().patience = patience;
    }

    /// What it saw since.
    pub fn seen(&self) -> Seen {
        let waiting = self.queue.waiting();
        Seen { received: waiting.received, most: waiting.most, is_stuck: waiting.is_stuck }
    }

    /// Milliseconds of requests in flight that the kernel has counted: the weighted time of `/sys/block/*/stat`.
    pub fn weighted_ms(&self) -> u64 {
        let name = self.node.trim_start_matches("/dev/");
        let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).expect("the device is there");
        let field = stat.split_whitespace().nth(10).expect("the kernel counts eleven and more");
        field.parse().expect("it is a number")
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.answer(Answers::AtOnce);
        if self.open.is_some() {
            self.set_queue("nomerges", "0");
        }
        drop(self.open.take());
        drop(self.session.take());
        self.queue.waiting().is_over = true;
        self.queue.changed.notify_all();
    }
}

/// What this thread mounts from now on ends with the process, and nobody else sees it.
fn leave_mount_namespace() -> io::Result<()> {
    // SAFETY: no memory is involved.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    run("mount", &["--make-rprivate", "/"])
        .map(|_| ())
        .ok_or_else(|| io::Error::other("mount --make-rprivate /"))
}
