//! TLS for a connection: what goes over the network is encrypted, and a session talks plainly to one end of a pair of
//! sockets.
//!
//! The names of the files are those that `nbdkit --tls-certificates` and `tls-certificates=` in an NBD URI take.
//!
//! **Invariant:** nothing of the session goes out in the clear, and nothing comes in that was not authenticated.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

/// Bytes that are taken from one side before the other has got them.
const TAKEN: usize = 64 << 10;
/// How long a client may take for the last of its answers.
const LAST: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// Who this server is, and who may come.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    asks_who_comes: bool,
}

impl Tls {
    /// From `server-cert.pem` and `server-key.pem` of a directory. Where it has `ca-cert.pem` too, only clients come in that
    /// have a certificate which was signed by that authority.
    pub fn open(directory: &Path) -> io::Result<Tls> {
        let chain = certificates(&directory.join("server-cert.pem"))?;
        let key = directory.join("server-key.pem");
        let key = PrivateKeyDer::from_pem_file(&key).map_err(|why| unusable(&key, why))?;
        let authority = directory.join("ca-cert.pem");
        let asks_who_comes = authority.try_exists()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider.clone());
        let versions = versions.with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let asked = if asks_who_comes {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(&authority)? {
                roots.add(certificate).map_err(|why| unusable(&authority, why))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            versions.with_client_cert_verifier(verifier.map_err(|why| unusable(&authority, why))?)
        } else {
            versions.with_no_client_auth()
        };
        let config = asked.with_single_cert(chain, key);
        let config = config.map_err(|why| unusable(&directory.join("server-key.pem"), why))?;
        Ok(Tls { config: Arc::new(config), asks_who_comes })
    }

    /// Whether a client has to show a certificate.
    pub fn asks_who_comes(&self) -> bool {
        self.asks_who_comes
    }

    /// The plain side of a connection whose other side begins TLS with its next byte.
    pub(super) fn over(&self, network: TcpStream) -> io::Result<UnixStream> {
        let tls = ServerConnection::new(self.config.clone()).map_err(io::Error::other)?;
        let (session, plain) = UnixStream::pair()?;
        for socket in [network.set_nonblocking(true), plain.set_nonblocking(true)] {
            socket?;
        }
        Builder::new().name("fathom-tls".into()).stack_size(256 << 10).spawn(move || {
            let mut tunnel = Tunnel { network, plain, tls, inward: Vec::new(), is_ended: false };
            // A client that goes away or cannot say who it is ends its own connection.
            let _ended = tunnel.run();
            let _closed = tunnel.network.shutdown(Shutdown::Both);
        })?;
        Ok(session)
    }
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).map_err(|why| unusable(path, why))?;
    let found: Result<Vec<_>, _> = found.collect();
    match found.map_err(|why| unusable(path, why))? {
        none if none.is_empty() => Err(unusable(path, "there is no certificate in it")),
        some => Ok(some),
    }
}

fn unusable(path: &Path, why: impl std::fmt::Display) -> io::Error {
    let path: PathBuf = path.into();
    io::Error::new(ErrorKind::InvalidInput, format!("{}: {why}", path.display()))
}

/// The network on one side, the session on the other.
struct Tunnel {
    network: TcpStream,
    plain: UnixStream,
    tls: ServerConnection,
    /// What the client has sent and the session has not taken yet.
    inward: Vec<u8>,
    /// Whether the client sends no more.
    is_ended: bool,
}

impl Tunnel {
    fn run(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; TAKEN];
        loop {
            let (network, plain) = self.wait()?;
            if network.contains(PollFlags::OUT) {
                self.send()?;
            }
            if network.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                self.receive(&mut bytes)?;
            }
            self.hand_in()?;
            if plain.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
                && !self.take_out(&mut bytes)?
            {
                return self.finish();
            }
        }
    }

    /// What can be done now. Nothing more is taken from a side whose last bytes the other one has not got.
    fn wait(&self) -> io::Result<(PollFlags, PollFlags)> {
        let when = |wanted: bool, flags| if wanted { flags } else { PollFlags::empty() };
        let (is_in_wanted, is_out_wanted) =
            (self.inward.is_empty() && !self.is_ended, self.tls.wants_write());
        let network = when(is_in_wanted, PollFlags::IN) | when(is_out_wanted, PollFlags::OUT);
        let plain = when(!is_out_wanted, PollFlags::IN) | when(!self.inward.is_empty(), PollFlags::OUT);
        let mut both = [PollFd::new(&self.network, network), PollFd::new(&self.plain, plain)];
        match poll(&mut both, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok((both[0].revents(), both[1].revents())),
            Err(why) => Err(why.into()),
        }
    }

    fn send(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut &self.network) {
                Ok(_) => {}
                Err(why) if is_later(&why) => return Ok(()),
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    fn receive(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        if self.is_ended || !self.inward.is_empty() {
            return Ok(());
        }
        match self.tls.read_tls(&mut &self.network) {
            Ok(0) => self.is_ended = true,
            Ok(_) => {}
            Err(why) if is_later(&why) => return Ok(()),
            Err(why) => return Err(why),
        }
        if let Err(why) = self.tls.process_new_packets() {
            // The client is told why; that it is not listening any more is no other error.
            let _told = self.send();
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        loop {
            match self.tls.reader().read(bytes) {
                Ok(0) => {
                    self.is_ended = true;
                    break;
                }
                Ok(count) => self.inward.extend_from_slice(&bytes[..count]),
                Err(why) if is_later(&why) => break,
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// Gives the session what the client has sent; or that no more will come.
    fn hand_in(&mut self) -> io::Result<()> {
        while !self.inward.is_empty() {
            match (&self.plain).write(&self.inward) {
                Ok(count) => drop(self.inward.drain(..count)),
                Err(why) if is_later(&why) => return Ok(()),
                Err(why) => return Err(why),
            }
        }
        if self.is_ended {
            self.plain.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// Encrypts what the session answers; `false` once it has ended.
    fn take_out(&mut self, bytes: &mut [u8]) -> io::Result<bool> {
        if self.tls.wants_write() {
            // What was taken before goes first; a session that is gone is waited for no longer than that.
            return Ok(true);
        }
        match (&self.plain).read(bytes) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.tls.writer().write_all(&bytes[..count])?;
                self.send()?;
                Ok(true)
            }
            Err(why) if is_later(&why) => Ok(true),
            Err(why) => Err(why),
        }
    }

    /// Sends the last of it.
    fn finish(&mut self) -> io::Result<()> {
        debug_assert!(!self.tls.wants_write(), "what was taken before has gone out");
        self.tls.send_close_notify();
        while self.tls.wants_write() {
            let mut network = [PollFd::new(&self.network, PollFlags::OUT)];
            if poll(&mut network, Some(&LAST))? == 0 {
                return Err(ErrorKind::TimedOut.into());
            }
            self.send()?;
        }
        Ok(())
    }
}

fn is_later(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
