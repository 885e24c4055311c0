//! diskspd 2.0: threads on each target, each with so many requests outstanding and a pattern of its own.
//!
//! A thread is a workload of its own in the plan, so that the record has its latencies apart, as the tool's table has
//! them. Threads that take turns in one stream (`-si`) are one workload, and one row; so are those of a target when
//! there are more than a phase has workloads.

mod job;
mod options;
mod profile;
#[cfg(test)]
mod tests;
mod text;
mod totals;
mod xml;

pub use job::ThreadLoad;
pub(crate) use options::SYNTAX;
pub use options::{Access, Buffers, Command, Format, Spread, Throughput};
pub use profile::arguments as profile_arguments;
pub use text::{OUTPUT, asked_for, text};
pub use totals::Row;
pub use xml::{OUTPUT_XML, xml};

const TOOL: &str = "diskspd";
