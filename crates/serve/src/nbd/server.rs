//! Listening, and a thread for each connection.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::answers::{Answers, Sink};
use super::handshake::{Export, Security};
use super::limits;
use super::session::{self, Ended, Reply};
use super::tls::Tls;
use crate::machine::Machine;
use crate::pace::Pacer;

/// Where clients come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP: in the clear on this machine, with TLS from others.
    Tcp(SocketAddr),
    /// A socket in the file system, whose rights say who may come.
    Unix(PathBuf),
}

/// A server for as long as it is held.
pub struct Server {
    shared: Arc<Shared>,
    uri: String,
    path: Option<PathBuf>,
    thread: Mutex<Option<JoinHandle<()>>>,
    listener: Arc<Listener>,
}

struct Shared {
    machine: Arc<Machine>,
    exports: Vec<Export>,
    pacer: Option<Arc<Pacer>>,
    /// What clients must begin with.
    tls: Option<Tls>,
    is_over: AtomicBool,
    connections: AtomicUsize,
    /// What is shut down at the end, by number.
    open: Mutex<Vec<(usize, Stream)>>,
    next: AtomicUsize,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Stream {
    fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
        })
    }

    fn shut(&self) {
        // One that is closed already needs nothing.
        let _closed = match self {
            Stream::Tcp(stream) => stream.shutdown(std::net::Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(std::net::Shutdown::Both),
        };
    }

    fn timeouts(&self, read: Option<Duration>, write: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(read)?;
                stream.set_write_timeout(Some(write))?;
                stream.set_nodelay(true)
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(read)?;
                stream.set_write_timeout(Some(write))
            }
        }
    }
}

impl Sink for Stream {
    fn take_at_once(&self, bytes: &[u8]) -> usize {
        use rustix::net::{SendFlags, send};
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = match self {
            Stream::Tcp(stream) => send(stream, bytes, flags),
            Stream::Unix(stream) => send(stream, bytes, flags),
        };
        // Who sends the rest is told why there is none.
        sent.unwrap_or(0)
    }

    fn take_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self).write_all(bytes)
    }

    fn shut(&self) {
        Stream::shut(self);
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(into),
            Stream::Unix(stream) => (&mut &*stream).read(into),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(from),
            Stream::Unix(stream) => (&mut &*stream).write(from),
        }
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write_vectored(from),
            Stream::Unix(stream) => (&mut &*stream).write_vectored(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Server {
    /// Serves the LUNs of `machine` as `lun0`, `lun1` and so on, the first one also without a name.
    ///
    /// With `tls`, clients that come by TCP have to begin it. An address that other machines reach is refused without, or
    /// where everybody may come.
    pub fn listen(
        machine: Arc<Machine>,
        address: &Address,
        pacer: Option<Arc<Pacer>>,
        tls: Option<&Tls>,
    ) -> io::Result<Server> {
        let (listener, uri, path) = match address {
            Address::Tcp(at) => {
                let is_safe = at.ip().is_loopback() || tls.is_some_and(Tls::asks_who_comes);
                if !is_safe {
                    return Err(io::Error::new(ErrorKind::PermissionDenied, not_for_all(*at, tls)));
                }
                let listener = TcpListener::bind(at)?;
                let at = listener.local_addr()?;
                let scheme = if tls.is_some() { "nbds" } else { "nbd" };
                (Listener::Tcp(listener), format!("{scheme}://{at}"), None)
            }
            Address::Unix(path) => {
                let listener = bind(path)?;
                let uri = format!("nbd+unix:///?socket={}", path.display());
                (Listener::Unix(listener), uri, Some(path.clone()))
            }
        };
        let exports = (0..).zip(machine.luns()).map(|(number, lun): (usize, _)| Export {
            name: format!("lun{number}"),
            about: machine.name().to_owned(),
            bytes: lun.sectors * units::SECTOR_BYTES,
            is_rotating: machine.is_rotating(),
        });
        let shared = Arc::new(Shared {
            exports: exports.collect(),
            machine,
            pacer,
            tls: tls.filter(|_| matches!(address, Address::Tcp(_))).cloned(),
            is_over: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            open: Mutex::default(),
            next: AtomicUsize::new(0),
        });
        let (own, listener) = (shared.clone(), Arc::new(listener));
        let heard = listener.clone();
        let thread = Builder::new().name("fathom-nbd".into()).spawn(move || own.accept(&heard))?;
        Ok(Server { shared, uri, path, thread: Mutex::new(Some(thread)), listener })
    }

    /// The address as clients take it.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// How many clients there are.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        match &*self.listener {
            Listener::Tcp(listener) => end_accepting(listener),
            Listener::Unix(listener) => end_accepting(listener),
        }
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ended = thread.join();
        }
        for (_, stream) in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            stream.shut();
        }
        // Requests that were begun are ended before the array is closed.
        let clock = crate::clock::Clock::start();
        while self.connections() > 0 && clock.now() < Duration::from_secs(5) {
            crate::clock::wait(Duration::from_millis(2));
        }
        if let Some(path) = &self.path {
            let _gone = fs::remove_file(path);
        }
    }
}

fn not_for_all(at: SocketAddr, tls: Option<&Tls>) -> String {
    let why = match tls {
        None => "NBD without TLS has no authentication; give --tls with certificates",
        Some(_) => "without ca-cert.pem in the directory of --tls everybody may come; add it",
    };
    format!(
        "{at} can be reached from other machines, and {why}, or listen on 127.0.0.1 or on a Unix socket, and let others in \
         by `ssh -L`"
    )
}

/// Has `accept` of `listener` return with an error. Nobody needs to connect for that: its path may be gone.
pub fn end_accepting(listener: &impl AsFd) {
    let _ended = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
}

/// A socket at `path`, in place of one that nobody listens on any more; an error where anything else is there, which stays.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if UnixStream::connect(path).is_ok() {
                return Err(io::Error::new(ErrorKind::AddrInUse, "another server listens there"));
            }
            if !fs::symlink_metadata(path)?.file_type().is_socket() {
                let why = "something that is no socket is there, and stays; name another path, or remove it yourself";
                return Err(io::Error::new(ErrorKind::AlreadyExists, why));
            }
            fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

impl Shared {
    fn accept(self: &Arc<Shared>, listener: &Listener) {
        loop {
            let stream = match listener {
                Listener::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
                Listener::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            };
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            match stream {
                Ok(stream) => self.begin(stream),
                // Too many open files: those that there are go on.
                Err(_) => crate::clock::wait(Duration::from_millis(20)),
            }
        }
    }

    fn begin(self: &Arc<Shared>, stream: Stream) {
        if self.connections.fetch_add(1, Ordering::AcqRel) >= limits::CONNECTIONS {
            self.connections.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let own = self.clone();
        let thread = Builder::new().name("fathom-client".into()).stack_size(512 << 10).spawn(move || {
            // A client that goes away in the middle, or talks nonsense, is its own affair.
            let _gone = own.talk(&stream);
            own.connections.fetch_sub(1, Ordering::AcqRel);
        });
        if thread.is_err() {
            self.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn talk(&self, stream: &Stream) -> io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push((number, stream.try_clone()?));
        let talked = self.talk_securely(stream);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != number);
        stream.shut();
        talked
    }

    fn talk_securely(&self, stream: &Stream) -> io::Result<()> {
        stream.timeouts(Some(limits::NEGOTIATION), limits::ANSWER)?;
        let (Some(tls), Stream::Tcp(network)) = (&self.tls, stream) else {
            return self.converse(stream, Security::Local).map(|_| ());
        };
        if let Ended::Tls(flags) = self.converse(stream, Security::Required)? {
            let plain = Stream::Unix(tls.over(network.try_clone()?)?);
            plain.timeouts(Some(limits::NEGOTIATION), limits::ANSWER)?;
            let ended = self.converse(&plain, Security::Established(flags));
            plain.shut();
            ended?;
        }
        Ok(())
    }

    fn converse(&self, stream: &Stream, security: Security) -> io::Result<Ended> {
        let began = || {
            // A client may be silent for as long as it likes now.
            let _set = stream.timeouts(None, limits::ANSWER);
        };
        match &self.pacer {
            None => session::serve(&self.machine, &self.exports, security, stream, stream, None, began),
            Some(pacer) => self.talk_in_time(pacer, stream, security, began),
        }
    }

    /// Answers go to a thread of their own, which sends them when the model says.
    fn talk_in_time(
        &self,
        pacer: &Pacer,
        stream: &Stream,
        security: Security,
        began: impl FnOnce(),
    ) -> io::Result<Ended> {
        let answers = Answers::to(stream.try_clone()?);
        let sender = answers.clone();
        let writer = Builder::new()
            .name("fathom-answers".into())
            .stack_size(256 << 10)
            .spawn(move || sender.send_all())?;
        let ticket = || -> Reply {
            let ticket = answers.ticket();
            Box::new(move |answer| ticket.give(&answer))
        };
        let pacing = Some((pacer, &ticket as _));
        let talked = session::serve(&self.machine, &self.exports, security, stream, stream, pacing, began);
        answers.close();
        if talked.is_err() {
            stream.shut();
        }
        let _ended = writer.join();
        talked
    }
}
