//! Network block device: the LUNs of an array as exports.
//!
//! A server's part of the protocol, of which the crate `nbd` has the numbers and the headers: fixed newstyle negotiation
//! with LIST, INFO and GO, structured replies and extended headers, `base:allocation`, FUA, flush, trim, write-zeroes
//! several connections to one export, and TLS. No library has a whole server of it in Rust, so this one is our own; a fuzz
//! target feeds it.
//!
//! **Invariant:** whatever a client sends, nothing outside of its export is read or written, and no more memory is taken
//! than [`limits`] allow.

mod answers;
mod handshake;
pub mod limits;
mod server;
mod session;
mod stream;
mod tls;

pub use handshake::{Export, Security};
pub use server::{Address, Server, bind, end_accepting};
pub use session::{Ended, serve};
pub use tls::Tls;
