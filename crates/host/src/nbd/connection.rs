//! A connection to an export: the negotiation, and requests one after the other.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use units::Bytes;
use units::convert::narrow;

use super::wire::*;
use super::{Address, NbdError, Uri};

/// For how long an answer is waited for before requests flow.
const PATIENCE: Duration = Duration::from_secs(10);

/// No reply to an option that is meant well is longer.
const OPTION_MOST: u32 = 64 << 10;

/// So many replies to one option are read.
const REPLIES_MOST: u32 = 64;

/// What a server offers of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The size of the export.
    pub size: Bytes,
    /// Its flags, as they are on the wire.
    pub flags: u16,
    /// What offsets and lengths are multiples of.
    pub block: Bytes,
    /// The largest request.
    pub largest: Bytes,
}

/// What is taken where a server does not say it: sectors, as disks have them, and 32 MiB, which every server takes.
const UNTOLD: (Bytes, Bytes) = (Bytes::new(512), Bytes::new(32 << 20));

impl Offered {
    /// Whether the export has that flag.
    pub(crate) fn has(self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether nothing may be written.
    pub fn is_read_only(self) -> bool {
        self.has(READ_ONLY)
    }

    /// Whether several connections see the same data after a flush.
    pub fn takes_many(self) -> bool {
        self.is_read_only() || self.has(CAN_MULTI_CONN)
    }
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connection over which requests may be made.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    uri: String,
    /// What the server offers.
    pub offered: Offered,
}

impl Connection {
    /// Connects and agrees on the export.
    pub fn to(uri: &Uri) -> Result<Connection, NbdError> {
        let text = uri.to_string();
        let failed = |what| {
            let uri = text.clone();
            move |source| NbdError::Io { uri, what, source }
        };
        let stream = connected(&uri.address).map_err(failed("cannot connect"))?;
        let nothing = Offered { size: Bytes::ZERO, flags: 0, block: UNTOLD.0, largest: UNTOLD.1 };
        let mut connection = Connection { stream, uri: text.clone(), offered: nothing };
        connection.stream.wait_at_most(Some(PATIENCE)).map_err(failed("cannot be waited for"))?;
        connection.agree(&uri.export)?;
        connection.stream.wait_at_most(None).map_err(failed("cannot be waited for"))?;
        Ok(connection)
    }

    /// Reads into `bytes` and waits for it.
    pub fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), NbdError> {
        let len = narrow::<u32>(bytes.len());
        self.put(&request(0, COMMAND_READ, 0, offset, len))?;
        self.answered("reading")?;
        self.take(bytes)
    }

    /// Has what was written be on the media, and waits for it. Of a server that takes no flush nothing is asked.
    pub fn flush(&mut self) -> Result<(), NbdError> {
        if !self.offered.has(SEND_FLUSH) {
            return Ok(());
        }
        self.put(&request(0, COMMAND_FLUSH, 0, 0, 0))?;
        self.answered("flushing")
    }

    /// Does not wait any more, in either direction.
    pub(crate) fn never_wait(&self) -> io::Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    fn answered(&mut self, what: &'static str) -> Result<(), NbdError> {
        let mut header = [0; REPLY_LEN];
        self.take(&mut header)?;
        match reply(&header) {
            Some((0, _)) => Ok(()),
            Some((errno, _)) => Err(NbdError::Io {
                uri: self.uri.clone(),
                what,
                source: io::Error::from_raw_os_error(narrow::<i32>(errno & 0xffff)),
            }),
            None => Err(self.strange("it answers with what is no reply")),
        }
    }

    fn agree(&mut self, export: &str) -> Result<(), NbdError> {
        let mut greeting = [0; 18];
        self.take(&mut greeting)?;
        if be64(&greeting) != NBDMAGIC {
            return Err(self.strange("what answers there is no NBD server"));
        }
        let flags = be16(&greeting[16..]);
        if be64(&greeting[8..]) != IHAVEOPT || flags & FIXED_NEWSTYLE == 0 {
            return Err(
                self.strange("the server speaks only the oldest dialect of NBD, which names no export")
            );
        }
        let own = flags & (FIXED_NEWSTYLE | NO_ZEROES);
        self.put(&u32::from(own).to_be_bytes())?;
        let name = export.as_bytes();
        let mut asked = narrow::<u32>(name.len()).to_be_bytes().to_vec();
        asked.extend(name);
        asked.extend(1_u16.to_be_bytes());
        asked.extend(INFO_BLOCK_SIZE.to_be_bytes());
        self.option(OPTION_GO, &asked)?;
        let mut is_known = false;
        for _ in 0..REPLIES_MOST {
            let (kind, data) = self.option_reply()?;
            match kind {
                REPLY_ACK if is_known => return self.checked(),
                REPLY_INFO => is_known |= self.informed(&data),
                ERR_UNSUP => return self.by_name(name, own & NO_ZEROES != 0),
                REPLY_ACK => return Err(self.strange("the server did not say how large the export is")),
                error => return Err(self.refused(error, &data)),
            }
        }
        Err(self.strange("the server has no end of answers to one question"))
    }

    /// The older way, of a server that knows no other.
    fn by_name(&mut self, name: &[u8], no_zeroes: bool) -> Result<(), NbdError> {
        self.option(OPTION_EXPORT_NAME, name)?;
        let mut export = [0; 10 + 124];
        let len = if no_zeroes { 10 } else { export.len() };
        self.take(&mut export[..len])?;
        self.offered.size = Bytes::new(be64(&export));
        self.offered.flags = be16(&export[8..]);
        self.checked()
    }

    /// Takes in what the server tells; whether it was the size.
    fn informed(&mut self, data: &[u8]) -> bool {
        match (data.len(), data.first_chunk().map(|kind| u16::from_be_bytes(*kind))) {
            (12, Some(INFO_EXPORT)) => {
                self.offered.size = Bytes::new(be64(&data[2..]));
                self.offered.flags = be16(&data[10..]);
                true
            }
            (14, Some(INFO_BLOCK_SIZE)) => {
                self.offered.block = Bytes::new(be32(&data[2..]).into());
                self.offered.largest = Bytes::new(be32(&data[10..]).into());
                false
            }
            _ => false,
        }
    }

    /// Refuses what cannot be.
    fn checked(&self) -> Result<(), NbdError> {
        let Offered { size, block, largest, .. } = self.offered;
        let is_sound = i64::try_from(size.get()).is_ok()
            && block.get().is_power_of_two()
            && block <= Bytes::new(64 << 10)
            && largest >= block;
        if is_sound { Ok(()) } else { Err(self.strange("the server states sizes that cannot be")) }
    }

    fn option(&mut self, option: u32, data: &[u8]) -> Result<(), NbdError> {
        let mut message = IHAVEOPT.to_be_bytes().to_vec();
        message.extend(option.to_be_bytes());
        message.extend(narrow::<u32>(data.len()).to_be_bytes());
        message.extend(data);
        self.put(&message)
    }

    fn option_reply(&mut self) -> Result<(u32, Vec<u8>), NbdError> {
        let mut header = [0; 20];
        self.take(&mut header)?;
        let len = be32(&header[16..]);
        if be64(&header) != OPTION_REPLY || len > OPTION_MOST {
            return Err(self.strange("the server's answer is none of the protocol"));
        }
        let mut data = vec![0; narrow::<usize>(len)];
        self.take(&mut data)?;
        Ok((be32(&header[12..]), data))
    }

    fn refused(&self, error: u32, data: &[u8]) -> NbdError {
        let told = String::from_utf8_lossy(data);
        let meaning = match error {
            ERR_UNKNOWN => "it has no export of that name",
            ERR_TLS_REQD => "it wants TLS, which is not supported here",
            ERR_POLICY => "it does not allow it",
            _ => "",
        };
        let why = match (meaning, told.trim()) {
            ("", "") => format!("error {error:#x}"),
            ("", told) => told.to_owned(),
            (meaning, "") => meaning.to_owned(),
            (meaning, told) => format!("{meaning} ({told})"),
        };
        NbdError::Refused { uri: self.uri.clone(), why }
    }

    fn strange(&self, why: &str) -> NbdError {
        NbdError::Strange { uri: self.uri.clone(), why: why.into() }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), NbdError> {
        self.stream.write_all(bytes).map_err(|source| NbdError::Io {
            uri: self.uri.clone(),
            what: "sending failed",
            source,
        })
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), NbdError> {
        self.stream.read_exact(bytes).map_err(|source| NbdError::Io {
            uri: self.uri.clone(),
            what: "the server did not answer",
            source,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A server that does not hear it sees the end of the connection.
        let _unheard = self.stream.write_all(&request(0, COMMAND_DISCONNECT, 0, 0, 0));
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
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
        match &mut self.stream {
            Stream::Tcp(stream) => stream.write_vectored(parts),
            Stream::Unix(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(time).and_then(|()| stream.set_write_timeout(time))
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(time).and_then(|()| stream.set_write_timeout(time))
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(bytes),
            Stream::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn connected(address: &Address) -> io::Result<Stream> {
    match address {
        Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        Address::Tcp(host, port) => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in (host.as_str(), *port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, PATIENCE) {
                    Ok(stream) => {
                        // A request that waits for the next to be sent with it is measured as slow.
                        stream.set_nodelay(true)?;
                        return Ok(Stream::Tcp(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
