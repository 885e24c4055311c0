//! hdparm 9.65: the timings `-t` and `-T`, with `--direct` and `--offset`, and what a drive is asked.
//!
//! Where the original stops a moment after two or three seconds, the time here is exactly that, and a read that is
//! still under way then is not counted. A device that ends sooner is read once, and the time is what that took.

mod configuration;
mod extents;
mod identity;
mod job;
mod options;
mod output;
mod query;
#[cfg(test)]
mod tests;
mod words;

pub use configuration::configuration;
pub use extents::{FileExtent, places};
pub use identity::{HighestSector, details, highest_sector, identity, maker_is_hitachi};
pub(crate) use options::SYNTAX;
pub use options::{Alone, Command, SECURITY};
pub use output::{OUTPUT, figures, heading};
pub use query::{Query, geometry, power, temperature};
pub use words::{dump, dump_bytes, read_words};

const TOOL: &str = "hdparm";

/// The phase whose figures are those of `-T`.
pub const CACHED: &str = "cached reads";
/// The phase whose figures are those of `-t`.
pub const DISK: &str = "disk reads";
