//! Keeps runs and finds them again: one SQLite file, or a team's PostgreSQL server, that several processes use at once.
//!
//! The JSON of a run, of its points and of what a judge says of them is the truth; every column beside it is an index,
//! derived from the run when it is saved, so that listing reads no JSON of a run. Every row has a checksum.
//!
//! **Invariant:** a run is saved whole or not at all, whatever ends the process. This crate knows no plan and
//! draws nothing.

mod address;
mod checksum;
mod entry;
mod error;
mod files;
mod growth;
mod library;
mod listing;
mod location;
mod reserve;
mod schema;
mod selector;
mod server;
mod tables;

pub use address::Address;
pub use error::LibraryError;
pub use growth::{Durability, Kept};
pub use library::Library;
pub use listing::{Filter, Listed};
pub use location::{Location, default_path};
pub use record::Entry;
pub use selector::Selector;
