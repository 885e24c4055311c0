//! Network block devices: what a client and a server say to each other.
//!
//! [`wire`] has the numbers of the protocol and its headers, which both sides write and read; [`client`] is a client's part of
//! the negotiation, and [`replies`] what it makes of what comes back. A server's part is `serve::nbd`.
//!
//! Source: the protocol, <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
//!
//! **Invariant:** no socket and no clock: bytes come from and go to what is given. Whatever the other side sends, no more memory
//! is taken than [`client::OPTION_MOST`] and what was asked for.

pub mod client;
pub mod replies;
pub mod wire;
