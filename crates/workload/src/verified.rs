//! What came of holding what was read against what had been written.

use units::Bytes;

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
    pub fn first_wrong(&self, file: u64, offset: Bytes, len: u32) -> Option<&Wrong> {
        let end = offset + Bytes::new(len.into());
        self.wrong.iter().find(|wrong| u64::from(wrong.file) == file && (offset..end).contains(&wrong.offset))
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
