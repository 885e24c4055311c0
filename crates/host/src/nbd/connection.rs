//! A connection to an export: the negotiation, and requests one after the other.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ::nbd::client::{Disagreed, Offered, agree};
use ::nbd::wire::{REPLY_LEN, Request, command, flag, simple_reply_of};
use units::convert::narrow;

use super::{Address, NbdError, Uri};

/// For how long an answer is waited for before requests flow.
const PATIENCE: Duration = Duration::from_secs(10);

/// What sockets of either kind do.
trait Socket: Read + Write + AsFd + fmt::Debug + Send {
    /// Waits no longer than that, in either direction.
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()>;
    /// Does not wait any more.
    fn never_wait(&self) -> io::Result<()>;
}

macro_rules! sockets {
    ($($kind:ty)*) => {
        $(impl Socket for $kind {
            fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(time).and_then(|()| self.set_write_timeout(time))
            }

            fn never_wait(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
        })*
    };
}

sockets!(TcpStream UnixStream);

/// A connection over which requests may be made.
#[derive(Debug)]
pub struct Connection {
    stream: Box<dyn Socket>,
    uri: String,
    /// What the server offers.
    pub offered: Offered,
}

impl Connection {
    /// Connects and agrees on the export.
    pub fn to(uri: &Uri) -> Result<Connection, NbdError> {
        let text = uri.to_string();
        let failed = |what| NbdError::io(&text, what);
        let mut stream = connected(&uri.address).map_err(failed("cannot connect"))?;
        stream.wait_at_most(Some(PATIENCE)).map_err(failed("cannot be waited for"))?;
        let offered = agree(&mut stream, &uri.export).map_err(|why| match why {
            Disagreed::Io(what, source) => failed(what)(source),
            Disagreed::Refused(why) => NbdError::Refused { uri: text.clone(), why },
            Disagreed::Strange(why) => NbdError::Strange { uri: text.clone(), why },
        })?;
        stream.wait_at_most(None).map_err(failed("cannot be waited for"))?;
        Ok(Connection { stream, uri: text, offered })
    }

    /// Reads into `bytes` and waits for it.
    pub fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), NbdError> {
        let (block, len) = (self.offered.block.get(), bytes.len() as u64);
        assert!(
            offset.is_multiple_of(block) && len.is_multiple_of(block),
            "each read must be of whole blocks"
        );
        self.asked("reading", command::READ, offset, len)?;
        self.take(bytes)
    }

    /// Has what was written be on the media, and waits for it. Of a server that takes no flush nothing is asked.
    pub fn flush(&mut self) -> Result<(), NbdError> {
        if !self.offered.has(flag::SEND_FLUSH) {
            return Ok(());
        }
        self.asked("flushing", command::FLUSH, 0, 0)
    }

    /// Does not wait any more, in either direction.
    pub(crate) fn never_wait(&self) -> io::Result<()> {
        self.stream.never_wait()
    }

    /// Asks, and waits for the reply; the data that come with it are next.
    fn asked(&mut self, what: &'static str, command: u16, offset: u64, len: u64) -> Result<(), NbdError> {
        let request = Request { flags: 0, command, cookie: 0, offset, len };
        self.stream.write_all(&request.header()).map_err(NbdError::io(&self.uri, "sending failed"))?;
        let mut header = [0; REPLY_LEN];
        self.take(&mut header)?;
        match simple_reply_of(&header) {
            Some((0, _)) => Ok(()),
            Some((errno, _)) => {
                let source = io::Error::from_raw_os_error(narrow::<i32>(errno & 0xffff));
                Err(NbdError::io(&self.uri, what)(source))
            }
            None => {
                let why = "it answers with what is no reply";
                Err(NbdError::Strange { uri: self.uri.clone(), why })
            }
        }
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), NbdError> {
        self.stream.read_exact(bytes).map_err(NbdError::io(&self.uri, "the server did not answer"))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A server that does not hear it sees the end of the connection.
        let last = Request { flags: 0, command: command::DISCONNECT, cookie: 0, offset: 0, len: 0 };
        let _unheard = self.stream.write_all(&last.header());
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Read for Connection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn write_vectored(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.stream.write_vectored(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn connected(address: &Address) -> io::Result<Box<dyn Socket>> {
    match address {
        Address::Unix(path) => Ok(Box::new(UnixStream::connect(path)?)),
        Address::Tcp(host, port) => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in (host.as_str(), *port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, PATIENCE) {
                    Ok(stream) => {
                        // A request that waits for the next to be sent with it is measured as slow.
                        stream.set_nodelay(true)?;
                        return Ok(Box::new(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
