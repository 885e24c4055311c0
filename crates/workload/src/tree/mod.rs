//! Files and directories as a workload: which tree there is, and the job that asks for its names.
//!
//! A [`TreeJob`] is to names what [`crate::Job`] is to blocks: it plans requests and settles completions, and knows
//! no clock, file or thread. [`Shape`] says where every directory and file is, by arithmetic alone.
//!
//! **Invariant:** the stream of requests depends on the specification alone, and so does every name and size.

mod books;
mod compile;
mod job;
mod shape;
mod sizes;

pub use compile::{TreeError, compile_tree};
pub use job::{TreeJob, TreeJobSpec, TreeRequest};
pub use shape::{Extra, MOST_NODES, Shape};
pub use sizes::DrawnSizes;
pub use spec::tree::{FileOp, FileSizes, FilesIn, Fsync, Order, Tree};
