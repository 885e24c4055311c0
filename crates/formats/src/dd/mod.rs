//! dd of GNU coreutils: one stream, one block at a time.
//!
//! What is measured is one side: `if=/dev/zero` or `/dev/urandom` writes to `of=`, and `of=/dev/null` reads from
//! `if=`. Copying from one place to another is no measurement of either, and not supported.

mod job;
mod options;
mod output;
#[cfg(test)]
mod tests;

pub use job::Transfer;
pub(crate) use options::SYNTAX;
pub use options::{Amount, Command, FlushAtEnd, Side, Source, Status};
pub use output::{Copied, Generation, OUTPUT};

const TOOL: &str = "dd";
