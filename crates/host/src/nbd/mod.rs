//! Exports of NBD servers: what a URI names, and a connection to it.
//!
//! The protocol is that of the crate `nbd`. Source of the URIs:
//! <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/uri.md>. TLS is not spoken.
//!
//! **Invariant:** nothing is written to an export but by the engine, which needs a permit.

mod connection;
mod uri;

use std::fmt;
use std::io;

use units::Bytes;

pub use ::nbd::client::Offered;
pub use connection::Connection;
pub use uri::{Address, Uri, UriError};

/// Why there is no talking to an export.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// No connection, or it broke.
    #[error("{uri}: {what}: {source}; check that the server runs and that address and export are right")]
    Io {
        /// Whose.
        uri: String,
        /// What was tried.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The server said no.
    #[error("{uri}: the server refused it: {why}")]
    Refused {
        /// Whose.
        uri: String,
        /// In its words, or what its number means.
        why: String,
    },
    /// What answers is no NBD server, or speaks another dialect.
    #[error("{uri}: {why}")]
    Strange {
        /// Whose.
        uri: String,
        /// What was unexpected.
        why: &'static str,
    },
}

impl NbdError {
    /// That the system refused `what` of the export at `uri`.
    pub(crate) fn io(uri: &str, what: &'static str) -> impl FnOnce(io::Error) -> NbdError {
        let uri = uri.to_owned();
        move |source| NbdError::Io { uri, what, source }
    }
}

/// What an export was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Where it is.
    pub uri: Uri,
    /// What the server offers.
    pub offered: Offered,
}

impl Export {
    /// Asks the server; the connection is closed again.
    pub fn look(uri: &Uri) -> Result<Export, NbdError> {
        let offered = Connection::to(uri)?.offered;
        Ok(Export { uri: uri.clone(), offered })
    }

    /// Its size.
    pub fn size(&self) -> Bytes {
        self.offered.size
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.uri, self.size())
    }
}
