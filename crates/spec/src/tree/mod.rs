//! What a tree workload asks for, every default filled in.

mod op;
mod sizes;
mod text;
mod visitors;

use units::Bytes;

pub use self::op::FileOp;
pub use self::sizes::FileSizes;
pub use self::visitors::Visitors;
use crate::text::words;

/// A tree of files and what is done to each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What is done.
    pub op: FileOp,
    /// Files of all workers together.
    pub count: u64,
    /// How large they are.
    pub sizes: FileSizes,
    /// Levels of directories below the top.
    pub levels: u32,
    /// Directories in each directory that has any.
    pub fanout: u32,
    /// Which directories hold files.
    pub files_in: FilesIn,
    /// Each worker has a tree of its own; otherwise all work in the same directories.
    pub unique_dirs: bool,
    /// Which worker visits what.
    pub visitors: Visitors,
    /// In which order names are visited.
    pub order: Order,
    /// When changes are made durable.
    pub fsync: Fsync,
    /// Content goes past the page cache.
    pub direct: bool,
}

impl Tree {
    /// The defaults of the plan language, for something done to each file.
    pub fn plain(op: FileOp) -> Tree {
        Tree {
            op,
            count: 1000,
            sizes: FileSizes::one(Bytes::ZERO),
            levels: 0,
            fanout: 10,
            files_in: FilesIn::Leaves,
            unique_dirs: false,
            visitors: Visitors::Own,
            order: Order::Sequential,
            fsync: Fsync::None,
            direct: false,
        }
    }
}

/// Which directories hold files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesIn {
    /// Those without directories below them.
    Leaves,
    /// Every one.
    All,
}

/// In which order names are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of the names, one directory after the other.
    Sequential,
    /// Each once, in an order drawn by a keyed permutation; every operation has its own.
    Random,
}

/// When changes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// When the system likes.
    None,
    /// With each of them: the file is flushed, then the directory that names it.
    Each,
    /// All together at the end of each worker's share, within the measured time.
    End,
}

words!(FilesIn, "a choice of directories", FilesIn::Leaves => "leaves", FilesIn::All => "all");
words!(Order, "an order", Order::Sequential => "sequential", Order::Random => "random");
words!(Fsync, "a moment to flush", Fsync::None => "none", Fsync::Each => "each", Fsync::End => "end");
