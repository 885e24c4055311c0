//! IOR 4.1 with its POSIX back end: segments of blocks of transfers, one shared file or one file for each task.
//!
//! A task is a worker. In a shared file block `i` of segment `s` is that of task `i`, as there: each worker has a stride
//! over all blocks of a segment. What is printed are the figures of the record. Files are open before the measured
//! time begins, so the columns of opening and closing are 0 and the total is that of transfers and flushes.

mod directives;
mod job;
mod options;
mod outliers;
mod output;
mod reordering;
mod spread;
#[cfg(test)]
mod tests;
mod text;
mod wear_out;

pub use job::{Destination, Job};
pub(crate) use options::SYNTAX;
pub use options::{Command, Hog, Offsets, Shape, Stonewall, Summary};
pub use outliers::outliers;
pub use output::{CSV, JSON, TEXT};
pub use text::{Access, Row, Sheet};
pub use wear_out::WearOut;

const TOOL: &str = "ior";
