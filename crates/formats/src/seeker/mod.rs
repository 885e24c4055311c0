//! seeker 2.0 (2007) and 3.0 (2009): random reads of one sector for 30 seconds, one at a time.
//!
//! The original draws 31-bit offsets and is seeded with the second of the start: on large devices not every
//! sector can be reached, and copies started together ask for the same. Here every sector can be reached, and
//! every call has a seed of its own.

mod job;
mod options;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use options::USAGE;
pub use options::{Command, Seekers};
pub use output::{Figures, OUTPUT};

/// The time that both versions read for.
pub const SECONDS: u64 = 30;
