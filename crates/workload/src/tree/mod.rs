//! Files and directories as a workload: which tree there is, and the job that asks for its names.
//!
//! A [`TreeJob`] is a [`crate::Job`] whose requests are drawn from [`TreeRequests`]. [`Shape`] says where every directory
//! and file is, by arithmetic alone.
//!
//! **Invariant:** the stream of requests depends on the specification alone, and so does every name and size.

mod compile;
mod requests;
mod shape;
mod sizes;

pub use compile::{TreeError, compile_tree};
pub use requests::{TreeJob, TreeJobSpec, TreeRequest, TreeRequests};
pub use shape::{Extra, MOST_NODES, Shape};
pub use sizes::DrawnSizes;
pub use spec::tree::{FileOp, FileSizes, FilesIn, Fsync, Order, Tree, Visitors};
