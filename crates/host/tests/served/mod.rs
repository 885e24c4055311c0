//! An NBD server of a file, for the time of a test: simple replies, several answers at once and the last first.

#![allow(dead_code, reason = "each test uses its part")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FallocateFlags;

/// Flags of an export: there are some, flush, write-through, trim, several connections.
pub const ALL: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8;
/// It may not be written.
pub const READ_ONLY: u16 = 1 | 1 << 1;

/// How a server behaves.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Flags of its export.
    pub flags: u16,
    /// Whether it knows the option GO, or only the older one.
    pub goes: bool,
    /// The largest request it takes.
    pub largest: u32,
    /// After so many requests it closes the connection.
    pub leaves_after: u64,
}

pub const GOOD: Manner = Manner { flags: ALL, goes: true, largest: 1 << 20, leaves_after: u64::MAX };

/// What a server has seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicU64,
    pub flushes: AtomicU64,
    pub through: AtomicU64,
    /// The most requests that waited for their answer together.
    pub together: AtomicU64,
}

#[derive(Debug)]
pub struct Server {
    pub uri: String,
    pub seen: Arc<Seen>,
}

trait Stream: Read + Write + AsFd + Send {}
impl Stream for UnixStream {}
impl Stream for TcpStream {}

impl Server {
    /// Serves `path` on a socket beside it. It ends with the process of the test.
    pub fn unix(path: &Path, manner: Manner) -> Server {
        static SERVERS: AtomicU64 = AtomicU64::new(0);
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let socket = PathBuf::from(format!("{}.s{number}", path.display()));
        let listener = UnixListener::bind(&socket).unwrap();
        let uri = format!("nbd+unix:///disk?socket={}", socket.display());
        Server::start(uri, path, manner, move || Ok(Box::new(listener.accept()?.0)))
    }

    /// The same on a port of the loopback.
    pub fn tcp(path: &Path, manner: Manner) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("nbd://127.0.0.1:{}/disk", listener.local_addr().unwrap().port());
        Server::start(uri, path, manner, move || Ok(Box::new(listener.accept()?.0)))
    }

    fn start(
        uri: String,
        path: &Path,
        manner: Manner,
        accept: impl Fn() -> io::Result<Box<dyn Stream>> + Send + 'static,
    ) -> Server {
        let seen = Arc::new(Seen::default());
        let (path, own) = (path.to_owned(), seen.clone());
        thread::spawn(move || {
            while let Ok(stream) = accept() {
                let file = File::options().read(true).write(true).open(&path).unwrap();
                let seen = own.clone();
                // A client that has gone ends its connection.
                thread::spawn(move || Connection { stream, file, manner, seen }.serve().ok());
            }
        });
        Server { uri, seen }
    }
}

struct Connection {
    stream: Box<dyn Stream>,
    file: File,
    manner: Manner,
    seen: Arc<Seen>,
}

impl Connection {
    fn serve(mut self) -> io::Result<()> {
        self.agree()?;
        self.seen.connections.fetch_add(1, Ordering::Relaxed);
        let mut replies: Vec<Vec<u8>> = Vec::new();
        for _ in 0..self.manner.leaves_after {
            let mut header = [0; 28];
            self.stream.read_exact(&mut header)?;
            if header[6..8] == [0, 2] {
                return Ok(());
            }
            replies.push(self.answer(&header)?);
            self.seen.together.fetch_max(replies.len() as u64, Ordering::Relaxed);
            if replies.len() == 5 || !self.has_more()? {
                while let Some(reply) = replies.pop() {
                    self.stream.write_all(&reply)?;
                }
            }
        }
        Ok(())
    }

    fn has_more(&self) -> io::Result<bool> {
        let mut sockets = [PollFd::new(&self.stream, PollFlags::IN)];
        Ok(poll(&mut sockets, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? > 0)
    }

    fn agree(&mut self) -> io::Result<()> {
        self.stream.write_all(b"NBDMAGICIHAVEOPT\0\x03")?;
        self.stream.read_exact(&mut [0; 4])?;
        loop {
            let mut option = [0; 16];
            self.stream.read_exact(&mut option)?;
            let mut data = vec![0; u32::from_be_bytes(option[12..].try_into().unwrap()) as usize];
            self.stream.read_exact(&mut data)?;
            let size = self.file.metadata()?.len();
            let mut export = size.to_be_bytes().to_vec();
            export.extend(self.manner.flags.to_be_bytes());
            if option[11] == 1 {
                assert_eq!(data, b"disk");
                return self.stream.write_all(&export);
            }
            assert_eq!((option[11], &data[4..8]), (7, b"disk".as_slice()));
            if !self.manner.goes {
                self.reply(1 << 31 | 1, b"what is that")?;
                continue;
            }
            export.splice(0..0, [0, 0]);
            self.reply(3, &export)?;
            let mut blocks = 3_u16.to_be_bytes().to_vec();
            [512_u32, 4096, self.manner.largest].iter().for_each(|size| blocks.extend(size.to_be_bytes()));
            self.reply(3, &blocks)?;
            return self.reply(1, &[]);
        }
    }

    fn reply(&mut self, kind: u32, data: &[u8]) -> io::Result<()> {
        let mut reply = 0x0003_E889_0455_65A9_u64.to_be_bytes().to_vec();
        reply.extend(7_u32.to_be_bytes());
        reply.extend(kind.to_be_bytes());
        reply.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        reply.extend(data);
        self.stream.write_all(&reply)
    }

    fn answer(&mut self, header: &[u8; 28]) -> io::Result<Vec<u8>> {
        assert_eq!(header[..4], 0x2560_9513_u32.to_be_bytes());
        let offset = u64::from_be_bytes(header[16..24].try_into().unwrap());
        let len = u32::from_be_bytes(header[24..].try_into().unwrap());
        let mut data = vec![0; len as usize];
        let done = match header[7] {
            0 => self.file.read_exact_at(&mut data, offset),
            1 => {
                self.stream.read_exact(&mut data)?;
                let through = u64::from(header[5] & 1);
                self.seen.through.fetch_add(through, Ordering::Relaxed);
                self.file.write_all_at(&data, offset)
            }
            3 => {
                assert_eq!((offset, len), (0, 0));
                self.seen.flushes.fetch_add(1, Ordering::Relaxed);
                self.file.sync_data()
            }
            4 => {
                let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                rustix::fs::fallocate(&self.file, punch, offset, len.into()).map_err(io::Error::from)
            }
            other => panic!("command {other} was not asked for"),
        };
        let mut reply = 0x6744_6698_u32.to_be_bytes().to_vec();
        reply.extend(if done.is_ok() { 0_u32 } else { 5 }.to_be_bytes());
        reply.extend(&header[8..16]);
        if header[7] == 0 && done.is_ok() {
            reply.extend(data);
        }
        Ok(reply)
    }
}
