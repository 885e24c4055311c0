//! mdtest 4.1, IOR's other half: directories and small files are made, looked at, read and removed.
//!
//! A task is a worker; its files are spread over the directories of a tree. Directories as items stand side by side in one
//! directory, or in one of each task. What is printed are the figures of the record.

mod job;
mod options;
mod output;
mod tally;
#[cfg(test)]
mod tests;

pub use job::Test;
pub(crate) use options::SYNTAX;
pub use options::{Command, Printed};
pub use output::{Sheet, TEXT};
pub use tally::Tally;

const TOOL: &str = "mdtest";
