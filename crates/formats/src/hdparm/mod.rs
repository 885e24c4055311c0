//! hdparm 9.65: the timings `-t` and `-T`, with `--direct` and `--offset`, and what a drive is asked.
//!
//! Where the original stops a moment after two or three seconds, the time here is exactly that, and a read that is
//! still under way then is not counted. A device that ends sooner is read once, and the time is what that took.

mod asked;
mod identity;
mod job;
mod options;
mod output;
#[cfg(test)]
mod tests;

pub use asked::{Asked, geometry, power};
pub use identity::{details, identity};
pub use options::Command;
pub(crate) use options::SYNTAX;
pub use output::{OUTPUT, figures, heading};

const TOOL: &str = "hdparm";

/// The phase whose figures are those of `-T`.
pub const CACHED: &str = "cached reads";
/// The phase whose figures are those of `-t`.
pub const DISK: &str = "disk reads";
