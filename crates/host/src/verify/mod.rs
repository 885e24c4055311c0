//! Whether what is read is what was written.
//!
//! Every block that a verifying workload writes carries a `stamp` of itself. The [`Books`] of a run say which write
//! of which block ended last, over all its phases; a [`Checker`] stamps the writes of one worker, keeps the books and
//! holds what it reads against them.
//!
//! **Invariants:** a block is called wrong only where nothing else can have been there: while a write of it is in
//! flight, or after two of them overlapped, it is not checked. Where nothing is verified none of this is run.

mod books;
mod check;
mod header;
mod kept;
mod others;
mod stamp;

use std::sync::Arc;

pub use books::{Books, Ledger};
pub use check::{Checker, Checks};
pub use others::WrittenRun;
pub use stamp::{LEAST_BLOCK, MOST_BLOCK};

/// The books of a run, and those of the files of one workload, by their numbers in requests.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What all files have in common.
    pub books: Arc<Books>,
    /// One for each file.
    pub files: Vec<Arc<Ledger>>,
}
