//! What one client can take of the server.

use std::time::Duration;

/// Connections at once; more are closed at once.
pub const CONNECTIONS: usize = 512;
/// Bytes of one request's data. Also the largest that the protocol promises.
pub const PAYLOAD: u32 = 32 << 20;
/// Bytes of one option's data.
pub const OPTION: u32 = 64 << 10;
/// Options before the transmission begins.
pub const OPTIONS: u32 = 2048;
/// All of the negotiation.
pub const NEGOTIATION: Duration = Duration::from_secs(15);
/// A client that takes none of its answers for so long is dropped.
pub const ANSWER: Duration = Duration::from_secs(30);
/// Extents in one answer to a question for block status.
pub const EXTENTS: usize = 1024;
/// Requests of one connection that are under way at once, where answers wait for a model.
pub const IN_FLIGHT: usize = 1024;
