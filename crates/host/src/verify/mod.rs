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
mod stamp;

use std::sync::Arc;

use units::Bytes;

pub use books::{Books, Ledger};
pub use check::{Checker, Checks};
pub use stamp::{LEAST_BLOCK, MOST_BLOCK};

/// The books of a run, and those of the files of one workload, by their numbers in requests.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What all files have in common.
    pub books: Arc<Books>,
    /// One for each file.
    pub files: Vec<Arc<Ledger>>,
}

/// What one worker has held against what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Read and checked, from the start; what was wrong is part of it.
    pub checked: Bytes,
    /// Read, and nobody knows what should have been there.
    pub unknown: Bytes,
    /// Reads with at least one block that was wrong.
    pub corrupt: u64,
    /// The first wrong block of each of the first of them.
    pub wrong: Vec<Wrong>,
}

impl Verified {
    /// The first block of a request that was wrong, as far as it was kept.
    pub fn first_wrong(&self, file: u16, offset: Bytes, len: u32) -> Option<&Wrong> {
        let end = offset + Bytes::new(len.into());
        self.wrong.iter().find(|wrong| wrong.file == file && (offset..end).contains(&wrong.offset))
    }
}

/// A block that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Which of the worker's files.
    pub file: u16,
    /// Where it begins.
    pub offset: Bytes,
    /// Its size.
    pub len: Bytes,
    /// What should have been there, in words.
    pub expected: String,
    /// What was there, in words.
    pub found: String,
}
