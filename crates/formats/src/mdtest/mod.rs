//! mdtest 4.1, IOR's other half: directories and small files are made, looked at, read and removed.
//!
//! A task is a worker; its files are spread over the directories of a tree. Directories as items stand side by side in one
//! directory, or in one of each task, and nothing asks for their attributes. What is printed are the figures of the record.

mod job;
mod options;
mod output;
#[cfg(test)]
mod tests;

pub use job::Test;
pub use options::Command;
pub(crate) use options::SYNTAX;
pub use output::{Sheet, TEXT, Tally};

const TOOL: &str = "mdtest";
