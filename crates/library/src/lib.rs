//! Keeps runs and finds them again: one SQLite file that several processes use at once.
//!
//! The JSON of a run, of its points and of what a judge says of them is the truth; every column beside it is an index, derived from the run when it is saved,
//! so that listing reads no JSON of a run.
//!
//! **Invariant:** a run is saved whole or not at all, whatever ends the process. This crate knows no plan and
//! draws nothing.

mod entry;
mod error;
mod files;
mod growth;
mod library;
mod place;
mod schema;
mod selector;

pub use error::LibraryError;
pub use growth::{Durability, Kept};
pub use library::{Filter, Keep, Library};
pub use place::default_path;
pub use record::Entry;
pub use selector::Selector;
