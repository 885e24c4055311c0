//! SQLIO 1.5: one kind of request, threads on each file, so many of them outstanding on each.
//!
//! The original's default pattern is a stripe: rows of `-f` blocks, `-i` of them; column after column is touched.
//! Several threads have as many columns each, one beside the other.

mod job;
mod options;
mod output;
mod params;
#[cfg(test)]
mod tests;

pub use job::File;
pub(crate) use options::SYNTAX;
pub use options::{Access, Buffering, Command};
pub use output::{Figures, OUTPUT, initialised, preamble, result};
pub use params::{JOB_FILE, Line, read as read_params};

const TOOL: &str = "sqlio";
