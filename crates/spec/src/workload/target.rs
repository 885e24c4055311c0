//! Which part of which targets is used.

use units::{Bytes, Share};

/// A distance: bytes, or a part of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// So many bytes.
    Bytes(Bytes),
    /// That part of the target.
    Part(Share),
}

/// How much of the target is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// A device or file: all of it after the offset. A scratch file: large enough to defeat known caches.
    Auto,
    /// So much.
    Of(Extent),
}

/// Files in a directory target. One file shared by all workers unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// So many workers share each file; at least 1.
    WorkersPerFile(u32),
    /// All workers share one file.
    Shared,
    /// Each worker has so many files of its own and visits them in turn; at least 1.
    PerWorker(u32),
}

/// How several targets are used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunLayout {
    /// One after the other in one address space.
    Concatenated,
    /// In turn, so many bytes each.
    Striped(Bytes),
}
